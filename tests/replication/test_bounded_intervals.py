"""The bounded and the default interval of clusters against golden values and the rules written out in loops."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

import workbench as wb
from workbench.replication.bounded_intervals import Clusters, Sample, clusters, degrees

RIGHT = [
    [1, 1, 1, 1, 0],
    [1, 1, 1, 1, 1],
    [1, 1, 1, 0, 0],
    [1, 1, 1, 1, 1],
    [1, 1, 1, 1, 0],
    [1, 1, 0, 0, 0],
    [1, 1, 1, 1, 1],
    [1, 1, 1, 1, 0],
]


def limits_of(
    y, psu, bounds=(0, 1), level=0.95, stratum=None, weight=None, fpc=None, method="default"
):
    stratum = np.zeros(len(y), int) if stratum is None else stratum
    design = wb.SurveyDesign(stratum, psu=psu, weight=weight, fpc=fpc)
    found = wb.replicate_estimate(wb.replicates(design, "jkn"), "mean", y, bounds=bounds)
    return np.array(tuple(found.interval(level, method)))


# ---------------------------------------------------------------- the rule, written out


def written_out(y, psu, stratum, weight, population, bounds, level, method):
    """Return the limits as the equations say, PSU by PSU, the variance by leaving each one out of the items."""
    lower = upper_written_out(
        -y, psu, stratum, weight, population, -bounds[0], np.ptp(bounds), level, method
    )
    return -lower, upper_written_out(
        y, psu, stratum, weight, population, bounds[1], np.ptp(bounds), level, method
    )


def upper_written_out(y, psu, stratum, weight, population, high, reach, level, method):
    names, total = np.unique(psu), weight.sum()
    of = {c: stratum[psu == c][0] for c in names}
    n = {h: sum(of[c] == h for c in names) for h in set(of.values())}
    mean = weight @ y / total
    own = {h: np.average(y[stratum == h], weights=weight[stratum == h]) for h in n}
    share = {c: weight[psu == c].sum() / total for c in names}
    error = {c: (weight[psu == c] * (y[psu == c] - mean)).sum() / total for c in names}
    beyond = np.array([max(value - own[h], 0) for value, h in zip(y, stratum, strict=True)])
    beyond[beyond < 1e-12 * reach] = 0
    free = {h: 1 - n[h] / population[h] for h in n}

    variance = 0
    for c in names:
        factor = np.where(psu == c, 0, np.where(stratum == of[c], n[of[c]] / (n[of[c]] - 1), 1))
        factor = 1 + np.sqrt(free[of[c]]) * (factor - 1)
        variance += (n[of[c]] - 1) / n[of[c]] * (np.average(y, weights=weight * factor) - mean) ** 2
    kappa = sum(share.values()) ** 2 / sum(w**2 for w in share.values())
    a = {h: sum(share[c] ** 2 for c in names if of[c] == h) for h in n}
    spare = len(names) - len(n)
    df = max(
        1,
        min(
            spare,
            kappa * spare / len(names),
            sum(a.values()) ** 2 / sum(a[h] ** 2 / (n[h] - 1) for h in n),
        ),
    )
    middle = {h: np.mean([share[c] for c in names if of[c] == h]) for h in n}
    level_of = {h: np.mean([error[c] for c in names if of[c] == h]) for h in n}
    spread = sum(((error[c] - level_of[of[c]]) / middle[of[c]]) ** 2 for c in names) / spare
    pooled = spread * sum(free[h] * n[h] * middle[h] ** 2 for h in n)
    variance += min(1, 5 / df) * max(pooled - variance, 0)
    f = sum(share[c] ** 2 * free[of[c]] for c in names) / sum(w**2 for w in share.values())

    heaviest, up = max(share.values()), [max(e, 0) for e in error.values()]
    x = [(weight[psu == c] * beyond[psu == c] ** 2).sum() for c in names]
    gaps = np.array([high - own[h] for h in stratum])
    items = sum((b / gap) ** 2 for b, gap in zip(beyond, gaps, strict=True) if b)
    carriers = min(sum(x) ** 2 / sum(v * v for v in x), items) if sum(x) else 0
    squares = sum(e * e for e in error.values())
    skewness = max(sum(e**3 for e in error.values()) / squares, 0) if squares > 1e-28 else 0
    within = {c: (weight[psu == c] * (y[psu == c] - own[of[c]])).sum() / total for c in names}
    d4 = 0 if method == "bounded" else (0.01 * reach * heaviest) ** 4
    q = min(
        (sum(e * e for e in each) ** 2 + d4) / sum(max(e, 0) ** 4 for e in each)
        if max(each) > 1e-14
        else np.inf
        for each in (list(error.values()), list(within.values()))
    )
    worst = max(up) / (1 + heaviest)
    bound = max(share[c] / (1 + share[c]) * (high - own[of[c]]) for c in names)
    far = max((weight[psu == c] * beyond[psu == c]).sum() / total for c in names) / (1 + heaviest)
    larger = min(bound, 5 * far)
    vary = min(
        1,
        2
        * sum(n[of[c]] / (n[of[c]] - 1) * (share[c] - middle[of[c]]) ** 2 for c in names)
        / sum(w**2 for w in share.values()),
    )
    one, other = (
        min(1, part / carriers**power) if carriers else 1 for part, power in ((3, 1), (0.7, 2))
    )
    unseen = worst * max(one, min(1, 4 / q) ** 2) + max(
        other * max(bound - worst, 0), vary * min(1, 5 / q) ** 2 * max(larger - worst, 0)
    )
    if method == "default":
        square = (
            sum(w * (value - own[h]) ** 2 for w, value, h in zip(weight, y, stratum, strict=True))
            / total
        )
        like_the_worst = worst_left_out(error, share) * min(1, 1 / 2 + 3 / kappa)
        carriers = sum(x) ** 2 / sum(v * v for v in x) if sum(x) else 0
        trusted = trusted_written_out(carriers, q, kappa / len(names), square / reach**2)
        trusted *= squares**2 / (squares**2 + d4)
        unseen += trusted * min(like_the_worst - unseen, 0)
    p = (1 + level) / 2
    r = stats.t.ppf(p, df) / stats.norm.ppf(p)
    return np.clip(
        beta_quantile(
            mean + f * max(skewness * r / 2, unseen),
            variance * r**2 + f * unseen**2,
            2 * (skewness * variance * r**3 + f**1.5 * unseen**3),
            high,
            p,
        ),
        mean,
        high,
    )


def worst_left_out(error, share):
    """Return the largest residual of a PSU from the mean of the others, weighted as the heaviest PSU that is unseen."""
    return max(max(error[c] / (1 - share[c]), 0) for c in error) / (1 + max(share.values()))


def trusted_written_out(carriers, q, evenness, square):
    rises = (carriers - 2) / 2, (q - 2) / 3, (evenness - 0.25) / 0.15
    return min(1, max(0, min(rises))) * square**2 / (square**2 + 1e-3**4)


def beta_quantile(mean, variance, third, high, p):
    """Return a quantile of the beta distribution that ends at `high`, its range found so that the third moment fits."""

    def fitted(reach):
        gap = (high - mean) / reach
        size = gap * (1 - gap) * reach**2 / variance - 1
        return stats.beta((1 - gap) * size, gap * size, high - reach, reach)

    def miss(log):
        found = fitted(high - mean + np.exp(log))
        return float(found.stats("s")) * variance**1.5 - third

    least = variance / (high - mean) * (1 + 1e-9)
    return fitted(
        high - mean + np.exp(optimize.brentq(miss, np.log(least), np.log(1e5), xtol=1e-13))
    ).ppf(p)


@pytest.mark.parametrize("method", ["bounded", "default"])
@pytest.mark.parametrize("seed", range(12))
def test_limits_are_those_of_the_rule_written_out(seed, method):
    rng = np.random.default_rng(seed)
    strata = rng.integers(1, 4)
    psus = rng.integers(3, 9, strata)
    psu = np.repeat(np.arange(psus.sum()), rng.integers(1, 9, psus.sum()))
    stratum = np.repeat(np.arange(strata), psus)[psu]
    weight = rng.lognormal(size=strata)[stratum]
    bounds = [(0, 1), (-1, 1), (0, 10)][seed % 3]
    rate = rng.beta(3, 2, psus.sum())[psu]
    y = {
        0: rng.random(psu.size) < rate,
        1: rng.choice([-1, 0, 1], psu.size, p=[0.1, 0.7, 0.2]),
        2: 10 * rng.beta(2, 5, psu.size),
    }[seed % 3].astype(float)
    population = psus + rng.integers(1, 40, strata)
    fpc = population[stratum] if seed % 2 else None
    of_all = {h: population[h] if seed % 2 else np.inf for h in range(strata)}
    expected = written_out(y, psu, stratum, weight, of_all, np.array(bounds, float), 0.9, method)
    limits = limits_of(y, psu, bounds, 0.9, stratum, weight, fpc, method)
    assert limits == pytest.approx(expected, abs=2e-6 * np.ptp(bounds))


# ---------------------------------------------------------------- golden values


def test_golden_values():
    """Worked out by another program, before this one was written."""
    y, psu = np.ravel(RIGHT), np.repeat(np.arange(8), 5)
    assert limits_of(y, psu, method="bounded") == pytest.approx((0.528230, 0.972100), abs=1e-6)
    design = wb.SurveyDesign([0] * 40, psu=psu)
    sample = Sample.of_items(design, y.astype(float), [np.ones(40, bool)])
    told = clusters(design, sample, sample.variance(wb.replicates(design, "jkn")), (0.0, 1.0))
    assert (float(told.variance), float(told.df)) == pytest.approx((0.00571429, 7), abs=1e-8)
    assert (told.carriers[0], told.bounded[0], told.skewness[0]) == pytest.approx(
        (4, 0.0463889, 0.01875), abs=1e-7
    )
    assert limits_of([1] * 50, np.repeat(np.arange(10), 5)) == pytest.approx(
        (0.653226, 1), abs=1e-6
    )
    assert limits_of([0] * 60, np.repeat(np.arange(10), 6), (-1, 1)) == pytest.approx(
        (-0.346774, 0.346774), abs=1e-6
    )


def test_where_nothing_differs_it_is_about_the_beta_of_the_psus():
    """Of 1,000 PSUs none of which has an error: 1 - .025^(1/1000), nearly."""
    low, high = limits_of([1] * 1000, np.arange(1000))
    assert high == 1 and low == pytest.approx(0.025 ** (1 / 1000), abs=2e-5)


def test_of_many_like_psus_it_is_students_t():
    y = np.arange(2000) % 2
    low, high = limits_of(np.concatenate([y, y]), np.repeat(np.arange(1000), 4) % 997)
    assert (low + high) / 2 == pytest.approx(0.5, abs=1e-4)


# ---------------------------------------------------------------- what may not change it


def drawn_sample(rng):
    psu = np.repeat(np.arange(14), rng.integers(1, 12, 14))
    y = rng.choice([-1, -0.25, 0, 0.5, 1], psu.size, p=[0.05, 0.15, 0.4, 0.2, 0.2])
    return y, psu, psu // 7, rng.uniform(1, 4, psu.size)


@pytest.mark.parametrize("seed", range(5))
def test_negating_scaling_shifting_and_the_order_of_psus(seed):
    rng = np.random.default_rng(seed)
    y, psu, stratum, weight = drawn_sample(rng)
    given = {"stratum": stratum, "weight": weight}
    low, high = limits_of(y, psu, (-1, 1), **given)
    assert -1 < low < high < 1
    assert limits_of(-y, psu, (-1, 1), **given) == pytest.approx((-high, -low), abs=1e-12)
    assert limits_of(3 * y + 5, psu, (2, 8), **given) == pytest.approx(
        (3 * low + 5, 3 * high + 5), abs=1e-9
    )
    order = rng.permutation(y.size)
    mixed = limits_of(
        y[order],
        rng.permutation(14)[psu][order],
        (-1, 1),
        stratum=stratum[order],
        weight=7 * weight[order],
    )
    assert mixed == pytest.approx((low, high), abs=1e-9)
    wider = limits_of(y, psu, (-2, 3), **given)
    assert wider[0] < low and wider[1] > high


def test_a_census_has_no_width_and_nothing_else_has():
    rng = np.random.default_rng(1)
    for rate in (0, 0.3, 1):
        for psus, items in ((2, 1), (3, 4), (40, 2)):
            y, psu = rng.random(psus * items) < rate, np.repeat(np.arange(psus), items)
            low, high = limits_of(y.astype(float), psu, fpc=[psus] * y.size)
            assert low == high == pytest.approx(y.mean())
            low, high = limits_of(y.astype(float), psu, fpc=[10 * psus] * y.size)
            assert 0 <= low <= y.mean() <= high <= 1 and low < high


def test_psus_that_are_all_alike_are_no_certainty():
    y = np.tile([1, 0], 20)
    low, high = limits_of(y, np.repeat(np.arange(20), 2))
    assert low < 0.5 < high


def test_strata_that_differ_hide_nothing():
    """Half of the strata all right, half all wrong, and no PSU unlike its stratum: 50 on either side, none other."""
    y = np.repeat([1, 1, 0, 0], 25)
    low, high = limits_of(y, np.arange(100), stratum=np.arange(100) // 2)
    assert (0.5 - low, high - 0.5) == pytest.approx([0.5 * (1 - 0.025 ** (1 / 50))] * 2)


def test_many_samples_at_once_are_each_of_them():
    rng = np.random.default_rng(4)
    design = wb.SurveyDesign(np.arange(12) // 3, weight=np.repeat([1.0, 2, 3, 9], 3))
    counts = rng.integers(0, 6, (3, 12, 7)) * np.array([0.3, 1, 1])[:, None, None] // 1
    counts[2] += 1
    sample = Sample.of_counts((-1, 0, 1), counts, design.weight[:, None])
    told = clusters(design, sample, sample.variance(wb.replicates(design, "jkn")), (-1.0, 1.0))
    low, high = told.limits(0.05, (-1.0, 1.0))
    for run in range(7):
        number = counts[:, :, run].astype(int)
        y = np.concatenate([np.repeat([-1, 0, 1], each) for each in number.T])
        psu = np.repeat(np.arange(12), number.sum(0))
        expected = limits_of(y, psu, (-1, 1), 0.9, psu // 3, design.weight[psu])
        assert (low[run], high[run]) == pytest.approx(tuple(expected), abs=1e-9)


# ---------------------------------------------------------------- its parts


def test_degrees_of_freedom_by_hand():
    """Two strata of 2 and 3 PSUs that weigh 3, 1 and 2, 2, 0."""
    design = wb.SurveyDesign([0, 0, 1, 1, 1])
    df, psus = degrees(design, np.array([[3.0, 1, 2, 2, 0]]), None)
    assert psus == pytest.approx(64 / 18)
    assert df == pytest.approx(min(3, 64 / 18 * 3 / 5, 18**2 / (10**2 / 1 + 8**2 / 2)))
    assert degrees(design, np.array([[3.0, 1, 2, 2, 0], [1, 0, 0, 0, 0]]), None) == pytest.approx(
        (1, 1)
    )
    assert degrees(design, np.ones((1, 5)), 1.5)[0] == 1.5


def test_where_sizes_vary_an_unseen_psu_may_be_five_times_as_bad_as_those_seen():
    """PSUs of one item: 1, 1, 0, 0 that weigh 1 and 1/2 that weighs 9. K is 2, Q 8, s 1.

    1 + W* is 22/13: a is .5/22, B 9 times and A 5 times as much; .7/4 (B - a) < (5/8)^2 (A - a).
    """
    design = wb.SurveyDesign([0] * 5, weight=[1, 1, 1, 1, 9])
    sample = Sample.of_items(design, np.array([1, 1, 0, 0, 0.5]), [np.ones(5, bool)])
    told = clusters(design, sample, sample.variance(wb.replicates(design, "jkn")), (0.0, 1.0))
    assert told.bounded == pytest.approx([(0.5 + 25 / 64 * (2.5 - 0.5)) / 22] * 2, rel=1e-12)


def test_f1_is_from_the_share_of_hits_among_all_positives():
    """F1 = 2 J / (1 + J), J the share of items truly and predicted positive among those that are either."""
    rng, psu = np.random.default_rng(2), np.repeat(np.arange(20), 6)
    truth, read = rng.random(120) < 0.5, rng.random(120) < 0.6
    drawn = wb.replicates(wb.SurveyDesign([0] * 120, psu=psu), "jkn")
    share = wb.replicate_estimate(drawn, "proportion", truth & read, domain=truth | read).interval()
    found = wb.replicate_estimate(drawn, "f1", truth, read).interval()
    assert tuple(found) == pytest.approx(
        tuple(2 * limit / (1 + limit) for limit in share), rel=1e-12
    )


def test_skewness_and_the_unseen_psu_move_the_limits():
    plain = Clusters(
        0.5, 0.01, 20.0, 20.0, 1.0, np.zeros(2), np.zeros(2), np.full(2, 9.0), np.zeros(2)
    )
    low, high = plain.limits(0.025)
    for side in (0, 1):
        at = np.eye(2)[side]
        for change in ({"skewness": 0.03 * at}, {"unseen": 0.05 * at}):
            reach = np.array(replace(plain, **change).limits(0.025)) - (low, high)
            assert reach[1 - side] == 0 and (reach[side] > 0) == bool(side) and reach[side] != 0


@pytest.mark.parametrize("seed", range(3))
def test_what_rounding_leaves_of_strata_that_are_alike_counts_for_nothing(seed):
    """Values .1, .3, .7 of three strata are 0, 2, 6 tenths from .1, where nothing is rounded: the same limits."""
    rng = np.random.default_rng(seed)
    stratum, weight = np.repeat(np.arange(3), 21), rng.lognormal(size=63)
    psu = np.arange(63) // 3
    tenths = limits_of(np.array([0.0, 2, 6])[stratum], psu, (-1, 9), 0.95, stratum, weight)
    found = limits_of(np.array([0.1, 0.3, 0.7])[stratum], psu, (0, 1), 0.95, stratum, weight)
    assert found == pytest.approx(0.1 + tenths / 10, abs=1e-9)


def test_no_wrong_pair_is_not_certain_where_positives_and_negatives_lie_in_different_units():
    """A positive unit not seen may rank below: it counts as the heaviest of its class, though it holds no negative."""
    truth = np.repeat([1, 0], 40)
    design = wb.SurveyDesign(np.zeros(80, int), psu=np.arange(80) // 4)
    found = wb.replicate_estimate(
        wb.replicates(design, "jkn"), "auc", truth, truth + np.arange(80) / 1000
    )
    low, high = found.interval()
    assert found.estimate == high == 1 and 0.5 < low < 1 - 0.025**0.1 / 10
