import csv
import importlib.util
import math

import nbformat
import openpyxl
import pytest
from command import no_kernel
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from workbench.reports.build import build_report
from workbench.reports.parameters import ReportError

CELL = """\
import workbench as wb
levels = wb.Table([{"period": "=1+1", "share": 1 / 3, "labeled": 2 ** 53 + 1, "a\\"b": True, "=2": None},
                   {"period": "May, 'wet'", "share": float("nan"), "labeled": -5, "a\\"b": False, "low": 1e-300},
                   {"period": "\\u0444", "share": float("inf"), "labeled": 0}], "Levels")
levels
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "n.ipynb", CELL)
    with no_kernel():
        yield tmp_path


def write(path, *sources):
    parameters = new_code_cell("n = 1", metadata={"tags": ["parameters"]})
    nbformat.write(
        new_notebook(cells=[new_markdown_cell("# N"), parameters, *map(new_code_cell, sources)]),
        path,
    )


def build(tables, **options):
    return build_report("n.ipynb", tables=tables, progress=False, **options)


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def refused(tables, **options):
    with pytest.raises(ReportError) as error:
        build(tables, **options)
    return str(error.value)


def test_a_table_is_a_file_with_keys_numbers_in_full_and_harmless_text(folder):
    build("t")
    (head, *rows) = rows_of(folder / "t" / "levels.csv")
    assert head == ["period", "share", "labeled", 'a"b', "'=2", "low"]
    assert [row[0] for row in rows] == ["'=1+1", "May, 'wet'", "\u0444"]
    assert [row[1] for row in rows] == [repr(1 / 3), "", "inf"] and float(rows[1][5]) == 1e-300
    assert [row[2] for row in rows] == ["9007199254740993", "-5", "0"] and rows[0][3:5] == [
        "True",
        "",
    ]
    assert rows_of(folder / "t" / "contents.csv") == [
        ["file", "report", "finding", "rows"],
        ["levels.csv", "report.html", "Levels: 3 rows", "3"],
    ]


def test_an_excel_file_holds_numbers_and_text_that_is_no_formula(folder):
    build("t.XLSX")
    book = openpyxl.load_workbook(folder / "t.XLSX")
    assert book.sheetnames == ["contents", "levels"]
    sheet = book["levels"]
    cells = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert cells[0] == ["period", "share", "labeled", 'a"b', "'=2", "low"]
    assert cells[1] == ["'=1+1", 1 / 3, "9007199254740993", True, None, None]
    assert cells[2] == ["May, 'wet'", None, -5, False, None, 1e-300] and cells[3][:2] == [
        "\u0444",
        "inf",
    ]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n", "b"}
    build("t.XLSX")


def test_tables_of_a_report_are_written_again_and_those_of_others_stay_listed(folder):
    build("t")
    write(folder / "n.ipynb", CELL.replace("levels", "changes"))
    build("t", output="second.html")
    write(folder / "n.ipynb", CELL.replace("1 / 3", "0.25"))
    build("t")
    assert rows_of(folder / "t" / "levels.csv")[1][1] == "0.25"
    assert [row[:2] for row in rows_of(folder / "t" / "contents.csv")[1:]] == [
        ["levels.csv", "report.html"],
        ["changes.csv", "second.html"],
    ]


def test_notes_without_a_table_are_no_file(folder):
    write(
        folder / "n.ipynb",
        CELL,
        'wb.Table([], "Notes", notes=(wb.Note("data", "one item is odd"),))',
    )
    build("t", json="r.json")
    assert sorted(path.name for path in (folder / "t").iterdir()) == ["contents.csv", "levels.csv"]
    assert "one item is odd" in (folder / "r.json").read_text()


@pytest.mark.parametrize("existing", ["t/levels.csv", "t/contents.csv", "t.xlsx"])
def test_other_files_are_not_overwritten(folder, existing):
    (folder / "t").mkdir()
    (folder / existing).write_text("mine,too\n1,2\n")
    before = sorted(folder.rglob("*"))
    message = refused("t.xlsx" if existing == "t.xlsx" else "t")
    assert message in {
        "'t/levels.csv' exists and is not a table of a report; choose another folder for the tables",
        "'t/contents.csv' exists and is not the list of a report's tables; choose another folder for the tables",
        "tables 't.xlsx' exists and was not written by a report; choose another path",
    }
    assert existing in message and sorted(folder.rglob("*")) == before
    assert (folder / existing).read_text() == "mine,too\n1,2\n"


def test_a_run_that_fails_leaves_no_tables(folder, monkeypatch):
    def fail(*details):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("workbench.reports.tables._write_csv", fail)
    before = sorted(folder.rglob("*"))
    assert refused("t", json="r.json") == "cannot write tables to 't': No space left on device"
    assert sorted(folder.rglob("*")) == before


def test_a_missing_package_is_told_before_the_run(folder, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "xlsxwriter" else find(name)
    )
    write(folder / "n.ipynb", "open('ran', 'w')")
    assert refused("t.xlsx") == (
        "tables 't.xlsx' needs XlsxWriter. Install it: pip install 'evaluation-workbench[xlsx]'; or name "
        "a folder to get CSV files"
    )
    assert not (folder / "ran").exists()


def test_a_table_too_long_for_excel_is_refused(folder):
    write(
        folder / "n.ipynb", f"import workbench as wb\nwb.Table([{{'text': 'x' * {2**15}}}], 'Long')"
    )
    assert (
        refused("t.xlsx")
        == "table 'n' has too many rows or columns for Excel; name a folder to get CSV files"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["n.ipynb"]


def test_sheets_have_short_names_of_their_own(folder):
    names = ["a" * 40, "a" * 39, "Contents", "A" * 29]
    write(
        folder / "n.ipynb",
        "import workbench as wb",
        *(
            f"{name} = wb.Table([{{'n': {number}}}], 'T')\n{name}"
            for number, name in enumerate(names)
        ),
    )
    build("t.xlsx")
    sheets = openpyxl.load_workbook(folder / "t.xlsx").sheetnames
    assert sheets == ["contents", "a" * 28, "a" * 28 + "_2", "Contents_2", "A" * 28 + "_3"]
    assert math.prod(len(name) <= 31 for name in sheets)
