"""Scored items: read them from files and data frames, or simulate them.

`ScoredItems` holds the items. `read_scores` reads them: `shapes.read_rows` returns columns with one
row per item, and `_items` reads classes and scores. `synthetic_scores` simulates items.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray
from scipy.special import expit, logit

from workbench import checks
from workbench.checks import WrongValue
from workbench.data import files, frames, numbers, shapes
from workbench.data.classes import alike_notes, class_notes, model_notes, read_classes, verdict_of
from workbench.data.columns import spelled
from workbench.data.roles import check_verdicts
from workbench.results import SHOWN_ROWS, Note, Result, html_table, note_list, rows_of

SCORE_KINDS = (
    "auto",
    "confidence",
    "class1",
    "margin",
    "log_confidence",
)
LEAVE_OUT = ("", "missing")
SYNTHETIC_KINDS = (
    "calibrated",
    "overconfident",
    "noisy",
    "rcv1",
    "epsilon",
    "news20",
)
CLASSES = ("prediction", "truth", "rival")
COLUMNS = (
    "id",
    "score",
    "prediction",
    "rival",
    "truth",
    "correct",
)
SCORE = "score"  # the usual name of the column of scores
LOG_ID = "id"  # the column of identifiers in logs of evaluations
MOST_GIVEN = 50
UNLESS_MARGIN = ". If its sign is the prediction, use score_is='margin' (--score-is margin)"
UNLESS_LOGARITHM = (
    ". If all are logarithms of probabilities, use score_is='log_confidence' "
    "(--score-is log_confidence)"
)
WITHOUT_CLASSES = (
    "leave out the column of predictions, and use score_is='confidence' (--score-is confidence)"
)
OR_LEAVE_OUT = ". To leave out such rows, use leave_out='missing' (--leave-out missing)"
_PASSED = {"pass": 1, "passed": 1, "fail": 0, "failed": 0}  # words of judges and of tests
# texts that people write for a missing label
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
_CONCENTRATION = 1.5
_LOGIT_NOISE = 1.0


class ScoredItems(Result):
    """Items that a classifier has scored, with the labels that are known.

    Attributes
    ----------
    id : (N,) ndarray or None
        Identifiers: text, or numbers if a data frame contained numbers.
    score : (N,) ndarray of float
        Confidence in [0, 1], or the absolute value of a margin. Larger scores mean that the
        prediction is more likely to be correct.
    prediction, truth : (N,) ndarray or None
        Predicted and true classes, both numbers or both text.
    correct : (N,) ndarray of bool or None
        Whether the prediction is correct.
    score_is : {"confidence", "margin", "none"}
        Meaning of `score`. A probability of class 1 was turned into a confidence. "none": there are
        no scores, and `score` is NaN.
    rival : (N,) ndarray or None
        Classes predicted by a second model, coded like `prediction`.
    read_as : str
        Meaning of the scores if it was inferred, else "".
    by : (N,) ndarray of str or None
        Given strata: items with the same text are in one stratum. None if strata are cut from the
        scores.
    left_out : str
        Sentence on the rows of the file that are not items, and why; "" if all rows are items.
    kept : (N,) ndarray of int or None
        Data rows of the file that are the items, counted from 0; None if all rows are items.
    labeled : (n,) ndarray of int or None
        Positions of the items with a label, if only some have one; `truth` and `correct` are then
        None. None if all items or no items have a label.
    labeled_truth : (n,) ndarray or None
        True classes of these items, coded like `prediction`.
    labeled_correct : (n,) ndarray of bool or None
        Whether the prediction of these items is correct.

    See Also
    --------
    read_scores : Read items from a file or a data frame.
    synthetic_scores : Simulate items.
    stratify : Divide items into strata by score.

    Examples
    --------
    >>> ScoredItems(None, np.array([0.9, 0.7]), correct=np.array([True, False]))
    ScoredItems(2 items, mean confidence 0.8, accuracy 0.5)
    """

    holds_items = True

    id: ndarray | None
    score: ndarray
    prediction: ndarray | None = None
    truth: ndarray | None = None
    correct: ndarray | None = None
    score_is: str = "confidence"
    rival: ndarray | None = None
    read_as: str = ""
    by: ndarray | None = None
    left_out: str = ""
    kept: ndarray | None = None
    labeled: ndarray | None = None
    labeled_truth: ndarray | None = None
    labeled_correct: ndarray | None = None

    def __post_init__(self) -> None:
        shape = checks.plain_array("score", self.score, "item").shape
        if len(shape) != 1 or shape == (0,):
            rule = "must be one-dimensional and contain at least one item"
            raise WrongValue("score", rule, told=f"got shape {shape}")
        super().__post_init__()

    @property
    def size(self) -> int:
        """Return the number of items N."""
        return int(self.score.size)

    def headline(self) -> str:
        """Return the number of items, the mean score and, if it is known, the accuracy."""
        parts = [checks.counted(self.size, "item")]
        if self.score_is == "none":
            parts.append("no score")
        else:
            parts.append(f"mean {self.score_is} {self.score.mean():.4g}")
        if self.correct is not None:
            parts.append(f"accuracy {self.correct.mean():.4g}")
        elif self.labeled_correct is not None:
            labels = checks.counted(self.labeled_correct.size, "label")
            parts.append(f"{labels} with accuracy {self.labeled_correct.mean():.4g}")
        meaning = f"; scores read as {self.read_as}" if self.read_as else ""
        return ", ".join(parts) + meaning

    def rows(self) -> list[dict]:
        """Return one row per item with the known columns."""
        return self._first_rows(self.size)

    def _first_rows(self, count: int) -> list[dict]:
        columns = {}
        for name in COLUMNS:
            cells = getattr(self, name)
            if cells is not None:
                columns[name] = cells[:count]
        return rows_of(**columns)

    def _repr_html_(self) -> str:
        caption = self.headline()
        if self.size > SHOWN_ROWS:
            caption += f" (the first {SHOWN_ROWS} of {self.size} rows)"
        return html_table(self._first_rows(SHOWN_ROWS), caption) + note_list(self.notes)


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

    The log of an evaluation can be read, too: .json and .eval files of Inspect, and samples_*.jsonl
    of lm-evaluation-harness. A log has the columns `id`, `score`, `input`, `answer`, `target` and
    more. If it has several scorers or filters, "log.json#NAME" names one of them.

    Parameters
    ----------
    source : str, path or data frame
        File or data frame: text, JSON (packed or not), parquet, xlsx, a log, or a data frame, as in
        `workbench.data.frames.read_columns`.
    score : str
        Column of the scores, finite numbers. It may be missing if it is "score" and `by` is given.
    prediction : str, optional
        Column of predicted classes, numbers or text; None or "" for none. Without predictions,
        `truth` is 1 if the classifier was correct and 0 if it was not (for "confidence").
    truth : str, optional
        Column of true classes, numbers or text like the predictions; None or "" for none. If only
        some rows have a true class, the other cells are empty or contain a text such as "NA", "-"
        or "unlabeled". `labeled` then lists the rows with a true class, and audits treat them as a
        random sample of all rows.
    id : str, optional
        Column of identifiers, unique and never missing. Identifiers of text files are text, so
        "007" stays "007". A log has its own identifiers.
    score_is : {"auto", "confidence", "class1", "margin", "log_confidence"}, default "auto"
        Meaning of the scores; see Notes.
    rival : str, optional
        Column of the classes that a second model predicts, to compare with the predictions. It may
        also be a file with the columns `id` and `prediction` of that model. With `model`, it is the
        name of the second model, or "first, second".
    positive : str or number, optional
        Predicted class whose probability is the score. None or "" means class 1 or, with "auto",
        the class with the higher scores.
    by : str, optional
        Column of strata with at most 50 different values. It replaces strata cut from the scores.
    classes : {"auto", "text", "numbers"}, default "auto"
        How classes are read, as in `workbench.data.classes.read_classes`.
    probabilities : str, optional
        Columns of the probabilities of each class, such as "p_*". They replace score and
        prediction: the class with the highest probability is the prediction, and this probability
        is the confidence. The text at the asterisk is the name of the class.
    model : str, optional
        Column of model names, in a file with one row per item and model.
    leave_out : {"", "missing"}, default ""
        "missing": rows without a score or a prediction are left out, and `left_out` lists them.

    Returns
    -------
    ScoredItems
        The items, with notes on how the file was read.

    Raises
    ------
    ValueError
        If a column or a cell is missing, a cell is impossible, or an identifier is repeated. Also
        if classes are text in one column and numbers in another, or a prediction contradicts the
        sign of its margin. The message names the column and the row.

    See Also
    --------
    judged_items : Read judge labels for the answers of two models.
    synthetic_scores : Simulate scored items.
    stratify : Divide items into strata by score.

    Notes
    -----
    The scores have one of these meanings:

    - "confidence": the probability in [0, 1] that the prediction is correct.
    - "log_confidence": the natural logarithm of the confidence.
    - "class1": the probability in [0, 1] of class 1, or of the class that `positive` names. It is
      turned into a confidence. Without predictions, class 1 is predicted if the probability is at
      least 0.5.
    - "margin": a finite number whose sign is the prediction (0 is the negative class). Its absolute
      value becomes the score.

    For "class1" without `positive` and for "margin", classes must be 0 and 1, or -1 and 1 if a
    column contains -1.

    "auto" chooses "class1" if `positive` is given. It also chooses "class1" if one of two predicted
    classes has all the higher scores and a score is below 0.5. "auto" chooses "confidence" in two
    cases:

    - There are three or more predicted classes.
    - No score is below 0.5, and the scores do not separate two predicted classes or nothing is
      predicted.

    In any other case, an error asks you to choose.

    The score of a log is the value of its scorer or metric. It must be the probability that the
    answer is correct. Samples without a score are left out. A log without scores is one stratum.

    Examples
    --------
    >>> table = {"p": [0.9, 0.2, 0.6], "y": [1, 0, 0]}
    >>> items = read_scores(table, score="p", truth="y", score_is="class1")
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
    roles = {"prediction": prediction, "truth": truth, "id": id}
    if log and not id:
        roles["id"] = LOG_ID
    if scored and not probabilities:
        roles["score"] = score
    if not model and not file:
        roles["rival"] = rival
    columns = _named_columns(roles)
    further = [by] if by else []
    if not columns and not by:
        further = [*names[:1]]
    of_class: dict = {}
    if probabilities:
        of_class = shapes.class_columns(names, probabilities)
        score_is = "confidence"
    read = shapes.read_rows(
        source,
        columns,
        further,
        rival=rival or "",
        file=file,
        model=model,
        leave_out=leave_out,
        of_class=of_class,
    )
    try:
        with shapes.in_rows(read.rows):
            return _items(
                read,
                scored,
                score_is,
                positive,
                by,
                classes,
                log,
            )
    except numbers.MissingError as error:
        hint = OR_LEAVE_OUT if shapes.has_gaps(read) else ""
        raise numbers.RowError(*error.parts, hint) from None


def _named_columns(roles: dict) -> dict:
    columns = {role: checks.instance(role, name, str) for role, name in roles.items() if name}
    for first, second in itertools.combinations(sorted(columns), 2):
        if columns[first] == columns[second]:
            rule = "must be a different column from {0}"
            got = f"both are {columns[first]!r}"
            raise WrongValue(first, rule, told=got, others=(second,))
    return columns


def _items(
    read: shapes.Rows,
    scored: bool,
    score_is: str,
    positive: Any,
    by: str | None,
    classes: str,
    log: bool,
) -> ScoredItems:
    """Return the items of some rows: read classes first, then scores, strata and labels."""
    columns = {"score": SCORE} | read.columns
    data = read.data
    notes = [*read.notes]
    labeled = None
    if "truth" in columns:
        labeled, cells = _labeled_rows(columns, data, classes, notes)
        data = data | {columns["truth"]: cells}
    of_class = {role: columns[role] for role in CLASSES if role in columns}
    cells_of = {name: data[name] for name in of_class.values()}
    by_name, read_notes = read_classes(cells_of, classes)
    labels = {role: by_name[name] for role, name in of_class.items()}
    reading = _Reading(columns, labels, notes)
    if "truth" in labels and ("prediction" in labels or score_is in ("class1", "margin")):
        rows = slice(None) if labeled is None else labeled
        predictions = labels["prediction"][rows] if "prediction" in labels else None
        truths = labels["truth"][rows]
        notes += check_verdicts(columns["truth"], truths, predictions, WITHOUT_CLASSES)
    if len({label.dtype.kind == "U" for label in labels.values()}) == 2:
        names = checks.listed(of_class.values(), quoted=True)
        raise ValueError(
            f"columns {names} contain classes as text and as numbers; code the classes alike"
        )
    notes += read_notes
    ids = None if read.rows is None else read.rows + 1
    if "id" in columns:
        ids = numbers.to_ids(columns["id"], data[columns["id"]])
    score = columns["score"]
    if log and scored:
        scored = _is_chance(score, data[score], by)
        score_is = "confidence" if score_is == "auto" else score_is
    if scored:
        fields = _scored(
            reading,
            data[score],
            score_is,
            positive,
            labeled is not None,
            log,
        )
    else:
        fields = _unscored(reading, len(next(iter(data.values()))))
    if by:
        fields["by"] = _given_strata(by, data[by])
        notes += alike_notes(by, fields["by"])
    prediction, truth, rival = map(fields.get, CLASSES)
    if prediction is not None and truth is not None:
        fields["correct"] = prediction == truth
        known_truth = truth if labeled is None else truth[labeled]
        predicted = [prediction] if rival is None else [prediction, rival]
        notes += class_notes(known_truth, *predicted)
    if rival is not None:
        notes += model_notes(fields["prediction"], rival)
    if labeled is not None:
        fields["labeled"] = labeled
        for role in {"truth", "correct"}.intersection(fields):
            fields[f"labeled_{role}"] = fields.pop(role)[labeled]
    return ScoredItems(
        ids,
        notes=notes,
        left_out=read.left_out,
        kept=read.rows,
        **fields,
    )


def _labeled_rows(
    columns: dict,
    data: dict,
    classes: str,
    notes: list[Note],
) -> tuple:
    """Return the rows with a true class, None if all have one, and the column without gaps.

    A row without a true class gets that of the first row with one, which keeps the type of the
    column.
    """
    name = columns["truth"]
    cells = data[name]
    predictions = data.get(columns.get("prediction"))
    missing, gap_texts = missing_labels(cells, predictions, classes)
    if not missing.any():
        return None, cells
    if missing.all():
        rule = "must be a column with at least one label"
        hint = f"column {name!r} has none. Leave it out to plan which rows to label"
        raise WrongValue("truth", rule, told=hint)
    if gap_texts:
        listed = checks.listed(gap_texts, quoted=True)
        notes.append(Note("data", f"in column {name!r}, {listed} counts as a missing label"))
    labeled = np.flatnonzero(~missing)
    cells = np.array(cells)
    cells[missing] = cells[labeled[0]]
    return labeled, cells


def missing_labels(
    cells: ndarray, predictions: ndarray | None, classes: str = "auto"
) -> tuple[ndarray, list[str]]:
    """Return a mask of the rows without a label, (N,) bool, and the words found in these rows.

    Parameters
    ----------
    cells : (N,) ndarray
        Cells of the column of labels.
    predictions : (N,) ndarray or None
        Predicted classes. A word that is a predicted class counts as a label.
    classes : {"auto", "text", "numbers"}
        With "text", only an empty cell is a missing label. "None" may be a class, so it counts as
        missing only if no other word marks missing labels.

    Examples
    --------
    >>> missing, words = missing_labels(np.array(["cat", "", "NA", "-"], object), None)
    >>> missing.tolist(), words
    ([False, True, True, True], ['-', 'NA'])
    """
    if cells.dtype.kind in "biuf":
        return np.isnan(cells), []
    texts = np.array(numbers.as_text(cells))
    gap_words = {""} if classes == "text" else {"", *NO_LABEL}
    if predictions is not None:
        gap_words -= {text.casefold() for text in set(numbers.as_text(predictions))}
    distinct = np.unique(texts).tolist()
    gaps = [text for text in distinct if text.casefold() in gap_words]
    if len(gaps) > 1:
        gaps = [text for text in gaps if text.casefold() != "none"]
    shown_gaps = [text for text in gaps if text.casefold() not in ("", "nan")]
    return np.isin(texts, gaps), shown_gaps


@dataclass
class _Reading:
    """Names of columns and classes of items by their roles, and the notes so far."""

    columns: dict[str, str]
    labels: dict[str, ndarray]
    notes: list[Note]


def _scored(
    reading: _Reading,
    cells: ndarray,
    score_is: str,
    positive: Any,
    only_strata: bool,
    log: bool,
) -> dict:
    """Return the fields of items with scores."""
    name = reading.columns["score"]
    notes = reading.notes
    values, percent_notes = numbers.to_shares(name, cells)
    notes += percent_notes
    positive = _named_class(positive, reading.labels.get("prediction"), score_is)
    read_as = ""
    if score_is == "auto" and positive is not None:
        score_is = "class1"
        read_as = f"probability of class {positive!r}"
    elif score_is == "auto":
        score_is, positive, read_as = _meaning(reading, values, only_strata)
    if score_is == "class1":
        fields = _from_class(reading, values, positive)
    elif score_is == "margin":
        fields = _from_margin(reading, values)
    elif score_is == "log_confidence":
        _refuse(name, values, values > 0, "is not the logarithm of a probability: it is above 0")
        least = values.min()
        example = f"{least:.4g} becomes {np.exp(least):.4g}"
        notes.append(Note("data", f"scores are natural logarithms of the confidence: {example}"))
        fields = _from_confidence(reading, np.exp(values))
    else:
        fields = _from_confidence(reading, values)
    if not log:
        notes += _rounded(values)
    kind = "margin" if score_is == "margin" else "confidence"
    return fields | {"score_is": kind, "read_as": read_as}


def _unscored(reading: _Reading, size: int) -> dict:
    """Return the fields of items without scores, which are one stratum."""
    fields = _from_confidence(reading, np.ones(size))
    fields["score"] = np.full(size, np.nan)
    fields["score_is"] = "none"
    fields["by"] = np.full(size, "all")
    return fields


def _is_chance(score: str, cells: ndarray, by: str | None) -> bool:
    """Return whether a log's scores are probabilities; raise if not, unless strata are given."""
    values = numbers.to_numbers(score, cells)
    least = values.min()
    most = values.max()
    if 0 <= least and most <= 1:
        return True
    if by:
        return False
    raise ValueError(
        f"{score!r} goes from {least:g} to {most:g}, but a score must be a probability from 0 to "
        f"1. To use this column as strata, use by={score!r}"
    )


