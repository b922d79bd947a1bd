import itertools
import json
import math
from pathlib import Path

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from scipy import stats

import workbench as wb
from workbench.cross_validation.comparison import adjusted_pvalues, compare_models, compare_tests
from workbench.cross_validation.kfold import ZeroVarianceError, kfold_t_test
from workbench.cross_validation.losses import CVLosses
from workbench.cross_validation.model_tests import (
    bayesian_correlated_t,
    five_by_two,
    five_by_two_f_test,
    five_by_two_t_test,
    mcnemar_pvalue,
    mcnemar_test,
    nadeau_bengio_test,
    nested_cv_interval,
)
from workbench.results import Note

PEERS = json.loads((Path(__file__).parents[1] / "oracles" / "cv_peers.json").read_text())
TEN = [0.1, 0.1, -0.05, 0.15, 0, 0.2, 0.25, 0.05, 0.05, 0]
FIVE = [[0.1, 0.05], [0.08, 0.02], [0, 0.06], [0.04, 0.07], [0.03, 0.01]]


def differences(least=2):
    return (
        st.lists(st.integers(-60, 60), min_size=least, max_size=15)
        .map(lambda v: np.array(v) / 64)
        .filter(lambda v: np.ptp(v) > 0)
    )


# peers, where they are right


def test_kfold_t_and_5x2_tests_agree_with_mlxtend():
    cases = PEERS["mlxtend"]
    naive = kfold_t_test(cases["paired_ttest_kfold_cv"]["differences"], rho="naive")
    halves = {
        name: np.reshape(cases[name]["differences"], (5, 2)) for name in cases if "5x2" in name
    }
    found = {
        "paired_ttest_kfold_cv": naive,
        "paired_ttest_5x2cv": five_by_two_t_test(halves["paired_ttest_5x2cv"]),
        "combined_ftest_5x2cv": five_by_two_f_test(halves["combined_ftest_5x2cv"]),
    }
    for name, test in found.items():
        assert (test.statistic, test.pvalue) == pytest.approx(
            (cases[name]["statistic"], cases[name]["pvalue"])
        ), name


def test_random_splits_that_mlxtend_treats_as_independent():
    """Thirty splits, 30% tested: the uncorrected t is sqrt(30 (1/30 + 3/7)) = 3.7 times too large."""
    case = PEERS["mlxtend"]["paired_ttest_resampled"]
    ours = nadeau_bengio_test(case["differences"], 105, 45)
    assert case["statistic"] / ours.statistic == pytest.approx((30 * (1 / 30 + 45 / 105)) ** 0.5)


@pytest.mark.parametrize("case", PEERS["mcnemar"], ids=lambda c: f"{c['b']}:{c['c']}")
def test_mcnemar_agrees_with_mlxtend_and_scipy(case):
    b, c = case["b"], case["c"]
    exact, chi2 = mcnemar_test(b, c), mcnemar_test(b, c, method="chi2")
    assert [exact.pvalue] * 2 == pytest.approx([case["exact"], stats.binomtest(b, b + c).pvalue])
    # a correction that overshoots makes 7:7 look unequal
    assert (chi2.statistic, chi2.pvalue) == pytest.approx(case["chi2"] if b != c else (0, 1))


@pytest.mark.parametrize(
    "case", PEERS["baycomp"], ids=lambda c: f"{len(c['difference'])}, rope {c['rope']}"
)
def test_posterior_agrees_with_baycomp(case):
    found = bayesian_correlated_t(case["difference"], rope=case["rope"], runs=case["runs"])
    ours = (found.left, found.rope, found.right) if case["rope"] else (found.left, found.right)
    assert ours == pytest.approx(case["probabilities"], abs=1e-12)


def test_the_published_example_of_scikit_learn():
    """Its documentation prints 0.750 and .227, uncorrected 2.611 and .005, one-sided."""
    case = PEERS["scikit-learn"]
    test = nadeau_bengio_test(case["differences"], 90, 10, alternative="greater")
    assert (round(test.statistic, 3), round(test.pvalue, 3)) == (0.750, 0.227)
    assert (test.statistic, test.pvalue) == pytest.approx((case["t"], case["p one-sided"]))
    folds = CVLosses.from_fold_means(case["differences"], repeats=10)
    naive = kfold_t_test(folds, rho="naive", alternative="greater")
    assert (round(naive.statistic, 3), round(naive.pvalue, 3)) == (2.611, 0.005)
    assert kfold_t_test(folds, rho="nadeau_bengio").statistic == pytest.approx(test.statistic)
    posterior = bayesian_correlated_t(case["differences"], rope=0.01, runs=10)
    assert posterior.rope == pytest.approx(case["rope"])
    assert bayesian_correlated_t(case["differences"], runs=10).right == pytest.approx(
        case["better"]
    )


# peers, where they are wrong


