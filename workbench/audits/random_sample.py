"""Labels that were not sampled by a plan: treat them as a random sample, and test that assumption.

`likeness` compares labeled items with the others. `refuse_unseen` raises if a part of the items has
no label at all, and `check_one_class` if the labels are of one class only. `coarser` merges strata
with few labels. Given the number of labels in each stratum, a random sample of all items is a
stratified one [1]_. So the estimates and intervals of stratified samples hold.

References
----------
.. [1] Holt & Smith, Post stratification, JRSS A 142, 1979.
.. [2] Cochran, Sampling techniques, 3rd ed., 1977, section 5A.9: strata made after sampling need
   about 20 units each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from workbench import checks
from workbench.data.scored_items import ScoredItems
from workbench.results import Note, digits
from workbench.stratified.strata import Strata

PER_STRATUM = 20  # labels on average, [2]_
LEAST_LABELS = 5  # a stratum with fewer is merged with a neighbor
UNLIKE = 0.01  # p-value below which a note says that labeled items differ from the others
UNSEEN_CLASS, UNSEEN_SCORES = 1e-3, 1e-4  # chance below which a part without labels was not sampled
CELLS = 10  # of equal size, by score
ALL_WRONG = 7  # predictions of another class, none of which is correct


@dataclass(frozen=True)
class Likeness:
    """Comparison of the labeled items with all items.

    Attributes
    ----------
    pvalue : float
        p-value of the hypothesis that the labeled items are a random sample.
    differences : str
        The differences in words.
    by_class : bool
        Whether the predicted classes differ.
    """

    pvalue: float
    differences: str
    by_class: bool = False

    @property
    def differs(self) -> bool:
        """Whether the labeled items clearly differ from the others."""
        return self.pvalue < UNLIKE


def likeness(items: ScoredItems, index: np.ndarray) -> Likeness:
    """Test whether labeled items look like a random sample by their scores and predictions.

    Parameters
    ----------
    items : ScoredItems
    index : (n,) array of int
        Positions of the labeled items.

    Returns
    -------
    Likeness
        Its p-value is twice the smaller p-value of two tests. One is the Kolmogorov-Smirnov test of
        the scores. The other is an exact test of the number of labels in each predicted class or
        given stratum.

    Examples
    --------
    >>> items = ScoredItems(None, np.linspace(0, 1, 200))
    >>> likeness(items, np.arange(0, 200, 4)).differs, likeness(items, np.arange(150, 200)).differs
    (False, True)
    """
    labeled = np.zeros(items.size, bool)
    labeled[index] = True
    if labeled.all():
        return Likeness(1.0, "")
    pvalues, differences, by_class = [], [], False
    if items.score_is != "none":
        pvalues.append(scipy.stats.ks_2samp(items.score[labeled], items.score[~labeled]).pvalue)
        means = items.score[labeled].mean(), items.score.mean()
        differences.append("their mean score is {:.3g}, that of all items {:.3g}".format(*means))
    groups = items.prediction if items.prediction is not None else items.by
    if groups is not None:
        pvalue, difference = _class_test(groups, labeled)
        pvalues.append(pvalue)
        differences += [difference] if difference else []
        by_class = items.prediction is not None and 2 * pvalue < UNLIKE
    pvalue = min(1.0, len(pvalues) * min(pvalues, default=1.0))
    return Likeness(float(pvalue), "; ".join(differences), by_class)


def _class_test(groups: np.ndarray, labeled: np.ndarray) -> tuple[float, str]:
    """Return the p-value of the labels per class, and the class that differs most, in words.

    The number of labeled items of a class is hypergeometric. The smallest p-value is multiplied by
    the number of classes. Two classes are one test, so there it is not multiplied.
    """
    classes, code = np.unique(groups, return_inverse=True)
    if classes.size < 2:
        return 1.0, ""
    size, count = np.bincount(code), np.bincount(code[labeled], minlength=classes.size)
    count_of = scipy.stats.hypergeom(code.size, size, int(labeled.sum()))
    tail = np.minimum(count_of.cdf(count), count_of.sf(count - 1))
    tests = 1 if classes.size == 2 else classes.size
    most = int(tail.argmin())
    sample, population = digits.percents(count[most] / labeled.sum(), size[most] / code.size)
    difference = f"{sample} of them are predicted {str(classes[most])!r}, {population} of all items"
    return float(min(1.0, 2 * tests * tail[most])), difference


@dataclass(frozen=True)
class Values:
    """Values of a column that labeled items have, compared with those of a random sample.

    Attributes
    ----------
    total, reached : int
        Number of values of all items, and of the labeled items.
    expected : float
        Expected number of values of as many items sampled at random.
    pvalue : float
        Upper bound on the probability that a random sample has so few values.
    """

    total: int
    reached: int
    expected: float
    pvalue: float


def reached_values(
    values: Sequence, labeled: np.ndarray, strata: np.ndarray | None = None
) -> Values:
    """Compare the values of the labeled items with those of a random sample of as many items.

    Clusters of items that were labeled together have fewer values.

    Parameters
    ----------
    values : (N,) sequence
        The value of each item, such as its customer.
    labeled : (N,) ndarray of bool
        Whether the item is labeled.
    strata : (N,) ndarray, optional
        Stratum of each item, within which as many items are sampled as are labeled.

    Notes
    -----
    A random sample of n of N items misses a value of g items with probability at most
    (1 - n / N)^g. With strata, this is the product over them. These events are negatively
    associated [3]_. So Chernoff's bound holds for the number of missed values.

    References
    ----------
    .. [3] Joag-Dev & Proschan, Negative association of random variables, Annals of Statistics 11,
       1983.

    Examples
    --------
    >>> found = reached_values([0] * 9 + [1] * 9 + [2] * 9, np.arange(27) < 9)
    >>> found.reached, round(found.expected, 2), round(found.pvalue, 4)
    (1, 2.92, 0.0104)
    """
    numbering: dict = {}
    code = np.array([numbering.setdefault(value, len(numbering)) for value in values], np.int64)
    size = np.bincount(code)
    reached = int((np.bincount(code[labeled], minlength=size.size) > 0).sum())
    missed = size.size - reached
    stratum = np.zeros(code.size, np.int64)
    if strata is not None:
        stratum = np.unique(strata, return_inverse=True)[1]
    counts = np.bincount(stratum)
    unlabeled = np.bincount(stratum[~labeled], minlength=counts.size)
    with np.errstate(divide="ignore"):  # log of 0 for strata that are labeled completely
        of_item = np.log(unlabeled / counts)[stratum]
    mean = float(np.exp(np.bincount(code, of_item)).sum())
    mean = max(mean, float(np.finfo(float).tiny))
    exponent = missed - mean - missed * np.log(missed / mean) if missed > mean else 0.0
    return Values(size.size, reached, size.size - mean, float(np.exp(exponent)))


def refuse_unseen(items: ScoredItems, index: np.ndarray) -> None:
    """Raise if a class or a range of scores has no label although a random sample would have one.

    Given strata may have been sampled at different rates, so the sample is random within each.

    Parameters
    ----------
    items : ScoredItems
    index : (n,) array of int
        Positions of the labeled items.

    Raises
    ------
    ValueError
        The message names the part without labels and two ways to solve the problem.
    """
    strata = np.zeros(items.size, np.int64)
    if items.by is not None:
        stratum_names, strata = np.unique(items.by, return_inverse=True)
        one_stratum = np.zeros(items.size, np.int64)
        _refuse_unseen_groups("items of stratum", stratum_names, strata, one_stratum, index)
    if items.prediction is not None:
        classes, code = np.unique(items.prediction, return_inverse=True)
        _refuse_unseen_groups("items predicted", classes, code, strata, index)
    if items.score_is != "none":
        _refuse_unseen_scores(items.score, strata, index)


def _refuse_unseen_groups(
    part: str, names: np.ndarray, code: np.ndarray, strata: np.ndarray, index: np.ndarray
) -> None:
    size, labels = np.bincount(code), np.bincount(code[index], minlength=names.size)
    chance = names.size * _chance_of_none(code, strata, index)
    unseen = (labels == 0) & (chance < UNSEEN_CLASS)
    if unseen.any():
        quoted = checks.listed(names[unseen].tolist(), 5, quoted=True)
        _refuse(f"{part} {quoted}", int(size[unseen].sum()), code.size, index.size)


def _chance_of_none(code: np.ndarray, strata: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return for each group the probability that random labels within strata reach none of it."""
    shape = strata.max() + 1, code.max() + 1
    cells = np.bincount(strata * shape[1] + code, minlength=np.prod(shape)).reshape(shape)
    labels = np.bincount(strata[index], minlength=shape[0])
    others = 1 - cells / cells.sum(1, keepdims=True)
    return np.prod(others ** labels[:, None], axis=0)


