"""Results: frozen values that state their finding, tabulate themselves and serialise."""

import copy
import html
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from workbench import checks
from workbench.results import digits, vocabulary

SCHEMA = 2
SHOWN_ROWS = 20
SHORT = 12  # letters of a cell that stay in a line
NO_INTERVAL = "no interval: state bounds"
NOTES = "workbench-notes"  # the class of a list of notes
_NUMBER = re.compile(r"(?:[<>] )?[-+\u2212]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?%?")
# a run whose environment has RECORDING shows its results as data too, of the kind RECORD
RECORDING, RECORD = "WORKBENCH_RECORDING", "application/vnd.workbench.result+json"
FILLED: Any = None  # the default of a field that is filled in where it is not given
# by weight: what a reader must see first stands first
NOTE_KINDS = ("refused", "undefined", "unreliable", "assumption", "data", "design", "remark")
_KINDS: "dict[str, type[Result]]" = {}
_BOUNDED = {"bounded_low": "low", "bounded_high": "high"}
_PLURALS = {"stratum": "strata", "class": "classes"}


@dataclass(frozen=True)
class Note:
    """A caveat: what the reader has to know before they use a result.

    Attributes
    ----------
    kind : {"refused", "undefined", "unreliable", "assumption", "data", "design", "remark"}
        By falling weight: a number is withheld, or must not be quoted; it does not exist; it may be wrong by more
        than it says; it holds only if; how the data were read, or what is odd about them; what the plan or the
        sample does not do; good to know.
    text : str
        A sentence without its place.
    where : tuple of (str, object) or None
        The place, as ("stratum", "north"), ("row", 17) or ("period", "May"). A whole number of a stratum is its index
        in the arrays of the result; people read it counted from 1. A name is text, also where it is made of digits.

    Examples
    --------
    >>> print(Note("undefined", "varies and has no label", ("stratum", 3)))
    stratum 4: varies and has no label
    """

    kind: str
    text: str
    where: tuple | None = None

    def __post_init__(self) -> None:
        checks.choice("kind", self.kind, NOTE_KINDS)
        if not isinstance(self.text, str) or not self.text:
            raise TypeError(f"text must be a sentence; got {self.text!r}")
        if self.where is not None:
            place = tuple(_frozen(entry) for entry in self.where)
            if len(place) != 2 or not isinstance(place[0], str):
                raise ValueError(
                    f"where must be None or a pair such as ('stratum', 3); got {self.where!r}"
                )
            object.__setattr__(self, "where", place)

    def __str__(self) -> str:
        return "{} {}: {}".format(*self.place, self.text) if self.place else self.text

    @property
    def place(self) -> tuple | None:
        """`where` as people read it: strata that are an index are counted from 1."""
        if self.where and self.where[0] == "stratum" and isinstance(self.where[1], int):
            return "stratum", self.where[1] + 1
        return self.where


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What a function of the workbench returns; a subclass is a frozen dataclass without further words.

    Arrays are read-only copies and scalars plain Python numbers. A subclass says its finding in
    `headline` and lays itself out in `rows`; printing, tables and serialisation follow from these.

    Attributes
    ----------
    notes : tuple of Note
        Every caveat, by weight; keyword-only in every constructor.

    Examples
    --------
    >>> import workbench as wb
    >>> r = wb.stratified_accuracy([360, 360], [20, 20], [12, 19])
    >>> wb.Result.from_dict(r.to_dict())
    StratifiedEstimate(accuracy 0.775 (SE 0.05977), 95% from 0.6236 to 0.8861; 40 labels, 2 strata)
    """

    notes: Sequence[Note] = field(default=(), kw_only=True)
    # whether it holds its data item by item: a report does not repeat them
    holds_items: ClassVar[bool] = False

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        super().__init_subclass__()
        _KINDS[cls.__name__] = dataclass(frozen=True, eq=False, repr=False, kw_only=kw_only)(cls)

    def __post_init__(self) -> None:
        for each in fields(self):
            if each.name != "notes":
                object.__setattr__(self, each.name, _frozen(getattr(self, each.name)))
        object.__setattr__(self, "notes", _by_weight(tuple(self.notes)))

    def _noted(self, *notes: Note) -> Self:
        """Return the same with more notes; what it holds is not looked at again."""
        found = copy.copy(self)
        object.__setattr__(found, "notes", _by_weight((*self.notes, *notes)))
        return found

    def headline(self) -> str:
        """Return the finding in one sentence, rounded to four digits."""
        raise TypeError(f"{type(self).__name__} states no headline")

    def rows(self) -> list[dict]:
        """Return the result as a list of dicts, one per row of its table; keys are those of `vocabulary`."""
        raise TypeError(f"{type(self).__name__} has no table")

    def to_frame(self, backend: str | None = None) -> Any:
        """Return `rows()` as a data frame of an installed library.

        Parameters
        ----------
        backend : {"polars", "pandas", "pyarrow"}, optional
            By default the first of these that is installed.
        """
        import importlib.util

        import narwhals as nw

        names: Any = [backend] if backend else ("polars", "pandas", "pyarrow")
        for name in names:
            if importlib.util.find_spec(name):
                return nw.from_dicts(self.rows(), backend=name).to_native()
        raise ImportError(
            f"to_frame needs {backend or 'polars, pandas or pyarrow'}: pip install {backend or 'polars'}"
        )

    def to_dict(self) -> dict:
        """Return a dict of plain JSON values (no NaN) from which `from_dict` restores the result."""
        values = {each.name: _encode(getattr(self, each.name)) for each in fields(self)}
        return {"kind": type(self).__name__, "schema": SCHEMA, "values": values}

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Restore a result from what `to_dict` returned, without loss.

        Parameters
        ----------
        data : dict
            As `to_dict` returned it, of this class or of one derived from it.
        """
        package, name = sys.modules[__name__.partition(".")[0]], str(data.get("kind"))
        if name in package.__all__:
            getattr(package, name)  # loads the module that defines it
        kind = _KINDS.get(name)
        if kind is None or not issubclass(kind, cls):
            raise ValueError(
                f"data must be a {cls.__name__} written by to_dict; got kind {data.get('kind')!r}"
            )
        if data.get("schema") != SCHEMA:
            raise ValueError(f"data must have schema {SCHEMA}; got {data.get('schema')!r}")
        return kind(**{name: _decode(value) for name, value in data["values"].items()})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline()})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        return {RECORD: record(self)} if os.environ.get(RECORDING) else {}

    def _repr_html_(self) -> str:
        return html_table(self.rows(), self.headline()) + (
            note_list(self.notes) if self.notes else ""
        )


