"""Lesson 2 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""
import itertools
import math
import re

import numpy as np
import pytest
from oracles.printed import EQUATION_12
from panels import controls, heading, rows, settle, status

import workbench as wb
from workbench.widgets import replication as live


@pytest.fixture(scope="module")
def accuracies():
    forms = wb.digit_forms()
    return np.array([np.mean((forms.read_a == forms.digit)[forms.box == b]) for b in range(1, 15)])


@pytest.fixture(scope="module")
def textbook(accuracies):
    """sqrt(sum_h W_h^2 s_h^2 / 2), W_h = 1/7, s_h^2 = d_h^2 / 2."""
    return math.sqrt(((accuracies[::2] - accuracies[1::2]) ** 2 / 4).sum()) / 7


@pytest.fixture
def halves():
    return live.half_samples()


@pytest.fixture
def arrays():
    return live.array_builder()


# ---------------------------------------------------------------- fourteen boxes

def test_labels_in_boxes_are_worth_543(textbook):
    naive = math.sqrt(1576 / 1797 * 221 / 1797 / 1797)
    effect = (textbook / naive) ** 2
    assert (f"{naive:.4f}", f"{textbook:.4f}", f"{effect:.2f}") == ("0.0077", "0.0141", "3.31")
    assert f"{1797 / effect:.0f}" == "543" and f"{(effect - 1) / (1797 / 14 - 1):.4f}" == "0.0181"
    said = live.fourteen_boxes().view.alternative
    assert said.startswith("Accuracy 0.877. Standard error 0.0077 were the labels independent, 0.0141 by boxes.")
    assert "Naive 95% interval 0.862 to 0.892, by boxes 0.839 to 0.908." in said
    assert "correlation 0.0181 of all labels makes the design effect 3.31 with 128 per box" in said
    assert said.endswith("Boxes run from 0.769 (box 5) to 0.938 (box 10).")


def test_box_dots_are_the_accuracies(accuracies):
    panel = live.fourteen_boxes()
    np.testing.assert_allclose([row["accuracy"] for row in rows(panel, "boxes")], accuracies)
    joined = [row[end] for row in rows(panel, "districts") for end in ("first", "second")]
    np.testing.assert_allclose(joined, accuracies)


def test_ten_labels_per_box_are_worth_120():
    panel = live.fourteen_boxes()
    settle(panel, Labels_per_box=10)
    assert heading(panel) == "140 labels in 14 boxes are worth 120 independent ones"
    assert {row["labels"] for row in rows(panel, "boxes")} == {10}


@pytest.mark.parametrize("per_box", [1, 2, 57, 114])
def test_labels_per_box_are_drawn_from_their_box(per_box):
    panel, forms = live.fourteen_boxes(), wb.digit_forms()
    settle(panel, Labels_per_box=per_box)
    assert f"{14 * per_box:,} labels in 14 boxes" in heading(panel)
    whole = np.bincount(forms.box, forms.read_a == forms.digit)[1:]
    right = np.array([row["accuracy"] * per_box for row in rows(panel, "boxes")])
    assert (right <= whole + 1e-9).all() and np.allclose(right, right.round())


def test_more_labels_keep_those_already_drawn():
    panel, found = live.fourteen_boxes(), []
    for per_box in (20, 21):
        settle(panel, Labels_per_box=per_box)
        found.append(np.array([row["accuracy"] * per_box for row in rows(panel, "boxes")]).round())
    assert set((found[1] - found[0]).tolist()) <= {0, 1}


# ---------------------------------------------------------------- half-samples

@pytest.mark.parametrize(("scheme", "count"), [("all", 128), ("balanced", 8)])
def test_all_and_eight_balanced_give_the_textbook(halves, textbook, scheme, count):
    settle(halves, **{"Half-samples": "printed"})
    said = settle(halves, **{"Half-samples": scheme})
    assert heading(halves) == f"{count} half-samples: SE 0.0141, the textbook's to 12 digits"
    assert "Cross terms cancel in every pair of districts." in said
    band = rows(halves, "band")[0]
    assert (band["high"] - band["low"]) / 2 == pytest.approx(textbook, rel=1e-12)
    assert [row["mean"] for row in rows(halves, "terms")] == np.eye(7).ravel().tolist()


def test_all_and_eight_are_in_full_balance_the_printed_not():
    full = {scheme: wb.check_balance(live.half_sample_array(scheme)).full for scheme in ("all", "balanced", "printed")}
    assert full == {"all": True, "balanced": True, "printed": False}
    assert live.PRINTED == tuple(EQUATION_12)


def test_printed_half_samples_are_18_percent_too_sure(halves, accuracies, textbook):
    settle(halves, **{"Half-samples": "printed"})
    signs = np.array([[1 if sign == "+" else -1 for sign in row] for row in live.PRINTED])
    errors = signs @ (accuracies[::2] - accuracies[1::2]) / 14
    assert f"{math.sqrt((errors ** 2).mean()):.4f}" == "0.0116"
    assert heading(halves) == "7 half-samples: SE 0.0116, 18% below the textbook's 0.0141"
    assert [row["mean"] for row in rows(halves, "terms")] == pytest.approx((signs.T @ signs / 7).ravel())


@pytest.mark.parametrize("scheme", ["all", "balanced", "random", "printed"])
def test_tiles_show_the_boxes_each_replicate_keeps(halves, accuracies, scheme):
    settle(halves, **{"Half-samples": scheme})
    kept = {}
    for row in rows(halves, "tiles"):
        kept.setdefault(row["replicate"], []).append(2 * row["district"] - 2 + (row["box"] == "second box"))
    means = [accuracies[boxes].mean() for boxes in kept.values()]
    drawn = [row["value"] for row in rows(halves, "squares")]
    assert len(drawn) == {"all": 128, "printed": 7}.get(scheme, 8) and len(kept) == min(32, len(drawn))
    assert max(min(abs(mean - value) for value in drawn) for mean in means) < 0.0005


def test_random_half_samples_are_unstable_and_many_less_so(accuracies, textbook):
    d = accuracies[::2] - accuracies[1::2]

    def ratios(count):
        return np.array([np.mean(((1 - 2 * live.half_sample_array("random", count, seed)) @ d / 14) ** 2)
                         for seed in range(1, 1001)]) / textbook ** 2
    eight, many = ratios(8), ratios(2048)
    low, high = np.sqrt(np.quantile(eight, [0.05, 0.95]))
    assert eight.mean() == pytest.approx(1, abs=0.05) and eight.std() == pytest.approx(0.44, abs=0.03)
    assert low == pytest.approx(0.60, abs=0.03) and high == pytest.approx(1.34, abs=0.04)
    assert many.std() == pytest.approx(0.027, abs=0.003)


def test_another_draw_another_standard_error(halves):
    first = settle(halves, **{"Half-samples": "random"})
    assert settle(halves, Draw=2) != first and "half-samples: SE 0.0" in heading(halves)
    settle(halves, Random_k=2048)
    assert heading(halves).startswith("2,048 half-samples: SE 0.01")


def test_the_draw_can_be_moved_where_it_matters(halves):
    found = controls(halves)
    assert found["Random k"].disabled and found["Draw"].disabled
    settle(halves, **{"Half-samples": "random"})
    assert not found["Random k"].disabled and not found["Draw"].disabled


# ---------------------------------------------------------------- arrays and fields

def test_array_builder_starts_balanced(arrays):
    assert arrays.view.alternative == ("An array of 27 runs, 8 columns, 3 levels: all 28 pairs of columns are "
                                       "balanced. Columns 1 and 2 show each pair of levels 3 times.")


def test_the_papers_shifts_have_four_bad_pairs(arrays):
    said = settle(arrays, Construction="paper", Column_j=5)
    assert heading(arrays) == ("9 runs, 8 columns, 3 levels: 4 of 28 pairs are not balanced (1–5, 2–6, 3–7, 4–8); "
                               "27 runs are needed")
    red = [(row["i"], row["j"]) for row in rows(arrays, "pairs") if row["pair"] == "not balanced"]
    assert red == [(1, 5), (2, 6), (3, 7), (4, 8)]
    assert said.endswith("Columns 1 and 5 show the pairs of levels between 0 and 3 times.")
    assert sorted(row["count"] for row in rows(arrays, "table")) == [0] * 6 + [3] * 3


def test_six_levels_are_refused_in_words(arrays):
    before = arrays.view.picture
    settle(arrays, Levels_s=6)
    assert status(arrays) == ("<strong role='alert'>Levels s must be a prime power; 6 is not a prime power, the "
                              "nearest are 5 and 7</strong>")
    assert arrays.view.picture == before
    settle(arrays, Levels_s=7)
    assert status(arrays) == "" and heading(arrays).startswith("49 runs, 8 columns, 7 levels: all 28")


def test_a_column_is_not_compared_with_itself(arrays):
    settle(arrays, Column_j=1)
    assert status(arrays) == "<strong role='alert'>column i and column j must differ; both are 1</strong>"


def test_fewer_columns_move_the_chosen_ones(arrays):
    settle(arrays, Column_i=7, Column_j=8)
    said = settle(arrays, Columns=4)
    assert {name: controls(arrays)[name].max for name in ("Column i", "Column j")} == {"Column i": 4, "Column j": 4}
    assert status(arrays) == "<strong role='alert'>column i and column j must differ; both are 4</strong>"
    said = settle(arrays, Column_i=3)
    assert status(arrays) == "" and said.endswith("Columns 3 and 4 show each pair of levels 1 time.")


@pytest.mark.parametrize("levels", [2, 3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize("method", ["linear", "paper"])
def test_every_array_answers(arrays, levels, method):
    settle(arrays, Construction=method, Levels_s=levels)
    for columns in (2, 9, 40):
        said = settle(arrays, Columns=columns)
        assert f"{columns} columns, {levels} levels" in said and status(arrays) == ""
        assert ("not balanced" in said) == (method == "paper" and columns > room(levels, columns))


def room(levels, columns):
    """Columns that the paper's number of runs really has room for."""
    runs = next(levels ** b for b in itertools.count(1) if columns <= levels ** b - 1)
    return (runs - 1) // (levels - 1)


