"""Scenes of the lesson: the mosaic of rates, months of counting, a change, what is held constant."""

from collections.abc import Sequence
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
# axes stay while sliders move: wide enough for all that the lesson's sliders reach, or cut, which is said
BIAS, ERRORS, TYPICAL = (-0.3, 0.3), (-0.16, 0.08), (0.002, 0.5)
LEVELS, DIFFERENCES, ANSWERS = (0.05, 0.21), (-0.07, 0.11), (-0.05, 0.65)
# only of the estimators that are drawn: names of others would take a phone's whole screen
LEGEND = alt.Legend(
    symbolType="stroke",
    symbolSize=300,
    columns=2,
    values=alt.expr("pluck(data('answers'), 'estimator')"),
)
YOURS = " (you)"
NAMED = 115  # pixels for the longest name: the picture keeps its place when it is shown
BANDS = {"level bands": RAW, "its own": CORRECTED, "your guess": theme.OKABE_ITO["green"]}
LETTERS = 125  # pixels of the longest text beside a dot
PERCENT = theme.percents()
POINT = "format(100 * datum.value, '~g')"
POINTS = alt.Axis(labelExpr=POINT, tickCount=5)


def mosaic_data(base_rate: float, p00: float, p11: float) -> dict:
    """Return the rows of `mosaic`: the four areas, the bias over all true shares, an arrow from true to counted."""
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
    """Return title and text alternative of `mosaic`."""
    counted = counted_share(base_rate, p00, p11)
    bias = counted - base_rate
    where = (
        "a reader without errors"
        if unbiased_share(p00, p11) is None
        else "misses and false alarms just cancel"
        if abs(bias) < 5e-5
        else f"{100 * abs(bias):.2f} points too {'many' if bias > 0 else 'few'}"
    )
    said = f"Counted {counted:.2%}, true {base_rate:.2%}: {where}"
    return (
        said,
        named(
            f"Of {base_rate:.2%} with panels {base_rate * p11:.2%} are counted and {base_rate * (1 - p11):.2%} "
        )
        + f"missed; of {1 - base_rate:.2%} others {(1 - base_rate) * (1 - p00):.2%} are counted by mistake. {said}.",
    )


def mosaic(base_rate: float, p00: float, p11: float) -> alt.TopLevelMixin:
    """Return true by predicted class as areas, and how far the counted share is off over all true shares.

    Parameters
    ----------
    base_rate : float
        True share of panels, in [0, 1].
    p00, p11 : float
        P(read as others | others) and P(read as panels | panels).
    """
    data = mosaic_data(base_rate, p00, p11)
    cells = theme.chart(data, "cells")
    unit = theme.span(0, 1)
    areas = cells.mark_rect(stroke="#ffffff", strokeWidth=1).encode(
        x=alt.X(
            "left:Q",
            title=named("share of all forms: panels, then others"),
            axis=PERCENT,
            scale=unit,
        ),
        x2="right:Q",
        y=alt.Y("low:Q", title="share of these that is read so", axis=PERCENT, scale=unit),
        y2="high:Q",
        color=theme.color(
            "area",
            {named(area): color for area, color in CELLS.items()},
            legend=alt.Legend(columns=2),
        ),
    )
    names = cells.mark_text().encode(x="x:Q", y="y:Q", text="text:N", color=theme.ink())
    up = alt.Y(
        "bias:Q", title="counted minus true share (points)", axis=POINTS, scale=theme.span(*BIAS)
    )
    across = alt.X("share:Q", title=named("true share of panels"), axis=PERCENT, scale=unit)
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
    """Return the rows of `judge`: what a judge says and what is left after the correction, over all true shares."""
    said = [
        {"share": a, "value": counted_share(a, right, right), "who": "the judge alone"}
        for a in (0.0, 1.0)
    ]
    return {
        "lines": said + [{"share": a, "value": a, "who": "corrected"} for a in (0.0, 1.0)],
        "now": [
            {"share": share, "value": counted_share(share, right, right), "who": "the judge alone"},
            {"share": share, "value": share, "who": "corrected"},
        ],
    }


def judge_words(share: float, right: float) -> tuple[str, str]:
    """Return title and text alternative of `judge`."""
    said = counted_share(share, right, right)
    title = f"{share:.0%} are good, the judge passes {said:.1%}"
    return title, (
        f"{title}. A judge that is right in {right:.0%} of the good and of the bad answers passes "
        f"{1 - right:.0%} where none is good and {right:.0%} where all are. Less {1 - right:.0%}, then "
        f"divided by {2 * right - 1:.2f}, {said:.1%} becomes {share:.0%}."
    )


