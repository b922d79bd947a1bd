"""A text box for an answer, where cells cannot be edited or need not be."""

import html
from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets


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
    _css = Path(__file__).with_name("answer_box.css")
    exercise = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    longest = traitlets.Int().tag(sync=True)
    told = traitlets.Dict().tag(sync=True)

    def __init__(
        self, exercise: str, form: str, told: str, longest: int, judge: Callable[[str], str]
    ) -> None:
        super().__init__(
            exercise=exercise,
            label=f"Your answer to {exercise}: {form}",
            longest=longest,
            told={"number": 0, "html": told},
        )
        self._judge = judge
        self.on_msg(self._answer)

    def _answer(self, _: "AnswerBox | None", content: dict, buffers: list) -> None:
        if content.get("kind") == "answer":
            try:
                said = self._judge(str(content.get("text", ""))[: self.longest])
            except ValueError as error:
                said = f"<p role='alert'>{html.escape(str(error))}</p>"
            # the number makes a message of what is said twice
            self.told = {"number": self.told["number"] + 1, "html": said}
