"""`sample_stream` on Dask and Spark against DuckDB on one machine: the same rows in every layout, and what it costs.

    python tests/peers/engines.py                   # 3 million rows, Dask and Spark
    python tests/peers/engines.py 200000 dask       # fewer, and one engine

Layouts of the same records: partitions of one size; skewed and empty ones, sorted by stratum; a single one. With two
passes rows and estimate must be those of DuckDB; with one pass the budget must be kept, and with up to 300,000 records
.93 of the 95% intervals of `RUNS` seeds must hold the mean, but for Monte Carlo error. Times are of one run: a pass
against a bare pass of the same engine. Ends with exit code 1 and says what differs.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

import workbench as wb

ROWS, BUDGET, RUNS = 3_000_000, 2_000, 60
NAMES = {"by": "g", "value": "y", "id": "id"}
QUERY = """SELECT 's' || least(floor(-ln(random()) * 2), 7)::INT AS g, range * 7 % 3000017 AS id,
           (hash(range) % 1000003) / 1000003.0 AS u FROM range({rows})"""


def written(folder, rows):
    """Write each layout as a folder of Parquet files and return {layout: files}."""
    duckdb.execute("SELECT setseed(.4)")
    duckdb.execute(
        f"CREATE TABLE records AS SELECT g, id, right(g, 1)::INT * 10 + (u - .5) * (1 + right(g, 1)::INT) "
        f"AS y, row_number() OVER () AS place FROM ({QUERY.format(rows=rows)})"
    )
    cuts = {
        "even": [rows * k // 12 for k in range(13)],
        "one": [0, rows],
        "skewed": [0, 0, 3, 3, rows // 50, rows // 25, rows // 25, rows * 9 // 10, rows],
    }
    found = {}
    for layout, bounds in cuts.items():
        order = "g, place" if layout == "skewed" else "place"
        found[layout] = []
        for k, (start, end) in enumerate(zip(bounds, bounds[1:], strict=False)):
            path = Path(folder, layout, f"part-{k:02d}.parquet")
            path.parent.mkdir(exist_ok=True)
            ranked = f"SELECT *, row_number() OVER (ORDER BY {order}) AS r FROM records"
            duckdb.execute(
                f"COPY (SELECT g, id, y FROM ({ranked}) WHERE r > {start} AND r <= {end}) TO '{path}'"
            )
            found[layout].append(str(path))
    return found


def on_dask(files):
    """A partition per file."""
    from dask import dataframe

    return dataframe.from_map(_read, files, meta=_read(files[0]).iloc[:0])


def _read(file):
    import pandas as pd

    return pd.read_parquet(file)


def on_spark(files):
    """Files as Spark splits them, with one partition that is empty."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    frame = spark.read.parquet(*files)
    return frame.union(frame.limit(0)) if len(files) > 1 else frame.coalesce(1)


def bare_dask(frame):
    """Read every partition and hand it to Python once."""
    return (
        frame["y"]
        .map_partitions(lambda part: part.astype(float).sum(), meta=("y", float))
        .compute()
        .sum()
    )


def bare_spark(frame):
    """Hand every row to Python and back once."""
    kind = ", ".join(f"{name} {of}" for name, of in frame.dtypes)
    return frame.mapInArrow(lambda batches: batches, kind).groupBy().sum("y").collect()


def kept(found):
    """The rows of a sample in an order of their own."""
    return sorted(
        (row["stratum"], row["id"], round(row["value"], 9)) for row in found.sample_rows()
    )


def timed(function, *arguments, **more):
    """Return a result and its wall seconds."""
    start = time.perf_counter()
    return function(*arguments, **more), time.perf_counter() - start


def coverage(frames):
    """Return the share of seeds whose interval of one pass holds the mean, for each layout, on DuckDB's batches."""
    return {
        layout: np.mean(
            [holds(wb.sample_stream(files, BUDGET, seed=seed, **NAMES)) for seed in range(RUNS)]
        )
        for layout, files in frames.items()
    }


def holds(found):
    """Whether the interval of a sample holds the mean of the records."""
    low, high = found.interval()
    return low <= found.stream_mean <= high


def problems(rows, engines):
    """Yield what differs, and print what each engine takes."""
    with tempfile.TemporaryDirectory() as folder:
        layouts = written(folder, rows)
        expected = wb.sample_stream(layouts["one"][0], BUDGET, passes=2, **NAMES)
        for engine in engines:
            frame_of, bare = {"dask": (on_dask, bare_dask), "spark": (on_spark, bare_spark)}[engine]
            for layout, files in layouts.items():
                frame = frame_of(files)
                bare(frame)  # the engine is warm
                base = timed(bare, frame)[1]
                once, one = timed(wb.sample_stream, frame, BUDGET, **NAMES)
                twice, two = timed(wb.sample_stream, frame, BUDGET, passes=2, **NAMES)
                print(
                    f"{engine}, {layout}: bare {base:.1f} s, one pass {one:.1f} s ({one / base:.1f} times), two "
                    f"{two:.1f} s; {len(kept(once))} and {len(kept(twice))} of {BUDGET} records",
                    flush=True,
                )
                if (
                    kept(twice) != kept(expected)
                    or abs(twice.estimate / expected.estimate - 1) > 1e-9
                ):
                    yield f"{engine}, {layout}: other rows or another estimate than DuckDB's"
                if len(kept(once)) > BUDGET or sum(once.size) != rows:
                    yield f"{engine}, {layout}: one pass keeps {len(kept(once))} of {sum(once.size)} records"
        for layout, share in coverage(layouts).items() if rows <= ROWS // 10 else ():
            print(f"coverage of one pass, {layout}: {share:.3f} of {RUNS} seeds", flush=True)
            if share < 0.93 - 2 * (0.95 * 0.05 / RUNS) ** 0.5:
                yield f"{layout}: intervals of one pass cover {share:.3f}"


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    told = [*problems(int((sys.argv[1:] or [ROWS])[0]), sys.argv[2:] or ["dask", "spark"])]
    print("\n".join(told) or "the same rows on every engine")
    sys.exit(bool(told))
