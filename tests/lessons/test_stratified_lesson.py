"""Lesson 1 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""

import csv
import doctest
import math
import re
from pathlib import Path
from statistics import NormalDist

import code_cells
import example_files
import nbformat
import numpy as np
import pytest
from once import once
from panels import controls, heading, rows, settle, status
from scipy import stats

import workbench as wb
from workbench.lessons.stratified import scenes
from workbench.lessons.stratified import views as live
from workbench.simulations import stratified as simulations
from workbench.widgets import questions
from workbench.widgets import saved_answers as keeping

LESSON = Path(__file__).parents[2] / "notebooks" / "01-stratified-accuracy.ipynb"
simulate_labeling, simulate_looking = (
    once(simulations.simulate_labeling),
    once(simulations.simulate_looking),
)
NUMBER = r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+"


@pytest.fixture(autouse=True)
def _simulations_once(monkeypatch):
    monkeypatch.setattr(simulations, "simulate_labeling", simulate_labeling)
    monkeypatch.setattr(simulations, "simulate_looking", simulate_looking)


@pytest.fixture
def shares():
    return scenes.strata_and_shares(predicted=0.3)


def test_strata_show_the_accuracies_and_the_three_standard_errors(shares):
    said = shares.view.alternative
    assert "0.581 0.855 0.961 0.989 1.000" in said
    assert said.startswith(
        "Standard error 0.0281 for this design, 0.0319 for random sampling, 0.0221 for the best "
        "allocation. You predicted that it falls by 30%; it falls by 12%."
    )
    assert rows(shares, "predicted") == [
        {"design": "you predicted", "ratio": 0.7, "text": "30% less"}
    ]


@pytest.mark.parametrize(
    ("strata", "score", "title"),
    [
        (5, "confidence", "variance 3.04 times that of random sampling"),
        (10, "confidence", "variance 5.24 times that of random sampling"),
        (5, "margin", "variance 1.04 times that of random sampling"),
    ],
)
def test_equal_width_with_equal_shares_breaks_it(shares, strata, score, title):
    settle(shares, Cut="equal_width", Allocate="equal", Strata=strata, Sorted=score)
    assert heading(shares) == f"100 labels, {strata} strata: {title}"


def test_every_stratum_shows_its_items_and_its_labels(shares):
    """Most labels of equal width lie in the first 7% of the forms: they have their numbers too."""
    settle(shares, Cut="equal_width", Allocate="equal")
    table = {
        what: [row["text"] for row in rows(shares, "strata") if row["what"] == what]
        for what in ("items", "labels")
    }
    assert table == {
        "items": ["6", "41", "39", "47", "1,664"],
        "labels": ["6", "24", "24", "23", "23"],
    }
    assert [row["stratum"] for row in rows(shares, "strata")[::3]] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("stratifier", [value for _, value in scenes.STRATIFIERS])
@pytest.mark.parametrize("score", ["confidence", "margin"])
def test_every_setting_answers(shares, stratifier, score):
    settle(shares, Sorted=score, Cut=stratifier, Strata=12, Labels=30)
    for method in ("proportional", "equal"):
        assert settle(shares, Allocate=method, Labels=600).startswith("Standard error 0.0")
        assert status(shares) == ""


def test_no_setting_shows_where_one_who_knows_the_truth_would_look(shares):
    """The labels of Neyman's rule are the answer of exercise 1.2, and gold in 1.4."""
    assert {value for _, value in controls(shares)["Allocate the labels"].options} == {
        "proportional",
        "equal",
        "by_hand",
    }


def test_a_dragged_cut_is_one_by_hand_and_is_weighed_as_such(shares):
    drag(shares, "cut 1", 0.1)
    assert controls(shares)["Cut the forms by"].value == "by_hand"
    score, right = digits()
    lowest = np.argsort(score, kind="stable")[:180]
    assert [row["text"] for row in rows(shares, "strata")[:3]] == [
        "180",
        "10",
        f"{right[lowest].mean():.0%}",
    ]
    strata = np.full(1797, 1)
    strata[lowest] = 0
    strata[np.argsort(score, kind="stable")[719:]] = 2
    drag(shares, "cut 2", 0.4)
    settle(shares, Sorted="confidence")
    assert rows(shares, "cuts")[1]["at"] == pytest.approx(719 / 1797, abs=1e-9)
    drag(shares, "cut 2", -3)
    assert rows(shares, "cuts")[1]["at"] == pytest.approx(182 / 1797), (
        "two forms stay in every stratum"
    )
    settle(shares, Strata=6)
    assert (
        controls(shares)["Cut the forms by"].value == "equal_size"
        and len(rows(shares, "cuts")) == 5
    )


