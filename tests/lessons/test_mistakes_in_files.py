"""What is wrong with a file is told in one line before any work: where it is, what it holds, which row."""

import datetime
import gzip
import importlib
import os
import sys
from unittest import mock

import numpy as np
import openpyxl
import pytest
from command import costs_one_line

import workbench as wb
from workbench.data.frames import column_names, read_columns
from workbench.reports.inputs import cross_validation, misclassification

zstd = importlib.import_module(
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
)
AUDIT = "truth,prediction\n" + "0,0\n" * 30 + "1,1\n" * 9 + "0,1\n" * 4
SCORES = "id,p,read\n" + "".join(f"i{k},{0.5 + k / 50},{'ab'[k % 2]}\n" for k in range(24))
AUDITED = "stratified-accuracy --score p --prediction read --id id --budget 10 --scores"
CORRECTED = "misclassification-correction --audit audit.csv --counts"
TESTED = "cross-validation-t-tests --better lower --losses"


def save(path, rows, **cells):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for place, value in cells.items():
        book.active[place] = value
        book.active[place].data_type = (
            "e" if str(value).startswith("#") else book.active[place].data_type
        )
    book.save(path)
    return book


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.csv").write_text(AUDIT)
    (tmp_path / "scores.csv").write_text(SCORES)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{AUDITED} scored", "scores: 'scored' is a folder"),
        (f"{AUDITED} score.csv", "scores: no such file: 'score.csv' (did you mean 'scores.csv'?)"),
        (
            f"{AUDITED} score.xlsx#May",
            "scores: no such file: 'score.xlsx' (did you mean 'scores.xlsx'?)",
        ),
        (f"{AUDITED} empty.csv", "scores: 'empty.csv' is empty"),
        (f"{AUDITED} /dev/null", "scores: '/dev/null' is a folder or a device, not a data file"),
        (
            f"{AUDITED} notes.doc",
            "scores: 'notes.doc' must end in one of .csv, .tsv, .txt, .parquet, .json, .ndjson, "
            ".jsonl, .eval, .xlsx, .xlsm, .ods. All but .parquet, .eval, .xlsx, .xlsm, .ods may "
            "be packed (.gz, .zst)",
        ),
        (
            f"{AUDITED} scores.xlsx#june",
            "scores: 'scores.xlsx' has no sheet 'june'; available sheets: 'May'",
        ),
        (
            f"{AUDITED} cut.csv.gz",
            "cannot be unpacked: Compressed file ended before the end-of-stream marker was reached",
        ),
        (
            f"{AUDITED} cut.csv.zst",
            "cannot be unpacked: Compressed file ended before the end-of-stream marker was reached",
        ),
        (
            f"{AUDITED} plain.csv.gz",
            "scores: 'plain.csv.gz' cannot be unpacked: Not a gzipped file (b'id')",
        ),
        (f"{AUDITED} plain.csv.zst", "scores: 'plain.csv.zst' cannot be unpacked: "),
        (f"{AUDITED} plain.xlsx", "scores: 'plain.xlsx' cannot be read as a workbook: "),
    ],
)
def test_files_that_cannot_be_taken(line, message, folder):
    (folder / "scored").mkdir()
    (folder / "empty.csv").touch()
    (folder / "notes.doc").write_text("text")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(SCORES.encode())[:-20])
    (folder / "cut.csv.zst").write_bytes(zstd.compress(SCORES.encode())[:-20])
    for name in ("plain.csv.gz", "plain.csv.zst", "plain.xlsx"):
        (folder / name).write_text(SCORES)
    book = save(folder / "scores.xlsx", [["id"], [1]])
    book.active.title = "May"
    book.save(folder / "scores.xlsx")
    costs_one_line(folder, message, "report", *line.split(), "-o", "r.html")


def test_a_file_without_permission(folder):
    with mock.patch("os.access", lambda path, mode: os.path.basename(path) != "scores.csv"):
        costs_one_line(
            folder,
            "scores: cannot read 'scores.csv': permission denied",
            "report",
            *AUDITED.split(),
            "scores.csv",
            "-o",
            "r.html",
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SCORES.replace("i3,0.56", "i3,half"), "column 'p', row 5: 'half' is not a number"),
        (SCORES.replace("i3,0.56", "\n\ni3,half"), "column 'p', row 7: 'half' is not a number"),
        (
            SCORES.replace("i1,", '"i\n1",').replace("i3,0.56", "i3,"),
            "column 'p', row 5 is empty",
        ),
        (
            SCORES.replace("i3,0.56", "i3,1.56"),
            "column 'p', row 5: 1.56 is not a confidence from 0 to 1",
        ),
        (SCORES.replace("i3,", "i1,"), "needs an id of its own, but 'i1' is in row 3 and row 5"),
    ],
)
def test_rows_are_those_of_the_spreadsheet(text, message, folder):
    (folder / "x.csv").write_text(text)
    costs_one_line(folder, message, "report", *AUDITED.split(), "x.csv", "-o", "r.html")


