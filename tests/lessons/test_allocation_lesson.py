"""Lesson 3 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""

import contextlib
import doctest
import heapq
import io
import json
import math
import re
from pathlib import Path

import ipywidgets
import numpy as np
import pytest
from code_cells import outputs
from once import once
from panels import controls, heading, printed, rows, settle, status, title

import workbench as wb
from workbench.course.digit_forms import register_errors
from workbench.lessons.allocation import views as live
from workbench.simulations import allocation as simulations
from workbench.simulations.allocation import jump_stream
from workbench.widgets import questions
from workbench.widgets.saved_answers import SavedAnswers

LESSON = Path(__file__).parents[2] / "notebooks" / "03-voila-vs-neyman.ipynb"
simulate_stream = once(simulations.simulate_stream)


@pytest.fixture(autouse=True)
def _streams_once(monkeypatch):
    monkeypatch.setattr(simulations, "simulate_stream", simulate_stream)


@pytest.fixture(scope="module")
def register():
    """Errors of the register per place, by hand."""
    forms = wb.digit_forms()
    errors = [
        [
            10**h * (int(read) - int(digit))
            for read, digit, place in zip(forms.read_a, forms.digit, forms.place, strict=True)
            if place == h
        ]
        for h in range(4)
    ]
    return [np.array(values) for values in errors]


@pytest.fixture(scope="module")
def spread(register):
    return np.array(
        [len(e) * math.sqrt(((e - e.mean()) ** 2).sum() / (len(e) - 1)) for e in register]
    )


SIZE = np.array([1000, 600, 160, 37])


def total_error(spread, labeled):
    return math.sqrt((spread**2 * (1 / np.asarray(labeled, float) - 1 / SIZE)).sum())


# ---------------------------------------------------------------- the register


def test_the_register_is_read_14692_too_low(register):
    forms = wb.digit_forms()
    assert [len(e) for e in register] == SIZE.tolist()
    assert [int((e != 0).sum()) for e in register] == [130, 69, 17, 5]
    assert (
        sum(int(e.sum()) for e in register) == -14692
        and (forms.digit * 10**forms.place).sum() == 274713
    )
    place, error = register_errors()
    for h in range(4):
        assert error[place == h].tolist() == register[h].tolist()


def test_the_hook_asks_and_does_not_answer(register):
    shown = live.register()
    row = shown.picture["data"]["places"]
    assert [r["digits"] for r in row] == SIZE.tolist()
    assert [r["misread"] for r in row] == pytest.approx([13, 11.5, 10.625, 500 / 37])
    assert [r["cost"] for r in row] == pytest.approx([np.abs(e[e != 0]).mean() for e in register])
    assert title(shown).endswith("?") and shown.alternative.endswith("?")


# ---------------------------------------------------------------- labels moved by hand


def held(panel):
    return [row["labels"] for row in rows(panel, "held")]


@pytest.mark.parametrize(
    ("predicted", "start"),
    [
        (None, [25, 25, 25, 25]),
        ("2", [33, 33, 32, 2]),
        ("37", [21, 21, 21, 37]),
        ("64", [21, 21, 21, 37]),
    ],
)
def test_the_predicted_thousands_are_the_start(spread, predicted, start):
    panel = live.place_labels(predicted)
    assert held(panel) == start
    assert (
        f"standard error of the register total is {total_error(spread, start):,.0f};"
        in panel.view.alternative
    )
    assert [row["labels"] for row in rows(panel, "wish")] == (
        [] if predicted is None else [int(predicted)]
    )
    assert ("and there are only 37." in panel.view.alternative) == (predicted == "64")


def test_the_best_hundred_can_be_found_by_hand(spread):
    panel = live.place_labels("25")
    settle(panel, ones=3, tens=18)
    assert heading(panel).endswith("29 labels not used yet")
    settle(panel, hundreds=42, thousands=37)
    assert (
        held(panel) == [3, 18, 42, 37]
        and heading(panel) == "Standard error of the total 4,148: the least possible"
    )
    settle(panel, ones=2, tens=19)
    found = total_error(spread, [2, 19, 42, 37])
    assert (
        heading(panel)
        == f"Standard error of the total {found:,.0f}: {found / 4147.87:.2f} times the least possible"
    )


def test_no_more_than_a_hundred_and_no_more_than_there_are():
    panel = live.place_labels()
    settle(panel, ones=30)
    assert (
        held(panel) == [25] * 4
        and status(panel) == "All 100 labels are in use. Take some from another place first."
    )
    settle(panel, ones=20)
    assert status(panel) == "" and panel.view.alternative.startswith("You label 20 of 1,000 ones")
    drag(panel, 3, 80)
    assert held(panel) == [20, 25, 25, 30]  # as many as the hand held
    drag(panel, 0, -5)
    drag(panel, 3, 80)
    assert held(panel) == [2, 25, 25, 37]
    controls(panel)["Start again"].click()
    assert held(panel) == [25] * 4


def drag(panel, place, x):
    """Send what the page sends while a bar is dragged."""
    panel.view._answer(
        panel.view, {"kind": "drag", "from": "1", "place": {"drag": place, "x": x, "y": None}}, []
    )


# ---------------------------------------------------------------- rules compared


@pytest.fixture
def places():
    return live.place_value()


def test_neyman_wants_64_of_37(places, spread):
    assert (
        heading(places)
        == "100 labels: Neyman's rule asks for 64 of the 37 thousands and leaves 27 labels unused"
    )
    wish = 100 * spread / spread.sum()
    assert [row["neyman"] for row in rows(places, "wishes")] == pytest.approx(wish)
    assert [row["text"] for row in rows(places, "wishes")] == ["", "", "", "Neyman 64"]
    assert [row["labels"] for row in rows(places, "bars")] == [2, 10, 24, 37]
    assert [row["text"] for row in rows(places, "bars")] == [
        "2 of 1,000",
        "10 of 600",
        "24 of 160",
        "37 of 37",
    ]


def test_six_methods_and_their_errors(places, register, spread):
    everything = np.concatenate(register)
    random = 1797 * math.sqrt((1 / 100 - 1 / 1797) * everything.var(ddof=1))
    expected = {
        "random sampling": random,
        "equal shares": total_error(spread, [25] * 4),
        "capped Neyman": total_error(spread, [2, 10, 24, 37]),
        "Neyman+": total_error(spread, [11, 19, 33, 37]),
        "iterated Neyman": total_error(spread, [3, 18, 42, 37]),
        "VOILA": total_error(spread, [3, 18, 42, 37]),
    }
    assert {row["method"]: row["error"] for row in rows(places, "errors")} == pytest.approx(
        expected
    )
    assert [f"{e:,.0f}" for e in expected.values()] == [
        "47,149",
        "8,997",
        "5,750",
        "4,470",
        "4,148",
        "4,148",
    ]
    assert places.view.alternative.endswith(
        "random sampling 47,149, equal shares 8,997, capped Neyman 5,750, "
        "Neyman+ 4,470, iterated Neyman 4,148, VOILA 4,148."
    )


def test_voila_labels_3_18_42_37(places):
    settle(places, Rule="voila")
    assert [row["labels"] for row in rows(places, "bars")] == [3, 18, 42, 37]
    assert (
        heading(places)
        == "100 labels: standard error 4,148 with VOILA, as with iterated Neyman (4,148)"
    )
    assert [row["kind"] for row in rows(places, "bars")] == ["labeled in part"] * 3 + [
        "labeled completely"
    ]


def test_from_144_equal_shares_beat_capped_neyman(places, spread):
    said = {
        budget: settle(places, Labels=budget) for budget in live.BUDGETS if 100 <= budget <= 150
    }
    assert {budget for budget, text in said.items() if "equal shares are better" in text} == {
        144,
        145,
        146,
        147,
        150,
    }
    assert {141, 142, 143} <= set(said) and heading(places).endswith("; equal shares are better")
    by_hand = [total_error(spread, [38, 38, 37, 37]), total_error(spread, [3, 15, 35, 37])]
    assert [f"{error:,.0f}" for error in by_hand] == ["3,873", "4,606"]
    assert (
        "equal shares 3,873, capped Neyman 4,606, Neyman+ 3,175, iterated Neyman 2,808, VOILA 2,808."
        in places.view.alternative
    )


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (59, "every place has enough digits; VOILA differs by rounding only"),
        (60, "Neyman's rule asks for 39 of the 37 thousands and leaves 1 label unused"),
    ],
)
def test_up_to_59_labels_none_is_left_over(places, spread, budget, said):
    settle(places, Labels=budget)
    assert heading(places) == f"{budget} labels: {said}"
    whole = np.maximum(np.rint(np.minimum(budget * spread / spread.sum(), SIZE)), 2)
    assert budget - whole.sum() == (budget == 60)


def test_random_sampling_expects_two_thousands(places):
    assert "2.1 of 37 thousands" in settle(places, Rule="random")
    assert (
        heading(places)
        == "100 labels: standard error 47,149 with random sampling, 8.2 times that of capped Neyman"
    )


@pytest.mark.parametrize("method", [value for _, value in live.METHODS])
def test_every_method_and_budget_says_something_else(places, method):
    found = {settle(places, Rule=method, Labels=budget) for budget in live.BUDGETS[::10]}
    assert len(found) == len(live.BUDGETS[::10]) and not status(places)


def test_axes_hold_whatever_the_controls_ask_for(places):
    most, errors = [], []
    for budget in (live.BUDGETS[0], live.BUDGETS[-1]):
        for _, method in live.METHODS:
            settle(places, Rule=method, Labels=budget)
            most += [row["labels"] for row in rows(places, "bars")] + [
                row["neyman"] for row in rows(places, "wishes")
            ]
            errors += [row["error"] for row in rows(places, "errors")]
    text = json.dumps(places.view.spec)
    assert '"domain": [0, 165]' in text and max(most) <= 165
    assert '"domain": [1800, 150000]' in text and 1800 <= min(errors) and max(errors) <= 150_000
    assert len(live.BUDGETS) <= 60 and {57, 100, 144, 150} <= set(live.BUDGETS)


@pytest.mark.parametrize("choice", live.BETTER)
def test_the_rule_thought_better_gets_a_ring(choice, spread):
    panel = live.place_value(choice)
    assert heading(panel).startswith("150 labels: ")
    assert {row["method"] for row in rows(panel, "rings")} == {
        "capped Neyman": {"capped Neyman"},
        "equal shares": {"equal shares"},
        "no difference": {"capped Neyman", "equal shares"},
    }[choice]
    assert "You predicted" in panel.view.alternative


def test_what_should_have_been_seen_of_rules(spread):
    told, table = live._rules()
    assert (
        told.startswith("From 60 labels on")
        and "From 144 labels on, this rule has a larger standard error than equal" in told
    )
    given = {
        (100, "capped Neyman"): [2, 10, 24, 37],
        (150, "equal shares"): [38, 38, 37, 37],
        (150, "iterated Neyman"): [6, 32, 75, 37],
        (150, "VOILA"): [5, 32, 76, 37],
    }
    found = {(row["budget"], row["method"]): row for row in table.rows()}
    assert len(found) == 10
    for key, labels in given.items():
        assert found[key]["standard_error"] == pytest.approx(total_error(spread, labels))
        assert (found[key]["labeled"], found[key]["unused"]) == (sum(labels), key[0] - sum(labels))


def test_tables_of_the_formula(spread):
    assert [row["size times standard deviation"] for row in live.spreads().rows()] == [
        f"{s:,.0f}" for s in spread
    ]
    neyman, iterated, voila = live.ten_strata().rows()
    ratio = (
        8.1
        * 1000**2
        * 0.01
        * (1 / 9 - 1 / 1000)
        / (9 * 1000**2 * 0.01 * (1 / 100 - 1 / 1000) / 1.0)
    )
    assert (neyman["first stratum"], voila["other nine"]) == (100, 900) and 10 < ratio < 13
    assert (
        neyman["variance"] == "12.1 times VOILA's" and iterated["variance"] == "1.0 times VOILA's"
    )


def test_what_voila_gains_over_the_textbook(spread):
    same, most, none = live.iterated_or_best().rows()
    assert same["iterated Neyman"] == same["VOILA"] == "3 / 18 / 42 / 37"
    assert (most["iterated Neyman"], most["VOILA"]) == ("2 / 16 / 37 / 37", "3 / 16 / 36 / 37")
    ratio = total_error(spread, [2, 16, 37, 37]) / total_error(spread, [3, 16, 36, 37])
    assert most["standard error, VOILA = 1"] == f"{ratio:.4f}" == "1.0016"
    assert (
        none["iterated Neyman"].startswith("0 / ")
        and none["standard error, VOILA = 1"] == "infinite"
    )


def test_what_a_hand_can_do_with_100_labels(spread, monkeypatch):
    keeping = SavedAnswers()
    keeping.save("3-thousands", "64")
    monkeypatch.setattr(questions, "saved_answers", lambda: keeping)
    place = live.seen_hand()
    assert place.children[0].description == questions.LOOK and not place.parts
    place.children[0].click()
    told, table = place.parts
    assert told == f"You predicted 64. {live.TEXTS.feedback('3-thousands')['64']}"
    wanted, rest, best = table.rows()
    assert [wanted["thousands"], rest["thousands"], best["thousands"]] == [
        f"{100 * spread[3] / spread.sum():.1f}",
        "37",
        "37",
    ]
    assert float(rest["hundreds"]) == pytest.approx(63 * spread[2] / spread[:3].sum(), abs=0.06)
    assert best["hundreds"] == "42"


# ---------------------------------------------------------------- one label at a time


def heap_greedy(spread, budget, size=SIZE):
    """Give labels one by one from a heap, starting at two each."""
    given = [2] * len(spread)
    heap = [(-s / math.sqrt(6), h) for h, s in enumerate(spread)]
    heapq.heapify(heap)
    while sum(given) < budget:
        _, h = heapq.heappop(heap)
        given[h] += 1
        if given[h] < size[h]:
            heapq.heappush(heap, (-spread[h] / math.sqrt(given[h] * (given[h] + 1)), h))
    return given


@pytest.mark.parametrize("budget", [20, 57, 100, 150, 200])
def test_one_by_one_ends_at_the_optimum(spread, budget):
    panel = live.one_label_at_a_time()
    settle(panel, Labels=budget)
    controls(panel)["Give all"].click()
    given = [row["labels"] for row in rows(panel, "places")]
    sd = spread / SIZE
    assert given == heap_greedy(spread, budget)
    assert given == wb.allocate(SIZE, budget, "voila", stratum_sd=sd, minimum=2).labeled.tolist()
    assert heading(panel) == (
        f"All {budget} labels are used: {' + '.join(map(str, given))}, exactly the optimum"
    )
    assert (
        f"Standard error of the total {total_error(spread, given):,.0f}." in panel.view.alternative
    )


def test_each_press_gives_labels_where_the_priority_is_largest(spread):
    panel = live.one_label_at_a_time()
    found = controls(panel)
    before, given = panel.view.alternative, [2] * 4
    assert heading_of_start(panel) == before
    for step in range(1, 20):
        priority = [s / math.sqrt(k * (k + 1)) for s, k in zip(spread, given, strict=True)]
        assert [row["priority"] for row in rows(panel, "places")] == pytest.approx(priority)
        given[int(np.argmax(priority))] += 1
        found["Next label"].click()
        assert [row["labels"] for row in rows(panel, "places")] == given and sum(given) == 8 + step
    found["Next ten"].click()
    assert [row["labels"] for row in rows(panel, "places")] == heap_greedy(spread, 37)
    assert panel.view.alternative != before
    found["Start again"].click()
    assert panel.view.alternative == before and heading(panel).startswith(
        "Label 9 of 100 goes to the thousands"
    )


def heading_of_start(panel):
    assert [row["labels"] for row in rows(panel, "places")] == [2] * 4
    assert "optimum" not in panel.view.alternative
    assert [row["turn"] for row in rows(panel, "places")] == ["waits"] * 3 + ["gets the next label"]
    return panel.view.alternative


def test_no_label_beyond_the_budget():
    panel = live.one_label_at_a_time()
    settle(panel, Labels=20)
    found = controls(panel)
    for _ in range(3):
        found["Next ten"].click()
    assert sum(row["labels"] for row in rows(panel, "places")) == 20
    assert all(found[name].disabled for name in ("Next label", "Next ten", "Give all"))
    assert {row["turn"] for row in rows(panel, "places")} == {"waits"}
    settle(panel, Labels=25)
    assert not found["Next label"].disabled and heading(panel).startswith("Label 9 of 25")


# ---------------------------------------------------------------- the stream


@pytest.fixture
def stream():
    return live.watch_stream()


def followed(rule, seed, minimum, budget=100, last=()):
    place, error = register_errors()
    return simulate_stream(
        place,
        error,
        budget,
        methods=[rule],
        order="random",
        last=last,
        every=20,
        runs=1,
        minimum=minimum,
        rng=seed,
        progress=False,
    )


def test_the_printed_rule_loses_the_thousands(stream):
    study = followed("s_voila_printed", 1, 0)
    held, sd = study.sampled["s_voila_printed"][0], study.stratum_sd[0]
    infinite = ((held == 0) & (sd > 0)).any(1)
    assert 0 < infinite.sum() < infinite.size == 90
    assert heading(stream) == (
        f"S-VOILA as printed: variance infinite at {infinite.sum()} of 90 checkpoints "
        f"({infinite.mean():.0%})"
    )
    assert [row["records"] for row in rows(stream, "infinite")] == study.checkpoint[
        infinite
    ].tolist()
    assert [row["ratio"] is None for row in rows(stream, "ratios")] == infinite.tolist()


def test_a_larger_floor_costs_little_and_insures(stream):
    settle(stream, Rule="s_voila")
    assert heading(stream).startswith(
        "S-VOILA with a floor of 2: variance never infinite, at most "
    )
    two = max(row["ratio"] for row in rows(stream, "ratios"))
    settle(stream, Floor=15)
    fifteen = [row["ratio"] for row in rows(stream, "ratios")]
    assert max(fifteen) < two / 5 and not rows(stream, "infinite")
    found = followed("s_voila", 1, 15)
    made, best = found.variance["s_voila"][0], found.variance["voila"][0]
    assert fifteen == pytest.approx(np.where(best > 0, made / np.where(best > 0, best, 1), 1))


def test_at_most_the_budget_is_held(stream):
    held = {}
    for row in rows(stream, "areas"):
        held[row["records"]] = held.get(row["records"], 0) + row["sampled"]
    assert held == {records: min(records, 100) for records in [*range(20, 1797, 20), 1797]}


def test_late_thousands_come_last(stream):
    settle(stream, Order="late", Rule="s_voila")
    seen = {
        row["records"]
        for row in rows(stream, "areas")
        if row["stratum"] == "thousands" and row["sampled"]
    }
    assert seen == {1780, 1797}


def test_every_control_changes_what_is_said(stream):
    said = [stream.view.alternative]
    for name, value in (
        ("Stream", 7),
        ("Rule", "s_voila"),
        ("Floor", 10),
        ("Order", "late"),
        ("Records kept", 260),
        ("Records seen", 400),
        ("Records seen", 20),
    ):
        said.append(settle(stream, **{name: value}))
    assert len(set(said)) == len(said)
    assert "the sample of 260 holds" in said[5] and said[-1].startswith("After 20 records")
    assert heading(stream) == "S-VOILA with a floor of 10: variance as small as VOILA's so far"


def test_no_floor_that_does_not_fit(stream):
    settle(stream, Rule="s_voila", Floor=20)
    settle(stream, Records_kept=40)
    floor = controls(stream)["Floor: keep at least"]
    assert (floor.value, floor.max) == (10, 10) and status(stream) == ""
    assert heading(stream).startswith("S-VOILA with a floor of 10")
    settle(stream, Records_kept=100)
    assert floor.max == 20


def test_the_floor_can_be_moved_where_it_matters(stream):
    floor = controls(stream)["Floor: keep at least"]
    assert floor.disabled
    settle(stream, Rule="s_voila")
    assert not floor.disabled


def test_axes_of_the_stream_stay(stream):
    before = json.dumps(stream.view.spec)
    assert '"domain": [0, 1]' in before and '"domain": [0.7, 140000.0]' in before
    settle(stream, Records_kept=300, Stream_number=3)
    shown = [row["ratio"] for row in rows(stream, "ratios") if row["ratio"] is not None]
    assert max(shown) < 100_000 and max(row["share"] for row in rows(stream, "areas")) <= 1
    assert json.dumps(stream.view.spec) == before


def test_400_streams_of_the_papers_rule():
    place, error = register_errors()
    study = simulate_stream(
        place, error, 100, methods=["s_voila_printed"], order="random", runs=400, progress=False
    )
    held, sd = study.sampled["s_voila_printed"], study.stratum_sd
    endless = ((held == 0) & (sd > 0)).any(2)
    ever, last = endless.any(1).mean(), endless[:, -1].mean()
    assert abs(ever - 0.62) < 0.05 and abs(last - 0.18) < 0.04
    shown = live.trouble("5%")
    data = shown.picture["data"]
    assert [row["value"] for row in data["points"]] == pytest.approx(endless.mean(0))
    assert (
        data["predicted"] == [{"value": 0.05, "text": "you predicted"}]
        and data["answer"][0]["value"] == ever
    )
    assert (
        title(shown)
        == f"The paper's rule: infinite variance at some time in {ever:.0%} of 400 streams"
    )
    assert f"still at the end in {last:.0%}. You predicted 5%." in shown.alternative


def test_streams_run_on_a_press_and_add_up():
    panel = live.floors()
    assert heading(panel) == "No stream has run yet" and rows(panel, "floors") == []
    button = controls(panel)["Run 100 more streams"]
    place, error = register_errors()
    squares = {floor: [] for floor in live.FLOORS}
    for press in range(2):
        button.click()
        for floor, found in squares.items():
            study = simulate_stream(
                place,
                error,
                100,
                methods=["s_voila"],
                order="random",
                every=1797,
                runs=100,
                minimum=floor,
                rng=press,
                progress=False,
            )
            found.extend((1797 * study.error["s_voila"][:, -1]) ** 2)
    assert [row["error"] for row in rows(panel, "floors")] == pytest.approx(
        [math.sqrt(np.mean(found)) for found in squares.values()]
    )
    assert heading(panel).startswith("200 streams for each floor") and not button.disabled
    errors = {floor: math.sqrt(np.mean(found)) for floor, found in squares.items()}
    assert errors[2] > 2 * errors[10] and errors[15] < 5700
    assert rows(panel, "least")[0]["error"] == pytest.approx(4147.87)


def test_premiums_of_floors(spread):
    found = {row["floor"]: row["increase"] for row in live.premiums().rows()}
    assert found == {0: "0.0%", 5: "0.8%", 10: "5.5%", 15: "11.6%", 20: "26.1%"}
    fifteen = total_error(spread, [15, 15, 33, 37])
    assert live.premiums().rows()[3]["standard_error"] == pytest.approx(fifteen)


def test_the_player_reaches_every_checkpoint(stream):
    found = controls(stream)
    player = next(c for c in stream.children[0].children if isinstance(c, ipywidgets.Play))
    assert (player.min, player.max) == (0, len(found["Records seen"].options) - 1) == (0, 89)
    assert player.value == found["Records seen"].index
    found["Records seen"].index = 0
    assert stream.view.alternative.startswith("After 20 records the sample of 100 holds ")


# ---------------------------------------------------------------- the paper's stream


@pytest.fixture(scope="module")
def jumps():
    return live.papers_stream()


def test_s_voila_lags_behind_the_jump_and_catches_up(jumps):
    settle(jumps, Standard_deviation_after_the_jump=20)
    held = {
        name: [row["sampled"] for row in rows(jumps, "sizes") if row["method"] == name]
        for name in ("VOILA", "S-VOILA", "uniform")
    }
    assert len(held["VOILA"]) == 50 and held["VOILA"][12] > 2 * held["S-VOILA"][12]
    assert held["VOILA"][-1] > held["S-VOILA"][-1] > 4 * held["uniform"][-1] == 20
    assert heading(jumps).startswith("Variance after 5,000 records, divided by VOILA's: S-VOILA 1.")


def test_without_a_jump_all_methods_are_alike(jumps):
    settle(jumps, Standard_deviation_after_the_jump=1)
    last = [row["variance"] for row in rows(jumps, "variances") if row["records"] == 5000]
    assert len(last) == 6 and max(last) < 1.05 * min(last)


@pytest.mark.parametrize("sd", live.JUMPS)
def test_each_jump_is_the_stream_of_that_jump(jumps, sd):
    settle(jumps, Standard_deviation_after_the_jump=sd)
    _, value = jump_stream(5000, jump_at=1000, sd=float(sd), runs=2)
    reservoir = [
        row["variance"] for row in rows(jumps, "variances") if row["method"] == "reservoir"
    ][-1]
    assert reservoir == pytest.approx(
        np.mean([(1 / 100 - 1 / 5000) * v.var(ddof=1) for v in value])
    )


def test_only_the_chosen_methods_are_drawn(jumps):
    said = settle(jumps, Methods=("s_voila", "uniform"))
    assert {row["method"] for row in rows(jumps, "sizes")} == {
        "S-VOILA",
        "uniform",
    } and "reservoir" not in said
    settle(jumps, Methods=())
    assert "Methods must name at least one; choose several with Ctrl or Shift" in status(jumps)
    settle(jumps, Methods=("voila",))
    assert status(jumps) == "" and heading(jumps).startswith("VOILA with hindsight: ")


def test_axes_hold_every_jump(jumps):
    before = json.dumps(jumps.view.spec)
    domains = [json.loads(found) for found in re.findall(r'"domain": (\[[0-9.e, -]+\])', before)]
    for jump in live.JUMPS:
        settle(jumps, Standard_deviation_after_the_jump=jump)
        sampled = [row["sampled"] for row in rows(jumps, "sizes")]
        variances = [row["variance"] for row in rows(jumps, "variances") if row["variance"]]
        assert any(low == 0 and max(sampled) <= high < 200 for low, high in domains)
        assert any(0 < low <= min(variances) and max(variances) <= high for low, high in domains)
    assert json.dumps(jumps.view.spec) == before


def test_the_stream_follows_but_slowly():
    study = simulate_stream(
        *jump_stream(), 1000, methods=("s_voila",), every=10_000, batch=100, progress=False
    )
    shown = live.following("5.0 times")
    data = shown.picture["data"]
    at = {row["records"]: row["value"] for row in data["points"]}
    assert [at[k] for k in study.checkpoint] == pytest.approx(study.ratio("s_voila"))
    assert data["predicted"][0]["value"] == 5 and f"{data['answer'][0]['value']:.2f}" == "1.37"
    assert shown.alternative.endswith("You predicted 5.0 times.")


# ---------------------------------------------------------------- discovery is kept


def cells():
    return json.loads(LESSON.read_text(encoding="utf-8"))["cells"]


def code():
    return ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]


def reveals():
    scene = re.compile(r'wb\.reveal\("([\w-]+)", lesson\.(\w+)\)')
    return [found.groups() for found in map(scene.match, code()) if found]


def test_every_reveal_waits_for_a_question_above_it():
    asked = set()
    for source in code():
        if question := re.match(r"lesson\.(predict_\w+)\(\)", source):
            asked.add(getattr(live, question[1])().name)
        for name in re.findall(r'wb\.reveal\("([\w-]+)"', source):
            assert name in asked
    assert len(asked) == 4 and len(reveals()) == 5


@pytest.mark.parametrize(("name", "show"), reveals())
def test_nothing_is_shown_before_the_prediction_and_all_after_it(monkeypatch, name, show):
    keeping = SavedAnswers()
    monkeypatch.setattr(questions, "saved_answers", lambda: keeping)
    called = []
    place = questions.reveal(name, lambda prediction: called.append(prediction) or "shown")
    assert repr(place) == "Make your prediction first." and not called
    prediction = next(
        found
        for found in (getattr(live, each)() for each in dir(live) if each.startswith("predict_"))
        if found.name == name
    )
    choice = prediction.control.options[-1]
    prediction.control.value = choice
    prediction.children[2].click()
    assert called == [choice] and repr(place) == "shown"
    assert choice.split()[0] in repr(getattr(live, show)(choice)) or show in (
        "place_value",
        "papers_stream",
        "iterated_or_best",
    )


def test_all_is_shown_without_a_prediction_where_all_is_revealed(monkeypatch):
    monkeypatch.setenv(questions.REVEAL, "all")
    monkeypatch.setattr(live, "STREAMS", 20)
    for name, show in reveals():
        assert repr(questions.reveal(name, getattr(live, show))) != "Make your prediction first."


def test_two_written_lines_come_before_the_model_answer():
    for asked in (live.explain_greedy(), live.explain_floor()):
        assert repr(asked).startswith("Explain in two lines: ") and repr(asked).endswith("?")


def test_no_answer_of_an_exercise_stands_above_it():
    random = 81 * 7 / 9 * np.var([1, 1000, 2, 4, 2, 1050, 1200, 1, 1300], ddof=1) / 2
    stratified = 25 * 0.8 * np.var([1, 2, 4, 2, 1], ddof=1) + 16 * 0.75 * np.var(
        [1000, 1050, 1200, 1300], ddof=1
    )
    answers = (
        [f"{random / 1e7:.{k}f}" for k in (2, 3, 4)]
        + [f"{stratified / 1e5:.{k}f}" for k in (2, 3, 4)]
        + [f"{random:.0f}", f"{stratified:.0f}", *(f"{random / stratified:.{k}f}" for k in (1, 2))]
    )
    assert printed(LESSON, answers) == []


def test_the_first_screen_is_a_question_and_the_report_stands_last():
    first = cells()[0]["source"]
    assert (
        "".join(first) == "# Where do the next labels go?" and "tags" not in cells()[0]["metadata"]
    )
    tagged = [
        set(cell["metadata"].get("tags", [])) & {"lesson", "exercise", "interactive", "code"}
        for cell in cells()
    ]
    own = next(
        k
        for k, cell in enumerate(cells())
        if "".join(cell["source"]).startswith("## Your own data")
    )
    words = next(k for k, cell in enumerate(cells()) if "".join(cell["source"]) == "## Words")
    report = [tags for tags in tagged[own + 2 : words] if "code" not in tags]
    assert all(tagged[1 : own + 2]) and not any(report)
    assert not any("solution" in cell["metadata"].get("tags", []) for cell in cells())


# ---------------------------------------------------------------- the same in code


@pytest.fixture(scope="module")
def shown():
    return outputs(LESSON)


def numbers(text):
    """Return the numbers of a text, without commas of thousands."""
    return [float(number) for number in re.findall(r"-?\d[\d,]*\.?\d*", text.replace(",", ""))]


def first_digits(register, count):
    """Return the errors among the first digits of stream 1, per place."""
    place, error = register_errors()
    rank = np.random.default_rng(1).random(1797)
    first = sorted(range(1797), key=rank.__getitem__)[:count]
    return [np.array([error[k] for k in first if place[k] == h]) for h in range(4)]


def test_code_cells_of_the_register(shown, register, spread):
    misread = [e[e != 0] for e in register]
    described = [
        [e.size, wrong.size, round(np.abs(wrong).mean())]
        for e, wrong in zip(register, misread, strict=True)
    ]
    assert numbers(shown["code-register"]) == described[0] + described[3]
    assert numbers(shown["code-by-hand"]) == [round(total_error(spread, [25] * 4))] == [8997]
    assert numbers(shown["code-best"]) == [3, 18, 42, 37, 4148]
    assert numbers(shown["code-greedy"]) == heap_greedy(spread, 100) == [3, 18, 42, 37]
    assert numbers(shown["code-next-label"]) == [round(s / math.sqrt(6)) for s in spread]
    assert numbers(shown["code-spreads"]) == [round(s) for s in spread]


def test_code_cells_of_the_rules(shown, spread):
    errors = [
        total_error(spread, labels)
        for labels in ([38, 38, 37, 37], [3, 15, 35, 37], [5, 32, 76, 37])
    ]
    listed = zip(("equal", "neyman", "voila"), errors, (0, 60, 0), strict=True)
    assert shown["code-capped"].splitlines() == [
        f"{rule}: standard error {error:,.0f}, {unused} unused" for rule, error, unused in listed
    ]
    assert "7 rows" in shown["code-rules"]
    assert numbers(shown["code-two-strata"]) == [3, 2]
    ratio = (1 / 10 + 8 / 9 - 9 / 1000) / (
        9 / 100 - 9 / 1000
    )  # capped Neyman labels 100, 10, 9, 9 ...
    assert numbers(shown["code-ten-strata"]) == [100, 10, 100, 100, round(ratio, 1)]
    ratio = total_error(spread, [2, 16, 37, 37]) / total_error(spread, [3, 16, 36, 37])
    assert shown["code-rounding"] == f"{ratio:.4f}"


def test_code_cells_of_streams(shown, register, spread):
    seen = first_digits(register, 400)
    sd = [round(values.std(ddof=1), 1) for values in seen]
    assert numbers(shown["code-seen"]) == [*sd, 10, 57, 33, 0] and sd[3] == 0
    no_misread = math.prod((1597 - k) / (1797 - k) for k in range(5))
    (proportion,) = numbers(shown["code-trouble"])
    assert abs(proportion - no_misread) < 3 * math.sqrt(no_misread * (1 - no_misread) / 400)
    low, high = (numbers(line) for line in shown["code-floors"].splitlines())
    assert (low[0], high[0]) == (2, 15) and sum(low[2:9:2]) == sum(high[2:9:2]) == 100
    assert low[8] < 15 <= high[8]
    assert abs(low[-1]) > 10 * abs(high[-1])
    premium = total_error(spread, [15, 15, 33, 37]) / total_error(spread, [3, 18, 42, 37]) - 1
    assert shown["code-premium"] == f"{premium:.1%}\n" == "11.6%\n"


def test_code_cells_of_the_jump(shown):
    stratum, value = (array[0] for array in jump_stream(5000, jump_at=1000, runs=2))
    size = [int((stratum == h).sum()) for h in range(20)]
    spread_of = [size[h] * value[stratum == h].std(ddof=1) for h in range(20)]
    assert numbers(shown["code-jump"]) == [50] == [heap_greedy(spread_of, 100, size)[11]]
    held, ratio = numbers(shown["code-jump-stream"])
    assert 10 < held < 50 and 1.1 < ratio < 1.7


def test_own_file_in_code(shown):
    import duckdb

    rows = duckdb.sql(
        f"select count(*), stddev_samp(amount) from '{LESSON.parent}/data/records.parquet' group by segment"
    ).fetchall()
    size, sd = np.array(rows).T
    shares = 200 * size * sd / (size * sd).sum()
    labels = numbers(shown["code-own"].split("Labels per stratum: ")[1])[::3]
    assert sum(labels) == 200 and sorted(labels) == pytest.approx(sorted(shares), abs=1)
    error = math.sqrt(((size * sd) ** 2 * (1 / shares - 1 / size)).sum())
    assert f"standard error of about {round(error, -3):,.0f}" in shown["code-own"]


SCENES = [name for name, scene in vars(live).items() if "interact(" in (scene.__doc__ or "")]


@pytest.mark.parametrize("name", SCENES)
def test_a_similar_scene_runs_with_its_slider(name):
    """The line that shows the sliders is skipped as a doctest, since it prints escape codes."""
    examples = doctest.DocTestParser().get_examples(getattr(live, name).__doc__)
    assert (
        len(SCENES) == 9 and len("".join(example.source for example in examples).splitlines()) <= 10
    )
    with contextlib.redirect_stdout(io.StringIO()):
        names = {}
        for example in examples:
            exec(example.source, names)
    assert isinstance(names["_"].widget.children[0], ipywidgets.Widget)
    assert names["_"].widget.result.alternative
