import hashlib
import json
import math
import re
import sys

import nbformat
import pytest
from command import costs_one_line, no_kernel, run, run_here
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import workbench as wb
from workbench.reports.build import build_report
from workbench.results import RECORD, RECORDING

PARAMETERS = """\
scores = ""  # type: file  what is scored
labels = ""  # type: file  labels
budget = 100  # type: int  labels you can afford
share = 0.5  # type: float  a share
pair = (1, 2)  # type: tuple  two numbers
"""
CELLS = [
    "import workbench as wb\nunused = wb.Interval(0, 1, .5, 'unused')\nitems = wb.digit_forms().items()",
    "print(items.headline())\nlater = wb.Interval(.1, .2, .95, 'shown later')",
    "# Shown",
    "str(later.low)",
    "wb.Table([{'stratum': 1, 'rate': float('nan')}], 'Anonymous')",
    "later",
    "drawn, listed = wb.Interval(.3, .4, .95, 'drawn'), wb.Interval(.5, .6, .95, 'listed')\nprint(drawn.headline())",
    "# Second part",
    "wb.Table([{'a': float('inf')}], 'One')",
    "wb.Table([{'a': 2}], 'Two')",
    "wb.Table(listed.rows(), 'The rows of a variable')",
    "wb.stratified_accuracy([40, 60], [4, 6], [2, 5])",
    "import warnings\nwarnings.warn('careful')",
]


def strict(path):
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = [
        new_markdown_cell("# A title"),
        new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
    ]
    cells += [
        new_markdown_cell(f"#{text}") if text.startswith("# ") else new_code_cell(text)
        for text in CELLS
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "01-demo.ipynb")
    return tmp_path / "01-demo.ipynb"


def found(notebook, **parameters):
    with no_kernel():
        build_report(notebook, parameters, json="r.json", progress=False)
    return strict(notebook.with_name("r.json"))


def test_results_stand_in_the_order_of_the_page_under_their_names(notebook):
    listed = [
        (each["name"], each["section"], each["result"]["kind"])
        for each in found(notebook)["results"]
    ]
    assert listed == [
        ("shown", "Shown", "Table"),
        ("later", "Shown", "Interval"),
        ("drawn", "Shown", "Interval"),
        ("second_part", "Second part", "Table"),
        ("second_part_2", "Second part", "Table"),
        ("listed", "Second part", "Interval"),
        ("stratified_estimate", "Second part", "StratifiedEstimate"),
    ]


def test_what_is_not_finite_is_null_in_the_rows_and_restored_from_the_result(notebook):
    tables = [each for each in found(notebook)["results"] if each["result"]["kind"] == "Table"]
    assert [each["rows"] for each in tables] == [
        [{"stratum": 1, "rate": None}],
        [{"a": None}],
        [{"a": 2}],
    ]
    nan, infinite, _ = (wb.Result.from_dict(each["result"]).rows() for each in tables)
    assert math.isnan(nan[0]["rate"]) and infinite == [{"a": math.inf}]


def test_inputs_parameters_and_versions_are_told(notebook, tmp_path):
    content = b"id,score\n1,0.5\n2,0.75\n"
    (tmp_path / "scores.csv").write_bytes(content)
    told = found(notebook, scores="scores.csv", budget="7", share=1, pair="(3, 4)")
    assert told["inputs"] == [
        {
            "parameter": "scores",
            "file": "scores.csv",
            "rows": 2,
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    ]
    assert told["parameters"] == {
        "scores": "scores.csv",
        "labels": "",
        "budget": 7,
        "share": 1,
        "pair": [3, 4],
    }
    assert (told["format"], told["schema"], told["topic"], told["title"]) == (
        "workbench report",
        1,
        "demo",
        "A title",
    )
    assert (
        told["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
        and "numpy" in told["versions"]
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told["time"])


def test_a_second_run_gives_the_same_but_for_the_time(notebook):
    first, second = found(notebook), found(notebook)
    assert first.pop("time") <= second.pop("time") and first == second


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("stratified-accuracy", ["audit", "comparison"]),
        ("brr-orthogonal-arrays", ["found"]),
        ("cross-validation-t-tests", ["tests", "variance_estimates"]),
    ],
)
def test_reports_tell_their_findings_and_notes(tmp_path, topic, names):
    assert (
        run_here(
            tmp_path, "report", topic, "-o", "r.html", "--json", "r.json", "--quiet"
        ).returncode
        == 0
    )
    told = strict(tmp_path / "r.json")
    restored = {each["name"]: wb.Result.from_dict(each["result"]) for each in told["results"]}
    assert set(names) <= set(restored)
    for each in told["results"]:
        result = restored[each["name"]]
        assert each["finding"] == result.headline() and result.to_dict() == each["result"]
        assert [note["text"] for note in each["notes"]] == [note.text for note in result.notes]
        assert list(map(set, each["rows"])) == list(map(set, result.rows()))
    assert told["notes"] == list(
        wb.sentences([note for result in restored.values() for note in result.notes])
    )


