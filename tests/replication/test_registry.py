"""A metric is one entry and its function: a made-up one is seen wherever there are metrics."""

import inspect
import re

import numpy as np
import pytest

import workbench as wb
from workbench.charts import replication as charts
from workbench.charts.replication import intervals
from workbench.replication import metrics
from workbench.replication.statistics import METRICS, Metric, Totals
from workbench.reports.inputs import replication as read
from workbench.reports.parameters import find_notebook, notebook_parameters, shown_help


def negatives(truth, prediction, size):
    return Totals(((truth == 0) & (prediction == 0)).astype(float), (truth == 0).astype(float))


@pytest.fixture
def made_up(monkeypatch):
    entry = Metric(
        "specificity",
        ("truth", "prediction"),
        negatives,
        kind="proportion",
        about="class",
        empty="every item is positive",
        title="true negative rate",
    )
    monkeypatch.setitem(METRICS, entry.name, entry)


@pytest.fixture
def forms():
    return wb.digit_forms().labeled(9)


def negatives_counted(items):
    kept = items.truth != 9
    return np.mean(items.prediction[kept] != 9)


def test_a_metric_that_is_added_is_estimated(made_up, forms):
    found = wb.estimate_metrics(forms, "specificity accuracy")
    assert found.estimates[0].estimate == pytest.approx(negatives_counted(forms), rel=1e-12)
    low, high = found.estimates[0].interval()
    assert low < found.estimates[0].estimate < high < 1
    assert [row["metric"] for row in found.rows()] == ["specificity", "accuracy"]
    assert (
        found.rows()[0]["naive_low"] < found.estimates[0].estimate < found.rows()[0]["naive_high"]
    )
    for text in (repr(found), found.finding(), found._repr_html_()):
        assert "True negative rate" in text
    every = wb.estimate_metrics(wb.LabeledItems(**vars(forms) | {"positive": None}), "specificity")
    assert len(every.estimates) == 10 and every.rows()[0]["label"] == 0


def test_a_metric_that_is_added_is_a_statistic_of_replicates(made_up, forms):
    design = wb.SurveyDesign(forms.stratum, psu=forms.psu)
    made = wb.replicates(design, "fay")
    truth, prediction = forms.truth == 9, forms.prediction == 9
    found = wb.replicate_estimate(made, "specificity", truth, prediction)
    one = wb.replicate_estimate(made, "proportion", ~prediction, domain=~truth)
    assert found.kind == "proportion" and tuple(found.interval()) == pytest.approx(
        tuple(one.interval()), rel=1e-12
    )
    assert found.variance == pytest.approx(one.variance, rel=1e-12)
    with pytest.raises(ValueError, match="^specificity is undefined: every item is positive$"):
        wb.replicate_estimate(made, "specificity", np.ones(truth.size), prediction)
    with pytest.raises(TypeError, match="specificity takes 2 columns, truth and prediction; got 1"):
        wb.replicate_estimate(made, "specificity", truth)


def test_a_metric_that_is_added_is_drawn_and_named(made_up, forms):
    found = wb.estimate_metrics(forms, "specificity")
    figure = intervals.metrics(found)
    title, words = figure.title, figure.alternative
    assert "true negative rate" in title and words.count("true negative rate") == 1
    assert {row["name"] for row in intervals.metrics(found).data["metrics"]} == {
        "true negative rate"
    }
    charts.metrics(found).to_dict()
    charts.replicate_plot(found.estimates[0]).to_dict()


def test_the_report_takes_a_metric_that_is_added(made_up):
    declared = {
        each["name"]: each for each in notebook_parameters(find_notebook("brr-orthogonal-arrays"))
    }
    assert (
        declared["metrics"]["role"] is None
    )  # any text: what it may say is checked before a kernel starts
    assert read.read(metrics="specificity").positive == 9
    with pytest.raises(ValueError, match="metrics must be one of .*'specificity'; got 'specifity'"):
        read.read(metrics="specifity")


def test_without_the_entry_nobody_knows_it(forms):
    with pytest.raises(
        ValueError,
        match="^metrics must be one of 'accuracy', 'precision', 'recall', .*, 'mean_rank'; "
        "got 'specificity'$",
    ):
        wb.estimate_metrics(forms, "specificity")


def named_in(text, start):
    """The names in quotes from a line on, up to the next parameter or section."""
    part = re.search(
        rf"^{start}.*?(?=^\w[\w ]*(?: :|\n---)|\Z)", inspect.cleandoc(text), re.M | re.S
    )
    return set(re.findall(r'"(\w+)"', part[0]))


def asked():
    return [name for name, metric in METRICS.items() if metric.about]


def test_docstrings_and_help_list_every_metric():
    assert named_in(metrics.estimate_metrics.__doc__, "metrics :") == set(asked())
    listed = named_in(wb.replicate_estimate.__doc__, "Notes\n-----")
    assert listed == {name for name, metric in METRICS.items() if metric.is_one}
    declared = {
        each["name"]: each for each in notebook_parameters(find_notebook("brr-orthogonal-arrays"))
    }
    assert '"?" lists them' in shown_help(declared["metrics"])
    with pytest.raises(ValueError) as told:
        read.read(metrics="?")
    assert re.findall(r"'(\w+)'", str(told.value)) == asked()


def test_the_lists_would_miss_a_metric_that_is_added(made_up):
    with pytest.raises(AssertionError):
        test_docstrings_and_help_list_every_metric()


def test_a_function_with_the_name_of_a_metric_is_itself():
    """It has no bounds, whatever it is called."""

    def accuracy(weight, y):
        return weight @ y / weight.sum()

    made = wb.replicates(wb.SurveyDesign([1, 1, 2, 2, 3, 3]))
    y = np.array([1.0, 5, 2, 4, 3, 3])
    found = wb.replicate_estimate(made, accuracy, y)
    assert found.kind == "number" and found.bounds is None
    assert (
        found.estimate == pytest.approx(3)
        and found.variance == wb.replicate_estimate(made, "mean", y).variance
    )
