import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from workbench.replication.statistics import METRICS, Metric, binary, ratio


def totals_of(statistic, columns, size):
    return Metric.of(statistic).totals_of(columns, size)


def from_weights(statistic, columns, size):
    return Metric.of(statistic).values(*columns, size)


RNG = np.random.default_rng(7)
TRUTH, PREDICTION = RNG.integers(0, 2, (2, 60))
SCORE = np.round(RNG.random(60), 1)  # ties
Y, X = RNG.normal(3, 1, (2, 60))
WEIGHTS = RNG.random((5, 60)) * RNG.integers(0, 2, (5, 60))  # many are 0
SKLEARN = {
    "accuracy": metrics.accuracy_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
}


def value(totals, weight):
    top = weight @ totals.numerator
    return top if totals.denominator is None else top / (weight @ totals.denominator)


# ratios of totals


@pytest.mark.parametrize("statistic", SKLEARN)
@pytest.mark.parametrize("kind", [int, bool, float])
def test_classification_statistics_are_those_of_sklearn(statistic, kind):
    totals = totals_of(statistic, (TRUTH.astype(kind), PREDICTION.astype(kind)), 60)
    for weight in WEIGHTS:
        expected = SKLEARN[statistic](TRUTH, PREDICTION, sample_weight=weight)
        assert value(totals, weight) == pytest.approx(expected, rel=1e-12)


def test_accuracy_takes_any_labels():
    truth, prediction = np.array(list("abca")), ["a", "b", "a", "b"]
    assert totals_of("accuracy", (truth, prediction), 4).numerator.tolist() == [1, 1, 0, 0]
    assert totals_of("accuracy", ([3, 1, 2], [3.0, 1.0, 1.0]), 3).numerator.tolist() == [1, 1, 0]
    assert totals_of("accuracy", ([True, False], [1, 1]), 2).numerator.tolist() == [1, 0]


def test_mean_total_and_ratio():
    weight = WEIGHTS[0]
    assert value(totals_of("mean", (Y,), 60), weight) == pytest.approx(
        np.average(Y, weights=weight), rel=1e-12
    )
    assert value(totals_of("total", (Y,), 60), weight) == pytest.approx(
        (weight * Y).sum(), rel=1e-12
    )
    assert value(totals_of("ratio", (Y, X), 60), weight) == pytest.approx(
        (weight * Y).sum() / (weight * X).sum()
    )
    assert totals_of("total", (Y,), 60).denominator is None


@pytest.mark.parametrize(
    "statistic, columns",
    [("auc", (TRUTH, SCORE)), ("quantile", (Y, 0.5)), (lambda weight: 0.0, ())],
)
def test_what_needs_every_weight_has_no_totals(statistic, columns):
    assert totals_of(statistic, columns, 60) is None


def test_every_ratio_says_when_it_is_undefined():
    zero = np.zeros(60)
    for name, metric in METRICS.items():
        other = {"quantile": (Y, 0.5), "mean_rank": (zero + 1, 5)}
        if metric.about == "sets":
            other[name] = (np.zeros((60, 3)), np.zeros((60, 3)))
        totals = metric.totals_of(other.get(name, (zero,) * len(metric.arguments)), 60)
        assert bool(metric.empty) == (
            name in ("auc", "median")
            or metric.moments is not None
            or totals is not None
            and totals.denominator is not None
        )


def test_ratio_is_nan_where_the_denominator_is_zero():
    assert ratio(np.array([1.0, 0, 6]), np.array([0, 0, 3])).tolist()[2] == 2
    assert np.isnan(ratio(np.array([1.0, 0]), np.array([0, 0]))).all() and np.isnan(ratio(1.0, 0))


# area under the curve


