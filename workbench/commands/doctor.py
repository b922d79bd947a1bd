"""The command `workbench doctor`: the columns of a file, and the commands that can read it."""

import shlex
from collections.abc import Collection

import click

from workbench import checks, registry
from workbench.commands.options import Command, plain
from workbench.commands.uses import Inspected, Use, uses_of
from workbench.data import roles
from workbench.reports.parameters import ReportError

SAMPLE = 50_000  # rows that are inspected
SHOWN_COLUMNS = 30
WIDEST = 30
READY = "Commands that are ready to run"
NOTHING = """
No command fits. A file needs true and predicted classes, scores, labels of annotators, or losses.
If the columns have other names, name them:
  workbench report brr-orthogonal-arrays --items {file} --truth A --prediction B"""


@click.command(cls=Command, example="workbench doctor my.csv")
@click.argument("file")
def doctor(file: str) -> None:
    """Inspect FILE and list the commands you can run on it.

    The doctor guesses the role of each column. The commands are ready to paste.
    """
    if any(describe(file) for describe in map(registry.load, registry.DESCRIBED)):
        return
    table = _inspected(file)
    _print_columns(table)
    ready = []
    unready: dict[str, str] = {}
    for use in uses_of(table):
        command = shlex.join(use.command)
        problem = use.needs or problem_of(use)
        if problem:
            unready.setdefault(problem, f"{use.question}\n    {problem}: {command}")
        else:
            ready.append(f"{use.question}\n    {command}")
    print_uses(READY, ready)
    print_uses("Commands that need one more step", unready.values())
    if not ready and not unready:
        click.echo(printable(NOTHING.format(file=shlex.quote(file))))


def print_uses(heading: str, uses: Collection[str]) -> None:
    """Print questions with their commands under a heading."""
    if uses:
        click.echo(printable("\n  ".join([f"\n{heading}", *uses])))


def printable(text: str) -> str:
    r"""Return text of a user's file with its control characters escaped, except line breaks.

    Examples
    --------
    >>> printable("name\n\x1b[31m")
    'name\n\\x1b[31m'
    """
    return "\n".join(map(plain, text.split("\n")))


def _inspected(file: str) -> Inspected:
    """Return the first rows of all columns, and how many rows there are."""
    from workbench.data import files, frames
    from workbench.data.engine import relation_columns
    from workbench.data.numbers import objects

    try:
        table = files.comparison_table(file)
        if table:
            data = {name: objects(cells[:SAMPLE]) for name, cells in table.items()}
            return Inspected(file, data, roles.columns_of(data), len(table["id"]))
        # pandas writes row numbers without a name
        names = list(filter(None, frames.column_names(file)))
        with frames.scan(file, names) as scanned:
            rows = scanned.native.aggregate("count(*)").fetchall()[0][0]
            data = relation_columns(scanned.native.limit(SAMPLE), names)
    except (ValueError, OSError) as error:
        raise ReportError(str(error)) from error
    if not rows:
        raise ReportError(f"{file!r} has a header but no rows; add at least one row")
    return Inspected(file, data, roles.columns_of(data), rows)


def _print_columns(table: Inspected) -> None:
    """Print one line for each column, and one line for all replicate weights together."""
    inspected = "" if table.rows <= SAMPLE else f"; inspected: the first {SAMPLE:,}"
    rows = checks.counted(table.rows, "row")
    columns = checks.counted(len(table.columns), "column")
    lines = [f"{table.file}: {rows}, {columns}{inspected}"]
    replicates = table.names(roles.REPLICATE)
    names = {column.name: column.name for column in table.columns}
    for name in replicates[1:]:
        del names[name]
        names[replicates[0]] = f"{replicates[0]} to {replicates[-1]}"
    width = min(max(map(len, names.values())), WIDEST)
    for column in table.columns:
        if column.name in names:
            missing = f"; {column.missing:,} missing" if column.missing else ""
            role = f"{column.seems:<22}  {column.holds}{missing}"
            lines.append(f"  {names[column.name]:<{width}}  {role}")
    hidden = len(lines) - SHOWN_COLUMNS - 1
    if hidden > 0:
        lines[-hidden:] = [f"  and {hidden:,} more"]
    for line in lines:
        click.echo(printable(line))


def problem_of(use: Use) -> str:
    """Return the error that the command would report for the file, "" for none."""
    try:
        use.read()
    except checks.WrongArgument as error:
        return error.called(lambda argument: f"--{argument.replace('_', '-')}")
    except ValueError as error:
        return str(error)
    return ""
