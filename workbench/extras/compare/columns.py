"""Roles of the columns of a table: scores of models, identifiers of items, and repeats."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue
from workbench.data import numbers, roles
from workbench.data.columns import spelled
from workbench.data.shapes import gaps
from workbench.extras.compare.evaluation_logs import letter_score

ITEM_NAMES = (
    "id",
    "item",
    "item_id",
    "doc_id",
    "question_id",
    "qid",
    "sample_id",
    "example_id",
    "task_id",
    "prompt_id",
    "case_id",
    "q",
    "uid",
    "uuid",
    "example",
    "case",
)
TEXT_NAMES = ("input", "question", "prompt", "text")
MODEL_NAMES = ("model", "system", "model_name", "system_name")
SHOWN = 8
FEW_VALUES = 5  # of a score in quarters: 0, 1/4, ... and 1
REPEATS = re.compile(
    r"((random_?)?seed|rep|repeat|repetition|replicate|run|trial|attempt|iteration|iter|epoch)"
    r"([_ -]?(id|no|nr|number|index|idx))?"
)
_SCORES = re.compile(r"is_(correct|right|ok|hit|pass|passed|success|successful|match)")
_METADATA = re.compile(
    r"(is|has|was|needs|contains)_.*|hard|easy|flag|unnamed: ?[0-9]+|index|row|"
    r"row_?(id|nr|number|index)|(mean_|std_|rank_)(fit|score|test|train)_?.*|rank_.*|std_.*|"
    r"(fit|score)_time|split|fold|cv_?fold|n_.*|num_.*|nr_.*|(.*[_ ])?(size|counts?|tokens?|"
    r"lengths?|len|chars|characters|words|time|times|timestamp|date|seconds|secs|ms|millis|latency|"
    r"duration|cost|costs|price|weights?|wt|year|month|week|day|hour|age|idx|index|turns?|steps?|"
    r"difficulty|temperature|top_[pk]|max_tokens|ids?)"
)
_NO_MODEL = {
    roles.ID,
    roles.REPEATED,
    roles.TRUTH,
    roles.STRATUM,
    roles.CLUSTER,
    roles.WEIGHT,
    roles.REPLICATE,
    roles.POPULATION,
    roles.MONTH,
    roles.FOLD,
    roles.REPEAT,
    roles.MODEL,
    roles.SIZE,
}
_USES = {roles.CLUSTER: "cluster", roles.STRATUM: "by"}


def item_column(names: Sequence[str], name: str) -> str:
    """Return the column of identifiers, "" if none is recognized.

    Parameters
    ----------
    names : list of str
    name : str
        The column that the user named, or "".

    Examples
    --------
    >>> item_column(["Question_ID", "gpt"], ""), item_column(["key", "gpt"], "")
    ('Question_ID', '')
    """
    column = name or next((other for other in names if str(other).lower() in ITEM_NAMES), "")
    return spelled(column, names) if column else ""


def repeat_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that distinguish repeats of an item, by their names, such as run or seed.

    Parameters
    ----------
    names : list of str

    Examples
    --------
    >>> repeat_columns(["id", "run", "Seed", "gpt", "runner"])
    ['run', 'Seed']
    """
    return [name for name in names if REPEATS.fullmatch(_bare(name))]


def is_metadata(name: str) -> bool:
    """Return whether the name of a column is that of a flag, a size, a time or a fold.

    Such columns describe items or runs.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> [is_metadata(name) for name in ("is_hard", "n_test", "fit_time", "is_correct", "gpt")]
    [True, True, True, False, False]
    """
    bare = _bare(name)
    if len(bare) < 2 or _SCORES.fullmatch(bare):
        return False
    return bool(_METADATA.fullmatch(bare) or REPEATS.fullmatch(bare))


def score_columns(data: Mapping[str, ndarray], label: str) -> tuple[list[str], dict[str, str]]:
    """Return the columns that are scores of models, and the other columns, each with the reason.

    Only numbers of the same kind can be scores: 0 and 1, from 0 to 1, or another range. Columns
    with the name of a flag, a size, a time or a repeat are not scores.

    Parameters
    ----------
    data : dict of (N,) array
        All columns that have no other role.
    label : str
        Name of the table in messages.

    Raises
    ------
    ValueError
        If columns of different kinds, or a column of words, could be scores.
    """
    values, reasons = _possible_scores(data, label)
    _refuse_mixed(values, label)
    return list(values), reasons


def _possible_scores(
    data: Mapping[str, ndarray], label: str
) -> tuple[dict[str, ndarray], dict[str, str]]:
    """Return the numbers of each column that may hold scores, and why the others do not."""
    roles_of = {column.name: column.seems for column in roles.columns_of(dict(data))}
    has_truth = roles.TRUTH in roles_of.values()
    has_classes = _has_predicted_classes(data, roles_of)
    reasons: dict[str, str] = {}
    values: dict[str, ndarray] = {}
    for name, cells in data.items():
        bare = _bare(name)
        role = roles_of[name] if len(bare) > 1 else ""
        if is_metadata(name):
            reasons[name] = "its name is not that of a score"
        elif role in _NO_MODEL and not _SCORES.fullmatch(bare):
            reasons[name] = f"it seems to be a {role}"
            if role in _USES:
                reasons[name] += f", for the option {_USES[role]}"
        elif roles_of[name] == roles.PREDICTION and (has_truth or _holds_text(cells)):
            reasons[name] = "it seems to be a prediction"
        elif (column := _numbers(name, cells, label)) is None:
            reasons[name] = "it holds text"
        elif roles_of[name] == roles.SCORE and has_classes and _kind(column) != "0 and 1":
            reasons[name] = "it seems to be the confidence of a prediction"
        else:
            values[name] = column
    reasons |= {name: "it is empty" for name, column in values.items() if not column.size}
    return {name: column for name, column in values.items() if column.size}, reasons


