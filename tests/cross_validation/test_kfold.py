import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import stats

import workbench as wb
from workbench.cross_validation.kfold import (
    ASSUMPTIONS,
    ZeroVarianceError,
    half_sample_rho,
    kfold_t_test,
    r_from_rho,
    resolve_rho,
    rho_from_r,
    rho_of_halves,
    theta3,
    variance_estimates,
)
from workbench.cross_validation.losses import CVLosses
from workbench.results import Note

TEN = [0.1, 0.1, -0.05, 0.15, 0, 0.2, 0.25, 0.05, 0.05, 0]
THETAS = tuple(ASSUMPTIONS)
SHAPES = [(5, 4), (2, 2), (10, 3), (3, 7)]


def losses(seed=0, folds=5, m=4, shift=0.3):
    return np.random.default_rng(seed).normal(shift, 1, (folds, m))


def items(max_folds=6, max_m=5):
    """(K, m) losses, as multiples of 1/16 so that sums are exact."""
    shape = st.tuples(st.integers(2, max_folds), st.integers(2, max_m))
    return shape.flatmap(
        lambda s: st.lists(st.integers(-80, 80), min_size=s[0] * s[1], max_size=s[0] * s[1]).map(
            lambda values: np.reshape(values, s) / 16
        )
    )


# the five estimates


def printed_coefficients(n, m):
    """Coefficients of s1, s2, s3 in Table 1 of Grandvalet & Bengio 2006."""
    return {
        "theta1": (1 / n, (m - 1) / n, (n - m) / n),
        "theta2": (1 / n, -(n + 1 - m) / n, (n - m) / n),
        "theta3": (1 / n, (m - 1) / n, -m / n),
        "theta4": (1 / n, -1 / n, 0),
        "theta5": (1 / n, -(m - 1) / (n * (n - 1)), -(n - m) / (n * (n - 1))),
    }


def products_by_loops(e):
    folds, m = e.shape
    n, flat, fold = folds * m, e.ravel(), np.repeat(np.arange(folds), m)
    pairs = [(i, j) for i, j in itertools.permutations(range(n), 2)]
    within = sum(flat[i] * flat[j] for i, j in pairs if fold[i] == fold[j]) / (n * (m - 1))
    between = sum(flat[i] * flat[j] for i, j in pairs if fold[i] != fold[j]) / (n * (n - m))
    return (flat @ flat) / n, within, between


@pytest.mark.parametrize("folds, m", SHAPES)
def test_estimates_are_the_printed_combinations_of_the_three_products(folds, m):
    e = losses(1, folds, m)
    found, products = variance_estimates(e), products_by_loops(e)
    assert (found.s1, found.s2, found.s3) == pytest.approx(products, abs=1e-12)
    for name, coefficients in printed_coefficients(folds * m, m).items():
        assert getattr(found, name) == pytest.approx(np.dot(coefficients, products), abs=1e-12), (
            name
        )


@pytest.mark.parametrize("folds, m", SHAPES)
def test_the_compact_forms_of_the_paper(folds, m):
    e = losses(2, folds, m)
    found, n = variance_estimates(e), folds * m
    assert found.theta1 == pytest.approx(e.mean() ** 2, abs=1e-12)
    assert found.theta3 == pytest.approx(e.mean(1).var(ddof=1) / folds, abs=1e-12)
    assert found.theta4 == pytest.approx(e.var(1, ddof=1).mean() / n, abs=1e-12)
    assert found.theta5 == pytest.approx(e.var(ddof=1) / n, abs=1e-12)


def quadratic_form(name, folds, m):
    """The matrix W with estimate = e' W e, by polarization of the code under test."""
    n, unit = folds * m, np.eye(folds * m)

    def value(e):
        return getattr(variance_estimates(e.reshape(folds, m)), name)

    alone = np.array([value(row) for row in unit])
    both = np.array([[value(a + b) for b in unit] for a in unit])
    return (both - alone[:, None] - alone - np.diag(np.diag(both) - 2 * alone - 2 * alone)) / 2 * (
        1 - np.eye(n)
    ) + np.diag(alone)


@pytest.mark.parametrize("name", THETAS)
@pytest.mark.parametrize("folds, m", [(5, 4), (3, 2)])
def test_the_bias_column_of_table_1_is_exact(name, folds, m):
    """E[e'We] = tr W (C + mean^2 11'), C with variance sigma^2, omega in folds and gamma between them."""
    n, mean, sigma2, omega, gamma = folds * m, 0.7, 1.3, 0.21, -0.08
    fold = np.repeat(np.arange(folds), m)
    covariance = np.where(fold[:, None] == fold, omega, gamma) + np.diag(np.full(n, sigma2 - omega))
    theta = covariance.sum() / n**2
    assert theta == pytest.approx(sigma2 / n + (m - 1) / n * omega + (n - m) / n * gamma, abs=1e-15)
    expected = np.trace(quadratic_form(name, folds, m) @ (covariance + mean**2))
    table = {
        "theta1": mean**2,
        "theta2": -omega,
        "theta3": -gamma,
        "theta4": -m / n * omega - (n - m) / n * gamma,
        "theta5": -(m - 1) / (n - 1) * omega - (n - m) / (n - 1) * gamma,
    }
    assert expected - theta == pytest.approx(table[name], abs=1e-12)
    stated = variance_estimates(np.arange(n).reshape(folds, m)).bias(
        mean=mean, omega=omega, gamma=gamma
    )
    assert stated[name] == pytest.approx(table[name], abs=1e-15)


@given(items())
def test_identities_of_the_estimates(e):
    found, (folds, m) = variance_estimates(e), e.shape
    n = folds * m
    centered = products_by_loops(e - e.mean())
    assert found.theta2 == pytest.approx(-centered[1], abs=1e-9)
    assert found.theta5 == pytest.approx(
        ((folds - 1) * found.theta3 + (n - folds) * found.theta4) / (n - 1), abs=1e-9
    )
    assert found.theta3 - found.theta4 == pytest.approx(m / n * (found.s2 - found.s3), abs=1e-9)
    assert min(found.theta1, found.theta3, found.theta4, found.theta5) >= 0


