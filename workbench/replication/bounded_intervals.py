"""The default interval of a bounded statistic of clustered, weighted items: the one of `value_interval`, at the number
of equally weighted independent items that the sample is worth.

References
----------
.. [1] Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts estimated
   from survey data, Survey Methodology 24, 1998: Clopper and Pearson's limits at an effective sample size.
.. [2] Kish, Survey Sampling, Wiley 1965: (sum w)^2 / sum w^2 equally weighted items, design effect.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from workbench.intervals import three_moment_quantile
from workbench.intervals.values import one_more

ROUND = 1e-9
POOLED_DF = 5               # measured where weights are heavy: 5, 10 and 20 all hold .93, and 5 widens least


@dataclass(frozen=True)
class Spread:
    """What a bounded statistic averages: the items of each of its C parts, arrays (C, ...) that broadcast.

    A mean has one part. An AUC has two, the positives and the negatives; the values are the shares of the other part
    on the right side of an item.

    Attributes
    ----------
    items : (C, ...) array
        Kish's effective number, (sum w)^2 / sum w^2 [1]_.
    second, third : (C, ...) array
        Weighted central moments of the values.

    References
    ----------
    .. [1] Kish, Survey Sampling, Wiley 1965: (sum w)^2 / sum w^2 equally weighted items, design effect.
    """

    items: np.ndarray
    second: np.ndarray
    third: np.ndarray

    @classmethod
    def of(cls, parts: Sequence, weight: np.ndarray) -> Spread:
        """Return the spread of parts, pairs of values (n,) and a mask (n,) of the items that they belong to."""
        return cls(*np.transpose([_moments(values[rows], weight[rows]) for values, rows in parts]))

    @classmethod
    def of_share(cls, share: np.ndarray, items: np.ndarray) -> Spread:
        """Return the spread of values 0 and 1 with this mean."""
        second = share * (1 - share)
        return cls(*(np.asarray(moment)[None] for moment in (items, second, second * (1 - 2 * share))))

    def stacked(self) -> np.ndarray:
        """Return items, second and third moments as one array, (3, C, ...)."""
        return np.stack([self.items, self.second, self.third])

    def mirrored(self) -> Spread:
        """Return the spread of the negated values."""
        return Spread(self.items, self.second, -self.third)


@dataclass(frozen=True)
class Clusters:
    """What the primary sampling units (PSUs) tell of a variance, arrays (...).

    Attributes
    ----------
    psus : (...) array
        Effective number of PSUs: what the items are worth where all have the same value.
    df : (...) array
        Degrees of freedom.
    carriers : (2, ...) array
        Over how many PSUs the variance is spread, as the lower and the upper limit may believe.
    pooled_variance : (...) array
        The variance were the PSUs of all strata equally spread.

    See Also
    --------
    workbench.replication.estimates.information : where they come from.
    """

    psus: np.ndarray | float
    df: np.ndarray | float
    carriers: np.ndarray
    pooled_variance: np.ndarray | float = 0.0

    def steadied(self, variance: float | np.ndarray) -> float | np.ndarray:
        """Return a variance of which `POOLED_DF` of its degrees of freedom are the pooled one's, where that is larger.

        Where a few strata hold most of the weight, the variance is that of their few PSUs, and those are often alike by
        chance.
        """
        share = np.minimum(POOLED_DF / self.df, 1.0)
        return variance + share * np.maximum(self.pooled_variance - variance, 0.0)


def bounded_limits(estimate: float | np.ndarray, variance: float | np.ndarray, spread: Spread, clusters: Clusters,
                   tail: float, *, bounds: tuple[float, float] = (0.0, 1.0), free: float | np.ndarray = 1.0) -> tuple:
    """Return lower and upper limits of statistics within `bounds`, arrays that broadcast.

    Parameters
    ----------
    estimate, variance : (...) array
        The variance by replicates.
    spread : Spread
    clusters : Clusters
    tail : float
        (1 - level) / 2.
    bounds : (float, float)
    free : (...) array
        Finite-population factor, 1 minus the sampled share.

    Notes
    -----
    The variance is `Clusters.steadied`. The design effect is that variance over the one of independent items, free
    sum_c m2_c / (n_c - 1), and at least 1. The n_c items are worth n_c / (design effect) / r^2, r Student's t over the
    normal quantile. Of so many, the upper limit is that of `workbench.value_interval` with one stratum: one unseen item
    has the largest possible value; for an AUC the larger of one unseen positive and one unseen negative. For shares
    this is Korn and Graubard's interval [1]_.

    A small design effect is known no better than the few PSUs tell in which errors lie. So what the items are worth
    beyond the number of PSUs is believed only with `carriers` degrees of freedom, and a design effect below 1, as from
    strata that differ, is not: with unequal weights it is mostly luck.

    References
    ----------
    .. [1] Korn & Graubard, Confidence intervals for proportions with small expected number of positive counts estimated
       from survey data, Survey Methodology 24, 1998: Clopper and Pearson's limits at an effective sample size.
    """
    estimate, variance = np.asarray(estimate, float), np.asarray(variance, float)
    worth = _worth(clusters.steadied(variance), spread, clusters.psus, free)
    of_lower, of_upper = (_believed(worth, clusters, carriers, tail) for carriers in clusters.carriers)
    low, high = bounds
    upper = _upper(estimate, of_upper, spread, high, free, tail)
    lower = -_upper(-estimate, of_lower, spread.mirrored(), -low, free, tail)
    near = ROUND * (high - low)
    return np.where(lower - low < near, low, lower), np.where(high - upper < near, high, upper)


def f1_limits(estimate: float | np.ndarray, variance: float | np.ndarray, spread: Spread, clusters: Clusters,
              tail: float, *, bounds: tuple[float, float] = (0.0, 1.0), free: float | np.ndarray = 1.0) -> tuple:
    """Return limits of F1 = 2 J / (1 + J) from those of J, the truly positive among all positive, truly or predicted.

    Arguments are those of `bounded_limits`; the spread and the bounds are those of J, the variances are those of F1.
    """
    share, slope = estimate / (2 - estimate), 2 / (2 - estimate) ** 2
    of_share = replace(clusters, pooled_variance=clusters.pooled_variance * slope ** 2)
    limits = bounded_limits(share, variance * slope ** 2, spread, of_share, tail, bounds=bounds, free=free)
    return tuple(2 * limit / (1 + limit) for limit in limits)


def _worth(variance: Any, spread: Any, psus: Any, free: Any) -> np.ndarray:
    """Return the independent items, (C, ...), that the parts are worth."""
    several = np.maximum(spread.items - 1, 1e-9)
    independent = free * (spread.second / several).sum(0)
    varied = independent > 0
    effect = np.maximum(1.0, variance / np.where(varied, independent, 1.0))
    return np.where(varied, spread.items / effect, np.minimum(spread.items, psus))


def _believed(worth: np.ndarray, clusters: Clusters, carriers: float | np.ndarray, tail: float) -> np.ndarray:
    """Return the items, (C, ...), that the degrees of freedom leave."""
    cautious = worth / _ratio(np.minimum(clusters.df, np.maximum(carriers, 1.0)), tail) ** 2
    usual = 1 / _ratio(clusters.df, tail) ** 2
    return np.minimum(worth * usual, np.maximum(cautious, clusters.psus * usual))


def _upper(estimate: Any, items: Any, spread: Any, high: Any, free: Any, tail: Any) -> float | np.ndarray:
    """Return upper limits: the largest over the parts that one unseen item at `high` may belong to."""
    best = np.full(np.broadcast_shapes(estimate.shape, items.shape[1:]), -np.inf)
    others_v = spread.second / np.maximum(items - 1, items / 2)
    others_t = 2 * spread.third / ((items + 1) * (items + 2))
    for part, n in enumerate(items):
        mean, second, third = one_more(n, estimate, spread.second[part], spread.third[part], high)
        v = second / (n + 2) + others_v.sum(0) - others_v[part]
        t = 2 * third / ((n + 2) * (n + 3)) + others_t.sum(0) - others_t[part]
        limit = three_moment_quantile(estimate + free * (mean - estimate), free * v, free ** 1.5 * t, high, tail)
        best = np.maximum(best, np.where(free * v > 0, limit, estimate))
    return np.minimum(best, high)


def _moments(values: np.ndarray, weight: np.ndarray) -> tuple:
    share = weight / weight.sum()
    off = values - share @ values if np.ptp(values) else np.zeros(values.size)
    return 1 / (share @ share), share @ off ** 2, share @ off ** 3


def _ratio(df: float | np.ndarray, tail: float) -> float | np.ndarray:
    """Return Student's t over the normal quantile at an upper tail."""
    return scipy.special.stdtrit(df, 1 - tail) / scipy.special.ndtri(1 - tail)
