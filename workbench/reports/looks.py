"""Charts of an audit session as SVG, made without a renderer that takes time to start.

Each chart exists in two sizes, for a wide page and for a phone. `looks_picture` shows the intervals
of all interim analyses, `finding_picture` the estimates with their intervals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from workbench.checks import counted
from workbench.reports.templates import render
from workbench.results import percent
from workbench.results.digits import percents, points

SIZES = {"wide": (740, 14), "narrow": (358, 12)}  # width and type in pixels
NARROW, MANY = 400, 14
HEIGHT, ROW = 260, 30
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
MOST_LINES, APART = 6, 4
COLORS = {
    "planned": "#0072B2",
    "anytime": "#009E73",
    "looks": "#CC79A7",
    "fixed": "#D55E00",
    "corrected": "#8a5a00",
}


def looks_alternative(rows: Sequence[Mapping], design: Mapping[str, Any], unit: str = "%") -> str:
    """Return a description of the chart for readers who cannot see it."""
    ends = [
        "{}, {} to {}".format(
            counted(row["labeled"], "label"),
            *(
                percents(row["low"], row["high"])
                if unit
                else points(row["low"], row["high"], error=0, signed=True)
            ),
        )
        for row in (rows[0], rows[-1])
    ]
    looks = counted(len({row["number"] for row in rows}), "interim analysis", "interim analyses")
    return (
        f"{percent(design['level'])} confidence intervals of {looks}. First: {ends[0]}. Last: "
        f"{ends[1]}."
    )


def looks_picture(rows: Sequence[Mapping], design: Mapping[str, Any], unit: str = "%") -> Markup:
    """Return SVG elements: the interval of each interim analysis by the number of labels.

    A line marks the planned number of labels.

    Parameters
    ----------
    rows : list of dict
        Keys: number (of the interim analysis), labeled, low, high, method.
    design : dict
        Design of the session, with keys level and budget.
    unit : {"%", ""}
        "%" for percentages, "" for percentage points.
    """
    lowest, highest, step = _range(rows)
    across = max(design["budget"], *(row["labeled"] for row in rows))

    def drawn(width: int, type_size: int) -> tuple[list, list, float]:
        left, right, top, bottom = 4.2 * type_size, width - 12, 12, HEIGHT - 3.4 * type_size
        x, y = _scale(0, across, left, right), _scale(lowest, highest, bottom, top)
        shares = [lowest + k * step for k in range(round((highest - lowest) / step) + 1)]
        end = x(design["budget"])
        lines = [_line((left, right), (y(share), y(share)), "var(--line)") for share in shares]
        lines.append(_line((end, end), (top, bottom), "var(--soft)", dashes="4 3"))
        for row in rows:  # interim analyses at the same number of labels stand side by side
            at = x(row["labeled"]) - APART * list(COLORS).index(row["method"])
            lines.append(
                _line((at, at), (y(row["low"]), y(row["high"])), COLORS[row["method"]], width=3)
            )
        shown = [method for method in COLORS if any(row["method"] == method for row in rows)]
        texts = [
            _text(left - 6, y(share) + 4, f"{100 * share:.0f}{unit}", "end") for share in shares
        ]
        texts += [
            _text(end, bottom + 1.2 * type_size, f"{design['budget']} planned labels", "end"),
            _text(left, bottom + 1.2 * type_size, "0", "middle"),
        ]
        texts += [
            _text(5.2 * type_size * k, HEIGHT - 6, method, "start", COLORS[method])
            for k, method in enumerate(shown)
        ]
        return lines, texts, HEIGHT

    return _picture(looks_alternative(rows, design, unit), drawn)


def finding_picture(rows: Sequence[Mapping], unit: str = "%") -> Markup:
    """Return SVG elements: a row for each estimate with its interval, and for each rate.

    Parameters
    ----------
    rows : list of dict
        Keys: name, ends (of the estimate), text, low and high. The last two are None for a rate
        without an interval.
    unit : {"%", ""}
        "%" for percentages, "" for percentage points.
    """
    lowest, highest, step = _range(
        [
            {"low": row["ends"][0], "high": row["ends"][-1]} if row["low"] is None else row
            for row in rows
        ]
    )

    def drawn(width: int, type_size: int) -> tuple[list, list, float]:
        narrow, thin = width < NARROW, 19 if len(rows) <= MANY else 16
        beside = [
            row for row in rows if row["low"] is None or not narrow
        ]  # rows with their text next to the marks, not above
        left, room = (
            each * type_size * max((len(row[name]) for row in beside), default=0)
            for each, name in ((0.62, "name"), (0.58, "text"))
        )
        x, top, lines, texts = (
            _scale(lowest, highest, left + 18, width - room - 18),
            0,
            list[dict](),
            list[dict](),
        )
        for row in rows:
            above, own = row not in beside, thin if row["low"] is None else ROW + 8 * narrow
            middle = top + (own - 8 if above else own / 2)
            lines += _marks(row, x, middle)
            texts += [
                _text(
                    4 if above else left,
                    top + 14 if above else middle + 5,
                    row["name"],
                    "start" if above else "end",
                    "var(--ink)",
                ),
                _text(
                    width - 4, top + 14 if above else middle + 5, row["text"], "end", "var(--ink)"
                ),
            ]
            top += own
        shares = [lowest + k * step for k in range(round((highest - lowest) / step) + 1)]
        texts += [
            _text(x(share), top + 1.2 * type_size, f"{100 * share:.0f}{unit}", "middle")
            for share in (shares[:: len(shares) - 1] if narrow else shares)
        ]
        return (
            [*(_line((x(share), x(share)), (0, top), "var(--line)") for share in shares), *lines],
            texts,
            top + 22,
        )

    said = "; ".join(f"{row['name']} {row['text']}" for row in rows)
    return _picture(f"{said}.", drawn)


def _marks(row: Mapping, x: Callable[[float], float], middle: float) -> list[dict]:
    """Return the lines of an interval and of its estimate, or of a rate."""
    ends = [
        _line(
            (x(end) - 2, x(end) + 2),
            (middle, middle),
            "var(--soft)" if row["low"] is None else COLORS["planned"],
            width=12,
        )
        for end in row["ends"]
    ]
    return (
        ends
        if row["low"] is None
        else [
            _line((x(row["low"]), x(row["high"])), (middle, middle), COLORS["planned"], width=5),
            *ends,
        ]
    )


def _range(rows: Sequence[Mapping]) -> tuple[float, float, float]:
    """Return round limits that contain all intervals, and the step between round numbers."""
    least, most = min(row["low"] for row in rows), max(row["high"] for row in rows)
    step = next((each for each in STEPS if (most - least) / each <= MOST_LINES), STEPS[-1])
    first = math.floor(least / step + 1e-9)
    return first * step, max(math.ceil(most / step - 1e-9), first + 1) * step, step


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    return lambda value: first + (last - first) * (value - low) / (high - low)


def _picture(alternative: str, drawn: Callable[[int, int], tuple[list, list, float]]) -> Markup:
    """Return a chart for a wide page and one for a phone; the page shows one of them."""
    made = [
        (name, width, type_size, *drawn(width, type_size))
        for name, (width, type_size) in SIZES.items()
    ]
    return Markup("").join(
        Markup(
            render(
                "looks.svg.j2",
                name=name,
                alternative=alternative,
                width=width,
                height=height,
                type_size=type_size,
                lines=lines,
                texts=texts,
            )
        )
        for name, width, type_size, lines, texts, height in made
    )


def _line(x: tuple, y: tuple, color: str, *, dashes: str = "none", width: int = 1) -> dict:
    return {
        "x1": x[0],
        "x2": x[1],
        "y1": y[0],
        "y2": y[1],
        "color": color,
        "dashes": dashes,
        "width": width,
    }


def _text(x: float, y: float, text: str, anchor: str, color: str = "var(--soft)") -> dict:
    return {"x": x, "y": y, "text": text, "anchor": anchor, "color": color}
