"""The default interval of shares and bounded means against Clopper and Pearson's and the stratified default."""
import numpy as np
import pytest
from scipy import stats

from workbench import value_interval
from workbench.replication.bounded_intervals import Clusters, Spread, bounded_limits, f1_limits

ANY = np.full(2, np.inf)
NO_CLUSTERS = Clusters(np.inf, 1e12, ANY)


def spread_of(values):
    return Spread.of([(np.asarray(values, float), np.ones(len(values), bool))], np.ones(len(values)))


def test_of_independent_items_it_is_clopper_and_pearsons():
    for n, x in ((30, 21), (12, 0), (200, 199), (5, 5)):
        p = x / n
        found = bounded_limits(p, p * (1 - p) / (n - 1), spread_of([1] * x + [0] * (n - x)),
                               Clusters(n, 1e12, ANY), .025)
        exact = stats.binomtest(x, n).proportion_ci(.95, "exact")
        assert found == pytest.approx(tuple(exact), abs=1e-9)


@pytest.mark.parametrize("values", [(-1, 0, 1), (0, .5, 1), (0, 1, 10)])
def test_of_independent_items_it_is_the_interval_of_values(values):
    counts = np.array([7, 12, 3])
    y = np.repeat(values, counts).astype(float)
    found = bounded_limits(y.mean(), y.var(ddof=1) / y.size, spread_of(y), NO_CLUSTERS, .025,
                           bounds=(values[0], values[-1]))
    assert found == pytest.approx(tuple(value_interval([10 ** 9], [counts], values)), rel=1e-6, abs=1e-6)


def test_half_of_the_population_sampled():
    """Of independent items, N = 44 and n = 22, as the stratified interval rounds: outward to whole items."""
    y = np.repeat([0., 1.], [8, 14])
    low, high = bounded_limits(y.mean(), .5 * y.var(ddof=1) / 22, spread_of(y), Clusters(22, 1e12, ANY), .025,
                               free=.5)
    assert tuple(value_interval([44], [[8, 14]], (0, 1))) == pytest.approx((np.floor(low * 44) / 44,
                                                                           np.ceil(high * 44) / 44))


def test_a_census_is_certain():
    assert bounded_limits(.7, 0.0, spread_of([1] * 7 + [0] * 3), Clusters(10, 9, (5.0, 5.0)), .025, free=0.0) == \
        pytest.approx((.7, .7))


def test_a_design_effect_of_four_is_a_quarter_of_the_items():
    y = [1] * 300 + [0] * 100
    found = bounded_limits(.75, 4 * .1875 / 399, spread_of(y), NO_CLUSTERS, .025)
    assert found == pytest.approx((stats.beta.ppf(.025, 75, 26), stats.beta.ppf(.975, 76, 25)))


def test_few_degrees_of_freedom_shrink_the_number_of_items():
    """Korn and Graubard: (z / t)^2; but where few PSUs carry the variance, only beyond the number of PSUs."""
    y, z = [1] * 300 + [0] * 100, stats.norm.ppf(.975)
    usual = (z / stats.t.ppf(.975, 20)) ** 2
    for carriers, psus, n in ((np.inf, 50, 400 * usual), (3.0, 50, 400 * (z / stats.t.ppf(.975, 3)) ** 2),
                              (3.0, 300, 300 * usual), (3.0, 10 ** 6, 400 * usual), (0.2, 50, 50 * usual)):
        found = bounded_limits(.75, 0.1875 / 399, spread_of(y), Clusters(psus, 20, (carriers, carriers)), .025)
        expected = (stats.beta.ppf(.025, .75 * n, .25 * n + 1), stats.beta.ppf(.975, .75 * n + 1, .25 * n))
        assert found == pytest.approx(expected), (carriers, psus)


def test_five_degrees_of_freedom_are_the_pooled_variances():
    y, variance, z = [1] * 300 + [0] * 100, .1875 / 399, stats.norm.ppf(.975)
    for df, pooled, effect in ((5, 4, 4), (3, 4, 4), (20, 4, 1 + 3 / 4), (20, .5, 1), (1e12, 4, 1)):
        found = bounded_limits(.75, variance, spread_of(y), Clusters(400, df, ANY, pooled * variance), .025)
        n = 400 / effect * (z / stats.t.ppf(.975, df)) ** 2
        expected = (stats.beta.ppf(.025, .75 * n, .25 * n + 1), stats.beta.ppf(.975, .75 * n + 1, .25 * n))
        assert found == pytest.approx(expected), (df, pooled)


def test_the_limits_believe_their_own_carriers():
    y = [1] * 300 + [0] * 100
    both = [bounded_limits(.75, .1875 / 399, spread_of(y), Clusters(5, 50, carriers), .025)
            for carriers in ((3, 3), (9, 9), (3, 9))]
    assert both[2] == (both[0][0], both[1][1])


def test_f1_is_the_share_of_hits_among_all_positives():
    """F1 = 2 J / (1 + J); the derivative turns its variance into that of J."""
    share, n = .6, 80
    f1 = 2 * share / (1 + share)
    variance = share * (1 - share) / (n - 1)
    found = f1_limits(f1, variance * (2 / (1 + share) ** 2) ** 2, spread_of([1] * 48 + [0] * 32), NO_CLUSTERS, .025)
    exact = stats.binomtest(48, n).proportion_ci(.95, "exact")
    assert found == pytest.approx(tuple(2 * limit / (1 + limit) for limit in exact))


def test_f1s_pooled_variance_is_on_the_scale_of_its_variance():
    f1, spread = .75, spread_of([1] * 48 + [0] * 32)
    variance = 2 * .24 / 79
    assert f1_limits(f1, variance, spread, Clusters(10, 5, ANY, 4 * variance), .025) == pytest.approx(
        f1_limits(f1, 4 * variance, spread, Clusters(10, 5, ANY), .025), rel=1e-12)


def test_weights_count_by_kish():
    weight = np.array([1., 1, 1, 5])
    spread = Spread.of([(np.array([0., 1, 1, 1]), np.ones(4, bool))], weight)
    assert spread.items[0] == pytest.approx(64 / 28) and spread.second[0] == pytest.approx(1 / 8 * 7 / 8)
    assert spread.third[0] == pytest.approx(-1 / 8 * 7 / 8 * 6 / 8)
