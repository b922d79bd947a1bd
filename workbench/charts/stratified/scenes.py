"""Charts of the lesson on stratified accuracy, where the truth is known.

There are three functions for each chart: `..._data` returns its rows, `..._words` its title and
text alternative, and the function without a suffix builds the altair chart from both. The axes do
not change with the controls.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.course.lesson_data import named
from workbench.results import percent, sentences
from workbench.simulations.stratified import DesignStudy, LabelingStudy, LookingStudy
from workbench.stratified.accuracy import PlanCurve

SHOWN_RUNS = 50
TOP_RATIO = 3.0  # longest bar: standard error relative to random sampling
STRIP = (-0.85, -0.55)  # position of the labels below the items
PREDICTED = "you predicted"
NOMINAL = "nominal error rate"
STEP = 0.01  # proportion of all items or labels that an arrow key moves
CLOSE = 0.3  # powers of ten below which the line of the ceiling would cross a number
DESIGNS = {"simple_random": "random", "proportional": "proportional", "neyman": "Neyman"}
DESIGN_COLORS = {"random": theme.RANDOM, "proportional": theme.STRATIFIED, "Neyman": theme.LABELED}
METHODS_OF_LOOKING = {
    "fixed": "95% interval for a fixed number of labels",
    "looks": "Default interval at 99.5%",
    "anytime": "Anytime interval",
}


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
    total = np.concatenate([[0], ordered.cumsum()])
    return [
        {
            "start": a / ordered.size,
            "end": b / ordered.size,
            name: float(total[b] - total[a]) / (b - a),
        }
        for a, b in itertools.pairwise(edges.tolist())
    ]


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


def confidence(score: np.ndarray) -> alt.TopLevelMixin:
    """Return the stated confidence of a classifier, from the least sure item to the surest.

    Parameters
    ----------
    score : (N,) array of float
        Probability of being correct that the classifier states for each item.
    """
    rows = by_rank(score, score, "sure")
    sure = (
        theme.Chart(theme.rows("sure", rows))
        .mark_rect(color=theme.STRATIFIED, opacity=0.6)
        .encode(
            x=_rank(named("forms, from the least sure to the surest")),
            x2="end:Q",
            y2=alt.datum(0),
            y=alt.Y(
                "sure:Q",
                title="stated confidence",
                axis=theme.percents(tickCount=5),
                scale=alt.Scale(domain=[0, 1]),
            ),
        )
    )
    mean = theme.Chart(theme.rows("mean", [{"mean": float(np.mean(score))}])).encode(y="mean:Q")
    text = mean.mark_text(align="left", x=6, dy=-9, fontWeight="bold").encode(
        text=alt.Text("mean:Q", format=".1%")
    )
    claim = f"the program says it is {np.mean(score):.1%} sure"
    return theme.finish(
        sure + mean.mark_rule(style="truth") + text,
        f"On average {claim}. How often is it correct?",
        named(f"On average over {np.size(score):,} forms")
        + f", {claim}. It says {rows[0]['sure']:.0%} for the "
        f"{round(rows[0]['end'] * np.size(score))} of which it is least sure. Sorted from the "
        "least sure to the surest, it says "
        f"{rows[len(rows) // 10]['sure']:.0%} after the first tenth and "
        f"{rows[len(rows) // 2]['sure']:.0%} in the middle.",
        height=190,
    )


def _rank(title: str) -> Any:
    return alt.X("start:Q", scale=theme.span(0, 1), axis=theme.percents(title=title))


def design_data(
    study: DesignStudy, wrong: Sequence[dict], *, predicted: float | None = None
) -> dict:
    """Return the rows of `design`: cells, labels, a table of strata, standard errors.

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
    cells = [
        {
            "start": float(a),
            "end": float(b),
            "even": int(k) % 2,
            "middle": float(a + b) / 2,
            "name": str(k + 1) if b - a > 0.03 else "",
        }
        for a, b, k in zip(study.start, study.end, study.cell_stratum, strict=True)
    ]
    shares = [
        {"start": float(b - n / budget), "end": float(b), "even": k % 2}
        for k, (b, n) in enumerate(zip(upper, study.labeled, strict=True))
    ]
    return {
        "cells": cells,
        "wrong": list(wrong),
        "shares": shares,
        **_cuts(study, upper, budget),
        "strata": [
            {"stratum": k + 1, "what": what, "text": text}
            for k in range(study.labeled.size)
            for what, text in (
                ("items", f"{study.stratum_size[k]:,}"),
                ("labels", str(study.labeled[k])),
                ("correct", f"{study.accuracy[k]:.0%}"),
            )
        ],
        **_errors(study, predicted),
    }


