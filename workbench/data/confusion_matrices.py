"""Confusion matrices in files and frames: a row and a column per class, counts of items in between.

`read_matrix` reads one, or returns None for any other table. `pair_counts` reads a table with a
row per pair of classes. The functions below them locate the names of the rows, interpret what the
table says about its axes, take totals out and check counts.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue, listed, suggestion
from workbench.data import decimals, frames, numbers, shapes
from workbench.data.classes import looks, read_classes
from workbench.data.columns import crossed_names, plain_name, spelled
from workbench.data.numbers import RowError
from workbench.results import Note

PLACE = ("confusion", "matrix")  # of the notes
AXES = TRUTH, PREDICTION = ("truth", "prediction")
ROWS = ("auto", *AXES)
MOST_CLASSES = 1_000
MOST_ITEMS = 2_000_000  # each becomes a row of labeled items
MOST_IN_CELL = 10**12  # the sum of all cells is then exact
LEAST_SHARED = 2  # names of rows that are names of columns too, in a confusion matrix
INDEX = "__index_level_0__"  # the column in which pandas keeps row names in a Parquet file
OTHER = {TRUTH: PREDICTION, PREDICTION: TRUTH}
CLASSES_OF = {TRUTH: "true", PREDICTION: "predicted"}
# words for an axis in the corner of a table and in the names of its rows and columns
WORDS = {
    TRUTH: {
        "truth",
        "true",
        "actual",
        "reference",
        "gold",
        "target",
        "observed",
        "expected",
        "real",
        "ytrue",
        "groundtruth",
    },
    PREDICTION: {
        "prediction",
        "predictions",
        "predicted",
        "pred",
        "ypred",
        "yhat",
        "classified",
        "mapped",
        "assigned",
        "output",
    },
}
NEUTRAL = {"label", "labels", "class", "classes", "row", "rows", "column", "columns", "col"}
SUMS = {
    "all",
    "total",
    "totals",
    "sum",
    "grand",
    "margin",
    "summe",
    "gesamt",
    "insgesamt",
    "somme",
    "suma",
}
COUNT_NAMES = {"n", "count", "counts", "freq", "frequency"}  # of a column with a row per pair
ONE_SIDED = {"n", "support", "count", "items"}  # of a total, unless a class is called so
_OF_AXIS = re.compile(
    r"([^\W_]+)(?:[\s_:=.-]+(?:label|class))?[\s_:=.-]+(.+)", re.DOTALL | re.IGNORECASE
)
_WHOLE = re.compile(r"[0-9]+(\.0+)?")
_THOUSANDTHS = re.compile(r"[1-9][0-9]{0,2}[.,]000")
COUNTS_NEEDED = (
    "a confusion matrix needs whole numbers of items, not proportions or weights (scikit-learn: "
    "confusion_matrix without normalize)"
)


class ConfusionMatrix(NamedTuple):
    """Counts of items: `table` (K, K) has a row per true and a column per predicted class.

    `labels` are the classes as they are written, in the order of the rows of the file.
    """

    labels: list[str]
    table: ndarray
    notes: tuple[Note, ...]

    def items(
        self, truth: str, prediction: str, classes: str = "auto"
    ) -> tuple[dict[str, ndarray], list[Note]]:
        """Return the true and the predicted class of every counted item, and notes.

        Parameters
        ----------
        truth, prediction : str
            Names of the two columns.
        classes : {"auto", "text", "numbers"}
            As in `workbench.data.classes.read_classes`.

        Raises
        ------
        ValueError
            For more items than memory should hold.

        Examples
        --------
        >>> matrix = ConfusionMatrix(["0", "1"], np.array([[1, 0], [2, 1]]), ())
        >>> columns, notes = matrix.items("truth", "prediction")
        >>> columns["truth"].tolist(), columns["prediction"].tolist()
        ([0, 1, 1, 1], [0, 0, 0, 1])
        """
        size = int(self.table.sum())
        _check_size("items", size)
        labels, notes = read_classes({"names of rows": np.array(self.labels, object)}, classes)
        names = labels["names of rows"]
        true, predicted = np.indices(self.table.shape)
        times = self.table.ravel()
        columns = {
            truth: np.repeat(names[true.ravel()], times),
            prediction: np.repeat(names[predicted.ravel()], times),
        }
        return columns, [*self.notes, _independence(size), *notes]


def count_column(names: Iterable[str]) -> str:
    """Return the only column that is called as counts are, "" without such a column.

    Examples
    --------
    >>> count_column(["Prediction", "Reference", "Freq"]), count_column(["truth", "score"])
    ('Freq', '')
    """
    columns = [name for name in names if plain_name(str(name)) in COUNT_NAMES]
    return columns[0] if len(columns) == 1 else ""


def pair_counts(
    argument: str, source: Any, classes: Sequence[ndarray]
) -> tuple[ndarray, list[Note]] | None:
    """Return the items that each row counts, and notes, if every row has other classes.

    Parameters
    ----------
    argument : str
        Name of the argument `source`, for messages.
    source : str, path or data frame
        Its column of counts is called "n", "count" or "freq".
    classes : list of (N,) ndarray
        Cells of the columns of true and predicted classes.

    Examples
    --------
    >>> source = {"truth": ["a", "a", "b"], "prediction": ["a", "b", "b"], "n": [50, 3, 20]}
    >>> classes = [np.array(source[name]) for name in ("truth", "prediction")]
    >>> counts, notes = pair_counts("items", source, classes)
    >>> counts.tolist(), str(notes[0])
    ([50, 3, 20], "confusion matrix: column 'n' says how many items a row counts, 73 in all")
    """
    name = count_column(frames.column_names(source))
    if not name:
        return None
    pairs = list(zip(*map(numbers.as_text, classes), strict=True))
    if numbers.first_repeat(pairs) or len({*itertools.chain(*pairs)}) > len(pairs):
        return None  # items; numbers with decimals are all different
    cells = numbers.to_cells(name, frames.read_columns(source, [name])[0][name])
    for row, cell in enumerate(cells):
        if not isinstance(cell, int) or not 0 <= cell <= MOST_IN_CELL:
            problem = (
                f": {cell!r} is no number of items; every row is another pair of classes, and "
            )
            raise RowError(f"column {name!r}, ", row, problem + "this column counts its items")
    size = sum(cells)
    _check_size(argument, size)
    text = f"column {name!r} says how many items a row counts, {size:,} in all"
    return np.array(cells), [Note("data", text, PLACE), _independence(size)]


def _check_size(argument: str, size: int) -> None:
    if not size:
        raise WrongValue(argument, "must count at least one item; all counts are 0")
    if size > MOST_ITEMS:
        rule = f"must count at most {MOST_ITEMS:,} items, as each becomes a row"
        raise WrongValue(argument, rule, told=f"the confusion matrix counts {size:,}")


def _independence(size: int) -> Note:
    text = f"the {size:,} items that it counts were taken for independent of each other"
    return Note("assumption", text, PLACE)


def is_matrix(notes: Iterable[Note]) -> bool:
    """Return whether the notes are those of labeled items or an audit from a confusion matrix."""
    return any(note.where == PLACE for note in notes)


def assumptions(notes: Iterable[Note]) -> list[str]:
    """Return what was assumed when a confusion matrix was read, as sentences."""
    return [str(note) for note in notes if note.where == PLACE and note.kind == "assumption"]


class _Grid(NamedTuple):
    """A table with names of rows: its first cell, its columns, the name that all columns have."""

    corner: str
    row_names: list[str]
    cells: dict[str, ndarray]
    title: str
    notes: tuple[Note, ...]
    axis: str = ""  # of the rows, if their names or those of the columns say it


def read_matrix(
    argument: str,
    source: Any,
    *,
    truth: str = TRUTH,
    prediction: str = PREDICTION,
    rows: str = "auto",
) -> ConfusionMatrix | None:
    """Return the confusion matrix in a file or a frame, None if it holds another table.

    Only the header is read where the columns `truth` and `prediction` both exist.

    Parameters
    ----------
    argument : str
        Name of the argument `source`, for messages.
    source : str, path or data frame
        As for `workbench.data.frames.read_columns`. The first column, or the index of a pandas
        frame, has the names of the rows. Rows and columns have the same names, in any order. A
        total is left out if it equals the sum; a class without a column was never predicted.
    truth, prediction : str
        Columns of a table with a row per item.
    rows : {"auto", "truth", "prediction"}
        What the rows are. "auto": what the table says, in its first cell or in the names of rows
        and columns; true classes if it does not say.

    Raises
    ------
    ValueError
        If rows and columns have different names, a cell is no whole number, a total is not the
        sum, or `rows` contradicts the table or belongs to no confusion matrix.

    Examples
    --------
    >>> source = {"": ["cat", "dog", "All"], "cat": [41, 4, 45], "dog": [6, 52, 58]}
    >>> matrix = read_matrix("items", source)
    >>> matrix.labels, matrix.table.tolist()
    (['cat', 'dog'], [[41, 6], [4, 52]])
    >>> print(matrix.notes[-1])
    confusion matrix: totals, which are correct and not counted as a class: row 'All'
    """
    checks.choice("rows", rows, ROWS)
    grid = _grid_of(argument, source, truth, prediction)
    if grid is None:
        if rows != "auto":
            rule = "says what the rows of a confusion matrix are, and {0} holds no such table"
            raise WrongValue("rows", rule, rows, others=(argument,))
        return None
    is_empty = np.all([shapes.gaps(column, True) for column in grid.cells.values()], 0)
    empty_rows = [grid.row_names[row] for row in np.flatnonzero(is_empty)]
    axis, axis_note = _axis(grid, empty_rows, rows, truth, prediction)
    of_class = np.isin(grid.row_names, list(grid.cells))
    kept = np.flatnonzero(~is_empty | of_class)
    row_names = [grid.row_names[row] for row in kept]
    cells = {name: column[kept] for name, column in grid.cells.items()}
    with shapes.in_rows(kept):
        if "" in row_names:
            problem = " has no name of a class; call it 'Total' if it holds sums"
            raise RowError("the confusion matrix: ", row_names.index(""), problem)
        row_names, counts, left_out = _counts(row_names, cells)
        labels, table, more = _classes(argument, row_names, counts)
    if axis == PREDICTION:
        table = table.T
    return ConfusionMatrix(labels, table, (*axis_note, *grid.notes, *left_out, *more))


def _grid_of(argument: str, source: Any, truth: str, prediction: str) -> _Grid | None:
    """Return the table with the names of its rows, None if it is no confusion matrix."""
    names = frames.column_names(source)
    present = [bool(name) and _has_columns(name, names) for name in (truth, prediction)]
    if all(present) or not 2 <= len(names) <= MOST_CLASSES + 3:
        return None
    title, index, source = _without_pandas(source)
    names = frames.column_names(source)
    if len({*names}) < len(names):
        _refuse_unnamed_columns(argument, names)
        return None
    start, _ = frames.read_columns(source, names[:1])
    if len(start[names[0]]) > MOST_CLASSES + 3:
        return None
    data, notes = frames.read_columns(source, names)
    second = names[1:2] if names[0] == "" else ()  # row numbers before the names of the rows
    corners = dict.fromkeys([names[0], *second, names[-1]])
    corners |= dict.fromkeys(spelled(name, names) for name in (truth, prediction) if name)
    named = [("" if name == INDEX else name, data[name], name) for name in corners if name in data]
    if index is not None:
        named.insert(0, (*index, INDEX))
    best = None
    most = 0
    for corner, row_names, column in named:
        others = {name: cells for name, cells in data.items() if name != column}
        for grid in _readings(corner.strip(), _name_texts(row_names), others, title, notes):
            shared = len(_looks_of(grid.row_names) & _looks_of(grid.cells))
            if shared > most:
                best = grid
                most = shared
    if best is not None and (_is_untitled(best) or _shares_names(best, most)):
        return None if _has_groups(best) else best
    if not any(present):
        _refuse_unnamed(argument, data, truth)
    return None


def _has_columns(name: str, names: tuple[str, ...]) -> bool:
    """Return whether a column, or every one of several that are named with commas, is there."""
    return all(spelled(part, names) in names for part in crossed_names(name, names))


def _shares_names(grid: _Grid, shared: int) -> bool:
    """Return whether so many names of rows are names of columns that both are classes."""
    return shared >= LEAST_SHARED and 2 * shared >= len(grid.row_names)


def _has_groups(grid: _Grid) -> bool:
    """Return whether a table has several matrices, told apart by a column such as the month."""
    times = Counter(grid.row_names)
    if len(times) < 2 or len({*times.values()}) > 1 or min(times.values()) < 2:
        return False
    return any(name not in grid.row_names and not _is_sum(name) for name in grid.cells)


def _is_untitled(grid: _Grid) -> bool:
    """Return whether the first cell names no column of items, and rows are as many as classes."""
    named = not grid.corner or _axis_of_corner(grid.corner)
    return bool(named) and 1 < len(grid.cells) >= len(grid.row_names)


def _without_pandas(source: Any) -> tuple[str, tuple[str, ndarray] | None, Any]:
    """Return the name of the columns of a pandas frame, its index, and columns named by text."""
    import narwhals as nw

    if not nw.dependencies.is_pandas_dataframe(source) or source.columns.nlevels > 1:
        return "", None, source
    title = source.columns.name
    name = source.index.name
    index = ("" if name is None else str(name), numbers.objects(source.index.tolist()))
    names = _name_texts(numbers.objects(source.columns.tolist()))
    if not all(isinstance(name, str) for name in source.columns):
        source = source.set_axis(names, axis=1)
    return "" if title is None else str(title), index, source


def _name_texts(cells: Any) -> list[str]:
    """Return the names of rows as text; 1.0, as pandas writes 1 next to a gap, is 1."""
    texts = numbers.as_text(cells)
    is_number = [isinstance(cell, float) and cell.is_integer() for cell in cells.tolist()]
    return [
        text.removesuffix(".0") if number else text
        for text, number in zip(texts, is_number, strict=True)
    ]


def _readings(
    corner: str,
    row_names: list[str],
    data: Mapping[str, ndarray],
    title: str,
    notes: tuple[Note, ...],
) -> Iterator[_Grid]:
    """Yield the table as it is, and with the words for an axis taken off the names."""
    names = [name for name in data if name.strip() not in ("", INDEX)]
    bare = [name.strip() for name in names]
    if len({*bare}) < len(bare):
        return
    columns = [data[name] for name in names]
    as_it_is = dict(zip(bare, columns, strict=True))
    yield _Grid(corner, row_names, as_it_is, title, notes)
    bare_rows, axis_of_rows = _without_axis(row_names)
    bare, axis_of_columns = _without_axis(bare)
    if axis_of_rows != axis_of_columns and len({*bare}) == len(bare):
        axis = axis_of_rows or OTHER[axis_of_columns]
        without_axis = dict(zip(bare, columns, strict=True))
        yield _Grid(corner, bare_rows, without_axis, title, notes, axis)


def _without_axis(names: list[str]) -> tuple[list[str], str]:
    """Return the names without a word such as "True" before each, and the axis it stands for."""
    matches = [None if _is_sum(name) else _OF_AXIS.fullmatch(name) for name in names]
    axes = {_axis_of_word(match[1]) for match in matches if match}
    unmatched = [
        name for name, match in zip(names, matches, strict=True) if not match and not _is_sum(name)
    ]
    if any(unmatched) or len(axes) != 1 or "" in axes:
        return names, ""
    bare = [match[2] if match else name for name, match in zip(names, matches, strict=True)]
    return bare, axes.pop()


def _axis_of_word(word: str) -> str:
    axes = [axis for axis, words in WORDS.items() if word.casefold() in words]
    return axes[0] if axes else ""


def _looks_of(names: Iterable[str]) -> set[str]:
    return {looks(name) for name in names if name}


def _is_sum(name: str) -> bool:
    """Return whether a name is one of a total, such as "All" or "Total predicted"."""
    words = set(_words(name))
    others = words - SUMS - NEUTRAL - WORDS[TRUTH] - WORDS[PREDICTION]
    return bool(words & SUMS) and not others


def _words(text: str) -> list[str]:
    return re.findall("[^\\W_]+|[\u2192\u2193]", text.casefold())


def _refuse_unnamed_columns(argument: str, names: Iterable[str]) -> None:
    """Raise if several columns have no name, as below a title or after a comma too many."""
    names = list(names)
    unnamed = names.count("")
    if names[0] == "" and unnamed > 1:
        raise WrongValue(
            argument,
            f"must name its columns in the first line; {unnamed} have no name there. Only the "
            "first column of a confusion matrix may have none; name the others after their classes",
        )


def _refuse_unnamed(argument: str, data: dict[str, ndarray], truth: str) -> None:
    """Raise if a table is square and holds only whole numbers: which row is which is unknown."""
    columns = {name: cells for name, cells in data.items() if name not in ("", INDEX)}
    if len(columns) < 2 or any(cells.size != len(columns) for cells in columns.values()):
        return
    texts = [text for cells in columns.values() for text in numbers.as_text(cells)]
    if not all(_WHOLE.fullmatch(text) for text in texts):
        return
    present = listed(columns, shapes.FIRST, quoted=True)
    raise WrongValue(
        argument,
        f"must have a column {truth!r}, or be a confusion matrix whose rows are named as its "
        f"columns are; there are {len(columns)} rows of whole numbers in columns {present}, and "
        "the rows are not named so. Write the class of each row into the first column "
        "(pandas: to_csv without index=False, with index=labels)",
    )


def _axis(
    grid: _Grid,
    empty_rows: list[str],
    rows: str,
    truth: str,
    prediction: str,
) -> tuple[str, list[Note]]:
    """Return what the rows are, and a note that says why."""
    written, evidence = _written_axis(grid, empty_rows, truth, prediction)
    if written and rows not in ("auto", written):
        rule = f"contradicts the table: {evidence} says that its rows are {CLASSES_OF[written]}"
        raise WrongValue("rows", f"{rule} classes; correct one of the two", rows)
    if written:
        text = f"rows are {CLASSES_OF[written]} classes: {evidence} says so"
        return written, [Note("data", text, PLACE)]
    if rows != "auto":
        text = f"rows are {CLASSES_OF[rows]} classes, because rows is {rows!r}"
        return rows, [Note("data", text, PLACE)]
    text = (
        "rows were taken for true classes and columns for predicted ones; if it is the other way "
        "round, say rows prediction (--rows prediction)"
    )
    return TRUTH, [Note("assumption", text, PLACE)]


def _written_axis(
    grid: _Grid,
    empty_rows: list[str],
    truth: str,
    prediction: str,
) -> tuple[str, str]:
    """Return what the table says that its rows are, "" if nothing, and what in it says so."""
    corner = grid.corner
    for name in empty_rows:  # a line below the header that only names the rows
        axis = _axis_of_corner(name)
        if axis:
            return axis, f"the line {name!r}"
    axis = _axis_of_corner(corner)
    if corner:
        axis = {truth: TRUTH, prediction: PREDICTION}.get(corner, axis)
    if axis:
        return axis, f"the first cell, {corner!r},"
    axis = _axis_of_corner(grid.title)
    if axis:
        return OTHER[axis], f"the name of the columns, {grid.title!r},"
    if grid.axis:
        return grid.axis, "a word in the names of rows or columns"
    return "", ""


def _axis_of_corner(corner: str) -> str:
    r"""Return what the corner of a table says that its rows are: the first of two axes, "" if none.

    Examples
    --------
    >>> _axis_of_corner("actual"), _axis_of_corner("True\\Predicted"), _axis_of_corner("name")
    ('truth', 'truth', '')
    >>> _axis_of_corner("y_pred"), _axis_of_corner("Predicted \u2192 / Actual \u2193")
    ('prediction', 'truth')
    """
    words = _words(corner)
    axes = list(dict.fromkeys(filter(None, map(_axis_of_word, words))))
    if not axes:
        return ""
    across = [k for k, word in enumerate(words) if word.startswith(("\u2192", "col"))]
    down = [k for k, word in enumerate(words) if word.startswith(("\u2193", "row"))]
    columns_first = bool(across) and (not down or across[0] < down[0])
    if columns_first:
        return axes[1] if len(axes) > 1 else OTHER[axes[0]]
    return axes[0]


def _counts(
    row_names: list[str], cells: Mapping[str, ndarray]
) -> tuple[list[str], dict[str, ndarray], list[Note]]:
    """Return the rows and columns of counts, NaN for an empty cell, and a note on all others.

    Rows and columns of rates or text are no classes if only one axis has their names.
    """
    parsed = {name: numbers.to_cells(name, column, beside=cells) for name, column in cells.items()}
    no_columns = [
        name
        for name in cells
        if not (name in row_names or _is_sum(name) or _may_count(parsed[name]))
    ]
    of_classes = {name: column for name, column in cells.items() if name not in no_columns}
    no_rows = [
        row
        for row, name in enumerate(row_names)
        if not (name in cells or _is_sum(name))
        and any(_is_rate(parsed[column][row]) for column in of_classes)
    ]
    kept = np.delete(np.arange(len(row_names)), no_rows)
    of_classes = {name: column[kept] for name, column in of_classes.items()}
    with shapes.in_rows(kept):
        _refuse_thousandths(of_classes)
        counts = {name: _counts_of(name, column, of_classes) for name, column in of_classes.items()}
    left_out = [f"row {row_names[row]!r}" for row in no_rows]
    left_out += [f"column {name!r}" for name in no_columns if any(parsed[name])]
    notes = []
    if left_out:
        text = f"left out, as they hold no counts: {listed(left_out)}"
        notes.append(Note("data", text, PLACE))
    return [row_names[row] for row in kept], counts, notes


def _may_count(cells: list) -> bool:
    """Return whether some cells are whole numbers and none is a rate."""
    return any(isinstance(cell, int) for cell in cells) and not any(map(_is_rate, cells))


def _is_rate(cell: Any) -> bool:
    return isinstance(cell, float) or str(cell).endswith("%")


def _refuse_thousandths(columns: Mapping[str, ndarray]) -> None:
    """Raise if every count may be one with thousands or one with three decimals, as "41.000"."""
    texts = [text for column in columns.values() for text in numbers.as_text(column)]
    texts = [text for text in texts if text]
    if texts and all(map(_THOUSANDTHS.fullmatch, texts)):
        problem = f": {texts[0]!r} has thousands or decimals; write counts without them"
        raise RowError("the confusion matrix, ", 0, problem)


def _counts_of(name: str, column: ndarray, beside: Mapping) -> ndarray:
    """Return a column as counts, NaN where a cell is empty."""
    texts = numbers.as_text(column)
    for row, text in enumerate(texts):
        if text.endswith("%"):
            raise RowError(f"column {name!r}, ", row, f": {text!r} is no count; {COUNTS_NEEDED}")
    is_empty = shapes.gaps(column, True)
    filled = np.flatnonzero(~is_empty)
    counts = np.full(len(texts), np.nan)
    with shapes.in_rows(filled):
        counts[filled] = numbers.to_numbers(name, column[filled], beside=beside, whole=True)
    for row in filled.tolist():
        if not 0 <= counts[row] <= MOST_IN_CELL or counts[row] % 1:
            problem = f": {counts[row]:g} is no count; {COUNTS_NEEDED}"
            raise RowError(f"column {name!r}, ", row, problem)
    return counts


def _classes(
    argument: str, row_names: list[str], counts: dict[str, ndarray]
) -> tuple[list[str], ndarray, list[Note]]:
    """Return the classes in the order of the rows, their counts, and notes."""
    sum_rows = _sums_of(row_names, counts)
    labels = [name for name in row_names if name not in sum_rows]
    repeat = numbers.first_repeat(labels)
    if repeat:
        rule = f"must have one row per class; row {labels[repeat[0]]!r} occurs twice"
        raise WrongValue(argument, rule)
    of_class = [row for row, name in enumerate(row_names) if name not in sum_rows]
    table = np.zeros((len(labels), len(labels)), np.int64)
    for k, name in enumerate(labels):
        if name in counts:
            table[:, k] = _without_gaps(name, counts[name], of_class)
    sum_columns = _sums_of(counts, row_names)
    further = []
    for name in counts:
        if name not in labels and name not in sum_columns:
            cells = np.nan_to_num(counts[name][of_class])
            if np.array_equal(cells, table.sum(1)):
                sum_columns.append(name)
            elif cells.any():
                further.append(name)
    never = [name for name in labels if name not in counts]
    if further:
        _refuse_column(argument, further[0], labels)
    if never:
        _refuse_row(argument, labels, never, table, bool(sum_columns))
    _check_sums(argument, row_names, counts, sum_rows, sum_columns, table)
    _refuse_proportions(argument, table)
    notes = []
    if never:
        names = listed(never, shapes.FIRST, quoted=True)
        text = f"there is no column for {names}, taken for never predicted"
        notes.append(Note("assumption", text, PLACE))
    sums = [f"row {name!r}" for name in sum_rows] + [f"column {name!r}" for name in sum_columns]
    if sums:
        text = f"totals, which are correct and not counted as a class: {listed(sums)}"
        notes.append(Note("data", text, PLACE))
    return labels, table, [*notes, *_percentage_notes(table)]


def _sums_of(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the names of totals; a word such as "n" is one unless the other axis has it too."""
    one_sided = ONE_SIDED - {name.casefold() for name in others}
    return [name for name in names if _is_sum(name) or name.casefold() in one_sided]


