import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from IPython.core.formatters import DisplayFormatter

import workbench as wb
from workbench.course.answers import typed
from workbench.lessons import checking
from workbench.widgets.answer_box import AnswerBox

WIDGET = "application/vnd.jupyter.widget-view+json"
ODD = [
    "",
    " ",
    ",",
    ",,",
    "(",
    "[",
    "]",
    "()",
    "[]",
    "( , )",
    "[1, 2",
    "1, 2]",
    "((((",
    "'",
    '"',
    "''",
    "%",
    "5%%",
    "None",
    "True",
    "nan",
    "1e999",
    "{}",
    "{1: 2}",
    "b'x'",
    "1j",
    "...",
    "1/3",
    "\x00",
    "a" * 500,
    "[" * 400,
    "-" * 400 + "1",
    "\N{SNOWMAN}",
    "<b>",
    "1,,2",
    "lambda: 1",
    "__import__('os')",
    "[[1], [2]]",
    "{'a', 'b'}",
    "9" * 400,
]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0.88, .0288", (0.88, 0.0288)),
        ("(0.88, 0.0288)", (0.88, 0.0288)),
        ("[42, 30]", [42, 30]),
        ("81", 81),
        ("88%", 0.88),
        ("88 %, 2.5%", [0.88, 0.025]),
        ("[88%, 12%]", [0.88, 0.12]),
        ("\N{MINUS SIGN}.06", -0.06),
        ("298, proportional", [298, "proportional"]),
        ("(188, neyman with floor)", [188, "neyman with floor"]),
        ("mixed, calibration, neither", ["mixed", "calibration", "neither"]),
        ("'mixed', neither", ["mixed", "neither"]),
        ("equal_size, [40, 28, 16]", ["equal_size", [40, 28, 16]]),
        ("(equal_size, (40, 28))", ["equal_size", [40, 28]]),
        ("8, few are wrong, and they are rare", [8, "few are wrong, and they are rare"]),
        ('8, "few, and rare"', (8, "few, and rare")),
        ("8, it's rare there", [8, "it's rare there"]),
        ("7, .01, .2, .3, .4, do not buy", [7, 0.01, 0.2, 0.3, 0.4, "do not buy"]),
        ("", None),
        ("None", None),
        ("7 .01 .2 .3 .4 do not buy", [7, 0.01, 0.2, 0.3, 0.4, "do not buy"]),
        ("15, few/rare errors", [15, "few/rare errors"]),
        ("mixture: 50 / 50", ["mixture", [50, 50]]),
        ("15, 5 are misread, and dear", [15, "5 are misread, and dear"]),
        ("Mixed , Neither .", ["Mixed", "Neither ."]),
        ("15 percent", 0.15),
        ("15, 5 %", [15, 0.05]),
        ("298,5 proportional", [298.5, "proportional"]),
    ],
)
def test_what_is_typed_is_read_as_a_cell_would_have_it(text, read):
    assert typed(text) == read


# as the lesson writes it, as a table, a spreadsheet or a habit has it
SHAPES = (
    "{}, {}",
    "({}, {})",
    "[{}, {}]",
    "{},{}",
    "{}; {}",
    "{};{}",
    "{} / {}",
    "{}/{}",
    "{} {}",
    " {} ,  {} ",
)
NUMBERS = (
    ("0.88", ".02875"),
    (".88", "0.0288"),
    ("88%", "2.875%"),
    ("88 %", "2.88 %"),
    ("+0.88", "2.88e-2"),
)
COMMAS = ("{}; {}", "{};{}", "{} / {}", "{}/{}", "{} {}", "({}; {})")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_numbers_are_read_in_every_notation(shape, numbers):
    assert checking.judged("1.1", typed(shape.format(*numbers), 2)).verdict == "correct"