def _cuts(study: DesignStudy, upper: np.ndarray, budget: int) -> dict:
    """Return the cuts of items and labels that a reader can drag, and the lines between them."""
    if study.cell_stratum.size != study.labeled.size:  # interleaved strata have no cut
        return {"cuts": [], "splits": [], "joins": []}
    between = list(enumerate(zip(study.end[:-1].tolist(), upper[:-1].tolist(), strict=True), 1))
    return {
        "cuts": [
            {
                "at": a,
                "step": STEP,
                "label": f"Cut between stratum {k} and {k + 1}, at {a:.0%} of the items",
                "drag": f"cut {k}",
            }
            for k, (a, _) in between
        ],
        "splits": [
            {
                "at": b,
                "step": max(1, round(STEP * budget)) / budget,
                "label": f"Labels of stratum {k} and "
                f"{k + 1}: {study.labeled[k - 1]} and {study.labeled[k]}",
                "drag": f"labels {k}",
            }
            for k, (_, b) in between
        ],
        "joins": [{"at": a, "to": b} for _, (a, b) in between],
    }


def _errors(study: Any, predicted: Any) -> Any:
    named = [
        ("random", study.random_error),
        ("this design", study.standard_error),
        ("best allocation", study.best_error),
    ]
    ratios = [value / study.random_error if study.random_error else 0.0 for _, value in named]
    predictions = (
        []
        if predicted is None
        else [{"design": PREDICTED, "ratio": 1 - predicted, "text": f"{predicted:.0%} less"}]
    )
    line = max(
        (row["ratio"] for row in predictions), default=0.0
    )  # it would cross a number to its left
    errors = [
        {
            "design": name,
            "ratio": min(ratio, TOP_RATIO),
            "beside": max(min(ratio, TOP_RATIO), line),
            "text": f"{value:.4f} ({ratio:.0%})",
        }
        for (name, value), ratio in zip(named, ratios, strict=True)
    ]
    return {"errors": errors, "predicted": predictions}


def design_words(study: DesignStudy, *, predicted: float | None = None) -> tuple[str, str]:
    """Return the title and the text alternative of `design`.

    Parameters
    ----------
    study : workbench.simulations.stratified.DesignStudy
    predicted : float, optional
        As in `design_data`.
    """
    error = study.standard_error / study.random_error if study.random_error else np.nan
    prediction = ""
    if predicted is not None and not np.isnan(error):
        change = "falls" if error <= 1 else "rises"
        prediction = (
            f" You predicted that it falls by {predicted:.0%}; it {change} by {abs(1 - error):.0%}."
        )
    rates = " ".join(f"{a:.3f}" for a in study.accuracy)
    notes = "".join(f" Note: {text}." for text in sentences(study.notes))
    labels = checks.counted(study.labeled.sum(), "label")
    strata = checks.counted(study.labeled.size, "stratum", "strata")
    return (
        f"{labels}, {strata}: {_compared(study, error)}",
        f"Standard error {study.standard_error:.4f} for this design, {study.random_error:.4f} for "
        f"random sampling, {study.best_error:.4f} for the best allocation.{prediction} Strata from "
        f"the lowest to the highest scores: items {_listed(study.stratum_size)}; labels "
        f"{_listed(study.labeled)}; accuracy {rates}.{notes}",
    )


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


def _listed(counts: np.ndarray) -> str:
    return "/".join(f"{n:,}" for n in counts)


