import heapq
import itertools
import math
import tracemalloc

import numpy as np
import pytest
from oracles import allocations, enumeration
from refusals import refused
from scipy import optimize

from workbench.allocation import rules
from workbench.allocation.reductions import smaller_sample
from workbench.allocation.rules import (
    METHODS,
    Allocation,
    allocate,
    allocation_variance,
    reduce_sample,
)
from workbench.course.digit_forms import digit_forms
from workbench.results import Note

SPENDING = ("proportional", "equal", "neyman_plus", "neyman_iterated", "voila")


def tiny_cases(count, seed):
    rng = np.random.default_rng(seed)
    while count:
        n_strata = int(rng.integers(1, 5))
        size = rng.integers(1, 9, n_strata)
        sd = np.round(
            rng.choice([0, 0.1, 0.3, 0.5, 1, 7], n_strata) * rng.choice([1, rng.random()]), 3
        )
        minimum = int(rng.integers(0, 4))
        least = max(int(np.minimum(minimum, size).sum()), 1)
        if least <= size.sum() + 2:
            yield size.tolist(), sd.tolist(), int(rng.integers(least, size.sum() + 3)), minimum
            count -= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_voila_is_the_best_whole_allocation_of_all(seed):
    """800 cases each: floors, caps, strata without spread, more budget than items."""
    for size, sd, budget, minimum in tiny_cases(800, seed):
        found = allocate(size, budget, "voila", stratum_sd=sd, minimum=minimum)
        assert found.labeled.sum() == min(budget, sum(size))
        assert (np.minimum(minimum, size) <= found.labeled).all() and (found.labeled <= size).all()
        best = allocations.best_whole(size, sd, budget, minimum)
        mine = allocations.variance(size, sd, found.labeled.tolist())
        assert mine == pytest.approx(best, rel=1e-12, abs=1e-15)
        assert found.variance == pytest.approx(best, rel=1e-9, abs=1e-15)


def test_the_last_label_goes_to_one_of_the_tied_strata_and_to_no_other():
    """Worths of the next label: 9/sqrt(2) and, twice, 17.3/sqrt(6)."""
    found = allocate([10, 10, 10], 6, stratum_sd=[0.9, 1.73, 1.73], minimum=1)
    assert sorted(found.labeled.tolist()[1:]) == [2, 3] and found.labeled[0] == 1
    assert allocations.variance([10] * 3, [0.9, 1.73, 1.73], found.labeled) == pytest.approx(
        allocations.best_whole([10] * 3, [0.9, 1.73, 1.73], 6, 1)
    )


@pytest.mark.parametrize("method", METHODS)
def test_floors_caps_and_budget_are_kept(method):
    for size, sd, budget, minimum in tiny_cases(300, 77):
        for integer in (True, False):
            found = allocate(size, budget, method, stratum_sd=sd, minimum=minimum, integer=integer)
            n = found.labeled
            assert (n >= np.minimum(minimum, size) - 1e-9).all() and (
                n <= np.array(size) + 1e-9
            ).all()
            assert n.sum() + found.unused == pytest.approx(budget, abs=1e-7)
            assert (n.dtype.kind == "i") is integer
            if method != "neyman":
                assert n.sum() == pytest.approx(min(budget, sum(size)), abs=1e-7)
            assert found.bounded.tolist() == (n >= np.array(size)).tolist()
            if integer:
                assert type(found.unused) is int


def test_neymans_unused_is_what_the_caps_left():
    for size, sd, budget, _ in tiny_cases(300, 5):
        if not any(sd) or budget > sum(size):
            continue
        found = allocate(size, budget, "neyman", stratum_sd=sd, minimum=0, integer=False)
        expected = [
            min(share, n)
            for share, n in zip(allocations.neyman(size, sd, budget), size, strict=True)
        ]
        assert found.labeled == pytest.approx(expected, abs=1e-7)
        assert found.unused == pytest.approx(budget - sum(expected), abs=1e-7)


def test_neyman_plus_is_the_literal_loop():
    for size, sd, budget, _ in tiny_cases(400, 6):
        if not any(sd) or budget > sum(size):
            continue
        found = allocate(size, budget, "neyman_plus", stratum_sd=sd, minimum=0, integer=False)
        assert found.labeled == pytest.approx(allocations.neyman_plus(size, sd, budget), abs=1e-6)
        rounded = allocate(size, budget, "neyman_plus", stratum_sd=sd, minimum=0).labeled
        assert (np.abs(rounded - found.labeled) < 1 + 1e-6).all()


def test_iterated_neyman_is_the_literal_loop_and_in_real_numbers_the_optimum():
    for size, sd, budget, minimum in tiny_cases(600, 8):
        if not all(sd) or budget > sum(size):
            continue
        found, best = (
            allocate(size, budget, method, stratum_sd=sd, minimum=minimum, integer=False)
            for method in ("neyman_iterated", "voila")
        )
        assert found.labeled == pytest.approx(
            allocations.neyman_iterated(size, sd, budget, minimum), abs=1e-7
        )
        assert found.labeled == pytest.approx(best.labeled, abs=1e-9)


def test_whole_numbers_are_all_that_voila_adds_to_iterated_neyman():
    worse = 0
    for size, sd, budget, minimum in tiny_cases(600, 9):
        found, best = (
            allocate(size, budget, method, stratum_sd=sd, minimum=minimum)
            for method in ("neyman_iterated", "voila")
        )
        real = allocate(
            size, budget, "voila", stratum_sd=sd, minimum=minimum, integer=False
        ).labeled
        assert (
            np.abs(found.labeled - real) < 1 + 1e-6
        ).all() and found.variance >= best.variance * (1 - 1e-12)
        worse += found.variance > best.variance * (1 + 1e-9)
    assert 0 < worse < 600


def test_the_textbooks_rule_in_the_register():
    """By hand: 37 thousands whole, the other 63 as 1,009 : 6,008 : 14,024 of N S."""
    strata = digit_forms().register()
    spread = strata.size * strata.sd
    by_hand = [*(63 * spread[:3] / spread[:3].sum()), 37]
    real = allocate(
        strata.size, 100, "neyman_iterated", stratum_sd=strata.sd, minimum=0, integer=False
    )
    assert real.labeled == pytest.approx(by_hand)
    for budget, labeled in ((100, [3, 18, 42, 37]), (150, [6, 32, 75, 37])):
        assert (
            allocate(strata.size, budget, "neyman_iterated", stratum_sd=strata.sd).labeled.tolist()
            == labeled
        )


