"""Answers of an annotation sheet as annotators write them: correct or incorrect, or a class."""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import listed
from workbench.data import numbers
from workbench.data.classes import ENGLISH, VERDICTS, verdict_of, ways_of
from workbench.data.judged_items import WHICH
from workbench.data.safe_csv import original

ANSWERS = {
    "correct": "write 1 if the prediction is correct and 0 if it is incorrect",
    "truth": "write the true class of every item",
    "which": "write whose answer is correct: A, B, both or neither",
}
OTHER = "other"
OFFERED = ("right", "wrong")  # answers that workbooks and labeling tools offer
_MARK = re.compile(r"[x\u00d7\u2713\u2714\u2715\u2717\u2718*]", re.IGNORECASE)


def right_or_wrong(
    identifiers: Sequence, cells: Sequence, rows: Sequence, *labels: ndarray | None
) -> list[int | None]:
    """Return 1 for correct, 0 for incorrect and None for an empty cell.

    A sheet must use one pair of words throughout. Words that are also predicted classes of `labels`
    are refused, because an annotator may have written the true class.

    Examples
    --------
    >>> right_or_wrong(["a", "b", "c"], ["Yes", "", "no"], [2, 3, 4])
    [1, None, 0]
    """
    verdicts = [verdict_of(cell) for cell in cells]
    filled = [k for k, cell in enumerate(cells) if cell]
    ways = list(VERDICTS)
    unclear = _words_and_classes(labels)
    for k in filled:
        where = f"column 'correct', row {rows[k]} (id {identifiers[k]!r})"
        if cells[k].lower() in unclear:
            raise ValueError(
                f"{where}: {_unclear(cells[k])}. If the cells hold true classes, name the column "
                "'truth'"
            )
        if verdicts[k] is None:
            _refuse_mark([cells[k] for k in filled])
            raise ValueError(
                f"{where}: {cells[k]!r} is not 1 or 0. Write 1 (correct) or 0 (incorrect), or use "
                f"one of {_listed(ENGLISH)} throughout. These words may also be in German, French "
                "or Spanish. If the cells hold true classes, name the column 'truth'"
            )
    for k in filled:
        possible = ways_of(cells[k], ways)
        if not possible:
            first = filled[0]
            cases = f"row {rows[first]} has {cells[first]!r}, row {rows[k]} has {cells[k]!r}"
            pairs = _listed((ways[0], ways_of(cells[k])[0]))
            raise ValueError(
                f"column 'correct' mixes two kinds of answers: {cases}. Use one of {pairs} "
                "throughout"
            )
        ways = possible
    return verdicts


def verdict_reader(*labels: ndarray | None) -> Callable[[str], int]:
    """Return a function that reads a word as 1 for correct or 0 for incorrect, or raises.

    Words that are also predicted classes of `labels` are refused.

    Examples
    --------
    >>> read = verdict_reader(np.array(["yes", "no"]))
    >>> read("1"), read("incorrect")
    (1, 0)
    >>> read("yes")     # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: 'yes' is also a predicted class, so ...
    """
    unclear = _words_and_classes(labels)

    def read(text: str) -> int:
        verdict = verdict_of(text)
        if text.lower() in unclear:
            raise ValueError(_unclear(text))
        if verdict is None:
            raise ValueError(f"{text!r} is not 1 (correct) or 0 (incorrect)")
        return verdict

    return read


def _words_and_classes(labels: Iterable[ndarray | None]) -> set[str]:
    """Return the words for correct and incorrect that are both predicted classes.

    The numbers 1 and 0 and the words that workbooks offer mean correct and incorrect in any case.
    """
    arrays = [class_texts(np.unique(array)) for array in labels if array is not None]
    classes = {text.lower() for text in itertools.chain.from_iterable(arrays)}
    words = [pair for pair in VERDICTS[1:] if pair != OFFERED and classes.issuperset(pair)]
    return set(itertools.chain.from_iterable(words))


def _unclear(text: str) -> str:
    return (
        f"{text!r} is also a predicted class, so it may be the true class, or say whether the "
        "prediction is correct. Write 1 (correct) or 0 (incorrect)"
    )


def read_which(text: str) -> str:
    """Return the value of `WHICH` that a text names, or raise.

    Examples
    --------
    >>> read_which("a"), read_which("Neither")
    ('A', 'neither')
    """
    for name in WHICH:
        if name.casefold() == text.strip().casefold():
            return name
    names = listed(WHICH, quoted=True)
    raise ValueError(f"{text!r} does not say whose answer is correct. Write {names}")


def answer_reader(asks: str, *labels: ndarray | None) -> Callable[[str], Any]:
    """Return a function that reads a cell as the answer that a sheet asks for, or raises."""
    if asks == "correct":
        return verdict_reader(*labels)
    return read_which if asks == "which" else class_reader(*labels)


def class_reader(*labels: ndarray | None) -> Callable[[str], str]:
    """Return a function that reads a cell as the text of a predicted class or "other", or raises.

    Examples
    --------
    >>> read = class_reader(np.array(["cat", "dog"]), None)
    >>> read("cat"), read("other")
    ('cat', 'other')
    """
    texts, class_of = named_classes(*(array for array in labels if array is not None))

    def read(cell: str) -> str:
        label = class_of(original(cell)) if cell else None
        if label is None and cell != OTHER:
            suggestion = checks.suggestion(cell, texts)
            classes = listed(texts, quoted=True)
            raise ValueError(
                f"{cell!r} is not a predicted class{suggestion}. Write {classes}, or {OTHER!r} for "
                "a class that is never predicted"
            )
        return label or OTHER

    return read


def class_texts(labels: ndarray) -> ndarray:
    """Return class labels (N,) as text, as sheets write them; 1.0 is the class "1"."""
    array = np.asarray(labels)
    if array.dtype.kind not in "biuf":
        return np.array(numbers.as_text(array))
    values, code = np.unique(array, return_inverse=True)
    texts = [text.removesuffix(".0") for text in numbers.as_text(values)]
    return np.array(texts)[code]


def named_classes(*labels: ndarray) -> tuple[list[str], Callable]:
    """Return the texts of all classes in arrays of labels, and a function from a name to its text.

    The function returns None for a name that is not a class.

    Examples
    --------
    >>> texts, class_of = named_classes(np.array([1, 0, 1]))
    >>> texts, class_of("1.0"), class_of("2")
    (['0', '1'], '1', None)
    """
    classes = np.unique(np.concatenate(labels))
    texts = dict(zip(classes.tolist(), class_texts(classes).tolist(), strict=True))
    if classes.dtype.kind == "U":
        return list(texts.values()), texts.get

    def class_of(name: str) -> str | None:
        (label,) = numbers.to_labels("class", np.array([name], object)).tolist()
        return texts.get(label)

    return list(texts.values()), class_of


def _refuse_mark(filled: Sequence[str]) -> None:
    """Raise if a sheet holds only one mark, such as x, with an unclear meaning."""
    if len({cell.lower() for cell in filled}) == 1 and _MARK.fullmatch(filled[0]):
        raise ValueError(
            f"column 'correct' holds only {filled[0]!r}, in {checks.counted(len(filled), 'row')}. "
            "It is not clear whether it means correct or incorrect, or what an empty cell means. "
            "Write 1 (correct) or 0 (incorrect) in every row that was checked"
        )


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    return listed("/".join(pair) for pair in pairs)