def design(
    study: DesignStudy, wrong: Sequence[dict], *, predicted: float | None = None
) -> alt.TopLevelMixin:
    """Return the strata by score rank, their labels, and the relative standard error.

    Parameters
    ----------
    study, wrong, predicted
        As in `design_data`.
    """
    data = design_data(study, wrong, predicted=predicted)
    both = alt.vconcat(
        _strips(data).properties(width=theme.WIDTH, height=230),
        _error_bars(data).properties(width=theme.WIDTH, height=84 if predicted is None else 112),
        _strata_table(data).properties(width=theme.WIDTH * 2 // 3, height=alt.Step(20)),
    )
    both = both.properties(
        autosize=alt.AutoSizeParams(type="pad", resize=True)
    )  # its height follows the strata
    return theme.finish(both, *design_words(study, predicted=predicted))


def _strips(data: dict) -> Any:
    cells, shares = (theme.chart(data, name) for name in ("cells", "shares"))
    fill = alt.Fill(
        "even:Q",
        legend=None,
        scale=alt.Scale(domain=[0, 1], range=[theme.OKABE_ITO["sky"], theme.STRATIFIED]),
    )
    x = _rank("above: items, from low to high score; below: labels")
    y = alt.Y(
        "wrong:Q",
        scale=theme.span(-0.9, 1.1),
        axis=alt.Axis(
            values=[sum(STRIP) / 2, 0, 0.5, 1],
            title=None,
            grid=False,
            labelExpr="datum.value < 0 ? 'labels' : format(datum.value, '.0%') + ' incorrect'",
        ),
    )
    band = cells.mark_rect(opacity=0.35).encode(
        x=x, x2="end:Q", fill=fill, y=alt.datum(0), y2=alt.datum(1)
    )
    strip = shares.mark_rect(opacity=0.35).encode(
        x="start:Q", x2="end:Q", fill=fill, y=alt.datum(STRIP[0]), y2=alt.datum(STRIP[1])
    )
    bars = (
        theme.chart(data, "wrong")
        .mark_rect(style="miss")
        .encode(x="start:Q", x2="end:Q", y=y, y2=alt.datum(0))
    )
    names = cells.mark_text(fontWeight="bold").encode(
        x="middle:Q", y=alt.datum(1.05), text="name:N"
    )
    joins = (
        theme.chart(data, "joins")
        .mark_rule(strokeDash=[2, 3])
        .encode(x="at:Q", x2="to:Q", y=alt.datum(0), y2=alt.datum(STRIP[1]))
    )
    return alt.layer(
        band,
        strip,
        bars,
        names,
        joins,
        *_handles(data, "cuts", 0, 1, 0.94),
        *_handles(data, "splits", *STRIP, sum(STRIP) / 2),
    )


def _handles(data: dict, name: str, low: float, high: float, grip: float) -> tuple:
    places = theme.chart(data, name).encode(x="at:Q")
    return (
        places.mark_rule(strokeWidth=2).encode(y=alt.datum(low), y2=alt.datum(high)),
        places.mark_point(
            filled=True, size=130, shape="diamond", stroke="#ffffff", color=theme.LABELED
        ).encode(y=alt.datum(grip)),
    )


def _strata_table(data: dict) -> Any:
    return (
        theme.chart(data, "strata")
        .mark_text()
        .encode(
            x=alt.X(
                "what:N",
                sort=["items", "labels", "correct"],
                title=None,
                axis=alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False),
            ),
            y=alt.Y("stratum:O", title="stratum", axis=alt.Axis(ticks=False, domain=False)),
            text="text:N",
        )
    )


def _error_bars(data: dict) -> Any:
    named = [row["design"] for row in data["errors"]]
    colors = dict(zip(named, (theme.RANDOM, theme.STRATIFIED, theme.LABELED), strict=True))
    y = alt.Y("design:N", sort=named + [PREDICTED], title=None)
    x = alt.X(
        "ratio:Q",
        title="standard error (random sampling = 100%)",
        scale=theme.span(0, 1.3 * TOP_RATIO),
        axis=theme.percents(values=[0, 0.5, 1, 1.5, 2, 2.5, 3]),
    )
    lengths, predictions = (
        theme.chart(data, name).encode(x=x, y=y) for name in ("errors", "predicted")
    )
    diamond, text = theme.guess(predictions, align="left", dx=12)
    return (
        lengths.mark_bar(height={"band": 0.7}).encode(
            color=theme.color("design", colors, legend=None)
        )
        + lengths.mark_text(align="left", dx=6).encode(x="beside:Q", text="text:N")
        + theme.chart(data, "predicted").mark_rule(style="truth").encode(x=x)
        + diamond
        + text
    )


