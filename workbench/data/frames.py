"""Columns of files and data frames of any engine, as numpy arrays.

Text files are read as text and numbers are parsed here, so that identifiers keep their leading zeros
and every number is the one Python's `float` reads. Data rows are counted from 1 below the header;
blank lines do not count.
"""
import atexit
import codecs
import csv
import decimal
import gc
import json
import numbers
import os
import re
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from workbench import checks

DELIMITERS = ";\t,|"
LONGEST_HEADER = 1 << 20
LONGEST_LABEL = 200
CHUNK = 1 << 20
EXACT_WHOLE = 2.0 ** 53

_PLAIN = frozenset("0123456789.+-eE")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:[.,'\u2019\s][0-9]{3})+(?:[.,][0-9]+)?")
_THOUSANDS_OR_DECIMALS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_CACHE = type(cache(len))
_TRUTH = {"true": "1", "false": "0"}


@dataclass(frozen=True)
class _Table:
    """A source whose columns can be fetched: `fetch(names)` returns (dict of arrays, notes)."""

    label: str
    names: tuple
    fetch: Callable


def read_columns(source, columns):
    """Read the named columns of a file or a data frame.

    Parameters
    ----------
    source : str, path or data frame
        A file ending in csv, tsv, txt (UTF-8, UTF-16 or Windows-1252 text; delimiter ; tab , or |),
        parquet, json, ndjson or jsonl; or a data frame of pandas, polars, pyarrow, DuckDB or any other
        engine narwhals knows; or a dict of one-dimensional arrays.
    columns : list of str
        Columns to read, as the header names them.

    Returns
    -------
    columns : dict of (N,) ndarray
        Text files give text (object arrays), other sources their own types. Missing cells are None;
        an empty cell of a text file is missing.
    notes : tuple of str
        What was unusual and is worth telling the reader.

    Raises
    ------
    ValueError
        If the file is missing, empty, without data rows, of unknown ending or badly formed, or if a
        column is missing or named twice. One line that names the file, the column or the line.

    Examples
    --------
    >>> columns, notes = read_columns({"id": ["007", "008"], "score": [0.5, 0.75]}, ["score"])
    >>> columns["score"].tolist(), notes
    ([0.5, 0.75], ())
    """
    table = _open(source)
    wanted = _wanted(columns)
    _check_columns(table, wanted)
    data, notes = table.fetch(wanted)
    if not len(data[wanted[0]]):
        raise ValueError(f"{table.label} has no data rows")
    return data, tuple(notes)


def column_names(source):
    """Return the column names of a file or a data frame, in order.

    Only the header of a text file is read; a JSON file is read as a whole.

    Parameters
    ----------
    source : str, path or data frame
        As for `read_columns`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> column_names({"id": [1, 2], "score": [0.5, 0.75]})
    ('id', 'score')
    """
    return _open(source).names


@dataclass(frozen=True)
class Scan:
    """Rows of a source, still in its own engine.

    Attributes
    ----------
    label : str
        How messages call the source.
    native : data frame
        A DuckDB relation for a file, else the frame as given.
    text : bool
        Whether every column is text because the file is.
    notes : tuple of str
        What was unusual and is worth telling the reader.
    """

    label: str
    native: object
    text: bool = False
    notes: tuple = ()


@contextmanager
def scan(source, columns):
    """Open a source of any size without reading it; a file is read by DuckDB while the context lasts.

    Parameters
    ----------
    source : str, path or data frame
        A file ending in csv, tsv, txt or parquet, or a data frame of pandas, polars, pyarrow, DuckDB,
        Dask, PySpark or any other engine narwhals knows.
    columns : list of str
        Columns that must be there.

    Yields
    ------
    Scan

    Raises
    ------
    ValueError
        If the file cannot be read or a column is missing or named twice.

    Examples
    --------
    >>> import duckdb
    >>> with scan(duckdb.sql("SELECT range AS id FROM range(3)"), ["id"]) as rows:
    ...     rows.label
    'the relation'
    """
    wanted = _wanted(columns)
    _end_quietly()
    if not isinstance(source, (str, os.PathLike)):
        table = _Table("the data frame", tuple(source.columns), None) if is_dask(source) else _open_any_frame(source)
        _check_columns(table, wanted)
        yield Scan(table.label, source)
        return
    path, label, ending = _existing_file(source, _SCANNED)
    with (_scan_parquet if ending == ".parquet" else _scan_text)(path, label, wanted) as rows:
        yield rows


@cache
def _end_quietly():
    """Empty the caches of narwhals when Python ends: DuckDB prints a long list of what they still hold of it."""
    @atexit.register
    def empty():
        for thing in gc.get_objects():
            if isinstance(thing, _CACHE) and str(getattr(thing, "__module__", "")).startswith("narwhals."):
                thing.cache_clear()


def is_dask(source):
    """Return whether `source` is a Dask data frame."""
    return type(source).__module__.partition(".")[0] == "dask" and hasattr(source, "to_delayed")


def to_arrays(frame):
    """Return the columns of a narwhals frame as a dict of numpy arrays; missing cells are None."""
    native = frame.to_native()
    if _is_relation(native):
        return _relation_columns(native, native.columns)
    frame = frame.lazy().collect()
    return {name: _series_array(frame[name]) for name in frame.columns}


def to_numbers(name, column):
    """Return a column as finite floats.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Numbers, booleans or text with a decimal point or a decimal comma; true and false become 1 and 0.

    Returns
    -------
    (N,) ndarray of float

    Raises
    ------
    ValueError
        For a cell that is missing, not a number or not finite, for a thousands separator, and for a
        column that mixes decimal points and decimal commas. Data rows are counted from 1 below the header.

    Examples
    --------
    >>> to_numbers("score", np.array(["0,5", " 1", "true"], object)).tolist()
    [0.5, 1.0, 1.0]
    >>> to_numbers("score", np.array(["0.5", "1", "abc"], object))
    Traceback (most recent call last):
    ValueError: column 'score', data row 3: 'abc' is not a number
    """
    array = np.asarray(column)
    if array.dtype.kind in "biuf":
        parsed = array.astype(float)
    else:
        texts = _present(name, array)
        parsed, problem = _parse(texts)
        if problem:
            raise ValueError(f"column {name!r}, {problem}")
    _refuse_infinite(name, array, parsed)
    return parsed


def to_labels(name, column):
    """Return a column as class labels: numbers where every cell is a number, else stripped text.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Numbers, booleans or text.

    Returns
    -------
    (N,) ndarray
        int where all labels are whole numbers ("01", "1" and "1.0" are one label), else float, else str.

    Raises
    ------
    ValueError
        For a cell that is missing or not finite, or text of more than 200 characters. Data rows are
        counted from 1 below the header.

    Examples
    --------
    >>> to_labels("truth", np.array(["1", " 0", "true"], object)).tolist()
    [1, 0, 1]
    >>> to_labels("truth", np.array([" cat", "dog", "1"], object)).tolist()
    ['cat', 'dog', '1']
    """
    array = np.asarray(column)
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind in "bf":
        return _whole_if_exact(to_numbers(name, array))
    texts = _present(name, array)
    parsed, problem = _parse(texts)
    if problem or not np.all(np.abs(parsed) < EXACT_WHOLE):
        return _text_labels(name, texts)
    return _whole_if_exact(parsed)


def to_ids(name, column):
    """Return a column as identifiers: numbers as they are, everything else as stripped text.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : (N,) ndarray
        Whole numbers, finite numbers or text.

    Returns
    -------
    (N,) ndarray
        Of the dtype given, or of str objects.

    Raises
    ------
    ValueError
        For a missing or a repeated identifier; names it and its data rows, counted from 1 below the
        header.

    Examples
    --------
    >>> to_ids("id", np.array([" 007", "7"], object)).tolist()
    ['007', '7']
    """
    array = np.asarray(column)
    if array.dtype.kind in "iuf":
        _refuse_infinite(name, array, array)
    else:
        array = _objects(_present(name, array))
    _refuse_repeated(name, array.tolist())
    return array


def as_text(column):
    """Return a column as a list of stripped str, with "" for a missing cell.

    Examples
    --------
    >>> as_text(np.array([" 007", None, 3], object))
    ['007', '', '3']
    """
    values = np.asarray(column).tolist()
    try:
        return list(map(str.strip, values))
    except TypeError:       # not only text
        return [_text(value) for value in values]


def _wanted(columns):
    if isinstance(columns, str):
        raise TypeError(f"columns must be a list of names; got {columns!r}")
    wanted = list(dict.fromkeys(columns))
    if not wanted:
        raise ValueError("columns must name at least one column")
    return wanted


def _open(source):
    if isinstance(source, (str, os.PathLike)):
        return _open_file(source)
    if isinstance(source, dict):
        return _open_dict(source)
    return _open_any_frame(source)


def _open_any_frame(source):
    return _open_relation(source) if _is_relation(source) else _open_frame(source)


def _is_relation(source):
    return type(source).__name__ == "DuckDBPyRelation"


def _open_file(source):
    path, label, ending = _existing_file(source, _OPENERS)
    return _OPENERS[ending](path, label)


def _existing_file(source, endings):
    path = os.path.expanduser(os.fspath(source))
    label = repr(path)
    if not os.path.isfile(path):
        raise ValueError(f"no such file: {label}")
    ending = os.path.splitext(path)[1].lower()
    if ending not in endings:
        raise ValueError(f"{label} must end in one of {', '.join(endings)}")
    if os.path.getsize(path) == 0:
        raise ValueError(f"{label} is empty")
    return path, label, ending


def _check_columns(table, wanted):
    for name in wanted:
        _check_column(table, name)


def _check_column(table, name):
    found = table.names.count(name)
    if found > 1:
        raise ValueError(f"{table.label} has {found} columns named {name!r}; rename all but one")
    if not found:
        present = ", ".join(map(repr, table.names))
        raise ValueError(f"{table.label} has no column {name!r}; it has {present}"
                         + checks.suggestion(name, map(str, table.names)))


def _open_dict(source):
    arrays = {name: np.asarray(values) for name, values in source.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise ValueError(f"column {name!r} must be one-dimensional; got shape {array.shape}")
    if len({array.size for array in arrays.values()}) > 1:
        sizes = ", ".join(f"{name!r} has {array.size}" for name, array in arrays.items())
        raise ValueError(f"columns must be of equal length; {sizes}")
    return _Table("the dict", tuple(arrays), lambda wanted: ({name: arrays[name] for name in wanted}, ()))


def _open_frame(source):
    import narwhals as nw
    try:
        frame = nw.from_native(source)
        names = tuple(frame.collect_schema().names())
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"the data frame repeats column names; {_one_line(error)}") from None
    except TypeError:
        raise TypeError(f"source must be a path or a data frame; got {type(source).__name__}") from None

    def fetch(wanted):
        selected = frame.select(*wanted)
        if isinstance(selected, nw.LazyFrame):
            selected = selected.collect()
        return {name: _series_array(selected[name]) for name in wanted}, ()
    return _Table("the data frame", names, fetch)


def _series_array(series):
    if series.null_count():
        missing = series.is_null().to_list()
        pairs = zip(series.to_list(), missing, strict=True)
        return _objects([None if gone else value for value, gone in pairs])
    return series.to_numpy()


def _open_relation(source):
    def fetch(wanted):
        return _relation_columns(source, wanted), ()
    return _Table("the relation", tuple(source.columns), fetch)


def _open_parquet(path, label):
    def fetch(wanted):
        with _duckdb(label) as connection:
            return _relation_columns(_parquet_relation(connection, path), wanted), ()
    with _duckdb(label) as connection:
        names = tuple(_parquet_relation(connection, path).columns)
    return _Table(label, names, fetch)


def _parquet_relation(connection, path):
    query = "SELECT * FROM read_parquet($path, hive_partitioning=false, binary_as_string=true)"
    return connection.sql(query, params={"path": _literal(path)})


@contextmanager
def _scan_parquet(path, label, wanted):
    with _duckdb(label) as connection:
        relation = _parquet_relation(connection, path)
        _check_columns(_Table(label, tuple(relation.columns), None), wanted)
        yield Scan(label, relation)


def _relation_columns(relation, wanted):
    types = dict(zip(relation.columns, relation.types, strict=True))
    picked = [f"CAST({_quoted(name)} AS VARCHAR)" if str(types[name]).startswith("ENUM") else _quoted(name)
              for name in wanted]
    fetched = relation.project(", ".join(f"{pick} AS c{i}" for i, pick in enumerate(picked))).fetchnumpy()
    return {name: _unmasked(fetched[f"c{i}"]) for i, name in enumerate(wanted)}


def _open_json(path, label):
    query = ("SELECT {} FROM read_json($path, maximum_depth=1, sample_size=-1, field_appearance_threshold=0, "
             "map_inference_threshold=-1, hive_partitioning=false)")

    def fetch(wanted):
        with _duckdb(label) as connection:
            picked = ", ".join(f"CAST({_quoted(name)} AS VARCHAR) AS c{i}" for i, name in enumerate(wanted))
            fetched = connection.sql(query.format(picked), params={"path": _literal(path)}).fetchnumpy()
        return {name: _from_json(_unmasked(fetched[f"c{i}"])) for i, name in enumerate(wanted)}, ()
    with _duckdb(label) as connection:
        names = tuple(connection.sql(query.format("*"), params={"path": _literal(path)}).columns)
    return _Table(label, names, fetch)


def _from_json(texts):
    values = json.loads("[" + ",".join("null" if text is None else text for text in texts.tolist()) + "]")
    kinds = set(map(type, values))
    if kinds == {float} or kinds == {bool}:
        return np.array(values)
    if kinds == {int} and max(map(abs, values)) < 2 ** 63:
        return np.array(values, np.int64)
    return _objects(values)


def _open_text(path, label):
    encoding = _encoding_of_start(path)
    header, delimiter = _header(path, label, encoding)

    def fetch(wanted):
        places = [f"c{header.index(name)}" for name in wanted]
        with _as_utf8(path, label, encoding) as (readable, notes), _duckdb(label) as connection:
            fetched = _csv_relation(connection, readable, header, delimiter, places).fetchnumpy()
        return {name: _unmasked(fetched[place]) for name, place in zip(wanted, places, strict=True)}, notes
    return _Table(label, header, fetch)


def _csv_relation(connection, path, header, delimiter, picked):
    kinds = {f"c{i}": "VARCHAR" for i in range(len(header))}
    query = (f"SELECT {', '.join(picked)} FROM read_csv($path, columns={kinds}, "
             f"delim='{delimiter}', quote='\"', escape='\"', header=true, "
             "auto_detect=false, all_varchar=true, hive_partitioning=false)")
    return connection.sql(query, params={"path": _literal(path)})


@contextmanager
def _scan_text(path, label, wanted):
    encoding = _encoding_of_start(path)
    header, delimiter = _header(path, label, encoding)
    _check_columns(_Table(label, header, None), wanted)
    renamed = [f"c{header.index(name)} AS {_quoted(name)}" for name in wanted]
    with _as_utf8(path, label, encoding) as (readable, notes), _duckdb(label) as connection:
        yield Scan(label, _csv_relation(connection, readable, header, delimiter, renamed), True, notes)


def _header(path, label, encoding):
    with open(path, encoding=encoding, errors="replace", newline="") as file:
        record = _first_record(file)
    if not record:
        raise ValueError(f"{label} is empty")
    if not record.strip():
        raise ValueError(f"{label}, line 1 is blank; the first line must name the columns")
    if record.count('"') % 2:
        raise ValueError(f"{label}, line 1: a quote is not closed")
    outside = re.sub(r'"[^"]*"', "", record)
    delimiter = max(DELIMITERS, key=outside.count) if any(map(outside.count, DELIMITERS)) else ","
    cells = next(csv.reader([record], delimiter=delimiter))
    return tuple(cell.strip() for cell in cells), delimiter


def _first_record(file):
    record = file.readline(LONGEST_HEADER)
    while record.count('"') % 2 and len(record) < LONGEST_HEADER:
        line = file.readline(LONGEST_HEADER)
        if not line:
            break
        record += line
    return record


def _encoding_of_start(path):
    with open(path, "rb") as file:
        start = file.read(CHUNK)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start[:2]:
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


@contextmanager
def _as_utf8(path, label, encoding):
    if encoding == "utf-8-sig" and _decodes(path, "utf-8"):
        yield path, ()
        return
    if encoding == "utf-8-sig":
        encoding = "cp1252"
    if not _decodes(path, encoding):
        raise ValueError(f"{label} is not text in UTF-8, UTF-16 or Windows-1252; save it as UTF-8")
    with tempfile.TemporaryDirectory() as folder:
        readable = os.path.join(folder, "utf8.csv")
        _transcode(path, encoding, readable)
        yield readable, (f"{label} is not UTF-8; it was read as {_ENCODING_NAMES[encoding]}",)


def _decodes(path, encoding):
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _transcode(path, encoding, target):
    with open(path, encoding=encoding, newline="") as file:
        with open(target, "w", encoding="utf-8", newline="") as out:
            while chunk := file.read(CHUNK):
                out.write(chunk)


@contextmanager
def _duckdb(label):
    import duckdb
    try:
        with duckdb.connect() as connection:
            connection.execute("SET enable_progress_bar = false")
            yield connection
    except duckdb.Error as error:
        raise ValueError(_file_problem(label, str(error))) from None


def _file_problem(label, message):
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"{label}, line {line[1]}" if line else label
    text = re.search(r"Could not convert string ['\"](.*)['\"] to DOUBLE", message)
    if text:
        return f"{label}: {_shortened(text[1])} is no number or has a thousands separator; write a decimal point"
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if cells:
        return f"{where}: the header names {cells[1]} columns, this line has {cells[2]}"
    if "quote" in message and line:
        return f"{where}: a quote is not closed, or text follows a closing quote"
    if "CSV" in message and not line:
        return f"{where} is not well-formed: it mixes line ends, or a quote is not closed"
    return f"{where} cannot be read: {_one_line(message)}"


def _one_line(error):
    return " ".join(str(error).split())[:200]


def _literal(path):
    return re.sub(r"([*?\[])", r"[\1]", os.path.abspath(path))


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _unmasked(array):
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.any(array.mask):
        return array.data
    values = array.data.astype(object)
    values[np.ma.getmaskarray(array)] = None
    return values


def _objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _text(value):
    if isinstance(value, str):
        return value.strip()
    if value is None or (isinstance(value, (float, decimal.Decimal)) and value != value):
        return ""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return repr(float(value))
    return str(value)


def _present(name, array):
    texts = as_text(array)
    if "" in texts:
        raise ValueError(f"column {name!r}, data row {texts.index('') + 1} is missing")
    return texts


def _parse(texts):
    """Return (floats, None), or (None, problem) where the texts are not one kind of number."""
    if _PLAIN.issuperset("".join(texts)):
        try:
            return _objects(texts).astype(float), None
        except ValueError:
            pass
    texts = [_TRUTH.get(text.lower(), text) for text in texts]
    problem = _not_number(texts) or _ambiguous(texts)
    if problem:
        return None, problem
    return _objects([text.replace(",", ".") for text in texts]).astype(float), None


def _not_number(texts):
    row = next((row for row, text in enumerate(texts, 1) if not _NUMBER.fullmatch(text)), None)
    if row is None:
        return None
    shown = _shortened(texts[row - 1])
    if _THOUSANDS.fullmatch(texts[row - 1]):
        return f"data row {row}: {shown} has a thousands separator; write the number without it"
    return f"data row {row}: {shown} is not a number"


def _ambiguous(texts):
    commas = [row for row, text in enumerate(texts, 1) if "," in text]
    point = next((row for row, text in enumerate(texts, 1) if "." in text), None)
    if not commas:
        return None
    first = f"data row {commas[0]}: {texts[commas[0] - 1]!r}"
    if point:
        second = f"data row {point}: {texts[point - 1]!r}"
        return f"{first} has a decimal comma, {second} a decimal point; use one of them"
    if all(_THOUSANDS_OR_DECIMALS.fullmatch(texts[row - 1]) for row in commas):
        return f"{first} may have a thousands separator or a decimal comma; write a decimal point"
    return None


def _shortened(text):
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _refuse_infinite(name, array, parsed):
    bad = np.flatnonzero(~np.isfinite(parsed))
    if bad.size:
        value = array[bad[0]]
        shown = value if isinstance(value, str) else f"{value:g}"
        raise ValueError(f"column {name!r}, data row {bad[0] + 1}: {shown} is not a finite number")


def _whole_if_exact(parsed):
    exact = np.all(parsed == np.floor(parsed)) and np.all(np.abs(parsed) < EXACT_WHOLE)
    return parsed.astype(np.int64) if exact else parsed


def _text_labels(name, texts):
    row = max(range(len(texts)), key=lambda i: len(texts[i]))
    if len(texts[row]) > LONGEST_LABEL:
        raise ValueError(f"column {name!r}, data row {row + 1}: a label has at most {LONGEST_LABEL} "
                         f"characters; this text has {len(texts[row])}")
    return np.array(texts)


def _refuse_repeated(name, values):
    if len(set(values)) == len(values):
        return
    first = {}
    for row, value in enumerate(values, 1):
        if value in first:
            raise ValueError(f"column {name!r}: id {value!r} occurs twice, "
                             f"in data rows {first[value]} and {row}")
        first[value] = row


_OPENERS = {".csv": _open_text, ".tsv": _open_text, ".txt": _open_text, ".parquet": _open_parquet,
            ".json": _open_json, ".ndjson": _open_json, ".jsonl": _open_json}
_SCANNED = (".csv", ".tsv", ".txt", ".parquet")
_ENCODING_NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252"}
