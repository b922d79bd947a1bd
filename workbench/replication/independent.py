"""Intervals of items that were sampled one by one: of proportions, precision, recall and F1, and of an AUC.

`sampled_counts` counts what the interval of a proportion is made of, `count_limits` returns it. `auc_ranks` and
`auc_limits` are those of an AUC.
"""

from collections.abc import Callable

import numpy as np
import scipy

from workbench import intervals
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import Metric, Totals, naive_auc
from workbench.results import Interval


def is_unclustered(replicates: Replicates, rows: np.ndarray) -> bool:
    """Return whether every item is a PSU and those of a mask have equal weights within their stratum."""
    design = replicates.design
    if replicates.most_df is not None or design.stratum_of_psu.size != rows.size:
        return False
    stratum = design.stratum_of_psu[design.psu_of_item]
    weight_of_stratum = np.zeros(design.strata.size)
    weight_of_stratum[stratum[rows]] = design.weight[rows]
    return bool((weight_of_stratum[stratum] == design.weight)[rows].all())


def is_independent(replicates: Replicates, rows: np.ndarray) -> bool:
    """Return whether items (a mask) of equal weight were drawn one by one, without strata."""
    return replicates.design.strata.size == 1 and is_unclustered(replicates, rows)


def sampled_counts(replicates: Replicates, metric: Metric, totals: Totals | None,
                   rows: np.ndarray) -> np.ndarray | None:
    """Return the counts from which the interval of unclustered items is computed, None for others.

    Parameters
    ----------
    replicates : Replicates
    metric : Metric
    totals : Totals or None
        Of the metric.
    rows : (n,) array of bool
        The items that count.

    Returns
    -------
    (4, H) array or None
        Weight and population of each stratum, the items that the denominator counts, and the hits
        among them. The population is infinite without `fpc`. If only some items count, their
        population is estimated by their proportion of the sample.

    Notes
    -----
    A sample of several strata gives None for a precision, a recall, an F1 or a domain. How many items
    count is then random in each stratum, and so are the weights of the strata.
    """
    if totals is None or not metric.counts_hits or not is_unclustered(replicates, rows):
        return None
    design = replicates.design
    counted = rows & (totals.denominator != 0)
    if design.strata.size > 1 and (metric.about == "class" or not counted.all()):
        return None
    stratum = design.stratum_of_psu[design.psu_of_item[counted]]
    hit = totals.numerator[counted] == totals.denominator[counted]
    weight, labeled, correct = (np.bincount(stratum, numbers, design.strata.size)
                                for numbers in (design.weight[counted], np.ones(hit.size), hit))
    population = design.population * labeled / design.psus_per_stratum
    return np.stack([weight / weight.sum(), population, labeled, correct])


def count_limits(metric: Metric, counts: np.ndarray, level: float) -> Interval:
    """Return the interval of a metric from counts as of `sampled_counts`.

    The interval is that of `workbench.stratified_accuracy`. F1 = 2 J / (1 + J) takes the interval of
    J = TP / (TP + FP + FN).

    Examples
    --------
    >>> count_limits(Metric.of("recall"), np.array([[1], [np.inf], [10], [8]]), .95)
    Interval(0.4439 to 0.9748, 0.95 default: exact)
    """
    proportion = intervals.weighted_interval(*counts, level=level)
    low, high = metric.of_mean(np.array([proportion.low, proportion.high]))
    name = "default: exact" if is_exact(counts) else "default: stratified"
    return Interval(float(low), float(high), proportion.level, name, proportion.limiting_stratum,
                    notes=proportion.notes)


def is_exact(counts: np.ndarray) -> bool:
    """Return whether the counts are of one stratum of an infinite population: Clopper and Pearson's."""
    return counts.shape[1] == 1 and bool(np.isinf(counts[1, 0]))


def auc_ranks(positive: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Return how many positives and negatives there are, and DeLong's AUC and standard error with four items more.

    One more positive and one more negative lie beyond either end of the scores.
    """
    more = naive_auc(np.append(positive, [1, 0, 1, 0]), np.append(score, [-np.inf, -np.inf, np.inf, np.inf]))
    return np.array([positive.sum(), positive.size - positive.sum(), *more])


def auc_limits(estimate: float, ranks: np.ndarray, tail: float) -> tuple[float, float]:
    """Return the outer ones of two pairs of limits, within 0 and 1.

    Parameters
    ----------
    estimate : float
    ranks : (4,) array
        As of `auc_ranks`.
    tail : float

    Notes
    -----
    One pair is DeLong's with the additional items [1]_ and Student's t with as many degrees of freedom as the rarer
    class has items; without both it is too short, and of length 0 where all positives lie above all negatives. The
    other solves A - x = +- z sqrt(V(x)) [2]_, V(x) = x (1 - x) (1 + ((M + N) / 2 - 1) ((1 - x) / (2 - x) +
    x / (1 + x))) / (M N) for M positives and N negatives.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
       characteristic curves, Biometrics 44, 1988.
    .. [2] Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney statistic, part 2,
       Statistics in Medicine 25, 2006: method 5.

    Examples
    --------
    >>> ranks = auc_ranks(np.repeat([0, 1], 4), np.arange(8))
    >>> [round(limit, 4) for limit in auc_limits(1.0, ranks, .025)]
    [0.2177, 1.0]
    """
    m, n, middle, error = map(float, ranks)
    z = -float(scipy.special.ndtri(tail))

    def beyond(sign: int) -> Callable[[float], float]:
        return lambda x: sign * (x - estimate) - z * np.sqrt(
            x * (1 - x) * (1 + ((m + n) / 2 - 1) * ((1 - x) / (2 - x) + x / (1 + x))) / (m * n))

    low, high = (estimate if estimate == end else scipy.optimize.brentq(beyond(sign), *sorted((estimate, end)))
                 for sign, end in ((-1, 0.0), (1, 1.0)))
    reach = float(scipy.special.stdtrit(min(m, n), 1 - tail)) * error
    return max(min(low, middle - reach), 0.0), min(max(high, middle + reach), 1.0)
