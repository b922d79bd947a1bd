"""Charts of proportions and of their changes over the periods of a report."""

from typing import Any

import altair as alt
import numpy as np

from workbench.charts import theme
from workbench.charts.misclassification.scenes import CORRECTED, POINTS, RAW
from workbench.charts.misclassification.words import class_name, points
from workbench.misclassification.calendar import named_period
from workbench.misclassification.series import PrevalenceSeries
from workbench.results import percent
from workbench.results.vocabulary import method_words

SHOWN_CLASSES = 6
MOST_NAMED = 6
KINDS = {"counted": RAW, "corrected": CORRECTED}
MANY = 40  # beyond this number of periods, dots are small and only some names are shown
NAMED = 17  # most names on the axis then: measuring a name takes longer than drawing a dot
MOST_LETTERS = 90
VERDICTS = {"differs from 0": theme.STRATIFIED, "may be 0": theme.GRAY}


def series_data(
    series: PrevalenceSeries, label: str | None = None, level: float = 0.95
) -> list[dict]:
    """Return the rows of `series`: a list with one dict of data sets per class shown."""
    levels = series.levels(level)
    table = [levels[k] for k in series.shown_levels()]
    return [
        _class_data([row for row in table if row["label"] == name], series.audit_period)
        for name in _shown_classes(series, label)
    ]


def _class_data(rows: list, audit_period: str | None) -> dict:
    """Return the data sets of one class.

    A period without reported neighbors gets a bar, because its band has no width.
    """
    lines = [
        {"period": str(row["period"]), "share": row[column], "kind": kind}
        for kind, column in zip(KINDS, ("counted", "estimate"), strict=True)
        for row in rows
    ]
    bands = [{"period": str(row["period"]), "low": row["low"], "high": row["high"]} for row in rows]
    gap = [True, *(row["items"] is None for row in rows), True]
    alone = [band for t, band in enumerate(bands) if gap[t] and not gap[t + 1] and gap[t + 2]]
    lost = [{"period": str(row["period"]), "mark": "×"} for row in rows if row["items"] is None]
    return {
        "class": str(rows[0]["label"]),
        "lines": lines,
        "bands": bands,
        "alone": alone,
        "lost": lost,
        "audit": [
            {"period": str(row["period"]), "text": "audit"}
            for row in rows
            if row["period"] == audit_period
        ],
    }


def _shown_classes(series: PrevalenceSeries, label: int | str | None = None) -> list:
    """Return the classes shown: the chosen one, the second of two, or the six largest."""
    if label is not None:
        series.audit.index(label)
        return [label]
    if len(series.labels) == 2:
        return [series.labels[1]]
    largest = np.argsort(-np.nanmean(series.raw, 0), kind="stable")[:SHOWN_CLASSES]
    return [series.labels[k] for k in sorted(largest)]


def series_words(
    series: PrevalenceSeries, label: str | None = None, level: float = 0.95
) -> tuple[str, str]:
    """Return the title and the text alternative of `series`."""
    drawn, table = (
        _shown_classes(series, label),
        [row for row in series.levels(level) if row["items"] is not None],
    )
    rows = {name: [row for row in table if row["label"] == name] for name in drawn}
    most = max(drawn, key=lambda name: abs(rows[name][-1]["estimate"] - rows[name][0]["estimate"]))
    first, last = rows[most][0], rows[most][-1]
    audited = (
        "The audited frame is none of these periods."
        if series.audit_period is None
        else f"The audit was sampled in {named_period(series.audit_period)}."
    )
    said = "; ".join(
        f"{name} {_with_limits(found[0])} to {_with_limits(found[-1])}"
        for name, found in rows.items()
    )
    unknown = (
        " The audit excludes no proportion, so the bands fill the whole range."
        if all(row["low"] == 0 and row["high"] == 1 for row in table)
        else ""
    )
    shares = ", ".join(
        f"{_percent(row['estimate'])} in {named_period(row['period'])}" for row in (first, last)
    )
    return (
        f"{most}: {shares} (counted {first['counted']:.1%}, {last['counted']:.1%})",
        f"Proportions by {method_words(series.method)} with {percent(level)} intervals, "
        f"{named_period(first['period'])} to {named_period(last['period'])}: {said}. {audited}"
        f"{_not_reported(series)}{_not_drawn(series, label)}"
        f"{_thinned(series)}{unknown}",
    )


def _with_limits(row: dict) -> str:
    return f"{_percent(row['estimate'], 2)} ({row['low']:.2%} to {row['high']:.2%})"


