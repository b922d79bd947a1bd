"""The designs that the searches found hardest are covered as often as their records say, with fresh draws."""
import json

import numpy as np
import pytest
import search_replication
import search_shares
import search_streams
import search_values
import search_waves

MODULES = search_replication, search_shares, search_streams, search_values, search_waves
RECORDED = [(module.SEARCHED[name], found, f"{module.__name__} {name}")
            for module in MODULES for name, found in json.loads(module.RECORD.read_text()).items()]
RUNS = 1_000


@pytest.mark.parametrize(("family", "found"), [entry[:2] for entry in RECORDED], ids=[entry[2] for entry in RECORDED])
def test_a_recorded_design_is_covered_as_recorded(family, found):
    runs = min(RUNS, family.runs[1])
    again = family.coverage(family.load(found["design"]), np.random.default_rng(0), runs)
    spread = 4 * max(found["coverage"] * (1 - found["coverage"]), .01) ** .5
    assert again == pytest.approx(found["coverage"], abs=spread * (1 / runs + 1 / family.runs[2]) ** .5)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_family_has_a_record(module):
    assert set(json.loads(module.RECORD.read_text())) == set(module.SEARCHED)
