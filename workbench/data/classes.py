"""Classes as written in files, and notes on true and predicted classes that differ.

`read_classes` reads columns of classes. `verdict_of` reads words for correct and incorrect.
`class_notes` and `model_notes` compare the classes of two columns.
"""

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data import decimals, numbers
from workbench.data.combined import recognized
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
# words for correct, then incorrect, in English, German, French and Spanish
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
LEAST_ITEMS = 20  # fewer items may have a different class each
_ZERO_OR_ONE = re.compile(r"([01])(?:[.,]0*)?")
# blanks and marks of zero width
_UNSEEN = re.compile("[\\s\ufe00-\ufe0f\u200b-\u200d\u2060\ufeff]+")


def read_classes(
    columns: Mapping[str, ndarray], classes: str = "auto"
) -> tuple[dict[str, ndarray], list[Note]]:
    """Return columns of classes by their names, and notes on how they were read.

    Parameters
    ----------
    columns : dict of (N,) ndarray
        Numbers, booleans or text.
    classes : {"auto", "text", "numbers"}
        "auto": classes are numbers if every cell of a column is a number, and the column writes
        each number in one way. "text": a class is the text of its cell, without outer blanks.
        "numbers": "01", "1" and "1.0" are one class, and true and false are 1 and 0.

    Raises
    ------
    ValueError
        If a cell is missing, or if classes is "numbers" and a cell is text. With "auto", the
        following are refused, too:

        - a number that one column writes in two ways,
        - a class that another column writes with other capitals, accents or blanks,
        - a word such as "NULL" that only one column contains,
        - a cell with several labels, such as "cat;dog" if "cat" and "dog" are also classes.

    Examples
    --------
    >>> columns = {"truth": np.array(["1", "2"], object), "read": np.array(["01", "02"], object)}
    >>> labels, notes = read_classes(columns)
    >>> labels["read"].tolist(), str(notes[0])
    ([1, 2], "class 1 is written '1' in column 'truth', '01' in column 'read'; class 2 likewise")
    """
    checks.choice("classes", classes, READ_AS)
    labels = {}
    for name, cells in columns.items():
        if classes == "text":
            labels[name] = numbers.text_labels(name, cells)
            continue
        two_ways = "refuse" if classes == "auto" else "numbers"
        labels[name] = numbers.to_labels(name, cells, two_ways)
        if classes == "numbers" and labels[name].dtype.kind == "U":
            numbers.to_numbers(name, cells)  # the error names the first text
    if classes == "text":
        text = "classes were read as text, so '01' and '1' are different classes"
        return labels, [Note("data", text)]
    notes = _written_in_ways(columns, labels)
    if classes == "auto":
        for first, second in itertools.permutations(labels, 2):
            refuse_look_alikes(first, second, labels)
        notes += _notes_on_combined(labels)
        notes += _notes_on_twins(labels)
    return labels, notes


def looks(text: str) -> str:
    r"""Return a text without the differences between look-alikes: capitals, blanks and forms.

    Examples
    --------
    >>> looks("Caf\u00e9 ") == looks("cafe\u0301"), looks("A") == looks("B")
    (True, False)
    """
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()


def alike_notes(name: str, texts: ArrayLike) -> Iterator[Note]:
    """Yield notes on texts that often mean a missing cell, and on the first two look-alikes.

    Examples
    --------
    >>> print(*alike_notes("psu", ["7", "8", "7.0"]))
    column 'psu' contains '7' and '7.0', which were read as different
    >>> print(*alike_notes("psu", ["a", "NA", "NA"]))
    column 'psu' contains the name 'NA' 2 times. If it means a missing cell, empty these cells
    """
    times = Counter(map(str, np.asarray(texts).tolist()))
    for text in times:
        if text.lower() in numbers.GONE:
            count = checks.counted(times[text], "time")
            advice = "If it means a missing cell, empty these cells"
            yield Note("data", f"column {name!r} contains the name {text!r} {count}. {advice}")
    first: dict = {}
    for text in times:
        look = looks(text)
        if decimals.is_plain(look):
            look = f"{float(look):g}"
        twin = first.setdefault(look, text)
        if twin != text:
            problem = f"contains {twin!r} and {text!r}, which were read as different"
            yield Note("data", f"column {name!r} {problem}")
            return