def test_equal_models_have_no_p_value_of_zero():
    wrong = PEERS["wrong"]
    assert wrong["mlxtend mcnemar, no disagreement"].endswith("(0.0))")
    for method in ("exact", "midp", "chi2"):
        ours = mcnemar_test(0, 0, method=method)
        assert ours.pvalue == 1
        assert ours.notes == (
            Note("undefined", "the models never disagree, so there is no evidence for either"),
        )
    assert wrong["mlxtend paired_ttest_kfold_cv, equal models"] == "(nan, nan)"
    assert wrong["mlxtend combined_ftest_5x2cv, equal models"].startswith("ZeroDivisionError")
    for test, values in (
        (kfold_t_test, np.zeros(10)),
        (five_by_two_t_test, np.zeros((5, 2))),
        (five_by_two_f_test, np.zeros((5, 2))),
    ):
        with pytest.raises(ZeroVarianceError):
            test(values)


def test_a_constant_difference_is_no_certainty_and_nan_no_answer():
    wrong = PEERS["wrong"]
    assert wrong["baycomp, constant difference"] == "(np.float64(0.0), np.float64(1.0))"
    with pytest.raises(ZeroVarianceError, match="^the difference is the same in every fold, 0.125"):
        bayesian_correlated_t([0.125] * 10)
    assert "nan" in wrong["baycomp, NaN"] and wrong["baycomp, lists"] == "AttributeError"
    with pytest.raises(ValueError, match="^differences must be finite; fold 9 is nan$"):
        bayesian_correlated_t([0.125] * 9 + [math.nan])


@given(differences())
def test_the_correction_has_its_square_root_and_both_tails(values):
    """A known mistake divides by the variance, not its root, and doubles one tail: p beyond 1, or far too small."""
    test = nadeau_bengio_test(values, 90, 10)
    error = math.sqrt((1 / values.size + 10 / 90) * np.var(values, ddof=1))
    assert test.statistic == pytest.approx(values.mean() / error)
    assert test.pvalue == pytest.approx(2 * stats.t.sf(abs(values.mean()) / error, values.size - 1))
    assert 0 <= test.pvalue <= 1
    assert nadeau_bengio_test(-values, 90, 10).pvalue == pytest.approx(test.pvalue)


# identities


@given(differences())
def test_nadeau_bengio_and_the_posterior_are_t_tests_with_rho(values):
    folds = values.size
    nb = nadeau_bengio_test(values, folds - 1, 1)
    one_family = kfold_t_test(values, rho=folds / (2 * folds - 1))
    assert (one_family.statistic, one_family.pvalue) == pytest.approx((nb.statistic, nb.pvalue))
    assert kfold_t_test(values, rho="nadeau_bengio").pvalue == pytest.approx(nb.pvalue)
    posterior = bayesian_correlated_t(values)
    assert 2 * min(posterior.left, posterior.right) == pytest.approx(nb.pvalue)
    assert posterior.interval().low == pytest.approx(one_family.interval().low)


@given(differences(), st.floats(0, 0.5))
def test_the_posterior_sums_to_one_and_has_its_density(values, rope):
    found = bayesian_correlated_t(values, rope=rope)
    assert found.left + found.rope + found.right == pytest.approx(1)
    reference = stats.t(found.df, found.estimate, found.standard_error)
    grid = np.linspace(-1, 1, 5)
    assert found.density(grid) == pytest.approx(reference.pdf(grid))
    assert found.left == pytest.approx(reference.cdf(-rope))


def test_five_by_two_by_hand():
    d = np.array(FIVE)
    s2 = ((d - d.mean(1, keepdims=True)) ** 2).sum(1)
    t, f = five_by_two_t_test(FIVE), five_by_two_f_test(FIVE)
    assert t.statistic == pytest.approx(d[0, 0] / (s2.mean() ** 0.5)) and t.df == (5,)
    assert t.pvalue == pytest.approx(2 * stats.t.sf(t.statistic, 5))
    assert f.statistic == pytest.approx((d**2).sum() / (2 * s2.sum()))
    assert f.pvalue == pytest.approx(stats.f.sf(f.statistic, 10, 5))


def test_the_5x2_t_depends_on_what_comes_first_and_the_f_does_not():
    t = [five_by_two_t_test(np.roll(FIVE, -k, axis=0)).pvalue for k in range(5)]
    f = [five_by_two_f_test(np.roll(FIVE, -k, axis=0)).pvalue for k in range(5)]
    assert max(t) > 20 * min(t) and max(f) == pytest.approx(min(f))
    every = five_by_two(np.array(FIVE))[0]
    low, high = (
        2 * stats.t.sf(extreme, 5) for extreme in (np.abs(every).max(), np.abs(every).min())
    )
    assert five_by_two_t_test(FIVE).notes == (
        Note(
            "unreliable",
            "the result depends on which of the ten differences comes first: "
            f"p ranges from {low:.4g} to {high:.4g}",
        ),
    )


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_by_enumeration(b, c):
    n = b + c
    mass = [math.comb(n, k) / 2**n for k in range(n + 1)]
    tail = sum(mass[: min(b, c) + 1])
    assert mcnemar_test(b, c).pvalue == pytest.approx(min(2 * tail, 1))
    assert mcnemar_test(b, c, method="midp").pvalue == pytest.approx(
        2 * tail - mass[min(b, c)] if b != c else 1
    )
    assert mcnemar_test(c, b).pvalue == mcnemar_test(b, c).pvalue