def test_labels_are_moved_between_neighbors_and_weighed_by_hand(shares):
    for number, share in ((4, 0.93), (3, 0.84), (2, 0.68), (1, 0.40)):
        drag(shares, f"labels {number}", share)
    assert controls(shares)["Allocate the labels"].value == "by_hand"
    labels = [40, 28, 16, 9, 7]
    assert [int(row["text"]) for row in rows(shares, "strata")[1::3]] == labels
    error = wb.accuracy_variance(*fifths(), labels) ** 0.5
    assert f"{error:.4f}" == "0.0228"
    assert shares.view.alternative.startswith(f"Standard error {error:.4f} for this design")
    drag(shares, "labels 4", 1)
    assert [int(row["text"]) for row in rows(shares, "strata")[10::3]] == [14, 2]
    drag(shares, "cut 1", 0)
    assert rows(shares, "cuts")[0]["at"] == pytest.approx(40 / 1797), (
        "a stratum keeps as many forms as labels"
    )
    settle(shares, Labels=200)
    assert controls(shares)["Allocate the labels"].value == "proportional" and status(shares) == ""


def test_axes_stay_and_longer_bars_end_at_the_edge(shares):
    assert settle(shares, Cut="equal_width", Allocate="equal", Strata=12, Labels=30)
    drag(shares, "cut 1", 0.5)
    drag(shares, "labels 1", 0)
    assert max(row["ratio"] for row in rows(shares, "errors")) <= 3


def drag(panel, what, place):
    panel.view._dragged({"drag": what, "x": place, "y": None})


def test_proportional_shares_pass_the_exercise_for_six_of_seven_stratifiers():
    items = wb.digit_forms().items()
    errors = [
        wb.study_design(items.score, items.correct, 100, stratifier=rule).standard_error
        for _, rule in scenes.STRATIFIERS
    ]
    assert sum(error <= 0.0295 for error in errors) == 6


def test_the_ten_forms_expect_four_errors_then_none():
    rates = 10 * (1 - wb.study_design(*digits(), 100).accuracy)
    assert rates[0] == pytest.approx(4.2, abs=0.05) and rates[4] == 0
    told = live.label_ten()
    answer(told, lambda k: str(wb.digit_forms().digit[k]))
    assert all(f"{rate} of ten on average" in told.told.value for rate in ("4.2", "0.0"))


def answer(ten, reading):
    """Label the twenty forms at the desk; `reading` takes a form, counted from 0. Return the forms as they came."""
    came = []
    while not ten.desk.done:
        came.append(int(ten.desk.page["item"]["id"]) - 1)
        said = reading(came[-1])
        kind = (
            {"kind": "label", "label": [each["text"] for each in ten.desk.labels].index(said)}
            if said
            else {"kind": "skip"}
        )
        ten.desk._answer(None, kind | {"turn": ten.desk.page["turn"]}, [])
    return came


def test_ten_forms_of_each_end_come_mixed_and_blind():
    forms, ten = wb.digit_forms(), live.label_ten()
    assert ten.desk.words["look"] == "" and "blind" in ten.desk.words["mode"]
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
    table = re.findall(
        r"<tr><td><img alt='form (\d+)'[^>]*></td><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>",
        ten.told.value,
    )
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
    assert (
        f"The least sure fifth: the program misread {program} of these ten forms, you misread {sum(wrong[k] for k in low)}."
        in ten.told.value
    )
    ten.desk._answer(None, {"kind": "undo", "turn": ten.desk.page["turn"]}, [])
    assert ten.told.value == ""


@pytest.mark.parametrize(
    ("labels", "coverage"), [(40, 0.80), (60, 0.66), (100, 0.53), (200, 0.45), (300, 0.41)]
)
def test_more_labels_make_the_robot_cover_less(labels, coverage):
    sizes, right = fifths()
    study = simulate_labeling(sizes, right, labels, "opt_a2", runs=20_000)
    assert study.coverage("wald") == pytest.approx(coverage, abs=0.015)


def test_robot_claims_less_than_the_optimum_and_does_far_worse():
    sizes, right = fifths()
    study = simulate_labeling(sizes, right, 200, "opt_a2", runs=20_000)
    best = simulate_labeling(sizes, right, 200, "neyman", runs=10)
    assert study.estimated_variance_ratio == pytest.approx(0.18, abs=0.01)
    assert study.estimated_variance_ratio < best.variance_ratio
    assert best.variance_ratio == pytest.approx(0.46, abs=0.005)
    assert study.variance_ratio == pytest.approx(2.57, abs=4 * study.variance_ratio_error)


