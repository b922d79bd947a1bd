"""Labeled items with their sampling design: strata, clusters, weights or replicate weights.

`load_labeled` reads a `LabeledItems` from a file or a data frame.
"""

import contextlib
import difflib
import fnmatch
import string
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue, listed
from workbench.data import columns, confusion_matrices, frames, numbers, shapes
from workbench.data.classes import alike_notes, class_notes, read_classes
from workbench.data.roles import check_verdicts
from workbench.replication.designs import weights
from workbench.replication.label_sets import (
    label_columns,
    read_label_sets,
    refuse_metric,
    required,
)
from workbench.replication.moments import MOST_CLASSES
from workbench.replication.statistics import METRICS
from workbench.replication.unsampled import SampledClasses, differs_from_rest
from workbench.results import Note, Result, rows_of

STRATUM, PREDICTION = "stratum", "prediction"
CANDIDATES = "candidate_*"
ONE_STRATUM = "all"
CLOSE = 0.75  # of difflib's likeness: "strata" is, "state" is not
WITHOUT_CLASSES = (
    "name no predictions (--prediction '', prediction=''): the proportion of correct items is the "
    "accuracy"
)
LABELS_IN = "labels in"  # the place of a note on rows without a label
LEAST_ITEMS, FAR_BEYOND, ROUNDED = 10, 3, 1e-6  # of items whose last row may be their totals
CROSSED = ("stratum", "psu")
COMPARED = ("prediction", "score")  # roles of which each of several models has a column
MEASURED = ("score", "weight", "fpc")
DESIGNED = ("psu", "fpc", "nest")
OPTIONAL = (
    "prediction",
    "score",
    "psu",
    "weight",
)


