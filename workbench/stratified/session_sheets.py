"""Label sheets and tasks of an audit session: out with what people see, back with what they wrote, row by row."""
from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import annotation_tasks, files, frames, numbers
from workbench.data.annotations import ACCEPT, Annotations, LabelRow, judged, read_annotations
from workbench.data.answers import OTHER, class_texts, right_or_wrong
from workbench.data.columns import plain_name
from workbench.data.label_workbooks import write_label_workbook
from workbench.data.sheet_files import original, refuse_recorded, write_rows
from workbench.results import Result
from workbench.stratified.session_design import label_reader
from workbench.stratified.session_store import SessionError
from workbench.stratified.session_trail import LABELED, OPEN, Entry, Trail

HEADER_ROWS = 1     # rows are told as a spreadsheet shows them
TOLD = 100
KINDS = ("csv", "xlsx", *annotation_tasks.ENDINGS)
RIGHT, WRONG = "right", "wrong"
_WHOLE = re.compile(r"[0-9]+(?:[.,]0*)?")


@dataclass(frozen=True, eq=False, repr=False)
class SheetImport(Result):
    """What became of the rows of a filled label sheet, or of the records of an annotation tool's export.

    Attributes
    ----------
    recorded : int
        Labels that were new.
    repeated : int
        Labels that were known, or stand in the file more than once, always alike.
    skipped : int
        Items recorded as skipped: those before the last labeled row that a sheet leaves empty, and those that somebody
        passed over in a tool.
    refused : tuple of (int, str, str)
        Row as a spreadsheet shows it (the header is row 1), line of JSONL or place in a JSON list; identifier; and
        reason. Nothing of these was recorded.
    unlabeled : tuple of str
        Items that the export of a tool names without a label; they stay open.
    tool : str
        "Label Studio", "doccano" or "Prodigy"; "" for a sheet.
    """

    recorded: int
    repeated: int
    skipped: int
    refused: tuple
    unlabeled: tuple = ()
    tool: str = ""

    @property
    def row_is(self) -> str:
        """What the numbers of `refused` count: "row" of a sheet, "record" of a tool's file."""
        return "record" if self.tool else "row"

    def headline(self) -> str:
        """Return the counts in one sentence."""
        refused = f"; {checks.counted(len(self.refused), self.row_is)} refused" if self.refused else ""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        left = f", {len(self.unlabeled)} without a label" if self.unlabeled else ""
        return (f"{checks.counted(self.recorded, 'label')} recorded, {self.repeated} known already{skipped}{left}"
                f"{refused}")

    def rows(self) -> list[dict]:
        """Return one row per refused row."""
        return [{"row": row, "id": identifier, "reason": reason} for row, identifier, reason in self.refused]


@dataclass
class Found:
    """What rows add to a session: labels (item, who, label), skips (item, who), and what becomes of the other rows."""

    labels: list = field(default_factory=list)
    skips: list = field(default_factory=list)
    repeated: int = 0
    unlabeled: list = field(default_factory=list)
    refused: list = field(default_factory=list)


def kind_of_sheet(path: str | PathLike[str], to: str | None) -> str:
    """Return what is to be written: as it is said, else as the ending of the file tells."""
    if to is not None:
        return checks.choice("to", to, KINDS)
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending in (".csv", ".xlsx"):
        return ending[1:]
    tools = [tool for tool, its in annotation_tasks.ENDINGS.items() if its == ending]
    if tools:
        raise ValueError(f"say for which tool {os.fspath(path)!r} is: to {checks.listed(tools, quoted=True)}")
    raise ValueError(f"path must end in .csv or .xlsx, or in .json or .jsonl for an annotation tool; got "
                     f"{os.fspath(path)!r}")


def answers_of(design: dict) -> list[str]:
    """Return what people can choose from: right and wrong, or the classes and `OTHER`."""
    if design["asks"] == "correct":
        return [RIGHT, WRONG]
    return list(dict.fromkeys([*class_texts(np.array(design["classes"])).tolist(), OTHER]))


def write_sheet(path: str | PathLike[str], trail: Trail, places: Sequence[int], kind: str) -> None:
    """Write items as a sheet with the labels in force, or as tasks of a tool; never over labels that somebody wrote."""
    path, design = os.path.expanduser(os.fspath(path)), trail.design
    if kind in annotation_tasks.ENDINGS:
        items = [(trail.items[k].id, _shown(trail, k)) for k in places]
        annotation_tasks.write_tasks(path, kind, items, answers_of(design))
        return
    if not path.lower().endswith("." + kind):
        raise ValueError(f"path must end in .{kind}; got {path!r}")
    refuse_recorded(path, design["asks"])
    header = ("id", "position", *shown_names(design), design["asks"])
    rows = [[trail.items[k].id, k + 1, *_shown(trail, k).values(), _label_of(trail, k, kind)] for k in places]
    if kind == "xlsx":
        write_label_workbook(path, header, rows, answers_of(design))
    else:
        write_rows(path, header, rows)


def shown_names(design: dict) -> list[str]:
    """Return the columns that people see of an item."""
    return ["prediction"] * (design["asks"] == "correct" and design["classes"] is not None) + list(design["columns"])


