"""Estimators of class proportions from predicted counts: values, slopes and covariances.

`METHODS` lists the estimators. The functions above it are their formulas. All functions are for K
classes, accept leading axes (runs, periods) and have the classes last. They share this notation:

- `table` (..., K, K): confusion table of an audit, with true classes in rows and predicted classes
  in columns;
- `frame` (..., K): predicted proportions of the frame from which the audit was sampled;
- `shares` (..., K): predicted proportions of the period that is estimated;
- P: rates of the prediction given the truth;
- C: rates of the truth given the prediction.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics,
   Statistical Journal of the IAOS 37, 2021: the mixed estimator.
.. [2] Kloos, Meertens, Scholtus & Karch, Comparing correction methods to reduce misclassification
   bias, in Artificial Intelligence and Machine Learning, Springer 2021: the other five.
.. [3] Tenenbein, A double sampling scheme for estimating from binomial data with
   misclassifications, JASA 65, 1970.
"""

from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy import ndarray

from workbench.misclassification import setting

Frame = ndarray | None
RATES = ("process", "frame")
READING_STAYS = "P(prediction | truth) is the same as in the audit"
HALF = 0.5
SINGULAR = 1e-12


@dataclass(frozen=True)
class Method:
    """An estimator of class proportions; to add one, add an entry to `METHODS`.

    Attributes
    ----------
    name, title : str
        Name in arguments, and name in charts.
    shares : callable
        (table, frame, shares) -> estimated proportions (..., K), in the notation of this module.
    slopes : callable
        (table, frame, shares) -> the derivatives by table, frame and shares, as the fields of
        `Slopes`.
    theory : callable or None
        The result of `setting.setting` -> bias and variance of the proportion of the second of two
        classes. NaN where no formula is known.
    needs : tuple of {"rows", "columns", "frame"}
        What the method needs: audited items of every true class ("rows"), of every predicted class
        ("columns"), or the predicted counts at audit time ("frame").
    divides_by : str
        The method whose slope by counts is the inverse of P(prediction | truth) that this method
        uses; "" if it uses none.
    assumes : str
        The assumption of a constant rate, in words.
    holds : {"prediction", "truth"}
        The variable that varies in a period, given the other one.
    unknown : str
        The reason why `theory` gives NaN.
    designs : tuple of {"random", "truth", "prediction"}
        The sampling designs of an audit that the method allows.
    limits : callable or None
        (table, counts, level) -> limits of the proportion of the second of two classes. It belongs
        to a method that has the estimate of `divides_by` but its own interval. Such a method is for
        two classes only, and comparisons of estimators leave it out.
    """

    name: str
    title: str
    shares: Callable[..., ndarray]
    slopes: Callable[..., tuple]
    theory: Callable[..., tuple[Any, Any]] | None = None
    needs: tuple[str, ...] = ()
    divides_by: str = ""
    assumes: str = READING_STAYS
    holds: str = "prediction"
    unknown: str = "no formula for bias and variance is known"
    limits: Callable[..., tuple] | None = None
    designs: tuple[str, ...] = ("random",)


def estimators() -> dict[str, Method]:
    """Return the methods with an estimate of their own, by name."""
    return {name: method for name, method in METHODS.items() if not method.limits}


def estimator_of(method: str) -> str:
    """Return the estimator whose estimate a method has."""
    return METHODS[method].divides_by if METHODS[method].limits else method


def inverting() -> tuple[str, ...]:
    """Return the estimators that divide by d, or with more classes by the matrix P."""
    return tuple(name for name, method in estimators().items() if method.divides_by)


