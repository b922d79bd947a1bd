"""Replication against R `survey`, whose output stands in oracles/survey_replicates.json."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench import SurveyDesign, imported_replicates, replicate_estimate, replicates

SURVEY = json.loads((Path(__file__).parents[1] / "oracles" / "survey_replicates.json").read_text())
DATA = {
    name: {column: np.array(values) for column, values in data.items()}
    for name, data in SURVEY["data"].items()
}
CASES = SURVEY["cases"]
WITH_ARRAY = [case for case in CASES if case["array"]]
TOTALS = SURVEY["totals"]
DEFECTS = SURVEY["defects"]


def named(case):
    return (
        f"{case['method']} {case['rho']}, {case['data']}"
        if case["method"] == "fay"
        else f"{case['method']}, {case['data']}"
    )


def sizes(case):
    return " ".join(map(str, case["units"]))


every_case = pytest.mark.parametrize("case", CASES, ids=named)
every_array = pytest.mark.parametrize("case", WITH_ARRAY, ids=named)


def exactly(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-14)


def survey_design(case):
    data = DATA[case["data"]]
    return SurveyDesign(data["stratum"], psu=data["psu"], weight=data["weight"])


def half_samples(case):
    """Return R's half-samples, (R, H), +1 where the unit of the stratum that comes first in the data is kept."""
    return np.array([[1 if kept == "1" else -1 for kept in line] for line in case["array"]])


def replicates_of(case):
    if case["array"] is None:
        return replicates(survey_design(case), case["method"])
    how = {"rho": case["rho"]} if case["method"] == "fay" else {}
    return replicates(survey_design(case), case["method"], array=half_samples(case), **how)


def weighted_correlation(weight, x, y):
    x, y = x - np.average(x, weights=weight), y - np.average(y, weights=weight)
    return weight @ (x * y) / np.sqrt(weight @ x**2 * (weight @ y**2))


def arguments(data, name):
    """Return a statistic of the R script as the arguments of `replicate_estimate`."""
    y, x, truth, prediction, score = (
        data[column] for column in ("y", "x", "truth", "prediction", "score")
    )
    return {
        "mean": ("mean", y),
        "total": ("total", y),
        "ratio": ("ratio", y, x),
        "accuracy": ("accuracy", truth, prediction),
        "precision": ("precision", truth, prediction),
        "recall": ("recall", truth, prediction),
        "f1": ("f1", truth, prediction),
        "auc": ("auc", truth, score),
        "median": ("quantile", y, 0.5),
        "correlation": (weighted_correlation, x, y),
    }[name]


def estimates(case, names, **how):
    data, drawn = DATA[case["data"]], replicates_of(case)
    return {name: replicate_estimate(drawn, *arguments(data, name), **how) for name in names}


def assert_agree(found, expected):
    """Compare estimates and standard errors by the statistics' names."""
    assert {name: e.estimate for name, e in found.items()} == exactly(
        {k: v[0] for k, v in expected.items()}
    )
    assert {name: e.standard_error for name, e in found.items()} == exactly(
        {k: v[1] for k, v in expected.items()}
    )


def factors(case):
    """Return what R multiplies each item's weight by, (n, R), for two units per stratum, from its half-samples."""
    data = DATA[case["data"]]
    strata, stratum = np.unique(data["stratum"], return_inverse=True)
    first = data["psu"][[np.flatnonzero(stratum == h)[0] for h in range(strata.size)]]
    side = np.where(data["psu"] == first[stratum], 1, -1)
    return 1 + (1 - case["rho"]) * side[:, None] * half_samples(case).T[stratum]


# the same replicates as R: number, degrees of freedom, weights, values


@every_case
def test_number_of_replicates_and_degrees_of_freedom_are_those_of_r(case):
    drawn = replicates_of(case)
    assert (drawn.count, drawn.df) == (case["count"], case["df"])
    assert estimates(case, ["mean"])["mean"].df == case["df"]


