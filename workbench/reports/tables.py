"""The tables of a report as CSV files in a folder, or as sheets of one Excel file."""

import contextlib
import csv
import importlib.util
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.data.safe_csv import write_cell, write_rows
from workbench.reports.outputs import check_folder, check_name, check_written, home_path, whole_file
from workbench.reports.parameters import ReportError, WrongParameter, refusing
from workbench.reports.records import Record, free_name

EXCEL, CREATOR = ".xlsx", "evaluation-workbench"
LONGEST_SHEET_NAME = 31
# the file in the folder that lists the tables of reports and their findings
CONTENTS, LISTED = "contents", ("file", "report", "finding", "rows")


def checked_tables(target: str | Path) -> Path:
    """Return the path of the folder or Excel file for the tables, or raise ReportError."""
    path = home_path(target)
    if not str(target):
        raise WrongParameter("tables", f"must name a folder or a file that ends in {EXCEL}", "")
    if path.suffix.lower() == EXCEL:
        if importlib.util.find_spec("xlsxwriter") is None:
            raise ReportError(
                f"tables {str(path)!r} needs XlsxWriter. Install it: pip install "
                "'evaluation-workbench[xlsx]'; or name a folder to get CSV files"
            )
        check_written("tables", path)
        _refuse_other_workbook(path)
        return path
    check_name("tables", path)
    if path.exists() and not path.is_dir():
        raise ReportError(
            f"tables {str(path)!r} must be a folder or end in {EXCEL}; it is another kind of file"
        )
    check_folder("tables folder", path if path.exists() else path.parent)
    _listed(path)
    return path


def table_paths(target: Path, records: list[Record]) -> list[Path]:
    """Return the files that `write_tables` will write.

    Raise ReportError if one of them exists and is not a table of a report.
    """
    if target.suffix.lower() == EXCEL:
        return [target]
    paths = [target / _file(record) for record in records]
    listed = {row["file"] for row in _listed(target)}
    foreign = [path for path in paths if path.exists() and path.name not in listed]
    if foreign:
        raise ReportError(
            f"{str(foreign[0])!r} exists and is not a table of a report; choose another folder for "
            "the tables"
        )
    return [*paths, target / f"{CONTENTS}.csv"]


def _file(record: Record) -> str:
    return f"{record.name}.csv"


def write_tables(target: Path, records: list[Record], report: str) -> None:
    """Write the tables of a report, with unrounded numbers and without formulas in text.

    The columns are the keys of `workbench.results.vocabulary`. Missing values and numbers that do
    not exist are empty cells.
    """
    contents = []
    for record in records:
        table = record.table
        cells = (_file(record), report, table.caption, len(table.entries))
        contents.append(dict(zip(LISTED, cells, strict=True)))
    if target.suffix.lower() == EXCEL:
        _write_workbook(target, records, contents)
        return
    with refusing(f"cannot write tables to {str(target)!r}", (OSError,)):
        target.mkdir(exist_ok=True)
        new = {row["file"] for row in contents}
        for row in _listed(target):
            if row["file"] not in new and (target / row["file"]).exists():
                contents.append(row)
        for record in records:
            _write_csv(target / _file(record), record.table.entries)
        _write_csv(target / f"{CONTENTS}.csv", contents, LISTED)


def _write_csv(path: Path, rows: Sequence[dict], names: tuple[str, ...] = ()) -> None:
    header, *lines = _lines(rows, names)
    write_rows(path, header, lines)


def _lines(rows: Sequence[dict], names: tuple[str, ...] = ()) -> list[list]:
    """Return the column names, then the cells of each row."""
    names = names or tuple(dict.fromkeys(name for row in rows for name in row))
    return [list(map(str, names)), *([_value(row.get(name)) for name in names] for row in rows)]


def _value(value: Any) -> Any:
    """Return a cell as a number or a text; a number that does not exist is empty text."""
    if isinstance(value, float) and math.isnan(value):
        return ""
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _listed(folder: Path) -> list:
    """Return the rows of the folder's list of tables."""
    path, names, rows = folder / f"{CONTENTS}.csv", [], list[Any]()
    if not path.exists():
        return rows
    with (
        contextlib.suppress(OSError, ValueError, csv.Error),
        path.open(encoding="utf-8-sig", newline="") as file,
    ):
        names, *lines = csv.reader(file)
        rows = [dict(zip(LISTED, line, strict=True)) for line in lines]
    if tuple(names) != LISTED:
        raise ReportError(
            f"{str(path)!r} exists and is not the list of a report's tables; choose another folder "
            "for the tables"
        )
    return rows


def _refuse_other_workbook(path: Path) -> None:
    if not path.exists() or not path.stat().st_size:
        return
    try:
        with zipfile.ZipFile(path) as content:
            ours = CREATOR.encode() in content.read("docProps/core.xml")
    except (OSError, KeyError, zipfile.BadZipFile):
        ours = False
    if not ours:
        raise ReportError(
            f"tables {str(path)!r} exists and was not written by a report; choose another path"
        )


def _write_workbook(path: Path, records: list[Record], contents: list[dict]) -> None:
    import xlsxwriter

    sheets: dict[str, Sequence[dict]] = {CONTENTS: contents}
    for record, row in zip(records, contents, strict=True):
        taken = {name.lower() for name in sheets}
        name = free_name(record.name[: LONGEST_SHEET_NAME - 3], taken, str.lower)
        sheets[name] = record.table.entries
        row["file"] = name
    with whole_file(path) as part, xlsxwriter.Workbook(part) as book:
        book.set_properties({"author": CREATOR})
        for name, rows in sheets.items():
            _write_sheet(book.add_worksheet(name), rows)


def _write_sheet(sheet: Any, rows: Sequence[dict]) -> None:
    for line, cells in enumerate(_lines(rows)):
        for column, cell in enumerate(cells):
            if write_cell(sheet, line, column, cell):
                raise ReportError(
                    f"table {sheet.name!r} has too many rows or columns for Excel; name a folder "
                    "to get CSV files"
                )
