"""Accuracy audits: plan which items to label, simulate an audit, or analyze the labels.

Read `accuracy_audit` first, then `AccuracyAudit`. `Audit` holds what all audits have in common.
`compare_intervals` computes every interval method from the labels of one audit.
"""

import functools
import html
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.audits.plans import SamplePlan
from workbench.audits.questions import AuditDesign
from workbench.data.scored_items import ScoredItems
from workbench.labeling.answers import OTHER
from workbench.labeling.draws import seed_of
from workbench.labeling.sheets import SheetLabels
from workbench.results import (
    FILLED,
    Interval,
    Result,
    digits,
    html_table,
    note_list,
    percent,
    stratum_rows,
)
from workbench.stratified import accuracy, skips
from workbench.stratified.default_plan import AUTO, check_trusted
from workbench.stratified.sequential import ROUNDS
from workbench.stratified.strata import STRATIFIERS

ALLOCATIONS = (AUTO, *rules.METHODS)
WRITE = {
    "correct": "Write 1 (correct) or 0 (incorrect) into",
    "truth": "Write the true class of each item, not whether its prediction is correct "
    f"({OTHER!r} for a class that is never predicted), into",
    "which": "Write whose answer is correct (A, B, both or neither) into",
}
UNMATCHED = (
    "id of the annotation sheet is not among the items and was not used",
    "ids of the annotation sheet are not among the items and were not used",
)
UNLABELED = "item could not be labeled", "items could not be labeled"
TIMES = (0.5, 1, 2, 4)
SKIPPED = "the item without a label is", "the items without a label are"
ROW_KINDS = {"skipped": "could not be labeled", "not drawn": "not sampled"}


