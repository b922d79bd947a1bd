"""The same labels have the same interval, whichever function or command is asked."""

import json

import numpy as np
import pytest
from oracles.value_interval import default_upper_limit, limits
from scipy import stats

import workbench as wb
from workbench.replication.macro import mean_of_classes

MANY = 10**15  # items of a population from which a sample takes next to nothing
TRUTH = np.repeat([1, 1, 0, 0], (8, 2, 1, 9))
PREDICTION = np.repeat([1, 0, 1, 0], (8, 2, 1, 9))


def exact(hits, items, level=0.95):
    return tuple(stats.binomtest(hits, items).proportion_ci(level))


def single(size, method="jkn", **design):
    return wb.replicates(wb.SurveyDesign([0] * size, **design), method)


def metric_rows(truth, prediction, metrics, **columns):
    names = {name: name for name in columns}
    items = wb.load_labeled(
        {"truth": truth, "prediction": prediction, **columns}, positive="1", **names
    )
    return wb.estimate_metrics(items, metrics).rows()


GRADED = np.random.default_rng(60).beta(6, 3, 60).round(2)


def of_value_interval(values, level, method="default"):
    possible = np.unique([0, 1, *values])
    counts = (values[:, None] == possible).sum(0)
    return wb.value_interval([MANY], [counts], possible, level=level, method=method)


def of_estimate_values(values, level):
    strata = wb.load_strata({"stratum": ["all"], "size": [MANY], "sd": [1.0]})
    return wb.estimate_values(strata, ["all"] * values.size, values, bounds=(0, 1)).interval(level)


def of_replicates(values, level, method="default"):
    found = wb.replicate_estimate(single(values.size), "mean", values, bounds=(0, 1))
    return found.interval(level, method)


def of_comparison(values, level, method="default"):
    scores = wb.ItemScores(
        np.column_stack([values, 0 * values]), ["graded", "zero"], range(values.size)
    )
    found = wb.compare_items(scores, level=level, adjust="none", method=method)
    row = next(row for row in found.models() if row["model"] == "graded")
    return row["low"], row["high"]


def of_brier_scores(values, level):
    """Squared errors of predictions are graded values too."""
    truth = np.arange(values.size) % 2
    score = np.abs(truth - np.sqrt(values))
    columns = {"truth": truth, "prediction": (score > 0.5).astype(int), "score": score}
    items = wb.load_labeled(columns, positive="1", score="score")
    (row,) = wb.estimate_metrics(items, "brier", level=level).rows()
    return row["low"], row["high"]


DOORS = [of_value_interval, of_estimate_values, of_replicates, of_comparison, of_brier_scores]


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_graded_values_have_one_interval(level):
    bounds = limits([(MANY, GRADED.tolist(), 0, 1)], level, default_upper_limit)
    for door in DOORS:
        assert tuple(door(GRADED, level)) == pytest.approx(bounds, abs=1e-9), door.__name__
    low, high = stats.ttest_1samp(GRADED, 0).confidence_interval(level)
    assert 1 < np.ptp(bounds) / (high - low) < 1.4


def test_bounded_limits_of_graded_values_are_the_same_too():
    bounds = limits([(MANY, GRADED.tolist(), 0, 1)])
    for interval in (
        of_value_interval(GRADED, 0.95),
        of_estimate_values(GRADED, 0.95),
        of_replicates(GRADED, 0.95),
    ):
        assert interval.bounded == pytest.approx(bounds, abs=1e-9)
        assert f"lacks, the interval is {bounds[0]:.3f} to {bounds[1]:.3f}" in " ".join(
            wb.sentences(interval.notes)
        )
    for named in (of_value_interval, of_replicates, of_comparison):
        assert tuple(named(GRADED, 0.95, method="bounded")) == pytest.approx(bounds, abs=1e-9)


@pytest.mark.parametrize(
    ("hits", "items", "bounds"),
    [(18, 20, (0.683, 0.988)), (8, 10, (0.444, 0.975)), (10, 10, (0.692, 1))],
)
def test_counts_have_the_exact_interval_at_the_doors_of_graded_values(hits, items, bounds):
    values = (np.arange(items) < hits).astype(float)
    for door in DOORS:
        assert tuple(door(values, 0.95)) == pytest.approx(exact(hits, items), abs=1e-9), (
            door.__name__
        )
    assert exact(hits, items) == pytest.approx(bounds, abs=5e-4)


