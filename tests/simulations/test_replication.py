import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

import workbench as wb
from workbench.simulations import replication as simulations
from workbench.simulations.replication import INTERVALS, simulate_coverage, simulate_random_halves

POPULATION = {
    "strata": 7,
    "psus": 2,
    "items": 127,
    "accuracy": 0.877,
    "icc": 0.0181,
    "weight_spread": 0.0,
    "weight_effect": 0.0,
    "size_spread": 0.0,
    "size_effect": 0.0,
    "statistic": "accuracy",
    "base_rate": 0.3,
}


def population(**change):
    return simulations._Population(**{**POPULATION, **change})


def stratum_rates(strata, accuracy, weight_spread=0.0, weight_effect=0.0):
    """Shares and accuracies of the strata as documented, by scipy.stats."""
    score = stats.norm.ppf((np.arange(strata) + 0.5) / strata)
    weight = np.exp(weight_spread * score)
    odds = accuracy / (1 - accuracy) * np.exp(weight_effect * score)
    return weight / weight.sum(), odds / (1 + odds)


def count_pmf(items, rate, icc):
    """Beta-binomial or binomial probabilities by scipy.stats."""
    x = np.arange(items + 1)
    if icc == 0:
        return stats.binom.pmf(x, items, rate)
    size = (1 - icc) / icc
    return stats.betabinom.pmf(x, items, rate * size, (1 - rate) * size)


def four_errors(study, method, nominal=None):
    share = study.coverage(method) if nominal is None else nominal
    return 4 * math.sqrt(share * (1 - share) / study.runs)


# the counts


@pytest.mark.parametrize("items", [1, 6, 127])
@pytest.mark.parametrize("icc", [0, 1e-9, 0.0181, 0.45, 0.99])
def test_counts_have_the_beta_binomial_distribution(items, icc):
    rate = np.array([0.02, 0.5, 0.877, 0.9999])
    found = np.diff(simulations._count_distribution(items, rate, icc), axis=1, prepend=0)
    expected = [count_pmf(items, p, 0 if icc == 1e-9 else icc) for p in rate]
    np.testing.assert_allclose(found, expected, atol=1e-5 if icc == 1e-9 else 1e-10)


@pytest.mark.parametrize("icc", [0, 0.1])
def test_drawn_counts_follow_it_in_every_stratum(icc):
    """Chi-square at four standard errors."""
    drawn = population(strata=3, items=12, icc=icc, weight_effect=0.8).draw_right(
        30_000, np.random.default_rng(5)
    )[0]
    assert drawn.shape == (6, 30_000) and drawn.min() >= 0 and drawn.max() <= 12
    _, rates = stratum_rates(3, 0.877, 0, 0.8)
    for psu, counts in enumerate(drawn):
        expected = count_pmf(12, rates[psu // 2], icc) * 30_000
        common = expected > 8
        seen = np.bincount(counts, minlength=13)
        chi2 = ((seen - expected)[common] ** 2 / expected[common]).sum()
        assert chi2 < common.sum() + 4 * math.sqrt(2 * common.sum()) + 8
    assert abs(np.corrcoef(drawn[0], drawn[1])[0, 1]) < 4 / math.sqrt(30_000)


@pytest.mark.parametrize("icc", [0, 0.0181, 0.45])
def test_the_intraclass_correlation_is_realized(icc):
    """Moment estimate from the variance within and between 60,000 PSUs of one stratum."""
    m, counts = (
        10,
        population(strata=1, items=10, icc=icc)
        .draw_right(30_000, np.random.default_rng(2))[0]
        .ravel(),
    )
    rate = counts / m
    within = (rate * (1 - rate)).mean() * m / (m - 1)
    between = rate.var(ddof=1) - within / m
    assert between / (between + within) == pytest.approx(icc, abs=0.008)


def test_a_uniform_that_rounds_up_to_one_gives_the_largest_count():
    class AlmostOne:
        def random(self, shape):
            return np.full(shape, 1 - 2.0**-53)

    drawn = population(strata=5, items=3, weight_effect=0.5).draw_right(2, AlmostOne())[0]
    assert (drawn == 3).all()


def test_true_and_false_positives_are_a_multinomial_of_the_base_rate():
    """Correct and positive with probability .877 * .3, wrong with .123, the rest true negatives."""
    chosen = population(statistic="f1", items=4, icc=0)
    hits, counted, sizes = chosen.draw(5000, np.random.default_rng(1))
    assert (sizes == 4).all() and (counted <= 4).all()
    for seen, p in ((hits.sum(), 0.877 * 0.3), ((counted - hits).sum(), 0.123)):
        assert seen / sizes.sum() == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / sizes.sum()))


