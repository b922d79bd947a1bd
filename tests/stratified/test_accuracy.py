import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from oracles import enumeration
from refusals import refused
from scipy import stats

import workbench as wb
from workbench import intervals
from workbench.course.digit_forms import digit_forms
from workbench.stratified import accuracy
from workbench.stratified.accuracy import (
    accuracy_variance,
    estimated_variance,
    expected_half_width,
    stratified_accuracy,
)

SURVEY = json.loads((Path(__file__).parents[1] / "oracles" / "survey_stratified.json").read_text())[
    "cases"
]
TINY = [
    ([6], [4], [3]),
    ([4, 5], [3, 2], [2, 3]),
    ([5, 3, 2], [4, 3, 1], [2, 2, 2]),
    ([3, 6], [0, 5], [2, 4]),
    ([4, 4], [1, 3], [2, 4]),
]


@pytest.fixture(scope="module")
def digits():
    """Five equal-size strata of the digit forms by the confidence of reader A, cut by ranks ceil(k N / K)."""
    forms = digit_forms()
    order = np.argsort(forms.confidence, kind="stable")
    sizes = np.array([360, 359, 360, 359, 359])
    right = [
        int((forms.read_a == forms.digit)[part].sum())
        for part in np.split(order, sizes.cumsum()[:-1])
    ]
    return sizes, np.array(right)


# estimator and variances against every sample


@pytest.mark.parametrize("size, right, labeled", TINY)
def test_estimate_and_variance_over_every_sample_without_replacement(size, right, labeled):
    every = enumeration.samples_without(size, right, labeled)
    truth = sum(right) / sum(size)
    found = [stratified_accuracy(size, labeled, x) for x in set(every)]
    of = dict(zip(set(every), found, strict=True))
    estimates = np.array([of[x].estimate for x in every])
    claims = np.array([of[x].variance for x in every])
    assert estimates == pytest.approx(
        [enumeration.weighted_mean(size, labeled, x) for x in every], abs=1e-12
    )
    assert estimates.mean() == pytest.approx(truth, abs=1e-12)
    true_variance = ((estimates - truth) ** 2).mean()
    assert accuracy_variance(size, right, labeled) == pytest.approx(true_variance, abs=1e-12)
    assert claims.mean() == pytest.approx(true_variance, abs=1e-12)


@pytest.mark.parametrize("size, right, labeled", TINY)
def test_variance_over_every_ordered_sample_with_replacement(size, right, labeled):
    every = enumeration.samples_with(size, right, [min(n, 3) for n in labeled])
    labeled = [min(n, 3) for n in labeled]
    truth = sum(right) / sum(size)
    estimates = np.array([enumeration.weighted_mean(size, labeled, x) for x in every])
    claims = {x: estimated_variance(size, labeled, x, form="with_replacement") for x in set(every)}
    true_variance = ((estimates - truth) ** 2).mean()
    assert accuracy_variance(size, right, labeled, form="with_replacement") == pytest.approx(
        true_variance, abs=1e-12
    )
    assert np.mean([claims[x] for x in every]) == pytest.approx(true_variance, abs=1e-12)


@pytest.mark.parametrize("size, right, labeled", TINY)
def test_the_papers_form_lies_above_both_and_its_estimate_is_unbiased_for_it(size, right, labeled):
    """Kumar & Raj 2016 say with replacement but use S^2 with N - 1."""
    paper = accuracy_variance(size, right, labeled, form="paper")
    by_hand = sum(
        (n / sum(size)) ** 2 * np.var([1] * c + [0] * (n - c), ddof=1) / m
        for n, c, m in zip(size, right, labeled, strict=True)
    )
    assert paper == pytest.approx(by_hand)
    assert paper > accuracy_variance(size, right, labeled)
    assert paper > accuracy_variance(size, right, labeled, form="with_replacement")
    every = enumeration.samples_without(size, right, labeled)
    claims = {x: estimated_variance(size, labeled, x, form="paper") for x in set(every)}
    assert np.mean([claims[x] for x in every]) == pytest.approx(paper, abs=1e-12)


