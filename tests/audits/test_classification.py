"""Accuracy, class proportions and class metrics from one confusion table and the predicted counts."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import stats

import workbench as wb

# Olofsson et al., Remote Sensing of Environment 148, 2014, section 5: rows are mapped classes
CLASSES = ["deforestation", "forest gain", "stable forest", "stable nonforest"]
MAPPED = [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]]
PIXELS = np.array([200_000, 150_000, 3_200_000, 6_450_000])
LAND = wb.ConfusionCounts(np.transpose(MAPPED), CLASSES)
JUDGE = wb.ConfusionCounts([[35, 15], [5, 45]], ["fail", "pass"])
QUANTITIES = ("proportion", "precision", "recall", "f1")


def figures(table):
    """Return estimates and standard errors of accuracy and of all quantities, each (1 + 4 K,)."""
    parts = [[(table.accuracy.estimate, table.accuracy.standard_error)]]
    parts += [getattr(table, name)[:, :2] for name in QUANTITIES]
    return np.concatenate(parts).T


def metrics_of(rates, sizes):
    """Return accuracy, proportions, precision, recall and F1 from P(truth | prediction), (K, K)."""
    joint = rates * (sizes / sizes.sum())[:, None]
    correct, true, predicted = np.diag(joint), joint.sum(0), joint.sum(1)
    ratios = correct / predicted, correct / true, 2 * correct / (true + predicted)
    return np.array([correct.sum(), *true, *np.concatenate(ratios)])


def linearized(mapped, sizes):
    """Return estimates and standard errors by numerical slopes in every rate of every stratum."""
    counts = np.array(mapped, float)
    n = counts.sum(1)
    rates = counts / n[:, None]
    variance = 0.0
    for k in range(len(counts)):
        slopes = []
        for j in range(len(counts)):
            step = np.zeros_like(rates)
            step[k, j] = 1e-6
            up, down = metrics_of(rates + step, sizes), metrics_of(rates - step, sizes)
            slopes.append((up - down) / 2e-6)
        covariance = np.diag(rates[k]) - np.outer(rates[k], rates[k])
        covariance *= (1 - n[k] / sizes[k]) / (n[k] - 1)
        slopes = np.array(slopes)
        variance += np.einsum("im,ij,jm->m", slopes, covariance, slopes)
    return metrics_of(rates, sizes), np.sqrt(variance)


def test_the_published_land_cover_table():
    # sizes are a thousand times the published ones, as the paper has no finite-population correction
    table = wb.classification_table(LAND, PIXELS * 1000, sampled_by="prediction")
    pixels = table.proportion * PIXELS.sum()
    assert pixels[:, 0].round().tolist() == [235_086, 129_846, 3_175_221, 6_459_846]
    assert (1.96 * pixels[:, 1]).round(-1).tolist() == [68_420, 41_730, 172_330, 180_910]
    assert (1.96 * pixels[:2, 1]) == pytest.approx([68_418, 41_731], abs=0.5)
    assert table.precision[:, 0].round(2).tolist() == [0.88, 0.73, 0.93, 0.96]
    assert table.recall[:, 0].round(2).tolist() == [0.75, 0.85, 0.93, 0.96]
    accuracy = table.accuracy
    assert (round(accuracy.estimate, 4), round(accuracy.standard_error, 5)) == (0.9465, 0.00943)


@pytest.mark.parametrize("sizes", [PIXELS, [90, 100, 400, 900]])
def test_standard_errors_by_another_linearization(sizes):
    table = wb.classification_table(LAND, sizes, sampled_by="prediction")
    expected = linearized(MAPPED, np.array(sizes))
    np.testing.assert_allclose(figures(table), expected, rtol=1e-6)


def test_intervals_are_those_of_the_functions_for_one_metric():
    table = wb.classification_table(LAND, PIXELS, level=0.9, sampled_by="prediction")
    n = np.sum(MAPPED, 1)
    overall = wb.stratified_accuracy(PIXELS, n, np.diag(MAPPED)).interval(0.9)
    assert tuple(table.accuracy.interval()) == tuple(overall)
    for k, true in enumerate(np.transpose(MAPPED)):
        member = np.arange(4) == k
        metrics = wb.class_metrics(PIXELS, member, n, np.where(member, true, n - true))
        for name in ("precision", "recall", "f1"):
            assert tuple(getattr(table, name)[k, 2:]) == tuple(metrics.interval(name, 0.9))
        share = wb.stratified_accuracy(PIXELS, n, true).interval(0.9)
        assert tuple(table.proportion[k, 2:]) == tuple(share)


def test_every_sample_of_a_tiny_population():
    """Estimates are unbiased, variances too, and 90% intervals cover, by enumeration."""
    size, wrong, labeled = [12, 16], [2, 1], [5, 6]
    chances, estimates, variances, inside = [], [], [], []
    for errors in itertools.product(range(3), range(2)):
        parts = zip(size, wrong, labeled, errors, strict=True)
        chance = math.prod(stats.hypergeom.pmf(x, N, C, n) for N, C, n, x in parts)
        first, second = errors
        audit = wb.ConfusionCounts([[5 - first, second], [first, 6 - second]])
        table = wb.classification_table(audit, size, sampled_by="prediction", level=0.9)
        accuracy, proportion = table.accuracy, table.proportion[0]
        chances.append(chance)
        estimates.append([accuracy.estimate, proportion[0]])
        variances.append([accuracy.variance, proportion[1] ** 2])
        recall, f1 = 10 / 11, 2 * 10 / (11 + 12)
        values = [25 / 28, 11 / 28, 10 / 12, recall, f1]
        limits = [accuracy.interval(), *(getattr(table, name)[0, 2:] for name in QUANTITIES)]
        pairs = zip(values, limits, strict=True)
        inside.append([low - 1e-9 <= x <= high + 1e-9 for x, (low, high) in pairs])
    chances, estimates = np.array(chances), np.array(estimates)
    assert chances.sum() == pytest.approx(1)
    mean = chances @ estimates
    assert mean == pytest.approx([25 / 28, 11 / 28])
    assert chances @ np.array(variances) == pytest.approx(chances @ (estimates - mean) ** 2)
    assert (chances @ np.array(inside)).min() >= 0.89


def test_a_complete_audit_is_known_exactly():
    audit = wb.ConfusionCounts([[160, 14], [21, 5]], ["other", "complaint"])
    table = wb.classification_table(audit, [181, 19])
    assert table.accuracy.estimate == pytest.approx(165 / 200)
    assert table.accuracy.standard_error == 0
    assert tuple(table.accuracy.interval()) == (165 / 200, 165 / 200)
    assert table.proportion[1].tolist() == pytest.approx([26 / 200, 0, 26 / 200, 26 / 200])
    assert table.recall[1].tolist() == pytest.approx([5 / 26, 0, 5 / 26, 5 / 26])
    assert table.finding() == (
        "Accuracy 82.5%, known exactly. Class proportions: other 87.0%, complaint 13.0%"
    )


def test_a_random_sample_is_weighted_by_the_counts():
    audit = wb.ConfusionCounts([[61, 4], [6, 29]], ["no", "yes"])
    table = wb.classification_table(audit, [700, 300])
    assert table.sampled_by == "random" and table.notes == ()
    assert table.accuracy.estimate == pytest.approx(0.7 * 61 / 67 + 0.3 * 29 / 33)
    chosen = wb.classification_table(audit, [700, 300], sampled_by="prediction")
    np.testing.assert_array_equal(figures(table), figures(chosen))
    assert "chosen at random, and" in table.basis()
    assert "at random within each predicted class" in chosen.basis()


def test_the_design_is_seen_in_the_margins_or_asked_for():
    seen = wb.classification_table(LAND, PIXELS)
    assert seen.sampled_by == "prediction"
    assert "assumed to be sampled by prediction, because its predicted classes have 75" in str(
        seen.notes[0]
    )
    assert wb.classification_table(JUDGE, [300, 700]).sampled_by == "truth"
    odd = wb.ConfusionCounts([[63, 12], [7, 45]], ["no", "yes"])
    rule = "must be given, because the audit is unlikely to be"
    refused(lambda: wb.classification_table(odd, [9000, 1000]), "sampled_by", rule)


def test_a_sample_by_truth_by_hand():
    table = wb.classification_table(JUDGE, [300_000, 700_000], sampled_by="truth")
    share = (0.7 + 0.7 - 1) / (0.7 + 0.9 - 1)
    assert table.proportion[:, 0] == pytest.approx([1 - share, share])
    assert table.recall[:, 0] == pytest.approx([0.7, 0.9])
    exact = [stats.binomtest(x, 50).proportion_ci(method="exact") for x in (35, 45)]
    assert table.recall[:, 2:] == pytest.approx(np.array(exact), abs=1e-6)
    precision = np.array([0.7 * (1 - share) / 0.3, 0.9 * share / 0.7])
    assert table.precision[:, 0] == pytest.approx(precision)
    assert table.accuracy.estimate == pytest.approx(0.7 * (1 - share) + 0.9 * share)
    assert table.f1[1, 0] == pytest.approx(2 * 0.9 * share / (share + 0.7))

    def value(p00, p11):
        share = (0.7 + p00 - 1) / (p00 + p11 - 1)
        return p00 * (1 - share) + p11 * share

    slopes = [(value(0.7 + h, 0.9 + g) - value(0.7 - h, 0.9 - g)) / 2e-6 for h, g in STEPS]
    error = math.hypot(slopes[0] * math.sqrt(0.21 / 50), slopes[1] * math.sqrt(0.09 / 50))
    assert table.accuracy.standard_error == pytest.approx(error, rel=0.1)


STEPS = [(1e-6, 0), (0, 1e-6)]


def test_limits_of_a_sample_by_truth_from_beta_draws():
    """One more item of either class, correct or not: four pairs of beta distributions."""
    rng = np.random.default_rng(7)
    limits = []
    for more in itertools.product((0, 1), repeat=2):
        p00 = rng.beta(35 + more[0], 16 - more[0], 100_000)
        p11 = rng.beta(45 + more[1], 6 - more[1], 100_000)
        share = np.clip((0.7 + p00 - 1) / (p00 + p11 - 1), 0, 1)
        precision = np.clip(p11 * share / (p11 * share + (1 - p00) * (1 - share)), 0, 1)
        limits.append(np.quantile([precision, 0.7 * precision], [0.025, 0.975], axis=1)[:, 0])
    table = wb.classification_table(JUDGE, [300_000, 700_000], sampled_by="truth")
    low, high = np.array(limits).T
    assert table.precision[1, 2:] == pytest.approx([low.min(), high.max()], abs=0.015)


def test_a_sample_by_truth_that_says_next_to_nothing():
    audit = wb.ConfusionCounts([[10, 10], [10, 10]], ["no", "yes"])
    table = wb.classification_table(audit, [60, 40], sampled_by="truth")
    assert np.isnan(table.accuracy.estimate) and tuple(table.accuracy.interval()) == (0, 1)
    assert np.isnan(table.precision[:, 0]).all() and table.f1[0, 2:].tolist() == [0, 1]
    assert table.recall[:, 0].tolist() == [0.5, 0.5]
    assert table.notes[0].kind == "undefined"
    assert table.finding() == (
        "Class proportions: no unknown, yes unknown. No result for accuracy: it may be anything "
        "from 0% to 100%"
    )


def test_counts_at_the_edge_of_what_the_rates_allow():
    """4 of 150 are positive, where 10% of negatives are: some positives may exist all the same."""
    audit = wb.ConfusionCounts([[90, 10], [5, 95]], ["neg", "pos"])
    table = wb.classification_table(audit, [146, 4], sampled_by="truth")
    assert table.proportion[1, 0] == 0 and table.accuracy.estimate == pytest.approx(146 / 150)
    low, high = table.accuracy.interval()
    assert low < 145.5 / 150 and high > 147.5 / 150
    assert table.precision[1, 2:].tolist() == pytest.approx([0, 0.75])


def test_counts_that_contradict_the_rates_give_no_accuracy():
    table = wb.classification_table(LAND, PIXELS, sampled_by="truth")
    assert np.isnan(table.accuracy.estimate) and tuple(table.accuracy.interval()) == (0, 1)
    assert np.isnan(table.f1[:, :2]).all() and np.isfinite(table.recall).all()
    assert any("fit the predicted counts" in note.text for note in table.notes)


def test_a_class_that_is_never_predicted_of_a_sample_by_truth():
    audit = wb.ConfusionCounts([[45, 5, 0], [5, 45, 0], [2, 3, 45]], ["a", "b", "c"])
    table = wb.classification_table(audit, [500, 500, 0], sampled_by="truth")
    assert np.isnan(table.precision[2, 0]) and table.precision[2, 2:].tolist() == [0, 1]
    assert any(str(note).startswith("class c: no item was predicted") for note in table.notes)


def test_a_class_that_is_never_predicted():
    audit = wb.ConfusionCounts([[40, 5, 0], [5, 40, 0], [5, 5, 0]], ["a", "b", "c"])
    table = wb.classification_table(audit, {"b": 5000, "a": 5000}, sampled_by="prediction")
    assert table.counts.tolist() == [5000, 5000, 0]
    assert np.isnan(table.precision[2, 0]) and table.precision[2, 2:].tolist() == [0, 1]
    assert table.recall[2].tolist() == [0, 0, 0, 0] and table.proportion[2, 0] == 0.1
    assert "class c: precision is 0/0 in these labels" in map(str, table.notes)


def test_counts_of_pandas_are_taken_by_their_labels():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["pass"] * 700 + ["fail"] * 300)
    table = wb.classification_table(JUDGE, column.value_counts(), sampled_by="prediction")
    assert table.counts.tolist() == [300, 700]
    plain = wb.classification_table(JUDGE, pandas.Series([300, 700]), sampled_by="prediction")
    assert plain.counts.tolist() == [300, 700]


def test_labels_that_all_agree_get_a_note():
    audit = wb.ConfusionCounts([[30, 0], [0, 30]], ["a", "b"])
    table = wb.classification_table(audit, [500, 500])
    text = "class a: all labels agree, so the estimated standard error of its precision is 0"
    assert any(str(note).startswith(text) for note in table.notes)
    assert table.accuracy.standard_error == 0 and table.accuracy.interval().low < 0.95


@pytest.mark.parametrize(
    ("audit", "counts", "message"),
    [
        (
            [[40, 0], [9, 0]],
            [900, 100],
            "audit must have at least 2 items of every predicted class that was not labeled "
            "completely. Of the 100 items predicted 'yes', none has a label. Label 2 or more of "
            "them, chosen at random",
        ),
        ([[40, 1], [9, 0]], [900, 100], "'yes', 1 has a label"),
        (
            [[40, 5], [9, 30]],
            {"no": 900, "yse": 100},
            "counts must be of classes of the audit, 'no', 'yes'; 'yse' is none of them "
            "(did you mean 'yes'?)",
        ),
        (
            [[40, 5], [9, 30]],
            {"no": 900},
            "counts must include the audited items; 35 audited items were",
        ),
        ([[40, 5], [9, 30]], [900, 100, 4], "counts: needs one count per class 'no', 'yes'"),
        ([[40, 5], [9, 30]], [0.9, 0.1], "These look like proportions"),
        ([[40, 5], [9, 30]], [0, 0], "counts: no items were counted"),
        (
            [[40, 5], [9, 30]],
            [900, 20],
            "counts must include the audited items; 35 audited items were",
        ),
    ],
)
def test_what_does_not_fit_is_refused(audit, counts, message):
    with pytest.raises(ValueError) as error:
        wb.classification_table(
            wb.ConfusionCounts(audit, ["no", "yes"]), counts, sampled_by="prediction"
        )
    assert message in str(error.value)


def test_sampling_weights_are_refused():
    audit = wb.ConfusionCounts.from_labels([0, 0, 1, 1], [0, 1, 1, 0], weights=[1, 2, 3, 1])
    with pytest.raises(ValueError, match="audit must have no sampling weights"):
        wb.classification_table(audit, [100, 100])


def test_rows_and_pages_have_every_class():
    table = wb.classification_table(LAND, PIXELS)
    row = table.rows()[1]
    assert (row["label"], row["size"], row["labeled"]) == ("forest gain", 150_000, 75)
    assert row["counted"] == 0.015 and row["recall_low"] == table.recall[1, 2]
    assert {f"{name}_standard_error" for name in QUANTITIES} < {*row}
    page = table._repr_html_()
    assert "<td>73% (62\xa0to\xa083)</td>" in page and page.count("<tr>") == 5
    assert table.finding() == (
        "Accuracy 94.7% (95% confidence interval 92.4% to 96.3%). Class proportions: deforestation 2.35% (1.69% to 3.49%), "
        "forest gain 1.30% (0.93% to 2.21%), stable forest 31.8% (29.8% to 33.7%), stable "
        "nonforest 64.6% (62.5% to 66.6%)"
    )


def test_a_finding_names_the_six_largest_classes():
    audit = wb.ConfusionCounts(np.eye(8, dtype=int) * 10 + 1)
    finding = wb.classification_table(audit, [900] * 7 + [90], sampled_by="prediction").finding()
    assert finding.endswith("2 smaller classes in the table")


def test_planned_labels_reach_the_half_width_on_average():
    plan = wb.plan_classification_table({"a": 3000, "b": 600, "c": 0}, [0.8, 0.95, 0.5], 0.06)
    assert plan.labels == ("a", "b", "c") and plan.labeled[2] == 0
    rng = np.random.default_rng(4)
    for items, rate, labels in zip([3000, 600], [0.8, 0.95], plan.labeled, strict=False):
        right = round(items * rate)
        drawn = rng.hypergeometric(right, items - right, labels, 4000)
        correct, times = np.unique(drawn, return_counts=True)
        widths = [wb.stratified_interval([items], [labels], [x]).half_width for x in correct]
        assert np.average(widths, weights=times) == pytest.approx(0.06, abs=0.002)
    labels = plan.labeled[:2].sum()
    assert plan.headline().startswith(f"{labels} labels: precision of every class within ±0.06")
    assert np.isnan(plan.rows()[2]["half_width"])


def test_a_plan_for_classes_of_few_items_labels_them_all():
    plan = wb.plan_classification_table([5, 1, 4000], 0.5, 0.1)
    assert plan.labeled[1] == 1 and plan.labeled[0] >= 4 and plan.labels == (0, 1, 2)


def test_series_of_pandas_are_read_by_their_labels():
    counts = pd.Series({"a": 1000, "b": 9000})
    plan = wb.plan_classification_table({"a": 1000, "b": 9000}, [0.5, 0.9], 0.05)
    swapped = wb.plan_classification_table(counts, pd.Series({"b": 0.9, "a": 0.5}), 0.05)
    mapped = wb.plan_classification_table(counts, {"b": 0.9, "a": 0.5}, 0.05)
    plain = wb.plan_classification_table(counts, pd.Series([0.5, 0.9]), 0.05)
    assert plan.rows() == swapped.rows() == mapped.rows() == plain.rows()
    rule = "must have the classes of the counts, 'a', 'b'"
    refused(lambda: wb.plan_classification_table(counts, {"b": 0.9}, 0.05), "expected", rule)
    twice = pd.concat([counts, counts])  # of two parts of the items
    audit = wb.ConfusionCounts([[40, 8], [10, 92]], ["a", "b"])
    rule = "must name every class once; add up the rows"
    refused(lambda: wb.classification_table(audit, twice, sampled_by="prediction"), "counts", rule)


def test_a_plan_of_too_many_labels_names_no_option_of_another_function():
    with pytest.raises(ValueError) as error:
        wb.plan_classification_table([10**7, 10**6], 0.5, 0.0005)
    assert str(error.value).startswith("half_width must need at most 1,000,000 labels; 0.0005")
    assert "wald" not in str(error.value)
