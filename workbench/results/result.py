"""Results: frozen values that have a headline and a table, and that can be serialized.

`Note`, `Result`, `Interval` and `Table` come first, then HTML tables, then rows and serialization.
"""

import copy
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.results import digits, vocabulary

SCHEMA = 2
SHOWN_ROWS = 20
SHORT = 12  # a cell of at most so many characters is not broken into lines
NO_INTERVAL = "no interval: give bounds"
NOTES = "workbench-notes"  # the CSS class of a list of notes
_NUMBER = re.compile(r"(?:[<>] )?[-+\u2212]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?%?")
# if the environment has RECORDING, results are also displayed as data of the MIME type RECORD
RECORDING = "WORKBENCH_RECORDING"
RECORD = "application/vnd.workbench.result+json"
FILLED: Any = None  # default of a field that is filled in after creation
# the most serious kind first
NOTE_KINDS = (
    "refused",
    "undefined",
    "unreliable",
    "assumption",
    "data",
    "design",
    "remark",
)
_KINDS: "dict[str, type[Result]]" = {}
_BOUNDED = {"bounded_low": "low", "bounded_high": "high"}
_PLURALS = {"stratum": "strata", "class": "classes"}


@dataclass(frozen=True)
class Note:
    """A caveat: something that a reader has to know before they use a result.

    Attributes
    ----------
    kind : {"refused", "undefined", "unreliable", "assumption", "data", "design", "remark"}
        Type of the note, the most serious first:

        - "refused": a number is withheld, or must not be quoted;
        - "undefined": a number does not exist;
        - "unreliable": a number may be wrong by more than its error;
        - "assumption": a number rests on an assumption;
        - "data": how the data were read, or what is unusual about them;
        - "design": a limit of the plan or the sample;
        - "remark": further information.
    text : str
        A sentence without its place.
    where : tuple of (str, object) or None
        The place, such as ("stratum", "north"), ("row", 17) or ("period", "May"). A whole number of
        a stratum is its index in the arrays of the result, and is printed counted from 1. A name is
        text, even if it consists of digits.

    See Also
    --------
    sentences : Return notes as sentences.
    Result : Base class of results, which have notes.

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
        if self.where is not None:
            object.__setattr__(self, "where", _frozen(tuple(self.where)))

    def __str__(self) -> str:
        return "{} {}: {}".format(*self.place, self.text) if self.place else self.text

    @property
    def place(self) -> tuple | None:
        """Return `where` as it is printed: an index of a stratum is counted from 1."""
        match self.where:
            case "stratum", int(index):
                return "stratum", index + 1
        return self.where


@dataclass_transform(
    eq_default=False,
    frozen_default=True,
    field_specifiers=(field,),
)
@dataclass(
    frozen=True,
    eq=False,
    repr=False,
)
class Result:
    """Base class of results; every subclass becomes a frozen dataclass.

    Arrays are read-only copies, and scalars are plain Python numbers. A subclass returns its main
    finding from `headline` and its table from `rows`. Printing and serialization use these two.

    Attributes
    ----------
    notes : tuple of Note
        All caveats, the most serious first. Keyword-only in every constructor.

    See Also
    --------
    Note : A caveat of a result.
    Interval : A confidence interval.
    Table : A table of a result.

    Examples
    --------
    >>> import workbench as wb
    >>> r = wb.stratified_accuracy([360, 360], [20, 20], [12, 19])
    >>> wb.Result.from_dict(r.to_dict()).estimate == r.estimate
    True
    """

    notes: Sequence[Note] = field(default=(), kw_only=True)
    # whether it contains its data item by item, which a report does not repeat
    holds_items: ClassVar[bool] = False

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        super().__init_subclass__()
        _KINDS[cls.__name__] = dataclass(
            frozen=True,
            eq=False,
            repr=False,
            kw_only=kw_only,
        )(cls)

    def __post_init__(self) -> None:
        values = {name: _frozen(value) for name, value in vars(self).items()}
        vars(self).update(values, notes=_by_weight(self.notes))

    def _noted(self, *notes: Note) -> Self:
        """Return a copy with more notes, without checking its other fields again."""
        noted = copy.copy(self)
        vars(noted)["notes"] = _by_weight((*self.notes, *notes))
        return noted

    def headline(self) -> str:
        """Return the main finding in one sentence, rounded to four digits.

        Returns
        -------
        str
            One sentence.
        """
        raise TypeError(f"{type(self).__name__} has no headline")

    def rows(self) -> list[dict]:
        """Return the table of the result, with the keys of `workbench.results.vocabulary`.

        Returns
        -------
        list of dict
            One dict per row.
        """
        raise TypeError(f"{type(self).__name__} has no table")

    def to_frame(self, backend: str | None = None) -> Any:
        """Return `rows()` as a data frame of an installed library.

        Parameters
        ----------
        backend : {"polars", "pandas", "pyarrow"}, optional
            Library of the data frame. By default the first of these that is installed.

        Returns
        -------
        data frame
            A data frame of that library.
        """
        import importlib.util

        import narwhals as nw

        libraries: list[Any] = [backend] if backend else ["polars", "pandas", "pyarrow"]
        for name in libraries:
            if importlib.util.find_spec(name):
                return nw.from_dicts(self.rows(), backend=name).to_native()
        needed = " or ".join(libraries)
        raise ImportError(f"to_frame needs {needed}: pip install {libraries[0]}")

    def to_dict(self) -> dict:
        """Return plain JSON values (no NaN) from which `from_dict` restores the result.

        Returns
        -------
        dict
            The kind, the version of the format and the values.
        """
        values = {item.name: _encode(getattr(self, item.name)) for item in fields(self)}
        return {"kind": type(self).__name__, "schema": SCHEMA, "values": values}

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Restore a result from the dict that `to_dict` returned, without loss.

        Parameters
        ----------
        data : dict
            Dict that `to_dict` returned for this class or a subclass.

        Returns
        -------
        Result
            The restored result.
        """
        name = str(data.get("kind"))
        package = sys.modules["workbench"]
        if name in package.__all__:
            getattr(package, name)  # loads the module that defines it
        kind = _KINDS.get(name)
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"data must be a {cls.__name__} made by to_dict; got kind {name!r}")
        if data.get("schema") != SCHEMA:
            raise ValueError(f"data must have schema {SCHEMA}; got {data.get('schema')!r}")
        values = {name: _decode(value) for name, value in data["values"].items()}
        return kind(**values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline()})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict:
        return {RECORD: record(self)} if os.environ.get(RECORDING) else {}

    def _repr_html_(self) -> str:
        notes = note_list(self.notes) if self.notes else ""
        return html_table(self.rows(), self.headline()) + notes


