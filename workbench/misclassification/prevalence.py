"""True class proportions from predicted counts and one audit sample.

The predicted counts of a classifier are biased, however good the classifier is. An audit is a
random sample of the counted items whose true class is looked up. It shows how large the bias is.

The result holds for later periods only if one of two rates stays constant:

- P(prediction | truth), for "misclassification", "mixed", "mle" and "subtracted_bias";
- P(truth | prediction), for "calibration".

Predicted labels alone cannot tell which of the two is constant. If P(prediction | truth) is
constant, calibration reports only the part phi^2 of a true change, where phi is the Matthews
correlation.

Read `PrevalenceEstimate` and `estimate_prevalence` first. `compare_estimators` applies all methods.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics,
   Statistical Journal of the IAOS 37, 2021: "mixed".
.. [2] Kloos, Meertens, Scholtus & Karch, Comparing correction methods to reduce misclassification
   bias, in Artificial Intelligence and Machine Learning, Springer 2021: the other five.
.. [3] Tenenbein, A double sampling scheme for estimating from binomial data with
   misclassifications, JASA 65, 1970: "mle".
.. [4] Rogan & Gladen, Estimating prevalence from the results of a screening test, American Journal
   of Epidemiology 107, 1978: "misclassification".
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.misclassification import designs, limits, theory
from workbench.misclassification.confusion import ConfusionCounts, check_counts
from workbench.misclassification.designs import read_design
from workbench.misclassification.methods import METHODS, estimators
from workbench.misclassification.periods import Periods, diagonal, not_estimable
from workbench.results import Estimate, Interval, Result, sentences

USUAL = ("mle", "mixed", "misclassification")
SIMILAR = 0.9  # ratio of estimated errors: one audit cannot tell closer errors apart
FIGURES = (
    "estimate",
    "standard_error",
    "low",
    "high",
    "bias",
    "rmse",
)
Shares = float | ndarray
Intervals = Interval | tuple[Interval, ...]


class OfClasses(Estimate):
    """An estimate for the second of two classes (floats), or for every class (arrays, tuples)."""

    labels: tuple

    @property
    def standard_error(self) -> Shares:
        """Return the standard error: a float with two classes, else one per class."""
        return self.variance**0.5 if len(self.labels) == 2 else np.sqrt(np.diag(self.variance))

    def by_class(self, *figures: Any) -> Iterator[tuple]:
        """Return the label and the figures of each class that is estimated."""
        if len(self.labels) == 2:
            return iter([(self.labels[1], *figures)])
        columns = (column.tolist() if isinstance(column, ndarray) else column for column in figures)
        return zip(self.labels, *columns, strict=True)


class PrevalenceEstimate(OfClasses, Result):
    """True class proportions in one period; made by `estimate_prevalence`.

    Attributes
    ----------
    estimate : float or (K,) array
        Proportion of `labels[1]` with two classes, else of every class. It is not clipped, so it
        may lie outside 0 to 1; a note then says so. NaN if the audit gives no estimate, for
        instance because it has no item of a class; a note gives the reason.
    variance : float or (K, K) array
        First-order variance, with half a count added to each cell of the audit; NaN without an
        estimate.
    bias : float or (K,) array
        Expected error if P(prediction | truth) is constant and the shift is as estimated. NaN where
        no formula is known; the bias is then of order 1/n. This concerns "mle", and with more than
        two classes "misclassification" and "mixed".
    method : str
        Name of the estimator.
    rates : str
        Whether the period shares the "process" or the "frame" of the audit.
    labels : tuple
        Class labels.
    audit : ConfusionCounts
        The audit sample.
    counts : (K,) array of int
        Predicted counts of the period.
    counts_at_audit : (K,) array of int or None
        Predicted counts of the frame at audit time, if they were used.
    sampled_by : {"random", "truth", "prediction"}
        Assumed sampling design of the audit.

    See Also
    --------
    estimate_prevalence : Estimate true class proportions from predicted counts.
    PrevalenceSeries : The same for many periods.
    """

    estimate: Shares
    variance: Shares
    bias: Shares
    method: str
    rates: str
    labels: tuple
    audit: ConfusionCounts
    counts: ndarray
    counts_at_audit: ndarray | None
    sampled_by: str = designs.RANDOM

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the notes as sentences."""
        return sentences(self.notes)

    @property
    def counted(self) -> Shares:
        """Return the predicted proportion of `labels[1]` (float), or of more classes (K,)."""
        return one_or_all(self.counts / self.counts.sum())

    @property
    def assumption(self) -> str:
        """Return the assumption that the estimate rests on, in words."""
        return METHODS[self.method].assumes

    @property
    def _periods(self) -> Periods:
        return Periods(
            self.audit,
            self.counts_at_audit,
            self.counts[None],
            self.method,
            self.rates,
            sampled_by=self.sampled_by,
        )

    @property
    def restricted_estimate(self) -> Shares:
        """Return the possible proportion nearest to `estimate` (float), or of more classes (K,)."""
        return one_or_all(self._periods.restricted[0])

    def interval(self, level: float = 0.95) -> Intervals:
        """Return a confidence interval of each estimated proportion, clipped to 0 and 1.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, in (0, 1).

        Returns
        -------
        Interval or tuple of K Interval
            Interval of the proportion of `labels[1]` with two classes, else one per class in the
            order of `labels`.

        Notes
        -----
        With two classes the interval is that of the delta method, with half a count added to each
        cell of the audit. With more classes, its limits are percentiles of seeded Dirichlet draws
        of the audit's rates.

        Methods "mle", "mixed" and "misclassification" divide by p00 + p11 - 1. For them the
        interval is widened where the usual interval may be too short. It then reaches from the
        lowest lower limit to the highest upper limit of several intervals. Its `method` names these
        intervals, and its notes give the reason:

        - With two classes, Fieller's interval is included if p00 + p11 - 1 has a coefficient of
          variation above 0.1.
        - With two classes, the delta method with one count per cell is included if a cell holds
          fewer than 3 audited items.
        - With more classes, both cases include the delta method with half a count per cell, and
          with one count per class.

        Method "hull" always combines the delta method and Fieller's interval, each with its own
        added counts. If the audit gives no estimate, the interval is 0 to 1.
        """
        checks.level(level)
        periods = self._periods
        low, high = periods.level_limits(level)
        return intervals_of(low[0], high[0], level, periods, periods.level_constructions)

    def headline(self) -> str:
        """Return estimate, interval, classify-and-count estimate and assumption in one sentence."""
        figures = self.by_class(self.restricted_estimate, self.standard_error, self.interval())
        if np.isnan(self.estimate).any():
            text = ": no estimate, every proportion is possible (see notes)"
        elif len(self.labels) == 2:
            [(label, share, error, (low, high))] = figures
            text = f": proportion {share:.4g} of class {label} (SE {error:.4g}), "
            text += f"95% confidence interval {low:.4g} to {high:.4g}; "
            text += f"classify-and-count {self.counted:.4g}"
        else:
            shares = []
            for label, share, _, (low, high) in figures:
                shares.append(f"{label} {share:.4g} ({low:.3g} to {high:.3g})")
            text = f", proportions with 95% confidence intervals: {', '.join(shares)}"
        items = checks.counted(self.audit.n, "audited item")
        return f"{self.method}{text}; assuming {self.assumption}; {items}"

    def rows(self) -> list[dict]:
        """Return one row per class; with two classes one row, for `labels[1]`."""
        names = (
            "label",
            "counted",
            "estimate",
            "standard_error",
            "low",
            "high",
        )
        figures = self.by_class(
            self.counted, self.restricted_estimate, self.standard_error, self.interval()
        )
        return [dict(zip(names, (*shares, *ends), strict=True)) for *shares, ends in figures]


