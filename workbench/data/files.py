"""Text files, Parquet and JSON, read through DuckDB."""
from __future__ import annotations

import codecs
import csv
import json
import os
import re
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.data.numbers import objects, shortened, unmasked
from workbench.results import Note

DELIMITERS = ";\t,|"
LONGEST_HEADER = 1 << 20
CHUNK = 1 << 20
SHOWN_COLUMNS = 20
NO_NUMBER = "\u200b"        # after a cell that is no number, though DuckDB would read it as one


@dataclass(frozen=True)
class TableSource:
    """A source whose columns can be fetched: `fetch(names)` returns (dict of arrays, notes)."""

    label: str
    names: tuple
    fetch: Callable | None


@dataclass(frozen=True)
class Scan:
    """Rows of a source, still in its own engine.

    Attributes
    ----------
    label : str
        How messages call the source.
    native : data frame
        A DuckDB relation for a file, else the frame as given.
    text : bool
        Whether every column is text because the file is.
    notes : tuple of Note
        What was unusual and is worth telling the reader.
    """

    label: str
    native: object
    text: bool = False
    notes: tuple = ()


def distinct_names(columns: Sequence[str]) -> list[str]:
    """Return the wanted names, each once, or raise."""
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names; got {columns!r}")
    wanted = list(dict.fromkeys(columns))
    if not wanted:
        raise ValueError("columns must name at least one column")
    return wanted


def is_relation(source: Any) -> bool:
    """Return whether `source` is a relation of DuckDB."""
    return type(source).__name__ == "DuckDBPyRelation"


def open_file(source: str | PathLike[str]) -> TableSource:
    """Return the source that a file's ending tells."""
    path, label, ending = existing_file(source, _OPENERS)
    return _OPENERS[ending](path, label)


def existing_file(source: str | PathLike[str], endings: Iterable[str]) -> tuple[str, str, str]:
    """Return a file's path, its label in messages and its ending, or raise."""
    path = os.path.expanduser(os.fspath(source))
    label = repr(path)
    if not os.path.isfile(path):
        raise ValueError(f"no such file: {label}")
    ending = os.path.splitext(path)[1].lower()
    if ending not in endings:
        raise ValueError(f"{label} must end in one of {', '.join(endings)}")
    if os.path.getsize(path) == 0:
        raise ValueError(f"{label} is empty")
    return path, label, ending


def check_columns(table: TableSource, wanted: Sequence[str]) -> None:
    """Raise unless every wanted name is the name of one column."""
    for name in wanted:
        _check_column(table, name)


def _check_column(table, name):
    found = table.names.count(name)
    if found > 1:
        raise ValueError(f"{table.label} has {found} columns named {name!r}; rename all but one")
    if not found:
        present = checks.listed(table.names, SHOWN_COLUMNS, quoted=True)
        raise ValueError(f"{table.label} has no column {name!r}; it has {present}"
                         + checks.suggestion(name, map(str, table.names)))


def _check_told_apart(table, wanted):
    """Raise unless DuckDB, which ignores case, can hold the wanted columns in one relation."""
    known = {}
    for name in wanted:
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise ValueError(f"{table.label} has columns {other!r} and {name!r}; rename one so that they differ in "
                             "more than upper and lower case")


def _open_parquet(path, label):
    def fetch(wanted):
        with _duckdb(label, path) as connection:
            return relation_columns(_parquet_relation(connection, path), wanted, names), ()
    with _duckdb(label, path) as connection:
        names = _parquet_names(connection, path)
    return TableSource(label, names, fetch)


def _parquet_relation(connection, path):
    query = "SELECT * FROM read_parquet($path, hive_partitioning=false, binary_as_string=true)"
    return connection.sql(query, params={"path": _literal(path)})


def _parquet_names(connection, path):
    """Return the column names as the file has them; DuckDB renames one that differs from another by case or not."""
    query = "SELECT name, num_children FROM parquet_schema($path)"
    names, inner = [], 0
    for name, children in connection.sql(query, params={"path": _literal(path)}).fetchall()[1:]:
        if not inner:
            names.append(name)
        inner = max(inner - 1, 0) + (children or 0)
    return tuple(names)


@contextmanager
def scan_parquet(path: str, label: str, wanted: Sequence[str]) -> Iterator[Scan]:
    """Yield a Parquet file as a relation of the wanted columns."""
    with _duckdb(label, path) as connection:
        names = _parquet_names(connection, path)
        table = TableSource(label, names, None)
        check_columns(table, wanted)
        _check_told_apart(table, wanted)
        relation = _parquet_relation(connection, path)
        renamed = [f"{_quoted(relation.columns[names.index(name)])} AS {_quoted(name)}" for name in wanted]
        yield Scan(label, relation.project(", ".join(renamed)))


