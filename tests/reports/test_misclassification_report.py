"""The monthly report as a statistics office makes it, from its own files."""
import re

import pytest
from command import costs_one_line, workbench

TOPIC = ("report", "misclassification-correction")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "audit.csv").write_text("wahr;gelesen\n" + "ohne;ohne\n" * 331 + "ohne;<b>mit</b>\n" * 18
                                        + "<b>mit</b>;ohne\n" * 7 + "<b>mit</b>;<b>mit</b>\n" * 44, encoding="utf-8")
    (tmp_path / "monate.csv").write_text("Monat;n;davon\nJan;1797;218\nFeb;5000;589\nMär;0;0\nApr;5000;809\n",
                                         encoding="utf-8")
    return tmp_path


NAMES = ("--audit", "audit.csv", "--truth", "wahr", "--prediction", "gelesen", "--classes", "ohne,<b>mit</b>",
         "--counts", "monate.csv", "--period", "Monat", "--counted", "davon")


def test_from_files_to_page(files):
    run = workbench(files, *TOPIC, *NAMES, "-o", "r.html", "--quiet")
    assert run.returncode == 0, run.stderr
    page = (files / "r.html").read_text()
    assert "3 of 4 periods by mle" in page and "no items were counted" in page
    assert "P(prediction | truth)" in page and "<b>mit</b>" not in page and "Exercises" not in page
    assert page.count('alt="') >= 4 and not re.search(r"""(src|href)\s*=\s*["']?https?:""", page)


def test_fresh_audit_and_another_estimator(files):
    run = workbench(files, *TOPIC, *NAMES, "--method", "calibration", "--fresh-audit", "audit.csv", "--quiet")
    assert run.returncode == 0, run.stderr
    page = (files / "report.html").read_text()
    assert "by calibration" in page and "P(truth | prediction)" in page


@pytest.mark.parametrize(("arguments", "message"), [
    (["--truth", "war"], "truth is 'war', which is no column of"),
    (["--method", "magic"], "method must be one of"),
    (["--audit-period", "Dez"], "audit_period must be a period of the counts; got 'Dez'"),
])
def test_mistakes_cost_one_line(files, arguments, message):
    costs_one_line(files, message, *TOPIC, *NAMES, *arguments)
