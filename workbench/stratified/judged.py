"""The difference of two models, from judge labels of all items and human labels of some.

`judged_difference` estimates the difference, and `judged_labels` plans the human labels. The
intervals are Student's t, widened for one more label that was never seen. They are longer on the
side to which the labels are skewed. We have no proof for them. ``tests/peers/search_judged.py``
searches for their lowest coverage.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike
from scipy import special

from workbench import checks, intervals
from workbench.allocation.rules import allocate
from workbench.data.judged_items import WHICH
from workbench.results import FILLED, Interval, Note
from workbench.stratified import skips
from workbench.stratified.class_metrics import class_metrics
from workbench.stratified.differences import VALUES, PairedDifference

PAIRS = np.array([(1, 1), (1, 0), (0, 1), (0, 0)])  # correct about A and B, in the order of `WHICH`
SIGNS = PAIRS[:, 0] - PAIRS[:, 1]
SPREAD = np.array([0.4, 0.6, 0.6, 0.5])  # expected sd of the difference, by pairs of judge labels
LEAST = 4
FEW = 2  # human labels that a pair of different judge labels needs to be used
TINY = 1e-300  # instead of a denominator of 0
DRAWN = ("pairs", "random")
RATES = {1: "sensitivity", 0: "specificity"}
NO_PROOF = (
    "we have no proof for the interval. In adversarial searches with 20 labels or more, the 95% "
    "interval covered the true value in at least "
)
UNPROVEN = {
    "pairs": Note(
        "assumption",
        NO_PROOF + "94.5% of samples, if items were sampled within the pairs of judge labels",
    ),
    "random": Note(
        "assumption",
        NO_PROOF + "94.7% of samples, if items were sampled at random from all items",
    ),
}
CONTESTANT = Note(
    "remark",
    "a judge that is one of the two models, or was made from one, may favor the answers of that "
    "model. The human labels correct this; the judge labels alone do not",
)


class JudgedDifference(PairedDifference):
    """The difference between the accuracies of two models whose answers a judge labeled.

    `judged_difference` returns this result. Its four strata are the pairs of judge labels: both
    models correct, only A, only B, neither. The method `interval` has only the method "default".

    Attributes
    ----------
    estimate : float
        Accuracy of A minus that of B; NaN if some items could not be labeled.
    variance : float
        Estimated variance of the estimate; NaN if some items could not be labeled.
    stratum_size : (4,) array of int
        Items per pair of judge labels.
    counts : (4, 3) array of int
        Human labels per pair of judge labels: only B correct, both correct or both incorrect, only
        A correct.
    agreeing : int
        Always 0, because every item belongs to a stratum.
    skipped : (4,) array of int or None
        Sampled items per stratum that could not be labeled; None if there are none.
    answers : (4, 4) array of int
        Human labels: rows by judge labels, columns by human labels, in the order of the strata.
    drawn : {"pairs", "random"}
        Whether items were sampled within each pair of judge labels or from all items.

    See Also
    --------
    judged_difference : Estimate the difference if a judge labeled all items.
    PairedDifference : The difference between the accuracies of two models on the same items.
    """

    answers: ndarray = FILLED
    drawn: str = "pairs"

    @property
    def by_judge(self) -> float:
        """Return the difference according to the judge labels alone."""
        return float(self.stratum_size @ SIGNS / self.stratum_size.sum())

    def favor(self, level: float = 0.95) -> Interval:
        """Return a confidence interval for the bias of the judge labels towards A.

        The bias is the difference according to the judge labels, minus the true difference.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        Interval
            Limits of the bias.
        """
        low, high = self.interval(level)
        return Interval(self.by_judge - high, self.by_judge - low, level, "judged")

    def rates(self, level: float = 0.95) -> list[dict]:
        """Return the sensitivity and the specificity of the judge for each model.

        Sensitivity is the proportion of correct answers that the judge labels as correct.
        Specificity is the proportion of incorrect answers that it labels as incorrect.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level of the intervals, between 0 and 1.

        Returns
        -------
        list of dict
            One row per model and rate, with its interval.
        """
        rows = []
        for model, name in enumerate("AB"):
            for verdict, metric in RATES.items():
                rows.append({"model": name, "metric": metric, **self._rate(model, verdict, level)})
        return rows

    def _rate(
        self,
        model: int,
        verdict: int,
        level: float,
    ) -> dict:
        """Return the recall of a judge label, with the items that deserve it as the class."""
        says = PAIRS[:, model] == verdict
        passes = PAIRS[:, model] == 1
        n = self.answers.sum(1)
        correct = self.answers[:, passes].sum(1)
        agreed = np.where(passes, correct, n - correct)
        skipped = np.zeros_like(n) if self.skipped is None else self.skipped
        strata = np.stack([self.stratum_size, says, n, agreed, skipped])
        if self.drawn == "random":  # the items with one judge label are as good as a stratum
            verdicts = [strata[:, part].sum(1) for part in (says, ~says)]
            strata = np.stack(verdicts, 1)
        some = strata[0] > 0
        size, says, n, agreed, skipped = strata[:, some]
        if (n + skipped < np.minimum(2, size)).any():
            return {"estimate": np.nan, "low": 0.0, "high": 1.0}
        metrics = class_metrics(size, says > 0, n, agreed, skipped=skipped)
        low, high = metrics.interval("recall", level)
        return {"estimate": metrics.recall, "low": low, "high": high}

    def remarks(self, models: Sequence[str] = ("A", "B"), level: float = 0.95) -> list[Note]:
        """Return notes on the judge labels alone: their difference, their bias and their errors.

        Parameters
        ----------
        models : pair of str, default ("A", "B")
            Names of the models.
        level : float, default 0.95
            Confidence level of the intervals, between 0 and 1.

        Returns
        -------
        list of Note
            Two or more notes.
        """
        first, second = models
        low, high = (100 * limit for limit in self.favor(level))
        favor = "it is not shown that they favor one of the two"
        if low > 0:
            favor = f"they favor {first} by {low:.1f} to {high:.1f} points"
        if high < 0:
            favor = f"they favor {second} by {-high:.1f} to {-low:.1f} points"
        points = f"{100 * self.by_judge:+.1f} points"
        texts = [f"the judge labels alone give {first} minus {second} {points}; {favor}"]
        rates = self.rates(level)
        for kind, a, b in zip(("correct", "incorrect"), rates[:2], rates[2:], strict=True):
            if a["high"] < b["low"] or b["high"] < a["low"]:
                of_first = f"{a['estimate']:.0%} of the {kind} answers of {first}"
                of_second = f"{b['estimate']:.0%} of those of {second}"
                treats = "the judge treats the models differently"
                texts.append(f"{treats}: it labels as {kind} {of_first}, but {of_second}")
        return [*(Note("remark", text) for text in texts), CONTESTANT]

    def rows(self) -> list[dict]:
        """Return one row per pair of judge labels that occurs, with its human labels."""
        rows = []
        for verdict, row in zip(WHICH, super().rows(), strict=True):
            del row["stratum"]
            if row["size"]:
                rows.append({"verdict": verdict, **row})
        return rows

    def _completed(self, skipped: ndarray, correct: int) -> "JudgedDifference":
        labels = np.multiply.outer(skipped, SIGNS == 2 * correct - 1)
        return judged_difference(self.stratum_size, self.answers + labels, drawn=self.drawn)

    def _default(self, level: float) -> Interval:
        size = self.stratum_size
        low, high = LIMITS[self.drawn](size, self.counts, level)
        notes = [UNPROVEN[self.drawn]]
        notes += intervals.few_notes(size, self.counts.sum(1))
        return Interval(low, high, level, "judged", notes=notes)


def judged_labels(stratum_size: ArrayLike, budget: int) -> ndarray:
    """Allocate human labels to the four pairs of judge labels, for `judged_difference`.

    Parameters
    ----------
    stratum_size : (4,) array_like of int
        Items by the judge labels of A and B: both correct, only A, only B, neither.
    budget : int
        Human labels in total. Every pair gets at least 4, or labels for all of its items.

    Returns
    -------
    (4,) array of int
        Items to label in each pair. They are in proportion to the items of the pair, times .4, .6,
        .6 and .5.

    See Also
    --------
    judged_difference : Estimate the difference if a judge labeled all items.
    allocate : Allocate a budget of labels to strata.

    Examples
    --------
    >>> judged_labels([1400, 250, 200, 150], 100).tolist()
    [62, 17, 13, 8]
    """
    size = checks.counts("stratum_size", stratum_size, size=len(PAIRS))
    some = size > 0
    labeled = np.zeros(len(PAIRS), int)
    sd = SPREAD[some]
    allocation = allocate(size[some], budget, "neyman_plus", stratum_sd=sd, minimum=LEAST)
    labeled[some] = allocation.labeled
    return labeled


def judged_difference(
    stratum_size: ArrayLike,
    answers: ArrayLike,
    *,
    drawn: str = "pairs",
    skipped: ArrayLike | None = None,
) -> JudgedDifference:
    r"""Estimate the difference between the accuracies of two models whose answers a judge labeled.

    Use it if an automatic judge labeled both models' answers to all items as correct or incorrect,
    and annotators labeled some of the items. The judge may err: the human labels correct it.

    Parameters
    ----------
    stratum_size : (4,) array_like of int
        Items by the judge labels of A and B: both correct, only A, only B, neither.
    answers : (4, 4) array_like of int
        Items with human labels: rows by judge labels, columns by human labels, in the same order.
    drawn : {"pairs", "random"}, default "pairs"
        Whether the items to label were sampled within each pair of judge labels, or at random from
        all items. `judged_labels` allocates labels to the pairs.
    skipped : (4,) array_like of int, optional
        Further sampled items per pair that could not be labeled. The lower limit of the interval
        counts only B as correct for each of them, the upper limit only A.

    Returns
    -------
    JudgedDifference
        Accuracy of A minus that of B, the bias of the judge labels, and the error rates of the
        judge.

    Raises
    ------
    ValueError
        If there are more labels than items, or fewer than 3 labels. With "pairs", also if a pair
        has fewer than 2 labels but more items.

    See Also
    --------
    judged_labels : Allocate human labels to the four pairs of judge labels.
    judged_audit : Plan or analyze an audit of two models with a judge.
    paired_difference : Estimate the difference from human labels alone.

    Notes
    -----
    For each human label let z be 1 if only A is correct, -1 if only B is correct, and 0 otherwise.
    Let v be the same number according to the judge labels.

    - With "pairs", the estimate D is the stratified mean of z.
    - With "random", D is the prediction-powered estimate [1]_: b mean(v) + mean(z - b v). The slope
      b is cov(z, v) / var(v), limited to the range from 0 to 1. The variance of v is that of all
      items. If one of the two pairs with different judge labels has fewer than 2 human labels, b is
      0. The squares of the residuals z - b v are divided by 1 minus their leverage.

    With the variance V of the estimate, the limits are

    .. math::
        D \pm \Big(t \sqrt{V + \frac{e^3}{(e + V)^2}} + g\Big), \quad e = \frac{3 z_l^2}{4} u^2.

    - :math:`z_l` is the normal quantile of the level.
    - u is the largest change of the estimate that one more label could make, downward for the lower
      limit and upward for the upper limit. A label of a pair has the weight W sqrt(f) / (n + 1). W
      is the proportion of items in the pair, and f = 1 - n / N if n of its N items are labeled.
      With "random", f is that of all items, and the weight is at most sqrt(f) / n.
    - g is the shift of Johnson's t for skewness [2]_. It is applied on the longer side only, and
      its denominator is V + e / 6.
    - t is Student's quantile. It has n - 2 degrees of freedom with "random". With "pairs" it has
      Satterthwaite's [3]_, at most those of all labels together.

    The limits are rounded outward to whole items. They never exceed the range that the labels leave
    possible.

    References
    ----------
    .. [1] Angelopoulos, Duchi & Zrnic, PPI++: efficient prediction-powered inference, arXiv
       2311.01453, 2023.
    .. [2] Johnson, Modified t tests and confidence intervals for asymmetrical populations, Journal
       of the American Statistical Association 73, 1978.
    .. [3] Satterthwaite, An approximate distribution of estimates of variance components,
       Biometrics Bulletin 2, 1946.

    Examples
    --------
    >>> answers = [[55, 4, 2, 1], [5, 9, 1, 2], [4, 1, 7, 1], [0, 1, 0, 7]]
    >>> difference = judged_difference([1400, 250, 200, 150], answers)
    >>> print(difference.headline())     # doctest: +NORMALIZE_WHITESPACE
    accuracy of A minus B +0.045, 95% confidence interval -0.032 to +0.123: no difference is shown;
    100 labels
    >>> round(difference.by_judge, 3)
    0.025
    """
    size = checks.counts("stratum_size", stratum_size, size=len(PAIRS))
    checks.choice("drawn", drawn, DRAWN)
    table = skips.count_table("answers", answers, (len(PAIRS), len(PAIRS)))
    none = np.zeros_like(size)
    unlabeled = none
    if skipped is not None:
        unlabeled = checks.counts("skipped", skipped, size=len(PAIRS))
    n = table.sum(1) + unlabeled
    checks.at_most("answers", n, "stratum_size", size, what="judge label")
    least = np.minimum(2, size) if drawn == "pairs" else none
    if n.sum() < min(3, size.sum()) or (n < least).any():
        raise checks.WrongValue(
            "answers",
            "must have 3 labels, and with drawn='pairs' 2 of each pair of judge labels",
            n,
        )
    counts = table @ (SIGNS[:, None] == VALUES)
    if unlabeled.any():
        nan = np.nan
        return JudgedDifference(nan, nan, size, counts, 0, unlabeled, answers=table, drawn=drawn)
    estimate, variance, *_ = ESTIMATES[drawn](size, counts)
    estimate = float(np.clip(estimate, *_proven(size, counts)))
    return JudgedDifference(estimate, float(variance), size, counts, 0, answers=table, drawn=drawn)


def _of_pairs(size: ndarray, counts: ndarray, level: float = 0.95) -> tuple:
    """Return estimate, variance, skewness, degrees of freedom and e for items sampled by pairs.

    The notes of `judged_difference` define e. It has the shape (2, ...), all others (...,).
    """
    n = counts.sum(-1)
    weight = size / size.sum()
    labeled = np.maximum(n, 1)
    rest = 1 - n / np.maximum(size, 1)
    mean = counts @ VALUES / labeled
    deviations = VALUES - mean[..., None]
    parts, skewness = _moments(weight / labeled, rest, counts, deviations, level)
    one_label = weight * np.sqrt(rest) / (n + 1)
    far = _unseen(one_label, mean, level)
    variance = parts.sum(-1)
    unknown = far.max(0)
    most = (np.maximum(n - 1, 0) * (n < size)).sum(-1)
    squares = (parts**2 / np.maximum(n - 1, 1)).sum(-1)
    squares = squares + unknown**2 / np.maximum(most, 1)
    df = (variance + unknown) ** 2 / np.maximum(squares, TINY)
    df = np.minimum(df, most)
    return mean @ weight, variance, skewness.sum(-1), df, far


def _of_all(size: ndarray, counts: ndarray, level: float = 0.95) -> tuple:
    """Return the same for items sampled from all items alike, by regression on the judge labels."""
    by_verdict = counts.sum(-1)
    sign = SIGNS[:, None]
    weight = size / size.sum()
    n = by_verdict.sum(-1, keepdims=True)
    labels = counts @ VALUES
    total = labels.sum(-1, keepdims=True)
    verdicts = by_verdict @ sign
    by_judge = weight @ SIGNS
    spread = weight @ SIGNS**2 - by_judge**2
    divisor = max(spread, TINY)
    covariance = labels @ sign - verdicts * total / n
    covariance = covariance / np.maximum(n - 1, 1)
    few = by_verdict < np.minimum(FEW, size)
    few = few[..., SIGNS != 0].any(-1, keepdims=True)
    slope = np.clip(covariance / divisor, 0, 1) * (~few & (spread > 0))
    mean = (total - slope * verdicts) / n
    rest = 1 - n / size.sum()
    fitted = slope * SIGNS + mean
    distance = (SIGNS - verdicts / n) ** 2 / divisor
    leverage = (1 + distance * (slope > 0)) / n
    shrinkage = np.sqrt(1 - np.minimum(leverage, 0.5))
    moved = (VALUES - fitted[..., None]) / shrinkage[..., None]
    one_label = np.minimum(weight / (by_verdict + 1), 1 / n)
    far = _unseen(one_label * np.sqrt(rest), fitted, level)
    counts = counts.reshape(*n.shape, -1)
    moved = moved.reshape(*n.shape, -1)
    variance, skewness = _moments(1 / n, rest, counts, moved, level)
    center = slope * by_judge + mean
    estimates = center, variance, skewness, n - 2
    return *(part[..., 0] for part in estimates), far


def _moments(
    unit: ndarray,
    rest: ndarray,
    counts: ndarray,
    moved: ndarray,
    level: float,
) -> tuple:
    """Return variance and skewness (...,) of labels.

    Each label has the weight `unit`, and the proportion `rest` of the items is unlabeled. The
    skewness is the shift of Johnson's t, before it is divided by the variance.
    """
    n = counts.sum(-1)
    z2 = intervals.quantile(level) ** 2
    second = (counts * moved**2).sum(-1)
    third = (counts * moved**3).sum(-1)
    towards = z2 / 2 * rest - (z2 - 1) / 6 * (2 * rest - 1)
    variance = unit**2 * rest * second * n
    variance = variance / np.maximum(n - 1, 1)
    return variance, unit**3 * rest * towards * third


def _unseen(unit: ndarray, mean: ndarray, level: float) -> ndarray:
    """Return 3/4 z^2 times the square of the largest change that one unseen label makes, (2, ...).

    The first entry is the change downward, the second the change upward.
    """
    below = unit * (1 + mean)
    above = unit * (1 - mean)
    farthest = np.stack([below, above]).max(-1)
    return 0.75 * intervals.quantile(level) ** 2 * farthest**2


def _limits(
    estimates: Callable,
    size: ndarray,
    counts: ndarray,
    level: float,
) -> tuple:
    """Return the limits (...,) from labels (..., 4, 3), rounded outward to whole items."""
    center, variance, skewness, df, far = estimates(size, counts, level)
    added = far**3 / np.maximum(far + variance, 1e-150) ** 2
    t = special.stdtrit(np.maximum(df, 1), (1 + level) / 2)
    below, above = t * np.sqrt(variance + added)
    divisor = variance + far.max(0) / 6
    skew = skewness / np.maximum(divisor, TINY)
    total = size.sum()
    least, most = _proven(size, counts)
    low = center + np.minimum(skew, 0) - below
    low = np.floor(total * low + 1e-9) / total
    high = center + np.maximum(skew, 0) + above
    high = np.ceil(total * high - 1e-9) / total
    return np.maximum(low, least), np.minimum(high, most)


def _proven(size: ndarray, counts: ndarray) -> tuple:
    """Return the smallest and the largest difference (...,) that the labels leave possible."""
    total = size.sum()
    labeled = counts.sum(-2) @ VALUES
    unseen = total - counts.sum((-1, -2))
    return (labeled - unseen) / total, (labeled + unseen) / total


ESTIMATES = {"pairs": _of_pairs, "random": _of_all}
judged_limits = functools.partial(_limits, _of_pairs)
regression_limits = functools.partial(_limits, _of_all)
LIMITS = {"pairs": judged_limits, "random": regression_limits}
