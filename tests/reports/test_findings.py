"""What each report says first, in exact words, and where it says it."""

import html
import math
import re

import numpy as np
import pytest
import scipy.stats
from command import page_of, run_here

import workbench as wb
from workbench.charts import cross_validation as charts
from workbench.reports import pages

DEFAULT = {
    "stratified-accuracy": "Accuracy 92.9% (95% confidence interval 86.4% to 97.1%)",
    "brr-orthogonal-arrays": "Accuracy 87.7% (95% confidence interval 83.8% to 91.1%)",
    "voila-vs-neyman": "Label 100 of 1,797 items. The expected total is about -14,700, with a standard error of about 4,100 (28%)",
    "misclassification-correction": "The proportion of class panels rose by 5.1 percentage points (95% confidence interval 3.2 to 7.2) from period 1 to period 12",
    "cross-validation-t-tests": "It is not shown that clerk A is better than clerk B (p = .22)",
}
JARGON = ("standard_error", "full False", "in 1 strata", "p_value", "nan", "None.")


def write(path, names, *columns):
    rows = zip(*columns, strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in (names, *rows)) + "\n")


def box(page):
    return re.search(r'(?s)<section class="finding".*?</section>', page)[0]


def sentences_of(page):
    return [
        html.unescape(re.sub(r"<[^>]*>", "", text))
        for text in re.findall(r"(?s)<p>(.*?)</p>", box(page))
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the pages of the reports of the course's data."""
    folder = tmp_path_factory.mktemp("pages")
    done = run_here(folder, "report", "all", "-o", "reports", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.stem for path in (folder / "reports").iterdir()} == {"start", *DEFAULT}
    return {
        topic: (folder / "reports" / f"{topic}.html").read_text(encoding="utf-8")
        for topic in DEFAULT
    }


@pytest.mark.parametrize("topic", DEFAULT)
def test_a_report_opens_with_its_finding_its_picture_and_what_it_rests_on(made, topic):
    page = made[topic]
    assert sentences_of(page)[0] == DEFAULT[topic] and len(sentences_of(page)) == 2
    assert re.fullmatch(
        r"(?s)<section[^>]*>\s*<p>.*?</p>\s*<figure>.*?</figure>\s*<p>.*?</p>\s*</section>",
        box(page),
    )
    opening = page[page.index("<body>") : page.index('<section class="finding"')]
    assert re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", opening)).split(" ")[1] == "Evaluation"
    assert "<table" not in opening and "<p>" not in opening and opening.count("<h1") == 1
    assert page.count("<h1") == 1 and page.index("<h2") > page.index("</section>")


@pytest.mark.parametrize("topic", DEFAULT)
def test_every_picture_has_its_words_and_a_narrow_one_for_phones(made, topic):
    figures = re.findall(r"(?s)<figure><picture>(.*?)</picture></figure>", made[topic])
    assert len(figures) == made[topic].count("<img") >= 2
    for figure in figures:
        assert re.search(r'<img [^>]*alt="[^"]{30,}', figure)
        assert int(re.search(r'<source [^>]*width="(\d+)"', figure)[1]) == pytest.approx(350, abs=5)
        assert int(re.search(r'<img [^>]*width="(\d+)"', figure)[1]) == pytest.approx(740, abs=5)


@pytest.mark.parametrize("topic", DEFAULT)
def test_no_raw_word_and_no_note_twice(made, topic):
    shown = re.sub(r'(?s)<style>.*?</style>|<footer.*|"data:[^"]*"', "", made[topic])
    assert [word for word in JARGON if word in re.sub(r"<[^>]*>", " ", shown)] == []
    notes = [
        note
        for found in re.findall(
            r'(?s)<div class="workbench-notes"><p>Notes:</p><ul>(.*?)</ul></div>', shown
        )
        for note in re.findall(r"<li>(.*?)</li>", found)
    ]
    assert len(notes) == len(set(notes))


def test_no_picture_calls_better_what_is_not_shown_to_be(made):
    shown = re.search(r'<img [^>]*alt="([^"]*)"', box(made["cross-validation-t-tests"]))[1]
    assert (
        "not shown" in sentences_of(made["cross-validation-t-tests"])[0] and "better" not in shown
    )


def test_hard_words_lead_to_what_they_mean(made):
    for topic, words in (
        ("brr-orthogonal-arrays", ["PSU"]),
        ("misclassification-correction", ["mle"]),
        ("cross-validation-t-tests", ["rho", "theta"]),
    ):
        for word in words:
            assert (
                made[topic].count(f'href="#word-{word}"')
                == made[topic].count(f'id="word-{word}"')
                == 1
            )
    assert 'id="word-PSU"' not in made["cross-validation-t-tests"]


def test_the_table_of_the_method_stands_last(made):
    page = made["cross-validation-t-tests"]
    assert page.index("Method and assumptions") < page.index(">theta1<")
    assert max(map(page.index, ("Method and assumptions", "How large"))) < page.index(
        "Five estimates of the variance"
    )


def scored(folder, n=400, wrong=40):
    rng = np.random.default_rng(3)
    score = rng.uniform(0.55, 0.999, n).round(3)
    truth = rng.integers(0, 2, n)
    prediction = np.where(
        np.isin(np.arange(n), rng.choice(n, wrong, replace=False)), 1 - truth, truth
    )
    rival = np.where(rng.random(n) < 0.3, 1 - truth, truth)
    write(
        folder / "s.csv",
        ["id", "p", "yhat", "new", "y"],
        range(1000, 1000 + n),
        score,
        prediction,
        rival,
        truth,
    )
    return [
        "--scores",
        "s.csv",
        "--score",
        "p",
        "--prediction",
        "yhat",
        "--id",
        "id",
        "--score-is",
        "confidence",
    ]


def test_a_plan_says_what_to_do_and_asks_nobody_to_report(tmp_path):
    page = page_of(
        run_here(
            tmp_path,
            "report",
            "stratified-accuracy",
            *scored(tmp_path),
            "--budget",
            60,
            "-o",
            "r.html",
        ),
        tmp_path,
    )
    said, rests = sentences_of(page)
    assert re.fullmatch(
        r"Label 60 of 400 items to estimate the accuracy to about ±\d+ percentage points", said
    )
    assert "into the column correct of r-labels.csv" in rests
    assert "report this" not in page and "report the default" not in page
    shown = re.search(r'<img [^>]*alt="([^"]*)"', box(page))[1]
    widths = dict(re.findall(r"(\d+) labels(?: \(the plan\))? accuracy ±(\d+(?:\.\d)?)", shown))
    assert (
        list(widths) == ["30", "60", "120", "240"] and f"±{widths['60']} percentage points" in said
    )
    assert sorted(map(float, widths.values()), reverse=True) == [*map(float, widths.values())]


def test_labels_give_a_finding_that_begins_with_the_accuracy(tmp_path):
    asked = [
        "report",
        "stratified-accuracy",
        *scored(tmp_path),
        "--budget",
        100,
        "--n-strata",
        5,
        "-o",
    ]
    page_of(run_here(tmp_path, *asked, "r.html"), tmp_path)
    sheet = wb.read_scores(
        str(tmp_path / "s.csv"), score="p", prediction="yhat", truth="y", id="id"
    )
    right = dict(zip(map(str, sheet.id), sheet.correct, strict=True))
    lines = [
        line.split(",") for line in (tmp_path / "r-labels.csv").read_text("utf-8-sig").splitlines()
    ]
    at, id_at = lines[0].index("correct"), lines[0].index("id")
    for line in lines[1:]:
        line[at] = str(int(right[line[id_at].strip('"')]))
    (tmp_path / "l.csv").write_text("\n".join(map(",".join, lines)))
    page = page_of(run_here(tmp_path, *asked, "f.html", "--labels", "l.csv"), tmp_path, "f.html")
    share = sum(int(line[at]) for line in lines[1:])  # strata of equal size, equal labels
    assert sentences_of(page)[0].startswith(f"Accuracy {share}.0% (95% confidence interval ")


def test_two_models_and_one_class_have_titles_of_their_own(tmp_path):
    asked = ["report", "stratified-accuracy", *scored(tmp_path), "--truth", "y", "-o", "r.html"]
    page = page_of(run_here(tmp_path, *asked, "--rival", "new"), tmp_path)
    assert "<h1>Which of two models is more accurate?</h1>" in page
    assert "<title>Which of two models is more accurate?</title>" in page
    assert sentences_of(page)[0].startswith("yhat is better than new: its accuracy is ")
    page = page_of(run_here(tmp_path, *asked, "--metrics-of", "1"), tmp_path)
    assert "<h1>How good are the predictions of one class?</h1>" in page
    assert re.fullmatch(
        "Class 1: "
        + "; ".join(
            rf"{name} \d+(\.\d)?% \(\d.*% to \d.*%\)"
            for name in ("precision", "recall", "accuracy")
        )
        + "; 95% confidence intervals in parentheses",
        sentences_of(page)[0],
    )
    page = page_of(run_here(tmp_path, *asked[:-4], "-o", "r.html", "--metrics-of", "1"), tmp_path)
    known = " and ".join(
        rf"{name} to about ±\d+(\.\d)? percentage points" for name in ("recall", "accuracy")
    )
    assert re.fullmatch(
        r"Label 100 of 400 items to estimate, for class 1, precision to about ±\d+(\.\d)? percentage "
        rf"points, {known}",
        sentences_of(page)[0],
    )


def test_an_interval_of_nearly_everything_is_no_result():
    items = wb.read_scores(
        {"score": np.linspace(0.6, 0.9, 100), "y": np.arange(100) % 2}, score="score", truth="y"
    )
    audits = (wb.accuracy_audit(items, 2, n_strata=1, rng=seed) for seed in range(20))
    found = next(audit for audit in audits if audit.estimate.estimate == 0.5)
    assert found.interval().half_width > 0.45
    assert found.finding().startswith(
        "No result: after 2 labels the accuracy may be anything between "
    )
    audit = wb.ConfusionCounts([[40, 38], [41, 39]], ["employed", "unemployed"])
    series = wb.prevalence_series(audit, (500, 480), {"Jan": (500, 480), "Feb": (450, 530)})
    assert series.finding() == (
        "No result: nearly every change from Jan to Feb is possible, because the audit shows too "
        "weak a link between prediction and truth"
    )
    alone = wb.prevalence_series(audit, (500, 480), {"Jan": (500, 480)})
    assert alone.finding().startswith("No result: nearly every proportion is possible in Jan, ")
    labeled = wb.load_labeled(
        {
            "truth": [1, 1, 0, 0] * 2,
            "prediction": [1, 1, 0, 0, 0, 0, 0, 0],
            "stratum": np.repeat(["a", "b"], 4),
            "site": np.repeat([1, 2, 3, 4], 2),
        },
        psu="site",
    )
    found = wb.estimate_metrics(labeled, "accuracy")
    assert (found.rows()[0]["low"], found.rows()[0]["high"]) == (0, 1)
    assert (
        found.finding()
        == "No result: Accuracy may be anything between 0% and 100%, because the sample contains too little information about it"
    )
    losses = wb.CVLosses.from_fold_means({"A": [0.1, 0.2, 0.15, 0.12], "B": [0.2, 0.25, 0.19, 0.2]})
    assert (
        wb.compare_tests(losses, rho=0.99)
        .finding()
        .startswith("No result: with rho = 0.99, the folds ")
    )
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [100, 50], "sd": [1.0, 2.0]})
    assert (
        wb.plan_labels(strata, 1, minimum=0).finding()
        == "No result: 1 label leaves a stratum whose values vary without a label"
    )