def auc_by_pairs(weight, truth, score):
    """Share of pairs in the right order, a tie half."""
    above = whole = 0
    for i, j in itertools.product(np.flatnonzero(truth == 1), np.flatnonzero(truth == 0)):
        above += weight[i] * weight[j] * ((score[i] > score[j]) + (score[i] == score[j]) / 2)
        whole += weight[i] * weight[j]
    return above / whole if whole else np.nan


@pytest.mark.slow
@given(st.integers(2, 25), st.integers(1, 8), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_auc_is_the_share_of_ordered_pairs(size, distinct, seed):
    rng = np.random.default_rng(seed)
    truth, score = rng.integers(0, 2, size), rng.integers(0, distinct, size) - 3.5
    weight = rng.random((3, size)) * rng.integers(0, 2, (3, size))
    expected = [auc_by_pairs(row, truth, score) for row in weight]
    np.testing.assert_allclose(
        from_weights("auc", (truth, score), size)(weight), expected, rtol=1e-12, atol=1e-15
    )


def test_auc_is_that_of_sklearn():
    expected = [metrics.roc_auc_score(TRUTH, SCORE, sample_weight=weight) for weight in WEIGHTS]
    np.testing.assert_allclose(
        from_weights("auc", (TRUTH == 1, SCORE), 60)(WEIGHTS), expected, rtol=1e-12
    )


def test_auc_without_both_classes_is_undefined():
    values = from_weights("auc", ([1, 1, 0], [1, 2, 3]), 3)
    found = values(np.array([[1.0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1]]))
    assert np.isnan(found).tolist() == [True, True, True, False] and found[3] == 0


# quantiles


@given(st.integers(1, 20), st.floats(0, 1), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_quantile_is_numpys_inverted_cdf(size, q, seed):
    """Whole weights, so that no rounding decides which item is the first to reach the share."""
    rng = np.random.default_rng(seed)
    y, weight = rng.integers(0, 6, size).astype(float), rng.integers(0, 4, size).astype(float)
    weight[rng.integers(size)] += 1
    expected = np.quantile(y, q, weights=weight, method="inverted_cdf")
    assert from_weights("quantile", (y, q), size)(weight[None])[0] == expected


@pytest.mark.parametrize(
    "q, expected",
    [
        (0, 2.0),
        (0.2, 2.0),
        (0.25, 2.0),
        (0.2501, 3.0),
        (0.5, 3.0),
        (0.75, 3.0),
        (0.76, 5.0),
        (1, 5.0),
    ],
)
def test_quantile_is_the_first_value_that_reaches_the_share(q, expected):
    """Type 1; items without weight do not count, not even for q = 0 and 1."""
    y, weight = [9.0, 5, 1, 2, 3, 3], np.array([[0, 0.1, 0, 0.1, 0.15, 0.05]])
    assert from_weights("quantile", (y, q), 6)(weight)[0] == expected


def test_quantile_does_not_hang_on_rounding():
    """Ten weights of .1 add up to less than 1: half of them is still the fifth item."""
    values = from_weights("quantile", (np.arange(10), 0.5), 10)
    assert values(np.full((1, 10), 0.1))[0] == 4 and values(np.full((1, 10), 0.7))[0] == 4
    assert from_weights("quantile", (np.arange(10), 0.3), 10)(np.full((1, 10), 0.1))[0] == 2


def test_quantile_of_no_weight_is_undefined():
    found = from_weights("quantile", ([1, 2], 0.5), 2)(np.array([[0.0, 0], [0, 1]]))
    assert np.isnan(found[0]) and found[1] == 2


# callables


def test_a_callable_gets_one_row_of_weights_and_the_columns():
    def largest(weight, y, power):
        assert weight.shape == (60,)
        return (y[weight > 0] ** power).max()

    found = from_weights(largest, (Y, 3), 60)(WEIGHTS)
    assert found.tolist() == [(Y[w > 0] ** 3).max() for w in WEIGHTS] and found.dtype == float


# errors

WRONG = [
    (
        lambda: totals_of("f2", (TRUTH, PREDICTION), 60),
        "statistic must be one of 'total', 'ratio', 'accuracy', 'precision', 'recall', 'f1', 'kappa', 'mcc', "
        "'micro_f1', 'micro_precision', 'micro_recall', 'exact_match', 'hamming_loss', 'brier', "
        "'log_loss', 'rmse', 'correlation', 'median', 'mean', 'proportion', 'auc', 'identified', 'mean_rank', "
        "'quantile'; "
        "got 'f2'",
    ),
    (
        lambda: totals_of("f1", (TRUTH, PREDICTION[1:]), 60),
        "prediction must have 60 entries; got 59",
    ),
    (lambda: totals_of("mean", ([1, np.nan],), 2), "y must be finite; entry 1 is nan"),
    (lambda: totals_of("ratio", ([1, 2], [1, np.inf]), 2), "x must be finite; entry 1 is inf"),
    (lambda: totals_of("mean", ([[1, 2]],), 2), "y must be one-dimensional; got shape (1, 2)"),
    (
        lambda: totals_of("precision", ([0, 1, 2], [0, 1, 1]), 3),
        "truth must hold 0 and 1 (1 the positive class); got 3 labels: 0, 1, 2; compare with the positive class first",
    ),
    (
        lambda: totals_of("recall", ([0, 1], ["no", "yes"]), 2),
        "prediction must hold 0 and 1 (1 the positive class); got 2 labels: 'no', 'yes'; compare with the positive class "
        "first",
    ),
    (
        lambda: totals_of("f1", ([-1, 1], [1, 1]), 2),
        "truth must hold 0 and 1 (1 the positive class); got 2 labels: -1, 1; compare with the positive class first",
    ),
    (
        lambda: binary("truth", list("abcdefg"), 7),
        "truth must hold 0 and 1 (1 the positive class); got 7 labels: 'a', 'b', 'c', 'd', 'e', ...; compare with the "
        "positive class first",
    ),
    (
        lambda: binary("truth", ["spam"], 1),
        "truth must hold 0 and 1 (1 the positive class); got 1 label: 'spam'; compare with the positive class first",
    ),
    (lambda: binary("truth", [1.0, np.nan], 2), "truth must not be missing; item 1 is"),
    (lambda: from_weights("auc", ([0, 1], [1, np.nan]), 2), "score must be finite; entry 1 is nan"),
    (lambda: from_weights("quantile", ([0, 1], 1.5), 2), "q must be a number from 0 to 1; got 1.5"),
]
WRONG_TYPE = [
    (lambda: totals_of("mean", (), 2), "mean takes 1 column, y; got 0"),
    (lambda: totals_of("mean", (Y, X), 60), "mean takes 1 column, y; got 2"),
    (lambda: totals_of("f1", (TRUTH,), 60), "f1 takes 2 columns, truth and prediction; got 1"),
    (
        lambda: totals_of("auc", (TRUTH, SCORE, Y), 60),
        "auc takes 2 columns, truth and score; got 3",
    ),
    (lambda: totals_of("quantile", (Y,), 60), "quantile takes 2 columns, y and q; got 1"),
    (
        lambda: totals_of("mean", (["1", "2"],), 2),
        "y must hold numbers; got <U1 such as np.str_('1')",
    ),
    (
        lambda: totals_of("accuracy", (["1", "2"], [1, 2]), 2),
        "truth and prediction must both be text or both numbers; got '1' and 1",
    ),
    (
        lambda: from_weights(lambda w: w, (), 2)(np.ones((1, 2))),
        "statistic must return one number; got array([1., 1.])",
    ),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text[:60] for _, text in WRONG])
def test_errors_name_argument_rule_and_value(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


@pytest.mark.parametrize(("call", "text"), WRONG_TYPE, ids=[text[:60] for _, text in WRONG_TYPE])
def test_errors_of_type(call, text):
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        call()