def _has_predicted_classes(data: Mapping[str, ndarray], roles_of: Mapping[str, str]) -> bool:
    """Return whether predictions and true answers have most values in common, as classes do."""
    first = {role: name for name, role in reversed([*roles_of.items()])}
    if roles.PREDICTION not in first or roles.TRUTH not in first:
        return False
    answers = []
    for role in (roles.PREDICTION, roles.TRUTH):
        texts = numbers.as_text(data[first[role]])
        answers.append({text.removesuffix(".0") for text in texts} - {""})
    predicted, true = answers
    return 2 * len(predicted & true) >= min(len(predicted), len(true))


def long_columns(
    data: Mapping[str, ndarray], label: str, items: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the columns of models and of scores of a table with a row per item and model.

    Return ("", "") for any other table.

    Parameters
    ----------
    data : dict of (N,) array
    label : str
        Name of the table in messages.
    items : sequence of str, default ()
        Identifiers of the rows. If all differ, a table with several scores has a column per model.
    """
    model = next((name for name in data if _bare(name) in MODEL_NAMES), "")
    if not model or len(set(numbers.as_text(data[model]))) < 2:
        return "", ""
    columns = {name: cells for name, cells in data.items() if name != model}
    values, reasons = _possible_scores(columns, label)
    scores = list(values)
    if len(scores) > 1 and len(set(items)) == len(items) > 0:
        return "", ""
    if len(scores) != 1:
        possible = checks.listed(scores, SHOWN, quoted=True)
        raise WrongValue(
            "score",
            f"must name the column of scores in {label}, together with model {model!r}, which "
            "seems to name the model of each row; possible scores: "
            f"{possible or f'none found; {no_scores(reasons)}'}",
        )
    return model, scores[0]


def no_scores(reasons: Mapping[str, str]) -> str:
    """Return why columns are not scores, for messages.

    Examples
    --------
    >>> no_scores({"topic": "it holds text"})
    "not used as scores: 'topic' (it holds text)"
    """
    texts = [f"{name!r} ({why})" for name, why in reasons.items()]
    return f"not used as scores: {checks.listed(texts)}"


def _bare(name: str) -> str:
    """Return the last part of a name such as "doc.Question" in lower case."""
    return str(name).rpartition(".")[2].strip().casefold()


def _numbers(name: str, cells: ndarray, label: str) -> ndarray | None:
    """Return the numbers of a column without missing ones, None if it holds text.

    Raise an error if the text may be scores.
    """
    missing = gaps(cells, True)
    present = numbers.objects(cells[~missing].tolist())
    try:
        return numbers.to_numbers(name, present)
    except ValueError:
        texts = [cell for cell in present if isinstance(cell, str)]
    if texts and all(isinstance(letter_score(text.strip()), float) for text in texts):
        raise WrongValue(
            "model",
            f"must name the models' columns of {label}, separated by commas: column {name!r} "
            f"holds words that may be scores, such as {texts[0]!r}",
        )
    numerals = sum(map(_is_number, texts))
    if numerals and numerals * 2 >= len(texts):
        filled = cells.astype(object)
        filled[missing] = "0"
        numbers.to_numbers(name, filled)  # the error names the first text
    return None


def _holds_text(cells: ndarray) -> bool:
    return any(isinstance(cell, str) for cell in cells.tolist())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_mixed(values: Mapping[str, ndarray], label: str) -> None:
    """Raise an error if columns hold numbers of different kinds, as not all can be scores."""
    kinds: dict[str, list[str]] = {}
    for name, column in values.items():
        kinds.setdefault(_kind(column), []).append(name)
    graded = kinds.get("from 0 to 1", ())
    are_few = all(len(set(values[name].tolist())) <= FEW_VALUES for name in graded)
    if len(kinds) < 2 or are_few and {*kinds} == {"0 and 1", "from 0 to 1"}:
        return
    texts = []
    for kind, names in kinds.items():
        content = kind
        if kind == "other":
            numerals = np.concatenate([values[name] for name in names])
            content = f"{numerals.min():g} to {numerals.max():g}"
        verb = "holds" if len(names) == 1 else "hold"
        texts.append(f"{checks.listed(names, SHOWN, quoted=True)} {verb} {content}")
    most = max(kinds.values(), key=len)
    raise WrongValue(
        "model",
        f"must name the models' columns of {label}, separated by commas, as in "
        f'"{",".join(most[:SHOWN])}": columns of different kinds may be scores; {"; ".join(texts)}',
    )


def _kind(column: ndarray) -> str:
    if np.isin(column, (0, 1)).all():
        return "0 and 1"
    return "from 0 to 1" if column.min() >= 0 and column.max() <= 1 else "other"
