"""Label sheets through the command line: what goes out, what comes back half filled, and what is told."""

import csv
import json

import numpy as np
import pytest
from command import costs_one_line, page_of, run_here

TOPIC = ("report", "stratified-accuracy", "--scores", "my.csv", "--score", "p", "--id", "item")
AUDIT = (*TOPIC, "--prediction", "yhat", "--score-is", "confidence")


@pytest.fixture
def folder(tmp_path):
    """400 items with a text; every seventh prediction is wrong."""
    score = np.random.default_rng(1).uniform(0.5, 1, 400)
    rows = [
        [f"{k:05d}", score[k], "ham" if k % 7 else "spam", f'=text "{k}", {399 - k:03d}']
        for k in range(400)
    ]
    write(tmp_path / "my.csv", [["item", "p", "yhat", "text of item"], *rows])
    return tmp_path


def write(path, rows, delimiter=",", encoding="utf-8"):
    with open(path, "w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def plan(folder, *more):
    """Plan 50 labels; returns the rows of the sheet, the header first."""
    page_of(run_here(folder, *AUDIT, "--budget", 50, *more), folder, "report.html")
    with open(folder / "report-labels.csv", encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_a_sheet_shows_what_was_asked_for_in_the_order_of_labeling(folder):
    header, *rows = plan(folder, "--columns", "text of item,p")
    assert header == ["id", "position", "yhat", "text of item", "p", "correct"]
    assert [row[1] for row in rows] == [str(k) for k in range(1, 51)]
    assert all(
        row[3].startswith("'=text") and row[2] in ("ham", "spam") and row[5] == "" for row in rows
    )
    plan_of = json.loads((folder / "report-labels.plan.json").read_text())
    assert plan_of["source"]["scores"] == "my.csv" and plan_of["budget"] == 50
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "You may stop after any row from row 20 on" in page


def test_a_sheet_sorted_half_filled_and_saved_by_a_spreadsheet(folder):
    """Sorted by the text, without leading zeros, with semicolons and a byte-order mark, 30 of 50 rows, one skipped."""
    header, *rows = plan(folder, "--columns", "text of item,")
    for row in rows:
        right = "no" if row[2] == "spam" else "Yes"
        row[0], row[-1] = str(int(row[0])), right if int(row[1]) <= 30 and row[1] != "12" else ""
    skipped = next(row[0] for row in rows if row[1] == "12")
    write(
        folder / "report-labels.csv",
        [header, *sorted(rows, key=lambda row: row[3][::-1])],
        ";",
        "utf-8-sig",
    )
    page = page_of(
        run_here(folder, *AUDIT, "--labels", "report-labels.csv", "-o", "r.html"), folder
    )
    assert "29 labels (1 more item could not be labeled), 10 strata" in page
    assert "has 50 rows: 29 labeled, 1 could not be labeled, 20 not reached." in page
    assert f"<p>1 item could not be labeled: {int(skipped):05d}</p>" in page
    assert (
        "the first 30 of 50 rows in the order of labeling were reached. The interval is valid if the "
        "decision to stop did not depend on the labels seen"
    ) in page
    assert (
        "50 ids were changed by a spreadsheet and matched to the only sampled item that it would show like "
    ) in page
    assert (
        "1 item could not be labeled: its label may be anything, so the estimate is a range" in page
    )
    assert "It becomes shorter once the item without a label is labeled." in page


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            "x",
            "column 'correct' holds only 'x', in 50 rows. It is not clear "
            "whether it means correct or incorrect, or what an empty cell means. Write 1 (correct) "
            "or 0 (incorrect) in every row that was checked",
        ),
        ("maybe", "column 'correct', row 2 (id '"),
        (
            "",
            "'report-labels.csv' has no label in its column 'correct': write 1 if the "
            "prediction is correct and 0",
        ),
    ],
)
def test_answers_that_say_nothing(folder, answer, message):
    header, *rows = plan(folder)
    write(folder / "report-labels.csv", [header, *([*row[:-1], answer] for row in rows)])
    costs_one_line(folder, message, *AUDIT, "--labels", "report-labels.csv", "-o", "r.html")


def test_two_ways_to_answer_and_too_few_rows(folder):
    header, *rows = plan(folder)
    mixed = [[*row[:-1], "right" if k else "1.0"] for k, row in enumerate(rows)]
    write(folder / "report-labels.csv", [header, *mixed])
    costs_one_line(
        folder,
        "column 'correct' mixes two kinds of answers: row 2 has '1.0', row 3 has 'right'. Use one of "
        "1/0, "
        "right/wrong throughout",
        *AUDIT,
        "--labels",
        "report-labels.csv",
        "-o",
        "r.html",
    )
    write(
        folder / "report-labels.csv",
        [header, *([*row[:-1], "1" if k < 19 else ""] for k, row in enumerate(rows))],
    )
    costs_one_line(
        folder,
        "the labels end at position 19 of the order of labeling, but two rounds through 10 strata "
        "are needed. Label 1 more, up to position 20",
        *AUDIT,
        "--labels",
        "report-labels.csv",
        "-o",
        "r.html",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--seed", "3"],
            "seed was 0 when the sheet was written and is 3 now (see 'report-labels.plan.json')",
        ),
        (
            ["--score-is", "class1", "--positive", "ham"],
            "score_is was 'confidence' when the sheet was written and is 'class1' now; positive was '' when the sheet was "
            "written "
            "and is 'ham' now",
        ),
        (["--n-strata", "4"], "n_strata was 'auto' when the sheet was written and is 4 now"),
        (
            ["--metrics-of", "spam"],
            "question was 'accuracy' when the sheet was written and is 'class_metrics' now",
        ),
    ],
)
def test_what_changed_since_the_plan_is_told_by_name(folder, arguments, message):
    header, *rows = plan(folder)
    write(folder / "report-labels.csv", [header, *([*row[:-1], "1"] for row in rows)])
    costs_one_line(
        folder, message, *AUDIT, "--labels", "report-labels.csv", "-o", "r.html", *arguments
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            "txt",
            "'my.csv' has no column 'txt'; available columns: 'item', 'p', 'yhat', 'text of item'",
        ),
        ("p id", "'my.csv' has no column 'id'"),
    ],
)
def test_columns_that_cannot_be_shown(folder, columns, message):
    costs_one_line(folder, message, *AUDIT, "--columns", columns)


def test_columns_named_as_those_of_the_sheet(folder):
    write(
        folder / "my.csv", [["item", "p", "Truth"], *([k, 0.5 + k / 100, "a"] for k in range(40))]
    )
    costs_one_line(
        folder,
        "columns must not be named 'Truth': the annotation sheet has its own column of that name",
        *TOPIC,
        "--columns",
        "Truth",
        "--budget",
        20,
    )
    costs_one_line(
        folder,
        "--columns is 'p', columns of a file; name the file as --scores",
        "report",
        "stratified-accuracy",
        "--columns",
        "p",
    )


def test_one_item_is_no_sample(folder):
    write(folder / "my.csv", [["item", "p", "yhat"], ["a", 0.9, "x"]])
    costs_one_line(folder, "items must be at least two; there is only one item", *AUDIT)
