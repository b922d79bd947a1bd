"""The difference of two models from verdicts of one judge on all items and labels of some.

`judged_difference` estimates, `judged_labels` plans the labels. Both intervals are those of t with
one more label, which was never seen, and longer on the side where the labels are skewed; neither
has a proof. Least coverage found at 95%: ``tests/peers/search_judged.py``.
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
SPREAD = np.array([0.4, 0.6, 0.6, 0.5])  # expected of the difference, by verdicts
LEAST = 4
FEW = 2  # labels of differing verdicts, without which these tell nothing
TINY = 1e-300  # in the place of a denominator of 0
DRAWN = ("pairs", "random")
RATES = {1: "sensitivity", 0: "specificity"}
NO_PROOF = "the interval has no proof: the least coverage found at 95% was "
UNPROVEN = {
    "pairs": Note(
        "assumption",
        NO_PROOF + ".945 with labels drawn within the pairs of verdicts, from 20 labels on",
    ),
    "random": Note(
        "assumption",
        NO_PROOF + ".947 with labels drawn from all items alike, from 20 labels on",
    ),
}
CONTESTANT = Note(
    "remark",
    "a judge that is one of the two models, or was made from one, may favor its answers: the "
    "labels correct that, its verdicts alone do not",
)


class JudgedDifference(PairedDifference):
    """The difference of the accuracies of two models under one judge; made by `judged_difference`.

    `interval` has the method "default" only, which is the judged one.

    Attributes
    ----------
    estimate, variance, stratum_size, counts, agreeing, skipped
        As in `PairedDifference`; strata are the verdicts on both models: both correct, only A,
        only B, neither.
    answers : (4, 4) array of int
        Labels by verdicts and what people say, each in this order.
    drawn : {"pairs", "random"}
    """

    answers: ndarray = FILLED
    drawn: str = "pairs"

    @property
    def by_judge(self) -> float:
        """The difference by the verdicts alone."""
        return float(self.stratum_size @ SIGNS / self.stratum_size.sum())

    def favor(self, level: float = 0.95) -> Interval:
        """Return the bias of the verdicts towards A: their difference less the true one.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        low, high = self.interval(level)
        return Interval(self.by_judge - high, self.by_judge - low, level, "judged")

    def rates(self, level: float = 0.95) -> list[dict]:
        """Return one row per model and rate of the judge.

        The rates are those of correct answers that it passes, and of incorrect ones that it fails.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
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
        """Return the recall of a verdict: how often answers that deserve it get it."""
        says = PAIRS[:, model] == verdict
        passes = PAIRS[:, model] == 1
        n = self.answers.sum(1)
        correct = self.answers[:, passes].sum(1)
        agreed = np.where(passes, correct, n - correct)
        skipped = np.zeros_like(n) if self.skipped is None else self.skipped
        strata = np.stack([self.stratum_size, says, n, agreed, skipped])
        if self.drawn == "random":  # the items of one verdict are as good as a stratum
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
        """Return notes on the verdicts alone: their difference, their bias and their errors.

        Parameters
        ----------
        models : pair of str
            Names of the models.
        level : float
            Nominal coverage in (0, 1).
        """
        first, second = models
        low, high = (100 * limit for limit in self.favor(level))
        favor = "that they favor one of the two is not shown"
        if low > 0:
            favor = f"they favor {first} by {low:.1f} to {high:.1f} points"
        if high < 0:
            favor = f"they favor {second} by {-high:.1f} to {-low:.1f} points"
        points = f"{100 * self.by_judge:+.1f} points"
        texts = [f"the verdicts alone say {first} less {second} {points}; {favor}"]
        rates = self.rates(level)
        for kind, a, b in zip(("right", "wrong"), rates[:2], rates[2:], strict=True):
            if a["high"] < b["low"] or b["high"] < a["low"]:
                of_first = f"{a['estimate']:.0%} of the {kind} answers of {first}"
                of_second = f"{b['estimate']:.0%} of those of {second}"
                treats = "the judge treats the models differently"
                texts.append(f"{treats}: it calls {kind} {of_first}, but {of_second}")
        return [*(Note("remark", text) for text in texts), CONTESTANT]

    def rows(self) -> list[dict]:
        """Return one row per pair of verdicts that occurs, with the labels of its items."""
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
    """Return the number of items of each pair of verdicts to label for `judged_difference`.

    Parameters
    ----------
    stratum_size : (4,) array_like of int
        Items by the verdicts on A and B: both correct, only A, only B, neither.
    budget : int
        Labels in all; every pair gets at least 4, or all of its items.

    Returns
    -------
    (4,) array of int
        In proportion to the number of items times .4, .6, .6 and .5.

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
    r"""Estimate the accuracy of model A less that of model B from a judge's verdicts and labels.

    The judge gives a verdict on all items; people label some of them.

    Parameters
    ----------
    stratum_size : (4,) array_like of int
        Items by the verdicts on A and B: both correct, only A, only B, neither.
    answers : (4, 4) array_like of int
        Labels: rows by the verdicts, columns by what people say, in the same order.
    drawn : {"pairs", "random"}
        Whether the labels were drawn within each pair of verdicts, best as many as `judged_labels`
        says, or at random from all items.
    skipped : (4,) array_like of int, optional
        Further items of the sample, which nobody could label: the interval goes from its lower
        limit with only B correct about each of them to its upper limit with only A correct.

    Returns
    -------
    JudgedDifference

    Raises
    ------
    ValueError
        If there are more labels than items, fewer than 3, or, with "pairs", fewer than 2 of a pair
        that has them.

    Notes
    -----
    With z = 1, 0 or -1 a label, A less B, "pairs" is the stratified mean. With "random" and v the
    same of the verdicts, slope b = cov(z, v) / var(v), within 0 to 1 and its denominator over all
    items, and r = z - b v (b is 0 where one of the two differing pairs of verdicts has fewer than 2
    labels), it is the prediction-powered estimate [1]_, D = b mean(v) + mean(r), and the squares of
    r are divided by 1 less their leverage.

    With V the variance, the limits are

    .. math::
        D \pm \Big(t \sqrt{V + \frac{e^3}{(e + V)^2}} + g\Big), \quad e = \frac{3 z_l^2}{4} u^2,

    with u what one label that was never seen would move most: the farthest answer downward for the
    lower limit, upward for the upper one, of the pair of verdicts where a label weighs most, W
    sqrt(f) / (n + 1), f = 1 - n / N (at random with f of all labels and at most sqrt(f) / n). g is
    the skewness by which Johnson's t [2]_ moves, here on the longer side only, its denominator V +
    e / 6. Degrees of freedom are n - 2 at random; else Satterthwaite's [3]_, at most those of all
    labels. The limits are rounded outward to whole items, and cut at what the labels prove.

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
    >>> difference.headline()
    'accuracy of A less B +0.045, 95% from -0.032 to +0.123: no difference is shown; 100 labels'
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
    checks.at_most("answers", n, "stratum_size", size, what="verdict")
    least = np.minimum(2, size) if drawn == "pairs" else none
    if n.sum() < min(3, size.sum()) or (n < least).any():
        raise checks.WrongValue(
            "answers", "must hold 3 labels, and with drawn='pairs' 2 of each pair of verdicts", n
        )
    counts = table @ (SIGNS[:, None] == VALUES)
    if unlabeled.any():
        nan = np.nan
        return JudgedDifference(nan, nan, size, counts, 0, unlabeled, answers=table, drawn=drawn)
    estimate, variance, *_ = ESTIMATES[drawn](size, counts)
    estimate = float(np.clip(estimate, *_proven(size, counts)))
    return JudgedDifference(estimate, float(variance), size, counts, 0, answers=table, drawn=drawn)


def _of_pairs(size: ndarray, counts: ndarray, level: float = 0.95) -> tuple:
    """Return estimate, variance, skewness, degrees of freedom and reach of labels drawn by pairs.

    All have the shape (...,), the reach (2, ...).
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
    """Return the same of labels drawn from all items alike, by regression on the verdicts."""
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
    """Return variance and skewness (...,) of labels that weigh `unit`, a share `rest` unlabeled.

    The skewness is the distance by which Johnson's t moves, before it is divided by the variance.
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
    """Return the variance (2, ...) of the farthest unseen label below and above, 3/4 z^2 times."""
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
    """Return the limits (...,) of t from labels (..., 4, 3), in whole items and as proven."""
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
    """Return the least and the largest difference (...,) that items without a label leave."""
    total = size.sum()
    labeled = counts.sum(-2) @ VALUES
    unseen = total - counts.sum((-1, -2))
    return (labeled - unseen) / total, (labeled + unseen) / total


ESTIMATES = {"pairs": _of_pairs, "random": _of_all}
judged_limits = functools.partial(_limits, _of_pairs)
regression_limits = functools.partial(_limits, _of_all)
LIMITS = {"pairs": judged_limits, "random": regression_limits}
