"""A labeled file becomes a table of metrics; expectations from scikit-learn, scipy and written-out formulas."""

import re

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

import workbench as wb
from workbench.replication.metrics import naive
from workbench.results import Result


def sample(rng, n_strata=12, psus=2, items=5):
    n = n_strata * psus * items
    stratum = np.repeat(np.arange(n_strata), psus * items)
    psu = np.repeat(np.arange(n_strata * psus), items)
    score = np.round(rng.random(n), 2)
    truth = np.where(rng.random(n) < score, "yes", "no")
    return {
        "y": truth,
        "yhat": np.where(score > 0.5, "yes", "no"),
        "p": score,
        "s": stratum,
        "u": psu,
        "w": rng.uniform(1, 3, n),
        "g": np.where(rng.random(n) < 0.5, "a", "b"),
    }


NAMES = {"truth": "y", "prediction": "yhat", "stratum": "s"}


@pytest.fixture
def data():
    return sample(np.random.default_rng(3))


def load(data, **more):
    return wb.load_labeled(
        data, **(NAMES | {"psu": "u", "weight": "w", "score": "p", "positive": "yes"} | more)
    )


def test_estimates_are_those_of_scikit_learn(data):
    rows = wb.estimate_metrics(load(data), "accuracy precision recall f1 auc").rows()
    y, yhat, w = data["y"] == "yes", data["yhat"] == "yes", data["w"]
    expected = [
        metric(y, other, sample_weight=w)
        for metric, other in (
            (accuracy_score, yhat),
            (precision_score, yhat),
            (recall_score, yhat),
            (f1_score, yhat),
            (roc_auc_score, data["p"]),
        )
    ]
    assert [row["estimate"] for row in rows] == pytest.approx(expected, rel=1e-12)
    assert [row["metric"] for row in rows] == ["accuracy", "precision", "recall", "f1", "auc"]


def test_naive_is_the_delta_method(data):
    y, yhat = data["y"] == "yes", data["yhat"] == "yes"
    n = y.size
    share, error = naive("accuracy", y, yhat)
    assert (share, error) == pytest.approx(
        ((y == yhat).mean(), np.sqrt((y == yhat).var() / n)), rel=1e-12
    )
    f1, error = naive("f1", y, yhat)
    tp, fp, fn = (y & yhat).sum(), (~y & yhat).sum(), (y & ~yhat).sum()
    gradient = np.array([2 * (fp + fn), -2 * tp, -2 * tp]) / (2 * tp + fp + fn) ** 2
    counts = np.array([tp, fp, fn])
    covariance = np.diag(counts) - np.outer(counts, counts) / n
    assert (f1, error) == pytest.approx(
        (2 * tp / (2 * tp + fp + fn), np.sqrt(gradient @ covariance @ gradient))
    )


def test_naive_auc_is_the_share_of_pairs_and_its_error_that_of_the_placements(data):
    y, score = data["y"] == "yes", data["p"]
    above = (score[y][:, None] > score[~y]) + 0.5 * (score[y][:, None] == score[~y])
    auc, error = naive("auc", y, score)
    assert auc == pytest.approx(above.mean())
    assert error == pytest.approx(
        np.sqrt(above.mean(1).var(ddof=1) / y.sum() + above.mean(0).var(ddof=1) / (~y).sum())
    )


@pytest.mark.parametrize("positives", [1, 2, 3])
def test_naive_auc_of_few_positives_is_by_the_placements_that_vary(positives):
    """One alone has no spread of its own: only the negatives' placements tell."""
    score = np.array([0.8, 0.35, 0.6, 0.1, 0.2, 0.4, 0.5, 0.7])
    y = np.arange(8) < positives
    above = (score[y][:, None] > score[~y]).astype(float)
    spread = above.mean(0).var(ddof=1) / (~y).sum()
    if positives > 1:
        spread += above.mean(1).var(ddof=1) / positives
    assert naive("auc", y, score) == pytest.approx((above.mean(), spread**0.5))
    assert naive("auc", ~y, -score) == pytest.approx((above.mean(), spread**0.5))


