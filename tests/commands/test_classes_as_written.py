"""A class is what is written: two spellings of one number are refused until someone says what they are."""

import csv
import html
import itertools
import re

import numpy as np
import pytest
from command import costs_one_line, run, run_unseen
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.data.classes import read_classes
from workbench.data.decimals import mark_of
from workbench.misclassification.files import read_periods

SCORES = (
    "report",
    "stratified-accuracy",
    "--scores",
    "a.csv",
    "--score",
    "p",
    "--prediction",
    "read",
    "--id",
    "id",
    "--score-is",
    "confidence",
)
CLUSTERED = (
    "report",
    "brr-orthogonal-arrays",
    "--items",
    "a.csv",
    "--truth",
    "true",
    "--prediction",
    "read",
    "--stratum",
    "half",
    "--psu",
    "box",
)
AUDITED = (
    "report",
    "misclassification-correction",
    "--audit",
    "a.csv",
    "--truth",
    "true",
    "--prediction",
    "read",
    "--counts",
    "a.csv",
    "--period",
    "half",
)
NEW = (
    "audit",
    "new",
    "a.csv",
    "a.db",
    "--budget",
    "40",
    "--score",
    "p",
    "--prediction",
    "read",
    "--id",
    "id",
    "--score-is",
    "confidence",
)
REFUSED = (
    "column 'read' writes one number in two ways, '1' in row 2 and '01' in row 3. Use classes "
    "'text' if they are two classes, 'numbers' if they are one"
)
CELLS = st.sampled_from(
    ["1", "01", "1.0", " 1", "2", "2.", "true", "TRUE", "1e0", "a", "A", "10", "1,0", "+1"]
)


