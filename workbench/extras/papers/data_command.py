"""The command `workbench data`."""

import warnings
from urllib.error import URLError

import click

from workbench import checks
from workbench.reports.parameters import refusing


@click.command()
@click.argument("name")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="A file or an archive (a Python wheel, say) that holds the data, instead of the network.",
)
def data(name: str, folder: str | None, source: str | None) -> None:
    """Put a data set of the papers, letter or forest, into DIR, once its values are the known ones.

    They come by scikit-learn's own fetchers. `workbench replay grandvalet-bengio/table2` runs on what it finds in the
    usual DIR, scikit_learn_data/workbench in your home folder; in another, name it by --data.
    """
    from workbench.cross_validation.populations import KNOWN, keep_population

    with (
        refusing(),
        refusing("not fetched (name a file that holds it by --from)", (URLError,)),
        warnings.catch_warnings(),
        checks.naming(source="--from" if source else f"what was fetched for {name}"),
    ):
        warnings.simplefilter("ignore")  # of every try that the network fails
        path = keep_population(name, folder, source=source)
    known = KNOWN[name]
    click.echo(
        f"Wrote {path}: {known.title}, {known.items:,} items of {known.features} features, the known values"
    )