def _shown(trail, k):
    item = trail.items[k]
    return {name: item.prediction if name == "prediction" else item.shown[name] for name in shown_names(trail.design)}


def _label_of(trail, k, kind):
    labels = trail.labels(k)
    if not labels:
        return ""
    return (WRONG, RIGHT)[labels[0].label] if kind == "xlsx" and trail.design["asks"] == "correct" else labels[0].label


def read_rows(path: str | PathLike[str], asks: str) -> tuple[Annotations, str]:
    """Return the rows of a sheet, or of the export of an annotation tool, and the SHA-256 of the file."""
    path = os.path.expanduser(os.fspath(path))
    found = read_annotations(path) or _read_sheet(path, asks)
    with open(files.file_of(path), "rb") as file:
        return found, hashlib.file_digest(file, "sha256").hexdigest()


def _read_sheet(path, asks):
    names = ["id", asks] + ["position"] * ("position" in {plain_name(name) for name in frames.column_names(path)})
    columns, _ = frames.read_columns(path, names)
    cells = (numbers.as_text(columns[name]) for name in names)
    return Annotations(repr(path), "", tuple(
        LabelRow(number, original(each), label, position="".join(more))
        for number, (each, label, *more) in enumerate(zip(*cells, strict=True), HEADER_ROWS + 1)))


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


def sorted_rows(sheet: Annotations, trail: Trail, name_of: Callable[[str], str], decide: Callable) -> Found:
    """Return what the rows of a file add to a session.

    `name_of(by)` returns who a row's annotator is; `decide(item, label, who, said)` returns whether a label is new
    after those that others said of the item in the same file, or raises SessionError.
    """
    read, found = reader(trail.design), Found()
    said: dict = defaultdict(list)
    skips: dict = {}
    for row in sheet.rows:
        try:
            k = _item(row, trail)
            label = _answer(row, trail, k, read)
            if label is not None:
                said[k, name_of(row.by)].append((row, label))
            elif row.skipped:
                skips.setdefault((k, name_of(row.by)), row)
            elif sheet.tool and trail.status(k) == OPEN:
                found.unlabeled.append(k)
        except _EmptyRowError:
            continue
        except ValueError as error:
            found.refused.append((row.number, row.id, str(error)))
    _add_labels(found, said, decide, "records" if sheet.tool else "rows")
    _add_skips(found, skips, trail)
    done = {k for k, *_ in (*found.labels, *found.skips)}
    found.unlabeled = [trail.items[k].id for k in dict.fromkeys(found.unlabeled) if k not in done]
    found.refused.sort()
    return found


def _add_labels(found, said, decide, rows):
    """Take labels in the order of labeling, and people of one item in the order of the file."""
    pending = defaultdict(list)
    for (k, who), answers in sorted(said.items(), key=lambda each: each[0][0]):
        try:
            label = _one_answer(answers, rows)
            fresh = decide(k, label, who, pending[k])
        except SessionError as error:
            found.refused.extend((row.number, row.id, str(error)) for row, _ in answers)
            continue
        found.repeated += len(answers) - fresh
        if fresh:
            found.labels.append((k, who, label))
            pending[k].append(Entry(0, "", who, label))


def _add_skips(found, skips, trail):
    labeled, passed = {k for k, _, _ in found.labels}, set()
    for (k, who), row in sorted(skips.items(), key=lambda each: each[0][0]):
        if k in labeled or trail.status(k) == LABELED:
            found.refused.append((row.number, row.id, f"{who or 'nobody named'} skipped it, but it has a label: the "
                                  "label counts"))
        elif trail.status(k) == OPEN and k not in passed:
            passed.add(k)
            found.skips.append((k, who))


def _answer(row, trail, k, read):
    """Return the label that a row says, or None: 1 or 0, or the text of a class."""
    if not row.verdict:
        return read(row.label) if row.label else None
    if trail.design["asks"] == "truth":
        return read(row.label) if row.label and row.verdict == ACCEPT else None
    right = 1 if row.label in ("", trail.items[k].prediction) else read(row.label)
    return judged(row, right)


class _EmptyRowError(ValueError):
    """A row that says nothing."""


def _item(row, trail):
    if row.problem:
        raise ValueError(row.problem)
    if not row.id:
        if not row.label:
            raise _EmptyRowError
        raise ValueError(f"the label {row.label!r} has no id")
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


def _one_answer(answers, rows):
    labels = list(dict.fromkeys(label for _, label in answers))
    if len(labels) > 1:
        numbered = checks.listed((row.number for row, _ in answers), TOLD)
        raise SessionError(f"labeled {' and '.join(map(repr, labels))} in {rows} {numbered}: none of them was recorded")
    return labels[0]


def left_out(rows: Sequence[LabelRow], trail: Trail, new: set[int], free: Callable[[int], bool]) -> list[int]:
    """Return the open items that a sheet names before its last labeled one and leaves empty."""
    known = {trail.place.get(row.id): row for row in rows}
    filled = [k for k in known if k is not None and (k in new or (k < trail.budget and trail.status(k) == LABELED
                                                                  and known[k].label))]
    last = max(filled, default=-1)
    answered = {trail.place.get(row.id) for row in rows if row.label}
    return [k for k in sorted(k for k in known if k is not None and k < last)
            if k not in answered and trail.status(k) == OPEN and free(k)]