@given(items(), st.integers(-40, 40), st.integers(1, 8))
def test_all_but_the_first_ignore_a_constant_and_scale_with_the_square(e, shift, scale):
    before, after = variance_estimates(e), variance_estimates(scale * e + shift)
    for name in THETAS[1:]:
        assert getattr(after, name) == pytest.approx(scale**2 * getattr(before, name), abs=1e-8)


@pytest.mark.slow
def test_theta2_is_often_negative():
    draws = np.random.default_rng(0).normal(size=(2000, 5, 4))
    negative = np.mean([variance_estimates(e).theta2 < 0 for e in draws])
    assert negative == pytest.approx(0.33, abs=0.04)


UNEQUAL = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4]


def test_unequal_folds_use_forms_that_ignore_a_constant():
    e = np.random.default_rng(3).normal(0.3, 1, 13)
    found, moved = (variance_estimates(CVLosses(e + shift, UNEQUAL)) for shift in (0, 10))
    for name in THETAS[1:]:
        assert getattr(moved, name) == pytest.approx(getattr(found, name), abs=1e-12)
    size = np.bincount(UNEQUAL)
    means = np.bincount(UNEQUAL, e) / size
    assert found.theta3 == pytest.approx(
        5 / 4 * ((size / 13) ** 2 * (means - e.mean()) ** 2).sum(), abs=1e-14
    )
    assert found.theta5 == pytest.approx(e.var(ddof=1) / 13) and not found.equal_folds
    # the printed form of Table 1 is not: adding 10 to every loss moves it
    printed = [
        np.dot((1 / 13, (13 / 5 - 1) / 13, -13 / 5 / 13), (c.s1, c.s2, c.s3))
        for c in (found, moved)
    ]
    assert abs(printed[1] - printed[0]) > 0.01


def test_bias_of_theta3_with_unequal_folds_is_almost_minus_gamma():
    fold, (sigma2, omega, gamma) = np.array(UNEQUAL), (1, 0.12, 0.08)
    covariance = np.where(fold[:, None] == fold, omega, gamma) + np.diag(
        np.full(13, sigma2 - omega)
    )
    draws = np.linalg.cholesky(covariance) @ np.random.default_rng(4).normal(size=(13, 40_000))
    size = np.bincount(fold)
    means = np.stack([draws[fold == k].mean(0) for k in range(5)], 1)
    shown = theta3(means, np.broadcast_to(size, means.shape))
    assert shown.mean() - covariance.sum() / 169 == pytest.approx(
        -0.0809, abs=4 * shown.std() / 200
    )


def test_undefined_estimates_say_why():
    one = variance_estimates(np.random.default_rng(0).normal(size=(6, 1)))
    assert math.isnan(one.theta2) and math.isnan(one.theta4) and math.isnan(one.s2)
    assert one.reasons["theta4"] == "folds of one item have no variance within folds"
    assert one.theta3 == pytest.approx(one.theta5)
    means = variance_estimates(CVLosses.from_fold_means(TEN))
    assert math.isnan(means.theta5) and means.theta3 == pytest.approx(np.var(TEN, ddof=1) / 10)
    assert (
        means.rows()[4]["problem"]
        == "only fold means are known, but losses of single items are needed"
    )
    assert means.notes == tuple(
        Note("undefined", means.rows()[4]["problem"], ("estimator", name))
        for name in ("s1", "s2", "s3", "theta2", "theta4", "theta5")
    )
    assert means.reasons == {note.where[1]: note.text for note in means.notes}
    assert wb.Result.from_dict(means.to_dict()).reasons == means.reasons


def test_standard_errors_are_the_roots_of_what_has_one():
    """Two folds of two equal losses each, 1 and -1: theta2 = -omega's estimate, the mean product in a fold, is -1."""
    rows = {row["estimator"]: row for row in variance_estimates([[1, 1], [-1, -1]]).rows()}
    assert rows["theta2"]["variance"] == -1 and math.isnan(rows["theta2"]["standard_error"])
    assert rows["theta3"]["standard_error"] == 1 and rows["theta4"]["standard_error"] == 0


def test_repeats_average_the_estimates():
    e = losses(5, 10, 4)
    cv = CVLosses(e.ravel(), np.tile(np.repeat(np.arange(5), 4), 2), repeat=np.repeat([0, 1], 20))
    one, two = variance_estimates(e[:5]), variance_estimates(e[5:])
    assert variance_estimates(cv).theta3 == pytest.approx((one.theta3 + two.theta3) / 2)
    assert variance_estimates(cv).repeats == 2 and variance_estimates(cv).items == 20


# rho and r


@pytest.mark.parametrize("rho, r", [(0.7, 0.189), (10 / 19, 0.1), (0, 0)])
def test_rho_and_the_correlation_of_folds(rho, r):
    assert r_from_rho(rho, 10) == pytest.approx(r, abs=5e-4)
    assert rho_from_r(r_from_rho(rho, 10), 10) == pytest.approx(rho)


def test_what_the_paper_calls_a_correlation_is_not_one():
    """With r = .7 between folds rho is .96; taking r for rho leaves far more than 5% false alarms."""
    assert rho_from_r(0.7, 10) == pytest.approx(0.9589, abs=1e-4)
    rho = 0.7
    critical = stats.t.ppf(0.975, 9)
    taken_for_r = 2 * stats.t.sf(critical * ((1 - rho) / (1 - r_from_rho(rho, 10))) ** 0.5, 9)
    assert taken_for_r == pytest.approx(0.2021, abs=1e-4)


