"""Labels as annotation tools hand them out: the exports of Label Studio (JSON), doccano and Prodigy (JSONL).

A tool is known by its records, whatever the file is called. Which item a record is of, its field `item` says: in `data`
(Label Studio), beside the text (doccano), in `meta` (Prodigy); where it was not one of our tasks, `id` in its place.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

from workbench import checks
from workbench.data import files, numbers
from workbench.data.json_records import fields_of, json_records, json_text, kind_of
from workbench.data.text_files import PACKED

JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
COLLABORATIVE = "all"       # doccano's file of a project whose annotations have no annotator
ACCEPT, REJECT, IGNORE = "accept", "reject", "ignore"
_COMMENTS = ("textarea", "rating")


@dataclass(frozen=True)
class LabelRow:
    """What one row of a sheet, or one person in a record of a tool, says of an item.

    Attributes
    ----------
    number : int
        Row as a spreadsheet shows it; line of JSONL; place in a list, from 1.
    id, label : str
        The item, and the answer as it is written; "" for none.
    by : str
        Who said so, "" where nothing tells.
    position : str
        As a sheet says it.
    verdict : {"", "accept", "reject"}
        Prodigy's answer to the label: "reject" means that it is not the right one.
    chosen : bool
        Whether the verdict is on a choice among options, not on one label.
    skipped : bool
        Whether the annotator passed the item over.
    problem : str
        Why the row cannot be used, "" where it can.
    """

    number: int
    id: str = ""
    label: str = ""
    by: str = ""
    position: str = ""
    verdict: str = ""
    chosen: bool = False
    skipped: bool = False
    problem: str = ""

    @property
    def is_answered(self) -> bool:
        """Whether the row says anything: a label, a verdict or a skip."""
        return bool(self.label or self.verdict or self.skipped)


@dataclass(frozen=True)
class Annotations:
    """The rows of a file of labels in their order, and the tool that wrote it, "" for a sheet.

    `by` is the annotator that the file's name tells, as doccano's does: one file for each.
    """

    label: str
    tool: str
    rows: tuple[LabelRow, ...]
    by: str = ""


def read_annotations(path: str | PathLike[str]) -> Annotations | None:
    """Read what a tool exported, or return None for a table: a sheet, or JSON whose rows have `correct` or `truth`.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    ValueError
        If a JSON file is cut off, or is neither a table nor the export of a tool. What is wrong with a single record
        is the `problem` of its row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "anna.jsonl")
    ...     _ = file.write_text('{"text": "Snow is white.", "label": ["right"], "item": "c-1"}')
    ...     found = read_annotations(file)
    >>> found.tool, found.by, found.rows[0].id, found.rows[0].label
    ('doccano', 'anna', 'c-1', 'right')
    """
    path = os.path.expanduser(os.fspath(path))
    if not _plain_name(path).endswith(JSON_ENDINGS):
        return None
    path, label, _ = files.existing_file(path)
    records = json_records(json_text(path, label), label)
    tools = [tool_of(record) if not problem else "" for _, record, problem in records]
    tool = next(filter(None, tools), "")
    if not tool:
        _refuse_unknown(label, records)
        return None
    rows = tuple(row for (number, record, problem), its in zip(records, tools, strict=True)
                 for row in _rows(tool, number, record, problem, its))
    return Annotations(label, tool, rows, _name_of_file(path) if tool == "doccano" else "")


def tool_of(record: dict) -> str:
    """Return the tool whose record this looks like, or "".

    Examples
    --------
    >>> tool_of({"data": {"item": 1}}), tool_of({"text": "x", "label": []}), tool_of({"text": "x", "answer": "accept"})
    ('Label Studio', 'doccano', 'Prodigy')
    """
    if {"correct", "truth"} & set(record):
        return ""
    if isinstance(record.get("data"), dict) or isinstance(record.get("annotations"), list):
        return "Label Studio"
    if {"answer", "_view_id", "_input_hash", "_task_hash", "options"} & set(record):
        return "Prodigy"
    if isinstance(record.get("label"), list) or {"entities", "relations", "Comments"} & set(record) or \
            {"text", "label"} <= set(record):
        return "doccano"
    return ""


def judged(row: LabelRow, right: int) -> int:
    """Return what a row says where right or wrong is asked and its label alone says `right`, 1 or 0.

    Raises
    ------
    ValueError
        If a choice was rejected, or the label "wrong": both may mean either answer.

    Examples
    --------
    >>> judged(LabelRow(1, "d-1", "cat", verdict="reject"), 1), judged(LabelRow(2, "d-2", "wrong"), 0)
    (0, 0)
    """
    if row.verdict != REJECT:
        return right
    if row.chosen or not right:
        of = "a choice" if row.chosen else repr(row.label)
        raise ValueError(f"its answer is reject of {of}, which may mean right or wrong: choose one and accept it, or "
                         "ignore the task")
    return 0


def _rows(tool, number, record, problem, its):
    if problem:
        return [LabelRow(number, problem=problem)]
    if its != tool:
        what = f"a record of {its}" if its else f"no record of {tool} (it has {fields_of(record)})"
        return [LabelRow(number, problem=f"is {what}, the file's first is one of {tool}: one file, one tool")]
    return list(_READERS[tool](number, record))


def _refuse_unknown(label, records):
    """Raise where JSON is neither a tool's nor a table with the columns of a sheet."""
    record = next((record for _, record, problem in records if not problem), None)
    if record is None:
        raise ValueError(f"{label} must hold records such as {{\"item\": \"7\"}}; record {records[0][0]} "
                         f"{records[0][2]}")
    if {"correct", "truth"} & set(record):
        return
    remedy = "export it as JSON, not as JSON-MIN" if {"annotation_id", "annotator"} & set(record) else \
        "export labels as JSON (Label Studio) or JSONL (doccano, Prodigy)"
    raise ValueError(f"{label} is neither a sheet with the columns id and correct (or truth) nor an export of Label "
                     f"Studio, doccano or Prodigy; record {records[0][0]} has {fields_of(record)}: {remedy}")


