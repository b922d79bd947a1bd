"""Charts of audit sessions."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from workbench import checks
from workbench.charts import theme
from workbench.results import percent

COLORS = {"planned": theme.STRATIFIED, "anytime": theme.LABELED, "looks": theme.RANDOM, "fixed": theme.MISS}


def looks_words(rows: Sequence[Mapping], design: Mapping[str, Any]) -> tuple[str, str]:
    """Return title and text alternative of `looks`."""
    first, last = rows[0], rows[-1]
    looks = checks.counted(len(rows), "look")
    said = [f"at {checks.counted(row['labeled'], 'label')}, from {100 * row['low']:.1f}% to {100 * row['high']:.1f}%"
            for row in (first, last)]
    return (f"What was seen in {looks}, by the number of labels",
            f"{percent(design['level'])} intervals at {looks}: the first, {said[0]}; the last, {said[1]}.")


def looks(rows: Sequence[Mapping], design: Mapping[str, Any]) -> alt.TopLevelMixin:
    """Return the interval of every look over the number of labels, with the planned end.

    Parameters
    ----------
    rows : list of dict
        labeled, low, high, method; one per look.
    design : dict
        Of the session: level, budget, question.
    """
    methods = {method: color for method, color in COLORS.items() if any(row["method"] == method for row in rows)}
    title = "accuracy of A less B" if design["question"] == "difference" else "accuracy"
    bars = alt.Chart(theme.rows("looks", map(dict, rows))).mark_rule(strokeWidth=3).encode(
        x=alt.X("labeled:Q", title="labels"), y2="high:Q",
        y=alt.Y("low:Q", title=title, axis=alt.Axis(format=".0%"), scale=alt.Scale(zero=False)),
        color=alt.Color("method:N", scale=theme.scale(methods), title=None))
    end = alt.Chart(theme.rows("end", [{"end": design["budget"]}])).mark_rule(style="note", strokeDash=[4, 3]).encode(
        x="end:Q")
    return theme.finish(bars + end, *looks_words(rows, design), height=200)
