"""Questions before answers: predictions, outputs that wait for them, and short explanations.

`predict` returns a question whose answer the learner locks. `reveal` and `compare` show an output
once it is locked. `Explanation` asks for two written lines.
"""

import functools
import html
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets
import numpy as np

from workbench.course.answers import says_something
from workbench.widgets.ranges import check_ranges
from workbench.widgets.saved_answers import saved_answers

REVEAL = "WORKBENCH_REVEAL"  # "all" shows every output at once, as for slides and tests
LEAST_WORDS = 3
LOOK = "Compare with the result"


class Told(ipywidgets.VBox):
    """A box that is shown as text if there are no widgets."""

    def __repr__(self) -> str:
        return self.said

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": repr(self)}


def _button(label: str, **traits: Any) -> ipywidgets.Button:
    return ipywidgets.Button(description=label, layout=ipywidgets.Layout(width="auto"), **traits)


def _strong(question: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(f"<strong>{html.escape(question)}</strong>")


class Prediction(Told):
    """A question. Locking the answer saves it and opens the outputs that wait for it.

    Parameters
    ----------
    name : str
        Name of the prediction, with the number of the lesson first, such as "1-gain".
    question : str
        Text of the question.
    control : ipywidget
        Control whose `value` is the answer, or None without an answer. An optional method
        `in_words` returns an answer as text.
    """

    def __init__(self, name: str, question: str, control: Any) -> None:
        self.name, self.question, self.control = name, question, control
        self._lock = _button("Lock my prediction", disabled=control.value is None)
        self._status = ipywidgets.HTML()
        super().__init__([_strong(question), control, self._lock, self._status])
        self.add_class("workbench-question")  # styled in chart_view.css
        self.control.observe(self._ready, "value")
        self._lock.on_click(lambda _: saved_answers().save(name, self.control.value))
        saved_answers().when_saved(name, self._locked)

    @property
    def said(self) -> str:
        """Return the question as text."""
        return f"Prediction: {self.question}"

    def _ready(self, _: Any) -> None:
        self._lock.disabled = self.control.value is None

    def _locked(self, prediction: list | str) -> None:
        if prediction in getattr(self.control, "options", [prediction]):
            self.control.value = prediction
        self.control.disabled = self._lock.disabled = True
        text = getattr(self.control, "in_words", _in_words)(prediction)
        self._status.value = (
            f"<p role='status'>You predicted <strong>{html.escape(text)}</strong> (saved "
            f"{html.escape(saved_answers().where)}). Now go on.</p>"
        )


def predict(name: str, question: str, choices: Iterable[str]) -> Prediction:
    """Return a question with choices.

    Parameters
    ----------
    name : str
        Name of the prediction. `reveal` waits for this name.
    question : str
        Text of the question.
    choices : iterable of str
        Possible answers.

    Examples
    --------
    >>> predict("0-coin", "Heads or tails?", ["heads", "tails"])
    Prediction: Heads or tails?
    """
    control = ipywidgets.RadioButtons(
        options=list(choices),
        value=None,
        description="I predict",
        layout=ipywidgets.Layout(width="auto"),
    )
    return Prediction(name, question, control)


class Reveal(Told):
    """An output that appears after an action of the learner and is computed only then.

    Parameters
    ----------
    waiting : ipywidget
        Widget shown before.
    said_before : str
        Text shown before if there are no widgets.
    show : callable
        Function that returns the output: a text, a widget, a result, or a list of these. It takes
        the prediction, or None if everything is revealed, as in slides.
    """

    def __init__(self, waiting: Any, said_before: str, show: Callable[[Any], Any]) -> None:
        self._said_before, self._show, self.parts = said_before, show, list[Any]()
        super().__init__([waiting])
        if os.environ.get(REVEAL) == "all":
            self.unveil(None)

    @property
    def said(self) -> str:
        """Return the output as text."""
        return "\n".join(map(_as_text, self.parts)) if self.parts else self._said_before

    def unveil(self, prediction: Any) -> None:
        """Show the output; a second call changes nothing."""
        if self.parts:
            return
        self.children = [ipywidgets.HTML("<p role='status'>working …</p>")]
        self.parts = _several(self._show(prediction))
        self.children = [widget_of(part) for part in self.parts]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        displays = [part for part in self.parts if hasattr(part, "_repr_mimebundle_")]
        pictures = [part for part in displays if hasattr(part, "view") or hasattr(part, "png")]
        if not pictures:
            tables = "".join(
                part._repr_html_() for part in self.parts if hasattr(part, "_repr_html_")
            )
            return bundle | ({"text/html": tables} if tables else {})
        data, metadata = pictures[0]._repr_mimebundle_()
        kinds = {"image/png"} & data.keys()
        return (
            bundle | {kind: data[kind] for kind in kinds},
            {kind: metadata[kind] for kind in kinds},
        )


def reveal(name: str, shown: Any, **controls: Any) -> Reveal:
    """Show a value or a scene once a prediction is locked.

    Use it in a lesson for outputs that learners must predict first. Until then it shows "Make your
    prediction first".

    Parameters
    ----------
    name : str
        Name of the prediction, such as "3-thousands".
    shown : object or callable
        Value to display. The texts or results of a list are shown one below the other. A function
        is called once with the prediction, or with None if everything is revealed, as in slides. It
        returns a text, a widget, a result, or a list of these.
    **controls
        Arguments for the function, such as the range of a slider. An invalid range raises
        RangeError at once.

    Returns
    -------
    Reveal
        The place in which the output appears.

    See Also
    --------
    check : Check an answer to an exercise.
    exercise : Add an exercise of your own.

    Examples
    --------
    >>> reveal("0-coin", lambda side: f"You predicted {side}. It was tails.")
    Make your prediction first.
    >>> reveal("0-coin", 0.5)
    Make your prediction first.
    """
    if callable(shown):
        check_ranges(shown, controls)
        output = _locked(functools.partial(shown, **controls))
    else:
        output = _locked(lambda _: shown if _are_parts(shown) else [shown])
    saved_answers().when_saved(name, output.unveil)
    return output


def _locked(show: Callable[[Any], Any]) -> Reveal:
    waiting = ipywidgets.HTML(
        "<p class='workbench-locked'><em>Make your prediction first: the output appears when "
        "you lock it.</em></p>"
    )
    return Reveal(waiting, "Make your prediction first.", show)


def compare(name: str, feedback: Mapping[str, str], show: Callable[[], Any]) -> Reveal:
    """Return a button that appears once a prediction is locked and shows the result.

    Parameters
    ----------
    name : str
        Name of the prediction.
    feedback : dict of str to str
        Feedback on each choice, shown before the result. May be empty.
    show : callable
        Function that returns the result, as in `Reveal`.

    Examples
    --------
    >>> compare("0-coin", {"heads": "Heads has not come up."}, lambda: "Tails.")
    Make your prediction first.
    """
    output = _locked(lambda predicted: [*answered(feedback, predicted), *_several(show())])

    def offer(predicted: Any) -> None:
        button = _button(LOOK)
        button.on_click(lambda _: output.unveil(predicted))
        output.children = output.children if output.parts else [button]

    saved_answers().when_saved(name, offer)
    return output


def look(feedback: Mapping[str, str], predicted: Any, show: Callable[[], Any]) -> Reveal:
    """Return the button of `compare` for a known prediction, as in the output of `reveal`."""
    return on_click(LOOK, lambda: [*answered(feedback, predicted), *_several(show())])


def answered(feedback: Mapping[str, str], predicted: Any) -> list[str]:
    """Return the prediction with the feedback on it, or an empty list if there is none.

    Examples
    --------
    >>> answered({"heads": "Heads has not come up."}, "heads")
    ['You predicted heads. Heads has not come up.']
    """
    if predicted not in feedback:
        return []
    return [f"You predicted {predicted}. {feedback[predicted]}"]


def on_click(label: str, show: Callable[[], Any]) -> Reveal:
    """Return a button that computes an output and shows it in its place.

    Parameters
    ----------
    label : str
        Text on the button.
    show : callable
        Function that returns the output, as in `Reveal`.

    Examples
    --------
    >>> on_click("Toss a coin", lambda: "Tails.")
    Button: Toss a coin
    """
    button = _button(label)
    output = Reveal(button, f"Button: {label}", lambda _: show())
    button.on_click(output.unveil)
    return output


class Explanation(Told):
    """A question that is answered in two lines, with a model answer shown afterwards.

    Parameters
    ----------
    name : str
        Name under which the lines are saved.
    question : str
        Text of the question.
    model : str
        Model answer, shown once the two lines are saved.
    mistakes : list of str
        Typical incorrect answers, each with an explanation.

    Examples
    --------
    >>> wrong = ["It fell on heads: one toss says little."]
    >>> Explanation("0-fair", "Why is the coin fair?", "It need not be.", wrong)
    Explain in two lines: Why is the coin fair?
    """

    def __init__(self, name: str, question: str, model: str, mistakes: Iterable[str]) -> None:
        self.question, self._model, self._mistakes = question, model, mistakes
        wide = ipywidgets.Layout(width="100%", max_width="700px")
        self._lines = [
            ipywidgets.Text(description=f"Line {number}", layout=wide) for number in (1, 2)
        ]
        self._keep = _button("Keep my two lines")
        self._status = ipywidgets.HTML()
        super().__init__([_strong(question), *self._lines, self._keep, self._status])
        self._keep.on_click(lambda _: self._written(name))
        saved_answers().when_saved(name, self._saved)

    @property
    def said(self) -> str:
        """Return the question as text."""
        return f"Explain in two lines: {self.question}"

    def _written(self, name: str) -> None:
        short = [
            line.description for line in self._lines if not says_something(line.value, LEAST_WORDS)
        ]
        problem = f"{' and '.join(short)}: write at least {LEAST_WORDS} different words."
        if not short:
            try:
                saved_answers().save(name, [line.value for line in self._lines])
                return
            except ValueError as error:
                problem = str(error)
        self._status.value = f"<p role='alert'>{html.escape(problem)}</p>"

    def _saved(self, texts: list[str] | str) -> None:
        if not isinstance(texts, list) or len(texts) != len(self._lines):
            return  # a file changed by hand
        for line, text in zip(self._lines, texts, strict=True):
            line.value, line.disabled = str(text), True
        self._keep.disabled = True
        mistakes = "".join(f"<li>{html.escape(mistake)}</li>" for mistake in self._mistakes)
        self._status.value = (
            f"<div role='status'><p>Saved {html.escape(saved_answers().where)}. Compare with a "
            f"model answer:</p><blockquote>{html.escape(self._model)}</blockquote>"
            f"<p>Typical incorrect answers:</p><ul>{mistakes}</ul></div>"
        )


def _in_words(prediction: list | str) -> str:
    return ", ".join(map(str, prediction)) if isinstance(prediction, list) else str(prediction)


def _are_parts(value: Any) -> bool:
    """Return whether a value is a list of texts or results."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(part, str) or hasattr(part, "_repr_html_") for part in value)
    )


def _several(output: Any) -> list:
    return list(output) if isinstance(output, (list, tuple)) else [output]


def _as_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    return repr(part.item() if isinstance(part, np.generic) else part)


def widget_of(part: Any) -> Any:
    """Return a widget that shows a text or a result; a widget is returned unchanged."""
    if isinstance(part, ipywidgets.Widget) or hasattr(part, "comm"):
        return part
    if hasattr(part, "_repr_html_"):
        style = "max-width: calc(100vw - 2em); overflow-x: auto"
        text = f"<div style='{style}'>{part._repr_html_()}</div>"
    else:
        text = f"<p style='white-space: pre-wrap'>{html.escape(_as_text(part))}</p>"
    widget = ipywidgets.HTML(text)
    widget.add_class("jp-RenderedHTMLCommon")  # tables look as in other outputs
    return widget