@pytest.mark.parametrize("n", [10**6, 2**31, 2**45])
def test_mcnemar_of_many_items(n):
    """The normal distribution with its continuity correction is close enough there; a tie has p 1."""
    for ties in (mcnemar_test(n, n), mcnemar_test(n, n + 1), mcnemar_test(n, n, method="midp")):
        assert ties.pvalue == pytest.approx(1, abs=1e-9)
    more = n + 3 * int(n**0.5)
    z = (more - n - 1) / (more + n) ** 0.5
    assert mcnemar_test(n, more).pvalue == pytest.approx(2 * stats.norm.sf(z), rel=1e-4)
    assert mcnemar_test(n, more, method="midp").pvalue == pytest.approx(
        mcnemar_test(n, more).pvalue, rel=0.01
    )


PAIR = {"a": TEN, "b": TEN}
REFUSED = [
    (lambda: mcnemar_test(1.7e308, 0), "b", "must be at most 9007199254740992", "got 1.7e+308"),
    (
        lambda: nested_cv_interval(np.zeros((5, 10)), np.zeros((5, 10))),
        "inner",
        "must have shape (1, 5, 40): the losses of all items outside each fold",
        "got (1, 5, 10)",
    ),
    (
        lambda: nested_cv_interval(np.zeros(10), np.zeros(10)),
        "outer",
        "must have shape (K, ...) or (R, K, ...)",
        "got (10,)",
    ),
    (
        lambda: nested_cv_interval(np.zeros((2, 10)), np.zeros((2, 10))),
        "outer",
        "must have at least 3 folds, each with at least 2 items",
        "got 2 folds of 10",
    ),
    (
        lambda: nested_cv_interval(np.full((3, 2), np.nan), np.zeros((3, 4))),
        "outer",
        "must be finite; repeat 0, fold 0, item 0 is nan",
    ),
    (lambda: nadeau_bengio_test(TEN, 0, 10), "n_train", "must be a number above 0", "got 0"),
    (lambda: nadeau_bengio_test(TEN, 90, -1), "n_test", "must be a number above 0", "got -1"),
    (lambda: five_by_two_t_test(TEN), "differences", "must have shape (5, 2)", "got (10,)"),
    (
        lambda: five_by_two_f_test([[0.1, math.nan]] * 5),
        "differences",
        "must be finite; repeat 0, half 1 is nan",
    ),
    (lambda: mcnemar_test(-1, 2), "b", "must be a whole number of at least 0", "got -1"),
    (lambda: mcnemar_test(3, 2.5), "c", "must be a whole number of at least 0", "got 2.5"),
    (lambda: mcnemar_test(3, 2, method="mid-p"), "method", "must be one of 'exact'", "got 'mid-p'"),
    (
        lambda: bayesian_correlated_t(TEN, runs=3),
        "runs",
        "must divide the number of differences into at least 2 folds; got 3 runs and 10",
    ),
    (
        lambda: bayesian_correlated_t(TEN, rope=-1),
        "rope",
        "must be a number of at least 0",
        "got -1",
    ),
    (
        lambda: compare_tests([[1, 1], [1, 1]], rope=-1),
        "rope",
        "must be a number of at least 0",
        "got -1",
    ),
    (lambda: compare_tests(PAIR), "fold", "must be given with a dict"),
    (
        lambda: adjusted_pvalues([0.5], "hochberg"),
        "adjust",
        "must be one of 'holm'",
        "got 'hochberg'",
    ),
    (lambda: compare_models(PAIR, level=95), "level", "must be a number in (0, 1)", "got 95"),
    (lambda: compare_models({"a": TEN}), "losses", "must contain at least 2 models", "got 1"),
    (
        lambda: compare_models({"a": TEN, "b": TEN[:9]}),
        "models",
        "must be tested on the same items; a has 10, b has 9",
    ),
    (
        lambda: compare_models(PAIR, adjust="hochberg"),
        "adjust",
        "must be one of 'holm'",
        "got 'hochberg'",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1]} {case[2]}")
def test_wrong_arguments_are_refused_by_name_and_rule(case):
    refused(*case)


def test_mcnemar_of_arrays():
    b, c = np.array([21, 7, 0]), np.array([4, 7, 0])
    for method in ("exact", "midp", "chi2"):
        assert mcnemar_pvalue(b, c, method) == pytest.approx(
            [mcnemar_test(int(x), int(y), method=method).pvalue for x, y in zip(b, c, strict=True)]
        )


# nested cross-validation


def test_nested_interval_by_hand():
    rng = np.random.default_rng(1)
    outer, inner = rng.normal(1, 1, (3, 4, 6)), rng.normal(1.2, 1, (3, 4, 18))
    a = (inner.mean(-1) - outer.mean(-1)) ** 2
    b = outer.var(-1, ddof=1) / 6
    mse = 3 / 4 * (a - b).mean()
    naive = inner.std(ddof=1) / 24**0.5
    error = min(max(max(mse, 0) ** 0.5, naive), naive * 2)
    estimate = inner.mean() - (1 + 2 / 4) * (inner.mean() - outer.mean())
    found = nested_cv_interval(outer, inner, level=0.9)
    assert (found.estimate, found.standard_error) == pytest.approx((estimate, error))
    assert tuple(found) == pytest.approx(
        (estimate - 1.6449 * error, estimate + 1.6449 * error), abs=1e-4
    )
    assert found.notes == (Note("unreliable", "only 3 repeats; use about 200 for a stable width"),)
    alone = nested_cv_interval(outer[0], inner[0])
    assert wb.sentences(alone.notes) == ("only 1 repeat; use about 200 for a stable width",)


