"""A chart of the predicted and the corrected proportions of all classes, from one table."""

import altair as alt
import numpy as np

from workbench import checks
from workbench.audits.classification import ClassificationTable
from workbench.charts import theme
from workbench.results import digits, percent

PREDICTED, CORRECTED = "predicted", "corrected"
KINDS = {PREDICTED: theme.GRAY, CORRECTED: theme.ESTIMATE}
BELOW = 5  # pixels between the marks and the middle of the line of a class
MOST_CLASSES = 12  # the largest classes; the table has all


def class_proportions_data(table: ClassificationTable) -> list[dict]:
    """Return the rows of `class_proportions`, one per class, the largest first."""
    rows = []
    for row in table.rows():
        low = row["proportion_low"]
        high = row["proportion_high"]
        texts = digits.percents(row["proportion"], low, high, error=(high - low) / 2)
        text = texts[0] if table.complete else f"{texts[0]} ({texts[1]} to {texts[2]})"
        estimate = None if np.isnan(row["proportion"]) else row["proportion"]
        drawn = {"class": str(row["label"]), "predicted": row["counted"], "estimate": estimate}
        rows.append({**drawn, "low": low, "high": high, "text": text})
    rows.sort(key=lambda row: -max(row["estimate"] or 0, row["predicted"]))
    return rows[:MOST_CLASSES]


def class_proportions_words(table: ClassificationTable) -> tuple[str, str]:
    """Return the title and the text alternative of `class_proportions`."""
    rows = class_proportions_data(table)
    classes = []
    for row in rows:
        predicted = digits.percents(row["predicted"])[0]
        classes.append(f"{row['class']} {row['text']}, predicted {predicted}")
    left_out = len(table.labels) - len(rows)
    verb = "is" if left_out == 1 else "are"
    smaller = checks.counted(left_out, "smaller class", "smaller classes")
    rest = f" {smaller} {verb} not shown." if left_out else ""
    level = percent(table.level)
    text = f"Class proportions with {level} intervals: {'; '.join(classes)}.{rest}"
    return f"Class proportions, with {level} intervals", text


def class_proportions(table: ClassificationTable) -> alt.TopLevelMixin:
    """Return the proportion of every class with its interval, next to the predicted proportion.

    Parameters
    ----------
    table : workbench.ClassificationTable
        The result that the chart shows.
    """
    rows = class_proportions_data(table)
    order = [row["class"] for row in rows]
    up = alt.Y("class:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    x = alt.X("low:Q", title="proportion of all items", axis=theme.percents(tickCount=5))
    lines = theme.Chart(theme.rows("classes", rows)).encode(y=up)
    bars = lines.mark_rule(strokeWidth=5, color=theme.ESTIMATE, yOffset=BELOW)
    texts = lines.mark_text(align="left", x="width", dx=12, color=theme.GRAY).encode(text="text:N")
    layers = [bars.encode(x=x, x2="high:Q"), texts]
    for kind, column, offset in ((PREDICTED, "predicted", -BELOW), (CORRECTED, "estimate", BELOW)):
        points = [{"class": row["class"], "share": row[column], "kind": kind} for row in rows]
        marks = theme.Chart(theme.rows(kind, points))
        marks = marks.mark_point(filled=True, size=80, yOffset=offset)
        color = theme.color("kind", KINDS)
        shape = theme.shape("kind", KINDS, ["diamond", "circle"])
        layers.append(marks.encode(y=up, x="share:Q", color=color, shape=shape))
    words = class_proportions_words(table)
    return theme.finish(alt.layer(*layers), *words, width=theme.WIDTH - 240, height=36 * len(rows))
