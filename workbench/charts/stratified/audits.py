"""Charts of audits of accuracy; those of the lesson are in `workbench.charts.stratified.scenes`."""

from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.audits.accuracy import IntervalComparison
from workbench.audits.classes import ClassAudit
from workbench.audits.differences import DifferenceAudit
from workbench.audits.judged import JudgedAudit
from workbench.charts import theme
from workbench.charts.theme import (
    LABELED,
    MISS,
    PERCENT,
    STRATIFIED,
    UNLABELED,
    WIDTH,
    Figure,
    across,
    beside,
    chart,
    span,
    up,
)
from workbench.results import percent
from workbench.results.digits import percents, points
from workbench.results.vocabulary import metric_words
from workbench.stratified.class_metrics import METRICS

FEW_STRATA = 20
SHAPES = ("circle", "square", "diamond")
STRENGTHS = (1, 0.4, 0.7)  # opacities, so that outcomes differ even without color
OUTCOME_COLORS = ((LABELED,), (MISS, STRATIFIED), (STRATIFIED, UNLABELED, MISS))
KIND_COLORS = {"of all items": theme.ESTIMATE, "in a stratum": theme.GRAY}


def audit(audit: Any) -> Figure:
    """Return the labels per stratum and, after labeling, their outcomes.

    Parameters
    ----------
    audit : workbench.audits.accuracy.Audit
        The audit, planned or analyzed.
    """
    outcomes, order = _outcomes(audit), _order(audit)
    kinds, counts = list(outcomes), list(outcomes.values())
    rows = [
        {"stratum": stratum + 1, "kind": kinds[number], "labels": int(labels), "order": number}
        for (stratum, number), labels in np.ndenumerate(np.column_stack(counts))
    ]
    colors = dict(zip(kinds, OUTCOME_COLORS[len(kinds) - 1], strict=True))

    def draw(data: dict) -> Any:
        strength = {"domain": kinds, "range": STRENGTHS[: len(kinds)]}
        bars = chart(data, "labels").mark_bar(strokeWidth=1.5)
        x = alt.X("stratum:O", title=f"stratum, {order}", axis={"labelAngle": 0})
        y = up("labels", "labels", tickMinStep=1)
        return bars.encode(
            x=x,
            y=y,
            order="order:Q",
            color=theme.color("kind", colors),
            stroke=alt.Stroke("kind:N", scale=theme.scale(colors), title=None),
            fillOpacity=alt.FillOpacity("kind:N", scale=strength, title=None),
        )

    return Figure({"labels": rows}, *_audit_texts(audit, counts, order), draw, height=180)


def _outcomes(audit: Any) -> dict[str, np.ndarray]:
    """Return the labels per stratum of each outcome; the chart's title is about the first."""
    if audit.mode == "plan":
        return {"to label": audit.labeled}
    if isinstance(audit, DifferenceAudit) and audit.difference:
        b, neither, a = audit.difference.counts[audit.difference.stratum_size > 0].T
        first, second = audit.models
        alike = "both or neither" if isinstance(audit, JudgedAudit) else "both incorrect"
        return {f"only {first} correct": a, alike: neither, f"only {second} correct": b}
    correct = audit.estimate.correct
    return {"incorrect": audit.labeled - correct, "correct": correct}


def _order(audit: Any) -> str:
    """Return the order of the strata as text."""
    if isinstance(audit, JudgedAudit):
        return f"by the model that the judge calls correct: {', '.join(audit.verdicts)}"
    if audit.stratifier == "given":
        return "in the order of the table"
    if not isinstance(audit, ClassAudit) or audit.predicted.all():
        return "from low to high score"
    members = int(audit.predicted.sum())
    first = "stratum 1" if members == 1 else f"strata 1 to {members}"
    return f"from low to high score: {first} predicted members, then the others"


def _audit_texts(audit: Any, counts: list[np.ndarray], order: str) -> tuple[str, str]:
    total = audit.labeled.sum()
    if audit.mode == "plan":
        sizes = _parts(audit.labeled, audit.stratum_size)
        return (
            f"{checks.counted(total, 'item')} to label, {order}",
            f"Items to label per stratum, {order}: {sizes}.",
        )
    labels, first, last = checks.counted(total, "label"), counts[0], counts[-1]
    parts = _parts(first, audit.labeled)
    if isinstance(audit, DifferenceAudit):
        model, other = audit.models
        where = "Only" if isinstance(audit, JudgedAudit) else "Where the models differ,"
        model_counts = f"{first.sum():,} and {other} in {last.sum():,} of {labels}"
        return (
            f"{where} {model} is correct in {model_counts}",
            f"Labels per stratum, {order}, in which only {model} was correct: {parts}; only "
            f"{other}: {_parts(last, audit.labeled)}.",
        )
    by_score = audit.stratifier != "given" and not isinstance(audit, ClassAudit)
    where = f", {first[0]:,} at the lowest scores" if by_score else ""
    return (
        f"{first.sum():,} of {labels} showed an error{where}",
        f"Labels that showed an error, per stratum {order}: {parts}.",
    )


