"""Tables in the shapes that people have, as a row per item: a column per class, a row per model, two files, gaps."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from workbench import checks
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.results import Note

FIRST = 5  # rows or identifiers that a note names
ROUNDED = 0.005  # how far a probability may be from what it was before it was rounded
_PROBABILITY = re.compile(
    r"(?:p|prob|proba|probability|score|conf|confidence|softmax)[^a-z0-9]+", re.IGNORECASE
)
CONFIDENCE, PREDICTED = "highest probability", "class of the highest probability"


class Rows(NamedTuple):
    """Columns with a row per item: their names by role, their cells by name, and which rows of the source these are."""

    columns: dict[str, str]
    data: dict[str, np.ndarray]
    notes: tuple[Note, ...]
    rows: np.ndarray | None = None
    left_out: str = ""


def probability_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that by their names seem to be the probabilities of classes, such as p_cat and p_dog.

    Examples
    --------
    >>> probability_columns(["id", "p_cat", "p_dog", "prob"])
    ['p_cat', 'p_dog']
    """
    by_start: dict = {}
    for name in names:
        if found := _PROBABILITY.match(name):
            by_start.setdefault(found[0], []).append(name)
    alike: list = max(by_start.values(), key=len, default=[])
    return alike if len(alike) > 1 else []


def pattern_of(columns: Sequence[str]) -> str:
    """Return the pattern that means columns with one beginning, as `class_columns` takes it."""
    return os.path.commonprefix([_PROBABILITY.match(name)[0] for name in columns]) + "*"  # type: ignore[index]


def refuse_without_score(names: Sequence[str]) -> None:
    """Raise, as no column is called score; the message says what the columns seem to be."""
    alike = probability_columns(names)
    instead = (
        f"; if {checks.listed(alike, FIRST, quoted=True)} are probabilities of classes, say {{0}} "
        f"'{pattern_of(alike)}' instead"
        if alike
        else ""
    )
    raise checks.WrongValue(
        "score",
        "must name the column of the scores, as none is called 'score': there are "
        + checks.listed(names, 20, quoted=True)
        + instead,
        others=("probabilities",),
    )


def class_columns(names: Sequence[str], pattern: str) -> dict[str, str]:
    """Return the columns that a pattern such as "p_*" means, with their classes: what stands for the asterisk.

    Raises
    ------
    ValueError
        If the pattern has not one asterisk or means fewer than two columns.

    Examples
    --------
    >>> class_columns(["id", "p_cat", "p_dog"], "p_*")
    {'p_cat': 'cat', 'p_dog': 'dog'}
    """
    before, star, after = pattern.partition("*")
    if not star or "*" in after:
        raise checks.WrongValue(
            "probabilities",
            "must have one asterisk in the place of the class, such as 'p_*'",
            pattern,
        )
    found = {
        name: name[len(before) : len(name) - len(after)]
        for name in names
        if len(name) > len(before + after) and name.startswith(before) and name.endswith(after)
    }
    if len(found) < 2:
        has = f"of {checks.listed(names, 20, quoted=True)} it means {checks.listed(found, quoted=True) or 'none'}"
        raise checks.WrongValue(
            "probabilities", "must mean a column of each class, two or more", pattern, told=has
        )
    return found


def most_probable(
    data: Mapping[str, np.ndarray], classes: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, list[Note]]:
    """Return the likeliest class of every row, its probability, and what is to be said of both.

    Parameters
    ----------
    data : dict of (N,) ndarray
        Probabilities of each class, in the order of `classes`; rows sum to 1 but for their rounding to two digits.
    classes : list of str

    Raises
    ------
    ValueError
        For a cell that is no probability and a row that does not sum to 1.

    Examples
    --------
    >>> best, probability, notes = most_probable({"a": np.array([.5, .1]), "b": np.array([.5, .9])}, ["x", "y"])
    >>> best.tolist(), probability.tolist()
    (['x', 'y'], [0.5, 0.9])
    >>> print(notes[1])
    in 1 row two classes have the highest probability: the one whose column comes first is predicted
    """
    read = {name: numbers.to_shares(name, cells) for name, cells in data.items()}
    table = np.column_stack([shares for shares, _ in read.values()])
    for row, place in np.argwhere((table < 0) | (table > 1))[:1]:
        raise numbers.RowError(
            f"column {[*data][place]!r}, ",
            int(row),
            f": {table[row, place]:g} is not a probability from 0 to 1",
        )
    total = table.sum(1)
    for row in np.flatnonzero(abs(total - 1) > ROUNDED * len(classes))[:1]:
        raise numbers.RowError(
            f"the probabilities {checks.listed(data, quoted=True)} must sum to 1; in ",
            int(row),
            f" they sum to {total[row]:.4g}",
        )
    place, confidence = table.argmax(1), table.max(1)
    tied = int(((table == confidence[:, None]).sum(1) > 1).sum())
    notes = [
        *(note for _, more in read.values() for note in more),
        Note(
            "data",
            f"prediction and confidence are the highest of {len(classes)} columns of probabilities: "
            f"{checks.listed(data, FIRST, quoted=True)}",
        ),
    ]
    if tied:
        notes.append(
            Note(
                "data",
                f"in {checks.counted(tied, 'row')} two classes have the highest probability: the one "
                "whose column comes first is predicted",
            )
        )
    return numbers.objects([*classes])[place], confidence, notes


