"""Confidence intervals for a weighted mean of values other than 0 and 1, D = sum_k W_k mean_k.

The default interval of `workbench.intervals` generalized: the quantile is that of a beta distribution with three
matched moments, which include an unseen unit. In the bounded interval this unit lies at the largest declared value of
its stratum. In the default interval it lies at the largest value seen, as far as the labels show where values end.
With at most three values, such as 0 and 1, both are the same. There is no proof. The least coverage found at nominal
.95 is .949 +- .001, by search (``tests/peers/search_values.py``) over the values -1, 0, 1, over 0, .5, 1, over 0, 1,
10, and over strata of the first mixed with strata of 0 and 1 or with fully labeled ones.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.intervals.limits import limit_of_moments, limiting_stratum, monotone_limit
from workbench.intervals.sampled import SampledMoments
from workbench.intervals.unseen import bounded_notes
from workbench.results import Interval

TOUCHING = 1e-7  # of a step: a limit on an attainable mean
FINEST = 1e12  # steps of a total beyond which it may be anything
LARGEST_VALUE = 1e100  # squares and sums of them are numbers too


METHODS = ("default", "bounded", "t")


def value_interval(
    stratum_size: ArrayLike,
    counts: ArrayLike,
    values: ArrayLike,
    *,
    level: float = 0.95,
    method: str = "default",
) -> Interval:
    """Return a confidence interval for the mean of values from a stratified simple random sample.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, N_h >= 1.
    counts : (H, V) array_like of int
        Labels per stratum and value; at least 2 per stratum unless it is fully labeled. Fixed in number before any
        label was seen.
    values : (V,) or (H, V) array_like of float
        The values that an item can have, seen or not; the largest and the smallest of a stratum bound its unseen
        items.
    level : float
        Nominal coverage in (0, 1).
    method : {"default", "bounded", "t"}
        "bounded" holds also where values exist inside the bounds that the labels do not contain. "default" is the
        same for at most three values, as 0 and 1 or -1, 0 and 1. For graded values it is shorter as far as the labels
        show where values end. "t" is Student's t with Satterthwaite's degrees of freedom.

    Returns
    -------
    Interval
        For sum_h W_h mean_h, W_h = N_h / N, within what the labels prove. `bounded` holds the bounded limits where
        they differ.

    Raises
    ------
    ValueError
        If an argument is out of its domain; names the stratum.

    Notes
    -----
    The bounded interval: moments of the labels per stratum: m, central m2 and m3; f = 1 - n/N, v = W^2 f m2 / (n -
    1), t = 2 W^3 f^1.5 m3 / ((n + 1)(n + 2)). The upper limit is the largest over candidates: for each stratum one
    more label at its largest value (moments with n + 1 labels, divisors n + 2 and (n + 2)(n + 3)); for the strata
    whose labels are alike, or closer to each other than the highest of them to the largest value, in the order of W
    (largest - m) / n: the first two, three, ... of them merged into one stratum, whose n labels happened to miss
    the largest value, that far off. Each gives the quantile of a beta distribution that ends at the largest
    possible mean. The lower limit is that of the negated values. Fully labeled strata are constants. The
    construction is that of the default interval, where Beta(x + 1, n - x) [1]_ and an unseen unit of the worst
    weight [2]_ are put together.

    The interval reaches to the means that the population can have at less than s beyond these limits, s N the largest
    distance of two values of one stratum, as far as one item can move the total: with 0 and 1 that rounds outward to
    whole items. Means that it can have lie g / N apart, g the largest number of which all distances of values within
    a stratum are multiples.

    The default interval puts the additional label at the largest value seen, as far as the sample carries that: see
    `workbench.intervals.unseen`. Where strata have few labels, its standard deviation is multiplied by Student's t
    quantile with Satterthwaite's degrees of freedom [3]_ over that of one sample of as many labels.

    References
    ----------
    .. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
    .. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in Medicine 16, 1997.
    .. [3] Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2, 1946.

    Examples
    --------
    >>> value_interval([600, 400], [[8, 3, 14], [5, 2, 18]], [-1, 0, 1])
    Interval(0.074 to 0.594, 0.95 default)
    """
    size, counts, values = check_table(stratum_size, counts, values)
    return interval_of(
        size, counts, values, checks.level(level), method=checks.choice("method", method, METHODS)
    )


def interval_of(
    size: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
    level: float,
    constants: int = 0,
    method: str = "default",
) -> Interval:
    """Return the interval of checked arguments; the last `constants` strata are known without labels.

    These count as fully labeled, and notes on labels leave them out.
    """
    *raw, exact = raw_limits(size, counts, values, level)
    bounded = tuple(map(float, interval_limits(size, counts, values, *raw)))
    low, high = bounded
    if method != "bounded":
        moments = moments_of(size, counts, values)
        proven = proven_values(size, counts, values)
        made = moments.t_limits if method == "t" else moments.limits
        limits = made((1 - level) / 2)
        if method == "default":
            limits = between(limits, raw, bounded, moments.trusted)
        low, high = (float(np.clip(limit, *proven)) for limit in limits)
    below, above = (
        upper_limit(size, counts, sign * values, (1 - level) / 2)[1] for sign in (-1, 1)
    )
    size, labeled = (part[: len(size) - constants] for part in (size, counts.sum(1)))
    limiting = limiting_stratum(size, labeled, below, above)
    notes = [
        *intervals.few_notes(size, labeled),
        *intervals.limiting_notes(size, labeled, limiting),
        *intervals.exact_notes(exact),
        *bounded_notes((low, high), bounded),
    ]
    return Interval(
        low, high, level, method, limiting, bounded if bounded != (low, high) else None, notes=notes
    )


def moments_of(size: np.ndarray, counts: np.ndarray, values: np.ndarray) -> SampledMoments:
    """Return the moments of labels, (H, V) counts of values (H, V)."""
    n = counts.sum(1)
    stratum = np.repeat(np.arange(size.size), counts.shape[1])
    return SampledMoments.of_values(
        size / size.sum(),
        np.where(n < size, 1 - n / size, 0.0),
        stratum,
        values.ravel(),
        values.min(1),
        values.max(1),
        counts.ravel(),
    )


def between(limits: tuple, raw: Any, rounded: tuple, trusted: np.ndarray) -> tuple[float, float]:
    """Return default limits rounded outward as the bounded ones, as far as the sample is not trusted, within these.

    Parameters
    ----------
    limits : (float, float)
    raw, rounded : (float, float)
        The bounded limits before and after they were rounded outward.
    trusted : (2,) array
    """
    low, high = limits
    low = low - (1 - trusted[0]) * max(raw[0] - rounded[0], 0.0)
    high = high + (1 - trusted[1]) * max(rounded[1] - raw[1], 0.0)
    return (
        rounded[0] if not trusted[0] else max(low, rounded[0]),
        rounded[1] if not trusted[1] else min(high, rounded[1]),
    )


def raw_limits(
    size: np.ndarray, counts: np.ndarray, values: np.ndarray, level: float
) -> tuple[float, float, bool]:
    """Return both limits before they reach to attainable means, and whether they are exact."""
    tail = (1 - level) / 2
    (low, exact_low, _), (high, exact_high, _) = (
        monotone_upper(size, counts, sign * values, tail) for sign in (-1, 1)
    )
    return -low, high, exact_low and exact_high


def monotone_upper(
    size: np.ndarray, counts: np.ndarray, values: np.ndarray, tail: float
) -> tuple[float, bool, np.ndarray]:
    """Return the least `upper_limit` of an outcome (H, V) and of higher ones, whether it is exact, and whose it is.

    Higher ones: in some strata all labels below a value, which need not be the same in each, lie at that value.
    """
    order, place = values.argsort(1, kind="stable"), np.arange(values.shape[1])
    values, counts = np.take_along_axis(values, order, 1), np.take_along_axis(counts, order, 1)
    below, n = counts.cumsum(1), counts.sum(1)
    raised = np.stack(
        [counts, *(np.where(place > k, counts, (place == k) * below) for k in place[1:])], 1
    )
    told, stratum = _told(raised, values[:, None]), np.arange(size.size)
    mean = told[1] * (size / size.sum())[:, None]
    gain = mean[:, 1:] - mean[:, :1]

    def upper(choice: np.ndarray, known: float) -> np.ndarray:
        return _upper(size, told[:, stratum, choice], values, tail, known)[0]

    best, exact, choice = monotone_limit(
        upper, float(mean[:, 0].sum()), np.where((gain > 0) & (n < size)[:, None], gain, np.inf)
    )
    return best, exact, np.take_along_axis(raised[stratum, choice], order.argsort(1), 1)


def interval_limits(
    size: np.ndarray, counts: np.ndarray, values: np.ndarray, low: Any, high: Any
) -> tuple:
    """Return what becomes of limits (...,): attainable means, within what the labels prove.

    Parameters
    ----------
    size : (H,) array
    counts : (..., H, V) array
        Rows are outcomes, with as many labels of a stratum in each.
    values : (H, V) array
    low, high : (...,) array or float
    """
    low, high = attainable_limits(low, high, size, counts, values)
    least, most = proven_values(size, counts, values)
    return np.maximum(low, least), np.minimum(high, most)


def upper_limit(size: np.ndarray, counts: np.ndarray, values: np.ndarray, tail: float) -> tuple:
    """Return the `limit_of_moments` of outcomes, and the stratum that alone decides each, else -1.

    Parameters
    ----------
    size : (H,) array
    counts : (..., H, V) array
        Rows are outcomes.
    values : (H, V) array
    tail : float
    """
    return _upper(size, _told(counts, values), values, tail)


def _upper(
    size: np.ndarray, told: np.ndarray, values: np.ndarray, tail: float, enough: float = np.inf
) -> tuple:
    n, *moments, least, most = told
    return limit_of_moments(
        size / size.sum(),
        np.where(n < size, 1 - n / size, 0.0),
        n,
        moments,
        (least, most),
        values.min(-1),
        values.max(-1),
        tail,
        enough=enough,
    )


def proven_values(size: np.ndarray, counts: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest mean that the labels allow, each (...,) float."""
    seen, unseen = (counts * values).sum((-2, -1)), size - counts.sum(-1)
    return tuple(
        (seen + (unseen * end).sum(-1)) / size.sum() for end in (values.min(-1), values.max(-1))
    )


