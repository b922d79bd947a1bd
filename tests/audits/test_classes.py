import dataclasses

import numpy as np
import pytest
from refusals import refused
from sklearn import metrics

import workbench as wb
from workbench.data.scored_items import ScoredItems


@pytest.fixture
def forms():
    return wb.digit_forms().items()


def test_a_simulation_knows_the_metrics_of_all_items(forms):
    found = wb.class_audit(forms, 9, 300)
    truth, read = forms.truth == 9, forms.prediction == 9
    known = [row["truth"] for row in found.metric_rows()]
    assert known == pytest.approx(
        [
            *(
                score(truth, read)
                for score in (metrics.precision_score, metrics.recall_score, metrics.f1_score)
            ),
            forms.correct.mean(),
        ]
    )
    assert [row["metric"] for row in found.metric_rows()] == [
        "precision",
        "recall",
        "F1",
        "accuracy",
    ]
    assert found.mode == "simulated" and found.next_step().startswith(
        "The labels were taken from the known truth"
    )


def test_a_census_says_the_truth(forms):
    found = wb.class_audit(forms, "9", forms.size)
    for row in found.metric_rows():
        assert (
            row["low"]
            == row["high"]
            == pytest.approx(row["estimate"])
            == pytest.approx(row["truth"])
        )


def test_strata_lie_within_the_predicted_class_and_get_three_in_ten_labels(forms):
    found = wb.class_audit(
        dataclasses.replace(forms, truth=None, correct=None), "9", 200, n_strata=4, level=0.9
    )
    members = int((forms.prediction == 9).sum())
    assert (
        found.predicted.tolist() == [True] * 4 + [False] * 4
        and found.stratum_size[:4].sum() == members
    )
    assert found.labeled[:4].sum() == 60 and found.labeled.sum() == 200
    assert [row["prediction"] for row in found.rows()] == ["9"] * 4 + ["another class"] * 4
    assert found.metric_rows() == [] and found.headline().endswith(
        "; 60 labels for items predicted '9'"
    )
    assert wb.compare_intervals(found).intervals[0].level == 0.9


def test_a_plan_expects_what_honest_scores_and_misses_in_proportion_give():
    """Two items of a class in ten, one in ten wrong: of 80 others 8 are wrong, 2 of 5 of them (20 of 50) of class a."""
    items = ScoredItems(
        None, np.full(100, 0.9), np.repeat(["a", "b", "c"], [20, 30, 50]), score_is="confidence"
    )
    plan = wb.class_audit(items, "a", 40, n_strata=1)
    missed = (30 * 0.1 * 20 / 70 + 50 * 0.1 * 20 / 50) / 80
    assert plan.rate == pytest.approx([0.9, 1 - missed]) and list(
        plan.half_widths(plan.labeled)
    ) == ["precision", "recall", "accuracy"]
    rows = plan.plan_rows()
    assert [row["labels"] for row in rows if row["metric"] == "recall"] == [20, 40, 76, 100]
    assert [row["half_width"] for row in rows if row["labels"] == 100] == [0, 0, 0]
    margins = wb.class_audit(dataclasses.replace(items, score_is="margin"), "a", 40, n_strata=1)
    assert list(margins.half_widths(margins.labeled)) == ["accuracy"]


def test_the_level_is_that_of_every_metric(forms):
    found = wb.class_audit(forms, "9", 200, level=0.8)
    assert {limits.level for limits in (*found.limits, found.interval())} == {0.8}
    assert tuple(found.limits[1]) == tuple(found.metrics.interval("recall", 0.8))


def test_few_distinct_scores_make_fewer_strata_and_are_told():
    score = np.concatenate([[0.9, 0.9, 0.8, 0.8], np.linspace(0.5, 1, 96)])
    items = ScoredItems(None, score, np.array(["a"] * 4 + ["b"] * 96))
    plan = wb.class_audit(items, "a", 30, stratifier="equal_width")
    assert plan.predicted.sum() == 2 and plan.stratum_size[:2].tolist() == [2, 2]
    assert (
        wb.Note(
            "design",
            "the 4 items predicted 'a' have only 2 distinct scores, so there are no more strata "
            "than that",
        )
        in plan.notes
    )
    same = wb.class_audit(
        dataclasses.replace(items, score=np.where(items.prediction == "a", 0.9, score)), "a", 30
    )
    assert same.predicted.sum() == 1


def test_where_only_the_class_is_predicted_nothing_is_missed():
    truth = np.array(["a", "b"] * 50)
    items = ScoredItems(None, np.linspace(0.5, 1, 100), np.array(["a"] * 100), truth, truth == "a")
    found = wb.class_audit(items, "a", 40)
    assert found.predicted.all() and tuple(found.limits[1]) == (1, 1)
    assert found.metrics.precision == pytest.approx(found.estimate.estimate)


def test_a_class_without_a_hit_or_a_miss_has_no_recall():
    truth = np.full(100, "b")
    items = ScoredItems(
        None,
        np.linspace(0.5, 1, 100),
        np.array(["a"] * 10 + ["b"] * 90),
        truth,
        np.arange(100) >= 10,
    )
    found = wb.class_audit(items, "a", 50)
    assert "recall undefined (0.0% to 100.0%)" in found.headline()
    assert "recall is 0/0 in these labels" in found._repr_html_()


def test_class_audits_serialize_without_loss(forms):
    for found in (
        wb.class_audit(forms, "9", 100),
        wb.class_audit(dataclasses.replace(forms, truth=None, correct=None), "9", 100),
    ):
        again = wb.Result.from_dict(found.to_dict())
        assert again.to_dict() == found.to_dict() and again._repr_html_() == found._repr_html_()


@pytest.mark.parametrize(
    ("change", "settings", "argument", "rule", "told"),
    [
        (
            {},
            {"metrics_of": "10"},
            "metrics_of",
            "must be a class that is predicted: '0', '1', '2', '3', '4', '5', '6', '7' and 2 more; "
            "got '10' (did you mean '1'?)",
            "",
        ),
        ({"prediction": None}, {}, "metrics_of", "'9' needs predictions. Name their column", ""),
        ({"truth": None}, {}, "items", "must hold the true classes to simulate the metrics of", ""),
        (
            {},
            {"allocation": "equal"},
            "allocation",
            "must be 'proportional' for the metrics of a class: 30% of the labels go to",
            "got 'equal'",
        ),
        ({}, {"budget": 19}, "budget", "must be a whole number from 20 to 1797", "got 19"),
        ({}, {"n_strata": 0}, "n_strata", "must be a whole number from 1 to 1797", "got 0"),
    ],
)
def test_messages(forms, change, settings, argument, rule, told):
    items, given = (
        dataclasses.replace(forms, **change),
        {"metrics_of": "9", "budget": 100, **settings},
    )
    refused(lambda: wb.class_audit(items, **given), argument, rule, told)
