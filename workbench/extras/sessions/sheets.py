"""Annotation sheets and tasks of an audit session.

`write_sheet` writes items with the columns that annotators see. `read_rows` reads their labels.
"""

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import files, numbers
from workbench.data.judged_items import WHICH
from workbench.data.safe_csv import refuse_recorded, write_rows
from workbench.extras.sessions.annotations import read_annotations, write_tasks
from workbench.extras.sessions.store import UNNAMED, SessionError
from workbench.extras.sessions.tools import TOOLS
from workbench.extras.sessions.trail import LABELED, OPEN, Entry, Trail
from workbench.labeling.answers import OTHER, answer_reader, class_texts
from workbench.labeling.ids import changed_ids, changed_notes
from workbench.labeling.label_rows import Annotations, LabelRow
from workbench.labeling.tables import read_table, whole_number
from workbench.labeling.workbooks import write_label_workbook
from workbench.results import Note, Result

SHEETS = ("csv", "xlsx")
RIGHT, WRONG = "right", "wrong"


class ChangedLabelError(SessionError):
    """A row would change an earlier label of the same annotator."""


class SheetImport(Result):
    """The result of importing an annotation sheet or an annotation tool's export.

    Attributes
    ----------
    recorded : int
        Number of new labels.
    repeated : int
        Number of labels that were already recorded, or occur more than once in the file.
    skipped : int
        Number of items recorded as skipped: empty rows before the last labeled row of a sheet, and
        items that an annotator passed over in a tool.
    refused : tuple of (int, str, str)
        The rejected rows, which were not recorded: row number, identifier and reason. The
        header of a sheet is row 1; in other files it is the line or the position in the list.
    unlabeled : tuple of str
        Items without a label in the export of a tool. They stay open.
    tool : str
        "Label Studio", "doccano" or "Prodigy"; "" for a sheet.
    corrected : int
        Number of labels that replaced earlier ones of the same annotator.
    changes : tuple of int
        Row numbers of `refused` that would have replaced an earlier label.

    See Also
    --------
    AuditSession.import_labels : Record the labels of a filled sheet or an export.
    AuditSession.export : Write an annotation sheet or tasks.
    """

    recorded: int
    repeated: int
    skipped: int
    refused: tuple
    unlabeled: tuple = ()
    tool: str = ""
    corrected: int = 0
    changes: tuple = ()

    @property
    def row_is(self) -> str:
        """Return the unit of numbers in `refused`: "row" of a sheet, "record" of a tool's file."""
        return "record" if self.tool else "row"

    def headline(self) -> str:
        """Return the counts in one sentence."""
        refused = (
            f"; {checks.counted(len(self.refused), self.row_is)} rejected" if self.refused else ""
        )
        skipped = f", {self.skipped} could not be labeled" if self.skipped else ""
        corrected = f", {self.corrected} corrected" if self.corrected else ""
        unlabeled = f", {len(self.unlabeled)} without a label" if self.unlabeled else ""
        return (
            f"{checks.counted(self.recorded, 'label')} recorded{corrected}, {self.repeated} "
            f"already recorded{skipped}{unlabeled}{refused}"
        )

    def rows(self) -> list[dict]:
        """Return one row per rejected row."""
        return [
            {"row": row, "id": identifier, "reason": reason}
            for row, identifier, reason in self.refused
        ]


@dataclass
class SortedRows:
    """The labels (item, who, label) and skips (item, who) of a file, and its other rows.

    `changes` are the numbers of rejected rows that would change a label of the same annotator.
    """

    labels: list = field(default_factory=list)
    skips: list = field(default_factory=list)
    repeated: int = 0
    unlabeled: list = field(default_factory=list)
    refused: list = field(default_factory=list)
    changes: list = field(default_factory=list)


def kind_of_sheet(path: str | PathLike[str], to: str | None) -> str:
    """Return the format to write: `to`, or by default the one of the file's ending."""
    if to is not None:
        return checks.choice("to", to, (*SHEETS, *TOOLS))
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending[1:] in SHEETS:
        return ending[1:]
    tools = [key for key, tool in TOOLS.items() if tool.ending == ending]
    if tools:
        raise ValueError(
            f"name the tool for {os.fspath(path)!r} with to: {checks.listed(tools, quoted=True)}"
        )
    endings = " or ".join(dict.fromkeys(tool.ending for tool in TOOLS.values()))
    raise ValueError(
        f"path must end in .csv or .xlsx, or in {endings} for an annotation tool; got "
        f"{os.fspath(path)!r}"
    )


def answers_of(design: dict) -> list[str]:
    """Return the possible answers: right and wrong, which answer is correct, or the classes."""
    if design["asks"] != "truth":
        return [RIGHT, WRONG] if design["asks"] == "correct" else [*WHICH]
    return list(dict.fromkeys([*class_texts(np.array(design["classes"])).tolist(), OTHER]))