@pytest.mark.parametrize("seed", range(3))
def test_the_real_valued_voila_is_the_constrained_optimum(seed):
    """scipy's SLSQP from several starts finds nothing better, and no pair of strata gains by trading."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n_strata = int(rng.integers(2, 6))
        size = rng.integers(5, 200, n_strata)
        sd = rng.choice([0.1, 0.3, 0.5, 2, 9], n_strata)
        budget = int(rng.integers(2 * n_strata, size.sum()))
        found = allocate(size, budget, stratum_sd=sd, integer=False)
        floor, weight = np.minimum(2.0, size), size / size.sum()

        def variance(n, weight=weight, sd=sd, size=size):
            return (weight**2 * sd**2 * (1 / n - 1 / size)).sum()

        start = floor + (size - floor) * (budget - floor.sum()) / (size.sum() - floor.sum())
        scale = variance(start) or 1
        best = optimize.minimize(
            lambda n, scale=scale: variance(n) / scale,
            start,
            method="SLSQP",
            bounds=list(zip(floor, size, strict=True)),
            options={"ftol": 1e-14, "maxiter": 500},
            constraints={"type": "eq", "fun": lambda n, b=budget: n.sum() - b},
        )
        assert variance(found.labeled) <= best.fun * scale * (1 + 1e-6) + 1e-12
        assert found.variance == pytest.approx(variance(found.labeled), abs=1e-12)


def test_proportional_and_equal_shares():
    assert allocate([100, 300], 40, "proportional").labeled.tolist() == [10, 30]
    assert allocate([100, 300], 40, "equal").labeled.tolist() == [20, 20]
    # 37 of 1797 are 2.06 of 100; largest remainders of 55.65, 33.39, 8.90, 2.06
    assert allocate([1000, 600, 160, 37], 100, "proportional").labeled.tolist() == [56, 33, 9, 2]
    # 10 are cut at 4, the other 6 are shared by two
    assert allocate([4, 50, 50], 30, "equal").labeled.tolist() == [4, 13, 13]
    assert allocate([4, 6, 50], 30, "proportional", integer=False).labeled == pytest.approx(
        [2, 3, 25]
    )
    for size in itertools.product([5, 11, 40], repeat=3):
        for budget in range(6, 16):
            real = budget * np.array(size) / sum(size)
            if real.min() >= 2:
                found = allocate(size, budget, "proportional").labeled
                assert (np.abs(found - real) < 1).all()


def test_the_example_with_a_small_and_a_very_varied_stratum():
    """N = 10, 100, 1000 and S = 50, 5, 1: N S = 500, 500, 1000; 60 labels."""
    size, sd = [10, 100, 1000], [50, 5, 1]
    plain = allocate(size, 60, "neyman", stratum_sd=sd)
    assert plain.labeled.tolist() == [10, 15, 30] and plain.unused == 5
    assert plain.bounded.tolist() == [True, False, False]
    assert allocate(size, 60, "neyman_plus", stratum_sd=sd, integer=False).labeled == pytest.approx(
        [10, 17.5, 32.5]
    )
    best = allocate(size, 60, "voila", stratum_sd=sd)
    assert best.labeled.tolist() == [10, 17, 33] and best.unused == 0
    assert allocate(size, 60, "voila", stratum_sd=sd, integer=False).labeled == pytest.approx(
        [10, 50 / 3, 100 / 3]
    )


def test_a_hundred_labels_for_the_digits_in_five_strata():
    """With the true spreads of 209, 307, 346, 355, 359 right of 360, 359, 360, 359, 359."""
    size, right = np.array([360, 359, 360, 359, 359]), np.array([209, 307, 346, 355, 359])
    sd = np.sqrt(size / (size - 1) * right / size * (1 - right / size))
    found = allocate(size, 100, "neyman", stratum_sd=sd)
    assert found.labeled.tolist() == [42, 30, 17, 9, 2]
    assert math.sqrt(found.variance) == pytest.approx(0.0221, abs=5e-5)
    assert math.sqrt(allocate(size, 100, "proportional", stratum_sd=sd).variance) == pytest.approx(
        0.0281, abs=5e-5
    )
    assert math.sqrt(
        allocation_variance([1797], [np.std([1] * 1576 + [0] * 221, ddof=1)], [100])
    ) == pytest.approx(0.0319, abs=5e-5)


def test_a_hundred_labels_for_the_places_of_the_digits():
    """Errors of the register total: the value 10^place of a digit times the digit misread."""
    forms = digit_forms()
    error = (forms.read_a - forms.digit) * 10.0**forms.place
    size = np.bincount(forms.place)
    sd = np.array([error[forms.place == h].std(ddof=1) for h in range(4)])
    total = size.sum()
    assert error.sum() == -14_692

    def se(found):
        return total * math.sqrt(found.variance)

    plain = allocate(size, 100, "neyman", stratum_sd=sd, minimum=0)
    assert allocations.neyman(size, sd, 100)[3] == pytest.approx(64, abs=0.5)
    assert plain.labeled[3] == 37 and plain.unused == 27
    best = allocate(size, 100, "voila", stratum_sd=sd)
    assert best.labeled.tolist() == [3, 18, 42, 37]
    assert [
        round(se(found))
        for found in (
            best,
            allocate(size, 100, "neyman", stratum_sd=sd, minimum=0, integer=False),
            allocate(size, 100, "neyman_plus", stratum_sd=sd, minimum=0),
            allocate(size, 100, "equal", stratum_sd=sd),
        )
    ] == [4148, 5789, 4470, 8997]

    def real(method, budget):
        return se(allocate(size, budget, method, stratum_sd=sd, minimum=0, integer=False))

    assert real("equal", 140) > real("neyman", 140) and real("equal", 141) < real("neyman", 141)
    assert (round(real("equal", 150)), round(real("neyman", 150))) == (3840, 4588)
    assert round(se(allocate(size, 150, stratum_sd=sd))) == 2808
    real_shares = {
        m: allocate(size, m, "neyman", stratum_sd=sd, minimum=0, integer=False)
        for m in range(4, 70)
    }
    assert [m for m, found in real_shares.items() if found.bounded.any()] == list(range(58, 70))
    assert (
        round(total * math.sqrt(allocation_variance([total], [error.std(ddof=1)], [100]))) == 47_149
    )


@pytest.mark.parametrize(
    "size, right, labeled",
    [([5], [3], [2]), ([4, 5], [1, 3], [2, 4]), ([3, 3, 4], [1, 2, 4], [2, 1, 2])],
)
def test_the_variance_is_that_of_every_sample(size, right, labeled):
    means = [
        enumeration.weighted_mean(size, labeled, x)
        for x in enumeration.samples_without(size, right, labeled)
    ]
    sd = [np.std(stratum, ddof=1) for stratum in enumeration.items(size, right)]
    assert allocation_variance(size, sd, labeled) == pytest.approx(np.var(means), abs=1e-12)


def test_the_variance_without_labels_is_infinite_unless_nothing_varies():
    assert allocation_variance([5, 5], [0.5, 0], [0, 2]) == math.inf
    assert allocation_variance([5, 5], [0, 0.5], [0, 5]) == 0
    assert math.isnan(allocate([5, 5], 6, "equal").variance)
    assert allocate([5, 5], 2, "voila", stratum_sd=[0.5, 0.5], minimum=0).labeled.tolist() == [1, 1]


def test_more_budget_than_items_is_a_census_and_says_so():
    for method in METHODS:
        found = allocate([4, 6], 15, method, stratum_sd=[0.5, 0.1])
        assert found.labeled.tolist() == [4, 6] and found.unused == 5
        assert found.notes == (
            Note("design", "the budget of 15 exceeds the 10 items: all are labeled"),
        )
    assert (
        allocate([1], 2, "equal").notes[0].text
        == "the budget of 2 exceeds the 1 item: all are labeled"
    )


def test_without_any_spread_shares_are_proportional_and_it_says_so():
    for method in ("neyman", "neyman_plus", "neyman_iterated", "voila"):
        found = allocate([100, 300], 40, method, stratum_sd=[0, 0])
        assert found.labeled.tolist() == [10, 30] and found.variance == 0
        assert found.notes == (Note("data", "no stratum varies: allocated in proportion to size"),)


@pytest.mark.parametrize(
    ("size", "budget", "argument", "rule", "told"),
    [
        ([1, 5, 9], 4, "budget", "must be at least 5, 2 for each of 3 strata", "got 4"),
        ([9], 1, "budget", "must be at least 2, 2 for each of 1 stratum", "got 1"),
        ([5], 0, "budget", "must be a whole number of at least 1", "got 0"),
        ([5], 2.5, "budget", "must be a whole number of at least 1", "got 2.5"),
        ([5, 0], 5, "stratum_size", "must be at least 1", "stratum 1 is 0"),
        ([5.5], 5, "stratum_size", "must be a whole number", "stratum 0 is 5.5"),
        ([], 5, "stratum_size", "must not be empty", ""),
    ],
)
def test_the_exact_errors_of_size_and_budget(size, budget, argument, rule, told):
    refused(lambda: allocate(size, budget, "equal"), argument, rule, told)


def test_a_floor_of_zero_does_not_allow_a_budget_of_zero():
    rule = "must be a whole number of at least 1"
    refused(lambda: allocate([5], 0, "equal", minimum=0), "budget", rule, "got 0")


@pytest.mark.parametrize(
    ("options", "argument", "rule", "told"),
    [
        (
            {"method": "voila"},
            "stratum_sd",
            "must be given for method 'voila'; 'proportional' and",
            "",
        ),
        (
            {"method": "neyman"},
            "stratum_sd",
            "must be given for method 'neyman'; 'proportional' and",
            "",
        ),
        ({"stratum_sd": [1, -0.5]}, "stratum_sd", "must be at least 0", "stratum 1 is -0.5"),
        ({"stratum_sd": [math.nan, 1]}, "stratum_sd", "must be finite", "stratum 0 is nan"),
        ({"stratum_sd": [1, 1, 1]}, "stratum_sd", "must have 2 entries", "got 3"),
        ({"stratum_sd": [1, 1e151]}, "stratum_sd", "must be at most 1e+150", "stratum 1 is 1e+151"),
        ({"minimum": -1}, "minimum", "must be a whole number of at least 0", "got -1"),
        (
            {"method": "neymann"},
            "method",
            "must be one of 'proportional', 'equ",
            "got 'neymann' (did y",
        ),
    ],
)
def test_the_exact_errors_of_options(options, argument, rule, told):
    refused(lambda: allocate([5, 5], 5, **options), argument, rule, told)


@pytest.mark.parametrize(
    ("args", "argument", "rule", "told"),
    [
        (([5, 5], [1, 1], [1, 6]), "labeled", "must be at most stratum_si", "stratum 1 has 6 of 5"),
        (([5, 5], [1, 1], [-1, 5]), "labeled", "must be at least 0", "stratum 0 is -1"),
        (([5, 5], [1], [1, 5]), "stratum_sd", "must have 2 entries", "got 1"),
    ],
)
def test_the_exact_errors_of_the_variance(args, argument, rule, told):
    refused(lambda: allocation_variance(*args), argument, rule, told)


def test_a_result_states_its_finding():
    found = allocate([100, 100], 30, "neyman", stratum_sd=[0.5, 0.1])
    assert repr(found) == "Allocation(neyman: 25 + 5 of 200, SE 0.04848)"
    assert found.variance == pytest.approx(0.25 * (0.75 * 0.25 / 25 + 0.95 * 0.01 / 5))
    assert found.rows() == [
        {"stratum": 1, "size": 100, "labeled": 25, "bounded": False},
        {"stratum": 2, "size": 100, "labeled": 5, "bounded": False},
    ]


def test_largest_remainders():
    """Hamilton's rule on 10 seats of 3.6, 3.3, 3.1 gives 4, 3, 3; caps and floors bind first."""
    assert rules.round_to_total([3.6, 3.3, 3.1], 10, 0, 99).tolist() == [4, 3, 3]
    assert rules.round_to_total([2.5, 2.5], 5, 0, 9).tolist() == [3, 2]
    assert rules.round_to_total([[1.2, 1.8], [2, 1]], np.array([3, 3]), 0, 9).tolist() == [
        [1, 2],
        [2, 1],
    ]


