"""The planted faults stay plantable: each applies, and the tests it names are there (`make faults` plants them)."""
import re
from pathlib import Path

import pytest
from faults import run

ROOT = Path(__file__).parents[1]
PATCHES = run.faults()


def test_there_are_faults_in_every_part_of_the_library():
    parts = {re.search(r"^\+\+\+ b/workbench/(\w+)", patch.read_text(encoding="utf-8"), re.M)[1] for patch in PATCHES}
    assert len(PATCHES) >= 45
    assert parts >= {"checks", "results", "intervals", "data", "stratified", "allocation", "replication",
                     "misclassification", "cross_validation", "simulations", "charts", "reports", "cli"}


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_fault_applies_and_names_its_tests(patch):
    assert run.git_apply(patch, ROOT, "--check") == ""
    text = patch.read_text(encoding="utf-8")
    assert all(name.startswith("workbench/") for name in re.findall(r"^[-+]{3} [ab]/(.*)", text, re.M))
    assert sum(line[0] in "+-" for line in text.splitlines()[1:] if line[:3] not in ("+++", "---")) <= 6
    for test in run.named_tests(patch):
        path, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M), test