class LabeledItems(Result):
    """Items with their true class and their sampling design.

    `load_labeled` makes them. Pass them to `estimate_metrics` or `compare_metrics`.

    Attributes
    ----------
    truth : (n,) array
        True class. For items with several labels it is the list of labels as text.
    prediction, score : (n,) array or None
        Predicted class, and a number that is larger the more likely the positive class is.
    positive : label or None
        The class that precision, recall, F1 and AUC are about; None for every class.
    stratum, psu, weight, group, fpc : (n,) array or None
        Sampling design as for `SurveyDesign`. The group is the column by which results are broken
        down.
    nest : bool
        Whether PSU labels start again in every stratum, as for `SurveyDesign`.
    replicate_weights : (n, R) array or None
        Replicate weights, as for `imported_replicates`.
    candidates : (n, L) array or None
        Classes that a recognizer names, the most similar first.
    unlabeled : int
        Number of rows of the file without a label. They are left out.
    unlike_others : bool or None
        Whether the predictions differ from those of the unlabeled rows by more than chance; None
        without such rows.
    named_positive : bool
        Whether the positive class was named.
    models : tuple of str
        Names of the models if there are several, () for one. With several models `prediction` and
        `score` are None.
    predictions, scores : (n, M) array or None
        Predictions and scores of several models, one column each.
    truth_name : str
        Column of the truth, for the titles of its mean and its proportions.
    labels : tuple
        The L labels of items that can have several, () for items of one class.
    true_labels, predicted_labels : (n, L) array of bool, or None
        Labels that each item has, and labels that were predicted.

    See Also
    --------
    load_labeled : Read labeled items from a file or a data frame.
    estimate_metrics : Estimate metrics of one model.
    compare_metrics : Compare two or more models on the same items.
    """

    holds_items = True

    truth: ndarray
    prediction: ndarray | None
    score: ndarray | None
    positive: object
    stratum: ndarray
    psu: ndarray | None
    weight: ndarray | None
    group: ndarray | None = None
    fpc: ndarray | None = None
    nest: bool = False
    replicate_weights: ndarray | None = None
    candidates: ndarray | None = None
    unlabeled: int = 0
    unlike_others: bool | None = None
    named_positive: bool = False
    models: tuple = ()
    predictions: ndarray | None = None
    scores: ndarray | None = None
    truth_name: str = "truth"
    labels: tuple = ()
    true_labels: ndarray | None = None
    predicted_labels: ndarray | None = None

    def model(self, name: str) -> "LabeledItems":
        """Return the items with the prediction and the score of one of several models.

        Parameters
        ----------
        name : str
            Name of the model, one of `models`.
        """
        index = self.models.index(checks.choice("name", name, self.models))
        prediction = score = None
        notes = list(self.notes)
        unlike_others = self.unlike_others
        if self.scores is not None:
            score = self.scores[:, index]
        if self.predictions is not None:
            prediction = self.predictions[:, index]
            notes += class_notes(self.truth, prediction)
            several = min(np.unique(self.truth).size, np.unique(self.predictions).size) > 1
            if several and unlike_others is None:
                unlike_others = False  # a model that predicts one class did not choose the items
        return replace(
            self,
            prediction=prediction,
            score=score,
            models=(),
            predictions=None,
            scores=None,
            unlike_others=unlike_others,
            notes=notes,
        )

    @property
    def truth_alone(self) -> bool:
        """Return whether there is neither a prediction nor a score."""
        return self.prediction is None and self.score is None and not self.models

    @property
    def has_values(self) -> bool:
        """Return whether the truth stands alone and its mean is of interest.

        It then has numbers other than 0 and 1, and no positive class was named.
        """
        return self.truth_alone and not self.named_positive and not self._has_classes

    @property
    def _has_classes(self) -> bool:
        """Return whether the truth is text, or consists of 0 and 1."""
        return self.truth.dtype.kind == "U" or bool(np.isin(self.truth, (0, 1)).all())

    @property
    def counted_class(self) -> object:
        """Return the class whose proportion is of interest, or None for every class.

        It is the positive class, or 1 if the truth consists of 0 and 1.
        """
        if self.positive is None and self._has_classes and self.truth.dtype.kind != "U":
            return 1
        return self.positive

    @property
    def sampled(self) -> SampledClasses:
        """Return the classes in the sample, which determine the metrics that it can show."""
        truth, prediction = self.truth, self.prediction
        if self.weight is not None:
            counts = self.weight > 0
            truth = truth[counts]
            prediction = None if prediction is None else prediction[counts]
        if prediction is None:
            true = np.unique(truth).tolist()
            return SampledClasses([], true, False, self.named_positive and len(true) == 1)
        return SampledClasses.of_columns(
            truth,
            prediction,
            several=self.named_positive,
            unlike_others=self.unlike_others,
            are_sets=bool(self.labels),
        )

    @property
    def ranks(self) -> ndarray | None:
        """Return the rank (n,) of the true class among the candidates [1]_.

        It is L + 1 if the true class is not among the L candidates.

        References
        ----------
        .. [1] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation,
           2001: section 2.2.
        """
        if self.candidates is None:
            return None
        right = self.candidates == self.truth[:, None]
        return np.where(right.any(1), right.argmax(1), right.shape[1]) + 1

    @property
    def classes(self) -> list:
        """Return the sorted classes that are true or predicted, or the labels of the items."""
        if self.labels:
            return [*self.labels]
        columns = [self.truth, self.prediction, self.predictions]
        return np.unique(np.hstack([c.ravel() for c in columns if c is not None])).tolist()

    def headline(self) -> str:
        """Return the numbers of items, classes and positives, or the range of the values."""
        rows = f" of {self.truth.size + self.unlabeled:,} rows" if self.unlabeled else ""
        if self.has_values:
            items = checks.counted(self.truth.size, "item")
            low, high = self.truth.min(), self.truth.max()
            return f"{items}{rows}, {self.truth_name} from {low:,.6g} to {high:,.6g}"
        text = f"{checks.counted(self.truth.size, 'labeled item')}{rows}"
        if self.models:
            text += f", predictions of {checks.listed(self.models)}"
        if self.true_labels is not None:
            labels = checks.counted(len(self.labels), "label")
            return f"{text}, {labels}, {self.true_labels.sum() / self.truth.size:.3g} per item"
        text += f", {checks.counted(np.unique(self.truth).size, 'class', 'classes')}"
        if self.positive is None:
            return text
        return f"{text}, {np.mean(self.truth == self.positive):.1%} of class {self.positive}"

    def rows(self) -> list[dict]:
        """Return one row per true class or label: items, and how many were predicted to be of it.

        Values without a prediction have one row: items, mean and standard deviation.
        """
        if self.has_values:
            sd = self.truth.std(ddof=1) if self.truth.size > 1 else np.nan
            return [{"items": self.truth.size, "mean": float(self.truth.mean()), "sd": float(sd)}]
        if self.true_labels is not None:
            columns = {"label": self.labels, "items": self.true_labels.sum(0)}
            if self.predicted_labels is not None:
                columns["predicted"] = self.predicted_labels.sum(0)
            return rows_of(**columns)
        names, counts = np.unique(self.truth, return_counts=True)
        columns = {"label": names, "items": counts}
        if self.prediction is not None:
            columns["predicted"] = (self.prediction == names[:, None]).sum(1)
        return rows_of(**columns)

    def clusters(self) -> list[dict]:
        """Return one row per cluster, or per stratum if there are no clusters: accuracy and items.

        Without predictions the row contains the proportion of the class or the mean of the values
        instead. If every class counts, there are no rows.
        """
        if not self.truth_alone:
            prediction = required("accuracy", "prediction", self.prediction)
            quantity, values = "accuracy", self.truth == prediction
        elif self.has_values:
            quantity, values = "mean", self.truth
        elif self.counted_class is None:
            return []
        else:
            quantity, values = "share", self._of_label(self._truth, self.counted_class)
        units = self.stratum if self.psu is None else self.psu
        names, code = np.unique(units, return_inverse=True)
        if self.nest:
            _, code_of_stratum = np.unique(self.stratum, return_inverse=True)
            code = code_of_stratum * names.size + code
        _, first, code, items = np.unique(
            code, return_index=True, return_inverse=True, return_counts=True
        )
        return rows_of(
            stratum=self.stratum[first].astype(str),
            psu=units[first].astype(str),
            **{quantity: np.bincount(code, values) / items},
            items=items,
        )

    def _of_label(self, column: Any, label: Any) -> ndarray:
        """Return whether each item has a class in a column of classes, or among its labels."""
        return column[:, self.labels.index(label)] if self.labels else column == label

    @property
    def _truth(self) -> Any:
        """Return the true classes, or the true labels (n, L)."""
        return self.true_labels if self.labels else self.truth

    def title_label(self, metric: str, label: Any) -> Any:
        """Return the class that a title names after a metric; for metrics of the truth its column.

        Parameters
        ----------
        metric : str
            Name of a metric, as in `workbench.estimate_metrics`.
        label : label or None
            The class that the metric is about.
        """
        about = METRICS[metric].about
        if about == "value":
            return self.truth_name
        if about == "label":
            return f"{self.truth_name} = {label}"
        return label

    def columns(self, metric: str, label: Any = None) -> tuple[ndarray, ...]:
        """Return the columns that `workbench.replicate_estimate` takes for a metric.

        Parameters
        ----------
        metric : str
            Name of a metric, as in `workbench.estimate_metrics`.
        label : label, optional
            The class that precision, recall and F1 are about, by default `positive`. For
            "identified" the number of first candidates.
        """
        entry = METRICS[metric]
        refuse_metric(metric, entry.about, bool(self.labels))
        if entry.about in ("rank", "ranks"):
            return self._ranked(metric, label)
        if entry.about == "value":
            return (self._numbers(metric),)
        if entry.about == "label":
            return (self._of_label(self._truth, label),)
        label = self.positive if label is None else label
        if entry.about == "class" and label is None:
            names = self.labels or np.unique(self.truth)
            raise ValueError(
                f"{metric} needs the positive class: set positive to one of {listed(names)}"
            )
        truth, other, role = self._truth, self.prediction, "prediction"
        if self.labels:
            other = self.predicted_labels
        if entry.arguments == ("truth",):
            return (truth,)
        if "score" in entry.arguments:
            other, role = self.score, "score"
        other = required(metric, role, other)
        if entry.about != "class":
            return truth, other
        truth = self._of_label(truth, label)
        return truth, other if role == "score" else self._of_label(other, label)

    def _numbers(self, metric: str) -> ndarray:
        """Return the truth as numbers, or raise."""
        if self.truth.dtype.kind != "U":
            return self.truth
        try:
            numbers.to_numbers(self.truth_name, self.truth)
            problem: object = " is read as text: use classes 'numbers'"
        except numbers.RowError as error:
            problem = error.parts[-1]
        raise ValueError(
            f"{metric} needs numbers; column {self.truth_name!r}{problem}. The metric 'proportion' "
            "takes text"
        )

    def _ranked(self, metric: str, most: int | None) -> tuple:
        """Return whether the true class is among the first candidates, or its rank among all."""
        ranks = required(metric, "list of candidates", self.ranks)
        if most is not None:
            return (ranks <= most,)
        _, length = np.shape(self.candidates)  # type: ignore[arg-type]
        for item in np.flatnonzero(ranks > length)[:1]:
            raise ValueError(
                f"{metric} needs every true class among the candidates; that of item {item} is not"
            )
        return ranks, length


