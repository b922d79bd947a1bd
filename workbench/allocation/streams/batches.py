"""Samples of batches from an iterator, a file, or a loop that may be stopped and restarted."""

import contextlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from os import PathLike
from typing import Any

from workbench import checks
from workbench.allocation import samples
from workbench.allocation.streams import engines
from workbench.allocation.streams.estimates import StreamEstimate
from workbench.allocation.streams.sampler import StreamSampler
from workbench.checks import WrongValue
from workbench.data import frames
from workbench.data.files import file_of
from workbench.data.whole_files import write_text

SCHEMA = 1
KIND = "stream checkpoint"


def sample_stream(
    frame: Any,
    budget: int,
    *,
    by: str,
    value: str,
    id: str,
    passes: int = 1,
    seed: int = 0,
    minimum: int = 2,
) -> StreamEstimate:
    """Sample batches of records within strata, and estimate the mean.

    Use it for data that are too large to hold or that arrive in parts. The strata need not be known
    beforehand.

    Parameters
    ----------
    frame : data frame or iterable of data frames
        Batches of records, or a single batch. A batch is a table or record batch of pyarrow, a
        frame of pandas or polars, a dict of arrays, a relation of DuckDB, or a file. Empty batches
        are left out. The engine samples each partition of a frame of Dask or PySpark where it is
        stored, and merges the samples.
    budget : int
        Records to keep, at least `minimum` for every stratum.
    by : str
        Column of the strata: text, whole numbers or booleans.
    value : str
        Column of finite numbers or booleans, without missing cells.
    id : str
        Column that identifies a record: text, or whole numbers below 2 ** 63.
    passes : {1, 2}, default 1
        Number of times that the data are read. With 1, the sample is kept while batches arrive, as
        in `StreamSampler`. With 2, the sample has the optimal sizes, and its records are those of
        `sample`, however the data are divided into batches.
    seed : int, default 0
        Seed of the sample, at least 0. Another seed samples other records.
    minimum : int, default 2
        Records that every stratum keeps at least, as in `StreamSampler`.

    Returns
    -------
    StreamEstimate
        Estimated mean with its intervals. `StreamEstimate.sample_rows` returns the sampled records.

    Raises
    ------
    ValueError
        If a column or a cell is missing, or the budget is too small for the strata. Also if two
        passes are asked for and an iterator can be read only once.

    See Also
    --------
    StreamSampler : A stratified sample that is kept while records arrive.
    stream_batches : Return a function that lets a sampler take each batch once.
    sample : Sample an exact number of rows per stratum.

    Notes
    -----
    The key of a record is the hash of `seed` and its identifier. The sample of a stratum has the
    records with the smallest keys. Each batch is summarized where it is stored. Only its strata,
    and the rows whose keys are small enough, come to Python. With a single pass, the order of the
    records influences only the sizes of the sample.

    Examples
    --------
    >>> import numpy as np
    >>> batches = [
    ...     {"g": ["a", "b"] * 50, "y": np.arange(100) % 7, "id": np.arange(k, k + 100)}
    ...     for k in (0, 100, 200)
    ... ]
    >>> estimate = sample_stream(batches, 40, by="g", value="y", id="id", passes=2)
    >>> estimate.size.tolist(), estimate.sampled.tolist(), estimate.sample_rows()[0]["id"]
    ([150, 150], [20, 20], 272)
    """
    passes = checks.whole("passes", passes, 1, 2)
    batches = frames.batches_of(frame)
    if passes == 2 and iter(batches) is batches:
        raise WrongValue(
            "passes",
            "must be 1 for an iterator, which can be read only once; give a list of batches, "
            "or an iterable that starts anew each time",
            passes,
        )
    take = partial(
        take_batch,
        by=by,
        value=value,
        id=id,
    )
    sampler = StreamSampler(budget, minimum=minimum, seed=checks.seed("seed", seed))
    first = _taken(batches, sampler, take)
    if passes == 1:
        return first.estimate()
    second = _taken(batches, first.second_pass(), take)
    if second.seen != first.seen:
        raise ValueError(
            "the batches had other records when they were read again; store them before sampling"
        )
    return second.estimate()


def _taken(
    batches: Iterable,
    sampler: StreamSampler,
    take: Callable,
) -> StreamSampler:
    """Return a sampler that has taken all batches, in Python or on the engine that holds them."""
    for batch in batches:
        by_engine = engines.reader_of(batch)
        if by_engine:
            return by_engine(batch, sampler, take)
        take(sampler, batch)
    return sampler


def take_batch(
    sampler: StreamSampler,
    batch: Any,
    by: str,
    value: str,
    id: str,
) -> None:
    """Let a sampler with a seed take one batch."""
    if not frames.is_empty(batch):
        with frames.scan(batch, [by, value, id]) as source:
            summarize = samples.streamed(source, by, value, id, _seed_of(sampler))
            _take_part(sampler, summarize, source.native)


def _take_part(
    sampler: StreamSampler,
    summarize: Callable,
    native: Any,
) -> None:
    with contextlib.suppress(frames.NoRowsError):  # an empty batch is valid, too
        sampler.add(*summarize(native))