def judge(share: float, right: float) -> alt.TopLevelMixin:
    """Return what a judge says of answers against how many are good, before and after its errors are corrected.

    Parameters
    ----------
    share : float
        Of the answers that are good.
    right : float
        How often the judge is right about a good answer, and about a bad one; above .5.
    """
    data = judge_data(share, right)
    color = theme.color("who", {"the judge alone": RAW, "corrected": CORRECTED})
    x = alt.X("share:Q", title="good answers", axis=PERCENT, scale=theme.span(0, 1))
    y = alt.Y("value:Q", title="what is reported", axis=PERCENT, scale=theme.span(0, 1))
    lines = theme.chart(data, "lines").mark_line().encode(x=x, y=y, color=color)
    now = theme.chart(data, "now").mark_point(filled=True, size=110).encode(x=x, y=y, color=color)
    return theme.finish(lines + now, *judge_words(share, right))


def months_data(study: PrevalenceStudy, methods: Sequence[str], predicted: str = "") -> dict:
    """Return the rows of `months`: errors with one standard deviation, typical errors, these over all shares."""
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
    """Return the RMSE per method by theory, (A,) each; a bias of order 1/n that is not known left out."""
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
    """Return which share of the true change a method is expected to report."""
    bias = np.nan_to_num(_moments(study, [study.base_rate, study.new_base_rate])[0][method])
    return 1 + float(np.diff(bias)[0]) / (study.new_base_rate - study.base_rate)


def months_words(
    study: PrevalenceStudy, methods: Sequence[str], predicted: str = ""
) -> tuple[str, str]:
    """Return title and text alternative of `months`."""
    order, called = sorted(methods, key=study.rmse.get), names()
    shift = study.new_base_rate - study.base_rate
    if abs(shift) < 0.0005:
        title = f"No shift; typical errors: {', '.join(f'{called[m]} {100 * study.rmse[m]:.2f}' for m in order)} points"
    else:
        reported = ", ".join(f"{called[m]} {reported_change(study, m):.0%}" for m in methods)
        title = f"Of a {'rise' if shift > 0 else 'fall'} by {100 * abs(shift):.1f} points they report: {reported}"
    said = "; ".join(
        f"{called[m]} {study.new_base_rate + study.bias[m]:.2%}, give or take {100 * study.sd[m]:.2f} "
        f"points, typical error {100 * study.rmse[m]:.2f}"
        for m in methods
    )
    audited = named(checks.counted(study.n, "form was", "forms were"))
    return (
        title,
        f"True share {study.base_rate:.2%} when {audited} audited, now {study.new_base_rate:.2%}. "
        f"Average answers in {study.runs:,} simulated audits: {said}. Least typical error: "
        f"{called[order[0]]}.{_where_calibration_wins(study, methods)}",
    )


def _where_calibration_wins(study: PrevalenceStudy, methods: tuple) -> str:
    if not {"calibration", "mixed"} <= set(methods):
        return ""
    shares = np.linspace(*RANGE, 20_001)
    errors = _errors(study, shares)
    wins = shares[errors["calibration"] < errors["mixed"]]
    if not wins.size:
        return " By theory mixed beats calibration everywhere."
    return f" By theory mixed beats calibration wherever the share is not between {wins[0]:.1%} and {wins[-1]:.1%}."