@pytest.mark.parametrize("shift, wide", [(0.0, 1), (50.0, 5**0.5)])
def test_nested_standard_error_stays_between_independence_and_dependence(shift, wide):
    rng = np.random.default_rng(2)
    outer = rng.normal(0, 1, (200, 5, 10)) + shift * np.array([-1, 1, 0, 1, -1])[:, None]
    inner = rng.normal(0, 1, (200, 5, 40))
    found = nested_cv_interval(outer, inner)
    assert found.standard_error == pytest.approx(
        wide * inner.std(ddof=1) / 50**0.5, rel=0.02 if not shift else 1e-9
    )


# many models, many tests


def test_holm_by_its_definition():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(6) ** 2
        order = np.argsort(p)
        expected, so_far = np.empty(6), 0
        for rank, k in enumerate(order):
            so_far = max(so_far, min(1, (6 - rank) * p[k]))
            expected[k] = so_far
        assert adjusted_pvalues(p) == pytest.approx(expected)
        assert adjusted_pvalues(p, "bonferroni") == pytest.approx(np.minimum(6 * p, 1))
    with_missing = adjusted_pvalues([0.01, math.nan, 0.02])
    assert with_missing[[0, 2]] == pytest.approx([0.03, 0.04]) and math.isnan(with_missing[1])


def test_all_pairs_of_models():
    rng = np.random.default_rng(0)
    base = rng.normal(0.3, 0.02, 10)
    found = compare_models(
        {"a": base, "b": base - 0.1 + rng.normal(0, 0.01, 10), "c": base + rng.normal(0, 0.01, 10)},
        rho="nadeau_bengio",
    )
    assert found.models[0] == "b" and len(found.tests) == 3
    raw = [test.pvalue for test in found.tests]
    assert found.adjusted == pytest.approx(adjusted_pvalues(raw))
    pairs = {(row["first"], row["second"]): row["adjusted_pvalue"] < 0.05 for row in found.rows()}
    assert [differ for pair, differ in pairs.items() if "b" in pair] == [True, True] and sum(
        pairs.values()
    ) == 2
    assert found.headline().endswith("2 of 3 pairs differ at 5% (holm, rho 0.526)")


def test_models_that_are_equal_in_every_fold_still_count_as_a_pair():
    found = compare_models(
        {"a": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3], "c": [0.2, 0.5, 0.3]}, rho=0
    )
    assert [test is None for test in found.tests] == [True, False, False]
    assert found.notes[0] == Note(
        "refused",
        "the same in every fold, 0. The variance between the 3 folds is 0, so there is no t and "
        "no p-value. Use a loss with finer values, or more items",
        ("pair", "a minus b"),
    )
    assert found.rows()[1]["adjusted_pvalue"] == pytest.approx(min(3 * found.tests[1].pvalue, 1))
    assert repr(wb.Result.from_dict(found.to_dict())) == repr(found)


