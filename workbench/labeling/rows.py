"""The rows of a filled label sheet: whose they are, what they say, and what becomes of each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import frames
from workbench.data.classes import verdict_of
from workbench.data.columns import plain_name
from workbench.data.scored_items import ScoredItems
from workbench.extras.sessions.annotations import Annotations, read_annotations
from workbench.extras.sessions.tool import LabelRow
from workbench.labeling import draws
from workbench.labeling import ids as sheet_ids
from workbench.labeling.answers import answer_reader, class_texts, right_or_wrong
from workbench.labeling.tables import SheetTable, read_table, whole_number
from workbench.results import Note

KINDS = ("labeled", "skipped", "not reached", "repeated", "unmatched", "empty")


@dataclass(frozen=True)
class SheetRows(SheetTable):
    """A sheet that is matched to items by `matches`; `names` and `position_of` are the items'.

    `rows` are the numbers that a spreadsheet shows, or those of a tool's records.
    """

    answer: str
    names: list[str]
    position_of: dict[str, int]

    def sizes(self) -> list[int]:
        """Return how many items the sheet may have asked for: by its positions, its identifiers, and those known."""
        places = [
            place
            for place in map(whole_number, self.columns.get("position", ()))
            if place is not None
        ]
        return list(
            dict.fromkeys((max(places, default=0), len(set(self.ids) - {""}), len(self.known())))
        )

    def known(self) -> set[int]:
        """Return the positions of the items that the sheet names as they are written."""
        return {self.position_of[cell] for cell in self.ids if cell in self.position_of}

    def matches(self, planned: np.ndarray | None) -> tuple[list[int | None], dict[str, str]]:
        """Return the position of each row's item, None where there is none, and the ids that a spreadsheet changed."""
        for row, cell, said in zip(self.rows, self.ids, self.columns[self.answer], strict=True):
            if said and not cell:
                raise ValueError(
                    f"column 'id', row {row} is missing, but its {self.answer!r} cell is {said!r}"
                )
        asked = () if planned is None else [self.names[position] for position in planned.tolist()]
        matched, changed = sheet_ids.matched(self.ids, self.position_of, asked)
        if all(where is None for where in matched):
            raise ValueError(
                f"{self.label} names no id of the items, its first is {self.ids[0]!r} and theirs is "
                f"{self.names[0]!r}; check that sheet and scores belong together"
            )
        return matched, changed

    def refuse_other_plan(
        self, matched: Sequence[int | None], stratum: np.ndarray, planned: np.ndarray | None
    ) -> None:
        """Raise where a row stands in another stratum, or at another position, than its item does now."""
        place = {} if planned is None else {item: k for k, item in enumerate(planned.tolist(), 1)}
        for row, item in enumerate(matched):
            if item is None:
                continue
            said = f"id {self.ids[row]!r} (row {self.rows[row]}) has"
            cell = self.columns["stratum"][row] if "stratum" in self.columns else None
            if cell is not None and whole_number(cell) != stratum[item]:
                raise ValueError(
                    f"{said} stratum {cell!r} in the sheet, but {stratum[item]} now; use the settings "
                    "with which the sheet was written: number of strata, stratifier, seed, and what "
                    "was asked (a class's metrics, a rival)"
                )
            cell = self.columns["position"][row] if "position" in self.columns else ""
            if cell and item in place and whole_number(cell) != place[item]:
                raise ValueError(
                    f"{said} position {cell!r} in the sheet, but {place[item]} in the plan: columns of "
                    "the sheet may have been sorted apart from each other, so that answers stand beside "
                    "the wrong id; sort whole rows, or delete the column position if only that was "
                    "changed"
                )

    def said(self, items: ScoredItems) -> list:
        """Return what each row says: 1 or 0, or the text of a class; None for an empty cell."""
        cells = self.columns[self.answer]
        if self.answer == "correct":
            return right_or_wrong(self.ids, cells, self.rows)
        read = answer_reader(self.answer, items.prediction, items.rival)
        classes = []
        for row, name, cell in zip(self.rows, self.ids, cells, strict=True):
            try:
                classes.append(read(cell) if cell else None)
            except ValueError as error:
                raise ValueError(
                    f"column {self.answer!r}, row {row} (id {name!r}): {error}"
                ) from None
        return classes

    def order(self, matched: Sequence[int | None], planned: np.ndarray | None) -> list[int] | None:
        """Return the items in the order of labeling, by the plan or by the column position; None where none says it."""
        if planned is not None:
            return planned.tolist()
        there = [
            (cell, item)
            for cell, item in zip(self.columns.get("position", ()), matched, strict=False)
            if item is not None
        ]
        if not there or any(whole_number(cell) is None for cell, _ in there):
            return None
        return list(
            dict.fromkeys(
                item for _, item in sorted((whole_number(cell), item) for cell, item in there)
            )
        )