def _refuse_unseen_scores(score: np.ndarray, strata: np.ndarray, index: np.ndarray) -> None:
    low, high = score[index].min(), score[index].max()
    for part, text in (
        (score < low, f"items with a score below {low:.4g}"),
        (score > high, f"items with a score above {high:.4g}"),
    ):
        if part.any() and _chance_of_none(part * 1, strata, index)[1] < UNSEEN_SCORES / 2:
            _refuse(text, int(part.sum()), score.size, index.size)
    cell = np.searchsorted(np.quantile(score, np.arange(1, CELLS) / CELLS), score)
    size, labels = np.bincount(cell), np.bincount(cell[index], minlength=cell.max() + 1)
    chance = CELLS * _chance_of_none(cell, strata, index)
    unseen = (labels == 0) & (size > 0) & (chance < UNSEEN_SCORES)
    if unseen.any():
        first = int(unseen.argmax())
        scores = score[cell == first]
        text = f"items with a score from {scores.min():.4g} to {scores.max():.4g}"
        _refuse(text, scores.size, score.size, index.size)


def _refuse(part: str, size: int, items: int, labels: int) -> None:
    raise ValueError(
        f"none of the {size:,} {part} has a label ({labels:,} labels of {items:,} items). So the "
        "labeled rows are not a random sample of the file, and nothing can be estimated about "
        "these items. Label some of them, too, or remove their rows from the file if you do not "
        "want to include them"
    )


