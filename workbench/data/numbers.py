"""Cells as people write them: text to numbers, labels and identifiers."""
from __future__ import annotations

import decimal
import numbers
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

LONGEST_LABEL = 200
EXACT_WHOLE = 2.0 ** 53
_PLAIN = frozenset("0123456789.+-eE")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:[.,'\u2019\s][0-9]{3})+(?:[.,][0-9]+)?")
_THOUSANDS_OR_DECIMALS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_TRUTH = {"true": "1", "false": "0"}


def to_numbers(name: str, column: Any) -> np.ndarray:
    """Return a column as finite floats.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Numbers, booleans or text with a decimal point or a decimal comma; true and false become 1 and 0.

    Returns
    -------
    (N,) ndarray of float

    Raises
    ------
    ValueError
        For a cell that is missing, not a number or not finite, for a thousands separator, and for a
        column that mixes decimal points and decimal commas. Data rows are counted from 1 below the header.

    Examples
    --------
    >>> to_numbers("score", np.array(["0,5", " 1", "true"], object)).tolist()
    [0.5, 1.0, 1.0]
    >>> to_numbers("score", np.array(["0.5", "1", "abc"], object))
    Traceback (most recent call last):
    ValueError: column 'score', data row 3: 'abc' is not a number
    """
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        parsed = array.astype(float)
    else:
        texts = _present(name, array)
        parsed, problem = _parse(texts)
        if problem:
            raise ValueError(f"column {name!r}, {problem}")
    _refuse_infinite(name, array, parsed)
    return parsed


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
        For a cell that is missing or not finite, or text of more than 200 characters. Data rows are
        counted from 1 below the header.

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
        return _whole_if_exact(to_numbers(name, array))
    texts = _present(name, array)
    parsed, problem = _parse(texts)
    if problem or not np.all(np.abs(parsed) < EXACT_WHOLE):
        return _text_labels(name, texts)
    return _whole_if_exact(parsed)


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
        For a missing or a repeated identifier; names it and its data rows, counted from 1 below the
        header.

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
    _refuse_repeated(name, array.tolist())
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


def _text(value):
    if isinstance(value, str):
        return value.strip()
    if value is None or (isinstance(value, (float, decimal.Decimal)) and value != value):
        return ""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return repr(float(value))
    return str(value)


def _present(name, array):
    texts = as_text(array)
    if "" in texts:
        raise ValueError(f"column {name!r}, data row {texts.index('') + 1} is missing")
    return texts


def _parse(texts):
    """Return (floats, None), or (None, problem) where the texts are not one kind of number."""
    if _PLAIN.issuperset("".join(texts)):
        try:
            return objects(texts).astype(float), None
        except ValueError:
            pass
    texts = [_TRUTH.get(text.lower(), text) for text in texts]
    problem = _not_number(texts) or _ambiguous(texts)
    if problem:
        return None, problem
    return objects([text.replace(",", ".") for text in texts]).astype(float), None


def _not_number(texts):
    row = next((row for row, text in enumerate(texts, 1) if not _NUMBER.fullmatch(text)), None)
    if row is None:
        return None
    shown = shortened(texts[row - 1])
    if _THOUSANDS.fullmatch(texts[row - 1]):
        return f"data row {row}: {shown} has a thousands separator; write the number without it"
    return f"data row {row}: {shown} is not a number"


def _ambiguous(texts):
    commas = [row for row, text in enumerate(texts, 1) if "," in text]
    point = next((row for row, text in enumerate(texts, 1) if "." in text), None)
    if not commas:
        return None
    first = f"data row {commas[0]}: {texts[commas[0] - 1]!r}"
    if point:
        second = f"data row {point}: {texts[point - 1]!r}"
        return f"{first} has a decimal comma, {second} a decimal point; use one of them"
    if all(_THOUSANDS_OR_DECIMALS.fullmatch(texts[row - 1]) for row in commas):
        return f"{first} may have a thousands separator or a decimal comma; write a decimal point"
    return None


def shortened(text: str) -> str:
    """Return a text in quotes, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _refuse_infinite(name, array, parsed):
    bad = np.flatnonzero(~np.isfinite(parsed))
    if bad.size:
        value = array[bad[0]]
        shown = value if isinstance(value, str) else f"{value:g}"
        raise ValueError(f"column {name!r}, data row {bad[0] + 1}: {shown} is not a finite number")


def _whole_if_exact(parsed):
    exact = np.all(parsed == np.floor(parsed)) and np.all(np.abs(parsed) < EXACT_WHOLE)
    return parsed.astype(np.int64) if exact else parsed


def _text_labels(name, texts):
    row = max(range(len(texts)), key=lambda i: len(texts[i]))
    if len(texts[row]) > LONGEST_LABEL:
        raise ValueError(f"column {name!r}, data row {row + 1}: a label has at most {LONGEST_LABEL} "
                         f"characters; this text has {len(texts[row])}")
    return np.array(texts)


def _refuse_repeated(name, values):
    if len(set(values)) == len(values):
        return
    first = {}
    for row, value in enumerate(values, 1):
        if value in first:
            raise ValueError(f"column {name!r}: id {value!r} occurs twice, "
                             f"in data rows {first[value]} and {row}")
        first[value] = row
