"""Sampling plans of audits: write the annotation sheet of a plan, and read a filled one.

`SamplePlan.collect` is the entry. Labels that were not sampled by a plan are treated as a random
sample of the items; see `random_sample`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench import checks
from workbench.audits import random_sample
from workbench.data.scored_items import ScoredItems
from workbench.labeling import draws, plans, sheets
from workbench.labeling import rows as sheet_rows
from workbench.labeling.answers import class_texts
from workbench.labeling.sheets import SheetLabels
from workbench.results import Note
from workbench.stratified.sequential import ROUNDS
from workbench.stratified.strata import Strata

SHOWN_IDS = 5


@dataclass(frozen=True)
class SamplePlan:
    """The strata of items, the rule that allocates labels to them, and the seed of the sample.

    Attributes
    ----------
    items : ScoredItems
        The items.
    strata_at : callable
        From a budget to the strata.
    turns : callable
        From strata and a budget to the stratum of each label, and notes.
    asks : {"correct", "truth", "which"}
        The column of the sheet that is to be filled.
    seed : int
        Seed of the sample.
    settings : mapping
        Settings of the sample, for the plan next to the sheet.
    source : mapping or None
        Origin of the items, for the plan next to the sheet.
    columns : mapping or None
        Columns of the items that the sheet shows.
    strata_of_sample : callable or None
        Like `strata_at`, for labels that were not sampled by a plan; None for `strata_at`.
    parts : (N,) array of int or None
        Parts of the items. Strata with few labels are merged only within a part, and a part with
        fewer than two labels is reported as unknown.
    merges : bool
        Whether strata with few labels are merged at all.
    among : str
        Words for the items, such as " on which the models differ".
    """

    items: ScoredItems
    strata_at: Callable[[int], Strata]
    turns: Callable[[Strata, int], tuple[np.ndarray, list[Note]]]
    asks: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] | None = None
    columns: Mapping[str, Any] | None = None
    strata_of_sample: Callable[[int], Strata] | None = None
    parts: np.ndarray | None = None
    merges: bool = True
    among: str = ""

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
        strata = self.strata_at(budget)
        sheets.check_columns(self.columns or {}, self.items.size)
        turns, notes = self.turns(strata, budget)
        labeled = np.bincount(turns, minlength=strata.n_strata)
        if self.items.correct is not None:
            known = sheets.known_labels(
                self.items, strata.labels, strata.n_strata, np.sort(self._order(strata, turns))
            )
            return self._fields(strata, notes, mode="simulated", labeled=labeled), known, strata
        if label_sheet:
            plans.read_plan(label_sheet)  # somebody else's file of that name is not overwritten
            sheets.write_label_sheet(
                label_sheet,
                self.items,
                strata.labels,
                self._order(strata, turns),
                asks=self.asks,
                columns=self._shown(),
            )
            plans.write_plan(label_sheet, self._plan(budget))
        return (
            self._fields(strata, notes, mode="plan", labeled=labeled, label_sheet=str(label_sheet)),
            None,
            strata,
        )

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
        random_sample.refuse_single(sampled, self.items.size, self.among)
        strata_at = self.strata_of_sample or self.strata_at
        strata = strata_at(ROUNDS * max(1, sampled.size // random_sample.PER_STRATUM))
        seen = self._seen(sampled)
        place = np.cumsum(seen) - 1
        some, index = self._some(seen), place[sampled[seen[sampled]]]
        random_sample.refuse_unseen(some, index)
        likeness = random_sample.likeness(some, index)
        if self.merges:
            strata = self._merged(strata, sampled, likeness.by_class)
        among = self.among if seen.all() else self._part_words(seen)
        premise, note = random_sample.sample_words(index.size, some.size, likeness, among)
        sheet = self._counted(sheet, strata, np.union1d(skipped, np.flatnonzero(~seen)))
        fields = self._fields(strata, [note, *sheet.notes], mode="analyzed", labeled=sheet.labeled)
        if not seen.all():
            unknown = self._unknown(seen, sampled)
            premise = f"{unknown[0].upper()}{unknown[1:]}. {premise}"
            fields["notes"].append(Note("undefined", unknown))
        return fields | {"premise": premise}, sheet, strata

    def _merged(self, strata: Strata, sampled: np.ndarray, by_class: bool) -> Strata:
        """Return strata with enough labels each.

        They lie within predicted classes if the labels depend on these.
        """
        parts = np.zeros(strata.n_strata, np.int64)
        if self.parts is not None:
            parts[strata.labels] = self.parts
        elif by_class and strata.method != "given":
            strata, parts = random_sample.within_classes(
                strata, np.asarray(self.items.prediction), sampled
            )
        counts = np.bincount(strata.labels[sampled], minlength=strata.n_strata)
        return random_sample.coarser(strata, counts, parts)

    def _seen(self, sampled: np.ndarray) -> np.ndarray:
        """Return a mask (N,) of the items of parts that have two labels, or are fully labeled."""
        parts = np.zeros(self.items.size, np.int64) if self.parts is None else self.parts
        size = np.bincount(parts)
        labels = np.bincount(parts[sampled], minlength=size.size)
        return (labels >= np.minimum(ROUNDS, size))[parts]

    def _some(self, where: np.ndarray) -> ScoredItems:
        """Return scores, predictions and given strata of some items."""
        items = self.items
        prediction = None if items.prediction is None else items.prediction[where]
        by = None if items.by is None else items.by[where]
        return ScoredItems(None, items.score[where], prediction, score_is=items.score_is, by=by)

    def _counted(self, sheet: SheetLabels, strata: Strata, left: np.ndarray) -> SheetLabels:
        """Return the labels counted per stratum; unlabeled items of `left` count as skipped."""
        stratum, left = strata.labels[sheet.index], np.setdiff1d(left, sheet.index)
        labeled = np.bincount(stratum, minlength=strata.n_strata)
        correct = np.bincount(stratum, sheet.right, strata.n_strata).astype(np.int64)
        skipped = np.bincount(strata.labels[left], minlength=strata.n_strata)
        return replace(sheet, labeled=labeled, correct=correct, skipped=skipped)

    def _part_words(self, where: np.ndarray) -> str:
        """Return words for a part of the items."""
        return (
            " predicted as the class"
            if np.asarray(self.parts)[where].any()
            else " predicted otherwise"
        )

    def _unknown(self, seen: np.ndarray, sampled: np.ndarray) -> str:
        """Return a text on the metrics that need labels of other parts, and what to do."""
        which = self._part_words(~seen)
        lost = (
            "precision, recall, F1 and accuracy"
            if np.asarray(self.parts)[~seen].any()
            else "recall, F1 and accuracy"
        )
        labels = "only 1" if (~seen)[sampled].any() else "none"
        return (
            f"{labels} of the {checks.counted(int((~seen).sum()), 'item')}{which} has a label, so "
            f"{lost} are unknown. Their ranges allow every label of these items. Label at least 2 "
            f"of them, preferably {random_sample.PER_STRATUM} or more"
        )

    def _order(self, strata: Strata, turns: np.ndarray) -> np.ndarray:
        """Return the sampled items in the order of labeling.

        The first rows of any number have nearly the proportions of the whole sample.
        """
        return draws.items_in_turn(draws.id_texts(self.items), strata.labels, turns, self.seed)

    def _shown(self) -> dict:
        """Return the columns of the sheet, with the prediction if it is to be checked."""
        columns = dict(self.columns or {})
        if self.asks != "correct" or self.items.prediction is None:
            return columns
        name = (self.source or {}).get("prediction") or "prediction"
        name = "prediction" if name.casefold() in sheets.OWN else name
        return {name: self.items.prediction} | columns

    def _plan(self, budget: int) -> dict:
        return {
            "budget": budget,
            "settings": {**self.settings, "seed": self.seed},
            "source": dict(self.source or {}),
            "asks": self.asks,
            "columns": list(self.columns or {}),
            "data": plans.item_digests(self.items),
        }

    def _read(self, path: Any, wished: int) -> tuple:
        rows, plan = sheet_rows.opened(path, self.items, self.asks), plans.read_plan(path)
        if plan is not None:
            plans.refuse_changed(path, plan, self._plan(plan["budget"]))
        budget, order = self._drawn(rows, plan, wished)
        strata = self.strata_at(budget)
        sheet = sheets.found_labels(rows, self.items, strata.labels, strata.n_strata, order)
        if order is None:
            return self._not_planned(rows, sheet)
        sheet = self._drawn_only(sheet, strata, order)
        _refuse_few(sheet, strata, order)
        fields = {
            "mode": "analyzed",
            "labeled": sheet.labeled,
            "unmatched": sheet.unmatched,
            "unlabeled": sheet.unlabeled,
            "row_counts": sheet.row_counts,
            "skipped": sheet.unlabeled[: sheet.skipped.sum()],
        }
        notes = [*sheet.notes, *_unlabeled_notes(sheet)]
        return self._fields(strata, notes, **fields), sheet, strata

    def _not_planned(self, rows: Any, sheet: SheetLabels) -> tuple[dict, SheetLabels, Strata]:
        """Return the result of a sheet that was not sampled by a plan.

        In a sheet with a row for every item, rows without a label do not count as skipped.
        """
        whole_file = len(rows.known()) == self.items.size
        without_label = sheet.unlabeled[: sheet.skipped.sum()]
        counts = dict(sheet.row_counts)
        if whole_file and "skipped" in counts:
            counts["without a label"] = counts.pop("skipped")
        skipped = np.array(
            [] if whole_file else [rows.position_of[name] for name in without_label], np.int64
        )
        fields, sheet, strata = self._as_random_sample(sheet, skipped)
        unlabeled = () if whole_file else sheet.unlabeled
        fields |= {
            "unmatched": sheet.unmatched,
            "unlabeled": unlabeled,
            "row_counts": counts,
            "skipped": unlabeled[: skipped.size],
        }
        if skipped.size:
            fields["notes"] += _unlabeled_notes(replace(sheet, unlabeled=unlabeled))
        return fields, sheet, strata

    def _drawn_only(self, sheet: SheetLabels, strata: Strata, order: np.ndarray) -> SheetLabels:
        """Return the labels of the sampled items, with a note that names other labeled items."""
        drawn = np.isin(sheet.index, order)
        others = sheet.index[~drawn]
        if not others.size:
            return sheet
        if not drawn.any():
            raise ValueError(
                f"none of the {sheet.index.size:,} labeled items was sampled by the plan next to "
                "the annotation sheet. To treat the labels as a random sample of all items, move "
                "the file that ends in .plan.json away"
            )
        names = checks.listed(draws.id_texts(self.items, others), SHOWN_IDS, quoted=True)
        which = checks.counted(others.size, "labeled item was", "labeled items were")
        note = Note(
            "data",
            f"{which} not sampled by the plan and not used, because the interval is valid only for "
            f"the items that were sampled at random: {names}",
        )
        kept = replace(
            sheet,
            index=sheet.index[drawn],
            right=sheet.right[drawn],
            truth=None if sheet.truth is None else sheet.truth[drawn],
            notes=[*sheet.notes, note],
        )
        counts = dict(sheet.row_counts)
        counts["labeled"] -= others.size
        labels = self._counted(kept, strata, np.empty(0, np.int64))
        return replace(
            labels, skipped=sheet.skipped, row_counts=counts | {"not drawn": int(others.size)}
        )

    def _drawn(self, rows: Any, plan: dict | None, wished: int) -> tuple[int, np.ndarray | None]:
        """Return the budget and the order of labeling of a sheet.

        The order is None if the items of the sheet fit no plan. Then the budget is the number of
        its rows.
        """
        if plan is not None:
            return plan["budget"], self._order_for(plan["budget"])
        known, sizes = rows.known(), [*rows.sizes(), wished]
        if len(known) == self.items.size and "position" not in rows.columns:
            return self.items.size, None  # a file of all items, not a sheet of a sample
        orders = ((size, self._order_for(size)) for size in sizes)
        return next(
            (
                (size, order)
                for size, order in orders
                if order is not None and known.issubset(order.tolist())
            ),
            (max(min(max(sizes[:-1]), self.items.size), 1), None),
        )

    def _order_for(self, budget: int) -> np.ndarray | None:
        if not self._least() <= budget <= self.items.size:
            return None
        strata = self.strata_at(budget)
        return self._order(strata, self.turns(strata, budget)[0])

    def _least(self) -> int:
        return int(np.minimum(ROUNDS, self.strata_at(1).sizes).sum())

    def _fields(self, strata: Strata, notes: list, **fields: Any) -> dict:
        score = np.bincount(strata.labels, self.items.score) / strata.sizes
        return fields | {
            "stratum_size": strata.sizes,
            "mean_score": score,
            "stratifier": strata.method,
            "notes": [*self.items.notes, *strata.notes, *notes],
        }


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
