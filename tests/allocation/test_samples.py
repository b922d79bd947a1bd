import hashlib
import itertools
import json
import re
import statistics
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import workbench as wb
from workbench.allocation import samples
from workbench.checks import WrongType
from workbench.labeling.draws import random_keys

STRATA = ["a", "b'\\c", "déjà vu", "z"]
ROWS = 4000
RNG = np.random.default_rng(5)
TABLE = {
    "g": [STRATA[k] for k in RNG.choice(4, ROWS, p=[0.6, 0.3, 0.099, 0.001])],
    "number": RNG.permutation(10**15 + np.arange(ROWS)).tolist(),
    "text": [f"id {k:05d}é" for k in RNG.permutation(ROWS)],
    "score": (RNG.integers(0, 1025, ROWS) / 1024).tolist(),
    "correct": (RNG.random(ROWS) < 0.8).tolist(),
    "large": (1e8 + RNG.integers(-512, 512, ROWS) / 1024).tolist(),
}


def nullable(table):
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # pandas 2 tries to make whole numbers of infinite ones
        return pd.DataFrame(table).convert_dtypes()


def relation(table):
    return duckdb.connect().from_arrow(pa.table(table))


def dask(table, **parts):
    from dask import dataframe  # seconds, which only the worker spends that needs it

    return dataframe.from_pandas(table, **parts)


def parquet(table, folder):
    path = folder / "rows.parquet"
    pl.DataFrame(table).write_parquet(path)
    return path


def csv(table, folder):
    path = str(folder / "rows.csv")
    pd.DataFrame(table).to_csv(path, index=False, sep=";")
    return path


ENGINES = {
    "pandas": lambda table, folder: pd.DataFrame(table),
    "pandas of pyarrow": lambda table, folder: pa.table(table).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "pandas nullable": lambda table, folder: nullable(table),
    "polars": lambda table, folder: pl.DataFrame(table),
    "polars lazy": lambda table, folder: pl.LazyFrame(table),
    "polars scan": lambda table, folder: pl.scan_parquet(parquet(table, folder)),
    "pyarrow": lambda table, folder: pa.table(table),
    "DuckDB": lambda table, folder: relation(table),
    "Dask": lambda table, folder: dask(pd.DataFrame(table), npartitions=3),
    "parquet": parquet,
    "csv": csv,
}
FRAMES = [name for name in ENGINES if name != "csv"]
every_engine = pytest.mark.parametrize("engine", ENGINES)
every_frame = pytest.mark.parametrize("engine", FRAMES)


def smallest_digests(table, by, id, sizes, seed):
    """The definition, row by row: the n smallest MD5 digests of a stratum."""
    digest = {i: hashlib.md5(f"{seed}:{i}".encode()).hexdigest() for i in table[id]}
    chosen = {
        s: sorted(
            (i for i, own in zip(table[id], table[by], strict=True) if own == s), key=digest.get
        )[:n]
        for s, n in sizes.items()
    }
    return [(s, i) for s in sorted(sizes) for i in chosen[s]]


def drawn_pairs(drawn):
    return list(zip(drawn.stratum.tolist(), drawn.id.tolist(), strict=True))


NO_NUMBER = "^column 'v' of .* must hold a finite number in every row; it holds none in 1 of {}$"
NOT_FINITE = "^column 'v' of .* must be finite; stratum 'b' has a value that is not$"


def refuses(error, message):
    return pytest.raises(error, match="^" + re.escape(message) + "$")


# summaries


@every_engine
def test_summary_is_that_of_the_statistics_module(engine, tmp_path):
    found = wb.summarize(ENGINES[engine](TABLE, tmp_path), "g", "score")
    groups = [
        [v for v, g in zip(TABLE["score"], TABLE["g"], strict=True) if g == s] for s in STRATA
    ]
    assert found.stratum.tolist() == STRATA
    assert found.size.tolist() == list(map(len, groups))
    assert found.mean == pytest.approx([statistics.mean(group) for group in groups], rel=1e-13)
    assert found.sd == pytest.approx([statistics.stdev(group) for group in groups], rel=1e-12)


@every_engine
def test_a_small_spread_around_a_large_mean_is_not_lost(engine, tmp_path):
    found = wb.summarize(ENGINES[engine](TABLE, tmp_path), "g", "large")
    groups = [
        [v for v, g in zip(TABLE["large"], TABLE["g"], strict=True) if g == s] for s in STRATA
    ]
    assert found.sd == pytest.approx([statistics.stdev(group) for group in groups], rel=1e-6)


