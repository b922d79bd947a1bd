"""Reports on files of a realistic size: the JSON of every topic against a computation with numpy alone.

`python tests/peers/report_numbers.py [ROWS]` makes the files (200,000 rows, or those given), runs the command line as a
user does, compares, and prints how long each report took. `tests/reports/test_numbers.py` does so with fewer rows.
"""

import csv
import heapq
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import stats


def write(path, **columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(
            zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
        )


def result(found, name):
    return next(each for each in found["results"] if each["name"] == name)


def near(found, expected, within=1e-9):
    np.testing.assert_allclose(
        np.asarray(found, float), np.asarray(expected, float), rtol=within, atol=within
    )


def accuracy(folder, rows, report):
    """A planned sheet is filled from the truth; estimate, standard error and Wald interval follow the textbook."""
    rng = np.random.default_rng(1)
    score = rng.permutation(np.linspace(0.5, 0.9999, rows))
    right, names = rng.random(rows) < score, np.array(["cat", "dog", "bird"])
    write(
        folder / "scored.csv",
        item=np.arange(rows) + 10_001,
        p=score,
        yhat=names[rng.integers(0, 3, rows)],
    )
    asked = [
        "stratified-accuracy",
        "--scores",
        "scored.csv",
        "--score",
        "p",
        "--prediction",
        "yhat",
        "--id",
        "item",
        "--score-is",
        "confidence",
        "--budget",
        300,
    ]
    report(*asked, "-o", "plan.html", "--json", "plan.json")
    with (folder / "plan-labels.csv").open(encoding="utf-8-sig", newline="") as file:
        drawn = np.array([int(row["id"]) - 10_001 for row in csv.DictReader(file)])
    write(folder / "filled.csv", id=drawn + 10_001, correct=right[drawn].astype(int))
    found = report(
        *asked, "--labels", "filled.csv", "-o", "accuracy.html", "--json", "accuracy.json"
    )
    stratum = np.argsort(np.argsort(score)) * 20 // rows
    size, n = np.bincount(stratum), np.bincount(stratum[drawn])
    rate = np.bincount(stratum[drawn], right[drawn]) / n
    share = size / rows
    estimate = share @ rate
    error = np.sqrt(share**2 @ ((1 - n / size) * rate * (1 - rate) / (n - 1)))
    table = result(found, "audit")["rows"]
    near(
        [[row["size"], row["labeled"], row["accuracy"]] for row in table],
        np.column_stack([size, n, rate]),
    )
    wald = next(row for row in result(found, "comparison")["rows"] if row["method"] == "wald")
    half = stats.norm.ppf(0.975) * error
    near([wald["low"], wald["high"]], [estimate - half, min(1, estimate + half)])


def clusters(folder, rows, report):
    """Weighted shares are exact; the standard error of accuracy is near the one of Taylor's linearization."""
    rng = np.random.default_rng(2)
    psu = np.arange(rows) // 10
    stratum = psu // 4
    weight = np.exp(rng.normal(0, 0.3, stratum.max() + 1))[stratum].round(4)
    truth = rng.random(rows) < 0.3
    hit = rng.random(rows) < np.clip(rng.normal(0.85, 0.08, psu.max() + 1)[psu], 0, 1)
    predicted = np.where(hit, truth, ~truth)
    write(
        folder / "labeled.csv",
        y=truth.astype(int),
        yhat=predicted.astype(int),
        district=stratum,
        person=psu,
        w=weight,
    )
    found = report(
        "brr-orthogonal-arrays",
        "--items",
        "labeled.csv",
        "--truth",
        "y",
        "--prediction",
        "yhat",
        "--stratum",
        "district",
        "--psu",
        "person",
        "--weight",
        "w",
        "--positive",
        "1",
        "--metrics",
        "accuracy precision recall f1",
        "-o",
        "clusters.html",
        "--json",
        "clusters.json",
    )
    both, said, real = (weight @ each for each in (truth & predicted, predicted, truth))
    share = weight @ (truth == predicted) / weight.sum()
    rows_of = {row["metric"]: row for row in result(found, "found")["rows"]}
    near(
        [rows_of[name]["estimate"] for name in ("accuracy", "precision", "recall", "f1")],
        [share, both / said, both / real, 2 * both / (said + real)],
    )
    z = np.bincount(psu, weight * ((truth == predicted) - share)).reshape(-1, 4) / weight.sum()
    error = np.sqrt((4 / 3 * ((z - z.mean(1, keepdims=True)) ** 2).sum(1)).sum())
    near(rows_of["accuracy"]["standard_error"], error, 0.02)


def allocation(folder, rows, report):
    """Whole numbers of labels are those of a greedy heap, which is optimal."""
    rng = np.random.default_rng(3)
    stratum = np.sort(rng.choice(12, rows, p=np.arange(1, 13) / 78))
    value = rng.lognormal(12 - stratum, 1).round(3)
    write(
        folder / "records.csv",
        item=np.arange(rows),
        segment=[f"s{k:02}" for k in stratum],
        amount=value,
    )
    found = report(
        "voila-vs-neyman",
        "--strata",
        "records.csv",
        "--stratum",
        "segment",
        "--value",
        "amount",
        "--id",
        "item",
        "--budget",
        500,
        "-o",
        "allocation.html",
        "--json",
        "allocation.json",
    )
    size = np.bincount(stratum)
    sd = np.array([value[stratum == k].std(ddof=1) for k in range(12)])
    n = np.full(12, 2)
    gains = [(-((size[k] * sd[k]) ** 2) / 6, k) for k in range(12)]
    heapq.heapify(gains)
    for _ in range(500 - n.sum()):
        k = heapq.heappop(gains)[1]
        n[k] += 1
        if n[k] < size[k]:
            heapq.heappush(gains, (-((size[k] * sd[k]) ** 2) / (n[k] * (n[k] + 1)), k))
    table = result(found, "plan")["rows"]
    near(
        [[row["size"], row["sd"], row["labeled"]] for row in table],
        np.column_stack([size, sd, n]),
        1e-8,
    )


def shares(folder, rows, report):
    """Corrected shares solve the two equations of the audit's rates, by period."""
    rng = np.random.default_rng(4)
    truth = rng.random(rows // 10) < 0.12
    predicted = np.where(rng.random(truth.size) < np.where(truth, 0.85, 0.96), truth, ~truth)
    write(folder / "audited.csv", truth=truth.astype(int), prediction=predicted.astype(int))
    counted = rng.binomial(rows, 0.05 + 0.85 * np.linspace(0.1, 0.2, 12))
    write(
        folder / "months.csv",
        period=[f"2026-{m:02}" for m in range(1, 13)],
        n=[rows] * 12,
        counted=counted,
    )
    found = report(
        "misclassification-correction",
        "--audit",
        "audited.csv",
        "--counts",
        "months.csv",
        "--audit-period",
        "2026-01",
        "--classes",
        "0,1",
        "--method",
        "misclassification",
        "-o",
        "shares.html",
        "--json",
        "shares.json",
    )
    rates = np.array([[np.mean(predicted[truth == t] == p) for t in (0, 1)] for p in (0, 1)])
    share = np.linalg.solve(rates, np.array([rows - counted, counted]) / rows)[1]
    table = result(found, "series")["rows"]
    near(
        [[row["counted"], row["estimate"]] for row in table],
        np.column_stack([counted / rows, share]),
    )


def folds(folder, rows, report):
    """The t of ten folds, naive and with Nadeau and Bengio's correction."""
    rng = np.random.default_rng(5)
    hard, fold = rng.random(rows), np.arange(rows) % 10
    old, new = (hard + rng.normal(0, 0.1, rows) > cut for cut in (0.8, 0.805))
    write(
        folder / "losses.csv",
        item=np.arange(rows),
        fold=fold,
        old=old.astype(int),
        new=new.astype(int),
    )
    found = report(
        "cross-validation-t-tests",
        "--losses",
        "losses.csv",
        "--models",
        "old,new",
        "--better",
        "lower",
        "-o",
        "folds.html",
        "--json",
        "folds.json",
    )
    difference = np.array([np.mean(old[fold == k]) - np.mean(new[fold == k]) for k in range(10)])
    naive = difference.mean() / np.sqrt(difference.var(ddof=1) / 10)
    corrected = naive * np.sqrt(0.1 / (0.1 + 1 / 9))
    rows_of = {row["test"]: row for row in result(found, "tests")["rows"]}
    near(
        [
            rows_of[f"K-fold t, {name}"][key]
            for name in ("naive", "Nadeau-Bengio")
            for key in ("statistic", "pvalue")
        ],
        [value for t in (naive, corrected) for value in (t, 2 * stats.t.sf(abs(t), 9))],
    )


TOPICS = {
    "stratified-accuracy": accuracy,
    "brr-orthogonal-arrays": clusters,
    "voila-vs-neyman": allocation,
    "misclassification-correction": shares,
    "cross-validation-t-tests": folds,
}
LARGEST = {"brr-orthogonal-arrays": 50_000}


def _run(folder, *words):
    start, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "workbench", "report", *map(str, words), "--quiet"],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(
        f"{words[0]:<30} {time.perf_counter() - start:5.1f} s, {cpu:5.1f} s of processor time",
        flush=True,
    )
    return json.loads((folder / words[-1]).read_text(encoding="utf-8"))


def main(rows=200_000):
    """Compare all topics, and print their times."""
    with tempfile.TemporaryDirectory() as folder:
        for topic, compare in TOPICS.items():
            compare(
                Path(folder),
                min(rows, LARGEST.get(topic, rows)),
                lambda *words: _run(Path(folder), *words),
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