@frames.in_rows_of("items")
def load_labeled(
    items: Any,
    *,
    truth: str = "truth",
    prediction: str = PREDICTION,
    score: str = "",
    stratum: str = STRATUM,
    psu: str = "",
    weight: str = "",
    group: str = "",
    positive: str = "",
    fpc: str = "",
    nest: bool = False,
    replicate_weights: str = "",
    classes: str = "auto",
    candidates: str = CANDIDATES,
    rows: str = "auto",
    separator: str = "",
) -> LabeledItems:
    """Read labeled items from a file or a data frame.

    Use it to name the columns of your sample for `estimate_metrics` and `compare_metrics`.

    Parameters
    ----------
    items : str or data frame
        A file or a data frame as in `read_scores`, with one row per item. There are two other
        forms, in which every counted item is independent of the others:

        - a confusion matrix, whose rows and columns are named by the classes;
        - a table with one row per pair of classes and their number in a column "n", "count" or
          "freq". Pairs that repeat, for example each day, are added up, and a note says so.
    truth, prediction, score, stratum, psu, weight, group : str
        Column names, "" for none. The defaults are "truth", "prediction", "stratum", and "" for the
        others. See the Notes.
    positive : str, default ""
        The class that precision, recall, F1 and AUC are about. "" selects the larger of two numeric
        classes; true and false are 1 and 0.
    fpc : str, default ""
        Column with the number of clusters (PSUs) in the population of the stratum, "" for none.
    nest : bool, default False
        Whether PSU labels start again in every stratum.
    replicate_weights : str, default ""
        Pattern of the columns of replicate weights made elsewhere, such as "repwt_*" or "w[0-9]*";
        "" for none. The weight column is then required and must not match the pattern. Strata and
        PSUs are not read.
    classes : {"auto", "text", "numbers"}, default "auto"
        How to read classes, as in `workbench.data.classes.read_classes`.
    candidates : str, default "candidate_*"
        Pattern of the columns, if any, with the classes that a recognizer names, the most similar
        first. Without a prediction the first candidate is the prediction.
    rows : {"auto", "truth", "prediction"}, default "auto"
        Meaning of the rows of a confusion matrix. "auto" uses the first cell or the names of rows
        and columns; if these do not tell, rows are true classes.
    separator : str, default ""
        Text between the labels of an item in a cell, such as ";". An empty cell then means no
        label. By default, ";", "|", a comma or a list is recognized if the labels also occur alone
        or in other combinations, and an empty cell is an error. In doubtful cases an error asks you
        to decide; `classes` "text" states that every cell is one class.

    Returns
    -------
    LabeledItems
        The labeled items with their sampling design.

    Raises
    ------
    ValueError
        If a column or a cell is missing, one column of classes is text and another numbers, or the
        positive class does not occur.

    See Also
    --------
    estimate_metrics : Estimate metrics of one model.
    compare_metrics : Compare two or more models on the same items.
    SurveyDesign : Sampling design of labeled items.

    Notes
    -----
    These rules apply to columns:

    - Without a prediction and a score, only the mean, the median and the proportions of the truth
      are available. Numbers may then be written as "1,234.5".
    - Several predictions or scores, such as "old,new", belong to several models, for
      `workbench.compare_metrics`. If both are given, the predictions name the models and the scores
      must be in the same order.
    - Without a column "stratum", all items are in one stratum, and a note says so.
    - With several columns of strata or PSUs, such as "sex,status", each combination of their values
      is a stratum or a PSU, unless a column has that name.
    - If some rows have no truth, the labeled rows are assumed to be a random sample of all rows,
      and a note says so.
    - An item without a group counts among all items.
    - An item of weight 0 lies outside the population of interest.
    - Patterns such as `truth` "true_*" and `prediction` "pred_*" name one column of 0 and 1 per
      label, for items with several labels.

    Examples
    --------
    >>> load_labeled({"truth": [1, 0, 1, 0], "prediction": [1, 0, 0, 0], "stratum": list("aabb")})
    LabeledItems(4 labeled items, 2 classes, 50.0% of class 1)
    >>> load_labeled({"": ["cat", "dog"], "cat": [41, 4], "dog": [6, 52]})
    LabeledItems(103 labeled items, 2 classes)
    >>> load_labeled({"truth": ["a", "b", "a;b"], "prediction": ["a", "a;b", "b"]}, separator=";")
    LabeledItems(3 labeled items, 2 labels, 1.33 per item)
    """
    roles = {
        "truth": truth,
        "prediction": prediction,
        "score": score,
        "psu": psu,
        "weight": weight,
        "group": group,
        "fpc": fpc,
    }
    for role in COMPARED:
        if isinstance(roles[role], (list, tuple)):
            rule = "must be text; separate several columns by commas: 'old,new'"
            raise checks.WrongType(role, rule, roles[role])
    if not truth:
        raise WrongValue("truth", "must name a column")
    if weight and weight in (truth, prediction):
        raise WrongValue("weight", "must be a column other than the classes", weight)
    frames.check_source("items", items)
    matrix_notes: list[Note] = []
    if rows != "auto" or not score:
        matrix = confusion_matrices.read_matrix(
            "items",
            items,
            truth=truth,
            prediction=prediction,
            rows=rows,
        )
        if matrix:
            _refuse_design(roles | {"replicate_weights": replicate_weights}, stratum)
            items, matrix_notes = matrix.items(truth, prediction or "prediction", classes)
            stratum = ""
    column_names = list(frames.column_names(items))
    repeated: list[str] = []
    if replicate_weights:
        repeated = _replicate_columns(column_names, replicate_weights, roles | {"nest": nest})
    roles["stratum"] = "" if repeated else _stratum_column(column_names, stratum)
    of_labels = label_columns(column_names, truth, prediction)
    named_first = _candidate_columns(column_names, candidates)
    is_absent = columns.spelled(prediction, column_names) not in column_names
    if score and prediction == PREDICTION and is_absent:
        prediction = roles["prediction"] = ""  # scores alone
    compared = _compared_columns(column_names, roles)
    predictions, scores = (compared[role] for role in COMPARED)
    if named_first and prediction not in column_names:
        roles["prediction"] = named_first[0]
    roles |= {role: names[0] for role, names in compared.items() if names}
    sources = {role: name for role, name in roles.items() if name}
    crossed = {
        role: columns.crossed_names(sources[role], column_names)
        for role in CROSSED
        if role in sources
    }
    class_columns = [*named_first, *predictions]
    number_columns = [*repeated, *scores]
    names = {name for role, name in sources.items() if role not in crossed}
    names.update(*crossed.values(), class_columns, number_columns)
    if of_labels:
        names = names.union(*of_labels.values()) - {truth, prediction}
    data, file_notes = frames.read_columns(items, sorted(names))
    sets = read_label_sets(
        data,
        truth,
        prediction,
        of_labels,
        separator,
        classes,
        candidates=candidates if named_first else "",
        models=[*predictions, *scores],
    )
    if sets is not None:
        data = data | sets.numbered([truth, prediction])
        classes = "auto"
    labeled, unlabeled = _labeled_rows(truth, data[truth])
    of_classes = {truth, roles["prediction"], *predictions}
    if names == of_classes | {roles["group"]} - {""} and not unlabeled and not matrix_notes:
        pairs = confusion_matrices.pair_counts("items", items, {truth: data[truth], **data})
        if pairs:
            counts, matrix_notes = pairs
            labeled = np.repeat(labeled, counts)
    unlike_others = None
    if unlabeled and roles["prediction"]:
        unlike_others = any(
            _unlike_others(data[name], labeled, weight or psu)
            for name in predictions or [roles["prediction"]]
        )
    in_rows = None
    if unlabeled or matrix_notes:
        data = {name: cells[labeled] for name, cells in data.items()}
        in_rows = labeled
    with shapes.in_rows(in_rows):
        read, labels, parsed, read_notes = _read(
            data, sources, crossed, class_columns, number_columns, classes
        )
    notes = [*matrix_notes, *_row_notes(unlabeled, read, sources), *file_notes, *read_notes]
    class_names = read["truth"]
    if sets is not None:
        read |= sets.fields(labeled)
        notes.extend(sets.notes)
        class_names = np.array(sets.labels)
    if "stratum" not in read and not repeated and not matrix_notes:
        missing = f"no column {stratum!r}" if stratum else "no strata"
        text = f"{missing}: the whole sample is treated as one stratum"
        notes.append(Note("assumption", text))
    read.setdefault("stratum", np.full(labeled.size, ONE_STRATUM))
    if predictions or scores:
        read["prediction"] = read["score"] = None
    elif "prediction" in read and sets is None:
        notes.extend(class_notes(read["truth"], read["prediction"]))
    named_positive = positive not in ("", None)
    positive_name = None
    if named_positive or sets is None:
        positive_name = positive_class(positive, class_names)
    return LabeledItems(
        **{**dict.fromkeys(OPTIONAL), **read},
        positive=positive_name,
        nest=bool(nest),
        replicate_weights=_stacked(parsed, repeated),
        candidates=_stacked(labels, named_first),
        models=tuple(predictions or scores),
        predictions=_stacked(labels, predictions),
        scores=_stacked(parsed, scores),
        unlabeled=unlabeled,
        unlike_others=unlike_others,
        named_positive=named_positive,
        truth_name=truth,
        notes=notes,
    )


