"""True shares from predicted counts and one audit: estimators of Kloos, and double sampling.

A classifier's counts are biased however good it is. An audit, a random sample of the counted items
whose true class is looked up, shows by how much. Its result holds for later periods only as far as
one of two rates stays constant: P(prediction | truth) ("misclassification", "mixed", "mle",
"subtracted_bias") or P(truth | prediction) ("calibration"). Predicted labels cannot tell which.
Calibration reports only phi^2, the squared Matthews correlation, of a true change if it is the
first that is constant.

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
SIMILAR = 0.9  # ratio of estimated errors: from one audit, closer ones cannot be told apart
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
    """An estimate of the second of two classes (floats), or of each of more (arrays, tuples)."""

    labels: tuple

    @property
    def standard_error(self) -> Shares:
        """Float with two classes, else one per class."""
        return self.variance**0.5 if len(self.labels) == 2 else np.sqrt(np.diag(self.variance))

    def by_class(self, *figures: Any) -> Iterator[tuple]:
        """Return for each class that is estimated its label and its figures."""
        if len(self.labels) == 2:
            return iter([(self.labels[1], *figures)])
        columns = (column.tolist() if isinstance(column, ndarray) else column for column in figures)
        return zip(self.labels, *columns, strict=True)


class PrevalenceEstimate(OfClasses, Result):
    """Shares of the true classes in one period; made by `estimate_prevalence`.

    Attributes
    ----------
    estimate : float or (K,) array
        With two classes the share of `labels[1]`, else of every class. Not clipped: may lie outside
        0 to 1, with a note that says so; `restricted_estimate`, headline and rows have the nearest
        possible share. NaN where the audit gives none, for instance without an item of a class: a
        note says why.
    variance : float or (K, K) array
        First order, with half a count added to each cell of the audit; NaN without an estimate.
    bias : float or (K,) array
        Expected error if P(prediction | truth) is constant and the shift is as it seems; NaN where
        no formula is known ("mle"; "misclassification" and "mixed" with more than two classes),
        where it is of order 1/n.
    method, rates : str
    labels : tuple
    audit : ConfusionCounts
    counts, counts_at_audit : (K,) array of int
        The latter may be None.
    sampled_by : {"random", "truth", "prediction"}
        What the audit is taken for.
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
        """The notes as sentences."""
        return sentences(self.notes)

    @property
    def counted(self) -> Shares:
        """The raw predicted share of `labels[1]`, float; of more than two classes a (K,) array."""
        return one_or_all(self.counts / self.counts.sum())

    @property
    def assumption(self) -> str:
        """What is held constant, in words."""
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
        """The possible share nearest to `estimate`, float; (K,) with more than two classes."""
        return one_or_all(self._periods.restricted[0])

    def interval(self, level: float = 0.95) -> Intervals:
        """Return an `Interval`, or K of them with more than two classes; clipped to 0 and 1.

        Two classes: delta method with half a count added to each cell of the audit. More:
        percentiles of seeded Dirichlet draws of the audit's rates. Where that is not enough for
        "mle", "mixed" and "misclassification", the interval is the hull with further ones, its
        `method` names them and its notes say why: with two classes Fieller's where p00 + p11 - 1
        has a coefficient of variation above 0.1, and the delta method with one count per cell where
        a cell holds fewer than 3 audited items; with more classes in both cases the delta method
        with half a count per cell and with one per class. "hull" is always that of the delta method
        and Fieller's, each with its own added counts. An audit without an estimate gives all of 0
        to 1.

        Parameters
        ----------
        level : float
            Nominal coverage in (0, 1).

        Returns
        -------
        Interval or tuple of K Interval
            With two classes that of the share of `labels[1]`, else one per class in the order of
            `labels`.
        """
        checks.level(level)
        periods = self._periods
        low, high = periods.level_limits(level)
        return intervals_of(low[0], high[0], level, periods, periods.level_constructions)

    def headline(self) -> str:
        """Return estimate, interval, raw count and assumption in one sentence."""
        figures = self.by_class(self.restricted_estimate, self.standard_error, self.interval())
        if np.isnan(self.estimate).any():
            text = ": no estimate, every share is possible (see notes)"
        elif len(self.labels) == 2:
            [(label, share, error, (low, high))] = figures
            text = f": {share:.4g} of class {label} (SE {error:.4g}), "
            text += f"95% from {low:.4g} to {high:.4g}; counted {self.counted:.4g}"
        else:
            shares = []
            for label, share, _, (low, high) in figures:
                shares.append(f"{label} {share:.4g} ({low:.3g} to {high:.3g})")
            text = f", 95%: {', '.join(shares)}"
        return f"{self.method}{text}; if {self.assumption}; {self.audit.n:,} audited"

    def rows(self) -> list[dict]:
        """Return one row per class (two classes: `labels[1]`)."""
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
    """Estimate the true shares of a period from its predicted counts and an audit.

    Parameters
    ----------
    audit : ConfusionCounts
        A simple random sample, without replacement, of the frame counted at audit time; or a sample
        as `sampled_by` says.
    counts : (K,) array_like of int
        Predicted counts of the period in the order of `audit.labels`: counts, not shares.
    counts_at_audit : (K,) array_like of int, optional
        Predicted counts of the frame at audit time, audited items included; needed by "mixed" and
        "mle". Where `counts` are the same, the period is taken to be that frame. A sample by the
        truth does not need them.
    method : {"auto", "mle", "mixed", "misclassification", "calibration", "subtracted_bias", \
"classify_and_count", \
"baseline", "hull"}
        What stays constant is part of the method: P(prediction | truth) for "mle", "mixed",
        "misclassification", "hull" and "subtracted_bias"; P(truth | prediction) for "calibration";
        the share itself for "baseline". "hull" is "misclassification" with a shorter interval for
        two classes, for an audit of an earlier batch. "auto" is "mle" for a random audit,
        "misclassification" for one sampled by the truth, "calibration" for one by the prediction.
    rates : {"process", "frame"}
        Whether later periods share the process that made the frame, or its very rates: matters
        where the audit is a large part of the frame. For the audited frame itself both give the
        finite-population factor 1 - n/N. Choose "process" unless you know that later items are read
        exactly as those of the frame were: with "frame" where only the process is shared, and half
        of the frame audited, 95% intervals cover 79%.
    sampled_by : {"auto", "truth", "prediction", "random"}
        How the audited items were chosen. "truth": numbers of items of each true class, such as
        known positives and negatives, from here or elsewhere; allows "misclassification", "hull",
        "subtracted_bias" and "classify_and_count". "prediction": numbers of items of each predicted
        class; allows "calibration" and "classify_and_count". "random" allows all. "auto" decides by
        the margins of the audit, says so in a note, and raises where they leave it open.

    Returns
    -------
    PrevalenceEstimate

    Raises
    ------
    ValueError
        If counts are shares, missing, negative or zero, the labels are clearly swapped, or
        "calibration" or "subtracted_bias" lacks audited items of a class; if the design of the
        audit does not allow the method, or cannot be seen. "mle", "mixed" and "misclassification"
        have no estimate from an audit without items of a class or where the classifier is no better
        than chance, but an interval, all of 0 to 1.

    Notes
    -----
    With P the row-normalized and C the column-normalized audit table, q the predicted shares at
    audit time and q' in the period: "classify_and_count" q', "subtracted_bias" 2q' - P'q',
    "misclassification" (P')^-1 q' [3]_, "calibration" C q', "mixed" C q + (P')^-1 (q' - q) [1]_,
    "mle" as "misclassification" after the columns of the table have been reweighted to q [2]_. The
    variance is that of the first-order expansion in the audit's cells, the frame's counts (of which
    the audit is part) and the period's.

    References
    ----------
    .. [1] Kloos, Statistical Journal of the IAOS 37, 2021.
    .. [2] Tenenbein, JASA 65, 1970.
    .. [3] Rogan & Gladen, American Journal of Epidemiology 107, 1978.

    Examples
    --------
    >>> audit = ConfusionCounts([[828, 72], [2, 98]])
    >>> estimate_prevalence(audit, [8100, 1900], [8300, 1700])      # doctest: +NORMALIZE_WHITESPACE
    PrevalenceEstimate(mle: 0.1222 of class 1 (SE 0.007422), 95% from 0.1082 to 0.138; counted 0.19;
    if P(prediction | truth) is what it was in the audit; 1,000 audited)
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
    """Return the labels of the classes that are reported: of two only the second."""
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
    """Return the Interval of `labels[1]` with two classes, else a tuple of K."""
    description = limits.said(constructions or periods.constructions)
    limits_of_classes = np.stack([low, high], 1).tolist()
    intervals = tuple(
        Interval(least, most, float(level), description, notes=periods.doubts)
        for least, most in limits_of_classes
    )
    return intervals[1] if low.size == 2 else intervals


class EstimatorComparison(Result):
    """All estimators side by side; made by `compare_estimators`.

    Attributes
    ----------
    methods : tuple of str
    estimate, standard_error, low, high, bias, rmse : (M,) array, or (M, K) with more than two
    classes
        NaN where a method cannot be computed. Estimates are the nearest possible shares. The bias
        (and in it the RMSE) holds if P(prediction | truth) is constant and the shift is as it
        seems. The RMSE holds how little one audit says of a bias; a bias of order 1/n that is not
        known is left out of it.
    labels : tuple
    level : float
    counted : float or (K,) array
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
        """Why each method cannot be computed, tuple of str; an empty text where it can."""
        return tuple(self.reasons.get(method, "") for method in self.methods)

    @property
    def best(self) -> str | None:
        """The advised method, or None where none can be told.

        It is "mle", or the first of "mixed" and "misclassification" that can be computed, if it is
        in `no_worse`; else the method with the least `total_rmse`.
        """
        no_worse = self.no_worse
        usual = [method for method in USUAL if method in no_worse]
        return next(iter((*usual, *no_worse)), None)

    @property
    def no_worse(self) -> tuple[str, ...]:
        """The methods whose `total_rmse` is nearly the least, from the least on.

        Errors that are estimated from one audit do not tell apart methods whose errors differ by
        less than a tenth.
        """
        total = self.total_rmse
        least = np.nanmin(total, initial=np.inf)
        order = (self.methods[m] for m in np.argsort(total) if SIMILAR * total[m] <= least)
        return tuple(order)

    @property
    def total_rmse(self) -> ndarray:
        """Root mean squared error of all classes together, (M,), or of the second of two."""
        return self.rmse if self.rmse.ndim == 1 else np.sqrt((self.rmse**2).sum(1))

    def headline(self) -> str:
        """Return the range of the estimates and the advised method."""
        text = checks.counted(len(self.methods) - len(self.reasons), "estimator")
        if self.rmse.ndim == 1:
            least = np.nanmin(self.estimate)
            most = np.nanmax(self.estimate)
            shares = f"{least:.4g} to {most:.4g} (counted {self.counted:.4g})"
            text += f" of the share of class {self.labels[1]}, {shares}"
        if self.best is None:
            return (
                f"{text}; no expected errors: the classes are read no better than by chance, or "
                "one was not audited"
            )
        return (
            f"{text}; advised at this shift: {self.best}, if P(prediction | truth) is constant, "
            "which this does not test"
        )

    def rows(self) -> list[dict]:
        """Return one row per method (and class)."""
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
    """Estimate by all methods and say what error theory expects of each at the shift that is seen.

    Parameters
    ----------
    audit, counts, counts_at_audit, rates
        As in `estimate_prevalence`.
    level : float
    sampled_by : {"auto", "truth", "prediction", "random"}
        As in `estimate_prevalence`; a method that the design does not allow is not computed.

    Returns
    -------
    EstimatorComparison
        To choose the method of least expected error each time is no better than always "mle"; the
        table is advice.

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
        return "counts_at_audit is needed"
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