def robot_data(study: LabelingStudy, *, method: str = "wald") -> dict:
    """Return the rows of `robot`: intervals of 50 runs, claimed and actual standard error."""
    first_runs = (values[:SHOWN_RUNS] for values in (*study.limits(method), study.estimates))
    errors = [
        {"kind": kind, "error": value, "text": f"{value:.4f}"}
        for kind, value in (
            ("claimed", study.claimed_error),
            ("actual", study.standard_error),
            ("random sampling", study.random_error),
        )
    ]
    return {
        "runs": theme.run_rows(*first_runs, study.accuracy),
        "truth": [{"truth": study.accuracy}],
        "errors": errors,
    }


def robot_words(study: LabelingStudy, *, method: str = "wald") -> tuple[str, str]:
    """Return the title and the text alternative of `robot`."""
    coverage, labels = study.coverage(method), checks.counted(study.budget, "label")
    is_of_paper = study.method.startswith("opt")
    name = study.method.replace("_", "-").upper() if is_of_paper else study.method
    return (
        f"{labels}: {coverage:.0%} of {study.runs:,} intervals contain the truth",
        f"{name} with {labels}: 95% {method.capitalize()} intervals contain the true accuracy "
        f"{study.accuracy:.4f} in {coverage:.1%} of {study.runs:,} runs. It claims a variance of "
        f"{study.estimated_variance_ratio:.2f} times that of random sampling; the actual ratio is "
        f"{study.variance_ratio:.2f}. Its estimates are {abs(100 * study.bias):.1f} points too "
        f"{'high' if study.bias > 0 else 'low'} on average.",
    )


def robot(study: LabelingStudy, *, method: str = "wald") -> alt.TopLevelMixin:
    """Return 50 intervals with the truth, and the claimed and the actual standard error.

    Parameters
    ----------
    study : workbench.simulations.stratified.LabelingStudy
        The simulated runs.
    method : str
        Interval method, as in `LabelingStudy.limits`.
    """
    data = robot_data(study, method=method)
    runs = theme.runs(
        data,
        "runs",
        alt.X("run:Q", title="run (the first 50)", scale=theme.span(0, SHOWN_RUNS + 1)),
        alt.Y(
            "low:Q", title="accuracy", axis=theme.percents(), scale=theme.span(0.65, 1, clamp=True)
        ),
        7,
    )
    both = alt.vconcat(
        runs.properties(width=theme.WIDTH, height=210),
        _robot_errors(data).properties(width=theme.WIDTH, height=84),
    )
    both = both.resolve_scale(color="independent", strokeDash="independent")
    return theme.finish(both, *robot_words(study, method=method))


def _robot_errors(data: dict) -> Any:
    order = [row["kind"] for row in data["errors"]]
    lengths = theme.chart(data, "errors").encode(
        y=alt.Y("kind:N", sort=order, title=None),
        x=alt.X(
            "error:Q",
            title="standard error (root mean square error)",
            axis=alt.Axis(tickCount=6),
            scale=theme.span(0, 0.065),
        ),
    )
    kinds = dict(zip(order, (theme.UNLABELED, theme.MISS, theme.RANDOM), strict=True))
    return theme.bars(lengths, "kind", kinds, height={"band": 0.7})


