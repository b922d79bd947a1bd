"""Report, session and library draw the same items; the sheet of one is read by the others."""

import csv
import hashlib
import json
import shlex

import numpy as np
import pytest
from command import run, run_unseen

import workbench as wb
from workbench.charts.stratified import audits as charts

SEED = 3
QUESTIONS = {
    "accuracy": ("", ""),
    "class-metrics": ("--metrics-of spam", "--question class-metrics --metrics-of spam"),
    "difference": ("--rival other", "--question difference --rival other"),
}


@pytest.fixture
def folder(tmp_path):
    """900 items; the second model differs on a third of them."""
    rng = np.random.default_rng(1)
    score, first = rng.uniform(0.5, 1, 900), rng.choice(["ham", "spam"], 900, p=[0.7, 0.3])
    other = np.where(rng.random(900) < 0.3, np.where(first == "ham", "spam", "ham"), first)
    truth = np.where(rng.random(900) < score, first, np.where(first == "ham", "spam", "ham"))
    rows = zip((f"{k:04d}" for k in range(900)), score, first, other, truth, strict=True)
    write(tmp_path / "my.csv", [["item", "p", "yhat", "other", "really"], *rows])
    return tmp_path


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def typed(folder, line, runs=run):
    done = runs(folder, *shlex.split(line))
    assert done.returncode == 0, done.stderr
    return done.stdout


def answers(folder, rows, asks, by_id):
    """Fill rows with the truth; of the second kind of sheet an id is the number of the row."""
    items = read(folder / "my.csv")
    known = {row["item"] if by_id else str(k): row for k, row in enumerate(items, 1)}
    for row in rows:
        its = known[row["id"]]
        row[asks] = its["really"] if asks == "truth" else str(int(its["yhat"] == its["really"]))
    return rows


def save(path, rows):
    write(path, [list(rows[0]), *(row.values() for row in rows)])


def result_of(folder, page):
    """Estimate and limits of what a report found, from its JSON."""
    results = json.loads((folder / page).read_text())["results"]
    return next(
        entry["result"]["values"] for entry in results if entry["result"]["kind"].endswith("Audit")
    )


