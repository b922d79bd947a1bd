"""A message about a row of a filled sheet names it as the spreadsheet shows it, whatever stands above or between."""

import csv

import numpy as np
import openpyxl
import pytest
from command import run
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.allocation.values.sheets import read_value_sheet
from workbench.data.frames import read_columns, row_numbers
from workbench.labeling.sheets import read_label_sheet

IDS = [f"i-{k}" for k in range(1, 13)]
TITLE = ["An audit of May"]
# what stands above the header, and how many blank rows stand before the item of that number
LAYOUTS = {
    "plain": ([], {}),
    "blank inside": ([], {3: 2, 7: 1}),
    "blank above": ([[]] * 2, {}),
    "title above": ([TITLE, ["=1+1"]], {}),
    "both": ([TITLE, []], {2: 1, 9: 2}),
}
KINDS = ("csv", "semicolons", "xlsx")
REPORT = "report stratified-accuracy --scores scores.csv --id id --score score -o r.html --labels"
READABLE = [
    (kind, layout)
    for kind in KINDS
    for layout, (above, _) in LAYOUTS.items()
    if kind == "xlsx" or not above
]


def laid_out(folder, kind, layout, header, cells, wrong):
    """Write a sheet; return its path and the row in which the cells of number `wrong` stand."""
    above, blank = LAYOUTS[layout]
    rows, shown = [*above, header], []
    for k, row in enumerate(cells):
        rows += [[]] * blank.get(k, 0) + [row]
        shown.append(len(rows))
    path = folder / f"sheet.{'xlsx' if kind == 'xlsx' else 'csv'}"
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for row, values in enumerate(rows, 1):
            for column, value in enumerate(values, 1):
                book.active.cell(row, column, value)
        book.save(path)
    else:
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";" if kind == "semicolons" else ",").writerows(rows)
    return path, shown[wrong]


def items():
    return wb.ScoredItems(np.array(IDS, object), np.linspace(0.5, 1, 12))


def answers(answer="maybe"):
    return [[name, answer if k == 10 else k % 2] for k, name in enumerate(IDS)]


@pytest.mark.parametrize(("kind", "layout"), READABLE)
@pytest.mark.parametrize(
    ("header", "answer", "message"),
    [
        (
            ["id", "correct"],
            "maybe",
            r"column 'correct', row {} \(id 'i-11'\): 'maybe' is not 1 or 0",
        ),
        (
            ["id", "truth"],
            "eel",
            r"column 'truth', row {} \(id 'i-11'\): 'eel' is not a predicted class",
        ),
        (["id", "correct"], "yes", "mixes two kinds of answers: row .*, row {} has 'yes'"),
    ],
)
def test_a_reports_sheet(tmp_path, kind, layout, header, answer, message):
    path, row = laid_out(tmp_path, kind, layout, header, answers(answer), 10)
    scored = (
        items()
        if header[1] == "correct"
        else wb.ScoredItems(
            np.array(IDS, object), np.linspace(0.5, 1, 12), prediction=np.arange(12) % 2
        )
    )
    with pytest.raises(ValueError, match=message.format(row)):
        read_label_sheet(path, scored, np.zeros(12, int), 1)


@pytest.mark.parametrize(("kind", "layout"), READABLE)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["i-1", 1], "id 'i-1' is labeled both 0 and 1, the second time in row {}"),
        (["", 1], "column 'id', row {} is"),
        (["i-11", 0, 1], r"id 'i-11' \(row {}\) has stratum '1' in the sheet, but 0 now"),
    ],
)
def test_rows_of_a_reports_sheet_that_contradict(tmp_path, kind, layout, change, message):
    header = ["id", "correct", "stratum"][: len(change)]
    cells = [[*row, 0][: len(change)] for row in answers(0)]
    cells[10] = change
    path, row = laid_out(tmp_path, kind, layout, header, cells, 10)
    with pytest.raises(ValueError, match=message.format(row)):
        read_label_sheet(path, items(), np.zeros(12, int), 1)