def shares_of(
    method: str,
    table: ndarray,
    frame: Frame,
    shares: Any,
) -> ndarray:
    """Return the estimated proportions of one method, (..., K); NaN where undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = METHODS[method].shares(table, frame, shares)
    shape = np.broadcast_shapes(table.shape[:-1], shares.shape)
    return np.broadcast_to(estimate, shape)


def by_row(table: ndarray) -> ndarray:
    """Return P, the rows divided by their sums."""
    return table / table.sum(-1, keepdims=True)


def by_column(table: ndarray) -> ndarray:
    """Return C, the columns divided by their sums."""
    return table / table.sum(-2, keepdims=True)


def poststratified(table: ndarray, frame: ndarray) -> ndarray:
    """Return the audit's table, its columns reweighted to the frame's predicted proportions."""
    return by_column(table) * frame[..., None, :]


def transposed_inverse(rates: ndarray) -> ndarray:
    """Return the inverse of the transposed matrices, (..., K, K); NaN where one is singular."""
    classes = rates.shape[-1]
    if classes == 2:
        cofactors = rates[..., ::-1, ::-1] * [[1, -1], [-1, 1]]
        determinant = (rates * cofactors)[..., :1, :].sum(-1, keepdims=True)
        return cofactors / np.where(np.abs(determinant) < SINGULAR, np.nan, determinant)
    determinant = np.linalg.det(rates)[..., None, None]
    invertible = np.abs(determinant) > SINGULAR
    inverse = np.linalg.inv(np.where(invertible, rates, np.eye(classes)))
    return np.where(invertible, inverse.swapaxes(-1, -2), np.nan)


def apply(matrix: ndarray, vector: ndarray) -> ndarray:
    """Return matrix @ vector over leading axes that broadcast."""
    return np.einsum("...ij,...j->...i", matrix, vector)


def _baseline(table: ndarray, frame: Frame, shares: ndarray) -> ndarray:
    return by_row(table.sum(-1))


def _classify_and_count(table: ndarray, frame: Frame, shares: ndarray) -> ndarray:
    return shares


def _subtracted_bias(table: ndarray, frame: Frame, shares: ndarray) -> ndarray:
    return 2 * shares - apply(by_row(table).swapaxes(-1, -2), shares)


def _misclassification(table: ndarray, frame: Frame, shares: ndarray) -> ndarray:
    return apply(transposed_inverse(by_row(table)), shares)


def _calibration(table: ndarray, frame: Frame, shares: ndarray) -> ndarray:
    return apply(by_column(table), shares)


def _mixed(table: ndarray, frame: ndarray, shares: ndarray) -> ndarray:
    return _calibration(table, None, frame) + _misclassification(table, None, shares - frame)


def _mle(table: ndarray, frame: ndarray, shares: ndarray) -> ndarray:
    return _misclassification(poststratified(table, frame), None, shares)


@dataclass(frozen=True)
class Slopes:
    """An estimate and its derivatives.

    Attributes
    ----------
    estimate : (..., K) array
    table : (..., K, K, K) array
        Derivative of proportion k by cell (i, j) of the audit's table.
    frame, shares : (..., K, K) array
        Derivative of proportion k by predicted proportion j of the frame and of the period.
    """

    estimate: ndarray
    table: ndarray
    frame: ndarray
    shares: ndarray

    def __sub__(self, other: "Slopes") -> "Slopes":
        """Return the slopes of a difference of two estimates; `shares` stay the first's."""
        return replace(
            self,
            estimate=self.estimate - other.estimate,
            table=self.table - other.table,
            frame=self.frame - other.frame,
        )

    def of_periods(self, periods: ndarray) -> "Slopes":
        """Return the slopes of some periods."""
        return Slopes(
            self.estimate[periods],
            self.table[periods],
            self.frame[periods],
            self.shares[periods],
        )

    def scaled(self, factor: ndarray) -> "Slopes":
        """Return the slopes of each proportion times a factor; `shares` stay unscaled."""
        column = factor[..., None]
        estimate = self.estimate * factor
        frame = self.frame * column
        return Slopes(estimate, self.table * column[..., None], frame, self.shares)

    def within_frame(self, own: bool | ndarray) -> "Slopes":
        """Return the slopes where `own` periods are the audited frame: its counts enter once."""
        own = np.asarray(own)[..., None, None]
        frame = self.frame + np.where(own, self.shares, 0)
        return replace(self, frame=frame, shares=np.where(own, 0, self.shares))


def slopes_of(
    method: str,
    table: ndarray,
    frame: Frame,
    shares: ndarray,
) -> Slopes:
    """Return the `Slopes` of a method; `frame` may be None for methods that do not use it."""
    estimate = shares_of(method, table, frame, shares)
    by_share = (*estimate.shape, table.shape[-1])
    by_cell = (*by_share, table.shape[-1])
    by_table, by_frame, by_period = METHODS[method].slopes(table, frame, shares)
    return Slopes(
        estimate,
        np.broadcast_to(by_table, by_cell),
        np.broadcast_to(by_frame, by_share),
        np.broadcast_to(by_period, by_share),
    )


def _rows_slope(inverse: ndarray, table: ndarray, parts: ndarray) -> ndarray:
    """Return the slope of inverse @ (...) by the cells of the table: -inverse dP' parts."""
    columns = inverse[..., :, None, :]
    weighted = columns * by_row(table)[..., None, :, :]
    centered = columns - weighted.sum(-1, keepdims=True)
    per_item = parts / table.sum(-1)
    return -per_item[..., None, :, None] * centered


