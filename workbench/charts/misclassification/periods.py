"""Charts of proportions and of their changes over the periods of a report."""

import functools
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.misclassification.scenes import CORRECTED, POINTS, RAW
from workbench.charts.misclassification.words import class_name, points
from workbench.charts.theme import (
    GRAY,
    HEIGHT,
    MISS,
    PERCENT,
    STRATIFIED,
    STROKES,
    WIDTH,
    Figure,
    bars_and_dots,
    chart,
    up,
)
from workbench.misclassification.calendar import named_period
from workbench.misclassification.series import PrevalenceSeries
from workbench.results import percent, rows_of
from workbench.results.vocabulary import method_words

SHOWN_CLASSES = 6
MOST_NAMED = 6
KINDS = {"counted": RAW, "corrected": CORRECTED}
MANY = 40  # beyond this number of periods, dots are small and only some names are shown
NAMED = 17  # most names on the axis then: measuring a name takes longer than drawing a dot
MOST_LETTERS = 90
VERDICTS = {"differs from 0": STRATIFIED, "may be 0": GRAY}


def series(series: PrevalenceSeries, *, label: str | None = None, level: float = 0.95) -> Figure:
    """Return counted and corrected proportions over the periods, in one part per class.

    Bands show the intervals, and a line marks the audited period.

    Parameters
    ----------
    series : workbench.PrevalenceSeries
        The result that the chart shows.
    label : label, optional
        The only class to show. By default the second of two classes, or the six largest.
    level : float
        Confidence level of the intervals.
    """
    classes, levels = _shown_classes(series, label), series.levels(level)
    drawn = [levels[t] for t in series.shown_levels()]
    reported = [row for row in levels if row["items"] is not None]
    data: dict[str, list] = {}
    ends = {}
    for k, name in enumerate(classes):
        rows = [row for row in drawn if row["label"] == name]
        data |= _class_rows(k, rows, series.audit_period)
        rows = [row for row in reported if row["label"] == name]
        ends[name] = rows[0], rows[-1]
    largest = max(
        classes, key=lambda name: abs(ends[name][1]["estimate"] - ends[name][0]["estimate"])
    )
    first, last = ends[largest]
    start, end = named_period(first["period"]), named_period(last["period"])
    changes = f"{_percent(first['estimate'])} in {start}, {_percent(last['estimate'])} in {end}"
    texts = "; ".join(f"{name} {_limits(a)} to {_limits(b)}" for name, (a, b) in ends.items())
    notes = "The audit is of none of these periods."
    if series.audits:
        audited = sum(audit is not None for audit in series.audits)
        notes = f"{checks.counted(audited, 'period was', 'periods were')} audited."
    elif series.audit_period is not None:
        notes = f"The audit was sampled in {named_period(series.audit_period)}."
    notes += _not_reported(series) + _not_drawn(series, label) + _thinned(series)
    if all(row["low"] == 0 and row["high"] == 1 for row in reported):
        notes += " The audit allows every proportion, so the bands fill the whole range."
    names = [class_name(name) for name in classes]
    draw = functools.partial(_draw_series, names, [series.periods[t] for t in series.drawn()])
    counts = f"counted {first['counted']:.1%}, {last['counted']:.1%}"
    return Figure(
        data,
        f"{largest}: {changes} ({counts})",
        f"Proportions by {method_words(series.method)} with {percent(level)} intervals, {start} to "
        f"{end}: {texts}. {notes}",
        draw,
        width=None,
        height=None,
    )


def _class_rows(k: int, rows: list[dict], audit_period: str | None) -> dict[str, list]:
    """Return the data sets of one class.

    A period without reported neighbors gets a bar, because its band has no width.
    """
    periods = [str(row["period"]) for row in rows]
    gap = [True, *(row["items"] is None for row in rows), True]
    columns = ("low", "high", "counted", "estimate")
    low, high, raw, corrected = ([row[name] for row in rows] for name in columns)
    bands = rows_of(period=periods, low=low, high=high)
    lines = rows_of(period=periods, share=raw, kind=["counted"] * len(rows))
    lines += rows_of(period=periods, share=corrected, kind=["corrected"] * len(rows))
    lost = [{"period": periods[t], "mark": "×"} for t in np.flatnonzero(gap[1:-1])]
    audit = [
        {"period": str(row["period"]), "text": "audit"}
        for row in rows
        if row["period"] == audit_period
    ]
    alone = [band for t, band in enumerate(bands) if gap[t : t + 3] == [True, False, True]]
    names = {"bands": bands, "alone": alone, "lines": lines, "lost": lost, "audit": audit}
    return {f"{name} {k}": values for name, values in names.items()}


