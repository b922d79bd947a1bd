"""The command line as an analyst uses it, on files of his own."""

import hashlib
import html
import re
import shutil

import numpy as np
import pytest
from command import costs_one_line, page_of, run, run_here, workbench
from oracles import value_interval
from scipy import optimize
from sklearn import metrics

from workbench.reports.parameters import topics

TOPIC = ("report", "stratified-accuracy")
SCORES = "Scores März.csv"
NAMES = ("--score", "p", "--prediction", "yhat", "--id", "item", "--score-is", "confidence")


@pytest.fixture(scope="module")
def planned(tmp_path_factory, kernel):
    """Scores as a statistics office writes them: semicolons, decimal commas, byte-order mark; and a plan."""
    rng = np.random.default_rng(5)
    score = rng.beta(8, 1, 600)
    right = rng.random(600) < score
    truth = rng.integers(0, 2, 600)
    rows = [
        f"{i:04d};{str(round(s, 6)).replace('.', ',')};{t if r else 1 - t};{t}"
        for i, (s, r, t) in enumerate(zip(score, right, truth, strict=True))
    ]
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
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbf") and lines[0] == "id,position,yhat,correct"
    assert (
        len(lines) == 61
        and lines[1].split(",")[1] == "1"
        and (folder / "plan-labels.plan.json").is_file()
    )
    assert "Label 60 of 600 items in 10 strata" in (folder / "plan.html").read_text()


def test_from_filled_sheet_to_finding(planned, folder):
    lines = (planned[0] / "plan-labels.csv").read_text(encoding="utf-8-sig").splitlines()
    filled = folder / "filled.csv"
    filled.write_text(
        "\n".join([lines[0]] + [line + "1" for line in lines[1:]] + ["=evil<b>,,,1"]) + "\n"
    )
    found = ("--scores", SCORES, *NAMES, "--labels", "filled.csv", "-o", "r.html")
    page = page_of(run_here(folder, *TOPIC, *found), folder)
    assert "Accuracy 100.0% (95% confidence interval " in page and "60 labels, 10 strata" in page
    assert "=evil&lt;b&gt;" in page and "=evil<b>" not in page
    assert (
        re.search(r"<li>strata 1, 2, 3, [^<:]*: all labels agree", page) and "stratum 0" not in page
    )
    assert re.findall(r"<tr><td>(\d+)</td><td>60</td>", page) == [str(k) for k in range(1, 11)]
    for path in (folder / SCORES, filled):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page
    assert not re.search(r"""(src|href)\s*=\s*["']?https?:""", page) and len(page) < 1_000_000
    assert page.count("<math") >= 3 and "$" not in re.sub(r"<code.*?</code>", "", page, flags=re.S)


def test_truth_simulates_and_says_so(folder):
    done = run_here(folder, *TOPIC, "--scores", SCORES, *NAMES, "--truth", "y", "--budget", 80)
    assert "This simulates an audit" in page_of(done, folder, "report.html")
    assert not list(folder.glob("*-labels.csv"))


def test_a_probability_of_fraud_is_no_confidence(tmp_path):
    """The plan's strata go from the items near one half, where errors are, to the surest."""
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 6, 2000)
    rows = [f"{k},{chance:.6f},{int(chance >= 0.5)}" for k, chance in enumerate(p)]
    (tmp_path / "fraud.csv").write_text("\n".join(["item,p,yhat", *rows]) + "\n")
    page = page_of(
        run_here(
            tmp_path,
            *TOPIC,
            "--scores",
            "fraud.csv",
            "--score",
            "p",
            "--prediction",
            "yhat",
            "--id",
            "item",
        ),
        tmp_path,
        "report.html",
    )
    sure = np.maximum(p, 1 - p).mean()
    assert f"mean confidence {sure:.4g}; scores read as probability of class 1" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scores", "none.csv"], "none.csv"),
        (["--scores", SCORES, "--score", "q"], "has no such column"),
        (["--scores", SCORES, "--score", "p", "--budgte", "60"], "budget"),
        (["--scores", SCORES, "--score", "p", "--budget", "many"], "a whole number"),
        (["--scores", SCORES, "--score", "p", "--truth", "y", "--labels", SCORES], "labels"),
    ],
)
def test_mistakes_cost_one_line_before_the_run(folder, arguments, message):
    costs_one_line(folder, message, *TOPIC, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*NAMES, "--budget", "601"], "--budget must be a whole number from 2 to 600"),
        ([*NAMES, "--stratifier", "quantile"], "--stratifier must be one of"),
        (["--score", "item"], "item"),
    ],
)
def test_mistakes_cost_one_line_in_the_run(folder, arguments, message):
    costs_one_line(folder, message, *TOPIC, "--scores", SCORES, *arguments, runs=run_here)


