"""Audits of two models on the same items: estimate the difference of their accuracies.

Only items on which the models differ are labeled. Read `difference_audit` first, then
`DifferenceAudit`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.accuracy import Audit, checked_seed
from workbench.audits.plans import SamplePlan
from workbench.audits.questions import NAMES, AuditDesign, differing, items_at
from workbench.data.scored_items import ScoredItems
from workbench.labeling.answers import class_texts
from workbench.labeling.sheets import SheetLabels, check_columns
from workbench.results import Interval, Note, digits, percent
from workbench.stratified import skips
from workbench.stratified.differences import PairedDifference, paired_difference
from workbench.stratified.strata import Strata, refuse_given

ALLOCATIONS = ("proportional", "equal")
CALLED = ("A (the prediction)", "B (the rival)")
NO_RESULT = "No result: {:,} labels are too few to tell which model is better"


class DifferenceAudit(Audit):
    """An audit of two models: the items to label, or the difference of their accuracies.

    `difference_audit` makes it. The difference is the accuracy of A (the prediction) minus that of
    B (the rival).

    Attributes
    ----------
    mode : {"plan", "simulated", "analyzed"}
        "plan": the labels are still to be made. "simulated": they come from a known truth.
        "analyzed": they were read from a filled annotation sheet or with the items.
    stratum_size : (K,) array of int
        Number of items of each stratum, among those on which the models differ.
    labeled : (K,) array of int
        Number of labels of each stratum.
    mean_score : (K,) array of float
        Mean score of A in each stratum.
    agreeing : int
        Number of items with the same prediction by both models.
    models : (str, str)
        Names of A and B: the columns of the predictions if they are known.
    difference : PairedDifference or None
        Estimate of the difference, None for a plan.
    confidence_interval : Interval or None
        Confidence interval of the difference, None for a plan.
    expected_half_width : float
        Half-width to expect of a plan if both models are correct equally often on the items on
        which they differ; else NaN.
    truth : float or None
        True difference if it is known.
    level : float
        Confidence level of the interval.
    stratifier : str
        Method that divided the items into strata.
    allocation : str
        Method that allocated the labels to the strata.
    label_sheet : str
        File of the annotation sheet that was written for the annotators, or "".
    unmatched : tuple of str
        Ids of the filled sheet on which the models do not differ.
    unlabeled : tuple of str
        Ids of the sampled items without a label.
    skipped : tuple of str
        Ids of `unlabeled` that come before the last label in the order of labeling.
    row_counts : dict
        Number of rows of the filled sheet by kind, as in `AccuracyAudit`.
    premise : str
        Assumption about labels that were not sampled by a plan, else "".

    See Also
    --------
    difference_audit : Plan, simulate or analyze this audit.
    PairedDifference : Estimate of the difference from a stratified sample.
    """

    agreeing: int = 0
    models: tuple[str, ...] = NAMES
    difference: PairedDifference | None = None

    asks, expects = "truth", "if both are correct equally often there"

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the expected half-width of the interval of the difference.

        It assumes that both models are correct equally often on the items on which they differ.

        Parameters
        ----------
        labeled : (K,) array of int
            Labels of each stratum.

        Returns
        -------
        dict of str to float
            Expected half-width, with the key "difference".
        """
        return {"difference": _half_width(self.stratum_size, labeled, self.agreeing, self.level)}

    def headline(self) -> str:
        """Return the difference, or the plan, in one sentence."""
        where = self._among()
        if self.difference is None:
            strata = checks.counted(self.labeled.size, "stratum", "strata")
            plan = f"Label {self.labeled.sum():,} of {where}, in {strata}"
            return (
                f"{plan}; expected half-width of the difference "
                f"{100 * self.expected_half_width:.1f} percentage points {self.expects}"
            )
        estimate = self.difference.headline(self.level, self.models)
        truth = ""
        if self.mode == "simulated":
            truth = f"; the true difference is {self.truth:+.4g}"
        return f"{estimate[0].upper()}{estimate[1:]} among {where}{truth}"

    def finding(self) -> str:
        """Return the better model and the difference, or what to do, in one plain sentence."""
        if self.difference is None or self.confidence_interval is None:
            return self._to_do(
                self.stratum_size.sum() + self.agreeing, "the difference of the models"
            )
        if digits.nothing(*self.confidence_interval):
            return self.premise + NO_RESULT.format(self.labeled.sum())
        text = compared(
            self.difference.bounds, self.confidence_interval, self.models, self._called()
        )
        return f"{self.premise}{text}{self._doubt()}"

    def _called(self) -> tuple[str, ...]:
        return self.models if self.models != NAMES else CALLED

    def _among(self) -> str:
        differing = int(self.stratum_size.sum())
        total = differing + self.agreeing
        return f"the {differing:,} items (of {total:,}) on which the models differ"

    def _known(self) -> str:
        if self.truth is None:
            return ""
        difference = digits.points(self.truth, error=0.01, signed=True)[0]
        return f"The true difference is {difference} percentage points. "

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: size, mean score of A and labels.

        Once there are labels, a row also has the items on which only A, only B or neither is
        correct.
        """
        table = super().rows()
        if self.difference is not None:
            for row, (b, neither, a) in zip(table, self.difference.counts.tolist(), strict=True):
                row |= {"only_a": a, "only_b": b, "both_wrong": neither}
            table = skips.with_skipped(table, self.difference.skipped)
        return table


def compared(bounds: tuple, limits: Interval, models: Sequence[str], called: Sequence[str]) -> str:
    """Return in a sentence which of two models is better, and by how much.

    `called` are the names of the models in the sentence if one is better.
    """
    low, high = limits
    is_better = not low <= 0 <= high
    ends = [low, high]
    if is_better:
        bounds, ends = tuple(sorted(map(abs, bounds))), sorted(map(abs, limits))
    error = limits.half_width
    value = skips.said_points(*bounds, error=error, signed=not is_better)
    low_text, high_text = digits.points(*ends, error=error, signed=not is_better)
    interval = f"{percent(limits.level)} confidence interval {low_text} to {high_text}"
    if not is_better:
        difference = f"the accuracy of {models[0]} minus that of {models[1]}"
        return (
            f"Neither model is shown to be better: {difference} is {value} percentage points "
            f"({interval})"
        )
    better, worse = called if low > 0 else reversed(called)
    return (
        f"{better} is better than {worse}: its accuracy is {value} percentage points higher "
        f"({interval})"
    )


def difference_audit(
    items: ScoredItems,
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
) -> DifferenceAudit:
    """Estimate the difference of two models' accuracies from a few labels.

    Only items on which the models differ need a label. Without labels the audit is a plan, which
    says which items to label. With the filled annotation sheet as `labels` it estimates the
    difference and its interval. With known truth the audit is simulated.

    Parameters
    ----------
    items : ScoredItems
        Items with `prediction` (A) and `rival` (B). With `truth` the audit is simulated; without,
        it is planned.
    budget : int, default 100
        Labels in total. If the models differ on fewer items, all of these are labeled.
    n_strata : int, default 5
        Number of strata of the items on which the models differ.
    stratifier : str, default "equal_size"
        Method that divides these items into strata by score, as in `workbench.stratify`.
    allocation : {"proportional", "equal"}, default "proportional"
        Method that allocates the labels to the strata.
    interval : {"default"}, default "default"
        Interval method; the only one is that of `value_interval`.
    level : float, default 0.95
        Confidence level in (0, 1).
    labels : str, default ""
        Filled annotation sheet to analyze, as in `accuracy_audit`.
    label_sheet : str, default ""
        Path of the empty annotation sheet of a plan. It asks for the true class, and shows a
        prediction only if `columns` holds it.
    rng : int, default 0
        Seed of the sample. Use the same seed for the plan and the analysis.
    columns : dict of (N,) array_like, optional
        Columns of the items that the sheet shows, by name.
    source : dict, optional
        Origin of the items, as in `accuracy_audit`.

    Returns
    -------
    DifferenceAudit
        Plan, or difference with its interval, with one row per stratum.

    Raises
    ------
    ValueError
        If an argument is out of its domain, the models agree on all items, or the sheet does not
        match the items or the plan.

    See Also
    --------
    accuracy_audit : Estimate the accuracy of one model.
    judged_audit : Compare two models whose answers a judge has labeled.
    paired_difference : Estimate the difference from counts of labels.

    Examples
    --------
    >>> import dataclasses
    >>> import workbench as wb
    >>> forms = wb.digit_forms()
    >>> items = dataclasses.replace(forms.items(), rival=forms.read_b)
    >>> wb.difference_audit(items, 60, n_strata=2)     # doctest: +NORMALIZE_WHITESPACE
    DifferenceAudit(Accuracy of A minus B -0.079, 95% confidence interval -0.092 to -0.060:
    B is better; 60 labels among the 189 items (of 1,797) on which the models differ;
    the true difference is -0.08459)
    """
    seed = checked_seed(items, interval, level, stratifier, rng=rng)
    allocation = checks.choice("allocation", allocation, ALLOCATIONS)
    if interval != "default":
        raise checks.WrongValue("interval", "must be 'default' for a difference", interval)
    refuse_given(items)
    index = differing(items)
    checks.whole("n_strata", n_strata, 1, items.size)
    least = min(checks.whole("budget", budget, 1), index.size)
    check_columns(columns or {}, items.size)
    sheet_columns = {name: np.asarray(cells)[index] for name, cells in (columns or {}).items()}
    differ = items_at(items, index)
    design = AuditDesign("difference", "", n_strata, stratifier, allocation, False, seed, "truth")
    plan = SamplePlan(differ, design, source, sheet_columns)
    fields, sample, strata = plan.collect(least, labels, label_sheet)
    agreeing = items.size - differ.size
    models = tuple(
        str((source or {}).get(role) or name)
        for role, name in zip(("prediction", "rival"), NAMES, strict=True)
    )
    spared = 0 if fields["mode"] == "analyzed" else budget - least
    notes = fields.pop("notes")
    notes += _scope_notes(differ.size, spared, models, bool(fields.get("premise")))
    difference, limits, expected = None, None, float("nan")
    if fields["mode"] == "plan":
        expected = _half_width(strata.sizes, fields["labeled"], agreeing, level)
    if sample is not None:
        counts = _counts(differ, strata, sample)
        difference = paired_difference(
            strata.sizes, counts, agreeing=agreeing, skipped=sample.skipped
        )
        limits = difference.interval(level)
        notes += [*difference.notes, *limits.notes]
    return DifferenceAudit(
        **fields,
        agreeing=agreeing,
        models=models,
        difference=difference,
        notes=notes,
        confidence_interval=limits,
        expected_half_width=expected,
        truth=_truth(items),
        level=float(level),
        allocation=allocation,
    )


def _are_correct(items: ScoredItems, index: Any, truth: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return whether A and whether B is correct about some items."""
    models = items.prediction, items.rival
    return tuple(class_texts(np.asarray(labels))[index] == truth for labels in models)


