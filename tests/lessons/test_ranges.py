"""A lecturer's values for the controls of a scene."""

import pytest

from workbench.lessons.allocation import views as allocation
from workbench.lessons.cross_validation import views as cross_validation
from workbench.lessons.misclassification import views as misclassification
from workbench.lessons.replication import views as replication
from workbench.lessons.stratified import scenes as stratified
from workbench.lessons.stratified import views as stratified_views
from workbench.widgets import questions
from workbench.widgets.ranges import RangeError


def stops(control):
    return [option[1] if isinstance(option, tuple) else option for option in control.options]


def axes(part):
    """Every pair of fixed ends in a chart's specification."""
    if isinstance(part, list):
        return [ends for entry in part for ends in axes(entry)]
    if not isinstance(part, dict):
        return []
    ends = part.get("scale", {}).get("domain") if isinstance(part.get("scale"), dict) else None
    return [ends] * bool(ends) + [pair for entry in part.values() for pair in axes(entry)]


def test_a_range_sets_the_stops_and_the_present_value_stays():
    budget = allocation.place_value(budget=(20, 400, 20)).controls["budget"]
    assert stops(budget) == list(range(20, 401, 20)) and budget.value == 100


@pytest.mark.parametrize(("values", "value"), [((200, 300, 50), 200), ([30, 60], 60)])
def test_the_nearest_value_takes_the_place_of_one_outside(values, value):
    budget = allocation.place_value(budget=values).controls["budget"]
    assert budget.value == value
    sliders = allocation.one_label_at_a_time(budget=values)
    assert sliders.controls["budget"].value == value


def test_the_prediction_is_handed_on_with_the_range():
    panel = allocation.place_value("equal shares", budget=(20, 140, 20))
    assert panel.controls["budget"].value == 140


def test_sliders_of_whole_numbers_and_of_shares():
    strata = stratified.strata_and_shares(n_strata=(2, 30, 2), budget=(50, 1000, 50))
    assert (strata.controls["n_strata"].max, strata.controls["n_strata"].step) == (30, 2)
    assert (strata.controls["budget"].min, strata.controls["budget"].value) == (50, 100)
    share = misclassification.mosaic(p00=(0.6, 0.9, 0.1)).controls["p00"]
    assert [option[0] for option in share.options][:2] == ["60.00%", "70.00%"]
    assert 0.88 < share.value <= 0.9


def test_a_stop_that_is_a_word_remains():
    control = replication.fourteen_boxes(per_box=(20, 60, 20)).controls["per_box"]
    assert stops(control) == [20, 40, 60, "all"] and control.value == "all"


def test_options_can_be_left_out():
    methods = allocation.place_value(method=["voila", "equal shares"]).controls["method"]
    assert [value for _, value in methods.options] == ["equal", "voila"]
    several = allocation.papers_stream(methods=["S-VOILA", "uniform"]).controls["methods"]
    assert several.value == ("s_voila", "uniform")


def test_the_axes_hold_what_the_new_range_shows():
    panel = allocation.place_value(budget=(20, 1600, 20))
    panel.controls["budget"].value = 1600
    errors = [row["error"] for row in panel.view.picture["data"]["errors"] if row["error"] > 0]
    (ends,) = {tuple(ends) for ends in axes(panel.view.spec) if 150_000 in ends}
    assert ends[0] <= min(errors) < 1800
    needed = stratified.labels_needed(half_width=(0.002, 0.2, 0.001))
    needed.controls["half_width"].value = 0.2
    rows = needed.view.picture["data"]
    assert max(row["half_width"] for row in rows["lines"]) == 0.2
    assert {row["half_width"] for row in rows["points"]} == {0.2}
    assert max(ends[1] for ends in axes(needed.view.spec) if ends[0] == 0) >= 0.2


