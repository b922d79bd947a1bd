"""Lesson 2 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""

import ast
import contextlib
import doctest
import itertools
import math
import re
from pathlib import Path

import code_cells
import nbformat
import numpy as np
import pytest
from oracles.printed import EQUATION_12
from panels import controls, heading, rows, settle, status

import workbench as wb
from workbench.lessons.replication import views as live
from workbench.widgets import questions
from workbench.widgets import saved_answers as keeping

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "02-brr-orthogonal-arrays.ipynb"


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
    numbers = ["0.877", "0.0077", "0.0141", "0.862", "0.892", "0.838", "0.911", "0.0181", "128"]
    assert re.findall(r"\b\d+\.?\d+\b(?!%)", said)[: len(numbers)] == numbers
    assert "the design effect is 3.31." in said
    assert said.endswith("from 0.769 (box 5) to 0.938 (box 10).")


def test_box_dots_are_the_accuracies(accuracies):
    panel = live.fourteen_boxes()
    np.testing.assert_allclose([row["accuracy"] for row in rows(panel, "boxes")], accuracies)
    joined = [row[end] for row in rows(panel, "districts") for end in ("first", "second")]
    np.testing.assert_allclose(joined, accuracies)


def test_ten_labels_per_box_are_worth_120():
    panel = live.fourteen_boxes()
    settle(panel, Labels_per_box=10)
    assert heading(panel) == "140 labels in 14 boxes: effective sample size 120"
    assert {row["labels"] for row in rows(panel, "boxes")} == {10}


@pytest.mark.parametrize("per_box", [10, 60, 114])
def test_labels_per_box_are_drawn_from_their_box(per_box):
    panel, forms = live.fourteen_boxes(), wb.digit_forms()
    settle(panel, Labels_per_box=per_box)
    assert f"{14 * per_box:,} labels in 14 boxes" in heading(panel)
    whole = np.bincount(forms.box, forms.read_a == forms.digit)[1:]
    right = np.array([row["accuracy"] * per_box for row in rows(panel, "boxes")])
    assert (right <= whole + 1e-9).all() and np.allclose(right, right.round())


def test_more_labels_keep_those_already_drawn():
    panel, found = live.fourteen_boxes(), []
    for per_box in (20, 30):
        settle(panel, Labels_per_box=per_box)
        found.append(np.array([row["accuracy"] * per_box for row in rows(panel, "boxes")]).round())
    assert set((found[1] - found[0]).tolist()) <= set(range(11))


# ---------------------------------------------------------------- half-samples


@pytest.mark.parametrize(("scheme", "count"), [("all", 128), ("balanced", 8)])
def test_all_and_eight_balanced_give_the_textbook(halves, textbook, scheme, count):
    settle(halves, **{"Half-samples": "printed"})
    said = settle(halves, **{"Half-samples": scheme})
    assert rows(halves, "predicted") == []
    assert heading(halves) == f"{count} half-samples: SE 0.0141, equal to the textbook's"
    assert "The cross terms cancel in every pair of districts." in said
    band = rows(halves, "band")[0]
    assert (band["high"] - band["low"]) / 2 == pytest.approx(textbook, rel=1e-12)
    assert [row["mean"] for row in rows(halves, "terms")] == np.eye(7).ravel().tolist()


def test_all_and_eight_are_in_full_balance_the_printed_not():
    full = {
        scheme: wb.check_balance(live.half_sample_array(scheme)).full
        for scheme in ("all", "balanced", "printed")
    }
    assert full == {"all": True, "balanced": True, "printed": False}
    assert live.PRINTED == tuple(EQUATION_12)


def test_printed_half_samples_are_18_percent_too_sure(halves, accuracies, textbook):
    settle(halves, **{"Half-samples": "printed"})
    signs = np.array([[1 if sign == "+" else -1 for sign in row] for row in live.PRINTED])
    errors = signs @ (accuracies[::2] - accuracies[1::2]) / 14
    assert f"{math.sqrt((errors**2).mean()):.4f}" == "0.0116"
    assert heading(halves) == "7 half-samples: SE 0.0116, 18% below the textbook's 0.0141"
    assert [row["mean"] for row in rows(halves, "terms")] == pytest.approx(
        (signs.T @ signs / 7).ravel()
    )


@pytest.mark.parametrize("scheme", ["all", "balanced", "random", "printed"])
def test_tiles_show_the_boxes_each_replicate_keeps(halves, accuracies, scheme):
    settle(halves, **{"Half-samples": scheme})
    kept = {}
    for row in rows(halves, "tiles"):
        kept.setdefault(row["replicate"], []).append(
            2 * row["district"] - 2 + (row["box"] == "second box")
        )
    means = [accuracies[boxes].mean() for boxes in kept.values()]
    drawn = [row["value"] for row in rows(halves, "squares")]
    assert len(drawn) == {"all": 128, "printed": 7}.get(scheme, 8) and len(kept) == min(
        32, len(drawn)
    )
    assert max(min(abs(mean - value) for value in drawn) for mean in means) < 0.0005


def test_random_half_samples_are_unstable_and_many_less_so(accuracies, textbook):
    d = accuracies[::2] - accuracies[1::2]

    def ratios(count):
        return (
            np.array(
                [
                    np.mean(((1 - 2 * live.half_sample_array("random", count, seed)) @ d / 14) ** 2)
                    for seed in range(1, 1001)
                ]
            )
            / textbook**2
        )

    eight, many = ratios(8), ratios(2048)
    low, high = np.sqrt(np.quantile(eight, [0.05, 0.95]))
    assert eight.mean() == pytest.approx(1, abs=0.05) and eight.std() == pytest.approx(
        0.44, abs=0.03
    )
    assert low == pytest.approx(0.60, abs=0.03) and high == pytest.approx(1.34, abs=0.04)
    assert many.std() == pytest.approx(0.027, abs=0.003)


def test_another_draw_another_standard_error(halves):
    first = settle(halves, **{"Half-samples": "random"})
    assert settle(halves, Random_sample=2) != first and "half-samples: SE 0.0" in heading(halves)
    settle(halves, How_many=2048)
    assert heading(halves).startswith("2,048 half-samples: SE 0.01")


def test_the_draw_can_be_moved_where_it_matters(halves):
    found = controls(halves)
    assert found["How many at random"].disabled and found["Random sample number"].disabled
    settle(halves, **{"Half-samples": "random"})
    assert not found["How many at random"].disabled and not found["Random sample number"].disabled


# ---------------------------------------------------------------- arrays and fields


def test_array_builder_starts_balanced(arrays):
    assert arrays.view.alternative == (
        "An array of 27 runs, 8 columns, 3 units per stratum: all 28 pairs of "
        "columns are balanced. Columns 1 and 2 show each pair of numbers 3 times."
    )


def test_the_papers_shifts_have_four_bad_pairs(arrays):
    said = settle(arrays, Construction="paper", Second_column=5)
    assert heading(arrays) == (
        "9 runs, 8 columns, 3 units per stratum: 4 of 28 pairs are not balanced (1 and 5, "
        "2 and 6, 3 and 7, 4 and 8); 27 runs are needed"
    )
    red = [(row["i"], row["j"]) for row in rows(arrays, "pairs") if row["pair"] == "not balanced"]
    assert [(row["i"], row["j"]) for row in rows(arrays, "crosses")] == red
    assert red == [(1, 5), (2, 6), (3, 7), (4, 8)]
    assert said.endswith("Columns 1 and 5 show the pairs of numbers between 0 and 3 times.")
    assert sorted(row["count"] for row in rows(arrays, "table")) == [0] * 6 + [3] * 3


def test_six_units_are_refused_in_words_and_no_stale_picture_stays(arrays):
    settle(arrays, Units=6)
    assert status(arrays) == (
        "<strong role='alert'>Units per stratum s must be a prime power; 6 is not a prime power, "
        "the nearest are 5 and 7</strong>"
    )
    assert arrays.view.picture["blank"] and arrays.view.alternative == ""
    settle(arrays, Units=7)
    assert status(arrays) == "" and heading(arrays).startswith(
        "49 runs, 8 columns, 7 units per stratum: all 28"
    )
    assert not arrays.view.picture["blank"]


def test_a_column_is_never_compared_with_itself(arrays):
    settle(arrays, First=2)
    assert (controls(arrays)["First column"].value, controls(arrays)["Second column"].value) == (
        2,
        1,
    )
    settle(arrays, Second=2)
    assert (controls(arrays)["First column"].value, controls(arrays)["Second column"].value) == (
        1,
        2,
    )
    assert status(arrays) == "" and "Columns 1 and 2 show" in arrays.view.alternative


@pytest.mark.parametrize(
    ("chosen", "columns", "left"),
    [
        ((7, 8), 4, (3, 4)),
        ((8, 7), 4, (3, 4)),
        ((3, 7), 4, (3, 4)),
        ((4, 7), 4, (3, 4)),
        ((7, 1), 2, (1, 2)),
        ((1, 2), 40, (1, 2)),
    ],
)
def test_fewer_columns_move_the_chosen_ones(arrays, chosen, columns, left):
    settle(arrays, First=chosen[0], Second=chosen[1])
    said = settle(arrays, Columns=columns)
    found = controls(arrays)
    assert (found["First column"].value, found["Second column"].value) == left
    assert {found[f"{name} column"].max for name in ("First", "Second")} == {columns}
    assert (
        status(arrays) == ""
        and f"Columns {left[0]} and {left[1]} show each pair of numbers" in said
    )


def test_a_click_on_a_column_compares_it_with_the_last(arrays):
    assert [(row["pick"], row["label"]) for row in rows(arrays, "columns")] == [
        (k, f"column {k}") for k in range(1, 9)
    ]
    for picked, left in ((5, (2, 5)), (5, (2, 5)), (2, (2, 5)), (1, (5, 1))):
        arrays.view._picked({"pick": picked})
        found = controls(arrays)
        assert (found["First column"].value, found["Second column"].value) == left
    assert {row["column"] for row in rows(arrays, "chosen")} == {1, 5}


@pytest.mark.parametrize("levels", [2, 3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize("method", ["linear", "paper"])
def test_every_array_answers(arrays, levels, method):
    settle(arrays, Construction=method, Units=levels)
    for columns in (2, 9, 40):
        said = settle(arrays, Columns=columns)
        assert f"{columns} columns, {levels} units per stratum" in said and status(arrays) == ""
        assert ("not balanced" in said) == (method == "paper" and columns > room(levels, columns))


def room(levels, columns):
    """Columns that the paper's number of runs really has room for."""
    runs = next(levels**b for b in itertools.count(1) if columns <= levels**b - 1)
    return (runs - 1) // (levels - 1)


