"""Scored items: read them from files and data frames, or simulate them."""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy

from workbench import checks
from workbench.data import files, frames, numbers, shapes
from workbench.data.classes import alike_notes, class_notes, model_notes, read_classes, verdict_of
from workbench.data.columns import spelled
from workbench.results import SHOWN_ROWS, Note, Result, html_table, note_list, rows_of

SCORE_KINDS = ("auto", "confidence", "class1", "margin", "log_confidence")
LEAVE_OUT = ("", "missing")
SYNTHETIC_KINDS = ("calibrated", "overconfident", "noisy", "rcv1", "epsilon", "news20")
CLASSES = ("prediction", "truth", "rival")
SCORE, LOG_ID = (
    "score",
    "id",
)  # columns by their usual names: of all files, and of logs of evaluations
MOST_GIVEN = 50
UNLESS_MARGIN = "; if its sign is the prediction, use score_is='margin' (--score-is margin)"
UNLESS_LOGARITHM = "; if all are logarithms of probabilities, use score_is='log_confidence' (--score-is log_confidence)"
OR_LEAVE_OUT = "; leave_out='missing' (--leave-out missing) goes without such rows"
# what people write where no label is
NO_LABEL = numbers.GONE | {
    "-",
    "--",
    "\u2013",
    "\u2014",
    ".",
    "<na>",
    "missing",
    "unlabeled",
    "unlabelled",
    "not labeled",
    "not labelled",
    "no label",
    "todo",
    "tbd",
}

_DEFAULT_SIZE = {"rcv1": 700_000, "epsilon": 450_000, "news20": 16_000}
_DEFAULT_ACCURACY = {"rcv1": 0.953}
_CONCENTRATION = 1.5
_LOGIT_NOISE = 1.0


class ScoredItems(Result):
    """Items a classifier has scored, and what is known about them.

    Attributes
    ----------
    id : (N,) ndarray or None
        Identifiers: text, or numbers where a data frame held numbers.
    score : (N,) ndarray of float
        Rises with the chance that the prediction is right: a confidence in [0, 1], or the absolute
        value of a margin.
    prediction, truth : (N,) ndarray or None
        Class labels, both numbers or both text.
    correct : (N,) ndarray of bool or None
        Whether the prediction is right.
    score_is : {"confidence", "margin", "none"}
        What `score` holds now; a probability of class 1 has become a confidence. "none": nothing, all are NaN.
    rival : (N,) ndarray or None
        Classes predicted by a second model, coded as `prediction`.
    read_as : str
        What the scores were taken for where the file was not told to say it; else "".
    by : (N,) ndarray of str or None
        Strata that are given: items of one text are one stratum. None where scores are cut into strata.
    left_out : str
        Which rows of the file are no items, and why; "" where all are.
    kept : (N,) ndarray of int or None
        The data rows of the file, from 0, that are the items; None where all are.
    labeled : (n,) ndarray of int or None
        Positions of the items that have a label, where only some have one: `truth` and `correct` are then None. None
        where all items have a label, or none has.
    labeled_truth : (n,) ndarray or None
        Their true classes, coded as `prediction`.
    labeled_correct : (n,) ndarray of bool or None
        Whether their prediction is correct.

    Examples
    --------
    >>> ScoredItems(None, np.array([0.9, 0.7]), correct=np.array([True, False]))
    ScoredItems(2 items, mean confidence 0.8, accuracy 0.5)
    """

    holds_items = True

    id: np.ndarray | None
    score: np.ndarray
    prediction: np.ndarray | None = None
    truth: np.ndarray | None = None
    correct: np.ndarray | None = None
    score_is: str = "confidence"
    rival: np.ndarray | None = None
    read_as: str = ""
    by: np.ndarray | None = None
    left_out: str = ""
    kept: np.ndarray | None = None
    labeled: np.ndarray | None = None
    labeled_truth: np.ndarray | None = None
    labeled_correct: np.ndarray | None = None

    def __post_init__(self) -> None:
        checks.refuse_masked("score", self.score, "item")
        if np.ndim(self.score) != 1 or not len(self.score):
            raise checks.WrongValue(
                "score",
                f"must be one-dimensional and hold an item; got shape {np.shape(self.score)}",
            )
        super().__post_init__()

    @property
    def size(self) -> int:
        """Number of items, N."""
        return int(self.score.size)

    def headline(self) -> str:
        """Return size, mean confidence (or margin) and, where known, accuracy in one sentence."""
        known = "" if self.correct is None else f", accuracy {self.correct.mean():.4g}"
        if self.labeled is not None and self.labeled_correct is not None:
            labels = checks.counted(self.labeled.size, "label")
            known = f", {labels} with accuracy {self.labeled_correct.mean():.4g}"
        taken = f"; scores read as {self.read_as}" if self.read_as else ""
        mean = (
            "no score"
            if self.score_is == "none"
            else f"mean {self.score_is} {self.score.mean():.4g}"
        )
        return f"{checks.counted(self.size, 'item')}, {mean}{known}{taken}"

    def rows(self) -> list[dict]:
        """Return one row per item with the columns that are known."""
        return self._first_rows(self.size)

    def _first_rows(self, count: int) -> list:
        named = {
            name: getattr(self, name)
            for name in ("id", "score", "prediction", "rival", "truth", "correct")
        }
        return rows_of(
            **{name: values[:count] for name, values in named.items() if values is not None}
        )

    def _repr_html_(self) -> str:
        cut = f" (the first {SHOWN_ROWS} of {self.size} rows)" if self.size > SHOWN_ROWS else ""
        return html_table(self._first_rows(SHOWN_ROWS), self.headline() + cut) + note_list(
            self.notes
        )


