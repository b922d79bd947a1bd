"""Sheets of values: read what was filled in, and write the sheet that goes on.

`read_value_sheet` matches the values to the sampled records. A record's place in its stratum is the
order of `workbench.sample`: the first m of a stratum are a random sample of m.
"""

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.allocation import samples
from workbench.allocation.rules import ranks_among_equals
from workbench.allocation.samples import FrameSample, StratumSummary
from workbench.data import numbers, safe_csv
from workbench.labeling import tables
from workbench.labeling.ids import changed_ids, changed_notes
from workbench.results import Note, Result

HEADER = ("id", "stratum", "value")
SHOWN = 5
Path = str | PathLike[str]


class ValueLabels(Result):
    """The values of a filled sheet; made by `read_value_sheet`.

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

    id: ndarray
    stratum: ndarray
    values: ndarray
    place: ndarray
    begun: ndarray
    strata: tuple

    def headline(self) -> str:
        """Return how many values there are."""
        strata = checks.counted(len(self.strata), "stratum", "strata")
        return f"{checks.counted(self.values.size, 'value')} in {strata}"

    def rows(self) -> list[dict]:
        """Return one row per filled row: id, stratum, value."""
        return samples.rows_of(
            id=self.id,
            stratum=self.stratum,
            value=self.values,
        )


def read_value_sheet(
    labels: Path,
    strata: StratumSummary,
    *,
    records: Any = None,
    stratum: str = "stratum",
    id: str = "id",
    seed: int = 0,
) -> ValueLabels:
    """Read a filled sheet with the columns id, stratum and value.

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
    names = [str(name) for name in strata.stratum.tolist()]
    values = _values(table)
    ids = table.ids
    changed = {}
    if records is None:
        rows, repeated = _rows_that_count(ids, values, table.rows)
        code, rank = _written(table, rows, names)
        is_drawn = np.ones(len(rows), bool)
    else:
        items = len({*ids} - {""})
        most = np.minimum(strata.size, 2 * items + 20)
        sizes = dict(zip(strata.stratum.tolist(), most.tolist(), strict=True))
        drawn = samples.sample(records, stratum, sizes, id=id, seed=seed)
        changed = changed_ids(ids, map(str, drawn.id.tolist()))
        ids = [changed.get(name, name) for name in ids]
        rows, repeated = _rows_that_count(ids, values, table.rows)
        ids_of_rows = [ids[row] for row in rows]
        is_drawn, code, rank = _drawn(ids_of_rows, drawn, seed)
        _refuse_other_strata(table, rows[is_drawn], [names[k] for k in code])
    unknown = [ids[row] for row in rows[~is_drawn]]
    rows = rows[is_drawn]
    filled = np.isfinite(values[rows])
    rows = rows[filled]
    code = code[filled]
    rank = rank[filled]
    begun = np.zeros(len(names), int)
    np.maximum.at(begun, code, rank + 1)
    skipped = begun.sum() - len(rows)
    empty = table.columns["value"].count("")
    notes = [*table.notes, *changed_notes(changed)]
    notes += _notes(repeated, unknown, seed, skipped, empty)
    return ValueLabels(
        np.array(ids, str)[rows],
        np.array(names)[code],
        values[rows],
        rank,
        begun,
        tuple(names),
        notes=notes,
    )


def write_next_sheet(
    path: Path,
    labels: ValueLabels,
    drawn: FrameSample,
) -> None:
    """Write the sheet that goes on: the filled rows, and the sampled records without a value.

    Parameters
    ----------
    path : str or path
        A CSV file. A file with other values is never overwritten.
    labels : ValueLabels
    drawn : FrameSample
        The records with those still to come.
    """
    refuse_lost(path, labels, drawn)
    rows = []
    for id, stratum, value in _next_rows(labels, drawn):
        if value is None:
            value = ""
        elif value.is_integer():
            value = int(value)
        rows.append((id, stratum, value))
    rows.sort(key=lambda row: row[2] == "")
    safe_csv.write_rows(path, HEADER, rows)


def refuse_lost(path: Path, labels: ValueLabels, drawn: FrameSample) -> None:
    """Raise if a file at `path` holds a value that `write_next_sheet` would not write again."""
    table = safe_csv.of_sheet(path, lambda path: tables.read_table(path, HEADER))
    if table is None:
        return
    value_of = {id: value for id, _, value in _next_rows(labels, drawn)}
    cells = zip(table.ids, table.columns["value"], strict=True)
    filled = [(id, cell) for id, cell in cells if cell]
    lost = sum(_number(cell) != value_of.get(id) for id, cell in filled)
    if lost:
        raise ValueError(
            f"{str(path)!r} already holds {checks.counted(lost, 'value')} that the sheet of labels "
            "does not, and is not overwritten; choose another path, or move the file away"
        )


def _next_rows(labels: ValueLabels, drawn: FrameSample) -> list:
    """Return id, stratum and value or None of the sampled records, in the order of labeling."""
    keys = zip(labels.stratum.tolist(), labels.place.tolist(), strict=True)
    value_of = dict(zip(keys, labels.values.tolist(), strict=True))
    ids = drawn.id.tolist()
    strata = drawn.stratum.tolist()
    ranks = ranks_among_equals(drawn.stratum_index).tolist()
    rows = []
    for k in labeling_order(drawn).tolist():
        stratum = str(strata[k])
        value = value_of.get((stratum, ranks[k]))
        rows.append((str(ids[k]), stratum, value))
    return rows


