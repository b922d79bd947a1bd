"""Roles of the columns of a table: scores of models, identifiers of items, and repeats."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from workbench import checks
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
    r"(is|has|was|needs|contains)_.*|hard|easy|flag|unnamed: ?[0-9]+|index|row|row_?(id|nr|number|index)|"
    r"(mean_|std_|rank_)(fit|score|test|train)_?.*|rank_.*|std_.*|(fit|score)_time|split|fold|cv_?fold|"
    r"n_.*|num_.*|nr_.*|(.*[_ ])?(size|counts?|tokens?|lengths?|len|chars|characters|words|time|times|timestamp|date|"
    r"seconds|secs|ms|millis|latency|duration|cost|costs|price|weights?|wt|year|month|week|day|hour|age|idx|index|"
    r"turns?|steps?|difficulty|temperature|top_[pk]|max_tokens|ids?)"
)
_NO_MODEL = {
    roles.ID,
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


class Scores(NamedTuple):
    """Columns that are scores of models, and the other columns, each with the reason."""

    models: list[str]
    others: dict[str, str]


def item_column(names: Sequence[str], named: str) -> str:
    """Return the column of identifiers, "" if none is recognized.

    Parameters
    ----------
    names : list of str
    named : str
        The column that the user named, or "".

    Examples
    --------
    >>> item_column(["Question_ID", "gpt"], ""), item_column(["key", "gpt"], "")
    ('Question_ID', '')
    """
    found = named or next((each for each in names if str(each).lower() in ITEM_NAMES), "")
    return spelled(found, names) if found else ""


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
    return [name for name in names if REPEATS.fullmatch(_plain(name))]


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
    plain = _plain(name)
    if len(plain) < 2 or _SCORES.fullmatch(plain):
        return False
    return bool(_METADATA.fullmatch(plain) or REPEATS.fullmatch(plain))


def score_columns(data: Mapping[str, np.ndarray], told: str) -> Scores:
    """Return the columns that are scores of models, or raise an error if this is uncertain.

    Only numbers of the same kind can be scores: 0 and 1, from 0 to 1, or another range. Columns
    with the name of a flag, a size, a time or a repeat are not scores.

    Parameters
    ----------
    data : dict of (N,) array
        All columns that have no other role.
    told : str
        Name of the table in messages.

    Raises
    ------
    ValueError
        If columns of different kinds, or a column of words, could be scores.
    """
    seems = {column.name: column.seems for column in roles.columns_of(dict(data))}
    others: dict[str, str] = {}
    values: dict[str, np.ndarray] = {}
    for name, cells in data.items():
        role = seems[name] if len(_plain(name)) > 1 else ""
        if is_metadata(name):
            others[name] = "its name is not that of a score"
        elif role in _NO_MODEL and not _SCORES.fullmatch(_plain(name)):
            others[name] = f"it seems to be a {role}"
            if role in _USES:
                others[name] += f", for the option {_USES[role]}"
        elif (found := _numbers(name, cells, told)) is None:
            others[name] = "it holds text"
        else:
            values[name] = found
    models = [name for name, column in values.items() if column.size]
    others |= {name: "it is empty" for name in values if name not in models}
    _refuse_mixed({name: values[name] for name in models}, told)
    return Scores(models, others)


def long_columns(data: Mapping[str, np.ndarray], told: str) -> tuple[str, str]:
    """Return the columns of models and of scores of a table with a row per item and model.

    Return ("", "") for any other table.

    Parameters
    ----------
    data : dict of (N,) array
    told : str
        Name of the table in messages.
    """
    model = next((name for name in data if _plain(name) in MODEL_NAMES), "")
    if not model or len(set(numbers.as_text(data[model]))) < 2:
        return "", ""
    scores = score_columns(
        {name: cells for name, cells in data.items() if name != model}, told
    ).models
    if len(scores) != 1:
        raise checks.WrongValue(
            "score",
            f"must name the column of scores in {told}, together with model {model!r}, which "
            "seems to name the model of each row; possible scores: "
            f"{checks.listed(scores, SHOWN, quoted=True) or 'none found'}",
        )
    return model, scores[0]


def _plain(name: str) -> str:
    return str(name).rpartition(".")[2].strip().casefold()


def _numbers(name: str, cells: np.ndarray, told: str) -> np.ndarray | None:
    """Return the numbers of a column without missing ones, None if it holds text.

    Raise an error if the text may be scores.
    """
    present = numbers.objects(cells[~gaps(cells, True)].tolist())
    texts = [cell for cell in present.tolist() if isinstance(cell, str)]
    try:
        return numbers.to_numbers(name, present)
    except ValueError:
        if texts and all(not isinstance(letter_score(text.strip()), str) for text in texts):
            raise checks.WrongValue(
                "model",
                f"must name the models' columns of {told}, separated by commas: column {name!r} "
                f"holds words that may be scores, such as {texts[0]!r}",
            ) from None
        good = sum(_is_number(text) for text in texts)
        if good and good * 2 >= len(texts):
            numbers.to_numbers(
                name,
                numbers.objects(
                    [
                        "0" if gone else cell
                        for gone, cell in zip(gaps(cells, True), cells.tolist(), strict=True)
                    ]
                ),
            )
        return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_mixed(values: Mapping[str, np.ndarray], told: str) -> None:
    """Raise an error if columns hold numbers of different kinds, as not all can be scores."""
    kinds: dict[str, list[str]] = {}
    for name, column in values.items():
        kinds.setdefault(_kind(column), []).append(name)
    few = all(
        len(set(values[name].tolist())) <= FEW_VALUES for name in kinds.get("from 0 to 1", ())
    )
    if few and {*kinds} == {"0 and 1", "from 0 to 1"} or len(kinds) < 2:
        return
    holds = "; ".join(
        f"{checks.listed(names, SHOWN, quoted=True)} {'holds' if len(names) == 1 else 'hold'} "
        f"{_range(kind, [values[name] for name in names])}"
        for kind, names in kinds.items()
    )
    most = max(kinds.values(), key=len)
    raise checks.WrongValue(
        "model",
        f"must name the models' columns of {told}, separated by commas, as in "
        f'"{",".join(most[:SHOWN])}": columns of different kinds may be scores; {holds}',
    )


def _kind(column: np.ndarray) -> str:
    if np.isin(column, (0, 1)).all():
        return "0 and 1"
    return "from 0 to 1" if column.min() >= 0 and column.max() <= 1 else "other"


def _range(kind: str, columns: Sequence[np.ndarray]) -> str:
    if kind != "other":
        return kind
    return f"{min(column.min() for column in columns):g} to {max(column.max() for column in columns):g}"
