"""An audit and monthly predicted counts from files."""

import dataclasses
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import frames, numbers
from workbench.data.classes import read_classes
from workbench.data.columns import found_columns, spelled
from workbench.data.engine import quoted
from workbench.data.scored_items import missing_labels
from workbench.misclassification import calendar, confusion
from workbench.results import Note

MOST_ITEMS = 10_000_000  # of a pair of classes
GAPS = numbers.GONE | {"-", "--", "\N{EN DASH}", "\N{EM DASH}", ".", "..", "n.a.", "missing"}
LABELED_ROWS = ("audit", "rows")  # the place of the note on a file with labels in some rows
MOST_DAYS, FEW_A_DAY = (
    31,
    100,
)  # a month of days is a series; of more days, an item here and there is none


@frames.in_rows_of("audit")
def load_audit(
    audit: Any,
    *,
    truth: str = "truth",
    prediction: str = "prediction",
    labels: str | tuple = "",
    classes: str = "auto",
    total: str = "n",
    weight: str = "",
) -> confusion.ConfusionCounts:
    """Return the confusion table of audited items.

    Parameters
    ----------
    audit : str or data frame
        One row per audited item with its true and its predicted class; or a confusion table: one row per true class
        with its name in the column `truth` and one column of counts per predicted class, or one row per pair of
        classes with its count in the column `total`.
    truth, prediction : str
        Columns; a file without the column `prediction` is read as a confusion table.
    labels : str or tuple
        Classes in the wanted order, separated by commas, or the `labels` of another audit; with two classes the second
        is the one reported. By default sorted.
    classes : {"auto", "text", "numbers"}
        How classes are read, as in `workbench.data.classes.read_classes`; labels as "01,1" say that they are text.
    total : str
        Column of the items of a pair of classes, read where every pair has one row.
    weight : str
        Column of sampling weights, where some items were more likely to be audited than others; "" for none.

    Returns
    -------
    ConfusionCounts

    Examples
    --------
    >>> table = {"truth": ["no", "yes"], "no": [331, 7], "yes": [18, 44]}
    >>> load_audit(table).table.tolist()
    [[331, 18], [7, 44]]
    """
    wanted = _wanted_labels(labels)
    frames.check_source("audit", audit)
    if truth == prediction:
        raise checks.WrongValue(
            "truth",
            "must be another column than {0}",
            truth,
            told=f"both are {truth!r}",
            others=("prediction",),
        )
    names = frames.column_names(audit)
    if spelled(prediction, names) in names:
        data, read = frames.read_columns(audit, [truth, prediction, *([weight] if weight else [])])
        has_label = labeled_rows(data, truth, prediction, classes)
        if has_label is not None:
            read = (*read, _unlabeled_note(has_label))
            data = _picked(data, has_label)
        weights = numbers.to_numbers(weight, data.pop(weight)) if weight else None
        found, notes = read_classes(data, _reading(wanted, classes))
        labeled = _in_kind(wanted, np.concatenate([*found.values()]))
        pairs = {*zip(found[truth].tolist(), found[prediction].tolist(), strict=True)}
        of_pairs = len(pairs) == found[truth].size and weights is None and has_label is None
        items = _items_of_pairs(audit, total) if of_pairs else []
        true, predicted = (np.repeat(found[name], items or 1) for name in (truth, prediction))
        audited = confusion.ConfusionCounts.from_labels(
            true, predicted, labels=labeled, weights=weights
        )
        return dataclasses.replace(
            audited, notes=(*audited.notes, *read, *notes, *_pair_notes(items, total))
        )
    if weight:
        raise checks.WrongValue(
            "weight",
            "belongs to a file with a row per item, with its true and its predicted "
            f"class; there is no column {prediction!r}",
            weight,
        )
    data, read = frames.read_columns(audit, [truth])
    rows = numbers.as_text(data[truth])
    numbers.refuse_totals(truth, rows, ("all",))
    if len(set(rows)) < len(rows):
        raise ValueError(
            f"audit has no column {prediction!r}{checks.suggestion(prediction, names)}; columns: "
            f"{checks.listed(names, quoted=True)}"
        )
    order = rows if wanted is None else wanted
    if len(order) != len(rows) or any(
        spelled(label, names) not in names or label not in rows for label in order
    ):
        raise checks.WrongValue(
            "audit",
            f"must hold a column {prediction!r}, or be a confusion table with a row and "
            f"a column for every class; rows {checks.listed(rows, quoted=True)}, columns "
            f"{checks.listed(names, quoted=True)}",
        )
    _refuse_classes_without_row(
        audit, [name for name in names if name not in (*order, spelled(truth, names))]
    )
    counts, more = frames.read_columns(audit, order)
    table = np.stack(
        [numbers.to_numbers(label, counts[label], beside=counts, whole=True) for label in order],
        axis=1,
    )
    return confusion.ConfusionCounts(
        table[[rows.index(label) for label in order]],
        order,
        notes=tuple(dict.fromkeys((*read, *more))),
    )