@frames.in_rows_of("source")
def read_scores(
    source: Any,
    *,
    score: str,
    prediction: str | None = None,
    truth: str | None = None,
    id: str | None = None,
    score_is: str = "auto",
    rival: str | None = None,
    positive: Any = None,
    by: str | None = None,
    classes: str = "auto",
    probabilities: str = "",
    model: str = "",
    leave_out: str = "",
) -> ScoredItems:
    """Read scored items from a file or a data frame and check every row.

    Of the log of an evaluation (Inspect's .json and .eval, samples_*.jsonl of lm-evaluation-harness) the columns are
    `id`, `score` (of the scorer, or the metric), `input`, `answer`, `target` and more; "log.json#NAME" names the scorer
    or the filter where there are several. Such a score is the chance that the answer is right, and samples without one
    are left out; a log without any score is one stratum.

    Parameters
    ----------
    source : str, path or data frame
        What `frames.read_columns` reads: text, JSON, packed or not, parquet, xlsx, a log, or a data frame.
    score : str
        Column of the scores, finite numbers. With `by` there may be no column "score".
    prediction, truth : str, optional
        Columns of predicted and true classes, both numbers or both text; None or "" for none. Without predictions,
        `truth` is 1 where the classifier was right and 0 where it was wrong (for "confidence"). Where only some rows
        have a truth, the others are empty or say so ("NA", "-", "unlabeled"); `labeled` then names the rows that have
        one, and audits take these for a random sample of all rows.
    id : str, optional
        Column of identifiers, unique and never missing; text files give text, so "007" stays "007". A log has its own.
    score_is : {"auto", "confidence", "class1", "margin"}
        "confidence": chance in [0, 1] that the prediction is right; "log_confidence": its natural logarithm. "class1":
        probability of class 1 in [0, 1]; becomes a confidence, and without predictions class 1 is predicted from 0.5
        on. With `positive`, class 1 is that class, and the others may have any names. "margin": any finite number whose
        sign is the prediction (0 is the negative class); becomes its absolute value. For the last two, classes are 0
        and 1, or -1 and 1 where a column holds -1. "auto": "class1" if `positive` is named, or if one of two predicted
        classes has all the higher scores and a score is below 0.5; "confidence" if there are three or more predicted
        classes, or no score is below 0.5 and the scores do not tell two predicted classes apart or nothing is
        predicted; else it must be said.
    rival : str, optional
        Column of the classes that a second model predicts, to be compared with the predictions; or a file with the
        columns `id` and `prediction` of that model. With `model`, the name of the second model, or "first, second".
    positive : str or number, optional
        The predicted class whose probability the score is; None or "" for class 1, and with "auto" for the one that has
        the higher scores.
    by : str, optional
        Column of at most 50 values that are the strata, in the place of strata cut from the scores.
    classes : {"auto", "text", "numbers"}
        How classes are read, as in `workbench.data.classes.read_classes`.
    probabilities : str, optional
        Columns of the probabilities of each class, such as "p_*", in the place of score and prediction: the class that
        stands for the asterisk in the name of the column with the highest is predicted, with that confidence.
    model : str, optional
        Column that says whose prediction a row is, in a file with a row per item and model.
    leave_out : {"", "missing"}
        "missing": rows without a score or a prediction are no items, and `left_out` says which.

    Returns
    -------
    ScoredItems

    Raises
    ------
    ValueError
        For a missing column, a missing or impossible cell, a repeated identifier, text against
        numbers, and a prediction that contradicts the sign of its margin. Names the column and the
        row.

    Examples
    --------
    >>> items = read_scores({"p": [0.9, 0.2, 0.6], "y": [1, 0, 0]}, score="p", truth="y", score_is="class1")
    >>> items
    ScoredItems(3 items, mean confidence 0.7667, accuracy 0.6667)
    >>> print(items.notes[0])
    prediction is 1 where 'p' is at least 0.5
    """
    checks.choice("score_is", score_is, SCORE_KINDS)
    checks.choice("leave_out", leave_out, LEAVE_OUT)
    checks.not_both(probabilities=probabilities, prediction=prediction)
    checks.not_both(probabilities=probabilities, score_is=score_is != "auto")
    log = files.is_evaluation_log(source)
    names = frames.column_names(source) if probabilities or rival or score == SCORE else ()
    scored = bool(probabilities) or score != SCORE or spelled(score, names) in names
    if not scored and not log and not by:
        shapes.refuse_without_score(names)
    file = "" if model else shapes.rival_file(rival, names)
    columns = _named_columns(
        {
            "score": score if scored and not probabilities else None,
            "prediction": prediction,
            "truth": truth,
            "id": id or (LOG_ID if log else None),
            "rival": None if model or file else rival,
        }
    )
    others = [by] if by else [] if columns else names[:1]
    read = shapes.read_rows(
        source,
        columns,
        others,
        rival=rival or "",
        file=file,
        model=model,
        leave_out=leave_out,
        of_class=shapes.class_columns(names, probabilities) if probabilities else {},
    )
    try:
        with shapes.in_rows(read.rows):
            return _items(
                read,
                scored,
                "confidence" if probabilities else score_is,
                positive,
                by,
                classes,
                log,
            )
    except numbers.MissingError as error:
        raise numbers.RowError(*error.parts, OR_LEAVE_OUT * shapes.has_gaps(read)) from None


