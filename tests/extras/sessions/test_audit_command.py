"""`workbench audit`, as it is typed."""

import csv
import html
import json
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser

import audit_whole
import numpy as np
import pytest
from command import ROOT, run, run_here

import workbench as wb
from workbench.extras.sessions.commands import audit
from workbench.extras.sessions.page import read


def write_scores(folder, n=300, **columns):
    """Write scores.csv with the columns that the examples of the help name; return whether predictions are right."""
    rng = np.random.default_rng(2)
    score, right = rng.uniform(0.5, 1, n), rng.random(n) < 0.9
    table = {
        "item": [f"item-{k}" for k in range(n)],
        "p": score,
        "yhat": rng.choice(["a", "b"], n),
        "text": [f"text {k}" for k in range(n)],
    } | columns
    with open(folder / "scores.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(table)
        out.writerows(zip(*table.values(), strict=True))
    return dict(zip(table["item"], right.tolist(), strict=True))


NEW = "audit new scores.csv audit.db --budget 60 --score p --prediction yhat --id item --columns text --seed 4"


def typed(folder, line, code=0):
    """Run a line as it is typed; return what it said."""
    done = run_here(folder, *shlex.split(line))
    assert done.returncode == code, done.stderr
    return done.stdout if not code else done.stderr


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def fill(folder, right, name="sheet.csv"):
    audit_whole.fill(folder / name, folder / "filled.csv", right)


def test_every_command_has_an_example_that_works_in_this_order(folder, monkeypatch):
    right = write_scores(folder)
    examples = {
        name: command.example.removeprefix("workbench ").splitlines()[0]
        for name, command in audit.commands.items()
        if name != "agreement"
    }  # it needs no audit
    assert set(examples) == {
        "new",
        "next",
        "record",
        "skip",
        "undo",
        "desk",
        "import",
        "export",
        "status",
        "extend",
        "release",
        "report",
        "verify",
    }
    typed(folder, examples["new"].replace("300", "200") + " --by ann")
    place = next(
        k
        for k, item in enumerate(wb.AuditSession.open(folder / "audit.db").next(200, by="zoe"), 1)
        if item.id == "item-17"
    )
    assert place
    assert "item-17 is 1" in typed(folder, examples["record"])
    assert "item-17" in typed(folder, examples["undo"])
    assert "item-17" in typed(folder, examples["skip"])
    wb.AuditSession.open(folder / "audit.db").release(by="zoe")
    wb.AuditSession.open(folder / "audit.db").next(2, by="ann")
    assert typed(folder, examples["release"]) == "Released 2 items.\n"
    assert typed(folder, examples["next"]).count("    text: ") == 5
    assert "50 items" in typed(folder, examples["export"])
    fill(folder, right)
    os.replace(folder / "filled.csv", folder / "sheet.csv")
    assert "50 labels recorded" in typed(folder, examples["import"])
    said = typed(folder, examples["next"])
    for name in re.findall(r"^(item-\d+)$", said, re.M):
        typed(folder, f"audit record audit.db {name} 1 --by ann")
    assert re.search(r"About [\d,]+ more labels? for ±2 points", typed(folder, examples["status"]))
    assert typed(folder, examples["extend"]) == "The budget is now 300 labels.\n"
    (folder / "photos").mkdir()
    monkeypatch.setattr("workbench.extras.sessions.desk_command.refuse_without_voila", lambda: None)
    monkeypatch.setattr(
        "workbench.extras.sessions.desk_command.serve",
        lambda given, **settings: settings["say"](str(given)),
    )
    assert (
        typed(folder, examples["desk"])
        == str(
            {
                "audit": str(folder / "audit.db"),
                "image": "",
                "by": "ann",
                "images": str(folder / "photos"),
            }
        )
        + "\n"
    )
    assert "Wrote audit.html" in typed(folder, examples["report"])
    assert "strata and order of labeling agree" in typed(folder, examples["verify"])
    for name in examples:
        assert f"Example:\n  workbench {examples[name]}" in typed(folder, f"audit {name} --help")


@pytest.mark.parametrize("rows", [20_000])
def test_a_whole_audit_says_what_the_library_says(folder, rows, monkeypatch):
    def here(where, *words):
        return typed(where, shlex.join(["audit", *map(str, words)])), 0.0

    monkeypatch.setattr(audit_whole, "command", here)
    _, said, (estimate, limits) = audit_whole.whole(folder, rows)
    assert said == pytest.approx([100 * estimate, 100 * limits[0], 100 * limits[1]], abs=0.051)


@pytest.mark.parametrize(
    "line, message",
    [
        ("audit new none.csv x.db --budget 60", "no such file: 'none.csv'"),
        (
            "audit new scores.csv x.db --budget 60",
            "none is called 'score'; columns: 'item', 'p', 'yhat', 'text'",
        ),
        ("audit new scores.csv x.db --score p", "Missing option '--budget'"),
        (
            "audit new scores.csv x.db --budget 6 --score p --strata 5",
            "--budget must be a whole number from 10 to 300; got 6",
        ),
        ("audit new scores.csv audit.db --budget 60 --score p", "'audit.db' already exists"),
        ("audit new scores.csv none/x.db --budget 60 --score p", "no such folder: 'none'"),
        (
            "audit new scores.csv x.db --budget 60 --score p --looks 10,x",
            "--looks must be whole numbers with commas",
        ),
        (
            "audit new scores.csv x.db --budget 60 --score p --columns nothing",
            "has no column 'nothing'",
        ),
        (
            "audit new scores.csv x.db --budget 60 --score p --question difference",
            "items must hold the predictions of two",
        ),
        ("audit next none.db", "there is no audit 'none.db'"),
        ("audit next scores.csv", "'scores.csv' is not an audit session"),
        ("audit next audit.db -n 0", "-n must be a whole number of at least 1; got 0"),
        ("audit record audit.db nobody 1", "item 'nobody' is not in this audit"),
        ("audit undo audit.db", "an unnamed annotator has no label or skip to undo"),
        ("audit undo audit.db --by ann", "ann has no label or skip to undo"),
        ("audit import audit.db none.csv", "no such file: 'none.csv'"),
        ("audit import audit.db scores.csv", "has no column 'id'"),
        (
            "audit export audit.db sheet.txt",
            "path must end in .csv or .xlsx, or in .json or .jsonl for an",
        ),
        ("audit export audit.db scores.csv", "exists, but is not an annotation sheet"),
        ("audit status audit.db --within 2", "--within needs at least 2 labels in every stratum"),
        ("audit status audit.db --within 60", "--within must "),
        (
            "audit status audit.db --method wald",
            "'wald' is not one of 'planned', 'anytime', 'looks', 'fixed'",
        ),
        (
            "audit extend audit.db 500",
            "there are only 300 items to label, and the budget is already 60",
        ),
        ("audit report audit.db -o report.txt", "output must end in .html; got 'report.txt'"),
        (
            "audit verify audit.db --scores other.csv",
            "these are not the scores that the audit was made from",
        ),
        ("audit nothing", "No such command 'nothing'"),
    ],
)
def test_mistakes_are_one_line(folder, line, message):
    write_scores(folder, 300, p=np.linspace(0.5, 0.9, 300))
    os.replace(folder / "scores.csv", folder / "other.csv")
    write_scores(folder)
    typed(folder, NEW)
    before = sorted(folder.iterdir())
    said = typed(folder, line, 2)
    assert message in said and len(said.strip().splitlines()) == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "words, message",
    [
        ("--budget 0", "--budget must be a whole number from 2 to 300; got 0"),
        ("--strata 1000", "--strata must be a whole number from 1 to 300; got 1000"),
        ("--expected 2", "--expected must be a number from 0 to 1; got 2.0"),
        ("--level 1", "--level must be a number in (0, 1); got 1.0"),
        ("--seed -1", "--seed must be a whole number of at least 0; got -1"),
        (
            "--waves 3 --looks 30",
            "--waves must be 1 with planned interim analyses",
        ),
        (
            "--waves 2 --question class-metrics --metrics-of a --prediction yhat",
            "--waves must be 1 for this question",
        ),
        ("--second-share 2", "--second-share must be a number from 0 to 1; got 2.0"),
        (
            "--second-share .5 --question class-metrics",
            "--second-share must be 0 for this question, because double annotation corrects",
        ),
        ("--stratifier x", "--stratifier must be one of 'cum_sqrt_f', 'cum_cbrt_f', "),
        ("--metrics-of x", "--metrics-of is for the metrics of a class only; got 'x'"),
        ("--looks 3,2", "--looks must be at most 10 increasing numbers of labels; got 3, 2"),
        (
            "--positive x",
            "--positive must be a predicted class. Name the column of predictions with prediction",
        ),
        ("--id p", "--id must be a different column from --score; both are 'p'"),
        ("--asks truth", "--asks must be 'correct' for items without predictions"),
        ("--strata-by item --stratifier kmeans", "--strata-by "),
        ("--by \t", "--by must be a name of 1 to 200 printable characters"),
    ],
)
def test_every_option_is_named_as_it_is_typed(folder, words, message):
    write_scores(folder)
    said = run_here(
        folder, *"audit new scores.csv x.db --score p --budget 60".split(), *words.split(" ")
    )
    assert said.returncode == 2 and said.stderr.startswith(f"Error: {message}"), said.stderr