def test_field_is_built_step_by_step():
    panel = live.field_steps()
    before = panel.view.alternative
    said = settle(panel, Power_of_x=6)
    assert said != before and heading(panel).startswith("GF(3^3), step 6 of 26: x^6 = ")
    settle(panel, Power_of_x=26)
    assert heading(panel) == "GF(3^3): 26 powers and a row of zeros make 27 runs for 13 columns"
    settle(panel, Field=(2, 3))
    assert controls(panel)["Power of x, step"].max == 7 and heading(panel).startswith(
        "GF(2^3): 7 powers"
    )


# ---------------------------------------------------------------- coverage and worth


def coverages(said):
    return {name: float(share) / 100 for name, share in re.findall(r"(\w+) (\d+\.\d)%[,;]", said)}


def test_naive_intervals_cover_72_percent():
    panel = live.coverage()
    found = coverages(panel.view.alternative)
    assert found == pytest.approx(
        {"naive": 0.725, "z": 0.905, "t": 0.945, "logit": 0.95, "default": 0.965}, abs=0.012
    )
    found = coverages(settle(panel, Intracluster=0.1))
    assert found["naive"] == pytest.approx(0.41, abs=0.02) and found["default"] > 0.92
    assert heading(panel).startswith("Coverage of 95% intervals: naive 4")


