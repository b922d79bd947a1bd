"""Bias and variance of the estimators of the shares of any number of classes, by expansion.

The expansion is around the expected counts. `shares_theory` is the entry.

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
    """Bias and variance of the estimators of shares; made by `shares_theory`.

    Attributes
    ----------
    bias, variance : dict of method to (K,) array
        To first order in 1/n; NaN where P(prediction | truth) cannot be inverted.
    shares, new_shares : (K,) array
    reading : (K, K) array
    n : int
    size, new_size : int or None
    rates : str
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
        """Root mean squared error (K,) per method."""
        return {
            method: np.sqrt(value + self.bias[method] ** 2)
            for method, value in self.variance.items()
        }

    def headline(self) -> str:
        """Return the methods with the least and the largest error of all classes together."""
        kinds = checks.counted(len(self.shares), "class", "classes")
        return f"{kinds}, {self.n:,} audited: {best_and_worst(self.rmse)}"

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
    """Return bias and variance of the estimators of the shares of K classes.

    `workbench.estimator_theory` has closed forms for two classes.

    Parameters
    ----------
    shares, new_shares : (K,) array_like
        True shares when the audit was drawn, above 0, and in the period that is estimated; each
        adds up to 1.
    reading : (K, K) array_like
        P(prediction | truth), rows truth; constant.
    n, size, new_size, rates
        As in `workbench.estimator_theory`.

    Returns
    -------
    SharesTheory

    Notes
    -----
    With f the estimator as a function of the audit's shares p of cells, e_c those of an audit that
    is all in cell c: the bias is f - truth where everything is as expected, plus sum_c p_c f''(p;
    e_c - p) / (2 n), the second derivative along e_c - p. The variance is that of the slopes of f
    by cells, by the frame's and by the period's counts.

    Examples
    --------
    >>> reading = [[.9, .06, .04], [.1, .8, .1], [.02, .08, .9]]
    >>> print(shares_theory([.5, .3, .2], [.4, .3, .3], reading, 1000).headline())
    3 classes, 1,000 audited: least error mle (RMSE 0.01567), largest baseline (0.1436)
    """
    shares, new, reading = check_shares(shares, new_shares, reading)
    if new.ndim > 1:
        raise WrongValue("new_shares", "must be of one period", new.tolist())
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
    """Return shares (K,), new ones (..., K) and P(prediction | truth) (K, K), or raise."""
    shares = _summing("shares", checks.vector("shares", shares, low=0, high=1))
    if shares.size < 2 or not shares.all():
        rule = "must be above 0, of two classes or more"
        raise WrongValue("shares", rule, shares.tolist())
    new = _summing("new_shares", checks.floats("new_shares", new_shares))
    reading = _summing("reading", checks.floats("reading", reading))
    if new.shape[-1:] != shares.shape or reading.shape != (shares.size,) * 2:
        raise WrongValue(
            "new_shares and reading",
            f"must be of {shares.size} classes, as shares are; got "
            f"shapes {new.shape} and {reading.shape}",
        )
    return shares, new, reading


def _summing(name: str, values: ndarray) -> ndarray:
    if not (values >= 0).all() or not values.ndim or (np.abs(values.sum(-1) - 1) > SUM).any():
        rule = "must hold shares, none below 0, that add up to 1"
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
