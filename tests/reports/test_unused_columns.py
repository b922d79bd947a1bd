"""Columns that a report left out are named, with the option that would use them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from workbench.data import frames, roles
from workbench.reports.inputs.unused import unused_notes

OPTIONS = {roles.WEIGHT: "--weight", roles.STRATUM: "--stratum", roles.CLUSTER: "--psu"}
TABLE = {
    "truth": ["no", "yes"] * 20,
    "prediction": ["no", "yes"] * 20,
    "weight": [1, 20] * 20,
    "region": ["north", "south"] * 20,
    "household": [k // 4 for k in range(40)],
    "one weight": [1] * 40,
    "month": ["2026-01", "2026-02"] * 20,
    "wave 2 weight": [1.5, 2] * 20,
    "Model_Version": [1.0, 1.5] * 20,
    "version": ["v1"] * 40,
}


def _told(source, used=("truth", "prediction"), options=OPTIONS):
    return {note.text.split("'")[1]: note for note in unused_notes(source, used, options)}


def test_every_unused_column_is_named_with_its_option():
    notes = _told(TABLE)
    assert {*notes} == {"weight", "region", "household", "month", "wave 2 weight", "Model_Version"}
    assert notes["weight"].text == (
        "column 'weight' seems to contain sampling weights but was not used. To use it, add "
        "--weight weight"
    )
    assert notes["wave 2 weight"].text.endswith("To use it, add --weight 'wave 2 weight'")
    assert notes["month"].text == (
        "column 'month' seems to contain periods but was not used. This report has no option for it"
    )
    assert notes["Model_Version"].text == (
        "column 'Model_Version' seems to contain versions of a model, which may have different "
        "error rates, but was not used. This report has no option for it"
    )
    doubtful = (notes[name] for name in ("weight", "household", "Model_Version"))
    assert {note.kind for note in doubtful} == {"unreliable"}
    assert notes["region"].kind == "data"


def test_used_columns_are_not_named_in_whatever_case_they_were_typed():
    used = ["Weight", " REGION", "household", "", "wave 2 weight", "model_version"]
    assert {*_told(TABLE, used)} == {"month"}


REPEATS = {
    "stacked repeats": (
        {"item": [*range(40)] * 3, "repeat": [k // 40 for k in range(120)]},
        "item",
    ),
    "bootstrap": ({"row_id": [k % 30 for k in range(100)]}, "row_id"),
    "after the first rows": ({"image_id": [f"i{k % 2100}" for k in range(4200)]}, "image_id"),
    "no identifiers": ({"repeat": [0, 1, 2] * 40}, "repeat"),
    "a name with a blank": ({"row id": [k % 30 for k in range(100)]}, "row id"),
    "patients are clusters": ({"patient_id": [k % 30 for k in range(100)]}, ""),
    "postal codes": ({"postal_id": [k % 30 for k in range(100)]}, ""),
    "categories": ({"item": [*range(100)], "category_id": [k % 30 for k in range(100)]}, ""),
    "questions with answers": (
        {"id": [*range(100)], "question_id": [k % 30 for k in range(100)]},
        "question_id",
    ),
    "few regions": ({"region_id": [k % 9 for k in range(100)]}, ""),
    "all different": ({"item": [*range(100)]}, ""),
    "gaps": ({"item": [*range(60), *[None] * 40]}, ""),
}


@pytest.mark.parametrize("columns, name", REPEATS.values(), ids=REPEATS)
def test_identifiers_that_repeat_are_named(columns, name):
    plain = {*_told(columns)}
    notes = _told(columns, options={**OPTIONS, roles.REPEATED: "--psu"})
    assert {*notes} - plain == {name} - {""}
    for note in [notes[name]] if name else []:
        assert note.kind == "unreliable"
        assert "so rows are not independent items" in note.text


def test_repeated_identifiers_have_a_remedy():
    columns = {"row id": [k % 30 for k in range(100)]}
    problem = (
        "values of column 'row id' repeat (30 values in 100 rows), so rows are not independent"
    )
    note = _told(columns, options={roles.REPEATED: "--psu"})["row id"]
    assert note.text == f"{problem} items. To use it, add --psu 'row id'"
    note = _told(columns, options={roles.REPEATED: ""})["row id"]
    remedy = "If rows with the same value are the same item, keep one row of each"
    assert note.text == f"{problem} items. {remedy}"


@pytest.mark.parametrize(
    ("columns", "used", "option", "told"),
    [
        ({"stratum": [k // 25 for k in range(100)]}, "stratum", "--psu", False),
        ({"stratum": [k // 25 for k in range(100)]}, "truth", "--psu", True),
        ({"stratum": [k // 50 for k in range(100)]}, "stratum", "--psu", True),
        ({"model": [f"m{k // 25}" for k in range(100)]}, "model", "--psu", True),
        ({"score": [k // 25 for k in range(100)]}, "score", "--psu", True),
        ({"margins": [k / 100 for k in range(100)]}, "margins", "--psu", True),
        ({"item": [*range(100)]}, "truth", "", False),
        ({"item": [*range(100)]}, "truth", "--psu", True),
        ({"row_id": [*range(100)]}, "truth", "", True),
    ],
)
def test_identifiers_that_start_again_in_each_used_stratum(columns, used, option, told):
    columns = {"case": [k % 25 for k in range(100)], **columns}
    assert ("case" in _told(columns, [used], {roles.REPEATED: option})) == told


WITH_MODELS = {
    "item": {"item": [k // 2 for k in range(120)]},
    "numbered rows": {"nr": [*range(120)], "task": [k // 2 for k in range(120)]},
    "repeated after the first rows": {"id": [*range(2100), *range(2100)]},
    "no identifiers": {"price": [k % 7 for k in range(120)]},
}


@pytest.mark.parametrize("columns", WITH_MODELS.values(), ids=WITH_MODELS)
def test_models_with_rows_of_their_own_are_named(columns):
    rows = len(next(iter(columns.values())))
    method = ["mail", "sms"] * (rows // 2)
    assert "method" in _told({**columns, "method": method})


@pytest.mark.parametrize("name", ["id", "nr", "patient_id"])
def test_a_method_of_items_that_differ_is_no_model(name):
    columns = {name: [*range(120)], "price": [k % 7 for k in range(120)]}
    columns["method"] = ["mail", "sms"] * 60
    assert _told(columns) == {}
    assert _told(columns, [name]) == {}


@pytest.mark.parametrize("name", ["store", "customer", "account", "speaker", "session"])
def test_few_values_of_a_column_may_be_kinds_of_clusters(name):
    assert _told({name: ["app", "web"] * 20}) == {}
    assert _told({"patient": ["p1", "p2"] * 20})["patient"].kind == "unreliable"
    assert _told({name: [f"s{k % 5}" for k in range(40)]})[name].kind == "unreliable"


def test_training_items_are_named():
    note = _told({"split": ["train", "test"] * 20}, options={roles.PART: "--group"})["split"]
    assert note.kind == "unreliable"
    assert note.text == (
        "column 'split' seems to contain training and other items but was not used. To use it, "
        "add --group split"
    )
    assert {*_told({"set": ["Train2017", "val2017"] * 20})} == {"set"}
    assert _told({"split": ["dev", "test"] * 20}) == {}
    assert _told({"set": ["train", "bus", "tram"] * 20}) == {}
    assert _told({"part": ["test shoe", "training shoe"] * 20}) == {}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_of_any_frame(frame):
    assert {*_told(frame(TABLE))} == {*_told(TABLE)}


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_of_a_file_its_name_is_said(tmp_path, ending):
    frame, path = pd.DataFrame(TABLE), tmp_path / f"audit.{ending}"
    getattr(frame, f"to_{'excel' if ending == 'xlsx' else ending}")(path, index=False)
    assert _told(str(path))["region"].text.startswith("column 'region' of 'audit." + ending)


def test_only_the_first_rows_are_read(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("region\n" + "north\nsouth\n" * frames.FIRST_ROWS + "cut\x00\n")
    assert [*_told(path)] == ["region"]


@pytest.mark.parametrize("source", ["nowhere.csv", 3, None, {"a": [1], "b": [1, 2]}, [TABLE]])
def test_what_cannot_be_read_is_an_error(source):
    with pytest.raises((ValueError, TypeError)):
        unused_notes(source, ["a"], OPTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03",
        "2026-03-31",
        "20260331",
        "31.12.2026",
        "12/31/2026 9:05 PM",
        "3/2026",
        "Q1 2026",
        "2026-W05",
        "Jan 2026",
        "March",
        "Mar-26",
        "2026-03-31T08:00",
    ],
)
def test_dates_of_any_form_are_periods(text):
    assert roles.columns_of({"month": np.array([text, text], object)})[0].seems == roles.MONTH


@pytest.mark.parametrize("text", ["marble", "1.5", "may be", "decision 7", "12/31"])
def test_what_is_no_date_is_no_period(text):
    assert roles.columns_of({"month": np.array([text, text], object)})[0].seems != roles.MONTH