def labeled_rows(
    data: dict[str, np.ndarray], truth: str, prediction: str, classes: str
) -> np.ndarray | None:
    """Return which rows of audited items have a true class, (N,) bool, or None where all have one.

    Raises
    ------
    ValueError
        If no row has one.
    """
    missing = missing_labels(data[truth], data[prediction], classes)[0]
    if not missing.any():
        return None
    if missing.all():
        raise checks.WrongValue(
            "truth", f"must have a label in some rows; column {truth!r} has none"
        )
    return ~missing


def _unlabeled_note(rows: np.ndarray) -> Note:
    return Note("assumption", f"the {rows.sum():,} labeled rows of {rows.size:,}", LABELED_ROWS)


def _refuse_classes_without_row(audit: Any, names: list[str]) -> None:
    """Raise if a further column of a confusion table holds counts: items that were predicted in another class."""
    for name in names:
        cells = numbers.to_cells(name, frames.read_columns(audit, [name])[0][name])
        items = [cell for cell in cells if isinstance(cell, int) and cell > 0]
        if items and name.strip().casefold() not in numbers.TOTALS | {"n", "all", "support"}:
            raise checks.WrongValue(
                "audit",
                f"must have a row for every class of its columns; {name!r} has none, and "
                f"{sum(items):,} audited items in its column would be left out",
            )


def _wanted_labels(labels: str | tuple) -> list[str] | None:
    """Return the classes of a text with commas, or those of another audit, as texts; None for ""."""
    if isinstance(labels, tuple):
        return [str(label) for label in labels]
    checks.instance("labels", labels, str)
    return [text.strip() for text in labels.split(",")] if labels else None


def _items_of_pairs(source: Any, total: str) -> list[int]:
    """Return how many items each row counts, where every row is another pair: the cells of a column, [] for none."""
    names = frames.column_names(source)
    if spelled(total, names) not in names:
        return []
    cells = numbers.to_cells(total, frames.read_columns(source, [total])[0][total])
    for row, cell in enumerate(cells):
        if not isinstance(cell, int) or not 0 <= cell <= MOST_ITEMS:
            raise numbers.RowError(
                f"column {total!r}, ",
                row,
                f": {cell!r} is no number of items from 0 to "
                f"{MOST_ITEMS:,}; every row is another pair, and this column counts its items",
            )
    return cells


def _pair_notes(items: list[int], total: str) -> tuple[Note, ...]:
    return (
        Note("data", f"column {total!r} says how many items a row counts, {sum(items):,} in all"),
    ) * bool(items)