class Audit(Result):
    """A plan of a random sample to label, or its analysis: the base of all audits."""

    mode: str
    stratum_size: np.ndarray
    labeled: np.ndarray
    mean_score: np.ndarray
    expected_half_width: float
    level: float
    stratifier: str
    allocation: str
    confidence_interval: Interval | None = None
    truth: float | None = None
    label_sheet: str = ""
    unmatched: tuple = ()
    unlabeled: tuple = ()
    skipped: tuple = ()
    row_counts: dict = FILLED
    premise: str = ""

    asks = "correct"

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the expected half-width of each metric for a given number of labels per stratum.

        Parameters
        ----------
        labeled : (K,) array of int
            Labels of each stratum: at least 2, or all items of a stratum with fewer.

        Returns
        -------
        dict of str to float
            Expected half-width by metric.
        """
        raise TypeError(f"{type(self).__name__} plans no half-widths")

    def plan_rows(self) -> list[dict]:
        """Return expected half-widths of the plan, and of half, twice and four times its labels."""
        least, total = np.minimum(ROUNDS, self.stratum_size), self.labeled.cumsum()
        plans = {}
        for times in TIMES:
            labeled = np.diff(np.rint(total * times), prepend=0).astype(int)
            labeled = np.clip(labeled, least, self.stratum_size)
            plans[int(labeled.sum())] = labeled
        return [
            {"labels": labels, "metric": metric, "half_width": width}
            for labels, labeled in plans.items()
            for metric, width in self.half_widths(labeled).items()
        ]

    def interval(self) -> Interval | None:
        """Return the confidence interval of the audit, None for a plan."""
        return self.confidence_interval

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: size, mean score and labels."""
        return stratum_rows(
            size=self.stratum_size, mean_score=self.mean_score, labeled=self.labeled
        )

    def next_step(self) -> str:
        """Return the next step in words."""
        return self._next_step(self.label_sheet)

    def _next_step(self, sheet: str) -> str:
        if self.mode == "simulated":
            return (
                "The labels were taken from the known truth. This simulates an audit and shows how "
                "precise an audit of this size is."
            )
        if self.mode == "plan" and not self.label_sheet:
            return "Nothing was labeled. Name an annotation sheet to get the items to label."
        if self.mode == "plan":
            first = np.minimum(ROUNDS, self.labeled).sum()
            return (
                f"{WRITE[self.asks]} the column {self.asks} of {sheet}, row by row from the top. "
                "Then run the same audit again with that file as labels (--labels). You may stop "
                f"after any row from row {first} on. Decide where to stop before you see the "
                "labels. Leave the cell of an item empty if nobody can label it. Do not change the "
                "scores, the strata or the seed."
            )
        if self.premise and not self.unmatched:
            return "When you quote the interval, say how the labeled items were chosen."
        if self.unmatched or any(note.kind == "refused" for note in self.notes):
            return (
                "Do not quote this yet: the annotation sheet does not match the plan. "
                "The notes say where."
            )
        if self.skipped:
            remaining = SKIPPED[len(self.skipped) > 1]
            quote = "Quote the interval with the estimate."
            return f"{quote} It becomes shorter once {remaining} labeled."
        if self.unlabeled:
            return (
                "Quote the interval with the estimate if the decision to stop did not depend on "
                "the labels seen."
            )
        return "All rows of the annotation sheet are labeled. Quote the interval with the estimate."

    def sheet_words(self) -> str:
        """Return a sentence with the number of rows of each kind in the filled sheet.

        Returns
        -------
        str
            "" if no sheet was read.
        """
        if not self.row_counts:
            return ""
        kinds = checks.listed(
            f"{count:,} {ROW_KINDS.get(kind, kind)}" for kind, count in self.row_counts.items()
        )
        rows = checks.counted(sum(self.row_counts.values()), "row")
        return f"The annotation sheet has {rows}: {kinds}."

    def basis(self) -> str:
        """Return one line that says which labels the finding rests on, and what to do next."""
        interval = f"{percent(self.level)} confidence interval"
        grouped = f"{self._in_strata()} among {self._among()}"
        if self.premise:
            labels = f"{_labels(self)} that were not sampled by a plan"
            return f"From {labels}, counted within {grouped}; {interval}. {self.next_step()}"
        sample = f"{_labels(self)}, sampled at random within {grouped}"
        if self.mode == "plan":
            next_step = self._next_step(os.path.basename(self.label_sheet))
            return f"{sample[0].upper()}{sample[1:]}. {next_step}"
        return f"From {sample}; {interval}. {self._known()}{self.next_step()}"

    def _among(self) -> str:
        return checks.counted(self.stratum_size.sum(), "item")

    def _in_strata(self) -> str:
        return f"{checks.counted(self.labeled.size, 'stratum', 'strata')} of similar scores"

    def _to_do(self, items: int, what: str) -> str:
        """Return the number of labels that a plan needs, and the expected half-width, in words."""
        half, labels = self.expected_half_width, f"{self.labeled.sum():,}"
        if digits.nothing(-half, half):
            return (
                f"No result to expect: {labels} labels are too few to estimate {what}, so plan more"
            )
        purpose = f"estimate {what}"
        if np.isfinite(half):
            purpose += f" {within(half)}"
        return f"Label {labels} of {checks.counted(items, 'item')} to {purpose}"

    def _known(self) -> str:
        if self.truth is None:
            return ""
        return f"The true accuracy is {digits.percents(self.truth)[0]}. "

    def _doubt(self) -> str:
        """Return a warning if the finding must not be quoted, else ""."""
        if self.mode == "analyzed" and any(note.kind == "refused" for note in self.notes):
            return ". Do not quote it yet: the annotation sheet does not match the plan"
        return ""

    def _repr_html_(self) -> str:
        lists = "".join(
            f"<p>{checks.counted(len(ids), *what)}: {html.escape(checks.listed(ids, 200))}</p>"
            for ids, what in ((self.unmatched, UNMATCHED), (self.skipped, UNLABELED))
            if ids
        )
        sheet = f"<p>{html.escape(self.sheet_words())}</p>" if self.row_counts else ""
        next_step = f"<p>{html.escape(self.next_step())}</p>"
        return f"{self._tables()}{note_list(self.notes)}{sheet}{lists}{next_step}"

    def _tables(self) -> str:
        return html_table(self.rows(), self.headline())


