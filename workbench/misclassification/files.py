"""An audit and monthly predicted counts from files."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import frames, numbers
from workbench.misclassification.confusion import ConfusionCounts, check_counts


def load_audit(audit: Any, *, truth: str = "truth", prediction: str = "prediction",
               labels: str = "") -> ConfusionCounts:
    """Return the confusion table of audited items.

    Parameters
    ----------
    audit : str or data frame
        One row per audited item with its true and its predicted class; or a confusion table, one row per true class
        with its name in the column `truth` and one column of counts per predicted class.
    truth, prediction : str
        Columns; a file without the column `prediction` is read as a confusion table.
    labels : str
        Classes in the wanted order, separated by commas; with two classes the second is the one reported. By default
        sorted.

    Returns
    -------
    ConfusionCounts

    Examples
    --------
    >>> table = {"truth": ["no", "yes"], "no": [331, 7], "yes": [18, 44]}
    >>> load_audit(table).table.tolist()
    [[331, 18], [7, 44]]
    """
    checks.instance("labels", labels, str)
    frames.check_source("audit", audit)
    if truth == prediction:
        raise ValueError(f"truth and prediction must be different columns; both are {truth!r}")
    names = frames.column_names(audit)
    wanted = [text.strip() for text in labels.split(",")] if labels else None
    if prediction in names:
        data, _ = frames.read_columns(audit, [truth, prediction])
        true, read = (numbers.to_labels(name, data[name]) for name in (truth, prediction))
        return ConfusionCounts.from_labels(true, read, labels=_in_kind(wanted, np.concatenate([true, read])))
    data, _ = frames.read_columns(audit, [truth])
    rows = numbers.as_text(data[truth])
    if len(set(rows)) < len(rows):
        raise ValueError(f"audit has no column {prediction!r}{checks.suggestion(prediction, names)}; columns: "
                         f"{checks.listed(names, quoted=True)}")
    order = rows if wanted is None else wanted
    missing = [label for label in order if label not in names or label not in rows]
    if missing or len(order) != len(rows):
        raise ValueError(f"audit must hold a column {prediction!r}, or be a confusion table with a row and a column "
                         f"for every class; rows {checks.listed(rows, quoted=True)}, columns "
                         f"{checks.listed(names, quoted=True)}")
    counts, _ = frames.read_columns(audit, order)
    table = np.stack([numbers.to_numbers(label, counts[label]) for label in order], axis=1)
    return ConfusionCounts(table[[rows.index(label) for label in order]], order)


def load_periods(counts: Any, *, labels: Sequence, period: str = "period", total: str = "n",
                 counted: str = "counted") -> dict[str, tuple]:
    """Return the predicted counts of every period, for `workbench.prevalence_series`.

    Parameters
    ----------
    counts : str or data frame
        One row per period: its name, and one column per class named as in `labels`; with two classes also all items
        and those predicted in the second class.
    labels : sequence
        Of the audit.
    period, total, counted : str
        Columns. A column of the total beside one per class is not read.

    Returns
    -------
    dict of str to (K,) tuple
        Counts in the order of `labels`. A cell that is missing or no number stays as it is: the series says so for
        that period and reports the others.

    Examples
    --------
    >>> load_periods({"period": ["Jan"], "n": [1797], "counted": [218]}, labels=(0, 1))
    {'Jan': (1579, 218)}
    """
    frames.check_source("counts", counts)
    names, classes = frames.column_names(counts), [str(label) for label in labels]
    by_class = all(name in names for name in classes)
    if not by_class and (len(classes) > 2 or not {total, counted} <= set(names)):
        two = f", or the columns {total!r} and {counted!r}" if len(classes) == 2 else ""
        raise ValueError("counts must have a column for every class of the audit, "
                         f"{checks.listed(classes, quoted=True)}{two}; columns: {checks.listed(names, quoted=True)}")
    if by_class:
        _refuse_further_classes(counts, [name for name in names if name not in (*classes, period, total)])
    columns = classes if by_class else [total, counted]
    data, _ = frames.read_columns(counts, [period, *columns])
    labeled = numbers.as_text(data[period])
    _refuse_repeated(period, labeled)
    rows = zip(*(map(_number, data[name].tolist()) for name in columns), strict=True)
    return dict(zip(labeled, rows if by_class else map(_two_classes, rows), strict=True))


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
        raise ValueError("periods must not be empty: there is no period whose items the audit was drawn from")
    name = audit_period or next(iter(periods))
    if name not in periods:
        raise ValueError(f"audit_period must be a period of the counts; got {name!r}{checks.suggestion(name, periods)}")
    first = "" if audit_period else ", the first (name another with audit_period)"
    check_counts(f"the period of the audit, {name!r}{first}", periods[name], range(len(periods[name])))
    return periods[name]


def _refuse_further_classes(counts, names):
    """Raise if a further column holds counts: a class that was not audited, whose items would be left out."""
    for name in names:
        cells = [_number(cell) for cell in frames.read_columns(counts, [name])[0][name].tolist()]
        if all(isinstance(cell, int) for cell in cells):
            raise ValueError(f"counts must have no column of numbers that is no class of the audit, as {name!r} is: "
                             "its items would be left out; audit that class too, or drop the column")


def _two_classes(row):
    items, second = row
    known = all(isinstance(value, (int, float)) for value in row)
    return (items - second, second) if known else (None if items is None else items, second)


def _number(cell):
    """Return a cell as a number if it is one, else as it is; the series names what it cannot use."""
    try:
        value = float(str(cell).strip().replace(",", ".")) if cell is not None else None
    except ValueError:
        return str(cell)
    return int(value) if value is not None and value.is_integer() else value


def _in_kind(wanted, found):
    """Return wanted labels as the found ones are: numbers where these are."""
    if wanted is None or found.dtype.kind == "U":
        return wanted
    return numbers.to_labels("labels", np.array(wanted, object))


def _refuse_repeated(name, values):
    if len(set(values)) < len(values):
        repeated = next(value for value in values if values.count(value) > 1)
        raise ValueError(f"column {name!r} must name every period once; {repeated!r} repeats")
