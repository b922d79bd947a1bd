"""Lists of students from CSV files; an error names every wrong row."""

import csv
import io
import itertools
import re

from workbench.course.learners import LONGEST_ID, id_problem
from workbench.data.text_files import text_and_notes
from workbench.reports.parameters import ReportError, refusing

COLUMN = "id"


def read_students(path: str) -> list[str]:
    """Return the ids in the column `id` of a CSV file; an error names every wrong row.

    Parameters
    ----------
    path : str
        File with columns separated by comma, semicolon or tab.
    """
    return [student for _, student, _ in read_rows(path)]


def read_rows(path: str, columns: tuple[str, ...] = ()) -> list[tuple[int, str, dict[str, str]]]:
    """Return row number, id and entries by column for each student in a CSV file.

    Parameters
    ----------
    path : str
        File with columns separated by comma, semicolon or tab.
    columns : tuple of str
        Required columns in addition to `id`.
    """
    lines = csv_rows(path)
    header = [name.strip().lower() for name in lines[0]] if lines else []
    for column in (COLUMN, *columns):
        if header.count(column) != 1:
            listed = ", ".join(map(repr, header)) or "none"
            raise ReportError(f"{path} must have one column {column!r}; it has {listed}")
    rows: list[tuple[int, str, dict[str, str]]] = []
    problems = []
    first_rows: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines[1:], 2):
        if not any(entry.strip() for entry in line):
            continue
        row = dict(itertools.zip_longest(header, line[: len(header)], fillvalue=""))
        student = row[COLUMN].strip()
        rows.append((number, student, row))
        earlier, other = first_rows.setdefault(student.lower(), (number, student))
        problem = id_problem(student)
        if any(line[len(header) :]):
            problems.append(
                f"row {number}: {len(line)} entries, but the header has {len(row)}; text with the "
                "separator needs quotes"
            )
        elif problem:
            problems.append(f"row {number}: id {student[: LONGEST_ID + 1]!r} {problem}")
        elif earlier != number:
            same = "is already" if other == student else f"differs only by case from {other!r}"
            problems.append(f"row {number}: id {student!r} {same} in row {earlier}")
    if not rows:
        raise ReportError(f"{path} has no students")
    if problems:
        raise ReportError(f"{path}, {'; '.join(problems)}")
    return rows


def csv_rows(path: str) -> list[list[str]]:
    """Return the rows of a CSV file with comma, semicolon or tab as the separator."""
    with (
        refusing(f"cannot read {path!r}", (OSError,)),
        open(path, "rb"),  # a missing file is not an invalid one
        refusing(f"{path} is not a valid CSV file", (ValueError, csv.Error)),
    ):
        text, _ = text_and_notes(path, path)
        first = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
        delimiter = max(",;\t", key=first.count)
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
