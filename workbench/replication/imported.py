"""Replicates from weights that were made elsewhere, such as those of a published survey."""

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.replication.designs import SurveyDesign, weights
from workbench.replication.replicates import Replicates, kept_share

METHODS = (
    "brr",
    "fay",
    "jk1",
    "jk2",
    "jkn",
    "bootstrap",
    "sdr",
)
LIKE_WEIGHT = (0.5, 2.0)  # least and largest sum of a replicate over that of the weight
DECIMALS = 4  # published weights are rounded


def imported_replicates(
    weight: ArrayLike,
    replicate_weights: ArrayLike,
    *,
    method: str,
    coefficients: ArrayLike | None = None,
    rho: float | None = None,
    df: int | None = None,
) -> Replicates:
    """Use replicate weights made elsewhere, such as those of a published survey file.

    The result works like that of `replicates`: pass it to `replicate_estimate`.

    Parameters
    ----------
    weight : (n,) array_like of float
        Weights of the items, at least 0. An item of weight 0 lies outside the population of
        interest; its replicate weights must be 0, too.
    replicate_weights : (n, R) array_like of float
        Replicate weights, complete weights and not factors. They must be at least 0, except for
        "sdr": some weights of the American Community Survey are negative. Items with the same
        factors in every replicate form one primary sampling unit (PSU).
    method : {"brr", "fay", "jk1", "jk2", "jkn", "bootstrap", "sdr"}
        Method by which the weights were made. It determines the coefficients, see the Notes.
    coefficients : (R,) array_like of float, optional
        Coefficients c_r above 0, instead of those of the method. "jkn" needs them.
    rho : float, optional
        Proportion of its weight that a PSU keeps at least, for "fay". It needs either this or the
        coefficients.
    df : int, optional
        Degrees of freedom. By default they are the rank of the replicate factors minus 1, as in R's
        survey package. The strata cannot be read from the weights. Pass `df` if a few strata hold
        most of the weight. Also pass it if rounding of the weights made the items of a PSU differ.

    Returns
    -------
    Replicates
        The replicates, with one stratum and one PSU per distinct set of factors.

    Raises
    ------
    ValueError
        If a weight is out of its domain, the shapes do not fit, or all items have the same
        replicates.

    See Also
    --------
    replicates : Make replicates of a design.
    replicate_estimate : Estimate a statistic with its replicate variance.
    load_labeled : Read items with replicate weights from a file.

    Notes
    -----
    The variance of a statistic t with replicates t_r is v = sum_r c_r (t_r - t)^2. The coefficient
    c_r is

    - 1/R for "brr" and "bootstrap";
    - 1 / (R (1 - rho)^2) for "fay";
    - (R - 1) / R for "jk1", the jackknife without strata;
    - 1 for "jk2", the jackknife of two PSUs per stratum;
    - 4/R for "sdr", successive differences [1]_, as in the American Community Survey [2]_.

    References
    ----------
    .. [1] Fay & Train, Aspects of survey and model-based postcensal estimation of income and
       poverty characteristics for states and counties, Proceedings of the Section on Government
       Statistics, American Statistical Association, 1995.
    .. [2] U.S. Census Bureau, American Community Survey and Puerto Rico Community Survey Design and
       Methodology, chapter on variance estimation.

    Examples
    --------
    >>> from workbench import SurveyDesign, replicates
    >>> made = replicates(SurveyDesign([1, 1, 2, 2, 3, 3], weight=[2, 2, 1, 1, 1, 1]))
    >>> imported_replicates(made.design.weight, made.weights(), method="brr")
    Replicates(imported brr, 4 replicates; 6 items, 6 PSUs, 3 degrees of freedom)
    """
    checks.choice("method", method, METHODS)
    weight = weights(weight)
    replicated = _checked(replicate_weights, weight, method)
    with np.errstate(over="ignore"):
        factors = replicated / np.where(weight > 0, weight, 1.0)[:, None]
    name = "replicate_weights over weight"
    checks.refuse_infinite(name, factors, "item", "replicate", between=" ")
    _, first, psu = np.unique(
        np.round(factors, DECIMALS), axis=0, return_index=True, return_inverse=True
    )
    if len(first) < 2:
        rule = "must differ between items; each replicate multiplies all weights by the same factor"
        raise WrongValue("replicate_weights", rule)
    order = np.argsort(first)
    factors = factors[first[order]]
    if df is None:
        df = max(1, int(np.linalg.matrix_rank(factors)) - 1)
    coefficients = _coefficients(method, coefficients, factors.shape[1], rho)
    psu = np.argsort(order)[psu.ravel()]
    one_stratum = np.zeros(weight.size, int)
    return Replicates(
        SurveyDesign(one_stratum, psu=psu, weight=weight),
        f"imported {method}",
        float(rho or 0),
        coefficients,
        draws=factors.T,
        most_df=checks.whole("df", df, 1),
    )


