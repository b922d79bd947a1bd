"""Charts of the lesson on stratified accuracy, where the truth is given.

The axes do not change with the controls.
"""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.theme import (
    GRAY,
    LABELED,
    MISS,
    OKABE_ITO,
    PERCENT,
    RANDOM,
    STRATIFIED,
    UNLABELED,
    WIDTH,
    Figure,
    across,
    beside,
    chart,
    span,
    stacked,
    truth,
    up,
)
from workbench.course.lesson_data import named
from workbench.results import percent, rows_of, sentences
from workbench.simulations.stratified import DesignStudy, LabelingStudy, LookingStudy
from workbench.stratified.accuracy import PlanCurve

FIRST_RUNS = 50
TOP_RATIO = 3.0  # longest bar: standard error relative to random sampling
STRIP = (-0.85, -0.55)  # position of the labels below the items
PREDICTED = "you predicted"
NOMINAL = "nominal error rate"
LEAST_NAMED = 0.03  # proportion of the items from which a stratum has room for its name
STEP = 0.01  # proportion of all items or labels that an arrow key moves
CLOSE = 0.3  # powers of ten below which the line of the ceiling would cross a number
DESIGNS = {"simple_random": "random", "proportional": "proportional", "neyman": "Neyman"}
DESIGN_COLORS = {"random": RANDOM, "proportional": STRATIFIED, "Neyman": LABELED}
METHODS_OF_LOOKING = {
    "fixed": "95% interval for a fixed number of labels",
    "looks": "Default interval at 99.5%",
    "anytime": "Anytime interval",
}
LONG_STROKES = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=3)


def by_rank(score: np.ndarray, values: np.ndarray, name: str) -> list[dict]:
    """Return the start, the end and the mean value of 60 bins of equal size, in order of score.

    Parameters
    ----------
    score : (N,) array of float
        Score of each item.
    values : (N,) array of float or bool
        Value of each item.
    name : str
        Key of the mean value.
    """
    ordered = np.asarray(values, float)[np.argsort(score, kind="stable")]
    edges = np.linspace(0, ordered.size, min(60, ordered.size) + 1).round().astype(int)
    means = np.diff(np.concatenate([[0], ordered.cumsum()])[edges]) / np.diff(edges)
    shares = edges / ordered.size
    return rows_of(start=shares[:-1], end=shares[1:], **{name: means})


def wrong_by_rank(score: np.ndarray, correct: np.ndarray) -> list[dict]:
    """Return the proportion of incorrect items in 60 bins of equal size, in order of score.

    Parameters
    ----------
    score : (N,) array of float
        Score of each item.
    correct : (N,) array of bool
        Whether each prediction is correct.

    Returns
    -------
    list of dict
        `start` and `end` (proportions of all items) and `wrong` (proportion of the bin).
    """
    return by_rank(score, ~np.asarray(correct, bool), "wrong")


