"""The commands `workbench compare` and `workbench power`: models on items that are all scored."""

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from workbench import checks
from workbench.commands.options import RefusingCommand
from workbench.results import digits, percent, sentences

if TYPE_CHECKING:
    from workbench.extras.compare.comparison import ItemComparison
    from workbench.results import Table

FAILED = {"PASS": 0, "FAIL": 3, "INCONCLUSIVE": 4}  # exit codes of a gate
SHOWN = 40


@click.command(
    cls=RefusingCommand,
    example="workbench compare a.eval b.eval --cluster metadata.document -o "
    'compare.html\nworkbench compare old=runs/1.eval new=runs/2.eval --gate "new > old - 0.01"',
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--model",
    default="",
    metavar="COLUMN",
    help="Column of a table that names the model, or the columns of the models' scores, separated "
    "by commas.  [columns of scores]",
)
@click.option(
    "--item", default="", metavar="COLUMN", help="Column of a table with the identifiers."
)
@click.option(
    "--score",
    default="",
    metavar="NAME",
    help="Column of scores. In logs: the scorer, filter or metric. In promptfoo: a named score.",
)
@click.option(
    "--cluster", default="", metavar="COLUMN", help="Column of the document, person or site."
)
@click.option(
    "--epoch",
    default="",
    metavar="COLUMN",
    help="Column that distinguishes the repeated rows of an item.",
)
@click.option(
    "--repeats",
    default="mean",
    show_default=True,
    metavar="RULE",
    help="How the repeats of an item are combined: mean, majority, pass^K or pass@K.",
)
@click.option(
    "--bounds",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Smallest and largest possible score.  [0 1]",
)
@click.option(
    "--better",
    default="",
    type=click.Choice(["", "higher", "lower"]),
    metavar="higher|lower",
    help="Which scores are better.",
)
@click.option(
    "--common",
    is_flag=True,
    help="Use only the items that all models have a score for.",
)
@click.option(
    "--independent",
    is_flag=True,
    help="Each model was scored on items of its own, even if identifiers are equal.",
)
@click.option(
    "--by",
    default="",
    metavar="COLUMN",
    help="Also compare in each slice (a value of this column). All p-values are adjusted together.",
)
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence level of all verdicts together.",
)
@click.option(
    "--adjust",
    default="holm",
    show_default=True,
    type=click.Choice(["holm", "none"]),
    help="Adjustment for the number of pairs.",
)
@click.option(
    "--method",
    default="default",
    show_default=True,
    type=click.Choice(["default", "bounded", "t"]),
    help="Intervals: default, bounded (allows for scores unlike the sample's) or Student's t.",
)
@click.option(
    "--gate",
    "condition",
    default="",
    metavar='"B > A - 0.01"',
    help="Exit with 0 if the items show this condition (PASS), 3 if they show its opposite (FAIL), "
    "otherwise 4.",
)
@click.option("-o", "--output", metavar="PAGE", help="Write one HTML page.")
@click.option(
    "--json", "json_file", metavar="FILE", help="Write the results as JSON (requires -o)."
)
@click.option("--tables", metavar="DIR|X.XLSX", help="Write every table (requires -o).")
@click.pass_context
def compare(
    context: click.Context,
    files: tuple[str, ...],
    by: str,
    level: float,
    adjust: str,
    method: str,
    condition: str,
    output: str | None,
    json_file: str | None,
    tables: str | None,
    **reading: Any,
) -> int:
    """Compare models on the same items, or estimate the mean score of one model.

    FILE is a log of Inspect, lm-evaluation-harness, OpenAI evals or DeepEval, one per model. It can
    also be a folder of logs, a file of promptfoo, or a table. A table has a row per item and model,
    or a column per model. NAME=FILE or NAME=FOLDER sets the name of a model.
    """
    from workbench.data.whole_files import keeping
    from workbench.extras.compare.page import read, write_comparison
    from workbench.reports.build import checked_targets

    if (json_file or tables) and not output:
        raise click.UsageError("--json and --tables require a page: add -o PAGE")
    paths = _read_files(files)
    context.with_resource(keeping(filter(os.path.isfile, paths)))
    targets = checked_targets(output, json=json_file, tables=tables) if output else None
    options = {**reading, "by": by, "level": level, "adjust": adjust, "method": method}
    scored = read(files, gate=condition, **options)
    _print(scored.comparison)
    if scored.slices:
        _print_slices(scored.slices, scored.by)
    if targets:
        lists = {"files": list(files), "bounds": list(reading["bounds"] or ())}
        values = {**options, "by": scored.by, "gate": condition, **lists}
        command = shlex.join(["workbench", *sys.argv[1:]])
        written = write_comparison(scored, targets, files=paths, values=values, command=command)
        click.echo("\n".join(f"Wrote {file}" for file in written))
    if scored.gate:
        click.echo(scored.gate.headline())
        if scored.gate.bounded_sentence():
            click.echo(f"Note: {scored.gate.bounded_sentence()}")
        context.exit(FAILED[scored.gate.verdict])
    return 0


