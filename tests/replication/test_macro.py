"""Macro F1 and its interval against scikit-learn, replicate weights written out, finite differences and simulation."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

import workbench as wb
from workbench.replication.macro import macro_f1
from workbench.replication.metrics import naive

RNG = np.random.default_rng(5)
STRATUM, PSU = np.repeat(np.arange(8), 24), np.repeat(np.arange(24), 8)
TRUTH = RNG.choice(["a", "b", "c"], 192, p=[0.6, 0.3, 0.1])
READ = np.where(RNG.random(192) < 0.7, TRUTH, RNG.choice(["a", "b", "c"], 192))
WEIGHT = RNG.uniform(1, 3, 192)
MADE = wb.replicates(wb.SurveyDesign(STRATUM, psu=PSU, weight=WEIGHT), "fay")


def macro(weight=None, truth=TRUTH, read=READ):
    return f1_score(truth, read, average="macro", sample_weight=weight)


def test_estimate_and_variance_are_those_of_scikit_learn_under_each_replicate_weight():
    found = macro_f1(MADE, TRUTH, READ)
    values = np.array([macro(w) for w in MADE.weights().T])
    assert found.estimate == pytest.approx(macro(WEIGHT), rel=1e-12)
    np.testing.assert_allclose(found.replicate_values, values, rtol=1e-12)
    assert found.variance == pytest.approx(
        MADE.coefficients @ (values - macro(WEIGHT)) ** 2, rel=1e-9
    )


def test_a_domain_counts_its_classes_only():
    rows = TRUTH != "c"
    found = macro_f1(
        MADE, TRUTH, np.where(rows, np.where(READ == "c", "a", READ), READ), domain=rows
    )
    assert found.labels == ("a", "b") and found.items == rows.sum()
    with pytest.raises(
        ValueError, match="domain must contain at least one item; it has none of 192"
    ):
        macro_f1(MADE, TRUTH, READ, domain=np.zeros(192, bool))


def test_a_class_that_is_only_predicted_has_f1_0_and_counts():
    read = np.where(np.arange(192) % 40 == 0, "z", READ)
    found = macro_f1(MADE, TRUTH, read)
    assert found.labels == ("a", "b", "c", "z") and found.parts[3].estimate == 0
    assert found.estimate == pytest.approx(macro(WEIGHT, read=read), rel=1e-12)
    low, high = found.interval()
    assert 0 <= low < found.estimate < high <= 1


def test_the_naive_error_is_that_of_the_derivatives():
    def moved(k):
        weight = np.ones(192)
        weight[k] += 1e-6
        return (macro(weight) - macro()) / 1e-6

    estimate, error = naive("macro_f1", TRUTH, READ)
    assert estimate == pytest.approx(macro(), rel=1e-12)
    assert error == pytest.approx(np.sqrt(sum(moved(k) ** 2 for k in range(192))), rel=1e-4)


def test_limits_are_put_together_from_those_of_the_classes():
    found = macro_f1(MADE, TRUTH, READ)
    low = np.array([part.interval().low for part in found.parts])
    away = np.array([part.estimate for part in found.parts]) - low
    together = np.corrcoef([part.replicate_values - part.estimate for part in found.parts])
    expected = (
        found.estimate
        - np.sqrt(
            sum(away[j] * away[k] * max(0, together[j, k]) for j in range(3) for k in range(3))
        )
        / 3
    )
    assert found.interval().low == pytest.approx(
        expected, abs=2e-3
    )  # corrcoef takes deviations from the mean
    assert found.interval(0.8).low > found.interval().low and str(found).startswith(
        "MacroEstimate(macro F1 0."
    )
    assert wb.Result.from_dict(found.to_dict()).interval()[0] == found.interval()[0]


def test_bounded_limits_are_put_together_from_the_bounded_ones_of_the_classes():
    found = macro_f1(MADE, TRUTH, READ)
    away = np.array([part.estimate - part.interval(method="bounded").low for part in found.parts])
    expected = found.estimate - np.sqrt(away @ np.maximum(found.correlation, 0) @ away) / 3
    assert found.interval().bounded[0] == pytest.approx(expected, abs=1e-12)
    assert found.interval().bounded[0] < found.interval().low


def test_all_right_is_not_certain_and_stays_within_0_and_1():
    found = macro_f1(MADE, TRUTH, TRUTH)
    assert found.estimate == 1 and found.interval().high == 1 and 0.5 < found.interval().low < 0.99


def test_it_covers_the_mean_of_the_populations_f1():
    share, right = np.array([0.6, 0.3, 0.1]), np.array([0.95, 0.8, 0.6])
    joint = np.diag(share) @ (np.diag(right) + np.outer(1 - right, share))
    goal = np.mean([2 * joint[k, k] / (joint[k].sum() + joint[:, k].sum()) for k in range(3)])
    design = wb.replicates(
        wb.SurveyDesign(np.repeat(np.arange(20), 12), psu=np.repeat(np.arange(40), 6)), "fay"
    )
    rng, hits = np.random.default_rng(1), 0
    for _ in range(150):
        truth = rng.choice(3, 240, p=share)
        truth = np.where(rng.random(240) < 0.2, np.repeat(rng.choice(3, 40, p=share), 6), truth)
        read = np.where(rng.random(240) < right[truth], truth, rng.choice(3, 240, p=share))
        low, high = macro_f1(design, truth, read).interval()
        hits += low <= goal <= high
    assert hits >= 139  # 7% of 150 and two Monte Carlo errors


def test_more_classes_than_anyone_can_read_are_refused():
    with pytest.raises(
        ValueError, match="^macro_f1 takes at most 100 classes; got 192: use accuracy, or name"
    ):
        macro_f1(MADE, np.arange(192), np.arange(192))


def test_one_class_alone_has_no_macro_f1():
    """One error more would bring a class of F1 0: accuracy .82 of 20 labels, and macro F1 below one half."""
    with pytest.raises(
        ValueError, match="^macro F1 is undefined: it is the mean of several classes, and only 'a' "
    ):
        macro_f1(MADE, np.full(192, "a"), np.full(192, "a"))
    truth, read = np.full(192, "a"), np.append(np.full(191, "a"), "b")
    assert f1_score(truth, read, average="macro") < 0.5
    with pytest.raises(
        ValueError,
        match="^macro F1 cannot be estimated, because every labeled item is truly 'a', and other items",
    ):
        macro_f1(MADE, truth, read)


@pytest.mark.parametrize("seed", range(3))
def test_the_naive_error_adds_up_what_a_little_of_an_item_moves(seed):
    """From counts alone, by central differences; also with a class that nobody predicts."""
    rng = np.random.default_rng(seed)
    truth = np.append(rng.choice(3, 25, p=[0.5, 0.3, 0.2]), 3)
    read = np.append(np.where(rng.random(25) < 0.6, truth[:25], rng.choice(3, 25)), 0)

    def mean_f1(weight):
        return np.mean(
            [
                2
                * weight[(truth == k) & (read == k)].sum()
                / (weight[truth == k].sum() + weight[read == k].sum())
                for k in range(4)
            ]
        )

    def mean_recall(weight):
        return np.mean(
            [weight[(truth == k) & (read == k)].sum() / weight[truth == k].sum() for k in range(4)]
        )

    for name, mean in (("macro_f1", mean_f1), ("balanced_accuracy", mean_recall)):
        moved = [(mean(1 + step) - mean(1 - step)) / 2e-5 for step in 1e-5 * np.eye(26)]
        assert naive(name, truth, read) == pytest.approx(
            (mean(np.ones(26)), np.linalg.norm(moved)), rel=1e-6
        )


def test_the_basis_of_a_macro_f1_names_its_sample():
    found = wb.estimate_metrics(wb.digit_forms().labeled(), "macro_f1")
    assert found.basis().startswith("From 1,797 labeled items in ")
    assert "strata" in found.basis()