@pytest.mark.parametrize("shape", COMMAS)
@pytest.mark.parametrize("numbers", [("0,88", ",02875"), ("88%", "2,875%"), ("0,880", "0,0288")])
def test_decimal_commas_are_read_where_something_else_separates(shape, numbers):
    assert checking.judged("1.1", typed(shape.format(*numbers), 2)).verdict == "correct"


@pytest.mark.parametrize(
    ("exercise", "text", "verdict"),
    [
        *(
            ("1.2", text, "correct")
            for text in (
                "42/30/17/9/2",
                "42 / 30 / 17 / 9 / 2",
                "42 30 17 9 2",
                "42;30;17;9;2",
                "[42, 30, 17, 9, 2]",
                "42,30,17,9,2",
                "(42; 30; 17; 9; 2)",
            )
        ),
        *(
            ("4.1", text, "correct")
            for text in ("0.15", "0,15", ",15", "15%", "15 %", "15,0 %", "(0.15)", "[0,15]")
        ),
        ("4.1", "15", "mistake"),
        ("4.1", "1/3", "not yet"),
        ("4.1", "0,15; 0,2", "not yet"),
        *(("2.1", text, "correct") for text in ("0,0205", ".0205", "2,05%")),
        *(
            ("1.3", text, "correct")
            for text in (
                "298 proportional",
                "298; proportional",
                "298, In proportion",
                "188, Neyman with floor",
                "188 neyman with a floor",
            )
        ),
        *(
            ("1.4", text, "correct")
            for text in (
                "equal size, 40/28/16/9/7",
                "equal size; [40, 28, 16, 9, 7]",
                "Equal_Size, [40,28,16,9,7]",
                "Mixture; 20/20/20/20/20",
                "equal size 40/28/16/9/7",
                "equal-size, 40 28 16 9 7",
                "mixture 20 20 20 20 20",
                "equal size, 40, 28, 16, 9, 7",
                "equal size; 40; 28; 16; 9; 7",
            )
        ),
        ("1.4", "k-means, 99/1", "mistake"),
        ("1.4", "equal sizes, 40/28/16/9/7", "mistake"),
        ("3.3", "15 since five of 37 are misread", "correct"),
        ("3.3", "15; five of 37, and more", "correct"),
        ("3.3", "15, x x x", "not yet"),
        *(
            ("4.3", text, "correct")
            for text in (
                "mixed; calibration; neither",
                "Mixed, Calibration, Neither",
                "mixed / calibration / neither",
                "mixed calibration neither",
                "MIXED , CALIBRATION , NEITHER.",
            )
        ),
        ("2.2", "81 runs", "correct"),
        ("2.3", "33 per box", "correct"),
        ("4.1", "15 percent", "correct"),
        ("4.5", "59.6", "mistake"),
        ("4.5", "66", "mistake"),
        ("5.3", "1.437 / .154 / No.", "correct"),
        ("5.3", "1,437 0,154 no", "correct"),
        ("5.3", "1,437; 0,154; no", "correct"),
        ("5.3", "1.437, 15.4%, no", "correct"),
        ("5.3", "1.437, 15.4, no", "mistake"),
        ("5.2", "0,368; 0,189", "correct"),
        ("5.2", "36.8 18.9", "mistake"),
        ("3.2", "10/17/33", "correct"),
        ("3.4", "5 / 32 / 76 / 37", "correct"),
        ("4.4", "2.91% 0.62%", "correct"),
        ("4.4", "2.91; 0.62", "mistake"),
    ],
)
def test_what_learners_type_earns_what_it_should(exercise, text, verdict):
    answer = typed(text, checking.exercises()[exercise].count)
    assert checking.judged(exercise, answer).verdict == verdict