def test_a_mistake_in_the_kernel_costs_one_line(folder, kernel):
    message = "budget must be a whole number from 2 to 600"
    costs_one_line(folder, message, *TOPIC, "--scores", SCORES, *NAMES, "--budget", "601", runs=run)


def test_rerun_does_not_overwrite_a_sheet(planned, folder):
    empty = (planned[0] / "plan-labels.csv").read_text(encoding="utf-8-sig")
    sheet = folder / "report-labels.csv"
    sheet.write_text(empty.replace(',"0",\n', ',"0",1\n'))
    before = sheet.read_bytes()
    filled = empty.count(',"0",\n')
    costs_one_line(
        folder,
        f"'report-labels.csv' already contains {filled} labels",
        *TOPIC,
        "--scores",
        SCORES,
        *NAMES,
    )
    assert sheet.read_bytes() == before


@pytest.fixture(params=["three classes", "two classes"])
def models(request, tmp_path):
    """A file with two models' predictions and, kept aside, the true classes."""
    rng, n = np.random.default_rng(11), 1200
    classes = np.array(
        ["cat", "dog", "bird"] if request.param == "three classes" else ["cat", "dog"]
    )
    shares = [0.2, 0.5, 0.3] if request.param == "three classes" else [0.2, 0.8]
    truth, score = rng.choice(classes, n, p=shares), rng.permutation(n) / n
    first, second = (
        np.where(rng.random(n) < share, truth, rng.choice(classes, n)) for share in (0.7, 0.85)
    )
    rows = [
        f"q{i},{p},{a},{b}" for i, (p, a, b) in enumerate(zip(score, first, second, strict=True))
    ]
    (tmp_path / "models.csv").write_text("\n".join(["item,p,yhat,other_model", *rows]) + "\n")
    return tmp_path, score, truth, first, second


MODELS = (
    "--scores",
    "models.csv",
    "--score",
    "p",
    "--prediction",
    "yhat",
    "--id",
    "item",
    "--score-is",
    "confidence",
    "--n-strata",
    3,
)