def confidence(score: np.ndarray) -> Figure:
    """Return the stated confidence of a classifier, from the least sure item to the surest.

    Parameters
    ----------
    score : (N,) array of float
        Probability of being correct that the classifier states for each item.
    """
    rows, mean, count = by_rank(score, score, "sure"), float(np.mean(score)), np.size(score)
    first, tenth, middle = (rows[k] for k in (0, len(rows) // 10, len(rows) // 2))
    claim = f"the program says it is {mean:.1%} sure"
    alternative = (
        f"{named(f'On average over {count:,} forms')}, {claim}. It says {first['sure']:.0%} for "
        f"the {round(first['end'] * count)} of which it is least sure. Sorted from the least sure "
        f"to the surest, it says {tenth['sure']:.0%} after the first tenth and "
        f"{middle['sure']:.0%} in the middle."
    )
    data = {"sure": rows, "mean": [{"mean": mean}]}
    title = f"On average {claim}. How often is it correct?"
    return Figure(data, title, alternative, _draw_confidence, height=190)


def _draw_confidence(data: dict) -> Any:
    x = _rank(named("forms, from the least sure to the surest"))
    scale = {"domain": [0, 1]}
    y = up("sure", "stated confidence", scale=scale, format=PERCENT, tickCount=5)
    rectangles = chart(data, "sure").mark_rect(color=STRATIFIED, opacity=0.6)
    mean = chart(data, "mean").encode(y="mean:Q")
    text = mean.mark_text(align="left", x=6, dy=-9, fontWeight="bold").encode(
        text=alt.Text("mean:Q", format=".1%")
    )
    return (
        rectangles.encode(x=x, x2="end:Q", y2=alt.datum(0), y=y)
        + mean.mark_rule(style="truth")
        + text
    )


def _rank(title: str) -> alt.X:
    return alt.X("start:Q", scale=span(0, 1), axis=theme.percents(title=title))


def design(study: DesignStudy, wrong: Sequence[dict], *, predicted: float | None = None) -> Figure:
    """Return the strata by score rank, their labels, and the relative standard error.

    Parameters
    ----------
    study : workbench.simulations.stratified.DesignStudy
    wrong : list of dict
        From `wrong_by_rank`.
    predicted : float, optional
        Proportion by which a learner predicted that the standard error falls.
    """
    budget = int(study.labeled.sum())
    upper = study.labeled.cumsum() / budget
    start, end, stratum = study.start, study.end, study.cell_stratum
    wide = zip(stratum, end - start > LEAST_NAMED, strict=True)
    names = [str(k + 1) if is_wide else "" for k, is_wide in wide]
    middle = (start + end) / 2
    cells = rows_of(start=start, end=end, even=stratum % 2, middle=middle, name=names)
    lower, even = upper - study.labeled / budget, np.arange(upper.size) % 2
    shares = rows_of(start=lower, end=upper, even=even)
    table = []
    for k in range(upper.size):
        row = {"stratum": k + 1}
        table.append(row | {"what": "items", "text": f"{study.stratum_size[k]:,}"})
        table.append(row | {"what": "labels", "text": str(study.labeled[k])})
        table.append(row | {"what": "correct", "text": f"{study.accuracy[k]:.0%}"})
    data = {"cells": cells, "wrong": list(wrong), "shares": shares, "strata": table}
    data |= _cuts(study, upper, budget) | _errors(study, predicted)
    rates = " ".join(f"{accuracy:.3f}" for accuracy in study.accuracy)
    notes = "".join(f" Note: {text}." for text in sentences(study.notes))
    ratio = study.standard_error / study.random_error if study.random_error else np.nan
    prediction = ""
    if predicted is not None and not np.isnan(ratio):
        change = "falls" if ratio <= 1 else "rises"
        prediction = (
            f" You predicted that it falls by {predicted:.0%}; it {change} by {abs(1 - ratio):.0%}."
        )
    labels = checks.counted(budget, "label")
    strata = checks.counted(upper.size, "stratum", "strata")
    alternative = (
        f"Standard error {study.standard_error:.4f} for this design, {study.random_error:.4f} for "
        f"random sampling, {study.best_error:.4f} for the best allocation.{prediction} Strata from "
        f"the lowest to the highest scores: items {_listed(study.stratum_size)}; labels "
        f"{_listed(study.labeled)}; accuracy {rates}.{notes}"
    )
    title = f"{labels}, {strata}: {_compared(study, ratio)}"
    return Figure(data, title, alternative, _draw_design)


def _listed(counts: np.ndarray) -> str:
    return "/".join(f"{n:,}" for n in counts)


def _compared(study: DesignStudy, error: float) -> str:
    """Return a comparison of a design with random sampling; its error is relative."""
    ratio = study.variance_ratio
    if np.isnan(ratio):
        return "random sampling also has a standard error of 0"
    if ratio < 0.99:
        return f"standard error {1 - error:.0%} below that of random sampling"
    if ratio > 1.01:
        return f"variance {ratio:.2f} times that of random sampling"
    return "no better than random sampling"


def _cuts(study: DesignStudy, upper: np.ndarray, budget: int) -> dict[str, list[dict]]:
    """Return the cuts of items and labels that a reader can drag, and the lines between them."""
    data: dict[str, list[dict]] = {"cuts": [], "splits": [], "joins": []}
    if study.cell_stratum.size != study.labeled.size:  # interleaved strata have no cut
        return data
    step, labeled = max(1, round(STEP * budget)) / budget, study.labeled
    cuts = zip(study.end[:-1].tolist(), upper[:-1].tolist(), strict=True)
    for k, (at, to) in enumerate(cuts, 1):
        label = f"Cut between stratum {k} and {k + 1}, at {at:.0%} of the items"
        data["cuts"].append({"at": at, "step": STEP, "label": label, "drag": f"cut {k}"})
        label = f"Labels of stratum {k} and {k + 1}: {labeled[k - 1]} and {labeled[k]}"
        data["splits"].append({"at": to, "step": step, "label": label, "drag": f"labels {k}"})
        data["joins"].append({"at": at, "to": to})
    return data


def _errors(study: DesignStudy, predicted: float | None) -> dict[str, list[dict]]:
    """Return the standard errors and the prediction, relative to random sampling."""
    predictions, line = [], 0.0
    if predicted is not None:
        line = 1 - predicted  # it would cross a number to its left
        text = f"{predicted:.0%} less"
        predictions = [{"design": PREDICTED, "ratio": line, "text": text}]
    errors = {
        "random": study.random_error,
        "this design": study.standard_error,
        "best allocation": study.best_error,
    }
    rows = []
    for name, error in errors.items():
        ratio = error / study.random_error if study.random_error else 0.0
        bar, text = min(ratio, TOP_RATIO), f"{error:.4f} ({ratio:.0%})"
        rows.append({"design": name, "ratio": bar, "beside": max(bar, line), "text": text})
    return {"errors": rows, "predicted": predictions}


def _draw_design(data: dict) -> Any:
    columns = alt.X(
        "what:N",
        sort=["items", "labels", "correct"],
        title=None,
        axis={"orient": "top", "labelAngle": 0, "ticks": False, "domain": False},
    )
    strata = alt.Y("stratum:O", title="stratum", axis={"ticks": False, "domain": False})
    table = chart(data, "strata").mark_text().encode(x=columns, y=strata, text="text:N")
    height = 112 if data["predicted"] else 84
    both = stacked(WIDTH, (_strips(data), 230), (_error_bars(data), height))
    both &= table.properties(width=WIDTH * 2 // 3, height=alt.Step(20))
    # its height follows the strata
    return both.properties(autosize=alt.AutoSizeParams(type="pad", resize=True))


def _strips(data: dict) -> Any:
    scale = {"domain": [0, 1], "range": [OKABE_ITO["sky"], STRATIFIED]}
    fill = alt.Fill("even:Q", legend=None, scale=scale)
    bottom, top = STRIP
    y = alt.Y(
        "wrong:Q",
        scale=span(-0.9, 1.1),
        axis=alt.Axis(
            values=[sum(STRIP) / 2, 0, 0.5, 1],
            title=None,
            grid=False,
            labelExpr="datum.value < 0 ? 'labels' : format(datum.value, '.0%') + ' incorrect'",
        ),
    )
    cells = chart(data, "cells")
    x = _rank("above: items, from low to high score; below: labels")
    ends, zero, high = {"x": "start:Q", "x2": "end:Q"}, alt.datum(0), alt.datum(top)
    bands = cells.mark_rect(opacity=0.35).encode(
        x=x, x2="end:Q", fill=fill, y=zero, y2=alt.datum(1)
    )
    shares = chart(data, "shares").mark_rect(opacity=0.35)
    shares = shares.encode(fill=fill, y=alt.datum(bottom), y2=high, **ends)
    wrong = chart(data, "wrong").mark_rect(style="miss").encode(y=y, y2=zero, **ends)
    names = cells.mark_text(fontWeight="bold").encode(
        x="middle:Q", y=alt.datum(1.05), text="name:N"
    )
    joins = chart(data, "joins").mark_rule(strokeDash=[2, 3])
    joins = joins.encode(x="at:Q", x2="to:Q", y=zero, y2=high)
    cuts = _handles(data, "cuts", 0, 1, 0.94)
    splits = _handles(data, "splits", bottom, top, sum(STRIP) / 2)
    return alt.layer(bands, shares, wrong, names, joins, *cuts, *splits)


def _handles(data: dict, name: str, low: float, high: float, grip: float) -> tuple:
    base = chart(data, name).encode(x="at:Q")
    diamond = base.mark_point(
        filled=True, size=130, shape="diamond", stroke="#ffffff", color=LABELED
    )
    return (
        base.mark_rule(strokeWidth=2).encode(y=alt.datum(low), y2=alt.datum(high)),
        diamond.encode(y=alt.datum(grip)),
    )


def _error_bars(data: dict) -> Any:
    designs = [row["design"] for row in data["errors"]]
    colors = dict(zip(designs, (RANDOM, STRATIFIED, LABELED), strict=True))
    y = theme.names("design", [*designs, PREDICTED])
    x = across(
        "ratio",
        "standard error (random sampling = 100%)",
        (0, 1.3 * TOP_RATIO),
        format=PERCENT,
        values=[0, 0.5, 1, 1.5, 2, 2.5, 3],
    )
    errors, predicted = (chart(data, name).encode(x=x, y=y) for name in ("errors", "predicted"))
    color = theme.color("design", colors, legend=None)
    diamond, text = theme.guess(predicted, align="left", dx=12)
    return (
        errors.mark_bar(height={"band": 0.7}).encode(color=color)
        + beside(errors, 6).encode(x="beside:Q")
        + truth(data, "predicted", x=x)
        + diamond
        + text
    )


def robot(study: LabelingStudy, *, method: str = "wald") -> Figure:
    """Return 50 intervals with the truth, and the claimed and the actual standard error.

    Parameters
    ----------
    study : workbench.simulations.stratified.LabelingStudy
        The simulated runs.
    method : str
        Interval method, as in `LabelingStudy.limits`.
    """
    first_runs = (values[:FIRST_RUNS] for values in (*study.limits(method), study.estimates))
    errors = {
        "claimed": study.claimed_error,
        "actual": study.standard_error,
        "random sampling": study.random_error,
    }
    rows = [
        {"kind": kind, "error": error, "text": f"{error:.4f}"} for kind, error in errors.items()
    ]
    runs = theme.run_rows(*first_runs, study.accuracy)
    coverage, labels = study.coverage(method), checks.counted(study.budget, "label")
    name = study.method
    if name.startswith("opt"):  # a method of the paper
        name = name.replace("_", "-").upper()
    direction = "high" if study.bias > 0 else "low"
    alternative = (
        f"{name} with {labels}: 95% {method.capitalize()} intervals contain the true accuracy "
        f"{study.accuracy:.4f} in {coverage:.1%} of {study.runs:,} runs. It claims a variance of "
        f"{study.estimated_variance_ratio:.2f} times that of random sampling; the actual ratio is "
        f"{study.variance_ratio:.2f}. Its estimates are {abs(100 * study.bias):.1f} points too "
        f"{direction} on average."
    )
    data = {"runs": runs, "truth": [{"truth": study.accuracy}], "errors": rows}
    title = f"{labels}: {coverage:.0%} of {study.runs:,} intervals contain the truth"
    return Figure(data, title, alternative, _draw_robot)


def _draw_robot(data: dict) -> Any:
    run = across("run", "run (the first 50)", (0, FIRST_RUNS + 1))
    low = up("low", "accuracy", scale=span(0.65, 1, clamp=True), format=PERCENT)
    title = "standard error (root mean square error)"
    x = across("error", title, (0, 0.065), tickCount=6)
    order = [row["kind"] for row in data["errors"]]
    errors = chart(data, "errors").encode(y=theme.names("kind", order), x=x)
    colors = dict(zip(order, (UNLABELED, MISS, RANDOM), strict=True))
    return stacked(
        WIDTH,
        (theme.runs(data, "runs", run, low, 7), 210),
        (theme.bars(errors, "kind", colors, height={"band": 0.7}), 84),
    ).resolve_scale(color="independent", strokeDash="independent")


def robots(studies: Sequence[LabelingStudy], *, predicted: float | None = None) -> Figure:
    """Return the coverage of 95% Wald intervals by number of labels.

    Parameters
    ----------
    studies : list of workbench.simulations.stratified.LabelingStudy
        Studies of one method, by increasing budget.
    predicted : float, optional
        Prediction of a learner for the last study.
    """
    rows = []
    for study in studies:
        coverage = study.coverage("wald")
        rows.append({"labels": study.budget, "covers": coverage, "text": f"{coverage:.0%}"})
    first, last = rows[0], rows[-1]
    predictions, prediction = [], ""
    if predicted is not None:
        predictions = [{"labels": last["labels"], "covers": predicted, "text": PREDICTED}]
        prediction = f" You predicted {predicted:.0%} with {last['labels']}."
    listed = ", ".join(f"{row['text']} with {row['labels']}" for row in rows)
    return Figure(
        {"covers": rows, "predicted": predictions, "nominal": [{"nominal": 0.95}]},
        f"{first['text']} of the intervals contain the truth with {first['labels']} labels, "
        f"{last['text']} with {last['labels']}",
        f"Proportion of 95% Wald intervals that contain the true "
        f"accuracy: {listed} labels.{prediction} The dashed line marks the nominal 95%.",
        _draw_robots,
        height=200,
    )


def _draw_robots(data: dict) -> Any:
    x = across("labels", "labels", (0, 330))
    y = up("covers", "coverage of the intervals", scale={"domain": [0, 1]}, format="%")
    coverage = chart(data, "covers").encode(x=x, y=y)
    predicted = chart(data, "predicted").encode(x="labels:Q", y="covers:Q")
    return alt.layer(
        truth(data, "nominal", y="nominal:Q"),
        coverage.mark_line(point={"color": MISS}, color=MISS),
        coverage.mark_text(dy=14).encode(text="text:N"),
        *theme.guess(predicted, align="right", dx=-18, dy=14),
    )


def looking(study: LookingStudy, predicted: float | None = None) -> Figure:
    """Return the proportion of analysts who have missed the truth, by number of labels.

    Parameters
    ----------
    study : workbench.simulations.stratified.LookingStudy
        The simulated analysts.
    predicted : float, optional
        Prediction of a learner for the last check.
    """
    lines, prediction = [{"share": 1 - study.level, "line": NOMINAL}], ""
    if predicted is not None:
        lines.insert(0, {"share": predicted, "line": PREDICTED})
        prediction = f" You predicted {predicted * study.runs:.0f} of {study.runs}."
    count = study.labeled.size
    listed = "; ".join(
        f"{study.missed[k]:.1%} up to {study.labeled[k]} labels"
        for k in sorted({0, count // 4, count // 2, count - 1})
    )
    missed = round(float(study.missed[-1]) * study.runs)
    title = (
        f"{missed} of {study.runs} analysts missed the truth; last half-width "
        f"{100 * study.half_width:.1f} points"
    )
    alternative = (
        f"{METHODS_OF_LOOKING[study.method]}, {checks.counted(count, 'check')}: "
        f"proportion of {study.runs} analysts whose interval missed the true accuracy "
        f"{study.accuracy:.4f} at least once: {listed}.{prediction} Half-width at the last check "
        f"{100 * study.half_width:.2f} points."
    )
    data = {"missed": rows_of(labels=study.labeled, missed=study.missed), "lines": lines}
    return Figure(data, title, alternative, _draw_looking, height=200)


def _draw_looking(data: dict) -> Any:
    step = {"interpolate": "step-after", "point": {"color": MISS}, "color": MISS}
    missed = chart(data, "missed").mark_line(**step)
    missed = missed.encode(
        x=across("labels", "labels at the check", (0, 620)),
        y=up("missed", "missed the truth so far", scale={"domain": [0, 0.3]}, format="%"),
    )
    colors = {NOMINAL: GRAY, PREDICTED: RANDOM}
    if len(data["lines"]) == 1:
        del colors[PREDICTED]
    thick = alt.condition(f"datum.line === '{PREDICTED}'", alt.value(5), alt.value(2))
    lines = chart(data, "lines").mark_rule()
    lines = lines.encode(
        y="share:Q",
        color=theme.color("line", colors, legend=LONG_STROKES),
        strokeDash=theme.dash("line", colors, [[6, 3], [1, 0]]),
        strokeWidth=thick,
    )
    return lines + missed


def plan(
    curve: PlanCurve, half_width: float, predicted: tuple[float, float] | None = None
) -> Figure:
    """Return the labels needed by half-width, for three designs.

    Parameters
    ----------
    curve : workbench.PlanCurve
        Labels needed for several half-widths.
    half_width : float
        Half-width to mark.
    predicted : (float, float), optional
        Half-width and labels that a learner predicted.
    """
    lines = [
        {
            "half_width": row["half_width"],
            "design": DESIGNS[row["design"]],
            "labels": row["labeled"],
        }
        for row in curve.rows()
    ]
    needed, points = curve.at(half_width), []
    for design, labels in needed.items():
        point = {"half_width": half_width, "design": DESIGNS[design], "labels": labels}
        above = labels
        if abs(math.log10(labels / curve.population)) < CLOSE:
            above = max(labels, curve.population)
        points.append(point | {"text": f"{labels:,}", "above": above})
    predictions = []
    if predicted is not None:
        point = dict(zip(("half_width", "labels"), predicted, strict=True))
        predictions = [point | {"text": PREDICTED}]
    ceiling = [{"items": curve.population, "text": f"all {curve.population:,} items"}]
    random, proportional, neyman = (f"{needed[design]:,}" for design in DESIGNS)
    excess = ""
    if max(needed.values()) > curve.population:
        excess = f" This is more than the {curve.population:,} items that exist."
    unit = "point needs" if half_width == 0.01 else "points need"
    correction = "with" if curve.finite else "without"
    alternative = (
        f"Labels for a {percent(curve.level)} Wald half-width of {half_width:.3g}, {correction} "
        f"finite-population correction: {random} random, {proportional} proportional, {neyman} "
        f"Neyman, of {curve.population:,} items.{excess}"
    )
    title = (
        f"±{100 * half_width:.3g} {unit} {random} random, {proportional} proportional or {neyman} "
        "Neyman labels"
    )
    data = {"lines": lines, "points": points, "predicted": predictions, "ceiling": ceiling}
    return Figure(data, title, alternative, _draw_plan, height=300)


def _draw_plan(data: dict) -> Any:
    widest = max(row["half_width"] for row in data["lines"])
    x = across("half_width", "half-width", (0, 1.15 * widest), format=PERCENT)
    y = up(
        "labels",
        "labels needed (logarithmic scale)",
        scale=span(10, 1e6, type="log"),
        values=[10**k for k in range(1, 7)],
        format="~s",
    )
    lines = chart(data, "lines").mark_line(strokeWidth=2.5)
    points, predicted = (
        chart(data, name).encode(x="half_width:Q", y="labels:Q") for name in ("points", "predicted")
    )
    random, neyman = (
        points.transform_filter(alt.datum.design == design) for design in ("random", "Neyman")
    )
    ceiling = chart(data, "ceiling").encode(y="items:Q")
    lines = lines.encode(
        x=x,
        y=y,
        color=theme.color("design", DESIGN_COLORS, legend=LONG_STROKES),
        strokeDash=theme.dash("design", DESIGN_COLORS, [[1, 0], [6, 3], [2, 2]]),
    )
    color = alt.Color("design:N", scale=theme.scale(DESIGN_COLORS))
    text = ceiling.mark_text(align="right", x="width", dx=-4, dy=-8, style="note")
    dots = points.mark_point(filled=True, size=70).encode(color=color)
    above = beside(random, 8, dy=-8).encode(y="above:Q")
    below = neyman.mark_text(dy=18).encode(text="text:N")
    roof = ceiling.mark_rule(style="truth") + text.encode(text="text:N")
    guess = alt.layer(*theme.guess(predicted, align="left", dx=10))
    return lines + dots + above + below + roof + guess
