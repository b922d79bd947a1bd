"""Text files, plain or packed: their encoding, header, cells and rows."""

import codecs
import csv
import gzip
import io
import itertools
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from workbench import checks
from workbench.data.columns import Scan, TableSource, scanned_source
from workbench.data.engine import connected, has_duckdb, literal, one_line, ragged
from workbench.data.numbers import objects
from workbench.imports import optional_module
from workbench.results import Note

DELIMITERS = ";\t,|"
PACKED = (".gz", ".zst")
LONGEST_HEADER = 1 << 20
CHUNK = 1 << 20
_SEPARATOR = re.compile(
    rf'"?sep=([{DELIMITERS}])"?\s*', re.IGNORECASE
)  # spreadsheets understand this line
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f\x7f]")
_BINARY = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a zip archive or a workbook",
    b"\xd0\xcf\x11\xe0": "a workbook or another Office document",
    b"\x1f\x8b": "a gzip archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"PAR1\x15": "a Parquet file",
}


class _Header(NamedTuple):
    """Names of a text file's columns, its delimiter, its encoding, and the lines above."""

    names: tuple[str, ...]
    delimiter: str
    encoding: str
    above: int
    comments: int


def open_text(path: str, label: str) -> TableSource:
    """Return a text file as a source of columns of text."""
    header = _header(path, label)
    rows = partial(_rows, path, label, header)
    if not has_duckdb():
        return TableSource(label, header.names, partial(_fetch, path, label, header), rows)
    return scanned_source(label, header.names, partial(_scan, path, label, header), rows)


@contextmanager
def _scan(
    path: str,
    label: str,
    header: _Header,
    requested: Sequence,
) -> Iterator[Scan]:
    kinds = {f"n{k}": "VARCHAR" for k in range(len(header.names))}
    positions = map(header.names.index, requested)
    cells = ", ".join(f"n{position} AS c{k}" for k, position in enumerate(positions))
    query = (
        f"SELECT {cells} FROM read_csv($path, columns={kinds}, "
        f"delim='{header.delimiter}', quote='\"', escape='\"', header=true, auto_detect=false, "
        "all_varchar=true, hive_partitioning=false)"
    )
    with as_utf8(path, label, header.above) as (readable, more):
        with open(readable, "rb") as file:
            sign = b'"' if header.delimiter == "," else b","
            chunks = iter(partial(file.read, CHUNK), b"")
            commas = any(sign in chunk for chunk in chunks)
        with connected(label, readable) as connection:
            relation = connection.sql(query, params={"path": literal(readable)})
            yield Scan(label, relation, (*more, *_notes(header)), commas)


def _notes(header: _Header) -> tuple[Note, ...]:
    if not header.comments:
        return ()
    lines = checks.counted(header.comments, "line")
    text = f"left out {lines} above the names of the columns, which begin with '#'"
    return (Note("data", text),)


def _fetch(path: str, label: str, header: _Header, requested: Sequence) -> tuple:
    """Read columns with Python's own `csv` if DuckDB is missing."""
    width = len(header.names)
    records = []
    with as_utf8(path, label, header.above) as (readable, more):
        with open(readable, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=header.delimiter, strict=True)
            try:
                for record in reader:
                    if not record and width > 1:
                        continue
                    record = record or [""]
                    if len(record) != width:
                        where = f"{label}, line {reader.line_num + header.above}"
                        raise ValueError(ragged(where, width, len(record)))
                    records.append(record)
            except csv.Error as error:
                raise ValueError(f"{label} is not well-formed: {error}") from None
    positions = [header.names.index(name) for name in requested]
    columns = {
        name: objects([record[position] or None for record in records[1:]])
        for name, position in zip(requested, positions, strict=True)
    }
    return columns, (*more, *_notes(header))


def _rows(path: str, label: str, header: _Header) -> Iterator[int]:
    """Yield the spreadsheet row of each data row; the header is row 1, and blank lines count."""
    row = header.comments
    with opened_text(path, label, header.encoding) as text:
        lines = itertools.islice(text, header.above, None)
        with suppress(csv.Error):  # a cell is longer than the csv module allows
            for record in csv.reader(lines, delimiter=header.delimiter):
                row += 1
                if row > header.comments + 1 and (record or len(header.names) == 1):
                    yield row
    yield from itertools.count(row + 1)