def relation_columns(relation: Any, wanted: Sequence[str],
                     names: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
    """Return columns of a relation as arrays; `names` are the columns' names where DuckDB has changed them."""
    places = [list(names or relation.columns).index(name) for name in wanted]
    quoted = [_quoted(relation.columns[place]) for place in places]
    enums = [str(relation.types[place]).startswith("ENUM") for place in places]
    picked = [f"CAST({name} AS VARCHAR)" if enum else name for name, enum in zip(quoted, enums, strict=True)]
    fetched = relation.project(", ".join(f"{pick} AS c{i}" for i, pick in enumerate(picked))).fetchnumpy()
    return {name: unmasked(fetched[f"c{i}"]) for i, name in enumerate(wanted)}


def _open_json(path, label):
    encoding = _encoding_of_start(path, label)

    def fetch(wanted):
        with _as_utf8(path, label, encoding, mark=False) as (readable, notes), _duckdb(label, readable) as connection:
            fetched = _json_values(connection, readable, wanted).fetchnumpy()
        return {name: _from_json(unmasked(fetched[f"c{i}"])) for i, name in enumerate(wanted)}, notes
    with _as_utf8(path, label, encoding, mark=False) as (readable, _), _duckdb(label, readable) as connection:
        names = _json_names(connection, readable, label)
    return TableSource(label, names, fetch)


def _json_values(connection, path, names):
    pointers = {f"p{i}": "/" + name.replace("~", "~0").replace("/", "~1") for i, name in enumerate(names)}
    picked = ", ".join(f"CAST(json_extract(json, ${key}) AS VARCHAR) AS c{key[1:]}" for key in pointers)
    return connection.sql(f"SELECT {picked} FROM read_json_objects($path)", params={"path": _literal(path), **pointers})


def _json_names(connection, path, label):
    """Return the keys of all rows in order of appearance; a key that a row repeats is repeated."""
    query = ("SELECT json_keys(json) AS keys, json_type(json) AS kind, min(row) FROM (SELECT json, row_number() "
             "OVER () AS row FROM read_json_objects($path)) GROUP BY ALL ORDER BY 3")
    found = connection.sql(query, params={"path": _literal(path)}).fetchall()
    if not found:
        raise ValueError(f"{label} has no data rows")
    names = Counter()
    for keys, kind, row in found:
        if kind not in ("OBJECT", "NULL", None):
            raise ValueError(f"{label} must hold objects such as {{\"id\": 7}}; row {row} is none")
        names |= Counter(keys)
    return tuple(names.elements())


def _from_json(texts):
    values = json.loads("[" + ",".join("null" if text is None else text for text in texts.tolist()) + "]")
    kinds = set(map(type, values))
    if kinds == {float} or kinds == {bool}:
        return np.array(values)
    if kinds == {int} and max(map(abs, values)) < 2 ** 63:
        return np.array(values, np.int64)
    return objects(values)


def _open_text(path, label):
    encoding = _encoding_of_start(path, label)
    header, delimiter = _header(path, label, encoding)

    def fetch(wanted):
        places = [f"c{header.index(name)}" for name in wanted]
        with _as_utf8(path, label, encoding) as (readable, notes), _duckdb(label, readable) as connection:
            fetched = _csv_relation(connection, readable, header, delimiter, places).fetchnumpy()
        return {name: unmasked(fetched[place]) for name, place in zip(wanted, places, strict=True)}, notes
    return TableSource(label, header, fetch)


def _csv_relation(connection, path, header, delimiter, picked):
    kinds = {f"c{i}": "VARCHAR" for i in range(len(header))}
    query = (f"SELECT {', '.join(picked)} FROM read_csv($path, columns={kinds}, "
             f"delim='{delimiter}', quote='\"', escape='\"', header=true, "
             "auto_detect=false, all_varchar=true, hive_partitioning=false)")
    return connection.sql(query, params={"path": _literal(path)})


@contextmanager
def scan_text(path: str, label: str, wanted: Sequence[str]) -> Iterator[Scan]:
    """Yield a text file as a relation."""
    encoding = _encoding_of_start(path, label)
    header, delimiter = _header(path, label, encoding)
    table = TableSource(label, header, None)
    check_columns(table, wanted)
    _check_told_apart(table, wanted)
    renamed = [f"c{header.index(name)} AS {_quoted(name)}" for name in wanted]
    with _as_utf8(path, label, encoding) as (readable, notes), _duckdb(label, readable) as connection:
        yield Scan(label, _csv_relation(connection, readable, header, delimiter, renamed), True, notes)


def _header(path, label, encoding):
    with open(path, encoding=encoding, errors="replace", newline="") as file:
        record = _first_record(file)
    if not record:
        raise ValueError(f"{label} is empty")
    if not record.strip():
        raise ValueError(f"{label}, line 1 is blank; the first line must name the columns")
    if len(record) >= LONGEST_HEADER:
        raise ValueError(f"{label}, line 1 has more than {LONGEST_HEADER:,} characters; the first line must name the "
                         "columns")
    if _CONTROL.search(record):
        raise ValueError(f"{label}, line 1 holds control characters; the first line must name the columns")
    if record.count('"') % 2:
        raise ValueError(f"{label}, line 1: a quote is not closed")
    outside = re.sub(r'"[^"]*"', "", record)
    delimiter = max(DELIMITERS, key=outside.count) if any(map(outside.count, DELIMITERS)) else ","
    return _cells(record, delimiter, label), delimiter


def _cells(record, delimiter, label):
    limit, longest = csv.field_size_limit(), max(map(len, record.split(delimiter)))
    if longest > limit:
        raise ValueError(f"{label}, line 1: a column name has {longest:,} characters; at most {limit:,} can be read")
    try:
        return tuple(cell.strip() for cell in next(csv.reader([record], delimiter=delimiter)))
    except csv.Error:
        raise ValueError(f"{label}, line 1: a quote stands inside of a column name") from None


def _first_record(file):
    record = file.readline(LONGEST_HEADER)
    while record.count('"') % 2 and len(record) < LONGEST_HEADER:
        line = file.readline(LONGEST_HEADER)
        if not line:
            break
        record += line
    return record


def _encoding_of_start(path, label):
    with open(path, "rb") as file:
        start = file.read(CHUNK)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start[:2]:
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    kind = next((kind for sign, kind in _BINARY.items() if start.startswith(sign)), None)
    if kind:
        raise ValueError(f"{label} is {kind}, whatever its name says; save the table as text in UTF-8")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


@contextmanager
def _as_utf8(path, label, encoding, *, mark=True):
    """Yield the path of the text in UTF-8 and notes; with a byte-order mark, if there is one, only where `mark`."""
    plain = encoding == "utf-8-sig" and _decodes(path, "utf-8")
    if plain and (mark or not _is_marked(path)):
        yield path, ()
        return
    if encoding == "utf-8-sig" and not plain:
        encoding = "cp1252"
    if not _decodes(path, encoding):
        raise ValueError(f"{label} is not text in UTF-8, UTF-16 or Windows-1252; save it as UTF-8")
    with tempfile.TemporaryDirectory() as folder:
        readable = os.path.join(folder, "utf8.csv")
        _transcode(path, encoding, readable)
        yield readable, () if plain else (
            Note("data", f"{label} is not UTF-8; it was read as {_ENCODING_NAMES[encoding]}"),)


def _is_marked(path):
    with open(path, "rb") as file:
        return file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8


def _decodes(path, encoding):
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _transcode(path, encoding, target):
    with open(path, encoding=encoding, newline="") as file:
        with open(target, "w", encoding="utf-8", newline="") as out:
            while chunk := file.read(CHUNK):
                out.write(chunk)


@contextmanager
def _duckdb(label, path):
    """Yield a connection that can read this file, and neither other files nor the network."""
    import duckdb
    spill = os.path.join(tempfile.gettempdir(), f"workbench-{secrets.token_hex(8)}")
    allowed = ", ".join(map(_text_literal, {os.path.abspath(path), _literal(path)}))
    options: dict = {"temp_directory": spill, "autoinstall_known_extensions": False, "autoload_known_extensions": False}
    try:
        with duckdb.connect(config=options) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"SET allowed_paths = [{allowed}]")
            connection.execute("SET enable_external_access = false")
            yield connection
    except duckdb.Error as error:
        raise ValueError(_file_problem(label, str(error))) from None


