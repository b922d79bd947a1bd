"""A picture of the looks of an audit as SVG, drawn here: the report of a session takes no time to start a renderer."""
from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.checks import counted
from workbench.results import percent

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 40
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
MOST_LINES, APART = 6, 4
COLORS = {"planned": "#0072B2", "anytime": "#009E73", "looks": "#CC79A7", "fixed": "#D55E00"}


def looks_alternative(rows: Sequence[Mapping], design: Mapping[str, Any]) -> str:
    """Return what the picture shows, for those who cannot see it."""
    ends = [f"at {counted(row['labeled'], 'label')}, from {100 * row['low']:.1f}% to {100 * row['high']:.1f}%"
            for row in (rows[0], rows[-1])]
    looks = counted(len(rows), "look")
    return f"{percent(design['level'])} intervals at {looks}: the first, {ends[0]}; the last, {ends[1]}."


def looks_picture(rows: Sequence[Mapping], design: Mapping[str, Any]) -> str:
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

    def x(labels):
        return LEFT + (WIDTH - LEFT - RIGHT) * labels / across

    def y(share):
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (share - first * step) / ((last - first) * step)

    parts = [_line(LEFT, y(k * step), WIDTH - RIGHT, y(k * step), "var(--line)") +
             _text(LEFT - 6, y(k * step) + 4, f"{100 * k * step:.0f}%", "end") for k in range(first, last + 1)]
    parts += [_line(x(design["budget"]), TOP, x(design["budget"]), HEIGHT - BOTTOM, "var(--soft)", "4 3"),
              _text(x(design["budget"]), HEIGHT - BOTTOM + 16, f"{design['budget']} planned", "end"),
              _text(LEFT, HEIGHT - BOTTOM + 16, "0", "middle"),
              _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "labels", "middle")]
    for row in rows:        # looks at the same number of labels stand side by side
        at = x(row["labeled"]) - APART * list(COLORS).index(row["method"])
        parts.append(_line(at, y(row["low"]), at, y(row["high"]), COLORS[row["method"]], width=3))
    parts += [_text(LEFT + 70 * k, HEIGHT - 8, method, "start", COLORS[method])
              for k, method in enumerate(method for method in COLORS if any(row["method"] == method for row in rows))]
    alternative = html.escape(looks_alternative(rows, design), quote=True)
    return (f'<svg role="img" aria-label="{alternative}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'style="width: 100%; height: auto">{"".join(parts)}</svg>')


def _line(x1, y1, x2, y2, color, dashes="none", width=1):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}" '
            f'stroke-dasharray="{dashes}"/>')


def _text(x, y, text, anchor, color="var(--soft)"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" fill="{color}">{text}</text>'