def _read_files(files: tuple[str, ...]) -> list[str]:
    """Return the paths of the files that were read, without the names of models and parts."""
    from workbench.data.files import file_of
    from workbench.extras.compare.sources import named_sources

    return [file_of(path) for _, path in named_sources(files)]


def _print(comparison: "ItemComparison") -> None:
    click.echo(f"{comparison.finding()}.")
    rows = comparison.ranks()
    width = max(len(row["model"]) for row in rows)
    for row in rows[:SHOWN] if len(rows) > 1 else ():
        ranks = " to ".join(dict.fromkeys((str(row["best_rank"]), str(row["worst_rank"]))))
        low, high = row["low"], row["high"]
        click.echo(
            f"  {row['model']:<{width}}  {row['score']:.4g} ({low:.4g} to {high:.4g})  rank {ranks}"
        )
    if len(rows) == 2:
        (pair,) = comparison.rows()
        click.echo(f"  {pair['first']} minus {pair['second']}: {_pair_text(pair)}")
    _print_end(rows, comparison.notes)


def _pair_text(pair: dict) -> str:
    """Return the difference of a pair with its limits and its p-value."""
    low, high = pair["low"], pair["high"]
    texts = digits.numbers(pair["difference"], low, high, error=(high - low) / 2)
    return "{} ({} to {}), p {}".format(*texts, digits.short_p(pair["adjusted_pvalue"]))


def _print_end(rows: list, notes: tuple) -> None:
    if len(rows) > SHOWN:
        click.echo(f"  and {len(rows) - SHOWN} more")
    for sentence in sentences(notes):
        click.echo(f"Note: {sentence}")


def _print_slices(slices: "Table", by: str) -> None:
    rows = slices.rows()
    click.echo(f"By {by}:")
    for row in rows[:SHOWN]:
        items = checks.counted(row["items"], "item")
        models = f"{row['first']} minus {row['second']}"
        click.echo(f"  {row['slice']}, {items}: {models} {_pair_text(row)}")
    _print_end(rows, slices.notes)


