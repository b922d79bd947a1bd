"""Predictions that are locked, reveals that wait for them, lines that are written before a model answer is seen."""

import html
import json

import numpy as np
import pytest

from workbench.results import Table
from workbench.widgets import questions
from workbench.widgets import saved_answers as keeping


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A notebook's folder as a Jupyter server's kernel sees it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    monkeypatch.delenv(questions.REVEAL, raising=False)
    keeping.saved_answers.cache_clear()
    yield tmp_path
    keeping.saved_answers.cache_clear()


def again():
    """Start over, as a new kernel does."""
    keeping.saved_answers.cache_clear()


def coin():
    return questions.predict("0-coin", "Heads or <b>tails</b>?", ["heads", "tails"])


def press(asked, choice=None):
    if choice:
        asked.control.value = choice
    asked._lock.click()


def text(widget):
    found = [getattr(widget, "value", "")] if isinstance(getattr(widget, "value", ""), str) else []
    return " ".join(found + [text(child) for child in getattr(widget, "children", ())])


def test_nothing_is_computed_and_nothing_told_before_the_prediction_is_locked(folder):
    called = []
    asked, seen = (
        coin(),
        questions.reveal("0-coin", lambda side: called.append(side) or f"{side}? It was tails."),
    )
    assert (
        asked._lock.disabled
        and not called
        and "tails." not in text(seen)
        and "Heads or &lt;b&gt;" in text(asked)
    )
    asked.control.value = "heads"
    assert not asked._lock.disabled and not called
    press(asked)
    assert (
        called == ["heads"] and "heads? It was tails." in text(seen) and "working" not in text(seen)
    )
    assert asked.control.disabled and asked._lock.disabled and "predictions.json" in text(asked)


def test_a_prediction_outlives_the_kernel_and_cannot_be_changed(folder):
    press(coin(), "heads")
    assert json.loads((folder / "predictions.json").read_text()) == {"0-coin": "heads"}
    again()
    asked = coin()
    assert asked.control.value == "heads" and asked.control.disabled
    assert "heads!" in text(questions.reveal("0-coin", lambda side: side + "!"))


def test_without_a_server_nothing_is_read_or_written(folder, monkeypatch):
    press(coin(), "heads")
    monkeypatch.delenv("JPY_SESSION_NAME")
    again()
    assert repr(questions.reveal("0-coin", str)) == "Make your prediction first."
    press(coin(), "tails")
    assert json.loads((folder / "predictions.json").read_text()) == {"0-coin": "heads"}
    assert "until this notebook&#x27;s kernel stops" in text(coin())


def test_voilas_visitors_come_back_by_their_name(folder, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME")
    monkeypatch.setattr(keeping.pages, "is_live", lambda: True)
    for query, name in (("learner=Ada&theme=dark", "ada"), ("learner=b.ob%40uni", "b.ob@uni")):
        monkeypatch.setenv("QUERY_STRING", query)
        again()
        press(coin(), "heads")
        assert json.loads((folder / "learners" / name / "predictions.json").read_text()) == {
            "0-coin": "heads"
        }
        again()
        assert f"saved for {name}" in text(coin())
    for learner in ("", "..%2Fada", "%00", "con", "a" * 65, ".ada"):
        monkeypatch.setenv("QUERY_STRING", f"learner={learner}")
        again()
        press(coin(), "tails")
        assert "until this notebook&#x27;s kernel stops" in text(coin())
    assert sorted(path.name for path in (folder / "learners").iterdir()) == ["ada", "b.ob@uni"]
    assert [path.name for path in folder.iterdir()] == ["learners"]


def test_a_folder_that_cannot_be_written_keeps_in_memory(tmp_path):
    found = keeping.SavedAnswers(tmp_path / "gone" / "predictions.json")
    found.save("0-coin", "heads")
    assert found.get("0-coin") == "heads" and "until this notebook's kernel stops" in found.where


@pytest.mark.parametrize("written", ["{", "[1]", '"heads"'])
def test_a_damaged_file_is_told_and_stays(folder, written):
    (folder / "predictions.json").write_text(written)
    asked = coin()
    press(asked, "heads")
    assert "predictions.json" in text(asked) and "delete it" in text(asked)
    assert (folder / "predictions.json").read_text() == written


def test_a_file_changed_by_hand_shows_its_text_as_text(folder):
    (folder / "predictions.json").write_text(
        json.dumps({"0-coin": "<i>edge</i>", "0-why": "no list"})
    )
    asked = coin()
    assert asked.control.value is None and asked.control.disabled and "&lt;i&gt;edge" in text(asked)
    assert "A model." not in text(questions.Explanation("0-why", "Why?", "A model.", []))


def test_all_is_revealed_where_slides_are_made(monkeypatch):
    monkeypatch.setenv(questions.REVEAL, "all")
    assert repr(questions.reveal("0-unasked", lambda side: ["Tails.", f"{side}"])) == "Tails.\nNone"


def test_texts_and_results_of_a_list_are_shown_below_each_other(monkeypatch):
    monkeypatch.setenv(questions.REVEAL, "all")
    place = questions.reveal("0-coin", ["Tails.", Table([{"side": "tails"}], "The coin")])
    assert len(place.children) == 2 and "<table" in place.children[1].value
    assert repr(questions.reveal("0-coin", [1, 0.5])) == "[1, 0.5]"
    assert repr(questions.reveal("0-coin", [])) == "[]"


def test_a_model_answer_follows_two_written_lines(folder):
    asked = questions.Explanation("0-why", "Why?", "Because <of> luck.", ["It is fate."])
    asked._keep.click()
    assert "Line 1 and Line 2" in text(asked) and "luck" not in text(asked)
    for line, words in zip(asked._lines, ("because of this", "and of that"), strict=True):
        line.value = words
    asked._keep.click()
    assert "Because &lt;of&gt; luck." in text(asked) and "It is fate." in text(asked)
    again()
    assert "and of that" in text(questions.Explanation("0-why", "Why?", "Because.", []))


def test_a_line_that_is_too_long_is_told(folder):
    asked = questions.Explanation("0-why", "Why?", "Because.", [])
    for line in asked._lines:
        line.value = "far too long " * 100
    asked._keep.click()
    assert "at most 500 characters" in text(asked) and "Because." not in text(asked)


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (np.array([3, 18]), ["array([ 3, 18])"]),
        (np.float64(0.25), ["0.25"]),
        ("<b>", ["<b>"]),
        (["two", "three"], ["two", "three"]),
        ([1, 2], ["[1, 2]"]),
    ],
)
def test_values_wait_and_are_then_shown_as_python_prints_them(monkeypatch, value, lines):
    monkeypatch.setenv(questions.REVEAL, "all")
    shown = questions.reveal("0-value", value)
    assert shown._repr_mimebundle_()["text/plain"].splitlines() == lines
    for line, part in zip(lines, shown.children, strict=True):
        assert html.escape(line) in part.value