def test_the_papers_26_percent_needs_rho_072():
    critical = stats.t.ppf(0.975, 9)
    assert 2 * stats.t.sf(critical * 0.3**0.5, 9) == pytest.approx(0.247, abs=5e-4)
    assert 2 * stats.t.sf(critical * 0.28**0.5, 9) == pytest.approx(0.262, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("folds, r", [(10, 0.19), (10, -0.05), (5, 0.4), (4, -0.2)])
def test_proposition_2_by_simulation(folds, r):
    """t at the true rho follows Student's t with K - 1 df for exchangeable normal fold means, r = Corr(two folds)."""
    rng, runs = np.random.default_rng(7), 20_000
    root = np.linalg.cholesky(np.full((folds, folds), r) + np.diag(np.full(folds, 1 - r)))
    means = rng.normal(size=(runs, folds)) @ root.T
    rho = rho_from_r(r, folds)
    t = [kfold_t_test(row, rho=rho).statistic for row in means[:2000]]
    assert stats.kstest(t, stats.t(folds - 1).cdf).pvalue > 0.001
    every = np.sqrt((1 - rho) / theta3(means)) * means.mean(1)
    assert every[:2000] == pytest.approx(np.array(t))
    rejected = (np.abs(every) > stats.t.ppf(0.975, folds - 1)).mean()
    assert rejected == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / runs) ** 0.5)


# the test


def test_naive_is_scipys_paired_t():
    a, b = np.random.default_rng(0).random((2, 10))
    for alternative in ("two-sided", "less", "greater"):
        found = kfold_t_test(
            CVLosses.from_fold_means({"a": a, "b": b}), rho="naive", alternative=alternative
        )
        scipy = stats.ttest_rel(a, b, alternative=alternative)
        assert (found.statistic, found.pvalue, found.df) == pytest.approx(
            (scipy.statistic, scipy.pvalue, 9)
        )
        low, high = scipy.confidence_interval(0.9)
        assert tuple(found.interval(0.9)) == pytest.approx((low, high))
    assert found.label == "a minus b"


def test_the_lessons_ten_folds():
    naive, nb, skeptical = (kfold_t_test(TEN, rho=rho) for rho in ("naive", "nadeau_bengio", 0.7))
    assert (naive.statistic, naive.pvalue) == pytest.approx((2.847, 0.0192), abs=5e-4)
    assert nb.pvalue == pytest.approx(0.0818, abs=5e-5) and nb.r == pytest.approx(0.1)
    assert (skeptical.statistic, skeptical.pvalue, skeptical.r) == pytest.approx(
        (1.559, 0.1534, 0.189), abs=5e-4
    )
    assert skeptical.rho_alpha() == pytest.approx(0.368, abs=5e-4) == naive.rho_alpha()
    assert [row["pvalue"] for row in skeptical.rows()] == pytest.approx(
        [naive.pvalue, nb.pvalue, skeptical.pvalue]
    )


def means_that_differ():
    values = st.lists(st.integers(-60, 60), min_size=2, max_size=12)
    return values.map(lambda v: np.array(v) / 64).filter(lambda v: np.ptp(v) > 0)


@given(means_that_differ(), st.floats(-3, 0.99), st.sampled_from(["two-sided", "less", "greater"]))
def test_every_rho_scales_the_naive_t_and_flips_at_rho_alpha(means, rho, alternative):
    test = kfold_t_test(means, rho=rho, alternative=alternative)
    naive = stats.ttest_1samp(means, 0, alternative=alternative)
    assert test.statistic == pytest.approx((1 - rho) ** 0.5 * naive.statistic, rel=1e-9, abs=1e-12)
    flips = test.rho_alpha()
    assume(abs(rho - flips) > 1e-6)
    assert (test.pvalue < 0.05) == (rho < flips)
    if flips > -1e6:
        assert test.at(flips).pvalue == pytest.approx(0.05, rel=1e-6)
    assert ("as long as rho is below" in test.verdict()) == (test.pvalue < 0.05)
    assert ("only if rho is below" in test.verdict()) == (rho >= flips > 0)
    assert ("not even at rho = 0" in test.verdict()) == (rho >= flips and flips <= 0)


@given(means_that_differ(), st.floats(-2, 0.95), st.floats(0.5, 0.999))
def test_the_interval_holds_what_is_not_rejected(means, rho, level):
    low, high = kfold_t_test(means, rho=rho).interval(level)
    for bound in (low, high):
        assert kfold_t_test(means, rho=rho, mean=bound).pvalue == pytest.approx(1 - level, rel=1e-5)


@given(means_that_differ(), st.sampled_from([0.25, 2, 8]))
def test_t_does_not_change_with_the_unit(means, scale):
    assert kfold_t_test(scale * means).statistic == pytest.approx(kfold_t_test(means).statistic)


def test_rho_alpha_is_negative_where_the_naive_test_accepts_and_minus_infinity_at_zero():
    weak = kfold_t_test([1.0, 2, -1, 1, 0])
    assert weak.rho_alpha() < 0 and "not even at rho = 0" in weak.verdict()
    assert kfold_t_test([1.0, -1, 2, -2]).rho_alpha() == -math.inf
    assert kfold_t_test([1.0, 2, 3], alternative="less").rho_alpha() == -math.inf


def test_unequal_folds_are_weighted_and_flagged():
    e = np.random.default_rng(3).normal(0.3, 1, 13)
    test = kfold_t_test(CVLosses(e, UNEQUAL), rho=0)
    assert test.estimate == pytest.approx(e.mean())
    assert test.statistic == pytest.approx(
        e.mean() / variance_estimates(CVLosses(e, UNEQUAL)).theta3 ** 0.5
    )
    assert test.notes == (
        Note("unreliable", "folds of 2 to 3 items: they are weighted by size, so t is approximate"),
    )
    assert test.interval().notes == test.notes == test.at("nadeau_bengio").notes
    assert kfold_t_test(CVLosses(e + 5, UNEQUAL), rho=0, mean=5).statistic == pytest.approx(
        test.statistic
    )


