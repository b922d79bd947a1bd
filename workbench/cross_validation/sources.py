"""Where losses come from: arrays, files, and what scikit-learn returned; what is refused, and what is guessed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.cross_validation import long_form, scikit_learn
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.results import Note

LEAST_SIZE, MOST_SIZE = 1e-140, 1e140
FEW = 1000


def as_array(name: str, values: ArrayLike) -> np.ndarray:
    """Return an array, or say that it is a data frame or that its rows have several lengths.

    Examples
    --------
    >>> as_array("means", [[1, 2], [3]])
    Traceback (most recent call last):
    ValueError: means must be an array of numbers; its rows have different lengths
    """
    refuse_frame(name, values)
    checks.refuse_masked(name, values)
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array of numbers; its rows have different lengths") from None


def refuse_extreme(name: str, values: np.ndarray) -> None:
    """Raise where squares of the numbers would be infinite, or would all be zero though the numbers are not.

    Examples
    --------
    >>> refuse_extreme("losses", np.array([0, 1e-300, 1]))
    """
    most = max(values.max(), -values.min())
    if most and not LEAST_SIZE <= most <= MOST_SIZE:
        raise ValueError(f"{name} must have their largest size from {LEAST_SIZE:g} to {MOST_SIZE:g}, so that squares "
                         f"are numbers; got {most:g}: use another unit")


def is_frame(values: Any) -> bool:
    """Return whether values come in named columns."""
    return hasattr(values, "columns")


def refuse_frame(name: str, values: Any) -> None:
    """Raise where an array is wanted and a data frame is given."""
    if is_frame(values):
        raise TypeError(f"{name} must be an array; got a {type(values).__name__}: read it with CVLosses.read_csv, or, "
                        f"where every row is a fold and every column a model, with CVLosses.from_fold_means")


def columns_of_frame(frame: Any) -> dict[str, np.ndarray]:
    """Return the columns of a data frame of fold means as numbers, by name."""
    names = frames.column_names(frame)
    if not all(isinstance(name, str) for name in names):
        raise checks.WrongType("means", "must name its columns in text: give frame.rename(columns=str)")
    for name in [name for name in names if name in ("fold", "item", "repeat")][:1]:
        raise checks.WrongValue("means", f"must hold one column per model; column {name!r} is none: read the data "
                                "frame with CVLosses.read_csv")
    data, _ = frames.read_columns(frame, [*names])
    return {name: numbers.to_numbers(name, values) for name, values in data.items()}


def named_models(models: Any) -> list:
    """Return names from a sequence, or from one text with commas between them."""
    return [name.strip() for name in models.split(",") if name.strip()] if isinstance(models, str) else list(models)


def no_labels(labels: np.ndarray) -> np.ndarray:
    """Return where floats are not whole numbers, or so large that a float cannot tell them from the next ones."""
    if labels.dtype.kind != "f":
        return np.array([], int)
    return np.flatnonzero((labels != np.floor(labels)) | (np.abs(labels) >= checks.LARGEST))


def like_truth(truth: np.ndarray, prediction: np.ndarray, name: str) -> np.ndarray:
    """Return predictions of the shape and kind of the truth."""
    if prediction.shape != truth.shape:
        raise checks.WrongValue("models", f"must be tested on the same items; truth has shape {truth.shape}, model "
                                f"{name!r} {prediction.shape}")
    if (prediction.dtype.kind in "US") != (truth.dtype.kind in "US"):
        raise ValueError(f"truth and prediction must both be text or both numbers; truth "
                         f"{truth.flat[0].item()!r}, model {name!r} {prediction.flat[0].item()!r}")
    return prediction


def refuse_no_classes(truth: np.ndarray, predictions: dict[str, np.ndarray]) -> None:
    """Raise where a model predicts nothing that is a class: probabilities, or a regression."""
    for name, prediction in predictions.items():
        if not np.isin(prediction, truth).any():
            raise ValueError(f"model {name!r} predicts none of the classes of truth ({prediction.flat[0].item()!r} "
                             f"where truth is {truth.flat[0].item()!r}): for probabilities or a regression say "
                             f"loss='squared' or loss='absolute'")


def fold_of(splits: Any, n: int) -> Any:
    """Return the fold of each item from labels or from (train, test) pairs."""
    checks.refuse_masked("splits", splits, "item")
    if hasattr(splits, "get_n_splits"):
        raise checks.WrongType("splits", "must be labels of folds or pairs of index arrays; got "
                               f"{type(splits).__name__}: give list(splitter.split(X, y))")
    splits = list(splits)
    if not (splits and isinstance(splits[0], (tuple, list)) and len(splits[0]) == 2):
        return splits
    fold, times = np.zeros(n, int), np.zeros(n, int)
    for k, (_, test) in enumerate(splits):
        test = checks.plain_array(f"test set of fold {k}", test, "item") if len(test) else np.array([], int)
        for bad in ([test.dtype] if test.dtype.kind not in "iu" else test[(test < 0) | (test >= n)])[:1]:
            raise checks.WrongValue("splits", f"must hold item numbers 0 to {n - 1}; the test set of fold {k} has "
                                    f"{bad}")
        fold[test] = k
        times[test] += 1
    for item in np.flatnonzero(times != 1)[:1]:
        raise checks.WrongValue("splits", f"must test every item once; item {item} is in {times[item]} test sets")
    return fold


def scores_of(result: Any, metric: str, name: str) -> np.ndarray:
    """Return one score per fold of what `cross_validate` returned."""
    if not isinstance(result, dict):
        raise TypeError(f"model {name!r} must be a dict, as cross_validate returns it; got {type(result).__name__}: "
                        f"wrap scores in CVLosses.from_fold_means")
    known = [key[5:] for key in result if key.startswith("test_")]
    if not known:
        raise ValueError(f"model {name!r} must have test scores, as cross_validate returns them; it has "
                         f"{', '.join(map(repr, result))}")
    scores = as_array(f"scores of {name}", result["test_" + checks.choice("metric", metric, known)])
    if scores.dtype.kind not in "biuf" or scores.ndim != 1:
        raise checks.WrongValue("scores", f"must be one number per fold; model {name!r} has {scores.dtype} of shape "
                                f"{scores.shape}")
    scores = scores.astype(float)
    for fold in np.flatnonzero(~np.isfinite(scores))[:1]:
        raise checks.WrongValue("scores", f"must be finite; fold {fold} of model {name!r} is {scores[fold]}: the "
                                "fit failed, call cross_validate with error_score='raise'")
    return scores


def splits_of(result: dict) -> list:
    """Return (train, test) of each fold, train None where it is not known."""
    tests = [np.sort(test) for test in result["indices"]["test"]]
    return list(zip(result["indices"].get("train", [None] * len(tests)), tests, strict=True))


def unchecked_folds(names: tuple[str, ...], known: Sequence) -> tuple[Note, ...]:
    """Return a note where the folds of two models could not be compared; `known` have indices."""
    if len(names) == 1 or len(known) == 2:
        return ()
    only = f"only {known[0]} has indices: " if known else ""
    return (Note("assumption", f"{only}that both models had the same folds was not checked: call cross_validate with "
                 f"return_indices=True"),)


def refuse_other_folds(tests: Sequence[Sequence[np.ndarray]], names: tuple[str, ...]) -> None:
    """Raise where two models were not tested on the same folds."""
    for k, folds in enumerate(zip(*tests, strict=True)):
        if not all(np.array_equal(folds[0], other) for other in folds):
            raise checks.WrongValue("models", f"must be tested on the same folds; fold {k} of {names[0]} and of "
                                    f"{names[1]} hold different items: give both the same splits, as "
                                    "list(splitter.split(X, y))")


def refuse_other_training(splits: Sequence, name: str) -> None:
    """In K-fold cross-validation a model is trained on all items that it is not tested on."""
    if splits[0][0] is None:
        return
    tested = np.unique(np.concatenate([test for _, test in splits]))
    items = np.union1d(tested, splits[0][0]).size
    for k, (train, test) in enumerate(splits):
        if not len(train) + len(test) == np.union1d(train, test).size == items:
            raise checks.WrongValue("splits", "must be those of K folds, trained on all items that are not tested; "
                                    f"fold {k} of {name} trains on {len(train)} and tests {len(test)} of {items} "
                                    "items: the t-tests of folds do not hold for splits of time series; for random "
                                    "splits use nadeau_bengio_test")
    if tested.size < items:
        raise checks.WrongValue("splits", f"must test every item; {name} trains on item "
                                f"{np.setdiff1d(splits[0][0], tested)[0]}, which is in no test set: for random "
                                "splits use nadeau_bengio_test")


def sizes_and_repeats(tests: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return items per fold and the repeat each fold belongs to; a repeat ends when all items were tested."""
    size = np.array([test.size for test in tests])
    items = np.unique(np.concatenate(tests)).size
    repeat = (size.cumsum() - size) // items
    for r in range(repeat.max() + 1):
        tested = np.concatenate([test for test, of in zip(tests, repeat, strict=True) if of == r])
        if tested.size != items or np.unique(tested).size != items:
            raise ValueError("the test sets must hold every item once per repeat, as K-fold splitters make them; "
                             "for random splits use nadeau_bengio_test")
    return size, repeat