def written(folder, read, true, name="a.csv"):
    """Write items whose classes are cycles of the cells."""
    rows = [
        (f"i{k}", 0.5 + k % 50 / 100, read[k % len(read)], true[k % len(true)], k // 150, k // 15)
        for k in range(300)
    ]
    with open(folder / name, "w", newline="") as file:
        csv.writer(file).writerows([("id", "p", "read", "true", "half", "box"), *rows])


def page(folder):
    text = html.unescape(
        re.sub("<[^>]+>", " ", (folder / "report.html").read_text(encoding="utf-8"))
    )
    return " ".join(text.split())


@pytest.mark.parametrize(
    "command", [SCORES, CLUSTERED, AUDITED], ids=["scores", "clusters", "shares"]
)
def test_two_spellings_are_refused_with_their_rows(tmp_path, command):
    written(tmp_path, ["1", "01", "1"], ["1"])
    costs_one_line(tmp_path, REFUSED, *command)


def test_what_was_said_of_them_decides_and_is_on_the_page(tmp_path):
    written(tmp_path, ["1", "01", "1"], ["01", "1"])  # every second is right
    assert run_unseen(tmp_path, *SCORES, "--truth", "true", "--classes", "text").returncode == 0
    assert "the true accuracy is 50.0%" in page(
        tmp_path
    ) and "classes were read as text, so '01' and '1' are different classes" in page(tmp_path)
    assert run_unseen(tmp_path, *SCORES, "--truth", "true", "--classes", "numbers").returncode == 0
    assert "the true accuracy is 100.0%" in page(tmp_path) and "class 1 is written" in page(
        tmp_path
    )


def test_columns_with_a_spelling_each_match_and_the_page_says_so(tmp_path):
    written(tmp_path, ["01", "02", "01"], ["1", "2"])
    assert run_unseen(tmp_path, *SCORES, "--truth", "true").returncode == 0
    assert (
        "class 1 is written '01' in column 'read', '1' in column 'true'; class 2 likewise"
        in page(tmp_path)
    )


def test_a_session_keeps_what_was_said(tmp_path):
    written(tmp_path, ["1", "01", "1"], ["1"])
    assert REFUSED in run(tmp_path, *NEW).stderr
    assert (
        run(
            tmp_path, *NEW, "--classes", "text", "--question", "class-metrics", "--metrics-of", "01"
        ).returncode
        == 0
    )
    assert run(tmp_path, "audit", "verify", "a.db", "--scores", "a.csv").returncode == 0


def test_strata_and_clusters_stay_text():
    labeled = wb.load_labeled(
        {
            "truth": [0, 1, 0, 1],
            "prediction": [0, 1, 1, 1],
            "stratum": ["01", "01", "1", "1"],
            "psu": ["7", "07", "7", "07"],
        },
        psu="psu",
    )
    assert labeled.stratum.tolist() == ["01", "01", "1", "1"] and labeled.psu.tolist() == [
        "7",
        "07",
        "7",
        "07",
    ]


def test_counts_of_periods_match_the_audit_and_the_series_says_so():
    months = {"period": ["a", "a", "b"], "prediction": ["01", "02", "01"]}
    found, said = read_periods(
        months, labels=[1, 2], period="period", total="n", counted="counted", predicted="prediction"
    )
    assert (
        found == {"a": (1, 1), "b": (1, 0)}
        and str(said[-1]) == "in column 'prediction' '01' is class 1, '02' is class 2"
    )
    months["prediction"][2] = "1"
    with pytest.raises(
        ValueError, match="'01' in data row 1 and '1' in data row 3. Use classes 'text'"
    ):
        wb.load_periods(months, labels=[1, 2])
    assert wb.load_periods(months, labels=["01", "02", "1"]) == {"a": (1, 1, 0), "b": (0, 0, 1)}


@given(
    st.lists(CELLS, min_size=1, max_size=6),
    st.lists(CELLS, min_size=1, max_size=6),
    st.sampled_from(["auto", "text", "numbers"]),
)
def test_no_two_cells_become_one_class_without_a_word(read, true, classes):
    columns = {"read": np.array(read, object), "true": np.array(true, object)}
    try:
        labels, notes = read_classes(columns, classes)
    except ValueError:
        return
    told = " ".join(map(str, notes))
    cells = [
        (cell.strip(), label)
        for name in columns
        for cell, label in zip(columns[name], labels[name].tolist(), strict=True)
    ]
    for (one, label), (other, same) in itertools.combinations(cells, 2):
        if one != other and label == same:
            assert re.search(rf"\b{label}\b", told), (one, other, told)
    if classes == "text":
        assert all(cell == label for cell, label in cells)
    assert classes != "numbers" or all(
        mark_of(cell) is not None or cell.lower() == "true" for cell, _ in cells
    )


@pytest.mark.parametrize(
    "read, true, message",
    [
        (
            ["gard\u00e9", "x"],
            ["garde\u0301", "x"],
            "looks like",
        ),
        (
            ["\u2764\ufe0f", "x"],
            ["\u2764", "x"],
            "looks like",
        ),
        (
            ["ham", "spam"],
            ["Ham", "ham", "spam"],
            "'Ham' looks like 'ham' in column 'read'. Spell them alike",
        ),
        (
            ["ham", "spam", "NULL"],
            ["ham", "spam"],
            "'NULL' never occurs in column 'true'. Empty the cell",
        ),
    ],
)
@pytest.mark.parametrize(
    "command",
    [SCORES + ("--truth", "true"), CLUSTERED, AUDITED],
    ids=["scores", "clusters", "shares"],
)
def test_a_class_that_looks_like_another_is_asked_for(tmp_path, command, read, true, message):
    written(tmp_path, read, true)
    costs_one_line(tmp_path, message, *command)


def test_a_word_for_nothing_that_both_columns_have_is_a_class():
    labels, _ = read_classes(
        {"true": np.array(["None", "PER"], object), "read": np.array(["PER", "None"], object)}
    )
    assert labels["read"].tolist() == ["PER", "None"]


def test_strata_and_clusters_that_look_alike_are_told(tmp_path):
    rows = [(k % 2, k % 3 % 2, ("7", "7.0", "8")[k % 3], "aA"[k % 2]) for k in range(60)]
    with open(tmp_path / "a.csv", "w", newline="") as file:
        csv.writer(file).writerows([("true", "read", "box", "half"), *rows])
    items = wb.load_labeled(
        tmp_path / "a.csv", truth="true", prediction="read", stratum="half", psu="box", nest=True
    )
    said = " ".join(map(str, items.notes))
    assert "column 'half' contains 'a' and 'A', which were read as different" in said
    assert "column 'box' contains '7' and '7.0', which were read as different" in said