def _given_strata(by: str, cells: ndarray) -> ndarray:
    """Return the strata in a column as text."""
    texts = np.array([text or "(none)" for text in numbers.as_text(cells)])
    distinct = np.unique(texts).size
    if distinct > MOST_GIVEN:
        rule = f"must name a column of at most {MOST_GIVEN} different values, one per stratum"
        raise WrongValue("by", rule, by, told=f"{by!r} has {distinct:,}")
    return texts


def _named_class(positive: Any, predicted: ndarray | None, score_is: str) -> Any:
    """Return the predicted class that `positive` names, None if it names none."""
    if positive in (None, ""):
        return None
    if score_is not in ("auto", "class1"):
        rule = "is only for scores that are the probability of a class: use score_is='class1'"
        raise WrongValue("positive", rule, score_is)
    if predicted is None:
        rule = "must be a predicted class. Name the column of predictions with prediction"
        raise WrongValue("positive", rule)
    classes = {str(name): name for name in np.unique(predicted).tolist()}
    return classes[checks.choice("positive", str(positive).strip(), classes)]


def _meaning(reading: _Reading, values: ndarray, only_strata: bool) -> tuple:
    """Return the kind of the scores, the class they refer to (or None), and both in words.

    If there are predictions and labels, scores only define strata, and no estimate depends on their
    meaning.
    """
    predicted = reading.labels.get("prediction")
    n_classes = 0 if predicted is None else len(_first_classes(predicted))
    stepped = None if predicted is None else _stepped_class(values, predicted)
    is_low = values.min() < 0.5
    is_stepped = stepped is not None
    is_outside = values.min() < 0 or values.max() > 1  # `_from_confidence` refuses such values
    is_clear = n_classes > 2 or (n_classes != 1 and is_low == is_stepped)
    if is_outside or (is_clear and not is_stepped):
        return "confidence", None, "confidence in the prediction"
    if is_clear:
        return "class1", stepped, f"probability of class {stepped!r}"
    column = f"column {reading.columns['score']!r}"
    if only_strata and predicted is not None:
        text = (
            f"{column} was read as the confidence in the prediction, which only decides which "
            "items are in the same stratum. If it is the probability of a class, use score_is "
            "class1"
        )
        reading.notes.append(Note("assumption", text))
        return "confidence", None, ""
    if predicted is None:
        reason = "no column of predictions is named, and there are scores below 0.5"
    elif n_classes == 1:
        reason = "only one class is predicted"
    elif is_low:
        reason = "there are scores below 0.5, but scores do not separate the two predicted classes"
    else:
        reason = "scores separate the two predicted classes, but none is below 0.5"
    raise WrongValue(
        "score_is",
        f"must say what {column} is: 'confidence' for the probability that the prediction is "
        "correct, 'class1' for the probability of the class named by positive (--positive)",
        told=reason,
    )