def test_large_boxes_that_are_worse_are_missed_by_t_and_not_by_the_default():
    panel = live.coverage()
    found = coverages(settle(panel, Sizes=1.0))
    assert 0.91 < found["t"] < 0.95 < found["default"]
    found = coverages(settle(panel, Large=-1.0))
    assert found["naive"] < 0.2 and found["t"] == pytest.approx(0.76, abs=0.02)
    assert found["default"] == pytest.approx(0.934, abs=0.012)  # bounded: above .95
    found = coverages(settle(panel, Sizes=0.0))
    assert found == pytest.approx(
        {"naive": 0.725, "z": 0.905, "t": 0.945, "logit": 0.95, "default": 0.965}, abs=0.012
    )


def test_independent_labels_are_covered_by_both():
    found = coverages(settle(live.coverage(), Intracluster=0))
    assert found["naive"] == pytest.approx(0.95, abs=0.015) and found["default"] >= 0.94


@pytest.mark.parametrize(
    ("strata", "psus", "items"), [(3, 2, 1), (50, 5, 200), (3, 5, 200), (50, 2, 1)]
)
def test_every_design_is_simulated(strata, psus, items):
    panel = live.coverage()
    said = settle(panel, Districts=strata, Boxes=psus, Labels=items, Random=3)
    assert status(panel) == "" and set(coverages(said)) == {"naive", "z", "t", "logit", "default"}