@every_engine
def test_booleans_count_as_zero_and_one(engine, tmp_path):
    found = wb.summarize(ENGINES[engine](TABLE, tmp_path), "g", "correct")
    size, right = found.size, np.round(found.size * found.mean)
    assert right.sum() == sum(TABLE["correct"])
    assert found.sd == pytest.approx(np.sqrt(right * (size - right) / size / (size - 1)), rel=1e-12)


@every_frame
def test_strata_of_whole_numbers_and_booleans(engine, tmp_path):
    table = {"k": [3, -1, 3, 20], "flag": [True, False, False, False], "v": [1.0, 2.0, 4.0, 8.0]}
    frame = ENGINES[engine](table, tmp_path)
    found = wb.summarize(frame, "k", "v")
    assert found.rows() == [
        {"stratum": -1, "size": 1, "mean": 2.0, "sd": 0.0},
        {"stratum": 3, "size": 2, "mean": 2.5, "sd": 4.5**0.5},
        {"stratum": 20, "size": 1, "mean": 8.0, "sd": 0.0},
    ]
    assert wb.summarize(frame, "flag", "v").stratum.tolist() == [0, 1]


@every_engine
def test_a_score_is_cut_as_stratify_cuts_it(engine, tmp_path):
    strata = wb.stratify(TABLE["score"], 5, "equal_width")
    frame = ENGINES[engine](TABLE, tmp_path)
    found = wb.summarize(frame, "score", "score", edges=strata.edges)
    assert (
        found.stratum.tolist() == [0, 1, 2, 3, 4] and found.size.tolist() == strata.sizes.tolist()
    )
    means = [
        statistics.mean(np.array(TABLE["score"])[strata.labels == k].tolist()) for k in range(5)
    ]
    assert found.mean == pytest.approx(means, rel=1e-13)
    drawn = wb.sample(frame, "score", dict.fromkeys(range(5), 3), id="text", edges=strata.edges)
    place = dict(zip(TABLE["text"], strata.labels.tolist(), strict=True))
    assert (
        [place[i] for i in drawn.id.tolist()]
        == drawn.stratum.tolist()
        == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3
    )


def test_what_lies_outside_the_edges_belongs_to_the_first_or_last_stratum():
    frame = pl.DataFrame({"score": [-5.0, 0.0, 1.0, 1.5, 2.0, 9.0]})
    assert wb.summarize(frame, "score", "score", edges=[0, 1, 1.75, 2]).size.tolist() == [3, 1, 2]
    assert wb.summarize(frame, "score", "score", edges=[0, 1]).size.tolist() == [6]


def test_a_summary_states_its_finding_and_survives_json():
    found = wb.summarize(pl.DataFrame(TABLE), "g", "correct")
    mean = statistics.mean(TABLE["correct"])
    assert repr(found) == f"StratumSummary(4,000 rows, 4 strata, mean {mean:.4g})"
    again = wb.Result.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.rows() == found.rows()
    single = wb.summarize(pl.DataFrame({"g": [1], "v": [2]}), "g", "v")
    assert repr(single) == "StratumSummary(1 row, 1 stratum, mean 2)"


# the drawn rows


@pytest.mark.slow
@every_engine
@pytest.mark.parametrize("seed", [0, 8])
@pytest.mark.parametrize("id", ["number", "text"])
def test_every_engine_draws_the_smallest_digests(engine, seed, id, tmp_path):
    sizes = {"a": 60, "b'\\c": 11, "z": TABLE["g"].count("z")}
    table = {**TABLE, id: list(map(str, TABLE[id]))} if engine == "csv" else TABLE
    drawn = wb.sample(ENGINES[engine](TABLE, tmp_path), "g", sizes, id=id, seed=seed)
    assert drawn_pairs(drawn) == smallest_digests(table, "g", id, sizes, seed)
    assert drawn.drawn.tolist() == [60, 11, 0, sizes["z"]] and drawn.size.sum() == ROWS


