"""The picture of several models: its rows, its title and its text alternative."""

import numpy as np
import pytest
from panels import draws
from sklearn import metrics as sklearn_metrics

import workbench as wb
from workbench.charts import replication as charts
from workbench.charts import theme
from workbench.charts.replication import comparisons

# 100 items: how many are correct by old and new, by new alone, by old alone, by none
COUNTS = (50, 35, 5, 10)


def compared(metrics="accuracy f1", counts=COUNTS, **columns):
    """Return a comparison of models, the correct items of which are counted above."""
    truth = np.arange(sum(counts)) % 2
    right = {
        "old": np.repeat([1, 0, 1, 0], counts),
        "new": np.repeat([1, 1, 0, 0], counts),
    } | columns
    models = {name: np.where(correct, truth, 1 - truth) for name, correct in right.items()}
    items = wb.load_labeled({"truth": truth} | models, prediction=",".join(models), stratum="")
    return wb.compare_metrics(items, metrics), {"truth": truth} | models


def panels_of(figure):
    """Return the models and the differences of each panel."""
    kinds = ("models", "differences")
    count = len(figure.data) // 3  # each panel also has a line at zero
    return [{kind: figure.data[f"{kind} {k}"] for kind in kinds} for k in range(count)]


def alt_like_new():
    """Return the correct items of a third model: those of new, but for two."""
    alt = np.repeat([1, 1, 0, 0], COUNTS)
    alt[[0, -1]] = 0, 1
    return alt


def test_rows_are_the_models_and_their_difference():
    comparison, columns = compared()
    [panel] = panels_of(comparisons.differences(comparison))
    assert [(row["name"], row["model"]) for row in panel["models"]] == [
        ("accuracy", "old"),
        ("accuracy", "new"),
        ("F1", "old"),
        ("F1", "new"),
    ]
    f1 = {
        model: sklearn_metrics.f1_score(columns["truth"], columns[model])
        for model in ("old", "new")
    }
    estimates = {(row["name"], row["model"]): row["estimate"] for row in panel["models"]}
    assert estimates["accuracy", "old"] == 0.55 and estimates["accuracy", "new"] == 0.85
    assert estimates["F1", "old"] == pytest.approx(f1["old"])
    assert [row["difference"] for row in panel["differences"]] == pytest.approx(
        [-30, 100 * (f1["old"] - f1["new"])]
    )
    assert {row["color"] for row in panel["differences"]} == {"new"}
    for row in panel["differences"]:
        assert row["low"] < row["difference"] < row["high"] < 0


def test_words_name_the_better_model_and_every_number():
    comparison, _ = compared("accuracy")
    figure = comparisons.differences(comparison)
    title, words = figure.title, figure.alternative
    assert title == "new is better by accuracy"
    low, high = 100 * comparison.limits[0]
    assert words.startswith("Metrics of old, new with 95% intervals, and their differences. ")
    assert "accuracy: old 55% (" in words and "new 85.0% (" in words
    assert f"old minus new -30 points ({low:.0f} to {high:.0f})" in words
    assert comparisons.differences(compared()[0]).title == "new is better by all 2 metrics"


def test_what_is_not_shown_is_gray():
    comparison, _ = compared("accuracy", counts=(70, 6, 4, 20))
    [panel] = panels_of(comparisons.differences(comparison))
    assert panel["differences"][0]["color"] == comparisons.UNDECIDED
    assert comparisons.differences(comparison).title == "No metric shows which model is better"


def test_of_three_models_each_is_compared_with_the_best():
    comparison, columns = compared(alt=alt_like_new())
    [panel] = panels_of(comparisons.differences(comparison))
    accuracy = {row["model"]: row for row in panel["differences"] if row["name"] == "accuracy"}
    assert {name: row["difference"] for name, row in accuracy.items()} == pytest.approx(
        {"old": -30, "new": 0, "alt": 0}
    )
    best = [name for name, row in accuracy.items() if row["low"] == row["high"] == 0]
    assert len(best) == 1 and best[0] in ("new", "alt")
    assert accuracy["old"]["high"] < 0
    [pair] = [
        row
        for row in comparison.rows()
        if row["metric"] == "accuracy" and {row["first"], row["second"]} == {"old", best[0]}
    ]
    assert accuracy["old"]["low"] == pytest.approx(100 * pair["low"])
    assert comparisons.differences(comparison).title == "No metric shows which model is best"
    winner, _ = compared(alt=np.repeat([1, 0, 1, 0], COUNTS))
    assert comparisons.differences(winner).title == "new is best by all 2 metrics"
    [panel] = panels_of(comparisons.differences(winner))
    [row] = [
        row for row in panel["differences"] if (row["name"], row["model"]) == ("accuracy", "alt")
    ]
    [pair] = [
        row
        for row in winner.rows()
        if (row["metric"], row["first"], row["second"]) == ("accuracy", "new", "alt")
    ]
    limits = (row["low"], row["difference"], row["high"])
    assert limits == pytest.approx((-100 * pair["high"], -30, -100 * pair["low"]))


def test_metrics_of_other_scales_have_panels_of_their_own():
    comparison, _ = compared("f1 mcc accuracy rmse")
    panels = panels_of(comparisons.differences(comparison))
    names = [list(dict.fromkeys(row["name"] for row in panel["models"])) for panel in panels]
    assert names == [["F1", "accuracy"], ["MCC"], ["RMSE"]]
    [first] = panels_of(comparisons.differences(comparison, most=1))
    assert {row["name"] for row in first["models"]} == {"F1"}
    figure = comparisons.differences(comparison, most=1)
    title, words = figure.title, figure.alternative
    assert title.endswith(" (1 of 4 metrics shown)") and "MCC" not in words
    assert "MCC" in draws(charts.differences(comparison)).alternative


def test_groups_are_left_out_and_classes_are_named():
    truth = np.array(["cat", "dog"] * 60)
    old = np.where(np.arange(120) % 3 == 0, "cat", truth)
    new = np.where(np.arange(120) % 7 == 0, "dog", truth)
    site = np.where(np.arange(120) < 60, "a", "b")
    table = {"truth": truth, "old": old, "new": new, "site": site}
    items = wb.load_labeled(table, prediction="old,new", group="site", stratum="")
    [panel] = panels_of(comparisons.differences(wb.compare_metrics(items, "f1")))
    names = [row["name"] for row in panel["differences"]]
    assert names == ["F1 of cat", "F1 of dog"]


def test_long_names_and_many_models_stay_readable():
    rng = np.random.default_rng(0)
    models = {f"classifier_of_the_year_{k}_by_a_team": rng.random(100) < 0.8 for k in range(5)}
    comparison, _ = compared("accuracy", **models)
    [panel] = panels_of(comparisons.differences(comparison))
    names = {row["model"] for row in panel["models"]}
    assert len(names) == len(theme.CATEGORY)
    assert max(map(len, names)) <= comparisons.LONGEST_NAME + 1
    assert comparisons.differences(comparison).title.endswith("(6 of 7 models shown)")
    view = draws(charts.differences(comparison))
    assert view.alternative.startswith("Metrics of old, new, classifier_of_the_year_0_by_a_team")