def _columns_slope(table: ndarray, shares: Any) -> ndarray:
    """Return the slope of C @ shares by the cells of the table."""
    unit = np.eye(table.shape[-1])[:, :, None]
    per_item = shares / table.sum(-2)
    return (unit - by_column(table)[..., :, None, :]) * per_item[..., None, None, :]


def _baseline_slopes(table: ndarray, frame: Frame, shares: ndarray) -> tuple:
    rows = table.sum(-1)
    centered = np.eye(table.shape[-1]) - by_row(rows)[..., :, None]
    by_row_sum = centered / rows.sum(-1)[..., None, None]
    return by_row_sum[..., None], 0.0, 0.0


def _count_slopes(table: ndarray, frame: Frame, shares: ndarray) -> tuple:
    return 0.0, 0.0, np.eye(table.shape[-1])


def _subtracted_slopes(table: ndarray, frame: Frame, shares: ndarray) -> tuple:
    identity = np.eye(table.shape[-1])
    by_shares = 2 * identity - by_row(table).swapaxes(-1, -2)
    return _rows_slope(identity, table, shares), 0.0, by_shares


def _misclassification_slopes(table: ndarray, frame: Frame, shares: ndarray) -> tuple:
    inverse = transposed_inverse(by_row(table))
    return _rows_slope(inverse, table, apply(inverse, shares)), 0.0, inverse


def _calibration_slopes(table: ndarray, frame: Frame, shares: ndarray) -> tuple:
    return _columns_slope(table, shares), 0.0, by_column(table)


def _mixed_slopes(table: ndarray, frame: ndarray, shares: ndarray) -> tuple:
    by_table, _, inverse = _misclassification_slopes(table, None, shares - frame)
    return by_table + _columns_slope(table, frame), by_column(table) - inverse, inverse


def _mle_slopes(table: ndarray, frame: ndarray, shares: ndarray) -> tuple:
    joint = poststratified(table, frame)
    by_joint, _, inverse = _misclassification_slopes(joint, None, shares)
    weighted = by_column(table)[..., None, :, :] * by_joint
    by_frame = weighted.sum(-2)
    per_item = frame / table.sum(-2)
    centered = by_joint - by_frame[..., :, None, :]
    return per_item[..., None, None, :] * centered, by_frame, inverse


BY_TRUTH = ("random", "truth")
EVERY_DESIGN = ("random", "truth", "prediction")
BASELINE = Method(
    "baseline",
    "audit proportion",
    _baseline,
    _baseline_slopes,
    setting.baseline,
    assumes="the true proportions are the same as in the audit",
)
CLASSIFY_AND_COUNT = Method(
    "classify_and_count",
    "raw count",
    _classify_and_count,
    _count_slopes,
    setting.classify_and_count,
    assumes="the classifier makes no errors, or its errors cancel out",
    designs=EVERY_DESIGN,
)
SUBTRACTED_BIAS = Method(
    "subtracted_bias",
    "subtracted bias",
    _subtracted_bias,
    _subtracted_slopes,
    setting.subtracted_bias,
    ("rows",),
    designs=BY_TRUTH,
)
MISCLASSIFICATION = Method(
    "misclassification",
    "misclassification",
    _misclassification,
    _misclassification_slopes,
    setting.misclassification,
    ("rows",),
    "misclassification",
    designs=BY_TRUTH,
)
CALIBRATION = Method(
    "calibration",
    "calibration",
    _calibration,
    _calibration_slopes,
    setting.calibration,
    ("columns",),
    assumes="P(truth | prediction) is the same as in the audit",
    holds="truth",
    designs=("random", "prediction"),
)
MIXED = Method(
    "mixed",
    "mixed",
    _mixed,
    _mixed_slopes,
    setting.mixed,
    ("rows", "columns", "frame"),
    "misclassification",
)
MLE = Method(
    "mle",
    "mle",
    _mle,
    _mle_slopes,
    setting.mle,
    ("rows", "columns", "frame"),
    "mle",
    unknown="no formula for the bias is known; it is of order 1/n, and in simulations it is "
    "smaller than that of 'mixed'. The variance is first-order",
)
HULL = replace(
    MISCLASSIFICATION,
    name="hull",
    title="hull",
    limits=setting.hull,
)
METHODS = {
    method.name: method
    for method in (
        BASELINE,
        CLASSIFY_AND_COUNT,
        SUBTRACTED_BIAS,
        MISCLASSIFICATION,
        CALIBRATION,
        MIXED,
        MLE,
        HULL,
    )
}
# a view: it has every entry that is added
CHOICES: ChainMap[str, Any] = ChainMap({"auto": None}, METHODS)


