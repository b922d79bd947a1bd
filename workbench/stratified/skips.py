"""Bounds for items that could not be labeled: from all of them incorrect to all of them correct.

Take it as a property of an item that it could not be labeled, whatever the reason. Count all such
items as incorrect. Then the labels are a sample from a population in which every item of this kind
is incorrect. The accuracy of that population is at most the true one, so the lower limit for it is
valid. The same argument holds for the upper limit. No assumption is needed about which items could
not be labeled.

The default limits of an accuracy or a difference never fall if a label changes from incorrect to
correct. So the interval covers the intervals of all labels that the unlabeled items may have.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.results import Interval, digits


class Bounded:
    """A result that becomes a range if some items could not be labeled."""

    skipped: ndarray | None

    def _completed(self, skipped: ndarray, correct: int) -> Any:
        """Return the result with the unlabeled items counted as incorrect (0) or correct (1)."""
        raise TypeError(f"{type(self).__name__} cannot be completed")

    def _ends(self) -> tuple:
        """Return the results at both ends of the range; both are `self` if all are labeled."""
        if self.skipped is None:
            return self, self
        return tuple(self._completed(self.skipped, correct) for correct in (0, 1))


def span(ends: Iterable[str]) -> str:
    """Return 'low to high', or a single text if both ends are equal."""
    return " to ".join(dict.fromkeys(ends))


def between(lowest: Interval, highest: Interval) -> Interval:
    """Return the interval from the lower limit of one to the upper limit of the other."""
    notes = dict.fromkeys((*lowest.notes, *highest.notes))
    return Interval(lowest.low, highest.high, lowest.level, lowest.method, notes=list(notes))


def check_sample(
    stratum_size: ArrayLike,
    labeled: ArrayLike,
    correct: ArrayLike,
    skipped: ArrayLike | None,
) -> tuple[ndarray, ndarray, ndarray, ndarray | None]:
    """Return the arguments as (H,) int arrays; `skipped` is None if all items are labeled."""
    if skipped is None or not checks.plain_array("skipped", skipped).any():
        return *intervals.check_sample(stratum_size, labeled, correct), None
    labeled = checks.counts("labeled", labeled)
    skipped = checks.counts("skipped", skipped, size=labeled.size)
    size, _, correct = intervals.check_sample(stratum_size, labeled + skipped, correct)
    checks.at_most("correct", correct, "labeled", labeled)
    return size, labeled, correct, skipped


def count_table(name: str, values: ArrayLike, shape: tuple[int, ...]) -> ndarray:
    """Return counts as an int array of a given shape, or raise an error."""
    table = checks.plain_array(name, values)
    if table.shape != shape:
        raise checks.WrongValue(name, f"must have shape {shape}; got {table.shape}")
    return checks.counts(name, table.ravel(), what="entry").reshape(shape)


def words(skipped: ndarray | None) -> str:
    """Return ' (3 more items could not be labeled)', or an empty text."""
    if skipped is None:
        return ""
    return f" ({checks.counted(skipped.sum(), 'more item')} could not be labeled)"


def with_skipped(rows: list[dict], skipped: ndarray | None, *undecided: str) -> list[dict]:
    """Return rows per stratum with their unlabeled items; values that these leave open are NaN."""
    if skipped is None:
        return rows
    for row, count in zip(rows, skipped.tolist(), strict=True):
        if count:
            row.update(dict.fromkeys(undecided, np.nan))
        row["skipped"] = count
    return rows


def estimate_cells(bounds: tuple[float, float], skipped: ndarray | None) -> dict:
    """Return the cells of a table for an estimate, or for its range if items are unlabeled."""
    if skipped is None:
        return {"estimate": bounds[0]}
    return {"estimate_low": bounds[0], "estimate_high": bounds[1]}


def said_percent(*bounds: float, error: float | None = None) -> str:
    """Return a proportion, or its range, in percent, with the decimals that `error` allows.

    Examples
    --------
    >>> said_percent(0.85, 0.85), said_percent(0.85, 0.9), said_percent(float("nan"), 1)
    ('85.0%', '85.0% to 90.0%', 'undefined to 100.0%')
    """
    return span(digits.percents(*bounds, error=error))


def said_points(*bounds: float, error: float, signed: bool = False) -> str:
    """Return a difference of proportions, or its range, in percentage points.

    Examples
    --------
    >>> said_points(0.012, 0.034, error=0.01, signed=True)
    '+1.2 to +3.4'
    """
    return span(digits.points(*bounds, error=error, signed=signed))
