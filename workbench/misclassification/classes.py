"""Bias and variance of the estimators of the proportions of any number of classes.

They follow from an expansion around the expected counts. Read `shares_theory` first.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics,
   Statistical Journal of the IAOS 37, 2021: two classes, in closed form.
"""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.misclassification import methods
from workbench.misclassification.theory import best_and_worst, check_sizes
from workbench.results import Result

STEP = 1e-4
SUM = 1e-9


class SharesTheory(Result):
    """Bias and variance of the estimators of class proportions; made by `shares_theory`.

    Attributes
    ----------
    bias, variance : dict of method to (K,) array
        Bias and variance to first order in 1/n; NaN if P(prediction | truth) cannot be inverted.
    shares, new_shares : (K,) array
        True proportions at audit time and in the new period.
    reading : (K, K) array
        P(prediction | truth).
    n : int
        Number of audited items.
    size, new_size : int or None
        Number of counted items at audit time and in the new period.
    rates : str
        Whether the new period shares the "process" or the "frame" of the audit.

    See Also
    --------
    shares_theory : Compute these figures.
    estimator_theory : Closed forms for two classes.
    """

    bias: dict
    variance: dict
    shares: ndarray
    new_shares: ndarray
    reading: ndarray
    n: int
    size: int | None
    new_size: int | None
    rates: str

    @property
    def rmse(self) -> dict[str, ndarray]:
        """Return the root mean squared error (K,) of each method."""
        return {
            method: np.sqrt(value + self.bias[method] ** 2)
            for method, value in self.variance.items()
        }

    def headline(self) -> str:
        """Return the methods with the smallest and the largest error over all classes."""
        kinds = checks.counted(len(self.shares), "class", "classes")
        return f"{kinds}, {self.n:,} audited items: {best_and_worst(self.rmse)}"

    def rows(self) -> list[dict]:
        """Return one row per method and class."""
        rmse = self.rmse
        rows = []
        for method, bias in self.bias.items():
            for label, share in enumerate(self.new_shares.tolist()):
                row = {"method": method, "label": label, "true_share": share}
                row["bias"] = float(bias[label])
                row["sd"] = float(self.variance[method][label] ** 0.5)
                row["rmse"] = float(rmse[method][label])
                rows.append(row)
        return rows


def shares_theory(
    shares: ArrayLike,
    new_shares: ArrayLike,
    reading: ArrayLike,
    n: int,
    *,
    size: int | None = None,
    new_size: int | None = None,
    rates: str = "process",
) -> SharesTheory:
    """Compute bias and variance of the estimators of the proportions of any number of classes.

    Parameters
    ----------
    shares : (K,) array_like
        True proportions when the audit was sampled, all above 0; they add up to 1.
    new_shares : (K,) array_like
        True proportions in the period that is estimated; they add up to 1.
    reading : (K, K) array_like
        P(prediction | truth), true classes in rows; the same in both periods.
    n : int
        Number of audited items, at least 2.
    size : int, optional
        Number of items counted when the audit was sampled, at least n. By default infinite.
    new_size : int, optional
        Number of items counted in the new period. By default infinite.
    rates : {"process", "frame"}, default "process"
        As in `estimator_theory`.

    Returns
    -------
    SharesTheory
        Bias, variance and RMSE of each estimator and class.

    See Also
    --------
    estimator_theory : Closed forms for two classes.
    compare_estimators : Estimate the errors from an audit.

    Notes
    -----
    The estimator f is a function of the proportions p_c of the audit's cells c. The point e_c
    stands for an audit with all items in cell c. The bias is::

        f(p) - truth + sum_c p_c f''(p; e_c - p) / (2 n)

    The first part is the bias if all counts are as expected. f'' is the second derivative along the
    direction e_c - p. The variance follows from the slopes of f by the cells of the audit, by the
    counts of the frame and by the counts of the period.

    Examples
    --------
    >>> reading = [[.9, .06, .04], [.1, .8, .1], [.02, .08, .9]]
    >>> print(shares_theory([.5, .3, .2], [.4, .3, .3], reading, 1000).headline())
    3 classes, 1,000 audited items: least error mle (RMSE 0.01567), largest baseline (0.1436)
    """
    shares, new, reading = check_shares(shares, new_shares, reading)
    if new.ndim > 1:
        raise WrongValue("new_shares", "must be the proportions of one period", new.tolist())
    n, size, new_size = check_sizes(n, size, new_size, rates)
    bias = {}
    variance = {}
    setting = (
        shares,
        new,
        reading,
        n,
        size,
        new_size,
        rates,
    )
    for method in methods.estimators():
        bias[method], variance[method] = _moments(method, *setting)
    return SharesTheory(
        bias,
        variance,
        shares,
        new,
        reading,
        n,
        size,
        new_size,
        rates,
    )


def check_shares(
    shares: ArrayLike, new_shares: ArrayLike, reading: ArrayLike
) -> tuple[ndarray, ndarray, ndarray]:
    """Return old (K,) and new (..., K) proportions and P(prediction | truth) (K, K), or raise."""
    shares = _summing("shares", checks.vector("shares", shares, low=0, high=1))
    if shares.size < 2 or not shares.all():
        rule = "must hold at least two proportions, all above 0"
        raise WrongValue("shares", rule, shares.tolist())
    new = _summing("new_shares", checks.floats("new_shares", new_shares))
    reading = _summing("reading", checks.floats("reading", reading))
    if new.shape[-1:] != shares.shape or reading.shape != (shares.size,) * 2:
        raise WrongValue(
            "new_shares and reading",
            f"must have {shares.size} classes, as many as shares; got "
            f"shapes {new.shape} and {reading.shape}",
        )
    return shares, new, reading


def _summing(name: str, values: ndarray) -> ndarray:
    if not (values >= 0).all() or not values.ndim or (np.abs(values.sum(-1) - 1) > SUM).any():
        rule = "must hold proportions, none below 0, that add up to 1"
        raise WrongValue(name, rule, values.tolist())
    return values


def _moments(
    method: str,
    shares: ndarray,
    new: ndarray,
    reading: ndarray,
    n: int,
    size: int | None,
    new_size: int | None,
    rates: str,
) -> tuple[ndarray, ndarray]:
    """Return bias and variance, (K,) each."""
    cells = shares[:, None] * reading
    frame = shares @ reading
    predicted = new @ reading
    slopes = methods.slopes_of(method, n * cells, frame, predicted)
    if np.isnan(slopes.estimate).any():
        return slopes.estimate, slopes.estimate
    left_out = 1 - n / size if size and rates == "frame" else 1.0
    curvature = left_out / (2 * n) * _curvature(method, cells, frame, predicted)
    of_items = slopes.shares @ methods.mixture_covariance(reading, new) @ slopes.shares.T
    of_audit = methods.audit_covariance(slopes, n * cells, n, size, rates)
    covariance = of_audit + of_items / (new_size or np.inf)
    return slopes.estimate - new + curvature, np.diag(covariance)


def _curvature(
    method: str,
    cells: ndarray,
    frame: ndarray,
    predicted: ndarray,
) -> ndarray:
    """Return sum_c p_c f''(p; e_c - p), (K,), by central differences."""
    ways = np.eye(cells.size).reshape(-1, *cells.shape) - cells
    steps = (0, STEP, -STEP)
    middle, above, below = (
        methods.shares_of(method, cells + step * ways, frame, predicted) for step in steps
    )
    differences = above - 2 * middle + below
    return (cells.ravel()[:, None] * differences).sum(0) / STEP**2