@pytest.mark.parametrize("by_id", [True, False], ids=["ids", "rows"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_sheet_of_one_is_that_of_the_other(folder, question, by_id):
    """The same items in the same order; labels of either give the same estimate and interval to the digit."""
    in_report, in_session = QUESTIONS[question]
    source = (
        "--score p --prediction yhat --score-is confidence"
        + " --id item" * by_id
        + f" --seed {SEED}"
    )
    typed(
        folder,
        f"report stratified-accuracy --scores my.csv {source} {in_report} --budget 60 -o r.html",
        run_unseen,
    )
    typed(folder, f"audit new my.csv audit.db {source} {in_session} --budget 60")
    typed(folder, "audit export audit.db session.csv")
    planned, handed = read(folder / "r-labels.csv"), read(folder / "session.csv")
    assert [(row["id"], row["position"]) for row in planned] == [
        (row["id"], row["position"]) for row in handed
    ]
    asks = list(planned[0])[-1]
    assert asks == list(handed[0])[-1] and len(planned) == 60

    save(folder / "session.csv", answers(folder, handed, asks, by_id))
    typed(folder, "audit import audit.db session.csv")
    typed(
        folder,
        f"report stratified-accuracy --scores my.csv {source} {in_report} --labels session.csv -o a.html "
        "--json a.json",
        run_unseen,
    )
    save(folder / "r-labels.csv", answers(folder, planned, asks, by_id))
    typed(
        folder,
        f"report stratified-accuracy --scores my.csv {source} {in_report} --labels r-labels.csv -o b.html "
        "--json b.json",
        run_unseen,
    )
    assert result_of(folder, "a.json") == result_of(folder, "b.json")
    with wb.AuditSession.open(folder / "audit.db") as session:
        found = session.estimate(method="fixed")
        items = wb.read_scores(
            str(folder / "my.csv"),
            score="p",
            prediction="yhat",
            score_is="confidence",
            id="item" if by_id else "",
            rival="other" if question == "difference" else "",
        )
        if question == "accuracy":
            audit = wb.accuracy_audit(items, labels=str(folder / "session.csv"), rng=SEED)
            assert (found.estimate, *found.interval()) == (
                audit.estimate.estimate,
                *audit.confidence_interval,
            )
        elif question == "difference":
            audit = wb.difference_audit(items, labels=str(folder / "session.csv"), rng=SEED)
            assert (found.estimate, *found.interval()) == (
                audit.difference.estimate,
                *audit.confidence_interval,
            )
        else:
            audit = wb.class_audit(items, "spam", labels=str(folder / "session.csv"), rng=SEED)
            assert [tuple(found.interval(name)) for name in ("precision", "recall", "f1")] == [
                tuple(limits) for limits in audit.limits
            ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_session_goes_on_with_a_report_and_keeps_its_labels(folder, question):
    source = f"--score p --prediction yhat --score-is confidence --id item --seed {SEED}"
    typed(
        folder,
        f"report stratified-accuracy --scores my.csv {source} {QUESTIONS[question][0]} --budget 60 -o r.html "
        "--columns really",
        run_unseen,
    )
    planned = read(folder / "r-labels.csv")
    asks = list(planned[0])[-1]
    rest = [row | {asks: ""} for row in planned[25:]]
    save(folder / "r-labels.csv", answers(folder, planned[:25], asks, True) + rest)
    said = typed(folder, "audit new my.csv audit.db --from r-labels.plan.json --by ann")
    assert "Wrote audit.db: 60 of" in said and "From r-labels.csv: 25 labels recorded" in said
    with wb.AuditSession.open(folder / "audit.db") as session:
        assert session.status().labeled == 25 and session.design["columns"] == ["really"]
        assert [item.id for item in session.next(60, by="ann")] == [
            row["id"] for row in planned[25:]
        ]
    again = typed(folder, "audit new my.csv other.db --from r-labels.csv --by ann")
    assert "25 labels recorded" in again
    assert (
        "give --from or --budget, not both"
        in run(folder, *shlex.split("audit new my.csv c.db --from r-labels.csv --budget 70")).stderr
    )
    changed = planned[0]["id"]
    (folder / "my.csv").write_text(
        (folder / "my.csv").read_text().replace(f"{changed},", f"{changed}x,")
    )
    refused = run(folder, *shlex.split("audit new my.csv c.db --from r-labels.csv"))
    assert (
        "have changed since the sheet was written" in refused.stderr
        and not (folder / "c.db").exists()
    )


def test_without_a_plan_a_budget_is_needed(folder):
    assert (
        "Missing option '--budget'"
        in run(folder, "audit", "new", "my.csv", "a.db", "--score", "p").stderr
    )
    assert (
        "there is no plan for 'my.csv'"
        in run(folder, "audit", "new", "my.csv", "a.db", "--from", "my.csv").stderr
    )


@pytest.mark.parametrize("id", [None, [f"doc {k}" for k in range(300)]], ids=["rows", "ids"])
def test_the_library_draws_the_items_of_which_the_hash_is_least(id):
    rng = np.random.default_rng(2)
    stratum = rng.integers(0, 3, 300)
    names = id or list(range(1, 301))
    drawn = wb.draw_items(stratum, [5, 0, 9], rng=7, id=id)
    expected = []
    for k, n in ((0, 5), (2, 9)):
        members = np.flatnonzero(stratum == k).tolist()
        expected += sorted(
            members, key=lambda row: hashlib.md5(f"7:{names[row]}".encode()).hexdigest()[:15]
        )[:n]
    assert drawn.tolist() == sorted(expected)
    frame = {"stratum": stratum.tolist(), "name": names}
    import polars as pl

    sampled = wb.sample(pl.DataFrame(frame), "stratum", {0: 5, 1: 0, 2: 9}, id="name", seed=7)
    assert sorted(map(str, sampled.id.tolist())) == sorted(str(names[row]) for row in drawn)


def test_a_larger_budget_goes_on_where_a_smaller_one_ends(folder):
    source = "--score p --prediction yhat --score-is confidence --id item --stratifier cum_sqrt_f"
    sheets = []
    for budget in (40, 70):
        typed(
            folder,
            f"report stratified-accuracy --scores my.csv {source} --budget {budget} -o r{budget}.html",
            run_unseen,
        )
        sheets.append([row["id"] for row in read(folder / f"r{budget}-labels.csv")])
    assert sheets[1][:40] == sheets[0]


def planned_half(folder):
    """Plan 60 labels with a report, fill 25 of them; returns the rows."""
    typed(
        folder,
        f"report stratified-accuracy --scores my.csv {NAMES} --score-is confidence --budget 60 -o r.html",
        run_unseen,
    )
    rows = read(folder / "r-labels.csv")
    rows[:25] = answers(folder, rows[:25], "correct", True)
    save(folder / "r-labels.csv", rows)
    return rows


NAMES = "--score p --prediction yhat --id item"


def test_rows_of_a_sheet_that_a_session_refuses_are_told(folder):
    rows = planned_half(folder)
    rows[3]["correct"] = "perhaps"
    save(folder / "r-labels.csv", rows)
    done = run(folder, "audit", "new", "my.csv", "audit.db", "--from", "r-labels.csv")
    assert (
        done.returncode == 0
        and "24 labels recorded, 0 already recorded; 1 row rejected" in done.stdout
    )
    assert done.stderr.startswith(f"Row 5 (id {rows[3]['id']!r}) was not recorded: 'perhaps' ")


def test_a_sheet_that_cannot_be_read_leaves_no_session(folder):
    planned_half(folder)
    (folder / "r-labels.csv").write_text("foo,bar\n1,2\n")
    done = run(folder, "audit", "new", "my.csv", "audit.db", "--from", "r-labels.plan.json")
    assert "has no column 'id'" in done.stderr and not (folder / "audit.db").exists()


def test_the_sheet_beside_a_plan_may_be_a_workbook_or_missing(folder):
    from workbench.labeling.workbooks import write_label_workbook

    rows = planned_half(folder)
    write_label_workbook(
        folder / "r-labels.xlsx", list(rows[0]), [list(row.values()) for row in rows], ["0", "1"]
    )
    line = "audit new my.csv audit.db --from r-labels.plan.json"
    assert (
        "one of the two sheets 'r-labels.csv' and 'r-labels.xlsx'"
        in run(folder, *shlex.split(line)).stderr
    )
    (folder / "r-labels.csv").unlink()
    assert "From r-labels.xlsx: 25 labels recorded" in typed(folder, line)
    (folder / "r-labels.xlsx").unlink()
    assert "No labels were imported, because there is no r-labels.csv." in typed(
        folder, line.replace("audit.db", "b.db")
    )


def test_a_plan_of_the_library_goes_on_where_its_columns_are_named(folder):
    items = wb.read_scores(
        str(folder / "my.csv"), score="p", prediction="yhat", id="item", score_is="confidence"
    )
    wb.accuracy_audit(items, 60, label_sheet=str(folder / "own.csv"), rng=SEED)
    line = "audit new my.csv audit.db --from own.csv"
    assert "Wrote audit.db: 60 of 900" in typed(folder, f"{line} {NAMES} --score-is confidence")
    typed(folder, "audit export audit.db out.csv")
    assert [row["id"] for row in read(folder / "out.csv")] == [
        row["id"] for row in read(folder / "own.csv")
    ]
    assert "Error" in run(folder, *shlex.split(line.replace("audit.db", "b.db"))).stderr


def test_identifiers_that_repeat_are_refused_before_anything_is_drawn(tmp_path):
    items = wb.ScoredItems(
        np.array(["a", "a", *map(str, range(38))], object), np.linspace(0.5, 1, 40)
    )
    for draw in (
        lambda: wb.accuracy_audit(items, 20, n_strata=2, label_sheet=str(tmp_path / "sheet.csv")),
        lambda: wb.AuditSession.create(tmp_path / "audit.db", items, budget=20),
    ):
        with pytest.raises(ValueError, match=r"^items.id must be unique; 'a' repeats$"):
            draw()
    with pytest.raises(ValueError, match=r"^id must be unique; 'a' repeats$"):
        wb.draw_items(np.zeros(40, int), [20], rng=0, id=items.id)
    assert not list(tmp_path.iterdir())


def test_a_generator_gives_the_seed_that_the_plan_tells(folder):
    items = wb.ScoredItems(None, np.round(np.random.default_rng(0).uniform(0.5, 1, 400), 1))
    wb.accuracy_audit(items, 40, label_sheet=str(folder / "a.csv"), rng=np.random.default_rng(5))
    seed = json.loads((folder / "a.plan.json").read_text())["settings"]["seed"]
    wb.accuracy_audit(items, 40, label_sheet=str(folder / "b.csv"), rng=seed)
    assert (folder / "a.csv").read_text() == (folder / "b.csv").read_text()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_report_with_a_skipped_item_shows_the_range_of_every_estimate(folder, question):
    source = f"--score p --prediction yhat --score-is confidence --id item {QUESTIONS[question][0]}"
    typed(
        folder,
        f"report stratified-accuracy --scores my.csv {source} --budget 60 -o r.html",
        run_unseen,
    )
    rows = read(folder / "r-labels.csv")
    asks = list(rows[0])[-1]
    rows = answers(folder, rows, asks, True)
    rows[6][asks] = ""
    save(folder / "r-labels.csv", rows)
    typed(
        folder,
        f"report stratified-accuracy --scores my.csv {source} --labels r-labels.csv -o a.html",
        run_unseen,
    )
    items = wb.read_scores(
        str(folder / "my.csv"),
        score="p",
        prediction="yhat",
        id="item",
        score_is="confidence",
        rival="other" if question == "difference" else "",
    )
    audit, asked = {
        "accuracy": (wb.accuracy_audit, ["accuracy"]),
        "difference": (wb.difference_audit, ["difference"]),
        "class-metrics": (
            lambda items, **given: wb.class_audit(items, "spam", **given),
            ["precision", "recall", "F1", "accuracy"],
        ),
    }[question]
    found = audit(items, labels=str(folder / "r-labels.csv"))
    data = charts.finding(found).data
    assert [row["name"] for row in data["limits"]] == asked and all(
        " to " in row["text"] for row in data["limits"]
    )
    lead, ranged = (
        ("difference", found.difference)
        if question == "difference"
        else ("accuracy", found.estimate)
    )
    bounds = ranged.bounds
    assert (
        tuple(row["estimate"] for row in data["ends"] if row["name"] == lead) == bounds
        and bounds[0] < bounds[1]
    )