def repeated(runs=3, folds=5, m=4, seed=0):
    rng = np.random.default_rng(seed)
    item = np.arange(folds * m)
    per_repeat = [rng.permutation(item) % folds for _ in range(runs)]
    values = rng.normal(0.2, 1, (runs, folds * m))
    return CVLosses(
        values.ravel(),
        np.concatenate(per_repeat),
        item=np.tile(item, runs),
        repeat=np.repeat(np.arange(runs), folds * m),
    )


def test_repeats_share_the_correlation_so_that_they_are_not_new_evidence():
    cv = repeated()
    means = cv.fold_means()
    assert means.shape == (3, 5)
    naive = kfold_t_test(cv, rho="naive")
    assert (
        naive.statistic == pytest.approx(stats.ttest_1samp(means.ravel(), 0).statistic)
        and naive.df == 14
    )
    nb = kfold_t_test(cv, rho="nadeau_bengio")
    t = means.mean() / np.sqrt((1 / 15 + 1 / 4) * means.var(ddof=1))
    assert nb.statistic == pytest.approx(t) and nb.r == pytest.approx(1 / 5)
    assert nb.pvalue == pytest.approx(wb.nadeau_bengio_test(means.ravel(), 16, 4).pvalue)
    assert kfold_t_test(cv, rho=5 / 9).statistic == pytest.approx(
        nb.statistic
    ) and nb.rho == pytest.approx(5 / 9)
    assert naive.notes == (
        Note(
            "assumption",
            "3 repeats test the same items. With rho = 0, each repeat would count as new evidence",
        ),
    )


@pytest.mark.parametrize(
    "folds, repeats, r", [(10, 10, 0.1), (5, 3, 0.05), (4, 2, -0.03), (2, 6, 0.4)]
)
def test_rho_of_one_repeat_and_of_all_from_the_covariance_of_folds(folds, repeats, r):
    """All folds of all repeats correlate by r: rho of one repeat is how much the means of two repeats correlate."""
    covariance = np.full((folds * repeats,) * 2, r) + np.diag(np.full(folds * repeats, 1 - r))
    one = r / covariance[:folds, :folds].mean()
    between_repeats = (
        covariance[:folds, folds : 2 * folds].mean() / covariance[:folds, :folds].mean()
    )
    assert one == pytest.approx(between_repeats)
    cv = CVLosses.from_fold_means(
        np.random.default_rng(0).normal(1, 1, folds * repeats), repeats=repeats
    )
    test = kfold_t_test(cv, rho=one)
    assert test.rho == pytest.approx(one) and test.r == pytest.approx(r)
    assert (
        test.rho_of_all == pytest.approx(r / covariance.mean()) == resolve_rho(one, folds, repeats)
    )
    assert test.statistic == pytest.approx(
        (1 - r / covariance.mean()) ** 0.5 * test.naive_statistic
    )
    if repeats > 1:
        assert test.rows()[0].keys() >= {"rho", "rho_of_all", "r"}


def p_by_hand(means, repeats, rho, alternative):
    """From the correlation r of folds that belongs to rho of one repeat of K, and J folds in all."""
    total, folds = means.size, means.size // repeats
    r = rho / (folds - (folds - 1) * rho)
    naive = stats.ttest_1samp(means, 0).statistic
    t = naive * ((1 - r) / (1 + (total - 1) * r)) ** 0.5
    tails = {
        "two-sided": 2 * stats.t.sf(abs(t), total - 1),
        "less": stats.t.cdf(t, total - 1),
        "greater": stats.t.sf(t, total - 1),
    }
    return tails[alternative]


@given(
    st.integers(2, 6),
    st.integers(1, 5),
    st.integers(0, 10_000),
    st.floats(0, 3),
    st.sampled_from(["two-sided", "less", "greater"]),
    st.sampled_from([0.5, 0.6, 0.9, 0.95, 0.99]),
    st.floats(-0.2, 0.99),
)
def test_the_verdict_flips_at_the_rho_that_users_pass(
    folds, repeats, seed, shift, alternative, level, rho
):
    means = np.random.default_rng(seed).normal(shift, 1, folds * repeats)
    cv = CVLosses.from_fold_means(means, repeats=repeats)
    flips = kfold_t_test(cv, rho=0.3, alternative=alternative).rho_alpha(level)
    least = -1 / (repeats - 1) if repeats > 1 else -math.inf
    if flips == -math.inf:
        assert p_by_hand(means, repeats, rho, alternative) >= 1 - level - 1e-12 or rho <= least
        return
    assert least < flips <= 1
    reach = 1e-6 * max(1, abs(flips), 1 / max(flips - least, 1e-3))
    assume(flips - reach > least and flips + reach < 1)
    for near, rejects in ((flips - reach, True), (flips + reach, False)):
        test = kfold_t_test(cv, rho=near, alternative=alternative)
        assert test.pvalue == pytest.approx(p_by_hand(means, repeats, near, alternative), rel=1e-6)
        assert (test.pvalue < 1 - level) == rejects
        assert test.rho == near and test.at(near).pvalue == pytest.approx(test.pvalue)
        assert test.at(near).rho_alpha(level) == pytest.approx(flips)


@pytest.mark.slow
def test_size_with_repeats_at_the_true_rho_by_simulation():
    """Twenty folds of four repeats that all correlate by r: t at the rho of one repeat has 19 degrees of freedom."""
    rng, rho = np.random.default_rng(0), 0.5
    r = r_from_rho(rho, 5)
    means = rng.normal(size=(2000, 20)) * (1 - r) ** 0.5 + rng.normal(size=(2000, 1)) * r**0.5
    p = [kfold_t_test(CVLosses.from_fold_means(row, repeats=4), rho=rho).pvalue for row in means]
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_repeats_keep_the_scale_of_the_argument_everywhere():
    cv = repeated(runs=10, folds=5, m=4, seed=4)
    test = kfold_t_test(cv, rho=0.7)
    assert [row["rho"] for row in test.rows()] == pytest.approx([0, 5 / 9, 0.7])
    assert [row["rho_of_all"] for row in test.rows()] == pytest.approx([0, 50 / 54, 7 / 7.3])
    assert [row["pvalue"] for row in test.rows()] == pytest.approx(
        [p_by_hand(cv.fold_means().ravel(), 10, rho, "two-sided") for rho in (0, 5 / 9, 0.7)]
    )
    flips = test.rho_alpha()
    assert 0 < flips < 0.7
    assert test.headline().endswith(
        f"at rho 0.7 of one repeat (r 0.318); rejects for rho below {flips:.3g}"
    )
    assert (
        f"; significant at 5% only if rho of one repeat is below {flips:.2f}, not at 0.7;"
        in test.verdict()
    )


