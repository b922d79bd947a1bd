"""What an estimate knows: which PSUs carry it, and that its interval covers where it once did not."""

import numpy as np
import pytest
from refusals import refused
from sklearn.metrics import roc_auc_score

import workbench as wb
from workbench.checks import WrongType
from workbench.replication import estimates, statistics
from workbench.replication.estimates import replicate_estimate
from workbench.replication.replicates import replicates

PAIRS = np.repeat(np.arange(100), 6)
PAIRED = wb.SurveyDesign(PAIRS // 2, psu=PAIRS)


def four_errors(share, runs):
    return 4 * np.sqrt(share * (1 - share) / runs)


# ---------------------------------------------------------------- which PSUs carry the information


def test_an_auc_with_one_positive_psu_says_next_to_nothing():
    """0.946 to 0.962 with 50 degrees of freedom and no note, when the design's degrees were taken."""
    rng = np.random.default_rng(1)
    truth = (PAIRS == 7) * 1
    found = replicate_estimate(
        replicates(PAIRED, "fay"), "auc", truth, rng.normal(size=600) + 1.2 * truth
    )
    assert (found.df, found.informative_psus, found.effective_df) == (1, 1, 1)
    assert found.interval().high - found.interval().low > 0.9
    (note,) = found.notes
    assert note.kind == "unreliable" and note.text.startswith("1 cluster carries the information")


def test_recall_counts_the_psus_with_members():
    rng = np.random.default_rng(2)
    truth = np.isin(PAIRS, [3, 20, 41, 77]) * 1
    prediction = np.where(rng.random(600) < 0.8, truth, 0)
    found = replicate_estimate(replicates(PAIRED, "fay"), "recall", truth, prediction)
    assert (
        (found.df, found.informative_psus) == (1, 4) and 1 < found.effective_df <= 2 and found.notes
    )
    alone = replicate_estimate(replicates(PAIRED, "fay"), "proportion", prediction, domain=truth)
    assert tuple(alone.interval()) == pytest.approx(tuple(found.interval()))


def test_an_auc_takes_the_rarer_class():
    rng = np.random.default_rng(3)
    truth = (PAIRS % 10 < 4) * 1
    for positive in (truth, 1 - truth):
        found = replicate_estimate(replicates(PAIRED, "jkn"), "auc", positive, rng.normal(size=600))
        assert (found.informative_psus, found.df) == (40, 20)


def test_the_spread_of_an_auc_is_that_of_its_placements():
    """Values are the shares of the other class on the right side: their mean is the AUC."""
    rng = np.random.default_rng(4)
    truth, score, weight = (
        rng.random(80) < 0.3,
        rng.normal(size=80).round(1),
        rng.lognormal(size=80),
    )
    placed = statistics.placements((truth, ~truth), score, weight)
    for part in (truth, ~truth):
        assert np.average(placed[part], weights=weight[part]) == pytest.approx(
            roc_auc_score(truth, score, sample_weight=weight)
        )


def told(found):
    """Return mean, variance, skewness, what a PSU adds at a bound, carriers and what one adds by default."""
    return found.clusters[0], found.clusters[1], *np.reshape(found.clusters[2:], (4, 2))


def test_carriers_are_the_psus_in_which_something_differs_from_their_stratum():
    design = wb.SurveyDesign(np.repeat(np.arange(20), 4), psu=np.repeat(np.arange(40), 2))
    for units in (1, 3, 20):
        y = np.zeros((20, 2, 2), int)
        y[:units, 0] = 1
        found = replicate_estimate(replicates(design, "jkn"), "proportion", y.ravel())
        assert told(found)[4] == pytest.approx([units, units])
        assert (estimates.SELDOM in [note.text for note in found.notes]) == (units < 3)
    assert (told(replicate_estimate(replicates(design), "proportion", [1] * 80))[4] == 0).all()


def test_values_far_from_the_bound_carry_little():
    """Three errors of -.1 where -1 is possible: (.1 / 1)^2 each, nearly."""
    design = wb.SurveyDesign([0] * 60)
    found = replicate_estimate(
        replicates(design, "jkn"), "mean", [-0.1] * 3 + [0] * 57, bounds=(-1, 1)
    )
    assert told(found)[4][0] == pytest.approx(3 * (0.095 / 0.995) ** 2)


def test_where_strata_weigh_alike_the_pooled_variance_is_the_variance():
    design = wb.SurveyDesign(np.repeat(np.arange(6), 2))
    y = np.array([1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0])
    found = replicate_estimate(replicates(design, "jkn"), "proportion", y)
    assert told(found)[1] == pytest.approx(found.variance)


def test_the_pooled_variance_by_hand():
    """Three strata that weigh 6, 3 and 1 a PSU, all of the last sampled; residuals of the mean, scaled per stratum."""
    y, stratum = (
        np.array([0.2, 0.25, 0.1, 0.4, 0.9, 0.5, 0.3, 0.6]),
        np.array([0, 0, 1, 1, 1, 2, 2, 2]),
    )
    of_psu, of_all = np.array([6.0, 3, 1]), np.array([20, 30, 3])
    weight = of_psu[stratum]
    found = replicate_estimate(
        replicates(wb.SurveyDesign(stratum, weight=weight, fpc=of_all[stratum]), "jkn"),
        "mean",
        y,
        bounds=(0, 1),
    )
    error = (y - weight @ y / weight.sum()) / weight.sum()
    spread = sum(
        ((error - error[stratum == h].mean())[stratum == h] ** 2).sum() for h in range(3)
    ) / (1 + 2 + 2)
    pooled = spread * (2 * 36 * (1 - 2 / 20) + 3 * 9 * (1 - 3 / 30))
    assert (
        pooled > found.variance
        and found.effective_df < 5
        and told(found)[1] == pytest.approx(pooled)
    )


def test_effective_psus_of_a_precision_are_those_with_predicted_positives():
    """1, 1, 0 and 1 predicted positives of 5 items in each PSU."""
    predicted = np.zeros((4, 5), int)
    for psu, count in enumerate((1, 1, 0, 1)):
        predicted[psu, :count] = 1
    truth = predicted.copy()
    truth[0, 0] = 0
    design = wb.SurveyDesign([0] * 20, psu=np.repeat(np.arange(4), 5))
    found = replicate_estimate(
        replicates(design, "jkn"), "precision", truth.ravel(), predicted.ravel()
    )
    full = replicate_estimate(
        replicates(design, "jkn"), "accuracy", truth.ravel(), predicted.ravel()
    )
    assert (found.effective_psus, full.effective_psus) == pytest.approx((3, 4))
    assert found.interval().high - found.interval().low > 0.8


def test_an_interval_by_other_replicates_is_that_of_the_jackknife_and_says_where_they_differ():
    rng = np.random.default_rng(6)
    truth, read = rng.random(24) < 0.5, rng.random(24) < 0.5
    design = wb.SurveyDesign(np.repeat(np.arange(4), 6), psu=np.repeat(np.arange(8), 3))
    one, other = (
        replicate_estimate(replicates(design, name), "f1", truth, read) for name in ("jkn", "brr")
    )
    assert tuple(one.interval()) == tuple(other.interval()) and one.variance != other.variance
    assert one.variance_ratio == pytest.approx(1) and abs(other.variance_ratio - 1) > 0.05
    assert [
        estimates.OTHER_VARIANCE in [note.text for note in each.notes] for each in (one, other)
    ] == [False, True]


# ---------------------------------------------------------------- means with bounds, finite populations


def test_a_mean_of_differences_may_hold_values_that_were_not_drawn():
    """Two equal models: without a -1 the values once looked like a proportion, and A won in a quarter of samples."""
    rng, design, wins, runs = (
        np.random.default_rng(5),
        wb.SurveyDesign(np.repeat(np.arange(5), 20)),
        0,
        300,
    )
    drawn = replicates(design, "jkn")
    for _ in range(runs):
        y = rng.choice([-1, 0, 1], 100, p=[0.01, 0.98, 0.01])
        wins += replicate_estimate(drawn, "mean", y, bounds=(-1, 1)).interval().low > 0
    assert wins / runs <= 0.025 + four_errors(0.025, runs)


def test_three_wins_and_no_loss_mirror():
    drawn = replicates(wb.SurveyDesign(np.repeat(np.arange(5), 20)), "jkn")
    y = np.array([1] * 3 + [0] * 97)
    low, high = replicate_estimate(drawn, "mean", y, bounds=(-1, 1)).interval()
    assert low < 0 < high
    assert tuple(replicate_estimate(drawn, "mean", -y, bounds=(-1, 1)).interval()) == pytest.approx(
        (-high, -low)
    )


def bounded(bounds, statistic="mean"):
    drawn = replicates(wb.SurveyDesign([1, 1, 2, 2]))
    return replicate_estimate(drawn, statistic, [0, 1, 1, 0], bounds=bounds)


def sampled_of(*population):
    return wb.SurveyDesign([1, 1, 2, 2], fpc=population)


REFUSED = [
    (
        lambda: bounded((0, 0.5)),
        "bounds",
        "must include all values; item 1 is 1, bounds are 0 to 0.5",
    ),
    (lambda: bounded((1, 0)), "bounds", "must be the smallest and the largest", "got 1 and 0"),
    (lambda: bounded(5), "bounds", "must be one-dimensional"),
    (lambda: bounded((0, "b")), "bounds", "must hold numbers", "", WrongType),
    (lambda: bounded((0, 1), "total"), "bounds", "are only for statistic 'mean'"),
    (lambda: bounded((0, 1), "proportion"), "bounds", "are only for statistic 'mean'"),
    (lambda: sampled_of(4, 4, 5, 4), "fpc", "must be one number per stratum", "stratum 2 has 5"),
    (lambda: sampled_of(4, 4, 1, 1), "fpc", "must be at least the number", "stratum 2 has 1 in"),
    (lambda: sampled_of(4, 4, 2.5, 2.5), "fpc", "must be a whole number"),
    (lambda: sampled_of(4, 4), "fpc", "must have 4 entries"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[1]} {case[2]}")
def test_wrong_arguments_are_refused_by_name_and_rule(case):
    refused(*case)


def test_a_proportion_is_of_zeros_and_ones():
    with pytest.raises(ValueError, match="y must hold 0 and 1"):
        replicate_estimate(replicates(wb.SurveyDesign([1, 1, 2, 2])), "proportion", [0, 1, 2, 0])


def test_half_of_every_stratum_labeled_is_narrower_and_still_covers():
    """Once .995 and 1.33 times as wide, for want of a finite-population correction."""
    rng = np.random.default_rng(6)
    population = rng.random((10, 40)) < 0.8
    truth, covered, width, plain = population.mean(), 0, 0.0, 0.0
    stratum = np.repeat(np.arange(10), 20)
    with_factor, without = (
        replicates(wb.SurveyDesign(stratum, fpc=fpc), "jkn") for fpc in (np.full(200, 40), None)
    )
    for _ in range(300):
        y = np.concatenate([rng.permutation(row)[:20] for row in population])
        found = replicate_estimate(with_factor, "proportion", y)
        low, high = found.interval()
        covered += low <= truth <= high
        width += high - low
        plain += np.ptp(tuple(replicate_estimate(without, "proportion", y).interval()))
    assert covered / 300 >= 0.95 - four_errors(0.95, 300) and found.free == 0.5
    assert width / plain == pytest.approx(0.5**0.5, abs=0.03)


def test_joined_strata_join_their_populations():
    design = wb.SurveyDesign([1, 1, 2, 3], fpc=[4, 4, 5, 7], collapse={3: 2})
    assert design.free == pytest.approx([1 - 2 / 4, 1 - 2 / 12])


def test_a_census_of_psus_has_no_error():
    design = wb.SurveyDesign(np.repeat([1, 2], 3), fpc=[3] * 6)
    for method in ("jkn", "fay", "bootstrap"):
        found = replicate_estimate(replicates(design, method), "proportion", [1, 1, 0, 1, 0, 1])
        assert (
            found.variance == 0
            and tuple(found.interval()) == pytest.approx((2 / 3, 2 / 3))
            and not any("standard error of 0" in note.text for note in found.notes)
        )


# ---------------------------------------------------------------- coverage where it once failed


def audits(rng, strata, psus, items, spread, positive, icc, runs):
    """Yield the design of each audit, truth and prediction: a class in clusters, hits .8, false alarms .01."""
    share = np.exp(spread * np.random.default_rng(0).normal(size=strata))
    psu = np.repeat(np.arange(strata * psus), items)
    design = wb.SurveyDesign(psu // psus, psu=psu, weight=(share / share.sum())[psu // psus])
    drawn = replicates(design, "fay")
    for _ in range(runs):
        rate = rng.beta(positive * (1 / icc - 1), (1 - positive) * (1 / icc - 1), strata * psus)
        truth = rng.random(psu.size) < rate[psu]
        yield drawn, truth, rng.random(psu.size) < np.where(truth, 0.8, 0.01)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recall", 0.8),
        ("precision", 0.03 * 0.8 / (0.03 * 0.8 + 0.97 * 0.01)),
        ("f1", 2 * 0.03 * 0.8 / (0.03 + 0.03 * 0.8 + 0.97 * 0.01)),
        ("accuracy", 1 - 0.03 * 0.2 - 0.97 * 0.01),
    ],
)
def test_heavy_weights_and_few_members(name, value):
    """Recall once .826 +- .014, F1 .879, precision .873: the variance itself is half of what it should be."""
    covered, runs = 0, 250
    for drawn, truth, prediction in audits(
        np.random.default_rng(7), 50, 5, 6, 1.5, 0.03, 0.3, runs
    ):
        low, high = replicate_estimate(drawn, name, truth, prediction).interval()
        covered += low <= value <= high
    assert covered / runs >= 0.92


def test_rare_positives_in_clusters():
    """AUC once .565 +- .013 (100 PSUs of 20, share .01, intraclass correlation .6)."""
    rng, covered, answered = np.random.default_rng(8), 0, 0
    for drawn, truth, _ in audits(rng, 50, 2, 20, 0, 0.01, 0.6, 120):
        shared = rng.normal(size=(2, 100))[:, drawn.design.psu_of_item]
        score = (
            rng.normal(size=truth.size)
            + 1.2 * truth
            + np.where(truth, 0.8 * shared[0], 0.6 * shared[1])
        )
        if truth.any():
            low, high = replicate_estimate(drawn, "auc", truth, score).interval()
            answered, covered = (
                answered + 1,
                covered + (low <= 0.7563 <= high),
            )  # Phi(1.2 / sqrt(3))
    assert answered > 90 and covered / answered >= 0.95


def test_skewed_values_cover_what_the_note_says():
    """The figures of the note: t intervals of the mean of 30 lognormal values of log-sd 1 and 2."""
    rng = np.random.default_rng(9)
    for sd, said in ((1, 0.88), (2, 0.65)):
        y = np.exp(sd * rng.normal(size=(20_000, 30)))
        half = 2.0452 * y.std(1, ddof=1) / 30**0.5
        covers = np.mean(np.abs(y.mean(1) - np.exp(sd * sd / 2)) <= half)
        assert covers == pytest.approx(said, abs=0.012) and f"{said:.0%}" in estimates.SKEWED


def test_an_f1_knows_that_its_hits_lie_in_one_psu_however_many_false_alarms():
    """Without, a class of 1.6% in clusters that are all or none of it covered .78: its cluster was often not drawn."""
    truth = (PAIRS == 7) * 1
    found = replicate_estimate(
        replicates(PAIRED, "fay"), "f1", truth, np.where(np.arange(600) % 6 == 0, 1, truth)
    )
    assert told(found)[4][1] == 1 and estimates.SELDOM in [note.text for note in found.notes]
    none = estimates.estimate_statistic(replicates(PAIRED, "fay"), "f1", truth * 0, truth)
    assert (none.estimate, none.df, none.effective_df) == (0, 1, 1) and none.interval().high > 0.6