@pytest.mark.parametrize("labels", ["graded", "one of few grades"])
def test_strata_have_one_interval(labels):
    """Records of a stream, the same with their strata as labels, and as items of a survey."""
    rng = np.random.default_rng(3)
    stratum = np.repeat(["a", "b", "c"], [500, 300, 200])
    value = rng.beta(4, 3, 1000).round(3) if labels == "graded" else rng.integers(0, 5, 1000) / 4
    sampler = wb.StreamSampler(70, minimum=5, rng=4).update(stratum, value)
    found = sampler.estimate()
    names = np.repeat(found.stratum, found.sampled)
    strata = [
        (size, found.values[names == name].tolist(), 0, 1)
        for name, size in zip(found.stratum, found.size, strict=True)
    ]
    bounds = limits(strata, upper=default_upper_limit)
    table = wb.load_strata({"stratum": found.stratum, "size": found.size, "sd": [1.0] * 3})
    sizes = np.repeat(found.size, found.sampled)
    design = wb.SurveyDesign(
        names, weight=sizes / np.repeat(found.sampled, found.sampled), fpc=sizes
    )
    survey = wb.replicate_estimate(
        wb.replicates(design, "jkn"), "mean", found.values, bounds=(0, 1)
    )
    possible = np.unique([0, 1, *found.values])
    counts = [(found.values[names == name][:, None] == possible).sum(0) for name in found.stratum]
    for interval in (
        found.interval(bounds=(0, 1)),
        survey.interval(),
        wb.value_interval(found.size, counts, possible),
        wb.estimate_values(table, names, found.values, bounds=(0, 1)).interval(),
    ):
        assert tuple(interval) == pytest.approx(bounds, abs=1e-9)


def test_grades_of_a_judge_have_the_interval_of_their_strata():
    rng = np.random.default_rng(5)
    verdict = np.repeat([0.0, 1.0], [600, 400])
    grade = rng.binomial(8, 0.3 + 0.4 * verdict) / 8
    label = [None] * 1000
    for item in rng.permutation(1000)[:80]:
        label[item] = float(grade[item])
    labels = [
        np.array([label[k] for k in range(*ends) if label[k] is not None])
        for ends in ((0, 600), (600, 1000))
    ]
    found = wb.judge_audit(verdict, label)
    possible = np.arange(9) / 8
    counts = [(part[:, None] == possible).sum(0) for part in labels]
    assert tuple(found.interval()) == pytest.approx(
        tuple(wb.value_interval([600, 400], counts, possible)), abs=1e-12
    )


def test_students_t_by_name():
    expected = tuple(stats.ttest_1samp(GRADED, 0).confidence_interval(0.95))
    for named in (of_value_interval, of_replicates, of_comparison):
        assert tuple(named(GRADED, 0.95, method="t")) == pytest.approx(expected, abs=1e-9), (
            named.__name__
        )
    other = np.roll(GRADED, 1) - 0.02
    scores = wb.ItemScores(np.column_stack([GRADED, other]), ["a", "b"], range(60))
    (row,) = wb.compare_items(scores, method="t").rows()
    test = stats.ttest_rel(GRADED, other)
    assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert row["pvalue"] == pytest.approx(test.pvalue)
    cluster_means = (GRADED - other).reshape(12, 5).mean(1)
    clustered = wb.ItemScores(scores.score, scores.models, scores.item, np.repeat(range(12), 5))
    expected = tuple(stats.ttest_1samp(cluster_means, 0).confidence_interval(0.95))
    assert tuple(wb.pair_interval(clustered, "a", "b", method="t")) == pytest.approx(expected)
    survey = wb.replicate_estimate(
        single(60, psu=np.repeat(range(12), 5)), "mean", GRADED - other, bounds=(-1, 1)
    )
    assert tuple(survey.interval(method="t")) == pytest.approx(expected)


