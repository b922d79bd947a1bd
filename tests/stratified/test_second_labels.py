"""Accuracy corrected by second labels, against the definition item by item, exact expectations and simulation."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import search_second_labels
from oracles import second_labels as oracle
from scipy import stats

import workbench as wb
from workbench.stratified.second_labels import merged_second_labels, shared_errors


def table(twice):
    """Return pairs (2, 2, 3) of triples: first, second, decision."""
    counts = np.zeros((2, 2, 3), int)
    for item in twice:
        counts[item] += 1
    return counts


def drawn(rng, strata, n):
    """Return strata of items as the oracle takes them: (size, first labels, triples)."""
    found = []
    for size in rng.integers(500, 5_000, strata).tolist():
        accuracy, wrong = rng.uniform(0.6, 0.9), rng.uniform(0.03, 0.15, (2, 2))
        truth = (rng.random(n) < accuracy).astype(int)
        first, second = (np.where(rng.random(n) < rate[truth], 1 - truth, truth) for rate in wrong)
        decided = np.where(first == second, first, truth)
        m = int(rng.integers(n // 3, n - 1))
        found.append(
            (
                size,
                first[m:].tolist(),
                list(
                    zip(first[:m].tolist(), second[:m].tolist(), decided[:m].tolist(), strict=True)
                ),
            )
        )
    return found


@pytest.mark.parametrize(
    ("strata", "n", "level"), [(1, 60, 0.95), (1, 400, 0.9), (3, 90, 0.95), (5, 60, 0.99)]
)
def test_the_definition_item_by_item(strata, n, level):
    rng = np.random.default_rng([strata, n])
    for _ in range(3):
        sample = drawn(rng, strata, n)
        sizes, once, twice = zip(*sample, strict=True)
        found = wb.second_labels(
            sizes,
            [np.bincount(labels, minlength=2) for labels in once],
            [table(items) for items in twice],
            level=level,
        )
        assert (found.lowest, *found.interval()) == pytest.approx(
            oracle.limits(sample, level), abs=1e-7
        )
        assert found.highest == found.lowest and found.pairs == sum(map(len, twice))


def test_golden_values():
    # by hand: 100 first labels say 79 right; of 40 pairs 32 are decided as right, 30 by first labels: .79 + 2/40;
    # shared: s1 = 2 * 3 / (27 + 1 - s0), s0 = 1 * 3 / (4 + 1 - s1)
    pairs = [[[4, 0, 0], [3, 3, 0]], [[1, 2, 0], [0, 27, 0]]]
    found = wb.second_labels([10**6], [[11, 49]], [pairs])
    s1 = s0 = 0
    for _ in range(8):
        s1, s0 = 6 / (28 - s0), 3 / (5 - s1)
    assert found.estimate == pytest.approx(0.79)
    assert found.lowest == pytest.approx(0.79 + (32 - 30) / 40 + (s1 - s0) / 40)
    assert (s1, s0) == pytest.approx((0.2192, 0.6275), abs=5e-4)


@pytest.mark.parametrize(
    "wrong", [((0.01, 0.01), (0.1, 0.1)), ((0.15, 0.02), (0.04, 0.12)), ((0, 0.1), (0.1, 0))]
)
@pytest.mark.parametrize("accuracy", [0.6, 0.95])
def test_errors_that_both_share_are_found_where_counts_are_as_expected(wrong, accuracy):
    cells = search_second_labels.cells(accuracy, wrong)
    assert cells.sum() == pytest.approx(1) and cells[..., 1].sum() == pytest.approx(accuracy)
    pairs = np.rint(1e9 * cells).astype(int)
    expected = pairs[0, 0, 1] - pairs[1, 1, 0]
    for label in (0, 1):
        pairs[label, label] = np.where(np.arange(2) == label, pairs[label, label].sum(), 0)
    assert shared_errors(pairs)[0] == pytest.approx(expected, abs=1e3)
    found = wb.second_labels([10**12], [[10**9, 10**9]], [np.pad(pairs, ((0, 0), (0, 0), (0, 1)))])
    first = cells[1].sum()
    assert found.lowest == pytest.approx(
        accuracy + (0.5 - first) * 2 / 3, abs=1e-5
    )  # half of the others are right


def test_all_labeled_twice_is_the_accuracy_of_the_decisions():
    pairs = np.array(
        [
            [
                [[9, 0, 0], [4, 1, 0]],
                [[0, 0, 0], [0, 26, 0]],
            ],  # the second person alone errs upwards
            [[[3, 0, 0], [2, 0, 0]], [[0, 0, 0], [0, 35, 0]]],
        ]
    )
    found = wb.second_labels([300, 200], np.zeros((2, 2)), pairs)
    plain = wb.stratified_accuracy([300, 200], [40, 40], [27, 35])
    assert tuple(found.interval()) == tuple(plain.interval()) and found.lowest == pytest.approx(
        plain.estimate
    )
    census = wb.second_labels([40, 40], np.zeros((2, 2)), pairs)
    assert tuple(census.interval()) == pytest.approx((62 / 80, 62 / 80))
    one = wb.second_labels([1], [[0, 0]], [[[[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 1, 0]]]])
    assert tuple(one.interval()) == (1, 1)


def test_what_is_open_counts_both_ways():
    rng = np.random.default_rng(3)
    pairs, once = rng.integers(3, 20, (2, 2, 2, 3)), rng.integers(5, 30, (2, 2))
    pairs[:, 0, 0, 1:] = pairs[:, 1, 1, ::2] = 0
    skipped = np.array([[1, 2], [0, 4]])
    found = wb.second_labels([900, 400], once, pairs, skipped=skipped)
    for end, limit, estimate in ((0, 0, found.lowest), (1, 1, found.highest)):
        closed, labels = pairs.copy(), once.copy()
        closed[..., end] += closed[..., 2]
        closed[..., 2] = 0
        closed[:, end, end, end] += skipped[:, 1]
        labels[:, end] += skipped[:, 0]
        one = wb.second_labels([900, 400], labels, closed)
        assert (
            one.lowest == estimate
            and tuple(one.interval())[limit] == tuple(found.interval())[limit]
        )
    assert found.lowest < found.highest and found.settled < found.differing
    assert found.settled == pairs[:, [0, 1], [1, 0], :2].sum()
    assert any("counted both ways" in note.text for note in found.notes)


def test_the_notes_say_who_was_wrong_and_what_is_assumed():
    pairs = [[[30, 0, 0], [3, 1, 0]], [[3, 9, 0], [0, 300, 0]]]
    notes = [note.text for note in wb.second_labels([5000], [[0, 0]], [pairs]).notes]
    # the first label was wrong where it is not the decision: 1 + 3; the second in 3 + 9
    assert stats.binomtest(4, 16).pvalue == pytest.approx(0.0768, abs=5e-5)
    assert notes[1].startswith(
        "of 16 decided pairs, the first label was incorrect in 4, the second in 12 (exact binomial "
        "test p = 0.0768)"
    )
    assert "decisions are correct and that annotators do not copy labels" in notes[0]


def test_an_item_that_alone_has_one_label_is_left_out():
    pairs = [[[5, 0, 0], [1, 2, 0]], [[1, 2, 0], [0, 30, 0]]]
    assert tuple(wb.second_labels([900], [[0, 1]], [pairs]).interval()) == tuple(
        wb.second_labels([900], [[0, 0]], [pairs]).interval()
    )


def test_twice_as_many_labels_of_fewer_items_are_worth_more():
    rng, wrong = np.random.default_rng(5), ((0.03, 0.03), (0.03, 0.03))
    widths = [
        search_second_labels.details(
            search_second_labels.one_stratum(n, share, 0.95, wrong), rng, 2_000
        )["width"]
        for n, share in ((390, 1), (600, 0.3))
    ]
    assert widths == pytest.approx([0.046, 0.066], abs=5e-4)


def test_the_search_draws_what_it_says_and_has_the_packages_limits():
    design = search_second_labels.Design(
        (2, 1), (0.7, 0.9), (20, 40), (30, 20), ((0.1, 0.05), (0.02, 0.1))
    )
    once, pairs = search_second_labels.draw(design, np.random.default_rng(1), 40_000)
    cells = [search_second_labels.cells(accuracy, design.wrong) for accuracy in design.accuracy]
    assert once[..., 1].mean(0) / (20, 40) == pytest.approx(
        [each[1].sum() for each in cells], abs=0.002
    )
    assert pairs[:, 0, 0, 1].mean(0) / 30 == pytest.approx(cells[0][0, 1], abs=0.002)
    low, high = search_second_labels.limits(np.array([2, 1]) / 3, once[:20], pairs[:20], 0.95)
    for row in range(20):
        found = wb.second_labels(
            [2 * 10**6, 10**6], once[row], np.pad(pairs[row], ((0, 0),) * 3 + ((0, 1),))
        )
        assert tuple(found.interval()) == pytest.approx(
            (max(low[row], 0), min(high[row], 1)), abs=1e-6
        )


PAIR = np.zeros((1, 2, 2, 3), int)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([100], [[5, 5, 1]], PAIR), "once must have shape \\(1, 2\\); got \\(1, 3\\)"),
        (([100], [[5, 5]], PAIR[0]), "pairs must have shape \\(1, 2, 2, 3\\)"),
        (
            ([100], [[5, 5]], PAIR),
            "pairs must be at least 2 in every stratum; stratum 0 has 0. Merge strata",
        ),
        (
            ([100], [[5, 5]], [[[[4, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 4, 0]]]]),
            "pairs must have the same decision",
        ),
        (
            ([100], [[5, 5]], PAIR + 1),
            "pairs must have the same decision as both labels where these agree",
        ),
        (([100], [[5, -5]], PAIR), "once must be at least 0"),
        (
            ([10], [[5, 5]], [[[[4, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 4, 0]]]]),
            "labeled must be at most stratum_size",
        ),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        wb.second_labels(*arguments)


def test_either_way_round_is_the_mirror_image():
    rng = np.random.default_rng(8)
    for once, pairs in itertools.product(
        rng.integers(5, 30, (2, 2, 2)), rng.integers(2, 20, (2, 2, 2, 2, 3))
    ):
        pairs[:, 0, 0, 1:] = pairs[:, 1, 1, ::2] = 0
        pairs[..., 2] = 0
        plain = wb.second_labels([900, 400], once, pairs)
        mirrored = wb.second_labels([900, 400], once[:, ::-1], pairs[:, ::-1, ::-1][..., [1, 0, 2]])
        assert tuple(mirrored.interval()) == pytest.approx(
            (1 - plain.interval().high, 1 - plain.interval().low)
        )


def test_a_result_counts_alike_and_open_pairs():
    pairs = [[[30, 0, 0], [3, 1, 2]], [[3, 5, 6], [0, 50, 0]]]
    found = wb.second_labels([5000], [[0, 0]], [pairs])
    assert found.agreement == pytest.approx(80 / 100)
    (row,) = found.rows()
    assert (row["items"], row["alike"], row["undefined"]) == (100, 80, 8)
    assert found.headline().startswith(
        "100 items have two labels, which agree for 80.0%; 12 of 20 disagreements are decided; accuracy "
        "corrected for label errors "
    )
    few = replace(found, confidence_interval=None, lowest=np.nan, highest=np.nan)
    assert few.headline().endswith("which agree for 80.0%; 12 of 20 disagreements are decided")


def test_merged_strata_without_disagreement_have_the_accuracy_by_first_labels():
    size, once = np.array([600, 400]), np.array([[9, 21], [0, 8]])
    pairs = np.zeros((2, 2, 2, 3), int)
    pairs[0, 0, 0, 0], pairs[0, 1, 1, 1], pairs[1, 1, 1, 1] = 1, 3, 1
    found = merged_second_labels(size, once, pairs, np.zeros((2, 2), int), [0], 0.95)
    expected = 0.6 * 24 / 34 + 0.4 * 9 / 9
    assert found.estimate == pytest.approx(expected)
    assert found.lowest == found.highest == pytest.approx(expected)
    assert found.interval().low < expected < found.interval().high


@pytest.mark.parametrize("share", [0.15, 0.4])
def test_merged_strata_of_unequal_weights_are_covered(share):
    rng = np.random.default_rng(7)
    size, accuracy = np.full(10, 500), np.linspace(0.55, 0.99, 10)
    labeled, error = np.array([45, 40, 34, 26, 18, 12, 8, 6, 6, 5]), np.repeat([0.1, 0.02], 5)
    misses, errors = 0, []
    for _ in range(60):
        correct = rng.binomial(size, accuracy)
        once, pairs = np.zeros((10, 2), int), np.zeros((10, 2, 2, 3), int)
        for h in range(10):
            sampled = rng.permutation(np.arange(500) < correct[h])[: labeled[h]].astype(int)
            first, second = (sampled ^ (rng.random(labeled[h]) < error[h]) for _ in range(2))
            doubled = rng.random(labeled[h]) < share
            np.add.at(once[h], first[~doubled], 1)
            decided = np.where(first == second, first, sampled)
            np.add.at(pairs[h], (first[doubled], second[doubled], decided[doubled]), 1)
        found = merged_second_labels(size, once, pairs, np.zeros((10, 2), int), [0, 4], 0.95)
        truth = correct.sum() / 5000
        errors.append(found.lowest - truth)
        misses += not found.interval().low <= truth <= found.interval().high
    assert misses <= 4
    assert abs(np.mean(errors)) < 3 * np.std(errors) / 60**0.5
