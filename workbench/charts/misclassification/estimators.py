"""Charts of the expected errors of the estimators, and of the confusion table of the audit."""

import math

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.misclassification.periods import MOST_NAMED
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.methods import METHODS, estimator_of
from workbench.misclassification.prevalence import EstimatorComparison


def estimators_data(comparison: EstimatorComparison, method: str = "mle") -> list[dict]:
    """Return the rows of `estimators`: one bar per method, with the expected error."""
    method = estimator_of(method)
    return [
        {
            "estimator": METHODS[name].title + " (chosen)" * (name == method),
            "rmse": 0.0 if math.isnan(error) else error,
            "role": "chosen" if name == method else "other",
            "text": f"{error:.4f}"
            if not math.isnan(error)
            else "cannot be computed"
            if name in comparison.reasons
            else "unknown",
        }
        for name, error in zip(comparison.methods, comparison.total_rmse.tolist(), strict=True)
    ]


def estimators_words(comparison: EstimatorComparison, method: str = "mle") -> tuple[str, str]:
    """Return the title and the text alternative of `estimators`."""
    method = estimator_of(method)
    rows = dict(zip(comparison.methods, estimators_data(comparison, method), strict=True))
    errors = ", ".join(f"{METHODS[name].title} {row['text']}" for name, row in rows.items())
    problems = "".join(
        f" {METHODS[name].title}: {problem}." for name, problem in comparison.reasons.items()
    )
    together = "" if len(comparison.labels) == 2 else ", all classes together"
    return _best_words(comparison, method, rows), (
        f"Expected root mean squared error at the present shift{together}, if P(prediction | truth) "
        f"is constant: {errors}. Chosen: {METHODS[method].title}.{problems}"
    )


def _best_words(comparison: EstimatorComparison, method: str, rows: dict) -> str:
    if comparison.best is None:
        return (
            "The expected errors are unknown: the classes are predicted no better than by chance, "
            "or a class was not audited"
        )
    chosen, best = ((METHODS[name].title, rows[name]["text"]) for name in (method, comparison.best))
    if method in comparison.reasons:
        return f"{chosen[0]} cannot be computed; recommended: {', '.join(best)}"
    if method in comparison.no_worse:
        return f"No estimator has a clearly smaller expected error than {', '.join(chosen)}"
    return f"Expected error of {' '.join(chosen)}; clearly smaller: {', '.join(best)}"


def estimators(comparison: EstimatorComparison, method: str = "mle") -> alt.TopLevelMixin:
    """Return bars of the expected error of every estimator, with the chosen one marked.

    Parameters
    ----------
    comparison : workbench.EstimatorComparison
        The estimators and their expected errors at the present shift.
    method : str
        The chosen estimator.
    """
    rows = estimators_data(comparison, method)
    base = theme.Chart(theme.rows("estimators", rows)).encode(
        y=alt.Y(
            "estimator:N",
            sort=[row["estimator"] for row in rows],
            title=None,
            axis=alt.Axis(labelLimit=220),
        ),
        x=alt.X(
            "rmse:Q",
            title="expected RMSE of the proportion at the present shift",
            axis=alt.Axis(tickCount=6, format="~g"),
        ),
    )
    drawn = theme.bars(
        base, "role", {"chosen": theme.ESTIMATE, "other": theme.GRAY}, dx=5, height=16
    )
    return theme.finish(
        drawn, *estimators_words(comparison, method), width=400, height=30 * len(rows)
    )


def audit_matrix_data(audit: ConfusionCounts) -> list[dict]:
    """Return the rows of `audit_matrix`: the count and the rate of every cell."""
    rates, names = audit.reading_rates, [str(label) for label in audit.labels]
    return [
        {
            "truth": names[i],
            "prediction": names[j],
            "count": int(n),
            "n": f"{n:,}",
            "rate": float(rates[i, j]),
            "share": "" if math.isnan(rates[i, j]) else f"{rates[i, j]:.1%}",
            "dark": int(rates[i, j] > 0.5),
        }
        for (i, j), n in np.ndenumerate(audit.table)
    ]


def audit_matrix_words(audit: ConfusionCounts) -> tuple[str, str]:
    """Return the title and the text alternative of `audit_matrix`."""
    right, totals = np.diag(audit.table), audit.table.sum(1)
    rates = ", ".join(
        f"{label}: {n:,} of {total:,}"
        for label, n, total in zip(audit.labels, right.tolist(), totals.tolist(), strict=True)
    )
    wrong = sorted(
        ((int(n), i, j) for (i, j), n in np.ndenumerate(audit.table) if i != j and n),
        key=lambda cell: -cell[0],
    )
    mistakes = "; ".join(
        f"{audit.labels[i]} read as {audit.labels[j]}: {n:,}" for n, i, j in wrong[:MOST_NAMED]
    )
    k = int(np.nanargmin(np.diag(audit.reading_rates)))
    commonest = f" Most frequent mistakes: {mistakes}." if mistakes else " No mistake."
    return (
        f"{audit.n:,} audited, {right.sum() / audit.n:.1%} correct; least often: {audit.labels[k]}, "
        f"{right[k] / totals[k]:.1%}",
        f"Audit of {checks.counted(audit.n, 'item')}. Correct: {rates}.{commonest}",
    )


def audit_matrix(audit: ConfusionCounts) -> alt.TopLevelMixin:
    """Return the confusion table of an audit with counts and the rates P(prediction | truth).

    Parameters
    ----------
    audit : workbench.ConfusionCounts
        The table of true and predicted classes.
    """
    names = [str(label) for label in audit.labels]
    size = min(90, max(24, 420 // len(names)))
    axis = alt.Axis(labelAngle=0 if max(map(len, names)) * 7 < size else -45, labelLimit=110)
    base = theme.Chart(theme.rows("audit", audit_matrix_data(audit))).encode(
        x=alt.X("prediction:N", sort=names, title="read as", axis=axis),
        y=alt.Y("truth:N", sort=names, title="true class", axis=alt.Axis(labelLimit=110)),
    )
    cells = base.mark_rect(stroke="#808080", strokeWidth=0.5).encode(
        color=alt.Color(
            "rate:Q",
            title="P(read as | true)",
            legend=alt.Legend(gradientLength=160, format=theme.PERCENT),
            scale=alt.Scale(domain=[0, 1], range=["#f7f7f7", theme.STRATIFIED]),
        )
    )
    both, written = len(names) <= 12, base.encode(color=theme.ink())
    counts = written.mark_text(dy=-7 if both else 0, fontSize=12 if size > 40 else 10).encode(
        text="n:N"
    )
    shares = written.mark_text(dy=9, fontSize=11 if size > 44 else 9).encode(text="share:N")
    drawn = alt.layer(*[cells, counts, shares][: 2 + both]).resolve_scale(color="independent")
    drawn = drawn.properties(width=size * len(names), height=size * len(names))
    return theme.finish(drawn, *audit_matrix_words(audit), width=None, height=None)