@pytest.mark.parametrize("case", SURVEY[:5], ids=lambda c: str(c["stratum_size"]))
def test_estimate_and_variance_agree_with_r_survey(case):
    found = stratified_accuracy(case["stratum_size"], case["labeled"], case["correct"])
    assert found.estimate == pytest.approx(case["estimate"], abs=1e-12)
    assert found.variance == pytest.approx(case["variance"], rel=1e-12)
    assert found.standard_error == pytest.approx(case["variance"] ** 0.5)
    wald = found.interval(level=case["level"], method="wald")
    assert tuple(wald) == pytest.approx(
        (max(case["wald"][0], 0), min(case["wald"][1], 1)), abs=1e-9
    )


# where the paper is wrong


def v_random(sizes, right, n):
    """Variance of simple random sampling without replacement, from the listed population."""
    population = np.concatenate(
        [[1] * c + [0] * (m - c) for m, c in zip(sizes, right, strict=True)]
    )
    return (1 - n / population.size) * population.var(ddof=1) / n


def test_equation_14_lacks_a_factor():
    """Random minus proportional, times n/(1 - n/N): sum W (A_k - A)^2 N/(N-1) - sum (N - N_k)/(N (N - 1)) S_k^2.

    Kumar & Raj 2016 print the second term for equal A_k without its factor N_k; enumeration has it.
    """
    sizes, right, labeled = [4, 8], [2, 4], [1, 2]
    total, n = 12, 3
    stratified_part = accuracy_variance(sizes, right, labeled)
    every = enumeration.samples_without(sizes, right, labeled)
    listed = np.var([enumeration.weighted_mean(sizes, labeled, x) for x in every])
    assert stratified_part == pytest.approx(listed, abs=1e-12)
    difference = (v_random(sizes, right, n) - stratified_part) * n / (1 - n / total)
    a = 0.5
    correct = -sum(m * (total - m) / (total * (total - 1) * (m - 1)) for m in sizes) * a * (1 - a)
    printed = -sum((total - m) / (total * (total - 1) * (m - 1)) for m in sizes) * a * (1 - a)
    assert difference == pytest.approx(correct, abs=1e-12)
    assert abs(difference - printed) > 0.02


def test_proportional_can_lose_to_random_sampling_without_replacement():
    """Kumar & Raj 2016 state V(random) >= V(proportional); with equal A_k it fails, by enumeration."""
    sizes, right, labeled = [4, 4], [2, 2], [2, 2]
    listed = np.var(
        [
            enumeration.weighted_mean(sizes, labeled, x)
            for x in enumeration.samples_without(sizes, right, labeled)
        ]
    )
    random = np.var([sum(s) / 4 for s in itertools.combinations([1, 1, 0, 0, 1, 1, 0, 0], 4)])
    assert accuracy_variance(sizes, right, labeled) == pytest.approx(listed)
    assert accuracy.accuracy_variance([8], [4], [4]) == pytest.approx(random)
    assert listed > random * 1.1


def test_equal_spread_does_not_mean_equal_accuracy():
    """A_k = .01 and .99 have the same S_k, yet proportional sampling has .04 of random sampling's variance."""
    sizes, right = [100_000, 100_000], [1000, 99_000]
    ratio = accuracy_variance(sizes, right, [50, 50]) / accuracy_variance(
        [200_000], [100_000], [100]
    )
    assert ratio == pytest.approx(0.04, abs=0.001)
    assert ratio == pytest.approx(0.01 * 0.99 / 0.25, rel=1e-3)


def test_the_exact_errors():
    few = (
        "must be at least 2 in every stratum that is not fully labeled; stratum 1 has 1 label for 9 "
        "items: label more items there, or use fewer strata"
    )
    refused(lambda: stratified_accuracy([5, 9], [5, 1], [3, 1]), "labeled", few)
    most, told = "must be at most stratum_size", "stratum 1 has 10 of 9"
    refused(lambda: accuracy_variance([5, 9], [3, 10], [2, 2]), "correct", most, told)
    forms = "must be one of 'finite', 'paper', 'with_replacement'"
    refused(lambda: accuracy_variance([5], [3], [2], form="exact"), "form", forms, "got 'exact'")
    assert accuracy_variance([5, 5], [3, 5], [0, 2]) == np.inf
    assert accuracy_variance([5, 5], [5, 5], [0, 2]) == 0