def _label_studio(number: int, task: dict) -> Iterator[LabelRow]:
    data = task.get("data")
    item = _item(data if isinstance(data, dict) else {})
    annotations = task.get("annotations") or []
    if not item:
        yield LabelRow(number, problem="has no data.item: import the tasks that the audit exported")
    elif not isinstance(annotations, list):
        yield LabelRow(number, item, problem=f"annotations is {kind_of(annotations)}, not a list: export it again")
    elif not annotations:
        yield LabelRow(number, item)
    else:
        yield from (_annotation(number, item, each) for each in annotations)


def _annotation(number, item, annotation):
    if not isinstance(annotation, dict):
        return LabelRow(number, item, problem=f"an annotation is {kind_of(annotation)}, not an object")
    who = annotation.get("completed_by")
    by = _text(who.get("id") or who.get("email")) if isinstance(who, dict) else _text(who)
    if annotation.get("was_cancelled"):
        return LabelRow(number, item, by=by, skipped=True)
    result = annotation.get("result") or []
    if not isinstance(result, list) or not all(isinstance(each, dict) for each in result):
        return LabelRow(number, item, by=by, problem="an annotation's result is not a list of objects: export it again")
    kinds = [_text(each.get("type")) for each in result]
    strange = [kind for kind in kinds if kind != "choices" and kind not in _COMMENTS]
    if strange:
        return LabelRow(number, item, by=by, problem=f"is labeled with {strange[0] or 'nothing named'!r}, not with "
                        "choices: give the project one question with choices")
    values = [each.get("value") for each, kind in zip(result, kinds, strict=True) if kind == "choices"]
    picked = [value.get("choices") if isinstance(value, dict) else value for value in values]
    wrong = next((each for each in picked if not isinstance(each, list)), picked)
    if wrong is not picked:
        return LabelRow(number, item, by=by, problem=f"an annotation's choices are {kind_of(wrong)}, not a list: "
                        "export it again")
    return _one_label(number, item, by, [choice for each in picked for choice in each])


