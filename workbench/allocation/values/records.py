"""Values in some rows of a file of records: total and mean, taking these rows for a random sample of each stratum."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from workbench import checks
from workbench.allocation.samples import StratumSummary
from workbench.allocation.values.estimates import ValueEstimate, estimate_values
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.data.scored_items import missing_labels
from workbench.results import Note, digits

LEAST_VALUES = 5        # a stratum with fewer is joined with others
IMPOSSIBLE = 1e-3       # chance below which a stratum without values was not sampled
UNLIKE = 0.01           # p-value below which a stratum is said to have more or fewer values than at random
ALL, NO_STRATUM = "all", "(none)"


def has_missing_values(records: Any, value: str) -> bool:
    """Return whether some rows of a file or a data frame have no value."""
    return bool(missing_labels(frames.read_columns(records, [value])[0][value], None)[0].any())


@frames.in_rows_of("records")
def estimate_records(records: Any, *, value: str, stratum: str = "stratum",
                     bounds: tuple | None = None) -> tuple[StratumSummary, ValueEstimate]:
    """Estimate the total and the mean of all rows from the values that some rows have.

    Parameters
    ----------
    records : str or data frame
        A row per record, as `workbench.read_scores` reads it.
    value : str
        Column of numbers. A row without a value is empty there or says so ("NA", "-").
    stratum : str
        Column of strata; rows without one are the stratum "(none)". Where no column is called "stratum", all rows are
        one stratum.
    bounds : (float, float), optional
        As in `workbench.estimate_values`.

    Returns
    -------
    strata : StratumSummary
        Sizes of all rows; means and standard deviations of the values.
    found : ValueEstimate
        Its `premise` says that the rows with a value are taken for a random sample of each stratum. Strata with fewer
        than 5 values are joined.

    Raises
    ------
    ValueError
        If fewer than two rows have a value, a cell is no number, or a stratum has no value that would have one if rows
        were sampled at random.

    Notes
    -----
    Given the number of values in each stratum, a random sample of all rows is a stratified one [1]_.

    References
    ----------
    .. [1] Holt & Smith, Post stratification, JRSS A 142, 1979.

    Examples
    --------
    >>> records = {"stratum": ["a", "b"] * 10, "value": [3, None, 5, 10, 4, 12, 3, 11, 5, 9, *[None] * 9, 8]}
    >>> strata, found = estimate_records(records, value="value", bounds=(0, 20))
    >>> print(found.headline())
    Total 140.0, 95% interval 86.2 to 213.7; mean 7.00, 95% interval 4.31 to 10.68; 10 labels of 20 items, 2 strata
    """
    names = frames.column_names(records)
    one = stratum == "stratum" and spelled(stratum, names) not in names
    data, notes = frames.read_columns(records, [value] if one else [stratum, value])
    missing, words = missing_labels(data[value], None)
    labeled = np.flatnonzero(~missing)
    if labeled.size < 2:
        rows = checks.counted(labeled.size, "row")
        raise ValueError(f"column {value!r} has a value in {rows}: at least 2 are needed")
    cells = np.array(data[value], copy=True)
    cells[missing] = cells[labeled[0]]
    values = numbers.to_numbers(value, cells)[labeled]
    texts = [ALL] * missing.size if one else [text or NO_STRATUM for text in numbers.as_text(data[stratum])]
    strata, code, joined = _joined(np.array(texts), labeled)
    size, sampled = np.bincount(code), np.bincount(code[labeled])
    summary = StratumSummary(strata, size, np.zeros(size.size), np.zeros(size.size))
    shown = checks.listed(words, quoted=True)
    more = [Note("data", f"in column {value!r}, {shown} is read as no value")] if words else []
    premise, note = _sample_words(strata, size, sampled)
    found = estimate_values(summary, strata[code[labeled]], values, bounds=bounds,
                            notes=[*notes, note, *more, *joined])
    strata_of_values = StratumSummary(strata, size, found.mean, found.sd, notes=notes)
    return strata_of_values, replace(found, planned_sd=found.sd, premise=premise)


def _joined(texts: np.ndarray, labeled: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Note]]:
    """Return the names of strata, the stratum of each row, and a note where strata with few values are joined."""
    names, code = np.unique(texts, return_inverse=True)
    size, sampled = np.bincount(code), np.bincount(code[labeled], minlength=names.size)
    unseen = (sampled == 0) & (names.size * (1 - size / code.size) ** labeled.size < IMPOSSIBLE)
    if unseen.any():
        raise ValueError(f"no row of stratum {checks.listed(names[unseen].tolist(), quoted=True)} has a value, of "
                         f"{int(size[unseen].sum()):,} rows: the rows with a value are not a random sample of the "
                         "file. Add values there, or leave these rows out of the file if they are not the question")
    few = (sampled < np.minimum(LEAST_VALUES, size))
    if not few.any() or names.size == 1:
        return names, code, []
    if sampled[few].sum() < LEAST_VALUES and not few.all():
        few[np.flatnonzero(~few)[sampled[~few].argmin()]] = True
    together = " + ".join(names[few].tolist()) if few.sum() <= 3 else f"{int(few.sum())} strata with few values"
    note = Note("design", f"strata with fewer than {LEAST_VALUES} values were joined: "
                f"{checks.listed(names[few].tolist(), 5, quoted=True)}")
    new_names, new_code = np.unique(np.where(few, together, names)[code], return_inverse=True)
    return new_names, new_code, [note]


def _sample_words(strata: np.ndarray, size: np.ndarray, sampled: np.ndarray) -> tuple[str, Note]:
    """Return the sentence that comes before the finding, and a note on what it assumes."""
    rows = f"the {int(sampled.sum()):,} rows with a value"
    where = "the rows of each stratum" if size.size > 1 else f"all {int(size.sum()):,} rows"
    assumed = (f"no plan drew the values: {rows} are taken for a random sample of {where}. If rows were chosen because "
               "they are large or suspicious, the result is wrong")
    count_of = scipy.stats.hypergeom(int(size.sum()), size, int(sampled.sum()))
    tail = np.minimum(count_of.cdf(sampled), count_of.sf(sampled - 1))
    most = int(tail.argmin())
    if size.size > 1 and 2 * size.size * tail[most] < UNLIKE:
        sample, rows_of = digits.percents(sampled[most] / sampled.sum(), size[most] / size.sum())
        assumed += (f". They are no random sample of the whole file: {sample} of them are of stratum {strata[most]}, "
                    f"{rows_of} of all rows; each stratum counts as it is in the file")
    return f"This takes {rows} for a random sample of {where}. ", Note("assumption", assumed)
