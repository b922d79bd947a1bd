"""Pages of a course: grades as a table, a page per student, and a page for the class."""

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.data import safe_csv, whole_files
from workbench.data.whole_files import StrPath
from workbench.extras.classroom.grading import VERDICTS, Graded, Grades, summary
from workbench.extras.classroom.variants import graded, question_of, task_of
from workbench.lessons.checking import exercises, worked
from workbench.reports import templates
from workbench.reports.parameters import ReportError, refusing

if TYPE_CHECKING:
    import altair as alt
    from markupsafe import Markup

LOOKED_AT = 10_000  # characters at the beginning of a file that show its kind
GENERATOR = '<meta name="generator"'


def student_page(student: Graded) -> str:
    """Return the page of one student."""
    return page("student.html.j2", title=f"Graded exercises of {student.student}", student=student)


def class_page(grades: Grades) -> str:
    """Return the page for the lecturer: misconceptions, scenes to repeat, and points."""
    assessments = [row for student in grades.students for row in student.assessments]
    traps = Counter(
        (row.exercise, row.misconception, row.scene) for row in assessments if row.misconception
    )
    ordered = sorted(traps.items(), key=lambda item: (-item[1], item[0]))
    verdicts = Counter((row.exercise, row.verdict) for row in assessments)
    return page(
        "class.html.j2",
        title="The class",
        summary=summary(grades),
        traps=[(*trap, count) for trap, count in ordered],
        verdicts=VERDICTS,
        exercises=[(name, [verdicts[name, verdict] for verdict in VERDICTS]) for name in graded()],
        students=grades.students,
        left_out=grades.left_out,
        copies=sorted(grades.copies, key=lambda copy: copy.chance),
    )


def key_page(secret: bytes, student: str) -> str:
    """Return the page with worked solutions for one student."""
    parts = []
    for exercise in graded():
        task = task_of(secret, student, exercise)
        solution = worked(exercise, **task) or [exercises()[exercise].explanation()]
        steps = "\n".join(f"1. {step}" for step in solution)
        parts.append(f"## {exercise}\n\n{question_of(exercise, task)}\n\n{steps}")
    text = html_of(list(map(markdown_cell, parts)), Path())
    return page("text.html.j2", title=f"Worked solutions for {student}", text=text)


def markdown_cell(text: str) -> dict:
    """Return a cell of a notebook."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def page(template: str, **values: Any) -> str:
    """Return a page of this subpackage, marked by its kind; text in it is escaped."""
    return templates.render(
        template, Path(__file__).parent / "template", kind=template.partition(".")[0], **values
    )


def html_of(cells: list[dict], folder: Path) -> "Markup":
    """Return the cells of a notebook as HTML, without code and with formulas."""
    import nbformat
    from markupsafe import Markup

    from workbench.reports.pages import body

    parts = body(nbformat.from_dict({"cells": cells}), folder, explain=False)
    return Markup("\n").join((parts.heading, parts.finding, parts.content))


def picture(chart: "alt.TopLevelMixin", alternative: str) -> "Markup":
    """Return a chart as a picture for a page."""
    from workbench.widgets import pictures
    from workbench.widgets.chart_view import image

    content, size = pictures.entry(image(chart).png())
    return templates.picture("image/png", content, alternative, size)


def check_outside(output: StrPath, folder: StrPath) -> None:
    """Raise ReportError if an output is in the folder of the class, among those of students."""
    if Path(folder).resolve() in Path(output).resolve().parents:
        raise ReportError(
            f"{str(output)!r} must not be in {str(folder)!r}, among the folders of the students"
        )


def write_grades(grades: Grades, output: StrPath) -> Path:
    """Write the table, and the pages in a folder next to it; return the page of the class."""
    output = Path(output)
    folder = output.with_name(f"{output.stem}-pages")
    header = ["id", "points", "maximum"]
    for exercise in graded():
        header += [exercise, f"{exercise} feedback"]
    header.append("remarks")
    rows = []
    for student in grades.students:
        row = [student.student, student.points, student.maximum]
        for assessment in student.assessments:
            row += [assessment.points, assessment.feedback]
        rows.append([*row, "; ".join((*student.remarks, *student.about_others))])
    with refusing():
        safe_csv.refuse_other(output, header)
        output.parent.mkdir(parents=True, exist_ok=True)
        safe_csv.write_rows(output, header, rows)
    for student in grades.students:
        write_text(folder / "students" / f"{student.student}.html", student_page(student))
    write_text(folder / "class.html", class_page(grades))
    return folder / "class.html"


def write_text(path: StrPath, text: str) -> None:
    """Write a text file and its folders, or raise ReportError if it would replace another kind."""
    if os.path.isfile(path) and os.path.getsize(path) and _kind(text) != _kind(_beginning(path)):
        raise ReportError(
            f"{os.fspath(path)!r} exists and was not made by this command; choose another path"
        )
    with refusing():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        whole_files.write_text(path, text)


def _beginning(path: StrPath) -> str:
    with refusing(), open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        return file.read(LOOKED_AT)


def _kind(text: str) -> str:
    """Return the line that shows the kind of a file: of a page, or the first line of text."""
    return min(text[:LOOKED_AT].splitlines(), key=lambda line: not line.startswith(GENERATOR))
