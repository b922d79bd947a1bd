"""Samples of frames in partitions, on Dask and Spark: a sampler per partition, where it lies, merged by a tree.

The engine moves data, retries what fails and merges; what travels is a sampler, of the size of the
budget. No partition needs to fit into memory on Spark, which hands it over in Arrow batches; on
Dask a partition is in memory anyway.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from workbench.allocation.streams.sampler import StreamSampler
from workbench.data import frames

FAN = 16  # samplers that one task merges
TASKS = 8  # of Spark, whose results are merged where the program runs
ROWS = 200_000  # of a batch: Spark's own are too small to be worth a query

Take = Callable[[StreamSampler, Any], None]


def is_spark(source: Any) -> bool:
    """Return whether `source` is a data frame of PySpark."""
    return type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")


def reader_of(source: Any) -> Callable | None:
    """Return what lets a sampler take a frame of an engine of partitions, None for any other frame."""
    return _by_dask if frames.is_dask(source) else _by_spark if is_spark(source) else None


def _by_dask(frame: Any, sampler: StreamSampler, take: Take) -> StreamSampler:
    import dask

    parts = [
        dask.delayed(_of_part)([dask.delayed(frames.as_arrow)(part)], sampler, take)
        for part in frame.to_delayed()
    ]
    while len(parts) > 1:
        parts = [dask.delayed(_merged)(parts[k : k + FAN]) for k in range(0, len(parts), FAN)]
    return parts[0].compute()


def _by_spark(frame: Any, sampler: StreamSampler, take: Take) -> StreamSampler:
    found = frame.mapInArrow(
        partial(_of_batches, sampler=pickle.dumps(sampler), take=take), "sampler binary"
    )
    rows = found.repartition(TASKS).mapInArrow(_merged_batches, "sampler binary").collect()
    return _merged([pickle.loads(bytes(row[0])) for row in rows] or [sampler])


def _of_part(batches: Iterable, sampler: StreamSampler, take: Take) -> StreamSampler:
    """Return a sampler like an empty one that has taken some batches."""
    mine = pickle.loads(pickle.dumps(sampler))
    for batch in batches:
        take(mine, batch)
    return mine


def _merged(samplers: Sequence[StreamSampler]) -> StreamSampler:
    return reduce(StreamSampler.merge, sorted(samplers, key=lambda each: -each.seen))


def _of_batches(batches: Iterable, sampler: bytes, take: Take) -> Iterator[Any]:
    found = _of_part(_larger(batches), pickle.loads(sampler), take)
    yield from _rows([found] if found.seen else [])


def _merged_batches(batches: Iterable) -> Iterator[Any]:
    samplers = [pickle.loads(text) for batch in batches for text in batch.column(0).to_pylist()]
    yield from _rows([_merged(samplers)] if samplers else [])


def _rows(samplers: Sequence[StreamSampler]) -> Iterator[Any]:
    import pyarrow as pa

    yield pa.RecordBatch.from_arrays(
        [pa.array([pickle.dumps(each) for each in samplers], pa.binary())], ["sampler"]
    )


def _larger(batches: Iterable) -> Iterator[Any]:
    """Yield Arrow batches joined to tables of so many rows that summarizing each costs little."""
    import pyarrow as pa

    waiting: list = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)