def _shown_classes(series: PrevalenceSeries, label: int | str | None) -> list:
    """Return the classes shown: the chosen one, the second of two, or the six largest."""
    if label is not None:
        series.audit.index(label)
        return [label]
    if len(series.labels) == 2:
        return [series.labels[1]]
    largest = np.argsort(-np.nanmean(series.raw, 0), kind="stable")[:SHOWN_CLASSES]
    return [series.labels[k] for k in sorted(largest)]


def _limits(row: dict) -> str:
    return f"{_percent(row['estimate'], 2)} ({row['low']:.2%} to {row['high']:.2%})"


def _percent(share: float, digits: int = 1) -> str:
    return "no estimate" if np.isnan(share) else f"{share:.{digits}%}"


def _listed(texts: Sequence[str]) -> str:
    more = "; …" if len(texts) > MOST_NAMED else ""
    return "; ".join(texts[:MOST_NAMED]) + more


def _not_reported(series: PrevalenceSeries) -> str:
    lost = [
        f"{note.where[1]}: {note.text}"
        for note in series.notes
        if note.kind == "refused" and note.where
    ]
    return f" Not reported: {_listed(lost)}." if lost else ""


def _not_drawn(series: PrevalenceSeries, label: int | str | None) -> str:
    if label is not None or len(series.labels) <= SHOWN_CLASSES:
        return ""
    return f" The chart shows the {SHOWN_CLASSES} largest of {len(series.labels)} classes."


def _thinned(series: PrevalenceSeries) -> str:
    drawn, periods = len(series.drawn()), len(series.periods)
    if drawn == periods:
        return ""
    return (
        f" The chart shows {drawn} of {periods:,} periods: the lowest and the highest of each run "
        "of neighbors."
    )


def _draw_series(classes: list[str], periods: list, data: dict) -> Any:
    lost = any(data[f"lost {k}"] for k in range(len(classes)))
    axes = _period_axes(periods, "period (× not reported)" if lost else "period", len(classes))
    parts = [
        _class_chart(data, k, axis, _limited(classes[k]), len(periods))
        for k, axis in enumerate(axes)
    ]
    return _stacked(parts)


def _class_chart(data: dict, k: int, x_axis: alt.X, name: str, periods: int) -> Any:
    # a low chart has no room for more than the name
    title = name if "lines 1" in data else f"proportion of {name}"
    y_axis = up("share", title, scale={"zero": False}, tickCount=5, format=PERCENT)
    bands, alone, lines, lost, audit = (
        chart(data, f"{name} {k}").encode(x=x_axis)
        for name in ("bands", "alone", "lines", "lost", "audit")
    )
    limits = {"y": "low:Q", "y2": "high:Q"}
    lines = lines.encode(y=y_axis, color=theme.color("kind", KINDS, legend=STROKES))
    dash = theme.dash("kind", KINDS, [[4, 3], [1, 0]])
    cross = {"color": MISS, "fontSize": 16, "fontWeight": "bold", "baseline": "bottom"}
    area = bands.mark_area(opacity=0.22, color=CORRECTED)
    bars = alone.mark_rule(opacity=0.4, color=CORRECTED, strokeWidth=3)
    layers = [
        area.encode(**limits),
        bars.encode(**limits),
        lines.mark_line(strokeWidth=2).encode(strokeDash=dash),
        lines.mark_circle(size=36 if periods <= MANY else 8),
    ]
    marks = [
        lost.mark_text(y="height", **cross).encode(text="mark:N"),
        audit.mark_rule(style="truth"),
        audit.mark_text(y=-7, style="note").encode(text="text:N"),
    ]
    return alt.layer(*layers, *marks)


def _stacked(parts: list) -> Any:
    """Return one chart, or several below each other with a common legend."""
    if len(parts) == 1:
        return parts[0].properties(width=WIDTH, height=HEIGHT)
    return theme.stacked(WIDTH, *[(part, 110) for part in parts], spacing=16)