def test_a_one_sided_test_below_one_half_has_no_largest_rho():
    """It rejects means on the wrong side too, and the more so the larger rho is."""
    test = kfold_t_test([-1.0, -2, -1, 0, 0.5], alternative="greater")
    assert test.at(0.99).pvalue < 0.7 < test.at(0).pvalue
    with pytest.raises(ValueError) as error:
        test.rho_alpha(0.3)
    assert str(error.value) == (
        "level must be at least 0.5 for a one-sided test; got 0.3. Below 0.5, the test rejects "
        "for every larger rho, so there is no largest rho"
    )
    assert kfold_t_test([1.0, 2, 1, 0], alternative="greater").rho_alpha(0.5) == 1
    assert test.rho_alpha(0.5) == -math.inf
    assert kfold_t_test([1.0, 2, 1, 0]).rho_alpha(0.3) == pytest.approx(
        1 - (stats.t.ppf(0.65, 3) / stats.ttest_1samp([1.0, 2, 1, 0], 0).statistic) ** 2
    )


def pair(a, b, **options):
    return CVLosses.from_fold_means({"A": a, "B": b}, **options)


ZEROS = np.zeros(10)


@pytest.mark.parametrize(
    "test, verdict",
    [
        (
            kfold_t_test(pair(np.add(TEN, 0.055), ZEROS + 0.055)),
            "B is better by 0.085 (losses 0.14 against 0.055); significant at 5% only if rho is below 0.37, not at 0.7; "
            "Nadeau-Bengio p 0.082",
        ),
        (
            kfold_t_test(pair(ZEROS + 0.055, np.add(TEN, 0.055)), rho=0.1, alternative="less"),
            "A is better by 0.085 (losses 0.14 against 0.055); significant at 5% at rho 0.1, as long as rho is below 0.59; "
            "Nadeau-Bengio p 0.041 (one-sided, less)",
        ),
        (
            kfold_t_test(pair(ZEROS + 0.055, np.add(TEN, 0.055)), alternative="greater"),
            "A is better by 0.085 (losses 0.14 against 0.055); not significant at 5%, not even at rho = "
            "0, which does not show equality; Nadeau-Bengio p 0.96 (one-sided, greater)",
        ),
        (
            kfold_t_test(pair([0.25, 0.5, 0.75, 0.5], [0.5, 0.25, 0.5, 0.75])),
            "A and B have the same mean loss, 0.5; not significant at 5%, not even at rho = 0, which "
            "does not show equality; Nadeau-Bengio p 1",
        ),
        (
            kfold_t_test(pair(np.add(TEN, 0.055), ZEROS + 0.055), mean=0.08),
            "B is better by 0.085 (losses 0.14 against 0.055), tested against a difference of 0.08; "
            "not significant at 5%, not even at rho = 0, which does not show equality; Nadeau-Bengio "
            "p 0.91",
        ),
        (
            kfold_t_test(CVLosses.from_fold_means({"tree": TEN}), mean=0.5),
            "mean loss of tree 0.085, tested against 0.5; significant at 5% at rho 0.7, as long as rho is below 0.97; "
            "Nadeau-Bengio p 5.2e-06",
        ),
        (
            kfold_t_test(TEN, rho=0.369),
            "mean 0.085, tested against 0; significant at 5% only if rho is below 0.368, not at 0.369; Nadeau-Bengio p 0.082",
        ),
        (
            kfold_t_test(TEN, rho=0.36838),
            "mean 0.085, tested against 0; significant at 5% at rho 0.368, as long as rho is below 0.37; Nadeau-Bengio "
            "p 0.082",
        ),
        (
            kfold_t_test(np.add(TEN, 100)),
            "mean 100.1, tested against 0; significant at 5% at rho 0.7, as long as rho is below 0.9999995; Nadeau-Bengio "
            "p 2.8e-27",
        ),
        (
            kfold_t_test(
                CVLosses.from_fold_means(
                    {"A": np.sin(np.arange(1000)) + 1e6, "B": np.zeros(1000)}, splits="folds"
                )
            ),
            "B is better by 1e+06 (losses 1e+06 against 0); significant at 5% at rho 0.7, as long as rho is below "
            "0.999999999999998; "
            "Nadeau-Bengio p below 1e-300",
        ),
    ],
)
def test_the_verdict_is_a_sentence_to_lead_with(test, verdict):
    assert test.verdict() == verdict


LOSSES = np.array([0.35, 0.5, 0.4, 0.45, 0.3, 0.45, 0.4, 0.35, 0.5, 0.4])


@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("rho", [0, 0.5])
def test_one_model_is_described_by_its_mean_and_interval(scores, rho):
    """Nobody doubts that a loss (or an accuracy) is not 0."""
    cv = CVLosses.from_fold_means({"lr": LOSSES}, higher_is_better=scores)
    low, high = stats.t.interval(
        0.9, 9, LOSSES.mean(), (LOSSES.var(ddof=1) / 10 / (1 - rho)) ** 0.5
    )
    test, kind = kfold_t_test(cv, rho=rho), "score" if scores else "loss"
    expected = f"mean {kind} of lr 0.41, 90% interval {low:.4g} to {high:.4g} at rho {rho}"
    assert test.verdict(0.9) == expected == wb.Result.from_dict(test.to_dict()).verdict(0.9)
    assert test.at(0.3).verdict().endswith("at rho 0.3")
    assert wb.compare_tests(cv, rho=rho, level=0.9).headline() == expected
    assert (
        kfold_t_test(cv, rho=rho, mean=0.5)
        .verdict()
        .startswith(
            f"mean {kind} of lr 0.41, tested against 0.5; significant at 5% at rho {rho}, as long as rho is below "
        )
    )
    assert (
        kfold_t_test(cv, alternative="greater").finding()
        == f"mean {kind} of lr 0.41, tested against 0"
    )


