"""Columns of files and of data frames of any library.

Read `read_columns` first. `scan` opens sources of any size.
"""

import inspect
import itertools
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from numpy import ndarray

from workbench import checks
from workbench.data.columns import (
    Scan,
    TableSource,
    check_told_apart,
    distinct_names,
    found_columns,
)
from workbench.data.engine import is_relation, one_line, quoted, relation_columns, relation_of
from workbench.data.files import open_file
from workbench.data.json_records import without_choices
from workbench.data.numbers import RowError, objects, unmasked
from workbench.results import Note

FIRST_ROWS = 2_000  # number of rows from which roles of columns are guessed
P = ParamSpec("P")
T = TypeVar("T")


class NoRowsError(ValueError):
    """Error for a file or frame that has columns but no rows."""


def read_columns(
    source: Any, columns: Sequence[str]
) -> tuple[dict[str, ndarray], tuple[Note, ...]]:
    """Read the named columns of a file or a data frame.

    Parameters
    ----------
    source : str, path or data frame
        File or data frame; see Notes.
    columns : list of str
        Columns to read. If the header has a name in another case or with outer blanks, the column
        is found if only one column can be meant.

    Returns
    -------
    columns : dict of (N,) ndarray
        Text files give text (object arrays), other sources their own types. Missing cells are None;
        empty cells of a text file are missing.
    notes : tuple of Note
        Unusual properties of the source that a reader should know.

    Raises
    ------
    ValueError
        If the file is missing, empty, without data rows, of unknown ending or badly formed. Also if
        a column is missing or has a repeated name. The message is one line that names the file, the
        column or the line.

    Notes
    -----
    A file has one of these endings:

    - csv, tsv or txt: text in UTF-8, UTF-16 or Windows-1252, with the delimiter ; tab , or |,
    - json, ndjson or jsonl,
    - parquet,
    - xlsx: the first sheet, or the one named in "book.xlsx#sheet".

    Text and JSON files may be packed (.csv.gz, .csv.zst). A data frame is one of pandas, polars,
    pyarrow, DuckDB or another engine that narwhals supports. A dict of one-dimensional arrays is a
    data frame, too.

    Examples
    --------
    >>> columns, notes = read_columns({"id": ["007", "008"], "score": [0.5, 0.75]}, ["score"])
    >>> columns["score"].tolist(), notes
    ([0.5, 0.75], ())
    """
    table = _open(source)
    column_of = found_columns(table.label, table.names, distinct_names(columns))
    data, notes = table.fetch(list(column_of.values()))
    if not all(map(len, data.values())):
        raise NoRowsError(f"{table.label} has no data rows")
    _refuse_header_again(table.label, data)
    data, choices = without_choices(data)
    notes = (*notes, *choices)
    return {name: data[column] for name, column in column_of.items()}, notes


def _refuse_header_again(label: str, data: dict) -> None:
    """Raise if a row repeats the names of the columns, as in files that were concatenated."""
    first = next(iter(data))
    if len(data) < 2 or data[first].dtype.kind not in "OU":
        return
    for row, cell in enumerate(data[first].tolist()):
        if isinstance(cell, str) and cell == first:
            if all(str(cells[row]) == name for name, cells in data.items()):
                raise RowError(f"{label}, ", row, " repeats the names of the columns. Remove it")