def write_sheet(
    path: str | PathLike[str], trail: Trail, places: Sequence[int], kind: str, who: str
) -> None:
    """Write items as a sheet with their current labels, or as tasks of a tool.

    A file with labels is never overwritten. With double annotation, the sheet shows only the labels
    of `who`, because annotators tend to copy labels that they see.
    """
    path, design = os.path.expanduser(os.fspath(path)), trail.design
    if kind in TOOLS:
        write_tasks(
            path, kind, [(trail.items[k].id, _shown(trail, k)) for k in places], answers_of(design)
        )
        return
    if not path.lower().endswith("." + kind):
        raise ValueError(f"path must end in .{kind}; got {path!r}")
    refuse_recorded(path, design["asks"])
    header = ("id", "position", *shown_names(design), design["asks"])
    rows = [
        [trail.items[k].id, k + 1, *_shown(trail, k).values(), _label_of(trail, k, kind, who)]
        for k in places
    ]
    if kind == "xlsx":
        write_label_workbook(path, header, rows, answers_of(design))
    else:
        write_rows(path, header, rows)


def shown_names(design: dict) -> list[str]:
    """Return the columns of an item that annotators see."""
    return ["prediction"] * (design["asks"] == "correct" and design["classes"] is not None) + list(
        design["columns"]
    )


def _shown(trail: Trail, k: int) -> dict:
    item = trail.items[k]
    return {
        name: item.prediction if name == "prediction" else item.shown[name]
        for name in shown_names(trail.design)
    }


def _label_of(trail: Trail, k: int, kind: str, who: str) -> int | str:
    for entry in trail.labels(k):
        if not trail.design["second_share"] or entry.who == who:
            is_verdict = kind == "xlsx" and trail.design["asks"] == "correct"
            return (WRONG, RIGHT)[entry.label] if is_verdict else entry.label
    return ""


