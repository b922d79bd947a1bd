"""Live views of the start page: how sure a program is, and how often it is right."""

import numpy as np

from workbench.charts import start as charts
from workbench.course.digit_forms import digit_forms
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView
from workbench.widgets.questions import Prediction, Reveal

GUESSES = {"97%": 0.97, "93%": 0.93, "88%": 0.88, "75%": 0.75}
ANSWERS = {"0-sure": ("87.7%", "0.877", ".877")}
SURE = {
    "97%": "You took its word. But how sure it is, it computes itself; nobody checked that against the truth.",
    "93%": "You expected it to boast, but less than it does.",
    "88%": "That is right: it misreads one form in eight, and does not say so.",
    "75%": "You expected it to boast, and it does; but it reads better than that.",
}


def predict_sure() -> Prediction:
    """Return the question that the course begins with."""
    items = digit_forms().items()
    return questions.predict(
        "0-sure",
        f"The program says of each reading how sure it is: {items.score.mean():.1%} on "
        f"average. In how many of the {items.size:,} forms is it right?",
        list(GUESSES),
    )


def reveal_sure() -> Reveal:
    """Return the answer, which waits for the prediction and shows it."""
    return questions.reveal(
        "0-sure", lambda guess: [*questions.answered(SURE, guess), sure(GUESSES.get(guess))]
    )


def sure(predicted: float | None = None) -> ChartView:
    """Return what the program says of itself beside how often it is right.

    Parameters
    ----------
    predicted : float, optional
        The learner's guess, a share.
    """
    items = digit_forms().items()
    return ChartView(
        charts.sureness(float(items.score.mean()), float(np.mean(items.correct)), predicted)
    )
