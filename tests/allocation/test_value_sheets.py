"""A sheet of values goes out, comes back as people fill it, and goes on; every row is accounted for."""

import csv
import hashlib

import numpy as np
import pandas as pd
import pytest
from command import costs_one_line, page_of, run_here

import workbench as wb
from workbench.allocation.values.sheets import read_value_sheet
from workbench.reports.inputs import allocation as read

RNG = np.random.default_rng(9)
GROUP = RNG.choice(["big", "mid", "small"], 400, p=[0.1, 0.3, 0.6])
OLD = {"big": 50, "mid": 8, "small": 1}
RECORDS = [(f"{k:04d}", str(g), f"{RNG.normal(10, OLD[g]):.2f}") for k, g in enumerate(GROUP)]
NEW = {name: round(float(value) + 1, 2) for name, _, value in RECORDS}
PLAN = {"strata": "records.csv", "stratum": "g", "value": "old", "id": "nr", "budget": 40}
LINE = "report voila-vs-neyman --strata records.csv --stratum g --value old --id nr --budget 40 --labels"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("records.csv", [("nr", "g", "old"), *RECORDS])
    read.read(**PLAN, label_sheet="sheet.csv")
    return tmp_path


def write(name, rows):
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def sheet(name="sheet.csv"):
    with open(name, newline="", encoding="utf-8-sig") as file:
        return list(csv.reader(file))


def fill(rows, most=None):
    """Return the rows with the new values in the first `most` of them."""
    return [
        rows[0],
        *(
            [name, g, NEW[name] if most is None or k < most else ""]
            for k, (name, g, _) in enumerate(rows[1:])
        ),
    ]


def analyzed(name, **more):
    return read.read(**PLAN | more, labels=name)[-1]


def notes(found):
    return " | ".join(map(str, found.notes))


def test_any_beginning_of_the_sheet_is_spread_over_the_strata(folder):
    groups = np.array([row[1] for row in sheet()[1:]])
    assert {*groups[:3]} == {*groups[3:6]} == {"big", "mid", "small"}
    planned = {g: (groups == g).sum() for g in OLD}
    for n in range(12, 41, 7):
        for g in OLD:
            assert abs((groups[:n] == g).sum() - planned[g] * n / 40) <= 2


def test_the_filled_sheet_gives_the_textbook_estimate(folder):
    write("filled.csv", fill(sheet()))
    found = analyzed("filled.csv")
    values = {g: [NEW[name] for name, other, _ in sheet()[1:] if other == g] for g in OLD}
    sizes = {g: (GROUP == g).sum() for g in OLD}
    assert found.estimate == pytest.approx(
        sum(sizes[g] * np.mean(values[g]) for g in OLD) / 400, rel=1e-12
    )
    assert found.variance == pytest.approx(
        sum(
            (sizes[g] / 400) ** 2
            * (1 - len(values[g]) / sizes[g])
            * np.var(values[g], ddof=1)
            / len(values[g])
            for g in OLD
        ),
        rel=1e-12,
    )
    assert found.sampled.sum() == 40 and not found.to_label.any()
    rows = sheet("filled.csv")
    write("sorted.csv", [rows[0], *sorted(rows[1:], key=lambda row: row[2])])
    assert analyzed("sorted.csv").estimate == pytest.approx(found.estimate, rel=1e-12)
    write("excel.csv", [rows[0], *([n.lstrip("0"), g, v] for n, g, v in rows[1:])])
    again = analyzed("excel.csv")
    assert again.estimate == pytest.approx(found.estimate, rel=1e-12)
    assert (
        "40 ids were changed by a spreadsheet and matched to the only sampled item that it would"
        in notes(again)
    )


