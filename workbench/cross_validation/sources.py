"""Where losses come from: arrays, files, and what scikit-learn returned; what is refused, and what is guessed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.cross_validation import schemes
from workbench.data import frames, numbers
from workbench.results import Note

LEAST_SIZE, MOST_SIZE = 1e-140, 1e140


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
        raise ValueError(
            f"{name} must be an array of numbers; its rows have different lengths"
        ) from None


def refuse_extreme(name: str, values: np.ndarray) -> None:
    """Raise where squares of the numbers would be infinite, or would all be zero though the numbers are not.

    Examples
    --------
    >>> refuse_extreme("losses", np.array([0, 1e-300, 1]))
    """
    most = max(values.max(), -values.min())
    if most and not LEAST_SIZE <= most <= MOST_SIZE:
        raise ValueError(
            f"{name} must have their largest size from {LEAST_SIZE:g} to {MOST_SIZE:g}, so that squares "
            f"are numbers; got {most:g}: use another unit"
        )


def is_frame(values: Any) -> bool:
    """Return whether values come in named columns."""
    return hasattr(values, "columns")


def refuse_frame(name: str, values: Any) -> None:
    """Raise where an array is wanted and a data frame is given."""
    if is_frame(values):
        raise TypeError(
            f"{name} must be an array; got a {type(values).__name__}: read it with CVLosses.read_csv, or, "
            f"where every row is a fold and every column a model, with CVLosses.from_fold_means"
        )


def columns_of_frame(frame: Any) -> dict[str, np.ndarray]:
    """Return the columns of a data frame of fold means as numbers, by name."""
    names = frames.column_names(frame)
    if not all(isinstance(name, str) for name in names):
        raise checks.WrongType(
            "means", "must name its columns in text: give frame.rename(columns=str)"
        )
    for name in [name for name in names if name in ("fold", "item", "repeat")][:1]:
        raise checks.WrongValue(
            "means",
            f"must hold one column per model; column {name!r} is none: read the data "
            "frame with CVLosses.read_csv",
        )
    data, _ = frames.read_columns(frame, [*names])
    return {name: numbers.to_numbers(name, values) for name, values in data.items()}


def named_models(models: Any) -> list:
    """Return names from a sequence, or from one text with commas between them."""
    return (
        [name.strip() for name in models.split(",") if name.strip()]
        if isinstance(models, str)
        else list(models)
    )


def no_labels(labels: np.ndarray) -> np.ndarray:
    """Return where floats are not whole numbers, or so large that a float cannot tell them from the next ones."""
    if labels.dtype.kind != "f":
        return np.array([], int)
    return np.flatnonzero((labels != np.floor(labels)) | (np.abs(labels) >= checks.LARGEST))


def like_truth(truth: np.ndarray, prediction: np.ndarray, name: str) -> np.ndarray:
    """Return predictions of the shape and kind of the truth."""
    if prediction.shape != truth.shape:
        raise checks.WrongValue(
            "models",
            f"must be tested on the same items; truth has shape {truth.shape}, model "
            f"{name!r} {prediction.shape}",
        )
    if (prediction.dtype.kind in "US") != (truth.dtype.kind in "US"):
        raise ValueError(
            f"truth and prediction must both be text or both numbers; truth "
            f"{truth.flat[0].item()!r}, model {name!r} {prediction.flat[0].item()!r}"
        )
    return prediction


def refuse_no_classes(truth: np.ndarray, predictions: dict[str, np.ndarray]) -> None:
    """Raise where a model predicts nothing that is a class: probabilities, or a regression."""
    for name, prediction in predictions.items():
        if not np.isin(prediction, truth).any():
            raise ValueError(
                f"model {name!r} predicts none of the classes of truth ({prediction.flat[0].item()!r} "
                f"where truth is {truth.flat[0].item()!r}): for probabilities or a regression say "
                f"loss='squared' or loss='absolute'"
            )


def fold_of(splits: Any, n: int) -> Any:
    """Return the fold of each item from labels or from (train, test) pairs."""
    checks.refuse_masked("splits", splits, "item")
    if hasattr(splits, "get_n_splits"):
        raise checks.WrongType(
            "splits",
            "must be labels of folds or pairs of index arrays; got "
            f"{type(splits).__name__}: give list(splitter.split(X, y))",
        )
    splits = list(splits)
    if not (splits and isinstance(splits[0], (tuple, list)) and len(splits[0]) == 2):
        return splits
    fold, times = np.zeros(n, int), np.zeros(n, int)
    for k, (_, test) in enumerate(splits):
        test = (
            checks.plain_array(f"test set of fold {k}", test, "item")
            if len(test)
            else np.array([], int)
        )
        for bad in (
            [test.dtype] if test.dtype.kind not in "iu" else test[(test < 0) | (test >= n)]
        )[:1]:
            raise checks.WrongValue(
                "splits", f"must hold item numbers 0 to {n - 1}; the test set of fold {k} has {bad}"
            )
        fold[test] = k
        times[test] += 1
    for item in np.flatnonzero(times != 1)[:1]:
        raise checks.WrongValue(
            "splits", f"must test every item once; item {item} is in {times[item]} test sets"
        )
    return fold


def scores_of(result: Any, metric: str, name: str) -> np.ndarray:
    """Return one score per fold of what `cross_validate` returned."""
    if not isinstance(result, dict):
        raise TypeError(
            f"model {name!r} must be a dict, as cross_validate returns it; got {type(result).__name__}: "
            f"wrap scores in CVLosses.from_fold_means"
        )
    known = [key[5:] for key in result if key.startswith("test_")]
    if not known:
        raise ValueError(
            f"model {name!r} must have test scores, as cross_validate returns them; it has "
            f"{', '.join(map(repr, result))}"
        )
    scores = as_array(f"scores of {name}", result["test_" + checks.choice("metric", metric, known)])
    if scores.dtype.kind not in "biuf" or scores.ndim != 1:
        raise checks.WrongValue(
            "scores",
            f"must be one number per fold; model {name!r} has {scores.dtype} of shape "
            f"{scores.shape}",
        )
    scores = scores.astype(float)
    for fold in np.flatnonzero(np.isinf(scores))[:1]:
        raise checks.WrongValue(
            "scores", f"must be finite; fold {fold} of model {name!r} is {scores[fold]}"
        )
    if np.isnan(scores).all():
        raise checks.WrongValue(
            "scores",
            f"must not all be NaN; model {name!r} has none: the fits failed, call "
            "cross_validate with error_score='raise'",
        )
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
    return (
        Note(
            "assumption",
            f"{only}that both models had the same folds was not checked: call cross_validate with "
            f"return_indices=True",
        ),
    )


def refuse_other_folds(tests: Sequence[Sequence[np.ndarray]], names: tuple[str, ...]) -> None:
    """Raise where two models were not tested on the same folds."""
    for k, folds in enumerate(zip(*tests, strict=True)):
        if not all(np.array_equal(folds[0], other) for other in folds):
            raise checks.WrongValue(
                "models",
                f"must be tested on the same folds; fold {k} of {names[0]} and of "
                f"{names[1]} hold different items: give both the same splits, as "
                "list(splitter.split(X, y))",
            )


def refuse_other_training(splits: Sequence, name: str) -> None:
    """In K-fold cross-validation a model is trained on all items that it is not tested on."""
    if splits[0][0] is None:
        return
    tested = np.unique(np.concatenate([test for _, test in splits]))
    items = np.union1d(tested, splits[0][0]).size
    for k, (train, test) in enumerate(splits):
        if not len(train) + len(test) == np.union1d(train, test).size == items:
            raise checks.WrongValue(
                "splits",
                "must be those of K folds, trained on all items that are not tested; "
                f"fold {k} of {name} trains on {len(train)} and tests {len(test)} of {items} "
                "items: the t-tests of folds do not hold for splits of time series; for random "
                "splits say splits='random'",
            )
    if tested.size < items:
        raise checks.WrongValue(
            "splits",
            f"must test every item; {name} trains on item "
            f"{np.setdiff1d(splits[0][0], tested)[0]}, which is in no test set: for random "
            "splits say splits='random'",
        )


def share_of_splits(splits: Sequence, name: str) -> float:
    """Return the proportion of items in a test set of random splits, or raise where it cannot be told.

    Examples
    --------
    >>> share_of_splits([(np.arange(8), np.arange(8, 10)), (np.arange(2, 10), np.arange(2))], "A")
    0.2
    """
    if splits[0][0] is None:
        schemes.ask_share()
    if all(np.max(train) < np.min(test) for train, test in splits):
        raise checks.WrongValue(
            "splits",
            f"must not be those of a time series; {name} always trains on items before "
            "those that it tests: the tests do not hold for these",
        )
    return schemes.share_of_sizes(
        np.array([len(train) for train, _ in splits]), np.array([len(test) for _, test in splits])
    )


def sizes_and_repeats(tests: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return items per fold and the repeat each fold belongs to; a repeat ends when all items were tested."""
    size = np.array([test.size for test in tests])
    items = np.unique(np.concatenate(tests)).size
    repeat = (size.cumsum() - size) // items
    for r in range(repeat.max() + 1):
        tested = np.concatenate([test for test, of in zip(tests, repeat, strict=True) if of == r])
        if tested.size != items or np.unique(tested).size != items:
            raise ValueError(
                "the test sets must hold every item once per repeat, as K-fold splitters make them; "
                "for random splits say splits='random'"
            )
    return size, repeat


