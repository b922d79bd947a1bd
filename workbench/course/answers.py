"""Answers that a learner types, read as numbers and texts, and the feedback on them."""

import ast
import numbers
import re
from typing import Any, NamedTuple

import numpy as np

LONGEST_TEXT = 500
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)? ?%?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+ ?%?")
_NUMBERS = r"(?:[-+]?(?:\d+(?:[.,]\d+)?|[.,]\d+)%?)"
_NUMBERS_AND_WORDS = re.compile(rf"({_NUMBERS}(?:\s+{_NUMBERS})*)\s+([^\W\d_][^,]*)")
_LIST = rf"{_NUMBERS}(?:(?:\s*/\s*|\s+){_NUMBERS})+"
_WORDS_AND_LIST = re.compile(rf"([^\W\d_][^,\d]*?)[\s:]\s*({_LIST})")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PERCENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+) ?%")
# one answer of several: a quoted text, a bracketed list, or the text before the next comma
_PART = re.compile(r"""\s*("[^"]*"|'[^']*'|\[[^\]]*\]|\([^)]*\)|[^,]*)\s*(?:,|$)""")


class Judged(NamedTuple):
    """Feedback on an answer: correct or not, a message, and a misconception by its name."""

    verdict: str
    message: str
    misconception: str = ""


def answered(answer: Any, count: int) -> list | None:
    """Return an answer as `count` finite floats, or None."""
    values = answer.tolist() if hasattr(answer, "tolist") else answer
    values = list(values) if isinstance(values, (list, tuple, range)) else [values]
    if len(values) != count or not all(isinstance(value, numbers.Real) for value in values):
        return None
    return [float(value) for value in values] if finite(values) else None


def finite(answer: Any) -> bool:
    """Return whether all numbers in an answer, including those in lists, are finite floats."""
    if isinstance(answer, np.ndarray):
        return finite(answer.tolist())
    if isinstance(answer, (list, tuple)):
        return all(map(finite, answer))
    try:
        return not isinstance(answer, numbers.Real) or bool(np.isfinite(float(answer)))
    except OverflowError:
        return False


def says_something(text: str, least: int = 3) -> bool:
    """Return whether a text has at least `least` different words of two letters or more.

    Examples
    --------
    >>> says_something("five are misread"), says_something("x x x"), says_something("why why why")
    (True, False, False)
    """
    return len(set(_WORD.findall(text.casefold()))) >= least


def typed(text: str, count: int | None = None) -> Any:
    """Read the text of a text box as a notebook cell would: numbers and texts, alone or in a list.

    Literals are read as Python reads them, with these additions:

    - Brackets around the whole text and quotes may be left out.
    - A percentage is a proportion: 88% is 0.88.
    - Semicolons, slashes and, next to numbers, spaces separate answers like commas. A comma inside
      a number is then a decimal comma. It is also one if a single number is asked for.
    - Words after a single number that is asked for are its unit, and are dropped.

    Parameters
    ----------
    text : str
        The text.
    count : int, optional
        How many numbers are asked for.

    Examples
    --------
    >>> typed("298, neyman with floor")
    [298, 'neyman with floor']
    >>> typed("equal_size, [40, 28, 16, 9, 7]")
    ['equal_size', [40, 28, 16, 9, 7]]
    >>> typed("88%, 2.9%"), typed("0,88; 0,029"), typed("42 / 30 / 17"), typed("0,15", 1)
    ([0.88, 0.029], (0.88, 0.029), (42, 30, 17), 0.15)
    >>> typed("k-means 40/30/30"), typed("1,437 0,154 no"), typed("81 runs", 1)
    (['k-means', [40, 30, 30]], [1.437, 0.154, 'no'], 81)
    """
    text = _separated(_cleaned(text), count)
    if not text:
        return None
    value = _literal(text)
    if value is not text:
        return value
    parts = [_item(part) for part in _split(_inside(text))]
    return parts[0] if len(parts) == 1 else parts


def is_as_in_a_cell(text: str, count: int | None = None) -> bool:
    """Return whether `typed` reads a text without changing its commas and points.

    Examples
    --------
    >>> is_as_in_a_cell("0.88, 0.029"), is_as_in_a_cell("0,88; 0,029")
    (True, False)
    """
    text = _cleaned(text)
    return _separated(text, count) == text


def _cleaned(text: str) -> str:
    return re.sub(r"\s*percent\b", "%", text.replace("\N{MINUS SIGN}", "-").strip())


def _separated(text: str, count: int | None) -> str:
    """Return a text with commas as separators and points as decimal points."""
    inside = re.sub(r"\s+%", "%", _inside(text)) if text else ""
    if count == 1 and _DECIMAL_COMMA.fullmatch(inside):
        return inside.replace(",", ".")
    for separator in (r"\s*;\s*", r"\s*/\s*", r"\s+"):
        parts = re.split(separator, inside)
        is_space = separator == r"\s+"
        numeric = [bool(_NUMBER.fullmatch(part.strip(",") if is_space else part)) for part in parts]
        texts = [part for part, is_number in zip(parts, numeric, strict=True) if not is_number]
        if separator == r"\s*/\s*":  # words may stand next to numbers
            texts = [text for text in texts if not text.strip(".!").replace(" ", "").isalpha()]
        if len(parts) < 2 or (texts and separator != r"\s*;\s*"):
            continue
        if is_space and any(part.endswith(",") for part in parts):
            return text  # 0.88, 0.029
        points = zip(parts, numeric, strict=True)
        return ", ".join(
            part.replace(",", ".") if is_number else part for part, is_number in points
        )
    if match := _NUMBERS_AND_WORDS.fullmatch(inside):
        values = [value.replace(",", ".") for value in match[1].split()]
        return ", ".join(values if count == len(values) == 1 else [*values, match[2]])
    match = _WORDS_AND_LIST.fullmatch(inside)
    return f"{match[1]}, [{_separated(match[2], None)}]" if match else text


def _literal(text: str) -> Any:
    """Return a Python literal, a percentage as a proportion, or any other text unchanged."""
    if _PERCENT.fullmatch(text):
        return round(float(text.rstrip(" %")) / 100, 15)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _item(part: str) -> Any:
    """Return one answer of several: a number, a text or a list."""
    inside = _inside(part)
    if re.fullmatch(_LIST, part):
        return list(map(_literal, _split(_separated(part, None))))
    return _literal(part) if inside == part else list(map(_literal, _split(inside)))


def _inside(text: str) -> str:
    return text[1:-1] if text[0] + text[-1] in ("()", "[]") else text


def _split(text: str) -> list:
    """Return the parts between commas; a sentence that contains commas stays in one piece."""
    parts: list[str] = []
    for part in filter(None, map(str.strip, _PART.findall(text))):
        if parts and part[0].isalpha() and " " in parts[-1] and _WORD.search(parts[-1]):
            parts[-1] += f", {part}"
        else:
            parts.append(part)
    return parts