# the whole-number optimum, large


def greedy(size, sd, floor, cap, budget):
    """Give one label after the other to the stratum whose variance falls most: a heap of exact gains."""
    spread, n = (size * sd).tolist(), floor.tolist()

    def gain(h):
        return -math.inf if n[h] == 0 else -(spread[h] ** 2) / (n[h] * (n[h] + 1))

    heap = [(gain(h), h) for h in range(len(n)) if n[h] < cap[h] and spread[h] > 0]
    heapq.heapify(heap)
    for _ in range(budget - sum(n)):
        h = heap[0][1]
        n[h] += 1
        if n[h] < cap[h]:
            heapq.heapreplace(heap, (gain(h), h))
        else:
            heapq.heappop(heap)
    return n


def greedy_removal(size, sd, floor, budget):
    """Start from everything and take away what costs least, one by one."""
    spread, n = (size * sd).tolist(), size.tolist()

    def cost(h):
        return (math.inf if spread[h] else 0) if n[h] == 1 else spread[h] ** 2 / (n[h] * (n[h] - 1))

    heap = [(cost(h), h) for h in range(len(n)) if n[h] > floor[h]]
    heapq.heapify(heap)
    for _ in range(sum(n) - budget):
        h = heap[0][1]
        n[h] -= 1
        if n[h] > floor[h]:
            heapq.heapreplace(heap, (cost(h), h))
        else:
            heapq.heappop(heap)
    return n