def record(result: Result) -> dict:
    """Return a result and its table as plain JSON values, each as `to_dict` returns it."""
    table = Table(tuple(result.rows()), result.headline(), notes=result.notes)
    return {"result": result.to_dict(), "table": table.to_dict()}


def sentences(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return notes as sentences by weight, each once: places that share a text are listed before it.

    Parameters
    ----------
    notes : iterable of Note

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> sentences([Note("data", "has no label", ("row", 2)), Note("refused", "no items"),
    ...            Note("data", "has no label", ("row", 7))])
    ('no items', 'rows 2, 7: has no label')
    """
    groups: dict[tuple, list[Note]] = {}
    for note in _by_weight(notes):
        groups.setdefault((note.kind, note.text, note.where and note.where[0]), []).append(note)
    return tuple(dict.fromkeys(_sentence(group) for group in groups.values()))


class Estimate:
    """What a result with an `estimate` and its `variance` has besides."""

    estimate: Any
    variance: Any

    @property
    def standard_error(self) -> Any:
        """Square root of `variance`."""
        return self.variance**0.5


class Interval(Result):
    """A confidence interval; unpacks to `(low, high)` and is a pair to numpy.

    Attributes
    ----------
    low, high : float
        The limits, on the scale of the estimate.
    level : float
        Nominal coverage in (0, 1).
    method : str
        How the limits were made; "none" where the data give no interval, whose limits are then infinite.
    limiting_stratum : int or None
        The index of the one stratum that alone decides a limit while it holds less than half of its
        proportional share of the labels (W_k n / n_k > 2); more labels there would help most.
    bounded : (float, float) or None
        Limits that hold also if values inside the known bounds exist that the sample does not contain; None where
        these are the same limits, or where no bounds are known.

    Examples
    --------
    >>> low, high = Interval(0.8, 0.9, 0.95, "wald")
    >>> 0.85 in Interval(0.8, 0.9, 0.95, "wald")
    True
    """

    low: float
    high: float
    level: float
    method: str
    limiting_stratum: int | None = None
    bounded: tuple | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high"):
            object.__setattr__(self, name, getattr(self, name) + 0.0)  # no -0

    @property
    def half_width(self) -> float:
        """Half of high - low."""
        return (self.high - self.low) / 2

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        return (self.low, self.high)[index]

    def __contains__(self, value: Any) -> bool:
        return self.low <= value <= self.high

    def headline(self) -> str:
        """Return the limits in one sentence."""
        if self.method == "none":
            return NO_INTERVAL
        limits = f"{self.low:.4g} to {self.high:.4g}, {digits.level(self.level)} {self.method}"
        return limits + self.bounded_words()

    def bounded_words(self) -> str:
        """Return the bounded limits in words that follow the limits, "" where both read the same."""
        limits, bounded = ([f"{end:.4g}" for end in ends] for ends in (self, self.bounded or self))
        return bounded_words(limits, bounded)

    def rows(self) -> list[dict]:
        """Return one row: method, level, limits, and the bounded limits where these differ.

        The limits are None where there is no interval.
        """
        if self.method == "none":
            return [{"method": NO_INTERVAL, "level": self.level, "low": None, "high": None}]
        row = {"method": self.method, "level": self.level, "low": self.low, "high": self.high}
        return [row | with_bounded(self)] if self.bounded else [row]


def with_bounded(interval: Interval | tuple[float, float]) -> dict:
    """Return the bounded limits of an interval as part of a row; they are its limits where these do not differ.

    Parameters
    ----------
    interval : Interval or (float, float)

    Examples
    --------
    >>> with_bounded(Interval(0.8, 0.9, 0.95, "default", bounded=(0.7, 0.9)))
    {'bounded_low': 0.7, 'bounded_high': 0.9}
    """
    low, high = getattr(interval, "bounded", None) or interval
    return {"bounded_low": float(low), "bounded_high": float(high)}


def bounded_words(limits: Sequence[str], bounded: Sequence[str]) -> str:
    """Return the bounded limits in words that follow the limits, "" where both read the same.

    Parameters
    ----------
    limits, bounded : (str, str)

    Examples
    --------
    >>> bounded_words(("0.80", "0.90"), ("0.70", "0.90"))
    ', bounded 0.70 to 0.90'
    """
    return "" if [*limits] == [*bounded] else f", bounded {' to '.join(bounded)}"


class Table(Result):
    """Rows of a result with a caption, to be shown whole.

    Attributes
    ----------
    entries : tuple of dict
        As `rows` returns them.
    caption : str
    shown : tuple of int, optional
        The places of the rows that a page shows where it cannot show all; its tables have all.

    Examples
    --------
    >>> Table([{"period": "Jan", "share": 0.1213}], "Levels")
    Table(Levels: 1 row)
    """

    entries: tuple
    caption: str
    shown: tuple | None = None

    def headline(self) -> str:
        """Return the caption and the number of rows."""
        return f"{self.caption}: {checks.counted(len(self.entries), 'row')}"

    def rows(self) -> list[dict]:
        """Return the rows."""
        return list(self.entries)

    def _repr_html_(self) -> str:
        places = range(len(self.entries)) if self.shown is None else self.shown
        caption = (
            self.caption
            if len(places) == len(self.entries)
            else f"{self.caption} (shown {len(places):,} of {len(self.entries):,} rows; all are in its tables)"
        )
        rows = [self.entries[k] for k in places]
        table = html_table(rows, caption, shown=len(rows)) if rows else ""
        return table + (note_list(self.notes) if self.notes else "")


def html_table(rows: Sequence[dict], caption: str, shown: int = SHOWN_ROWS) -> str:
    """Return a small escaped HTML table; tables of more than `shown` rows are cut, and that is said.

    Row keys stand in it as `vocabulary.words` says them, and numbers with the digits that their error allows, the same
    in a column. A column of empty text is left out, and so are bounded limits that read as the limits in every row.
    The table scrolls below its caption where it is too wide.
    """
    names = [name for name in rows[0] if any(row[name] != "" for row in rows)] if rows else []
    error = digits.error_of(rows)
    cells = {
        name: [
            _shown(value, name)
            for value in digits.column(
                [row[name] for row in rows[:shown]], error if name in vocabulary.ESTIMATES else None
            )
        ]
        for name in names
    }
    if all(cells.get(name) == cells.get(limit) for name, limit in _BOUNDED.items()):
        cells = {name: column for name, column in cells.items() if name not in _BOUNDED}
    columns = list(cells.values())
    head = "".join(f'<th scope="col">{html.escape(vocabulary.words(name))}</th>' for name in cells)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in zip(*columns, strict=True)
    )
    attributes = "".join(f' {name}="{value}"' for name, value in alignment(columns).items())
    if len(rows) > shown:
        caption = f"{caption} (the first {shown} of {len(rows)} rows)"
    return (
        f'<figure class="table" style="margin: 0"><figcaption>{html.escape(caption)}</figcaption>'
        f'<div class="scroll"><table class="workbench"{attributes}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></figure>"
    )


def alignment(columns: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the attributes by which a page aligns a table: columns of numbers to the right, short ones unbroken.

    The first column names the row, also where it is a number.

    Parameters
    ----------
    columns : iterable of sequence of str
        The cells below the head, as they are shown.

    Examples
    --------
    >>> alignment([["1", "2"], ["-0.5", "< 1,000"], ["a long sentence", "1"]])
    {'data-right': '2', 'data-short': '1 2'}
    """
    numbered = list(enumerate(columns, 1))
    right = [
        k
        for k, cells in numbered
        if k > 1 and any(cells) and all(map(_NUMBER.fullmatch, filter(None, cells)))
    ]
    short = [k for k, cells in numbered if max(map(len, cells), default=0) <= SHORT]
    return {"data-right": " ".join(map(str, right)), "data-short": " ".join(map(str, short))}


def note_list(notes: Sequence[Note]) -> str:
    """Return notes as an escaped HTML list, by weight; 'Notes: none.' where there are none."""
    if not notes:
        return "<p>Notes: none.</p>"
    entries = "".join(f"<li>{html.escape(text)}</li>" for text in sentences(notes))
    return f'<div class="{NOTES}"><p>Notes:</p><ul>{entries}</ul></div>'


def plain(value: Any) -> Any:
    """Return nested data as plain JSON values: numpy numbers as Python's, NaN and infinity as None.

    Examples
    --------
    >>> plain({"bars": ({"n": np.int64(20), "p": float("nan")},)})
    {'bars': [{'n': 20, 'p': None}]}
    """
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rows_of(**columns: np.ndarray | Sequence) -> list[dict]:
    """Return a table of columns as one dict per row."""
    cells = (
        column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()
    )
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def stratum_rows(**columns: np.ndarray | Sequence) -> list[dict]:
    """Return a table of columns as one dict per stratum, counted from 1.

    Examples
    --------
    >>> stratum_rows(size=np.array([50, 60]), labeled=np.array([5, 6]))
    [{'stratum': 1, 'size': 50, 'labeled': 5}, {'stratum': 2, 'size': 60, 'labeled': 6}]
    """
    return [{"stratum": h, **row} for h, row in enumerate(rows_of(**columns), 1)]


def percent(level: float) -> str:
    """Return a level such as 0.95 as '95%', with the digits that tell it from 100%.

    Examples
    --------
    >>> percent(0.95), percent(1 - 1e-7), percent(1e-7)
    ('95%', '99.99999%', '1e-05%')
    """
    return f"{digits.level(100 * level, 100, 6)}%"


def _by_weight(notes: Iterable[Note]) -> tuple[Note, ...]:
    notes = tuple(notes)
    for note in notes:
        if not isinstance(note, Note):
            raise TypeError(f"notes must be of class Note; got {note!r}")
    return tuple(sorted(dict.fromkeys(notes), key=lambda note: NOTE_KINDS.index(note.kind)))


def _sentence(group: list) -> str:
    if len(group) == 1:
        return str(group[0])
    kind = group[0].where[0]
    return f"{_PLURALS.get(kind, kind + 's')} {checks.listed(note.place[1] for note in group)}: {group[0].text}"


def _shown(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name in vocabulary.COUNTS:
        return f"{value:,}"
    return "" if value is None else str(value)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.flags.writeable or not value.flags.owndata:
            value = value.copy()
            value.setflags(write=False)
        return value
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(entry) for entry in value)
    return (
        {_frozen(key): _frozen(entry) for key, entry in value.items()}
        if isinstance(value, dict)
        else value
    )


def _encode(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Note):
        return {"note": [value.kind, value.text, _encode(value.where)]}
    if isinstance(value, np.ndarray):
        return {
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "array": [_encode(entry) for entry in value.ravel().tolist()],
        }
    if isinstance(value, tuple):
        return {"tuple": [_encode(entry) for entry in value]}
    if isinstance(value, dict):
        return {"dict": [[key, _encode(entry)] for key, entry in value.items()]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "kind" in value:
        return Result.from_dict(value)
    if "note" in value:
        return Note(*map(_decode, value["note"]))
    if "array" in value:
        return np.array(list(map(_decode, value["array"])), dtype=value["dtype"]).reshape(
            value["shape"]
        )
    if "tuple" in value:
        return tuple(map(_decode, value["tuple"]))
    if "dict" in value:
        return {key: _decode(entry) for key, entry in value["dict"]}
    return float(value["float"])