def test_a_half_filled_sheet_goes_on_and_loses_nothing(folder):
    write("half.csv", fill(sheet(), 21))
    found = analyzed("half.csv", label_sheet="next.csv", label_plan="plan.csv")
    assert found.sampled.sum() == 21 and found.to_label.sum() == 19
    assert [int(row[2]) for row in sheet("plan.csv")[1:]] == (
        found.sampled + found.to_label
    ).tolist()
    assert "19 rows of the sheet have no value and are not used" in notes(
        found
    ) and "left empty" not in notes(found)
    after = sheet("next.csv")
    assert {name: float(value) for name, _, value in after[1:] if value} == {
        name: NEW[name] for name, *_ in sheet("half.csv")[1:22]
    }
    assert {row[0] for row in after} == {row[0] for row in sheet()}, (
        "the same budget and seed: the same records"
    )
    analyzed("half.csv", label_sheet="next.csv")
    more = analyzed("half.csv", label_sheet="more.csv", budget=60)
    assert more.to_label.sum() == 39 and {row[0] for row in sheet()} < {
        row[0] for row in sheet("more.csv")
    }
    write("done.csv", fill(sheet("more.csv")))
    assert analyzed("done.csv", budget=60).sampled.sum() == 60
    write("next.csv", fill(sheet("next.csv"), 25))
    with pytest.raises(
        ValueError,
        match="^'next.csv' already holds 4 values that the annotation sheet does not, and is "
        "not overwritten. Choose another path, or move the file away$",
    ):
        analyzed("half.csv", label_sheet="next.csv")
    assert [row for row in sheet("next.csv") if row[2]][1:] == [
        list(map(str, row)) for row in fill(after, 25)[1:26]
    ]


def test_every_row_is_accounted_for(folder):
    rows = fill(sheet())
    rows[3][2] = ""
    rows.append(list(rows[5]))
    rows.append(["9999", "big", 7])
    write("odd.csv", rows)
    found = analyzed("odd.csv")
    assert found.sampled.sum() == 39
    said = notes(found)
    assert "1 id was left out, not sampled by seed 0: '9999'" in said
    assert f"1 row repeats an id with the same value, counted once: '{rows[5][0]}'" in said
    assert "1 row of the sheet has no value and is not used" in said
    assert (
        "1 item was left empty before the last filled ones. The estimate is valid only if their values are like"
        in said
    )
    expected = {g: np.mean([r[2] for r in rows[1:41] if r[1] == g and r[2] != ""]) for g in OLD}
    assert found.estimate == pytest.approx(
        sum((GROUP == g).sum() * expected[g] for g in OLD) / 400, rel=1e-12
    )


def test_rows_that_were_deleted_count_as_passed_over(folder):
    rows = fill(sheet())
    write("short.csv", rows[:2] + rows[8:])
    found = analyzed("short.csv")
    assert found.sampled.sum() == 34 and "6 items were left empty" in notes(found)


def test_a_table_of_strata_believes_the_sheet(folder):
    write("strata.csv", [("stratum", "size", "sd"), ("1", 100, 2), ("2", 50, 5)])
    write(
        "own.csv",
        [("id", "stratum", "value"), *((k, "1.0" if k % 2 else 2, f"{k},5") for k in range(12))],
    )
    (folder / "own.csv").write_text(
        (folder / "own.csv")
        .read_text()
        .replace('"', "")
        .replace(",", ";")
        .replace(";5\n", ",5\n")
        .replace("1.0", "1"),
        encoding="utf-8",
    )
    found = read.read(strata="strata.csv", labels="own.csv", budget=20)[-1]
    assert (
        found.estimate == pytest.approx((100 * 6.5 + 50 * 5.5) / 150) and found.to_label.sum() == 8
    )


def test_a_stratum_that_the_table_does_not_have_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("own.csv", [("id", "stratum", "value"), ("x", "north", 1), ("y", "nroth", 2)])
    strata = wb.load_strata({"stratum": ["north", "south"], "size": [9, 9], "sd": [1, 1]})
    with pytest.raises(ValueError) as caught:
        read_value_sheet("own.csv", strata)
    assert str(caught.value) == (
        "row 3 of the sheet has stratum 'nroth'; "
        "the strata are 'north', 'south' (did you mean 'north'?)"
    )


