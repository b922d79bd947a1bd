"""Summaries and exact samples per stratum of files and data frames of any engine and any size.

What is heavy stays in the engine that holds the rows; only the strata and the drawn rows, with a few to
spare, come to Python. A file is read by DuckDB and may be larger than memory. Several files, or a limit of
memory, are given as a relation: ``duckdb.connect(config={"memory_limit": "1GB"}).read_parquet("part-*.parquet")``.

**Which rows.** Every id has a random key, the first 60 bits of the MD5 digest [1]_ of ``"seed:id"``, and a
stratum's sample of n is its n smallest keys: a simple random sample without replacement, if MD5 mixes
well. It is the same on every engine and in any order of the rows, and the id may be stored as a number or as
text. With the same seed a smaller sample is the beginning of a larger one, so more can be drawn later.

**From scores to accuracy** on a file of any size; a hundred thousand scores are enough to cut strata::

    pilot = wb.sample(path, "score", {0: 100_000}, id="id", columns=["score"], edges=[0, 1])
    edges = wb.stratify(pilot.columns["score"], 10).edges
    expected = wb.summarize(path, "score", "score", edges=edges)
    plan = wb.allocate(expected.size, 300, "proportional")
    drawn = wb.sample(path, "score", plan, id="id", columns=["text"], edges=edges, seed=1)
    right = your_labels(drawn.columns["text"])
    correct = np.bincount(drawn.stratum_index, right, drawn.size.size).astype(int)
    found = wb.stratified_accuracy(drawn.size, drawn.drawn, correct)

**A stream in parts.** `sample_stream` takes a frame of Dask or PySpark, or batches of any kind: each partition is
sampled where it lies, and the engine merges the samples::

    found = wb.sample_stream(frame, 1000, by="stratum", value="value", id="id", passes=2)

With one pass a merge keeps of a stratum only what lies below the threshold of every partition, so where partitions
disagree on which stratum varies little is left. Rows that are stored allow two passes, and then the optimum. What comes
without an end is counted batch by batch, each once, with `stream_batches`; with PySpark::

    count = wb.stream_batches(wb.StreamSampler(1000, seed=0), checkpoint="sample.json")
    frame.writeStream.foreachBatch(lambda batch, number: count(batch, number)).start()

References
----------
.. [1] Rivest, The MD5 message-digest algorithm, RFC 1321, 1992.
.. [2] Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation.rules import Allocation
from workbench.data import engine, frames
from workbench.data.columns import CROSSED, crossed_names
from workbench.data.decimals import OTHER, SEPARATORS
from workbench.labeling.draws import random_keys
from workbench.results import Result, rows_of

KEYS = 2**60


class StratumSummary(Result):
    """Size, mean and standard deviation of each stratum.

    Attributes
    ----------
    stratum : (H,) array of int or str
        Sorted; text by code point.
    size : (H,) array of int
        Rows.
    mean : (H,) array of float
    sd : (H,) array of float
        With ddof=1; 0 for a stratum of one row.
    """

    stratum: np.ndarray
    size: np.ndarray
    mean: np.ndarray
    sd: np.ndarray

    def headline(self) -> str:
        """Return rows, strata and overall mean in one sentence."""
        mean = float(self.size / self.size.sum() @ self.mean)
        return (
            f"{checks.counted(self.size.sum(), 'row')}, {_strata(self.size.size)}, mean {mean:.4g}"
        )

    def rows(self) -> list[dict]:
        """Return stratum, size, mean and sd, one row per stratum."""
        return rows_of(stratum=self.stratum, size=self.size, mean=self.mean, sd=self.sd)


class FrameSample(Result):
    """Rows drawn per stratum, ordered by stratum and then at random: the first m are a sample of m.

    Attributes
    ----------
    id : (n,) array of int or of str objects
    stratum : (n,) array of int or str
    stratum_index : (n,) array of int
        The row's place in `strata`, 0 to H - 1.
    strata : (H,) array of int or str
        All strata of the frame, sorted as in `StratumSummary`.
    size, drawn : (H,) array of int
        Rows of the frame, rows of the sample.
    columns : dict of (n,) array
        What else was asked for.
    seed : int
    """

    id: np.ndarray
    stratum: np.ndarray
    stratum_index: np.ndarray
    strata: np.ndarray
    size: np.ndarray
    drawn: np.ndarray
    seed: int
    columns: dict = field(default_factory=dict)

    def headline(self) -> str:
        """Return how many of how many rows, and the seed that draws them again."""
        rows = checks.counted(self.size.sum(), "row")
        return f"{self.id.size:,} of {rows}, {_strata(self.size.size)}, seed {self.seed}"

    def rows(self) -> list[dict]:
        """Return stratum, id and the other columns, one row per drawn row."""
        return rows_of(stratum=self.stratum, id=self.id, **self.columns)


def summarize(frame: Any, by: str, value: str, *, edges: ArrayLike | None = None) -> StratumSummary:
    """Return size, mean and standard deviation of a column per stratum, computed where the rows are.

    Parameters
    ----------
    frame : str, path or data frame
        A file of text, Parquet or JSON, or a workbook; or a frame of pandas, polars (also lazy), pyarrow,
        DuckDB, Dask or PySpark.
    by : str
        Column of strata: text, whole numbers or booleans (which become 0 and 1). Strata of a text file
        are text. Several columns with commas between them, as "sex,status", are crossed. With `edges`, a
        numeric column.
    value : str
        Column of finite numbers or booleans, without missing cells.
    edges : (K + 1,) array_like of float, optional
        Cut `by` into strata 0 to K - 1, the cells (edges[k], edges[k + 1]] of `Strata.edges`; what lies
        outside belongs to the first or the last. A stratum without rows does not appear.

    Returns
    -------
    StratumSummary

    Raises
    ------
    ValueError
        If a column is missing, or a cell of it; if a value is not finite, or there are no rows. Names
        column and stratum.
    TypeError
        If a column is of another type, or the frame of an unknown engine.

    Notes
    -----
    Partitions of a Dask frame are summarized one by one and merged as in [1]_: Dask's own sums of
    squares lose every digit of a small spread around a large mean.

    References
    ----------
    .. [1] Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American
       Statistician 37, 1983.

    Examples
    --------
    >>> import duckdb
    >>> frame = duckdb.sql("SELECT range AS id, range % 3 AS g, range / 10 AS score FROM range(1000)")
    >>> summarize(frame, "g", "score").size
    array([334, 333, 333])
    >>> summarize(frame, "score", "score", edges=[0, 20, 99.9])
    StratumSummary(1,000 rows, 2 strata, mean 49.95)
    """
    inner = _inner_edges(edges)
    with frames.scan(frame, [*_crossed(by, frame), value]) as source:
        stratum = _strata_of(source, by, inner)
        measured = partial(_number, name=value, mark=source.mark(value))
        parts = _each_part(source, partial(_moments, stratum=stratum, value=measured, spread=True))
    return StratumSummary(
        **_merged(parts, source.label, by, value, inner is not None), notes=source.notes
    )


def sample(
    frame: Any,
    by: str,
    sizes: Mapping | Allocation,
    *,
    id: str,
    seed: int = 0,
    columns: Sequence[str] = (),
    edges: ArrayLike | None = None,
) -> FrameSample:
    """Draw an exact number of rows per stratum, the same rows on every engine.

    Parameters
    ----------
    frame, by
        As in `summarize`.
    sizes : dict or Allocation
        Rows wanted per stratum. A dict maps strata to whole numbers; strata that it leaves out get
        none. An `Allocation` must have been made for the sizes of this frame, `summarize(...).size`.
    id : str
        Column that identifies a row: whole numbers of at most 64 bits, or text; no missing cells.
    seed : int
        Another seed draws other rows; >= 0.
    columns : list of str
        Further columns to bring along, such as the text to be labeled.
    edges
        As in `summarize`.

    Returns
    -------
    FrameSample

    Raises
    ------
    ValueError
        If a column or a cell of stratum or id is missing, a stratum is unknown or smaller than what is
        wanted of it, an allocation belongs to other sizes, or an id occurs twice among the rows
        that come into question (the whole column is not searched, which would take its memory).
    TypeError
        If a column is of another type, or the frame of an unknown engine.

    Notes
    -----
    A row's key is the first 60 bits of MD5("seed:id"); the smallest keys of a stratum are its sample.
    The engine keeps keys below (n + 6 sqrt(n) + 20) / N of their range, the rest is ranked here; if a
    stratum then has too few the bound is raised.

    Examples
    --------
    >>> import duckdb
    >>> frame = duckdb.sql("SELECT range AS id, range % 3 AS g, 'item ' || range AS text FROM range(1000)")
    >>> drawn = sample(frame, "g", {0: 2, 2: 1}, id="id", columns=["text"])
    >>> drawn.drawn, drawn.columns["text"].tolist()
    (array([2, 0, 1]), ['item 750', 'item 465', 'item 209'])
    """
    inner, seed, columns = _inner_edges(edges), checks.seed("seed", seed), _further(columns)
    with frames.scan(frame, [*_crossed(by, frame), id, *columns]) as source:
        stratum, named = _strata_of(source, by, inner), partial(_id, name=id)
        parts = _each_part(source, partial(_moments, stratum=stratum, value=named, spread=False))
        found = _merged(parts, source.label, by, id, inner is not None)
        strata, size = found["stratum"], found["size"]
        wanted = _wanted(sizes, strata, size)
        further = [partial(_cells, name=name) for name in columns]
        picked = partial(
            _below, stratum=stratum, id=named, columns=further, seed=seed, strata=strata
        )
        rows = _candidates(source, picked, strata, size, wanted)
    order = np.lexsort((_ranks(rows["id"], id), rows["key"], rows["place"]))
    place = rows["place"][order]
    chosen = order[
        np.arange(place.size) - np.searchsorted(place, place) < wanted[place]
    ]  # the smallest keys
    place = rows["place"][chosen]
    brought = {name: rows[f"column {k}"][chosen] for k, name in enumerate(columns)}
    return FrameSample(
        rows["id"][chosen],
        strata[place],
        place,
        strata,
        size,
        wanted,
        seed,
        brought,
        notes=source.notes,
    )


def streamed(
    source: Any, by: str, value: str, id: str, seed: int
) -> Callable[[Any], tuple[dict, Callable]]:
    """Return a function of parts of a scan: it summarizes one, and says how its rows are drawn.

    That is sizes, means and sds of its strata as arrays, and a function from a bound of the keys of each of these to
    the rows below, whose value is "column 0".
    """
    stratum, named = _strata_of(source, by, None), partial(_id, name=id)
    measured = partial(_number, name=value, mark=source.mark(value))

    def part(native: Any) -> tuple[dict, Callable]:
        counted = _moments(native, stratum, measured, spread=True, id=named)
        found = _merged([counted], source.label, by, value, False)
        _merged([{**counted, "filled": counted["identified"]}], source.label, by, id, False)
        return found, lambda bound: _placed(
            [_below(native, stratum, named, [measured], seed, found["stratum"], bound)],
            found["stratum"],
        )

    return part


def _strata(count: int) -> str:
    return checks.counted(count, "stratum", "strata")


def _inner_edges(edges: Any) -> list | None:
    if edges is None:
        return None
    edges = checks.vector("edges", edges)
    if edges.size < 2 or np.any(np.diff(edges) < 0):
        raise checks.WrongValue(
            "edges", f"must be at least two numbers that rise; got {edges.tolist()}"
        )
    return edges[1:-1].tolist()


def _further(columns: Any) -> list:
    if isinstance(columns, str):
        raise checks.WrongType("columns", "must be a list of names", columns)
    columns = list(dict.fromkeys(columns))
    for name in {"stratum", "id"}.intersection(columns):
        raise checks.WrongValue(
            "columns", f"must not name {name!r}: the sample has a column of this name already"
        )
    return columns


def _wanted(sizes: Any, strata: Any, size: Any) -> np.ndarray:
    if isinstance(sizes, Allocation):
        if not np.array_equal(sizes.stratum_size, size):
            raise checks.WrongValue(
                "sizes",
                f"must be allocated to the strata of this frame, of {_some(size)} rows; "
                f"this Allocation is for {_some(sizes.stratum_size)}: "
                "allocate(summarize(...).size, ...)",
            )
        return checks.counts("sizes", sizes.labeled)
    if not isinstance(sizes, dict):
        raise checks.WrongType(
            "sizes",
            "must be a dict from stratum to rows wanted, or an Allocation",
            told=f"got {type(sizes).__name__}",
        )
    place = {stratum: k for k, stratum in enumerate(strata.tolist())}
    wanted = np.zeros(size.size, np.int64)
    for stratum, count in sizes.items():
        if stratum not in place:
            raise ValueError(
                f"sizes names stratum {_plain(stratum)!r}; the frame has {_some(strata)}"
            )
        k = place[stratum]
        wanted[k] = checks.whole(f"sizes[{_plain(stratum)!r}]", _plain(count), 0, int(size[k]))
    if not wanted.any():
        raise checks.WrongValue("sizes", "must ask for at least one row")
    return wanted


def _some(values: np.ndarray) -> str:
    shown = ", ".join(map(repr, values[:5].tolist()))
    return f"{shown}, ... ({values.size} strata)" if values.size > 5 else shown


def _plain(value: int | str) -> int | str:
    return value.item() if isinstance(value, np.generic) else value


def _each_part(source: Any, function: Callable) -> list:
    """Apply a function to the native frame; to a Dask frame part by part, where the parts are."""
    if not frames.is_dask(source.native):
        return [function(source.native)]
    import dask

    return list(
        dask.compute(
            *[dask.delayed(_of_part)(part, function) for part in source.native.to_delayed()]
        )
    )


def _of_part(part: Any, function: Callable) -> Any:
    """Apply a function to a partition of pandas where DuckDB groups and hashes."""
    return function(engine.relation_of(frames.as_arrow(part)))


def _moments(
    native: Any, stratum: Callable, value: Callable, spread: bool, id: Callable | None = None
) -> dict:
    """Return per stratum its rows and filled cells of `value`, with `spread` also mean and sd, as arrays.

    With `id` also its filled cells, "identified".
    """
    import narwhals as nw

    frame = nw.from_native(native)
    kinds = frame.collect_schema()
    picked = {"stratum": stratum, "value": value, "id": id or value}
    grouped = frame.select(*(each(kinds).alias(name) for name, each in picked.items())).group_by(
        "stratum"
    )
    column, identified = nw.col("value"), [nw.col("id").count().alias("identified")] if id else []
    moments = (column.mean().alias("mean"), column.std(ddof=1).alias("sd")) if spread else ()
    return frames.to_arrays(
        grouped.agg(nw.len().alias("rows"), column.count().alias("filled"), *moments, *identified)
    )


def _merged(parts: list, label: str, by: str, value: str, cut: bool) -> dict:
    """Return the strata of all parts, their sizes, and their means and sds where the parts have them."""
    rows, given = _joined(parts, "rows").astype(np.int64), _joined(parts, "stratum").tolist()
    if not rows.size:
        raise frames.NoRowsError(f"{label} has no data rows")
    if None in given:
        missing = sum(n for n, stratum in zip(rows.tolist(), given, strict=True) if stratum is None)
        wanted = "a finite number" if cut else "a stratum"
        raise ValueError(
            f"column {by!r} of {label} must hold {wanted} in every row; it holds none in "
            f"{missing} of {rows.sum()}"
        )
    stratum, place = np.unique(np.array(given), return_inverse=True)
    size = np.bincount(place, rows).astype(np.int64)
    empty = size - np.bincount(place, _joined(parts, "filled"))
    for k in np.flatnonzero(empty)[:1]:
        raise ValueError(
            f"column {value!r} of {label} must have no missing cells; it has {int(empty.sum())}, "
            f"the first in stratum {stratum[k].item()!r}"
        )
    found = {"stratum": stratum, "size": size}
    if "mean" not in parts[0]:
        return found
    mean, sd = (_joined(parts, name).astype(float) for name in ("mean", "sd"))
    for i in np.flatnonzero(~np.isfinite(mean))[:1]:
        raise ValueError(
            f"column {value!r} of {label} must be finite; stratum {given[i]!r} has a value that is not"
        )
    return found | _merged_moments(place, size, rows, mean, sd)


def _merged_moments(
    place: np.ndarray, size: np.ndarray, rows: np.ndarray, mean: np.ndarray, sd: np.ndarray
) -> dict:
    """Merge means and sds by Chan, Golub & LeVeque's formula, for any number of parts."""
    first = np.zeros(size.size)
    first[place] = mean
    center = first + np.bincount(place, rows * (mean - first[place])) / size
    squares = np.where(rows > 1, (rows - 1) * sd**2, 0.0) + rows * (mean - center[place]) ** 2
    return {"mean": center, "sd": np.sqrt(np.bincount(place, squares) / np.maximum(size - 1, 1))}


