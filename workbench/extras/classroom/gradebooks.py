"""Grades for a learning platform: its exported gradebook, filled in for import."""

import csv
import io
from pathlib import Path

from workbench.extras.classroom.grading import Grades
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
    columns = [[cell.strip().lower() for cell in column] for column in zip(*lines, strict=True)]
    counts = [sum(cell in by_id for cell in column) for column in columns]
    if not any(counts):
        raise ReportError(
            f"no column of {export} has an id of a student; check the column id of the students"
        )
    id_column = counts.index(max(counts))
    pairs = zip(lines, map(by_id.get, columns[id_column]), strict=True)
    matches = [(line, student) for line, student in pairs if student]
    rows: list[list]
    if CANVAS in header:
        platform = "canvas"
        count = header.index(CANVAS) + 1
        possible = ["    Points Possible", *[""] * (count - 1), matches[0][1].maximum]
        rows = [[*header[:count], ITEM], possible]
        rows += [[*line[:count], student.points] for line, student in matches]
    else:
        platform = "moodle"
        rows = [[header[id_column], ITEM, f"{ITEM} feedback"]]
        for line, student in matches:
            feedback = "; ".join(f"{row.exercise} {row.feedback}" for row in student.assessments)
            rows.append([line[id_column], student.points, feedback])
    path = Path(output).with_name(f"{Path(output).stem}-{platform}.csv")
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    write_text(path, text.getvalue())
    entered = {student.student for _, student in matches}
    return path, [row.student for row in grades.students if row.student not in entered]