def in_rows_of(argument: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function that reads the source `argument`, so that errors name spreadsheet rows.

    The header is row 1. The first row of data is row 2 unless there are lines above it; blank lines
    count. Sources without such rows (frames in memory, Parquet, JSON) have data rows from 1 on.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def reading(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except RowError as error:
                bound = inspect.signature(function).bind(*args, **kwargs)
                source = bound.arguments.get(argument)
                if _open(source).rows is None:
                    raise
                last = max(part for part in error.parts if not isinstance(part, str))
                rows = row_numbers(source, last + 1)
                raise ValueError(error.said(lambda row: f"row {rows[row]}")) from None

        return reading

    return decorated


def row_numbers(source: Any, size: int) -> list[int]:
    """Return the row numbers of the first `size` data rows, as `in_rows_of` names them."""
    rows = _open(source).rows
    return list(itertools.islice(rows() if rows else itertools.count(1), size))


def column_names(source: Any) -> tuple[str, ...]:
    """Return the column names of a file or a data frame, in order.

    Only the header of a text file is read; a JSON file is read as a whole.

    Parameters
    ----------
    source : str, path or data frame
        As for `read_columns`.

    Returns
    -------
    tuple of str
        Names of the columns.

    Examples
    --------
    >>> column_names({"id": [1, 2], "score": [0.5, 0.75]})
    ('id', 'score')
    """
    return _open(source).names


def row_count(path: str) -> int:
    """Return the number of data rows of a file."""
    with scan(path, column_names(path)[:1]) as rows:
        return len(rows.native)


@contextmanager
def scan(source: Any, columns: Sequence[str]) -> Iterator[Scan]:
    """Open a source of any size; DuckDB reads a file while the context is open.

    Parameters
    ----------
    source : str, path or data frame
        A file as for `read_columns`, a dict of arrays, or a data frame of pandas, polars, pyarrow,
        DuckDB, Dask, PySpark or another engine that narwhals supports. Workbooks and JSON are read
        as a whole.
    columns : list of str
        Columns that the source must have.

    Yields
    ------
    Scan
        Rows of the source.

    Raises
    ------
    ValueError
        If the file cannot be read, or a column is missing or has a repeated name.

    Examples
    --------
    >>> import duckdb
    >>> with scan(duckdb.sql("SELECT range AS id FROM range(3)"), ["id"]) as rows:
    ...     rows.label
    'the relation'
    """
    import narwhals as nw

    if not isinstance(source, dict):
        source = relation_of(source)
    table = _open(source, "frame")
    column_of = found_columns(table.label, table.names, distinct_names(columns))
    if _is_path(source):
        check_told_apart(table.label, column_of)
    if table.scan is not None:
        renamed = [f"c{k} AS {quoted(name)}" for k, name in enumerate(column_of)]
        with table.scan(list(column_of.values())) as rows:
            yield replace(rows, native=rows.native.project(", ".join(renamed)))
        return
    native = source
    notes = ()
    commas = None
    if _is_path(source):
        native, notes = table.fetch(list(column_of.values()))
        commas = True
    native = relation_of(native)
    names = {column: name for name, column in column_of.items() if column != name}
    if names:
        native = nw.from_native(native).rename(names).to_native()
    yield Scan(table.label, native, notes, commas)


def first_rows(source: Any, names: Sequence[str]) -> dict[str, ndarray]:
    """Return columns with the first rows of a file or data frame.

    Parameters
    ----------
    source : str, path or data frame
        As for `read_columns`.
    names : list of str
        Columns of the source.

    Examples
    --------
    >>> len(first_rows({"value": range(3_000)}, ["value"])["value"])
    2000
    """
    import narwhals as nw

    with scan(source, names) as rows:
        if is_relation(rows.native):
            return relation_columns(rows.native.limit(FIRST_ROWS), names)
        frame = nw.from_native(rows.native).select(*names)
        return to_arrays(frame.head(FIRST_ROWS))


def slices(rows: Scan, size: int, start: int = 0) -> Iterator[Any]:
    """Yield the rows of a file from row `start`, in parts of `size`; the file is read once.

    Parameters
    ----------
    rows : Scan
        Rows of a file.
    size : int
        Number of rows in a part.
    start : int
        First row, counted from 0.

    Examples
    --------
    >>> import duckdb
    >>> with scan({"id": [0, 1, 2, 3, 4]}, ["id"]) as rows:
    ...     [len(part) for part in slices(rows, 2, start=1)]
    [2, 2]
    """
    if not is_relation(rows.native):
        raise ValueError(f"{rows.label} can be read in parts only where DuckDB is installed")
    table = f"rows_{secrets.token_hex(8)}"
    rows.native.to_table(table)
    count = rows.native.query("all_rows", f"SELECT count(*) FROM {table}").fetchall()[0][0]
    for first in range(start, count, size):
        condition = f"rowid >= {first} AND rowid < {first + size}"
        yield rows.native.query("all_rows", f"SELECT * FROM {table} WHERE {condition}")


def is_empty(source: Any) -> bool:
    """Return whether a dict or a frame in memory has no rows; its columns may have no type."""
    if isinstance(source, dict):
        return not any(map(len, source.values()))
    return hasattr(source, "__len__") and not is_relation(source) and len(source) == 0


def batches_of(source: Any) -> Iterable:
    """Return the batches of an iterable of files or frames; a single one is its only batch.

    Parameters
    ----------
    source : str, path, data frame, or iterable of such
        Files or frames.
    """
    if _is_path(source) or isinstance(source, dict) or hasattr(type(source), "columns"):
        return [source]
    if not isinstance(source, Iterable):
        raise checks.WrongType("frame", "must be a file, a data frame, or batches of these", source)
    return source


def is_dask(source: Any) -> bool:
    """Return whether `source` is a Dask data frame."""
    package = type(source).__module__.partition(".")[0]
    return package == "dask" and hasattr(source, "to_delayed")


def as_arrow(part: Any) -> Any:
    """Return a pandas frame as an Arrow table, which DuckDB can group, if Arrow can hold it."""
    try:
        import pyarrow as pa

        return pa.Table.from_pandas(part, preserve_index=False)
    except (ImportError, ValueError, TypeError):
        return part  # cells of several types raise an error when they are read


def to_arrays(frame: Any) -> dict[str, ndarray]:
    """Return the columns of a narwhals frame as a dict of numpy arrays; missing cells are None."""
    native = frame.to_native()
    if is_relation(native):
        return relation_columns(native, native.columns)
    frame = frame.lazy().collect()
    return {name: _series_array(frame[name]) for name in frame.columns}


def check_source(name: str, source: Any) -> None:
    """Raise if `source`, the argument `name`, is neither a path nor a data frame."""
    if not _is_path(source) and not isinstance(source, dict):
        _open_frame(source, name)


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _open(source: Any, name: str = "source") -> TableSource:
    if _is_path(source):
        return open_file(source)
    if isinstance(source, dict):
        return _open_dict(source)
    return _open_frame(source, name)


def _open_dict(source: dict) -> TableSource:
    arrays = {}
    for name, values in source.items():
        array = arrays[name] = checks.cells(name, unmasked(values))
        if array.ndim != 1:
            raise ValueError(f"column {name!r} must be one-dimensional; got shape {array.shape}")
    if len({array.size for array in arrays.values()}) > 1:
        sizes = ", ".join(f"{name!r} has {array.size}" for name, array in arrays.items())
        raise checks.WrongValue("columns", f"must be of equal length; {sizes}")

    def fetch(names: Sequence) -> tuple:
        return {name: arrays[name] for name in names}, ()

    return TableSource("the dict", tuple(arrays), fetch)


def _open_frame(source: Any, name: str) -> TableSource:
    if is_dask(source):  # narwhals would warn of its plug-in

        def fetch_computed(names: Sequence) -> tuple:
            return _open(source[list(names)].compute()).fetch(names)

        return TableSource("the data frame", tuple(source.columns), fetch_computed)
    import narwhals as nw

    try:
        frame = nw.from_native(source)
        names = tuple(frame.collect_schema().names())
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"the data frame repeats column names: {one_line(error)}") from None
    except TypeError:
        raise TypeError(
            f"{name} must be a path or a data frame; got {type(source).__name__}"
        ) from None

    def fetch(names: Sequence) -> tuple:
        return to_arrays(frame.select(*names)), ()

    label = "the relation" if is_relation(source) else "the data frame"
    return TableSource(label, names, fetch)


def _series_array(series: Any) -> ndarray:
    if not series.null_count():
        return series.to_numpy()
    pairs = zip(series.to_list(), series.is_null().to_list(), strict=True)
    return objects([None if is_null else value for value, is_null in pairs])
