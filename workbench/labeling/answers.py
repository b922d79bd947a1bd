"""Answers of a label sheet as people write them: right or wrong in one of several spellings, or the true class."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import numbers
from workbench.data.classes import ENGLISH, VERDICTS, verdict_of, ways_of
from workbench.data.judged_items import WHICH
from workbench.data.safe_csv import original

ANSWERS = {
    "correct": "write 1 where the classifier was right and 0 where it was wrong",
    "truth": "write the true class of every item",
    "which": "write whose answer is right: A, B, both or neither",
}
OTHER = "other"
_MARK = re.compile(r"[x\u00d7\u2713\u2714\u2715\u2717\u2718*]", re.IGNORECASE)


def right_or_wrong(
    identifiers: Sequence[str], cells: Sequence[str], rows: Sequence[int]
) -> list[int | None]:
    """Return 1 for right, 0 for wrong and None for an empty cell; one sheet has one way to say it.

    Examples
    --------
    >>> right_or_wrong(["a", "b", "c"], ["Yes", "", "no"], [2, 3, 4])
    [1, None, 0]
    """
    verdicts = [verdict_of(cell) for cell in cells]
    filled = [row for row, cell in enumerate(cells) if cell]
    strange = next((row for row in filled if verdicts[row] is None), None)
    if strange is not None:
        _refuse_mark([cells[row] for row in filled])
        raise ValueError(
            f"column 'correct', row {rows[strange]} (id {identifiers[strange]!r}): "
            f"{cells[strange]!r} is not 1 or 0; write 1 (right) or 0 (wrong), or one of "
            f"{_listed(ENGLISH)} throughout, or these words in German, French or Spanish"
        )
    ways = [*VERDICTS]
    for row in filled:
        left = ways_of(cells[row], ways)
        if not left:
            both = ", ".join(f"row {rows[each]} has {cells[each]!r}" for each in (filled[0], row))
            raise ValueError(
                f"column 'correct' mixes two ways to answer: {both}; use one of "
                f"{_listed((ways[0], ways_of(cells[row])[0]))} throughout"
            )
        ways = left
    return verdicts


def read_verdict(text: str) -> int:
    """Return 1 for a word for right and 0 for one for wrong, or raise."""
    verdict = verdict_of(text)
    if verdict is None:
        raise ValueError(f"{text!r} is not 1 (right) or 0 (wrong)")
    return verdict


def read_which(text: str) -> str:
    """Return whose answer is right, one of `WHICH`, or raise.

    Examples
    --------
    >>> read_which("a"), read_which("Neither")
    ('A', 'neither')
    """
    meant = {name.casefold(): name for name in WHICH}.get(text.strip().casefold())
    if meant is None:
        raise ValueError(
            f"{text!r} does not say whose answer is right: write {checks.listed(WHICH, quoted=True)}"
        )
    return meant


def answer_reader(asks: str, *labels: np.ndarray | None) -> Callable[[str], Any]:
    """Return a function that reads a cell as the answer that a sheet asks for; raises where it is none."""
    readers: dict[str, Callable] = {"correct": read_verdict, "which": read_which}
    return readers.get(asks) or class_reader(*labels)


def class_reader(*labels: np.ndarray | None) -> Callable[[str], str]:
    """Return a function that reads a cell as the text of a predicted class, or as "other"; raises where it is none.

    Examples
    --------
    >>> read = class_reader(np.array(["cat", "dog"]), None)
    >>> read("cat"), read("other")
    ('cat', 'other')
    """
    texts, named = named_classes(*(array for array in labels if array is not None))

    def read(cell: str) -> str:
        label = named(original(cell)) if cell else None
        if label is None and cell != OTHER:
            raise ValueError(
                f"{cell!r} is not a predicted class{checks.suggestion(cell, texts)}; write "
                f"{checks.listed(texts, quoted=True)}, or {OTHER!r} for a class that is never predicted"
            )
        return label or OTHER

    return read


def class_texts(labels: np.ndarray) -> np.ndarray:
    """Return class labels (N,) as the texts by which sheets and settings name them; 1.0 is the class "1"."""
    array = np.asarray(labels)
    if array.dtype.kind not in "biuf":
        return np.array(numbers.as_text(array))
    values = np.unique(array)
    return np.array([text.removesuffix(".0") for text in numbers.as_text(values)])[
        np.searchsorted(values, array)
    ]


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
    return list(texts.values()), lambda name: texts.get(
        numbers.to_labels("class", np.array([name], object))[0].item()
    )


def _refuse_mark(filled: Sequence[str]) -> None:
    """Raise where one mark, such as x, is all that a sheet says: it may stand for right or for wrong."""
    if len({cell.lower() for cell in filled}) == 1 and _MARK.fullmatch(filled[0]):
        raise ValueError(
            f"column 'correct' holds only {filled[0]!r}, in {checks.counted(len(filled), 'row')}: does it "
            "mean right or wrong, and what does an empty cell mean? Write 1 (right) or 0 (wrong) in "
            "every row that was looked at"
        )


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    return checks.listed("/".join(pair) for pair in pairs)