def _items(
    read: shapes.Rows,
    scored: bool,
    score_is: str,
    positive: Any,
    by: str | None,
    classes: str,
    log: bool,
) -> ScoredItems:
    columns, data, notes = read.columns, read.data, read.notes
    of_class = {role: columns[role] for role in CLASSES if role in columns}
    labeled, data, label_notes = _labeled_rows(columns, data, classes)
    labels, read_notes = read_classes({name: data[name] for name in of_class.values()}, classes)
    labels = {role: labels[name] for role, name in of_class.items()}
    score, size = columns.get("score", SCORE), len(next(iter(data.values())))
    data = {
        name: cells for name, cells in data.items() if name in (columns.get("id"), by, score)
    }  # text is large
    identifiers = (
        numbers.to_ids(columns["id"], data[columns["id"]])
        if "id" in columns
        else None
        if read.rows is None
        else read.rows + 1
    )
    if log and scored:
        scored, score_is = (
            _is_chance(score, data[score], by),
            "confidence" if score_is == "auto" else score_is,
        )
    if scored and score_is == "auto" and labeled is not None:
        score_is, more = _meaning_for_strata(columns, data[score], labels, positive)
        notes = (*notes, *more)
    found = (
        _scored(columns, data[score], labels, score_is, positive, log)
        if scored
        else _unscored(columns, labels, size)
    )
    if by:
        found["by"] = _given_strata(by, data[by])
        notes = (*notes, *alike_notes(by, found["by"]))
    _refuse_text_against_numbers(found, columns)
    notes = (*notes, *label_notes, *read_notes, *found.pop("notes"))
    if "prediction" in found and "truth" in found:
        found["correct"] = found["prediction"] == found["truth"]
        truth = found["truth"] if labeled is None else found["truth"][labeled]
        notes += tuple(
            class_notes(truth, *(found[role] for role in ("prediction", "rival") if role in found))
        )
    if "rival" in found:
        notes += tuple(model_notes(found["prediction"], found["rival"]))
    if labeled is not None:
        found |= {"labeled": labeled}
        for role in ("truth", "correct"):
            values = found.pop(role, None)
            found[f"labeled_{role}"] = None if values is None else values[labeled]
    return ScoredItems(identifiers, notes=notes, left_out=read.left_out, kept=read.rows, **found)


