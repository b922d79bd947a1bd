"""Conditions on two models: how they are read, and the verdict of the pair's interval."""

import numpy as np
import pytest
from refusals import refused

import workbench as wb

SCORES = wb.ItemScores(
    np.repeat([[1, 0, 1], [0, 1, 0], [1, 1, 1]], [30, 5, 65], 0), ["A", "new B", "C-3"], range(100)
)
LOW, HIGH = wb.pair_interval(SCORES, "A", "new B")


@pytest.mark.parametrize(
    ("condition", "first", "second", "margin"),
    [
        ("A > 'new B'", "A", "new B", 0),
        ('A>"new B"-0.01', "A", "new B", -0.01),
        ("A > 'new B' + 1e-2", "A", "new B", 0.01),
        ("'new B' < A + .02", "A", "new B", -0.02),
        (' "new B" > "C-3" - .5 ', "new B", "C-3", -0.5),
        ("C-3 < A - 0.3", "A", "C-3", 0.3),
    ],
)
def test_conditions_are_read(condition, first, second, margin):
    found = wb.gate(SCORES, condition)
    assert (found.first, found.second, found.margin) == (first, second, pytest.approx(margin))
    assert tuple(found.interval) == tuple(wb.pair_interval(SCORES, first, second))


@pytest.mark.parametrize("step", [-1e-6, 1e-6])
def test_the_verdict_is_where_the_interval_lies(step):
    below = wb.gate(SCORES, f"A > 'new B' + {LOW + step:.9f}")
    assert below.verdict == ("PASS" if step < 0 else "INCONCLUSIVE")
    above = wb.gate(SCORES, f"A > 'new B' + {HIGH + step:.9f}")
    assert above.verdict == ("INCONCLUSIVE" if step < 0 else "FAIL")


def test_graded_scores_have_the_bounded_limits_too():
    graded = np.random.default_rng(2).beta(4, 2, (40, 2)).round(2)
    found = wb.gate(wb.ItemScores(graded, ["A", "B"], range(40)), "A > B")
    bounded = tuple(
        wb.pair_interval(wb.ItemScores(graded, ["A", "B"], range(40)), "A", "B", method="bounded")
    )
    (row,) = found.rows()
    assert (row["bounded_low"], row["bounded_high"]) == bounded != (row["low"], row["high"])
    assert found.bounded_sentence() == (
        "If the population may contain values inside the known bounds that this sample lacks, the interval "
        f"of A minus B is {bounded[0]:.2f} to {bounded[1]:.2f}."
    )
    assert wb.gate(SCORES, "A > 'new B'").bounded_sentence() == ""


def test_the_reason_is_said():
    assert wb.gate(SCORES, "A > 'new B'").headline() == (
        f"PASS: A > 'new B'; A minus new B is from {LOW:.3g} to {HIGH:.3g} (95% confidence "
        "interval), which lies above 0"
    )
    assert wb.gate(SCORES, "A > C-3").headline().endswith("which contains 0")
    assert (
        wb.gate(SCORES, "'new B' > A", level=0.99)
        .headline()
        .endswith("(99% confidence interval), which lies below 0")
    )


@pytest.mark.parametrize(
    ("condition", "names", "margin"),
    [
        ("B>A-0.01", "BA", -0.01),
        ("B > A-2 - .1", ["B", "A-2"], -0.1),
        ("B > A-2", ["B", "A-2"], 0),
        ("A-2 > A-.2", ["A-2", "A"], -0.2),
        ("'B - A' > B", ["B - A", "B"], 0),
        ("A < 'B - A'", ["B - A", "A"], 0),
        ('"A\'" > A', ["A'", "A"], 0),
        ("it's > A", ["it's", "A"], 0),
        ("'\"' < é日", ["é日", '"'], 0),
    ],
)
def test_names_hold_what_operators_and_quotes_are(condition, names, margin):
    models = ["A", "B", "A-2", "B - A", "A'", "it's", '"', "é日"]
    found = wb.gate(wb.ItemScores(np.eye(8), models, range(8)), condition)
    assert [found.first, found.second, found.margin] == [*names, margin]


def test_a_margin_that_no_scores_reach_is_told():
    assert (
        wb.gate(SCORES, "A > C-3 - 1")
        .headline()
        .endswith("which lies above -1. This is certain, as scores differ by at most 1")
    )
    assert "certain" not in wb.gate(SCORES, "A > C-3 - 0.999").headline()


@pytest.mark.parametrize(
    "condition",
    [
        "A",
        "A > ",
        "A > B > C",
        "A >= new B",
        "new B > A",
        "A > 'new B' * 2",
        "A > B -",
        "A - 0.1 > B",
        7,
    ],
)
def test_what_is_no_condition_is_refused(condition):
    rule = "must be of the form 'B > A' or 'B > A - 0.01', with names in quotes"
    refused(lambda: wb.gate(SCORES, condition), "condition", rule)


def test_a_model_that_is_not_there_is_refused():
    rule, told = "must be one of 'A', 'new B', 'C-3'", "got 'nwe B' (did you mean 'new B'?)"
    refused(lambda: wb.gate(SCORES, "A > 'nwe B'"), "condition", rule, told)
