"""Files whose rows all have a score and a prediction, and only some of them a label."""

import numpy as np
import pytest
import scipy.stats

import workbench as wb

SIZE = 1500


def population(seed=0, size=SIZE):
    """Distinct scores, predictions of two classes, and true classes that agree with chance `score`."""
    rng = np.random.default_rng(seed)
    score = np.sort(rng.uniform(0.5, 1, size))[rng.permutation(size)].round(6)
    prediction = rng.choice(["a", "b"], size)
    right = rng.random(size) < score
    truth = np.where(right, prediction, np.where(prediction == "a", "b", "a"))
    return {"id": np.arange(size), "score": score, "prediction": prediction}, truth, right


def some(truth, rows, gap=""):
    cells = np.full(truth.size, gap, object)
    cells[rows] = truth[rows]
    return cells


def read(frame, cells, **options):
    names = {"score": "score", "prediction": "prediction", "truth": "label", "id": "id"}
    return wb.read_scores(frame | {"label": cells}, **names | options)


def by_hand(frame, right, rows, strata=5):
    """The post-stratified accuracy: strata of equal size by score, each with the accuracy of its labels."""
    order = np.argsort(frame["score"])
    return sum(
        part.size / order.size * right[np.intersect1d(part, rows)].mean()
        for part in np.array_split(order, strata)
    )


def test_the_labeled_rows_are_poststratified_by_score():
    frame, truth, right = population()
    rows = np.random.default_rng(1).choice(SIZE, 103, replace=False)
    items = read(frame, some(truth, rows))
    assert items.labeled.tolist() == sorted(rows) and items.truth is None and items.correct is None
    audit = wb.accuracy_audit(items)
    assert audit.labeled.sum() == 103 and audit.stratum_size.tolist() == [300] * 5
    assert audit.estimate.estimate == pytest.approx(by_hand(frame, right, rows))
    assert audit.estimate.estimate != pytest.approx(right[rows].mean(), abs=1e-4)
    low, high = audit.confidence_interval
    assert low < audit.estimate.estimate < high
    assert audit.finding().startswith(
        "This assumes that the 103 labeled items are a random sample of all 1,500. Accuracy "
    )
    assert any(
        note.kind == "assumption" and "not sampled by a plan" in note.text for note in audit.notes
    )


@pytest.mark.parametrize("gap", ["", "NA", "-", "unlabeled", "nan", None, float("nan")])
def test_every_word_for_no_label(gap):
    frame, truth, right = population(2, 300)
    rows = np.arange(0, 300, 3)
    audit = wb.accuracy_audit(read(frame, some(truth, rows, gap)))
    assert audit.labeled.sum() == 100
    assert audit.estimate.estimate == pytest.approx(by_hand(frame, right, rows))


def test_a_class_called_none_stays_a_class():
    frame, truth, _ = population(3, 60)
    named = {"a": "none", "b": "some"}
    frame["prediction"] = np.vectorize(named.get)(frame["prediction"])
    items = read(frame, np.vectorize(named.get)(truth))
    assert items.labeled is None and items.truth is not None


def test_right_or_wrong_in_some_rows():
    frame, _, right = population(4, 400)
    rows = np.random.default_rng(4).choice(400, 80, replace=False)
    cells = some(right.astype(int).astype(str), rows)
    items = wb.read_scores({"p": frame["score"], "ok": cells}, score="p", truth="ok")
    audit = wb.accuracy_audit(items)
    assert audit.estimate.estimate == pytest.approx(by_hand(frame, right, rows, 4))


def test_metrics_of_a_class():
    """Given enough labels: precision within its members, recall by both parts, as the labels say it."""
    frame, truth, _ = population(5)
    rows = np.random.default_rng(5).choice(SIZE, 400, replace=False)
    audit = wb.class_audit(read(frame, some(truth, rows)), "a", n_strata=1)
    member, positive = frame["prediction"] == "a", truth == "a"
    labeled = np.isin(np.arange(SIZE), rows)
    precision = positive[member & labeled].mean()
    missed = positive[~member & labeled].mean() * (~member).sum()
    hits = precision * member.sum()
    assert audit.metrics.precision == pytest.approx(precision)
    assert audit.metrics.recall == pytest.approx(hits / (hits + missed))
    assert audit.finding().startswith("This assumes that the 400 labeled items are a random sample")


def test_the_difference_of_two_models():
    frame, truth, right = population(6)
    rng = np.random.default_rng(6)
    other = np.where(
        rng.random(SIZE) < 0.3, np.where(frame["prediction"] == "a", "b", "a"), frame["prediction"]
    )
    rows = rng.choice(SIZE, 300, replace=False)
    items = read(frame | {"second": other}, some(truth, rows), rival="second")
    audit = wb.difference_audit(items)
    assert "random sample" in audit.finding()
    differ = frame["prediction"] != other
    gain = right.astype(int) - (other == truth)
    by_labels = gain[np.intersect1d(rows, np.flatnonzero(differ))].mean() * differ.mean()
    low, high = audit.confidence_interval
    assert low < by_labels < high and low < audit.difference.estimate < high


def test_labels_of_predicted_positives_alone_show_no_accuracy():
    frame, truth, _ = population(7)
    rows = np.flatnonzero(frame["prediction"] == "a")[:120]
    with pytest.raises(ValueError, match="'b'"):
        wb.accuracy_audit(read(frame, some(truth, rows)))


def test_the_easy_items_alone_show_no_accuracy():
    frame, truth, _ = population(8)
    rows = np.flatnonzero(frame["score"] > 0.8)[:120]
    with pytest.raises(ValueError, match="score below"):
        wb.accuracy_audit(read(frame, some(truth, rows)))


def test_labels_that_lean_to_easy_items_are_told():
    frame, truth, _ = population(9)
    rng = np.random.default_rng(9)
    chance = frame["score"] ** 3
    rows = rng.choice(SIZE, 150, replace=False, p=chance / chance.sum())
    labeled = np.isin(np.arange(SIZE), rows)
    assert scipy.stats.ks_2samp(frame["score"][labeled], frame["score"][~labeled]).pvalue < 0.001
    audit = wb.accuracy_audit(read(frame, some(truth, rows)))
    assert "do not look like a random sample" in audit.finding()
    assert any(
        note.kind == "unreliable" and "not sampled by a plan" in note.text for note in audit.notes
    )


@pytest.mark.parametrize("labels", [1, 0])
def test_too_few_labels(labels):
    frame, truth, _ = population(10, 200)
    with pytest.raises(ValueError, match="label"):
        wb.accuracy_audit(read(frame, some(truth, np.arange(labels))))


def test_all_or_none_of_the_labels_are_as_before():
    frame, truth, right = population(11, 200)
    known = wb.accuracy_audit(read(frame, truth), 100)
    assert known.mode == "simulated" and known.truth == pytest.approx(right.mean())


def test_no_interval_is_off_its_share():
    """Random samples of a fixed population: the interval holds the accuracy in 93% of samples or more."""
    frame, truth, right = population(12, 600)
    rng = np.random.default_rng(12)
    held = []
    for _ in range(120):
        rows = rng.choice(600, 60, replace=False)
        low, high = wb.accuracy_audit(read(frame, some(truth, rows))).confidence_interval
        held.append(low <= right.mean() <= high)
    error = (0.95 * 0.05 / len(held)) ** 0.5
    assert np.mean(held) > 0.95 - 3 * error