def _labeled_rows(
    columns: dict, data: dict, classes: str
) -> tuple[np.ndarray | None, dict, list[Note]]:
    """Return the rows that have a truth where only some have, data without gaps in that column, and a note on words.

    A row without a truth gets that of the first row that has one, so that the column is read as it stands.
    """
    name = columns.get("truth")
    if name is None:
        return None, data, []
    missing, words = missing_labels(data[name], data.get(columns.get("prediction", "")), classes)
    if not missing.any():
        return None, data, []
    if missing.all():
        raise checks.WrongValue(
            "truth",
            f"must have a label in some rows; column {name!r} has none. Leave it out to "
            "plan which rows to label",
        )
    labeled = np.flatnonzero(~missing)
    cells = np.array(data[name], copy=True)
    cells[missing] = cells[labeled[0]]
    shown = checks.listed(words, quoted=True)
    notes = [Note("data", f"in column {name!r}, {shown} is read as no label")] if words else []
    return labeled, data | {name: cells}, notes


def missing_labels(
    cells: np.ndarray, predictions: np.ndarray | None, classes: str = "auto"
) -> tuple[np.ndarray, list[str]]:
    """Return which rows have no label, (N,) bool, and the words that say so in some of them.

    Parameters
    ----------
    cells : (N,) ndarray
    predictions : (N,) ndarray or None
        A word that is a predicted class is a label.
    classes : {"auto", "text", "numbers"}
        With "text" only an empty cell is no label. "None" may be a class, so elsewhere it is no label only where
        nothing else says that there is none.

    Examples
    --------
    >>> missing, words = missing_labels(np.array(["cat", "", "NA", "-"], object), None)
    >>> missing.tolist(), words
    ([False, True, True, True], ['-', 'NA'])
    """
    array = np.asarray(cells)
    if array.dtype.kind == "f":
        return np.isnan(array), []
    if array.dtype.kind in "biu":
        return np.zeros(array.size, bool), []
    texts = np.array(numbers.as_text(array))
    predicted = (
        set()
        if predictions is None
        else {text.casefold() for text in set(numbers.as_text(predictions))}
    )
    words = {"", *(NO_LABEL if classes != "text" else ())} - predicted
    without = [text for text in np.unique(texts).tolist() if text.casefold() in words]
    if len(without) > 1:
        without = [text for text in without if text.casefold() != "none"]
    return np.isin(texts, without), [text for text in without if text.casefold() not in ("", "nan")]


def _scored(
    columns: dict, cells: np.ndarray, labels: dict, score_is: str, positive: str | None, log: bool
) -> dict:
    """Return fields of items with scores, and notes."""
    values, in_percent = numbers.to_shares(columns["score"], cells)
    positive = _named_class(positive, labels, score_is)
    kind, positive, read_as = (
        (score_is, positive, "")
        if score_is != "auto"
        else _meaning(values, labels.get("prediction"), columns, positive)
    )
    convert: dict = {
        "confidence": _from_confidence,
        "margin": _from_margin,
        "log_confidence": _from_logarithm,
        "class1": functools.partial(_from_class, positive),
    }
    found = convert[kind](values, labels, columns)
    return found | {
        "score_is": "margin" if kind == "margin" else "confidence",
        "read_as": read_as,
        "notes": (*in_percent, *found["notes"], *(() if log else _rounded(values))),
    }