def test_labels_needed_are_computed_at_every_half_width_of_a_range():
    from workbench.stratified import accuracy

    panel = stratified.labels_needed(half_width=(0.0125, 0.15, 0.0125))
    panel.controls["half_width"].value = 0.0125
    sizes, right = stratified.fifths()
    plan = accuracy.plan_budget(sizes, right / sizes, 0.0125, interval="wald", method="neyman")
    assert plan.budget in [row["labels"] for row in panel.view.picture["data"]["points"]]


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (
            {"bugdet": (20, 400, 20)},
            "place_value has no control 'bugdet'. Controls: budget, method.",
        ),
        ({"budget": (20, 4000, 20)}, "budget must lie between 8 and 1797; got 20 to 4000."),
        ({"budget": 20}, "budget takes (lowest, highest, step) or a list of numbers; got 20."),
        ({"budget": (400, 20, 20)}, "budget: the lowest value must be below the highest"),
        ({"budget": (20, 400, 500)}, "budget must have 2 to 1,000 values; (20, 400, 500) has 1."),
        ({"method": ["best"]}, "method takes a list of some of 'random', 'equal', 'neyman'"),
    ],
)
def test_a_wrong_range_is_refused_with_what_is_possible(ranges, message):
    with pytest.raises(RangeError) as error:
        allocation.place_value(**ranges)
    assert message in str(error.value)


def test_a_value_that_the_scene_cannot_compute_is_refused_with_the_reason():
    with pytest.raises(RangeError, match="papers_robot cannot show pilot = 90: budget must be at"):
        stratified.papers_robot(pilot=(5, 90, 5))
    with pytest.raises(RangeError, match="seed takes whole numbers"):
        replication.half_samples(seed=(0, 1, 0.5))
    with pytest.raises(RangeError, match="strata needs equal steps"):
        replication.coverage(strata=[3, 4, 9])
    with pytest.raises(RangeError, match="n takes a list of some of 20, 40, 80"):
        cross_validation.experiments(n=(20, 100, 20))
    with pytest.raises(RangeError, match="finite is not a slider"):
        stratified.labels_needed(finite=[True])


def test_a_slider_that_depends_on_another_keeps_the_ends_of_its_range():
    robot = stratified.papers_robot(budget=(100, 200, 10))
    robot.controls["pilot"].value = 6
    assert robot.controls["budget"].min == 100
    stream = allocation.watch_stream(minimum=(0, 4, 1), seen=(600, 1200, 300))
    stream.controls["budget"].value = 200
    assert stream.controls["minimum"].max == 4
    player = stream.children[0].children[-1]
    assert player.max == len(stream.controls["seen"].options) - 1


def test_reveals_pass_the_ranges_on(monkeypatch):
    monkeypatch.setenv(questions.REVEAL, "all")
    found = questions.reveal("3-better", allocation.place_value, budget=(20, 60, 20))
    assert stops(found.parts[0].controls["budget"]) == [20, 40, 60]
    boxes = replication.seen_boxes(per_box=[20, 40])
    assert stops(boxes.parts[-1].controls["per_box"]) == [20, 40, "all"]
    shares = stratified_views.reveal_shares(budget=(50, 80, 10))
    assert shares.parts[0].controls["budget"].value == 80
    assert (
        misclassification.seen_judge(right=(0.6, 0.9, 0.1)).parts[-1].controls["right"].value == 0.8
    )


@pytest.mark.parametrize(
    ("scene", "control"),
    [
        (lambda **ranges: questions.reveal("3-better", allocation.place_value, **ranges), "budget"),
        (replication.seen_boxes, "per_box"),
        (stratified_views.reveal_needed, "half_width"),
        (misclassification.seen_constant, "new_base_rate"),
        (cross_validation.live_experiments, "n"),
    ],
)
def test_a_wrong_range_is_refused_before_the_prediction(scene, control):
    with pytest.raises(RangeError, match="has no control 'bugdet'. Controls: "):
        scene(bugdet=(20, 60, 20))
    with pytest.raises(RangeError, match=f"{control} takes "):
        scene(**{control: 20})


def test_the_construction_of_an_array_takes_a_list_of_options():
    assert stops(replication.array_builder(method=["paper"]).controls["method"]) == ["paper"]
    boxes = replication.seen_pairs(method=["paper"])
    assert repr(boxes) == "Make your prediction first."
