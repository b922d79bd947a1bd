"""Label sheets as workbooks of Excel: a list of answers to choose from, all other cells locked against accidents."""

import importlib.util
from collections.abc import Iterable, Sequence
from typing import Any

from workbench.data.safe_csv import neutral, write_cell
from workbench.data.whole_files import whole_file

LABELS = "labels"
NOTES = "how to fill"
LONGEST = 60
_WIDTHS = {"id": 14, "position": 9}


def check_writer(path: str) -> None:
    """Raise where there is nothing to write workbooks with."""
    if importlib.util.find_spec("xlsxwriter") is None:
        raise ValueError(
            f"{path!r} needs XlsxWriter: pip install 'evaluation-workbench[xlsx]', or write a sheet that "
            "ends in .csv"
        )


def write_label_workbook(
    path: str, header: Sequence[str], rows: Iterable[Sequence], answers: Sequence[str]
) -> None:
    """Write a sheet whose last column is chosen from a list, and a second sheet that says how to fill it.

    All cells but those of the last column are locked, without a password, and formatted as text, so that a spreadsheet
    keeps an identifier such as 007 as it is; what it would execute gets a leading apostrophe.

    Parameters
    ----------
    path : str
        Ends in .xlsx; written as a whole or not at all.
    header : sequence of str
    rows : iterable of sequence
        Cells: text or whole numbers, the last one an answer or "".
    answers : sequence of str
        What can be chosen.

    Examples
    --------
    >>> import tempfile
    >>> from workbench.data.frames import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_label_workbook(folder + "/s.xlsx", ("id", "correct"), [("007", ""), ("=9", "")], ["right", "wrong"])
    ...     read_columns(folder + "/s.xlsx", ["id"])[0]["id"].tolist()
    ['007', "'=9"]
    """
    check_writer(path)
    import xlsxwriter

    rows = list(rows)
    with whole_file(path) as part, xlsxwriter.Workbook(part) as book:
        plain = book.add_format({"num_format": "@", "valign": "top", "text_wrap": True})
        answered = book.add_format(
            {
                "num_format": "@",
                "valign": "top",
                "locked": False,
                "bg_color": "#FFF6D6",
                "border": 1,
                "border_color": "#C8B36B",
            }
        )
        title = book.add_format({"num_format": "@", "bold": True})
        sheet = book.add_worksheet(LABELS)
        notes = book.add_worksheet(NOTES)
        sheet.write_row(0, 0, header, title)
        last = len(header) - 1
        for line, row in enumerate(rows, 1):
            for place, cell in enumerate(row):
                if write_cell(sheet, line, place, cell, answered if place == last else plain):
                    raise ValueError(
                        f"column {header[place]!r}, row {line + 1} of the workbook does not fit: a cell "
                        "takes 32,767 characters, a sheet 1,048,576 rows; write a sheet that ends in .csv"
                    )
        first = _write_notes(notes, header[-1], answers, title)
        _let_choose(sheet, len(rows), last, f"='{NOTES}'!$A${first + 1}:$A${first + len(answers)}")
        _lay_out(sheet, header, rows)


def _write_notes(notes: Any, column: Any, answers: Any, title: Any) -> int:
    """Write what to do; return the row of the first answer, counted from 0."""
    lines = [
        f"For each row of the sheet {LABELS!r} choose an answer in the column {column!r}, from top to bottom.",
        "Leave the cell empty where you cannot say; any beginning of the sheet can be handed in.",
        "The other cells are locked so that nothing shifts; there is no password.",
        "",
        "The answers:",
    ]
    for line, text in enumerate(lines):
        notes.write_string(line, 0, text, title if line in (0, len(lines) - 1) else None)
    for line, answer in enumerate(answers, len(lines)):
        notes.write_string(line, 0, neutral(answer))
    notes.set_column(0, 0, 100)
    notes.protect()
    return len(lines)


def _let_choose(sheet: Any, n_rows: int, column: int, answers: str) -> None:
    sheet.data_validation(
        1,
        column,
        max(n_rows, 1),
        column,
        {
            "validate": "list",
            "source": answers,
            "error_title": "Not an answer",
            "error_message": f"Choose from the list; the sheet {NOTES!r} says what there is.",
        },
    )
    sheet.protect("", {"format_columns": True, "format_rows": True})


def _lay_out(sheet: Any, header: Any, rows: Any) -> None:
    sheet.freeze_panes(1, 0)
    for place, name in enumerate(header):
        longest = max((len(str(row[place])) for row in rows[:100]), default=0)
        sheet.set_column(
            place, place, min(max(longest, len(name), _WIDTHS.get(name, 10)) + 2, LONGEST)
        )
