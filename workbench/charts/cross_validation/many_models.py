"""A chart of all pairs of several models."""

import altair as alt

from workbench.charts import theme
from workbench.charts.cross_validation.fold_means import best_words, finished
from workbench.charts.cross_validation.words import short_names, values_axis
from workbench.cross_validation.comparison import ModelComparison, differing
from workbench.cross_validation.losses import KINDS
from workbench.results import percent
from workbench.results.digits import number, short_p

SHOWN_PAIRS = 66
PAIRS_WIDTH = 330


def pairs_data(
    comparison: ModelComparison, *, level: float = 0.95, most: int = SHOWN_PAIRS
) -> list[dict]:
    """Return the rows of `pairs`, at most `most`, with the smallest adjusted p-value first."""
    tested = [
        (p if p == p else 2.0, -abs(test.naive_statistic) if test else 0.0, k)
        for k, (p, test) in enumerate(
            zip(comparison.adjusted.tolist(), comparison.tests, strict=True)
        )
    ]
    return [_pair_row(comparison, k, level) for _, _, k in sorted(tested)[:most]]


def _pair_row(comparison: ModelComparison, k: int, level: float) -> dict:
    (first, second), test, p = (
        comparison.pairs[k],
        comparison.tests[k],
        float(comparison.adjusted[k]),
    )
    name = dict(zip(comparison.models, short_names(comparison.models), strict=True))
    gap = test.estimate if test else comparison.mean(first) - comparison.mean(second)
    low, high = test.interval(level) if test else (gap, gap)
    verdict = (
        {"verdict": "no test", "text": "no variance, no test"}
        if test is None
        else {
            "verdict": "differs" if p < 1 - level else "no difference shown",
            "text": f"p {short_p(p)}",
        }
    )
    return {
        "pair": f"{name[first]} − {name[second]}",
        "difference": gap,
        "low": low,
        "high": high,
    } | verdict


def pairs_words(
    comparison: ModelComparison, *, level: float = 0.95, most: int = SHOWN_PAIRS
) -> tuple[str, str]:
    """Return the title and the text alternative of `pairs`."""
    differ, total = int((comparison.adjusted < 1 - level).sum()), len(comparison.pairs)
    left_out = f"; the {most} most extreme shown" if total > most else ""
    rho = next((f", rho {test.rho:.3g}" for test in comparison.tests if test), "")
    untested = sum(test is None for test in comparison.tests)
    rows = pairs_data(comparison, level=level, most=most)
    differences = "; ".join(
        f"{row['pair']} {number(row['difference'])} ({row['text']})" for row in rows[:12]
    )
    none = f" {untested} without a test, because the folds show no variance." if untested else ""
    every = "the one pair" if total == 1 else f"all {total} pairs"
    return (
        f"{best_words(comparison.best, comparison.scores)}; {differing(differ, total)} at "
        f"{percent(1 - level)}{left_out}",
        f"Differences in mean {KINDS[comparison.scores][0]} of {every} with unadjusted "
        f"{percent(level)} intervals{rho}; p-values {_how(comparison)}. "
        f"{differences}{'; …' if len(rows) > 12 else ''}.{none}",
    )


def pairs(
    comparison: ModelComparison, *, level: float = 0.95, most: int = SHOWN_PAIRS
) -> alt.TopLevelMixin:
    """Return all pairs of models: differences, intervals, adjusted p-values.

    Parameters
    ----------
    comparison : workbench.ModelComparison
        The comparison.
    level : float
        Confidence level of the intervals, which are not adjusted. The adjusted p-values are
        compared with 1 - level.
    most : int
        Largest number of pairs shown, the most extreme ones.
    """
    rows = pairs_data(comparison, level=level, most=most)
    kinds = {"differs": theme.STRATIFIED, "no difference shown": theme.GRAY, "no test": theme.MISS}
    present = [kind for kind in kinds if any(row["verdict"] == kind for row in rows)]
    legend = alt.Legend(values=present, titleLimit=PAIRS_WIDTH)
    # explains color and bars, which may disagree; for a single pair nothing is adjusted
    title = (
        None
        if len(comparison.pairs) == 1
        else [f"color and p: {_how(comparison)}", f"bars: {percent(level)} intervals, not adjusted"]
    )
    base = theme.Chart(theme.rows("pairs", rows)).encode(
        y=alt.Y(
            "pair:N", sort=[row["pair"] for row in rows], title=None, axis=alt.Axis(labelLimit=280)
        )
    )
    colored = base.encode(color=theme.color("verdict", kinds, title=title, legend=legend))
    x = alt.X(
        "low:Q",
        title=f"difference in mean {KINDS[comparison.scores][0]}, first minus second",
        axis=values_axis([row[end] for row in rows for end in ("low", "high")]),
    )
    bars = colored.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q")
    dots = colored.mark_point(filled=True, size=70).encode(
        x="difference:Q",
        shape=theme.shape(
            "verdict", kinds, ["diamond", "circle", "cross"], title=title, legend=legend
        ),
    )
    texts = base.mark_text(x="width", dx=8, align="left", fontSize=11).encode(text="text:N")
    zero = (
        theme.Chart(theme.rows("zero", [{"difference": 0}]))
        .mark_rule(strokeWidth=1)
        .encode(x="difference:Q")
    )
    height = max(40, len(rows) * (24 if len(rows) <= 12 else 17))
    drawn = alt.layer(zero, bars, dots, texts).properties(width=PAIRS_WIDTH, height=height)
    return finished(drawn, pairs_words(comparison, level=level, most=most))


def _how(comparison: ModelComparison) -> str:
    return (
        "not adjusted"
        if comparison.adjust == "none"
        else f"{comparison.adjust.capitalize()}-adjusted"
    )
