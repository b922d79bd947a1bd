"""The items that the lessons' scenes show: the digit forms, or a file of the lecturer.

`use_items` comes first: it reads a file with named columns and shows it in the scenes.
`LessonItems` has those attributes of `DigitForms` that can be made from the file. The scenes ask
`lesson_forms` for their data.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from workbench import checks
from workbench.course.digit_forms import digit_forms
from workbench.data import frames
from workbench.data.numbers import RowError, as_text, to_numbers
from workbench.data.scored_items import ScoredItems, read_scores
from workbench.replication.labeled import load_labeled
from workbench.replication.metrics import LabeledItems

Function = TypeVar("Function", bound=Callable)

# attribute of the digit forms -> the column of a file from which it is made
COLUMNS = {
    "digit": "truth",
    "read_a": "prediction",
    "confidence": "score",
    "vote_share": "score",
    "margin": "margin",
    "read_b": "second",
    "box": "cluster",
    "period": "period",
    "features": "features",
}
NAMED = ("truth", "prediction", "score", "margin", "second", "cluster", "period")
ONLY_DIGITS = ("image", "place", "register", "register_errors")
FEATURE = "x_"  # how the names of feature columns begin
_current: list["LessonItems"] = []
_caches: list[Any] = []


class LessonItems:
    """The items of a file, with the attributes of `DigitForms` that its columns hold.

    Attributes
    ----------
    digit, read_a : (N,) ndarray
        The true and the predicted class, from the columns `truth` and `prediction`.
    confidence, margin : (N,) ndarray of float
        From the columns `score` and `margin`.
    read_b : (N,) ndarray
        What a second model predicts, from the column `second`.
    box : (N,) ndarray of int
        Number of the cluster, 1 to C in the order of the file, from the column `cluster`.
    period : (N,) ndarray of int
        Number of the period, 1 to T in the order of the file, from the column `period`.
    features : (N, p) ndarray of float
        From the columns whose names begin with `x_`.
    positive : object
        The class of precision, recall and counts.
    """

    holds_items = True

    def __init__(self, path: Any, positive: Any = "") -> None:
        self.name = Path(path).name if isinstance(path, (str, os.PathLike)) else "the table"
        self._path, self._header = path, frames.column_names(path)
        names = {name: name.strip().casefold() for name in self._header}
        self._columns = [column for column in NAMED if column in names.values()]
        self._features = [name for name in names if names[name].startswith(FEATURE)]
        self.require(("truth", "prediction"))
        cells, _ = frames.read_columns(path, [*self._columns, *self._features])
        for name, column in cells.items():
            texts = as_text(column)
            if "" in texts:
                raise RowError(
                    f"{self.name}: column {name!r} is empty in ",
                    texts.index(""),
                    ". Every row needs a value in this column.",
                )
        self._cluster = "cluster" if "cluster" in cells else ""
        labeled = load_labeled(path, stratum="", psu=self._cluster)
        self.digit, self.read_a = np.asarray(labeled.truth), np.asarray(labeled.prediction)
        self.positive = self._class(positive)
        if "score" in cells:
            columns = {"score": "score", "prediction": "prediction", "truth": "truth"}
            scored = read_scores(path, **columns, score_is="confidence")
            self.confidence = self.vote_share = np.asarray(scored.score)
        if "margin" in cells:
            self.margin = to_numbers("margin", cells["margin"])
        if "second" in cells:
            second = load_labeled(path, stratum="", prediction="second")
            self.read_b = np.asarray(second.prediction)
        if "cluster" in cells:
            self.box = _numbered(cells["cluster"])
        if "period" in cells:
            self.period = _numbered(cells["period"])
        if self._features:
            numbers = [to_numbers(name, cells[name]) for name in self._features]
            self.features = np.stack(numbers, 1)

    def require(self, columns: Iterable[str]) -> None:
        """Raise an error if one of the columns is missing."""
        missing = [column for column in columns if column not in (*self._columns, "features")]
        if missing:
            raise ValueError(
                f"{self.name} has no column {checks.listed(missing, quoted=True)}. "
                f"Its columns: {', '.join(self._header)}."
            )
        if "features" in columns and len(self._features) < 2:
            raise ValueError(
                f"{self.name} needs at least 2 columns of numbers whose names begin with "
                f"{FEATURE!r}, such as {FEATURE}age. Its columns: {', '.join(self._header)}."
            )

    def _class(self, positive: Any) -> Any:
        """Return the positive class: the requested one, class 1, or the rarest."""
        unique, counts = np.unique(self.digit, return_counts=True)
        classes = {str(label): label for label in unique.tolist()}
        if positive in ("", None):
            positive = "1" if "1" in classes else list(classes)[counts.argmin()]
        checks.choice("positive", str(positive), list(classes))
        return classes[str(positive)]

    def __getattr__(self, name: str) -> Any:
        """Raise an error that names the column from which an attribute would be made."""
        if name in COLUMNS:
            column = f"{FEATURE}..." if name == "features" else COLUMNS[name]
            raise AttributeError(f"{self.name} has no column {column!r}, which `{name}` needs.")
        if name in ONLY_DIGITS:
            raise AttributeError(f"`{name}` exists for the digit forms only, not for {self.name}.")
        raise AttributeError(name)

    def items(self, reader: str = "a") -> ScoredItems:
        """Return the scored items of the model, or of the second one.

        Parameters
        ----------
        reader : {"a", "b"}
        """
        read = self.read_a if checks.choice("reader", reader, ("a", "b")) == "a" else self.read_b
        numbers = np.arange(1, self.digit.size + 1)
        return ScoredItems(numbers, self.confidence, read, self.digit, read == self.digit)

    def labeled(self, positive: Any = "") -> LabeledItems:
        """Return the items, all labeled, as clusters of one stratum.

        Parameters
        ----------
        positive : object
            The class of precision, recall and F1, by default that of `use_items`.
        """
        chosen = str(self.positive if positive == "" else positive)
        return load_labeled(self._path, stratum="", psu=self._cluster, positive=chosen)

    def __repr__(self) -> str:
        accuracy = float(np.mean(self.read_a == self.digit))
        items = checks.counted(self.digit.size, "item")
        return f"LessonItems({self.name}: {items}, accuracy {accuracy:.4f})"


def _numbered(cells: np.ndarray) -> np.ndarray:
    """Return the cells of a column as numbers, 1 for the first value of the file."""
    _, first, number = np.unique(cells.astype(str), return_index=True, return_inverse=True)
    return first.argsort().argsort()[number] + 1


@frames.in_rows_of("path")
def use_items(path: Any, *, needs: Iterable[str] = (), positive: Any = "") -> Any:
    """Show a file in the scenes of the lessons, or the digit forms again.

    Parameters
    ----------
    path : str, path, data frame or None
        A file with a header. Each row is an item with its `truth` and `prediction`. None shows the
        digit forms.
    needs : iterable of str
        Other columns that the file must have. "features" are columns whose names begin with `x_`.
    positive : object
        The class of counts and F1, by default class 1, or the rarest.

    Returns
    -------
    LessonItems or DigitForms

    Raises
    ------
    ValueError
        If a column is missing or holds wrong values.

    Examples
    --------
    >>> table = {"truth": ["spam", "ham"] * 10, "prediction": ["spam"] * 20}
    >>> items = use_items(table, positive="spam")
    >>> items, items.positive
    (LessonItems(the table: 20 items, accuracy 0.5000), 'spam')
    >>> use_items(None)
    DigitForms(1,797 forms in 14 boxes, mean confidence of reader A 0.9706)
    """
    if path is None:
        _current.clear()
    else:
        items = LessonItems(path, positive)
        items.require(list(needs))
        _current[:] = [items]
    for function in _caches:
        function.cache_clear()
    return lesson_forms()


def check_size(least: int, lesson: int) -> None:
    """Raise an error, and show the digit forms, if a lesson needs more items."""
    forms = lesson_forms()
    size = forms.digit.size
    if size < least:
        use_items(None)
        raise ValueError(
            f"Lesson {lesson} needs at least {least:,} rows; {forms.name} has {size:,}."
        )


def check_predictions(lesson: int) -> None:
    """Raise an error, and show the digit forms, without correct and incorrect predictions.

    At least two classes must be predicted.
    """
    forms = lesson_forms()
    n_classes = np.unique(forms.read_a).size
    accuracy = float(np.mean(forms.read_a == forms.digit))
    if n_classes > 1 and 0 < accuracy < 1:
        return
    use_items(None)
    classes = checks.counted(n_classes, "predicted class", "predicted classes")
    raise ValueError(
        f"Lesson {lesson} needs correct and incorrect predictions of at least 2 classes; "
        f"{forms.name} has {classes} and an accuracy of {accuracy:.0%}."
    )


def lesson_forms() -> Any:
    """Return the items that the scenes show: `DigitForms` or `LessonItems`."""
    return _current[0] if _current else digit_forms()


def are_digits() -> bool:
    """Return whether the scenes show the digit forms."""
    return not _current


def cached(function: Function) -> Function:
    """Return a function that remembers its results until the scenes show other items."""
    _caches.append(functools.lru_cache(maxsize=64)(function))
    return _caches[-1]


def about_digits(scene: Function) -> Function:
    """Return a scene that prints that it shows the digit forms, although others show a file."""
    return about_digits_without("")(scene)


def about_digits_without(attribute: str) -> Callable[[Function], Function]:
    """Return the same decorator for a scene that shows files with a given attribute."""

    def decorate(scene: Function) -> Function:
        @functools.wraps(scene)
        def noted(*args: Any, **ranges: Any) -> Any:
            if _current and not (attribute and hasattr(_current[0], attribute)):
                file = _current[0].name
                print(f"This scene is about the digit forms of the course, not about {file}.")
            return scene(*args, **ranges)

        return noted  # type: ignore[return-value]

    return decorate


def comments(texts: Any) -> Any:
    """Return the comments on a prediction; none if the scenes show other data."""
    return texts if are_digits() else {}


def only_for_digits(*parts: Any) -> list:
    """Return the parts of a scene that quote figures of the digit forms; none for other items."""
    return list(parts) if are_digits() else []


def named(text: str) -> str:
    """Return a text about the digit forms, with the words for the items of the scenes.

    Examples
    --------
    >>> named("900 forms in 14 boxes")
    '900 forms in 14 boxes'
    """
    if not _current:
        return text
    positive = str(_current[0].positive)
    terms = {
        "with panels": f"of class {positive}",
        "panels": f"class {positive}",
        "forms": "items",
        "form": "item",
        "Forms": "Items",
        "boxes": "clusters",
        "Boxes": "Clusters",
        "box": "cluster",
        "district": "pair",
        "reader": "model",
        "month": "period",
        "Month": "Period",
        "months": "periods",
    }
    pattern = rf"\b({'|'.join(terms)})\b"
    return re.sub(pattern, lambda match: terms[match[0]], text)
