"""Records of a JSON file (a list, or one per line), and tables that are written as JSON."""

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.data.numbers import objects
from workbench.data.text_files import text_and_notes
from workbench.results import Note

NESTED = "is nested too deeply"
DAMAGED = "is not JSON, cut off or damaged. Export the file again"
# the names that programs give to a list of records
ROWS = (
    "data",
    "rows",
    "records",
    "items",
    "results",
    "predictions",
)
# as Label Studio writes them
CHOICES = re.compile(r"\{\s*[\"']?choices[\"']?\s*:\s*\[(.*)\]\s*\}", re.DOTALL)
KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    type(None): "empty",
}
WRAPPED = "row"  # the name that the viewer of a hub gives to each record


def json_text(path: str, label: str) -> str:
    """Return the text of a file in any encoding, packed or not, without a byte-order mark."""
    return text_and_notes(path, label)[0]


def json_records(text: str, label: str) -> list[tuple[int, Any, str]]:
    r"""Return (number, record, problem) for each record of a list or line.

    The record is None if there is a problem.

    Examples
    --------
    >>> json_records('[{"a": 1}, 2]', "x.json")
    [(1, {'a': 1}, ''), (2, None, 'is a number, not a record')]
    >>> json_records('{"a": 1}\n\n{"a":', "x.jsonl")
    [(1, {'a': 1}, ''), (3, None, 'is not JSON, cut off or damaged. Export the file again')]
    """
    first = text.lstrip()[:1]
    if first not in ("[", "{"):
        content = "no JSON records" if first else "nothing"
        raise ValueError(f"{label} contains {content}. Export it again as JSON or JSONL")
    try:
        value = _parsed(text, label)
    except RecursionError:
        raise ValueError(f"{label} {NESTED}") from None
    except json.JSONDecodeError as error:
        lines = [] if first == "[" else text.split("\n")
        filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        records = [_line(number, line, label) for number, line in filled]
        if all(problem for *_, problem in records):
            raise ValueError(
                f"{label} is cut off or damaged at line {error.lineno}, column {error.colno}. "
                "Export it again; nothing of it was used"
            ) from None
        return records
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError(f"{label} contains an empty list")
    return [_record(number, value) for number, value in enumerate(values, 1)]


def _parsed(text: str, label: str) -> Any:
    """Return the value of a JSON text; raise if an object in it repeats a field."""

    def with_unique_fields(pairs: list[tuple[str, Any]]) -> dict:
        record = dict(pairs)
        if len(record) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = max(names, key=names.count)
            raise ValueError(f"{label} has a record with two fields {repeated!r}. Rename one")
        return record

    return json.loads(text, object_pairs_hook=with_unique_fields)


def _line(number: int, line: str, label: str) -> tuple:
    try:
        return _record(number, _parsed(line, label))
    except json.JSONDecodeError:
        return number, None, DAMAGED
    except RecursionError:
        return number, None, NESTED


def _record(number: int, value: Any) -> tuple:
    if isinstance(value, dict):
        return number, value, ""
    return number, None, f"is {kind_of(value)}, not a record"


def json_table(text: str, label: str) -> dict[str, list]:
    """Return the columns of a JSON text, from its records or from its only record, a table."""
    records = json_records(text, label)
    for number, _, problem in records:
        if problem:
            raise ValueError(f"{label}, record {number} {problem}")
    rows = [row for _, row, _ in records]
    columns = by_column(rows[0]) if len(rows) == 1 else {}
    return columns or table_of(rows)


def kind_of(value: Any) -> str:
    """Return a description of the kind of a JSON value.

    Examples
    --------
    >>> kind_of([1, 2]), kind_of("x"), kind_of(None)
    ('a list', 'text', 'empty')
    """
    return KINDS.get(type(value), "a number")


def json_line(value: Any) -> str:
    """Return a value as JSON that keeps text as it is."""
    return json.dumps(value, ensure_ascii=False)


def fields_of(record: dict) -> str:
    """Return the names of the fields of a record (only the first of many) for messages."""
    return checks.listed(record, 8, quoted=True) or "none"


