"""Summaries and exact samples per stratum, from files and data frames of any engine and size.

`summarize` computes sizes, means and standard deviations, and `sample` chooses rows. The engine
that holds the rows does the heavy work. Only the strata, and little more than the sampled rows,
come to Python. DuckDB reads files, which may be larger than memory. To read several files, or to
limit the memory, give a relation::

    duckdb.connect(config={"memory_limit": "1GB"}).read_parquet("part-*.parquet")

**Which rows are sampled.** Every id has a random key: the first 60 bits of the MD5 digest [1]_ of
``"seed:id"``. The sample of n rows of a stratum has the n smallest keys. It is a simple random
sample without replacement, provided that MD5 mixes well.

- The sample is the same on every engine and in any order of the rows. The id may be stored as a
  number or as text.
- With the same seed, a smaller sample is the beginning of a larger one. So you can sample more rows
  later.

**From scores to accuracy.** This works on a file of any size. A hundred thousand scores are enough
to cut strata::

    pilot = wb.sample(path, "score", {0: 100_000}, id="id", columns=["score"], edges=[0, 1])
    edges = wb.stratify(pilot.columns["score"], 10).edges
    expected = wb.summarize(path, "score", "score", edges=edges)
    plan = wb.allocate(expected.size, 300, "proportional")
    drawn = wb.sample(path, "score", plan, id="id", columns=["text"], edges=edges, seed=1)
    is_correct = your_labels(drawn.columns["text"])
    correct = np.bincount(drawn.stratum_index, is_correct, drawn.size.size).astype(int)
    estimate = wb.stratified_accuracy(drawn.size, drawn.drawn, correct)

**A stream in parts.** `sample_stream` takes a frame of Dask or PySpark, or batches of any kind.
Each partition is sampled where it is stored, and the engine merges the samples::

    estimate = wb.sample_stream(frame, 1000, by="stratum", value="value", id="id", passes=2)

With one pass, a merge keeps only the records below the thresholds of all partitions. If partitions
disagree about which stratum varies, few records remain. If the rows are stored, use two passes,
which give the optimal sample.

An infinite stream is processed batch by batch with `stream_batches`. It takes each batch once. With
PySpark::

    count = wb.stream_batches(wb.StreamSampler(1000, seed=0), checkpoint="sample.json")
    frame.writeStream.foreachBatch(lambda batch, number: count(batch, number)).start()

References
----------
.. [1] Rivest, The MD5 message-digest algorithm, RFC 1321, 1992.
.. [2] Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American
   Statistician 37, 1983.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.allocation.rules import Allocation, ranks_among_equals
from workbench.checks import WrongType, WrongValue
from workbench.data import engine, frames
from workbench.data.columns import CROSSED, crossed_names
from workbench.data.decimals import OTHER, SEPARATORS
from workbench.labeling.draws import random_keys
from workbench.results import Result, rows_of

KEYS = 2**60
SHOWN = 5


class StratumSummary(Result):
    """Size, mean and standard deviation of each stratum.

    `summarize` and `load_strata` return this result.

    Attributes
    ----------
    stratum : (H,) array of int or str
        Names of the strata, sorted; text is sorted by code point.
    size : (H,) array of int
        Rows per stratum.
    mean : (H,) array of float
        Mean value of each stratum; NaN if unknown.
    sd : (H,) array of float
        Standard deviation within each stratum, with ddof=1; 0 for a stratum with one row.

    See Also
    --------
    summarize : Return size, mean and standard deviation of a column per stratum.
    load_strata : Read strata with their sizes and standard deviations.
    """

    stratum: ndarray
    size: ndarray
    mean: ndarray
    sd: ndarray

    def headline(self) -> str:
        """Return the numbers of rows and strata and the overall mean in one sentence."""
        mean = float(self.size / self.size.sum() @ self.mean)
        rows = checks.counted(self.size.sum(), "row")
        return f"{rows}, {_strata(self.size.size)}, mean {mean:.4g}"

    def rows(self) -> list[dict]:
        """Return one row per stratum with its size, mean and standard deviation."""
        return rows_of(
            stratum=self.stratum,
            size=self.size,
            mean=self.mean,
            sd=self.sd,
        )


class FrameSample(Result):
    """A sample of rows per stratum.

    `sample` and `draw_rows` return this result. Rows are ordered by stratum. Within a stratum they
    are in random order, so the first m of them are a random sample of m rows.

    Attributes
    ----------
    id : (n,) array of int or str
        Identifiers of the sampled rows.
    stratum : (n,) array of int or str
        Stratum of each sampled row.
    stratum_index : (n,) array of int
        Position of this stratum in `strata`, from 0 to H - 1.
    strata : (H,) array of int or str
        Names of all strata of the frame, sorted as in `StratumSummary`.
    size : (H,) array of int
        Rows of the frame per stratum.
    drawn : (H,) array of int
        Sampled rows per stratum.
    seed : int
        Seed of the sample.
    columns : dict of (n,) array
        Further columns of the sampled rows.

    See Also
    --------
    sample : Sample an exact number of rows per stratum.
    draw_rows : Sample the records that a plan asks for.
    """

    id: ndarray
    stratum: ndarray
    stratum_index: ndarray
    strata: ndarray
    size: ndarray
    drawn: ndarray
    seed: int
    columns: dict = field(default_factory=dict)

    def headline(self) -> str:
        """Return the number of sampled rows and the seed in one sentence."""
        rows = checks.counted(self.size.sum(), "row")
        return f"{self.id.size:,} of {rows}, {_strata(self.size.size)}, seed {self.seed}"

    def rows(self) -> list[dict]:
        """Return one row per sampled row with stratum, id and the other columns."""
        return rows_of(
            stratum=self.stratum,
            id=self.id,
            **self.columns,
        )


def summarize(
    frame: Any,
    by: str,
    value: str,
    *,
    edges: ArrayLike | None = None,
) -> StratumSummary:
    """Return size, mean and standard deviation of a column per stratum.

    The engine that holds the rows computes them, so the file or data frame may be larger than
    memory.

    Parameters
    ----------
    frame : str, path or data frame
        File (text, Parquet, JSON or a workbook), or data frame of pandas, polars, pyarrow, DuckDB,
        Dask or PySpark. Frames of polars may be lazy.
    by : str
        Column of the strata: text, whole numbers or booleans, which become 0 and 1. Strata of a
        text file are text. With several columns, such as "sex,status", each combination of their
        values is a stratum. With `edges`, it is a column of numbers.
    value : str
        Column of finite numbers or booleans, without missing cells.
    edges : (K + 1,) array_like of float, optional
        Edges that cut the column `by` into the strata 0 to K - 1, as in `Strata`. Stratum k is the
        cell (edges[k], edges[k + 1]]. Numbers outside belong to the first or the last stratum. A
        stratum without rows is left out.

    Returns
    -------
    StratumSummary
        Size, mean and standard deviation of each stratum.

    Raises
    ------
    ValueError
        If a column or a cell is missing, a value is not finite, or there are no rows. The message
        names the column and the stratum.
    TypeError
        If a column has another type, or the engine of the frame is unknown.

    See Also
    --------
    sample : Sample an exact number of rows per stratum.
    allocate : Allocate a budget of labels to strata.

    Notes
    -----
    Partitions of a Dask frame are summarized one by one and merged as in [1]_. Dask itself computes
    sums of squares that lose all digits if the standard deviation is small and the mean large.

    References
    ----------
    .. [1] Chan, Golub & LeVeque, Algorithms for computing the sample variance, The American
       Statistician 37, 1983.

    Examples
    --------
    >>> import duckdb
    >>> columns = "range AS id, range % 3 AS g, range / 10 AS score"
    >>> frame = duckdb.sql(f"SELECT {columns} FROM range(1000)")
    >>> summarize(frame, "g", "score").size
    array([334, 333, 333])
    >>> summarize(frame, "score", "score", edges=[0, 20, 99.9])
    StratumSummary(1,000 rows, 2 strata, mean 49.95)
    """
    inner = _inner_edges(edges)
    with frames.scan(frame, [*_crossed(by, frame), value]) as source:
        expressions = {"stratum": _stratum_of(source, by, inner), "value": _value_of(source, value)}
        parts = _each_part(source, partial(_counted, expressions=expressions))
    columns = {"stratum": by, "value": value}
    strata = _merged(parts, source.label, columns, is_cut=inner is not None)
    return StratumSummary(**strata, notes=source.notes)


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
    """Sample an exact number of rows per stratum.

    The sample is the same on every engine and in any order of the rows. The file or data frame may
    be larger than memory.

    Parameters
    ----------
    frame : str, path or data frame
        File or data frame, as in `summarize`.
    by : str
        Column of the strata, as in `summarize`.
    sizes : dict or Allocation
        Rows to sample per stratum. A dict maps strata to whole numbers; strata that are not in it
        get no rows. An `Allocation` must be made for the strata of this frame, in the order of
        `summarize`.
    id : str
        Column that identifies a row: text, or whole numbers of at most 64 bits, without missing
        cells.
    seed : int, default 0
        Seed of the sample, at least 0. Another seed samples other rows.
    columns : list of str, optional
        Further columns to return, such as the text to be labeled.
    edges : (K + 1,) array_like of float, optional
        Edges that cut the column `by` into strata, as in `summarize`.

    Returns
    -------
    FrameSample
        Sampled rows, ordered by stratum and then at random.

    Raises
    ------
    ValueError
        If a column or a cell of it is missing, a stratum is unknown or has too few rows, an
        allocation is for other sizes, or an id repeats. Only ids with small keys are checked for
        repeats, because a check of the whole column would need too much memory.
    TypeError
        If a column has another type, or the engine of the frame is unknown.

    See Also
    --------
    summarize : Return size, mean and standard deviation of a column per stratum.
    allocate : Allocate a budget of labels to strata.
    draw_rows : Sample the records that a plan asks for.

    Notes
    -----
    The key of a row is the first 60 bits of MD5("seed:id"). The sample of a stratum has the rows
    with the smallest keys. To sample n of N rows, the engine returns the rows with keys in the
    lowest part of the range of keys. This part is (n + 6 sqrt(n) + 20) / N. Python then ranks these
    rows. If a stratum has too few of them, the bound is raised.

    Examples
    --------
    >>> import duckdb
    >>> columns = "range AS id, range % 3 AS g, 'item ' || range AS text"
    >>> frame = duckdb.sql(f"SELECT {columns} FROM range(1000)")
    >>> drawn = sample(frame, "g", {0: 2, 2: 1}, id="id", columns=["text"])
    >>> drawn.drawn, drawn.columns["text"].tolist()
    (array([2, 0, 1]), ['item 750', 'item 465', 'item 209'])
    """
    inner = _inner_edges(edges)
    seed = checks.seed("seed", seed)
    columns = _further(columns)
    with frames.scan(frame, [*_crossed(by, frame), id, *columns]) as source:
        expressions = {"stratum": _stratum_of(source, by, inner), "id": partial(_id, name=id)}
        parts = _each_part(source, partial(_counted, expressions=expressions))
        names = {"stratum": by, "id": id}
        strata, size = _merged(parts, source.label, names, is_cut=inner is not None).values()
        n_rows = _rows_wanted(sizes, strata, size)
        for k, name in enumerate(columns):
            expressions[f"column {k}"] = partial(_cells, name=name)

        def rows_below(bound: ndarray) -> dict:
            below = partial(
                _below,
                expressions=expressions,
                seed=seed,
                strata=strata,
                bound=bound,
            )
            return _placed(_each_part(source, below), strata)

        rows = smallest_keys(rows_below, n_rows, size, np.full(size.size, KEYS))
        if (np.bincount(rows["place"], minlength=size.size) < n_rows).any():
            raise ValueError(
                f"{source.label} gave fewer rows when it was read again; store it before sampling"
            )
    ranks = _ranks(rows["id"], id)
    order = np.lexsort((ranks, rows["key"], rows["place"]))
    stratum = rows["place"][order]
    chosen = order[ranks_among_equals(stratum) < n_rows[stratum]]
    stratum = rows["place"][chosen]
    further = {}
    for k, name in enumerate(columns):
        further[name] = rows[f"column {k}"][chosen]
    return FrameSample(
        rows["id"][chosen],
        strata[stratum],
        stratum,
        strata,
        size,
        n_rows,
        seed,
        further,
        notes=source.notes,
    )


def streamed(
    source: Any,
    by: str,
    value: str,
    id: str,
    seed: int,
) -> Callable[[Any], tuple[dict, Callable]]:
    """Return a function that summarizes a part of a scan and prepares the sampling of its rows.

    The function returns sizes, means and standard deviations of the strata, and a second function.
    That one maps a bound on the keys of each stratum to the rows below it. Their value is the
    column "column 0".
    """
    stratum = _stratum_of(source, by, None)
    id_cells = partial(_id, name=id)
    values = _value_of(source, value)
    to_count = {"stratum": stratum, "value": values, "id": id_cells}
    to_sample = {"stratum": stratum, "id": id_cells, "column 0": values}
    columns = {"stratum": by, "value": value, "id": id}

    def part(native: Any) -> tuple[dict, Callable]:
        summary = _merged([_counted(native, to_count)], source.label, columns)
        strata = summary["stratum"]

        def rows_below(bound: ndarray) -> dict:
            rows = _below(native, to_sample, seed, strata, bound)
            return _placed([rows], strata)

        return summary, rows_below

    return part


# ---------------------------------------------------------------- arguments


def _strata(count: int) -> str:
    return checks.counted(count, "stratum", "strata")


def _inner_edges(edges: ArrayLike | None) -> list | None:
    if edges is None:
        return None
    edges = checks.vector("edges", edges)
    if edges.size < 2 or np.any(np.diff(edges) < 0):
        rule = f"must be at least two numbers in increasing order; got {edges.tolist()}"
        raise WrongValue("edges", rule)
    return edges[1:-1].tolist()


def _further(columns: Iterable) -> list[str]:
    if isinstance(columns, str):
        raise WrongType("columns", "must be a list of names", columns)
    columns = list(dict.fromkeys(columns))
    for name in {"stratum", "id"}.intersection(columns):
        rule = f"must not name {name!r}, because the sample already has a column of this name"
        raise WrongValue("columns", rule)
    return columns


def _rows_wanted(
    sizes: Mapping | Allocation,
    strata: ndarray,
    size: ndarray,
) -> ndarray:
    """Return the number of rows to sample from each stratum, (H,)."""
    if isinstance(sizes, Allocation):
        if not np.array_equal(sizes.stratum_size, size):
            here = checks.listed(size.tolist(), SHOWN)
            there = checks.listed(sizes.stratum_size.tolist(), SHOWN)
            raise WrongValue(
                "sizes",
                f"must be an allocation to the strata of this frame, which have {here} rows; this "
                f"one is for {there} rows. Use allocate(summarize(...).size, ...)",
            )
        return checks.counts("sizes", sizes.labeled)
    if not isinstance(sizes, dict):
        rule = "must be a dict from strata to numbers of rows, or an Allocation"
        raise WrongType("sizes", rule, told=f"got {type(sizes).__name__}")
    names = strata.tolist()
    for stratum in sizes.keys() - set(names):
        listed = checks.listed(names, SHOWN, quoted=True)
        raise ValueError(f"sizes names stratum {stratum!r}; the frame has {listed}")
    n_rows = []
    for stratum, most in zip(names, size.tolist(), strict=True):
        rows = checks.whole(f"sizes[{stratum!r}]", sizes.get(stratum, 0), 0, most)
        n_rows.append(rows)
    if not any(n_rows):
        raise WrongValue("sizes", "must ask for at least one row")
    return np.array(n_rows, int)


# ---------------------------------------------------------------- strata and their statistics


def _each_part(source: Any, function: Callable) -> list:
    """Apply a function to the native frame, or to each part of a Dask frame where it is stored."""
    if not frames.is_dask(source.native):
        return [function(source.native)]
    import dask

    of_part = dask.delayed(_of_part)
    parts = [of_part(part, function) for part in source.native.to_delayed()]
    return list(dask.compute(*parts))


def _of_part(part: Any, function: Callable) -> Any:
    """Apply a function to a partition of pandas, so that DuckDB groups and hashes its rows."""
    return function(engine.relation_of(frames.as_arrow(part)))


def _selected(native: Any, expressions: dict) -> Any:
    """Return the narwhals frame with a column of each expression."""
    import narwhals as nw

    frame = nw.from_native(native)
    kinds = frame.collect_schema()
    columns = [column(kinds).alias(name) for name, column in expressions.items()]
    return frame.select(columns)


def _counted(native: Any, expressions: dict) -> dict:
    """Return the rows of each stratum and the filled cells of the other columns, as arrays.

    If there is a column "value", its mean and standard deviation are returned, too.
    """
    import narwhals as nw

    statistics = [nw.len().alias("rows")]
    statistics += [nw.col(name).count() for name in expressions if name != "stratum"]
    if "value" in expressions:
        value = nw.col("value")
        statistics += [value.mean().alias("mean"), value.std(ddof=1).alias("sd")]
    grouped = _selected(native, expressions).group_by("stratum")
    return frames.to_arrays(grouped.agg(*statistics))


def _merged(
    parts: list,
    label: str,
    columns: dict,
    is_cut: bool = False,
) -> dict:
    """Return the strata of all parts and their sizes; with values also means and sds.

    Parameters
    ----------
    parts : list of dict
        Counts of the parts, from `_counted`.
    label : str
        Name of the source, for messages.
    columns : dict of str to str
        Names that the counted columns have in the source.
    is_cut : bool
        Whether strata are cells of numbers.
    """
    rows = _joined(parts, "rows").astype(int)
    labels = _joined(parts, "stratum").tolist()
    if not rows.size:
        raise frames.NoRowsError(f"{label} has no data rows")
    if None in labels:
        missing = rows[[stratum is None for stratum in labels]].sum()
        rule = f"must hold {'a finite number' if is_cut else 'a stratum'} in every row"
        raise ValueError(
            f"column {columns['stratum']!r} of {label} {rule}; it holds none in {missing} of "
            f"{rows.sum()}"
        )
    strata, code = np.unique(np.array(labels), return_inverse=True)
    size = np.bincount(code, rows).astype(int)
    for name, column in list(columns.items())[1:]:
        empty = size - np.bincount(code, _joined(parts, name))
        for k in np.flatnonzero(empty)[:1]:
            raise ValueError(
                f"column {column!r} of {label} must have no missing cells; it has "
                f"{int(empty.sum())}, the first in stratum {strata[k].item()!r}"
            )
    if "value" not in columns:
        return {"stratum": strata, "size": size}
    mean = _joined(parts, "mean").astype(float)
    sd = _joined(parts, "sd").astype(float)
    for k in np.flatnonzero(~np.isfinite(mean))[:1]:
        raise ValueError(
            f"column {columns['value']!r} of {label} must be finite; stratum {labels[k]!r} has a "
            "value that is not"
        )
    # means and sds of any number of parts by the formula of Chan, Golub & LeVeque
    first = np.zeros(size.size)
    first[code] = mean
    shift = np.bincount(code, rows * (mean - first[code]))
    center = first + shift / size
    within = np.where(rows > 1, (rows - 1) * sd**2, 0.0)
    between = rows * (mean - center[code]) ** 2
    squares = np.bincount(code, within + between)
    spread = np.sqrt(squares / np.maximum(size - 1, 1))
    return {
        "stratum": strata,
        "size": size,
        "mean": center,
        "sd": spread,
    }


def _joined(parts: list, name: str) -> ndarray:
    return np.concatenate([part[name] for part in parts])


# ---------------------------------------------------------------- columns as expressions


def _stratum_of(source: Any, by: str, inner: list | None) -> Callable:
    decimal_mark = None if inner is None else source.mark(by)
    return partial(
        _stratum,
        name=by,
        inner=inner,
        decimal_mark=decimal_mark,
    )


def _value_of(source: Any, value: str) -> Callable:
    return partial(_number, name=value, decimal_mark=source.mark(value))


def _crossed(by: str, frame: Any) -> list[str]:
    """Return the columns of the strata; several if their names are joined by commas."""
    if "," not in str(by):
        return [by]
    return crossed_names(by, frames.column_names(frame))


def _stratum(
    kinds: Any,
    name: str,
    inner: list | None,
    decimal_mark: str | None,
) -> Any:
    import narwhals as nw

    if name not in kinds:
        parts = [_stratum(kinds, part, None, decimal_mark) for part in crossed_names(name, kinds)]
        texts = [part.cast(nw.String) for part in parts]
        return nw.concat_str(texts, separator=CROSSED)
    if inner is not None:
        score = _number(kinds, name, decimal_mark)
        edges_below = [(score > edge).cast(nw.Int64) for edge in inner]
        cell = sum(edges_below, start=nw.lit(0, nw.Int64))
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


def _number(kinds: Any, name: str, decimal_mark: str | None) -> Any:
    """Return numbers and booleans as floats, even from a text file with a decimal comma."""
    import narwhals as nw

    kind = kinds[name]
    column = nw.col(name)
    if kind.is_numeric() or kind == nw.Boolean:
        return column.cast(nw.Float64)
    if decimal_mark is None:
        raise TypeError(f"column {name!r} must hold numbers or booleans; it is {kind}")
    lower = column.str.to_lowercase().str.strip_chars()
    digits = _pointed(column, decimal_mark) if decimal_mark else column
    numbers = nw.when(lower == "false").then(nw.lit("0")).otherwise(digits)
    numbers = nw.when(lower == "true").then(nw.lit("1")).otherwise(numbers)
    refused = nw.concat_str(column, nw.lit(engine.NO_NUMBER))
    is_refused = column.str.contains("_", literal=True)
    return nw.when(is_refused).then(refused).otherwise(numbers).cast(nw.Float64)


def _pointed(column: Any, decimal_mark: str) -> Any:
    """Return numbers in text as `workbench.data.decimals.pointed` does."""
    text = column.str.strip_chars().str.replace_all(OTHER[decimal_mark], "", literal=True)
    return text.str.replace_all(SEPARATORS, "").str.replace_all(decimal_mark, ".", literal=True)


def _id(kinds: Any, name: str) -> Any:
    import narwhals as nw

    kind = kinds[name]
    if kind.is_integer() and kind not in (nw.Int128, nw.UInt128):
        return nw.col(name)
    return _as_text(name, kind, "text or whole numbers of at most 64 bits to identify rows")


def _as_text(name: str, kind: Any, rule: str) -> Any:
    """Return a column as text. A text column is not cast: pandas 2 would turn gaps into "None"."""
    import narwhals as nw

    if kind == nw.String:
        return nw.col(name)
    if kind in (nw.Categorical, nw.Enum):
        return nw.col(name).cast(nw.String)
    message = f"column {name!r} must hold {rule}; it is {kind}"
    if kind.is_float():
        message += " (pandas makes floats of whole numbers when cells are missing)"
    raise TypeError(message)


# ---------------------------------------------------------------- rows of small keys


def smallest_keys(
    below: Callable,
    n: ndarray,
    size: ndarray,
    limit: ndarray,
) -> dict:
    """Return at least the n rows with the smallest keys of each stratum, or all below a limit.

    Parameters
    ----------
    below : callable
        Function from a bound on the keys of each stratum to the rows below it.
    n, size, limit : (H,) array of int
        Rows wanted, rows in all, and largest bound of each stratum.
    """
    slack = 6.0
    while True:
        bound = np.minimum(bounds(n, size, slack), limit)
        rows = below(bound)
        fetched = np.bincount(rows["place"], minlength=size.size)
        if ((fetched >= n) | (bound == limit)).all():
            return rows
        slack *= 4


def bounds(n: ndarray, size: ndarray, slack: float) -> ndarray:
    """Return a bound on the keys of each stratum, below which almost surely n or more rows lie."""
    expected = n + slack * np.sqrt(n) + 20
    share = np.where(n > 0, expected / size, 0.0)
    return np.ceil(np.minimum(share, 1.0) * KEYS).astype(int)


def _placed(parts: list, strata: ndarray) -> dict:
    """Return the rows of all parts with the index of their stratum; ids are numbers or objects."""
    rows = {name: _joined(parts, name) for name in parts[0]}
    stratum = np.array(rows["stratum"].tolist(), strata.dtype)
    rows["place"] = np.searchsorted(strata, stratum)
    ids = rows["id"].tolist()
    if ids and isinstance(ids[0], str):
        rows["id"] = np.array(ids, object)
    else:
        kind = np.uint64 if max(ids, default=0) >= 2**63 else int
        rows["id"] = np.array(ids, kind)
    return rows


def _ranks(ids: ndarray, name: str) -> ndarray:
    distinct, rank, count = np.unique(ids, return_inverse=True, return_counts=True)
    for k in np.flatnonzero(count > 1)[:1]:
        repeated = distinct[[k]].tolist()[0]
        raise ValueError(
            f"column {name!r} must identify rows; {repeated!r} occurs {count[k]} times"
        )
    return rank


def _below(
    native: Any,
    expressions: dict,
    seed: int,
    strata: ndarray,
    bound: ndarray,
) -> dict:
    """Return the rows whose key is below the bound of their stratum, as arrays."""
    import narwhals as nw

    frame = _selected(native, expressions)
    engine = frame.implementation.value if isinstance(frame, nw.LazyFrame) else "eager"
    if engine not in _FILTERS:
        raise TypeError(
            f"frame belongs to an engine that cannot be sampled, {engine}; write it to Parquet "
            "first"
        )
    rows = _FILTERS[engine](frame, seed, strata, bound)
    return frames.to_arrays(nw.from_native(rows))


def _eager_filter(
    frame: Any,
    seed: int,
    strata: ndarray,
    bound: ndarray,
) -> Any:
    import narwhals as nw

    limit_of = dict(zip(strata.tolist(), bound.tolist(), strict=True))
    stratum_of_rows = frame["stratum"].to_numpy().tolist()
    limits = [limit_of.get(stratum, 0) for stratum in stratum_of_rows]
    keys = random_keys(frame["id"].to_numpy().tolist(), seed)
    rows = np.flatnonzero(keys < np.array(limits, int))
    key = nw.new_series("key", keys[rows], nw.Int64, backend=frame.implementation)
    return frame[rows].with_columns(key)


def _polars_filter(
    frame: Any,
    seed: int,
    strata: ndarray,
    bound: ndarray,
) -> Any:
    import polars as pl

    def keys_of(ids: pl.Series) -> pl.Series:
        return pl.Series(random_keys(ids.to_list(), seed))

    limits = pl.LazyFrame({"stratum": strata.tolist(), "bound": bound})
    key = pl.col("id").map_batches(keys_of, pl.Int64, is_elementwise=True)
    rows = frame.to_native().join(limits, on="stratum").with_columns(key=key)
    return rows.filter(pl.col("key") < pl.col("bound")).drop("bound")


def _duckdb_filter(
    frame: Any,
    seed: int,
    strata: ndarray,
    bound: ndarray,
) -> Any:
    # digests are compared as text, as few of them need to become numbers; "g" is above them all
    texts = ["g" if limit == KEYS else f"{limit:015x}" for limit in bound.tolist()]
    columns = (
        f"unnest({_sql_list(strata.tolist())}) AS named",
        f"unnest({_sql_list(texts)}) AS bound",
    )
    limit = f"(SELECT bound FROM (SELECT {', '.join(columns)}) WHERE named = stratum)"
    rows = frame.to_native().project(f"*, md5('{seed}:' || id) AS digest, {limit} AS bound")
    key = "CAST('0x' || substr(digest, 1, 15) AS BIGINT) AS key"
    return rows.filter("digest < bound").project(f"* EXCLUDE (digest, bound), {key}")


def _sql_list(values: list) -> str:
    """Return a list as one literal, because DuckDB parses many literals slowly."""
    literal = json.dumps(values).replace("'", "''")
    kind = "VARCHAR" if isinstance(values[0], str) else "BIGINT"
    return f"""from_json('{literal}', '["{kind}"]')"""


def _spark_filter(
    frame: Any,
    seed: int,
    strata: ndarray,
    bound: ndarray,
) -> Any:
    from pyspark.sql import functions as sf

    rows = frame.to_native()
    pairs = list(zip(strata.tolist(), bound.tolist(), strict=True))
    limits = rows.sparkSession.createDataFrame(pairs, ["stratum", "bound"])
    seed_and_id = sf.concat(sf.lit(f"{seed}:"), sf.col("id").cast("string"))
    digest = sf.md5(seed_and_id)
    key = sf.conv(sf.substring(digest, 1, 15), 16, 10).cast("long")
    rows = rows.join(sf.broadcast(limits), "stratum").withColumn("key", key)
    return rows.filter("key < bound").drop("bound")


_FILTERS = {
    "eager": _eager_filter,
    "polars": _polars_filter,
    "duckdb": _duckdb_filter,
    "pyspark": _spark_filter,
}