def _stepped_class(values: ndarray, predicted: ndarray) -> Any:
    """Return the one of two predicted classes that has all the higher scores, or None."""
    classes = sorted(_first_classes(predicted))
    if len(classes) != 2:
        return None
    first, second = (values[predicted == name] for name in classes)
    if first.max() <= second.min() or second.max() <= first.min():
        return classes[int(second.mean() > first.mean())]
    return None


def _first_classes(predicted: ndarray) -> list:
    """Return up to three classes, which is faster than to return all."""
    classes: list = []
    while predicted.size and len(classes) < 3:
        classes.append(predicted[0].item())
        predicted = predicted[predicted != predicted[0]]
    return classes


def synthetic_scores(
    kind: str,
    *,
    size: int | None = None,
    accuracy: float | None = None,
    rng: int | np.random.Generator = 0,
) -> ScoredItems:
    """Simulate scored items whose accuracy is known.

    Use it to try methods and to plan studies without data.

    Parameters
    ----------
    kind : {"calibrated", "overconfident", "noisy", "rcv1", "epsilon", "news20"}
        Kind of scores; see Notes.
    size : int, optional
        Number of items. Default 20,000; for the stand-ins 700,000 ("rcv1"), 450,000 ("epsilon") and
        16,000 ("news20").
    accuracy : float, optional
        Expected accuracy in (0.5, 1). Default 0.88; 0.953 for "rcv1", inferred from the 284 labels
        that [1]_ needs for a mean absolute error of 1%.
    rng : int or numpy.random.Generator, default 0
        Seed or generator of the random numbers.

    Returns
    -------
    ScoredItems
        Items with `correct`, but without identifiers and classes.

    Raises
    ------
    ValueError
        If the kind is unknown, `size` is below 1, or `accuracy` is not in (0.5, 1).

    See Also
    --------
    read_scores : Read scored items from a file or a data frame.
    stratify : Divide items into strata by score.

    Notes
    -----
    Each item has a probability p = 0.5 + 0.5 B of being correct, where B has a beta distribution.
    Whether it is correct is a Bernoulli variable with probability p. The scores are:

    - "calibrated": p itself.
    - "overconfident": 0.5 + 0.5 (2p - 1)^(1/4).
    - "noisy": the same with normal noise added to its logit.

    "rcv1", "epsilon" and "news20" are synthetic stand-ins for the test sets of [1]_, not the data.
    "rcv1" and "news20" have the confidence of a logistic regression. "epsilon" has the absolute
    output of a linear support vector machine (a margin).

    References
    ----------
    .. [1] Kumar & Raj, Classifier Risk Estimation under Limited Labeling Resources, 2016,
       section 4.

    Examples
    --------
    >>> synthetic_scores("overconfident", size=1000)
    ScoredItems(1,000 items, mean confidence 0.9555, accuracy 0.878)
    """
    checks.choice("kind", kind, SYNTHETIC_KINDS)
    if size is None:
        size = _DEFAULT_SIZE.get(kind, 20_000)
    size = checks.whole("size", size, 1)
    if accuracy is None:
        accuracy = 0.953 if kind == "rcv1" else 0.88
    accuracy = checks.number("accuracy", accuracy, 0.5, 1, open_ends=True)
    rng = checks.generator(rng)
    excess = 2 * accuracy - 1
    beta = rng.beta(_CONCENTRATION * excess, _CONCENTRATION * (1 - excess), size)
    correct = rng.random(size) < 0.5 + 0.5 * beta
    score_is = "margin" if kind == "epsilon" else "confidence"
    return ScoredItems(None, _synthetic(kind, beta, rng), correct=correct, score_is=score_is)