def check_one_class(truth: np.ndarray, prediction: np.ndarray, index: np.ndarray) -> list[Note]:
    """Return a note if all labels are one true class, although another one is predicted.

    Raise if the items were probably chosen by their true class. Then `ALL_WRONG` labeled items or
    more are predicted as another class, and none of these predictions is correct. In addition,
    a random sample has so few of them in less than 1% of cases, or most items of the file are so
    predicted.

    Parameters
    ----------
    truth : (n,) ndarray of str
        True classes of the labeled items.
    prediction : (N,) ndarray of str
        Predicted classes of all items.
    index : (n,) array of int
        Positions of the labeled items.

    Examples
    --------
    >>> prediction = np.repeat(["a", "b"], [60, 40])
    >>> check_one_class(np.repeat("a", 20), prediction, np.arange(20))
    []
    >>> len(check_one_class(np.repeat("a", 20), prediction, np.arange(48, 68)))
    1
    >>> check_one_class(np.repeat("a", 60), prediction, np.arange(7, 67))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: each of the 60 labels is 'a', but 7 of these items are predicted as another class...
    """
    name = str(truth[0])
    is_other = prediction != name
    others = int(is_other[index].sum())
    if (truth != name).any() or not others:
        return []
    are_others = checks.counted(others, "of these items is", "of these items are")
    text = (
        f"each of the {truth.size:,} labels is {name!r}, but {are_others} predicted as another "
        f"class. If only items of class {name!r} were labeled, the labels show its recall and "
        "nothing else: use workbench report brr-orthogonal-arrays"
    )
    of_all = int(is_other.sum())
    too_few = scipy.stats.hypergeom(prediction.size, of_all, truth.size).cdf(others) < UNLIKE
    if others < ALL_WRONG or not (too_few or 2 * of_all > prediction.size):
        return [Note("unreliable", text)]
    sample = (
        "If they are a random sample of all items, continue to label until another class occurs"
    )
    raise ValueError(f"{text}. {sample}")


def refuse_single(index: np.ndarray, size: int, among: str) -> None:
    """Raise if fewer than two items have a label, unless all have one."""
    if index.size < min(2, size):
        labels = checks.counted(index.size, "item has a label", "items have a label")
        raise ValueError(
            f"{labels} among the {checks.counted(size, 'item')}{among}. Label at least 2 of them, "
            f"preferably {PER_STRATUM} or more"
        )