def _joined(parts: list, name: str) -> np.ndarray:
    return np.concatenate([part[name] for part in parts])


def _strata_of(source: Any, by: str, inner: list | None) -> Callable:
    return partial(_stratum, name=by, inner=inner, mark=None if inner is None else source.mark(by))


def _crossed(by: str, frame: Any) -> list[str]:
    """Return the columns of strata: several where these are named with commas, as "sex,status"."""
    return crossed_names(by, frames.column_names(frame)) if "," in str(by) else [by]


def _stratum(kinds: Any, name: str, inner: list | None, mark: None) -> Any:
    import narwhals as nw

    if name not in kinds:
        parts = [_stratum(kinds, part, None, mark) for part in crossed_names(name, kinds)]
        return nw.concat_str(*(part.cast(nw.String) for part in parts), separator=CROSSED)
    if inner is not None:
        score = _number(kinds, name, mark)
        cell = sum(((score > edge).cast(nw.Int64) for edge in inner), start=nw.lit(0, nw.Int64))
        # not is_nan: DuckDB 2.0 answers it from a Parquet file's statistics, which leave NaN out
        return nw.when(score.is_finite()).then(cell)
    kind = kinds[name]
    if kind.is_integer() or kind == nw.Boolean:
        return nw.col(name).cast(nw.Int64)
    text = _as_text(name, kind, "text, whole numbers or booleans to be a stratum")
    is_gap = text.str.strip_chars().is_in(["", checks.NAN])
    return nw.when(~is_gap).then(text)


