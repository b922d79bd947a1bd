"""Samples of what comes in batches: the same rows in any layout and from any kind of batch, each batch once."""

import hashlib
import json
import os
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

import workbench as wb
from workbench.allocation import samples
from workbench.allocation.streams import batches as streams
from workbench.allocation.streams import engines
from workbench.allocation.streams import sampler as samplers
from workbench.data import whole_files

NAMES = {"by": "g", "value": "y", "id": "id"}
RECORDS = 3_000
LAYOUTS = {
    "equal": range(0, RECORDS + 1, 500),
    "skewed": [0, 3, 3, 2_500, 2_501, RECORDS],
    "one": [0, RECORDS],
}
KINDS = {
    "dict": lambda data: data,
    "table": pa.table,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "record batch": pa.RecordBatch.from_pydict,
}


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """What is killed here is a step, not the power: nothing need wait for the disk."""
    monkeypatch.setattr(whole_files, "_to_disk", lambda path: None)


@pytest.fixture(scope="module")
def data():
    """Records whose strata differ in size and spread; the first are of few strata only."""
    rng = np.random.default_rng(4)
    stratum = np.minimum(rng.geometric(0.4, RECORDS), np.where(np.arange(RECORDS) < 700, 3, 8))
    return {
        "g": [f"stratum {h}" for h in stratum],
        "y": rng.normal(stratum, stratum**2),
        "id": rng.permutation(10 * RECORDS)[:RECORDS] - 500,
    }


def cut(data, layout, kind="dict"):
    bounds = LAYOUTS[layout]
    return [
        KINDS[kind]({name: column[start:end] for name, column in data.items()})
        for start, end in zip(bounds, bounds[1:], strict=False)
    ]


def key(name, seed):
    return int(hashlib.md5(f"{seed}:{name}".encode()).hexdigest()[:15], 16)


def smallest(data, sizes, seed):
    """Ids of the sample, written out: of each stratum those with the smallest hashes."""
    ids = {}
    for g, name in zip(data["g"], data["id"].tolist(), strict=True):
        ids.setdefault(g, []).append(name)
    return {g: set(sorted(ids[g], key=lambda name: key(name, seed))[:n]) for g, n in sizes.items()}


