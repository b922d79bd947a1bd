"""Results of scikit-learn's `cross_validate` and searches, as a table with one column per model.

Read `split_scores` first.
"""

import ast
import contextlib
import re
from typing import Any

import numpy as np

from workbench.checks import WrongValue, counted, listed
from workbench.cross_validation import schemes
from workbench.cross_validation.long_form import Arrays, Names
from workbench.data import frames, numbers
from workbench.results import Note

CERTAIN = 10  # more splits may belong to several repetitions
_OF_SEARCH = re.compile("split[0-9]+_test_(?P<metric>.+)")
_OF_MODEL = re.compile(r"(.+\.)?test_(?P<metric>.+)")


def split_scores(
    source: Any,
    names: Names,
    model: str,
    value: str,
    folds: int,
    splits: str = "auto",
) -> tuple[Arrays, Any]:
    """Return a table of scores with columns "fold" and "repeat", and a note on how it was read.

    The table is empty if the source holds no results of scikit-learn.

    Parameters
    ----------
    source : str, path or data frame
        `cv_results_` of a search, with one row per model, or the result of `cross_validate`, with
        one row per split. Results of several models have a column `model`, or are JSON such as
        {name: result}.
    names : sequence of str
        Names of the columns.
    model : str
        Column of model names.
    value : str
        Name of the metric, if there are several.
    folds : int
        Number of splits in one repetition; 0 if all splits belong to one.
    splits : {"auto", "folds", "random"}
        How the test sets were made.

    Examples
    --------
    >>> source = {"params": ["C=1", "C=9"], "split0_test_score": [.8, .7]}
    >>> source["split1_test_score"] = [.9, .6]
    >>> table, note = split_scores(source, [*source], "model", "", 0)
    >>> {name: cells.tolist() for name, cells in table.items()}
    {'fold': [0, 1], 'repeat': [0, 0], 'C=1': [0.8, 0.9], 'C=9': [0.7, 0.6]}
    """
    of_search = list(filter(None, map(_OF_SEARCH.fullmatch, names)))
    matches = of_search or list(filter(None, map(_OF_MODEL.fullmatch, names)))
    if not matches:
        return {}, None
    metrics = [*dict.fromkeys(match["metric"] for match in matches)]
    metric = re.sub("^(mean_)?test_", "", value) or metrics[0]
    if metric not in metrics or not value and len(metrics) > 1:
        rule = f"must name one of the metrics {listed(metrics, quoted=True)}"
        columns = [match[0] for match in matches]
        if not of_search and model not in names:
            rule += f". If these are models, list their columns in models: {listed(columns)}"
        raise WrongValue("value", rule, value)
    columns = [match[0] for match in matches if match["metric"] == metric]
    scores_of = _of_search if of_search else _of_models
    table = scores_of(source, names, columns, model)
    sizes = {cells.size for cells in table.values()}
    if len(table) < 2 or len(sizes) > 1:
        raise ValueError(
            f"there are {counted(len(table), 'model')} with {listed(sorted(sizes))} splits, but a "
            "comparison needs two models with the same number of splits. Give rows with a column "
            'of model names, or JSON such as {"tree": cross_validate(...), "svm": '
            "cross_validate(...)}"
        )
    count = sizes.pop()
    is_assumed = False
    if splits == "random":
        how = "random splits"
        table = {"fold": np.arange(count), **table}
    else:
        if count % (folds or count) or not folds and splits == "auto" and count > CERTAIN:
            raise WrongValue(
                "folds",
                f"must say how many of the {count} splits belong to one repetition, because tests "
                "differ if folds were made anew. For random splits (ShuffleSplit), give {0} "
                "instead",
                folds,
                others=("test_share",),
            )
        is_assumed = not folds and splits == "auto"
        folds = folds or count
        repeat, fold = np.divmod(np.arange(count), folds)
        table = {"fold": fold, "repeat": repeat, **table}
        times = "once" if count == folds else f"{count // folds} times"
        how = f"{counted(folds, 'fold')}, made {times}"
    text = f"{count} splits of scikit-learn, metric {metric!r}: read as {how}"
    if is_assumed:
        return table, Note("assumption", f"{text}. {schemes.IF_RANDOM}")
    return table, Note("data", text)


def _of_search(
    source: Any,
    names: Names,
    columns: Names,
    model: str,
) -> Arrays:
    """Return the scores of each model of a search, in the order of the splits.

    A model is named by its parameters. If they do not tell the rows apart, its name comes first.
    """
    columns = sorted(columns, key=lambda name: (len(name), name))
    settings = {"params", model}.intersection(names)
    data, _ = frames.read_columns(source, [*columns, *settings])
    scores = np.column_stack([numbers.to_numbers(name, data[name]) for name in columns])
    params = data.get("params", [None] * len(scores))
    labels = [_label(setting) for setting in params]
    if model in settings and len({*labels}) < len(labels):
        models = numbers.present(model, data[model])
        labels = [f"{name} {label}".strip() for name, label in zip(models, labels, strict=True)]
    labels = [label or f"model {row}" for row, label in enumerate(labels, 1)]
    repeated = numbers.first_repeat(labels)
    if repeated:
        raise ValueError(
            f"every row must be a different model, but {labels[repeated[0]]!r} is in two rows of "
            "scikit-learn's results. Delete one, or add a column of model names"
        )
    return dict(zip(labels, scores, strict=True))


def _label(params: Any) -> str:
    """Return the parameters of a model as text: {'C': 1} becomes C=1."""
    with contextlib.suppress(ValueError, SyntaxError):
        params = ast.literal_eval(params) if isinstance(params, str) else params
    if isinstance(params, dict):
        return ", ".join(f"{name}={value}" for name, value in params.items())
    return "" if params is None else str(params)


def _of_models(
    source: Any,
    names: Names,
    columns: Names,
    model: str,
) -> Arrays:
    """Return the scores of each model by its name."""
    of_model = {model}.intersection(names)
    data, _ = frames.read_columns(source, [*columns, *of_model])
    scores = {}
    for name in columns:
        label = name.rpartition(".")[0] or name
        scores[label] = numbers.to_numbers(name, data[name])
    if not of_model:
        return scores
    of_row = np.array(numbers.present(model, data[model]))
    values = next(iter(scores.values()))
    return {name: values[of_row == name] for name in dict.fromkeys(of_row.tolist())}