def refuse_shared(roles: dict[str, str], chosen: Sequence[str]) -> None:
    """Raise where a column has two roles."""
    used: dict = {}
    for role, name in (*roles.items(), *(("a model", name) for name in chosen)):
        if name in used:
            raise ValueError(f"column {name!r} cannot be both {used[name]} and {role}" if used[name] != role else
                             f"models must name each column once; {name!r} repeats")
        used[name] = role


def refuse_identifiers(columns: dict[str, np.ndarray]) -> None:
    """Distinct whole numbers in order or without a gap, or many of them, are a key that was not named, not a loss."""
    for name, values in columns.items():
        if values.size < 3 or np.any(values != np.floor(values)) or _repeats(values[:FEW]) or _repeats(values):
            continue
        if values.size >= 10 or np.all(np.diff(values) > 0) or np.ptp(values) == values.size - 1:
            otherwise = f", or say item={name!r}" if name.strip() else ""
            raise ValueError(f"column {name!r} holds a different whole number in every row, as identifiers do: list "
                             f"the columns of losses in models{otherwise}")


def _repeats(values: np.ndarray) -> bool:
    return np.unique(values).size < values.size


def refuse_mixed_up(label: dict[str, np.ndarray], roles: dict[str, str]) -> None:
    """Raise where labels are none, or items fewer than folds."""
    for role in ("fold", "repeat"):
        labels = label.get(role, np.array([]))
        for row in no_labels(labels)[:1]:
            raise numbers.RowError(f"column {roles[role]!r}, ", row, f": a {role} must be a whole number below "
                                   f"2**53 or text; got {labels[row]:g}: are the columns mixed up?")
    item, folds = label.get("item"), np.unique(label["fold"]).size
    if item is not None and np.unique(item[:2 * folds]).size < folds and (items := np.unique(item).size) < folds:
        raise ValueError(f"column {roles['fold']!r} has {checks.counted(folds, 'fold')} for the "
                         f"{checks.counted(items, 'item')} of column {roles['item']!r}: are the columns mixed up?")


