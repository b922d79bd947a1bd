"""Choices of logs, against records written by hand as each kind of task of the harness stores them."""

import pytest

from workbench.data.choices import continued, lettered, weighed


def record(choices, values, context="Q:", **more):
    asked = [(context, f" {text}") for text in choices]
    return {
        "doc_id": 0,
        "doc": {},
        "arguments": {f"gen_args_{k}": {"arg_0": a, "arg_1": b} for k, (a, b) in enumerate(asked)},
        "filtered_resps": [[str(value), "False"] for value in values],
        "target": "0",
    } | more


def picked(question, metric="acc"):
    return question.choices.lines([question.picked(metric)])


def test_each_metric_picks_as_it_weighs():
    """By hand: -6 / 2 letters, -8 / 4 and -9 / 5 letters; in bytes the second is -8 / 8, the third -9 / 5."""
    question = weighed(record(["no", "öööö", "maybe"], [-6, -8, -9]))
    assert picked(question) == picked(question, "f1") == "no"
    assert (picked(question, "acc_norm"), picked(question, "acc_bytes")) == ("maybe", "öööö")
    assert (
        weighed(record(["a b", "c d"], [-1, -1])).picked("acc") == 0
    )  # numpy's argmax takes the first, too


def test_choices_that_were_weighed_without_the_question_too_are_not_read():
    both = [("Q:", " yes"), ("Q:", " no"), ("", " yes"), ("", " no")]
    assert weighed(record([], [-2, -3, -1, -5], arguments=[list(pair) for pair in both])) is None


def test_choices_that_stand_in_the_question():
    """As winogrande: two contexts, one continuation, whose text is the target."""
    contexts = ["He thanked Ann, for Ann", "He thanked Ann, for Eve"]
    question = weighed(
        record(
            [],
            [-4, -2],
            arguments=[[each, " had helped."] for each in contexts],
            target=" had helped.",
        )
    )
    assert question.input == "He thanked Ann, for … had helped." and question.choices.texts == (
        "Ann",
        "Eve",
    )
    assert picked(question) == "Eve" and question.target == ()
    assert question.cells("had helped.")["target"] == "had helped."


@pytest.mark.parametrize(
    "doc, spoken, told",
    [
        (
            {"choices": {"text": ["iron", "wood"], "label": ["1", "2"]}},
            ["iron", "wood"],
            "1. iron\n2. wood",
        ),
        ({"choices": ["iron", "wood"]}, ["A", "B"], "A. iron\nB. wood"),
        ({"choices": ["iron", "wood"]}, ["(A)", "(B)"], "A. iron\nB. wood"),
        (
            {"choices": ["iron", "wood"], "hints": ["Fe", "C"]},
            ["A", "B"],
            "A\nB",
        ),  # nobody can say which
        ({"endings": ["iron", "wood", "tin"]}, ["A", "B"], "A\nB"),
        ({}, ["iron", "wood"], "iron\nwood"),
        ("a text", ["1", "2"], "1\n2"),
    ],
)
def test_letters_and_texts_are_those_of_the_log(doc, spoken, told):
    assert weighed(record(spoken, [-1, -2], doc=doc)).choices.lines() == told


@pytest.mark.parametrize(
    "target, places",
    [
        ("1", (1,)),
        (1, (1,)),
        ("[0, 2]", (0, 2)),
        ([0, 2], (0, 2)),
        ("11", (2,)),
        ("9", (1,)),
        ("12", ()),
        ("[]", ()),
        (None, ()),
        (["4"], ()),
        ("-1", ()),
        (True, (1,)),
    ],
)
def test_targets(target, places):
    assert weighed(record(["4", "9", "11"], [-1, -2, -3], target=target)).target == places


def test_a_score_that_the_choices_contradict_is_seen():
    question = weighed(record(["no", "maybe"], [-4, -5], target="1"))
    assert question.fits("acc", 0) and not question.fits("acc", 1)
    assert question.fits("acc_norm", 1) and not question.fits("acc_norm", 0)
    assert question.fits("f1", 1) and question.fits("acc", 0.5) and question.fits("acc", None)


@pytest.mark.parametrize(
    "more",
    [
        {"filtered_resps": ["a", "b"]},
        {"filtered_resps": [["-1", "False"]]},
        {"filtered_resps": [["x", "False"]] * 2},
        {"filtered_resps": [["nan", "False"]] * 2},
        {"filtered_resps": None},
        {"arguments": None},
        {"arguments": [["Q", {"until": []}], ["Q", {}]]},
        {"arguments": [["Q"], ["Q"]]},
        {"arguments": 7},
        {"arguments": [7, "x"]},
        {"filtered_resps": [["-1", "False"], "b"]},
    ],
)
def test_other_records_are_no_choices(more):
    assert weighed(record(["a", "b"], [-1, -2]) | more) is None


def test_one_continuation():
    """As LAMBADA: its target is what is weighed, and whether it is the likeliest is all that the log says."""
    one = record(["Paris"], [-1])
    assert weighed(one) is None and continued(one) == "not 'Paris'"
    assert continued(one | {"filtered_resps": [["-1", "True"]]}) == "Paris"
    assert (
        continued(one | {"filtered_resps": ["Rome"]})
        == continued(record(["a", "b"], [-1, -2]))
        == ""
    )


@pytest.mark.parametrize(
    "said, meant",
    [
        ("B", "B. Paris"),
        ("b", "B. Paris"),
        ("A, C", "A. London\nC. Rome"),
        ("AC", "A. London\nC. Rome"),
        ("Rome", "C. Rome"),
        ("D", "D"),
        ("BAD", "BAD"),
        ("Cab", "Cab"),
        ("", ""),
        ("I do not know", "I do not know"),
    ],
)
def test_letters_of_inspect(said, meant):
    assert lettered(["London", "Paris", "Rome"]).meant(said) == meant


@pytest.mark.parametrize(
    "said, meant",
    [
        ("ANSWER: B", "B. Paris"),
        ("Well.\n\nanswer: c.", "C. Rome"),
        ("ANSWER: A, C", "A. London\nC. Rome"),
        ("ANSWER: A\nANSWER: A", "A. London"),
        ("ANSWER: A\nANSWER: B", "ANSWER: A\nANSWER: B"),
        ("ANSWER: E", "ANSWER: E"),
        ("ANSWER: Banana", "ANSWER: Banana"),
        ("Paris", "B. Paris"),
    ],
)
def test_answers_of_inspect(said, meant):
    assert lettered(["London", "Paris", "Rome"]).answered(said) == meant
