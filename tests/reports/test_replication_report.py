"""The report of metrics as an analyst makes it, from a file of his own."""

import hashlib
import re

import numpy as np
import pytest
from command import costs_one_line, page_of, run, run_here
from scipy.stats import binomtest

from workbench.reports.inputs import replication

AB = ["a", "b"] * 60
TOPIC = ("report", "brr-orthogonal-arrays")
ITEMS = "Gelesen März.csv"
NAMES = (
    "--items",
    ITEMS,
    "--truth",
    "wahr",
    "--prediction",
    "gelesen",
    "--stratum",
    "Bezirk",
    "--psu",
    "Kiste",
    "--positive",
    "9",
    "--weight",
    "w",
)


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
                cells = [
                    truth,
                    read,
                    district,
                    f"{district}-{box}",
                    f"{1 + rng.random():.2f}",
                    f"{rng.random():.4f}",
                ]
                rows.append(";".join(map(str, [*cells, int(len(rows) != 3)])).replace(".", ","))
    path = tmp_path / ITEMS
    path.write_text("\n".join(rows) + "\n", encoding="utf-8-sig")
    return path


def test_from_file_to_page(tmp_path, labeled, kernel):
    given = (*NAMES, "--score", "p", "--metrics", "accuracy f1 auc")
    page = page_of(run(tmp_path, *TOPIC, *given, "-o", "r.html", "--quiet"), tmp_path)
    assert (
        "108 items, 9 PSUs in 3 strata (1 stratum of 2, 1 stratum of 3, 1 stratum of 4), 6 degrees"
        in page
    )
    assert (
        "Generalized replication is exact for any numbers of clusters" in page
        and "Accuracy 0." in page
    )
    assert "<b>Süd</b>" not in page and "Exercises" not in page
    assert page.count('alt="') >= 3 and page.count("<math") >= 3
    assert hashlib.sha256(labeled.read_bytes()).hexdigest() in page
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page) and len(page) < 1_000_000


def test_auc_alone_needs_no_prediction(tmp_path, labeled):
    given = (*NAMES, "--prediction", "", "--score", "p", "--metrics", "auc")
    assert "AUC 0." in page_of(
        run_here(tmp_path, *TOPIC, *given, "-o", "r.html", "--quiet"), tmp_path
    )


def test_many_classes_without_strata_by_group(tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, 400)
    read = np.where(rng.random(400) < 0.9, truth, rng.integers(0, 4, 400))
    rows = zip(
        np.array(["cat", "cow", "dog", "emu"])[[truth, read]].T.tolist(), range(400), strict=True
    )
    (tmp_path / "m.csv").write_text(
        "truth,prediction,person,place\n"
        + "".join(f"{true},{said},{k // 5},{'ab'[k % 2]}\n" for (true, said), k in rows)
    )
    given = ("--items", "m.csv", "--psu", "person", "--group", "place")
    page = page_of(run_here(tmp_path, *TOPIC, *given, "-o", "r.html", "--quiet"), tmp_path)
    assert f"Accuracy {(truth == read).mean():.3f}, 95% confidence interval " in page
    assert "no column 'stratum': the whole sample is treated as one stratum" in page
    assert "80 PSUs in 1 stratum" in page and page.count("<td>Macro F1</td>") == 3
    assert all(page.count(f"<td>F1 of {name}</td>") == 3 for name in ("cat", "cow", "dog", "emu"))
    limits = [
        float(number)
        for row in re.findall(r"<td>([\d.]+)% to ([\d.]+)%</td>", page)
        for number in row
    ]
    # default and naive, and the bounded one where it differs
    assert 2 * 2 * 18 <= len(limits) <= 2 * 3 * 18 and max(limits) <= 100


@pytest.mark.parametrize("psu, unreliable", [("", 1), ("item", 0), ("patient_id", 0)])
def test_identifiers_that_repeat_are_noted_without_clusters(psu, unreliable):
    columns = {
        "truth": AB,
        "prediction": AB,
        "item": [f"i{k % 60}" for k in range(120)],
        "patient_id": [k % 30 for k in range(120)],
    }
    used = {name: columns[name] for name in columns if name != "patient_id" or psu == name}
    notes = replication.read(items=used, psu=psu).notes
    texts = [note.text for note in notes if note.kind == "unreliable"]
    assert len(texts) == unreliable
    assert all(text.endswith("To use it, add --psu item") for text in texts)


