"""The workbench's allocation: the number of strata of similar scores, and the labels in each."""

from collections.abc import Iterator

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.allocation import rules
from workbench.data.scored_items import ScoredItems
from workbench.results import Note
from workbench.stratified.sequential import ROUNDS
from workbench.stratified.strata import Strata

AUTO = "auto"
STRATA = 5  # for a question that has no default plan
FEW = 10
MANY = 20
MANY_FROM = 200  # labels
# proportion of the proportional labels that a stratum keeps, by whether the scores are trusted
KEPT = {False: 0.9, True: 0.75}
PARTS = {False: "At least 90%", True: "At least 75%"}
SCORES = 0.02, 0.98  # a mean score outside is moved to the nearer of the two


def strata_wanted(n_strata: int | str, budget: int, items: ScoredItems) -> int:
    """Return the number of strata to cut: the given number, or that of the default plan.

    The default plan has 10 strata, or 20 for 200 labels or more. It has fewer if a stratum would
    have less than two labels or two items, and a single one if all scores are equal.

    Parameters
    ----------
    n_strata : int or "auto"
        Number of strata; "auto" is that of the default plan.
    budget : int
        Labels in total.
    items : ScoredItems
        Items to cut into strata.

    Examples
    --------
    >>> from workbench import digit_forms
    >>> [strata_wanted("auto", budget, digit_forms().items()) for budget in (7, 199, 200)]
    [3, 10, 20]
    """
    if n_strata != AUTO:
        return checks.whole("n_strata", n_strata, 1, items.size)
    if items.by is None and np.ptp(items.score) == 0:
        return 1
    most = MANY if budget >= MANY_FROM else FEW
    return max(min(most, budget // ROUNDS, items.size // ROUNDS), 1)


def check_trusted(trust_scores: bool, automatic: bool, items: ScoredItems) -> bool:
    """Return `trust_scores`, or raise an error if it would have no effect."""
    if trust_scores and not (automatic and favors(items)):
        raise checks.WrongValue(
            "trust_scores",
            "can be used only with the default plan of an accuracy and scores that are "
            "probabilities: leave out strata, waves and allocation",
        )
    return bool(trust_scores)


def favors(items: ScoredItems) -> bool:
    """Return whether the default plan allocates some labels by the scores of the strata."""
    return items.score_is == "confidence" and items.by is None


def default_labels(
    items: ScoredItems,
    strata: Strata,
    budget: int,
    *,
    trust_scores: bool = False,
) -> tuple[ndarray | None, list[Note]]:
    r"""Return the labels per stratum of the default plan, and a note that says why.

    Parameters
    ----------
    items : ScoredItems
        Items with their scores.
    strata : Strata
        Strata of these items, as many as `strata_wanted` returns.
    budget : int
        Labels in total.
    trust_scores : bool
        Whether the calibration of the scores was checked. If so, more labels follow the scores.

    Returns
    -------
    labeled : (H,) array of int or None
        Labels per stratum; None for a proportional allocation.
    notes : list of Note
        Notes that describe the plan.

    Notes
    -----
    The plan is Neyman's optimum [1]_ with a floor. It minimizes

    .. math:: \sum_h N_h^2 q_h (1 - q_h) / n_h

    over whole numbers of labels :math:`n_h`. Stratum h has :math:`N_h` items, and :math:`q_h` is
    its mean score, moved into [.02, .98]. The floor is 90% of the labels that the stratum gets in
    proportion to its size, and at least 2; 75% if the scores are trusted. So misleading scores do
    little harm. If strata have few labels, the floor leaves no labels to follow the scores.

    References
    ----------
    .. [1] Neyman, On the two different aspects of the representative method, JRSS 97, 1934.

    Examples
    --------
    >>> from workbench import digit_forms, stratify
    >>> items = digit_forms().items()
    >>> labeled, notes = default_labels(items, stratify(items.score, 20, "equal_size"), 300)
    >>> labeled[:6]
    array([28, 20, 14, 14, 14, 14])
    """
    if items.by is not None:
        return None, []
    strata_words = checks.counted(strata.n_strata, "stratum", "strata")
    plan = f"by default, items are divided into {strata_words} by score"
    reason = "the scores are not probabilities"
    if favors(items):
        sizes = strata.sizes
        spread = doubt(items, strata)
        proportional = rules.allotted(sizes, budget, "proportional", ROUNDS, spread)
        labeled = rules.allotted_above(
            sizes, budget, "voila", KEPT[trust_scores], ROUNDS, spread, np.ceil
        )
        if (labeled != proportional).any():
            text = (
                f"{plan}. {PARTS[trust_scores]} of the labels are allocated in proportion to "
                "stratum size. The remaining labels go to the strata where the scores are "
                "least certain"
            )
            return labeled, [Note("remark", text)]
        reason = "there are too few labels per stratum to give more to strata with uncertain scores"
    return None, [Note("remark", f"{plan}. Labels are in proportion to stratum size: {reason}")]


def doubt(items: ScoredItems, strata: Strata) -> ndarray:
    """Return the standard deviation of correctness that the mean score of each stratum implies."""
    mean_score = np.bincount(strata.labels, items.score) / strata.sizes
    rate = mean_score.clip(*SCORES)
    return np.sqrt(rate * (1 - rate))


def regimes(items: ScoredItems, n_strata: int | str) -> Iterator[tuple[int, int, int]]:
    """Yield the smallest and the largest budget for each number of strata, and that number."""
    starts = [1]
    if n_strata == AUTO:
        starts += range(2 * ROUNDS, FEW * ROUNDS + 1, ROUNDS)
        starts.append(MANY_FROM)
    starts = [start for start in starts if start <= items.size]
    for start, after in zip(starts, [*starts[1:], items.size + 1], strict=True):
        yield start, after - 1, strata_wanted(n_strata, start, items)
