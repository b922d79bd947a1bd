"""Excel workbooks: one sheet as a source of columns, with cells as people see them."""

import datetime
import os
import posixpath
import re
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.data.columns import TableSource, spelled
from workbench.data.engine import one_line
from workbench.data.numbers import objects, whole_if_exact
from workbench.imports import optional_module
from workbench.results import Note

_WITH_PART = re.compile(
    r"(.*\.(?:xls[xm]|ods|eval|(?:json|jsonl|ndjson)(?:\.gz|\.zst)?))#(.*)",
    re.IGNORECASE | re.DOTALL,
)
_TIMES = (datetime.date, datetime.time, datetime.timedelta)


def file_and_sheet(path: str) -> tuple[str, str]:
    """Return the file and the part that "book.xlsx#sheet" or "log.json#scorer" names.

    The part is "" if there is none.

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
    """Return a sheet as a source: its first row with at least two names is the header."""
    file, requested = file_and_sheet(path)
    saved = os.stat(file)
    sheet, sheets, cells = _sheet(file, requested, label, saved.st_mtime_ns, saved.st_size)
    counts = np.array([len(row) - row.count("") for row in cells])
    filled = np.flatnonzero(counts).tolist()
    if not filled:
        raise ValueError(f"{label}: sheet {sheet!r} is empty")
    header = min(np.flatnonzero(counts > 1).tolist(), default=filled[0])
    rows = [row for row in filled if row > header]
    names = []
    columns = []
    letters = []
    for k, name in enumerate(cells[header]):
        column = [cells[row][k] for row in rows]
        if name == "" and column.count("") == len(column):
            continue
        names.append("" if name == "" else str(_value(name)).strip())
        columns.append(column)
        letters.append(_letters(k))
    notes = []
    if filled[0] < header:
        above = checks.listed([row + 1 for row in filled if row < header])
        text = f"the header is row {header + 1}; rows above it were left out: row {above}"
        notes.append(Note("data", f"{label}: {text}"))
    if len(sheets) > 1 and not requested:
        text = f"sheet {sheet!r} was read, the first of {len(sheets)}"
        advice = f"To read another sheet, add for example '#{sheets[1]}' to the file name"
        notes.append(Note("data", f"{label}: {text}. {advice}"))

    def fetch(requested: Sequence) -> tuple:
        arrays = {}
        with_gaps = {}
        for name in requested:
            k = names.index(name)
            arrays[name] = _column(columns[k])
            if "" in columns[k]:
                with_gaps[letters[k]] = name
        if with_gaps and not file.lower().endswith(".ods"):  # ods files keep the text of an error
            _refuse_errors(file, sheet, label, with_gaps, header + 1)
        return arrays, tuple(notes)

    return TableSource(label, tuple(names), fetch, lambda: (row + 1 for row in rows))


@lru_cache(maxsize=1)
def _sheet(
    file: str,
    requested: str,
    label: str,
    *saved: int,
) -> tuple:
    """Return the name of a sheet, all names and its cells.

    The result is cached, because reports read a sheet often.
    """
    calamine = optional_module("python_calamine", "xlsx", f"reading {label}")
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
                present = checks.listed(sheets, 20, quoted=True) or "none that is visible"
                hint = checks.suggestion(requested, sheets)
                text = f"{file!r} has no sheet {requested!r}; available sheets: {present}{hint}"
                raise ValueError(text)
            cells = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            return name, sheets, cells
    except calamine.PasswordError:
        raise ValueError(f"{label} is protected by a password. Save it without one") from None
    except (calamine.CalamineError, OSError) as error:
        raise ValueError(f"{label} cannot be read as a workbook: {one_line(error)}") from None


def _refuse_errors(
    file: str,
    sheet: str,
    label: str,
    columns: dict[str, str],
    header: int,
) -> None:
    """Raise if a cell that is read as empty contains an error or a formula without a value.

    `columns` has the names of columns by their letters. Only the file itself shows such cells.
    """
    with zipfile.ZipFile(file) as book, book.open(_part(book, sheet)) as part:
        for _, element in ElementTree.iterparse(part):
            if element.tag.endswith("}row"):
                for cell in element:
                    position = cell.get("r", "")
                    letters = position.rstrip("0123456789")
                    problem = _problem(cell) if letters in columns else ""
                    if problem and int(position.removeprefix(letters)) > header:
                        where = f"cell {position} (column {columns[letters]!r})"
                        raise ValueError(f"{label}, {where} contains {problem}")
                element.clear()


def _problem(cell: ElementTree.Element) -> str:
    """Return the error or the formula without a value in a cell, with advice; else ""."""
    value = cell.findtext("{*}v")
    kind = cell.get("t")
    if kind == "e":
        return f"the error {value}. Correct it, or empty the cell"
    if cell.find("{*}f") is not None and not value and kind != "str":
        return "a formula without a value. Open the file in a spreadsheet and save it there"
    return ""


def _part(book: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the part of a workbook that holds a sheet."""
    relations = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    sheets = ElementTree.fromstring(book.read("xl/workbook.xml")).iterfind(".//{*}sheet")
    entry = next(entry for entry in sheets if entry.get("name") == sheet)
    relation = next(value for key, value in entry.items() if key.endswith("}id"))
    return posixpath.join("xl", targets[relation]).lstrip("/")


def _letters(k: int) -> str:
    """Return the letters of a column that is counted from 0.

    Examples
    --------
    >>> _letters(0), _letters(27)
    ('A', 'AB')
    """
    first, last = divmod(k, 26)
    prefix = _letters(first - 1) if first else ""
    return prefix + chr(ord("A") + last)


def _column(cells: Sequence) -> ndarray:
    """Return cells as an array: numbers if all are numbers, else objects, None if empty."""
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