def test_a_result_states_its_finding():
    found = stratified_accuracy([30, 70], [8, 9], [5, 8])
    assert found.rows() == [
        {"stratum": 1, "size": 30, "labeled": 8, "correct": 5, "accuracy": 0.625},
        {"stratum": 2, "size": 70, "labeled": 9, "correct": 8, "accuracy": 8 / 9},
    ]
    low, high = found.interval()
    assert repr(found) == (
        f"StratifiedEstimate(accuracy 0.8097 (SE 0.0865), 95% confidence interval {low:.4g} to {high:.4g}; "
        "17 labels, 2 strata)"
    )
    assert found.limiting_stratum == found.interval().limiting_stratum is None
    assert stratified_accuracy([900, 100], [5, 95], [5, 95]).limiting_stratum == 0


# planning


def test_the_textbook_budgets_of_the_digits(digits):
    sizes, right = digits
    assert right.tolist() == [209, 307, 346, 355, 359]
    accuracy = right / sizes

    def budget(method, half_width=0.03, **options):
        return wb.plan_budget(
            sizes, accuracy, half_width, method=method, interval="wald", **options
        ).budget

    assert [budget(m) for m in ("simple_random", "proportional", "neyman")] == [367, 298, 188]
    assert budget("simple_random", 0.01, finite=False) == 4146
    assert budget("simple_random", 0.01) == 1254


@pytest.mark.parametrize("half_width", [0.02, 0.03, 0.05])
@pytest.mark.parametrize("method", ["simple_random", "proportional", "equal", "neyman"])
def test_a_textbook_plan_is_the_smallest_real_valued_one(digits, method, half_width):
    """z^2 times the variance of unrounded shares, floors ignored, first falls below the half-width there."""
    sizes, right = digits
    if method == "simple_random":
        sizes, right = sizes.sum(keepdims=True), right.sum(keepdims=True)
    spread = np.array(
        [np.std([1] * c + [0] * (m - c), ddof=1) for m, c in zip(sizes, right, strict=True)]
    )
    share = {"equal": np.ones(sizes.size), "neyman": sizes * spread}.get(method, sizes).astype(
        float
    )
    z, weight = stats.norm.ppf(0.975), sizes / sizes.sum()

    def reach(n):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = weight**2 * spread**2 * (1 / (n * share / share.sum()) - 1 / sizes)
        return z * np.sqrt(np.where(spread == 0, 0, terms).sum())

    name = "proportional" if method == "simple_random" else method
    found = wb.plan_budget(sizes, right / sizes, half_width, method=name, interval="wald")
    assert reach(found.budget) <= half_width < reach(found.budget - 1)
    assert found.expected_half_width == pytest.approx(reach(found.budget), abs=1e-9)
    assert found.expected_half_width_error == 0


def test_a_textbook_plan_is_too_small_for_an_honest_interval(digits):
    """Mean half-widths of the default: .032 for the 298 proportional labels, .101 for Neyman's 188."""
    sizes, right = digits
    accuracy = right / sizes
    for method, mean in (("proportional", 0.032), ("neyman", 0.101)):
        plan = wb.plan_budget(sizes, accuracy, 0.03, method=method, interval="wald")
        found, error = expected_half_width(sizes, accuracy, plan.labeled)
        assert found == pytest.approx(mean, abs=0.0006 + 3 * error) and 0 < error < 0.001


@pytest.mark.slow
def test_the_expected_half_width_is_a_mean_over_samples(digits):
    sizes, right = digits
    labeled = np.array([12, 12, 12, 12, 12])
    rng = np.random.default_rng(11)
    for method in ("default", "wilson"):
        draws = rng.hypergeometric(right, sizes - right, labeled, size=(400, 5))
        widths = [
            wb.stratified_interval(sizes, labeled, x, method=method).half_width for x in draws
        ]
        found, error = expected_half_width(sizes, right / sizes, labeled, interval=method)
        own = np.std(widths) / 20
        assert found == pytest.approx(np.mean(widths), abs=4 * np.hypot(own, error))


