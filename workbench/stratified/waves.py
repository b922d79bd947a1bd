"""Allocation that depends on earlier labels, in waves, and an unbiased estimate from all waves.

`next_wave` allocates the labels of the next wave, and `wave_accuracy` estimates from all waves. The
rule "opt" is that of the algorithms OPT-A1 and OPT-A2 [1]_.

References
----------
.. [1] Kumar & Raj, Classifier risk estimation under limited labeling resources, 2016, algorithms 1
   and 2.
.. [2] Neyman, Contribution to the theory of sampling human populations, JASA 33, 1938: two phases.
"""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.allocation.rules import Allocation
from workbench.intervals import Cells
from workbench.results import Estimate, Interval, Note, Result, rows_of

RULES = ("smoothed", "opt")
WAVE_INTERVALS = ("default", "wald")
OPT_NOTE = Note(
    "unreliable",
    "OPT-A1 and OPT-A2 give no more labels to a stratum whose first labels all agree. So the "
    "estimate is biased and its variance estimate far too small. On the digit forms, the coverage "
    "falls with more labels. Use the rule 'smoothed'",
)


class WaveEstimate(Estimate, Result):
    """Accuracy from labels that were allocated wave by wave.

    `wave_accuracy` returns this result.

    Attributes
    ----------
    estimate : float
        Unbiased estimate of the accuracy.
    variance : float
        Unbiased estimate of the variance of the estimate.
    stratum_size : (H,) array of int
        Items per stratum.
    labeled : (T, H) array of int
        Labels per wave and stratum.
    correct : (T, H) array of int
        Labeled items whose prediction is correct, per wave and stratum.

    See Also
    --------
    wave_accuracy : Estimate accuracy from labels that were allocated in waves.
    StratifiedEstimate : Accuracy estimated from a sample that was fixed before labeling.
    """

    estimate: float
    variance: float
    stratum_size: ndarray
    labeled: ndarray
    correct: ndarray

    def interval(self, level: float = 0.95, method: str = "default") -> Interval:
        """Return a confidence interval for the accuracy.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.
        method : {"default", "wald"}, default "default"
            Method of the interval. "default" treats each stratum of each wave as a stratum of its
            own. "wald" is for teaching only.

        Returns
        -------
        Interval
            Limits of the accuracy.
        """
        checks.choice("method", method, WAVE_INTERVALS)
        level = checks.level(level)
        size = self.stratum_size
        labeled = self.labeled
        correct = self.correct
        tail = (1 - level) / 2

        def cells_of(rows: ndarray) -> Cells:
            waves = rows.reshape(-1, *labeled.shape)
            return wave_cells(size, labeled[None], waves)

        if method == "wald":
            (low,), (high,) = intervals.wald_limits(cells_of(correct), tail)
            notes = [intervals.teaching_note(method, level)]
        else:
            low, high, exact = intervals.monotone_limits(
                cells_of,
                labeled.ravel(),
                correct.ravel(),
                size.sum(),
                tail,
            )
            notes = list(intervals.exact_notes(exact))
        notes += exhausted_notes(size, labeled.sum(0))
        return Interval(low, high, level, method, notes=notes)

    def headline(self) -> str:
        """Return the estimate, its standard error and the 95% interval in one sentence."""
        low, high = self.interval()
        labels = checks.counted(self.labeled.sum(), "label")
        waves = checks.counted(len(self.labeled), "wave")
        strata = checks.counted(self.stratum_size.size, "stratum", "strata")
        estimate = f"{self.estimate:.4g} (SE {self.standard_error:.4g})"
        limits = f"95% confidence interval {low:.4g} to {high:.4g}"
        return f"accuracy {estimate}, {limits}; {labels} in {waves}, {strata}"

    def rows(self) -> list[dict]:
        """Return one row per wave and stratum, numbered from 1: labels and correct predictions."""
        wave, stratum = np.indices(self.labeled.shape) + 1
        return rows_of(
            wave=wave.ravel(),
            stratum=stratum.ravel(),
            labeled=self.labeled.ravel(),
            correct=self.correct.ravel(),
        )