@every_array
def test_weights_and_coefficients_are_those_of_r(case):
    drawn = replicates_of(case)
    weights = DATA[case["data"]]["weight"][:, None] * factors(case)
    np.testing.assert_allclose(drawn.weights(), weights, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        drawn.coefficients, 1 / (case["count"] * (1 - case["rho"]) ** 2), rtol=1e-12
    )


@every_case
def test_replicate_values_of_f1_are_those_of_r(case):
    found, expected = estimates(case, ["f1"])["f1"].replicate_values, case["f1_replicates"]
    if case["array"] is None:  # a jackknife has no order
        found, expected = np.sort(found), np.sort(expected)
    assert found == exactly(expected)


@every_array
def test_an_array_of_unit_numbers_means_the_same_as_signs(case):
    how = {"rho": case["rho"]} if case["method"] == "fay" else {}
    units = (1 - half_samples(case)) // 2
    found = replicates(survey_design(case), case["method"], array=units, **how)
    np.testing.assert_array_equal(found.weights(), replicates_of(case).weights())


# estimates, standard errors, intervals


@every_case
def test_estimates_and_standard_errors_agree_with_r(case):
    assert_agree(estimates(case, case["overall"]), case["overall"])


@every_case
def test_estimates_and_standard_errors_in_a_domain_agree_with_r(case):
    domain = DATA[case["data"]]["domain"] == 1
    assert_agree(estimates(case, case["domain"], domain=domain), case["domain"])


@every_case
def test_standard_errors_around_the_replicates_mean_agree_with_r(case):
    expected = case["around_their_mean"]
    assert_agree(estimates(case, expected, center="mean"), expected)


@every_case
def test_t_intervals_agree_with_r(case):
    mean = estimates(case, ["mean"])["mean"]
    for limits in case["intervals"]:
        assert tuple(mean.interval(level=limits["level"], method="t")) == exactly(limits["mean"])


@every_case
def test_logit_t_intervals_agree_with_r(case):
    """R's svyciprop calls it xlogit: the delta method on the logit scale, t with the design's degrees of freedom."""
    found = estimates(case, ["accuracy", "f1"])
    for limits in case["intervals"]:
        for name in found:
            as_r = replace(found[name], df=case["df"])  # R takes the design's, also of an F1
            interval = as_r.interval(level=limits["level"], method="logit")
            assert tuple(interval) == exactly(limits[f"{name}_logit"])


@every_case
def test_an_interval_of_replicated_log_odds_agrees_with_rs_svyciprop_logit(case):
    """R's default replicates the log odds themselves; a callable does the same."""

    def log_odds(weight, right):
        return np.log(weight @ right / (weight @ (1 - right)))

    data = DATA[case["data"]]
    found = replicate_estimate(replicates_of(case), log_odds, data["truth"] == data["prediction"])
    for limits in case["intervals"]:
        low, high = found.interval(level=limits["level"], method="t")
        assert (1 / (1 + np.exp(-low)), 1 / (1 + np.exp(-high))) == exactly(
            tuple(limits["accuracy_glm"])
        )


def test_items_that_are_their_own_units_need_no_psu():
    case = next(case for case in WITH_ARRAY if case["data"] == "20 strata of items")
    data = DATA[case["data"]]
    drawn = replicates(
        SurveyDesign(data["stratum"], weight=data["weight"]), "brr", array=half_samples(case)
    )
    assert_agree(
        {"f1": replicate_estimate(drawn, *arguments(data, "f1"))}, {"f1": case["overall"]["f1"]}
    )


@every_case
def test_degrees_of_freedom_in_a_domain_count_its_units_where_r_takes_a_rank(case):
    """Units less strata that hold an item of the domain, never more than R's rank of the weights less one."""
    data = DATA[case["data"]]
    domain = data["domain"] == 1
    found = estimates(case, ["mean"], domain=domain)["mean"].df
    assert found == len(set(data["psu"][domain].tolist())) - len(
        set(data["stratum"][domain].tolist())
    )
    assert found <= case["domain_df"] <= case["df"]


