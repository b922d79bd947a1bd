"""Two models on the same items under one judge: their difference from verdicts on all items and labels of some.

Both intervals are those of t with one more label, which was never seen, and longer on the side where the labels are
skewed; neither has a proof. Least coverage found at 95%: ``tests/peers/search_judged.py``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation.rules import allocate
from workbench.data.judged_items import WHICH
from workbench.results import FILLED, Interval, Note
from workbench.stratified.class_metrics import class_metrics
from workbench.stratified.differences import VALUES, PairedDifference

PAIRS = np.array([(1, 1), (1, 0), (0, 1), (0, 0)])  # right about A and B, in the order of `WHICH`
SIGNS = PAIRS[:, 0] - PAIRS[:, 1]
SPREAD = np.array([0.4, 0.6, 0.6, 0.5])  # expected of the difference, by verdicts
LEAST = 4
FEW = 2  # labels of differing verdicts, without which these tell nothing
DRAWN = {"pairs": "drawn within the pairs of verdicts", "random": "drawn from all items alike"}
RATES = {1: "sensitivity", 0: "specificity"}
UNPROVEN = {
    drawn: Note(
        "assumption",
        f"the interval has no proof: the least coverage found at 95% was "
        f"{least} with labels {how}, from 20 labels on",
    )
    for (drawn, how), least in zip(DRAWN.items(), (".945", ".947"), strict=True)
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
        As in `PairedDifference`; strata are the verdicts on both models: both right, only A, only B, neither.
    answers : (4, 4) array of int
        Labels by verdicts and what people say, each in this order.
    drawn : {"pairs", "random"}
    """

    answers: np.ndarray = FILLED
    drawn: str = "pairs"

    @property
    def by_judge(self) -> float:
        """The difference that the verdicts alone say."""
        return float(self.stratum_size @ SIGNS / self.stratum_size.sum())

    def favor(self, level: float = 0.95) -> Interval:
        """Return by how much the verdicts favor A: the difference that they say less the true one.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        low, high = self.interval(level)
        return Interval(self.by_judge - high, self.by_judge - low, level, "judged")

    def rates(self, level: float = 0.95) -> list[dict]:
        """Return one row per model and rate of the judge: right answers that it passes, wrong ones that it does not.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).
        """
        return [
            {"model": model, "metric": metric, **self._rate(place, verdict, level)}
            for place, model in enumerate("AB")
            for verdict, metric in RATES.items()
        ]

    def _rate(self, place: int, verdict: int, level: float) -> dict:
        """Return how often the judge gives a verdict on a model's answers that deserve it: recall, as of a class."""
        says, deserves = PAIRS[:, place] == verdict, PAIRS[:, place] == 1
        n, right = self.answers.sum(1), self.answers[:, deserves].sum(1)
        parts = np.stack(
            [
                self.stratum_size,
                says,
                n,
                np.where(deserves, right, n - right),
                np.zeros(4, int) if self.skipped is None else self.skipped,
            ]
        )
        if self.drawn == "random":  # the items of one verdict are as good as a stratum
            parts = np.stack([parts[:, part].sum(1) for part in (says, ~says)], 1)
        size, says, n, correct, skipped = parts[:, parts[0] > 0]
        if (n + skipped < np.minimum(2, size)).any():
            return {"estimate": float("nan"), "low": 0.0, "high": 1.0}
        found = class_metrics(size, says > 0, n, correct, skipped=skipped)
        low, high = found.interval("recall", level)
        return {"estimate": found.recall, "low": low, "high": high}

    def remarks(self, models: Sequence[str] = ("A", "B"), level: float = 0.95) -> list[Note]:
        """Return what the verdicts alone say, whom they favor, how differently they err, and that a judge may compete.

        Parameters
        ----------
        models : pair of str
            What the models are called.
        level : float
            Nominal coverage in (0, 1).
        """
        low, high = self.favor(level)
        favors = (
            f"they favor {models[0]} by {100 * low:.1f} to {100 * high:.1f} points"
            if low > 0
            else f"they favor {models[1]} by {-100 * high:.1f} to {-100 * low:.1f} points"
            if high < 0
            else "that they favor one of the two is not shown"
        )
        told = [
            f"the judge treats the models differently: it calls {kind} {a['estimate']:.0%} of the {kind} answers "
            f"of {models[0]}, but {b['estimate']:.0%} of those of {models[1]}"
            for a, b, kind in self._rates_of_both(level)
            if a["high"] < b["low"] or b["high"] < a["low"]
        ]
        return [
            Note(
                "remark",
                f"the verdicts alone say {models[0]} less {models[1]} {100 * self.by_judge:+.1f} "
                f"points; {favors}",
            ),
            *(Note("remark", text) for text in told),
            CONTESTANT,
        ]

    def _rates_of_both(self, level: float) -> list[tuple]:
        rows = self.rates(level)
        return [
            (*(row for row in rows if row["metric"] == metric), kind)
            for metric, kind in zip(RATES.values(), ("right", "wrong"), strict=True)
        ]

    def rows(self) -> list[dict]:
        """Return one row per pair of verdicts that there is: what people said of it."""
        return [
            {"verdict": said, **{key: value for key, value in row.items() if key != "stratum"}}
            for said, row in zip(WHICH, super().rows(), strict=True)
            if row["size"]
        ]

    def _ends(self) -> Any:
        if self.skipped is None:
            return self, self
        return [
            judged_difference(
                self.stratum_size,
                self.answers + np.multiply.outer(self.skipped, SIGNS == sign),
                drawn=self.drawn,
            )
            for sign in (-1, 1)
        ]

    def _default(self, level: float) -> Interval:
        low, high = LIMITS[self.drawn](self.stratum_size, self.counts, level)
        return Interval(
            float(low),
            float(high),
            level,
            "judged",
            notes=[
                UNPROVEN[self.drawn],
                *intervals.few_notes(self.stratum_size, self.counts.sum(1)),
            ],
        )

    def _short(self, level: float) -> Interval:
        raise checks.WrongValue("method", "must be 'default' under a judge", "short")


