"""Replicate weights that were made elsewhere."""

import numpy as np
import pytest

import workbench as wb

RNG = np.random.default_rng(0)
STRATUM = np.repeat(np.arange(12), 10)
PSU = np.repeat(np.arange(24), 5)
WEIGHT = RNG.lognormal(size=120)
TRUTH, PREDICTION, SCORE = RNG.random(120) < 0.4, RNG.random(120) < 0.5, RNG.normal(size=120)
DESIGN = wb.SurveyDesign(STRATUM, psu=PSU, weight=WEIGHT)


@pytest.mark.parametrize(
    ("method", "how"), [("brr", {}), ("fay", {"rho": 0.3}), ("bootstrap", {}), ("jkn", {})]
)
def test_weights_written_and_read_again_give_the_same(method, how):
    made = wb.replicates(DESIGN, method, **how)
    given = how | ({"coefficients": made.coefficients} if method == "jkn" else {})
    again = wb.imported_replicates(WEIGHT, made.weights(), method=method, **given)
    assert again.design.stratum_of_psu.size == 24 and 1 <= again.df <= 23
    for name, columns in (
        ("accuracy", (TRUTH, PREDICTION)),
        ("f1", (TRUTH, PREDICTION)),
        ("auc", (TRUTH, SCORE)),
    ):
        one, two = (wb.replicate_estimate(each, name, *columns) for each in (made, again))
        assert (one.estimate, one.variance) == pytest.approx((two.estimate, two.variance), rel=1e-9)
    assert np.allclose(again.weights(), made.weights())


def test_the_jackknife_of_psus_without_strata():
    made = wb.replicates(wb.SurveyDesign(np.zeros(120, int), psu=PSU, weight=WEIGHT), "jkn")
    again = wb.imported_replicates(WEIGHT, made.weights(), method="jk1")
    assert again.df == 23 and np.allclose(again.coefficients, made.coefficients)


def test_published_weights_are_rounded():
    made = wb.replicates(DESIGN, "fay")
    again = wb.imported_replicates(
        100 * WEIGHT, np.round(100 * made.weights(), 4), method="fay", rho=0.5
    )
    one, two = (wb.replicate_estimate(each, "f1", TRUTH, PREDICTION) for each in (made, again))
    assert one.variance == pytest.approx(two.variance, rel=1e-3)


def test_degrees_of_freedom_can_be_given():
    made = wb.replicates(DESIGN, "fay")
    again = wb.imported_replicates(WEIGHT, made.weights(), method="fay", rho=0.5, df=3)
    found = wb.replicate_estimate(again, "accuracy", TRUTH, PREDICTION)
    assert (again.df, found.df, found.effective_df) == (3, 3, 3) and "3 degrees of freedom" in repr(
        again
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"method": "jkn"}, "coefficients must be given for method 'jkn'"),
        (
            {"method": "halves"},
            "method must be one of 'brr', 'fay', 'jk1', 'jk2', 'jkn', 'bootstrap', 'sdr'; got 'halves'",
        ),
        ({"weight": [1, -1, 1, 1]}, "weight must be at least 0; item 1 is -1"),
        ({"replicate_weights": [[1, 2], [2, 1]]}, "a row for each of 4 items"),
        ({"replicate_weights": [[1, 2], [2, np.nan], [1, 1], [1, 1]]}, "item 1 replicate 1 is nan"),
        ({"replicate_weights": [[1, 2], [2, -1], [1, 1], [1, 1]]}, "item 1 replicate 1 is -1"),
        (
            {"weight": [30, 10, 20, 40], "replicate_weights": [[2, 0], [2, 0], [0, 2], [0, 2]]},
            "their median sum is 0.04 times that sum. If they are factors such as 0 and 2, mult",
        ),
        (
            {"replicate_weights": [[5, 0], [5, 0], [0, 5], [0, 5]]},
            "replicate_weights must be weights, whose sums are like that of the weight",
        ),
        ({"replicate_weights": [[1, 2]] * 4}, "replicate_weights must differ between items"),
        ({"coefficients": [1, 0]}, "coefficients must be above 0; replicate 1 has 0"),
        ({"coefficients": [0, -1]}, "coefficients must be above 0; replicate 1 has -1"),
        ({"method": "fay", "rho": 1}, "rho must be at least 0 and below 1"),
        ({"method": "fay"}, "rho must be given for method 'fay'"),
        ({"rho": 0.5}, "rho is only for method 'fay'; got method 'brr'"),
        ({"df": 0}, "df must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused(change, text):
    usual = {
        "weight": [1, 1, 1, 1],
        "replicate_weights": [[2, 0], [0, 2], [2, 0], [0, 2]],
        "method": "brr",
    }
    with pytest.raises(ValueError, match=text):
        wb.imported_replicates(**usual | change)