def _cells(kinds: Any, name: str) -> Any:
    import narwhals as nw

    return nw.col(name)


def _number(kinds: Any, name: Any, mark: Any) -> Any:
    import narwhals as nw

    kind, column = kinds[name], nw.col(name)
    if kind.is_numeric() or kind == nw.Boolean:
        return column.cast(nw.Float64)
    if mark is not None:
        spelled, pointed = (
            column.str.to_lowercase().str.strip_chars(),
            _pointed(column, mark) if mark else column,
        )
        digits = nw.when(spelled == "false").then(nw.lit("0")).otherwise(pointed)
        numbers = nw.when(spelled == "true").then(nw.lit("1")).otherwise(digits)
        marked = nw.concat_str(column, nw.lit(engine.NO_NUMBER))
        return (
            nw.when(column.str.contains("_", literal=True))
            .then(marked)
            .otherwise(numbers)
            .cast(nw.Float64)
        )
    raise TypeError(f"column {name!r} must hold numbers or booleans; it is {kind}")


def _pointed(column: Any, mark: str) -> Any:
    """Return numbers in text as `workbench.data.decimals.pointed` does."""
    whole = (
        column.str.strip_chars()
        .str.replace_all(OTHER[mark], "", literal=True)
        .str.replace_all(SEPARATORS, "")
    )
    return whole.str.replace_all(mark, ".", literal=True)