@every_engine
def test_further_columns_come_with_their_rows(engine, tmp_path):
    drawn = wb.sample(
        ENGINES[engine](TABLE, tmp_path), "g", {"a": 5}, id="text", columns=["number", "g"]
    )
    number = dict(zip(TABLE["text"], TABLE["number"], strict=True))
    assert list(map(int, drawn.columns["number"])) == [number[i] for i in drawn.id]
    assert drawn.columns["g"].tolist() == ["a"] * 5
    assert drawn.rows()[0] == {
        "stratum": "a",
        "id": drawn.id[0],
        "number": drawn.columns["number"][0],
        "g": "a",
    }


@every_engine
def test_all_rows_of_all_strata_can_be_drawn(engine, tmp_path):
    found = wb.summarize(ENGINES[engine](TABLE, tmp_path), "g", "score")
    sizes = dict(zip(found.stratum, found.size, strict=True))
    drawn = wb.sample(ENGINES[engine](TABLE, tmp_path), "g", sizes, id="text")
    assert sorted(drawn.id) == sorted(TABLE["text"])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.data(),
    st.integers(0, 2**63),
    st.sets(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40),
)
def test_any_frame_any_sizes(data, seed, ids):
    ids = sorted(ids)
    strata = data.draw(st.lists(st.integers(-3, 3), min_size=len(ids), max_size=len(ids)))
    sizes = {s: data.draw(st.integers(0, strata.count(s))) for s in set(strata)}
    sizes[strata[0]] = max(sizes[strata[0]], 1)
    table = {"g": strata, "i": ids}
    expected = smallest_digests(table, "g", "i", sizes, seed)
    for frame in (pl.DataFrame(table), pd.DataFrame(table), relation(table)):
        assert drawn_pairs(wb.sample(frame, "g", sizes, id="i", seed=seed)) == expected


def test_ids_of_64_unsigned_bits():
    ids = np.array([2**64 - 1, 2**63, 5], np.uint64)
    table = {"g": [1, 1, 1], "i": ids}
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table), relation(table)):
        drawn = wb.sample(frame, "g", {1: 3}, id="i")
        assert sorted(drawn.id.tolist()) == sorted(ids.tolist())
    least = pl.DataFrame({"g": [1, 1], "i": ids[1:]})  # the first number that needs the 64th bit
    assert sorted(wb.sample(least, "g", {1: 2}, id="i").id.tolist()) == [5, 2**63]


def test_a_smaller_sample_begins_a_larger_one_and_the_order_of_rows_is_irrelevant():
    frame = pl.DataFrame(TABLE)
    few = wb.sample(frame, "g", {"a": 7}, id="text").id.tolist()
    many = wb.sample(
        frame.sample(fraction=1, shuffle=True, seed=3), "g", {"a": 70}, id="text"
    ).id.tolist()
    assert many[:7] == few and len(set(many)) == 70
    assert wb.sample(frame, "g", {"a": 7}, id="text", seed=1).id.tolist() != few


def test_an_allocation_gives_the_sizes():
    frame = pl.DataFrame(TABLE)
    found = wb.summarize(frame, "g", "correct")
    plan = wb.allocate(found.size, 100, stratum_sd=found.sd)
    drawn = wb.sample(frame, "g", plan, id="number")
    assert drawn.drawn.tolist() == plan.labeled.tolist()
    assert np.bincount(drawn.stratum_index, minlength=4).tolist() == plan.labeled.tolist()
    assert drawn.strata[drawn.stratum_index].tolist() == drawn.stratum.tolist()
    assert repr(drawn) == "FrameSample(100 of 4,000 rows, 4 strata, seed 0)"
    again = wb.Result.from_dict(json.loads(json.dumps(drawn.to_dict())))
    assert again.rows() == drawn.rows() and again.to_frame("pandas").shape == (100, 2)


def test_categorical_strata_and_ids():
    table = {"g": ["b", "a", "b"], "i": ["x", "y", "z"]}
    expected = smallest_digests(table, "g", "i", {"a": 1, "b": 1}, 0)
    frames = (
        pd.DataFrame(table).astype("category"),
        pl.DataFrame(table).cast(pl.Categorical),
        dask(pd.DataFrame(table).astype("category"), npartitions=2),
    )
    for frame in frames:
        assert drawn_pairs(wb.sample(frame, "g", {"a": 1, "b": 1}, id="i")) == expected


