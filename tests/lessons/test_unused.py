"""Columns of the design that a report did not use are named, with the option that would use them."""

import numpy as np
import pytest

from workbench.reports.inputs import allocation, replication, stratified

RNG = np.random.default_rng(5)
SIZE = 300


@pytest.fixture
def items(tmp_path):
    rows = [
        f"i{k},{RNG.uniform(0.5, 1):.5f},{'ab'[k % 2]},{'ab'[RNG.integers(2)] if k % 4 else ''},"
        f"{('north', 'south')[RNG.integers(2)]},p{k % 60},{RNG.choice([1, 2, 5])}"
        for k in range(SIZE)
    ]
    path = tmp_path / "items.csv"
    path.write_text("\n".join(["id,score,prediction,label,region,patient,weight", *rows]))
    return str(path)


def texts(result):
    return [note.text for note in result.notes if "was not used" in note.text]


def test_metrics_of_items(items):
    told = texts(replication.read(items=items, truth="label"))
    assert [text.partition(". ")[2] for text in told] == [
        "To use it, add --psu patient",
        "To use it, add --weight weight",
        "To use it, add --stratum region",
    ]
    named = {"items": items, "truth": "label", "psu": "patient", "weight": "weight", "nest": True}
    assert texts(replication.read(**named, stratum="region")) == []
    assert texts(replication.read(**named, stratum="region, prediction")) == []


@pytest.mark.parametrize("extra", [{"truth": "label"}, {"budget": 60, "write": False}])
def test_accuracy(items, extra):
    settings = {"scores": items, "score": "score", "prediction": "prediction", "id": "id"} | extra
    told = texts(stratified.read(**settings)[1])
    assert any("'region'" in text and text.endswith("--strata-by region") for text in told)
    command = "workbench report brr-orthogonal-arrays --weight weight"
    assert any(text.endswith(f"To use it, run {command} instead") for text in told)
    by_region = texts(stratified.read(**settings, strata_by="region")[1])
    assert not any("'region'" in text for text in by_region)


def test_values(items):
    _, plan, _, found = allocation.read(strata=items, stratum="region", value="score", budget=50)
    assert found is None and any("'weight'" in text for text in texts(plan))
    assert not any("'region'" in text for text in texts(plan))
    plan = allocation.read(strata=items, stratum="prediction", value="score", budget=50)[1]
    assert any(text.endswith("To use it, add --stratum region") for text in texts(plan))


def test_the_data_of_the_course_have_no_such_columns():
    assert texts(replication.read()) == [] == texts(stratified.read(budget=100)[1])