def _parts(counts: np.ndarray, totals: np.ndarray) -> str:
    return ", ".join(f"{k:,} of {n:,}" for k, n in zip(counts, totals, strict=True))


def finding(audit: Any) -> Figure:
    """Return the estimates of an audit with their intervals, and the rates in its strata.

    For a plan, the figure is that of `plan`. An estimate has two ends if some items could not be
    labeled.

    Parameters
    ----------
    audit : workbench.audits.accuracy.Audit
        The audit, planned or analyzed.
    """
    if audit.mode == "plan":
        return plan(audit)
    data: dict[str, list] = {"limits": [], "ends": [], "strata": [], "truth": []}
    for name, bounds, (low, high) in _estimates(audit):
        if np.isfinite(bounds).all():
            ends = list(dict.fromkeys(bounds))
            row = {"name": name, "kind": "of all items"}
            text = _interval_text(audit, ends, low, high)
            data["limits"].append(row | {"low": low, "high": high, "text": text})
            data["ends"] += [row | {"estimate": end} for end in ends]
    differs = isinstance(audit, DifferenceAudit)
    if not isinstance(audit, ClassAudit):
        if audit.labeled.size <= FEW_STRATA and not differs:
            data["strata"] = _rates(audit)
        if audit.truth is not None:
            data["truth"] = [{"truth": audit.truth}]
    rows = data["limits"] + data["strata"]
    order = [row["name"] for row in rows]
    estimates = "; ".join(f"{row['name']} {row['text']}" for row in rows)
    several = len(data["limits"]) > 1
    quantity = "Estimates" if several else "Accuracy"
    if differs:
        quantity = "Accuracy of {} minus that of {}, in points,".format(*audit.models)
        estimates = f"{quantity} {estimates}"
    title = f"{quantity} with {percent(audit.level)} {'intervals' if several else 'interval'}"
    if data["strata"]:
        title += f" and the labels of each stratum, {_order(audit)}"
    if data["truth"]:
        title += " (dashed: the truth)"

    def draw(data: dict) -> Any:
        y = theme.names("name", order, labelLimit=140)
        color = theme.color("kind", KIND_COLORS, legend=None)
        limits, ends, strata = (
            chart(data, name).encode(y=y) for name in ("limits", "ends", "strata")
        )
        x = across(
            "low",
            "proportion of items",
            scale={"zero": False, "nice": True},
            format=PERCENT,
            tickCount=6,
        )
        if differs:
            signed = "format(100 * datum.value, '+~g')"
            x = across("low", "points", scale={"zero": True, "nice": True}, labelExpr=signed)
        dots = strata.mark_point(filled=True, size=110)
        ticks = ends.mark_tick(orient="vertical", thickness=3, height=16)  # cover no interval
        return alt.layer(
            theme.truth(data, x="truth:Q"),
            limits.mark_rule(strokeWidth=5).encode(x=x, x2="high:Q", color=color),
            ticks.encode(x="estimate:Q", color=color),
            dots.encode(x="estimate:Q", color=color),
            beside(limits, 12, x="width"),
            beside(strata, 12, x="width"),
        )

    height = (30 if len(rows) < 10 else 17) * max(2, len(rows))
    return Figure(data, title, f"{estimates}.", draw, width=WIDTH - 160, height=height)


def _estimates(audit: Any) -> list[tuple]:
    """Return the name, the bounds and the limits of each estimate of an audit."""
    if isinstance(audit, DifferenceAudit) and audit.difference:
        return [("difference", audit.difference.bounds, audit.confidence_interval)]
    accuracy = ("accuracy", audit.estimate.bounds, audit.confidence_interval)
    if not isinstance(audit, ClassAudit) or audit.metrics is None:
        return [accuracy]
    metrics = [
        (metric_words(metric), audit.metrics.bounds(metric), limits)
        for metric, limits in zip(METRICS, audit.limits, strict=True)
    ]
    return [*metrics, accuracy]


def _interval_text(audit: Any, ends: list[float], low: float, high: float) -> str:
    values, error = (*ends, low, high), (high - low) / 2
    if isinstance(audit, DifferenceAudit):
        texts = points(*values, error=error, signed=True)
    else:
        texts = percents(*values, error=error)
    *estimate, low_text, high_text = texts
    return f"{' to '.join(dict.fromkeys(estimate))} ({low_text} to {high_text})"


def _rates(audit: Any) -> list[dict]:
    """Return the proportion of correct labels in each labeled stratum."""
    counts = zip(audit.estimate.correct.tolist(), audit.labeled.tolist(), strict=True)
    return [
        {
            "name": f"stratum {stratum}",
            "estimate": correct / labeled,
            "kind": "in a stratum",
            "text": f"{correct:,} of {labeled:,} correct",
        }
        for stratum, (correct, labeled) in enumerate(counts, 1)
        if labeled
    ]