def test_every_test_of_one_pair():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 100)) < [[0.3], [0.15]]
    cv = CVLosses({"a": a.astype(float), "b": b.astype(float)}, np.arange(100) % 10)
    table = {row["test"]: row for row in compare_tests(cv).rows()}
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    assert table["McNemar exact"]["pvalue"] == pytest.approx(
        stats.binomtest(only_a, only_a + only_b).pvalue
    )
    assert table["K-fold t, naive"]["pvalue"] == pytest.approx(
        stats.ttest_1samp(cv.fold_means()[0], 0).pvalue
    )
    z = (a.mean() - b.mean()) / np.std(a * 1.0 - b, ddof=1) * 10
    assert table["central limit theorem z"]["pvalue"] == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert {row["about"] for row in table.values()} == {"learning methods", "fitted models"}
    twice = CVLosses(
        {"a": np.tile(a, 2) * 1.0, "b": np.tile(b, 2) * 1.0},
        np.concatenate([np.arange(100) % 10, np.arange(100) // 10]),
        item=np.tile(np.arange(100), 2),
        repeat=np.repeat([0, 1], 100),
    )
    assert {row["about"] for row in compare_tests(twice).rows()} == {"learning methods"}


def test_the_posterior_weighs_unequal_folds_as_the_t_test_does():
    rng = np.random.default_rng(2)
    cv = CVLosses(rng.normal(0.3, 1, 60), np.repeat(range(5), [20, 16, 12, 8, 4]))
    found, nb = compare_tests(cv, rope=0), kfold_t_test(cv, rho="nadeau_bengio")
    sizes, means = cv.sizes[0], cv.fold_means()[0]
    shown = 5 / 4 * ((sizes / 60) ** 2 * (means - cv.series().mean()) ** 2).sum()
    reference = stats.t(4, cv.series().mean(), (shown * (1 + 5 / 4)) ** 0.5)
    assert (found.posterior.left, found.posterior.right) == pytest.approx(
        (reference.cdf(0), reference.sf(0))
    )
    assert 2 * min(found.posterior.left, found.posterior.right) == pytest.approx(nb.pvalue)
    assert tuple(found.posterior.interval()) == pytest.approx(tuple(nb.interval()))
    assert bayesian_correlated_t(means).estimate != pytest.approx(found.posterior.estimate)
    assert found.notes == (
        Note(
            "unreliable", "folds of 4 to 20 items: they are weighted by size, so t is approximate"
        ),
    )
    with pytest.raises(ValueError, match="^sizes must have 5 entries; got 4$"):
        bayesian_correlated_t(means, sizes=[1] * 4)


@given(differences(4), st.integers(1, 50))
def test_equal_sizes_weigh_nothing(values, size):
    plain, sized = (
        bayesian_correlated_t(values),
        bayesian_correlated_t(values, sizes=np.full(values.size, size)),
    )
    assert (plain.left, plain.standard_error) == pytest.approx((sized.left, sized.standard_error))
    error = ((1 / values.size + 1 / (values.size - 1)) * np.var(values, ddof=1)) ** 0.5
    assert plain.standard_error == pytest.approx(error)


def test_intervals_and_verdict_are_at_the_level_asked_for():
    e = np.random.default_rng(5).normal(0.2, 1, (10, 10))
    for level in (0.8, 0.99):
        found = compare_tests(e, rho="naive", level=level)
        table = {row["test"]: row for row in found.rows()}
        naive = stats.ttest_1samp(e.mean(1), 0).confidence_interval(level)
        row = table["K-fold t, naive"]
        assert (row["low"], row["high"]) == pytest.approx(tuple(naive))
        z = table["central limit theorem z"]
        assert (z["low"], z["high"]) == pytest.approx(
            stats.norm(e.mean(), e.std(ddof=1) / 10).interval(level)
        )
        assert f"at {100 * (1 - level):.6g}%" in found.headline() and found.level == level
    assert found.headline() == found.verdict == found.test.verdict(0.99)


def test_zeros_and_ones_in_small_folds_are_noted():
    a = np.zeros((10, 4))
    a[0, :2], a[1:3, 0] = 1, 1  # fold means .5, .25, .25 and seven 0
    cv = CVLosses({"a": a.ravel(), "b": np.zeros(40)}, np.repeat(range(10), 4))
    assert compare_tests(cv).notes == (
        Note(
            "unreliable",
            "0/1 losses: the 10 fold means take only 3 values. A single item can move t across "
            "the limit, and folds that all agree would show no variance",
        ),
    )
    a[3, :3] = 1
    cv = CVLosses({"a": a.ravel(), "b": np.zeros(40)}, np.repeat(range(10), 4))
    assert compare_tests(cv).notes == ()
    three = compare_tests(CVLosses.from_fold_means([0.1, 0.2, 0.3])).notes
    assert len(three) == 1 and str(three[0]).startswith("3 folds give only 2 degrees of freedom")
    fine = compare_tests(CVLosses.from_fold_means([0.1, 0.2, 0.2, 0.1, 0.1], repeats=1)).notes
    assert str(fine[0]).startswith("the 5 fold means take only 2 values. ")


def test_notes_of_the_file_and_of_repeats_reach_the_table():
    cv = CVLosses.read_csv(
        {"fold": [1, 2, 3, 4, 5] * 2, "repeat": [1] * 5 + [2] * 5, "a": np.arange(10) ** 2 / 7}
    )
    assert (
        compare_tests(cv, rope=0).notes
        == compare_models(cv.joined(CVLosses.from_fold_means({"b": np.zeros(10)}, repeats=2))).notes
        == (
            Note(
                "assumption",
                "2 repeats test the same items. With rho = 0, each repeat would count as new evidence",
            ),
            Note("data", "one row per fold, so rows were read as fold means of equal folds"),
        )
    )


def test_ties_have_no_best_model():
    found = compare_models({"a": [0.25, 0.5, 0.25], "b": [0.5, 0.25, 0.25], "c": [0.5, 0.5, 0.75]})
    assert found.headline() == (
        "a and b share the smallest mean loss, 0.3333; 0 of 3 pairs differ at 5% (holm, rho 0.7)"
    ) and found.best == ("a", "b")
    same = compare_models({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1]}, adjust="none")
    assert same.headline() == (
        "b and a share the smallest mean loss, 0.2; 0 of 1 pair differs at 5% (unadjusted, rho 0.7)"
    )
    assert compare_models({"a": [0, 0, 0], "b": [0, 0, 0]}).best == ("a", "b")


def test_models_that_differ_by_a_constant_have_no_test_but_count():
    """Holm by hand: of three pairs two have a p, and the smaller of them is tripled."""
    losses = {
        "a": [0.125, 0.25, 0.5, 0.375],
        "b": [0.25, 0.375, 0.625, 0.5],
        "c": [0.5, 1, 1, 0.75],
    }
    found = compare_models(losses, rho="naive")
    raw = {(x, "c"): stats.ttest_rel(losses[x], losses["c"]).pvalue for x in "ab"}
    low, high = sorted(raw.values())
    expected = {low: 3 * low, high: max(3 * low, 2 * high)}
    rows = {(row["first"], row["second"]): row for row in found.rows()}
    for key, p in raw.items():
        assert rows[key]["adjusted_pvalue"] == pytest.approx(min(expected[p], 1))
    assert rows["a", "b"]["difference"] == -0.125 and math.isnan(rows["a", "b"]["low"])
    assert ", 1 without a test because the folds show no variance (holm, rho 0)" in found.headline()
    assert found.notes[0].where == ("pair", "a minus b")
    assert str(found.notes[0]).startswith("pair a minus b: the same in every fold, -0.125. ")
    nothing = compare_models({"a": [0.1, 0.2], "b": [0.1, 0.2]})
    assert nothing.headline() == (
        "a and b share the smallest mean loss, 0.15; 0 of 1 pair differs at 5%, 1 without a test "
        "because the folds show no variance (holm)"
    )


def test_intervals_of_pairs_are_at_the_level_and_unadjusted():
    rng = np.random.default_rng(0)
    losses = {name: rng.random(8) + shift for name, shift in (("a", 0), ("b", 0.1), ("c", 0.6))}
    found = compare_models(losses, rho="naive", level=0.9)
    for row in found.rows():
        scipy = stats.ttest_rel(losses[row["first"]], losses[row["second"]])
        assert (row["low"], row["high"]) == pytest.approx(tuple(scipy.confidence_interval(0.9)))
        flips = 1 - (stats.t.ppf(0.95, 7) / scipy.statistic) ** 2
        assert row["rho_alpha"] == pytest.approx(flips if flips >= 0 else math.nan, nan_ok=True)
    differ = sum(row["adjusted_pvalue"] < 0.1 for row in found.rows())
    assert (
        0 < differ < 3
        and f"{differ} of 3 pairs differ{'s' * (differ == 1)} at 10%" in found.headline()
    )
    assert found.notes == (
        Note(
            "remark",
            "intervals, and the rho at which a verdict changes, belong to each pair alone. They "
            "are not adjusted for the number of pairs",
        ),
    )
    assert repr(wb.Result.from_dict(found.to_dict())) == repr(found)


def test_five_repeats_of_two_folds_get_their_own_tests():
    cv = CVLosses.from_fold_means(np.ravel(FIVE), repeats=5)
    found = compare_tests(cv)
    table = {row["test"]: row["pvalue"] for row in found.rows()}
    assert (
        table["5x2cv t"] == five_by_two_t_test(FIVE).pvalue
        and table["5x2cv F"] == five_by_two_f_test(FIVE).pvalue
    )
    for backend in ("polars", "pandas", "pyarrow"):
        assert list(nw.from_native(found.to_frame(backend))["df"]) == ["9", "9", "9", "5", "10, 5"]
    assert repr(wb.Result.from_dict(found.to_dict())) == repr(found)
    (first,) = five_by_two_t_test(FIVE).notes
    assert Note("unreliable", first.text, ("test", "5x2cv t")) in found.notes
    sized = compare_tests(CVLosses.from_fold_means(np.ravel(FIVE), n_items=21, repeats=5))
    assert [row["note"] for row in sized.rows()[-2:]] == [
        first.text + "; folds are treated as equally large",
        "folds are treated as equally large",
    ]
    assert [
        note.where for note in sized.notes if note.text == "folds are treated as equally large"
    ] == [
        ("test", "5x2cv t"),
        ("test", "5x2cv F"),
    ]
    again = wb.Result.from_dict(sized.to_dict())
    assert [row["note"] for row in again.rows()] == [row["note"] for row in sized.rows()]


def test_a_table_without_fold_variance_keeps_what_can_be_said():
    same = {"a": [1.0, 0] * 5, "b": [0.0, 0] * 5}
    found = compare_tests(CVLosses(same, np.repeat(np.arange(5), 2)))
    assert found.posterior is None and found.test is None
    assert (
        found.headline()
        == "b is better by 0.5 (losses 0.5 against 0); no t-test, because the folds show no variance"
    )
    assert (found.notes[0].kind, found.notes[0].where) == ("refused", ("test", "K-fold t"))
    assert found.notes[0].text.startswith("a minus b is the same in every fold, 0.5")
    assert found.rows()[0]["note"] == found.notes[0].text
    table = {row["test"]: row["pvalue"] for row in found.rows()}
    assert math.isnan(table["K-fold t"]) and table["McNemar exact"] == stats.binomtest(5, 5).pvalue


@pytest.mark.parametrize("higher", [False, True])
def test_mcnemar_counts_correct_answers_as_it_counts_errors(higher):
    rng = np.random.default_rng(4)
    a, b = rng.random((2, 100)) < [[0.3], [0.1]]
    columns = {"item": range(100), "fold": np.arange(100) % 10} | {
        name: (wrong != higher).astype(int) for name, wrong in (("a", a), ("b", b))
    }
    found = compare_tests(CVLosses.read_csv(columns, higher_is_better=higher))
    table = {row["test"]: row for row in found.rows()}
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    assert table["McNemar exact"]["pvalue"] == pytest.approx(
        stats.binomtest(only_a, only_a + only_b).pvalue
    )
    assert table["McNemar exact"]["note"] == f"only b correct {only_a}, only a correct {only_b}"
    means = (
        f"scores {1 - b.mean():.4g} against {1 - a.mean():.4g}"
        if higher
        else f"losses {a.mean():.4g} against {b.mean():.4g}"
    )
    assert found.headline().startswith(f"b is better by {a.mean() - b.mean():.4g} ({means}); ")


def test_fold_means_of_correct_answers_take_few_values():
    right = np.ones((10, 4), int)
    right[0, :2], right[1:3, 0] = 0, 0
    cv = CVLosses.read_csv(
        {"item": range(40), "fold": np.repeat(range(10), 4), "a": right.ravel(), "b": [1] * 40},
        higher_is_better=True,
    )
    assert str(compare_tests(cv).notes[0]).startswith(
        "0/1 scores: the 10 fold means take only 3 values. "
    )


def test_the_table_of_pairs_begins_with_what_differs():
    rng = np.random.default_rng(1)
    means = rng.normal(0.4, 0.01, (8, 10))
    means[5] += 0.2
    means[6:] = means[0]
    found = compare_models(CVLosses.from_fold_means(means.T), rho="naive")
    rows = found.rows()
    assert len(rows) == 28 and {(row["first"], row["second"]) for row in rows} == set(found.pairs)
    naive = {
        pair: stats.ttest_rel(*(means[ord(name) - ord("A")] for name in pair))
        for pair in found.pairs
        if not {*pair} <= {"A", "G", "H"}
    }
    ranked = sorted(naive, key=lambda pair: -abs(naive[pair].statistic))
    assert [abs(row["statistic"]) for row in rows[:25]] == pytest.approx(
        [abs(naive[pair].statistic) for pair in ranked]
    )
    assert all("F" in (row["first"], row["second"]) for row in rows[:7])
    assert all(math.isnan(row["pvalue"]) for row in rows[25:])
    for row, pair in zip(rows, ranked, strict=False):
        assert (
            (row["rho_alpha"] >= 0)
            == (naive[pair].pvalue < 0.05)
            == (not math.isnan(row["rho_alpha"]))
        )


def test_a_pair_that_no_rho_tells_apart_has_no_rho_alpha():
    found = compare_models({"a": [0.25, 0.5, 0.75, 0.5], "b": [0.5, 0.25, 0.5, 0.75]})
    assert found.tests[0].rho_alpha() == -math.inf and math.isnan(found.rows()[0]["rho_alpha"])


@pytest.mark.parametrize("shift", [0.38, 0.56])
def test_rho_alpha_below_zero_is_left_out(shift):
    """Naive t 1.79 and 2.63 against the limit 2.262: 1 - (2.262/t)^2 is -.60 and .26."""
    d = np.linspace(-1, 1, 10) + shift
    row = compare_models({"a": d + 2, "b": np.full(10, 2.0)}).rows()[0]
    flips = 1 - (stats.t.ppf(0.975, 9) / stats.ttest_1samp(d, 0).statistic) ** 2
    assert row["rho_alpha"] == pytest.approx(math.nan if shift == 0.38 else flips, nan_ok=True)
    assert flips == pytest.approx(-0.604 if shift == 0.38 else 0.261, abs=5e-4)


def test_differences_of_scores_have_the_sign_of_scores():
    """A is better by .08: as scores .08 above 0, as errors .08 below, and all else is the same."""
    right = {"A": np.array([0.75, 0.875, 0.925]), "B": np.array([0.75, 0.75, 0.81])}
    scores, errors = (
        CVLosses.from_fold_means(
            {name: abs(shift - means) for name, means in right.items()}, higher_is_better=not shift
        )
        for shift in (0, 1)
    )
    t, p = stats.ttest_rel(right["A"], right["B"])
    test, mirrored = (compare_tests(cv, rho="naive", rope=0.05) for cv in (scores, errors))
    assert (test.estimate, test.test.statistic, test.test.pvalue) == pytest.approx((0.08, t, p))
    assert [*test.test.interval()] == pytest.approx(
        stats.ttest_rel(right["A"], right["B"]).confidence_interval(0.95)
    )
    assert mirrored.estimate == pytest.approx(-0.08) and mirrored.test.statistic == pytest.approx(
        -t
    )
    assert test.finding() == mirrored.finding() and test.finding().startswith(
        "It is not shown that A is better than B ("
    )
    assert test.posterior.regions == pytest.approx(mirrored.posterior.regions)
    assert [*test.posterior.regions] == [*mirrored.posterior.regions][::-1]
    assert test.posterior.headline().startswith("P(first has the larger score) ")
    for cv, difference in ((scores, 0.08), (errors, -0.08)):
        (row,) = compare_models(cv, rho="naive").rows()
        assert (row["first"], row["difference"]) == ("A", pytest.approx(difference))


def test_models_with_scores_are_ranked_by_them():
    scores = {"a": [0.75, 0.5, 1], "b": [0.75, 0.875, 1], "c": [0.5, 0.25, 0.25]}
    cv = CVLosses.from_fold_means(scores, higher_is_better=True)
    found = compare_models(cv)
    assert found.models == ("b", "a", "c") and found.scores
    assert found.headline().startswith("b has the largest mean score, 0.875; ")
    assert Note("data", "the values are scores: larger is better") in found.notes
    assert repr(wb.Result.from_dict(found.to_dict())) == repr(found)
    tie = CVLosses.from_fold_means(
        {"a": [0, 0.5], "b": [0.5, 0], "c": [0, 0]}, higher_is_better=True
    )
    assert compare_models(tie).headline().startswith("a and b share the largest mean score, 0.25; ")
    assert (
        compare_models(tie.pair("a", "b"))
        .headline()
        .startswith("a and b share the largest mean score, 0.25; ")
    )


@pytest.mark.parametrize(
    "scale, note",
    [
        (1, None),
        (
            1000,
            "the rope (the largest difference that is practically zero), 0.01, is 0.000335 naive standard errors. Choose it in units of the loss",
        ),
        (
            1e-3,
            "the rope (the largest difference that is practically zero), 0.01, is larger than the mean losses, 8.5e-05 at most. Choose it in units of the loss",
        ),
    ],
)
def test_a_rope_in_another_unit_is_noted(scale, note):
    """Ten folds with a naive standard error of .0299: a rope of .01 is .335 of them."""
    assert np.std(TEN, ddof=1) / 10**0.5 == pytest.approx(0.0299, abs=5e-5)
    cv = CVLosses.from_fold_means({"A": np.multiply(TEN, scale), "B": np.zeros(10)})
    assert compare_tests(cv).notes == (() if note is None else (Note("data", note),))
    assert compare_tests(cv, rope=0).notes == ()


def test_two_columns_are_two_items_per_fold():
    array = np.column_stack([np.add(TEN, 0.25), np.linspace(0.125, 0.25, 10)])
    note = Note(
        "data",
        "the array was read as two items per fold of one series. For two models, use CVLosses.from_fold_means",
    )
    assert compare_tests(array).notes == (note,)
    assert (
        note
        not in compare_tests(CVLosses(array)).notes + compare_tests(np.hstack([array, array])).notes
    )


# refusals


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: nadeau_bengio_test([0.1], 90, 10),
            "the difference is the same in every fold, 0.1. The variance between the 1 folds is "
            "0, so there is no t and no p-value. Use a loss with finer values, or more items",
        ),
        (
            lambda: five_by_two_t_test([[0.1, 0.1]] * 5),
            "the two halves agree in all five repeats. The variance is 0, so there is no t, no F "
            "and no p-value. Use a loss with finer values, or more items",
        ),
        (
            lambda: nadeau_bengio_test([1e145, 2e145], 90, 10),
            "differences must have a largest absolute value from 1e-140 to 1e+140, so that "
            "squares are numbers; got 2e+145. Use another unit",
        ),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


