"""Charts of the lesson: true and read classes, later months, a change, an assumption, a judge."""

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks, intervals
from workbench.charts import theme
from workbench.charts.misclassification.words import colors, dashes, names, points
from workbench.course.lesson_data import named
from workbench.misclassification.series import PrevalenceSeries
from workbench.misclassification.setting import counted_share
from workbench.misclassification.theory import EstimatorTheory, moments, unbiased_share
from workbench.results.digits import short
from workbench.simulations.misclassification import PrevalenceStudy

RAW, CORRECTED = colors()["raw count"], theme.ESTIMATE
CELLS = {
    "panels, counted": theme.OKABE_ITO["blue"],
    "panels, missed": theme.OKABE_ITO["sky"],
    "others, counted": theme.OKABE_ITO["vermilion"],
    "others, not counted": "#bdbdbd",
}
READING, TRUTH = "P(read | true)", "P(true | read)"
HOLDS = {READING: "mixed", TRUTH: "calibration"}
RANGE = (0.02, 0.40)
GRID, WITHIN = np.linspace(*RANGE, 77), theme.span(*RANGE, zero=False)
# Axes do not change while sliders move. They hold every value of the lesson's sliders, or their
# title says where they are cut.
BIAS, ERRORS, TYPICAL = (-0.3, 0.3), (-0.16, 0.08), (0.002, 0.5)
LEVELS, DIFFERENCES, ANSWERS = (0.05, 0.21), (-0.07, 0.11), (-0.05, 0.65)
# The legend names only the estimators in the chart: all names would fill the screen of a phone.
LEGEND = alt.Legend(
    symbolType="stroke",
    symbolSize=300,
    columns=2,
    values=alt.expr("pluck(data('answers'), 'estimator')"),
)
YOURS = " (you)"
NAMED = 115  # pixels for the longest name, so that the chart does not move when it appears
INDEPENDENT, SHARED, PREDICTED = "independent errors", "shared audit", "your prediction"
BANDS = {INDEPENDENT: RAW, SHARED: CORRECTED, PREDICTED: theme.OKABE_ITO["green"]}
LETTERS = 125  # pixels of the longest text next to a dot
PERCENT = theme.percents()
POINT = "format(100 * datum.value, '~g')"
POINTS = alt.Axis(labelExpr=POINT, tickCount=5)


def mosaic_data(base_rate: float, p00: float, p11: float) -> dict:
    """Return the rows of `mosaic`: four areas, the line of the bias, an arrow at the proportion."""
    corners = zip(
        CELLS,
        (
            (0, base_rate, 0, p11),
            (0, base_rate, p11, 1),
            (base_rate, 1, 0, 1 - p00),
            (base_rate, 1, 1 - p00, 1),
        ),
        strict=True,
    )
    cells = [
        {
            "left": left,
            "right": right,
            "low": low,
            "high": high,
            "share": share,
            "area": named(area),
            "x": (left + right) / 2,
            "y": (low + high) / 2,
            "dark": int(area == "panels, counted"),
            "text": f"{share:.2%}" if right - left > 0.16 and high - low > 0.07 else "",
        }
        for area, (left, right, low, high) in corners
        for share in [(right - left) * (high - low)]
    ]
    bias = counted_share(base_rate, p00, p11) - base_rate
    return {
        "cells": cells,
        "line": [{"share": a, "bias": counted_share(a, p00, p11) - a} for a in (0.0, 1.0)],
        "arrow": [
            {"share": base_rate, "from": 0.0, "bias": bias, "way": "up" if bias >= 0 else "down"}
        ],
    }


def mosaic_words(base_rate: float, p00: float, p11: float) -> tuple[str, str]:
    """Return the title and the text alternative of `mosaic`."""
    counted = counted_share(base_rate, p00, p11)
    title = f"Counted {counted:.2%}, true {base_rate:.2%}: {_bias_in_words(base_rate, p00, p11)}"
    missed = base_rate * (1 - p11)
    by_mistake = (1 - base_rate) * (1 - p00)
    return title, named(
        f"The proportion of forms with panels is {base_rate:.2%}: {base_rate * p11:.2%} are "
        f"counted and {missed:.2%} are missed. The proportion of other forms is "
        f"{1 - base_rate:.2%}: {by_mistake:.2%} are counted by mistake. {title}."
    )


