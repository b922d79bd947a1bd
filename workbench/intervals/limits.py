"""Upper limit of a weighted mean from the moments of its strata.

`limit_of_moments` computes the limit of one or many outcomes. `monotone_limit` makes it rise with
every label. `three_moment_quantile` is the quantile that both rest on, and `crossing_tail` inverts
limits to p-values. Lower limits are upper limits of the negated values. `unskewed` is for means
without bounds.
"""

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy import ndarray
from scipy import special

Number = float | ndarray

MOST_SETS = 2**12
ROUND = 1e-9
LEAST_TAIL = 1e-30
HALVINGS = 44
UNDERSAMPLED = 2  # each label stands for twice as many items as on average


def monotone_limit(upper: Callable, estimate: float, gain: ndarray) -> tuple:
    """Return the least upper limit of an outcome and of higher ones, and its choice (H,).

    The second value tells whether all higher outcomes were considered. No limit is below its
    estimate. Only outcomes with an estimate below the least limit so far are therefore considered.
    Each round raises one more stratum. After more than `MOST_SETS` outcomes in a round, only the
    best one is continued.

    Parameters
    ----------
    upper : callable
        Function of choices (R, H) and a number that returns upper limits (R,). A choice says how
        far each stratum is raised, 0 for not at all. Limits above the number need not be correct.
    estimate : float
    gain : (H, O) array of float
        Gain in the estimate by each raise from 1 on; infinite if the raise is impossible.
    """
    choice = np.zeros((1, len(gain)), int)
    gained = np.zeros(1)
    best = float(upper(choice, np.inf)[0])
    chosen = choice[0]
    exact = True
    while True:
        free = choice == 0
        if exact:  # only strata after the last raised one, so that no set is tried twice
            later = np.logical_and.accumulate(free[:, ::-1], axis=1)
            free = later[:, ::-1]
        gains = gained[:, None, None] + gain
        promising = free[:, :, None] & (gains < best - estimate)
        row, stratum, option = np.nonzero(promising)
        if not row.size:
            return best, exact, chosen
        choice = choice[row]
        gained = gained[row] + gain[stratum, option]
        choice[np.arange(row.size), stratum] = option + 1
        limits = upper(choice, best)
        least = limits.argmin()
        if limits[least] < best:
            best = float(limits[least])
            chosen = choice[least]
        if row.size > MOST_SETS:
            choice = choice[[least]]
            gained = gained[[least]]
            exact = False


def limit_of_moments(
    weight: ndarray,
    free: ndarray,
    n: ndarray,
    moments: Iterable[ndarray],
    ends: tuple,
    low: Number,
    high: Number,
    tail: float,
    *,
    enough: float = np.inf,
    constant: Number = 0.0,
    unseen: ndarray | None = None,
    stretch: float = 1.0,
) -> tuple:
    """Return upper limits (...,) of a mean before rounding, and the strata that alone decide them.

    The stratum is -1 if none decides alone. The limit combines Beta(x + 1, n - x) [1]_ with an
    unseen item in the worst place [2]_: see `workbench.intervals.values.value_interval`.

    Parameters
    ----------
    weight, free : (..., H) array
        Weight of each stratum in the mean; fraction of the stratum that was not labeled.
    n : (..., H) array
    moments : (mean, second, third), (..., H) arrays
        Central moments. The mean equals `high` exactly if all labels lie there.
    ends : (least, most), (..., H) arrays
        Smallest and largest label.
    low, high : (H,) array or float
        Smallest and largest possible value.
    tail : float
    enough : float
        Limits of this size or more need not be exact: `enough` may be returned instead.
    constant : (...) array or float
        Part of the mean that does not depend on the strata.
    unseen : (..., H) array, optional
        Value of one more label of each stratum, at most `high` and at least the largest label;
        `high` by default.
    stretch : float
        Factor of the standard deviation, if there is no `enough`.

    References
    ----------
    .. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
    .. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in
       Medicine 16, 1997.
    """
    least, most = ends
    more = high if unseen is None else np.maximum(unseen, most)
    spread = most - least
    gap = more - most
    missed = spread < gap - ROUND * (high - low)
    if unseen is not None:  # labels count as alike up to half as far apart as the next value is
        ratio = np.divide(spread, gap, out=np.ones(missed.shape), where=missed)
        missed = np.clip(2 - 2 * ratio, 0.0, 1.0)
    constant = np.asarray(constant)[..., None]
    parts = weight, free, n, *moments, high, more, missed, constant
    strata = np.stack(np.broadcast_arrays(*parts))
    return _limit(strata, tail, stretch, enough)