def record(result: Result) -> dict:
    """Return a result and its table as plain JSON values, each as `to_dict` returns it."""
    table = Table(tuple(result.rows()), result.headline(), notes=result.notes)
    return {"result": result.to_dict(), "table": table.to_dict()}


def sentences(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return notes as sentences, the most serious first.

    Each text occurs once. The places that share it come before it.

    Parameters
    ----------
    notes : iterable of Note
        The notes of a result.

    Returns
    -------
    tuple of str
        One sentence per text.

    See Also
    --------
    Note : A caveat of a result.

    Examples
    --------
    >>> sentences([Note("data", "has no label", ("row", 2)), Note("refused", "no items"),
    ...            Note("data", "has no label", ("row", 7))])
    ('no items', 'rows 2, 7: has no label')
    """
    groups: dict[tuple, list] = {}
    for note in _by_weight(notes):
        kind_of_place, name = note.place or ("", "")
        groups.setdefault((note.kind, note.text, kind_of_place), []).append(name)
    texts = []
    for (_, text, kind_of_place), names in groups.items():
        if len(names) > 1:
            kind_of_place = _PLURALS.get(kind_of_place, f"{kind_of_place}s")
        if kind_of_place:
            text = f"{kind_of_place} {checks.listed(names)}: {text}"
        texts.append(text)
    return tuple(dict.fromkeys(texts))


class Estimate:
    """Mixin of results that have an `estimate` and its `variance`."""

    estimate: Any
    variance: Any

    @property
    def standard_error(self) -> Any:
        """Return the standard error, the square root of `variance`."""
        return self.variance**0.5


class Interval(Result):
    """A confidence interval; unpacks to `(low, high)`, also in numpy.

    Attributes
    ----------
    low, high : float
        The limits, on the scale of the estimate.
    level : float
        Confidence level, in (0, 1).
    method : str
        Method of the limits. "none" if the data give no interval; the limits are then infinite.
    limiting_stratum : int or None
        Index of the one stratum that determines a limit although it has few labels. Few means less
        than half of the labels of a proportional allocation (W_k n / n_k > 2). More labels in this
        stratum would shorten the interval most.
    bounded : (float, float) or None
        Limits that remain valid if the population contains values inside the known bounds that the
        sample does not contain. None if these are the same limits, or if no bounds are known.

    See Also
    --------
    stratified_interval : Compute an interval for a stratified sample.
    value_interval : Compute an interval for values instead of accuracy.

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
        vars(self).update(low=self.low + 0.0, high=self.high + 0.0)  # no -0

    @property
    def half_width(self) -> float:
        """Return half of the difference between the limits."""
        return (self.high - self.low) / 2

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        return (self.low, self.high)[index]

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def headline(self) -> str:
        """Return the limits in one sentence."""
        if self.method == "none":
            return NO_INTERVAL
        method = f"{digits.level(self.level)} {self.method}"
        return f"{self.low:.4g} to {self.high:.4g}, {method}{self.bounded_words()}"

    def bounded_words(self) -> str:
        """Return the bounded limits as words that follow the limits.

        Returns
        -------
        str
            The words, or "" if both limits have the same digits.
        """
        limits = [f"{limit:.4g}" for limit in self]
        bounded = [f"{limit:.4g}" for limit in self.bounded or self]
        return bounded_words(limits, bounded)

    def rows(self) -> list[dict]:
        """Return one row: method, level, limits, and the bounded limits if they differ.

        Returns
        -------
        list of dict
            The row. Its limits are None if there is no interval.
        """
        row: dict = {
            "method": self.method,
            "level": self.level,
            "low": self.low,
            "high": self.high,
        }
        if self.method == "none":
            row |= {"method": NO_INTERVAL, "low": None, "high": None}
        return [row | with_bounded(self)] if self.bounded else [row]


def with_bounded(interval: Interval | tuple[float, float]) -> dict:
    """Return the bounded limits of an interval as part of a row; by default its limits.

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
    """Return the bounded limits as words that follow the limits, "" if both read the same.

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
    """Rows of a result with a caption; a page shows all rows.

    Attributes
    ----------
    entries : tuple of dict
        The rows, as `rows` returns them.
    caption : str
        Caption of the table.
    shown : tuple of int, optional
        Positions of the rows that a page shows if it cannot show all. The files of the page have
        all rows.

    See Also
    --------
    Result : Base class of results.

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
        rows: Sequence[dict] = self.entries
        caption = self.caption
        if self.shown is not None and len(self.shown) < len(rows):
            rows = [self.entries[k] for k in self.shown]
            counts = f"{len(rows):,} of {len(self.entries):,} rows"
            caption += f" (shown: {counts}; the files of this page have all rows)"
        table = html_table(rows, caption, shown=len(rows)) if rows else ""
        return table + (note_list(self.notes) if self.notes else "")


def html_table(rows: Sequence[dict], caption: str, shown: int = SHOWN_ROWS) -> str:
    """Return an escaped HTML table of at most `shown` rows; the caption tells if rows are left out.

    The headings are the words of `vocabulary` for row keys. Numbers have the digits that their
    error justifies, the same number in each column. A column of empty texts is left out. So are
    bounded limits that equal the limits in every row. A table that is too wide scrolls below its
    caption.
    """
    error = digits.error_of(rows)
    columns = {}
    for name in rows[0] if rows else ():
        if all(row[name] == "" for row in rows):
            continue
        values = [row[name] for row in rows[:shown]]
        values = digits.column(values, error if name in vocabulary.ESTIMATES else None)
        columns[name] = [_cell(value, name) for value in values]
    if all(columns.get(name) == columns.get(limit) for name, limit in _BOUNDED.items()):
        columns = {name: cells for name, cells in columns.items() if name not in _BOUNDED}
    heads = (f'<th scope="col">{escape(vocabulary.words(name))}</th>' for name in columns)
    body = ""
    for line in zip(*columns.values(), strict=True):
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in line)
        body += f"<tr>{cells}</tr>"
    aligned = alignment(columns.values()).items()
    attributes = "".join(f' {name}="{value}"' for name, value in aligned)
    if len(rows) > shown:
        caption = f"{caption} (the first {shown} of {len(rows)} rows)"
    return (
        f'<figure class="table" style="margin: 0"><figcaption>{escape(caption)}</figcaption>'
        f'<div class="scroll"><table class="workbench"{attributes}>'
        f"<thead><tr>{''.join(heads)}</tr></thead>"
        f"<tbody>{body}</tbody></table></div></figure>"
    )


def alignment(columns: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return HTML attributes that align numbers to the right and keep short columns unbroken.

    The first column names the row, so it is never aligned to the right.

    Parameters
    ----------
    columns : iterable of sequence of str
        The cells below the heading.

    Examples
    --------
    >>> alignment([["1", "2"], ["-0.5", "< 1,000"], ["a long sentence", "1"]])
    {'data-right': '2', 'data-short': '1 2'}
    """
    right = []
    short = []
    for k, cells in enumerate(columns, 1):
        texts = [cell for cell in cells if cell]
        if k > 1 and texts and all(map(_NUMBER.fullmatch, texts)):
            right.append(str(k))
        if max(map(len, texts), default=0) <= SHORT:
            short.append(str(k))
    return {"data-right": " ".join(right), "data-short": " ".join(short)}


def note_list(notes: Sequence[Note]) -> str:
    """Return notes as an escaped HTML list, the most serious first, or 'Notes: none.'."""
    if not notes:
        return "<p>Notes: none.</p>"
    entries = "".join(f"<li>{escape(text)}</li>" for text in sentences(notes))
    return f'<div class="{NOTES}"><p>Notes:</p><ul>{entries}</ul></div>'


def plain(value: Any) -> Any:
    """Return nested data as plain JSON values: numpy numbers as Python's, NaN and infinity as None.

    Examples
    --------
    >>> plain({"bars": ({"n": np.int64(20), "p": float("nan")},)})
    {'bars': [{'n': 20, 'p': None}]}
    """
    match value:
        case dict():
            return {str(key): plain(entry) for key, entry in value.items()}
        case list() | tuple():
            return [plain(entry) for entry in value]
        case np.generic() | ndarray():
            return plain(value.tolist())
        case float() if not math.isfinite(value):
            return None
    return value


def rows_of(**columns: ndarray | Sequence) -> list[dict]:
    """Return a table of columns as one dict per row."""
    cells = (
        column.tolist() if isinstance(column, ndarray) else column for column in columns.values()
    )
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def stratum_rows(**columns: ndarray | Sequence) -> list[dict]:
    """Return a table of columns as one dict per stratum, counted from 1.

    Examples
    --------
    >>> stratum_rows(size=np.array([50, 60]), labeled=np.array([5, 6]))
    [{'stratum': 1, 'size': 50, 'labeled': 5}, {'stratum': 2, 'size': 60, 'labeled': 6}]
    """
    return [{"stratum": h, **row} for h, row in enumerate(rows_of(**columns), 1)]


def percent(level: float) -> str:
    """Return a level such as 0.95 as '95%', with enough digits to tell it from 100%.

    Examples
    --------
    >>> percent(0.95), percent(1 - 1e-7), percent(1e-7)
    ('95%', '99.99999%', '1e-05%')
    """
    return f"{digits.level(100 * level, 100, 6)}%"


def _by_weight(notes: Iterable[Note]) -> tuple[Note, ...]:
    notes = tuple(notes)
    for note in notes:
        checks.instance("notes", note, Note)
    return tuple(sorted(dict.fromkeys(notes), key=lambda note: NOTE_KINDS.index(note.kind)))


def _cell(value: Any, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name in vocabulary.COUNTS:
        return f"{value:,}"
    return str(value)


def _frozen(value: Any) -> Any:
    """Return a value with read-only arrays, plain numbers, and tuples instead of lists."""
    match value:
        case np.generic():
            return value.item()
        case ndarray():
            if value.flags.writeable or not value.flags.owndata:
                value = value.copy()
                value.setflags(write=False)
        case list() | tuple():
            return tuple(map(_frozen, value))
        case dict():
            return {_frozen(key): _frozen(entry) for key, entry in value.items()}
    return value


def _encode(value: Any) -> Any:
    match value:
        case Result():
            return value.to_dict()
        case Note():
            return {"note": [value.kind, value.text, _encode(value.where)]}
        case ndarray():
            entries = [_encode(entry) for entry in value.ravel().tolist()]
            return {"dtype": value.dtype.str, "shape": list(value.shape), "array": entries}
        case tuple():
            return {"tuple": [_encode(entry) for entry in value]}
        case dict():
            return {"dict": [[key, _encode(entry)] for key, entry in value.items()]}
        case float() if not math.isfinite(value):
            return {"float": str(value)}
    return value


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "kind" in value:
        return Result.from_dict(value)
    if "tuple" in value:
        return tuple(map(_decode, value["tuple"]))
    if "note" in value:
        return Note(*map(_decode, value["note"]))
    if "dict" in value:
        return {key: _decode(entry) for key, entry in value["dict"]}
    if "float" in value:
        return float(value["float"])
    entries = list(map(_decode, value["array"]))
    return np.array(entries, value["dtype"]).reshape(value["shape"])
