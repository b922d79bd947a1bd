"""Adjustment for several comparisons: p-values, and intervals that show the same pairs."""

import numpy as np
from numpy import ndarray

from workbench.intervals.shares import holm

ADJUSTMENTS = ("holm", "none")


def adjustment(pvalue: ndarray, level: float, adjust: str) -> tuple[ndarray, ndarray]:
    """Return adjusted p-values and the level of each pair's interval, (P,) each.

    Parameters
    ----------
    pvalue : (P,) array
    level : float
    adjust : {"holm", "none"}

    Examples
    --------
    >>> adjusted, level = adjustment(np.array([0.01, 0.2]), 0.95, "holm")
    >>> adjusted.tolist(), level.tolist()
    ([0.02, 0.2], [0.975, 0.95])
    """
    if adjust == "none":
        return pvalue, np.full(pvalue.size, level)
    adjusted = holm(pvalue)
    steps = np.empty(pvalue.size)
    steps[np.argsort(pvalue)] = np.arange(pvalue.size, 0, -1)
    undecided = (adjusted >= 1 - level).sum()
    return adjusted, 1 - (1 - level) / np.maximum(steps, undecided)


def consistent(adjusted: ndarray, limits: ndarray, level: float) -> tuple[ndarray, ndarray]:
    """Return p-values (P,) and limits (P, 2) that show the same pairs.

    If rounding decides a tie, no difference is shown.

    Parameters
    ----------
    adjusted : (P,) array
    limits : (P, 2) array
        Limits of each pair at its own level.
    level : float
    """
    excludes_zero = (limits[:, 0] > 0) | (limits[:, 1] < 0)
    is_shown = (adjusted < 1 - level) & excludes_zero
    low = np.minimum(limits[:, 0], 0)
    high = np.maximum(limits[:, 1], 0)
    with_zero = np.stack([low, high], 1)
    adjusted = np.where(is_shown, adjusted, np.maximum(adjusted, 1 - level))
    return adjusted, np.where(is_shown[:, None], limits, with_zero)
