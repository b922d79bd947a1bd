"""Sources of columns of any kind, and how requested columns are found in them."""

import codecs
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import checks
from workbench.data.engine import decimal_mark, relation_columns
from workbench.data.numbers import first_clash

CROSSED = " / "  # between the labels of columns that are crossed
MISREAD_BOM = codecs.BOM_UTF8.decode("latin-1")


@dataclass(frozen=True)
class TableSource:
    """A source whose columns can be fetched.

    `fetch(names)` returns (dict of arrays, notes). `scan(names)`, if there is one, opens a `Scan`
    with columns c0, c1 and so on. `rows`, if there is one, yields the row number of each data row
    in a spreadsheet.
    """

    label: str
    names: tuple
    fetch: Callable
    rows: Callable | None = None
    scan: Callable | None = None


def scanned_source(
    label: str,
    names: tuple,
    scan: Callable,
    rows: Any = None,
) -> TableSource:
    """Return a source whose columns are fetched from its scan."""

    def fetch(requested: Sequence) -> tuple:
        with scan(requested) as opened:
            columns = relation_columns(opened.native, opened.native.columns)
            return dict(zip(requested, columns.values(), strict=True)), opened.notes

    return TableSource(label, names, fetch, rows, scan)


@dataclass(frozen=True)
class Scan:
    """Rows of a source, still in its own engine.

    Attributes
    ----------
    label : str
        Name of the source in messages.
    native : data frame
        DuckDB relation for a file (another frame if DuckDB is missing), else the given frame.
    notes : tuple of Note
        Unusual properties of the source that a reader should know.
    commas : bool or None
        For a text file, whether any of its cells may contain a comma.
    """

    label: str
    native: Any
    notes: tuple = ()
    commas: bool | None = None

    def mark(self, name: str) -> str | None:
        """Return the decimal mark of a text column.

        It is "" if no cell needs one, and None if the source is not a text file.
        """
        if self.commas is None:
            return None
        return decimal_mark(self.label, self.native, name, self.commas)


def distinct_names(columns: Sequence[str]) -> list[str]:
    """Return the requested names without repetitions, or raise."""
    if isinstance(columns, str):
        raise checks.WrongType("columns", "must be a list of names", columns)
    if not columns:
        raise checks.WrongValue("columns", "must name at least one column")
    return list(dict.fromkeys(columns))


def spelled(name: str, names: Iterable) -> str:
    """Return the one of `names` that `name` means.

    This is the name itself, or the only name that differs in case only.

    Examples
    --------
    >>> spelled("score", ["ID", " Score"]), spelled("score", ["SCORE", "Score"])
    (' Score', 'score')
    """
    names = list(names)
    if name in names:
        return name
    alike = _by_plain_name(names).get(plain_name(str(name)), [])
    return alike[0] if len(alike) == 1 else name


def crossed_names(name: Any, names: Iterable) -> list[str]:
    """Return the columns in a text of names with commas between them.

    A column with that very name counts as one column.

    Examples
    --------
    >>> crossed_names("sex,status", ["sex", "status"])
    ['sex', 'status']
    >>> crossed_names("sex,status", ["sex,status", "sex"])
    ['sex,status']
    """
    names = list(names)
    if not isinstance(name, str):
        return [name]
    parts = list(filter(None, map(str.strip, name.split(","))))
    if len(parts) < 2 or spelled(name, names) in names:
        return [name]
    return parts


def crossed_labels(columns: Mapping[str, Sequence]) -> list[str]:
    """Return a label for each combination of the labels of several columns, row by row.

    Examples
    --------
    >>> crossed_labels({"sex": ["m", "f"], "status": ["full", "part"]})
    ['m / full', 'f / part']
    """
    texts = [list(map(str, labels)) for labels in columns.values()]
    rows = list(zip(*texts, strict=True))
    labels = list(map(CROSSED.join, rows))
    clash = first_clash(zip(labels, rows, strict=True))
    if clash:
        names = " and ".join(map(repr, columns))
        label = CROSSED.join(clash[0])
        raise ValueError(
            f"columns {names} have two combinations that both give {label!r}. "
            "Change the text of one of them"
        )
    return labels


def found_columns(label: str, names: Sequence, requested: Sequence[str]) -> dict[str, str]:
    """Return the column for each requested name, or raise."""
    names_alike = _by_plain_name(names)
    columns = {name: _found_column(label, names, names_alike, name) for name in requested}
    clash = first_clash((column, name) for name, column in columns.items())
    if clash:
        first, second = clash
        raise ValueError(
            f"{label} has only one column for {first!r} and {second!r}: {columns[first]!r}"
        )
    return columns


def plain_name(name: str) -> str:
    """Return a column name in lower case, without outer blanks and a byte-order mark.

    Examples
    --------
    >>> plain_name(" Score"), plain_name("﻿ID"), plain_name("ï»¿id")
    ('score', 'id', 'id')
    """
    return name.removeprefix("\ufeff").removeprefix(MISREAD_BOM).strip().casefold()


def check_told_apart(label: str, requested: Iterable[str]) -> None:
    """Raise unless DuckDB, which ignores case, can hold the requested columns in one relation."""
    clash = first_clash((name.lower(), name) for name in requested)
    if clash:
        raise ValueError(
            f"{label} has columns {clash[0]!r} and {clash[1]!r}, which differ in upper and lower "
            "case only. Rename one of them"
        )


def _by_plain_name(names: Iterable) -> dict:
    names_alike: dict = {}
    for name in names:
        names_alike.setdefault(plain_name(str(name)), []).append(name)
    return names_alike


def _found_column(
    label: str,
    names: Sequence,
    names_alike: dict,
    name: Any,
) -> Any:
    count = names.count(name)
    if count > 1:
        raise ValueError(f"{label} has {count} columns named {name!r}. Rename all but one")
    if count:
        return name
    alike = names_alike.get(plain_name(str(name)), [])
    if len(alike) == 1:
        return alike[0]
    hint = f" (did you mean {' or '.join(map(repr, alike))}?)" if alike else ""
    hint = hint or checks.suggestion(name, map(str, names))
    present = checks.listed(names, 20, quoted=True)
    raise ValueError(f"{label} has no column {name!r}; available columns: {present}{hint}")