# any number of units: a total has a textbook variance, R gives it by svytotal without replicates


def total_variance(case, method):
    design = SurveyDesign(case["stratum"], psu=case.get("psu"), weight=case["weight"])
    return replicate_estimate(replicates(design, method), "total", case["y"]).variance


@pytest.mark.parametrize("method", ["jkn", "generalized"])
@pytest.mark.parametrize("case", TOTALS, ids=sizes)
def test_total_has_rs_textbook_variance_for_any_mixture(case, method):
    assert total_variance(case, method) == pytest.approx(case["variance"], rel=1e-12, abs=0)


@pytest.mark.parametrize(
    "case", [c for c in TOTALS if len(set(c["units"])) == 1 and 6 not in c["units"]], ids=sizes
)
def test_total_has_rs_textbook_variance_by_orthogonal_arrays(case):
    assert total_variance(case, "brr") == pytest.approx(case["variance"], rel=1e-12, abs=0)


# where R goes astray


@pytest.mark.parametrize("which, units", [("paired", 4), ("merged", 3)])
def test_brr_is_exact_where_r_pairs_or_merges_units(which, units):
    case = DEFECTS[which]
    assert set(np.unique(case["stratum"], return_counts=True)[1]) == {units}
    assert abs(case["variance"] / case["textbook"] - 1) > 0.2
    assert total_variance(case, "brr") == pytest.approx(case["textbook"], rel=1e-12, abs=0)


def test_brr_takes_odd_numbers_of_units_that_r_refuses():
    assert DEFECTS["odd"] == "Can't split with odd numbers of PSUs in a stratum"
    stratum = np.repeat([1, 2, 3, 4], 3)
    assert replicates(SurveyDesign(stratum), "brr").df == 8


@pytest.mark.parametrize("accepted", DEFECTS["fay"], ids=lambda c: f"rho={c['rho']}")
def test_rho_outside_its_range_is_refused_where_r_computes(accepted):
    """R takes all three: a negative factor, a variance of 0 times infinity, the halves exchanged."""
    assert accepted["smallest_factor"] < 0 or accepted["se"] is None or accepted["rho"] > 1
    with pytest.raises(ValueError, match=f"rho .*{accepted['rho']}"):
        replicates(survey_design(WITH_ARRAY[0]), "fay", rho=accepted["rho"])


@pytest.mark.parametrize("method", ["brr", "fay", "jkn", "bootstrap", "generalized"])
def test_a_stratum_of_one_unit_is_refused_by_every_method(method):
    """R's bootstrap takes it, and counts no variance there."""
    assert DEFECTS["single_bootstrap"] == "accepted"
    with pytest.raises(ValueError, match="collapse"):
        replicates(SurveyDesign(["a", "a", "lonely", "c", "c"]), method)


@pytest.mark.parametrize("case", SURVEY["fpc"], ids=lambda case: case["data"])
@pytest.mark.parametrize("method", ["jkn", "generalized"])
def test_finite_populations_of_psus(case, method):
    data = DATA[case["data"]]
    design = SurveyDesign(
        data["stratum"], psu=data["psu"], weight=data["weight"], fpc=case["population"]
    )
    found = replicate_estimate(replicates(design, method), "total", data["y"])
    assert (found.estimate, found.standard_error) == exactly(case["total"])


def test_replicate_weights_that_r_made():
    case = SURVEY["imported"]
    data = DATA[case["data"]]
    made = imported_replicates(
        data["weight"],
        np.transpose(case["weights"]),
        method="bootstrap",
        coefficients=case["coefficients"],
    )
    assert made.df == case["df"] and made.design.stratum_of_psu.size == np.unique(data["psu"]).size
    for name in ("mean", "total", "ratio", "accuracy", "precision", "recall", "f1", "auc"):
        found = replicate_estimate(made, *arguments(data, name))
        assert (found.estimate, found.standard_error) == exactly(case["overall"][name]), name
        assert found.df <= case["df"]
