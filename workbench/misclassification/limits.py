"""Limits of shares, changes and growth rates: which constructions an interval is the hull of, and how each is made.

The delta method fails where d = p00 + p11 - 1, by which counts are divided, may be near 0, and where a cell of the
audit holds next to no items. To give no interval there would be no way out: the audits that get one are those that
overrate d. Instead the interval becomes the hull with others that hold there. Fieller's [1]_ asks of every share a
whether d a - (its numerator) may be 0, which needs no division; it may be all of 0 to 1. Where fewer than three errors
were seen, half a count per cell is too little on one side; one count is enough [2]_. With K > 2 classes the draws start
from K / 2 added counts per class, which pulls the shares of rare classes; the delta method is less sensitive, and with
one count per class, 1 / K per cell [3]_, hardly at all.

References
----------
.. [1] Fieller, Some problems in interval estimation, JRSS B 16, 1954.
.. [2] Agresti & Caffo, Simple and effective confidence intervals for proportions and differences of proportions result
   from adding two successes and two failures, The American Statistician 54, 2000.
.. [3] Perks, Some observations on inverse probability including a new indifference rule, Journal of the Institute of
   Actuaries 73, 1947.
"""

from collections.abc import Callable, Iterable

import numpy as np

from workbench import checks, intervals
from workbench.misclassification import methods

UNSURE = 0.1  # (1.96 * 0.1)^2 = 0.04: below Finney's 0.05 the delta method is as good as Fieller's
LEAST_D = 1e-9
FEW, RARE = (
    5,
    3,
)  # Cochran's rule for counts; below 3 the search found intervals that were too short
DELTA, ONE_ADDED, ONE_PER_CLASS = "delta", "delta with 1 per cell", "delta with 1 per class"
FIELLER, DRAWN, WHOLE = "Fieller", "Dirichlet draws", "whole range"
IN_WORDS = {
    ONE_ADDED: "that with one count added per cell",
    FIELLER: "Fieller's",
    DELTA: "those of the delta method",
}


def constructions(method: str, table: np.ndarray, cv: float) -> tuple[str, ...]:
    """Return the names of the intervals whose hull is reported, for an audit from which the method can be computed.

    Parameters
    ----------
    method : str
    table : (K, K) array of int
        The audit.
    cv : float
        Coefficient of variation of what is divided by.
    """
    further: tuple[str, ...] = (ONE_ADDED,) if table.min() < RARE else ()
    further += (FIELLER,) if cv > UNSURE else ()
    if len(table) > 2:
        return (
            (DRAWN, DELTA, ONE_PER_CLASS)
            if methods.METHODS[method].divides_by and further
            else (DRAWN,)
        )
    return (DELTA, *further) if methods.METHODS[method].divides_by else (DELTA,)


def added(name: str, classes: int) -> float:
    """Return the counts that a construction adds to each cell of the audit."""
    return {ONE_ADDED: 1.0, ONE_PER_CLASS: 1 / classes}.get(name, methods.HALF)


def swapped(table: np.ndarray) -> bool | np.ndarray:
    """Return whether the labels of two classes are clearly swapped: even the upper 95% limit of d is below 0."""
    half = table + methods.HALF
    below = np.einsum("...kk->...", methods.by_row(half)) < 1
    return table.shape[-1] == 2 and below & (intervals.quantile(0.95) * methods.slope_cv(half) < 1)


def said(names: tuple[str, ...]) -> str:
    """Return the constructions in words."""
    return names[0] if len(names) == 1 else f"hull of {checks.listed(names)}"