def _bias_in_words(base_rate: float, p00: float, p11: float) -> str:
    bias = counted_share(base_rate, p00, p11) - base_rate
    if unbiased_share(p00, p11) is None:
        return "no form is misread"
    if abs(bias) < 5e-5:
        return "misses and false positives cancel"
    return f"{100 * abs(bias):.2f} points too {'many' if bias > 0 else 'few'}"


def mosaic(base_rate: float, p00: float, p11: float) -> alt.TopLevelMixin:
    """Return areas of true and read classes, and the bias of the count over all true proportions.

    Parameters
    ----------
    base_rate : float
        True proportion of panels, in [0, 1].
    p00, p11 : float
        P(read as others | others) and P(read as panels | panels).
    """
    data = mosaic_data(base_rate, p00, p11)
    cells = theme.chart(data, "cells")
    unit = theme.span(0, 1)
    areas = cells.mark_rect(stroke="#ffffff", strokeWidth=1).encode(
        x=alt.X(
            "left:Q",
            title=named("proportion of all forms: panels, others"),
            axis=PERCENT,
            scale=unit,
        ),
        x2="right:Q",
        y=alt.Y("low:Q", title="proportion of each group, by class read", axis=PERCENT, scale=unit),
        y2="high:Q",
        color=theme.color(
            "area",
            {named(area): color for area, color in CELLS.items()},
            legend=alt.Legend(columns=2),
        ),
    )
    names = cells.mark_text().encode(x="x:Q", y="y:Q", text="text:N", color=theme.ink())
    up = alt.Y(
        "bias:Q",
        title="counted minus true proportion (points)",
        axis=POINTS,
        scale=theme.span(*BIAS),
    )
    across = alt.X("share:Q", title=named("true proportion of panels"), axis=PERCENT, scale=unit)
    line = theme.chart(data, "line").mark_line(color=theme.GRAY, clip=True).encode(x=across, y=up)
    zero = (
        theme.Chart(theme.rows("zero", [{"bias": 0}])).mark_rule(strokeWidth=1).encode(y="bias:Q")
    )
    arrow = theme.chart(data, "arrow")
    shaft = arrow.mark_rule(color=RAW, strokeWidth=3).encode(x="share:Q", y="from:Q", y2="bias:Q")
    tip = arrow.mark_point(color=RAW, fill=RAW, size=110).encode(
        x="share:Q",
        y="bias:Q",
        shape=theme.shape("way", ["up", "down"], ["triangle-up", "triangle-down"], legend=None),
    )
    both = alt.hconcat(
        (areas + names).resolve_scale(color="independent").properties(width=250, height=250),
        (line + zero + shaft + tip).properties(width=250, height=250),
    )
    return theme.finish(both, *mosaic_words(base_rate, p00, p11))


def judge_data(share: float, right: float) -> dict:
    """Return the rows of `judge`: the judge's count and the corrected one, as lines and dots."""
    judge_alone = [
        {"share": a, "value": counted_share(a, right, right), "who": "the judge alone"}
        for a in (0.0, 1.0)
    ]
    return {
        "lines": judge_alone + [{"share": a, "value": a, "who": "corrected"} for a in (0.0, 1.0)],
        "now": [
            {"share": share, "value": counted_share(share, right, right), "who": "the judge alone"},
            {"share": share, "value": share, "who": "corrected"},
        ],
    }


def judge_words(share: float, right: float) -> tuple[str, str]:
    """Return the title and the text alternative of `judge`."""
    passed = counted_share(share, right, right)
    title = f"{share:.0%} of the answers are good, the judge passes {passed:.1%}"
    return title, (
        f"{title}. The judge grades {right:.0%} of the good and of the bad answers correctly. It "
        f"passes {1 - right:.0%} if no answer is good and {right:.0%} if all are good. Subtract "
        f"{1 - right:.0%} from {passed:.1%} and divide by {2 * right - 1:.2f}: this gives "
        f"{share:.0%}."
    )


def judge(share: float, right: float) -> alt.TopLevelMixin:
    """Return the proportion that a judge passes, and the corrected one, by true proportion.

    Parameters
    ----------
    share : float
        Proportion of good answers.
    right : float
        Proportion of correct grades, the same for good and bad answers; above .5.
    """
    data = judge_data(share, right)
    color = theme.color("who", {"the judge alone": RAW, "corrected": CORRECTED})
    x = alt.X("share:Q", title="proportion of good answers", axis=PERCENT, scale=theme.span(0, 1))
    y = alt.Y("value:Q", title="reported proportion", axis=PERCENT, scale=theme.span(0, 1))
    lines = theme.chart(data, "lines").mark_line().encode(x=x, y=y, color=color)
    now = theme.chart(data, "now").mark_point(filled=True, size=110).encode(x=x, y=y, color=color)
    return theme.finish(lines + now, *judge_words(share, right))