def _period_axes(periods: Sequence, title: str, count: int) -> list[alt.X]:
    """Return the axes of `count` charts below each other, of which only the last has labels."""
    names = [str(period) for period in periods]
    many = len(names) > MANY
    axis: dict[str, Any] = {
        "labelAngle": 0 if max(map(len, names)) * len(names) < MOST_LETTERS else -45,
        "labelOverlap": "greedy",
        "labelSeparation": 4,
        "labelLimit": 90,
        "grid": False,
    }
    if many:
        axis["values"] = names[:: -(-len(names) // NAMED)]
    bare, labeled = {"labels": False, "ticks": False}, {"labels": True, "ticks": not many}
    scale = {"domain": names}
    upper = alt.X("period:O", title=None, scale=scale, axis=axis | bare)
    last = alt.X("period:O", title=title, scale=scale, axis=axis | labeled)
    return [upper] * (count - 1) + [last]


def _limited(text: str, most: int = 18) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def changes(series: PrevalenceSeries, *, label: str | None = None, level: float = 0.95) -> Figure:
    """Return the changes between consecutive periods with their intervals, in one part per class.

    Parameters
    ----------
    series : workbench.PrevalenceSeries
        The result that the chart shows. Of a long series, the chart shows `shown_changes`.
    label : label, optional
        The only class to show. By default the second of two classes, or the six largest.
    level : float
        Confidence level of the intervals.
    """
    classes = _shown_classes(series, label)
    drawn = set(series.shown_changes(level))
    rows, verdicts = [], []
    for k, row in enumerate(series.changes(level)):
        if row["label"] in classes:
            differs = row["low"] > 0 or row["high"] < 0
            verdicts.append("differs from 0" if differs else "may be 0")
            if k in drawn:
                text = {
                    "period": row["last_period"],
                    "from": row["first_period"],
                    "class": row["label"],
                }
                new = {name: str(value) for name, value in text.items()}
                new |= {name: row[name] for name in ("change", "low", "high")}
                rows.append(new | {"verdict": verdicts[-1]})
    names = [str(name) for name in classes]
    ends = {row["period"] for row in rows} if _thinned(series) else set(map(str, series.periods))
    periods = [name for name in series.periods[1:] if str(name) in ends] or series.periods
    notes = _not_reported(series)
    if not rows:
        title = "No change: only one period is reported"
        alternative = "Only one period is reported."
    elif np.isnan(rows[0]["change"]):
        title = "The changes cannot be estimated: the audit allows every change"
        alternative = "The audit gives no estimate, and the intervals fill the whole range."
    else:
        differ = verdicts.count("differs from 0")
        largest, alternative = _changes_texts(rows, len(series.labels) > 2, level)
        title = f"Changes that differ from 0: {differ} of {len(verdicts)}; largest: {largest}"
        notes += _not_drawn(series, label)
        if len(rows) < len(verdicts):
            notes += f" The chart shows {len(rows)} of them, those that differ from 0 first."
    data = {}
    for k, name in enumerate(names):
        data[f"changes {k}"] = [row for row in rows if row["class"] == name]
    draw = functools.partial(_draw_changes, [class_name(name) for name in names], periods)
    return Figure(data, title, alternative + notes, draw, width=None, height=None)


def _changes_texts(rows: list[dict], named_class: bool, level: float) -> tuple[str, str]:
    """Return the largest change, and a text on all changes."""
    largest = max(rows, key=lambda row: abs(row["change"]))
    text = "{from} to {period}, {0}".format(points(largest["change"]), **largest)
    if named_class:
        text = f"{largest['class']} {text}"
    differing = [
        "{class} {from} to {period} {0}".format(points(row["change"]), **row)
        for row in rows
        if row["verdict"] == "differs from 0"
    ]
    listed = f" Shown to differ from 0: {_listed(differing)}." if differing else ""
    excluded = f"{100 - 100 * level:.3g}% of the intervals would exclude 0"
    return text, (
        f"Changes from each reported period to the next, each with its own {percent(level)} "
        f"interval. Without any true change, about {excluded}. Largest: {text}, interval "
        f"{100 * largest['low']:+.2f} to {100 * largest['high']:+.2f}.{listed}"
    )


def _draw_changes(classes: list[str], periods: Sequence, data: dict) -> Any:
    title = "change from the previous reported period to this one"
    many = len(periods) > MANY
    color = theme.color("verdict", VERDICTS)
    shape = theme.shape("verdict", VERDICTS, ["circle", "square"])
    parts = []
    for k, x_axis in enumerate(_period_axes(periods, title, len(classes))):
        base = chart(data, f"changes {k}").encode(x=x_axis, color=color)
        low = up("low", f"{_limited(classes[k], 10)} (points)", **POINTS)
        bars, dots = bars_and_dots(
            base, low, "change", width=2 if many else 3, size=14 if many else 60, shape=shape
        )
        parts.append(alt.layer(theme.zero("y", "change", f"zero {k}"), bars, dots))
    return _stacked(parts)