def _refuse_design(roles: dict[str, str], stratum: str) -> None:
    """Raise if a column of the sampling design is named, because a confusion matrix has none."""
    if stratum != STRATUM:
        roles = roles | {"stratum": stratum}
    rule = "needs {0} with one row per item; this is a confusion matrix, which has only counts"
    for role, name in roles.items():
        if name and role not in ("truth", "prediction"):
            raise WrongValue(role, rule, name, others=("items",))


def _labeled_rows(name: str, cells: ndarray) -> tuple[ndarray, int]:
    """Return the rows that have a label, and the number of those without."""
    gone = shapes.gaps(cells, False)
    gaps = shapes.gaps(cells, True)
    if gaps.any() and not gaps.all():
        with contextlib.suppress(ValueError):  # a word such as "NaN" may be a class of other words
            numbers.to_numbers(name, cells[~gaps])
            gone = gaps
    if gone.all():
        raise WrongValue("truth", f"must have a label in some rows; column {name!r} has none")
    return np.flatnonzero(~gone), int(gone.sum())


def _unlike_others(cells: ndarray, labeled: ndarray, design: str) -> bool:
    """Return whether the predictions of labeled rows differ from those of the others.

    With clusters or weights some difference is allowed.
    """
    texts = np.array(numbers.as_text(cells))
    rest = np.delete(texts, labeled)
    rest = rest[rest != ""]
    if not rest.size or design and np.unique(texts[labeled]).size > 1:
        return False
    return differs_from_rest(texts[labeled], rest)


