"""The worst-case Chernoff limit of two strata by brute force over a grid of rates."""

import numpy as np


def log_bound(size, labeled, weight, q, tilt):
    """Log of the bound on E exp(-tilt * weight * count / labeled) for one stratum at rates q."""
    decay = np.exp(-tilt * weight / labeled)
    fraction = labeled / size
    with np.errstate(divide="ignore"):
        curve = labeled * np.log((1 - q) + q * decay)
        line = size * q * np.log((1 - fraction) + fraction * decay)
    return np.where(fraction > q, line, curve)


def upper_limit(size, labeled, correct, tail, tilts, grid=4001):
    """min over tilts of max{sum W q : sum log_bound >= log(tail) - tilt * seen}; off by at most 1/grid."""
    total = sum(size)
    weight = [n / total for n in size]
    seen = sum(w * x / n for w, x, n in zip(weight, correct, labeled, strict=True))
    q = np.linspace(0, 1, grid)
    best = 1.0
    for tilt in tilts:
        floor = np.log(tail) - tilt * seen
        first, second = (
            log_bound(n, m, w, q, tilt) for n, m, w in zip(size, labeled, weight, strict=True)
        )
        # both fall in q: for each first rate the largest second rate that is still allowed
        allowed = np.searchsorted(-second, first - floor + 1e-12, side="right") - 1
        possible = allowed >= 0
        best = min(
            best,
            (weight[0] * q[possible] + weight[1] * q[allowed[possible]]).max(initial=0.0)
            + 1 / grid,
        )
    return best
