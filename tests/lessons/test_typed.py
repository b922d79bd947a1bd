import itertools
import json

import pytest
from IPython.core.formatters import DisplayFormatter

import workbench as wb
from workbench.course.answers import typed
from workbench.lessons import checking
from workbench.widgets.answer_box import AnswerBox

WIDGET = "application/vnd.jupyter.widget-view+json"
ODD = ["", " ", ",", ",,", "(", "[", "]", "()", "[]", "( , )", "[1, 2", "1, 2]", "((((", "'", '"', "''", "%", "5%%",
       "None", "True", "nan", "1e999", "{}", "{1: 2}", "b'x'", "1j", "...", "1/3", "\x00", "a" * 500, "[" * 400,
       "-" * 400 + "1", "\N{SNOWMAN}", "<b>", "1,,2", "lambda: 1", "__import__('os')", "[[1], [2]]", "{'a', 'b'}",
       "9" * 400]


@pytest.mark.parametrize(("text", "read"), [
    ("0.88, .0288", (0.88, 0.0288)), ("(0.88, 0.0288)", (0.88, 0.0288)), ("[42, 30]", [42, 30]), ("81", 81),
    ("88%", 0.88), ("88 %, 2.5%", [0.88, 0.025]), ("[88%, 12%]", [0.88, 0.12]), ("\N{MINUS SIGN}.06", -0.06),
    ("298, proportional", [298, "proportional"]), ("(188, neyman with floor)", [188, "neyman with floor"]),
    ("mixed, calibration, neither", ["mixed", "calibration", "neither"]), ("'mixed', neither", ["mixed", "neither"]),
    ("equal_size, [40, 28, 16]", ["equal_size", [40, 28, 16]]), ("(equal_size, (40, 28))", ["equal_size", [40, 28]]),
    ("8, few are wrong, and they are rare", [8, "few are wrong, and they are rare"]),
    ('8, "few, and rare"', (8, "few, and rare")), ("8, it's rare there", [8, "it's rare there"]),
    ("7, .01, .2, .3, .4, do not buy", [7, .01, .2, .3, .4, "do not buy"]), ("", None), ("None", None)])
def test_what_is_typed_is_read_as_a_cell_would_have_it(text, read):
    assert typed(text) == read


@pytest.mark.parametrize("exercise", [f"{lesson}.{k}" for lesson, k in itertools.product(range(1, 6), range(1, 5))])
def test_whatever_is_typed_is_judged(exercise):
    for answer in map(typed, [*ODD, *(f"3, {odd}" for odd in ODD)]):
        assert answer is None or checking.judged(exercise, answer).verdict in ("not yet", "mistake")


def shown(feedback):
    return DisplayFormatter().format(feedback)[0]


@pytest.fixture
def live(monkeypatch):
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5")
    checking.start_over()


def test_nothing_but_a_sentence_is_shown_where_nobody_can_type(monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    asked = wb.check("1.1", None)
    assert shown(asked) == {"text/plain": repr(asked), "text/html": asked._repr_html_()}


def test_an_answer_is_shown_without_a_box_on_a_live_page(live):
    assert WIDGET not in shown(wb.check("1.1", 3)) and WIDGET in shown(wb.check("1.1", None))


def box(feedback):
    bundle = shown(feedback)
    assert bundle["text/plain"] == repr(feedback) and bundle["text/html"] == feedback._repr_html_()
    return feedback._box()


def test_a_box_says_what_a_cell_would_say(live, tmp_path):
    asked = box(wb.check("1.1", None))
    assert asked.label == "Your answer to 1.1: (estimate, standard error)"
    told = []
    for text, answer in (("0.9, 0.02875", (0.9, 0.02875)), ("many", "many"), ("0, 0", (0, 0)),
                         ("88%, .02875", (.88, .02875))):
        checking.start_over()
        for _ in told:
            wb.check("1.1", 0)
        asked._answer(asked, {"kind": "answer", "text": text}, [])
        told.append(asked.told["html"])
        checking.start_over()
        for _ in told[1:]:
            wb.check("1.1", 0)
        assert told[-1] == wb.check("1.1", answer)._repr_html_()
    assert ["Why:" in each for each in told] == [False, False, True, True]
    assert asked.told["number"] == 4


def test_a_graded_box_records_and_says_no_more(live, tmp_path):
    graded = box(wb.check("1.2", None, record=str(tmp_path / "answers.json")))
    graded._answer(graded, {"kind": "answer", "text": "<i>, 3"}, [])
    assert json.loads((tmp_path / "answers.json").read_text()) == {"1.2": ["<i>", 3]}
    assert "recorded" in graded.told["html"] and "&lt;i&gt;" in graded.told["html"] and "<i>" not in graded.told["html"]
    graded._answer(graded, {"kind": "answer", "text": "[[1], [2]]"}, [])
    assert graded.told["html"].startswith("<p role='alert'>an answer must be a number")
    graded._answer(graded, {"kind": "other"}, [])
    assert graded.told["number"] == 2


def test_what_is_typed_is_cut_where_the_box_ends():
    seen = []
    AnswerBox("1.1", "a share", "", 5, lambda text: seen.append(text) or "")._answer(
        None, {"kind": "answer", "text": "123456789"}, [])
    assert seen == ["12345"]
