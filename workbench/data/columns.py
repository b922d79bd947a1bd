"""A source of columns, whatever it is, and the columns that are wanted of it."""

import codecs
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import checks

CROSSED = " / "  # between the labels of columns that are crossed
MISREAD_BOM = codecs.BOM_UTF8.decode("latin-1")


@dataclass(frozen=True)
class TableSource:
    """A source whose columns can be fetched: `fetch(names)` returns (dict of arrays, notes).

    `rows`, where there is one, yields the row of each data row as the program shows it that opens the file.
    """

    label: str
    names: tuple
    fetch: Callable | None = None
    rows: Callable[[], Iterable[int]] | None = None


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
    decimal_mark : callable or None
        For text in whose cells a comma may stand: from the name of a column of numbers to its decimal mark.
    """

    label: str
    native: Any
    text: bool = False
    notes: tuple = ()
    decimal_mark: Callable[[str], str] | None = None

    def mark(self, name: str) -> str | None:
        """Return the decimal mark of a column of numbers in text, "" where no cell has a comma, None for no text."""
        return (
            None if not self.text else "" if self.decimal_mark is None else self.decimal_mark(name)
        )


def distinct_names(columns: Sequence[str]) -> list[str]:
    """Return the wanted names, each once, or raise."""
    if isinstance(columns, str):
        raise checks.WrongType("columns", "must be a list of names", columns)
    wanted = list(dict.fromkeys(columns))
    if not wanted:
        raise checks.WrongValue("columns", "must name at least one column")
    return wanted


def spelled(name: str, names: Iterable) -> str:
    """Return the one of `names` that `name` means: itself, or the only one unlike it in case and outer blanks only.

    Examples
    --------
    >>> spelled("score", ["ID", " Score"]), spelled("score", ["SCORE", "Score"])
    (' Score', 'score')
    """
    names = list(names)
    alike = [] if name in names else _alike(name, _by_plain_name(names))
    return alike[0] if len(alike) == 1 else name


def crossed_names(name: Any, names: Iterable) -> list[str]:
    """Return the columns that are crossed where several are named with commas; a column of that very name is one.

    Examples
    --------
    >>> crossed_names("sex,status", ["sex", "status"]), crossed_names("sex,status", ["sex,status", "sex"])
    (['sex', 'status'], ['sex,status'])
    """
    names = list(names)
    if not isinstance(name, str):
        return [name]
    parts = [part.strip() for part in name.split(",") if part.strip()]
    return parts if len(parts) > 1 and spelled(name, names) not in names else [name]


def crossed_labels(columns: Mapping[str, Sequence]) -> list[str]:
    """Return a label for every combination of the labels of several columns, row by row.

    Examples
    --------
    >>> crossed_labels({"sex": ["m", "f"], "status": ["full", "part"]})
    ['m / full', 'f / part']
    """
    rows = [*zip(*(map(str, labels) for labels in columns.values()), strict=True)]
    first: dict = {}
    for row in rows:
        if first.setdefault(CROSSED.join(row), row) != row:
            raise ValueError(
                f"columns {' and '.join(map(repr, columns))} have two combinations that both read "
                f"{CROSSED.join(row)!r}: write one of them otherwise"
            )
    return [CROSSED.join(row) for row in rows]


def found_columns(label: str, names: Sequence, wanted: Sequence[str]) -> dict[str, str]:
    """Return the column that every wanted name means, or raise."""
    known = _by_plain_name(names)
    found = {name: _found_column(label, names, known, name) for name in wanted}
    first: dict = {}
    for name, column in found.items():
        if first.setdefault(column, name) != name:
            raise ValueError(
                f"{label} has one column for {first[column]!r} and {name!r}: {column!r}"
            )
    return found


def _by_plain_name(names: Iterable) -> dict[str, list[str]]:
    """Return the names that are text by their `plain_name`."""
    found: dict = {}
    for name in names:
        if isinstance(name, str):
            found.setdefault(plain_name(name), []).append(name)
    return found


def _alike(name: Any, known: dict[str, list[str]]) -> list[str]:
    return known.get(plain_name(name), []) if isinstance(name, str) else []


def plain_name(name: str) -> str:
    """Return a column's name without what files add to it: case, outer blanks and a byte-order mark, misread or not.

    Examples
    --------
    >>> plain_name(" Score"), plain_name("\ufeffID"), plain_name("\u00ef\u00bb\u00bfid")
    ('score', 'id', 'id')
    """
    return name.removeprefix("\ufeff").removeprefix(MISREAD_BOM).strip().casefold()


def _found_column(label: str, names: Sequence, known: dict[str, list[str]], name: Any) -> Any:
    if names.count(name) > 1:
        raise ValueError(
            f"{label} has {names.count(name)} columns named {name!r}; rename all but one"
        )
    if name in names:
        return name
    alike = _alike(name, known)
    if len(alike) == 1:
        return alike[0]
    present = checks.listed(names, 20, quoted=True)
    meant = (
        f" (did you mean {' or '.join(map(repr, alike))}?)"
        if alike
        else checks.suggestion(name, map(str, names))
    )
    raise ValueError(f"{label} has no column {name!r}; it has {present}{meant}")


def check_told_apart(label: str, wanted: Iterable[str]) -> None:
    """Raise unless DuckDB, which ignores case, can hold the wanted columns in one relation."""
    known: dict = {}
    for name in wanted:
        if known.setdefault(name.lower(), name) != name:
            raise ValueError(
                f"{label} has columns {known[name.lower()]!r} and {name!r}; rename one so that they "
                "differ in more than upper and lower case"
            )
