"""Estimators of class shares from predicted counts: values, first-order slopes and covariances, for K classes.

Everything takes leading axes (runs, periods) and has classes last. `table` is an audit's confusion table (..., K, K),
rows truth, columns prediction; `frame` (..., K) the predicted shares of the frame it was drawn from; `shares` (..., K)
the predicted shares of the period that is estimated. P are the rates of prediction given truth, C of truth given
prediction.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics, Statistical
   Journal of the IAOS 37, 2021: the mixed estimator.
.. [2] Kloos, Meertens, Scholtus & Karch, Comparing correction methods to reduce misclassification bias, in Artificial
   Intelligence and Machine Learning, Springer 2021: the other five.
.. [3] Tenenbein, A double sampling scheme for estimating from binomial data with misclassifications, JASA 65, 1970.
"""

from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.misclassification import setting

RATES = ("process", "frame")
READING_STAYS = "P(prediction | truth) is what it was in the audit"
HALF = 0.5
SINGULAR = 1e-12


@dataclass(frozen=True)
class Method:
    """An estimator of shares: all that the rest of the house knows of it; to add one is an entry of `METHODS`.

    Attributes
    ----------
    name, title : str
        The title is what charts call it.
    shares : callable
        (table, frame, shares) -> estimated shares (..., K), as at the top of this file.
    slopes : callable
        (table, frame, shares) -> their derivatives by table, frame and shares, as the fields of `Slopes`.
    theory : callable or None
        What `setting.setting` returns -> bias and variance of the second of two classes' share; NaN where no formula is
        known.
    needs : tuple of {"rows", "columns", "frame"}
        What it divides by, the audit's items of every true or of every predicted class, and whether it takes the
        predicted counts at audit time.
    divides_by : str
        The method whose slope by counts is the inverse of P(prediction | truth), which this one has, too; "" for none.
    assumes : str
        What it holds constant, in words.
    holds : {"prediction", "truth"}
        What varies in a period given the other, for the rate that it holds constant.
    unknown : str
        Why a NaN of `theory` is none.
    designs : tuple of {"random", "truth", "prediction"}
        How the items of an audit may have been sampled.
    limits : callable or None
        (table, counts, level) -> limits of the second of two classes' share, for a method with the estimate of
        `divides_by` and an interval of its own: it is for two classes, and comparisons of estimators leave it out.
    """

    name: str
    title: str
    shares: Callable[..., np.ndarray]
    slopes: Callable[..., tuple]
    theory: Callable[..., tuple[Any, Any]] | None = None
    needs: tuple[str, ...] = ()
    divides_by: str = ""
    assumes: str = READING_STAYS
    holds: str = "prediction"
    unknown: str = "bias and variance: no closed form is known"
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
    method: str, table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray | None
) -> np.ndarray:
    """Return the estimated shares of one method, (..., K); NaN where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return METHODS[method].shares(np.asarray(table, float), frame, shares)


def by_row(table: np.ndarray) -> np.ndarray:
    """Return P, the rows divided by their sums."""
    return table / table.sum(-1, keepdims=True)


def by_column(table: np.ndarray) -> np.ndarray:
    """Return C, the columns divided by their sums."""
    return table / table.sum(-2, keepdims=True)


def poststratified(table: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Return the audit's table with its columns reweighted to the frame's predicted shares."""
    return by_column(table) * frame[..., None, :]


def transposed_inverse(rates: np.ndarray) -> np.ndarray:
    """Return the inverse of the transposed matrices, (..., K, K); NaN where one is singular."""
    if rates.shape[-1] == 2:
        (a, b), (c, d) = np.moveaxis(rates, (-2, -1), (0, 1))
        determinant = a * d - b * c
        determinant = np.where(np.abs(determinant) < SINGULAR, np.nan, determinant)
        return np.moveaxis(np.array([[d, -c], [-b, a]]) / determinant, (0, 1), (-2, -1))
    bad = ~(np.abs(np.linalg.det(rates)) > SINGULAR)[..., None, None]
    return np.where(
        bad, np.nan, np.linalg.inv(np.where(bad, np.eye(rates.shape[-1]), rates)).swapaxes(-1, -2)
    )


