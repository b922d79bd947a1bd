"""Scenes of the start page: the mean confidence of a program, and its accuracy."""

import numpy as np

from workbench.charts import start as charts
from workbench.course.digit_forms import digit_forms
from workbench.widgets import questions
from workbench.widgets.chart_view import ChartView
from workbench.widgets.questions import Prediction, Reveal

GUESSES = {"97%": 0.97, "93%": 0.93, "88%": 0.88, "75%": 0.75}
ANSWERS = {"0-sure": ("87.7%", "0.877", ".877")}
SURE = {
    "97%": "You trusted its claim. The program computes its own confidence, and nobody compared it "
    "with the truth.",
    "93%": "You expected it to be overconfident. It is even more overconfident than that.",
    "88%": "Correct. It misreads one form in eight, and its confidence does not show it.",
    "75%": "You expected it to be overconfident, and it is. But it reads better than that.",
}


def predict_sure() -> Prediction:
    """Return the question that the course begins with."""
    items = digit_forms().items()
    return questions.predict(
        "0-sure",
        f"The program reports a confidence for each reading: {items.score.mean():.1%} on "
        f"average. What percentage of the {items.size:,} forms does it read correctly?",
        list(GUESSES),
    )


def reveal_sure() -> Reveal:
    """Return the answer, which waits for the prediction and shows it."""
    return questions.reveal(
        "0-sure", lambda guess: [*questions.answered(SURE, guess), sure(GUESSES.get(guess))]
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
