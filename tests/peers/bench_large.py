"""Files at the size where a command is felt: processor seconds of whole process trees, and the largest process.

    python tests/peers/bench_large.py              # all; or some of: audit accuracy periods losses models

On an idle machine; ends with exit code 1 where a limit is passed.
"""

import sys
import tempfile
from pathlib import Path

import duckdb
from bench_start import run

SEED = 1
LIMITS = {
    "audit new": (12, 700),
    "audit next": (1.5, 0),
    "audit status": (1.5, 0),
    "audit export": (1.5, 0),
    "audit report": (1.5, 0),
    "audit verify": (1.5, 0),
    "accuracy": (20, 900),
    "periods": (8, 0),
    "losses": (10, 1000),
    "models": (10, 1000),
}
over = []


def report(folder, what, *words):
    """Run a command and print what it costs beside its limits."""
    seconds, wall, largest = run(folder, "-m", "workbench", *words)
    most, memory = LIMITS[what]
    if seconds > most or 0 < memory < largest:
        over.append(what)
    print(
        f"{what}: processor {seconds:.1f} s (at most {most:g}), {wall:.1f} s, {largest} MB"
        f"{f' (at most {memory})' if memory else ''}{' TOO MUCH' if what in over else ''}",
        flush=True,
    )


def written(folder, name, query):
    """Write the rows of a query as Parquet or CSV and return the name."""
    duckdb.execute(f"SELECT setseed({SEED / 10})")
    duckdb.execute(f"COPY ({query}) TO '{Path(folder, name)}'")
    return name


def items(folder):
    """Return the name of 5 million scored items."""
    return written(
        folder,
        "items.parquet",
        "SELECT 'r' || lpad(range::VARCHAR, 8, '0') AS id, .5 + random() / 2 AS p, "
        "(random() < .3)::INT AS prediction FROM range(5000000)",
    )


def audit(folder):
    """An audit of 5 million rows, from the plan to the report."""
    report(
        folder,
        "audit new",
        "audit",
        "new",
        items(folder),
        "a.db",
        "--budget",
        "300",
        "--score",
        "p",
        "--prediction",
        "prediction",
        "--id",
        "id",
        "--score-is",
        "confidence",
    )
    for what, *more in (
        ("audit next",),
        ("audit status",),
        ("audit export", "s.csv"),
        ("audit verify",),
        ("audit report", "-o", "a.html"),
    ):
        report(folder, what, *what.split(), "a.db", *more)


def accuracy(folder):
    """A plan for 5 million rows."""
    report(
        folder,
        "accuracy",
        "report",
        "stratified-accuracy",
        "--scores",
        items(folder),
        "--score",
        "p",
        "--prediction",
        "prediction",
        "--id",
        "id",
        "--score-is",
        "confidence",
        "--budget",
        "300",
        "--quiet",
    )


def periods(folder):
    """2,000 periods of two classes."""
    written(
        folder,
        "audit.csv",
        "SELECT (range % 5 = 0)::INT AS truth, (range % 5 = 0)::INT ^ (range % 11 = 0)::INT "
        "AS prediction FROM range(600)",
    )
    written(
        folder,
        "months.csv",
        "SELECT (DATE '2019-01-01' + range::INT)::VARCHAR AS period, 10000 AS n, "
        "(2000 + 500 * random())::INT AS counted FROM range(2000)",
    )
    report(
        folder,
        "periods",
        "report",
        "misclassification-correction",
        "--audit",
        "audit.csv",
        "--counts",
        "months.csv",
        "--quiet",
        "-o",
        "series.html",
    )
    print(f"  page {Path(folder, 'series.html').stat().st_size / 1e6:.2f} MB (at most 1)")


def losses(folder):
    """A million losses of ten models in ten folds."""
    models = ", ".join(f"(random() < {0.1 + 0.01 * k})::INT AS m{k}" for k in range(10))
    written(folder, "losses.parquet", f"SELECT range % 10 AS fold, {models} FROM range(1000000)")
    report(
        folder,
        "losses",
        "report",
        "cross-validation-t-tests",
        "--losses",
        "losses.parquet",
        "--quiet",
    )


def models(folder):
    """A thousand models by their means in ten folds."""
    columns = ", ".join(f".1 + random() / {20 + k % 7} AS m{k}" for k in range(1000))
    written(folder, "means.csv", f"SELECT range AS fold, {columns} FROM range(10)")
    report(
        folder,
        "models",
        "report",
        "cross-validation-t-tests",
        "--losses",
        "means.csv",
        "--better",
        "lower",
        "--quiet",
    )


if __name__ == "__main__":
    for each in sys.argv[1:] or ("audit", "accuracy", "periods", "losses", "models"):
        with tempfile.TemporaryDirectory() as place:
            globals()[each](place)
    sys.exit(bool(over))