def test_a_rise_is_said_in_points():
    audit = wb.ConfusionCounts([[900, 20], [10, 70]], ["employed", "unemployed"])
    months = {"Jan": (9000, 1000), "Feb": (8700, 1300), "Mar": (9000, 1001)}
    series = wb.prevalence_series(audit, (9000, 1000), months, sampled_by="random")
    change = series.change("Jan", "Mar")
    shown = [f"{100 * x:+.2f}" for x in (change.estimate, *change.interval())]
    assert series.finding() == (
        "The proportion of class unemployed did not change significantly from Jan to Mar "
        "({} percentage points, 95% confidence interval {} to {})".format(*shown)
    )
    rise = wb.prevalence_series(
        audit, (9000, 1000), {"Jan": (9000, 1000), "Feb": (8500, 1500)}, sampled_by="random"
    )
    change = rise.change("Jan", "Feb")
    shown = [f"{100 * x:.2f}" for x in (change.estimate, *change.interval())]
    assert rise.finding() == (
        "The proportion of class unemployed rose by {} percentage points "
        "(95% confidence interval {} to {}) from Jan to Feb".format(*shown)
    )
    fall = wb.prevalence_series(
        audit, (8500, 1500), {"Jan": (8500, 1500), "Feb": (9000, 1000)}, sampled_by="random"
    )
    assert fall.finding().startswith("The proportion of class unemployed fell by ")