def _read(
    data: dict,
    sources: dict,
    crossed: dict,
    class_columns: list[str],
    number_columns: list[str],
    classes: str,
) -> tuple[dict, dict, dict, list[Note]]:
    """Return columns by role, all columns of classes and of numbers by name, and notes."""
    truth = sources["truth"]
    of_classes = {role: sources[role] for role in ("truth", "prediction") if role in sources}
    of_numbers = {role: sources[role] for role in MEASURED if role in sources}
    class_names = dict.fromkeys([*of_classes.values(), *class_columns])
    beside = {name: data[name] for name in [*of_numbers.values(), *number_columns]}
    parsed = {
        name: numbers.to_numbers(name, cells, others=beside) for name, cells in beside.items()
    }
    values = None
    notes: list[Note] = []
    if len(class_names) == 1 and "score" not in sources and classes == "auto":
        values = _values(truth, data, beside)
    if values is None:
        labels, notes = read_classes({name: data[name] for name in class_names}, classes)
    else:
        labels = {truth: values}
    read: dict = {role: labels[name] for role, name in of_classes.items()}
    read |= {role: parsed[name] for role, name in of_numbers.items()}
    for role, names in crossed.items():
        read[role] = _crossed(names, data)
        notes += alike_notes(sources[role], read[role])
    if "group" in sources:
        read["group"] = _groups(sources["group"], data[sources["group"]])
        notes += alike_notes(sources["group"], read["group"][read["group"].astype(str) != ""])
    if "prediction" in read:
        notes += check_verdicts(truth, read["truth"], read["prediction"], WITHOUT_CLASSES)
        for name in [sources["prediction"], *class_columns]:
            _refuse_unlike({truth: read["truth"], name: labels[name]})
    if "weight" in read:
        weight = read["weight"]
        for row in np.flatnonzero(weight < 0)[:1].tolist():
            problem = f": a weight must be at least 0; got {weight[row]:g}"
            raise numbers.RowError(f"column {sources['weight']!r}, ", row, problem)
        _refuse_total_row(sources["weight"], weights(weight))
        notes += numbers.probability_notes(sources["weight"], weight)
    _refuse_total_row(truth, read["truth"])
    if read["truth"].dtype.kind in "if":
        notes += numbers.missing_code_notes(truth, read["truth"])
    return read, labels, parsed, notes


