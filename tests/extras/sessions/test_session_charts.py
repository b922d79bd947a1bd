"""Charts of a session: one row per estimate and stratum, one interval per interim analysis, and their texts."""

import pytest
from audited import created, label, population, truths

from workbench.extras.sessions import charts
from workbench.extras.sessions.page import read


@pytest.fixture
def session(tmp_path):
    items, truth = population()
    with created(tmp_path, items) as session:
        session.known = truths(items, truth)
        yield session


def test_without_labels_there_is_no_chart(session):
    report = read(session.path)
    assert charts.finding(report.estimates["planned"], report.rates) is None
    assert report.looked() == "This report is the only interim analysis so far."


def test_the_finding_has_a_row_per_estimate_and_stratum(session):
    label(session, session.known, 40)
    report = read(session.path, "ann")
    planned = report.estimates["planned"]
    figure = charts.finding(planned, report.rates)
    (interval,) = figure.data["intervals"]
    assert (interval["low"], interval["high"]) == tuple(planned.interval())
    names = [row["name"] for row in figure.data["texts"]]
    assert names == ["accuracy", *(f"stratum {row['stratum']}" for row in report.rates.rows())]
    for row, rate in zip(figure.data["points"][1:], report.rates.rows(), strict=True):
        assert row["estimate"] == rate["correct"] / rate["labeled"]
    assert figure.chart().description == figure.alternative
    assert figure.title.startswith("95% confidence interval, and correct labels per stratum")


def test_every_interim_analysis_has_its_intervals(session):
    for count in (20, 20):
        label(session, session.known, count)
        session.estimate()
    figure = charts.interim_analyses(session.looks, session.design)
    assert [(row["labeled"], row["method"]) for row in figure.data["rows"]] == [
        (20, "planned"),
        (40, "planned"),
    ]
    limits = [look["intervals"]["accuracy"] for look in session.looks]
    assert [[row["low"], row["high"]] for row in figure.data["rows"]] == limits
    assert figure.title == "95% confidence intervals of 2 interim analyses"
    assert figure.alternative.startswith(f"{figure.title}. First: 20 labels, ")
    assert figure.chart().to_dict()["description"] == figure.alternative
    assert charts.interim_analyses(session.looks[:1], session.design) is None


@pytest.mark.parametrize("asks", ["accuracy", "class_metrics"])
def test_a_page_promises_an_interval_at_any_time_only_for_accuracy(tmp_path, asks):
    items, truth = population()
    metrics_of = (
        {} if asks == "accuracy" else {"question": asks, "metrics_of": "dog", "asks": "truth"}
    )
    with created(tmp_path, items, **metrics_of) as session:
        label(session, truths(items, truth), 20)
        report = read(session.path)
    sample = report.basis()[0]
    table = report.methods(*report.estimates.values())._repr_html_()
    for text in (sample, table):
        assert ("is valid at any interim analysis" in text) == (asks == "accuracy")
        assert ("is available once all planned" in text) == (asks != "accuracy")
    assert ("or at every 10 labels" in table) == (asks == "accuracy")
    shown = {row["setting"]: row["value"] for row in report.settings.rows()}
    assert shown["strata"] == len(report.design["stratum_size"])
