"""Bounds for skipped items: from all of them incorrect to all of them correct.

Whether an item is skipped belongs to the item, whatever the reason. So the labels with every
skipped item incorrect are a sample of a population in which every item that would be skipped is
incorrect. Its lower limit is a limit for that population, whose value is at most the true one. The
same holds above. Nothing is assumed about who skips which items. The default interval of an
accuracy or a difference is the hull of the intervals of all labels that the skipped items may have,
as it never falls where a label rises.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.results import Interval, digits


class Bounded:
    """A result that becomes a range where items were skipped."""

    skipped: ndarray | None

    def _completed(self, skipped: ndarray, correct: int) -> Any:
        """Return the result with the skipped items labeled incorrect (0) or correct (1)."""
        raise TypeError(f"{type(self).__name__} cannot be completed")

    def _ends(self) -> tuple:
        """Return the results at both ends of the range; without skipped items both are `self`."""
        if self.skipped is None:
            return self, self
        return tuple(self._completed(self.skipped, correct) for correct in (0, 1))


def span(ends: Iterable[str]) -> str:
    """Return 'low to high', or the text that both ends have in common."""
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
    """Return the arguments as (H,) int arrays; `skipped` is None where no item was skipped."""
    if skipped is None or not checks.plain_array("skipped", skipped).any():
        return *intervals.check_sample(stratum_size, labeled, correct), None
    labeled = checks.counts("labeled", labeled)
    skipped = checks.counts("skipped", skipped, size=labeled.size)
    size, _, correct = intervals.check_sample(stratum_size, labeled + skipped, correct)
    checks.at_most("correct", correct, "labeled", labeled)
    return size, labeled, correct, skipped


def count_table(name: str, values: ArrayLike, shape: tuple[int, ...]) -> ndarray:
    """Return counts as an int array of a given shape, or raise."""
    table = checks.plain_array(name, values)
    if table.shape != shape:
        raise checks.WrongValue(name, f"must have shape {shape}; got {table.shape}")
    return checks.counts(name, table.ravel(), what="entry").reshape(shape)


def words(skipped: ndarray | None) -> str:
    """Return ' and 3 skipped', or nothing."""
    return "" if skipped is None else f" and {skipped.sum():,} skipped"


def with_skipped(rows: list[dict], skipped: ndarray | None, *undecided: str) -> list[dict]:
    """Return rows per stratum with the skipped items, without the values that these leave open."""
    if skipped is None:
        return rows
    for row, count in zip(rows, skipped.tolist(), strict=True):
        if count:
            row.update(dict.fromkeys(undecided, np.nan))
        row["skipped"] = count
    return rows


def estimate_cells(bounds: tuple[float, float], skipped: ndarray | None) -> dict:
    """Return the cells of a table that hold an estimate, or its range where items were skipped."""
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