def next_wave(
    stratum_size: ArrayLike,
    labeled: ArrayLike,
    correct: ArrayLike,
    budget: int,
    *,
    rule: str = "smoothed",
    stratum_score: ArrayLike | None = None,
    smoothing: float = 4.0,
    floor: float = 0.3,
) -> Allocation:
    """Allocate the next wave of labels, given the labels so far.

    Use it to label in several waves. The labels of earlier waves show which strata vary most, and
    the next wave gives more labels to them. Estimate with `wave_accuracy`, which allows for this.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, at least 1.
    labeled : (H,) array_like of int
        Labels per stratum so far; zeros before the first wave.
    correct : (H,) array_like of int
        Labeled items per stratum so far whose prediction is correct.
    budget : int
        Labels in this wave, at least 2 per stratum. Fix the budgets of all waves before the first.
    rule : {"smoothed", "opt"}, default "smoothed"
        Rule of the allocation. "opt" gives a biased estimate and is for teaching; see Notes.
    stratum_score : (H,) array_like of float, optional
        Prior accuracies of the strata in (0, 1), such as mean confidences. By default, they are the
        overall accuracy so far.
    smoothing : float, default 4.0
        Number of labels that the prior counts as, above 0.
    floor : float, default 0.3
        Proportion of the wave that is allocated in proportion to stratum size, from 0 to 1.

    Returns
    -------
    Allocation
        Labels of this wave per stratum, without those of earlier waves.

    See Also
    --------
    wave_accuracy : Estimate accuracy from labels that were allocated in waves.
    allocate : Allocate a budget of labels to strata.

    Notes
    -----
    The rule "smoothed" allocates the proportion `floor` in proportion to stratum size. The rest is
    in proportion to::

        W_h sqrt(p (1 - p))  with  p = (x_h + c p0_h) / (n_h + c)

    Stratum h has the weight W_h, n_h labels so far, x_h correct predictions among them, and the
    prior p0_h, which counts as c labels. Every stratum gets at least 2 labels.

    The rule "opt" is equation 9 of [1]_ with the sample variance, as in the algorithms OPT-A1 and
    OPT-A2. If no stratum varies, labels are in proportion to size. A stratum without labels counts
    as varying most; the paper leaves this open.

    References
    ----------
    .. [1] Kumar & Raj, Classifier risk estimation under limited labeling resources, 2016,
       algorithms 1 and 2.

    Examples
    --------
    >>> next_wave([100, 100], [5, 5], [3, 5], 20).labeled
    array([11,  9])
    >>> next_wave([100, 100], [5, 5], [3, 5], 20, rule="opt").labeled
    array([20,  0])
    """
    size, labeled = intervals.check_part(stratum_size, "labeled", labeled)
    correct = checks.counts("correct", correct, size=size.size)
    checks.at_most("correct", correct, "labeled", labeled)
    checks.choice("rule", rule, RULES)
    unlabeled = size - labeled
    least = 1 if rule == "opt" else int(np.minimum(2, unlabeled).sum())
    budget = checks.whole("budget", budget, least, int(unlabeled.sum()))
    history = size, labeled[None], correct[None], budget
    if rule == "opt":
        (new,) = opt_step(*history)
    else:
        settings = wave_settings(size.size, stratum_score, smoothing, floor)
        (new,) = wave_step(*history, *settings)
    notes = [OPT_NOTE] if rule == "opt" else []
    return Allocation(new, np.nan, new >= unlabeled, 0, size, rule, notes=notes)


