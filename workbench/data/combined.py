"""Cells that contain several labels, such as "cat;dog" or ["cat", "dog"].

`recognized` decides whether columns have such cells. `cell_labels` returns the labels of one cell.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from workbench.data.json_records import choices_in

COMMA = ","
# separators, and the proportion of labels that must also be alone in a cell
SEPARATORS = {";": 0.0, "|": 0.0, "\n": 0.0, COMMA: 0.5, "/": 0.5, "+": 0.5, "&": 0.5, " ": 1.0}
UNUSUAL = ("/", "+", "&", " ")
MOST = 0.8  # proportion of labels that must also occur elsewhere
HALF = 0.5
# a list, a tuple or a set; an object has a colon after a name
_LIST = re.compile(r"\[.*\]|\((?!.*['\"]\s*:).*\)|\{(?!.*['\"]\s*:).*\}", re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_DECIMAL = re.compile(r"[-+]?\d+,\d+")


class Combined(NamedTuple):
    """The first cell that seems to contain several labels, and whether that is evident."""

    separator: str
    text: str
    labels: list[str]
    is_evident: bool


def recognized(texts: Iterable[str]) -> Combined | None:
    """Return the first cell that seems to contain several labels, None if cells are classes.

    Parameters
    ----------
    texts : iterable of str
        Texts of true and predicted classes.

    Notes
    -----
    Several labels in a cell are evident in these cases:

    - The separator is ";", "|" or a line break, four of five labels also occur elsewhere, and one
      of them is alone in a cell.
    - The separator is a comma, four of five labels also occur elsewhere, and half of them are alone
      in a cell.

    The result is in doubt if a part of this holds. Lists and the separators "/", "+" and "&" are
    always in doubt. So are blanks, which need every word alone in a cell. A class such as "a;b"
    whose parts occur nowhere else is a class.

    Examples
    --------
    >>> recognized(["cat", "dog", "cat;dog"])
    Combined(separator=';', text='cat;dog', labels=['cat', 'dog'], is_evident=True)
    >>> recognized(["C", "Java", "C;C++"]).is_evident, recognized(["Smith, J.", "Doe, A."])
    (False, None)
    """
    filled = [*dict.fromkeys(texts)]
    if are_lists(filled):
        longest = max(filled, key=lambda text: len(list_labels(text)))
        labels = list_labels(longest)
        return Combined(COMMA, longest, labels, False) if len(labels) > 1 else None
    distinct = [text for text in filled if not _LIST.fullmatch(text)]
    judged = [_judged(separator, distinct) for separator in SEPARATORS]
    combined = [judgment for judgment in judged if judgment is not None]
    return max(combined, key=lambda judgment: judgment.is_evident, default=None)


def _judged(separator: str, distinct: Sequence[str]) -> Combined | None:
    """Return the labels that texts with a separator seem to contain, None if they are classes."""
    with_separator = [text for text in distinct if separator in text]
    joined = [text for text in with_separator if len(cell_labels(text, separator)) > 1]
    if not joined:
        return None
    sets = {frozenset(cell_labels(text.casefold(), separator)) for text in joined}
    times = Counter(chain.from_iterable(sets))
    alone = times.keys() & {text.casefold() for text in distinct}
    elsewhere = alone | {label for label, count in times.items() if count > 1}
    proportion = len(elsewhere) / len(times)
    are_numbers = separator == COMMA and all(map(_DECIMAL.fullmatch, joined))
    least_alone = 1.0 if are_numbers else SEPARATORS[separator]
    many_alone = bool(alone) and len(alone) / len(times) >= least_alone
    is_evident = many_alone and proportion >= MOST
    is_likely = proportion >= HALF if separator == COMMA else bool(elsewhere)
    if are_numbers or separator in UNUSUAL:  # "1,5" is a number and "A/B" a name
        is_evident, is_likely = False, is_evident
    if not (is_evident or is_likely):
        return None
    return Combined(separator, joined[0], cell_labels(joined[0], separator), is_evident)


def cell_labels(text: str, separator: str) -> list[str]:
    """Return the labels of a cell.

    Examples
    --------
    >>> cell_labels("cat; dog", ";"), cell_labels("", ";")
    (['cat', 'dog'], [])
    """
    return [label for label in map(str.strip, text.split(separator)) if label]


def are_lists(texts: Iterable[str]) -> bool:
    """Return whether all texts are lists as programs write them.

    At least one text must contain a quote or a comma.

    Examples
    --------
    >>> are_lists(["['cat']", "[]", ""]), are_lists(["[PASS]", "[FAIL]"]), are_lists(["cat"])
    (True, False, False)
    """
    filled = [text for text in dict.fromkeys(texts) if text]
    for text in filled:
        if _LIST.fullmatch(text) is None and choices_in(text) is None:
            return False
    return any(re.search("['\",]", text) for text in filled)


def list_labels(text: str) -> list[str]:
    """Return the labels of a cell with a list of JSON, Python, numpy or Label Studio.

    Examples
    --------
    >>> list_labels('["cat", "dog"]'), list_labels("['cat' 'dog']"), list_labels("[cat, dog]")
    (['cat', 'dog'], ['cat', 'dog'], ['cat', 'dog'])
    """
    choices = choices_in(text)
    if choices is not None:
        return choices
    try:
        values = json.loads(text)
    except json.JSONDecodeError:
        inner = text[1:-1]
        quoted = [single or double for single, double in _QUOTED.findall(inner)]
        return quoted or cell_labels(inner, COMMA)
    return [str(value).strip() for value in values]