def test_better_or_not_shown_to_be():
    a, b = np.array([0.20, 0.22, 0.19, 0.24, 0.21]), np.array([0.21, 0.25, 0.19, 0.27, 0.20])
    losses = wb.CVLosses.from_fold_means({"forest": a, "svm": b})
    p = scipy.stats.ttest_rel(a, b).pvalue
    assert wb.compare_tests(
        losses, rho="naive"
    ).finding() == f"It is not shown that forest is better than svm (p = {p:.2f})".replace(
        "0.", "."
    )
    worse = b + [0.1, 0.11, 0.12, 0.1, 0.1]
    test = scipy.stats.ttest_rel(a, worse)
    low, high = (-x for x in test.confidence_interval())
    found = wb.compare_tests(
        wb.CVLosses.from_fold_means({"forest": a, "svm": worse}), rho="naive"
    ).finding()
    mean = (worse - a).mean()
    assert found == (
        f"forest is better than svm by {mean:.3f} (95% confidence interval "
        f"{min(low, high):.3f} to {max(low, high):.3f}, p = {test.pvalue:.3f})"
    ).replace("= 0.", "= .").replace("p = .000", "p < .001")
    assert (
        "better"
        not in charts.folds(losses, title="What each fold says").to_dict()["params"][0]["value"][0]
    )
    several = wb.compare_models({"forest": a, "svm": b, "tree": worse + 0.3 * a}, rho="naive")
    assert several.finding() == "forest is better than tree; not shown to be better than svm"


