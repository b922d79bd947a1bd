"""Cells that hold several labels, such as "cat;dog" or ["cat", "dog"].

`recognized` decides whether the cells of some columns do, `cell_labels` returns those of one cell.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from workbench.data.json_records import choices_in

USUAL = (";", "|")
COMMA = ","
SEPARATORS = (*USUAL, COMMA, "/", "+", "&")
MOST = 0.8  # of the labels, which also stand elsewhere
HALF = 0.5
# a list, a tuple or a set, which unlike an object has no colon after a name
_LIST = re.compile(r"\[.*\]|\((?!.*['\"]\s*:).*\)|\{(?!.*['\"]\s*:).*\}", re.DOTALL)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_DECIMAL = re.compile(r"[-+]?\d+,\d+")


class Combined(NamedTuple):
    """Cells that seem to hold several labels: the first such text and its labels.

    Attributes
    ----------
    separator : str
    text : str
    labels : list of str
    is_evident : bool
        Whether it is beyond doubt.
    """

    separator: str
    text: str
    labels: list[str]
    is_evident: bool


def recognized(texts: Iterable[str]) -> Combined | None:
    """Return what the texts of true and predicted classes hold with a separator, None for classes.

    Several labels are evident with ";" or "|" if four of five labels also stand elsewhere, one of
    them alone in a cell; with a comma half of them must stand alone. Some of that is in doubt, and
    so is "/", "+" or "&". A class "a;b" whose parts stand nowhere else is a class.

    Parameters
    ----------
    texts : iterable of str

    Examples
    --------
    >>> recognized(["cat", "dog", "cat;dog"])
    Combined(separator=';', text='cat;dog', labels=['cat', 'dog'], is_evident=True)
    >>> recognized(["C", "Java", "C;C++"]).is_evident, recognized(["Smith, J.", "Doe, A."])
    (False, None)
    """
    distinct = list(dict.fromkeys(texts))
    in_doubt = None
    for separator in SEPARATORS:
        joined = [text for text in distinct if separator in text and not _LIST.fullmatch(text)]
        combined = _judged(separator, joined, distinct) if joined else None
        if combined is not None and combined.is_evident:
            return combined
        in_doubt = in_doubt or combined
    return in_doubt


def _judged(separator: str, joined: Sequence[str], distinct: Sequence[str]) -> Combined | None:
    """Return the labels that texts with a separator seem to hold, None where they are classes."""
    lists = [cell_labels(text.casefold(), separator) for text in joined]
    sets = {frozenset(labels) for labels in lists if len(labels) > 1}
    times = Counter(label for labels in sets for label in labels)
    if not times:
        return None
    classes = {text.casefold() for text in distinct}
    alone = {label for label in times if label in classes}
    elsewhere = {label for label, count in times.items() if count > 1 or label in alone}
    share_alone = len(alone) / len(times)
    share_elsewhere = len(elsewhere) / len(times)
    many = share_elsewhere >= MOST
    if separator in USUAL:
        is_evident = many and share_alone > 0
        in_doubt = share_alone > 0 or share_elsewhere >= HALF
    elif separator == COMMA and not all(map(_DECIMAL.fullmatch, joined)):
        later = {label for labels in lists for label in labels[1:]}
        moves = any(labels[0] in later for labels in lists if labels)
        is_evident = many and share_alone >= HALF
        in_doubt = share_elsewhere >= HALF and (share_alone > 0 or moves)
    else:  # "1,5" is a number and "A/B" a name, unless the parts are classes
        is_evident = False
        in_doubt = many and share_alone >= (1 if separator == COMMA else HALF)
    if not (is_evident or in_doubt):
        return None
    text = next(text for text in joined if len(set(cell_labels(text, separator))) > 1)
    return Combined(separator, text, cell_labels(text, separator), is_evident)


def cell_labels(text: str, separator: str) -> list[str]:
    """Return the labels of a cell.

    Examples
    --------
    >>> cell_labels("cat; dog", ";"), cell_labels("", ";")
    (['cat', 'dog'], [])
    """
    return [label for label in map(str.strip, text.split(separator)) if label]


def are_lists(texts: Iterable[str]) -> bool:
    """Return whether all texts are lists, as programs write them, and some have a quote or a comma.

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
    """Return the labels of a cell that is a list of JSON, Python, numpy or Label Studio.

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
