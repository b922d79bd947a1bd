"""The mean F1 or recall of all classes, with its replicate variance.

`macro_f1` returns a `MacroEstimate`. Its interval is combined from those of the classes.
"""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.intervals.unseen import bounded_notes
from workbench.replication.estimates import (
    Replicated,
    ReplicateEstimate,
    domain_rows,
    estimate_statistic,
)
from workbench.replication.moments import Bounds, refuse_many_classes
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import METRICS, UndefinedError, ratio, title_of
from workbench.replication.unsampled import refuse_unsampled
from workbench.results import Interval, Note, Result

NAMED = 3


class MacroEstimate(Replicated, Result):
    """Mean of a statistic over all classes, with its replicate variance.

    `macro_f1` returns this result. Its method `interval` computes the confidence interval.

    Attributes
    ----------
    estimate, variance : float
        Estimate and its variance.
    labels : tuple
        The classes that are true; for macro F1 also those that are only predicted.
    parts : tuple of ReplicateEstimate
        F1 or recall of each class.
    correlation : (K, K) array
        Correlation of the classes over the replicates, 0 if one of the two does not vary.
    replicate_values : (R,) array of float
        Value of each replicate.
    undefined : int
        Number of replicates in which the value of a class is 0/0.
    df : int
        PSUs minus strata, at least 1.
    effective_df : float
        Satterthwaite's degrees of freedom from the variances of the classes, (sum v_k)^2 / sum
        v_k^2 / df_k.
    statistic : {"macro_f1", "balanced_accuracy"}
        Name of the statistic.

    See Also
    --------
    macro_f1 : Estimate the mean F1 of all classes.
    ReplicateEstimate : One statistic with its replicate variance.
    """

    estimate: float
    variance: float
    labels: tuple
    parts: tuple
    correlation: ndarray
    replicate_values: ndarray
    undefined: int
    df: int
    effective_df: float
    statistic: str = "macro_f1"
    kind = "share"

    @property
    def method(self) -> str:
        """Return the replication method."""
        return self.parts[0].method

    @property
    def items(self) -> int:
        """Return the number of items of the domain."""
        return self.parts[0].items

    @property
    def psus(self) -> int:
        """Return the number of PSUs of the domain."""
        return self.parts[0].psus

    @property
    def strata(self) -> int:
        """Return the number of strata of the domain."""
        return self.parts[0].strata

    @property
    def is_rough(self) -> bool:
        """Return whether the standard error is only roughly known."""
        return any(part.is_rough for part in self.parts)

    def interval(self, level: float = 0.95) -> Interval:
        """Return a confidence interval within 0 and 1 [1]_.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level, between 0 and 1.

        Returns
        -------
        Interval
            Lower and upper limit, with notes.

        Notes
        -----
        Let f_k be the value of class k of K, with limits l_k and u_k, and r_jk the correlations,
        with negative ones set to 0. The lower limit is the mean minus the square root of::

            sum_jk r_jk (f_j - l_j)(f_k - l_k) / K^2.

        The upper limit is formed in the same way. Both limits are at least z standard errors away,
        where z is the normal quantile. This rule is needed because the upper limits of classes near
        1 are close, although their mean varies equally to both sides. In 1,000 simulated samples of
        300 single items in 30 classes of accuracy .85, the 95% interval of macro F1 covered the
        true value in 95.7%. Without this rule it covered in 86.3%.

        References
        ----------
        .. [1] Zou & Donner, Construction of confidence limits about effect measures: a general
           approach, Statistics in Medicine 27, 2008: limits of a sum from those of its parts.
        """
        parts = [part.interval(level) for part in self.parts]
        limits = self._limits(parts, level)
        bounded = self._limits([interval.bounded or interval for interval in parts], level)
        notes = [*self.notes, *bounded_notes(limits, bounded)]
        return Interval(
            *limits,
            float(level),
            "default: from those of the classes",
            bounded=None if bounded == limits else bounded,
            notes=notes,
        )

    def _limits(self, parts: Sequence, level: float) -> Bounds:
        """Return the limits of the mean from those of the classes."""
        estimates = np.array([part.estimate for part in self.parts])
        together = np.maximum(self.correlation, 0.0)
        least = intervals.quantile(level) * self.standard_error
        limits = np.array([[*limits] for limits in parts]).T
        below, above = (
            max(least, np.sqrt(away @ together @ away) / estimates.size)
            for away in np.abs(limits - estimates)
        )
        return float(max(0.0, self.estimate - below)), float(min(1.0, self.estimate + above))

    def headline(self) -> str:
        """Return the estimate, its standard error and its interval."""
        limits = self.interval()
        classes = checks.counted(len(self.labels), "class", "classes")
        interval = f"{self._summary(limits)}{limits.bounded_words()}"
        drawn = checks.counted(self.replicate_values.size, f"{self.method} replicate")
        return f"{title_of(self.statistic)} {interval}; {classes}, {drawn}"

    def rows(self) -> list[dict]:
        """Return one row per class: its F1 or recall, standard error and limits."""
        of_classes = zip(self.labels, self.parts, strict=True)
        return [{"label": label} | row for label, part in of_classes for row in part.rows()]


