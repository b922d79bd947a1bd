"""Precision, recall and F1 of a class from a sample stratified within the predicted class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation.rules import allocate
from workbench.intervals.values import upper_limit
from workbench.results import Interval, Note, Result
from workbench.stratified import skips

METRICS = ("precision", "recall", "f1")
SHARE_OF_PREDICTED = 0.3    # precision is read from predicted members alone, recall from the misses among the others
GRID = 65
ROUND = 1e-9
ROUNDS = 5


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
        return [class_metrics(self.stratum_size, self.predicted, n, self.correct + right)
                for right in (0, self.skipped)]

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
        low, high = map(float, np.clip(_inverted(self, metric, tail), *_proven(self, metric)))
        return Interval(low, high, float(level), "inversion", notes=[
            *self.notes, *intervals.few_notes(self.stratum_size, self.labeled)])

    def _precision(self, level: float) -> Interval:
        members = self.predicted
        if not members.any():
            return Interval(0.0, 1.0, float(level), "default", notes=self.notes)
        return intervals.stratified_interval(self.stratum_size[members], self.labeled[members], self.correct[members],
                                             level=level)

    def headline(self) -> str:
        """Return the three metrics with their 95% intervals in one sentence."""
        said = (f"{metric} {self._said(metric)} ({limits.low:.4g} to {limits.high:.4g})"
                for metric in METRICS for limits in [self.interval(metric)])
        labels = checks.counted(int(self.labeled.sum()), "label")
        return f"{', '.join(said)}; 95%, {labels}{skips.words(self.skipped)}"

    def _said(self, metric: Any) -> str:
        return " to ".join(dict.fromkeys(f"{end:.4g}" for end in self.bounds(metric)))

    def rows(self) -> list[dict]:
        """Return one row per metric with its 95% interval."""
        return [{"metric": metric, **skips.estimate_cells(self.bounds(metric), self.skipped), "low": limits.low,
                 "high": limits.high}
                for metric in METRICS for limits in [self.interval(metric)]]


def class_metrics(stratum_size: ArrayLike, predicted: ArrayLike, labeled: ArrayLike, correct: ArrayLike, *,
                  skipped: ArrayLike | None = None) -> ClassMetrics:
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
    found = {"precision": hits / members if members else np.nan,
             "recall": hits / (hits + missed) if hits + missed else np.nan,
             "f1": 2 * hits / (members + hits + missed) if members + hits + missed else np.nan}
    notes = [Note("undefined", f"{metric} is 0/0 in these labels", ("metric", metric))
             for metric, value in found.items() if np.isnan(value)]
    return ClassMetrics(size, predicted, labeled, correct, float(found["precision"]), float(found["recall"]),
                        float(found["f1"]), notes=notes)


def allocate_to_class(stratum_size: ArrayLike, predicted: ArrayLike, budget: int, *,
                      share: float = SHARE_OF_PREDICTED, minimum: int = 2) -> np.ndarray:
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
    budget = checks.whole("budget", budget, int(np.minimum(minimum, size).sum()), int(size.sum()))
    parts = [part for part in (predicted, ~predicted) if part.any()]
    if len(parts) == 1:
        return np.array(allocate(size, budget, "proportional", minimum=minimum).labeled)
    least, most = ([int(np.minimum(cap, size[part]).sum()) for part in parts] for cap in (minimum, size.max()))
    first = int(np.clip(round(share * budget), max(least[0], budget - most[1]), min(most[0], budget - least[1])))
    labeled = np.zeros(size.size, np.int64)
    for part, labels in zip(parts, (first, budget - first), strict=True):
        labeled[part] = allocate(size[part], labels, "proportional", minimum=minimum).labeled
    return labeled


def _with_skipped(size: Any, predicted: Any, labeled: Any, skipped: Any, correct: Any) -> ClassMetrics:
    low = class_metrics(size, predicted, labeled + skipped, correct)
    checks.at_most("correct", low.correct, "labeled", labeled)
    return ClassMetrics(low.stratum_size, low.predicted, labeled, low.correct, np.nan, np.nan, np.nan, skipped)


def _totals(size: np.ndarray, predicted: np.ndarray, labeled: np.ndarray, correct: np.ndarray) -> tuple:
    """Return the predicted members, the true ones among them, and the members missed, all estimated in items."""
    wrong = size * (1 - correct / labeled)
    return size[predicted].sum(), (size - wrong)[predicted].sum(), wrong[~predicted].sum()


def _inverted(found: ClassMetrics, metric: str, tail: float) -> tuple:
    """Return the smallest and the largest r at which 0 lies within the limits of TP - r (TP + FN), or that of F1."""
    counts = np.stack([found.labeled - found.correct, found.correct], 1)
    sides = []
    for sign in (1, -1):                            # above: upper limit >= 0; below: lower limit <= 0
        low, high = 0.0, 1.0
        for _ in range(ROUNDS):
            grid = np.linspace(low, high, GRID)
            holds = reaches_zero(found.stratum_size, counts, *_values(found, metric, grid), sign, tail)
            low, high = _bracket(grid, holds if sign > 0 else holds[::-1], sign)
        sides.append(high if sign > 0 else low)
    return sides[1], sides[0]


def reaches_zero(size: np.ndarray, counts: np.ndarray, values: np.ndarray, constant: np.ndarray, sign: int,
                 tail: float) -> np.ndarray:
    """Return whether the upper (sign 1) or lower (-1) limit of a mean of values, plus a constant, lies beyond 0.

    As limits of shares are rounded outward to whole items, a limit that ends less than one item short of 0 reaches it:
    without it strata of which a few items are left unlabeled covered too little.

    Parameters
    ----------
    size : (H,) array
    counts : (..., H, 2) array
    values : (..., H, 2) array
    constant : (...) array or float
    sign : {1, -1}
    tail : float
    """
    step = np.where(counts.sum(-1) < size, np.abs(values[..., 1] - values[..., 0]), 0.0).max(-1)
    limit = upper_limit(size, counts, sign * values, tail)[0] + sign * constant
    return limit * size.sum() > -step - ROUND


def _values(found: Any, metric: Any, r: Any) -> tuple[np.ndarray, Any]:
    """Return the values (R, H, 2) of wrong and right labels at each r, and the constant (R,) beside their mean."""
    once = 1 if metric == "recall" else 2
    r, member = r[:, None], found.predicted
    wrong, right = np.where(member, 0.0, -r), np.where(member, once - r, 0.0)
    constant = 0.0 if metric == "recall" else -r[:, 0] * found.stratum_size[member].sum() / found.stratum_size.sum()
    return np.stack([wrong, right], -1), constant


def _bracket(grid: np.ndarray, holds: np.ndarray, sign: int) -> tuple:
    """Return the cell of the grid in which the condition ends to hold, seen from its safe end."""
    ends = grid if sign > 0 else grid[::-1]
    last = len(holds) - 1 - int(holds[::-1].argmax()) if holds.any() else 0
    outer = ends[min(last + 1, len(ends) - 1)]
    return tuple(sorted((float(ends[last]), float(outer))))


def _proven(found: ClassMetrics, metric: str) -> tuple:
    """Return the smallest and the largest value of the metric that the labels allow."""
    size, member, unseen = found.stratum_size, found.predicted, found.stratum_size - found.labeled
    hit, miss = found.correct[member].sum(), (found.labeled - found.correct)[~member].sum()
    ends = (hit, miss + unseen[~member].sum()), (hit + unseen[member].sum(), miss)
    if metric == "recall":
        return tuple(hits / (hits + missed) if hits + missed else float(end) for end, (hits, missed) in enumerate(ends))
    return tuple(2 * hits / (size[member].sum() + hits + missed) if size[member].sum() + hits + missed else float(end)
                 for end, (hits, missed) in enumerate(ends))
