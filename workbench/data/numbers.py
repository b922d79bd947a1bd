"""Cells as people write them: text to numbers, labels and identifiers.

`to_numbers`, `to_labels` and `to_ids` read columns.
"""

import decimal
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.data import decimals
from workbench.results import Note

LONGEST_LABEL = 200
GONE = {
    "",
    "na",
    "n/a",
    "#n/a",
    "nan",
    "null",
    "none",
}  # texts that programs write for a missing cell
TOTALS = {
    "total",
    "totals",
    "grand total",
    "sum",
    "mean",
    "average",
    "avg",
    "std",
    "sd",
    "median",
    "summe",
    "gesamt",
    "insgesamt",
    "mittelwert",
    "moyenne",
    "somme",
    "media",
    "suma",
}
EXACT_WHOLE = 2.0**53
MISSING_CODES = (99.0, 999.0, 9999.0, 99999.0)  # with either sign
LEAST_OTHERS = 3  # distinct values next to a code; fewer may be classes
NEAR_WHOLE = 0.02  # of a sum of rounded shares


class RowError(ValueError):
    """Error for a cell that cannot be used; the message names its row.

    Parameters
    ----------
    *parts : str or int
        Parts of the message. An int is a data row, counted from 0. If the rows of the file are not
        known, the message has "data row 1" for 0.
    """

    def __init__(self, *parts: str | int) -> None:
        self.parts = parts
        super().__init__(self.said(lambda row: f"data row {row + 1}"))

    def said(self, name_row: Callable[[int], str]) -> str:
        """Return the message with the rows as `name_row` calls them."""
        return "".join(part if isinstance(part, str) else name_row(part) for part in self.parts)


class MissingError(RowError):
    """Error for a cell that is missing."""


def to_numbers(
    name: str,
    column: Any,
    *,
    others: Mapping | None = None,
    whole: bool = False,
) -> ndarray:
    """Return a column as finite floats.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Numbers, booleans or text as people write it (`workbench.data.decimals`). True and false
        become 1 and 0.
    others : dict of (N,) ndarray, optional
        Other columns of numbers of the same file. They decide whether a comma or a point is the
        decimal mark if this column does not.
    whole : bool
        Whether whole numbers are expected, so that "8,000" and "8.000" are 8000.

    Returns
    -------
    (N,) ndarray of float
        The numbers.

    Raises
    ------
    ValueError
        If a cell is missing, not a number or not finite, or if a column mixes decimal points and
        decimal commas. Also if a comma or a point can be read in both ways.

    Examples
    --------
    >>> to_numbers("score", np.array(["0,5", " 1", "true"], object)).tolist()
    [0.5, 1.0, 1.0]
    >>> to_numbers("size", np.array(["900", "8,000"], object), whole=True).tolist()
    [900.0, 8000.0]
    >>> to_numbers("score", np.array(["0.5", "1", "abc"], object))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.data.numbers.RowError: column 'score', data row 3: 'abc' is not a number...
    """
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        parsed = array.astype(float)
    else:
        parsed = _parsed(name, present(name, array, marks=False), whole, others)
    _refuse_infinite(name, array, parsed)
    return parsed


def to_shares(name: str, column: Any) -> tuple[ndarray, list[Note]]:
    """Return a column as finite floats, and a note if it was in percent and divided by 100.

    Raises
    ------
    ValueError
        As in `to_numbers`, and if only some cells are in percent.

    Examples
    --------
    >>> shares, notes = to_shares("score", np.array(["97.2%", "50 %"], object))
    >>> shares.tolist(), str(notes[0])
    ([0.972, 0.5], "column 'score' is in percent: '97.2%' is read as 0.972")
    """
    texts = as_text(column) if np.asarray(column).dtype.kind in "OUS" else []
    in_percent = [text.endswith("%") for text in texts]
    if not any(in_percent):
        return to_numbers(name, column), []
    first = in_percent.index(True)
    example = repr(texts[first])
    for row, text in enumerate(texts):
        if text and not in_percent[row]:
            ending = f": {text!r} is not. Write both alike"
            start = f": {example} is in percent, but "
            raise RowError(f"column {name!r}, ", first, start, row, ending)
    percentages = objects([text.rstrip("% ") for text in texts])
    shares = to_numbers(name, percentages) / 100
    note = f"column {name!r} is in percent: {example} is read as {shares[first]:.10g}"
    return shares, [Note("data", note)]


