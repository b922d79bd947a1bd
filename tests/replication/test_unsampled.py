"""Samples that cannot show a metric, labels in some rows, and scores of another class."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

import workbench as wb
from workbench.replication.unsampled import differs_from_rest

RNG = np.random.default_rng(11)
ALARMS = {
    "truth": ["fraud"] * 86 + ["ok"] * 34,
    "prediction": ["fraud"] * 120,
}  # only predicted frauds were labeled
FOUND = {
    "truth": ["fraud"] * 50,
    "prediction": ["fraud"] * 40 + ["ok"] * 10,
}  # only true frauds were labeled
COUNTED = "accuracy precision recall f1 macro_f1 balanced_accuracy kappa mcc"


def shown(data, metrics=None, **roles):
    """Return the estimates by metric and class, the text of all notes, and the result."""
    found = wb.estimate_metrics(wb.load_labeled(data, stratum="", **roles), metrics)
    rows = {(row["metric"], row.get("label")): row for row in found.rows()}
    return rows, "; ".join(wb.sentences(found.notes)), found


@pytest.mark.parametrize("metrics", [None, COUNTED])
def test_only_predicted_positives_show_precision_and_nothing_else(metrics):
    rows, said, found = shown(ALARMS, metrics, positive="fraud")
    assert [*rows] == [("precision", None)] and rows["precision", None][
        "estimate"
    ] == pytest.approx(86 / 120)
    low, high = stats.binomtest(86, 120).proportion_ci(method="exact")
    assert rows["precision", None]["low"] == pytest.approx(low, abs=0.01)
    assert rows["precision", None]["high"] == pytest.approx(high, abs=0.01)
    assert "recall" in said and "every labeled item is predicted as 'fraud'" in said
    assert "label a random sample of the items that are predicted as something else" in said
    first, last = found.finding().splitlines()
    assert (
        "cannot be estimated, because every labeled item is predicted as 'fraud'" in first
        and last.startswith("Precision 71.7%")
    )


def test_without_a_positive_class_the_precision_of_the_sampled_class_is_shown():
    rows, said, _ = shown(ALARMS)
    assert [*rows] == [("precision", "fraud")] and "macro F1" in said and "F1 of ok" in said


@pytest.mark.parametrize("metric", [name for name in COUNTED.split() if name != "precision"])
def test_what_the_sample_does_not_show_is_refused_when_it_is_all_that_is_asked(metric):
    items = wb.load_labeled(ALARMS, positive="fraud")
    with pytest.raises(
        ValueError,
        match="^no metric can be estimated: .* cannot be estimated, because every labeled item is predicted as 'fr",
    ):
        wb.estimate_metrics(items, metric)


def test_only_true_positives_show_recall_and_nothing_else():
    rows, said, _ = shown(FOUND, COUNTED, positive="fraud")
    assert [*rows] == [("recall", None)] and rows["recall", None]["estimate"] == pytest.approx(0.8)
    assert "every labeled item is truly 'fraud'" in said
    rows, *_ = shown(FOUND)
    assert [*rows] == [("recall", "fraud")]


def test_predicted_positives_that_are_all_right_show_no_recall_either():
    rows, *_ = shown({"truth": ["fraud"] * 30, "prediction": ["fraud"] * 30}, positive="fraud")
    assert [*rows] == [("precision", None)]


def test_one_class_alone_is_taken_for_a_random_sample_and_has_no_macro_f1():
    data = {"truth": ["cat"] * 20, "prediction": ["cat"] * 20}
    rows, said, found = shown(data)
    assert [*rows] == [("accuracy", None), ("f1", "cat")]
    low = rows["accuracy", None]["low"]
    assert 0.8 < low < 0.85
    could_be = f1_score(
        ["cat"] * 100,
        ["cat"] * round(100 * low) + ["dog"] * (100 - round(100 * low)),
        average="macro",
    )
    assert could_be < 0.46 and "macro F1 is undefined" in said
    assert "assume that the items are a random sample of all" in found.finding().splitlines()[0]


def test_scores_of_items_of_one_kind_show_neither_auc_nor_brier_score():
    score = RNG.random(120)
    rows, said, _ = shown(
        ALARMS | {"score": score}, "precision auc brier log_loss", score="score", positive="fraud"
    )
    assert [*rows] == [
        ("precision", None)
    ] and "AUC, Brier score, log loss cannot be estimated" in said
    with pytest.raises(
        ValueError, match="Brier score cannot be estimated, because every labeled item is truly 1"
    ):
        shown(
            {"truth": [1] * 20, "score": score[:20]},
            "brier",
            score="score",
            prediction="",
            positive="1",
        )


def test_in_a_group_of_one_prediction_the_whole_sample_still_counts():
    data = {
        "truth": [1, 0, 1, 1] * 10,
        "prediction": [1, 0, 1, 0] * 10,
        "g": ["a", "b", "a", "b"] * 10,
    }
    rows = wb.estimate_metrics(wb.load_labeled(data, group="g"), "accuracy recall").rows()
    assert {(row["group"], row["metric"]) for row in rows} == {
        (group, metric) for group in (None, "a", "b") for metric in ("accuracy", "recall")
    }


def test_an_undefined_metric_refuses_no_other():
    data = {"truth": [0, 1, 2, 1] * 5, "prediction": [0, 1, 0, 1] * 5}
    rows, said, found = shown(data, "precision accuracy recall correlation", positive="2")
    assert [metric for metric, _ in rows] == ["accuracy", "recall", "correlation"]
    assert "metric precision: precision is undefined: no item was predicted positive" in said
    assert found.finding().startswith("Metric precision: precision is undefined")
    with pytest.raises(
        ValueError,
        match="^no metric can be estimated: metric precision: precision is undefined: no item",
    ):
        shown(data, "precision", positive="2")


@pytest.mark.parametrize(
    ("statistic", "truth", "prediction"),
    [
        ("recall", [1] * 86 + [0] * 34, [1] * 120),
        ("f1", [1] * 86 + [0] * 34, [1] * 120),
        ("accuracy", ["f"] * 86 + ["k"] * 34, ["f"] * 120),
        ("precision", [1] * 50, [1] * 40 + [0] * 10),
        ("recall", [1] * 30, [1] * 30),
        ("accuracy", ["a"] * 30, ["b"] * 30),
        ("recall", [0, 1] * 9, [0] * 18),
    ],
)
def test_replicate_estimate_refuses_what_the_columns_do_not_show(statistic, truth, prediction):
    made = wb.replicates(wb.SurveyDesign(["all"] * len(truth)), "jkn")
    with pytest.raises(
        ValueError,
        match=f"^{statistic if statistic != 'f1' else 'F1'} cannot be estimated, because every labeled",
    ):
        wb.replicate_estimate(made, statistic, truth, prediction)


@pytest.mark.parametrize(
    ("statistic", "truth", "prediction", "expected"),
    [
        ("precision", [1] * 86 + [0] * 34, [1] * 120, 86 / 120),
        ("recall", [1] * 50, [1] * 40 + [0] * 10, 0.8),
        ("accuracy", ["a"] * 30, ["a"] * 30, 1),
        ("precision", [1] * 30, [1] * 30, 1),
    ],
)
def test_replicate_estimate_gives_what_they_show(statistic, truth, prediction, expected):
    made = wb.replicates(wb.SurveyDesign(["all"] * len(truth)), "jkn")
    assert wb.replicate_estimate(made, statistic, truth, prediction).estimate == pytest.approx(
        expected
    )


def test_macro_f1_of_predicted_positives_is_refused():
    made = wb.replicates(wb.SurveyDesign(["all"] * 120), "jkn")
    with pytest.raises(
        ValueError,
        match="^macro F1 cannot be estimated, because every labeled item is predicted as 'fraud'",
    ):
        wb.macro_f1(made, ALARMS["truth"], ALARMS["prediction"])


# ---------------------------------------------------------------- labels in some rows


def file_of(labeled, predictions):
    truth = np.where(RNG.random(predictions.size) < 0.85, predictions, "b").astype(object)
    truth[~labeled] = None
    return {"truth": truth, "prediction": predictions}


def test_labels_in_some_rows_are_those_rows_alone():
    predictions = RNG.choice(["a", "b", "c"], 900)
    labeled = np.zeros(900, bool)
    labeled[RNG.choice(900, 100, replace=False)] = True
    data = file_of(labeled, predictions)
    rows, _, found = shown(data)
    alone, *_ = shown({name: column[labeled] for name, column in data.items()})
    assert {key: row["estimate"] for key, row in rows.items()} == {
        key: row["estimate"] for key, row in alone.items()
    }
    assert found.finding().startswith(
        "Labels in 100 of 900 rows: they are assumed to be a random sample of the file"
    )


@pytest.mark.parametrize("gap", ["", None, float("nan"), "  "])
def test_every_kind_of_empty_cell_is_no_label(gap):
    data = {
        "truth": np.array(["a", "b", "a", "b", gap, gap], object),
        "prediction": ["a", "b", "b", "b", "a", "b"],
    }
    items = wb.load_labeled(data)
    assert items.truth.tolist() == ["a", "b", "a", "b"] and items.unlabeled == 2
    assert items.headline() == "4 labeled items of 6 rows, 2 classes"


def test_numbers_with_a_word_for_missing():
    data = {"truth": np.array(["1", "0", "NaN", "1", "NA"], object), "prediction": [1, 0, 1, 0, 0]}
    assert wb.load_labeled(data).truth.tolist() == [1, 0, 1]


def test_unlabeled_rows_of_another_prediction_show_that_it_was_not_sampled():
    data = {
        "truth": ["x"] * 30 + ["y"] * 10 + [""] * 200,
        "prediction": ["x"] * 40 + ["x", "y"] * 100,
    }
    rows, said, _ = shown(data)
    assert [*rows] == [("precision", "x")] and "every labeled item is predicted as 'x'" in said


def test_labels_of_a_rare_prediction_in_place_of_a_random_sample():
    """Two predictions are labeled, but half of the labels are of one that only 5% of rows have."""
    data = {
        "truth": ["x"] * 30 + ["y"] * 30 + [""] * 940,
        "prediction": ["x"] * 35 + ["y"] * 25 + ["x"] * 20 + ["y"] * 920,
    }
    rows, said, _ = shown(data)
    assert {metric for metric, _ in rows} == {
        "precision"
    } and "labeled items are therefore not a random sample" in said
    weighted, *_ = shown(
        data | {"w": np.where(np.array(data["prediction"]) == "x", 1.0, 37.0)}, weight="w"
    )
    assert ("accuracy", None) in weighted


def test_of_three_predictions_one_was_never_labeled():
    predictions = np.repeat(["a", "b", "c"], 200)
    data = file_of(np.tile([True, False, False, False], 150) & (predictions != "c"), predictions)
    rows, said, _ = shown(data)
    assert [*rows] == [("precision", "a"), ("precision", "b")] and "recall" not in {
        metric for metric, _ in rows
    }
    assert "differ from those of the other items by more than chance" in said


@pytest.mark.parametrize("rest", [["x"] * 90 + ["y"] * 60, ["x"] * 10 + ["y"] * 140])
def test_labels_of_one_true_class_show_its_recall_alone(rest):
    """40 of 50 labeled items of class x are predicted x; whatever is predicted elsewhere."""
    data = {
        "truth": ["x"] * 50 + [""] * 150,
        "prediction": ["x"] * 40 + ["y"] * 10 + rest,
    }
    rows, said, _ = shown(data)
    assert {key: row["estimate"] for key, row in rows.items()} == {("recall", "x"): 0.8}
    assert "every labeled item is truly 'x'" in said
    with pytest.raises(ValueError, match="^no metric can be estimated: .* is truly 'x'"):
        shown(data, "proportion", positive="x")


def test_labels_of_one_class_that_is_always_predicted_may_be_a_random_sample():
    data = {"truth": ["ok"] * 20 + [""] * 180, "prediction": ["ok"] * 198 + ["fraud"] * 2}
    rows, *_ = shown(data, "accuracy")
    assert rows["accuracy", None]["estimate"] == 1


def test_a_classifier_that_predicts_one_class_everywhere_has_an_accuracy():
    data = {"truth": ["x"] * 30 + ["y"] * 10 + [""] * 200, "prediction": ["x"] * 240}
    rows, *_ = shown(data, "accuracy")
    assert rows["accuracy", None]["estimate"] == 0.75


def test_a_random_sample_of_a_file_is_hardly_ever_refused():
    """By chance in less than one of a thousand: exact tails of the hypergeometric distribution."""
    rng = np.random.default_rng(0)
    file = np.repeat(["a", "b", "c"], [600, 390, 10])
    refused = 0
    for _ in range(1000):
        order = rng.permutation(1000)
        refused += differs_from_rest(file[order[:60]], file[order[60:]])
    assert refused <= 3
    assert differs_from_rest(file[:60], file[60:])


@pytest.mark.parametrize("gap", ["", None, float("nan")])
def test_items_without_a_group_count_among_all(gap):
    data = {
        "truth": [1, 0, 1, 0] * 10,
        "prediction": [1, 0, 0, 0] * 10,
        "g": np.array(["n", "s", gap, gap] * 10, object),
    }
    found = wb.estimate_metrics(wb.load_labeled(data, group="g"), "accuracy")
    assert [(row["group"], row["estimate"]) for row in found.rows()] == [
        (None, pytest.approx(0.75)),
        ("n", 1),
        ("s", 1),
    ]
    assert found.estimates[0].items == 40
    assert "20 items have no 'g': they count among all items, but in no group" in wb.sentences(
        found.notes
    )


@pytest.mark.parametrize("psu", ["", "school,class"])
def test_several_columns_are_crossed(psu):
    sex, status = np.repeat(["m", "f"], 20), np.tile(["full", "part"], 20)
    truth = RNG.integers(0, 2, 40)
    data = {
        "truth": truth,
        "prediction": np.where(RNG.random(40) < 0.8, truth, 1 - truth),
        "sex": sex,
        "status": status,
        "school": np.char.add(sex, status),
        "class": np.tile([1, 1, 2, 2, 3, 3, 4, 4], 5),
    }
    crossed = wb.load_labeled(data, stratum="sex, status", psu=psu)
    assert set(crossed.stratum.tolist()) == {"m / full", "m / part", "f / full", "f / part"}
    joined = data | {
        "s": np.char.add(sex, status),
        "u": np.char.add(data["school"], data["class"].astype(str)),
    }
    one = wb.load_labeled(joined, stratum="s", psu="u" if psu else "")
    rows, expected = (wb.estimate_metrics(items, "accuracy").rows()[0] for items in (crossed, one))
    assert rows["standard_error"] == pytest.approx(expected["standard_error"], rel=1e-12)
    named = wb.load_labeled(data | {"sex,status": np.tile(["p", "q"], 20)}, stratum="sex,status")
    assert set(named.stratum.tolist()) == {"p", "q"}
    with pytest.raises(ValueError, match="has no column 'statu'"):
        wb.load_labeled(data, stratum="sex,statu")


# ---------------------------------------------------------------- the direction of the score


def scored(flip, **more):
    rng = np.random.default_rng(3)
    truth = rng.choice(["ill", "well"], 200)
    up = np.clip(np.where(truth == "ill", 0.7, 0.3) + rng.normal(0, 0.17, 200), 0.01, 0.99)
    return {
        "truth": truth,
        "prediction": np.where(up > 0.5, "ill", "well"),
        "score": 1 - up if flip else up,
    } | more


@pytest.mark.parametrize("metric", ["auc", "brier", "log_loss"])
def test_a_score_of_the_other_class_is_asked_about(metric):
    data = scored(True)
    _, said, found = shown(data, metric, score="score", positive="ill")
    right = roc_auc_score(np.array(data["truth"]) == "well", data["score"])
    assert right > 0.9 and f"--positive well, positive='well') for an AUC of {right:.1%}" in said
    assert (
        "far below 50%, although the predictions agree with the truth"
        in found.finding().splitlines()[0]
    )
    _, said, _ = shown(data, metric, score="score", positive="well")
    assert "far below" not in said
    _, said, _ = shown(scored(False), metric, score="score", positive="ill")
    assert "far below" not in said


def test_a_score_without_predictions_and_a_useless_score():
    data = scored(True)
    _, said, _ = shown(data, "auc", score="score", prediction="", positive="ill")
    assert "far below 50%, so the score seems to belong to a class other" in said
    noise = data | {"score": np.random.default_rng(0).random(200)}
    assert "a class other" not in shown(noise, "auc", score="score", positive="ill")[1]
    bad = data | {"prediction": np.where(np.array(data["prediction"]) == "ill", "well", "ill")}
    assert (
        "a class other" not in shown(bad, "auc", score="score", positive="ill")[1]
    )  # a bad classifier


def test_confidence_in_the_prediction_is_no_probability_of_a_class():
    data = scored(False)
    confidence = np.maximum(data["score"], 1 - data["score"])
    assert (
        "seems to be the confidence in the predicted class"
        in shown(data | {"score": confidence}, "auc brier", score="score", positive="ill")[1]
    )


def test_an_auc_of_one_positive_says_nothing_of_the_score():
    truth = [1] + [0] * 59
    score = np.linspace(0.05, 0.95, 60)
    items = wb.load_labeled({"truth": truth, "s": score}, score="s", prediction="", stratum="")
    assert "far below" not in str(wb.estimate_metrics(items, "auc").notes)
    truth = [1] * 20 + [0] * 40
    items = wb.load_labeled({"truth": truth, "s": score}, score="s", prediction="", stratum="")
    assert "far below" in str(wb.estimate_metrics(items, "auc").notes)
