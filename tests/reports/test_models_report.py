"""The report of several models on the same labeled items, as an analyst makes it."""

import csv
import html
import json
import re

import numpy as np
import pytest
from command import costs_one_line, page_of, run_unseen
from sklearn.metrics import f1_score, roc_auc_score

TOPIC = ("report", "brr-orthogonal-arrays", "--items", "items.csv", "--stratum", "")
MODELS = ("alt", "new", "old")


@pytest.fixture
def items(tmp_path):
    """Images of 12 patients with the classes and scores of three models, whose errors are related."""
    rng = np.random.default_rng(3)
    size = 180
    patient = np.arange(size) // 15
    y = (rng.random(size) < 0.4).astype(int)
    hard = rng.normal(size=size) + 0.5 * rng.normal(size=12)[patient]
    columns = {"y": y, "patient": patient}
    for model, signal in zip(MODELS, (1.5, 2.4, 0.9), strict=True):
        score = np.round(signal * (y - 0.5) + 0.6 * hard + rng.normal(size=size), 3)
        columns[model] = (score > 0).astype(int)
        columns[f"s_{model}"] = score
    with (tmp_path / "items.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return columns


def texts(page):
    """Return the page without tags, scripts and pictures."""
    shown = re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", " ", page)
    return re.sub(r"\s+", " ", html.unescape(shown))


def test_two_models_from_file_to_page_and_tables(tmp_path, items):
    given = ("--truth", "y", "--prediction", "old,new", "--psu", "patient", "--method", "jkn")
    outputs = ("-o", "r.html", "--json", "r.json", "--tables", "tables", "--quiet")
    page = page_of(run_unseen(tmp_path, *TOPIC, *given, "--metrics", "f1", *outputs), tmp_path)
    y, old, new, patient = (items[name] for name in ("y", "old", "new", "patient"))

    def difference(rows):
        return f1_score(y[rows], old[rows]) - f1_score(y[rows], new[rows])

    estimate = difference(patient >= 0)
    left_out = np.array([difference(patient != number) for number in range(12)])
    error = np.sqrt(11 / 12 * ((left_out - estimate) ** 2).sum())
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["title"] == "Which of these models is better?"
    assert [result["name"] for result in report["results"]] == ["differences", "models"]
    [row] = report["results"][0]["rows"]
    assert row["difference"] == pytest.approx(estimate, abs=1e-12)
    assert row["standard_error"] == pytest.approx(error, rel=1e-9)
    with (tmp_path / "tables" / "differences.csv").open(encoding="utf-8-sig", newline="") as file:
        [saved] = csv.DictReader(file)
    assert float(saved["difference"]) == pytest.approx(estimate, abs=1e-12)
    of_models = {row["model"]: row["estimate"] for row in report["results"][1]["rows"]}
    assert of_models == pytest.approx({"old": f1_score(y, old), "new": f1_score(y, new)})
    low, high = -100 * row["high"], -100 * row["low"]
    assert 0 < low < high
    said = re.search(r"new is better than old: F1 higher by ([\d.]+) to ([\d.]+) points", page)
    assert [float(text) for text in said.groups()] == pytest.approx([low, high], abs=0.51)
    assert f"F1: old {100 * f1_score(y, old):.0f}" in page
    shown = texts(page)
    assert "Which of these models is better?" in shown
    assert "All models predicted the same 180 labeled items in 12 clusters" in shown
    assert "naive" not in shown and "Results by cluster" not in shown


def test_three_models_have_ranks_and_two_pictures(tmp_path, items):
    names = ("--truth", "y", "--prediction", "old,new,alt", "--score", "s_old,s_new,s_alt")
    outputs = ("-o", "r.html", "--json", "r.json", "--quiet")
    page = page_of(run_unseen(tmp_path, *TOPIC, *names, *outputs), tmp_path)
    report = json.loads((tmp_path / "r.json").read_text())
    differences, models, ranks = report["results"]
    assert (differences["name"], models["name"], ranks["name"]) == (
        "differences",
        "models",
        "ranks",
    )
    assert len(differences["rows"]) == 5 * 3 and len(models["rows"]) == len(ranks["rows"]) == 15
    for row in differences["rows"]:
        if row["metric"] == "auc":
            aucs = [roc_auc_score(items["y"], items[f"s_{row[k]}"]) for k in ("first", "second")]
            assert row["difference"] == pytest.approx(aucs[0] - aucs[1], abs=1e-12)
    assert page.count("(2 of 5 metrics shown)") >= 1
    assert "adjusted for all pairs of models" in page


def test_scores_alone_need_no_prediction(tmp_path, items):
    given = (
        "--truth",
        "y",
        "--score",
        "s_old,s_new",
        "--psu",
        "patient",
        "-o",
        "r.html",
        "--quiet",
    )
    page = page_of(run_unseen(tmp_path, *TOPIC, *given), tmp_path)
    assert "s_new is better than s_old: AUC higher by " in page


MISTAKES = [
    ("--prediction old,old", "--prediction must name a different column for each model"),
    ("--prediction y,new", "--prediction must not name the column of --truth; got 'y,new'"),
    ("--prediction old,newest", "--prediction is 'newest', but items.csv has no such column"),
    (
        "--prediction old,new --score s_old",
        "--score must name as many columns as --prediction; got 's_old' against 'old,new'",
    ),
    (
        "--prediction old,new --metrics auc",
        "--metrics must suit the named columns; auc needs a --score column for each model",
    ),
    (
        "--score s_old,s_new --metrics f1",
        "f1 needs a --prediction column for each model",
    ),
    (
        "--prediction old,s_new",
        "--prediction must hold classes that occur in the truth; if these numbers are scores, name them with --score; "
        "column 's_new' holds ",
    ),
    ("--prediction old,new --metrics median", "--metrics must be computed from the predictions"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes_cost_one_line_before_the_kernel_starts(tmp_path, items, arguments, message):
    costs_one_line(tmp_path, message, *TOPIC, "--truth", "y", *arguments.split())
