"""Sheets as files: cells that no spreadsheet executes, and never written over what people wrote.

Cells of a sheet are text and are never evaluated, here or by the spreadsheet that opens it. Text is
quoted, so that a spreadsheet that splits lines at another delimiter does not split it, and
text that it would execute gets an apostrophe.
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
    """Write a CSV file, UTF-8 with a byte-order mark; text is quoted and harmless.

    Parameters
    ----------
    path : str or path
        Ends in .csv.
    header : sequence of str
    rows : iterable of sequence
        Cells: text, numbers, None for an empty one.
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
    """Return the text of a cell of a first column before an apostrophe made it harmless."""
    if cell.startswith("'") and _EXECUTABLE.match(cell[1:]):
        return cell[1:].strip()
    return cell


def refuse_recorded(path: StrPath, *answers: str) -> None:
    """Raise if a file at `path` has labels in a column of `answers`, or is no annotation sheet."""

    def filled_cells(path: str) -> int:
        header = set(map(plain_name, frames.column_names(path)))
        names = [name for name in answers if name in header] or answers[:1]
        columns, _ = frames.read_columns(path, ["id", *names])
        return sum(sum(map(bool, numbers.as_text(columns[name]))) for name in names)

    filled = of_sheet(path, filled_cells)
    if filled:
        labels = checks.counted(filled, "label")
        raise ValueError(
            f"{str(path)!r} already holds {labels} and is not overwritten; choose another path, or "
            "move the file away"
        )


def of_sheet(path: StrPath, read: Callable) -> Any:
    """Return the result of `read` for the sheet at `path`, None if there is none or no row."""
    path = os.path.expanduser(os.fspath(path))
    if not os.path.exists(path) or not os.path.getsize(path):
        return None
    try:
        return read(path)
    except frames.NoRowsError:
        return None
    except ValueError as error:
        raise ValueError(
            f"{path!r} exists and is not a label sheet ({error}); choose another path"
        ) from None


def refuse_other(path: StrPath, header: Sequence[str]) -> None:
    """Raise if a file at `path` has other columns than `header`."""
    path = csv_path(path)
    is_filled = os.path.isfile(path) and os.path.getsize(path)
    if is_filled and frames.column_names(path) != tuple(header):
        raise ValueError(
            f"{path!r} exists and has other columns than {checks.listed(header)}; "
            "choose another path"
        )


def neutral(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would execute it.

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
    """Write a cell of a workbook that nothing executes; anything but 0 says that it does not fit.

    Parameters
    ----------
    sheet : xlsxwriter.Worksheet
    line, column : int
        From 0.
    cell : object
        A number that a workbook would not keep to its last digit is written as text.
    style : xlsxwriter.Format, optional
    """
    if cell is None or cell == "":
        return sheet.write_blank(line, column, None, style)
    if isinstance(cell, bool):
        return sheet.write_boolean(line, column, cell, style)
    if isinstance(cell, (int, float)) and math.isfinite(cell) and int(cell) == int(float(cell)):
        return sheet.write_number(line, column, cell, style)
    return sheet.write_string(line, column, neutral(str(cell)), style)


def _cells(row: Iterable) -> list:
    """Return cells as they are written; after the first, quotes do not keep a line in one piece."""
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