def _stacked(columns_by_name: dict[str, ndarray], names: list[str]) -> ndarray | None:
    """Return columns side by side, (rows, C), or None if there are none."""
    return np.stack([columns_by_name[name] for name in names], 1) if names else None


def _values(name: str, data: dict, beside: dict) -> ndarray | None:
    """Return a column without a prediction as numbers, or None if a cell is not a number.

    Numbers written in two ways, such as 01 and 1, may be two classes. They are left to
    `read_classes`, unless the column has too many different numbers for classes.
    """
    cells = data[name]
    try:
        values = numbers.to_numbers(name, cells, others=beside | {name: cells})
    except ValueError:
        return None
    ways = len(set(numbers.written(cells)))
    distinct = np.unique(values).size
    if distinct < ways and distinct <= MOST_CLASSES:
        return None
    return numbers.whole_if_exact(values)


def _refuse_total_row(name: str, values: ndarray) -> None:
    """Raise if the last value is the sum of the others and far above them: a row of totals."""
    if values.size < LEAST_ITEMS or values.dtype.kind == "U":
        return
    before, last = values[:-1].astype(float), values[-1]
    is_far = abs(last) > FAR_BEYOND * np.abs(before).max()
    if is_far and np.isclose(before.sum(), last, rtol=ROUNDED, atol=0):
        problem = f": {values[-1]:g} is the sum of all rows above: delete this row of totals"
        raise numbers.RowError(f"column {name!r}, ", values.size - 1, problem)


