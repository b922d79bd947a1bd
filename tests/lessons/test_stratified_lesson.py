"""Lesson 1 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""
import re

import numpy as np
import pytest
from panels import settle

import workbench as wb
from workbench.widgets import questions
from workbench.widgets import stratified as live


@pytest.fixture
def shares():
    return live.strata_and_shares()


def test_strata_show_the_accuracies_and_the_three_standard_errors(shares):
    said = shares.view.alternative
    assert "0.581 0.855 0.961 0.989 1.000" in said
    assert said.startswith("Standard error 0.0281 for this design, 0.0319 at random, 0.0221 with the best shares.")


def test_neyman_shows_its_labels(shares):
    said = settle(shares, Shares="neyman")
    assert "Standard error 0.0221" in said and "42/30/17/9/2" in said


@pytest.mark.parametrize(("strata", "score", "ratio"), [(5, "confidence", "3.04"), (10, "confidence", "5.24"),
                                                        (5, "margin", "1.04")])
def test_equal_width_with_equal_shares_breaks_it(shares, strata, score, ratio):
    settle(shares, Stratifier="equal_width", Shares="equal", Strata=strata, Score=score)
    heading = " ".join(shares.view.picture["params"]["heading"])
    assert heading == f"100 labels, {strata} strata: variance {ratio} times that of random sampling"


@pytest.mark.parametrize("stratifier", [value for _, value in live.STRATIFIERS])
@pytest.mark.parametrize("score", ["confidence", "margin"])
def test_every_setting_answers(shares, stratifier, score):
    settle(shares, Score=score, Stratifier=stratifier, Strata=12, Labels=24)
    for method in ("proportional", "equal", "neyman"):
        assert settle(shares, Shares=method, Labels=600).startswith("Standard error 0.0")


def test_proportional_shares_pass_the_exercise_for_six_of_seven_stratifiers():
    items = wb.digit_forms().items()
    errors = [wb.study_design(items.score, items.correct, 100, stratifier=rule).standard_error
              for _, rule in live.STRATIFIERS]
    assert sum(error <= 0.0295 for error in errors) == 6


def test_the_ten_forms_expect_four_errors_then_none():
    rates = 10 * (1 - wb.study_design(*digits(), 100).accuracy)
    assert rates[0] == pytest.approx(4.2, abs=0.05) and rates[4] == 0
    told = live.label_ten()
    answer(told, lambda k: str(wb.digit_forms().digit[k]))
    assert "so expect 4.2 of ten" in told.told.value and "so expect 0.0 of ten" in told.told.value


def answer(ten, reading):
    """Label the twenty forms at the desk; `reading` takes a form, counted from 0. Return the forms as they came."""
    came = []
    while not ten.desk.done:
        came.append(int(ten.desk.page["item"]["id"]) - 1)
        said = reading(came[-1])
        kind = {"kind": "label", "label": [each["text"] for each in ten.desk.labels].index(said)} if said else \
            {"kind": "skip"}
        ten.desk._answer(None, kind | {"turn": ten.desk.page["turn"]}, [])
    return came


def test_ten_forms_of_each_end_come_mixed_and_blind():
    forms, ten = wb.digit_forms(), live.label_ten()
    assert ten.desk.words["look"] == "" and ten.desk.words["mode"].startswith("Blind")
    assert ten.desk.picture.startswith(b"\x89PNG") and ten.told.value == ""
    came = answer(ten, lambda k: "7")
    fifth = wb.stratify(forms.confidence, 5, "equal_size").labels[came]
    assert sorted(fifth) == [0] * 10 + [4] * 10 and len(set(came)) == 20
    assert list(fifth) != sorted(fifth) and (np.diff(fifth) == 0).any()


def test_the_table_marks_errors_of_both_without_color():
    forms, ten = wb.digit_forms(), live.label_ten()
    wrong = {}

    def reading(k):
        wrong[k] = len(wrong) < 3
        return "" if len(wrong) == 20 else "other" if wrong[k] else str(forms.digit[k])

    came = answer(ten, reading)
    table = re.findall(r"<tr><td><img alt='form (\d+)'[^>]*></td><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>",
                       ten.told.value)
    assert sorted(int(form) - 1 for form, *_ in table) == sorted(came)
    for form, mine, program, truth in table:
        k = int(form) - 1
        assert truth == str(forms.digit[k])
        read = forms.read_a[k]
        assert program == (truth if read == forms.digit[k] else f"<strong>{read} \u2717</strong>")
        mistake = "skipped" if k == came[-1] else "other" if wrong[k] else ""
        assert mine == (f"<strong>{mistake} \u2717</strong>" if mistake else truth)
    low = [k for k in came if wb.stratify(forms.confidence, 5, "equal_size").labels[k] == 0]
    program = sum(forms.read_a[k] != forms.digit[k] for k in low)
    assert f"The least sure fifth: the program misread {program} of these ten, you {sum(wrong[k] for k in low)}." in \
        ten.told.value
    ten.desk._answer(None, {"kind": "undo", "turn": ten.desk.page["turn"]}, [])
    assert ten.told.value == ""


@pytest.mark.parametrize(("labels", "coverage"), [(40, 0.80), (60, 0.66), (100, 0.53), (200, 0.45), (300, 0.41)])
def test_more_labels_make_the_robot_cover_less(labels, coverage):
    sizes, right = fifths()
    study = wb.simulate_labeling(sizes, right, labels, "opt_a2", runs=20_000)
    assert study.coverage("wald") == pytest.approx(coverage, abs=0.015)


def test_robot_claims_less_than_the_optimum_and_does_far_worse():
    sizes, right = fifths()
    study = wb.simulate_labeling(sizes, right, 200, "opt_a2", runs=20_000)
    best = wb.simulate_labeling(sizes, right, 200, "neyman", runs=10)
    assert study.estimated_variance_ratio == pytest.approx(0.18, abs=0.01)
    assert study.estimated_variance_ratio < best.variance_ratio
    assert best.variance_ratio == pytest.approx(0.46, abs=0.005)
    assert study.variance_ratio == pytest.approx(2.57, abs=4 * study.variance_ratio_error)


def test_one_smoothed_label_per_side_repairs_the_first_algorithm():
    study = wb.simulate_labeling(*fifths(), 200, "opt_a1", runs=20_000, laplace=1)
    assert study.coverage("wald") == pytest.approx(0.94, abs=0.01)
    assert study.variance_ratio == pytest.approx(0.70, abs=0.03)


def test_robot_view_follows_its_controls():
    robot = live.papers_robot()
    assert "with 100 labels" in robot.view.alternative and len(robot.view.picture["data"]["runs"]) == 50
    truth, = (row["truth"] for row in robot.view.picture["data"]["truth"])
    runs = robot.view.picture["data"]["runs"]
    assert [row["verdict"] == "contains the truth" for row in runs] == [r["low"] <= truth <= r["high"] for r in runs]
    assert min(row["high"] for row in runs) < truth
    frozen = settle(robot, Labels=200)
    mended = settle(robot, Smoothing_c=1.0)
    assert "in 45" in frozen and "in 93" in mended


def test_impatient_analysts_lose_the_truth_and_two_intervals_keep_it():
    panel = live.stop_when_it_looks_good()
    many = lost(panel.view.alternative)
    assert .12 < many < .3 and len(panel.view.picture["data"]["missed"]) == 58
    assert lost(settle(panel, Look_every=570)) < .12
    assert lost(settle(panel, Look_every=10, Interval="looks")) <= .05
    assert "Interval that may be looked at, 58 looks" in settle(panel, Interval="anytime")
    assert lost(panel.view.alternative) <= .05


def lost(said):
    return float(re.search(r"([\d.]+)% to 600 labels", said)[1]) / 100


def test_the_prediction_about_looking_is_what_many_analysts_find():
    study = wb.simulate_looking(*fifths_of_digits(), runs=2000)
    assert study.missed[-1] == pytest.approx(.21, abs=.015)
    assert "About 42 on average, 21%" in live.predict_looking()._answer


def fifths_of_digits():
    study = wb.study_design(*digits(), 100)
    return study.stratum_size, study.correct


def test_robot_says_when_the_pilot_does_not_fit():
    robot = live.papers_robot()
    settle(robot, Labels=40, Pilot_per_stratum=20)
    status = robot.children[1].value
    assert "Labels must be at least 100, a pilot of 20 in each of 5 strata; got 40" in status


@pytest.mark.parametrize(("settings", "said"), [
    ({}, "367 random, 298 proportional, 188 Neyman, of 1,797 items."),
    ({"Half-width_e": 0.01}, "1,254 random"),
    ({"Half-width_e": 0.01, "Finite-population_factor": False}, "4,146 random"),
    ({"Population": "twin"}, "462 random"),
])
def test_labels_needed(settings, said):
    assert said in settle(live.labels_needed(), **settings)


def test_more_labels_than_exist_is_said():
    said = settle(live.labels_needed(), **{"Half-width_e": 0.01, "Finite-population_factor": False})
    assert said.endswith("More than the 1,797 items that exist.")


def test_twin_is_as_accurate_as_the_forms():
    assert wb.digit_twin().correct.mean() == pytest.approx(0.8765, abs=5e-5)


def test_confidence_taken_for_accuracy_is_worse_than_no_strata():
    sizes, right = fifths()
    sure = wb.accuracy_audit(wb.digit_forms().items(), 100, method="neyman")
    ratio = wb.accuracy_variance(sizes, right, sure.labeled) / wb.accuracy_variance([1797], [1576], [100])
    assert sure.labeled.tolist() == [85, 9, 2, 2, 2] and ratio == pytest.approx(1.56, abs=0.005)
    assert any("overconfident" in warning for warning in sure.warnings)


def test_rounded_confidences_lose_a_stratum():
    rounded = wb.digit_forms().confidence.round(6)
    assert (rounded == 1).sum() == 655
    assert wb.stratify(rounded, 5, "weighted_mean").n_strata == 4


def test_prediction_locks_before_it_tells():
    asked = questions.predict("How much?", ["0%", "10%"], "By 12%.")
    assert repr(live.predict_gain()).startswith("Prediction: Five strata")
    choice, lock, told = asked.children[1:]
    assert lock.disabled and told.value == ""
    choice.value = "10%"
    assert not lock.disabled
    lock.click()
    assert choice.disabled and "You predicted <strong>10%</strong>. By 12%." in told.value


def digits():
    items = wb.digit_forms().items()
    return items.score, items.correct


def fifths():
    study = wb.study_design(*digits(), 100)
    return study.stratum_size, study.correct
