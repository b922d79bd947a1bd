"""The commands of `workbench course`, for lecturers."""

import os
from collections.abc import Callable

import click

from workbench import checks
from workbench.commands.options import Command, completion
from workbench.reports import parameters

OWN_FILE = "my_exercises.py"  # as in `workbench.lessons.checking`, which is slow to load

FOLDER = click.argument("folder", metavar="DIR")
SECRET = click.option(
    "--secret", metavar="FILE", help="Secret of the course.  [default: DIR-secret.txt]"
)


def _output(default: str, metavar: str, text: str) -> Callable:
    """Return the option that names the file or folder to write."""
    text = f"{text}.  [default: {default}]"
    return click.option("-o", "--output", default=default, metavar=metavar, help=text)


@click.command("make", cls=Command, example="workbench course make --students ids.csv -o course")
@click.option(
    "--students",
    required=True,
    metavar="FILE",
    help="CSV file with a column id and one row per student.",
)
@click.option(
    "--secret",
    metavar="FILE",
    help="File that only the lecturer has, needed for grading.  [default: a new DIR-secret.txt]",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    help="Folder to write, with one subfolder per student.",
)
@click.option(
    "--binder",
    metavar="URL",
    help="Binder address of your repository, for a link on the start page.",
)
@click.option(
    "--lessons",
    metavar="FOLDER",
    help="Folder of your own lessons, made by workbench lab FOLDER --copy-only.",
)
def make(
    students: str, secret: str | None, output: str, binder: str | None, lessons: str | None
) -> None:
    """Write a copy of the lessons for each student.

    Each copy has its own graded exercises. Existing folders are kept, so you can add students later
    with the same secret.

    The command also writes files next to DIR: the secret; DIR-weights.csv with the points of each
    part, which you can change; and with --lessons DIR-exercises.py, your exercises with their
    answers.
    """
    from workbench.extras.classroom import copies, seeds, variants, weights
    from workbench.extras.classroom.students import read_students

    ids = read_students(students)
    exercises = seeds.beside(output, "exercises.py")
    variants.use_exercises(os.path.join(lessons, OWN_FILE) if lessons else exercises)
    notebooks = copies.lessons(lessons)
    if binder is not None:
        copies.check_binder(binder, notebooks, lessons)
    key = seeds.read_secret(secret or seeds.new_secret(output))
    written, existing = copies.write_copies(ids, key, output, binder=binder, home=lessons)
    variants.write_exercises(exercises)
    weights.write_weights(seeds.beside(output, "weights.csv"))
    message = f"Wrote {checks.counted(len(written), 'folder')} to {output}"
    click.echo(f"{message}; kept {checks.listed(existing)}" if existing else message)


@click.command(
    cls=Command, example="workbench course grade course --gradebook export.csv -o grades.csv"
)
@FOLDER
@SECRET
@click.option(
    "--students",
    metavar="FILE",
    help="CSV file with a column id: the students to grade.  [default: all folders]",
)
@click.option(
    "--weights",
    metavar="FILE",
    help="CSV file with columns part and points.  [default: DIR-weights.csv, if it exists]",
)
@click.option(
    "--gradebook",
    metavar="FILE",
    help="Gradebook to fill in, a CSV export of Moodle or Canvas.",
)
@click.option(
    "-o",
    "--output",
    default="grades.csv",
    metavar="FILE",
    help="Table of grades; pages are written next to it.  [default: grades.csv]",
)
def grade(
    folder: str,
    secret: str | None,
    students: str | None,
    weights: str | None,
    gradebook: str | None,
    output: str,
) -> None:
    """Grade the students' folders in DIR.

    No code in them is run. The command writes a table of grades, a page per student, and a page for
    the class. The latter shows misconceptions, scenes to repeat, and likely copies.
    """
    from workbench.extras.classroom import grading, pages, seeds
    from workbench.extras.classroom.gradebooks import write_gradebook
    from workbench.extras.classroom.students import read_students
    from workbench.extras.classroom.weights import read_weights

    pages.check_outside(output, folder)
    key = _secret(folder, secret)
    ids = read_students(students) if students else None
    default_weights = seeds.beside(folder, "weights.csv")
    if weights is None and os.path.exists(default_weights):
        weights = default_weights
    points = None if weights is None else read_weights(weights)
    grades = grading.grade(folder, key, ids, points)
    written = [output]
    class_page = pages.write_grades(grades, output)
    if gradebook:
        filled, missing = write_gradebook(gradebook, grades, output)
        written.append(str(filled))
        if missing:
            click.echo(f"Not in {gradebook}: {checks.listed(missing, len(missing))}", err=True)
    for problem in grades.left_out:
        click.echo(f"Left out: {problem}", err=True)
    click.echo(f"{grading.summary(grades)}\nWrote {', '.join(written)} and {class_page}")


