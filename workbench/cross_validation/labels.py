"""Labels of folds and repeats: kept as codes, and refused where they are those of no cross-validation."""

import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.cross_validation import schemes, sources


def codes(name: str, labels: ArrayLike, size: int) -> tuple[tuple, np.ndarray]:
    """Return the distinct labels in their order, and the place of each label among them.

    Examples
    --------
    >>> codes("fold", ["fold 10", "fold 2", "fold 2"], 3)
    (('fold 2', 'fold 10'), array([1, 0, 0]))
    """
    labels = checks.labels(name, labels, size=size)
    for item in sources.no_labels(labels)[:1]:
        raise ValueError(
            f"{name} must hold whole numbers below 2**53 or text; item {item} is {labels[item]:g}"
        )
    distinct, code = np.unique(labels, return_inverse=True)
    if labels.dtype.kind not in "US":
        return tuple(map(int, distinct)), code
    order = sorted(range(distinct.size), key=lambda k: _natural(str(distinct[k])))
    return tuple(distinct[order].tolist()), np.argsort(order)[code]


def _natural(text: str) -> list:
    """Return a key that sorts "fold 2" before "fold 10"."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)]


def kept_labels(name: str, given: tuple, known: tuple) -> tuple:
    """Return the labels that are given, or those that are known.

    Examples
    --------
    >>> kept_labels("fold_labels", (), (1, 2)), kept_labels("fold_labels", ("a", "b"), (1, 2))
    ((1, 2), ('a', 'b'))
    """
    given = tuple(given)
    if given and len(given) != len(known):
        raise ValueError(
            f"{name} must have {checks.counted(len(known), 'entry', 'entries')}; got {len(given)}"
        )
    return given or known


def fold_codes(labels: tuple, fold: np.ndarray, repeat: np.ndarray, runs: tuple) -> tuple:
    """Return the labels of the K folds, where all repeats have the same, and folds as 0 to K - 1 in their repeat.

    Examples
    --------
    >>> fold_codes((1, 2, 3, 4), np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), (0, 1))
    ((0, 1), array([0, 1, 0, 1]))
    """
    cells, cell = np.unique(repeat * len(labels) + fold, return_inverse=True)
    folds = np.bincount(cells // len(labels))
    if folds[0] < 2:
        raise checks.WrongValue("fold", "must have at least 2 folds", folds[0])
    for other in np.flatnonzero(folds != folds[0])[:1]:
        raise ValueError(
            f"every repeat must have the same number of folds; repeat {runs[0]} has {folds[0]}, "
            f"repeat {runs[other]} has {folds[other]}"
        )
    return labels if len(labels) == folds[0] else tuple(range(folds[0])), cell - repeat * folds[0]


def checked_sizes(
    sizes: list | np.ndarray, fold: np.ndarray, repeat: np.ndarray, folds: tuple, runs: tuple
) -> np.ndarray:
    """Return the items per fold, given one row per fold, or raise.

    Examples
    --------
    >>> checked_sizes([30, 10], np.array([0, 1]), np.array([0, 0]), (0, 1), (0,)).tolist()
    [30, 10]
    """
    sizes = checks.counts("fold_size", sizes, size=fold.size, low=1, what="fold")
    rows = np.bincount(repeat * len(folds) + fold)
    if rows.max() > 1:
        r, k = divmod(int(rows.argmax()), len(folds))
        raise checks.WrongValue(
            "fold_size",
            "must be given only where every row is the mean of a whole fold; fold "
            f"{folds[k]} of repeat {runs[r]} has {rows.max()} rows: leave it out for losses of "
            "single items",
        )
    return sizes


def checked_scheme(
    splits: Any, test_share: Any, fold: np.ndarray, runs: tuple
) -> tuple[str, float | None]:
    """Return the scheme and the proportion of items in a test set, which needs one row per test set.

    Examples
    --------
    >>> checked_scheme("random", .2, np.array([0, 1]), (0,))
    ('random', 0.2)
    """
    splits = checks.choice("splits", splits, schemes.SPLITS[1:])
    if test_share is None:
        if splits == "random":
            schemes.ask_share()
        return splits, None
    share = checks.number("test_share", test_share, 0, 1, open_ends=True)
    if len(runs) > 1 or np.unique(fold).size < fold.size:
        raise checks.WrongValue(
            "test_share",
            "must be given only where each row is the mean of one test set, and without repeats",
        )
    return splits, share


def refuse_twice(item: np.ndarray | None, repeat: np.ndarray, runs: tuple) -> None:
    """Raise unless every repeat tests every item once.

    Examples
    --------
    >>> refuse_twice(np.array(["a", "b"]), np.array([0, 0]), (0,))
    """
    rows = np.bincount(repeat)
    if item is None:
        for other in np.flatnonzero(rows != rows[0])[:1]:
            raise ValueError(
                f"every repeat must test the same items; repeat {runs[0]} has "
                f"{checks.counted(rows[0], 'row')}, repeat {runs[other]} has {rows[other]:,}"
            )
        return
    names, code = np.unique(item, return_inverse=True)
    times = np.bincount(repeat * names.size + code, minlength=rows.size * names.size)
    for where in np.flatnonzero(times > 1)[:1]:
        raise ValueError(
            f"every item must be tested once per repeat; item {names[where % names.size]} is tested "
            f"{times[where]} times in repeat {runs[where // names.size]}: is a repeat column missing?"
        )
    for where in np.flatnonzero(times < 1)[:1]:
        raise ValueError(
            f"every repeat must test the same items; repeat {runs[where // names.size]} "
            f"lacks item {names[where % names.size]}"
        )


def refuse_many(folds: tuple) -> None:
    """Raise where so many folds may be those of several cross-validations.

    Examples
    --------
    >>> refuse_many(tuple(range(20)))
    """
    if len(folds) > schemes.MOST_FOLDS:
        raise checks.WrongValue(
            "repeat",
            f"must be given for {len(folds)} folds without item, which may be those of "
            "several cross-validations: the repeat of each row, all 0 for one cross-validation; "
            "for means of random splits give test_share and splits='random'",
        )