def months_data(study: PrevalenceStudy, methods: Sequence[str], predicted: str = "") -> dict:
    """Return the rows of `months`: errors with one standard deviation, and typical errors."""
    title = names()
    answers = [
        {
            "estimator": title[m],
            "name": title[m] + YOURS * (m == predicted),
            "bias": study.bias[m],
            "low": study.bias[m] - study.sd[m],
            "high": study.bias[m] + study.sd[m],
            "rmse": study.rmse[m],
            "now": study.new_base_rate,
            "text": f"{100 * study.rmse[m]:.2f}",
        }
        for m in methods
    ]
    errors = _errors(study, GRID)
    return {
        "answers": answers,
        "curves": [
            {"share": float(a), "rmse": float(e), "estimator": title[m]}
            for m in methods
            for a, e in zip(GRID, errors[m], strict=True)
        ],
        "truth": [{"share": study.new_base_rate}],
    }


def _errors(study: PrevalenceStudy, new_base_rates: np.ndarray) -> dict:
    """Return the theoretical RMSE per method, (A,) each, without an unknown bias of order 1/n."""
    bias, variance, _ = _moments(study, new_base_rates)
    return {m: np.sqrt(variance[m] + np.nan_to_num(bias[m]) ** 2) for m in bias}


def _moments(study: PrevalenceStudy, new_base_rates: list | np.ndarray) -> tuple:
    return moments(
        study.base_rate,
        np.asarray(new_base_rates),
        study.p00,
        study.p11,
        study.n,
        study.size,
        study.new_size,
        study.rates,
    )


def reported_change(study: PrevalenceStudy, method: str) -> float:
    """Return the part of the true change that a method reports on average."""
    bias = np.nan_to_num(_moments(study, [study.base_rate, study.new_base_rate])[0][method])
    return 1 + float(np.diff(bias)[0]) / (study.new_base_rate - study.base_rate)


def months_words(
    study: PrevalenceStudy, methods: Sequence[str], predicted: str = ""
) -> tuple[str, str]:
    """Return the title and the text alternative of `months`."""
    order = sorted(methods, key=study.rmse.get)
    titles = names()
    shift = study.new_base_rate - study.base_rate
    if abs(shift) < 0.0005:
        errors = ", ".join(f"{titles[m]} {100 * study.rmse[m]:.2f}" for m in order)
        title = f"No change. Typical errors in points: {errors}"
    else:
        reported = ", ".join(f"{titles[m]} {reported_change(study, m):.0%}" for m in methods)
        kind = "rise" if shift > 0 else "fall"
        title = f"Reported part of a {kind} by {100 * abs(shift):.1f} points: {reported}"
    answers = "; ".join(
        f"{titles[m]} {study.new_base_rate + study.bias[m]:.2%}, standard deviation "
        f"{100 * study.sd[m]:.2f} points, typical error {100 * study.rmse[m]:.2f} points"
        for m in methods
    )
    audited = named(checks.counted(study.n, "form was", "forms were"))
    return (
        title,
        f"The true proportion was {study.base_rate:.2%} when {audited} audited. Now it is "
        f"{study.new_base_rate:.2%}. Average answers in {study.runs:,} simulated audits: "
        f"{answers}. "
        f"Smallest typical error: {titles[order[0]]}.{_where_calibration_wins(study, methods)}",
    )


def _where_calibration_wins(study: PrevalenceStudy, methods: tuple) -> str:
    if not {"calibration", "mixed"} <= set(methods):
        return ""
    shares = np.linspace(*RANGE, 20_001)
    errors = _errors(study, shares)
    better = shares[errors["calibration"] < errors["mixed"]]
    text = " In theory, the typical error of mixed is smaller than that of calibration"
    if not better.size:
        return f"{text} everywhere."
    return f"{text} unless the true proportion is between {better[0]:.1%} and {better[-1]:.1%}."


