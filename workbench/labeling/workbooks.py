"""Annotation sheets as Excel workbooks: answers come from a list, other cells are locked."""

import importlib.util
from collections.abc import Iterable, Sequence
from typing import Any

from workbench.data.safe_csv import neutral, write_cell
from workbench.data.whole_files import whole_file

LABELS = "labels"
NOTES = "how to fill"
LONGEST = 60
_WIDTHS = {"id": 14, "position": 9}
_TEXT = {"num_format": "@"}
_WRAPPED = {"valign": "top", "text_wrap": True}
_ANSWER = {
    "valign": "top",
    "locked": False,
    "bg_color": "#FFF6D6",
    "border": 1,
    "border_color": "#C8B36B",
}


def check_writer(path: str) -> None:
    """Raise if XlsxWriter, which writes workbooks, is not installed."""
    if importlib.util.find_spec("xlsxwriter") is None:
        raise ValueError(
            f"{path!r} needs XlsxWriter. Install it with pip install 'evaluation-workbench[xlsx]', "
            "or write a sheet that ends in .csv"
        )


def write_label_workbook(
    path: str,
    header: Sequence[str],
    rows: Iterable[Sequence],
    answers: Sequence[str],
) -> None:
    """Write a sheet whose last column is chosen from a list, and a second sheet of instructions.

    All other cells are locked without a password and formatted as text, so that a spreadsheet does
    not change an identifier such as 007. A cell that it would execute gets a leading apostrophe.

    Parameters
    ----------
    path : str
        File ending in .xlsx. It is written completely or not at all.
    header : sequence of str
        Names of the columns.
    rows : iterable of sequence
        Cells: text or whole numbers. The last one is an answer or "".
    answers : sequence of str
        The answers to choose from.

    Examples
    --------
    >>> import tempfile
    >>> from workbench.data.frames import read_columns
    >>> rows, answers = [("007", ""), ("=9", "")], ["right", "wrong"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_label_workbook(folder + "/s.xlsx", ("id", "correct"), rows, answers)
    ...     read_columns(folder + "/s.xlsx", ["id"])[0]["id"].tolist()
    ['007', "'=9"]
    """
    check_writer(path)
    import xlsxwriter

    rows = list(rows)
    last = len(header) - 1
    with whole_file(path) as part, xlsxwriter.Workbook(part) as book:
        title = book.add_format(_TEXT | {"bold": True})
        locked = book.add_format(_TEXT | _WRAPPED)
        answer = book.add_format(_TEXT | _ANSWER)
        sheet = book.add_worksheet(LABELS)
        notes = book.add_worksheet(NOTES)
        sheet.write_row(0, 0, header, title)
        for line, row in enumerate(rows, 1):
            for column, cell in enumerate(row):
                if write_cell(sheet, line, column, cell, answer if column == last else locked):
                    raise ValueError(
                        f"column {header[column]!r}, row {line + 1} does not fit into the "
                        "workbook: a cell holds at most 32,767 characters, and a sheet at most "
                        "1,048,576 rows. Write a sheet that ends in .csv"
                    )
        for column, name in enumerate(header):
            texts = [name, *(str(row[column]) for row in rows[:100])]
            width = max(_WIDTHS.get(name, 10), *map(len, texts)) + 2
            sheet.set_column(column, column, min(width, LONGEST))
        first = _write_notes(notes, header[-1], answers, title)
        choices = {
            "validate": "list",
            "source": f"='{NOTES}'!$A${first + 1}:$A${first + len(answers)}",
            "error_title": "Not an answer",
            "error_message": f"Choose from the list. The sheet {NOTES!r} explains the answers.",
        }
        sheet.data_validation(1, last, max(len(rows), 1), last, choices)
        sheet.freeze_panes(1, 0)
        sheet.protect("", {"format_columns": True, "format_rows": True})


def _write_notes(
    notes: Any,
    column: str,
    answers: Sequence[str],
    title: Any,
) -> int:
    """Write the instructions; return the row of the first answer, counted from 0."""
    lines = [
        f"For each row of the sheet {LABELS!r} choose an answer in the column {column!r}, from top "
        "to bottom.",
        "Leave the cell empty if you cannot tell. You can return the sheet when only its first "
        "rows are filled.",
        "The other cells are locked so that nothing moves by mistake. There is no password.",
        "",
        "The answers:",
    ]
    first = len(lines)
    for line, text in enumerate([*lines, *map(neutral, answers)]):
        notes.write_string(line, 0, text, title if line in (0, first - 1) else None)
    notes.set_column(0, 0, 100)
    notes.protect()
    return first
