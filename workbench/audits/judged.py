"""Audits of two models whose answers a judge has labeled: plan and analyze their difference.

The strata are the pairs of judge labels. Read `judged_audit` first, then `JudgedAudit`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.audits.accuracy import checked_seed
from workbench.audits.differences import DifferenceAudit
from workbench.audits.plans import SamplePlan
from workbench.audits.questions import (
    NAMES,
    QUESTIONS,
    AuditDesign,
    called,
    count_labels,
    pair_sizes,
    refuse_shown,
    verdict_columns,
)
from workbench.data.judged_items import WHICH
from workbench.data.scored_items import ScoredItems
from workbench.results import Note, html_table
from workbench.stratified.judged import SPREAD, JudgedDifference, judged_difference

ALLOCATION = "by verdicts"
JUDGED = QUESTIONS["judged"]


class JudgedAudit(DifferenceAudit):
    """An audit of two models under one judge: the items to label, or the difference of accuracies.

    `judged_audit` makes it. `rows` has one row per pair of judge labels.

    Attributes
    ----------
    mode : {"plan", "analyzed"}
        "plan": the labels are still to be made. "analyzed": they were read.
    stratum_size : (K,) array of int
        Number of items of each pair of judge labels.
    labeled : (K,) array of int
        Number of labels of each pair of judge labels.
    mean_score : (K,) array of float
        Mean score of each stratum.
    difference : JudgedDifference or None
        Estimate of the difference, None for a plan.
    confidence_interval : Interval or None
        Confidence interval of the difference, None for a plan.
    expected_half_width : float
        Expected half-width of a plan, if human and judge labels differ as often as the allocation
        assumes; NaN for an audit with labels.
    truth : None
        The true difference is not known.
    agreeing : int
        Always 0, because all items belong to strata.
    models : (str, str)
        Names of A and B.
    level : float
        Confidence level of the interval.
    stratifier : str
        Method that divided the items into strata, "given".
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
    verdicts : tuple of str
        Judge labels of the strata: "both", "A", "B" or "neither" is correct.
    judged_in : tuple of str
        Columns of the judge labels for A and B, or "A" and "B" if they are not known.

    See Also
    --------
    judged_audit : Plan or analyze this audit.
    JudgedDifference : Estimate of the difference of two models under one judge.
    """

    verdicts: tuple[str, ...] = WHICH
    judged_in: tuple[str, ...] = NAMES

    asks, expects = "which", "if human and judge labels differ as often as planned"

    def half_widths(self, labeled: np.ndarray) -> dict[str, float]:
        """Return the expected half-width of the interval of the difference.

        It assumes that human and judge labels differ as often as the allocation assumes.

        Parameters
        ----------
        labeled : (K,) array of int
            Labels of each stratum.

        Returns
        -------
        dict of str to float
            Expected half-width, with the key "difference".
        """
        return {
            "difference": _half_width(
                self.stratum_size, labeled, list(map(WHICH.index, self.verdicts)), self.level
            )
        }

    def rows(self) -> list[dict]:
        """Return one row per pair of judge labels: items, labels and the human labels so far."""
        rows = (
            self.difference.rows()
            if self.difference
            else [{"verdict": verdict} for verdict in self.verdicts]
        )
        return [
            row | {"size": int(size), "labeled": int(n)}
            for row, size, n in zip(rows, self.stratum_size, self.labeled, strict=True)
        ]

    def _called(self) -> tuple[str, ...]:
        return called(self.judged_in)

    def _among(self) -> str:
        return checks.counted(self.stratum_size.sum(), "item")

    def _in_strata(self) -> str:
        return f"{checks.counted(self.labeled.size, 'stratum', 'strata')} of equal judge labels"

    def _tables(self) -> str:
        if not isinstance(self.difference, JudgedDifference):
            return super()._tables()
        return super()._tables() + html_table(
            self.difference.rates(self.level),
            "Correct answers that the judge labels correct (sensitivity), and incorrect answers "
            "that it labels incorrect (specificity)",
        )


def judged_audit(
    items: ScoredItems,
    budget: int = 100,
    *,
    level: float = 0.95,
    labels: str = "",
    label_sheet: str = "",
    rng: int = 0,
    columns: Mapping[str, ArrayLike] | None = None,
    source: Mapping[str, Any] | None = None,
) -> JudgedAudit:
    """Estimate the difference of two models' accuracies from judge labels and a few human labels.

    The judge has labeled both models' answers to every item. Without human labels the audit is a
    plan, which says which answers to label. With the filled annotation sheet as `labels` it
    estimates the difference and its interval.

    Parameters
    ----------
    items : ScoredItems
        Items with judge labels, as `judged_items` returns them.
    budget : int, default 100
        Labels in total, as in `accuracy_audit`.
    level : float, default 0.95
        Confidence level in (0, 1).
    labels : str, default ""
        Filled annotation sheet to analyze, as in `accuracy_audit`.
    label_sheet : str, default ""
        Path of the empty annotation sheet of a plan. It asks whose answer is correct (A, B, both or
        neither) and does not show the judge labels.
    rng : int, default 0
        Seed of the sample. Use the same seed for the plan and the analysis.
    columns : dict of (N,) array_like, optional
        Columns that the sheet shows, by name; these should include both answers.
    source : dict, optional
        Origin of the items, as in `accuracy_audit`. `source["judge"]` names the columns of the
        judge labels.

    Returns
    -------
    JudgedAudit
        Plan, or difference with its interval, with one row per pair of judge labels.

    Raises
    ------
    ValueError
        If an argument is out of its domain, `columns` would show judge labels, or the sheet does
        not match the items or the plan.

    See Also
    --------
    judged_items : Read a judge's labels of two models' answers.
    judge_audit : Estimate a proportion from judge labels and human labels.
    difference_audit : Compare two models without a judge.

    Examples
    --------
    >>> from workbench import judged_items
    >>> judge_labels = {"on_a": [1] * 80 + [0] * 20, "on_b": [1] * 70 + [0] * 30}
    >>> items = judged_items(judge_labels, "on_a, on_b")
    >>> judged_audit(items, 40)     # doctest: +NORMALIZE_WHITESPACE
    JudgedAudit(Label 40 of 100 items, in 3 strata; expected half-width of the difference
    12.0 percentage points if human and judge labels differ as often as planned)
    """
    seed = checked_seed(items, "default", level, "equal_size", rng=rng)
    judged_in = verdict_columns(source)
    refuse_shown(columns or {}, judged_in)
    sizes = pair_sizes(items)
    pairs = np.flatnonzero(sizes)
    design = AuditDesign(
        "difference", n_strata=pairs.size, allocation=ALLOCATION, seed=seed, asks="which"
    )
    plan = SamplePlan(items, design, source, columns)
    fields, sample, strata = plan.collect(budget, labels, label_sheet)
    notes, expected = fields.pop("notes"), float("nan")
    difference, limits = None, None
    if sample is None:
        expected = _half_width(strata.sizes, fields["labeled"], pairs, level)
    else:
        answers = [WHICH.index(answer) for answer in np.asarray(sample.truth).tolist()]
        counts = count_labels(JUDGED, pairs.size, strata.labels[sample.index], answers)
        difference = JUDGED.estimate({"judged": sizes}, counts, sample.skipped)
        limits = difference.interval(level)
        notes = [*notes, *difference.remarks(level=level), *limits.notes]
    if judged_in != NAMES:
        where = "the judge labels are in column {} for A, and in column {} for B"
        notes = [*notes, Note("remark", where.format(*judged_in))]
    return JudgedAudit(
        **fields,
        notes=notes,
        difference=difference,
        confidence_interval=limits,
        level=float(level),
        allocation=ALLOCATION,
        expected_half_width=expected,
        judged_in=judged_in,
        verdicts=tuple(np.array(WHICH)[pairs].tolist()),
    )


def _half_width(
    size: np.ndarray, labeled: np.ndarray, pairs: Sequence[int] | np.ndarray, level: float
) -> float:
    """Return the half-width if labels of a stratum are 1 and -1 as often as `SPREAD` assumes."""
    sizes, answers = np.zeros(4, int), np.zeros((4, 4), int)
    sizes[pairs], either = size, np.rint(SPREAD[pairs] ** 2 * labeled / 2).astype(int)
    answers[pairs] = np.stack([labeled - 2 * either, either, either, 0 * labeled], 1)
    return judged_difference(sizes, answers).interval(level).half_width
