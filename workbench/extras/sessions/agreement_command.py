"""The command `workbench audit agreement`: the agreement of annotators, from their files."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from workbench import checks
from workbench.commands.options import RefusingCommand
from workbench.commands.options import plain as printable
from workbench.results import Note, percent, sentences

if TYPE_CHECKING:
    from workbench.labeling.agreement import Agreement

MOST_PAIRS, MOST_ITEMS = 5, 20  # largest numbers that are printed


@click.command(
    "agreement",
    cls=RefusingCommand,
    example="workbench audit agreement coders.csv\n"
    "workbench audit agreement grades.csv --annotators human,judge --scale ordinal\n"
    "workbench audit agreement ann.jsonl ben.jsonl",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--annotators",
    default="",
    metavar="A,B",
    help="Columns of annotators.  [default: those with the same classes]",
)
@click.option("--item", default="", metavar="COLUMN", help="Column that identifies an item.")
@click.option(
    "--annotator",
    default="",
    metavar="COLUMN",
    help="Column of annotators, in a table with a row for each label.",
)
@click.option("--label", default="", metavar="COLUMN", help="Column of labels, in such a table.")
@click.option(
    "--scale",
    default="nominal",
    show_default=True,
    type=click.Choice(["nominal", "ordinal", "interval"]),
    help="Type of classes: without order, ordered (grades), or numbers with meaningful "
    "differences.",
)
@click.option(
    "--order",
    default="",
    metavar="LOW,...,HIGH",
    help="All classes in order, for --scale ordinal.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level.")
def agreement(files: tuple[str, ...], scale: str, order: str, level: float, **columns: str) -> None:
    """Measure the agreement of annotators who labeled the same items.

    FILE is a table with a column for each annotator, or with a row for each label (item, annotator,
    label). You can also give several filled annotation sheets, or exports of Label Studio, doccano
    or Prodigy.
    """
    from workbench.labeling.agreement import agreement as agreement_of
    from workbench.labeling.annotators import as_labels, read_annotators

    read = read_annotators(*files, **columns)
    classes = as_labels([name.strip() for name in order.split(",")]) if order else None
    result = agreement_of(read.labels(), level=level, scale=scale, order=classes)
    print_notes(read.notes)
    _tell(result, [*read.items])
    print_notes(result.notes)


def _tell(result: "Agreement", items: list[str]) -> None:
    """Print the coefficients of all classes, the disagreements, and the items to settle."""
    click.echo(f"{result.headline()}.")
    rows = [row for row in result.rows() if row["label"] == ""]
    names = [
        row["metric"].replace("_", ", ") + (f" ({printable(row['group'])})" if row["group"] else "")
        for row in rows
    ]
    width = max(map(len, names))
    click.echo(f"Coefficients with {percent(result.level)} confidence intervals:")
    for name, row in zip(names, rows, strict=True):
        limits = "undefined"
        if row["estimate"] == row["estimate"]:
            limits = "{estimate:.3f} ({low:.3f} to {high:.3f})".format(**row)
        click.echo(f"  {name:<{width}}  {limits}  {checks.counted(row['n'], 'item')}")
    differing = result.who_differs()[:MOST_PAIRS]
    if differing:
        click.echo("Most frequent disagreements:")
    for row in differing:
        click.echo(
            printable(
                f"  {row['first']}: {row['first_label']}, {row['second']}: {row['second_label']}, "
                f"{checks.counted(row['count'], 'item')}"
            )
        )
    if len(result.unsettled):
        click.echo(
            printable(
                "Items to settle: "
                f"{checks.listed([items[k] for k in result.unsettled.tolist()], MOST_ITEMS)}."
            )
        )


def print_notes(notes: Iterable[Note]) -> None:
    """Print notes as sentences."""
    for note in sentences(notes):
        click.echo(f"Note: {printable(note)}.")
