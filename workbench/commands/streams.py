"""The commands `workbench sample stream` and `workbench sample reduce`.

`stream` samples a file in batches; `reduce` makes such a sample smaller.
"""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench import checks
from workbench.commands.options import RefusingCommand
from workbench.results import NO_INTERVAL, Note, digits, percent, sentences

if TYPE_CHECKING:
    from workbench.allocation.rules import Allocation

ROWS = 100_000  # of a batch
MOST_STRATA = 12  # whose records are printed
SAMPLED = ("id", "stratum", "value", "weight")


class FileCommand(RefusingCommand):
    """A command that reads a file and reports a mistake of the user in one line."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command and report the errors of its input as mistakes of the user."""
        try:
            return super().invoke(context)
        except (ValueError, TypeError, OSError) as error:
            raise click.ClickException(str(error)) from error


def _with_columns(function: Any) -> Any:
    """Add the options that both commands have."""
    options = (
        click.option(
            "--strata-by",
            "by",
            required=True,
            metavar="COLUMN",
            help="Column with the stratum of each record.",
        ),
        click.option(
            "--id", "id", required=True, metavar="COLUMN", help="Column that identifies a record."
        ),
        click.option("--budget", type=int, required=True, help="Number of records to keep."),
        click.option(
            "--minimum", type=int, default=2, show_default=True, help="Minimum number per stratum."
        ),
        click.option(
            "--seed", type=int, default=0, show_default=True, help="Seed of the random sample."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command(
    cls=FileCommand,
    example="workbench sample stream records.parquet --strata-by segment --value amount "
    "--id item --budget 500 -o sample.csv",
)
@click.argument("file", metavar="FILE")
@_with_columns
@click.option(
    "--value",
    required=True,
    metavar="COLUMN",
    help="Column of numbers whose mean is estimated.",
)
@click.option(
    "--bounds",
    default="",
    metavar='"LOW, HIGH"',
    help="Smallest and largest possible value, for a better interval.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level.")
@click.option(
    "-o",
    "--output",
    default="sample.csv",
    show_default=True,
    help="CSV file for the sampled records.",
)
@click.option(
    "--json",
    metavar="FILE",
    help="Also write the estimate as JSON. Its schema: "
    "`python -m pydoc workbench.reports.records`.",
)
@click.option(
    "--checkpoint",
    metavar="FILE",
    help="File that saves the progress after each batch; removed at the end.  "
    "[default: OUTPUT.checkpoint]",
)
def stream(
    file: str,
    by: str,
    id: str,
    budget: int,
    minimum: int,
    seed: int,
    value: str,
    bounds: str,
    level: float,
    output: str,
    json: str | None,
    checkpoint: str | None,
) -> None:
    """Sample the rows of FILE in one pass and estimate a mean.

    The sample is stratified, and the mean is that of a column. The command reads FILE in batches.
    If it is interrupted, run it again: it continues after the last batch.
    """
    from workbench.allocation.streams.batches import stream_file
    from workbench.allocation.streams.sampler import StreamSampler
    from workbench.data.safe_csv import refuse_other, write_rows

    header = (id, by, value, "weight")
    limits = checks.bounds_of(bounds) if bounds else None
    level = checks.level(level)
    if len(set(header)) < len(header):
        raise ValueError(
            f"the columns of the sample must have different names; got {checks.listed(header)}; "
            "rename one"
        )
    checkpoint = checkpoint or f"{output}.checkpoint"
    check_outputs(output=output, checkpoint=checkpoint, json=json)
    refuse_other(output, header)
    sampler = StreamSampler(budget, minimum=checks.whole("minimum", minimum, 2), seed=seed)
    columns = {"by": by, "value": value, "id": id}
    for _ in stream_file(file, sampler, **columns, rows=ROWS, checkpoint=checkpoint):
        pass
    estimate = sampler.estimate()
    interval = estimate.interval(level, bounds=limits)
    rows = [[row[name] for name in SAMPLED] for row in estimate.sample_rows()]
    write_rows(output, header, rows)
    if json:
        parameters = {
            "file": os.path.basename(file),
            "strata_by": by,
            "value": value,
            "id": id,
            "budget": budget,
            "minimum": minimum,
            "seed": seed,
            "bounds": bounds,
            "level": level,
        }
        _write_json(json, estimate, interval, parameters)
    if os.path.exists(checkpoint):
        os.remove(checkpoint)
    records = checks.counted(len(rows), "record")
    click.echo(f"Wrote {output}: {records} of {estimate.size.sum():,}.")
    finding = estimate.headline()
    text = NO_INTERVAL
    if interval.method != "none":
        low, high = digits.numbers(*interval, error=estimate.standard_error / 10)
        text = f"{percent(interval.level)} confidence interval {low} to {high}"
    _print_finding(f"{finding}; {text}", [*estimate.notes, *interval.notes])


@click.command(
    cls=FileCommand,
    example="workbench sample reduce sample.csv --strata-by segment --value amount "
    "--id item --budget 200 -o smaller.csv",
)
@click.argument("sample", metavar="SAMPLE")
@_with_columns
@click.option(
    "--value",
    default="",
    metavar="COLUMN",
    help="Column of values; strata with a larger spread keep more records.",
)
@click.option(
    "--weight",
    default="weight",
    show_default=True,
    metavar="COLUMN",
    help="Column with the number of records that each row represents.",
)
@click.option(
    "--strata",
    default="",
    metavar="FILE",
    help="Table of strata (stratum, size, sd) to use instead of weights and values.",
)
@click.option(
    "-o",
    "--output",
    default="smaller.csv",
    show_default=True,
    help="CSV file for the remaining records.",
)
def reduce(
    sample: str,
    by: str,
    id: str,
    budget: int,
    minimum: int,
    seed: int,
    value: str,
    weight: str,
    strata: str,
    output: str,
) -> None:
    """Reduce a stratified SAMPLE to fewer records.

    SAMPLE has one row per record, as written by `workbench sample stream`. The smaller sample has
    the same columns and is chosen so that the variance of the mean increases least.
    """
    from workbench.allocation.reductions import smaller_sample
    from workbench.data.safe_csv import refuse_other, write_rows

    check_outputs(output=output)
    columns = {"by": by, "value": value, "id": id, "weight": weight, "strata": strata}
    smaller = smaller_sample(sample, budget, **columns, minimum=minimum, seed=seed)
    header = tuple(smaller.columns)
    refuse_other(output, header)
    cells = [column.tolist() for column in smaller.columns.values()]
    write_rows(output, header, zip(*cells, strict=True))
    records = checks.counted(smaller.records, "record")
    click.echo(f"Wrote {output}: {smaller.index.size:,} of {records}.")
    _print_finding(_kept(smaller.allocation), smaller.allocation.notes)


def _kept(allocation: "Allocation") -> str:
    """Return the records of each stratum and the standard error of the mean in one sentence."""
    error = f"standard error of the mean {allocation.variance**0.5:.4g}"
    if allocation.labeled.size > MOST_STRATA:
        return error
    records = ", ".join(f"{count:,}" for count in allocation.labeled.tolist())
    return f"records per stratum: {records}; {error}"


def check_outputs(**outputs: str | None) -> None:
    """Raise an error if a file cannot be written or would be written twice."""
    from workbench.reports.outputs import check_written

    seen = set()
    for name, path in outputs.items():
        if not path:
            continue
        target = Path(os.path.expanduser(path))
        real = os.path.realpath(target)
        if real in seen:
            raise ValueError(f"two outputs have the same path {path!r}; choose different files")
        check_written(name, target)
        seen.add(real)


def _print_finding(finding: str, notes: Iterable[Note]) -> None:
    """Print a finding as a sentence, and the notes below it."""
    click.echo(f"{finding[0].upper()}{finding[1:]}.")
    for sentence in sentences(notes):
        click.echo(f"Note: {sentence}.")


def _write_json(path: str, mean: Any, interval: Any, parameters: dict) -> None:
    """Write the estimate of a stream and its strata as JSON."""
    from workbench.reports.build import package_version
    from workbench.reports.records import Record, write_json
    from workbench.results import Table

    limits = (None, None) if interval.method == "none" else tuple(interval)
    bounded = interval.bounded if interval.bounded and interval.method != "none" else limits
    row = {
        "estimate": mean.estimate,
        "standard_error": mean.standard_error,
        "low": limits[0],
        "high": limits[1],
        "level": interval.level,
        "interval_method": interval.method,
        "bounded_low": bounded[0],
        "bounded_high": bounded[1],
    }
    table = Table((row,), mean.headline(), notes=[*mean.notes, *interval.notes])
    strata = Table(tuple(mean.rows()), "Strata of the stream and of its sample")
    write_json(
        Path(os.path.expanduser(path)),
        [
            Record("estimate", "Mean of the stream", table, mean.to_dict()),
            Record("strata", "Strata", strata, strata.to_dict()),
        ],
        messages=[],
        topic="stream",
        title="Mean of a stream",
        versions={"workbench": package_version()},
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        inputs=[],
        parameters=parameters,
    )
