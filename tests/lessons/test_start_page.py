"""The start page asks before it answers."""

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_digits

from workbench.course.digit_forms import digit_forms
from workbench.lessons.start import views as live
from workbench.widgets import questions
from workbench.widgets.saved_answers import SavedAnswers

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00-start.ipynb"


def test_the_answer_waits_for_the_prediction(monkeypatch):
    assert repr(live.reveal_sure()) == "Make your prediction first."
    assert "97.1% on average" in repr(live.predict_sure())
    keeping = SavedAnswers()
    keeping.save("0-sure", "93%")
    monkeypatch.setattr(questions, "saved_answers", lambda: keeping)
    told, view = live.reveal_sure().parts
    assert told.startswith("You predicted 93%. You expected it to be overconfident.")
    right = (digit_forms().read_a == load_digits().target).mean()
    shares = {row["who"]: row["share"] for row in view.picture["data"]["bars"]}
    assert shares == pytest.approx(
        {"mean confidence": 0.9706, "your prediction": 0.93, "accuracy": right}, abs=1e-4
    )
    assert view.alternative.endswith("correct on 87.7% of the forms. You predicted 93%.")


def test_without_a_prediction_there_are_two_bars():
    assert len(live.sure().picture["data"]["bars"]) == 2


def test_nothing_above_the_reveal_tells_it():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    place = next(k for k, cell in enumerate(cells) if cell["id"] == "cell-03b")
    text = json.dumps([cell for cell in cells[: place + 1]])
    assert "87.7" not in text and ".877" not in text