def robots(
    studies: Sequence[LabelingStudy], *, predicted: float | None = None
) -> alt.TopLevelMixin:
    """Return the coverage of 95% Wald intervals by number of labels.

    Parameters
    ----------
    studies : list of workbench.simulations.stratified.LabelingStudy
        Studies of one method, by increasing budget.
    predicted : float, optional
        Prediction of a learner for the last study.
    """
    rows = [
        {"labels": study.budget, "covers": covers, "text": f"{covers:.0%}"}
        for study in studies
        for covers in [study.coverage("wald")]
    ]
    predictions = (
        []
        if predicted is None
        else [{"labels": studies[-1].budget, "covers": predicted, "text": "you predicted"}]
    )
    line = theme.Chart(theme.rows("covers", rows)).encode(
        x=alt.X("labels:Q", title="labels", scale=theme.span(0, 330)),
        y=alt.Y(
            "covers:Q",
            title="coverage of the intervals",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
    )
    guess = theme.Chart(theme.rows("predicted", predictions)).encode(x="labels:Q", y="covers:Q")
    nominal = (
        theme.Chart(theme.rows("nominal", [{"nominal": 0.95}]))
        .mark_rule(style="truth")
        .encode(y="nominal:Q")
    )
    layers = alt.layer(
        nominal,
        line.mark_line(point={"color": theme.MISS}, color=theme.MISS),
        line.mark_text(dy=14).encode(text="text:N"),
        *theme.guess(guess, align="right", dx=-18, dy=14),
    )
    first, last = rows[0], rows[-1]
    listed = ", ".join(f"{row['text']} with {row['labels']}" for row in rows)
    prediction = (
        "" if predicted is None else f" You predicted {predicted:.0%} with {last['labels']}."
    )
    return theme.finish(
        layers,
        f"{first['text']} of the intervals contain the truth with {first['labels']} labels, "
        f"{last['text']} with {last['labels']}",
        f"Proportion of 95% Wald intervals that contain the true "
        f"accuracy: {listed} labels.{prediction} The dashed line marks the nominal 95%.",
        height=200,
    )


def looking_data(study: LookingStudy, predicted: float | None = None) -> dict:
    """Return the rows of `looking`: the proportion that missed the truth, and two lines."""
    predictions = [] if predicted is None else [{"share": predicted, "line": PREDICTED}]
    return {
        "missed": [{"labels": row["labeled"], "missed": row["rate"]} for row in study.rows()],
        "lines": [*predictions, {"share": 1 - study.level, "line": NOMINAL}],
    }


def looking_words(study: LookingStudy, predicted: float | None = None) -> tuple[str, str]:
    """Return the title and the text alternative of `looking`."""
    missed = round(float(study.missed[-1]) * study.runs)
    checks_in_words = [
        f"{share:.1%} up to {n} labels"
        for n, share in zip(study.labeled, study.missed, strict=True)
    ]
    last = len(checks_in_words) - 1
    listed = "; ".join(
        checks_in_words[k] for k in sorted({0, (last + 1) // 4, (last + 1) // 2, last})
    )
    prediction = (
        "" if predicted is None else f" You predicted {predicted * study.runs:.0f} of {study.runs}."
    )
    return (
        f"{missed} of {study.runs} analysts missed the truth; last half-width "
        f"{100 * study.half_width:.1f} points",
        f"{METHODS_OF_LOOKING[study.method]}, {checks.counted(study.labeled.size, 'check')}: "
        f"proportion of {study.runs} analysts whose interval missed the true accuracy "
        f"{study.accuracy:.4f} at least once: {listed}.{prediction} Half-width at the last check "
        f"{100 * study.half_width:.2f} points.",
    )


def looking(study: LookingStudy, predicted: float | None = None) -> alt.TopLevelMixin:
    """Return the proportion of analysts who have missed the truth, by number of labels.

    Parameters
    ----------
    study : workbench.simulations.stratified.LookingStudy
        The simulated analysts.
    predicted : float, optional
        Prediction of a learner for the last check.
    """
    data = looking_data(study, predicted)
    missed = (
        theme.chart(data, "missed")
        .mark_line(interpolate="step-after", point={"color": theme.MISS}, color=theme.MISS)
        .encode(
            x=alt.X("labels:Q", title="labels at the check", scale=theme.span(0, 620)),
            y=alt.Y(
                "missed:Q",
                title="missed the truth so far",
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 0.3]),
            ),
        )
    )
    names = [NOMINAL] if predicted is None else [NOMINAL, PREDICTED]
    key = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=3)
    lines = (
        theme.chart(data, "lines")
        .mark_rule()
        .encode(
            y="share:Q",
            color=theme.color(
                "line", dict(zip(names, (theme.GRAY, theme.RANDOM), strict=False)), legend=key
            ),
            strokeDash=theme.dash("line", names, [[6, 3], [1, 0]]),
            strokeWidth=alt.condition(f"datum.line === '{PREDICTED}'", alt.value(5), alt.value(2)),
        )
    )
    return theme.finish(lines + missed, *looking_words(study, predicted), height=200)