def whole_sizes(size: str, column: np.ndarray) -> np.ndarray:
    """Return the sizes of folds, whole numbers of at least 1, or raise."""
    sizes = numbers.to_numbers(size, column, whole=True)
    for row in np.flatnonzero((sizes != np.floor(sizes)) | (sizes < 1) | (sizes >= checks.LARGEST))[:1]:
        raise numbers.RowError(f"column {size!r}, ", row, ": the size of a fold must be a whole number of at least 1; "
                               f"got {sizes[row]:g}")
    return sizes.astype(int)


def read_losses(source: Any, roles: dict[str, str], models: Any, size: str, model: str, value: str,
                folds: int) -> tuple:
    """Return losses by model, labels by role, sizes of rows or None, notes, and whether all columns are models."""
    names = frames.column_names(source)
    split = spelled(roles["fold"], names) not in names and \
        scikit_learn.split_scores(source, names, spelled(model, names), value, folds)
    if split:
        *found, notes, _ = read_losses(split[0], roles, models, size, "model", "", 0)
        return *found, (*notes, split[1]), False
    if folds:
        raise checks.WrongValue("folds", "is for files of scikit-learn without a column of folds", folds)
    roles = {role: spelled(name, names) for role, name in roles.items()
             if role == "fold" or name != role or spelled(name, names) in names}
    used = roles | ({"size": spelled(size, names)} if size else {})
    every = models is None or isinstance(models, str) and not models.strip()
    listed = [] if every else named_models(models)
    # a column "model" that `models` lists holds losses
    of_model = spelled(model, names)
    if model != "model" or of_model in names and not {model, of_model} & set(listed):
        return _read_long(source, names, roles, used, listed, of_model, spelled(value, names))
    chosen = [name for name in names if name not in used.values()] if every else \
        [spelled(name, names) for name in listed]
    refuse_shared(used, chosen)
    data, notes = frames.read_columns(source, [*used.values(), *chosen])
    if not chosen:
        raise ValueError("there must be a column of losses beside " + ", ".join(map(repr, used.values())))
    beside = {name: data[name] for name in chosen}
    scores = {name: numbers.to_numbers(name, cells, beside=beside) for name, cells in beside.items()}
    if every:
        refuse_identifiers(scores)
    return scores, _labels(data, roles), whole_sizes(used["size"], data[used["size"]]) if size else None, notes, every