def _counts(items: ScoredItems, strata: Strata, sample: SheetLabels) -> np.ndarray:
    """Return the number of labels (K, 3) by which only B, neither or only A is correct."""
    a, b = _are_correct(items, sample.index, np.asarray(sample.truth))
    stratum = strata.labels[sample.index]
    return np.stack(
        [np.bincount(stratum[right], minlength=strata.n_strata) for right in (b, ~(a | b), a)], 1
    )


def _half_width(size: np.ndarray, labeled: np.ndarray, agreeing: int, level: float) -> float:
    counts = np.stack([labeled // 2, 0 * labeled, labeled - labeled // 2], 1)
    return paired_difference(size, counts, agreeing=agreeing).interval(level).half_width


def _truth(items: ScoredItems) -> float | None:
    if items.truth is None:
        return None
    a, b = _are_correct(items, slice(None), class_texts(items.truth))
    return float(a.mean() - b.mean())


def _scope_notes(differing: int, spared: int, models: tuple, labels_given: bool) -> Iterator[Note]:
    yield Note(
        "remark",
        "A is the prediction and B is the second model"
        if models == NAMES
        else f"A is {models[0]} and B is {models[1]}",
    )
    agreeing = (
        "labels of items on which the models agree are not used"
        if labels_given
        else "items on which the models agree need no label"
    )
    yield Note(
        "design",
        f"{agreeing}, because they cannot change the difference. To estimate the accuracy of "
        "either model, label some of these items, too",
    )
    if spared:
        yield Note(
            "design",
            f"the models differ on {checks.counted(differing, 'item')}. All of them are labeled; "
            f"{checks.counted(spared, 'label of the budget is', 'labels of the budget are')} not "
            "needed",
        )
