"""Grades for a learning platform: its exported gradebook, filled in for import."""

import csv
import io
from pathlib import Path

from workbench.extras.classroom.grading import Graded, Grades
from workbench.extras.classroom.pages import write_text
from workbench.extras.classroom.students import csv_rows
from workbench.reports.parameters import ReportError

ITEM = "Workbench exercises"
CANVAS = "Section"  # the last column that identifies a student, only in Canvas


def write_gradebook(export: str, grades: Grades, output: str) -> tuple[Path, list[str]]:
    """Write a filled gradebook next to the table of grades.

    The column of the export with most of the ids identifies the students. For Canvas, the file has
    its first columns, a row of possible points, and a column with the grades. For Moodle, it has
    the column of ids, and columns with grade and feedback; Moodle asks for them during the import.

    Parameters
    ----------
    export : str
        CSV file of the platform.
    grades : Grades
        The grades.
    output : str
        Path of the table of grades.

    Returns
    -------
    path : Path
        The file that was written.
    missing : list of str
        Students that are not in the gradebook.

    Raises
    ------
    ReportError
        If no column of the export has an id of a student.
    """
    header, *lines = csv_rows(export) or [[]]
    lines = [line for line in lines if len(line) == len(header)]
    by_id = {student.student.lower(): student for student in grades.students}
    counts = [
        sum(line[place].strip().lower() in by_id for line in lines) for place in range(len(header))
    ]
    if not any(counts):
        raise ReportError(
            f"no column of {export} has an id of a student; check the column id of the students"
        )
    place = counts.index(max(counts))
    known = [
        (line, by_id[line[place].strip().lower()])
        for line in lines
        if line[place].strip().lower() in by_id
    ]
    platform, rows = (
        _canvas(header, known) if CANVAS in header else _moodle(header[place], place, known)
    )
    path = Path(output).with_name(f"{Path(output).stem}-{platform}.csv")
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    write_text(path, text.getvalue())
    there = {student.student for _, student in known}
    return path, [student.student for student in grades.students if student.student not in there]


def _canvas(header: list[str], known: list[tuple[list[str], Graded]]) -> tuple[str, list[list]]:
    count = header.index(CANVAS) + 1
    possible = ["    Points Possible", *[""] * (count - 1), known[0][1].maximum]
    return "canvas", [
        [*header[:count], ITEM],
        possible,
        *([*line[:count], student.points] for line, student in known),
    ]


def _moodle(
    title: str, place: int, known: list[tuple[list[str], Graded]]
) -> tuple[str, list[list]]:
    return "moodle", [
        [title, ITEM, f"{ITEM} feedback"],
        *([line[place], student.points, student.told()] for line, student in known),
    ]
