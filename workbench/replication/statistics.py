"""Statistics of weighted items: ratios of two totals, and those that need every weight (AUC, quantiles).

References
----------
.. [1] Bamber, The area above the ordinal dominance graph and the area below the receiver operating characteristic
   graph, Journal of Mathematical Psychology 12, 1975: AUC as a probability, ties counted half.
.. [2] Hyndman & Fan, Sample quantiles in statistical packages, The American Statistician 50, 1996: type 1.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks

ARGUMENTS = {"proportion": ("y",), "mean": ("y",), "total": ("y",), "ratio": ("y", "x"),
             "accuracy": ("truth", "prediction"), "precision": ("truth", "prediction"),
             "recall": ("truth", "prediction"), "f1": ("truth", "prediction"), "auc": ("truth", "score"),
             "quantile": ("y", "q")}
PROPORTIONS = ("proportion", "accuracy", "precision", "recall")
SHARES = (*PROPORTIONS, "f1", "auc")
EMPTY = {"proportion": "no item is left", "mean": "no item is left", "ratio": "the total of x is 0",
         "accuracy": "no item is left", "precision": "no item was predicted positive",
         "recall": "no item is truly positive", "f1": "no item is positive, truly or predicted",
         "auc": "it takes both positive and negative items"}


class UndefinedError(ValueError):
    """A statistic that does not exist, 0/0."""


class UnstableError(ValueError):
    """A statistic that is 0/0 in too many replicates for a variance."""


@dataclass(frozen=True)
class Totals:
    """A statistic that is the total of `numerator`, (n,), over that of `denominator`, (n,) or None."""

    numerator: np.ndarray
    denominator: np.ndarray | None


def totals_of(statistic: str | Callable, columns: Sequence, size: int) -> Totals | None:
    """Return the two columns whose totals make a statistic, or None where it needs every weight.

    Parameters
    ----------
    statistic : str or callable
        One of `ARGUMENTS`; a callable gives None.
    columns : sequence
        Its arguments, (size,) each: numbers for y and x; any labels for an accuracy; 0 and 1, or booleans, for the
        truth and the prediction of precision, recall and F1.
    size : int
        Number of items.

    Returns
    -------
    Totals or None
    """
    if callable(statistic):
        return None
    checks.choice("statistic", statistic, tuple(ARGUMENTS))
    names = ARGUMENTS[statistic]
    if len(columns) != len(names):
        raise TypeError(f"{statistic} takes {checks.counted(len(names), 'column')}, {' and '.join(names)}; got "
                        f"{len(columns)}")
    build = _BUILDERS.get(statistic)
    return build(*columns, size) if build else None


def from_weights(statistic: Any, columns: Sequence, size: int) -> Callable:
    """Return the function that turns blocks of weights, (r, size), into the r values of a statistic.

    Values that are not defined, such as an AUC without positive items, are NaN.

    Parameters
    ----------
    statistic : {"auc", "quantile"} or callable
        A callable gets one row of weights and the columns, and returns a number.
    columns : sequence
        As in `totals_of`.
    size : int

    Returns
    -------
    callable
    """
    if statistic == "auc":
        return _auc(*columns, size)
    if statistic == "quantile":
        return _quantile(*columns, size)
    return lambda weight: np.array([_number(statistic(row, *columns)) for row in weight])


def parts_of(statistic: str | Callable, columns: Sequence, totals: Totals | None, rows: np.ndarray,
             weight: np.ndarray) -> list:
    """Return what a statistic within known bounds averages, a list of pairs of values (n,) and mask of items (n,).

    One pair for a mean, two for an AUC (positives, negatives: [1]_ is the mean of the shares of the other part that
    lie on the right side of an item). For F1 the truly positive among all that are positive, truly or predicted: it is
    2 J / (1 + J) of that share J.

    Parameters
    ----------
    statistic : str
        Any of `SHARES`, or "mean".
    columns : sequence
        As in `totals_of`.
    totals : Totals or None
    rows : (n,) array of bool
        The items that count.
    weight : (n,) array

    References
    ----------
    .. [1] Bamber, The area above the ordinal dominance graph and the area below the receiver operating characteristic
       graph, Journal of Mathematical Psychology 12, 1975: AUC as a probability, ties counted half.
    """
    if statistic == "auc":
        positive = binary("truth", columns[0], rows.size) == 1
        parts = positive & rows, ~positive & rows
        values = placements(parts, checks.vector("score", columns[1], size=rows.size), weight)
        return [(values, part) for part in parts]
    values = totals.numerator if statistic == "mean" else (totals.numerator > 0).astype(float)
    return [(values, rows & (totals.denominator != 0))]


def carrying(statistic: str | Callable, columns: Sequence, parts: Sequence, rows: np.ndarray) -> list[np.ndarray]:
    """Return masks (n,) of the items without which a statistic would tell nothing: of its parts, of F1 the members too.

    Where the members of a class lie in few clusters, F1 is known no better than recall, however many false alarms
    there are.
    """
    masks = [part for _, part in parts]
    return [*masks, rows & (binary("truth", columns[0], rows.size) == 1)] if statistic == "f1" else masks


def ends(estimate: float, bounds: tuple[float, float], part: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return masks (n,) of the items nearer to the lower and to the upper bound than to a mean, of a part's values."""
    values, rows = part
    low, high = ((estimate + bound) / 2 for bound in bounds)
    return rows & (values < low), rows & (values > high)