def test_students_t_in_strata_has_satterthwaites_degrees_of_freedom():
    parts, size = (GRADED[:40], GRADED[40:] ** 2), np.array([300, 700])
    weight, n = size / 1000, np.array([40, 20])
    terms = weight**2 * (1 - n / size) * [np.var(part, ddof=1) for part in parts] / n
    half = stats.t.ppf(0.975, terms.sum() ** 2 / (terms**2 / (n - 1)).sum()) * terms.sum() ** 0.5
    mean = weight @ [part.mean() for part in parts]
    possible = np.unique([0, 1, *np.concatenate(parts)])
    counts = [(part[:, None] == possible).sum(0) for part in parts]
    found = wb.value_interval(size, counts, possible, method="t")
    assert tuple(found) == pytest.approx((mean - half, mean + half))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(
    ("hits", "items"), [(18, 20), (8, 10), (10, 10), (0, 7), (2, 2), (2500, 3000)]
)
def test_a_proportion_has_the_exact_interval(hits, items, level):
    expected = exact(hits, items, level)
    y = np.arange(items) < hits
    found = wb.replicate_estimate(single(items), "proportion", y)
    assert found.interval(level).method == "default: exact"
    assert tuple(found.interval(level)) == pytest.approx(expected, abs=1e-9)
    stratified = wb.stratified_accuracy([MANY], [items], [hits])
    assert tuple(stratified.interval(level)) == pytest.approx(expected, abs=1e-9)
    domain = wb.replicate_estimate(
        single(items + 9), "proportion", np.append(y, [0] * 9), domain=np.arange(items + 9) < items
    )
    assert tuple(domain.interval(level)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "hits", "items"),
    [("accuracy", 17, 20), ("precision", 8, 9), ("recall", 8, 10), ("f1", 8, 11)],
)
def test_metrics_of_single_items_have_the_exact_interval(metric, hits, items):
    expected = np.array(exact(hits, items))
    if metric == "f1":
        expected = 2 * expected / (1 + expected)
    for method in ("jkn", "generalized", "bootstrap"):
        found = wb.replicate_estimate(
            single(20, method, weight=[3.5] * 20), metric, TRUTH, PREDICTION
        )
        assert tuple(found.interval()) == pytest.approx(expected, abs=1e-9)
    (row,) = metric_rows(TRUTH, PREDICTION, metric)
    assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-9)
    again = wb.Result.from_dict(json.loads(json.dumps(found.to_dict())))
    assert tuple(again.interval(0.9)) == tuple(found.interval(0.9))


def test_class_metrics_and_the_replicates_agree_on_a_precision():
    found = wb.class_metrics([MANY, MANY], [True, False], [9, 11], [8, 9]).interval("precision")
    replicated = wb.replicate_estimate(single(20), "precision", TRUTH, PREDICTION).interval()
    assert tuple(found) == pytest.approx(tuple(replicated), abs=1e-9)


@pytest.mark.parametrize(
    ("size", "labeled"),
    [([400, 100, 50], [20, 10, 5]), ([30] * 4, [10] * 4), ([40], [20]), ([300, 6], [30, 6])],
)
def test_strata_with_equal_weights_in_each_agree_with_stratified_accuracy(size, labeled):
    rng = np.random.default_rng(1)
    size, labeled = np.array(size), np.array(labeled)
    stratum = np.repeat(np.arange(size.size), labeled)
    right = rng.random(stratum.size) < 0.85
    truth = rng.integers(0, 2, stratum.size)
    columns = {"stratum": stratum, "weight": (size / labeled)[stratum]}
    expected = wb.stratified_accuracy(size, labeled, np.bincount(stratum, right)).interval()
    (row,) = metric_rows(
        truth, np.where(right, truth, 1 - truth), "accuracy", fpc=size[stratum], **columns
    )
    assert (row["low"], row["high"]) == tuple(expected)
    (replaced,) = metric_rows(truth, np.where(right, truth, 1 - truth), "accuracy", **columns)
    endless = wb.stratified_accuracy(size * 10**12, labeled, np.bincount(stratum, right)).interval()
    assert (replaced["low"], replaced["high"]) == pytest.approx(tuple(endless), abs=1e-9)


def test_many_strata_are_no_shorter_than_stratified_accuracy():
    rng = np.random.default_rng(2)
    size = rng.integers(50, 500, 40)
    stratum = np.repeat(np.arange(40), 3)
    right = rng.random(120) < 0.8
    design = wb.SurveyDesign(stratum, weight=(size / 3)[stratum], fpc=size[stratum])
    low, high = wb.replicate_estimate(wb.replicates(design, "jkn"), "proportion", right).interval()
    expected = wb.stratified_accuracy(size, [3] * 40, np.bincount(stratum, right)).interval()
    assert (
        expected.low - 0.005 < low <= expected.low and expected.high <= high < expected.high + 0.005
    )


def test_weights_that_contradict_the_population_keep_the_estimate_inside():
    """Strata of 900 and 100 items, weighted alike: the interval is that of the weights."""
    stratum = np.repeat([0, 1], 10)
    y = np.repeat([1, 0, 1, 0], (9, 1, 3, 7))
    design = wb.SurveyDesign(stratum, fpc=np.where(stratum, 100, 900))
    found = wb.replicate_estimate(wb.replicates(design, "jkn"), "proportion", y)
    assert found.estimate == 0.6 and found.interval().low < 0.6 < found.interval().high
    known = wb.stratified_accuracy([900, 100], [10, 10], [9, 3])
    assert tuple(found.interval()) != tuple(known.interval())


