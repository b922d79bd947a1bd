"""Label sheets and tasks of an audit session: out with what people see, back with what they wrote, row by row."""

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
from workbench.extras.sessions.store import SessionError
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
    """A row would change a label of the same person."""


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
    corrected : int
        Labels that took the place of others that the same person gave before.
    changes : tuple of int
        Rows of `refused` that would have done so.
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
        """What the numbers of `refused` count: "row" of a sheet, "record" of a tool's file."""
        return "record" if self.tool else "row"

    def headline(self) -> str:
        """Return the counts in one sentence."""
        refused = (
            f"; {checks.counted(len(self.refused), self.row_is)} refused" if self.refused else ""
        )
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        corrected = f", {self.corrected} corrected" if self.corrected else ""
        left = f", {len(self.unlabeled)} without a label" if self.unlabeled else ""
        return (
            f"{checks.counted(self.recorded, 'label')} recorded{corrected}, {self.repeated} known already{skipped}"
            f"{left}{refused}"
        )

    def rows(self) -> list[dict]:
        """Return one row per refused row."""
        return [
            {"row": row, "id": identifier, "reason": reason}
            for row, identifier, reason in self.refused
        ]


@dataclass
class Found:
    """What rows add to a session: labels (item, who, label), skips (item, who), and what becomes of the other rows.

    `changes` are the numbers of refused rows that would change a label of the same person.
    """

    labels: list = field(default_factory=list)
    skips: list = field(default_factory=list)
    repeated: int = 0
    unlabeled: list = field(default_factory=list)
    refused: list = field(default_factory=list)
    changes: list = field(default_factory=list)


def kind_of_sheet(path: str | PathLike[str], to: str | None) -> str:
    """Return what is to be written: as it is said, else as the ending of the file tells."""
    if to is not None:
        return checks.choice("to", to, (*SHEETS, *TOOLS))
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending[1:] in SHEETS:
        return ending[1:]
    tools = [key for key, tool in TOOLS.items() if tool.ending == ending]
    if tools:
        raise ValueError(
            f"say for which tool {os.fspath(path)!r} is: to {checks.listed(tools, quoted=True)}"
        )
    endings = " or ".join(dict.fromkeys(tool.ending for tool in TOOLS.values()))
    raise ValueError(
        f"path must end in .csv or .xlsx, or in {endings} for an annotation tool; got "
        f"{os.fspath(path)!r}"
    )


def answers_of(design: dict) -> list[str]:
    """Return what people can choose from: right and wrong, whose answer is right, or the classes and `OTHER`."""
    if design["asks"] != "truth":
        return [RIGHT, WRONG] if design["asks"] == "correct" else [*WHICH]
    return list(dict.fromkeys([*class_texts(np.array(design["classes"])).tolist(), OTHER]))