def table(*rows):
    return [["id", "p", "read"], *rows, *[[f"j{k}", 0.6, "ab"[k % 2]] for k in range(12)]]


ERROR_CELL = (
    "'x.xlsx', cell B4 (column 'p') contains the error #DIV/0!. Correct it, or empty the cell"
)
NOT_COMPUTED = (
    "'x.xlsx', cell B4 (column 'p') contains a formula without a value. Open the file in a "
    "spreadsheet and save it there"
)


@pytest.mark.parametrize(
    ("rows", "cells", "message"),
    [
        (table(["a", "half", "a"]), {}, "column 'p', row 2: 'half' is not a number"),
        (
            [["Scores of May"], [], *table(["a", 0.9, "a"], [], ["b", "half", "a"])],
            {},
            "column 'p', row 6: 'half' is not a number",
        ),
        (table(["a", 0.9, "a"]), {"B4": "#DIV/0!"}, ERROR_CELL),
        (table(["a", 0.9, "a"]), {"B4": "=1/2"}, NOT_COMPUTED),
        (table(["a", 0.9, "a"]), {"B4": None}, "column 'p', row 4 is empty"),
        ([], {}, "scores: 'x.xlsx': sheet 'Sheet' is empty"),
        ([["id", "p", "read"]], {}, "'x.xlsx' has no data rows"),
        (table(["a", 8.125, "a"]), {}, "column 'p', row 2: 8.125 is not a confidence from 0 to 1"),
    ],
)
def test_cells_of_a_workbook(rows, cells, message, folder):
    save(folder / "x.xlsx", rows, **cells)
    costs_one_line(folder, message, "report", *AUDITED.split(), "x.xlsx", "-o", "r.html")


def test_titles_above_the_header_are_left_out(folder):
    book = save(folder / "x.xlsx", [["title"], ["id", "p", "read"], ["a", 0.5, "b"]])
    book.active.merge_cells("A1:C1")
    book.save("x.xlsx")
    columns, notes = read_columns("x.xlsx", ["p"])
    assert columns["p"].tolist() == [0.5]
    assert list(map(str, notes)) == [
        "'x.xlsx': the header is row 2; rows above it were left out: row 1"
    ]


def test_cells_become_what_people_see(folder):
    day = datetime.datetime(2024, 3, 1)
    save(
        "x.xlsx",
        [
            ["whole", "part", "day", "time", "flag", "mixed", 7, None],
            [3, 0.5, day, day.replace(hour=4), True, "007", 1, None],
            [None, None, None, None, None, None, None, None],
            [4, 1, day.date(), day, False, 7, 2, None],
            [5, 2, day, day, True, None, 3, None],
        ],
    )
    columns, notes = read_columns("x.xlsx", ["whole", "PART ", "day", "time", "flag", "mixed", "7"])
    assert {name: values.tolist() for name, values in columns.items()} == {
        "whole": [3, 4, 5],
        "PART ": [0.5, 1, 2],
        "day": ["2024-03-01"] * 3,
        "time": ["2024-03-01 04:00:00", "2024-03-01", "2024-03-01"],
        "flag": [True, False, True],
        "mixed": ["007", 7, None],
        "7": [1, 2, 3],
    }
    assert columns["whole"].dtype == np.int64 and notes == ()
    assert column_names("x.xlsx") == ("whole", "part", "day", "time", "flag", "mixed", "7")


def test_the_first_sheet_is_the_first_that_is_shown(folder):
    book = save("x.xlsx", [["hidden"], [1]])
    book.active.sheet_state = "hidden"
    book.create_sheet("b#1").append(["shown"])
    book["b#1"].append([2])
    book.active = 1
    book.save("x.xlsx")
    assert column_names("x.xlsx") == column_names("x.xlsx#B#1 ") == ("shown",)
    assert column_names("x.xlsx#Sheet") == ("hidden",)