def _doccano(number: int, record: dict) -> Iterator[LabelRow]:
    item = _item(record, "item")
    if not item:
        yield LabelRow(number, problem="has no field item: import the tasks that the audit exported")
    elif {"entities", "relations"} & set(record):
        yield LabelRow(number, item, problem=_SPANS)
    elif "label" not in record:
        yield LabelRow(number, item, problem=f"has no field label, it has {fields_of(record)}: export a project of "
                       "text classification")
    else:
        label = record["label"] if isinstance(record["label"], list) else [record["label"]]
        spans = any(isinstance(each, (list, dict)) for each in label)
        yield LabelRow(number, item, problem=_SPANS) if spans else _one_label(number, item, "", label)


_SPANS = "is labeled with spans of the text: export a project of text classification"


def _prodigy(number: int, record: dict) -> Iterator[LabelRow]:
    meta = record.get("meta")
    item = _item(meta if isinstance(meta, dict) else {}) or _item(record)
    by = _text(record.get("_annotator_id")) or _text(record.get("_session_id"))
    answer = record.get("answer")
    if not item:
        yield LabelRow(number, by=by, problem="has no meta.item: annotate the tasks that the audit exported")
    elif answer not in (None, ACCEPT, REJECT, IGNORE):
        yield LabelRow(number, item, by=by, problem=f"its answer is {_shown(answer)}, not accept, reject or ignore")
    elif record.get("spans") or record.get("relations"):
        yield LabelRow(number, item, by=by, problem=f"is labeled with spans ({_shown(record.get('_view_id'))}): "
                       "annotate with choice or classification")
    elif answer is None:
        yield LabelRow(number, item, by=by)
    elif answer == IGNORE:
        yield LabelRow(number, item, by=by, skipped=True)
    else:
        yield _verdict(number, item, by, record)


def _verdict(number, item, by, record):
    """Return the row of a record that was accepted or rejected; to accept a choice of nothing says nothing."""
    if not (record.get("accept") or "options" in record or record.get("_view_id") == "choice"):
        return LabelRow(number, item, _text(record.get("label")), by, verdict=record["answer"])
    picked = record.get("accept") or []
    row = _one_label(number, item, by, picked if isinstance(picked, list) else [picked])
    if row.problem or not (row.label or record["answer"] == REJECT):
        return row
    return LabelRow(number, item, row.label, by, verdict=record["answer"], chosen=True)


def _one_label(number, item, by, picked):
    """Return the row of an annotation that may hold one label, or none."""
    if len(picked) > 1:
        return LabelRow(number, item, by=by, problem=f"has {len(picked)} labels, {checks.listed(picked, quoted=True)}: "
                        "keep one")
    if picked and not isinstance(picked[0], (str, int, float)):
        return LabelRow(number, item, by=by, problem=f"its label is {kind_of(picked[0])}, not text")
    return LabelRow(number, item, _text(picked[0]) if picked else "", by)


def _item(fields, *names):
    """Return the item that fields tell, "" where they do not."""
    found = next((fields[name] for name in names or ("item", "id") if fields.get(name) is not None), "")
    return "" if isinstance(found, (list, dict, bool)) else _text(found)


def _text(value):
    return "" if isinstance(value, (list, dict)) else numbers.as_text([value])[0]


def _shown(value):
    return checks.listed([value], quoted=True)


def _plain_name(path):
    """Return the name of a file in lower case, without the ending of its packing."""
    stem, last = os.path.splitext(os.path.basename(path).lower())
    return stem if last in PACKED else stem + last


def _name_of_file(path):
    """Return the annotator whose name doccano gave to the file, "" for its file of all."""
    name = os.path.basename(path)
    for ending in (*PACKED, *JSON_ENDINGS):
        name = name[:-len(ending)] if name.lower().endswith(ending) else name
    name = name[len("doccano_"):] if name.lower().startswith("doccano_") else name
    return "" if name.lower() == COLLABORATIVE else name


_READERS: dict[str, Callable[[int, Any], Iterator[LabelRow]]] = {
    "Label Studio": _label_studio, "doccano": _doccano, "Prodigy": _prodigy}
