"""Numbers as people write them: whether a comma or a point is the decimal mark, and what separates thousands.

A column's own numbers decide: in "0,5", "1.234,5" or "1.234.567" the comma can only be the decimal mark. Where all of
them can be read both ways, as "1,234", the other columns of numbers of the file decide. Where these leave it open too,
whole numbers have no decimals, a point alone is a decimal point unless a whole number of three digits stands beside it,
as 980 beside 1.216, and everything else is refused with both readings.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

OTHER = {",": ".", ".": ","}
_WORDS = {",": "comma", ".": "point"}
TRUTH = {"true": "1", "false": "0"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:([.,])[0-9]*)?|([.,])[0-9]+)(?:[eE][+-]?[0-9]+)?")
OPEN = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}")
_HUNDREDS = re.compile(r"[+-]?[1-9][0-9]{2}")
_GROUPED = re.compile(
    r"[+-]?[1-9][0-9]{0,2}([.,'\u2019\s])[0-9]{3}(?:\1[0-9]{3})*(?:(?!\1)([.,])[0-9]*)?"
)
SEPARATORS = "['\u2019\u00a0\u2009\u202f\\s]"  # as characters: DuckDB knows no codes, and spaces of ASCII only


def is_plain(text: str) -> bool:
    """Return whether a text is a number without separated thousands."""
    return _NUMBER.fullmatch(text) is not None


def is_open(text: str) -> bool:
    """Return whether a text may be a whole number with separated thousands or one with three decimals."""
    return OPEN.fullmatch(text) is not None


def mark_of(text: str) -> str | None:
    """Return the decimal mark that a number shows, "" where it shows none, or None for what is no number.

    Examples
    --------
    >>> [mark_of(text) for text in ("0,5", "1,234.5", "1.234.567", "1 234", "1,234", "12,34,5")]
    [',', '.', ',', '', '', None]
    """
    if is_open(text):
        return ""
    plain = _NUMBER.fullmatch(text)
    if plain:
        return plain[1] or plain[2] or ""
    grouped = _GROUPED.fullmatch(text)
    return (grouped[2] or OTHER.get(grouped[1], "")) if grouped else None


def parse(
    texts: Sequence[str], *, whole: bool = False, beside: Iterable[Sequence[str]] = ()
) -> tuple[np.ndarray, tuple]:
    """Return texts as floats and (), or an empty array and what is wrong: parts of a sentence, rows as int.

    Parameters
    ----------
    texts : sequence of str
    whole : bool
        Whether whole numbers are wanted, in which nothing but thousands is separated.
    beside : iterable of sequences of str
        Other columns of numbers of the same file.

    Examples
    --------
    >>> parse(["1,234", "0.5"])[0].tolist(), parse(["8,000"], whole=True)[0].tolist()
    ([1234.0, 0.5], [8000.0])
    >>> parse(["900", "8,000"])[1]
    (1, ": '8,000' is 8000 or 8.000, as its comma separates thousands or decimals; write it without a comma")
    """
    texts = [TRUTH.get(text.lower(), text) for text in texts]
    mark, problem = decimal_mark(texts, whole=whole, beside=beside)
    if problem:
        return np.empty(0), problem
    return np.array([pointed(text, mark) for text in texts], object).astype(float), ()


def decimal_mark(
    texts: Sequence[str], *, whole: bool = False, beside: Iterable[Sequence[str]] = ()
) -> tuple[str, tuple]:
    """Return the decimal mark of a column and (), or "" and what is wrong, as `parse` does."""
    marks = [mark_of(text) for text in texts]
    if None in marks:
        row = marks.index(None)
        return "", (row, f": {shortened(texts[row])} is not a number")
    if "," in marks and "." in marks:
        comma, point = marks.index(","), marks.index(".")
        return "", (
            comma,
            f": {texts[comma]!r} has a decimal comma, ",
            point,
            f": {texts[point]!r} a decimal point; use one of them",
        )
    mark = "".join({mark for mark in marks if mark}) or _undecided(texts, whole, beside)
    return mark, () if mark else _both(texts)


def pointed(text: str, mark: str) -> str:
    """Return a number as Python writes it."""
    return re.sub(SEPARATORS, "", text.replace(OTHER[mark], "").replace(mark, "."))


def shortened(text: str) -> str:
    """Return a text in quotes, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _undecided(texts: Any, whole: Any, beside: Any) -> str:
    """Return the decimal mark of a column that shows none, or "" where it stays open."""
    open_marks = {mark for text in filter(is_open, texts) for mark in OTHER if mark in text}
    if not open_marks:
        return "."
    elsewhere = {mark for column in beside for mark in _marks_of_numbers(column)} - {""}
    if whole:
        wanted = OTHER[open_marks.pop()] if len(open_marks) == 1 else ""
        return wanted if elsewhere <= {wanted} else ""
    if len(elsewhere) == 1:
        return elsewhere.pop()
    hundreds = any(map(_HUNDREDS.fullmatch, texts))  # 980 beside 1.216 may well stand below 1216
    return "." if open_marks == {"."} and not elsewhere and not hundreds else ""


def _marks_of_numbers(column: list[str]) -> set | set[str]:
    """Return the marks of a column, none of them if it holds anything but numbers."""
    marks = set(map(mark_of, column))
    return set() if None in marks else marks


def _both(texts: Any) -> tuple:
    """Return what is wrong with the first number that can be read both ways."""
    row = next(row for row, text in enumerate(texts) if is_open(text))
    mark = OPEN.sub(r"\1", texts[row])
    thousands, decimals = texts[row].replace(mark, ""), texts[row].replace(mark, ".")
    return row, (
        f": {texts[row]!r} is {thousands} or {decimals}, as its {_WORDS[mark]} separates thousands or "
        f"decimals; write it without a {_WORDS[mark]}"
    )
