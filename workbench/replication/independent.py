"""The interval of an AUC of items that were drawn one by one."""

from collections.abc import Callable

import numpy as np
import scipy

from workbench.replication.replicates import Replicates
from workbench.replication.statistics import naive_auc


def is_independent(replicates: Replicates, rows: np.ndarray) -> bool:
    """Return whether items (a mask) of equal weight were drawn one by one, without strata."""
    design = replicates.design
    alone = design.stratum_of_psu.size == rows.size and design.strata.size == 1
    return replicates.most_df is None and alone and not np.ptp(design.weight[rows])


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
