"""Items with several labels, from cells such as "cat;dog" or from one column of 0 and 1 per label.

- `label_columns` returns the columns that match patterns such as "true_*".
- `read_label_sets` reads the true and predicted labels of every item.
- `refuse_metric` raises if a metric does not suit such items.
"""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue
from workbench.data import numbers, shapes
from workbench.data.classes import class_notes, read_classes, verdict_of
from workbench.data.combined import are_lists, cell_labels, list_labels, recognized
from workbench.data.numbers import MissingError, RowError
from workbench.results import Note

SHOWN_LABELS = 8
OF_ONE_LABEL = ("precision", "recall", "f1", "auc", "brier", "log_loss", "proportion")
ABOUT_LABELS = (
    Note(
        "remark",
        "exact match is the proportion of items whose predicted labels are exactly the true ones; "
        "scikit-learn calls it accuracy, other tools call it subset accuracy",
    ),
    Note(
        "remark",
        "micro F1, precision and recall count every pair of an item and a label. Macro F1 is the "
        "mean over labels. The intervals treat items as the sampled units, not pairs",
    ),
)


class LabelSets(NamedTuple):
    """Labels of items: the L labels, the true and the predicted labels (n, L), and notes."""

    labels: tuple
    true: ndarray
    predicted: ndarray | None
    notes: list[Note]

    def numbered(self, names: Sequence[str]) -> dict[str, ndarray]:
        """Return the sets as whole numbers, by the names of the true and the predicted column."""
        sets = [self.true] if self.predicted is None else [self.true, self.predicted]
        code = np.unique(np.concatenate(sets), axis=0, return_inverse=True)[1]
        return dict(zip(names, np.array_split(code.ravel(), len(sets)), strict=False))

    def fields(self, rows: ndarray) -> dict:
        """Return the fields of `LabeledItems` for some of the items."""
        true = self.true[rows]
        fields: dict = {"labels": self.labels, "true_labels": true}
        fields["truth"] = set_texts(self.labels, true)
        if self.predicted is not None:
            fields["predicted_labels"] = self.predicted[rows]
            fields["prediction"] = set_texts(self.labels, fields["predicted_labels"])
        return fields


def set_texts(labels: Sequence, sets: ndarray) -> ndarray:
    """Return sets of labels (n, L) as texts.

    Examples
    --------
    >>> set_texts(["cat", "dog"], np.array([[True, True], [False, False]])).tolist()
    ["['cat', 'dog']", '[]']
    """
    distinct, code = np.unique(sets, axis=0, return_inverse=True)
    texts = [str([labels[k] for k in np.flatnonzero(row).tolist()]) for row in distinct]
    return np.array(texts)[code.ravel()]


def label_columns(names: Sequence[str], truth: str, prediction: str) -> dict[str, dict[str, str]]:
    """Return the labels of each column, for truth and prediction; {} if these name columns.

    If the prediction is "", only the labels of the truth are returned.

    Examples
    --------
    >>> label_columns(["id", "y_a", "y_b", "y_hat_a", "y_hat_b"], "y_*", "y_hat_*")
    {'truth': {'y_a': 'a', 'y_b': 'b'}, 'prediction': {'y_hat_a': 'a', 'y_hat_b': 'b'}}
    """
    patterns = {"truth": truth, "prediction": prediction} if prediction else {"truth": truth}
    if not any("*" in name and name not in names for name in patterns.values()):
        return {}
    columns: dict[str, dict[str, str]] = {}
    free = list(names)
    # the longer pattern first: "y_*" also matches "y_hat_a"
    for role in sorted(patterns, key=lambda role: -len(patterns[role])):
        columns[role] = shapes.class_columns(free, patterns[role], role)
        free = [name for name in free if name not in columns[role]]
    true, *predicted = (set(columns[role].values()) for role in patterns)
    single = sorted(true.symmetric_difference(*predicted)) if predicted else []
    if single:
        rule = f"must have the labels of {{0}}; only one of the two has a column for {single[0]!r}"
        raise WrongValue("prediction", rule, prediction, others=("truth",))
    return {role: columns[role] for role in patterns}


