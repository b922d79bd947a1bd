"""Charts of the labels and the size of each stratum, and of the standard errors of rules."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from workbench import checks
from workbench.charts import theme
from workbench.charts.allocation.words import METHODS, count, error_text
from workbench.charts.theme import (
    GRAY,
    LABELED,
    MISS,
    STRATIFIED,
    WIDTH,
    Figure,
    across,
    beside,
    chart,
    span,
    truth,
)

NEYMAN = "Neyman's rule"
KINDS = {
    "labeled in part": LABELED,
    "labeled completely": theme.OKABE_ITO["blue"],
    NEYMAN: MISS,
    "size of the stratum": GRAY,
}
MOST_STRATA = 30
NAMED_STRATA = 12
ROW = 24
DATA_SETS = {"bars": "labels", "wishes": "neyman", "sizes": "size"}  # each with its length
COUNTS = {"format": ",d", "tickMinStep": 1, "tickCount": 6}
EQUAL = 5e-4  # relative difference of standard errors that counts as none


def allocation(rows: Sequence[dict], *, most: int = MOST_STRATA) -> Figure:
    """Return the labels and the size of each stratum, and the labels of Neyman's rule.

    Parameters
    ----------
    rows : list of dict
        `stratum`, `size`, `labeled` and `neyman` (labels by Neyman's rule, at most the size).
    most : int
        Number of strata shown, those with the most labels.
    """
    total, neyman = (sum(row[name] for row in rows) for name in ("labeled", "neyman"))
    complete = sum(row["labeled"] >= row["size"] for row in rows) or "none"
    strata, labels = checks.counted(len(rows), "stratum", "strata"), count(total)
    title = (
        f"{labels} label{'' if labels == '1' else 's'}, {complete} of {strata} labeled completely"
    )
    if total - neyman >= 0.5:
        title += f"; Neyman would leave {total - neyman:.0f} unused"
    parts = []
    for row in _largest(rows, NAMED_STRATA):
        part = f"{row['stratum']} {count(row['labeled'])} of {row['size']:,}"
        parts.append(f"{part} (Neyman {count(row['neyman'])})" if _has_spread(row) else part)
    heading = "Labels per stratum"
    if len(rows) > NAMED_STRATA:
        heading = f"The {NAMED_STRATA} of {len(rows):,} strata with the most labels"

    def draw(data: dict) -> Any:
        axis = "stratum" if len(rows) <= most else f"the {most} strata with the most labels"
        return bars(data, axis, wish="Neyman, at most the size")

    return Figure(
        allocation_data(rows, most),
        title,
        f"{heading}: {'; '.join(parts)}.",
        draw,
        width=WIDTH - 120,
        height=max(3, min(len(rows), most)) * ROW,
    )


def _largest(rows: Sequence[dict], most: int) -> list[dict]:
    """Return the rows with the most labels, in the order of all rows."""
    largest = sorted(range(len(rows)), key=lambda h: -rows[h]["labeled"])[:most]
    return [rows[h] for h in sorted(largest)]


def _has_spread(row: dict) -> bool:
    """Return whether Neyman's rule applies: it needs the standard deviation of the stratum."""
    return not math.isnan(row.get("sd", 0.0))


def allocation_data(rows: Sequence[dict], most: int = MOST_STRATA) -> dict[str, list[dict]]:
    """Return the rows of `bars`: labels, labels of Neyman's rule, and sizes on the axis."""
    data: dict[str, list[dict]] = {"bars": [], "wishes": [], "sizes": []}
    largest = _largest(rows, most)
    reach = 1.15 * max(max(row["labeled"], row["neyman"]) for row in largest)
    for row in largest:
        stratum, size, labels = {"stratum": str(row["stratum"])}, row["size"], row["labeled"]
        kind = "labeled completely" if labels >= size else "labeled in part"
        text = f"{count(labels)} of {size:,}"
        data["bars"].append(stratum | {"labels": labels, "text": text, "kind": kind})
        if _has_spread(row):
            neyman = row["neyman"]
            text = f"Neyman {neyman:.0f}" if neyman > size else ""
            data["wishes"].append(stratum | {"neyman": neyman, "text": text})
        if size <= reach:
            data["sizes"].append(stratum | {"size": size})
    return data


def bars(data: Mapping, title: str | None, *, wish: str = NEYMAN, most: float | None = None) -> Any:
    """Return bars of labels with Neyman's rule, sizes, and a column of counts.

    Parameters
    ----------
    data : dict
        Data from `allocation_data`.
    title : str or None
        Title of the axis of strata.
    wish : str
        Name of the diamonds in the legend.
    most : float, optional
        End of the axis of labels. By default it follows from the data.
    """
    colors = {wish if kind == NEYMAN else kind: color for kind, color in KINDS.items()}
    y = alt.Y("stratum:N", sort=None, title=title, axis={"labelLimit": 160})
    scale = alt.Scale(zero=True) if most is None else span(0, most)
    labels, neyman, sizes = (
        chart(data, name).encode(y=y, x=across(field, "labels", scale=scale, **COUNTS))
        for name, field in DATA_SETS.items()
    )
    color = theme.color("kind", colors, legend=alt.Legend(columns=2, labelLimit=240))
    tick = {"orient": "vertical", "thickness": 3, "height": {"band": 0.95}, "clip": True}
    layers = [
        labels.mark_bar(height={"band": 0.55}, clip=True).encode(color=color),
        sizes.mark_tick(**tick).encode(color=alt.datum("size of the stratum")),
    ]
    if data["wishes"]:
        diamonds = neyman.mark_point(
            shape="diamond", size=80, strokeWidth=2, fill="#ffffff", clip=True
        )
        layers.append(diamonds.encode(color=alt.datum(wish)))
        layers.append(neyman.mark_text(dy=-13).encode(text="text:N"))
    # the frame of a live chart is measured once, so its counts grow to the left
    column = {"align": "left", "dx": 8} if most is None else {"align": "right", "dx": 108}
    counts = chart(data, "bars").mark_text(x="width", **column)
    return alt.layer(*layers, counts.encode(y=y, text="text:N"))


def methods(rows: Sequence[dict], *, recommended: str = "voila") -> Figure:
    """Return the standard error of each method as bars, compared with the recommended one.

    Parameters
    ----------
    rows : list of dict
        `method` (as in `workbench.allocate`, or "random") and `standard_error` (may be infinite).
    recommended : str
        The recommended method.
    """
    errors = {row["method"]: row["standard_error"] for row in rows}
    best = errors[checks.choice("recommended", recommended, list(errors))]
    bars, parts = [], []
    for method in sorted(errors, key=errors.__getitem__):
        error, name = errors[method], METHODS.get(method, method)
        text = _against(error, best)
        parts.append(f"{name} {text}")
        kind = "recommended" if method == recommended else "other"
        start = error if math.isfinite(error) else best
        row = {"method": name, "error": error, "start": start, "kind": kind, "text": text}
        bars.append(row)
    rivals = [row for row in bars if row["kind"] == "other"]
    title = f"{METHODS.get(recommended, recommended)}: {_verdict(best, rivals)}"
    alternative = f"Standard error of the estimate: {'; '.join(parts)}."
    data, height = {"methods": bars, "best": [{"error": best}]}, max(3, len(rows)) * 26
    return Figure(data, title, alternative, _draw_methods, width=WIDTH - 160, height=height)


def _verdict(best: float, rivals: list[dict]) -> str:
    """Return the standard error of the recommended method, compared with the best other one."""
    text = f"standard error {error_text(best)}"
    if not rivals:
        return text
    if not math.isfinite(best):
        return "infinite standard error: a stratum whose values vary has no label"
    other, name = rivals[0]["error"], rivals[0]["method"]
    change = best / other - 1 if other else 0.0
    if abs(change) < EQUAL:
        return f"{text}, as good as {name}"
    return f"{text}, {abs(change):.1%} {'below' if change < 0 else 'above'} that of {name}"


def _against(error: float, best: float) -> str:
    """Return a standard error, compared with that of the recommended method."""
    if not math.isfinite(error):
        return "infinite: a stratum whose values vary has no label"
    ratio, text = error / best if best else 1.0, error_text(error)
    if abs(ratio - 1) < EQUAL:
        return text
    return f"{text} ({ratio - 1:+.1%})" if ratio < 2 else f"{text} ({ratio:.1f} times)"


def _draw_methods(data: dict) -> Any:
    axis = {"tickCount": 6, "format": ",.12~g"}
    base = chart(data, "methods").encode(
        y=theme.names("method"), x=across("error", "standard error of the estimate", **axis)
    )
    colors = {"recommended": STRATIFIED, "other": GRAY}
    color = theme.color("kind", colors, legend=None)
    return (
        base.mark_bar(height={"band": 0.65}).encode(color=color)
        + truth(data, "best", x="error:Q")
        + beside(base, 6).encode(x="start:Q")
    )
