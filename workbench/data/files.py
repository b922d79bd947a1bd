"""Files of every kind as sources of columns: text, Parquet, JSON, workbooks; packed ones too."""

import json
import os
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import handover
from workbench.data.columns import Scan, TableSource, check_told_apart, found_columns
from workbench.data.engine import connected, decimal_mark, literal, quoted, relation_columns
from workbench.data.json_records import by_column, json_records, json_text
from workbench.data.numbers import as_text, objects, unmasked, without_marks
from workbench.data.text_files import PACKED, as_utf8, encoding_of_start, open_text, scan_text
from workbench.data.workbooks import file_and_sheet, open_workbook
from workbench.extras.compare.evaluation_logs import EVAL, PEEKED, is_log, open_log
from workbench.extras.compare.other_logs import (
    PROMPTFOO,
    PROMPTFOO_CSV,
    promptfoo_csv,
    promptfoo_results,
    promptfoo_table,
)


def open_file(source: str | PathLike[str]) -> TableSource:
    """Return the source that a file's ending tells; text and JSON may be packed (.gz, .zst)."""
    path, label, ending = existing_file(source)
    return handover.once(lambda: _OPENERS[ending](path, label), "source", path)


def file_of(source: str | PathLike[str]) -> str:
    """Return the path of the file that a source names: of "book.xlsx#sheet" that of the workbook."""
    return file_and_sheet(os.path.expanduser(os.fspath(source)))[0]


def is_evaluation_log(source: Any) -> bool:
    """Return whether a source is the file of a log of an evaluation."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path, label, ending = existing_file(source)
    return ending == EVAL or (ending in _JSON and _is_log(file_of(path), label, ending))


def comparison_table(source: Any) -> dict[str, list]:
    """Return the columns id, model, score and others of a file that promptfoo wrote, {} of any other source."""
    if not isinstance(source, (str, os.PathLike)):
        return {}
    _, label, ending = existing_file(source)
    path = file_of(source)
    if ending == ".csv":
        with as_utf8(path, label, encoding_of_start(path, label), mark=False) as (readable, _):
            with open(readable, encoding="utf-8", errors="replace", newline="") as text:
                start = text.read(PEEKED)
                return promptfoo_csv(start + text.read()) if PROMPTFOO_CSV.search(start) else {}
    if ending not in _JSON or not PROMPTFOO.match(_start(path, label)):
        return {}
    records = [record for _, record, _ in json_records(json_text(path, label), label) if record]
    results = promptfoo_results(records[0] if len(records) == 1 else records)
    return promptfoo_table(results) if results else {}


def _start(file: str, label: str) -> str:
    with as_utf8(file, label, encoding_of_start(file, label), mark=False) as (readable, _):
        with open(readable, encoding="utf-8", errors="replace") as text:
            return text.read(PEEKED)


def _is_log(file: str, label: str, ending: str) -> bool:
    with as_utf8(file, label, encoding_of_start(file, label), mark=False) as (readable, _):
        with open(readable, encoding="utf-8", errors="replace") as text:
            return is_log(
                ("" if ending == ".json" else text.readline()) + text.read(PEEKED), ending
            )


def existing_file(source: str | PathLike[str]) -> tuple[str, str, str]:
    """Return a file's path, its label in messages and its ending, or raise; the path names the sheet too."""
    path, file = os.path.expanduser(os.fspath(source)), file_of(source)
    label, ending = repr(path), _ending(file)
    _check_readable(file, repr(file))
    if ending not in _OPENERS:
        raise ValueError(
            f"{label} must end in one of {', '.join(_OPENERS)}; all but {', '.join(_ALONE)} may be packed "
            f"({', '.join(PACKED)})"
        )
    return path, label, ending


def _ending(file: str) -> str:
    """Return a file's ending in lower case, without that of its packing unless it is one that is never packed."""
    stem, last = os.path.splitext(file.lower())
    inner = os.path.splitext(stem)[1]
    return inner if last in PACKED and inner not in _ALONE else last


def _check_readable(file: str, label: str) -> None:
    """Raise unless there is a file that can be read; of a name that is not there the message says a near one."""
    try:
        found = os.stat(file)
    except PermissionError:
        raise ValueError(f"cannot read {label}: permission denied") from None
    except (OSError, ValueError):
        raise ValueError(f"no such file: {label}{_near(file)}") from None
    for wrong, said in (
        (stat.S_ISDIR(found.st_mode), f"{label} is a folder"),
        (not stat.S_ISREG(found.st_mode), f"{label} is no file of data"),
        (not os.access(file, os.R_OK), f"cannot read {label}: permission denied"),
        (not found.st_size, f"{label} is empty"),
    ):
        if wrong:
            raise ValueError(said)


