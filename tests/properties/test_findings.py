"""Estimates lie within their intervals, limits within what can be, and pictures show the numbers of the text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.charts.stratified import audits as charts
from workbench.data.scored_items import ScoredItems
from workbench.results.digits import percents
from workbench.stratified.class_metrics import METRICS, class_metrics
from workbench.stratified.differences import paired_difference

levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])


@st.composite
def strata(draw, most=4):
    rows = []
    for _ in range(draw(st.integers(1, most))):
        size = draw(st.integers(2, 5000))
        n = draw(st.integers(2, min(size, 60)))
        rows.append((size, n, draw(st.integers(0, n))))
    return tuple(np.array(rows).T)


@settings(deadline=None, max_examples=60)
@given(strata(), levels, st.sampled_from(["default", "short", "guaranteed", "wilson", "wald"]))
def test_an_accuracy_lies_within_its_interval_and_within_what_the_labels_prove(
    sample, level, method
):
    size, labeled, correct = sample
    found = wb.stratified_accuracy(size, labeled, correct)
    limits = found.interval(level, method)
    assert 0 <= limits.low <= found.estimate + 1e-9 and found.estimate - 1e-9 <= limits.high <= 1
    if method not in ("wald", "wilson"):
        unseen = size.sum() - labeled.sum()
        assert correct.sum() / size.sum() - 1e-9 <= limits.low
        assert limits.high <= (correct.sum() + unseen) / size.sum() + 1e-9


@settings(deadline=None, max_examples=40)
@given(strata(), strata(), levels)
def test_metrics_of_a_class_lie_within_their_intervals(members, others, level):
    size, labeled, correct = (np.concatenate(pair) for pair in zip(members, others, strict=True))
    predicted = np.arange(size.size) < members[0].size
    found = class_metrics(size, predicted, labeled, correct)
    for metric in METRICS:
        limits, estimate = found.interval(metric, level), getattr(found, metric)
        assert 0 <= limits.low <= limits.high <= 1
        if np.isnan(estimate):
            assert ("undefined", ("metric", metric)) in {
                (note.kind, note.where) for note in found.notes
            }
        else:
            assert limits.low - 1e-9 <= estimate <= limits.high + 1e-9


@settings(deadline=None, max_examples=40)
@given(strata(), st.integers(0, 3000), st.randoms(use_true_random=False), levels)
def test_a_difference_lies_within_its_interval_and_within_the_share_that_differs(
    sample, agreeing, random, level
):
    size, labeled, only_a = sample
    only_b = np.array([random.randint(0, int(rest)) for rest in labeled - only_a])
    found = paired_difference(
        size, np.stack([only_b, labeled - only_a - only_b, only_a], 1), agreeing=agreeing
    )
    limits, differing = found.interval(level), size.sum() / (size.sum() + agreeing)
    assert -differing - 1e-9 <= limits.low <= found.estimate + 1e-9
    assert found.estimate - 1e-9 <= limits.high <= differing + 1e-9


@settings(deadline=None, max_examples=40)
@given(strata(), st.randoms(use_true_random=False), levels)
def test_a_mean_of_values_lies_within_its_interval_and_its_bounds(sample, random, level):
    size, labeled, _ = sample
    names = [f"s{h}" for h in range(size.size)]
    values = [random.choice([0.0, 1.0, random.random()]) for _ in range(labeled.sum())]
    table = wb.load_strata({"stratum": names, "size": size, "sd": np.ones(size.size)})
    found = wb.estimate_values(table, np.repeat(names, labeled), values, bounds=(0, 1))
    limits = found.interval(level)
    assert (
        -1e-9 <= limits.low <= found.estimate + 1e-9
        and found.estimate - 1e-9 <= limits.high <= 1 + 1e-9
    )
    free = wb.estimate_values(table, np.repeat(names, labeled), values).interval(level)
    assert free.low - 1e-9 <= found.estimate <= free.high + 1e-9 and (
        np.isfinite(free.low) or any(note.kind == "refused" for note in free.notes)
    )


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.integers(8, 120), st.booleans())
def test_pictures_show_the_numbers_of_the_text(seed, labels, in_some_rows):
    rng = np.random.default_rng(seed)
    score, prediction = rng.random(400), rng.choice(["a", "b"], 400)
    truth = np.where(rng.random(400) < score, prediction, np.where(prediction == "a", "b", "a"))
    index = np.sort(rng.choice(400, labels, replace=False))
    known = (
        {
            "labeled": index,
            "labeled_truth": truth[index],
            "labeled_correct": (truth == prediction)[index],
        }
        if in_some_rows
        else {"truth": truth, "correct": truth == prediction}
    )
    items = ScoredItems(None, score, prediction, **known)
    try:
        audit = wb.accuracy_audit(items, labels)
    except ValueError as error:
        assert in_some_rows and "has a label" in str(error)
        return
    (limits,) = charts.finding(audit).data["limits"]
    shown = percents(
        audit.estimate.estimate,
        *audit.confidence_interval,
        error=audit.confidence_interval.half_width,
    )
    assert limits["text"] == "{} ({} to {})".format(*shown)
    assert all(text in audit.finding() for text in shown)
    assert (
        sum(row["labels"] for row in charts.audit(audit).data["labels"])
        == audit.labeled.sum()
        == labels
    )
    rates = [row["text"] for row in charts.finding(audit).data["strata"]]
    assert rates == [f"{row['correct']} of {row['labeled']} correct" for row in audit.rows()]


@pytest.mark.parametrize("labels", [30, 200])
def test_pictures_of_a_class_show_the_numbers_of_its_table(labels):
    found = wb.class_audit(wb.digit_forms().items(), "9", labels)
    shown = {row["name"]: (row["low"], row["high"]) for row in charts.finding(found).data["limits"]}
    for row in found.metric_rows():
        if np.isfinite(row["estimate"]):
            assert shown[row["metric"]] == (row["low"], row["high"])