def _file_problem(label, message):
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"{label}, line {line[1]}" if line else label
    text = re.search(r"Could not convert string ['\"](.*)['\"] to DOUBLE", message)
    if text:
        shown = shortened(text[1].rstrip(NO_NUMBER))
        return f"{label}: {shown} is no number or has a thousands separator; write a decimal point"
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if cells:
        return f"{where}: the header names {checks.counted(int(cells[1]), 'column')}, this line has {cells[2]}"
    size = re.search(r"Maximum line size of (\d+) bytes exceeded", message)
    if size:
        return f"{where} has more than {int(size[1]):,} bytes: a cell is that long, or a quote is not closed"
    if "quote" in message and line:
        return f"{where}: a quote is not closed, or text follows a closing quote"
    if "CSV" in message and not line:
        return f"{where} is not well-formed: it mixes line ends, or a quote is not closed"
    return f"{where} cannot be read: {one_line(message)}"


def one_line(error: Any) -> str:
    """Return an error's message in one line."""
    return " ".join(str(error).split())[:200]


def _literal(path):
    return re.sub(r"([*?\[])", r"[\1]", os.path.abspath(path))


def _text_literal(text):
    return "'" + text.replace("'", "''") + "'"


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f\x7f]")
_BINARY = {b"\x89PNG": "a PNG picture", b"\xff\xd8\xff": "a JPEG picture", b"%PDF-": "a PDF document",
           b"PK\x03\x04": "a zip archive or a workbook", b"\xd0\xcf\x11\xe0": "a workbook or another Office document",
           b"\x1f\x8b": "a gzip archive", b"PAR1\x15": "a Parquet file"}
_OPENERS = {".csv": _open_text, ".tsv": _open_text, ".txt": _open_text, ".parquet": _open_parquet,
            ".json": _open_json, ".ndjson": _open_json, ".jsonl": _open_json}
SCANNED = (".csv", ".tsv", ".txt", ".parquet")
_ENCODING_NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252"}