ANYTHING = (
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=8)
        | st.complex_numbers()
        | st.binary(max_size=4)
        | st.just(10**400)
        | st.sampled_from(["proportional", "equal_size", "mixed", "buy", np.nan, {}]),
        lambda inside: (
            st.lists(inside, max_size=7)
            | st.tuples(inside, inside)
            | st.lists(inside, max_size=5).map(tuple)
            | st.dictionaries(st.text(max_size=3), inside, max_size=2)
        ),
        max_leaves=8,
    )
    | arrays(float, st.integers(0, 6))
    | arrays(int, (2, 2))
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(answer=ANYTHING)
def test_no_answer_of_any_kind_is_an_error(answer):
    for exercise in checking.exercises():
        assert checking.judged(exercise, answer).verdict in ("not yet", "mistake", "correct")


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("1.3", (10**400, "proportional")),
        ("1.4", ("equal_size", [math.inf] * 5)),
        ("3.3", (10**400, "a b c")),
        ("1.4", ("equal_size", [])),
        ("1.4", (["equal_size"], [50, 50])),
        ("1.3", (298, ["proportional"])),
        ("1.4", ("equal_size", [10**400, 50])),
        ("5.4", (-1, 0.1, 0.1, 0.1, 0.1, "buy")),
    ],
)
def test_answers_that_were_errors_are_no_longer(exercise, answer):
    assert checking.judged(exercise, answer).verdict in ("not yet", "mistake")


@pytest.mark.parametrize("exercise", checking.exercises())
def test_whatever_is_typed_is_judged(exercise):
    for answer in map(typed, [*ODD, *(f"3, {odd}" for odd in ODD)]):
        assert answer is None or checking.judged(exercise, answer).verdict in ("not yet", "mistake")


def shown(feedback):
    return DisplayFormatter().format(feedback)[0]


@pytest.fixture
def live(monkeypatch):
    monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5")
    checking._tries.clear()


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
    for text, answer in (
        ("0.9, 0.02875", (0.9, 0.02875)),
        ("many", "many"),
        ("0, 0", (0, 0)),
        ("88%, .02875", (0.88, 0.02875)),
    ):
        checking._tries.clear()
        for _ in told:
            wb.check("1.1", 0)
        asked._answer(asked, {"kind": "answer", "text": text}, [])
        told.append(asked.feedback["html"])
        checking._tries.clear()
        for _ in told[1:]:
            wb.check("1.1", 0)
        assert told[-1] == wb.check("1.1", answer)._repr_html_()
    assert ["Why:" in each for each in told] == [False, False, True, True]
    assert asked.feedback["number"] == 4


def test_a_graded_box_records_and_says_no_more(live, tmp_path):
    graded = box(wb.check("1.2", None, record=str(tmp_path / "answers.json")))
    graded._answer(graded, {"kind": "answer", "text": "<i>, 3"}, [])
    assert json.loads((tmp_path / "answers.json").read_text()) == {"1.2": ["<i>", 3]}
    assert (
        "recorded" in graded.feedback["html"]
        and "&lt;i&gt;" in graded.feedback["html"]
        and "<i>" not in graded.feedback["html"]
    )
    graded._answer(graded, {"kind": "answer", "text": "[[1], [2]]"}, [])
    assert graded.feedback["html"].startswith("<p role='alert'>an answer must be a number")
    graded._answer(graded, {"kind": "other"}, [])
    assert graded.feedback["number"] == 2


def test_what_is_typed_is_cut_where_the_box_ends():
    seen = []
    AnswerBox("1.1", "a share", "", 5, lambda text: seen.append(text) or "")._answer(
        None, {"kind": "answer", "text": "123456789"}, []
    )
    assert seen == ["12345"]


def test_what_was_read_is_shown_before_it_counts(live):
    asked = box(wb.check("1.1", None))
    for text, said in (
        ("0,88; 0,02875", "read as <strong>0.88 and 0.02875</strong>"),
        ("0,88; 0,0287", "read as"),
        ("0,88; 0,0287", "correct"),
        ("0.88, 0.02875", "correct"),
        ("0.88 0.02875", "read as"),
    ):
        asked._answer(None, {"kind": "answer", "text": text}, [])
        assert said in asked.feedback["html"], text