def _meaning_for_strata(
    columns: dict, cells: np.ndarray, labels: dict, positive: Any
) -> tuple[str, list[Note]]:
    """Return "auto", or "confidence" and a note where the meaning of scores is open but only cuts strata.

    With predictions and labels, no estimate depends on what the scores mean.
    """
    values, _ = numbers.to_shares(columns["score"], cells)
    if "prediction" not in labels or positive not in (None, ""):
        return "auto", []
    try:
        _meaning(values, labels["prediction"], columns, None)
    except checks.WrongValue:
        return "confidence", [
            Note(
                "assumption",
                f"column {columns['score']!r} is read as the confidence in the "
                "prediction, which only decides which items are in one stratum: say score_is class1 "
                "if it is the probability of a class",
            )
        ]
    return "auto", []


def _unscored(columns: dict, labels: dict, size: int) -> dict:
    """Return fields of items without scores, one stratum unless a column says others."""
    found = _from_confidence(np.ones(size), labels, {"score": SCORE} | columns)
    return found | {"score": np.full(size, np.nan), "score_is": "none", "by": np.full(size, "all")}


def _is_chance(score: str, cells: np.ndarray, by: str | None) -> bool:
    """Return whether a log's scores are chances; others are of no use where a column says the strata, and refused."""
    values = numbers.to_numbers(score, cells)
    outside = values.min() < 0 or values.max() > 1
    if outside and not by:
        raise ValueError(
            f"{score!r} goes from {values.min():g} to {values.max():g}, but a score is a chance from 0 to "
            f"1; a column may say the strata instead: by={score!r}"
        )
    return not outside


def _given_strata(by: str, column: np.ndarray) -> np.ndarray:
    """Return the strata that a column says, as text."""
    texts = np.array([text or "(none)" for text in numbers.as_text(column)])
    distinct = np.unique(texts).size
    if distinct > MOST_GIVEN:
        raise checks.WrongValue(
            "by",
            f"names a column of at most {MOST_GIVEN} values, a stratum each",
            by,
            told=f"{by!r} has {distinct:,}",
        )
    return texts


def synthetic_scores(
    kind: str,
    *,
    size: int | None = None,
    accuracy: float | None = None,
    rng: int | np.random.Generator = 0,
) -> ScoredItems:
    """Simulate scored items whose accuracy is known.

    Parameters
    ----------
    kind : {"calibrated", "overconfident", "noisy", "rcv1", "epsilon", "news20"}
        The first three draw a chance p = 0.5 + 0.5 Beta and correctness from Bernoulli(p). The score
        is p itself; 0.5 + 0.5 (2p - 1)^(1/4); or the latter with normal noise on its logit. The last
        three are twins: synthetic look-alikes of the test sets of [1]_, not the data. "rcv1" and
        "news20" have the confidence of a logistic regression, "epsilon" the absolute output of a
        linear support vector machine (a margin).
    size : int, optional
        Number of items; 20,000, and 700,000, 450,000 and 16,000 for the twins.
    accuracy : float, optional
        Expected accuracy in (0.5, 1); 0.88, and 0.953 for "rcv1", which is inferred from the 284
        labels [1]_ needs for a mean absolute error of 1%.
    rng : int or numpy.random.Generator

    Returns
    -------
    ScoredItems
        With `correct`, without identifiers and labels.

    Raises
    ------
    ValueError
        For an unknown kind, a size below 1 or an accuracy outside (0.5, 1).

    References
    ----------
    .. [1] Kumar & Raj, Classifier Risk Estimation under Limited Labeling Resources, 2016, section 4.

    Examples
    --------
    >>> synthetic_scores("overconfident", size=1000)
    ScoredItems(1,000 items, mean confidence 0.9555, accuracy 0.878)
    """
    checks.choice("kind", kind, SYNTHETIC_KINDS)
    size = checks.whole("size", _DEFAULT_SIZE.get(kind, 20_000) if size is None else size, 1)
    accuracy = checks.number(
        "accuracy",
        _DEFAULT_ACCURACY.get(kind, 0.88) if accuracy is None else accuracy,
        0.5,
        1,
        open_ends=True,
    )
    rng = checks.generator(rng)
    sureness = 2 * accuracy - 1
    beta = rng.beta(_CONCENTRATION * sureness, _CONCENTRATION * (1 - sureness), size)
    correct = rng.random(size) < 0.5 + 0.5 * beta
    score_is = "margin" if kind == "epsilon" else "confidence"
    return ScoredItems(None, _SYNTHETIC[kind](beta, rng), correct=correct, score_is=score_is)


