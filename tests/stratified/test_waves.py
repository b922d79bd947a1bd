import itertools
import math
import re

import numpy as np
import pytest
from oracles import default_interval, waves
from refusals import refused
from scipy import stats

from workbench.results import Note, sentences
from workbench.stratified.waves import OPT_NOTE, next_wave, wave_accuracy, wave_limits

# exact enumeration


@pytest.mark.parametrize(
    "size, right, first, budget, rule",
    [
        ([6, 8], [4, 5], [2, 2], 6, {}),
        ([6, 8], [2, 8], [2, 2], 6, {"floor": 0.0, "smoothing": 0.5}),
        ([5, 7, 6], [5, 3, 4], [2, 2, 2], 7, {}),
        ([7, 9], [6, 3], [2, 3], 6, {"stratum_score": [0.9, 0.5], "smoothing": 1.0, "floor": 0.0}),
    ],
)
def test_two_waves_are_exactly_unbiased(size, right, first, budget, rule):
    """Every history of wave 1, the allocation it causes, and wave 2, by hypergeometric probabilities."""
    truth, seen = sum(right) / sum(size), set()

    def allocate(labeled, correct, t):
        new = first if t == 0 else next_wave(size, labeled, correct, budget, **rule).labeled
        seen.add((t, tuple(int(n) for n in new)))
        return new

    total = mean = square = claim = 0.0
    for p, labeled, correct in waves.histories(size, right, allocate, 2):
        found = wave_accuracy(size, labeled, correct)
        expected = waves.estimate(size, labeled, correct)
        assert (found.estimate, found.variance) == pytest.approx(expected, abs=1e-12)
        total, mean, claim = total + p, mean + p * found.estimate, claim + p * found.variance
        square += p * (found.estimate - truth) ** 2
    assert total == pytest.approx(1, abs=1e-9)
    assert len({new for t, new in seen if t}) > 1
    assert mean == pytest.approx(truth, abs=1e-9)
    assert claim == pytest.approx(square, abs=1e-9)


def test_three_waves_are_exactly_unbiased():
    size, right = [7, 8], [5, 7]

    def allocate(labeled, correct, t):
        return [2, 2] if t == 0 else next_wave(size, labeled, correct, 5 if t == 1 else 4).labeled

    moments = np.zeros(3)
    for p, labeled, correct in waves.histories(size, right, allocate, 3):
        found = wave_accuracy(size, labeled, correct)
        moments += p * np.array([found.estimate, found.variance, (found.estimate - 12 / 15) ** 2])
    assert moments[0] == pytest.approx(12 / 15, abs=1e-9) and moments[1] == pytest.approx(
        moments[2], abs=1e-9
    )


def test_pooling_the_waves_or_the_papers_rule_is_biased_there():
    """The same enumeration tells the wave estimate from pooled counts, and Kumar & Raj 2016's OPT-A1 is biased."""
    size, right, bias = [20, 30], [17, 24], {}
    for rule in ("smoothed", "opt"):

        def allocate(labeled, correct, t, rule=rule):
            return [3, 3] if t == 0 else next_wave(size, labeled, correct, 8, rule=rule).labeled

        bias[rule] = 0.0
        for p, labeled, correct in waves.histories(size, right, allocate, 2):
            n, x = np.sum(labeled, 0), np.sum(correct, 0)
            bias[rule] += p * ((np.array(size) * x / n).sum() / 50 - 41 / 50)
    assert abs(bias["smoothed"]) > 1e-5
    assert bias["opt"] > 0.002


# the next wave


def test_the_smoothed_rule_by_hand():
    """Prior (8 + 1)/(10 + 2) = .75; p = (3 + 3)/9 and (5 + 3)/9; 30% in proportion to size."""
    p = np.array([6, 8]) / 9
    spread = np.sqrt(p * (1 - p))
    share = 0.7 * spread / spread.sum() + 0.3 * 0.5
    assert (
        next_wave([100, 100], [5, 5], [3, 5], 20).labeled.tolist()
        == np.round(20 * share).tolist()
        == [11, 9]
    )
    scored = next_wave(
        [100, 300], [4, 4], [4, 2], 100, stratum_score=[0.9, 0.6], smoothing=2.0, floor=0.5
    ).labeled
    p = np.array([5.8, 3.2]) / 6
    spread = np.array([100, 300]) * np.sqrt(p * (1 - p))
    assert scored == pytest.approx(
        100 * (0.5 * spread / spread.sum() + 0.5 * np.array([0.25, 0.75])), abs=1
    )