def _read_long(source: dict | str, names: tuple, roles: dict, used: dict, listed: list, model: str,
               value: str) -> tuple:
    used = used | {"model": model}
    value = long_form.value_column(names, value, [*used.values()])
    refuse_shared(used | {"value": value}, [])
    data, notes = frames.read_columns(source, [*used.values(), value])
    columns = {"loss": numbers.to_numbers(value, data[value])}
    if "size" in used:
        columns["size"] = whole_sizes(used["size"], data[used["size"]])
    named, label = np.array(numbers.as_text(numbers.to_labels(model, data[model], "text"))), _labels(data, roles)
    for name in listed:
        checks.choice("models", name, np.unique(named).tolist())
    kept = np.isin(named, listed) if listed else np.ones(named.size, bool)
    found, label, columns = long_form.spread(named[kept], {role: values[kept] for role, values in label.items()},
                                             {name: values[kept] for name, values in columns.items()})
    order = [found.index(name) for name in listed] or range(len(found))
    sizes = long_form.same_for_all(used["size"], columns["size"], found) if "size" in used else None
    read_as = Note("data", f"one row per model: {checks.counted(len(found), 'model')} of column {model!r}, values "
                   f"in column {value!r}")
    return {found[k]: columns["loss"][:, k] for k in order}, label, sizes, (*notes, read_as), False


def _labels(data: dict, roles: dict) -> dict:
    label = {role: numbers.to_labels(name, data[name], "text") for role, name in roles.items()}
    if label["fold"].dtype.kind == "U":
        numbers.refuse_totals(roles["fold"], label["fold"].tolist())
    refuse_mixed_up(label, roles)
    return label


def sizes_of_rows(label: dict[str, np.ndarray], roles: dict[str, str], size: str | None,
                  sizes: np.ndarray | None) -> tuple[np.ndarray | None, tuple[Note, ...]]:
    """Return the items per row where rows are fold means, else None, and how the rows were read."""
    if not size:
        if "item" in label or not _rows_are_folds(label):
            return None, ()
        return np.ones(len(label["fold"]), int), (Note("data", "one row per fold: read as fold means of equal folds"),)
    if "item" in label:
        raise ValueError(f"column {size!r} cannot hold sizes of folds where column {roles['item']!r} names items: "
                         f"rows are means of folds or losses of items; drop one of the two")
    if not _rows_are_folds(label):
        raise ValueError(f"column {size!r} can hold sizes of folds only where there is one row per fold; column "
                         f"{roles['fold']!r} repeats a fold: is a repeat column missing?")
    return sizes, (Note("data", "one row per fold: read as fold means, weighted by their items"),)


def _rows_are_folds(label: dict) -> bool:
    cells = long_form.cells(label[role] for role in ("fold", "repeat") if role in label)
    return np.unique(cells).size == cells.size