def estimate_prevalence(
    audit: ConfusionCounts,
    counts: ArrayLike,
    counts_at_audit: ArrayLike | None = None,
    *,
    method: str = "auto",
    rates: str = "process",
    sampled_by: str = "auto",
) -> PrevalenceEstimate:
    """Estimate the true class proportions of a period from its predicted counts and an audit.

    Use it if a classifier has labeled all items of a period, and the true class is known for an
    audit sample of one period. The result corrects the predicted counts for the errors of the
    classifier.

    Parameters
    ----------
    audit : ConfusionCounts
        Simple random sample, without replacement, of the frame (the items that were counted at
        audit time), or a sample of the design that `sampled_by` names.
    counts : (K,) array_like of int
        Predicted counts of the period in the order of `audit.labels`. Give counts, not proportions.
    counts_at_audit : (K,) array_like of int, optional
        Predicted counts of the frame, including the audited items. "mixed" and "mle" need them; a
        sample by the truth does not. If `counts` are the same, the period is taken to be that
        frame.
    method : {"auto", "mle", "mixed", "misclassification", "calibration", "subtracted_bias", \
    "classify_and_count", "baseline", "hull"}, default "auto"
        Estimator. It also decides what is assumed to stay constant:

        - P(prediction | truth) for "mle", "mixed", "misclassification", "hull" and
          "subtracted_bias";
        - P(truth | prediction) for "calibration";
        - the proportion itself for "baseline".

        "auto" is "mle" for a random audit, "misclassification" for an audit sampled by the truth,
        and "calibration" for one sampled by the prediction. "hull" is "misclassification" with a
        shorter interval for two classes, for an audit of an earlier batch.
    rates : {"process", "frame"}, default "process"
        Whether later periods share the process that made the frame, or exactly the frame's rates.
        It matters if the audit is a large part of the frame. Choose "process" unless you know that
        later items are classified exactly as those of the frame were. If "frame" is wrong and half
        of the frame was audited, 95% intervals cover the truth in only 79% of samples. For the
        audited frame itself, both options apply the finite-population correction 1 - n/N.
    sampled_by : {"auto", "truth", "prediction", "random"}, default "auto"
        How the audited items were chosen:

        - "random": at random among all counted items; allows all methods.
        - "truth": numbers of items of each true class, such as known positives and negatives, from
          here or elsewhere; allows "misclassification", "hull", "subtracted_bias" and
          "classify_and_count".
        - "prediction": numbers of items of each predicted class; allows "calibration" and
          "classify_and_count".
        - "auto": decides by the margins of the audit and adds a note; raises if they leave it open.

    Returns
    -------
    PrevalenceEstimate
        Estimates with standard errors, intervals and notes.

    Raises
    ------
    ValueError
        If the counts are unusable, if the labels are clearly swapped, or if the design does not
        allow the method or is unclear. Also if "calibration" or "subtracted_bias" lacks audited
        items of a class.

    See Also
    --------
    compare_estimators : Apply all methods and compare their expected errors.
    prevalence_series : Estimate many periods and the changes between them.
    plan_audit : Find the size of an audit.

    Notes
    -----
    P is the audit table with rows that add up to 1, C the table with columns that add up to 1. The
    predicted proportions are q at audit time and q' in the period. The estimates are

    - "classify_and_count": q'
    - "subtracted_bias": 2q' - P'q'
    - "misclassification": (P')^-1 q' [3]_
    - "calibration": C q'
    - "mixed": C q + (P')^-1 (q' - q) [1]_
    - "mle": "misclassification" after the columns of the table have been reweighted to q [2]_
    - "baseline": the proportions in the audit

    The variance is that of the first-order expansion in three terms: the cells of the audit, the
    counts of the frame (of which the audit is a part) and the counts of the period.

    "mle", "mixed" and "misclassification" have no estimate if the audit has no item of a class, or
    if the classifier is no better than chance. The result then has the interval 0 to 1.

    References
    ----------
    .. [1] Kloos, Statistical Journal of the IAOS 37, 2021.
    .. [2] Tenenbein, JASA 65, 1970.
    .. [3] Rogan & Gladen, American Journal of Epidemiology 107, 1978.

    Examples
    --------
    >>> audit = ConfusionCounts([[828, 72], [2, 98]])
    >>> estimate_prevalence(audit, [8100, 1900], [8300, 1700])      # doctest: +NORMALIZE_WHITESPACE
    PrevalenceEstimate(mle: proportion 0.1222 of class 1 (SE 0.007422), 95% confidence interval
    0.1082 to 0.138; classify-and-count 0.19; assuming P(prediction | truth) is the same as in the
    audit; 1,000 audited items)
    """
    design = read_design(audit, counts_at_audit, method, rates, sampled_by)
    counts = check_counts("counts", counts, audit.labels)
    periods = Periods(
        audit,
        design.frame,
        counts[None],
        design.method,
        rates,
        sampled_by=design.sampled_by,
    )
    notes = (*design.notes, *periods.audit_notes(), *periods.period_notes())
    return PrevalenceEstimate(
        one_or_all(periods.estimate[0]),
        one_or_all(periods.covariance[0]),
        one_or_all(periods.bias[0]),
        design.method,
        rates,
        audit.labels,
        audit,
        counts,
        design.frame,
        design.sampled_by,
        notes=notes,
    )


