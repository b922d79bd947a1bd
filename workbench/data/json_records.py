"""Records of a JSON file, a list or one a line, each with its number; a line that cannot be read is told, not lost."""

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench import checks
from workbench.data.text_files import as_utf8, encoding_of_start

NESTED = "is nested too deeply"
ROWS = (
    "data",
    "rows",
    "records",
    "items",
    "results",
    "predictions",
)  # what programs call a list of records
CHOICES = re.compile(
    r"\{\s*[\"']?choices[\"']?\s*:\s*\[(.*)\]\s*\}", re.DOTALL
)  # as Label Studio writes them
WRAPPED = "row"  # what the viewer of a hub puts each record into


def json_text(path: str, label: str) -> str:
    """Return the text of a file, packed or not, in whatever encoding, without a byte-order mark."""
    with as_utf8(path, label, encoding_of_start(path, label), mark=False) as (readable, _):
        with open(readable, encoding="utf-8-sig", newline="") as file:
            return file.read()


def json_records(text: str, label: str) -> list[tuple[int, Any, str]]:
    r"""Return (number, record, problem) for each record: its place in a list, or its line; None with a problem.

    Examples
    --------
    >>> json_records('[{"a": 1}, 2]', "x.json")
    [(1, {'a': 1}, ''), (2, None, 'is a number, no record')]
    >>> json_records('{"a": 1}\n\n{"a":', "x.jsonl")
    [(1, {'a': 1}, ''), (3, None, 'is not JSON, cut off or damaged: export the file again')]
    """
    first = text.lstrip()[:1]
    if first in ("[", "{"):
        found = _found(text, label)
        if not found:
            raise ValueError(f"{label} holds an empty list")
        return found
    raise ValueError(
        f"{label} holds {'nothing' if not first else 'no JSON records'}; export it again as JSON or JSONL"
    )


def _found(text: str, label: str) -> list[tuple[int, Any, str]]:
    """Return the records of a list, of one object, or where lines can be read on their own, of these."""
    try:
        values = json.loads(text)
        values = values if isinstance(values, list) else [values]
        return [_record(number, value) for number, value in enumerate(values, 1)]
    except RecursionError:
        raise ValueError(f"{label} {NESTED}") from None
    except json.JSONDecodeError as error:
        lines = (
            []
            if text.lstrip().startswith("[")
            else [
                _line(number, line)
                for number, line in enumerate(text.split("\n"), 1)
                if line.strip()
            ]
        )
        if all(problem for _, _, problem in lines):
            raise ValueError(
                f"{label} is cut off or damaged at line {error.lineno}, column {error.colno}: export it "
                "again; nothing of it was used"
            ) from None
        return lines


def _line(number: int, line: str) -> tuple:
    try:
        return _record(number, json.loads(line))
    except json.JSONDecodeError:
        return number, None, "is not JSON, cut off or damaged: export the file again"
    except RecursionError:
        return number, None, NESTED


def _record(number: int, value: dict | int) -> tuple:
    return (
        (number, value, "")
        if isinstance(value, dict)
        else (number, None, f"is {kind_of(value)}, no record")
    )


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in words.

    Examples
    --------
    >>> kind_of([1, 2]), kind_of("x"), kind_of(None)
    ('a list', 'text', 'empty')
    """
    kinds = {
        dict: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        type(None): "empty",
    }
    return kinds.get(type(value), "a number")


def json_line(value: Any) -> str:
    """Return a value as JSON in which text stays as it is."""
    return json.dumps(value, ensure_ascii=False)


def fields_of(record: dict) -> str:
    """Return the names of a record's fields, the first of many, for messages."""
    return checks.listed(record, 8, quoted=True) or "none"


