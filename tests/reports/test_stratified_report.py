"""The command line as an analyst uses it, on files of his own."""
import hashlib
import re
import shutil

import numpy as np
import pytest
from command import costs_one_line, page_of, run, run_here, workbench

from workbench.reports.parameters import topics

TOPIC = ("report", "stratified-accuracy")
SCORES = "Scores März.csv"
NAMES = ("--score", "p", "--prediction", "yhat", "--id", "item")


@pytest.fixture(scope="module")
def planned(tmp_path_factory, kernel):
    """Scores as a statistics office writes them: semicolons, decimal commas, byte-order mark; and a plan."""
    rng = np.random.default_rng(5)
    score = rng.beta(8, 1, 600)
    right = rng.random(600) < score
    truth = rng.integers(0, 2, 600)
    rows = [f"{i:04d};{str(round(s, 6)).replace('.', ',')};{t if r else 1 - t};{t}"
            for i, (s, r, t) in enumerate(zip(score, right, truth, strict=True))]
    folder = tmp_path_factory.mktemp("planned")
    (folder / SCORES).write_text("\n".join(["item;p;yhat;y", *rows]) + "\n", encoding="utf-8-sig")
    done = workbench(folder, *TOPIC, "--scores", SCORES, *NAMES, "--budget", 60, "-o", "plan.html")
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.fixture
def folder(planned, tmp_path):
    """A folder of one's own with the scores."""
    shutil.copy(planned[0] / SCORES, tmp_path)
    return tmp_path


def test_from_scores_to_plan_and_sheet(planned):
    folder, done = planned
    assert done.stdout == "Wrote plan.html\nWrote plan-labels.csv\n"
    sheet = folder / "plan-labels.csv"
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf") and lines[0] == "id,stratum,correct" and len(lines) == 61
    assert "Label 60 of 600 items in 5 strata" in (folder / "plan.html").read_text()


def test_from_filled_sheet_to_finding(planned, folder):
    lines = (planned[0] / "plan-labels.csv").read_text(encoding="utf-8-sig").splitlines()
    filled = folder / "filled.csv"
    filled.write_text("\n".join([lines[0]] + [line + "1" for line in lines[1:]] + ["=evil<b>,0,1"]) + "\n")
    found = ("--scores", SCORES, *NAMES, "--labels", "filled.csv", "-o", "r.html")
    page = page_of(run_here(folder, *TOPIC, *found), folder)
    assert "Accuracy 100.0% (95% interval: " in page and "60 labels, 5 strata" in page
    assert "=evil&lt;b&gt;" in page and "=evil<b>" not in page
    for path in (folder / SCORES, filled):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page) and len(page) < 1_000_000
    assert page.count("<math") >= 3 and "$" not in re.sub(r"<code.*?</code>", "", page, flags=re.S)


def test_truth_simulates_and_says_so(folder):
    done = run_here(folder, *TOPIC, "--scores", SCORES, *NAMES, "--truth", "y", "--budget", 80)
    assert "this is a simulation of an audit" in page_of(done, folder, "report.html")
    assert not list(folder.glob("*-labels.csv"))


@pytest.mark.parametrize(("arguments", "message"), [
    (["--scores", "none.csv"], "none.csv"),
    (["--scores", SCORES, "--score", "q"], "which is no column of"),
    (["--scores", SCORES, "--score", "p", "--budgte", "60"], "budget"),
    (["--scores", SCORES, "--score", "p", "--budget", "many"], "a whole number"),
    (["--scores", SCORES, "--score", "p", "--truth", "y", "--labels", SCORES], "labels"),
])
def test_mistakes_cost_one_line_before_the_run(folder, arguments, message):
    costs_one_line(folder, message, *TOPIC, *arguments)


@pytest.mark.parametrize(("arguments", "message"), [
    (["--score", "p", "--budget", "601"], "budget must be a whole number from 10 to 600"),
    (["--score", "p", "--stratifier", "quantile"], "stratifier must be one of"),
    (["--score", "item"], "item"),
])
def test_mistakes_cost_one_line_in_the_run(folder, arguments, message):
    costs_one_line(folder, message, *TOPIC, "--scores", SCORES, *arguments, runs=run_here)


def test_a_mistake_in_the_kernel_costs_one_line(folder, kernel):
    message = "budget must be a whole number from 10 to 600"
    costs_one_line(folder, message, *TOPIC, "--scores", SCORES, "--score", "p", "--budget", "601", runs=run)


def test_rerun_does_not_overwrite_a_sheet(planned, folder):
    empty = (planned[0] / "plan-labels.csv").read_text(encoding="utf-8-sig")
    sheet = folder / "report-labels.csv"
    sheet.write_text(empty.replace(",0,\n", ",0,1\n"))
    before = sheet.read_bytes()
    costs_one_line(folder, "'report-labels.csv' already holds 12 labels", *TOPIC, "--scores", SCORES, *NAMES)
    assert sheet.read_bytes() == before


@pytest.fixture(scope="module")
def everything(tmp_path_factory, kernel):
    """The reports of all topics on the embedded data, by the command as it is installed."""
    folder = tmp_path_factory.mktemp("everything")
    done = workbench(folder, "report", "all", "-o", "reports", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "reports"


def test_everything_at_once(everything):
    assert {path.name for path in everything.iterdir()} == {f"{topic}.html" for topic in topics()}


@pytest.mark.parametrize("topic", list(topics()))
def test_a_page_made_here_is_the_page_of_a_kernel(everything, tmp_path, topic):
    """Many tests look at pages made without a kernel: but for date and command they are the same."""
    here, there = (re.sub(r"<dt>(Date|Command)</dt><dd>.*?</dd>", "", page, flags=re.S) for page in (
        page_of(run_here(tmp_path, "report", topic, "-o", "r.html", "--quiet"), tmp_path),
        (everything / f"{topic}.html").read_text(encoding="utf-8")))
    assert here == there
