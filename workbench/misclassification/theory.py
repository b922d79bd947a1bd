"""Bias and variance of the estimators of a proportion in closed form, and the size of an audit.

`estimator_theory` applies the formulas of `setting` to one setting, `moments` to arrays of
settings. `plan_audit` finds the size of an audit.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics,
   Statistical Journal of the IAOS 37, 2021. Its equations 5 and 64 contain the covariance of
   equation 63 once. Equation 20 contains it twice, and simulations agree with equation 20.
.. [2] Kloos, Meertens, Scholtus & Karch, Comparing correction methods to reduce misclassification
   bias, in Artificial Intelligence and Machine Learning, Springer 2021.
.. [3] Tenenbein, A double sampling scheme for estimating from binomial data with
   misclassifications, JASA 65, 1970.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from workbench.checks import WrongValue, choice, number, whole
from workbench.intervals import quantile
from workbench.misclassification import methods
from workbench.misclassification.limits import UNSURE
from workbench.misclassification.methods import RATES, estimators
from workbench.misclassification.setting import LEAST, second_order, setting
from workbench.results import Note, Result, percent

LARGE_PART = (
    0.05  # Cochran, Sampling Techniques, 2.6: below it the finite-population correction is nearly 1
)
Size = int | None
QUANTITIES = ("level", "change")
MOST_AUDITED = 10**9
FEW_ERRORS = 5  # Cochran's rule for expected counts


def _reasons(self: Result) -> dict[str, str]:
    undefined_notes = (note for note in self.notes if note.kind == "undefined")
    return {note.where[1]: note.text for note in undefined_notes if note.where}


reasons_by_method = property(
    _reasons, doc="Return the reason why a figure of a method is missing, dict of method to str."
)


class EstimatorTheory(Result):
    """Bias and variance of the estimators of a proportion; made by `estimator_theory`.

    Attributes
    ----------
    bias, variance : dict of method to float
        Bias and variance to first order in 1/n. `reasons` explains each NaN.
    second_order : float
        Variance of "mixed" with the next order of 1/n.
    retained_change : float
        phi^2, the part of a true change that calibration reports.
    slope_cv : float
        Coefficient of variation of the estimated d = p00 + p11 - 1.
    base_rate, new_base_rate : float
        True proportion of class 1 at audit time and in the new period.
    p00, p11 : float
        P(predicted 0 | true 0) and P(predicted 1 | true 1).
    n : int
        Number of audited items.
    size, new_size : int or None
        Number of counted items at audit time and in the new period.
    rates : str
        Whether the new period shares the "process" or the "frame" of the audit.

    See Also
    --------
    estimator_theory : Compute these figures.
    shares_theory : Compute bias and variance for more than two classes.
    """

    bias: dict
    variance: dict
    second_order: float
    retained_change: float
    slope_cv: float
    base_rate: float
    new_base_rate: float
    p00: float
    p11: float
    n: int
    size: Size
    new_size: Size
    rates: str

    reasons = reasons_by_method

    @property
    def sd(self) -> dict[str, float]:
        """Return the standard deviation of each method."""
        return {method: value**0.5 for method, value in self.variance.items()}

    @property
    def rmse(self) -> dict[str, float]:
        """Return the root mean squared error of each method; an unknown bias is left out."""
        rmse = {}
        for method, variance in self.variance.items():
            bias = np.nan_to_num(self.bias[method])
            rmse[method] = float((variance + bias**2) ** 0.5)
        return rmse

    def headline(self) -> str:
        """Return the shift and the methods with the smallest and the largest error."""
        shift = (
            f"proportion {self.base_rate:.4g} -> {self.new_base_rate:.4g}, {self.n:,} audited items"
        )
        rmse = {name: np.array([error]) for name, error in self.rmse.items()}
        reported = f"calibration reports {self.retained_change:.0%} of a true change"
        return f"{shift}: {best_and_worst(rmse)}; {reported}"

    def rows(self) -> list[dict]:
        """Return one row per method."""
        sd = self.sd
        rmse = self.rmse
        rows = []
        for method, bias in self.bias.items():
            row = {
                "method": method,
                "bias": bias,
                "sd": sd[method],
                "rmse": rmse[method],
            }
            rows.append(row | {"problem": self.reasons.get(method, "")})
        return rows


def best_and_worst(rmse: dict[str, ndarray]) -> str:
    """Return the methods with the smallest and the largest error, in words.

    The errors of the classes, (..., K), are combined by their squares.
    """
    mean_squares = {method: (errors**2).sum(-1).mean() for method, errors in rmse.items()}
    total = {method: float(np.sqrt(square)) for method, square in mean_squares.items()}
    computable = (method for method in total if total[method] >= 0)
    order = sorted(computable, key=total.__getitem__)
    best = order[0]
    worst = order[-1]
    return f"least error {best} (RMSE {total[best]:.4g}), largest {worst} ({total[worst]:.4g})"


def unbiased_share(p00: float, p11: float) -> float | None:
    """Return the only true proportion with an unbiased count; None if there are no errors.

    Examples
    --------
    >>> round(unbiased_share(0.92, 0.98), 3)
    0.8
    """
    return None if p00 == p11 == 1 else (1 - p00) / (2 - p00 - p11)


def estimator_theory(
    base_rate: float,
    new_base_rate: float,
    p00: float,
    p11: float,
    n: int,
    *,
    size: Size = None,
    new_size: Size = None,
    rates: str = "process",
) -> EstimatorTheory:
    """Compute bias and variance of the estimators of a proportion in closed form.

    Use it before an audit, to see which estimator has the least error for assumed rates.

    Parameters
    ----------
    base_rate, new_base_rate : float
        True proportion of class 1 when the audit was sampled, and in the period that is estimated;
        in (0, 1).
    p00, p11 : float
        P(predicted 0 | true 0) and P(predicted 1 | true 1), each in (0, 1) and together above 1.
        They are the same in both periods.
    n : int
        Number of audited items, at least 2.
    size, new_size : int, optional
        Number of items counted when the audit was sampled (at least n) and in the new period. By
        default infinite.
    rates : {"process", "frame"}, default "process"
        With "frame" the new period has exactly the rates of the audited frame. The variance that
        comes from the audit then gets the factor 1 - n/size, and the frame's own counts have no
        error.

    Returns
    -------
    EstimatorTheory
        Bias, variance and RMSE of each estimator.

    See Also
    --------
    shares_theory : Compute bias and variance for more than two classes.
    plan_audit : Find the size of an audit.
    compare_estimators : Estimate the errors from an audit.

    Notes
    -----
    The variance of "mixed" is that of theorem 1 of [1]_, corrected::

        V(mixed) = V(c) + (a' - a)^2 (V0 + V1) / d^2 + 2 C + v'/d^2 + v0 (c11 - c10 - 1/d)^2
        C = (a' - a) a (1 - a)(p00 - p11) d / (n b0 b1)

    The symbols are

    - a and a': the base rate and the new base rate;
    - d: p00 + p11 - 1;
    - b1 and b0: the predicted proportions of classes 1 and 0 at audit time;
    - c11 and c10: P(true 1 | predicted 1) and P(true 1 | predicted 0);
    - V0 and V1: the variances of the estimated p00 and p11;
    - V(c): the variance of the calibrated proportion;
    - v0 and v': the variances of the predicted proportions at audit time and now.

    The subtracted-bias estimator is q (3 - p00 - p11) - (1 - p00), as in theorem 1 of [2]_. "mle"
    [3]_ is the misclassification estimator on the audit reweighted to the predicted counts of the
    frame. Its variance is first-order.

    With rates="process", the true proportion of the frame varies with the process too.
    `simulate_prevalence` keeps it fixed, so its baseline and calibration vary a little less.

    References
    ----------
    .. [1] Kloos, Statistical Journal of the IAOS 37, 2021.
    .. [2] Kloos, Meertens, Scholtus & Karch, 2021.
    .. [3] Tenenbein, JASA 65, 1970.

    Examples
    --------
    >>> r = estimator_theory(.5, .5, .6, .7, 1000)
    >>> errors = r.rmse.items()
    >>> {method: round(error, 5) for method, error in errors}  # doctest: +NORMALIZE_WHITESPACE
    {'baseline': 0.01581, 'classify_and_count': 0.05, 'subtracted_bias': 0.03807,
    'misclassification': 0.05003,
     'calibration': 0.01508, 'mixed': 0.01508, 'mle': 0.01508}
    """
    shares_and_rates = _check_setting(base_rate, new_base_rate, p00, p11)
    n, size, new_size = check_sizes(n, size, new_size, rates)
    moments_by_method = moments(*shares_and_rates, n, size, new_size, rates)
    bias, variance, further = (
        {name: float(value) for name, value in figures.items()} for figures in moments_by_method
    )
    undefined_methods = [name for name in bias if np.isnan(bias[name] + variance[name])]
    unknown = {name: methods.METHODS[name].unknown for name in undefined_methods}
    notes = _theory_notes(unknown, n, size, rates, further["slope_cv"])
    return EstimatorTheory(
        bias,
        variance,
        further["second_order"],
        further["retained_change"],
        further["slope_cv"],
        *shares_and_rates,
        n,
        size,
        new_size,
        rates,
        notes=tuple(notes),
    )


def check_sizes(
    n: int,
    size: Size,
    new_size: Size,
    rates: str,
) -> tuple[int, Size, Size]:
    """Return the sizes of the audit, its frame and the new period, or raise."""
    choice("rates", rates, RATES)
    n = whole("n", n, 2)
    return n, _whole_or_none("size", size, n), _whole_or_none("new_size", new_size, 1)


def _whole_or_none(name: str, value: Size, low: int) -> Size:
    return None if value is None else whole(name, value, low)


def _check_setting(
    base_rate: float,
    new_base_rate: float,
    p00: float,
    p11: float,
) -> tuple[float, float, float, float]:
    for name, share in (("base_rate", base_rate), ("new_base_rate", new_base_rate)):
        share = number(name, share, 0, 1, open_ends=True)
        if min(share, 1 - share) < LEAST:
            raise WrongValue(name, f"must be from {LEAST:g} to 1 - {LEAST:g}", share)
    p00 = number("p00", p00, 0, 1, open_ends=True)
    p11 = number("p11", p11, 0, 1, open_ends=True)
    if p00 + p11 <= 1:
        raise ValueError(
            f"p00 + p11 must be above 1; got {p00:g} + {p11:g}: the classifier is no better than "
            "chance, or the labels are swapped"
        )
    return float(base_rate), float(new_base_rate), p00, p11


def _theory_notes(
    unknown: dict,
    n: int,
    size: Size,
    rates: str,
    cv: float,
) -> Iterator[Note]:
    yield from undefined(unknown)
    if cv > UNSURE:
        yield Note(
            "unreliable",
            f"the estimated p00 + p11 - 1 has a coefficient of variation of {cv:.2f}, so the "
            "first-order variances are too small",
        )
    if rates == "process" and size and n / size > LARGE_PART:
        yield Note(
            "unreliable",
            f"the audit is {n / size:.0%} of the frame; the formulas assume a small part and are "
            "a few percent off",
        )


def undefined(reasons: dict[str, str]) -> list[Note]:
    """Return a note for each method that has no figure."""
    return [Note("undefined", text, ("method", method)) for method, text in reasons.items()]


def moments(
    base_rate: Any,
    new_base_rate: Any,
    p00: Any,
    p11: Any,
    n: Any,
    size: Any = None,
    new_size: Any = None,
    rates: str = "process",
) -> tuple[dict, dict, dict]:
    """Return bias, variance and further figures by method; all arguments may be arrays.

    `estimator_theory` is the function for single settings, with checks.
    """
    terms = setting(
        base_rate,
        new_base_rate,
        p00,
        p11,
        n,
        size,
        new_size,
        rates,
    )
    unknown = terms.zero + np.nan
    bias = {}
    variance = {}
    for name, method in estimators().items():
        formula = method.theory
        bias[name], variance[name] = formula(terms) if formula else (unknown, unknown)
    further = {
        "second_order": second_order(terms),
        "retained_change": terms.phi2,
        "slope_cv": np.sqrt(terms.slope),
    }
    return bias, variance, further


class AuditPlan(Result):
    """Number of items to audit; made by `plan_audit`.

    Attributes
    ----------
    audited : int
        Number of items in the audit.
    expected_half_width : float
        Expected half-width of the interval with this audit, if the rates hold.
    fresh_audited : int or None
        Number of items of an audit in the new period itself for the same half-width of the level;
        None if even an audit of all items would not reach it.
    fresh_half_width : float
        Half-width of the level from an audit of `audited` items in the new period (at most all).
    half_width : float
        Requested half-width.
    level : float
        Confidence level of the interval.
    quantity : str
        The planned quantity, "level" or "change".
    method : str
        Name of the estimator.

    See Also
    --------
    plan_audit : Make this plan from assumed rates.
    plan_next_audit : Make this plan from an existing audit.
    """

    audited: int
    expected_half_width: float
    fresh_audited: Size
    fresh_half_width: float
    half_width: float
    level: float
    quantity: str
    method: str

    def headline(self) -> str:
        """Return the size of the audit, and of an audit in the new period."""
        audited = f"{self.audited:,}"
        interval = f"{percent(self.level)} confidence interval of ±{self.half_width:.4g}"
        plan = f"{self.method}: expected ±{self.expected_half_width:.4g}"
        text = f"{audited} audited items for a {interval} for the {self.quantity} ({plan})"
        fresh = f"{audited} items give ±{self.fresh_half_width:.4g}"
        if self.fresh_audited is not None:
            fresh = f"{self.fresh_audited:,} items are enough for the level, {fresh}"
        return f"{text}; in an audit of the new period itself, {fresh}"

    def rows(self) -> list[dict]:
        """Return one row for this audit and two for an audit in the new period."""
        names = (
            "audit",
            "quantity",
            "items",
            "half_width",
        )
        half_width = None if self.fresh_audited is None else self.half_width
        audits = (
            (
                "first period",
                self.quantity,
                self.audited,
                self.expected_half_width,
            ),
            (
                "new period",
                "level",
                self.audited,
                self.fresh_half_width,
            ),
            (
                "new period",
                "level",
                self.fresh_audited,
                half_width,
            ),
        )
        return [dict(zip(names, audit, strict=True)) for audit in audits]


def plan_audit(
    base_rate: float,
    new_base_rate: float,
    p00: float,
    p11: float,
    half_width: float,
    *,
    size: Size = None,
    new_size: Size = None,
    quantity: str = "level",
    previous_base_rate: float | None = None,
    method: str = "mle",
    rates: str = "process",
    level: float = 0.95,
) -> AuditPlan:
    """Find the smallest audit whose interval has a given half-width, from assumed rates.

    Parameters
    ----------
    base_rate, new_base_rate : float
        Expected proportion of class 1 when the audit is sampled and in the period of interest, in
        (0, 1).
    p00, p11 : float
        Expected P(predicted 0 | true 0) and P(predicted 1 | true 1), each in (0, 1) and together
        above 1.
    half_width : float
        Half-width of the interval to plan for, in (0, 0.5).
    size, new_size : int, optional
        Number of items counted in the audited and in a later period. By default infinite.
    quantity : {"level", "change"}, default "level"
        The proportion in the new period, or its change since the period of `previous_base_rate`.
    previous_base_rate : float, optional
        Proportion in another period of `new_size` items. By default the change is from the audited
        period.
    method : {"mle", "mixed", "misclassification"}, default "mle"
        Estimator.
    rates : {"process", "frame"}, default "process"
        As in `estimate_prevalence`.
    level : float, default 0.95
        Confidence level of the interval, in (0, 1).

    Returns
    -------
    AuditPlan
        Number of items to audit, and the expected half-width.

    Raises
    ------
    ValueError
        If no audit reaches the half-width, because the errors of the counted items alone are too
        large.

    See Also
    --------
    plan_next_audit : Plan from the rates of an existing audit.
    estimator_theory : Compute the errors of all estimators.

    Examples
    --------
    >>> plan_audit(.1, .15, .96, .85, .025, size=1797, new_size=5000)  # doctest: +ELLIPSIS
    AuditPlan(447 audited items for a 95% confidence interval of ±0.025 for the level (mle: ...
    """
    a, t, p00, p11 = _check_setting(base_rate, new_base_rate, p00, p11)
    half_width = number("half_width", half_width, 0, 0.5, open_ends=True)
    size = _whole_or_none("size", size, 4)
    new_size = _whole_or_none("new_size", new_size, 4)
    choice("quantity", quantity, QUANTITIES)
    choice("method", method, methods.inverting())
    choice("rates", rates, RATES)
    first = a
    if previous_base_rate is not None:
        first = number("previous_base_rate", previous_base_rate, 0, 1, open_ends=True)
    z = quantile(level)
    reading = np.array([[p00, 1 - p00], [1 - p11, p11]])

    def width(n: int) -> float:
        own = (False, previous_base_rate is None)
        periods = (t, first) if quantity == "change" else (t,)
        return z * _planned_error(
            a,
            periods,
            own,
            reading,
            n,
            size,
            new_size,
            method,
            rates,
        )

    def fresh_width(n: int) -> float:
        return z * _planned_error(
            t,
            (t,),
            (True,),
            reading,
            n,
            new_size,
            new_size,
            method,
            rates,
        )

    audited = _least(width, half_width, size)
    if audited is None:
        least = width(size or MOST_AUDITED)
        raise WrongValue(
            "half_width",
            f"{half_width:g} is too small: the errors of the predicted labels alone leave "
            f"±{least:.3g}, however large the audit is. Count more items per period",
        )
    fresh_audited = min(audited, new_size or audited)
    expected = audited * np.array([[1 - a], [a]]) * reading
    return AuditPlan(
        audited,
        width(audited),
        _least(fresh_width, half_width, new_size),
        fresh_width(fresh_audited),
        half_width,
        float(level),
        quantity,
        method,
        notes=tuple(_plan_notes(expected, audited)),
    )


def _planned_error(
    base_rate: float,
    periods: tuple[float, ...],
    own: tuple[bool, ...],
    reading: ndarray,
    n: int,
    size: Size,
    new_size: Size,
    method: str,
    rates: str,
) -> float:
    """Return the expected standard error of a level, or of the difference of two levels.

    `periods` are their true proportions. `own` marks those of the audited frame itself.
    """
    first, *later = (np.array([1 - share, share]) for share in (base_rate, *periods))
    table = n * first[:, None] * reading + methods.HALF
    frame = first @ reading
    counted_items = new_size or np.inf
    slopes = []
    covariance = np.zeros((2, 2))
    for parts, of_frame in zip(later, own, strict=False):
        predicted = parts @ reading
        slope = methods.slopes_of(method, table, frame, predicted)
        slope = methods.curved(method, slope, table, frame).within_frame(of_frame)
        covariance += methods.reading_covariance(method, slope, table, predicted, counted_items)
        slopes.append(slope)
    difference = slopes[0] - slopes[1] if len(slopes) > 1 else slopes[0]
    covariance += methods.audit_covariance(difference, table, n, size, rates)
    return float(np.sqrt(max(covariance[1, 1], 0.0)))


def _least(width: Callable, half_width: float, most: Size) -> Size:
    """Return the smallest size, at least 4, with this half-width; None if `most` is too few."""
    most = most or MOST_AUDITED
    if width(most) > half_width:
        return None
    return bisect_left(range(most), True, 4, key=lambda n: width(n) <= half_width)


def _plan_notes(table: ndarray, n: int) -> Iterator[Note]:
    """Yield the caveats of a plan, from the expected table of an audit of n items."""
    cv = methods.slope_cv(table)
    if cv > UNSURE:
        yield Note(
            "unreliable",
            f"with {n:,} audited items the estimated p00 + p11 - 1 has a coefficient of variation "
            f"of {cv:.2f}, so the actual half-width may differ much from the plan",
        )
    errors = min(table[0, 1], table[1, 0])
    if errors < FEW_ERRORS:
        yield Note(
            "unreliable",
            f"the audit is expected to contain {errors:.1f} incorrect predictions of one kind; "
            f"with fewer than {FEW_ERRORS} the plan is rough",
        )