def _named_columns(roles: dict) -> dict:
    columns = {
        role: name
        for role, name in roles.items()
        if not (name is None or isinstance(name, str) and not name)
    }
    for role, name in columns.items():
        if not isinstance(name, str):
            raise TypeError(f"{role} must be the name of a column; got {name!r}")
    twice = [(a, b) for a in columns for b in columns if a < b and columns[a] == columns[b]]
    if twice:
        first, second = twice[0]
        raise checks.WrongValue(
            first,
            "must be another column than {0}",
            columns[first],
            told=f"both are {columns[first]!r}",
            others=(second,),
        )
    return columns


def _named_class(positive: str | None, labels: dict, score_is: str) -> str | None:
    """Return the class whose probability the score is as the predictions have it, or None."""
    if positive is None or positive == "":
        return None
    if score_is not in ("auto", "class1"):
        raise checks.WrongValue(
            "positive",
            "belongs to scores that are the probability of a class: say score_is='class1'",
            score_is,
        )
    if "prediction" not in labels:
        raise checks.WrongValue(
            "positive", "must be a predicted class; name the column of predictions"
        )
    classes = np.unique(labels["prediction"]).tolist()
    match = [name for name in classes if str(name) == str(positive).strip()]
    if not match:
        raise checks.WrongValue(
            "positive",
            f"must be a predicted class; got {positive!r}, there are "
            + checks.listed(classes, quoted=True)
            + checks.suggestion(positive, map(str, classes)),
        )
    return match[0]


def _meaning(
    values: np.ndarray, predicted: np.ndarray | None, columns: dict, positive: str | None
) -> tuple:
    """Return the kind of the scores, the class they are about or None, and both in words."""
    if positive is not None:
        return "class1", positive, f"probability of class {positive!r}"
    confidence = "confidence", None, "confidence in the prediction"
    low = int((values < 0.5).sum())
    if values.min() < 0 or values.max() > 1:
        return confidence  # refused below
    if predicted is None:
        if not low:
            return confidence
        raise _open(
            columns,
            f"nothing is predicted and {checks.counted(low, 'score is', 'scores are')} below 0.5",
        )
    classes = _first_classes(predicted)
    if len(classes) > 2:
        return confidence
    if len(classes) == 1:
        raise _open(columns, f"all predictions are {classes[0]!r}")
    stepped = _stepped_class(values, predicted)
    if stepped is not None and low:
        return "class1", stepped, f"probability of class {stepped!r}"
    if stepped is None and not low:
        return confidence
    raise _open(
        columns,
        "the scores tell the two predicted classes apart, but none is below 0.5"
        if not low
        else f"{checks.counted(low, 'score is', 'scores are')} below 0.5, but do not tell the two predicted "
        "classes apart",
    )


def _looks_like_a_class(values: np.ndarray, labels: dict) -> Iterator[Note]:
    """Yield a note where a confidence has all signs of the probability of one of two predicted classes."""
    stepped = _stepped_class(values, labels["prediction"]) if "prediction" in labels else None
    if stepped is not None and (values < 0.5).any():
        yield Note(
            "unreliable",
            "the scores are read as the confidence in the prediction, but are higher wherever "
            f"{stepped!r} is predicted than where it is not: if they are the probability of {stepped!r}, say "
            f"score_is class1 and positive {stepped}",
        )


