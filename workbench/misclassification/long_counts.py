"""Preparation of predicted counts with one row per class, and of files without periods.

Read `ready` first. It finds the column of the predicted classes by its cells, and the column of
their counts by its whole numbers.
"""

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from workbench.checks import WrongValue, is_missing, listed
from workbench.data import confusion_matrices, frames, numbers
from workbench.data.columns import plain_name, spelled
from workbench.results import Note
from workbench.results.limits import warn_of_limit

ALL_ITEMS = "all items"  # the period of a file without periods
SMALL_FILE = 1_000_000  # bytes; a larger file has one row per item
COUNT_NAMES = frozenset(
    ("n", "count", "counts", "counted", "items", "number", "size", "total")
    + ("frequency", "freq", "pixels", "area")
)
ID_NAMES = frozenset(("id", "item", "index", "row", "code", "fid", "objectid", ""))
SHARE_NAMES = frozenset(("percent", "percentage", "pct", "proportion", "share", "%"))
_WITH_UNIT = re.compile(r"[0-9][0-9.,' ]*\s*(?:%|[^\W\d_]+[2\u00b2]?)")  # "13.5%", "1,200 px"
Columns = dict[str, ndarray]


class CountedFile(NamedTuple):
    """A source of predicted counts, the columns to read, and notes on them."""

    source: Any
    total: str
    predicted: str
    notes: tuple[Note, ...] = ()


def ready(
    source: Any,
    labels: Sequence[str],
    period: str,
    total: str,
    counted: str,
    predicted: str,
    every: str,
) -> CountedFile:
    """Return counts in a form that `read_periods` can read.

    Parameters
    ----------
    source : str or data frame
    labels : sequence of str
        Classes of the audit.
    period, total, counted, predicted, every : str
        As in `load_periods`.
    """
    names = frames.column_names(source)
    no_period = spelled(period, names) not in names and period == "period" and not every
    notes: tuple[Note, ...] = ()
    if spelled(predicted, names) not in names:
        by_class = all(spelled(label, names) in names for label in labels)
        by_two = {spelled(total, names), spelled(counted, names)} <= {*names}
        if by_class or (len(labels) == 2 and by_two):
            return CountedFile(_one_row(source, names, no_period), total, predicted)
        column = _column_of_classes(source, names, labels, period)
        if not column:
            return CountedFile(source, total, predicted)
        text = (
            f"predicted classes are read from column {column!r}, which holds classes of the audit"
        )
        notes = (Note("data", text),)
        predicted = column
    if _is_large(source):
        return _with_period(source, no_period, period, total, predicted, notes)
    data = _all_columns(source, names)
    column = spelled(predicted, names)
    total_column = spelled(total, names)
    name = total_column if total_column in names else confusion_matrices.count_column(names)
    keys = [spelled(period, names), column]
    if name and keys[0] in names:
        data, more = _added_up(data, name, keys)
        notes = (*notes, *more)
    if total_column not in names:
        total_column = _column_of_items(data, period, column)
        if not total_column:
            return _with_period(source, no_period, period, total, predicted, notes)
    return _rows_of_classes(data, no_period, period, total_column, column, notes)


def _added_up(data: Columns, name: str, keys: list[str]) -> tuple[Columns, tuple[Note, ...]]:
    """Return counts with one row per period and class, and a note if rows were added up."""
    pairs = _pairs(data, keys)
    is_table = len({*pairs}) == len(pairs)
    if is_table or name in keys:
        return data, ()
    # the user says that the file holds counts
    if not confusion_matrices.counts_repeats(data, name, keys, rows_of_pair=np.inf):
        return data, ()
    sums: Counter = Counter()
    for pair, count in zip(pairs, numbers.as_text(data[name]), strict=True):
        sums[pair] += int(count)
    summed = dict(zip(keys, map(numbers.objects, zip(*sums, strict=True)), strict=True))
    summed[name] = numbers.objects([*sums.values()])
    note = confusion_matrices.added_up(name, sums.total())
    warn_of_limit(note.text)
    return summed, (note,)


def _one_row(source: Any, names: tuple[str, ...], no_period: bool) -> Any:
    """Return a source with a column per class; one row without a period gets one."""
    if not no_period or _is_large(source):
        return source
    data = _all_columns(source, names)
    rows = len(next(iter(data.values())))
    return {"period": np.full(1, ALL_ITEMS, object), **data} if rows == 1 else source


def _with_period(
    source: Any,
    no_period: bool,
    period: str,
    total: str,
    predicted: str,
    notes: tuple[Note, ...],
) -> CountedFile:
    """Return a source with one row per item; without periods, all items are one period."""
    if not no_period:
        return CountedFile(source, total, predicted, notes)
    cells = frames.read_columns(source, [predicted])[0][predicted]
    text = (
        f"no column 'period': all {cells.size:,} items of the counts are one period. If there are "
        "several periods, name their column with period"
    )
    items = {period: np.full(cells.size, ALL_ITEMS, object), predicted: cells}
    return CountedFile(items, total, predicted, (*notes, Note("data", text)))


def _rows_of_classes(
    data: Columns,
    no_period: bool,
    period: str,
    total: str,
    predicted: str,
    notes: tuple[Note, ...],
) -> CountedFile:
    """Return a source with one row per class, or per period and class."""
    columns = [total, predicted] if no_period else [spelled(period, data), total, predicted]
    data = {name: data[name] for name in columns}
    classes = numbers.as_text(data[predicted])
    if no_period:
        data = {period: np.full(len(classes), ALL_ITEMS, object), **data}
        repeated = [name for name, rows in Counter(classes).items() if rows > 1 and name]
        if repeated:
            raise WrongValue(
                "period",
                f"must name the column that distinguishes the rows of a class; {repeated[0]!r} has "
                f"{Counter(classes)[repeated[0]]} rows in column {predicted!r}, and column "
                f"{total!r} counts their items",
            )
    return CountedFile(_without_total(data, total, predicted), total, predicted, notes)


