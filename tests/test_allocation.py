import itertools
import math

import numpy as np
import pytest
from oracles import allocations, enumeration
from scipy import optimize

from workbench import allocation
from workbench.allocation import METHODS, allocate, allocation_variance
from workbench.populations import digit_forms

SPENDING = ("proportional", "equal", "neyman_plus", "voila")


def tiny_cases(count, seed):
    rng = np.random.default_rng(seed)
    while count:
        n_strata = int(rng.integers(1, 5))
        size = rng.integers(1, 9, n_strata)
        sd = np.round(rng.choice([0, .1, .3, .5, 1, 7], n_strata) * rng.choice([1, rng.random()]), 3)
        minimum = int(rng.integers(0, 4))
        least = max(int(np.minimum(minimum, size).sum()), 1)
        if least <= size.sum() + 2:
            yield size.tolist(), sd.tolist(), int(rng.integers(least, size.sum() + 3)), minimum
            count -= 1


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
    found = allocate([10, 10, 10], 6, stratum_sd=[.9, 1.73, 1.73], minimum=1)
    assert sorted(found.labeled.tolist()[1:]) == [2, 3] and found.labeled[0] == 1
    assert allocations.variance([10] * 3, [.9, 1.73, 1.73], found.labeled) == pytest.approx(
        allocations.best_whole([10] * 3, [.9, 1.73, 1.73], 6, 1))


@pytest.mark.parametrize("method", METHODS)
def test_floors_caps_and_budget_are_kept(method):
    for size, sd, budget, minimum in tiny_cases(300, 77):
        for integer in (True, False):
            found = allocate(size, budget, method, stratum_sd=sd, minimum=minimum, integer=integer)
            n = found.labeled
            assert (n >= np.minimum(minimum, size) - 1e-9).all() and (n <= np.array(size) + 1e-9).all()
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
        expected = [min(share, n) for share, n in zip(allocations.neyman(size, sd, budget), size, strict=True)]
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