def months(
    study: PrevalenceStudy, methods: Sequence[str], predicted: str = ""
) -> alt.TopLevelMixin:
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
    data = months_data(study, methods, predicted)
    order = list(colors())
    color = theme.color("estimator", colors(), legend=None)
    labels = alt.Y(
        "name:N",
        sort=[name + mark for name in order for mark in ("", YOURS)],
        title=None,
        axis=alt.Axis(labelLimit=160, minExtent=NAMED),
    )
    answers = theme.chart(data, "answers")
    low, high = (f"{abs(100 * end):g}" for end in ERRORS)
    along = alt.X(
        "low:Q",
        title=f"answer minus truth (points), ± one standard deviation; cut at −{low} and +{high}",
        axis=POINTS,
        scale=theme.span(*ERRORS),
    )
    zero = (
        theme.Chart(theme.rows("zero", [{"bias": 0}])).mark_rule(style="truth").encode(x="bias:Q")
    )
    bands = answers.mark_rule(strokeWidth=4, clip=True).encode(
        x=along, x2="high:Q", y=labels, color=color
    )
    dots = answers.mark_circle(size=90, clip=True).encode(x="bias:Q", y=labels, color=color)
    texts = answers.mark_text(align="left", dx=8, fontWeight="bold").encode(
        x=alt.value("width"), y=labels, text="text:N"
    )
    head = (
        theme.Chart(theme.rows("head", [{"text": ["typical", "error"]}]))
        .mark_text(align="left", dx=8, dy=-26, lineHeight=16, style="note", x="width", y=0)
        .encode(text="text:N")
    )
    above = (zero + bands + dots + texts + head).properties(width=460, height=alt.Step(28))
    across = alt.X(
        "share:Q",
        title="new true proportion (lines: theory; dots: simulation)",
        axis=PERCENT,
        scale=WITHIN,
    )
    curves = (
        theme.chart(data, "curves")
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=across,
            color=theme.color("estimator", colors(), legend=LEGEND),
            strokeDash=theme.dash("estimator", order, list(dashes().values()), legend=LEGEND),
            y=alt.Y(
                "rmse:Q",
                title="typical error (points, log scale)",
                axis=alt.Axis(
                    values=[m * t for t in (0.001, 0.01, 0.1) for m in (1, 2, 5)], labelExpr=POINT
                ),
                scale=theme.span(*TYPICAL, type="log"),
            ),
        )
    )
    now = answers.mark_circle(size=70, clip=True).encode(
        x=alt.X("now:Q", scale=WITHIN), y="rmse:Q", color=color
    )
    truth = theme.chart(data, "truth").mark_rule(style="truth").encode(x=across)
    below = (truth + curves + now).properties(width=460, height=190)
    both = alt.vconcat(above, below).resolve_scale(color="independent", strokeDash="independent")
    return theme.finish(both, *months_words(study, methods))


def change_data(
    series: PrevalenceSeries,
    first: int,
    last: int,
    true_shares: np.ndarray,
    predicted: float | None = None,
) -> dict:
    """Return the rows of `change`: all months, two months, their change with its intervals."""
    estimate = series.change(first, last)
    truth = dict(zip(series.periods, np.asarray(true_shares).tolist(), strict=True))
    levels = [
        {
            "month": row["period"],
            "truth": truth[row["period"]],
            **{name: row[name] for name in ("estimate", "low", "high")},
        }
        for row in series.levels()
    ]
    half = intervals.quantile(0.95) * estimate.naive_standard_error
    middle = estimate.estimate
    limits = {INDEPENDENT: (middle - half, middle + half), SHARED: estimate.limits}
    if predicted is not None:
        limits[PREDICTED] = (middle - predicted, middle + predicted)
    differences = [
        {"band": band, "estimate": middle, "low": low, "high": high}
        for band, (low, high) in limits.items()
    ]
    return {
        "levels": levels,
        "chosen": [row for row in levels if row["month"] in (first, last)],
        "differences": differences,
        "true change": [{"change": truth[last] - truth[first]}],
    }


