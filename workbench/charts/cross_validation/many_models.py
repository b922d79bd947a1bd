"""A chart of all pairs of several models."""

import dataclasses
import functools
from typing import Any

import altair as alt
import numpy as np

from workbench.charts import theme
from workbench.charts.cross_validation.fold_means import best_words
from workbench.charts.cross_validation.words import FramedFigure, short_names, values_axis
from workbench.charts.theme import (
    GRAY,
    MISS,
    STRATIFIED,
    Figure,
    across,
    bars_and_dots,
    beside,
    chart,
)
from workbench.cross_validation.comparison import ModelComparison, differing
from workbench.cross_validation.losses import KINDS
from workbench.results import percent
from workbench.results.digits import number, short_p

SHOWN_PAIRS = 66
IN_WORDS = 12  # pairs in the text alternative
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
    rows = []
    for row in dataclasses.replace(comparison, level=level).rows()[:most]:
        difference, low, high, p = (
            row[name] for name in ("difference", "low", "high", "adjusted_pvalue")
        )
        verdict = "differs" if p < 1 - level else "no difference shown"
        text = f"p {short_p(p)}"
        if np.isnan(p):
            low, high, verdict, text = difference, difference, "no test", "no variance, no test"
        pair = f"{names[row['first']]} − {names[row['second']]}"
        limits = {"difference": difference, "low": low, "high": high}
        rows.append({"pair": pair, **limits, "verdict": verdict, "text": text})
    differ, total = int((comparison.adjusted < 1 - level).sum()), len(comparison.pairs)
    how = "not adjusted"
    if comparison.adjust != "none":
        how = f"{comparison.adjust.capitalize()}-adjusted"
    rho = next((f", rho {test.rho:.3g}" for test in comparison.tests if test), "")
    texts = [f"{row['pair']} {number(row['difference'])} ({row['text']})" for row in rows]
    if len(texts) > IN_WORDS:
        texts[IN_WORDS:] = ["…"]
    untested = comparison.tests.count(None)
    none = f" {untested} without a test, because the folds show no variance." if untested else ""
    kind, intervals = KINDS[comparison.scores][0], f"{percent(level)} intervals"
    # explains color and bars, which may disagree; for a single pair nothing is adjusted
    legend, pairs = None, "the one pair"
    if total > 1:
        legend = [f"color and p: {how}", f"bars: {intervals}, not adjusted"]
        pairs = f"all {total} pairs"
    title = f"{best_words(comparison.best, comparison.scores)}; {differing(differ, total)}"
    title = f"{title} at {percent(1 - level)}"
    if total > most:
        title += f"; the {most} most extreme shown"
    return FramedFigure(
        {"pairs": rows},
        title,
        f"Differences in mean {kind} of {pairs} with unadjusted {intervals}{rho}; p-values {how}. "
        f"{'; '.join(texts)}.{none}",
        functools.partial(_draw, kind, legend),
    )


def _draw(kind: str, legend_title: list[str] | None, data: dict) -> Any:
    rows = data["pairs"]
    present = {row["verdict"] for row in rows}
    values = [verdict for verdict in VERDICTS if verdict in present]
    looks = {"title": legend_title, "legend": {"values": values, "titleLimit": PAIRS_WIDTH}}
    base = chart(data, "pairs").encode(y=theme.names("pair", labelLimit=280))
    ends = [row[end] for row in rows for end in ("low", "high")]
    low = across("low", f"difference in mean {kind}, first minus second", **values_axis(ends))
    colored = base.encode(color=theme.color("verdict", VERDICTS, **looks))
    shape = theme.shape("verdict", VERDICTS, ["diamond", "circle", "cross"], **looks)
    bars, dots = bars_and_dots(colored, low, "difference", width=3, size=70, shape=shape)
    texts = beside(base, 8, x="width", fontSize=11)
    layers = alt.layer(theme.zero("x", "difference"), bars, dots, texts)
    height = max(40, len(rows) * (24 if len(rows) <= 12 else 17))
    return layers.properties(width=PAIRS_WIDTH, height=height)
