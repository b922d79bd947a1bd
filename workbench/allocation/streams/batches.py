"""Samples of batches: an iterator, a file, or a loop that may be stopped and started again."""

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
    """Sample batches within strata that are not known beforehand, and estimate the mean.

    Parameters
    ----------
    frame : data frame of Dask or PySpark, iterable of data frames, or one
        Batches: tables and record batches of pyarrow, frames of pandas or polars, dicts of arrays,
        relations of DuckDB, or files; empty ones are passed over. A single one of these is one
        batch. Of a frame of Dask or PySpark each partition is sampled where it lies, and the engine
        merges the samples.
    budget : int
        Records to keep, at least `minimum` for every stratum.
    by : str
        Column of strata: text, whole numbers or booleans.
    value : str
        Column of finite numbers or booleans, without missing cells.
    id : str
        Column that identifies a record: whole numbers below 2 ** 63, or text.
    passes : {1, 2}
        With 1 the sample is kept while batches come (`StreamSampler`). With 2 they are read again,
        and the sizes are those of `allocate` for all records, the records those of `sample`: the
        same in whatever batches.
    seed : int
        Another seed draws other records.
    minimum : int
        Floor per stratum, as in `StreamSampler`.

    Returns
    -------
    StreamEstimate
        Its `sample_rows` are the sampled records.

    Raises
    ------
    ValueError
        If a column or a cell is missing, the budget is too small for the strata, or an iterator
        that can be read once is given for two passes.

    Notes
    -----
    A record's key is the hash of `seed` and identifier, the sample of a stratum its
    smallest keys. Each batch is summarized and cut where it lies; what comes to Python are its
    strata and the rows whose keys are small enough. The sample of a single pass depends on the
    order of records through its sizes alone.

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
            "must be 1 for an iterator, which can be read once; give a list of batches, "
            "or what starts anew each time",
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
            "the batches held other records when they were read again; store them before sampling"
        )
    return second.estimate()


def _taken(
    batches: Iterable,
    sampler: StreamSampler,
    take: Callable,
) -> StreamSampler:
    """Return a sampler that has taken all batches, here or on the engine that holds them."""
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
    """Let a sampler with a seed take a batch."""
    if not frames.is_empty(batch):
        with frames.scan(batch, [by, value, id]) as source:
            summarize = samples.streamed(source, by, value, id, _seed_of(sampler))
            _take_part(sampler, summarize, source.native)


def _take_part(
    sampler: StreamSampler,
    summarize: Callable,
    native: Any,
) -> None:
    with contextlib.suppress(frames.NoRowsError):  # an empty batch counts, too
        sampler.add(*summarize(native))


def _seed_of(sampler: StreamSampler) -> int:
    if sampler.seed is None:
        raise WrongValue(
            "sampler",
            "must have a seed, StreamSampler(budget, seed=0): a record is then chosen "
            "by the hash of its identifier",
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
    """Return a function that lets a sampler take each batch once, also if the program is restarted.

    Parameters
    ----------
    sampler : StreamSampler
        With a seed. Where there is a checkpoint it goes on from there.
    by, value, id : str
        Columns of the batches, as in `sample_stream`.
    checkpoint : str or path, optional
        A file that is written after each batch, as a whole or not at all.

    Returns
    -------
    callable
        Takes a batch and its number; numbers rise. A batch whose number is not above the last one
        counted is passed over. Without a number batches are counted 0, 1, ... from the start of the
        program: let its loop begin at the first one again. It fits Spark's ``foreachBatch``.

    Raises
    ------
    ValueError
        If the checkpoint is none, or of other columns or another sampler.

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
    """Let a sampler take the rows of a file in batches, and yield how many records it has seen.

    Parameters
    ----------
    path : str
    sampler, by, value, id
        As in `stream_batches`.
    rows : int
        Of a batch.
    checkpoint : str or path
        One of another file, or of this one before it was changed, is refused.
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
    """A file with the last batch that counts, what the batches are, and the sampler after it."""

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
        """Write that all batches up to one are counted."""
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
                f"{path!r} is of another budget, floor or seed, of other columns or "
                "another file; remove it to start anew",
            )
        self.last = state["last"]
        self.sampler.__dict__ = sampler.__dict__
