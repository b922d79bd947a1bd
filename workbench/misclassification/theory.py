"""Bias and variance of the estimators of a share in closed form, and how many items to audit.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics, Statistical
   Journal of the IAOS 37, 2021. Its equations 5 and 64 have the covariance of equation 63 once; equation 20 has it
   twice, and so do simulations.
.. [2] Kloos, Meertens, Scholtus & Karch, Comparing correction methods to reduce misclassification bias, in Artificial
   Intelligence and Machine Learning, Springer 2021.
.. [3] Tenenbein, A double sampling scheme for estimating from binomial data with misclassifications, JASA 65, 1970.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench import checks, intervals
from workbench.misclassification import limits, methods
from workbench.misclassification.setting import LEAST, second_order, setting
from workbench.results import Note, Result, percent

LARGE_PART = (
    0.05  # Cochran, Sampling Techniques, 2.6: below it the finite-population factor may be left out
)
QUANTITIES = ("level", "change")
MOST_AUDITED = 10**9


def _reasons(self: Result) -> dict[str, str]:
    return {
        note.where[1]: note.text for note in self.notes if note.where and note.kind == "undefined"
    }


reasons_by_method = property(
    _reasons, doc="Why a figure of a method does not exist, dict of method to str."
)


class EstimatorTheory(Result):
    """Bias and variance of the estimators; made by `estimator_theory`.

    Attributes
    ----------
    bias, variance : dict of method to float
        To first order in 1/n; a NaN has its reason in `reasons`.
    second_order : float
        Variance of "mixed" with the next order of 1/n.
    retained_change : float
        phi^2: the part of a true change that calibration reports.
    slope_cv : float
        Coefficient of variation of the estimated d.
    base_rate, new_base_rate, p00, p11 : float
    n : int
    size, new_size : int or None
    rates : str
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
    size: int | None
    new_size: int | None
    rates: str

    reasons = reasons_by_method

    @property
    def sd(self) -> dict[str, float]:
        """Standard deviation per method."""
        return {method: value**0.5 for method, value in self.variance.items()}

    @property
    def mse(self) -> dict[str, float]:
        """Mean squared error per method; an unknown bias, of order 1/n, is left out."""
        return {
            method: value + np.nan_to_num(self.bias[method]) ** 2
            for method, value in self.variance.items()
        }

    @property
    def rmse(self) -> dict[str, float]:
        """Root mean squared error per method; an unknown bias, of order 1/n, is left out."""
        return {method: float(value**0.5) for method, value in self.mse.items()}

    def headline(self) -> str:
        """Return the shift and the methods with the least and the largest error."""
        rmse = self.rmse
        best, worst = min(rmse, key=rmse.__getitem__), max(rmse, key=rmse.__getitem__)
        return (
            f"share {self.base_rate:.4g} -> {self.new_base_rate:.4g}, {self.n:,} audited: least error {best} "
            f"(RMSE {rmse[best]:.4g}), largest {worst} ({rmse[worst]:.4g}); calibration reports "
            f"{self.retained_change:.0%} of a change"
        )

    def rows(self) -> list[dict]:
        """Return one row per method."""
        return [
            {
                "method": method,
                "bias": self.bias[method],
                "sd": self.sd[method],
                "rmse": self.rmse[method],
                "problem": self.reasons.get(method, ""),
            }
            for method in self.bias
        ]