def refuse_look_alikes(name: str, other: str, labels: dict) -> None:
    """Raise if a class looks like a class of another column, or like a missing cell."""
    if labels[name].dtype.kind != "U" or labels[other].dtype.kind != "U":
        return
    classes = np.unique(labels[other])
    by_look = {looks(text): text for text in classes.tolist()}
    for text in np.setdiff1d(labels[name], classes).tolist():
        twin = by_look.get(looks(text))
        if twin is not None:
            problem = f"looks like {twin!r} in column {other!r}. Spell them alike"
            unless = "they are different classes"
        elif text.lower() in numbers.GONE:
            problem = f"never occurs in column {other!r}. Empty the cell if it is missing"
            unless = "it is a class"
        else:
            continue
        row = int(np.argmax(labels[name] == text))
        advice = f": {text!r} {problem}, or use classes 'text' if {unless}"
        raise numbers.RowError(f"column {name!r}, ", row, advice)


def _notes_on_combined(labels: Mapping[str, ndarray]) -> list[Note]:
    """Return a note on a class that may be several labels, or raise if it evidently is."""
    of_text = {name: label for name, label in labels.items() if label.dtype.kind == "U"}
    texts = itertools.chain.from_iterable(
        dict.fromkeys(column.tolist()) for column in of_text.values()
    )
    combined = recognized(texts)
    if combined is None:
        return []
    names = checks.listed(combined.labels, SHOWN_CLASSES, quoted=True)
    several = (
        "for metrics of items with several labels, use workbench report brr-orthogonal-arrays "
        f"with separator {combined.separator!r}"
    )
    if not combined.is_evident:
        text = f"{combined.text!r} was read as one class. If it means several labels ({names}), "
        return [Note("assumption", text + several)]
    for name, label in of_text.items():
        if combined.text in label:
            row = int(np.argmax(label == combined.text))
            advice = f"If it is a class of its own, use classes 'text'; {several}"
            problem = f"seems to contain several labels ({names}), which are also classes"
            raise numbers.RowError(
                f"column {name!r}, ", row, f": {combined.text!r} {problem}. {advice}"
            )
    return []


def _notes_on_twins(labels: Mapping[str, ndarray]) -> list[Note]:
    """Return a note on the first two classes that differ in capitals or blanks only."""
    texts = [np.unique(label).tolist() for label in labels.values() if label.dtype.kind == "U"]
    first: dict[str, str] = {}
    for text in itertools.chain.from_iterable(texts):
        twin = first.setdefault(looks(text), text)
        if twin != text:
            problem = f"{twin!r} and {text!r} were read as two classes"
            return [Note("assumption", f"{problem}. If they are one class, spell them alike")]
    return []


def _written_in_ways(columns: Mapping, labels: Mapping) -> list[Note]:
    """Return a note if a number is written in several ways."""
    ways: dict[float, dict] = {}
    for name, label in labels.items():
        cells = columns[name]
        if label.dtype.kind == "U":
            continue
        if cells.dtype.kind in "biuf":
            cells = np.unique(cells)
            label = np.unique(label)
        for text, value in dict.fromkeys(zip(numbers.written(cells), label.tolist(), strict=True)):
            ways.setdefault(value, {}).setdefault(text, name)
    several = sorted(value for value, texts in ways.items() if len(texts) > 1)
    if not several:
        return []
    first, *rest = several
    spellings = [f"{text!r} in column {name!r}" for text, name in ways[first].items()]
    text = f"class {first} is written {checks.listed(spellings)}"
    if rest:
        text += f"; class {checks.listed(rest, SHOWN_CLASSES)} likewise"
    return [Note("data", text)]


def usual_spellings(texts: Iterable[str]) -> tuple[dict[str, str], list[Note]]:
    """Return the most frequent spelling of each text, and notes on the others.

    Spellings of one class differ in capitals and blanks only.

    Parameters
    ----------
    texts : iterable of str
        Texts to compare.

    Examples
    --------
    >>> spellings, notes = usual_spellings(["pass", "Pass", "pass", "fail"])
    >>> spellings["Pass"], spellings["fail"], str(notes[0])
    ('pass', 'fail', "'Pass' in 1 cell is read as 'pass'")
    """
    usual: dict[str, str] = {}
    spellings = {}
    notes = []
    for text, count in Counter(texts).most_common():
        spellings[text] = usual.setdefault(looks(text), text)
        if spellings[text] != text:
            cells = checks.counted(count, "cell")
            notes.append(Note("data", f"{text!r} in {cells} is read as {spellings[text]!r}"))
    return spellings, notes


def verdict_of(text: str) -> int | None:
    """Return 1 for a word for correct, 0 for a word for incorrect, and None for other texts.

    Examples
    --------
    >>> verdict_of("Yes"), verdict_of("0.0"), verdict_of("falsch"), verdict_of("cat")
    (1, 0, 0, None)
    """
    ways = ways_of(text)
    return 1 - ways[0].index(_plain(text)) if ways else None