def test_empty_partitions_do_no_harm():
    frame = dask(pd.DataFrame(TABLE).sort_values("score"), npartitions=4, sort=False)
    few = frame[frame["score"] > 0.9]
    assert [len(part) for part in few.partitions].count(0) == 3
    found, expected = wb.summarize(few, "g", "score"), wb.summarize(few.compute(), "g", "score")
    assert (
        found.stratum.tolist() == expected.stratum.tolist()
        and found.size.tolist() == expected.size.tolist()
    )
    assert found.sd == pytest.approx(expected.sd)
    with refuses(ValueError, "the data frame has no data rows"):
        wb.summarize(frame[frame["score"] > 2], "g", "score")


def test_a_bound_that_is_too_low_is_raised(monkeypatch):
    sizes = {"a": 300, "b'\\c": 5}
    expected = drawn_pairs(wb.sample(pl.DataFrame(TABLE), "g", sizes, id="text"))
    bounds, slacks = samples.bounds, []

    def low_at_first(wanted, size, slack):
        slacks.append(slack)
        return bounds(wanted, size, slack) // (4 if len(slacks) < 3 else 1)

    monkeypatch.setattr(samples, "bounds", low_at_first)
    assert drawn_pairs(wb.sample(pl.LazyFrame(TABLE), "g", sizes, id="text")) == expected
    assert slacks == [6, 24, 96]


def test_few_rows_more_than_wanted_leave_the_engine():
    assert samples.bounds(np.array([100, 0, 5]), np.array([10**6, 10**6, 5]), 6.0).tolist() == [
        pytest.approx(180e-6 * 2**60, rel=1e-9),
        0,
        2**60,
    ]


# the keys


def test_a_key_is_the_beginning_of_the_digest():
    for id in (0, -17, 2**63, "x", "é", ""):
        assert random_keys([id], 3)[0] == int(hashlib.md5(f"3:{id}".encode()).hexdigest()[:15], 16)


class Spark:
    """Rows and the functions of Spark's SQL that a filter is made of, as its manual defines them; a column is a
    function of a row."""

    class Column:
        def __init__(self, of):
            self.of = of

        def cast(self, kind):
            return Spark.Column(lambda row: {"string": str, "long": int}[kind](self.of(row)))

    def __init__(self, rows):
        self.rows, self.sparkSession = rows, self

    def createDataFrame(self, rows, names):
        return Spark([dict(zip(names, row, strict=True)) for row in rows])

    def join(self, other, on):
        return Spark(
            [row | match for row in self.rows for match in other.rows if row[on] == match[on]]
        )

    def withColumn(self, name, column):
        return Spark([row | {name: column.of(row)} for row in self.rows])

    def filter(self, condition):
        low, high = condition.split(" < ")
        return Spark([row for row in self.rows if row[low] < row[high]])

    def drop(self, name):
        return Spark([{key: cell for key, cell in row.items() if key != name} for row in self.rows])

    functions = SimpleNamespace(
        lit=lambda value: Spark.Column(lambda row: value),
        col=lambda name: Spark.Column(lambda row: row[name]),
        concat=lambda *parts: Spark.Column(lambda row: "".join(part.of(row) for part in parts)),
        md5=lambda text: Spark.Column(lambda row: hashlib.md5(text.of(row).encode()).hexdigest()),
        substring=lambda text, first, length: Spark.Column(
            lambda row: text.of(row)[first - 1 : first - 1 + length]
        ),
        conv=lambda text, old, new: Spark.Column(
            lambda row: np.base_repr(int(text.of(row), old), new)
        ),
        broadcast=lambda frame: frame,
    )


def test_spark_is_asked_for_the_same_digests(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(functions=Spark.functions))
    rows = [{"stratum": "ab"[k % 2], "id": 10**15 + k} for k in range(200)]
    kept = samples._FILTERS["pyspark"](
        SimpleNamespace(to_native=lambda: Spark(rows)),
        3,
        np.array(["a", "b"]),
        np.array([2**59, 2**58]),
    ).rows
    keys = [int(hashlib.md5(f"3:{row['id']}".encode()).hexdigest()[:15], 16) for row in rows]
    assert kept == [
        row | {"key": key}
        for row, key in zip(rows, keys, strict=True)
        if key < (2**59 if row["stratum"] == "a" else 2**58)
    ]


IDS = {
    "counted": range(10**5),
    "steps": range(10**17, 10**17 + 10**7, 100),
    "text": [f"row-{k:08d}" for k in range(10**5)],
}