MISTAKES = [
    ({5: ("0000", "big", "x")}, "", "column 'value', row 6: 'x' is not a number"),
    ({41: None}, "", "in row 2 of the sheet and 99 in row 42; keep one of them"),
    ({2: (None, "tiny", None)}, "", "has stratum 'tiny' in row 3 of the sheet but "),
    ({}, "--seed 4", "labels must be of the records that were sampled; seed 4 samples only "),
    ({1: ("", None, None)}, "", "row 2 of the sheet has the value "),
    ({}, "--bounds 0,3", "bounds must include every value; "),
    ({}, "--bounds 3", "--bounds must be the smallest and the largest value, as \"0, 1\"; got '3'"),
    (
        {},
        "--label-sheet n.csv",
        "--label-sheet would be empty, because nothing is left of --budget; increase it",
    ),
    ({}, "--label-sheet filled.csv", "filled.csv"),
    ({}, "--sd-from labeled", "--sd-from must be one of 'planned', 'labels'; got 'labeled'"),
    ({}, "--level 2", "level must be a number in (0, 1); got 2"),
]


@pytest.mark.parametrize(
    ("change", "more", "message"), MISTAKES, ids=[message for *_, message in MISTAKES]
)
def test_mistakes_cost_one_line_before_any_kernel(folder, change, more, message):
    rows = fill(sheet())
    for row, cells in change.items():
        if cells is None:
            rows.append([rows[1][0], rows[1][1], 99])
        else:
            rows[row] = [
                old if new is None else new for old, new in zip(rows[row], cells, strict=True)
            ]
    write("filled.csv", rows)
    costs_one_line(folder, message, *LINE.split(), "filled.csv", *more.split(), "-o", "r.html")


def test_bounds_and_labels_belong_together(folder):
    costs_one_line(
        folder,
        "--bounds limit the values of --labels, which was not given",
        *LINE.split()[:-1],
        "--bounds",
        "0,1",
    )
    costs_one_line(
        folder,
        "--strata must be given with --labels",
        "report",
        "voila-vs-neyman",
        "--labels",
        "sheet.csv",
    )


def test_the_page_says_total_mean_and_what_comes_next(folder):
    write("half.csv", fill(sheet(), 30))
    done = run_here(
        folder, *LINE.split(), "half.csv", "--label-sheet", "next.csv", "-o", "r.html", "--quiet"
    )
    page, found = page_of(done, folder), analyzed("half.csv")
    assert found.headline() in page and "still to label" in page and "Neyman wants" not in page
    assert (
        "10 rows of the sheet have no value and are not used" in page
        and (folder / "next.csv").exists()
    )


def test_ids_a_spreadsheet_would_execute_come_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("records.csv", [("nr", "g", "old"), *((f"=A{k}", "ab"[k % 2], k) for k in range(30))])
    plan = PLAN | {"budget": 8}
    read.read(**plan, label_sheet="sheet.csv")
    assert all(row[0].startswith("'=A") for row in sheet()[1:])
    write("filled.csv", [[name, g, value or 5] for name, g, value in sheet()])
    summary = wb.load_strata("records.csv", stratum="g", value="old")
    found = read_value_sheet("filled.csv", summary, records="records.csv", stratum="g", id="nr")
    assert found.values.size == 8 and found.begun.sum() == 8


def test_a_sheet_of_which_half_was_drawn_is_that_sheet_and_less_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = {"nr": [f"r{k}" for k in range(30)], "g": ["a"] * 30, "old": range(30)}
    summary, first = (
        wb.summarize(pd.DataFrame(records), "g", "old"),
        min(records["nr"], key=lambda name: hashlib.md5(f"0:{name}".encode()).hexdigest()),
    )

    def found(*others):
        write(
            "filled.csv",
            [("id", "stratum", "value"), (first, "a", 5), *((name, "a", 7) for name in others)],
        )
        return read_value_sheet(
            "filled.csv", summary, records=pd.DataFrame(records), stratum="g", id="nr"
        )

    half = found("x1")
    assert half.values.tolist() == [
        5
    ] and "1 id was left out, not sampled by seed 0: 'x1'" in notes(half)
    with pytest.raises(
        ValueError, match="seed 0 samples only 1 of the 3 ids of the sheet, not 'x1'"
    ):
        found("x1", "x2")
