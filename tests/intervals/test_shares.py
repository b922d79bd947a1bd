import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import chernoff_limit, default_interval, enumeration, short_interval
from refusals import refused
from scipy import optimize, stats

import workbench as wb
from workbench import intervals
from workbench.intervals import METHODS, shares, stratified_interval

SURVEY = json.loads((Path(__file__).parents[1] / "oracles" / "survey_stratified.json").read_text())[
    "cases"
]
HONEST = ("default", "short", "guaranteed")
HUGE = 10**9


def random_design(rng, n_strata, most=300, population=None):
    labeled = rng.integers(2, max(3, most // n_strata), n_strata)
    size = (
        labeled + rng.integers(0, 400, n_strata) * rng.integers(0, 2, n_strata)
        if population is None
        else np.maximum((rng.dirichlet(np.full(n_strata, 0.6)) * population).astype(int), labeled)
    )
    rate = rng.choice([0, 0.01, 0.1, 0.5, 0.9, 0.99, 1], n_strata)
    return size.tolist(), labeled.tolist(), rng.binomial(labeled, rate).tolist()


# one stratum


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("n", [2, 3, 5, 10, 20, 57, 100, 400])
def test_one_large_stratum_is_clopper_pearson(n, level):
    for x in sorted({0, 1, 2, n // 3, n // 2, n - 2, n - 1, n}):
        exact = stats.binomtest(x, n).proportion_ci(level, "exact")
        low, high = stratified_interval([HUGE], [n], [x], level=level)
        assert low == pytest.approx(exact.low, abs=n / HUGE) and high == pytest.approx(
            exact.high, abs=n / HUGE
        )
        low, high = stratified_interval([HUGE], [n], [x], level=level, method="guaranteed")
        # pooled: Hoeffding 1956 needs the limit to be at least (x + 1)/n
        assert high == pytest.approx(min(max(exact.high, (x + 1) / n), 1), abs=n / HUGE)
        assert low == pytest.approx(max(min(exact.low, (x - 1) / n), 0), abs=n / HUGE)


@pytest.mark.parametrize("x, n", [(17, 20), (1, 30), (0, 12), (25, 50), (100, 100)])
def test_one_large_stratum_short_is_the_mid_p_interval_or_wider(x, n):
    """Mid-P limits solve P(X < x) + P(X = x)/2 = tail; the second pseudo-count cannot move them for K = 1."""
    low, high = stratified_interval([10**7], [n], [x], method="short")
    for limit, mirror in ((high, False), (low, True)):
        count, q = (n - x, 1 - limit) if mirror else (x, limit)
        if limit in (0, 1):
            assert count == n
            continue
        mid = stats.binom.cdf(count, n, q) - stats.binom.pmf(count, n, q) / 2
        assert mid == pytest.approx(0.025, abs=2e-5)


# own slow definitions


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_default_agrees_with_its_definition_on_random_designs(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        size, labeled, correct = random_design(rng, int(rng.integers(1, 9)))
        level = float(rng.choice([0.8, 0.9, 0.95, 0.99]))
        tail = (1 - level) / 2
        cells = intervals.stratum_cells(np.array(size), np.array(labeled), np.array(correct))
        found = intervals.default_limits(cells, 1e15, tail)
        wrong = [n - x for n, x in zip(labeled, correct, strict=True)]
        upper, lower = (
            default_interval.upper_limit(size, labeled, side, tail) for side in (correct, wrong)
        )
        for value, expected in ((found[1], upper), (1 - found[0], lower)):
            assert float(value) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_default_is_its_definition_cut_and_rounded_outward(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(40):
        size, labeled, correct = random_design(rng, int(rng.integers(1, 6)))
        total = sum(size)
        low, high = default_interval.monotone_limits(size, labeled, correct)
        found = stratified_interval(size, labeled, correct)
        assert found.low == pytest.approx(math.floor(low * total + 1e-6) / total, abs=1e-12)
        assert found.high == pytest.approx(math.ceil(high * total - 1e-6) / total, abs=1e-12)


def test_many_outcomes_at_once_give_the_same_limits_as_one_by_one():
    size, labeled = np.array([30, 200, 7]), np.array([5, 12, 7])
    outcomes = np.array(list(itertools.product(range(6), range(0, 13, 3), (0, 4, 7))))
    low, high = intervals.default_limits(
        intervals.stratum_cells(size, labeled, outcomes), 237, 0.025
    )
    for k, x in enumerate(outcomes):
        alone = intervals.default_limits(intervals.stratum_cells(size, labeled, x), 237, 0.025)
        assert (low[k], high[k]) == pytest.approx(tuple(map(float, alone)), abs=1e-12)


@pytest.mark.parametrize(
    "size, labeled, correct",
    [
        ([40, 60], [5, 6], [3, 6]),
        ([40, 60], [5, 6], [5, 6]),
        ([12, 300], [4, 9], [0, 8]),
        ([25], [8], [6]),
        ([20, 20, 20], [3, 3, 4], [2, 3, 4]),
        ([9, 50, 41], [2, 5, 3], [1, 4, 0]),
        ([6, 80], [6, 7], [5, 6]),
    ],
)
def test_short_inverts_the_exact_tail_of_its_definition(size, labeled, correct):
    """Inside the limits both estimated tails reach the level; one item outside the larger tail does not."""
    total = sum(size)
    low, high = stratified_interval(size, labeled, correct, method="short")
    least, most = sum(correct) / total, 1 - (sum(labeled) - sum(correct)) / total

    def tails(share):
        return short_interval.two_sided(size, labeled, correct, share)

    if high < most - 1e-9:
        assert tails(high + 0.02 / total)[0] < 0.025
    if low > least + 1e-9:
        assert tails(low - 0.02 / total)[1] < 0.025
    estimate = enumeration.weighted_mean(size, labeled, correct)
    if high - 1 / total > estimate:
        assert tails(high - 1.02 / total)[0] >= 0.025
    if low + 1 / total < estimate:
        assert tails(low + 1.02 / total)[1] >= 0.025


@pytest.mark.parametrize(
    "size, labeled, correct",
    [
        ([1000, 300], [20, 30], [18, 25]),
        ([50, 500], [25, 10], [20, 10]),
        ([128, 9872], [20, 30], [12, 30]),
        ([10, 90], [10, 8], [7, 6]),
    ],
)
def test_guaranteed_is_the_worst_case_chernoff_bound(size, labeled, correct):
    total = sum(size)
    found = stratified_interval(size, labeled, correct, method="guaranteed")
    wrong = [n - x for n, x in zip(labeled, correct, strict=True)]
    per_label = max(n / m for n, m in zip(size, labeled, strict=True)) / total
    tilts = np.geomspace(0.1 / per_label, 30 / per_label, 200)
    for limit, side in ((found.high, correct), (1 - found.low, wrong)):
        expected = min(
            chernoff_limit.upper_limit(size, labeled, side, 0.025, tilts),
            1 - (sum(labeled) - sum(side)) / total,
        )
        assert limit == pytest.approx(expected, abs=0.003 + 1 / total)


def test_guaranteed_pools_where_weights_are_nearly_equal():
    """Hoeffding 1956: with equal weights the count is no more spread than a binomial of the mean rate."""
    size, labeled, correct = [4 * HUGE, 6 * HUGE], [40, 60], [35, 55]
    exact = stats.binomtest(90, 100).proportion_ci(0.95, "exact")
    assert tuple(stratified_interval(size, labeled, correct, method="guaranteed")) == pytest.approx(
        exact, abs=1e-6
    )
    low, high = stratified_interval([41 * HUGE, 59 * HUGE], labeled, correct, method="guaranteed")
    assert high == pytest.approx(min(1.025 * exact.high, 1), abs=1e-6)
    assert low == pytest.approx(1 - 1.025 * (1 - exact.low), abs=1e-6)


def test_guaranteed_does_not_pool_where_weights_differ():
    """max W_k / n_k is 1.09 of 1/n: from there on the Chernoff limit, which is wider than 1.09 times the pooled one."""
    size, labeled, correct = [436 * 10**6, 564 * 10**6], [40, 60], [35, 55]
    pooled = stats.binomtest(90, 100).proportion_ci(0.95, "exact")
    low, high = stratified_interval(size, labeled, correct, method="guaranteed")
    assert 1 - low > 1.02 * 1.09 * (1 - pooled.low)
    tilts = np.geomspace(0.1 / 0.0109, 30 / 0.0109, 200)
    assert high == pytest.approx(
        chernoff_limit.upper_limit(size, labeled, correct, 0.025, tilts), abs=0.003
    )


def allowed_share(size, labeled, tilt, budget):
    """The largest rate of a stratum at which its log bound is at least `budget`, from the inverse of the bound."""
    weight, fraction = size[1] / sum(size), labeled[1] / size[1]
    c = -math.expm1(-tilt * weight / labeled[1])
    on_curve = (1 - math.exp(budget / labeled[1])) / c if budget > -1e6 else 1.0
    on_line = budget / (size[1] * math.log(1 - fraction * c))
    return min(on_line if on_line <= fraction else on_curve, 1.0)


def worst_case(size, labeled, correct, tail, tilt):
    """max{sum W q : sum of log bounds >= log(tail) - tilt t} of two strata, along the rate of the first."""
    first, second = (n / sum(size) for n in size)
    seen = first * correct[0] / labeled[0] + second * correct[1] / labeled[1]
    fraction, exponent = labeled[0] / size[0], tilt * first / labeled[0]

    def log_moment(q):
        return -exponent if q >= 1 else float(np.logaddexp(math.log1p(-q), math.log(q) - exponent))

    def share(q):
        used = labeled[0] * log_moment(q) if q > fraction else size[0] * q * log_moment(fraction)
        budget = math.log(tail) - tilt * seen - used
        return (
            first * q + second * allowed_share(size, labeled, tilt, budget)
            if budget <= 0
            else q - 2
        )

    grid = np.linspace(0, 1, 201)
    best = grid[np.argmax([share(q) for q in grid])]
    around = max(best - 0.005, 0), min(best + 0.005, 1)
    found = optimize.minimize_scalar(
        lambda q: -share(q), bounds=around, method="bounded", options={"xatol": 1e-10}
    )
    return max(share(best), -found.fun)


@pytest.mark.parametrize(
    ("size", "labeled", "correct"),
    [
        ([10**7, 3 * 10**6], [20, 30], [18, 25]),
        ([30_000, 900], [40, 300], [3, 100]),
        ([9000, 400], [50, 390], [0, 2]),
        ([300, 5000], [290, 60], [0, 0]),
        ([500, 800], [400, 100], [20, 10]),
    ],
)
def test_guaranteed_is_the_least_worst_case_of_all_tilts(size, labeled, correct):
    """By duality the bound is this maximum exactly: the bounds are concave in the rates."""
    found = stratified_interval(size, labeled, correct, method="guaranteed").high
    per_label = [n / m / sum(size) for n, m in zip(size, labeled, strict=True)]
    tilts = np.linspace(math.log(0.02 / max(per_label)), math.log(60 / min(per_label)), 60)
    limits = [worst_case(size, labeled, correct, 0.025, math.exp(tilt)) for tilt in tilts]
    around = [tilts[int(np.clip(np.argmin(limits) + step, 0, 59))] for step in (-1, 1)]
    expected = optimize.minimize_scalar(
        lambda tilt: worst_case(size, labeled, correct, 0.025, math.exp(tilt)),
        bounds=around,
        method="bounded",
    ).fun
    total = sum(size)
    assert found == pytest.approx(
        math.ceil(expected * total - 1e-7) / total, abs=1.01 / total + 2e-6
    )


# ties of the short interval


@pytest.mark.parametrize(
    ("size", "labeled", "correct"),
    [
        ([400, 300], [5, 5], [3, 4]),
        ([5000, 7000], [5, 6], [4, 3]),
        ([3000, 2000], [4, 4], [1, 4]),
        ([30, 12, 60], [4, 3, 5], [2, 3, 1]),
        ([40_000, 30_000], [10, 10], [8, 1]),
        ([9900, 100], [10, 21], [8, 9]),
    ],
)
def test_short_knows_which_outcomes_tie(size, labeled, correct):
    """On both limits a tail is the level or just not, one item further in it is: also where a label weighs 208 others.

    With weights 4 : 3 the outcomes (8, 1), (5, 5), (2, 9) have one estimate, and count half.
    """
    low, high = stratified_interval(size, labeled, correct, method="short")
    total = sum(size)
    below, above = (
        short_interval.two_sided(size, labeled, correct, high),
        short_interval.two_sided(size, labeled, correct, low),
    )
    inside = (
        short_interval.two_sided(size, labeled, correct, high - 1.02 / total)[0],
        short_interval.two_sided(size, labeled, correct, low + 1.02 / total)[1],
    )
    assert max(below[0], above[1]) < 0.025 + 1e-4 and min(inside) >= 0.025


def test_steps_of_the_lattice_are_in_the_proportion_of_the_weights():
    cells = shares.stratum_cells(np.array([400, 300]), np.array([5, 5]), np.array([3, 4]))
    assert shares._lattice(cells).tolist() == [4, 3]


# teaching methods


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_wilson_stays_within_shares(level):
    """Rounded, its limits at 0 and 1 would lie outside for half of all numbers of items."""
    n, z = np.arange(1, 2000), intervals.quantile(level)
    (least, below), (above, most) = intervals.wilson(0.0, n, z), intervals.wilson(1.0, n, z)
    assert least.min() >= 0 and most.max() <= 1 and below == pytest.approx(1 - above)
    assert below == pytest.approx(z * z / (n + z * z))


def closed_tests(pvalues):
    """Holm's rule by the closure of Bonferroni's: the largest p-value of all sets of hypotheses with this one."""
    sets = [
        chosen
        for size in range(1, len(pvalues) + 1)
        for chosen in itertools.combinations(range(len(pvalues)), size)
    ]
    return [
        max(
            min(len(chosen) * min(pvalues[k] for k in chosen), 1)
            for chosen in sets
            if number in chosen
        )
        for number in range(len(pvalues))
    ]


@settings(deadline=None)
@given(st.lists(st.sampled_from([0, 0.001, 0.01, 0.02, 0.04, 0.3, 0.6, 1]), min_size=1, max_size=6))
def test_holm_is_the_closure_of_bonferroni(pvalues):
    assert intervals.holm(pvalues).tolist() == pytest.approx(closed_tests(pvalues))


@pytest.mark.parametrize("case", SURVEY, ids=lambda c: f"{c['stratum_size']}-{c['level']}")
@pytest.mark.parametrize("method", ["wald", "wilson"])
def test_wald_and_wilson_agree_with_r_survey(case, method):
    found = stratified_interval(
        case["stratum_size"], case["labeled"], case["correct"], level=case["level"], method=method
    )
    expected = (max(case[method][0], 0), min(case[method][1], 1))
    assert tuple(found) == pytest.approx(expected, abs=1e-9)


def test_wilson_of_one_large_stratum_is_scipys_at_the_effective_size():
    """Without replacement factor the effective size is n - 1; all right falls back on n."""
    found = stratified_interval([HUGE], [101], [90], method="wilson")
    z, p, n = stats.norm.ppf(0.975), 90 / 101, 100
    center, reach = (
        (p + z**2 / 2 / n) / (1 + z**2 / n),
        z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / 4 / n**2) ** 0.5,
    )
    assert tuple(found) == pytest.approx((center - reach, center + reach), abs=1e-6)
    pure = stats.binomtest(20, 20).proportion_ci(0.95, "wilson")
    assert tuple(stratified_interval([HUGE], [20], [20], method="wilson")) == pytest.approx(
        pure, abs=1e-6
    )


def test_wald_has_width_zero_when_all_are_right():
    assert tuple(stratified_interval([100, 100], [5, 5], [5, 5], method="wald")) == (1.0, 1.0)


def test_wald_with_two_labels():
    """Estimate .1 / 2 + .9 and variance .1 ** 2 (1 - 2 / 10) (1 / 4) / (2 - 1) = .002."""
    low = stratified_interval([10, 90], [2, 45], [1, 45], method="wald").low
    assert low == pytest.approx(0.95 - stats.norm.ppf(0.975) * 0.002**0.5)


# what every honest interval must do


@pytest.mark.parametrize("seed", range(3))
def test_the_default_beside_strata_of_one_item_is_its_definition(seed):
    """Its one label makes the item a constant, in the limits and in every search for a higher one."""
    rng = np.random.default_rng(300 + seed)
    for _ in range(12):
        size, labeled, correct = random_design(rng, int(rng.integers(2, 5)), most=40)
        size, labeled, correct = [1, *size], [1, *labeled], [int(rng.integers(0, 2)), *correct]
        total, (low, high) = sum(size), default_interval.monotone_limits(size, labeled, correct)
        found = stratified_interval(size, labeled, correct)
        assert found.low == pytest.approx(math.floor(low * total + 1e-6) / total, abs=1e-12)
        assert found.high == pytest.approx(math.ceil(high * total - 1e-6) / total, abs=1e-12)
    assert [part.tolist() for part in intervals.check_part([1, 5], "right", [1, 0])] == [
        [1, 5],
        [1, 0],
    ]


@pytest.mark.parametrize("method", [*HONEST, "wilson", "wald"])
def test_a_census_is_exact(method):
    for size, correct in (([7, 5, 1], [3, 5, 0]), ([4], [4]), ([1], [0]), ([30, 20], [0, 0])):
        exact = sum(correct) / sum(size)
        assert tuple(stratified_interval(size, size, correct, method=method)) == pytest.approx(
            (exact, exact), abs=1e-9
        )


@pytest.mark.parametrize("method", HONEST)
def test_one_unlabeled_item_leaves_exactly_two_possible_shares(method):
    low, high = stratified_interval([10, 6], [9, 6], [8, 6], method=method)
    assert (low, high) == pytest.approx((14 / 16, 15 / 16))


@pytest.mark.parametrize(
    "method, tail", [("default", 0.025), ("guaranteed", 0.025), ("short", 0.05)]
)
def test_five_right_of_five_in_a_heavy_stratum_holds_the_lower_limit_down(method, tail):
    """At rate tail ** (1/5) (mid-P: 2 tail) a stratum of weight .9 shows 5 right of 5 that often."""
    found = stratified_interval([9 * 10**6, 10**6], [5, 95], [5, 95], method=method)
    bound = 0.9 * tail**0.2 + 0.1
    assert found.low == pytest.approx(min(found.low, bound), abs=0.0015)
    if method != "short":
        assert found.low < 0.5325 and found.high == 1
    assert found.limiting_stratum == 0
    assert (
        "stratum 1: this stratum alone decides a limit: it holds 90.0% of the items but 5.0% of the labels, "
        "so more labels there would help most"
    ) in wb.sentences(found.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "size, labeled", [([5, 900], [5, 2]), ([1, 3], [1, 2]), ([4, 2668, 220], [4, 22, 15])]
)
@pytest.mark.parametrize("method", HONEST)
def test_what_no_label_contradicts_stays_possible_beside_a_census_stratum(method, size, labeled):
    """All labels right: that every item is right has probability 1 of looking so, and must be covered."""
    assert stratified_interval(size, labeled, labeled, method=method).high == 1
    assert stratified_interval(size, labeled, [0] * len(size), method=method).low == 0


@pytest.mark.parametrize("method", HONEST)
def test_a_census_limit_never_lies_above_the_other(method):
    for right in range(1, 8):
        found = stratified_interval([7, 3], [7, 3], [right, 1], method=method)
        assert found.low <= found.high and (right + 1) / 10 in found and found.half_width >= 0


def test_no_stratum_is_named_when_the_labels_are_proportional():
    found = stratified_interval([9000, 1000], [90, 10], [90, 10])
    assert found.limiting_stratum is None and found.notes == ()


# coverage by enumeration


def exact_coverage(size, right, labeled, method, level=0.95):
    """Coverage by every outcome; those less likely than 1 in 10,000 count as missed where each takes its time."""
    truth = sum(right) / sum(size)
    grid, mass = enumeration.outcomes(size, right, labeled)
    if method == "default":
        cells = intervals.stratum_cells(np.array(size), np.array(labeled), grid)
        low, high = intervals.default_limits(cells, sum(size), (1 - level) / 2)
        least, most = intervals.proven_limits(sum(size), labeled, grid)
        covered = (np.maximum(low, least) <= truth + 1e-12) & (
            truth - 1e-12 <= np.minimum(high, most)
        )
    else:
        grid, mass = grid[mass > 1e-4], mass[mass > 1e-4]
        limits = (stratified_interval(size, labeled, x, level=level, method=method) for x in grid)
        covered = np.array([low <= truth + 1e-12 and truth - 1e-12 <= high for low, high in limits])
    return mass[covered].sum()


def unsafe_example():
    """W = (.0128, .9872), n = (40, 260), error rates (.37, .005): all 41 x 261 outcomes of an infinite population."""
    weight, labeled, rates = np.array([0.0128, 0.9872]), np.array([40, 260]), (1 - 0.37, 1 - 0.005)
    return (
        weight,
        labeled,
        float(weight @ rates),
        *enumeration.outcomes([math.inf] * 2, rates, labeled),
    )


def test_the_default_covers_the_unsafe_example():
    weight, labeled, truth, grid, mass = unsafe_example()
    cells = intervals.Cells(weight, labeled.astype(float), grid.astype(float), np.ones(2))
    low, high = intervals.default_limits(cells, 1e15, 0.025)
    assert mass[(low <= truth) & (truth <= high)].sum() == pytest.approx(0.992, abs=0.001)


def test_wald_fails_on_the_unsafe_example():
    """No error among the 260 has probability .272 and gives an interval that is far too short."""
    weight, labeled, truth, grid, mass = unsafe_example()
    likely = mass > 1e-6
    size = np.array([128, 9872]) * 10**6
    covered = [truth in stratified_interval(size, labeled, x, method="wald") for x in grid[likely]]
    rate = grid / labeled
    spread = np.sqrt((weight**2 * rate * (1 - rate) / (labeled - 1)).sum(1))
    by_hand = np.abs(rate @ weight - truth) <= stats.norm.ppf(0.975) * spread
    assert covered == by_hand[likely].tolist()
    assert mass[by_hand].sum() == pytest.approx(0.743, abs=0.02)
    assert mass[by_hand].sum() < 1 - 0.995**260 + 0.001


@pytest.mark.slow
def test_short_on_the_unsafe_example():
    """Coverage of the slow definition over the outcomes that make up 99.9%; the package agrees at its border."""
    weight, labeled, truth, grid, mass = unsafe_example()
    size = [128_000, 9_872_000]
    order = np.argsort(-mass)
    order = order[: np.searchsorted(mass[order].cumsum(), 0.999)]
    tails = {
        tuple(grid[k].tolist()): min(
            short_interval.two_sided(size, labeled.tolist(), grid[k].tolist(), truth)
        )
        for k in order
    }
    covered = sum(mass[k] for k in order if tails[tuple(grid[k].tolist())] >= 0.025)
    assert covered == pytest.approx(0.976, abs=0.002)
    for outcome in sorted(tails, key=lambda x: abs(tails[x] - 0.025))[:4]:
        found = stratified_interval(size, labeled, outcome, method="short")
        assert (truth in found) == (tails[outcome] >= 0.025)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_the_default_covers_in_random_finite_and_large_populations(seed):
    rng = np.random.default_rng(2000 + seed)
    for _ in range(25):
        n_strata = int(rng.integers(1, 5))
        labeled = rng.integers(
            max(2, 20 // n_strata), {1: 200, 2: 60, 3: 16, 4: 8}[n_strata], n_strata
        )
        labeled[0] += max(20 - labeled.sum(), 0)
        size = labeled + rng.integers(0, 200, n_strata) ** rng.integers(0, 3)
        right = rng.binomial(size, rng.beta(rng.choice([0.2, 1, 5]), 1, n_strata))
        assert exact_coverage(size.tolist(), right.tolist(), labeled.tolist(), "default") >= 0.94


@pytest.mark.slow
@pytest.mark.parametrize(
    "method, least", [("short", 0.91), ("guaranteed", 0.95), ("default", 0.94)]
)
def test_coverage_in_small_designs_by_enumeration(method, least):
    for size, right, labeled in (
        ([60, 140], [40, 133], [8, 14]),
        ([30, 30, 40], [28, 24, 40], [7, 7, 8]),
        ([100], [95], [30]),
        ([20, 300], [10, 297], [10, 15]),
    ):
        assert exact_coverage(size, right, labeled, method) >= least


@pytest.mark.slow
@pytest.mark.parametrize(
    "size, right, labeled",
    [
        ([30, 70], [20, 60], [30, 12]),
        ([38, 91], [27, 68], [38, 17]),
        ([10, 90], [7, 80], [10, 8]),
        ([10, 40], [10, 40], [10, 7]),
        ([12, 60, 30], [4, 55, 29], [12, 9, 6]),
    ],
)
@pytest.mark.parametrize("method", ["default", "guaranteed"])
def test_coverage_beside_a_census_stratum_by_enumeration(method, size, right, labeled):
    assert exact_coverage(size, right, labeled, method) >= 0.95


def test_wald_is_known_to_fail_where_errors_are_rare():
    """97 of 100 right, 20 labels: no error is seen, and width 0 shown, with the hypergeometric probability .507."""
    size, right, labeled = [100], [97], [20]
    assert exact_coverage(size, right, labeled, "wald") == pytest.approx(
        1 - stats.hypergeom.pmf(0, 100, 3, 20), abs=0.02
    )


# texts


def test_warnings_of_few_labels():
    """They count the labels of the strata that are not fully labeled, and only the default was searched."""

    def warnings(*args, **kwargs):
        return wb.sentences(stratified_interval(*args, **kwargs).notes)

    few = "only {}: the default interval was only checked with 20 or more"
    assert warnings([1000], [20], [12]) == warnings([19], [19], [12]) == ()
    assert warnings([1000], [19], [12]) == (few.format("19 labels"),)
    assert warnings([1000, 5], [12, 5], [6, 4]) == (
        few.format("12 labels outside fully labeled strata"),
    )
    assert (
        warnings([900, 2], [20, 2], [12, 1])
        == warnings([1000], [19], [12], method="guaranteed")
        == ()
    )


def test_the_exact_warnings():
    def warnings(*args, **kwargs):
        return wb.sentences(stratified_interval(*args, **kwargs).notes)

    assert warnings([1000], [20], [12]) == ()
    assert warnings([1000], [19], [12]) == (
        "only 19 labels: the default interval was only checked with 20 or more",
    )
    assert warnings([19], [19], [12]) == ()
    assert warnings([1000], [50], [30], method="wald", level=0.9) == (
        "wald is for teaching: with few labels it can cover far less than 90%",
    )
    assert warnings([1000], [50], [30], method="wilson") == (
        "wilson is for teaching: with few labels it can cover far less than 95%",
    )
    short = "the short interval can cover less than its level. In our searches, the 95% interval covered the true value in at least 91% of samples"
    beside = "the rarer outcome has fewer than 10 labels, or there is only one stratum: report the default interval, too"
    assert warnings([1000, 1000], [50, 50], [30, 30], method="short") == (short,)
    assert warnings([1000, 1000], [50, 50], [45, 46], method="short") == (short, beside)
    assert warnings([1000, 1000], [50, 50], [45, 45], method="short") == (short,)
    assert warnings([1000, 1000], [50, 50], [4, 5], method="short") == (short, beside)
    assert warnings([1000], [50], [30], method="short") == (short, beside)
    assert warnings([1000], [50], [30], method="guaranteed") == ()


FEW = "must be at least 2 in every stratum that is not fully labeled; stratum "


@pytest.mark.parametrize(
    ("size", "labeled", "correct", "argument", "rule", "told"),
    [
        ([5, 9], [5, 1], [3, 1], "labeled", FEW + "1 has 1 label for 9 items: label more it", ""),
        ([5, 9], [0, 2], [0, 1], "labeled", FEW + "0 has 0 labels for 5 items: label more i", ""),
        ([5, 9], [2, 2], [1, 3], "correct", "must be at most labeled", "stratum 1 has 3 of 2"),
        ([5, 9], [6, 2], [1, 1], "labeled", "must be at most stratum_size", "stratum 0 has 6 of 5"),
        ([5, 0], [2, 0], [1, 0], "stratum_size", "must be at least 1", "stratum 1 is 0"),
        ([5], [2], [-1], "correct", "must be at least 0", "stratum 0 is -1"),
        ([5], [2], [0.5], "correct", "must be a whole number", "stratum 0 is 0.5"),
        ([5], [math.nan], [1], "labeled", "must be finite", "stratum 0 is nan"),
        ([5, 9], [2], [1], "labeled", "must have 2 entries", "got 1"),
        ([5, 9], [2, 2], [1, 1, 1], "correct", "must have 2 entries", "got 3"),
        ([], [], [], "stratum_size", "must not be empty", ""),
        ([[5]], [2], [1], "stratum_size", "must be one-dimensional", "got shape (1, 1)"),
    ],
)
def test_the_exact_errors(size, labeled, correct, argument, rule, told):
    refused(lambda: stratified_interval(size, labeled, correct), argument, rule, told)


@pytest.mark.parametrize(
    ("argument", "value", "rule", "told"),
    [
        ("level", 1, "must be a number in (0, 1)", "got 1"),
        ("level", 95, "must be a number in (0, 1)", "got 95 (did you mean 0.95?)"),
        ("level", math.nan, "must be a number in (0, 1)", "got nan"),
        (
            "method",
            "Wald",
            "must be one of 'default', 'short', 'guara",
            "got 'Wald' (did you mean 'w",
        ),
    ],
)
def test_the_exact_errors_of_options(argument, value, rule, told):
    refused(lambda: stratified_interval([5], [2], [1], **{argument: value}), argument, rule, told)


def test_the_result_says_how_it_was_made():
    found = stratified_interval([1000], [50], [30], level=0.9, method="wilson")
    assert (found.level, found.method) == (0.9, "wilson")
    assert all(type(v) is float for v in (found.low, found.high, found.level))
    assert {stratified_interval([99], [50], [30], method=m).method for m in METHODS} == set(METHODS)


@pytest.mark.parametrize(
    "size, right, n", [(20, 7, 5), (50, 0, 8), (50, 50, 8), (10, 9, 10), (5000, 4321, 300)]
)
def test_hypergeometric_probabilities(size, right, n):
    found = intervals.hypergeometric_pmf(size, [right], n)[0]
    assert found == pytest.approx(stats.hypergeom.pmf(np.arange(n + 1), size, right, n), abs=1e-10)


@pytest.mark.parametrize("size", [10**9, 10**12])
def test_hypergeometric_probabilities_of_huge_populations_add_up(size):
    """The limit is the binomial; the distance is of order n^2 / N."""
    found = intervals.hypergeometric_pmf(size, [size * 9 // 10], 20)[0]
    assert found == pytest.approx(stats.binom.pmf(np.arange(21), 20, 0.9), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("n", [32767, 32768, 50_000])
def test_short_keeps_close_to_clopper_pearson_for_many_labels(n):
    """One stratum of 700,000 items: with so many labels mid-P and Clopper-Pearson differ by less than 1/n."""
    short, default = (
        stratified_interval([700_000], [n], [n * 9 // 10], method=m) for m in ("short", "default")
    )
    assert tuple(short) == pytest.approx(tuple(default), abs=1.5 / n)
    assert short.low <= 0.9 <= short.high


@pytest.mark.slow
def test_short_sees_an_oversampled_light_stratum():
    """Nine tenths of the labels in a hundredth of the items must not blind the lattice to the rest."""
    short, default = (
        stratified_interval([49_500, 500], [50, 450], [40, 250], method=m)
        for m in ("short", "default")
    )
    assert tuple(short) == pytest.approx(tuple(default), abs=0.015) and short.high > 0.8 > short.low


def test_an_interval_is_a_pair_to_numpy():
    found = stratified_interval([1000, 2000], [30, 40], [25, 38])
    low, high = found
    assert len(found) == 2 and (found[0], found[1], found[-1], found[:]) == (
        low,
        high,
        high,
        (low, high),
    )
    assert np.asarray(found).tolist() == [low, high] and np.array([found, found]).shape == (2, 2)
    assert np.asarray(found).dtype == float and list(found) == [low, high]
    with pytest.raises(IndexError):
        found[2]


def test_being_a_pair_changes_nothing_else_about_an_interval():
    nothing = wb.Interval(0.0, 0.0, 0.95, "wald")
    assert nothing and repr(nothing) == "Interval(0 to 0, 0.95 wald)"
    assert (
        0.0 in nothing and (0.0, 0.0) != nothing and nothing != wb.Interval(0.0, 0.0, 0.95, "wald")
    )
    assert (
        hash(nothing) == hash(nothing)
        and wb.Result.from_dict(nothing.to_dict()).rows() == nothing.rows()
    )
    kept = wb.Table([{"limits": nothing}], "Kept")
    assert kept.entries[0]["limits"] is nothing
    assert wb.Result.from_dict(kept.to_dict()).entries[0]["limits"].method == "wald"


@pytest.mark.parametrize(
    "size, labels, low, high",
    [
        ([2000] * 5, 100, 0.98, 1.18),
        ([20_000], 60, 0.98, 1.02),
        ([5170, 2430, 1290, 760, 350], 100, 1.03, 1.7),
    ],
)
def test_what_the_proof_of_the_guaranteed_interval_costs_in_proportion(size, labels, low, high):
    """Little where strata of equal size get equal labels; whole numbers are not quite in proportion to other sizes."""
    size, labeled = np.array(size), wb.allocate(size, labels, "proportional").labeled
    right = np.rint(size * np.linspace(0.75, 0.97, size.size)).astype(int)
    draws = np.random.default_rng(1).hypergeometric(
        right, size - right, labeled, size=(40, size.size)
    )
    guaranteed, default = (
        np.mean([wb.stratified_interval(size, labeled, x, method=method).half_width for x in draws])
        for method in ("guaranteed", "default")
    )
    assert low <= guaranteed / default <= high


def lower_limits(size, labeled, rows, tail=0.025):
    """Unrounded lower limits of outcomes, from the oracle of the definition alone."""
    return [
        1 - default_interval.upper_limit(size, labeled, np.array(labeled) - row, tail)
        for row in rows
    ]


@pytest.mark.parametrize(
    ("size", "labeled", "correct"),
    [
        ([48, 52], [18, 2], [17, 1]),
        ([30, 500, 200], [4, 5, 3], [3, 5, 1]),
        ([100, 900], [8, 3], [8, 2]),
        ([4, 60, 60], [4, 3, 9], [3, 2, 8]),
        ([10**6, 10, 10**5, 10**4], [3, 3, 2, 4], [2, 3, 1, 3]),
    ],
)
def test_the_lower_limit_is_the_largest_of_all_outcomes_with_no_more_right_labels(
    size, labeled, correct
):
    rows = np.array(list(itertools.product(*(range(x + 1) for x in correct))))
    expected = max(lower_limits(size, labeled, rows))
    total, low = sum(size), wb.stratified_interval(size, labeled, correct).low
    assert low == pytest.approx(
        max(math.floor(expected * total + 1e-7), sum(correct)) / total, abs=1e-12
    )


def test_one_more_right_label_does_not_lower_the_limit():
    """It was lowered from .3525 to .2072 here."""
    size, labeled = [48_480_000, 51_520_000], [18, 2]
    assert tuple(wb.stratified_interval(size, labeled, [17, 0])) == pytest.approx(
        (0.3525, 0.8960), abs=5e-5
    )
    assert tuple(wb.stratified_interval(size, labeled, [17, 1])) == pytest.approx(
        (0.3525, 0.9935), abs=5e-5
    )


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(2, 9), st.integers(0, 2000), st.floats(0, 1)), min_size=2, max_size=6
    ),
    st.data(),
)
def test_limits_rise_with_every_right_label(strata, data):
    n, more, share = map(np.array, zip(*strata, strict=True))
    right = (n * share).astype(int)
    k = data.draw(st.integers(0, n.size - 1))
    if right[k] < n[k]:
        before, after = (
            tuple(wb.stratified_interval(n + more, n, right + add * (np.arange(n.size) == k)))
            for add in (0, 1)
        )
        assert before[0] <= after[0] + 1e-12 and before[1] <= after[1] + 1e-12


def test_limits_that_are_not_exact_say_so(monkeypatch):
    size, labeled, correct = [500 + k for k in range(12)], [3] * 12, [2] * 12
    exact = wb.stratified_interval(size, labeled, correct)
    monkeypatch.setattr("workbench.intervals.limits.MOST_SETS", 2)
    cut = wb.stratified_interval(size, labeled, correct)
    assert cut.low <= exact.low and cut.high >= exact.high
    assert any("every set of strata" in note.text for note in cut.notes) and not exact.notes[1:]