def chosen(found):
    kept = {}
    for row in found.sample_rows():
        kept.setdefault(row["stratum"], set()).add(row["id"])
    return kept


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_passes_keep_the_same_rows_in_any_layout(data, layout, kind):
    found = wb.sample_stream(cut(data, layout, kind), 200, **NAMES, passes=2, seed=3)
    frame = pd.DataFrame(data)
    known = frame.groupby("g").y.agg(["size", "mean", "std"])
    plan = wb.allocate(known["size"], 200, stratum_sd=known["std"])
    sizes = dict(zip(known.index, plan.labeled.tolist(), strict=True))
    assert chosen(found) == smallest(data, sizes, 3)
    drawn = wb.sample(frame, "g", sizes, id="id", seed=3)
    assert sorted(drawn.id.tolist()) == sorted(row["id"] for row in found.sample_rows())
    means = {g: frame.y[frame.id.isin(ids)].mean() for g, ids in chosen(found).items()}
    assert found.estimate == pytest.approx(
        sum(known["size"][g] * mean for g, mean in means.items()) / RECORDS
    )
    assert found.stream_mean == pytest.approx(frame.y.mean())
    assert sum(row["weight"] for row in found.sample_rows()) == pytest.approx(RECORDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_pass_is_that_of_the_sampler_row_by_row(data, layout, kind):
    found = wb.sample_stream(iter(cut(data, layout, kind)), 150, **NAMES, seed=8)
    sampler = wb.StreamSampler(150, seed=8)
    for batch in cut(data, layout):
        sampler.update(batch["g"], batch["y"], batch["id"])
    assert found.sampled.sum() == 150 and chosen(found) == chosen(sampler.estimate())
    assert chosen(found) == smallest(
        data, dict(zip(found.stratum, found.sampled.tolist(), strict=True)), 8
    )
    assert (found.estimate, found.variance) == pytest.approx(
        (sampler.estimate().estimate, sampler.estimate().variance)
    )
    again = wb.StreamEstimate.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.sample_rows() == found.sample_rows()


def test_a_file_and_a_relation_are_batches_too(data, tmp_path):
    for k, batch in enumerate(cut(data, "equal", "pandas")):
        batch.to_csv(tmp_path / f"{k}.csv", index=False)
    files = [tmp_path / f"{k}.csv" for k in range(6)]
    whole = wb.sample_stream(pa.table(data), 90, **NAMES, passes=2)
    assert {
        g: set(map(int, ids))
        for g, ids in chosen(wb.sample_stream(files, 90, **NAMES, passes=2)).items()
    } == chosen(whole)


def test_columns_of_arrow_are_hashed_without_a_loop_over_rows(data, monkeypatch):
    monkeypatch.setattr(samples, "random_keys", None)
    monkeypatch.setattr(samplers, "random_keys", None)
    assert wb.sample_stream(cut(data, "skewed", "table"), 60, **NAMES).sampled.sum() == 60


def test_of_a_large_batch_few_rows_come_to_python(data):
    fetched = []

    class Watched(wb.StreamSampler):
        def add(self, summary, below):
            def counted(bound):
                fetched.append(below(bound))
                return fetched[-1]

            return super().add(summary, counted)

    sampler = Watched(20, seed=1)
    streams.take_batch(sampler, pa.table(data), "g", "y", "id")
    assert (
        len(fetched) == 1
        and fetched[0]["id"].size < 8 * (21 + 6 * 21**0.5 + 20) * 1.3 < RECORDS / 3
    )
    assert chosen(sampler.estimate()) == smallest(data, sampler.sizes(), 1)


def test_samplers_of_one_seed_merge_to_the_sample_of_all(data):
    parts = [
        wb.StreamSampler(10**4, seed=6).update(batch["g"], batch["y"], batch["id"])
        for batch in cut(data, "equal")[:2]
    ]
    merged = parts[0].merge(parts[1])
    assert merged.seen == 1_000 and sum(merged.sizes().values()) == 1_000
    with pytest.raises(ValueError, match="other must have other records; some are in both"):
        merged.merge(parts[1])
    with pytest.raises(ValueError, match="other must have the same seed; got 7 and 6"):
        merged.merge(wb.StreamSampler(10**4, seed=7))


@pytest.mark.parametrize("turned", [False, True])
def test_bounded_intervals_cover_in_either_order(turned):
    held = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        stratum, rate = rng.integers(0, 4, 800), np.array([0.02, 0.3, 0.6, 0.95])
        order = np.argsort(stratum if turned else rng.random(800), kind="stable")
        right = (rng.random(800) < rate[stratum]).astype(float)
        sampler = wb.StreamSampler(60, minimum=5, seed=seed)
        for part in np.array_split(order, 5):
            sampler.update(stratum[part], right[part], part)
        assert sum(sampler.sizes().values()) == 60
        held += right.mean() in sampler.estimate().interval(bounds=(0, 1))
    assert held >= 108  # .95 or more: fewer than 108 of 120 have probability .009


HOLE = "must have no missing cells; it has 1, the first in stratum 'b'"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": [1, None, 3]}, f"column 'id' of the dict {HOLE}"),
        ({"y": [1, None, 3]}, f"column 'y' of the dict {HOLE}"),
        ({"y": [1, np.nan, 3.0]}, f"column 'y' of the dict {HOLE}"),
        (
            {"y": [1, np.inf, 3.0]},
            "column 'y' of the dict must be finite; stratum 'b' has a value that is not",
        ),
        (
            {"g": ["a", None, "b"]},
            "column 'g' of the dict must hold a stratum in every row; it holds none in 1 of 3",
        ),
        ({"id": [1, 1, 3]}, "keys must not repeat; 1 does"),
        ({"g": ["a", "b", "c"]}, "budget must be at least 3, 2 for each of 3 strata; got 2"),
    ],
)
def test_a_batch_that_is_refused_leaves_the_sampler_as_it_was(change, said):
    good = {"g": ["a", "b"], "y": [1.0, 2.0], "id": [11, 12]}
    sampler = wb.StreamSampler(
        2 if "budget" in said else 8, minimum=1 if "budget" not in said else 2, seed=1
    )
    if "budget" not in said:
        streams.take_batch(sampler, good, "g", "y", "id")
    before = sampler.to_dict()
    with pytest.raises(ValueError) as caught:
        streams.take_batch(
            sampler,
            {"g": ["a", "b", "a"], "y": [1.0, 2.0, 3.0], "id": [1, 2, 3]} | change,
            "g",
            "y",
            "id",
        )
    assert str(caught.value) == said and sampler.to_dict() == before


def test_repeated_identifiers_of_two_batches_are_told_at_the_end():
    batch = {"g": ["a", "b"], "y": [1.0, 2.0], "id": ["x", "y"]}
    call = partial(wb.sample_stream, [batch, batch], 8, **NAMES)
    refused(call, "keys", "must not repeat; 'x' does")


@pytest.mark.parametrize(
    ("ask", "argument", "rule", "told"),
    [
        (
            lambda data: wb.sample_stream(iter([]), 8, **NAMES, passes=2),
            "passes",
            "must be 1 for an iterator, which can be read only once; give a list of batches, or an it",
            "got 2",
        ),
        (
            lambda data: wb.sample_stream([data], 60, **NAMES, passes=3),
            "passes",
            "must be a whole number from 1 to 2",
            "got 3",
        ),
        (
            lambda data: wb.StreamSampler(8, seed=1).update(["a"], [1.0]),
            "keys",
            "must be given if the sampler has a seed: their hashes choose the sample",
            "",
        ),
        (
            lambda data: wb.stream_batches(wb.StreamSampler(8)),
            "sampler",
            "must have a seed, as in StreamSampler(budget, seed=0), so that records are chosen by",
            "",
        ),
    ],
)
def test_what_cannot_be_sampled_is_told(data, ask, argument, rule, told):
    refused(lambda: ask(data), argument, rule, told)


