"""Confidence intervals for a weighted mean of values other than 0 and 1, D = sum_k W_k mean_k.

They generalize the default interval of `workbench.intervals`. The quantile is that of a beta
distribution with three matched moments, which include an unseen item. In the bounded interval this
item lies at the largest declared value of its stratum. The better the labels show the range of the
values, the closer it is to the largest value seen in the default interval. With at most three
values, such as 0 and 1, both intervals are the same.

We have no proof. In an adversarial search over 37,938 designs (``tests/peers/search_values.py``),
the 95% interval covered the true value in at least 94.9% of samples. The values were -1, 0, 1; 0,
.5, 1; or 0, 1, 10. Some designs mix strata of -1, 0, 1 with strata of 0 and 1, or with fully
labeled strata.

Start with `value_interval`; `interval_of` puts the limits together.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.intervals.limits import (
    Number,
    limit_of_moments,
    limiting_stratum,
    monotone_limit,
)
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
    """Compute a confidence interval for the mean of values from a stratified simple random sample.

    Use it for graded scores, or for differences such as -1, 0 and 1. For labels that are correct or
    incorrect, use `stratified_interval`.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Items per stratum, N_h >= 1.
    counts : (H, V) array_like of int
        Labels per stratum and value, at least 2 per stratum unless it is fully labeled. The number
        of labels per stratum must have been fixed before any label was seen.
    values : (V,) or (H, V) array_like of float
        All values that an item can have, seen or not. The smallest and the largest value of a
        stratum bound its unseen items.
    level : float, default 0.95
        Confidence level, between 0 and 1.
    method : {"default", "bounded", "t"}, default "default"
        "bounded" is valid even if the population contains values inside the bounds that the sample
        does not contain. "default" is the same for at most three values, such as 0 and 1 or -1, 0
        and 1. The better the labels show the range of graded values, the shorter it is. "t" is
        Student's t with Satterthwaite's degrees of freedom.

    Returns
    -------
    Interval
        Lower and upper limit of sum_h W_h mean_h, W_h = N_h / N, within the means that the labels
        allow. `bounded` holds the bounded limits if they differ.

    Raises
    ------
    ValueError
        If an argument is out of its domain; the message names the stratum.

    See Also
    --------
    stratified_interval : Compute an interval for a proportion.
    estimate_values : Estimate the mean of values from a stratified sample.
    compare_items : Compare two models by the mean score of items.

    Notes
    -----
    The bounded interval uses the moments of the labels in each stratum: the mean m and the central
    moments m2 and m3. With f = 1 - n/N, a stratum contributes::

        v = W^2 f m2 / (n - 1)
        t = 2 W^3 f^1.5 m3 / ((n + 1)(n + 2))

    to the variance and to the third moment. The upper limit is the largest of several candidates:

    - For each stratum, one more label at its largest value. The moments are those of n + 1 labels,
      with divisors n + 2 and (n + 2)(n + 3).
    - Several strata merged into one. These are strata whose labels are equal, or closer to each
      other than their highest label is to the largest value. They are sorted by W (largest - m) /
      n, and the first two, three, ... are merged. The n labels of the merged stratum happened to
      miss the largest value.

    Each candidate gives the quantile of a beta distribution that ends at the largest possible mean.
    The lower limit is that of the negated values. Fully labeled strata are constants. The
    construction is that of the default interval for proportions. It combines Beta(x + 1, n - x)
    [1]_ with an unseen item of the worst weight [2]_.

    The interval is then extended outward to means that the population can have. Let s N be the
    largest distance of two values of one stratum, the most by which one item can move the total.
    The interval extends to the possible means at less than s beyond its limits. With 0 and 1, this
    rounds outward to whole items. Possible means lie g / N apart. All distances of values within a
    stratum are multiples of g, the largest such number.

    The better the sample shows where values end, the further the default interval moves the
    additional label towards the largest value seen: see `workbench.intervals.unseen`. If strata
    have few labels, its standard deviation is multiplied by a ratio of two quantiles of Student's
    t. One has Satterthwaite's degrees of freedom [3]_, the other those of one sample with as many
    labels.

    References
    ----------
    .. [1] Clopper & Pearson, The use of confidence or fiducial limits, Biometrika 26, 1934.
    .. [2] Fay & Feuer, Confidence intervals for directly standardized rates, Statistics in
       Medicine 16, 1997.
    .. [3] Satterthwaite, An approximate distribution of estimates of variance components,
       Biometrics Bulletin 2, 1946.

    Examples
    --------
    >>> value_interval([600, 400], [[8, 3, 14], [5, 2, 18]], [-1, 0, 1])
    Interval(0.074 to 0.594, 0.95 default)
    """
    size, counts, values = check_table(stratum_size, counts, values)
    checks.level(level)
    checks.choice("method", method, METHODS)
    return interval_of(size, counts, values, float(level), method=method)


def interval_of(
    size: ndarray,
    counts: ndarray,
    values: ndarray,
    level: float,
    constants: int = 0,
    method: str = "default",
) -> Interval:
    """Return the interval of checked arguments.

    The last `constants` strata are known without labels. They count as fully labeled, and the notes
    on labels do not count them.
    """
    tail = (1 - level) / 2
    *raw, exact = raw_limits(size, counts, values, level)
    bounded = tuple(map(float, interval_limits(size, counts, values, *raw)))
    low, high = bounded
    if method != "bounded":
        moments = moments_of(size, counts, values)
        if method == "t":
            limits = moments.t_limits(tail)
        else:
            limits = between(moments.limits(tail), raw, bounded, moments.trusted)
        proven = proven_values(size, counts, values)
        low, high = np.clip(limits, *proven).tolist()
    _, lower = upper_limit(size, counts, -values, tail)
    _, upper = upper_limit(size, counts, values, tail)
    sampled = slice(len(size) - constants)
    size = size[sampled]
    labeled = counts[sampled].sum(1)
    limiting = limiting_stratum(size, labeled, lower, upper)
    notes = list(intervals.few_notes(size, labeled))
    notes += intervals.limiting_notes(size, labeled, limiting)
    notes += intervals.exact_notes(exact)
    notes += bounded_notes((low, high), bounded)
    differing = None if bounded == (low, high) else bounded
    return Interval(low, high, level, method, limiting, differing, notes=notes)


def moments_of(size: ndarray, counts: ndarray, values: ndarray) -> SampledMoments:
    """Return the moments of labels, (H, V) counts of values (H, V)."""
    stratum = np.repeat(np.arange(size.size), counts.shape[1])
    weight = size / size.sum()
    free = 1 - counts.sum(1) / size
    low = values.min(1)
    high = values.max(1)
    return SampledMoments.of_values(
        weight,
        free,
        stratum,
        values.ravel(),
        low,
        high,
        counts.ravel(),
    )


def between(
    limits: Sequence,
    raw: Sequence,
    rounded: Sequence,
    trusted: ndarray,
) -> tuple[float, float]:
    """Return default limits rounded outward to the degree that the sample is not trusted.

    Parameters
    ----------
    limits : (float, float)
    raw, rounded : (float, float)
        The bounded limits before and after they were rounded outward. The result lies within them.
    trusted : (2,) array
    """
    outward = np.array([-1, 1])
    ends, start, end = outward * (limits, raw, rounded)
    rounding = (1 - trusted) * np.maximum(end - start, 0.0)
    ends = np.minimum(ends + rounding, end)
    low, high = outward * np.where(trusted > 0, ends, end)
    return float(low), float(high)


def raw_limits(
    size: ndarray,
    counts: ndarray,
    values: ndarray,
    level: float,
) -> tuple[float, float, bool]:
    """Return both limits before they are moved to attainable means, and whether they are exact."""
    tail = (1 - level) / 2
    low, exact_low, _ = monotone_upper(size, counts, -values, tail)
    high, exact_high, _ = monotone_upper(size, counts, values, tail)
    return -low, high, exact_low and exact_high


def monotone_upper(
    size: ndarray,
    counts: ndarray,
    values: ndarray,
    tail: float,
) -> tuple[float, bool, ndarray]:
    """Return the least `upper_limit` of an outcome (H, V) and of higher ones, and its outcome.

    The second value tells whether the limit is exact. In a higher outcome, all labels below some
    value lie at that value, which may differ between strata.
    """
    order = values.argsort(1, kind="stable")
    values = np.take_along_axis(values, order, 1)
    counts = np.take_along_axis(counts, order, 1)
    strata, options = counts.shape
    above = np.triu(np.repeat(counts[:, None], options, 1), 1)
    at_value = np.eye(options, dtype=int) * counts.cumsum(1)[:, None]
    raised = above + at_value
    moments = _label_moments(raised, values[:, None])
    stratum = np.arange(strata)
    n, mean, *_ = moments
    mean = mean * (size / size.sum())[:, None]
    gain = mean[:, 1:] - mean[:, :1]
    fully_labeled = n[:, :1] >= size[:, None]
    gain[(gain <= 0) | fully_labeled] = np.inf

    def upper(choice: ndarray, enough: float) -> ndarray:
        chosen = moments[:, stratum, choice]
        return _upper(size, chosen, values, tail, enough)[0]

    estimate = float(mean[:, 0].sum())
    best, exact, choice = monotone_limit(upper, estimate, gain)
    outcome = raised[stratum, choice]
    return best, exact, np.take_along_axis(outcome, order.argsort(1), 1)


def interval_limits(
    size: ndarray,
    counts: ndarray,
    values: ndarray,
    low: Number,
    high: Number,
) -> tuple:
    """Return limits (...,) moved outward to the means that a population can have.

    They are the outermost possible means that lie less than one item beyond the limits and within
    the means that the labels allow.

    Parameters
    ----------
    size : (H,) array
    counts : (..., H, V) array
        Rows are outcomes. All have the same number of labels per stratum.
    values : (H, V) array
    low, high : (...,) array or float
    """
    labeled = counts.sum(-1)
    least = values.min(1)
    population = size.sum()
    sampled = labeled.reshape(-1, size.size)[0] < size
    item = (values.max(1) - least)[sampled].max(initial=0.0)
    step = _common_step(values[sampled])
    labels = (counts * values).sum(-1)
    offset = np.where(sampled, size * least, labels).sum(-1)
    if item * population > FINEST * step:
        low = low - item / population
        high = high + item / population
    elif not step:
        low = high = offset / population
    else:
        first = (low * population - item - offset) / step
        first = np.floor(first + TOUCHING) + 1
        last = (high * population + item - offset) / step
        last = np.ceil(last - TOUCHING) - 1
        low = (offset + step * first) / population
        high = (offset + step * last) / population
    least, most = proven_values(size, counts, values)
    return np.maximum(low, least), np.minimum(high, most)


def upper_limit(
    size: ndarray,
    counts: ndarray,
    values: ndarray,
    tail: float,
) -> tuple:
    """Return the `limit_of_moments` of outcomes, and the stratum that alone decides each, or -1.

    Parameters
    ----------
    size : (H,) array
    counts : (..., H, V) array
        Rows are outcomes.
    values : (H, V) array
    tail : float
    """
    return _upper(size, _label_moments(counts, values), values, tail, np.inf)


def _upper(
    size: ndarray,
    label_moments: ndarray,
    values: ndarray,
    tail: float,
    enough: float,
) -> tuple:
    n, *moments, least, most = label_moments
    weight = size / size.sum()
    free = 1 - n / size
    ends = (least, most)
    low = values.min(-1)
    high = values.max(-1)
    return limit_of_moments(weight, free, n, moments, ends, low, high, tail, enough=enough)


def proven_values(size: ndarray, counts: ndarray, values: ndarray) -> tuple[float, float]:
    """Return the smallest and the largest mean that the labels allow, each (...,) float."""
    seen = (counts * values).sum((-2, -1))
    unseen = size - counts.sum(-1)
    least = seen + (unseen * values.min(-1)).sum(-1)
    most = seen + (unseen * values.max(-1)).sum(-1)
    population = size.sum()
    return least / population, most / population


def _label_moments(counts: ndarray, values: ndarray) -> ndarray:
    """Return number, mean, two central moments, smallest and largest label, (6, ..., H)."""
    n = counts.sum(-1)
    seen = counts > 0
    share = counts / np.maximum(n, 1)[..., None]
    mean = (share * values).sum(-1)
    off = values - mean[..., None]
    second = (share * off**2).sum(-1)
    third = (share * off**3).sum(-1)
    least = np.where(seen, values, np.inf).min(-1)
    most = np.where(seen, values, -np.inf).max(-1)
    return np.stack([n, mean, second, third, least, most])


def check_table(
    stratum_size: ArrayLike, counts: ArrayLike, values: ArrayLike
) -> tuple[ndarray, ndarray, ndarray]:
    """Return sizes (H,), counts (H, V) and values (H, V); an error names the stratum."""
    size = checks.counts("stratum_size", stratum_size, low=1)
    table = checks.plain_array("counts", counts)
    values = checks.floats("values", values)
    if table.shape[:-1] != size.shape:
        raise checks.WrongValue(
            "counts",
            f"must have a row for each of {size.size} strata and a column per value; "
            f"got shape {table.shape}",
        )
    rows = []
    for h, row in enumerate(table):
        rows.append(checks.counts("counts", row, what=f"stratum {h}, value"))
    table = np.stack(rows)
    if values.shape not in (table.shape, table.shape[1:]) or not np.isfinite(values).all():
        raise checks.WrongValue(
            "values",
            f"must be finite, one value for each of {table.shape[1]} columns of counts, or one row "
            f"of values per stratum; got shape {values.shape}",
        )
    if abs(values).max() > LARGEST_VALUE:
        raise checks.WrongValue("values", f"must be at most {LARGEST_VALUE:g} in size")
    intervals.refuse_few(size, table.sum(1))
    return size, table, np.broadcast_to(values, table.shape)


def _common_step(values: ndarray) -> float:
    """Return the largest number of which all distances within rows are multiples, in decimals."""
    distances = set()
    for row in np.unique(values, axis=0).tolist():
        decimals = [Fraction(repr(value)) for value in row]
        distances |= {value - min(decimals) for value in decimals}
    numerator = math.gcd(*(distance.numerator for distance in distances))
    denominator = math.lcm(*(distance.denominator for distance in distances))
    return float(Fraction(numerator, denominator))
