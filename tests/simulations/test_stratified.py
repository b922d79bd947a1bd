import json
import math

import numpy as np
import pytest
from refusals import refused
from scipy import stats

import workbench as wb
from workbench.charts.stratified import scenes as charts
from workbench.course.digit_forms import digit_forms
from workbench.data.scored_items import synthetic_scores
from workbench.results import Note
from workbench.simulations import stratified as simulations
from workbench.simulations.stratified import simulate_grid, simulate_labeling
from workbench.stratified.waves import OPT_NOTE, wave_accuracy

DIGITS = np.array([360, 359, 360, 359, 359]), np.array([209, 307, 346, 355, 359])
FIXED = ("simple_random", "proportional", "equal", "neyman", "voila")


def population(kind, accuracy, n_strata=5, method="equal_size", size=20_000, seed=1):
    items = synthetic_scores(kind, accuracy=accuracy, size=size, rng=seed)
    strata = wb.stratify(items.score, n_strata, method)
    right = np.bincount(strata.labels, items.correct, strata.n_strata).astype(int)
    return strata.sizes, right, np.bincount(strata.labels, items.score) / strata.sizes


def v_random(size, right, n):
    total, a = sum(size), sum(right) / sum(size)
    return a * (1 - a) / n * (total - n) / (total - 1)


# draws


@pytest.mark.parametrize("most", [6, 45])
def test_both_samplers_draw_hypergeometric_counts(most):
    """Up to 30 draws are made one by one; chi-square against scipy.stats.hypergeom at four standard errors."""
    runs = 60_000
    left, right, n = (
        np.array([40, 15, 9, 200]),
        np.array([31, 2, 9, 180]),
        np.array([6, 5, 3, most]),
    )
    found = simulations._draw(
        np.random.default_rng(8),
        np.tile(right, (runs, 1)),
        np.tile(left, (runs, 1)),
        np.tile(n, (runs, 1)),
    )
    for h in range(4):
        pmf = stats.hypergeom.pmf(np.arange(n[h] + 1), left[h], right[h], n[h])
        count = np.bincount(found[:, h], minlength=n[h] + 1)
        assert count[pmf == 0].sum() == 0
        common = pmf * runs > 8
        if common.sum() > 1:
            expected = np.append(pmf[common], pmf[~common].sum()) * runs
            seen = np.append(count[common], count[~common].sum())
            keep = expected > 0
            chi2 = ((seen - expected)[keep] ** 2 / expected[keep]).sum()
            df = keep.sum() - 1
            assert chi2 < df + 4 * math.sqrt(2 * df) + 8
    assert abs(np.corrcoef(found[:, 0], found[:, 3])[0, 1]) < 4 / math.sqrt(runs)


def test_a_different_number_of_draws_per_run_is_respected():
    n = np.array([[0, 3], [2, 0], [5, 5]])
    found = simulations._draw(np.random.default_rng(0), np.full((3, 2), 5), np.full((3, 2), 5), n)
    assert found.tolist() == n.tolist()
    assert (
        simulations._draw(
            np.random.default_rng(0), np.zeros((3, 2), int), np.full((3, 2), 5), n
        ).sum()
        == 0
    )


@pytest.mark.parametrize("method", FIXED)
def test_fixed_designs_draw_hypergeometric_counts(method):
    size, right = ([30, 500], [12, 480]) if method != "simple_random" else ([530], [492])
    study = simulate_labeling(size, right, 40, method, runs=40_000, rng=4)
    labeled = study.labeled[0, 0]
    assert labeled.sum() == 40
    for h, n in enumerate(labeled):
        pmf = stats.hypergeom.pmf(np.arange(n + 1), size[h], right[h], n)
        count = np.bincount(study.correct[:, 0, h], minlength=n + 1)
        common = pmf * 40_000 > 8
        expected, seen = pmf[common] * 40_000, count[common]
        assert ((seen - expected) ** 2 / expected).sum() < common.sum() + 4 * math.sqrt(
            2 * common.sum()
        ) + 8


