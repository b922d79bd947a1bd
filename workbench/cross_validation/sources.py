"""Losses from other tools: arrays, data frames and results of scikit-learn."""

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongType, WrongValue, listed
from workbench.cross_validation import schemes
from workbench.cross_validation.long_form import Arrays, Names
from workbench.data import frames, numbers
from workbench.results import Note

LEAST_SIZE = 1e-140
MOST_SIZE = 1e140
RANDOM = "For random splits, use splits='random'"


def as_array(name: str, values: ArrayLike) -> ndarray:
    """Return an array, or raise if values are a data frame, masked, or of several lengths.

    Examples
    --------
    >>> as_array("means", [[1, 2], [3]])
    Traceback (most recent call last):
    workbench.checks.WrongType: means must be an array: entries of one kind, rows of one length
    """
    refuse_frame(name, values)
    return checks.plain_array(name, values)


def refuse_extreme(name: str, values: ndarray) -> None:
    """Raise if squares of the numbers would be infinite, or all 0 though the numbers are not.

    Examples
    --------
    >>> refuse_extreme("losses", np.array([0, 1e-300, 1]))
    """
    most = max(values.max(), -values.min())
    if most and not LEAST_SIZE <= most <= MOST_SIZE:
        raise ValueError(
            f"{name} must have a largest absolute value from {LEAST_SIZE:g} to {MOST_SIZE:g}, so "
            f"that squares are numbers; got {most:g}. Use another unit"
        )


def is_frame(values: Any) -> bool:
    """Return whether values come in named columns."""
    return hasattr(values, "columns")


def refuse_frame(name: str, values: Any) -> None:
    """Raise if a data frame is given instead of an array."""
    if is_frame(values):
        raise TypeError(
            f"{name} must be an array; got a {type(values).__name__}. Read it with "
            "CVLosses.read_csv. If every row is a fold and every column a model, use "
            "CVLosses.from_fold_means"
        )


def columns_of_frame(frame: Any) -> Arrays:
    """Return the columns of a data frame of fold means as numbers, by name."""
    names = frames.column_names(frame)
    if not all(isinstance(name, str) for name in names):
        raise WrongType(
            "means", "must have column names that are text: use frame.rename(columns=str)"
        )
    for role in {"fold", "item", "repeat"} & {*names}:
        raise WrongValue(
            "means",
            f"must have one column per model, but column {role!r} is not a model. Read the data "
            "frame with CVLosses.read_csv",
        )
    data, _ = frames.read_columns(frame, names)
    return {name: numbers.to_numbers(name, cells) for name, cells in data.items()}


def named_models(models: str | Sequence) -> tuple[str, ...]:
    """Return names from a sequence, or from one text with commas between them."""
    if isinstance(models, str):
        models = [name.strip() for name in models.split(",") if name.strip()]
    return tuple(map(str, models))


def refuse_no_classes(truth: ndarray, prediction: ndarray, name: str) -> None:
    """Raise if no prediction is a class, as for probabilities or a regression."""
    same_kind = (truth.dtype.kind in "US") == (prediction.dtype.kind in "US")
    if not same_kind or not np.isin(prediction, truth).any():
        first = f"{prediction[0].item()!r} where truth is {truth[0].item()!r}"
        raise ValueError(
            f"model {name!r} predicts none of the classes of truth ({first}). "
            "For probabilities or a regression, use loss='squared' or loss='absolute'"
        )


def fold_of(splits: Any, n: int) -> Any:
    """Return the fold of each item from labels or from (train, test) pairs."""
    checks.refuse_masked("splits", splits, "item")
    if hasattr(splits, "get_n_splits"):
        raise WrongType(
            "splits",
            f"must be labels of folds or pairs of index arrays; got {type(splits).__name__}. Use "
            "list(splitter.split(X, y))",
        )
    splits = list(splits)
    if not (splits and isinstance(splits[0], (tuple, list)) and len(splits[0]) == 2):
        return splits
    tests = []
    for k, (_, test) in enumerate(splits):
        tests.append(checks.plain_array(f"test set of fold {k}", test))
    items = np.concatenate(tests)
    if not np.array_equal(np.sort(items), np.arange(n)):
        raise WrongValue(
            "splits", f"must test each of the items 0 to {n - 1} once, in arrays of whole numbers"
        )
    fold = np.empty(n, int)
    sizes = [test.size for test in tests]
    fold_of_items = np.repeat(np.arange(len(tests)), sizes)
    fold[items.astype(int)] = fold_of_items
    return fold


def scores_of(result: Any, metric: str, name: str) -> ndarray:
    """Return one score per fold from a result of `cross_validate`."""
    keys = result if isinstance(result, dict) else ()
    metrics = [key[5:] for key in keys if key.startswith("test_")]
    if not metrics:
        raise ValueError(
            f"model {name!r} must be a dict with test scores, as cross_validate returns it. For "
            "other scores, use CVLosses.from_fold_means"
        )
    scores = result["test_" + checks.choice("metric", metric, metrics)]
    return checks.floats(f"scores of {name}", scores)


def unchecked_folds(names: Names, with_indices: Names) -> list[Note]:
    """Return a note if the folds of two models could not be compared without indices."""
    if len(names) == 1 or len(with_indices) == 2:
        return []
    only = f"only {with_indices[0]} has indices: " if with_indices else ""
    text = (
        f"{only}it was not checked that both models had the same folds. To check it, call "
        "cross_validate with return_indices=True"
    )
    return [Note("assumption", text)]


