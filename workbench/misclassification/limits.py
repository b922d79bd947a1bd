"""Limits of proportions, changes and growth rates, and the choice between several intervals.

Most estimators divide the counts by d = p00 + p11 - 1. The delta method fails where d may be near
0, and where a cell of the audit holds very few items. To withhold the interval then would not
help, because the audits that still get an interval are those that overestimate d. Instead, the
interval is extended to contain further intervals that are valid there:

- Fieller's interval [1]_ tests for every proportion a whether d a minus its numerator may be 0.
  This needs no division. The interval may be 0 to 1.
- If a cell holds fewer than three items, half a count per cell is too little on one side. The delta
  method with one count per cell is long enough [2]_.
- With K > 2 classes, the Dirichlet draws start from K / 2 added counts per class, which distorts
  the proportions of rare classes. The delta method with half a count per cell is less sensitive,
  and with one count per class, 1 / K per cell [3]_, it is hardly sensitive.

`constructions` chooses the intervals. The functions below it compute limits from estimates,
variances, draws or slopes.

References
----------
.. [1] Fieller, Some problems in interval estimation, JRSS B 16, 1954.
.. [2] Agresti & Caffo, Simple and effective confidence intervals for proportions and differences of
   proportions result from adding two successes and two failures, The American Statistician 54,
   2000.
.. [3] Perks, Some observations on inverse probability including a new indifference rule, Journal of
   the Institute of Actuaries 73, 1947.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy import ndarray

from workbench.checks import listed
from workbench.intervals import quantile
from workbench.misclassification.methods import HALF, METHODS, Slopes, by_row, slope_cv, slopes_of

UNSURE = 0.1  # (1.96 * 0.1)^2 = 0.04: below Finney's 0.05 the delta method is as good as Fieller's
LEAST_D = 1e-9
FEW = 5  # Cochran's rule for counts
RARE = 3  # items of a cell; below it a search found intervals that were too short
DELTA, ONE_ADDED, ONE_PER_CLASS = "delta", "delta with 1 per cell", "delta with 1 per class"
FIELLER, DRAWN, WHOLE = "Fieller", "Dirichlet draws", "whole range"
IN_WORDS = {
    ONE_ADDED: "the interval with one count added per cell",
    FIELLER: "Fieller's interval",
    DELTA: "the intervals of the delta method",
}
Limits = tuple[ndarray, ndarray]


def constructions(method: str, table: ndarray, cv: float) -> tuple[str, ...]:
    """Return the names of the intervals that the reported interval contains.

    Parameters
    ----------
    method : str
    table : (K, K) array of int
        The audit.
    cv : float
        Coefficient of variation of the divisor.
    """
    further: list[str] = []
    if METHODS[method].divides_by:
        if table.min() < RARE:
            further.append(ONE_ADDED)
        if cv > UNSURE:
            further.append(FIELLER)
    if len(table) == 2:
        return (DELTA, *further)
    return (DRAWN, DELTA, ONE_PER_CLASS) if further else (DRAWN,)


def added(name: str, classes: int) -> float:
    """Return the counts that a construction adds to each cell of the audit."""
    return {ONE_ADDED: 1.0, ONE_PER_CLASS: 1 / classes}.get(name, HALF)


def swapped(table: ndarray) -> bool | ndarray:
    """Return whether two labels are clearly swapped: the upper 95% limit of d is below 0."""
    half = table + HALF
    below = np.einsum("...kk->...", by_row(half)) < 1
    return table.shape[-1] == 2 and below & (quantile(0.95) * slope_cv(half) < 1)


def said(names: tuple[str, ...]) -> str:
    """Return the names of the intervals in words."""
    return names[0] if len(names) == 1 else f"hull of {listed(names)}"


def restricted(shares: ndarray, least: ndarray) -> ndarray:
    """Return the nearest possible proportions (..., K): at least `least`, with sum 1."""
    above = np.clip(shares - least, 0, None)
    total = above.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(total > 0, above / total, 0 * above)
    moved = least + parts * (1 - least.sum(-1, keepdims=True))
    return np.where((shares >= least).all(-1, keepdims=True), shares, moved)


def around(
    estimate: ndarray,
    low: ndarray,
    high: ndarray,
    least: ndarray,
    most: ndarray,
) -> Limits:
    """Return limits within `least` and `most`, or these two if they exclude the estimate."""
    inside = (low <= estimate) & (estimate <= high)
    low = np.maximum(low, np.minimum(least, estimate))
    high = np.minimum(high, np.maximum(most, estimate))
    return np.where(inside, low, least), np.where(inside, high, most)


def beyond_edge(distance: ndarray, variance: ndarray, level: float) -> ndarray:
    """Return how far the interval of a proportion reaches into the possible range from its edge.

    The estimate lies outside by `distance`, and its likelihood is assumed normal. The limit is the
    point where the likelihood is as far below that at the edge as the level requires.
    """
    return np.sqrt(distance**2 + quantile(level) ** 2 * variance) - distance


def hull(pairs: Iterable[Limits]) -> Limits:
    """Return the least of the lower and the largest of the upper limits of pairs of arrays."""
    low, high = zip(*pairs, strict=True)
    return np.fmin.reduce(low), np.fmax.reduce(high)


def delta(
    center: ndarray,
    variance: ndarray,
    level: float,
    least: float,
    most: float = 1.0,
) -> Limits:
    """Return the limits of estimates with their variances, within `least` and `most`."""
    spread = quantile(level) * np.sqrt(np.maximum(variance, 0))
    low, high = np.clip([center - spread, center + spread], least, most)
    return low, high


def percentiles(
    draws: ndarray,
    level: float,
    least: float,
    most: float = 1.0,
) -> Limits:
    """Return the limits of draws (D, ...), within `least` and `most`."""
    tails = (1 - level) / 2, (1 + level) / 2
    quantiles = np.quantile(draws, tails, axis=0)
    undefined = np.isnan(draws).any(0)
    quantiles[:, undefined] = np.nanquantile(draws[:, undefined], tails, axis=0)
    low, high = np.clip(quantiles, least, most)
    return low, high


def fieller(
    ratio: ndarray,
    covariance: ndarray,
    level: float,
    least: float,
    most: float = 1.0,
) -> Limits:
    """Return the limits (...) of ratios, within `least` and `most`; the hull of two parts.

    Parameters
    ----------
    ratio : (...) array
    covariance : (..., 2, 2) array
        First-order covariance [[v, c], [c, u]] of the ratio and of the logarithm of its
        denominator. At a ratio that is larger by x, the expression
        (numerator - ratio * denominator) / denominator has the variance v - 2 x c + x^2 u.
    level, least, most : float
    """
    z2 = quantile(level) ** 2
    curve = 1 - z2 * covariance[..., 1, 1]
    slope = z2 * covariance[..., 0, 1]
    discriminant = slope**2 + curve * z2 * covariance[..., 0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(discriminant)
        ends = np.array([-slope - root, -slope + root]) / curve
    first = ratio + ends.min(0)
    last = ratio + ends.max(0)
    low, high = np.clip([first, last], least, most)
    outside = curve <= 0  # the values between the two ends are excluded, not those beyond them
    below = np.where(first >= least, least, high)
    above = np.where(last <= most, most, low)
    low = np.where(outside, below, low)
    high = np.where(outside, above, high)
    every = outside & ~(discriminant >= 0)
    return np.where(every, least, low), np.where(every, most, high)


def log_d(
    method: str,
    slopes: Slopes,
    table: ndarray,
    frame: ndarray | None,
) -> Slopes:
    """Return the slopes of log d for both of two proportions, in the shapes of `slopes`.

    If the predicted proportion rises by 1, the estimate rises by 1 / d. The slopes of 1 / d are
    therefore those of the method itself.
    """
    inverting = METHODS[method].divides_by
    inverse = slopes_of(inverting, table, frame, np.array([-1.0, 1.0]))
    gain = inverse.estimate[..., 1:, None]
    by_table = -inverse.table[..., 1:, :, :] / gain[..., None]
    by_frame = -inverse.frame[..., 1:, :] / gain
    return replace(
        slopes,
        table=np.broadcast_to(by_table, slopes.table.shape),
        frame=np.broadcast_to(by_frame, slopes.frame.shape),
    )


def without_denominator(reading: ndarray) -> ndarray:
    """Return the variances of (T, K, K) as covariances (T, K, 2, 2) with a constant."""
    variances = np.einsum("tkk->tk", reading)
    return variances[..., None, None] * np.diag([1.0, 0.0])


def of_ratios(
    ratio: Slopes,
    log_denominator: Slopes,
    from_audit: Callable,
    reading: ndarray,
    level: float,
    least: float,
    most: float = 1.0,
) -> Limits:
    """Return Fieller's limits (T, 2) of ratios with one denominator per proportion.

    Parameters
    ----------
    ratio, log_denominator : Slopes
        Slopes of T ratios per proportion, and of the logarithms of their denominators.
    from_audit : callable
        Function of slopes that returns their covariances.
    reading : (T, 2, 2, 2) array
        For each proportion, the covariance of the two that the periods' own items cause.
    level, least, most : float
    """
    sides = []
    both = (ratio, log_denominator)
    for k in range(2):
        by_table = np.stack([slopes.table[:, k] for slopes in both], 1)
        by_frame = np.stack([slopes.frame[:, k] for slopes in both], 1)
        pair = replace(ratio, table=by_table, frame=by_frame)
        covariance = from_audit(pair) + reading[:, k]
        sides.append(fieller(ratio.estimate[:, k], covariance, level, least, most))
    low, high = np.stack(sides, -1)
    return low, high
