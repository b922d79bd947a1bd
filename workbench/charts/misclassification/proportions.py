"""A chart of the predicted and the corrected proportions of all classes, from one table."""

from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.audits.classification import ClassificationTable
from workbench.charts import theme
from workbench.charts.theme import ESTIMATE, GRAY, PERCENT, WIDTH, Figure, across, beside, chart
from workbench.results import digits, percent

KINDS = {"predicted": GRAY, "corrected": ESTIMATE}
BELOW = 5  # pixels between the marks and the middle of the line of a class
MOST_CLASSES = 12  # the largest classes; the table has all


def class_proportions(table: ClassificationTable) -> Figure:
    """Return the proportion of every class with its interval, next to the predicted proportion.

    Parameters
    ----------
    table : workbench.ClassificationTable
        The result that the chart shows.
    """
    rows = []
    for row in table.rows():
        estimate, low, high = row["proportion"], row["proportion_low"], row["proportion_high"]
        text, *limits = digits.percents(estimate, low, high, error=(high - low) / 2)
        if not table.complete:
            text = f"{text} ({' to '.join(limits)})"
        drawn = {"class": str(row["label"]), "predicted": row["counted"], "low": low, "high": high}
        rows.append(drawn | {"estimate": None if np.isnan(estimate) else estimate, "text": text})
    rows.sort(key=lambda row: -max(row["estimate"] or 0, row["predicted"]))
    hidden = len(rows[MOST_CLASSES:])
    rows = rows[:MOST_CLASSES]
    classes = "; ".join(
        f"{row['class']} {row['text']}, predicted {digits.percents(row['predicted'])[0]}"
        for row in rows
    )
    rest = ""
    if hidden:
        smaller = checks.counted(hidden, "smaller class is", "smaller classes are")
        rest = f" {smaller} not shown."
    level = percent(table.level)
    return Figure(
        {
            "classes": rows,
            "predicted": _points(rows, "predicted", "predicted"),
            "corrected": _points(rows, "estimate", "corrected"),
        },
        f"Class proportions, with {level} intervals",
        f"Class proportions with {level} intervals: {classes}.{rest}",
        _draw,
        width=WIDTH - 240,
        height=36 * len(rows),
    )


def _points(rows: list[dict], column: str, kind: str) -> list[dict]:
    return [{"class": row["class"], "share": row[column], "kind": kind} for row in rows]


def _draw(data: dict) -> Any:
    y = theme.names("class", labelLimit=140)
    low = across("low", "proportion of all items", tickCount=5, format=PERCENT)
    lines = chart(data, "classes").encode(y=y)
    bars = lines.mark_rule(strokeWidth=5, color=ESTIMATE, yOffset=BELOW)
    texts = beside(lines, 12, x="width", color=GRAY)
    layers = [bars.encode(x=low, x2="high:Q"), texts]
    color = theme.color("kind", KINDS)
    shape = theme.shape("kind", KINDS, ["diamond", "circle"])
    for kind, offset in (("predicted", -BELOW), ("corrected", BELOW)):
        dots = chart(data, kind).mark_point(filled=True, size=80, yOffset=offset)
        layers.append(dots.encode(y=y, x="share:Q", color=color, shape=shape))
    return alt.layer(*layers)