def wave_accuracy(stratum_size: ArrayLike, labeled: ArrayLike, correct: ArrayLike) -> WaveEstimate:
    """Estimate accuracy from labels that were allocated in waves.

    The estimate stays unbiased although earlier labels decided where later labels went.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, at least 1.
    labeled : (T, H) array_like of int
        Labels per wave and stratum, in order of time. Each wave has at least 2 labels in each
        stratum, or labels all items that are left. The total of each wave was fixed beforehand.
    correct : (T, H) array_like of int
        Labeled items whose prediction is correct, per wave and stratum.

    Returns
    -------
    WaveEstimate
        Estimate with its variance and intervals.

    See Also
    --------
    next_wave : Allocate the next wave of labels, given the labels so far.
    stratified_accuracy : Estimate accuracy from a sample that was fixed before labeling.

    Notes
    -----
    The estimate is a mean of the estimates of the waves, weighted by their numbers of labels::

        A = sum_t m_t / n sum_k [x_kt + (N_k - n_kt) a_kt] / N

    - Wave t has m_t of all n labels, and the accuracy a_kt in stratum k.
    - Stratum k has N_k of the N items.
    - Before wave t, stratum k has n_kt labels, x_kt of them correct.

    Given the earlier waves, each wave is a stratified sample of the items that are left. So each
    term is unbiased, and the terms are uncorrelated. If nearly all items are labeled, the estimate
    can lie outside the range that the labels leave possible. The interval cannot.

    Examples
    --------
    >>> wave_accuracy(
    ...     [100, 100], [[5, 5], [12, 8]], [[3, 5], [8, 7]]
    ... )     # doctest: +NORMALIZE_WHITESPACE
    WaveEstimate(accuracy 0.7815 (SE 0.0692), 95% confidence interval 0.6 to 0.91;
    30 labels in 2 waves, 2 strata)
    """
    size = checks.counts("stratum_size", stratum_size, low=1)
    labeled = _waves("labeled", labeled, size.size)
    correct = _waves("correct", correct, size.size)
    if labeled.shape != correct.shape:
        raise checks.WrongValue(
            "correct", f"must have the shape of labeled, {labeled.shape}", correct.shape
        )
    unlabeled = size
    for wave, (n, x) in enumerate(zip(labeled, correct, strict=True)):
        checks.at_most(f"labeled (wave {wave})", n, "the items left", unlabeled)
        checks.at_most(f"correct (wave {wave})", x, "labeled", n)
        for h in np.flatnonzero((n < 2) & (n < unlabeled))[:1]:
            items = checks.counted(unlabeled[h], "item was", "items were")
            raise checks.WrongValue(
                "labeled",
                f"must be at least 2 in every wave and stratum; wave {wave} has {n[h]} in stratum "
                f"{h}, where {items} left",
            )
        unlabeled = unlabeled - n
    (estimate,), (variance,) = wave_moments(size, labeled[None], correct[None])
    return WaveEstimate(estimate, variance, size, labeled, correct)