def _limit(
    strata: ndarray,
    tail: float,
    stretch: float,
    enough: float = np.inf,
) -> tuple:
    """Return the largest candidate limit of each outcome, and the stratum that alone decides it."""
    weight, free, n, mean, _, _, high, more, missed, constant = strata
    constant = constant[..., :1]
    largest = weight * np.where(free > 0, high, mean)
    top = largest.sum(-1, keepdims=True) + constant
    sums = [part.sum(-1, keepdims=True) for part in _moments(strata)]
    sums[0] = sums[0] + constant
    if enough < np.inf:  # the label that moves the mean most often shows that the limit is beyond
        move = weight * free * (more - mean) / (n + 1)
        likely = move.argmax(-1)[None, ..., None]
        moments = _with_one_more(sums, np.take_along_axis(strata, likely, -1))
        chance = three_moment_tail(moments, top, enough)[..., 0]
        short = chance <= tail
        limit = np.full(short.shape, enough)
        decisive = np.full(short.shape, -1)
        if short.any():
            limit[short], decisive[short] = _limit(strata[:, short], tail, stretch)
        return limit, decisive
    reach = weight * (more - mean) * missed
    *gains, merged = _merged(reach, n, missed > 0, free)
    single = _with_one_more(sums, strata)
    moments = []
    for alone, total, gain in zip(single, sums, gains, strict=True):
        moments.append(np.concatenate([alone, total + gain], -1))
    means, variance, third = moments
    unsure = (mean < more) & (free > 0)
    valid = np.concatenate([unsure, merged], -1) & (variance > 0)
    moments = [means, variance * stretch**2, third * stretch**3]
    limits = _candidate_limits(moments, valid, top, tail)
    best = limits.argmax(-1)
    some = valid.any(-1)
    limit = np.where(some, limits.max(-1), top[..., 0])
    decisive = some & (best < mean.shape[-1])
    return limit, np.where(decisive, best, -1)


def _moments(strata: ndarray) -> list:
    """Return mean, variance and third moment of the part of each stratum in the weighted mean."""
    weight, free, n, mean, second, third, *_ = strata
    spread = _spread(weight, free, n, np.maximum(n - 1, 1), second, third)
    return [weight * mean, *spread]


def _with_one_more(sums: list, strata: ndarray) -> list:
    """Return the moments of the weighted mean with one more label in each of some strata."""
    weight, free, n, mean, second, third, _, more, *_ = strata
    raised, *spread = one_more(n, mean, second, third, more)
    new_mean = weight * (mean + free * (raised - mean))
    new_spread = _spread(weight, free, n + 1, n + 2, *spread)
    moments = zip(sums, (new_mean, *new_spread), _moments(strata), strict=True)
    return [total + new - old for total, new, old in moments]


def _spread(
    weight: ndarray,
    free: ndarray,
    n: ndarray,
    divisor: ndarray,
    second: ndarray,
    third: ndarray,
) -> tuple:
    """Return the variance and the third moment of the weighted mean of each stratum."""
    variance = weight**2 * free * second / divisor
    third = 2 * weight**3 * free**1.5 * third
    return variance, third / ((n + 1) * (n + 2))


