"""Labeled items as they were sampled, with strata, clusters and weights or replicate weights."""

import contextlib
import difflib
import fnmatch
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue, listed
from workbench.data import columns, confusion_matrices, frames, numbers, shapes
from workbench.data.classes import alike_notes, class_notes, read_classes
from workbench.replication.designs import weights
from workbench.replication.statistics import METRICS
from workbench.replication.unsampled import SampledClasses, differs_from_rest
from workbench.results import Note, Result, rows_of

STRATUM = "stratum"
CANDIDATES = "candidate_*"
ONE_STRATUM = "all"
CLOSE = 0.75  # of difflib's likeness: "strata" is, "state" is not
LABELS_IN = "labels in"  # the place of a note on rows without a label
CROSSED = ("stratum", "psu")
MEASURED = ("score", "weight", "fpc")
DESIGNED = ("psu", "fpc", "nest")
OPTIONAL = (
    "prediction",
    "score",
    "psu",
    "weight",
)


class LabeledItems(Result):
    """Items with their true class, as they were sampled; made by `load_labeled`.

    Attributes
    ----------
    truth : (n,) array
    prediction, score : (n,) array or None
        Predicted class; for AUC a number that is larger the likelier the positive class.
    positive : label or None
        The class that precision, recall, F1 and AUC are about; None for every class.
    stratum, psu, weight, group, fpc : (n,) array or None
        As for `workbench.SurveyDesign`; the group is what results are broken down by.
    nest : bool
        As for `workbench.SurveyDesign`.
    replicate_weights : (n, R) array or None
        As for `workbench.imported_replicates`.
    candidates : (n, L) array or None
        Classes that a recognizer names, the most similar first.
    unlabeled : int
        Rows of the file without a label, which are left out.
    unlike_others : bool or None
        Whether the predictions differ from those of these rows beyond chance; None without such
        rows.
    named_positive : bool
        Whether the positive class was named.
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

    @property
    def sampled(self) -> SampledClasses:
        """The classes that the sample holds, which decide the metrics it can show."""
        counts = np.ones(self.truth.size, bool)
        if self.weight is not None:
            counts = self.weight > 0
        if self.prediction is None:
            true = np.unique(self.truth[counts]).tolist()
            return SampledClasses([], true, False, self.named_positive and len(true) == 1)
        return SampledClasses.of_columns(
            self.truth[counts],
            self.prediction[counts],
            several=self.named_positive,
            unlike_others=self.unlike_others,
        )

    @property
    def ranks(self) -> ndarray | None:
        """Place (n,) of the true class among the candidates [1]_, L + 1 where it is none of them.

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
        """Classes that are true or predicted, sorted."""
        labels = self.truth
        if self.prediction is not None:
            labels = np.concatenate([labels, self.prediction])
        return np.unique(labels).tolist()

    def headline(self) -> str:
        """Return the number of items, of classes and of positives."""
        classes = checks.counted(np.unique(self.truth).size, "class", "classes")
        text = checks.counted(self.truth.size, "labeled item")
        if self.unlabeled:
            text += f" of {self.truth.size + self.unlabeled:,} rows"
        if self.positive is None:
            return f"{text}, {classes}"
        proportion = np.mean(self.truth == self.positive)
        return f"{text}, {classes}, {proportion:.1%} of class {self.positive}"

    def rows(self) -> list[dict]:
        """Return one row per true class: items, and how many were predicted so."""
        names, counts = np.unique(self.truth, return_counts=True)
        if self.prediction is None:
            return rows_of(label=names, items=counts)
        predicted = [int((self.prediction == name).sum()) for name in names.tolist()]
        return rows_of(
            label=names,
            items=counts,
            predicted=predicted,
        )

    def clusters(self) -> list[dict]:
        """Return one row per PSU (per stratum where there are no PSUs): accuracy and items."""
        right = self.truth == _given("accuracy", "prediction", self.prediction)
        units = self.stratum if self.psu is None else self.psu
        names, code = np.unique(units, return_inverse=True)
        if self.nest:
            _, code_of_stratum = np.unique(self.stratum, return_inverse=True)
            code = code_of_stratum * names.size + code
        _, first, code, items = np.unique(
            code,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        return rows_of(
            stratum=self.stratum[first].astype(str),
            psu=units[first].astype(str),
            accuracy=np.bincount(code, right) / items,
            items=items,
        )

    def columns(self, metric: str, label: Any = None) -> tuple[ndarray, ...]:
        """Return the columns that `workbench.replicate_estimate` takes for a metric.

        Parameters
        ----------
        metric : str
            As in `workbench.estimate_metrics`.
        label : label, optional
            The class that precision, recall and F1 are about, by default `positive`; the rank that
            identifies.
        """
        entry = METRICS[metric]
        if entry.about in ("rank", "ranks"):
            return self._ranked(metric, label)
        label = self.positive if label is None else label
        if entry.about == "class" and label is None:
            raise ValueError(
                f"{metric} needs the positive class; name one of {listed(np.unique(self.truth))}"
            )
        columns = [_given(metric, role, getattr(self, role)) for role in entry.arguments]
        if entry.about != "class":
            return tuple(columns)
        truth, other = columns
        if "score" in entry.arguments:
            return truth == label, other
        return truth == label, other == label

    def _ranked(self, metric: str, most: int | None) -> tuple:
        """Return whether the true class is among the first candidates, or its rank among all."""
        ranks = _given(metric, "list of candidates", self.ranks)
        if most is not None:
            return (ranks <= most,)
        length = np.shape(self.candidates)[1]  # type: ignore[arg-type]
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
    prediction: str = "prediction",
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
) -> LabeledItems:
    """Return labeled items from a file or a data frame.

    Parameters
    ----------
    items : str or data frame
        As in `workbench.read_scores`. Or a confusion matrix, with the classes as names of its rows
        and columns; every item that it counts is then one, and is taken for independent of the
        others. So is every item of a file with a row per pair of classes and their number in a
        column "n", "count" or "freq".
    truth, prediction, score, stratum, psu, weight, group : str
        Column names; "" for none. A prediction or a score is needed. Without strata, or without a
        column "stratum", all items lie in one stratum, and a note says so. Several columns with
        commas between them, as "sex,status", are crossed to strata or to PSUs, unless a column has
        that name. Where some rows have no truth, the others are taken for a random sample of them,
        and a note says so. An item without a group counts among all items. One of weight 0 lies
        outside the population that is estimated.
    positive : str
        The class that precision, recall, F1 and AUC are about; "" for the larger of two classes
        that are numbers; true and false are 1 and 0.
    fpc : str
        Column with the number of PSUs that the population has in the stratum; "" for none.
    nest : bool
        PSU labels start again in every stratum.
    replicate_weights : str
        Pattern of the columns of replicate weights that were made elsewhere, as "repwt_*" or
        "w[0-9]*"; the weight is then needed, and strata and PSUs are not read. "" for none.
    classes : {"auto", "text", "numbers"}
        How classes are read, as in `workbench.data.classes.read_classes`.
    candidates : str
        Pattern of the columns of classes that a recognizer names, the most similar first; without a
        prediction the first of them is it. By default those that are called so, where there are
        any.
    rows : {"auto", "truth", "prediction"}
        What the rows of a confusion matrix are. "auto": what the matrix says, in its first cell or
        in the names of rows and columns; true classes if it does not say.

    Returns
    -------
    LabeledItems

    Raises
    ------
    ValueError
        For a missing column or cell, text against numbers, or a positive class that does not occur.

    Examples
    --------
    >>> load_labeled({"truth": [1, 0, 1, 0], "prediction": [1, 0, 0, 0], "stratum": list("aabb")})
    LabeledItems(4 labeled items, 2 classes, 50.0% of class 1)
    >>> load_labeled({"": ["cat", "dog"], "cat": [41, 4], "dog": [6, 52]})
    LabeledItems(103 labeled items, 2 classes)
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
    if not truth:
        raise WrongValue("truth", "must name a column")
    if weight and weight in (truth, prediction):
        raise WrongValue("weight", "must be another column than the classes", weight)
    frames.check_source("items", items)
    matrix_notes: list[Note] = []
    if rows != "auto" or (prediction and not score):
        matrix = confusion_matrices.read_matrix(
            "items",
            items,
            truth=truth,
            prediction=prediction,
            rows=rows,
        )
        if matrix:
            _refuse_design(roles | {"replicate_weights": replicate_weights}, stratum)
            items, matrix_notes = matrix.items(truth, prediction, classes)
            stratum = ""
    column_names = list(frames.column_names(items))
    repeated: list[str] = []
    if replicate_weights:
        repeated = _replicate_columns(column_names, replicate_weights, roles | {"nest": nest})
    roles["stratum"] = "" if repeated else _stratum_column(column_names, stratum)
    named_first = _candidate_columns(column_names, candidates)
    if named_first and prediction not in column_names:
        roles["prediction"] = named_first[0]
    sources = {role: name for role, name in roles.items() if name}
    crossed = {
        role: columns.crossed_names(sources[role], column_names)
        for role in CROSSED
        if role in sources
    }
    single = {name for role, name in sources.items() if role not in crossed}
    names = {
        *single,
        *itertools.chain(*crossed.values()),
        *repeated,
        *named_first,
    }
    data, file_notes = frames.read_columns(items, sorted(names))
    labeled, unlabeled = _labeled_rows(truth, data[truth])
    if set(names) == {truth, prediction} and not unlabeled and not matrix_notes:
        pairs = confusion_matrices.pair_counts("items", items, data[truth], data[prediction])
        if pairs:
            counts, matrix_notes = pairs
            labeled = np.repeat(labeled, counts)
            data = {name: cells[labeled] for name, cells in data.items()}
    unlike_others = None
    if unlabeled:
        predictions = data.get(roles["prediction"])
        unlike_others = _unlike_others(predictions, labeled, weight or psu)
        data = {name: cells[labeled] for name, cells in data.items()}
    with shapes.in_rows(labeled if unlabeled or matrix_notes else None):
        read, class_cells, more = _read(
            data,
            sources,
            crossed,
            named_first,
            repeated,
            classes,
        )
    notes = [*matrix_notes, *_row_notes(unlabeled, labeled.size, read, sources), *file_notes, *more]
    if "stratum" not in read and not repeated and not matrix_notes:
        missing = f"no column {stratum!r}" if stratum else "no strata"
        text = f"{missing}: the whole sample was taken for one stratum"
        notes.append(Note("assumption", text))
    read.setdefault("stratum", np.full(labeled.size, ONE_STRATUM))
    if "prediction" in read:
        notes.extend(class_notes(read["truth"], read["prediction"]))
    return LabeledItems(
        **{**dict.fromkeys(OPTIONAL), **read},
        positive=positive_class(positive, read["truth"]),
        nest=bool(nest),
        candidates=np.stack(class_cells, 1) if class_cells else None,
        unlabeled=unlabeled,
        unlike_others=unlike_others,
        named_positive=positive not in ("", None),
        notes=notes,
    )


def _refuse_design(roles: dict[str, str], stratum: str) -> None:
    """Raise if a column of the sample's design is named, which no confusion matrix has."""
    if stratum != STRATUM:
        roles = roles | {"stratum": stratum}
    for role, name in roles.items():
        if name and role not in ("truth", "prediction"):
            rule = (
                "needs {0} with a row per item; this is a confusion matrix, which has counts only"
            )
            raise WrongValue(role, rule, name, others=("items",))


