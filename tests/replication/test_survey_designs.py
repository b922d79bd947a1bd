"""Certainty PSUs, weights of 0 and JK2 as R's survey has them, and from the command's files."""

import json
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.replication.estimates import ReplicateEstimate

ORACLE = json.loads(
    (Path(__file__).parents[1] / "oracles/survey_designs.json").read_text(encoding="utf-8")
)
NAMES = {"psu": "psu", "weight": "weight", "positive": "1"}


def columns(name):
    return {key: np.array(values) for key, values in ORACLE[name]["data"].items()}


def estimated(name, method="auto", **roles):
    items = wb.load_labeled(columns(name), **NAMES, **roles)
    found = wb.estimate_metrics(items, "accuracy f1", method=method)
    return {row["metric"]: (row["estimate"], row["standard_error"]) for row in found.rows()}


@pytest.mark.parametrize("method", ["generalized", "jkn"])
def test_a_psu_that_is_all_of_its_stratum_has_no_variance(method):
    """Linear statistics exactly; F1, which R linearizes, nearly."""
    found, expected = estimated("certain", method, fpc="fpc"), ORACLE["certain"]["estimates"]
    assert found["accuracy"] == pytest.approx(expected["accuracy"], rel=0.06)
    assert found["f1"] == pytest.approx(expected["f1"], rel=0.06)
    data = columns("certain")
    design = wb.SurveyDesign(
        data["stratum"], psu=data["psu"], weight=data["weight"], fpc=data["fpc"]
    )
    assert design.df == ORACLE["certain"]["df"] and design.certain.tolist() == [
        False,
        True,
        False,
        True,
        False,
    ]
    mean = ORACLE["certain"]["estimates"]["accuracy"][0]
    rest = ((data["truth"] == data["prediction"]) - mean) / data["weight"].sum()
    linear = wb.replicate_estimate(wb.replicates(design, method), "total", rest)
    assert linear.standard_error == pytest.approx(expected["accuracy"][1], rel=1e-9)


@pytest.mark.parametrize("method", ["generalized", "jkn", "bootstrap"])
def test_weights_of_certain_psus_never_change(method):
    data = columns("certain")
    design = wb.SurveyDesign(
        data["stratum"], psu=data["psu"], weight=data["weight"], fpc=data["fpc"]
    )
    made = wb.replicates(design, method)
    weights, alone = made.weights(), np.isin(data["stratum"], [2, 4])
    assert np.array_equal(weights[alone], np.repeat(data["weight"][alone, None], made.count, 1))
    assert np.ptp(weights[~alone], axis=1).min() > 0
    values = np.random.default_rng(0).normal(size=(data["psu"].size, 2))
    assert made.totals(values) == pytest.approx(weights.T @ values, rel=1e-9)


@pytest.mark.parametrize("method", ["brr", "fay", "jk2"])
def test_balanced_methods_leave_certain_psus_alone(method):
    stratum, psu = [1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 3, 4, 5, 6, 7, 7]
    design = wb.SurveyDesign(stratum, psu=psu, fpc=[9, 9, 9, 9, 9, 9, 1, 1])
    y = np.array([1.0, 4, 2, 8, 5, 7, 100, 3])
    found = wb.replicate_estimate(wb.replicates(design, method), "total", y)
    assert (
        found.variance == pytest.approx((9 + 36 + 4) * (1 - 2 / 9), rel=1e-12)
        and found.estimate == y.sum()
    )


def test_what_lies_in_certain_psus_only_is_known():
    design = wb.SurveyDesign([1, 1, 2, 2, 3, 3], psu=[1, 2, 3, 4, 5, 5], fpc=[9, 9, 9, 9, 1, 1])
    y, domain = [1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 1, 1]
    found = wb.replicate_estimate(
        wb.replicates(design, "generalized"), "proportion", y, domain=domain
    )
    assert (found.estimate, found.variance, *found.interval()) == (0.5, 0, 0.5, 0.5)
    part = wb.replicate_estimate(wb.replicates(design, "generalized"), "proportion", y)
    assert part.interval().low < 0.5 < part.interval().high
    assert (part.effective_psus, part.effective_df) == (4, 2)  # of the others, of equal weight


def test_a_population_of_nothing_but_certain_psus_is_refused():
    with pytest.raises(
        ValueError, match="^fpc must leave PSUs that were not sampled; every stratum has one PSU"
    ):
        wb.SurveyDesign([1, 2], fpc=[1, 1])
    with pytest.raises(ValueError, match="^stratum must hold at least 2 PSUs; 2 holds 1: merge"):
        wb.SurveyDesign([1, 1, 2], fpc=[5, 5, 2])


