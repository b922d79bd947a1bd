"""The label plan as an analyst makes it, from a table of strata or a file of records."""

import re
import shutil

import numpy as np
import pytest
from command import costs_one_line, page_of, run, run_here

from workbench.reports.inputs import allocation

TOPIC = ("report", "voila-vs-neyman")
RECORDS = "Beträge.csv"
COLUMNS = ("--strata", RECORDS, "--stratum", "Gruppe", "--value", "Betrag")


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Records as a statistics office writes them: semicolons, decimal commas, byte-order mark."""
    rng = np.random.default_rng(6)
    rows = ["nr;Gruppe;Betrag"] + [
        f"{k:05d};{g};{str(round(v, 2)).replace('.', ',')}"
        for k, (g, v) in enumerate(
            zip(
                np.repeat(["groß", "klein", "<i>selten</i>"], [900, 90, 10]),
                rng.normal(0, 1, 1000) * np.repeat([1, 5, 400], [900, 90, 10]),
                strict=True,
            )
        )
    ]
    folder = tmp_path_factory.mktemp("records")
    (folder / RECORDS).write_text("\n".join(rows) + "\n", encoding="utf-8-sig")
    return folder


@pytest.fixture
def folder(records, tmp_path):
    """A folder of one's own with the records."""
    shutil.copy(records / RECORDS, tmp_path)
    return tmp_path


def test_from_records_to_plan_and_sheet(folder, kernel):
    command = (
        *TOPIC,
        *COLUMNS,
        "--id",
        "nr",
        "--budget",
        60,
        "--label-plan",
        "plan.csv",
        "--label-sheet",
        "sheet.csv",
        "-o",
        "r.html",
        "--quiet",
    )
    done = run(folder, *command)
    page = page_of(done, folder)
    assert done.stderr == ""
    assert (
        "60 labels, 3 strata" in page
        and "every item of &lt;i&gt;selten&lt;/i&gt; is labeled" in page
    )
    assert "<i>selten</i>" not in page and "Exercises" not in page and page.count('alt="') >= 2
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page)
    plan = [
        line.split(",")
        for line in (folder / "plan.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    ]
    assert sum(int(row[2]) for row in plan) == 60
    first = (folder / "sheet.csv").read_text(encoding="utf-8-sig")
    again = run_here(folder, *command)
    assert again.returncode == 0, again.stderr
    assert (folder / "sheet.csv").read_text(encoding="utf-8-sig") == first
    sheet = first.splitlines()
    assert sheet[0] == "id,stratum,value" and len(sheet) == 61 and re.match(r'"\d{5}",', sheet[1])


def test_from_a_table_of_strata(tmp_path):
    (tmp_path / "strata.csv").write_text("stratum,size,sd\nA,5000,0.3\nB,40,12\n")
    done = run_here(tmp_path, *TOPIC, "--strata", "strata.csv", "--budget", 80, "--quiet")
    assert "80 labels, 2 strata" in page_of(done, tmp_path, "report.html")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stratum", "Grupe"], "stratum is 'Grupe', but "),
        (["--label-plan", "no/plan.csv"], "label_plan: folder 'no' does not exist"),
        (
            ["--label-plan", RECORDS],
            "label_plan: 'Beträge.csv' is also an input; choose another path",
        ),
    ],
)
def test_mistakes_cost_one_line_before_the_run(folder, arguments, message):
    costs_one_line(folder, message, *TOPIC, *COLUMNS, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--value", ""], "size"),
        (["--budget", "5"], "--budget must be at least 6, 2 for each of 3 strata"),
    ],
)
def test_mistakes_cost_one_line_in_the_run(folder, arguments, message):
    costs_one_line(folder, message, *TOPIC, *COLUMNS, *arguments, runs=run_here)


def test_a_mistake_in_the_kernel_costs_one_line(folder, kernel):
    message = "budget must be at least 6, 2 for each of 3 strata"
    costs_one_line(folder, message, *TOPIC, *COLUMNS, "--budget", "5", runs=run)


@pytest.mark.parametrize("code, count", [(-999, 1), (60, 0)])
def test_codes_of_missing_values_are_noted(tmp_path, code, count):
    values = [code if k % 3 else k for k in range(60)]
    rows = [f"{'ab'[k % 2]},{value}" for k, value in enumerate(values)]
    (tmp_path / "v.csv").write_text("\n".join(["stratum,amount", *rows]))
    plan = allocation.read(strata=str(tmp_path / "v.csv"), value="amount", write=False)[1]
    texts = [note.text for note in plan.notes if note.kind == "unreliable"]
    assert len(texts) == count
    start = "column 'amount' contains -999 in 40 rows, and its other values are 0 to 57."
    assert all(text.startswith(start) for text in texts)