def test_one_smoothed_label_per_side_repairs_the_first_algorithm():
    study = simulate_labeling(*fifths(), 200, "opt_a1", runs=20_000, laplace=1)
    assert study.coverage("wald") == pytest.approx(0.94, abs=0.01)
    assert study.variance_ratio == pytest.approx(0.70, abs=0.03)


def test_robot_view_follows_its_controls():
    robot = scenes.papers_robot()
    assert (
        "with 100 labels" in robot.view.alternative
        and len(robot.view.picture["data"]["runs"]) == 50
    )
    (truth,) = (row["truth"] for row in robot.view.picture["data"]["truth"])
    runs = robot.view.picture["data"]["runs"]
    assert [row["verdict"] == "contains the truth" for row in runs] == [
        r["low"] <= truth <= r["high"] for r in runs
    ]
    assert min(row["high"] for row in runs) < truth
    frozen = settle(robot, Labels_in=200)
    mended = settle(robot, Smoothing=1.0)
    assert "in 45" in frozen and "in 93" in mended


def test_impatient_analysts_lose_the_truth_and_two_intervals_keep_it():
    panel = scenes.stop_when_it_looks_good()
    many = lost(panel.view.alternative)
    assert 0.12 < many < 0.3 and len(panel.view.picture["data"]["missed"]) == 58
    assert lost(settle(panel, Labels_between=570)) < 0.12
    assert lost(settle(panel, Labels_between=10, Interval="looks")) <= 0.05
    assert "Anytime interval, 58 checks" in settle(panel, Interval="anytime")
    assert lost(panel.view.alternative) <= 0.05


def lost(said):
    return float(re.search(r"([\d.]+)% up to 600 labels", said)[1]) / 100


def test_the_prediction_about_looking_is_what_many_analysts_find():
    study = simulate_looking(*fifths_of_digits(), runs=2000)
    assert study.missed[-1] == pytest.approx(0.21, abs=0.015)
    assert "about 40" in live.predict_looking().control.options


def fifths_of_digits():
    study = wb.study_design(*digits(), 100)
    return study.stratum_size, study.correct


def test_the_robot_has_labels_for_its_pilot():
    robot = scenes.papers_robot()
    settle(robot, Labels_in=40, Pilot=20)
    assert controls(robot)["Labels in total"].min == controls(robot)["Labels in total"].value == 100
    assert status(robot) == "" and "with 100 labels" in robot.view.alternative
    settle(robot, Pilot=2)
    assert controls(robot)["Labels in total"].min == 40


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "152 random, 120 proportional, 76 Neyman, of 1,797 items."),
        ({"Half-width": 0.03}, "367 random, 298 proportional, 188 Neyman, of 1,797 items."),
        ({"Half-width": 0.01}, "1,254 random"),
        ({"Half-width": 0.01, "Finite-population_correction": False}, "4,146 random"),
        ({"Population": "twin", "Half-width": 0.03}, "462 random"),
    ],
)
def test_labels_needed(settings, said):
    assert said in settle(scenes.labels_needed(), **settings)


def test_more_labels_than_exist_is_said():
    said = settle(
        scenes.labels_needed(), **{"Half-width": 0.01, "Finite-population_correction": False}
    )
    assert said.endswith("more than the 1,797 items that exist.")


def test_twin_is_as_accurate_as_the_forms():
    assert wb.digit_twin().correct.mean() == pytest.approx(0.8765, abs=5e-5)


def test_confidence_taken_for_accuracy_is_worse_than_no_strata():
    sizes, right = fifths()
    sure = wb.accuracy_audit(wb.digit_forms().items(), 100, n_strata=5, allocation="neyman")
    ratio = wb.accuracy_variance(sizes, right, sure.labeled) / wb.accuracy_variance(
        [1797], [1576], [100]
    )
    assert sure.labeled.tolist() == [85, 9, 2, 2, 2] and ratio == pytest.approx(1.56, abs=0.005)
    assert any("overconfident" in warning for warning in wb.sentences(sure.notes))


def test_rounded_confidences_lose_a_stratum():
    rounded = wb.digit_forms().confidence.round(6)
    assert (rounded == 1).sum() == 655
    assert wb.stratify(rounded, 5, "weighted_mean").n_strata == 4


