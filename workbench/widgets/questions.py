"""Questions that come before answers: a prediction that is locked, a reveal that waits for it, two written lines."""

import functools
import html
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets
import numpy as np

from workbench.course.answers import says_something
from workbench.widgets.kept import kept
from workbench.widgets.ranges import RangeError

REVEAL = "WORKBENCH_REVEAL"  # "all": slides and tests show what learners must predict first
LEAST_WORDS = 3
LOOK = "Compare with what there was to see"


class Told(ipywidgets.VBox):
    """A box that can be shown as one line of text where there are no widgets."""

    def __repr__(self) -> str:
        return self.said

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": repr(self)}


def _button(label: str, **traits: Any) -> ipywidgets.Button:
    return ipywidgets.Button(description=label, layout=ipywidgets.Layout(width="auto"), **traits)


def _asked(question: str) -> ipywidgets.HTML:
    return ipywidgets.HTML(f"<strong>{html.escape(question)}</strong>")


class Prediction(Told):
    """A question; locking the answer keeps it and opens the reveals that wait for it.

    Parameters
    ----------
    name : str
        Under which it is kept, the lesson's number first: "1-gain".
    question : str
    control : ipywidget
        Its `value` is the answer, None before there is one; a method `words` may say an answer in a sentence.
    """

    def __init__(self, name: str, question: str, control: Any) -> None:
        self.name, self.question, self.control = name, question, control
        self._lock = _button("Lock my prediction", disabled=control.value is None)
        self._status = ipywidgets.HTML()
        super().__init__([_asked(question), control, self._lock, self._status])
        self.add_class("workbench-question")  # styled beside the charts
        self.control.observe(self._ready, "value")
        self._lock.on_click(lambda _: kept().keep(name, self.control.value))
        kept().when_kept(name, self._locked)

    @property
    def said(self) -> str:
        """The question, as text."""
        return f"Prediction: {self.question}"

    def _ready(self, _: Any) -> None:
        self._lock.disabled = self.control.value is None

    def _locked(self, prediction: list | str) -> None:
        if prediction in getattr(self.control, "options", [prediction]):
            self.control.value = prediction
        self.control.disabled = self._lock.disabled = True
        said = getattr(self.control, "words", _words)(prediction)
        self._status.value = (
            f"<p role='status'>You predicted <strong>{html.escape(said)}</strong> (kept "
            f"{html.escape(kept().where)}). Now go on.</p>"
        )