def _percent(share: float, digits: int = 1) -> str:
    return "no estimate" if np.isnan(share) else f"{share:.{digits}%}"


def _not_reported(series: PrevalenceSeries) -> str:
    lost = [
        f"{note.where[1]}: {note.text}"
        for note in series.notes
        if note.kind == "refused" and note.where
    ]
    return (
        f" Not reported: {'; '.join(lost[:MOST_NAMED])}{'; …' if len(lost) > MOST_NAMED else ''}."
        if lost
        else ""
    )


def _not_drawn(series: PrevalenceSeries, label: int | str | None) -> str:
    all_drawn = label is not None or len(series.labels) <= SHOWN_CLASSES
    return (
        ""
        if all_drawn
        else f" The chart shows the {SHOWN_CLASSES} largest of {len(series.labels)} classes."
    )


def _thinned(series: PrevalenceSeries) -> str:
    drawn, periods = len(series.drawn()), len(series.periods)
    return (
        ""
        if drawn == periods
        else (
            f" The chart shows {drawn} of {periods:,} periods: the lowest and the highest of each "
            "run of neighbors."
        )
    )


def series(
    series: PrevalenceSeries, *, label: str | None = None, level: float = 0.95
) -> alt.TopLevelMixin:
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
    parts = series_data(series, label, level)
    title = "period (× not reported)" if any(part["lost"] for part in parts) else "period"
    periods = [series.periods[t] for t in series.drawn()]
    drawn = [
        _class_chart(
            part,
            k,
            _period_axis(periods, title, k == len(parts) - 1),
            len(periods),
            single=len(parts) == 1,
        )
        for k, part in enumerate(parts)
    ]
    return theme.finish(
        _stacked(drawn), *series_words(series, label, level), width=None, height=None
    )


def _class_chart(part: dict, k: int, across: Any, periods: int, *, single: bool) -> Any:
    name = _limited(class_name(part["class"]))
    up = alt.Y(
        "share:Q",
        title=f"proportion of {name}" if single else name,  # a low chart has no room for more
        axis=theme.percents(tickCount=5),
        scale=alt.Scale(zero=False),
    )
    bands, alone, lines, lost, audit = (
        theme.Chart(theme.rows(f"{name} {k}", part[name])).encode(x=across)
        for name in ("bands", "alone", "lines", "lost", "audit")
    )
    area = bands.mark_area(opacity=0.22, color=CORRECTED).encode(y="low:Q", y2="high:Q")
    bars = alone.mark_rule(opacity=0.4, color=CORRECTED, strokeWidth=3).encode(
        y="low:Q", y2="high:Q"
    )
    lines = lines.encode(y=up, color=theme.color("kind", KINDS, legend=theme.STROKES))
    strokes = lines.mark_line(strokeWidth=2).encode(
        strokeDash=theme.dash("kind", KINDS, [[4, 3], [1, 0]])
    )
    dots = lines.mark_circle(size=36 if periods <= MANY else 8)
    crosses = lost.mark_text(
        color=theme.MISS, fontSize=16, fontWeight="bold", y="height", baseline="bottom"
    )
    audited = audit.mark_text(y=-7, style="note").encode(text="text:N")
    return (
        area
        + bars
        + strokes
        + dots
        + crosses.encode(text="mark:N")
        + audit.mark_rule(style="truth")
        + audited
    )


def _stacked(parts: list) -> Any:
    """Return one chart, or several below each other with a common legend."""
    parts = [
        part.properties(width=theme.WIDTH, height=theme.HEIGHT if len(parts) == 1 else 110)
        for part in parts
    ]
    return parts[0] if len(parts) == 1 else alt.vconcat(*parts, spacing=16)