@pytest.fixture
def kept(monkeypatch):
    """What this learner wrote: nothing so far."""
    monkeypatch.delenv(questions.REVEAL, raising=False)
    keeping.saved_answers.cache_clear()
    yield keeping.saved_answers()
    keeping.saved_answers.cache_clear()


REVEALS = {
    "1-gain": (live.predict_gain, live.reveal_shares),
    "1-robot": (live.predict_robot, live.reveal_robot),
    "1-looking": (live.predict_looking, live.reveal_looking),
    "1-twin": (live.predict_twin, live.reveal_needed),
}


@pytest.mark.parametrize("name", REVEALS)
def test_nothing_is_shown_before_the_prediction(name, kept):
    predict, reveal = REVEALS[name]
    place = reveal()
    assert repr(place) == "Make your prediction first." and not place.parts
    assert predict().name == name and all(
        float(re.sub(r"\D", "", choice)) >= 0 for choice in predict().control.options
    )


def test_the_strata_compare_with_the_prediction(kept):
    kept.save("1-gain", "50%")
    shown, look, why = live.reveal_shares().parts
    assert "You predicted that it falls by 50%; it falls by 12%." in shown.view.alternative
    assert repr(look) == "Button: Compare with the result" and "equal width" in why.question


def test_the_robots_line_shows_the_prediction_at_300_labels(kept):
    kept.save("1-robot", "95")
    line, robot, _, _ = live.reveal_robot().parts
    assert "41% with 300 labels. You predicted 95% with 300." in line.alternative
    assert line.picture["data"]["predicted"] == [
        {"labels": 300, "covers": 0.95, "text": "you predicted"}
    ]
    assert heading(robot) == "100 labels: 53% of 2,000 intervals contain the truth"


def test_the_analysts_are_compared_with_the_prediction(kept):
    kept.save("1-looking", "about 10")
    analysts = live.reveal_looking().parts[0]
    assert "You predicted 10 of 200." in analysts.view.alternative
    assert rows(analysts, "lines")[0] == {"share": 0.05, "line": "you predicted"}


def test_the_twin_is_compared_with_the_prediction(kept):
    kept.save("1-twin", "about 7,000")
    needed = live.reveal_needed().parts[0]
    assert rows(needed, "predicted") == [
        {"half_width": 0.03, "labels": 7000, "text": "you predicted"}
    ]


def test_all_is_revealed_and_agrees_with_the_library(monkeypatch):
    monkeypatch.setenv(questions.REVEAL, "all")
    said = repr(live.reveal_shares())
    assert "Standard error 0.0281" in said and "You predicted" not in said
    table = live.seen_shares().entries
    forms = wb.digit_forms()
    right = forms.read_a == forms.digit
    five, ten = (
        wb.study_design(
            forms.confidence, right, 100, n_strata=k, stratifier="equal_width", method="equal"
        )
        for k in (5, 10)
    )
    assert [row["standard error"] for row in table] == [
        "0.0319",
        "0.0281",
        f"{five.standard_error:.4f}",
        f"{ten.standard_error:.4f}",
        "0.0326",
        "0.0221",
    ]
    assert [row["variance relative to random sampling"] for row in table][1:5] == [
        "0.77 times",
        "3.04 times",
        "5.24 times",
        "1.04 times",
    ]
    robots = [row["contain the truth"] for row in live.seen_robots().entries]
    assert robots[:5] == [
        f"{simulate_labeling(*fifths(), n, 'opt_a2', runs=20_000).coverage('wald'):.0%}"
        for n in (40, 60, 100, 200, 300)
    ]
    lost = [row["missed the truth"] for row in live.seen_looking().entries]
    assert lost[0] == "20.9%" and all(float(share.rstrip("%")) <= 5 for share in lost[1:])
    needed, reported = live.seen_needed()
    assert [row["random labels"] for row in needed.entries] == ["367", "462", "4,146", "1,254"]
    size, rate = fifths()[0], fifths()[1] / fifths()[0]
    assert [row["labels"] for row in reported.entries[2:]] == [
        wb.plan_budget(size, rate, 0.05, method=method).budget
        for method in ("simple_random", "proportional")
    ]


def test_beliefs_are_what_the_library_computes():
    sizes, right = fifths()
    assert [row["five correct in a row"] for row in live.belief_of_five().entries] == [
        f"{rate**5:.2f}" for rate in right / sizes
    ]
    (sure,) = live.belief_of_sureness().entries
    assert (sure["labels per fifth"], sure["variance relative to random sampling"]) == (
        "85, 9, 2, 2, 2",
        "1.56 times",
    )