@pytest.mark.slow
@pytest.mark.parametrize(
    "method, half_width, options",
    [
        ("proportional", 0.03, {}),
        ("proportional", 0.06, {"level": 0.9}),
        ("equal", 0.05, {}),
        ("simple_random", 0.05, {}),
        ("proportional", 0.06, {"interval": "wilson"}),
        ("neyman", 0.05, {"minimum": 15}),
    ],
)
def test_one_label_fewer_does_not_reach_the_half_width(digits, method, half_width, options):
    """Up to Monte Carlo error, within which the mean width need not fall steadily."""
    sizes, right = digits
    accuracy = right / sizes
    plan = wb.plan_budget(sizes, accuracy, half_width, method=method, **options)
    assert plan.expected_half_width <= half_width
    assert plan.labeled.sum() == plan.budget and plan.half_width == half_width
    interval = {k: options[k] for k in ("interval", "level") if k in options}
    if method == "simple_random":
        sizes, accuracy, fewer = (
            sizes.sum(keepdims=True),
            [right.sum() / sizes.sum()],
            [plan.budget - 1],
        )
    else:
        sd = np.sqrt(sizes / (sizes - 1) * accuracy * (1 - accuracy))
        fewer = wb.allocate(
            sizes, plan.budget - 1, method, stratum_sd=sd, minimum=options.get("minimum", 2)
        ).labeled
    found, error = expected_half_width(sizes, accuracy, fewer, **interval)
    assert found > half_width - 2 * error
    again, _ = expected_half_width(sizes, accuracy, plan.labeled, **interval)
    assert again == plan.expected_half_width


@pytest.mark.parametrize(
    "method, size, rate, half_width",
    [
        ("voila", [360, 359, 360, 359, 359], [0.58, 0.85, 0.96, 0.99, 1], 0.05),
        ("voila", [9000, 250, 250, 250, 250], [1, 0.6, 0.7, 0.8, 0.9], 0.03),
        ("neyman", [100, 200], [0.8, 1], 0.02),
        ("neyman_plus", [5000, 5000, 200, 200], [0.5, 0.99, 0.9, 0.6], 0.04),
    ],
)
@pytest.mark.slow
def test_an_optimal_plan_raises_its_floor_and_needs_no_more_labels_than_one_in_proportion(
    method, size, rate, half_width
):
    """Two labels in a pure stratum keep the interval wide: VOILA alone needs 1,444 of 1,797 labels, here 130 of 146."""
    plan = wb.plan_budget(size, rate, half_width, method=method)
    even = wb.plan_budget(size, rate, half_width)
    assert plan.labeled.sum() <= plan.budget <= even.budget
    found, error = wide_mean(size, rate, plan.labeled)
    assert found < half_width + 3 * error
    even = wb.allocate(size, plan.budget, "proportional").labeled
    floors = {
        f"every stratum gets at least {100 * share:.6g}% of its proportional labels": share
        for share in accuracy.FLOORS
    }
    (share,) = [floors[note.text] for note in plan.notes if note.kind == "design"] or [0]
    assert (plan.labeled >= np.floor(share * even)).all()


def wide_mean(size, rate, labeled):
    """Mean half-width of the default interval over drawn samples, and its error, interval by interval."""
    size = np.array(size)
    right = np.rint(size * np.array(rate)).astype(int)
    draws = np.random.default_rng(5).hypergeometric(
        right, size - right, labeled, size=(300, size.size)
    )
    widths = [wb.stratified_interval(size, labeled, x).half_width for x in draws]
    return np.mean(widths), np.std(widths) / np.sqrt(300)


