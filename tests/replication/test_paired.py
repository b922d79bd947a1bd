"""Two models by any metric: estimates by scikit-learn, errors by loops, intervals by other doors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics

import workbench as wb
from workbench.replication.linear import linearized
from workbench.replication.paired import pvalue_of

OF_LABELS = {
    "accuracy": sklearn_metrics.accuracy_score,
    "precision": sklearn_metrics.precision_score,
    "recall": sklearn_metrics.recall_score,
    "f1": sklearn_metrics.f1_score,
    "macro_f1": lambda y, p, **w: sklearn_metrics.f1_score(y, p, average="macro", **w),
    "balanced_accuracy": sklearn_metrics.balanced_accuracy_score,
    "kappa": sklearn_metrics.cohen_kappa_score,
    "mcc": sklearn_metrics.matthews_corrcoef,
    "rmse": lambda y, p, **w: sklearn_metrics.mean_squared_error(y, p, **w) ** 0.5,
    "correlation": lambda y, p, **w: sklearn_metrics.matthews_corrcoef(y, p, **w),
}
OF_SCORES = {
    "brier": sklearn_metrics.brier_score_loss,
    "log_loss": sklearn_metrics.log_loss,
    "auc": sklearn_metrics.roc_auc_score,
}
EVERY = {**OF_LABELS, **OF_SCORES}


def sample(items=240, clusters=0, seed=4):
    """Return columns of two models on the same items, whose errors are related."""
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, clusters or 1, items)
    truth = (rng.random(items) < 0.4).astype(int)
    hard = rng.normal(size=items) + 0.5 * rng.normal(size=clusters or 1)[patient]
    columns = {"truth": truth, "patient": patient}
    for model, signal in (("old", 1.0), ("new", 1.6)):
        score = signal * (2 * truth - 1) + hard + rng.normal(size=items)
        columns[f"s_{model}"] = 1 / (1 + np.exp(-score))
        columns[model] = (score > 0).astype(int)
    return columns


def loaded(columns, **options):
    return wb.load_labeled(
        columns, prediction="old,new", score="s_old,s_new", stratum="", **options
    )


def difference_by_sklearn(metric, columns, rows=slice(None), **weights):
    """Return old less new, computed by scikit-learn."""
    stem = "s_" if metric in OF_SCORES else ""
    old, new = (
        EVERY[metric](columns["truth"][rows], columns[stem + model][rows], **weights)
        for model in ("old", "new")
    )
    return old - new


@pytest.mark.parametrize("metric", EVERY)
def test_difference_and_error_are_those_of_a_loop_that_leaves_out_a_cluster(metric):
    columns = sample(clusters=15)
    [row] = wb.compare_metrics(loaded(columns, psu="patient"), metric).rows()
    assert row["difference"] == pytest.approx(difference_by_sklearn(metric, columns), abs=1e-12)
    left_out = [
        difference_by_sklearn(metric, columns, columns["patient"] != patient)
        for patient in range(15)
    ]
    squares = (np.array(left_out) - row["difference"]) ** 2
    assert row["standard_error"] == pytest.approx(np.sqrt(14 / 15 * squares.sum()), rel=1e-9)


@pytest.mark.parametrize("metric", sorted({*EVERY} - {"rmse", "correlation"}))
def test_weights_and_strata_count(metric):
    columns = sample(items=120, clusters=12, seed=9)
    rng = np.random.default_rng(0)
    columns["weight"] = rng.uniform(0.5, 3, 120)
    columns["region"] = columns["patient"] % 3
    items = wb.load_labeled(
        columns,
        prediction="old,new",
        score="s_old,s_new",
        stratum="region",
        psu="patient",
        weight="weight",
    )
    [row] = wb.compare_metrics(items, metric).rows()
    weight = columns["weight"]
    assert row["difference"] == pytest.approx(
        difference_by_sklearn(metric, columns, sample_weight=weight), abs=1e-9
    )
    variance = 0.0
    for patient in range(12):
        lighter = weight.copy()
        region = columns["region"] == patient % 3
        lighter[region] *= 4 / 3
        lighter[columns["patient"] == patient] = 0.0
        kept = lighter > 0
        replicate = difference_by_sklearn(metric, columns, kept, sample_weight=lighter[kept])
        variance += 3 / 4 * (replicate - row["difference"]) ** 2
    assert row["standard_error"] == pytest.approx(np.sqrt(variance), rel=1e-8)


def test_auc_of_independent_items_takes_the_paired_covariance_of_delong():
    columns = sample()
    [row] = wb.compare_metrics(loaded(columns), "auc").rows()
    positive = columns["truth"] == 1
    components = []
    for model in ("s_old", "s_new"):
        above = columns[model][positive][:, None] > columns[model][~positive]
        components.append((above.mean(1), above.mean(0)))
    (old_up, old_down), (new_up, new_down) = components
    variance = np.var(old_up - new_up, ddof=1) / old_up.size
    variance += np.var(old_down - new_down, ddof=1) / old_down.size
    assert row["difference"] == pytest.approx(old_up.mean() - new_up.mean(), abs=1e-12)
    assert row["standard_error"] == pytest.approx(np.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("counts", [(5, 2, 53), (0, 0, 60), (12, 3, 85), (40, 10, 450)])
def test_accuracy_and_recall_get_the_interval_of_paired_differences(counts):
    first, second, alike = counts
    right = np.repeat([1, 0, 1], counts), np.repeat([0, 1, 1], counts)
    truth = np.append(np.ones(sum(counts), int), 0)
    columns = {"truth": truth, "a": np.append(right[0], 0), "b": np.append(right[1], 0)}
    items = wb.load_labeled(columns, prediction="a,b", stratum="")
    accuracy, recall = wb.compare_metrics(items, "accuracy recall").rows()
    scores = wb.ItemScores(
        np.stack([columns[model] == truth for model in "ab"], 1), ["a", "b"], range(truth.size)
    )
    same = wb.pair_interval(scores, "a", "b")
    assert (accuracy["low"], accuracy["high"]) == pytest.approx((same.low, same.high), abs=1e-9)
    [pair] = wb.compare_items(scores).rows()
    assert accuracy["pvalue"] == pytest.approx(pair["pvalue"], abs=1e-6)
    of_positives = wb.paired_difference([10**8], [[second, alike, first]]).interval()
    assert (recall["low"], recall["high"]) == pytest.approx(tuple(of_positives), abs=1e-6)


def test_intervals_are_those_of_a_single_mean_where_the_difference_is_one():
    columns = sample(clusters=20)
    [row] = wb.compare_metrics(loaded(columns, psu="patient"), "accuracy").rows()
    scores = wb.ItemScores(
        np.stack([columns[model] == columns["truth"] for model in ("old", "new")], 1),
        ["old", "new"],
        range(240),
        cluster=columns["patient"],
    )
    same = wb.pair_interval(scores, "old", "new")
    assert (row["low"], row["high"]) == pytest.approx((same.low, same.high), abs=1e-9)


def test_pvalue_inverts_the_interval_and_t_is_students():
    columns = sample()
    comparison = wb.compare_metrics(loaded(columns))
    for difference, pvalue in zip(comparison.differences, comparison.pvalue, strict=True):
        low, high = difference.interval(1 - pvalue)
        assert min(abs(low), abs(high)) < 1e-6
    accuracy = comparison.differences[0]
    wins = (columns["old"] == columns["truth"]).astype(int)
    wins -= columns["new"] == columns["truth"]
    student = stats.ttest_1samp(wins, 0)
    assert tuple(accuracy.interval(method="t")) == pytest.approx(
        tuple(student.confidence_interval()), abs=1e-12
    )
    assert pvalue_of(accuracy, "t") == pytest.approx(student.pvalue, abs=1e-8)


@pytest.mark.parametrize("metric", EVERY)
def test_values_are_numerical_derivatives_and_lie_within_their_bounds(metric):
    columns = sample(items=60, seed=2)
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2, 60)
    items = loaded(columns).model("old")
    linear = linearized(metric, items.columns(metric, 1 if metric in OF_SCORES else None), weight)
    assert weight @ linear.values / weight.sum() == pytest.approx(linear.estimate, abs=1e-12)
    if linear.bounds is not None:
        assert linear.bounds[0] <= linear.values.min() + 1e-12
        assert linear.values.max() <= linear.bounds[1] + 1e-12
    if metric == "correlation":
        return  # scikit-learn has none with weights
    stem = "s_" if metric in OF_SCORES else ""
    for item in (0, 7):
        heavier = weight.copy()
        heavier[item] += 1e-5
        moved, before = (
            EVERY[metric](columns["truth"], columns[f"{stem}old"], sample_weight=weights)
            for weights in (heavier, weight)
        )
        slope = (moved - before) / 1e-5 * weight.sum()
        assert linear.values[item] - linear.estimate == pytest.approx(slope, abs=2e-3)


def test_three_models_are_adjusted_for_all_pairs_of_a_metric():
    columns = sample()
    columns["newest"] = np.where(np.arange(240) % 8 == 0, columns["new"], columns["truth"])
    items = wb.load_labeled(columns, prediction="old,new,newest", stratum="")
    comparison = wb.compare_metrics(items, "accuracy f1")
    rows = comparison.rows()
    assert len(rows) == 6
    for metric in ("accuracy", "f1"):
        of_metric = [row for row in rows if row["metric"] == metric]
        ordered = sorted(row["pvalue"] for row in of_metric)
        by_hand = np.maximum.accumulate([3 * ordered[0], 2 * ordered[1], ordered[2]])
        expected = dict(zip(ordered, np.minimum(by_hand, 1), strict=True))
        for row in of_metric:
            assert row["adjusted_pvalue"] == pytest.approx(expected[row["pvalue"]])
    ranks = {row["model"]: row for row in comparison.ranks() if row["metric"] == "accuracy"}
    assert (ranks["newest"]["best_rank"], ranks["newest"]["worst_rank"]) == (1, 1)
    assert "newest is better than old, new" in comparison.finding()


def test_models_are_those_of_estimate_metrics():
    items = loaded(sample())
    comparison = wb.compare_metrics(items)
    assert {row["metric"] for row in comparison.rows()} == {
        "accuracy",
        "precision",
        "recall",
        "f1",
        "auc",
    }
    of_one = wb.estimate_metrics(items.model("new"), "accuracy precision recall f1 auc").rows()
    assert [row for row in comparison.models() if row["model"] == "new"] == [
        {"model": "new"} | row for row in of_one
    ]


def test_findings_name_the_better_model():
    comparison = wb.compare_metrics(loaded(sample()), "f1 log_loss")
    assert comparison.finding().startswith("new is better than old: F1 higher by")
    assert "log loss lower by" in comparison.finding()
    items = wb.load_labeled(sample() | {"new": sample()["old"]}, prediction="old,new", stratum="")
    alike = wb.compare_metrics(items, "f1")
    assert alike.finding().startswith("Neither old nor new is shown to be better")
    [row] = alike.rows()
    assert row["difference"] == 0 and row["pvalue"] == 1 and row["low"] < 0 < row["high"]


def test_a_large_pilot_asks_for_as_many_items_as_the_textbook():
    columns = sample(items=20_000)
    comparison = wb.compare_metrics(loaded(columns), "accuracy f1")
    for row in comparison.sample_size(0.01, power=0.9):
        z = stats.norm.ppf(0.975) + stats.norm.ppf(0.9)
        textbook = 20_000 * (z * row["standard_error"] / 0.01) ** 2
        assert textbook < row["items"] < 1.03 * textbook
    clustered = wb.compare_metrics(loaded(sample(clusters=15), psu="patient"), "f1")
    [row] = clustered.sample_size(0.05)
    assert row["items"] == pytest.approx(row["clusters"] * 16, rel=0.05)
    items = wb.load_labeled(columns | {"new": columns["old"]}, prediction="old,new", stratum="")
    assert wb.compare_metrics(items, "f1").sample_size(0.05)[0]["items"] is None
    with pytest.raises(ValueError, match="difference must be above 0"):
        comparison.sample_size(0)
    with pytest.raises(ValueError, match="difference must be below 1, such as 0.05 for 5 points"):
        comparison.sample_size(5)


def test_sizes_for_several_models_allow_for_all_pairs():
    columns = sample() | {"newest": sample()["old"][::-1]}
    items = wb.load_labeled(columns, prediction="old,new,newest", stratum="")
    [row, *_] = wb.compare_metrics(items, "accuracy").sample_size(0.001)
    z = stats.norm.ppf(1 - 0.05 / 3 / 2) + stats.norm.ppf(0.8)
    textbook = items.truth.size * (z * row["standard_error"] / 0.001) ** 2
    assert row["items"] == pytest.approx(textbook, rel=0.01)
    [row, *_] = wb.compare_metrics(items, "accuracy", adjust="none").sample_size(0.001)
    z = stats.norm.ppf(1 - 0.05 / 2) + stats.norm.ppf(0.8)
    textbook = items.truth.size * (z * row["standard_error"] / 0.001) ** 2
    assert row["items"] == pytest.approx(textbook, rel=0.01)


def test_a_score_that_is_no_probability_is_named_with_its_model():
    columns = {"truth": [0, 1] * 5, "s": [0.2, 0.7] * 5, "percent": [20, 70] * 5}
    items = wb.load_labeled(columns, prediction="", score="s,percent", stratum="")
    with pytest.raises(ValueError, match="score must be at most 1; entry 0 is 20.*, model percent"):
        wb.compare_metrics(items, "brier")
    items = wb.load_labeled(
        columns | {"sure": [0, 1] * 4 + [1, 0]}, prediction="", score="s,sure", stratum=""
    )
    with pytest.raises(ValueError, match="item 8 is 1; model sure$"):
        wb.compare_metrics(items, "log_loss")


def test_a_limit_close_to_0_does_not_read_as_0():
    rng = np.random.default_rng(1)
    truth, noise = rng.normal(0, 1e5, (2, 60))
    columns = {"truth": truth, "old": truth + noise, "new": truth + 0.9 * noise}
    items = wb.load_labeled(columns, prediction="old,new", stratum="")
    comparison = wb.compare_metrics(items, "rmse")
    assert "," in comparison.cells(comparison.rows()[0])["difference"]
    for low, high, text in (
        (-0.3945, -0.0034, "0.3 to 39.5 points"),
        (-0.3945, -0.02, "2 to 39 points"),
        (-0.3945, 0.0, "0 to 39 points"),
    ):
        limits = np.array([[low, high]])
        near = replace(comparison, metrics=("macro_f1",), limits=limits, adjusted=np.array([0.01]))
        near = replace(near, labels=(None,), groups=(None,))
        assert text in near.finding()


def test_a_metric_that_is_named_twice_is_one():
    items = loaded(sample())
    once = wb.compare_metrics(items, "f1 mcc")
    assert wb.compare_metrics(items, "f1 mcc f1").rows() == once.rows()


def test_groups_and_classes_have_rows_of_their_own():
    columns = sample()
    columns["site"] = np.where(np.arange(240) < 100, "a", "b")
    items = wb.load_labeled(columns, prediction="old,new", group="site", stratum="")
    rows = wb.compare_metrics(items, "recall").rows()
    assert [row["group"] for row in rows] == [None, "a", "b"]
    first = columns["site"] == "a"
    assert rows[1]["difference"] == pytest.approx(difference_by_sklearn("recall", columns, first))
    words = {name: np.where(columns[name] == 1, "yes", "no") for name in ("truth", "old", "new")}
    items = wb.load_labeled(words, prediction="old,new", stratum="")
    assert [row["label"] for row in wb.compare_metrics(items, "f1").rows()] == ["no", "yes"]


def test_what_does_not_fit_is_said():
    columns = sample()
    one = wb.load_labeled(columns, prediction="old", stratum="")
    with pytest.raises(ValueError, match="two or more models"):
        wb.compare_metrics(one)
    with pytest.raises(ValueError, match="compare_metrics, or items.model"):
        wb.estimate_metrics(loaded(columns))
    with pytest.raises(ValueError, match="from the predictions or scores of a model"):
        wb.compare_metrics(loaded(columns), "median")
    labels_only = wb.load_labeled(columns, prediction="old,new", stratum="")
    with pytest.raises(ValueError, match="auc needs a score"):
        wb.compare_metrics(labels_only, "auc")
    for options, message in (
        ({"prediction": "old,old"}, "a different column for each model"),
        ({"prediction": "old,new", "score": "s_old"}, "as many columns as prediction"),
        ({"prediction": "old,newest"}, "no column 'newest'"),
    ):
        with pytest.raises(ValueError, match=message):
            wb.load_labeled(columns, stratum="", **options)
    never = columns | {"new": np.zeros(240, int)}
    comparison = wb.compare_metrics(wb.load_labeled(never, prediction="old,new", stratum=""))
    assert "precision" not in {row["metric"] for row in comparison.rows()}
    assert "precision is undefined" in comparison.finding()


def test_a_comparison_survives_a_round_trip():
    comparison = wb.compare_metrics(loaded(sample()), "f1")
    again = wb.MetricComparison.from_dict(comparison.to_dict())
    assert again.rows() == comparison.rows() and again.finding() == comparison.finding()