def test_sizes_are_log_normal_and_large_psus_are_worse():
    """Mean size 20; of the PSUs at one standard deviation of the log size logit accuracy is lower by 1."""
    chosen = population(strata=1, psus=200, items=20, icc=0, size_spread=0.8, size_effect=-1.0)
    right, sizes = chosen.draw_right(1000, np.random.default_rng(3))
    assert sizes.mean() == pytest.approx(20, rel=0.02) and np.log(sizes[sizes > 5]).std() > 0.6
    middle, large = (np.abs(sizes - 20 * math.exp(0.8 * z - 0.32)) < 1 for z in (0, 1))
    rates = [right[part].sum() / sizes[part].sum() for part in (middle, large)]
    assert rates == pytest.approx((0.877, 1 / (1 + math.exp(1) * 0.123 / 0.877)), abs=0.01)
    assert right.sum() / sizes.sum() == pytest.approx(chosen.truth, abs=0.004)


# the same as the estimator, run by run


def expanded_runs(settings, runs, seed):
    """Return for each run a design of single items with the labels that have the drawn counts."""
    chosen = population(**settings)
    hits, counted, sizes = chosen.draw(runs, np.random.default_rng(seed))
    share, _ = stratum_rates(chosen.strata, 0.877, settings.get("weight_spread", 0))
    for run in range(runs):
        psu = np.repeat(np.arange(chosen.strata * chosen.psus), sizes[:, run])
        stratum = psu // chosen.psus
        design = wb.SurveyDesign(
            stratum, psu=psu, weight=share[stratum] * 1000 / (chosen.psus * chosen.items)
        )
        if chosen.statistic == "accuracy":
            labels = [
                classes_of(np.arange(m) < right, psu)
                for psu, (right, m) in enumerate(zip(hits[:, run], sizes[:, run], strict=True))
            ]
        else:
            labels = [
                f1_labels(a, n - a, m)
                for a, n, m in zip(hits[:, run], counted[:, run], sizes[:, run], strict=True)
            ]
        yield design, *np.concatenate(labels, axis=1)


def classes_of(right, psu):
    """True and predicted classes of items that are right or wrong: both classes occur among either."""
    truth = (np.arange(right.size) + psu) % 2
    return truth.astype(float), np.where(right, truth, 1 - truth).astype(float)


def f1_labels(true_positive, wrong, items):
    """Every second wrong item, from the first, is a miss, the others false alarms."""
    place = np.arange(items)
    is_wrong = (place >= true_positive) & (place < true_positive + wrong)
    missed = is_wrong & ((place - true_positive) % 2 == 0)
    hit = place < true_positive
    return (hit | missed).astype(float), (hit | is_wrong & ~missed).astype(float)


CASES = [
    {"statistic": "accuracy"},
    {"statistic": "accuracy", "strata": 31, "psus": 3, "items": 6, "icc": 0.45},
    {"strata": 33, "items": 1, "weight_spread": 1.0, "weight_effect": 0.5},
    {"strata": 6, "items": 1, "weight_spread": 0.7, "weight_effect": 5, "accuracy": 0.5},
    {"strata": 9, "psus": 4, "items": 2, "weight_spread": 0.7},
    {"strata": 12, "items": 20, "statistic": "f1"},
    {"strata": 34, "psus": 5, "items": 3, "weight_spread": 1.0, "statistic": "f1", "icc": 0.3},
    {
        "strata": 5,
        "psus": 3,
        "items": 9,
        "weight_spread": 0.5,
        "size_spread": 1.0,
        "size_effect": -0.7,
    },
    {"strata": 5, "psus": 4, "items": 9, "size_spread": 0.7, "statistic": "f1", "icc": 0.2},
    {"strata": 1, "psus": 8, "items": 1},
]


@pytest.mark.parametrize(
    "settings", CASES, ids=lambda s: f"{s.get('statistic', 'accuracy')} {s.get('strata', 7)}"
)
@pytest.mark.parametrize("method", ["brr", "fay", "jkn", "generalized"])
def test_each_runs_intervals_are_those_of_replicate_estimate(settings, method):
    assert_runs_are_those_of_replicate_estimate(settings, method)