# fixed designs


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("n", [20, 100, 600])
def test_closed_forms_agree_with_the_runs(method, n):
    size, right = DIGITS
    study = simulate_labeling(size, right, n, method, runs=20_000, rng=2)
    truth = right.sum() / size.sum()
    assert study.accuracy == pytest.approx(truth)
    error = study.estimates - truth
    random = v_random(size, right, n)
    assert study.bias == study.bias_error == study.variance_ratio_error == 0
    assert abs(error.mean()) < 4 * error.std() / math.sqrt(20_000)
    squared = error**2 / random
    assert study.variance_ratio == pytest.approx(
        squared.mean(), abs=4 * squared.std() / math.sqrt(20_000)
    )
    claimed = study.estimated_variances / random
    assert study.estimated_variance_ratio == pytest.approx(
        claimed.mean(), abs=4 * claimed.std() / math.sqrt(20_000)
    )
    assert study.mean_absolute_error == pytest.approx(np.abs(error).mean())
    assert study.mean_absolute_error_error == pytest.approx(
        np.abs(error).std(ddof=1) / math.sqrt(20_000)
    )
    if method == "simple_random":
        assert study.variance_ratio == pytest.approx(1)


def test_the_runs_estimates_are_those_of_the_estimator():
    size, right = DIGITS
    study = simulate_labeling(size, right, 40, "proportional", runs=30, rng=9)
    for r in range(30):
        single = wb.stratified_accuracy(size, study.labeled[0, 0], study.correct[r, 0])
        assert (study.estimates[r], study.estimated_variances[r]) == pytest.approx(
            (single.estimate, single.variance)
        )
    for method in ("default", "wald", "wilson", "guaranteed"):
        low, high = study.limits(method, 0.9)
        for r in (0, 7, 29):
            single = wb.stratified_interval(
                size, study.labeled[0, 0], study.correct[r, 0], level=0.9, method=method
            )
            assert (low[r], high[r]) == pytest.approx(tuple(single), abs=1e-12)
        inside = [a <= study.accuracy <= b for a, b in zip(low, high, strict=True)]
        assert study.coverage(method, 0.9) == pytest.approx(np.mean(inside), abs=1e-9)
        share = study.coverage(method, 0.9)
        assert study.coverage_error(method, 0.9) == pytest.approx(
            math.sqrt(share * (1 - share) / 30)
        )


def test_the_variances_of_the_digits_at_a_hundred_labels():
    """Standard errors .0319 random, .0281 proportional, .0221 at the true spreads."""
    size, right = DIGITS
    random = math.sqrt(v_random(size, right, 100))
    assert random == pytest.approx(0.0319, abs=5e-5)
    for method, se in (("proportional", 0.0281), ("neyman", 0.0221)):
        ratio = simulate_labeling(size, right, 100, method, runs=2).variance_ratio
        assert random * math.sqrt(ratio) == pytest.approx(se, abs=5e-5)


@pytest.mark.parametrize("kind", ["calibrated", "overconfident", "noisy"])
@pytest.mark.parametrize("accuracy", [0.55, 0.75, 0.9, 0.97, 0.995])
def test_the_default_covers_in_a_grid_of_designs(kind, accuracy):
    """Nominal 95%; 2,000 runs have a standard error of .005 at .95."""
    for stratifier, n_strata, budget in (
        ("cum_sqrt_f", 10, 30),
        ("equal_size", 5, 50),
        ("kmeans", 3, 100),
        ("equal_width", 4, 40),
        ("gmm", 3, 300),
        ("weighted_mean", 1, 60),
    ):
        size, right, _ = population(kind, accuracy, n_strata, stratifier, 4000)
        for method in ("proportional", "equal", "neyman"):
            study = simulate_labeling(size, right, budget, method, runs=2000, rng=6)
            assert study.coverage() >= 0.94, (stratifier, method, budget)


# waves