def above_the_exercises():
    """Sources and outputs of the lesson before its exercises; that the outputs are current is tested by nbval."""
    cells = nbformat.read(LESSON, as_version=4).cells
    first = next(k for k, cell in enumerate(cells) if "exercise" in cell.metadata.get("tags", []))
    outputs = [output for cell in cells[:first] for output in cell.get("outputs", ())]
    return "\n".join(
        [
            *(cell.source for cell in cells[:first]),
            *(output.get("text", "") for output in outputs),
            *(
                text
                for output in outputs
                for kind, text in output.get("data", {}).items()
                if kind.startswith("text/")
            ),
        ]
    )


def given_away(text):
    """Return numbers, and rows of five, that an exercise would accept."""
    tokens = [token.replace(",", "") for token in re.findall(NUMBER, text)]
    long = {token for token in tokens if len(re.sub(r"^0+|\.", "", token)) >= 3}
    values = {float(token) / unit for token in long for unit in (1, 100)}
    whole = [int(token) if token.isdigit() else -1 for token in tokens]
    fives = {tuple(whole[k : k + 5]) for k in range(len(whole) - 4) if sum(whole[k : k + 5]) == 100}
    tried = [(("1.1", (v, 0.02875)), v) for v in values] + [(("1.1", (0.88, v)), v) for v in values]
    tried += [
        (("1.3", (v, design)), v)
        for v in values
        if 150 < v < 400
        for design in ("proportional", "neyman with floor")
    ]
    tried += [(("1.2", five), five) for five in fives]
    found = [value for question, value in tried if wb.check(*question).verdict == "correct"]
    return found + [
        five
        for five in fives
        if min(five) > 1 and "gold, standard" in wb.check("1.4", ("equal_size", five)).message
    ]


def test_no_exercise_is_answered_above_it():
    found = given_away(above_the_exercises())
    assert set(found) <= {300}, (
        "the robot has 300 labels, which happens to be near the answer of 1.3"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SE 0.0287", [0.0287]),
        ("off by 2.875% only", [0.02875]),
        ("right in 88.0%", [0.88]),
        ("needs 298 labels", [298]),
        ("1,298 labels and .88", []),
        ("42/30/17/9/2", [(42, 30, 17, 9, 2)] * 2),
        ("20, 20, 20, 20, 20", []),
    ],
)
def test_an_answer_would_be_found(text, found):
    assert given_away(text) == found


@pytest.mark.parametrize(
    "scene",
    [
        live.how_sure,
        scenes.strata_and_shares,
        scenes.papers_robot,
        scenes.robots,
        scenes.stop_when_it_looks_good,
        scenes.labels_needed,
    ],
)
def test_a_similar_scene_in_ten_lines_runs_with_interact(scene, capsys):
    examples = doctest.DocTestParser().get_examples(scene.__doc__)
    source = "".join(example.source for example in examples)
    exec(source, {})
    printed = capsys.readouterr().out
    assert len(source.splitlines()) <= 10
    assert "Chart: " in printed and "interactive(children=" in printed


def digits():
    items = wb.digit_forms().items()
    return items.score, items.correct


def fifths():
    study = wb.study_design(*digits(), 100)
    return study.stratum_size, study.correct


@pytest.fixture(scope="module")
def in_code():
    """What each code cell of the lesson shows, by its id."""
    return code_cells.outputs(LESSON)


@pytest.fixture(scope="module")
def by_hand():
    """Sizes and accuracies of the fifths, from the sorted confidences."""
    forms = wb.digit_forms()
    correct = (forms.read_a == forms.digit)[np.argsort(forms.confidence, kind="stable")]
    fifths = np.split(correct, np.cumsum([360, 359, 360, 359]))
    return np.array([len(part) for part in fifths]), np.array([part.mean() for part in fifths])


def stratified_error(size, rate, labels):
    """Return the standard error of the stratified estimate, by the textbook formula."""
    variance = size * rate * (1 - rate) / (size - 1) * (1 - labels / size) / labels
    return math.sqrt(((size / size.sum()) ** 2 * variance).sum())


def numbers_in(text):
    return [float(number) for number in re.findall(r"\d*\.?\d+", text)]


