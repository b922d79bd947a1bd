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
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from workbench import checks
from workbench.data.columns import Scan, TableSource, found_columns
from workbench.data.engine import connected, decimal_mark, literal, mark_of_points, one_line, quoted
from workbench.data.numbers import unmasked
from workbench.results import Note

DELIMITERS = ";\t,|"
LONGEST_HEADER = 1 << 20
CHUNK = 1 << 20


def open_text(path: str, label: str) -> TableSource:
    """Return a text file as a source of columns of text."""
    header = _header(path, label)

    def fetch(wanted: Any) -> Any:
        places = [f"c{header.names.index(name)}" for name in wanted]
        with (
            as_utf8(path, label, header.encoding, above=header.above) as (readable, notes),
            connected(label, readable) as connection,
        ):
            fetched = _csv_relation(connection, readable, header, places).fetchnumpy()
        return {
            name: unmasked(fetched[place]) for name, place in zip(wanted, places, strict=True)
        }, (*notes, *header.notes)

    return TableSource(label, header.names, fetch, lambda: _rows(path, label, header))


class _Header(NamedTuple):
    """The names of a text file's columns, what stands between cells, the encoding, and the lines above the names."""

    names: tuple[str, ...]
    delimiter: str
    encoding: str
    above: int
    comments: int

    @property
    def notes(self) -> tuple[Note, ...]:
        said = f"{checks.counted(self.comments, 'line')} above the names of the columns: they begin with '#'"
        return (Note("data", f"left out {said}"),) if self.comments else ()


def _csv_relation(connection: Any, path: str, header: _Header, picked: list[str]) -> Any:
    kinds = {f"c{i}": "VARCHAR" for i in range(len(header.names))}
    query = (
        f"SELECT {', '.join(picked)} FROM read_csv($path, columns={kinds}, "
        f"delim='{header.delimiter}', quote='\"', escape='\"', header=true, "
        "auto_detect=false, all_varchar=true, hive_partitioning=false)"
    )
    return connection.sql(query, params={"path": literal(path)})


@contextmanager
def scan_text(path: str, label: str, wanted: Sequence[str]) -> Iterator[Scan]:
    """Yield a text file as a relation of the wanted columns."""
    header = _header(path, label)
    found = found_columns(label, header.names, wanted)
    renamed = [f"c{header.names.index(column)} AS {quoted(name)}" for name, column in found.items()]
    with (
        as_utf8(path, label, header.encoding, above=header.above) as (readable, notes),
        connected(label, readable) as connection,
    ):
        relation = _csv_relation(connection, readable, header, renamed)
        commas = _holds(readable, b'"' if header.delimiter == "," else b",")
        mark = decimal_mark if commas else mark_of_points
        yield Scan(label, relation, True, (*notes, *header.notes), partial(mark, label, relation))


def _holds(path: str, sign: bytes) -> bool:
    with open(path, "rb") as file:
        return any(sign in chunk for chunk in iter(lambda: file.read(CHUNK), b""))


def _rows(path: str, label: str, header: _Header) -> Iterator[int]:
    """Yield the row of each data row in a spreadsheet: the header is row 1, and blank lines count though not read."""
    row, quoted = header.comments, False
    with _opened_text(path, label, header.encoding) as text:
        for line in itertools.islice(text, header.above, None):
            if not quoted:
                row += 1
                if row > header.comments + 1 and (line.strip("\r\n") or len(header.names) == 1):
                    yield row
            quoted = _ends_quoted(line, header.delimiter, quoted)
    yield from itertools.count(row + 1)


def _ends_quoted(line: str, delimiter: str, quoted: bool) -> bool:
    """Return whether a line ends in a quoted cell; a quote inside of a cell that does not begin with one is text."""
    place, start = 0, delimiter + '"'
    if not quoted:
        line = delimiter + line
        place = line.find(start) + len(start)
    while quoted or place >= len(start):
        closed = _CLOSED.match(line, place)
        if closed is None:
            return True
        place, quoted = line.find(start, closed.end()) + len(start), False
    return False


def _header(path: str, label: str) -> _Header:
    encoding = encoding_of_start(path, label)
    with _opened_text(path, label, encoding) as file:
        record = _record(file)
        told = _SEPARATOR.fullmatch(record)
        record = _record(file) if told else record
        comments: list[str] = []
        while record.startswith("#") or (comments and record.isspace()):
            comments.append(record)
            record = _record(file)
        if comments and (
            not record
            or any(comments[-1].count(sign) == record.count(sign) > 0 for sign in DELIMITERS)
        ):
            record = comments.pop()
    for wrong, said in (
        (not record, " is empty"),
        (not record.strip(), f", line 1 is blank{_NAMES}"),
        (
            len(record) >= LONGEST_HEADER,
            f", line 1 has more than {LONGEST_HEADER:,} characters{_NAMES}",
        ),
        (_CONTROL.search(record), f", line 1 holds control characters{_NAMES}"),
        (record.count('"') % 2, ", line 1: a quote is not closed"),
    ):
        if wrong:
            raise ValueError(label + said)
    outside = re.sub(r'"[^"]*"', "", record)
    delimiter = (
        told[1]
        if told
        else max(DELIMITERS, key=outside.count)
        if any(map(outside.count, DELIMITERS))
        else ","
    )
    return _Header(
        _cells(record, delimiter, label),
        delimiter,
        encoding,
        bool(told) + len(comments),
        len(comments),
    )


