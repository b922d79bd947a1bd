"""Charts of the proportions that an office publishes, and of the line that a learner draws."""

import functools
from collections.abc import Sequence
from typing import Any

import altair as alt

from workbench.charts import theme
from workbench.charts.misclassification.scenes import READING, answer_slopes
from workbench.charts.misclassification.words import colors, dashes
from workbench.charts.theme import GRAY, OKABE_ITO, PERCENT, Figure, across, beside, chart, span, up
from workbench.misclassification.setting import counted_share
from workbench.misclassification.theory import EstimatorTheory

DRAWN, TRUTH = "your line", "truth"
PUBLISHED = ("raw count", "mixed", "calibration")
LINES = {
    TRUTH: GRAY,
    **{name: colors()[name] for name in PUBLISHED},
    DRAWN: OKABE_ITO["green"],
}
STROKES = {"symbolType": "stroke", "symbolSize": 400, "columns": 3}
SHAPES = {
    TRUTH: "stroke",
    "raw count": "triangle-up",
    "mixed": "square",
    "calibration": "diamond",
    DRAWN: "circle",
}
HEIGHTS = (0.05, 0.20)
CLOSEST = {
    "calibration": "",
    "mixed": ", closest to the truth",
    "raw count": ", closest to the raw count",
}


def published(
    theory: EstimatorTheory,
    true_shares: Sequence[float],
    drawn: Sequence[float] | None = None,
    methods: Sequence[str] = PUBLISHED,
) -> Figure:
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
        Estimators whose lines are shown, from `PUBLISHED`, with "calibration".
    """
    slopes, base, last = answer_slopes(theory, READING), theory.base_rate, len(true_shares)
    shares: dict[str, Sequence[float]] = {}
    shares["raw count"] = [counted_share(a, theory.p00, theory.p11) for a in true_shares]
    for name, slope in slopes.items():
        shares[name] = [base + slope * (a - base) for a in true_shares]
    shares = {name: shares[name] for name in methods}
    ends = [
        {"month": last, "share": line[-1], "line": name, "text": f"{line[-1]:.1%}"}
        for name, line in shares.items()
    ]
    texts = {row["line"]: row["text"] for row in ends}
    listed = ", ".join(f"{name} {text}" for name, text in texts.items())
    compared, truth = "", f"the truth is {true_shares[-1]:.1%}"
    if drawn is not None:
        compared = _compared(drawn[-1], {row["line"]: row["share"] for row in ends})
        shares[DRAWN] = drawn
    shares[TRUTH] = true_shares
    lines = [row for name, line in shares.items() for row in _months(line, name)]
    names = [name for name in LINES if name in shares]
    title = f"Month {last}: calibration publishes {texts['calibration']}, {truth}"
    return Figure(
        {"lines": lines, "ends": ends},
        title,
        f"Published proportions in month {last}, averaged over all possible audits: {listed}; "
        f"{truth}. Calibration reports only {theory.retained_change:.0%} of the rise.{compared}",
        functools.partial(_draw_published, names),
    )


def _months(line: Sequence[float], name: str) -> list[dict]:
    return [{"month": month, "share": share, "line": name} for month, share in enumerate(line, 1)]


def _compared(end: float, ends: dict) -> str:
    text = f" Your line ends at {end:.1%}, "
    gap = end - ends["calibration"]
    if abs(gap) < 0.0025:
        return f"{text}like the line of calibration."
    _, nearest = min((abs(share - end), name) for name, share in ends.items())
    side = "above" if gap > 0 else "below"
    return f"{text}{100 * abs(gap):.1f} points {side} the line of calibration{CLOSEST[nearest]}."


def _draw_published(names: list[str], data: dict) -> Any:
    months = max(row["month"] for row in data["lines"])
    axes, looks = _encodings(names, months)
    lines = chart(data, "lines").encode(**axes)
    # There is one layer per line, as encoded shapes would replace the strokes in the legend.
    dots = [
        lines.transform_filter(alt.datum.line == name).mark_point(
            filled=True, size=60, shape=SHAPES[name], color=LINES[name]
        )
        for name in names
    ]
    ends = beside(chart(data, "ends").encode(**axes), 12, fontWeight="bold")
    strokes = lines.mark_line(strokeWidth=2.5).encode(**looks)
    return alt.layer(strokes, *dots, ends)


def drawing(
    line: Sequence[float],
    true_shares: Sequence[float],
    *,
    touched: bool = True,
    loose: bool = True,
) -> Figure:
    """Return a line whose points can be dragged, and the true line.

    Parameters
    ----------
    line, true_shares : sequence of float
        One proportion per month.
    touched : bool
        Whether the learner has moved a point.
    loose : bool
        Whether points can be dragged.
    """
    points = _months(line, DRAWN)
    if loose:
        for point in points:
            month, share = point["month"], point["share"]
            point |= {"drag": month, "step": 0.005, "label": f"Month {month}: {share:.1%}"}
    months = (1, len(line) // 2, len(line))
    ends = ", ".join(f"{line[month - 1]:.1%} in month {month}" for month in months)
    title, alternative = (
        "Draw the proportion that the office publishes",
        f"The line is still flat: {ends}. Drag a point up or down, or sweep a point over several "
        "months to draw them in one move. With the keyboard, Tab moves to the next point, and the "
        "up and down arrow keys move the point.",
    )
    if touched:
        title = "Your line: the proportion that the office publishes"
        alternative = f"Your line: {ends}."
    data = {"truth": _months(true_shares, TRUTH), "drawn": points}
    return Figure(data, title, alternative, _draw_drawing)


def _draw_drawing(data: dict) -> Any:
    axes, looks = _encodings([TRUTH, DRAWN], len(data["drawn"]))
    truth, drawn = (chart(data, name).encode(**axes) for name in ("truth", "drawn"))
    lines = [line.mark_line(strokeWidth=2.5).encode(**looks) for line in (truth, drawn)]
    return alt.layer(*lines, drawn.mark_circle(size=190).encode(color=looks["color"]))


def _encodings(names: list[str], months: int) -> tuple[dict, dict]:
    """Return the axes, and the color and dash of lines; all charts of months have the same axes."""
    scale = span(1, months, padding=12)
    values = list(range(1, months + 1))
    x_axis = across("month", "month", scale=scale, values=values, grid=False)
    y_axis = up("share", "proportion with panels", HEIGHTS, format=PERCENT)
    lines = {name: LINES[name] for name in names}
    dash = {TRUTH: [6, 3], DRAWN: [1, 0]} | dashes()
    return {"x": x_axis, "y": y_axis}, {
        "color": theme.color("line", lines, legend=STROKES),
        "strokeDash": theme.dash("line", names, [dash[name] for name in names], legend=STROKES),
    }
