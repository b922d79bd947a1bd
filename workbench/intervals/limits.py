"""The limit on one side that intervals of shares and of values have in common, from moments of the strata.

References
----------
.. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
.. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in Medicine 16, 1997.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

MOST_SETS = 2 ** 12
ROUND = 1e-9
UNDERSAMPLED = 2        # each label stands for twice as many items as on average


def monotone_limit(upper: Callable, estimate: float, gain: np.ndarray) -> tuple[float, bool, np.ndarray]:
    """Return the least upper limit of an outcome and of higher ones, whether all were thought of, and its choice (H,).

    No limit is below its estimate: outcomes are looked at that leave it below the best limit so far, in each round with
    one stratum more that is raised. After more than `MOST_SETS` in a round the best one alone goes on.

    Parameters
    ----------
    upper : callable
        Choices (R, H) of what becomes of each stratum, 0 for nothing, and a number to the upper limits (R,), which need
        not be right above the number.
    estimate : float
    gain : (H, O) array of float
        What the estimate gains by each choice from 1 on; infinite where there is none.
    """
    choice, gained, stratum = np.zeros((1, len(gain)), int), np.zeros(1), np.arange(len(gain))
    best, exact, chosen = float(upper(choice, np.inf)[0]), True, choice[0]
    while len(choice):
        free = stratum > np.where(choice > 0, stratum, -1).max(1, keepdims=True) if exact else choice == 0
        row, raised, option = np.nonzero(free[:, :, None] & (gained[:, None, None] + gain < best - estimate))
        choice, gained = np.where(stratum == raised[:, None], option[:, None] + 1, choice[row]), \
            gained[row] + gain[raised, option]
        if len(choice):
            limits = upper(choice, best)
            least = limits.argmin()
            best, chosen = min((best, chosen), (float(limits[least]), choice[least]), key=lambda found: found[0])
        if len(choice) > MOST_SETS:
            choice, gained, exact = choice[[least]], gained[[least]], False
    return best, exact, chosen


def limit_of_moments(weight: np.ndarray, free: np.ndarray, n: np.ndarray, moments: Sequence[np.ndarray],
                     ends: Sequence[np.ndarray], low: float | np.ndarray, high: float | np.ndarray, tail: float, *,
                     enough: float = np.inf, known: float | np.ndarray = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return upper limits (...,) of a mean, before rounding, and the stratum that alone decides each, else -1.

    Beta(x + 1, n - x) [1]_ and an unseen unit in the worst place [2]_ are put together: see
    `workbench.intervals.values.value_interval`.

    Parameters
    ----------
    weight, free : (..., H) array
        Of the strata in the mean; the fraction that was not labeled.
    n : (..., H) array
    moments : (mean, second, third), (..., H) arrays
        Central moments; the mean exactly equal to `high` where all labels lie there.
    ends : (least, most), (..., H) arrays
        Of the labels.
    low, high : (H,) array or float
        Smallest and largest possible value.
    tail : float
    enough : float
        Of an outcome whose limit is that much or more it need not be the limit, but at least `enough`.
    known : (...) array or float
        What the mean has beside the strata.

    References
    ----------
    .. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
    .. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in Medicine 16, 1997.
    """
    (mean, second, third), (least, most), known = moments, ends, np.asarray(known)[..., None]
    estimate = known + (weight * mean).sum(-1, keepdims=True)
    top = known + (weight * np.where(free > 0, high, mean)).sum(-1, keepdims=True)
    v = weight ** 2 * free * second / np.maximum(n - 1, 1)
    t = 2 * weight ** 3 * free ** 1.5 * third / ((n + 1) * (n + 2))
    rest_v, rest_t = v.sum(-1, keepdims=True), t.sum(-1, keepdims=True)

    more, second, third = one_more(n, mean, second, third, high)
    single = (estimate + weight * free * (more - mean),
              rest_v - v + weight ** 2 * free * second / (n + 2),
              rest_t - t + 2 * weight ** 3 * free ** 1.5 * third / ((n + 2) * (n + 3)))
    unseen = most - least < high - most - ROUND * (high - low)
    gain, variance, skew, valid = _merged(weight * (high - mean), n, unseen, free)
    merged = estimate + gain, rest_v + variance, rest_t + skew

    moments = [np.concatenate(pair, -1) for pair in zip(single, merged, strict=True)]
    valid = np.concatenate([(mean < high) & (free > 0), valid], -1) & (moments[1] > 0)
    upper = _candidate_quantiles(moments, valid, top, tail, enough)
    best = upper.argmax(-1)
    limit = np.where(valid.any(-1), np.take_along_axis(upper, best[..., None], -1)[..., 0], top[..., 0])
    return limit, np.where((best < mean.shape[-1]) & valid.any(-1), best, -1)


