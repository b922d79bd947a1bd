"""The rows of a filled label sheet: whose they are, what they say, and what becomes of each."""
from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.data import frames, numbers, sheet_ids
from workbench.data.annotations import REJECT, Annotations, LabelRow, judged, read_annotations
from workbench.data.answers import (
    ANSWERS,
    OTHER,
    class_texts,
    is_right_or_wrong,
    right_or_wrong,
    sheet_row,
    true_classes,
)
from workbench.data.columns import plain_name

if TYPE_CHECKING:
    from workbench.data.scored_items import ScoredItems

KINDS = ("labeled", "skipped", "not reached", "repeated", "unmatched", "empty")
_WHOLE = re.compile(r"([0-9]+)(?:[.,]0*)?")


def id_texts(items: ScoredItems, index: np.ndarray | None = None) -> list[str]:
    """Return the identifiers of some or all items as text, the numbers of their rows from 1 where they have none."""
    if items.id is None:
        return list(map(str, ((np.arange(items.size) if index is None else index) + 1).tolist()))
    return numbers.as_text(items.id if index is None else items.id[index])


@dataclass(frozen=True)
class SheetRows:
    """Columns of a sheet as text, matched to items by `matches`; `ids` and `position_of` are the items'."""

    label: str
    columns: dict[str, list[str]]
    answer: str
    ids: list[str]
    position_of: dict[str, int]
    notes: tuple = ()

    def sizes(self) -> list[int]:
        """Return how many items the sheet may have asked for: by its positions, its identifiers, and those known."""
        places = [place for place in map(_whole, self.columns.get("position", ())) if place is not None]
        return list(dict.fromkeys((max(places, default=0), len(set(self.columns["id"]) - {""}), len(self.known()))))

    def known(self) -> set[int]:
        """Return the positions of the items that the sheet names as they are written."""
        return {position for position in sheet_ids.matched(self.columns["id"], self.position_of)[0]
                if position is not None}

    def matches(self, planned: np.ndarray | None) -> tuple[list[int | None], dict[str, str]]:
        """Return the position of each row's item, None where there is none, and the ids that a spreadsheet changed."""
        cells = self.columns["id"]
        for row, (cell, said) in enumerate(zip(cells, self.columns[self.answer], strict=True)):
            if said and not cell:
                raise ValueError(f"column 'id', row {sheet_row(row)} is missing, but its {self.answer!r} cell is "
                                 f"{said!r}")
        asked = () if planned is None else [self.ids[position] for position in planned.tolist()]
        matched, changed = sheet_ids.matched(cells, self.position_of, asked)
        if all(where is None for where in matched):
            raise ValueError(f"{self.label} names no id of the items, its first is {cells[0]!r} and theirs is "
                             f"{self.ids[0]!r}; check that sheet and scores belong together")
        return matched, changed

    def refuse_other_plan(self, matched: Sequence[int | None], stratum: np.ndarray, planned: np.ndarray | None) -> None:
        """Raise where a row stands in another stratum, or at another position, than its item does now."""
        place = {} if planned is None else {item: k for k, item in enumerate(planned.tolist(), 1)}
        for row, item in enumerate(matched):
            if item is None:
                continue
            said = f"id {self.columns['id'][row]!r} (row {sheet_row(row)}) has"
            cell = self.columns["stratum"][row] if "stratum" in self.columns else None
            if cell is not None and _whole(cell) != stratum[item]:
                raise ValueError(f"{said} stratum {cell!r} in the sheet, but {stratum[item]} now; use the settings "
                                 "with which the sheet was written: n_strata, stratifier, seed, and what was asked (a "
                                 "class's metrics, a rival)")
            cell = self.columns["position"][row] if "position" in self.columns else ""
            if cell and item in place and _whole(cell) != place[item]:
                raise ValueError(f"{said} position {cell!r} in the sheet, but {place[item]} in the plan: columns of "
                                 "the sheet may have been sorted apart from each other, so that answers stand beside "
                                 "the wrong id; sort whole rows, or delete the column position if only that was "
                                 "changed")

    def said(self, items: ScoredItems) -> list:
        """Return what each row says: 1 or 0, or the text of a class; None for an empty cell."""
        read = right_or_wrong if self.answer == "correct" else true_classes(items)
        return read(self.columns["id"], self.columns[self.answer])

    def order(self, matched: Sequence[int | None], planned: np.ndarray | None) -> list[int] | None:
        """Return the items in the order of labeling, by the plan or by the column position; None where none says it."""
        if planned is not None:
            return planned.tolist()
        there = [(cell, item) for cell, item in zip(self.columns.get("position", ()), matched, strict=False)
                 if item is not None]
        if not there or any(_whole(cell) is None for cell, _ in there):
            return None
        return list(dict.fromkeys(item for _, item in sorted((_whole(cell), item) for cell, item in there)))


