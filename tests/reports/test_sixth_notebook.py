"""A lesson that this house has never seen: one parameter of each type, one function that checks them."""

import json
from unittest import mock

import nbformat
import pytest
from command import no_kernel
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from workbench.commands.main import main

PARAMETERS = """\
items = ""  # type: file  the items
value = "v"  # type: column of items  their value
kind = "mean"  # type: choice mean | total  what is wanted
twice = False  # type: flag  count everything twice
times = 1  # type: int  how often
share = 0.5  # type: float  a share
name = ""  # type: str  a name
more = []  # type: list  numbers
pair = (1, 2)  # type: tuple  two numbers
map = {}  # type: dict  names
result = ""  # type: output -result.json  what was found
"""
CHECK = """\
import csv
import json

def found(items, value, kind, twice, times, result, write=True):
    if times < 1:
        raise ValueError(f"times must be at least 1; got {times}")
    with open(items) as file:
        values = [float(row[value]) for row in csv.DictReader(file)]
    if min(values) < 0:
        raise ValueError(f"{value} must be at least 0; got {min(values):g}")
    answer = sum(values) * times * (2 if twice else 1) / (len(values) if kind == "mean" else 1)
    if write:
        with open(result, "w") as file:
            json.dump(answer, file)
    return answer
"""
CALL = """\
from sixth_check import found
print("answer", found(items, value, kind, twice, times, result))
"""


@pytest.fixture
def sixth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "sixth_check.py").write_text(CHECK)
    (tmp_path / "items.csv").write_text("v,w\n1,-1\n4,2\n")
    cells = [
        new_markdown_cell("# How much?"),
        new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        new_code_cell(CALL),
    ]
    made = new_notebook(cells=cells, metadata={"workbench": {"read": "sixth_check.found"}})
    nbformat.write(made, tmp_path / "06-how-much.ipynb")
    return tmp_path


def report(*words):
    with no_kernel(), pytest.raises(SystemExit) as ended:
        main(["report", "06-how-much.ipynb", *words, "--quiet"])
    return ended.value.code or 0


def test_it_becomes_a_report_and_a_command(sixth, capsys):
    words = [
        "--items",
        "items.csv",
        "--kind",
        "total",
        "--twice",
        "--times",
        "3",
        "--more",
        "[1]",
        "-o",
        "r.html",
    ]
    assert report(*words) == 0
    assert "answer 30.0" in (sixth / "r.html").read_text()
    assert json.loads((sixth / "r-result.json").read_text()) == 30.0
    assert capsys.readouterr().out == "Wrote r.html\nWrote r-result.json\n"
    assert report("--items", "items.csv", "--twice", "false", "--result", "other.json") == 0
    assert json.loads((sixth / "other.json").read_text()) == 2.5
    with pytest.raises(SystemExit):
        main(["report", "06-how-much.ipynb", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "--kind CHOICE mean, total; what is wanted [mean]" in shown
        and "--twice / --no-twice" in shown
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--times", "0"], "times must be at least 1; got 0"),
        (["--items", "items.csv", "--value", "w"], "w must be at least 0; got -1"),
        (
            ["--items", "items.csv", "--kind", "sum"],
            "--kind must be one of 'mean', 'total'; got 'sum'",
        ),
        (
            ["--items", "items.csv", "--value", "x"],
            "--value is 'x', but items.csv has no such column; columns: v, w",
        ),
        (["--items", "item.csv"], "items: no such file: 'item.csv' (did you mean 'items.csv'?)"),
        (
            ["--items", "items.csv", "--result", "items.csv"],
            "result: 'items.csv' is also an input; choose another path",
        ),
        (["--share", "half"], "--share must be a finite number; got 'half'"),
    ],
)
def test_its_mistakes_are_told_before_a_kernel_starts(sixth, capsys, words, message):
    with mock.patch("papermill.execute_notebook", side_effect=AssertionError("a kernel started")):
        assert report(*words) == 2
    assert capsys.readouterr().err.strip() == f"Error: {message}"
    assert not (sixth / "report.html").exists() and not (sixth / "report-result.json").exists()