def reported_labels(labels: tuple) -> tuple:
    """Return the labels of the classes that are reported: the second of two, else all."""
    return labels[1:] if len(labels) == 2 else labels


def one_or_all(values: ndarray) -> Any:
    """Return the figure of the second of two classes as a float, or the figures of all classes."""
    return float(values.flat[-1]) if values.shape[-1] == 2 else values


def intervals_of(
    low: ndarray,
    high: ndarray,
    level: float,
    periods: Periods,
    constructions: tuple[str, ...] = (),
) -> Any:
    """Return the Interval of `labels[1]` with two classes, else a tuple of K intervals."""
    description = limits.said(constructions or periods.constructions)
    limits_of_classes = np.stack([low, high], 1).tolist()
    intervals = tuple(
        Interval(least, most, float(level), description, notes=periods.doubts)
        for least, most in limits_of_classes
    )
    return intervals[1] if low.size == 2 else intervals


class EstimatorComparison(Result):
    """Estimates of all methods next to each other; made by `compare_estimators`.

    Estimates are the nearest possible proportions, and NaN where a method cannot be computed. The
    arrays have shape (M,) for M methods, or (M, K) with more than two classes.

    Attributes
    ----------
    methods : tuple of str
        Names of the M methods.
    estimate, standard_error, low, high : array
        Estimated proportions, their standard errors and the limits of their intervals.
    bias : array
        Expected error if P(prediction | truth) is constant and the shift is as estimated.
    rmse : array
        Expected root mean squared error under the same condition. It includes the uncertainty about
        the bias, which one audit shows only roughly. An unknown bias of order 1/n is left out.
    labels : tuple
        Class labels.
    level : float
        Confidence level of the intervals.
    counted : float or (K,) array
        Classify-and-count estimate.

    See Also
    --------
    compare_estimators : Apply all methods and compare their expected errors.
    estimate_prevalence : Apply one method.
    """

    methods: tuple
    estimate: ndarray
    standard_error: ndarray
    low: ndarray
    high: ndarray
    bias: ndarray
    rmse: ndarray
    labels: tuple
    level: float
    counted: Shares

    reasons = theory.reasons_by_method

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the reason why each method cannot be computed; an empty text where it can."""
        return tuple(self.reasons.get(method, "") for method in self.methods)

    @property
    def best(self) -> str | None:
        """Return the recommended method, or None if no errors can be estimated.

        It is "mle", or the first of "mixed" and "misclassification" that can be computed, if it is
        in `no_worse`. Otherwise it is the method with the smallest `total_rmse`.
        """
        no_worse = self.no_worse
        usual = [method for method in USUAL if method in no_worse]
        return next(iter((*usual, *no_worse)), None)

    @property
    def no_worse(self) -> tuple[str, ...]:
        """Return the methods whose `total_rmse` is nearly the smallest, in ascending order.

        The errors are estimated from one audit. Such estimates cannot distinguish methods whose
        errors differ by less than a tenth.
        """
        total = self.total_rmse
        least = np.nanmin(total, initial=np.inf)
        order = (self.methods[m] for m in np.argsort(total) if SIMILAR * total[m] <= least)
        return tuple(order)

    @property
    def total_rmse(self) -> ndarray:
        """Return the root mean squared error (M,) over all classes, or of the second of two."""
        return self.rmse if self.rmse.ndim == 1 else np.sqrt((self.rmse**2).sum(1))

    def headline(self) -> str:
        """Return the range of the estimates and the recommended method."""
        text = checks.counted(len(self.methods) - len(self.reasons), "estimator")
        if self.rmse.ndim == 1:
            least = np.nanmin(self.estimate)
            most = np.nanmax(self.estimate)
            shares = f"{least:.4g} to {most:.4g} (classify-and-count {self.counted:.4g})"
            text += f" of the proportion of class {self.labels[1]}: {shares}"
        if self.best is None:
            return (
                f"{text}; expected errors are unknown: the classifier is no better than chance, or "
                "a class was not audited"
            )
        return (
            f"{text}; recommended at this shift: {self.best}, assuming P(prediction | truth) is "
            "constant (this is not tested)"
        )

    def rows(self) -> list[dict]:
        """Return one row per method and class."""
        columns = np.stack([getattr(self, name) for name in FIGURES], -1)
        figures = columns.reshape(len(self.methods), -1, len(FIGURES)).tolist()
        names = (
            "method",
            "label",
            *FIGURES,
            "constant",
            "problem",
        )
        rows = []
        for method, problem, of_method in zip(self.methods, self.problems, figures, strict=True):
            assumption = METHODS[method].assumes
            for label, values in zip(reported_labels(self.labels), of_method, strict=True):
                cells = (
                    method,
                    label,
                    *values,
                    assumption,
                    problem,
                )
                rows.append(dict(zip(names, cells, strict=True)))
        return rows


def compare_estimators(
    audit: ConfusionCounts,
    counts: ArrayLike,
    counts_at_audit: ArrayLike | None = None,
    *,
    rates: str = "process",
    level: float = 0.95,
    sampled_by: str = "auto",
) -> EstimatorComparison:
    """Apply all estimators and compare their expected errors at the estimated shift.

    Parameters
    ----------
    audit : ConfusionCounts
        As in `estimate_prevalence`.
    counts : (K,) array_like of int
        Predicted counts of the period.
    counts_at_audit : (K,) array_like of int, optional
        Predicted counts of the frame at audit time.
    rates : {"process", "frame"}, default "process"
        As in `estimate_prevalence`.
    level : float, default 0.95
        Confidence level of the intervals, in (0, 1).
    sampled_by : {"auto", "truth", "prediction", "random"}, default "auto"
        As in `estimate_prevalence`. A method that the design does not allow is not computed.

    Returns
    -------
    EstimatorComparison
        Estimates, intervals and expected errors per method. The table is advice: choosing the
        method with the smallest expected error each time is no better than always choosing "mle".

    See Also
    --------
    estimate_prevalence : Apply one method.
    estimator_theory : Compute the errors for known rates.

    Examples
    --------
    >>> audit = ConfusionCounts([[828, 72], [2, 98]])
    >>> for row in compare_estimators(audit, [8100, 1900], [8300, 1700]).rows():
    ...     print(f"{row['method']:18} {row['estimate']:.4f} {row['rmse']:.4f}")
    baseline           0.1000 0.0246
    classify_and_count 0.1900 0.0676
    subtracted_bias    0.1290 0.0122
    misclassification  0.1222 0.0096
    calibration        0.1115 0.0134
    mixed              0.1222 0.0073
    mle                0.1222 0.0073
    """
    checks.level(level)
    design = read_design(audit, counts_at_audit, designs.WITHOUT_AUDIT, rates, sampled_by)
    counts = check_counts("counts", counts, audit.labels)
    values = []
    problems = {}
    for method in estimators():
        problem = _why_not(audit, design, method)
        if problem:
            problems[method] = problem
            values.append(np.full((len(FIGURES), len(counts)), np.nan))
            continue
        frame = design.frame
        sampled_by = design.sampled_by
        periods = Periods(
            audit,
            frame,
            counts[None],
            method,
            rates,
            sampled_by=sampled_by,
        )
        values.append(_compared(periods, level))
    columns = np.stack(values, 1)
    if len(counts) == 2:
        columns = columns[:, :, 1]
    figures: dict[str, Any] = dict(zip(FIGURES, columns, strict=True))
    return EstimatorComparison(
        tuple(estimators()),
        **figures,
        labels=audit.labels,
        level=float(level),
        counted=one_or_all(counts / counts.sum()),
        notes=(*design.notes, *theory.undefined(problems)),
    )


def _why_not(audit: ConfusionCounts, design: designs.Design, method: str) -> str:
    """Return the reason why a method cannot be computed, or ''."""
    not_allowed = designs.why_not_allowed(design.sampled_by, method)
    if not_allowed:
        return not_allowed
    needs_frame = "frame" in METHODS[method].needs
    if needs_frame and design.frame is None and audit.weighted is None:
        return "needs counts_at_audit, the predicted counts of the audited frame"
    return not_estimable(audit, method)


def _compared(periods: Periods, level: float) -> ndarray:
    """Return estimate, standard error, limits, bias and root mean squared error, (6, K)."""
    low, high = periods.level_limits(level)
    error = np.sqrt(diagonal(periods.covariance))
    columns = (
        periods.restricted,
        error,
        low,
        high,
        periods.bias,
        periods.expected_error,
    )
    return np.stack(columns)[:, 0]