def change_words(
    series: PrevalenceSeries,
    first: int,
    last: int,
    true_shares: np.ndarray,
    predicted: float | None = None,
    *,
    rename: Callable[[str], str] = str,
) -> tuple[str, str]:
    """Return the title and the text alternative of `change`; `rename` replaces months and forms."""
    estimate = series.change(first, last)
    truth = dict(zip(series.periods, np.asarray(true_shares).tolist(), strict=True))
    low, high = (100 * np.array(estimate.limits)).tolist()
    ends = ", ".join(
        f"{row['estimate']:.2%} ({row['low']:.2%} to {row['high']:.2%}) in month {row['period']}"
        for row in series.levels()
        if row["period"] in (first, last)
    )
    forms = checks.counted(series.audit.n, "form")
    error = f"{100 * estimate.standard_error:.2f}"
    independent = f"{100 * estimate.naive_standard_error:.2f}"
    yours = ""
    if predicted is not None:
        yours = f" You predicted {100 * predicted:.1f} points to either side."
    title = (
        f"Month {first} to {last}: {points(estimate.estimate)}, standard error {error}; "
        f"with independent errors {independent}"
    )
    alternative = (
        f"Proportions by {series.method} from one audit of {forms}, with 95% intervals: {ends}. "
        f"Estimated change {points(estimate.estimate)}, 95% interval {low:+.2f} to {high:+.2f}; "
        f"the true change is {points(truth[last] - truth[first])}. If the errors of the two months "
        f"were independent, the standard error of the change would be {independent} points instead "
        f"of {error} points.{yours}"
    )
    return rename(title), rename(alternative)


def change(
    series: PrevalenceSeries,
    first: int,
    last: int,
    true_shares: np.ndarray,
    predicted: float | None = None,
    *,
    rename: Callable[[str], str] = str,
) -> alt.TopLevelMixin:
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
    data = change_data(series, first, last, true_shares, predicted)
    levels = theme.chart(data, "levels")
    months = alt.X(
        "month:Q",
        title=rename("month (dashed: truth)"),
        scale=alt.Scale(nice=False, padding=8),
        axis=alt.Axis(values=list(series.periods), grid=False, format="d"),
    )
    up = alt.Y(
        "estimate:Q",
        title=rename("proportion with panels, 95% intervals"),
        axis=PERCENT,
        scale=theme.span(*LEVELS),
    )
    bands = levels.mark_area(opacity=0.22, color=CORRECTED).encode(
        x=months, y=alt.Y("low:Q", scale=theme.span(*LEVELS)), y2="high:Q"
    )
    line = levels.mark_line(color=CORRECTED, strokeWidth=2).encode(x=months, y=up)
    truth = levels.mark_line(style="truth").encode(x=months, y="truth:Q")
    chosen = theme.chart(data, "chosen").encode(x=months)
    bars = chosen.mark_rule(strokeWidth=4, color=RAW).encode(y="low:Q", y2="high:Q")
    dots = chosen.mark_circle(size=110, color=CORRECTED).encode(y="estimate:Q")
    left = (bands + truth + line + bars + dots).properties(width=330, height=250)
    differences = theme.chart(data, "differences").encode(
        x=alt.X(
            "band:N",
            title="dashed: true change",
            sort=list(BANDS),
            axis=alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')"),
        ),
        color=theme.color("band", BANDS, legend=None),
    )
    change = alt.Y(
        "low:Q", title="change (points), 95% interval", axis=POINTS, scale=theme.span(*DIFFERENCES)
    )
    limits = differences.mark_rule(strokeWidth=5).encode(y=change, y2="high:Q")
    ticks = differences.mark_tick(orient="horizontal", width=26, thickness=3).encode(y="estimate:Q")
    true = theme.chart(data, "true change").mark_rule(style="truth").encode(y="change:Q")
    zero = (
        theme.Chart(theme.rows("zero", [{"change": 0}]))
        .mark_rule(strokeWidth=1)
        .encode(y="change:Q")
    )
    right = (zero + true + limits + ticks).properties(
        width=110 * len(data["differences"]), height=250
    )
    return theme.finish(
        alt.hconcat(left, right),
        *change_words(series, first, last, true_shares, predicted, rename=rename),
    )


def answer_slopes(theory: EstimatorTheory, constant: str) -> dict[str, float]:
    """Return the part of a true change that each estimator reports if `constant` stays constant."""
    kept = theory.retained_change
    return (
        {"mixed": 1.0, "calibration": kept}
        if constant == READING
        else {"mixed": 1 / kept, "calibration": 1.0}
    )


