"""One page of replays: the table of verdicts on top, then claims and figure of each item; asks for no network."""

import datetime
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.replays.claims import VERDICTS
from workbench.replays.result import Replay
from workbench.reports import build, templates
from workbench.results import plain

if TYPE_CHECKING:
    from markupsafe import Markup

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
    return templates.render(
        "replays.html.j2", Path(__file__).parent / "template", heading="", titled=False,
        title=TITLE if len(replays) > 1 else f"{replays[0].name}, replayed", by_paper=_verdicts_by_paper(replays),
        meanings=MEANING, items=[{"item": replay.name, "says": replay.title, "verdicts": ", ".join(
            f"{verdict} {count}" for verdict, count in replay.verdicts().items())} for replay in replays],
        replays=list(map(_shown, replays)), inputs=[], parameters=[], seed=0, messages=[], command=command,
        date=datetime.datetime.now(datetime.UTC), software=[("workbench", build.package_version())])


def as_json(replays: Iterable[Replay]) -> str:
    """Return replays as JSON: name, what is claimed, claims with verdicts, and the rows of the figure.

    Parameters
    ----------
    replays : iterable of Replay
    """
    return json.dumps([{"name": each.name, "title": each.title, "full": each.full, "data": each.data,
                        "verdicts": each.verdicts(), "claims": each.rows(), "figure": plain(each.figure)}
                       for each in replays], indent=1, allow_nan=False)


def _verdicts_by_paper(replays: Sequence[Replay]) -> list[dict]:
    counted = Counter((each.name.split("/")[0], row["verdict"]) for each in replays for row in each.rows())
    papers = list(dict.fromkeys(paper for paper, _ in counted))
    counted.update(("all", row["verdict"]) for each in replays for row in each.rows())
    return [{"paper": paper} | {verdict: counted[paper, verdict] for verdict in VERDICTS}
            for paper in [*papers, *["all"] * (len(papers) > 1)]]


def _shown(replay: Replay) -> dict[str, Any]:
    """Return what the page shows of an item."""
    chart = replay.chart()
    return {"name": replay.name, "title": replay.title, "data": replay.data,
            "claims": list(map(_readable, replay.rows())), "figure": replay.figure,
            "picture": chart and _picture(chart)}


def _picture(chart: Any) -> "Markup":
    import vl_convert
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    return templates.picture("image/svg+xml", svg.encode(), chart.description)


def _readable(row: dict) -> dict:
    """Return a row of claims, whose numbers have nothing in common, as text."""
    return {name: "" if value is None else f"{value:.4g}" if isinstance(value, float) else value
            for name, value in row.items()}
