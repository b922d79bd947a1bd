"""A text box for an answer, for pages without cells that learners edit."""

import html
from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets


class AnswerBox(anywidget.AnyWidget):
    """A text box with a button, and above them the feedback on the last answer. Enter submits.

    Parameters
    ----------
    exercise : str
        Number of the exercise.
    form : str
        Description of what to answer with.
    feedback : str
        First feedback, as HTML.
    longest : int
        Largest number of characters that can be typed.
    judge : callable
        Function that takes the typed text and returns feedback as HTML. The message of a ValueError
        is shown as text.

    Examples
    --------
    >>> box = AnswerBox("1.1", "a proportion", "<p>No answer yet.</p>", 100, str.upper)
    >>> box.label
    'Your answer to 1.1: a proportion'
    """

    _esm = Path(__file__).with_name("answer_box.js")
    _css = Path(__file__).with_name("answer_box.css")
    exercise = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    longest = traitlets.Int().tag(sync=True)
    feedback = traitlets.Dict().tag(sync=True)

    def __init__(
        self, exercise: str, form: str, feedback: str, longest: int, judge: Callable[[str], str]
    ) -> None:
        super().__init__(
            exercise=exercise,
            label=f"Your answer to {exercise}: {form}",
            longest=longest,
            feedback={"number": 0, "html": feedback},
        )
        self._judge = judge
        self.on_msg(self._answer)

    def _answer(self, _: "AnswerBox | None", content: dict, buffers: list) -> None:
        if content.get("kind") == "answer":
            try:
                feedback = self._judge(str(content.get("text", ""))[: self.longest])
            except ValueError as error:
                feedback = f"<p role='alert'>{html.escape(str(error))}</p>"
            # the number makes the page show a repeated feedback again
            self.feedback = {"number": self.feedback["number"] + 1, "html": feedback}