def _id(kinds: Any, name: str) -> Any:
    import narwhals as nw

    kind = kinds[name]
    if kind.is_integer() and kind not in (nw.Int128, nw.UInt128):
        return nw.col(name)
    return _as_text(name, kind, "text or whole numbers of at most 64 bits to identify rows")


def _as_text(name: str, kind: Any, wanted: str) -> Any:
    """Return a column as text; where it is text, pandas 2 would make "None" of a missing cell."""
    import narwhals as nw

    if kind not in (nw.String, nw.Categorical, nw.Enum):
        remedy = (
            " (pandas makes floats of whole numbers when cells are missing)"
            if kind.is_float()
            else ""
        )
        raise TypeError(f"column {name!r} must hold {wanted}; it is {kind}{remedy}")
    return nw.col(name) if kind == nw.String else nw.col(name).cast(nw.String)


def _candidates(
    source: Any, picked: Callable, strata: np.ndarray, size: np.ndarray, wanted: np.ndarray
) -> dict:
    """Return at least `wanted` rows per stratum, those of the smallest keys."""
    slack = 6.0
    while True:
        bound = bounds(wanted, size, slack)
        rows = _placed(_each_part(source, partial(picked, bound=bound)), strata)
        if np.all(np.bincount(rows["place"], minlength=size.size) >= wanted):
            return rows
        if np.all(bound[wanted > 0] == KEYS):
            raise ValueError(
                f"{source.label} gave fewer rows when it was read again; store it before sampling"
            )
        slack *= 4


