import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn import metrics

import workbench as wb
from workbench.intervals.values import upper_limit
from workbench.stratified.class_metrics import class_metrics, expected_half_widths

ONCE = {"recall": 1, "f1": 2}


@st.composite
def samples(draw):
    n = np.array(draw(st.lists(st.integers(2, 25), min_size=2, max_size=5)))
    size = n + np.array([draw(st.integers(0, 300)) for _ in n])
    predicted = np.arange(n.size) < draw(st.integers(1, n.size - 1))
    return size, predicted, n, np.array([draw(st.integers(0, int(k))) for k in n])


@settings(deadline=None, max_examples=60)
@given(samples())
def test_estimates_are_those_of_the_weighted_labels(sample):
    """Each label stands for N_h / n_h items; scikit-learn counts them."""
    size, predicted, n, correct = sample
    truth, read, weight = [], [], []
    for items, member, labels, right in zip(size, predicted, n, correct, strict=True):
        truth += [int(member)] * right + [1 - int(member)] * (labels - right)
        read += [int(member)] * labels
        weight += [items / labels] * labels
    found = wb.class_metrics(*sample)
    for metric, score in (
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
        ("f1", metrics.f1_score),
    ):
        expected = score(truth, read, sample_weight=weight, zero_division=np.nan)
        assert getattr(found, metric) == pytest.approx(expected, nan_ok=True)


def limit_by_root(found, metric, above, others=(False, True)):
    """The r at which the limit of the weighted mean of its values is one item from 0, by scipy's root finder.

    The limit is the least (greatest) of all outcomes in which some strata have all labels right (wrong), with
    `others` only (False,) that of the outcome alone.
    """
    size, member = found.stratum_size, found.predicted
    best = [0, 1] if above else [1, 0]
    counts = np.array(
        [
            [
                np.multiply(best, n) if moved else (n - x, x)
                for moved, n, x in zip(whole, found.labeled, found.correct, strict=True)
            ]
            for whole in itertools.product(others, repeat=size.size)
        ]
    )
    constant = size[member].sum() / size.sum() if metric == "f1" else 0.0

    def gap(r):
        values = np.where(member[:, None], [0.0, ONCE[metric] - r], [-r, 0.0])
        limit = upper_limit(size, counts, values if above else -values, 0.025)[0].min()
        item = (
            max(
                (
                    ONCE[metric] - r if m else r
                    for m, n, N in zip(member, found.labeled, size, strict=True)
                    if n < N
                ),
                default=0,
            )
            / size.sum()
        )
        return float(limit + item if above else -limit - item) - r * constant

    low, high = 1e-9, 1 - 1e-9
    if gap(low) < 0 or gap(high) > 0:
        return None
    return optimize.brentq(gap, low, high, xtol=1e-12)


@settings(deadline=None, max_examples=60)
@given(samples(), st.sampled_from(["recall", "f1"]))
@example(
    (
        np.array([2, 23, 4, 2]),
        np.array([True, True, False, False]),
        np.array([2, 17, 2, 2]),
        np.array([0, 0, 1, 0]),
    ),
    "recall",
)
def test_inversion_ends_where_the_limit_is_zero(sample, metric):
    found = wb.class_metrics(*sample)
    limits = found.interval(metric)
    for above, limit in ((False, limits.low), (True, limits.high)):
        root, (least, most) = limit_by_root(found, metric, above), proven(found, metric)
        if root is not None and not np.isnan(getattr(found, metric)):
            assert limit == pytest.approx(np.clip(root, least, most), abs=2e-6)


def proven(found, metric):
    """The smallest and largest metric over all ways to complete the labels, written out."""
    size, unseen = found.stratum_size, found.stratum_size - found.labeled
    ends = []
    for good in (False, True):
        right = found.correct + unseen * good
        hits, missed = right[found.predicted].sum(), (size - right)[~found.predicted].sum()
        bottom = (
            hits + missed
            if metric == "recall"
            else (size[found.predicted].sum() + hits + missed) / 2
        )
        ends.append(hits / bottom if bottom else float(good))
    return ends