def test_an_unknown_total_gives_the_error_alone():
    strata = wb.load_strata({"stratum": ["a", "b"], "size": [1000, 600], "sd": [0.5, 0.1]})
    plan = wb.plan_labels(strata, 50)
    error = [row["standard_error"] for row in plan.methods() if row["method"] == plan.rule][0]
    assert plan.finding() == (
        f"Label 50 of 1,600 items: standard error of the total about {error:.0f}, of the mean about "
        f"{error / 1600:.3f}"
    )


def test_a_part_of_the_total_is_said_where_it_means_something():
    """SE of the total: sqrt(sum N (N - n) S^2 / n)."""

    def said(mean, sd):
        strata = wb.StratumSummary(
            np.array(["a", "b"]), np.array([1000, 600]), np.array(mean), np.array(sd)
        )
        return wb.plan_labels(strata, 50).finding(), wb.plan_labels(strata, 50).labeled

    size = np.array([1000, 600])
    for mean, sd in (
        ([5.0, 9.0], [2.0, 3.0]),
        ([1.0, 2.0], [20.0, 30.0]),
        ([1.0, -2.0], [20.0, 30.0]),
    ):
        found, n = said(mean, sd)
        error, total = np.sqrt((size * (size - n) * np.square(sd) / n).sum()), size @ mean
        off = f"{float(f'{error:.2g}'):,.0f}"
        step = 10 ** (math.floor(math.log10(error)) - 1)
        about = f"{round(total / step) * step:,.0f}"
        part = f" ({100 * error / abs(total):.{1 if error / abs(total) < 0.1 else 0}f}%)"
        assert found == (
            f"Too few labels for a useful result: 50 labels leave the total of about {about} with a "
            f"standard error of about {off}{part}"
            if sd[0] > 2 and min(mean) > 0
            else f"Label 50 of 1,600 items. The expected total is about {about}, with a standard error of "
            f"about {off}{part if error < abs(total) / 2 else ''}"
        )


