"""A whole audit through the command line alone: plan, two sheets filled by a script, finding, report, verification.

    python tests/peers/audit_whole.py                       # 700,000 rows
    python tests/peers/audit_whole.py --rows 20000

Prints the time of every command, each in a process of its own as a user has it. The estimate and the interval must be
those of the library on the same labels, computed here from the scores and the documented order. Ends with exit code 1
where they are not, or where a command takes longer than it may: 10 s for new and verify, 2 s for the others.
"""

import argparse
import csv
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import workbench as wb

ROOT = Path(__file__).parents[2]
SEED, BUDGET, N_STRATA = 7, 300, 5
SLOW, LIMITS = ("new", "verify"), (2.0, 10.0)


def write_scores(path, rows):
    """Write scores with known truth; return the items and whether each prediction is right."""
    rng = np.random.default_rng(SEED)
    score, classes = rng.uniform(0.5, 1, rows), rng.choice(["ham", "spam"], rows)
    right = rng.random(rows) < score**0.2
    ids = np.array([f"m{k:07d}" for k in range(rows)], object)
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["item", "p", "yhat", "text"])
        out.writerows(
            zip(
                ids,
                map(repr, score.tolist()),
                classes,
                (f"text {k}, =1+{k}" for k in range(rows)),
                strict=True,
            )
        )
    return wb.ScoredItems(ids, score, prediction=classes), dict(
        zip(ids.tolist(), right.tolist(), strict=True)
    )


def command(folder, *words):
    """Run a command of `workbench audit` in a process of its own; return what it said and its seconds."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "audit", *map(str, words)],
        cwd=folder,
        text=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{words[0]}: {done.stderr}")
    return done.stdout, time.perf_counter() - start


def fill(source, target, right):
    """Fill a sheet with the truth, as one who labels would; return how many cells."""
    with open(source, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    for row in rows[1:]:
        row[-1] = str(int(right[row[0]]))
    if target.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row[:-1] + [int(row[-1]) if row[-1].isdecimal() else row[-1]])
        book.save(target)
    else:
        with open(target, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    return len(rows) - 1


def expected(items, right):
    """Return estimate and interval of the library on the labels that the documented order asks for."""
    strata = wb.stratify(items.score, N_STRATA, "equal_size", rng=SEED)
    key = np.array(
        [int(hashlib.md5(f"{SEED}:{name}".encode()).hexdigest()[:15], 16) for name in items.id]
    )
    labeled = np.bincount(wb.labeling_order(strata.sizes, BUDGET), minlength=strata.n_strata)
    correct = []
    for h, n in enumerate(labeled):
        members = np.flatnonzero(strata.labels == h)
        first = members[np.argsort(key[members])[:n]]
        correct.append(sum(right[items.id[k]] for k in first))
    found = wb.stratified_accuracy(strata.sizes, labeled, correct)
    return found.estimate, tuple(found.interval(0.96))


def whole(folder, rows, second=".csv"):
    """Carry out an audit; return {command: seconds} and what was said of estimate and interval, and should be."""
    items, right = write_scores(folder / "scores.csv", rows)
    times = {}

    def run(*words):
        said, times[words[0]] = command(folder, *words)
        return said

    run(
        "new",
        "scores.csv",
        "audit.db",
        "--budget",
        BUDGET,
        "--score",
        "p",
        "--prediction",
        "yhat",
        "--id",
        "item",
        "--columns",
        "text",
        "--seed",
        SEED,
        "--strata",
        N_STRATA,
    )
    for part, ending in enumerate((".csv", second)):
        run("export", "audit.db", f"sheet{part}.csv", "-n", BUDGET // 2, "--by", "ann")
        fill(folder / f"sheet{part}.csv", folder / f"filled{part}{ending}", right)
        run("import", "audit.db", f"filled{part}{ending}", "--by", "ann")
    run("next", "audit.db")
    said = run("status", "audit.db")
    run("report", "audit.db", "-o", "audit.html")
    run("verify", "audit.db", "--scores", "scores.csv")
    numbers = [float(each) for each in re.findall(r"([\d.]+)%", said)]
    return times, [numbers[0], *numbers[2:4]], expected(items, right)


def main():
    """Carry out the audit, and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=700_000)
    parser.add_argument("--xlsx", action="store_true", help="the second sheet comes back as .xlsx")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times, said, (estimate, limits) = whole(
            Path(folder), given.rows, ".xlsx" if given.xlsx else ".csv"
        )
    late = [
        f"{name} took {seconds:.1f} s"
        for name, seconds in times.items()
        if seconds > LIMITS[name in SLOW]
    ]
    print(", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items()))
    print(
        f"said {said}, the library {100 * estimate:.2f} {100 * limits[0]:.2f} {100 * limits[1]:.2f}"
    )
    if np.abs(np.array(said) - 100 * np.array([estimate, *limits])).max() > 0.051:
        raise SystemExit("the audit does not say what the library says")
    return print(*late, sep="\n") or 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