def without_zeros(text: str) -> str:
    """Return a text in lower case without the leading zeros of its numbers.

    Examples
    --------
    >>> without_zeros("Q007"), without_zeros("1.05")
    ('q7', '1.05')
    """
    return re.sub(r"(?<![0-9.,])0+(?=[0-9])", "", text.casefold())


def missing_code_notes(name: str, values: ndarray) -> list[Note]:
    """Return a note if a value such as -999 seems to be the code of a missing value.

    It repeats, it is the least or the greatest value, and it is far from the others: farther than
    their range, or the only negative value.

    Parameters
    ----------
    name : str
        Name of the column.
    values : (N,) ndarray of float
        The numbers of the column.

    Examples
    --------
    >>> ages = np.array([31, 9999, 47, 52, 9999])
    >>> print(*missing_code_notes("age", ages))    # doctest: +NORMALIZE_WHITESPACE
    column 'age' contains 9999 in 2 rows, and its other values are 31 to 52. If 9999 means a
    missing value, empty these cells
    """
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size <= LEAST_OTHERS:
        return []
    notes = []
    for end in (0, -1):
        code = float(distinct[end])
        others = np.delete(distinct, end)
        low, high = float(others[0]), float(others[-1])
        is_far = min(abs(code - low), abs(code - high)) > high - low
        is_alone = code < 0 <= low
        if abs(code) in MISSING_CODES and counts[end] > 1 and (is_far or is_alone):
            text = (
                f"column {name!r} contains {code:g} in {counts[end]:,} rows, and its other values "
                f"are {low:g} to {high:g}. If {code:g} means a missing value, empty these cells"
            )
            notes.append(Note("unreliable", text))
    return notes


def probability_notes(name: str, weight: ndarray) -> list[Note]:
    """Return a note if sampling weights may be the probabilities of selection instead.

    All are then below 1, and they are not shares that sum to 1 or 100.

    Parameters
    ----------
    name : str
        Name of the column.
    weight : (N,) ndarray of float
        The weights.

    Examples
    --------
    >>> len(probability_notes("w", np.array([0.2, 0.4, 0.6]))), probability_notes("w", np.ones(2))
    (1, [])
    """
    total = weight.sum()
    is_normalized = any(abs(total / whole - 1) < NEAR_WHOLE for whole in (1, 100))
    if weight.max() >= 1 or weight.min() == weight.max() or is_normalized:
        return []
    text = (
        f"all weights in column {name!r} are below 1. A sampling weight is 1 divided by the "
        "probability of selection. If the column contains these probabilities, the estimates are "
        "wrong; use 1 divided by them"
    )
    return [Note("unreliable", text)]


def to_cells(name: str, column: Any, *, others: Mapping | None = None) -> list:
    """Return the cells of a column of counts as numbers; other text and None stay as they are.

    Parameters
    ----------
    name, column, others
        As in `to_numbers` of whole numbers.

    Returns
    -------
    list of int, float, str or None
        One entry per cell.

    Raises
    ------
    ValueError
        If a comma or a point can be read in both ways.

    Examples
    --------
    >>> to_cells("n", np.array(["8,000", "x", None], object))
    [8000, 'x', None]
    """
    texts = as_text(column)
    numerals = written(column)
    is_number = [decimals.mark_of(text) is not None for text in numerals]
    digits = [text if number else "0" for text, number in zip(numerals, is_number, strict=True)]
    parsed = _parsed(name, digits, True, others).tolist()
    values = [int(value) if value.is_integer() else value for value in parsed]
    cells: list = []
    for text, number, value in zip(texts, is_number, values, strict=True):
        cells.append(value if number else text or None)
    return cells


