"""The command line as an analyst uses it, on files of his own."""
import hashlib
import re

import numpy as np
import pytest
from command import costs_one_line, workbench

TOPIC = ("report", "stratified-accuracy")


@pytest.fixture
def scores(tmp_path):
    """Scores as a statistics office writes them: semicolons, decimal commas, byte-order mark."""
    rng = np.random.default_rng(5)
    score = rng.beta(8, 1, 600)
    right = rng.random(600) < score
    truth = rng.integers(0, 2, 600)
    rows = [f"{i:04d};{str(round(s, 6)).replace('.', ',')};{t if r else 1 - t};{t}"
            for i, (s, r, t) in enumerate(zip(score, right, truth, strict=True))]
    path = tmp_path / "Scores März.csv"
    path.write_text("\n".join(["item;p;yhat;y", *rows]) + "\n", encoding="utf-8-sig")
    return path


NAMES = ("--score", "p", "--prediction", "yhat", "--id", "item")


def test_from_scores_to_sheet_to_finding(tmp_path, scores):
    run = workbench(tmp_path, *TOPIC, "--scores", scores.name, *NAMES, "--budget", 60, "-o", "plan.html")
    assert run.returncode == 0, run.stderr
    assert "Wrote plan.html" in run.stdout + run.stderr
    sheet = tmp_path / "plan-labels.csv"
    lines = sheet.read_text(encoding="utf-8-sig").splitlines()
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf") and lines[0] == "id,stratum,correct" and len(lines) == 61
    assert "Label 60 of 600 items in 5 strata" in (tmp_path / "plan.html").read_text()
    filled = tmp_path / "filled.csv"
    filled.write_text("\n".join([lines[0]] + [line + "1" for line in lines[1:]] + ["=evil<b>,0,1"]) + "\n")
    run = workbench(tmp_path, *TOPIC, "--scores", scores.name, *NAMES, "--labels", "filled.csv", "-o", "found.html")
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "found.html").read_text()
    assert "Accuracy 100.0% (95% interval: " in page and "60 labels, 5 strata" in page
    assert "=evil&lt;b&gt;" in page and "=evil<b>" not in page
    for path in (scores, filled):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page) and len(page) < 1_000_000
    assert page.count("<math") >= 3 and "$" not in re.sub(r"<code.*?</code>", "", page, flags=re.S)


def test_truth_simulates_and_says_so(tmp_path, scores):
    run = workbench(tmp_path, *TOPIC, "--scores", scores.name, *NAMES, "--truth", "y", "--budget", 80)
    assert run.returncode == 0, run.stderr
    assert "this is a simulation of an audit" in (tmp_path / "report.html").read_text()
    assert not list(tmp_path.glob("*-labels.csv"))


@pytest.mark.parametrize(("arguments", "message"), [
    (["--scores", "none.csv"], "none.csv"),
    (["--scores", "SCORES", "--score", "q"], "which is no column of"),
    (["--scores", "SCORES", "--score", "p", "--budgte", "60"], "budget"),
    (["--scores", "SCORES", "--score", "p", "--budget", "many"], "a whole number"),
    (["--scores", "SCORES", "--score", "p", "--budget", "601"], "budget must be a whole number from 10 to 600"),
    (["--scores", "SCORES", "--score", "p", "--stratifier", "quantile"], "stratifier must be one of"),
    (["--scores", "SCORES", "--score", "item"], "item"),
    (["--scores", "SCORES", "--score", "p", "--truth", "y", "--labels", "SCORES"], "labels"),
])
def test_mistakes_cost_one_line_and_leave_nothing(tmp_path, scores, arguments, message):
    given = [scores.name if a == "SCORES" else a for a in arguments]
    costs_one_line(tmp_path, message, *TOPIC, *given)


def test_rerun_does_not_overwrite_a_sheet(tmp_path, scores):
    assert workbench(tmp_path, *TOPIC, "--scores", scores.name, *NAMES).returncode == 0
    sheet = next(tmp_path.glob("*-labels.csv"))
    sheet.write_text(sheet.read_text(encoding="utf-8-sig").replace(",0,\n", ",0,1\n"))
    before = sheet.read_bytes()
    run = workbench(tmp_path, *TOPIC, "--scores", scores.name, *NAMES, "--quiet")
    assert run.returncode == 2 and f"{sheet.name!r} already holds 20 labels" in run.stderr
    assert sheet.read_bytes() == before


def test_everything_at_once(tmp_path):
    run = workbench(tmp_path, "report", "all", "-o", "reports", "--quiet")
    assert run.returncode == 0, run.stderr
    assert "stratified-accuracy.html" in {path.name for path in (tmp_path / "reports").iterdir()}
