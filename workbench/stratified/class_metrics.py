"""Precision, recall and F1 of a class from a sample stratified within the predicted class."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation.rules import allocate
from workbench.intervals.values import monotone_upper, upper_limit
from workbench.results import Interval, Note, Result
from workbench.stratified import accuracy, skips

METRICS = ("precision", "recall", "f1")
SHARE_OF_PREDICTED = (
    0.3  # precision is read from predicted members alone, recall from the misses among the others
)
ROUND, PRECISE = 1e-9, 1e-10
SAMPLES, HALVINGS = 60, 10  # of an expected half-width: an error of a few percent


class ClassMetrics(Result):
    """Precision, recall and F1 of one class from a stratified sample; made by `class_metrics`.

    Attributes
    ----------
    stratum_size : (H,) array of int
    predicted : (H,) array of bool
        Whether the items of a stratum are predicted members of the class.
    labeled, correct : (H,) array of int
        Labels, and those in which the prediction about membership was right.
    precision, recall, f1 : float
        Estimates; NaN where undefined, and where items were skipped, which leaves a range, `bounds`.
    skipped : (H,) array of int or None
        Items of the sample without a label; None for none.
    """

    stratum_size: np.ndarray
    predicted: np.ndarray
    labeled: np.ndarray
    correct: np.ndarray
    precision: float
    recall: float
    f1: float
    skipped: np.ndarray | None = None

    def bounds(self, metric: str) -> tuple[float, float]:
        """Return the estimates of a metric with the prediction wrong about every skipped item, and right about each.

        Parameters
        ----------
        metric : {"precision", "recall", "f1"}
        """
        checks.choice("metric", metric, METRICS)
        low, high = self._ends()
        return getattr(low, metric), getattr(high, metric)

    def _ends(self) -> Any:
        if self.skipped is None:
            return self, self
        n = self.labeled + self.skipped
        return [
            class_metrics(self.stratum_size, self.predicted, n, self.correct + right)
            for right in (0, self.skipped)
        ]

    def interval(self, metric: str, level: float = 0.95) -> Interval:
        """Return a confidence interval for one metric.

        Parameters
        ----------
        metric : {"precision", "recall", "f1"}
        level : float
            Nominal coverage in (0, 1).

        Returns
        -------
        Interval
            The values r for which the interval of TP - r (TP + FN), or of 2 TP - r (P + TP + FN), holds 0, within what
            the labels prove. Precision is the accuracy of the predicted members, with its default interval.
        """
        checks.choice("metric", metric, METRICS)
        tail = (1 - checks.level(level)) / 2
        if self.skipped is not None:
            return skips.between(*(end.interval(metric, level) for end in self._ends()))
        if metric == "precision":
            return self._precision(level)
        *limits, exact = _inverted(self, metric, tail)
        low, high = map(float, np.clip(limits, *_proven(self, metric)))
        return Interval(
            low,
            high,
            float(level),
            "inversion",
            notes=[
                *self.notes,
                *intervals.few_notes(self.stratum_size, self.labeled),
                *intervals.exact_notes(exact),
            ],
        )

    def _precision(self, level: float) -> Interval:
        members = self.predicted
        if not members.any():
            return Interval(0.0, 1.0, float(level), "default", notes=self.notes)
        return intervals.stratified_interval(
            self.stratum_size[members], self.labeled[members], self.correct[members], level=level
        )

    def headline(self) -> str:
        """Return the three metrics with their 95% intervals in one sentence."""
        said = (
            f"{metric} {self._said(metric)} ({limits.low:.4g} to {limits.high:.4g})"
            for metric in METRICS
            for limits in [self.interval(metric)]
        )
        labels = checks.counted(int(self.labeled.sum()), "label")
        return f"{', '.join(said)}; 95%, {labels}{skips.words(self.skipped)}"

    def _said(self, metric: Any) -> str:
        return " to ".join(dict.fromkeys(f"{end:.4g}" for end in self.bounds(metric)))

    def rows(self) -> list[dict]:
        """Return one row per metric with its 95% interval."""
        return [
            {
                "metric": metric,
                **skips.estimate_cells(self.bounds(metric), self.skipped),
                "low": limits.low,
                "high": limits.high,
            }
            for metric in METRICS
            for limits in [self.interval(metric)]
        ]


def class_metrics(
    stratum_size: ArrayLike,
    predicted: ArrayLike,
    labeled: ArrayLike,
    correct: ArrayLike,
    *,
    skipped: ArrayLike | None = None,
) -> ClassMetrics:
    """Estimate precision, recall and F1 of a class from strata that lie within the predicted class.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
    predicted : (H,) array_like of bool
        Whether the items of a stratum are predicted members of the class: each stratum holds only predicted members or
        only others.
    labeled : (H,) array_like of int
        Labels per stratum, at least 2 unless it is fully labeled.
    correct : (H,) array_like of int
        Labeled items whose prediction about membership is right: true members among the predicted ones, true others
        among the others.
    skipped : (H,) array_like of int, optional
        Further items of the sample, which nobody could label, as in `stratified_accuracy`: every metric rises with each
        prediction about membership that is right.

    Returns
    -------
    ClassMetrics

    Raises
    ------
    ValueError
        If an argument is out of its domain; names the stratum.

    Notes
    -----
    With weighted totals TP, FN and P (predicted members), recall = TP / (TP + FN) and F1 = 2 TP / (P + TP + FN).
    Recall >= r exactly where TP - r (TP + FN) >= 0, a weighted mean of values 1 - r and -r, and F1 >= r where
    2 TP - r (P + TP + FN) >= 0: the interval holds the r for which `value_interval` of it comes within one item of 0.

    Examples
    --------
    >>> class_metrics([1000, 9000], [True, False], [60, 140], [51, 138])    # doctest: +NORMALIZE_WHITESPACE
    ClassMetrics(precision 0.85 (0.738 to 0.927), recall 0.8686 (0.6502 to 0.9843), f1 0.8592 (0.7249 to 0.9395);
    95%, 200 labels)
    """
    if skipped is not None and np.any(skipped):
        return _with_skipped(stratum_size, predicted, *skips.checked(labeled, skipped), correct)
    size, labeled, correct = intervals.check_sample(stratum_size, labeled, correct)
    predicted = checks.zero_one("predicted", predicted, size=size.size, what="stratum")
    members, hits, missed = _totals(size, predicted, labeled, correct)
    parts = {
        "precision": (hits, members),
        "recall": (hits, hits + missed),
        "f1": (2 * hits, members + hits + missed),
    }
    notes = [
        Note("undefined", f"{metric} is 0/0 in these labels", ("metric", metric))
        for metric, (_, whole) in parts.items()
        if not whole
    ]
    precision, recall, f1 = (
        float(part / whole) if whole else float("nan") for part, whole in parts.values()
    )
    return ClassMetrics(size, predicted, labeled, correct, precision, recall, f1, notes=notes)


def expected_half_widths(
    stratum_size: np.ndarray,
    predicted: np.ndarray,
    rate: np.ndarray,
    labeled: np.ndarray,
    level: float = 0.95,
) -> dict[str, float]:
    """Return the mean half-widths of the intervals of precision and recall over samples, if the rates hold.

    Parameters
    ----------
    stratum_size : (H,) array of int
    predicted : (H,) array of bool
    rate : (H,) array of float
        Share of the items of a stratum whose prediction about membership is right; rounded to whole items.
    labeled : (H,) array of int
    level : float

    Returns
    -------
    dict of str to float
        The samples are the same for the same arguments. Intervals of recall are those of each sample alone: the
        reported ones, which no right label more lowers, are as wide or nearly so.

    Examples
    --------
    >>> size, predicted, rate = np.array([1000, 9000]), np.array([True, False]), np.array([.85, .985])
    >>> found = expected_half_widths(size, predicted, rate, np.array([60, 140]))
    >>> {name: round(width, 2) for name, width in found.items()}
    {'precision': 0.09, 'recall': 0.15}
    """
    part = [values[predicted] for values in (stratum_size, rate, labeled)]
    uniform = np.random.default_rng(0).random((SAMPLES, stratum_size.size))
    correct = accuracy.draw_counts(stratum_size, np.rint(stratum_size * rate), labeled, uniform)
    low, high = (
        _recall_limit(
            stratum_size,
            predicted,
            np.stack([labeled - correct, correct], -1),
            sign,
            (1 - level) / 2,
        )
        for sign in (-1, 1)
    )
    return {
        "precision": accuracy.expected_half_width(*part, level=level)[0],
        "recall": float((high - low).mean() / 2),
    }


def _recall_limit(
    size: np.ndarray, predicted: np.ndarray, counts: np.ndarray, sign: int, tail: float
) -> np.ndarray:
    """Return the upper (sign 1) or lower (-1) limits of recall of samples (R, H, 2), by bisection, as proven."""
    kept, far = (np.full(len(counts), end) for end in ((1 - sign) / 2, (1 + sign) / 2))
    for _ in range(HALVINGS):
        r = (kept + far) / 2
        none = np.zeros_like(r)
        values = np.where(
            predicted[:, None],
            np.stack([none, 1 - r], -1)[:, None],
            np.stack([-r, none], -1)[:, None],
        )
        holds = beyond_zero(size, counts, values, none, sign, tail)[0] > 0
        kept, far = np.where(holds, r, kept), np.where(holds, far, r)
    unseen = size - counts.sum(-1)
    hits, missed = counts[:, predicted, 1].sum(-1), counts[:, ~predicted, 0].sum(-1)
    most, worst = hits + unseen[:, predicted].sum(-1), missed + unseen[:, ~predicted].sum(-1)
    proven = (
        np.where(hit + miss, hit / np.maximum(hit + miss, 1), end)
        for hit, miss, end in ((hits, worst, 0.0), (most, missed, 1.0))
    )
    return np.clip(kept, *proven)


def allocate_to_class(
    stratum_size: ArrayLike,
    predicted: ArrayLike,
    budget: int,
    *,
    share: float = SHARE_OF_PREDICTED,
    minimum: int = 2,
) -> np.ndarray:
    """Allocate labels for recall and F1: a fixed share to the predicted members, in proportion within each part.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
    predicted : (H,) array_like of bool
        Strata of predicted members.
    budget : int
    share : float
        For the predicted members, in (0, 1). With .3 the intervals of recall and F1 were 1.10 and 1.06 times as wide as
        with the best of 18 rules, in proportion 1.11 and 1.35 times (57 settings, share of members .5% to 30%).
    minimum : int
        Labels that every stratum gets at least.

    Returns
    -------
    (H,) array of int

    Examples
    --------
    >>> allocate_to_class([1000, 9000], [True, False], 200)
    array([ 60, 140])
    """
    size = checks.counts("stratum_size", stratum_size, low=1)
    predicted = checks.zero_one("predicted", predicted, size=size.size, what="stratum")
    share = checks.number("share", share, 0, 1, open_ends=True)
    minimum = checks.whole("minimum", minimum, 0)
    budget = checks.whole("budget", budget, int(np.minimum(minimum, size).sum()), int(size.sum()))
    parts = [part for part in (predicted, ~predicted) if part.any()]
    if len(parts) == 1:
        return np.array(allocate(size, budget, "proportional", minimum=minimum).labeled)
    least, most = (
        [int(np.minimum(cap, size[part]).sum()) for part in parts] for cap in (minimum, size.max())
    )
    first = int(
        np.clip(
            round(share * budget), max(least[0], budget - most[1]), min(most[0], budget - least[1])
        )
    )
    labeled = np.zeros(size.size, np.int64)
    for part, labels in zip(parts, (first, budget - first), strict=True):
        labeled[part] = allocate(size[part], labels, "proportional", minimum=minimum).labeled
    return labeled


def _with_skipped(
    size: Any, predicted: Any, labeled: Any, skipped: Any, correct: Any
) -> ClassMetrics:
    low = class_metrics(size, predicted, labeled + skipped, correct)
    checks.at_most("correct", low.correct, "labeled", labeled)
    return ClassMetrics(
        low.stratum_size, low.predicted, labeled, low.correct, np.nan, np.nan, np.nan, skipped
    )


def _totals(
    size: np.ndarray, predicted: np.ndarray, labeled: np.ndarray, correct: np.ndarray
) -> tuple:
    """Return the predicted members, the true ones among them, and the members missed, all estimated in items."""
    wrong = size * (1 - correct / labeled)
    return size[predicted].sum(), (size - wrong)[predicted].sum(), wrong[~predicted].sum()


def _inverted(found: ClassMetrics, metric: str, tail: float) -> tuple[float, float, bool]:
    """Return the smallest and the largest r at which 0 lies within the limits of TP - r (TP + FN), or that of F1.

    Also whether they are exact. Where another outcome has the farther limit there, r goes on to where that is 0.
    """
    sides = [_side(found, metric, sign, tail) for sign in (-1, 1)]
    return sides[0][0], sides[1][0], sides[0][1] and sides[1][1]


def _side(found: ClassMetrics, metric: str, sign: int, tail: float) -> tuple[float, bool]:
    """Return the r at which the upper (sign 1) or lower (-1) limit is 0, and whether it is exact."""
    size, counts = found.stratum_size, np.stack([found.labeled - found.correct, found.correct], 1)

    def beyond(r: float, rows: np.ndarray, upper: Callable = upper_limit) -> tuple:
        return beyond_zero(size, rows, *_values(found, metric, r), sign, tail, upper)

    def solved(rows: np.ndarray, far: float) -> tuple:
        limit = _last(lambda r: beyond(r, rows)[0], (1 - sign) / 2, far)
        return limit, *beyond(limit, counts, monotone_upper)

    before, (limit, reached, exact, rows) = None, solved(counts, (1 + sign) / 2)
    while reached < -ROUND and limit != before:
        before, (limit, reached, exact, rows) = limit, solved(rows, limit)
    return limit, exact


def _last(holds: Callable[[float], float], safe: float, far: float) -> float:
    """Return the last r from `safe` to `far` at which a function that falls is above 0."""
    ends = [r for r in (far, safe) if (holds(r) > 0) == (r == far)]
    return ends[0] if ends else scipy.optimize.brentq(holds, safe, far, xtol=PRECISE)


def beyond_zero(
    size: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
    constant: np.ndarray,
    sign: int,
    tail: float,
    upper: Callable = upper_limit,
) -> tuple:
    """Return how far the upper (sign 1) or lower (-1) limit of a mean of values, plus a constant, lies beyond 0.

    As limits of shares are rounded outward to whole items, a limit that ends less than one item short of 0 is beyond:
    without it strata of which a few items are left unlabeled covered too little.

    Parameters
    ----------
    size : (H,) array
    counts : (..., H, 2) array
    values : (..., H, 2) array
    constant : (...) array or float
    sign : {1, -1}
    tail : float
    upper : callable
        `upper_limit` or `monotone_upper`, whose other values are handed on.
    """
    step = np.where(counts.sum(-1) < size, np.abs(values[..., 1] - values[..., 0]), 0.0).max(-1)
    limit, *others = upper(size, counts, sign * values, tail)
    return limit + sign * constant + (step + ROUND) / size.sum(), *others


def _values(found: Any, metric: Any, r: Any) -> tuple[np.ndarray, Any]:
    """Return the values (H, 2) of wrong and right labels at r, and the constant beside their mean."""
    once = 1 if metric == "recall" else 2
    member = found.predicted
    constant = (
        0.0
        if metric == "recall"
        else -r * found.stratum_size[member].sum() / found.stratum_size.sum()
    )
    return np.where(member[:, None], [0.0, once - r], [-r, 0.0]), constant


def _proven(found: ClassMetrics, metric: str) -> tuple:
    """Return the smallest and the largest value of the metric that the labels allow."""
    size, member, unseen = found.stratum_size, found.predicted, found.stratum_size - found.labeled
    hit, miss = found.correct[member].sum(), (found.labeled - found.correct)[~member].sum()
    ends = (hit, miss + unseen[~member].sum()), (hit + unseen[member].sum(), miss)
    once, others = (1, 0) if metric == "recall" else (2, size[member].sum())
    return tuple(
        once * hits / (others + hits + missed) if others + hits + missed else float(end)
        for end, (hits, missed) in enumerate(ends)
    )
