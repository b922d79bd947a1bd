"""Columns of a table of losses that hold models, folds, repeats and sizes.

`fold_column` and `repeat_columns` use the names of columns. `refuse_doubtful` uses the numbers in
the other columns.
"""

import re
from collections.abc import Iterable

import numpy as np
from numpy import ndarray

from workbench.checks import WrongValue, listed
from workbench.cross_validation import long_form
from workbench.cross_validation.long_form import Arrays, Names
from workbench.data import decimals, numbers, roles, shapes
from workbench.data.columns import plain_name, spelled
from workbench.results import Note
from workbench.results.limits import warn_of_limit

_NUMBERED = r"(_?(id|ids|no|nr|num|number|idx|index))?"
_FOLD = re.compile(rf"(cv_?|k_?|outer_|test_)?folds?{_NUMBERED}")
_SPLIT = re.compile(
    r"(cv_?|outer_|random_|train_test_)?(splits?|resamples?|resampling|partitions?|holdouts?|"
    rf"shuffles?|boot|bootstraps?|subsamples?|monte_?carlo|mccv){_NUMBERED}"
)
_REPEAT = re.compile(
    r"(cv_?|random_?|rng_?|train(ing)?_?|model_?)?(seeds?|random_?state|reps?|repeats?|"
    r"repetitions?|replicates?|replications?|runs?|trials?|attempts?|iterations?|iters?|"
    rf"epochs?){_NUMBERED}"
)
_TRAIN = re.compile(r"n_?train(ing)?(_.*)?|train(ing)?_?(size|n|items|samples)")
_TEST = re.compile(r"n_?test(ing)?(_.*)?|test_?(size|n|items|samples)")
_SIZE = re.compile(
    r"n|n_?(items|samples|rows|obs|cases)|items|samples|(fold_?)?sizes?|support|counts?"
)
# columns that are often computed from those of the models
_COMPUTED = re.compile(r"diff(erence)?s?(_.*)?|.+_diff(erence)?|p_?(vals?|values?)")
_SUMMARY = re.compile(r"best(_.*)?|worst(_.*)?|max(imum)?|min(imum)?|mean|avg|average")
# scikit-learn's other columns, and columns of sizes, times and row numbers
_NEVER = re.compile(
    r"(std|rank|param|train)_.+|(best_)?params?|(.+_)?(time|times|duration|runtime|elapsed|"
    r"seconds|secs|memory)(_.+)?|n|n_.+|sizes?|counts?|index|rank|sd|std|se|stderr|"
    r"unnamed:?_?[0-9]*|level_0|"
)
_NUMBER = re.compile(r"[-+]?[\d., ]*\d[\d., ]*([eE][-+]?\d+)?\s*%?")
_INNER = re.compile("inner(_.*)?")
_BEST = re.compile("best(_.*)?")
_FLAG = re.compile(r"(is|has|was)_.+|(.+_)?flags?|hard|easy|difficulty")
_METRICS = {
    "acc",
    "accuracy",
    "auc",
    "auroc",
    "average_precision",
    "balanced_accuracy",
    "brier",
    "f1",
    "f1_macro",
    "kappa",
    "log_loss",
    "logloss",
    "mae",
    "mape",
    "mcc",
    "mse",
    "precision",
    "pr_auc",
    "r2",
    "recall",
    "rmse",
    "roc_auc",
    "sensitivity",
    "specificity",
}
# words in names of columns
_SCORE_WORDS = {
    *("acc", "accuracy", "auc", "auroc", "correct", "f1", "hit", "hits", "kappa"),
    *("mcc", "ok", "precision", "r2", "recall", "right", "score", "scores"),
}
_LOSS_WORDS = {
    *("brier", "deviance", "err", "error", "errors", "logloss", "loss", "losses", "mae"),
    *("mape", "mse", "msle", "nll", "perplexity", "rmse", "rmsle"),
}
_UNUSED = (
    roles.WEIGHT,
    roles.CLUSTER,
    roles.STRATUM,
    roles.MONTH,
)
MOST_FOLD_MEANS = 1000  # 100 repeats of 10 folds; longer files hold items
SCALE = 10.0  # means of models of one kind seldom differ by a larger factor


def _plain(name: str) -> str:
    return re.sub(r"[\s.\-]+", "_", plain_name(str(name)))


def _matches(name: str, *patterns: re.Pattern) -> bool:
    return any(pattern.fullmatch(_plain(name)) for pattern in patterns)


