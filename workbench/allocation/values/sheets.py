"""Annotation sheets with values: read the filled rows, and write the next sheet.

`read_value_sheet` matches the values to the sampled records. Within a stratum, records have the
order of `workbench.sample`, so the first m of them are a random sample of m records.
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
    """The values of a filled annotation sheet.

    `draw_rows` writes the empty sheet. The report on allocation reads the filled sheet into this
    result.

    Attributes
    ----------
    id : (n,) array of str
        Identifiers of the filled rows.
    stratum : (n,) array of str
        Stratum of each filled row.
    values : (n,) array of float
        Value of each filled row.
    place : (n,) array of int
        Position of the row in the random order of its stratum, from 0. If the records are not
        known, it is the order in the sheet.
    begun : (H,) array of int
        Rows per stratum up to the last filled one, including rows left empty before it.
    strata : tuple of str
        Names of all strata.

    See Also
    --------
    draw_rows : Sample the records that a plan asks for, and write an annotation sheet for them.
    estimate_values : Estimate mean and total from the values of a stratified sample.
    """

    id: ndarray
    stratum: ndarray
    values: ndarray
    place: ndarray
    begun: ndarray
    strata: tuple

    def headline(self) -> str:
        """Return the number of values and strata."""
        strata = checks.counted(len(self.strata), "stratum", "strata")
        return f"{checks.counted(self.values.size, 'value')} in {strata}"

    def rows(self) -> list[dict]:
        """Return one row per filled row of the sheet: id, stratum and value."""
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
    """Read a filled annotation sheet with the columns id, stratum and value.

    Parameters
    ----------
    labels : str or path
        Sheet that `workbench.draw_rows` wrote, possibly saved by a spreadsheet program.
    strata : StratumSummary
        Strata of the population.
    records : str or data frame, optional
        Records from which the sheet was sampled. Ids that the seed does not sample are then left
        out, and a note names them. Without records, the strata in the sheet are used unchecked.
    stratum, id : str
        Columns of the records.
    seed : int
        Seed with which the sheet was sampled.

    Returns
    -------
    ValueLabels
        Values of the filled rows.

    Raises
    ------
    ValueError
        If a cell is not a number, an id has two different values, or a stratum is not that of the
        record. Also if the seed samples less than half of the sheet. The message names the row; the
        header is row 1.
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
    """Write the next annotation sheet: the filled rows, then the sampled records without a value.

    Parameters
    ----------
    path : str or path
        CSV file to write. A file with other values is never overwritten.
    labels : ValueLabels
        Values of the filled rows.
    drawn : FrameSample
        All sampled records, including those still to be labeled.
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
    """Raise an error if a file at `path` has a value that `write_next_sheet` would lose."""
    table = safe_csv.of_sheet(path, lambda path: tables.read_table(path, HEADER))
    if table is None:
        return
    value_of = {id: value for id, _, value in _next_rows(labels, drawn)}
    cells = zip(table.ids, table.columns["value"], strict=True)
    filled = [(id, cell) for id, cell in cells if cell]
    lost = sum(_number(cell) != value_of.get(id) for id, cell in filled)
    if lost:
        raise ValueError(
            f"{str(path)!r} already holds {checks.counted(lost, 'value')} that the "
            "annotation sheet does not, and is not overwritten. Choose another path, or move the "
            "file away"
        )


def _next_rows(labels: ValueLabels, drawn: FrameSample) -> list:
    """Return id, stratum and value (or None) of the sampled records, in the order of labeling."""
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
    """Return an order of the sampled rows that spreads them over the strata wherever you stop.

    The order takes one row of each stratum, then a second one of each. After that it takes rows in
    proportion to the samples of the strata.
    """
    rank = ranks_among_equals(drawn.stratum_index)
    share = (rank + 0.5) / drawn.drawn[drawn.stratum_index]
    share[rank < 2] = 0
    return np.lexsort((drawn.stratum_index, share, np.minimum(rank, 2)))


def _values(table: tables.SheetTable) -> ndarray:
    """Return the values, NaN for an empty cell; raise an error if one has no id or stratum."""
    cells = table.columns["value"]
    try:
        values = numbers.to_numbers("value", numbers.objects([cell or "0" for cell in cells]))
    except numbers.RowError as error:
        raise ValueError(error.said(lambda row: f"row {table.rows[row]}")) from None
    for name in ("id", "stratum"):
        for row, other, cell in zip(table.rows, table.columns[name], cells, strict=True):
            if cell and not other:
                raise ValueError(f"row {row} of the sheet has the value {cell} but no {name}")
    return np.where([bool(cell) for cell in cells], values, np.nan)


def _rows_that_count(
    ids: list[str],
    values: ndarray,
    numbers: Sequence[int],
) -> tuple:
    """Return the rows to use, one per id, and the ids with the same value in several rows."""
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
    """Return the stratum of each row in the sheet, and the rank of the row within its stratum."""
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
    """Return which ids were sampled, with their strata and their ranks within these."""
    index_of = {str(item): k for k, item in enumerate(drawn.id.tolist())}
    is_drawn = np.array([name in index_of for name in ids], bool)
    index = [index_of[name] for name in ids if name in index_of]
    code = drawn.stratum_index[index]
    rank = ranks_among_equals(drawn.stratum_index)[index]
    in_stratum = np.bincount(code, minlength=drawn.drawn.size)
    is_first = is_drawn.copy()
    is_first[is_drawn] = rank < in_stratum[code]
    if is_first.sum() < len(ids) / 2:  # a sheet of another sample
        strange = ids[np.argmin(is_first)]
        count = f"{is_first.sum()} of the {checks.counted(len(ids), 'id')}"
        raise checks.WrongValue(
            "labels",
            f"must be of the records that were sampled; seed {seed} samples only {count} of the "
            f"sheet, not {strange!r}. Give the file, columns and seed of the plan",
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
                f"but {stratum!r} in the records; sort whole rows, not one column"
            )


def _notes(
    repeated: list[str],
    unknown: list[str],
    seed: int,
    skipped: int,
    empty: int,
) -> Iterator[Note]:
    """Yield a note on each kind of row that was not used."""
    if unknown:
        count = checks.counted(len(unknown), "id was", "ids were")
        ids = checks.listed(unknown, SHOWN, quoted=True)
        yield Note(
            "refused",
            f"{count} left out, not sampled by seed {seed}: {ids}",
        )
    if repeated:
        rows = checks.counted(len(repeated), "row repeats", "rows repeat")
        ids = checks.listed(dict.fromkeys(repeated), SHOWN, quoted=True)
        yield Note("data", f"{rows} an id with the same value, counted once: {ids}")
    if skipped:
        yield Note(
            "unreliable",
            f"{checks.counted(skipped, 'item was', 'items were')} left empty before the last "
            "filled ones. The estimate is valid only if their values are like those of the others",
        )
    if empty:
        one, many = (
            "row of the sheet has no value and is",
            "rows of the sheet have no value and are",
        )
        yield Note("data", f"{checks.counted(empty, one, many)} not used")


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None
