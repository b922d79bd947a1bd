"""Workbooks of Excel: one sheet as a source of columns, its cells as people see them."""

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

from workbench import checks
from workbench.data.columns import TableSource, spelled
from workbench.data.engine import one_line
from workbench.data.numbers import objects, whole_if_exact
from workbench.results import Note

_WITH_PART = re.compile(
    r"(.*\.(?:xls[xm]|ods|eval|(?:json|jsonl|ndjson)(?:\.gz|\.zst)?))#(.*)",
    re.IGNORECASE | re.DOTALL,
)
_ERROR = re.compile(
    rb'<(?:\w+:)?c\b(?=[^>]*\bt="e")[^>]*\br="([A-Z]+)([0-9]+)"[^>]*>.*?v>([^<]*)<', re.DOTALL
)
_NOT_COMPUTED = re.compile(
    rb'<(?:\w+:)?c\b(?![^>]*\bt="str")[^>]*\br="([A-Z]+)([0-9]+)"[^>]*>\s*'
    rb"<(\w+:)?f\b[^>]*(?:/>|>[^<]*</\3?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></)?(?!<(?:\w+:)?v)"
)


def file_and_sheet(path: str) -> tuple[str, str]:
    """Return the file that "book.xlsx#sheet" or "log.json#scorer" names, and its part, "" for none.

    Examples
    --------
    >>> file_and_sheet("book.xlsx#May"), file_and_sheet("list#3.csv")
    (('book.xlsx', 'May'), ('list#3.csv', ''))
    """
    named = _WITH_PART.fullmatch(path)
    return (named[1], named[2]) if named and not os.path.isfile(path) else (path, "")


def open_workbook(path: str, label: str) -> TableSource:
    """Return a sheet as a source: its first row with two names or more is the header, and empty rows are left out."""
    file, named = file_and_sheet(path)
    saved = os.stat(file)
    sheet, others, cells, merged = _sheet(file, named, label, (saved.st_mtime_ns, saved.st_size))
    filled = [row for row, values in enumerate(cells) if any(value != "" for value in values)]
    if not filled:
        raise ValueError(f"{label}: sheet {sheet!r} is empty")
    header = next(
        (row for row in filled if sum(value != "" for value in cells[row]) > 1), filled[0]
    )
    for (first, left), (last, right) in merged:
        if first <= header <= last and right > left:
            raise ValueError(
                f"{label}, row {header + 1}: columns {_letters(left)} to {_letters(right)} are one merged "
                "cell; write a name for every column into one row"
            )
    rows = [row for row in filled if row > header]
    places = [
        k
        for k, name in enumerate(cells[header])
        if name != "" or any(cells[row][k] != "" for row in rows)
    ]
    told = (
        f"{label}, sheet {sheet!r} (there {'are' if len(others) > 1 else 'is'} also {checks.listed(others, 5)})"
        if others
        else label
    )
    names = tuple(
        "" if cells[header][k] == "" else str(_value(cells[header][k])).strip() for k in places
    )
    above = checks.listed([row + 1 for row in filled if row < header])
    notes = (
        *(Note("data", f"{label}: the header is row {header + 1}; left out above it: row {above}"),)
        * bool(above),
        *(
            Note(
                "data",
                f"{label}: sheet {sheet!r} is read, the first of {len(others) + 1}; for another add "
                f"{'#' + name!r} to the name",
            )
            for name in others[:1]
        ),
    )

    def fetch(wanted: Any) -> Any:
        data = {name: [cells[row][places[names.index(name)]] for row in rows] for name in wanted}
        _refuse_errors(
            file,
            sheet,
            label,
            {_letters(places[names.index(name)]): name for name in wanted if "" in data[name]},
            header,
        )
        return {name: _column(values) for name, values in data.items()}, notes

    return TableSource(told, names, fetch, lambda: (row + 1 for row in rows))


@lru_cache(maxsize=1)
def _sheet(file: str, named: str, label: str, saved: tuple) -> tuple:
    """Return a sheet's name, those of others, its cells and merged ranges; kept, as a report reads them often."""
    import python_calamine as calamine

    try:
        with calamine.CalamineWorkbook.from_path(file) as book:
            known = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.typ == calamine.SheetTypeEnum.WorkSheet
                and (named or sheet.visible == calamine.SheetVisibleEnum.Visible)
            ]
            name = spelled(named, known) if named else "".join(known[:1])
            if name not in known:
                listed = checks.listed(known, 20, quoted=True) or "none that is shown"
                raise ValueError(
                    f"{file!r} has no sheet {named!r}; it has {listed}{checks.suggestion(named, known)}"
                )
            sheet = book.get_sheet_by_name(name)
            others = [] if named else [each for each in known if each != name]
            return (
                name,
                others,
                sheet.to_python(skip_empty_area=False),
                sheet.merged_cell_ranges or [],
            )
    except calamine.PasswordError:
        raise ValueError(f"{label} is protected by a password; save it without one") from None
    except (calamine.CalamineError, OSError) as error:
        raise ValueError(f"{label} cannot be read as a workbook: {one_line(error)}") from None


def _refuse_errors(file: str, sheet: str, label: str, place: dict[str, str], header: int) -> None:
    """Raise where a cell that seems empty holds an error, such as #DIV/0!, or a formula: only the file itself tells."""
    if not place or file.lower().endswith(
        ".ods"
    ):  # which holds what was computed, an error as its text
        return
    with zipfile.ZipFile(file) as book:
        cells = book.read(_part(book, sheet, label))
    for letters, row, said in (
        *(
            (letters, row, f"the error {value.decode()}; correct it, or empty the cell")
            for letters, row, value in _ERROR.findall(cells)
        ),
        *(
            (
                letters,
                row,
                "a formula that was never computed; open the file in a spreadsheet and save it there",
            )
            for letters, row, _ in _NOT_COMPUTED.findall(cells)
        ),
    ):
        if letters.decode() in place and int(row) > header + 1:
            cell, name = f"{letters.decode()}{int(row)}", place[letters.decode()]
            raise ValueError(f"{label}, cell {cell} (column {name!r}) holds {said}")


def _part(book: Any, sheet: str, label: str) -> str:
    """Return the name of the part that holds a sheet."""
    relations = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    target = {relation.attrib["Id"]: relation.attrib["Target"] for relation in relations}
    for found in ElementTree.fromstring(book.read("xl/workbook.xml")).findall(".//{*}sheet"):
        keys = [value for key, value in found.attrib.items() if key.endswith("}id")]
        if found.get("name") == sheet and keys:
            return posixpath.join("xl", target[keys[0]]).lstrip("/")
    raise ValueError(f"{label}: sheet {sheet!r} cannot be found in the file; save it again")


def _letters(place: int) -> str:
    """Return the letters of a column, A for 0.

    Examples
    --------
    >>> _letters(0), _letters(27)
    ('A', 'AB')
    """
    first, last = divmod(place, 26)
    return (_letters(first - 1) if first else "") + chr(ord("A") + last)


def _column(cells: Sequence) -> np.ndarray:
    """Return cells as an array: numbers where all are, else objects, with None for an empty cell."""
    kinds = set(map(type, cells))
    if kinds == {bool}:
        return np.array(cells)
    if kinds <= {int, float}:
        return whole_if_exact(np.array(cells, float))
    return objects([_value(cell) for cell in cells])


def _value(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    if isinstance(cell, datetime.timedelta):
        return str(cell)
    return None if cell == "" else cell
