"""Answers of a label sheet as people write them: right or wrong in one of several spellings, or the true class."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench import checks
from workbench.data import numbers
from workbench.data.sheet_files import original

if TYPE_CHECKING:
    from workbench.data.scored_items import ScoredItems

ANSWERS = {"correct": "write 1 where the classifier was right and 0 where it was wrong",
           "truth": "write the true class of every item"}
OTHER = "other"
PAIRS = (("1", "0"), ("yes", "no"), ("y", "n"), ("right", "wrong"), ("correct", "incorrect"), ("true", "false"))
_SPELLED = {word: (pair, 1 - place) for pair in PAIRS for place, word in enumerate(pair)}
_ZERO_OR_ONE = re.compile(r"([01])(?:[.,]0*)?")
_MARK = re.compile(r"[x\u00d7\u2713\u2714\u2715\u2717\u2718*]", re.IGNORECASE)


def sheet_row(place: int) -> int:
    """Return the row that a spreadsheet shows for the data row at `place`, counted from 0: the header is row 1."""
    return place + 2


def right_or_wrong(identifiers: Sequence[str], cells: Sequence[str]) -> list[int | None]:
    """Return 1 for right, 0 for wrong and None for an empty cell; one sheet has one way to say it.

    Examples
    --------
    >>> right_or_wrong(["a", "b", "c"], ["Yes", "", "no"])
    [1, None, 0]
    """
    found = [_SPELLED.get(_plain(cell)) if cell else None for cell in cells]
    filled = [row for row, cell in enumerate(cells) if cell]
    strange = next((row for row in filled if found[row] is None), None)
    if strange is not None:
        _refuse_mark([cells[row] for row in filled])
        raise ValueError(f"column 'correct', row {sheet_row(strange)} (id {identifiers[strange]!r}): "
                         f"{cells[strange]!r} is not 1 or 0; write 1 (right) or 0 (wrong), or one of "
                         f"{_listed(PAIRS[1:])} throughout")
    other = next((row for row in filled if found[row][0] != found[filled[0]][0]), None)
    if other is not None:
        rows = ", ".join(f"row {sheet_row(row)} has {cells[row]!r}" for row in (filled[0], other))
        raise ValueError(f"column 'correct' mixes two ways to answer: {rows}; use one of "
                         f"{_listed(found[row][0] for row in (filled[0], other))} throughout")
    return [pair and pair[1] for pair in found]


def is_right_or_wrong(text: str) -> bool:
    """Return whether a text is one of the words for right or wrong.

    Examples
    --------
    >>> is_right_or_wrong("Yes"), is_right_or_wrong("cat")
    (True, False)
    """
    return bool(text) and _plain(text) in _SPELLED


def true_classes(items: ScoredItems) -> Callable:
    """Return a function that reads cells as the texts of predicted classes, or as "other"."""
    texts, named = named_classes(*(labels for labels in (items.prediction, items.rival) if labels is not None))

    def read(identifiers: Sequence[str], cells: Sequence[str]) -> list[str | None]:
        found = [named(original(cell)) or (OTHER if cell == OTHER else None) if cell else None for cell in cells]
        strange = next((row for row, cell in enumerate(cells) if cell and found[row] is None), None)
        if strange is not None:
            raise ValueError(
                f"column 'truth', row {sheet_row(strange)} (id {identifiers[strange]!r}): {cells[strange]!r} is not "
                f"a predicted class{checks.suggestion(cells[strange], texts)}; write "
                f"{checks.listed(texts, quoted=True)}, or {OTHER!r} for a class that is never predicted")
        return found
    return read


def class_texts(labels: np.ndarray) -> np.ndarray:
    """Return class labels (N,) as the texts by which sheets and settings name them; 1.0 is the class "1"."""
    texts, whole = numbers.as_text(labels), np.asarray(labels).dtype.kind == "f"
    return np.array([text.removesuffix(".0") for text in texts] if whole else texts)


def named_classes(*labels: np.ndarray) -> tuple[list[str], Callable]:
    """Return the texts of all classes in arrays of labels, and a function from a name to its class's text, or None.

    Examples
    --------
    >>> texts, named = named_classes(np.array([1, 0, 1]))
    >>> texts, named("1.0"), named("2")
    (['0', '1'], '1', None)
    """
    classes = np.unique(np.concatenate(labels))
    texts = dict(zip(classes.tolist(), class_texts(classes).tolist(), strict=True))
    if classes.dtype.kind == "U":
        return list(texts.values()), texts.get
    return list(texts.values()), lambda name: texts.get(numbers.to_labels("class", np.array([name], object))[0].item())


def _plain(cell):
    number = _ZERO_OR_ONE.fullmatch(cell)
    return number[1] if number else cell.lower()


def _refuse_mark(filled):
    """Raise where one mark, such as x, is all that a sheet says: it may stand for right or for wrong."""
    if len({cell.lower() for cell in filled}) == 1 and _MARK.fullmatch(filled[0]):
        raise ValueError(f"column 'correct' holds only {filled[0]!r}, in {checks.counted(len(filled), 'row')}: does it "
                         "mean right or wrong, and what does an empty cell mean? Write 1 (right) or 0 (wrong) in "
                         "every row that was looked at")


def _listed(pairs):
    return checks.listed("/".join(pair) for pair in pairs)