def _near(file: str) -> str:
    folder, name = os.path.split(file)
    try:
        names = os.listdir(folder or ".")
    except (OSError, ValueError):  # no folder, or none that may be looked into: nothing to suggest
        return ""
    return checks.suggestion(name, names)


@contextmanager
def scan_file(source: str | PathLike[str], wanted: Sequence[str]) -> Iterator[Scan]:
    """Yield a file as a relation of the wanted columns; text and Parquet are read while the context lasts."""
    path, label, ending = existing_file(source)
    check_told_apart(label, wanted)
    with _SCANNERS.get(ending, _scan_columns)(path, label, wanted) as rows:
        yield rows


@contextmanager
def _scan_columns(path: str, label: str, wanted: list[str]) -> Iterator[Scan]:
    """Yield what is read as a whole, a workbook or JSON, as a relation."""
    table = _OPENERS[_ending(file_of(path))](path, label)
    found = found_columns(label, table.names, wanted)
    data, notes = table.fetch(list(found.values()))
    with connected(label, path) as connection:
        connection.register(
            "read", {f"c{i}": of_one_kind(data[column]) for i, column in enumerate(found.values())}
        )
        renamed = [f"c{i} AS {quoted(name)}" for i, name in enumerate(found)]
        relation = connection.sql(f"SELECT {', '.join(renamed)} FROM read")
        yield Scan(label, relation, True, notes, partial(decimal_mark, label, relation))


def _open_parquet(path: str, label: str) -> TableSource:
    def fetch(wanted: Any) -> Any:
        with _parquet(path, label) as (relation, names):
            columns = (
                relation_columns(relation, [name], names) for name in wanted
            )  # less memory than all at once
            return {name: cells for column in columns for name, cells in column.items()}, ()

    with _parquet(path, label) as (_, names):
        return TableSource(label, names, fetch)


@contextmanager
def _parquet(path: str, label: str) -> Iterator[tuple[Any, tuple]]:
    """Yield a relation of all columns and what is nested in them, and their names, "a.b" for b in a.

    The names are as the file has them: DuckDB renames one that differs from another by case.
    """
    params, names, inner = {"path": literal(path)}, [], 0
    with connected(label, path) as connection:
        fields = connection.sql(
            "SELECT name, num_children FROM parquet_schema($path)", params=params
        ).fetchall()
        for name, children in fields[1:]:
            if not inner:
                names.append(name)
            inner = max(inner - 1, 0) + (children or 0)
        query = "SELECT * FROM read_parquet($path, hive_partitioning=false, binary_as_string=true)"
        relation = connection.sql(query, params=params)
        nested = [
            each
            for name, column, kind in zip(names, relation.columns, relation.types, strict=True)
            for each in _nested(name, quoted(column), kind)
        ]
        if nested:
            parts = ", ".join(f"{part} AS part{k}" for k, (_, part) in enumerate(nested))
            relation = relation.project(f"*, {parts}")
        yield relation, (*names, *(name for name, _ in nested))