def test_one_model_with_repeats_or_without_variance():
    cv = CVLosses.from_fold_means({"lr": LOSSES}, repeats=2)
    assert kfold_t_test(cv).verdict().endswith(" at rho 0.7 of one repeat")
    same = wb.compare_tests(CVLosses.from_fold_means({"lr": [0.25] * 5}))
    assert same.headline() == "mean loss of lr 0.25; no t-test, because the folds show no variance"
    assert (
        kfold_t_test(CVLosses.from_fold_means({"lr": [0.5, -0.25, 0.5]}))
        .verdict()
        .startswith("mean loss of lr 0.25, tested against 0; ")
    )
    log_loss = CVLosses.from_fold_means({"lr": -LOSSES}, higher_is_better=True)
    assert (
        kfold_t_test(log_loss, rho=0)
        .verdict()
        .startswith("mean score of lr -0.41, 95% interval -0.45")
    )
    assert kfold_t_test(LOSSES).verdict().startswith("mean 0.41, tested against 0; significant")


def test_the_finding_shows_scores_as_scores_and_negative_losses_as_losses():
    a, b = ([0.75, 0.875, 0.925], [0.75, 0.75, 0.81])
    scores = kfold_t_test(CVLosses.from_fold_means({"A": a, "B": b}, higher_is_better=True))
    assert (
        scores.finding() == "A is better by 0.08 (scores 0.85 against 0.77)"
        and scores.estimate == pytest.approx(0.08)
    )
    assert scores.at("naive").finding() == scores.finding()
    losses = kfold_t_test(pair(np.negative(a), np.negative(b)))
    assert losses.finding() == "A is better by 0.08 (losses -0.77 against -0.85)"
    tie = CVLosses.from_fold_means({"A": [0, 0.5, 1], "B": [0.5, 1, 0]}, higher_is_better=True)
    assert kfold_t_test(tie).finding() == "A and B have the same mean score, 0.5"
    zero = CVLosses.from_fold_means({"A": [0, 0, 0.0], "B": [0, 0, 0.75]}, higher_is_better=True)
    assert kfold_t_test(zero).finding() == "B is better by 0.25 (scores 0.25 against 0)"


def test_mcnemar_is_advised_only_where_it_can_be_used():
    fold, wrong, right = np.repeat(range(5), 2), [1, 0] * 5, [0, 0] * 5
    finer = "Use a loss with finer values, or more items"
    for cv, advice in (
        (
            CVLosses({"A": wrong, "B": right}, fold),
            "Use a loss with finer values, or mcnemar_test on the paired items",
        ),
        (CVLosses({"A": wrong}, fold), finer),
        (CVLosses({"A": np.divide(wrong, 2), "B": right}, fold), finer),
        (CVLosses.from_fold_means({"A": [1] * 5, "B": [0] * 5}), finer),
    ):
        with pytest.raises(ZeroVarianceError) as error:
            kfold_t_test(cv)
        assert str(error.value).endswith(f"folds is 0, so there is no t and no p-value. {advice}")


def test_a_test_that_rejects_at_a_negative_rho_only_says_so():
    test = kfold_t_test([1.0, 2, -1, 1, 0], rho=-5)
    assert test.pvalue < 0.05 and test.rho_alpha() < 0
    assert test.headline().endswith(f"rejects for rho below {test.rho_alpha():.3g} only")
    assert test.at(0).headline().endswith("does not reject, not even at rho = 0")


def test_few_folds_are_noted():
    assert kfold_t_test([0.1, 0.3, 0.2]).notes == (
        Note(
            "design",
            "3 folds give only 2 degrees of freedom, so t must be beyond 4.3 to be significant at 5%",
        ),
    )
    assert kfold_t_test([0.1, 0.3]).notes == (
        Note(
            "design",
            "2 folds give only 1 degree of freedom, so t must be beyond 12.7 to be significant at 5%",
        ),
    )
    assert kfold_t_test(TEN[:5]).notes == ()


@pytest.mark.parametrize("scale", [1e130, 1e-130])
def test_t_is_the_same_for_very_large_and_very_small_losses(scale):
    assert kfold_t_test(np.multiply(TEN, scale)).statistic == pytest.approx(
        kfold_t_test(TEN).statistic
    )
    found, expected = (variance_estimates(losses() * unit) for unit in (scale, 1))
    for name in THETAS:
        assert getattr(found, name) / scale / scale == pytest.approx(getattr(expected, name))


