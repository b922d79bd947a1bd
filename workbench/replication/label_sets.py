"""Items with several labels, from cells such as "cat;dog" or from a column of 0 and 1 per label.

`label_columns` returns the columns that patterns such as "true_*" mean, `read_label_sets` reads the
true and predicted labels of every item, and `refuse_metric` says which metrics they have.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import chain, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue
from workbench.data import combined, numbers, shapes
from workbench.data.classes import class_notes, refuse_look_alikes, verdict_of
from workbench.data.numbers import MissingError, RowError
from workbench.replication.statistics import METRICS
from workbench.results import Note, rows_of

SHOWN_LABELS = 8
ROLES = ("truth", "prediction")
OF_ONE_LABEL = ("precision", "recall", "f1", "auc", "brier", "log_loss", "proportion")
ABOUT_LABELS = (
    Note(
        "remark",
        "exact match is the proportion of items whose predicted labels are exactly the true ones; "
        "scikit-learn calls it accuracy, others subset accuracy",
    ),
    Note(
        "remark",
        "micro F1, precision and recall count every pair of an item and a label; macro F1 is the "
        "mean over labels; the intervals take items as sampled, not pairs",
    ),
)


class LabelSets(NamedTuple):
    """The labels of items.

    Attributes
    ----------
    labels : tuple
    true : (n, L) array of bool
    predicted : (n, L) array of bool or None
    unlabeled, unpredicted : (n,) array of bool
        Items that nobody has labeled, and those of them without a prediction.
    notes : list of Note
    """

    labels: tuple
    true: ndarray
    predicted: ndarray | None
    unlabeled: ndarray
    unpredicted: ndarray
    notes: list[Note]

    def numbered(self, names: Sequence[str]) -> dict[str, ndarray]:
        """Return the sets as columns of whole numbers, None where an item was not labeled.

        Parameters
        ----------
        names : sequence of str
            Of the columns of true and of predicted labels.
        """
        sets = [self.true] if self.predicted is None else [self.true, self.predicted]
        code = np.unique(np.concatenate(sets), axis=0, return_inverse=True)[1]
        columns: list = np.array_split(code.ravel(), len(sets))
        if self.unlabeled.any():
            columns = [column.astype(object) for column in columns]
            columns[0][self.unlabeled] = None
            columns[-1][self.unpredicted] = None
        return dict(zip(names, columns, strict=False))

    def fields(self, rows: ndarray) -> dict:
        """Return the fields of `LabeledItems` for some of the items."""
        fields: dict = {"labels": self.labels, "true_labels": self.true[rows]}
        fields["truth"] = set_texts(self.labels, fields["true_labels"])
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
    """Return the labels by their columns, for truth and prediction; {} where these are columns.

    Without a prediction, "", there are those of the truth alone.

    Examples
    --------
    >>> label_columns(["id", "y_a", "y_b", "y_hat_a", "y_hat_b"], "y_*", "y_hat_*")
    {'truth': {'y_a': 'a', 'y_b': 'b'}, 'prediction': {'y_hat_a': 'a', 'y_hat_b': 'b'}}
    """
    named = {"truth": truth, "prediction": prediction}
    patterns = {role: name for role, name in named.items() if "*" in name and name not in names}
    if not patterns:
        return {}
    roles = [role for role in ROLES if named[role]]
    for role, other in permutations(roles, 2):
        if other not in patterns:
            rule = "must be a pattern as {0} is, with an asterisk in the place of the label"
            raise WrongValue(other, rule, named[other], others=(role,))
    columns: dict[str, dict[str, str]] = {}
    free = list(names)
    for role in sorted(roles, key=lambda role: -len(patterns[role])):
        columns[role] = shapes.class_columns(free, patterns[role], role)
        free = [name for name in free if name not in columns[role]]
    for role, other in permutations(roles, 2):
        labels = columns[other].values()
        single = [label for label in columns[role].values() if label not in labels]
        if single:
            rule = f"must have a column of every label of {{0}}; none is of {single[0]!r}"
            hint = checks.suggestion(single[0], labels)
            raise WrongValue(other, rule + hint, named[other], others=(role,))
    return {role: columns[role] for role in roles}


def patterns_of(data: Mapping[str, ndarray], truth: str, prediction: str) -> dict[str, str]:
    """Return the patterns by role that two columns of a label are cases of, {} where they are not.

    Parameters
    ----------
    data : dict of (n,) ndarray
    truth, prediction : str
        Columns that differ in all but the label that their names end with.

    Examples
    --------
    >>> names = ["id", "y_cat", "y_dog", "p_cat", "p_dog"]
    >>> patterns_of({name: np.array([0, 1]) for name in names}, "y_cat", "p_cat")
    {'truth': 'y_*', 'prediction': 'p_*'}
    """
    ending = os.path.commonprefix([truth[::-1], prediction[::-1]])[::-1].lstrip("_-. ")
    if not ending or ending in (truth, prediction):
        return {}
    patterns = {
        "truth": f"{truth.removesuffix(ending)}*",
        "prediction": f"{prediction.removesuffix(ending)}*",
    }
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
) -> tuple[LabelSets | None, list[Note]]:
    """Return the labels of items, None where each has one class, and notes on one class.

    Parameters
    ----------
    data : dict of (n,) ndarray
    truth, prediction : str
        Names of columns; "" for no prediction.
    of_labels : dict
        As of `label_columns`.
    separator : str
        As in `workbench.load_labeled`.
    classes : {"auto", "text", "numbers"}
        "text" without a separator: every cell is one class.
    candidates : str
        As in `workbench.load_labeled`; "" where there are none.
    models : sequence of str
        Columns of predictions, or scores, of several models, which are for items of one class.

    Raises
    ------
    ValueError
        Where it is in doubt whether cells hold several labels, or whether an item has none; where a
        label is written in two ways; where a cell of a label's column is neither 0 nor 1.
    """
    if candidates:
        checks.not_both(separator=separator, candidates=candidates)
        return None, []
    if models:
        _refuse_models(data, [truth, *models], separator, classes)
        return None, []
    if of_labels:
        checks.not_both(truth=truth, separator=separator)
        return _of_columns(data, of_labels), []
    names = [name for name in (truth, prediction) if name]
    if not separator and all(data[name].dtype.kind in "biuf" for name in names):
        return None, []
    if not separator and len(names) == 1 and _are_numbers(truth, data[truth]):
        return None, []
    texts = {name: numbers.as_text(data[name]) for name in names}
    lists = [name for name in names if combined.are_lists(texts[name])]
    seen = _recognized(texts, lists, separator)
    if not (separator or lists or seen):
        return None, []
    if classes == "text" and not separator:
        text = seen.text if seen else next(filter(None, texts[lists[0]]))
        return None, [Note("assumption", f"classes are read as text: {text!r} is one class")]
    if seen and not (separator or seen.is_evident):
        listed = checks.listed(seen.labels, SHOWN_LABELS, quoted=True)
        rule = (
            f"must be {seen.separator!r} if {seen.text!r} is several labels, {listed}; if it is "
            "one class, say {0} 'text'"
        )
        raise WrongValue("separator", rule, others=("classes",))
    between = separator or (seen.separator if seen else "")
    return _of_cells(texts, lists, between, classes, is_named=bool(separator)), []


def _are_numbers(name: str, cells: ndarray) -> bool:
    """Return whether the cells of a column that stands alone are values, as "1,5"."""
    try:
        numbers.to_numbers(name, cells[~shapes.gaps(cells, True)])
    except ValueError:
        return False
    return True


def _recognized(
    texts: Mapping[str, Sequence[str]], lists: Sequence[str], separator: str
) -> combined.Combined | None:
    """Return what the cells of all columns seem to hold; raise where it is another separator."""
    distinct = []
    for name, cells in texts.items():
        of_column = list(dict.fromkeys(filter(None, cells)))
        if name in lists:
            of_column = [*chain.from_iterable(map(combined.list_labels, of_column))]
        distinct += of_column
    seen = combined.recognized(distinct)
    if separator and seen and not any(separator in text for text in distinct):
        rule = f"must stand in a cell; no cell holds it (did you mean {seen.separator!r}?)"
        raise WrongValue("separator", rule, separator)
    return seen


def _of_cells(
    texts: Mapping[str, Sequence[str]],
    lists: Sequence[str],
    between: str,
    classes: str,
    *,
    is_named: bool,
) -> LabelSets:
    """Return the labels of items from cells that are lists or have a separator between labels.

    The first column of texts is that of the truth. An empty cell is no label if the separator
    `is_named`.
    """
    truth, *_ = texts
    gaps = {name: np.array([not text for text in cells]) for name, cells in texts.items()}
    if gaps[truth].all():
        raise WrongValue("truth", f"must have a label in some rows; column {truth!r} has none")
    unlabeled = gaps[truth] & (truth in lists and not is_named)
    *_, last = gaps.values()
    notes = []
    for name, gone in gaps.items():
        in_lists = name in lists
        kind = "true" if name == truth else "predicted"
        notes += _gap_notes(name, gone & ~unlabeled, kind, in_lists, "" if is_named else between)
    labels, matrices = _sets(texts, _labels_of_cells(texts, lists, between), classes)
    way = f"with {between!r} between" if between else "as lists"
    examples = [text for cells in texts.values() for text in cells]
    example = next((text for text in examples if between and between in text), examples[0])
    listed = checks.listed(labels, SHOWN_LABELS, quoted=True)
    text = f"cells such as {example!r} were read as several labels, {way}: {listed}"
    true, *predicted = matrices
    sets = LabelSets(
        labels,
        true,
        predicted[0] if predicted else None,
        unlabeled,
        last & unlabeled,
        [Note("data", text), *notes],
    )
    sets.notes.extend(_one_sided(sets))
    return sets


def _labels_of_cells(texts: Mapping, lists: Sequence[str], between: str) -> dict[str, dict]:
    """Return the labels of every distinct cell, by column."""
    labels: dict[str, dict] = {}
    for name, cells in texts.items():
        labels[name] = {"": []}
        for text in dict.fromkeys(filter(None, cells)):
            if name in lists:
                labels[name][text] = combined.list_labels(text)
            elif between:
                labels[name][text] = combined.cell_labels(text, between)
            else:
                labels[name][text] = [text]
    return labels


def _gap_notes(name: str, gone: ndarray, kind: str, in_lists: bool, recognized: str) -> list[Note]:
    """Return a note on items without a label, or raise where empty cells may be missing ones.

    Parameters
    ----------
    name : str
    gone : (n,) array of bool
    kind : {"true", "predicted"}
    in_lists : bool
    recognized : str
        The separator if nobody named it.
    """
    if not gone.any():
        return []
    first = int(gone.argmax())
    count = checks.counted(gone.sum(), "row")
    if in_lists:
        raise MissingError(f"column {name!r}, ", first, " is missing; [] is no label")
    if kind == "true" and recognized:
        remedy = (
            f"say separator {recognized!r} if these items have no label; leave these rows out of "
            "the file if nobody has labeled them"
        )
        raise MissingError(f"column {name!r} is empty in {count}, first in ", first, f": {remedy}")
    text = f"column {name!r} is empty in {count}: these items have no {kind} label"
    return [Note("assumption", text)]


def _sets(
    texts: Mapping[str, Sequence[str]], of_names: Mapping[str, Mapping], classes: str
) -> tuple[tuple, list[ndarray]]:
    """Return all labels, sorted, and which of them the cells of each column hold, (n, L) each."""
    written: dict[str, ndarray] = {}
    labels: dict[str, ndarray] = {}
    rows_of: dict[str, list[int]] = {}
    for name, cells in texts.items():
        first: dict = {}
        for row, text in enumerate(cells):
            first.setdefault(text, row)
        lists = {text: of_names[name][text] for text in first}
        rows_of[name] = [first[text] for text, of_cell in lists.items() for _ in of_cell]
        written[name] = np.array([*chain.from_iterable(lists.values())], str)
        labels[name] = _labels(name, written[name], rows_of[name], classes)
    if len({column.dtype.kind == "U" for column in labels.values() if column.size}) > 1:
        labels = written
    if classes == "auto":
        for name, other in permutations(labels, 2):
            with shapes.in_rows(np.array(rows_of[name], int)):
                refuse_look_alikes(name, other, labels)
    names = np.unique(np.concatenate([column for column in labels.values() if column.size]))
    matrices = []
    for name, cells in texts.items():
        _refuse_other_separator(name, labels[name], rows_of[name], names)
        place = dict(zip(written[name].tolist(), np.searchsorted(names, labels[name]), strict=True))
        distinct = list(dict.fromkeys(cells))
        held = np.zeros((len(distinct), names.size), bool)
        for row, text in enumerate(distinct):
            held[row, [place[label] for label in of_names[name][text]]] = True
        index = {text: row for row, text in enumerate(distinct)}
        matrices.append(held[[index[text] for text in cells]])
    return tuple(names.tolist()), matrices


def _labels(name: str, written: ndarray, rows: Sequence[int], classes: str) -> ndarray:
    """Return labels as numbers where all are, else as text."""
    if classes == "text" or not written.size:
        return written
    two_ways = "refuse" if classes == "auto" else "numbers"
    with shapes.in_rows(np.array(rows)):
        return numbers.to_labels(name, written.astype(object), two_ways)


def _refuse_other_separator(
    name: str, labels: ndarray, rows: Sequence[int], names: ndarray
) -> None:
    """Raise where a label is several labels with another separator between."""
    if labels.dtype.kind != "U":
        return
    all_labels = set(names.tolist())
    for label, row in zip(labels.tolist(), rows, strict=True):
        for separator in (*combined.USUAL, combined.COMMA):
            parts = combined.cell_labels(label, separator)
            if len(parts) > 1 and all_labels.issuperset(parts):
                listed = checks.listed(parts, SHOWN_LABELS, quoted=True)
                problem = (
                    f": {label!r} seems to be {listed} with {separator!r} between, unlike others"
                )
                raise RowError(f"column {name!r}, ", row, f"{problem}: write all cells alike")


def _one_sided(sets: LabelSets) -> list[Note]:
    """Return notes on labels that are only true or only predicted, or raise where none is both."""
    if sets.predicted is None:
        return []
    labels = np.array(sets.labels)
    labeled = ~sets.unlabeled
    true, predicted = (labels[np.nonzero(held[labeled])[1]] for held in (sets.true, sets.predicted))
    return [*class_notes(true, predicted)] if true.size and predicted.size else []


def _of_columns(data: Mapping[str, ndarray], of_labels: Mapping) -> LabelSets:
    """Return the labels of items from a column of each label."""
    labels = tuple(of_labels["truth"].values())
    true_columns = of_labels["truth"]
    unlabeled = np.all([shapes.gaps(data[name], True) for name in true_columns], 0)
    if unlabeled.all():
        listed = checks.listed(true_columns, SHOWN_LABELS, quoted=True)
        raise WrongValue("truth", f"must have a label in some rows; {listed} have none")
    predicted_columns = of_labels.get("prediction", {})
    unpredicted = unlabeled.copy()
    if predicted_columns:
        unpredicted &= np.any([shapes.gaps(data[name], True) for name in predicted_columns], 0)
    matrices: list[ndarray] = []
    for columns, gone in ((true_columns, unlabeled), (predicted_columns, unpredicted)):
        column_of = {label: name for name, label in columns.items()}
        held = np.zeros((gone.size, len(labels)), bool)
        for k, label in enumerate(labels if columns else ()):
            name = column_of[label]
            with shapes.in_rows(np.flatnonzero(~gone)):
                held[~gone, k] = _zero_one(name, data[name][~gone])
        matrices.append(held)
    listed = checks.listed(labels, SHOWN_LABELS, quoted=True)
    note = Note("data", f"items have several labels, a column of 0 and 1 for each: {listed}")
    true, predicted = matrices
    return LabelSets(
        labels,
        true,
        predicted if predicted_columns else None,
        unlabeled,
        unpredicted,
        [note],
    )


def _zero_one(name: str, cells: ndarray) -> ndarray:
    """Return whether cells of 0 and 1, or of words such as "no" and "yes", are 1."""
    texts = numbers.present(name, cells)
    values = {text: verdict_of(text) for text in dict.fromkeys(texts)}
    for text, value in values.items():
        if value is None:
            problem = (
                f": {text!r} is neither 0 nor 1: write 1 where an item has the label, and take out "
                "rows of totals"
            )
            raise RowError(f"column {name!r}, ", texts.index(text), problem)
    return np.array([values[text] for text in texts], bool)


def _refuse_models(
    data: Mapping[str, ndarray], names: Sequence[str], separator: str, classes: str
) -> None:
    """Raise where items seem to have several labels."""
    of_text = [name for name in names if data[name].dtype.kind not in "biuf"]
    texts = {name: numbers.as_text(data[name]) for name in of_text}
    seen = _recognized(texts, [], separator)
    if separator or seen and seen.is_evident and classes != "text":
        rule = "must name one model where items have several labels"
        if seen:
            rule += f", as in {seen.text!r} (if that is one class, say {{0}} 'text')"
        raise WrongValue("prediction", rule, others=("classes",))


def label_rows(labels: Sequence, true: ndarray, predicted: ndarray | None) -> list[dict]:
    """Return one row per label: items that have it, and items of which it was predicted."""
    items = true.sum(0)
    if predicted is None:
        return rows_of(label=labels, items=items)
    return rows_of(label=labels, items=items, predicted=predicted.sum(0))


def columns_of_sets(items: Any, metric: str, label: Any) -> tuple[ndarray, ...]:
    """Return the true and predicted labels of items, or whether an item has one of them.

    Parameters
    ----------
    items : LabeledItems
    metric : str
    label : label or None
    """
    entry = METRICS[metric]
    if "score" in entry.arguments:
        score = required(metric, "score", items.score)
        return items.true_labels[:, items.labels.index(label)], score
    predicted = required(metric, "prediction", items.predicted_labels)
    if entry.about != "class":
        return items.true_labels, predicted
    k = items.labels.index(label)
    return items.true_labels[:, k], predicted[:, k]


def required(metric: str, role: str, values: ndarray | None) -> ndarray:
    """Return the values of a role, or raise where they are missing."""
    if values is None:
        raise ValueError(f"{metric} needs a {role}: name its column")
    return values


def refuse_metric(metric: str, about: str, has_labels: bool) -> None:
    """Raise where a metric is not for items with several labels, or is for these alone.

    Parameters
    ----------
    metric, about : str
        Its name, and what it is about as in `workbench.replication.statistics.Metric`.
    has_labels : bool
        Whether items have several labels.
    """
    if about == "sets" and not has_labels:
        raise WrongValue(
            "metrics",
            f"must suit the items: {metric} is for items with several labels; for items of one "
            "class take accuracy, which is their micro F1, precision and recall",
        )
    if has_labels and about != "sets" and metric not in (*OF_ONE_LABEL, "macro_f1"):
        raise WrongValue(
            "metrics",
            f"must suit the items: {metric} is for items of one class, and these have several "
            "labels; take micro_f1, macro_f1, f1, precision, recall, exact_match, "
            "hamming_loss or proportion",
        )
