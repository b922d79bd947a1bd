"""`workbench compare` and `workbench power`: what is printed and written, exit codes, mistakes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import command
import numpy as np
import pytest

import workbench as wb

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


@pytest.fixture
def table(tmp_path):
    """Of 200 items old and new differ in 30, of which new gets 28 right; tiny fails at half."""
    new, old, tiny = np.ones(200, int), np.ones(200, int), np.arange(200) % 2
    new[:2], old[2:30] = 0, 0
    rows = [
        f"q{k},d{k % 40},{'ab'[k % 3 == 0]},why {k}?,{new[k]},{old[k]},{tiny[k]}"
        for k in range(200)
    ]
    (tmp_path / "items.csv").write_text(
        "\n".join(["id,document,part,question,new,old,tiny", *rows])
    )
    (tmp_path / "long.csv").write_text("id,model,right\n1,a,1\n1,b,0\n2,a,1\n2,b,1\n")
    return tmp_path


ARGUMENTS = "compare", "items.csv", "--model", "new,old,tiny"


def test_what_is_printed(table):
    done = command.run(table, *ARGUMENTS, "--cluster", "document")
    found = wb.compare_items(
        wb.read_item_scores(table / "items.csv", model="new,old,tiny", cluster="document")
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0] == found.finding() + "."
    assert (
        re.match(
            r"new is better than old by [\d.]+ to [\d.]+ percentage points and tiny by [\d.]+ to "
            r"[\d.]+ percentage points \(",
            lines[0],
        )
        and "200 items in 40 documents" in lines[0]
    )
    assert [line.split()[0] for line in lines[1:4]] == ["new", "old", "tiny"] and lines[1].endswith(
        "rank 1"
    )


@pytest.mark.parametrize(
    ("model", "subject", "places"),
    [("a", "", 3), ("a,b", "of the score of {} minus that of {} ", 2)],
)
def test_both_intervals_of_graded_scores_are_printed_and_written(tmp_path, model, subject, places):
    graded = np.random.default_rng(4).beta(4, 2, (50, 2)).round(2)
    (tmp_path / "graded.csv").write_text(
        "\n".join(["item,a,b", *(f"{k},{a},{b}" for k, (a, b) in enumerate(graded))])
    )
    arguments = "compare", "graded.csv", "--model", model, "-o", "c.html", "--json", "c.json"
    done = command.run_here(tmp_path, *arguments)
    bounded = command.run_here(
        tmp_path, *arguments[:-4], "--method", "bounded", "-o", "b.html", "--json", "b.json"
    )
    tables = [
        {
            each["name"]: each["rows"]
            for each in json.loads((tmp_path / name).read_text())["results"]
        }
        for name in ("c.json", "b.json")
    ]
    both, alone = (rows["comparison"] or rows["ranks"] for rows in tables)
    assert (both[0]["bounded_low"], both[0]["bounded_high"]) == (alone[0]["low"], alone[0]["high"])
    names = (both[0]["first"], both[0]["second"]) if subject else ()
    sentence = (
        "If the population may contain values inside the known bounds that this sample lacks, the interval "
        f"{subject.format(*names)}is {alone[0]['low']:.{places}f} to {alone[0]['high']:.{places}f}"
    )
    assert f"Note: {sentence}" in done.stdout and sentence in command.page_of(
        done, tmp_path, "c.html"
    )
    assert (
        "this sample lacks" not in bounded.stdout
        and "low, bounded" not in (tmp_path / "b.html").read_text()
    )


def test_what_is_written(table, kernel):
    done = command.run(
        table,
        *ARGUMENTS,
        "--by",
        "part",
        "--gate",
        "new > old",
        "-o",
        "c.html",
        "--json",
        "c.json",
        "--tables",
        "tables",
    )
    assert done.returncode == 0, done.stderr
    page, data = (
        command.page_of(done, table, "c.html"),
        json.loads((table / "c.json").read_text(encoding="utf-8")),
    )
    results = {each["name"]: each for each in data["results"]}
    found = wb.Result.from_dict(results["comparison"]["result"])
    assert page.index(found.finding()) < page.index("<img") < page.index(">Conditions</h2>")
    for said in (
        "PASS: new &gt; old",
        "none given: valid only if items are independent of each other",
        "is shown in 80% of",
        "unknown",
        "Slices",
        "Items on which the best model scores lower",
        "why 0?",
        "workbench report cross-validation-t-tests",
        "SHA-256",
    ):
        assert said in page
    assert list(results) == ["comparison", "gate", "ranks", "conditions", "slices", "reading"]
    assert wb.Result.from_dict(results["gate"]["result"]).verdict == "PASS"
    assert data["parameters"]["gate"] == "new > old" and data["inputs"][0]["file"] == "items.csv"
    assert (table / "tables" / "comparison.csv").is_file()


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("new > old", 0),
        ("old > new", 3),
        ("new > old + 0.13", 4),
        ("nwe > old", 2),
        ("new better", 2),
    ],
)
def test_exit_codes_of_a_gate(table, condition, code):
    done = command.run(table, *ARGUMENTS, "--gate", condition)
    assert done.returncode == code
    said = {0: "PASS: ", 3: "FAIL: ", 4: "INCONCLUSIVE: "}.get(code)
    assert (
        done.stdout.splitlines()[-1].startswith(said)
        if said
        else done.stderr.startswith("Error: --gate must be ")
    )


def test_a_closed_pipe_ends_with_exit_code_1(table):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *ARGUMENTS],
        cwd=table,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (
            "--model must name the column of 'long.csv' that holds the model of each row",
            ["long.csv", "--score", "right"],
        ),
        ("no such file: 'no.parquet'", ["no.parquet"]),
        ("--json and --tables require a page: add -o PAGE", ["items.csv", "--json", "x.json"]),
        (
            "--level must be a number in (0, 1); got 95.0 (did you mean 0.95?)",
            ["items.csv", "--model", "new,old", "--level", "95"],
        ),
        (
            "--by must have a slice with at least two items and clusters; got 'id'",
            ["items.csv", "--model", "new,old", "--by", "id"],
        ),
    ],
)
def test_mistakes_are_one_line(table, message, arguments):
    done = command.run(table, "compare", *arguments)
    assert done.returncode == 2 and done.stderr == f"Error: {message}\n"


def test_two_runs_of_inspect_are_compared(tmp_path):
    """By its scripts the first mock model's answers include the target in 5 of 8 samples, the second's in all."""
    done = command.run(
        tmp_path,
        "compare",
        f"a={LOGS / 'inspect-0.3.285-free.eval'}",
        f"b={LOGS / 'inspect-0.3.285-other.eval'}",
        "--score",
        "includes",
        "--gate",
        "b > a - 0.9",
    )
    assert done.returncode == 0, done.stderr
    assert "b has the best score, but is not shown to be better than a (4 items)." in done.stdout
    assert (
        "  b  1 (" in done.stdout
        and "  a  0.625 (" in done.stdout
        and "\nPASS: b > a - 0.9; " in done.stdout
    )


def test_two_runs_of_the_harness_are_compared(tmp_path):
    """The first mock model gets 2 of 5 by acc; the second the second question too."""
    logs = LOGS / "samples_lm-eval-0.4.13-texts.jsonl", LOGS / "samples_lm-eval-0.4.13-other.jsonl"
    done = command.run(tmp_path, "compare", *logs, "--score", "acc", "--gate", "b > a")
    assert (
        done.returncode == 2
        and "--gate must be one of 'samples_lm-eval-0.4.13-texts', " in done.stderr
    )
    done = command.run(
        tmp_path, "compare", f"a={logs[0]}", f"b={logs[1]}", "--score", "acc", "--gate", "b > a"
    )
    assert done.returncode == 4 and "\nINCONCLUSIVE: b > a; b minus a is from -" in done.stdout
    assert "  b  0.6 (" in done.stdout and "  a  0.4 (" in done.stdout


def test_plans_are_printed(tmp_path):
    done = command.run(tmp_path, "power", "--items", 1000, "--discordance", 0.1)
    assert (
        done.stdout == "1,000 items show a difference of 2.87 percentage points in 80% of samples\n"
    )
    done = command.run(
        tmp_path,
        "power",
        "--difference",
        0.2,
        "--discordance",
        0.4,
        "--cluster-size",
        5,
        "--icc",
        0.1,
    )
    needed = wb.items_to_detect(0.2, 0.4, cluster_size=5, icc=0.1)
    assert done.stdout == f"{needed:,} items show a difference of 0.2 in 80% of samples\n"
    done = command.run(tmp_path, "power", "--items", 20, "--discordance", 0.05)
    assert done.stdout == "20 items show no difference in 80% of samples\n"
    assert (
        command.run(tmp_path, "power", "--discordance", 0.1).stderr
        == "Error: give either --items or --difference\n"
    )


def test_a_pilot_plans_a_comparison_by_any_metric(tmp_path):
    truth, old, new = [1, 0] * 60, [1, 0, 0, 0] * 30, [1, 0, 1, 1] * 30
    lines = [f"{y},{a},{b}" for y, a, b in zip(truth, old, new, strict=True)]
    (tmp_path / "pilot.csv").write_text("\n".join(["truth,old,new", *lines]))
    words = ("power", "--pilot", "pilot.csv", "--prediction", "old,new", "--metrics", "f1")
    done = command.run(tmp_path, *words, "--difference", 0.05)
    items = wb.load_labeled(str(tmp_path / "pilot.csv"), prediction="old,new")
    [row] = wb.compare_metrics(items, "f1").sample_size(0.05)
    assert done.stdout.startswith(f"F1, old and new: {row['items']:,} items show a difference of")
    assert "requires --difference" in command.run(tmp_path, *words).stderr
    one = command.run(tmp_path, *words[:3], "--prediction", "old", "--difference", 0.05)
    assert "requires the columns of two models" in one.stderr
    for options, text in {
        ("--difference", 5): "--difference must be below 1, such as 0.05 for 5 points; got 5.0",
        ("--difference", 0.05, "--power", 80): "--power must be a number from 0.5 to 1; got 80.0",
        ("--difference", 0.05, "--items", 9): "leave out --items",
    }.items():
        assert text in command.run(tmp_path, *words, *options).stderr


def test_a_pilot_tells_what_it_cannot_plan(tmp_path):
    lines = [f"{y},{a},0" for y, a in zip([1, 0] * 20, [1, 0, 0, 0] * 10, strict=True)]
    (tmp_path / "pilot.csv").write_text("\n".join(["truth,old,new", *lines]))
    words = ("power", "--pilot", "pilot.csv", "--prediction", "old,new", "--difference", 0.05)
    done = command.run(tmp_path, *words, "--metrics", "f1 mcc")
    assert "Note: metric mcc: mcc is undefined" in done.stdout and "model new" in done.stdout
    (tmp_path / "pilot.csv").write_text("truth,old,new\n" + "1,1,0\n0,0,0\n" * 9)
    apart = command.run(tmp_path, *words, "--metrics", "f1")
    assert "so the pilot shows no variation" in apart.stdout
    (tmp_path / "pilot.csv").write_text("truth,old,new\n1,1,0\n")
    one = command.run(tmp_path, *words)
    assert "--pilot must hold at least 2 labeled items; there is 1" in one.stderr
