"""Audits and predicted counts from files.

`load_audit` and `load_audits` read the audit of one period and of several. `load_periods` and
`read_periods` read predicted counts, from one row per period or one row per item.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue, instance, listed, suggestion
from workbench.data import confusion_matrices, frames, numbers, shapes
from workbench.data.classes import read_classes
from workbench.data.columns import spelled
from workbench.data.confusion_matrices import ConfusionMatrix
from workbench.data.engine import has_duckdb, quoted
from workbench.data.frames import column_names, read_columns
from workbench.data.numbers import RowError, as_text, to_cells
from workbench.data.scored_items import missing_labels
from workbench.misclassification import calendar, long_counts
from workbench.misclassification.confusion import ConfusionCounts, check_counts
from workbench.results import Note
from workbench.results.limits import warn_of_limit

MOST_ITEMS = 10_000_000  # limit for the count of a pair of classes
GAPS = numbers.GONE | {
    "-",
    "--",
    "\N{EN DASH}",
    "\N{EM DASH}",
    ".",
    "..",
    "n.a.",
    "missing",
}
LABELED_ROWS = ("audit", "rows")  # place of the note on a file with labels in some rows only
MOST_DAYS = 31  # up to a month of days is read as a series of days
FEW_A_DAY = 100  # more days with fewer items each are refused
FEW_PERIODS = 5  # running totals are not told from growth in fewer periods
# First total divided by the mean increment, for running totals of similar periods. Counts that grow
# by less than 80% of the first total in each period are above this range.
SIMILAR = (0.7, 1.25)
MOST_CHANGE = 2  # largest increment of running totals divided by the smallest
Counts = dict[str, tuple]
Notes = tuple[Note, ...]


class _Items(NamedTuple):
    """Audited items: true and predicted classes, weights and periods, and all classes in order."""

    truth: ndarray
    prediction: ndarray
    weights: ndarray | None
    periods: ndarray
    labels: list[str] | ndarray | None
    notes: Notes

    def table(self, rows: Any, labels: ArrayLike | None) -> ConfusionCounts:
        """Return the confusion table of some of the items."""
        weights = None if self.weights is None else self.weights[rows]
        truth = self.truth[rows]
        prediction = self.prediction[rows]
        return ConfusionCounts.from_labels(truth, prediction, labels, weights)


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
    rows: str = "auto",
) -> ConfusionCounts:
    """Read the confusion table of an audit.

    Parameters
    ----------
    audit : str or data frame
        File or table in one of three forms:

        - one row per audited item with its true and its predicted class;
        - a confusion matrix: one row per true class, with its name in the first column or in column
          `truth`, and one column of counts per predicted class;
        - one row per pair of classes with its count in column `total`; pairs that repeat are added
          up, and a note says so.
    truth, prediction : str, default "truth" and "prediction"
        Columns of the true and of the predicted class. A file without column `prediction` is read
        as a confusion matrix.
    labels : str or tuple, default ""
        Classes in the order to use, separated by commas, or the `labels` of another audit. With two
        classes the second is the reported one. By default the classes are sorted.
    classes : {"auto", "text", "numbers"}, default "auto"
        How classes are read: as text or as numbers, or as the column suggests. Labels such as
        "01,1" are always read as text.
    total : str, default "n"
        Column of counts in a file with one row per pair of classes. Without a column "n", "count"
        or "freq" is used.
    weight : str, default ""
        Column of sampling weights, if some items were more likely to be audited than others; "" for
        none.
    rows : {"auto", "truth", "prediction"}, default "auto"
        Meaning of the rows of a confusion matrix, as in `load_labeled`.

    Returns
    -------
    ConfusionCounts
        The confusion table, with notes on how the file was read.

    See Also
    --------
    load_periods : Read predicted counts.
    estimate_prevalence : Estimate true class proportions from both.

    Examples
    --------
    >>> table = {"truth": ["no", "yes"], "no": [331, 7], "yes": [18, 44]}
    >>> load_audit(table).table.tolist()
    [[331, 18], [7, 44]]
    """
    has_items = _has_items(audit, truth, prediction, weight)
    matrix = confusion_matrices.read_matrix(
        "audit",
        audit,
        truth=truth,
        prediction=prediction,
        rows=rows,
    )
    if matrix:
        return _audit_of(matrix, labels, weight)
    if not has_items:
        raise _no_audit(audit, prediction)
    names = column_names(audit)
    if total == "n" and spelled(total, names) not in names:
        total = confusion_matrices.count_column(names) or total
    items = _read_items(
        audit,
        truth,
        prediction,
        labels,
        classes,
        total,
        weight,
    )
    audited = items.table(slice(None), items.labels)
    return replace(audited, notes=(*audited.notes, *items.notes))


@frames.in_rows_of("audit")
def load_audits(
    audit: Any,
    *,
    period: str,
    truth: str = "truth",
    prediction: str = "prediction",
    labels: str | tuple = "",
    classes: str = "auto",
    total: str = "n",
    weight: str = "",
    every: str = "",
) -> dict[str, ConfusionCounts]:
    """Read the confusion table of every audited period, for `workbench.prevalence_series`.

    Parameters
    ----------
    audit : str or data frame
        As for `load_audit`, with an additional column that names the period of each item, or of
        each row of a table.
    period : str
        Column of the period: names or dates.
    truth, prediction, labels, classes, total, weight
        As in `load_audit`.
    every : {"", "day", "week", "month", "quarter", "year"}
        Combines the dates of column `period` into these periods; "" uses each name as a period.

    Returns
    -------
    dict of str to ConfusionCounts
        Tables with the same classes, in the order of the file.

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
    if _has_items(audit, truth, prediction, weight):
        items = _read_items(
            audit,
            truth,
            prediction,
            labels,
            classes,
            total,
            weight,
            period,
            every,
        )
        order = items.table(slice(None), items.labels).labels
        names = items.periods
        return {name: items.table(names == name, order) for name in dict.fromkeys(names)}
    of_period, _ = read_columns(audit, [period])
    names = _periods_of(period, of_period[period], every)
    columns = column_names(audit)
    others = [name for name in columns if name and name != spelled(period, columns)]
    data, _ = read_columns(audit, others)
    audits: dict[str, ConfusionCounts] = {}
    for name in dict.fromkeys(names):
        rows = np.flatnonzero(names == name)
        table = {column: cells[rows] for column, cells in data.items()}
        with shapes.in_rows(rows):
            matrix = confusion_matrices.read_matrix(
                "audit", table, truth=truth, prediction=prediction
            )
        if not matrix:
            raise _no_audit(audit, prediction)
        audits[name] = _audit_of(matrix, labels, weight)
        labels = audits[name].labels
    return audits


