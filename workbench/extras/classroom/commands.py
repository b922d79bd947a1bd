"""The commands of a course: course, grade, keys, strip, votes, concept-test, slides, bundle."""

import os
from typing import Any

import click

from workbench import checks

OWN_FILE = "my_exercises.py"  # as in `workbench.lessons.checking`, which is slow to load

SECRET = click.option(
    "--secret", metavar="FILE", help="The secret that the course was made with.  [DIR-secret.txt]"
)


@click.command()
@click.option(
    "--students", required=True, metavar="FILE", help="CSV with a column id, one row per student."
)
@click.option(
    "--secret",
    metavar="FILE",
    help="A file that only the lecturer has; grading needs it.  [beside DIR, made with the course]",
)
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="One folder per student is written here."
)
@click.option(
    "--binder",
    metavar="URL",
    help="Where a Binder starts your repository; the start page links to it.",
)
@click.option(
    "--lessons",
    metavar="FOLDER",
    help="Your own lessons and exercises, as made by workbench lab FOLDER --copy-only.",
)
def course(
    students: str, secret: str | None, output: str, binder: str | None, lessons: str | None
) -> None:
    """Write each student's copy of the lessons, graded exercises with data of their own.

    Folders that exist are kept, so that students can be added later with the same secret. Beside
    DIR lie the secret and DIR-weights.csv, the points of each part, which you may change. With
    --lessons also DIR-exercises.py, your exercises with their answers.
    """
    from workbench.extras.classroom import copies, seeds, variants, weights
    from workbench.extras.classroom.students import read_students

    ids = read_students(students)
    exercises = seeds.beside(output, "exercises.py")
    variants.use_exercises(os.path.join(lessons, OWN_FILE) if lessons else exercises)
    copies.lessons(lessons)
    key = seeds.read_secret(secret or seeds.new_secret(output))
    written, kept = copies.write_copies(ids, key, output, binder=binder, home=lessons)
    variants.write_exercises(exercises)
    weights.write_weights(seeds.beside(output, "weights.csv"))
    click.echo(
        f"Wrote {checks.counted(len(written), 'folder')} to {output}"
        + (f"; kept {checks.listed(kept)}" if kept else "")
    )


@click.command()
@click.argument("folder", metavar="DIR")
@SECRET
@click.option(
    "--students",
    metavar="FILE",
    help="Who is graded, folder or not: CSV with a column id.  [all folders]",
)
@click.option(
    "--weights",
    metavar="FILE",
    help="Points per part: CSV with columns part and points.  [DIR-weights.csv, where it is there]",
)
@click.option(
    "--gradebook",
    metavar="FILE",
    help="A gradebook that Moodle or Canvas exported as CSV, to be filled in.",
)
@click.option(
    "-o",
    "--output",
    default="grades.csv",
    metavar="FILE",
    help="The table; pages go beside it.  [grades.csv]",
)
def grade(
    folder: str,
    secret: str | None,
    students: str | None,
    weights: str | None,
    gradebook: str | None,
    output: str,
) -> None:
    """Grade the students' folders in DIR; nothing in them is run.

    Writes a table, and beside it a page per student and a page for the class: which traps, which
    scenes to repeat, which likely copies.
    """
    from workbench.extras.classroom import grading, pages, seeds
    from workbench.extras.classroom.students import read_students

    pages.check_outside(output, folder)
    grades = grading.grade(
        folder,
        _secret(folder, secret),
        read_students(students) if students else None,
        _weights(weights or seeds.beside(folder, "weights.csv"), weights is not None),
    )
    written = [output, str(pages.write_grades(grades, output))]
    if gradebook:
        from workbench.extras.classroom.gradebooks import write_gradebook

        filled, missing = write_gradebook(gradebook, grades, output)
        written.insert(1, str(filled))
        if missing:
            click.echo(f"Not in {gradebook}: {checks.listed(missing, len(missing))}", err=True)
    for each in grades.left_out:
        click.echo(f"Left out: {each}", err=True)
    click.echo(f"{grading.summary(grades)}\nWrote {', '.join(written[:-1])} and {written[-1]}")


def _secret(folder: str, secret: str | None) -> bytes:
    """Return the secret of a class; exercises that the lecturer added to its course are graded from then on."""
    from workbench.extras.classroom import seeds, variants

    variants.use_exercises(seeds.beside(folder, "exercises.py"))
    return seeds.read_secret(secret or seeds.beside(folder, "secret.txt"))


