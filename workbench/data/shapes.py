"""Tables of several shapes, read with one row per item.

`read_rows` reads these tables:

- a table with one column of probabilities per class,
- a table with one row per item and model,
- a table whose second model has its predictions in another file,
- a table with rows without a score or a prediction.

The functions before it interpret names of columns and models. The functions after it add columns or
leave rows out.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.data.numbers import RowError
from workbench.results import Note

FIRST = 5  # rows or identifiers that a note names
ROUNDED = 0.005  # the largest rounding error of a probability
CONFIDENCE = "highest probability"
PREDICTED = "class of the highest probability"
_PROBABILITY = re.compile(
    r"(?:p|prob|proba|probability|score|conf|confidence|softmax)[^a-z0-9]+", re.IGNORECASE
)


class Rows(NamedTuple):
    """Columns with one row per item: names by role, cells by name, and their rows in the source."""

    columns: dict[str, str]
    data: dict[str, ndarray]
    notes: tuple[Note, ...]
    rows: ndarray | None = None
    left_out: str = ""


def probability_columns(names: Sequence[str]) -> list[str]:
    """Return the columns whose names suggest probabilities of classes, such as p_cat and p_dog.

    Examples
    --------
    >>> probability_columns(["id", "p_cat", "p_dog", "prob"])
    ['p_cat', 'p_dog']
    """
    by_start = defaultdict(list)
    for name in names:
        if _PROBABILITY.match(name):
            by_start[_start(name)].append(name)
    alike: list[str] = max(by_start.values(), key=len, default=[])
    return alike if len(alike) > 1 else []


def pattern_of(columns: Sequence[str]) -> str:
    """Return the pattern of `probability_columns`, as `class_columns` expects it."""
    return f"{_start(columns[0])}*"


def _start(name: str) -> str:
    return _PROBABILITY.findall(name)[0]


def refuse_without_score(names: Sequence[str]) -> None:
    """Raise because no column is called score; the message names columns that may be meant."""
    listed = checks.listed(names, 20, quoted=True)
    rule = f"must name the column of scores, because none is called 'score'; columns: {listed}"
    alike = probability_columns(names)
    if alike:
        listed = checks.listed(alike, FIRST, quoted=True)
        pattern = pattern_of(alike)
        rule += f". If {listed} are probabilities of classes, use {{0}} '{pattern}' instead"
    raise WrongValue("score", rule, others=("probabilities",))


def class_columns(
    names: Sequence[str], pattern: str, argument: str = "probabilities"
) -> dict[str, str]:
    """Return the columns that match a pattern such as "p_*", with the text at the asterisk.

    Errors name the argument.

    Raises
    ------
    ValueError
        If the pattern does not have exactly one asterisk, or matches fewer than two columns.

    Examples
    --------
    >>> class_columns(["id", "p_cat", "p_dog"], "p_*")
    {'p_cat': 'cat', 'p_dog': 'dog'}
    """
    if pattern.count("*") != 1:
        rule = "must have one asterisk in place of the class, such as 'p_*'"
        raise WrongValue(argument, rule, pattern)
    expression = re.compile(re.escape(pattern).replace(r"\*", "(.+)"), re.DOTALL)
    matches = {name: expression.fullmatch(name) for name in names}
    classes = {name: match[1] for name, match in matches.items() if match}
    if len(classes) < 2:
        matching = checks.listed(classes, quoted=True) or "none"
        present = checks.listed(names, 20, quoted=True)
        got = f"it matches {matching} of the columns {present}"
        rule = "must match one column per class, at least two"
        raise WrongValue(argument, rule, pattern, told=got)
    return classes


def most_probable(
    data: Mapping[str, ndarray], classes: Sequence[str]
) -> tuple[ndarray, ndarray, list[Note]]:
    """Return the most probable class of each row, its probability, and notes on both.

    Parameters
    ----------
    data : dict of (N,) ndarray
        Probabilities of each class, in the order of `classes`. Rows sum to 1, except for rounding
        to two digits.
    classes : list of str
        Names of the classes.

    Raises
    ------
    ValueError
        If a cell is not a probability, or a row does not sum to 1.

    Examples
    --------
    >>> table = {"a": np.array([.5, .1]), "b": np.array([.5, .9])}
    >>> best, probability, notes = most_probable(table, ["x", "y"])
    >>> best.tolist(), probability.tolist()
    (['x', 'y'], [0.5, 0.9])
    >>> print(notes[1])     # doctest: +NORMALIZE_WHITESPACE
    in 1 row, several classes have the highest probability. The prediction is the class whose column
    comes first
    """
    notes = []
    columns = []
    for name, cells in data.items():
        shares, percent_notes = numbers.to_shares(name, cells)
        notes += percent_notes
        columns.append(shares)
        for row in np.flatnonzero((shares < 0) | (shares > 1)):
            problem = f": {shares[row]:g} is not a probability from 0 to 1"
            raise RowError(f"column {name!r}, ", int(row), problem)
    table = np.column_stack(columns)
    total = table.sum(1)
    for row in np.flatnonzero(abs(total - 1) > ROUNDED * len(classes)):
        rule = f"the probabilities {checks.listed(data, quoted=True)} must sum to 1, but in "
        raise RowError(rule, int(row), f" they sum to {total[row]:.4g}")
    confidence = table.max(1)
    listed = f"{len(classes)} columns of probabilities: {checks.listed(data, FIRST, quoted=True)}"
    text = f"prediction and confidence come from the highest of {listed}"
    notes.append(Note("data", text))
    is_highest = table == confidence[:, None]
    tied = (is_highest.sum(1) > 1).sum()
    if tied:
        text = (
            f"in {checks.counted(tied, 'row')}, several classes have the highest probability. The "
            "prediction is the class whose column comes first"
        )
        notes.append(Note("data", text))
    return numbers.objects(classes)[table.argmax(1)], confidence, notes


def rival_file(rival: str | None, names: Sequence[str]) -> str:
    """Return the path of the file with a second model's predictions, "" if `rival` is a column."""
    if not rival:
        return ""
    file = os.path.expanduser(rival)
    is_column = spelled(rival, names) in names
    is_file = os.path.isfile(file)
    if is_column == is_file:
        listed = checks.listed(names, 20, quoted=True)
        rule = f"must be either a column or a file; columns: {listed}"
        raise WrongValue("rival", rule + checks.suggestion(rival, names), rival)
    return file if is_file else ""


