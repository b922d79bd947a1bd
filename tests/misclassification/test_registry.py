"""An estimator of shares is one entry and its functions: a made-up one is seen wherever there are estimators."""

import inspect
import math
import re

import numpy as np
import pytest

import workbench as wb
from workbench.charts import misclassification as charts
from workbench.charts.misclassification import scenes, words
from workbench.misclassification import methods
from workbench.misclassification.methods import METHODS, Method
from workbench.reports.inputs.misclassification import read
from workbench.reports.parameters import (
    ReportError,
    find_notebook,
    notebook_parameters,
    parse_parameters,
)

AUDIT = wb.ConfusionCounts([[828, 72], [2, 98]])
COUNTS, FRAME = [8100, 1900], [8300, 1700]
PARTS = ("calibration", "classify_and_count")


def halfway(table, frame, shares):
    return sum(METHODS[name].shares(table, frame, shares) for name in PARTS) / 2


def halfway_slopes(table, frame, shares):
    both = [METHODS[name].slopes(table, frame, shares) for name in PARTS]
    return tuple((first + second) / 2 for first, second in zip(*both, strict=True))


@pytest.fixture
def made_up(monkeypatch):
    entry = Method(
        "halfway",
        "half of the way",
        halfway,
        halfway_slopes,
        needs=("columns",),
        assumes="half of a change is one of P(truth | prediction)",
    )
    monkeypatch.setitem(METHODS, entry.name, entry)


def test_an_estimator_that_is_added_is_estimated(made_up):
    found = wb.estimate_prevalence(AUDIT, COUNTS, method="halfway")
    parts = [wb.estimate_prevalence(AUDIT, COUNTS, method=name) for name in PARTS]
    assert found.estimate == pytest.approx(sum(part.estimate for part in parts) / 2, rel=1e-12)
    low, high = found.interval()
    assert low < found.estimate < high
    assert "halfway: proportion 0.1507" in repr(
        found
    ) and "assuming half of a change is one of" in repr(found)
    without = wb.ConfusionCounts([[828, 0], [2, 0]])
    with pytest.raises(ValueError, match="no audited item was predicted 1"):
        wb.estimate_prevalence(without, COUNTS, method="halfway")


def test_an_estimator_that_is_added_is_compared(made_up):
    row = wb.compare_estimators(AUDIT, COUNTS, FRAME).rows()[-1]
    assert (
        row["method"] == "halfway"
        and row["constant"].startswith("half of a change")
        and row["problem"] == ""
    )
    # without a formula the error is that of the estimate and of its bias, which is known exactly at the believed shares
    assert abs(row["bias"]) < row["rmse"] and row["rmse"] > row["standard_error"] > 0


def test_a_series_takes_an_estimator_that_is_added(made_up):
    months = {"Jan": FRAME, "Feb": COUNTS}
    series = wb.prevalence_series(AUDIT, FRAME, months, method="halfway")
    change, parts = (
        series.change("Jan", "Feb"),
        [
            wb.prevalence_series(AUDIT, FRAME, months, method=name).change("Jan", "Feb")
            for name in PARTS
        ],
    )
    assert change.estimate == pytest.approx(sum(part.estimate for part in parts) / 2, rel=1e-12)
    assert change.limits.low < change.estimate < change.limits.high
    charts.series(series).to_dict()


def test_theory_says_that_no_formula_is_known(made_up):
    theory = wb.estimator_theory(0.5, 0.4, 0.6, 0.7, 1000)
    assert math.isnan(theory.bias["halfway"]) and math.isnan(theory.variance["halfway"])
    assert theory.reasons["halfway"] == "no formula for bias and variance is known"
    assert {row["method"] for row in theory.rows()} == set(methods.estimators())


def test_an_estimator_that_is_added_is_simulated_and_drawn(made_up):
    study = wb.simulate_prevalence(0.5, 0.4, 0.8, 0.9, 400, 2000, runs=400)
    assert study.sd["halfway"] > 0 and 0 <= study.coverage("halfway", quantity="change") <= 1
    means = [study.estimates[name] for name in PARTS]
    np.testing.assert_allclose(study.estimates["halfway"], sum(means) / 2, rtol=1e-12)
    figure = scenes.months(study, tuple(methods.estimators()), "halfway")
    assert "half of the way" in figure.title and "half of the way" in figure.alternative
    figure.to_dict()
    comparison = wb.compare_estimators(AUDIT, COUNTS, FRAME)
    assert "half of the way" in charts.estimators(comparison).alternative
    charts.estimators(comparison, "halfway").to_dict()
    looks = {(words.colors()[title], *dash) for title, dash in words.dashes().items()}
    assert len(looks) == len(methods.estimators()) and set(words.names()) == set(
        methods.estimators()
    )


def test_the_report_takes_an_estimator_that_is_added(made_up):
    declared = notebook_parameters(find_notebook("misclassification-correction"))
    assert parse_parameters(declared, {"method": "halfway"}) == {"method": "halfway"}
    assert read(method="halfway")[3].method == "halfway"
    with pytest.raises(
        ReportError, match="one of .*'halfway', 'auto'; got 'half_way'.*did you mean 'halfway'"
    ):
        parse_parameters(declared, {"method": "half_way"})


def test_what_divides_is_planned_with(monkeypatch):
    entry = METHODS["mixed"]
    monkeypatch.setitem(
        METHODS,
        "twin",
        Method(
            "twin", "twin", entry.shares, entry.slopes, entry.theory, entry.needs, entry.divides_by
        ),
    )
    assert "twin" in methods.inverting()
    plans = [
        wb.plan_audit(0.10, 0.15, 0.96, 0.85, 0.025, size=1797, new_size=5000, method=name)
        for name in ("mixed", "twin")
    ]
    assert plans[0].audited == plans[1].audited
    limits = [
        tuple(wb.estimate_prevalence(AUDIT, COUNTS, FRAME, method=name).interval())
        for name in ("mixed", "twin")
    ]
    assert limits[0] == limits[1]


def named(text, name):
    choices = re.search(rf"^{name} : {{(.*?)}}(?:, default .*)?$", inspect.cleandoc(text), re.M)[1]
    return set(re.findall(r'"(\w+)"', choices))


def test_docstrings_list_every_estimator():
    assert named(wb.estimate_prevalence.__doc__, "method") == {"auto", *METHODS}
    assert named(wb.plan_audit.__doc__, "method") == set(methods.inverting())
    constant = re.search(
        r"assumed to stay constant.*?\n(?=\S)",
        inspect.cleandoc(wb.estimate_prevalence.__doc__),
        re.S,
    )[0]
    assert set(METHODS) - {"classify_and_count"} <= set(re.findall(r'"(\w+)"', constant))


def test_the_lists_would_miss_an_estimator_that_is_added(made_up):
    with pytest.raises(AssertionError):
        test_docstrings_list_every_estimator()
