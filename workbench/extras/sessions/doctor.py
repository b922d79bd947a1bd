"""What `workbench doctor` says of the export of a labeling tool."""

import shlex

import click

from workbench import checks
from workbench.commands.doctor import AGREEMENT, printable
from workbench.extras.sessions.annotations import JSON_ENDINGS, read_annotations


def describe_export(file: str) -> bool:
    """Print what the JSON export of a labeling tool is ready for, and return whether the file is one."""
    if not file.lower().endswith(JSON_ENDINGS):
        return False
    try:
        exported = read_annotations(file)
    except ValueError:  # JSON of something else
        return False
    if exported is None:
        return False
    labeled = sum(row.is_answered for row in exported.rows)
    people = {row.by or exported.by for row in exported.rows if row.is_answered} - {""}
    click.echo(
        f"{file}: {exported.tool}, {checks.counted(labeled, 'annotation')} by "
        f"{checks.counted(len(people), 'named annotator')}"
    )
    uses = [
        f"Take the labels into an audit\n    workbench audit import AUDIT.DB {shlex.quote(file)}"
    ]
    if len(people) > 1:
        uses.append(f"{AGREEMENT}\n    workbench audit agreement {shlex.quote(file)}")
    click.echo(printable("\n  ".join(["\nReady", *uses])))
    return True
