"""Cells as people write them: text to numbers, labels and identifiers."""

import decimal
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.data import decimals

LONGEST_LABEL = 200
EXACT_WHOLE = 2.0 ** 53
_PLAIN = "0123456789.,+-eE"
_KINDS = (numbers.Real, decimal.Decimal)


class RowError(ValueError):
    """A cell that cannot be used; who knows the file says where it stands.

    Parameters
    ----------
    *parts : str or int
        The message; an int is a data row, counted from 0. Unless the rows of a file are known it is said as
        "data row 1" for 0.
    """

    def __init__(self, *parts: str | int) -> None:
        self.parts = parts
        super().__init__(self.said(lambda row: f"data row {row + 1}"))

    def said(self, name_row: Callable[[int], str]) -> str:
        """Return the message with the rows as `name_row` calls them."""
        return "".join(part if isinstance(part, str) else name_row(int(part)) for part in self.parts)


def to_numbers(name: str, column: Any, *, beside: Mapping[str, Any] | None = None, whole: bool = False) -> np.ndarray:
    """Return a column as finite floats.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Numbers, booleans or text as people write it (`workbench.data.decimals`); true and false become 1 and 0.
    beside : dict of (N,) ndarray, optional
        Columns of numbers of the same file: they decide what a comma or a point is where this column leaves it open.
    whole : bool
        Whether whole numbers are expected, so that "8,000" and "8.000" are 8000.

    Returns
    -------
    (N,) ndarray of float

    Raises
    ------
    ValueError
        For a cell that is missing, not a number or not finite, for a column that mixes decimal points and decimal
        commas, and where a comma or a point can be read both ways.

    Examples
    --------
    >>> to_numbers("score", np.array(["0,5", " 1", "true"], object)).tolist()
    [0.5, 1.0, 1.0]
    >>> to_numbers("size", np.array(["900", "8,000"], object), whole=True).tolist()
    [900.0, 8000.0]
    >>> to_numbers("score", np.array(["0.5", "1", "abc"], object))
    Traceback (most recent call last):
    workbench.data.numbers.RowError: column 'score', data row 3: 'abc' is not a number
    """
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        parsed = array.astype(float)
    else:
        parsed, problem = _parse(without_marks(array, _present(name, array)), whole=whole, beside=beside)
        if problem:
            raise RowError(f"column {name!r}, ", *problem)
    _refuse_infinite(name, array, parsed)
    return parsed


def to_cells(name: str, column: Any, *, beside: Mapping[str, Any] | None = None) -> list:
    """Return the cells of a column of counts: numbers where they are, text that is none and None as they stand.

    Parameters
    ----------
    name, column, beside
        As in `to_numbers` of whole numbers.

    Returns
    -------
    list of int, float, str or None

    Raises
    ------
    ValueError
        Where a comma or a point can be read both ways.

    Examples
    --------
    >>> to_cells("n", np.array(["8,000", "x", None], object))
    [8000, 'x', None]
    """
    array = np.asarray(column)
    texts = as_text(array)
    written = without_marks(array, texts)
    known = [row for row, text in enumerate(written) if decimals.mark_of(text) is not None]
    cells: list = [text or None for text in texts]
    parsed, problem = _parse([written[row] for row in known], whole=True, beside=beside)
    if problem:
        raise RowError(f"column {name!r}, ", *(part if isinstance(part, str) else known[part] for part in problem))
    for row, value in zip(known, parsed.tolist(), strict=True):
        cells[row] = int(value) if value.is_integer() else value
    return cells


def to_labels(name: str, column: np.ndarray) -> np.ndarray:
    """Return a column as class labels: numbers where every cell is a number, else stripped text.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Numbers, booleans or text.

    Returns
    -------
    (N,) ndarray
        int where all labels are whole numbers ("01", "1" and "1.0" are one label), else float, else str.

    Raises
    ------
    ValueError
        For a cell that is missing or not finite, or text of more than 200 characters.

    Examples
    --------
    >>> to_labels("truth", np.array(["1", " 0", "true"], object)).tolist()
    [1, 0, 1]
    >>> to_labels("truth", np.array([" cat", "dog", "1"], object)).tolist()
    ['cat', 'dog', '1']
    """
    array = np.asarray(column)
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind in "bf":
        return whole_if_exact(to_numbers(name, array))
    texts = _present(name, array)
    place = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    labels, longest = _distinct_labels(list(place)), max(place, key=len)
    if labels.dtype.kind == "U" and len(longest) > LONGEST_LABEL:
        raise RowError(f"column {name!r}, ", texts.index(longest), f": a label has at most {LONGEST_LABEL} characters; "
                       f"this text has {len(longest)}")
    return labels[np.fromiter(map(place.__getitem__, texts), np.intp, len(texts))]