def within_classes(
    strata: Strata, prediction: np.ndarray, index: np.ndarray
) -> tuple[Strata, np.ndarray]:
    """Return strata within each predicted class, and the part to which each stratum belongs.

    A part is a class, or all rare classes together. If the rare classes together have too few
    labels, they are added to the class with most labels.

    Parameters
    ----------
    strata : Strata
    prediction : (N,) ndarray
    index : (n,) array of int
        Positions of the labeled items; a class with fewer than 5 of them is rare.
    """
    classes, code = np.unique(prediction, return_inverse=True)
    labels = np.bincount(code[index], minlength=classes.size)
    rare = labels < LEAST_LABELS
    part_of_rare = classes.size if labels[rare].sum() >= LEAST_LABELS else int(labels.argmax())
    part = np.where(rare, part_of_rare, np.arange(classes.size))[code]
    cells, cell = np.unique(part * strata.n_strata + strata.labels, return_inverse=True)
    crossed = Strata(cell, np.bincount(cell), None, cells.size, strata.method, notes=strata.notes)
    return crossed, cells // strata.n_strata


def coarser(strata: Strata, labeled: np.ndarray, parts: np.ndarray) -> Strata:
    """Return strata in which neighbors with few labels are merged, within parts of the items.

    Parameters
    ----------
    strata : Strata
    labeled : (K,) array of int
        Labels per stratum.
    parts : (K,) array of int
        Part of each stratum. Strata of different parts are never merged.

    Examples
    --------
    >>> from workbench import stratify
    >>> strata = stratify(np.arange(100.), 4, "equal_size")
    >>> coarser(strata, np.array([2, 9, 8, 7]), np.zeros(4, int)).sizes
    array([50, 25, 25])
    """
    order = np.lexsort((labeled, parts)) if strata.method == "given" else np.arange(strata.n_strata)
    groups = [[int(stratum)] for stratum in order]
    while (pair := _next_merger(groups, strata.sizes, labeled, parts)) is not None:
        groups[pair : pair + 2] = [groups[pair] + groups[pair + 1]]
    if len(groups) == strata.n_strata:
        return strata
    group_of = np.empty(strata.n_strata, np.int64)
    for group, members in enumerate(groups):
        group_of[members] = group
    note = Note(
        "design",
        f"{strata.n_strata} strata were merged to {len(groups)}, because some had fewer than "
        f"{LEAST_LABELS} labels",
    )
    sizes = np.bincount(group_of, strata.sizes).astype(np.int64)
    return Strata(
        group_of[strata.labels],
        sizes,
        None,
        len(groups),
        strata.method,
        notes=[*strata.notes, note],
    )


def _next_merger(
    groups: list[list[int]], size: np.ndarray, labeled: np.ndarray, parts: np.ndarray
) -> int | None:
    """Return the place of a group to merge with the next one, or None if all have enough labels."""
    labels = [int(labeled[members].sum()) for members in groups]
    few = [
        group
        for group, members in enumerate(groups)
        if labels[group] < LEAST_LABELS and labels[group] < size[members].sum()
    ]
    for group in sorted(few, key=labels.__getitem__):
        part = parts[groups[group][0]]
        neighbors = [
            other
            for other in (group - 1, group + 1)
            if 0 <= other < len(groups) and parts[groups[other][0]] == part
        ]
        if neighbors:
            return min(group, min(neighbors, key=labels.__getitem__))
    return None


def sample_texts(labeled: int, size: int, likeness: Likeness, among: str = "") -> tuple[str, Note]:
    """Return the sentence that comes before the finding, and a note about its assumption."""
    which = f"the {labeled:,} labeled items"
    population = f"all {size:,}" + (f" items{among}" if among else "")
    if likeness.differs:
        alike = "of similar scores" + " and the same prediction" * likeness.by_class
        premise = (
            f"{which[0].upper()}{which[1:]} do not look like a random sample of {population} "
            f"({likeness.differences}). The result holds only if they were chosen at random among "
            f"items {alike}. "
        )
        note = Note(
            "unreliable",
            f"{which} were not sampled by a plan, and they do not look like a random sample of "
            f"{population}: {likeness.differences} (p = {likeness.pvalue:.2g}). Strata {alike} "
            "correct for that only if the labeled items were chosen at random within each stratum. "
            "If items were chosen because they are easy, hard or suspicious, the result is wrong. "
            "Label a random sample to be sure",
        )
        return premise, note
    alike = ""
    if likeness.differences:
        alike = f"; scores and predictions do not contradict this (p = {likeness.pvalue:.2g})"
    note = Note(
        "assumption",
        f"{which} were not sampled by a plan. They are treated as a random sample of {population}"
        f"{alike}. If items were chosen because they are easy, hard or suspicious, the result is "
        "wrong",
    )
    return f"This assumes that {which} are a random sample of {population}. ", note