@pytest.mark.slow
@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_keys_are_uniform_and_independent(ids):
    keys = random_keys(ids, 0) / 2**60
    assert 0 <= keys.min() and keys.max() < 1
    others = {"next id": keys[1:], "next seed": random_keys(ids, 1)[:-1] / 2**60}
    assert scipy.stats.kstest(keys, "uniform").pvalue > 1e-3
    for other in others.values():
        table = np.histogram2d(keys[:-1], other, bins=16, range=[[0, 1], [0, 1]])[0]
        assert scipy.stats.chisquare(table.ravel()).pvalue > 1e-3
    low_bits = np.bincount(random_keys(ids, 0) % 64, minlength=64)
    assert scipy.stats.chisquare(low_bits).pvalue > 1e-3


def test_every_subset_of_a_stratum_is_equally_likely():
    strata, size, n = 4000, 5, 2
    table = {"g": np.repeat(np.arange(strata), size), "i": np.arange(strata * size)}
    drawn = wb.sample(pl.DataFrame(table), "g", dict.fromkeys(range(strata), n), id="i")
    pairs = map(tuple, np.sort(drawn.id.reshape(strata, n) % size).tolist())
    counts = {subset: 0 for subset in itertools.combinations(range(size), n)}
    for pair in pairs:
        counts[pair] += 1
    assert scipy.stats.chisquare(list(counts.values())).pvalue > 1e-3


# larger than memory

SCORED = """SELECT range AS id, (hash(range) % 100000) / 100000 AS score,
                   (hash(range + 1000000000) % 100000) / 100000 < 0.5 + (hash(range) % 100000) / 200000 AS correct,
                   repeat(md5(CAST(range AS VARCHAR)), 12) AS text FROM range({})"""


@pytest.mark.slow
def test_an_evaluation_of_a_file_larger_than_its_memory(tmp_path):
    path = tmp_path / "large.parquet"
    duckdb.sql(
        f"COPY ({SCORED.format(200_000)}) TO '{path}' (COMPRESSION uncompressed, ROW_GROUP_SIZE 10000)"
    )
    limited = duckdb.connect(config={"memory_limit": "32MB", "threads": 1, "temp_directory": ""})
    frame = limited.read_parquet(str(path))
    assert path.stat().st_size > 2 * 32e6
    with pytest.raises(duckdb.OutOfMemoryException):
        limited.execute("CREATE TABLE everything AS SELECT * FROM read_parquet($1)", [str(path)])
    pilot = wb.sample(frame, "score", {0: 5000}, id="id", columns=["score"], edges=[0, 1])
    edges = wb.stratify(pilot.columns["score"], 5).edges
    found = wb.summarize(frame, "score", "correct", edges=edges)
    plan = wb.allocate(found.size, 400, stratum_sd=found.sd)
    drawn = wb.sample(
        frame, "score", plan, id="id", columns=["correct", "text"], edges=edges, seed=1
    )
    assert drawn.columns["text"].tolist() == [
        hashlib.md5(str(i).encode()).hexdigest() * 12 for i in drawn.id
    ]
    correct = np.bincount(drawn.stratum_index, drawn.columns["correct"], drawn.size.size).astype(
        int
    )
    accuracy = wb.stratified_accuracy(found.size, plan.labeled, correct)
    true = limited.sql(f"SELECT avg(CAST(correct AS INT)) FROM read_parquet('{path}')").fetchall()[
        0
    ][0]
    assert true == pytest.approx(float(found.size @ found.mean / found.size.sum()))
    assert true in accuracy.interval() and accuracy.labeled.sum() == 400