def _distinct_labels(texts: list[str]) -> np.ndarray:
    parsed = _digits_and_one_mark(texts)
    if parsed is None:
        parsed = decimals.parse(texts)[0] if _may_be_numbers(texts) else np.empty(0)
    return whole_if_exact(parsed) if parsed.size and np.all(np.abs(parsed) < EXACT_WHOLE) else np.array(texts)


def to_ids(name: str, column: np.ndarray) -> np.ndarray:
    """Return a column as identifiers: numbers as they are, everything else as stripped text.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Whole numbers, finite numbers or text.

    Returns
    -------
    (N,) ndarray
        Of the dtype given, or of str objects.

    Raises
    ------
    ValueError
        For a missing or a repeated identifier; names it and its rows.

    Examples
    --------
    >>> to_ids("id", np.array([" 007", "7"], object)).tolist()
    ['007', '7']
    """
    array = np.asarray(column)
    if array.dtype.kind in "iuf":
        _refuse_infinite(name, array, array)
    else:
        array = objects(_present(name, array))
    first: dict = {}
    for row, value in enumerate(array.tolist() if len({*array.tolist()}) < array.size else ()):
        if first.setdefault(value, row) != row:
            raise RowError(f"column {name!r}: id {value!r} occurs twice, in ", first[value], " and ", row)
    return array


def as_text(column: Any) -> list[str]:
    """Return a column as a list of stripped str, with "" for a missing cell.

    Examples
    --------
    >>> as_text(np.array([" 007", None, 3], object))
    ['007', '', '3']
    """
    values = np.asarray(column).tolist()
    try:
        return list(map(str.strip, values))
    except TypeError:       # not only text
        return [_text(value) for value in values]


def unmasked(array: Any) -> Any:
    """Return a masked array as an object array with None where it is masked."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.any(array.mask):
        return array.data
    values = array.data.astype(object)
    values[np.ma.getmaskarray(array)] = None
    return values


def objects(values: Sequence) -> np.ndarray:
    """Return values as a 1-d object array."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _text(value: float | str | None) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None or (isinstance(value, (float, decimal.Decimal)) and value != value):
        return ""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return repr(float(value)) if isinstance(value, _KINDS) else str(value)


def _present(name: str, array: np.ndarray) -> list[str]:
    texts = as_text(array)
    if "" in texts:
        raise RowError(f"column {name!r}, ", texts.index(""), " is missing")
    return texts


def without_marks(array: np.ndarray, texts: list[str]) -> list[str]:
    """Return texts in which a number that is no text, as of a workbook, has no decimal mark: 8.125 is 8125e-3."""
    values = array.tolist()
    if {*map(type, values)} <= {str}:
        return texts
    return [_digits(value) if isinstance(value, _KINDS) and np.isfinite(float(value)) else text
            for value, text in zip(values, texts, strict=True)]


def _digits(value: Any) -> str:
    if float(value).is_integer():
        return str(int(value))
    sign, digits, exponent = decimal.Decimal(repr(float(value))).as_tuple()
    return f"{'-' * sign}{''.join(map(str, digits))}e{exponent}"


def _parse(texts: Any, *, whole: Any = False, beside: Any = None) -> tuple:
    quick = _digits_and_one_mark(texts)
    if quick is not None:
        return quick, ()
    others = (as_text(column) for column in (beside or {}).values() if np.asarray(column).dtype.kind in "OUS")
    return decimals.parse(texts, whole=whole, beside=others)


def _digits_and_one_mark(texts: list) -> np.ndarray | None:
    """Return floats where all is digits and one mark that can only be decimal, else None."""
    written = "".join(texts)
    marks = [mark for mark in ".," if mark in written]
    if written.strip(_PLAIN) or len(marks) == 2:
        return None
    mark = "".join(marks)
    if mark and all(map(decimals.is_open, (text for text in texts if mark in text))):
        return None
    try:
        return objects([text.replace(",", ".") for text in texts] if mark == "," else texts).astype(float)
    except ValueError:
        return None


def _may_be_numbers(texts: list[str]) -> bool:
    """Return whether class names are read as numbers: none with separated thousands, commas or points but not both."""
    return not {",", "."} <= set("".join(texts)) and \
        all(text.lower() in decimals.TRUTH or decimals.is_plain(text) for text in texts)


def _refuse_infinite(name: str, array: np.ndarray, parsed: np.ndarray) -> None:
    for row in np.flatnonzero(~np.isfinite(parsed))[:1]:
        value = array[row]
        shown = value if isinstance(value, str) else f"{value:g}"
        raise RowError(f"column {name!r}, ", row, f": {shown} is not a finite number")


def whole_if_exact(parsed: np.ndarray) -> np.ndarray:
    """Return numbers as int where all are whole and exact."""
    exact = np.all(parsed == np.floor(parsed)) and np.all(np.abs(parsed) < EXACT_WHOLE)
    return parsed.astype(np.int64) if exact else parsed