@pytest.mark.parametrize("sampled", [30, 60])
def test_precision_in_a_finite_population_covers(sampled):
    """All samples of 90 items, of which 40 are predicted positive: counts are hypergeometric."""
    design, covered = single(sampled, fpc=[90] * sampled), {}
    for true in (8, 36):
        inside = chance = 0
        members = stats.hypergeom(90, 40, sampled)
        for predicted in range(4, min(sampled, 40) + 1):
            hits = np.arange(max(0, predicted - 40 + true), min(true, predicted) + 1)
            probability = members.pmf(predicted) * stats.hypergeom(40, true, predicted).pmf(hits)
            holds = [
                precision_holds(design, hit, predicted, true / 40)
                for hit in hits[probability > 1e-4]
            ]
            inside += probability[probability > 1e-4] @ holds
            chance += probability[probability > 1e-4].sum()
        covered[true] = inside / chance
    assert min(covered.values()) > 0.95


def precision_holds(design, hits, predicted, precision):
    items = np.arange(design.design.stratum.size)
    low, high = (
        wb.replicate_estimate(design, "precision", items < hits, items < predicted).interval()
        if 0 < hits < predicted
        else exact(hits, predicted)
    )
    return low <= precision <= high


def test_balanced_accuracy_puts_the_exact_intervals_together():
    """Two recalls of different items: 8 of 10 and 9 of 10, hardly correlated."""
    found = mean_of_classes(single(20), "balanced_accuracy", TRUTH, PREDICTION)
    away = np.array([0.9, 0.8]) - [exact(9, 10)[0], exact(8, 10)[0]]
    assert found.interval().low == pytest.approx(0.85 - np.hypot(*away) / 2, abs=2e-3)


def test_the_mean_of_many_recalls_near_1_may_lie_above_as_far_as_it_varies():
    """Nine classes of 12 items, of which one is wrong in each: every upper limit is close."""
    truth = np.repeat(np.arange(9), 12)
    prediction = np.where(np.arange(108) % 12, truth, (truth + 1) % 9)
    found = mean_of_classes(single(108), "balanced_accuracy", truth, prediction)
    assert (exact(11, 12)[1] - 11 / 12) / 3 < stats.norm.ppf(0.975) * found.standard_error
    assert found.interval().high == pytest.approx(
        11 / 12 + stats.norm.ppf(0.975) * found.standard_error
    )


@pytest.mark.parametrize("design", [{"psu": np.arange(20) // 2}, {"weight": [2] + [1] * 19}])
def test_clusters_and_unequal_weights_keep_their_rule(design):
    made = wb.replicates(wb.SurveyDesign([0] * 20, **design), "jkn")
    for metric in ("accuracy", "precision", "recall", "f1"):
        found = wb.replicate_estimate(made, metric, TRUTH, PREDICTION)
        bounded = tuple(found.interval(method="bounded"))
        assert (
            found.counts is None
            and (found.interval().bounded or tuple(found.interval())) == bounded
        )


def test_ratios_and_domains_in_strata_keep_their_rule():
    made = wb.replicates(wb.SurveyDesign(np.tile([0, 1], 10)), "jkn")
    for metric in ("precision", "recall", "f1"):
        assert wb.replicate_estimate(made, metric, TRUTH, PREDICTION).counts is None
    assert wb.replicate_estimate(made, "accuracy", TRUTH, PREDICTION, domain=TRUTH).counts is None
    weights = wb.replicates(wb.SurveyDesign([0] * 20), "jkn").weights()
    imported = wb.imported_replicates(np.ones(20), weights, method="jk1")
    assert wb.replicate_estimate(imported, "accuracy", TRUTH, PREDICTION).counts is None


def test_few_items_are_noted_where_the_interval_is_not_exact():
    few = wb.replicate_estimate(single(5), "proportion", [0, 1, 1, 1, 1])
    assert few.notes == few.interval().notes == ()
    strata = wb.replicates(wb.SurveyDesign([0, 0, 1, 1, 1]), "jkn")
    (note,) = wb.replicate_estimate(strata, "proportion", [0, 1, 1, 1, 1]).notes
    assert note.text == "only 5 labels: the default interval was only checked with 20 or more"
