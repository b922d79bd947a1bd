"""Sampling plans of audits: write the annotation sheet of a plan, and read a filled one.

Start with `SamplePlan.collect`. Labels that were not sampled by a plan are treated as a random
sample of the items; see `random_sample`.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench import checks
from workbench.audits import random_sample
from workbench.audits.questions import AuditDesign, Question
from workbench.data.scored_items import ScoredItems
from workbench.labeling import draws, plans, sheets
from workbench.labeling import rows as sheet_rows
from workbench.labeling.answers import class_texts
from workbench.labeling.sheets import SheetLabels
from workbench.results import Note
from workbench.results.limits import warn_of_limit
from workbench.stratified.sequential import ROUNDS
from workbench.stratified.strata import Strata

SHOWN_IDS = 5


@dataclass(frozen=True)
class SamplePlan:
    """The sample of an audit.

    Attributes
    ----------
    items : ScoredItems
        The items to sample from.
    design : AuditDesign
        Settings of the sample.
    source : mapping or None
        Origin of the items, for the plan next to the sheet.
    columns : mapping or None
        Columns of the items that the sheet shows.
    """

    items: ScoredItems
    design: AuditDesign
    source: Mapping[str, Any] | None = None
    columns: Mapping[str, Any] | None = None

    @property
    def question(self) -> Question:
        """Return the question of the audit."""
        return self.design.entry

    def collect(
        self, budget: int, labels: str, label_sheet: str
    ) -> tuple[dict, SheetLabels | None, Strata]:
        """Return the fields that every audit has, the labels, and their strata.

        The labels come from a filled sheet, from the items, or from the known truth. Without any of
        these they are None, and the annotation sheet is written.
        """
        if labels:
            return self._read(labels, budget)
        if self.items.labeled is not None:
            return self._of_items(self.items.labeled)
        budget = checks.whole("budget", budget, self._least(), self.items.size)
        strata = self._strata(budget)
        sheets.check_columns(self.columns or {}, self.items.size)
        frame = self.question.frame(self.items, self.design, strata, budget)
        turns = frame.turns(budget)
        fields = {
            "mode": "plan",
            "labeled": np.bincount(turns, minlength=strata.n_strata),
            "label_sheet": str(label_sheet),
        }
        if self.items.correct is not None:
            index = np.sort(frame.order(turns, self.design.seed))
            labels_of_truth = sheets.known_labels(self.items, strata.labels, strata.n_strata, index)
            fields |= {"mode": "simulated", "label_sheet": ""}
            return self._fields(strata, frame.notes, **fields), labels_of_truth, strata
        if label_sheet:
            plans.read_plan(label_sheet)  # somebody else's file of that name is not overwritten
            sheets.write_label_sheet(
                label_sheet,
                self.items,
                strata.labels,
                frame.order(turns, self.design.seed),
                asks=self.design.asks,
                columns=self._sheet_columns(),
            )
            plans.write_plan(label_sheet, self._plan(budget))
        return self._fields(strata, frame.notes, **fields), None, strata

    @functools.cached_property
    def _cut(self) -> Callable[[int], Strata]:
        return functools.cache(functools.partial(self.question.strata, self.items, self.design))

    def _strata(self, labels: int, planned: bool = True) -> Strata:
        """Return the strata for a number of labels, which a plan sampled or not."""
        n_strata = self.question.n_strata(self.items, self.design, labels)
        least = self.question.least_labels
        if least and not planned:
            n_strata = min(n_strata, max(1, labels // least))
        return self._cut(n_strata)

    def _of_items(self, index: np.ndarray) -> tuple[dict, SheetLabels, Strata]:
        """Return the result of labels that the file has for some of its items."""
        correct = np.asarray(self.items.labeled_correct)
        truth = None if self.items.labeled_truth is None else class_texts(self.items.labeled_truth)
        none = np.zeros(1, np.int64)
        sheet = SheetLabels(none, none, index, correct.astype(np.int64), truth=truth)
        return self._as_random_sample(sheet, np.empty(0, np.int64))

    def _as_random_sample(
        self, sheet: SheetLabels, skipped: np.ndarray
    ) -> tuple[dict, SheetLabels, Strata]:
        """Return the result of labels that were not sampled by a plan.

        It has as many strata as the labels allow. `skipped` are positions of items of the sample
        without a label.
        """
        sampled = np.concatenate([sheet.index, skipped])
        random_sample.refuse_single(sampled, self.items.size, self.question.among)
        prediction = self.items.prediction
        doubts: list[Note] = []
        if prediction is not None and sheet.truth is not None and sampled.size < self.items.size:
            predicted = class_texts(prediction)
            doubts = random_sample.check_one_class(sheet.truth, predicted, sheet.index)
            for doubt in doubts:
                warn_of_limit(doubt.text)
        n = ROUNDS * max(1, sampled.size // random_sample.PER_STRATUM)
        strata = self._strata(n, planned=False)
        parts = self.question.parts(self.items, self.design)
        estimable = self._estimable(parts, sampled)
        items, index = (
            self._sublist(estimable),
            (np.cumsum(estimable) - 1)[sampled[estimable[sampled]]],
        )
        random_sample.refuse_unseen(items, index)
        likeness = random_sample.likeness(items, index)
        if self.question.merges:
            strata = self._merged(strata, parts, sampled, likeness.by_class)
        among = self.question.among
        if parts is not None and not estimable.all():
            among = _part_text(parts[estimable])
        premise, note = random_sample.sample_texts(index.size, items.size, likeness, among)
        sheet = self._counted(sheet, strata, np.union1d(skipped, np.flatnonzero(~estimable)))
        fields = self._fields(
            strata, [note, *doubts, *sheet.notes], mode="analyzed", labeled=sheet.labeled
        )
        if parts is not None and not estimable.all():
            unknown = _unknown_text(parts, estimable, sampled)
            premise = f"{unknown[0].upper()}{unknown[1:]}. {premise}"
            fields["notes"].append(Note("undefined", unknown))
        return fields | {"premise": premise}, sheet, strata

    def _merged(
        self, strata: Strata, parts: np.ndarray | None, sampled: np.ndarray, by_class: bool
    ) -> Strata:
        """Return strata with enough labels each.

        They lie within predicted classes if the labels depend on these.
        """
        part_of = np.zeros(strata.n_strata, np.int64)
        if parts is not None:
            part_of[strata.labels] = parts
        elif by_class and strata.method != "given":
            strata, part_of = random_sample.within_classes(
                strata, np.asarray(self.items.prediction), sampled
            )
        counts = np.bincount(strata.labels[sampled], minlength=strata.n_strata)
        return random_sample.coarser(strata, counts, part_of)

    def _estimable(self, parts: np.ndarray | None, sampled: np.ndarray) -> np.ndarray:
        """Return a mask (N,) of the items of parts that have two labels, or are fully labeled."""
        if parts is None:
            return np.ones(self.items.size, bool)
        size = np.bincount(parts)
        labels = np.bincount(parts[sampled], minlength=size.size)
        return (labels >= np.minimum(ROUNDS, size))[parts]

    def _sublist(self, where: np.ndarray) -> ScoredItems:
        """Return scores, predictions and given strata of some items."""
        items = self.items
        prediction = None if items.prediction is None else items.prediction[where]
        by = None if items.by is None else items.by[where]
        return ScoredItems(None, items.score[where], prediction, score_is=items.score_is, by=by)

    def _counted(self, sheet: SheetLabels, strata: Strata, unlabeled: np.ndarray) -> SheetLabels:
        """Return the labels counted per stratum; unlabeled items count as skipped."""
        stratum = strata.labels[sheet.index]
        skipped = strata.labels[np.setdiff1d(unlabeled, sheet.index)]
        return replace(
            sheet,
            labeled=np.bincount(stratum, minlength=strata.n_strata),
            correct=np.bincount(stratum, sheet.right, strata.n_strata).astype(np.int64),
            skipped=np.bincount(skipped, minlength=strata.n_strata),
        )

    def _sheet_columns(self) -> dict:
        """Return the columns of the sheet, with the prediction if it is to be checked."""
        columns = dict(self.columns or {})
        if self.design.asks != "correct" or self.items.prediction is None:
            return columns
        return {self._shown_prediction: self.items.prediction} | columns

    @property
    def _shown_prediction(self) -> str:
        """Return the column of the sheet that shows the prediction."""
        name = (self.source or {}).get("prediction") or "prediction"
        return "prediction" if name.casefold() in sheets.OWN else name

    def _plan(self, budget: int) -> dict:
        return {
            "budget": budget,
            "settings": self.design.settings(),
            "source": dict(self.source or {}),
            "asks": self.design.asks,
            "columns": list(self.columns or {}),
            "data": plans.item_digests(self.items),
        }

    def _read(self, path: Any, budget: int) -> tuple:
        rows = sheet_rows.opened(path, self.items, self.design.asks, self._shown_prediction)
        plan = plans.read_plan(path)
        if plan is not None:
            plans.refuse_changed(path, plan, self._plan(plan["budget"]))
        budget, order = self._sampled(rows, plan, budget)
        strata = self._strata(budget)
        sheet = sheets.found_labels(rows, self.items, strata.labels, strata.n_strata, order)
        if order is None:
            return self._not_planned(rows, sheet)
        sheet = self._without_unsampled(sheet, strata, order)
        _refuse_few(sheet, strata, order)
        notes = [*sheet.notes, *_unlabeled_notes(sheet)]
        fields = self._fields(strata, notes, mode="analyzed", labeled=sheet.labeled)
        return fields | _sheet_fields(sheet, int(sheet.skipped.sum())), sheet, strata

    def _not_planned(self, rows: Any, sheet: SheetLabels) -> tuple[dict, SheetLabels, Strata]:
        """Return the result of a sheet that was not sampled by a plan.

        In a sheet with a row for every item, rows without a label do not count as skipped.
        """
        skipped_ids = sheet.unlabeled[: sheet.skipped.sum()]
        if len(rows.known()) == self.items.size:
            counts = dict(sheet.row_counts)
            if "skipped" in counts:
                counts["without a label"] = counts.pop("skipped")
            sheet = replace(sheet, unlabeled=(), row_counts=counts)
            skipped_ids = ()
        skipped = np.array([rows.position_of[name] for name in skipped_ids], np.int64)
        filled = sheet
        fields, sheet, strata = self._as_random_sample(sheet, skipped)
        fields |= _sheet_fields(filled, skipped.size)
        if skipped.size:
            fields["notes"] += _unlabeled_notes(sheet)
        return fields, sheet, strata

    def _without_unsampled(
        self, sheet: SheetLabels, strata: Strata, order: np.ndarray
    ) -> SheetLabels:
        """Return the labels of the sampled items, with a note that names other labeled items."""
        sampled = np.isin(sheet.index, order)
        unsampled = sheet.index[~sampled]
        if not unsampled.size:
            return sheet
        if not sampled.any():
            raise ValueError(
                f"none of the {sheet.index.size:,} labeled items was sampled by the plan next to "
                "the annotation sheet. To treat the labels as a random sample of all items, move "
                "the file that ends in .plan.json away"
            )
        names = checks.listed(draws.id_texts(self.items, unsampled), SHOWN_IDS, quoted=True)
        which = checks.counted(unsampled.size, "labeled item was", "labeled items were")
        note = Note(
            "data",
            f"{which} not sampled by the plan and not used, because the interval is valid only for "
            f"the items that were sampled at random: {names}",
        )
        labels = replace(
            sheet,
            index=sheet.index[sampled],
            right=sheet.right[sampled],
            truth=None if sheet.truth is None else sheet.truth[sampled],
            notes=[*sheet.notes, note],
        )
        counts = {**sheet.row_counts, "not drawn": int(unsampled.size)}
        counts["labeled"] -= unsampled.size
        labels = self._counted(labels, strata, np.empty(0, np.int64))
        return replace(labels, skipped=sheet.skipped, row_counts=counts)

    def _sampled(self, rows: Any, plan: dict | None, budget: int) -> tuple[int, np.ndarray | None]:
        """Return the budget and the order of labeling of a sheet.

        The order is None if the items of the sheet fit no plan. Then the budget is the number of
        its rows.
        """
        if plan is not None:
            return plan["budget"], self._order(plan["budget"])
        index = rows.known()
        if len(index) == self.items.size and "position" not in rows.columns:
            return self.items.size, None  # a file of all items, not a sheet of a sample
        sizes = rows.sizes()
        for size in (*sizes, budget):
            order = self._order(size)
            if order is not None and index.issubset(order.tolist()):
                return size, order
        return max(min(max(sizes), self.items.size), 1), None

    def _order(self, budget: int) -> np.ndarray | None:
        """Return the sampled items in the order of labeling, None for an impossible budget.

        The first rows of any number have nearly the proportions of the whole sample.
        """
        if not self._least() <= budget <= self.items.size:
            return None
        frame = self.question.frame(self.items, self.design, self._strata(budget), budget)
        return frame.order(frame.turns(budget), self.design.seed)

    def _least(self) -> int:
        return int(np.minimum(ROUNDS, self._strata(1).sizes).sum())

    def _fields(self, strata: Strata, notes: Any, **fields: Any) -> dict:
        score = np.bincount(strata.labels, self.items.score) / strata.sizes
        return fields | {
            "stratum_size": strata.sizes,
            "mean_score": score,
            "stratifier": strata.method,
            "notes": [*self.items.notes, *strata.notes, *notes],
        }


def _sheet_fields(sheet: SheetLabels, skipped: int) -> dict:
    return {
        "unmatched": sheet.unmatched,
        "unlabeled": sheet.unlabeled,
        "row_counts": sheet.row_counts,
        "skipped": sheet.unlabeled[:skipped],
    }


def _part_text(parts: np.ndarray) -> str:
    """Return words for items that are all predicted as the class, or all otherwise."""
    return " predicted as the class" if parts.any() else " predicted otherwise"


def _unknown_text(parts: np.ndarray, estimable: np.ndarray, sampled: np.ndarray) -> str:
    """Return a text on the metrics that need labels of other parts, and what to do."""
    unknown = parts[~estimable]
    precision = "precision, " if unknown.any() else ""
    labels = "only 1" if (~estimable)[sampled].any() else "none"
    items = checks.counted(unknown.size, "item")
    return (
        f"{labels} of the {items}{_part_text(unknown)} has a label, so {precision}recall, F1 and "
        "accuracy are unknown. Their ranges allow every label of these items. Label at least 2 of "
        f"them, preferably {random_sample.PER_STRATUM} or more"
    )


def _refuse_few(sheet: SheetLabels, strata: Strata, order: np.ndarray) -> None:
    reached = order.size - len(sheet.unlabeled) + int(sheet.skipped.sum())
    least = int(np.minimum(ROUNDS, np.bincount(strata.labels[order])).sum())
    if reached < least:
        count = checks.counted(strata.n_strata, "stratum", "strata")
        raise ValueError(
            f"the labels end at position {reached} of the order of labeling, but two rounds "
            f"through {count} are needed. Label {least - reached} more, up to position {least}"
        )


def _unlabeled_notes(sheet: SheetLabels) -> Iterator[Note]:
    skipped = int(sheet.skipped.sum())
    later = len(sheet.unlabeled) - skipped
    if skipped:
        items = checks.counted(
            skipped,
            "item could not be labeled: its label",
            "items could not be labeled: their labels",
        )
        yield Note(
            "data",
            f"{items} may be anything, so the estimate is a range. The lower limit of the interval "
            "assumes the worst labels for these items, the upper limit the best",
        )
    if later:
        rows = sheet.index.size + len(sheet.unlabeled)
        yield Note(
            "assumption",
            f"the first {rows - later:,} of {checks.counted(rows, 'row')} in the order of labeling "
            "were reached. The interval is valid if the decision to stop did not depend on the "
            "labels seen",
        )
