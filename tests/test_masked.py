"""A masked entry is one that must not be looked at: no function takes what is behind the mask for data."""

import warnings

import numpy as np
import pytest

import workbench as wb
from workbench import checks
from workbench.data.scored_items import OR_LEAVE_OUT
from workbench.misclassification.confusion import check_counts

FOLDS = np.ma.array([0.1, 0.2, 0.3, 99.0], mask=[0, 0, 0, 1])
ITEMS = np.arange(20) / 20
AUDIT = wb.ConfusionCounts([[40, 10], [5, 45]])
DESIGN = wb.SurveyDesign([1, 1, 2, 2])


def hidden(values, *, at=-1):
    """Values of which one is masked."""
    values = np.ma.array(values)
    values[np.unravel_index(at % values.size, values.shape)] = np.ma.masked
    assert values.mask.sum() == 1
    return values


REFUSED = {
    # cross-validation
    "kfold_t_test": (lambda: wb.kfold_t_test(FOLDS), "fold_means must not be masked; entry 3 is"),
    "variance_estimates": (
        lambda: wb.variance_estimates(hidden([[1.0, 2], [3, 4]])),
        "losses must not be masked; entry 1, 1 is",
    ),
    "CVLosses": (
        lambda: wb.CVLosses({"a": ITEMS, "b": hidden(ITEMS)}, np.arange(20) % 5),
        "losses of b must not be masked; entry 19 is",
    ),
    "CVLosses, rows": (
        lambda: wb.CVLosses([np.array([0.0, 1]), hidden([0.0, 1])]),
        "losses[1] must not be masked; entry 1 is",
    ),
    "CVLosses, fold": (
        lambda: wb.CVLosses(ITEMS, hidden(np.arange(20) % 5)),
        "fold must not be masked; item 19 is",
    ),
    "CVLosses.from_fold_means": (
        lambda: wb.CVLosses.from_fold_means(FOLDS),
        "means must not be masked; entry 3 is",
    ),
    "CVLosses.from_cross_validate": (
        lambda: wb.CVLosses.from_cross_validate({"test_score": FOLDS}),
        "scores of A must not be masked; entry 3 is",
    ),
    "CVLosses.from_cross_val_predict": (
        lambda: wb.CVLosses.from_cross_val_predict([0, 1], hidden([0, 1]), [0, 1]),
        "predictions of A must not be masked; item 1 is",
    ),
    "CVLosses.from_cross_val_predict, splits": (
        lambda: wb.CVLosses.from_cross_val_predict([0, 1], [0, 1], hidden([0, 1])),
        "splits must not be masked; item 1 is",
    ),
    "nadeau_bengio_test": (
        lambda: wb.nadeau_bengio_test(FOLDS, 9, 1),
        "differences must not be masked; entry 3 is",
    ),
    "bayesian_correlated_t": (
        lambda: wb.bayesian_correlated_t(FOLDS),
        "differences must not be masked; entry 3 is",
    ),
    "five_by_two_t_test": (
        lambda: wb.five_by_two_t_test(hidden(np.arange(10.0).reshape(5, 2) % 3)),
        "differences must not be masked; entry 4, 1 is",
    ),
    "nested_cv_interval": (
        lambda: wb.nested_cv_interval(hidden(np.ones((3, 2))), np.ones((3, 4))),
        "outer must not be masked; entry 2, 1 is",
    ),
    "half_sample_rho": (
        lambda: wb.half_sample_rho(lambda X, y, rng: X, hidden(np.ones(80)), np.ones(80)),
        "X must not be masked; item 79 is",
    ),
    "compare_models": (
        lambda: wb.compare_models({"a": FOLDS.data, "b": FOLDS}),
        "losses of b must not be masked; entry 3 is",
    ),
    "simulate_type_one": (
        lambda: wb.simulate_type_one((hidden(np.ones((9, 2))), np.arange(9) % 2), "1nn", 20),
        "X of the population must not be masked; entry 8, 1 is",
    ),
    "simulate_comparison": (
        lambda: wb.simulate_comparison(
            "digits", "1nn", "centroid", 20, samples=hidden(np.zeros((2, 20), int))
        ),
        "samples must not be masked; entry 1, 19 is",
    ),
    "exchangeable_population": (
        lambda: wb.exchangeable_population([[1, 2], [3, 4]], hidden([0, 1])),
        "y must not be masked; item 1 is",
    ),
    # stratified
    "stratified_accuracy": (
        lambda: wb.stratified_accuracy([9, 9], [5, 5], hidden([4, 5])),
        "correct must not be masked; stratum 1 is",
    ),
    "stratified_interval": (
        lambda: wb.stratified_interval(hidden([9, 9]), [5, 5], [4, 5]),
        "stratum_size must not be masked; stratum 1 is",
    ),
    "stratify": (lambda: wb.stratify(hidden(ITEMS), 2), "score must not be masked; item 19 is"),
    "wave_accuracy": (
        lambda: wb.wave_accuracy([20, 20], hidden([[4, 4], [4, 4]]), [[3, 3], [3, 3]]),
        "labeled must not be masked; entry 1, 1 is",
    ),
    "plan_budget": (
        lambda: wb.plan_budget([100, 100], hidden([0.5, 0.9]), 0.1),
        "stratum_accuracy must not be masked; stratum 1 is",
    ),
    "study_design": (
        lambda: wb.study_design(ITEMS, hidden(ITEMS > 0.2), budget=10),
        "correct must not be masked; item 19 is",
    ),
    # allocation
    "allocate": (
        lambda: wb.allocate([50, 50], 20, stratum_sd=hidden([1.0, 9]), method="neyman"),
        "stratum_sd must not be masked; stratum 1 is",
    ),
    "StreamSampler, values": (
        lambda: wb.StreamSampler(4).update(["a", "b"], hidden([1.0, 2])),
        "values must not be masked; row 1 is",
    ),
    "StreamSampler, strata": (
        lambda: wb.StreamSampler(4).update(hidden([1, 2]), [1.0, 2]),
        "strata must not be masked; row 1 is",
    ),
    "simulate_stream": (
        lambda: wb.simulate_stream(np.arange(40) % 2, hidden(np.arange(40.0)), 10),
        "values must not be masked; entry 39 is",
    ),
    # replication
    "SurveyDesign": (
        lambda: wb.SurveyDesign([1, 1, 2, 2], weight=hidden([1.0, 1, 1, 9])),
        "weight must not be masked; item 3 is",
    ),
    "SurveyDesign, psu": (
        lambda: wb.SurveyDesign([1, 1, 2, 2], psu=hidden([1, 2, 3, 4])),
        "psu must not be masked; item 3 is",
    ),
    "replicate_estimate": (
        lambda: wb.replicate_estimate(wb.replicates(DESIGN), "mean", FOLDS),
        "y must not be masked; entry 3 is",
    ),
    "replicate_estimate, weights": (
        lambda: wb.replicate_estimate(wb.replicates(DESIGN), "auc", [1, 0, 1, 0], FOLDS),
        "score must not be masked; item 3 is",
    ),
    "replicates": (
        lambda: wb.replicates(DESIGN, "brr", array=hidden([[0, 0], [0, 1], [1, 0], [1, 1]])),
        "array must not be masked; entry 3, 1 is",
    ),
    "check_balance": (
        lambda: wb.check_balance(hidden([[0, 0], [0, 1], [1, 0], [1, 1]])),
        "array must not be masked; entry 3, 1 is",
    ),
    "GaloisField": (
        lambda: wb.GaloisField(2, 2).add(hidden([1, 2]), [1, 1]),
        "a must not be masked; entry 1 is",
    ),
    "simulate_random_halves": (
        lambda: wb.simulate_random_halves(hidden([1.0, 2, 3]), 4),
        "differences must not be masked; stratum 2 is",
    ),
    # misclassification
    "ConfusionCounts": (
        lambda: wb.ConfusionCounts(hidden([[40, 10], [5, 45]])),
        "table must not be masked; cell 1, 1 is",
    ),
    "ConfusionCounts.from_labels": (
        lambda: wb.ConfusionCounts.from_labels([0, 1], hidden([0, 1])),
        "prediction must not be masked; item 1 is",
    ),
    "estimate_prevalence": (
        lambda: wb.estimate_prevalence(AUDIT, hidden([300, 500]), method="misclassification"),
        "counts: the count of class 1 is missing",
    ),
    # data
    "read_scores": (
        lambda: wb.read_scores({"p": hidden([0.5, 0.75])}, score="p"),
        "column 'p', data row 2 is empty. Fill the cell or delete the row" + OR_LEAVE_OUT,
    ),
    "CVLosses.read_csv": (
        lambda: wb.CVLosses.read_csv({"fold": [1, 2], "a": hidden([0.5, 0.75])}),
        "fold 2 has no score of a (missing, undefined, or a failed fit). Without them, 1 of 2 folds "
        "would be left, which is too few. Use a metric that is defined in every fold, or fewer "
        "and larger folds",
    ),
    "ScoredItems": (
        lambda: wb.ScoredItems(None, hidden([0.5, 0.75])),
        "score must not be masked; item 1 is",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_masked_is_refused(name):
    call, message = REFUSED[name]
    with warnings.catch_warnings(), pytest.raises(ValueError) as error:
        warnings.simplefilter("error")
        call()
    assert str(error.value) == message


def test_a_mask_that_hides_nothing_changes_nothing():
    for mask in (False, [False] * 4, np.ma.nomask):
        assert repr(wb.kfold_t_test(np.ma.array([0.1, 0.2, 0.3, 0.5], mask=mask))) == repr(
            wb.kfold_t_test([0.1, 0.2, 0.3, 0.5])
        )
    table = np.ma.array([[40, 10], [5, 45]], mask=np.zeros((2, 2), bool))
    assert repr(wb.ConfusionCounts(table)) == repr(AUDIT)
    assert check_counts("counts", np.ma.array([300, 500]), (0, 1)).tolist() == [300, 500]


def test_a_plain_array_is_the_very_one_that_was_given():
    given = np.arange(3.0)
    assert checks.plain_array("y", given) is given
    found = checks.plain_array("y", np.ma.array(given))
    assert type(found) is np.ndarray and np.shares_memory(found, given)


def test_a_number_alone_may_be_masked_too():
    with pytest.raises(ValueError) as error:
        checks.plain_array("y", np.ma.array(5, mask=True))
    assert str(error.value) == "y must not be masked; entry 0 is"