def test_naive_auc_covers_independent_items():
    rng = np.random.default_rng(1)
    hits, truth = 0, stats.norm.cdf(1 / np.sqrt(2))
    for _ in range(400):
        y = np.repeat([True, False], [60, 90])
        auc, error = naive("auc", y, rng.normal(y * 1.0))
        hits += abs(auc - truth) <= 1.96 * error
    assert 0.91 < hits / 400 < 0.98


def test_groups_are_domains_of_the_whole_design(data):
    rows = wb.estimate_metrics(load(data, group="g"), "accuracy").rows()
    assert [row["group"] for row in rows] == [None, "a", "b"]
    items = load(data)
    made = wb.replicates(wb.SurveyDesign(data["s"], psu=data["u"], weight=data["w"]), "fay")
    direct = wb.replicate_estimate(
        made, "accuracy", items.truth, items.prediction, domain=data["g"] == "a"
    )
    assert rows[1]["standard_error"] == direct.standard_error
    assert (rows[1]["low"], rows[1]["high"]) == tuple(direct.interval())


def test_a_group_without_positives_is_left_out_and_said(data):
    data["g"] = np.where(data["y"] == "yes", "a", data["g"])
    only_no = data["g"] == "b"
    data["yhat"][only_no] = "no"
    audit = wb.estimate_metrics(load(data, group="g"), "accuracy recall")
    assert [(row["group"], row["metric"]) for row in audit.rows()][-1] == ("b", "accuracy")
    assert audit.notes[0] == wb.Note(
        "undefined",
        "recall is undefined: no item is truly positive in the domain",
        ("metric", "recall in group b"),
    )
    assert wb.sentences(audit.notes)[0] == "metric recall in group b: " + audit.notes[0].text


