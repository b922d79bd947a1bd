"""Metrics as weighted means of values of the items, to first order.

`linearized` returns the values of one metric. In other samples the weighted mean of the same values
is close to the metric. The difference of two metrics is therefore close to the mean of the
differences of their values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from workbench.replication.moments import Bounds
from workbench.replication.statistics import METRICS, Metric, ratio


@dataclass(frozen=True)
class Linearized:
    """Values whose weighted mean is a metric.

    Attributes
    ----------
    estimate : float
        The metric.
    values : (n,) array
        The metric plus the influence of each item [1]_.
    bounds : (float, float) or None
        Smallest and largest value that an item can have, sampled or not; None without bounds.
    shares : (K, n) array
        Contribution of each item to the K denominators of the metric, 1 in sum each. An AUC has
        two, the positives and the negatives.
    deviations : (float, float) or None
        Smallest and largest influence of an item divided by its shares.
    of_class : (n,) array or None
        Number of items of each item's class, for an AUC and a balanced accuracy.

    References
    ----------
    .. [1] Deville, Variance estimation for complex statistics and estimators: linearization and
       residual techniques, Survey Methodology 25, 1999.
    """

    estimate: float
    values: ndarray
    bounds: Bounds | None
    shares: ndarray
    deviations: Bounds | None
    of_class: ndarray | None = None


def linearized(metric: str, columns: Sequence[ndarray], weight: ndarray) -> Linearized:
    """Return the values whose weighted mean is a metric.

    Parameters
    ----------
    metric : str
        An entry of `METRICS` that has totals, moments or parts, or is a mean over classes.
    columns : sequence of (n,) arrays
        Columns that `workbench.replication.labeled.LabeledItems.columns` returns.
    weight : (n,) array
        Weights of the items, 0 for those that do not count.

    Examples
    --------
    >>> truth, prediction = np.array([1, 1, 0, 0]), np.array([1, 0, 0, 1])
    >>> linear = linearized("precision", [truth, prediction], np.ones(4))
    >>> linear.values.tolist(), linear.bounds
    ([1.5, 0.5, 0.5, -0.5], (-0.5, 1.5))
    """
    entry = METRICS[metric]
    if entry.of_each:
        truth, prediction = columns
        return _mean_of_classes(entry.of_each, truth, prediction, weight)
    if entry.moments:
        values, bounds = entry.moments(*columns, weight.size).linear(weight)
        share = weight / weight.sum()
        mean = float(share @ values)
        deviations = bounds and (bounds[0] - mean, bounds[1] - mean)
        return Linearized(mean, values, bounds, share[None], deviations)
    if entry.parts:
        return _mean_of_parts(entry, columns, weight)
    return _ratio(entry, entry.totals_of(columns, weight.size), weight)


def _ratio(entry: Metric, totals: Any, weight: ndarray) -> Linearized:
    """Linearize a ratio R of totals: R + (numerator - R denominator) / mean denominator."""
    numerator, denominator = totals.numerator, totals.denominator
    total = weight @ denominator
    mean = float(total / weight.sum())
    estimate = float(ratio(weight @ numerator, total))
    values = estimate + (numerator - estimate * denominator) / mean
    bounds = deviations = None
    if entry.is_share:
        hit = 2.0 if entry.name == "f1" else 1.0  # of F1 a hit counts twice in both totals
        bounds = estimate - estimate / mean, estimate + hit * (1 - estimate) / mean
        deviations = -estimate, 1 - estimate
    shares = weight * denominator / total
    return Linearized(estimate, values, bounds, shares[None], deviations)


def _mean_of_parts(entry: Metric, columns: Sequence[ndarray], weight: ndarray) -> Linearized:
    """Linearize an AUC, the mean of its placements over the positives and over the negatives [1]_.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated
       receiver operating characteristic curves, Biometrics 44, 1988.
    """
    placed, parts = entry.parts_of(columns, None, weight > 0, weight)
    weights = np.stack(parts) * weight
    totals = weights.sum(1, keepdims=True)
    shares = weights / totals
    estimate = float(shares[0] @ placed)
    influence = shares.sum(0) * (placed - estimate)
    values = estimate + ratio(influence * weight.sum(), weight)
    largest = float(weight.sum() / totals.min())
    bounds = estimate * (1 - largest), estimate + (1 - estimate) * largest
    of_class = np.where(parts[0], *(part.sum() for part in parts))
    return Linearized(estimate, values, bounds, shares, (-estimate, 1 - estimate), of_class)


def _mean_of_classes(
    of_each: str, truth: ndarray, prediction: ndarray, weight: ndarray
) -> Linearized:
    """Linearize the mean of a metric of all classes.

    An item changes the metrics of its true and its predicted class. Its largest value is that of a
    hit of some class. Its smallest value is that of an error between two classes.
    """
    counts = weight > 0
    of_f1 = of_each == "f1"
    columns = (truth, prediction) if of_f1 else (truth,)
    parts: list[Any] = []
    of_class = np.zeros(weight.size, int)
    for label in np.unique(np.concatenate([column[counts] for column in columns])):
        is_true = truth == label
        of_class[is_true] = is_true[counts].sum()
        parts.append(linearized(of_each, [is_true, prediction == label], weight))
    estimate = float(np.mean([part.estimate for part in parts]))
    falls = sorted(part.estimate - part.bounds[0] for part in parts)
    fall = sum(falls[-2:] if of_f1 else falls[-1:]) / len(parts)
    rise = max(part.bounds[1] - part.estimate for part in parts) / len(parts)
    lows, highs = zip(*(part.deviations for part in parts), strict=True)
    return Linearized(
        estimate,
        np.mean([part.values for part in parts], 0),
        (estimate - fall, estimate + rise),
        np.mean([part.shares for part in parts], 0),
        (min(lows), max(highs)),
        None if of_f1 else of_class,
    )