def one_more(n: np.ndarray, mean: np.ndarray, second: np.ndarray, third: np.ndarray,
             value: float | np.ndarray) -> tuple:
    """Return mean, second and third central moment after adding one label at `value`."""
    off, p = value - mean, 1 / (n + 1)
    q = 1 - p
    return (mean + p * off, q * second + p * q * off ** 2,
            q * third - 3 * p * q * off * second + p * q * (q - p) * off ** 3)


def _merged(reach: np.ndarray, n: np.ndarray, unseen: np.ndarray, free: np.ndarray) -> tuple:
    """Return gain, variance, third moment and validity of the j = 2, 3, ... worst strata whose top was not seen."""
    unseen = unseen & (reach > 0) & (free > 0)
    order = np.argsort(-np.where(unseen, reach / np.maximum(n, 1), -1.0), axis=-1, kind="stable")
    weight, labels, unlabeled = (
        np.take_along_axis(np.broadcast_to(np.where(unseen, part, 0.0), unseen.shape), order, -1).cumsum(-1)[..., 1:]
        for part in (reach, n, reach * free))
    valid = np.take_along_axis(unseen, order, -1)[..., 1:]
    free = np.divide(unlabeled, weight, out=np.zeros(valid.shape), where=weight > 0)
    variance, third = _beta_moments(1.0, np.maximum(labels, 1))
    return unlabeled / (labels + 1), weight ** 2 * free * variance, weight ** 3 * free ** 1.5 * third, valid


def _candidate_quantiles(moments: Sequence[np.ndarray], valid: np.ndarray, top: np.ndarray, tail: float,
                         enough: float) -> np.ndarray:
    """Return the quantiles (..., C) of an outcome's candidates, -inf where not valid.

    Where the likely largest of them is `enough` the others are not computed.
    """
    parts = np.broadcast_arrays(*moments, top)
    if enough < np.inf:
        likely = np.where(valid, parts[0] + 2 * np.sqrt(parts[1]), -np.inf).argmax(-1)[..., None]
        mean, variance, third, end = (np.take_along_axis(part, likely, -1) for part in parts)
        first = three_moment_quantile(mean, variance, third, end, tail)
        valid = valid & ((first < enough) | (np.arange(valid.shape[-1]) == likely))
    upper, (mean, variance, third, end) = np.full(valid.shape, -np.inf), (part[valid] for part in parts)
    upper[valid] = three_moment_quantile(mean, variance, third, end, tail)
    return upper


def _beta_moments(a: float | np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return variance and third central moment of Beta(a, b); b = 0 is the point 1."""
    s = a + b
    variance = a * b / (s**2 * (s + 1))
    return variance, 2 * a * b * (b - a) / (s**3 * (s + 1) * (s + 2))


def three_moment_quantile(mean: np.ndarray, variance: np.ndarray, third: np.ndarray, top: float | np.ndarray,
                          tail: float) -> np.ndarray:
    """Return the 1 - tail quantile of the beta on (top - r, top] with these three moments.

    Where no such beta exists the answer is `top`, its limit; r to infinity is the gamma limit.
    """
    gap = top - mean
    slack = 2 * variance**2 + third * gap
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        r = (4 * variance**2 * gap + third * (gap**2 - variance)) / slack
        s = gap * (r - gap) / variance - 1
        far = (slack <= 0) | (r > 1e7 * gap) | (s > 1e14)     # beyond it scipy's quantile may be NaN
        r = np.where(far, gap, r)
        impossible = ~far & ~(s > 0)
        a, b = np.where(far | impossible, 1.0, gap / r * s), np.where(far | impossible, 1.0, (1 - gap / r) * s)
        below_top = np.asarray(r * scipy.special.betaincinv(a, b, tail))
        shape = np.maximum(gap**2 / variance, 1e-300)[far]
        below_top[far] = np.asarray(variance / gap)[far] * scipy.special.gammaincinv(shape, tail)
    return np.where(impossible | (gap <= 0), top, top - below_top)


def limiting_stratum(size: np.ndarray, labeled: np.ndarray, *decisive: Any) -> int | None:
    """Return the undersampled stratum among those that alone decide a limit, or None; -1 is no stratum."""
    share = size / size.sum() * labeled.sum() / np.maximum(labeled, 1)
    return max((int(k) for k in decisive if k >= 0 and share[k] > UNDERSAMPLED), key=lambda k: share[k], default=None)