def test_text_of_a_finding_is_escaped():
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    cell = new_code_cell(
        "",
        metadata={"tags": ["finding"]},
        outputs=[new_output("stream", name="stdout", text="<b>x</b> rose\n\nby PSU")],
    )
    made = pages.body(new_notebook(cells=[cell]), ".")
    assert made.finding == (
        '<p>&lt;b&gt;x&lt;/b&gt; rose</p><p>by <a class="word" href="#word-PSU">PSU</a></p>'
    )
    assert made.content == "" and made.heading == "" and made.words[0][1] == "PSU"


@pytest.mark.parametrize(
    ("columns", "asked", "finding"),
    [
        ("p\n.8\n.9\n", (), "Label 2 of 2 items to estimate the accuracy exactly"),
        (
            "p,a,b\n.8,x,y\n.9,y,y\n",
            ("--prediction", "a", "--rival", "b"),
            "Label 1 of 2 items to estimate the difference of the models exactly",
        ),
        (
            "p,a\n.8,x\n.9,y\n",
            ("--prediction", "a", "--metrics-of", "x"),
            "Label 2 of 2 items to estimate, for class x, precision exactly, recall exactly and "
            "accuracy exactly",
        ),
        (
            "p\n" + ".8\n" * 50,
            ("--budget", 20),
            "Label 20 of 50 items to estimate the accuracy to about ±15 percentage points",
        ),
    ],
    ids=["two rows", "two rows and a rival", "two rows of a class", "one score for all"],
)
def test_few_rows_and_equal_scores_are_no_dead_ends(columns, asked, finding, tmp_path):
    """Of 50 items of which 40 are right 20 are labeled: .15 is the mean half-width over all that can be found."""
    found = [
        (
            scipy.stats.hypergeom.pmf(x, 50, 40, 20),
            wb.stratified_interval([50], [20], [x]).half_width,
        )
        for x in range(10, 21)
    ]
    assert round(sum(chance * width for chance, width in found), 2) == 0.15
    (tmp_path / "s.csv").write_text(columns)
    page = page_of(
        run_here(
            tmp_path,
            "report",
            "stratified-accuracy",
            "--scores",
            "s.csv",
            "--score",
            "p",
            "--score-is",
            "confidence",
            *asked,
            "-o",
            "r.html",
        ),
        tmp_path,
    )
    assert sentences_of(page)[0] == finding


def test_the_class_that_is_asked_for_leads_and_methods_have_names(tmp_path):
    scored(tmp_path)
    asked = [
        "report",
        "brr-orthogonal-arrays",
        "--items",
        "s.csv",
        "--truth",
        "y",
        "--prediction",
        "yhat",
        "-o",
        "r.html",
    ]
    for positive, first in (([], "Accuracy"), (["--positive", "1"], "Precision")):
        said, rests = sentences_of(page_of(run_here(tmp_path, *asked, *positive), tmp_path))
        assert said.startswith(f"{first} ") and re.search(
            r"replicates by (Fay's|the generalized) method\.$", rests
        )
    page = page_of(run_here(tmp_path, *asked, "--positive", "1", "--metrics", "recall"), tmp_path)
    assert sentences_of(page)[0].startswith("Recall ")
