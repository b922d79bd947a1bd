"""The command `workbench papers replay`."""

import contextlib
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from workbench.commands.options import Command, completion
from workbench.data.whole_files import write_text
from workbench.reports.outputs import check_written
from workbench.reports.parameters import WrongParameter, refusing

ALL, LIST = "all", "list"


def _names() -> list[str]:
    """Return all values of NAME."""
    from workbench.extras.papers import registry

    papers = [paper.name for paper in registry.papers()]
    return [LIST, ALL, *papers, *(item.name for item in registry.all_items())]


@click.command(
    cls=Command,
    example="workbench papers replay list\nworkbench papers replay kloos/fig1\n"
    "workbench papers replay all -o five-papers.html",
)
@click.argument("name", shell_complete=completion(_names))
@click.option("-o", "--output", metavar="PAGE", help="Write an HTML page.  [all: five-papers.html]")
@click.option(
    "--json", "json_file", metavar="FILE", help="Write claims, verdicts and figures as JSON."
)
@click.option(
    "--full",
    is_flag=True,
    help="Use the sample sizes of the papers (of 31 million records, a tenth). This takes hours.",
)
@click.option(
    "--data",
    metavar="FILE",
    help="File to use instead of the data of an item, or a folder that `workbench papers data` "
    "filled.",
)
@click.option(
    "--learner",
    metavar="MODULE:OBJECT",
    help="Learner to use instead of that of an item: 1nn, centroid, or an object with fit and "
    "predict.",
)
@click.option("--resume", is_flag=True, help="Continue an interrupted run of the same command.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def replay(
    name: str,
    output: str | None,
    json_file: str | None,
    full: bool,
    data: str | None,
    learner: str | None,
    resume: bool,
    quiet: bool,
) -> None:
    """Compute the numbers of the papers again and compare them with the printed ones.

    NAME is list, the name of an item (kloos/fig1), a paper (kloos) or all. The files are written
    after every item. FILE.part next to the first file keeps the results that --resume needs.
    """
    if name == LIST:
        return _list()
    items = _chosen(name)
    output = "five-papers.html" if name == ALL and not output and not json_file else output
    for option, path in (("output", output), ("json", json_file)):
        if path:
            check_written(option, Path(path))
    if not output and not json_file:
        if resume:
            raise WrongParameter("resume", "needs an output file: add --output or --json")
        return _print([_run(item, full, data, learner, quiet) for item in items])
    paths = list(filter(None, (output, json_file)))
    devices = any(Path(path).exists() and not Path(path).is_file() for path in paths)
    store = None if devices else _Store(Path(f"{paths[0]}.part"), [full, data, learner], resume)
    for results in _results(items, store, full, data, learner, quiet):
        _write_all(results, len(items), output, json_file)
    for path in paths:
        click.echo(f"Wrote {path}")


class _Store:
    """Results so far, a line per item, in a file that is deleted when all items are done."""

    def __init__(self, path: Path, setting: list, resume: bool) -> None:
        from workbench.reports.build import package_version

        self.path, self._setting = path, [package_version(), *setting]
        self.saved = dict(self._lines()) if resume else {}
        if path.is_file():
            with refusing():
                write_text(path, map(self._line, self.saved, self.saved.values()))

    def _line(self, name: str, saved: dict) -> str:
        return json.dumps([self._setting, name, saved]) + "\n"

    def _lines(self) -> Iterator[tuple]:
        """Yield name and result of the items that were done in this setting.

        The last line may be incomplete.
        """
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            for setting, name, saved in map(
                json.loads, self.path.read_text(encoding="utf-8").splitlines()
            ):
                if setting == self._setting:
                    yield name, saved

    def add(self, result: Any) -> None:
        with refusing(), open(self.path, "a", encoding="utf-8") as file:
            file.write(self._line(result.name, result.to_dict()))


def _results(
    items: list,
    store: _Store | None,
    full: bool,
    data: str | None,
    learner: str | None,
    quiet: bool,
) -> Iterator[list]:
    """Yield the results so far whenever there is a new one, and at the end.

    For a device, whose results are not stored, yield them only at the end.
    """
    from workbench.extras.papers.result import Replay

    saved, results = store.saved if store else {}, []
    if saved and not quiet:
        click.echo(f"{len(saved)} of {len(items)} items kept from the previous run", err=True)
    for item in items[:-1]:
        if item.name in saved:
            results.append(Replay.from_dict(saved[item.name]))
            continue
        results.append(_run(item, full, data, learner, quiet))
        if store:
            store.add(results[-1])
            yield results
    yield [*results, _run(items[-1], full, data, learner, quiet)]
    if store:
        store.path.unlink(missing_ok=True)


def _write_all(results: list, of: int, output: str | None, json_file: str | None) -> None:
    from workbench.extras.papers import page

    with refusing():
        if output:
            write_text(output, page.page(results, shlex.join(["workbench", *sys.argv[1:]]), of))
        if json_file:
            write_text(json_file, page.as_json(results))


def _list() -> None:
    from workbench.extras.papers.registry import all_items

    width = max(len(item.name) for item in all_items())
    for item in all_items():
        click.echo(f"{item.name:<{width}}  {item.seconds:>3} s  {item.claim} [{item.data}]")


def _chosen(name: Any) -> list:
    from workbench.extras.papers import registry

    papers = {paper.name: paper.items for paper in registry.papers()} | {ALL: registry.all_items()}
    with refusing():
        return papers[name] if name in papers else [registry.find(name)]


def _run(item: Any, full: bool, data: str | None, learner: str | None, quiet: bool) -> Any:
    from workbench.extras import papers

    start = time.monotonic()
    sys.path.insert(0, os.getcwd())  # `python -m` finds modules there too
    with refusing(kinds=(ValueError, TypeError, OSError)):
        result = papers.run(item, papers.Setting(full, data, learner))
    if not quiet:
        click.echo(f"{result.headline()} ({time.monotonic() - start:.1f} s)", err=True)
    return result


def _print(results: list) -> None:
    from workbench.extras.papers.claims import short

    for result in results:
        click.echo(f"{result.name}: {result.title}")
        for row in result.rows():
            details = ""
            if row["corrected"] is not None:
                details += f", corrected {short(row['corrected'])}"
            if row["reach"]:
                details += f" ({row['reach']})"
            if row["why"]:
                details += f"; {row['why']}"
            printed, ours = (short(row[name]) or "none" for name in ("printed", "ours"))
            claim = f"{row['verdict']}: {row['claim']}"
            click.echo(f"  {claim}; printed {printed}, ours {ours}{details}")