def _without_gaps(name: str, column: ndarray, rows: list[int]) -> ndarray:
    """Return the counts of some rows, or raise if one is missing."""
    for row in rows:
        if np.isnan(column[row]):
            problem = " is missing; write 0 if no item was counted"
            raise numbers.MissingError(f"column {name!r}, ", row, problem)
    return column[rows]


def _refuse_column(argument: str, name: str, labels: list[str]) -> None:
    """Raise as a column of counts has no row of its name."""
    rows = listed(labels, shapes.FIRST, quoted=True) + suggestion(name, labels)
    raise WrongValue(
        argument,
        "must be a confusion matrix whose rows and columns name the same classes; column "
        f"{name!r} holds counts, and the rows are {rows}: spell them alike, add a row of zeros if "
        "no item is truly of that class, or drop the column if it is no class",
    )


def _refuse_row(
    argument: str,
    labels: list[str],
    never: list[str],
    table: ndarray,
    has_sums: bool,
) -> None:
    """Raise unless rows without a column are clearly those of classes that were never predicted."""
    is_never = np.isin(labels, never)
    others = table[~is_never].sum(0)
    looks_summed = any(np.array_equal(table[k], others) for k in np.flatnonzero(is_never))
    is_text = not all(map(decimals.is_plain, labels))
    if len(never) * 2 < len(labels) and (has_sums or is_text) and not looks_summed:
        return
    reason = ", and its cells are the sums of the other rows" if looks_summed else ""
    raise WrongValue(
        argument,
        "must be a confusion matrix whose rows and columns name the same classes; row "
        f"{never[0]!r} has no column of that name{reason}: add a column of zeros if the class was "
        "never predicted, or call the row 'Total' if it holds sums",
    )


