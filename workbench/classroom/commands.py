"""The commands of a course: course, grade."""
from __future__ import annotations

import click

from workbench import checks


def register(commands: click.Group) -> None:
    """Add the commands of this room to the command line."""
    for command in (course,):
        commands.add_command(command)


@click.command()
@click.option("--students", required=True, metavar="FILE", help="CSV with a column id, one row per student.")
@click.option("--secret", required=True, metavar="FILE", help="A file that only the lecturer has; grading needs it.")
@click.option("-o", "--output", required=True, metavar="DIR", help="One folder per student is written here.")
def course(students, secret, output):
    """Write each student's copy of the lessons, graded exercises with data of their own.

    Folders that exist are kept, so that students can be added later with the same secret.
    """
    from workbench.classroom.copies import write_copies
    from workbench.classroom.seeds import read_secret
    from workbench.classroom.students import read_students
    written, kept = write_copies(read_students(students), read_secret(secret), output)
    click.echo(f"Wrote {checks.counted(len(written), 'folder')} to {output}"
               + (f"; kept {checks.listed(kept)}" if kept else ""))