def test_field_is_built_step_by_step():
    panel = live.field_steps()
    before = panel.view.alternative
    said = settle(panel, Power_of_x=6)
    assert said != before and heading(panel).startswith("GF(3^3), step 6 of 26: x^6 = ")
    settle(panel, Power_of_x=26)
    assert heading(panel) == "GF(3^3): 26 powers and a row of zeros make 27 runs for 13 columns"
    settle(panel, Field=(2, 3))
    assert controls(panel)["Power of x"].max == 7 and heading(panel).startswith("GF(2^3): 7 powers")


# ---------------------------------------------------------------- coverage and worth

def coverages(said):
    return {name: float(share) / 100 for name, share in re.findall(r"(\w+) (\d+\.\d)%[,;]", said)}


def test_naive_intervals_cover_73_percent():
    panel = live.coverage()
    found = coverages(panel.view.alternative)
    assert found == pytest.approx({"naive": 0.73, "z": 0.91, "t": 0.95, "logit": 0.95, "default": 0.95}, abs=0.015)
    found = coverages(settle(panel, ICC=0.1))
    assert found["naive"] == pytest.approx(0.41, abs=0.02) and found["default"] > 0.92
    assert heading(panel).startswith("95% intervals: the naive contain the truth in 4")


def test_independent_labels_are_covered_by_both():
    found = coverages(settle(live.coverage(), ICC=0.0))
    assert found["naive"] == pytest.approx(0.95, abs=0.015) and found["default"] >= 0.94


@pytest.mark.parametrize(("strata", "psus", "items"), [(3, 2, 1), (50, 5, 200), (3, 5, 200), (50, 2, 1)])
def test_every_design_is_simulated(strata, psus, items):
    panel = live.coverage()
    said = settle(panel, Strata_L=strata, Boxes_per_stratum_n=psus, Labels_per_box_m=items, Draw=3)
    assert status(panel) == "" and set(coverages(said)) == {"naive", "z", "t", "logit", "default"}


def test_prediction_locks_before_it_tells():
    asked = live.predict_worth()
    assert repr(asked) == "Prediction: 1,797 labels in 14 boxes are worth how many independent ones?"
    choice, lock, told = asked.children[1:]
    assert choice.options == ("1,800", "1,200", "550") and lock.disabled and told.value == ""
    choice.value = "1,200"
    lock.click()
    assert choice.disabled and "You predicted <strong>1,200</strong>. About 543:" in told.value
    assert "3.31 times" in told.value
