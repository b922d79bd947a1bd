"""Annotation sheets as files that spreadsheets do not execute and that keep written labels.

Cells of a sheet are text and are never evaluated, neither here nor by the spreadsheet that opens
it. Text is quoted, so that a spreadsheet that splits lines at another delimiter does not split it.
Text that a spreadsheet would execute gets an apostrophe.
"""

import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench import checks
from workbench.data import frames, numbers
from workbench.data.columns import plain_name
from workbench.data.whole_files import StrPath, write_text

_EXECUTABLE = re.compile(r"['\s]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
_EXECUTABLE_PART = re.compile(rf"(?<=[;\t])(?={_EXECUTABLE.pattern})")
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def write_rows(path: StrPath, header: Sequence[str], rows: Iterable[Iterable]) -> None:
    """Write a CSV file in UTF-8 with a byte-order mark; text is quoted and harmless.

    Parameters
    ----------
    path : str or path
        Path that ends in .csv.
    header : sequence of str
        Names of the columns.
    rows : iterable of sequence
        Cells: text, numbers, or None for an empty cell.
    """
    names = _cells(header)
    for column, name in enumerate(header):
        if _PLAIN_NAME.fullmatch(name):
            names[column] = name
    lines = itertools.chain([names], map(_cells, rows))
    write_text(csv_path(path), (",".join(line) + "\r\n" for line in lines), "utf-8-sig")


def csv_path(path: StrPath) -> str:
    """Return a path that ends in .csv as text, or raise."""
    path = os.path.expanduser(os.fspath(path))
    if not path.lower().endswith(".csv"):
        raise checks.WrongValue("path", "must end in .csv", path)
    return path


def original(cell: str) -> str:
    """Return the text of a cell of a first column, without the apostrophe that made it harmless."""
    if cell.startswith("'") and _EXECUTABLE.match(cell[1:]):
        return cell[1:].strip()
    return cell


def refuse_recorded(path: StrPath, *answers: str) -> None:
    """Raise if a file at `path` has labels in a column of `answers`, or is another kind of file."""

    def filled_cells(path: str) -> int:
        header = set(map(plain_name, frames.column_names(path)))
        names = [name for name in answers if name in header] or answers[:1]
        columns, _ = frames.read_columns(path, ["id", *names])
        return sum(sum(map(bool, numbers.as_text(columns[name]))) for name in names)

    filled = of_sheet(path, filled_cells)
    if filled:
        labels = checks.counted(filled, "label")
        raise ValueError(
            f"{str(path)!r} already contains {labels} and was not overwritten. Choose another "
            "path, or move the file away"
        )


def of_sheet(path: StrPath, read: Callable) -> Any:
    """Return the result of `read` for the sheet at `path`, None if there is no sheet or no row."""
    path = os.path.expanduser(os.fspath(path))
    if not os.path.exists(path) or not os.path.getsize(path):
        return None
    try:
        return read(path)
    except frames.NoRowsError:
        return None
    except ValueError as error:
        raise ValueError(
            f"{path!r} exists, but is not an annotation sheet ({error}). Choose another path"
        ) from None


def refuse_other(path: StrPath, header: Sequence[str]) -> None:
    """Raise if a file at `path` has columns other than `header`."""
    path = csv_path(path)
    is_filled = os.path.isfile(path) and os.path.getsize(path)
    if is_filled and frames.column_names(path) != tuple(header):
        raise ValueError(
            f"{path!r} exists, but its columns are not {checks.listed(header)}. Choose another path"
        )


def neutral(text: str) -> str:
    """Return a text, with an apostrophe before it if a spreadsheet would execute it.

    Examples
    --------
    >>> neutral("=1+1"), neutral("1+1")
    ("'=1+1", '1+1')
    """
    return "'" + text if _EXECUTABLE.match(text) else text


def write_cell(
    sheet: Any,
    line: int,
    column: int,
    cell: Any,
    style: Any = None,
) -> int:
    """Write a cell of a workbook so that nothing executes it.

    Parameters
    ----------
    sheet : xlsxwriter.Worksheet
        Sheet to write to.
    line, column : int
        Position of the cell, counted from 0.
    cell : object
        Content. A number that a workbook would not keep to its last digit is written as text.
    style : xlsxwriter.Format, optional
        Format of the cell.

    Returns
    -------
    int
        0, or another number if the cell does not fit.
    """
    if cell is None or cell == "":
        return sheet.write_blank(line, column, None, style)
    if isinstance(cell, bool):
        return sheet.write_boolean(line, column, cell, style)
    if isinstance(cell, (int, float)) and math.isfinite(cell) and int(cell) == int(float(cell)):
        return sheet.write_number(line, column, cell, style)
    return sheet.write_string(line, column, neutral(str(cell)), style)


def _cells(row: Iterable) -> list:
    """Return cells as they are written.

    After the first cell, the parts at other delimiters are made harmless, too, because quotes do
    not keep every spreadsheet from splitting there.
    """
    cells = []
    for column, value in enumerate(row):
        cell = "" if value is None else str(value)
        if isinstance(value, str) and cell:
            cell = neutral(cell)
            if column:
                cell = _EXECUTABLE_PART.sub("'", cell)
            cell = '"' + cell.replace('"', '""') + '"'
        cells.append(cell)
    return cells