def _audit_of(matrix: ConfusionMatrix, labels: str | tuple, weight: str) -> ConfusionCounts:
    """Return a confusion matrix with its classes in the order of `labels`."""
    if weight:
        raise WrongValue("weight", "can be used only with a file of one row per item", weight)
    order = _read_labels(labels, "text")[0] or matrix.labels
    if sorted(order) != sorted(matrix.labels):
        there = f"the confusion matrix has the classes {listed(matrix.labels, quoted=True)}"
        raise WrongValue("labels", "must be the classes of the audit", order, told=there)
    places = [matrix.labels.index(label) for label in order]
    return ConfusionCounts(matrix.table[np.ix_(places, places)], order, notes=matrix.notes)


def _has_items(
    audit: Any,
    truth: str,
    prediction: str,
    weight: str,
) -> bool:
    """Return whether an audit has a row per item, not per class, or raise on wrong arguments."""
    frames.check_source("audit", audit)
    if not truth:
        raise WrongValue("truth", "must name a column")
    if truth == prediction:
        both = f"both are {truth!r}"
        rule = "must be another column than {0}"
        raise WrongValue("truth", rule, truth, told=both, others=("prediction",))
    names = column_names(audit)
    has_items = spelled(prediction, names) in names
    if weight and not has_items:
        raise WrongValue(
            "weight",
            "can be used only with a file of one row per item, which holds its true and its "
            f"predicted class; there is no column {prediction!r}",
            weight,
        )
    return has_items


def _periods_of(period: str, cells: ndarray, every: str) -> ndarray:
    """Return the period of each row, as it is written or as `every` makes it of a date."""
    texts = numbers.present(period, cells)
    return np.array(calendar.periods_of(texts, every) if every else texts, object)