def test_patients_with_six_sites_have_the_papers_design_effect():
    """4.65 / 2.58 squared is 1 + 5 x .45."""
    assert (4.65 / 2.58) ** 2 == pytest.approx(1 + 5 * 0.45, abs=0.01)
    found = coverages(settle(live.coverage(), Districts=50, Labels=6, Intracluster=0.45))
    assert found["naive"] == pytest.approx(0.72, abs=0.04) and found["default"] > 0.94


@pytest.mark.parametrize(
    "view",
    [live.fourteen_boxes, live.half_samples, live.array_builder, live.field_steps, live.coverage],
)
def test_a_hand_reaches_every_end(view):
    for control in controls(view()).values():
        steps = len(control.options) if hasattr(control, "options") else control.max - control.min
        assert steps <= 60


# ---------------------------------------------------------------- predictions and reveals


@pytest.fixture
def fresh(monkeypatch):
    """A learner who has written nothing."""
    monkeypatch.delenv(questions.REVEAL, raising=False)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    keeping.saved_answers.cache_clear()
    yield
    keeping.saved_answers.cache_clear()


@pytest.fixture
def revealed(monkeypatch):
    monkeypatch.setenv(questions.REVEAL, "all")


def panel_of(reveal):
    return reveal.parts[-1]


def lock(prediction, choice):
    prediction.control.value = choice
    prediction._lock.click()


def test_reveals_wait_for_their_prediction_and_compute_nothing_before(fresh, monkeypatch):
    waits = {
        "predict_worth": ("seen_boxes", "seen_worth"),
        "predict_eight": ("seen_halves", "seen_schemes", "seen_broken", "seen_orders"),
        "predict_pairs": ("seen_pairs",),
        "predict_coverage": ("seen_coverage", "seen_weights"),
    }
    looked = ("seen_worth", "seen_schemes", "seen_broken")
    seen = {name: getattr(live, name)() for names in waits.values() for name in names}
    assert {repr(each) for each in seen.values()} == {"Make your prediction first."}
    for asked, names in waits.items():
        prediction = getattr(live, asked)()
        lock(prediction, prediction.control.options[0])
        assert not any(seen[name].parts for name in names if name in looked)
        for name in names:
            if name in looked:
                seen[name].children[0].click()
        assert [name for name, each in seen.items() if each.parts] == [
            name for each in list(waits)[: list(waits).index(asked) + 1] for name in waits[each]
        ]
        assert all("Make your" not in repr(seen[name]) for name in names)


