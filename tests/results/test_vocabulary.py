"""One name per idea: the row keys of every result, intervals, audits."""

import importlib
import json
import keyword
import pkgutil
from pathlib import Path

import pytest

import workbench
import workbench as wb
from workbench.results import Result, vocabulary

SAVED = [
    saved["data"]
    for saved in json.loads(
        (Path(__file__).parents[1] / "fixtures" / "results.json").read_text(encoding="utf-8")
    )
]
# base classes, which nothing returns
BASES = {"Audit", "SampledValues"}
# tables that results give beside rows()
MORE = (
    "methods",
    "metric_rows",
    "levels",
    "changes",
    "growth_rates",
    "allocation_rows",
    "clusters",
    "models",
    "ranks",
    "conditions",
    "who_differs",
)


def columns_of_data(result):
    """Columns that are called as the data are: models, columns of a file, classes; a `Table` is shown as given."""
    if isinstance(result, wb.CVLosses):
        return set(result.models)
    if isinstance(result, wb.FrameSample):
        return set(result.columns)
    if isinstance(result, wb.ConfusionCounts):
        return {f"predicted_{label}" for label in result.labels}
    return {key for row in result.entries for key in row} if isinstance(result, wb.Table) else set()


def tables(result):
    yield result.rows()
    for name in MORE:
        if callable(getattr(type(result), name, None)):
            yield getattr(result, name)()


def kinds(of=Result):
    for kind in of.__subclasses__():
        yield from (kind, *kinds(kind))


def strange_keys(result):
    keys = {key for table in tables(result) for row in table for key in row}
    return keys - vocabulary.KEYS - columns_of_data(result)


@pytest.mark.parametrize("saved", SAVED, ids=lambda saved: saved["kind"])
def test_every_row_key_is_in_the_vocabulary(saved):
    assert strange_keys(Result.from_dict(saved)) == set()


def test_a_key_outside_the_vocabulary_is_found():
    assert strange_keys(wb.Feedback("1.1", "correct", "yes", "", "")) == set()

    class Odd(wb.Feedback):
        def rows(self):
            return [{"SE": 1, "verdict": 2}]

    assert strange_keys(Odd("1.1", "correct", "yes", "", "")) == {"SE"}


def test_every_class_of_results_is_walked():
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    names = {kind.__name__ for kind in kinds() if kind.__module__.startswith("workbench.")}
    walked = {type(Result.from_dict(saved)).__name__ for saved in SAVED}
    assert names - walked == BASES and len(names) > 45


def test_row_keys_are_identifiers():
    assert [
        key
        for key in vocabulary.KEYS
        if not key.isidentifier() or keyword.iskeyword(key) or key != key.lower()
    ] == []
    assert set(vocabulary.SHOWN) <= vocabulary.KEYS
    # no table has both a share and the metric "proportion"
    keys = vocabulary.KEYS - {"proportion"}
    assert len({vocabulary.words(key) for key in keys}) == len(keys)


def test_people_read_words_and_their_own_names():
    page = wb.allocate([1000, 600], 100, "equal")._repr_html_()
    assert '<th scope="col">labels</th>' in page and "labeled</th>" not in page
    page = wb.CVLosses.from_fold_means({"my_model": [0.2, 0.1]})._repr_html_()
    assert '<th scope="col">my_model</th>' in page
    page = wb.ConfusionCounts([[3, 1], [0, 2]], labels=("is_a", "b"))._repr_html_()
    assert '<th scope="col">predicted is_a</th>' in page


def test_an_audit_gives_its_interval_when_asked():
    found = wb.accuracy_audit(wb.digit_forms().items(), 100)
    assert tuple(found.interval()) == tuple(found.estimate.interval(0.95))
    plan = wb.plan_budget([360, 359], [0.6, 0.9], 0.05, interval="wald")
    assert plan.interval_method == "wald"
    assert (
        wb.accuracy_audit(
            wb.read_scores({"s": [0.5, 0.6, 0.7, 0.8]}, score="s"), 4, n_strata=2
        ).interval()
        is None
    )