def _crossed(names: list[str], data: dict) -> ndarray:
    """Return the labels of a column, or those of every combination of several."""
    labels = [numbers.to_labels(name, data[name], "text") for name in names]
    if len(names) == 1:
        return labels[0]
    lists = {name: column.tolist() for name, column in zip(names, labels, strict=True)}
    return np.array(columns.crossed_labels(lists))


def _groups(name: str, cells: ndarray) -> ndarray:
    """Return labels of groups; if some are missing, the labels are text and "" is no group."""
    gone = shapes.gaps(cells, False)
    if not gone.any() or gone.all():
        return numbers.to_labels(name, cells, "text")
    with shapes.in_rows(np.flatnonzero(~gone)):
        labels = numbers.to_labels(name, cells[~gone], "text")
    texts = np.full(gone.size, "", object)
    texts[~gone] = [*map(str, labels.tolist())]
    return texts.astype(str)


def _row_notes(unlabeled: int, read: dict, sources: dict) -> Iterator[Note]:
    """Yield notes on rows without a label, without a group or of weight 0."""
    labeled = read["truth"].size
    if unlabeled:
        yield Note(
            "assumption",
            "they are assumed to be a random sample of the file; the other rows are left out",
            (LABELS_IN, f"{labeled:,} of {labeled + unlabeled:,} rows"),
        )
    texts = {
        "group": f"no {sources.get('group')!r}: they count among all items, but in no group",
        "weight": "weight 0: they are outside the population of interest, but part of the design",
    }
    for role, gap in (("group", ""), ("weight", 0)):
        count = int(np.count_nonzero(read.get(role, 1) == gap))
        if count:
            items = checks.counted(count, "item has", "items have")
            yield Note("data", f"{items} {texts[role]}")