@click.command(
    cls=RefusingCommand,
    example="workbench power --items 1000 --discordance 0.1\n"
    "workbench power --difference 0.03 --discordance 0.1 --cluster-size 20 --icc 0.1\n"
    "workbench power --pilot labeled.csv --prediction old,new --metrics f1 --difference 0.05",
)
@click.option(
    "--pilot",
    metavar="FILE",
    help="Labeled items with the predictions of two models, to plan the items for any metric.",
)
@click.option(
    "--truth", default="truth", show_default=True, help="Column of true classes in the pilot."
)
@click.option(
    "--prediction", default="", help="Columns of both models in the pilot, such as old,new."
)
@click.option(
    "--score", default="", help="Columns of both models' scores in the pilot, for the AUC."
)
@click.option("--psu", default="", help="Column of clusters in the pilot, such as patients.")
@click.option("--positive", default="", help="Positive class of precision, recall, F1 and AUC.")
@click.option("--metrics", default="", help="Metrics to plan for, such as f1 or 'f1 auc'.")
@click.option(
    "--discordance",
    type=float,
    metavar="PROPORTION",
    help="Proportion of items on which exactly one of two models is correct.",
)
@click.option("--items", type=int, help="Number of items: print the difference that they show.")
@click.option(
    "--difference",
    type=float,
    help="Difference of two accuracies: print the number of items that show it.",
)
@click.option("--clusters", type=int, help="Number of clusters that hold the items, with --items.")
@click.option("--cluster-size", type=int, default=1, help="Items per cluster, with --difference.")
@click.option(
    "--icc",
    type=float,
    default=0.0,
    help="Correlation of the differences of two items of a cluster.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="Proportion of samples that show the difference.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Confidence level of the interval."
)
def power(
    discordance: float | None,
    items: int | None,
    difference: float | None,
    clusters: int | None,
    cluster_size: int,
    icc: float,
    power: float,
    level: float,
    pilot: str | None,
    metrics: str,
    **columns: str,
) -> None:
    """Plan a comparison of two models: the items it needs, or the difference it can show."""
    from workbench.extras.compare.plans import detectable_difference, items_to_detect
    from workbench.results.digits import points

    if pilot is not None:
        if difference is None:
            raise click.UsageError("--pilot requires --difference, in units of the metric")
        if items is not None:
            raise click.UsageError(
                "--pilot and --difference plan the number of items: leave out --items"
            )
        if "," not in columns["prediction"] + columns["score"]:
            raise click.UsageError(
                "--pilot requires the columns of two models, such as --prediction old,new"
            )
        _sizes_by_pilot(pilot, columns, metrics, difference, power, level)
        return
    if discordance is None:
        raise click.UsageError("give --discordance or a --pilot file")
    if (items is None) == (difference is None):
        raise click.UsageError("give either --items or --difference")
    if items is not None:
        detectable = detectable_difference(
            items, discordance, clusters=clusters, icc=icc, power=power, level=level
        )
        size = "no difference"
        if detectable == detectable:
            size = (
                f"a difference of {points(detectable, error=detectable / 10)[0]} percentage points"
            )
        click.echo(f"{checks.counted(items, 'item')} show {size} in {percent(power)} of samples")
    else:
        needed = items_to_detect(
            difference or 0.0,
            discordance,
            cluster_size=cluster_size,
            icc=icc,
            power=power,
            level=level,
        )
        click.echo(
            f"{checks.counted(needed, 'item')} show a difference of {difference:g} in "
            f"{percent(power)} of samples"
        )


def _sizes_by_pilot(
    pilot: str,
    columns: dict[str, str],
    metrics: str,
    difference: float,
    power: float,
    level: float,
) -> None:
    """Print the items that show a difference of each metric, from the variation in a pilot."""
    from workbench.replication.metrics import load_labeled, row_title
    from workbench.replication.paired import compare_metrics

    with checks.naming(items="pilot", assurance="power"):
        labeled = load_labeled(pilot, **columns)
        comparison = compare_metrics(labeled, metrics or None, level=level)
        sizes = comparison.sample_size(difference, power=power)
    for row in sizes:
        title = row_title(row)
        models = f"{title}, {row['first']} and {row['second']}"
        if row["items"] is None:
            click.echo(
                f"{models}: no single item of the pilot changes the difference, so the pilot shows "
                "no variation. Use a larger pilot"
            )
            continue
        needed = checks.counted(row["items"], "item")
        if "clusters" in row:
            needed += f" in {checks.counted(row['clusters'], 'cluster')}"
        click.echo(
            f"{models}: {needed} show a difference of {difference:g} in {percent(power)} of samples"
        )
    first = comparison.differences[0]
    click.echo(
        f"Based on the variation among {checks.counted(first.items, 'item')} of the pilot. A small "
        "pilot gives only a rough number."
    )
    for caveat in comparison.caveats:
        click.echo(f"Note: {caveat}")
