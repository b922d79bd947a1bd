"""Label sheets of an audit session: out with what people see, back with what they wrote, row by row."""
from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from workbench import checks
from workbench.data import files, frames, numbers
from workbench.data.answers import OTHER, right_or_wrong
from workbench.data.columns import plain_name
from workbench.data.sheet_files import original, refuse_recorded, write_rows
from workbench.results import Result
from workbench.stratified.session_design import label_reader
from workbench.stratified.session_store import SessionError
from workbench.stratified.session_trail import LABELED, OPEN, Trail

HEADER_ROWS = 1     # rows are told as a spreadsheet shows them
TOLD = 100
_WHOLE = re.compile(r"[0-9]+(?:[.,]0*)?")


@dataclass(frozen=True, eq=False, repr=False)
class SheetImport(Result):
    """What became of the rows of a filled label sheet.

    Attributes
    ----------
    recorded : int
        Labels that were new.
    repeated : int
        Labels that were known, or stand in the sheet more than once, always alike.
    skipped : int
        Items before the last labeled row that the sheet leaves empty, recorded as skipped.
    refused : tuple of (int, str, str)
        Row as a spreadsheet shows it (the header is row 1), identifier, and reason; nothing of these was recorded.
    """

    recorded: int
    repeated: int
    skipped: int
    refused: tuple

    def headline(self) -> str:
        """Return the counts in one sentence."""
        refused = f"; {checks.counted(len(self.refused), 'row')} refused" if self.refused else ""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{checks.counted(self.recorded, 'label')} recorded, {self.repeated} known already{skipped}{refused}"

    def rows(self) -> list[dict]:
        """Return one row per refused row."""
        return [{"row": row, "id": identifier, "reason": reason} for row, identifier, reason in self.refused]


@dataclass(frozen=True)
class SheetRow:
    """A row of a sheet: as a spreadsheet numbers it, with identifier, answer and position as text."""

    number: int
    id: str
    answer: str
    position: str = ""


def write_sheet(path: str | PathLike[str], trail: Trail, places: Sequence[int]) -> None:
    """Write items as a sheet, with the labels in force; never over labels that somebody wrote."""
    design = trail.design
    refuse_recorded(os.path.expanduser(os.fspath(path)), design["asks"])
    seen = ["prediction"] * (design["asks"] == "correct" and design["classes"] is not None)
    rows = []
    for k in places:
        item, labels = trail.items[k], trail.labels(k)
        shown = [item.prediction for _ in seen] + [item.shown[name] for name in design["columns"]]
        rows.append([item.id, k + 1, *shown, labels[0].label if labels else ""])
    write_rows(path, ("id", "position", *seen, *design["columns"], design["asks"]), rows)


def read_sheet(path: str | PathLike[str], asks: str) -> tuple[list[SheetRow], str]:
    """Return the rows of a sheet, and the SHA-256 of its file."""
    path = os.path.expanduser(os.fspath(path))
    names = ["id", asks] + ["position"] * ("position" in {plain_name(name) for name in frames.column_names(path)})
    columns, _ = frames.read_columns(path, names)
    cells = (numbers.as_text(columns[name]) for name in names)
    with open(files.file_of(path), "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return [SheetRow(number, original(each), *more)
            for number, (each, *more) in enumerate(zip(*cells, strict=True), HEADER_ROWS + 1)], digest


def reader(design: dict) -> Callable[[Any], Any]:
    """Return a function that reads an answer: 1 or 0, or the text of a class; raises where it is none."""
    if design["asks"] == "correct":
        return _right_or_wrong
    named = label_reader(design["classes"])

    def true_class(value):
        text = _text(value)
        found = named(original(text)) if text else None
        if found is None:
            known = checks.listed(map(str, design["classes"]), quoted=True)
            raise ValueError(f"{text!r} is not a predicted class; write {known}, or {OTHER!r} for a class that is "
                             "never predicted")
        return found
    return true_class


def _right_or_wrong(value):
    text = _text(value)
    try:
        return right_or_wrong([""], [text])[0]
    except ValueError:
        raise ValueError(f"{text!r} is not 1 (right) or 0 (wrong)") from None


def _text(value):
    return str(int(value)) if isinstance(value, bool) else numbers.as_text([value])[0]


def sorted_rows(rows: Sequence[SheetRow], trail: Trail, decide: Callable) -> tuple[dict, int, list]:
    """Return {item: label} to record, how many rows repeat what is known, and refused (row, id, reason).

    `decide(item, label)` returns whether a label is new, or raises SessionError.
    """
    read, refused, said = reader(trail.design), [], defaultdict(list)
    for row in rows:
        try:
            k, label = _item(row, trail), read(row.answer) if row.answer else None
            if row.answer:
                said[k].append((row, label))
        except _EmptyRowError:
            continue
        except ValueError as error:
            refused.append((row.number, row.id, str(error)))
    new, repeated = {}, 0
    for k, answers in said.items():
        try:
            label = _one_answer(answers)
            fresh = decide(k, label)
        except SessionError as error:
            refused.extend((row.number, row.id, str(error)) for row, _ in answers)
            continue
        repeated += len(answers) - fresh
        if fresh:
            new[k] = label
    return new, repeated, sorted(refused)


class _EmptyRowError(ValueError):
    """A row that says nothing."""


def _item(row, trail):
    if not row.id:
        if not row.answer:
            raise _EmptyRowError
        raise ValueError(f"the label {row.answer!r} has no id")
    k = item_of(trail, row.id)
    if row.position and _WHOLE.fullmatch(row.position) and float(row.position.replace(",", ".")) != k + 1:
        raise ValueError(f"it stands at position {row.position} in the sheet, but at {k + 1} in the audit: columns may "
                         "have been sorted apart from each other, so that labels stand beside the wrong id")
    return k


def item_of(trail: Trail, identifier: Any) -> int:
    """Return the place of an item in the order of labeling, or raise."""
    text = _text(identifier)
    k = trail.place.get(text)
    if k is None:
        raise SessionError(f"no item {text!r} is to be labeled in this audit"
                           f"{_shortened(text, trail)}")
    if k >= trail.budget:
        raise SessionError(f"item {text!r} stands at {k + 1} in the order, behind the budget of {trail.budget}: extend "
                           "the audit first")
    return k


def _shortened(text, trail):
    """Say where an id looks like one that a spreadsheet has taken for a number."""
    zeros = next((each for each in trail.place if each.startswith("0") and each.lstrip("0") == text), None)
    return f"; a spreadsheet may have cut the leading zeros of {zeros!r}" if zeros and text else ""


def _one_answer(answers):
    labels = list(dict.fromkeys(label for _, label in answers))
    if len(labels) > 1:
        rows = checks.listed((row.number for row, _ in answers), TOLD)
        raise SessionError(f"labeled {' and '.join(map(repr, labels))} in rows {rows}: none of them was recorded")
    return labels[0]


def left_out(rows: Sequence[SheetRow], trail: Trail, new: dict, free: Callable[[int], bool]) -> list[int]:
    """Return the open items that the sheet names before its last labeled one and leaves empty."""
    known = {trail.place.get(row.id): row for row in rows}
    filled = [k for k in known if k is not None and (k in new or (k < trail.budget and trail.status(k) == LABELED
                                                                  and known[k].answer))]
    last = max(filled, default=-1)
    answered = {trail.place.get(row.id) for row in rows if row.answer}
    return [k for k in sorted(k for k in known if k is not None and k < last)
            if k not in answered and trail.status(k) == OPEN and free(k)]