def rival_file(rival: str | None, names: Sequence[str]) -> str:
    """Return the path of the file that holds a second model's predictions, "" where `rival` is a column or nothing."""
    rival = rival or ""
    file = os.path.expanduser(rival)
    column, there = not rival or spelled(rival, names) in names, os.path.isfile(file)
    if column == there:
        there_is = (
            "there are both of that name"
            if column
            else f"there is neither, but {checks.listed(names, 20, quoted=True)}{checks.suggestion(rival, names)}"
        )
        raise checks.WrongValue("rival", f"must be a column or a file; {there_is}", rival)
    return "" if column else file


def of_two_models(
    data: Mapping[str, np.ndarray], model: str, named: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the rows of the first and of the second of two models in a table with a row per item and model.

    Parameters
    ----------
    data : dict of (N,) ndarray
    model : str
        Column that says whose row it is.
    named : str
        The second of two models, or "first, second".

    Raises
    ------
    ValueError
        Where it cannot be known which two are meant.

    Examples
    --------
    >>> of_two_models({"model": np.array(["old", "new", "old"])}, "model", "new")
    (array([0, 2]), array([1]), ['old', 'new'])
    """
    texts = numbers.present(model, data[model])
    there = [*dict.fromkeys(texts)]
    wanted = [named] if named in there else [part.strip() for part in named.split(",")]
    if len(wanted) == 1 and len(there) == 2:
        wanted = [name for name in there if name != named] + wanted
    unknown = next((name for name in wanted if name not in there), None)
    if unknown is not None or len(wanted) != 2 or wanted[0] == wanted[1]:
        raise checks.WrongValue(
            "rival",
            f"must be one of the two models of column {model!r}, or two of several with a "
            "comma between, the second to be compared with the first; there are "
            f"{checks.listed(there, quoted=True)}{checks.suggestion(unknown or '', there)}",
            named,
        )
    column = np.array(texts)
    first, second = (np.flatnonzero(column == name) for name in wanted)
    return first, second, wanted


def read_rows(
    source: Any,
    columns: dict[str, str],
    others: Sequence[str],
    *,
    rival: str = "",
    file: str = "",
    model: str = "",
    of_class: Mapping[str, str],
    leave_out: str = "",
) -> Rows:
    """Return the columns of a source that are named, a row per item.

    Parameters
    ----------
    source : str, path or data frame
    columns : dict of str
        Names of columns by their roles, without those that are made here.
    others : list of str
        Further columns.
    rival, file, model
        As `rival` and `model` of `workbench.read_scores`, and the file that `rival` names.
    of_class : dict of str
        Classes by the columns of their probabilities.
    leave_out : str
        As in `workbench.read_scores`.
    """
    data, notes = frames.read_columns(
        source, [*columns.values(), *others, *of_class, *filter(None, [model])]
    )
    found = Rows(columns, data, notes)
    for role in ("id", "prediction") if file or model else ():
        if role not in columns:
            raise checks.WrongValue(
                role,
                "must be named: by it the rows of two models are matched"
                if role == "id"
                else "must be named: its column holds both models' predictions",
            )
    if model:
        found = _first_of_two(found, model, rival, leave_out)
    elif file:
        found = _with_rival_of(found, file, leave_out)
    if leave_out:
        found = _without_gaps(found, source, [*of_class])
    return _predicted(found, of_class) if of_class else found


def _first_of_two(found: Rows, model: str, named: str, leave_out: str) -> Rows:
    first, second, (name, rival) = of_two_models(found.data, model, named)
    id, prediction = (found.data[found.columns[role]] for role in ("id", "prediction"))
    cells, notes = _matched(
        id[first], id[second], prediction[second], f"model {rival!r}", leave_out
    )
    data = {column: values[first] for column, values in found.data.items()}
    note = Note(
        "data",
        f"of each item one row is of model {name!r}, whose predictions are compared with those of "
        f"{rival!r}, matched by {found.columns['id']!r}",
    )
    return _with_rival(Rows(found.columns, data, (*found.notes, note, *notes), first), rival, cells)


def _with_rival_of(found: Rows, file: str, leave_out: str) -> Rows:
    id, prediction, told = found.columns["id"], found.columns["prediction"], os.path.basename(file)
    others, notes = frames.read_columns(file, [id, prediction])
    cells, more = _matched(found.data[id], others[id], others[prediction], told, leave_out)
    note = Note(
        "data",
        f"the second model's predictions are column {prediction!r} of {told}, matched by {id!r}",
    )
    return _with_rival(found._replace(notes=(*found.notes, *notes, note, *more)), told, cells)


def _with_rival(found: Rows, told: str, cells: np.ndarray) -> Rows:
    name = f"predictions of {told}"
    return found._replace(columns=found.columns | {"rival": name}, data=found.data | {name: cells})


def _matched(
    ids: np.ndarray, others: np.ndarray, cells: np.ndarray, told: str, leave_out: str
) -> tuple:
    """Return the cells of other rows in the order of `ids`, None where there is none, and a note on the rest."""
    texts, known = numbers.as_text(ids), numbers.as_text(others)
    place = {text: row for row, text in enumerate(known)}
    if len(place) < len(known):
        raise ValueError(
            f"{told} has id {Counter(known).most_common(1)[0][0]!r} twice: keep one row of each item"
        )
    lacking = [text for text in texts if text not in place]
    if lacking and not leave_out:
        bare = {text.lstrip("0"): text for text in place}
        zeros = next(
            (
                f"; is its {bare[text.lstrip('0')]!r} the {text!r} here, without its zeros? Save ids as text"
                for text in lacking
                if text.lstrip("0") in bare
            ),
            "",
        )
        raise checks.WrongValue(
            "leave_out",
            f"must be 'missing', as {told} has no row of {len(lacking):,} of "
            f"{len(texts):,} items: {checks.listed(lacking, FIRST, quoted=True)}{zeros}",
        )
    more = sorted({*known}.difference(texts))
    notes = (
        [
            Note(
                "data",
                f"{told} has {checks.counted(len(more), 'row')} of no item here: "
                f"{checks.listed(more, FIRST, quoted=True)}",
            )
        ]
        if more
        else []
    )
    return numbers.objects([cells[place[text]] if text in place else None for text in texts]), notes


def has_gaps(found: Rows) -> bool:
    """Return whether a score or a prediction is missing."""
    return bool(_gaps_of(found, _needed(found)).any())


def _needed(found: Rows, more: Sequence[str] = ()) -> list[str]:
    """Return the columns without which a row is of no use."""
    named = (found.columns.get(role) for role in ("score", "prediction", "rival"))
    return [name for name in (*named, *more) if name in found.data]


def _gaps_of(found: Rows, names: Sequence[str]) -> np.ndarray:
    score, known = found.columns.get("score"), found.columns.values()
    return np.any([gaps(found.data[name], name == score or name not in known) for name in names], 0)


def _without_gaps(found: Rows, source: Any, of_class: Sequence[str]) -> Rows:
    known = _needed(found, of_class)
    gone = _gaps_of(found, known)
    if not gone.any():
        return found
    if gone.all():
        raise ValueError(
            f"every row lacks a score or a prediction in {checks.listed(known, quoted=True)}"
        )
    rows = np.arange(gone.size) if found.rows is None else found.rows
    shown = frames.row_numbers(source, int(rows[-1]) + 1)
    return found._replace(
        data={name: cells[~gone] for name, cells in found.data.items()},
        rows=rows[~gone],
        left_out=left_out(gone, [shown[row] for row in rows], "score or prediction"),
    )


def _predicted(found: Rows, of_class: Mapping[str, str]) -> Rows:
    with in_rows(found.rows):
        predicted, confidence, notes = most_probable(
            {name: found.data[name] for name in of_class}, [*of_class.values()]
        )
    return found._replace(
        columns=found.columns | {"score": CONFIDENCE, "prediction": PREDICTED},
        data=found.data | {CONFIDENCE: confidence, PREDICTED: predicted},
        notes=(*found.notes, *notes),
    )


@contextmanager
def in_rows(rows: np.ndarray | None) -> Iterator[None]:
    """Name the rows of a source in what is refused of some of them; None for all."""
    try:
        yield
    except numbers.RowError as error:
        if rows is None:
            raise
        raise numbers.RowError(
            *(part if isinstance(part, str) else int(rows[part]) for part in error.parts)
        ) from None


def gaps(cells: np.ndarray, words: bool) -> np.ndarray:
    """Return which cells are missing, (N,) bool; with `words` also those that say so, such as "NaN".

    Examples
    --------
    >>> gaps(np.array(["1", "", "NaN"], object), True).tolist()
    [False, True, True]
    """
    if np.asarray(cells).dtype.kind == "f":
        return np.isnan(cells)
    texts = numbers.as_text(cells)
    return np.array([text.lower() in numbers.GONE if words else not text for text in texts])


def left_out(gone: np.ndarray, rows: Sequence[int], what: str) -> str:
    """Return how many rows are left out for what they lack, and which come first.

    Examples
    --------
    >>> left_out(np.array([False, True, False]), [2, 3, 4], "score")
    '1 of 3 rows is left out, which has no score: row 3'
    """
    many = int(gone.sum())
    which = checks.listed([rows[row] for row in np.flatnonzero(gone).tolist()], FIRST)
    return (
        f"{many:,} of {gone.size:,} rows "
        + ("is left out, which has" if many == 1 else "are left out, which have")
        + f" no {what}: row{'s' * (many > 1)} {which}"
    )
