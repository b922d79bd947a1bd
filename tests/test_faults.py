"""The planted faults stay plantable: each text stands once, and the tests that catch it are there (`make faults`)."""

import re
from pathlib import Path

import pytest
from faults import run

ROOT = Path(__file__).parents[1]
FAULTS = run.faults()


def test_there_are_faults_in_every_part_of_the_library():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 190
    places = [file for fault in FAULTS for files in fault.places() for file in files]
    assert {re.split(r"[/.]", file)[1] for file in places} >= {
        "checks",
        "results",
        "intervals",
        "data",
        "labeling",
        "stratified",
        "allocation",
        "replication",
        "misclassification",
        "cross_validation",
        "audits",
        "simulations",
        "charts",
        "widgets",
        "lessons",
        "reports",
        "extras",
        "commands",
    }


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_be_planted_and_its_tests_are_there(fault):
    for (old, new), files in zip(fault.changes, fault.places(), strict=True):
        assert len(files) == 1, f"{old!r} stands in {files or 'no file'}"
        assert old == " ".join(old.split()) != new
    for test in fault.tests:
        path, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M), test


def test_a_text_is_found_however_its_lines_are_broken(tmp_path):
    fault = next(fault for fault in FAULTS if fault.name == "intervals_unlabeled_fraction_ignored")
    (old, new), path = fault.changes[0], tmp_path / fault.places()[0][0]
    path.parent.mkdir(parents=True)
    for before in ("", "\n"):
        text = before + old.replace(" ", "\n    ")
        path.write_text(text, encoding="utf-8")
        with run.planted(fault, tmp_path):
            assert path.read_text(encoding="utf-8") == before + new
        assert path.read_text(encoding="utf-8") == text
