"""A picture of the looks of an audit as SVG, drawn here: the report of a session takes no time to start a renderer."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from workbench.checks import counted
from workbench.reports.templates import render
from workbench.results import percent
from workbench.results.digits import percents

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 40
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
MOST_LINES, APART = 6, 4
COLORS = {"planned": "#0072B2", "anytime": "#009E73", "looks": "#CC79A7", "fixed": "#D55E00"}


def looks_alternative(rows: Sequence[Mapping], design: Mapping[str, Any]) -> str:
    """Return what the picture shows, for those who cannot see it."""
    ends = ["at {}, from {} to {}".format(counted(row["labeled"], "label"), *percents(row["low"], row["high"]))
            for row in (rows[0], rows[-1])]
    looks = counted(len(rows), "look")
    return f"{percent(design['level'])} intervals at {looks}: the first, {ends[0]}; the last, {ends[1]}."


def looks_picture(rows: Sequence[Mapping], design: Mapping[str, Any]) -> Markup:
    """Return an SVG element: the interval of every look over the number of labels, and the planned end.

    Parameters
    ----------
    rows : list of dict
        labeled, low, high, method; one per look.
    design : dict
        Of the session: level and budget.
    """
    least, most = min(row["low"] for row in rows), max(row["high"] for row in rows)
    step = next((each for each in STEPS if (most - least) / each <= MOST_LINES), STEPS[-1])
    first, last = math.floor(least / step + 1e-9), max(math.ceil(most / step - 1e-9), math.floor(least / step) + 1)
    across = max(design["budget"], *(row["labeled"] for row in rows))

    def x(labels: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * labels / across

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (share - first * step) / ((last - first) * step)

    shares, end = [k * step for k in range(first, last + 1)], x(design["budget"])
    lines = [_line((LEFT, WIDTH - RIGHT), (y(share), y(share)), "var(--line)") for share in shares]
    lines.append(_line((end, end), (TOP, HEIGHT - BOTTOM), "var(--soft)", dashes="4 3"))
    for row in rows:        # looks at the same number of labels stand side by side
        at = x(row["labeled"]) - APART * list(COLORS).index(row["method"])
        lines.append(_line((at, at), (y(row["low"]), y(row["high"])), COLORS[row["method"]], width=3))
    texts = [_text(LEFT - 6, y(share) + 4, f"{100 * share:.0f}%", "end") for share in shares]
    texts += [_text(end, HEIGHT - BOTTOM + 16, f"{design['budget']} planned", "end"),
              _text(LEFT, HEIGHT - BOTTOM + 16, "0", "middle"),
              _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "labels", "middle")]
    shown = [method for method in COLORS if any(row["method"] == method for row in rows)]
    texts += [_text(LEFT + 70 * k, HEIGHT - 8, method, "start", COLORS[method]) for k, method in enumerate(shown)]
    return Markup(render("looks.svg.j2", alternative=looks_alternative(rows, design), width=WIDTH, height=HEIGHT,
                         lines=lines, texts=texts))


def _line(x: tuple, y: tuple, color: str, *, dashes: str = "none", width: int = 1) -> dict:
    return {"x1": x[0], "x2": x[1], "y1": y[0], "y2": y[1], "color": color, "dashes": dashes, "width": width}


def _text(x: float, y: float, text: str, anchor: str, color: str = "var(--soft)") -> dict:
    return {"x": x, "y": y, "text": text, "anchor": anchor, "color": color}