def write_sheet(
    path: str | PathLike[str], trail: Trail, places: Sequence[int], kind: str, who: str
) -> None:
    """Write items as a sheet with the labels in force, or as tasks of a tool; never over labels that somebody wrote.

    Where items get second labels, the sheet shows no label of anybody but `who`: a label that is seen is copied.
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
    """Return the columns that people see of an item."""
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
    labels = [
        each for each in trail.labels(k) if not trail.design["second_share"] or each.who == who
    ]
    if not labels:
        return ""
    return (
        (WRONG, RIGHT)[labels[0].label]
        if kind == "xlsx" and trail.design["asks"] == "correct"
        else labels[0].label
    )


def read_rows(path: str | PathLike[str], trail: Trail) -> tuple[Annotations, list[Note], str]:
    """Return the rows of a sheet, or of the export of an annotation tool, notes, and the SHA-256 of the file.

    Rows have the ids of the items that they mean, also where a spreadsheet changed them.
    """
    path = os.path.expanduser(os.fspath(path))
    exported = read_annotations(path)
    annotated, notes = (exported, ()) if exported else _read_sheet(path, trail.design["asks"])
    changed = changed_ids(
        [row.id for row in annotated.rows], (item.id for item in trail.items[: trail.budget])
    )
    rows = (
        tuple(replace(row, id=changed.get(row.id, row.id)) for row in annotated.rows)
        if changed
        else annotated.rows
    )
    with open(files.file_of(path), "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return replace(annotated, rows=rows), [*notes, *changed_notes(changed)], digest


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
    """Return a function that reads an answer: 1 or 0, or the text of a class; raises where it is none."""
    read = answer_reader(design["asks"], design["classes"] and np.array(design["classes"]))
    return lambda value: read(_text(value))


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else numbers.as_text([value])[0]


def sorted_rows(
    sheet: Annotations, trail: Trail, name_of: Callable[[str], str], decide: Callable
) -> Found:
    """Return what the rows of a file add to a session.

    `name_of(by)` returns who a row's annotator is; `decide(item, label, who, said)` returns whether a label is new
    after those that others said of the item in the same file, or raises SessionError.
    """
    read, found = reader(trail.design), Found()
    said: dict = defaultdict(list)
    skips: dict = {}
    for row in (row for row in sheet.rows if row.problem or row.id or row.label):
        try:
            k = _item(row, trail)
            label = row.answer(trail.design["asks"], trail.items[k].prediction, read)
            if label is not None:
                said[k, name_of(row.by)].append((row, label))
            elif row.skipped:
                skips.setdefault((k, name_of(row.by)), row)
            elif sheet.tool and trail.status(k) == OPEN:
                found.unlabeled.append(k)
        except ValueError as error:
            found.refused.append((row.number, row.id, str(error)))
    _add_labels(found, said, decide, "records" if sheet.tool else "rows")
    _add_skips(found, skips, trail)
    done = {k for k, *_ in (*found.labels, *found.skips)}
    found.unlabeled = [trail.items[k].id for k in dict.fromkeys(found.unlabeled) if k not in done]
    found.refused.sort()
    found.changes.sort()
    return found


def kept_notes(sheet: Annotations, trail: Trail, who: str) -> list[Note]:
    """Return a note where a sheet that corrects labels leaves a cell empty whose label stands."""
    named = [
        trail.labels(trail.place[row.id])
        for row in sheet.rows
        if row.id in trail.place and not row.label
    ]
    kept = 0 if sheet.tool else sum(any(entry.who == who for entry in labels) for labels in named)
    if not kept:
        return []
    cells = checks.counted(kept, "cell is", "cells are")
    return [
        Note(
            "data",
            f"{cells} empty where a label stands: the label stays; undo, or record the other one",
        )
    ]


def several_notes(trail: Trail, labels: Sequence[tuple]) -> list[Note]:
    """Return a note where new labels make several of one item for which no second label was planned."""
    known: dict = {k: trail.labels(k) for k, _, _ in labels}
    said = {k: {entry.who: entry.label for entry in entries} for k, entries in known.items()}
    for k, who, label in labels:
        said[k][who] = label
    several = [k for k in said if len(said[k]) > 1 and not trail.doubled[k]]
    if not several:
        return []
    differ = sum(len(set(said[k].values())) > 1 for k in several)
    items = checks.counted(len(several), "item has", "items have")
    return [
        Note(
            "data",
            f"{items} labels of several people, and those of {differ} differ: all are kept, and the first "
            "of each item counts; an audit with second labels (--second-share) corrects for label errors",
        )
    ]


def _add_labels(found: Found, said: Any, decide: Callable, rows: str) -> None:
    """Take labels in the order of labeling, and people of one item in the order of the file."""
    pending: defaultdict = defaultdict(list)
    for (k, who), answers in sorted(said.items(), key=lambda each: each[0][0]):
        try:
            label = _one_answer(answers, rows)
            fresh = decide(k, label, who, pending[k])
        except SessionError as error:
            found.refused.extend((row.number, row.id, str(error)) for row, _ in answers)
            found.changes += [
                row.number for row, _ in answers if isinstance(error, ChangedLabelError)
            ]
            continue
        found.repeated += len(answers) - fresh
        if fresh:
            found.labels.append((k, who, label))
            pending[k].append(Entry(0, "", who, label))


def _add_skips(found: Found, skips: dict, trail: Trail) -> None:
    labeled, passed = {k for k, _, _ in found.labels}, set()
    for (k, who), row in sorted(skips.items(), key=lambda each: each[0][0]):
        if k in labeled or trail.status(k) == LABELED:
            found.refused.append(
                (
                    row.number,
                    row.id,
                    f"{who or UNNAMED} skipped it, but it has a label: the label counts",
                )
            )
        elif trail.status(k) == OPEN and k not in passed:
            passed.add(k)
            found.skips.append((k, who))


def _item(row: LabelRow, trail: Trail) -> int:
    if row.problem:
        raise ValueError(row.problem)
    if not row.id:
        raise ValueError(f"the label {row.label!r} has no id")
    k = item_of(trail, row.id)
    if whole_number(row.position) not in (None, k + 1):
        raise ValueError(
            f"it stands at position {row.position} in the sheet, but at {k + 1} in the audit: columns may "
            "have been sorted apart from each other, so that labels stand beside the wrong id"
        )
    return k


def item_of(trail: Trail, identifier: Any) -> int:
    """Return the place of an item in the order of labeling, or raise."""
    text = _text(identifier)
    k = trail.place.get(text)
    if k is None:
        raise SessionError(
            f"no item {text!r} is to be labeled in this audit{_shortened(text, trail)}"
        )
    if k >= trail.budget and trail.waves:
        raise SessionError(f"item {text!r} is in none of the waves that were drawn so far")
    if k >= trail.budget:
        raise SessionError(
            f"item {text!r} stands at {k + 1} in the order, behind the budget of {trail.budget}: extend "
            "the audit first"
        )
    return k


def _shortened(text: str, trail: Trail) -> str:
    """Say where an id looks like one that a spreadsheet has taken for a number."""
    zeros = next(
        (each for each in trail.place if each.startswith("0") and each.lstrip("0") == text), None
    )
    return f"; a spreadsheet may have cut the leading zeros of {zeros!r}" if zeros and text else ""


def _one_answer(answers: list, rows: str) -> int | str:
    labels = list(dict.fromkeys(label for _, label in answers))
    if len(labels) > 1:
        numbered = checks.listed((row.number for row, _ in answers), 100)
        raise SessionError(
            f"labeled {' and '.join(map(repr, labels))} in {rows} {numbered}: none of them was recorded"
        )
    return labels[0]


def left_out(
    rows: Sequence[LabelRow], trail: Trail, found: Found, free: Callable[[int], bool]
) -> list[int]:
    """Return the open items that a sheet names before its last labeled one and leaves empty, in rows not refused."""
    new, refused = {k for k, _, _ in found.labels}, {number for number, *_ in found.refused}
    known = {trail.place.get(row.id): row for row in rows if row.label or row.number not in refused}
    filled = [
        k
        for k in known
        if k is not None
        and (k in new or (k < trail.budget and trail.status(k) == LABELED and known[k].label))
    ]
    last = max(filled, default=-1)
    answered = {trail.place.get(row.id) for row in rows if row.label}
    return [
        k
        for k in sorted(k for k in known if k is not None and k < last)
        if k not in answered and trail.status(k) == OPEN and free(k)
    ]
