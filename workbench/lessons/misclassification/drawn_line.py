"""A line that a learner draws over the months, by pointer or keyboard."""

from collections.abc import Sequence
from typing import Any

import ipywidgets
import traitlets

from workbench import checks
from workbench.charts.misclassification import lines as charts
from workbench.widgets.chart_view import ChartView


class DrawnLine(ipywidgets.VBox):
    """A line with one point per month that can be dragged up and down.

    The `value` is None until a point is moved.

    Parameters
    ----------
    start : float
        Value of all points at first.
    true_shares : sequence of float
        True proportion of each month, which is shown next to the line.

    Examples
    --------
    >>> line = DrawnLine(0.1, [0.1, 0.12, 0.14])
    >>> line.value is None
    True
    >>> line.drag({"drag": 3, "x": 3.0, "y": 0.13})
    >>> line.value
    [0.1, 0.1, 0.13]
    >>> line.in_words(line.value)
    'a line from 10.0% to 13.0%'
    """

    value: Any = traitlets.List(default_value=None, allow_none=True)
    disabled = traitlets.Bool(False)

    def __init__(self, start: float, true_shares: Sequence[float]) -> None:
        self._start, self._true_shares, self._before = start, list(true_shares), (0, start)
        self.view = ChartView(charts.drawing(self._line, self._true_shares, touched=False))
        self.view.on_drag(self.drag)
        super().__init__([self.view])

    @property
    def _line(self) -> list:
        return self.value or [self._start] * len(self._true_shares)

    def drag(self, point: dict) -> None:
        """Move the point of a month. A sweep over several months draws a line between them.

        Parameters
        ----------
        point : dict
            Argument of `ChartView.on_drag`: month of the dragged point, position of the pointer.
        """
        if self.disabled:
            return
        last, (low, high) = len(self._true_shares), charts.HEIGHTS
        month, share = min(max(round(point["x"]), 1), last), min(max(point["y"], low), high)
        start, old = (month, share) if month == point["drag"] else self._before
        line, steps = list(self._line), abs(month - start)
        for step in range(steps + 1):
            part = step / steps if steps else 1
            line[round(start + part * (month - start)) - 1] = old + part * (share - old)
        self._before = month, share
        self.value = line

    def in_words(self, drawn: Sequence[float]) -> str:
        """Return a description of a line, for use in a sentence."""
        return f"a line from {drawn[0]:.1%} to {drawn[-1]:.1%}"

    @traitlets.validate("value")
    def _whole_line(self, proposal: Any) -> list:
        drawn, count = proposal["value"], len(self._true_shares)
        if drawn is not None and len(drawn) != count:  # a file changed by hand
            raise traitlets.TraitError(
                f"a drawn line must have {count} proportions; got {len(drawn)}"
            )
        return drawn and [checks.number("drawn line", share, *charts.HEIGHTS) for share in drawn]

    @traitlets.observe("value", "disabled")
    def _redraw(self, _: Any) -> None:
        touched, loose = self.value is not None, not self.disabled
        figure = charts.drawing(self._line, self._true_shares, touched=touched, loose=loose)
        self.view.show_figure(figure)
