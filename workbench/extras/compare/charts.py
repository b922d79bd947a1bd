"""Charts of models compared on the same items: scores, possible ranks and tie groups."""

from collections.abc import Callable

import altair as alt

from workbench.charts import theme
from workbench.extras.compare.comparison import ItemComparison
from workbench.results import percent
from workbench.results.digits import number

SHOWN = 40
TICKS = 10  # of ranks
WIDTH, ROW, LEAST = 250, 24, 70  # pixels
SHORT = 24


def ranks_words(comparison: ItemComparison) -> tuple[str, str]:
    """Return the title and the text alternative of `ranks`."""
    rows, level = comparison.ranks(), percent(comparison.level)
    said = "; ".join(
        f"{row['model']} {number(row['score'])}, rank {_from_to(row)}" for row in rows[:12]
    )
    if len(rows) == 1:
        (row,) = rows
        return (
            f"{row['model']}: mean score {number(row['score'])}",
            f"The mean score of {row['model']}, {number(row['score'])}, with its {level} "
            f"confidence interval, {number(row['low'])} to {number(row['high'])}.",
        )
    sure = sum(row["best_rank"] == row["worst_rank"] for row in rows)
    title = (
        f"{sure} of {len(rows)} ranks {'is' if sure == 1 else 'are'} certain"
        if sure
        else "No rank is certain"
    )
    return title, (
        f"Mean scores with a separate {level} confidence interval for each model, and the "
        f"possible ranks of each model. In {level} of samples all these ranks are correct. "
        f"{said}{'; …' if len(rows) > 12 else ''}."
    )


def ranks_data(comparison: ItemComparison, most: int = SHOWN) -> dict:
    """Return the data of `ranks`: the best models and their tie groups."""
    rows = comparison.ranks()[:most]
    names = _short([row["model"] for row in rows])
    drawn = [
        {**row, "model": name, "place": k}
        for k, (row, name) in enumerate(zip(rows, names, strict=True), 1)
    ]
    return {"models": drawn, "groups": _tied(comparison, drawn)}


def ranks(
    comparison: ItemComparison,
    *,
    most: int = SHOWN,
    scale: alt.Scale | None = None,
    words: Callable[[ItemComparison], tuple[str, str]] = ranks_words,
) -> alt.TopLevelMixin:
    """Return a chart of the scores of models, their possible ranks and their tie groups.

    Parameters
    ----------
    comparison : workbench.ItemComparison
    most : int
        Number of models in the chart, the best ones.
    scale : altair.Scale, optional
        Scale of the scores.
    words : callable
        Returns the title and the text alternative of a comparison.
    """
    data = ranks_data(comparison, most)
    y = alt.Y(
        "model:N",
        sort=alt.EncodingSortField("place", "min"),
        title=None,
        axis=alt.Axis(labelLimit=150),
    )
    base = theme.Chart(theme.rows("models", data["models"])).encode(y=y)
    scores = base.mark_rule(strokeWidth=3, color=theme.ESTIMATE).encode(
        x=alt.X(
            "low:Q",
            title="mean score",
            scale=scale or alt.Scale(zero=False),
            axis=theme.percents() if comparison.bounds == (0, 1) else alt.Axis(),
        ),
        x2="high:Q",
    ) + base.mark_point(filled=True, size=70, color=theme.ESTIMATE).encode(x="score:Q")
    size = {"width": WIDTH, "height": max(LEAST, ROW * len(data["models"]))}
    if len(comparison.names) == 1:
        return theme.finish(scores.properties(**size), *words(comparison), width=None, height=None)
    models = len(comparison.names)
    ranks = alt.Axis(values=list(range(1, models + 1, -(-models // TICKS))), format="d")
    places = alt.X(
        "best_rank:Q",
        title="possible ranks; gray: tie groups",
        scale=theme.span(0.5, models + 0.5),
        axis=ranks,
    )
    bars = base.mark_rule(strokeWidth=6, color=theme.RANDOM).encode(x=places, x2="worst_rank:Q")
    ends = [
        base.mark_point(filled=True, size=70, color=theme.RANDOM).encode(x=f"{end}_rank:Q")
        for end in ("best", "worst")
    ]
    tied = (
        theme.Chart(theme.rows("groups", data["groups"]))
        .mark_line(strokeWidth=3, color=theme.GRAY)
        .encode(y=y, x="middle:Q", detail="group:O")
    )
    chart = alt.hconcat(
        *(view.properties(**size) for view in (scores, alt.layer(bars, *ends, tied))), spacing=14
    )
    return theme.finish(chart, *words(comparison), width=None, height=None)


def _tied(comparison: ItemComparison, drawn: list[dict]) -> list[dict]:
    """Return a row per model and tie group of several models, with the mean place of the group."""
    place = {name: k for k, name in enumerate(comparison.names, 1)}
    return [
        {
            "model": drawn[place[name] - 1]["model"],
            "place": place[name],
            "group": group,
            "middle": (place[names[0]] + place[names[-1]]) / 2,
        }
        for group, names in enumerate(comparison.groups, 1)
        if len(names) > 1
        for name in names
        if place[name] <= len(drawn)
    ]


def _from_to(row: dict) -> str:
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