SETTINGS = [
    (kind, accuracy)
    for kind in ("calibrated", "overconfident", "noisy")
    for accuracy in (0.97, 0.88, 0.67)
]


@pytest.mark.parametrize("kind, accuracy", SETTINGS)
def test_waves_are_unbiased_and_know_their_variance(kind, accuracy):
    """30,000 runs: the ratio of estimated to true variance has a standard error of about .008."""
    size, right, score = population(kind, accuracy)
    study = simulate_labeling(size, right, 100, "waves", stratum_score=score, runs=30_000, rng=3)
    error = study.estimates - right.sum() / size.sum()
    assert abs(error.mean()) < 4 * error.std() / math.sqrt(error.size)
    assert 0.97 < study.estimated_variances.mean() / (error**2).mean() < 1.03
    assert study.bias == pytest.approx(error.mean()) and study.variance_ratio == pytest.approx(
        (error**2).mean() / v_random(size, right, 100)
    )
    assert (
        simulate_labeling(
            size, right, 100, "waves", stratum_score=score, runs=4000, rng=4
        ).coverage()
        >= 0.93
    )


def test_the_papers_opt_a2_fails_both_tests():
    """Kumar & Raj 2016, pilot 5, batch 10, on the same populations."""
    for kind, accuracy in SETTINGS[:2]:
        size, right, _ = population(kind, accuracy)
        study = simulate_labeling(size, right, 100, "opt_a2", runs=3000, rng=3)
        error = study.estimates - right.sum() / size.sum()
        assert abs(error.mean()) > 8 * error.std() / math.sqrt(error.size)
        assert study.estimated_variances.mean() / (error**2).mean() < 0.7


def test_waves_of_one_run_are_those_of_the_estimator():
    size, right = DIGITS
    study = simulate_labeling(size, right, 61, "waves", waves=3, runs=20, rng=5)
    assert study.labeled.sum(2).tolist() == [[20, 20, 21]] * 20
    assert (study.labeled >= 2).all() and (study.correct <= study.labeled).all()
    low, high = study.limits()
    for r in range(20):
        single = wave_accuracy(size, study.labeled[r], study.correct[r])
        assert (study.estimates[r], study.estimated_variances[r]) == pytest.approx(
            (single.estimate, single.variance)
        )
        assert (low[r], high[r]) == pytest.approx(tuple(single.interval()))


def test_waves_that_label_everything_know_the_truth():
    study = simulate_labeling([10, 20], [5, 10], 30, "waves", runs=50)
    assert study.coverage() == 1


# the paper's adaptive rules on the digits


@pytest.fixture(scope="module")
def opt_a2():
    return {
        n: simulate_labeling(*DIGITS, n, "opt_a2", runs=4000, rng=12)
        for n in (40, 60, 100, 200, 300)
    }


@pytest.mark.parametrize(
    "n, coverage", [(40, 0.80), (60, 0.66), (100, 0.53), (200, 0.45), (300, 0.405)]
)
def test_more_labels_cover_less_by_opt_a2(opt_a2, n, coverage):
    """Both figures from some thousand runs: four standard errors of .008."""
    assert opt_a2[n].coverage("wald") == pytest.approx(coverage, abs=0.032 + 0.005)


@pytest.mark.parametrize("n, claimed, true", [(200, 0.18, 2.57), (300, 0.14, 4.03)])
def test_opt_a2_claims_a_tenth_of_its_variance(opt_a2, n, claimed, true):
    study = opt_a2[n]
    assert study.estimated_variance_ratio == pytest.approx(
        claimed, abs=0.005 + 4 * study.estimated_variance_ratio_error
    )
    assert study.variance_ratio == pytest.approx(true, abs=0.005 + 4 * study.variance_ratio_error)
    assert study.notes == (OPT_NOTE,)


