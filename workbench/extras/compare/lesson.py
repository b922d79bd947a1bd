"""The scene of lesson 5 in which forty models are ranked on the same forms."""

import functools

import ipywidgets
import numpy as np

from workbench.charts import theme
from workbench.course import clerks
from workbench.extras.compare import charts
from workbench.extras.compare.comparison import ItemComparison, compare_items, pair_interval
from workbench.extras.compare.item_scores import ItemScores
from workbench.lessons.cross_validation.views import CHOICES
from workbench.results import Table
from workbench.widgets.chart_view import Panel, drive_chart, stops
from workbench.widgets.ranges import adjustable

LEADERS = 12  # models that are drawn


BOARDS = 400  # tables of forty models, in the long run


BOARD_FORMS = (50, 100, 200, 500, 1000, 3000)


@adjustable()
def winners() -> Panel:
    """Return the view of forty models on the same forms: their scores, and the ranks that they may have.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `n`, `ahead`, `seed`.

    Returns
    -------
    workbench.widgets.Panel
        Controls: forms, by how much model 1 is better than all others, which forms.
    """
    controls = {
        "n": stops(BOARD_FORMS, 200, "Forms"),
        "ahead": ipywidgets.ToggleButtons(
            options=[("0 points", 0.0), ("3 points", 0.03), ("6 points", 0.06)],
            description="Model 1 is better by",
        ),
        "seed": ipywidgets.IntSlider(0, min=0, max=9, description="Other forms"),
    }
    scale = theme.span(0.75, 1)

    def compared(n: int, ahead: float, seed: int) -> tuple:
        return (_board_of_models(n, ahead, seed),)

    return drive_chart(
        controls,
        compared,
        lambda found: charts.ranks_data(found, LEADERS),
        _winners_words,
        lambda found: charts.ranks(found, most=LEADERS, scale=scale, words=_winners_words),
    )


def _winners_words(found: ItemComparison) -> tuple[str, str]:
    title, said = charts.ranks_words(found)
    first = found.ranks()[0]
    return (
        f"{first['model']} leads with {first['score']:.1%}, and may have any rank from 1 to {first['worst_rank']}; "
        f"{title[0].lower()}{title[1:]}"
        if first["worst_rank"] > 1
        else f"{first['model']} leads with {first['score']:.1%}, and is shown to be the best",
        said,
    )


@functools.lru_cache(maxsize=64)
def _board_of_models(n: int, ahead: float, seed: int) -> ItemComparison:
    return compare_items(
        ItemScores(clerks.equal_models(n, ahead=ahead, seed=seed), clerks.MODELS, range(n))
    )


def best_of_many() -> Table:
    """Return the score of the best of many equal models on these forms, and on others."""
    boards = [clerks.equal_models(seed=seed) for seed in range(BOARDS)]
    score = np.array([board.mean(0) for board in boards])
    again = np.array([clerks.equal_models(seed=BOARDS + seed).mean(0) for seed in range(BOARDS)])
    rows = [
        {
            "models": many,
            "score of the best": f"{score[:, :many].max(1).mean():.1%}",
            "the same model on 200 other forms": f"{again[range(BOARDS), score[:, :many].argmax(1)].mean():.1%}",
            "best beats last, if compared alone": _share_alone(boards, many),
        }
        for many in CHOICES
    ]
    return Table(
        rows, f"The best of some of the forty models, on average of {BOARDS} times 200 forms"
    )


def _share_alone(boards: list, many: int) -> str:
    """Return in which share of boards the interval of the best and the last model alone lies above 0."""
    if many == 1:
        return ""
    ends = [(board.mean(0)[:many].argmax(), board.mean(0)[:many].argmin()) for board in boards]
    shown = [
        pair_interval(
            ItemScores(board[:, [a, b]], ["best", "last"], range(len(board))), "best", "last"
        ).low
        > 0
        for board, (a, b) in zip(boards, ends, strict=True)
        if a != b
    ]
    return f"{sum(shown) / len(boards):.0%}"
