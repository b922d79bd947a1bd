"""What an office publishes month after month, by three ways of counting, and a line that a learner draws."""

from collections.abc import Sequence

import altair as alt

from workbench.charts import theme
from workbench.charts.misclassification.scenes import PERCENT, READING, answer_slopes
from workbench.charts.misclassification.words import colors, dashes
from workbench.misclassification.setting import counted_share
from workbench.misclassification.theory import EstimatorTheory

DRAWN, TRUTH = "your line", "truth"
LINES = {
    TRUTH: theme.GRAY,
    **{name: colors()[name] for name in ("raw count", "mixed", "calibration")},
    DRAWN: theme.OKABE_ITO["green"],
}
STROKES = alt.Legend(symbolType="stroke", symbolSize=400, columns=3)
SHAPES = {
    TRUTH: "stroke",
    "raw count": "triangle-up",
    "mixed": "square",
    "calibration": "diamond",
    DRAWN: "circle",
}
HEIGHTS = (0.05, 0.20)
PUBLISHED = ("raw count", "mixed", "calibration")


def published_data(
    theory: EstimatorTheory,
    true_shares: Sequence[float],
    drawn: Sequence[float] | None = None,
    methods: Sequence[str] = PUBLISHED,
) -> dict:
    """Return the rows of `published`: the lines, and what the published ones say at the end."""
    slopes, base = answer_slopes(theory, READING), theory.base_rate
    found = {
        TRUTH: list(true_shares),
        "raw count": [counted_share(a, theory.p00, theory.p11) for a in true_shares],
        **{name: [base + slopes[name] * (a - base) for a in true_shares] for name in slopes},
        **({} if drawn is None else {DRAWN: list(drawn)}),
    }
    rows = [
        {"month": month, "share": share, "line": name}
        for name in [*methods, DRAWN, TRUTH]
        if name in found
        for month, share in enumerate(found[name], 1)
    ]
    return {
        "lines": rows,
        "ends": [
            row | {"text": f"{row['share']:.1%}"}
            for row in rows
            if row["month"] == len(true_shares) and row["line"] not in (TRUTH, DRAWN)
        ],
    }


def published_words(
    theory: EstimatorTheory,
    true_shares: Sequence[float],
    drawn: Sequence[float] | None = None,
    methods: Sequence[str] = PUBLISHED,
) -> tuple[str, str]:
    """Return title and text alternative of `published`."""
    ends = {
        row["line"]: row["share"]
        for row in published_data(theory, true_shares, drawn, methods)["lines"]
    }
    last, reported = len(true_shares), theory.retained_change
    said = "" if drawn is None else f" {_compared(ends)}"
    return (
        f"Month {last}: calibration publishes {ends['calibration']:.1%}, the truth is {ends[TRUTH]:.1%}",
        f"What is published on average over all audits that could have been drawn, in month {last}: "
        f"{', '.join(f'{name} {ends[name]:.1%}' for name in methods)}; the truth is {ends[TRUTH]:.1%}. Calibration "
        f"reports only {reported:.0%} of the rise.{said}",
    )


def _compared(ends: dict) -> str:
    gap = ends[DRAWN] - ends["calibration"]
    if abs(gap) < 0.0025:
        return f"Your line ends at {ends[DRAWN]:.1%}, where calibration's does."
    near = min((abs(ends[name] - ends[DRAWN]), name) for name in PUBLISHED if name in ends)[1]
    kind = {
        "calibration": "",
        "mixed": ", nearest to the truth",
        "raw count": ", nearest to the raw count",
    }[near]
    return (
        f"Your line ends at {ends[DRAWN]:.1%}, {100 * abs(gap):.1f} points {'above' if gap > 0 else 'below'} what "
        f"calibration publishes{kind}."
    )


def drawing_data(
    line: Sequence[float], true_shares: Sequence[float], *, loose: bool = True
) -> dict:
    """Return the rows of `drawing`; a loose line can be dragged, month by month."""
    points = [
        {
            "month": month,
            "share": share,
            "line": DRAWN,
            **(
                {"drag": month, "step": 0.005, "label": f"Month {month}: {share:.1%}"}
                if loose
                else {}
            ),
        }
        for month, share in enumerate(line, 1)
    ]
    return {
        "truth": [
            {"month": month, "share": share, "line": TRUTH}
            for month, share in enumerate(true_shares, 1)
        ],
        "drawn": points,
    }


