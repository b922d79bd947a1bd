"""The texts of the lessons: a lecturer changes them in a file, and the page says how."""

import re
from pathlib import Path

import pytest
import texts
import yaml

from workbench.lessons import LESSONS
from workbench.lessons.content import LessonTexts, lesson_texts
from workbench.lessons.stratified import exercises

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "workbench" / "lessons" / topic / "content.yaml" for topic in LESSONS]


@pytest.fixture
def changed(tmp_path):
    """The texts of lesson 1 with another question, choice, tolerance and message."""
    content = FILES[1].read_text(encoding="utf-8")
    for text, other in (
        ("You use five strata", "You use 5 strata"),
        ("choice: 0%", "choice: nothing"),
        ("is: audit.standard_error, within: 0.0001", "is: audit.standard_error, within: 1%"),
        ("{audit.standard_error:.5f}'", "{audit.standard_error:.1f}'"),
    ):
        assert text in content
        content = content.replace(text, other)
    (tmp_path / "content.yaml").write_text(content, encoding="utf-8")
    return LessonTexts(tmp_path)


def test_a_changed_question_is_asked(changed):
    question = changed.predict("1-gain")
    assert repr(question).startswith("Prediction: You use 5 strata and still 100 labels.")
    assert question.control.options[0] == "nothing" and changed.value("1-gain", "nothing") == 0
    assert changed.answered("1-gain", "nothing")[0].startswith("You predicted nothing. That would")


def test_a_changed_tolerance_and_message_are_used(changed):
    for content, verdict in ((lesson_texts("stratified"), "not yet"), (changed, "correct")):
        exercise = content.exercises({"1.1": {"compute": exercises._estimate_and_error}})["1.1"]
        assert exercise.judged([0.88, 0.0289], exercise.values()).verdict == verdict
    assert exercise.judged([0.88, 0.02875], exercise.values()).message == "0.880 and 0.0"


def test_the_page_shows_the_rules_of_an_exercise(capsys):
    page = (ROOT / "docs" / "howto" / "course.md").read_text(encoding="utf-8")
    section = page.split("### Change the texts of a lesson")[1].split("\n### ")[0]
    exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], {})
    printed = capsys.readouterr().out
    assert "form: (estimate, standard error)" in printed
    assert "{part: 2, is: audit.standard_error, within: 0.0001}" in printed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_texts_are_short_sentences(path):
    def sentences(part):
        if isinstance(part, dict):
            return [s for name, entry in part.items() if name != "if" for s in sentences(entry)]
        if isinstance(part, list):
            return [s for entry in part for s in sentences(entry)]
        return texts.sentences(part) if isinstance(part, str) else []

    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert max(len(sentence.split()) for sentence in sentences(content)) <= 40


def test_every_rule_has_one_verdict_and_the_last_one_always_applies():
    for path in FILES[1:]:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        for number, exercise in content["exercises"].items():
            *rules, last = exercise["feedback"]
            assert not {"if", "unless"} & last.keys(), number
            for rule in [*rules, last]:
                assert len({"correct", "mistake", "not yet"} & rule.keys()) == 1, (number, rule)


@pytest.mark.parametrize(
    ("text", "other", "problem"),
    [
        (
            "- if: {part: 2, is: audit.standard_error",
            "- iff: {part: 2, is: audit.standard_error",
            "key 'iff'",
        ),
        ("within: 0.0001", "within: -1", "tolerance such as 0.001 or 1%; got -1"),
        ("within: 0.0001", "withn: 0.0001", "other keys than from, is, part, to, within"),
        ("      correct: ", "      corect: ", "key 'corect'"),
    ],
)
def test_a_typing_error_in_a_rule_is_an_error(tmp_path, text, other, problem):
    content = FILES[1].read_text(encoding="utf-8")
    assert text in content
    (tmp_path / "content.yaml").write_text(content.replace(text, other, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        LessonTexts(tmp_path).exercises({})
    assert "content.yaml, exercise 1.1" in caught.value.__notes__[0]
