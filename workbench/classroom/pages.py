"""Grades as a table for learning platforms, a page per student and a page for the class."""
from __future__ import annotations

import csv
import functools
import io
import os
from pathlib import Path
from typing import Any

from workbench.classroom.grading import VERDICTS, Graded, Grades, summary
from workbench.classroom.misconceptions import SCENES
from workbench.classroom.variants import VARIANTS
from workbench.reports.parameters import ReportError, reason

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def grades_csv(grades: Grades) -> str:
    """Return one row per student: id, points, and per exercise its points and the feedback."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["id", "points", *(name for exercise in VARIANTS for name in (exercise, f"{exercise} feedback")),
                     "remarks"])
    for student in grades.students:
        marks = [entry for mark in student.marks for entry in (mark.points, mark.misconception or mark.verdict)]
        writer.writerow([*map(spreadsheet_safe, [student.student, student.points, *marks, "; ".join(student.remarks)])])
    return table.getvalue()


def spreadsheet_safe(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe(3)
    ("'=1+1", 3)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def student_page(student: Graded) -> str:
    """Return the page of one student."""
    return page("student.html.j2", title=f"Graded exercises of {student.student}", student=student)


def class_page(grades: Grades) -> str:
    """Return the page for the lecturer: which traps, which scenes to repeat, who has how many points."""
    traps = [{"exercise": exercise, "misconception": name, "count": count, "scene": SCENES[exercise, name]}
             for exercise, name, count in grades.traps()]
    return page("class.html.j2", title="The class", summary=summary(grades), traps=traps, verdicts=VERDICTS,
                exercises=[(exercise, grades.verdicts(exercise)) for exercise in VARIANTS], students=grades.students,
                left_out=grades.left_out)


def page(template: str, **values: Any) -> str:
    """Return a page of this room; every value is escaped that is not marked as safe."""
    return _templates().get_template(template).render(**values)


@functools.cache
def _templates():
    import jinja2
    here = Path(__file__).parent
    folders = [here / "template", here.parent / "reports" / "template"]
    return jinja2.Environment(loader=jinja2.FileSystemLoader(folders), autoescape=True, trim_blocks=True,
                              lstrip_blocks=True, undefined=jinja2.StrictUndefined)


def check_outside(output: str | os.PathLike, folder: str | os.PathLike) -> None:
    """Raise ReportError if a table lies in the class's folder: its pages would be taken for a student's folder."""
    if Path(folder).resolve() in Path(output).resolve().parents:
        raise ReportError(f"{str(output)!r} must not lie in {str(folder)!r}, among the folders of the students")


def write_grades(grades: Grades, output: str | os.PathLike) -> Path:
    """Write the table and, in a folder beside it, the pages; return the page of the class."""
    output = Path(output)
    folder = output.with_name(f"{output.stem}-pages")
    write_text(output, grades_csv(grades))
    for student in grades.students:
        write_text(folder / "students" / f"{student.student}.html", student_page(student))
    write_text(folder / "class.html", class_page(grades))
    return folder / "class.html"


def write_text(path: str | os.PathLike, text: str) -> None:
    """Write a text file and the folders above it, or raise ReportError."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise ReportError(f"cannot write {str(path)!r}: {reason(error)}") from error
