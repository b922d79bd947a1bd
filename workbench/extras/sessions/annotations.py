"""Files of labeling tools: items go out as tasks and come back with labels; `labeling.tools` says how, tool by tool.

What people see stays as it is, text in fields that these tools show as text; nothing is written into a field for HTML.
A tool is known by its records, whatever the file is called. Which item a record is of, its field `item` says; where it
was not one of our tasks, `id` in its place.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from workbench import checks
from workbench.data import files, frames, numbers
from workbench.data.columns import plain_name
from workbench.data.json_records import fields_of, json_records, json_text
from workbench.data.text_files import PACKED
from workbench.data.whole_files import write_text
from workbench.extras.sessions.label_studio import FLAT
from workbench.extras.sessions.tool import Items, LabelRow, Tool
from workbench.extras.sessions.tools import TOOLS

JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_OF_SHEETS = {"correct", "truth"}


@dataclass(frozen=True)
class Annotations:
    """The rows of a file of labels in their order, and the tool that wrote it, "" for a sheet.

    `by` is the annotator that the file's name tells, as doccano's does: one file for each.
    """

    label: str
    tool: str
    rows: tuple[LabelRow, ...]
    by: str = ""


def write_tasks(path: str | PathLike[str], key: str, items: Items, labels: Sequence[str]) -> None:
    """Write items as tasks, in their order; never over a file that holds labels, or that is something else.

    Parameters
    ----------
    path : str or path
        Ends as the files of the tool do.
    key : str
        Of `TOOLS`.
    items : iterable of (str, dict)
        Identifiers, and what people see. A column `text` is the task's text; without one, all columns are.
    labels : sequence of str
        What can be answered.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tasks(folder + "/tasks.jsonl", "doccano", [("c-1", {"text": "Snow is white."})], ["right", "wrong"])
    ...     print(pathlib.Path(folder, "tasks.jsonl").read_text(), end="")
    {"text": "Snow is white.", "label": [], "item": "c-1"}
    """
    path = os.path.expanduser(os.fspath(path))
    tool = TOOLS[checks.choice("to", key, tuple(TOOLS))]
    if not path.lower().endswith(tool.ending):
        raise ValueError(f"path must end in {tool.ending} for to={key!r}; got {path!r}")
    items = list(items)
    columns = [name for _, shown in items[:1] for name in shown]
    fields = [tool.variable(name) for name in columns]
    for name, field in zip(columns, fields, strict=True):
        if field.casefold() in tool.reserved or fields.count(field) > 1:
            raise ValueError(
                f"column {name!r} has the name of another field in {key}: choose another tool, or make "
                "the audit with the column renamed"
            )
    _refuse_labeled(path)
    write_text(path, tool.write(items, labels))


def _refuse_labeled(path: str) -> None:
    """Raise unless a file at `path` is an export of tasks that nobody has labeled."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return
    try:
        annotated = read_annotations(path)
    except ValueError as error:
        raise ValueError(
            f"{path!r} exists and holds no tasks ({error}); choose another path"
        ) from None
    if annotated is None or any(row.problem for row in annotated.rows):
        raise ValueError(f"{path!r} exists and holds no tasks; choose another path")
    filled = sum(row.is_answered for row in annotated.rows)
    if filled:
        raise ValueError(
            f"{path!r} already holds {checks.counted(filled, 'annotation')} and is not overwritten; "
            "choose another path, or move the file away"
        )


def read_annotations(path: str | PathLike[str]) -> Annotations | None:
    """Read what a tool exported, or return None for a table: a sheet, or JSON whose rows have `correct` or `truth`.

    A table with a column `annotation_id`, as Label Studio exports, is such a file too.

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
    ...     annotated = read_annotations(file)
    >>> annotated.tool, annotated.by, annotated.rows[0].id, annotated.rows[0].label
    ('doccano', 'anna', 'c-1', 'right')
    """
    path = os.path.expanduser(os.fspath(path))
    name = _without(os.path.basename(path), PACKED)
    if not name.lower().endswith(JSON_ENDINGS):
        return _flat_table(path)
    path, label, _ = files.existing_file(path)
    records = json_records(json_text(path, label), label)
    tools = [None if problem else tool_of(record) for _, record, problem in records]
    tool = next(filter(None, tools), None)
    if tool is None:
        _refuse_unknown(label, records)
        return None
    rows = tuple(
        row
        for record, owner in zip(records, tools, strict=True)
        for row in _rows(tool, owner, *record)
    )
    return Annotations(label, tool.name, rows, tool.person(_without(name, JSON_ENDINGS)))


def _flat_table(path: str) -> Annotations | None:
    """Return the rows of a table that Label Studio exported, a row for each annotation, or None for another table."""
    if not os.path.exists(files.file_of(path)):
        return None
    header = {plain_name(name): name for name in frames.column_names(path) if isinstance(name, str)}
    if FLAT not in header or _OF_SHEETS & set(header):
        return None
    columns, _ = frames.read_columns(path, list(header.values()))
    cells = {name: numbers.as_text(columns[column]) for name, column in header.items()}
    places = frames.row_numbers(path, len(cells[FLAT]))
    records = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    tool = TOOLS["label-studio"]
    rows = tuple(
        row
        for number, record in zip(places, records, strict=True)
        for row in tool.read(number, record)
    )
    return Annotations(repr(os.path.basename(path)), tool.name, rows)


def tool_of(record: dict) -> Tool | None:
    """Return the tool whose record this looks like, or None.

    Examples
    --------
    >>> [tool_of(record).name for record in ({"data": {}}, {"text": "x", "label": []}, {"text": "x", "answer": "no"})]
    ['Label Studio', 'doccano', 'Prodigy']
    """
    if _OF_SHEETS & set(record):
        return None
    return next((tool for tool in reversed(TOOLS.values()) if tool.owns(record)), None)


def _rows(
    tool: Tool, owner: Tool | None, number: int, record: dict, problem: str
) -> list[LabelRow]:
    if problem:
        return [LabelRow(number, problem=problem)]
    if owner is not tool:
        what = (
            f"a record of {owner.name}"
            if owner
            else f"no record of {tool.name} (it has {fields_of(record)})"
        )
        return [
            LabelRow(
                number,
                problem=f"is {what}, the file's first is one of {tool.name}: one file, one tool",
            )
        ]
    return list(tool.read(number, record))


def _refuse_unknown(label: str, records: Sequence) -> None:
    """Raise where JSON is neither a tool's nor a table with the columns of a sheet."""
    record = next((record for _, record, problem in records if not problem), None)
    if record is None:
        raise ValueError(
            f'{label} must hold records such as {{"item": "7"}}; record {records[0][0]} '
            f"{records[0][2]}"
        )
    if _OF_SHEETS & set(record):
        return
    *others, last = (tool.name for tool in TOOLS.values())
    endings = {
        tool.ending: [other.name for other in TOOLS.values() if other.ending == tool.ending]
        for tool in TOOLS.values()
    }
    formats = " or ".join(
        f"{ending[1:].upper()} ({', '.join(names)})" for ending, names in endings.items()
    )
    raise ValueError(
        f"{label} is neither a sheet with the columns id and correct (or truth) nor an export of "
        f"{', '.join(others)} or {last}; record {records[0][0]} has {fields_of(record)}: export labels as "
        f"{formats}"
    )


def _without(name: str, endings: Sequence[str]) -> str:
    """Return a file's name without the one of `endings` that it may have."""
    stem, last = os.path.splitext(name)
    return stem if last.lower() in endings else name