def predict(name: str, question: str, choices: Iterable[str]) -> Prediction:
    """Return a question with choices.

    Parameters
    ----------
    name : str
        Under which the prediction is kept; `reveal` waits for it.
    question : str
    choices : iterable of str

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
    """What a learner sees after a first step of theirs; nothing is computed before.

    Parameters
    ----------
    waiting : ipywidget
        Shown until then.
    said_before : str
        What stands there until then where there are no widgets.
    show : callable
        Takes what opened it (None where all is revealed, as in slides) and returns what is shown: a text, a widget, a
        result, or a list of these.
    """

    def __init__(self, waiting: Any, said_before: str, show: Callable[[Any], Any]) -> None:
        self._said_before, self._show, self.parts = said_before, show, list[Any]()
        super().__init__([waiting])
        if os.environ.get(REVEAL) == "all":
            self.unveil(None)

    @property
    def said(self) -> str:
        """What is shown, as text."""
        return "\n".join(map(_plain, self.parts)) if self.parts else self._said_before

    def unveil(self, opened_by: Any) -> None:
        """Show what waits; a second time changes nothing."""
        if self.parts:
            return
        self.children = [ipywidgets.HTML("<p role='status'>working …</p>")]
        try:
            self.parts = _several(self._show(opened_by))
        except RangeError as error:  # a page shows no error of what a button starts
            self.parts = [str(error)]
        self.children = [widget_of(part) for part in self.parts]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        displays = [part for part in self.parts if hasattr(part, "_repr_mimebundle_")]
        pictures = [part for part in displays if hasattr(part, "view") or hasattr(part, "png")]
        if not pictures:
            tables = [part._repr_html_() for part in self.parts if hasattr(part, "_repr_html_")]
            return bundle | ({"text/html": "".join(tables)} if tables else {})
        shown = pictures[0]._repr_mimebundle_()
        data, metadata = shown if isinstance(shown, tuple) else (shown, {})
        picture = {"image/png"} & data.keys()
        return bundle | {kind: data[kind] for kind in picture}, {
            kind: metadata[kind] for kind in picture
        }


def reveal(name: str, shown: Any, **controls: Any) -> Reveal:
    """Show a value or a scene once a prediction is locked, and "Make your prediction first" until then.

    Parameters
    ----------
    name : str
        Name of the prediction, such as "3-thousands".
    shown : object or callable
        A value to display, or a list of values. A function is called once, with the prediction (None where everything
        is revealed, as in slides), and returns what to display.
    **controls
        Passed on to the function, such as the range of a slider.

    Returns
    -------
    Reveal

    Examples
    --------
    >>> reveal("0-coin", lambda side: f"You said {side}. Tails.")
    Make your prediction first.
    >>> reveal("0-coin", 0.5)
    Make your prediction first.
    """
    if callable(shown):
        place = _locked(functools.partial(shown, **controls))
    else:
        place = _locked(lambda _: shown)
    kept().when_kept(name, place.unveil)
    return place


def _locked(show: Callable[[Any], Any]) -> Reveal:
    waiting = ipywidgets.HTML(
        "<p class='workbench-locked'><em>Make your prediction first: what belongs here appears "
        "when it is locked.</em></p>"
    )
    return Reveal(waiting, "Make your prediction first.", show)


def compare(name: str, words: Mapping[str, str], show: Callable[[], Any]) -> Reveal:
    """Return a place that offers a button once a prediction is locked, and behind it what there was to see.

    Parameters
    ----------
    name : str
        Of the prediction.
    words : dict of str to str
        What is said of each choice, before what is shown; empty for nothing.
    show : callable
        Returns what `Reveal` shows.

    Examples
    --------
    >>> compare("0-coin", {"heads": "Heads has not come up."}, lambda: "Tails.")
    Make your prediction first.
    """
    place = _locked(lambda predicted: [*answered(words, predicted), *_several(show())])

    def offer(predicted: Any) -> None:
        button = _button(LOOK)
        button.on_click(lambda _: place.unveil(predicted))
        place.children = place.children if place.parts else [button]

    kept().when_kept(name, offer)
    return place


def look(words: Mapping[str, str], predicted: Any, show: Callable[[], Any]) -> Reveal:
    """Return the button of `compare` where a prediction is known already, as in what `reveal` shows."""
    return on_click(LOOK, lambda: [*answered(words, predicted), *_several(show())])


def answered(words: Mapping[str, str], predicted: Any) -> list[str]:
    """Return what was predicted and what is to be said of it; nothing where there is neither.

    Examples
    --------
    >>> answered({"heads": "Heads has not come up."}, "heads")
    ['You predicted heads. Heads has not come up.']
    """
    return [f"You predicted {predicted}. {words[predicted]}"] if predicted in words else []


def on_click(label: str, show: Callable[[], Any]) -> Reveal:
    """Return a button that computes and shows something in its place.

    Parameters
    ----------
    label : str
        Of the button.
    show : callable
        Returns what `Reveal` shows.

    Examples
    --------
    >>> on_click("Toss a coin", lambda: "Tails.")
    Button: Toss a coin
    """
    button = _button(label)
    place = Reveal(button, f"Button: {label}", lambda _: show())
    button.on_click(place.unveil)
    return place


class Explanation(Told):
    """Two written lines that are kept before a model answer is shown.

    Parameters
    ----------
    name, question : str
    model : str
        The model answer.
    mistakes : list of str
        Typical wrong answers, each with what is wrong about it.
    """

    def __init__(self, name: str, question: str, model: str, mistakes: Iterable[str]) -> None:
        self.question, self._model, self._mistakes = question, model, mistakes
        wide = ipywidgets.Layout(width="100%", max_width="700px")
        self._lines = [
            ipywidgets.Text(description=f"Line {number}", layout=wide) for number in (1, 2)
        ]
        self._keep = _button("Keep my two lines")
        self._status = ipywidgets.HTML()
        super().__init__([_asked(question), *self._lines, self._keep, self._status])
        self._keep.on_click(lambda _: self._written(name))
        kept().when_kept(name, self._kept)

    @property
    def said(self) -> str:
        """The question, as text."""
        return f"Explain in two lines: {self.question}"

    def _written(self, name: str) -> None:
        short = [
            line.description for line in self._lines if not says_something(line.value, LEAST_WORDS)
        ]
        if short:
            self._status.value = (
                f"<p role='alert'>{' and '.join(short)}: write at least {LEAST_WORDS} different "
                "words.</p>"
            )
            return
        try:
            kept().keep(name, [line.value for line in self._lines])
        except ValueError as error:
            self._status.value = f"<p role='alert'>{html.escape(str(error))}</p>"

    def _kept(self, written: list[str] | str) -> None:
        if not isinstance(written, list) or len(written) != len(
            self._lines
        ):  # a file changed by hand
            return
        for line, text in zip(self._lines, written, strict=True):
            line.value, line.disabled = str(text), True
        self._keep.disabled = True
        mistakes = "".join(f"<li>{html.escape(mistake)}</li>" for mistake in self._mistakes)
        where = html.escape(kept().where)
        self._status.value = (
            f"<div role='status'><p>Kept {where}. Compare with a model answer:</p>"
            f"<blockquote>{html.escape(self._model)}</blockquote>"
            f"<p>Typical wrong answers:</p><ul>{mistakes}</ul></div>"
        )


def explain(name: str, question: str, model: str, mistakes: Iterable[str]) -> Explanation:
    """Return a question that is answered in two written lines, before a model answer is shown.

    Parameters
    ----------
    name, question : str
    model : str
        The model answer, shown once two lines are kept.
    mistakes : list of str
        Typical wrong answers and what is wrong about each.

    Examples
    --------
    >>> explain("0-fair", "Why is the coin fair?", "It need not be.", ["It fell on heads: one toss says little."])
    Explain in two lines: Why is the coin fair?
    """
    return Explanation(name, question, model, mistakes)


def _words(prediction: list | str) -> str:
    return ", ".join(map(str, prediction)) if isinstance(prediction, list) else str(prediction)


def _several(shown: Any) -> list:
    return list(shown) if isinstance(shown, (list, tuple)) else [shown]


def _plain(part: Any) -> str:
    if isinstance(part, str):
        return part
    return repr(part.item() if isinstance(part, np.generic) else part)


def widget_of(part: Any) -> Any:
    """Return a widget that shows a text or a result; a widget is returned as it is."""
    if isinstance(part, ipywidgets.Widget) or hasattr(part, "comm"):
        return part
    text = (
        f"<div style='max-width: calc(100vw - 2em); overflow-x: auto'>{part._repr_html_()}</div>"
        if hasattr(part, "_repr_html_")
        else f"<p style='white-space: pre-wrap'>{html.escape(_plain(part))}</p>"
    )
    return ipywidgets.HTML(text).add_class(
        "jp-RenderedHTMLCommon"
    )  # tables look as they do in other outputs
