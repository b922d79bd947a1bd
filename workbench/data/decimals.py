"""Numbers as people write them: whether a comma or a point is the decimal mark.

The numbers of a column decide: in "0,5", "1.234,5" or "1.234.567" the comma can only be the decimal
mark. If all numbers can be read in two ways, such as "1,234", the other columns of numbers in the
file decide.

If these do not decide either, whole numbers have no decimals, and a point is a decimal mark. The
exception is a column that also has a whole number of three digits, such as 980 next to 1.216.

Everything else is refused: the error names the cell and both readings.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy import ndarray

OTHER = {",": ".", ".": ","}
TRUTH = {"true": "1", "false": "0"}
OPEN = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}")
HUNDREDS = re.compile(r"[+-]?[1-9][0-9]{2}")
# as characters: DuckDB has no codes, and knows only ASCII spaces
SEPARATORS = "['\u2019\u00a0\u2009\u202f\\s]"
_WORDS = {",": "comma", ".": "point"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:([.,])[0-9]*)?|([.,])[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(
    r"[+-]?[1-9][0-9]{0,2}([.,'\u2019\s])[0-9]{3}(?:\1[0-9]{3})*(?:(?!\1)([.,])[0-9]*)?"
)


def is_plain(text: str) -> bool:
    """Return whether a text is a number without separated thousands."""
    return _NUMBER.fullmatch(text) is not None


def is_open(text: str) -> bool:
    """Return whether a text may be a whole number with a separator or one with three decimals."""
    return OPEN.fullmatch(text) is not None


def mark_of(text: str) -> str | None:
    """Return the decimal mark of a number, "" if it has none, or None for other texts.

    Examples
    --------
    >>> [mark_of(text) for text in ("0,5", "1,234.5", "1.234.567", "1 234", "1,234", "12,34,5")]
    [',', '.', ',', '', '', None]
    """
    if is_open(text):
        return ""
    number = _NUMBER.fullmatch(text)
    if number:
        return number[1] or number[2] or ""
    grouped = _GROUPED.fullmatch(text)
    if grouped:
        return grouped[2] or OTHER.get(grouped[1], "")
    return None


def parse(
    texts: Sequence[str], *, is_whole: bool = False, columns: Iterable = ()
) -> tuple[ndarray, tuple]:
    """Return texts as floats and (), or an empty array and the problem as parts of a sentence.

    Parameters
    ----------
    texts : sequence of str
        Numbers as text.
    is_whole : bool
        Whether whole numbers are expected, so that marks can only separate thousands.
    columns : iterable of sequences of str
        Other columns of numbers of the same file.

    Examples
    --------
    >>> parse(["1,234", "0.5"])[0].tolist(), parse(["8,000"], is_whole=True)[0].tolist()
    ([1234.0, 0.5], [8000.0])
    >>> parse(["900", "8,000"])[1]  # doctest: +ELLIPSIS
    (1, ": '8,000' may be 8000 or 8.000, because its comma may separate thousands or decimals...")
    """
    parsed = _floats_with_one_mark(texts)
    if parsed is not None:
        return parsed, ()
    texts = [TRUTH.get(text.lower(), text) for text in texts]
    decimal, problem = decimal_mark(texts, is_whole=is_whole, columns=columns)
    if problem:
        return np.empty(0), problem
    floats = [float(pointed(text, decimal)) for text in texts]
    return np.array(floats), ()


def decimal_mark(
    texts: Sequence[str], *, is_whole: bool = False, columns: Iterable = ()
) -> tuple[str, tuple]:
    """Return the decimal mark of a column and (), or "" and the problem, as `parse` does."""
    marks = [mark_of(text) for text in texts]
    if None in marks:
        row = marks.index(None)
        return "", (row, f": {shortened(texts[row])} is not a number. Correct the cell")
    if "," in marks and "." in marks:
        comma = marks.index(",")
        point = marks.index(".")
        with_comma = f": {texts[comma]!r} has a decimal comma, but "
        with_point = f": {texts[point]!r} has a decimal point. Use the same mark in all cells"
        return "", (
            comma,
            with_comma,
            point,
            with_point,
        )
    decimal = max(filter(None, marks), default="") or _mark_of_open(texts, is_whole, columns)
    if decimal:
        return decimal, ()
    row = list(map(is_open, texts)).index(True)
    text = texts[row]
    sign = "," if "," in text else "."
    word = _WORDS[sign]
    readings = f"{text.replace(sign, '')} or {text.replace(sign, '.')}"
    reason = f"because its {word} may separate thousands or decimals"
    return "", (row, f": {text!r} may be {readings}, {reason}. Write it without a {word}")


def pointed(text: str, decimal: str) -> str:
    """Return a number as Python writes it."""
    text = text.replace(OTHER[decimal], "").replace(decimal, ".")
    return re.sub(SEPARATORS, "", text)


def shortened(text: str) -> str:
    """Return a text in quotes, cut if it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _floats_with_one_mark(texts: Sequence) -> ndarray | None:
    """Return floats if the texts have digits and one mark that can only be decimal, else None."""
    characters = set("".join(texts))
    signs = characters & {*OTHER}
    if len(signs) > 1 or not characters <= set("0123456789.,+-eE"):
        return None
    sign = "".join(signs)
    if sign and all(is_open(text) for text in texts if sign in text):
        return None
    if sign == ",":
        texts = [text.replace(",", ".") for text in texts]
    try:
        return np.array(texts, object).astype(float)
    except ValueError:
        return None


def _mark_of_open(texts: Sequence, is_whole: bool, columns: Iterable) -> str:
    """Return the decimal mark of a column whose numbers show none, "" if it is undecided."""
    signs = {match[1] for match in map(OPEN.fullmatch, texts) if match}
    if not signs:
        return "."
    if len(signs) > 1:
        return ""
    sign = signs.pop()
    marks_of_others: set = set()
    for column in columns:
        marks = set(map(mark_of, column))
        marks_of_others |= set() if None in marks else marks - {""}
    if is_whole and marks_of_others <= {OTHER[sign]}:
        return OTHER[sign]
    if len(marks_of_others) == 1 and not is_whole:
        return marks_of_others.pop()
    if is_whole or marks_of_others or sign == "," or any(map(HUNDREDS.fullmatch, texts)):
        return ""
    return "."