def plan(audit: Any) -> Figure:
    """Return the expected half-width for half to four times the planned number of labels.

    Parameters
    ----------
    audit : workbench.audits.accuracy.Audit
        The plan.
    """
    rows, half_widths = [], dict[int, list[str]]()
    for row in audit.plan_rows():
        half_width = row["half_width"]
        text = f"±{points(half_width, error=half_width)[0] if half_width else 0}"
        rows.append(row | {"points": 100 * half_width, "text": text})
        half_widths.setdefault(row["labels"], []).append(f"{row['metric']} {text}")
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    single = len(metrics) == 1
    budget, assumption = int(audit.labeled.sum()), _assumption(audit)
    headings, parts = [], []
    for labels, texts in half_widths.items():
        listed = ", ".join(texts)
        note = " (the plan)" if labels == budget else ""
        parts.append(f"{labels:,} labels{note} {listed}")
        if labels >= budget:
            headings.append(f"{labels:,} labels: {listed}")
    headings = headings[: 2 if single else 1]
    title = f"{'; '.join(headings)} points"
    if len(headings) == 1:
        title += f", {assumption}"

    def draw(data: dict) -> Any:
        legend = None if single else alt.Legend()
        colors = dict(zip(metrics, theme.CATEGORY, strict=False))
        color = theme.color("metric", colors, legend=legend)
        values = list(half_widths)
        scale = span(0.9 * values[0], 1.15 * values[-1], type="log")
        axis = {"values": values, "format": ",", "labelOverlap": True, "grid": False}
        heading = [f"labels (dashed: the plan, {budget:,})", assumption]
        x = across("labels", heading, scale=scale, **axis)
        y = up("points", "half-width in points", scale={"zero": True})
        base = chart(data, "plans").encode(x=x, y=y)
        shape = theme.shape("metric", metrics, SHAPES[: len(metrics)], legend=legend)
        layers = [
            theme.truth(data, "budget", x="labels:Q"),
            base.mark_line(strokeWidth=2).encode(color=color),
            base.mark_point(filled=True, size=90).encode(color=color, shape=shape),
        ]
        if single:
            layers.append(beside(base, 6, dy=-9))
        return alt.layer(*layers)

    return Figure(
        {"plans": rows, "budget": [{"labels": budget}]},
        title,
        f"Half-width of the {percent(audit.level)} interval in points, {assumption}, by number of "
        f"labels: {'; '.join(parts)}.",
        draw,
        height=200,
    )


def _assumption(audit: Any) -> str:
    """Return the assumption behind the expected half-widths of a plan."""
    if isinstance(audit, JudgedAudit):
        return audit.expects
    if isinstance(audit, DifferenceAudit):
        return "if both models are correct equally often where they differ"
    if np.isfinite(audit.expected_half_width):
        return "if the scores are calibrated"
    return "if half of the predictions are correct"


def intervals(comparison: IntervalComparison, truth: float | None = None) -> Figure:
    """Return the intervals of all methods from the same labels, with the truth if it is given.

    Parameters
    ----------
    comparison : workbench.audits.accuracy.IntervalComparison
        The intervals.
    truth : float, optional
        True accuracy.
    """
    default, advice, condition = "report this", "report the default", ""
    if comparison.assumption:
        default, advice = "default", "expected limits"
        condition = f" ({comparison.assumption.lower()})"
    uses = {"default": default, "wald": "for teaching", "wilson": "for teaching"}
    rows = [
        {
            "method": interval.method,
            "low": interval.low,
            "high": interval.high,
            "use": uses.get(interval.method, "for special purposes"),
        }
        for interval in comparison.intervals
    ]
    data: dict[str, list[dict]] = {"intervals": rows, "truth": []}
    title = f"The same labels, five intervals: {advice}{condition}"
    limits = "; ".join(f"{row['method']} {row['low']:.3f} to {row['high']:.3f}" for row in rows)
    alternative = f"Limits{condition}: {limits}."
    if truth is not None:
        data["truth"] = [{"truth": truth}]
        title += " (dashed: the truth)"
        alternative += f" The true accuracy is {truth:.3f}."

    def draw(data: dict) -> Any:
        colors = {default: STRATIFIED, "for special purposes": UNLABELED, "for teaching": MISS}
        bars = chart(data, "intervals").mark_bar(height=8)
        bars = bars.encode(
            y=theme.names("method", [row["method"] for row in rows]),
            x=across("low", "accuracy", scale={"zero": False}, format=PERCENT),
            x2="high:Q",
            color=theme.color("use", colors),
        )
        return bars + theme.truth(data, x="truth:Q")

    return Figure(data, title, alternative, draw, height=150)