@pytest.mark.parametrize("seed", range(3))
def test_the_real_valued_voila_is_the_constrained_optimum(seed):
    """scipy's SLSQP from several starts finds nothing better, and no pair of strata gains by trading."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n_strata = int(rng.integers(2, 6))
        size = rng.integers(5, 200, n_strata)
        sd = rng.choice([.1, .3, .5, 2, 9], n_strata)
        budget = int(rng.integers(2 * n_strata, size.sum()))
        found = allocate(size, budget, stratum_sd=sd, integer=False)
        floor, weight = np.minimum(2.0, size), size / size.sum()

        def variance(n, weight=weight, sd=sd, size=size):
            return (weight**2 * sd**2 * (1 / n - 1 / size)).sum()
        start = floor + (size - floor) * (budget - floor.sum()) / (size.sum() - floor.sum())
        scale = variance(start) or 1
        best = optimize.minimize(lambda n, scale=scale: variance(n) / scale, start, method="SLSQP",
                                 bounds=list(zip(floor, size, strict=True)), options={"ftol": 1e-14, "maxiter": 500},
                                 constraints={"type": "eq", "fun": lambda n, b=budget: n.sum() - b})
        assert variance(found.labeled) <= best.fun * scale * (1 + 1e-6) + 1e-12
        assert found.variance == pytest.approx(variance(found.labeled), abs=1e-12)


def test_proportional_and_equal_shares():
    assert allocate([100, 300], 40, "proportional").labeled.tolist() == [10, 30]
    assert allocate([100, 300], 40, "equal").labeled.tolist() == [20, 20]
    # 37 of 1797 are 2.06 of 100; largest remainders of 55.65, 33.39, 8.90, 2.06
    assert allocate([1000, 600, 160, 37], 100, "proportional").labeled.tolist() == [56, 33, 9, 2]
    # 10 are cut at 4, the other 6 are shared by two
    assert allocate([4, 50, 50], 30, "equal").labeled.tolist() == [4, 13, 13]
    assert allocate([4, 6, 50], 30, "proportional", integer=False).labeled == pytest.approx([2, 3, 25])
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
    assert allocate(size, 60, "neyman_plus", stratum_sd=sd, integer=False).labeled == pytest.approx([10, 17.5, 32.5])
    best = allocate(size, 60, "voila", stratum_sd=sd)
    assert best.labeled.tolist() == [10, 17, 33] and best.unused == 0
    assert allocate(size, 60, "voila", stratum_sd=sd, integer=False).labeled == pytest.approx([10, 50 / 3, 100 / 3])


def test_a_hundred_labels_for_the_digits_in_five_strata():
    """With the true spreads of 209, 307, 346, 355, 359 right of 360, 359, 360, 359, 359."""
    size, right = np.array([360, 359, 360, 359, 359]), np.array([209, 307, 346, 355, 359])
    sd = np.sqrt(size / (size - 1) * right / size * (1 - right / size))
    found = allocate(size, 100, "neyman", stratum_sd=sd)
    assert found.labeled.tolist() == [42, 30, 17, 9, 2]
    assert math.sqrt(found.variance) == pytest.approx(.0221, abs=5e-5)
    assert math.sqrt(allocate(size, 100, "proportional", stratum_sd=sd).variance) == pytest.approx(.0281, abs=5e-5)
    assert math.sqrt(allocation_variance([1797], [np.std([1] * 1576 + [0] * 221, ddof=1)], [100])) \
        == pytest.approx(.0319, abs=5e-5)


def test_a_hundred_labels_for_the_places_of_the_digits():
    """Errors of the register total: the value 10^place of a digit times the digit misread."""
    forms = digit_forms()
    error = (forms.read_a - forms.digit) * 10.0 ** forms.place
    size = np.bincount(forms.place)
    sd = np.array([error[forms.place == h].std(ddof=1) for h in range(4)])
    total = size.sum()
    assert error.sum() == -14_692

    def se(found):
        return total * math.sqrt(found.variance)
    plain = allocate(size, 100, "neyman", stratum_sd=sd, minimum=0)
    assert allocations.neyman(size, sd, 100)[3] == pytest.approx(64, abs=.5)
    assert plain.labeled[3] == 37 and plain.unused == 27
    best = allocate(size, 100, "voila", stratum_sd=sd)
    assert best.labeled.tolist() == [3, 18, 42, 37]
    assert [round(se(found)) for found in (
        best, allocate(size, 100, "neyman", stratum_sd=sd, minimum=0, integer=False),
        allocate(size, 100, "neyman_plus", stratum_sd=sd, minimum=0), allocate(size, 100, "equal", stratum_sd=sd))
    ] == [4148, 5789, 4470, 8997]

    def real(method, budget):
        return se(allocate(size, budget, method, stratum_sd=sd, minimum=0, integer=False))
    assert real("equal", 140) > real("neyman", 140) and real("equal", 141) < real("neyman", 141)
    assert (round(real("equal", 150)), round(real("neyman", 150))) == (3840, 4588)
    assert round(se(allocate(size, 150, stratum_sd=sd))) == 2808
    real_shares = {m: allocate(size, m, "neyman", stratum_sd=sd, minimum=0, integer=False) for m in range(4, 70)}
    assert [m for m, found in real_shares.items() if found.bounded.any()] == list(range(58, 70))
    assert round(total * math.sqrt(allocation_variance([total], [error.std(ddof=1)], [100]))) == 47_149


@pytest.mark.parametrize("size, right, labeled", [
    ([5], [3], [2]), ([4, 5], [1, 3], [2, 4]), ([3, 3, 4], [1, 2, 4], [2, 1, 2])])
def test_the_variance_is_that_of_every_sample(size, right, labeled):
    means = [enumeration.weighted_mean(size, labeled, x) for x in enumeration.samples_without(size, right, labeled)]
    sd = [np.std(stratum, ddof=1) for stratum in enumeration.items(size, right)]
    assert allocation_variance(size, sd, labeled) == pytest.approx(np.var(means), abs=1e-12)


def test_the_variance_without_labels_is_infinite_unless_nothing_varies():
    assert allocation_variance([5, 5], [.5, 0], [0, 2]) == math.inf
    assert allocation_variance([5, 5], [0, .5], [0, 5]) == 0
    assert math.isnan(allocate([5, 5], 6, "equal").variance)
    assert allocate([5, 5], 2, "voila", stratum_sd=[.5, .5], minimum=0).labeled.tolist() == [1, 1]


def test_more_budget_than_items_is_a_census_and_says_so():
    for method in METHODS:
        found = allocate([4, 6], 15, method, stratum_sd=[.5, .1])
        assert found.labeled.tolist() == [4, 6] and found.unused == 5
        assert found.notes == ("the budget of 15 exceeds the 10 items: a census",)


def test_without_any_spread_shares_are_proportional_and_it_says_so():
    for method in ("neyman", "neyman_plus", "voila"):
        found = allocate([100, 300], 40, method, stratum_sd=[0, 0])
        assert found.labeled.tolist() == [10, 30] and found.variance == 0
        assert found.notes == ("no stratum varies: allocated in proportion to size",)


@pytest.mark.parametrize("text, args, options", [
    ("budget must be at least 5, 2 for each of 3 strata; got 4", ([1, 5, 9], 4, "equal"), {}),
    ("budget must be a whole number of at least 1; got 0", ([5], 0, "equal"), {"minimum": 0}),
    ("budget must be a whole number of at least 1; got 2.5", ([5], 2.5, "equal"), {}),
    ("stratum_sd must be given for method 'voila'; 'proportional' and 'equal' need none", ([5], 3), {}),
    ("stratum_sd must be given for method 'neyman'; 'proportional' and 'equal' need none", ([5], 3, "neyman"), {}),
    ("stratum_sd must be at least 0; stratum 1 is -0.5", ([5, 5], 5), {"stratum_sd": [1, -.5]}),
    ("stratum_sd must be finite; stratum 0 is nan", ([5, 5], 5, "neyman"), {"stratum_sd": [math.nan, 1]}),
    ("stratum_sd must have 2 entries; got 3", ([5, 5], 5), {"stratum_sd": [1, 1, 1]}),
    ("stratum_size must be at least 1; stratum 1 is 0", ([5, 0], 5, "equal"), {}),
    ("stratum_size must be a whole number; stratum 0 is 5.5", ([5.5], 5, "equal"), {}),
    ("stratum_size must not be empty", ([], 5, "equal"), {}),
    ("minimum must be a whole number of at least 0; got -1", ([5], 5, "equal"), {"minimum": -1}),
    ("method must be one of 'proportional', 'equal', 'neyman', 'neyman_plus', 'voila'; got 'neymann' "
     "(did you mean 'neyman'?)", ([5], 5, "neymann"), {}),
])
def test_the_exact_errors(text, args, options):
    with pytest.raises(ValueError) as caught:
        allocate(*args, **options)
    assert str(caught.value) == text


def test_the_exact_errors_of_the_variance():
    for text, args in (("labeled must be at most stratum_size; stratum 1 has 6 of 5", ([5, 5], [1, 1], [1, 6])),
                       ("labeled must be at least 0; stratum 0 is -1", ([5, 5], [1, 1], [-1, 5])),
                       ("stratum_sd must have 2 entries; got 1", ([5, 5], [1], [1, 5]))):
        with pytest.raises(ValueError) as caught:
            allocation_variance(*args)
        assert str(caught.value) == text


def test_a_result_states_its_finding():
    found = allocate([100, 100], 30, "neyman", stratum_sd=[.5, .1])
    assert repr(found) == "Allocation(neyman: 25 + 5 of 200, SE 0.04848)"
    assert found.variance == pytest.approx(.25 * (.75 * .25 / 25 + .95 * .01 / 5))
    assert found.rows() == [{"stratum": 0, "size": 100, "labeled": 25, "bounded": False},
                            {"stratum": 1, "size": 100, "labeled": 5, "bounded": False}]


def test_largest_remainders():
    """Hamilton's rule on 10 seats of 3.6, 3.3, 3.1 gives 4, 3, 3; caps and floors bind first."""
    assert allocation.round_to_total([3.6, 3.3, 3.1], 10, 0, 99).tolist() == [4, 3, 3]
    assert allocation.round_to_total([2.5, 2.5], 5, 0, 9).tolist() == [3, 2]
    assert allocation.round_to_total([[1.2, 1.8], [2, 1]], np.array([3, 3]), 0, 9).tolist() == [[1, 2], [2, 1]]
