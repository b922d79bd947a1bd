"""What items that nobody labeled leave open: between all of them wrong and all of them right.

Whether an item is skipped belongs to the item, whatever the reason. So the labels with every skipped item wrong are a
sample of a population in which all that would be skipped is wrong; its lower limit is one for that population, whose
value is at most the true one. The same holds above. Nothing is assumed about who skips what. The default interval of an
accuracy or a difference is the hull of those of all labels that the skipped items may have, as it never falls where a
label rises.
"""

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.results import Interval, digits


def between(lowest: Interval, highest: Interval) -> Interval:
    """Return the interval from the lower limit of one to the upper limit of the other."""
    notes = dict.fromkeys((*lowest.notes, *highest.notes))
    return Interval(lowest.low, highest.high, lowest.level, lowest.method, notes=list(notes))


def checked(labeled: ArrayLike, skipped: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return labeled and skipped items per stratum."""
    labeled = checks.counts("labeled", labeled)
    return labeled, checks.counts("skipped", skipped, size=labeled.size)


def words(skipped: np.ndarray | None) -> str:
    """Return ' and 3 skipped', or nothing."""
    return "" if skipped is None else f" and {int(skipped.sum()):,} skipped"


def with_skipped(rows: list[dict], skipped: np.ndarray | None, *undecided: str) -> list[dict]:
    """Return rows per stratum with the skipped items, and without the values that these leave open."""
    if skipped is None:
        return rows
    return [
        row | ({name: float("nan") for name in undecided} if n else {}) | {"skipped": n}
        for row, n in zip(rows, skipped.tolist(), strict=True)
    ]


def estimate_cells(bounds: tuple[float, float], skipped: np.ndarray | None) -> dict:
    """Return the cells of a table that hold an estimate, or its range where items were skipped."""
    return (
        {"estimate": bounds[0]}
        if skipped is None
        else {"estimate_low": bounds[0], "estimate_high": bounds[1]}
    )


def said_percent(*bounds: float, error: float | None = None) -> str:
    """Return a share, or the range of one, in percent, with the decimals that `error` allows.

    Examples
    --------
    >>> said_percent(0.85, 0.85), said_percent(0.85, 0.9), said_percent(float("nan"), 1)
    ('85.0%', '85.0% to 90.0%', 'undefined to 100.0%')
    """
    return " to ".join(
        dict.fromkeys(
            "undefined" if np.isnan(end) else digits.percents(end, error=error)[0] for end in bounds
        )
    )


def said_points(*bounds: float, error: float, signed: bool = False) -> str:
    """Return a difference of shares, or the range of one, in points.

    Examples
    --------
    >>> said_points(0.012, 0.034, error=0.01, signed=True)
    '+1.2 to +3.4'
    """
    return " to ".join(dict.fromkeys(digits.points(*bounds, error=error, signed=signed)))
