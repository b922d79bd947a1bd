"""Scored items: read them from files and data frames, or simulate them.

`ScoredItems` holds the items. `read_scores` reads them: `shapes.read_rows` returns the columns with
a row per item, `_items` reads classes and scores. `synthetic_scores` simulates them.
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
UNLESS_MARGIN = "; if its sign is the prediction, use score_is='margin' (--score-is margin)"
UNLESS_LOGARITHM = (
    "; if all are logarithms of probabilities, use score_is='log_confidence' "
    "(--score-is log_confidence)"
)
OR_LEAVE_OUT = "; leave_out='missing' (--leave-out missing) goes without such rows"
_PASSED = {"pass": 1, "passed": 1, "fail": 0, "failed": 0}  # words of judges and of tests
# texts that people write where a label is missing
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
    """Items that a classifier has scored, with their labels as far as these are known.

    Attributes
    ----------
    id : (N,) ndarray or None
        Identifiers: text, or numbers where a data frame held numbers.
    score : (N,) ndarray of float
        Rises with the probability that the prediction is correct: a confidence in [0, 1], or the
        absolute value of a margin.
    prediction, truth : (N,) ndarray or None
        Class labels, both numbers or both text.
    correct : (N,) ndarray of bool or None
        Whether the prediction is correct.
    score_is : {"confidence", "margin", "none"}
        The meaning of `score`; a probability of class 1 has become a confidence. "none": there are
        no scores, and all are NaN.
    rival : (N,) ndarray or None
        Classes predicted by a second model, coded as `prediction`.
    read_as : str
        The meaning of the scores if it was inferred, else "".
    by : (N,) ndarray of str or None
        Given strata: items of one text are one stratum. None if scores are cut into strata.
    left_out : str
        The rows of the file that are no items, with the reason; "" if all are items.
    kept : (N,) ndarray of int or None
        The data rows of the file, from 0, that are the items; None if all are.
    labeled : (n,) ndarray of int or None
        Positions of the items that have a label if only some have one; `truth` and `correct` are
        then None. None if all items have a label, or none has.
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
            rule = "must be one-dimensional and hold an item"
            raise WrongValue("score", rule, told=f"got shape {shape}")
        super().__post_init__()

    @property
    def size(self) -> int:
        """Number of items, N."""
        return int(self.score.size)

    def headline(self) -> str:
        """Return size, mean score and, if known, accuracy in one sentence."""
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
        """Return one row per item with the columns that are known."""
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

    The log of an evaluation (Inspect's .json and .eval, samples_*.jsonl of lm-evaluation-harness)
    has the columns `id`, `score` (of the scorer, or the metric), `input`, `answer`, `target` and
    more; "log.json#NAME" names the scorer or the filter if there are several. Such a score is the
    probability that the answer is correct, and samples without one are left out. A log without
    scores is one stratum.

    Parameters
    ----------
    source : str, path or data frame
        As for `frames.read_columns`: text, JSON, packed or not, parquet, xlsx, a log, or a data
        frame.
    score : str
        Column of the scores, finite numbers. With `by`, there may be no column "score".
    prediction, truth : str, optional
        Columns of predicted and true classes, both numbers or both text; None or "" for none.
        Without predictions, `truth` is 1 where the classifier was correct and 0 where it was not
        (for "confidence"). If only some rows have a truth, the others are empty or hold a text such
        as "NA", "-" or "unlabeled"; `labeled` then names the rows that have one, and audits take
        these for a random sample of all rows.
    id : str, optional
        Column of identifiers, unique and never missing; text files give text, so "007" stays "007".
        A log has its own.
    score_is : {"auto", "confidence", "class1", "margin", "log_confidence"}
        "confidence": probability in [0, 1] that the prediction is correct. "log_confidence": its
        natural logarithm. "class1": probability of class 1 in [0, 1]; becomes a confidence, and
        without predictions class 1 is predicted from 0.5 on. With `positive`, class 1 is that
        class, and the others may have any names. "margin": any finite number whose sign is the
        prediction (0 is the negative class); becomes its absolute value. For the last two, classes
        are 0 and 1, or -1 and 1 if a column holds -1. "auto": "class1" if `positive` is given, or
        if one of two predicted classes has all the higher scores and a score is below 0.5.
        "confidence" if there are three or more predicted classes, or if no score is below 0.5 and
        the scores do not tell two predicted classes apart or nothing is predicted. In any other
        case you must choose.
    rival : str, optional
        Column of the classes that a second model predicts, to be compared with the predictions; or
        a file with the columns `id` and `prediction` of that model. With `model`, the name of the
        second model, or "first, second".
    positive : str or number, optional
        The predicted class whose probability the score is; None or "" for class 1, and with "auto"
        for the one that has the higher scores.
    by : str, optional
        Column of at most 50 values that are the strata, instead of strata cut from the scores.
    classes : {"auto", "text", "numbers"}
        How classes are read, as in `workbench.data.classes.read_classes`.
    probabilities : str, optional
        Columns of the probabilities of each class, such as "p_*", instead of score and prediction.
        The text at the asterisk in the name of the column with the highest probability is the
        prediction, with that confidence.
    model : str, optional
        Column of the model, in a file with a row per item and model.
    leave_out : {"", "missing"}
        "missing": rows without a score or a prediction are no items, and `left_out` lists them.

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
    others = [by] if by else []
    if not columns and not by:
        others = [*names[:1]]
    of_class: dict = {}
    if probabilities:
        of_class = shapes.class_columns(names, probabilities)
        score_is = "confidence"
    read = shapes.read_rows(
        source,
        columns,
        others,
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
            rule = "must be another column than {0}"
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
    """Return the items of some rows: reads classes first, then scores, strata and labels."""
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
    if len({label.dtype.kind == "U" for label in labels.values()}) == 2:
        names = checks.listed(of_class.values(), quoted=True)
        raise ValueError(f"columns {names} hold text and numbers; code the classes alike")
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
    """Return the rows that have a truth, None if all have one, and the column without gaps.

    A row without a truth gets that of the first row that has one, which keeps the kind of the
    column.
    """
    name = columns["truth"]
    cells = data[name]
    predictions = data.get(columns.get("prediction"))
    missing, words = missing_labels(cells, predictions, classes)
    if not missing.any():
        return None, cells
    if missing.all():
        rule = "must have a label in some rows"
        hint = f"column {name!r} has none. Leave it out to plan which rows to label"
        raise WrongValue("truth", rule, told=hint)
    if words:
        listed = checks.listed(words, quoted=True)
        notes.append(Note("data", f"in column {name!r}, {listed} is read as no label"))
    labeled = np.flatnonzero(~missing)
    cells = np.array(cells)
    cells[missing] = cells[labeled[0]]
    return labeled, cells


def missing_labels(
    cells: ndarray, predictions: ndarray | None, classes: str = "auto"
) -> tuple[ndarray, list[str]]:
    """Return a mask of the rows without a label, (N,) bool, and the words that stand in them.

    Parameters
    ----------
    cells : (N,) ndarray
    predictions : (N,) ndarray or None
        A word that is a predicted class is a label.
    classes : {"auto", "text", "numbers"}
        With "text", only an empty cell is no label. "None" may be a class, so it is no label only
        if no other word marks missing labels.

    Examples
    --------
    >>> missing, words = missing_labels(np.array(["cat", "", "NA", "-"], object), None)
    >>> missing.tolist(), words
    ([False, True, True, True], ['-', 'NA'])
    """
    if cells.dtype.kind in "biuf":
        return np.isnan(cells), []
    texts = np.array(numbers.as_text(cells))
    words = {""} if classes == "text" else {"", *NO_LABEL}
    if predictions is not None:
        words -= {text.casefold() for text in set(numbers.as_text(predictions))}
    distinct = np.unique(texts).tolist()
    gaps = [text for text in distinct if text.casefold() in words]
    if len(gaps) > 1:
        gaps = [text for text in gaps if text.casefold() != "none"]
    named = [text for text in gaps if text.casefold() not in ("", "nan")]
    return np.isin(texts, gaps), named


@dataclass
class _Reading:
    """Names of columns and classes of items by their roles, and the notes on them so far."""

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
        example = f"{least:.4g} is read as {np.exp(least):.4g}"
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
        f"{score!r} goes from {least:g} to {most:g}, but a score is a probability from 0 to 1; "
        f"a column may name the strata instead: by={score!r}"
    )


def _given_strata(by: str, cells: ndarray) -> ndarray:
    """Return the strata that a column names, as text."""
    texts = np.array([text or "(none)" for text in numbers.as_text(cells)])
    distinct = np.unique(texts).size
    if distinct > MOST_GIVEN:
        rule = f"names a column of at most {MOST_GIVEN} values, a stratum each"
        raise WrongValue("by", rule, by, told=f"{by!r} has {distinct:,}")
    return texts


def _named_class(positive: Any, predicted: ndarray | None, score_is: str) -> Any:
    """Return the predicted class that `positive` names, None if it names none."""
    if positive in (None, ""):
        return None
    if score_is not in ("auto", "class1"):
        rule = "belongs to scores that are the probability of a class: say score_is='class1'"
        raise WrongValue("positive", rule, score_is)
    if predicted is None:
        rule = "must be a predicted class; name the column of predictions"
        raise WrongValue("positive", rule)
    classes = {str(name): name for name in np.unique(predicted).tolist()}
    return classes[checks.choice("positive", str(positive).strip(), classes)]


def _meaning(reading: _Reading, values: ndarray, only_strata: bool) -> tuple:
    """Return the kind of the scores, the class they are about or None, and both in words.

    With predictions and labels, scores only cut strata and no estimate depends on their meaning.
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
            f"{column} is read as the confidence in the prediction, which only decides which items "
            "are in one stratum: say score_is class1 if it is the probability of a class"
        )
        reading.notes.append(Note("assumption", text))
        return "confidence", None, ""
    if predicted is None:
        reason = "nothing is predicted and there are scores below 0.5"
    elif n_classes == 1:
        reason = "only one class is predicted"
    elif is_low:
        reason = "there are scores below 0.5, but scores do not separate the two predicted classes"
    else:
        reason = "scores separate the two predicted classes, but none is below 0.5"
    raise WrongValue(
        "score_is",
        f"must be 'confidence' if {column} is the probability that the prediction is correct, "
        "'class1' if it is the probability of a class (positive names the class)",
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
    """Return up to three classes, which is faster than all of them."""
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

    Parameters
    ----------
    kind : {"calibrated", "overconfident", "noisy", "rcv1", "epsilon", "news20"}
        The first three draw a probability p = 0.5 + 0.5 Beta and correctness from Bernoulli(p). The
        score is p itself; 0.5 + 0.5 (2p - 1)^(1/4); or the latter with normal noise on its logit.
        The last three are synthetic stand-ins for the test sets of [1]_, not the data. "rcv1" and
        "news20" have the confidence of a logistic regression, "epsilon" the absolute output of a
        linear support vector machine (a margin).
    size : int, optional
        Number of items; 20,000, and 700,000, 450,000 and 16,000 for the stand-ins.
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
    """Return fields where scores are the probability of a predicted class, or of class 1."""
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
        text = f"{predictions} not the class that {name!r} makes likelier"
        reading.notes.append(Note("data", text))
    scores = np.where(is_positive, values, 1 - values)
    return labels | {"prediction": prediction, "score": scores}


def _refuse_outside(
    name: str,
    values: ndarray,
    kind: str,
    hint: str,
) -> None:
    """Raise where a value is not from 0 to 1; `hint` says what else the scores may be."""
    if values.min() >= 0 and 10 < values.max() <= 100:
        hint = "; divide by 100"
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
        rule = f"{columns['rival']!r} is compared with predictions; name their column as prediction"
        raise WrongValue("rival", rule)
    elif "truth" in labels:
        rule = (
            "is not 0 or 1; without a prediction column, truth says whether the item was "
            "classified correctly"
        )
        correct, notes = verdicts_of(columns["truth"], labels["truth"], rule)
        reading.notes += notes
        return {"score": values, "correct": correct}
    return labels | {"score": values}


def _looks_like_a_class(values: ndarray, prediction: ndarray) -> list[Note]:
    """Return a note where a confidence has all signs of the probability of a predicted class."""
    stepped = _stepped_class(values, prediction)
    if stepped is None or (values >= 0.5).all():
        return []
    text = (
        "the scores are read as the confidence in the prediction, but are higher wherever "
        f"{stepped!r} is predicted than where it is not: if they are the probability of "
        f"{stepped!r}, say score_is class1 and positive {stepped}"
    )
    return [Note("unreliable", text)]


def verdicts_of(name: str, truth: ndarray, rule: str) -> tuple[ndarray, list[Note]]:
    """Return a mask of the correct items, given as 1 and 0 or as words, and a note on words.

    `rule` is the end of the error for a cell that is no verdict.
    """
    texts, positions = np.unique(truth, return_inverse=True)
    verdicts = [_PASSED.get(str(text).casefold(), verdict_of(str(text))) for text in texts.tolist()]
    is_unknown = np.array([verdict is None for verdict in verdicts])
    _refuse(name, truth, is_unknown[positions], rule)
    is_correct = np.array(verdicts, bool)
    if truth.dtype.kind != "U":
        return is_correct[positions], []
    words = np.where(is_correct, "right", "wrong")
    meaning = [f"{text!r} is {word}" for text, word in zip(texts.tolist(), words, strict=True)]
    note = Note("data", f"in column {name!r} {checks.listed(meaning)}")
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
    """Raise where a value of a column is bad; the message names the first."""
    if bad.any():
        row = int(bad.argmax())
        value = values[row].item()
        text = f"{value:g}" if isinstance(value, float) else repr(value)
        raise numbers.RowError(f"column {name!r}, ", row, f": {text} {rule}")


def _rounded(values: ndarray) -> list[Note]:
    """Return a note where fewer than half of the scores are distinct."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size >= values.size / 2:
        return []
    k = counts.argmax()
    shared = f"{counts[k]:,} items share the score {distinct[k]:.10g}"
    few = f"only {distinct.size:,} of {values.size:,} scores are distinct"
    return [Note("data", f"{few}, and {shared}; ask for unrounded scores")]