def placements(parts: Sequence[np.ndarray], score: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return for each positive the share of the negatives below it, for each negative that of the positives above it.

    Parameters
    ----------
    parts : (positive, negative), (n,) arrays of bool
    score, weight : (n,) array
        Equal scores count half; shares are of the weight.
    """
    found = np.zeros(score.size)
    for part, other, side in zip(parts, reversed(parts), (1, -1), strict=True):
        order = np.argsort(side * score[other], kind="stable")
        cumulated = np.concatenate([[0.0], np.cumsum(weight[other][order])])
        ends = [np.searchsorted(side * score[other][order], side * score[part], end) for end in ("left", "right")]
        found[part] = sum(cumulated[end] for end in ends) / (2 * cumulated[-1])
    return found


def ratio(numerator: float | np.ndarray, denominator: float | np.ndarray) -> np.ndarray:
    """Return numerator / denominator, NaN where the denominator is 0."""
    defined = np.asarray(denominator) != 0
    return np.where(defined, numerator / np.where(defined, denominator, 1), np.nan)


def _proportion(y, size):
    return Totals(binary("y", y, size), np.ones(size))


def _mean(y, size):
    return Totals(checks.vector("y", y, size=size), np.ones(size))


def _total(y, size):
    return Totals(checks.vector("y", y, size=size), None)


def _ratio_of(y, x, size):
    return Totals(checks.vector("y", y, size=size), checks.vector("x", x, size=size))


def _accuracy(truth, prediction, size):
    return Totals(_agree(truth, prediction, size).astype(float), np.ones(size))


def _precision(truth, prediction, size):
    truth, prediction = binary("truth", truth, size), binary("prediction", prediction, size)
    return Totals(truth * prediction, prediction)


def _recall(truth, prediction, size):
    truth, prediction = binary("truth", truth, size), binary("prediction", prediction, size)
    return Totals(truth * prediction, truth)


def _f1(truth, prediction, size):
    truth, prediction = binary("truth", truth, size), binary("prediction", prediction, size)
    return Totals(2 * truth * prediction, truth + prediction)


_BUILDERS: dict[str, Callable[..., Totals]] = {
    "proportion": _proportion, "mean": _mean, "total": _total, "ratio": _ratio_of, "accuracy": _accuracy,
    "precision": _precision, "recall": _recall, "f1": _f1}


def binary(name: str, values: ArrayLike, size: int) -> np.ndarray:
    """Return 0/1 labels or booleans as floats; the message shows what was seen instead."""
    array = checks.labels(name, values, size=size)
    if array.dtype.kind in "biuf" and np.isin(array, (0, 1)).all():
        return array.astype(float)
    seen = np.unique(array)
    shown = ", ".join(repr(value) for value in seen[:5].tolist()) + (", ..." if seen.size > 5 else "")
    raise ValueError(f"{name} must hold 0 and 1 (1 the positive class); got {checks.counted(seen.size, 'label')}: "
                     f"{shown}; compare with the positive class first")


def _agree(truth, prediction, size):
    truth, prediction = checks.labels("truth", truth, size=size), checks.labels("prediction", prediction, size=size)
    if (truth.dtype.kind in "US") != (prediction.dtype.kind in "US"):
        raise TypeError(f"truth and prediction must both be text or both numbers; got {truth[0]!r} and "
                        f"{prediction[0]!r}")
    return truth == prediction


def _auc(truth, score, size):
    """AUC with ties counted half [1]_: positives above each group of equal scores against the negatives below.

    References
    ----------
    .. [1] Bamber, The area above the ordinal dominance graph and the area below the receiver operating characteristic
       graph, Journal of Mathematical Psychology 12, 1975: AUC as a probability, ties counted half.
    """
    positive, score = binary("truth", truth, size), checks.vector("score", score, size=size)
    order = np.argsort(score, kind="stable")
    starts = np.flatnonzero(np.diff(score[order], prepend=np.nan) != 0)
    is_positive = positive[order]

    def values(weight):
        ordered = weight[:, order]
        up = np.add.reduceat(ordered * is_positive, starts, 1)
        down = np.add.reduceat(ordered * (1 - is_positive), starts, 1)
        above = (up * (np.cumsum(down, 1) - down / 2)).sum(1)
        return ratio(above, up.sum(1) * down.sum(1))
    return values


def _quantile(y, q, size):
    """Smallest y at or below which a share of at least q of the weight lies, type 1 of [1]_.

    References
    ----------
    .. [1] Hyndman & Fan, Sample quantiles in statistical packages, The American Statistician 50, 1996: type 1.
    """
    y, q = checks.vector("y", y, size=size), checks.number("q", q, 0, 1)
    order = np.argsort(y, kind="stable")

    def values(weight):
        below = np.cumsum(weight[:, order], 1)
        total = below[:, -1:]
        reached = below >= q * total * (1 - 1e-12)
        reached &= below > 0
        return np.where(total[:, 0] > 0, y[order][reached.argmax(1)], np.nan)
    return values


def _number(value):
    if np.ndim(value) != 0 or value is None:
        raise TypeError(f"statistic must return one number; got {value!r}")
    return float(value)
