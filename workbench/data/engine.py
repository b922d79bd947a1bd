"""DuckDB for one file: a connection that sees nothing else, its errors, and its columns."""

import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from numpy import ndarray

from workbench import checks
from workbench.data import decimals
from workbench.data.numbers import objects, unmasked, written

FRAME_LIBRARIES = ("polars", "pyarrow", "pandas")
NO_NUMBER = "\u200b"  # appended to a cell that DuckDB would wrongly read as a number


@cache
def has_duckdb() -> bool:
    """Return whether DuckDB is installed; Python in a browser does not have it."""
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return False
    return True


def frame_library(label: str) -> str:
    """Return the first installed library that can hold a table if DuckDB is missing."""
    for library in FRAME_LIBRARIES:
        if find_spec(library):
            return library
    libraries = ", ".join(FRAME_LIBRARIES)
    raise ValueError(
        f"{label} needs DuckDB or one of {libraries}, but none of them is installed. Install "
        "one of them (DuckDB does not run in a browser)"
    )


@contextmanager
def connected(label: str, path: str) -> Iterator[Any]:
    """Yield a connection that can read this file, but no other files and not the network."""
    import duckdb

    scratch = f"workbench-{secrets.token_hex(8)}"
    options: dict = {
        "temp_directory": os.path.join(tempfile.gettempdir(), scratch),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    paths = {os.path.abspath(path), literal(path)}
    allowed = ", ".join("'" + name.replace("'", "''") + "'" for name in paths)
    try:
        with duckdb.connect(config=options) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"SET allowed_paths = [{allowed}]")
            connection.execute("SET enable_external_access = false")
            yield connection
    except duckdb.Error as error:
        raise ValueError(_file_problem(label, str(error))) from None


@cache
def _memory() -> Any:
    import duckdb

    return duckdb.connect()


def relation_of(source: Any) -> Any:
    """Return a dict of arrays, or columns of Arrow, as a relation of DuckDB."""
    if type(source).__module__.startswith("pyarrow.") and has_duckdb():
        return _memory().cursor().from_arrow(source)
    if not isinstance(source, dict):
        return source
    arrays = {}
    for name, values in source.items():
        array = checks.cells(name, unmasked(values))
        if array.dtype.kind == "U":
            array = array.astype(object)
        if array.dtype.kind == "O" and any(isinstance(value, str) for value in array):
            # all cells become text if some are text
            array = objects([text or None for text in written(array)])
        arrays[name] = array
    if not has_duckdb():
        import narwhals as nw

        lists = {name: list(array) for name, array in arrays.items()}
        return nw.from_dict(lists, backend=frame_library("a table")).to_native()
    cursor = _memory().cursor()
    cursor.register("columns", arrays)
    return cursor.sql("FROM columns")


def is_relation(source: Any) -> bool:
    """Return whether `source` is a relation of DuckDB."""
    return type(source).__name__ == "DuckDBPyRelation"


def relation_columns(relation: Any, names: Sequence[str]) -> dict[str, ndarray]:
    """Return columns of a relation as arrays."""
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    cells = []
    for k, name in enumerate(names):
        cast = "::VARCHAR" if kinds[name].startswith("ENUM") else ""
        cells.append(f"{quoted(name)}{cast} AS c{k}")
    arrays = relation.project(", ".join(cells)).fetchnumpy().values()
    return dict(zip(names, map(unmasked, arrays), strict=True))


def decimal_mark(
    label: str,
    relation: Any,
    name: str,
    commas: bool,
) -> str:
    """Return the decimal mark of a text column, "" if every cell can be cast as it is, or raise.

    Only cells with a comma or a point are read, and of those that differ only in their digits one.
    If `commas` is False, no cell has a comma. Then the first point that can only be decimal
    decides.
    """
    if not is_relation(relation):
        texts = _marked_texts(relation, name)
        return _checked_mark(label, name, texts, any("," in text for text in texts))
    if str(relation.types[relation.columns.index(name)]) != "VARCHAR":
        return ""
    cells = relation.project(f"trim({quoted(name)}) AS cell")

    def first(condition: str) -> list[str]:
        return [text for (text,) in cells.filter(condition).limit(1).fetchall()]

    has_point = "contains(cell, '.')"
    is_open = f"regexp_full_match(cell, '{decimals.OPEN.pattern}')"
    commas = commas and bool(first("contains(cell, ',')"))
    if commas:
        shape = "translate(cell, '023456789', '111111111'), ltrim(cell, '+-')[1] = '0'"
        marked = cells.filter(f"contains(cell, ',') OR {has_point}")
        examples = marked.aggregate("min(cell)", shape).order("1")
        texts = [text for (text,) in examples.fetchall()]
    else:
        texts = first(has_point)
        if texts and decimals.is_open(texts[0]):
            hundreds = f"regexp_full_match(cell, '{decimals.HUNDREDS.pattern}')"
            not_open = first(f"{has_point} AND NOT {is_open}")
            texts = not_open or [*texts, *first(hundreds)]
    return _checked_mark(label, name, texts, commas)


def _marked_texts(frame: Any, name: str) -> list[str]:
    """Return the different texts of a frame's column that contain a comma or a point."""
    import narwhals as nw

    column = nw.from_native(frame, eager_only=True)[name]
    if column.dtype != nw.String:
        return []
    texts = [text.strip() for text in column.drop_nulls().unique().to_list()]
    return sorted(text for text in texts if "," in text or "." in text)


def _checked_mark(label: str, name: str, texts: list[str], commas: bool) -> str:
    decimal, problem = decimals.decimal_mark(texts)
    if problem:
        parts = [part if isinstance(part, str) else "a cell" for part in problem]
        raise ValueError(f"column {name!r} of {label}, {''.join(parts)}")
    if not commas and all(map(decimals.is_plain, texts)):
        return ""
    return decimal


def one_line(error: Any) -> str:
    """Return an error's message in one line."""
    return " ".join(str(error).split())[:200]


def literal(path: str) -> str:
    """Return a path in a form in which DuckDB finds no pattern."""
    return re.sub(r"([*?\[])", r"[\1]", os.path.abspath(path))


def quoted(name: str) -> str:
    """Return a name as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def ragged(where: str, expected: int, count: int) -> str:
    """Return the message for a line with fewer or more cells than the header."""
    has = count if count < expected else "more"  # DuckDB stops at the first cell too many
    columns = checks.counted(expected, "column")
    return f"{where}: the header has {columns}, but this line has {has}"


def _file_problem(label: str, message: str) -> str:
    text = re.search(r"Could not convert string ['\"](.*)['\"] to DOUBLE", message)
    if text:
        return f"{label}: {decimals.shortened(text[1].rstrip(NO_NUMBER))} is not a number"
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"{label}, line {line[1]}" if line else label
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if cells:
        return ragged(where, *map(int, cells.groups()))
    if "CSV" in message:
        return (
            f"{where} is not well-formed. A quote is not closed, text follows a closing quote, "
            "a cell has more than 2,000,000 bytes, or line ends are mixed"
        )
    return f"{label} cannot be read: {one_line(message)}"