def _synthetic(kind: str, beta: ndarray, rng: np.random.Generator) -> ndarray:
    """Return the scores of items whose probability of being correct is 0.5 + 0.5 beta."""
    below_1 = 1 - 2.0**-53
    if kind == "epsilon":
        margin = logit(np.clip(0.5 + 0.5 * beta, None, below_1)) / 2
        return np.maximum(margin, np.finfo(float).tiny)
    overconfident = 0.5 + 0.5 * np.sqrt(np.sqrt(beta))
    if kind == "overconfident":
        return overconfident
    if kind == "noisy":
        confidence = np.clip(overconfident, None, below_1)
        return expit(logit(confidence) + rng.normal(0, _LOGIT_NOISE, beta.size))
    return 0.5 + 0.5 * beta


def _from_class(reading: _Reading, values: ndarray, positive: Any) -> dict:
    """Return fields if scores are the probability of a predicted class, or of class 1."""
    name = reading.columns["score"]
    labels = reading.labels
    negative = 0
    _refuse_outside(name, values, "probability", UNLESS_MARGIN if positive is None else "")
    if positive is None:
        positive = 1
        negative = _negative_class(reading)
    likelier = values >= 0.5
    prediction = labels.get("prediction")
    if prediction is None:
        text = f"prediction is 1 where {name!r} is at least 0.5"
        reading.notes.append(Note("assumption", text))
        prediction = np.where(likelier, 1, negative)
    is_positive = prediction == positive
    unlike = int((is_positive != likelier).sum())
    if unlike:
        predictions = checks.counted(unlike, "prediction is", "predictions are")
        text = f"{predictions} not the more likely class according to {name!r}"
        reading.notes.append(Note("data", text))
    scores = np.where(is_positive, values, 1 - values)
    return labels | {"prediction": prediction, "score": scores}