def test_the_floor_stays_where_a_higher_one_saves_nothing():
    """All strata vary: VOILA's own optimum, as `allocate` gives it."""
    size, rate = np.array([9000, 250, 250, 250, 250]), np.array([0.9, 0.6, 0.7, 0.8, 0.9])
    plan = wb.plan_budget(size, rate, 0.03, method="voila")
    sd = np.sqrt(size / (size - 1) * rate * (1 - rate))
    assert plan.labeled.tolist() == wb.allocate(size, plan.budget, stratum_sd=sd).labeled.tolist()
    assert {note.kind for note in plan.notes} == {"assumption"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "interval, draws, method",
    [
        ("guaranteed", 150, "proportional"),
        ("guaranteed", 150, "voila"),
        ("short", 10, "proportional"),
    ],
)
@pytest.mark.slow
def test_plans_for_costly_intervals_have_the_half_width(interval, draws, method):
    """The mean over other samples, interval by interval, without the ratio to the default."""
    size, rate, half_width = (
        np.array([360, 359, 360, 359, 359]),
        np.array([0.58, 0.85, 0.96, 0.99, 1]),
        0.05,
    )
    plan = wb.plan_budget(size, rate, half_width, method=method, interval=interval)
    right = np.rint(size * rate).astype(int)
    samples = np.random.default_rng(3).hypergeometric(
        right, size - right, plan.labeled, size=(draws, 5)
    )
    widths = [
        wb.stratified_interval(size, plan.labeled, x, method=interval).half_width for x in samples
    ]
    error = np.hypot(np.std(widths, ddof=1) / np.sqrt(draws), plan.expected_half_width_error)
    assert plan.expected_half_width <= half_width
    assert np.mean(widths) == pytest.approx(plan.expected_half_width, abs=4 * error)
    assert plan.budget <= {"guaranteed": 195, "short": 121}[interval]


def test_a_plan_for_the_guaranteed_interval_takes_the_most_even_whole_numbers():
    """195 labels in five strata are even and do, 196 to 199 do not."""
    size, rate = np.array([360, 359, 360, 359, 359]), np.array([0.58, 0.85, 0.96, 0.99, 1])
    plan = wb.plan_budget(size, rate, 0.05, interval="guaranteed")
    assert plan.labeled.tolist() == [39] * 5 and plan.budget == 195
    width = [
        expected_half_width(
            size, rate, wb.allocate(size, n, "proportional").labeled, interval="guaranteed"
        )[0]
        for n in (190, 194, 195, 196, 199)
    ]
    assert [w <= 0.05 for w in width] == [False, False, True, False, False]


def test_an_optimal_plan_warns_of_drift(digits):
    """If the faultless stratum is right in 90%: z sqrt(V + W^2 (1 - 2/359) .09 359/358 / 2) = .088, by hand."""
    sizes, right = digits
    plan = wb.plan_budget(sizes, right / sizes, 0.03, method="neyman", interval="wald")
    assert plan.labeled[4] == 2
    spread = np.array(
        [np.var([1] * c + [0] * (m - c), ddof=1) for m, c in zip(sizes, right, strict=True)]
    )
    drifted = spread.copy()
    drifted[4] = 359 / 358 * 0.9 * 0.1
    weight = sizes / sizes.sum()
    reach = [
        stats.norm.ppf(0.975)
        * np.sqrt((weight**2 * (1 - plan.labeled / sizes) * s / plan.labeled).sum())
        for s in (spread, drifted)
    ]
    assert reach[1] == pytest.approx(0.088, abs=0.0005)
    assert plan.notes == (
        wb.Note(
            "assumption",
            "the plan relies on the expected accuracies: if stratum 5 (2 labels) had an accuracy of "
            f"90.0% instead of 100.0%, the Wald half-width would be {reach[1]:.3f} instead of {reach[0]:.3f}",
        ),
    )
    assert wb.sentences(plan.notes) == (plan.notes[0].text,)
    assert wb.plan_budget(sizes, right / sizes, 0.03, interval="wald").notes == ()


def test_a_plan_larger_than_the_population_says_so(digits):
    """Without the finite factor more forms are asked for than exist; what is allocated must add up, or be flagged."""
    sizes, right = digits
    plan = wb.plan_budget(sizes, right / sizes, 0.01, interval="wald", finite=False)
    assert plan.budget > 1797 == plan.labeled.sum()
    assert plan.notes == (
        wb.Note("design", f"the budget of {plan.budget:,} exceeds the 1,797 items that exist"),
    )