def apply(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return matrix @ vector over leading axes that broadcast."""
    return np.einsum("...ij,...j->...i", matrix, vector)


def _baseline(table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray) -> np.ndarray:
    return np.broadcast_to(
        by_row(table.sum(-1)), np.broadcast_shapes(table.shape[:-1], shares.shape)
    )


def _classify_and_count(
    table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray
) -> np.ndarray:
    return np.broadcast_to(shares, np.broadcast_shapes(table.shape[:-1], shares.shape))


def _subtracted_bias(table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray) -> np.ndarray:
    return 2 * shares - apply(by_row(table).swapaxes(-1, -2), shares)


def _misclassification(
    table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray
) -> np.ndarray:
    return apply(transposed_inverse(by_row(table)), shares)


def _calibration(table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray) -> np.ndarray:
    return apply(by_column(table), shares)


def _mixed(table: np.ndarray, frame: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return apply(by_column(table), frame) + apply(transposed_inverse(by_row(table)), shares - frame)


def _mle(table: np.ndarray, frame: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return apply(transposed_inverse(by_row(poststratified(table, frame))), shares)


@dataclass(frozen=True)
class Slopes:
    """An estimate and its derivatives.

    Attributes
    ----------
    estimate : (..., K) array
    table : (..., K, K, K) array
        Of share k by cell (i, j) of the audit's table.
    frame, shares : (..., K, K) array
        Of share k by the frame's and by the period's predicted share j.
    """

    estimate: np.ndarray
    table: np.ndarray
    frame: np.ndarray
    shares: np.ndarray

    def __sub__(self, other: "Slopes") -> "Slopes":
        """Return the slopes of a difference of two estimates from the same audit; `shares` stay the first's."""
        return Slopes(
            self.estimate - other.estimate,
            self.table - other.table,
            self.frame - other.frame,
            self.shares,
        )

    def within_frame(self, own: bool | np.ndarray) -> "Slopes":
        """Return the slopes where `own` periods are the audited frame itself: its counts enter once."""
        own = np.asarray(own)[..., None, None]
        return Slopes(
            self.estimate,
            self.table,
            self.frame + np.where(own, self.shares, 0),
            np.where(own, 0, self.shares),
        )


def slopes_of(
    method: str, table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray
) -> Slopes:
    """Return the `Slopes` of a method; `frame` may be None for methods that do not use it."""
    table = np.asarray(table, float)
    estimate = shares_of(method, table, frame, shares)
    shape = (*estimate.shape, table.shape[-1])
    by_table, *others = METHODS[method].slopes(table, frame, shares)
    return Slopes(
        estimate,
        np.broadcast_to(by_table, (*shape, shape[-1])),
        *(np.broadcast_to(slope, shape) for slope in others),
    )


def _rows_slope(
    inverse: np.ndarray, rates: np.ndarray, parts: np.ndarray, totals: np.ndarray
) -> np.ndarray:
    """Return the slope of inverse @ (...) by the cells whose normalized rows are `rates`: -inverse dP' parts."""
    centered = inverse[..., :, None, :] - (inverse[..., :, None, :] * rates[..., None, :, :]).sum(
        -1, keepdims=True
    )
    return -(parts / totals)[..., None, :, None] * centered


def _columns_slope(table: Any, shares: Any) -> np.ndarray:
    """Return the slope of C @ shares by the cells of the table."""
    own = np.eye(table.shape[-1])[:, :, None] - by_column(table)[..., :, None, :]
    return own * (shares / table.sum(-2))[..., None, None, :]


def _baseline_slopes(table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray) -> tuple:
    rows = table.sum(-1)
    slope = (np.eye(table.shape[-1]) - by_row(rows)[..., :, None]) / rows.sum(-1)[..., None, None]
    return np.broadcast_to(slope[..., None], (*slope.shape, table.shape[-1])), 0.0, 0.0


def _count_slopes(table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray) -> tuple:
    return 0.0, 0.0, np.eye(table.shape[-1])


def _subtracted_slopes(table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray) -> tuple:
    rates, identity = by_row(table), np.eye(table.shape[-1])
    return (
        _rows_slope(identity, rates, shares, table.sum(-1)),
        0.0,
        2 * identity - rates.swapaxes(-1, -2),
    )


def _misclassification_slopes(
    table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray
) -> tuple:
    rates = by_row(table)
    inverse = transposed_inverse(rates)
    return _rows_slope(inverse, rates, apply(inverse, shares), table.sum(-1)), 0.0, inverse


def _calibration_slopes(table: np.ndarray, frame: np.ndarray | None, shares: np.ndarray) -> tuple:
    return _columns_slope(table, shares), 0.0, by_column(table)


def _mixed_slopes(table: np.ndarray, frame: np.ndarray, shares: np.ndarray) -> tuple:
    by_table, _, inverse = _misclassification_slopes(table, frame, shares - frame)
    return by_table + _columns_slope(table, frame), by_column(table) - inverse, inverse


def _mle_slopes(table: np.ndarray, frame: np.ndarray, shares: np.ndarray) -> tuple:
    joint = poststratified(table, frame)
    rates = by_row(joint)
    inverse = transposed_inverse(rates)
    by_joint = _rows_slope(inverse, rates, apply(inverse, shares), joint.sum(-1))
    by_frame = (by_column(table)[..., None, :, :] * by_joint).sum(-2)
    return (
        (frame / table.sum(-2))[..., None, None, :] * (by_joint - by_frame[..., :, None, :]),
        by_frame,
        inverse,
    )


BY_TRUTH = ("random", "truth")
EVERY_DESIGN = ("random", "truth", "prediction")
METHODS = {
    method.name: method
    for method in (
        Method(
            "baseline",
            "audit share",
            _baseline,
            _baseline_slopes,
            setting.baseline,
            assumes="the true shares have not moved since the audit",
        ),
        Method(
            "classify_and_count",
            "raw count",
            _classify_and_count,
            _count_slopes,
            setting.classify_and_count,
            assumes="the classifier makes no errors, or its errors cancel",
            designs=EVERY_DESIGN,
        ),
        Method(
            "subtracted_bias",
            "subtracted bias",
            _subtracted_bias,
            _subtracted_slopes,
            setting.subtracted_bias,
            ("rows",),
            designs=BY_TRUTH,
        ),
        Method(
            "misclassification",
            "misclassification",
            _misclassification,
            _misclassification_slopes,
            setting.misclassification,
            ("rows",),
            "misclassification",
            designs=BY_TRUTH,
        ),
        Method(
            "calibration",
            "calibration",
            _calibration,
            _calibration_slopes,
            setting.calibration,
            ("columns",),
            assumes="P(truth | prediction) is what it was in the audit",
            holds="truth",
            designs=("random", "prediction"),
        ),
        Method(
            "mixed",
            "mixed",
            _mixed,
            _mixed_slopes,
            setting.mixed,
            ("rows", "columns", "frame"),
            "misclassification",
        ),
        Method(
            "mle",
            "mle",
            _mle,
            _mle_slopes,
            setting.mle,
            ("rows", "columns", "frame"),
            "mle",
            unknown="bias: no closed form is known; of order 1/n, in simulations smaller than that of 'mixed'; "
            "variance: first order",
        ),
        Method(
            "hull",
            "hull",
            _misclassification,
            _misclassification_slopes,
            setting.misclassification,
            ("rows",),
            "misclassification",
            limits=setting.hull,
            designs=BY_TRUTH,
        ),
    )
}
CHOICES: ChainMap[str, Any] = ChainMap(
    {"auto": None}, METHODS
)  # a view: it has every entry that is added


def slope_cv(table: np.ndarray) -> np.ndarray:
    """Return the coefficient of variation (...) of d = p00 + p11 - 1 estimated from tables (..., 2, 2)."""
    right, rows = np.einsum("...kk->...k", by_row(table)), table.sum(-1)
    with np.errstate(divide="ignore"):
        return np.sqrt((right * (1 - right) / rows).sum(-1)) / np.abs(right.sum(-1) - 1)


def curved(method: str, slopes: Slopes, table: np.ndarray, frame: np.ndarray | None) -> Slopes:
    """Return the slopes with higher orders of 1/n: 1 / d varies 1 + 8 cv^2 + 69 cv^4 times as much (two classes).

    The series of the variance of the reciprocal of a normal variable with coefficient of variation cv.
    """
    if not METHODS[method].divides_by or table.shape[-1] > 2:
        return slopes
    cv = slope_cv(table)[..., None, None, None]
    calibrated = _columns_slope(table, frame) if "frame" in METHODS[method].needs else 0.0
    return replace(
        slopes, table=calibrated + np.sqrt(1 + 8 * cv**2 + 69 * cv**4) * (slopes.table - calibrated)
    )


def audit_covariance(
    slopes: Slopes, table: np.ndarray, audited: int, frame_size: Any = None, rates: str = "process"
) -> np.ndarray:
    """Return the covariance (..., K, K) of estimates that comes from the audit and from the frame it was drawn from.

    Parameters
    ----------
    slopes : Slopes
    table : (..., K, K) array
        Where the rates are taken from, with half a count added to each cell.
    audited : int
        Items of the audit, without the half counts.
    frame_size : int, optional
        Items of the frame; None or infinite for a frame far larger than the audit.
    rates : {"process", "frame"}
        - "process": later periods share the process that made the audited frame. The audit's true shares vary with
          the factor 1 - n/N; the predictions of audited and other items of the frame are independent draws. An
          estimate of the frame itself thereby gets the factor exactly.
        - "frame": later periods have the rates of the audited frame itself, so that only the choice of audited
          items is random: the factor 1 - n/N on everything.
    """
    finite = frame_size is not None and np.isfinite(frame_size)
    drawn = 1 - audited / frame_size if finite else 1.0
    rows = table.sum(-1)
    n = rows.sum(-1)[..., None, None]
    parts, given = by_row(rows)[..., None, :], by_row(table)[..., None, :, :]
    mean = (given * slopes.table).sum(-1)
    center = (parts * mean).sum(-1, keepdims=True)
    between = _product(parts * (mean - center), mean - center) * n
    if rates == "frame" or not finite:
        return drawn * (between + n * _within(slopes.table, given, parts))
    of_item = slopes.frame[..., :, None, :] / frame_size
    rest = (frame_size - audited) * _within(
        np.broadcast_to(of_item, slopes.table.shape), given, parts
    )
    return drawn * between + n * _within(slopes.table + of_item, given, parts) + rest


def column_covariance(slopes: Slopes, table: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """Return the covariance (..., K, K) of estimates from an audit with fixed numbers of predicted items.

    Parameters
    ----------
    slopes : Slopes
    table : (..., K, K) array
        Where the rates are taken from, with added counts.
    left_out : (..., K) array
        Finite-population factor of each predicted class.
    """
    given = by_column(table)[..., None, :, :]
    centered = slopes.table - (given * slopes.table).sum(-2, keepdims=True)
    weights = (table * left_out[..., None, :])[..., None, :, :]
    flat = (*centered.shape[:-2], table.shape[-1] ** 2)
    return _product((weights * centered).reshape(flat), centered.reshape(flat))


def _within(slope: np.ndarray, given: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return the covariance of slopes (..., K, i, j) of one item within true classes i, averaged over the classes."""
    centered = slope - (given * slope).sum(-1, keepdims=True)
    flat = (*slope.shape[:-2], slope.shape[-1] ** 2)
    return _product((parts[..., None] * given * centered).reshape(flat), centered.reshape(flat))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b.swapaxes(-1, -2)


def reading_covariance(
    method: str, slopes: Slopes, table: np.ndarray, shares: np.ndarray, size: float | np.ndarray
) -> np.ndarray:
    """Return the covariance (..., K, K) of estimates that comes from the period's own items.

    Under a constant P(prediction | truth) predictions vary given the truth, at the method's own estimate; under a
    constant P(truth | prediction) the truth varies given the predictions.
    """
    size = np.asarray(size, float)[..., None, None]
    if METHODS[method].holds == "truth":
        own = (slopes.shares != 0).any((-1, -2), keepdims=True)
        return (
            np.where(own, mixture_covariance(by_column(table).swapaxes(-1, -2), shares), 0) / size
        )
    parts = np.clip(slopes.estimate, 0, None)
    predicted = mixture_covariance(by_row(table), parts / parts.sum(-1, keepdims=True))
    return slopes.shares @ predicted @ slopes.shares.swapaxes(-1, -2) / size


def mixture_covariance(rates: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return sum_i parts_i (diag(rates_i) - rates_i rates_i'), (..., K, K)."""
    weighted = parts[..., :, None] * rates
    return (
        weighted.sum(-2)[..., :, None] * np.eye(rates.shape[-1]) - rates.swapaxes(-1, -2) @ weighted
    )


def draw_estimates(
    method: str,
    table: np.ndarray,
    audited: float,
    frame: np.ndarray | None,
    shares: np.ndarray,
    own: np.ndarray,
    *,
    frame_size: Any,
    rates: str,
    draws: int,
) -> np.ndarray:
    """Return draws of the estimates (draws, T, K) given an audit: Dirichlet rates, without the periods' own errors.

    Parameters
    ----------
    method : str
    table : (K, K) array
        With half a count added to each cell: the parameters of the Dirichlet distributions (Jeffreys).
    audited : float
        Items of the audit.
    frame : (K,) array or None
        Predicted shares of the audited frame.
    shares : (T, K) array
        Predicted shares of the periods.
    own : (T,) array of bool
        Which periods are the audited frame itself.
    frame_size : int or None
        Items of the audited frame; None where `frame` is.
    rates : {"process", "frame"}
    draws : int
    """
    rng = np.random.default_rng(0)
    rows, given = table.sum(-1), by_row(table)
    drawn = 1.0 if frame is None else np.sqrt(1 - audited / frame_size)
    totals = rows + drawn * (rows.sum() * rng.dirichlet(rows, draws) - rows)
    spread = np.stack([rng.dirichlet(row, draws) for row in table], 1) - given
    if rates == "frame":
        spread = drawn * spread
    tables = (totals[:, :, None] * (given + spread))[:, None]
    if frame is None:
        return shares_of(method, tables, None, shares[None])
    frames = frame[None]
    if rates == "process":
        noise = mixture_covariance(given, by_row(rows)) * (frame_size - audited)
        frames = (
            frame
            + ((totals[:, :, None] * spread).sum(1) + normal_draws(noise, draws, rng=rng))
            / frame_size
        )
    return shares_of(
        method, tables, frames[:, None], np.where(own[:, None], frames[:, None], shares[None])
    )


def normal_draws(covariance: np.ndarray, draws: int, *, rng: np.random.Generator) -> np.ndarray:
    """Return draws (draws, ..., K) of centered normal vectors with covariances (..., K, K)."""
    value, vector = np.linalg.eigh(covariance)
    return apply(
        vector, np.sqrt(np.maximum(value, 0)) * rng.standard_normal((draws, *covariance.shape[:-1]))
    )


def smallest_singular(table: np.ndarray, draws: int) -> tuple[float, float]:
    """Return the smallest singular value of P and, from Dirichlet draws, its standard deviation."""
    sigma, rng = float(np.linalg.svd(by_row(table), compute_uv=False)[-1]), np.random.default_rng(0)
    drawn = np.stack([rng.dirichlet(row, draws) for row in table], 1)
    return sigma, float(np.linalg.svd(drawn, compute_uv=False)[..., -1].std(ddof=1))
