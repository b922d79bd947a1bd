"""A chart of estimates from judge labels, from human labels, and from both together."""

import altair as alt
import numpy as np

from workbench.audits.judges import CORRECTED, JudgeAudit, who_says
from workbench.charts import theme
from workbench.results import percent


def judged_data(audit: JudgeAudit) -> list[dict]:
    """Return the rows of `judged`: each defined estimate with its limits, and as text."""
    shown = [row for row in audit.rows() if not np.isnan(row["estimate"])]
    several = "label" in shown[0]
    return [
        row
        | {
            "low": low,
            "high": high,
            "who": who_says(row),
            "kind": "corrected" if place == 0 or several and row["who"] == CORRECTED else "other",
            "text": texts[0] if np.isnan(row["low"]) else f"{texts[0]} ({texts[1]} to {texts[2]})",
        }
        for place, row in enumerate(shown)
        for low, high in [
            [row["estimate"]] * 2 if np.isnan(row["low"]) else [row["low"], row["high"]]
        ]
        for texts in [audit.shown(row["estimate"], low, high, error=(high - low) / 2)]
    ]


def judged_words(audit: JudgeAudit) -> tuple[str, str]:
    """Return the title and the text alternative of `judged`."""
    estimates = "; ".join(f"{row['who']} {row['text']}" for row in judged_data(audit))
    what = f"{audit.what[0].upper()}{audit.what[1:]}"
    return f"{what}, with {percent(audit.level)} intervals", f"{what}: {estimates}."


def judged(audit: JudgeAudit) -> alt.TopLevelMixin:
    """Return the corrected estimate, and those from human labels and judge labels, with intervals.

    The count of judge labels has no interval.

    Parameters
    ----------
    audit : workbench.audits.judges.JudgeAudit
        The result that the chart shows.
    """
    rows = judged_data(audit)
    base = theme.Chart(theme.rows("judged", rows)).encode(
        y=alt.Y(
            "who:N", sort=[row["who"] for row in rows], title=None, axis=alt.Axis(labelLimit=220)
        ),
        color=theme.color("kind", {"corrected": theme.ESTIMATE, "other": theme.GRAY}, legend=None),
    )
    axis = alt.Axis(tickCount=6) if audit.positive is None else theme.percents(tickCount=6)
    title = "mean grade" if audit.positive is None else "proportion of items"
    bars = base.mark_rule(strokeWidth=5).encode(
        x2="high:Q",
        x=alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(zero=False, nice=True)),
    )
    texts = base.mark_text(align="left", x="width", dx=12).encode(
        text="text:N", color=alt.value(theme.GRAY)
    )
    drawn = alt.layer(bars, base.mark_point(filled=True, size=110).encode(x="estimate:Q"), texts)
    return theme.finish(drawn, *judged_words(audit), width=theme.WIDTH - 220, height=30 * len(rows))