def by_column(record: Any) -> dict[str, list]:
    """Return the columns of a table that is one JSON object, {} if it is not a table.

    Examples
    --------
    >>> by_column({"id": [1, 2], "score": [.5, .7]})
    {'id': [1, 2], 'score': [0.5, 0.7]}
    >>> by_column({"id": {"0": 1, "1": 2}, "score": {"0": .5, "1": .7}})
    {'id': [1, 2], 'score': [0.5, 0.7]}
    >>> by_column({"columns": ["id"], "data": [[1], [2]]})
    {'id': [1, 2]}
    >>> by_column({"version": 2, "data": [{"id": 1}, {"id": 2}]})
    {'id': [1, 2]}
    >>> by_column({"q1": {"a": 1, "b": .5}, "q2": {"a": 0, "b": .5}, "q3": {"a": 1, "b": 1}})
    {'id': ['q1', 'q2', 'q3'], 'a': [1, 0, 1], 'b': [0.5, 0.5, 1]}
    >>> by_column({"A": {"test_score": [.8, .9]}}), by_column({"id": 7, "tags": ["a", "b"]})
    ({'A.test_score': [0.8, 0.9]}, {})
    """
    if not isinstance(record, dict):
        return {}
    for name in ROWS:
        if _all_are(dict, record.get(name)):
            return table_of(record[name])
    if _all_are(str, record.get("columns")) and _all_are(list, record.get("data")):
        cells = zip(*record["data"], strict=True)
        return dict(zip(record["columns"], map(list, cells), strict=True))
    columns = _flat(record)
    if _all_are(list, list(columns.values())):
        sizes = set(map(len, columns.values()))
        return columns if len(sizes) == 1 else {}
    rows = list(record.values())
    if len(rows) < 2 or not _all_are(dict, rows):
        return {}
    fields = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
    if _are_rows(record, fields):
        labels = {} if "id" in map(str.lower, fields) else _labeled(record)
        return labels | table_of(rows)
    if any(list(row) != fields for row in rows):
        return {}
    columns = _labeled(fields)
    for name, column in record.items():
        columns[name] = list(column.values())
    return columns


def table_of(rows: Sequence[dict]) -> dict[str, list]:
    """Return the columns of records; a field of a record in a record is the column "a.b"."""
    flat = [_flat(row) for row in rows]
    names = dict.fromkeys(itertools.chain.from_iterable(flat))
    return {name: [row.get(name) for row in flat] for name in names}


def _are_rows(objects: dict, fields: list) -> bool:
    """Return whether objects are rows by their label, not columns by their name.

    Numbered labels decide: those of rows count from 0. For other labels, there are fewer columns
    than rows.
    """
    if all(map(str.isdecimal, fields)):
        return False
    are_numbered = all(map(str.isdecimal, objects))
    return are_numbered or len(fields) < len(objects)


def _labeled(labels: Iterable) -> dict:
    """Return a column of labels, {} if they only count from 0."""
    labels = list(labels)
    if labels == list(map(str, range(len(labels)))):
        return {}
    return {"id": labels}


def _all_are(kind: type, values: Any) -> bool:
    return isinstance(values, list) and set(map(type, values)) == {kind}


def _flat(row: dict) -> dict:
    """Return a record with the fields of inner records: "a.b" for b in a, but b for b in "row"."""
    inner = [name for name, value in row.items() if isinstance(value, dict)]
    if not inner:
        return row
    if inner == [WRAPPED]:
        return _flat(row[WRAPPED])
    fields: dict = {}
    for name, value in row.items():
        if not isinstance(value, dict):
            fields[name] = value
            continue
        for field, cell in _flat(value).items():
            fields[f"{name}.{field}"] = cell
    return fields


def json_column(values: list) -> ndarray:
    """Return the values of a column as an array: of numbers if all are, else of objects."""
    kinds = set(map(type, values))
    if kinds in ({float}, {bool}):
        return np.array(values)
    if kinds == {int} and max(map(abs, values)) < 2**63:
        return np.array(values, np.int64)
    return objects(values)


def choices_in(cell: Any) -> list[str] | None:
    """Return the choices in a cell as Label Studio writes them, or None for other cells.

    Examples
    --------
    >>> choices_in('{"choices": ["cat", "dog"]}'), choices_in("{choices: [cat]}"), choices_in("cat")
    (['cat', 'dog'], ['cat'], None)
    """
    match = CHOICES.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if match is None:
        return None
    try:
        return [str(choice) for choice in json.loads(f"[{match[1]}]")]
    except json.JSONDecodeError:  # without quotes, or with single ones
        names = [name.strip().strip("\"'") for name in match[1].split(",")]
        return [name for name in names if name]


def without_choices(columns: Mapping[str, ndarray]) -> tuple[dict[str, ndarray], list[Note]]:
    """Return columns in which {"choices": ["cat"]} is cat, and a note for each such column.

    A column with more than one choice in a cell stays as it is.
    """
    read = dict(columns)
    notes = []
    for name, column in columns.items():
        cells = column.tolist() if column.dtype.kind in "OU" else []
        first = next((cell for cell in cells if isinstance(cell, str) and cell), "")
        choices = [] if choices_in(first) is None else list(map(choices_in, cells))
        if not choices or max(len(chosen or ()) for chosen in choices) > 1:
            continue
        for row, chosen in enumerate(choices):
            if chosen is not None:
                cells[row] = "".join(chosen) or None
        read[name] = objects(cells)
        choice = "".join(choices_in(first) or ())
        text = f"column {name!r} contains choices of Label Studio: {first} is read as {choice!r}"
        notes.append(Note("data", text))
    return read, notes
