"""Two models on the same items under one judge: their difference from verdicts on all items and labels of some.

Both intervals add z^2 / 3 items on which only A is right and as many on which only B is, and neither has a proof. Least
coverage found at 95%: ``tests/peers/judged_coverage.py``.
"""

import numpy as np
import scipy.special
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation.rules import allocate
from workbench.intervals.values import check_table
from workbench.results import Interval, Note
from workbench.stratified.differences import VALUES

PAIRS = ((1, 1), (1, 0), (0, 1), (0, 0))    # verdicts on A and B
SPREAD = (0.4, 0.6, 0.6, 0.5)               # of the difference, by these verdicts
LEAST = 4
UNPROVEN = Note("assumption", "the interval is one with labels added: the least coverage that a search found at 95% "
                "stands in its record, there is no proof")


def judged_labels(size: ArrayLike, budget: int) -> np.ndarray:
    """Return how many items of each pair of verdicts to label, (4,) int, for `judged_interval`.

    Parameters
    ----------
    size : (4,) array_like of int
        Items by the verdicts on A and B: both right, only A, only B, neither.
    budget : int
        Labels in all; every pair gets at least 4, or all of its items.

    Examples
    --------
    >>> judged_labels([1400, 250, 200, 150], 100).tolist()
    [62, 17, 13, 8]
    """
    size = checks.counts("size", size, size=len(PAIRS))
    some = size > 0
    labeled = np.zeros(len(PAIRS), int)
    labeled[some] = allocate(size[some], budget, "neyman_plus", stratum_sd=np.array(SPREAD)[some],
                             minimum=LEAST).labeled
    return labeled


def judged_interval(size: ArrayLike, counts: ArrayLike, *, level: float = 0.95) -> Interval:
    r"""Return an interval of the difference of two models' accuracies, from labels drawn by pairs of verdicts.

    Parameters
    ----------
    size : (H,) array_like of int
        Items per pair of verdicts that there is.
    counts : (H, 3) array_like of int
        Labels of each: only B right, both alike, only A right; drawn as `judged_labels` says.
    level : float
        Nominal coverage in (0, 1).

    Returns
    -------
    Interval

    Notes
    -----
    Of the k = z^2 / 3 items that are added at +1 and at -1 a stratum gets the share that W^2 f / n has of its sum, f =
    1 - n / N. With these the difference is sum W mean, its variance sum W^2 f s^2 / (n + 2k), and the interval that of
    t with n - H degrees of freedom.

    Examples
    --------
    >>> judged_interval([1400, 250, 200, 150], [[3, 60, 2], [2, 6, 8], [7, 5, 2], [0, 5, 0]])
    Interval(-0.0799 to 0.08078, 0.95 judged)
    """
    size, counts, _ = check_table(size, counts, VALUES)
    low, high = judged_limits(size, counts, checks.level(level))
    return Interval(float(low), float(high), level, "judged", notes=[
        UNPROVEN, *intervals.few_notes(size, counts.sum(1))])


def judged_limits(size: np.ndarray, counts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits (...,) of `judged_interval`, from counts (..., H, 3)."""
    n, weight = counts.sum(-1), size / size.sum()
    left = weight**2 * (1 - n / size) / n
    added = intervals.added_labels(level) * left / np.maximum(left.sum(-1, keepdims=True), 1e-300)
    m = n + 2 * added
    mean = counts @ VALUES / m
    variance = left * n * ((counts @ VALUES**2 + 2 * added) / m - mean**2) / np.maximum(m - 1, 1)
    return _within(mean @ weight, variance.sum(-1), n.sum(-1) - len(size), level)


def regression_interval(size: ArrayLike, counts: ArrayLike, *, level: float = 0.95) -> Interval:
    r"""Return an interval of the difference of two models' accuracies, from labels of a random sample of all items.

    Parameters
    ----------
    size : (3,) array_like of int
        Items on which the verdict is: only B right, alike, only A right.
    counts : (3, 3) array_like of int
        Labels, rows by verdict, columns by what people say, in the same order.
    level : float
        Nominal coverage in (0, 1).

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If there are fewer than 3 labels, or more than items.

    Notes
    -----
    With f = -1, 0, 1 the verdict on an item and z the label, slope b = cov(z, f) / var(f), within 0 to 1 and its
    denominator over all items, and residuals r = z - b f,

    .. math:: D = b \bar f_N + \bar r, \quad v = \frac{1 - n/N}{m - 1} \Big(\frac{\sum r^2 + 2k}{m} - \bar r^2\Big),

    k = z^2 / 3 residuals of +1 and of -1 among the m = n + 2k; limits by t with n - 2 degrees of freedom: the
    prediction-powered estimate [1]_ with labels added.

    References
    ----------
    .. [1] Angelopoulos, Duchi & Zrnic, PPI++: efficient prediction-powered inference, arXiv 2311.01453, 2023.

    Examples
    --------
    >>> regression_interval([200, 1550, 250], [[6, 3, 1], [5, 70, 3], [1, 4, 7]])
    Interval(-0.09183 to 0.07778, 0.95 regression)
    """
    size = checks.counts("size", size, size=len(VALUES))
    table = np.stack([checks.counts("counts", row, size=len(VALUES), what="value") for row in np.asarray(counts)])
    checks.at_most("counts", table.sum(1), "size", size, what="verdict")
    if table.sum() < 3:
        raise checks.WrongValue("counts", "must hold at least 3 labels", table.sum())
    low, high = regression_limits(size, table, checks.level(level))
    return Interval(float(low), float(high), level, "regression", notes=[UNPROVEN])


def regression_limits(size: np.ndarray, counts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits (...,) of `regression_interval`, from counts (..., 3, 3)."""
    n, total, k = counts.sum((-1, -2)), size.sum(), intervals.added_labels(level)
    mean_verdict = size @ VALUES / total
    spread = size @ VALUES**2 / total - mean_verdict**2
    by_verdict, by_label = counts.sum(-1), counts.sum(-2)
    together = np.einsum("...ij,i,j->...", counts, VALUES, VALUES)
    covariance = (together - (by_verdict @ VALUES) * (by_label @ VALUES) / n) / (n - 1)
    slope = np.clip(covariance / spread, 0, 1) if spread > 0 else 0 * covariance
    residual = VALUES - np.multiply.outer(slope, VALUES)[..., None]
    m = n + 2 * k
    mean = (counts * residual).sum((-1, -2)) / m
    variance = (1 - n / total) * (((counts * residual**2).sum((-1, -2)) + 2 * k) / m - mean**2) / (m - 1)
    return _within(slope * mean_verdict + mean, variance, n - 2, level)


def _within(center: np.ndarray, variance: np.ndarray, df: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of t within -1 and 1."""
    reach = scipy.special.stdtrit(np.maximum(df, 1), (1 + level) / 2) * np.sqrt(variance)
    return np.maximum(center - reach, -1), np.minimum(center + reach, 1)