def test_opt_a2_is_biased_and_below_the_optimum_it_approximates(opt_a2):
    assert opt_a2[100].bias == pytest.approx(0.022, abs=0.0005 + 4 * opt_a2[100].bias_error)
    best = simulate_labeling(*DIGITS, 200, "neyman", runs=2).variance_ratio
    assert best == pytest.approx(0.46, abs=0.005) and opt_a2[200].estimated_variance_ratio < best


def test_one_smoothed_label_per_side_mends_opt_a1():
    study = simulate_labeling(*DIGITS, 200, "opt_a1", laplace=1.0, runs=6000, rng=1)
    assert study.variance_ratio == pytest.approx(0.70, abs=0.005 + 4 * study.variance_ratio_error)
    assert study.coverage("wald") == pytest.approx(0.94, abs=0.017) and study.notes == ()


def test_the_papers_rules_label_what_they_should():
    for method in ("opt_a1", "opt_a2"):
        study = simulate_labeling(*DIGITS, 90, method, pilot=4, step=7, runs=50, rng=1)
        assert study.labeled.shape == (50, 1, 5) and (study.labeled.sum(2) == 90).all()
        assert (study.labeled >= 4).all() and (study.correct <= study.labeled).all()
        pure = (study.correct == study.labeled)[:, 0]
        assert (study.labeled[:, 0][pure] < 12).mean() > 0.8


# reproducibility, texts


@pytest.mark.parametrize("method", [*FIXED, "opt_a1", "opt_a2", "waves"])
def test_the_seed_decides(method):
    def study(rng):
        return simulate_labeling(*DIGITS, 80, method, runs=40, rng=rng)

    assert (study(1).estimates == study(1).estimates).all()
    assert (study(1).estimates != study(2).estimates).any()
    assert (study(np.random.default_rng(1)).estimates == study(1).estimates).all()


def labeled(method="proportional", **change):
    given = {"stratum_size": DIGITS[0], "correct": DIGITS[1], "budget": 100} | change
    return simulate_labeling(**given, method=method)


def looking(**settings):
    return wb.simulate_looking([30, 40], [24, 39], **{"first": 8, "last": 40} | settings)


REFUSED = [
    (lambda: labeled(budget=9), "budget", "must be at least 10, 2 for each of 5 strata", "got 9"),
    (lambda: labeled(budget=1798), "budget", "must be a whole number from 2 to 1797", "got 1798"),
    (lambda: labeled(budget=1), "budget", "must be a whole number from 2 to 1797", "got 1"),
    (lambda: labeled("opt_a2", budget=24), "budget", "must be at least 25: a pilot", "got 24"),
    (lambda: labeled("waves", budget=19), "budget", "must be at least 20: 2 labels", "got 19"),
    (lambda: labeled(correct=[1, 360, 1, 1, 1]), "correct", "must be at most", "stratum 1 has 360"),
    (lambda: labeled(correct=[1]), "correct", "must have 5 entries", "got 1"),
    (lambda: labeled(runs=1), "runs", "must be a whole number of at least 2", "got 1"),
    (lambda: labeled("opt_a1", pilot=1), "pilot", "must be a whole number of at least 2", "got 1"),
    (lambda: labeled("opt_a2", step=0), "step", "must be a whole number of at least 1", "got 0"),
    (lambda: labeled("waves", waves=0), "waves", "must be a whole number of at least 1", "got 0"),
    (lambda: labeled("waves", smoothing=-1), "smoothing", "must be a number above 0", "got -1"),
    (lambda: labeled("waves", floor=2), "floor", "must be a number from 0 to 1", "got 2"),
    (lambda: labeled("opt_a1", laplace=-1), "laplace", "must be a number of at least 0", "got -1"),
    (lambda: labeled("opt_a3"), "method", "must be one of 'simple_random'", "got 'opt_a3' (did"),
    (lambda: labeled("waves").coverage("short"), "method", "must be one of 'default'", "got 'sh"),
    (lambda: looking(first=3), "first", "must be a whole number from 4 to 40", "got 3"),
    (lambda: looking(last=80), "last", "must be a whole number from 1 to 70", "got 80"),
    (lambda: looking(method="wald"), "method", "must be one of 'fixed', 'looks'", "got 'wald'"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1]} {case[2]}")