def fold_column(names: Names, fold: str) -> str:
    """Return the column of folds: the named one, or the only one with a typical name.

    Examples
    --------
    >>> fold_column(["Split", "old", "new"], "fold"), fold_column(["a", "b"], "fold")
    ('Split', 'fold')
    """
    column = spelled(fold, names)
    if fold != "fold" or column in names:
        return column
    for pattern in (_FOLD, _SPLIT, _REPEAT):
        columns = [name for name in names if _matches(name, pattern)]
        if len(columns) == 1:
            return columns[0]
        if columns:
            raise WrongValue(
                "fold",
                "must name the column of folds or splits, because several columns are possible: "
                f"{listed(columns, quoted=True)}",
            )
    return fold


def refuse_inner(argument: str, column: str) -> None:
    """Raise if a column has the name of the inner folds or scores of a nested cross-validation.

    Examples
    --------
    >>> refuse_inner("value", "outer_score")
    """
    if _matches(column, _INNER):
        raise WrongValue(
            argument,
            "must not be of the inner folds of a nested cross-validation. Their scores choose the "
            "settings, so they are optimistic. Use the outer scores, with one row per outer fold",
            column,
        )


def best_notes(value: str) -> list[Note]:
    """Return a note if the name of a column of scores says that each is the best of several.

    Examples
    --------
    >>> len(best_notes("best_score")), best_notes("score")
    (1, [])
    """
    if not _matches(value, _BEST):
        return []
    text = (
        f"column {value!r} seems to hold the best of several scores, which is optimistic. Compare "
        "scores of data that did not choose the settings, such as the outer folds"
    )
    return [Note("unreliable", text)]


def numbers_splits(name: str) -> bool:
    """Return whether a column name suggests numbers of splits or runs, not of folds.

    Examples
    --------
    >>> [numbers_splits(name) for name in ("split", "seed", "fold", "Falte")]
    [True, True, False, False]
    """
    return _matches(name, _SPLIT, _REPEAT)


def repeat_columns(names: Names) -> list[str]:
    """Return the columns with names that suggest repeats: seed, run, trial and so on.

    Examples
    --------
    >>> repeat_columns(["SEED", "fold", "tree", "Run ID"])
    ['SEED', 'Run ID']
    """
    return [name for name in names if _matches(name, _REPEAT)]


def size_columns(names: Names) -> dict[str, str]:
    """Return the columns of training and test sizes by "n_train" and "n_test".

    A column such as "n" has the role "n". It may hold sizes of test sets or something else.

    Examples
    --------
    >>> size_columns(["n_test", "tree", "Train size"])
    {'n_train': 'Train size', 'n_test': 'n_test'}
    """
    sized = {}
    for role, pattern in (("n_train", _TRAIN), ("n_test", _TEST), ("n", _SIZE)):
        columns = [name for name in names if _matches(name, pattern)]
        if len(columns) == 1:
            sized[role] = columns[0]
    return sized


def may_be_models(names: Names, used: Iterable[str]) -> list[str]:
    """Return the columns whose names do not show that they are something else.

    Examples
    --------
    >>> may_be_models(["fold", "old", "new", "fit_time", "n_test", "seed"], ["fold"])
    ['old', 'new']
    """
    taken = set(used)
    never = (
        _NEVER,
        _FOLD,
        _SPLIT,
        _REPEAT,
        _TRAIN,
        _TEST,
    )
    models = [name for name in names if name not in taken and not _matches(name, *never)]
    return [name for name in models if not _matches(name, _COMPUTED)] or models


def numeric(data: Arrays) -> list[str]:
    """Return the columns of numbers that are not weights, clusters, strata or periods.

    Examples
    --------
    >>> numeric({"tree": np.array([.1, .2]), "data": np.array(["iris", "wine"], object)})
    ['tree']
    """
    columns = [column for column in roles.columns_of(data) if column.seems in _UNUSED]
    unused = {column.name for column in columns if len(_plain(column.name)) > 1}
    return [name for name, cells in data.items() if name not in unused and _holds_numbers(cells)]


def _holds_numbers(cells: ndarray) -> bool:
    if cells.dtype.kind in "biuf":
        return True
    texts = numbers.as_text(cells[~shapes.gaps(cells, True)])
    return any(text.lower() in decimals.TRUTH or _NUMBER.fullmatch(text) for text in texts)