def ways_of(text: str, ways: Sequence[tuple[str, str]] = VERDICTS) -> list[tuple[str, str]]:
    """Return the pairs of words for correct and incorrect that contain a word."""
    return [pair for pair in ways if _plain(text) in pair]


def _plain(cell: str) -> str:
    number = _ZERO_OR_ONE.fullmatch(cell)
    return number[1] if number else cell.lower()


def class_notes(truth: ArrayLike, *predictions: ArrayLike) -> Iterator[Note]:
    r"""Yield a note on classes that only the truth or only the predictions contain.

    Parameters
    ----------
    truth, *predictions : (n,) array_like
        Classes, all text or all numbers.

    Raises
    ------
    ValueError
        If the truth and the predictions are text and have no class in common.

    Examples
    --------
    >>> print(*class_notes(["Spam", "ham", "ham"], ["spam", "ham", "ham"]), sep="\n")
    true class 'Spam' is never predicted (1 item) (did you mean 'spam'?)
    predicted class 'spam' is never true (1 item) (did you mean 'Spam'?)
    """
    true = np.asarray(truth)
    if true.dtype.kind == "f" and (true % 1).any():
        return  # these are measurements, not classes
    predicted = np.concatenate(list(map(np.ravel, predictions)))
    true_classes = np.unique(true)
    predicted_classes = np.unique(predicted)
    if true_classes.dtype.kind == "U":
        _refuse_disjoint("truth and prediction", true_classes, predicted_classes)
    yield from _one_sided(true, true_classes, predicted_classes, "true", "predicted")
    yield from _one_sided(predicted, predicted_classes, true_classes, "predicted", "true")


def model_notes(prediction: ndarray, rival: ndarray) -> Iterator[Note]:
    """Yield a note on classes that only one of two models predicts.

    Raises
    ------
    ValueError
        If the answers are free text, or if the models have no class in common.

    Examples
    --------
    >>> for note in model_notes(np.array(["a", "b", "b"]), np.array(["a", "B", "a"])):
    ...     print(note)
    first model's class 'b' is never predicted by the second model (2 items)
    second model's class 'B' is never predicted by the first model (1 item)
    """
    refuse_free_text(prediction, rival)
    first = np.unique(prediction)
    second = np.unique(rival)
    _refuse_disjoint("the two models", first, second)
    by_first = "predicted by the first model"
    by_second = "predicted by the second model"
    yield from _one_sided(prediction, first, second, "first model's", by_second)
    yield from _one_sided(rival, second, first, "second model's", by_first)


def _refuse_disjoint(title: str, first: ndarray, second: ndarray) -> None:
    if not np.isin(first, second).any():
        lists = [checks.listed(classes.tolist(), quoted=True) for classes in (first, second)]
        raise ValueError(
            f"{title} have no class in common: {' against '.join(lists)}. Check the names of the "
            "columns, or use the same spelling in both"
        )


def _one_sided(
    column: ndarray,
    classes: ndarray,
    other_classes: ndarray,
    side: str,
    never: str,
) -> Iterator[Note]:
    """Yield a note on the classes that only one of two columns contains."""
    unseen = np.setdiff1d(classes, other_classes, assume_unique=True).tolist()
    if not unseen:
        return
    items = checks.counted(np.isin(column, unseen).sum(), "item")
    hint = ""
    if classes.dtype.kind == other_classes.dtype.kind == "U":
        hint = checks.suggestion(unseen[0], other_classes.tolist())
    names = checks.listed(unseen, SHOWN_CLASSES, quoted=True)
    if len(unseen) == 1:
        text = f"{side} class {names} is never {never} ({items})"
    else:
        text = f"{len(unseen)} {side} classes are never {never} ({items}): {names}"
    yield Note("data", text + hint)


def refuse_free_text(prediction: ndarray, rival: ndarray) -> None:
    """Raise if more than half of two models' answers are different texts, so not classes.

    Examples
    --------
    >>> refuse_free_text(np.arange(40).astype(str), np.arange(40).astype(str))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the answers are free text: each model gives at least 40 different ones...
    """
    if prediction.dtype.kind in "biuf":
        return
    items = len(prediction)
    different = min(np.unique(answers).size for answers in (prediction, rival))
    if items >= LEAST_ITEMS and different > items / 2:
        raise ValueError(
            f"the answers are free text: each model gives at least {different:,} different ones "
            f"for {items:,} items. Two different texts may both be correct, so labels of items "
            "with different answers do not show which model is better. Let annotators or a judge "
            "decide for each answer whether it is correct, and compare these scores item by item "
            "(compare_items)"
        )