def _refuse_outside(
    name: str,
    values: ndarray,
    kind: str,
    hint: str,
) -> None:
    """Raise if a value is not from 0 to 1; `hint` says what else the scores may be."""
    if values.min() >= 0 and 10 < values.max() <= 100:
        hint = ". Divide the scores by 100"
    is_outside = (values < 0) | (values > 1)
    _refuse(name, values, is_outside, f"is not a {kind} from 0 to 1{hint}")


def _from_confidence(reading: _Reading, values: ndarray) -> dict:
    columns = reading.columns
    labels = reading.labels
    prediction = labels.get("prediction")
    hint = UNLESS_MARGIN + (UNLESS_LOGARITHM if values.max() <= 0 else "")
    _refuse_outside(columns["score"], values, "confidence", hint)
    if prediction is not None:
        reading.notes += _looks_like_a_class(values, prediction)
    elif "rival" in labels:
        rule = (
            f"{columns['rival']!r} is compared with predictions. Name the column of predictions "
            "with prediction"
        )
        raise WrongValue("rival", rule)
    elif "truth" in labels:
        rule = (
            "is not 0 or 1. Without a prediction column, truth must say whether the item was "
            "classified correctly"
        )
        correct, notes = verdicts_of(columns["truth"], labels["truth"], rule)
        reading.notes += notes
        return {"score": values, "correct": correct}
    return labels | {"score": values}


