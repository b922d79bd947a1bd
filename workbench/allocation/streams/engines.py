"""Samples of frames in partitions, on Dask and Spark: one sampler per partition, merged in steps.

The engine moves data, retries failed tasks and merges samplers. Only samplers travel, and their
size is that of the budget. On Spark no partition needs to fit into memory, because Spark passes it
on in Arrow batches. On Dask a partition is in memory anyway.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from workbench.allocation.streams.sampler import StreamSampler
from workbench.data import frames

FAN = 16  # samplers that one task merges
TASKS = 8  # tasks of Spark, whose results are merged where the program runs
ROWS = 200_000  # rows per batch, because Spark's own batches are too small for a query

Take = Callable[[StreamSampler, Any], None]


def reader_of(source: Any) -> Callable | None:
    """Return the function that lets a sampler take a frame of Dask or PySpark, or else None."""
    if frames.is_dask(source):
        return _by_dask
    is_spark = type(source).__module__.startswith("pyspark.sql") and hasattr(source, "mapInArrow")
    return _by_spark if is_spark else None


def _by_dask(frame: Any, sampler: StreamSampler, take: Take) -> StreamSampler:
    import dask

    as_arrow = dask.delayed(frames.as_arrow)
    of_part = dask.delayed(_of_part)
    merged = dask.delayed(_merged)
    parts = [of_part([as_arrow(part)], sampler, take) for part in frame.to_delayed()]
    while len(parts) > 1:
        starts = range(0, len(parts), FAN)
        parts = [merged(parts[start : start + FAN]) for start in starts]
    return parts[0].compute()


def _by_spark(frame: Any, sampler: StreamSampler, take: Take) -> StreamSampler:
    of_batches = partial(_of_batches, sampler=pickle.dumps(sampler), take=take)
    samplers = frame.mapInArrow(of_batches, "sampler binary").repartition(TASKS)
    rows = samplers.mapInArrow(_merged_batches, "sampler binary").collect()
    merged = [pickle.loads(bytes(row[0])) for row in rows]
    return _merged(merged or [sampler])


def _of_part(
    batches: Iterable,
    sampler: StreamSampler,
    take: Take,
) -> StreamSampler:
    """Return a copy of an empty sampler that has taken some batches."""
    own = pickle.loads(pickle.dumps(sampler))
    for batch in batches:
        take(own, batch)
    return own


def _merged(samplers: Sequence[StreamSampler]) -> StreamSampler:
    return reduce(StreamSampler.merge, sorted(samplers, key=lambda sampler: -sampler.seen))


def _of_batches(batches: Iterable, sampler: bytes, take: Take) -> Iterator:
    taken = _of_part(_larger(batches), pickle.loads(sampler), take)
    yield _as_batch([taken] if taken.seen else [])


def _merged_batches(batches: Iterable) -> Iterator:
    samplers: list = []
    for batch in batches:
        samplers += map(pickle.loads, batch.column(0).to_pylist())
    yield _as_batch([_merged(samplers)] if samplers else [])


def _as_batch(samplers: Sequence[StreamSampler]) -> Any:
    """Return an Arrow record batch with a column of pickled samplers."""
    import pyarrow as pa

    column = pa.array(map(pickle.dumps, samplers), pa.binary())
    return pa.RecordBatch.from_arrays([column], ["sampler"])


def _larger(batches: Iterable) -> Iterator:
    """Yield tables of at least `ROWS` rows, joined from Arrow batches."""
    import pyarrow as pa

    waiting: list = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)