def test_equation_9_of_the_paper_by_hand():
    """S^2 = n/(n-1) p (1 - p): strata of 2 of 4 and 3 of 4 right share 14 labels as 100 sqrt(1/3) to 200 sqrt(1/4)."""
    spread = np.array([100 * math.sqrt(1 / 3), 200 * math.sqrt(1 / 4)])
    found = next_wave([100, 200], [4, 4], [2, 3], 14, rule="opt")
    assert found.labeled.tolist() == np.round(14 * spread / spread.sum()).tolist()
    assert found.notes == (OPT_NOTE,)
    # sample variances 2/1 * .25 and 8/7 * .25 share 20 labels as sqrt(.5) to sqrt(.2857)
    assert next_wave([100, 100], [2, 8], [1, 4], 20, rule="opt").labeled.tolist() == [11, 9]
    assert next_wave([100, 100], [5, 5], [3, 5], 20, rule="opt").labeled.tolist() == [20, 0]
    assert next_wave([100, 300], [5, 5], [5, 5], 20, rule="opt").labeled.tolist() == [5, 15]


def test_a_wave_respects_what_is_left_and_its_floor_of_two():
    for labeled, correct in itertools.product(
        ([0, 0, 0], [2, 9, 30], [3, 10, 2]), ([0, 0, 0], [2, 9, 2])
    ):
        correct = np.minimum(labeled, correct)
        left = np.array([3, 10, 100]) - labeled
        for budget in range(int(np.minimum(left, 2).sum()), int(left.sum()) + 1, 5):
            new = next_wave([3, 10, 100], labeled, correct, budget).labeled
            assert (
                new.sum() == budget and (new <= left).all() and (new >= np.minimum(left, 2)).all()
            )


def test_the_papers_rule_respects_what_is_left():
    for labeled, correct in (
        ([2, 2, 2], [1, 1, 1]),
        ([3, 9, 30], [2, 4, 15]),
        ([3, 10, 2], [1, 5, 1]),
    ):
        left = np.array([3, 10, 100]) - labeled
        for budget in range(1, int(left.sum()) + 1, 3):
            new = next_wave([3, 10, 100], labeled, correct, budget, rule="opt").labeled
            assert new.sum() == budget and (new <= left).all()


def test_the_papers_rule_before_the_first_label_is_proportional():
    """Nothing varies yet: in proportion to size, without a numpy warning."""
    assert next_wave([100, 300], [0, 0], [0, 0], 20, rule="opt").labeled.tolist() == [5, 15]


@pytest.mark.parametrize(
    ("argument", "value", "rule", "told"),
    [
        ("budget", 3, "must be a whole number from 4 to 190", "got 3"),
        ("budget", 191, "must be a whole number from 4 to 190", "got 191"),
        ("labeled", [101, 5], "must be at most stratum_size", "stratum 0 has 101 of 100"),
        ("correct", [3, 6], "must be at most labeled", "stratum 1 has 6 of 5"),
        (
            "rule",
            "opt_a1",
            "must be one of 'smoothed', 'opt'",
            "got 'opt_a1' (did you mean 'opt'?)",
        ),
        ("smoothing", 0, "must be a number above 0", "got 0"),
        ("floor", 1.5, "must be a number from 0 to 1", "got 1.5"),
        ("stratum_score", [0.5, 1.5], "must be at most 1", "stratum 1 is 1.5"),
        ("stratum_score", [0.5], "must have 2 entries", "got 1"),
    ],
)
def test_the_exact_errors(argument, value, rule, told):
    given = {"stratum_size": [100, 100], "labeled": [5, 5], "correct": [3, 5], "budget": 20}
    refused(lambda: next_wave(**given | {argument: value}), argument, rule, told)


TWO = "must be at least 2 in every wave and stratum; wave "