def test_single_items_have_exact_intervals(tmp_path):
    """17 of 20 are correct, 8 of 9 predicted positives true, 8 of 10 true positives found; J is 8 of 11."""
    truth, read = np.repeat([1, 1, 0, 0], (8, 2, 1, 9)), np.repeat([1, 0, 1, 0], (8, 2, 1, 9))
    rows = "".join(f"{true},{predicted}\n" for true, predicted in zip(truth, read, strict=True))
    (tmp_path / "s.csv").write_text(f"truth,prediction\n{rows}")
    page = page_of(
        run_here(tmp_path, *TOPIC, "--items", "s.csv", "-o", "r.html", "--quiet"), tmp_path
    )
    limits = [
        tuple(binomtest(hits, items).proportion_ci())
        for hits, items in ((17, 20), (8, 9), (8, 10), (8, 11))
    ]
    limits[-1] = tuple(2 * limit / (1 + limit) for limit in limits[-1])
    shown = re.findall(r"<td>([\d.]+)% to (?:&gt; )?([\d.]+)%</td>", page)[
        ::2
    ]  # the others are naive
    assert np.array(shown, float) / 100 == pytest.approx(np.array(limits), abs=0.008)
    assert "may be unseen" not in page


def test_published_replicate_weights(tmp_path):
    rng = np.random.default_rng(5)
    unit, right = np.repeat(np.arange(20), 6), rng.random(120) < 0.8
    weights = np.stack([np.where(unit == r, 0, 20 / 19) for r in range(20)], 1)
    header = ",".join(f"repwt_{r}" for r in range(20))
    (tmp_path / "p.csv").write_text(
        f"truth,prediction,w,{header}\n"
        + "".join(
            f"{k % 2},{k % 2 if ok else 1 - k % 2},1,{','.join(map(repr, row))}\n"
            for k, (ok, row) in enumerate(zip(right, weights.tolist(), strict=True))
        )
    )
    given = (
        "--items",
        "p.csv",
        "--weight",
        "w",
        "--replicate-weights",
        "repwt_*",
        "--method",
        "jk1",
        "--metrics",
        "accuracy",
    )
    page = page_of(run_here(tmp_path, *TOPIC, *given, "-o", "r.html", "--quiet"), tmp_path)
    error = np.sqrt(np.bincount(unit, right).reshape(20).var(ddof=1) / 6**2 / 20)
    assert "imported jk1, 20 replicates" in page and f"<td>{100 * error:.1f}%</td>" in page


def test_items_with_several_labels(tmp_path):
    """Items are the clusters of their labels, and a cell with several labels is no class."""
    cells = [("a", "a"), ("b", "b"), ("a|b", "b"), ("b", "a|b"), ("a|b", "a|b")] * 12
    header = "id,true_a,true_b,pred_a,pred_b,topics,read\n"
    rows = []
    for k, pair in enumerate(cells):
        ones = [int(label in cell) for cell in pair for label in "ab"]
        rows.append(",".join(map(str, [k, *ones, *pair])) + "\n")
    (tmp_path / "t.csv").write_text(header + "".join(rows))
    both = {}
    for truth, prediction in (("topics", "read"), ("true_*", "pred_*")):
        given = ("--items", "t.csv", "--truth", truth, "--prediction", prediction)
        done = run_here(tmp_path, *TOPIC, *given, "-o", "r.html", "--quiet")
        both[truth] = page_of(done, tmp_path)
    micro_f1 = 2 * 6 / (7 + 7)  # of five items: hits, true and predicted labels
    for page in both.values():
        assert f"{micro_f1:.1%}" in page and "of all pairs of an item and a label" in page
        assert "60 items, 60 PSUs in 1 stratum" in page and "Precision of b" in page
    given = ("--items", "t.csv", "--truth", "topics", "--prediction", "read")
    message = "--metrics must suit the items: kappa is for items of one class"
    costs_one_line(tmp_path, message, *TOPIC, *given, "--metrics", "kappa", runs=run_here)
    given = ("--items", "t.csv", "--truth", "true_*", "--prediction", "read")
    message = "--prediction must have one asterisk in place of the class"
    costs_one_line(tmp_path, message, *TOPIC, *given, runs=run_here)