def same_test_sets(indices: dict) -> list[ndarray]:
    """Return the sorted test sets of the first model, or raise if another model has others."""
    test_sets = [list(map(np.sort, index["test"])) for index in indices.values()]
    first = test_sets[0]
    for other in test_sets[1:]:
        for k, (test, of_other) in enumerate(zip(first, other, strict=True)):
            if not np.array_equal(test, of_other):
                raise WrongValue(
                    "models",
                    f"must be tested on the same folds, but fold {k} of {' and of '.join(indices)} "
                    "contain different items. Use the same splits for both, such as "
                    "list(splitter.split(X, y))",
                )
    return first


def refuse_other_training(indices: dict, tests: Sequence[ndarray]) -> None:
    """Raise unless every model is trained on all items that it is not tested on."""
    items = np.unique(np.concatenate(tests)).size
    for name, index in indices.items():
        for k, (train, test) in enumerate(zip(index.get("train", ()), tests, strict=False)):
            if not len(train) + len(test) == np.union1d(train, test).size == items:
                sizes = f"trains on {len(train)} and tests {len(test)} of {items} items"
                raise WrongValue(
                    "splits",
                    "must be K folds with training on all items that are not tested, but "
                    f"fold {k} of {name} {sizes}. The t-tests of folds are not valid for splits of "
                    f"time series. {RANDOM}",
                )


def share_of_splits(index: dict, name: str) -> float:
    """Return the proportion of items in a test set of random splits, or raise if it is unknown.

    Examples
    --------
    >>> train = [np.arange(8), np.arange(2, 10)]
    >>> share_of_splits({"train": train, "test": [np.arange(8, 10), np.arange(2)]}, "A")
    0.2
    """
    if "train" not in index:
        schemes.ask_share()
    splits = list(zip(index["train"], index["test"], strict=True))
    if all(np.max(train) < np.min(test) for train, test in splits):
        raise WrongValue(
            "splits",
            f"must not be splits of a time series, but {name} always trains on items before the "
            "items that it tests. The tests are not valid for such splits",
        )
    n_test = sum(map(len, index["test"]))
    return n_test / (sum(map(len, index["train"])) + n_test)


def repeats_of(tests: Sequence[ndarray], sizes: ndarray) -> ndarray | None:
    """Return the repeat of each test set, or None if a repeat does not test every item once.

    A repeat ends when all items were tested.

    Examples
    --------
    >>> folds, splits = [np.array([0, 1]), np.array([2])], [np.array([0, 1]), np.array([1, 2])]
    >>> repeats_of(folds * 2, np.array([2, 1, 2, 1])), repeats_of(splits, np.array([2, 2]))
    (array([0, 0, 1, 1]), None)
    """
    tested = np.concatenate(tests)
    items = np.unique(tested)
    if tested.size % items.size:
        return None
    repeats = np.sort(tested.reshape(-1, items.size), axis=1)
    repeat = (sizes.cumsum() - sizes) // items.size
    last = (sizes.cumsum() - 1) // items.size
    if np.all(repeats == items) and np.all(repeat == last):
        return repeat
    return None


def without_gaps(
    losses: ndarray,
    label: Arrays,
    sizes: Any,
    models: Names,
) -> tuple:
    """Return losses (J,) or (J, M), labels, sizes, proportion of items in a test set, and notes.

    If a model has NaN in a fold, the fold is left out for all models. The remaining folds still
    test the same number of items, which is then not 1/K of all items. The proportion is None if no
    fold is left out.

    Examples
    --------
    >>> means, label = np.array([.2, np.nan, .3]), {"fold": np.arange(3)}
    >>> means, label, _, share, notes = without_gaps(means, label, np.ones(3), ["A"])
    >>> means.tolist(), label["fold"].tolist(), round(share, 3)
    ([0.2, 0.3], [0, 2], 0.333)
    >>> print(notes[0])     # doctest: +NORMALIZE_WHITESPACE
    fold 1 has no score of A (missing, undefined, or a failed fit). It was left out for all models,
    so 2 of 3 are left
    """
    missing = np.isnan(losses.reshape(len(losses), -1))
    if not missing.any():
        return losses, label, sizes, None, []
    complete = ~missing.any(1)
    count = complete.sum()
    total = complete.size
    repeat = label.get("repeat", np.zeros(total, int))
    repeats = np.unique(repeat).size
    incomplete = label["fold"][~complete].tolist()
    if repeats > 1:
        pairs = zip(incomplete, repeat[~complete].tolist(), strict=True)
        incomplete = [f"{fold} of repeat {run}" for fold, run in pairs]
    lacking = np.array(models)[missing.any(0)]
    noun = "fold" if len(incomplete) == 1 else "folds"
    reason = "(missing, undefined, or a failed fit)"
    verb = "has" if len(incomplete) == 1 else "have"
    why = f"{noun} {listed(incomplete, 6)} {verb} no score of {listed(lacking, 4)} {reason}"
    if count < max(2, total / 2):
        raise ValueError(
            f"{why}. Without them, {count} of {total} folds would be left, which is too few. Use a "
            "metric that is defined in every fold, or fewer and larger folds"
        )
    fold = label["fold"][complete] if repeats == 1 else np.arange(count)
    pronoun = "It was" if len(incomplete) == 1 else "They were"
    text = f"{why}. {pronoun} left out for all models, so {count} of {total} are left"
    note = Note("data", text)
    return losses[complete], {"fold": fold}, sizes[complete], repeats / total, [note]


def default_names(count: int) -> tuple[str, ...]:
    """Return "A", "B" and so on; the names after 26 are "model 27" and so on.

    Examples
    --------
    >>> default_names(2), default_names(27)[-1]
    (('A', 'B'), 'model 27')
    """
    numbered = [f"model {k}" for k in range(27, count + 1)]
    return (*string.ascii_uppercase[:count], *numbered)