def macro_f1(
    replicates: Replicates,
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    domain: ArrayLike | None = None,
) -> MacroEstimate:
    """Estimate the mean F1 of all classes, with its replicate variance.

    Use it for a classifier with several classes and given replicates. `estimate_metrics` also
    computes it, as "macro_f1".

    Parameters
    ----------
    replicates : Replicates
        Replicates of the design, from `replicates` or `imported_replicates`.
    truth, prediction : (n,) array_like
        Classes, both text or both numbers. As in scikit-learn, a class counts if it is true or
        predicted in the domain. The F1 of a class that is only predicted is 0.
    domain : (n,) array_like of bool, optional
        The items that count.

    Returns
    -------
    MacroEstimate
        Estimate, variance and the estimates of the classes.

    Raises
    ------
    ValueError
        If there are more than 100 classes, or the F1 of a class is undefined in more than 5% of the
        replicates. Also if only one class occurs, or if all items share a prediction or a truth,
        because other items were then not sampled.

    See Also
    --------
    estimate_metrics : Estimate the usual metrics of a classifier.
    replicate_estimate : Estimate one statistic with its replicate variance.

    Examples
    --------
    >>> import workbench as wb
    >>> forms = wb.digit_forms()
    >>> design = wb.SurveyDesign((forms.box - 1) // 2, psu=forms.box)
    >>> estimate = macro_f1(wb.replicates(design, "fay"), forms.digit, forms.read_a).estimate
    >>> round(estimate, 4)
    0.8773
    """
    return mean_of_classes(replicates, "macro_f1", truth, prediction, domain=domain)


def mean_of_classes(
    replicates: Replicates,
    statistic: str,
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    domain: ArrayLike | None = None,
) -> MacroEstimate:
    """Return the mean of a statistic over all classes with its replicate variance.

    Parameters
    ----------
    replicates : Replicates
    statistic : {"macro_f1", "balanced_accuracy"}
        The mean of the classes' F1, or of their recalls, over the true classes.
    truth, prediction, domain
        As in `macro_f1`.

    Returns
    -------
    MacroEstimate

    Raises
    ------
    ValueError
        As `macro_f1`.
    """
    weight = checks.instance("replicates", replicates, Replicates).design.weight
    truth = checks.labels("truth", truth, size=weight.size)
    prediction = checks.labels("prediction", prediction, size=weight.size)
    estimate = estimate_mean_of_classes(replicates, statistic, truth, prediction, domain=domain)
    refuse_unsampled(statistic, truth[weight > 0], prediction[weight > 0])
    return estimate


def estimate_mean_of_classes(
    replicates: Replicates,
    statistic: str,
    truth: ndarray,
    prediction: ndarray,
    *,
    domain: ArrayLike | None = None,
    labels: Sequence = (),
) -> MacroEstimate:
    """Return the estimate of `mean_of_classes`, without the check for unsampled classes.

    Parameters
    ----------
    replicates, statistic, truth, prediction, domain
        As in `mean_of_classes`.
    labels : sequence
        Labels of items that can have several. Truth and prediction are then (n, L) arrays of bool,
        and the mean is over the labels.
    """
    of_class = METRICS[statistic].of_each
    title = title_of(statistic)
    rows = domain_rows(domain, replicates.design.weight)
    notes = []
    if labels:
        occurs = (truth[rows] | prediction[rows]).any(0)
        classes = [label for label, occurred in zip(labels, occurs, strict=True) if occurred]
        absent = [label for label in labels if label not in classes]
        if absent:
            listed = checks.listed(absent, NAMED, quoted=True)
            text = f"labels that are neither true nor predicted are left out of the mean: {listed}"
            notes.append(Note("data", text))
    else:
        columns = (truth, prediction) if of_class == "f1" else (truth,)
        classes = np.unique(np.concatenate([column[rows] for column in columns])).tolist()
    if not classes:
        raise UndefinedError(f"{title} is undefined: no label is true or predicted")
    if len(classes) == 1:
        raise UndefinedError(
            f"{title} is undefined: it is the mean of several classes, and only "
            f"{classes[0]!r} occurs; one item of another class could halve it: use accuracy, "
            "or label items of other classes"
        )
    refuse_many_classes(statistic, len(classes))
    parts = []
    for label in classes:
        columns = truth == label, prediction == label
        if labels:
            k = labels.index(label)
            columns = truth[:, k], prediction[:, k]
        parts.append(estimate_statistic(replicates, of_class, *columns, domain=rows))
    values = np.mean([part.replicate_values for part in parts], axis=0)
    estimate = float(np.mean([part.estimate for part in parts]))
    variances = np.array([part.variance for part in parts])
    dfs = np.array([part.effective_df for part in parts])
    effective_df = dfs.min()
    if variances.any():
        effective_df = variances.sum() ** 2 / (variances**2 / dfs).sum()
    rough = [label for label, part in zip(classes, parts, strict=True) if part.is_rough]
    if rough:
        noun = "class" if len(rough) == 1 else "classes"
        text = (
            f"few clusters carry information about {noun} {checks.listed(rough, NAMED)}: the "
            "standard error is rough. Use the confidence interval, which accounts for this"
        )
        notes.append(Note("unreliable", text))
    return MacroEstimate(
        estimate,
        float(replicates.variances(values, estimate)),
        tuple(classes),
        tuple(parts),
        _correlation(replicates, parts),
        values,
        int(np.isnan(values).sum()),
        max(1, parts[0].psus - parts[0].strata),
        float(effective_df),
        statistic,
        notes=notes,
    )


def _correlation(replicates: Replicates, parts: list[ReplicateEstimate]) -> ndarray:
    """Return the correlations (K, K) of the classes over the replicates."""
    off = np.nan_to_num([part.replicate_values - part.estimate for part in parts])
    covariance = replicates.coefficients * off @ off.T
    error = np.sqrt(np.diag(covariance))
    correlation = np.nan_to_num(ratio(covariance, np.outer(error, error)))
    np.fill_diagonal(correlation, 1.0)
    return correlation