def _period_axis(periods: tuple, title: str, labeled: bool) -> Any:
    names = [str(period) for period in periods]
    angle = 0 if max(map(len, names)) * len(names) < MOST_LETTERS else -45
    many = {"values": names[:: -(-len(names) // NAMED)]} if len(names) > MANY else {}
    axis = alt.Axis(
        labelAngle=angle,
        **many,
        labelOverlap="greedy",
        labelSeparation=4,
        labelLimit=90,
        grid=False,
        labels=labeled,
        ticks=labeled and len(names) <= MANY,
    )
    return alt.X(
        "period:O", title=title if labeled else None, scale=alt.Scale(domain=names), axis=axis
    )


def _limited(text: str, most: int = 18) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def changes_data(series: PrevalenceSeries, label: str | None = None, level: float = 0.95) -> list:
    """Return the rows of `changes`: one per class shown and pair of consecutive reported periods.

    For a long series, the rows are those of `PrevalenceSeries.shown_changes`.
    """
    drawn, shown = _shown_classes(series, label), set(series.shown_changes(level))
    return [
        {
            "period": str(row["last_period"]),
            "from": str(row["first_period"]),
            "class": str(row["label"]),
            "change": row["change"],
            "low": row["low"],
            "high": row["high"],
            "verdict": list(VERDICTS)[0 if row["low"] > 0 or row["high"] < 0 else 1],
        }
        for k, row in enumerate(series.changes(level))
        if row["label"] in drawn and k in shown
    ]


def changes_words(
    series: PrevalenceSeries, label: str | None = None, level: float = 0.95
) -> tuple[str, str]:
    """Return the title and the text alternative of `changes`."""
    rows = changes_data(series, label, level)
    if not rows:
        return (
            "No change: only one period is reported",
            f"Only one period is reported.{_not_reported(series)}",
        )
    if np.isnan(rows[0]["change"]):
        return (
            "No change can be estimated: the audit excludes no change",
            "The audit gives no estimate, and the intervals fill the whole range."
            f"{_not_reported(series)}",
        )
    shown = [row for row in rows if row["verdict"] == "differs from 0"]
    most = max(rows, key=lambda row: abs(row["change"]))
    name = f"{most['class']} " if len(series.labels) > 2 else ""
    largest = f"{name}{most['from']} to {most['period']}, {points(most['change'])}"
    listed = "; ".join(
        f"{row['class']} {row['from']} to {row['period']} {points(row['change'])}"
        for row in shown[:MOST_NAMED]
    )
    named = (
        f" Shown to differ from 0: {listed}{'; …' if len(shown) > MOST_NAMED else ''}."
        if shown
        else ""
    )
    every = [row for row in series.changes(level) if row["label"] in _shown_classes(series, label)]
    differ = sum(row["low"] > 0 or row["high"] < 0 for row in every)
    part = (
        ""
        if len(every) == len(rows)
        else f" The chart shows {len(rows)} of them, those that differ from 0 first."
    )
    return (
        f"Changes that differ from 0: {differ} of {len(every)}; largest: {largest}",
        f"Changes from each reported period to the next, each with its own {percent(level)} "
        f"interval. Without any true change, about {100 - 100 * level:.3g}% of the intervals would "
        f"exclude 0. Largest: {largest}, interval {100 * most['low']:+.2f} to "
        f"{100 * most['high']:+.2f}.{named}{_not_reported(series)}"
        f"{_not_drawn(series, label)}{part}",
    )


def changes(
    series: PrevalenceSeries, *, label: str | None = None, level: float = 0.95
) -> alt.TopLevelMixin:
    """Return the changes between consecutive periods with their intervals, in one part per class.

    Parameters
    ----------
    series : workbench.PrevalenceSeries
        The result that the chart shows.
    label : label, optional
        The only class to show. By default the second of two classes, or the six largest.
    level : float
        Confidence level of the intervals.
    """
    rows, classes = (
        changes_data(series, label, level),
        [str(name) for name in _shown_classes(series, label)],
    )
    ends = {row["period"] for row in rows} if _thinned(series) else set(map(str, series.periods))
    periods = [name for name in series.periods[1:] if str(name) in ends] or series.periods
    drawn = [
        _change_chart(
            [row for row in rows if row["class"] == name],
            name,
            k,
            _period_axis(
                periods,
                "change from the previous reported period to this one",
                k == len(classes) - 1,
            ),
            len(periods),
        )
        for k, name in enumerate(classes)
    ]
    return theme.finish(
        _stacked(drawn), *changes_words(series, label, level), width=None, height=None
    )


def _change_chart(rows: list, name: str, k: int, across: Any, periods: int) -> Any:
    zero = (
        theme.Chart(theme.rows(f"zero {k}", [{"change": 0}]))
        .mark_rule(strokeWidth=1)
        .encode(y="change:Q")
    )
    base = theme.Chart(theme.rows(f"changes {k}", rows)).encode(
        x=across, color=theme.color("verdict", VERDICTS)
    )
    up = alt.Y("low:Q", title=f"{_limited(class_name(name), 10)} (points)", axis=POINTS)
    dots = base.mark_point(filled=True, size=60 if periods <= MANY else 14).encode(
        y="change:Q", shape=theme.shape("verdict", VERDICTS, ["circle", "square"])
    )
    return (
        zero
        + base.mark_rule(strokeWidth=3 if periods <= MANY else 2).encode(y=up, y2="high:Q")
        + dots
    )