def bounds(wanted: np.ndarray, size: np.ndarray, slack: float) -> np.ndarray:
    """Return a bound of the keys of each stratum below which there are, almost surely, as many rows as wanted."""
    share = np.where(wanted > 0, (wanted + slack * np.sqrt(wanted) + 20) / size, 0.0)
    return np.ceil(np.minimum(share, 1.0) * KEYS).astype(np.int64)


def _placed(parts: list, strata: np.ndarray) -> dict:
    rows = {name: _joined(parts, name) for name in parts[0]}
    rows["place"] = np.searchsorted(strata, np.array(rows["stratum"].tolist(), strata.dtype))
    rows["id"] = _plain_array(rows["id"])
    return rows


def _plain_array(values: np.ndarray) -> np.ndarray:
    entries = values.tolist() or [0]
    kind: Any = (
        object if isinstance(entries[0], str) else np.uint64 if max(entries) >= 2**63 else np.int64
    )
    return np.array(values.tolist(), kind)


def _ranks(ids: np.ndarray, name: str) -> np.ndarray:
    unique, rank, count = np.unique(ids, return_inverse=True, return_counts=True)
    for k in np.flatnonzero(count > 1)[:1]:
        raise ValueError(
            f"column {name!r} must identify rows; {_plain(unique[k])!r} occurs {count[k]} times"
        )
    return rank