@pytest.mark.parametrize(
    ("argument", "value", "rule", "told"),
    [
        ("half_width", 0, "must be a number in (0, 0.5)", "got 0"),
        ("half_width", 0.5, "must be a number in (0, 0.5)", "got 0.5"),
        ("half_width", np.nan, "must be a number in (0, 0.5)", "got nan"),
        ("stratum_accuracy", [0.5, 1.5], "must be at most 1", "stratum 1 is 1.5"),
        ("stratum_accuracy", [-0.5, 1], "must be at least 0", "stratum 0 is -0.5"),
        ("stratum_accuracy", [0.5], "must have 2 entries", "got 1"),
        ("minimum", 1, "must be a whole number of at least 2", "got 1"),
        ("level", 1, "must be a number in (0, 1)", "got 1"),
        (
            "method",
            "best",
            "must be one of 'simple_random', 'proportional', 'equal', ",
            "got 'best'",
        ),
        (
            "interval",
            "exact",
            "must be one of 'default', 'short', 'guaranteed', 'wa",
            "got 'exact'",
        ),
    ],
)
def test_the_exact_planning_errors(argument, value, rule, told):
    given = {"stratum_size": [100, 200], "stratum_accuracy": [0.8, 0.9], "half_width": 0.05}
    refused(lambda: wb.plan_budget(**given | {argument: value}), argument, rule, told)


def test_counts_by_inversion_follow_scipys_quantile():
    uniform = np.random.default_rng(0).random((2000, 2))
    size, right, labeled = np.array([40, 900]), np.array([31.0, 880.0]), np.array([12, 35])
    found = accuracy.draw_counts(size, right, labeled, uniform)
    for h in range(2):
        expected = stats.hypergeom(size[h], right[h], labeled[h]).ppf(uniform[:, h])
        assert (found[:, h] == expected).mean() > 0.999


# notes and words


def test_a_stratum_of_right_labels_only_says_that_its_error_is_not_knowledge():
    found = wb.stratified_accuracy([10, 20, 30, 40], [5, 20, 5, 6], [5, 20, 2, 0])
    text = "all labels agree, so the estimated standard error is 0; use the confidence interval, which accounts for this"
    assert found.notes == (
        wb.Note("unreliable", text, ("stratum", 0)),
        wb.Note("unreliable", text, ("stratum", 3)),
    )
    assert f"<li>strata 1, 4: {text}</li>" in found._repr_html_()
    assert wb.stratified_accuracy([10, 20], [5, 20], [3, 20]).notes == ()


def test_one_label_and_one_stratum_are_spoken_of_in_the_singular():
    assert wb.stratified_accuracy([1], [1], [1]).headline().endswith("; 1 label, 1 stratum")
    assert wb.stratified_accuracy([9], [3], [1]).headline().endswith("; 3 labels, 1 stratum")
    assert wb.plan_budget([1], [1.0], 0.1).headline().startswith("1 label (")


@pytest.mark.parametrize(
    ("size", "rate", "labeled"),
    [
        ([360, 359, 360, 359, 359], [0.58, 0.85, 0.96, 0.99, 1], [20] * 5),
        ([500] * 10, np.linspace(0.6, 0.999, 10), [7] * 10),
        (
            [10146, 919, 7915, 12, 503, 410, 10, 88],
            [0.972, 1, 0.8635, 0.7718, 0.9969, 0.9977, 0.998, 0.5585],
            [12, 2, 10, 2, 2, 2, 2, 2],
        ),
    ],
)
def test_a_plan_needs_no_look_at_other_outcomes(size, rate, labeled):
    """What the interval gains from outcomes with fewer right labels is less than the Monte Carlo error (the last, a
    plan by neyman_plus, gained most of 118 random ones)."""
    size, rate, labeled = map(np.array, (size, rate, labeled))
    planned, error, _ = accuracy.half_widths(size, rate, labeled, "default", 0.95)
    draws = np.random.default_rng(1).hypergeometric(
        np.rint(size * rate).astype(int),
        size - np.rint(size * rate).astype(int),
        labeled,
        (250, size.size),
    )
    cells = intervals.stratum_cells(size, labeled, draws)
    low, high = intervals.default_limits(cells, size.sum(), 0.025)
    reported = np.mean([wb.stratified_interval(size, labeled, x).half_width for x in draws])
    assert 0 <= np.mean(high - low) / 2 - reported < error
    assert reported == pytest.approx(planned, abs=5 * error)