def test_the_last_unlabeled_items_may_be_what_was_not_seen():
    """10 of 12 labeled, 8 of them missed members: with probability 1/11 these are all, and the interval must hold that.

    Limits that were not rounded outward to whole items left it out.
    """
    found = wb.class_metrics([25_001, 12, 12], [True, False, False], [3, 10, 12], [3, 2, 12])
    assert found.interval("recall").high == pytest.approx(25_001 / 25_009)


def test_a_census_leaves_one_value():
    found = wb.class_metrics([20, 35], [True, False], [20, 35], [15, 30])
    for metric, value in (("precision", 15 / 20), ("recall", 15 / 20), ("f1", 30 / (20 + 20))):
        assert tuple(found.interval(metric)) == pytest.approx((value, value), abs=1e-6)


def test_precision_is_the_accuracy_of_the_predicted_members():
    found = wb.class_metrics([100, 200, 900], [True, True, False], [10, 20, 30], [9, 20, 29])
    assert tuple(found.interval("precision")) == tuple(
        wb.stratified_interval([100, 200], [10, 20], [9, 20])
    )


def coverage(size, predicted, n, share, metric):
    """Exact coverage over all binomial outcomes of a population so large that draws are independent."""
    size, predicted, share = np.array(size), np.array(predicted), np.array(share)
    hits, missed = (size * share)[predicted].sum(), (size * (1 - share))[~predicted].sum()
    truth = (
        hits / (hits + missed)
        if metric == "recall"
        else 2 * hits / (size[predicted].sum() + hits + missed)
    )
    covered = 0.0
    for outcome in itertools.product(*(range(k + 1) for k in n)):
        low, high = wb.class_metrics(size, predicted, n, outcome).interval(metric)
        covered += stats.binom.pmf(outcome, n, share).prod() * (low <= truth <= high)
    return covered


@pytest.mark.parametrize("metric", ["recall", "f1"])
@pytest.mark.parametrize(
    ("n", "share"), [((8, 14), (0.8, 0.97)), ((12, 8), (0.5, 0.9)), ((6, 16), (0.98, 0.96))]
)
def test_recall_and_f1_cover_in_small_designs_by_enumeration(metric, n, share):
    assert coverage([10**8, 9 * 10**8], [True, False], n, share, metric) >= 0.95


def test_what_is_undefined_is_said():
    found = wb.class_metrics([100, 900], [True, False], [20, 30], [0, 30])
    assert np.isnan(found.recall) and found.notes[0].kind == "undefined"
    assert found.notes[0].where == ("metric", "recall")
    assert tuple(found.interval("recall")) == (0, 1)
    all_labeled = wb.class_metrics([20, 30], [True, False], [20, 30], [0, 30])
    assert tuple(all_labeled.interval("recall")) == (0, 1)


def test_a_class_never_predicted_has_no_precision():
    found = wb.class_metrics([900], [False], [50], [47])
    assert np.isnan(found.precision) and found.recall == 0
    assert tuple(found.interval("precision")) == (0, 1) and found.interval("recall").high == 0


@pytest.mark.parametrize(
    ("budget", "expected"),
    [(200, [60, 140]), (5000, [1000, 4000]), (10_000, [1000, 9000]), (9500, [1000, 8500])],
)
def test_three_in_ten_labels_go_to_the_predicted_members(budget, expected):
    assert wb.allocate_to_class([1000, 9000], [True, False], budget).tolist() == expected


def test_each_part_is_spread_in_proportion_and_keeps_its_floor():
    labeled = wb.allocate_to_class([600, 400, 4500, 4500], [True, True, False, False], 100)
    assert labeled.tolist() == [18, 12, 35, 35]
    assert wb.allocate_to_class([600, 400, 4500], [True, True, False], 7).tolist() == [2, 2, 3]
    assert wb.allocate_to_class([600, 400], [False, False], 10).tolist() == [6, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda found: found.interval("accuracy"),
            "metric must be one of 'precision', 'recall', 'f1'; got 'accuracy'",
        ),
        (
            lambda found: found.interval("f1", 95),
            "level must be a number in (0, 1); got 95 (did you mean 0.95?)",
        ),
        (
            lambda found: wb.class_metrics([10], [2], [5], [5]),
            "predicted must be 0 or 1; stratum 0 is 2",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError) as caught:
        call(wb.class_metrics([1000, 9000], [True, False], [60, 140], [51, 138]))
    assert str(caught.value) == message