def _looks_like_a_class(values: ndarray, prediction: ndarray) -> list[Note]:
    """Return a note if a confidence looks like the probability of a predicted class."""
    stepped = _stepped_class(values, prediction)
    if stepped is None or (values >= 0.5).all():
        return []
    text = (
        "the scores were read as the confidence in the prediction, but all items predicted as "
        f"{stepped!r} have higher scores than the others. If the scores are the probability of "
        f"{stepped!r}, use score_is class1 and positive {stepped}"
    )
    return [Note("unreliable", text)]


def verdicts_of(name: str, truth: ndarray, rule: str) -> tuple[ndarray, list[Note]]:
    """Return a mask of the correct items, given as 1 and 0 or as words, and a note on words.

    `rule` is the end of the error message for a cell that is neither.
    """
    texts, positions = np.unique(truth, return_inverse=True)
    verdicts = [_PASSED.get(str(text).casefold(), verdict_of(str(text))) for text in texts.tolist()]
    is_unknown = np.array([verdict is None for verdict in verdicts])
    _refuse(name, truth, is_unknown[positions], rule)
    is_correct = np.array(verdicts, bool)
    if truth.dtype.kind != "U":
        return is_correct[positions], []
    words_of = np.where(is_correct, "correct", "incorrect")
    meanings = [
        f"{text!r} means {word}" for text, word in zip(texts.tolist(), words_of, strict=True)
    ]
    note = Note("data", f"in column {name!r}, {checks.listed(meanings)}")
    return is_correct[positions], [note]


