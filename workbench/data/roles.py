"""Roles of the columns of a table, guessed from their names and cells.

`columns_of` guesses the role of each column: its name must match `_NAMES`, and its cells must have
the traits in `_TRAITS`. `check_verdicts` refuses true classes in a column whose name says that it
holds correct or incorrect.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.data import numbers, shapes
from workbench.data.classes import verdict_of
from workbench.data.columns import plain_name
from workbench.results import Note

ID = "identifier"
SCORE = "score"
PREDICTION = "prediction"
TRUTH = "truth"
CORRECT = "correct or incorrect"
JUDGE = "judge label"
HUMAN = "human label"
STRATUM = "stratum"
CLUSTER = "cluster"
WEIGHT = "weight"
REPLICATE = "replicate weight"
POPULATION = "population size"
MONTH = "period"
FOLD = "fold"
REPEAT = "repeat"
MODEL = "model"
VERSION = "version of a model"
SIZE = "size"
SPLIT = "score of a split"
PROBABILITY = "probability of a class"
REPEATED = "repeated identifier"
PART = "training or test"
OTHER = "something else"
MOST_CLASSES = 200
FEW_REPEATS = 50  # at most one of so many rows repeats an identifier
LEAST_KAPPA = 0.2  # of predictions; Landis and Koch (1977) call less agreement "slight"
SUBSTANTIAL_KAPPA = 0.6  # Landis and Koch (1977) call more agreement "substantial"
LEAST_ITEMS = 20  # of a repeated identifier; fewer values may be those of regions or classes
LEAST_LABELS = 20  # fewer verdicts may agree with the predictions by chance
LEAST_CLUSTERS = 5  # of stores, sessions and the like; fewer values may be kinds of them
# roles that only the first column of a table has
_ONCE = {
    ID,
    JUDGE,
    HUMAN,
    TRUTH,
}
# patterns of the names of columns; a column has the first role whose pattern and traits it fits
_NAMES = {
    OTHER: r"(mean_|std_|rank_)(fit|score|test)_.+|(fit|score)_time",
    REPLICATE: r"(rep(licate)?[_ ]?w(eigh)?ts?|repwt|brrwt|bsw|pwgtp|wgtp|jk[1n2]?wt|replicate)"
    r"[_ ]?[0-9]+",
    POPULATION: r"fpc|n_?psus?|psus_in_population|pop(ulation)?_?size",
    SPLIT: r"split[0-9]+_test_.+|test_.+",
    ID: r"(.*[_ .-])?(id|ids|uuid|guid|key)|.*id|item|case|nr|no|document",
    PREDICTION: r"(.*[_ .-])?(pred|predicted|prediction|predictions|yhat|guess)([_ .-].*)?|"
    r"y_?(hat|pred)|decision|assigned|map(ped)?([_ .-](class|label|category))?",
    JUDGE: r"(.*[_ .-])?(judge|judge?ment|verdict)([_ .-](label|verdict|grade|rating))?|"
    r"llm[_ .-](label|verdict|grade|rating)",
    HUMAN: r"(human|expert)s?([_ .-](label|verdict|grade|rating))?",
    TRUTH: r"(.*[_ .-])?(truth|true|gold|target|actual|label|y_?true)([_ .-].*)?|y|"
    r"(reference|ref)([_ .-](class|category))?",
    CORRECT: r"(is_?)?(correct|right|hit|ok)",
    SCORE: r"(.*[_ .-])?(score|scores|conf|confidence|prob|proba|probability|certainty|margin|"
    r"logit|logprob)|p",
    FOLD: r"(cv_?)?fold",
    REPEAT: r"repeat|repetition",
    MODEL: r"model|system|classifier|regressor|estimator|learner|algorithm|method",
    VERSION: r"((model|system|classifier|algorithm)[_ .-]?)?(version|ver)",
    MONTH: r"month|period|date|day|week|quarter|year|.*_(month|date)",
    WEIGHT: r"p?w|p?wgtp?|.*_?weight|p?weights|(.*_|p|final|per|hh|base|samp)?w(gh?)?t",
    SIZE: r"n|size|count|items",
    CLUSTER: r"(psu|cluster|document|passage|conversation|person|household|school|site|box|patient|"
    r"user|author|hospital|subject|customer|client|account|speaker|session|thread|clinic|store|"
    r"branch)"
    r"([_ .-]?(id|no|nr|number|key))?",
    STRATUM: r"strat(um|a)?|region|district|segment|domain|group",
    PART: r"(data_?)?(split|subset|partition|part|set)",
    REPEATED: r"(.*[_ .-])?(item|image|img|doc|document|question|q|record|case|row)[_ .-]?"
    r"(id|uuid|guid)|id|uuid|guid|item|case",
}
_TRAITS = {
    OTHER: set(),
    REPLICATE: set(),
    SPLIT: {"numeric"},
    ID: {"unique", "whole"},
    POPULATION: {"positive", "whole"},
    PREDICTION: {"classes"},
    JUDGE: {"classes"},
    HUMAN: {"classes"},
    TRUTH: {"classes"},
    CORRECT: {"binary"},
    SCORE: {"numeric", "graded"},
    FOLD: {"several", "whole"},
    REPEAT: {"repeated"},
    MODEL: {"few", "text"},
    VERSION: set(),
    MONTH: {"dates"},
    WEIGHT: {"positive"},
    SIZE: {"positive", "whole"},
    CLUSTER: {"repeated"},
    STRATUM: {"few"},
    PART: {"training", "several"},
    REPEATED: {"repeated", "many", "whole"},
}
# roles of columns that may distinguish several rows of an item
_OF_ONE_ITEM = MODEL, VERSION, REPEAT, SCORE
# names of columns that may say whether a prediction is correct, if they are named as true classes
_VERDICTS = (
    r"((.*[_ .-])?(is|was)?correct(ness|ly)?|korrekt|richtig|"
    r"((is|was|model|answer|pred(iction)?)[_ .-]?)?"
    r"(right|hit|ok|match(es|ed)?|pass(ed)?|accurate)) ?\??"
)
# names of clusters that are also names of classes, such as the stores "app" and "web"
_KINDS = r"(customer|client|account|speaker|session|thread|clinic|store)"
# values of columns that divide items into training items and others
_TRAINING = re.compile(r"train(ing)?([ _-]?(set|data|items?|split))?[ _-]?[0-9]*")
_TESTED = re.compile(r"test|val|dev|eval|hold|held|unseen")
# names of true classes if the cells are classes of the predictions
_CHECKED = r"(.*[_ .-])?(checked|verified|audited)"
_DATE = re.compile(
    r"(19|20)[0-9]{2}([-/.]?(0?[1-9]|1[0-2]|Q[1-4]|W[0-9]{2})([-/.][0-9]{1,2})?([T ].*)?)?"
    r"|[0-3]?[0-9][-/.][0-3]?[0-9][-/.](19|20)[0-9]{2}([T ,].*)?"
    r"|(0?[1-9]|1[0-2])[-/.](19|20)[0-9]{2}"
    r"|Q[1-4][ /-]*(19|20)[0-9]{2}|(19|20)[0-9]{2}(0[1-9]|1[0-2])[0-3][0-9]"
    r"|(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?"
    r"|nov(ember)?|dec(ember)?)[. '-]*((19|20)?[0-9]{2})?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Column:
    """A column with its probable role.

    `holds` describes its content, `missing` is the number of missing cells, and `inside` says
    whether all numbers are from 0 to 1.
    """

    name: str
    seems: str
    holds: str
    missing: int
    inside: bool


def columns_of(data: dict[str, ndarray]) -> list[Column]:
    """Return the probable role of each column of some rows.

    Parameters
    ----------
    data : dict of (N,) ndarray
        Columns by name.

    Examples
    --------
    >>> table = {"item": ["a7", "b8", "c9", "d1"], "yhat": ["cat", "dog", "cat", "dog"]}
    >>> columns = columns_of({name: numbers.objects(cells) for name, cells in table.items()})
    >>> [(column.name, column.seems) for column in columns]
    [('item', 'identifier'), ('yhat', 'prediction')]
    """
    of_class = _probabilities(data)
    columns: list[Column] = []
    roles: set[str] = set()
    for name, cells in data.items():
        missing = shapes.gaps(cells, True)
        values = _numbers(name, cells[~missing])
        if values is None:  # in a column of text, "None" may be a class
            missing = shapes.gaps(cells, False)
        texts = numbers.as_text(cells[~missing])
        traits = _traits(texts, values)
        role = _role(name, texts, traits)
        if name in of_class:
            role = PROBABILITY
        if role in roles & _ONCE:
            role = OTHER
        roles.add(role)
        content = _content(texts, values) + _repeated(texts, traits)
        inside = "inside" in traits
        columns.append(Column(name, role, content, int(missing.sum()), inside))
    columns = _predictions_and_labels(columns)
    return _with_true_classes(columns, data)


def _predictions_and_labels(columns: list[Column]) -> list[Column]:
    """Return the columns; of two with yes and no, the one with gaps is the truth of some items."""
    verdicts = [k for k, column in enumerate(columns) if column.seems == CORRECT]
    taken = {column.seems for column in columns}
    if len(verdicts) != 2 or taken & {PREDICTION, TRUTH} or SCORE not in taken:
        return columns
    complete, partial = sorted(verdicts, key=lambda k: columns[k].missing)
    if columns[complete].missing == 0 < columns[partial].missing:
        columns[complete] = replace(columns[complete], seems=PREDICTION)
        columns[partial] = replace(columns[partial], seems=TRUTH)
    return columns


def _with_true_classes(columns: list[Column], data: dict[str, ndarray]) -> list[Column]:
    """Return the columns; a single one that seems to label the predictions is the truth.

    A column without gaps must have a name such as "checked", or yes and no like the predictions.
    """
    predictions = [column.name for column in columns if column.seems == PREDICTION]
    taken = {column.seems for column in columns}
    if len(predictions) != 1 or taken & {TRUTH, HUMAN, JUDGE}:
        return columns
    labels = []
    for k, column in enumerate(columns):
        word = column.name.strip().casefold()
        if column.seems not in {OTHER, CORRECT} or re.fullmatch(_NAMES[CORRECT], word):
            continue
        is_verdict = column.seems == CORRECT
        may_label = column.missing or is_verdict or re.fullmatch(_CHECKED, word)
        if may_label and agree_on_classes(data[predictions[0]], data[column.name]):
            labels.append(k)
    if len(labels) == 1:
        columns[labels[0]] = replace(columns[labels[0]], seems=TRUTH)
    return columns


def agree_on_classes(first: ndarray, second: ndarray, kappa: float = LEAST_KAPPA) -> bool:
    """Return whether two columns label the same items: they share classes and agree beyond chance.

    One column has all classes of the other, and Cohen's kappa of the rows with both is above
    `kappa`.

    Examples
    --------
    >>> predicted = np.array(["spam", "ham", "ham", "ham"], object)
    >>> agree_on_classes(predicted, np.array(["spam", "", "ham", ""], object))
    True
    >>> agree_on_classes(predicted, np.array(["ham", "spam", "ham", "ham"], object))
    False
    """
    columns = []
    for cells in (first, second):
        columns.append([text.removesuffix(".0") for text in numbers.as_text(cells)])
    classes, others = ({*texts} - {""} for texts in columns)
    if not (classes <= others or others <= classes):
        return False
    pairs = [pair for pair in zip(*columns, strict=True) if all(pair)]
    if not pairs:
        return False
    counts, other_counts = (Counter(texts) for texts in zip(*pairs, strict=True))
    agreement = sum(text == other for text, other in pairs) / len(pairs)
    chance = sum(counts[text] * other_counts[text] for text in counts) / len(pairs) ** 2
    return agreement - chance > kappa * (1 - chance)


def _probabilities(data: dict[str, ndarray]) -> list[str]:
    """Return the columns of the probabilities of classes: they have such names and sum to 1."""
    names = shapes.probability_columns([*data])
    gaps = [shapes.gaps(data[name], True) for name in names]
    complete = ~np.any(gaps, 0)
    columns = [_numbers(name, data[name][complete]) for name in names]
    values = [column for column in columns if column is not None]
    if not names or len(values) < len(names):
        return []
    total = np.sum(values, 0)
    return names if (abs(total - 1) <= shapes.ROUNDED * len(names)).all() else []


def _numbers(name: str, cells: ndarray) -> ndarray | None:
    try:
        return numbers.to_shares(name, cells)[0] if cells.size else None
    except ValueError:  # not a column of numbers
        return None


def _traits(texts: list[str], values: ndarray | None) -> set[str]:
    """Return the traits of a column of text, and of numbers if its cells are numbers."""
    distinct = len({*texts})
    most_classes = max(len(texts) // 2, 2)
    few = 1 < distinct <= min(MOST_CLASSES, most_classes)
    parts = {text.casefold() for text in texts}
    traits = {
        "unique": distinct > 1 and len(texts) - distinct <= len(texts) // FEW_REPEATS,
        "repeated": distinct < len(texts) or distinct == 1,
        "few": few,
        "many": distinct >= LEAST_ITEMS,
        "clusters": distinct >= LEAST_CLUSTERS,
        "classes": few or distinct == 1,
        "binary": distinct <= 2,
        "several": distinct > 1,
        "graded": distinct > 2,
        "dates": all(map(_DATE.fullmatch, texts)),
        "text": values is None,
        "training": any(map(_TRAINING.fullmatch, parts)) and any(map(_TESTED.match, parts)),
        "whole": values is None or bool((values % 1 == 0).all()),
    }
    if values is not None:
        least = values.min()
        most = values.max()
        traits |= {"numeric": True, "positive": least > 0, "inside": least >= 0 and most <= 1}
    return {name for name, holds in traits.items() if holds}


def _role(name: str, texts: list[str], traits: set[str]) -> str:
    if not texts:
        return OTHER
    word = name.rpartition(".")[2].strip().casefold()
    if word == SCORE and {"numeric", "several"} <= traits:
        return SCORE
    if "repeated" in traits and re.fullmatch(_NAMES[CLUSTER], word):
        traits = traits - {"unique"}
    if re.fullmatch(_KINDS, word) and "clusters" not in traits:
        traits = traits - {"repeated"}
    for role, pattern in _NAMES.items():
        if re.fullmatch(pattern, word) and _TRAITS[role] <= traits:
            return role
    if {"dates", "repeated"} <= traits:
        return MONTH
    is_binary = {"text", "several", "binary"} <= traits
    if is_binary and all(verdict_of(text) is not None for text in {*texts}):
        return CORRECT
    return SCORE if "inside" in traits and "whole" not in traits else OTHER


def _content(texts: list[str], values: ndarray | None) -> str:
    if not texts:
        return "nothing"
    distinct = list(dict.fromkeys(texts))
    if values is not None and len(distinct) > 12:
        low, high = values.min(), values.max()
        is_whole = (values % 1 == 0).all()
        limits = f"{low:,.0f} to {high:,.0f}" if is_whole else f"{low:.4g} to {high:.4g}"
        return f"numbers from {limits}, {len(distinct):,} distinct values"
    starts = [" ".join(text[:20].split()) for text in distinct]
    if len(texts) == len(distinct) > 1:
        return f"all different: {checks.listed(starts[:2])}, ..."
    return f"{checks.counted(len(distinct), 'value')}: {checks.listed(starts, 4)}"


def _repeated(texts: list[str], traits: set[str]) -> str:
    """Return how many values occur more than once, for a column of almost unique identifiers."""
    if len({*texts}) == len(texts) or not {"unique", "whole"} <= traits:
        return ""
    repeated = sum(count > 1 for count in Counter(texts).values())
    return f"; {repeated:,} of them more than once"


def first_of(columns: Sequence[Column], role: str) -> str:
    """Return the first column with a role, "" if there is none."""
    return next((column.name for column in columns if column.seems == role), "")


def names_items(name: str) -> bool:
    """Return whether a name is that of an identifier of items, such as "question_id"."""
    return re.fullmatch(_NAMES[REPEATED], plain_name(name)) is not None


def names_part_of_items(name: str) -> bool:
    """Return whether a name is that of a column that distinguishes several rows of an item."""
    patterns = *map(_NAMES.__getitem__, _OF_ONE_ITEM), "annotator|coder|rater"
    return any(re.fullmatch(pattern, plain_name(name)) for pattern in patterns)


def check_verdicts(
    name: str, truth: ndarray, prediction: ndarray | None, remedy: str
) -> list[Note]:
    """Raise if a column of true classes seems to say whether the predictions are correct.

    Classes of a good classifier agree with its predictions, which verdicts rarely do. So a note is
    returned instead if Cohen's kappa is above `SUBSTANTIAL_KAPPA`.

    Parameters
    ----------
    name : str
        Name of the column.
    truth : (n,) ndarray
        Its labels.
    prediction : (n,) ndarray or None
        Predicted classes of the same items, if they are known.
    remedy : str
        What to do if the column says whether the predictions are correct.

    Examples
    --------
    >>> labels = np.arange(40) % 2
    >>> check_verdicts("truth", labels, labels, "leave out the predictions")
    []
    >>> print(*check_verdicts("is_correct", labels, labels, "leave out the predictions"))
    ... # doctest: +NORMALIZE_WHITESPACE
    column 'is_correct' was read as the true class, because it agrees with the predictions. If it
    says whether the prediction is correct, leave out the predictions
    >>> check_verdicts("is_correct", labels, 1 - labels, "leave out the predictions")
    ... # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    ValueError: column 'is_correct' holds '0', '1': is it the true class, or does it say whether
    the prediction is correct? If it says that, leave out the predictions. If it is the true class,
    rename the column, for example to 'truth'
    """
    word = name.rpartition(".")[2].strip().casefold()
    texts = [str(label) for label in np.unique(truth).tolist()]
    holds_verdicts = all(verdict_of(text) is not None for text in texts)
    if not holds_verdicts or not re.fullmatch(_VERDICTS, word):
        return []
    agrees = False
    if prediction is not None and len(truth) >= LEAST_LABELS:
        agrees = agree_on_classes(truth, prediction, SUBSTANTIAL_KAPPA)
    if agrees:
        text = (
            f"column {name!r} was read as the true class, because it agrees with the predictions. "
            f"If it says whether the prediction is correct, {remedy}"
        )
        return [Note("assumption", text)]
    raise ValueError(
        f"column {name!r} holds {checks.listed(texts, quoted=True)}: is it the true class, or "
        f"does it say whether the prediction is correct? If it says that, {remedy}. If it is "
        "the true class, rename the column, for example to 'truth'"
    )
