"""Differences of two models as R has them: AUC from pROC, other metrics from survey."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import workbench as wb

ORACLE = json.loads(
    (Path(__file__).parents[1] / "oracles" / "metric_differences.json").read_text(encoding="utf-8")
)
CASES = {case["name"]: case for case in ORACLE["cases"]}
METRICS = "accuracy precision recall f1 auc"


def compared(name, method="auto"):
    """Return the rows of two models of a case, by metric."""
    data = {column: np.array(values) for column, values in CASES[name]["data"].items()}
    items = wb.load_labeled(
        data,
        prediction="old,new",
        score="old_score,new_score",
        psu="psu",
        weight="weight",
        positive="1",
    )
    comparison = wb.compare_metrics(items, METRICS, method=method)
    assert comparison.differences[0].df == CASES[name]["df"]  # of the accuracy
    return {row["metric"]: row for row in comparison.rows()}


def test_delong_differences_are_those_of_proc():
    items = wb.load_labeled(
        ORACLE["patients"], truth="poor", prediction="", score="s100b,wfns,ndka", stratum=""
    )
    comparison = wb.compare_metrics(items, adjust="none")
    rows = {(row["first"], row["second"]): row for row in comparison.rows()}
    for pair in ORACLE["delong"]:
        row = rows.pop((pair["first"], pair["second"]))
        first, second = pair["auc"]
        (covariance,) = pair["covariance"]
        error = np.sqrt(sum(pair["variances"]) - 2 * covariance)
        assert row["difference"] == pytest.approx(first - second, abs=1e-12)
        assert row["standard_error"] == pytest.approx(error, rel=1e-9)
        z = row["difference"] / row["standard_error"]
        assert [z] == pytest.approx(pair["z"], rel=1e-9)
        assert [2 * stats.norm.sf(abs(z))] == pytest.approx(pair["pvalue"], rel=1e-9)
        reach = stats.norm.isf((1 - pair["level"]) / 2) * row["standard_error"]
        limits = row["difference"] - reach, row["difference"] + reach
        assert limits == pytest.approx(pair["interval"], rel=1e-9)
    assert not rows


def test_the_published_figures_of_proc_to_their_digits():
    """s100b against wfns: the example of two paired curves of the package's own data."""
    items = wb.load_labeled(
        ORACLE["patients"], truth="poor", prediction="", score="s100b,wfns", stratum=""
    )
    comparison = wb.compare_metrics(items)
    [row] = comparison.rows()
    aucs = [model["estimate"] for model in comparison.models()]
    assert np.round(aucs, 5).tolist() == [0.73137, 0.82368]
    assert round(row["difference"], 5) == -0.09231
    z = row["difference"] / row["standard_error"]
    assert round(z, 6) == -2.208984
    assert round(2 * stats.norm.sf(-z), 8) == 0.02717578
    reach = stats.norm.isf(0.025) * row["standard_error"]
    limits = np.round([row["difference"] - reach, row["difference"] + reach], 8)
    assert limits.tolist() == [-0.17421442, -0.01040618]


def test_proc_has_the_covariances_of_placements():
    """The oracle itself, pair by pair of patients."""
    poor = np.array(ORACLE["patients"]["poor"]) == 1
    for pair in ORACLE["delong"]:
        above = []
        for name in (pair["first"], pair["second"]):
            score = np.array(ORACLE["patients"][name])
            above.append((np.sign(np.subtract.outer(score[poor], score[~poor])) + 1) / 2)
        of_poor, of_others = np.cov(np.mean(above, 2)), np.cov(np.mean(above, 1))
        covariances = of_poor / poor.sum() + of_others / (~poor).sum()
        assert np.mean(above, (1, 2)) == pytest.approx(pair["auc"], rel=1e-12)
        assert np.diag(covariances) == pytest.approx(pair["variances"], rel=1e-10)
        assert covariances[0, 1] == pytest.approx(pair["covariance"][0], rel=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_jackknife_differences_are_those_of_survey(name):
    """The AUC of independent items takes DeLong's covariance, which is close to the jackknife."""
    rows = compared(name)
    for metric, (difference, error) in CASES[name]["jackknife"].items():
        near = 0.02 if (name, metric) == ("independent items", "auc") else 1e-9
        assert rows[metric]["difference"] == pytest.approx(difference, abs=1e-12)
        assert rows[metric]["standard_error"] == pytest.approx(error, rel=near)


@pytest.mark.parametrize("name", CASES)
def test_generalized_differences_are_close_to_the_linearized_ones_of_survey(name):
    rows = compared(name, "generalized")
    for metric, (difference, error) in CASES[name]["linearized"].items():
        assert rows[metric]["difference"] == pytest.approx(difference, abs=1e-12)
        assert rows[metric]["standard_error"] == pytest.approx(error, rel=0.03)
