"""Charts of the proportions that an office publishes, and of the line that a learner draws."""

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
    """Return the rows of `published`: the lines and the values at their ends."""
    slopes, base = answer_slopes(theory, READING), theory.base_rate
    shares = {
        TRUTH: list(true_shares),
        "raw count": [counted_share(a, theory.p00, theory.p11) for a in true_shares],
        **{name: [base + slopes[name] * (a - base) for a in true_shares] for name in slopes},
        **({} if drawn is None else {DRAWN: list(drawn)}),
    }
    rows = [
        {"month": month, "share": share, "line": name}
        for name in [*methods, DRAWN, TRUTH]
        if name in shares
        for month, share in enumerate(shares[name], 1)
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
    """Return the title and the text alternative of `published`."""
    ends = {
        row["line"]: row["share"]
        for row in published_data(theory, true_shares, drawn, methods)["lines"]
    }
    last = len(true_shares)
    compared = "" if drawn is None else f" {_compared(ends)}"
    return (
        f"Month {last}: calibration publishes {ends['calibration']:.1%}, the truth is "
        f"{ends[TRUTH]:.1%}",
        f"Published proportions in month {last}, averaged over all possible audits: "
        f"{', '.join(f'{name} {ends[name]:.1%}' for name in methods)}; the truth is "
        f"{ends[TRUTH]:.1%}. Calibration reports only {theory.retained_change:.0%} of the "
        f"rise.{compared}",
    )


def _compared(ends: dict) -> str:
    gap = ends[DRAWN] - ends["calibration"]
    if abs(gap) < 0.0025:
        return f"Your line ends at {ends[DRAWN]:.1%}, like the line of calibration."
    nearest = min((abs(ends[name] - ends[DRAWN]), name) for name in PUBLISHED if name in ends)[1]
    near = {
        "calibration": "",
        "mixed": ", closest to the truth",
        "raw count": ", closest to the raw count",
    }
    where = "above" if gap > 0 else "below"
    return (
        f"Your line ends at {ends[DRAWN]:.1%}, {100 * abs(gap):.1f} points {where} the line of "
        f"calibration{near[nearest]}."
    )


def drawing_data(
    line: Sequence[float], true_shares: Sequence[float], *, loose: bool = True
) -> dict:
    """Return the rows of `drawing`; with `loose`, the points of the line can be dragged."""
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
    """Return the title and the text alternative of `drawing`."""
    ends = ", ".join(
        f"{line[month - 1]:.1%} in month {month}" for month in (1, len(line) // 2, len(line))
    )
    if touched:
        return "Your line: the proportion that the office publishes", f"Your line: {ends}."
    return "Draw the proportion that the office publishes", (
        f"The line is still flat: {ends}. Drag a point up or down, or sweep a point over several "
        "months to draw them in one move. With the keyboard, Tab moves to the next point, and the "
        "up and down arrow keys move the point."
    )


def drawing(
    line: Sequence[float], true_shares: Sequence[float], *, touched: bool = True
) -> alt.TopLevelMixin:
    """Return a line whose points can be dragged, and the true line.

    Parameters
    ----------
    line, true_shares : sequence of float
        One proportion per month.
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
    """Return the lines that three estimators publish, the truth, and the line of a learner.

    Parameters
    ----------
    theory : workbench.EstimatorTheory
        Rates of the program, true proportion in month 1 and size of the audit.
    true_shares : sequence of float
        True proportion of each month.
    drawn : sequence of float, optional
        The learner's line, one proportion per month.
    methods : sequence of str
        Estimators whose lines are shown, from `PUBLISHED`.
    """
    data = published_data(theory, true_shares, drawn, methods)
    line_names = [name for name in LINES if any(row["line"] == name for row in data["lines"])]
    lines = theme.chart(data, "lines")
    months, up, color, dash = _encodings(line_names, len(true_shares))
    strokes = lines.mark_line(strokeWidth=2.5).encode(x=months, y=up, color=color, strokeDash=dash)
    # There is one layer per line, as encoded shapes would replace the strokes in the legend.
    marks = [
        lines.transform_filter(alt.datum.line == name)
        .mark_point(filled=True, size=60, shape=SHAPES[name], color=LINES[name])
        .encode(x=months, y=up)
        for name in line_names
    ]
    ends = (
        theme.chart(data, "ends")
        .mark_text(align="left", dx=12, fontWeight="bold")
        .encode(x=months, y=up, text="text:N")
    )
    return theme.finish(
        alt.layer(strokes, *marks, ends), *published_words(theory, true_shares, drawn, methods)
    )


def _encodings(line_names: list[str], months: int) -> tuple:
    """Return the encodings of x, y, color and dash; all charts of months have the same axes."""
    across = alt.X(
        "month:Q",
        title="month",
        axis=alt.Axis(values=list(range(1, months + 1)), grid=False),
        scale=theme.span(1, months, padding=12),
    )
    up = alt.Y("share:Q", title="proportion with panels", axis=PERCENT, scale=theme.span(*HEIGHTS))
    color = theme.color("line", {name: LINES[name] for name in line_names}, legend=STROKES)
    dash = theme.dash(
        "line",
        line_names,
        [({TRUTH: [6, 3], DRAWN: [1, 0]} | dashes())[name] for name in line_names],
        legend=STROKES,
    )
    return across, up, color, dash
