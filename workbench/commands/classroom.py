"""The commands of a course: course, grade, keys, strip, votes, concept-test, slides, bundle."""

from typing import Any

import click

from workbench import checks


@click.command()
@click.option("--students", required=True, metavar="FILE", help="CSV with a column id, one row per student.")
@click.option("--secret", required=True, metavar="FILE", help="A file that only the lecturer has; grading needs it.")
@click.option("-o", "--output", required=True, metavar="DIR", help="One folder per student is written here.")
@click.option("--binder", metavar="URL", help="Where a Binder starts your repository; the start page links to it.")
def course(students: str, secret: str, output: str, binder: str | None) -> None:
    """Write each student's copy of the lessons, graded exercises with data of their own.

    Folders that exist are kept, so that students can be added later with the same secret.
    """
    from workbench.classroom import copies, seeds
    from workbench.classroom.students import read_students
    written, kept = copies.write_copies(read_students(students), seeds.read_secret(secret), output, binder=binder)
    click.echo(f"Wrote {checks.counted(len(written), 'folder')} to {output}"
               + (f"; kept {checks.listed(kept)}" if kept else ""))


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("--secret", required=True, metavar="FILE", help="The secret that the course was made with.")
@click.option("--students", metavar="FILE", help="Who is graded, folder or not: CSV with a column id.  [all folders]")
@click.option("-o", "--output", default="grades.csv", metavar="FILE",
              help="The table; pages go beside it.  [grades.csv]")
def grade(folder: str, secret: str, students: str | None, output: str) -> None:
    """Grade the students' folders in DIR; nothing in them is run.

    Writes a table, and beside it a page per student and a page for the class: which traps, which
    scenes to repeat.
    """
    from workbench.classroom import grading, pages, seeds
    from workbench.classroom.students import read_students
    pages.check_outside(output, folder)
    grades = grading.grade(folder, seeds.read_secret(secret), read_students(students) if students else None)
    written = pages.write_grades(grades, output)
    for each in grades.left_out:
        click.echo(f"Left out: {each}", err=True)
    click.echo(f"{grading.summary(grades)}\nWrote {output} and {written}")


@click.command()
@click.option("--students", required=True, metavar="FILE", help="CSV with a column id, one row per student.")
@click.option("--secret", required=True, metavar="FILE", help="The secret that the course was made with.")
@click.option("-o", "--output", required=True, metavar="DIR", help="One text per student is written here.")
def keys(students: str, secret: str, output: str) -> None:
    """Write each student's graded exercises solved step by step, to hand out after the deadline."""
    from pathlib import Path

    from workbench.classroom import pages, seeds, variants
    from workbench.classroom.students import read_students
    key, ids = seeds.read_secret(secret), read_students(students)
    for student in ids:
        pages.write_text(Path(output) / f"{student}.md", variants.solved(key, student))
    click.echo(f"Wrote {checks.counted(len(ids), 'text')} to {output}")


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("--secret", required=True, metavar="FILE", help="The secret that the course was made with.")
@click.option("-o", "--output", default="strip.html", metavar="FILE", help="The page.  [strip.html]")
def strip(folder: str, secret: str, output: str) -> None:
    """Draw the intervals that the students in DIR reported for exercise 1.1 as one strip, without names.

    All of them audited the same forms, each with labels of his own: the class is the simulation.
    """
    from workbench.classroom import grading, pages, seeds
    from workbench.classroom import strip as strips
    key = seeds.read_secret(secret)
    found = strips.class_strip(grading.grade(folder, key), key)
    pages.write_text(output, strips.strip_page(found))
    click.echo(f"{found.words()[0]}\nWrote {output}")


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("-o", "--output", default="votes.html", metavar="FILE", help="The page.  [votes.html]")
def votes(folder: str, output: str) -> None:
    """Draw what the students in DIR predicted, to show before the reveal: no names, no answers."""
    from workbench.classroom import pages
    from workbench.classroom import votes as predictions
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
    from workbench.classroom.concept_test import concept_gain
    click.echo("\n".join(concept_gain(before, after).lines()))


@click.command()
@click.argument("lesson")
@click.option("-o", "--output", default="slides.html", metavar="FILE", help="The page.  [slides.html]")
def slides(lesson: Any, output: Any) -> Any:
    """Write LESSON as slides: one HTML file, without a network.

    LESSON is a topic of `workbench list` or the path of a notebook. It is run once, with everything
    shown that learners must predict first. Arrow keys step, n shows the speaker's notes.
    """
    from workbench.classroom.pages import write_text
    from workbench.classroom.slides import slides_page
    write_text(output, slides_page(lesson))
    click.echo(f"Wrote {output}")


@click.command()
@click.argument("folder", metavar="DIR")
@click.option("--platform", "target", type=click.Choice(["linux", "windows", "macos"]), default="linux",
              show_default=True, help="Where it will be installed: x86-64, on macOS arm64.")
def bundle(folder: str, target: str) -> None:
    """Write wheels, notebooks and an install script to DIR, for machines without a network.

    Runs in the project's source folder and takes wheels from PyPI; the machines need the same
    version of Python.
    """
    from workbench.classroom.bundle import write_bundle
    count, size = write_bundle(folder, target)
    wheels = checks.counted(count, "wheel")
    click.echo(f"Wrote {wheels}, {size / 1e6:,.0f} MB, notebooks and an install script to {folder}")


COMMANDS = (course, grade, keys, strip, votes, concept_test, slides, bundle)