def test_the_predicted_worth_is_drawn_as_an_interval(fresh):
    lock(live.predict_worth(), "1,200")
    seen = live.seen_boxes()
    assert seen.parts[0].startswith("You predicted 1,200. You expected a loss")
    assert "effective sample size 543" in heading(panel_of(seen))
    panel, p = panel_of(seen), 1576 / 1797
    yours = rows(panel, "limits")[2]
    assert yours["kind"] == "yours"
    assert (
        yours["high"] - p
        == p - yours["low"]
        == pytest.approx(1.959964 * math.sqrt(p * (1 - p) / 1200), rel=1e-6)
    )
    assert (
        "You predicted 1,200. That many independent labels would give an interval from "
        f"{yours['low']:.3f} to {yours['high']:.3f}." in panel.view.alternative
    )
    settle(panel, Labels=10)
    assert len(rows(panel, "limits")) == 2 and "You predicted" not in panel.view.alternative


def test_every_axis_of_boxes_holds_all_that_is_drawn(revealed):
    panel = live.fourteen_boxes(14)
    low, high = panel.view.spec["hconcat"][0]["layer"][2]["encoding"]["y"]["scale"]["domain"]
    for per_box in live.PER_BOX[::-1]:
        settle(panel, Labels=per_box)
        assert all(low <= row["accuracy"] <= high for row in rows(panel, "boxes"))
        assert all(low <= row["low"] and row["high"] <= high for row in rows(panel, "limits"))


def test_the_predicted_error_is_dashed_where_it_is_about(fresh, textbook):
    lock(live.predict_eight(), "by about 10%")
    panel = panel_of(live.seen_halves())
    assert heading(panel).startswith("128 half-samples: SE 0.0141, equal to the textbook's")
    assert not rows(panel, "predicted")
    said = settle(panel, **{"Half-samples": "balanced"})
    middle = rows(panel, "estimate")[0]["estimate"]
    assert sorted(
        abs(row["value"] - middle) / textbook for row in rows(panel, "predicted")
    ) == pytest.approx([0.9, 0.9, 1.1, 1.1])
    assert f"your prediction, {0.9 * textbook:.4f} or {1.1 * textbook:.4f}." in said


def test_the_predicted_pairs_and_coverage_stand_in_the_pictures(fresh):
    lock(live.predict_pairs(), "none")
    seen = live.seen_pairs()
    assert seen.parts[:2] == [
        f"You predicted none. {live.TEXTS.feedback('2-pairs')['none']}",
        "4 of the 28 pairs fail: 1 and 5, 2 and 6, 3 and 7, 4 and 8.",
    ]
    panel = panel_of(seen)
    assert rows(panel, "note") == [{"text": "you predicted: none"}]
    assert panel.view.alternative.endswith("You predicted: none.")
    assert "predicted" not in settle(panel, Construction="linear") and rows(panel, "note") == [
        {"text": ""}
    ]
    lock(live.predict_coverage(), "72")
    seen = live.seen_coverage()
    panel = panel_of(seen)
    assert seen.parts[0].startswith("You predicted 72. That is correct")
    assert rows(panel, "predicted") == [{"level": 0.72, "text": "you: 72%"}]
    settle(panel, Intracluster=0.1)
    assert rows(panel, "predicted") == [] and "You predicted" not in panel.view.alternative


def test_the_right_choices_are_right(revealed, textbook):
    effect = (textbook / math.sqrt(1576 / 1797 * 221 / 1797 / 1797)) ** 2
    assert min(
        live.TEXTS.values("2-worth").values(), key=lambda choice: abs(choice - 1797 / effect)
    ) == live.TEXTS.value("2-worth", "550")
    assert coverages(live.coverage().view.alternative)["naive"] == pytest.approx(
        live.TEXTS.value("2-coverage", "72"), abs=0.01
    )