def opened(path: str | PathLike[str], items: ScoredItems, asks: str) -> SheetRows:
    """Read the rows of a sheet that was written for `items`, or the export of an annotation tool."""
    annotated, ids = read_annotations(path), id_texts(items)
    if annotated is not None:
        texts, answer = _columns_of(annotated, items, asks, ids)
        return SheetRows(annotated.label, texts, answer, ids, sheet_ids.positions(ids))
    header = {plain_name(name) for name in frames.column_names(path)}
    usable = ("truth",) if asks == "truth" else ("correct",) if items.prediction is None else tuple(ANSWERS)
    there = [name for name in usable if name in header] or [asks]
    also = [name for name in ("stratum", "position") if name in header]
    columns, notes = frames.read_columns(path, ["id", *there, *also])
    texts = {name: numbers.as_text(column) for name, column in columns.items()}
    answer = next((name for name in there if any(texts[name])), there[0])
    return SheetRows(repr(os.fspath(path)), texts, answer, ids, sheet_ids.positions(ids), tuple(notes))


def _columns_of(annotated: Annotations, items: ScoredItems, asks: str, ids: list[str]) -> tuple[dict, str]:
    """Return the columns of a sheet that says what a tool's export does, an item a row, and which of them is filled."""
    words = all(is_right_or_wrong(row.label) for row in annotated.rows if row.label and not row.verdict)
    answer = "truth" if asks == "truth" or not (words or items.prediction is None) else "correct"
    predicted = {} if items.prediction is None else dict(zip(ids, class_texts(items.prediction).tolist(), strict=True))
    classes = None if answer == "correct" else true_classes(items)
    said: dict[str, tuple[str, LabelRow]] = {}
    for row in annotated.rows:
        where = f"{annotated.label}, record {row.number}" + (f" (id {row.id!r})" if row.id else "")
        if row.problem:
            raise ValueError(f"{where} {row.problem}")
        cell = _true_class(row, classes, where) if classes else _right(row, predicted.get(row.id), where)
        before, first = said.get(row.id, ("", row))
        if before and cell and before != cell:
            raise ValueError(f"{where} is {row.label or cell!r} by {row.by or 'nobody named'}, but "
                             f"{first.label or before!r} by {first.by or 'nobody named'} in record {first.number}: "
                             "settle it, or let an audit session take several people's labels")
        said[row.id] = (before, first) if before else (cell, row)
    return {"id": list(said), answer: [cell for cell, _ in said.values()]}, answer


def _right(row, predicted, where):
    """Return 1 or 0 as text, "" where a record says neither."""
    if not (row.label or row.verdict):
        return ""
    if not is_right_or_wrong(row.label) and not (row.verdict and row.label in ("", predicted)):
        raise ValueError(f"{where}: {row.label!r} is neither right nor wrong")
    right = not is_right_or_wrong(row.label) or right_or_wrong([row.id], [row.label]) == [1]
    try:
        return str(judged(row, int(right)))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _true_class(row, classes, where):
    """Return a class, "" where a record says none; that something is not the class does not tell which it is."""
    if not row.label or row.verdict == REJECT:
        return ""
    try:
        return classes([row.id], [row.label])[0]
    except ValueError:
        raise ValueError(f"{where}: {row.label!r} is not a predicted class; write {OTHER!r} for one that is never "
                         "predicted") from None


def labels_of(rows: SheetRows, matched: Sequence[int | None], said: Sequence) -> tuple[dict, dict, list[str]]:
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
            identifier = rows.columns["id"][row]
            if before != label:
                raise ValueError(f"id {identifier!r} is labeled both {before} and {label}, the second time in row "
                                 f"{sheet_row(row)}; keep one of the rows")
            repeated.append(identifier)
    return labels, speaks, repeated


def progress(labels: dict, order: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """Return the items that were skipped and those that were not reached.

    Where the order of labeling is not known, all without a label count as skipped.
    """
    if order is None:
        return [item for item, label in labels.items() if label is None], []
    last = max((place for place, item in enumerate(order) if labels.get(item) is not None), default=-1)
    open_ = [item for item in order if labels.get(item) is None]
    reached = set(order[:last + 1])
    return [item for item in open_ if item in reached], [item for item in open_ if item not in reached]


def kinds_of_rows(rows: SheetRows, matched: Sequence[int | None], labels: dict, speaks: dict,
                  skipped: Sequence[int]) -> dict[str, int]:
    """Return how many rows there are of each kind; every row is of one."""
    left = set(skipped)

    def kind(row: int, item: int | None) -> str:
        if item is None:
            return "unmatched" if rows.columns["id"][row] else "empty"
        if speaks[item] != row:
            return "repeated"
        return "labeled" if labels[item] is not None else "skipped" if item in left else "not reached"
    found = Counter(kind(row, item) for row, item in enumerate(matched))
    return {name: found[name] for name in KINDS if found[name]}


def _whole(cell):
    found = _WHOLE.fullmatch(cell)
    return int(found[1]) if found else None
