"""Sheets of values: what was filled in, matched to the records that were drawn, and the sheet that goes on.

A record's place in its stratum is the order of `workbench.sample`: the first m of a stratum are a
random sample of m.
"""

from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np

from workbench import checks
from workbench.allocation import samples
from workbench.allocation.samples import FrameSample, StratumSummary
from workbench.data import numbers, safe_csv
from workbench.labeling import tables
from workbench.labeling.ids import changed_ids, changed_notes
from workbench.results import Note, Result

HEADER = ("id", "stratum", "value")
SHOWN = 5


class ValueLabels(Result):
    """What a filled sheet says; made by `read_value_sheet`.

    Attributes
    ----------
    id, stratum : (n,) array of str
        Of the filled rows, as the sheet and the strata name them.
    values : (n,) array of float
    place : (n,) array of int
        In its stratum's random order; of a sheet whose records are not known, its order in the
        sheet.
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
        return samples.rows_of(id=self.id, stratum=self.stratum, value=self.values)


def read_value_sheet(
    labels: str | PathLike[str],
    strata: StratumSummary,
    *,
    records: Any = None,
    stratum: str = "stratum",
    id: str = "id",
    seed: int = 0,
) -> ValueLabels:
    """Read a filled sheet with the columns id, stratum and value; every row is counted, or said to be left out.

    Parameters
    ----------
    labels : str or path
        The sheet, as `workbench.draw_rows` wrote it or as a spreadsheet saved it.
    strata : StratumSummary
        Of the population.
    records : str or data frame, optional
        What the sheet was drawn from: ids that the seed does not draw are then left out, with a
        note. Without it the sheet's own strata are believed.
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
        For a cell that is no number, an id with two different values, a stratum that is not that of
        the record, or a sheet of which the seed draws less than half; names the rows, the header
        being the first.
    """
    table = tables.read_table(labels, HEADER)
    ids, rows, cells = table.ids, table.rows, table.columns["value"]
    values = _values(table)
    known = [str(name) for name in strata.stratum.tolist()]
    drawn, changed, unknown = None, {}, []
    if records is not None:
        drawn = _drawn(len({*ids} - {""}), strata, records, stratum, id, seed)
        changed = changed_ids(ids, map(str, drawn.id.tolist()))
        ids = [changed.get(name, name) for name in ids]
    kept, repeated = _once(ids, values, rows)
    if drawn is None:
        code = _as_written(table, kept, known)
        place = _order(code)
    else:
        code, place = _as_drawn([ids[k] for k in kept], drawn, seed)
        unknown = [ids[k] for k in kept[code < 0]]
        kept, code, place = (array[code >= 0] for array in (kept, code, place))
        _refuse_other_strata(table, kept, code, known)
    filled = np.isfinite(values[kept])
    begun = np.zeros(len(known), np.int64)
    np.maximum.at(begun, code[filled], place[filled] + 1)
    kept = kept[filled]
    notes = [
        *table.notes,
        *changed_notes(changed),
        *_notes(repeated, unknown, seed, len(kept), begun, cells),
    ]
    return ValueLabels(
        np.array([ids[k] for k in kept], str),
        np.array(known)[code[filled]],
        values[kept],
        place[filled],
        begun,
        tuple(known),
        notes=notes,
    )


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
    rows = [
        (item, name, "" if value is None else int(value) if value.is_integer() else value)
        for item, name, value in _next_rows(found, drawn)
    ]
    rows.sort(key=lambda row: row[2] == "")
    safe_csv.write_rows(path, HEADER, rows)


def refuse_lost(path: str | PathLike[str], found: ValueLabels, drawn: FrameSample) -> None:
    """Raise if a file at `path` holds a value that `write_next_sheet` would not write again."""
    table = safe_csv.of_sheet(path, lambda path: tables.read_table(path, HEADER))
    if table is None:
        return
    known = {item: value for item, _, value in _next_rows(found, drawn)}
    lost = [
        name
        for name, cell in zip(table.ids, table.columns["value"], strict=True)
        if cell and _number(cell) != known.get(name)
    ]
    if lost:
        raise ValueError(
            f"{str(path)!r} already holds {checks.counted(len(lost), 'value')} that the sheet of labels "
            "does not, and is not overwritten; choose another path, or move the file away"
        )


def _next_rows(found: ValueLabels, drawn: FrameSample) -> list:
    """Return id, stratum and value, None where there is none yet, of what was drawn, in the order of labeling."""
    keys = zip(found.stratum.tolist(), found.place.tolist(), strict=True)
    filled = dict(zip(keys, found.values.tolist(), strict=True))
    place = _places(drawn)
    return [
        (
            str(drawn.id[k]),
            str(drawn.stratum[k]),
            filled.get((str(drawn.stratum[k]), int(place[k]))),
        )
        for k in labeling_order(drawn)
    ]


def labeling_order(drawn: FrameSample) -> np.ndarray:
    """Return the drawn rows in an order of which any beginning is spread over the strata, (n,) array of int.

    First one of each stratum, then a second one, then in proportion to what was drawn.
    """
    place = _places(drawn)
    share = (place + 0.5) / drawn.drawn[drawn.stratum_index]
    return np.lexsort((drawn.stratum_index, np.where(place < 2, 0, share), np.minimum(place, 2)))


def _places(drawn: FrameSample) -> np.ndarray:
    """Return the place of each drawn row in the random order of its stratum."""
    return np.arange(drawn.id.size) - (np.cumsum(drawn.drawn) - drawn.drawn)[drawn.stratum_index]


def _values(table: tables.SheetTable) -> np.ndarray:
    """Return the column `value`, NaN for an empty cell, or raise where one has no id or no stratum."""
    cells = table.columns["value"]
    try:
        values = numbers.to_numbers("value", numbers.objects([cell or "0" for cell in cells]))
    except numbers.RowError as error:
        raise ValueError(error.said(lambda place: f"row {table.rows[place]}")) from None
    for name in ("id", "stratum"):
        for row, beside, cell in zip(table.rows, table.columns[name], cells, strict=True):
            if cell and not beside:
                raise ValueError(f"row {row} of the sheet has the value {cell} and no {name}")
    values[[not cell for cell in cells]] = np.nan
    return values


def _once(ids: list[str], values: np.ndarray, rows: list[int]) -> tuple[np.ndarray, list[str]]:
    """Return the rows that count, one per id, and the ids that stand in several rows with values that are alike."""
    first: dict[Any, int] = {}
    repeated = []
    for row, name in enumerate(ids):
        before = first.setdefault(name, row) if name else row
        if not name or before == row or np.isnan(values[row]):
            continue
        if np.isfinite(values[before]) and values[before] != values[row]:
            raise ValueError(
                f"id {name!r} has the value {values[before]:.15g} in row {rows[before]} of the sheet and "
                f"{values[row]:.15g} in row {rows[row]}; keep one of them"
            )
        repeated += [name] if np.isfinite(values[before]) else []
        first[name] = row
    return np.array(sorted(first.values()), np.int64), repeated


def _as_written(table: tables.SheetTable, kept: np.ndarray, known: list[str]) -> np.ndarray:
    """Return the stratum that the sheet gives to each kept row."""
    code = {name: k for k, name in enumerate(known)}
    names = table.columns["stratum"]
    for wrong in [k for k in kept if names[k] not in code][:1]:
        raise ValueError(
            f"row {table.rows[wrong]} of the sheet has stratum {names[wrong]!r}; the strata are "
            f"{checks.listed(known, SHOWN, quoted=True)}{checks.suggestion(names[wrong], known)}"
        )
    return np.array([code[names[k]] for k in kept], np.int64)


def _drawn(
    size: int, strata: StratumSummary, records: Any, stratum: str, id: str, seed: int
) -> FrameSample:
    """Return more records than the sheet of `size` ids may hold, in each stratum in its random order."""
    wanted = dict(
        zip(strata.stratum.tolist(), np.minimum(strata.size, 2 * size + 20).tolist(), strict=True)
    )
    return samples.sample(records, stratum, wanted, id=id, seed=seed)


def _as_drawn(ids: list[str], drawn: FrameSample, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return stratum, -1 for an id that was not drawn, and place in its order of each id."""
    position_of = {str(item): k for k, item in enumerate(drawn.id.tolist())}
    positions = np.array([position_of.get(name, -1) for name in ids], np.int64)
    code = np.where(positions < 0, -1, drawn.stratum_index[positions])
    place = np.where(positions < 0, -1, _places(drawn)[positions])
    first = (code >= 0) & (place < np.bincount(code[code >= 0], minlength=drawn.drawn.size)[code])
    if (
        first.sum() < len(ids) / 2
    ):  # most are not the first in their stratum's order: the sheet of another draw
        raise checks.WrongValue(
            "labels",
            f"must be of the records that were drawn; seed {seed} draws only "
            f"{first.sum()} of the {checks.counted(len(ids), 'id')} of the sheet, not "
            f"{ids[int(np.argmin(first))]!r}: give the file, columns and seed of the plan",
        )
    return code, place