def _stepped_class(values: np.ndarray, predicted: np.ndarray) -> int | str | None:
    """Return the one of two predicted classes that has all the higher scores, or None."""
    classes = sorted(_first_classes(predicted))
    if len(classes) != 2:
        return None
    first, second = (values[predicted == name] for name in classes)
    apart = first.max() <= second.min() or second.max() <= first.min()
    return classes[int(second.mean() > first.mean())] if apart else None


def _first_classes(labels: np.ndarray) -> list:
    """Return the classes of a column, three of them where there are more."""
    others = labels[labels != labels[0]]
    third = others[others != others[:1]]
    return [each[0].item() for each in (labels, others, third) if each.size]


def _open(columns: dict, why: str) -> Any:
    return checks.WrongValue(
        "score_is",
        f"must be said, as {why}: 'confidence' if column {columns['score']!r} is the "
        "chance that the prediction is right, 'class1' if it is the probability of a class "
        "(positive names which)",
    )


def _from_class(
    positive: int | str | None, values: np.ndarray, labels: dict, columns: dict
) -> dict:
    """Return fields where scores are the probability of a predicted class of any name, or of class 1."""
    _refuse_outside(values, columns, "probability", UNLESS_MARGIN if positive is None else "")
    negative = _negative_class(labels, columns, "class 1") if positive is None else 0
    likelier = values >= 0.5
    if "prediction" not in labels:
        note = Note("assumption", f"prediction is 1 where {columns['score']!r} is at least 0.5")
        return {
            "score": np.where(likelier, values, 1 - values),
            **labels,
            "prediction": np.where(likelier, 1, negative),
            "notes": (note,),
        }
    is_positive = labels["prediction"] == (1 if positive is None else positive)
    other = int((is_positive != likelier).sum())
    notes = (
        Note(
            "data",
            f"{checks.counted(other, 'prediction is', 'predictions are')} not the class that "
            f"{columns['score']!r} makes likelier",
        ),
    ) * (other > 0)
    return {"score": np.where(is_positive, values, 1 - values), **labels, "notes": notes}


def _refuse_outside(values: np.ndarray, columns: dict, what: str, otherwise: str) -> None:
    hint = "; divide by 100" if values.min() >= 0 and 10 < values.max() <= 100 else otherwise
    _refuse(
        columns["score"], values, (values < 0) | (values > 1), f"is not a {what} from 0 to 1{hint}"
    )


def _from_confidence(values: np.ndarray, labels: dict, columns: dict) -> dict:
    _refuse_outside(
        values, columns, "confidence", UNLESS_MARGIN + UNLESS_LOGARITHM * bool(values.max() <= 0)
    )
    if "rival" in labels and "prediction" not in labels:
        raise checks.WrongValue(
            "rival",
            f"{columns['rival']!r} is compared with predictions; name their column as prediction",
        )
    if "prediction" in labels or "truth" not in labels:
        return {"score": values, **labels, "notes": tuple(_looks_like_a_class(values, labels))}
    correct, notes = verdicts_of(
        columns["truth"],
        labels["truth"],
        "is not 0 or 1; without a prediction column, truth "
        "says whether the item was classified correctly",
    )
    return {"score": values, "correct": correct, "notes": notes}


def verdicts_of(name: str, truth: np.ndarray, rule: str) -> tuple[np.ndarray, tuple]:
    """Return which items were classified correctly, by 1 and 0 or by words, and a note on words; `rule` is not kept."""
    said = {word: verdict_of(str(word)) for word in np.unique(truth).tolist()}
    verdicts = np.array([-1 if said[word] is None else said[word] for word in truth.tolist()])
    _refuse(name, truth, verdicts < 0, rule)
    meant = checks.listed(
        f"{word!r} is {'right' if verdict else 'wrong'}" for word, verdict in said.items()
    )
    return verdicts == 1, (Note("data", f"in column {name!r} {meant}"),) * (truth.dtype.kind == "U")