def test_what_labels_are_worth_by_hand(revealed, textbook):
    effect = (textbook / math.sqrt(1576 / 1797 * 221 / 1797 / 1797)) ** 2
    rho = (effect - 1) / (1797 / 14 - 1)
    found = panel_of(live.seen_worth()).rows()
    assert [(row["labeled"], row["effective sample size"]) for row in found] == [
        (round(14 * m), round(14 * m / (1 + (m - 1) * rho))) for m in (1, 10, 50, 1797 / 14)
    ]
    assert [row["effective sample size"] for row in found[1::2]] == [120, 543]


def test_schemes_agree_to_fifteen_digits_and_broken_ones_do_not(revealed, accuracies, textbook):
    d = accuracies[::2] - accuracies[1::2]
    found = {
        row["half-samples"]: row["standard_error"] for row in panel_of(live.seen_schemes()).rows()
    }
    assert found["all 128"] == found["balanced 8"] == f"{textbook:.15f}"
    low, high = map(float, re.findall(r"0\.\d+", found["8 at random"]))
    assert (low / textbook, high / textbook) == pytest.approx((0.60, 1.34), abs=0.04)
    broken = panel_of(live.seen_broken()).rows()
    one_less = wb.hadamard(8)[1:, 1:] @ d / 14
    assert float(broken[0]["standard_error"]) == pytest.approx(
        math.sqrt((one_less**2).mean()), abs=5e-5
    )
    assert (broken[1]["standard_error"], broken[1]["difference"]) == ("0.0116", "-18%")
    assert [row["balanced with one more row"] for row in broken] == ["yes", "no"]


