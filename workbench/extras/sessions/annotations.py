"""Files of labeling tools: write items as tasks, and read exports with labels.

`write_tasks` and `read_annotations` are the functions to start from. Each tool has its own module,
see `tools`. Text is written only to fields that the tools show as text, never to fields for HTML. A
tool is recognized by its records, not by the name of the file. The field `item` of a record names
its item, or else the field `id`.
"""

import os
from collections.abc import Sequence

from workbench import checks
from workbench.data import files, frames, numbers
from workbench.data.columns import plain_name
from workbench.data.json_records import fields_of, json_records, json_text
from workbench.data.text_files import PACKED
from workbench.data.whole_files import write_text
from workbench.extras.sessions.label_studio import FLAT
from workbench.extras.sessions.tool import Items, Tool
from workbench.extras.sessions.tools import TOOLS
from workbench.labeling.label_rows import Annotations, LabelRow

AnyPath = str | os.PathLike[str]
JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_OF_SHEETS = {"correct", "truth"}


def write_tasks(path: AnyPath, key: str, items: Items, labels: Sequence[str]) -> None:
    """Write items as tasks, in their order.

    A file with labels, or another kind of file, is never overwritten.

    Parameters
    ----------
    path : str or path
        Path with the ending of the tool's files.
    key : str
        Key of `TOOLS`.
    items : iterable of (str, dict)
        Identifiers and shown columns. The column `text` is the text of the task. Without it, all
        columns are.
    labels : sequence of str
        The possible answers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> items = [("c-1", {"text": "Snow is white."})]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tasks(folder + "/tasks.jsonl", "doccano", items, ["right", "wrong"])
    ...     print(pathlib.Path(folder, "tasks.jsonl").read_text(), end="")
    {"text": "Snow is white.", "label": [], "item": "c-1"}
    """
    path = os.path.expanduser(path)
    tool = TOOLS[checks.choice("to", key, tuple(TOOLS))]
    if not path.lower().endswith(tool.ending):
        raise ValueError(f"path must end in {tool.ending} for to={key!r}; got {path!r}")
    items = list(items)
    fields = {name: tool.variable(name) for _, columns in items[:1] for name in columns}
    for name, field in fields.items():
        if field.casefold() in tool.reserved or [*fields.values()].count(field) > 1:
            raise ValueError(
                f"column {name!r} has the name of another field in {key}; choose another tool, or "
                "rename the column and plan the audit again"
            )
    _refuse_labeled(path)
    write_text(path, tool.write(items, labels))


def _refuse_labeled(path: str) -> None:
    """Raise an error unless a file at `path` is an export of tasks without labels."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return
    problem = ""
    rows: tuple = ()
    try:
        annotated = read_annotations(path)
        rows = annotated.rows if annotated else ()
    except ValueError as error:
        problem = f" ({error})"
    if not rows or any(row.problem for row in rows):
        raise ValueError(
            f"{path!r} exists and is not a file of tasks{problem}; choose another path"
        )
    filled = sum(row.is_answered for row in rows)
    if filled:
        raise ValueError(
            f"{path!r} already holds {checks.counted(filled, 'annotation')} and is not "
            "overwritten; choose another path, or move the file away"
        )


def read_annotations(path: AnyPath) -> Annotations | None:
    """Read the export of a tool, or return None for an annotation sheet.

    A sheet is a table, or JSON whose rows have `correct` or `truth`. A table with a column
    `annotation_id` is an export of Label Studio.

    Parameters
    ----------
    path : str or path
        Path of the file.

    Raises
    ------
    ValueError
        If a JSON file is incomplete, or is neither a sheet nor the export of a tool. A problem of a
        single record is the `problem` of its row.

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
    path = os.path.expanduser(path)
    name = _without(os.path.basename(path), PACKED)
    if not name.lower().endswith(JSON_ENDINGS):
        return _flat_table(path)
    path, label, _ = files.existing_file(path)
    records = json_records(json_text(path, label), label)
    tools = [None if problem else tool_of(record) for _, record, problem in records]
    tool = next(filter(None, tools), None)
    if tool is None:
        _refuse_unknown(label, *records[0])
        return None
    rows: list[LabelRow] = []
    for (number, record, problem), owner in zip(records, tools, strict=True):
        if not problem and owner is not tool:
            what = f"not a record of {tool.name} (it has {fields_of(record)})"
            if owner:
                what = f"a record of {owner.name}"
            problem = (
                f"is {what}, but the first record is one of {tool.name}; use one file per tool"
            )
        rows += [LabelRow(number, problem=problem)] if problem else tool.read(number, record)
    return Annotations(label, tool.name, tuple(rows), tool.person(_without(name, JSON_ENDINGS)))


def _flat_table(path: str) -> Annotations | None:
    """Return the rows of a table that Label Studio exported, or None for another table."""
    if not os.path.exists(files.file_of(path)):
        return None
    header = {plain_name(name): name for name in frames.column_names(path) if isinstance(name, str)}
    if FLAT not in header or _OF_SHEETS & set(header):
        return None
    columns, _ = frames.read_columns(path, list(header.values()))
    cells = [numbers.as_text(columns[name]) for name in header.values()]
    records = [dict(zip(header, row, strict=True)) for row in zip(*cells, strict=True)]
    tool = TOOLS["label-studio"]
    rows: list[LabelRow] = []
    for number, record in zip(frames.row_numbers(path, len(records)), records, strict=True):
        rows += tool.read(number, record)
    return Annotations(repr(os.path.basename(path)), tool.name, tuple(rows))


def tool_of(record: dict) -> Tool | None:
    """Return the tool of a record, or None.

    Examples
    --------
    >>> records = {"data": {}}, {"text": "x", "label": []}, {"text": "x", "answer": "no"}
    >>> [tool_of(record).name for record in records]
    ['Label Studio', 'doccano', 'Prodigy']
    """
    if _OF_SHEETS & set(record):
        return None
    return next((tool for tool in reversed(TOOLS.values()) if tool.owns(record)), None)


def _refuse_unknown(label: str, number: int, record: dict, problem: str) -> None:
    """Raise an error if the first record of JSON is neither a tool's nor a row of a sheet."""
    if problem:
        raise ValueError(
            f'{label} must hold records such as {{"item": "7"}}; record {number} {problem}'
        )
    if not _OF_SHEETS & set(record):
        tools = [f"{tool.name} ({tool.ending[1:].upper()})" for tool in TOOLS.values()]
        raise ValueError(
            f"{label} is neither a sheet with the columns id and correct (or truth) nor an export "
            f"of {', '.join(tools[:-1])} or {tools[-1]}; record {number} has {fields_of(record)}"
        )


def _without(name: str, endings: Sequence[str]) -> str:
    """Return a file name without its ending, if that is one of `endings`."""
    stem, last = os.path.splitext(name)
    return stem if last.lower() in endings else name
