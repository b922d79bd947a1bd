"""Charts of audits of accuracy; those of the lesson are in `workbench.charts.stratified.scenes`.

There are three functions for each chart. `..._data(result)` returns its rows, `..._words(result)`
its title and text alternative, and the third builds an altair chart from both.
"""

import functools
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.audits.accuracy import IntervalComparison
from workbench.audits.classes import ClassAudit
from workbench.audits.differences import DifferenceAudit
from workbench.audits.judged import JudgedAudit
from workbench.charts import theme
from workbench.results import percent
from workbench.results.digits import percents, points
from workbench.results.vocabulary import metric_words
from workbench.stratified.class_metrics import METRICS

FEW_STRATA = 20
SHAPES = ("circle", "square", "diamond")
STRENGTHS = (1, 0.4, 0.7)  # opacities, so that outcomes differ even without color


def audit_data(audit: Any) -> list[dict]:
    """Return the rows of `audit`: labels per stratum, by outcome once it is known."""
    return [
        {"stratum": k + 1, "kind": kind, "labels": int(n), "order": order}
        for k, row in enumerate(zip(*(counts for _, _, counts in _outcomes(audit)), strict=True))
        for order, ((kind, _, _), n) in enumerate(zip(_outcomes(audit), row, strict=True))
    ]


def _outcomes(audit: Any) -> list:
    """Return the name, the color and the labels per stratum of each outcome.

    The title of the chart is about the first outcome.
    """
    if audit.mode == "plan":
        return [("to label", theme.LABELED, audit.labeled)]
    if isinstance(audit, DifferenceAudit) and audit.difference:
        b, neither, a = audit.difference.counts[audit.difference.stratum_size > 0].T
        first, second = audit.models
        alike = "both or neither" if isinstance(audit, JudgedAudit) else "both incorrect"
        return [
            (f"only {first} correct", theme.STRATIFIED, a),
            (alike, theme.UNLABELED, neither),
            (f"only {second} correct", theme.MISS, b),
        ]
    correct = audit.estimate.correct
    return [
        ("incorrect", theme.MISS, audit.labeled - correct),
        ("correct", theme.STRATIFIED, correct),
    ]


def audit_words(audit: Any) -> tuple[str, str]:
    """Return the title and the text alternative of `audit`."""
    sizes = ", ".join(
        f"{n:,} of {size:,}" for n, size in zip(audit.labeled, audit.stratum_size, strict=True)
    )
    order = _order(audit)
    if audit.mode == "plan":
        return (
            f"{checks.counted(audit.labeled.sum(), 'item')} to label, {order}",
            f"Items to label per stratum, {order}: {sizes}.",
        )
    labels = checks.counted(audit.labeled.sum(), "label")
    (_, _, first), *_, (_, _, last) = _outcomes(audit)
    first_counts = ", ".join(f"{k:,} of {n:,}" for k, n in zip(first, audit.labeled, strict=True))
    if isinstance(audit, DifferenceAudit):
        last_counts = ", ".join(f"{k:,} of {n:,}" for k, n in zip(last, audit.labeled, strict=True))
        one, other = audit.models
        where = "Only" if isinstance(audit, JudgedAudit) else "Where the models differ,"
        return (
            f"{where} {one} is correct in {first.sum():,} and {other} in {last.sum():,} of "
            f"{labels}",
            f"Labels per stratum, {order}, in which only {one} was correct: {first_counts}; only "
            f"{other}: {last_counts}.",
        )
    where = "" if isinstance(audit, ClassAudit) else f", {first[0]:,} at the lowest scores"
    return (
        f"{first.sum():,} of {labels} showed an error{where}",
        f"Labels that showed an error, per stratum {order}: {first_counts}.",
    )


def _order(audit: Any) -> str:
    """Return the order of the strata in words."""
    if isinstance(audit, JudgedAudit):
        return f"by the model that the judge calls correct: {', '.join(audit.verdicts)}"
    if not isinstance(audit, ClassAudit) or audit.predicted.all():
        return "from low to high score"
    members = int(audit.predicted.sum())
    first = "stratum 1" if members == 1 else f"strata 1 to {members}"
    return f"from low to high score: {first} predicted members, then the others"


