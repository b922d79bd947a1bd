"""Lesson 3 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""
import heapq
import math

import ipywidgets
import numpy as np
import pytest
from panels import controls, heading, rows, settle, status

import workbench as wb
from workbench.course.digit_forms import register_errors
from workbench.simulations.allocation import jump_stream, simulate_stream
from workbench.widgets import allocation as live


@pytest.fixture(scope="module")
def register():
    """Errors of the register per place, by hand."""
    forms = wb.digit_forms()
    errors = [[10 ** h * (int(read) - int(digit)) for read, digit, place in
               zip(forms.read_a, forms.digit, forms.place, strict=True) if place == h] for h in range(4)]
    return [np.array(values) for values in errors]


@pytest.fixture(scope="module")
def spread(register):
    return np.array([len(e) * math.sqrt(((e - e.mean()) ** 2).sum() / (len(e) - 1)) for e in register])


SIZE = np.array([1000, 600, 160, 37])


def total_error(spread, labeled):
    return math.sqrt((spread ** 2 * (1 / np.asarray(labeled, float) - 1 / SIZE)).sum())


# ---------------------------------------------------------------- the register

def test_the_register_is_read_14692_too_low(register):
    forms = wb.digit_forms()
    assert [len(e) for e in register] == SIZE.tolist()
    assert [int((e != 0).sum()) for e in register] == [130, 69, 17, 5]
    assert sum(int(e.sum()) for e in register) == -14692 and (forms.digit * 10 ** forms.place).sum() == 274713
    place, error = register_errors()
    for h in range(4):
        assert error[place == h].tolist() == register[h].tolist()


# ---------------------------------------------------------------- place value

@pytest.fixture
def places():
    return live.place_value()


def test_neyman_wants_64_of_37(places, spread):
    assert heading(places) == "100 labels: Neyman wants 64 of the 37 thousands and leaves 27 labels unused"
    wish = 100 * spread / spread.sum()
    assert [row["neyman"] for row in rows(places, "wishes")] == pytest.approx(wish)
    assert [row["labels"] for row in rows(places, "bars")] == pytest.approx(np.minimum(wish, SIZE))
    assert f"{wish[3]:.0f} {100 - np.minimum(wish, SIZE).sum():.0f}" == "64 27"


def test_five_methods_five_errors(places, register, spread):
    everything = np.concatenate(register)
    random = 1797 * math.sqrt((1 / 100 - 1 / 1797) * everything.var(ddof=1))
    wish, plus = 100 * spread / spread.sum(), []
    left = 100 - 37 - wish[:3].sum()
    plus = np.append(wish[:3] + left / 3, 37)
    expected = {"random sampling": random, "equal shares": total_error(spread, [25] * 4),
                "capped Neyman": total_error(spread, np.minimum(wish, SIZE)), "Neyman+": total_error(spread, plus),
                "VOILA": total_error(spread, [3, 18, 42, 37])}
    assert {row["method"]: row["error"] for row in rows(places, "errors")} == pytest.approx(expected)
    assert [f"{e:,.0f}" for e in expected.values()] == ["47,149", "8,997", "5,789", "4,470", "4,148"]
    assert places.view.alternative.endswith("random sampling 47,149, equal shares 8,997, capped Neyman 5,789, "
                                            "Neyman+ 4,470, VOILA 4,148.")


def test_voila_labels_3_18_42_37(places):
    settle(places, Method="voila")
    assert [row["labels"] for row in rows(places, "bars")] == [3, 18, 42, 37]
    assert heading(places) == "100 labels: SE 4,148 by VOILA, 28% below capped Neyman's"
    assert [row["kind"] for row in rows(places, "bars")] == ["labeled in part"] * 3 + ["labeled completely"]


def test_from_141_equal_shares_beat_capped_neyman(places, spread):
    beaten = []
    for budget in range(100, 151):
        beaten += [budget] if "equal shares beat it" in settle(places, Labels_M=budget) else []
    assert beaten == list(range(141, 151))
    assert heading(places).endswith("; equal shares beat it")
    capped = np.minimum(150 * spread / spread.sum(), SIZE)
    assert f"{total_error(spread, [113 / 3] * 3 + [37]):,.0f} {total_error(spread, capped):,.0f}" == "3,840 4,588"
    assert "equal shares 3,840, capped Neyman 4,588, Neyman+ 3,161, VOILA 2,808." in places.view.alternative


@pytest.mark.parametrize(("budget", "said"), [
    (57, "no place is exhausted, Neyman is VOILA but for rounding"),
    (58, "Neyman wants 37.4 of the 37 thousands and leaves 0.4 labels unused")])
def test_up_to_57_labels_no_cap_binds(places, spread, budget, said):
    settle(places, Labels_M=budget)
    assert (budget * spread / spread.sum() > SIZE).any() == (budget == 58)
    assert heading(places) == f"{budget} labels: {said}"


def test_random_sampling_expects_two_thousands(places):
    assert "2.1 of 37 thousands" in settle(places, Method="random")
    assert heading(places) == "100 labels: SE 47,149 by random sampling, 8.1 times capped Neyman's"


@pytest.mark.parametrize("method", [value for _, value in live.METHODS])
def test_every_method_and_budget_says_something_else(places, method):
    found = {settle(places, Method=method, Labels_M=budget) for budget in live.BUDGETS[::40]}
    assert len(found) == len(live.BUDGETS[::40]) and not status(places)


def test_budgets_go_one_by_one_where_it_matters():
    assert live.BUDGETS[0] == 20 and live.BUDGETS[-1] == 600 and set(range(20, 151)) <= set(live.BUDGETS)


# ---------------------------------------------------------------- one label at a time

def heap_greedy(spread, budget):
    """Give labels one by one from a heap, starting at one each."""
    given = [1] * 4
    heap = [(-s / math.sqrt(2), h) for h, s in enumerate(spread)]
    heapq.heapify(heap)
    while sum(given) < budget:
        _, h = heapq.heappop(heap)
        given[h] += 1
        if given[h] < SIZE[h]:
            heapq.heappush(heap, (-spread[h] / math.sqrt(given[h] * (given[h] + 1)), h))
    return given


@pytest.mark.parametrize("budget", [20, 57, 100, 150, 600])
def test_one_by_one_ends_at_the_optimum(spread, budget):
    panel = live.one_label_at_a_time()
    settle(panel, Labels_M=budget)
    controls(panel)["Give all M"].click()
    given = [row["labels"] for row in rows(panel, "places")]
    sd = spread / SIZE
    assert given == heap_greedy(spread, budget)
    assert given == wb.allocate(SIZE, budget, "voila", stratum_sd=sd, minimum=1).labeled.tolist()
    assert heading(panel) == (f"All {budget} labels are given: {' + '.join(map(str, given))}, exactly the optimum")
    assert f"Standard error of the total {total_error(spread, given):,.0f}." in panel.view.alternative


def test_each_press_gives_labels_where_the_priority_is_largest(spread):
    panel = live.one_label_at_a_time()
    found = controls(panel)
    before, given = panel.view.alternative, [1] * 4
    assert heading_of_start(panel) == before
    for step in range(1, 20):
        priority = [s / math.sqrt(k * (k + 1)) for s, k in zip(spread, given, strict=True)]
        assert [row["priority"] for row in rows(panel, "places")] == pytest.approx(priority)
        given[int(np.argmax(priority))] += 1
        found["Next label"].click()
        assert [row["labels"] for row in rows(panel, "places")] == given and sum(given) == 4 + step
    found["Next ten"].click()
    assert [row["labels"] for row in rows(panel, "places")] == heap_greedy(spread, 33)
    assert panel.view.alternative != before
    found["Start again"].click()
    assert panel.view.alternative == before and heading(panel).startswith("Label 5 of 100 goes to the thousands")


def heading_of_start(panel):
    assert [row["labels"] for row in rows(panel, "places")] == [1] * 4
    assert [row["turn"] for row in rows(panel, "places")] == ["waits"] * 3 + ["gets the next label"]
    return panel.view.alternative


def test_no_label_beyond_the_budget():
    panel = live.one_label_at_a_time()
    settle(panel, Labels_M=20)
    found = controls(panel)
    for _ in range(3):
        found["Next ten"].click()
    assert sum(row["labels"] for row in rows(panel, "places")) == 20
    assert all(found[name].disabled for name in ("Next label", "Next ten", "Give all M"))
    assert {row["turn"] for row in rows(panel, "places")} == {"waits"}
    settle(panel, Labels_M=21)
    assert not found["Next label"].disabled and heading(panel).startswith("Label 5 of 21")


# ---------------------------------------------------------------- the stream

@pytest.fixture
def stream():
    return live.watch_stream()


def followed(rule, seed, minimum, budget=100, last=()):
    place, error = register_errors()
    return simulate_stream(place, error, budget, methods=[rule], order="random", last=last, every=20, runs=1,
                           minimum=minimum, rng=seed, progress=False)


def test_the_printed_rule_loses_the_thousands(stream):
    study = followed("s_voila_printed", 1, 0)
    held, sd = study.sampled["s_voila_printed"][0], study.stratum_sd[0]
    infinite = ((held == 0) & (sd > 0)).any(1)
    assert 0 < infinite.sum() < infinite.size == 90
    assert heading(stream) == (f"S-VOILA as printed: variance infinite at {infinite.sum()} of 90 checkpoints "
                               f"({infinite.mean():.0%})")
    assert [row["records"] for row in rows(stream, "infinite")] == study.checkpoint[infinite].tolist()
    assert [row["ratio"] is None for row in rows(stream, "ratios")] == infinite.tolist()


def test_a_larger_floor_costs_little_and_insures(stream):
    settle(stream, Rule="s_voila")
    assert heading(stream).startswith("S-VOILA, 2 of each kept: never infinite, variance at most ")
    two = max(row["ratio"] for row in rows(stream, "ratios"))
    settle(stream, Keep_of_each_at_least=15)
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
    seen = {row["records"] for row in rows(stream, "areas") if row["stratum"] == "thousands" and row["sampled"]}
    assert seen == {1780, 1797}


def test_every_control_changes_what_is_said(stream):
    said = [stream.view.alternative]
    for name, value in (("Stream", 7), ("Rule", "s_voila"), ("Keep of each at least", 10), ("Order", "late"),
                        ("Records kept M", 250), ("Records seen", 400), ("Records seen", 20)):
        said.append(settle(stream, **{name: value}))
    assert len(set(said)) == len(said)
    assert "the sample of 250 holds" in said[5] and said[-1].startswith("After 20 records")
    assert heading(stream) == "S-VOILA, 10 of each kept: variance as small as VOILA's so far"


def test_a_floor_that_does_not_fit_is_said(stream):
    before = settle(stream, Rule="s_voila", Keep_of_each_at_least=20)
    settle(stream, Records_kept_M=40)
    assert "Records kept M must be at least 80, 20 for each of 4 strata; got 40" in status(stream)
    assert stream.view.alternative == before
    settle(stream, Keep_of_each_at_least=10)
    assert status(stream) == "" and stream.view.alternative != before


def test_the_floor_can_be_moved_where_it_matters(stream):
    floor = controls(stream)["Keep of each at least"]
    assert floor.disabled
    settle(stream, Rule="s_voila")
    assert not floor.disabled


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
    settle(jumps, Sd_after_the_jump=20)
    held = {name: [row["sampled"] for row in rows(jumps, "sizes") if row["method"] == name]
            for name in ("VOILA", "S-VOILA", "uniform")}
    assert len(held["VOILA"]) == 50 and held["VOILA"][12] > 2 * held["S-VOILA"][12]
    assert held["VOILA"][-1] > held["S-VOILA"][-1] > 4 * held["uniform"][-1] == 20
    assert heading(jumps).startswith("Variance after 5,000 records, VOILA's = 1: S-VOILA 1.")


def test_without_a_jump_all_methods_are_alike(jumps):
    settle(jumps, Sd_after_the_jump=1)
    last = [row["variance"] for row in rows(jumps, "variances") if row["records"] == 5000]
    assert len(last) == 6 and max(last) < 1.05 * min(last)


@pytest.mark.parametrize("sd", live.JUMPS)
def test_each_jump_is_the_stream_of_that_jump(jumps, sd):
    settle(jumps, Sd_after_the_jump=sd)
    _, value = jump_stream(5000, jump_at=1000, sd=float(sd), runs=2)
    reservoir = [row["variance"] for row in rows(jumps, "variances") if row["method"] == "reservoir"][-1]
    assert reservoir == pytest.approx(np.mean([(1 / 100 - 1 / 5000) * v.var(ddof=1) for v in value]))


def test_only_the_chosen_methods_are_drawn(jumps):
    said = settle(jumps, Methods=("s_voila", "uniform"))
    assert {row["method"] for row in rows(jumps, "sizes")} == {"S-VOILA", "uniform"} and "reservoir" not in said
    settle(jumps, Methods=())
    assert "Methods must name at least one; choose several with Ctrl or Shift" in status(jumps)
    settle(jumps, Methods=("voila",))
    assert status(jumps) == "" and heading(jumps).startswith("VOILA with hindsight: ")


# ---------------------------------------------------------------- prediction, browser

def test_prediction_tells_what_allocation_finds():
    asked = live.predict_thousands()
    assert repr(asked) == "Prediction: Of 100 labels, how many should go to the 37 thousands?"
    choice, lock, told = asked.children[1:]
    assert choice.options == ("2", "25", "37", "64")
    choice.value = "64"
    lock.click()
    assert ("All 37. In proportion to their number they would get 2, in equal shares 25. Neyman&#x27;s formula asks "
            "for 64") in told.value
