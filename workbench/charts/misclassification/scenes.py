"""Charts of the lesson: true and read classes, later months, a change, an assumption, a judge."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks, intervals
from workbench.charts import theme
from workbench.charts.misclassification.words import colors, dashes, names, points
from workbench.charts.theme import (
    ESTIMATE,
    GRAY,
    OKABE_ITO,
    PERCENT,
    Figure,
    across,
    beside,
    chart,
    span,
    up,
)
from workbench.course.lesson_data import named
from workbench.misclassification.series import PrevalenceSeries
from workbench.misclassification.setting import counted_share
from workbench.misclassification.theory import EstimatorTheory, moments, unbiased_share
from workbench.results import rows_of
from workbench.results.digits import short
from workbench.simulations.misclassification import PrevalenceStudy

RAW, CORRECTED = colors()["raw count"], ESTIMATE
CELLS = {
    "panels, counted": OKABE_ITO["blue"],
    "panels, missed": OKABE_ITO["sky"],
    "others, counted": OKABE_ITO["vermilion"],
    "others, not counted": "#bdbdbd",
}
READING, TRUTH = "P(read | true)", "P(true | read)"
HOLDS = {READING: "mixed", TRUTH: "calibration"}
RANGE = (0.02, 0.40)
GRID, WITHIN = np.linspace(*RANGE, 77), span(*RANGE, zero=False)
# Axes do not change while sliders move. They hold every value of the lesson's sliders, or their
# title says where they are cut.
BIAS, ERRORS, TYPICAL = (-0.3, 0.3), (-0.16, 0.08), (0.002, 0.5)
LEVELS, DIFFERENCES, ANSWERS = (0.05, 0.21), (-0.07, 0.11), (-0.05, 0.65)
# The legend names only the estimators in the chart: all names would fill the screen of a phone.
LEGEND = {
    "symbolType": "stroke",
    "symbolSize": 300,
    "columns": 2,
    "values": alt.expr("pluck(data('answers'), 'estimator')"),
}
YOURS = " (you)"
NAME_WIDTH = 115  # pixels for the longest name, so that the chart does not move when it appears
INDEPENDENT, SHARED, PREDICTED = "independent errors", "shared audit", "your prediction"
BANDS = {INDEPENDENT: RAW, SHARED: CORRECTED, PREDICTED: OKABE_ITO["green"]}
LETTERS = 125  # pixels of the longest text next to a dot
POINT = "format(100 * datum.value, '~g')"
POINTS = {"labelExpr": POINT, "tickCount": 5}


def mosaic(base_rate: float, p00: float, p11: float) -> Figure:
    """Return areas of true and read classes, and the bias of the count over all true proportions.

    Parameters
    ----------
    base_rate : float
        True proportion of panels, in [0, 1].
    p00, p11 : float
        P(read as others | others) and P(read as panels | panels).
    """
    start, end = np.array([[0, base_rate], [0, base_rate], [base_rate, 1], [base_rate, 1]]).T
    low, high = np.array([[0, p11], [p11, 1], [0, 1 - p00], [1 - p00, 1]]).T
    shares = (end - start) * (high - low)
    readable = (end - start > 0.16) & (high - low > 0.07)
    texts = [f"{share:.2%}" for share in shares]
    corners = {"left": start, "right": end, "low": low, "high": high}
    middles = {"x": (start + end) / 2, "y": (low + high) / 2}
    areas = [named(area) for area in CELLS]
    labels = {"text": np.where(readable, texts, ""), "dark": [1, 0, 0, 0]}
    count = counted_share(base_rate, p00, p11)
    bias = count - base_rate
    way = "up" if bias >= 0 else "down"
    line = [{"share": a, "bias": counted_share(a, p00, p11) - a} for a in (0.0, 1.0)]
    arrow = {"share": base_rate, "from": 0.0, "bias": bias, "way": way}
    cells = rows_of(**corners, share=shares, area=areas, **middles, **labels)
    verdict = f"{100 * abs(bias):.2f} points too {'many' if bias > 0 else 'few'}"
    if unbiased_share(p00, p11) is None:
        verdict = "no form is misread"
    elif abs(bias) < 5e-5:
        verdict = "misses and false positives cancel"
    title = f"Counted {count:.2%}, true {base_rate:.2%}: {verdict}"
    alternative = (
        f"The proportion of forms with panels is {base_rate:.2%}: {texts[0]} are counted and "
        f"{texts[1]} are missed. The proportion of other forms is {1 - base_rate:.2%}: {texts[2]} "
        f"are counted by mistake. {title}."
    )
    data = {"cells": cells, "line": line, "arrow": [arrow]}
    return Figure(data, title, named(alternative), _draw_mosaic)


def _draw_mosaic(data: dict) -> Any:
    cells = chart(data, "cells")
    groups = named("proportion of all forms: panels, others")
    x = across("left", groups, (0, 1), format=PERCENT)
    y = up("low", "proportion of each group, by class read", (0, 1), format=PERCENT)
    colors = {named(area): color for area, color in CELLS.items()}
    color = theme.color("area", colors, legend={"columns": 2})
    areas = cells.mark_rect(stroke="#ffffff", strokeWidth=1)
    areas = areas.encode(x=x, x2="right:Q", y=y, y2="high:Q", color=color)
    texts = cells.mark_text().encode(x="x:Q", y="y:Q", text="text:N", color=theme.ink())
    y_axis = up("bias", "counted minus true proportion (points)", BIAS, **POINTS)
    x_axis = across("share", named("true proportion of panels"), (0, 1), format=PERCENT)
    line = chart(data, "line").mark_line(color=GRAY, clip=True).encode(x=x_axis, y=y_axis)
    arrow = chart(data, "arrow").encode(x="share:Q")
    shaft = arrow.mark_rule(color=RAW, strokeWidth=3).encode(y="from:Q", y2="bias:Q")
    tips = theme.shape("way", ["up", "down"], ["triangle-up", "triangle-down"], legend=None)
    tip = arrow.mark_point(color=RAW, fill=RAW, size=110).encode(y="bias:Q", shape=tips)
    views = (
        (areas + texts).resolve_scale(color="independent"),
        line + theme.zero("y", "bias") + shaft + tip,
    )
    return alt.hconcat(*[view.properties(width=250, height=250) for view in views])


def judge(share: float, right: float) -> Figure:
    """Return the proportion that a judge passes, and the corrected one, by true proportion.

    Parameters
    ----------
    share : float
        Proportion of good answers.
    right : float
        Proportion of correct grades, the same for good and bad answers; above .5.
    """
    shares = (0.0, 1.0, share)
    values = [counted_share(a, right, right) for a in shares]
    alone = rows_of(share=shares, value=values, who=["the judge alone"] * 3)
    corrected = rows_of(share=shares, value=shares, who=["corrected"] * 3)
    data = {"lines": alone[:2] + corrected[:2], "now": [alone[2], corrected[2]]}
    good, passed = f"{share:.0%}", f"{values[2]:.1%}"
    correct, incorrect = f"{right:.0%}", f"{1 - right:.0%}"
    title = f"{good} of the answers are good, the judge passes {passed}"
    alternative = (
        f"{title}. The judge grades {correct} of the good and of the bad answers correctly. It "
        f"passes {incorrect} if no answer is good and {correct} if all are good. Subtract "
        f"{incorrect} from {passed} and divide by {2 * right - 1:.2f}: this gives {good}."
    )
    return Figure(data, title, alternative, _draw_judge)


def _draw_judge(data: dict) -> Any:
    axes = {
        "x": across("share", "proportion of good answers", (0, 1), format=PERCENT),
        "y": up("value", "reported proportion", (0, 1), format=PERCENT),
        "color": theme.color("who", {"the judge alone": RAW, "corrected": CORRECTED}),
    }
    lines, now = (chart(data, name).encode(**axes) for name in ("lines", "now"))
    return lines.mark_line() + now.mark_point(filled=True, size=110)


def months(study: PrevalenceStudy, methods: Sequence[str], predicted: str = "") -> Figure:
    """Return the errors of estimators in a later month, and typical errors by true proportion.

    Parameters
    ----------
    study : workbench.PrevalenceStudy
        Simulated answers of the estimators.
    methods : sequence of str
        The estimators in the chart, at least one.
    predicted : str
        The estimator that a learner chose. It is marked.
    """
    titles, share, errors = names(), study.new_base_rate, _errors(study, GRID)
    answers, curves, texts, rmse_texts = [], [], [], {}
    for method in methods:
        title, bias, sd = titles[method], study.bias[method], study.sd[method]
        name = title + YOURS if method == predicted else title
        rmse = study.rmse[method]
        rmse_texts[method] = f"{100 * rmse:.2f}"
        row = {"estimator": title, "name": name, "bias": bias, "low": bias - sd, "high": bias + sd}
        answers.append(row | {"rmse": rmse, "now": share, "text": rmse_texts[method]})
        curves += rows_of(share=GRID, rmse=errors[method], estimator=[title] * GRID.size)
        texts.append(
            f"{title} {share + bias:.2%}, standard deviation {100 * sd:.2f} points, typical error "
            f"{rmse_texts[method]} points"
        )
    order = sorted(methods, key=study.rmse.get)
    shift = share - study.base_rate
    if abs(shift) < 0.0005:
        listed = ", ".join(f"{titles[m]} {rmse_texts[m]}" for m in order)
        title = f"No change. Typical errors in points: {listed}"
    else:
        reported = ", ".join(f"{titles[m]} {reported_change(study, m):.0%}" for m in methods)
        kind = "rise" if shift > 0 else "fall"
        title = f"Reported part of a {kind} by {100 * abs(shift):.1f} points: {reported}"
    audited = named(checks.counted(study.n, "form was", "forms were"))
    simulated = f"in {study.runs:,} simulated audits: {'; '.join(texts)}"
    alternative = (
        f"The true proportion was {study.base_rate:.2%} when {audited} audited. Now it is "
        f"{share:.2%}. Average answers {simulated}. Smallest typical error: {titles[order[0]]}."
        f"{_where_calibration_wins(study, methods)}"
    )
    data = {"answers": answers, "curves": curves, "truth": [{"share": share}]}
    return Figure(data, title, alternative, _draw_months)


def _errors(study: PrevalenceStudy, new_base_rates: np.ndarray) -> dict:
    """Return the theoretical RMSE per method, (A,) each, without an unknown bias of order 1/n."""
    bias, variance, _ = _moments(study, new_base_rates)
    return {m: np.sqrt(variance[m] + np.nan_to_num(bias[m]) ** 2) for m in bias}


def _moments(study: PrevalenceStudy, new_base_rates: np.ndarray) -> tuple:
    rates = study.base_rate, new_base_rates, study.p00, study.p11
    return moments(*rates, study.n, study.size, study.new_size, study.rates)


def reported_change(study: PrevalenceStudy, method: str) -> float:
    """Return the part of the true change that a method reports on average."""
    shares = np.array([study.base_rate, study.new_base_rate])
    bias = np.nan_to_num(_moments(study, shares)[0][method])
    return 1 + float(np.diff(bias)[0] / np.diff(shares)[0])


def _where_calibration_wins(study: PrevalenceStudy, methods: Sequence[str]) -> str:
    if not {"calibration", "mixed"} <= set(methods):
        return ""
    shares = np.linspace(*RANGE, 20_001)
    errors = _errors(study, shares)
    better = shares[errors["calibration"] < errors["mixed"]]
    text = " In theory, the typical error of mixed is smaller than that of calibration"
    if not better.size:
        return f"{text} everywhere."
    return f"{text} unless the true proportion is between {better[0]:.1%} and {better[-1]:.1%}."


def _draw_months(data: dict) -> Any:
    order = list(colors())
    color = theme.color("estimator", colors(), legend=None)
    ranked = [name + suffix for name in order for suffix in ("", YOURS)]
    labels = theme.names("name", ranked, labelLimit=160, minExtent=NAME_WIDTH)
    low, high = (f"{abs(100 * end):g}" for end in ERRORS)
    title = f"answer minus truth (points), ± one standard deviation; cut at −{low} and +{high}"
    along = across("low", title, ERRORS, **POINTS)
    answers = chart(data, "answers")
    rows = answers.encode(y=labels, color=color)
    bands = rows.mark_rule(strokeWidth=4, clip=True).encode(x=along, x2="high:Q")
    dots = rows.mark_circle(size=90, clip=True).encode(x="bias:Q")
    texts = beside(answers, 8, fontWeight="bold").encode(x=alt.value("width"), y=labels)
    heading = {"align": "left", "dx": 8, "dy": -26, "lineHeight": 16, "x": "width", "y": 0}
    head = theme.Chart(theme.rows("head", [{"text": ["typical", "error"]}]))
    head = head.mark_text(style="note", **heading).encode(text="text:N")
    above = theme.zero("x", "bias", style="truth") + bands + dots + texts + head
    title = "new true proportion (lines: theory; dots: simulation)"
    x_axis = across("share", title, scale=WITHIN, format=PERCENT)
    y_axis = up(
        "rmse",
        "typical error (points, log scale)",
        scale=span(*TYPICAL, type="log"),
        values=[m * t for t in (0.001, 0.01, 0.1) for m in (1, 2, 5)],
        labelExpr=POINT,
    )
    looks = {
        "color": theme.color("estimator", colors(), legend=LEGEND),
        "strokeDash": theme.dash("estimator", order, dashes().values(), legend=LEGEND),
    }
    lines = chart(data, "curves").mark_line(strokeWidth=2, clip=True)
    curves = lines.encode(x=x_axis, y=y_axis, **looks)
    now = answers.mark_circle(size=70, clip=True)
    now = now.encode(x=across("now", scale=WITHIN), y="rmse:Q", color=color)
    below = theme.truth(data, x=x_axis) + curves + now
    both = theme.stacked(460, (above, alt.Step(28)), (below, 190))
    return both.resolve_scale(color="independent", strokeDash="independent")


def change(
    series: PrevalenceSeries,
    first: int,
    last: int,
    true_shares: np.ndarray,
    predicted: float | None = None,
    *,
    rename: Callable[[str], str] = str,
) -> Figure:
    """Return proportions with 95% intervals, and a change with its interval and an incorrect one.

    Parameters
    ----------
    series : workbench.PrevalenceSeries
        Series of two classes; its periods are numbers.
    first, last : int
        The two periods that are compared.
    true_shares : (T,) array of float
        True proportion of each period.
    predicted : float, optional
        Half-width of the interval of the change that a learner predicted.
    rename : callable, optional
        Function that takes a text about months and forms and returns it in other words.
    """
    truth = dict(zip(series.periods, np.asarray(true_shares).tolist(), strict=True))
    levels, chosen, ends = [], [], []
    for row in series.levels():
        month, limits = row["period"], {name: row[name] for name in ("estimate", "low", "high")}
        levels.append({"month": month, "truth": truth[month], **limits})
        if month in (first, last):
            chosen.append(levels[-1])
            ends.append("{estimate:.2%} ({low:.2%} to {high:.2%}) in month {period}".format(**row))
    estimate = series.change(first, last)
    middle, error = estimate.estimate, f"{100 * estimate.standard_error:.2f}"
    independent = f"{100 * estimate.naive_standard_error:.2f}"
    half = intervals.quantile(0.95) * estimate.naive_standard_error
    bands = {INDEPENDENT: (middle - half, middle + half), SHARED: estimate.limits}
    yours = ""
    if predicted is not None:
        bands[PREDICTED] = (middle - predicted, middle + predicted)
        yours = f" You predicted {100 * predicted:.1f} points to either side."
    true_change = truth[last] - truth[first]
    differences = [
        {"band": band, "estimate": middle, "low": low, "high": high}
        for band, (low, high) in bands.items()
    ]
    data = {"levels": levels, "chosen": chosen, "differences": differences}
    data["true change"] = [{"change": true_change}]
    lower, upper = (100 * np.array(estimate.limits)).tolist()
    forms = checks.counted(series.audit.n, "form")
    title = f"Month {first} to {last}: {points(middle)}, standard error {error}"
    alternative = (
        f"Proportions by {series.method} from one audit of {forms}, with 95% intervals: "
        f"{', '.join(ends)}. Estimated change {points(middle)}, 95% interval {lower:+.2f} to "
        f"{upper:+.2f}; the true change is {points(true_change)}. If the errors of the two months "
        f"were independent, the standard error of the change would be {independent} points "
        f"instead of {error} points.{yours}"
    )
    draw = functools.partial(_draw_change, rename)
    title = f"{title}; with independent errors {independent}"
    return Figure(data, rename(title), rename(alternative), draw)


def _draw_change(rename: Callable[[str], str], data: dict) -> Any:
    months = across(
        "month",
        rename("month (dashed: truth)"),
        scale={"nice": False, "padding": 8},
        values=[row["month"] for row in data["levels"]],
        grid=False,
        format="d",
    )
    y_axis = up("estimate", rename("proportion with panels, 95% intervals"), LEVELS, format=PERCENT)
    levels = chart(data, "levels").encode(x=months)
    bands = levels.mark_area(opacity=0.22, color=CORRECTED).encode(
        y=up("low", ends=LEVELS), y2="high:Q"
    )
    truth = levels.mark_line(style="truth").encode(y="truth:Q")
    line = levels.mark_line(color=CORRECTED, strokeWidth=2).encode(y=y_axis)
    chosen = chart(data, "chosen").encode(x=months)
    bars = chosen.mark_rule(strokeWidth=4, color=RAW).encode(y="low:Q", y2="high:Q")
    dots = chosen.mark_circle(size=110, color=CORRECTED).encode(y="estimate:Q")
    months_view = (bands + truth + line + bars + dots).properties(width=330, height=250)
    axis = {"labelAngle": 0, "labelExpr": "split(datum.label, ' ')"}
    x = alt.X("band:N", title="dashed: true change", sort=None, axis=axis)
    color = theme.color("band", BANDS, legend=None)
    differences = chart(data, "differences").encode(x=x, color=color)
    change = up("low", "change (points), 95% interval", DIFFERENCES, **POINTS)
    limits = differences.mark_rule(strokeWidth=5).encode(y=change, y2="high:Q")
    ticks = differences.mark_tick(orient="horizontal", width=26, thickness=3).encode(y="estimate:Q")
    true = theme.truth(data, "true change", y="change:Q")
    changes = theme.zero("y", "change") + true + limits + ticks
    width = 110 * len(data["differences"])
    return months_view | changes.properties(width=width, height=250)


def answer_slopes(theory: EstimatorTheory, constant: str) -> dict[str, float]:
    """Return the part of a true change that each estimator reports if `constant` stays constant."""
    part = theory.retained_change
    if constant == READING:
        return {"mixed": 1.0, "calibration": part}
    return {"mixed": 1 / part, "calibration": 1.0}


def held_constant(theory: EstimatorTheory, constant: str) -> Figure:
    """Return the answers of two estimators by new true proportion if one rate is constant.

    Parameters
    ----------
    theory : workbench.EstimatorTheory
        Theory of the estimators for one program.
    constant : {"P(read | true)", "P(true | read)"}
        The rate that stays constant.
    """
    start, share = theory.base_rate, theory.new_base_rate
    slopes = answer_slopes(theory, constant)
    lines: list[dict] = []
    now: list[dict] = []
    for method, slope in slopes.items():
        rows = [
            {"share": a, "answer": start + slope * (a - start), "estimator": method}
            for a in (*RANGE, share)
        ]
        lines += rows[:2]
        now.append(rows[2] | {"text": f"{method} {rows[2]['answer']:.1%}"})
    answers = {row["estimator"]: row["answer"] for row in now}
    for row in now:
        row |= {"side": "below", "slope": slopes[row["estimator"]]}
    top = max(now, key=lambda row: row["answer"])
    top |= {"side": "above", "slope": max(slopes.values())}
    parts = {method: f"{slope:.0%}" for method, slope in slopes.items()}
    wrong = HOLDS[TRUTH if constant == READING else READING]
    law = f"MCC² = {short(slopes[wrong], 2)}"
    if wrong == "mixed":
        law = f"1 / {law}"
    data = {"answers": lines, "now": now}
    data["truth"] = [{"share": a, "answer": a} for a in RANGE]
    mixed, calibration = (f"{answers[name]:.2%}" for name in ("mixed", "calibration"))
    title = (
        f"If {constant} is constant, {wrong} reports {parts[wrong]} of a change ({law}): "
        f"{answers[wrong]:.1%} for a true {share:.1%}"
    )
    assumptions = (
        f"Mixed assumes that {READING} is constant and answers {mixed}. Calibration assumes that "
        f"{TRUTH} is constant and answers {calibration}."
    )
    alternative = (
        f"The true proportion moves from {start:.2%} to {share:.2%} while {constant} stays "
        f"constant. {assumptions} Mixed reports {parts['mixed']} of the change, calibration "
        f"{parts['calibration']}. The squared Matthews correlation is "
        f"{theory.retained_change:.4f}."
    )
    return Figure(data, title, alternative, _draw_constant)


def _draw_constant(data: dict) -> Any:
    methods = HOLDS.values()
    color = theme.color("estimator", {name: colors()[name] for name in methods}, legend=None)
    dash = theme.dash("estimator", methods, [dashes()[name] for name in methods], legend=None)
    title = "new true proportion (dashed: truth)"
    x_axis = across("share", title, scale=WITHIN, format=PERCENT)
    y_axis = up("answer", "average answer", ANSWERS, format=PERCENT)
    answers, now, truth = (
        chart(data, name).encode(x=x_axis, y=y_axis) for name in ("answers", "now", "truth")
    )
    lines = answers.mark_line(strokeWidth=3).encode(color=color, strokeDash=dash)
    dots = now.mark_circle(size=110).encode(color=color)
    # The upper text is to the left of its dot, the lower text to the right. Near the ends there is
    # no room: there the texts change sides and move up or down as far as the lines rise.
    units = (RANGE[1] - RANGE[0]) / (ANSWERS[1] - ANSWERS[0])
    rise = f"datum.slope * {LETTERS} * height / width * {units}"
    texts = []
    for side, end, turned, way in (
        ("above", 0.1, "datum.share <= 0.1", -1),
        ("below", 0.3, "datum.share > 0.3", 1),
    ):
        text = now.mark_text(
            align=alt.expr(f"datum.share > {end} ? 'right' : 'left'"),
            dx=alt.expr(f"datum.share > {end} ? -8 : 8"),
            dy=alt.expr(f"{turned} ? {way} * (12 + {rise}) : {way} * 17"),
            fontWeight="bold",
        )
        texts.append(text.encode(text="text:N").transform_filter(alt.datum.side == side))
    return alt.layer(lines, truth.mark_line(style="truth"), dots, *texts)