def slope_cv(table: ndarray) -> ndarray:
    """Return the coefficient of variation (...) of d = p00 + p11 - 1 from tables (..., 2, 2)."""
    correct = np.einsum("...kk->...k", by_row(table))
    d = correct.sum(-1) - 1
    variances = correct * (1 - correct) / table.sum(-1)
    with np.errstate(divide="ignore"):
        return np.sqrt(variances.sum(-1)) / np.abs(d)


def curved(
    method: str,
    slopes: Slopes,
    table: ndarray,
    frame: Frame,
) -> Slopes:
    """Return the slopes with higher orders of 1/n.

    The variance of 1/d is 1 + 8 cv^2 + 69 cv^4 times as large as to first order. This is the series
    of the variance of the reciprocal of a normal variable with coefficient of variation cv. It
    holds for two classes.
    """
    entry = METHODS[method]
    if not entry.divides_by or table.shape[-1] > 2:
        return slopes
    cv = slope_cv(table)[..., None, None, None]
    factor = np.sqrt(1 + 8 * cv**2 + 69 * cv**4)
    calibrated = _columns_slope(table, frame) if "frame" in entry.needs else 0.0
    divided = slopes.table - calibrated
    return replace(slopes, table=calibrated + factor * divided)


def audit_covariance(
    slopes: Slopes,
    table: ndarray,
    audited: int,
    frame_size: int | None = None,
    rates: str = "process",
) -> ndarray:
    """Return the covariance (..., K, K) of estimates that comes from the audit and from its frame.

    Parameters
    ----------
    slopes : Slopes
    table : (..., K, K) array
        Table from which the rates are estimated, with half a count added to each cell.
    audited : int
        Number of audited items, without the half counts.
    frame_size : int, optional
        Number of items of the frame; None for a frame far larger than the audit.
    rates : {"process", "frame"}
        - "process": later periods share the process that made the audited frame. The true
          proportions of the audit vary with the factor 1 - n/N. The predictions of all items of
          the frame are independent. An estimate of the frame itself gets the factor exactly.
        - "frame": later periods have exactly the rates of the audited frame, so only the choice of
          audited items is random. All terms get the factor 1 - n/N.
    """
    left_out = 1.0 if frame_size is None else 1 - audited / frame_size
    rows = table.sum(-1)
    n = rows.sum(-1)[..., None, None]
    parts = by_row(rows)[..., None, :]
    rates_of_row = by_row(table)[..., None, :, :]
    weights = parts[..., None] * rates_of_row

    def within(slope: ndarray) -> ndarray:
        """Return the covariance of slopes of one item, within true classes."""
        centered = slope - (rates_of_row * slope).sum(-1, keepdims=True)
        return _weighted_product(weights, centered)

    by_table = slopes.table
    mean = (rates_of_row * by_table).sum(-1)
    deviation = mean - (parts * mean).sum(-1, keepdims=True)
    between = (parts * deviation) @ deviation.swapaxes(-1, -2) * n
    if rates == "frame" or frame_size is None:
        return left_out * (between + n * within(by_table))
    of_item = slopes.frame[..., :, None, :] / frame_size
    of_items = within(np.broadcast_to(of_item, by_table.shape))
    unaudited = (frame_size - audited) * of_items
    return left_out * between + n * within(by_table + of_item) + unaudited


def column_covariance(slopes: Slopes, table: ndarray, left_out: ndarray) -> ndarray:
    """Return the covariance (..., K, K) from an audit with fixed numbers of predicted items.

    Parameters
    ----------
    slopes : Slopes
    table : (..., K, K) array
        Table from which the rates are estimated, with added counts.
    left_out : (..., K) array
        Finite-population correction of each predicted class.
    """
    rates = by_column(table)[..., None, :, :]
    centered = slopes.table - (rates * slopes.table).sum(-2, keepdims=True)
    weights = table * left_out[..., None, :]
    return _weighted_product(weights[..., None, :, :], centered)


def _weighted_product(weights: ndarray, slope: ndarray) -> ndarray:
    """Return the sums of weighted products of slopes (..., K, i, j) over the cells, (..., K, K)."""
    flat = (*slope.shape[:-2], slope.shape[-1] ** 2)
    return (weights * slope).reshape(flat) @ slope.reshape(flat).swapaxes(-1, -2)