def months(
    study: PrevalenceStudy, methods: Sequence[str], predicted: str = ""
) -> alt.TopLevelMixin:
    """Return how far estimators are off in a later month, and their typical errors over all true shares.

    Parameters
    ----------
    study : workbench.PrevalenceStudy
    methods : sequence of str
        The estimators shown, at least one.
    predicted : str
        The one that a learner chose, which is marked.
    """
    data = months_data(study, methods, predicted)
    order = list(colors())
    color = theme.color("estimator", colors(), legend=None)
    labels = alt.Y(
        "name:N",
        sort=[name + said for name in order for said in ("", YOURS)],
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
        title="new true share (lines: theory; dots: simulated)",
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
    """Return the rows of `change`: levels with bands, the two months, the difference with two or three bands."""
    found = series.change(first, last)
    truth = dict(zip(series.periods, np.asarray(true_shares).tolist(), strict=True))
    levels = [
        {
            "month": row["period"],
            "truth": truth[row["period"]],
            **{name: row[name] for name in ("estimate", "low", "high")},
        }
        for row in series.levels()
    ]
    half = intervals.quantile(0.95) * found.naive_standard_error
    limits = [
        (found.estimate - reach, found.estimate + reach)
        for reach in (half, predicted)
        if reach is not None
    ]
    differences = [
        {"band": band, "estimate": found.estimate, "low": low, "high": high}
        for band, (low, high) in zip(BANDS, [limits[0], found.limits, *limits[1:]], strict=False)
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
) -> tuple[str, str]:
    """Return title and text alternative of `change`."""
    found = series.change(first, last)
    truth = dict(zip(series.periods, np.asarray(true_shares).tolist(), strict=True))
    low, high = (100 * np.array(found.limits)).tolist()
    ends = ", ".join(
        f"{row['estimate']:.2%} ({row['low']:.2%} to {row['high']:.2%}) in month {row['period']}"
        for row in series.levels()
        if row["period"] in (first, last)
    )
    forms = checks.counted(series.audit.n, "form")
    error, naive = (
        f"{100 * each:.2f}" for each in (found.standard_error, found.naive_standard_error)
    )
    yours = "" if predicted is None else f" You predicted {100 * predicted:.1f} points either way."
    return (
        f"Month {first} to {last}: {points(found.estimate)}, standard error {error}; level bands suggest {naive}",
        f"Levels by {series.method} from one audit of {forms}, 95% bands: {ends}. Change "
        f"{points(found.estimate)}, its own 95% interval {low:+.2f} to {high:+.2f}; the true change is "
        f"{points(truth[last] - truth[first])}. If the errors of the levels were independent, the standard error "
        f"of the change would be {naive} and not {error} points.{yours}",
    )


def change(
    series: PrevalenceSeries,
    first: int,
    last: int,
    true_shares: np.ndarray,
    predicted: float | None = None,
) -> alt.TopLevelMixin:
    """Return levels with their bands, and the difference of two of them with the bands it does and does not have.

    Parameters
    ----------
    series : workbench.PrevalenceSeries
        Of two classes; periods are numbers.
    first, last : int
        Two of its periods.
    true_shares : (T,) array of float
    predicted : float, optional
        How far the interval of the change reaches either way, as a learner predicted.
    """
    data = change_data(series, first, last, true_shares, predicted)
    levels = theme.chart(data, "levels")
    months = alt.X(
        "month:Q",
        title="month (dashed: truth)",
        scale=alt.Scale(nice=False, padding=8),
        axis=alt.Axis(values=list(series.periods), grid=False, format="d"),
    )
    up = alt.Y(
        "estimate:Q", title="share with panels, 95% bands", axis=PERCENT, scale=theme.span(*LEVELS)
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
            title="dashed: the true change",
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
        alt.hconcat(left, right), *change_words(series, first, last, true_shares, predicted)
    )


def answer_slopes(theory: EstimatorTheory, constant: str) -> dict[str, float]:
    """Return which share of a true change each estimator reports if `constant` is what really stays, per estimator."""
    kept = theory.retained_change
    return (
        {"mixed": 1.0, "calibration": kept}
        if constant == READING
        else {"mixed": 1 / kept, "calibration": 1.0}
    )


def held_constant_data(theory: EstimatorTheory, constant: str) -> dict:
    """Return the rows of `held_constant`: both answers over the new share, the truth, both answers now."""
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
    """Return title and text alternative of `held_constant`."""
    slopes = answer_slopes(theory, constant)
    answers = {
        m: theory.base_rate + slope * (theory.new_base_rate - theory.base_rate)
        for m, slope in slopes.items()
    }
    wrong = next(m for m in HOLDS.values() if m != HOLDS[constant])
    law = f"{'' if wrong == 'calibration' else '1 / '}MCC² = {short(slopes[wrong], 2)}"
    return (
        f"If {constant} is constant, {wrong} reports {slopes[wrong]:.0%} of a change ({law}): "
        f"{answers[wrong]:.1%} at a true {theory.new_base_rate:.1%}",
        f"The true share moves from {theory.base_rate:.2%} to {theory.new_base_rate:.2%} while {constant} stays. "
        f"Mixed, which holds {READING} constant, answers {answers['mixed']:.2%}; calibration, which holds {TRUTH} "
        f"constant, answers {answers['calibration']:.2%}. Reported of the change: mixed {slopes['mixed']:.0%}, "
        f"calibration {slopes['calibration']:.0%}. Squared Matthews correlation {theory.retained_change:.4f}.",
    )


def held_constant(theory: EstimatorTheory, constant: str) -> alt.TopLevelMixin:
    """Return what two estimators answer over the new true share if one of two rates is constant.

    Parameters
    ----------
    theory : workbench.EstimatorTheory
    constant : {"P(read | true)", "P(true | read)"}
        What really is.
    """
    data = held_constant_data(theory, constant)
    color = theme.color("estimator", {m: colors()[m] for m in HOLDS.values()}, legend=None)
    across = alt.X(
        "share:Q", title="new true share (dashed: the truth)", axis=PERCENT, scale=WITHIN
    )
    up = alt.Y("answer:Q", title="expected answer", axis=PERCENT, scale=theme.span(*ANSWERS))
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
    # beside the dot where there is room: the upper text on its left, the lower on its right, turned near the ends,
    # where it stands as much higher or lower as the lines rise along it
    rise = f"datum.slope * {LETTERS} * height / width * {(RANGE[1] - RANGE[0]) / (ANSWERS[1] - ANSWERS[0])}"
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
