"""Intervals for items that were sampled one by one.

- `sampled_counts` returns the counts for the interval of a proportion, precision, recall or F1.
- `sampled_values` returns the moments for the interval of a mean of other values.
- `mean_skewness` is for a mean without bounds.
- `auc_ranks` and `auc_limits` are for an AUC.
"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy import ndarray

from workbench.intervals.sampled import SampledMoments
from workbench.replication.moments import Bounds
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import Metric, Totals, naive_auc, ratio


def is_unclustered(replicates: Replicates, rows: ndarray) -> bool:
    """Return whether every item is a PSU and items of a mask have equal weights in a stratum."""
    design = replicates.design
    if replicates.most_df is not None or design.stratum_of_psu.size != rows.size:
        return False
    stratum = design.stratum_of_psu[design.psu_of_item[rows]]
    weight = design.weight[rows]
    weight_of_stratum = np.zeros(design.strata.size)
    weight_of_stratum[stratum] = weight
    return np.array_equal(weight_of_stratum[stratum], weight)


def is_independent(replicates: Replicates, rows: ndarray) -> bool:
    """Return whether items (a mask) of equal weight were sampled one by one, without strata."""
    return replicates.design.strata.size == 1 and is_unclustered(replicates, rows)


def sampled_counts(
    replicates: Replicates,
    metric: Metric,
    totals: Totals | None,
    rows: ndarray,
) -> ndarray | None:
    """Return the counts for the interval of items without clusters, or None for other samples.

    Parameters
    ----------
    replicates : Replicates
    metric : Metric
    totals : Totals or None
        Totals of the metric.
    rows : (n,) array of bool
        The items that count.

    Returns
    -------
    (4, H) array or None
        Weight and population of each stratum, the items that the denominator counts, and the hits
        among them. The population is infinite without `fpc`. It is also infinite if the denominator
        counts only some of the items, because its population is then unknown.

    Notes
    -----
    With several strata, precision, recall, F1 and domains give None. The number of items that count
    is then random in each stratum, and so are the weights of the strata.
    """
    if totals is None or totals.denominator is None or not metric.counts_hits:
        return None
    in_denominator = rows & (totals.denominator != 0)
    all_count = metric.about != "class" and bool(in_denominator.all())
    strata = _strata(replicates, rows, in_denominator, all_count)
    if strata is None:
        return None
    stratum, weight, labeled, population = strata
    hit = totals.numerator[in_denominator] == totals.denominator[in_denominator]
    return np.stack([weight, population, labeled, np.bincount(stratum, hit, labeled.size)])


def sampled_values(
    replicates: Replicates,
    metric: Metric,
    totals: Totals | None,
    rows: ndarray,
    bounds: Bounds | None,
) -> ndarray | None:
    """Return the moments for the interval of a mean without clusters, or None for other samples.

    Parameters
    ----------
    replicates, metric, totals, rows
        As in `sampled_counts`.
    bounds : (float, float) or None
        Smallest and largest possible value.

    Returns
    -------
    (14, H) array or None
        Moments in the form of `workbench.intervals.sampled.SampledMoments.table`. Several strata
        are used only if all items count.
    """
    if totals is None or totals.denominator is None or bounds is None or metric.counts_hits:
        return None
    strata = _strata(replicates, rows, rows, bool(rows.all()))
    if strata is None or (totals.denominator[rows] != 1).any():
        return None
    stratum, weight, labeled, population = strata
    free = 1 - labeled / population
    values = totals.numerator[rows]
    return SampledMoments.of_values(weight, free, stratum, values, *bounds).table()


def mean_skewness(values: ndarray, variance: float, free: float) -> float:
    """Return the skewness of the mean of a simple random sample, 0 if nothing varies.

    Parameters
    ----------
    values : (n,) array of float
    variance : float
        Variance of the mean.
    free : float
        Finite-population correction, 1 - n / N.

    Returns
    -------
    float
        f^1.5 sum (y - ybar)^3 / (n (n - 1) (n - 2)) divided by the cube of the standard error, as
        in `workbench.estimate_values`.

    Examples
    --------
    >>> values = np.array([0.0, 0.0, 0.0, 4.0])
    >>> round(mean_skewness(values, values.var(ddof=1) / 4, 1.0), 3)
    1.0
    """
    n = values.size
    if n < 3 or variance <= 0:
        return 0.0
    deviations = (values - values.mean()) / np.sqrt(variance)
    return float(free**1.5 * (deviations**3).sum() / (n * (n - 1) * (n - 2)))


def _strata(
    replicates: Replicates,
    rows: ndarray,
    counting: ndarray,
    all_count: bool,
) -> tuple[ndarray, ndarray, ndarray, ndarray] | None:
    """Return the stratum of each counting item, and weights, sizes and populations of strata.

    The result is None if the sample has clusters or does not suit the interval.
    """
    design = replicates.design
    strata = design.strata.size
    if strata > 1 and not all_count or not is_unclustered(replicates, rows):
        return None
    stratum = design.stratum_of_psu[design.psu_of_item[counting]]
    weight = np.bincount(stratum, design.weight[counting], strata)
    labeled = np.bincount(stratum, minlength=strata)
    population = design.population if all_count else np.full(1, np.inf)
    return stratum, weight / weight.sum(), labeled, population


def is_exact(counts: ndarray) -> bool:
    """Return whether the interval is that of Clopper and Pearson: one stratum of infinite size."""
    return counts.shape[1] == 1 and bool(np.isinf(counts[1, 0]))


def auc_ranks(positive: ndarray, score: ndarray) -> ndarray:
    """Return the numbers of positives and negatives, and DeLong's AUC and standard error.

    Four more items are added to the sample: a positive and a negative at either end of the scores.
    """
    ends = np.repeat([-np.inf, np.inf], 2)
    auc, error = naive_auc(np.append(positive, [1, 0, 1, 0]), np.append(score, ends))
    positives = positive.sum()
    return np.array([positives, positive.size - positives, auc, error])


def auc_jackknife(
    replicates: Replicates, metric: Metric, columns: Sequence, rows: ndarray
) -> ndarray | None:
    """Return the AUCs (R,) without one item each, or None if they need replicate weights.

    Let A be the AUC, which is the mean placement of the m items of a class. Without an item with
    placement V it is (m A - V) / (m - 1). It is NaN if the item is alone in its class.
    """
    is_simple = replicates.method == "jkn" and replicates.design.fpc is None
    if metric.name != "auc" or not is_simple or not is_independent(replicates, rows):
        return None
    placed, parts = metric.parts_of(columns, None, rows, replicates.design.weight)
    auc = placed[parts[0]].mean()
    psu = replicates.design.psu_of_item
    values = np.full(rows.size, auc)
    for part in parts:
        items = int(part.sum())
        values[psu[part]] = ratio(items * auc - placed[part], items - 1)
    return values


def auc_limits(estimate: float, ranks: ndarray, tail: float) -> Bounds:
    """Return the outer limits of two intervals, within 0 and 1.

    Parameters
    ----------
    estimate : float
    ranks : (4,) array
        Numbers that `auc_ranks` returns.
    tail : float

    Notes
    -----
    The first interval is DeLong's [1]_ with the four additional items. It uses Student's t with as
    many degrees of freedom as the rarer class has items. Without both changes it would be too
    short, and of length 0 if all positives lie above all negatives.

    The second interval solves A - x = +- z sqrt(V(x)) [2]_. For M positives and N negatives,::

        V(x) = x (1 - x) (1 + ((M + N) / 2 - 1) ((1 - x) / (2 - x) + x / (1 + x))) / (M N).

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated
       receiver operating characteristic curves, Biometrics 44, 1988.
    .. [2] Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney
       statistic, part 2, Statistics in Medicine 25, 2006: method 5.

    Examples
    --------
    >>> ranks = auc_ranks(np.repeat([0, 1], 4), np.arange(8))
    >>> [round(limit, 4) for limit in auc_limits(1.0, ranks, .025)]
    [0.2177, 1.0]
    """
    m, n, middle, error = map(float, ranks)
    z = -float(scipy.special.ndtri(tail))

    def excess(x: float, sign: int) -> float:
        placements = (1 - x) / (2 - x) + x / (1 + x)
        inflation = 1 + ((m + n) / 2 - 1) * placements
        variance = x * (1 - x) * inflation / (m * n)
        return sign * (x - estimate) - z * np.sqrt(variance)

    reach = float(scipy.special.stdtrit(min(m, n), 1 - tail)) * error
    limits = []
    for sign, end in ((-1, 0.0), (1, 1.0)):
        limit = estimate
        if estimate != end:
            limit = scipy.optimize.brentq(excess, *sorted((estimate, end)), args=(sign,))
        outer = sign * max(sign * limit, sign * middle + reach)
        limits.append(min(max(outer, 0.0), 1.0))
    return limits[0], limits[1]
