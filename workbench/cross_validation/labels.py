"""Labels of folds and repeats: their codes, and errors for labels that fit no cross-validation."""

import re
from typing import Any

import numpy as np
import scipy.special
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue, listed
from workbench.cross_validation import schemes

# The values of a repeat, assigned to its folds at random, agree with those of another repeat with
# probability 1 / orders. In 390 simulated designs of 20 to 200 items, this limit refused at most
# 0.5% of the runs with different repeats; a limit of 16 refused up to 2.7%.
LEAST_ORDERS = 100


def codes(name: str, labels: ArrayLike, size: int) -> tuple:
    """Return the distinct labels in order, and the index of each label among them.

    Examples
    --------
    >>> codes("fold", ["fold 10", "fold 2", "fold 2"], 3)
    (('fold 2', 'fold 10'), array([1, 0, 0]))
    """
    labels = checks.labels(name, labels, size=size)
    rule = "must hold whole numbers below 2**53 or text"
    checks.refuse(name, labels, not_labels(labels), rule, "item")
    distinct, code = np.unique(labels, return_inverse=True)
    if labels.dtype.kind not in "US":
        return tuple(map(int, distinct)), code
    texts = distinct.astype(str).tolist()
    order = sorted(range(len(texts)), key=lambda k: _natural(texts[k]))
    return tuple(distinct[order].tolist()), np.argsort(order)[code]


def not_labels(values: ndarray) -> ndarray:
    """Return a mask of floats that are not whole, or too large to differ from their neighbors."""
    if values.dtype.kind != "f":
        return np.zeros(values.shape, bool)
    return (values != np.floor(values)) | (np.abs(values) >= checks.LARGEST)


def _natural(text: str) -> list:
    """Return a key that sorts "fold 2" before "fold 10"."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)]


def fold_codes(labels: tuple, fold: ndarray, repeat: ndarray) -> tuple:
    """Return the labels of the K folds of a repeat, and folds as 0 to K - 1 in their repeat.

    If repeats have different labels, the labels are 0 to K - 1.

    Examples
    --------
    >>> fold_codes((1, 2, 3, 4), np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))
    ((0, 1), array([0, 1, 0, 1]))
    """
    cells, cell = np.unique(repeat * len(labels) + fold, return_inverse=True)
    folds = np.bincount(cells // len(labels))
    first = folds[0]
    if first < 2:
        raise WrongValue("fold", "must have at least 2 folds", first)
    if np.ptp(folds):
        rule = "must have the same number of folds in every repeat"
        raise WrongValue("fold", rule, told=f"got {listed(folds)}")
    if len(labels) != first:
        labels = tuple(range(first))
    return labels, cell - repeat * first


def refuse_items(fold: ndarray, repeat: ndarray) -> None:
    """Raise if a fold has several rows, so that rows are not means of whole folds.

    Examples
    --------
    >>> refuse_items(np.array([0, 1]), np.array([0, 0]))
    """
    if np.bincount(repeat * (fold.max() + 1) + fold).max() > 1:
        raise WrongValue(
            "fold_size",
            "must be given only if every row is the mean of a whole fold. Leave it out for losses "
            "of single items",
        )


def refuse_copies(means: ndarray) -> None:
    """Raise if all repeats have the same losses in every fold, which is too seldom by chance.

    Parameters
    ----------
    means : (M, R, K) ndarray
        Mean losses by model, repeat and fold.

    Examples
    --------
    >>> refuse_copies(np.array([[[.1, .2, .3], [.3, .1, .2]]]))
    """
    first = means[:, 0]
    repeats, folds = means.shape[1:]
    if not np.isclose(means, means[:, :1], rtol=1e-12, atol=0).all():
        return
    alike = np.unique(first, axis=1, return_counts=True)[1]
    log_orders = scipy.special.gammaln(folds + 1) - scipy.special.gammaln(alike + 1).sum()
    if (repeats - 1) * log_orders > np.log(LEAST_ORDERS):
        raise ValueError(
            f"all {repeats} repeats have the same values in every fold, so they are copies of one "
            "cross-validation. The seed of the splits was probably the same. Keep one repeat, or "
            "split the data again with another seed for each repeat"
        )


def checked_scheme(splits: Any, test_share: Any, runs: tuple) -> tuple:
    """Return the scheme and the proportion of items in a test set.

    Examples
    --------
    >>> checked_scheme("random", .2, (0,))
    ('random', 0.2)
    """
    checks.choice("splits", splits, schemes.SPLITS[1:])
    if test_share is None:
        if splits == "random":
            schemes.ask_share()
        return splits, None
    share = checks.number("test_share", test_share, 0, 1, open_ends=True)
    if len(runs) > 1:
        raise WrongValue("test_share", "must not be given with repeats", share)
    return splits, share


def refuse_twice(item: ndarray | None, repeat: ndarray, runs: tuple) -> None:
    """Raise unless every repeat tests every item once.

    Examples
    --------
    >>> refuse_twice(np.array(["a", "b"]), np.array([0, 0]), (0,))
    """
    if item is None:
        rows = np.bincount(repeat)
        if np.ptp(rows):
            rule = "must have the same number of rows for every repeat"
            raise WrongValue("repeat", rule, told=f"got {listed(rows)}")
        return
    names, code = np.unique(item, return_inverse=True)
    cell = repeat * names.size + code
    times = np.bincount(cell, minlength=len(runs) * names.size)
    for k in np.flatnonzero(times != 1)[:1]:
        run, place = divmod(k, names.size)
        tested = f"repeat {runs[run]} tests item {names[place]} {times[k]} times"
        raise ValueError(
            f"every repeat must test every item once; {tested}. "
            "Is a repeat column missing, or are columns mixed up?"
        )


def refuse_many(folds: tuple) -> None:
    """Raise if there are so many folds that they may belong to several cross-validations.

    Examples
    --------
    >>> refuse_many(tuple(range(20)))
    """
    if len(folds) > schemes.MOST_FOLDS:
        raise WrongValue(
            "repeat",
            f"must be given for {len(folds)} folds without item, because they may belong to "
            "several cross-validations. Give the repeat of each row, all 0 for one "
            "cross-validation. For means of random splits, use test_share and splits='random'",
        )