def _below(
    native: Any,
    stratum: Callable,
    id: Callable,
    columns: list,
    seed: int,
    strata: np.ndarray,
    bound: np.ndarray,
) -> dict:
    """Return the rows whose key is below the bound of their stratum, as arrays."""
    import narwhals as nw

    frame = nw.from_native(native)
    kinds = frame.collect_schema()
    brought = [cells(kinds).alias(f"column {k}") for k, cells in enumerate(columns)]
    frame = frame.select(stratum(kinds).alias("stratum"), id(kinds).alias("id"), *brought)
    engine = frame.implementation.value if isinstance(frame, nw.LazyFrame) else "eager"
    if engine not in _FILTERS:
        raise TypeError(
            f"frame is of an engine that cannot be sampled, {engine}; write it to Parquet first"
        )
    return frames.to_arrays(nw.from_native(_FILTERS[engine](frame, seed, strata, bound)))


def _eager_filter(frame: Any, seed: int, strata: np.ndarray, bound: np.ndarray) -> Any:
    import narwhals as nw

    limit = dict(zip(strata.tolist(), bound.tolist(), strict=True))
    limits = np.array(
        [limit.get(stratum, 0) for stratum in frame["stratum"].to_numpy().tolist()], np.int64
    )
    keys = random_keys(frame["id"].to_numpy().tolist(), seed)
    kept = np.flatnonzero(keys < limits)
    return frame[kept].with_columns(
        nw.new_series("key", keys[kept], nw.Int64, backend=frame.implementation)
    )


