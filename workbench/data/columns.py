"""A source of columns, whatever it is, and the columns that are requested from it."""

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
    """A source whose columns can be fetched: `fetch(names)` returns (dict of arrays, notes).

    `scan(names)`, if there is one, opens a `Scan` whose columns are c0, c1 and so on. `rows`, if
    there is one, yields the row of each data row as a spreadsheet shows it.
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
        A DuckDB relation for a file, or another frame where DuckDB is missing; else the frame as
        given.
    notes : tuple of Note
        What was unusual and is worth telling the reader.
    commas : bool or None
        For a file of text: whether any of its cells may hold a comma.
    """

    label: str
    native: Any
    notes: tuple = ()
    commas: bool | None = None

    def mark(self, name: str) -> str | None:
        """Return the decimal mark of a column of text, "" if no cell needs it, None for no text."""
        if self.commas is None:
            return None
        return decimal_mark(self.label, self.native, name, self.commas)


def distinct_names(columns: Sequence[str]) -> list[str]:
    """Return the requested names, each once, or raise."""
    if isinstance(columns, str):
        raise checks.WrongType("columns", "must be a list of names", columns)
    if not columns:
        raise checks.WrongValue("columns", "must name at least one column")
    return list(dict.fromkeys(columns))


def spelled(name: str, names: Iterable) -> str:
    """Return the one of `names` that `name` means: itself, or the only one alike but for case.

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
    """Return the columns that are named with commas; a column of that very name is one.

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
    """Return a label for every combination of the labels of several columns, row by row.

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
            f"columns {names} have two combinations that both read {label!r}: "
            "write one of them otherwise"
        )
    return labels


def found_columns(label: str, names: Sequence, requested: Sequence[str]) -> dict[str, str]:
    """Return the column that every requested name means, or raise."""
    names_alike = _by_plain_name(names)
    columns = {name: _found_column(label, names, names_alike, name) for name in requested}
    clash = first_clash((column, name) for name, column in columns.items())
    if clash:
        first, second = clash
        raise ValueError(f"{label} has one column for {first!r} and {second!r}: {columns[first]!r}")
    return columns


def plain_name(name: str) -> str:
    """Return a column's name without case, outer blanks and a byte-order mark, misread or not.

    Examples
    --------
    >>> plain_name(" Score"), plain_name("\ufeffID"), plain_name("\u00ef\u00bb\u00bfid")
    ('score', 'id', 'id')
    """
    return name.removeprefix("\ufeff").removeprefix(MISREAD_BOM).strip().casefold()


def check_told_apart(label: str, requested: Iterable[str]) -> None:
    """Raise unless DuckDB, which ignores case, can hold the requested columns in one relation."""
    clash = first_clash((name.lower(), name) for name in requested)
    if clash:
        raise ValueError(
            f"{label} has columns {clash[0]!r} and {clash[1]!r}; rename one so that they differ in "
            "more than upper and lower case"
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
        raise ValueError(f"{label} has {count} columns named {name!r}; rename all but one")
    if count:
        return name
    alike = names_alike.get(plain_name(str(name)), [])
    if len(alike) == 1:
        return alike[0]
    hint = f" (did you mean {' or '.join(map(repr, alike))}?)" if alike else ""
    hint = hint or checks.suggestion(name, map(str, names))
    present = checks.listed(names, 20, quoted=True)
    raise ValueError(f"{label} has no column {name!r}; it has {present}{hint}")
