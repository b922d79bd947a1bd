"""What a comparison says: caveats that name a model, ranks from the best on, columns that are no classes."""

import re

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

import workbench as wb

SIZE = 200


def sample(**columns):
    """Return columns of three models on the same items; the classes of each are its score above 0."""
    rng = np.random.default_rng(8)
    truth = (rng.random(SIZE) < 0.4).astype(int)
    table = {"truth": truth}
    for model, signal in (("old", 0.4), ("new", 1.5), ("newest", 1.6)):
        score = signal * (2 * truth - 1) + rng.normal(size=SIZE)
        table |= {f"s_{model}": score, model: (score > 0).astype(int)}
    return table | columns


def loaded(models="old,new", table=None, **options):
    scores = ",".join(f"s_{model}" for model in models.split(","))
    table = sample() if table is None else table
    return wb.load_labeled(table, prediction=models, score=scores, stratum="", **options)


def test_a_score_of_the_other_class_is_told_of_its_model_first():
    table = sample()
    auc = roc_auc_score(table["truth"], table["s_new"])
    comparison = wb.compare_metrics(loaded(table=table | {"s_new": -table["s_new"]}), "auc")
    caveat, finding = comparison.finding().splitlines()
    assert caveat.startswith(f"Model new: AUC: the AUC of the score is {100 - 100 * auc:.1f}%")
    assert "use 1 minus the score" in caveat and "--positive" not in caveat
    assert finding.startswith("old is better than new: AUC higher by ")


def test_classes_of_one_model_alone_are_told_of_that_model():
    table = sample()
    table["new"] = np.where(np.arange(SIZE) % 50 == 0, 2, table["new"])
    comparison = wb.compare_metrics(loaded(table=table), "accuracy")
    assert "model new: predicted class 2 is never true (4 items)" in map(str, comparison.notes)


def test_a_metric_that_one_model_leaves_undefined_names_it_and_the_group():
    table = sample(site=np.where(np.arange(SIZE) < 100, "a", "b"))
    table["truth"][100:] = 0
    comparison = wb.compare_metrics(loaded(table=table, group="site"), "auc")
    assert [row["group"] for row in comparison.rows()] == [None, "a"]
    [note] = [note for note in comparison.notes if note.kind == "undefined"]
    assert str(note).startswith("metric auc in group b: auc is undefined")
    assert "undefined" not in comparison.finding()


def test_the_sampling_that_is_assumed_is_among_the_notes():
    notes = list(map(str, wb.compare_metrics(loaded(), "accuracy").notes))
    assert (
        "no column of clusters (PSU) was named: items are assumed to be sampled independently within their stratum"
        in notes
    )


def test_ranks_and_verdicts_begin_with_the_best():
    table = sample()
    models = ("old", "new", "newest")
    accuracy = {model: accuracy_score(table["truth"], table[model]) for model in models}
    comparison = wb.compare_metrics(loaded("old,new,newest", table), "accuracy f1")
    ordered = sorted(accuracy, key=accuracy.get, reverse=True)
    ranks = [row for row in comparison.ranks() if row["metric"] == "accuracy"]
    assert [row["model"] for row in ranks] == ordered and ordered[-1] == "old"
    assert [(row["best_rank"], row["worst_rank"]) for row in ranks] == [(1, 2), (1, 2), (3, 3)]
    best, second, _ = ordered
    assert comparison.finding() == (
        f"Accuracy, F1: {best} is better than old; not shown to be better than {second}."
    )


def test_of_many_metrics_four_stand_in_the_sentence():
    names = "accuracy precision recall f1 auc balanced_accuracy"
    finding = wb.compare_metrics(loaded(), names).finding()
    assert finding.startswith("new is better than old: accuracy higher by ")
    assert finding.endswith(" and 2 more.") and "AUC" not in finding


def test_the_bounded_interval_says_which_difference_it_is_of():
    comparison = wb.compare_metrics(loaded(), "auc")
    [text] = [str(note) for note in comparison.notes if "known bounds" in str(note)]
    limits = re.search(r"the interval of auc, old minus new, is (\S+) to (\S+)$", text).groups()
    assert list(map(float, limits)) == pytest.approx(comparison.bounded[0], abs=5e-3)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({}, {"prediction": "truth,new"}, "prediction must not name the column of truth"),
        (
            {"new": np.array(["yes", "no"] * 100)},
            {"prediction": "old,new"},
            "must both be text or both numbers; column 'truth' . and column 'new' 'yes'",
        ),
        (
            {},
            {"prediction": "old,s_new"},
            "prediction must hold classes that occur in the truth; if these numbers are scores, name them with score; "
            "column 's_new' holds .* the truth 0, 1",
        ),
        ({}, {"prediction": "old,new", "score": "s_old"}, "got 's_old' against 'old,new'"),
    ],
)
def test_columns_that_are_no_classes_are_refused(columns, options, message):
    with pytest.raises(ValueError, match=message):
        wb.compare_metrics(wb.load_labeled(sample(**columns), stratum="", **options), "accuracy")


def test_candidates_in_the_file_do_not_replace_models_that_are_named():
    table = sample()
    table |= {"candidate_1": table["newest"], "candidate_2": 1 - table["newest"]}
    items = wb.load_labeled(table, prediction="old,new", stratum="")
    assert items.models == ("old", "new")
    [row] = wb.compare_metrics(items, "accuracy").rows()
    expected = (table["old"] == table["truth"]).mean() - (table["new"] == table["truth"]).mean()
    assert row["difference"] == pytest.approx(expected)


def test_numbers_are_compared_without_a_common_value():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=60).round(6)
    models = {"near": truth + 0.1, "far": truth + rng.normal(size=60)}
    items = wb.load_labeled({"truth": truth} | models, prediction="near,far", stratum="")
    [row] = wb.compare_metrics(items, "rmse").rows()
    errors = [np.sqrt(np.mean((models[name] - truth) ** 2)) for name in models]
    assert row["difference"] == pytest.approx(errors[0] - errors[1])
    assert row["high"] < 0
