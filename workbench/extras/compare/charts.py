"""Charts of models compared on the same items: scores, possible ranks and tie groups."""

import functools
from typing import Any

import altair as alt

from workbench.charts import theme
from workbench.charts.theme import ESTIMATE, GRAY, PERCENT, RANDOM, Figure, across, chart
from workbench.extras.compare.comparison import ItemComparison
from workbench.results import percent
from workbench.results.digits import number

SHOWN = 40
IN_WORDS = 12  # models in the text alternative
TICKS = 10  # of ranks
WIDTH, ROW, LEAST = 250, 24, 70  # pixels
SHORT = 24


def ranks(
    comparison: ItemComparison, *, most: int = SHOWN, scale: alt.Scale | None = None
) -> Figure:
    """Return a chart of the scores of models, their possible ranks and their tie groups.

    Parameters
    ----------
    comparison : workbench.ItemComparison
    most : int
        Number of models in the chart, the best ones.
    scale : altair.Scale, optional
        Scale of the scores.
    """
    rows, level = comparison.ranks(), percent(comparison.level)
    labels = _short([row["model"] for row in rows[:most]])
    models = [
        {**row, "model": label, "place": rank}
        for rank, (row, label) in enumerate(zip(rows, labels, strict=False), 1)
    ]
    model, score = rows[0]["model"], number(rows[0]["score"])
    title = f"{model}: mean score {score}"
    alternative = (
        f"The mean score of {model}, {score}, with its {level} confidence interval, "
        f"{number(rows[0]['low'])} to {number(rows[0]['high'])}."
    )
    if len(rows) > 1:
        certain = sum(row["best_rank"] == row["worst_rank"] for row in rows)
        verb = "is" if certain == 1 else "are"
        title = (
            f"{certain} of {len(rows)} ranks {verb} certain" if certain else "No rank is certain"
        )
        texts = [
            f"{row['model']} {number(row['score'])}, rank {_possible_ranks(row)}"
            for row in rows[:IN_WORDS]
        ]
        if len(rows) > IN_WORDS:
            texts.append("…")
        alternative = (
            f"Mean scores with a separate {level} confidence interval for each model, and the "
            f"possible ranks of each model. In {level} of samples all these ranks are correct. "
            f"{'; '.join(texts)}."
        )
    axis = {"format": PERCENT} if comparison.bounds == (0, 1) else {}
    scores = across("low", "mean score", scale=scale or alt.Scale(zero=False), **axis)
    return Figure(
        {"models": models, "groups": _tied(comparison, models)},
        title,
        alternative,
        functools.partial(_draw, len(rows), scores),
        width=None,
        height=None,
    )


def _draw(total: int, score: alt.X, data: dict) -> Any:
    y = theme.names("model", alt.EncodingSortField("place", "min"), labelLimit=150)
    base = chart(data, "models").encode(y=y)
    dots = base.mark_point(filled=True, size=70, color=ESTIMATE).encode(x="score:Q")
    bars = base.mark_rule(strokeWidth=3, color=ESTIMATE).encode(x=score, x2="high:Q")
    size = {"width": WIDTH, "height": max(LEAST, ROW * len(data["models"]))}
    scores = alt.layer(bars, dots).properties(**size)
    if total == 1:
        return scores
    ticks = list(range(1, total + 1, -(-total // TICKS)))
    title = "possible ranks; gray: tie groups"
    x = across("best_rank", title, (0.5, total + 0.5), values=ticks, format="d")
    reach = base.mark_rule(strokeWidth=6, color=RANDOM).encode(x=x, x2="worst_rank:Q")
    ends = base.mark_point(filled=True, size=70, color=RANDOM)
    groups = chart(data, "groups").mark_line(strokeWidth=3, color=GRAY)
    ranks = alt.layer(
        reach,
        ends.encode(x="best_rank:Q"),
        ends.encode(x="worst_rank:Q"),
        groups.encode(y=y, x="middle:Q", detail="group:O"),
    )
    return alt.hconcat(scores, ranks.properties(**size), spacing=14)


def _tied(comparison: ItemComparison, models: list[dict]) -> list[dict]:
    """Return a row per model and tie group of several models, with the mean place of the group."""
    order = {name: k for k, name in enumerate(comparison.names, 1)}
    rows = []
    for group, names in enumerate(comparison.groups, 1):
        middle = (order[names[0]] + order[names[-1]]) / 2
        for name in names:
            k = order[name]
            if len(names) > 1 and k <= len(models):
                row = {"model": models[k - 1]["model"], "place": k}
                rows.append(row | {"group": group, "middle": middle})
    return rows


def _possible_ranks(row: dict) -> str:
    best, worst = row["best_rank"], row["worst_rank"]
    return str(best) if best == worst else f"{best} to {worst}"


def _short(names: list[str]) -> list[str]:
    """Return short names that are all different.

    The common beginning is left out, and long names are cut in the middle.
    """
    last = [name.rsplit("/", 1)[-1] for name in names]
    short = [
        name if len(name) <= SHORT else f"{name[: SHORT // 2]}…{name[-SHORT // 2 :]}"
        for name in last
    ]
    return short if len(set(short)) == len(names) else names
