"""Workbooks of Excel: one sheet as a source of columns, its cells as people see them."""

import datetime
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.data.columns import TableSource, spelled
from workbench.data.engine import one_line
from workbench.data.numbers import objects, whole_if_exact
from workbench.results import Note

_WITH_PART = re.compile(
    r"(.*\.(?:xls[xm]|ods|eval|(?:json|jsonl|ndjson)(?:\.gz|\.zst)?))#(.*)",
    re.IGNORECASE | re.DOTALL,
)
_TIMES = (datetime.date, datetime.time, datetime.timedelta)


def file_and_sheet(path: str) -> tuple[str, str]:
    """Return the file that "book.xlsx#sheet" or "log.json#scorer" names, and its part, "" for none.

    Examples
    --------
    >>> file_and_sheet("book.xlsx#May"), file_and_sheet("list#3.csv")
    (('book.xlsx', 'May'), ('list#3.csv', ''))
    """
    parts = _WITH_PART.fullmatch(path)
    if not parts or os.path.isfile(path):
        return path, ""
    return parts[1], parts[2]


def open_workbook(path: str, label: str) -> TableSource:
    """Return a sheet as a source: its first row with two names or more is the header."""
    file, requested = file_and_sheet(path)
    saved = os.stat(file)
    sheet, sheets, cells = _sheet(file, requested, label, saved.st_mtime_ns, saved.st_size)
    filled = [row for row, values in enumerate(cells) if values.count("") < len(values)]
    if not filled:
        raise ValueError(f"{label}: sheet {sheet!r} is empty")
    width = len(cells[0])
    with_names = [row for row in filled if cells[row].count("") < width - 1]
    header = min(with_names, default=filled[0])
    rows = [row for row in filled if row > header]
    names, columns = [], []
    for k, name in enumerate(cells[header]):
        column = [cells[row][k] for row in rows]
        if name != "" or column.count("") < len(column):
            names.append("" if name == "" else str(_value(name)).strip())
            columns.append(column)
    notes = []
    if filled[0] < header:
        above = checks.listed([row + 1 for row in filled if row < header])
        text = f"the header is row {header + 1}; left out above it: row {above}"
        notes.append(Note("data", f"{label}: {text}"))
    if len(sheets) > 1 and not requested:
        text = f"sheet {sheet!r} is read, the first of {len(sheets)}"
        notes.append(Note("data", f"{label}: {text}; for another add '#{sheets[1]}' to the name"))

    def fetch(requested: Sequence) -> tuple:
        arrays = {name: _column(columns[names.index(name)]) for name in requested}
        return arrays, tuple(notes)

    return TableSource(label, tuple(names), fetch, lambda: (row + 1 for row in rows))


@lru_cache(maxsize=1)
def _sheet(
    file: str,
    requested: str,
    label: str,
    *saved: int,
) -> tuple:
    """Return a sheet's name, all names and its cells; cached, as a report reads them often."""
    import python_calamine as calamine

    try:
        with calamine.CalamineWorkbook.from_path(file) as book:
            sheets = []
            for sheet in book.sheets_metadata:
                is_visible = sheet.visible == calamine.SheetVisibleEnum.Visible
                is_table = sheet.typ == calamine.SheetTypeEnum.WorkSheet
                if is_table and (requested or is_visible):
                    sheets.append(sheet.name)
            name = spelled(requested, sheets) if requested else "".join(sheets[:1])
            if name not in sheets:
                present = checks.listed(sheets, 20, quoted=True) or "none that is shown"
                hint = checks.suggestion(requested, sheets)
                raise ValueError(f"{file!r} has no sheet {requested!r}; it has {present}{hint}")
            cells = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            return name, sheets, cells
    except calamine.PasswordError:
        raise ValueError(f"{label} is protected by a password; save it without one") from None
    except (calamine.CalamineError, OSError) as error:
        raise ValueError(f"{label} cannot be read as a workbook: {one_line(error)}") from None


def _column(cells: Sequence) -> ndarray:
    """Return cells as an array: numbers if all are, else objects, with None for an empty cell."""
    kinds = set(map(type, cells))
    if kinds == {bool}:
        return np.array(cells)
    if kinds <= {int, float}:
        return whole_if_exact(np.array(cells, float))
    return objects(list(map(_value, cells)))


def _value(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, _TIMES):
        return str(cell).removesuffix(" 00:00:00")
    return None if cell == "" else cell
