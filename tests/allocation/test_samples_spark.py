"""The same on PySpark, where it and Java are installed; Dask runs everywhere (test_frame_partitions)."""

import functools
import os
import shutil
import sys

import numpy as np
import polars as pl
import pytest

import workbench as wb
from workbench.allocation.streams.sampler import StreamSampler

pytestmark = [
    pytest.mark.java,
    pytest.mark.skipif(shutil.which("java") is None, reason="PySpark needs Java 17"),
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning", "ignore:PySpark does not yet fully support:FutureWarning"
    ),
]
pyspark = pytest.importorskip("pyspark", reason="pip install '.[spark]'")
ROWS, BUDGET = 8000, 400
RNG = np.random.default_rng(3)
TABLE = {
    "stratum": [["a", "b'\\", "é"][k] for k in RNG.choice(3, ROWS, p=[0.7, 0.29, 0.01])],
    "value": (1e6 + RNG.normal(size=ROWS)).tolist(),
    "id": RNG.permutation(10**12 + np.arange(ROWS)).tolist(),
    "text": [f"é{k}" for k in range(ROWS)],
    "score": RNG.random(ROWS).tolist(),
    "ok": (RNG.random(ROWS) < 0.9).tolist(),
}


@pytest.fixture(scope="module")
def frame():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    rows = list(zip(*TABLE.values(), strict=True))
    yield spark.createDataFrame(rows, list(TABLE)).repartition(3)
    spark.stop()


@pytest.fixture(scope="module")
def local():
    return pl.DataFrame(TABLE)


@pytest.mark.parametrize(
    ("by", "value", "edges"),
    [
        ("stratum", "value", None),
        ("stratum", "ok", None),
        ("ok", "value", None),
        ("score", "ok", [0, 0.2, 0.9, 1]),
    ],
)
def test_summaries_are_those_of_polars(frame, local, by, value, edges):
    found, expected = (
        wb.summarize(frame, by, value, edges=edges),
        wb.summarize(local, by, value, edges=edges),
    )
    assert (
        found.stratum.tolist() == expected.stratum.tolist()
        and found.size.tolist() == expected.size.tolist()
    )
    assert found.mean == pytest.approx(expected.mean, rel=1e-12) and found.sd == pytest.approx(
        expected.sd, rel=1e-8
    )


@pytest.mark.parametrize("id", ["id", "text"])
@pytest.mark.parametrize(
    ("by", "sizes", "edges"),
    [
        ("stratum", {"a": 50, "é": 7}, None),
        ("ok", {0: 3, 1: 30}, None),
        ("score", {0: 5, 2: 9}, [0, 0.2, 0.9, 1]),
    ],
)
def test_the_same_rows_as_polars(frame, local, id, by, sizes, edges):
    drawn, expected = (
        wb.sample(f, by, sizes, id=id, columns=["value"], edges=edges, seed=4)
        for f in (frame, local)
    )
    assert drawn.rows() == expected.rows()


def test_missing_cells_are_errors(frame):
    holes = frame.selectExpr(
        "nullif(stratum, 'a') AS stratum",
        "ok",
        "nullif(value, value) AS value",
        "nullif(text, 'é7') AS text",
    )
    missing = TABLE["stratum"].count("a")
    with pytest.raises(
        ValueError, match=f"must hold a stratum in every row; it holds none in {missing} of 8000$"
    ):
        wb.summarize(holes, "stratum", "ok")
    with pytest.raises(
        ValueError, match="'value' of the data frame must have no missing cells; it has 8000"
    ):
        wb.summarize(holes, "ok", "value")
    with pytest.raises(
        ValueError, match="'text' of the data frame must have no missing cells; it has 1, "
    ):
        wb.sample(holes, "ok", {1: 1}, id="text")


def test_one_sampler_per_partition_merged(frame, local):
    def sampled(number, rows):
        stratum, value, id = zip(*rows, strict=True)
        yield StreamSampler(BUDGET, rng=number).update(stratum, value, id)

    parts = frame.select("stratum", "value", "id").rdd.mapPartitionsWithIndex(sampled).collect()
    merged = functools.reduce(StreamSampler.merge, parts)
    found = wb.summarize(local, "stratum", "value")
    labeled = [merged.sizes()[stratum] for stratum in found.stratum.tolist()]
    best = wb.allocate(found.size, BUDGET, stratum_sd=found.sd)
    assert len(parts) == 3 and sum(labeled) == BUDGET
    assert wb.allocation_variance(found.size, found.sd, labeled) < 1.05 * best.variance