def one_more(
    n: Number,
    mean: ndarray,
    second: ndarray,
    third: ndarray,
    value: Number,
) -> tuple:
    """Return mean, second and third central moment after adding one label at `value`."""
    off = value - mean
    p = 1 / (n + 1)
    q = 1 - p
    new_second = q * second + p * q * off**2
    skewed = p * q * (q - p) * off**3
    new_third = q * third - 3 * p * q * off * second + skewed
    return mean + p * off, new_second, new_third


def _merged(
    reach: ndarray,
    n: ndarray,
    unseen: ndarray,
    free: ndarray,
) -> tuple:
    """Return gain, variance, third moment and validity of the 2, 3, ... worst strata merged.

    Strata are merged where the labels may have missed the largest value. They then count as one
    stratum, with the distribution Beta(1, labels) of what was missed.
    """
    unseen = unseen & (reach > 0) & (free > 0)
    per_label = np.where(unseen, reach / np.maximum(n, 1), -1.0)
    order = np.argsort(-per_label, axis=-1, kind="stable")

    def totals(part: ndarray) -> ndarray:
        part = np.take_along_axis(np.where(unseen, part, 0.0), order, -1)
        return part.cumsum(-1)[..., 1:]

    weight = totals(reach)
    labels = totals(n)
    unlabeled = totals(reach * free)
    valid = np.take_along_axis(unseen, order, -1)[..., 1:]
    free = np.divide(unlabeled, weight, out=np.zeros_like(weight), where=weight > 0)
    b = np.maximum(labels, 1)
    s = b + 1
    variance = b / (s**2 * (s + 1))
    third = 2 * b * (b - 1)
    third = third / (s**3 * (s + 1) * (s + 2))
    variance = weight**2 * free * variance
    third = weight**3 * free**1.5 * third
    return unlabeled / (labels + 1), variance, third, valid


def _candidate_limits(
    moments: Sequence[ndarray],
    valid: ndarray,
    top: ndarray,
    tail: float,
) -> ndarray:
    """Return quantiles (..., C) of candidates, -inf if invalid or not beyond the likely one."""
    parts = np.broadcast_arrays(*moments, top, tail)
    mean, variance, *_ = parts
    far = np.where(valid, mean + 2 * np.sqrt(variance), -np.inf)
    likely = far.argmax(-1, keepdims=True)
    first = three_moment_quantile(*(np.take_along_axis(part, likely, -1) for part in parts))
    limits = np.full(valid.shape, -np.inf)
    np.put_along_axis(limits, likely, first, -1)
    alternatives = valid & (limits < first)
    start = np.broadcast_to(first, valid.shape)[alternatives]
    *farther, end, tails = (part[alternatives] for part in parts)
    alternatives[alternatives] = three_moment_tail(farther, end, start) > tails
    limits[alternatives] = three_moment_quantile(*(part[alternatives] for part in parts))
    return limits


def three_moment_quantile(
    mean: ndarray,
    variance: ndarray,
    third: ndarray,
    top: Number,
    tail: Number,
) -> ndarray:
    """Return the 1 - tail quantile of the beta on (top - r, top] with these three moments.

    For r to infinity the gamma distribution takes its place. The quantile is `top` if no such beta
    exists, or if it is nearer to `top` than a 100,000th of the way from the mean. So close to `top`
    the quantile of this beta may lie farther away for a smaller tail.
    """
    *moments, top, tail = np.broadcast_arrays(mean, variance, third, top, tail)
    limit = np.array(top, float)
    for where, scale, shape, _, _, quantile in _fits(moments, top):
        distance = scale * quantile(*shape, tail[where])
        least = 1e-5 * (top - moments[0])[where]
        limit[where] = top[where] - distance * np.clip(distance / least - 1, 0, 1)
    return limit


def three_moment_tail(moments: Sequence, top: Number, at: Number) -> ndarray:
    """Return the chance beyond `at` of the distribution with this `three_moment_quantile`."""
    *moments, top, at = np.broadcast_arrays(*moments, top, at)
    chance = (at < top).astype(float)
    for where, scale, shape, most, probability, _ in _fits(moments, top):
        distance = ((top - at)[where] / scale).clip(0, most)
        chance[where] = probability(*shape, distance)
    return chance


