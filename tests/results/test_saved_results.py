"""What was saved loads, says the same and keeps its caveats: one or more of each kind of result."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
import workbench.extras.papers
from workbench.results import sentences

SAVED = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "results.json").read_text(encoding="utf-8")
)
each_saved = pytest.mark.parametrize("saved", SAVED, ids=lambda saved: saved["data"]["kind"])


@each_saved
def test_a_saved_result_loads_and_says_the_same(saved):
    result = wb.Result.from_dict(saved["data"])
    assert repr(result) == saved["repr"]
    assert [*sentences(result.notes)] == saved["notes"]


@each_saved
def test_a_loaded_result_is_saved_without_loss(saved):
    result = wb.Result.from_dict(saved["data"])
    assert json.loads(json.dumps(result.to_dict())) == saved["data"]
    assert wb.Result.from_dict(result.to_dict()).notes == result.notes


def test_only_schema_2_is_read():
    data = SAVED[0]["data"]
    for schema in (None, 1, 3, "2"):
        with pytest.raises(ValueError, match=f"^data must have schema 2; got {schema!r}$"):
            wb.Result.from_dict(data | {"schema": schema})


def test_fields_that_a_kind_does_not_have_are_refused():
    data = next(saved["data"] for saved in SAVED if saved["data"]["kind"] == "Interval")
    with pytest.raises(TypeError, match="unexpected keyword argument 'confidence'"):
        wb.Result.from_dict(data | {"values": data["values"] | {"confidence": 1}})


def test_a_program_that_has_loaded_nothing_reads_every_kind(tmp_path):
    """Names load when they are first used; a saved result is such a use."""
    first = {saved["data"]["kind"]: saved["data"] for saved in SAVED}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(list(first.values())))
    code = (
        "import json, sys\nfrom workbench import Result\n"
        "for data in json.load(open(sys.argv[1])):\n    print(type(Result.from_dict(data)).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.stdout.split() == list(first), done.stderr