def are_fold_means(data: Arrays) -> bool:
    """Return whether all columns may be models, with one row per fold.

    Examples
    --------
    >>> are_fold_means({"old": np.array([.8, .7]), "new": np.array([.9, .85])})
    True
    """
    names = numeric(data)
    if len(names) < 2 or names != [*data] or names != may_be_models(names, ()):
        return False
    present = {name: cells[~shapes.gaps(cells, True)] for name, cells in data.items()}
    if len(data[names[0]]) > MOST_FOLD_MEANS:
        return False
    try:
        scores = {name: numbers.to_numbers(name, cells) for name, cells in present.items()}
        refuse_doubtful(scores)
        refuse_mixed(names)
    except ValueError:
        return False
    return all(np.mean(values % 1 != 0) > 0.5 for values in scores.values())


def refuse_long(texts: Arrays, labels: Arrays) -> None:
    """Raise if rows with the same labels are different models, so there is one row per model.

    Parameters
    ----------
    texts : dict of (n,) ndarray
        Columns of text without a role.
    labels : dict of (n,) ndarray
        Columns of folds, repeats and items. If there are none, rows are numbered, and a column of
        models leaves no other reading.

    Examples
    --------
    >>> texts = {"dataset": np.array(["iris", "wine"], object)}
    >>> refuse_long(texts, {"fold": np.array([1, 2])})
    """
    for column in roles.columns_of(texts):
        if column.seems != roles.MODEL:
            continue
        models = np.array(numbers.as_text(texts[column.name]))
        rows = [np.array(numbers.as_text(cells)) for cells in labels.values()]
        row = long_form.cells(rows or [np.zeros(models.size)])
        is_long = np.bincount(long_form.cells([row, models])).max() == 1 < np.bincount(row).max()
        if is_long or not rows:
            raise WrongValue(
                "model",
                f"must name the column of model names, which seems to be {column.name!r}",
            )


def kind_of(name: str) -> str:
    """Return "losses" or "scores" if the name of a column says what it holds, else "".

    Examples
    --------
    >>> [kind_of(name) for name in ("old_error", "Accuracy (new)", "neg_log_loss", "tree")]
    ['losses', 'scores', 'scores', '']
    """
    words = set(re.split(r"[\W_]+", name.casefold()))
    if words & _LOSS_WORDS:
        return "scores" if "neg" in words else "losses"
    return "scores" if words & _SCORE_WORDS else ""


def refuse_mixed(models: Names, are_scores: bool = False) -> list[Note]:
    """Raise if the name of one column says that it holds losses, and another that it holds scores.

    If the user said that all columns are scores, return a note instead.

    Examples
    --------
    >>> refuse_mixed(["old_error", "new_error"])
    []
    """
    first = {kind_of(name): name for name in reversed(models)}
    if "losses" in first and "scores" in first:
        loss, score = first["losses"], first["scores"]
        if are_scores:
            text = f"the name of column {loss!r} suggests losses, but it was read as scores"
            warn_of_limit(text)
            return [Note("unreliable", text)]
        raise WrongValue(
            "models",
            f"must be only losses or only scores, but {loss!r} seems to hold losses and {score!r} "
            "scores. Convert one (accuracy is 1 minus the error rate), or rename the columns",
        )
    return []


def refuse_doubtful(scores: Arrays) -> None:
    """Raise if columns do not seem to be scores of one kind; missing scores (NaN) are ignored.

    Examples
    --------
    >>> refuse_doubtful({"old": np.array([.8, .7]), "new": np.array([.9, .8])})
    """
    values = {}
    for name, column in scores.items():
        present = column[~np.isnan(column)]
        if present.size:
            values[name] = present
    if len(values) < 2:
        return
    is_fraction = {name: column % 1 != 0 for name, column in values.items()}
    fractions = [name for name, mask in is_fraction.items() if mask.mean() > 0.5]
    integers = [name for name, mask in is_fraction.items() if not mask.any()]
    # a model may be correct, or incorrect, on all items
    integers = [name for name in integers if {*values[name].tolist()} not in ({0}, {1})]
    flags = [name for name in values if _matches(name, _FLAG)]
    metrics = [name for name in values if _plain(name) in _METRICS]
    summaries = [name for name in values if _is_summary(name, scores)]
    size = {name: float(np.abs(column).mean()) for name, column in values.items()}
    small = min(size, key=size.__getitem__)
    large = max(size, key=size.__getitem__)
    if len(metrics) > 1:
        why = f"columns {listed(metrics, quoted=True)} have names of metrics, not of models"
    elif flags and len(flags) < len(values):
        why = f"column {flags[0]!r} has the name of a property of the rows, not of a model"
    elif summaries:
        why = f"column {summaries[0]!r} seems to be computed from the other columns"
    elif fractions and integers:
        only = "0 and 1" if np.isin(values[integers[0]], (0, 1)).all() else "whole numbers"
        columns = listed(fractions, 3, quoted=True)
        why = f"column {integers[0]!r} holds only {only} next to fractions in {columns}"
    elif size[large] > SCALE * size[small] > 0 and values[large].max() > 1:
        sizes = f"{size[large]:.3g} and {size[small]:.3g}"
        why = f"columns {large!r} and {small!r} differ too much in mean absolute value ({sizes})"
    else:
        return
    raise WrongValue("models", f"must list the columns of losses or scores, because {why}")