def test_code_cells_show_accuracies_and_standard_errors(in_code, by_hand):
    size, rate = by_hand
    confidence = np.sort(wb.digit_forms().confidence)
    sure = [confidence.sum() / 1797, confidence[:30].sum() / 30]
    assert numbers_in(in_code["code-sure"]) == pytest.approx(
        [100 * mean for mean in sure], abs=0.06
    )
    assert numbers_in(in_code["code-strata"]) == pytest.approx([*size, *rate], abs=6e-4)
    error = stratified_error(size, rate, np.full(5, 20))
    assert numbers_in(in_code["code-error"]) == pytest.approx([20] * 5 + [error], abs=6e-5)
    random = stratified_error(np.array([1797]), np.array([1576 / 1797]), np.array([100]))
    assert numbers_in(in_code["code-design"]) == pytest.approx([error, random, 0.0221], abs=6e-5)
    assert "accuracy 0.86 (SE 0.09088)" in in_code["code-formula"]
    assert "17 + 3 of 1,000" in in_code["code-neyman"]


def test_code_cells_show_the_beliefs(in_code, by_hand):
    size, rate = by_hand
    labels = np.array([85, 9, 2, 2, 2])
    assert numbers_in(in_code["code-sureness"]) == pytest.approx(
        [*labels, stratified_error(size, rate, labels)], abs=6e-5
    )
    assert numbers_in(in_code["code-five"]) == pytest.approx(rate**5, abs=6e-3)
    errors = stats.hypergeom.pmf(0, 1797, np.arange(1797), 25)  # of no incorrect form among 25
    least = 1 - np.flatnonzero(errors > 0.025)[-1] / 1797
    assert numbers_in(in_code["code-interval"])[3] == pytest.approx(least, abs=6e-4)
    assert in_code["code-decimals"].startswith("655 confidences of 1; Strata(4 strata")


def test_code_cells_show_the_robot_and_the_analysts(in_code, by_hand):
    size, _ = by_hand
    assert numbers_in(in_code["code-robot"])[0] == pytest.approx(53, abs=3)
    assert in_code["code-robot"].split("%")[0] in scenes.papers_robot().view.alternative
    robot, waves = np.array(numbers_in(in_code["code-waves"])).reshape(2, 5)
    accuracy = np.array([0.6, 0.9, 1, 1, 1])
    product = size * np.sqrt(accuracy * (1 - accuracy))
    assert robot == pytest.approx(50 * product / product.sum(), abs=0.5)
    smoothed = (10 * accuracy + 4 * 0.9) / 14
    product = size * np.sqrt(smoothed * (1 - smoothed))
    assert waves == pytest.approx(15 * size / 1797 + 35 * product / product.sum(), abs=1)
    analysts = scenes.stop_when_it_looks_good()
    assert heading(analysts).startswith(in_code["code-looking"])
    low, high, _ = numbers_in(in_code["code-anytime"])
    assert low < 1576 / 1797 < high and (high - low) / 2 == pytest.approx(0.035, abs=2e-3)


def test_code_cells_show_the_labels_needed(in_code, by_hand):
    size, rate = by_hand
    needed = numbers_in(in_code["code-needed"])
    deviation = np.sqrt(size * rate * (1 - rate) / (size - 1))
    within, overall = (size * deviation**2).sum() / 1797, 1576 / 1797 * 221 / 1796
    assert needed[:2] == [labels_for(0.05, variance, 1797) for variance in (overall, within)]
    assert needed[2] == 76
    twin = wb.digit_twin().correct.mean()
    assert (
        in_code["code-twin"] == f"{labels_for(0.03, twin * (1 - twin), 700_000)} of 700,000 forms"
    )


def labels_for(half_width, variance, population):
    """Return the labels for a Wald half-width, by the textbook formula."""
    endless = variance * (NormalDist().inv_cdf(0.975) / half_width) ** 2
    return math.ceil(endless / (1 + endless / population))


def test_the_own_file_is_a_filled_sheet_and_its_result_is_the_mean_of_its_strata(in_code):
    with (LESSON.parent / "data" / "my-labels.csv").open(encoding="utf-8") as file:
        sheet = list(csv.DictReader(file))
    assert all(int(row["correct"]) == example_files.right(row["id"]) for row in sheet)
    strata = np.array(
        re.findall(r"stratum \d+ (\d+) of (\d+) correct", in_code["code-own-file"]), int
    )
    correct, labels = strata.T
    assert (labels.sum(), correct.sum()) == (100, sum(int(row["correct"]) for row in sheet))
    assert f"accuracy {(correct / labels).mean():.1%}" in in_code["code-own-file"]