def heavy(n_strata, seed, tail=2.0):
    rng = np.random.default_rng(seed)
    return np.ceil(rng.lognormal(3, tail, n_strata)).astype(int), rng.lognormal(0, 1.5, n_strata)


@pytest.mark.slow
@pytest.mark.parametrize(
    "minimum, share, n_strata", [(0, 0.1, 3000), (1, 0.5, 3000), (2, 0.05, 20_000), (7, 0.9, 2000)]
)
def test_the_whole_number_optimum_is_what_a_heap_buys_one_by_one(minimum, share, n_strata):
    size, sd = heavy(n_strata, minimum)
    floor = np.minimum(minimum, size)
    budget = max(int(share * size.sum()), int(floor.sum()) + n_strata)
    found = allocate(size, budget, stratum_sd=sd, minimum=minimum)
    assert found.labeled.tolist() == greedy(size, sd, floor, size, budget)
    assert found.labeled.sum() == budget
    if minimum:
        assert found.labeled.tolist() == greedy_removal(size, sd, floor, budget)


LARGE = {
    "heavy tails": (*heavy(140_000, 4), 0.1, 2),
    "ties": (np.full(140_000, 20), np.ones(140_000), 0.33, 2),
    "every other does not vary": (
        *(heavy(140_000, 5) * np.array([np.ones(140_000), np.arange(140_000) % 2])),
        0.1,
        2,
    ),
    "nearly all capped": (*heavy(140_000, 6), 0.97, 2),
    "few capped": (np.full(140_000, 30), np.where(np.arange(140_000) % 1000, 1.0, 1e9), 0.3, 0),
    "most at the floor": (
        np.full(140_000, 12),
        np.where(np.arange(140_000) < 70_000, 1e-9, 1.0),
        0.5,
        5,
    ),
    "sizes sorted": (np.sort(heavy(140_000, 7)[0]), np.ones(140_000), 0.05, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_so_many_strata_that_the_first_level_comes_from_a_few(name):
    """No label taken from one stratum is worth more in another: every optimum of a separable convex sum."""
    size, sd, share, minimum = LARGE[name]
    size = size.astype(int)
    floor, budget = np.minimum(minimum, size), int(share * size.sum())
    n = allocate(size, budget, stratum_sd=sd, minimum=minimum).labeled
    assert n.sum() == budget and (n >= floor).all() and (n <= size).all()
    spread = size * sd
    assert size.size >= 4 * rules.BLOCK and (n[spread > 0] > 0).all()
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(n > floor, spread / np.sqrt(n * (n - 1.0)), np.inf)
    gained = np.where(n < size, spread / np.sqrt(n * (n + 1.0)), 0)
    assert gained[spread > 0].max() <= lost[spread > 0].min() * (1 + 1e-12)
    real = allocate(size, budget, stratum_sd=sd, minimum=minimum, integer=False)
    assert optimality_gap(size, sd, real, size, minimum) < 1e-9
    assert real.labeled.sum() == pytest.approx(budget, rel=1e-12)


def test_what_is_given_is_neither_changed_nor_kept():
    """Arrays of the right type are checked and read in place."""
    size, sd = heavy(50, 10)
    before = size.copy(), sd.copy()
    found = [allocate(size, 300, stratum_sd=sd, integer=integer) for integer in (True, False)]
    found += [reduce_sample(size, sd, size, budget) for budget in (300, int(size.sum()))]
    assert (size == before[0]).all() and (sd == before[1]).all()
    size[:], sd[:] = 1, 0
    for one in found:
        assert (one.stratum_size == before[0]).all() and (one.stratum_sd == before[1]).all()
    assert found[3].labeled.tolist() == before[0].tolist()


@pytest.mark.parametrize("minimum", [0, 1, 3])
@pytest.mark.parametrize("more", [0, 1, 7])
def test_budgets_next_to_the_floor_and_to_everything(more, minimum):
    """Spreads over 300 decades: the level that leaves all at the floor is far away."""
    rng = np.random.default_rng(more)
    size, sd = np.ceil(rng.lognormal(2, 1, 60)).astype(int), 10.0 ** rng.uniform(-150, 150, 60)
    floor = np.minimum(minimum, size)
    for budget in (max(int(floor.sum()), 60) + more, int(size.sum()) - more):
        found = allocate(size, budget, stratum_sd=sd, minimum=minimum).labeled
        assert found.tolist() == greedy(size, sd, floor, size, budget)


@pytest.mark.parametrize("seed", range(3))
def test_a_reduced_sample_is_the_best_of_all_reductions(seed):
    """1,000 random tiny cases against every reduction: any current sizes, floors, zero spreads."""
    rng = np.random.default_rng(100 + seed)
    done = 0
    while done < 350:
        n_strata = int(rng.integers(1, 5))
        size = rng.integers(1, 9, n_strata)
        current, minimum = rng.integers(0, size + 1), int(rng.integers(0, 4))
        sd = np.round(rng.choice([0, 0.1, 0.5, 1, 7], n_strata) * rng.choice([1, rng.random()]), 3)
        floor = np.minimum(minimum, current)
        least = max(int(floor.sum()), 1)
        if least > current.sum():
            continue
        budget = int(rng.integers(least, current.sum() + 1))
        found = reduce_sample(size, sd, current, budget, minimum=minimum)
        assert found.labeled.sum() == budget and found.unused == 0
        assert (floor <= found.labeled).all() and (found.labeled <= current).all()
        assert found.bounded.tolist() == (found.labeled == current).tolist()
        ranges = [range(f, c + 1) for f, c in zip(floor, current, strict=True)]
        best = min(
            allocations.variance(size, sd, n)
            for n in itertools.product(*ranges)
            if sum(n) == budget
        )
        assert found.variance == pytest.approx(best, rel=1e-9, abs=1e-15)
        done += 1


def test_a_reduction_of_everything_is_the_allocation():
    size, sd = heavy(500, 8)
    for integer in (True, False):
        whole = allocate(size, 4000, stratum_sd=sd, integer=integer)
        assert (
            reduce_sample(size, sd, size, 4000, integer=integer).labeled.tolist()
            == whole.labeled.tolist()
        )


def test_ever_smaller_reductions_end_where_one_reduction_ends():
    """Greedy removal has the optimum at every size, so stopping on the way changes nothing."""
    size, sd = heavy(300, 9)
    current = size
    for budget in range(6000, 1500, -500):
        current = reduce_sample(size, sd, current, budget).labeled
        assert current.tolist() == allocate(size, budget, stratum_sd=sd).labeled.tolist()


# the real-valued optimum


def optimality_gap(size, sd, found, cap, minimum):
    """Largest relative violation of n_h = clip(t N_h S_h, floor_h, cap_h) for the t of the free strata."""
    n, spread, floor = found.labeled, size * sd, np.minimum(minimum, cap)
    free = (n > floor * (1 + 1e-12)) & (n < cap * (1 - 1e-12)) & (spread > 0)
    if not free.any():
        return 0.0
    level = n[free] / spread[free]
    t = np.median(level)
    return max(
        np.abs(level / t - 1).max(),
        np.abs(np.clip(t * spread, floor, cap) / np.maximum(n, 1e-300) - 1)[(spread > 0)].max(),
    )


def creeping(n_strata):
    """Spreads, caps and a budget that a fixed point fills one stratum at a time: each cap just below its share."""
    spread, level, caps = 0.5 ** np.arange(n_strata), 1.0, []
    for h in range(n_strata):
        caps.append(level * spread[h] * (1 - 1 / (h + 10)))
        level *= 1 + 1 / (h + 10)
    caps[-1] *= 10
    return spread, np.array(caps), 2 - 0.5 ** (n_strata - 1)


ADVERSARIAL = {
    "ties": (np.full(2000, 50), np.ones(2000), 31_234, 2),
    "zeros": (
        np.full(2000, 50),
        np.where(np.arange(2000) % 3, 0.0, np.arange(2000) + 1.0),
        20_000,
        2,
    ),
    "huge floor": (*heavy(2000, 1), 30_000, 12),
    "all but a few at the floor": (
        np.full(2000, 100),
        np.where(np.arange(2000) < 3, 1e9, 1e-9),
        4200,
        2,
    ),
    "few capped": (np.r_[5, np.full(1999, 10_000)], np.r_[1e6, np.ones(1999)], 50_000, 0),
    "all but one capped": (np.r_[10**9, np.full(1999, 10)], np.r_[1e-12, np.ones(1999)], 30_000, 1),
    "wide range": (np.full(2000, 1000), 10.0 ** np.linspace(-150, 150, 2000), 500_000, 3),
    "large numbers": (np.full(50, 10**13), np.arange(1, 51) * 1e-7, 10**14 + 7, 2),
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_hard_cases_spend_exactly_and_stay_optimal(name):
    size, sd, budget, minimum = ADVERSARIAL[name]
    real = allocate(size, budget, stratum_sd=sd, minimum=minimum, integer=False)
    assert optimality_gap(size, sd, real, size, minimum) < 1e-9
    assert real.labeled.sum() == pytest.approx(budget, rel=1e-12)
    whole = allocate(size, budget, stratum_sd=sd, minimum=minimum)
    assert whole.labeled.sum() == budget and whole.unused == 0
    assert (np.abs(whole.labeled - real.labeled) <= 1 + 1e-3 * real.labeled)[
        sd > 0
    ].all() or name == "ties"
    assert whole.variance >= real.variance * (1 - 1e-12)
    if budget < 100_000:
        floor = np.minimum(minimum, size)
        expected = greedy(
            size, sd, floor, size, min(budget, int((floor * (sd == 0) + size * (sd > 0)).sum()))
        )
        assert whole.variance == pytest.approx(allocation_variance(size, sd, expected), rel=1e-9)


def test_few_passes_suffice(monkeypatch):
    """Also where a plain fixed point needs twenty."""
    passes = []
    counted = rules._filled
    monkeypatch.setattr(rules, "_filled", lambda *args: passes.append(1) or counted(*args))
    for name, (size, sd, budget, minimum) in ADVERSARIAL.items():
        passes.clear()
        allocate(size, budget, stratum_sd=sd, minimum=minimum, integer=False)
        assert 0 < len(passes) < 120, name
    spread, caps, total = creeping(40)
    free, left, rounds = np.ones(40, bool), total, 0
    while (over := free & (left / spread[free].sum() * spread > caps)).any():
        left, free, rounds = left - caps[over].sum(), free & ~over, rounds + 1
    assert rounds > 15
    passes.clear()
    found = rules.fill_one(spread, total, 0, caps)
    assert found == pytest.approx(
        np.where(free, left / spread[free].sum() * spread, caps), rel=1e-6
    )
    assert found.sum() == pytest.approx(total, rel=1e-12) and 0 < len(passes) < 15
    passes.clear()
    size, sd = heavy(100_000, 3)
    allocate(size, int(size.sum() // 10), stratum_sd=sd, integer=False)
    assert len(passes) < 15


def test_whole_numbers_need_one_correction_also_where_few_strata_are_free(monkeypatch):
    """Nearly everything is labeled: what is left over is large beside what the strata in between can take."""
    rng = np.random.default_rng(0)
    size, sd = np.ceil(rng.lognormal(5, 2, 10**6)).astype(int), rng.lognormal(0, 1.5, 10**6)
    solutions, bought = [], rules._bought
    monkeypatch.setattr(rules, "_bought", lambda *args: solutions.append(1) or bought(*args))
    found = allocate(size, int(0.95 * size.sum()), stratum_sd=sd)
    assert (
        len(solutions) == 2 and found.unused == 0 and found.labeled.sum() == int(0.95 * size.sum())
    )


def test_what_the_strata_can_hold_leaves_those_that_do_not_vary_at_the_floor():
    """Also where the floor exceeds the cap, which then decides."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        share, low, high = (
            rng.integers(0, 3, 20) / 2,
            rng.integers(0, 6, 20),
            rng.integers(0, 6, 20),
        )
        expected = sum(c if s else min(f, c) for s, f, c in zip(share, low, high, strict=True))
        assert rules._most(share, low, high).sum() == expected


@pytest.mark.slow
@pytest.mark.parametrize("minimum", [0, 2, 5])
def test_the_optimality_conditions_hold(minimum):
    for seed in range(40):
        size, sd = heavy(int(10 ** (1 + seed / 10)), seed)
        least = max(int(np.minimum(minimum, size).sum()), 1)
        budget = int(np.random.default_rng(seed).integers(least, size.sum()))
        found = allocate(size, budget, stratum_sd=sd, minimum=minimum, integer=False)
        assert optimality_gap(size, sd, found, size, minimum) < 1e-9
        assert found.labeled.sum() == pytest.approx(budget, rel=1e-12)
        current = np.random.default_rng(seed).integers(1, size + 1)
        budget = max(int(current.sum() // 3), int(np.minimum(minimum, current).sum()))
        found = reduce_sample(size, sd, current, budget, minimum=minimum, integer=False)
        assert optimality_gap(size, sd, found, current, minimum) < 1e-9


def test_a_convex_solver_finds_the_same_allocation():
    """scipy's interior point method on the scaled problem."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        size = rng.integers(5, 200, 5).astype(float)
        sd = rng.choice([0.3, 0.5, 2, 9], 5)
        budget = int(rng.integers(15, size.sum() - 5))
        spread = size * sd / (size * sd).sum()
        start = np.full(5, 2.0) + (size - 2) * (budget - 10) / (size.sum() - 10)
        solved = optimize.minimize(
            lambda n, a=spread: (a**2 / n).sum() * 100,
            start,
            method="trust-constr",
            jac=lambda n, a=spread: -100 * a**2 / n**2,
            hess=lambda n, a=spread: np.diag(200 * a**2 / n**3),
            bounds=optimize.Bounds(np.full(5, 2.0), size, keep_feasible=True),
            constraints=optimize.LinearConstraint(np.ones((1, 5)), budget, budget),
            options={"gtol": 1e-12, "xtol": 1e-13, "barrier_tol": 1e-12, "maxiter": 3000},
        )
        found = allocate(size, budget, stratum_sd=sd, integer=False)
        assert solved.x == pytest.approx(found.labeled, rel=2e-3, abs=2e-3)


# the paper's algorithms as printed, and where they fail


def printed_ssr(spread, current, target):
    """Algorithm 2: keep what is not oversized, recurse on the rest."""
    sizes, members = [None] * len(spread), list(range(len(spread)))
    while True:
        total = sum(spread[h] for h in members)
        share = {h: target * spread[h] / total for h in members}
        oversized = [h for h in members if current[h] > share[h]]
        for h in members:
            sizes[h] = share[h] if len(oversized) == len(members) else current[h]
        if len(oversized) == len(members):
            return sizes
        target -= sum(current[h] for h in members if h not in oversized)
        members = oversized


def printed_fast_ssr(spread, current, target):
    """Algorithm 3, lines 1 to 19; indices from 1 as printed."""
    r = len(spread)
    queue = sorted(
        ([h, spread[h], current[h] / spread[h]] for h in range(r)), key=lambda entry: entry[2]
    )
    queue = [None, *queue]
    for i in range(r - 1, 0, -1):
        queue[i][1] += queue[i + 1][1]
    left, total, sizes, i = target, queue[1][1], [None] * r, 1
    while i <= r:
        h = queue[i][0]
        if current[h] > target * spread[h] / total:
            break
        sizes[h] = current[h]
        left -= current[h]
        following = queue[i + 1][0]
        if current[following] > target * spread[following] / total:
            target, total = left, queue[i + 1][1]
        i += 1
    for j in range(i, r + 1):
        sizes[queue[j][0]] = target * spread[queue[j][0]] / total
    return sizes


def test_the_real_valued_solution_is_the_papers_where_its_algorithms_are_defined():
    rng = np.random.default_rng(11)
    for _ in range(300):
        n_strata = int(rng.integers(2, 9))
        size = rng.integers(1, 60, n_strata)
        sd, current = rng.lognormal(0, 1.5, n_strata), rng.integers(1, size + 1)
        target = int(rng.integers(1, current.sum())) if current.sum() > 1 else 1
        if target == current.sum():
            continue
        found = reduce_sample(size, sd, current, target, minimum=0, integer=False).labeled
        assert found == pytest.approx(printed_ssr(size * sd, current, target), rel=1e-9)
        assert found == pytest.approx(printed_fast_ssr(size * sd, current, target), rel=1e-9)


def test_where_the_printed_fast_algorithm_fails_ours_is_defined():
    size, sd = np.array([10, 20, 30]), np.array([3.0, 2.0, 1.0])
    with pytest.raises(IndexError):  # it looks at Q[r + 1]
        printed_fast_ssr(size * sd, size, 60)
    assert reduce_sample(size, sd, size, 60, minimum=0, integer=False).labeled.tolist() == [
        10,
        20,
        30,
    ]
    flat = np.array([3.0, 0.0, 1.0])
    with pytest.raises(ZeroDivisionError):
        printed_fast_ssr((size * flat).tolist(), size.tolist(), 50)
    # 40 items vary, 10 labels are left for the 20 that do not
    assert reduce_sample(size, flat, size, 50, minimum=0, integer=False).labeled.tolist() == [
        10,
        10,
        30,
    ]


def test_the_first_example_of_the_paper():
    """D = {1, 1000, 2, 4, 2, 1050, 1200, 1, 1300}, the total estimated: its figures are those with replacement."""
    low, high = np.array([1, 2, 4, 2, 1.0]), np.array([1000, 1050, 1200, 1300.0])
    every = np.concatenate([low, high])
    sums = [9 * np.mean(pair) for pair in itertools.combinations(every, 2)]
    random = 81 * allocation_variance([9], [every.std(ddof=1)], [2])
    assert random == pytest.approx(np.var(sums), rel=1e-12) and round(random / 1e7, 3) == 1.151
    assert round(81 * every.var() / 2 / 1e7, 3) == 1.315
    sd = [low.std(ddof=1), high.std(ddof=1)]

    def stratified(n):
        sums = [
            5 * np.mean(a) + 4 * np.mean(b)
            for a in itertools.combinations(low, n[0])
            for b in itertools.combinations(high, n[1])
        ]
        variance = 81 * allocation_variance([5, 4], sd, n)
        assert variance == pytest.approx(np.var(sums), rel=1e-12)
        return variance

    assert (
        f"{stratified([1, 1]):.3e}" == "2.275e+05" and round(random / stratified([1, 1]), 1) == 50.6
    )
    assert f"{stratified([1, 2]):.2e}" == "7.59e+04"
    assert allocate([5, 4], 3, stratum_sd=sd, minimum=1).labeled.tolist() == [1, 2]


def test_the_ten_strata_of_the_paper():
    """100 items of sd 100 and nine times 1,000 of sd 0.1; 1,000 labels."""
    size, sd = np.r_[100, np.full(9, 1000)], np.r_[100, np.full(9, 0.1)]
    shares = np.array(allocations.neyman(size, sd, 1000))
    assert shares[0] == pytest.approx(917.43, abs=0.005) and shares[1] == pytest.approx(
        9.17, abs=0.005
    )
    best = allocate(size, 1000, stratum_sd=sd, minimum=0)
    assert best.labeled.tolist() == [100] * 10 and best.bounded.tolist() == [True] + [False] * 9
    cut = allocate(size, 1000, "neyman", stratum_sd=sd, minimum=0, integer=False)
    assert cut.unused == pytest.approx(817.43, abs=0.005)
    assert cut.variance / best.variance == pytest.approx(12.0, abs=0.05)
    assert best.variance_ratio() == pytest.approx(1 / 12, rel=0.02)
    assert best.headline().endswith("below capped Neyman's")


def test_sd_with_ddof_0_understates_the_variance():
    """Theorem 5.3 of Cochran needs ddof=1: enumerated over every sample of two strata of three."""
    strata = [np.array([0, 0, 3.0]), np.array([1, 2, 9.0])]
    means = [
        (3 * np.mean(a) + 3 * np.mean(b)) / 6
        for a in itertools.combinations(strata[0], 2)
        for b in itertools.combinations(strata[1], 2)
    ]
    with_ddof = [
        allocation_variance([3, 3], [y.std(ddof=d) for y in strata], [2, 2]) for d in (0, 1)
    ]
    assert with_ddof[1] == pytest.approx(np.var(means), rel=1e-12)
    assert with_ddof[0] == pytest.approx(np.var(means) * 2 / 3, rel=1e-12)


def test_rounding_the_real_solution_is_not_optimal():
    """Largest remainders empty a stratum that varies, or lose a little; the whole-number optimum never does."""
    empty = worse = 0
    for size, sd, budget, _ in tiny_cases(1500, 21):
        varies = np.count_nonzero(sd)
        if not varies or not varies <= budget < sum(size):
            continue
        real = allocate(size, budget, stratum_sd=sd, minimum=0, integer=False).labeled
        rounded = rules.round_to_total(real, budget, 0, size)
        best = allocate(size, budget, stratum_sd=sd, minimum=0)
        after = allocation_variance(size, sd, rounded)
        assert after >= best.variance * (1 - 1e-12) and best.variance < math.inf
        empty += after == math.inf
        worse += best.variance * (1 + 1e-9) < after < math.inf
    assert empty > 100 and worse > 2


def test_the_derivative_picks_another_stratum_than_the_smallest_increase():
    """Lemma 1 takes the least N S / s; the least increase is the least N S / sqrt(s (s - 1))."""
    size, sd, current = [100, 100], [2.0, 3.02], [2, 3]
    spread = np.array(size) * sd
    lemma = int(np.argmin(spread / current))
    exact = int(np.argmin(spread / np.sqrt(np.array(current) * (np.array(current) - 1.0))))
    assert (lemma, exact) == (0, 1)
    found = reduce_sample(size, sd, current, 4, minimum=0)
    assert found.labeled.tolist() == [2, 2]
    assert found.variance < allocation_variance(size, sd, [1, 3])
    # and with a single record it empties the stratum
    assert np.argmin(np.array([100 * 0.5, 100 * 3.0]) / [1, 5]) == 0
    assert reduce_sample([100, 100], [0.5, 3.0], [1, 5], 5, minimum=0).labeled.tolist() == [1, 4]


def test_a_stratum_that_is_not_oversized_may_have_to_shrink():
    """Lemma 2 holds for real numbers only: finiteness forces a label on each stratum."""
    size, sd = np.array([3, 2, 2]), np.array([1.21, 0.32, 0.17])
    assert allocations.neyman(size, sd, 4)[0] > 3
    found = allocate(size, 4, stratum_sd=sd, minimum=0)
    assert found.labeled.tolist() == [2, 1, 1]
    assert found.variance == pytest.approx(allocations.best_whole(size, sd, 4, 0))


def test_equal_shares_may_be_worse_by_far_more_than_the_number_of_strata():
    """The paper calls its lower bound tight because equal shares stay within r; the finite population breaks it."""
    size, sd = [10, 1000], [1, 1e-6]
    best = allocate(size, 14, stratum_sd=sd, minimum=0, integer=False)
    equal = allocate(size, 14, "equal", stratum_sd=sd, minimum=0, integer=False)
    assert equal.variance / best.variance == pytest.approx(1.7e7, rel=0.05)


# results


def test_voila_says_what_it_saves():
    found = allocate([10, 100, 1000], 60, stratum_sd=[50, 5, 1])
    assert (
        repr(found)
        == "Allocation(voila: 10 + 17 + 33 of 1,110, SE 0.1835, variance 10.7% below capped Neyman's)"
    )
    neyman = allocate([10, 100, 1000], 60, "neyman", stratum_sd=[50, 5, 1])
    assert found.variance_ratio("neyman") == pytest.approx(
        found.variance / neyman.variance, rel=1e-12
    )
    assert found.variance_ratio("voila") == 1
    assert neyman.variance_ratio("voila") == pytest.approx(
        neyman.variance / found.variance, rel=1e-12
    )
    assert "Neyman" not in allocate([1000, 1000], 50, stratum_sd=[1, 1]).headline()
    assert math.isnan(allocate([10, 10], 5, "equal").variance_ratio())


def test_a_result_is_restored_from_its_dict():
    found = reduce_sample([1000, 1000, 10], [1, 4, 50], [20, 20, 10], 30)
    again = Allocation.from_dict(found.to_dict())
    assert repr(again) == repr(found) and again.labeled.tolist() == found.labeled.tolist()
    assert again.variance_ratio("voila") == found.variance_ratio("voila")


def test_a_reduction_that_is_none_keeps_everything_and_says_so():
    found = reduce_sample([10, 20], [1, 1], [4, 6], 15)
    assert found.labeled.tolist() == [4, 6] and found.unused == 5 and found.bounded.all()
    assert found.notes == (
        Note("design", "the budget of 15 exceeds the 10 sampled items: all are kept"),
    )
    flat = reduce_sample([10, 30], [0, 0], [10, 30], 8)
    assert flat.labeled.tolist() == [2, 6]
    assert flat.notes == (Note("data", "no stratum varies: reduced in proportion to size"),)


def test_two_records_of_a_stratum_have_a_spread_and_one_has_none():
    """The floors are the budget: 2 of 10 records of a stand for 5 each, 2 of 12 of b for 6 each."""
    rows = {"g": list("aabbb"), "y": [1, 2, 3, 4, 6], "id": range(5), "weight": [5, 5, 4, 4, 4]}
    found = smaller_sample(rows, 4, by="g", value="y", id="id")
    assert found.columns["weight"].tolist() == [5, 5, 6, 6]
    with pytest.raises(ValueError, match="at least two records of each stratum"):
        smaller_sample({k: list(v)[1:] for k, v in rows.items()}, 4, by="g", value="y", id="id")


def test_an_infinite_variance_is_noted():
    found = reduce_sample([5, 5, 5], [0, 1, 2], [0, 0, 3], 2, minimum=0)
    assert found.variance == math.inf
    text = "varies and has no label: the variance is infinite"
    assert found.notes == (Note("undefined", text, ("stratum", 1)),)
    assert allocate([5, 5], 1, stratum_sd=[1, 2], minimum=0).notes == (
        Note("undefined", text, ("stratum", 0)),
    )


def test_a_stratum_of_one_item_needs_no_sd():
    found = allocate([1, 50], 5, stratum_sd=[math.nan, 1.0])
    assert found.labeled.tolist() == [1, 4] and found.variance == allocation_variance(
        [1, 50], [0, 1], [1, 4]
    )


def test_strata_that_do_not_vary_get_only_the_floor_until_the_others_are_full():
    assert allocate([10, 10], 8, stratum_sd=[0, 2]).labeled.tolist() == [2, 6]
    assert allocate([10, 10], 15, stratum_sd=[0, 2]).labeled.tolist() == [5, 10]
    assert allocate([10, 10], 20, stratum_sd=[0, 2]).labeled.tolist() == [10, 10]


def test_memory_is_linear_in_the_strata():
    size, sd = heavy(200_000, 2)
    peaks = []
    for part in (slice(50_000), slice(200_000)):
        tracemalloc.start()
        allocate(size[part], int(size[part].sum() // 10), stratum_sd=sd[part])
        peaks.append(tracemalloc.get_traced_memory()[1] / (8 * size[part].size))
        tracemalloc.stop()
    assert max(peaks) < 25


@pytest.mark.parametrize(
    ("args", "argument", "rule", "told"),
    [
        (([5, 5], [1, 1], [5, 6], 4), "current", "must be at most strat", "stratum 1 has 6 of 5"),
        (([5, 5], [1, 1], [5], 4), "current", "must have 2 entries", "got 1"),
        (([5, 5], [1, 1], [1.5, 2], 4), "current", "must be a whole number", "stratum 0 is 1.5"),
        (
            ([9] * 3, [1] * 3, [4, 1, 3], 4),
            "budget",
            "must be at least 5, 2 for each of 3 s",
            "got 4",
        ),
        (([5, 5], [1, math.nan], [5, 5], 4), "stratum_sd", "must be finite", "stratum 1 is nan"),
    ],
)
def test_the_exact_errors_of_a_reduction(args, argument, rule, told):
    refused(lambda: reduce_sample(*args), argument, rule, told)


@pytest.mark.parametrize("sd", [1e150, 1e-150])
def test_the_largest_and_smallest_spread_have_a_variance(sd):
    size = [2**31] * 3
    found = allocate(size, 60, stratum_sd=[sd] * 3)
    assert found.labeled.tolist() == [20] * 3
    assert found.variance == pytest.approx(sd**2 * (1 - 20 / 2**31) / 60, rel=1e-12)


def test_part_of_a_budget_is_spoken_of_in_the_singular():
    assert rules.unused_notes(0, 9) == ()
    assert rules.unused_notes(1, 9) == (
        Note(
            "design", "1 of 9 labels stays unused, because a stratum is smaller than its allocation"
        ),
    )


# the search for a level


def test_every_stratum_keeps_a_share_of_what_it_gets_in_proportion():
    """Of 90 labels 10, 20 and 60; of 27 labels 3, 6 and 18, and a third of 3 is 1 also written with ten digits."""
    size, sd = np.array([100, 200, 600]), np.array([1e-9, 1e-9, 1.0])
    for budget, share, kept in (
        (90, 0.5, [5, 10]),
        (90, 0.9, [9, 18]),
        (27, 1 / 3, [1, 2]),
        (27, 0.3333333333, [1, 2]),
    ):
        found = rules.allotted_above(size, budget, "voila", share, 1, sd)
        assert found.tolist() == [*kept, budget - sum(kept)]


@pytest.mark.parametrize("scale", [1e-140, 1e150])
def test_neymans_shares_do_not_depend_on_the_unit(scale):
    """40 labels as 100 : 300."""
    assert allocate([100, 100], 40, "neyman", stratum_sd=[scale / 3, scale]).labeled.tolist() == [
        10,
        30,
    ]


@pytest.mark.parametrize("sd", [1e-151, 1e-310])
def test_a_spread_next_to_none_is_refused(sd):
    """308 decades below another its share is beyond the floats, and the solver's level with it."""
    rule = "must be 0 or at least 1e-150"
    refused(lambda: allocate([5, 7], 8, stratum_sd=[1, sd]), "stratum_sd", rule, "stratum 1 is ")
    assert allocate([5, 7], 8, stratum_sd=[1e150, 1e-150]).labeled.tolist() == [5, 3]


def test_labels_for_less_than_all_varying_strata_go_one_each_to_those_of_most_worth():
    found = allocate([9, 9, 9, 9], 2, stratum_sd=[3, 1, 0, 2], minimum=0)
    assert found.labeled.tolist() == [1, 0, 0, 1] and found.variance == math.inf


def test_a_small_total_is_shared_as_exactly_as_a_large_one():
    for total in (1e-12, 1.0, 1e12):
        filled = rules.fill_one(np.ones(3), total, 0.0, np.array([0.1, 0.3, 5]) * total)
        assert filled == pytest.approx(np.array([0.1, 0.3, 0.6]) * total, rel=1e-9, abs=0)


def test_where_the_pieces_are_known_one_step_ends_the_search(monkeypatch):
    """From t = 1 in 10 = max(t, 3) + 9 t only the second share moves, so that t = 7 / 9 is exact."""
    passes, counted = [], rules._filled
    monkeypatch.setattr(rules, "_filled", lambda *args: passes.append(1) or counted(*args))
    filled = rules.fill_one(np.array([1.0, 9]), 10.0, np.array([3.0, 0]), np.array([10.0, 10]))
    assert filled == pytest.approx([3, 7], rel=1e-12) and len(passes) == 2


@pytest.mark.parametrize("reach", [1.25, 5, 20])
def test_a_step_goes_at_most_as_many_times_up_as_down(reach):
    up, down = rules._step(1, math.inf, 1, 1e9, reach), rules._step(0, 1, 1, -1e9, reach)
    assert up > 1 and up * down == pytest.approx(1)


def test_a_budget_of_all_items_needs_no_search(monkeypatch):
    passes, counted = [], rules._filled
    monkeypatch.setattr(rules, "_filled", lambda *args: passes.append(1) or counted(*args))
    for budget, labeled, searched in ((14, [5, 9], False), (13, [5, 8], True)):
        found = allocate([5, 9], budget, stratum_sd=[2, 1])
        assert found.labeled.tolist() == labeled and bool(passes) == searched