def _polars_filter(frame: Any, seed: int, strata: np.ndarray, bound: np.ndarray) -> Any:
    import polars as pl

    limits = pl.LazyFrame({"stratum": strata.tolist(), "limit": bound})
    key = pl.col("id").map_batches(
        lambda ids: pl.Series(random_keys(ids.to_list(), seed)), pl.Int64, is_elementwise=True
    )
    return (
        frame.to_native()
        .join(limits, on="stratum")
        .with_columns(key=key)
        .filter(pl.col("key") < pl.col("limit"))
        .drop("limit")
    )


def _duckdb_filter(frame: Any, seed: int, strata: np.ndarray, bound: np.ndarray) -> Any:
    # digests are compared as text, as few of them need to become numbers; "g" is above them all
    texts = ["g" if each == KEYS else f"{each:015x}" for each in bound.tolist()]
    limits = (
        f"SELECT unnest({_sql_list(strata.tolist())}) AS named, unnest({_sql_list(texts)}) AS bound"
    )
    limit = f"(SELECT bound FROM ({limits}) WHERE named = stratum)"
    return (
        frame.to_native()
        .project(f"*, md5('{seed}:' || id) AS digest, {limit} AS bound")
        .filter("digest < bound")
        .project("* EXCLUDE (digest, bound), CAST('0x' || substr(digest, 1, 15) AS BIGINT) AS key")
    )


def _sql_list(values: list) -> str:
    """Return a list as one literal: DuckDB takes seconds to parse a hundred thousand of them."""
    literal = json.dumps(values).replace("'", "''")
    return (
        f"""from_json('{literal}', '["{"VARCHAR" if isinstance(values[0], str) else "BIGINT"}"]')"""
    )


def _spark_filter(frame: Any, seed: Any, strata: Any, bound: Any) -> Any:
    from pyspark.sql import functions as sf

    rows = frame.to_native()
    limits = rows.sparkSession.createDataFrame(
        list(zip(strata.tolist(), bound.tolist(), strict=True)), ["stratum", "bound"]
    )
    digest = sf.md5(sf.concat(sf.lit(f"{seed}:"), sf.col("id").cast("string")))
    key = sf.conv(sf.substring(digest, 1, 15), 16, 10).cast("long")
    return (
        rows.join(sf.broadcast(limits), "stratum")
        .withColumn("key", key)
        .filter("key < bound")
        .drop("bound")
    )


_FILTERS = {
    "eager": _eager_filter,
    "polars": _polars_filter,
    "duckdb": _duckdb_filter,
    "pyspark": _spark_filter,
}