def test_weights_of_0_are_outside_the_population():
    """Linear statistics exactly; ratios, which R linearizes, nearly."""
    found, expected = estimated("outside", "jkn"), ORACLE["outside"]["estimates"]
    for metric in ("accuracy", "f1"):
        assert found[metric] == pytest.approx(expected[metric], rel=0.1)
    data = columns("outside")
    counts = data["weight"] > 0
    rest = ((data["truth"] == data["prediction"]) - expected["accuracy"][0]) / data["weight"].sum()
    design = wb.SurveyDesign(data["stratum"], psu=data["psu"], weight=data["weight"])
    linear = wb.replicate_estimate(wb.replicates(design, "jkn"), "total", rest)
    assert linear.standard_error == pytest.approx(expected["accuracy"][1], rel=1e-9)
    dummy = wb.SurveyDesign(
        data["stratum"], psu=data["psu"], weight=np.where(counts, data["weight"], 1.0)
    )
    one = wb.SurveyDesign(data["stratum"], psu=data["psu"], weight=data["weight"])
    y = data["truth"] == data["prediction"]
    inside = wb.replicate_estimate(wb.replicates(dummy, "jkn"), "proportion", y, domain=counts)
    zero = wb.replicate_estimate(wb.replicates(one, "jkn"), "proportion", y)
    assert (
        zero.interval().low == pytest.approx(inside.interval().low)
        and zero.items == inside.items == counts.sum()
    )
    assert (zero.psus, zero.df) == (inside.psus, inside.df)


def test_a_class_and_a_group_of_weight_0_only_are_left_out():
    data = {
        "truth": list("aabbc") * 8,
        "prediction": list("aabac") * 8,
        "g": list("xyxyz") * 8,
        "weight": [1, 2, 1, 2, 0] * 8,
    }
    found = wb.estimate_metrics(
        wb.load_labeled(data, weight="weight", group="g"), "accuracy macro_f1"
    )
    assert {row["group"] for row in found.rows()} == {None, "x", "y"}
    overall = found.estimates[1]
    assert overall.labels == ("a", "b") and overall.items == 32
    assert "8 items have weight 0: they are outside the population" in "; ".join(
        wb.sentences(found.notes)
    )
    assert (
        found.rows()[0]["naive_low"] < 0.75 < found.rows()[0]["naive_high"]
    )  # 24 of 32, not of 40


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        ([0] * 4, "weight must be above 0 for some item; all are 0"),
        ([1, 1, -1, 0], "column 'w', data row 3: a weight must be at least 0; got -1"),
    ],
)
def test_other_weights_are_refused(weight, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        wb.load_labeled(
            {"truth": [0, 1, 0, 1], "prediction": [0, 1, 1, 0], "w": weight}, weight="w"
        )
    with pytest.raises(ValueError, match="^weight must be "):
        wb.SurveyDesign([1, 1, 2, 2], weight=weight)


def test_jk2_is_that_of_the_survey_package():
    found, expected = estimated("jk2", "jk2"), ORACLE["jk2"]["estimates"]
    for metric in ("accuracy", "f1"):
        assert found[metric] == pytest.approx(expected[metric], rel=1e-9)


def test_published_jk2_weights_are_those_of_the_survey_package():
    data = columns("jk2")
    design = wb.SurveyDesign(data["stratum"], psu=data["psu"], weight=data["weight"])
    made = wb.replicates(design, "jk2")
    assert (made.count, made.coefficients.tolist()) == (8, [1.0] * 8)
    imported = wb.imported_replicates(data["weight"], made.weights(), method="jk2")
    found = wb.replicate_estimate(imported, "f1", data["truth"], data["prediction"])
    assert (found.estimate, found.standard_error) == pytest.approx(
        ORACLE["jk2"]["estimates"]["f1"], rel=1e-9
    )
    frame = {**data, **{f"rep_{r}": made.weights()[:, r] for r in range(8)}}
    items = wb.load_labeled(frame, weight="weight", replicate_weights="rep_*", positive="1")
    (row,) = wb.estimate_metrics(items, "f1", method="jk2").rows()
    assert row["standard_error"] == pytest.approx(found.standard_error, rel=1e-12)


def test_jk2_needs_pairs():
    with pytest.raises(
        ValueError, match="^method 'jk2' needs two PSUs in every stratum; got 1 stratum of 2, 1 "
    ):
        wb.replicates(wb.SurveyDesign([1, 1, 2, 2, 2]), "jk2")


def test_weights_of_0_have_replicates_of_0():
    weight = np.array([0.0, 1, 1, 2, 2])
    columns = np.array([[0, 2, 0, 2, 2.0], [0, 0, 2, 2, 4.0]]).T
    made = wb.imported_replicates(weight, columns, method="brr")
    found = wb.replicate_estimate(made, "proportion", [1, 0, 1, 1, 0])
    assert (
        isinstance(found, ReplicateEstimate)
        and found.estimate == pytest.approx(3 / 6)
        and found.items == 4
    )
    with pytest.raises(
        ValueError,
        match="^replicate_weights must be 0 where the weight is 0; item 0 replicate 1 is 1",
    ):
        wb.imported_replicates(weight, columns + np.eye(5, 2)[:, ::-1], method="brr")