def test_what_you_have_is_shown_again_before_anything_new(folder):
    write_scores(folder)
    typed(folder, NEW)
    typed(folder, "audit next audit.db -n 2 --by ben")
    assert typed(folder, "audit release audit.db --by ben") == "Released 2 items.\n"
    first = typed(folder, "audit next audit.db -n 2 --by ann")
    assert typed(folder, "audit next audit.db -n 2 --by ann") == first
    assert typed(folder, "audit next audit.db -n 2 --by ben") != first
    assert first.count("    prediction: ") == 2 and first.endswith(
        "where LABEL is 1 (correct) or 0 (incorrect)\n"
    )


def test_an_audit_in_waves(folder):
    right = write_scores(folder)
    said = typed(folder, f"{NEW} --strata 4 --waves 3")
    assert said.startswith("Wrote audit.db: 60 of 300 items to label, in 4 strata and 3 waves.\n")
    for wave in (1, 2, 3):
        typed(folder, f"audit export audit.db sheet-{wave}.csv -n 100")
        fill(folder, right, f"sheet-{wave}.csv")
        assert "20 labels recorded, 0 already recorded" in typed(
            folder, "audit import audit.db filled.csv"
        )
        said = typed(folder, "audit status audit.db")
        assert ("sample the next one with" in said) == ("no interval yet" in said) == (wave < 3)
    assert (
        "60 of 60 items labeled, 0 could not be labeled, 0 assigned, 0 not yet assigned, wave 3 of 3"
        in said
    )
    with open(folder / "scores.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    strata = wb.stratify([float(row["p"]) for row in rows], 4, "equal_size", rng=4)
    where = {row["item"]: h for row, h in zip(rows, strata.labels, strict=True)}
    tables, before = np.zeros((2, 3, 4), int), set()
    for wave in range(3):
        with open(folder / f"sheet-{wave + 1}.csv", encoding="utf-8-sig") as file:
            ids = {row["id"] for row in csv.DictReader(file)} - before
        before |= ids
        for name in ids:
            tables[:, wave, where[name]] += 1, right[name]
    expected = wb.wave_accuracy(strata.sizes, *tables)
    shown = [100 * expected.estimate, *(100 * end for end in expected.interval())]
    told = re.search(r"Accuracy ([\d.]+)% \(95% confidence interval ([\d.]+)% to ([\d.]+)%\)", said)
    assert [float(each) for each in told.groups()] == pytest.approx(shown, abs=0.051)
    assert typed(folder, "audit status audit.db --within 2", 2).startswith(
        "Error: --within cannot be planned"
    )
    assert typed(folder, "audit status audit.db --method looks", 2).startswith(
        "Error: --method must be 'planned' or "
    )


def test_refused_rows_are_listed_and_the_good_ones_kept(folder):
    write_scores(folder)
    typed(folder, NEW)
    names = [item.id for item in wb.AuditSession.open(folder / "audit.db").next(4, by="ann")]
    with open(folder / "filled.csv", "w", encoding="utf-8") as file:
        file.write(f"id,correct\n{names[0]},1\n{names[1]},\x1b[2Jmaybe\nnobody,1\n{names[3]},0\n")
    done = run_here(folder, *shlex.split("audit import audit.db filled.csv --by ann"))
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    assert done.stdout.startswith(
        "2 labels recorded, 0 already recorded; 2 rows rejected. 2 of 60 items labeled"
    )
    assert done.stderr.splitlines() == [
        f"Row 3 (id '{names[1]}') was not recorded: '\\x1b[2Jmaybe' is not 1 (correct) or 0 (incorrect)",
        "Row 4 (id 'nobody') was not recorded: item 'nobody' is not in this audit",
    ]


def test_the_metrics_of_a_class_and_two_models(folder):
    truth = np.random.default_rng(5).choice(["a", "b"], 300)
    write_scores(folder, yhat=truth, other=np.roll(truth, 1))
    typed(
        folder,
        NEW.replace("audit.db", "class.db") + " --question class-metrics --metrics-of a --strata 2",
    )
    assert "(no interval yet)" in typed(folder, "audit status class.db")
    typed(
        folder,
        NEW.replace("audit.db", "models.db") + " --question difference --rival other --strata 2",
    )
    typed(folder, "audit export models.db sheet.csv")
    names = list(
        csv.DictReader((folder / "sheet.csv").read_text(encoding="utf-8-sig").splitlines())
    )
    assert list(names[0]) == ["id", "position", "text", "truth"]
    fill(folder, dict.fromkeys((row["id"] for row in names), 0))
    said = typed(folder, "audit import models.db filled.csv")
    assert said.startswith("0 labels recorded, 0 already recorded; 60 rows rejected")
    for row in names:
        typed(folder, f"audit record models.db {row['id']} {truth[int(row['id'][5:])]}")
    said = typed(folder, "audit status models.db")
    assert re.search(
        r"Accuracy of A minus accuracy of B \+[\d.]+ points \(95% confidence interval \+[\d.]+ to \+[\d.]+\); 60 of 60",
        said,
    )
    assert "A is yhat and B is other." in read(str(folder / "models.db")).basis()


class Tags(HTMLParser):
    """The tags of a page, and attributes that would run or fetch something."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.bad = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.bad += [
            (name, value)
            for name, value in attributes
            if name.startswith("on")
            or (name in ("src", "href") and not str(value).startswith(("data:", "#")))
        ]


def test_the_report_of_hostile_items_runs_and_fetches_nothing(folder):
    hostile = [
        f"<script src=http://x/{k}></script><img src=x onerror=alert(1)>" for k in range(300)
    ]
    write_scores(folder, item=hostile, text=hostile)
    typed(folder, NEW)
    with wb.AuditSession.open(folder / "audit.db") as session:
        for k, item in enumerate(session.next(60, by="<b onclick=x>")):
            if k % 9 == 4:
                session.skip(item.id, by="<b onclick=x>")
            else:
                session.record(item.id, int(k % 5 > 0), by="<b onclick=x>")
            if k in (20, 40):
                session.estimate(by="<b onclick=x>")
    said = typed(folder, "audit report audit.db -o audit.html")
    assert said.startswith("Accuracy ") and said.endswith("Wrote audit.html\n")
    page = (folder / "audit.html").read_text(encoding="utf-8")
    found = Tags(page)
    assert not found.tags & {"script", "b", "iframe", "link", "object"} and found.bad == []
    assert "&lt;script" in page and "&lt;b onclick" in page and "http://x" in page
    assert {"img", "table", "h2"} <= found.tags


def test_the_report_says_what_was_looked_at(folder):
    right = write_scores(folder)
    typed(folder, NEW)
    for n in (20, 20):
        (folder / "sheet.csv").unlink(missing_ok=True)
        typed(folder, f"audit export audit.db sheet.csv -n {n} --by ann")
        fill(folder, right)
        typed(folder, "audit import audit.db filled.csv --by ann")
        typed(folder, "audit status audit.db --method fixed --by ann")
    typed(folder, "audit report audit.db -o audit.html")
    page = (folder / "audit.html").read_text(encoding="utf-8")
    assert (
        "60 labels were planned and this interval is for 40 labels after 2 interim analyses. If an interim "
        "analysis was the reason to stop, the coverage is below the level." in page
    )
    assert (
        "There were 3 interim analyses up to 40 labels. The file records each of them. The last one is this "
        "report."
    ) in html.unescape(page)
    assert re.search(
        r'alt="95% confidence intervals of 3 interim analyses. First: 20 labels, [\d.]+% to [\d.]+%',
        page,
    )


def test_nobody_reads_the_rest_of_a_pipe(folder):
    write_scores(folder)
    typed(folder, NEW)
    line = f"{sys.executable} -m workbench audit next audit.db -n 60 | head -1"
    done = subprocess.run(
        line,
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.startswith("item-") and done.stderr == ""


def test_tasks_go_out_and_an_export_comes_in(folder):
    write_scores(folder)
    typed(folder, NEW)
    said = typed(folder, "audit export audit.db tasks.json --to label-studio -n 3 --by ann")
    assert said.startswith(
        "Wrote tasks.json with 3 tasks. Each gets one label: right, wrong. Then run workbench audit import"
    )
    assert (
        '<Text name="prediction" value="$prediction"/>' in said
        and '<Choice value="wrong"/>' in said
    )
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    assert [sorted(each["data"]) for each in tasks] == [["item", "prediction", "text"]] * 3
    for each, label in zip(tasks, ("right", "wrong", "cat"), strict=True):
        each["annotations"] = [
            {"completed_by": 7, "result": [{"type": "choices", "value": {"choices": [label]}}]}
        ]
    (folder / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    done = run_here(folder, "audit", "import", "audit.db", "export.json")
    assert done.stdout.startswith(
        "2 labels recorded, 0 already recorded; 1 record rejected. 2 of 60 items labeled"
    )
    assert done.stderr == (
        f"export.json, record 3 (id '{tasks[2]['data']['item']}') was not recorded: 'cat' is not 1 "
        "(correct) or 0 (incorrect)\n"
    )
    assert typed(folder, "audit export audit.db t.jsonl --to prodigy").startswith(
        "Wrote t.jsonl with 58 tasks. Each "
    )


def test_a_log_of_an_evaluation_is_audited(folder):
    rows = [
        {
            "doc_id": k,
            "doc": {"kind": "ab"[k % 2]},
            "target": "t",
            "arguments": {"gen_args_0": {"arg_0": f"Q{k}"}},
            "resps": [["r"]],
            "filtered_resps": ["r"],
            "filter": name,
            "metrics": ["acc"],
            "acc": float(k % 3 > 0),
        }
        for k in range(40)
        for name in ("strict", "loose")
    ]
    (folder / "samples_qa.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    said = typed(folder, "audit new samples_qa.jsonl qa.db --budget 10", 2)
    assert said == (
        "Error: 'samples_qa.jsonl': doc_id 0 occurs twice, in records 1 and 2; select one filter: "
        "'samples_qa.jsonl#filter=strict' or 'samples_qa.jsonl#filter=loose'\n"
    )
    line = "audit new samples_qa.jsonl#strict qa.db --budget 10 --strata-by doc.kind"
    said = typed(folder, line)
    assert said.startswith("Wrote qa.db: 10 of 40 items to label, in 2 strata.\n")
    assert "Note: the score is that of metric 'acc'.\n" in said
    assert "Note: strata are given: a (20), b (20).\n" in said
    assert {
        each.split(":")[0].strip() for each in typed(folder, "audit next qa.db").splitlines()[1:4]
    } == {"input", "answer", "target"}
    assert "strata and order of labeling agree" in typed(
        folder, "audit verify qa.db --scores samples_qa.jsonl#strict"
    )
    typed(folder, "audit report qa.db")
    assert "<td>values of 'doc.kind'</td>" in (folder / "audit.html").read_text(encoding="utf-8")


def test_status_names_what_labels_wait_for(folder):
    write_scores(folder)
    typed(folder, NEW)
    with wb.AuditSession.open(folder / "audit.db") as session:
        ids = [item.id for item in session.next(60)]
    for k in (1, 7, 8):
        typed(folder, f"audit record audit.db {ids[k]} 1")
    before = ", ".join(repr(ids[k]) for k in (0, 2, 3, 4, 5))
    assert (
        f"3 labels do not count yet, because earlier items have no label: {before} and 1 more; label or skip "
        "each of them."
    ) in typed(folder, "audit status audit.db")


def test_a_second_export_says_who_has_everything(folder):
    right = write_scores(folder)
    typed(folder, NEW)
    typed(folder, "audit export audit.db a.csv -n 60 --by ann")
    assert typed(folder, "audit export audit.db b.csv -n 5 --by ann", 2) == (
        "Error: no item is left to assign: all open items are assigned to ann; export without -n to write them\n"
    )
    typed(folder, "audit export audit.db b.csv --by ann")
    fill(folder, right, "b.csv")
    typed(folder, "audit import audit.db filled.csv --by ann")
    assert typed(folder, "audit export audit.db c.csv -n 5", 2) == (
        "Error: no item is left to assign: the whole budget is labeled or skipped\n"
    )


def test_what_is_printed_can_be_typed(folder):
    """File names with spaces, identifiers that begin with a dash, options as they are called on the command line."""
    write_scores(folder, item=[f"-{k}" for k in range(300)])
    said = typed(folder, NEW.replace("audit.db", "'my audit.db'"))
    line = re.search(r"workbench (audit next .*), or", said)[1]
    assert shlex.split(line) == ["audit", "next", "my audit.db"]
    first = typed(folder, line).splitlines()[0]
    assert first.startswith("-") and typed(
        folder, f"audit record 'my audit.db' {first} 1 --by 'élan vital'"
    ).startswith(f"Recorded: {first} is 1.")
    second = typed(folder, line).splitlines()[0]
    assert typed(folder, f"audit skip 'my audit.db' {second}").startswith(f"Skipped: {second}.")
    third = typed(folder, line).splitlines()[0]
    typed(folder, f"audit record 'my audit.db' {third} 0")
    assert "\nélan vital: 1 label.\nUnnamed: 1 label.\n" in typed(
        folder, "audit status 'my audit.db'"
    )
    assert "--budget must be a whole number from 2 to 300" in typed(
        folder, NEW.replace("60", "1"), 2
    )
    assert "--strata must be a whole number of at least 1" in typed(folder, NEW + " --strata 0", 2)
    assert "take fewer items and label all of them twice" in typed(
        folder, NEW + " --second-share .2"
    )
    assert "--by must be a name, because this audit" in typed(folder, "audit next audit.db", 2)


def test_whose_labels_a_file_of_doccano_holds_is_said(folder):
    write_scores(folder)
    typed(folder, NEW)
    first = typed(folder, "audit next audit.db").splitlines()[0]
    (folder / "anna.jsonl").write_text(
        json.dumps({"text": "x", "item": first, "label": ["right"]}), encoding="utf-8"
    )
    said = typed(folder, "audit import audit.db anna.jsonl --by ben")
    assert said.startswith(
        "Note: the file name suggests the annotator anna; its labels are recorded for ben, as given.\n1 label rec"
    )
    again = typed(folder, "audit import audit.db anna.jsonl")
    assert again.startswith(
        "Note: 1 item has labels of several annotators; 0 of them have different labels. All are kept"
    )


def relabel(folder, source, target, wrong=()):
    """Fill a sheet: right for every item, wrong for those at some positions; return the label cells as they came."""
    with open(folder / source, encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    came = [row[-1] for row in rows]
    with open(folder / target, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [header, *(row[:-1] + [int(int(row[1]) not in wrong)] for row in rows)]
        )
    return came


def test_second_labels_are_blind_disputes_are_handed_out_and_the_corrected_estimate_is_quoted(
    folder,
):
    write_scores(folder)
    typed(folder, NEW + " --second-share 1 --strata 2")
    typed(folder, "audit export audit.db ann.csv -n 60 --by ann")
    relabel(folder, "ann.csv", "filled.csv")
    typed(folder, "audit import audit.db filled.csv --by ann")
    said = typed(folder, "audit status audit.db")
    assert (
        "\nAccuracy from first labels 100.0% (95% confidence interval " in said
        and "The correction needs 2 items" in said
    )
    assert (
        "A second annotator must label 60 items: workbench audit export audit.db second.csv -n 60"
        in said
    )
    typed(folder, "audit export audit.db ben.csv -n 60 --by ben")
    assert set(relabel(folder, "ben.csv", "filled.csv", range(11, 21))) == {
        ""
    }  # none of ann's labels
    assert "60 without" not in typed(folder, "audit import audit.db filled.csv --by ben")
    said = typed(folder, "audit status audit.db --by ben")
    assert "0 not yet assigned, 10 waiting for a deciding label" in said
    line = re.search(
        r"A third annotator must label 10 items with two different labels: workbench (.*)\.", said
    )[1]
    typed(folder, line.replace("NAME", "carl"))
    positions = [
        row["position"]
        for row in csv.DictReader((folder / "third.csv").read_text("utf-8-sig").splitlines())
    ]
    assert positions == [str(k) for k in range(11, 21)]
    relabel(folder, "third.csv", "filled.csv", range(11, 17))
    typed(folder, "audit import audit.db filled.csv --by carl")
    said = typed(folder, "audit report audit.db --json audit.json --tables tables")
    # 60 labels in proportion, 6 decided as wrong: the accuracy of the decided labels
    assert said.startswith("Accuracy corrected for label errors 90.0% (95% confidence interval ")
    assert "\nAccuracy from first labels 100.0% (95% confidence interval " in said
    page = html.unescape((folder / "audit.html").read_text(encoding="utf-8"))
    finding = re.search(r'(?s)<section class="finding".*?</section>', page)[0]
    assert re.search(
        r"<p>Accuracy 90.0% \(95% confidence interval [\d.]+% to [\d.]+%\); corrected for label errors</p>",
        finding,
    )
    told = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    with wb.AuditSession.open(folder / "audit.db") as session:
        expected = session.second_labels()
        corrected, naive, *_ = told["results"][0]["rows"]
        assert session.looks[-2]["intervals"][corrected["method"]] == [
            corrected["low"],
            corrected["high"],
        ]
    assert (corrected["method"], naive["method"]) == ("corrected", "planned") and naive[
        "estimate"
    ] == 1
    assert (corrected["estimate"], corrected["low"], corrected["high"]) == pytest.approx(
        (0.9, *expected.interval())
    )
    assert told["results"][0]["finding"] in said and any(
        "decisions are correct" in note for note in told["notes"]
    )
    assert {"planned", "second_labels", "strata"} <= {
        path.stem for path in (folder / "tables").iterdir()
    }


def test_an_item_in_dispute_comes_before_new_ones(folder):
    write_scores(folder)
    typed(folder, NEW + " --second-share 1")
    for by, label in (("ann", 1), ("ben", 0)):
        *_, third = re.findall(
            r"(?m)^item-\d+$", typed(folder, f"audit next audit.db -n 3 --by {by}")
        )
        typed(folder, f"audit record audit.db {third} {label} --by {by}")
        with wb.AuditSession.open(folder / "audit.db") as session:
            session.release(by=by)
    assert typed(folder, "audit next audit.db --by carl").split("\n")[0] == third
    assert typed(folder, "audit next audit.db --by ann").split("\n")[0] != third


def test_a_corrected_sheet_asks_once_and_keeps_the_history(folder):
    write_scores(folder)
    typed(folder, NEW)
    typed(folder, "audit export audit.db sheet.csv -n 40 --by ann")
    relabel(folder, "sheet.csv", "filled.csv")
    typed(folder, "audit import audit.db filled.csv --by ann")
    relabel(folder, "sheet.csv", "filled.csv", range(1, 31))
    done = run_here(folder, *shlex.split("audit import audit.db filled.csv --by ann"))
    assert done.stdout.startswith(
        "0 labels recorded, 10 already recorded; 30 rows rejected. 40 of 60 items labeled"
    )
    assert done.stderr == (
        "30 rows would change a label (rows 2, 3, 4, 5, 6 and 25 more). To correct the recorded labels "
        "(the history keeps them): workbench audit import audit.db filled.csv --by ann "
        "--correct\n"
    )
    other = run_here(folder, *shlex.split("audit import audit.db filled.csv --by ben --correct"))
    assert "0 labels recorded, 10 already recorded; 30 rows rejected" in other.stdout
    assert other.stderr.count("as 1, not 0; only this annotator can correct it") == 30
    line = done.stderr.split(": workbench ")[1]
    assert typed(folder, line).startswith(
        "0 labels recorded, 30 corrected, 10 already recorded. 40 of 60 items labeled"
    )
    with wb.AuditSession.open(folder / "audit.db") as session:
        row = next(csv.DictReader((folder / "sheet.csv").read_text("utf-8-sig").splitlines()))
        assert [(entry.who, entry.label) for entry in session.history(row["id"])] == [
            ("ann", 1),
            ("ann", 0),
        ]
        assert session.events()[-1].body | {"file": 0, "sha256": 0} == {
            "file": 0,
            "sha256": 0,
            "recorded": 30,
            "refused": 0,
            "corrected": 30,
        }
    assert typed(folder, line).startswith("0 labels recorded, 40 already recorded.")
    lines = (folder / "filled.csv").read_text(encoding="utf-8").splitlines()
    (folder / "filled.csv").write_text(
        "\n".join([*lines[:38], *(each[:-1] for each in lines[38:])]), encoding="utf-8"
    )
    assert typed(folder, line).startswith(
        "Note: 3 cells are empty although the item has a label, which stays; undo it, or record "
        "another.\n0 labels recorded, 37 already recorded."
    )


def test_the_printed_line_says_what_labels_wait_for(folder):
    write_scores(folder)
    typed(folder, NEW + " --question class-metrics --metrics-of a")
    typed(folder, "audit export audit.db sheet.csv")
    relabel(folder, "sheet.csv", "filled.csv")
    first, *rows = (folder / "filled.csv").read_text(encoding="utf-8").splitlines()[1:30]
    (folder / "filled.csv").write_text(
        "\n".join(["id,position,prediction,text,correct", *rows]), encoding="utf-8"
    )
    typed(folder, "audit import audit.db filled.csv")
    said = typed(folder, "audit report audit.db")
    assert (
        "0 of 60 planned labels, method planned; 28 labels do not count until position 1 has one.\n"
        in said
    )
    assert (
        f"because earlier items have no label: '{first.split(',')[0]}'; label or skip each" in said
    )
    page = (folder / "audit.html").read_text(encoding="utf-8")
    assert "<p>No result yet: 28 labels do not count until position 1 has one</p>" in page


def test_a_report_is_one_look_and_its_files_are_checked_first(folder):
    right = write_scores(folder)
    typed(folder, NEW)
    typed(folder, "audit export audit.db sheet.csv")
    fill(folder, right)
    typed(folder, "audit import audit.db filled.csv")
    for line, message in (
        ("--json a.txt", "json must end in .json; got 'a.txt'"),
        ("--tables none/x", "tables folder 'none' does not exist"),
    ):
        assert message in typed(folder, f"audit report audit.db {line}", 2)
    with wb.AuditSession.open(folder / "audit.db") as session:
        assert session.looks == []
        typed(folder, "audit report audit.db --json a.json --tables t.xlsx")
        (look,) = session.looks
        assert look["method"] == "report" and set(look["intervals"]) == {
            "planned",
            "anytime",
            "looks",
            "fixed",
        }
        found = json.loads((folder / "a.json").read_text(encoding="utf-8"))
        for each in found["results"][:4]:
            (row,) = each["rows"]
            assert look["intervals"][each["name"]] == [row["low"], row["high"]]
        assert session.estimate("fixed").interval().low == look["intervals"]["fixed"][0]
    assert (found["topic"], found["parameters"]["budget"]) == ("audit", 60) and (
        folder / "t.xlsx"
    ).exists()


def test_a_kernel_makes_the_same_report(folder, kernel):
    right = write_scores(folder)
    typed(folder, NEW)
    typed(folder, "audit export audit.db sheet.csv")
    fill(folder, right)
    typed(folder, "audit import audit.db filled.csv")
    here = typed(folder, "audit report audit.db -o a.html --json a.json")
    done = run(folder, *"audit report audit.db -o b.html --json b.json --by ann".split())
    assert done.stdout == here.replace("a.html", "b.html").replace("a.json", "b.json")
    results = [
        json.loads((folder / name).read_text(encoding="utf-8"))["results"][:4]
        for name in ("a.json", "b.json")
    ]
    assert results[0][:3] == results[1][:3]  # the method "fixed" counts the interim analyses
    with wb.AuditSession.open(folder / "audit.db") as session:
        assert [look["who"] for look in session.looks] == ["", "ann"]


def test_verify_says_how_many_items_the_file_keeps(folder):
    write_scores(folder, 6000)
    typed(folder, NEW)
    kept = "5,000 items (the file keeps only the first of 6,000 items in the order of labeling) are as they were recorded"
    assert kept in typed(folder, "audit verify audit.db --scores scores.csv")


def test_agreement_of_a_file(folder):
    grades = [(5, 5), (3, 2), (2, 1), (1, 1), (2, 1), (4, 5), (3, 4), (5, 5), (1, 2), (4, 4)] * 4
    (folder / "grades.csv").write_text(
        "item,human,judge\n"
        + "".join(f"q{k},{human},{judge}\n" for k, (human, judge) in enumerate(grades)),
        encoding="utf-8",
    )
    human, judge = map(np.array, zip(*grades, strict=True))
    chance = np.abs(human[:, None] - judge).mean()
    said = typed(folder, "audit agreement grades.csv --scale ordinal")
    assert said.startswith(
        "Note: annotators are the columns human, judge.\n2 annotators agree in 40.0% of pairs of labels"
    )
    assert (
        f"kappa, linear (human & judge)     {1 - np.abs(human - judge).mean() / chance:.3f} ("
        in said
    )
    assert (
        "Items to settle: q1, q2, q4, q5, q6, q8, " in said
        and "the classes are numbers" not in said
    )
    assert "Note: the classes are numbers (1, 2, 3, 4, 5), but labels" in typed(
        folder, "audit agreement grades.csv"
    )
    assert "Error: --order must name every class of the labels; '4', '5'" in typed(
        folder, "audit agreement grades.csv --scale ordinal --order 1,2,3", 2
    ).replace("; 4, 5", "; '4', '5'")
    assert "Error: --annotators must name a column of grades.csv" in typed(
        folder, "audit agreement grades.csv --annotators human,nobody", 2
    )
