"""Audits of one class: estimate its precision, recall and F1 in addition to the accuracy.

The strata lie within the predicted classes. Read `class_audit` first, then `ClassAudit`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.accuracy import AccuracyAudit, accuracy_fields, checked_seed, within
from workbench.audits.plans import SamplePlan
from workbench.audits.questions import (
    AuditDesign,
    audited_class,
    strata_of_class,
)
from workbench.data.scored_items import ScoredItems
from workbench.labeling.answers import class_texts
from workbench.results import FILLED, Note, digits, html_table, percent
from workbench.results.vocabulary import metric_words
from workbench.stratified import skips
from workbench.stratified.class_metrics import (
    METRICS,
    ClassMetrics,
    class_metrics,
    expected_half_widths,
)
from workbench.stratified.strata import Strata, refuse_given


class ClassAudit(AccuracyAudit):
    """An audit of the metrics of one class: the items to label, or the estimates.

    `class_audit` makes it. It is an accuracy audit whose strata lie within the predicted class.
    `metric_rows` has precision, recall, F1 and accuracy with their intervals.

    Attributes
    ----------
    mode : {"plan", "simulated", "analyzed"}
        "plan": the labels are still to be made. "simulated": they come from a known truth.
        "analyzed": they were read from a filled annotation sheet or with the items.
    stratum_size : (K,) array of int
        Number of items of each stratum.
    labeled : (K,) array of int
        Number of labels of each stratum.
    mean_score : (K,) array of float
        Mean score of each stratum.
    estimate : StratifiedEstimate or None
        Estimate of the accuracy of all items, None for a plan.
    confidence_interval : Interval or None
        Confidence interval of the accuracy, None for a plan.
    expected_half_width : float
        Half-width of that interval if the predictions are correct as often as their scores say. NaN
        if the scores are not probabilities, or if the audit was analyzed.
    truth : float or None
        True accuracy of a simulated audit, else None.
    level : float
        Confidence level of the intervals.
    stratifier : str
        Method that divided the items into strata.
    allocation : str
        Method that allocated the labels to the strata.
    label_sheet : str
        File of the annotation sheet that was written for the annotators, or "".
    unmatched : tuple of str
        Ids of the filled sheet that are not among the items.
    unlabeled : tuple of str
        Ids of the sampled items without a label.
    skipped : tuple of str
        Ids of `unlabeled` that come before the last label in the order of labeling.
    row_counts : dict
        Number of rows of the filled sheet by kind, as in `AccuracyAudit`.
    premise : str
        Assumption about labels that were not sampled by a plan, else "".
    metrics_of : str
        The class.
    predicted : (K,) array of bool
        Whether the items of a stratum are predicted as the class.
    asks : {"correct", "truth"}
        Column of the annotation sheet that is to be filled.
    metrics : ClassMetrics or None
        Estimates of precision, recall and F1, None for a plan.
    limits : tuple of Interval
        Intervals of precision, recall and F1.
    known : ClassMetrics or None
        Metrics of all items if their truth is known.
    rate : (K,) array of float
        Expected proportion of each stratum that is classified correctly as a member or not a member
        of the class; see Notes.

    See Also
    --------
    class_audit : Plan, simulate or analyze this audit.
    ClassMetrics : Estimates of the metrics of one class.
    classification_table : Estimate the metrics of every class from a confusion table.

    Notes
    -----
    `rate` assumes that predictions are correct as often as their scores say. It also assumes that
    incorrect predictions belong to each other class as often as that class is predicted. It is NaN
    if the scores are not probabilities.
    """

    metrics_of: str = ""
    predicted: np.ndarray = FILLED
    asks: str = "correct"
    metrics: ClassMetrics | None = None
    limits: tuple = ()
    known: ClassMetrics | None = None
    rate: np.ndarray = FILLED

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the expected half-widths of the intervals of precision, recall and accuracy.

        It assumes that predictions are correct as often as their scores say. If the scores are not
        probabilities, only the half-width of the accuracy is given.

        Parameters
        ----------
        labeled : (K,) array of int
            Labels of each stratum.

        Returns
        -------
        dict of str to float
            Expected half-width by metric.
        """
        of_accuracy = super().half_widths(labeled)
        if self.rate is None or not np.isfinite(self.rate).all() or not self.predicted.any():
            return of_accuracy
        return (
            expected_half_widths(self.stratum_size, self.predicted, self.rate, labeled, self.level)
            | of_accuracy
        )

    def headline(self) -> str:
        """Return the metrics of the class and accuracy, or the plan, in one sentence."""
        if self.metrics is None:
            labels = checks.counted(self.labeled[self.predicted].sum(), "label")
            return f"{super().headline()}; {labels} for items predicted {self.metrics_of!r}"
        metrics = []
        for metric, limits in zip(METRICS, self.limits, strict=True):
            value = skips.said_percent(*self.metrics.bounds(metric))
            low, high = map(skips.said_percent, limits)
            metrics.append(f"{metric_words(metric)} {value} ({low} to {high})")
        overall = super().headline()
        return f"Class {self.metrics_of!r}: {', '.join(metrics)}; {overall[0].lower()}{overall[1:]}"

    def finding(self) -> str:
        """Return precision, recall and accuracy, or what to do, in one plain sentence."""
        if self.metrics is None:
            return self._plan()
        metrics = "; ".join(
            _said(name, bounds, limits)
            for name, bounds, limits, _ in self._estimates()
            if name != "f1"
        )
        level = f"{percent(self.level)} confidence intervals in parentheses"
        return f"{self.premise}Class {self.metrics_of}: {metrics}; {level}{self._doubt()}"

    def _plan(self) -> str:
        """Return the number of labels and the expected half-widths of the metrics in words."""
        widths = self.half_widths(self.labeled)
        if "recall" not in widths:
            return super().finding()
        unknown = [name for name in METRICS[:2] if digits.nothing(-widths[name], widths[name])]
        widths_text = [
            f"{name} {within(width)}" for name, width in widths.items() if name not in unknown
        ]
        missing = ""
        if unknown:
            missing = f". The labels are too few to estimate {' and '.join(unknown)}, so plan more"
        metrics = " and ".join(
            [", ".join(widths_text[:-1]), widths_text[-1]] if len(widths_text) > 1 else widths_text
        )
        return (
            f"Label {self.labeled.sum():,} of {checks.counted(self.stratum_size.sum(), 'item')} to "
            f"estimate, for class {self.metrics_of}, {metrics}{missing}"
        )

    def _known(self) -> str:
        if self.known is None or self.truth is None:
            return super()._known()
        shares = digits.percents(self.known.precision, self.known.recall, self.truth)
        return "The true values are precision {}, recall {} and accuracy {}. ".format(*shares)

    def metric_rows(self) -> list[dict]:
        """Return one row per metric of the class and one for the accuracy: estimate and limits.

        A row of a simulated audit also has the true value. If items could not be labeled, the
        estimate is a range.
        """
        rows: list[dict] = []
        if self.estimate is None:
            return rows
        for metric, bounds, limits, truth in self._estimates():
            row = {
                "metric": metric_words(metric),
                **skips.estimate_cells(bounds, self.estimate.skipped),
                "low": limits.low,
                "high": limits.high,
            }
            rows.append(row if self.known is None else row | {"truth": truth})
        return rows

    def _estimates(self) -> list[tuple]:
        """Return name, bounds, limits and true value of the metrics and of the accuracy."""
        if self.metrics is None or self.estimate is None:
            return []
        rows = [
            (metric, self.metrics.bounds(metric), limits, getattr(self.known, metric, None))
            for metric, limits in zip(METRICS, self.limits, strict=True)
        ]
        overall = "accuracy", self.estimate.bounds, self.confidence_interval, self.truth
        return [*rows, overall]

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1, with its predicted class."""
        return [
            {
                "stratum": row["stratum"],
                "prediction": self.metrics_of if member else "another class",
                **row,
            }
            for row, member in zip(super().rows(), self.predicted, strict=True)
        ]

    def _tables(self) -> str:
        if self.metrics is None:
            return super()._tables()
        return html_table(self.metric_rows(), self.headline()) + html_table(
            self.rows(), "Labels per stratum"
        )


def _said(name: str, bounds: tuple, limits: Any) -> str:
    """Return an estimate with its limits in words; without a result, only the limits."""
    low, high = limits
    ends = digits.percents(low, high, error=limits.half_width)
    if digits.nothing(low, high):
        return f"{name} may be anything between {ends[0]} and {ends[1]}"
    value = skips.said_percent(*bounds, error=limits.half_width)
    return f"{name} {value} ({ends[0]} to {ends[1]})"


def class_audit(
    items: ScoredItems,
    metrics_of: str,
    budget: int = 100,
    *,
    n_strata: int = 5,
    stratifier: str = "equal_size",
    allocation: str = "proportional",
    interval: str = "default",
    level: float = 0.95,
    labels: str = "",
    label_sheet: str = "",
    rng: int = 0,
    columns: Mapping[str, ArrayLike] | None = None,
    source: Mapping[str, Any] | None = None,
) -> ClassAudit:
    """Estimate precision, recall and F1 of one class, and the accuracy, from a few labels.

    Without labels the audit is a plan, which says which items to label. With the filled annotation
    sheet as `labels` it estimates the metrics and their intervals. If the items have true classes,
    the audit is simulated with these.

    Parameters
    ----------
    items : ScoredItems
        Items with predictions. With `truth` the audit is simulated; without, it is planned.
    metrics_of : str
        A class that is predicted.
    budget : int, default 100
        Labels in total, as in `accuracy_audit`.
    n_strata : int, default 5
        Number of strata of the items predicted as the class, and of the other items.
    stratifier : str, default "equal_size"
        Method that divides the items into strata by score, as in `workbench.stratify`.
    allocation : {"proportional"}, default "proportional"
        30% of the labels go to the items predicted as the class. Within these and within the other
        items, labels are allocated in proportion to stratum size.
    interval : {"default", "short", "guaranteed", "wald", "wilson"}, default "default"
        Interval method of the accuracy, as in `workbench.stratified_interval`.
    level : float, default 0.95
        Confidence level in (0, 1).
    labels : str, default ""
        Filled annotation sheet to analyze, as in `accuracy_audit`.
    label_sheet : str, default ""
        Path of the empty annotation sheet of a plan. With more than two predicted classes it asks
        for the true class, because an incorrect prediction of another class may still be correct
        about this one. Then it shows a prediction only if `columns` holds it.
    rng : int, default 0
        Seed of the sample. Use the same seed for the plan and the analysis.
    columns : dict of (N,) array_like, optional
        Columns of the items that the sheet shows, by name.
    source : dict, optional
        Origin of the items, as in `accuracy_audit`.

    Returns
    -------
    ClassAudit
        Plan, or metrics of the class and accuracy with their intervals.

    Raises
    ------
    ValueError
        If an argument is out of its domain, the class is not predicted, or the sheet does not match
        the items or the plan.

    See Also
    --------
    accuracy_audit : Estimate the accuracy only.
    class_metrics : Estimate the metrics of a class from counts per stratum.
    classification_table : Estimate the metrics of every class from a confusion table.

    Examples
    --------
    >>> import workbench as wb
    >>> items = wb.digit_forms().items()
    >>> wb.class_audit(items, "9", 200, n_strata=2)     # doctest: +NORMALIZE_WHITESPACE
    ClassAudit(Class '9': precision 73.3% (62.4% to 82.6%), recall 93.4% (72.5% to 99.5%),
    F1 82.2% (70.6% to 89.4%); accuracy 91.7% (95% confidence interval 87.3% to 94.8%),
    200 labels, 4 strata; the true accuracy is 87.7%)
    """
    seed = checked_seed(items, interval, level, stratifier, rng=rng)
    if allocation != "proportional":
        raise checks.WrongValue(
            "allocation",
            "must be 'proportional' for the metrics of a class: 30% of the labels go to the items "
            "predicted as the class; within both parts, labels are in proportion to stratum size",
            allocation,
        )
    name, asks = audited_class(items, metrics_of)
    refuse_given(items)
    checks.whole("n_strata", n_strata, 1, items.size)
    if asks == "truth" and items.correct is not None and items.truth is None:
        raise checks.WrongValue(
            "items", f"must hold the true classes to simulate the metrics of class {name!r}"
        )
    design = AuditDesign("class_metrics", name, n_strata, stratifier, allocation, False, seed, asks)
    plan = SamplePlan(items, design, source, columns)
    fields, sample, strata = plan.collect(budget, labels, label_sheet)
    predicted = strata_of_class(items, name, strata)
    fields = accuracy_fields(items, fields, sample, interval, level)
    if sample is not None:
        fields |= _metrics(items, strata, predicted, name, sample, level, fields["notes"])
    return ClassAudit(
        **fields,
        allocation=allocation,
        metrics_of=name,
        predicted=predicted,
        asks=asks,
        rate=_rate(items, strata, name),
    )


def _rate(items: ScoredItems, strata: Strata, name: str) -> np.ndarray:
    """Return the expected proportion of correct predictions about membership in each stratum.

    It assumes that predictions are correct as often as their scores say.
    """
    if items.score_is != "confidence" or items.prediction is None:
        return np.full(strata.n_strata, np.nan)
    _, code, count = np.unique(
        class_texts(items.prediction), return_inverse=True, return_counts=True
    )
    member = class_texts(np.asarray(items.prediction)) == name
    missed = np.where(member, 1.0, member.sum() / np.maximum(items.size - count[code], 1))
    right = 1 - np.clip(1 - items.score, 0, 1) * missed
    return np.bincount(strata.labels, right, strata.n_strata) / strata.sizes


def _metrics(
    items: ScoredItems,
    strata: Strata,
    predicted: np.ndarray,
    name: str,
    sample: Any,
    level: float,
    notes: list,
) -> dict:
    """Return the fields that hold the metrics of the class."""
    if sample.truth is None:
        notes = [
            *notes,
            Note(
                "assumption",
                f"every incorrect prediction counts as incorrect about class {name!r}, which is "
                "true if there are only two classes",
            ),
        ]
        right = sample.right == 1
    else:
        right = _about(items, name, sample.index, sample.truth)
    metrics = _of_class(strata, predicted, sample.index, right, sample.skipped)
    limits = tuple(metrics.interval(metric, level) for metric in METRICS)
    true_metrics = None
    if items.truth is not None:
        every = np.arange(items.size)
        right = _about(items, name, every, class_texts(items.truth))
        true_metrics = _of_class(strata, predicted, every, right)
    return {
        "metrics": metrics,
        "limits": limits,
        "known": true_metrics,
        "notes": [
            *notes,
            *metrics.notes,
            *(note for interval in limits for note in interval.notes),
        ],
    }


def _of_class(
    strata: Strata,
    predicted: np.ndarray,
    index: np.ndarray,
    right: np.ndarray,
    skipped: np.ndarray | None = None,
) -> ClassMetrics:
    """Return the metrics of the class from some items.

    `right` says whether the prediction about membership in the class is correct.
    """
    stratum = strata.labels[index]
    return class_metrics(
        strata.sizes,
        predicted,
        np.bincount(stratum, minlength=strata.n_strata),
        np.bincount(stratum, right, strata.n_strata).astype(int),
        skipped=skipped,
    )


def _about(items: Any, name: Any, index: Any, truth: Any) -> np.ndarray:
    """Return whether the predictions about membership in the class are correct."""
    return (truth == name) == (class_texts(items.prediction)[index] == name)
