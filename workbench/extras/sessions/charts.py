"""Charts of an audit session: its estimates with their intervals, and its interim analyses."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from workbench.charts import theme
from workbench.checks import counted
from workbench.extras.sessions.estimates import BY_FIRST, CORRECTED, limited, shown
from workbench.results import Table, percent
from workbench.results.digits import percents, points
from workbench.results.vocabulary import metric_words

if TYPE_CHECKING:
    from workbench.extras.sessions.estimates import SessionEstimate

FEW_STRATA = 20
NAMES = {"difference": "A minus B", BY_FIRST: "first labels"}
COLORS = {
    "planned": theme.OKABE_ITO["blue"],
    "anytime": theme.OKABE_ITO["green"],
    "looks": theme.OKABE_ITO["purple"],
    "fixed": theme.OKABE_ITO["vermilion"],
    CORRECTED: "#8a5a00",
}
APART = 0.006  # of the axis, between intervals at the same number of labels
KINDS = {"of all items": theme.ESTIMATE, "in a stratum": theme.GRAY}


def name_of(metric: str) -> str:
    """Return the name of a metric in tables and charts of a session."""
    return NAMES.get(metric, metric_words(metric))


def finding(estimate: "SessionEstimate", rates: Table | None) -> theme.Figure | None:
    """Return the estimates with their intervals, and the rates of few strata.

    There is no figure before the first estimate with an interval. An estimate has two ends if some
    items could not be labeled.

    Parameters
    ----------
    estimate : SessionEstimate
    rates : Table, optional
        Numbers of labels and of correct ones per stratum.
    """
    quoted = [*estimate.quoted, *(estimate.by_labels if estimate.is_corrected else [])]
    data: dict[str, list[dict]] = {"intervals": [], "points": [], "texts": []}
    for metric, lowest, highest, limits in limited(quoted):
        name = name_of(metric)
        text = "{} ({} to {})".format(*shown(metric, lowest, highest, limits, limits.half_width))
        data["intervals"].append({"name": name, "low": limits.low, "high": limits.high})
        data["texts"].append({"name": name, "text": text})
        for end in {lowest: None, highest: None}:
            data["points"].append({"name": name, "estimate": end, "kind": "of all items"})
    if not data["intervals"]:
        return None
    rows = rates.rows() if rates else []
    for row in rows if len(rows) <= FEW_STRATA else []:
        if row["labeled"]:
            name = ", ".join(f"{key} {row[key]}" for key in ("wave", "stratum") if key in row)
            rate = row["correct"] / row["labeled"]
            text = f"{row['correct']:,} of {row['labeled']:,} correct"
            data["points"].append({"name": name, "estimate": rate, "kind": "in a stratum"})
            data["texts"].append({"name": name, "text": text})
    intervals = "interval" if len(data["intervals"]) == 1 else "intervals"
    title = f"{percent(estimate.level)} confidence {intervals}"
    if estimate.question == "difference":
        title += ", in points"
    if len(data["texts"]) > len(data["intervals"]):
        title += ", and correct labels per stratum"
    alternative = "; ".join(f"{row['name']} {row['text']}" for row in data["texts"]) + "."
    draw = functools.partial(_draw_finding, axis=_axis(estimate.question))
    lines = max(2, len(data["texts"]))
    height = lines * (30 if lines < 10 else 17)
    return theme.Figure(data, title, alternative, draw, width=theme.WIDTH - 160, height=height)


def _draw_finding(data: dict, axis: alt.Axis) -> alt.TopLevelMixin:
    order = [row["name"] for row in data["texts"]]
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    x = alt.X("low:Q", title=None, axis=axis, scale=alt.Scale(zero=False, nice=True))
    intervals = theme.chart(data, "intervals").mark_rule(strokeWidth=5, color=theme.ESTIMATE)
    ends = theme.chart(data, "points").mark_point(filled=True, size=110)
    texts = theme.chart(data, "texts").mark_text(align="left", x="width", dx=12)
    return alt.layer(
        intervals.encode(x=x, x2="high:Q", y=y),
        ends.encode(x="estimate:Q", y=y, color=theme.color("kind", KINDS, legend=None)),
        texts.encode(y=y, text="text:N"),
    )


def interim_analyses(
    looks: Sequence[Mapping[str, Any]], design: Mapping[str, Any]
) -> theme.Figure | None:
    """Return the interval of each interim analysis by the number of labels, None for fewer than 2.

    Parameters
    ----------
    looks : list of dict
        Interim analyses, as `AuditSession.looks` returns them.
    design : dict
        Design of the session.
    """
    rows = []
    for number, look in enumerate(looks, 1):
        for metric, limits in (look.get("intervals") or {}).items():
            method = metric if metric in COLORS else look["method"]
            if limits and method in COLORS and metric in (*COLORS, "accuracy", "difference"):
                low, high = limits
                row = {"number": number, "labeled": look["labeled"], "low": low, "high": high}
                rows.append(row | {"method": method})
    if len(rows) < 2:
        return None
    budget, order = design["budget"], list(COLORS)
    longest = max(budget, *(row["labeled"] for row in rows))
    for row in rows:  # methods at the same number of labels stand side by side
        row["across"] = row["labeled"] - APART * longest * order.index(row["method"])
    number = len({row["number"] for row in rows})
    intervals = f"{percent(design['level'])} confidence intervals of "
    intervals += counted(number, "interim analysis", "interim analyses")
    first, last = (_described(row, design["question"]) for row in (rows[0], rows[-1]))
    return theme.Figure(
        {"rows": rows, "planned": [{"labeled": budget, "text": f"{budget} planned labels"}]},
        intervals,
        f"{intervals}. First: {first}. Last: {last}.",
        functools.partial(_draw_interim_analyses, axis=_axis(design["question"])),
    )


def _described(row: dict, question: str) -> str:
    if question == "difference":
        low, high = points(row["low"], row["high"], error=0, signed=True)
    else:
        low, high = percents(row["low"], row["high"])
    return f"{counted(row['labeled'], 'label')}, {low} to {high}"


def _draw_interim_analyses(data: dict, axis: alt.Axis) -> alt.TopLevelMixin:
    methods = {row["method"] for row in data["rows"]}
    colors = {method: color for method, color in COLORS.items() if method in methods}
    x = alt.X("across:Q", title="labels", scale=alt.Scale(domainMin=0))
    y = alt.Y("low:Q", title=None, axis=axis, scale=alt.Scale(zero=False, nice=True))
    planned = theme.chart(data, "planned").encode(x="labeled:Q")
    intervals = theme.chart(data, "rows").mark_rule(strokeWidth=3)
    return alt.layer(
        planned.mark_rule(style="truth"),
        planned.mark_text(align="right", baseline="bottom", y=0, dx=-4).encode(text="text:N"),
        intervals.encode(
            x=x, y=y, y2="high:Q", color=theme.color("method", colors, legend=theme.STROKES)
        ),
    )


def _axis(question: str) -> alt.Axis:
    """Return an axis in points for a difference, else in percent."""
    if question == "difference":
        return alt.Axis(labelExpr="format(100 * datum.value, '+~g')", tickCount=6)
    return theme.percents(tickCount=6)
