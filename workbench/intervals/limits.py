"""The limit on one side that intervals of shares and of values have in common, from moments of the strata.

References
----------
.. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
.. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in Medicine 16, 1997.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

MOST_SETS = 2**12
ROUND = 1e-9
LEAST_TAIL, HALVINGS = 1e-30, 44
UNDERSAMPLED = 2  # each label stands for twice as many items as on average


def monotone_limit(
    upper: Callable, estimate: float, gain: np.ndarray
) -> tuple[float, bool, np.ndarray]:
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
        free = (
            stratum > np.where(choice > 0, stratum, -1).max(1, keepdims=True)
            if exact
            else choice == 0
        )
        row, raised, option = np.nonzero(
            free[:, :, None] & (gained[:, None, None] + gain < best - estimate)
        )
        choice, gained = (
            np.where(stratum == raised[:, None], option[:, None] + 1, choice[row]),
            gained[row] + gain[raised, option],
        )
        if len(choice):
            limits = upper(choice, best)
            least = limits.argmin()
            best, chosen = min(
                (best, chosen), (float(limits[least]), choice[least]), key=lambda found: found[0]
            )
        if len(choice) > MOST_SETS:
            choice, gained, exact = choice[[least]], gained[[least]], False
    return best, exact, chosen


def limit_of_moments(
    weight: np.ndarray,
    free: np.ndarray,
    n: np.ndarray,
    moments: Sequence[np.ndarray],
    ends: Sequence[np.ndarray],
    low: float | np.ndarray,
    high: float | np.ndarray,
    tail: float,
    *,
    enough: float = np.inf,
    known: float | np.ndarray = 0.0,
    unseen: np.ndarray | None = None,
    stretch: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
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
    unseen : (..., H) array, optional
        Value of one more label of each stratum, at most `high` and at least the largest label; `high` by default.
    stretch : float
        Factor of the standard deviation.

    References
    ----------
    .. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
    .. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in Medicine 16, 1997.
    """
    least, most = ends
    more = np.asarray(high, float) if unseen is None else np.maximum(unseen, most)
    missed = most - least < more - most - ROUND * (high - low)
    if unseen is not None:
        missed = missed * _closeness(most - least, more - most)
    strata = np.stack(
        np.broadcast_arrays(
            weight, free, n, *moments, high, more, missed, np.asarray(known)[..., None]
        )
    )
    if enough == np.inf:
        return _limit(strata, tail, stretch)
    short = ~_reaches(strata, tail, enough, stretch)
    limit, decisive = np.full(short.shape, enough), np.full(short.shape, -1)
    if short.any():
        limit[short], decisive[short] = _limit(strata[:, short], tail, stretch)
    return limit, decisive


def _limit(strata: np.ndarray, tail: float, stretch: float) -> tuple[np.ndarray, np.ndarray]:
    weight, free, n, mean, _, _, _, more, missed, _ = strata
    top, sums, single = _with_one_more(strata, strata)
    *merged, valid = _merged(weight * (more - mean) * missed, n, missed > 0, free)
    moments = [
        np.concatenate([one, total + gain], -1)
        for one, total, gain in zip(single, sums, merged, strict=True)
    ]
    valid = np.concatenate([(mean < more) & (free > 0), valid], -1) & (moments[1] > 0)
    upper = _candidate_quantiles(_stretched(moments, stretch), valid, top, tail)
    best = upper.argmax(-1)
    limit = np.where(
        valid.any(-1), np.take_along_axis(upper, best[..., None], -1)[..., 0], top[..., 0]
    )
    return limit, np.where((best < mean.shape[-1]) & valid.any(-1), best, -1)