def _is_summary(name: str, scores: Arrays) -> bool:
    """Return whether a column such as "best" is the largest, smallest or mean of the others."""
    others = [column for other, column in scores.items() if other != name]
    if len(others) < 2 or not _matches(name, _SUMMARY):
        return False
    rows = np.stack(others)
    summaries = (rows.max(0), rows.min(0), rows.mean(0))
    return any(np.allclose(scores[name], summary, equal_nan=True) for summary in summaries)


def repeats_told(
    candidates: Arrays,
    label: Arrays,
    fold_name: str,
    one_cv: bool,
) -> tuple[str, list[Note]]:
    """Return the column that tells repeats apart ("" for none), and notes on all candidates.

    Parameters
    ----------
    candidates : dict of (n,) ndarray
        Columns with names that suggest repeats.
    label : dict of (n,) ndarray
        Labels of "fold" and, if they are known, of "item".
    fold_name : str
        Column of folds.
    one_cv : bool
        Whether folds with different labels are known to belong to one cross-validation.

    Examples
    --------
    >>> seed, fold = {"seed": np.array([42, 42, 1337, 1337])}, np.array([0, 1, 0, 1])
    >>> repeats_told(seed, {"fold": fold}, "fold", False)[0]
    'seed'
    >>> repeats_told(seed, {"fold": np.arange(4)}, "fold", True)[0]
    ''
    """
    fold = label["fold"]
    rows = label.get("item", label["fold"])
    told_by_rows = np.unique(rows).size == rows.size
    valid = [name for name, labels in candidates.items() if _tells(labels, fold, rows)]
    if valid and told_by_rows and "item" not in label:
        if not one_cv:
            count = np.unique(candidates[valid[0]]).size
            scheme = f"{count} repeats of {fold.size // count} folds"
            raise WrongValue(
                "repeat",
                f"must be given, because column {valid[0]!r} may number {scheme}, or be a setting "
                f"of one cross-validation of {fold.size} folds. Name the column as repeat, or use "
                "{0} 'folds' for one cross-validation",
                others=("splits",),
            )
        valid = []
    chosen = valid[0] if valid else ""
    if not all(long_form.same_partition(candidates[chosen], candidates[name]) for name in valid):
        raise WrongValue(
            "repeat",
            "must name the column of repeats, because several columns are possible: "
            f"{listed(valid, quoted=True)}",
        )
    if not valid and not told_by_rows:
        raise WrongValue(
            "repeat",
            "must name the column of repeats, because columns "
            f"{listed([fold_name, *candidates], quoted=True)} do not give every repeat the "
            "same folds once. Average results of several runs on the same folds, or drop a "
            "column",
        )
    notes = [
        Note("data", f"column {name!r} is neither a model nor a repeat, so it is not used")
        for name in candidates
        if name != chosen
    ]
    if chosen:
        count = np.unique(candidates[chosen]).size
        text = f"column {chosen!r} numbers the repeats: {count} repeats, each with its own folds"
        notes.insert(0, Note("data", text))
    return chosen, notes


def _tells(labels: ndarray, fold: ndarray, rows: ndarray) -> bool:
    """Return whether a column tells repeats apart.

    Each of its labels must come with the same number of folds, at least 2. Each label must come
    with each of the rows (items, or else folds) once.
    """
    distinct, code = np.unique(labels, return_inverse=True)
    first_rows = np.unique(long_form.cells([labels, fold]), return_index=True)[1]
    folds = np.bincount(code[first_rows])
    if distinct.size < 2 or folds[0] < 2 or np.ptp(folds):
        return False
    return np.bincount(long_form.cells([labels, rows])).max() == 1