def positive_class(positive: Any, truth: ndarray) -> Any:
    """Return the positive class as it is written among the true classes."""
    names = np.unique(truth).tolist()
    if positive in ("", None):
        is_pair = len(names) == 2 and not isinstance(names[0], str)
        return names[1] if is_pair else None
    text = str(positive).strip()
    text = {"true": "1", "false": "0"}.get(text.lower(), text)
    for name in names:
        if name == positive or str(name) == text:
            return name
    rule = f"must be a class of the truth; got {positive!r}, available are {listed(names)}"
    raise WrongValue("positive", rule)


def _stratum_column(column_names: list[str], stratum: str) -> str:
    """Return the column of strata, or "" if there is none; raise if a column has a similar name."""
    if stratum != STRATUM:
        return stratum
    names = {name.strip().casefold(): name for name in column_names}
    if STRATUM in names:
        return stratum
    close = difflib.get_close_matches(STRATUM, names, 1, CLOSE)
    if close:
        raise WrongValue(
            "stratum",
            f"must name the column of strata; there is no {STRATUM!r} (did you mean "
            f"{names[close[0]]!r}?): if the sample has no strata, use ''",
        )
    return ""


def _candidate_columns(column_names: list[str], pattern: str) -> list[str]:
    """Return the columns of candidates in the order of the file."""
    names = [name for name in column_names if fnmatch.fnmatchcase(name, pattern)]
    if not names and pattern not in ("", CANDIDATES):
        raise WrongValue("candidates", f"must match a column; {pattern!r} matches none")
    return names


def _compared_columns(column_names: list[str], roles: dict) -> dict[str, list[str]]:
    """Return the columns of several models by role, or empty lists where there is one model."""
    compared = {}
    for role in COMPARED:
        names = columns.crossed_names(roles[role], column_names)
        compared[role] = names = names if len(names) > 1 else []
        if len({*names}) < len(names):
            raise WrongValue(role, "must name a different column for each model", roles[role])
        if roles["truth"] in names:
            rule = "must not name the column of {0}"
            raise WrongValue(role, rule, roles[role], others=("truth",))
    prediction, score = (roles[role] for role in COMPARED)
    if prediction and score and len({*map(len, compared.values())}) > 1:
        raise WrongValue(
            "score",
            "must name as many columns as {0}",
            told=f"got {score!r} against {prediction!r}",
            others=("prediction",),
        )
    return compared


def matches(name: str, pattern: str) -> bool:
    """Return whether a column name matches a pattern, ignoring case."""
    return fnmatch.fnmatchcase(columns.plain_name(name), pattern.casefold())


def _replicate_columns(column_names: list[str], pattern: str, roles: dict) -> list[str]:
    """Return the columns of replicate weights in the order of the file."""
    argument = "replicate_weights"
    used = {columns.plain_name(name) for name in roles.values() if isinstance(name, str)}
    unused = [name for name in column_names if columns.plain_name(name) not in used]
    names = [name for name in unused if fnmatch.fnmatchcase(name, pattern)]
    if not names:
        names = [name for name in unused if matches(name, pattern)]
    if len(names) < 2:
        matched = listed(names, quoted=True) or "none"
        rule = f"must match at least 2 columns; {pattern!r} matches {matched}"
        raise WrongValue(argument, rule)
    stems = {name.rstrip(string.digits) for name in names}
    numbered = [name for name in unused if name[-1:].isdigit() and name not in names]
    missed = [name for name in numbered if name.rstrip(string.digits) in stems]
    if missed:
        rule = (
            f"must match every replicate; {pattern!r} matches {len(names)} columns and leaves out "
            f"{listed(missed, 3, quoted=True)}"
        )
        raise WrongValue(argument, rule)
    for role in DESIGNED:
        if roles[role]:
            rule = "must not be given with {0}: the weights already account for the clusters"
            raise WrongValue(argument, rule, others=(role,))
    if not roles["weight"]:
        rule = "need the {0} that they modify: name its column"
        raise WrongValue(argument, rule, others=("weight",))
    return names


def _refuse_unlike(classes: dict[str, ndarray]) -> None:
    """Raise if one of the columns is text and another is numbers."""
    if len({cells.dtype.kind == "U" for cells in classes.values()}) > 1:
        examples = [f"column {name!r} {cells[0].item()!r}" for name, cells in classes.items()]
        raise ValueError(
            f"truth and prediction must both be text or both numbers; {' and '.join(examples)}"
        )
