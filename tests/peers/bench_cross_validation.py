"""Time simulated cross-validation against scikit-learn's `cross_val_score`, and tests of large files.

    python tests/peers/bench_cross_validation.py            # under two minutes
    python tests/peers/bench_cross_validation.py --rates    # also rho from half samples on two trees, ten minutes
    python tests/peers/bench_cross_validation.py --letter   # also Table 2 on the Letter data (fetched once), minutes
    python tests/peers/bench_cross_validation.py --letter letter.csv   # the same from a file, class in the first column

Processor time with one thread in one run; `cross_val_score` is timed on some of the samples and scaled up. Every
figure stands beside its target; nothing is asserted.
"""

import argparse
import csv
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}

import numpy as np
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import workbench as wb
from workbench.cross_validation.learners import Population

RUNS, PEER_RUNS, TREE_RUNS = 10_000, 60, 2000
OPENML = "openml"
PAPER = {
    20: (52.45, 16.4, 3.1),
    40: (43.43, 12.8, 1.5),
    80: (42.16, 12.4, 1.3),
    160: (34.04, 9.9, 1.0),
    400: (28.23, 8.8, 0.7),
    800: (25.69, 8.1, 0.7),
    2000: (22.68, 7.8, 0.5),
}


def seconds(function, repeats=1):
    """Return the least processor time of some calls, and what the last returned."""
    took = []
    for _ in range(repeats):
        began = time.process_time()
        found = function()
        took.append(time.process_time() - began)
    return min(took), found


def peer(estimator, population, n, runs):
    """Cross-validate samples one by one as a user of scikit-learn would."""
    rng, X, y = np.random.default_rng(0), population.X, population.y
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # blank pixels have no variance, which NearestCentroid tells each time
        for _ in range(runs):
            rows = rng.integers(len(y), size=n)
            cross_val_score(estimator, X[rows], y[rows], cv=KFold(10))


def bench_learners():
    """Time 10,000 samples of 10 folds with both numpy learners."""
    print(f"\n(a) {RUNS:,} samples x 10 folds of the digits")
    digits = Population.of("digits")
    for learner, estimator in (
        ("1nn", KNeighborsClassifier(1, algorithm="brute")),
        ("centroid", NearestCentroid()),
    ):
        wb.simulate_type_one(digits, learner, 20, runs=100)
        for n in (20, 40, 80):
            ours, study = seconds(
                lambda n=n, name=learner: wb.simulate_type_one(digits, name, n, runs=RUNS), 3
            )
            theirs = (
                seconds(lambda n=n, model=estimator: peer(model, digits, n, PEER_RUNS))[0]
                * RUNS
                / PEER_RUNS
            )
            print(
                f"  {learner:9} n {n:3}: {ours:6.3f} s, {ours / RUNS * 1e5:6.2f} us a fold; cross_val_score "
                f"{theirs:6.1f} s = {theirs / ours:5.0f}x   rho {study.rho:.3f}"
            )
    print("  wanted: at most 0.5 s at n = 20 to 40, cross_val_score at least 400x there")


def bench_tree(jobs):
    """Time 2,000 samples of a tree on 20,000 rows of 16 features."""
    print(
        f"\n(b) {TREE_RUNS:,} samples x 10 folds, n 20, a tree on 20,000 x 16, {jobs} processes (wall clock)"
    )
    population = wb.gaussian_population(20_000, features=8)
    began = time.perf_counter()
    print(
        f"  {wb.simulate_type_one(population, DecisionTreeClassifier(), 20, runs=TREE_RUNS, jobs=jobs)}"
    )
    print(f"  {time.perf_counter() - began:.1f} s; wanted: at most 60 s")


def bench_file():
    """Time reading and testing a file of a million losses."""
    n = 1_000_000
    rng = np.random.default_rng(0)
    columns = np.stack([np.arange(n), np.arange(n) % 10, rng.random(n), rng.random(n)], 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "losses.csv"
        np.savetxt(
            path,
            columns,
            delimiter=",",
            header="item,fold,a,b",
            comments="",
            fmt=["%d", "%d", "%.6f", "%.6f"],
        )
        read, cv = seconds(lambda: wb.CVLosses.read_csv(path))
    tested = seconds(lambda: (wb.kfold_t_test(cv), wb.variance_estimates(cv)))[0]
    print(
        f"\n(c) a file of {n:,} rows: read {read:.2f} s, tested {tested:.2f} s; wanted: together under 5 s"
    )


def rates():
    """Print false alarms and power of rho from half samples on two trees."""
    print("\n(d) two trees on halves of the features, n 100: false alarms, then power")
    tree, tests = (
        DecisionTreeClassifier(),
        ("naive t", "half-sample rho", "Nadeau-Bengio", "rho 0.7"),
    )
    for advantage in (0, 0.9):
        population = wb.gaussian_population(features=4, separation=1.5, advantage=advantage)
        study = wb.simulate_comparison(
            population, (tree, range(4)), (tree, range(4, 8)), 100, tests=tests, runs=900, rng=1
        )
        print(
            "  "
            + ", ".join(
                f"{row['test']} {row['rejects']:.3f} (se {row['rejects_error']:.3f})"
                for row in study.rows()
            )
            + f"; true rho {study.rho:.2f}"
        )
    print(
        "  wanted: half-sample rho at most .07 false alarms, at least 1.4 times the power of Nadeau-Bengio"
    )


def letter_file(path):
    """Return the features and whether the letter is one of N to Z."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[1:] for row in rows], float), np.array(
        [row[0] >= "N" for row in rows], int
    )


def letter(source, jobs):
    """Print rows of the paper's Table 2 beside the paper's."""
    print(f"\n(e) Letter, tree, {TREE_RUNS:,} samples: rho, type I at rho 0 and 0.7 in %; paper")
    population = Population.of(
        wb.openml_population("letter") if source == OPENML else letter_file(source)
    )
    for n, paper in PAPER.items():
        study = wb.simulate_type_one(
            population, DecisionTreeClassifier(), n, runs=TREE_RUNS, jobs=jobs
        )
        print(
            f"  n {n:4}: {100 * study.rho:5.1f} (se {100 * study.rho_error:.1f}), {100 * study.type_one():5.1f}, "
            f"{100 * study.type_one(0.7):4.1f};   {paper}"
        )


def main():
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rates", action="store_true", help="rho from half samples on two trees")
    parser.add_argument(
        "--letter",
        nargs="?",
        const=OPENML,
        help="Table 2 on the Letter data, fetched or from a file",
    )
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}")
    bench_learners()
    bench_tree(args.jobs)
    bench_file()
    if args.rates:
        rates()
    if args.letter:
        letter(args.letter, args.jobs)


if __name__ == "__main__":
    main()
