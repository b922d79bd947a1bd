"""What a learner typed, as numbers, and what it earned."""

import ast
import numbers
import re
from typing import Any, NamedTuple

import numpy as np

LONGEST_TEXT = 500
_PERCENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+) ?%")
# one answer of several: a quoted text, a bracketed list, or whatever comes before the next comma
_PART = re.compile(r"""\s*("[^"]*"|'[^']*'|\[[^\]]*\]|\([^)]*\)|[^,]*)\s*(?:,|$)""")


class Judged(NamedTuple):
    """What an answer earned: a verdict, what is said of it, and the misconception by a name that holds no numbers."""

    verdict: str
    message: str
    misconception: str = ""


def answered(answer: Any, count: int) -> list | None:
    """Return an answer as `count` finite floats, or None."""
    values = answer.tolist() if hasattr(answer, "tolist") else answer
    values = list(values) if isinstance(values, (list, tuple, range)) else [values]
    if len(values) != count or not all(isinstance(value, numbers.Real) for value in values):
        return None
    try:
        found = [float(value) for value in values]
    except OverflowError:       # a whole number beyond all floats
        return None
    return found if np.isfinite(found).all() else None


def typed(text: str) -> Any:
    """Return what was typed into a text box as a cell would have it: numbers and texts, alone or in a list.

    Literals are read as Python reads them. Brackets around all of it and quotes may be left out, 88% is 0.88.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> typed("298, neyman with floor")
    [298, 'neyman with floor']
    >>> typed("equal_size, [40, 28, 16, 9, 7]")
    ['equal_size', [40, 28, 16, 9, 7]]
    >>> typed("88%, 2.9%")
    [0.88, 0.029]
    """
    text = text.replace("\N{MINUS SIGN}", "-").strip()
    found = _literal(text) if text else None
    if text and found is text:
        parts = [_item(part) for part in _split(_inside(text))]
        return parts[0] if len(parts) == 1 else parts
    return found


def _literal(text: str) -> Any:
    """Return a Python literal, a percentage as a share, any other text as it is."""
    if _PERCENT.fullmatch(text):
        return round(float(text.rstrip(" %")) / 100, 15)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _item(part: str) -> Any:
    inside = _inside(part)
    return _literal(part) if inside == part else [_literal(each) for each in _split(inside)]


def _inside(text: str) -> str:
    return text[1:-1] if text[0] + text[-1] in ("()", "[]") else text


def _split(text: str) -> list:
    """Return what stands between commas; a sentence that has commas stays in one piece, single words do not."""
    parts: list[str] = []
    for part in filter(None, _PART.findall(text)):
        if parts and part[0].isalpha() and parts[-1][0].isalpha() and " " in parts[-1]:
            parts[-1] += f", {part}"
        else:
            parts.append(part)
    return parts
