"""A chart of all pairs of several models."""

import functools

import altair as alt

from workbench.charts import theme
from workbench.charts.cross_validation.fold_means import best_words
from workbench.charts.cross_validation.words import FramedFigure, short_names, values_axis
from workbench.charts.theme import GRAY, MISS, STRATIFIED, Figure
from workbench.cross_validation.comparison import ModelComparison, differing
from workbench.cross_validation.losses import KINDS
from workbench.results import percent
from workbench.results.digits import number, short_p

SHOWN_PAIRS = 66
PAIRS_WIDTH = 330
VERDICTS = {"differs": STRATIFIED, "no difference shown": GRAY, "no test": MISS}


def pairs(comparison: ModelComparison, *, level: float = 0.95, most: int = SHOWN_PAIRS) -> Figure:
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
    names = dict(zip(comparison.models, short_names(comparison.models), strict=True))
    tested = zip(comparison.pairs, comparison.tests, comparison.adjusted.tolist(), strict=True)
    ranked = []
    for k, ((first, second), test, p) in enumerate(tested):
        if test is None:
            gap = comparison.mean(first) - comparison.mean(second)
            low = high = gap
            verdict, text, extremity = "no test", "no variance, no test", (2.0, 0.0)
        else:
            gap, (low, high) = test.estimate, test.interval(level)
            verdict = "differs" if p < 1 - level else "no difference shown"
            text, extremity = f"p {short_p(p)}", (p, -abs(test.naive_statistic))
        pair = {"pair": f"{names[first]} − {names[second]}", "difference": gap}
        limits = {"low": low, "high": high, "verdict": verdict, "text": text}
        ranked.append((*extremity, k, pair | limits))
    rows = [row for *_, row in sorted(ranked)[:most]]
    differ, total = int((comparison.adjusted < 1 - level).sum()), len(comparison.pairs)
    how = "not adjusted"
    if comparison.adjust != "none":
        how = f"{comparison.adjust.capitalize()}-adjusted"
    rho = next((f", rho {test.rho:.3g}" for test in comparison.tests if test), "")
    texts = [f"{row['pair']} {number(row['difference'])} ({row['text']})" for row in rows]
    differences = "; ".join(texts[:12] + ["…"] if len(texts) > 12 else texts)
    untested = comparison.tests.count(None)
    none = f" {untested} without a test, because the folds show no variance." if untested else ""
    kind, intervals = KINDS[comparison.scores][0], f"{percent(level)} intervals"
    # explains color and bars, which may disagree; for a single pair nothing is adjusted
    legend = None if total == 1 else [f"color and p: {how}", f"bars: {intervals}, not adjusted"]
    pairs = "the one pair" if total == 1 else f"all {total} pairs"
    cut = f"; the {most} most extreme shown" if total > most else ""
    return FramedFigure(
        {"pairs": rows},
        f"{best_words(comparison.best, comparison.scores)}; {differing(differ, total)} at "
        f"{percent(1 - level)}{cut}",
        f"Differences in mean {kind} of {pairs} with unadjusted {intervals}{rho}; p-values {how}. "
        f"{differences}.{none}",
        functools.partial(_draw, kind, legend),
    )


def _draw(kind: str, legend_title: list[str] | None, data: dict) -> alt.LayerChart:
    rows = data["pairs"]
    present = {row["verdict"] for row in rows}
    legend = alt.Legend(
        values=[verdict for verdict in VERDICTS if verdict in present], titleLimit=PAIRS_WIDTH
    )
    looks = {"title": legend_title, "legend": legend}
    base = theme.chart(data, "pairs").encode(y=theme.names("pair", labelLimit=280))
    ends = [row[end] for row in rows for end in ("low", "high")]
    title = f"difference in mean {kind}, first minus second"
    bars, dots = theme.bars_and_dots(
        base.encode(color=theme.color("verdict", VERDICTS, **looks)),
        theme.across("low", title, **values_axis(ends)),
        "difference",
        width=3,
        size=70,
        shape=theme.shape("verdict", VERDICTS, ["diamond", "circle", "cross"], **looks),
    )
    texts = theme.beside(base, 8, x="width", fontSize=11)
    layers = alt.layer(theme.zero("x", "difference"), bars, dots, texts)
    height = max(40, len(rows) * (24 if len(rows) <= 12 else 17))
    return layers.properties(width=PAIRS_WIDTH, height=height)