def _read_items(
    audit: Any,
    truth: str,
    prediction: str,
    labels: str | tuple,
    classes: str,
    total: str,
    weight: str,
    period: str = "",
    every: str = "",
) -> _Items:
    """Return the audited items of a file with a row per item, or per pair of classes."""
    columns = [
        name
        for name in (
            truth,
            prediction,
            weight,
            period,
        )
        if name
    ]
    data, notes = read_columns(audit, columns)
    labeled = ~missing_labels(data[truth], data[prediction], classes)[0]
    if not labeled.any():
        raise WrongValue("truth", f"must have a label in some rows; column {truth!r} has none")
    if not labeled.all():
        text = f"the {labeled.sum():,} labeled rows of {labeled.size:,}"
        notes = (*notes, Note("assumption", text, LABELED_ROWS))
        data = {name: cells[labeled] for name, cells in data.items()}
    weights = None
    if weight:
        weights = numbers.to_numbers(weight, data[weight])
        notes = (*notes, *numbers.probability_notes(weight, weights))
    periods = np.full(labeled.sum(), "", object)
    if period:
        periods = _periods_of(period, data[period], every)
    texts, as_numbers, classes = _read_labels(labels, classes)
    to_read = {name: data[name] for name in (truth, prediction)}
    labels_by_column, class_notes = read_classes(to_read, classes)
    notes = (*notes, *class_notes)
    parts = [periods, labels_by_column[truth], labels_by_column[prediction]]
    pairs = {*zip(*(part.tolist() for part in parts), strict=True)}
    is_table = len(pairs) == labeled.size
    if not weight and (is_table or _counts_repeats(audit, columns, total)):
        items = _items_of_pairs(audit, total)
        if is_table:
            notes = (*notes, *_pair_notes(items, total))
        else:
            note = confusion_matrices.added_up(total, sum(items))
            warn_of_limit(note.text)
            notes = (*notes, note)
        parts = [np.repeat(part, items or 1) for part in parts]
    periods, true, predicted = parts
    is_text = "U" in (true.dtype.kind, predicted.dtype.kind)
    order = texts if is_text else as_numbers
    return _Items(
        true,
        predicted,
        weights,
        periods,
        order,
        notes,
    )


def _counts_repeats(audit: Any, columns: list[str], total: str) -> bool:
    """Return whether rows of the same classes hold counts in column `total`."""
    names = column_names(audit)
    name = spelled(total, names)
    if name not in names:
        return False
    data, _ = read_columns(audit, [*filter(None, names)])
    keys = [spelled(column, names) for column in columns]
    return confusion_matrices.counts_repeats(data, name, keys)


def _no_audit(audit: Any, prediction: str) -> WrongValue:
    """Return the error for a file that holds neither items nor a confusion matrix."""
    names = column_names(audit)
    column = f"{prediction!r}{suggestion(prediction, names)}"
    return WrongValue(
        "audit",
        "must have the column of {0}, or be a confusion matrix with a row and a column for every "
        "class",
        told=f"there is no column {column}. Available columns: {listed(names, quoted=True)}",
        others=("prediction",),
    )


def _refuse_unaudited(
    argument: str,
    source: Any,
    names: list[str],
) -> None:
    """Raise if another column holds counts: the items of that class would be left out."""
    for name in names:
        data, _ = read_columns(source, [name])
        cells = to_cells(name, data[name])
        cells = [cell for cell in cells if not _is_gap(cell)]
        if cells and all(isinstance(cell, int) for cell in cells):
            raise WrongValue(
                argument,
                f"must have columns of numbers for classes of the audit only, unlike {name!r}: its "
                "items would be left out. Audit that class too, or drop the column",
            )


def _is_gap(cell: Any) -> bool:
    return checks.is_missing(cell) or str(cell).strip().casefold() in GAPS


def _read_labels(labels: str | tuple, classes: str) -> tuple[list[str] | None, ndarray | None, str]:
    """Return the classes in the given order, as texts and as numbers, and how classes are read.

    They are read as text if two of the labels are the same number, such as "01" and "1".
    """
    if not isinstance(labels, tuple):
        labels = tuple(instance("labels", labels, str).split(","))
    texts = [str(label).strip() for label in labels]
    if not any(texts):
        return None, None, classes
    as_numbers = numbers.to_labels("labels", np.array(texts, object))
    if classes == "auto" and len({*as_numbers.tolist()}) < len({*texts}):
        classes = "text"
    return texts, as_numbers, classes


def _items_of_pairs(source: Any, total: str, most: int = MOST_ITEMS) -> list[int]:
    """Return the count of each row, one row per pair of classes; [] without such a column."""
    names = column_names(source)
    if spelled(total, names) not in names:
        return []
    return confusion_matrices.column_of_counts(total, source, most)


def _pair_notes(items: list[int], total: str) -> Notes:
    if not items:
        return ()
    text = f"column {total!r} holds the number of items of each row, {sum(items):,} in total"
    return (Note("data", text),)