def audit(audit: Any) -> alt.TopLevelMixin:
    """Return the labels per stratum and, once they are known, their outcomes.

    Parameters
    ----------
    audit : workbench.audits.accuracy.Audit
        The audit, planned or analyzed.
    """
    colors = {kind: color for kind, color, _ in _outcomes(audit)}
    base = theme.Chart(theme.rows("labels", audit_data(audit))).encode(
        x=alt.X("stratum:O", title=f"stratum, {_order(audit)}", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("labels:Q", title="labels", axis=alt.Axis(tickMinStep=1)),
        order="order:Q",
    )
    strength = alt.Scale(domain=list(colors), range=STRENGTHS[: len(colors)])
    bars = base.mark_bar(strokeWidth=1.5).encode(
        color=theme.color("kind", colors),
        stroke=alt.Stroke("kind:N", scale=theme.scale(colors), title=None),
        fillOpacity=alt.FillOpacity("kind:N", scale=strength, title=None),
    )
    return theme.finish(bars, *audit_words(audit), height=180)


def finding_data(audit: Any) -> dict:
    """Return the rows of `finding`: limits and estimates, rates in the strata, and the truth.

    An estimate has two ends if some items could not be labeled.
    """
    asked = [
        (name, list(dict.fromkeys(bounds)), *limits)
        for name, bounds, limits in _asked(audit)
        if np.isfinite(bounds).all()
    ]
    limits = [
        {
            "name": name,
            "low": low,
            "high": high,
            "kind": "of all items",
            "text": _shown(audit, ends, low, high),
        }
        for name, ends, low, high in asked
    ]
    ends = [
        {"name": name, "estimate": end, "kind": "of all items"}
        for name, ends, *_ in asked
        for end in ends
    ]
    one = not isinstance(audit, ClassAudit)
    return {
        "limits": limits,
        "ends": ends,
        "strata": _rates(audit) if one and audit.labeled.size <= FEW_STRATA else [],
        "truth": [{"truth": audit.truth}] if one and audit.truth is not None else [],
    }


def _asked(audit: Any) -> list[tuple]:
    """Return the name, the bounds and the limits of each estimate of an audit."""
    if isinstance(audit, DifferenceAudit) and audit.difference:
        return [("difference", audit.difference.bounds, audit.confidence_interval)]
    accuracy = "accuracy", audit.estimate.bounds, audit.confidence_interval
    if not isinstance(audit, ClassAudit) or audit.metrics is None:
        return [accuracy]
    return [
        *(
            (metric_words(metric), audit.metrics.bounds(metric), limits)
            for metric, limits in zip(METRICS, audit.limits, strict=True)
        ),
        accuracy,
    ]


def _shown(audit: Any, ends: list[float], low: float, high: float) -> str:
    shares, error = (*ends, low, high), (high - low) / 2
    *estimate, low_text, high_text = (
        points(*shares, error=error, signed=True)
        if isinstance(audit, DifferenceAudit)
        else percents(*shares, error=error)
    )
    return f"{' to '.join(dict.fromkeys(estimate))} ({low_text} to {high_text})"


def _rates(audit: Any) -> list:
    """Return the proportion of correct labels in each stratum.

    If two models are compared there are none, because only items on which they differ are labeled.
    """
    if isinstance(audit, DifferenceAudit):
        return []
    rates = zip(audit.estimate.correct.tolist(), audit.labeled.tolist(), strict=True)
    return [
        {
            "name": f"stratum {k}",
            "estimate": x / n,
            "kind": "in a stratum",
            "text": f"{x:,} of {n:,} correct",
        }
        for k, (x, n) in enumerate(rates, 1)
        if n
    ]


def finding_words(audit: Any) -> tuple[str, str]:
    """Return the title and the text alternative of `finding`."""
    if audit.mode == "plan":
        return plan_words(audit)
    data = finding_data(audit)
    rows = (*data["limits"], *data["strata"])
    estimates = "; ".join(f"{row['name']} {row['text']}" for row in rows)
    dashed = " (dashed: the truth)" if data["truth"] else ""
    where = " and the labels of each stratum, from low to high score" if data["strata"] else ""
    what = "Estimates" if len(data["limits"]) > 1 else "Accuracy"
    if isinstance(audit, DifferenceAudit):
        what = "Accuracy of {} minus that of {}, in points,".format(*audit.models)
        estimates = f"{what} {estimates}"
    return (
        f"{what} with {percent(audit.level)} interval{'s' * (len(data['limits']) > 1)}{where}{dashed}",
        f"{estimates}.",
    )


def finding(found: Any) -> alt.TopLevelMixin:
    """Return the estimates of an audit with their intervals, and the rates in its strata.

    For a plan, the chart is that of `plan`.

    Parameters
    ----------
    found : workbench.audits.accuracy.Audit
        The audit, planned or analyzed.
    """
    if found.mode == "plan":
        return plan(found)
    data = finding_data(found)
    order = [row["name"] for row in (*data["limits"], *data["strata"])]
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    colors = theme.color(
        "kind", {"of all items": theme.ESTIMATE, "in a stratum": theme.GRAY}, legend=None
    )
    title = "points" if isinstance(found, DifferenceAudit) else "proportion of items"
    axis = (
        alt.Axis(labelExpr="format(100 * datum.value, '+~g')")
        if isinstance(found, DifferenceAudit)
        else theme.percents(tickCount=6)
    )
    x = alt.X(
        "low:Q",
        title=title,
        axis=axis,
        scale=alt.Scale(zero=isinstance(found, DifferenceAudit), nice=True),
    )
    limits, ends, strata = (
        theme.chart(data, name).encode(y=y) for name in ("limits", "ends", "strata")
    )
    bars = limits.mark_rule(strokeWidth=5).encode(x=x, x2="high:Q", color=colors)
    dots = [
        part.mark_point(filled=True, size=110).encode(x="estimate:Q", color=colors)
        for part in (ends, strata)
    ]
    texts = [
        part.mark_text(align="left", x="width", dx=12).encode(text="text:N")
        for part in (limits, strata)
    ]
    truth = theme.chart(data, "truth").mark_rule(style="truth").encode(x="truth:Q")
    return theme.finish(
        alt.layer(truth, bars, *dots, *texts),
        *finding_words(found),
        width=theme.WIDTH - 160,
        height=(30 if len(order) < 10 else 17) * max(2, len(order)),
    )


@functools.lru_cache(maxsize=4)
def plan_data(audit: Any) -> dict:
    """Return the rows of `plan`: expected half-widths by number of labels, and the budget."""
    rows = [
        row
        | {
            "points": 100 * row["half_width"],
            "text": f"±{points(row['half_width'], error=row['half_width'])[0] if row['half_width'] else 0}",
        }
        for row in audit.plan_rows()
    ]
    return {"plans": rows, "budget": [{"labels": int(audit.labeled.sum())}]}


def plan_words(audit: Any) -> tuple[str, str]:
    """Return the title and the text alternative of `plan`."""
    rows, budget = plan_data(audit)["plans"], int(audit.labeled.sum())
    widths_by_labels = {
        labels: ", ".join(
            f"{row['metric']} {row['text']}" for row in rows if row["labels"] == labels
        )
        for labels in dict.fromkeys(row["labels"] for row in rows)
    }
    shown = 2 if len(rows) == len(widths_by_labels) else 1
    title = [
        f"{labels:,} labels: {widths}"
        for labels, widths in widths_by_labels.items()
        if labels >= budget
    ][:shown]
    return (
        f"{'; '.join(title)} points" + (f", {_assumption(audit)}" if len(title) == 1 else ""),
        f"Half-width of the {percent(audit.level)} interval in points, {_assumption(audit)}, by "
        "number of labels: "
        + "; ".join(
            f"{labels:,} labels{' (the plan)' if labels == budget else ''} {widths}"
            for labels, widths in widths_by_labels.items()
        )
        + ".",
    )


def _assumption(audit: Any) -> str:
    """Return the assumption behind the expected half-widths of a plan."""
    if isinstance(audit, JudgedAudit):
        return audit.expects
    if isinstance(audit, DifferenceAudit):
        return "if both models are correct equally often where they differ"
    return (
        "if the scores are calibrated"
        if np.isfinite(audit.expected_half_width)
        else "if half of the predictions are correct"
    )


def plan(audit: Any) -> alt.TopLevelMixin:
    """Return the expected half-width for half to four times the planned number of labels.

    Parameters
    ----------
    audit : workbench.audits.accuracy.Audit
        The plan.
    """
    data = plan_data(audit)
    metrics, labels = (
        list(dict.fromkeys(row[name] for row in data["plans"])) for name in ("metric", "labels")
    )
    colors, one = dict(zip(metrics, theme.CATEGORY, strict=False)), len(metrics) == 1
    legend = None if one else alt.Legend()
    x = alt.X(
        "labels:Q",
        title=[f"labels (dashed: the plan, {data['budget'][0]['labels']:,})", _assumption(audit)],
        scale=alt.Scale(type="log", domain=[0.9 * labels[0], 1.15 * labels[-1]], nice=False),
        axis=alt.Axis(values=labels, format=",", labelOverlap=True, grid=False),
    )
    base = theme.chart(data, "plans").encode(
        x=x, y=alt.Y("points:Q", title="± points", scale=alt.Scale(zero=True))
    )
    lines = base.mark_line(strokeWidth=2).encode(color=theme.color("metric", colors, legend=legend))
    dots = base.mark_point(filled=True, size=90).encode(
        color=theme.color("metric", colors, legend=legend),
        shape=theme.shape("metric", metrics, SHAPES[: len(metrics)], legend=legend),
    )
    texts = base.mark_text(align="left", dx=6, dy=-9).encode(text="text:N")
    rule = theme.chart(data, "budget").mark_rule(style="truth").encode(x="labels:Q")
    return theme.finish(
        alt.layer(rule, lines, dots, *[texts] * one), *plan_words(audit), height=200
    )


def intervals_words(comparison: IntervalComparison, truth: float | None = None) -> tuple[str, str]:
    """Return the title and the text alternative of `intervals`."""
    limits = "; ".join(f"{i.method} {i.low:.3f} to {i.high:.3f}" for i in comparison.intervals)
    dashed, known = (
        ("", "")
        if truth is None
        else (" (dashed: the truth)", f" The true accuracy is {truth:.3f}.")
    )
    promised = f" ({comparison.assumption.lower()})" if comparison.assumption else ""
    report = "expected limits" if comparison.assumption else "report the default"
    return (
        f"The same labels, five intervals: {report}{promised}{dashed}",
        f"Limits{promised}: {limits}.{known}",
    )


def intervals(comparison: IntervalComparison, truth: float | None = None) -> alt.TopLevelMixin:
    """Return the intervals of all methods from the same labels, with the truth if it is known.

    Parameters
    ----------
    comparison : workbench.audits.accuracy.IntervalComparison
        The intervals.
    truth : float, optional
        True accuracy.
    """
    default = "default" if comparison.assumption else "report this"
    use = {"default": default, "wald": "for teaching", "wilson": "for teaching"}
    rows = [
        {
            "method": i.method,
            "low": i.low,
            "high": i.high,
            "use": use.get(i.method, "for special purposes"),
        }
        for i in comparison.intervals
    ]
    colors = {
        default: theme.STRATIFIED,
        "for special purposes": theme.UNLABELED,
        "for teaching": theme.MISS,
    }
    bars = (
        theme.Chart(theme.rows("intervals", rows))
        .mark_bar(height=8)
        .encode(
            y=alt.Y("method:N", sort=[row["method"] for row in rows], title=None),
            x2="high:Q",
            x=alt.X("low:Q", title="accuracy", axis=theme.percents(), scale=alt.Scale(zero=False)),
            color=theme.color("use", colors),
        )
    )
    known = [] if truth is None else [{"truth": truth}]
    rule = theme.Chart(theme.rows("truth", known)).mark_rule(style="truth").encode(x="truth:Q")
    return theme.finish(bars + rule, *intervals_words(comparison, truth), height=150)