def test_f1_of_single_items_is_that_of_replicate_estimate():
    settings = {"strata": 1, "psus": 27, "items": 1, "statistic": "f1"}
    assert_runs_are_those_of_replicate_estimate(settings, "jkn")


def assert_runs_are_those_of_replicate_estimate(settings, method):
    study = simulate_coverage(**settings, method=method, runs=5, rng=3, level=0.9)
    for run, (design, truth, prediction) in enumerate(expanded_runs(settings, 5, 3)):
        single = wb.replicate_estimate(
            wb.replicates(design, method), study.statistic, truth, prediction
        )
        for name in ("estimates", "variances", "counted", "effective_psus", "df"):
            expected = getattr(
                single, name.removesuffix("s") if name in ("estimates", "variances") else name
            )
            assert getattr(study, name)[..., run] == pytest.approx(expected, rel=1e-9, abs=1e-20), (
                name
            )
        for interval in ("t", "wilson", "default") + (("logit",) if single.variance else ()):
            low, high = study.limits(interval)
            if (
                interval == "t"
            ):  # the study keeps the textbook's limits, the estimator cuts them at 0 and 1
                low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
            expected = single.interval(0.9, interval)
            tolerance = 1e-9
            if expected.method == "default: stratified":  # the study does not search sets of strata
                assert (
                    low[run] <= expected.low + tolerance and high[run] >= expected.high - tolerance
                )
                tolerance = 0.002
            assert (low[run], high[run]) == pytest.approx(tuple(expected), abs=tolerance), interval