def of_two_models(
    data: Mapping[str, ndarray], model: str, rival: str
) -> tuple[ndarray, ndarray, list[str]]:
    """Return the rows of the first and of the second of two models.

    The table has one row per item and model.

    Parameters
    ----------
    data : dict of (N,) ndarray
        Columns of the table.
    model : str
        Column of model names.
    rival : str
        The second of two models, or "first, second".

    Raises
    ------
    ValueError
        If `rival` does not determine two models.

    Examples
    --------
    >>> of_two_models({"model": np.array(["old", "new", "old"])}, "model", "new")
    (array([0, 2]), array([1]), ['old', 'new'])
    """
    texts = numbers.present(model, data[model])
    models = list(dict.fromkeys(texts))
    chosen = [rival]
    if rival not in models:
        chosen = list(map(str.strip, rival.split(",")))
    if len(chosen) == 1 and len(models) == 2:
        chosen = [name for name in models if name != rival] + chosen
    if len(chosen) != 2 or len({*chosen}.intersection(models)) != 2:
        there_are = checks.listed(models, quoted=True) + checks.suggestion(chosen[-1], models)
        rule = (
            f"must name one of the two models in column {model!r}, or two models with a comma "
            f"between (the second is compared with the first); models: {there_are}"
        )
        raise WrongValue("rival", rule, rival)
    column = np.array(texts)
    first, second = (np.flatnonzero(column == name) for name in chosen)
    return first, second, chosen


def read_rows(
    source: Any,
    columns: dict[str, str],
    further: Sequence[str],
    *,
    rival: str = "",
    file: str = "",
    model: str = "",
    of_class: Mapping[str, str],
    leave_out: str = "",
) -> Rows:
    """Return the named columns of a source with one row per item.

    Parameters
    ----------
    source : str, path or data frame
        As for `workbench.data.frames.read_columns`.
    columns : dict of str
        Names of columns by their roles, without columns that are made here.
    further : list of str
        Further columns.
    rival, file, model
        `rival` and `model` as in `workbench.read_scores`, and the file that `rival` names.
    of_class : dict of str
        Classes by the columns of their probabilities.
    leave_out : str
        As in `workbench.read_scores`.
    """
    names = [*columns.values(), *further, *of_class]
    if model:
        names.append(model)
    rows = Rows(columns, *frames.read_columns(source, names))
    if model or file:
        rows = _with_second_model(rows, model, rival, file, leave_out)
    if leave_out:
        rows = _without_gaps(rows, source, [*of_class])
    return _predicted(rows, of_class) if of_class else rows


def _with_second_model(
    rows: Rows,
    model: str,
    rival: str,
    file: str,
    leave_out: str,
) -> Rows:
    """Return rows with the predictions of a second model, from its own rows or its file."""
    columns = rows.columns
    data = rows.data
    notes = [*rows.notes]
    for role in ("id", "prediction"):
        if role not in columns:
            raise WrongValue(role, "must be named, so that the rows of two models can be matched")
    id = columns["id"]
    prediction = columns["prediction"]
    positions = rows.rows
    if model:
        positions, second_rows, (name, rival) = of_two_models(data, model, rival)
        second = {column: data[column][second_rows] for column in (id, prediction)}
        data = {column: cells[positions] for column, cells in data.items()}
        text = (
            f"the items are the rows of model {name!r}. Its predictions are compared with those "
            f"of {rival!r}; rows are matched by {id!r}"
        )
    else:
        rival = os.path.basename(file)
        second, file_notes = frames.read_columns(file, [id, prediction])
        notes += file_notes
        column = f"column {prediction!r} of {rival}; rows are matched by {id!r}"
        text = f"the second model's predictions come from {column}"
    notes.append(Note("data", text))
    by_id = _by_id(second[id], second[prediction], rival)
    texts = numbers.as_text(data[id])
    missing = [text for text in texts if text not in by_id]
    if missing and not leave_out:
        listed = checks.listed(missing, FIRST, quoted=True)
        items = f"{len(missing):,} of {len(texts):,} items"
        rule = f"must be 'missing', because {rival} has no row for {items}: {listed}"
        raise WrongValue("leave_out", rule)
    surplus = sorted(by_id.keys() - set(texts))
    if surplus:
        count = checks.counted(len(surplus), "row")
        listed = checks.listed(surplus, FIRST, quoted=True)
        notes.append(
            Note("data", f"{rival} has {count} whose identifier belongs to no item: {listed}")
        )
    name = f"predictions of {rival}"
    predicted = numbers.objects([by_id.get(text) for text in texts])
    columns = columns | {"rival": name}
    data = data | {name: predicted}
    return Rows(columns, data, tuple(notes), positions)


