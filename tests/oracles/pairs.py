"""The interval of an AUC of independent items, pair by pair."""

import itertools
import math
import statistics

from scipy import optimize, stats


def delong(up, down):
    """The share of right pairs and the variance of its placements."""
    share = {
        (i, j): (a > b) + (a == b) / 2
        for (i, a), (j, b) in itertools.product(enumerate(up), enumerate(down))
    }
    rows = [statistics.fmean(share[i, j] for j in range(len(down))) for i in range(len(up))]
    columns = [statistics.fmean(share[i, j] for i in range(len(up))) for j in range(len(down))]
    return statistics.fmean(rows), statistics.variance(rows) / len(up) + statistics.variance(
        columns
    ) / len(down)


def auc_limits(up, down, level=0.95):
    """DeLong's with t, a positive and a negative more at either end, together with Newcombe's fifth method."""
    z, (m, n) = stats.norm.ppf((1 + level) / 2), (len(up), len(down))
    auc = statistics.fmean((a > b) + (a == b) / 2 for a, b in itertools.product(up, down))
    ends = [min(*up, *down) - 1, max(*up, *down) + 1]
    middle, variance = delong([*up, *ends], [*down, *ends])

    def off(x):
        both = (m + n) / 2
        return (auc - x) ** 2 - z**2 * x * (1 - x) / (m * n) * (
            2 * both - 1 - (3 * both - 3) / ((2 - x) * (1 + x))
        )

    low = (
        0.0
        if auc == 0
        else optimize.brentq(off, 0, auc)
        if auc < 1
        else optimize.brentq(off, 0, 1 - 1e-12)
    )
    high = (
        1.0
        if auc == 1
        else optimize.brentq(off, auc, 1)
        if auc > 0
        else optimize.brentq(off, 1e-12, 1)
    )
    reach = stats.t.ppf((1 + level) / 2, min(m, n)) * math.sqrt(variance)
    return max(min(low, middle - reach), 0), min(max(high, middle + reach), 1)