def _cells(record: str, delimiter: str, label: str) -> tuple:
    limit, longest = csv.field_size_limit(), max(map(len, record.split(delimiter)))
    if longest > limit:
        raise ValueError(
            f"{label}, line 1: a column name has {longest:,} characters; at most {limit:,} can be read"
        )
    try:
        return tuple(cell.strip() for cell in next(csv.reader([record], delimiter=delimiter)))
    except csv.Error:
        raise ValueError(f"{label}, line 1: a quote stands inside of a column name") from None


def _record(file: Any) -> str:
    """Return the next lines up to one where no quote is open, "" at the end."""
    record = file.readline(LONGEST_HEADER)
    while record.count('"') % 2 and len(record) < LONGEST_HEADER:
        line = file.readline(LONGEST_HEADER)
        if not line:
            break
        record += line
    return record


def encoding_of_start(path: str, label: str) -> str:
    """Return the encoding that the first bytes of a text tell, or raise where they are those of no text."""
    with _opened(path, label) as file:
        start = file.read(CHUNK)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start[:2]:
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    kind = next((kind for sign, kind in _BINARY.items() if start.startswith(sign)), None)
    if kind:
        raise ValueError(
            f"{label} is {kind}, whatever its name says; save the table as text in UTF-8"
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


@contextmanager
def as_utf8(
    path: str, label: str, encoding: str, *, mark: bool = True, above: int = 0
) -> Iterator[tuple[str, tuple]]:
    """Yield the path of the text in UTF-8 and notes; with a byte-order mark, if there is one, only where `mark`.

    Of the lines of the text `above` are left out.
    """
    with _unpacked(path, label) as file, _transcoded(file, label, encoding, mark, above) as found:
        yield found


@contextmanager
def _opened(path: str, label: str) -> Iterator[Any]:
    """Yield the bytes of a file, unpacked, and say in one line what the system or the packing has against it."""
    try:
        with _OPENERS.get(os.path.splitext(path)[1].lower(), open)(path, "rb") as file:
            yield file
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(f"{label} cannot be unpacked: {one_line(error)}") from None
    except OSError as error:
        raise ValueError(
            f"cannot read {label}: {(error.strerror or one_line(error)).lower()}"
        ) from None


@contextmanager
def _opened_text(path: str, label: str, encoding: str) -> Iterator[Any]:
    with (
        _opened(path, label) as file,
        io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="") as text,
    ):
        yield text


def zstandard() -> tuple[Any, Any]:
    """Return the module of Zstandard, and that of zip archives whose members may be packed with it."""
    try:
        from compression import zstd
    except ImportError:  # before Python 3.14
        from backports import zstd
        from backports.zstd import zipfile as with_zstd

        return zstd, with_zstd
    return zstd, zipfile


@contextmanager
def _open_zst(path: str, mode: str) -> Iterator[Any]:
    zstd, _ = zstandard()
    try:
        with zstd.open(path, mode) as file:
            yield file
    except zstd.ZstdError as error:
        raise EOFError(error) from None


@contextmanager
def _unpacked(path: str, label: str) -> Iterator[str]:
    """Yield the path of a file, or of what is packed in it."""
    if os.path.splitext(path)[1].lower() not in _OPENERS:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "unpacked")
        with _opened(path, label) as file, open(plain, "wb") as out:
            shutil.copyfileobj(file, out, CHUNK)
        yield plain


@contextmanager
def _transcoded(path: str, label: str, encoding: str, mark: bool, above: int) -> Iterator[tuple]:
    plain = encoding == "utf-8-sig" and _decodes(path, "utf-8")
    if plain and not above and (mark or not _is_marked(path)):
        yield path, ()
        return
    if encoding == "utf-8-sig" and not plain:
        encoding = "cp1252"
    if not _decodes(path, encoding):
        raise ValueError(f"{label} is not text in UTF-8, UTF-16 or Windows-1252; save it as UTF-8")
    with tempfile.TemporaryDirectory() as folder:
        readable = os.path.join(folder, "utf8.csv")
        with open(path, encoding=encoding, newline="") as file:
            with open(readable, "w", encoding="utf-8", newline="") as out:
                _ = [file.readline() for _ in range(above)]
                shutil.copyfileobj(file, out, CHUNK)
        yield (
            readable,
            ()
            if plain
            else (
                Note("data", f"{label} is not UTF-8; it was read as {_ENCODING_NAMES[encoding]}"),
            ),
        )


def _is_marked(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8


def _decodes(path: str, encoding: str) -> bool:
    try:
        with open(path, "rb") as file:
            deque(codecs.iterdecode(iter(lambda: file.read(CHUNK), b""), encoding), 0)
    except UnicodeDecodeError:
        return False
    return True


_CLOSED = re.compile(r'[^"]*(?:""[^"]*)*"(?!")')
_NAMES = "; the first line must name the columns"
_SEPARATOR = re.compile(
    rf'"?sep=([{DELIMITERS}])"?\s*', re.IGNORECASE
)  # as spreadsheets understand it
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
_ENCODING_NAMES = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252",
}
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".zst": _open_zst}
PACKED = tuple(_OPENERS)
