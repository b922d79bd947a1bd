"""Charts of stratified accuracy.

For each picture there are three functions: `..._data(result)` gives its rows, `..._words(result)` its title and
text alternative, and the picture itself is an altair chart built from both.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.digits import percents, points
from workbench.results import percent, sentences
from workbench.stratified.class_audit import ClassAudit
from workbench.stratified.difference_audit import DifferenceAudit

if TYPE_CHECKING:
    from workbench.simulations.stratified import DesignStudy, LabelingStudy, LookingStudy
    from workbench.stratified.accuracy import PlanCurve
    from workbench.stratified.audit import IntervalComparison

RANK_BINS = 60
FEW_STRATA = 8
SHOWN_RUNS = 50
DESIGNS = {"simple_random": "random", "proportional": "proportional", "neyman": "Neyman"}
METHODS_OF_LOOKING = {"fixed": "95% interval for a fixed number of labels", "looks": "Default interval at 99.5%",
                      "anytime": "Interval that may be looked at"}
DESIGN_COLORS = {"random": theme.RANDOM, "proportional": theme.STRATIFIED, "Neyman": theme.LABELED}


def wrong_by_rank(score: np.ndarray, correct: np.ndarray) -> list[dict]:
    """Return the share of wrong items in 60 bins of equally many items, in order of score.

    Parameters
    ----------
    score : (N,) array of float
    correct : (N,) array of bool

    Returns
    -------
    list of dict
        start, end (share of items), wrong (share in the bin).
    """
    wrong = ~np.asarray(correct, bool)[np.argsort(score, kind="stable")]
    edges = np.linspace(0, wrong.size, min(RANK_BINS, wrong.size) + 1).round().astype(int)
    total = np.concatenate([[0], wrong.cumsum()])
    return [{"start": a / wrong.size, "end": b / wrong.size, "wrong": (total[b] - total[a]) / (b - a)}
            for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]


def design_data(study: DesignStudy, wrong: Sequence[dict]) -> dict:
    """Return the rows of `design`: strata over score rank, wrong items, standard errors."""
    cells = [{"start": float(a), "end": float(b), "stratum": int(k), "even": int(k) % 2,
              "middle": float(a + b) / 2, "labels": _label_text(study, k, b - a),
              "size": int(study.stratum_size[k]), "accuracy": float(study.accuracy[k])}
             for a, b, k in zip(study.start, study.end, study.cell_stratum, strict=True)]
    errors = [{"design": name, "se": value, "text": f"{value:.4f}"} for name, value in
              (("random", study.random_error), ("this design", study.standard_error),
               ("best shares", study.best_error))]
    return {"cells": cells, "wrong": list(wrong), "errors": errors}


def _label_text(study, k, width):
    text = f"{study.labeled[k]} of {study.stratum_size[k]:,}"
    return text if width > 0.15 else str(study.labeled[k]) if width > 0.03 else ""


def design_words(study: DesignStudy) -> tuple[str, str]:
    """Return title and text alternative of `design`."""
    ratio = study.variance_ratio
    verdict = ("random sampling makes no error either" if np.isnan(ratio) else
               f"{1 - ratio:.0%} less variance than random sampling" if ratio < 0.995 else
               f"variance {ratio:.2f} times that of random sampling" if ratio > 1.005 else
               "no better than random sampling")
    shares = "/".join(str(n) for n in study.labeled)
    rates = " ".join(f"{a:.3f}" for a in study.accuracy)
    notes = "".join(f" Note: {text}." for text in sentences(study.notes))
    labels = checks.counted(study.labeled.sum(), "label")
    return (f"{labels}, {checks.counted(study.labeled.size, 'stratum', 'strata')}: {verdict}",
            f"Standard error {study.standard_error:.4f} for this design, {study.random_error:.4f} at random, "
            f"{study.best_error:.4f} with the best shares. Labels per stratum, from low to high score: {shares}; "
            f"accuracy per stratum: {rates}.{notes}")


def design(study: DesignStudy, wrong: Sequence[dict]) -> alt.TopLevelMixin:
    """Return the strata over score rank with their labels, and the standard error against random sampling.

    Parameters
    ----------
    study : workbench.simulations.stratified.DesignStudy
    wrong : list of dict
        From `wrong_by_rank`.
    """
    data = design_data(study, wrong)
    cells = theme.rows("cells", data["cells"])
    rank = alt.Axis(format=theme.PERCENT, title="items, from low to high score")
    band = alt.Chart(cells).mark_rect(stroke="#ffffff", strokeWidth=1).encode(
        x=alt.X("start:Q", axis=rank, scale=alt.Scale(domain=[0, 1], nice=False)), x2="end:Q",
        fill=alt.Fill("even:Q", legend=None, scale=alt.Scale(
            domain=[0, 1], range=[theme.OKABE_ITO["sky"], theme.STRATIFIED])),
        opacity=alt.value(0.35))
    bars = alt.Chart(theme.rows("wrong", data["wrong"])).mark_rect(style="miss").encode(
        x="start:Q", x2="end:Q", y2=alt.datum(0), y=alt.Y(
            "wrong:Q", axis=alt.Axis(format=theme.PERCENT, title="wrong"), scale=alt.Scale(domain=[0, 1])))
    text = alt.Chart(cells).mark_text(baseline="top", dy=4, y=0, fontWeight="bold").encode(
        x="middle:Q", text="labels:N")
    errors = alt.Chart(theme.rows("errors", data["errors"]))
    order = [row["design"] for row in data["errors"]]
    colors = theme.scale(dict(zip(order, (theme.RANDOM, theme.STRATIFIED, theme.LABELED), strict=True)))
    lengths = errors.encode(y=alt.Y("design:N", sort=order, title=None), x=alt.X(
        "se:Q", title="standard error of the accuracy", axis=alt.Axis(tickCount=6), scale=alt.Scale(zero=True)))
    error_bars = lengths.mark_bar(height={"band": 0.7}).encode(color=alt.Color("design:N", scale=colors, legend=None))
    error_text = lengths.mark_text(align="left", dx=4).encode(text="text:N")
    both = alt.vconcat((band + bars + text).properties(width=theme.WIDTH, height=190),
                       (error_bars + error_text).properties(width=theme.WIDTH - 60, height=84))
    return theme.finish(both, *design_words(study), width=None, height=None)


def robot_data(study: LabelingStudy, *, method: str = "wald") -> dict:
    """Return the rows of `robot`: the first 50 runs' intervals, and claimed against true standard error."""
    low, high = study.limits(method)
    hit = (low <= study.accuracy) & (study.accuracy <= high)
    runs = [{"run": i + 1, "low": float(low[i]), "high": float(high[i]), "estimate": float(study.estimates[i]),
             "verdict": "contains the truth" if hit[i] else "misses it"} for i in range(min(SHOWN_RUNS, study.runs))]
    errors = [{"kind": kind, "error": value, "text": f"{value:.4f}"} for kind, value in
              (("claims", study.claimed_error), ("really makes", study.standard_error),
               ("random would make", study.random_error))]
    return {"runs": runs, "truth": [{"truth": study.accuracy}], "errors": errors}