@pytest.mark.parametrize(("kind", "layout"), READABLE)
def test_a_sessions_sheet(tmp_path, kind, layout):
    path, row = laid_out(tmp_path, kind, layout, ["id", "correct"], answers(), 10)
    with wb.AuditSession.create(tmp_path / "audit.db", items(), budget=12, n_strata=1) as session:
        assert session.import_labels(path).refused == (
            (row, "i-11", "'maybe' is not 1 (correct) or 0 (incorrect)"),
        )


@pytest.mark.parametrize(("kind", "layout"), READABLE)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["i-11", "a", "many"], "column 'value', row {}: 'many' is not a number"),
        (["i-11", "b", 5], "row {} of the sheet has stratum 'b'"),
        (["", "a", 5], "row {} of the sheet has the value 5"),
        (["i-1", "a", 99], "id 'i-1' has the value 1 in row .* of the sheet and 99 in row {};"),
    ],
)
def test_a_sheet_of_values(tmp_path, kind, layout, change, message):
    cells = [[name, "a", k + 1] for k, name in enumerate(IDS)]
    cells[10] = change
    path, row = laid_out(tmp_path, kind, layout, ["id", "stratum", "value"], cells, 10)
    strata = wb.StratumSummary(np.array(["a"]), np.array([20]), np.array([10.0]), np.array([3.0]))
    with pytest.raises(ValueError, match=message.format(row)):
        read_value_sheet(path, strata)


def test_a_table_in_json_has_records_and_no_header(tmp_path):
    path = tmp_path / "sheet.jsonl"
    path.write_text(
        "\n".join(f'{{"id": "{name}", "correct": "{answer}"}}' for name, answer in answers())
    )
    with pytest.raises(ValueError, match="column 'correct', row 11 "):
        read_label_sheet(path, items(), np.zeros(12, int), 1)


@pytest.mark.parametrize("layout", ["blank above", "title above", "both"])
def test_text_begins_with_its_header(tmp_path, layout):
    path, _ = laid_out(tmp_path, "csv", layout, ["id", "correct"], answers(), 10)
    with pytest.raises(ValueError, match="The first line must name the columns|has no column 'id'"):
        read_label_sheet(path, items(), np.zeros(12, int), 1)


CELLS = ["a", "", '3" nail', '"five 5"" disk"', '"two\nlines"', '"a ""\n\n"', '" ; , "', 'a "b"']


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(CELLS), min_size=2, max_size=2) | st.just([]),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_quotes_inside_of_a_cell_and_lines_inside_of_quotes(tmp_path_factory, rows, delimiter, end):
    """Rows are those of Python's reader of CSV, which has blank lines as empty rows."""
    path = tmp_path_factory.mktemp("quotes") / "sheet.csv"
    lines = [delimiter.join([*cells, "x"] if cells else []) for cells in rows]
    path.write_bytes(
        end.join(
            [delimiter.join(["first", "second", "third"]), *lines, delimiter.join("abc")]
        ).encode()
    )
    with open(path, encoding="utf-8", newline="") as file:
        shown = [
            row for row, cells in enumerate(csv.reader(file, delimiter=delimiter), 1) if cells
        ][1:]
    columns, _ = read_columns(path, ["third"])
    assert row_numbers(path, len(columns["third"])) == shown


@pytest.mark.parametrize(("kind", "layout"), [("semicolons", "blank inside"), ("xlsx", "both")])
def test_on_the_command_line(tmp_path, kind, layout):
    path, row = laid_out(tmp_path, kind, layout, ["id", "correct"], answers(), 10)
    with open(tmp_path / "scores.csv", "w", encoding="utf-8") as file:
        file.writelines(
            [
                "id,score\n",
                *(f"{name},{score}\n" for name, score in zip(IDS, items().score, strict=True)),
            ]
        )
    done = run(
        tmp_path,
        *"audit new scores.csv audit.db --id id --score score --budget 12 --strata 1".split(),
    )
    assert done.returncode == 0, done.stderr
    assert (
        f"Row {row} (id 'i-11') was not recorded"
        in run(tmp_path, "audit", "import", "audit.db", path).stderr
    )
    told = run(tmp_path, *REPORT.split(), path).stderr
    assert f"column 'correct', row {row} (id 'i-11'): 'maybe' is not 1 or 0" in told