STATUS = Path("/proc/self/status")
MEASURED = r"""
import re, sys
from pathlib import Path
import duckdb, workbench as wb

def peak():
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])

wb.sample(duckdb.sql("SELECT range AS id, 0 AS g FROM range(10)"), "g", {0: 1}, id="id")
before = peak()
drawn = wb.sample(sys.argv[1], "score", {0: int(sys.argv[2])}, id="id", columns=["text"], edges=[0, 1])
print(drawn.id.size, peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="peak memory is read from /proc")
def test_a_path_is_not_read_into_memory(tmp_path):
    path = tmp_path / "large.parquet"
    duckdb.sql(
        f"COPY ({SCORED.format(500_000)}) TO '{path}' (COMPRESSION uncompressed, ROW_GROUP_SIZE 10000)"
    )
    grown = {}
    for n in (100, 200_000):
        command = [sys.executable, "-c", MEASURED, path, str(n)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows, grown[n] = map(int, told.split())
        assert rows == n
    assert grown[100] < path.stat().st_size / 2 < grown[200_000]


# text files


def test_a_text_file_of_another_encoding_is_read_with_a_note(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("g;ok;i\né;True;007\né; false;7\nb;1;8\n".encode("cp1252"))
    note = wb.Note("data", f"{str(path)!r} is not UTF-8; it was read as Windows-1252")
    found = wb.summarize(path, "g", "ok")
    assert found.rows()[1] == {
        "stratum": "é",
        "size": 2,
        "mean": 0.5,
        "sd": pytest.approx(0.5**0.5),
    }
    assert found.notes == (note,)
    drawn = wb.sample(path, "g", {"é": 2}, id="i")
    assert sorted(drawn.id) == ["007", "7"] and drawn.notes == (note,)


def test_a_text_file_with_a_cell_that_is_no_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("g,v\na,1\nb,one\n")
    with refuses(ValueError, f"{str(path)!r}: 'one' is not a number"):
        wb.summarize(path, "g", "v")


# errors

SMALL = {"g": ["a", "a", "b", None], "v": [1.0, 2.0, None, 4.0], "i": [1, 2, 3, 4]}


@every_engine
def test_a_missing_stratum_is_an_error(engine, tmp_path):
    frame = ENGINES[engine](SMALL, tmp_path)
    label = r"(the data frame|the relation|'.*rows\.\w+')"
    message = f"^column 'g' of {label} must hold a stratum in every row; it holds none in 1 of 4$"
    with pytest.raises(ValueError, match=message):
        wb.summarize(frame, "g", "i")
    with pytest.raises(ValueError, match=message):
        wb.sample(frame, "g", {"a": 1}, id="i")


@every_engine
def test_a_missing_value_is_an_error(engine, tmp_path):
    frame = ENGINES[engine]({**SMALL, "g": ["a", "a", "b", "b"]}, tmp_path)
    with pytest.raises(
        ValueError,
        match="^column 'v' of .* must have no missing cells; it has 1, the first in stratum 'b'$",
    ):
        wb.summarize(frame, "g", "v")
    with pytest.raises(ValueError, match=NO_NUMBER.format(4)):
        wb.summarize(frame, "v", "i", edges=[0, 2, 9])


@every_engine
def test_a_missing_id_is_an_error(engine, tmp_path):
    frame = ENGINES[engine]({"g": ["a", "b"], "i": ["x", None]}, tmp_path)
    with pytest.raises(
        ValueError,
        match="^column 'i' of .* must have no missing cells; it has 1, the first in stratum 'b'$",
    ):
        wb.sample(frame, "g", {"a": 1}, id="i")


@every_engine
def test_an_id_that_occurs_twice_is_an_error(engine, tmp_path):
    frame = ENGINES[engine]({"g": ["a", "b", "a"], "i": ["x", "y", "x"]}, tmp_path)
    with refuses(ValueError, "column 'i' must identify rows; 'x' occurs 2 times"):
        wb.sample(frame, "g", {"a": 1}, id="i")


@every_engine
def test_a_missing_column_is_named(engine, tmp_path):
    frame = ENGINES[engine](TABLE, tmp_path)
    has = "has no column 'scor'; available columns: 'g', 'number', 'text', 'score', 'correct', 'large' (did you mean 'score'?)"
    for call in (
        lambda: wb.summarize(frame, "g", "scor"),
        lambda: wb.sample(frame, "g", {"a": 1}, id="scor"),
        lambda: wb.sample(frame, "g", {"a": 1}, id="text", columns=["scor"]),
    ):
        with pytest.raises(ValueError, match=re.escape(has) + "$"):
            call()


@every_frame
def test_columns_of_the_wrong_type(engine, tmp_path):
    frame = ENGINES[engine](TABLE, tmp_path)
    with pytest.raises(
        TypeError,
        match="^column 'score' must hold text, whole numbers or booleans to be a stratum; "
        "it is Float64",
    ):
        wb.summarize(frame, "score", "score")
    with refuses(TypeError, "column 'text' must hold numbers or booleans; it is String"):
        wb.summarize(frame, "g", "text")
    with pytest.raises(
        TypeError,
        match="^column 'score' must hold text or whole numbers of at most 64 bits to "
        "identify rows; it is Float64",
    ):
        wb.sample(frame, "g", {"a": 1}, id="score")


@every_engine
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("strata", [["a", "b", "b"], ["a", "b", "a"]])
def test_a_value_that_is_not_finite(engine, value, strata, tmp_path):
    frame = ENGINES[engine]({"g": strata, "v": [1.0, value, 2.0]}, tmp_path)
    with pytest.raises(ValueError, match=NOT_FINITE):
        wb.summarize(frame, "g", "v")


@pytest.mark.parametrize("engine", ["polars", "polars lazy", "pyarrow", "DuckDB", "parquet"])
def test_nan_is_not_finite_where_it_is_not_missing(engine, tmp_path):
    frame = ENGINES[engine]({"g": ["a", "b", "b"], "v": [1.0, np.nan, 2.0]}, tmp_path)
    with pytest.raises(ValueError, match=NOT_FINITE):
        wb.summarize(frame, "g", "v")
    with pytest.raises(ValueError, match=NO_NUMBER.format(3)):
        wb.summarize(frame, "v", "v", edges=[0, 1, 2])


WHOLE = "must be a whole number from 0 to 2"
INCREASING = "must be at least two numbers in increasing order"


@pytest.mark.parametrize(
    ("sizes", "refusal"),
    [
        ({"a": 3}, ("sizes['a']", WHOLE, "got 3")),
        ({"a": -1}, ("sizes['a']", WHOLE, "got -1")),
        ({"a": 1.5}, ("sizes['a']", WHOLE, "got 1.5")),
        ({"a": 0}, ("sizes", "must ask for at least one row")),
        ({}, ("sizes", "must ask for at least one row")),
        ([1, 1], ("sizes", "must be a dict from strata to numbers of", "got list", WrongType)),
        (
            wb.allocate([3, 1], 2, "equal", minimum=1),
            (
                "sizes",
                "must be an allocation to the strata of this frame, which have 2, 1 rows; this one is "
                "for 3, 1 rows. Use allocate(summarize(...).size, ...)",
            ),
        ),
        (
            wb.allocate([2, 1], 2, "proportional", minimum=0, integer=False),
            ("sizes", "must be a whole number", "stratum 0 is 1.33333333333333"),
        ),
    ],
)
def test_sizes_that_cannot_be_drawn(sizes, refusal):
    frame = pl.DataFrame({"g": ["a", "a", "b"], "i": [1, 2, 3]})
    refused(lambda: wb.sample(frame, "g", sizes, id="i"), *refusal)


def test_rows_without_a_stratum_are_counted():
    frame = pl.DataFrame({"g": ["a", None, "a", "b", None], "v": [1, 2, 3, 4, 5]})
    with refuses(
        ValueError,
        "column 'g' of the data frame must hold a stratum in every row; it holds none in 2 of 5",
    ):
        wb.summarize(frame, "g", "v")


def test_strata_that_the_frame_does_not_have_are_named_and_many_are_not_all_listed():
    for strata, name, has in (
        ("aab", "y", "'a', 'b'"),
        ("aab", 1, "'a', 'b'"),
        (range(7), 9, "0, 1, 2, 3, 4 and 2 more"),
    ):
        frame = pl.DataFrame({"g": list(strata), "i": range(len(strata))})
        with refuses(ValueError, f"sizes names stratum {name!r}; the frame has {has}"):
            wb.sample(frame, "g", {name: 1}, id="i")


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"columns": "v"}, ("columns", "must be a list of names", "got 'v'", WrongType)),
        ({"columns": ["id"]}, ("columns", "must not name 'id', because the sample already has a")),
        ({"seed": -1}, ("seed", "must be a whole number of at least 0", "got -1")),
        ({"edges": [1]}, ("edges", f"{INCREASING}; got [1.0]")),
        ({"edges": [0, 2, 1]}, ("edges", f"{INCREASING}; got [0.0, 2.0, 1.0]")),
    ],
)
def test_options_out_of_their_domain(given, refusal):
    frame = pl.DataFrame({"g": [1, 2], "i": [1, 2], "v": [1, 2]})
    refused(lambda: wb.sample(frame, "g", {1: 1}, id="i", **given), *refusal)


def test_frames_that_cannot_be_read(tmp_path):
    with refuses(ValueError, "no such file: 'nowhere.parquet'"):
        wb.summarize("nowhere.parquet", "g", "v")
    path = tmp_path / "a.json"
    path.write_text("[]")
    with refuses(ValueError, f"{str(path)!r} contains an empty list"):
        wb.summarize(path, "g", "v")
    with refuses(TypeError, "frame must be a path or a data frame; got list"):
        wb.summarize([1], "g", "v")


@pytest.mark.parametrize(
    "engine", [name for name in ENGINES if name not in ("pandas nullable", "Dask")]
)
def test_a_frame_without_rows(engine, tmp_path):
    table = {
        "g": pa.array([], pa.string()),
        "v": pa.array([], pa.float64()),
        "i": pa.array([], pa.int64()),
    }
    frame = ENGINES[engine](table, tmp_path)
    with pytest.raises(ValueError, match="has no data rows$"):
        wb.summarize(frame, "g", "v")


def test_a_frame_that_changes_between_its_readings():
    heights = iter([4, 1, 1])
    frame = pl.LazyFrame({"g": [1, 1, 1, 1], "i": [1, 2, 3, 4]})
    changing = frame.map_batches(lambda rows: rows.head(next(heights)))
    with refuses(
        ValueError,
        "the data frame gave fewer rows when it was read again; store it before sampling",
    ):
        wb.sample(changing, "g", {1: 3}, id="i")


def test_an_engine_that_cannot_be_sampled():
    import narwhals as nw

    frame = nw.from_native(duckdb.sql("SELECT 1 AS g, 2 AS i"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(samples._FILTERS, "duckdb")
        with refuses(
            TypeError,
            "frame belongs to an engine that cannot be sampled, duckdb; write it to Parquet first",
        ):
            wb.sample(frame, "g", {1: 1}, id="i")


def test_decimal_commas_of_a_text_file_are_read_and_what_stays_open_is_refused(tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text("g;y\na;1,5\na; -0,25\nb;,5\nb;3\n")
    found = wb.summarize(path, "g", "y")
    assert found.mean.tolist() == [0.625, 1.75] and found.sd[0] == pytest.approx(
        np.std([1.5, -0.25], ddof=1)
    )
    path.write_text("g;y\na;1.814,5\na;2\nb;1.814\n")
    assert wb.summarize(path, "g", "y").mean.tolist() == [908.25, 1814]
    path.write_text("g;y\na;1,814\na;2\n")
    with refuses(
        ValueError,
        f"column 'y' of {str(path)!r}, a cell: '1,814' may be 1814 or 1.814, because its comma may separate "
        "thousands or decimals. Write it without a comma",
    ):
        wb.summarize(path, "g", "y")


def test_commas_beside_a_decimal_point_separate_thousands(tmp_path):
    path = tmp_path / "point.csv"
    path.write_text("g;y\na;1,814.5\na;2\nb;1,814\n")
    assert wb.summarize(path, "g", "y").mean.tolist() == [908.25, 1814]


def test_strata_of_several_columns_are_crossed():
    from workbench.allocation import plans

    table = {
        "sex": ["Male", "Male", "Female", "Female"],
        "status": ["Full", "Part", "Full", "Part"],
        "n": [90, 18, 9, 63],
        "sd": [1.0] * 4,
    }
    plan = plans.plan_labels(
        plans.load_strata(table, stratum="sex,status", size="n"), 40, method="proportional"
    )
    assert dict(zip(plan.stratum.tolist(), plan.labeled.tolist(), strict=True)) == {
        "Male / Full": 20,
        "Male / Part": 4,
        "Female / Full": 2,
        "Female / Part": 14,
    }
    records = {name: np.repeat(table[name], table["n"]) for name in ("sex", "status")} | {
        "v": np.arange(180.0),
        "id": np.arange(180),
    }
    found = plans.load_strata(records, stratum="status, sex", value="v")
    assert dict(zip(found.stratum.tolist(), found.size.tolist(), strict=True)) == {
        "Full / Male": 90,
        "Part / Male": 18,
        "Full / Female": 9,
        "Part / Female": 63,
    }
    named = records | {"status, sex": np.repeat(["p", "q"], 90)}
    assert plans.load_strata(named, stratum="status, sex", value="v").stratum.tolist() == ["p", "q"]