def robot_words(study: LabelingStudy, *, method: str = "wald") -> tuple[str, str]:
    """Return title and text alternative of `robot`."""
    coverage, labels = study.coverage(method), checks.counted(study.budget, "label")
    return (f"{labels}: {coverage:.0%} of {study.runs:,} intervals contain the truth",
            f"{study.method.replace('_', '-').upper() if study.method.startswith('opt') else study.method} with "
            f"{labels}: 95% {method} intervals contain the true accuracy {study.accuracy:.4f} in "
            f"{coverage:.1%} of {study.runs:,} runs; bias {study.bias:+.4f}; claimed variance ratio "
            f"{study.estimated_variance_ratio:.2f}, true ratio {study.variance_ratio:.2f}.")


def robot(study: LabelingStudy, *, method: str = "wald") -> alt.TopLevelMixin:
    """Return 50 intervals against the truth, and the error claimed against the error made.

    Parameters
    ----------
    study : workbench.simulations.stratified.LabelingStudy
    method : str
        Interval, as in `LabelingStudy.limits`.
    """
    data = robot_data(study, method=method)
    colors = theme.scale({"contains the truth": theme.STRATIFIED, "misses it": theme.MISS})
    runs = alt.Chart(theme.rows("runs", data["runs"])).encode(
        x=alt.X("run:Q", title="run (the first 50)", scale=alt.Scale(domain=[0, SHOWN_RUNS + 1], nice=False)),
        color=alt.Color("verdict:N", scale=colors, title=None))
    lines = runs.mark_rule(strokeWidth=2).encode(
        y=alt.Y("low:Q", title="accuracy", axis=alt.Axis(format=theme.PERCENT), scale=alt.Scale(zero=False)),
        y2="high:Q",
        strokeDash=alt.StrokeDash("verdict:N", legend=None, scale=alt.Scale(
            domain=["contains the truth", "misses it"], range=[[1, 0], [4, 2]])))
    ticks = runs.mark_tick(orient="horizontal", width=7, thickness=2).encode(y="estimate:Q")
    truth = alt.Chart(theme.rows("truth", data["truth"])).mark_rule(style="truth").encode(y="truth:Q")
    order = [row["kind"] for row in data["errors"]]
    lengths = alt.Chart(theme.rows("errors", data["errors"])).encode(
        y=alt.Y("kind:N", sort=order, title=None), x=alt.X("error:Q", title="root mean squared error of the accuracy",
                                              axis=alt.Axis(tickCount=6)))
    kinds = theme.scale(dict(zip(order, (theme.UNLABELED, theme.MISS, theme.RANDOM), strict=True)))
    bars = lengths.mark_bar(height={"band": 0.7}).encode(color=alt.Color("kind:N", scale=kinds, legend=None))
    text = lengths.mark_text(align="left", dx=4).encode(text="text:N")
    both = alt.vconcat((lines + ticks + truth).properties(width=theme.WIDTH, height=210),
                       (bars + text).properties(width=theme.WIDTH - 80, height=84))
    both = both.resolve_scale(color="independent")
    return theme.finish(both, *robot_words(study, method=method), width=None, height=None)