def to_labels(name: str, column: ndarray, two_ways: str = "numbers") -> ndarray:
    """Return a column as labels: numbers if every cell is a number, else text without outer blanks.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Numbers, booleans or text.
    two_ways : {"numbers", "text", "refuse"}
        What happens if a column writes a number in two ways: it is one label, or all labels are
        text, or an error is raised.

    Returns
    -------
    (N,) ndarray
        int if all labels are whole numbers, float if all are numbers, else str.

    Raises
    ------
    ValueError
        If a cell is missing or not finite, a text has more than 200 characters, or a number is
        written in two ways.

    Examples
    --------
    >>> to_labels("truth", np.array(["1", " 0", "true"], object)).tolist()
    [1, 0, 1]
    >>> to_labels("district", np.array(["01", "1"], object), "text").tolist()
    ['01', '1']
    >>> to_labels("truth", np.array([" cat", "dog", "1"], object)).tolist()
    ['cat', 'dog', '1']
    """
    array = np.asarray(column)
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind in "bf":
        return whole_if_exact(to_numbers(name, array))
    texts = present(name, array)
    distinct = list(dict.fromkeys(texts))
    labels = _distinct_labels(distinct)
    twice = first_clash(zip(labels.tolist(), distinct, strict=True))
    if twice and two_ways == "refuse":
        first, second = twice
        problem = f"column {name!r} writes one number in two ways, {first!r} in "
        advice = ". Use classes 'text' if they are two classes, 'numbers' if they are one"
        first_row, second_row = map(texts.index, twice)
        raise RowError(problem, first_row, f" and {second!r} in ", second_row, advice)
    if twice and two_ways == "text":
        labels = np.array(distinct)
    return _labels_of_rows(name, texts, distinct, labels)


def text_labels(name: str, column: ndarray) -> ndarray:
    """Return a column as text labels, or raise if one is missing or too long."""
    texts = present(name, column)
    distinct = list(dict.fromkeys(texts))
    return _labels_of_rows(name, texts, distinct, np.array(distinct))


def _labels_of_rows(
    name: str,
    texts: list,
    distinct: list,
    labels: ndarray,
) -> ndarray:
    longest = max(distinct, key=len)
    if labels.dtype.kind == "U" and len(longest) > LONGEST_LABEL:
        problem = (
            f"a label may have at most {LONGEST_LABEL} characters, but this text has {len(longest)}"
        )
        raise RowError(f"column {name!r}, ", texts.index(longest), f": {problem}")
    index = {text: k for k, text in enumerate(distinct)}
    return labels[[index[text] for text in texts]]


def _distinct_labels(texts: list) -> ndarray:
    """Return class names as numbers if all are numbers, not with both commas and points."""
    are_numerals = all(decimals.is_plain(text) or text.lower() in decimals.TRUTH for text in texts)
    if are_numerals and not {",", "."} <= set("".join(texts)):
        parsed, _ = decimals.parse(texts)
        if parsed.size and np.all(np.abs(parsed) < EXACT_WHOLE):
            return whole_if_exact(parsed)
    return np.array(texts)


def to_ids(name: str, column: ndarray) -> ndarray:
    """Return a column as identifiers: numbers as they are, all else as text without outer blanks.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Whole numbers, finite numbers or text.

    Returns
    -------
    (N,) ndarray
        Identifiers of the given type, or str objects.

    Raises
    ------
    ValueError
        If an identifier is missing or repeated. The message names it and its rows.

    Examples
    --------
    >>> to_ids("id", np.array([" 007", "7"], object)).tolist()
    ['007', '7']
    """
    array = np.asarray(column)
    if array.dtype.kind in "iuf":
        _refuse_infinite(name, array, array)
    else:
        array = objects(present(name, array))
        array.setflags(write=False)  # read-only, so that no copy is needed
    values = array.tolist()
    again = first_repeat(values)
    if again:
        first, second = again
        problem = (
            f"column {name!r}: every item needs an id of its own, but {values[first]!r} is in "
        )
        raise RowError(problem, first, " and ", second)
    return array


def first_clash(pairs: Iterable[tuple]) -> tuple | None:
    """Return the first two different values with the same key, from pairs of key and value.

    Examples
    --------
    >>> first_clash([(1, "1"), (2, "2"), (1, "1.0")])
    ('1', '1.0')
    """
    first: dict = {}
    for key, value in pairs:
        if first.setdefault(key, value) != value:
            return first[key], value
    return None


