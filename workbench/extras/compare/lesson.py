"""The scene of lesson 5 that ranks forty models on the same forms."""

import dataclasses
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
from workbench.widgets.chart_view import Panel, drive_figure, stops
from workbench.widgets.ranges import adjustable

LEADERS = 12  # models in the chart
BOARDS = 400  # tables of forty models for the averages
BOARD_FORMS = (50, 100, 200, 500, 1000, 3000)


@adjustable()
def winners() -> Panel:
    """Return the scene with the scores of forty models on the same forms, and their possible ranks.

    Parameters
    ----------
    **ranges
        Ranges of controls by their names: `n`, `ahead`, `seed`.

    Returns
    -------
    workbench.widgets.Panel
        Controls for the number of forms, the advantage of model 1, and the number of the sample.

    Examples
    --------
    A similar scene for four models that all have an accuracy of .9:

    >>> import ipywidgets
    >>> import numpy as np
    >>> import workbench as wb
    >>> from workbench.extras.compare import charts
    >>> from workbench.widgets import image
    >>> def scene(n=100):
    ...     correct = np.random.default_rng(0).random((n, 4)) < 0.9
    ...     return image(charts.ranks(wb.compare_items(wb.ItemScores(correct, range(4), range(n)))))
    >>> scene(50)  # doctest: +ELLIPSIS
    Chart: ...
    >>> ipywidgets.interact(scene, n=(50, 500, 50))  # doctest: +SKIP
    """
    controls = {
        "n": stops(BOARD_FORMS, 200, "Forms"),
        "ahead": ipywidgets.ToggleButtons(
            options=[("0 points", 0.0), ("3 points", 0.03), ("6 points", 0.06)],
            description="Model 1 is better by",
        ),
        "seed": ipywidgets.IntSlider(0, min=0, max=9, description="Sample number"),
    }
    scale = theme.span(0.75, 1)

    def figure(n: int, ahead: float, seed: int) -> theme.Figure:
        comparison = _board_of_models(n, ahead, seed)
        ranks = charts.ranks(comparison, most=LEADERS, scale=scale)
        return dataclasses.replace(ranks, title=_winner(comparison, ranks.title))

    return drive_figure(controls, figure)


def _winner(comparison: ItemComparison, title: str) -> str:
    first = comparison.ranks()[0]
    leads = f"{first['model']} leads with {first['score']:.1%}"
    if first["worst_rank"] == 1:
        return f"{leads} and is shown to be the best"
    ranks = f"{title[0].lower()}{title[1:]}"
    return f"{leads} and may have any rank from 1 to {first['worst_rank']}; {ranks}"


@functools.lru_cache(maxsize=64)
def _board_of_models(n: int, ahead: float, seed: int) -> ItemComparison:
    return compare_items(
        ItemScores(clerks.equal_models(n, ahead=ahead, seed=seed), clerks.MODELS, range(n))
    )


def best_of_many() -> Table:
    """Return the mean score of the best of many equal models, on these forms and on others."""
    boards = [clerks.equal_models(seed=seed) for seed in range(BOARDS)]
    score = np.array([board.mean(0) for board in boards])
    again = np.array([clerks.equal_models(seed=BOARDS + seed).mean(0) for seed in range(BOARDS)])
    rows = [
        {
            "models": many,
            "score of the best": f"{score[:, :many].max(1).mean():.1%}",
            "the same model on 200 other forms": _on_other_forms(score[:, :many], again),
            "best significantly better than last (unadjusted)": _share_alone(boards, many),
        }
        for many in CHOICES
    ]
    return Table(
        rows, f"The best of several of the forty models, on average over {BOARDS} times 200 forms"
    )


def _on_other_forms(score: np.ndarray, again: np.ndarray) -> str:
    """Return the mean score on other forms of the model that was best."""
    best = score.argmax(1)
    return f"{again[range(BOARDS), best].mean():.1%}"


def _share_alone(boards: list, many: int) -> str:
    """Return the proportion of tables whose unadjusted interval of best minus last is above 0."""
    if many == 1:
        return ""
    above_zero = 0
    for board in boards:
        mean = board.mean(0)[:many]
        pair = [mean.argmax(), mean.argmin()]
        if pair[0] != pair[1]:
            scores = ItemScores(board[:, pair], ["best", "last"], range(len(board)))
            above_zero += pair_interval(scores, "best", "last").low > 0
    return f"{above_zero / len(boards):.0%}"
