"""Limits of proportions, changes and growth rates, and which ones an interval is the hull of.

The delta method fails where d = p00 + p11 - 1, by which counts are divided, may be near 0, and
where a cell of the audit holds next to no items. Withholding the interval would be no way out: the
audits that get one are those that overrate d. Instead the interval becomes the hull with others
that hold there. Fieller's [1]_ asks of every share whether d a - (its numerator) may be 0, which
needs no division; it may be all of 0 to 1. Where fewer than three errors were seen, half a count
per cell is too little on one side; one count is enough [2]_. With K > 2 classes the draws start
from K / 2 added counts per class, which pulls the shares of rare classes. The delta method is less
sensitive, and with one count per class, 1 / K per cell [3]_, hardly at all.

`constructions` chooses. The functions below it make limits from estimates, variances, draws or
slopes.

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
RARE = 3  # items of a cell: below it the search found intervals that were too short
DELTA, ONE_ADDED, ONE_PER_CLASS = "delta", "delta with 1 per cell", "delta with 1 per class"
FIELLER, DRAWN, WHOLE = "Fieller", "Dirichlet draws", "whole range"
IN_WORDS = {
    ONE_ADDED: "that with one count added per cell",
    FIELLER: "Fieller's",
    DELTA: "those of the delta method",
}
Limits = tuple[ndarray, ndarray]


def constructions(method: str, table: ndarray, cv: float) -> tuple[str, ...]:
    """Return the names of the intervals whose hull is reported.

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
    """Return the constructions in words."""
    return names[0] if len(names) == 1 else f"hull of {listed(names)}"


def restricted(shares: ndarray, least: ndarray) -> ndarray:
    """Return the nearest possible shares (..., K): none below `least`, all together 1."""
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
    """Return limits within `least` and `most`, or these two if the limits exclude the estimate."""
    inside = (low <= estimate) & (estimate <= high)
    low = np.maximum(low, np.minimum(least, estimate))
    high = np.minimum(high, np.maximum(most, estimate))
    return np.where(inside, low, least), np.where(inside, high, most)


def beyond_edge(distance: ndarray, variance: ndarray, level: float) -> ndarray:
    """Return how far the interval of a share reaches into the possible range from its edge.

    The estimate lies outside by `distance`. Its likelihood is taken as normal. The limit is where
    it has fallen as far below the likelihood at the edge as the level asks for.
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
        First-order covariance of the ratio and the logarithm of its denominator: at a ratio that is
        x larger, (numerator - ratio x denominator) / denominator has the variance v - 2 x c + x^2
        u.
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
    """Return the slopes of log d for both of two shares, in the shapes of `slopes`.

    1 / d is the gain of a share where the predicted one gains 1, so its slopes are those of the
    method itself.
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
    """Return Fieller's limits (T, 2) of ratios with one denominator per share.

    Parameters
    ----------
    ratio, log_denominator : Slopes
        Of T ratios per share, and of the logarithms of their denominators.
    from_audit : callable
        Slopes to their covariances.
    reading : (T, 2, 2, 2) array
        Per share, the covariance of the two that comes from the periods' own items.
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