def thirds(score, part, n_strata=3):
    """Strata of equally many items of a part, from low to high score; -1 outside of it."""
    stratum, order = np.full(score.size, -1), np.flatnonzero(part)[score[part].argsort()]
    for k in range(n_strata):
        stratum[order[-(-k * order.size // n_strata) : -(-(k + 1) * order.size // n_strata)]] = k
    return stratum


def fill(folder, answers, name="filled.csv"):
    """Fill the sheet of a plan; returns the positions of the labeled items and the header."""
    header, *rows = (folder / "plan-labels.csv").read_text(encoding="utf-8-sig").splitlines()
    index = np.array([int(row.split(",")[0].strip('"q')) for row in rows])
    (folder / name).write_text(
        "\n".join([header, *(f"{row}{answers[i]}" for row, i in zip(rows, index, strict=True))])
    )
    return index, header


def limits_by_root(size, member, labels, once):
    """Recall (once = 1) or F1 (2) at which an end of the interval of TP - r (TP + FN), or of its kin, is 0."""
    constant = (once - 1) * size[member].sum() / size.sum()

    def end(r, upper):
        strata = [
            (
                n,
                [
                    (once - r if is_member else 0.0) if right else (0.0 if is_member else -r)
                    for right in found
                ],
                *((0.0, once - r) if is_member else (-r, 0.0)),
            )
            for n, is_member, found in zip(size, member, labels, strict=True)
        ]
        item = max(r, once - r) / sum(size)  # rounded outward to whole items
        return value_interval.limits(strata)[upper] + (item if upper else -item) - r * constant

    return [optimize.brentq(end, 1e-6, 1 - 1e-6, args=(upper,)) for upper in (0, 1)]


def test_metrics_of_a_class_from_plan_to_finding(models):
    folder, score, truth, first, _ = models
    asked = (*TOPIC, *MODELS, "--metrics-of", "cat")
    plan = page_of(
        run_here(folder, *asked, "--budget", 120, "-o", "plan.html"), folder, "plan.html"
    )
    assert (
        "Label 120 of 1,200 items in 6 strata" in plan
        and "36 labels for items predicted 'cat'" in plan
    )
    member, three = first == "cat", len(set(truth)) == 3
    stratum = np.where(member, thirds(score, member), 3 + thirds(score, ~member))
    index, header = fill(folder, truth if three else (first == truth).astype(int))
    assert header == ("id,position,truth" if three else "id,position,yhat,correct")
    sheet_stratum = stratum[index]
    assert member[index].sum() == 36

    size = np.bincount(stratum)
    weight = (size / np.bincount(sheet_stratum))[sheet_stratum]
    labels = [((truth == "cat") == member)[index][sheet_stratum == k] for k in range(6)]
    page = page_of(run_here(folder, *asked, "--labels", "filled.csv", "-o", "r.html"), folder)
    for name, once in (("recall", 1), ("F1", 2)):
        score_of = metrics.recall_score if once == 1 else metrics.f1_score
        estimate = score_of(truth[index] == "cat", member[index], sample_weight=weight)
        low, high = limits_by_root(size, np.arange(6) < 3, labels, once)
        assert f"{name} {100 * estimate:.1f}% ({100 * low:.1f}% to {100 * high:.1f}%)" in page
    accuracy = np.average((first == truth)[index], weights=weight)
    precision = np.average(
        np.concatenate(labels[:3]),
        weights=np.repeat(size[:3] / [*map(len, labels[:3])], [*map(len, labels[:3])]),
    )
    assert (
        f"accuracy {100 * accuracy:.1f}% (95% confidence interval " in page
        and f"precision {100 * precision:.1f}% (" in page
    )
    assert (
        "Precision, recall and F1: method and assumptions" in page
        and "Difference: method and assumptions" not in page
    )
    assert "Five intervals from the same labels" in page
    assert (
        page.index("; accuracy ") < page.index("Labels per stratum") < page.index("Five intervals")
    )


def test_true_classes_say_the_same_as_right_and_wrong(models):
    folder, _, truth, first, _ = models
    asked = (*TOPIC, *MODELS, "--metrics-of", "dog")
    page_of(run_here(folder, *asked, "--budget", 120, "-o", "plan.html"), folder, "plan.html")
    fill(folder, truth)
    filled = (folder / "filled.csv").read_text()
    (folder / "filled.csv").write_text(filled.replace("correct", "truth", 1))
    said = [page_of(run_here(folder, *asked, "--labels", "filled.csv", "-o", "r.html"), folder)]
    if len(set(truth)) == 2:
        fill(folder, (first == truth).astype(int))
        said.append(
            page_of(run_here(folder, *asked, "--labels", "filled.csv", "-o", "r.html"), folder)
        )
        assert "every incorrect prediction counts as incorrect about class" in said[1]
    found = {
        re.search(r"Class 'dog': .*?; accuracy .*?\)", html.unescape(page))[0] for page in said
    }
    assert len(found) == 1


def test_a_rival_from_plan_to_finding(models):
    folder, score, truth, first, second = models
    asked, differ = (*TOPIC, *MODELS, "--rival", "other_model"), first != second
    plan = page_of(run_here(folder, *asked, "--budget", 90, "-o", "plan.html"), folder, "plan.html")
    assert (
        f"Label 90 of the {differ.sum()} items (of 1,200) on which the models differ, in 3 strata"
        in plan
    )
    stratum = thirds(score, differ)
    index, header = fill(folder, truth)
    sheet_stratum = stratum[index]
    assert (
        header == "id,position,truth" and differ[index].all() and len(set(sheet_stratum[:3])) == 3
    )

    value = (first == truth).astype(float) - (second == truth)
    strata = [
        ((stratum == k).sum(), value[index][sheet_stratum == k].tolist(), -1.0, 1.0)
        for k in range(3)
    ]
    agreeing = int((~differ).sum())
    low, high = value_interval.limits([*strata, (agreeing, [0.0] * agreeing, -1.0, 1.0)])
    # an item moves the total by 2: the last attainable means inside
    low, high = (np.floor(low * 1200 - 2) + 1) / 1200, (np.ceil(high * 1200 + 2) - 1) / 1200
    estimate = sum(n * np.mean(found) for n, found, *_ in strata) / 1200
    page = page_of(run_here(folder, *asked, "--labels", "filled.csv", "-o", "r.html"), folder)
    one, other = MODELS[MODELS.index("--prediction") + 1], "other_model"
    better = f"{other} is better" if high < 0 else "no difference is shown"
    said = (
        f"Accuracy of {one} minus {other} {estimate:+.3f}, 95% confidence interval {low:+.3f} to "
        f"{high:+.3f}: {better}; 90 labels"
    )
    assert said in page
    assert (
        "To estimate the accuracy of either model" in page
        and f"A is {one} and B is {other}" in page
    )
    assert (
        "Difference: method and assumptions" in page
        and "Five intervals" not in page
        and "Accuracy: method and assumptions" not in page
    )
    assert 'alt="Labels per stratum, from low to high score, in which only ' + one in page


def test_known_truth_simulates_either_question(models):
    folder, _, truth, first, second = models
    lines = (folder / "models.csv").read_text().splitlines()
    (folder / "models.csv").write_text(
        "\n".join([lines[0] + ",y", *map(",".join, zip(lines[1:], truth, strict=True))])
    )
    page = page_of(
        run_here(folder, *TOPIC, *MODELS, "--truth", "y", "--rival", "other_model"),
        folder,
        "report.html",
    )
    assert (
        f"the true difference is {(first == truth).mean() - (second == truth).mean():+.4g}" in page
    )
    page = page_of(
        run_here(folder, *TOPIC, *MODELS, "--truth", "y", "--metrics-of", "cat"),
        folder,
        "report.html",
    )
    recall = metrics.recall_score(truth == "cat", first == "cat")
    assert "This simulates an audit" in page
    assert any(f"<td>{recall:.{places}f}</td>" in page for places in (2, 3))
    assert not list(folder.glob("*-labels.csv"))


@pytest.mark.parametrize("models", ["three classes"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--metrics-of", "cat", "--rival", "other_model"],
            "--metrics-of must not be given with --rival",
        ),
        (["--rival", "other"], "--rival must be either a column or a file; columns: '"),
    ],
)
def test_mistaken_questions_cost_one_line_before_the_run(models, arguments, message):
    costs_one_line(models[0], message, *TOPIC, *MODELS, *arguments)


@pytest.mark.parametrize("models", ["three classes"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics-of", "Cat"], "--metrics-of must be a class that is predicted: "),
        (
            ["--metrics-of", "cat", "--prediction", ""],
            "--metrics-of 'cat' needs predictions. Name their column as ",
        ),
        (
            ["--rival", "other_model", "--prediction", ""],
            "--rival 'other_model' is compared with predictions",
        ),
        (
            ["--metrics-of", "cat", "--allocation", "voila"],
            "--allocation must be 'proportional' for the metrics of a class",
        ),
        (["--rival", "yhat2"], "their accuracies are equal and there is nothing to label"),
        (
            ["--rival", "other_model", "--interval", "short"],
            "--interval must be 'default' for a difference; got 'short'",
        ),
        (
            ["--rival", "other_model", "--labels", "bad.csv"],
            "column 'truth', row 2 (id 'q{}'): 'fox' is not a "
            "predicted class. Write 'bird', 'cat', ",
        ),
    ],
)
def test_mistaken_questions_cost_one_line_in_the_run(models, arguments, message):
    folder, _, _, first, second = models
    lines = (folder / "models.csv").read_text().splitlines()
    again = [f"{line},{read}" for line, read in zip(lines[1:], first, strict=True)]
    (folder / "models.csv").write_text("\n".join([lines[0] + ",yhat2", *again]))
    item = int(np.flatnonzero(first != second)[0])
    (folder / "bad.csv").write_text(f"id,truth\nq{item},fox\n")
    costs_one_line(folder, message.format(item), *TOPIC, *MODELS, *arguments, runs=run_here)


@pytest.mark.full
def test_everything_at_once(tmp_path, kernel):
    """The reports of all topics on the embedded data, by the command as it is installed."""
    done = workbench(tmp_path, "report", "all", "-o", "reports", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in (tmp_path / "reports").iterdir()} == {
        f"{topic}.html" for topic in topics()
    }


@pytest.mark.parametrize(
    "topic",
    [
        pytest.param(topic, marks=[pytest.mark.full] * (topic != "brr-orthogonal-arrays"))
        for topic in topics()
    ],
)
def test_a_page_made_here_is_the_page_of_a_kernel(tmp_path, topic, kernel):
    """Many tests look at pages made without a kernel: but for date and command they are the same."""
    here, there = (
        re.sub(
            r"<dt>(Date|Command)</dt><dd>.*?</dd>", "", page_of(done, tmp_path, name), flags=re.S
        )
        for name, runs in (("here.html", run_here), ("there.html", run))
        for done in [runs(tmp_path, "report", topic, "-o", name, "--quiet")]
    )
    assert here == there


def test_labels_in_some_rows_of_the_file_are_a_random_sample_of_it(folder):
    rows = (folder / SCORES).read_text(encoding="utf-8-sig").splitlines()
    labeled = set(np.random.default_rng(3).choice(600, 90, replace=False) + 1)
    some = [
        row if place in labeled else row.rpartition(";")[0] + ";"
        for place, row in enumerate(rows[1:], 1)
    ]
    (folder / "some.csv").write_text("\n".join([rows[0], *some]) + "\n", encoding="utf-8")
    done = run(
        folder,
        *TOPIC,
        "--scores",
        "some.csv",
        "--score",
        "p",
        "--prediction",
        "yhat",
        "--id",
        "item",
        "--truth",
        "y",
        "-o",
        "some.html",
    )
    assert done.returncode == 0, done.stderr
    page = html.unescape(re.sub(r"\s+", " ", (folder / "some.html").read_text(encoding="utf-8")))
    assert (
        "This assumes that the 90 labeled items are a random sample of all 600. Accuracy " in page
    )
    score = np.array([float(row.split(";")[1].replace(",", ".")) for row in some])
    quarter = np.searchsorted(np.quantile(score, [0.25, 0.5, 0.75]), score, side="left")
    right = np.array([row.split(";")[2] == row.split(";")[3] for row in some])
    known = np.array([not row.endswith(";") for row in some])
    weighted = np.mean([right[known & (quarter == k)].mean() for k in range(4)])
    assert f"Accuracy {100 * weighted:.1f}%" in page
    assert not (folder / "some-labels.csv").exists()


def test_labels_of_predicted_positives_alone_are_refused_before_a_kernel_starts(folder):
    header, *rows = (folder / SCORES).read_text(encoding="utf-8-sig").splitlines()
    cells = [row.split(";") for row in rows]
    some = [";".join([*cell[:3], cell[3] if cell[2] == "1" else ""]) for cell in cells]
    (folder / "positives.csv").write_text("\n".join([header, *some]) + "\n", encoding="utf-8")
    costs_one_line(
        folder,
        "items predicted 0 has a label",
        *TOPIC,
        "--scores",
        "positives.csv",
        *NAMES,
        "--truth",
        "y",
    )