def test_one_repeat_whose_halves_agree_is_no_reason_to_refuse():
    """t and F by their formulas, with one variance of 0 among five."""
    values = np.array([[0.1, 0.1], [0.08, 0.02], [0, 0.06], [0.04, 0.07], [0.03, 0.01]])
    spread = (np.diff(values) ** 2 / 2).sum()
    assert five_by_two_t_test(values).statistic == pytest.approx(0.1 / math.sqrt(spread / 5))
    assert five_by_two_f_test(values).statistic == pytest.approx((values**2).sum() / (2 * spread))


def test_a_comparison_put_together_by_hand_counts_its_pairs():
    rng = np.random.default_rng(3)
    cv = CVLosses(
        {name: rng.random(60) + shift for name, shift in (("a", 0), ("b", 0), ("c", 2))},
        np.arange(60) % 6,
    )
    made = compare_models(cv)
    told = made.models, made.mean_loss, made.tests, made.pairs, made.adjusted, made.adjust
    by_hand = type(made)(*told)
    assert (made.compared, made.differ) == (by_hand.compared, by_hand.differ) == (3, 2)
    assert type(made)(*told, compared=5, differ=4).compared == 5


@pytest.mark.parametrize("step", [0.0064, 0.0155])
def test_a_finding_has_the_digits_of_half_its_interval(step):
    """Half of it is .0126 or .0304: two digits of that, three decimals."""
    apart = 0.2 + step * np.arange(-2, 3)
    low, high = stats.ttest_1samp(apart, 0).confidence_interval()
    cv = CVLosses.from_fold_means({"a": 0.3 + apart, "b": np.full(5, 0.3)})
    assert (
        compare_tests(cv, rho="naive")
        .finding()
        .startswith(
            f"b is better than a by 0.200 (95% confidence interval {low:.3f} to {high:.3f}, p "
        )
    )


def test_of_more_than_a_hundred_models_all_pairs_are_counted_and_the_best_are_shown():
    """p-values of all 5,151 pairs from scipy; two models a constant apart, but for rounding, have none."""
    rng = np.random.default_rng(8)
    means = rng.integers(0, 64, (8, 102)) / 64 + np.linspace(0, 2, 102)
    means[:, 51] = [0, 0.1, 0.2, 0.3, 0.7, 1.1, 1.3, -0.1]
    means[:, 52] = means[:, 51] + 0.1
    found = compare_models(
        CVLosses.from_fold_means({f"m{k}": column for k, column in enumerate(means.T)}),
        rho="naive",
        adjust="bonferroni",
    )
    order = np.argsort(means.mean(0))
    assert found.models == tuple(f"m{k}" for k in order)
    expected = [(found.models[0], other) for other in found.models[1:]]
    expected += list(itertools.combinations(found.models[1:20], 2))
    assert found.pairs == tuple(expected) and found.compared == 5151
    first, second = np.array(
        [pair for pair in itertools.combinations(range(102), 2) if pair != (51, 52)]
    ).T
    assert (
        found.differ
        == (stats.ttest_rel(means[:, first], means[:, second]).pvalue * 5151 < 0.05).sum()
        > 0
    )
