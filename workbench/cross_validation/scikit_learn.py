"""What scikit-learn's `cross_validate` and searches write, as a table with a row per split and a column per model."""

import ast
import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import frames, numbers
from workbench.results import Note

CERTAIN = 10  # more splits than these may well be those of several repetitions
_OF_SEARCH = re.compile(r"split([0-9]+)_test_(.+)")
_OF_MODEL = re.compile(r"(?:(.+)\.)?test_(.+)")


def split_scores(
    source: Any, names: Sequence[str], model: str, value: str, folds: int, splits: str = "auto"
) -> tuple[dict[str, np.ndarray], Note] | None:
    """Return a table of scores with columns "fold" and "repeat", and how it was read; None of what is none of them.

    Parameters
    ----------
    source : str, path or data frame
        `cv_results_` of a search, a row per model; or what `cross_validate` returns, a row per split: of several models
        with a column `model`, or in JSON as {name: result}.
    names : sequence of str
        The columns.
    model : str
        Column of the models' names.
    value : str
        The metric, where there are several.
    folds : int
        Splits of one repetition; 0 where all are.
    splits : {"auto", "folds", "random"}

    Examples
    --------
    >>> source = {"params": ["C=1", "C=9"], "split0_test_score": [.8, .7], "split1_test_score": [.9, .6]}
    >>> table, note = split_scores(source, [*source], "model", "", 0)
    >>> {name: cells.tolist() for name, cells in table.items()}
    {'fold': [0, 1], 'repeat': [0, 0], 'C=1': [0.8, 0.9], 'C=9': [0.7, 0.6]}
    """
    of_search = [found for found in map(_OF_SEARCH.fullmatch, names) if found]
    of_model = [found for found in map(_OF_MODEL.fullmatch, names) if found]
    if not of_search and not of_model:
        return None
    metric = _metric(dict.fromkeys(found[2] for found in of_search or of_model), value)
    table = dict(
        _of_search(source, names, metric, of_search)
        if of_search
        else _of_models(
            source, names, model, [found[0] for found in of_model if found[2] == metric]
        )
    )
    sizes = {cells.size for cells in table.values()}
    if len(table) < 2 or len(sizes) > 1:
        raise ValueError(
            f"there are {checks.counted(len(table), 'model')} with {checks.listed(sorted(sizes))} splits; "
            "a comparison needs two with the same: rows with a column of their names, or JSON such as "
            '{"tree": cross_validate(...), "svm": cross_validate(...)}'
        )
    count = sizes.pop()
    known = f"{count} splits of scikit-learn, metric {metric!r}"
    if splits == "random":
        return {"fold": np.arange(count), **table}, Note("data", f"{known}: read as random splits")
    if count % (folds or count) or not folds and splits == "auto" and count > CERTAIN:
        raise checks.WrongValue(
            "folds",
            f"must say how many of the {count} splits are one repetition: tests differ "
            "where folds are drawn anew. For random splits (ShuffleSplit) give {0} instead",
            folds,
            others=("test_share",),
        )
    place, of = np.arange(count), folds or count
    drawn = "once" if count == of else f"{count // of} times"
    note = Note("data", f"{known}: read as {checks.counted(of, 'fold')}, drawn {drawn}")
    return {"fold": place % of, "repeat": place // of, **table}, note


def _metric(known: dict[str, None], value: str) -> str:
    metric = re.sub("^(mean_)?test_", "", value) or next(iter(known))
    if metric not in known or not value and len(known) > 1:
        raise checks.WrongValue(
            "value", f"must name one of the metrics {checks.listed(known, quoted=True)}", value
        )
    return metric


def _of_search(
    source: Any, names: Sequence[str], metric: str, found: Sequence
) -> Iterator[tuple[str, np.ndarray]]:
    splits = [each[0] for each in sorted(found, key=lambda each: int(each[1])) if each[2] == metric]
    data, _ = frames.read_columns(source, [*splits, *(["params"] if "params" in names else [])])
    scores = np.column_stack([numbers.to_numbers(name, data[name]) for name in splits])
    params = data.get("params", [None] * len(scores))
    for row, (found, of_model) in enumerate(zip(params, scores, strict=True), 1):
        yield _named(found) or f"model {row}", of_model


def _named(params: Any) -> str:
    """Return the parameters of a model as people write them: {'C': 1} is C=1."""
    with contextlib.suppress(ValueError, SyntaxError):
        params = ast.literal_eval(params) if isinstance(params, str) else params
    if isinstance(params, dict):
        return ", ".join(f"{name}={value}" for name, value in params.items())
    return "" if params is None else str(params)


def _of_models(
    source: Any, names: Sequence[str], model: str, columns: Sequence[str]
) -> Iterator[tuple[str, np.ndarray]]:
    data, _ = frames.read_columns(source, [*columns, *([model] if model in names else [])])
    scores = {name: numbers.to_numbers(name, data[name]) for name in columns}
    if model not in names:
        yield from ((name.rpartition(".")[0] or name, each) for name, each in scores.items())
        return
    named = np.array(numbers.present(model, data[model]))
    for name in dict.fromkeys(named.tolist()):
        yield name, scores[columns[0]][named == name]
