"""Time summaries and samples per stratum on every engine, and their memory on a file of 100 million rows.

    python tests/peers/bench_frames.py                      # both tables, three to six minutes, 4 GB of disk free
    python tests/peers/bench_frames.py --rows 10_000_000    # a smaller file
    python tests/peers/bench_frames.py --skip-file --spark  # engines only, PySpark among them (needs Java 17)

The first table times 5 million rows of 177 strata on each engine, wall clock, two calls of which the second counts.
The second makes a Parquet file in the temporary folder, runs the whole evaluation on it in a fresh process
(scores cut into strata, summary, allocation, sample, accuracy), and deletes it. The peak is the memory the
operating system gave that process, Python and its libraries included: VmHWM of Linux, since ru_maxrss of a new
process starts at its parent's. Nothing is asserted.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import duckdb
import numpy as np

import workbench as wb

ROWS, STRATA, BUDGET = 5_000_000, 177, 100_000
TARGET_SECONDS, TARGET_BYTES = 5.0, 2 * 1024**3
BYTES_PER_ROW = 20
MAKE = """COPY (SELECT range AS id, CAST(hash(range) % 177 AS SMALLINT) AS stratum,
                       random() AS score, random() < 0.6 + 0.4 * (hash(range) % 177) / 177 AS correct
                FROM range({})) TO '{}'"""
EVALUATION = r"""
import json, re, sys, time
from pathlib import Path
import numpy as np
import workbench as wb

path, limit = sys.argv[1], sys.argv[2]
if limit == "none":
    frame = path
else:
    import duckdb
    connection = duckdb.connect(config={"memory_limit": limit})
    frame = connection.read_parquet(path)
seconds = {}

def timed(name, function, *args, **options):
    began = time.perf_counter()
    result = function(*args, **options)
    seconds[name] = time.perf_counter() - began
    return result

pilot = timed("draw scores", wb.sample, frame, "score", {0: 100_000}, id="id", columns=["score"], edges=[0, 1])
edges = wb.stratify(pilot.columns["score"], 10).edges
found = timed("summarize", wb.summarize, frame, "score", "correct", edges=edges)
plan = wb.allocate(found.size, 5_000, stratum_sd=found.sd)
drawn = timed("sample", wb.sample, frame, "score", plan, id="id", columns=["correct"], edges=edges, seed=1)
correct = np.bincount(drawn.stratum_index, drawn.columns["correct"], drawn.size.size).astype(int)
accuracy = wb.stratified_accuracy(found.size, plan.labeled, correct)
by_column = timed("177 strata", wb.sample, frame, "stratum", dict.fromkeys(range(177), 500), id="id")
true = float(found.size @ found.mean / found.size.sum())
peak = 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
print(json.dumps({"seconds": seconds, "peak": peak,
                  "found": accuracy.headline(), "true": true, "drawn": int(by_column.id.size)}))
"""


def engines(path, with_spark):
    """Yield (name, frame) for every engine that is installed; frames in memory are loaded before the clock runs."""
    yield "Parquet path", path
    yield "DuckDB relation", duckdb.read_parquet(path)
    arrow = duckdb.read_parquet(path).to_arrow_table()
    yield "pyarrow", arrow
    yield "pandas", arrow.to_pandas()
    import polars as pl

    yield "polars", pl.from_arrow(arrow)
    yield "polars lazy", pl.scan_parquet(path)
    import dask.dataframe as dd

    yield "Dask", dd.read_parquet(path, split_row_groups=10)
    if with_spark:
        from pyspark.sql import SparkSession

        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .getOrCreate()
        )
        yield "PySpark local[2]", spark.read.parquet(path)


def second_call(function):
    """Return the wall-clock seconds of a second call and its result."""
    function()
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def compare_engines(folder, with_spark):
    """Print seconds per engine, and whether each drew the same ids as the first."""
    path = os.path.join(folder, "rows.parquet")
    duckdb.sql(MAKE.format(ROWS, path))
    print(
        f"\n{ROWS:,} rows, {STRATA} strata, {BUDGET:,} drawn; target {TARGET_SECONDS:g} s on DuckDB"
    )
    print(f"{'engine':<18}{'summarize':>10}{'sample':>10}  same ids")
    first = None
    for name, frame in engines(path, with_spark):
        summary_seconds, found = second_call(
            lambda frame=frame: wb.summarize(frame, "stratum", "correct")
        )
        plan = wb.allocate(found.size, BUDGET, stratum_sd=found.sd)
        seconds, drawn = second_call(
            lambda frame=frame, plan=plan: wb.sample(frame, "stratum", plan, id="id")
        )
        first = drawn.id if first is None else first
        print(
            f"{name:<18}{summary_seconds:>10.2f}{seconds:>10.2f}  {np.array_equal(drawn.id, first)}",
            flush=True,
        )


def measure_file(folder, rows):
    """Print seconds and peak memory of an evaluation of a large file, unlimited and with a limit for DuckDB."""
    free = shutil.disk_usage(folder).free
    if free < 2 * BYTES_PER_ROW * rows:
        print(
            f"\nskipped: {rows:,} rows need {2 * BYTES_PER_ROW * rows:,} bytes of disk, {free:,} are free"
        )
        return
    path = os.path.join(folder, "large.parquet")
    duckdb.sql(MAKE.format(rows, path))
    print(
        f"\n{rows:,} rows, {os.path.getsize(path) / 2**30:.2f} GiB of Parquet; target {TARGET_BYTES / 2**30:g} GiB"
    )
    for limit in ("none", "500MB"):
        result = subprocess.run(
            [sys.executable, "-c", EVALUATION, path, limit],
            capture_output=True,
            text=True,
            check=True,
        )
        told = json.loads(result.stdout.splitlines()[-1])
        seconds = ", ".join(f"{name} {value:.1f} s" for name, value in told["seconds"].items())
        print(f"limit {limit}: peak {told['peak'] / 2**30:.2f} GiB; {seconds}")
        print(f"  {told['found']} (true {told['true']:.4f})")
    os.remove(path)


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--skip-file", action="store_true")
    parser.add_argument("--skip-engines", action="store_true")
    parser.add_argument("--spark", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.skip_engines:
            compare_engines(folder, options.spark)
        if not options.skip_file:
            measure_file(folder, options.rows)


if __name__ == "__main__":
    main()