def without_gaps(
    means: np.ndarray, label: dict[str, np.ndarray], sizes: np.ndarray | None, models: Sequence[str]
) -> tuple:
    """Return means (J,) or (J, M), labels, sizes, the share of items in a test set, and notes, without gaps.

    Where a model has NaN, the fold is left out for all models. The others still test as many of the items as they did,
    which is no longer 1/K of them: the share says so, and is None where no fold is left out.

    Examples
    --------
    >>> means, label, _, share, notes = without_gaps(np.array([.2, np.nan, .3]), {"fold": np.arange(3)}, None, ["A"])
    >>> means.tolist(), label["fold"].tolist(), round(share, 3)
    ([0.2, 0.3], [0, 2], 0.333)
    >>> print(notes[0])
    fold 1: no score of A (missing, undefined, or a failed fit); left out for all models, 2 of 3 are left
    """
    if not means.size:
        return means, label, sizes, None, ()
    gone = (
        np.isnan(means.reshape(len(means), -1).astype(float))
        if means.dtype.kind in "biuf"
        else np.zeros((1, 1))
    )
    if not gone.any():
        return means, label, sizes, None, ()
    lacks = np.asarray(gone.any(0))
    kept = ~np.asarray(gone.any(1))
    repeat = label.get("repeat", np.zeros(kept.size, int))
    repeats = np.unique(repeat).size
    lacking = [
        name
        for name, missing in zip(models or default_names(gone.shape[1]), lacks, strict=True)
        if missing
    ]
    places = [
        f"{label['fold'][row]}" + (f" of repeat {repeat[row]}" if repeats > 1 else "")
        for row in np.flatnonzero(~kept)
    ]
    why = (
        f"fold{'s' if len(places) > 1 else ''} {checks.listed(places, 6)}: no score of "
        f"{checks.listed(lacking, 4)} (missing, undefined, or a failed fit)"
    )
    if kept.sum() < 2 or 2 * kept.sum() < kept.size:
        raise ValueError(
            f"{why}; {kept.sum()} of {kept.size} folds would be left, which is too few. Use a metric that "
            "is defined in every fold, or fewer and larger folds"
        )
    fold = np.arange(int(kept.sum())) if repeats > 1 else label["fold"][kept]
    note = Note("data", f"{why}; left out for all models, {kept.sum()} of {kept.size} are left")
    return (
        means[kept],
        {"fold": fold},
        None if sizes is None else sizes[kept],
        repeats / kept.size,
        (note,),
    )


def default_names(count: int) -> tuple[str, ...]:
    """Return "A", "B", ..., after 26 "model 27" and so on.

    Examples
    --------
    >>> default_names(2), default_names(27)[-1]
    (('A', 'B'), 'model 27')
    """
    return tuple(chr(ord("A") + i) if i < 26 else f"model {i + 1}" for i in range(count))