def _labeled_rows(name: str, cells: ndarray) -> tuple[ndarray, int]:
    """Return the rows that have a label, and how many have none."""
    gone = shapes.gaps(cells, False)
    gaps = shapes.gaps(cells, True)
    if gaps.any() and not gaps.all():
        with contextlib.suppress(ValueError):  # a word such as "NaN" may be a class of other words
            numbers.to_numbers(name, cells[~gaps])
            gone = gaps
    if gone.all():
        raise WrongValue("truth", f"must have a label in some rows; column {name!r} has none")
    return np.flatnonzero(~gone), int(gone.sum())


def _unlike_others(cells: ndarray | None, labeled: ndarray, design: str) -> bool | None:
    """Return whether labeled rows were predicted unlike the others.

    With clusters or weights some difference is allowed.
    """
    if cells is None:
        return None
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
    named_first: list[str],
    repeated: list[str],
    classes: str,
) -> tuple[dict, list[ndarray], list[Note]]:
    """Return the columns by their roles, those of candidates, and notes on their reading."""
    of_classes = {role: sources[role] for role in ("truth", "prediction") if role in sources}
    names = dict.fromkeys([*of_classes.values(), *named_first])
    labels, notes = read_classes({name: data[name] for name in names}, classes)
    read: dict = {role: labels[name] for role, name in of_classes.items()}
    of_numbers = {role: sources[role] for role in MEASURED if role in sources}
    names_of_numbers = [*of_numbers.values(), *repeated]
    beside = {name: data[name] for name in names_of_numbers}
    for role, name in of_numbers.items():
        read[role] = numbers.to_numbers(name, data[name], beside=beside)
    if repeated:
        parts = [numbers.to_numbers(name, data[name], beside=beside) for name in repeated]
        read["replicate_weights"] = np.stack(parts, 1)
    for role, parts_of_role in crossed.items():
        read[role] = _crossed(parts_of_role, data)
        notes += alike_notes(sources[role], read[role])
    if "group" in sources:
        read["group"] = _groups(sources["group"], data[sources["group"]])
    if "prediction" in read:
        _refuse_unlike(read, sources)
    if "weight" in read:
        for row in np.flatnonzero(read["weight"] < 0)[:1].tolist():
            problem = f": a weight must be at least 0; got {read['weight'][row]:g}"
            raise numbers.RowError(f"column {sources['weight']!r}, ", row, problem)
        weights(read["weight"])
    return read, [labels[name] for name in named_first], notes


