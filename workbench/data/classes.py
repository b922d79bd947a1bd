"""Classes as they are written, and true and predicted ones held against each other."""

import difflib
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data import decimals, numbers
from workbench.results import Note

SHOWN_CLASSES = 5
READ_AS = ("auto", "text", "numbers")
ENGLISH = (
    ("yes", "no"),
    ("y", "n"),
    ("right", "wrong"),
    ("correct", "incorrect"),
    ("true", "false"),
)
# right before wrong: in English, German, French and Spanish
VERDICTS = (
    ("1", "0"),
    *ENGLISH,
    ("ja", "nein"),
    ("j", "n"),
    ("richtig", "falsch"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("o", "n"),
    ("juste", "faux"),
    ("vrai", "faux"),
    ("s\u00ed", "no"),
    ("si", "no"),
    ("s", "n"),
    ("correcto", "incorrecto"),
    ("verdadero", "falso"),
)
_ZERO_OR_ONE = re.compile(r"([01])(?:[.,]0*)?")
_UNLIKE = ", of the same look in other characters"
LEAST_ITEMS = 20  # of which more than half are different texts: no classes
CLOSE = 0.8  # of difflib's likeness: one letter in five
_UNSEEN = re.compile("[\\s\ufe00-\ufe0f\u200b-\u200d\u2060\ufeff]+")  # blanks, marks without width


def read_classes(
    columns: Mapping[str, np.ndarray], classes: str = "auto"
) -> tuple[dict[str, np.ndarray], list[Note]]:
    """Return columns of classes by their names, and what is to be said of their reading.

    Parameters
    ----------
    columns : dict of (N,) ndarray
        Numbers, booleans or text.
    classes : {"auto", "text", "numbers"}
        "auto": numbers where every cell of a column is a number that the column writes in one way. "text": a class is
        what is written, without outer blanks. "numbers": "01", "1" and "1.0" are one class, true and false 1 and 0.

    Raises
    ------
    ValueError
        For a missing cell and with "numbers" for text. With "auto" for a number that one column writes in two ways,
        for a class of one column that another writes with other capitals, accents or blanks only, and for a word such
        as "NULL" that only one column has.

    Examples
    --------
    >>> columns = {"truth": np.array(["1", "2"], object), "read": np.array(["01", "02"], object)}
    >>> labels, notes = read_classes(columns)
    >>> labels["read"].tolist(), str(notes[0])
    ([1, 2], "class 1 is written '1' in column 'truth', '01' in column 'read', class 2 likewise")
    """
    checks.choice("classes", classes, READ_AS)
    if classes == "text":
        labels = {name: numbers.text_labels(name, cells) for name, cells in columns.items()}
        return labels, [Note("data", "classes are read as text: '01' and '1' are two")]
    labels = {
        name: numbers.to_labels(name, cells, "refuse" if classes == "auto" else "numbers")
        for name, cells in columns.items()
    }
    for name, label in labels.items():
        if classes == "numbers" and label.dtype.kind == "U":
            row = next(
                (row for row, text in enumerate(label.tolist()) if decimals.mark_of(text) is None),
                0,
            )
            raise numbers.RowError(
                f"column {name!r}, ",
                row,
                f": {str(label[row])!r} is not a number, which classes 'numbers' asks for",
            )
    if classes == "auto":
        for first, second in itertools.permutations(labels, 2):
            _refuse_look_alikes(first, second, labels)
    return labels, [*_written_in_ways(columns, labels)]


def looks(text: str) -> str:
    r"""Return what a text has in common with those that look like it, whatever their capitals and blanks.

    Examples
    --------
    >>> looks("Caf\u00e9 ") == looks("cafe\u0301"), looks("A") == looks("B")
    (True, False)
    """
    return _uncased(text).casefold()


def _uncased(text: str) -> str:
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text))