def test_a_mistake_costs_one_line_before_the_run(tmp_path, labeled):
    costs_one_line(tmp_path, "has no column 'Kreis'", *TOPIC, *NAMES, "--stratum", "Kreis")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--positive", "4"],
            "--positive must be a class of the truth; got '4', available are 7, 8, 9",
        ),
        (["--weight", "gelesen"], "weight must be a column other than the classes"),
        (["--method", "brr"], "method 'brr' needs the same number of PSUs in every stratum"),
    ],
)
def test_mistakes_cost_one_line_in_the_run(tmp_path, labeled, arguments, message):
    costs_one_line(tmp_path, message, *TOPIC, *NAMES, *arguments, runs=run_here)


def test_a_mistake_in_the_kernel_costs_one_line(tmp_path, labeled, kernel):
    message = "method 'brr' needs the same number of PSUs in every stratum"
    costs_one_line(tmp_path, message, *TOPIC, *NAMES, "--method", "brr", runs=run)


def test_lone_psu_and_its_remedy(tmp_path, labeled):
    lines = labeled.read_text(encoding="utf-8-sig").splitlines()
    labeled.write_text(
        "\n".join(line for line in lines if ";Nord-1;" not in line) + "\n", encoding="utf-8"
    )
    message = "stratum must hold at least 2 PSUs; 'Nord' holds 1"
    costs_one_line(tmp_path, message, *TOPIC, *NAMES, runs=run_here)
    done = run_here(tmp_path, *TOPIC, *NAMES, "--collapse", "Nord=Ost", "--quiet")
    assert "8 PSUs in 2 strata" in page_of(done, tmp_path, "report.html")


def test_a_mean_by_group_without_a_prediction(tmp_path):
    rng = np.random.default_rng(6)
    income, school = rng.normal(40, 9, 60).round(1), np.arange(60) // 5
    (tmp_path / "m.csv").write_text(
        "income,school,sex\n"
        + "".join(
            f"{value},{unit},{'fm'[k % 2]}\n"
            for k, (value, unit) in enumerate(zip(income, school, strict=True))
        )
    )
    given = ("--items", "m.csv", "--truth", "income", "--psu", "school", "--group", "sex")
    page = page_of(
        run_here(tmp_path, *TOPIC, *given, "--metrics", "mean", "-o", "r.html", "--quiet"), tmp_path
    )
    assert f"Mean of income {income.mean():.2f} (95% confidence interval " in page
    assert page.count("<td>Mean of income</td>") == 3
    assert "Mean of 12 clusters, ordered by stratum" in page and "Traceback" not in page


def test_a_proportion_by_successive_differences(tmp_path):
    rng = np.random.default_rng(7)
    y, weight = rng.random(40) < 0.3, rng.integers(20, 90, 40)
    factors = rng.choice([0.3, 1, 1.7], (40, 80))
    replicated = np.round(weight[:, None] * factors).astype(int)
    header = ",".join(f"PWGTP{r}" for r in range(1, 81))
    lines = [
        f"{'yes' if true else 'no'},{w},{','.join(map(str, row))}"
        for true, w, row in zip(y, weight, replicated, strict=True)
    ]
    (tmp_path / "acs.csv").write_text(f"owns,PWGTP,{header}\n" + "\n".join(lines) + "\n")
    given = ("--items", "acs.csv", "--truth", "owns", "--positive", "yes", "--weight", "PWGTP")
    how = ("--replicate-weights", "PWGTP*", "--method", "sdr", "--metrics", "proportion")
    page = page_of(run_here(tmp_path, *TOPIC, *given, *how, "-o", "r.html", "--quiet"), tmp_path)
    full = (weight @ y) / weight.sum()
    replicates = (y @ replicated) / replicated.sum(0)
    error = np.sqrt(4 / 80 * np.sum((replicates - full) ** 2))
    assert f"Proportion of owns = yes: {full:.3f}, 95% confidence interval " in page
    assert f"<td>{100 * error:.0f}%</td>" in page
    assert "80 replicates by successive differences (SDR)" in page
    costs_one_line(
        tmp_path,
        "method must be the method of the replicate weights",
        *TOPIC,
        *given,
        *how[:2],
        runs=run_here,
    )