def reading_covariance(
    method: str,
    slopes: Slopes,
    table: ndarray,
    shares: ndarray,
    size: float | ndarray,
) -> ndarray:
    """Return the covariance (..., K, K) of estimates that comes from the period's own items.

    Under a constant P(prediction | truth) predictions vary given the truth, at the method's own
    estimate. Under a constant P(truth | prediction) the truth varies given the predictions.
    """
    size = np.asarray(size, float)[..., None, None]
    if METHODS[method].holds == "truth":
        varies = slopes.shares.any((-1, -2), keepdims=True)
        of_truth = mixture_covariance(by_column(table).swapaxes(-1, -2), shares)
        return np.where(varies, of_truth, 0) / size
    true_shares = by_row(np.clip(slopes.estimate, 0, None))
    predicted = mixture_covariance(by_row(table), true_shares)
    return slopes.shares @ predicted @ slopes.shares.swapaxes(-1, -2) / size


def mixture_covariance(rates: ndarray, parts: ndarray) -> ndarray:
    """Return sum_i parts_i (diag(rates_i) - rates_i rates_i'), (..., K, K)."""
    weighted = parts[..., :, None] * rates
    mixture = weighted.sum(-2)
    diagonal = mixture[..., :, None] * np.eye(rates.shape[-1])
    return diagonal - rates.swapaxes(-1, -2) @ weighted


def draw_estimates(
    method: str,
    table: ndarray,
    audited: int,
    frame: Frame,
    shares: ndarray,
    own: ndarray,
    *,
    rates: str,
    draws: int,
) -> ndarray:
    """Return draws of the estimates (draws, T, K) given an audit.

    The errors of the periods' own items are not included.

    Parameters
    ----------
    method : str
    table : (K, K) array
        Table with half a count added to each cell. The cells are the parameters of the Dirichlet
        distributions (Jeffreys prior).
    audited : int
        Number of audited items.
    frame : (K,) array or None
        Predicted counts of the audited frame.
    shares : (T, K) array
        Predicted proportions of the periods.
    own : (T,) array of bool
        True for a period that is the audited frame itself.
    rates : {"process", "frame"}
    draws : int
    """
    rng = np.random.default_rng(0)
    frame_size = np.inf if frame is None else frame.sum()
    left_out = np.sqrt(1 - audited / frame_size)
    rows = table.sum(-1)
    mean_rates = by_row(table)
    deviations = rows.sum() * rng.dirichlet(rows, draws) - rows
    totals = (rows + left_out * deviations)[:, :, None]
    spread = _dirichlet_rates(table, draws, rng) - mean_rates
    if rates == "frame":
        spread = left_out * spread
    tables = (totals * (mean_rates + spread))[:, None]
    if frame is None:
        return shares_of(method, tables, None, shares)
    frames = (frame / frame_size)[None]
    if rates == "process":
        unaudited = mixture_covariance(mean_rates, by_row(rows)) * (frame_size - audited)
        noise = normal_draws(unaudited, draws, rng=rng)
        frames = frames + ((totals * spread).sum(1) + noise) / frame_size
    frames = frames[:, None]
    shares = np.where(own[:, None], frames, shares)
    return shares_of(method, tables, frames, shares)


def _dirichlet_rates(table: ndarray, draws: int, rng: np.random.Generator) -> ndarray:
    """Return draws (draws, K, K) of the rates P(prediction | truth) of a table of counts."""
    return np.stack([rng.dirichlet(row, draws) for row in table], 1)


def normal_draws(covariance: ndarray, draws: int, *, rng: np.random.Generator) -> ndarray:
    """Return draws (draws, ..., K) of centered normal vectors with covariances (..., K, K)."""
    value, vector = np.linalg.eigh(covariance)
    standard = rng.standard_normal((draws, *value.shape))
    return apply(vector, np.sqrt(np.maximum(value, 0)) * standard)


def smallest_singular(table: ndarray, draws: int) -> tuple[float, float]:
    """Return the smallest singular value of P and, from Dirichlet draws, its standard deviation."""
    sampled = _dirichlet_rates(table, draws, np.random.default_rng(0))
    sigma = np.linalg.svd(by_row(table), compute_uv=False)
    of_draws = np.linalg.svd(sampled, compute_uv=False)
    return float(sigma[-1]), float(of_draws[:, -1].std(ddof=1))