def test_streams_without_records_and_other_sources_are_told(data):
    none = "the stream must have at least one record"
    for frame, by, said in (
        ([], "g", none),
        ([{"g": [], "y": [], "id": []}], "g", none),
        (7, "g", "frame must be a file, a data frame, or batches of these; got 7"),
        ([data], "h", "has no column 'h'; available columns: 'g', 'y', 'id'"),
    ):
        with pytest.raises((ValueError, TypeError), match=said):
            wb.sample_stream(frame, 8, by=by, value="y", id="id")


def test_empty_batches_of_every_kind_are_passed_over(data):
    full, columns = pa.table(data), {"g": [], "y": [], "id": []}
    empty = [
        columns,
        pa.table(columns),
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        full.slice(0, 0),
    ]
    assert chosen(wb.sample_stream([*empty, full, *empty], 60, **NAMES)) == chosen(
        wb.sample_stream(full, 60, **NAMES)
    )


class Killed(BaseException):
    """What stands for a kill at a moment."""


def counted(batches, checkpoint, numbers=True):
    sampler = wb.StreamSampler(80, seed=2)
    count = wb.stream_batches(sampler, **NAMES, checkpoint=checkpoint)
    for number, batch in enumerate(batches):
        count(batch, *[number] * numbers)
    return sampler


@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("after", [True, False])
def test_each_batch_counts_once_wherever_the_program_is_killed(
    data, tmp_path, monkeypatch, after, numbers
):
    batches, path, replace = cut(data, "equal"), tmp_path / "stream.json", os.replace
    whole = counted(batches, None)
    for done, moment in enumerate((1, 2, 3, 2), 1):
        calls = iter(range(1, 100))

        def killing(*names, moment=moment, calls=calls):
            if next(calls) != moment:
                return replace(*names)
            if after:
                replace(*names)
            raise Killed

        monkeypatch.setattr(whole_files.os, "replace", killing)
        with pytest.raises(Killed):
            counted(batches, path, numbers)
        monkeypatch.setattr(whole_files.os, "replace", replace)
        assert [entry.name for entry in tmp_path.iterdir() if entry.suffix == ".part"] == []
        if done % 2 == 0:  # killed once more, then carried to the end
            found = counted(batches, path, numbers)
            assert found.to_dict() == whole.to_dict() and found.seen == RECORDS
            path.unlink()


def test_a_checkpoint_of_something_else_is_refused(data, tmp_path):
    path = tmp_path / "stream.json"
    counted(cut(data, "equal"), path)
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == 1  # those in use are read
    for sampler, names in (
        (wb.StreamSampler(81, seed=2), NAMES),
        (wb.StreamSampler(80, seed=3), NAMES),
        (wb.StreamSampler(80, seed=2), NAMES | {"value": "id"}),
    ):
        with pytest.raises(
            ValueError,
            match="belongs to another budget, floor or seed, to other columns or to another file",
        ):
            wb.stream_batches(sampler, **names, checkpoint=path)
    for text in ("", "[]", "{}", '{"kind": "stream checkpoint", "schema": 1}', "\x00"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(
            ValueError, match="is not the checkpoint of a stream; choose another file"
        ):
            counted([], path)


def test_one_pass_reads_each_batch_once_and_two_passes_twice():
    batches = [{"g": ["a", "b"], "y": [k, 2.0 * k], "id": [2 * k, 2 * k + 1]} for k in range(2)]
    for passes, asked in ((1, 2), (2, 4)):
        read = []

        class Batches:
            def __iter__(self, read=read):
                return (read.append(batch) or batch for batch in batches)

        assert wb.sample_stream(Batches(), 4, **NAMES, passes=passes).sampled.sum() == 4
        assert len(read) == asked


class Partitions:
    """A frame of PySpark in one process: lists of what each partition holds."""

    __module__ = "pyspark.sql"

    def __init__(self, parts):
        self.parts = parts

    def mapInArrow(self, function, schema):
        return Partitions([list(function(iter(part))) for part in self.parts])

    def repartition(self, number):
        batches = [batch for part in self.parts for batch in part]
        return Partitions([batches[k::number] for k in range(number)])

    def collect(self):
        rows = [batch.column(0).to_pylist() for part in self.parts for batch in part]
        return [(cell,) for cells in rows for cell in cells]


def test_partitions_of_an_engine_are_merged_to_one_sample():
    """Six records and a budget of six: all are kept, and of two empty partitions none."""
    parts = [
        [pa.RecordBatch.from_pydict({"g": ["a", "b"], "y": [k, 2 * k], "id": [2 * k, 2 * k + 1]})]
        for k in range(3)
    ]
    take = partial(streams.take_batch, **NAMES)
    full, empty = (
        engines.reader_of(frame)(frame, wb.StreamSampler(6, seed=1), take)
        for frame in (Partitions(parts), Partitions([[], []]))
    )
    assert chosen(full.estimate()) == {"a": {0, 2, 4}, "b": {1, 3, 5}}
    assert empty.seen == 0