def opened(path: str | PathLike[str], items: ScoredItems, asks: str) -> SheetRows:
    """Read the rows of a sheet that was written for `items`, or the export of an annotation tool."""
    annotated, names = read_annotations(path), draws.id_texts(items)
    if annotated is not None:
        texts, rows, answer, notes = _columns_of(annotated, items, asks, names)
        return SheetRows(
            annotated.label, texts, rows, notes, answer, names, sheet_ids.positions(names)
        )
    usable = (asks,) if asks != "correct" or items.prediction is None else ("correct", "truth")
    header = {plain_name(name) for name in frames.column_names(path)}
    there = [name for name in usable if name in header] or [asks]
    table = read_table(path, ["id", *there], ("stratum", "position"))
    answer = next((name for name in there if any(table.columns[name])), there[0])
    return SheetRows(
        table.label,
        table.columns,
        table.rows,
        table.notes,
        answer,
        names,
        sheet_ids.positions(names),
    )


def _columns_of(annotated: Annotations, items: ScoredItems, asks: str, ids: list[str]) -> tuple:
    """Return a sheet that says what a tool's export does, an item a row: its columns, rows, what is filled, and notes.

    Where two people label an item, the first label in the file counts; a note says so where they differ.
    """
    words = all(
        verdict_of(row.label) is not None for row in annotated.rows if row.label and not row.verdict
    )
    answer = asks if asks != "correct" or words or items.prediction is None else "truth"
    predicted = (
        {}
        if items.prediction is None
        else dict(zip(ids, class_texts(items.prediction).tolist(), strict=True))
    )
    read = answer_reader(answer, items.prediction, items.rival)
    said: dict[str, tuple[str, LabelRow]] = {}
    disputed: dict[str, None] = {}
    for row in annotated.rows:
        where = f"{annotated.label}, record {row.number}" + (f" (id {row.id!r})" if row.id else "")
        if row.problem:
            raise ValueError(f"{where} {row.problem}")
        try:
            label = row.answer(answer, predicted.get(row.id), read)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        cell = "" if label is None else str(label)
        before, first = said.get(row.id, ("", row))
        if before and cell and before != cell and row.by and first.by and row.by != first.by:
            disputed.setdefault(row.id)
        elif before and cell and before != cell:
            raise ValueError(
                f"{where} is {row.label or cell!r} by {row.by or 'nobody named'}, but "
                f"{first.label or before!r} by {first.by or 'nobody named'} in record {first.number}: "
                "settle it, or let an audit session take several people's labels"
            )
        said[row.id] = (before, first) if before else (cell, row)
    cells, rows = zip(*said.values(), strict=True)
    notes = (
        (
            Note(
                "data",
                f"{checks.counted(len(disputed), 'item')} with labels of several people that differ: the "
                f"first in the file counts for {checks.listed(disputed, 5)}; an audit session keeps all of them and "
                "corrects for label errors",
            ),
        )
        if disputed
        else ()
    )
    return {"id": list(said), answer: list(cells)}, [row.number for row in rows], answer, notes


def labels_of(
    rows: SheetRows, matched: Sequence[int | None], said: Sequence
) -> tuple[dict, dict, list[str]]:
    """Return what is said of each item, the row that says it, and the ids that are labeled more than once."""
    labels: dict[int, Any] = {}
    speaks: dict[int, int] = {}
    repeated = []
    for row, (item, label) in enumerate(zip(matched, said, strict=True)):
        if item is None:
            continue
        before = labels.get(item)
        if before is None:
            if item not in labels or label is not None:
                labels[item], speaks[item] = label, row
        elif label is not None:
            identifier = rows.ids[row]
            if before != label:
                raise ValueError(
                    f"id {identifier!r} is labeled both {before} and {label}, the second time in row "
                    f"{rows.rows[row]}; keep one of the rows"
                )
            repeated.append(identifier)
    return labels, speaks, repeated


def progress(labels: dict, order: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """Return the items that were skipped and those that were not reached.

    Where the order of labeling is not known, all without a label count as skipped.
    """
    if order is None:
        return [item for item, label in labels.items() if label is None], []
    last = max(
        (place for place, item in enumerate(order) if labels.get(item) is not None), default=-1
    )
    open_ = [item for item in order if labels.get(item) is None]
    reached = set(order[: last + 1])
    return [item for item in open_ if item in reached], [
        item for item in open_ if item not in reached
    ]


def kinds_of_rows(
    rows: SheetRows,
    matched: Sequence[int | None],
    labels: dict,
    speaks: dict,
    skipped: Sequence[int],
) -> dict[str, int]:
    """Return how many rows there are of each kind; every row is of one."""
    left = set(skipped)

    def kind(row: int, item: int | None) -> str:
        if item is None:
            return "unmatched" if rows.ids[row] else "empty"
        if speaks[item] != row:
            return "repeated"
        return (
            "labeled" if labels[item] is not None else "skipped" if item in left else "not reached"
        )

    found = Counter(kind(row, item) for row, item in enumerate(matched))
    return {name: found[name] for name in KINDS if found[name]}