def _crossed(names: list[str], data: dict) -> ndarray:
    """Return the labels of a column, or those of every combination of several."""
    labels = {name: numbers.to_labels(name, data[name], "text") for name in names}
    if len(names) == 1:
        return labels[names[0]]
    lists = {name: column.tolist() for name, column in labels.items()}
    return np.array(columns.crossed_labels(lists))


def _groups(name: str, cells: ndarray) -> ndarray:
    """Return labels of groups; where some are missing they are text, and "" is no group."""
    gone = shapes.gaps(cells, False)
    if not gone.any() or gone.all():
        return numbers.to_labels(name, cells, "text")
    labels = np.full(gone.size, "", object)
    with shapes.in_rows(np.flatnonzero(~gone)):
        labels[~gone] = numbers.to_labels(name, cells[~gone], "text")
    return np.array([str(label) for label in labels.tolist()])


def _row_notes(
    unlabeled: int,
    labeled: int,
    read: dict,
    sources: dict,
) -> Iterator[Note]:
    """Yield notes on rows without a label, without a group or of weight 0."""
    if unlabeled:
        yield Note(
            "assumption",
            "they were taken for a random sample of the file; the other rows were left out",
            (LABELS_IN, f"{labeled:,} of {labeled + unlabeled:,} rows"),
        )
    for role, gap, text in (
        ("group", "", f"no {sources.get('group')!r}: counted among all items, in no group"),
        ("weight", 0, "weight 0: outside the population that is estimated, but part of the design"),
    ):
        count = int(np.count_nonzero(read.get(role, 1) == gap))
        if count:
            items = checks.counted(count, "item has", "items have")
            yield Note("data", f"{items} {text}")


