"""Sheets of values: what was filled in, matched to the records that were drawn, and the sheet that goes on.

A record's place in its stratum is the order of `workbench.sample`: the first m of a stratum are a random sample of m.
"""
from __future__ import annotations

import os
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.allocation import samples
from workbench.allocation.samples import FrameSample, StratumSummary
from workbench.data import frames, label_sheets, numbers
from workbench.results import Note, Result

HEADER = ("id", "stratum", "value")
SPARE = 20
SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class ValueLabels(Result):
    """What a filled sheet says; made by `read_value_sheet`.

    Attributes
    ----------
    id, stratum : (n,) array of str
        Of the filled rows, as the sheet and the strata name them.
    values : (n,) array of float
    place : (n,) array of int
        In its stratum's random order; of a sheet whose records are not known, its order in the sheet.
    begun : (H,) array of int
        How far into its order each stratum was begun: filled rows, and those left empty among them.
    strata : tuple of str
    """

    id: np.ndarray
    stratum: np.ndarray
    values: np.ndarray
    place: np.ndarray
    begun: np.ndarray
    strata: tuple

    def headline(self) -> str:
        """Return how many values there are."""
        return f"{checks.counted(self.values.size, 'value')} in {checks.counted(len(self.strata), 'stratum', 'strata')}"

    def rows(self) -> list[dict]:
        """Return one row per filled row: id, stratum, value."""
        return [dict(zip(HEADER, row, strict=True)) for row in
                zip(self.id.tolist(), self.stratum.tolist(), self.values.tolist(), strict=True)]


def read_value_sheet(labels: str | PathLike[str], strata: StratumSummary, *, records: Any = None,
                     stratum: str = "stratum", id: str = "id", seed: int = 0) -> ValueLabels:
    """Read a filled sheet with the columns id, stratum and value; every row is counted, or said to be left out.

    Parameters
    ----------
    labels : str or path
        The sheet, as `workbench.draw_rows` wrote it or as a spreadsheet saved it.
    strata : StratumSummary
        Of the population.
    records : str or data frame, optional
        What the sheet was drawn from: ids that the seed does not draw are then left out, with a note. Without it the
        sheet's own strata are believed.
    stratum, id : str
        Columns of the records.
    seed : int
        That drew the sheet.

    Returns
    -------
    ValueLabels

    Raises
    ------
    ValueError
        For a cell that is no number, an id with two different values, a stratum that is not that of the record, or a
        sheet of which the seed draws less than half; names the rows, the header being the first.
    """
    columns, notes = frames.read_columns(labels, HEADER)
    ids, names = (_texts(columns[name]) for name in ("id", "stratum"))
    cells = numbers.as_text(columns["value"])
    values = numbers.to_numbers("value", numbers.objects([cell or "0" for cell in cells]))
    _refuse_missing(ids, names, cells)
    values[[not cell for cell in cells]] = np.nan
    kept, repeated = _once(ids, values)
    known = [str(name) for name in strata.stratum.tolist()]
    if records is None:
        code, place, unknown, zeros = _as_written(names, kept, known), None, [], []
    else:
        code, place, unknown, zeros = _as_drawn([ids[k] for k in kept], strata, records, stratum, id, seed)
        _refuse_other_strata(ids, names, kept, code, known)
        kept, code, place = (np.array(each, np.int64)[np.array(code) >= 0] for each in (kept, code, place))
    kept, code = np.array(kept, np.int64), np.array(code, np.int64)
    place = _order(code) if place is None else place
    filled = np.isfinite(values[kept])
    begun = np.zeros(len(known), np.int64)
    np.maximum.at(begun, code[filled], place[filled] + 1)
    kept = kept[filled]
    said = [*notes, *_notes(repeated, unknown, zeros, seed, len(kept), begun, cells)]
    return ValueLabels(np.array([ids[k] for k in kept], str), np.array(known)[code[filled]], values[kept],
                       place[filled], begun, tuple(known), notes=said)