def labeling_order(drawn: FrameSample) -> ndarray:
    """Return an order of the sampled rows of which any beginning is spread over the strata.

    First one of each stratum, then a second one, then in proportion to the sample.
    """
    rank = ranks_among_equals(drawn.stratum_index)
    share = (rank + 0.5) / drawn.drawn[drawn.stratum_index]
    share[rank < 2] = 0
    return np.lexsort((drawn.stratum_index, share, np.minimum(rank, 2)))


def _values(table: tables.SheetTable) -> ndarray:
    """Return the values, NaN for an empty cell, or raise where one has no id or no stratum."""
    cells = table.columns["value"]
    try:
        values = numbers.to_numbers("value", numbers.objects([cell or "0" for cell in cells]))
    except numbers.RowError as error:
        raise ValueError(error.said(lambda row: f"row {table.rows[row]}")) from None
    for name in ("id", "stratum"):
        for row, other, cell in zip(table.rows, table.columns[name], cells, strict=True):
            if cell and not other:
                raise ValueError(f"row {row} of the sheet has the value {cell} and no {name}")
    return np.where([bool(cell) for cell in cells], values, np.nan)


def _rows_that_count(
    ids: list[str],
    values: ndarray,
    numbers: Sequence[int],
) -> tuple:
    """Return the rows that count, one per id, and the ids with the same value in several rows."""
    row_of: dict[str, int] = {}
    repeated = []
    for row, name in enumerate(ids):
        if not name:
            continue
        before = row_of.setdefault(name, row)
        if before == row or np.isnan(values[row]):
            continue
        if np.isfinite(values[before]):
            if values[before] != values[row]:
                first = f"{values[before]:.15g} in row {numbers[before]}"
                second = f"{values[row]:.15g} in row {numbers[row]}"
                raise ValueError(
                    f"id {name!r} has the value {first} of the sheet and {second}; keep one of them"
                )
            repeated.append(name)
        row_of[name] = row
    return np.array(sorted(row_of.values()), int), repeated


def _written(
    table: tables.SheetTable,
    rows: ndarray,
    names: list[str],
) -> tuple:
    """Return the stratum that the sheet gives to each row, and its rank among those of it."""
    strata = [table.columns["stratum"][row] for row in rows]
    for row, name in zip(rows, strata, strict=True):
        if name not in names:
            listed = checks.listed(names, SHOWN, quoted=True) + checks.suggestion(name, names)
            raise ValueError(
                f"row {table.rows[row]} of the sheet has stratum {name!r}; the strata are {listed}"
            )
    code = np.array([names.index(name) for name in strata], int)
    rank = [strata[:k].count(name) for k, name in enumerate(strata)]
    return code, np.array(rank, int)


def _drawn(ids: list[str], drawn: FrameSample, seed: int) -> tuple:
    """Return which ids were sampled, and the stratum and the rank in its order of these."""
    index_of = {str(item): k for k, item in enumerate(drawn.id.tolist())}
    is_drawn = np.array([name in index_of for name in ids], bool)
    index = [index_of[name] for name in ids if name in index_of]
    code = drawn.stratum_index[index]
    rank = ranks_among_equals(drawn.stratum_index)[index]
    in_stratum = np.bincount(code, minlength=drawn.drawn.size)
    is_first = is_drawn.copy()
    is_first[is_drawn] = rank < in_stratum[code]
    if is_first.sum() < len(ids) / 2:  # a sheet of another draw
        strange = ids[np.argmin(is_first)]
        count = f"{is_first.sum()} of the {checks.counted(len(ids), 'id')}"
        raise checks.WrongValue(
            "labels",
            f"must be of the records that were drawn; seed {seed} draws only {count} of the "
            f"sheet, not {strange!r}: give the file, columns and seed of the plan",
        )
    return is_drawn, code, rank


def _refuse_other_strata(
    table: tables.SheetTable,
    rows: ndarray,
    strata: list[str],
) -> None:
    for row, stratum in zip(rows, strata, strict=True):
        name = table.columns["stratum"][row]
        if name not in ("", stratum, "'" + stratum):
            raise ValueError(
                f"id {table.ids[row]!r} has stratum {name!r} in row {table.rows[row]} of the sheet "
                f"and {stratum!r} among the records; sort whole rows, not one column"
            )


def _notes(
    repeated: list[str],
    unknown: list[str],
    seed: int,
    skipped: int,
    empty: int,
) -> Iterator[Note]:
    """Yield a note on every kind of row that is not counted."""
    if unknown:
        count = checks.counted(len(unknown), "id")
        ids = checks.listed(unknown, SHOWN, quoted=True)
        yield Note(
            "refused",
            f"{count} of the sheet not among the records that seed {seed} draws, left out: {ids}",
        )
    if repeated:
        rows = checks.counted(len(repeated), "row repeats", "rows repeat")
        ids = checks.listed(dict.fromkeys(repeated), SHOWN, quoted=True)
        yield Note("data", f"{rows} an id with the same value, counted once: {ids}")
    if skipped:
        yield Note(
            "unreliable",
            f"{checks.counted(skipped, 'item was', 'items were')} passed over before the last "
            "filled ones: the estimate holds if their values are like the others'",
        )
    if empty:
        rows = checks.counted(empty, "row")
        yield Note("data", f"{rows} of the sheet without a value: not counted")


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None
