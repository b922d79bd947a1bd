"""From strata to a sheet of drawn items in the order of labeling, and back from a filled beginning of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench import checks
from workbench.data.scored_items import ScoredItems
from workbench.labeling import draws, plans, sheets
from workbench.labeling import rows as sheet_rows
from workbench.labeling.sheets import SheetLabels
from workbench.results import Note
from workbench.stratified.sequential import ROUNDS
from workbench.stratified.strata import Strata

STRANGE = ("{} of {} labeled items {} that these settings draw for a sheet of {}: the interval holds only if they were "
           "drawn at random within each stratum")


@dataclass(frozen=True)
class SamplePlan:
    """Strata of scored items at any budget, the rule that spreads labels over them, and the seed that draws.

    `turns` takes strata and a budget and returns the stratum of each label and notes. `settings` are those of the draw,
    `source` says what the items were read from, both for the plan beside the sheet; `columns` are shown in it.
    """

    items: ScoredItems
    strata_at: Callable[[int], Strata]
    turns: Callable[[Strata, int], tuple[np.ndarray, list[Note]]]
    asks: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] | None = None
    columns: Mapping[str, Any] | None = None

    def collect(self, budget: int, labels: str, label_sheet: str) -> tuple[dict, SheetLabels | None]:
        """Return the fields that every audit has, and the labels: of a filled sheet, of known truth, or None.

        Without both, the sheet is written.
        """
        if labels:
            return self._read(labels, budget)
        budget = checks.whole("budget", budget, self._least(), self.items.size)
        strata = self.strata_at(budget)
        sheets.check_columns(self.columns or {}, self.items.size)
        turns, notes = self.turns(strata, budget)
        labeled = np.bincount(turns, minlength=strata.n_strata)
        if self.items.correct is not None:
            known = sheets.known_labels(self.items, strata.labels, strata.n_strata, np.sort(self._order(strata, turns)))
            return self._fields(strata, notes, mode="simulated", labeled=labeled), known
        if label_sheet:
            plans.read_plan(label_sheet)         # somebody else's file of that name is not overwritten
            sheets.write_label_sheet(label_sheet, self.items, strata.labels, self._order(strata, turns), asks=self.asks,
                                     columns=self._shown())
            plans.write_plan(label_sheet, self._plan(budget))
        return self._fields(strata, notes, mode="plan", labeled=labeled, label_sheet=str(label_sheet)), None

    def _order(self, strata: Strata, turns: np.ndarray) -> np.ndarray:
        """Return the drawn items in the order of labeling: every beginning has the shares of the whole."""
        return draws.items_in_turn(draws.id_texts(self.items), strata.labels, turns, self.seed)

    def _shown(self) -> dict:
        """Return the columns of the sheet; the prediction where people have to say whether it is right."""
        columns = dict(self.columns or {})
        if self.asks != "correct" or self.items.prediction is None:
            return columns
        name = (self.source or {}).get("prediction") or "prediction"
        name = "prediction" if name.casefold() in sheets.OWN else name
        return {name: self.items.prediction} | columns

    def _plan(self, budget: int) -> dict:
        return {"budget": budget, "settings": {**self.settings, "seed": self.seed}, "source": dict(self.source or {}),
                "asks": self.asks, "columns": list(self.columns or {}), "data": plans.item_digests(self.items)}

    def _read(self, path: Any, wished: int) -> tuple:
        rows, plan = sheet_rows.opened(path, self.items, self.asks), plans.read_plan(path)
        if plan is not None:
            plans.refuse_changed(path, plan, self._plan(plan["budget"]))
        budget, order = self._drawn(rows, plan, wished)
        strata = self.strata_at(budget)
        sheet = sheets.found_labels(rows, self.items, strata.labels, strata.n_strata, order)
        if order is not None:
            _refuse_few(sheet, strata, order)
        fields = {"mode": "analyzed", "labeled": sheet.labeled, "unmatched": sheet.unmatched,
                  "unlabeled": sheet.unlabeled, "row_counts": sheet.row_counts,
                  "skipped": sheet.unlabeled[:sheet.skipped.sum()]}
        notes = [*sheet.notes, *self._not_drawn(sheet, order), *_unlabeled_notes(sheet)]
        return self._fields(strata, notes, **fields), sheet

    def _drawn(self, rows: Any, plan: dict | None, wished: int) -> tuple[int, np.ndarray | None]:
        """Return budget and order of labeling of a sheet; None where its items are not those of any plan it may have.

        The budget is then the number of its rows.
        """
        if plan is not None:
            return plan["budget"], self._order_for(plan["budget"])
        known, sizes = rows.known(), [*rows.sizes(), wished]
        orders = ((size, self._order_for(size)) for size in sizes)
        return next(((size, order) for size, order in orders if order is not None and known.issubset(order.tolist())),
                    (max(min(max(sizes[:-1]), self.items.size), 1), None))

    def _order_for(self, budget: int) -> np.ndarray | None:
        if not self._least() <= budget <= self.items.size:
            return None
        strata = self.strata_at(budget)
        return self._order(strata, self.turns(strata, budget)[0])

    def _least(self) -> int:
        return int(np.minimum(ROUNDS, self.strata_at(1).sizes).sum())

    def _fields(self, strata: Strata, notes: list, **fields: Any) -> dict:
        score = np.bincount(strata.labels, self.items.score) / strata.sizes
        return fields | {"stratum_size": strata.sizes, "mean_score": score, "stratifier": strata.method,
                         "notes": [*self.items.notes, *strata.notes, *notes]}

    def _not_drawn(self, sheet: SheetLabels, order: np.ndarray | None) -> Iterator[Note]:
        """Yield a note if labeled items are not the ones that the plan has drawn, or one of as many rows would have."""
        rows = sheet.index.size + len(sheet.unlabeled)
        drawn = self._order_for(rows) if order is None else order
        strange = int((~np.isin(sheet.index, np.empty(0, int) if drawn is None else drawn)).sum())
        if strange:
            which, rows = "is not one" if strange == 1 else "are not the ones", rows if order is None else order.size
            yield Note("refused", STRANGE.format(strange, sheet.index.size, which, checks.counted(rows, "row")))


def _refuse_few(sheet: SheetLabels, strata: Strata, order: np.ndarray) -> None:
    reached = order.size - len(sheet.unlabeled) + int(sheet.skipped.sum())
    least = int(np.minimum(ROUNDS, np.bincount(strata.labels[order])).sum())
    if reached < least:
        count = checks.counted(strata.n_strata, "stratum", "strata")
        raise ValueError(f"the labels end at position {reached} of the order of labeling; label up to position "
                         f"{least}, {least - reached} more: two rounds through {count} are the least")


def _unlabeled_notes(sheet: SheetLabels) -> Iterator[Note]:
    skipped = int(sheet.skipped.sum())
    later = len(sheet.unlabeled) - skipped
    if skipped:
        items = checks.counted(skipped, "item was skipped: its label", "items were skipped: their labels")
        yield Note("data", f"{items} may be anything; the estimate is a range, and the interval goes from its lower "
                   "limit with the worst labels for what was skipped to its upper limit with the best")
    if later:
        rows = sheet.index.size + len(sheet.unlabeled)
        yield Note("assumption", f"the first {rows - later:,} of {checks.counted(rows, 'row')} in the order of "
                   "labeling were reached: the interval holds if the decision to stop did not depend on the labels "
                   "seen")
