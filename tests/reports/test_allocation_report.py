"""The label plan as an analyst makes it, from a table of strata or a file of records."""
import re

import numpy as np
import pytest
from command import costs_one_line, workbench

TOPIC = ("report", "voila-vs-neyman")
COLUMNS = ("--stratum", "Gruppe", "--value", "Betrag")


@pytest.fixture
def records(tmp_path):
    rng = np.random.default_rng(6)
    rows = ["nr;Gruppe;Betrag"] + [f"{k:05d};{g};{str(round(v, 2)).replace('.', ',')}" for k, (g, v) in enumerate(zip(
        np.repeat(["groß", "klein", "<i>selten</i>"], [900, 90, 10]),
        rng.normal(0, 1, 1000) * np.repeat([1, 5, 400], [900, 90, 10]), strict=True))]
    path = tmp_path / "Beträge.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8-sig")
    return path


def test_from_records_to_plan_and_sheet(tmp_path, records):
    command = (*TOPIC, "--strata", records.name, *COLUMNS, "--id", "nr", "--budget", 60, "--label-plan", "plan.csv",
               "--label-sheet", "sheet.csv", "-o", "r.html", "--quiet")
    run = workbench(tmp_path, *command)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    page = (tmp_path / "r.html").read_text()
    assert "60 labels, 3 strata" in page and "every item of &lt;i&gt;selten&lt;/i&gt; is labeled" in page
    assert "<i>selten</i>" not in page and "Exercises" not in page and page.count('alt="') >= 2
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page)
    plan = [line.split(",") for line in (tmp_path / "plan.csv").read_text(encoding="utf-8-sig").splitlines()[1:]]
    assert sum(int(row[2]) for row in plan) == 60
    again = workbench(tmp_path, *command)
    assert again.returncode == 0, again.stderr
    sheet = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig").splitlines()
    assert sheet[0] == "id,stratum,value" and len(sheet) == 61 and re.match(r"\d{5},", sheet[1])


def test_from_a_table_of_strata(tmp_path):
    (tmp_path / "strata.csv").write_text("stratum,size,sd\nA,5000,0.3\nB,40,12\n")
    run = workbench(tmp_path, *TOPIC, "--strata", "strata.csv", "--budget", 80, "--quiet")
    assert run.returncode == 0, run.stderr
    assert "80 labels, 2 strata" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--value", "Betrag", "--stratum", "Grupe"], "stratum is 'Grupe', which is no column of"),
    (["--stratum", "Gruppe"], "size"),
    ([*COLUMNS, "--budget", "5"], "budget must be at least 6, 2 for each of 3 strata"),
    ([*COLUMNS, "--label-plan", "no/plan.csv"], "label_plan: folder 'no' does not exist"),
    ([*COLUMNS, "--label-plan", "Beträge.csv"], "label_plan: 'Beträge.csv' is also an input; choose another path"),
])
def test_mistakes_cost_one_line(tmp_path, records, arguments, message):
    costs_one_line(tmp_path, message, *TOPIC, "--strata", records.name, *arguments)