def load_periods(
    counts: Any,
    *,
    labels: Sequence,
    period: str = "period",
    total: str = "n",
    counted: str = "counted",
    predicted: str = "prediction",
    every: str = "",
) -> dict[str, tuple]:
    """Return the predicted counts of every period, for `workbench.prevalence_series`.

    Parameters
    ----------
    counts : str or data frame
        One row per period: its name, and one column per class named as in `labels`; with two classes also all items
        and those predicted in the second class. Or one row per item with its period and its predicted class, of any
        number of items: a file is counted where it is read.
    labels : sequence
        Of the audit.
    period, total, counted : str
        Columns. A column of the total beside one per class must be their sum.
    predicted : str
        Column of the predicted class; a file that has it has one row per item.
    every : {"", "day", "week", "month", "quarter", "year"}
        Makes these periods of a column of dates, as `workbench.misclassification.calendar.periods_of`
        does; "" takes each name for a period.

    Returns
    -------
    dict of str to (K,) tuple
        Counts in the order of `labels`, periods that are dates in the order of time
        (`workbench.misclassification.calendar`), others in the order of the file. A cell that is missing or no
        number stays as it is: the series says so for that period and reports the others.

    Examples
    --------
    >>> load_periods({"period": ["Jan"], "n": [1797], "counted": [218]}, labels=(0, 1))
    {'Jan': (1579, 218)}
    >>> load_periods({"period": ["Feb", "Jan", "Feb"], "prediction": [1, 0, 0]}, labels=(0, 1))
    {'Feb': (1, 1), 'Jan': (1, 0)}
    >>> days = {"date": ["2026-01-30", "2026-01-31", "2026-02-01"], "prediction": [1, 0, 0]}
    >>> load_periods(days, labels=(0, 1), period="date", every="month")
    {'2026-01': (1, 1), '2026-02': (1, 0)}
    """
    return read_periods(
        counts,
        labels=labels,
        period=period,
        total=total,
        counted=counted,
        predicted=predicted,
        every=every,
    )[0]


@frames.in_rows_of("counts")
def read_periods(
    counts: Any,
    *,
    labels: Sequence,
    period: str,
    total: str,
    counted: str,
    predicted: str,
    classes: str = "auto",
    every: str = "",
) -> tuple[dict[str, tuple], tuple[Note, ...]]:
    """Return the result of `load_periods`, and notes on the order of the periods and on their classes."""
    frames.check_source("counts", counts)
    names, named = frames.column_names(counts), [str(label) for label in labels]
    if spelled(predicted, names) in names:
        found, said = _counted_items(counts, period, predicted, named, classes, total)
        if not every:
            _refuse_short_days(period, found)
    else:
        roles = {"period": period, "total": total, "counted": counted}
        found, said = _counted_rows(counts, names, named, roles), ()
    if every:
        found, made = _in_periods(found, period, every)
        said = (*said, *made)
    order, notes = calendar.in_time([*found])
    in_order = [*found]
    return {in_order[k]: found[in_order[k]] for k in order}, (*notes, *said)


def _in_periods(
    found: dict[str, tuple], column: str, every: str
) -> tuple[dict[str, tuple], tuple[Note, ...]]:
    """Return the counts of the days, weeks, months, quarters or years that hold the dates.

    A period in which a count is missing or no number keeps that cell, so that the series names it.
    """
    rows_by_period: dict[str, list[tuple]] = {}
    for name, row in zip(calendar.periods_of([*found], every), found.values(), strict=True):
        rows_by_period.setdefault(name, []).append(row)
    summed = {}
    for name, rows in rows_by_period.items():
        unusable = [row for row in rows if not all(isinstance(cell, (int, float)) for cell in row)]
        summed[name] = unusable[0] if unusable else tuple(map(sum, zip(*rows, strict=True)))
    first, last = min(summed), max(summed)
    dates = checks.counted(len(found), "date")
    return summed, (
        Note(
            "data",
            f"the {dates} of column {column!r} are put into {checks.counted(len(summed), every)}, "
            f"{first} to {last}",
        ),
    )