def judged_labels(stratum_size: ArrayLike, budget: int) -> np.ndarray:
    """Return how many items of each pair of verdicts to label for `judged_difference`.

    Parameters
    ----------
    stratum_size : (4,) array_like of int
        Items by the verdicts on A and B: both right, only A, only B, neither.
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
    some, labeled = size > 0, np.zeros(len(PAIRS), int)
    labeled[some] = allocate(
        size[some], budget, "neyman_plus", stratum_sd=SPREAD[some], minimum=LEAST
    ).labeled
    return labeled


def judged_difference(
    stratum_size: ArrayLike,
    answers: ArrayLike,
    *,
    drawn: str = "pairs",
    skipped: ArrayLike | None = None,
) -> JudgedDifference:
    r"""Estimate by how much model A is more often right than B: a judge's verdicts on all items, labels of some.

    Parameters
    ----------
    stratum_size : (4,) array_like of int
        Items by the verdicts on A and B: both right, only A, only B, neither.
    answers : (4, 4) array_like of int
        Labels: rows by the verdicts, columns by what people say, in the same order.
    drawn : {"pairs", "random"}
        Whether the labels were drawn within each pair of verdicts, best as many as `judged_labels` says, or at random
        from all items.
    skipped : (4,) array_like of int, optional
        Further items of the sample, which nobody could label: the interval goes from its lower limit with only B right
        about each of them to its upper limit with only A right.

    Returns
    -------
    JudgedDifference

    Raises
    ------
    ValueError
        If there are more labels than items, fewer than 3, or, with "pairs", fewer than 2 of a pair that has them.

    Notes
    -----
    With z = 1, 0 or -1 a label, A less B, "pairs" is the stratified mean. With "random" and v the same of the
    verdicts, slope b = cov(z, v) / var(v), within 0 to 1 and its denominator over all items, and r = z - b v (b is 0
    where one of the two differing pairs of verdicts has fewer than 2 labels), it is the prediction-powered estimate
    [1]_, D = b mean(v) + mean(r), and the squares of r are divided by 1 less their leverage.

    With V the variance, the limits are

    .. math:: D \pm \Big(t \sqrt{V + \frac{e^3}{(e + V)^2}} + g\Big), \quad e = \frac{3 z_l^2}{4} u^2,

    with u what one label that was never seen would move most: the farthest answer downward for the lower limit, upward
    for the upper one, of the pair of verdicts where a label weighs most, W sqrt(f) / (n + 1), f = 1 - n / N (at random
    with f of all labels and at most sqrt(f) / n). g is the skewness by which Johnson's t [2]_ moves, here on
    the longer side only, its denominator V + e / 6. Degrees of freedom are n - 2 at random; else Satterthwaite's [3]_,
    at most those of all labels. The limits are rounded outward to whole items, and cut at what the labels prove.

    References
    ----------
    .. [1] Angelopoulos, Duchi & Zrnic, PPI++: efficient prediction-powered inference, arXiv 2311.01453, 2023.
    .. [2] Johnson, Modified t tests and confidence intervals for asymmetrical populations, Journal of the American
       Statistical Association 73, 1978.
    .. [3] Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2, 1946.

    Examples
    --------
    >>> found = judged_difference([1400, 250, 200, 150], [[55, 4, 2, 1], [5, 9, 1, 2], [4, 1, 7, 1], [0, 1, 0, 7]])
    >>> found.headline()
    'accuracy of A less B +0.045, 95% from -0.032 to +0.123: no difference is shown; 100 labels'
    >>> round(found.by_judge, 3)
    0.025
    """
    size = checks.counts("stratum_size", stratum_size, size=len(PAIRS))
    checks.choice("drawn", drawn, DRAWN)
    table = checks.plain_array("answers", answers)
    if table.shape != (len(PAIRS), len(PAIRS)):
        raise checks.WrongValue(
            "answers", f"must have 4 rows and 4 columns; got shape {table.shape}"
        )
    table = np.stack(
        [
            checks.counts("answers", row, what=f"verdict {said!r}, label")
            for said, row in zip(WHICH, table, strict=True)
        ]
    )
    left = (
        np.zeros_like(size)
        if skipped is None
        else checks.counts("skipped", skipped, size=len(PAIRS))
    )
    n = table.sum(1) + left
    checks.at_most("answers", n, "stratum_size", size, what="verdict")
    least = np.minimum(2, size) if drawn == "pairs" else 0 * size
    if n.sum() < min(3, size.sum()) or (n < least).any():
        raise checks.WrongValue(
            "answers", "must hold 3 labels, and with drawn='pairs' 2 of each pair of verdicts", n
        )
    counts = np.stack([table[:, SIGNS == sign].sum(1) for sign in (-1, 0, 1)], 1)
    estimate, variance = (np.nan, np.nan) if left.any() else ESTIMATES[drawn](size, counts)[:2]
    estimate = np.clip(estimate, *_proven(size, counts))
    return JudgedDifference(
        float(estimate),
        float(variance),
        size,
        counts,
        0,
        left if left.any() else None,
        answers=table,
        drawn=drawn,
    )


def _spread(
    unit: np.ndarray, rest: np.ndarray, counts: np.ndarray, moved: np.ndarray, level: float
) -> Any:
    """Return variance and skewness (...,) of means of labels that weigh `unit`, of which a share `rest` has no label.

    The skewness is the distance by which Johnson's t moves, before it is divided by the variance.
    """
    n, z = counts.sum(-1), intervals.quantile(level)
    second, third = ((counts * moved**power).sum(-1) for power in (2, 3))
    towards = z**2 / 2 * rest - (z**2 - 1) / 6 * (2 * rest - 1)
    return unit**2 * rest * second * n / np.maximum(n - 1, 1), unit**3 * rest * towards * third


def _of_pairs(size: np.ndarray, counts: np.ndarray, level: float = 0.95) -> tuple:
    """Return estimate, variance, skewness, degrees of freedom (...,) and reach (..., 2) of labels drawn by pairs."""
    n, weight = counts.sum(-1), size / size.sum()
    some, rest, mean = (
        np.maximum(n, 1),
        1 - n / np.maximum(size, 1),
        counts @ VALUES / np.maximum(n, 1),
    )
    parts, skewness = _spread(weight / some, rest, counts, VALUES - mean[..., None], level)
    unit = weight * np.sqrt(rest) / (n + 1)
    far = _unseen(unit, mean, level)
    variance, unknown, most = (
        parts.sum(-1),
        far.max(-1),
        (np.maximum(n - 1, 0) * (n < size)).sum(-1),
    )
    df = (variance + unknown) ** 2 / np.maximum(
        (parts**2 / np.maximum(n - 1, 1)).sum(-1) + unknown**2 / np.maximum(most, 1), 1e-300
    )
    return mean @ weight, variance, skewness.sum(-1), np.minimum(df, most), far


def _of_all(size: np.ndarray, counts: np.ndarray, level: float = 0.95) -> tuple:
    """Return the same of labels drawn from all items alike: of what the verdicts leave, with their leverage."""
    by, total = counts.sum(-1), size.sum()
    n, weight, labels, verdicts = by.sum(-1), size / total, counts.sum(-2) @ VALUES, by @ SIGNS
    spread = weight @ SIGNS**2 - (weight @ SIGNS) ** 2
    covariance = (
        np.einsum("...ij,i,j->...", counts, SIGNS, VALUES) - verdicts * labels / n
    ) / np.maximum(n - 1, 1)
    few = (by < np.minimum(FEW, size))[..., SIGNS != 0].any(-1)
    slope = np.clip(covariance / spread, 0, 1) * ~few if spread > 0 else 0 * covariance
    mean, rest = (labels - slope * verdicts) / n, 1 - n / total
    said = np.multiply.outer(slope, SIGNS) + mean[..., None]
    lever = (
        1 + (SIGNS - (verdicts / n)[..., None]) ** 2 / max(spread, 1e-300) * (slope > 0)[..., None]
    ) / n[..., None]
    moved = (VALUES - said[..., None]) / np.sqrt(1 - np.minimum(lever, 0.5))[..., None]
    flat = (*counts.shape[:-2], -1)
    variance, skewness = _spread(1 / n, rest, counts.reshape(flat), moved.reshape(flat), level)
    unit = np.minimum(weight / (by + 1), 1 / n[..., None]) * np.sqrt(rest)[..., None]
    return slope * (weight @ SIGNS) + mean, variance, skewness, n - 2, _unseen(unit, said, level)


def _unseen(unit: np.ndarray, said: np.ndarray, level: float) -> np.ndarray:
    """Return the variance (..., 2) of labels never seen: of the farthest one below and above, 3/4 z^2 times."""
    return (
        0.75
        * intervals.quantile(level) ** 2
        * np.stack([unit * (1 + said), unit * (1 - said)], -1).max(-2) ** 2
    )


def _limits(
    size: np.ndarray, counts: np.ndarray, level: float, drawn: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of t, rounded outward to whole items, within what the labels prove."""
    center, variance, skewness, df, far = ESTIMATES[drawn](size, counts, level)
    added = far**3 / np.maximum(far + variance[..., None], 1e-150) ** 2
    reach = scipy.special.stdtrit(np.maximum(df, 1), (1 + level) / 2)[..., None] * np.sqrt(
        variance[..., None] + added
    )
    skew = skewness / np.maximum(variance + far.max(-1) / 6, 1e-300)
    total, (least, most) = size.sum(), _proven(size, counts)
    low = np.floor(total * (center + np.minimum(skew, 0) - reach[..., 0]) + 1e-9)
    high = np.ceil(total * (center + np.maximum(skew, 0) + reach[..., 1]) - 1e-9)
    return np.maximum(low / total, least), np.minimum(high / total, most)


def judged_limits(
    size: np.ndarray, counts: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits (...,) from labels (..., 4, 3) drawn by pairs of verdicts."""
    return _limits(size, counts, level, "pairs")


def regression_limits(
    size: np.ndarray, counts: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits (...,) from labels (..., 4, 3) drawn at random."""
    return _limits(size, counts, level, "random")


def _proven(size: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest difference (...,) that items without a label leave."""
    known, unseen = counts.sum(-2) @ VALUES, size.sum() - counts.sum((-1, -2))
    return (known - unseen) / size.sum(), (known + unseen) / size.sum()


ESTIMATES = {"pairs": _of_pairs, "random": _of_all}
LIMITS = {"pairs": judged_limits, "random": regression_limits}
