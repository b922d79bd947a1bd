"""The monthly report as a statistics office makes it, from its own files."""

import re

import pytest
from command import costs_one_line, page_of, run, run_here

TOPIC = ("report", "misclassification-correction")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "audit.csv").write_text(
        "wahr;gelesen\n"
        + "ohne;ohne\n" * 331
        + "ohne;<b>mit</b>\n" * 18
        + "<b>mit</b>;ohne\n" * 7
        + "<b>mit</b>;<b>mit</b>\n" * 44,
        encoding="utf-8",
    )
    (tmp_path / "monate.csv").write_text(
        "Monat;n;davon\nJan;1797;218\nFeb;5000;589\nMär;0;0\nApr;5000;809\n", encoding="utf-8"
    )
    return tmp_path


NAMES = (
    "--audit",
    "audit.csv",
    "--truth",
    "wahr",
    "--prediction",
    "gelesen",
    "--classes",
    "ohne,<b>mit</b>",
    "--counts",
    "monate.csv",
    "--period",
    "Monat",
    "--counted",
    "davon",
)


def test_from_files_to_page(files, kernel):
    page = page_of(run(files, *TOPIC, *NAMES, "-o", "r.html", "--quiet"), files)
    assert (
        "3 of 4 periods estimated by maximum likelihood (mle)" in page
        and "no items were counted" in page
    )
    assert "P(prediction | truth)" in page and "<b>mit</b>" not in page and "Exercises" not in page
    assert page.count('alt="') >= 4 and not re.search(r"""(src|href)\s*=\s*["']?https?:""", page)


def test_fresh_audit_and_another_estimator(files):
    done = run_here(
        files, *TOPIC, *NAMES, "--method", "calibration", "--fresh-audit", "audit.csv", "--quiet"
    )
    page = page_of(done, files, "report.html")
    assert "by the calibration estimator" in page and "P(truth | prediction)" in page


def test_a_mistake_costs_one_line_before_the_run(files):
    costs_one_line(files, "truth is 'war', but", *TOPIC, *NAMES, "--truth", "war")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "magic"], "--method must be one of"),
        (["--audit-period", "Dez"], "--audit-period must be a period of the counts; got 'Dez'"),
        (["--shift", ".4,.3,.3"], "--shift must have one proportion per class (ohne, <b>mit</b>)"),
        (["--prediction", "lesen"], "--audit must have the column of --prediction, or be"),
        (
            ["--classes", "<b>mit</b>,ohne"],
            "--classes seem to be swapped (the second one must be the class that --counted counts; "
            "if it is, give --sampled-by); write ohne,<b>mit</b>. The audit does not fit: 16% of its "
            "items are predicted '<b>mit</b>', but 88% of all counted items",
        ),
    ],
)
def test_mistakes_cost_one_line_in_the_run(files, arguments, message):
    costs_one_line(files, message, *TOPIC, *NAMES, *arguments, runs=run_here)


def test_a_mistake_in_the_kernel_costs_one_line(files, kernel):
    message = "--audit-period must be a period of the counts; got 'Dez'"
    costs_one_line(files, message, *TOPIC, *NAMES, "--audit-period", "Dez", runs=run)


@pytest.mark.parametrize(
    ("counted", "classes", "refused"),
    [
        ("Jan;4000;870\nFeb;4000;900\n", "no,yes", False),  # the audit is random, 300 and 100
        ("Jan;4000;870\nFeb;4000;900\n", "yes,no", True),
        ("Jan;4000;250\nFeb;4000;260\n", "no,yes", False),  # chosen by the truth
        ("Jan;4000;1900\nFeb;4000;1950\n", "no,yes", False),
    ],
)
def test_counts_in_the_other_order_are_refused_though_the_truth_has_round_totals(
    tmp_path, counted, classes, refused
):
    rows = "no;no\n" * 290 + "no;yes\n" * 10 + "yes;no\n" * 23 + "yes;yes\n" * 77
    (tmp_path / "audit.csv").write_text("truth;prediction\n" + rows)
    (tmp_path / "months.csv").write_text("period;n;counted\n" + counted)
    asked = [*TOPIC, "--audit", "audit.csv", "--counts", "months.csv", "--classes", classes]
    if refused:
        message = "--classes seem to be swapped (the second one must be the class that --counted"
        costs_one_line(tmp_path, message, *asked, runs=run_here)
    else:
        page_of(run_here(tmp_path, *asked, "--quiet"), tmp_path, "report.html")