def _from_logarithm(values: np.ndarray, labels: dict, columns: dict) -> dict:
    """Return fields where scores are natural logarithms of the confidence."""
    _refuse(
        columns["score"], values, values > 0, "is not the logarithm of a probability: it is above 0"
    )
    found = _from_confidence(np.exp(values), labels, columns)
    least = values.min()
    note = Note(
        "data",
        f"scores are natural logarithms of the confidence: {least:.4g} is read as {np.exp(least):.4g}",
    )
    return found | {"notes": (note, *found["notes"])}


def _from_margin(values: np.ndarray, labels: dict, columns: dict) -> dict:
    predicted = np.where(values > 0, 1, _negative_class(labels, columns, "the positive class"))
    if "prediction" in labels:
        _refuse(
            columns["prediction"],
            labels["prediction"],
            labels["prediction"] != predicted,
            f"contradicts the sign of {columns['score']!r}",
            predicted,
        )
    return {"score": np.abs(values), **labels, "prediction": predicted, "notes": ()}


def _negative_class(labels: dict, columns: dict, meaning: str) -> int:
    """Return 0, or -1 where a column holds -1; refuse every other coding."""
    for role, label in labels.items():
        if label.dtype.kind == "U":
            raise ValueError(
                f"column {columns[role]!r} holds text such as {str(label[0])!r}; which label is "
                f"{meaning} cannot be known: code the classes 0 and 1"
            )
    negative = -1 if any(np.any(label == -1) for label in labels.values()) else 0
    for role, label in labels.items():
        _refuse(columns[role], label, ~_is_coded(label, negative), f"is not {negative} or 1")
    return negative


def _is_coded(label: np.ndarray, negative: int) -> np.ndarray:
    return (label == negative) | (label == 1)


def _refuse(name: Any, values: Any, bad: Any, rule: Any, expected: Any = None) -> None:
    for row in np.flatnonzero(bad)[:1]:
        value = values[row].item()
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        if expected is not None:
            rule = f"{rule}, which says {expected[row]}"
        raise numbers.RowError(f"column {name!r}, ", row, f": {shown} {rule}")


def _refuse_text_against_numbers(found: dict, columns: dict) -> None:
    kinds = {
        role: "text" if found[role].dtype.kind == "U" else "numbers"
        for role in CLASSES
        if role in found
    }
    if len(set(kinds.values())) == 2:
        shown = " and ".join(
            f"column {columns.get(role, columns['score'])!r} ({role}) holds {kind} such as "
            f"{found[role][0].item()!r}"
            for role, kind in kinds.items()
        )
        raise ValueError(f"text against numbers: {shown}; code both alike")


def _rounded(values: Any) -> tuple:
    ordered = np.sort(values)
    differs = np.append(True, ordered[1:] != ordered[:-1])
    if np.count_nonzero(differs) >= 0.5 * values.size:
        return ()
    first = np.flatnonzero(differs)
    counts = np.diff(first, append=values.size)
    commonest = counts.argmax()
    return (
        Note(
            "data",
            f"only {first.size:,} of {values.size:,} scores are distinct, and {counts[commonest]:,} "
            f"items share the score {ordered[first[commonest]]:.10g}; ask for unrounded scores",
        ),
    )


def _overconfident(beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 0.5 + 0.5 * np.sqrt(np.sqrt(beta))


def _noisy(beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    sure = np.clip(_overconfident(beta, rng), None, 1 - 2.0**-53)
    return scipy.special.expit(scipy.special.logit(sure) + rng.normal(0, _LOGIT_NOISE, beta.size))


def _calibrated(beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 0.5 + 0.5 * beta


def _margin(beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.maximum(
        scipy.special.logit(np.clip(0.5 + 0.5 * beta, None, 1 - 2.0**-53)) / 2, np.finfo(float).tiny
    )


_SYNTHETIC = {
    "calibrated": _calibrated,
    "overconfident": _overconfident,
    "noisy": _noisy,
    "rcv1": _calibrated,
    "epsilon": _margin,
    "news20": _calibrated,
}