def alike_notes(name: str, texts: ArrayLike) -> Iterator[Note]:
    """Yield a note where texts that are told apart differ by capitals, accents, blanks or a decimal point only.

    Another note names a text that programs write for a missing cell, such as "NA".

    Examples
    --------
    >>> print(*alike_notes("psu", ["7", "8", "7.0"]))
    column 'psu' has '7' and '7.0', which are two here
    >>> print(*alike_notes("psu", ["a", "NA", "NA"]))
    column 'psu' holds 'NA' 2 times, which is a name here like any other; empty the cells if they are missing
    """
    names = list(map(str, np.asarray(texts).tolist()))
    for text, times in Counter(names).items():
        if text.lower() in numbers.GONE:
            yield Note(
                "data",
                f"column {name!r} holds {text!r} {checks.counted(times, 'time')}, which is a name here "
                "like any other; empty the cells if they are missing",
            )
    first: dict = {}
    for text in dict.fromkeys(names):
        plain = looks(text)
        seen = first.setdefault(f"{float(plain):g}" if decimals.is_plain(plain) else plain, text)
        if seen != text:
            yield Note("data", f"column {name!r} has {seen!r} and {text!r}, which are two here")
            return


def _refuse_look_alikes(name: str, other: str, labels: Mapping[str, np.ndarray]) -> None:
    """Raise where a column has a class that the other one writes otherwise, or a word for a missing cell."""
    if {labels[each].dtype.kind for each in (name, other)} != {"U"}:
        return
    known = np.unique(labels[other])
    alike = {looks(text): text for text in known.tolist()}
    for text in np.setdiff1d(labels[name], known).tolist():
        meant = alike.get(looks(text))
        if meant is None and text.lower() not in numbers.GONE:
            continue
        row = int(np.flatnonzero(labels[name] == text)[0])
        said = (
            f"is {meant!r} in column {other!r}{_UNLIKE * (_uncased(text) == _uncased(meant))}: spell them alike, "
            "or say classes 'text' if they are two"
            if meant
            else f"never stands in column {other!r}: empty the cell if it is missing, or say classes 'text' if it is a class"
        )
        raise numbers.RowError(f"column {name!r}, ", row, f": {text!r} {said}")


def _written_in_ways(
    columns: Mapping[str, np.ndarray], labels: dict[str, np.ndarray]
) -> Iterator[Note]:
    """Yield a note where one number is written in several ways."""
    ways: dict = {}
    for name, label in labels.items():
        if label.dtype.kind != "U":
            cells, label = (
                map(np.unique, (columns[name], label))
                if columns[name].dtype.kind in "biuf"
                else (columns[name], label)
            )
            for text, value in {*zip(numbers.written(cells), label.tolist(), strict=True)}:
                ways.setdefault(value, {}).setdefault(text, name)
    several = sorted(value for value, texts in ways.items() if len(texts) > 1)
    for value in several[:1]:
        said = checks.listed([f"{text!r} in column {name!r}" for text, name in ways[value].items()])
        others = checks.listed(several[1:], SHOWN_CLASSES)
        yield Note(
            "data",
            f"class {value} is written {said}" + (f", class {others} likewise" if others else ""),
        )


def verdict_of(text: str) -> int | None:
    """Return 1 for a word for right, 0 for one for wrong, and None for any other text.

    Examples
    --------
    >>> verdict_of("Yes"), verdict_of("0.0"), verdict_of("falsch"), verdict_of("cat")
    (1, 0, 0, None)
    """
    ways = ways_of(text)
    return 1 - ways[0].index(_plain(text)) if ways else None


def ways_of(text: str, ways: Sequence[tuple[str, str]] = VERDICTS) -> list[tuple[str, str]]:
    """Return the ways of saying right and wrong that have a word."""
    return [pair for pair in ways if _plain(text) in pair]


def _plain(cell: str) -> str:
    number = _ZERO_OR_ONE.fullmatch(cell)
    return number[1] if number else cell.lower()


