"""A text box for an answer, where cells cannot be edited or need not be."""
from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets

_CSS = """
.workbench-answer { margin: 4px 5px 12px; color: var(--jp-ui-font-color1, inherit);
  font: var(--jp-content-font-size1, 14px)/1.5 var(--jp-content-font-family, sans-serif); }
.workbench-answer p { margin: 4px 0; max-width: 70ch; overflow-wrap: anywhere; }
.workbench-answer form { display: flex; flex-flow: row wrap; gap: 4px 8px; align-items: end; max-width: 70ch; }
.workbench-answer label { flex: 1 1 16em; min-width: 0; }
.workbench-answer input { display: block; box-sizing: border-box; width: 100%; padding: 4px 8px; font: inherit;
  color: inherit; background: var(--jp-layout-color0, Canvas); border: 1px solid var(--jp-ui-font-color2, #616161); }
.workbench-answer button { padding: 4px 16px; font: inherit; color: inherit; cursor: pointer;
  background: var(--jp-layout-color2, #eee); border: 1px solid var(--jp-ui-font-color2, #616161); }
.workbench-answer :is(input, button):focus-visible { outline: 2px solid var(--jp-brand-color1, #1976d2);
  outline-offset: -1px; }
"""


class AnswerBox(anywidget.AnyWidget):
    """A line to type into, a button, and above them what was said to the last answer; Enter submits.

    Parameters
    ----------
    exercise : str
        Its number.
    form : str
        What is asked for.
    told : str
        HTML that stands above at first.
    longest : int
        The most characters that can be typed.
    judge : callable
        Takes the text that was typed and returns HTML; the message of a ValueError is shown as text.

    Examples
    --------
    >>> AnswerBox("1.1", "a share", "<p>No answer yet.</p>", 100, lambda text: f"<p>{len(text)} characters</p>").label
    'Your answer to 1.1: a share'
    """

    _esm = Path(__file__).with_name("answer_box.js")
    _css = _CSS
    exercise = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    longest = traitlets.Int().tag(sync=True)
    told = traitlets.Dict().tag(sync=True)

    def __init__(self, exercise: str, form: str, told: str, longest: int, judge: Callable[[str], str]) -> None:
        super().__init__(exercise=exercise, label=f"Your answer to {exercise}: {form}", longest=longest,
                         told={"number": 0, "html": told})
        self._judge = judge
        self.on_msg(self._answer)

    def _answer(self, _, content, buffers):
        if content.get("kind") == "answer":
            try:
                said = self._judge(str(content.get("text", ""))[:self.longest])
            except ValueError as error:
                said = f"<p role='alert'>{html.escape(str(error))}</p>"
            # the number makes a message of what is said twice
            self.told = {"number": self.told["number"] + 1, "html": said}