def write_next_sheet(path: str | PathLike[str], found: ValueLabels, drawn: FrameSample) -> None:
    """Write the sheet that goes on: what was filled in, and the drawn records that have no value yet.

    Parameters
    ----------
    path : str or path
        A CSV file. One in which something else was filled in is never overwritten.
    found : ValueLabels
    drawn : FrameSample
        The records with those still to come.
    """
    refuse_lost(path, found, drawn)
    rows = [(item, name, "" if value is None else int(value) if value.is_integer() else value)
            for item, name, value in _next_rows(found, drawn)]
    label_sheets.write_rows(path, HEADER, sorted(rows, key=lambda row: row[2] == ""))


def refuse_lost(path: str | PathLike[str], found: ValueLabels, drawn: FrameSample) -> None:
    """Raise if a file at `path` holds a value that `write_next_sheet` would not write again."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return
    try:
        columns, _ = frames.read_columns(path, HEADER)
    except frames.NoRowsError:
        return
    except ValueError as error:
        raise ValueError(f"{str(path)!r} exists and is not a label sheet ({error}); choose another path") from None
    known = {item: value for item, _, value in _next_rows(found, drawn)}
    cells = zip(_texts(columns["id"]), numbers.as_text(columns["value"]), strict=True)
    lost = [name for name, cell in cells if cell and _number(cell) != known.get(_plain(name))]
    if lost:
        raise ValueError(f"{str(path)!r} already holds {checks.counted(len(lost), 'value')} that the sheet of labels "
                         "does not, and is not overwritten; choose another path, or move the file away")


def _next_rows(found, drawn):
    """Return id, stratum and value, None where there is none yet, of what was drawn, in the order of labeling."""
    keys = zip(found.stratum.tolist(), found.place.tolist(), strict=True)
    filled = dict(zip(keys, found.values.tolist(), strict=True))
    place = _places(drawn)
    return [(str(drawn.id[k]), str(drawn.stratum[k]), filled.get((str(drawn.stratum[k]), int(place[k]))))
            for k in labeling_order(drawn)]


def labeling_order(drawn: FrameSample) -> np.ndarray:
    """Return the drawn rows in an order of which any beginning is spread over the strata, (n,) array of int.

    First one of each stratum, then a second one, then in proportion to what was drawn.
    """
    place = _places(drawn)
    share = (place + 0.5) / drawn.drawn[drawn.stratum_index]
    return np.lexsort((drawn.stratum_index, np.where(place < 2, 0, share), np.minimum(place, 2)))


def _places(drawn):
    """Return the place of each drawn row in the random order of its stratum."""
    return np.arange(drawn.id.size) - (np.cumsum(drawn.drawn) - drawn.drawn)[drawn.stratum_index]


def _texts(column):
    """Return cells as text; a spreadsheet that keeps numbers shows whole ones without a point."""
    return numbers.as_text(numbers.objects([int(cell) if isinstance(cell, float) and cell.is_integer() else cell
                                            for cell in np.asarray(column).tolist()]))


def _refuse_missing(ids, names, cells):
    for column, what in ((ids, "id"), (names, "stratum")):
        row = next((k for k, cell in enumerate(column) if not cell and cells[k]), None)
        if row is not None:
            raise ValueError(f"row {row + 2} of the sheet has the value {cells[row]} and no {what}")


def _once(ids, values):
    """Return the rows that count, one per id, and the ids that stand in several rows with values that are alike."""
    first, repeated = {}, []
    for row, name in enumerate(ids):
        before = first.setdefault(name, row) if name else row
        if not name or before == row or np.isnan(values[row]):
            continue
        if np.isfinite(values[before]) and values[before] != values[row]:
            raise ValueError(f"id {name!r} has the value {values[before]:.15g} in row {before + 2} of the sheet and "
                             f"{values[row]:.15g} in row {row + 2}; keep one of them")
        repeated += [name] if np.isfinite(values[before]) else []
        first[name] = row
    return sorted(first.values()), repeated


def _as_written(names, kept, known):
    place = {name: k for k, name in enumerate(known)}
    wrong = next((row for row in kept if names[row] not in place), None)
    if wrong is not None:
        raise ValueError(f"row {wrong + 2} of the sheet has stratum {names[wrong]!r}; the strata are "
                         f"{checks.listed(known, SHOWN, quoted=True)}{checks.suggestion(names[wrong], known)}")
    return [place[names[row]] for row in kept]


def _as_drawn(ids, strata, records, stratum, id, seed):
    """Return stratum, -1 for an id that was not drawn, and place in its order of each id; and what was not drawn."""
    most = np.minimum(strata.size, 2 * len(ids) + SPARE)
    wanted = dict(zip(strata.stratum.tolist(), most.tolist(), strict=True))
    drawn = samples.sample(records, stratum, wanted, id=id, seed=seed)
    starts = np.cumsum(drawn.drawn) - drawn.drawn
    row = {str(item): k for k, item in enumerate(drawn.id.tolist())}
    found = np.array([row.get(name, row.get(_plain(name), -1)) for name in ids], np.int64)
    zeros = _without_zeros(ids, found, row)
    unknown = [name for name, k in zip(ids, found, strict=True) if k < 0]
    code = np.where(found < 0, -1, drawn.stratum_index[found])
    place = found - starts[code]
    _refuse_other_draws(ids, (code >= 0) & (place < np.bincount(code[code >= 0], minlength=starts.size)[code]), seed)
    return code.tolist(), place.tolist(), unknown, zeros


def _refuse_other_draws(ids, first, seed):
    """Raise unless most ids are the first ones of their stratum's order, as those of a sheet are."""
    if first.sum() < len(ids) / 2:
        raise ValueError(f"labels must be of the records that were drawn; seed {seed} draws only {first.sum()} of the "
                         f"{checks.counted(len(ids), 'id')} of the sheet, not {ids[int(np.argmin(first))]!r}: give the "
                         "file, columns and seed of the plan")


