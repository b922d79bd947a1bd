"""Exercises that a lecturer adds: in a cell, in a file, and what students get of them."""

import re

import numpy as np
import pytest
from refusals import refused

import workbench as wb
from workbench.lessons import checking, own_exercises
from workbench.widgets import pages


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    checking._tries.clear()
    checking.OWN.clear()
    yield
    checking.OWN.clear()


def verdicts(number, *answers):
    return [wb.check(number, answer).verdict for answer in answers]


def test_a_whole_number_is_exact_and_others_are_within_half_a_percent():
    wb.exercise("3.5", "How many?", answer=80)
    assert verdicts("3.5", 80, 80.0, np.int64(80), 81, 80.2) == ["correct"] * 3 + ["not yet"] * 2
    wb.exercise("3.6", "How large?", answer=0.5)
    assert verdicts("3.6", 0.5, 0.5024, 0.4976, 0.5026) == ["correct"] * 3 + ["not yet"]
    wb.exercise("3.7", "How large?", answer=np.float64(40.0), tolerance=3)
    assert verdicts("3.7", 37, 43, 43.1) == ["correct", "correct", "not yet"]


def test_texts_are_compared_without_case_and_spaces():
    wb.exercise("3.5", "Which?", answer="Neyman with floor")
    assert verdicts("3.5", " neyman  WITH floor.", "neyman") == ["correct", "not yet"]


def test_an_answer_of_several_parts():
    wb.exercise("3.5", "Labels, and which design?", answer=(298, "proportional"))
    assert wb.check("3.5", None).message == (
        "Labels, and which design? Answer with (a whole number, a text)."
    )
    answers = [(298, "Proportional"), [298, "neyman"], (298,), 298, ("x", "proportional")]
    assert verdicts("3.5", *answers) == ["correct"] + ["not yet"] * 4
    assert wb.check("3.5", 298).message == "answer with (a whole number, a text)"


def test_a_named_mistake_the_hint_and_the_explanation_after_three_tries():
    wb.exercise(
        "3.5",
        "How many labels?",
        answer=80,
        mistakes={40: "one label per stratum leaves its variance unknown", 0.5: "a share"},
        hint="two per stratum",
        explanation="a variance needs two",
    )
    first = wb.check("3.5", 40)
    assert (first.verdict, first.message) == (
        "mistake",
        "one label per stratum leaves its variance unknown",
    )
    assert (first.hint, first.explanation) == ("two per stratum", "")
    wb.check("3.5", 41)
    assert wb.check("3.5", 41).explanation == "the answer is 80; a variance needs two"
    right = wb.check("3.5", 80)
    assert (right.verdict, right.hint) == ("correct", "") and right.explanation


def test_a_share_in_percent_is_named_but_not_a_count():
    wb.exercise("3.5", "What share?", answer=0.42, mistakes={58: "the share of the others"})
    assert wb.check("3.5", 42).message.startswith("42 in percent")
    assert wb.check("3.5", 58).message == "the share of the others"
    wb.exercise("3.6", "How many?", answer=1)
    assert wb.check("3.6", 100).message == "this answer is not correct"


def test_a_cell_that_is_run_again_replaces_its_exercise():
    wb.exercise("3.5", "How many?", answer=80)
    shown = wb.exercise("3.5", "How many?", answer=90)
    assert repr(shown) == "Feedback(3.5 no answer: How many? Answer with a whole number.)"
    assert verdicts("3.5", 90, 80) == ["correct", "not yet"]