def first_repeat(values: Sequence) -> tuple[int, int] | None:
    """Return the first two positions of the first repeated value, None if all values differ.

    Examples
    --------
    >>> first_repeat(["a", "b", "a", "a"])
    (0, 2)
    """
    # sorted hashes need less memory than a set of millions of texts
    hashes = np.fromiter(map(hash, values), np.int64, len(values))
    hashes.sort()
    if not np.any(hashes[1:] == hashes[:-1]):
        return None
    return first_clash((value, row) for row, value in enumerate(values))


def refuse_totals(name: str, labels: Sequence) -> None:
    """Raise if a label names a total or a mean, as spreadsheets add them.

    Examples
    --------
    >>> refuse_totals("fold", [1, 2, "mean"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.data.numbers.RowError: column 'fold', data row 3: 'mean' summarizes other rows...
    """
    for row, label in enumerate(labels):
        if isinstance(label, str) and label.strip().casefold() in TOTALS:
            raise RowError(
                f"column {name!r}, ", row, f": {label!r} summarizes other rows. Remove this row"
            )


def as_text(column: Any, marks: bool = True) -> list[str]:
    """Return a column as a list of str without outer blanks, with "" for a missing cell.

    If `marks` is False, a number that is not text, such as one of a workbook, has no decimal mark:
    8.125 is 8125e-3, and 1.0 is 1.

    Examples
    --------
    >>> as_text(np.array([" 007", None, 3], object)), as_text([8.125, 1.0], marks=False)
    (['007', '', '3'], ['8125e-3', '1'])
    """
    array = np.asarray(column)
    values = array.tolist()
    if array.dtype.kind in "iu":
        return list(map(str, values))
    try:
        texts = list(map(str.strip, values))
    except TypeError:  # not only text
        return [_text(value, marks) for value in values]
    if checks.NAN in texts:
        texts = ["" if text == checks.NAN else text for text in texts]
    return texts


def _text(value: Any, marks: bool) -> str:
    if isinstance(value, ndarray) and value.ndim:  # a list of labels in a data frame
        return str(value.tolist())
    if checks.is_missing(value):
        return ""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if not isinstance(value, (numbers.Real, decimal.Decimal)):
        return str(value).strip()
    number = float(value)
    text = repr(number)
    if marks or math.isinf(number):
        return text
    if number.is_integer():
        return str(int(number))
    sign, digits, exponent = decimal.Decimal(text).as_tuple()
    return f"{'-' * sign}{''.join(map(str, digits))}e{exponent}"


def unmasked(array: Any) -> Any:
    """Return a masked array as an object array with None where it is masked."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.any(array.mask):
        return array.data
    values = array.data.astype(object)
    values[array.mask] = None
    return values


def objects(values: Sequence) -> ndarray:
    """Return values as a one-dimensional object array."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def present(name: str, column: Any, marks: bool = True) -> list[str]:
    """Return a column as `as_text` does, or raise if a cell is missing."""
    texts = as_text(column, marks)
    if "" in texts:
        raise MissingError(
            f"column {name!r}, ", texts.index(""), " is empty. Fill the cell or delete the row"
        )
    return texts


def written(column: Any) -> list[str]:
    """Return a column as `as_text` does; numbers have one spelling, so 1.0 is written as 1."""
    return as_text(column, marks=False)


def _parsed(
    name: str,
    texts: list,
    is_whole: bool,
    columns: Mapping | None,
) -> ndarray:
    arrays = map(np.asarray, (columns or {}).values())
    other_texts = [as_text(array) for array in arrays if array.dtype.kind in "OUS"]
    parsed, problem = decimals.parse(texts, is_whole=is_whole, columns=other_texts)
    if problem:
        raise RowError(f"column {name!r}, ", *problem)
    return parsed


def _refuse_infinite(name: str, array: ndarray, parsed: ndarray) -> None:
    is_finite = np.isfinite(parsed)
    if np.all(is_finite):
        return
    row = int(np.argmin(is_finite))
    value = array[row]
    text = value if isinstance(value, str) else f"{value:g}"
    kind = MissingError if np.isnan(parsed[row]) else RowError
    raise kind(f"column {name!r}, ", row, f": {text} is not a finite number")


def whole_if_exact(parsed: ndarray) -> ndarray:
    """Return numbers as int if all are whole and exact."""
    if np.all(parsed == np.floor(parsed)) and np.all(np.abs(parsed) < EXACT_WHOLE):
        return parsed.astype(np.int64)
    return parsed