def test_headers_in_any_case(folder):
    (folder / "x.csv").write_text(SCORES.replace("id,p,read", " ID ,P,Read"))
    found = wb.read_scores("x.csv", score="p", prediction="read", id="id")
    assert (
        found.to_dict()
        == wb.read_scores("scores.csv", score="p", prediction="read", id="id").to_dict()
    )
    (folder / "x.csv").write_text(SCORES.replace("id,p,read", "ID,P,P "))
    costs_one_line(
        folder,
        "score is 'p', but x.csv has no such column",
        "report",
        *AUDITED.split(),
        "x.csv",
        "-o",
        "r.html",
    )
    with pytest.raises(ValueError, match=r"has only one column for 'p' and 'P': 'P'"):
        read_columns({"P": [1]}, ["p", "P"])
    with pytest.raises(
        ValueError,
        match=r"no column 'ab'; available columns: 'Ab', 'AB' \(did you mean 'Ab' or 'AB'\?\)",
    ):
        read_columns({"Ab": [1], "AB": [1]}, ["ab"])


COUNTS = {"period": ["a", "b"], "n": [8000, 9100], "counted": [2000, 2400]}


@pytest.mark.parametrize(
    "text",
    [
        'period,n,counted\na,"8,000","2,000"\nb,"9,100","2,400"\n',
        "period;n;counted\na;8.000;2.000\nb;9.100;2.400\n",
        "period;n;counted\na;8 000;2 000\nb;9 100;2400\n",
        "period;n;counted\na;8'000;2\u2019000\nb;9\u202f100;2400,0\n",
        "period;n;counted\na;8.000,00;2.000\nb;9.100;2400\n",
        'period,n,counted\na,"8,000",2000.0\nb,"9,100",2400\n',
    ],
)
def test_thousands_of_counts(text, folder):
    (folder / "x.csv").write_text(text, encoding="utf-8")
    expected = {a: (n - k, k) for a, n, k in zip(*COUNTS.values(), strict=True)}
    assert wb.load_periods("x.csv", labels=(0, 1)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "period;n;counted\na;8.000;2,000\nb;9.100;2.400\n",
            "column 'counted', row 2: '2,000' may be 2000 or 2.000, because its comma may "
            "separate thousands or decimals. Write it without a comma",
        ),
        (
            "period;n;counted\na;8,000;20,5\n",
            "column 'n', row 2: '8,000' may be 8000 or 8.000, because its comma may separate "
            "thousands or decimals. Write it without a comma",
        ),
        ('period,n,counted\na,"8,000","2,5"\n', "column 'n', row 2: '8,000' may be 8000 or 8.000"),
        ("period;n;counted\na;8000;2,5\n", "got 7997.5, 2.5"),
    ],
)
def test_counts_that_stay_open_are_refused(text, message, folder):
    (folder / "x.csv").write_text(text)
    costs_one_line(folder, message, "report", *CORRECTED.split(), "x.csv", "-o", "r.html")


def test_periods_that_are_dates_are_sorted(folder):
    months = {f"2024-{m:02}": (1000 - 30 * m, 200 + 30 * m) for m in range(1, 13)}
    lines = [f"{name},{sum(pair)},{pair[1]}\n" for name, pair in months.items()]
    for name, rows in (("rising.csv", lines), ("falling.csv", lines[::-1])):
        (folder / name).write_text("period,n,counted\n" + "".join(rows))
    rising, falling = (
        misclassification.read(audit="audit.csv", counts=name)[3]
        for name in ("rising.csv", "falling.csv")
    )
    assert falling.periods == rising.periods == tuple(months) and falling.audit_period == "2024-01"
    assert falling.estimates.tolist() == rising.estimates.tolist()
    assert falling.estimates[-1] > falling.estimates[0]
    said = set(map(str, falling.notes)) - set(map(str, rising.notes))
    assert said == {
        "periods are sorted as dates, from '2024-01' to '2024-12'; the file begins with '2024-12'"
    }
    late = misclassification.read(audit="audit.csv", counts="rising.csv", audit_period="2024-05")[3]
    assert (
        "the audit belongs to period '2024-05', not to the first period, '2024-01'; its rates are assumed to hold for earlier periods too"
        in map(str, late.notes)
    )