def _seed_of(sampler: StreamSampler) -> int:
    if sampler.seed is None:
        raise WrongValue(
            "sampler",
            "must have a seed, as in StreamSampler(budget, seed=0), so that records are chosen "
            "by the hash of their identifier",
        )
    return sampler.seed


def stream_batches(
    sampler: StreamSampler,
    *,
    by: str = "stratum",
    value: str = "value",
    id: str = "id",
    checkpoint: str | PathLike[str] | None = None,
) -> Callable[..., None]:
    """Return a function that lets a sampler take each batch exactly once.

    Use it for a stream that is processed batch by batch. With a checkpoint, the program may be
    stopped and restarted. The function fits ``foreachBatch`` of Spark.

    Parameters
    ----------
    sampler : StreamSampler
        Sampler with a seed. If the checkpoint exists, the sampler continues from there.
    by : str, default "stratum"
        Column of the strata in the batches, as in `sample_stream`.
    value : str, default "value"
        Column of the values.
    id : str, default "id"
        Column that identifies a record.
    checkpoint : str or path, optional
        File that is written after each batch, completely or not at all.

    Returns
    -------
    callable
        Function of a batch and its number. Numbers must increase: a batch whose number is not above
        the last one is left out. Without numbers, batches are counted from 0 at the start of the
        program, so a restarted program must begin with the first batch again.

    Raises
    ------
    ValueError
        If the file is not a checkpoint, or is one of other columns or another sampler.

    See Also
    --------
    StreamSampler : A stratified sample that is kept while records arrive.
    sample_stream : Sample batches of records within strata, and estimate the mean.

    Examples
    --------
    >>> import tempfile
    >>> batches = [
    ...     {"stratum": ["a", "b"], "value": [k, 2 * k], "id": [2 * k, 2 * k + 1]}
    ...     for k in range(5)
    ... ]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for stop in (3, 5):  # stopped after three, and started again
    ...         sampler = StreamSampler(6, seed=1)
    ...         count = stream_batches(sampler, checkpoint=folder + "/stream.json")
    ...         for batch in batches[:stop]:
    ...             count(batch)
    ...         print(sampler)
    StreamSampler(6 of 6 records, 2 strata; budget 6)
    StreamSampler(6 of 10 records, 2 strata; budget 6)
    """
    _seed_of(checks.instance("sampler", sampler, StreamSampler))
    saved = Checkpoint(sampler, checkpoint, [by, value, id])
    numbers = itertools.count()

    def count(batch: Any, number: int | None = None) -> None:
        number = checks.whole("number", next(numbers) if number is None else number, 0)
        if number > saved.last:
            take_batch(sampler, batch, by, value, id)
            saved.write(number)

    return count


def stream_file(
    path: str,
    sampler: StreamSampler,
    *,
    by: str,
    value: str,
    id: str,
    rows: int,
    checkpoint: str | PathLike[str],
) -> Iterator[int]:
    """Let a sampler take the rows of a file in batches, and yield the records seen so far.

    Parameters
    ----------
    path : str
        File with one row per record.
    sampler, by, value, id
        As in `stream_batches`.
    rows : int
        Rows per batch.
    checkpoint : str or path
        Checkpoint file. It is refused if it belongs to another file, or to this file before it was
        changed.

    Yields
    ------
    int
        Records that the sampler has seen.
    """
    with frames.scan(path, [by, value, id]) as source:
        state = os.stat(file_of(path))
        about = [by, value, id, state.st_size, state.st_mtime_ns]
        saved = Checkpoint(sampler, checkpoint, about)
        summarize = samples.streamed(source, by, value, id, _seed_of(sampler))
        for part in frames.slices(source, rows, start=saved.last + 1):
            _take_part(sampler, summarize, part)
            saved.write(sampler.seen - 1)
            yield sampler.seen


class Checkpoint:
    """A file with the number of the last batch, a description of the batches, and the sampler."""

    def __init__(
        self,
        sampler: StreamSampler,
        path: str | PathLike[str] | None,
        about: list,
    ) -> None:
        self.sampler = sampler
        self.about = about
        self.last = -1
        self.path = None if path is None else os.path.expanduser(os.fspath(path))
        if self.path is not None and os.path.exists(self.path):
            self._read(self.path)

    def write(self, last: int) -> None:
        """Write that the sampler has taken all batches up to this one."""
        self.last = last
        if self.path is None:
            return
        state = {
            "kind": KIND,
            "schema": SCHEMA,
            "last": last,
            "about": self.about,
            "sampler": self.sampler.to_dict(),
        }
        write_text(self.path, json.dumps(state))

    def _read(self, path: str) -> None:
        try:
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
            sampler = StreamSampler.from_dict(state["sampler"])
            if (state["kind"], state["schema"]) != (KIND, SCHEMA):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            rule = f"{path!r} is not the checkpoint of a stream; choose another file"
            raise WrongValue("checkpoint", rule) from None
        if state["about"] != self.about or not sampler.is_like(self.sampler):
            raise WrongValue(
                "checkpoint",
                f"{path!r} belongs to another budget, floor or seed, to other columns or to "
                "another file; remove it to start anew",
            )
        self.last = state["last"]
        self.sampler.__dict__ = sampler.__dict__