def looking_data(study: LookingStudy) -> dict:
    """Return the rows of `looking`: the share that has lost the truth by each look, and what was promised."""
    rows = [{"labels": row["labeled"], "missed": row["rate"]} for row in study.rows()]
    return {"missed": rows, "promised": [{"promised": 1 - study.level}]}


def looking_words(study: LookingStudy) -> tuple[str, str]:
    """Return title and text alternative of `looking`."""
    lost = round(float(study.missed[-1]) * study.runs)
    third = [f"{share:.1%} to {n} labels" for n, share in zip(study.labeled, study.missed, strict=True)]
    shown = "; ".join(third[k] for k in sorted({0, len(third) // 4, len(third) // 2, len(third) - 1}))
    return (f"{lost} of {study.runs} analysts held an interval without the truth",
            f"{METHODS_OF_LOOKING[study.method]}, {checks.counted(study.labeled.size, 'look')}: share of "
            f"{study.runs} analysts whose interval was without the true accuracy {study.accuracy:.4f} at some look: "
            f"{shown}. Half-width at the last look {100 * study.half_width:.2f} points.")


def looking(study: LookingStudy) -> alt.TopLevelMixin:
    """Return the share of analysts who have lost the truth, over the number of labels at which they looked.

    Parameters
    ----------
    study : workbench.simulations.stratified.LookingStudy
    """
    data = looking_data(study)
    lost = alt.Chart(theme.rows("missed", data["missed"])).mark_line(
        interpolate="step-after", point=True, color=theme.MISS).encode(
        x=alt.X("labels:Q", title="labels at the look"),
        y=alt.Y("missed:Q", title="have lost the truth", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 0.3])))
    promised = alt.Chart(theme.rows("promised", data["promised"])).mark_rule(style="truth").encode(y="promised:Q")
    return theme.finish(lost + promised, *looking_words(study), height=200)


def plan_data(curve: PlanCurve, half_width: float) -> dict:
    """Return the rows of `plan`: three curves, the ceiling and the chosen half-width."""
    lines = [{"half_width": row["half_width"], "design": DESIGNS[row["design"]], "labels": row["labeled"]}
             for row in curve.rows()]
    chosen = curve.at(half_width)
    points = [{"half_width": half_width, "design": DESIGNS[m], "labels": n, "text": f"{n:,}"}
              for m, n in chosen.items()]
    return {"lines": lines, "points": points, "ceiling": [{"items": curve.population,
            "text": f"all {curve.population:,} items"}]}


def plan_words(curve: PlanCurve, half_width: float) -> tuple[str, str]:
    """Return title and text alternative of `plan`."""
    need = curve.at(half_width)
    fpc = "with" if curve.finite else "without"
    more = f" More than the {curve.population:,} items that exist." if max(need.values()) > curve.population else ""
    return (f"±{half_width:.3g} needs {need['simple_random']:,} random, {need['proportional']:,} proportional or "
            f"{need['neyman']:,} Neyman labels",
            f"Labels for a {percent(curve.level)} Wald half-width of {half_width:.3g}, {fpc} finite-population factor: "
            f"{need['simple_random']:,} random, {need['proportional']:,} proportional, {need['neyman']:,} Neyman, of "
            f"{curve.population:,} items.{more}")


def plan(curve: PlanCurve, half_width: float) -> alt.TopLevelMixin:
    """Return labels needed over the half-width, for three designs.

    Parameters
    ----------
    curve : workbench.PlanCurve
    half_width : float
        The one to point out.
    """
    data = plan_data(curve, half_width)
    lines = alt.Chart(theme.rows("lines", data["lines"])).mark_line(strokeWidth=2.5).encode(
        x=alt.X("half_width:Q", title="half-width e (share of items)",
                scale=alt.Scale(domain=[0, float(curve.half_width.max())], nice=False)),
        y=alt.Y("labels:Q", title="labels needed", scale=alt.Scale(type="log")),
        color=alt.Color("design:N", scale=theme.scale(DESIGN_COLORS), title=None),
        strokeDash=alt.StrokeDash("design:N", title=None, scale=alt.Scale(
            domain=list(DESIGN_COLORS), range=[[1, 0], [6, 3], [2, 2]])))
    points = alt.Chart(theme.rows("points", data["points"])).encode(x="half_width:Q", y="labels:Q")
    dots = points.mark_point(filled=True, size=70).encode(color=alt.Color("design:N", scale=theme.scale(DESIGN_COLORS)))
    above = points.transform_filter(alt.datum.design == "random").mark_text(align="left", dx=8, dy=-8)
    below = points.transform_filter(alt.datum.design != "random").mark_text(align="right", dx=-8, dy=9)
    text = above.encode(text="text:N") + below.encode(text="text:N")
    ceiling = alt.Chart(theme.rows("ceiling", data["ceiling"]))
    roof = ceiling.mark_rule(style="truth").encode(y="items:Q")
    roof_text = ceiling.mark_text(align="right", x="width", dx=-4, dy=-8, style="note").encode(
        y="items:Q", text="text:N")
    return theme.finish(lines + dots + text + roof + roof_text, *plan_words(curve, half_width))


def audit_data(audit: Any) -> list[dict]:
    """Return the rows of `audit`: labels per stratum, split by what they found once they are known."""
    return [{"stratum": k, "kind": kind, "labels": int(n), "order": order}
            for k, row in enumerate(zip(*(counts for _, _, counts in _outcomes(audit)), strict=True))
            for order, ((kind, _, _), n) in enumerate(zip(_outcomes(audit), row, strict=True))]


def _outcomes(audit):
    """Return kind, color and labels per stratum of what labels found; the first is what the title speaks of."""
    if audit.mode == "plan":
        return [("to label", theme.LABELED, audit.labeled)]
    if isinstance(audit, DifferenceAudit):
        b, neither, a = audit.difference.counts.T
        return [("only A right", theme.STRATIFIED, a), ("both wrong", theme.UNLABELED, neither),
                ("only B right", theme.MISS, b)]
    wrong = audit.labeled - audit.estimate.correct
    return [("wrong", theme.MISS, wrong), ("right", theme.STRATIFIED, audit.estimate.correct)]


def audit_words(audit: Any) -> tuple[str, str]:
    """Return title and text alternative of `audit`."""
    sizes = ", ".join(f"{n:,} of {size:,}" for n, size in zip(audit.labeled, audit.stratum_size, strict=True))
    order = _order(audit)
    if audit.mode == "plan":
        return (f"{checks.counted(audit.labeled.sum(), 'item')} to label, {order}",
                f"Items to label per stratum, {order}: {sizes}.")
    labels = checks.counted(audit.labeled.sum(), "label")
    (_, _, first), *_, (_, _, last) = _outcomes(audit)
    found = ", ".join(f"{k:,} of {n:,}" for k, n in zip(first, audit.labeled, strict=True))
    if isinstance(audit, DifferenceAudit):
        rival = ", ".join(f"{k:,} of {n:,}" for k, n in zip(last, audit.labeled, strict=True))
        return (f"Where the models differ, A is right in {first.sum():,} and B in {last.sum():,} of {labels}",
                f"Labels per stratum, {order}, in which only A was right: {found}; only B: {rival}.")
    where = "" if isinstance(audit, ClassAudit) else f", {first[0]:,} at the lowest scores"
    return (f"{first.sum():,} of {labels} found an error{where}",
            f"Labels that found an error, per stratum {order}: {found}.")


def _order(audit):
    """Return what the order of the strata is, in words."""
    if not isinstance(audit, ClassAudit) or audit.predicted.all():
        return "from low to high score"
    members = int(audit.predicted.sum())
    first = "stratum 0" if members == 1 else f"strata 0 to {members - 1}"
    return f"from low to high score: {first} predicted members, then the others"


def audit(audit: Any) -> alt.TopLevelMixin:
    """Return the labels per stratum and, once they are known, what they found.

    Parameters
    ----------
    audit : workbench.stratified.audit.Audit
    """
    colors = theme.scale({kind: color for kind, color, _ in _outcomes(audit)})
    base = alt.Chart(theme.rows("labels", audit_data(audit))).encode(
        x=alt.X("stratum:O", title=f"stratum, {_order(audit)}", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("labels:Q", title="labels", axis=alt.Axis(tickMinStep=1)), order="order:Q")
    bars = base.mark_bar().encode(color=alt.Color("kind:N", scale=colors, title=None))
    return theme.finish(bars, *audit_words(audit), height=180)


def finding_data(audit: Any) -> dict:
    """Return the rows of `finding`: limits of what was asked, rates in the strata, and the truth where it is known."""
    asked = [(row["metric"], row["estimate"], row["low"], row["high"]) for row in audit.metric_rows()] \
        if isinstance(audit, ClassAudit) else [(_asked(audit), _estimate(audit), *audit.confidence_interval)]
    limits = [{"name": name, "estimate": estimate, "low": low, "high": high, "kind": "of all items",
               "text": "{} ({} to {})".format(*_shown(audit, estimate, low, high))}
              for name, estimate, low, high in asked if np.isfinite(estimate)]
    strata = [] if len(asked) > 1 or audit.labeled.size > FEW_STRATA else _rates(audit)
    truth = [] if audit.truth is None or len(asked) > 1 else [{"truth": audit.truth}]
    return {"limits": limits, "strata": strata, "truth": truth}


def _asked(audit):
    return "A less B" if isinstance(audit, DifferenceAudit) else "accuracy"


def _estimate(audit):
    return audit.difference.estimate if isinstance(audit, DifferenceAudit) else audit.estimate.estimate


def _shown(audit, *shares):
    error = (shares[2] - shares[1]) / 2
    return points(*shares, error=error, signed=True) if isinstance(audit, DifferenceAudit) else \
        percents(*shares, error=error)


def _rates(audit):
    """Return the rate of each stratum among its labels; where models are compared, none: theirs are of other items."""
    if isinstance(audit, DifferenceAudit):
        return []
    return [{"name": f"stratum {k}", "estimate": x / n, "kind": "in a stratum", "text": f"{x:,} of {n:,} right"}
            for k, (x, n) in enumerate(zip(audit.estimate.correct.tolist(), audit.labeled.tolist(), strict=True)) if n]


def finding_words(audit: Any) -> tuple[str, str]:
    """Return title and text alternative of `finding`."""
    if audit.mode == "plan":
        return audit_words(audit)
    data = finding_data(audit)
    said = "; ".join(f"{row['name']} {row['text']}" for row in (*data["limits"], *data["strata"]))
    dashed = " (dashed: the truth)" if data["truth"] else ""
    where = " and what the labels of each stratum say, from low to high score" if data["strata"] else ""
    what = "Difference of the accuracies, in points," if isinstance(audit, DifferenceAudit) else \
        "Estimates" if len(data["limits"]) > 1 else "Accuracy"
    return f"{what} with {percent(audit.level)} interval{'s' * (len(data['limits']) > 1)}{where}{dashed}", f"{said}."


def finding(found: Any) -> alt.TopLevelMixin:
    """Return what an audit found with its limits, and the rates in its strata; of a plan the labels.

    Parameters
    ----------
    found : workbench.stratified.audit.Audit
    """
    if found.mode == "plan":
        return audit(found)
    data = finding_data(found)
    order = [row["name"] for row in (*data["limits"], *data["strata"])]
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    colors = alt.Color("kind:N", title=None, legend=None, scale=theme.scale(
        {"of all items": theme.ESTIMATE, "in a stratum": theme.GRAY}))
    title = "points" if isinstance(found, DifferenceAudit) else "share of items"
    axis = alt.Axis(labelExpr="format(100 * datum.value, '+~g')") if isinstance(found, DifferenceAudit) else \
        alt.Axis(format=theme.PERCENT, tickCount=6)
    x = alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(zero=isinstance(found, DifferenceAudit), nice=True))
    limits, strata = (alt.Chart(theme.rows(name, data[name])).encode(y=y) for name in ("limits", "strata"))
    bars = limits.mark_rule(strokeWidth=5).encode(x=x, x2="high:Q", color=colors)
    dots = [part.mark_point(filled=True, size=110).encode(x="estimate:Q", color=colors) for part in (limits, strata)]
    texts = [part.mark_text(align="left", x="width", dx=8).encode(text="text:N") for part in (limits, strata)]
    truth = alt.Chart(theme.rows("truth", data["truth"])).mark_rule(style="truth").encode(x="truth:Q")
    return theme.finish(alt.layer(truth, bars, *dots, *texts), *finding_words(found), width=theme.WIDTH - 160,
                        height=30 * max(2, len(order)))


def intervals_words(comparison: IntervalComparison, truth: float | None = None) -> tuple[str, str]:
    """Return title and text alternative of `intervals`."""
    limits = "; ".join(f"{i.method} {i.low:.3f} to {i.high:.3f}" for i in comparison.intervals)
    known = "" if truth is None else f" The true accuracy is {truth:.3f}."
    promised = f" ({comparison.assumption.lower()})" if comparison.assumption else ""
    dashed = "" if truth is None else " (dashed: the truth)"
    report = "what to expect of each" if comparison.assumption else "report the default"
    return (f"The same labels, five intervals: {report}{promised}{dashed}",
            f"Limits{promised}: {limits}.{known}")


def intervals(comparison: IntervalComparison, truth: float | None = None) -> alt.TopLevelMixin:
    """Return all interval methods on the same labels, with the truth where it is known.

    Parameters
    ----------
    comparison : workbench.stratified.audit.IntervalComparison
    truth : float, optional
    """
    order = [i.method for i in comparison.intervals]
    default = "default" if comparison.assumption else "report this"
    use = {"default": default, "wald": "for teaching", "wilson": "for teaching"}
    rows = [{"method": i.method, "low": i.low, "high": i.high, "use": use.get(i.method, "on purpose only")}
            for i in comparison.intervals]
    colors = theme.scale({default: theme.STRATIFIED, "on purpose only": theme.UNLABELED,
                          "for teaching": theme.MISS})
    bars = alt.Chart(theme.rows("intervals", rows)).mark_bar(height=8).encode(
        y=alt.Y("method:N", sort=order, title=None), x2="high:Q",
        x=alt.X("low:Q", title="accuracy", axis=alt.Axis(format=theme.PERCENT), scale=alt.Scale(zero=False)),
        color=alt.Color("use:N", scale=colors, title=None))
    known = [] if truth is None else [{"truth": truth}]
    rule = alt.Chart(theme.rows("truth", known)).mark_rule(style="truth").encode(x="truth:Q")
    return theme.finish(bars + rule, *intervals_words(comparison, truth), height=150)