def _fits(moments: Sequence, top: ndarray) -> tuple:
    """Return the rows in which beta and gamma fit the distance from the top, and functions."""
    mean, variance, third = moments
    gap = top - mean
    slack = 2 * variance**2 + third * gap
    with np.errstate(all="ignore"):
        skewed = third * (gap**2 - variance)
        r = (4 * variance**2 * gap + skewed) / slack
        s = gap * (r - gap) / variance - 1
        far = (slack <= 0) | (r > 1e7 * gap) | (s > 1e14)  # beyond it scipy's quantile may be NaN
        beta = (gap > 0) & ~far & (s > 0)
        gamma = (gap > 0) & far
        share = (gap / r)[beta]
        s = s[beta]
        r = r[beta]
        scale = (variance / gap)[gamma]
        shape = (gap**2 / variance)[gamma].clip(1e-300)
    shapes = share * s, (1 - share) * s
    beta_fit = beta, r, shapes, 1, special.betainc, special.betaincinv
    gamma_fit = gamma, scale, (shape,), np.inf, special.gammainc, special.gammaincinv
    return beta_fit, gamma_fit


def crossing_tail(
    moments: Callable[[int, ndarray], tuple],
    bounds: tuple,
    at: float,
    shape: tuple,
) -> ndarray:
    """Return the smallest tail, at most 1/2, of limits that exclude `at`: half of their p-value.

    Parameters
    ----------
    moments : callable
        Function of a side and of tails that returns mean, variance and third moment. Side 0 stands
        for the lower limit and the negated values, side 1 for the upper limit and the values. The
        limit is the `three_moment_quantile` of these moments.
    bounds : (float, float)
    at : float
    shape : tuple
        Shape of the tails.
    """
    tails = []
    for side, sign in enumerate((-1, 1)):
        including = np.full(shape, math.log(LEAST_TAIL))
        excluding = np.full(shape, math.log(0.5))
        end = sign * bounds[side]
        for _ in range(HALVINGS):
            middle = (including + excluding) / 2
            tail = np.exp(middle)
            out = three_moment_tail(moments(side, tail), end, sign * at) < tail
            including = np.where(out, including, middle)
            excluding = np.where(out, middle, excluding)
        tails.append(np.exp(excluding))
    return np.minimum(*tails)


def limiting_stratum(size: ndarray, labeled: ndarray, *decisive: int) -> int | None:
    """Return the undersampled stratum among those that alone decide a limit, or None.

    A stratum of -1 stands for none.
    """
    expected_labels = size / size.sum() * labeled.sum()
    undersampling = expected_labels / np.maximum(labeled, 1)
    strata = [int(k) for k in decisive if k >= 0]
    stratum = max(strata, key=undersampling.item, default=None)
    if stratum is None or undersampling[stratum] <= UNDERSAMPLED:
        return None
    return stratum


def unskewed(x: float, skewness: float) -> float:
    """Return the inverse of Hall's transformation [1]_ at x.

    This is the root t of t + s t^2 / 3 + s^2 t^3 / 27 + s / 6 = x, with skewness s.

    References
    ----------
    .. [1] Hall, On the removal of skewness by transformation, Journal of the Royal Statistical
       Society B 54, 1992.

    Examples
    --------
    >>> round(unskewed(2.0, 0.0), 3), round(unskewed(2.0, 0.1), 3), round(unskewed(-2.0, 0.1), 3)
    (2.0, 1.865, -2.17)
    """
    if not skewness:
        return x
    off = skewness * (x - skewness / 6)
    if abs(off) < 0.5:
        root = math.expm1(math.log1p(off) / 3)  # exact near 0
    else:
        root = np.cbrt(1 + off) - 1
    return float(3 / skewness * root)
