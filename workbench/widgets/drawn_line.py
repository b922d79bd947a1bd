"""A line that a learner draws over some periods, by pointer or keyboard."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anywidget
import traitlets

from workbench import checks

COLOR = "#009E73"

_CSS = """
.workbench-line { max-width: 1000px; margin: 4px 0; }
.workbench-line svg { display: block; width: 100%; touch-action: none; cursor: crosshair; color: inherit;
  color: var(--jp-ui-font-color1, inherit); font: 14px sans-serif; user-select: none; }
.workbench-line text { fill: currentColor; }
.workbench-line .grid { stroke: currentColor; stroke-opacity: .18; }
.workbench-line .truth { stroke: currentColor; stroke-width: 2; stroke-dasharray: 6 3; fill: none; }
.workbench-line .drawn { stroke: #009E73; stroke-width: 3; fill: none; }
.workbench-line .untouched { stroke-opacity: .45; }
.workbench-line circle { fill: #009E73; }
.workbench-line circle:focus { outline: none; stroke: currentColor; stroke-width: 3; }
.workbench-line [aria-disabled=true] { cursor: default; }
.workbench-line p { margin: 4px 8px; max-width: 70ch; color: var(--jp-ui-font-color1, inherit); }
"""


class DrawnLine(anywidget.AnyWidget):
    """A line with one point per period, dragged up and down or moved with the arrow keys; `value` is None until then.

    Parameters
    ----------
    start : float
        Where all points lie at first.
    low, high, step : float
        What can be drawn.
    truth : sequence of float
        A second, dashed line, one value per period.
    title, period : str
        What the height and one point stand for.

    Examples
    --------
    >>> line = DrawnLine(0.1, low=0.05, high=0.2, step=0.0025, truth=[0.1, 0.12], title="share", period="Month")
    >>> line.value is None
    True
    >>> line.value = [0.1, 0.11]
    >>> line.words(line.value)
    'a line from 10.0% to 11.0%'
    """

    _esm = Path(__file__).with_name("drawn_line.js")
    _css = _CSS
    value = traitlets.List(traitlets.Float(), default_value=None, allow_none=True).tag(sync=True)
    disabled = traitlets.Bool(False).tag(sync=True)
    setting = traitlets.Dict().tag(sync=True)

    def __init__(self, start: float, *, low: float, high: float, step: float, truth: Sequence[float], title: str,
                 period: str) -> None:
        setting = {"start": start, "low": low, "high": high, "step": step, "truth": list(truth), "title": title,
                   "period": period}
        super().__init__(setting=setting)

    @traitlets.validate("value")
    def _whole_line(self, proposal):
        drawn, setting = proposal["value"], self.setting
        return drawn if drawn is None else self.checked(drawn, setting)

    @staticmethod
    def checked(drawn: Sequence[float], setting: dict) -> list[float]:
        """Return a line as floats, or raise ValueError: a file changed by hand may hold anything."""
        count, (low, high) = len(setting["truth"]), (setting["low"], setting["high"])
        if len(drawn) != count:
            raise ValueError(f"a drawn line must have {count} values; got {len(drawn)}")
        return [checks.number("drawn line", each, low, high) for each in drawn]

    def words(self, drawn: Sequence[float]) -> str:
        """Return what a line is called in a sentence."""
        return f"a line from {drawn[0]:.1%} to {drawn[-1]:.1%}"