def _from_margin(reading: _Reading, values: ndarray) -> dict:
    columns = reading.columns
    labels = reading.labels
    prediction = np.where(values > 0, 1, _negative_class(reading))
    if "prediction" in labels:
        rule = f"contradicts the sign of {columns['score']!r}"
        differs = labels["prediction"] != prediction
        _refuse(columns["prediction"], labels["prediction"], differs, rule)
    return labels | {"prediction": prediction, "score": np.abs(values)}


def _negative_class(reading: _Reading) -> int:
    """Return 0, or -1 if a column holds -1; raise for any other coding of two classes."""
    labels = reading.labels
    has_minus_1 = any((label == -1).any() for label in labels.values())
    negative = -1 if has_minus_1 else 0
    rule = f"is not {negative} or 1"
    for role, label in labels.items():
        is_other = (label != negative) & (label != 1)
        _refuse(reading.columns[role], label, is_other, rule)
    return negative


def _refuse(
    name: str,
    values: ndarray,
    bad: ndarray,
    rule: str,
) -> None:
    """Raise if a value of a column is bad; the message names the first one."""
    if bad.any():
        row = int(bad.argmax())
        value = values[row].item()
        text = f"{value:g}" if isinstance(value, float) else repr(value)
        raise numbers.RowError(f"column {name!r}, ", row, f": {text} {rule}")


def _rounded(values: ndarray) -> list[Note]:
    """Return a note if fewer than half of the scores are distinct."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size >= values.size / 2:
        return []
    k = counts.argmax()
    shared = f"{counts[k]:,} items share the score {distinct[k]:.10g}"
    few = f"only {distinct.size:,} of {values.size:,} scores are distinct"
    return [Note("data", f"{few}, and {shared}. Unrounded scores are better, if you can get them")]