def _refuse_other_strata(
    table: tables.SheetTable, kept: np.ndarray, code: np.ndarray, known: list[str]
) -> None:
    for row, stratum in zip(kept.tolist(), code.tolist(), strict=True):
        name = table.columns["stratum"][row]
        if name and name not in (known[stratum], "'" + known[stratum]):
            raise ValueError(
                f"id {table.ids[row]!r} has stratum {name!r} in row {table.rows[row]} of the sheet and "
                f"{known[stratum]!r} among the records; sort whole rows, not one column"
            )


def _order(code: np.ndarray) -> np.ndarray:
    """Return how many rows of the same stratum stand before each row."""
    order = np.argsort(code, kind="stable")
    place = np.empty(code.size, np.int64)
    place[order] = np.arange(code.size) - np.searchsorted(code[order], code[order])
    return place


def _notes(
    repeated: list[str],
    unknown: list[str],
    seed: int,
    filled: int,
    begun: np.ndarray,
    cells: list[str],
) -> Iterator[Note]:
    """Yield what became of every row that is not a value."""
    empty = sum(not cell for cell in cells)
    if unknown:
        yield Note(
            "refused",
            f"{checks.counted(len(unknown), 'id')} of the sheet not among the records that seed "
            f"{seed} draws, left out: {checks.listed(unknown, SHOWN, quoted=True)}",
        )
    if repeated:
        yield Note(
            "data",
            f"{checks.counted(len(repeated), 'row repeats', 'rows repeat')} an id with the same value, "
            f"counted once: {checks.listed(dict.fromkeys(repeated), SHOWN, quoted=True)}",
        )
    skipped = int(begun.sum()) - filled
    if skipped:
        yield Note(
            "unreliable",
            f"{checks.counted(skipped, 'item was', 'items were')} passed over before the last "
            "filled ones: the estimate holds if their values are like the others'",
        )
    if empty:
        yield Note(
            "data", f"{checks.counted(empty, 'row')} of the sheet without a value: not counted"
        )


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None