def _check_sums(
    argument: str,
    row_names: list[str],
    counts: dict[str, ndarray],
    sum_rows: list[str],
    sum_columns: list[str],
    table: ndarray,
) -> None:
    """Raise if a row or a column that is called a total does not hold the sums."""
    labels = [name for name in row_names if name not in sum_rows]
    of_columns = dict(zip(labels, table.sum(0).tolist(), strict=True))
    of_rows = dict(zip(labels, table.sum(1).tolist(), strict=True))
    for row, row_name in enumerate(row_names):
        for name, column in counts.items():
            if row_name not in sum_rows and name not in sum_columns:
                continue
            if row_name in sum_rows:
                total = of_columns.get(name, 0)
                if name in sum_columns:
                    total = int(table.sum())
            else:
                total = of_rows[row_name]
            if not np.isnan(column[row]) and column[row] != total:
                raise WrongValue(
                    argument,
                    f"must be a confusion matrix whose totals are the sums; row {row_name!r}, "
                    f"column {name!r} says {column[row]:,.0f}, and the classes add up to "
                    f"{total:,}: correct it, drop the total, or rename it if it is a class",
                )


def _refuse_proportions(argument: str, table: ndarray) -> None:
    """Raise if there are fewer than two classes, no items, or every row or column adds up to 1."""
    if len(table) < 2:
        rule = "must be a confusion matrix of two classes or more"
        raise WrongValue(argument, rule, told=f"it has {len(table)}")
    if not table.any():
        raise WrongValue(argument, "must count at least one item; all counts are 0")
    if (table.sum(0) == 1).all() or (table.sum(1) == 1).all():
        rule = "must hold counts; all rows or all columns add up to 1, as proportions do: "
        raise WrongValue(argument, rule + COUNTS_NEEDED)


def _percentage_notes(table: ndarray) -> list[Note]:
    if not ((table.sum(0) == 100).all() or (table.sum(1) == 100).all()):
        return []
    text = (
        "all rows or all columns add up to 100, and are taken for counts; if they are percentages, "
        "no interval is right"
    )
    return [Note("assumption", text, PLACE)]