def _header(path: str, label: str) -> _Header:
    """Return the header of a text file; a comment with as many cells as the next line is one."""
    encoding = encoding_of_start(path, label)
    with opened_text(path, label, encoding) as file:
        record = _record(file)
        separator = _SEPARATOR.fullmatch(record)
        if separator:
            record = _record(file)
        comments: list = []
        while record.startswith("#") or (comments and record.isspace()):
            comments.append(record)
            record = _record(file)
    if comments:
        comment = comments[-1]
        if not record or any(comment.count(sign) == record.count(sign) > 0 for sign in DELIMITERS):
            record = comments.pop()
    if not record:
        raise ValueError(f"{label} is empty")
    if not record.strip() or _CONTROL.search(record):
        raise ValueError(
            f"{label}, line 1 is blank or contains control characters. The first line must name "
            "the columns"
        )
    outside_quotes = re.sub(r'"[^"]*"', "", record)
    delimiter = max(DELIMITERS, key=outside_quotes.count)
    if separator or delimiter not in outside_quotes:
        delimiter = separator[1] if separator else ","
    try:
        if len(record) >= LONGEST_HEADER or record.count('"') % 2:
            raise csv.Error
        cells = next(csv.reader([record], delimiter=delimiter))
    except csv.Error:
        raise ValueError(
            f"{label}, line 1: a column name is too long, or a quote is not closed"
        ) from None
    names = tuple(cell.strip() for cell in cells)
    above = len(comments) + bool(separator)
    return _Header(names, delimiter, encoding, above, len(comments))


def _record(file: Any) -> str:
    """Return the next lines up to one without an open quote, "" at the end of the file."""
    record = file.readline(LONGEST_HEADER)
    while record.count('"') % 2 and len(record) < LONGEST_HEADER:
        line = file.readline(LONGEST_HEADER)
        if not line:
            break
        record += line
    return record


def encoding_of_start(path: str, label: str) -> str:
    """Return the encoding of the first bytes of a file, or raise if they are not text."""
    with _opened(path, label) as file:
        start = file.read(CHUNK)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start[:2]:
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    for sign, kind in _BINARY.items():
        if start.startswith(sign):
            raise ValueError(
                f"{label} is {kind}, despite its name. Save the table as text in UTF-8"
            )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def text_and_notes(path: str, label: str) -> tuple[str, tuple]:
    """Return the text of a file in any encoding, packed or not, and notes."""
    with as_utf8(path, label) as (readable, notes):
        with open(readable, encoding="utf-8-sig", newline="") as file:
            return file.read(), notes


@contextmanager
def as_utf8(path: str, label: str, above: int = 0) -> Iterator[tuple]:
    """Yield the path of a file's text in UTF-8, without the lines above its header, and notes."""
    encoding = encoding_of_start(path, label)
    is_utf8 = encoding == "utf-8-sig"
    is_packed = path.lower().endswith(PACKED)
    if is_utf8 and not is_packed and not above and _copied(path, label, encoding, os.devnull):
        yield path, ()
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "utf8.csv")
        if is_utf8 and not _copied(path, label, encoding, copy, above):
            encoding = "cp1252"
            is_utf8 = False
        if not is_utf8 and not _copied(path, label, encoding, copy, above):
            raise ValueError(
                f"{label} is not text in UTF-8, UTF-16 or Windows-1252. Save it as UTF-8"
            )
        name = "Windows-1252" if encoding == "cp1252" else "UTF-16"
        note = Note("data", f"{label} is not UTF-8; it was read as {name}")
        yield copy, () if is_utf8 else (note,)


def _copied(
    path: str,
    label: str,
    encoding: str,
    copy: str,
    above: int = 0,
) -> bool:
    """Write the text of a file in UTF-8, and return whether it has the given encoding."""
    try:
        with opened_text(path, label, encoding, "strict") as text:
            with open(copy, "w", encoding="utf-8", newline="") as out:
                for _ in range(above):
                    text.readline()
                shutil.copyfileobj(text, out, CHUNK)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def opened_text(
    path: str,
    label: str,
    encoding: str,
    errors: str = "replace",
) -> Iterator:
    """Yield the text of a file, unpacked, with its line ends."""
    with _opened(path, label) as file:
        with io.TextIOWrapper(
            file,
            encoding=encoding,
            errors=errors,
            newline="",
        ) as text:
            yield text


@contextmanager
def _opened(path: str, label: str) -> Iterator:
    """Yield the bytes of a file, unpacked; errors are one line."""
    open_packed: Any = open
    damages: tuple = (gzip.BadGzipFile, zlib.error, EOFError)
    if path.lower().endswith(".gz"):
        open_packed = gzip.open
    if path.lower().endswith(".zst"):
        zstd, _ = zstandard(label)
        open_packed = zstd.open
        damages = (*damages, zstd.ZstdError)
    try:
        with open_packed(path, "rb") as file:
            yield file
    except damages as error:
        raise ValueError(f"{label} cannot be unpacked: {one_line(error)}") from None
    except OSError as error:
        problem = (error.strerror or one_line(error)).lower()
        raise ValueError(f"cannot read {label}: {problem}") from None


def zstandard(label: str) -> tuple[Any, Any]:
    """Return the module of Zstandard, and that of zip archives that use it."""
    try:
        from compression import zstd
    except ImportError:  # before Python 3.14
        purpose = f"reading {label}"
        zstd = optional_module("backports.zstd", "zstd", purpose)
        return zstd, optional_module("backports.zstd.zipfile", "zstd", purpose)
    return zstd, zipfile