def _secret(folder: str, secret: str | None) -> bytes:
    """Return the secret of a class, and also grade the exercises that the lecturer added.

    The folder is read first, because without it the default secret is missing as well.
    """
    from workbench.extras.classroom import grading, seeds, variants

    grading.student_folders(folder)
    variants.use_exercises(seeds.beside(folder, "exercises.py"))
    return seeds.read_secret(secret or seeds.beside(folder, "secret.txt"))


@click.command(cls=Command, example="workbench course keys course -o keys")
@FOLDER
@SECRET
@_output("keys", "DIR", "Folder for the pages")
def keys(folder: str, secret: str | None, output: str) -> None:
    """Write worked solutions for each student in DIR.

    They use the student's own numbers. Give them to students after the deadline.
    """
    from workbench.extras.classroom import grading, pages

    pages.check_outside(os.path.join(output, "any"), folder)
    key = _secret(folder, secret)
    students = sorted(grading.student_folders(folder)[0])
    for student in students:
        pages.write_text(os.path.join(output, f"{student}.html"), pages.key_page(key, student))
    click.echo(f"Wrote worked solutions for {checks.counted(len(students), 'student')} to {output}")


@click.command(cls=Command, example="workbench course strip course -o strip.html")
@FOLDER
@SECRET
@_output("strip.html", "FILE", "HTML file")
def strip(folder: str, secret: str | None, output: str) -> None:
    """Plot the intervals that the students in DIR reported.

    The plot shows the answers to exercise 1.1, without names. All students audited the same forms
    with different samples, so the class is a simulation.
    """
    from workbench.extras.classroom import grading, pages
    from workbench.extras.classroom import strip as strips

    pages.check_outside(output, folder)
    key = _secret(folder, secret)
    class_strip = strips.class_strip(grading.grade(folder, key), key)
    pages.write_text(output, strips.strip_page(class_strip))
    click.echo(f"{class_strip.texts()[0]}\nWrote {output}")


@click.command(cls=Command, example="workbench course votes course -o votes.html")
@FOLDER
@_output("votes.html", "FILE", "HTML file")
def votes(folder: str, output: str) -> None:
    """Plot the predictions of the students in DIR.

    The plot has no names or answers. Show the page in class before you reveal the answers.
    """
    from workbench.extras.classroom import pages
    from workbench.extras.classroom import votes as predictions

    pages.check_outside(output, folder)
    questions, unread = predictions.class_votes(folder)
    for problem in unread:
        click.echo(f"Not read: {problem}", err=True)
    pages.write_text(output, predictions.votes_page(questions))
    click.echo(f"{checks.counted(len(questions), 'question')} with predictions\nWrote {output}")


@click.command(
    "concept-test", cls=Command, example="workbench course concept-test before.csv after.csv"
)
@click.argument("before")
@click.argument("after")
def concept_test(before: str, after: str) -> None:
    """Compare the answers of a class BEFORE and AFTER a course.

    Both are CSV files with a row per student: a column id, and columns 1 to 10 with the letters of
    the concept test.
    """
    from workbench.extras.classroom.concept_test import concept_gain

    click.echo("\n".join(concept_gain(before, after).lines()))


@click.command(cls=Command, example="workbench course slides stratified-accuracy -o slides.html")
@click.argument("lesson", shell_complete=completion(parameters.topics))
@_output("slides.html", "FILE", "HTML file")
def slides(lesson: str, output: str) -> None:
    """Write LESSON as slides in one HTML file.

    The file needs no network. LESSON is a topic of `workbench list` or the path of a notebook. The
    command runs it once, with all answers revealed. In the slides, use the arrow keys, and n for
    the speaker's notes.
    """
    from workbench.extras.classroom.pages import write_text
    from workbench.extras.classroom.slides import slides_page

    write_text(output, slides_page(lesson))
    click.echo(f"Wrote {output}")


@click.command(cls=Command, example="workbench course bundle offline --platform windows")
@FOLDER
@click.option(
    "--platform",
    "target",
    type=click.Choice(["linux", "windows", "macos"]),
    default="linux",
    show_default=True,
    help="System of the machines: x86-64, or arm64 on macOS.",
)
def bundle(folder: str, target: str) -> None:
    """Write an installable bundle to DIR, for use offline.

    It has wheels, notebooks and an install script, for machines without a network. Run it in the
    project's source folder. It downloads wheels from PyPI. The machines need the same version of
    Python.
    """
    from workbench.extras.classroom.bundle import write_bundle

    count, size = write_bundle(folder, target)
    wheels = checks.counted(count, "wheel")
    click.echo(f"Wrote {wheels}, {size / 1e6:,.0f} MB, notebooks and an install script to {folder}")
