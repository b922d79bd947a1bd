"""A widget for the items of a paper in a lesson: choose one and run it."""

from typing import Any

import ipywidgets

from workbench import checks
from workbench.extras.papers import replay
from workbench.extras.papers.registry import all_items, papers
from workbench.widgets.chart_view import ChartView
from workbench.widgets.questions import widget_of


class ReplayBox(ipywidgets.VBox):
    """A list of the items of a paper, and a button that runs the selected one."""

    def __init__(self, paper: str) -> None:
        self._paper = paper
        self._items = {item.name: item for item in all_items() if item.name.startswith(f"{paper}/")}
        self._chosen = ipywidgets.Dropdown(
            options=[(f"{name.split('/')[1]}: {i.claim}", name) for name, i in self._items.items()],
            description="Item of the paper",
            layout=ipywidgets.Layout(width="100%"),
            style={"description_width": "initial"},
        )
        self._run = ipywidgets.Button(description="Run it again")
        self._status, self._output = ipywidgets.HTML(), ipywidgets.VBox()
        super().__init__([self._chosen, ipywidgets.HBox([self._run, self._status]), self._output])
        self._run.on_click(self._show)

    def _show(self, _: Any) -> None:
        name = self._chosen.value
        self._run.disabled = True
        self._status.value = f"running {name}, about {self._items[name].seconds} s ..."
        self._output.children = []
        try:
            result = replay(name)
            chart = result.chart()
            pictures = [] if chart is None else [ChartView(chart)]
            self._output.children = [widget_of(result), *pictures]
        finally:
            self._run.disabled, self._status.value = False, ""

    def __repr__(self) -> str:
        return f"Replays of {self._paper}: {checks.counted(len(self._items), 'item')}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": repr(self)}


def replay_box(paper: str) -> ReplayBox:
    """Return a widget that replays the tables, figures and theorems of a paper one at a time.

    Parameters
    ----------
    paper : str
        The part before "/" of the names in `workbench.replay_list`.

    Returns
    -------
    ReplayBox
        The widget.

    Raises
    ------
    ValueError
        If there is no such paper.

    Examples
    --------
    >>> replay_box("kloos")
    Replays of kloos: 10 items
    """
    checks.choice("paper", paper, [entry.name for entry in papers()])
    return ReplayBox(paper)