def test_wrong_arguments_are_refused_by_name_and_rule(case):
    refused(*case)


def test_a_budget_that_neyman_cannot_spend_is_flagged():
    """Both strata are capped or pure: 12 of 500 labels are spent."""
    study = simulate_labeling([10, 1000], [5, 1000], 500, "neyman", runs=5)
    assert study.labeled.sum() == 500 or wb.sentences(study.notes)


# the grid


def test_the_grid_has_one_row_per_design():
    items = synthetic_scores("calibrated", size=2000, rng=0)
    found = simulate_grid(
        items.score,
        items.correct,
        60,
        stratifiers=["equal_size", "kmeans"],
        n_strata=[2, 5, 15],
        methods=["proportional", "opt_a1"],
        runs=20,
        progress=False,
    )
    assert [(r["stratifier"], r["n_strata"], r["method"]) for r in found.rows()] == [
        (rule, k, method)
        for rule in ("equal_size", "kmeans")
        for k in (2, 5, 15)
        for method in ("proportional", "opt_a1")
        if (k, method) != (15, "opt_a1")
    ]
    strata = wb.stratify(items.score, 5, "equal_size")
    right = np.bincount(strata.labels, items.correct).astype(int)
    expected = simulate_labeling(strata.sizes, right, 60, "proportional", runs=2).variance_ratio
    assert found.rows()[2]["variance_ratio"] == expected
    best = min(found.rows(), key=lambda row: row["variance_ratio"])
    assert f"{best['stratifier']}, {best['method']}, {best['n_strata']} strata" in repr(found)


def test_the_grid_takes_any_iterable_and_serialises():
    score, correct = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] * 20, [0, 1, 1, 1, 1, 1] * 20
    found = simulate_grid(
        score,
        correct,
        30,
        n_strata=np.arange(2, 4),
        runs=5,
        stratifiers=["equal_size"],
        methods=["equal"],
    )
    assert len(json.dumps(found.to_dict(), allow_nan=False)) > 100
    found = simulate_grid(
        score,
        correct,
        30,
        n_strata=iter([2, 3]),
        runs=5,
        stratifiers=iter(["equal_size", "equal_width"]),
        methods=iter(["equal", "proportional"]),
    )
    assert len(found.table) == 8


def test_the_digits_are_the_published_ones():
    forms = digit_forms()
    a, b = forms.read_a == forms.digit, forms.read_b == forms.digit
    assert (forms.digit.size, a.sum(), b.sum()) == (1797, 1576, 1728)
    assert ((a & ~b).sum(), (b & ~a).sum()) == (13, 165)
    assert forms.confidence.mean() == pytest.approx(0.971, abs=5e-4)
    assert [(forms.place == h).sum() for h in range(4)] == [1000, 600, 160, 37]
    assert [((forms.place == h) & ~a).sum() for h in range(4)] == [130, 69, 17, 5]
    assert a[forms.box == 5].mean() == pytest.approx(0.769, abs=5e-4)
    assert (
        forms.box.max() == 14
        and np.bincount(forms.box)[1:].tolist()
        == np.diff(
            [0, 130, 256, 386, 516, 646, 776, 915, 1029, 1157, 1287, 1415, 1545, 1667, 1797]
        ).tolist()
    )


# populations in which random sampling makes no error

NO_ERROR = Note(
    "undefined",
    "random sampling with the same number of labels has no error, so a ratio to its variance does "
    "not exist",
)


@pytest.mark.parametrize("answer", [0, 1])
def test_a_design_without_any_error_has_no_ratio(answer):
    found = simulations.study_design(np.linspace(0.5, 1, 200), np.full(200, answer), 20)
    assert found.standard_error == found.random_error == found.best_error == 0 and np.isnan(
        found.variance_ratio
    )
    assert found.notes == (NO_ERROR,) and found.headline().endswith("random sampling nan")
    assert wb.Result.from_dict(found.to_dict()).notes == (NO_ERROR,)
    figure = charts.design(found, [])
    title, words = figure.title, figure.alternative
    assert title == "20 labels, 5 strata: random sampling also has a standard error of 0"
    assert words.endswith(f" Note: {NO_ERROR.text}.")