def restricted(shares: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return the shares (..., K) that are nearest to possible ones: none below `least`, all together 1."""
    above = np.clip(shares - least, 0, None)
    total, room = above.sum(-1, keepdims=True), 1 - least.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = least + np.where(total > 0, above / total, 0 * above) * room
    return np.where((shares >= least).all(-1, keepdims=True), shares, moved)


def around(
    estimate: np.ndarray, low: np.ndarray, high: np.ndarray, least: np.ndarray, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits within `least` and `most`; where they leave the estimate out, `least` and `most` themselves."""
    inside = (low <= estimate) & (estimate <= high)
    return (
        np.where(inside, np.maximum(low, np.minimum(least, estimate)), least),
        np.where(inside, np.minimum(high, np.maximum(most, estimate)), most),
    )


def beyond_edge(distance: np.ndarray, variance: np.ndarray, level: float) -> np.ndarray:
    """Return how far the interval of a share reaches into the possible range from its edge.

    The estimate lies outside by `distance`. Its likelihood is taken as normal; the limit is where it has fallen
    from that at the edge as far as the level asks for.
    """
    return np.sqrt(distance**2 + intervals.quantile(level) ** 2 * variance) - distance


def hull(found: Iterable) -> tuple[np.ndarray, np.ndarray]:
    """Return the least of the lower and the largest of the upper limits of pairs of arrays."""
    low, high = zip(*found, strict=True)
    return np.fmin.reduce(low), np.fmax.reduce(high)


def delta(
    center: np.ndarray, variance: np.ndarray, level: float, least: float, most: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of estimates with their variances, within `least` and `most`."""
    spread = intervals.quantile(level) * np.sqrt(np.maximum(variance, 0))
    return np.clip(center - spread, least, most), np.clip(center + spread, least, most)


def percentiles(
    draws: np.ndarray, level: float, least: float, most: float = 1.0
) -> tuple[np.ndarray, ...]:
    """Return the limits of draws (D, ...), within `least` and `most`."""
    tails = (1 - level) / 2, (1 + level) / 2
    found, lacking = np.quantile(draws, tails, axis=0), np.isnan(draws).any(0)
    found[:, lacking] = np.nanquantile(draws[:, lacking], tails, axis=0)  # lane by lane
    return tuple(np.clip(found, least, most))


def fieller(
    ratio: np.ndarray, covariance: np.ndarray, level: float, least: float, most: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits (...) of ratios, within `least` and `most`; the hull where two parts are left.

    Parameters
    ----------
    ratio : (...) array
    covariance : (..., 2, 2) array
        First-order covariance of the ratio and the logarithm of its denominator: at a ratio that is x larger,
        (numerator - ratio x denominator) / denominator has the variance v - 2 x c + x^2 u.
    level, least, most : float
    """
    z2 = intervals.quantile(level) ** 2
    curve, slope = 1 - z2 * covariance[..., 1, 1], z2 * covariance[..., 0, 1]
    root = slope**2 + curve * z2 * covariance[..., 0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([(-slope - np.sqrt(root)) / curve, (-slope + np.sqrt(root)) / curve])
    first, last = ratio + ends.min(0), ratio + ends.max(0)
    low, high = np.clip(first, least, most), np.clip(last, least, most)
    outside = curve <= 0  # what lies between the two ends is excluded, not what lies beyond them
    low, high = (
        np.where(outside, np.where(first >= least, least, high), low),
        np.where(outside, np.where(last <= most, most, low), high),
    )
    every = outside & ~(root >= 0)
    return np.where(every, least, low), np.where(every, most, high)


def log_d(
    method: str, slopes: methods.Slopes, table: np.ndarray, frame: np.ndarray | None
) -> methods.Slopes:
    """Return the slopes of log d for both of two shares whose `slopes` give the shapes; d is what they are divided by.

    1 / d is what a share gains where the predicted one gains 1, so its slopes are those of the method itself.
    """
    inverse = methods.slopes_of(
        methods.METHODS[method].divides_by, table, frame, np.array([-1.0, 1.0])
    )
    gained = inverse.estimate[..., 1:, None]
    return methods.Slopes(
        slopes.estimate,
        np.broadcast_to(-inverse.table[..., 1:, :, :] / gained[..., None], slopes.table.shape),
        np.broadcast_to(-inverse.frame[..., 1:, :] / gained, slopes.frame.shape),
        slopes.shares,
    )


def without_denominator(reading: np.ndarray) -> np.ndarray:
    """Return the variances on the diagonals of (T, K, K) as covariances (T, K, 2, 2) with a constant."""
    return np.einsum("tkk->tk", reading)[..., None, None] * np.diag([1.0, 0.0])


def of_ratios(
    ratio: methods.Slopes,
    log_denominator: methods.Slopes,
    from_audit: Callable,
    reading: np.ndarray,
    level: float,
    least: float,
    most: float = 1.0,
) -> tuple[np.ndarray, ...]:
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
    found = []
    for k in range(2):
        of_table, of_frame = (
            np.stack([getattr(part, name)[:, k] for part in (ratio, log_denominator)], 1)
            for name in ("table", "frame")
        )
        covariance = (
            from_audit(methods.Slopes(ratio.estimate, of_table, of_frame, ratio.shares))
            + reading[:, k]
        )
        found.append(fieller(ratio.estimate[:, k], covariance, level, least, most))
    return tuple(np.stack(side, -1) for side in zip(*found, strict=True))