def class_notes(truth: ArrayLike, *predictions: ArrayLike) -> Iterator[Note]:
    r"""Yield a note on classes that only the truth or only the predictions know.

    Parameters
    ----------
    truth, *predictions : (n,) array_like
        Classes, all text or all numbers.

    Raises
    ------
    ValueError
        If the truth and the predictions, both text, share no class.

    Examples
    --------
    >>> print(*class_notes(["Spam", "ham", "ham"], ["spam", "ham", "ham"]), sep="\n")
    true class 'Spam' is never predicted (1 item); did you mean 'spam'?
    predicted class 'spam' is never true (1 item); did you mean 'Spam'?
    """
    columns = np.asarray(truth), np.concatenate([np.ravel(each) for each in predictions])
    true, predicted = map(np.unique, columns)
    if true.dtype.kind == "U" and not np.isin(true, predicted).any():
        raise ValueError(
            f"truth and prediction share no class: true are {checks.listed(true.tolist(), quoted=True)}, "
            f"predicted {checks.listed(predicted.tolist(), quoted=True)}; spell them alike"
        )
    yield from _one_sided(true, predicted, columns[0], "true", "predicted")
    yield from _one_sided(predicted, true, columns[1], "predicted", "true")


def model_notes(prediction: np.ndarray, rival: np.ndarray) -> Iterator[Note]:
    """Yield a note on classes that only one of two models predicts.

    Raises
    ------
    ValueError
        If they are free text, or share no class: these are then spelled in two ways.

    Examples
    --------
    >>> print(*model_notes(np.array(["a", "b", "b"]), np.array(["a", "B", "a"])))  # doctest: +NORMALIZE_WHITESPACE
    first model's class 'b' is never the second's (2 items); did you mean 'B'? second model's class 'B' is never the
    first's (1 item); did you mean 'b'?
    """
    first, second = np.unique(prediction), np.unique(rival)
    refuse_free_text(prediction, rival)
    if not np.isin(first, second).any():
        raise ValueError(
            "the two models share no class: the first predicts "
            f"{checks.listed(first.tolist(), quoted=True)}, the second "
            f"{checks.listed(second.tolist(), quoted=True)}; spell them alike"
        )
    yield from _one_sided(first, second, prediction, "first model's", "the second's")
    yield from _one_sided(second, first, rival, "second model's", "the first's")


def refuse_free_text(prediction: np.ndarray, rival: np.ndarray) -> None:
    """Raise where what two models answer is hardly ever the same text twice, so that it is no class.

    Examples
    --------
    >>> refuse_free_text(np.arange(40).astype(str), np.arange(40).astype(str))     # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the answers are free text, 40 different ones by a model for 40 items: ...
    """
    kinds, items = min(np.unique(answers).size for answers in (prediction, rival)), len(prediction)
    if (
        items >= LEAST_ITEMS
        and kinds > items / 2
        and np.asarray(prediction).dtype.kind not in "biuf"
    ):
        raise ValueError(
            f"the answers are free text, {kinds:,} different ones by a model for {items:,} items: two "
            "texts that differ may both be right, so it does not do to label items on which they differ; "
            "have people, or a judge, say of each answer whether it is right, and compare these scores "
            "item by item (compare_items)"
        )


def _closest(names: list[str], options: list[str]) -> list:
    """Return the options spelled almost like one of the names, whatever their case."""
    spelled = {option.strip().casefold(): option for option in options}
    close = [
        difflib.get_close_matches(name.strip().casefold(), spelled, 1, CLOSE) for name in names
    ]
    return list(dict.fromkeys(spelled[found[0]] for found in close if found))


def _one_sided(
    known: np.ndarray, others: np.ndarray, column: np.ndarray, is_kind: str, never: str
) -> Iterator[Note]:
    unseen = known[~np.isin(known, others)].tolist()
    if not unseen:
        return
    items = checks.counted(int(np.isin(column, unseen).sum()), "item")
    meant = (
        _closest(unseen, others.tolist()) if known.dtype.kind == others.dtype.kind == "U" else []
    )
    ask = f"; did you mean {checks.listed(meant, SHOWN_CLASSES, quoted=True)}?" if meant else ""
    shown = checks.listed(unseen, SHOWN_CLASSES, quoted=True)
    yield Note(
        "data",
        f"{is_kind} class {shown} is never {never} ({items}){ask}"
        if len(unseen) == 1
        else f"{len(unseen)} {is_kind} classes are never {never} ({items}): {shown}{ask}",
    )
