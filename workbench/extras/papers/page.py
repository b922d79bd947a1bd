"""The HTML page of replays, which needs no network: contents, counts, claims and figures."""

import datetime
import functools
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.extras.papers.claims import (
    CORRECTED,
    FAILS,
    HOLDS,
    PUT_IN,
    UNDECIDED,
    VERDICTS,
    give_or_take,
    short,
)
from workbench.extras.papers.registry import find, papers
from workbench.extras.papers.result import Replay
from workbench.reports import build, templates
from workbench.results import plain

if TYPE_CHECKING:
    from markupsafe import Markup

TITLE = "Five papers, replayed"
MARKS = {
    HOLDS: "holds",
    CORRECTED: "corrected",
    FAILS: "fails",
    UNDECIDED: "undecided",
    PUT_IN: "put-in",
}
MEANING = {
    HOLDS: "our number agrees with the printed one, within the tolerance in its row",
    CORRECTED: "our number agrees only after a slip in the print is corrected: a factor, an index, "
    "a row or a word. The row names the correction. Any other wrong result does not hold",
    FAILS: "our number disagrees with the printed one, even if another statement is correct",
    UNDECIDED: "the paper's data are not available, and a stand-in decides nothing; or the row "
    "names another reason",
    PUT_IN: "this value was built into the stand-in, so it is not counted",
}


def page(replays: Sequence[Replay], command: str, of: int = 0) -> str:
    """Return the HTML page of replays.

    Parameters
    ----------
    replays : sequence of Replay
    command : str
        The command line, shown at the end.
    of : int
        Number of items in all, if the run is not finished.
    """
    sections = []
    for paper in papers():
        of_paper = [replay for replay in replays if replay.name.split("/")[0] == paper.name]
        if of_paper:
            section: dict = {"name": paper.name, "title": paper.title, "authors": paper.authors}
            section |= {"counts": _counts(of_paper), "items": list(map(_shown, of_paper))}
            sections.append(section)
    return templates.render(
        "replays.html.j2",
        Path(__file__).parent / "template",
        title=_title(replays, sections),
        papers=sections,
        counts=_counts(replays),
        marks=MARKS,
        meanings=MEANING,
        count=len(replays),
        of=of,
        command=command,
        date=datetime.datetime.now(datetime.UTC),
        version=build.package_version(),
    )


def as_json(replays: Iterable[Replay]) -> str:
    """Return replays as JSON: name, title, claims with verdicts, and the rows of the figure.

    Parameters
    ----------
    replays : iterable of Replay
    """
    entries = [
        {
            "name": replay.name,
            "title": replay.title,
            "section": find(replay.name).section,
            "full": replay.full,
            "data": replay.data,
            "verdicts": replay.verdicts(),
            "claims": replay.rows(),
            "figure": plain(replay.figure),
        }
        for replay in replays
    ]
    return json.dumps(entries, indent=1, allow_nan=False)


def _title(replays: Sequence[Replay], sections: list) -> str:
    if len(sections) != 1:
        return TITLE
    (section,) = sections
    subject = section["title"]
    if len(replays) == 1:
        subject = f"{find(replays[0].name).heading} of “{subject}”"
    return f"{subject}, replayed ({section['authors']})"


def _counts(replays: Sequence[Replay]) -> list:
    counts = sum((Counter(replay.verdicts()) for replay in replays), Counter[str]())
    return [(verdict, counts[verdict]) for verdict in VERDICTS]


@functools.cache
def _shown(replay: Replay) -> dict[str, Any]:
    """Return the parts of an item that the page shows."""
    chart, item = replay.chart(), find(replay.name)
    return {
        "anchor": replay.name.replace("/", "-"),
        "heading": item.heading,
        "section": item.section,
        "title": _words(replay.title),
        "data": replay.data,
        "claims": list(map(_readable, replay.rows())),
        "figure": replay.figure,
        "picture": chart and _picture(chart),
    }


def _picture(chart: Any) -> "Markup":
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    return templates.picture("image/svg+xml", svg.encode(), chart.description)


def _readable(row: dict) -> dict:
    """Return a row of claims as the page shows it."""
    printed = row["printed"]
    if isinstance(printed, float):
        printed = f"{short(printed)}, from the printed formula"
    values = {
        "Printed": printed,
        "Ours": short(row["ours"]) + give_or_take(row["error"]),
        "Corrected": short(row["corrected"]),
        "Tolerance": short(row["reach"]),
    }
    return {
        "verdict": row["verdict"],
        "claim": _words(row["claim"]),
        "why": _words(row["why"]),
        "values": list(values.items()),
    }


def _words(text: str) -> "Markup":
    """Return text as HTML in which names of code are marked."""
    from markupsafe import Markup

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text)))
