"""The report of metrics as an analyst makes it, from a file of his own."""
import hashlib
import re

import numpy as np
import pytest
from command import costs_one_line, page_of, run, run_here

TOPIC = ("report", "brr-orthogonal-arrays")
ITEMS = "Gelesen März.csv"
NAMES = ("--items", ITEMS, "--truth", "wahr", "--prediction", "gelesen", "--stratum", "Bezirk", "--psu", "Kiste",
         "--positive", "9", "--weight", "w")


@pytest.fixture
def labeled(tmp_path):
    """Labels as an office writes them: semicolons, decimal commas, unequal districts, a nasty district name."""
    rng = np.random.default_rng(2)
    rows = ["wahr;gelesen;Bezirk;Kiste;w;p;null"]
    for district, boxes in (("Nord", 2), ("<b>Süd</b>", 3), ("Ost", 4)):
        for box in range(boxes):
            for _ in range(12):
                truth = rng.integers(7, 10)
                read = truth if rng.random() < 0.8 else rng.integers(7, 10)
                cells = [truth, read, district, f"{district}-{box}", f"{1 + rng.random():.2f}", f"{rng.random():.4f}"]
                rows.append(";".join(map(str, [*cells, int(len(rows) != 3)])).replace(".", ","))
    path = tmp_path / ITEMS
    path.write_text("\n".join(rows) + "\n", encoding="utf-8-sig")
    return path


def test_from_file_to_page(tmp_path, labeled, kernel):
    given = (*NAMES, "--score", "p", "--metrics", "accuracy f1 auc")
    page = page_of(run(tmp_path, *TOPIC, *given, "-o", "r.html", "--quiet"), tmp_path)
    assert "108 items, 9 PSUs in 3 strata (1 stratum of 2, 1 stratum of 3, 1 stratum of 4), 6 degrees" in page
    assert "generalized replication is exact for any mixture" in page and "Accuracy 0." in page
    assert "<b>Süd</b>" not in page and "Exercises" not in page
    assert page.count('alt="') >= 3 and page.count("<math") >= 3
    assert hashlib.sha256(labeled.read_bytes()).hexdigest() in page
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page) and len(page) < 1_000_000


def test_auc_alone_needs_no_prediction(tmp_path, labeled):
    given = (*NAMES, "--prediction", "", "--score", "p", "--metrics", "auc")
    assert "AUC 0." in page_of(run_here(tmp_path, *TOPIC, *given, "-o", "r.html", "--quiet"), tmp_path)


def test_a_mistake_costs_one_line_before_the_run(tmp_path, labeled):
    costs_one_line(tmp_path, "has no column 'Kreis'", *TOPIC, *NAMES, "--stratum", "Kreis")


@pytest.mark.parametrize(("arguments", "message"), [
    (["--positive", "4"], "positive must be a true class; got '4', there are 7, 8, 9"),
    (["--weight", "null"], "column 'null', data row 3: a weight must be above 0; got 0"),
    (["--method", "brr"], "method 'brr' needs the same number of PSUs in every stratum"),
])
def test_mistakes_cost_one_line_in_the_run(tmp_path, labeled, arguments, message):
    costs_one_line(tmp_path, message, *TOPIC, *NAMES, *arguments, runs=run_here)


def test_a_mistake_in_the_kernel_costs_one_line(tmp_path, labeled, kernel):
    message = "method 'brr' needs the same number of PSUs in every stratum"
    costs_one_line(tmp_path, message, *TOPIC, *NAMES, "--method", "brr", runs=run)


def test_lone_psu_and_its_remedy(tmp_path, labeled):
    lines = labeled.read_text(encoding="utf-8-sig").splitlines()
    labeled.write_text("\n".join(line for line in lines if ";Nord-1;" not in line) + "\n", encoding="utf-8")
    message = "stratum must hold at least 2 PSUs; 'Nord' holds 1"
    costs_one_line(tmp_path, message, *TOPIC, *NAMES, runs=run_here)
    done = run_here(tmp_path, *TOPIC, *NAMES, "--collapse", "Nord=Ost", "--quiet")
    assert "8 PSUs in 2 strata" in page_of(done, tmp_path, "report.html")