def _closeness(spread: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Return how far labels count as alike: 1 up to half as far apart as the next value is, 0 from as far on."""
    ratio = np.divide(
        spread, gap, out=np.ones(np.broadcast_shapes(spread.shape, gap.shape)), where=gap > spread
    )
    return np.clip(2 - 2 * ratio, 0.0, 1.0)


def _reaches(strata: np.ndarray, tail: float, enough: float, stretch: float) -> np.ndarray:
    """Return whether the label that moves the mean the most takes the limit beyond `enough`."""
    weight, free, n, before, _, _, _, more, *_ = strata
    likely = (weight * free * (more - before) / (n + 1)).argmax(-1)[..., None]
    top, sums, single = _with_one_more(strata, np.take_along_axis(strata, likely[None], -1))
    mean, variance, third = _stretched(single, stretch)
    upper = three_moment_quantile(mean, variance, third, top, tail, np.full(top.shape, enough))
    return ((upper > -np.inf) & (mean > sums[0]) & (variance > 0))[..., 0]


def _stretched(moments: Sequence[np.ndarray], factor: float) -> tuple:
    """Return mean, variance and third moment of a distribution whose deviations are multiplied."""
    mean, variance, third = moments
    return mean, variance * factor**2, third * factor**3


def _with_one_more(strata: np.ndarray, some: np.ndarray) -> tuple:
    """Return the largest possible mean, the moments (..., 1), and those with a label more in each of some strata."""
    weight, free, _, mean, _, _, high, _, _, known = strata
    largest = weight * np.where(free > 0, high, mean)
    top, *sums = (part.sum(-1, keepdims=True) for part in (largest, *_moments(strata, 0)))
    top, sums[0] = top + known[..., :1], sums[0] + known[..., :1]
    single = [
        total + after - before
        for total, after, before in zip(sums, _moments(some, 1), _moments(some, 0), strict=True)
    ]
    return top, sums, single


def _moments(strata: np.ndarray, more: int) -> tuple:
    """Return what strata add to mean, variance and third moment, with `more` labels, 0 or 1, added."""
    weight, free, n, mean, second, third, _, value, *_ = strata
    after, second, third = (
        one_more(n, mean, second, third, value) if more else (mean, second, third)
    )
    return (
        weight * (mean + free * (after - mean)),
        weight**2 * free * second / np.maximum(n - 1 + 3 * more, 1),
        2 * weight**3 * free**1.5 * third / ((n + more + 1) * (n + more + 2)),
    )


def one_more(
    n: np.ndarray,
    mean: np.ndarray,
    second: np.ndarray,
    third: np.ndarray,
    value: float | np.ndarray,
) -> tuple:
    """Return mean, second and third central moment after adding one label at `value`."""
    off, p = value - mean, 1 / (n + 1)
    q = 1 - p
    return (
        mean + p * off,
        q * second + p * q * off**2,
        q * third - 3 * p * q * off * second + p * q * (q - p) * off**3,
    )


def _merged(reach: np.ndarray, n: np.ndarray, unseen: np.ndarray, free: np.ndarray) -> tuple:
    """Return gain, variance, third moment and validity of the j = 2, 3, ... worst strata whose top was not seen."""
    unseen = unseen & (reach > 0) & (free > 0)
    order = np.argsort(-np.where(unseen, reach / np.maximum(n, 1), -1.0), axis=-1, kind="stable")
    weight, labels, unlabeled = (
        np.take_along_axis(
            np.broadcast_to(np.where(unseen, part, 0.0), unseen.shape), order, -1
        ).cumsum(-1)[..., 1:]
        for part in (reach, n, reach * free)
    )
    valid = np.take_along_axis(unseen, order, -1)[..., 1:]
    free = np.divide(unlabeled, weight, out=np.zeros(valid.shape), where=weight > 0)
    variance, third = _beta_moments(1.0, np.maximum(labels, 1))
    return (
        unlabeled / (labels + 1),
        weight**2 * free * variance,
        weight**3 * free**1.5 * third,
        valid,
    )


def _candidate_quantiles(
    moments: Sequence[np.ndarray], valid: np.ndarray, top: np.ndarray, tail: float
) -> np.ndarray:
    """Return the quantiles (..., C) of an outcome's candidates, -inf where not valid or not beyond the likely one."""
    parts, place = np.broadcast_arrays(*moments, top), np.arange(valid.shape[-1])
    likely = np.where(valid, parts[0] + 2 * np.sqrt(parts[1]), -np.inf).argmax(-1)[..., None]
    mean, variance, third, end = (np.take_along_axis(part, likely, -1) for part in parts)
    first = three_moment_quantile(mean, variance, third, end, tail)
    upper, others = np.where(valid & (place == likely), first, -np.inf), valid & (place != likely)
    mean, variance, third, end = (part[others] for part in parts)
    upper[others] = three_moment_quantile(
        mean, variance, third, end, tail, np.broadcast_to(first, valid.shape)[others]
    )
    return upper


def _beta_moments(a: float | np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return variance and third central moment of Beta(a, b); b = 0 is the point 1."""
    s = a + b
    variance = a * b / (s**2 * (s + 1))
    return variance, 2 * a * b * (b - a) / (s**3 * (s + 1) * (s + 2))


def three_moment_quantile(
    mean: np.ndarray,
    variance: np.ndarray,
    third: np.ndarray,
    top: float | np.ndarray,
    tail: float | np.ndarray,
    beyond: np.ndarray | None = None,
) -> np.ndarray:
    """Return the 1 - tail quantile of the beta on (top - r, top] with these three moments, -inf if not `beyond`.

    Where no such beta exists the answer is `top`, its limit; r to infinity is the gamma limit.
    """
    mean, variance, third, top, tail = np.broadcast_arrays(mean, variance, third, top, tail)
    none, kinds = _fits(mean, variance, third, top)
    limit = np.where(none, top, -np.inf)
    for asked, fitted, most, probability, quantile in kinds:
        if beyond is not None:
            unit, *shape = (part[asked] for part in fitted)
            asked[asked] = (
                probability(*shape, ((top - beyond)[asked] / unit).clip(0, most)) > tail[asked]
            )
        unit, *shape = (part[asked] for part in fitted)
        limit[asked] = top[asked] - unit * quantile(*shape, tail[asked])
    return limit


def three_moment_tail(moments: Sequence, top: float | np.ndarray, at: float) -> np.ndarray:
    """Return the chance beyond `at` of the distribution whose quantile `three_moment_quantile` is, of its moments."""
    mean, variance, third, top = np.broadcast_arrays(*moments, top)
    none, kinds = _fits(mean, variance, third, top)
    chance = np.where(none & (at < top), 1.0, 0.0)
    for asked, fitted, most, probability, _ in kinds:
        unit, *shape = (part[asked] for part in fitted)
        chance[asked] = probability(*shape, ((top[asked] - at) / unit).clip(0, most))
    return chance


def _fits(mean: np.ndarray, variance: np.ndarray, third: np.ndarray, top: np.ndarray) -> tuple:
    """Return where there is no distribution, and for beta and gamma where it is, scale and shape, and its functions."""
    gap = top - mean
    slack = 2 * variance**2 + third * gap
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        r = (4 * variance**2 * gap + third * (gap**2 - variance)) / slack
        s = gap * (r - gap) / variance - 1
        far = (slack <= 0) | (r > 1e7 * gap) | (s > 1e14)  # beyond it scipy's quantile may be NaN
        beta, gamma = (
            (r, gap / r * s, (1 - gap / r) * s),
            (variance / gap, np.maximum(gap**2 / variance, 1e-300)),
        )
    none = (gap <= 0) | ~far & ~(s > 0)
    return none, (
        (~far & ~none, beta, 1, scipy.special.betainc, scipy.special.betaincinv),
        (far & ~none, gamma, np.inf, scipy.special.gammainc, scipy.special.gammaincinv),
    )


def crossing_tail(
    moments: Callable[[int, np.ndarray], tuple],
    bounds: tuple[float, float],
    at: float,
    shape: tuple,
) -> np.ndarray:
    """Return the least tail, at most 1/2, of limits that leave out `at`: half the p-value that they invert.

    Parameters
    ----------
    moments : callable
        Side, 0 of the lower limit and 1 of the upper one, and tails to mean, variance and third moment of the values
        times -1 and 1, whose `three_moment_quantile` is the limit.
    bounds : (float, float)
    at : float
    shape : tuple
        Of the tails.
    """
    found = []
    for side, sign in enumerate((-1, 1)):
        kept, left_out = np.full(shape, math.log(LEAST_TAIL)), np.full(shape, math.log(0.5))
        for _ in range(HALVINGS):
            middle = (kept + left_out) / 2
            tail = np.exp(middle)
            out = three_moment_tail(moments(side, tail), sign * bounds[side], sign * at) < tail
            kept, left_out = np.where(out, kept, middle), np.where(out, middle, left_out)
        found.append(np.exp(left_out))
    return np.minimum(*found)


def limiting_stratum(size: np.ndarray, labeled: np.ndarray, *decisive: Any) -> int | None:
    """Return the undersampled stratum among those that alone decide a limit, or None; -1 is no stratum."""
    share = size / size.sum() * labeled.sum() / np.maximum(labeled, 1)
    return max(
        (int(k) for k in decisive if k >= 0 and share[k] > UNDERSAMPLED),
        key=lambda k: share[k],
        default=None,
    )
