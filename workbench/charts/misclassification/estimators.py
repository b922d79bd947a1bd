"""Charts of the expected errors of the estimators, and of the confusion table of the audit."""

import functools
import math
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.misclassification.periods import MOST_NAMED
from workbench.charts.theme import ESTIMATE, GRAY, PERCENT, STRATIFIED, Figure, across, chart
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.methods import METHODS, estimator_of
from workbench.misclassification.prevalence import EstimatorComparison
from workbench.results import rows_of


def estimators(comparison: EstimatorComparison, method: str = "mle") -> Figure:
    """Return bars of the expected error of every estimator, with the chosen one marked.

    Parameters
    ----------
    comparison : workbench.EstimatorComparison
        The estimators and their expected errors at the present shift.
    method : str
        The chosen estimator.
    """
    method = estimator_of(method)
    titles = {name: METHODS[name].title for name in comparison.methods}
    texts, rows = {}, []
    for name, error in zip(comparison.methods, comparison.total_rmse.tolist(), strict=True):
        chosen, text = name == method, f"{error:.4f}"
        if math.isnan(error):
            error, text = 0.0, "cannot be computed" if name in comparison.reasons else "unknown"
        texts[name] = text
        rows.append(
            {
                "estimator": f"{titles[name]} (chosen)" if chosen else titles[name],
                "rmse": error,
                "role": "chosen" if chosen else "other",
                "text": text,
            }
        )
    errors = ", ".join(f"{titles[name]} {text}" for name, text in texts.items())
    problems = "".join(f" {titles[name]}: {why}." for name, why in comparison.reasons.items())
    together = "" if len(comparison.labels) == 2 else ", all classes together"
    return Figure(
        {"estimators": rows},
        _best(comparison, method, titles, texts),
        f"Expected root mean squared error at the present shift{together}, if "
        f"P(prediction | truth) is constant: {errors}. Chosen: {titles[method]}.{problems}",
        _draw_estimators,
        width=400,
        height=30 * len(rows),
    )


def _best(comparison: EstimatorComparison, method: str, titles: dict, texts: dict) -> str:
    best = comparison.best
    if best is None:
        return (
            "The expected errors are unknown: the classes are predicted no better than by chance, "
            "or a class was not audited"
        )
    recommended = f"{titles[best]}, {texts[best]}"
    if method in comparison.reasons:
        return f"{titles[method]} cannot be computed; recommended: {recommended}"
    if method in comparison.no_worse:
        chosen = f"{titles[method]}, {texts[method]}"
        return f"No estimator has a clearly smaller expected error than {chosen}"
    chosen = f"{titles[method]} {texts[method]}"
    return f"Expected error of {chosen}; clearly smaller: {recommended}"


def _draw_estimators(data: dict) -> Any:
    title = "expected RMSE of the proportion at the present shift"
    base = chart(data, "estimators").encode(
        x=across("rmse", title, tickCount=6, format=".3~g"),
        y=theme.names("estimator", labelLimit=220),
    )
    colors = {"chosen": ESTIMATE, "other": GRAY}
    return theme.bars(base, "role", colors, dx=5, height=16)


def audit_matrix(audit: ConfusionCounts) -> Figure:
    """Return the confusion table of an audit with counts and the rates P(prediction | truth).

    Parameters
    ----------
    audit : workbench.ConfusionCounts
        The table of true and predicted classes.
    """
    names = [str(label) for label in audit.labels]
    counts, rates = audit.table.ravel().tolist(), audit.reading_rates.ravel()
    texts = {
        "n": [f"{count:,}" for count in counts],
        "share": ["" if math.isnan(rate) else f"{rate:.1%}" for rate in rates],
        "dark": (rates > 0.5).astype(int),
    }
    truth, prediction = np.repeat(names, len(names)), np.tile(names, len(names))
    cells = rows_of(truth=truth, prediction=prediction, count=counts, rate=rates, **texts)
    mistakes = [cell for cell in cells if cell["truth"] != cell["prediction"] and cell["count"]]
    mistakes.sort(key=lambda cell: -cell["count"])
    frequent = "No mistake."
    if mistakes:
        listed = ["{truth} read as {prediction}: {n}".format(**cell) for cell in mistakes]
        frequent = f"Most frequent mistakes: {'; '.join(listed[:MOST_NAMED])}."
    correct, totals = np.diag(audit.table), audit.table.sum(1)
    totals_by_name = zip(names, correct.tolist(), totals.tolist(), strict=True)
    parts = ", ".join(f"{name}: {count:,} of {total:,}" for name, count, total in totals_by_name)
    worst = int(np.nanargmin(np.diag(audit.reading_rates)))
    least = f"{names[worst]}, {correct[worst] / totals[worst]:.1%}"
    title = f"{audit.n:,} audited, {correct.sum() / audit.n:.1%} correct; least often: {least}"
    alternative = f"Audit of {checks.counted(audit.n, 'item')}. Correct: {parts}. {frequent}"
    draw = functools.partial(_draw_matrix, names)
    return Figure({"audit": cells}, title, alternative, draw, width=None, height=None)


def _draw_matrix(names: list[str], data: dict) -> Any:
    size = min(90, max(24, 420 // len(names)))
    angle = 0 if max(map(len, names)) * 7 < size else -45
    axis = {"labelLimit": 110}
    x = alt.X("prediction:N", sort=names, title="read as", axis=axis | {"labelAngle": angle})
    y = alt.Y("truth:N", sort=names, title="true class", axis=axis)
    base = chart(data, "audit").encode(x=x, y=y)
    color = alt.Color(
        "rate:Q",
        title="P(read as | true)",
        legend={"gradientLength": 160, "format": PERCENT},
        scale={"domain": [0, 1], "range": ["#f7f7f7", STRATIFIED]},
    )
    both = len(names) <= 12
    texts = base.encode(color=theme.ink())
    counts = texts.mark_text(dy=-7 if both else 0, fontSize=12 if size > 40 else 10)
    layers = [
        base.mark_rect(stroke="#808080", strokeWidth=0.5).encode(color=color),
        counts.encode(text="n:N"),
    ]
    if both:
        rates = texts.mark_text(dy=9, fontSize=11 if size > 44 else 9)
        layers.append(rates.encode(text="share:N"))
    matrix = alt.layer(*layers).resolve_scale(color="independent")
    return matrix.properties(width=size * len(names), height=size * len(names))
