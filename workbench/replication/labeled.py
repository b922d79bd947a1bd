"""Labeled items as they were sampled: strata, clusters and weights, or replicate weights that were made elsewhere."""

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
from workbench.data import columns, frames, numbers, shapes
from workbench.data.classes import alike_notes, class_notes, read_classes
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
        Whether the predictions differ from those of these rows beyond chance; None without such rows.
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
        """Which metrics the sample can show."""
        counts = np.ones(self.truth.size, bool) if self.weight is None else self.weight > 0
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
        """Place (n,) of the true class among the candidates [1]_, L + 1 where it is none; None without candidates.

        References
        ----------
        .. [1] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation, 2001: section 2.2.
        """
        if self.candidates is None:
            return None
        right = self.candidates == self.truth[:, None]
        return np.where(right.any(1), right.argmax(1), right.shape[1]) + 1

    @property
    def classes(self) -> list:
        """Classes that are true or predicted, sorted."""
        return np.unique(
            self.truth if self.prediction is None else np.concatenate([self.truth, self.prediction])
        ).tolist()

    def headline(self) -> str:
        """Return how many items there are and what they hold."""
        classes = np.unique(self.truth).size
        share = np.mean(self.truth == self.positive)
        about = "" if self.positive is None else f", {share:.1%} of class {self.positive}"
        items = checks.counted(self.truth.size, "labeled item")
        items += f" of {self.truth.size + self.unlabeled:,} rows" if self.unlabeled else ""
        return f"{items}, {checks.counted(classes, 'class', 'classes')}{about}"

    def rows(self) -> list[dict]:
        """Return one row per true class: items, and how many were predicted so."""
        names, counts = np.unique(self.truth, return_counts=True)
        predicted = (
            {}
            if self.prediction is None
            else {"predicted": [int((self.prediction == name).sum()) for name in names.tolist()]}
        )
        return rows_of(label=names, items=counts, **predicted)

    def clusters(self) -> list[dict]:
        """Return one row per PSU (per stratum where there are no PSUs): accuracy and items."""
        right = self.truth == _given("accuracy", "prediction", self.prediction)
        units = self.stratum if self.psu is None else self.psu
        names, code = np.unique(units, return_inverse=True)
        code = (
            np.unique(self.stratum, return_inverse=True)[1] * names.size + code
            if self.nest
            else code
        )
        _, first, code, items = np.unique(
            code, return_index=True, return_inverse=True, return_counts=True
        )
        return [
            {
                "stratum": str(self.stratum[k]),
                "psu": str(units[k]),
                "accuracy": float(r / n),
                "items": int(n),
            }
            for k, r, n in zip(first, np.bincount(code, right), items, strict=True)
        ]

    def columns(self, metric: str, label: Any = None) -> tuple[ndarray, ...]:
        """Return the columns that `workbench.replicate_estimate` takes for a metric.

        Parameters
        ----------
        metric : str
            As in `workbench.estimate_metrics`.
        label : label, optional
            The class that precision, recall and F1 are about, by default `positive`; the rank that identifies.
        """
        if METRICS[metric].about in ("rank", "ranks"):
            return self._ranked(metric, label)
        label = self.positive if label is None else label
        entry = METRICS[metric]
        of_class = entry.about == "class"
        if of_class and label is None:
            raise ValueError(
                f"{metric} needs the positive class; name one of {listed(np.unique(self.truth))}"
            )
        columns = ((role, _given(metric, role, getattr(self, role))) for role in entry.arguments)
        return tuple(
            column == label if of_class and role != "score" else column for role, column in columns
        )

    def _ranked(self, metric: str, most: int | None) -> tuple:
        """Return whether the true class is among so many candidates, or its rank among all and their number."""
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
) -> LabeledItems:
    """Return labeled items from a file or a data frame.

    Parameters
    ----------
    items : str or data frame
        As in `workbench.read_scores`.
    truth, prediction, score, stratum, psu, weight, group : str
        Column names; "" for none. A prediction or a score is needed. Without strata, or without a column "stratum",
        all items lie in one stratum, and a note says so. Several columns with commas between them, as "sex,status",
        are crossed to strata or to PSUs, unless a column has that name. Where some rows have no truth, the others are
        taken for a random sample of them, and a note says so. An item without a group counts among all items. One of
        weight 0 lies outside the population that is estimated.
    positive : str
        The class that precision, recall, F1 and AUC are about; "" for the larger of two classes that are numbers;
        true and false are 1 and 0.
    fpc : str
        Column with the number of PSUs that the population has in the stratum; "" for none.
    nest : bool
        PSU labels start again in every stratum.
    replicate_weights : str
        Pattern of the columns of replicate weights that were made elsewhere, as "repwt_*" or "w[0-9]*"; the weight is
        then needed, and strata and PSUs are not read. "" for none.
    classes : {"auto", "text", "numbers"}
        How classes are read, as in `workbench.data.classes.read_classes`.
    candidates : str
        Pattern of the columns of classes that a recognizer names, the most similar first; without a prediction the
        first of them is it. By default those that are called so, where there are any.

    Returns
    -------
    LabeledItems

    Raises
    ------
    ValueError
        For a missing column or cell, text against numbers, or a positive class that does not occur.

    Examples
    --------
    >>> load_labeled({"truth": [1, 0, 1, 0], "prediction": [1, 0, 0, 0], "stratum": ["a", "a", "b", "b"]})
    LabeledItems(4 labeled items, 2 classes, 50.0% of class 1)
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
    repeated = (
        _replicate_columns(items, replicate_weights, roles | {"nest": nest})
        if replicate_weights
        else []
    )
    roles["stratum"] = "" if repeated else _stratum_column(items, stratum)
    named_first = _candidate_columns(items, candidates)
    if named_first and prediction not in frames.column_names(items):
        roles["prediction"] = named_first[0]
    named = {role: name for role, name in roles.items() if name}
    crossed = {
        role: columns.crossed_names(named[role], frames.column_names(items))
        for role in CROSSED
        if role in named
    }
    single = {name for role, name in named.items() if role not in crossed}
    data, notes = frames.read_columns(
        items, sorted({*single, *itertools.chain(*crossed.values()), *repeated, *named_first})
    )
    labeled, unlabeled = _labeled_rows(truth, data[truth])
    unlike_others = (
        _unlike_others(data.get(roles["prediction"]), labeled, weight or psu) if unlabeled else None
    )
    data = {name: cells[labeled] for name, cells in data.items()} if unlabeled else data
    with shapes.in_rows(labeled if unlabeled else None):
        read, first_classes, more = _read(data, named, crossed, named_first, repeated, classes)
    notes = (*_row_notes(unlabeled, labeled.size, read, named), *notes, *more)
    if "stratum" not in read and not repeated:
        missing = f"no column {stratum!r}" if stratum else "no strata"
        notes = (
            *notes,
            Note("assumption", f"{missing}: the whole sample was taken for one stratum"),
        )
    if "prediction" in read:
        notes = (*notes, *class_notes(read["truth"], read["prediction"]))
    return LabeledItems(
        read["truth"],
        read.get("prediction"),
        read.get("score"),
        positive_class(positive, read["truth"]),
        read.get("stratum", np.full(labeled.size, ONE_STRATUM)),
        read.get("psu"),
        read.get("weight"),
        read.get("group"),
        read.get("fpc"),
        bool(nest),
        np.stack(read["repeated"], 1) if repeated else None,
        np.stack(first_classes, 1) if first_classes else None,
        unlabeled,
        unlike_others,
        positive not in ("", None),
        notes=notes,
    )


def _labeled_rows(name: str, cells: ndarray) -> tuple[ndarray, int]:
    """Return the rows that have a label, and how many have none."""
    gone = shapes.gaps(cells, False)
    words = shapes.gaps(cells, True)
    if words.any() and not words.all():
        with contextlib.suppress(ValueError):  # a word such as "NaN" may be a class of other words
            numbers.to_numbers(name, cells[~words])
            gone = words
    if gone.all():
        raise WrongValue("truth", f"must have a label in some rows; column {name!r} has none")
    return np.flatnonzero(~gone), int(gone.sum())


def _unlike_others(cells: ndarray | None, labeled: ndarray, design: str) -> bool | None:
    """Return whether labeled rows were predicted unlike the others; clusters and weights allow some difference."""
    if cells is None:
        return None
    is_labeled = np.zeros(cells.size, bool)
    is_labeled[labeled] = True
    texts = np.array(numbers.as_text(cells))
    others = texts[~is_labeled & (texts != "")]
    if not others.size or design and np.unique(texts[is_labeled]).size > 1:
        return False
    return differs_from_rest(texts[is_labeled], others)


def _read(
    data: dict,
    named: dict,
    crossed: dict,
    named_first: list[str],
    repeated: list[str],
    classes: str,
) -> tuple[dict, list[ndarray], list[Note]]:
    """Return the columns by their roles, those of candidates, and what is to be said of their reading."""
    measured = {named[role]: data[named[role]] for role in MEASURED if role in named}
    measured |= {name: data[name] for name in repeated}
    of_classes = {role: named[role] for role in ("truth", "prediction") if role in named}
    labels, notes = read_classes(
        {name: data[name] for name in dict.fromkeys([*of_classes.values(), *named_first])}, classes
    )
    read: dict = {role: labels[name] for role, name in of_classes.items()}
    read |= {
        role: numbers.to_numbers(named[role], data[named[role]], beside=measured)
        for role in MEASURED
        if role in named
    }
    read["repeated"] = [numbers.to_numbers(name, data[name], beside=measured) for name in repeated]
    for role, names in crossed.items():
        read[role] = _crossed(names, data)
        notes += alike_notes(named[role], read[role])
    if "group" in named:
        read["group"] = _groups(named["group"], data[named["group"]])
    _refuse_unlike(read, named)
    _refuse_weights(named.get("weight", ""), read)
    return read, [labels[name] for name in named_first], notes


def _crossed(names: list[str], data: dict) -> ndarray:
    """Return the labels of a column, or those of every combination of several."""
    read = {name: numbers.to_labels(name, data[name], "text") for name in names}
    if len(names) == 1:
        return read[names[0]]
    return np.array(
        columns.crossed_labels({name: labels.tolist() for name, labels in read.items()})
    )


def _groups(name: str, cells: ndarray) -> ndarray:
    """Return labels of groups; where some are missing they are text, and "" is no group."""
    gone = shapes.gaps(cells, False)
    if not gone.any() or gone.all():
        return numbers.to_labels(name, cells, "text")
    return np.array([str(label) for label in _filled(name, cells, gone)])


def _filled(name: str, cells: ndarray, gone: ndarray) -> list:
    """Return labels in all rows, "" where there is none."""
    labels = np.full(gone.size, "", object)
    with shapes.in_rows(np.flatnonzero(~gone)):
        labels[~gone] = numbers.to_labels(name, cells[~gone], "text")
    return labels.tolist()


def _row_notes(unlabeled: int, labeled: int, read: dict, named: dict) -> Iterator[Note]:
    """Yield how rows without a label, a group or a weight were taken."""
    if unlabeled:
        yield Note(
            "assumption",
            "they were taken for a random sample of the file; the other rows were left out",
            (LABELS_IN, f"{labeled:,} of {labeled + unlabeled:,} rows"),
        )
    if (
        "group" in read
        and read["group"].dtype.kind == "U"
        and (gone := int((read["group"] == "").sum()))
    ):
        yield Note(
            "data",
            f"{checks.counted(gone, 'item has', 'items have')} no {named['group']!r}: counted among all "
            "items, in no group",
        )
    if "weight" in read and (out := int((read["weight"] == 0).sum())):
        yield Note(
            "data",
            f"{checks.counted(out, 'item has', 'items have')} weight 0: outside the population that is "
            "estimated, but part of the design",
        )


def positive_class(positive: Any, truth: ndarray) -> Any:
    """Return the positive class as it stands among the true ones."""
    names = np.unique(truth).tolist()
    if positive == "" or positive is None:
        return names[1] if len(names) == 2 and not isinstance(names[0], str) else None
    wanted = {"true": "1", "false": "0"}.get(str(positive).strip().lower(), str(positive).strip())
    match = [name for name in names if name == positive or str(name) == wanted]
    if not match:
        raise WrongValue(
            "positive", f"must be a true class; got {positive!r}, there are {listed(names)}"
        )
    return match[0]


def _given(metric: Any, role: Any, values: Any) -> ndarray:
    if values is None:
        raise ValueError(f"{metric} needs a {role}: name its column")
    return values


def _stratum_column(items: Any, stratum: str) -> str:
    """Return the column of strata, or "" where the usual one is not there; one of a like name is asked for."""
    if stratum != STRATUM:
        return stratum
    names = {name.strip().casefold(): name for name in frames.column_names(items)}
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


def _candidate_columns(items: dict | str, pattern: str) -> list[str]:
    """Return the columns of candidates in the order of the file."""
    found = [name for name in frames.column_names(items) if fnmatch.fnmatchcase(name, pattern)]
    if not found and pattern not in ("", CANDIDATES):
        raise WrongValue("candidates", f"must match a column; {pattern!r} matches none")
    return found


def _replicate_columns(items: dict | str, pattern: str, roles: dict) -> list[str]:
    """Return the columns of replicate weights in the order of the file."""
    found = [
        name
        for name in frames.column_names(items)
        if fnmatch.fnmatchcase(name, pattern) and name not in roles.values()
    ]
    if len(found) < 2:
        raise WrongValue(
            "replicate_weights",
            f"must match at least 2 columns; {pattern!r} matches "
            f"{listed(found, quoted=True) or 'none'}",
        )
    given = [role for role in DESIGNED if roles[role]]
    if given:
        raise WrongValue(
            "replicate_weights",
            "must not be given with {0}: the weights know the clusters",
            others=(given[0],),
        )
    if not roles["weight"]:
        raise WrongValue(
            "replicate_weights", "need the {0} that they vary: name its column", others=("weight",)
        )
    return found


def _refuse_weights(name: str, read: dict) -> None:
    weight = read.get("weight", np.ones(1))
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise numbers.RowError(
            f"column {name!r}, ", row, f": a weight must be at least 0; got {weight[row]:g}"
        )
    if not weight.any():
        raise WrongValue(
            "weight", f"must be above 0 for some item; column {name!r} is 0 everywhere"
        )


def _refuse_unlike(read: dict, named: dict) -> None:
    if "prediction" in read and (read["prediction"].dtype.kind == "U") != (
        read["truth"].dtype.kind == "U"
    ):
        shown = " and ".join(
            f"column {named[role]!r} {read[role][0].item()!r}" for role in ("truth", "prediction")
        )
        raise ValueError(f"truth and prediction must both be text or both numbers; {shown}")
