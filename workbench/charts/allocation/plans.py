"""Charts of the labels and the size of each stratum, and of the standard errors of rules."""

import math
from collections.abc import Mapping, Sequence

import altair as alt

from workbench import checks
from workbench.charts import theme
from workbench.charts.allocation.words import METHODS, count, error_text

WISH = "Neyman's rule"
KINDS = {
    "labeled in part": theme.LABELED,
    "labeled completely": theme.OKABE_ITO["blue"],
    WISH: theme.MISS,
    "size of the stratum": theme.GRAY,
}
SHOWN_STRATA = 30
NAMED_STRATA = 12
ROW = 24
COUNT_AXIS = alt.Axis(format=",d", tickMinStep=1, tickCount=6)


# labels against the size of each stratum


def allocation_data(rows: Sequence[dict], most: int = SHOWN_STRATA) -> dict:
    """Return the rows of `allocation`: bars, labels of Neyman's rule, and sizes on the axis."""
    largest = sorted(range(len(rows)), key=lambda h: -rows[h]["labeled"])[:most]
    largest_rows = [rows[h] | {"stratum": str(rows[h]["stratum"])} for h in sorted(largest)]
    reach = 1.15 * max(max(row["labeled"], row["neyman"]) for row in largest_rows)
    wished = [row for row in largest_rows if _has_wish(row)]
    drawn = [
        {
            "stratum": row["stratum"],
            "labels": row["labeled"],
            "text": f"{count(row['labeled'])} of {row['size']:,}",
            "kind": "labeled completely" if row["labeled"] >= row["size"] else "labeled in part",
        }
        for row in largest_rows
    ]
    return {
        "bars": drawn,
        "wishes": [
            {
                "stratum": row["stratum"],
                "neyman": row["neyman"],
                "text": f"Neyman {row['neyman']:.0f}" if row["neyman"] > row["size"] else "",
            }
            for row in wished
        ],
        "sizes": [
            {"stratum": row["stratum"], "size": row["size"]}
            for row in largest_rows
            if row["size"] <= reach
        ],
    }


def _has_wish(row: dict) -> bool:
    """Return whether Neyman's rule applies: it needs the standard deviation of the stratum."""
    return not math.isnan(row.get("sd", 0.0))


def allocation_words(rows: Sequence[dict]) -> tuple[str, str]:
    """Return the title and the text alternative of `allocation`."""
    total, neyman = (sum(row[name] for row in rows) for name in ("labeled", "neyman"))
    full = sum(row["labeled"] >= row["size"] for row in rows)
    exhausted = (
        f"{full or 'none'} of {checks.counted(len(rows), 'stratum', 'strata')} labeled completely"
    )
    left = f"; Neyman would leave {total - neyman:.0f} unused" if total - neyman >= 0.5 else ""
    largest_rows = sorted(rows, key=lambda row: -row["labeled"])[:NAMED_STRATA]
    table = "; ".join(
        f"{row['stratum']} {count(row['labeled'])} of {row['size']:,}"
        + (f" (Neyman {count(row['neyman'])})" if _has_wish(row) else "")
        for row in rows
        if any(row is other for other in largest_rows)
    )
    cut = (
        f"The {NAMED_STRATA} of {len(rows):,} strata with the most labels"
        if len(rows) > NAMED_STRATA
        else "Labels per stratum"
    )
    return (
        f"{count(total)} label{'s' * (count(total) != '1')}, {exhausted}{left}",
        f"{cut}: {table}.",
    )


def allocation(rows: Sequence[dict], *, most: int = SHOWN_STRATA) -> alt.TopLevelMixin:
    """Return the labels and the size of each stratum, and the labels of Neyman's rule.

    Parameters
    ----------
    rows : list of dict
        `stratum`, `size`, `labeled` and `neyman` (labels by Neyman's rule, at most the size).
    most : int
        Number of strata shown, those with the most labels.
    """
    height = max(3, min(len(rows), most)) * ROW
    title = "stratum" if len(rows) <= most else f"the {most} strata with the most labels"
    drawn = bars(allocation_data(rows, most), title, wish="Neyman, at most the size")
    return theme.finish(drawn, *allocation_words(rows), width=theme.WIDTH - 120, height=height)