def _told(counts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return number, mean, second and third central moment, least and most of the labels, (6, ..., H)."""
    n, seen = counts.sum(-1), counts > 0
    share = counts / np.maximum(n, 1)[..., None]
    mean = (share * values).sum(-1)
    off = values - mean[..., None]
    return np.stack(
        [
            n,
            mean,
            (share * off**2).sum(-1),
            (share * off**3).sum(-1),
            np.where(seen, values, np.inf).min(-1),
            np.where(seen, values, -np.inf).max(-1),
        ]
    )


def check_table(
    stratum_size: ArrayLike, counts: ArrayLike, values: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sizes (H,), counts (H, V) and values (H, V), or raise naming the stratum."""
    size = checks.counts("stratum_size", stratum_size, low=1)
    table, values = checks.plain_array("counts", counts), checks.floats("values", values)
    if table.ndim != 2 or len(table) != size.size or not table.shape[1]:
        raise checks.WrongValue(
            "counts",
            f"must have a row for each of {size.size} strata and a column per value; "
            f"got shape {table.shape}",
        )
    table = np.stack(
        [checks.counts("counts", row, what=f"stratum {h}, value") for h, row in enumerate(table)]
    )
    if values.shape not in (table.shape, table.shape[1:]) or not np.isfinite(values).all():
        raise checks.WrongValue(
            "values",
            f"must be finite, one for each of {table.shape[1]} columns of counts, or a "
            f"row of them per stratum; got shape {values.shape}",
        )
    if abs(values).max() > LARGEST_VALUE:
        raise checks.WrongValue("values", f"must be at most {LARGEST_VALUE:g} in size")
    intervals.refuse_few(size, table.sum(1))
    return size, table, np.broadcast_to(values, table.shape)


def attainable_limits(
    low: Any, high: Any, size: np.ndarray, counts: np.ndarray, values: np.ndarray
) -> tuple:
    """Return the outermost means that a population can have at less than one item beyond the limits, (...,) float.

    Parameters
    ----------
    low, high : (...,) array or float
        Limits as they are computed.
    size : (H,) array
    counts : (..., H, V) array
        As many labels of a stratum in each row.
    values : (H, V) array
    """
    labeled = counts.sum(-1)
    sampled = labeled.reshape(-1, size.size)[0] < size
    least, population = values.min(1), size.sum()
    item = (values.max(1) - least)[sampled].max(initial=0.0)
    step = _common_step(values[sampled])
    offset = np.where(sampled, size * least, (counts * values).sum(-1)).sum(-1)
    if not step:
        return offset / population, offset / population
    if item * population > FINEST * step:
        return low - item / population, high + item / population
    below = np.floor((low * population - item - offset) / step + TOUCHING) + 1
    above = np.ceil((high * population + item - offset) / step - TOUCHING) - 1
    return (offset + step * below) / population, (offset + step * above) / population


def _common_step(values: np.ndarray) -> float:
    """Return the largest number of which all distances within rows are multiples, as they are written in decimals."""
    rows = [[Fraction(repr(value)) for value in row] for row in np.unique(values, axis=0).tolist()]
    distances = {value - min(row) for row in rows for value in row}
    return float(
        Fraction(
            math.gcd(*(d.numerator for d in distances)),
            math.lcm(*(d.denominator for d in distances)),
        )
    )