def unbiased_share(p00: float, p11: float) -> float | None:
    """Return the only true share whose count is right, (1 - p00) / (2 - p00 - p11), or None without errors.

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
    size: int | None = None,
    new_size: int | None = None,
    rates: str = "process",
) -> EstimatorTheory:
    """Return bias and variance of the estimators of a share, in closed form.

    Parameters
    ----------
    base_rate, new_base_rate : float
        True share of class 1 when the audit was drawn, and in the period that is estimated; in (0, 1).
    p00, p11 : float
        P(predicted 0 | true 0) and P(predicted 1 | true 1) in (0, 1), together above 1; constant.
    n : int
        Audited items, at least 2.
    size, new_size : int, optional
        Items counted when the audit was drawn (at least n) and in the new period; None for very many.
    rates : {"process", "frame"}
        With "frame" the new period has the audited frame's own rates: what comes from the audit gets the factor
        1 - n/size, and the frame's own counts are without error.

    Returns
    -------
    EstimatorTheory

    Notes
    -----
    Theorem 1 of [1]_, corrected: V(mixed) = V(c) + (a' - a)^2 (V0 + V1) / d^2 + 2 C + v'/d^2
    + v0 (c11 - c10 - 1/d)^2, with V0, V1 the variances of the estimated p00 and p11, V(c) that of the calibrated
    share, C = (a' - a) a (1 - a)(p00 - p11) d / (n b0 b1), and v0, v' the variances of the two predicted shares.
    The subtracted-bias estimator is q (3 - p00 - p11) - (1 - p00), as in theorem 1 of [2]_. "mle" [3]_ is the
    misclassification estimator on the audit reweighted to the frame's predicted counts; its variance is first order.

    Under rates="process" the true share of the frame varies with the process, too; `simulate_prevalence` keeps it, so
    its baseline and calibration vary a little less.

    References
    ----------
    .. [1] Kloos, Statistical Journal of the IAOS 37, 2021.
    .. [2] Kloos, Meertens, Scholtus & Karch, 2021.
    .. [3] Tenenbein, JASA 65, 1970.

    Examples
    --------
    >>> r = estimator_theory(.5, .5, .6, .7, 1000)
    >>> {method: round(error, 5) for method, error in r.rmse.items()}     # doctest: +NORMALIZE_WHITESPACE
    {'baseline': 0.01581, 'classify_and_count': 0.05, 'subtracted_bias': 0.03807, 'misclassification': 0.05003,
     'calibration': 0.01508, 'mixed': 0.01508, 'mle': 0.01508}
    """
    given = _check_setting(base_rate, new_base_rate, p00, p11)
    n = checks.whole("n", n, 2)
    size = None if size is None else checks.whole("size", size, n)
    new_size = None if new_size is None else checks.whole("new_size", new_size, 1)
    checks.choice("rates", rates, methods.RATES)
    bias, variance, extra = (
        {name: float(value) for name, value in part.items()}
        for part in moments(*given, n, size, new_size, rates)
    )
    unknown = {
        name: method.unknown
        for name, method in methods.estimators().items()
        if np.isnan(bias[name] + variance[name])
    }
    cv = extra["slope_cv"]
    return EstimatorTheory(
        bias,
        variance,
        extra["second_order"],
        extra["retained_change"],
        cv,
        *given,
        n,
        size,
        new_size,
        rates,
        notes=tuple(_theory_notes(unknown, n, size, rates, cv)),
    )


def _check_setting(
    base_rate: float, new_base_rate: float, p00: float, p11: float
) -> tuple[float, float, float, float]:
    base_rate, new_base_rate, p00, p11 = (
        checks.number(name, value, 0, 1, open_ends=True)
        for name, value in (
            ("base_rate", base_rate),
            ("new_base_rate", new_base_rate),
            ("p00", p00),
            ("p11", p11),
        )
    )
    for name, rate in (("base_rate", base_rate), ("new_base_rate", new_base_rate)):
        if min(rate, 1 - rate) < LEAST:
            raise checks.WrongValue(name, f"must be from {LEAST:g} to 1 - {LEAST:g}", rate)
    if p00 + p11 <= 1:
        raise ValueError(
            f"p00 + p11 must be above 1; got {p00:g} + {p11:g}: no better than chance, or the labels are "
            "swapped"
        )
    return base_rate, new_base_rate, p00, p11


def _theory_notes(unknown: dict, n: int, size: int | None, rates: str, cv: float) -> Iterator[Note]:
    yield from undefined(unknown)
    if cv > limits.UNSURE:
        yield Note(
            "unreliable",
            f"the estimated p00 + p11 - 1 has a coefficient of variation of {cv:.2f}: first-order "
            "figures are too small",
        )
    if rates == "process" and size and n / size > LARGE_PART:
        yield Note(
            "unreliable",
            f"the audit is {n / size:.0%} of the frame; the formulas take it as a small part and "
            "are a few percent off",
        )


def undefined(reasons: dict[str, str]) -> list[Note]:
    """Return a note per method whose figure does not exist."""
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
    """Return bias and variance per method and a dict of further figures; all arguments may be arrays.

    The checked entry for single settings is `estimator_theory`.
    """
    at = setting(base_rate, new_base_rate, p00, p11, n, size, new_size, rates)
    unknown = (at.zero + np.nan,) * 2
    pairs = {
        name: method.theory(at) if method.theory else unknown
        for name, method in methods.estimators().items()
    }
    bias, variance = ({name: pair[place] for name, pair in pairs.items()} for place in range(2))
    return (
        bias,
        variance,
        {
            "second_order": second_order(at),
            "retained_change": at.phi2,
            "slope_cv": np.sqrt(at.slope),
        },
    )


class AuditPlan(Result):
    """How many items to audit; made by `plan_audit`.

    Attributes
    ----------
    audited : int
        Items in the audit.
    expected_half_width : float
        Of the interval with this audit, if the rates hold.
    fresh_audited : int or None
        Items of a fresh audit, drawn in the new period itself, for the same half-width of the level; None where even
        all items of the period would not do.
    fresh_half_width : float
        Of the level from a fresh audit of `audited` items (at most all of them).
    half_width, level : float
        What was asked for.
    quantity, method : str
    """

    audited: int
    expected_half_width: float
    fresh_audited: int | None
    fresh_half_width: float
    half_width: float
    level: float
    quantity: str
    method: str

    def headline(self) -> str:
        """Return the audit and what a fresh one would buy."""
        fresh = "" if self.fresh_audited is None else f"{self.fresh_audited:,} would do, "
        return (
            f"{self.audited:,} audited items for {percent(self.level)} ±{self.half_width:.4g} of the "
            f"{self.quantity} ({self.method}: expected ±{self.expected_half_width:.4g}); in an audit of the new "
            f"period itself {fresh}{self.audited:,} give its level ±{self.fresh_half_width:.4g}"
        )

    def rows(self) -> list[dict]:
        """Return the audit at hand and the fresh one."""
        names, wanted = (
            ("audit", "quantity", "items", "half_width"),
            self.fresh_audited and self.half_width,
        )
        return [
            dict(zip(names, row, strict=True))
            for row in (
                ("first period", self.quantity, self.audited, self.expected_half_width),
                ("new period", "level", self.audited, self.fresh_half_width),
                ("new period", "level", self.fresh_audited, wanted),
            )
        ]


def plan_audit(
    base_rate: float,
    new_base_rate: float,
    p00: float,
    p11: float,
    half_width: float,
    *,
    size: int | None = None,
    new_size: int | None = None,
    quantity: str = "level",
    previous_base_rate: float | None = None,
    method: str = "mle",
    rates: str = "process",
    level: float = 0.95,
) -> AuditPlan:
    """Find the smallest audit whose interval has the wanted half-width, if the rates hold.

    Parameters
    ----------
    base_rate, new_base_rate : float
        Expected share of class 1 when the audit is drawn and in the period of interest, in (0, 1).
    p00, p11 : float
        Expected P(predicted 0 | true 0) and P(predicted 1 | true 1), in (0, 1), together above 1.
    half_width : float
        Wanted, in (0, 0.5).
    size, new_size : int, optional
        Items counted in the first and in a later period; None for very many.
    quantity : {"level", "change"}
        The share of the new period, or its change since `previous_base_rate`.
    previous_base_rate : float, optional
        Share in another period of `new_size` items; by default the change is from the audited period.
    method : {"mle", "mixed", "misclassification"}
    rates : {"process", "frame"}
        As in `workbench.estimate_prevalence`.
    level : float

    Returns
    -------
    AuditPlan

    Raises
    ------
    ValueError
        If no audit reaches the half-width because the errors of the counted items alone are too large.

    Examples
    --------
    >>> plan_audit(.10, .15, .96, .85, .025, size=1797, new_size=5000)    # doctest: +NORMALIZE_WHITESPACE
    AuditPlan(447 audited items for 95% ±0.025 of the level (mle: expected ±0.02498); in an audit of the new period
    itself 291 would do, 447 give its level ±0.01971)
    """
    a, t, p00, p11 = _check_setting(base_rate, new_base_rate, p00, p11)
    half_width = checks.number("half_width", half_width, 0, 0.5, open_ends=True)
    size = None if size is None else checks.whole("size", size, 4)
    new_size = None if new_size is None else checks.whole("new_size", new_size, 4)
    checks.choice("quantity", quantity, QUANTITIES)
    checks.choice("method", method, methods.inverting())
    checks.choice("rates", rates, methods.RATES)
    previous = (
        None
        if previous_base_rate is None
        else checks.number("previous_base_rate", previous_base_rate, 0, 1, open_ends=True)
    )
    z = intervals.quantile(level)

    def width(n: int) -> float:
        return z * _planned_error(
            a, t, previous, p00, p11, n, size, new_size, quantity, method, rates
        )

    def fresh_width(n: int) -> float:
        return z * _planned_error(
            t, t, None, p00, p11, n, new_size, new_size, "level", method, rates, own=True
        )

    audited = _least(width, half_width, size)
    if audited is None:
        raise checks.WrongValue(
            "half_width",
            f"{half_width:g} is out of reach: the errors of the predicted labels "
            f"alone leave ±{width(size or MOST_AUDITED):.3g} with any audit; count more items per "
            "period",
        )
    return AuditPlan(
        audited,
        float(width(audited)),
        _least(fresh_width, half_width, new_size),
        float(fresh_width(min(audited, new_size or audited))),
        half_width,
        float(level),
        quantity,
        method,
        notes=_plan_notes(a, p00, p11, audited),
    )


def _planned_error(
    a: float,
    t: float,
    previous: float | None,
    p00: float,
    p11: float,
    n: int,
    size: int | None,
    new_size: int | None,
    quantity: str,
    method: str,
    rates: str,
    own: bool = False,
) -> float:
    """Return the standard error of level or change that an audit of n items is expected to give."""
    given = np.array([[p00, 1 - p00], [1 - p11, p11]])
    parts = np.array([[1 - x, x] for x in (a, t, a if previous is None else previous)])
    frame, *predicted = parts @ given
    table = n * parts[0][:, None] * given + methods.HALF
    later, earlier = (
        methods.curved(method, methods.slopes_of(method, table, frame, shares), table, frame)
        for shares in predicted
    )
    if own:
        later = later.within_frame(True)
    if previous is None:
        earlier = earlier.within_frame(True)
    total = methods.audit_covariance(
        later - earlier if quantity == "change" else later, table, n, size, rates
    )
    for period, shares in zip(
        (later, earlier)[: 1 + (quantity == "change")], predicted, strict=False
    ):
        total = total + methods.reading_covariance(
            method, period, table, shares, new_size or np.inf
        )
    return float(np.sqrt(max(total[1, 1], 0.0)))


def _least(width: Callable, wanted: float, most: int | None) -> int | None:
    most = most or MOST_AUDITED
    return (
        None
        if width(most) > wanted
        else bisect_left(range(most), True, 4, key=lambda n: width(n) <= wanted)
    )


def _plan_notes(a: Any, p00: Any, p11: Any, n: Any) -> Any:
    cv = np.sqrt(p00 * (1 - p00) / (n * (1 - a)) + p11 * (1 - p11) / (n * a)) / (p00 + p11 - 1)
    if cv > limits.UNSURE:
        yield Note(
            "unreliable",
            f"with {n:,} audited items the estimated p00 + p11 - 1 has a coefficient of variation "
            f"of {cv:.2f}: half-widths will vary much around the plan",
        )
    few = min(n * (1 - a) * (1 - p00), n * a * (1 - p11))
    if few < 5:
        yield Note(
            "unreliable",
            f"the audit is expected to hold {few:.1f} wrong predictions of one kind; below 5 the "
            "plan is rough",
        )