def _nested(name: str, column: str, kind: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the expression of each field of a column of structures, and of what is nested in these."""
    for field, inner in kind.children if kind.id == "struct" else ():
        part = f"({column}).{quoted(field)}"
        yield f"{name}.{field}", part
        yield from _nested(f"{name}.{field}", part, inner)


def of_one_kind(column: np.ndarray) -> np.ndarray:
    """Return a column as text where some of its cells are, so that DuckDB need not choose."""
    if column.dtype.kind != "O" or not any(isinstance(value, str) for value in column):
        return column
    return objects([text or None for text in without_marks(column, as_text(column))])


@contextmanager
def _scan_parquet(path: str, label: str, wanted: list[str]) -> Iterator[Scan]:
    with _parquet(path, label) as (relation, names):
        renamed = [
            f"{quoted(relation.columns[names.index(column)])} AS {quoted(name)}"
            for name, column in found_columns(label, names, wanted).items()
        ]
        yield Scan(label, relation.project(", ".join(renamed)))


def _open_json(path: str, label: str) -> TableSource:
    file, part = file_and_sheet(path)
    packed = _ending(file) == EVAL
    if packed and not zipfile.is_zipfile(file):
        raise ValueError(f"{label} is no log of Inspect: it is cut off, or not a zip archive")
    if packed or _is_log(file, label, _ending(file)):
        return open_log(file, label, part)
    if part:
        raise ValueError(
            f"{label}: there are no parts to choose in a file that is no log of an evaluation"
        )
    if run_table := comparison_table(path):
        return TableSource(
            label,
            tuple(run_table),
            lambda wanted: ({name: objects(run_table[name]) for name in wanted}, ()),
        )
    encoding = encoding_of_start(path, label)

    def fetch(wanted: Any) -> Any:
        pointers = {f"p{i}": places[name] for i, name in enumerate(wanted)}
        picked = ", ".join(
            f"CAST(json_extract(json, ${key}) AS VARCHAR) AS c{key[1:]}" for key in pointers
        )
        query = f"SELECT {picked} FROM read_json_objects($path)"
        with (
            as_utf8(path, label, encoding, mark=False) as (readable, notes),
            connected(label, readable) as connection,
        ):
            fetched = connection.sql(
                query, params={"path": literal(readable), **pointers}
            ).fetchnumpy()
        return {
            name: _from_json(unmasked(fetched[f"c{i}"])) for i, name in enumerate(wanted)
        }, notes

    with (
        as_utf8(path, label, encoding, mark=False) as (readable, _),
        connected(label, readable) as connection,
    ):
        names = _json_names(connection, readable, label)
        first = connection.sql(
            "SELECT json FROM read_json_objects($path) LIMIT 2", params={"path": literal(readable)}
        ).fetchall()
        columns = by_column(json.loads(first[0][0])) if len(first) == 1 else {}
        if columns:
            return TableSource(
                label,
                tuple(columns),
                lambda wanted: ({each: _typed(columns[each]) for each in wanted}, ()),
            )
        inner = connection.sql(
            "SELECT json_group_structure(json) FROM read_json_objects($path)",
            params={"path": literal(readable)},
        ).fetchall()[0][0]
    pointers = list(_pointers(json.loads(inner), "", ""))
    places = dict(pointers)
    return TableSource(
        label, (*names, *(name for name, place in pointers if place.count("/") > 1)), fetch
    )


def _pointers(structure: Any, name: str, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield the name "a.b" of each field of JSON objects, and of those nested in them, with its JSON pointer."""
    for field, inner in structure.items() if isinstance(structure, dict) else ():
        place = f"{pointer}/{field.replace('~', '~0').replace('/', '~1')}"
        yield name + field, place
        yield from _pointers(inner, f"{name}{field}.", place)


def _json_names(connection: Any, path: str, label: str) -> tuple:
    """Return the keys of all rows in order of appearance; a key that a row repeats is repeated."""
    query = (
        "SELECT json_keys(json) AS keys, json_type(json) AS kind, min(row) FROM (SELECT json, row_number() "
        "OVER () AS row FROM read_json_objects($path)) GROUP BY ALL ORDER BY 3"
    )
    found = connection.sql(query, params={"path": literal(path)}).fetchall()
    if not found:
        raise ValueError(f"{label} has no data rows")
    names: Counter = Counter()
    for keys, kind, row in found:
        if kind not in ("OBJECT", "NULL", None):
            raise ValueError(f'{label} must hold objects such as {{"id": 7}}; row {row} is none')
        names |= Counter(keys)
    return tuple(names.elements())


def _from_json(texts: np.ndarray) -> np.ndarray:
    return _typed(
        json.loads(
            "[" + ",".join("null" if text is None else text for text in texts.tolist()) + "]"
        )
    )


def _typed(values: list) -> np.ndarray:
    kinds = set(map(type, values))
    if kinds == {float} or kinds == {bool}:
        return np.array(values)
    if kinds == {int} and max(map(abs, values)) < 2**63:
        return np.array(values, np.int64)
    return objects(values)


_TEXT, _JSON, _WORKBOOKS = (
    (".csv", ".tsv", ".txt"),
    (".json", ".ndjson", ".jsonl"),
    (".xlsx", ".xlsm", ".ods"),
)
_ALONE = (".parquet", EVAL, *_WORKBOOKS)
_OPENERS: dict[str, Callable] = {
    **dict.fromkeys(_TEXT, open_text),
    ".parquet": _open_parquet,
    **dict.fromkeys((*_JSON, EVAL), _open_json),
    **dict.fromkeys(_WORKBOOKS, open_workbook),
}
_SCANNERS: dict[str, Callable] = {**dict.fromkeys(_TEXT, scan_text), ".parquet": _scan_parquet}
