"""A prediction that the learner locks before they see the answer."""
from __future__ import annotations

import html
from collections.abc import Sequence

import ipywidgets


class Prediction(ipywidgets.VBox):
    """A question with choices; locking one shows the answer and keeps the choice.

    Parameters
    ----------
    question : str
    choices : list of str
    answer : str
        Shown once a choice is locked.
    """

    def __init__(self, question, choices, answer):
        self._question, self._answer = question, answer
        self._choice = ipywidgets.RadioButtons(options=choices, value=None, description="I predict")
        self._lock = ipywidgets.Button(description="Lock my answer", disabled=True)
        self._told = ipywidgets.HTML()
        super().__init__([ipywidgets.HTML(f"<strong>{html.escape(question)}</strong>"), self._choice, self._lock,
                          self._told])
        self._choice.observe(self._ready, "value")
        self._lock.on_click(self._reveal)

    def _ready(self, _):
        self._lock.disabled = False

    def _reveal(self, _):
        self._choice.disabled = self._lock.disabled = True
        self._told.value = (f"<p role='status'>You predicted <strong>{html.escape(str(self._choice.value))}</strong>. "
                            f"{html.escape(self._answer)}</p>")

    def __repr__(self) -> str:
        return f"Prediction: {self._question}"

    def _repr_mimebundle_(self, **kwargs):
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": repr(self)}


def predict(question: str, choices: Sequence[str], answer: str) -> Prediction:
    """Return a `Prediction`.

    Examples
    --------
    >>> predict("Heads or tails?", ["heads", "tails"], "Tails.")
    Prediction: Heads or tails?
    """
    return Prediction(question, choices, answer)