def drawing_words(line: Sequence[float], *, touched: bool = True) -> tuple[str, str]:
    """Return title and text alternative of `drawing`."""
    said = ", ".join(
        f"{line[month - 1]:.1%} in month {month}" for month in (1, len(line) // 2, len(line))
    )
    if touched:
        return "Your line: what the office publishes", f"Your line: {said}."
    return "Draw what the office publishes", (
        f"The line is still flat: {said}. Drag a point up or down, or sweep it along to draw all months at once. By "
        "keyboard: Tab goes from point to point, the arrow keys up and down move one."
    )


def drawing(
    line: Sequence[float], true_shares: Sequence[float], *, touched: bool = True
) -> alt.TopLevelMixin:
    """Return a line whose points can be dragged, and the truth beside it.

    Parameters
    ----------
    line, true_shares : sequence of float
        One share per month.
    touched : bool
        Whether the learner has moved a point.
    """
    data = drawing_data(line, true_shares)
    months, up, color, dash = _encodings([TRUTH, DRAWN], len(line))
    layers = [
        theme.chart(data, name)
        .mark_line(strokeWidth=2.5)
        .encode(x=months, y=up, color=color, strokeDash=dash)
        for name in data
    ]
    points = theme.chart(data, "drawn").mark_circle(size=190).encode(x=months, y=up, color=color)
    return theme.finish(alt.layer(*layers, points), *drawing_words(line, touched=touched))


def published(
    theory: EstimatorTheory,
    true_shares: Sequence[float],
    drawn: Sequence[float] | None = None,
    methods: Sequence[str] = PUBLISHED,
) -> alt.TopLevelMixin:
    """Return the lines that raw counts, calibration and mixed publish, the truth, and the line that a learner drew.

    Parameters
    ----------
    theory : workbench.EstimatorTheory
        Of the audit and its month.
    true_shares : sequence of float
        One per month.
    drawn : sequence of float, optional
        The learner's, one per month.
    methods : sequence of str
        The lines of `PUBLISHED` that are drawn.
    """
    data = published_data(theory, true_shares, drawn, methods)
    shown = [name for name in LINES if any(row["line"] == name for row in data["lines"])]
    lines = theme.chart(data, "lines")
    months, up, color, dash = _encodings(shown, len(true_shares))
    strokes = lines.mark_line(strokeWidth=2.5).encode(x=months, y=up, color=color, strokeDash=dash)
    # one layer per line: shapes by an encoding would take the place of the strokes in the legend
    marks = [
        lines.transform_filter(alt.datum.line == name)
        .mark_point(filled=True, size=60, shape=SHAPES[name], color=LINES[name])
        .encode(x=months, y=up)
        for name in shown
    ]
    ends = (
        theme.chart(data, "ends")
        .mark_text(align="left", dx=12, fontWeight="bold")
        .encode(x=months, y=up, text="text:N")
    )
    return theme.finish(
        alt.layer(strokes, *marks, ends), *published_words(theory, true_shares, drawn, methods)
    )


def _encodings(shown: list[str], months: int) -> tuple:
    """Return across, up, color and dash of the lines shown; the axes are those of every picture of months."""
    across = alt.X(
        "month:Q",
        title="month",
        axis=alt.Axis(values=list(range(1, months + 1)), grid=False),
        scale=theme.span(1, months, padding=12),
    )
    up = alt.Y("share:Q", title="share with panels", axis=PERCENT, scale=theme.span(*HEIGHTS))
    color = theme.color("line", {name: LINES[name] for name in shown}, legend=STROKES)
    dash = theme.dash(
        "line",
        shown,
        [({TRUTH: [6, 3], DRAWN: [1, 0]} | dashes())[name] for name in shown],
        legend=STROKES,
    )
    return across, up, color, dash