def patterns_of(data: Mapping[str, ndarray], truth: str, prediction: str) -> dict[str, str]:
    """Return the patterns, by role, that match two columns of one label; {} if there are none.

    Parameters
    ----------
    data : dict of (n,) ndarray
    truth, prediction : str
        Columns whose names end with the same label and differ otherwise.

    Examples
    --------
    >>> names = ["id", "y_cat", "y_dog", "p_cat", "p_dog"]
    >>> patterns_of({name: np.array([0, 1]) for name in names}, "y_cat", "p_cat")
    {'truth': 'y_*', 'prediction': 'p_*'}
    """
    ending = os.path.commonprefix([truth[::-1], prediction[::-1]])[::-1].lstrip("_-. ")
    if not ending or ending in (truth, prediction):
        return {}
    columns = {"truth": truth, "prediction": prediction}
    patterns = {role: f"{name.removesuffix(ending)}*" for role, name in columns.items()}
    try:
        _of_columns(data, label_columns([*data], **patterns))
    except ValueError:
        return {}
    return patterns


def read_label_sets(
    data: Mapping[str, ndarray],
    truth: str,
    prediction: str,
    of_labels: Mapping[str, Mapping[str, str]],
    separator: str,
    classes: str,
    *,
    candidates: str,
    models: Sequence[str],
) -> LabelSets | None:
    """Return the labels of items, or None if each item has one class.

    Parameters
    ----------
    data : dict of (n,) ndarray
    truth, prediction : str
        Names of columns; "" for no prediction.
    of_labels : dict
        Result of `label_columns`.
    separator : str
        As in `workbench.load_labeled`.
    classes : {"auto", "text", "numbers"}
        Without a separator, a value other than "auto" states that every cell is one class.
    candidates : str
        As in `workbench.load_labeled`; "" if there are none.
    models : sequence of str
        Columns of predictions or scores of several models, which are for items of one class.

    Raises
    ------
    ValueError
        If it is unclear whether cells hold several labels, or whether an item has none. Also if a
        label is written in two ways, or a cell of a label's column is neither 0 nor 1.
    """
    if separator:
        checks.not_both(separator=separator, candidates=candidates)
    if separator and models:
        raise WrongValue("prediction", "must name one model where items have several labels")
    if of_labels:
        checks.not_both(truth=truth, separator=separator)
        return _of_columns(data, of_labels)
    if candidates or models or (classes != "auto" and not separator):
        return None
    names = [name for name in (truth, prediction) if name]
    if not separator and all(data[name].dtype.kind in "biuf" for name in names):
        return None
    texts = {name: numbers.as_text(data[name]) for name in names}
    between = separator or _recognized(texts, bool(prediction))
    if not between:
        return None
    if not any(texts[truth]):
        raise WrongValue("truth", f"must have a label in some rows; column {truth!r} has none")
    notes = []
    for name, cells in texts.items():
        if "" in cells:
            notes.append(_gap_note(name, cells, between, is_named=bool(separator)))
    sets = _of_cells(texts, between, classes)
    return sets._replace(notes=[*sets.notes, *notes])


def _recognized(texts: Mapping[str, Sequence[str]], has_prediction: bool) -> str:
    """Return the separator of labels in cells: a comma for lists, "" for classes.

    Raise if it is unclear. Without a prediction, a comma is read as part of numbers, such as "1,5".
    """
    in_lists = [*map(are_lists, texts.values())]
    if any(in_lists):
        if not all(in_lists):
            raise WrongValue("separator", "must be named if only one of two columns holds lists")
        return ","
    seen = recognized(filter(None, chain.from_iterable(map(dict.fromkeys, texts.values()))))
    if seen is None or not (has_prediction or seen.separator in ";|\n"):
        return ""
    if not seen.is_evident:
        listed = checks.listed(seen.labels, SHOWN_LABELS, quoted=True)
        rule = (
            f"must be {seen.separator!r} if {seen.text!r} means several labels, {listed}; if it is "
            "one class, use {0} 'text'"
        )
        raise WrongValue("separator", rule, others=("classes",))
    return seen.separator


def _gap_note(name: str, cells: Sequence[str], between: str, *, is_named: bool) -> Note:
    """Return a note on items without a label, or raise unless the separator was named."""
    count = checks.counted(cells.count(""), "row")
    if is_named:
        text = f"column {name!r} is empty in {count}: these items have no label there"
        return Note("assumption", text)
    remedy = (
        f": use separator {between!r} if these items have no label; otherwise delete these rows "
        "from the file"
    )
    first = cells.index("")
    raise MissingError(f"column {name!r} is empty in {count}, first in ", first, remedy)