def _refuse_short_days(column: str, found: dict[str, tuple]) -> None:
    """Raise where items are counted by many days, or times of day, most of which hold few items."""
    sizes = sorted(map(sum, found.values()))
    if (
        len(found) > MOST_DAYS
        and sizes[len(sizes) // 2] < FEW_A_DAY
        and calendar.length_of([*found]) == "day"
    ):
        raise checks.WrongValue(
            "every",
            f"must say which periods to make of the dates in column {column!r}: 'month', "
            f"'week', 'quarter' or 'year'; there are {len(found):,} dates, half of them with "
            f"{sizes[len(sizes) // 2]:,} items or fewer. 'day' takes every day for a period",
        )


def _counted_rows(counts: Any, names: tuple, classes: list[str], roles: dict) -> dict:
    period, total, counted = (spelled(name, names) for name in roles.values())
    by_class = all(spelled(name, names) in names for name in classes)
    if not by_class and (len(classes) > 2 or not {total, counted} <= set(names)):
        two = f"the columns {total!r} and {counted!r}, " if len(classes) == 2 else ""
        raise checks.WrongValue(
            "counts",
            "must have a column for every class of the audit, "
            f"{checks.listed(classes, quoted=True)}, {two}or one of the predicted class "
            "of each item; columns: "
            f"{checks.listed(names, quoted=True)}",
        )
    if by_class:
        known = [spelled(name, names) for name in (*classes, period, total)]
        _refuse_further_classes(counts, [name for name in names if name not in known])
        if total in names and total not in classes:
            _refuse_other_totals(counts, classes, period, total)
    columns = classes if by_class else [total, counted]
    data, _ = frames.read_columns(counts, [period, *columns])
    labeled = numbers.as_text(data[period])
    numbers.refuse_totals(period, labeled)
    for repeated in [name for name, times in Counter(labeled).items() if times > 1][:1]:
        raise ValueError(f"column {period!r} must name every period once; {repeated!r} repeats")
    measured = {name: data[name] for name in columns}
    rows = zip(
        *(numbers.to_cells(name, cells, beside=measured) for name, cells in measured.items()),
        strict=True,
    )
    return dict(zip(labeled, rows if by_class else map(_two_classes, rows), strict=True))


@frames.in_rows_of("audit")
def load_audits(
    audit: Any,
    *,
    period: str,
    truth: str = "truth",
    prediction: str = "prediction",
    labels: str = "",
    classes: str = "auto",
    total: str = "n",
    weight: str = "",
    every: str = "",
) -> dict[str, confusion.ConfusionCounts]:
    """Return the confusion table of the audited items of every period, for `workbench.prevalence_series`.

    Parameters
    ----------
    audit : str or data frame
        As for `load_audit`, with a column that says the period of each item or of each row of a table.
    period : str
        That column: names of periods, or dates.
    truth, prediction, labels, classes, total, weight
        As in `load_audit`.
    every : {"", "day", "week", "month", "quarter", "year"}
        Makes these periods of a column of dates; "" takes each name for a period.

    Returns
    -------
    dict of str to ConfusionCounts
        All with the same classes, periods in the order of the file.

    Raises
    ------
    ValueError
        If an item has no period, or as `load_audit` does.

    Examples
    --------
    >>> items = {"month": ["Jan", "Jan", "Feb"], "truth": [1, 0, 1], "prediction": [1, 0, 0]}
    >>> {name: audit.table.tolist() for name, audit in load_audits(items, period="month").items()}
    {'Jan': [[1, 0], [0, 1]], 'Feb': [[0, 0], [1, 0]]}
    """
    frames.check_source("audit", audit)
    names = [name for name in frames.column_names(audit) if name]
    options: dict = {
        "truth": truth,
        "prediction": prediction,
        "total": total,
        "weight": weight,
        "classes": classes,
    }
    of_items = spelled(prediction, names) in names
    used = {spelled(name, names) for name in (period, truth, prediction, total, weight)}
    data = frames.read_columns(
        audit, [name for name in names if not of_items or name in used] or [period]
    )[0]
    if of_items:
        columns = spelled(truth, names), spelled(prediction, names)
        has_label = labeled_rows(data, *columns, classes) if columns[0] in data else None
        data = data if has_label is None else _picked(data, has_label)
    texts = numbers.present(period, data[found_columns("audit", names, [period])[period]])
    of_row = np.array(calendar.periods_of(texts, every) if every else texts, object)
    rows_by_period = [np.flatnonzero(of_row == name) for name in dict.fromkeys(of_row.tolist())]
    if of_items:  # classes that one period lacks are those of the file
        pairs = zip(
            of_row.tolist(),
            *(numbers.as_text(data[spelled(name, names)]) for name in (truth, prediction)),
            strict=True,
        )
        if len({*pairs}) < len(
            texts
        ):  # several rows for a pair of classes: no column holds its total
            options["total"] = ""
        order = load_audit(data, labels=labels, **options).labels
    else:
        order = load_audit(_picked(data, rows_by_period[0]), labels=labels, **options).labels
    return {
        of_row[rows[0]]: load_audit(_picked(data, rows), labels=order, **options)
        for rows in rows_by_period
    }


def _picked(data: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: cells[rows] for name, cells in data.items()}


def counts_at_audit(periods: Mapping, audit_period: str = "") -> tuple:
    """Return the counts of the period whose items the audit was drawn from.

    Parameters
    ----------
    periods : dict
        As from `load_periods`.
    audit_period : str
        Its name; "" for the first.

    Returns
    -------
    (K,) tuple

    Examples
    --------
    >>> counts_at_audit({"Jan": (1579, 218), "Feb": (4411, 589)})
    (1579, 218)
    """
    if not checks.instance("periods", periods, Mapping):
        raise checks.WrongValue(
            "periods", "must not be empty: there is no period whose items the audit was drawn from"
        )
    name = audit_period or next(iter(periods))
    if name not in periods:
        raise checks.WrongValue(
            "audit_period",
            f"must be a period of the counts; got {name!r}{checks.suggestion(name, periods)}",
        )
    first = "" if audit_period else ", the first (name another with audit_period)"
    confusion.check_counts(
        f"the period of the audit, {name!r}{first}", periods[name], range(len(periods[name]))
    )
    return periods[name]


def _refuse_further_classes(counts: dict | str, names: list) -> None:
    """Raise if a further column holds counts: a class that was not audited, whose items would be left out."""
    for name in names:
        data, _ = frames.read_columns(counts, [name])
        cells = [cell for cell in numbers.to_cells(name, data[name]) if not _is_gap(cell)]
        if cells and all(isinstance(cell, int) for cell in cells):
            raise checks.WrongValue(
                "counts",
                "must have no column of numbers that is no class of the audit, as "
                f"{name!r} is: its items would be left out; audit that class too, or drop the "
                "column",
            )


def _is_gap(cell: Any) -> bool:
    """Return whether a cell of counts says nothing: it is missing, or a mark that stands for that."""
    return (
        cell is None
        or isinstance(cell, str)
        and (checks.is_missing(cell) or cell.strip().casefold() in GAPS)
    )


def _refuse_other_totals(counts: Any, classes: list[str], period: str, total: str) -> None:
    """Raise where the items of a period are more than those of the classes: some of another class are left out."""
    data, _ = frames.read_columns(counts, [period, *classes, total])
    cells = {name: numbers.to_cells(name, data[name]) for name in (*classes, total)}
    for row, name in enumerate(numbers.as_text(data[period])):
        items, parts = cells[total][row], [cells[label][row] for label in classes]
        if not all(isinstance(value, int) for value in (items, *parts)) or items == sum(parts):
            continue
        raise checks.WrongValue(
            "counts",
            f"must have all items in the classes of the audit; column {total!r} says "
            f"{items:,} in period {name!r}, and the classes {checks.listed(classes, quoted=True)} "
            f"add up to {sum(parts):,}; audit the other class too, or drop the column {total!r}",
        )


def _two_classes(row: tuple) -> tuple:
    items, second = row
    known = all(isinstance(value, (int, float)) for value in row)
    return (items - second, second) if known else (None if items is None else items, second)


def _reading(wanted: list[str] | None, classes: str) -> str:
    """Return how classes are read: as text where the wanted ones write one number in two ways."""
    twice = wanted and len({*numbers.to_labels("labels", np.array(wanted, object)).tolist()}) < len(
        {*wanted}
    )
    return "text" if twice and classes == "auto" else classes


def _in_kind(wanted: list[str] | None, found: np.ndarray) -> list[str] | np.ndarray | None:
    """Return wanted labels as the found ones are: numbers where these are."""
    if wanted is None or found.dtype.kind == "U":
        return wanted
    return numbers.to_labels("labels", np.array(wanted, object))


def count_items(
    source: Any, period: str, predicted: str, classes: Sequence[str]
) -> dict[str, tuple]:
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
    return _counted_items(source, period, predicted, classes, "auto", "")[0]


def _counted_items(
    source: Any, period: str, predicted: str, named: Sequence[str], classes: str, total: str
) -> tuple[dict[str, tuple], tuple[Note, ...]]:
    tallied = _tallied_file if isinstance(source, (str, os.PathLike)) else _tallied
    rows = sorted(tallied(source, period, predicted), key=lambda cells: cells[3])
    items = _items_of_pairs(source, total) if all(count == 1 for *_, count, _ in rows) else []
    rows = (
        [(*pair, count, row) for (*pair, _, row), count in zip(rows, items, strict=True)]
        if items
        else rows
    )
    for place, name in enumerate((period, predicted)):
        empty = [row for *cells, _, row in rows if not cells[place]]
        if empty:
            raise numbers.RowError(f"column {name!r}, ", min(empty), " is missing")
    first = {read: row for _, read, _, row in reversed(rows)}
    read_as = _read_as(predicted, first, _reading([*named], classes))
    found: dict[str, Counter] = {}
    for name, read, count, row in rows:
        if read_as[read] not in named:
            raise numbers.RowError(
                f"column {predicted!r}, ",
                row,
                f": {read!r} is no class of the audit, "
                f"{checks.listed(named, quoted=True)}{checks.suggestion(read, named)}",
            )
        found.setdefault(name, Counter())[read_as[read]] += count
    others = [f"{text!r} is class {label}" for text, label in read_as.items() if text != label]
    notes = (
        *(Note("data", f"in column {predicted!r} {checks.listed(others)}"),) * bool(others),
        *_pair_notes(items, total),
    )
    return {name: tuple(count[label] for label in named) for name, count in found.items()}, notes


def _read_as(predicted: str, first: dict[str, int], classes: str) -> dict[str, str]:
    """Return the class of each text of a column of predictions, given the first row of each."""
    texts = sorted(first, key=lambda text: first[text])
    try:
        labels = read_classes({predicted: np.array(texts, object)}, classes)[0][predicted]
    except numbers.RowError as error:
        raise numbers.RowError(
            *(part if isinstance(part, str) else first[texts[part]] for part in error.parts)
        ) from None
    return dict(zip(texts, map(str, labels.tolist()), strict=True))


def _tallied(source: dict, period: str, predicted: str) -> list:
    """Return (period, class, items, first row) of every pair in a frame."""
    data, _ = frames.read_columns(source, [period, predicted])
    pairs = list(zip(*(numbers.as_text(data[name]) for name in (period, predicted)), strict=True))
    first = {pair: row for row, pair in reversed([*enumerate(pairs)])}
    return [(*pair, count, first[pair]) for pair, count in Counter(pairs).items()]


def _tallied_file(source: Any, period: Any, predicted: Any) -> list:
    """Return the same from a file of any size, by one query."""
    with frames.scan(source, [period, predicted]) as rows:
        cells = ", ".join(
            f"coalesce(trim(CAST({quoted(name)} AS VARCHAR)), '') AS {alias}"
            for name, alias in ((period, "period"), (predicted, "read"))
        )
        numbered = f"SELECT {cells}, row_number() OVER () - 1 AS row FROM items"
        found = rows.native.query(
            "items", f"SELECT period, read, count(*), min(row) FROM ({numbered}) GROUP BY ALL"
        )
        tallies = found.fetchall()
    if not tallies:
        raise frames.NoRowsError(f"{rows.label} has no data rows")
    return tallies
