"""Caveats that were saved as sentences, in fields of several names, are notes now and say the same."""
import json
from pathlib import Path

import pytest

import workbench as wb
from workbench.results import sentences

KINDS = ("CVLosses", "ComparedTests", "KFoldTTest", "ModelComparison", "ModelTest", "NestedInterval",
         "VarianceEstimates")
SAVED = [saved for saved in json.loads((Path(__file__).parents[1] / "fixtures" / "results_schema_1.json").read_text(
    encoding="utf-8")) if saved["data"]["kind"] in KINDS]


def old(saved, name):
    """What an attribute of the first version held."""
    held = saved["caveats"].get(name, {})
    return dict(held["dict"]) if "dict" in held else tuple(held.get("tuple", ()))


@pytest.mark.parametrize("saved", SAVED, ids=lambda saved: saved["data"]["kind"])
def test_saved_caveats_are_still_said(saved):
    result = wb.Result.from_dict(saved["data"])
    if "reasons" in saved["caveats"]:
        assert result.reasons == old(saved, "reasons")
        assert [note.where for note in result.notes] == [("estimator", name) for name in result.reasons]
    else:
        assert sentences(result.notes) == old(saved, "notes") + old(saved, "warnings")
    assert wb.Result.from_dict(result.to_dict()).notes == result.notes


def test_every_kind_was_saved():
    assert {saved["data"]["kind"] for saved in SAVED} == set(KINDS)


def test_a_saved_table_keeps_its_column_of_notes():
    saved = next(saved["data"] for saved in SAVED if saved["data"]["kind"] == "ComparedTests")
    table = [dict(row["dict"]) for row in saved["values"]["table"]["tuple"]]
    assert [row["note"] for row in wb.Result.from_dict(saved).rows()] == [row["note"] for row in table]
