"""Labels that no plan drew, against numpy, scipy and repeated random samples."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from thinned import thinned

import workbench as wb
from workbench.audits import random_sample
from workbench.data.scored_items import ScoredItems
from workbench.reports.inputs import stratified
from workbench.reports.inputs.unused import few_values
from workbench.results.limits import LimitReached, printed_limits


def population(size=1500, seed=7):
    """Return scored items of two classes, of which the prediction is right as often as the score says."""
    rng = np.random.default_rng(seed)
    score = rng.beta(4, 1, size)
    prediction = rng.choice(["a", "b"], size)
    right = rng.random(size) < score
    truth = np.where(right, prediction, np.where(prediction == "a", "b", "a"))
    names = [f"i{k}" for k in range(size)]
    return pd.DataFrame({"id": names, "score": score, "prediction": prediction, "truth": truth})


def labeled_in(frame, rows):
    """Return the frame with a column of labels in some rows."""
    return frame.assign(label=frame.truth.where(frame.index.isin(rows)))


def read(frame, truth="label", **options):
    return wb.read_scores(
        frame, score="score", prediction="prediction", truth=truth, id="id", **options
    )


@pytest.fixture
def frame():
    rows = np.random.default_rng(3).choice(1500, 103, replace=False)
    return labeled_in(population(), rows)


def post_stratified(frame, cuts):
    """Return the accuracy weighted by the sizes of quantile groups of the score, computed by pandas alone."""
    group = pd.qcut(frame.score, cuts, labels=False)
    right = (frame.label == frame.prediction)[frame.label.notna()]
    rates = right.groupby(group[frame.label.notna()]).mean()
    return float((group.value_counts(normalize=True).sort_index() * rates).sum())


def test_labels_in_some_rows_are_post_stratified_by_score(frame):
    audit = wb.accuracy_audit(read(frame))
    assert audit.estimate.estimate == pytest.approx(post_stratified(frame, 5))
    assert audit.labeled.sum() == 103 and audit.stratum_size.tolist() == [300] * 5
    truth = (frame.truth == frame.prediction).mean()
    assert audit.confidence_interval.low < truth < audit.confidence_interval.high
    assert audit.finding().startswith(
        "This assumes that the 103 labeled items are a random sample of all 1,500. Accuracy "
    )
    assert audit.mode == "analyzed"
    assert "say how the labeled items were chosen" in audit.next_step()
    assert "labels that were not sampled by a plan, counted within 5 strata" in audit.basis()
    note = next(
        note for note in audit.notes if note.kind == "assumption" and "random sample" in note.text
    )
    assert note.text.startswith("the 103 labeled items were not sampled by a plan")


@pytest.mark.parametrize("in_sheet", [False, True])
def test_labels_of_one_true_class_are_refused(in_sheet, tmp_path):
    frame = population()
    rows = frame.index[frame.truth == "a"][:60]
    labeled = labeled_in(frame, rows)
    others = (frame.prediction[rows] == "b").sum()
    message = f"^each of the 60 labels is 'a', but {others} of these items are predicted as another"
    if not in_sheet:
        items = read(labeled, score_is="confidence")
        options = {}
        with pytest.raises(ValueError, match=message):
            wb.class_audit(items, "a")
    else:
        sheet = labeled.loc[rows, ["id", "label"]].rename(columns={"label": "truth"})
        sheet.to_csv(tmp_path / "sheet.csv", index=False)
        items = read(frame, truth=None, score_is="confidence")
        options = {"labels": str(tmp_path / "sheet.csv")}
    with pytest.raises(ValueError, match=message):
        wb.accuracy_audit(items, **options)


def test_labels_of_one_class_that_is_always_predicted_are_not_refused():
    frame = population().assign(prediction="a", truth="a")
    frame.loc[:9, "prediction"] = "b"
    audit = wb.accuracy_audit(read(labeled_in(frame, range(700, 720))))
    assert audit.estimate.estimate == 1


@pytest.mark.parametrize("wrong", [1, 6])
def test_a_few_false_alarms_in_a_sample_without_the_rare_class_are_noted(wrong):
    assert stats.binom.cdf(0, random_sample.ALL_WRONG, 0.5) < 0.01
    frame = population().assign(prediction="a", truth="a")
    frame.loc[700 : 699 + wrong, "prediction"] = "b"
    audit = wb.accuracy_audit(read(labeled_in(frame, range(600, 800)), score_is="confidence"))
    assert audit.estimate.estimate < 1
    others = "1 of these items is" if wrong == 1 else f"{wrong} of these items are"
    text = f"each of the 200 labels is 'a', but {others} predicted as another class. If only"
    assert [note.kind for note in audit.notes if note.text.startswith(text)] == ["unreliable"]


def test_a_sample_of_a_rare_class_is_refused_only_if_it_was_chosen_by_class():
    rng = np.random.default_rng(3)
    prediction = rng.permutation(np.repeat(["fraud", "ok"], [300, 2700]))
    is_fraud = (prediction == "fraud") & (rng.random(3000) < 0.05)
    frame = population(3000).assign(prediction=prediction, truth=np.where(is_fraud, "fraud", "ok"))
    samples = 0
    for seed in range(60):
        rows = np.random.default_rng(seed).choice(3000, 150, replace=False)
        if (frame.truth[rows] == "ok").all():
            items = read(labeled_in(frame, rows), score_is="confidence")
            with printed_limits(), pytest.warns(LimitReached, match="150 labels is 'ok', but"):
                audit = wb.accuracy_audit(items)
            assert any("labels is 'ok'" in note.text for note in audit.notes)
            samples += (frame.prediction[rows] == "fraud").sum() >= random_sample.ALL_WRONG
    assert samples > 10
    frame.loc[frame.index % 2 == 0, "truth"] = frame.prediction
    frame.loc[frame.index % 20 == 1, "truth"] = "fraud"
    rows = frame.index[frame.truth == "fraud"][:200]
    items = read(labeled_in(frame, rows), score_is="confidence")
    with pytest.raises(ValueError, match="^each of the 200 labels is 'fraud', but"):
        wb.accuracy_audit(items)


@pytest.mark.parametrize(("first", "others", "labels"), [(300, 16, 20), (1000, 8, 68)])
def test_labels_of_a_class_are_refused_if_few_items_or_too_many_labels_are_so_predicted(
    first, others, labels
):
    frame = population().assign(prediction="b", truth="a")
    frame.loc[: first - 1, "prediction"] = "a"
    rows = range(first + others - labels, first + others)
    items = read(labeled_in(frame, rows), score_is="confidence")
    with pytest.raises(ValueError, match=f"^each of the {labels} labels is 'a', but {others}"):
        wb.accuracy_audit(items)


def test_more_labels_of_items_of_a_rare_predicted_class_are_not_refused():
    frame = population().assign(prediction="a", truth="a")
    frame.loc[:149, "prediction"] = "b"
    audit = wb.accuracy_audit(read(labeled_in(frame, range(110, 200)), score_is="confidence"))
    assert any("40 of these items are predicted as another" in note.text for note in audit.notes)


@pytest.mark.parametrize(
    ("labels", "strata"), [(12, 1), (39, 1), (40, 2), (199, 9), (400, 10), (1499, 10)]
)
def test_a_stratum_has_about_twenty_labels_or_more(labels, strata):
    rows = np.random.default_rng(labels).choice(1500, labels, replace=False)
    audit = wb.accuracy_audit(read(labeled_in(population(), rows)))
    assert audit.labeled.size == strata and audit.labeled.min() >= random_sample.LEAST_LABELS


@pytest.mark.parametrize("column", ["label", "correct"])
def test_a_sheet_without_a_plan_says_the_same_as_the_column(frame, tmp_path, column):
    sheet = frame[frame.label.notna()]
    answers = {
        "label": ("truth", sheet.label),
        "correct": ("correct", (sheet.label == sheet.prediction).astype(int)),
    }
    name, cells = answers[column]
    path = tmp_path / "sheet.csv"
    pd.DataFrame({"id": sheet.id, name: cells}).to_csv(path, index=False)
    items = wb.read_scores(
        frame, score="score", prediction="prediction", id="id", score_is="confidence"
    )
    found, known = (
        wb.accuracy_audit(items, labels=str(path)),
        wb.accuracy_audit(read(frame, score_is="confidence")),
    )
    assert found.estimate.estimate == known.estimate.estimate and found.premise == known.premise
    assert found.row_counts == {"labeled": 103} and found.unlabeled == ()


@pytest.mark.parametrize("name", ["prediction", "Yhat"])
def test_a_sheet_of_another_models_predictions_is_refused(frame, tmp_path, name):
    sheet = frame[frame.label.notna()]
    shown = sheet.prediction.where(np.arange(103) >= 30, "b")
    correct = (sheet.label == sheet.prediction).astype(int)
    path = tmp_path / "sheet.csv"
    pd.DataFrame({"id": sheet.id, name: shown, "correct": correct}).to_csv(path, index=False)
    items = read(frame, truth=None, score_is="confidence")
    differing = (shown != sheet.prediction).sum()
    with pytest.raises(ValueError, match=f"than the items in {differing} of 103 labeled rows"):
        wb.accuracy_audit(items, labels=str(path), source={"prediction": name})


def test_a_file_of_all_items_skipped_none_of_them(frame, tmp_path):
    path = tmp_path / "all.csv"
    frame.drop(columns="truth").rename(columns={"label": "truth"}).to_csv(path, index=False)
    items = wb.read_scores(
        frame, score="score", prediction="prediction", id="id", score_is="confidence"
    )
    found = wb.accuracy_audit(items, labels=str(path))
    assert found.estimate.estimate == wb.accuracy_audit(read(frame)).estimate.estimate
    assert (
        found.row_counts == {"labeled": 103, "without a label": 1397}
        and found.skipped == found.unlabeled == ()
    )


def test_rows_of_a_sample_that_stay_empty_may_have_any_label(frame, tmp_path):
    path = tmp_path / "sheet.csv"
    sheet = frame[frame.label.notna()].drop(columns="truth").rename(columns={"label": "truth"})
    sheet.assign(truth=sheet.truth.where(sheet.index != sheet.index[0]))[["id", "truth"]].to_csv(
        path, index=False
    )
    items = wb.read_scores(
        frame, score="score", prediction="prediction", id="id", score_is="confidence"
    )
    found = wb.accuracy_audit(items, labels=str(path))
    low, high = found.estimate.bounds
    assert high - low == pytest.approx(
        300 / 1500 / (found.labeled + found.estimate.skipped)[found.estimate.skipped == 1][0]
    )
    assert found.skipped == (sheet.id.iloc[0],)


def test_metrics_of_a_class_are_counted_within_its_prediction(frame):
    found = wb.class_audit(read(frame), "a")
    labeled = frame[frame.label.notna()]
    weight = {}
    for name in "ab":
        group = pd.qcut(frame.score[frame.prediction == name].rank(method="first"), 2, labels=False)
        part = labeled[labeled.prediction == name]
        rates = (part.label == name).groupby(group[part.index]).mean()
        sizes = group.value_counts().sort_index()
        weight[name] = float((sizes * rates).sum()), int(sizes.sum())
    hits, members = weight["a"]
    missed = weight["b"][1] - weight["b"][0]
    assert found.metrics.precision == pytest.approx(hits / members, abs=0.02)
    assert found.metrics.recall == pytest.approx(hits / (hits + missed), abs=0.02)
    assert found.finding().startswith(
        "This assumes that the 103 labeled items are a random sample of all 1,500. Class a: "
    )


def test_two_models_are_compared_by_the_labels_where_they_differ(frame):
    other = np.where(
        np.arange(1500) % 3 == 0, np.where(frame.prediction == "a", "b", "a"), frame.prediction
    )
    items = read(frame.assign(rival=other), rival="rival")
    found = wb.difference_audit(items, source={"prediction": "prediction", "rival": "rival"})
    labeled = frame[frame.label.notna() & (frame.prediction != other)]
    right = (labeled.label == labeled.prediction).astype(int)
    assert found.labeled.sum() == len(labeled) and found.stratum_size.sum() == 500
    assert found.difference.estimate == pytest.approx((2 * right.mean() - 1) * 500 / 1500, abs=0.01)
    assert found.premise == (
        f"This assumes that the {len(labeled)} labeled items are a random sample of all 500 items "
        "on which the models differ. "
    )
    assert found.finding().startswith(found.premise)
    notes = " ".join(wb.sentences(found.notes))
    assert "labels of items on which the models agree are not used" in notes


def test_labels_only_where_models_agree_are_refused(frame):
    other = frame.prediction.where(frame.label.notna() | (frame.index % 2 == 0), "a")
    with pytest.raises(
        ValueError, match=r"0 items have a label among the \d+ items on which the models differ"
    ):
        wb.difference_audit(read(frame.assign(rival=other), rival="rival"))


def test_only_predicted_members_labeled_leave_accuracy_and_recall_open(frame):
    items = read(frame.assign(label=frame.label.where(frame.prediction == "a")))
    labeled = frame[frame.label.notna() & (frame.prediction == "a")]
    with pytest.raises(ValueError, match=r"^none of the \d+ items predicted 'b' has a label"):
        wb.accuracy_audit(items)
    found = wb.class_audit(items, "a")
    assert (
        found.metrics.bounds("precision")[0]
        == found.metrics.bounds("precision")[1]
        == pytest.approx((labeled.label == "a").mean(), abs=0.03)
    )
    low, high = found.metrics.bounds("recall")
    assert low < 0.6 and high == 1 and found.limits[1].high == 1
    assert (
        found.finding().startswith("None of the ")
        and "so recall, F1 and accuracy are unknown" in found.premise
    )
    assert [note.kind for note in found.notes if "has a label" in note.text] == ["undefined"]
    opposite = wb.class_audit(items, "b")
    assert "so precision, recall, F1 and accuracy are unknown" in opposite.premise
    assert opposite.metrics.bounds("precision") == (0, 1)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (lambda frame: frame.score < 0.7, r"items with a score above 0\.\d+"),
        (lambda frame: frame.score > 0.8, r"items with a score below 0\.\d+"),
        (
            lambda frame: (frame.score - 0.8).abs() > 0.12,
            r"items with a score from 0\.\d+ to 0\.\d+",
        ),
        (lambda frame: frame.prediction == "b", "items predicted 'a'"),
    ],
)
def test_a_part_without_any_label_is_refused(chosen, words):
    frame = population()
    rows = np.random.default_rng(5).choice(np.flatnonzero(chosen(frame)), 120, replace=False)
    with pytest.raises(
        ValueError,
        match=rf"^none of the [\d,]+ {words} has a label \(120 labels of 1,500 items\). "
        "So the labeled rows are not a random sample of the file",
    ):
        wb.accuracy_audit(read(labeled_in(frame, rows)))


def test_a_given_stratum_without_any_label_is_refused(frame):
    region = np.where(np.arange(1500) < 500, "north", "south")
    items = read(
        frame.assign(region=region, label=frame.label.where(region == "south")), by="region"
    )
    with pytest.raises(ValueError, match="^none of the 500 items of stratum 'north' has a label"):
        wb.accuracy_audit(items)
    found = wb.accuracy_audit(read(frame.assign(region=region), by="region"))
    right = (
        (frame.label == frame.prediction)[frame.label.notna()]
        .groupby(region[frame.label.notna()])
        .mean()
    )
    assert found.estimate.estimate == pytest.approx(
        (500 * right["north"] + 1000 * right["south"]) / 1500
    )


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_labels_are_refused(frame, count):
    rows = np.flatnonzero(frame.label.notna())[:count]
    with pytest.raises(
        ValueError,
        match="must be a column with at least one label|1 item has a label among the 1,500 items",
    ):
        wb.accuracy_audit(read(labeled_in(frame, rows)))


def test_predicted_members_that_were_labeled_more_often_are_weighted_back():
    frame = population(4000)
    frame["prediction"] = np.where(frame.index < 400, "a", "b")
    frame["truth"] = np.where(
        np.random.default_rng(1).random(4000) < np.where(frame.index < 400, 0.6, 0.97),
        frame.prediction,
        np.where(frame.prediction == "a", "b", "a"),
    )
    rng = np.random.default_rng(2)
    rows = [*rng.choice(400, 80, replace=False), *(400 + rng.choice(3600, 80, replace=False))]
    audit = wb.accuracy_audit(read(labeled_in(frame, rows), score_is="confidence"))
    truth = (frame.truth == frame.prediction).mean()
    alone = (frame.truth == frame.prediction)[rows].mean()
    assert alone < 0.84 and abs(audit.estimate.estimate - truth) < 0.03 < truth - alone
    assert audit.finding().startswith(
        "The 160 labeled items do not look like a random sample of all 4,000 ("
    )
    assert "50.0% of them are predicted 'a', 10.0% of all items" in audit.premise
    assert next(note for note in audit.notes if "random sample" in note.text).kind == "unreliable"


def test_the_test_of_likeness_is_exact_for_two_classes():
    prediction = np.repeat(["a", "b"], [300, 700])
    items = ScoredItems(None, np.full(1000, 0.5), prediction)
    index = np.r_[0:30, 300:310]
    tail = stats.hypergeom.sf(29, 1000, 300, 40)
    found = random_sample.likeness(items, index)
    assert found.pvalue == pytest.approx(4 * tail) and found.differs and found.by_class
    assert random_sample.likeness(items, np.arange(1000)).pvalue == 1


@thinned("samples", few=60, whole=2000)
@pytest.mark.parametrize("labels", [15, 60, 150])
def test_intervals_of_random_samples_cover_and_few_samples_are_suspected(samples, labels):
    frame = population(3000, seed=11)
    truth = (frame.truth == frame.prediction).to_numpy()
    whole = ScoredItems(None, frame.score.to_numpy(), frame.prediction.to_numpy())
    rng = np.random.default_rng(labels)
    missed = suspected = 0
    for _ in range(samples):
        index = np.sort(rng.choice(3000, labels, replace=False))
        items = dataclasses.replace(whole, labeled=index, labeled_correct=truth[index])
        try:
            audit = wb.accuracy_audit(items)
        except ValueError:  # suspected of leaving out a part: by chance in .1% of samples
            suspected += 1
            continue
        low, high = audit.confidence_interval
        missed += not low <= truth.mean() <= high
        suspected += "do not look like" in audit.premise
    assert missed <= stats.binom.ppf(0.999, samples, 0.06)
    assert suspected <= stats.binom.ppf(0.999, samples, random_sample.UNLIKE + 0.002)


@pytest.mark.parametrize(
    ("labeled", "sizes"),
    [
        ([2, 9, 8, 7], [50, 25, 25]),
        ([0, 0, 0, 9], [100]),
        ([5, 5, 5, 5], [25] * 4),
        ([9, 1, 1, 9], [25, 75]),
        ([9, 4, 9, 3], [50, 50]),
        ([9, 3, 3, 9], [25, 50, 25]),
    ],
)
def test_neighbors_with_few_labels_are_merged(labeled, sizes):
    strata = wb.stratify(np.arange(100.0), 4, "equal_size")
    found = random_sample.coarser(strata, np.array(labeled), np.zeros(4, int))
    counts = np.bincount(found.labels, np.repeat(labeled, 25) / 25)
    assert counts.min() >= min(5, sum(labeled)) and found.sizes.sum() == 100
    assert sorted(found.sizes.tolist()) == sorted(sizes)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_bound_for_few_values_holds_in_all_samples(n):
    values = list("aaabbbccd")
    samples = [np.isin(np.arange(9), each) for each in itertools.combinations(range(9), n)]
    found = [random_sample.reached_values(values, sample) for sample in samples]
    reached = np.array([each.reached for each in found])
    assert reached.tolist() == [len({*np.array(values)[sample]}) for sample in samples]
    assert found[0].total == 4 and found[0].expected <= reached.mean() + 1e-12
    for each in found:
        assert (reached <= each.reached).mean() <= each.pvalue <= 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_bound_for_few_values_holds_in_all_samples_of_strata(n):
    values = list("aaabbbccd")
    strata = np.repeat(["x", "y"], [6, 3])
    samples = [
        np.isin(np.arange(9), [*first, last])
        for first in itertools.combinations(range(6), n)
        for last in range(6, 9)
    ]
    found = [random_sample.reached_values(values, sample, strata) for sample in samples]
    reached = np.array([each.reached for each in found])
    assert found[0].expected <= reached.mean() + 1e-12
    for each in found:
        assert (reached <= each.reached).mean() <= each.pvalue <= 1


def test_a_large_value_without_a_label_is_no_division_by_zero():
    found = random_sample.reached_values([0, 1] * 10_000, np.arange(20_000) % 2 == 0)
    assert (found.reached, found.total) == (1, 2) and found.pvalue < 1e-300


def test_labels_of_whole_clusters_are_noted_and_random_ones_are_not(tmp_path):
    everyone = population().assign(shop=[f"s{k // 30}" for k in range(1500)], day=range(1500))
    for rows, told in (
        (np.random.default_rng(3).choice(1500, 120, replace=False), []),
        (np.arange(300, 420), ["shop"]),
        (np.arange(0, 1500, 2), []),
    ):
        labeled_in(everyone, rows).drop(columns="truth").to_csv(tmp_path / "s.csv", index=False)
        items = read(pd.read_csv(tmp_path / "s.csv"))
        used = ["id", "score", "prediction", "label"]
        notes = few_values(str(tmp_path / "s.csv"), used, items.labeled, items.size)
        assert [*notes] == told
    file, index = str(tmp_path / "s.csv"), np.arange(300, 420)
    labeled_in(everyone, index).drop(columns="truth").to_csv(file, index=False)
    columns = {"score": "score", "prediction": "prediction", "truth": "label", "id": "id"}
    finding = stratified.read(scores=file, score_is="confidence", **columns)[1].finding()
    assert finding.startswith(
        "The labeled items have too few values of 'shop' for a random sample. "
    )
    note = few_values(file, used, index, 1500)["shop"]
    expected = 50 * (1 - stats.hypergeom(1500, 30, 120).pmf(0))
    assert (
        f"only 4 of the 50 values of column 'shop'; a random sample would have about {expected:.0f}"
        in (note.text)
    )


def sampled_strata(tmp_path, columns, rows, strata, path="s.csv"):
    """Write labels of some rows, and return the notes on columns with too few values."""
    everyone = population().assign(**columns)
    labeled_in(everyone, rows).drop(columns="truth").to_csv(tmp_path / path, index=False)
    items = read(pd.read_csv(tmp_path / path), by=strata or None)
    used = ["id", "score", "prediction", "label", strata]
    return few_values(str(tmp_path / path), used, items.labeled, items.size, items.by)


def test_few_values_are_expected_in_strata_of_large_clusters(tmp_path):
    region = np.repeat(["north", "south"], [1200, 300])
    shops = [f"s{k // 12}" if k < 1200 else f"big{k % 5}" for k in range(1500)]
    columns = {"region": region, "shop": shops}
    rng = np.random.default_rng(5)
    rows = [*rng.choice(1200, 24, replace=False), *rng.choice(np.arange(1200, 1500), 96, False)]
    assert [*sampled_strata(tmp_path, columns, rows, "region")] == []
    options = {"scores": str(tmp_path / "s.csv"), "prediction": "prediction", "truth": "label"}
    _, audit = stratified.read(**options, strata_by="region")
    assert not any("values of column 'shop'" in note.text for note in audit.notes)
    assert [*sampled_strata(tmp_path, columns, rows, "")] == ["shop"]
    columns["shop"] = [f"s{k // 30}" for k in range(1500)]
    together = [*range(60), *range(1200, 1260)]
    assert [*sampled_strata(tmp_path, columns, together, "region")] == ["shop"]


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("branch", 9, True),
        ("branch", 4, False),
        ("status", 9, False),
        ("status", 50, True),
        ("batch", 50, False),
        ("Random number", 50, False),
        ("order_id", 50, True),
    ],
)
def test_few_clusters_are_noted_and_batches_of_a_sample_are_not(tmp_path, name, values, told):
    columns = {name: [f"v{k * values // 1500}" for k in range(1500)]}
    notes = sampled_strata(tmp_path, columns, range(120), "")
    assert [*notes] == [name] * told


def test_strata_that_were_sampled_at_different_rates_are_no_gap():
    everyone = population().sort_values("score", ignore_index=True)
    everyone["part"] = [f"part {k // 500}" for k in range(1500)]
    high = everyone.index[everyone["score"] < everyone["score"].quantile(0.94)]
    rows = [*range(0, 500, 5), *range(500, 1000, 20), *high[high >= 1000][:400:80]]
    labeled = labeled_in(everyone, rows)
    with pytest.raises(ValueError, match="none of the .* items with a score above"):
        wb.accuracy_audit(read(labeled))
    wb.accuracy_audit(read(labeled, by="part"))
    top = [*range(300, 500, 2), *range(500, 1000, 20), *range(1000, 1500, 100)]
    with pytest.raises(ValueError, match="none of the 300 items with a score below"):
        wb.accuracy_audit(read(labeled_in(everyone, top), by="part"))
    with pytest.raises(ValueError, match="none of the 500 items of stratum 'part 2' has a label"):
        wb.accuracy_audit(read(labeled_in(everyone, rows[:-5]), by="part"))