def bars(
    data: Mapping, title: str | None, *, wish: str = WISH, most: float | None = None
) -> alt.LayerChart:
    """Return the bars of `allocation`: labels, Neyman's rule, sizes, and a column of counts.

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
    colors = {wish if kind == WISH else kind: color for kind, color in KINDS.items()}
    along = alt.Y("stratum:N", sort=None, title=title, axis=alt.Axis(labelLimit=160))
    scale = alt.Scale(zero=True) if most is None else theme.span(0, most)
    rows, wished, sizes = (
        theme.chart(data, name).encode(
            y=along, x=alt.X(f"{field}:Q", title="labels", axis=COUNT_AXIS, scale=scale)
        )
        for name, field in (("bars", "labels"), ("wishes", "neyman"), ("sizes", "size"))
    )
    labels = rows.mark_bar(height={"band": 0.55}, clip=True).encode(
        color=theme.color("kind", colors, legend=alt.Legend(columns=2, labelLimit=240))
    )
    # the frame of a live chart is measured once, so its counts grow to the left
    column = {"align": "left", "dx": 8} if most is None else {"align": "right", "dx": 108}
    counts = theme.chart(data, "bars").mark_text(x="width", **column).encode(y=along, text="text:N")
    if not data["wishes"]:
        existing = sizes.mark_tick(
            orient="vertical", thickness=3, height={"band": 0.95}, clip=True
        ).encode(color=alt.datum("size of the stratum"))
        return labels + existing + counts
    wishes = wished.mark_point(
        shape="diamond", size=80, strokeWidth=2, fill="#ffffff", clip=True
    ).encode(color=alt.datum(wish))
    existing = sizes.mark_tick(
        orient="vertical", thickness=3, height={"band": 0.95}, clip=True
    ).encode(color=alt.datum("size of the stratum"))
    return labels + existing + wishes + wished.mark_text(dy=-13).encode(text="text:N") + counts


# standard errors of methods


def methods_data(rows: Sequence[dict], recommended: str = "voila") -> dict[str, list[dict]]:
    """Return the rows of `methods`: one bar per method, and the error of the recommended method."""
    best = _error_of(rows, recommended)
    bars = [
        {
            "method": METHODS.get(row["method"], row["method"]),
            "error": row["standard_error"],
            "start": row["standard_error"] if math.isfinite(row["standard_error"]) else best,
            "kind": "recommended" if row["method"] == recommended else "other",
            "text": _against(row["standard_error"], best),
        }
        for row in sorted(rows, key=lambda row: row["standard_error"])
    ]
    return {"methods": bars, "best": [{"error": best}]}


def methods_words(rows: Sequence[dict], recommended: str = "voila") -> tuple[str, str]:
    """Return the title and the text alternative of `methods`."""
    data = methods_data(rows, recommended)
    table = "; ".join(f"{row['method']} {row['text']}" for row in data["methods"])
    return (
        f"{METHODS.get(recommended, recommended)}: {_verdict(data)}",
        f"Standard error of the estimate: {table}.",
    )


def _verdict(data: dict) -> str:
    """Return the standard error of the recommended method, compared with the best other one."""
    best, others = (
        data["best"][0]["error"],
        [row for row in data["methods"] if row["kind"] == "other"],
    )
    if others and not math.isfinite(best):
        return "infinite standard error: a stratum whose values vary has no label"
    text = f"standard error {error_text(best)}"
    if not others:
        return text
    other, name = others[0]["error"], others[0]["method"]
    change = best / other - 1 if other else 0.0
    if abs(change) < 5e-4:
        return f"{text}, as good as {name}"
    return f"{text}, {abs(change):.1%} {'below' if change < 0 else 'above'} that of {name}"


def _error_of(rows: list, recommended: str) -> float:
    errors = {row["method"]: row["standard_error"] for row in rows}
    return errors[checks.choice("recommended", recommended, list(errors))]


def _against(error: float, best: float) -> str:
    if not math.isfinite(error):
        return "infinite: a stratum whose values vary has no label"
    ratio = error / best if best else 1.0
    more = (
        ""
        if abs(ratio - 1) < 5e-4
        else f" ({ratio - 1:+.1%})"
        if ratio < 2
        else f" ({ratio:.1f} times)"
    )
    return error_text(error) + more


def methods(rows: Sequence[dict], *, recommended: str = "voila") -> alt.TopLevelMixin:
    """Return the standard error of each method as bars, compared with the recommended one.

    Parameters
    ----------
    rows : list of dict
        `method` (as in `workbench.allocate`, or "random") and `standard_error` (may be infinite).
    recommended : str
        The recommended method.
    """
    data = methods_data(rows, recommended)
    base = theme.chart(data, "methods").encode(
        y=alt.Y("method:N", sort=None, title=None),
        x=alt.X(
            "error:Q",
            title="standard error of the estimate",
            axis=alt.Axis(tickCount=6, format=",.12~g"),
        ),
    )
    bars = base.mark_bar(height={"band": 0.65}).encode(
        color=theme.color(
            "kind", {"recommended": theme.STRATIFIED, "other": theme.GRAY}, legend=None
        )
    )
    texts = base.mark_text(align="left", dx=6).encode(text="text:N", x="start:Q")
    best = theme.chart(data, "best").mark_rule(style="truth").encode(x="error:Q")
    return theme.finish(
        bars + best + texts,
        *methods_words(rows, recommended),
        width=theme.WIDTH - 160,
        height=max(3, len(rows)) * 26,
    )