def by_column(record: Any) -> dict[str, list]:
    """Return the columns of a table that is one JSON object, as programs write them; {} where it is not.

    Examples
    --------
    >>> by_column({"id": [1, 2], "score": [.5, .7]}), by_column({"id": {"0": 1, "1": 2}, "score": {"0": .5, "1": .7}})
    ({'id': [1, 2], 'score': [0.5, 0.7]}, {'id': [1, 2], 'score': [0.5, 0.7]})
    >>> by_column({"columns": ["id"], "data": [[1], [2]]}), by_column({"version": 2, "data": [{"id": 1}, {"id": 2}]})
    ({'id': [1, 2]}, {'id': [1, 2]})
    >>> by_column({"q1": {"a": 1, "b": .5}, "q2": {"a": 0, "b": .5}, "q3": {"a": 1, "b": 1}})
    {'id': ['q1', 'q2', 'q3'], 'a': [1, 0, 1], 'b': [0.5, 0.5, 1]}
    >>> by_column({"A": {"test_score": [.8, .9]}}), by_column({"id": 7, "tags": ["a", "b"]})
    ({'A.test_score': [0.8, 0.9]}, {})
    """
    if not isinstance(record, dict):
        return {}
    rows = next((record[name] for name in ROWS if _holds(record.get(name), dict)), None)
    if rows:
        flat = [_flat(row) for row in rows]
        return {
            name: [row.get(name) for row in flat]
            for name in dict.fromkeys(name for row in flat for name in row)
        }
    if (
        {"columns", "data"} <= {*record}
        and _holds(record["columns"], str)
        and _holds(record["data"], list)
    ):
        return dict(
            zip(record["columns"], map(list, zip(*record["data"], strict=True)), strict=True)
        )
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    objects = {name: value for name, value in record.items() if isinstance(value, dict)}
    if any(isinstance(cell, list) for cells in objects.values() for cell in cells.values()):
        lists |= {
            f"{name}.{field}": cell
            for name, cells in objects.items()
            for field, cell in cells.items()
        }
    elif not lists and len(objects) > 1 and len(objects) == len(record) and _by_row(objects):
        lists = _of_rows(objects)
    elif not lists and len(objects) > 1 and len({tuple(cells) for cells in objects.values()}) == 1:
        labels = [*next(iter(objects.values()))]
        lists = _labeled(labels) | {name: [*cells.values()] for name, cells in objects.items()}
    elif objects:
        return {}
    sizes = {len(cells) if isinstance(cells, list) else 0 for cells in lists.values()}
    return (
        lists
        if len(sizes) == 1 and all(isinstance(value, (dict, list)) for value in record.values())
        else {}
    )


def _by_row(objects: dict[str, dict]) -> bool:
    """Return whether objects are rows by their label (orient="index" of pandas), not columns by their name.

    Numbered labels decide: those of rows count from 0. Of others, the names of columns are fewer than those of rows.
    """
    fields = dict.fromkeys(name for row in objects.values() for name in row)
    if not fields or not all(
        _plain_cell(cell) for row in objects.values() for cell in row.values()
    ):
        return False
    if _numbered(fields):
        return False
    shared = sum(len(row) for row in objects.values()) >= len(fields) * len(objects) / 2
    return shared and (_numbered(objects) or len(fields) < len(objects))


def _plain_cell(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _numbered(labels: Any) -> bool:
    return all(str(label).isdecimal() for label in labels)


def _of_rows(objects: dict[str, dict]) -> dict[str, list]:
    fields = dict.fromkeys(name for row in objects.values() for name in row)
    labels = {} if any(name.lower() == "id" for name in fields) else _labeled([*objects])
    return labels | {name: [row.get(name) for row in objects.values()] for name in fields}


def _labeled(labels: list[str]) -> dict[str, list]:
    """Return a column of labels that say more than a count from 0."""
    return {} if labels == [str(k) for k in range(len(labels))] else {"id": labels}


def _holds(value: Any, kind: type) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, kind) for each in value)


def _flat(row: dict) -> dict[str, Any]:
    """Return a record with the fields of records in it, "a.b" for b in a; those of its only record by their names."""
    inner = [name for name, value in row.items() if isinstance(value, dict)]
    if inner == [WRAPPED]:
        return _flat(row[WRAPPED])
    return {
        name: value
        for field, held in row.items()
        for name, value in (
            ((f"{field}.{name}", each) for name, each in _flat(held).items())
            if isinstance(held, dict)
            else ((field, held),)
        )
    }


def choices_in(cell: Any) -> list[str] | None:
    """Return the choices in a cell of a table as Label Studio writes them, or None where the cell is another one.

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


def without_choices(
    columns: Mapping[str, np.ndarray],
) -> tuple[dict[str, np.ndarray], dict[str, tuple[str, str]]]:
    """Return columns in which {"choices": ["cat"]} is cat, and of each that had some the first cell and its choice.

    A column with more than one choice in a cell stays as it is.
    """
    plain: dict[str, np.ndarray] = dict(columns)
    examples: dict[str, tuple[str, str]] = {}
    for name, column in columns.items():
        cells = column.tolist() if column.dtype.kind in "OU" else []
        first = next((cell for cell in cells if isinstance(cell, str) and cell.strip()), "")
        if choices_in(first) is None:
            continue
        choices = [choices_in(cell) for cell in cells]
        if all(chosen is None or len(chosen) < 2 for chosen in choices):
            entries = [
                cell if chosen is None else "".join(chosen) or None
                for cell, chosen in zip(cells, choices, strict=True)
            ]
            plain[name] = np.array([*entries, None], object)[:-1]
            examples[name] = first, "".join(choices_in(first) or [])
    return plain, examples