def held_constant_data(theory: EstimatorTheory, constant: str) -> dict:
    """Return the rows of `held_constant`: lines of both answers and the truth, both answers now."""
    slopes = answer_slopes(theory, constant)
    lines: list[dict[str, Any]] = [
        {
            "share": a,
            "answer": theory.base_rate + slope * (a - theory.base_rate),
            "estimator": method,
        }
        for method, slope in slopes.items()
        for a in (*RANGE, theory.new_base_rate)
    ]
    now = [row | {"text": f"{row['estimator']} {row['answer']:.1%}"} for row in lines[2::3]]
    high = max(now, key=lambda row: row["answer"])
    for row in now:
        row |= (
            {"side": "above", "slope": max(slopes.values())}
            if row is high
            else {"side": "below", "slope": slopes[row["estimator"]]}
        )
    return {
        "answers": [*lines[:2], *lines[3:5]],
        "now": now,
        "truth": [{"share": a, "answer": a} for a in RANGE],
    }


def held_constant_words(theory: EstimatorTheory, constant: str) -> tuple[str, str]:
    """Return the title and the text alternative of `held_constant`."""
    slopes = answer_slopes(theory, constant)
    answers = {
        m: theory.base_rate + slope * (theory.new_base_rate - theory.base_rate)
        for m, slope in slopes.items()
    }
    wrong = next(m for m in HOLDS.values() if m != HOLDS[constant])
    law = f"{'' if wrong == 'calibration' else '1 / '}MCC² = {short(slopes[wrong], 2)}"
    return (
        f"If {constant} is constant, {wrong} reports {slopes[wrong]:.0%} of a change ({law}): "
        f"{answers[wrong]:.1%} for a true {theory.new_base_rate:.1%}",
        f"The true proportion moves from {theory.base_rate:.2%} to {theory.new_base_rate:.2%} "
        "while "
        f"{constant} stays constant. Mixed assumes that {READING} is constant and answers "
        f"{answers['mixed']:.2%}. Calibration assumes that {TRUTH} is constant and answers "
        f"{answers['calibration']:.2%}. Mixed reports {slopes['mixed']:.0%} of the change, "
        f"calibration {slopes['calibration']:.0%}. The squared Matthews correlation is "
        f"{theory.retained_change:.4f}.",
    )


def held_constant(theory: EstimatorTheory, constant: str) -> alt.TopLevelMixin:
    """Return the answers of two estimators by new true proportion if one rate is constant.

    Parameters
    ----------
    theory : workbench.EstimatorTheory
        Theory of the estimators for one program.
    constant : {"P(read | true)", "P(true | read)"}
        The rate that stays constant.
    """
    data = held_constant_data(theory, constant)
    color = theme.color("estimator", {m: colors()[m] for m in HOLDS.values()}, legend=None)
    across = alt.X(
        "share:Q", title="new true proportion (dashed: truth)", axis=PERCENT, scale=WITHIN
    )
    up = alt.Y("answer:Q", title="average answer", axis=PERCENT, scale=theme.span(*ANSWERS))
    lines = (
        theme.chart(data, "answers")
        .mark_line(strokeWidth=3)
        .encode(
            x=across,
            y=up,
            color=color,
            strokeDash=theme.dash(
                "estimator",
                HOLDS.values(),
                [dashes()[name] for name in HOLDS.values()],
                legend=None,
            ),
        )
    )
    truth = theme.chart(data, "truth").mark_line(style="truth").encode(x=across, y=up)
    now = theme.chart(data, "now").encode(x=across, y=up)
    dots = now.mark_circle(size=110).encode(color=color)
    # The upper text is to the left of its dot, the lower text to the right. Near the ends there is
    # no room: there the texts change sides and move up or down as far as the lines rise.
    units = (RANGE[1] - RANGE[0]) / (ANSWERS[1] - ANSWERS[0])
    rise = f"datum.slope * {LETTERS} * height / width * {units}"
    texts = [
        now.mark_text(
            align=alt.expr(f"{left} ? 'right' : 'left'"),
            dx=alt.expr(f"{left} ? -8 : 8"),
            dy=alt.expr(f"{turned} ? {way} * (12 + {rise}) : {way} * 17"),
            fontWeight="bold",
        )
        .encode(text="text:N")
        .transform_filter(alt.datum.side == side)
        for side, left, turned, way in (
            ("above", "datum.share > 0.1", "datum.share <= 0.1", -1),
            ("below", "datum.share > 0.3", "datum.share > 0.3", 1),
        )
    ]
    return theme.finish(
        lines + truth + dots + texts[0] + texts[1], *held_constant_words(theory, constant)
    )
