"""The report of metrics as an analyst makes it, from a file of his own."""
import hashlib
import re

import numpy as np
import pytest
from command import costs_one_line, workbench

TOPIC = ("report", "brr-orthogonal-arrays")
NAMES = ("--truth", "wahr", "--prediction", "gelesen", "--stratum", "Bezirk", "--psu", "Kiste", "--positive", "9",
         "--weight", "w")


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
    path = tmp_path / "Gelesen März.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8-sig")
    return path


def test_from_file_to_page(tmp_path, labeled):
    run = workbench(tmp_path, *TOPIC, "--items", labeled.name, *NAMES, "--score", "p",
                    "--metrics", "accuracy f1 auc", "-o", "r.html", "--quiet")
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "r.html").read_text()
    assert "108 items, 9 PSUs in 3 strata (1 stratum of 2, 1 stratum of 3, 1 stratum of 4), 6 degrees" in page
    assert "generalized replication is exact for any mixture" in page and "Accuracy 0." in page
    assert "<b>Süd</b>" not in page and "Exercises" not in page
    assert page.count('alt="') >= 3 and page.count("<math") >= 3
    assert hashlib.sha256(labeled.read_bytes()).hexdigest() in page
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page) and len(page) < 1_000_000


def test_auc_alone_needs_no_prediction(tmp_path, labeled):
    run = workbench(tmp_path, *TOPIC, "--items", labeled.name, *NAMES, "--prediction", "", "--score", "p", "--metrics",
                    "auc", "--quiet")
    assert run.returncode == 0, run.stderr
    assert "AUC 0." in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--stratum", "Kreis"], "stratum is 'Kreis', which is no column of"),
    (["--positive", "4"], "positive must be a true class; got '4', there are 7, 8, 9"),
    (["--weight", "null"], "column 'null', data row 3: a weight must be above 0; got 0"),
    (["--method", "brr"], "method 'brr' needs the same number of PSUs in every stratum"),
])
def test_mistakes_cost_one_line(tmp_path, labeled, arguments, message):
    costs_one_line(tmp_path, message, *TOPIC, "--items", labeled.name, *NAMES, *arguments)


def test_lone_psu_and_its_remedy(tmp_path, labeled):
    text = labeled.read_text(encoding="utf-8-sig").splitlines()
    short = tmp_path / "short.csv"
    short.write_text("\n".join(line for line in text if ";Nord-1;" not in line) + "\n", encoding="utf-8")
    run = workbench(tmp_path, *TOPIC, "--items", short.name, *NAMES, "--quiet")
    assert run.returncode == 2 and "stratum must hold at least 2 PSUs; 'Nord' holds 1" in run.stderr
    run = workbench(tmp_path, *TOPIC, "--items", short.name, *NAMES, "--collapse", "Nord=Ost", "--quiet")
    assert run.returncode == 0, run.stderr
    assert "8 PSUs in 2 strata" in (tmp_path / "report.html").read_text()