def _without_total(data: Columns, total: str, predicted: str) -> Columns:
    """Return the rows without a last row of totals; totals in another row are refused."""
    classes = numbers.as_text(data[predicted])
    if len(classes) > 2 and classes[-1].strip().casefold() in numbers.TOTALS | {"all", ""}:
        *items, last = numbers.to_cells(total, data[total])
        if all(isinstance(cell, int) for cell in (*items, last)) and sum(items) == last:
            data = {name: cells[:-1] for name, cells in data.items()}
    numbers.refuse_totals(predicted, numbers.as_text(data[predicted]))
    return data


def _column_of_classes(
    source: Any,
    names: tuple[str, ...],
    labels: Sequence[str],
    period: str,
) -> str:
    """Return the only column with at least half of its classes in the audit, or ''."""
    if _is_large(source):
        return ""
    plain_labels = {plain_name(label) for label in labels}
    columns = []
    for name, cells in _all_columns(source, names).items():
        texts = {plain_name(text) for text in numbers.as_text(cells)}
        classes = texts - numbers.TOTALS - {"", "all"}
        audited = classes & plain_labels
        if name != spelled(period, names) and audited and 2 * len(audited) >= len(classes):
            columns.append(name)
    return columns[0] if len(columns) == 1 else ""


def _column_of_items(data: Columns, period: str, predicted: str) -> str:
    """Return the column that counts the items of each row, or '' for a file with a row per item."""
    candidates = [name for name in data if name not in (spelled(period, data), predicted)]
    candidates = [name for name in candidates if plain_name(name) not in ID_NAMES]
    pairs = _pairs(data, [spelled(period, data), predicted])
    numeric = {name: _numbers(data[name]) for name in candidates}
    columns = [name for name, cells in numeric.items() if _are_counts(cells)]
    columns = [name for name in columns if plain_name(name) not in SHARE_NAMES]
    if len({*pairs}) < len(pairs):
        _refuse_a_grid(data, candidates, columns, predicted)
        return ""
    if len(columns) > 1:
        columns = [name for name in columns if plain_name(name) in COUNT_NAMES] or columns
    if len(columns) == 1 or len(pairs) < 2:
        return "".join(columns[:1])
    if columns:
        raise WrongValue(
            "total",
            f"must name the column that counts the items of each row; every row of {predicted!r} "
            f"is another class, and the columns {listed(columns, quoted=True)} hold whole numbers",
        )
    other = {name: cells or _with_units(data[name]) for name, cells in numeric.items()}
    other = {name: cells for name, cells in other.items() if cells}
    if len(other) == 1:
        ((name, cells),) = other.items()
        raise WrongValue(
            "counts",
            f"must hold whole numbers of items; column {name!r} has {listed(cells, 2)}. Give the "
            "number of items of each class, not their proportion. Round areas to the units that "
            "were labeled",
        )
    return ""


def _refuse_a_grid(
    data: Columns, candidates: list[str], columns: list[str], predicted: str
) -> None:
    """Raise if rows with counts repeat a class, or if another column distinguishes them."""
    texts = numbers.as_text(data[predicted])
    (repeated, rows), *_ = Counter(texts).most_common(1)
    are_counts = any(plain_name(name) in confusion_matrices.COUNT_NAMES for name in columns)
    if len(data) == 2 and columns and (are_counts or len(texts) <= 2 * len({*texts})):
        raise WrongValue(
            "counts",
            f"must have one row per class; {repeated!r} has {rows} rows in column {predicted!r}. "
            "Add up their items",
        )
    classes = {*numbers.as_text(data[predicted])}
    for name in candidates:
        counts = [column for column in columns if column != name]
        groups = {*numbers.as_text(data[name])}
        pairs = _pairs(data, [name, predicted])
        full = len({*pairs}) == len(pairs) == len(groups) * len(classes)
        if counts and full and min(len(groups), len(classes)) > 1:
            raise WrongValue(
                "period",
                f"must name the column that distinguishes the rows of a class, such as {name!r}; "
                f"every class has {len(groups)} rows, and column {counts[0]!r} counts items",
            )


def _pairs(data: Columns, names: list[str]) -> list[tuple]:
    texts = [numbers.as_text(data[name]) for name in names if name in data]
    return list(zip(*texts, strict=True))


def _numbers(cells: ndarray) -> list:
    """Return the numbers among the cells of a column, [] if most cells are not numbers."""
    try:
        values = numbers.to_cells("", cells)
    except ValueError:
        return []
    filled = [value for value in values if not is_missing(value)]
    values = [value for value in filled if isinstance(value, (int, float))]
    return values if 2 * len(values) > len(filled) else []


def _with_units(cells: ndarray) -> list[str]:
    """Return the cells of a column of numbers with percent signs or units, else []."""
    texts = [text.strip() for text in numbers.as_text(cells)]
    return texts if all(map(_WITH_UNIT.fullmatch, texts)) else []


def _are_counts(cells: list) -> bool:
    """Return whether a column counts items; `read_periods` refuses cells that do not."""
    return bool(cells) and all(isinstance(cell, int) for cell in cells)


def _all_columns(source: Any, names: tuple[str, ...]) -> Columns:
    return frames.read_columns(source, [name for name in names if name])[0]


def _is_large(source: Any) -> bool:
    """Return whether a file is too large to have only one row per class."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = str(source).partition("#")[0]
    return os.path.isfile(path) and os.path.getsize(path) > SMALL_FILE