def test_bootstrap_runs_are_those_of_replicate_estimate():
    """The draws come first from the generator, then the counts."""
    rng = np.random.default_rng(8)
    study = simulate_coverage(5, 3, 4, method="bootstrap", runs=3, rng=8)
    psus = wb.SurveyDesign(np.repeat(np.arange(5), 3))
    wb.replicates(psus, "bootstrap", rng=rng)
    numerator = population(strata=5, psus=3, items=4).draw(3, rng)[0]
    for run in range(3):
        psu = np.repeat(np.arange(15), 4)
        right = np.concatenate([np.arange(4) < right for right in numerator[:, run]])
        drawn = wb.replicates(wb.SurveyDesign(psu // 3, psu=psu), "bootstrap", rng=8)
        single = wb.replicate_estimate(drawn, "accuracy", *classes_of(right, 0))
        assert study.variances[run] == pytest.approx(single.variance, rel=1e-9)


@pytest.mark.parametrize(
    "settings", CASES, ids=lambda s: f"{s.get('statistic', 'accuracy')} {s.get('strata', 7)}"
)
def test_naive_intervals_take_items_for_independent(settings):
    """Mean squared linearized residual of the items over n, unweighted, or weighted over n all the same."""
    study = simulate_coverage(**settings, runs=4, rng=11)
    for run, (design, truth, prediction) in enumerate(expanded_runs(settings, 4, 11)):
        a, b = (
            (2 * truth * prediction, truth + prediction)
            if study.statistic == "f1"
            else ((truth == prediction) * 1.0, np.ones(truth.size))
        )
        for method, w in (("naive", np.ones(truth.size)), ("weighted_naive", design.weight)):
            w = w / w.sum()
            estimate = w @ a / (w @ b)
            se = math.sqrt(w @ (a - estimate * b) ** 2 / (w @ b) ** 2 / truth.size)
            low, high = study.limits(method)
            assert (low[run], high[run]) == pytest.approx(
                (estimate - 1.959963984540054 * se, estimate + 1.959963984540054 * se), abs=1e-9
            )
        low, high = study.limits("z")
        se = math.sqrt(study.variances[run])
        assert (low[run], high[run]) == pytest.approx(
            (
                study.estimates[run] - 1.959963984540054 * se,
                study.estimates[run] + 1.959963984540054 * se,
            )
        )


def test_runs_in_blocks_are_as_one_block(monkeypatch):
    """Blocks of 100 of 4,050 runs: the first is that of a study of 100, none repeats, all have the same law."""
    first, whole = simulate_coverage(runs=100, rng=1), simulate_coverage(runs=4050, rng=1)
    monkeypatch.setattr(simulations, "BLOCK", 1400)
    blocks = simulate_coverage(runs=4050, rng=1)
    assert blocks.estimates.shape == blocks.counted.shape == (4050,)
    assert (blocks.estimates[:100] == first.estimates).all() and (
        blocks.variances[:100] == first.variances
    ).all()
    assert np.unique(blocks.variances).size > np.unique(whole.variances).size - 100
    assert stats.ks_2samp(blocks.variances, whole.variances).pvalue > 1e-4


# closed forms

SETTINGS = [
    {},
    {"strata": 50, "items": 6, "icc": 0.45},
    {"strata": 20, "psus": 3, "items": 4, "weight_spread": 1.0},
    {"strata": 11, "psus": 5, "items": 1, "weight_spread": 0.5, "weight_effect": 0.5},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_variance_and_its_estimate_agree_with_the_closed_form(settings):
    """sum_h W_h^2 p_h (1 - p_h) (1 + (m - 1) icc) / (n m), [Kish 1965]; four Monte Carlo errors."""
    runs, settings = 20_000, {**POPULATION, **settings}
    share, rates = stratum_rates(
        settings["strata"], 0.877, settings["weight_spread"], settings["weight_effect"]
    )
    design_effect = 1 + (settings["items"] - 1) * settings["icc"]
    variance = (
        (share**2 * rates * (1 - rates)).sum()
        * design_effect
        / (settings["psus"] * settings["items"])
    )
    study = simulate_coverage(**settings, runs=runs, rng=7)
    truth = share @ rates
    assert study.truth == pytest.approx(truth)
    assert study.estimates.mean() == pytest.approx(truth, abs=4 * math.sqrt(variance / runs))
    assert study.variances.mean() == pytest.approx(
        variance, abs=4 * study.variances.std() / math.sqrt(runs)
    )
    worth = truth * (1 - truth) / variance
    assert study.effective_items == pytest.approx(worth, abs=4 * study.effective_items_error)
    assert study.effective_items_error / worth == pytest.approx(math.sqrt(2 / runs), rel=0.2)
    assert study.variance_ratio == pytest.approx(1, abs=4 * study.variance_ratio_error)


def test_truth_and_worth_of_f1():
    """F1 = 2 pi a / (2 pi a + 1 - a); independent single items of equal weight are worth themselves."""
    study = simulate_coverage(50, 2, 20, statistic="f1", icc=0, base_rate=0.2, runs=4000, rng=2)
    assert study.truth == pytest.approx(2 * 0.2 * 0.877 / (2 * 0.2 * 0.877 + 0.123))
    assert study.estimates.mean() == pytest.approx(study.truth, abs=0.002)
    assert study.effective_items == pytest.approx(2000, abs=4 * study.effective_items_error + 30)


@pytest.mark.parametrize("statistic", ["accuracy", "f1"])
def test_monte_carlo_errors_are_those_between_studies(statistic):
    studies = [simulate_coverage(statistic=statistic, runs=200, rng=seed) for seed in range(150)]
    for name in ("variance_ratio", "effective_items"):
        spread = np.std([getattr(study, name) for study in studies])
        claimed = np.mean([getattr(study, f"{name}_error") for study in studies])
        assert claimed == pytest.approx(spread, rel=0.25), name
    for name in ("coverage", "half_width"):
        spread = np.std([getattr(study, name)("t") for study in studies])
        claimed = np.mean([getattr(study, f"{name}_error")("t") for study in studies])
        assert claimed == pytest.approx(spread, rel=0.25), name


# coverage


@pytest.mark.parametrize("icc", [0, 0.0181, 0.1])
def test_naive_coverage_is_that_of_the_exact_distribution(icc):
    """The number right is the sum of 14 beta-binomial counts, by convolution."""
    pmf = np.ones(1)
    for _ in range(14):
        pmf = np.convolve(pmf, count_pmf(127, 0.877, icc))
    n = 14 * 127
    rate = np.arange(n + 1) / n
    reach = stats.norm.ppf(0.975) * np.sqrt(rate * (1 - rate) / n)
    exact = pmf[np.abs(rate - 0.877) <= reach].sum()
    study = simulate_coverage(icc=icc, runs=20_000, rng=4)
    assert study.coverage("naive") == pytest.approx(exact, abs=four_errors(study, "naive", exact))


def test_t_coverage_of_two_strata_is_that_of_all_outcomes():
    """Enumeration of the 4^4 outcomes of four PSUs of three items."""
    pmf, t = count_pmf(3, 0.7, 0.2), stats.t.ppf(0.95, 2)
    exact = zero = 0
    for x in product(range(4), repeat=4):
        p = math.prod(pmf[k] for k in x)
        estimate, se = sum(x) / 12, math.sqrt((x[0] - x[1]) ** 2 + (x[2] - x[3]) ** 2) / 12
        exact += p * (abs(estimate - 0.7) <= t * se + 1e-12)
        zero += p * (se == 0)
    study = simulate_coverage(2, 2, 3, accuracy=0.7, icc=0.2, level=0.9, runs=20_000, rng=6)
    assert study.coverage("t") == pytest.approx(exact, abs=four_errors(study, "t", exact))
    assert study.zero_share == pytest.approx(zero, abs=4 * math.sqrt(zero * (1 - zero) / 20_000))


@pytest.mark.parametrize(
    "method, psus", [("brr", 3), ("brr", 4), ("brr", 5), ("jkn", 3), ("bootstrap", 3)]
)
def test_equal_units_in_every_stratum_have_a_standard_error_of_exactly_zero(method, psus):
    """Share of runs: prod_h (p_h^n + (1 - p_h)^n) for single items; Fourier transforms leave rounding errors."""
    share, rates = stratum_rates(8, 0.5, 1.0, 5.0)
    zero = np.prod(rates**psus + (1 - rates) ** psus)
    study = simulate_coverage(
        8, psus, 1, accuracy=0.5, weight_spread=1.0, weight_effect=5.0, method=method, runs=4000
    )
    assert zero > 0.005
    assert study.zero_share == pytest.approx(zero, abs=4 * math.sqrt(zero * (1 - zero) / 4000))


@pytest.mark.parametrize(
    "method, coverage",
    [("naive", 0.73), ("z", 0.905), ("t", 0.95), ("logit", 0.95), ("default", 0.965)],
)
def test_fourteen_boxes_in_seven_districts(method, coverage):
    study = simulate_coverage(runs=20_000, rng=1)
    assert study.coverage(method) == pytest.approx(coverage, abs=0.005 + four_errors(study, method))


def test_more_correlated_boxes_make_the_naive_interval_worse():
    study = simulate_coverage(icc=0.1, runs=20_000, rng=1)
    assert study.coverage("naive") == pytest.approx(0.41, abs=0.005 + four_errors(study, "naive"))
    assert study.coverage() > 0.93


def test_six_correlated_images_per_person():
    """Micheals & Boult's argument; their design effect 3.25 is an intraclass correlation of .45."""
    study = simulate_coverage(50, 2, 6, icc=0.45, runs=10_000, rng=2)
    assert study.coverage("naive") == pytest.approx(0.73, abs=0.01 + four_errors(study, "naive"))
    assert study.coverage("logit") > 0.92 and study.coverage() > 0.92
    assert study.effective_items == pytest.approx(600 / 3.25, abs=4 * study.effective_items_error)


@pytest.mark.parametrize("strata, naive, logit", [(50, 0.82, 0.935), (483, 0.016, 0.952)])
def test_weights_that_rise_with_accuracy(strata, naive, logit):
    """Averages over 25 populations of another simulation, whose spread is not known: within .05 of the naive one."""
    study = simulate_coverage(strata, 2, 1, weight_spread=0.7, weight_effect=0.65, runs=5000, rng=5)
    assert study.coverage("naive") == pytest.approx(naive, abs=0.05)
    assert study.coverage("logit") == pytest.approx(logit, abs=0.015) and study.coverage() >= 0.94


PUBLISHED = {
    (10, 2): (0.758, 0.837, 0.804),
    (10, 3): (0.821, 0.894, 0.817),
    (10, 5): (0.856, 0.918, 0.837),
    (50, 2): (0.903, 0.937, 0.877),
    (50, 3): (0.908, 0.935, 0.861),
    (50, 5): (0.927, 0.944, 0.877),
    (483, 2): (0.943, 0.948, 0.890),
}


@pytest.mark.parametrize("strata, psus", PUBLISHED)
def test_single_items_of_strata_with_lognormal_weights(strata, psus):
    """Averages over 25 populations of another simulation, whose spread is not known: within .04.

    There the logit interval was not defined, and did not cover, where the standard error is 0.
    """
    study = simulate_coverage(strata, psus, 1, accuracy=0.885, weight_spread=0.7, runs=4000, rng=9)
    low, high = study.limits("logit")
    logit = ((low <= study.truth) & (study.truth <= high) & (study.variances > 0)).mean()
    found = study.coverage("t"), logit, study.coverage("weighted_naive")
    assert found == pytest.approx(PUBLISHED[strata, psus], abs=0.04)
    assert study.coverage() >= 0.94


PUBLISHED_F1 = {2: (0.908, 0.944, 0.937), 3: (0.919, 0.944, 0.924), 5: (0.935, 0.951, 0.934)}


@pytest.mark.parametrize("psus", PUBLISHED_F1)
def test_f1_of_single_items_of_fifty_strata(psus):
    """Of the same populations: t, logit and naive within .03; there t had the design's degrees of freedom."""
    study = simulate_coverage(
        50, psus, 1, accuracy=0.885, weight_spread=0.7, statistic="f1", runs=3000, rng=9
    )
    assert (study.df <= 50 * (psus - 1)).all()
    study = replace(study, df=np.full(study.runs, 50 * (psus - 1)))
    found = study.coverage("t"), study.coverage("logit"), study.coverage("naive")
    assert found == pytest.approx(PUBLISHED_F1[psus], abs=0.03) and study.coverage() >= 0.94


@pytest.mark.parametrize("strata, brr, fay", [(10, 1.2, 1.03), (50, 1.02, 1.07)])
def test_brr_inflates_the_variance_of_f1_where_fay_does_not(strata, brr, fay):
    """1.27 and 1.03 of the truth for 10 strata, 1.11 and 1.07 for 50; the base rate of that population is not known."""
    ratio = {
        method: simulate_coverage(
            strata,
            2,
            1,
            accuracy=0.885,
            weight_spread=0.7,
            statistic="f1",
            base_rate=0.5,
            method=method,
            runs=8000,
            rng=3,
        ).variance_ratio
        for method in ("brr", "fay")
    }
    assert ratio["brr"] > brr and ratio["brr"] > ratio["fay"]
    assert ratio["fay"] == pytest.approx(fay, abs=0.1)


# refused runs

SPARSE = [
    {"strata": 3, "items": 2, "base_rate": 0.2},
    {"strata": 8, "psus": 3, "items": 1, "weight_spread": 1.0},
    {"strata": 20, "items": 1, "base_rate": 0.1, "accuracy": 0.95, "weight_spread": 0.5},
]


@pytest.mark.parametrize("settings", SPARSE, ids=lambda s: s["strata"])
def test_runs_without_positives_are_refused_as_the_estimator_does(settings):
    settings = {**settings, "statistic": "f1"}
    study = simulate_coverage(**settings, runs=60, rng=12)
    refused, undefined = [], 0
    for run, (design, truth, prediction) in enumerate(expanded_runs(settings, 60, 12)):
        try:
            single = wb.replicate_estimate(wb.replicates(design), "f1", truth, prediction)
            refused.append(False)
            undefined += single.undefined
            assert study.variances[run] == pytest.approx(single.variance, rel=1e-9, abs=1e-20)
        except ValueError as error:
            # labels of one class alone are refused before the metric is computed; F1 needs a positive somewhere
            assert "undefined" in str(error) or "cannot be estimated" in str(error)
            refused.append("undefined" in str(error) or not (truth.any() or prediction.any()))
    assert (undefined > 0) == (settings["strata"] > 3)
    assert 0 < sum(refused) < 60 and np.isnan(study.variances).tolist() == refused
    for name in ("estimates", "naive_estimates", "naive_variances", "weighted_naive_variances"):
        assert np.isnan(getattr(study, name)).tolist() == refused
    assert study.refused_share == pytest.approx(sum(refused) / 60)
    assert f"60 runs, {study.refused_share:.2g} of them refused)" in repr(study)
    low, high = study.limits("t")
    answered = ~np.array(refused)
    covers = ((low <= study.truth) & (study.truth <= high))[answered].mean()
    assert study.coverage("t") == pytest.approx(covers)
    assert study.coverage_error("t") == pytest.approx(
        math.sqrt(covers * (1 - covers) / answered.sum())
    )
    assert study.half_width("t") == pytest.approx(((high - low) / 2)[answered].mean())
    assert study.zero_share == pytest.approx((study.variances[answered] == 0).mean())
    assert all(
        math.isfinite(value)
        for row in study.rows()
        for value in row.values()
        if value is not row["interval_method"]
    )


# random half-samples


def closed_cv(d, count):
    """Variance of (sum +-d)^2 is 2 ((sum d^2)^2 - sum d^4)."""
    return math.sqrt(2 * (1 - (d**4).sum() / (d**2).sum() ** 2) / count)


DIFFERENCES = [
    np.full(7, 0.1),
    np.array([0.10, -0.06, 0.04]),
    np.random.default_rng(0).normal(size=20),
    np.random.default_rng(1).normal(size=30),
]


@pytest.mark.parametrize("d", DIFFERENCES, ids=len)
@pytest.mark.parametrize("count", [1, 8, 32])
def test_random_halves_are_unbiased_and_unstable(d, count):
    study = simulate_random_halves(d, count, runs=20_000, rng=2)
    assert study.mean_ratio == pytest.approx(1, abs=4 * study.mean_ratio_error)
    assert study.cv == pytest.approx(closed_cv(d, count), abs=4 * study.cv_error)
    assert study.mean_ratio_error == pytest.approx(
        closed_cv(d, count) / math.sqrt(20_000), rel=0.05
    )


def test_the_error_of_the_cv_is_that_between_studies():
    studies = [
        simulate_random_halves(np.full(12, 0.1), 1, runs=1000, rng=seed) for seed in range(500)
    ]
    assert np.mean([s.cv_error for s in studies]) == pytest.approx(
        np.std([s.cv for s in studies]), rel=0.13
    )


def test_every_half_sample_is_drawn_as_often():
    d = np.array([1.0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096])
    misses = simulations._random_misses(d, (200_000,), np.random.default_rng(0))
    assert set(np.abs(misses) % 2) == {1} and np.abs(misses).max() <= d.sum()
    signs = 1 - 2 * (((d.sum() - misses) / 2).astype(int)[:, None] >> np.arange(13) & 1)
    assert (signs @ d == misses).all()
    cross = signs.T @ signs / 200_000 - np.eye(13)
    assert np.abs(cross).max() < 5 / math.sqrt(200_000) and np.abs(
        signs.mean(0)
    ).max() < 5 / math.sqrt(200_000)


def test_random_halves_of_the_digits():
    """Seven districts of two boxes: 8 random half-samples multiply the standard error by .60 to 1.34."""
    forms = wb.digit_forms()
    right = forms.read_a == forms.digit
    accuracy = np.array([right[forms.box == box].mean() for box in range(1, 15)])
    d = (accuracy[::2] - accuracy[1::2]) / 14
    assert math.sqrt((d**2).sum()) == pytest.approx(0.0141, abs=5e-5)
    eight = simulate_random_halves(d, 8, runs=20_000)
    assert np.quantile(eight.ratios, (0.05, 0.95)) ** 0.5 == pytest.approx((0.60, 1.34), abs=0.015)
    assert (eight.cv, simulate_random_halves(d, 2048).cv) == pytest.approx((0.44, 0.027), abs=0.01)


def test_one_stratum_has_only_one_square():
    study = simulate_random_halves([3.0], 5, runs=10)
    assert (study.ratios == 1).all() and (study.cv, study.cv_error) == (0, 0)
    assert (
        simulate_random_halves([3.0], 1, runs=10)
        .headline()
        .startswith("1 random half-sample of 1 stratum: ")
    )


# results and errors


def test_rows_headline_and_round_trip():
    study = simulate_coverage(runs=300, rng=1)
    rows = study.rows()
    assert [row["interval_method"] for row in rows] == list(INTERVALS)
    for row in rows:
        method = row["interval_method"]
        assert (row["coverage"], row["half_width"]) == (
            study.coverage(method),
            study.half_width(method),
        )
        assert row["coverage_error"] == pytest.approx(
            math.sqrt(row["coverage"] * (1 - row["coverage"]) / 300)
        )
        low, high = study.limits(method)
        assert row["half_width_error"] == pytest.approx(stats.sem((high - low) / 2))
    assert study.headline() == (
        f"95% intervals for accuracy 0.877: coverage {study.coverage('naive'):.3g} of the naive and "
        f"{study.coverage():.3g} of the default interval; 1,778 labels in 14 clusters have an "
        f"effective sample size of {study.effective_items:.0f}; 300 runs"
    )
    restored = wb.Result.from_dict(study.to_dict())
    assert restored.rows() == rows
    halves = simulate_random_halves([0.1, 0.2], 4, runs=50)
    assert wb.Result.from_dict(halves.to_dict()).rows() == halves.rows()
    assert list(halves.rows()[0]) == [
        "strata",
        "count",
        "runs",
        "mean_ratio",
        "mean_ratio_error",
        "cv",
        "cv_error",
    ]


def test_the_seed_decides():
    for simulate in (
        lambda rng: simulate_coverage(statistic="f1", runs=20, rng=rng).estimates,
        lambda rng: simulate_coverage(method="bootstrap", runs=20, rng=rng).variances,
        lambda rng: simulate_random_halves([1, 2, 3], 4, runs=20, rng=rng).ratios,
    ):
        assert (simulate(1) == simulate(1)).all() and (simulate(1) != simulate(2)).any()
        assert (simulate(np.random.default_rng(1)) == simulate(1)).all()


@pytest.mark.parametrize(
    "text, change",
    [
        ("strata must be a whole number from 1 to 2000; got 0", {"strata": 0}),
        ("strata must be a whole number from 1 to 2000; got 2001", {"strata": 2001}),
        ("psus must be a whole number of at least 2; got 1", {"psus": 1}),
        ("items must be a whole number from 1 to 1000; got 0", {"items": 0}),
        ("accuracy must be a number in (0, 1); got 1", {"accuracy": 1}),
        ("icc must be at least 0 and below 1; got 1", {"icc": 1}),
        ("icc must be at least 0 and below 1; got -0.1", {"icc": -0.1}),
        ("weight_spread must be a number from 0 to 3; got -1", {"weight_spread": -1}),
        ("weight_effect must be a number from -5 to 5; got 6", {"weight_effect": 6}),
        ("base_rate must be a number in (0, 1); got 0", {"base_rate": 0}),
        (
            "statistic must be one of 'accuracy', 'f1'; got 'acuracy' (did you mean 'accuracy'?)",
            {"statistic": "acuracy"},
        ),
        (
            "method must be one of 'brr', 'fay', 'generalized', 'jkn', 'jk2', 'bootstrap'; got 'bbr' (did you mean 'brr'?)",
            {"method": "bbr"},
        ),
        (
            "method 'brr' needs a prime power of PSUs per stratum; 6 is not a prime power: use method 'generalized', which is exact for any number, or 'jkn'",
            {"psus": 6},
        ),
        ("rho must be at least 0 and below 1; got 1", {"method": "fay", "rho": 1}),
        ("level must be a number in (0, 1); got 95 (did you mean 0.95?)", {"level": 95}),
        ("runs must be a whole number of at least 2; got 1", {"runs": 1}),
        (
            "items must be larger: f1, or more than 5% of its replicates, is undefined (0/0) in 5 of 5 runs. You can also use "
            "method 'fay'",
            {
                "statistic": "f1",
                "strata": 1,
                "items": 1,
                "base_rate": 1e-9,
                "accuracy": 1 - 1e-9,
                "runs": 5,
            },
        ),
    ],
)
def test_the_exact_errors(text, change):
    with pytest.raises(ValueError) as caught:
        simulate_coverage(**change)
    assert str(caught.value) == text


def test_intervals_are_named_in_the_error():
    with pytest.raises(ValueError) as caught:
        simulate_coverage(runs=2).coverage("wald")
    assert str(caught.value) == (
        "method must be one of 'naive', 'weighted_naive', 'z', 't', 'logit', 'wilson', "
        "'default'; got 'wald'"
    )


@pytest.mark.parametrize(
    "text, arguments",
    [
        (
            "differences must not all be 0, because then every half-sample has the error 0",
            ([0, 0], 4),
        ),
        ("differences must be finite; stratum 1 is nan", ([1, math.nan], 4)),
        (
            "differences must have a largest absolute value from 1e-140 to 1e+140; got 1e+145. Use another unit",
            ([1e145, 1e145], 2),
        ),
        (
            "differences must have a largest absolute value from 1e-140 to 1e+140; got 1e-200. Use another unit",
            ([1e-200, -1e-200], 2),
        ),
        ("count must be a whole number of at least 1; got 0", ([1, 2], 0)),
    ],
)
def test_the_exact_errors_of_random_halves(text, arguments):
    with pytest.raises(ValueError) as caught:
        simulate_random_halves(*arguments)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "settings",
    [
        {"strata": 1},
        {"psus": 6, "method": "generalized"},
        {"weight_spread": 3.0},
        {"weight_effect": -5.0, "weight_spread": 3.0, "strata": 200, "items": 1},
        {"statistic": "f1", "strata": 2, "items": 1, "accuracy": 0.5},
        {"accuracy": 0.999, "items": 1, "strata": 3},
    ],
)
def test_extremes_stay_finite(settings):
    study = simulate_coverage(**settings, runs=200)
    for method in INTERVALS:
        low, high = study.limits(method)
        answered = np.isfinite(study.variances)
        assert (low[answered] <= high[answered]).all() and 0 <= study.coverage(method) <= 1