def test_the_order_of_districts_moves_the_error_of_f1(revealed):
    forms = wb.digit_forms()
    two, read = forms.digit == 2, forms.read_a == 2
    design = wb.SurveyDesign((forms.box - 1) // 2, psu=forms.box)
    some = [
        wb.replicate_estimate(
            wb.replicates(design, array=wb.hadamard(8)[:, list(order)]), "f1", two, read
        ).standard_error
        for order in list(itertools.permutations(range(1, 8)))[::97]
    ]
    every, orders = (row["standard_error"] for row in panel_of(live.seen_orders()).rows())
    low, high = map(float, orders.split(" to "))
    assert low - 5e-5 <= min(some) < max(some) <= high + 5e-5 and max(some) - min(some) > 0.8 * (
        high - low
    )
    assert low < float(every) < high and high - low > 0.001


def test_forgotten_weights_move_the_estimate(revealed):
    found = {
        row["interval_method"]: float(row["coverage"].strip("%"))
        for row in panel_of(live.seen_weights()).rows()
    }
    assert found["naive"] < 5 and found["weighted naive"] > 90 and found["default"] > 94


def test_the_first_look_asks_and_does_not_answer(accuracies):
    said = live.first_look().alternative
    half = 1.96 * math.sqrt(0.877 * 0.123 / 128.4)
    assert (
        f" {np.count_nonzero(abs(accuracies - 0.877) > half)} of the 14 boxes lie outside" in said
    )
    assert "77% of the forms in box 5" in said and "effective" not in said


@pytest.mark.parametrize("explain", [live.explain_worth, live.explain_eight, live.explain_coverage])
def test_a_model_answer_comes_after_two_lines(fresh, explain):
    asked = explain()
    assert asked._status.value == ""
    for line in asked._lines:
        line.value = "because boxes differ"
    asked._keep.click()
    assert "model answer" in asked._status.value and asked._status.value.count("<li>") == 2


# ---------------------------------------------------------------- the notebook


def test_code_cells_compute_the_numbers_of_the_scenes(accuracies, textbook):
    shown = code_cells.outputs(NOTEBOOK)
    numbers = {name: numbers_in(text) for name, text in shown.items()}
    p = 1576 / 1797
    half_width = 1.96 * math.sqrt(p * (1 - p) / (1797 / 14))
    assert numbers["code-boxes"][:14] == accuracies.round(2).tolist()
    assert numbers["code-boxes"][14] == np.count_nonzero(abs(accuracies - p) > half_width)
    effect = textbook**2 / (p * (1 - p) / 1797)
    correlation = (effect - 1) / (1797 / 14 - 1)
    limits = r"accuracy 0\.8763 \(SE 0\.01409\), 95% .* 0\.8377 to 0\.9107"
    assert re.search(limits, shown["code-design"])
    assert f"{accuracies.mean():.4f} {textbook:.5f}" == "0.8763 0.01409"
    assert numbers["code-worth"] == [round(effect, 2), round(correlation, 4), 543]
    assert numbers["code-labels"] == [1.89, round(700 / (1 + 49 * correlation))]
    assert numbers["code-halves"] == pytest.approx([128, textbook, 8, textbook], rel=1e-12)
    assert numbers["code-random"] == pytest.approx([0.6 * textbook, 1.34 * textbook], rel=0.03)
    products = [1, 0, 0, 1]
    deviations = [0.025, -0.015, 0.015, -0.025]
    assert numbers["code-signs"] == [*products, *deviations, 0.000425, 0.000425]
    assert "column 1 holds 0 in 2 runs, not 3.5" in shown["code-broken"]
    assert shown["code-pairs"] == "[(1, 5), (2, 6), (3, 7), (4, 8)]"
    assert numbers["code-linear"][:2] == [27, 8] and "full balance" in shown["code-linear"]
    assert numbers["code-field"][:3] == [2, 1, 2]  # x^5 = 2x^2 + x + 2


def test_code_cells_compute_coverage_and_f1_of_the_scenes():
    shown = code_cells.outputs(NOTEBOOK)
    coverage = ast.literal_eval(shown["code-coverage"])
    drawn = live.coverage().view.alternative
    assert coverage == pytest.approx(coverages(drawn), abs=6e-4) and coverage["naive"] == 0.728
    weighted = ast.literal_eval(shown["code-weights"])
    assert weighted["naive"] < 0.05 and weighted["default"] > 0.9
    forms = wb.digit_forms()
    two, read = forms.digit == 2, forms.read_a == 2
    counts = [np.bincount(forms.box, column)[1:] for column in (two & read, two, read)]
    f1 = 2 * counts[0].sum() / (counts[1].sum() + counts[2].sum())
    halves = [f1_of_boxes(counts, 1 + np.ravel([kept, -kept], "F")) for kept in sign_rows(7)]
    without = [f1_of_boxes(counts, without_box(box)) for box in range(14)]
    assert numbers_in(shown["code-f1"])[1:3] == pytest.approx([f1, 0.04022], abs=5e-5)
    assert "Interval(0.7548 to 0.9569, 0.95 logit)" in shown["code-f1"]
    error = math.sqrt(np.mean((np.array(halves) - f1) ** 2))
    jackknife = math.sqrt(np.sum((np.array(without) - f1) ** 2) / 2)
    assert numbers_in(shown["code-orders"]) == pytest.approx([error, jackknife], abs=6e-5)


def numbers_in(text):
    """The numbers of a text in their order."""
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-\d+)?", text)]


def sign_rows(districts):
    """All rows of +1 and -1."""
    return map(np.array, itertools.product((1, -1), repeat=districts))


def without_box(box):
    """Weights of the 14 boxes without one of them: the other one of its district counts twice."""
    weight = np.ones(14)
    weight[[box, box ^ 1]] = 0, 2
    return weight


def f1_of_boxes(counts, weight):
    """F1 from true positives, positives and predicted positives of each box."""
    hits, positives, predicted = (count @ weight for count in counts)
    return 2 * hits / (positives + predicted)


