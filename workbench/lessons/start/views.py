"""Scenes of the start page: the mean confidence of a program, and its accuracy."""

import numpy as np

from workbench.charts import start as charts
from workbench.course.digit_forms import digit_forms
from workbench.lessons.content import lesson_texts
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView
from workbench.widgets.questions import Prediction, Reveal

TEXTS = lesson_texts("start")


def predict_sure() -> Prediction:
    """Return the question that the course begins with."""
    return TEXTS.predict("0-sure")


def reveal_sure() -> Reveal:
    """Return the answer, which waits for the prediction and shows it."""
    return questions.reveal(
        "0-sure",
        lambda guess: [*TEXTS.answered("0-sure", guess), sure(TEXTS.value("0-sure", guess))],
    )


def sure(predicted: float | None = None) -> ChartView:
    """Return a picture of the program's mean confidence next to its accuracy.

    Parameters
    ----------
    predicted : float, optional
        The learner's guess, a proportion.
    """
    items = digit_forms().items()
    return ChartView(
        charts.sureness(float(items.score.mean()), float(np.mean(items.correct)), predicted)
    )