def _by_id(ids: ndarray, cells: ndarray, source: str) -> dict:
    texts = numbers.as_text(ids)
    repeat = numbers.first_repeat(texts)
    if repeat:
        raise ValueError(f"{source} has id {texts[repeat[0]]!r} twice. Keep one row for each item")
    return dict(zip(texts, cells, strict=True))


def has_gaps(rows: Rows) -> bool:
    """Return whether a score or a prediction is missing."""
    return bool(_gaps_of(rows, _needed(rows)).any())


def _needed(rows: Rows, of_class: Sequence[str] = ()) -> list[str]:
    """Return the columns without which a row cannot be used."""
    names = (rows.columns.get(role) for role in ("score", "prediction", "rival"))
    return [name for name in (*names, *of_class) if name in rows.data]


def _gaps_of(rows: Rows, names: Sequence[str]) -> ndarray:
    """Return a mask of the rows without a value in one of the columns."""
    classes = rows.columns.get("prediction"), rows.columns.get("rival")
    masks = [gaps(rows.data[name], name not in classes) for name in names]
    return np.any(masks, 0)


def _without_gaps(rows: Rows, source: Any, of_class: Sequence[str]) -> Rows:
    names = _needed(rows, of_class)
    gone = _gaps_of(rows, names)
    if not gone.any():
        return rows
    if gone.all():
        raise ValueError(f"every row lacks one of {checks.listed(names, quoted=True)}")
    positions = np.arange(gone.size) if rows.rows is None else rows.rows
    count = int(positions[-1]) + 1
    row_numbers = np.array(frames.row_numbers(source, count))[positions]
    complete = {name: cells[~gone] for name, cells in rows.data.items()}
    text = left_out(gone, row_numbers.tolist(), "score or prediction")
    return rows._replace(
        data=complete,
        rows=positions[~gone],
        left_out=text,
    )


def _predicted(rows: Rows, of_class: Mapping) -> Rows:
    """Return rows with the most probable class as prediction and its probability as score."""
    probabilities = {name: rows.data[name] for name in of_class}
    with in_rows(rows.rows):
        predicted, confidence, notes = most_probable(probabilities, [*of_class.values()])
    columns = rows.columns | {"score": CONFIDENCE, "prediction": PREDICTED}
    data = rows.data | {CONFIDENCE: confidence, PREDICTED: predicted}
    return rows._replace(
        columns=columns,
        data=data,
        notes=(*rows.notes, *notes),
    )


@contextmanager
def in_rows(rows: ndarray | None) -> Iterator[None]:
    """Name the rows of a source in errors about selected rows; None stands for all rows."""
    try:
        yield
    except RowError as error:
        if rows is None:
            raise
        parts = (part if isinstance(part, str) else rows[part] for part in error.parts)
        raise RowError(*parts) from None


def gaps(cells: ndarray, nan_texts: bool) -> ndarray:
    """Return a mask of the missing cells, (N,) bool.

    With `nan_texts`, texts such as "NaN" count as missing.

    Examples
    --------
    >>> gaps(np.array(["1", "", "NaN"], object), True).tolist()
    [False, True, True]
    """
    if cells.dtype.kind == "f":
        return np.isnan(cells)
    gone = numbers.GONE if nan_texts else {""}
    return np.array([text.lower() in gone for text in numbers.as_text(cells)])


def left_out(gone: ndarray, rows: Sequence[int], what: str) -> str:
    """Return how many rows are left out because they lack `what`, and the first of them.

    Examples
    --------
    >>> left_out(np.array([False, True, False]), [2, 3, 4], "score")
    '1 of 3 rows was left out because it has no score: row 3'
    """
    positions = np.flatnonzero(gone).tolist()
    listed = checks.listed([rows[k] for k in positions], FIRST)
    if len(positions) == 1:
        return f"1 of {gone.size:,} rows was left out because it has no {what}: row {listed}"
    many = f"{len(positions):,} of {gone.size:,} rows were left out"
    return f"{many} because they have no {what}: rows {listed}"