def test_predictions_of_items_are_counted(folder):
    rng = np.random.default_rng(3)
    period, read = rng.choice(["2024-02", "2024-01", "2024-03"], 5000), rng.integers(0, 2, 5000)
    lines = [f"{a},{b}\n" for a, b in zip(period, read, strict=True)]
    (folder / "x.csv").write_text("Period,prediction\n" + "".join(lines))
    expected = {
        name: tuple(np.bincount(read[period == name]).tolist())
        for name in sorted(set(period.tolist()))
    }
    (folder / "counted.csv").write_text(
        "period,0,1\n" + "".join(f"{a},{m},{n}\n" for a, (m, n) in expected.items())
    )
    made = [
        misclassification.read(audit="audit.csv", counts=name)[2:]
        for name in ("x.csv", "counted.csv")
    ]
    assert made[0][0] == made[1][0] == expected
    assert made[0][1].estimates.tolist() == made[1][1].estimates.tolist()
    assert wb.load_periods({"period": period, "k": read}, labels=(0, 1), predicted="k") == expected
    for extra, message in (
        (",1\n", "column 'period', row 5002 is missing"),
        (
            "2024-01,2\n",
            "column 'prediction', row 5002: '2' is not a class of the audit; classes: '0', '1'",
        ),
    ):
        (folder / "x.csv").write_text("period,prediction\n" + "".join(lines) + extra)
        costs_one_line(folder, message, "report", *CORRECTED.split(), "x.csv", "-o", "r.html")


def long_form(values, name="loss"):
    return f"model,fold,{name}\n" + "".join(
        f"{model},{k},{x:.3f}\n" for model, row in values.items() for k, x in enumerate(row)
    )


def test_the_long_form_is_the_wide_form(folder):
    rng = np.random.default_rng(5)
    values = {name: rng.random(10).round(3) for name in ("tree", "svm", "knn")}
    header, *rows = long_form(values).splitlines(keepends=True)
    (folder / "long.csv").write_text(header + "".join(rng.permutation(rows)))
    (folder / "wide.csv").write_text(
        "fold,"
        + ",".join(values)
        + "\n"
        + "".join(
            f"{k}," + ",".join(f"{row[k]:.3f}" for row in values.values()) + "\n" for k in range(10)
        )
    )
    for better in ("lower", "higher"):
        read = [
            cross_validation.read(losses=name, better=better) for name in ("long.csv", "wide.csv")
        ]
        for name, row in values.items():
            found = [
                each[0].losses[np.argsort(each[0].fold), each[0].models.index(name)]
                for each in read
            ]
            assert (
                found[0].tolist()
                == found[1].tolist()
                == [x if better == "lower" else -x for x in row]
            )
        assert read[0][3].test.pvalue == pytest.approx(read[1][3].test.pvalue, rel=1e-12)
    chosen = wb.CVLosses.read_csv("long.csv", models="svm, tree")
    assert chosen.models == ("svm", "tree")


LONG = long_form({"tree": np.arange(10) / 10, "svm": np.arange(10) % 7 / 10})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            LONG.replace("svm,3,0.300\n", ""),
            "every model must have one row for every fold; model 'svm' has 0 rows for fold 3",
        ),
        (
            LONG + "tree,4,0.1\n",
            "every model must have one row for every fold; model 'tree' has 2 rows for fold 4",
        ),
        (LONG.replace("svm,3,0.300", "svm,3,?"), "column 'loss', row 15: '?' is not a number"),
        (LONG.replace("svm,3,0.300", ",3,0.300"), "column 'model', row 15 is empty"),
        (
            LONG.replace("loss", "loss,gain").replace("\n", ",5\n").replace("gain,5", "gain"),
            "value must name the column of losses or scores, because the file has one row per "
            "model. Columns without another role: 'loss', 'gain'",
        ),
    ],
)
def test_long_forms_that_do_not_fit(text, message, folder):
    (folder / "x.csv").write_text(text)
    costs_one_line(folder, message, "report", *TESTED.split(), "x.csv", "-o", "r.html")
    (folder / "x.csv").write_text(LONG.replace("loss", "score"))
    costs_one_line(
        folder,
        "better must be given, because the name of column 'score' suggests scores",
        "report",
        *TESTED.replace("--better lower ", "").split(),
        "x.csv",
        "-o",
        "r.html",
    )


def test_sizes_of_folds_are_those_of_all_models(folder):
    sized = LONG.replace("loss", "loss,n").replace("\n", ",5\n").replace("n,5", "n")
    (folder / "x.csv").write_text(sized)
    assert wb.CVLosses.read_csv("x.csv", size="n").fold_size.tolist() == [5] * 10
    (folder / "x.csv").write_text(sized.replace("svm,9,0.200,5", "svm,9,0.200,6"))
    costs_one_line(
        folder,
        "column 'n' must be the same for every model",
        "report",
        *TESTED.split(),
        "x.csv",
        "--size",
        "n",
        "-o",
        "r.html",
    )