def test_a_live_page_shows_a_box_that_judges(monkeypatch):
    monkeypatch.setattr(pages, "is_live", lambda: True)
    shown = wb.exercise("3.5", "What share?", answer=0.15, hint="divide")
    assert "application/vnd.jupyter.widget-view+json" in shown._repr_mimebundle_()
    reading = checking._Reading("3.5", None)
    assert "read as <strong>0.15</strong>" in reading.feedback_on("0,15")
    assert "3.5 correct" in reading.feedback_on("0,15")


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"number": "3.1"}, ("number", "must not be the number of a course exercise: 3.1, 3.2, 3.3, 3.4 are taken")),
        ({"number": "3.x"}, ("number", 'must consist of lesson and number, such as "3.5"', "got '3.x'")),
        ({"number": 3.5}, ("number", 'must consist of lesson and number, such as "3.5"', "got 3.5")),
        ({"question": " "}, ("question", "must not be empty")),
        ({"answer": {}}, ("answer", "cannot be used: an answer must be a number, a text")),
        ({"answer": True}, ("answer", "cannot be used")),
        ({"answer": float("nan")}, ("answer", "cannot be used")),
        ({"answer": float("inf")}, ("answer", "cannot be used")),
        ({"answer": []}, ("answer", "must consist of finite numbers and texts")),
        ({"answer": "42"}, ("answer", "must be texts that students can type", "the text box reads it as 42")),
        ({"answer": "yes, no"}, ("answer", "must be texts that students can type", "the text box reads it as ['yes', 'no']")),
        ({"answer": " "}, ("answer", "must be texts that students can type")),
        ({"answer": "x" * 501}, ("answer", "cannot be used")),
        ({"mistakes": {1.0: "no"}}, ("mistakes", "must not contain the correct answer")),
        ({"answer": (1, 2), "mistakes": {1: "no"}}, ("mistakes", "must have 2 parts, like")),
        ({"mistakes": {"no": "no"}}, ("mistakes", "must have numbers and texts")),
        ({"answer": None, "mistakes": {1: "no"}}, ("mistakes", "can be given only together")),
        ({"tolerance": -1}, ("tolerance", "must be a number of at least 0", "got -1")),
        ({"points": -1}, ("points", "must be a number of at least 0", "got -1")),
    ],
)  # fmt: skip
def test_what_no_exercise_can_be_is_refused(given, refusal):
    given = {"number": "3.5", "question": "How many?", "answer": 1} | given
    refused(lambda: wb.exercise(**given), *refusal)
    assert checking.OWN == {}


FILE = """
import workbench as wb

register = wb.digit_forms().register()
wb.exercise("3.5", "How many forms?", answer=int(register.size.sum()), mistakes={1000: "only the ones"})
wb.exercise("3.6", "Which rule, what share?", answer=("voila", 0.25), hint="look")
"""


def test_the_file_beside_the_notebook_is_read_when_an_exercise_is_not_known(tmp_path):
    (tmp_path / "my_exercises.py").write_text(FILE)
    assert verdicts("3.5", 1797, 1000, 5) == ["correct", "mistake", "not yet"]
    (tmp_path / "my_exercises.py").write_text(FILE.replace("1000", "900"))
    assert verdicts("3.5", 1000, 900) == ["not yet", "mistake"]
    with pytest.raises(ValueError, match="exercise must be one of '1.1'.*; my_exercises.py has no"):
        wb.check("3.9", 1)


def test_an_exercise_of_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(ValueError, match="got '3.9'.*; there is no my_exercises.py in this folder"):
        wb.check("3.9", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "import workbench as wb\nwb.exercise('3.1', 'x', answer=1)",
            "my_exercises.py cannot be used: number",
        ),
        ("nonsense(", "my_exercises.py cannot be used"),
        ("answer = 1\nanswer / 0", "my_exercises.py cannot be used: division by zero (line 2)"),
        ("exit(3)", "my_exercises.py cannot be used: 3 (line 1)"),
        (FILE + FILE, "must add each exercise once; it repeats 3.5, 3.6"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, text, message):
    (tmp_path / "my_exercises.py").write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        wb.check("3.5", 1)


def test_students_get_questions_without_answers_and_their_answers_are_recorded(tmp_path):
    (tmp_path / "my_exercises.py").write_text(FILE)
    checking.load_exercises("my_exercises.py")
    text = own_exercises.students_file()
    assert "How many forms?" in text and "numbers=1" in text
    assert not re.search(r"1797|1000|only the ones|voila|0\.25|look", text)
    checking.OWN.clear()
    (tmp_path / "my_exercises.py").write_text(text)
    feedback = wb.check("3.5", 1797)
    assert feedback.verdict == "recorded" and feedback.hint == feedback.explanation == ""
    assert wb.check("3.6", ("neyman", 0.3)).verdict == "recorded"
    assert (tmp_path / "answers.json").read_text().split() == [
        "{", '"3.5":', "1797,", '"3.6":', "[", '"neyman",', "0.3", "]", "}",
    ]  # fmt: skip