@pytest.mark.parametrize(
    ("labeled", "correct", "argument", "rule"),
    [
        ([[5, 5], [1, 5]], [[3, 5], [0, 5]], "labeled", TWO + "1 has 1 in stratum 0, where 95 it"),
        (
            [[5, 9], [5, 0]],
            [[3, 5], [0, 0]],
            "labeled",
            TWO + "1 has 0 in stratum 1, where 1 item w",
        ),
        ([[5, 5], [5, 5]], [[3, 5]], "correct", "must have the shape of labeled, (2, 2)"),
    ],
)
def test_the_exact_errors_of_the_estimate(labeled, correct, argument, rule):
    refused(lambda: wave_accuracy([100, 10], labeled, correct), argument, rule)


@pytest.mark.parametrize(
    ("labeled", "correct", "text"),
    [
        (
            [[5, 5], [5, 6]],
            [[3, 5], [0, 5]],
            "labeled (wave 1) must be at most the items left; stratum 1 has 6 of 5",
        ),
        ([[5, 5]], [[6, 5]], "correct (wave 0) must be at most labeled; stratum 0 has 6 of 5"),
        ([5, 5], [3, 5], "labeled must have shape (waves, 2); got (2,)"),
        ([[5, 5]], [[3, 5, 5]], "correct must have shape (waves, 2); got (1, 3)"),
    ],
)
def test_each_wave_has_counts_of_its_own(labeled, correct, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        wave_accuracy([100, 10], labeled, correct)


# intervals


def test_one_wave_is_the_stratified_interval():
    size, labeled, correct = [60, 240], [12, 20], [9, 19]
    found = wave_accuracy(size, [labeled], [correct]).interval()
    expected = default_interval.limits(size, labeled, correct)
    total = sum(size)
    assert tuple(found) == pytest.approx(
        (
            math.floor(expected[0] * total + 1e-6) / total,
            math.ceil(expected[1] * total - 1e-6) / total,
        )
    )


def test_two_waves_in_a_large_population_are_cells_of_a_stratified_sample():
    """There the known part and the finite factor vanish: cells weigh (m_t/n) W_k."""
    size = [3 * 10**9, 7 * 10**9]
    labeled, correct = [[5, 7], [12, 6]], [[4, 7], [9, 6]]
    flat_n, flat_x = [5, 7, 12, 6], [4, 7, 9, 6]
    weight = [12 * 3, 12 * 7, 18 * 3, 18 * 7]
    found = wave_accuracy(size, labeled, correct)
    low, high = default_interval.limits([w * 10**8 for w in weight], flat_n, flat_x)
    assert tuple(found.interval()) == pytest.approx((low, high), abs=1e-6)
    z = stats.norm.ppf(0.95)
    expected = waves.estimate(size, labeled, correct)
    assert tuple(found.interval(0.9, "wald")) == pytest.approx(
        (max(expected[0] - z * expected[1] ** 0.5, 0), min(expected[0] + z * expected[1] ** 0.5, 1))
    )
    assert sentences(found.interval(0.9, "wald").notes) == (
        "wald is for teaching: with few labels it can cover far less than 90%",
    )
    assert found.interval().notes == ()


@pytest.mark.parametrize(
    "size, labeled, correct",
    [
        ([10, 20], [[5, 5], [5, 15]], [[5, 5], [0, 5]]),
        ([10, 20], [[5, 5], [5, 15]], [[5, 5], [5, 15]]),
        ([9, 6], [[2, 2], [7, 3]], [[2, 2], [0, 0]]),
        ([30, 40], [[4, 4], [20, 30]], [[4, 4], [0, 10]]),
    ],
)
def test_limits_stay_ordered_within_what_the_labels_prove(size, labeled, correct):
    found = wave_accuracy(size, labeled, correct)
    low, high = found.interval()
    right, n, total = np.sum(correct), np.sum(labeled), sum(size)
    assert right / total - 1e-12 <= low <= high + 1e-12 <= 1 - (n - right) / total + 2e-12


@pytest.mark.parametrize(
    "size, labeled, correct",
    [
        ([10, 20], [[5, 5], [5, 15]], [[5, 5], [0, 5]]),
        ([30, 40], [[4, 4], [20, 30]], [[4, 4], [0, 10]]),
    ],
)
def test_the_interval_never_says_what_the_labels_rule_out(size, labeled, correct):
    """The unbiased estimate can, as in the first case: a wave's rates are stretched over all that was left."""
    found = wave_accuracy(size, labeled, correct)
    right, n, total = np.sum(correct), np.sum(labeled), sum(size)
    low, high = found.interval()
    assert right / total - 1e-12 <= low <= high <= 1 - (n - right) / total + 1e-12
    assert (found.estimate > high) == (n == total)


def test_only_two_intervals_are_offered():
    found, two = wave_accuracy([100], [[5], [5]], [[3], [5]]), "must be one of 'default', 'wald'"
    refused(lambda: found.interval(method="short"), "method", two, "got 'short'")


def test_a_result_states_its_finding():
    found = wave_accuracy([100, 100], [[5, 5], [12, 8]], [[3, 5], [8, 7]])
    value, variance = waves.estimate([100, 100], [[5, 5], [12, 8]], [[3, 5], [8, 7]])
    low, high = found.interval()
    assert repr(found) == (
        f"WaveEstimate(accuracy {value:.4g} (SE {variance**0.5:.4g}), 95% confidence interval {low:.4g} to "
        f"{high:.4g}; 30 labels in 2 waves, 2 strata)"
    )
    assert (
        found.rows()[2] == {"wave": 2, "stratum": 1, "labeled": 12, "correct": 8}
        and len(found.rows()) == 4
    )


# notes and words


def test_more_than_half_a_stratum_labeled_is_noted_at_its_stratum():
    found = wave_accuracy([10, 20, 30], [[5, 5, 16], [2, 2, 2]], [[5, 4, 16], [1, 1, 2]]).interval()
    text = (
        "more than half of the items are labeled: waves are then less precise than a sample "
        "fixed beforehand. Label all items of the stratum, or fix the allocation"
    )
    assert found.notes == (
        Note("design", text, ("stratum", 0)),
        Note("design", text, ("stratum", 2)),
    )
    assert sentences(found.notes) == (f"strata 1, 3: {text}",)


def test_one_wave_and_one_item_left_are_spoken_of_in_the_singular():
    assert wave_accuracy([9], [[4]], [[2]]).headline().endswith("; 4 labels in 1 wave, 1 stratum")


@pytest.mark.parametrize(
    ("size", "labeled", "x"),
    [
        ([900, 100], [[2, 4], [3, 2]], [[1, 4], [2, 1]]),
        ([30, 500], [[3, 2], [2, 3]], [[3, 1], [2, 3]]),
    ],
)
def test_a_right_label_more_never_lowers_a_limit(size, labeled, x):
    """Among all outcomes of these labels with no more right ones; one of an earlier wave is known in the later ones."""
    rows = np.array(list(itertools.product(*(range(n + 1) for n in np.ravel(x))))).reshape(-1, 2, 2)
    low = wave_limits(np.array(size), np.broadcast_to(labeled, rows.shape), rows, 0.025)[0]
    found = wave_accuracy(size, labeled, x).interval().low
    assert (
        found == pytest.approx(max(*low, np.sum(x) / sum(size)), abs=1e-12)
        and found > low[-1] + 0.003
    )


def test_a_wave_may_label_one_item_where_it_is_the_last():
    found = wave_accuracy([5, 9], [[4, 3], [1, 3]], [[2, 2], [1, 1]])
    assert (found.estimate, found.variance) == pytest.approx(
        waves.estimate([5, 9], [[4, 3], [1, 3]], [[2, 2], [1, 1]])
    )


@pytest.mark.parametrize("rule", ["smoothed", "opt"])
def test_a_wave_leaves_nothing_of_its_budget(rule):
    found = next_wave([10, 100], [5, 5], [3, 5], 20, rule=rule)
    assert found.labeled.sum() == 20 and found.unused == 0 and "unused" not in found.headline()


def test_without_scores_the_prior_is_the_pooled_rate_with_one_label_of_each_kind_added():
    """Prior 9/12, rates 6/9 and 8/9, spreads as .6 to .4: .7 of the labels by these, .15 to each stratum."""
    found = next_wave([1000, 1000], [5, 5], [3, 5], 200)
    assert found.labeled.tolist() == [114, 86]
