"""A chart of estimates from judge labels, from human labels, and from both together."""

import functools
from typing import Any

import altair as alt
import numpy as np

from workbench.audits.judges import CORRECTED, JudgeAudit, who_says
from workbench.charts import theme
from workbench.charts.theme import (
    ESTIMATE,
    GRAY,
    PERCENT,
    WIDTH,
    Figure,
    across,
    bars_and_dots,
    beside,
    chart,
)
from workbench.results import percent


def judged(audit: JudgeAudit) -> Figure:
    """Return the corrected estimate, and those from human labels and judge labels, with intervals.

    The count of judge labels has no interval.

    Parameters
    ----------
    audit : workbench.audits.judges.JudgeAudit
        The result that the chart shows.
    """
    rows: list[dict] = []
    for row in audit.rows():
        estimate, low, high = row["estimate"], row["low"], row["high"]
        if np.isnan(estimate):
            continue
        bounded = not np.isnan(low)
        if not bounded:
            low = high = estimate
        text, *limits = audit.shown(estimate, low, high, error=(high - low) / 2)
        if bounded:
            text = f"{text} ({' to '.join(limits)})"
        corrected = not rows or ("label" in row and row["who"] == CORRECTED)
        kind = "corrected" if corrected else "other"
        rows.append(
            row | {"low": low, "high": high, "who": who_says(row), "kind": kind, "text": text}
        )
    estimates = "; ".join(f"{row['who']} {row['text']}" for row in rows)
    quantity = f"{audit.what[0].upper()}{audit.what[1:]}"
    return Figure(
        {"judged": rows},
        f"{quantity}, with {percent(audit.level)} intervals",
        f"{quantity}: {estimates}.",
        functools.partial(_draw, audit.positive is None),
        width=WIDTH - 220,
        height=30 * len(rows),
    )


def _draw(graded: bool, data: dict) -> Any:
    base = chart(data, "judged").encode(
        y=theme.names("who", labelLimit=220),
        color=theme.color("kind", {"corrected": ESTIMATE, "other": GRAY}, legend=None),
    )
    scale = {"zero": False, "nice": True}
    axis = {} if graded else {"format": PERCENT}
    title = "mean grade" if graded else "proportion of items"
    low = across("low", title, scale=scale, tickCount=6, **axis)
    bars, dots = bars_and_dots(base, low, "estimate", width=5, size=110)
    texts = beside(base, 12, x="width").encode(color=alt.value(GRAY))
    return alt.layer(bars, dots, texts)
