"""Files of all kinds as sources of columns: text, Parquet, JSON, workbooks and packed files."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from workbench import checks, registry
from workbench.data.columns import Scan, TableSource, scanned_source
from workbench.data.engine import connected, frame_library, has_duckdb, literal, quoted
from workbench.data.json_records import json_column, json_table
from workbench.data.numbers import objects
from workbench.data.text_files import PACKED, open_text, text_and_notes
from workbench.data.whole_files import StrPath
from workbench.data.workbooks import file_and_sheet, open_workbook


def open_file(source: StrPath) -> TableSource:
    """Return the source for a file, chosen by its ending.

    Text and JSON files may be packed (.gz, .zst).
    """
    path, label, ending = existing_file(source)
    return _OPENERS[ending](path, label)


def file_of(source: StrPath) -> str:
    """Return the path of the file that a source names, such as "book.xlsx#sheet"."""
    return file_and_sheet(os.path.expanduser(os.fspath(source)))[0]


def is_evaluation_log(source: Any) -> bool:
    """Return whether a source is the log file of an evaluation."""
    return registry.load(registry.IS_LOG)(source)


def comparison_table(source: Any) -> dict[str, list]:
    """Return columns such as id, model and score of a file with several models, else {}."""
    return registry.load(registry.COMPARISON_TABLE)(source)


def existing_file(source: StrPath) -> tuple[str, str, str]:
    """Return the path of a file (with its sheet), its label for messages, and its ending.

    An error is raised if the file cannot be read.
    """
    path = os.path.expanduser(os.fspath(source))
    file, _ = file_and_sheet(path)
    _check_readable(file)
    ending = _ending(file)
    if ending not in _OPENERS:
        endings, alone, packed = map(", ".join, (_OPENERS, _ALONE, PACKED))
        raise ValueError(
            f"{path!r} must end in one of {endings}. All but {alone} may be packed ({packed})"
        )
    return path, repr(path), ending


def _ending(file: str) -> str:
    """Return a file's ending in lower case, without that of its packing."""
    stem, last = os.path.splitext(file.lower())
    inner = os.path.splitext(stem)[1]
    if last in PACKED and inner not in _ALONE:
        return inner
    return last


def _check_readable(file: str) -> None:
    """Raise unless there is a readable file; the message suggests a similar name."""
    if not os.path.exists(file):
        folder, name = os.path.split(file)
        folder = folder or "."
        names = os.listdir(folder) if os.path.isdir(folder) else []
        raise ValueError(f"no such file: {file!r}{checks.suggestion(name, names)}")
    if not os.path.isfile(file):
        raise ValueError(f"{file!r} is a folder or a device, not a data file")
    if not os.access(file, os.R_OK):
        raise ValueError(f"cannot read {file!r}: permission denied")
    if not os.path.getsize(file):
        raise ValueError(f"{file!r} is empty")


def _open_parquet(path: str, label: str) -> TableSource:
    if not has_duckdb():
        return _open_parquet_frame(path, label)
    scan = partial(_scan_parquet, path, label)
    with _parquet(path, label) as (_, cells):
        return scanned_source(label, tuple(name for name, _ in cells), scan)


def _open_parquet_frame(path: str, label: str) -> TableSource:
    """Return a Parquet file read by another library if DuckDB is missing."""
    import narwhals as nw

    frame = nw.read_parquet(path, backend=frame_library(label))

    def fetch(requested: Sequence) -> tuple:
        return {name: objects(frame[name].to_list()) for name in requested}, ()

    return TableSource(label, tuple(frame.columns), fetch)


@contextmanager
def _scan_parquet(path: str, label: str, requested: Sequence) -> Iterator[Scan]:
    with _parquet(path, label) as (relation, cells):
        cell_of = dict(cells)
        cells = (f"{cell_of[name]} AS c{k}" for k, name in enumerate(requested))
        yield Scan(label, relation.project(", ".join(cells)))


@contextmanager
def _parquet(path: str, label: str) -> Iterator:
    """Yield a relation, and the names and expressions of its columns and of the fields in them.

    The field b of column a is called "a.b". Names are those in the file, because DuckDB renames a
    column that differs from another in case only.
    """
    params = {"path": literal(path)}
    with connected(label, path) as connection:
        schema = "SELECT name, num_children FROM parquet_schema($path)"
        names = []
        inner = 0
        for name, children in connection.sql(schema, params=params).fetchall()[1:]:
            if not inner:
                names.append(name)
            inner = max(inner - 1, 0) + (children or 0)
        query = "FROM read_parquet($path, hive_partitioning=false, binary_as_string=true)"
        relation = connection.sql(query, params=params)
        columns = list(map(quoted, relation.columns))
        cells = list(zip(names, columns, strict=True))
        for name, column, kind in zip(names, columns, relation.types, strict=True):
            cells += _fields(name, column, kind)
        yield relation, cells


def _fields(name: str, cell: str, kind: Any) -> list:
    """Return the name and expression of each field in a column, and of the fields in these."""
    fields = []
    for field, inner in kind.children if kind.id == "struct" else ():
        part = f"({cell}).{quoted(field)}"
        fields.append((f"{name}.{field}", part))
        fields += _fields(f"{name}.{field}", part, inner)
    return fields


def _open_json(path: str, label: str) -> TableSource:
    file, part = file_and_sheet(path)
    if log := registry.load(registry.OPEN_LOG)(file, label, part):
        return log
    if part:
        raise ValueError(
            f"{label}: only the log of an evaluation has parts to choose, but this file is not one"
        )
    notes: tuple = ()
    columns = comparison_table(path)
    if not columns:
        text, notes = text_and_notes(file, label)
        columns = json_table(text, label)

    def fetch(requested: Sequence[str]) -> tuple[dict, tuple]:
        return {name: json_column(columns[name]) for name in requested}, notes

    return TableSource(label, tuple(columns), fetch)


_TEXT = (".csv", ".tsv", ".txt")
JSON_ENDINGS = (".json", ".ndjson", ".jsonl")
_WORKBOOKS = (".xlsx", ".xlsm", ".ods")
_ALONE = (".parquet", *registry.LOG_ENDINGS, *_WORKBOOKS)
_OPENERS: dict[str, Callable] = {
    **dict.fromkeys(_TEXT, open_text),
    ".parquet": _open_parquet,
    **dict.fromkeys((*JSON_ENDINGS, *registry.LOG_ENDINGS), _open_json),
    **dict.fromkeys(_WORKBOOKS, open_workbook),
}