def test_no_answer_of_an_exercise_stands_above_it():
    """Every number of three digits or more that an exercise wants, in any of its forms, against text and outputs."""
    above = ""
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        for exercise in re.findall(r'wb\.check\("([\d.]+)"', cell.source):
            assert answers(exercise) & shares_in(above) == set(), exercise
        above += cell.source + "".join(
            str(output.get("text", ""))
            + str(
                {
                    kind: text
                    for kind, text in output.get("data", {}).items()
                    if kind.startswith("text")
                }
            )
            for output in cell.get("outputs", ())
        )


def shares_in(text):
    """The numbers of at least three significant digits in a text, as they are and as percentages: 2.81% is .0281."""
    found = [
        number
        for number in re.findall(r"\d[\d,]*\.?\d*|\.\d+", text)
        if len(re.sub(r"[.,]", "", number).strip("0")) >= 3
    ]
    return {f"{float(number.replace(',', '')) / unit:.4g}" for number in found for unit in (1, 100)}


def answers(exercise):
    """What an exercise wants, at three and four digits."""
    exact = {
        "2.1": [math.sqrt(0.1**2 + 0.06**2 + 0.04**2) / 6],
        "2.2": [81],
        "2.3": [math.sqrt(20 * (1 - 0.0181) / 0.0181)],
        "2.4": f1_of_nines(),
    }[exercise]
    return {f"{value:.{digits}g}" for value in exact for digits in (3, 4) if value != 81}


def f1_of_nines():
    forms = wb.digit_forms()
    nine, read = forms.digit == 9, forms.read_a == 9
    design = wb.SurveyDesign((forms.box - 1) // 2, psu=forms.box)
    found = [
        wb.replicate_estimate(wb.replicates(design, method), "f1", nine, read)
        for method in ("brr", "fay", "jkn")
    ]
    return [
        number
        for each in found
        for number in (each.estimate, each.standard_error, *each.interval(method="logit"))
    ]


def test_the_solutions_are_right(fresh):
    solutions = nbformat.read(NOTEBOOK.parent / "solutions" / NOTEBOOK.name, as_version=4)
    space = {}
    for cell in (cell for cell in solutions.cells if cell.cell_type == "code"):
        exec(cell.source.replace("wb.check(", "said = wb.check("), space)
        assert "said" not in space or " correct: " in repr(space["said"])
    assert [
        re.match(r"## (2\.\d)", c.source)[1]
        for c in solutions.cells[1:]
        if c.cell_type == "markdown"
    ] == ["2.1", "2.2", "2.3", "2.4"]


def test_the_own_file_cell_runs_by_itself():
    cells = {cell.id: cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
    space = {}
    with contextlib.chdir(NOTEBOOK.parent):
        exec(cells["code-own"].source, space)
        rows = np.genfromtxt("data/labeled.csv", delimiter=",", names=True)
    correct = rows["y"] == rows["yhat"]
    person, weight = rows["person"].astype(int), rows["w"]
    p = np.average(correct, weights=weight)
    residuals = np.bincount(person, weight * (correct - p)).reshape(6, 4) / weight.sum()
    variance = (4 / 3) * ((residuals - residuals.mean(1, keepdims=True)) ** 2).sum()
    accuracy = space["estimates"].rows()[0]
    assert (accuracy["metric"], accuracy["estimate"]) == ("accuracy", pytest.approx(p))
    assert accuracy["standard_error"] == pytest.approx(math.sqrt(variance), rel=0.01)
    assert "--stratum district --psu person --weight w" in cells["code-own-text"].source


@pytest.mark.parametrize(
    "view",
    [
        live.first_look,
        live.fourteen_boxes,
        live.half_samples,
        live.array_builder,
        live.field_steps,
        live.coverage,
    ],
)
def test_the_example_of_a_scene_runs_with_interact(view, capsys):
    space = {"np": np}
    for example in doctest.DocTestParser().get_examples(view.__doc__):
        exec(compile(example.source, view.__name__, "single"), space)
    drawn, with_controls = capsys.readouterr().out.split("Chart: ", 1)[1].split("interactive(")
    assert len(drawn) > 50 and "Slider(" in with_controls
