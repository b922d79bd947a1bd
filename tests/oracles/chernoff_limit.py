"""The worst-case Chernoff limit by numerical optimization."""
import numpy as np
from scipy import optimize


def log_bound(size, labeled, q, tilt):
    """Log of the bound on E exp(-tilt * estimate), rates q, per unit weight W/n."""
    weight = np.asarray(size) / np.sum(size)
    c = 1 - np.exp(-tilt * weight / labeled)
    fraction = np.asarray(labeled) / size
    curve = np.asarray(labeled) * np.log(np.maximum(1 - q * c, 1e-300))
    line = np.asarray(size) * q * np.log(np.maximum(1 - fraction * c, 1e-300))
    return np.where(fraction > q, line, curve).sum()


def upper_limit(size, labeled, correct, tail, tilts):
    """min over tilts of max{sum W q : log_bound >= log(tail) - tilt * seen}, two strata by a fine grid."""
    size, labeled, correct = (np.asarray(a, float) for a in (size, labeled, correct))
    weight = size / size.sum()
    seen = (weight * correct / labeled).sum()
    best = 1.0
    for tilt in tilts:
        floor = np.log(tail) - tilt * seen
        reached = 0.0
        for first in np.linspace(0, 1, 801):
            def slack(second, first=first, tilt=tilt, floor=floor):
                return log_bound(size, labeled, np.array([first, second]), tilt) - floor
            if slack(0.0) < 0:
                continue
            second = 1.0 if slack(1.0) >= 0 else optimize.brentq(slack, 0, 1)
            reached = max(reached, weight[0] * first + weight[1] * second)
        best = min(best, reached)
    return best