class AccuracyAudit(Audit):
    """An audit of the accuracy: the random sample to label, or the estimate from its labels.

    `accuracy_audit` makes it. `rows` has one row per stratum; `finding` states the result in one
    sentence.

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
        Estimate of the accuracy, None for a plan.
    confidence_interval : Interval or None
        Confidence interval of the accuracy, None for a plan.
    expected_half_width : float
        Half-width of the interval if the predictions are correct as often as their scores say. NaN
        if the scores are not probabilities, or if the audit was analyzed.
    truth : float or None
        True accuracy of a simulated audit, else None.
    level : float
        Confidence level of the interval.
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
        Number of rows of the filled sheet by kind: labeled, skipped, not reached, repeated,
        unmatched, empty, or not sampled by the plan ("not drawn").
    premise : str
        Assumption about labels that were not sampled by a plan, else "".

    See Also
    --------
    accuracy_audit : Plan, simulate or analyze an audit of the accuracy.
    compare_intervals : Compute every interval method from the labels of an audit.
    StratifiedEstimate : Estimate of the accuracy from a stratified sample.
    """

    estimate: accuracy.StratifiedEstimate | None = None

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the expected half-width of the interval of the accuracy.

        It assumes that predictions are correct as often as their scores say. If the scores are not
        probabilities, it assumes that half of the predictions are correct.

        Parameters
        ----------
        labeled : (K,) array of int
            Labels of each stratum.

        Returns
        -------
        dict of str to float
            Expected half-width, with the key "accuracy".
        """
        return {"accuracy": self._default(labeled) * self._longer}

    @functools.cached_property
    def _longer(self) -> float:
        """Ratio of the half-width of the plan's interval method to that of the default one."""
        planned = self._default(self.labeled)
        if not planned or not np.isfinite(self.expected_half_width):
            return 1.0
        return self.expected_half_width / planned

    def _default(self, labeled: np.ndarray) -> float:
        rate = expected_rate(self)
        return accuracy.expected_half_width(self.stratum_size, rate, labeled, level=self.level)[0]

    def headline(self) -> str:
        """Return the finding, or the plan, in one sentence."""
        strata = checks.counted(self.labeled.size, "stratum", "strata")
        if self.estimate is None or self.confidence_interval is None:
            plan = f"Label {self.labeled.sum():,} of {self._among()} in {strata}"
            if not np.isfinite(self.expected_half_width):
                return plan
            return (
                f"{plan}; expected half-width {100 * self.expected_half_width:.1f} percentage "
                "points if the scores are calibrated"
            )
        limits = self.confidence_interval
        truth = ""
        if self.truth is not None:
            truth = f"; the true accuracy is {digits.percents(self.truth)[0]}"
        low, high = digits.percents(limits.low, limits.high)
        return (
            f"Accuracy {skips.said_percent(*self.estimate.bounds)} ({percent(limits.level)} "
            f"confidence interval {low} to {high}), {_labels(self)}"
            f"{skips.words(self.estimate.skipped)}, {strata}{truth}"
        )

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: size, mean score and labels.

        Once there are labels, a row also has the number of correct items and the accuracy.
        """
        rows = super().rows()
        if self.estimate is None:
            return rows
        names = "correct", "accuracy", "skipped"
        return [
            row | {name: estimates[name] for name in names if name in estimates}
            for row, estimates in zip(rows, self.estimate.rows(), strict=True)
        ]

    def _in_strata(self) -> str:
        if self.stratifier == "given":
            return checks.counted(self.labeled.size, "given stratum", "given strata")
        return super()._in_strata()

    def finding(self) -> str:
        """Return the accuracy and its interval, or what to do, in one plain sentence."""
        if self.estimate is None or self.confidence_interval is None:
            return self._to_do(self.stratum_size.sum(), "the accuracy")
        low, high = self.confidence_interval
        if digits.nothing(low, high):
            ends = digits.percents(low, high, error=high - low)
            between = f"between {ends[0]} and {ends[1]}"
            no_result = f"No result: after {_labels(self)} the accuracy may be anything {between}"
            return f"{self.premise}{no_result}"
        error = (high - low) / 2
        value = skips.said_percent(*self.estimate.bounds, error=error)
        ends = digits.percents(low, high, error=error)
        interval = f"{percent(self.level)} confidence interval {ends[0]} to {ends[1]}"
        return f"{self.premise}Accuracy {value} ({interval}){self._doubt()}"


def expected_rate(audit: AccuracyAudit) -> np.ndarray:
    """Return the expected accuracy of each stratum, 0.5 if scores are not probabilities."""
    if not np.isfinite(audit.expected_half_width):
        return np.full(audit.labeled.size, 0.5)
    return np.clip(audit.mean_score, 0, 1)


def within(half_width: float) -> str:
    """Return the expected precision of an estimate in words.

    Examples
    --------
    >>> within(0.0734), within(0.0)
    ('to about ±7.3 percentage points', 'exactly')
    """
    if not half_width:
        return "exactly"
    return f"to about ±{digits.points(half_width, error=half_width)[0]} percentage points"


def _labels(audit: AccuracyAudit | Audit) -> str:
    return checks.counted(audit.labeled.sum(), "label")


class IntervalComparison(Result):
    """Intervals of the same labels by every interval method; made by `compare_intervals`.

    Attributes
    ----------
    intervals : tuple of Interval
        One interval per method.
    assumption : str
        Assumption about the labels of a plan, which are not made yet; else "".

    See Also
    --------
    compare_intervals : Compute every interval method from the labels of an audit.
    stratified_interval : Compute one of these intervals from counts.
    """

    intervals: tuple
    assumption: str = ""

    def headline(self) -> str:
        """Return the shortest and the widest interval in one sentence."""
        low, high = (pick(self.intervals, key=lambda i: i.half_width) for pick in (min, max))
        return (
            f"{self.assumption + ': ' if self.assumption else ''}{len(self.intervals)} intervals "
            f"from the same labels, half-width {low.half_width:.3f} ({low.method}) to "
            f"{high.half_width:.3f} ({high.method})"
        )

    def rows(self) -> list[dict]:
        """Return one row per method: limits, half-width and the use of the method."""
        uses = USES | {"default": "the default, once there are labels"} if self.assumption else USES
        names = "method", "low", "high", "half_width"
        return [
            {name: getattr(limits, name) for name in names} | {"use": uses[limits.method]}
            for limits in self.intervals
        ]


USES = {
    "default": "report this one",
    "short": "shorter; in our searches the 95% interval covered in at least 91% of samples",
    "guaranteed": "its coverage is proven",
    "wald": "for teaching only: its coverage is too low",
    "wilson": "for teaching only",
}


def accuracy_audit(
    items: ScoredItems,
    budget: int = 100,
    *,
    n_strata: int | str = AUTO,
    stratifier: str = "equal_size",
    allocation: str = AUTO,
    trust_scores: bool = False,
    interval: str = "default",
    level: float = 0.95,
    labels: str = "",
    label_sheet: str = "",
    rng: int = 0,
    columns: Mapping[str, ArrayLike] | None = None,
    source: Mapping[str, Any] | None = None,
) -> AccuracyAudit:
    """Estimate the accuracy of a classifier from the labels of a small random sample.

    Without labels the audit is a plan: it says which items to label, and writes them to an
    annotation sheet if you name one. Pass the filled sheet as `labels` to get the estimate and its
    interval. If the items have known labels, the audit is simulated with these.

    Parameters
    ----------
    items : ScoredItems
        Items with their scores. If all have `correct`, the audit is simulated; if none has, it is
        planned. If only some items have a label, these are treated as a random sample of all items.
        The items are then grouped by score, with about 20 labels per stratum, and `premise` states
        this assumption.
    budget : int, default 100
        Labels in total, from 2 per stratum to the number of items. With `labels`, the plan file
        next to the sheet gives the budget. Without such a file, it is the number of rows of the
        sheet, unless these rows are only a part of the items that `budget` would sample.
    n_strata : int or "auto", default "auto"
        Number of strata. "auto": 10, or 20 for 200 labels or more. It takes fewer if a stratum
        would have fewer than two labels or two items.
    stratifier : str, default "equal_size"
        Method that divides the items into strata, as in `workbench.stratify`.
    allocation : str, default "auto"
        Method of `workbench.allocate`, or "auto", which allocates the labels in proportion to
        stratum size. If `n_strata` is "auto", too, at least 90% of the labels are allocated in
        proportion. The remaining labels go to the strata where scores that are probabilities are
        least certain. "voila" and the methods of Neyman treat the scores as probabilities, as a
        note says. They use S_k = sqrt(p_k (1 - p_k)) at the mean score p_k.
    trust_scores : bool, default False
        Whether you checked that predictions are correct as often as their scores say. Then "auto"
        allocates at least 75% of the labels in proportion to stratum size.
    interval : {"default", "short", "guaranteed", "wald", "wilson"}, default "default"
        Interval method, as in `workbench.stratified_interval`.
    level : float, default 0.95
        Confidence level in (0, 1).
    labels : str, default ""
        Filled annotation sheet to analyze, or an export of its items from Label Studio (JSON),
        doccano or Prodigy (JSONL). The sheet may be filled in part: its first rows, with at least 2
        labels per stratum. Empty rows before the last label count as correct for the upper limit
        and as incorrect for the lower limit.
    label_sheet : str, default ""
        Path of the empty annotation sheet of a plan, with a row per item in the order of labeling.
        A file next to it, which ends in .plan.json, keeps the settings. The analysis needs the same
        settings.
    rng : int, default 0
        Seed that orders ties and samples the items. Use the same seed for the plan and the
        analysis.
    columns : dict of (N,) array_like, optional
        Columns of the items that the sheet shows in addition to the prediction, by name.
    source : dict, optional
        Origin of the items, such as {"scores": "my.csv", "score_is": "class1"}. It is kept next to
        the sheet, and is part of the error message if the analysis gets other items.

    Returns
    -------
    AccuracyAudit
        Plan, or estimate with its interval, with one row per stratum.

    Raises
    ------
    ValueError
        If an argument is out of its domain, or the sheet does not match the items or the plan.

    See Also
    --------
    class_audit : Estimate precision, recall and F1 of a class in addition to the accuracy.
    difference_audit : Estimate the difference of two models' accuracies.
    compare_intervals : Compute every interval method from the labels of an audit.

    Examples
    --------
    >>> import workbench as wb
    >>> wb.accuracy_audit(wb.digit_forms().items(), 100)     # doctest: +NORMALIZE_WHITESPACE
    AccuracyAudit(Accuracy 92.9% (95% confidence interval 86.4% to 97.1%), 100 labels, 10 strata;
    the true accuracy is 87.7%)
    """
    seed = checked_seed(items, interval, level, stratifier, rng=rng)
    allocation = checks.choice("allocation", allocation, ALLOCATIONS)
    allocation = "proportional" if allocation == AUTO != n_strata else allocation
    trust_scores = check_trusted(trust_scores, allocation == AUTO, items)
    design = AuditDesign("accuracy", "", n_strata, stratifier, allocation, trust_scores, seed)
    plan = SamplePlan(items, design, source, columns)
    fields, sample, _ = plan.collect(budget, labels, label_sheet)
    fields = accuracy_fields(items, fields, sample, interval, level)
    return AccuracyAudit(**fields, allocation=allocation)


def checked_seed(items: Any, interval: str, level: float, stratifier: str, *, rng: Any) -> int:
    """Return the seed of an audit, or raise if the items or the common settings are invalid."""
    if checks.instance("items", items, ScoredItems).size == 1:
        raise checks.WrongValue("items", "must be at least two; there is only one item")
    checks.level(level)
    checks.choice("interval", interval, intervals.METHODS)
    checks.choice("stratifier", stratifier, STRATIFIERS)
    return seed_of(rng=rng)


def accuracy_fields(
    items: ScoredItems, fields: dict, sample: SheetLabels | None, interval: str, level: float
) -> dict:
    """Return the fields of an `AccuracyAudit` from the sampled labels and the fields of a plan.

    `fields` and `sample` are as `SamplePlan.collect` returns them.
    """
    size, labeled = fields["stratum_size"], fields["labeled"]
    expected = float("nan")
    if fields["mode"] != "analyzed" and items.score_is == "confidence":
        expected = accuracy.expected_half_width(
            size, np.clip(fields["mean_score"], 0, 1), labeled, interval=interval, level=level
        )[0]
    truth = None
    if items.correct is not None and fields["mode"] == "simulated":
        truth = float(items.correct.mean())
    fields = fields | {"level": float(level), "expected_half_width": expected, "truth": truth}
    if sample is None:
        return fields
    estimate = accuracy.stratified_accuracy(size, labeled, sample.correct, skipped=sample.skipped)
    limits = estimate.interval(level, interval)
    return fields | {
        "estimate": estimate,
        "confidence_interval": limits,
        "notes": [*fields["notes"], *estimate.notes, *limits.notes],
    }


def compare_intervals(audit: AccuracyAudit) -> IntervalComparison:
    """Compute every interval method from the labels of one audit.

    Use it to see how much the choice of the interval matters. All intervals have the level of the
    audit.

    Parameters
    ----------
    audit : AccuracyAudit
        Audit with labels, or a plan. For a plan, predictions are assumed to be correct as often as
        their scores say. If the scores are not probabilities, half of the predictions are assumed
        to be correct, which gives the widest intervals. The default interval then has the expected
        half-width of the plan.

    Returns
    -------
    IntervalComparison
        One interval per method.

    See Also
    --------
    accuracy_audit : Plan, simulate or analyze an audit of the accuracy.
    stratified_interval : Compute one of these intervals from counts.

    Examples
    --------
    >>> import workbench as wb
    >>> audit = wb.accuracy_audit(wb.digit_forms().items(), 100)
    >>> compare_intervals(audit)     # doctest: +NORMALIZE_WHITESPACE
    IntervalComparison(5 intervals from the same labels, half-width 0.045 (wald) to
    0.073 (guaranteed))
    """
    checks.instance("audit", audit, AccuracyAudit)
    estimate, assumption = audit.estimate, ""
    if estimate is None:
        assumption = "If half of the predictions are correct"
        if np.isfinite(audit.expected_half_width):
            assumption = "If the scores are calibrated"
        correct = np.rint(audit.labeled * expected_rate(audit)).astype(int)
        estimate = accuracy.stratified_accuracy(audit.stratum_size, audit.labeled, correct)
    compared = {method: estimate.interval(audit.level, method) for method in intervals.METHODS}
    if audit.estimate is None:
        half_width = audit._default(audit.labeled)
        middle = sum(compared["default"]) / 2
        low, high = max(0, middle - half_width), min(1, middle + half_width)
        compared["default"] = replace(compared["default"], low=low, high=high)
    return IntervalComparison(tuple(compared.values()), assumption)