def load_periods(
    counts: Any,
    *,
    labels: Sequence,
    period: str = "period",
    total: str = "n",
    counted: str = "counted",
    predicted: str = "prediction",
    every: str = "",
) -> Counts:
    """Read the predicted counts of every period, for `prevalence_series`.

    Parameters
    ----------
    counts : str or data frame
        File or table in one of these forms:

        - one row per period with its name and one column of counts per class, named as in `labels`;
        - with two classes, one row per period with the number of all items (`total`) and of those
          predicted in the second class (`counted`);
        - one row per item with its period and its predicted class, of any number of items;
        - one row per class with its number of items.

        A table of items, one with a row per class, or one with a single row needs no period.
    labels : sequence
        Class labels of the audit.
    period : str, default "period"
        Column of the period's name.
    total : str, default "n"
        Column of the number of all items. Next to columns of all classes, it must hold their sum.
        With one row per class it is the column of counts; if it is missing, the only column of
        whole numbers is used.
    counted : str, default "counted"
        Column of the number of items predicted in the second class.
    predicted : str, default "prediction"
        Column of the predicted class, in a table with one row per item or per class. If there is no
        such column, the only column that holds classes of the audit is used.
    every : {"", "day", "week", "month", "quarter", "year"}, default ""
        Combines the dates of column `period` into these periods; "" uses each name as a period.

    Returns
    -------
    dict of str to (K,) tuple
        Counts of each period in the order of `labels`. Periods that are dates are sorted by time,
        others keep the order of the file. A cell that is missing or not a number stays as it is.
        `prevalence_series` then reports the other periods and adds a note on this one.

    See Also
    --------
    load_audit : Read the audit.
    counts_at_audit : Choose the counts of the audited period.
    prevalence_series : Estimate the true proportions of every period.

    Examples
    --------
    >>> load_periods({"period": ["Jan"], "n": [1797], "counted": [218]}, labels=(0, 1))
    {'Jan': (1579, 218)}
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
) -> tuple[Counts, Notes]:
    """Return the result of `load_periods`, and notes on the periods and classes."""
    frames.check_source("counts", counts)
    labels = [str(label) for label in labels]
    counts, total, predicted, notes = long_counts.ready(
        counts, labels, period, total, counted, predicted, every
    )
    names = column_names(counts)
    if spelled(predicted, names) in names:
        months, more = _count_items(
            counts,
            period,
            predicted,
            labels,
            classes,
            total,
        )
        notes = (*notes, *more)
        if not every:
            _refuse_short_days(period, months)
    else:
        columns = (spelled(name, names) for name in (period, total, counted))
        months = _read_rows(counts, labels, *columns)
    if every:
        dates = checks.counted(len(months), "date")
        months = _sum_by_period(months, every)
        periods = checks.counted(len(months), every)
        text = f"the {dates} of column {period!r} are combined into {periods}, "
        text += f"{min(months)} to {max(months)}"
        notes = (*notes, Note("data", text))
    rows = [*months.items()]
    order, order_notes = calendar.in_time([*months])
    months = dict(rows[k] for k in order)
    if spelled(predicted, names) not in names and not every:
        notes = (*notes, *_running_totals(months))
    return months, (*order_notes, *notes)


def _running_totals(months: Counts) -> Notes:
    """Return a note if each row seems to hold the counts of all periods up to its own."""
    if len(months) < FEW_PERIODS or not all(map(_are_numbers, months.values())):
        return ()
    by_class = np.array([*months.values()], float)
    totals = by_class.sum(1)
    steps = np.diff(totals, prepend=0)
    later_steps = steps[1:].mean()
    is_similar = SIMILAR[0] * later_steps <= steps[0] <= SIMILAR[1] * later_steps
    is_steady = steps.max() <= MOST_CHANGE * steps.min()
    if not (is_similar and is_steady) or (np.diff(by_class, axis=0) < 0).any():
        return ()
    first, *_, last = months
    text = (
        "the counts of every class grow in proportion to the number of periods, from "
        f"{totals[0]:,.0f} items in {first!r} to {totals[-1]:,.0f} in {last!r}. If these are "
        "totals since the start of the year, subtract the previous row from each row"
    )
    return (Note("unreliable", text),)


def _sum_by_period(rows: Counts, every: str) -> Counts:
    """Return the counts of the days, weeks, months, quarters or years that contain the dates.

    If a row of a period has a count that is missing or not a number, the period keeps that row. The
    series can then name it.
    """
    periods = calendar.periods_of([*rows], every)
    summed: Counts = {}
    for name, row in zip(periods, rows.values(), strict=True):
        total = summed.setdefault(name, (0,) * len(row))
        if _are_numbers(total):
            usable = _are_numbers(row)
            summed[name] = tuple(map(sum, zip(total, row, strict=True))) if usable else row
    return summed


def _are_numbers(row: tuple) -> bool:
    return all(isinstance(cell, (int, float)) for cell in row)


def _refuse_short_days(column: str, rows: Counts) -> None:
    """Raise if items are counted by many days or times of day with few items each."""
    sizes = sorted(map(sum, rows.values()))
    median = sizes[len(rows) // 2]
    if len(rows) > MOST_DAYS and median < FEW_A_DAY and calendar.length_of([*rows]) == "day":
        raise WrongValue(
            "every",
            f"must be given to combine the dates of column {column!r}: 'month', 'week', 'quarter' "
            f"or 'year'; there are {len(rows):,} dates, half of them with {median:,} items or "
            "fewer. Use 'day' to report every day",
        )


def _read_rows(
    counts: Any,
    classes: list[str],
    period: str,
    total: str,
    counted: str,
) -> Counts:
    """Return the counts of a file with a row per period."""
    names = column_names(counts)
    columns = classes
    by_class = all(spelled(name, names) in names for name in classes)
    if by_class:
        sums = [name for name in names if name.strip().casefold() in numbers.TOTALS]
        if total not in names and len(sums) == 1 and sums[0] not in classes:
            total = sums[0]
        expected = {spelled(name, names) for name in (*classes, period, total)}
        _refuse_unaudited("counts", counts, [name for name in names if name not in expected])
        if total in names and total not in classes:
            columns = [*classes, total]
    else:
        columns = [total, counted]
        if len(classes) > 2 or not {*columns} <= {*names}:
            two = ""
            remedy = "If one of them holds predicted classes, name it with predicted (--predicted)"
            if len(classes) == 2:
                two = f"the columns {total!r} and {counted!r}, "
                remedy = (
                    "Name columns with other names: the number of all items with total (--total), "
                    f"the number of items in class {classes[1]!r}, the second of classes "
                    "(--classes), with counted (--counted), predicted classes with "
                    "predicted (--predicted)"
                )
            raise WrongValue(
                "counts",
                f"must have a column for every class of the audit, {listed(classes, quoted=True)}, "
                f"{two}or a column of the predicted class of each item. Available columns: "
                f"{listed(names, quoted=True)}. {remedy}",
            )
    data, _ = read_columns(counts, [period, *columns])
    periods = as_text(data.pop(period))
    numbers.refuse_totals(period, periods)
    if repeat := numbers.first_repeat(periods):
        name = periods[repeat[0]]
        raise ValueError(f"column {period!r} must name every period once; {name!r} repeats")
    cells = (to_cells(name, data[name], others=data) for name in columns)
    counts_of_rows = zip(*cells, strict=True)
    rows = dict(zip(periods, counts_of_rows, strict=True))
    if not by_class:
        return {name: _two_classes(*row) for name, row in rows.items()}
    if len(columns) > len(classes):
        _check_totals(rows, classes, total)
    return {name: row[: len(classes)] for name, row in rows.items()}


def _check_totals(rows: Counts, classes: list[str], total: str) -> None:
    """Raise if the classes of a period do not add up to its total."""
    for name, (*parts, items) in rows.items():
        whole_numbers = all(isinstance(cell, int) for cell in (*parts, items))
        if whole_numbers and items != sum(parts):
            names = listed(classes, quoted=True)
            raise WrongValue(
                "counts",
                f"must have all items in the classes of the audit; column {total!r} has {items:,} "
                f"in period {name!r}, but the classes {names} add up to {sum(parts):,}. Audit the "
                f"other class too, or drop column {total!r}",
            )


def _two_classes(items: Any, second: Any) -> tuple:
    if _are_numbers((items, second)):
        items -= second
    return items, second


def counts_at_audit(
    periods: Mapping, audit_period: str = "", *, labels: Sequence | None = None
) -> tuple:
    """Choose the predicted counts of the period that the audit was sampled from.

    Parameters
    ----------
    periods : dict
        Counts by period, as from `load_periods`.
    audit_period : str, default ""
        Name of the period; "" for the first.
    labels : (K,) sequence, optional
        Classes, to name them in errors. Default: 0 to K - 1.

    Returns
    -------
    (K,) tuple
        The counts of that period.

    See Also
    --------
    load_periods : Read predicted counts.
    estimate_prevalence : Estimate the true proportions of a period.

    Examples
    --------
    >>> counts_at_audit({"Jan": (1579, 218), "Feb": (4411, 589)})
    (1579, 218)
    """
    if not instance("periods", periods, Mapping):
        raise WrongValue(
            "periods", "must hold the period from whose items the audit was sampled; it is empty"
        )
    name = audit_period or next(iter(periods))
    if name not in periods:
        raise WrongValue(
            "audit_period",
            f"must be a period of the counts; got {name!r}{suggestion(name, periods)}",
        )
    first = "" if audit_period else ", the first (use audit_period to name another)"
    counts = periods[name]
    check_counts(
        f"the period of the audit, {name!r}{first}",
        counts,
        range(len(counts)) if labels is None else labels,
    )
    return counts


def _count_items(
    source: Any,
    period: str,
    predicted: str,
    labels: list[str],
    classes: str,
    total: str,
) -> tuple[Counts, Notes]:
    """Return the counts of a file with one row per item, or per period and class."""
    is_queried = isinstance(source, (str, os.PathLike)) and has_duckdb()
    tally = _tallied_file if is_queried else _tallied
    rows = sorted(tally(source, period, predicted), key=itemgetter(3))
    items = []
    if all(count == 1 for _, _, count, _ in rows):
        items = _items_of_pairs(source, total, checks.LARGEST)
    for k, column in enumerate((period, predicted)):
        for row in rows:
            if not row[k]:
                raise RowError(f"column {column!r}, ", row[3], " is missing")
    first_rows: dict[str, int] = {}
    for _, text, _, first in rows:
        first_rows.setdefault(text, first)
    classes = _read_labels(tuple(labels), classes)[2]
    class_of = _classes_of(predicted, first_rows, classes)
    counts: dict[str, Counter] = defaultdict(Counter)
    for k, (name, text, count, first) in enumerate(rows):
        label = class_of[text]
        if label not in labels:
            names = f"{listed(labels, quoted=True)}{suggestion(text, labels)}"
            problem = f": {text!r} is not a class of the audit; classes: {names}"
            raise RowError(f"column {predicted!r}, ", first, problem)
        counts[name][label] += items[k] if items else count
    notes = _pair_notes(items, total)
    spellings = [f"{text!r} is class {label}" for text, label in class_of.items() if text != label]
    if spellings:
        notes = (Note("data", f"in column {predicted!r} {listed(spellings)}"), *notes)
    by_period = {name: tuple(count[label] for label in labels) for name, count in counts.items()}
    return by_period, notes


def _classes_of(predicted: str, first_rows: dict[str, int], classes: str) -> dict[str, str]:
    """Return the class of each text of a column of predictions, given the first row of each."""
    texts = [*first_rows]
    column = {predicted: np.array(texts, object)}
    try:
        labels = read_classes(column, classes)[0][predicted]
    except RowError as error:
        parts = (part if isinstance(part, str) else first_rows[texts[part]] for part in error.parts)
        raise RowError(*parts) from None
    return dict(zip(texts, map(str, labels.tolist()), strict=True))


def _tallied(source: Any, period: str, predicted: str) -> list[tuple]:
    """Return (period, class, items, first row) of every pair in a frame."""
    data, _ = read_columns(source, [period, predicted])
    pairs = list(zip(as_text(data[period]), as_text(data[predicted]), strict=True))
    first_rows: dict[tuple, int] = {}
    for row, pair in enumerate(pairs):
        first_rows.setdefault(pair, row)
    return [(*pair, count, first_rows[pair]) for pair, count in Counter(pairs).items()]


def _tallied_file(source: Any, period: str, predicted: str) -> list[tuple]:
    """Return (period, class, items, first row) of every pair in a file of any size, by a query."""
    cells = [f"coalesce(trim(CAST({quoted(name)} AS VARCHAR)), '')" for name in (period, predicted)]
    columns = f"{cells[0]} AS period, {cells[1]} AS read, row_number() OVER () - 1 AS row"
    numbered = f"SELECT {columns} FROM items"
    with frames.scan(source, [period, predicted]) as rows:
        query = f"SELECT period, read, count(*), min(row) FROM ({numbered}) GROUP BY ALL"
        tallies = rows.native.query("items", query).fetchall()
    if not tallies:
        raise frames.NoRowsError(f"{rows.label} has no data rows")
    return tallies