def test_a_kernel_tells_the_same_and_the_page_nothing_of_it(notebook, tmp_path, kernel):
    here = found(notebook)
    build_report(notebook, json="k.json", progress=False)
    there = strict(tmp_path / "k.json")
    here.pop("messages"), there.pop("messages"), here.pop("time"), there.pop("time")
    assert here == there
    with_json = (tmp_path / "report.html").read_text()
    assert RECORD not in with_json and "Variables" not in with_json


def test_a_kernel_s_messages_are_told(notebook, tmp_path, kernel):
    build_report(notebook, json="k.json", progress=False)
    assert strict(tmp_path / "k.json")["messages"] == [
        {"section": "Second part", "text": "UserWarning: careful"}
    ]


def test_a_result_is_data_only_where_a_run_asks(monkeypatch):
    monkeypatch.delenv(RECORDING, raising=False)
    shown = wb.Interval(0, 1, 0.95, "wald")
    assert shown._repr_mimebundle_() == {}
    monkeypatch.setenv(RECORDING, "1")
    assert wb.Result.from_dict(shown._repr_mimebundle_()[RECORD]["result"]).rows() == shown.rows()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--json", "r.txt"], "--json must end in .json; got 'r.txt'"),
        (["--json", ""], "--json must end in .json; got ''"),
        (["--json", "folder"], "json 'folder' is a folder; name a file in it that ends in .json"),
        (["--json", "no/r.json"], "json folder 'no' does not exist; create it first"),
        (
            ["--json", "/proc/r.json"],
            "json folder '/proc' cannot hold files; choose another folder",
        ),
        (["--json", "x" * 300 + ".json"], "cannot be written: File name too long"),
        (["-o", "/proc/r.html"], "output folder '/proc' cannot hold files; choose another folder"),
        (["-o", "folder"], "output 'folder' is a folder; name a file in it that ends in .html"),
        (["-o", ""], "--output must end in .html; got ''"),
        (
            ["-o", "r.html", "--label-sheet", "/proc/l.csv"],
            "label_sheet: folder '/proc' cannot hold files; choose another folder",
        ),
        (["--tables", "/proc/t"], "tables folder '/proc' cannot hold files; choose another folder"),
        (
            ["--tables", "/proc/t.xlsx"],
            "tables folder '/proc' cannot hold files; choose another folder",
        ),
        (["--tables", "no/t"], "tables folder 'no' does not exist; create it first"),
        (["--tables", "x" * 300], "cannot be written: File name too long"),
        (
            ["--tables", "file"],
            "tables 'file' must be a folder or end in .xlsx; it is another kind of file",
        ),
        (["--tables", ""], "--tables must name a folder or a file that ends in .xlsx; got ''"),
    ],
)
def test_what_cannot_be_written_is_told_before_any_work(tmp_path, words, message):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    costs_one_line(tmp_path, message, "report", "stratified-accuracy", *words)


def test_a_pdf_that_cannot_be_written_is_told_before_any_work(tmp_path, monkeypatch):
    (tmp_path / "r.pdf").mkdir()
    monkeypatch.setenv("CHROMIUM", sys.executable)
    costs_one_line(
        tmp_path,
        "PDF 'r.pdf' is a folder",
        "report",
        "stratified-accuracy",
        "-o",
        "r.html",
        "--pdf",
    )


def test_an_input_is_not_overwritten(tmp_path):
    (tmp_path / "s.json").write_text('[{"score": 0.5}]')
    costs_one_line(
        tmp_path,
        "'s.json': it is also an input. Choose another path",
        "report",
        "stratified-accuracy",
        "--scores",
        "s.json",
        "--json",
        "s.json",
    )


def test_all_topics_at_once_have_no_json(tmp_path):
    done = run(tmp_path, "report", "all", "--json", "r.json")
    assert (done.returncode, done.stderr) == (
        2,
        "Error: --json and --tables need a single topic; remove --all\n",
    )