def positive_class(positive: Any, truth: ndarray) -> Any:
    """Return the positive class as it stands among the true ones."""
    names = np.unique(truth).tolist()
    if positive == "" or positive is None:
        if len(names) == 2 and not isinstance(names[0], str):
            return names[1]
        return None
    text = str(positive).strip()
    text = {"true": "1", "false": "0"}.get(text.lower(), text)
    for name in names:
        if name == positive or str(name) == text:
            return name
    raise WrongValue(
        "positive", f"must be a true class; got {positive!r}, there are {listed(names)}"
    )


def _given(metric: str, role: str, values: ndarray | None) -> ndarray:
    if values is None:
        raise ValueError(f"{metric} needs a {role}: name its column")
    return values


def _stratum_column(column_names: list[str], stratum: str) -> str:
    """Return the column of strata, or "" without the usual one; raise for one of a close name."""
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
            f"{names[close[0]]!r}?): where the sample has no strata give ''",
        )
    return ""


def _candidate_columns(column_names: list[str], pattern: str) -> list[str]:
    """Return the columns of candidates in the order of the file."""
    names = [name for name in column_names if fnmatch.fnmatchcase(name, pattern)]
    if not names and pattern not in ("", CANDIDATES):
        raise WrongValue("candidates", f"must match a column; {pattern!r} matches none")
    return names


def _replicate_columns(column_names: list[str], pattern: str, roles: dict) -> list[str]:
    """Return the columns of replicate weights in the order of the file."""
    unused = [name for name in column_names if name not in roles.values()]
    names = [name for name in unused if fnmatch.fnmatchcase(name, pattern)]
    if len(names) < 2:
        raise WrongValue(
            "replicate_weights",
            f"must match at least 2 columns; {pattern!r} matches "
            f"{listed(names, quoted=True) or 'none'}",
        )
    for role in DESIGNED:
        if roles[role]:
            raise WrongValue(
                "replicate_weights",
                "must not be given with {0}: the weights know the clusters",
                others=(role,),
            )
    if not roles["weight"]:
        raise WrongValue(
            "replicate_weights", "need the {0} that they vary: name its column", others=("weight",)
        )
    return names


def _refuse_unlike(read: dict, sources: dict) -> None:
    roles = ("truth", "prediction")
    if len({read[role].dtype.kind == "U" for role in roles}) > 1:
        first = {role: read[role][0].item() for role in roles}
        examples = (f"column {sources[role]!r} {first[role]!r}" for role in roles)
        raise ValueError(
            f"truth and prediction must both be text or both numbers; {' and '.join(examples)}"
        )