REFUSED = [
    (
        lambda: kfold_t_test({"a": TEN, "b": TEN}),
        "fold_means",
        "must be one-dimensional, one mean per fold; got shape ()",
    ),
    (lambda: kfold_t_test(TEN, rho=1), "rho", "must be a number below 1", "got 1"),
    (lambda: kfold_t_test(TEN, rho=1.5), "rho", "must be a number below 1", "got 1.5"),
    (lambda: kfold_t_test(TEN, rho=math.nan), "rho", "must be a number below 1", "got nan"),
    (
        lambda: kfold_t_test(TEN, rho="nadeau"),
        "rho",
        "must be 'auto', 'naive', 'nadeau_bengio' or a number below 1",
        "got 'nadeau' (did you mean 'nadeau_bengio'?)",
    ),
    (lambda: kfold_t_test(TEN, rho="1.0"), "rho", "must be a number below 1", "got 1.0"),
    (
        lambda: kfold_t_test(TEN, alternative="both"),
        "alternative",
        "must be one of 'two-sided', 'less', 'greater'",
        "got 'both'",
    ),
    (lambda: kfold_t_test(TEN, mean=math.inf), "mean", "must be a number", "got inf"),
    (lambda: kfold_t_test([0.1]), "fold", "must have at least 2 folds", "got 1"),
    (lambda: kfold_t_test([0.1, math.nan, 0.2]), "fold_means", "must be finite", "fold 1 is nan"),
    (
        lambda: kfold_t_test(np.zeros((2, 5))),
        "fold_means",
        "must be one-dimensional, one mean per fold; got shape (2, 5)",
    ),
    (lambda: kfold_t_test(repeated(), rho=-5), "rho", "must be above -0.5 for 3 repeats; got -5.0"),
    (
        lambda: half_sample_rho(
            lambda X, y, rng: X.reshape(4, -1), np.arange(40) * 1.0, np.zeros(40)
        ),
        "losses_of",
        "must return one cross-validation of 10 folds",
        "got one cross-validation of 4 folds",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1]} {case[2]}")
def test_wrong_arguments_are_refused_by_name_and_rule(case):
    refused(*case)


def test_ten_times_ten_of_the_exercise():
    assert (1 - resolve_rho("nadeau_bengio", 10, 10)) ** 0.5 == pytest.approx(0.287, abs=5e-4)
    assert 5 * (1 - resolve_rho("nadeau_bengio", 10, 10)) ** 0.5 == pytest.approx(1.437, abs=5e-4)


def test_effect_size_is_in_standard_deviations_of_an_item():
    e = losses(8)
    assert kfold_t_test(CVLosses(e), mean=0.1).effect_size == pytest.approx(
        (e.mean() - 0.1) / e.std(ddof=1)
    )
    assert math.isnan(kfold_t_test(TEN).effect_size)


def test_results_survive_a_round_trip():
    test = kfold_t_test(TEN)
    again = wb.Result.from_dict(test.to_dict())
    assert repr(again) == repr(test) and again.rho_alpha(0.9) == test.rho_alpha(0.9)
    assert "<td>Nadeau-Bengio</td>" in test._repr_html_()


def test_mean_of_equal_losses_in_every_fold_is_refused():
    with pytest.raises(ZeroVarianceError) as error:
        kfold_t_test([0.125] * 10)
    assert str(error.value) == (
        "mean is the same in every fold, 0.125. The variance between the 10 folds is 0, so there "
        "is no t and no p-value. Use a loss with finer values, or more items"
    )
    same = np.random.default_rng(0).random((5, 4))
    with pytest.raises(
        ValueError,
        match="^A minus B is the same in every fold, 0. The variance between the 5 folds is 0",
    ):
        kfold_t_test(CVLosses({"A": same.ravel(), "B": same.ravel()}, np.repeat(np.arange(5), 4)))


@given(
    st.floats(-1e6, 1e6).filter(lambda v: v == 0 or abs(v) > 1e-140),
    st.integers(2, 12),
    st.integers(1, 400),
)
def test_constant_differences_are_refused_however_they_round(value, folds, m):
    fold = np.arange(folds * m) % folds
    base = np.random.default_rng(0).random(fold.size)
    for cv in (
        CVLosses(np.full(fold.size, value), fold),
        CVLosses({"A": base + 0.1, "B": base}, fold),
    ):
        with pytest.raises(ZeroVarianceError):
            kfold_t_test(cv, mean=0.3)


def test_a_constant_that_a_sum_of_many_rounds_is_refused():
    """A hundred thousand times .1 does not add up to 10,000; in folds of several sizes the means would differ."""
    with pytest.raises(ZeroVarianceError):
        kfold_t_test(
            CVLosses(np.full(1_000_000, 0.1), np.sqrt(np.arange(1_000_000)).astype(int) // 100)
        )


# rho from half samples


def halves_by_hand(X, folds, halvings, rng):
    shown, whole = [], []
    half = len(X) // 2 // folds * folds
    for _ in range(halvings):
        order = rng.permutation(len(X))
        parts = [
            X[order[:half]].reshape(folds, -1).mean(1),
            X[order[half : 2 * half]].reshape(folds, -1).mean(1),
        ]
        shown += [part.var(ddof=1) / folds for part in parts]
        whole.append((parts[0].mean() - parts[1].mean()) ** 2 / 2)
    return min(max(1 - np.mean(shown) / np.mean(whole), 0), 0.95)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_rho_of_half_samples_by_hand(seed, folds):
    X = np.random.default_rng(seed).normal(size=8 * folds + seed % folds)
    found = half_sample_rho(
        lambda X, y, rng: X.reshape(folds, -1), X, X, folds=folds, halvings=4, rng=seed
    )
    assert found == pytest.approx(halves_by_hand(X, folds, 4, np.random.default_rng(seed)))


@pytest.mark.slow
def test_rho_of_half_samples_finds_a_shared_error():
    """Losses share a random shift per training sample: between-fold covariance tau^2, rho = tau^2 / theta."""
    rng, y = np.random.default_rng(0), np.zeros(200)
    found = half_sample_rho(
        lambda X, y, g: rng.normal(0, 0.1) + g.normal(size=(10, 10)), y, y, halvings=3000
    )
    assert found == pytest.approx(0.5, abs=0.06)  # tau^2 = .01, theta = .01 + 1/100


def test_rho_of_halves_takes_many_studies_at_once():
    shown, means = (
        np.array([[[1.0, 1], [1, 3]], [[0, 0], [0, 0]]]),
        np.array([[[0.0, 2], [4, 0]], [[1, 0], [0, 1]]]),
    )
    assert rho_of_halves(shown, means).tolist() == pytest.approx([1 - 1.5 / 5, 0.95])


@pytest.mark.parametrize(
    "function, size, message",
    [
        (
            lambda X, y, rng: X.reshape(10, -1),
            39,
            "X must have at least 40 items for halves of 2 items per fold; got 39",
        ),
        (
            lambda X, y, rng: np.zeros((10, 2)),
            40,
            "the two halves always have the same mean, so rho cannot be estimated. Use rho='nadeau_bengio'",
        ),
    ],
)
def test_half_samples_that_cannot_be_used(function, size, message):
    with pytest.raises(ValueError) as error:
        half_sample_rho(function, np.arange(size) * 1.0, np.zeros(size))
    assert str(error.value) == message


def test_equal_losses_have_no_spread_by_rounding():
    for value in (0.1, 0.3, 1 / 3, 0.7):
        for n in (12, 20, 30):
            cv = wb.CVLosses(np.full(n, value), np.arange(n) % 4)
            found = wb.variance_estimates(cv)
            assert found.theta5 == 0 and found.theta3 == 0
    pair = wb.CVLosses({"a": np.full(30, 0.4), "b": np.full(30, 0.3)}, np.repeat(range(10), 3))
    assert all(row.get("pvalue") != 0 for row in wb.compare_tests(pair).rows())


@pytest.mark.parametrize("gap", [0.1, 1e-5, 7.3])
def test_a_constant_difference_has_no_spread_by_rounding(gap):
    rng = np.random.default_rng(3)
    lr = rng.random(100)
    gb, fold = lr + gap, np.arange(100) % 10
    assert np.ptp(gb - lr) > 0
    found = variance_estimates(CVLosses({"gb": gb, "lr": lr}, fold))
    assert (found.theta2, found.theta3, found.theta4, found.theta5) == (0, 0, 0, 0)
    means = CVLosses.from_fold_means({"gb": gb[:10], "lr": lr[:10]})
    assert variance_estimates(means).theta3 == 0
    table = wb.compare_tests(CVLosses({"gb": gb, "lr": lr}, fold))
    assert [row["test"] for row in table.rows()] == ["K-fold t"]
    assert table.headline().endswith("; no t-test, because the folds show no variance")


def test_equal_folds_of_unequal_items_have_no_spread_by_rounding():
    """.1 + .2 + .3 is not .3 + .2 + .1 in floating point."""
    found = variance_estimates([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1], [0.3, 0.1, 0.2]])
    assert found.theta3 == 0 and found.theta4 == pytest.approx(0.01 / 12)


