"""Replicates from weights that were made elsewhere, such as those published with a survey."""

from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.replication.designs import SurveyDesign, weights
from workbench.replication.replicates import Replicates

METHODS = ("brr", "fay", "jk1", "jk2", "jkn", "bootstrap")
DECIMALS = 4  # published weights are rounded


def imported_replicates(
    weight: ArrayLike,
    replicate_weights: ArrayLike,
    *,
    method: str,
    coefficients: Any = None,
    rho: float | None = None,
    df: int | None = None,
) -> Replicates:
    """Return replicates from weights that were made elsewhere, such as the columns of a published survey file.

    Parameters
    ----------
    weight : (n,) array_like of float
        Of at least 0. An item of weight 0 lies outside the population that is estimated; its replicates are 0, too.
    replicate_weights : (n, R) array_like of float
        Of at least 0; whole weights, not factors. Items that every replicate weighs alike form one PSU.
    method : {"brr", "fay", "jk1", "jk2", "jkn", "bootstrap"}
        How they were made. c_r of v = sum_r c_r (t_r - t)^2 is 1/R for "brr" and "bootstrap", 1 / (R (1 - rho)^2) for
        "fay", (R - 1) / R for "jk1", the jackknife without strata, 1 for "jk2", the jackknife of two PSUs per
        stratum; "jkn" needs `coefficients`.
    coefficients : (R,) array_like of float, optional
        Above 0; in the place of those of the method.
    rho : float, optional
        Of "fay", which needs it or the coefficients.
    df : int, optional
        Degrees of freedom; by default the rank of the replicate factors less 1, as R's survey takes it. The strata
        cannot be read from the weights, so give it where a few of them hold most of the weight, and where the weights
        were rounded so much that the items of a PSU are no longer alike.

    Returns
    -------
    Replicates

    Raises
    ------
    ValueError
        If a weight is out of its domain, the shapes do not fit, or all items have the same replicates.

    Examples
    --------
    >>> from workbench import SurveyDesign, replicates
    >>> made = replicates(SurveyDesign([1, 1, 2, 2, 3, 3], weight=[2, 2, 1, 1, 1, 1]))
    >>> imported_replicates(made.design.weight, made.weights(), method="brr")
    Replicates(imported brr, 4 replicates; 6 items, 6 PSUs, 3 degrees of freedom)
    """
    checks.choice("method", method, METHODS)
    weight = weights(weight)
    with np.errstate(over="ignore"):
        factors = _factors(_checked(replicate_weights, weight.size), weight)
    checks.refuse_infinite(
        "replicate_weights over weight", factors, "item", "replicate", between=" "
    )
    psu, factors = _units(factors)
    if len(factors) < 2:
        raise WrongValue(
            "replicate_weights",
            "must differ between items; each replicate multiplies all by the same",
        )
    if df is None:
        df = max(1, int(np.linalg.matrix_rank(factors)) - 1)
    coefficients = _coefficients(method, coefficients, factors.shape[1], rho)
    design = SurveyDesign(np.zeros(weight.size, int), psu=psu, weight=weight)
    return Replicates(
        design,
        f"imported {method}",
        float(rho or 0),
        coefficients,
        draws=factors.T,
        most_df=checks.whole("df", df, 1),
    )


def _checked(replicate_weights: Any, size: Any) -> ndarray:
    found = checks.plain_array("replicate_weights", replicate_weights)
    if (
        found.ndim != 2
        or len(found) != size
        or found.shape[1] < 2
        or found.dtype.kind not in "biuf"
    ):
        raise WrongValue(
            "replicate_weights",
            f"must be numbers, a row for each of {size} items and at least "
            f"2 columns, one per replicate; got {found.dtype} of shape {found.shape}",
        )
    for row, column in np.argwhere(~(np.isfinite(found) & (found >= 0)))[:1]:
        raise WrongValue(
            "replicate_weights",
            f"must be finite and at least 0; item {row} replicate {column} "
            f"is {found[row, column]:g}",
        )
    return found.astype(float)


def _factors(replicate_weights: ndarray, weight: ndarray) -> ndarray:
    """Return what replicates multiply weights by, 0 where the weight is 0."""
    for row, column in np.argwhere((weight == 0)[:, None] & (replicate_weights > 0))[:1]:
        raise WrongValue(
            "replicate_weights",
            f"must be 0 where the weight is 0; item {row} replicate {column} "
            f"is {replicate_weights[row, column]:g}",
        )
    return replicate_weights / np.where(weight > 0, weight, 1.0)[:, None]


def _units(factors: ndarray) -> tuple:
    """Return each item's PSU, numbered as they first appear, and the factors of the PSUs, (P, R)."""
    _, first, code = np.unique(
        np.round(factors, DECIMALS), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    return np.argsort(order)[code.ravel()], factors[first[order]]


def _coefficients(
    method: str, given: list | ndarray | None, count: int, rho: float | None
) -> ndarray:
    if rho is not None and method != "fay":
        raise WrongValue("rho", f"belongs to method 'fay'; got method {method!r}")
    if rho is None and given is None and method == "fay":
        raise WrongValue(
            "rho",
            "must be given for method 'fay': the share of its weight that a PSU keeps at least",
        )
    if rho is not None and not 0 <= checks.number("rho", rho) < 1:
        raise WrongValue("rho", f"must be at least 0 and below 1; got {rho:g}")
    if given is None and method == "jkn":
        raise WrongValue(
            "coefficients",
            "must be given for method 'jkn': (n_h - 1) / n_h of the stratum of "
            "the PSU that a replicate leaves out",
        )
    if given is None and method == "jk2":
        return np.ones(count)
    if given is None:
        return np.full(
            count, (count - 1) / count if method == "jk1" else 1 / (count * (1 - (rho or 0)) ** 2)
        )
    given = checks.vector("coefficients", given, size=count, what="replicate")
    if (given <= 0).any():
        raise WrongValue(
            "coefficients", f"must be above 0; replicate {given.argmin()} has {given.min():g}"
        )
    return given
