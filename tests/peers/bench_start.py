"""What it costs to start: the import, the help of the command line, and a report on 700,000 rows.

Processor seconds of whole process trees, and the largest process: python tests/peers/bench_start.py
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

ROWS, RUNS = 700_000, 10
ROOT = Path(__file__).parents[2]
REPORT = (
    "-m",
    "workbench",
    "report",
    "stratified-accuracy",
    "--score",
    "p",
    "--prediction",
    "prediction",
    "--id",
    "id",
    "--score-is",
    "class1",
    "--budget",
    "300",
    "--quiet",
    "--scores",
)


def write_files(folder):
    """Return a CSV and a Parquet file of the same rows."""
    import duckdb

    p = np.random.default_rng(1).beta(2, 2, ROWS).round(9).tolist()
    table, packed = Path(folder, "items.csv"), Path(folder, "items.parquet")
    table.write_text(
        "id,p,prediction\n" + "".join(f"r{i:07d},{x!r},{int(x >= 0.5)}\n" for i, x in enumerate(p))
    )
    duckdb.sql(f"COPY (FROM '{table}') TO '{packed}'")
    return table, packed


def run(folder, *words):
    """Return processor seconds of the processes, wall seconds, and MB of the largest process where Linux tells it."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    largest = 0
    while process.poll() is None:
        largest = max(largest, *peaks(process.pid)) if words[1] == "workbench" else 0
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, time.monotonic() - start, largest


def peaks(process):
    """Yield 0 and the most memory so far of a process and of those that it started, in MB."""
    yield 0
    try:
        for each in (psutil.Process(process), *psutil.Process(process).children(recursive=True)):
            status = Path(f"/proc/{each.pid}/status")
            lines = status.read_text().splitlines() if status.exists() else []
            yield from (int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
    except (psutil.NoSuchProcess, OSError):  # it has ended meanwhile
        return


def main():
    """Print the four costs."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = [
            [run(folder, "-c", f"import {name}")[0] for name in ("numpy", "workbench")]
            for _ in range(RUNS)
        ]
        bare, ours = map(statistics.median, zip(*pairs, strict=True))
        print(
            f"import workbench: {ours / bare:.2f} times import numpy ({ours:.3f} s, {bare:.3f} s)"
        )
        helps = [run(folder, "-m", "workbench", "--help") for _ in range(RUNS)]
        print(
            f"workbench --help: {statistics.median(wall for _, wall, _ in helps):.2f} s, processor "
            f"{statistics.median(seconds for seconds, _, _ in helps):.2f} s"
        )
        for file in write_files(folder):
            seconds, wall, largest = run(folder, *REPORT, file.name)
            print(
                f"report on {file.name}, {ROWS:,} rows: processor {seconds:.1f} s, {wall:.1f} s, {largest} MB"
            )


if __name__ == "__main__":
    main()