def wave_totals(budget: int, waves: int) -> ndarray:
    """Return the labels of each wave of a budget, as equal as whole numbers allow.

    Examples
    --------
    >>> wave_totals(100, 3)
    array([33, 33, 34])
    """
    return np.diff(np.arange(waves + 1) * budget // waves)


def wave_cells(size: ndarray, labeled: ndarray, correct: ndarray) -> Cells:
    """Return waves (R, T, H) as cells (R, T * H), weighted by the labels of their wave."""
    before = labeled.cumsum(1) - labeled
    correct_before = correct.cumsum(1) - correct
    remaining = size - before
    wave_labels = labeled.sum(2, keepdims=True)
    share = wave_labels / wave_labels.sum(1, keepdims=True) / size.sum()
    unlabeled = (remaining - labeled) / np.maximum(remaining, 1)
    parts = share * remaining, labeled, correct, unlabeled
    weight, n, x, rest = (part.reshape(len(part), -1) for part in parts)
    known_right = (share * correct_before).sum((1, 2))
    known_wrong = (share * (before - correct_before)).sum((1, 2))
    return Cells(weight, n, x, rest, known_right, known_wrong)


def wave_moments(size: ndarray, labeled: ndarray, correct: ndarray) -> tuple:
    """Return estimates and variance estimates (R,) of waves (R, T, H)."""
    return wave_cells(size, labeled, correct).moments()


def wave_limits(
    size: ndarray,
    labeled: ndarray,
    correct: ndarray,
    tail: float,
    method: str = "default",
) -> tuple:
    """Return lower and upper limits (R,) of waves (R, T, H)."""
    cells = wave_cells(size, labeled, correct)
    if method == "wald":
        return intervals.wald_limits(cells, tail)
    return intervals.default_limits(cells, size.sum(), tail)


def wave_step(
    size: ndarray,
    labeled: ndarray,
    correct: ndarray,
    budget: int,
    prior: ndarray | None,
    smoothing: float,
    floor: float,
) -> ndarray:
    """Return the next wave's labels (R, H) for R histories, at least 2 per stratum where left."""
    if prior is None:
        prior = (correct.sum(1, keepdims=True) + 1) / (labeled.sum(1, keepdims=True) + 2)
    rate = (correct + smoothing * prior) / (labeled + smoothing)
    spread = size * np.sqrt(rate * (1 - rate))
    optimal = (1 - floor) * spread / spread.sum(1, keepdims=True)
    share = optimal + floor * size / size.sum()
    unlabeled = size - labeled
    return _allotted(share, budget, np.minimum(2, unlabeled), unlabeled)


def opt_step(
    size: ndarray,
    labeled: ndarray,
    correct: ndarray,
    budget: int,
    laplace: float = 0.0,
) -> ndarray:
    """Return the next labels (R, H) by equation 9 with the sample variances of R histories."""
    n = labeled + 2 * laplace
    rate = (correct + laplace) / np.maximum(n, 1e-300)
    rate = np.where(n > 0, rate, 0.5)
    variance = rate * (1 - rate)
    if laplace == 0:
        variance = variance * np.maximum(labeled, 1)
        variance = variance / np.maximum(labeled - 1, 1)
    spread = size * np.sqrt(variance)
    share = np.where(spread.any(1, keepdims=True), spread, size)
    share = share / share.sum(1, keepdims=True)
    return _allotted(share, budget, np.zeros_like(labeled), size - labeled)


def _allotted(
    share: ndarray,
    budget: int,
    least: ndarray,
    most: ndarray,
) -> ndarray:
    totals = np.full(len(share), budget)
    real = budget * share
    outside = ((real < least) | (real > most)).any(1)
    if outside.any():
        parts = (part[outside] for part in (share, totals, least, most))
        real[outside] = rules.fill(*parts)
    return rules.round_to_total(real, totals, least, most)


def exhausted_notes(size: ndarray, labeled: ndarray) -> list[Note]:
    """Return a note for each stratum of which the waves label more than half."""
    text = (
        "more than half of the items are labeled: waves are then less precise than a sample "
        "fixed beforehand. Label all items of the stratum, or fix the allocation"
    )
    exhausted = np.flatnonzero(labeled > size / 2).tolist()
    return [Note("design", text, ("stratum", h)) for h in exhausted]


def wave_settings(
    n_strata: int,
    stratum_score: ArrayLike | None,
    smoothing: float,
    floor: float,
) -> tuple[ndarray | None, float, float]:
    """Return prior rates (or None), smoothing and floor of the "smoothed" rule, checked."""
    prior = None
    if stratum_score is not None:
        prior = checks.vector(
            "stratum_score",
            stratum_score,
            size=n_strata,
            low=0,
            high=1,
            what="stratum",
        )
        prior = prior.clip(1e-3, 1 - 1e-3)
    smoothing = checks.number("smoothing", smoothing, 0, open_ends=True)
    return prior, smoothing, checks.number("floor", floor, 0, 1)


def _waves(name: str, values: ArrayLike, n_strata: int) -> ndarray:
    array = checks.plain_array(name, values)
    if array.ndim != 2 or array.shape[1] != n_strata:
        raise ValueError(f"{name} must have shape (waves, {n_strata}); got {array.shape}")
    waves = []
    for t, row in enumerate(array):
        waves.append(checks.counts(f"{name} (wave {t})", row))
    return np.stack(waves)