def test_a_census_has_no_ratio_either():
    found = simulations.study_design(np.linspace(0.5, 1, 200), np.arange(200) % 2, 200)
    assert np.isnan(found.variance_ratio) and found.notes == (NO_ERROR,)


def test_runs_and_grids_without_any_error_say_so():
    study = simulate_labeling([50, 50], [50, 50], 20, "equal", runs=5)
    assert np.isnan(study.variance_ratio) and study.notes == (NO_ERROR,)
    grid = simulate_grid(
        np.linspace(0.5, 1, 60),
        np.ones(60),
        20,
        n_strata=[2],
        runs=5,
        stratifiers=["equal_size"],
        methods=["equal"],
    )
    assert grid.notes == (NO_ERROR,) and repr(grid).startswith(
        "LabelingGrid(1 design with 20 labels, "
    )


def test_the_ratio_of_a_design_is_that_of_its_errors():
    items = digit_forms().items()
    found = simulations.study_design(items.score, items.correct, 100)
    assert (
        found.variance_ratio == (found.standard_error / found.random_error) ** 2
        and found.notes == ()
    )


def test_a_label_that_neyman_cannot_spend_is_noted():
    study = simulate_labeling([10, 1000], [5, 10], 500, "neyman", runs=5)
    unused = 500 - study.labeled.sum()
    assert unused > 1 and study.notes == (
        Note(
            "design",
            f"{unused} of 500 labels stay unused, because a stratum is smaller than its allocation",
        ),
    )


@pytest.mark.parametrize("method, level", [("fixed", 0.95), ("looks", 0.995), ("anytime", None)])
def test_looking_again_and_again_by_plain_loops(method, level):
    size, right, looks = [30, 40], [24, 39], range(8, 41, 8)
    order = wb.labeling_order(size, 40)
    label, _ = simulations._labels_in_order(
        np.array(size), np.array(right), order, 60, np.random.default_rng(3)
    )
    lost = np.zeros((60, len(looks)), bool)
    for run in range(60):
        for k, n in enumerate(looks):
            counts = np.bincount(order[:n]), np.bincount(order[:n], label[run, :n]).astype(int)
            found = (
                wb.anytime_interval(size, order[:n], label[run, :n], level=0.5, expected=0.85)
                if level is None
                else wb.stratified_interval(size, *counts, level=level)
            )
            lost[run, k:] |= not found.low - 1e-9 <= 0.9 <= found.high + 1e-9
    study = wb.simulate_looking(
        size,
        right,
        method=method,
        first=8,
        last=40,
        every=8,
        runs=60,
        rng=3,
        level=0.5 if level is None else 0.95,
    )
    assert study.accuracy == 0.9 and study.labeled.tolist() == list(looks)
    assert study.missed == pytest.approx(lost.mean(0))
    assert method == "looks" or study.missed[-1] > 0
    share = lost.mean(0)
    assert study.missed_error == pytest.approx(np.sqrt(share * (1 - share) / 60))


def test_labels_come_in_order_as_they_do_without_replacement():
    order = wb.labeling_order([4, 6], 10)
    rng = np.random.default_rng(1)
    label, counts = simulations._labels_in_order(
        np.array([4, 6]), np.array([3, 2]), order, 4000, rng
    )
    assert (counts[-1] == [3, 2]).all() and (label.sum(1) == 5).all()
    assert np.abs(label.mean(0) - np.where(order == 0, 3 / 4, 2 / 6)).max() < 0.03
    first, second = (np.flatnonzero(order == 1)[k] for k in (0, 1))
    assert label[label[:, first] == 1, second].mean() == pytest.approx(1 / 5, abs=0.03)
