"""One page of replays: the table of verdicts on top, then claims and figure of each item; asks for no network."""
from __future__ import annotations

import datetime
import html
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.replays.claims import VERDICTS
from workbench.replays.result import Replay
from workbench.reports import build, pages
from workbench.results import html_table

TITLE = "Five papers, replayed"
MEANING = {
    "holds": "ours is within the printed rounding and three Monte Carlo errors, or within the range that is claimed",
    "holds corrected": "so it is after the correction named",
    "does not hold": "it is not, and no correction we know explains it",
    "on a twin": "the data are not available; what a synthetic look-alike gives says nothing about the original",
    "cannot be checked here": "for the reason named"}


def page(replays: Sequence[Replay], command: str) -> str:
    """Return the HTML page of replays.

    Parameters
    ----------
    replays : sequence of Replay
    command : str
        The command line, to be printed at the end.
    """
    import jinja2
    import nbformat
    cells = [_shown(_verdicts_by_paper(replays), _meanings(), _summary(replays)), *map(_cell, replays)]
    body = pages.body(nbformat.v4.new_notebook(cells=cells), ".", explain=False)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(build.__file__).parent / "template"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    software = [("workbench", build.package_version())]
    return environment.get_template("page.html.j2").render(
        title=TITLE if len(replays) > 1 else f"{replays[0].name}, replayed", titled=False, **vars(body), inputs=[],
        parameters=[], seed=0, date=datetime.datetime.now(datetime.UTC), software=software, command=command)


def as_json(replays: Iterable[Replay]) -> str:
    """Return replays as JSON: name, what is claimed, claims with verdicts, and the rows of the figure.

    Parameters
    ----------
    replays : iterable of Replay
    """
    return json.dumps([{"name": each.name, "title": each.title, "full": each.full, "data": each.data,
                        "verdicts": each.verdicts(), "claims": each.rows(), "figure": list(map(_plain, each.figure))}
                       for each in replays], indent=1, allow_nan=False)


def _verdicts_by_paper(replays):
    counted = Counter((each.name.split("/")[0], row["verdict"]) for each in replays for row in each.rows())
    names = list(dict.fromkeys(paper for paper, _ in counted))
    table = [{"paper": paper} | {verdict: counted[paper, verdict] for verdict in VERDICTS} for paper in names]
    total = {verdict: sum(row[verdict] for row in table) for verdict in VERDICTS}
    return html_table([*table, {"paper": "all"} | total] if len(table) > 1 else table, "Claims by verdict")


def _meanings():
    entries = "".join(f"<li><strong>{verdict}</strong>: {html.escape(said)}</li>" for verdict, said in MEANING.items())
    return f"<ul>{entries}</ul>"


def _summary(replays):
    rows = [{"item": each.name, "says": each.title, "verdicts": ", ".join(
        f"{verdict} {count}" for verdict, count in each.verdicts().items())} for each in replays]
    return html_table(rows, "Items", shown=len(rows))


def _cell(replay):
    head = f"<h2>{html.escape(replay.name)}</h2><p>{html.escape(replay.title)}.</p>"
    said = html_table(list(map(_readable, replay.rows())), f"{replay.name}: what is claimed and what we find",
                      shown=len(replay.entries))
    chart = replay.chart()
    after = "" if chart is not None or not replay.figure else html_table(list(replay.figure), f"{replay.name}: rows")
    data = f"<p>Data: {html.escape(replay.data)}.</p>"
    cell = _shown(head, said, after, data)
    if chart is not None:
        cell.outputs.insert(1, _picture(chart))
    return cell


def _readable(row):
    """Return a row of claims, whose numbers have nothing in common, as text."""
    return {name: "" if value is None else f"{value:.4g}" if isinstance(value, float) else value
            for name, value in row.items()}


def _shown(*parts):
    from nbformat.v4 import new_code_cell, new_output
    return new_code_cell("", outputs=[new_output("display_data", {"text/html": "".join(filter(None, parts))})])


def _picture(chart):
    import vl_convert
    from nbformat.v4 import new_output
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    return new_output("display_data", {"image/svg+xml": svg, "text/plain": chart.description})


def _plain(row):
    return {key: None if isinstance(value, float) and value - value != 0 else value for key, value in row.items()}