def test_a_search_for_more_labels_than_anybody_reads_ends_before_it_starts():
    rule = "must need at most 1,000,000 labels; 1e-05 needs about 7,985,695"
    refused(lambda: wb.plan_budget([5_000_000, 3_000_000], [0.9, 0.8], 1e-5), "half_width", rule)
    assert (
        wb.plan_budget([5_000_000, 3_000_000], [0.9, 0.8], 1e-5, interval="wald").budget > 7_900_000
    )


def test_a_plan_at_random_is_that_of_one_stratum():
    plan = wb.plan_budget([30, 70], [0.6, 0.9], 0.2, method="simple_random")
    pooled = wb.plan_budget([100], [(18 + 63) / 100], 0.2)
    assert (plan.budget, plan.labeled.tolist()) == (pooled.budget, [pooled.budget])
    assert plan.expected_half_width == pooled.expected_half_width <= 0.2


def test_bounds_count_what_was_skipped_as_wrong_and_as_right():
    found = stratified_accuracy([30, 70], [8, 9], [5, 8], skipped=[2, 1])
    assert found.bounds == pytest.approx((0.3 * 5 / 10 + 0.7 * 8 / 10, 0.3 * 7 / 10 + 0.7 * 9 / 10))
    whole = stratified_accuracy([30, 70], [8, 9], [5, 8])
    assert whole.bounds == (whole.estimate, whole.estimate)


def test_a_plan_is_the_first_budget_that_does_though_the_next_does_not():
    """Widths of whole labels are jagged: 102 of 258 items do, 103 do not."""
    does = [n for n in range(80, 105) if expected_half_width([258], [0.9], [n])[0] <= 0.05]
    assert does == [102, 104] and wb.plan_budget([258], [0.9], 0.05).budget == does[0]


def test_an_assured_budget_does_in_its_share_of_all_outcomes():
    plan = wb.plan_budget([163], [0.9], 0.03)
    outcomes = stats.hypergeom(163, round(163 * 0.9), plan.assured)
    x = np.arange(outcomes.ppf(0.001), outcomes.ppf(0.999) + 1).astype(int)
    widths, chance = (
        np.array(
            [stratified_accuracy([163], [plan.assured], [k]).interval().half_width for k in x]
        ),
        outcomes.pmf(x),
    )
    assert (
        isinstance(plan.assured, int)
        and chance[widths <= 0.03].sum() > 0.8 - 3 * (0.8 * 0.2 / 1000) ** 0.5
    )


def test_a_plan_in_proportion_has_one_floor_and_simulates_no_budget_twice(monkeypatch):
    simulated, true = [], accuracy.half_widths
    monkeypatch.setattr(
        accuracy,
        "half_widths",
        lambda *given: simulated.append(int(given[2].sum())) or true(*given),
    )
    wb.plan_budget([100, 200], [0.8, 0.95], 0.08)
    assert 2 < len(simulated) == len(set(simulated))


def test_a_costly_interval_is_computed_only_where_the_default_one_would_do():
    """1.5 times a default of n ** -.5 is at most .0501 from n = 897 on: (1.5 / .0501) ** 2 = 896.4."""
    costly = []

    def expected(budget, share, interval):
        if interval == "short":
            costly.append(budget)
        return (1.5 if interval == "short" else 1) / budget**0.5, None, None

    size, rate = np.array([4000]), np.array([0.5])
    design = SimpleNamespace(
        size=size, rate=rate, level=0.95, method="proportional", fewest=2, expected=expected
    )
    assert accuracy.least_budget(design, 0.0, 0.0501, "short", 4000) == 897
    assert set(costly) == {4000, 897}