def _without_zeros(ids, found, row):
    """Find ids whose leading zeros a spreadsheet removed, where only one drawn id is meant; return them."""
    meant: dict = {}
    for name, k in row.items():
        meant.setdefault(name.lstrip("0"), []).append(k)
    lost = [k for k, name in enumerate(ids) if found[k] < 0 and name.isdigit() and len(meant.get(name, ())) == 1]
    for k in lost:
        found[k], = meant[ids[k]]
    return [ids[k] for k in lost]


def _refuse_other_strata(ids, names, kept, code, known):
    for row, k in zip(kept, code, strict=True):
        if k >= 0 and names[row] and names[row] not in (known[k], "'" + known[k]):
            raise ValueError(f"id {ids[row]!r} has stratum {names[row]!r} in row {row + 2} of the sheet and "
                             f"{known[k]!r} among the records; sort whole rows, not one column")


def _order(code):
    """Return how many rows of the same stratum stand before each row."""
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], code[order])
    place = np.empty(code.size, np.int64)
    place[order] = np.arange(code.size) - starts
    return place


def _plain(text):
    """Return a cell without the apostrophe that keeps a spreadsheet from executing it."""
    return text.removeprefix("'")


def _notes(repeated, unknown, zeros, seed, filled, begun, cells):
    """Yield what became of every row that is not a value."""
    empty = sum(not cell for cell in cells)
    if unknown:
        yield Note("refused", f"{checks.counted(len(unknown), 'id')} of the sheet not among the records that seed "
                   f"{seed} draws, left out: {checks.listed(unknown, SHOWN, quoted=True)}")
    if zeros:
        yield Note("data", f"{checks.counted(len(zeros), 'id')} without leading zeros, as spreadsheets show them, "
                   f"matched to the one drawn id that is meant: {checks.listed(zeros, SHOWN, quoted=True)}")
    if repeated:
        yield Note("data", f"{checks.counted(len(repeated), 'row repeats', 'rows repeat')} an id with the same value, "
                   f"counted once: {checks.listed(dict.fromkeys(repeated), SHOWN, quoted=True)}")
    skipped = int(begun.sum()) - filled
    if skipped:
        yield Note("unreliable", f"{checks.counted(skipped, 'item was', 'items were')} passed over before the last "
                   "filled ones: the estimate holds if their values are like the others'")
    if empty:
        yield Note("data", f"{checks.counted(empty, 'row')} of the sheet without a value: not counted")


def _number(cell):
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None