def _weights(path: str, given: bool) -> dict[str, dict[str, float]]:
    from workbench.extras.classroom.weights import all_weights, read_weights

    return read_weights(path) if given or os.path.exists(path) else all_weights()


@click.command()
@click.argument("folder", metavar="DIR")
@SECRET
@click.option("-o", "--output", default="keys", metavar="DIR", help="The pages go here.  [keys]")
def keys(folder: str, secret: str | None, output: str) -> None:
    """Write the worked solutions of each student in DIR, with the student's own numbers.

    Hand them out once nobody can hand in any more.
    """
    from workbench.extras.classroom import grading, pages

    pages.check_outside(os.path.join(output, "any"), folder)
    key = _secret(folder, secret)
    students = sorted(grading.student_folders(folder))
    for student in students:
        pages.write_text(os.path.join(output, f"{student}.html"), pages.key_page(key, student))
    click.echo(f"Wrote worked solutions for {checks.counted(len(students), 'student')} to {output}")


@click.command()
@click.argument("folder", metavar="DIR")
@SECRET
@click.option(
    "-o", "--output", default="strip.html", metavar="FILE", help="The page.  [strip.html]"
)
def strip(folder: str, secret: str | None, output: str) -> None:
    """Draw the intervals that the students in DIR reported for exercise 1.1 as one strip, without names.

    All of them audited the same forms, each with labels of his own: the class is the simulation.
    """
    from workbench.extras.classroom import grading, pages
    from workbench.extras.classroom import strip as strips

    pages.check_outside(output, folder)
    key = _secret(folder, secret)
    found = strips.class_strip(grading.grade(folder, key), key)
    pages.write_text(output, strips.strip_page(found))
    click.echo(f"{found.words()[0]}\nWrote {output}")


@click.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "-o", "--output", default="votes.html", metavar="FILE", help="The page.  [votes.html]"
)
def votes(folder: str, output: str) -> None:
    """Draw what the students in DIR predicted, to show before the reveal: no names, no answers."""
    from workbench.extras.classroom import pages
    from workbench.extras.classroom import votes as predictions

    pages.check_outside(output, folder)
    found, unread = predictions.class_votes(folder)
    for each in unread:
        click.echo(f"Not read: {each}", err=True)
    pages.write_text(output, predictions.votes_page(found))
    click.echo(f"{checks.counted(len(found), 'question')} with predictions\nWrote {output}")


@click.command("concept-test")
@click.argument("before")
@click.argument("after")
def concept_test(before: str, after: str) -> None:
    """Compare the answers of a class BEFORE and AFTER a course, two CSV files.

    A row per student: id, and in columns 1 to 10 the letters of the concept test.
    """
    from workbench.extras.classroom.concept_test import concept_gain

    click.echo("\n".join(concept_gain(before, after).lines()))


@click.command()
@click.argument("lesson")
@click.option(
    "-o", "--output", default="slides.html", metavar="FILE", help="The page.  [slides.html]"
)
def slides(lesson: Any, output: Any) -> Any:
    """Write LESSON as slides: one HTML file, without a network.

    LESSON is a topic of `workbench list` or the path of a notebook. It is run once, with everything
    shown that learners must predict first. Arrow keys step, n shows the speaker's notes.
    """
    from workbench.extras.classroom.pages import write_text
    from workbench.extras.classroom.slides import slides_page

    write_text(output, slides_page(lesson))
    click.echo(f"Wrote {output}")


@click.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--platform",
    "target",
    type=click.Choice(["linux", "windows", "macos"]),
    default="linux",
    show_default=True,
    help="Where it will be installed: x86-64, on macOS arm64.",
)
def bundle(folder: str, target: str) -> None:
    """Write wheels, notebooks and an install script to DIR, for machines without a network.

    Runs in the project's source folder and takes wheels from PyPI; the machines need the same
    version of Python.
    """
    from workbench.extras.classroom.bundle import write_bundle

    count, size = write_bundle(folder, target)
    wheels = checks.counted(count, "wheel")
    click.echo(f"Wrote {wheels}, {size / 1e6:,.0f} MB, notebooks and an install script to {folder}")