def plan_data(
    curve: PlanCurve, half_width: float, predicted: tuple[float, float] | None = None
) -> dict:
    """Return the rows of `plan`: curves, population size, chosen half-width, prediction."""
    lines = [
        {
            "half_width": row["half_width"],
            "design": DESIGNS[row["design"]],
            "labels": row["labeled"],
        }
        for row in curve.rows()
    ]
    points = [
        {
            "half_width": half_width,
            "design": DESIGNS[m],
            "labels": n,
            "text": f"{n:,}",
            "above": max(n, curve.population)
            if abs(math.log10(n / curve.population)) < CLOSE
            else n,
        }
        for m, n in curve.at(half_width).items()
    ]
    predictions = (
        []
        if predicted is None
        else [{"half_width": predicted[0], "labels": predicted[1], "text": "you predicted"}]
    )
    return {
        "lines": lines,
        "points": points,
        "predicted": predictions,
        "ceiling": [{"items": curve.population, "text": f"all {curve.population:,} items"}],
    }


def plan_words(curve: PlanCurve, half_width: float, predicted: Any = None) -> tuple[str, str]:
    """Return the title and the text alternative of `plan`."""
    need = curve.at(half_width)
    fpc = "with" if curve.finite else "without"
    more = (
        f" This is more than the {curve.population:,} items that exist."
        if max(need.values()) > curve.population
        else ""
    )
    unit = "point needs" if half_width == 0.01 else "points need"
    return (
        f"±{100 * half_width:.3g} {unit} {need['simple_random']:,} random, "
        f"{need['proportional']:,} proportional or {need['neyman']:,} Neyman labels",
        f"Labels for a {percent(curve.level)} Wald half-width of {half_width:.3g}, {fpc} "
        f"finite-population correction: {need['simple_random']:,} random, {need['proportional']:,} "
        f"proportional, {need['neyman']:,} Neyman, of {curve.population:,} items.{more}",
    )


def plan(
    curve: PlanCurve, half_width: float, predicted: tuple[float, float] | None = None
) -> alt.TopLevelMixin:
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
    data = plan_data(curve, half_width, predicted)
    lines = (
        theme.chart(data, "lines")
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X(
                "half_width:Q",
                title="half-width",
                axis=theme.percents(),
                scale=theme.span(0, 1.15 * float(curve.half_width.max())),
            ),
            y=alt.Y(
                "labels:Q",
                title="labels needed (logarithmic scale)",
                axis=alt.Axis(values=[10**k for k in range(1, 7)], format="~s"),
                scale=theme.span(10, 1e6, type="log"),
            ),
            color=theme.color(
                "design",
                DESIGN_COLORS,
                legend=alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=3),
            ),
            strokeDash=theme.dash("design", DESIGN_COLORS, [[1, 0], [6, 3], [2, 2]]),
        )
    )
    points, predictions = (
        theme.chart(data, name).encode(x="half_width:Q", y="labels:Q")
        for name in ("points", "predicted")
    )
    dots = points.mark_point(filled=True, size=70).encode(
        color=alt.Color("design:N", scale=theme.scale(DESIGN_COLORS))
    )
    above = (
        points.transform_filter(alt.datum.design == "random")
        .mark_text(align="left", dx=8, dy=-8)
        .encode(y="above:Q", text="text:N")
    )
    below = (
        points.transform_filter(alt.datum.design == "Neyman").mark_text(dy=18).encode(text="text:N")
    )
    ceiling = theme.chart(data, "ceiling")
    roof = ceiling.mark_rule(style="truth").encode(y="items:Q") + ceiling.mark_text(
        align="right", x="width", dx=-4, dy=-8, style="note"
    ).encode(y="items:Q", text="text:N")
    guess = alt.layer(*theme.guess(predictions, align="left", dx=10))
    return theme.finish(
        lines + dots + above + below + roof + guess, *plan_words(curve, half_width), height=300
    )
