"""Predictions of single items, counted per period by the engine that reads the file."""
from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import frames, numbers
from workbench.data.engine import quoted


def count_items(source: Any, period: str, predicted: str, classes: Sequence[str]) -> dict[str, tuple]:
    """Return the items of each period by predicted class, periods in the order of their first item.

    Parameters
    ----------
    source : str, path or data frame
        One row per item.
    period, predicted : str
        Columns without missing cells.
    classes : sequence of str
        Names of all K classes.

    Returns
    -------
    dict of str to (K,) tuple of int

    Raises
    ------
    ValueError
        For a missing cell, and for a predicted class that is not among `classes`: its items would be left out.

    Examples
    --------
    >>> count_items({"month": ["b", "a", "b"], "read": [1, 0, 1]}, "month", "read", ["0", "1"])
    {'b': (0, 2), 'a': (1, 0)}
    """
    rows = _tallied_file(source, period, predicted) if isinstance(source, (str, os.PathLike)) else \
        _tallied(source, period, predicted)
    for place, name in enumerate((period, predicted)):
        empty = [row for *cells, _, row in rows if not cells[place]]
        if empty:
            raise numbers.RowError(f"column {name!r}, ", min(empty), " is missing")
    texts = list(dict.fromkeys(read for _, read, _, _ in rows))
    read_as = dict(zip(texts, map(str, numbers.to_labels(predicted, np.array(texts, object)).tolist()), strict=True))
    found: dict[str, Counter] = {}
    for name, read, count, row in sorted(rows, key=lambda cells: cells[3]):
        if read_as[read] not in classes:
            raise numbers.RowError(f"column {predicted!r}, ", row, f": {read!r} is no class of the audit, "
                                   f"{checks.listed(classes, quoted=True)}{checks.suggestion(read, classes)}")
        found.setdefault(name, Counter())[read_as[read]] += count
    return {name: tuple(count[label] for label in classes) for name, count in found.items()}


def _tallied(source, period, predicted):
    """Return (period, class, items, first row) of every pair in a frame."""
    data, _ = frames.read_columns(source, [period, predicted])
    pairs = list(zip(*(numbers.as_text(data[name]) for name in (period, predicted)), strict=True))
    first = {pair: row for row, pair in reversed([*enumerate(pairs)])}
    return [(*pair, count, first[pair]) for pair, count in Counter(pairs).items()]


def _tallied_file(source, period, predicted):
    """Return the same from a file of any size, by one query."""
    with frames.scan(source, [period, predicted]) as rows:
        cells = ", ".join(f"coalesce(trim(CAST({quoted(name)} AS VARCHAR)), '') AS {alias}"
                          for name, alias in ((period, "period"), (predicted, "read")))
        numbered = f"SELECT {cells}, row_number() OVER () - 1 AS row FROM items"
        found = rows.native.query("items", f"SELECT period, read, count(*), min(row) FROM ({numbered}) GROUP BY ALL")
        tallies = found.fetchall()
    if not tallies:
        raise frames.NoRowsError(f"{rows.label} has no data rows")
    return tallies
