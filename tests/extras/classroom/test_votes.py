"""Sixty predictions as one chart per question: from files that anybody may have written."""

import importlib.machinery
import json
import re
import sys
import types

import ipywidgets
import pytest
import vl_convert
from command import run

from workbench import lessons
from workbench.extras.classroom import votes
from workbench.lessons import checking
from workbench.lessons.exercise import Exercise
from workbench.lessons.misclassification.drawn_line import DrawnLine
from workbench.reports.parameters import ReportError
from workbench.widgets import saved_answers
from workbench.widgets.questions import Prediction, predict


@pytest.fixture
def asked(monkeypatch):
    drawn = Prediction("4-line", "Draw it", DrawnLine(0.1, [0.1, 0.12, 0.15]))
    found = [
        predict("1-coin", "Heads or <tails>?", ["heads", "tails"]),
        Prediction("2-number", "How many?", ipywidgets.BoundedIntText(1, 0, 9)),
        drawn,
    ]
    monkeypatch.setattr(votes, "lesson_questions", lambda: found)


def hand_in(folder, student, content):
    (folder / student).mkdir()
    (folder / student / "predictions.json").write_text(
        content if isinstance(content, str) else json.dumps(content)
    )


def test_votes_are_counted_and_what_is_no_vote_is_said(tmp_path, asked):
    for k in range(60):
        hand_in(
            tmp_path,
            f"s{k:02}",
            {
                "1-coin": "heads" if k % 3 else "tails",
                "2-number": k % 4,
                "4-line": [0.1, 0.11, 0.1 + k / 1000],
            },
        )
    for name, content in {
        "bad": "{",
        "text": "[1]",
        "big": " " * 1_000_001,
        "odd": {"1-coin": "<b>edge</b>", "2-number": "many", "4-line": [0.1, 0.1]},
        "huge": {"1-coin": 1, "2-number": 10**30, "4-line": [0.1, 0.1, 1e200]},
        "nested": {"1-coin": [["heads"]], "2-number": None, "4-line": {"a": 1}},
    }.items():
        hand_in(tmp_path, name, content)
    (coin, number, line), unread = votes.class_votes(tmp_path)
    assert unread == [
        "bad: predictions.json is not valid JSON",
        "big: predictions.json has 1,000,001 bytes; the limit is 1,000,000",
        "text: predictions.json has no predictions by name",
    ]
    assert coin.description() == "60 predictions, 6 missing. heads: 40; tails: 20."
    assert number.description() == "60 predictions, 6 missing. The values range from 0 to 3."
    assert (
        line.description() == "60 predictions, 6 missing. The last values range from 0.1 to 0.159."
    )
    assert [
        votes.chart(vote).to_dict(validate=True)["description"] for vote in (coin, number, line)
    ] == [vote.description() for vote in (coin, number, line)]


def test_the_page_names_nobody_and_escapes(tmp_path, asked):
    hand_in(tmp_path, "ada", {"1-coin": "heads"})
    hand_in(tmp_path, "bob", {"1-coin": "tails"})
    text = votes.votes_page(votes.class_votes(tmp_path)[0])
    assert "Heads or &lt;tails&gt;?" in text and not re.search(r"\bada\b|\bbob\b", text)
    assert (
        "2 predictions, 0 missing. heads: 1; tails: 1." in text
        and "data:image/png;base64,iVBOR" in text
    )


@pytest.mark.parametrize("students", [1, 2, 3, 60])
@pytest.mark.parametrize("choices", [("heads", "tails"), ()])
def test_students_are_counted_in_whole_numbers(students, choices):
    answers = ("heads",) * students if choices else (3,) * students
    drawn = vl_convert.vegalite_to_svg(votes.chart(votes.Vote("?", choices, answers, 0)).to_json())
    ticks = re.findall(r">([\d.]+)</text>", drawn)
    assert {"0", str(students)} <= set(ticks) and all(map(str.isdigit, ticks))


def test_nobody_predicted(tmp_path, asked):
    hand_in(tmp_path, "ada", {})
    with pytest.raises(ReportError, match=r"has a prediction \(predictions.json\)"):
        votes.class_votes(tmp_path)


def test_the_lessons_questions_are_all_there():
    names = [prediction.name for prediction in votes.lesson_questions()]
    assert len(set(names)) == len(names) and [name[0] for name in names] == sorted(
        name[0] for name in names
    )
    assert {name[0] for name in names} == set("012345")


def test_every_question_of_the_lessons_takes_what_its_control_keeps(tmp_path):
    """The file is written as a lesson writes it: by moving the control and locking."""
    kept_by_hand = {}
    for prediction in votes.lesson_questions():
        if options := getattr(prediction.control, "options", ()):
            kept_by_hand[prediction.name] = options[-1]
        else:
            prediction.control.drag({"drag": 12, "x": 12.0, "y": 0.14})
            kept_by_hand[prediction.name] = prediction.control.value
    hand_in(tmp_path, "ada", kept_by_hand)
    found, unread = votes.class_votes(tmp_path)
    assert [vote.answers for vote in found] == [
        (answer,) for answer in kept_by_hand.values()
    ] and not unread


def test_the_command_writes_one_page(tmp_path):
    (tmp_path / "class").mkdir()
    hand_in(tmp_path / "class", "ada", {"5-repeats": "5%"})
    assert (tmp_path / "class" / "ada" / saved_answers.FILE).is_file()
    done = run(tmp_path, "course", "votes", "class", "-o", "out/v.html")
    assert (done.returncode, done.stdout) == (0, "1 question with predictions\nWrote out/v.html\n")
    hand_in(tmp_path / "class", "bob", "{")
    done = run(tmp_path, "course", "votes", "class", "-o", "out/v.html")
    assert (done.returncode, done.stderr) == (
        0,
        "Not read: bob: predictions.json is not valid JSON\n",
    )
    assert "bob" not in (tmp_path / "out" / "v.html").read_text(encoding="utf-8")
    done = run(tmp_path, "course", "votes", "nothing")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_a_lesson_that_is_added_is_asked_and_checked(monkeypatch):
    """A lesson is an entry of the list and its folder: its questions and its exercises are found."""
    made_up = {
        part: types.ModuleType(f"workbench.lessons.weather.{part}")
        for part in ("views", "exercises")
    }
    made_up["views"].predict_rain = lambda: predict("7-rain", "Does it rain?", ["yes", "no"])
    made_up["exercises"].exercises = lambda: {
        "7.1": Exercise("a word", [{"correct": "rain"}], reader=list)
    }
    for part in made_up.values():
        part.__spec__ = importlib.machinery.ModuleSpec(part.__name__, None)
        monkeypatch.setitem(sys.modules, part.__name__, part)
    package = types.ModuleType("workbench.lessons.weather")
    package.__path__ = []
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(lessons.LESSONS, "weather", "07-weather")
    checking.course_exercises.cache_clear()
    try:
        assert [question.name for question in votes.lesson_questions()][-1] == "7-rain"
        assert checking.check("7.1", "rain").verdict == "correct"
    finally:
        checking.course_exercises.cache_clear()
