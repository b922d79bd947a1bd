"""What was saved with schema 1, by the first version, loads, says the same and keeps its caveats."""
import json
from pathlib import Path

import pytest

import workbench as wb

SAVED = json.loads((Path(__file__).parent / "fixtures" / "results_schema_1.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("saved", SAVED, ids=lambda saved: saved["data"]["kind"])
def test_a_saved_result_loads_and_says_the_same(saved):
    result = wb.Result.from_dict(saved["data"])
    assert repr(result) == saved["repr"]
