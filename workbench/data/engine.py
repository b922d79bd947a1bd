"""DuckDB for one file: a connection that sees nothing else, what it says of bad files in one line, and its columns."""

import os
import re
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import decimals, handover
from workbench.data.decimals import shortened
from workbench.data.numbers import unmasked

LONG_LINE = 1_000  # characters; of a longer line a message may hold a part only
NO_NUMBER = "\u200b"  # after a cell that is no number, though DuckDB would read it as one


@contextmanager
def connected(label: str, path: str) -> Iterator[Any]:
    """Yield a connection that can read this file, and neither other files nor the network."""
    import duckdb

    try:
        with handover.opened_once(lambda: _connection(path), "connection", path) as connection:
            yield connection
            for setting in (
                "SET memory_limit = '64MB'",
                "RESET memory_limit",
            ):  # frees what is left of reading
                connection.execute(setting)
    except duckdb.Error as error:
        raise ValueError(_file_problem(label, str(error))) from None


def _connection(path: str) -> Any:
    import duckdb

    spill = os.path.join(tempfile.gettempdir(), f"workbench-{secrets.token_hex(8)}")
    allowed = ", ".join(
        "'" + name.replace("'", "''") + "'" for name in {os.path.abspath(path), literal(path)}
    )
    options: dict = {
        "temp_directory": spill,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    connection = duckdb.connect(config=options)
    for setting in (
        "enable_progress_bar = false",
        f"allowed_paths = [{allowed}]",
        "enable_external_access = false",
    ):
        connection.execute(f"SET {setting}")
    return connection


def is_relation(source: Any) -> bool:
    """Return whether `source` is a relation of DuckDB."""
    return type(source).__name__ == "DuckDBPyRelation"


def relation_columns(
    relation: Any, wanted: Sequence[str], names: tuple[str, ...] | None = None
) -> dict[str, np.ndarray]:
    """Return columns of a relation as arrays; `names` are the columns' names where DuckDB has changed them."""
    places = [list(names or relation.columns).index(name) for name in wanted]
    cells = [quoted(relation.columns[place]) for place in places]
    enums = [str(relation.types[place]).startswith("ENUM") for place in places]
    picked = [
        f"CAST({name} AS VARCHAR)" if enum else name
        for name, enum in zip(cells, enums, strict=True)
    ]
    fetched = relation.project(
        ", ".join(f"{pick} AS c{i}" for i, pick in enumerate(picked))
    ).fetchnumpy()
    return {name: unmasked(fetched[f"c{i}"]) for i, name in enumerate(wanted)}


def decimal_mark(label: str, relation: Any, name: str) -> str:
    """Return the decimal mark of a text column of numbers, or raise; cells that differ only in digits are one."""
    if str(relation.types[relation.columns.index(name)]) != "VARCHAR":
        return ""
    cell, digits = (
        f"trim({quoted(name)})",
        f"regexp_replace(trim({quoted(name)}), '[0-9]', '1', 'g')",
    )
    shape = f"CASE WHEN regexp_matches({cell}, '^[+-]?0') THEN regexp_replace({digits}, '1', '0') ELSE {digits} END"
    query = f"SELECT min({cell}) FROM cells WHERE lower({cell}) NOT IN ('true', 'false') GROUP BY {shape} ORDER BY 1"
    mark, problem = decimals.decimal_mark(
        [text for (text,) in relation.query("cells", query).fetchall()]
    )
    if problem:
        raise ValueError(
            f"column {name!r} of {label}, "
            + "".join(part if isinstance(part, str) else "a cell" for part in problem)
        )
    return mark


def mark_of_points(label: str, relation: Any, name: str) -> str:
    """Return what `decimal_mark` does of a file without commas; "" as soon as a point can only be decimal."""
    cell, pattern = f"trim({quoted(name)})", decimals.OPEN.pattern
    points = relation.filter(f"contains({cell}, '.')").project(f"{cell} AS cell")
    shown = points.limit(1).fetchall()
    if shown and decimals.is_open(shown[0][0]):
        shown = (
            points.filter(f"NOT regexp_full_match(cell, '{pattern}')").limit(1).fetchall() or shown
        )
    plain = not shown or decimals.is_plain(shown[0][0]) and not decimals.is_open(shown[0][0])
    return "" if plain else decimal_mark(label, relation, name)


def one_line(error: Any) -> str:
    """Return an error's message in one line."""
    return " ".join(str(error).split())[:200]


def literal(path: str) -> str:
    """Return a path in which DuckDB finds no pattern."""
    return re.sub(r"([*?\[])", r"[\1]", os.path.abspath(path))


def quoted(name: str) -> str:
    """Return a name as an identifier."""
    return '"' + name.replace('"', '""') + '"'


def _cells_of(message: Any) -> Any:
    """Return how many cells the line of a problem has, or None: the reader itself counts to one too many and stops."""
    line = re.search(r"Original Line: (.*)\nExpected Number of Columns", message, re.DOTALL)
    delimiter = re.search(r"^  delimiter = (.+?) \(Set By User\)$", message, re.MULTILINE)
    if line is None or delimiter is None or len(line[1]) > LONG_LINE:
        return None
    between = {"\\t": "\t"}.get(delimiter[1], delimiter[1])
    return re.sub(r'"(?:[^"]|"")*"', "", line[1]).count(between) + 1


def _file_problem(label: str, message: str) -> str:
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"{label}, line {line[1]}" if line else label
    text = re.search(r"Could not convert string ['\"](.*)['\"] to DOUBLE", message)
    if text:
        return f"{label}: {shortened(text[1].rstrip(NO_NUMBER))} is not a number"
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if cells:
        has = cells[2] if int(cells[2]) < int(cells[1]) else _cells_of(message) or "more"
        return f"{where}: the header names {checks.counted(int(cells[1]), 'column')}, this line has {has}"
    size = re.search(r"Maximum line size of (\d+) bytes exceeded", message)
    if size:
        return f"{where} has more than {int(size[1]):,} bytes: a cell is that long, or a quote is not closed"
    if "quote" in message and line:
        return f"{where}: a quote is not closed, or text follows a closing quote"
    if "CSV" in message and not line:
        return f"{where} is not well-formed: it mixes line ends, or a quote is not closed"
    return f"{where} cannot be read: {one_line(message)}"