def _of_cells(texts: Mapping[str, Sequence[str]], between: str, classes: str) -> LabelSets:
    """Return the labels of items from cells that are lists or have separators between labels."""
    rows: dict[str, ndarray] = {}
    written: dict[str, ndarray] = {}
    for name, cells in texts.items():
        in_cell = list_labels if are_lists(cells) else partial(cell_labels, separator=between)
        lists = [in_cell(text) for text in cells]
        if any(lists):
            rows[name] = np.repeat(np.arange(len(cells)), [*map(len, lists)])
            written[name] = numbers.objects([*chain.from_iterable(lists)])
    try:
        labels, notes = read_classes(written, classes)
    except RowError as error:  # it counts labels, not rows of the file
        problem = error.said(lambda _: "a cell")
        raise ValueError(f"{problem}; {between!r} was read as the separator of labels") from None
    if len({column.dtype.kind == "U" for column in labels.values()}) > 1:
        labels = {name: column.astype(str) for name, column in written.items()}
    names = np.unique(np.concatenate([*labels.values()]))
    sets = {name: np.zeros((len(cells), names.size), bool) for name, cells in texts.items()}
    for name, column in labels.items():
        sets[name][rows[name], np.searchsorted(names, column)] = True
    if len(labels) == 2:
        notes += class_notes(*labels.values())
    cells = [text for column in texts.values() for text in column if text]
    example = next((text for text in cells if between in text), cells[0])
    listed = checks.listed(names.tolist(), SHOWN_LABELS, quoted=True)
    text = f"cells such as {example!r} were read as several labels, separated by {between!r}"
    true, *predicted = sets.values()
    note = Note("data", f"{text}: {listed}")
    return LabelSets(tuple(names.tolist()), true, next(iter(predicted), None), [note, *notes])


def _of_columns(data: Mapping[str, ndarray], of_labels: Mapping) -> LabelSets:
    """Return the labels of items from one column per label."""
    labels = tuple(of_labels["truth"].values())
    sets = []
    for columns in of_labels.values():
        column_of = {label: name for name, label in columns.items()}
        cells = [_zero_one(column_of[label], data[column_of[label]]) for label in labels]
        sets.append(np.column_stack(cells))
    listed = checks.listed(labels, SHOWN_LABELS, quoted=True)
    note = Note("data", f"items have several labels, with one column of 0 and 1 for each: {listed}")
    true, *predicted = sets
    return LabelSets(labels, true, next(iter(predicted), None), [note])


def _zero_one(name: str, cells: ndarray) -> ndarray:
    """Return whether cells of 0 and 1, or of words such as "no" and "yes", are 1."""
    texts = numbers.as_text(cells)
    values = {text: verdict_of(text) for text in dict.fromkeys(texts)}
    for text, value in values.items():
        if value is None:
            cell = repr(text) if text else "an empty cell"
            problem = (
                f": {cell} is neither 0 nor 1: write 1 if an item has the label and 0 if not, and "
                "delete rows of totals and rows that nobody has labeled"
            )
            raise RowError(f"column {name!r}, ", texts.index(text), problem)
    return np.array([values[text] for text in texts], bool)


def required(metric: str, role: str, values: ndarray | None) -> ndarray:
    """Return the values of a role, or raise if they are missing."""
    if values is None:
        raise ValueError(f"{metric} needs a {role}: name its column")
    return values


def refuse_metric(metric: str, about: str, has_labels: bool) -> None:
    """Raise if a metric is not for items with several labels, or only for these.

    Parameters
    ----------
    metric, about : str
        Name of the metric and its `about`, as in `workbench.replication.statistics.Metric`.
    has_labels : bool
        Whether items have several labels.
    """
    rule = ""
    if about == "sets" and not has_labels:
        rule = (
            "is for items with several labels; for items of one class use accuracy, which equals "
            "their micro F1, precision and recall"
        )
    elif has_labels and about != "sets" and metric not in (*OF_ONE_LABEL, "macro_f1"):
        rule = (
            "is for items of one class, and these have several labels; use micro_f1, macro_f1, f1, "
            "precision, recall, exact_match, hamming_loss or proportion"
        )
    if rule:
        raise WrongValue("metrics", f"must suit the items: {metric} {rule}")