def test_a_group_whose_replicates_are_mostly_undefined_is_refused_not_undefined():
    stratum = np.repeat(np.arange(8), 4)
    truth, group = (
        np.tile([1, 0], 16),
        np.where(np.arange(32) == 0, "a", np.where(np.arange(32) % 2, "a", "b")),
    )
    items = wb.load_labeled(
        {"y": truth, "yhat": truth, "s": stratum, "u": np.arange(32) // 2, "g": group},
        **NAMES,
        psu="u",
        group="g",
        positive="1",
    )
    (note,) = [
        note
        for note in wb.estimate_metrics(items, "recall", method="brr").notes
        if note.kind == "refused"
    ]
    assert note.where == ("metric", "recall in group a")
    assert note.text == (
        "recall is undefined (0/0) in 6 of 12 replicates, more than 5%: use method 'fay' or 'generalized', whose replicates keep every item"
    )


def test_only_what_is_undefined_in_a_group_is_left_out(data, monkeypatch):
    from workbench.replication import metrics

    def broken(*args, domain=None):
        if domain is not None:
            raise ValueError("something else")
        return wb.replicate_estimate(*args)

    monkeypatch.setattr(metrics, "estimate_statistic", broken)
    with pytest.raises(ValueError, match="^something else$"):
        wb.estimate_metrics(load(data, group="g"), "accuracy")


def test_clusters_cost_labels_and_independent_items_do_not():
    rng = np.random.default_rng(8)
    psu = np.repeat(np.arange(200), 20)
    same = np.repeat(rng.random(200) < 0.8, 20)
    truth = rng.integers(0, 2, 4000)
    data = {"y": truth, "yhat": np.where(same, truth, 1 - truth), "s": psu // 4, "u": psu}
    (clustered,) = wb.estimate_metrics(wb.load_labeled(data, **NAMES, psu="u"), "accuracy").rows()
    assert clustered["design_effect"] == pytest.approx(20, rel=0.25) and clustered["worth"] < 300
    items = wb.load_labeled(
        data | {"yhat": np.where(rng.random(4000) < 0.8, truth, 1 - truth)}, **NAMES
    )
    (alone,) = wb.estimate_metrics(items, "accuracy").rows()
    assert alone["design_effect"] == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize(
    ("psus", "method"),
    [
        ([2] * 6, "fay"),
        ([3] * 5, "fay"),
        ([6] * 4, "generalized"),
        ([2, 3, 5], "generalized"),
        ([16] * 4, "generalized"),
    ],
)
def test_auto_takes_what_suits_the_design(psus, method):
    rng = np.random.default_rng(1)
    stratum = np.repeat(np.arange(len(psus)), psus)
    data = {
        "y": rng.integers(0, 2, stratum.size),
        "yhat": rng.integers(0, 2, stratum.size),
        "s": stratum,
    }
    audit = wb.estimate_metrics(wb.load_labeled(data, **NAMES), "accuracy")
    assert audit.method == method
    assert any("Generalized replication is exact" in w for w in wb.sentences(audit.notes)) == (
        method == "generalized"
    )


def test_warnings_name_the_metrics_they_are_about():
    (warning,) = wb.sentences(wb.estimate_metrics(wb.digit_forms().labeled()).notes)
    assert warning == (
        "metric precision: few clusters: the standard error is rough, and other kinds may be missing. Use the interval"
    )


def test_many_groups_are_all_shown_and_named_briefly(data):
    data["g"] = np.array([f"g{k}" for k in np.arange(120) % 12])
    audit = wb.estimate_metrics(load(data, group="g"), "accuracy precision recall")
    assert audit._repr_html_().count("<tr>") == 1 + len(audit.rows()) > 30
    said = wb.sentences(audit.notes)
    assert max(map(len, said)) < 300 and any(" more: " in text for text in said)


def test_auc_without_predictions(data):
    (row,) = wb.estimate_metrics(load(data, prediction=""), "auc").rows()
    assert row["metric"] == "auc" and row["low"] < row["estimate"] < row["high"]


@pytest.mark.slow
def test_auc_of_many_units_takes_the_bootstrap_and_says_so():
    rng = np.random.default_rng(5)
    stratum, truth = np.repeat([0, 1], 10_000), rng.random(20_000) < 0.3
    frame = {"y": truth * 1, "p": rng.normal(truth), "s": stratum}
    audit = wb.estimate_metrics(
        wb.load_labeled(frame, truth="y", prediction="", score="p", stratum="s"), "auc"
    )
    assert audit.estimates[0].method == "bootstrap"
    assert any(
        w.startswith("metric auc: estimated with 500 bootstrap replicates, because 32,768 ")
        for w in wb.sentences(audit.notes)
    )
    assert audit.rows()[0]["design_effect"] == pytest.approx(1, abs=0.25)


def test_a_file_of_one_class_is_not_turned_round(data):
    frame = data | {"y": np.zeros(120, int), "yhat": np.zeros(120, int)}
    items = wb.load_labeled(frame, **NAMES)
    assert items.positive is None
    assert [
        (row["metric"], row["label"], row["estimate"])
        for row in wb.estimate_metrics(items, "f1").rows()
    ] == [("f1", 0, 1)]
    with pytest.raises(ValueError, match="auc needs the positive class: set positive to one of 0"):
        wb.estimate_metrics(items, "auc")
    perfect = wb.estimate_metrics(items, "accuracy")
    assert "nan" not in perfect.headline() and np.isnan(perfect.rows()[0]["worth"])


@pytest.mark.parametrize("positive", ["true", "True", "1", ""])
def test_true_and_false_are_one_and_zero(data, positive):
    frame = data | {
        "y": np.array(["true", "false"] * 60, object),
        "yhat": np.array(["true", "true"] * 60, object),
    }
    assert (
        wb.load_labeled(
            frame, truth="y", prediction="yhat", stratum="s", positive=positive
        ).positive
        == 1
    )


def test_round_trip_and_html(data):
    data["s"] = np.array([f"<b>{k}</b>" for k in data["s"]])
    audit = wb.estimate_metrics(load(data, psu="", group="s"), "accuracy")
    assert repr(Result.from_dict(audit.to_dict()).rows()) == repr(audit.rows())
    assert "<b>" not in audit._repr_html_() and "&lt;b&gt;" in audit._repr_html_()
    headings = re.findall("<th[^>]*>([^<]*interval)</th>", audit._repr_html_())
    assert headings == ["95% interval", "naive interval"]


def test_clusters_are_accuracies_per_psu(data):
    rows = load(data).clusters()
    right = data["y"] == data["yhat"]
    assert [row["accuracy"] for row in rows] == [right[data["u"] == k].mean() for k in range(24)]
    assert {row["items"] for row in rows} == {5} and rows[3]["stratum"] == "1"
    assert len(load(data, psu="").clusters()) == 12


@pytest.mark.parametrize(
    ("change", "metrics", "message"),
    [
        ({"truth": "q"}, "accuracy", "no column 'q'"),
        ({"truth": ""}, "accuracy", "truth must name a column"),
        (
            {"positive": "maybe"},
            "f1",
            "positive must be a class of the truth; got 'maybe', available are no, yes",
        ),
        ({"positive": ""}, "auc", "auc needs the positive class: set positive to one of no, yes"),
        ({"prediction": ""}, "accuracy", "accuracy needs a prediction: name its column"),
        ({"score": ""}, "auc", "auc needs a score: name its column"),
        (
            {},
            "accuracy g1",
            "'median', 'mean', 'proportion', 'auc', 'identified', 'mean_rank'; got 'g1'",
        ),
        ({}, "", "metrics must name at least one of accuracy, precision, recall, f1, macro_f1, "),
        (
            {"prediction": "p"},
            "accuracy",
            "truth and prediction must both be text or both numbers; column 'y' '",
        ),
        ({"psu": "g"}, "accuracy", "psu must lie in one stratum; "),
    ],
)
def test_mistakes_are_named(data, change, metrics, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        wb.estimate_metrics(load(data, **change), metrics)
    assert message in str(caught.value)


@pytest.mark.parametrize("wrong", [None, {"truth": [1, 0]}, [1, 0]])
def test_other_objects_are_refused_by_name(wrong):
    with pytest.raises(
        TypeError, match=f"^items must be of class LabeledItems; got {type(wrong).__name__}$"
    ):
        wb.estimate_metrics(wrong)


def test_one_item_is_one():
    items = wb.load_labeled({"y": [1], "yhat": [1], "s": [1]}, **NAMES)
    assert repr(items) == "LabeledItems(1 labeled item, 1 class)"


def test_lone_psus_are_collapsed_on_request(data):
    data["s"] = np.where(data["u"] == 5, 99, data["s"])
    with pytest.raises(ValueError, match="2, 99 hold 1"):
        wb.estimate_metrics(load(data), "accuracy")
    audit = wb.estimate_metrics(load(data), "accuracy", collapse="2=3, 99=3")
    assert (
        audit.design
        == "120 items, 24 PSUs in 11 strata (10 strata of 2, 1 stratum of 4), 13 degrees of freedom"
    )
    with pytest.raises(ValueError, match="collapse must be pairs such as 'b=a, c=a'; got '99'"):
        wb.estimate_metrics(load(data), "accuracy", collapse="99")
    chained = wb.estimate_metrics(load(data), "accuracy", collapse="99=2, 2=3,")
    assert chained.design == audit.design
    with pytest.raises(
        ValueError, match="collapse must rename strata of the design; '7777' is none of 0, 1"
    ):
        wb.estimate_metrics(load(data), "accuracy", collapse="7777=3")


def test_the_digit_forms_give_the_lesson_figures():
    row = {row["metric"]: row for row in wb.estimate_metrics(wb.digit_forms().labeled()).rows()}
    assert row["accuracy"]["estimate"] == pytest.approx(1576 / 1797)
    assert (row["accuracy"]["naive_low"], row["accuracy"]["naive_high"]) == pytest.approx(
        (0.862, 0.892), abs=5e-4
    )
    assert (row["accuracy"]["low"], row["accuracy"]["high"]) == pytest.approx(
        (0.838, 0.911), abs=1e-3
    )
    assert row["accuracy"]["worth"] == pytest.approx(550, abs=15)
    assert row["f1"]["estimate"] == pytest.approx(0.7688, abs=5e-5)
    assert row["f1"]["naive_high"] - row["f1"]["estimate"] == pytest.approx(1.96 * 0.0235, abs=1e-3)