@pytest.mark.parametrize("metric", ["recall", "f1"])
def test_a_right_label_more_never_lowers_a_limit(metric):
    """Against every outcome with no more, or no fewer, right labels."""
    size, predicted, labeled = [40, 700, 260], [True, False, False], [6, 3, 4]
    grid = list(itertools.product(*(range(n + 1) for n in labeled)))
    samples = {x: wb.class_metrics(size, predicted, labeled, x) for x in grid}
    alone = {
        x: [limit_by_root(found, metric, above, (False,)) for above in (False, True)]
        for x, found in samples.items()
    }
    moved = 0
    for x in [(5, 1, 4), (3, 3, 3), (6, 1, 1), (1, 2, 3), (2, 3, 1)]:
        lower = [alone[y][0] or 0.0 for y in grid if all(a <= b for a, b in zip(y, x, strict=True))]
        higher = [
            1.0 if alone[y][1] is None else alone[y][1]
            for y in grid
            if all(a >= b for a, b in zip(y, x, strict=True))
        ]
        least, most = proven(samples[x], metric)
        assert tuple(samples[x].interval(metric)) == pytest.approx(
            (max(max(lower), least), min(min(higher), most)), abs=2e-6
        )
        moved += max(lower) > (alone[x][0] or 0) + 0.001 or min(higher) < (alone[x][1] or 1) - 0.001
    assert moved >= 2


@pytest.mark.parametrize(
    ("size", "rate", "labeled", "predicted"),
    [
        ([300, 2700], [0.8, 0.99], [60, 140], [True, False]),
        (
            [50, 100, 900, 950],
            [0.6, 0.9, 0.97, 0.999],
            [20, 20, 60, 60],
            [True, True, False, False],
        ),
    ],
)
def test_expected_half_widths_are_the_mean_of_those_of_samples(size, rate, labeled, predicted):
    """Samples drawn here, their intervals as they are reported."""
    right, rng = np.rint(np.multiply(size, rate)).astype(int), np.random.default_rng(5)
    found = [
        class_metrics(
            size, predicted, labeled, rng.hypergeometric(right, np.subtract(size, right), labeled)
        )
        for _ in range(60)
    ]
    expected = expected_half_widths(*map(np.array, (size, predicted, rate, labeled)))
    for metric, width in expected.items():
        widths = [each.interval(metric).half_width for each in found]
        assert width == pytest.approx(np.mean(widths), abs=4 * np.std(widths) / 60**0.5)


def test_the_other_part_keeps_its_floor_whatever_the_share():
    assert wb.allocate_to_class(
        [1000, 9000], [True, False], 10, share=0.95, minimum=4
    ).tolist() == [6, 4]


@pytest.mark.parametrize("rate", [[1, 0], [1, 1], [0, 1]])
def test_where_all_samples_are_alike_their_half_width_is_expected(rate):
    size, labeled = np.array([100, 900]), np.array([30, 40])
    found = wb.class_metrics(size, [True, False], labeled, labeled * rate).interval("recall")
    expected = expected_half_widths(size, np.array([True, False]), np.array(rate, float), labeled)
    assert expected["recall"] == pytest.approx(found.half_width, abs=2 / 2**10)


def test_a_limit_goes_on_to_where_that_of_any_other_outcome_is_zero():
    found = wb.class_metrics([2, 23, 4, 2], [True, True, False, False], [2, 17, 2, 2], [0, 0, 1, 0])
    low, high = found.interval("recall")
    alone, others = (
        limit_by_root(found, "recall", True, outcomes) for outcomes in ((False,), (False, True))
    )
    assert high == pytest.approx(others, abs=2e-6) and low == proven(found, "recall")[0]
    assert others < alone - 0.005