def test_a_small_spread_is_not_rounding():
    lr, tiny = np.random.default_rng(3).random((2, 100))
    found = variance_estimates(
        CVLosses({"gb": lr + 0.1 + 1e-9 * tiny, "lr": lr}, np.arange(100) % 10)
    )
    assert found.theta5**0.5 == pytest.approx(1e-9 * tiny.std(ddof=1) / 10, rel=1e-4)


def test_half_sample_rho_wants_one_repeat_and_halves_that_differ():
    y = np.random.default_rng(8).normal(size=400)
    with pytest.raises(
        ValueError,
        match="losses_of must return one cross-validation of 10 folds; got 2 repeats of 10",
    ):
        wb.half_sample_rho(
            lambda X, y, rng: wb.CVLosses.from_fold_means(rng.normal(size=20), repeats=2), y, y
        )
    with pytest.raises(wb.ZeroVarianceError, match="the two halves always have the same mean"):
        wb.half_sample_rho(lambda X, y, rng: np.tile(np.arange(10.0)[:, None], 2), y, y)


@pytest.mark.parametrize(("folds", "m"), SHAPES)
def test_the_bias_is_that_of_the_printed_coefficients(folds, m):
    """The expectation of each sum of products from the three moments, less the variance of the mean."""
    n, mean, variance, omega, gamma = folds * m, 0.4, 1.5, 0.3, -0.2
    expected = np.array([variance, omega, gamma]) + mean**2
    true = (variance + (m - 1) * omega + (n - m) * gamma) / n
    found = variance_estimates(losses(folds=folds, m=m)).bias(mean=mean, omega=omega, gamma=gamma)
    assert found == pytest.approx(
        {
            name: np.dot(coefficients, expected) - true
            for name, coefficients in printed_coefficients(n, m).items()
        },
        abs=1e-12,
    )


@pytest.mark.parametrize("r", [-0.5, 0, 0.1, 0.7])
def test_of_two_folds_rho_is_spearmans_and_browns(r):
    """2 r / (1 + r), and back."""
    assert rho_from_r(r, 2) == pytest.approx(2 * r / (1 + r))
    assert r_from_rho(rho_from_r(r, 2), 2) == pytest.approx(r)


def test_means_that_only_rounding_tells_apart_are_the_same():
    """.1 + .2 - .3 is not 0: beside losses of that size it is none."""
    cv = CVLosses(
        {"a": [0.1, 0.2, -0.3, 0], "b": [0.0, 0, 0, 0], "c": [0.1, 0.2, -0.3, 5]}, [1, 1, 1, 2]
    )
    assert set(wb.compare_models(cv).best) == {"a", "b"}


def test_a_headline_says_up_to_which_rho_it_rejects():
    """t sqrt(1 - rho) is the quantile there; only where that is below 0 is it said to be all."""
    t = stats.ttest_1samp(np.array(TEN) + 0.05, 0).statistic
    flips = 1 - (stats.t.ppf(0.975, 9) / t) ** 2
    assert (
        kfold_t_test(np.array(TEN) + 0.05, rho="naive")
        .headline()
        .endswith(f"; rejects for rho below {flips:.3g}")
    )


@pytest.mark.parametrize("rho", [-0.5, -0.7])
def test_three_repeats_cannot_have_a_correlation_of_minus_a_half(rho):
    """Of three variables alike the variance of the sum, 3 + 6 rho, is above 0."""
    cv = CVLosses.from_fold_means(TEN[:9], repeats=3)
    with pytest.raises(ValueError, match="^rho must be above -0.5 for 3 repeats; got "):
        kfold_t_test(cv, rho=rho)
    assert math.isfinite(kfold_t_test(cv, rho=-0.4).statistic)
