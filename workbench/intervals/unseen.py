"""Value of an item that the sample does not contain, in limits for values other than 0 and 1.

An upper limit adds one more item to the sample. The bounded interval puts it at the largest
possible value. The default interval moves it towards the largest value seen, by a degree from 0 to
1. The degree is 1 if many items make up the spread on that side, and 0 with at most three values.

`carried` returns the degree, and `unseen_values` the value of the item.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy import ndarray

from workbench.intervals.limits import Number
from workbench.results import Note, digits

# ``tests/peers/interval_constants.json`` records the least coverage and the mean width of graded
# scores with half and with twice each of these constants.
#
# Items that must make up the spread on a side: one is not enough, four are. With Poisson(4) far
# values in expectation a sample shows none of them in 2% of cases, about one tail of an interval.
FEW_CARRIERS = 1.0
ENOUGH_CARRIERS = 4.0
# Part of the variance of x^3 that 1, x and x^2 leave over: 0 where there are at most three values.
# The first is what rounding leaves of 0. The second only has to be far above it, so that a fourth
# value that differs from another by rounding changes the limits little.
ROUNDING = 1e-6
MORE_THAN_THREE = 5e-4
# Standard deviation over the distance of the bounds below which a sample counts as of one value. It
# is below the step of any scale in use, 1 in 100, and far above rounding.
LEAST_SPREAD = 1e-3

UNSEEN = "If the population may contain values inside the known bounds that this sample lacks"


def carried(
    weight: Number,
    values: ndarray,
    deviations: ndarray,
    reach: Number,
    count: Number = 1.0,
) -> ndarray:
    """Return the degree, from 0 to 1, to which a sample shows where large values end, (...).

    Parameters
    ----------
    weight : (n, ...) array or float
        Weight of each item in the mean, up to a factor.
    values : (n, ...) array
    deviations : (n, ...) array
        Values minus the mean of their stratum.
    reach : (...) array or float
        Distance between the bounds.
    count : (n, ...) array or float
        Number of items that have this value.

    Notes
    -----
    Let x be the deviations times the weights. The number of items that make up the spread on the
    upper side is::

        K = (sum x+)^2 / sum (x+)^2.

    The degree rises from 0 at K = 1 to 1 at K = 4. It is 0 with at most three values, because such
    a sample cannot show which others are missing. It is also 0 if the values are nearly equal.

    Examples
    --------
    >>> graded = np.linspace(0.2, 0.8, 30)
    >>> round(float(carried(1.0, graded, graded - graded.mean(), 1.0)), 6)
    1.0
    >>> yes_or_no = np.repeat([0.0, 1.0], 15)
    >>> float(carried(1.0, yes_or_no, yes_or_no - 0.5, 1.0))
    0.0
    """
    items = np.broadcast_to(weight * count, values.shape)
    share = items / items.sum(0)
    above = np.maximum(deviations, 0.0) * weight
    total = (count * above).sum(0)
    squares = (count * above**2).sum(0)
    carriers = _over(total**2, squares)
    many = ((carriers - FEW_CARRIERS) / (ENOUGH_CARRIERS - FEW_CARRIERS)).clip(0, 1)
    kinds = ((_beyond_three(share, values) - ROUNDING) / MORE_THAN_THREE).clip(0, 1)
    spread = (share * deviations**2).sum(0) ** 2
    least = (LEAST_SPREAD * reach) ** 4
    return many * kinds * _over(spread, spread + least)


def unseen_values(
    mean: ndarray,
    most: ndarray,
    farthest: Number,
    high: Number,
    trusted: Number,
) -> ndarray:
    """Return the value of one more item of each stratum, (..., H).

    Parameters
    ----------
    mean, most : (..., H) array
        Mean and largest value of the items of each stratum.
    farthest : (..., 1) array or float
        Largest deviation of an item from the mean of its stratum.
    high : (H,) array or float
        Largest possible value.
    trusted : (..., 1) array or float
        Degree that `carried` returns.
    """
    seen = np.minimum(high, np.maximum(most, mean + farthest))
    return high - trusted * (high - seen)


def one_more_value(
    values: ndarray,
    mean: ndarray,
    high: float,
    reach: float,
) -> ndarray:
    """Return the value of one more item in the upper limit of each column of one sample, (V,).

    Parameters
    ----------
    values : (n, V) array
    mean : (V,) array
    high, reach : float
        Largest possible value, and its distance from the smallest one.
    """
    most = values.max(0)
    deviations = values - mean
    trusted = carried(1.0, values, deviations, reach)
    return unseen_values(mean, most, most - mean, high, trusted)


def bounded_notes(limits: Sequence, bounded: Sequence, *, of: str = "") -> Iterator[Note]:
    """Yield a note with the bounded limits and their meaning, if they read unlike the limits.

    Parameters
    ----------
    limits, bounded : (float, float)
    of : str
        Name of the quantity, if the reader would not know it.
    """
    half_width = (bounded[1] - bounded[0]) / 2
    low, high, *texts = digits.numbers(*limits, *bounded, error=half_width)
    if [low, high] != texts:
        subject = f"the interval of {of}" if of else "the interval"
        yield Note("assumption", f"{UNSEEN}, {subject} is {' to '.join(texts)}")


def _beyond_three(share: ndarray, values: ndarray) -> ndarray:
    """Return the part of the variance of x^3 that 1, x and x^2 do not explain, (...).

    It is 0 if and only if the values are at most three.
    """

    def average(terms: ndarray) -> ndarray:
        return (share * terms).sum(0)

    off = values - average(values)
    scale = np.sqrt(average(off**2))
    x = off / np.where(scale > 0, scale, 1.0)
    x2 = x * x  # products, as numpy takes powers above 2 a hundred times more slowly
    x3 = x2 * x
    m3 = average(x3)
    m4 = average(x2 * x2)
    m5 = average(x2 * x3)
    m6 = average(x3 * x3)
    square = m4 - m3**2 - 1  # variance of x^2 that 1 and x do not explain
    common = m5 - m3 * m4 - m3  # covariance of that part and x^3
    cube = m6 - m3**2 - m4**2  # variance of x^3 that 1 and x do not explain
    varies = square > ROUNDING
    unexplained = cube - common**2 / np.where(varies, square, 1)
    return np.where(varies, _over(unexplained, m6 - m3**2), 0.0)


def _over(numerator: ndarray, denominator: ndarray) -> ndarray:
    """Return a ratio (...), 0 where it is 0/0."""
    zeros = np.zeros(np.shape(denominator))
    return np.divide(numerator, denominator, out=zeros, where=denominator > 0)