def _checked(replicate_weights: ArrayLike, weight: ndarray, method: str) -> ndarray:
    """Return replicate weights as floats, or raise."""
    name = "replicate_weights"
    array = checks.plain_array(name, replicate_weights)
    numeric = array.ndim == 2 and array.dtype.kind in "biuf"
    if not numeric or len(array) != weight.size or array.shape[1] < 2:
        raise WrongValue(
            name,
            f"must be numbers, a row for each of {weight.size} items and at least 2 columns, one "
            f"per replicate; got {array.dtype} of shape {array.shape}",
        )
    wrong_by_rule = {
        "finite and at least 0": ~np.isfinite(array) | (array < 0) & (method != "sdr"),
        "0 where the weight is 0": (weight == 0)[:, None] & (array != 0),
    }
    for rule, wrong in wrong_by_rule.items():
        for row, column in np.argwhere(wrong)[:1]:
            value = f"item {row} replicate {column} is {array[row, column]:g}"
            raise WrongValue(name, f"must be {rule}; {value}")
    _refuse_factors(array.sum(0) / weight.sum())
    return array.astype(float)


def _refuse_factors(ratios: ndarray) -> None:
    """Raise if the sums of all replicates are far from the sum of the weight."""
    low, high = LIKE_WEIGHT
    if not ((ratios < low) | (ratios > high)).all():
        return
    rule = (
        "must be weights, whose sums are like that of the weight; their median sum is "
        f"{np.median(ratios):.2g} times that sum. If they are factors such as 0 and 2, multiply "
        "each by the item's weight"
    )
    raise WrongValue("replicate_weights", rule)


def _coefficients(
    method: str,
    coefficients: ArrayLike | None,
    count: int,
    rho: float | None,
) -> ndarray:
    """Return the coefficients of the method or those given, or raise."""
    if rho is not None:
        if method != "fay":
            raise WrongValue("rho", f"is only for method 'fay'; got method {method!r}")
        rho = kept_share(rho)
    if coefficients is not None:
        array = checks.vector("coefficients", coefficients, size=count, what="replicate")
        if (array <= 0).any():
            lowest = f"replicate {array.argmin()} has {array.min():g}"
            raise WrongValue("coefficients", f"must be above 0; {lowest}")
        return array
    if method == "jkn":
        raise WrongValue(
            "coefficients",
            "must be given for method 'jkn': (n_h - 1) / n_h of the stratum of the PSU that a "
            "replicate leaves out",
        )
    if method == "fay" and rho is None:
        raise WrongValue(
            "rho",
            "must be given for method 'fay': the proportion of its weight that a PSU always keeps",
        )
    of_balanced = 1 / (count * (1 - (rho or 0)) ** 2)
    of_method = {"jk2": 1.0, "jk1": (count - 1) / count, "sdr": 4 / count}
    return np.full(count, of_method.get(method, of_balanced))