def read_rows(path: str | PathLike[str], trail: Trail) -> tuple[Annotations, list[Note], str]:
    """Return the rows of a sheet or of an export, notes, and the SHA-256 of the file.

    Identifiers that a spreadsheet changed are restored.
    """
    path = os.path.expanduser(os.fspath(path))
    exported = read_annotations(path)
    annotated, notes = (exported, ()) if exported else _read_sheet(path, trail.design["asks"])
    changed = changed_ids(
        [row.id for row in annotated.rows], (item.id for item in trail.items[: trail.budget])
    )
    if changed:
        rows = tuple(replace(row, id=changed.get(row.id, row.id)) for row in annotated.rows)
        annotated = replace(annotated, rows=rows)
    with open(files.file_of(path), "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return annotated, [*notes, *changed_notes(changed)], digest


def _read_sheet(path: str, asks: str) -> tuple[Annotations, tuple[Note, ...]]:
    table = read_table(path, ["id", asks], ["position"])
    positions = table.columns.get("position", [""] * len(table.rows))
    rows = zip(table.rows, table.ids, table.columns[asks], positions, strict=True)
    return Annotations(
        table.label,
        "",
        tuple(
            LabelRow(number, name, label, position=position)
            for number, name, label, position in rows
        ),
    ), table.notes


def reader(design: dict) -> Callable[[Any], Any]:
    """Return a function that reads an answer as 1 or 0, or as the text of a class."""
    read = answer_reader(design["asks"], design["classes"] and np.array(design["classes"]))
    return lambda value: read(_text(value))


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else numbers.as_text([value])[0]


def sorted_rows(
    sheet: Annotations, trail: Trail, name_of: Callable[[str], str], decide: Callable
) -> SortedRows:
    """Return the labels and skips that a file adds to a session, and its other rows.

    `name_of(by)` returns the name of a row's annotator. `decide(item, label, who, said)` returns
    whether a label is new after other labels of the item in the file, or raises SessionError.
    """
    read, content = reader(trail.design), SortedRows()
    answers: dict = defaultdict(list)
    skips: dict = {}
    for row in (row for row in sheet.rows if row.problem or row.id or row.label):
        try:
            k = _item(row, trail)
            label = row.answer(trail.design["asks"], trail.items[k].prediction, read)
            if label is not None:
                answers[k, name_of(row.by)].append((row, label))
            elif row.skipped:
                skips.setdefault((k, name_of(row.by)), row)
            elif sheet.tool and trail.status(k) == OPEN:
                content.unlabeled.append(k)
        except ValueError as error:
            content.refused.append((row.number, row.id, str(error)))
    _add_labels(content, answers, decide, "records" if sheet.tool else "rows")
    _add_skips(content, skips, trail)
    done = {k for k, *_ in (*content.labels, *content.skips)}
    content.unlabeled = [
        trail.items[k].id for k in dict.fromkeys(content.unlabeled) if k not in done
    ]
    content.refused.sort()
    content.changes.sort()
    return content


def kept_notes(sheet: Annotations, trail: Trail, who: str) -> list[Note]:
    """Return a note if a sheet that corrects labels has empty cells of labeled items."""
    if sheet.tool:
        return []
    rows = [row for row in sheet.rows if row.id in trail.place and not row.label]
    empty = sum(who in [entry.who for entry in trail.labels(trail.place[row.id])] for row in rows)
    if not empty:
        return []
    cells = checks.counted(empty, "cell is", "cells are")
    text = f"{cells} empty although the item has a label, which stays; undo it, or record another"
    return [Note("data", text)]


def several_notes(trail: Trail, labels: Sequence[tuple]) -> list[Note]:
    """Return a note if items without planned double annotation have several labels."""
    labels_of = {k: {entry.who: entry.label for entry in trail.labels(k)} for k, *_ in labels}
    for k, who, label in labels:
        labels_of[k][who] = label
    several = [
        set(by_annotator.values())
        for k, by_annotator in labels_of.items()
        if len(by_annotator) > 1 and not trail.doubled[k]
    ]
    if not several:
        return []
    items = checks.counted(len(several), "item has", "items have")
    differ = checks.counted(
        sum(len(values) > 1 for values in several), "of them has", "of them have"
    )
    text = (
        f"{items} labels of several annotators; {differ} different labels. All are kept, and the "
        "first of each item counts. To correct for label errors, plan an audit with double "
        "annotation (--second-share)"
    )
    return [Note("data", text)]


def _add_labels(content: SortedRows, answers_by_item: Any, decide: Callable, rows: str) -> None:
    """Add labels in the order of labeling, and annotators of an item in the order of the file."""
    pending: defaultdict = defaultdict(list)
    for (k, who), answers in sorted(answers_by_item.items(), key=lambda item: item[0][0]):
        try:
            label = _one_answer(answers, rows)
            fresh = decide(k, label, who, pending[k])
        except SessionError as error:
            content.refused.extend((row.number, row.id, str(error)) for row, _ in answers)
            content.changes += [
                row.number for row, _ in answers if isinstance(error, ChangedLabelError)
            ]
            continue
        content.repeated += len(answers) - fresh
        if fresh:
            content.labels.append((k, who, label))
            pending[k].append(Entry(0, "", who, label))


def _add_skips(content: SortedRows, skips: dict, trail: Trail) -> None:
    labeled, passed = {k for k, _, _ in content.labels}, set()
    for (k, who), row in sorted(skips.items(), key=lambda item: item[0][0]):
        if k in labeled or trail.status(k) == LABELED:
            content.refused.append(
                (
                    row.number,
                    row.id,
                    f"{who or UNNAMED} skipped it, but it has a label, which counts",
                )
            )
        elif trail.status(k) == OPEN and k not in passed:
            passed.add(k)
            content.skips.append((k, who))


def _item(row: LabelRow, trail: Trail) -> int:
    if row.problem:
        raise ValueError(row.problem)
    if not row.id:
        raise ValueError(f"the label {row.label!r} has no id")
    k = item_of(trail, row.id)
    if whole_number(row.position) not in (None, k + 1):
        raise ValueError(
            f"it has position {row.position} in the sheet, but {k + 1} in the audit; perhaps one "
            "column was sorted without the others, so that labels are next to the wrong id"
        )
    return k


def item_of(trail: Trail, identifier: Any) -> int:
    """Return the position of an item in the order of labeling, or raise an error."""
    text = _text(identifier)
    k = trail.place.get(text)
    if k is None:
        raise SessionError(f"item {text!r} is not in this audit{_shortened(text, trail)}")
    if k >= trail.budget and trail.waves:
        raise SessionError(f"item {text!r} is not in the waves sampled so far")
    if k >= trail.budget:
        raise SessionError(
            f"item {text!r} has position {k + 1} in the order of labeling, after the budget of "
            f"{trail.budget}; extend the audit first"
        )
    return k


def _shortened(text: str, trail: Trail) -> str:
    """Return a hint if a spreadsheet seems to have read an id as a number."""
    zeros = next(
        (name for name in trail.place if name.startswith("0") and name.lstrip("0") == text), None
    )
    return (
        f"; perhaps a spreadsheet removed the leading zeros of {zeros!r}" if zeros and text else ""
    )


def _one_answer(answers: list, rows: str) -> int | str:
    labels = list(dict.fromkeys(label for _, label in answers))
    if len(labels) > 1:
        numbered = checks.listed((row.number for row, _ in answers), 100)
        raise SessionError(
            f"has different labels, {' and '.join(map(repr, labels))}, in {rows} {numbered}; none "
            "was recorded"
        )
    return labels[0]


def left_out(rows: Sequence[LabelRow], trail: Trail, content: SortedRows) -> list[int]:
    """Return the open items with empty cells before the last labeled row of a sheet."""
    new = {k for k, _, _ in content.labels}
    refused = {number for number, *_ in content.refused}
    row_of = {
        trail.place[row.id]: row
        for row in rows
        if row.id in trail.place and (row.label or row.number not in refused)
    }
    last = -1
    for k, row in row_of.items():
        if k in new or (k < trail.budget and trail.status(k) == LABELED and row.label):
            last = max(last, k)
    answered = {trail.place.get(row.id) for row in rows if row.label}
    before = (k for k in sorted(row_of) if k < last)
    return [k for k in before if k not in answered and trail.status(k) == OPEN]
