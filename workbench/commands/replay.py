"""The command `workbench replay`."""

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import click

from workbench.data.whole_files import write_text
from workbench.reports.outputs import check_written
from workbench.reports.parameters import refusing

ALL, LIST = "all", "list"


@click.command()
@click.argument("name")
@click.option("-o", "--output", metavar="PAGE", help="Write one HTML page.  [all: five-papers.html]")
@click.option("--json", "json_file", metavar="FILE", help="Write claims, verdicts and figures as JSON.")
@click.option("--full", is_flag=True, help="Run the papers' own sizes (of 31 million records a tenth): hours.")
@click.option("--data", metavar="FILE", help="A file in the place of the data that an item is run on, or a folder in "
              "which `workbench data` put these.")
@click.option("--learner", metavar="MODULE:OBJECT", help="A learner of yours in the place of the one that an item is "
              "run with: 1nn, centroid, or anything with fit and predict.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def replay(name: str, output: str | None, json_file: str | None, full: bool, data: str | None,
           learner: str | None, quiet: bool) -> None:
    """Run the papers' tables, figures and theorems again, beside the printed numbers.

    NAME is list, an item that it names (kloos/fig1), a paper (kloos) or all.
    """
    if name == LIST:
        return _list()
    items = _chosen(name)
    output = "five-papers.html" if name == ALL and not output and not json_file else output
    for option, path in (("output", output), ("json", json_file)):
        if path:
            check_written(option, Path(path))
    done = [_run(item, full, data, learner, quiet) for item in items]
    if not output and not json_file:
        return _print(done)
    from workbench.replays import page
    if output:
        _write(output, page.page(done, shlex.join(["workbench", *sys.argv[1:]])))
    if json_file:
        _write(json_file, page.as_json(done))


def _list() -> None:
    from workbench.replays.registry import all_items
    width = max(len(item.name) for item in all_items())
    for item in all_items():
        click.echo(f"{item.name:<{width}}  {item.seconds:>3} s  {item.claim} [{item.data}]")


def _chosen(name: Any) -> list:
    from workbench.replays import registry
    papers = {paper.name: paper.items for paper in registry.papers()} | {ALL: registry.all_items()}
    with refusing():
        return papers[name] if name in papers else [registry.find(name)]


def _run(item: Any, full: bool, data: str | None, learner: str | None, quiet: bool) -> Any:
    from workbench import replays
    start = time.monotonic()
    sys.path.insert(0, os.getcwd())     # where `python -m` finds modules, too
    with refusing(kinds=(ValueError, TypeError, OSError)):
        done = replays.run(item, replays.Setting(full, data, learner))
    if not quiet:
        click.echo(f"{done.headline()} ({time.monotonic() - start:.1f} s)", err=True)
    return done


def _write(path: str, text: str) -> None:
    with refusing():
        write_text(path, text)
    click.echo(f"Wrote {path}")


def _print(done: list) -> None:
    for each in done:
        click.echo(f"{each.name}: {each.title}")
        for row in each.rows():
            error = f" +- {row['error']:.2g}" if row["error"] else ""
            click.echo(f"  {row['verdict']}: {row['claim']}; printed {_short(row['printed'])}, ours "
                       f"{_short(row['ours'])}{error}{'; ' + row['why'] if row['why'] else ''}")


def _short(value: float | str) -> str:
    return "none" if value is None or value == "" else f"{value:.4g}" if isinstance(value, float) else value
