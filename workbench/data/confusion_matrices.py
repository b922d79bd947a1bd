"""Confusion matrices in files and frames: counts of items by true and by predicted class.

`read_matrix` reads one, or returns None for any other table; the functions below it are its steps.
`pair_counts` reads a table with one row per pair of classes.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue, listed, suggestion
from workbench.data import decimals, frames, numbers, shapes
from workbench.data.classes import read_classes
from workbench.data.columns import crossed_names, plain_name, spelled
from workbench.data.numbers import RowError
from workbench.results import Note

PLACE = ("confusion", "matrix")  # place of the notes
AXES = TRUTH, PREDICTION = ("truth", "prediction")
OTHER = {TRUTH: PREDICTION, PREDICTION: TRUTH}
CLASSES_OF = {TRUTH: "true", PREDICTION: "predicted"}
MOST_NAMES = 1_000  # limit for rows and columns: larger tables are not read
MOST_ITEMS = 2_000_000  # limit, because each item becomes a row
MOST_IN_CELL = 10**12  # below this limit, the sum of all cells is exact
LEAST_SHARED = 2  # rows and columns of a confusion matrix share at least so many names
ROWS_OF_GROUP = 1.5  # least mean; items in so large groups seldom all have different classes
ROWS_OF_PAIR = 5  # largest mean without groups; more rows are items, and their "count" is a feature
ROWS_IF_LENGTH = 1.5  # the same for a column "n", which may be the length of each item
# words for an axis in the first cell of a table, or before names of rows or columns
AXIS_OF_WORD = {
    **dict.fromkeys(("truth", "true", "actual", "reference", "ref", "gold", "observed"), TRUTH),
    **dict.fromkeys(
        ("prediction", "predicted", "pred", "yhat", "classified", "mapped", "map"), PREDICTION
    ),
}
SUMS = {"all", "total", "totals", "sum", "summe", "gesamt", "insgesamt", "somme", "suma"}
WITH_SUMS = {"grand", "row", "column", *AXIS_OF_WORD}  # other words in the name of a total
COUNT_NAMES = {"n", "count", "counts", "freq", "frequency"}  # names of a column of counts
_WORD = re.compile(r"[^\W_]+")
_FIRST_WORD = re.compile(r"^([^\W_]+)[\s_:=.-]+(?=.)", re.DOTALL)
_BOTH_AXES = re.compile(r"[\\/|]")  # between the names of rows and columns
_DIRECTION = re.compile("\\b(?:row|col)|[\u2190-\u2193]", re.IGNORECASE)
_THOUSANDTHS = re.compile(r"[1-9][0-9]{0,2}[.,]000")
SAME_NAMES = "must be a confusion matrix whose rows and columns name the same classes"
COUNTS_NEEDED = (
    "A confusion matrix needs whole numbers of items, 0 if there are none (in scikit-learn, use "
    "confusion_matrix without normalize)"
)


class ConfusionMatrix(NamedTuple):
    """Counts of items by true class (rows) and predicted class (columns).

    `table` (K, K) contains the counts. `labels` are the classes as written, in the order of the
    rows of the file.
    """

    labels: list[str]
    table: ndarray
    notes: tuple[Note, ...]

    def items(
        self, truth: str, prediction: str, classes: str = "auto"
    ) -> tuple[dict[str, ndarray], list[Note]]:
        """Return the true and the predicted class of each counted item, and notes.

        Parameters
        ----------
        truth, prediction : str
            Names of the two columns.
        classes : {"auto", "text", "numbers"}
            As in `workbench.data.classes.read_classes`.

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
        pairs = np.repeat(np.indices(self.table.shape).reshape(2, -1), self.table.ravel(), axis=1)
        columns = dict(zip((truth, prediction), labels["names of rows"][pairs], strict=True))
        return columns, [*self.notes, _independence(size), *notes]


def count_column(names: Iterable[str]) -> str:
    """Return the only column with a name of counts, "" if there is no such column.

    Examples
    --------
    >>> count_column(["Prediction", "Reference", "Freq"]), count_column(["truth", "score"])
    ('Freq', '')
    """
    columns = [name for name in names if plain_name(str(name)) in COUNT_NAMES]
    return columns[0] if len(columns) == 1 else ""


def pair_counts(
    argument: str, source: Any, classes: Mapping[str, ndarray]
) -> tuple[ndarray, list[Note]] | None:
    """Return the items that each row counts, and notes, if every row has another pair of classes.

    If pairs repeat, the rows are counts only if `counts_repeats` says so.

    Parameters
    ----------
    argument : str
        Name of the argument `source`, for messages.
    source : str, path or data frame
        Its column of counts is called "n", "count" or "freq".
    classes : dict of (N,) ndarray
        Columns of true and predicted classes, and of groups; the true class first.

    Examples
    --------
    >>> source = {"truth": ["a", "a", "b"], "prediction": ["a", "b", "b"], "n": [50, 3, 20]}
    >>> classes = {name: np.array(source[name]) for name in ("truth", "prediction")}
    >>> counts, notes = pair_counts("items", source, classes)
    >>> counts.tolist(), str(notes[0])
    ([50, 3, 20], "confusion matrix: column 'n' is the number of items in a row, 73 in all")
    """
    names = frames.column_names(source)
    name = count_column(names)
    if not name:
        return None
    pairs = list(zip(*map(numbers.as_text, classes.values()), strict=True))
    if len({*itertools.chain(*pairs)}) > len({*pairs}):
        return None  # numbers that are all different
    repeats = numbers.first_repeat(pairs) is not None
    if repeats:
        data, _ = frames.read_columns(source, [*filter(None, names)])
        if not counts_repeats(data, name, [spelled(key, names) for key in classes]):
            return None  # rows are items
    counts = column_of_counts(name, source, MOST_IN_CELL)
    size = sum(counts)
    _check_size(argument, size)
    note = Note("data", f"column {name!r} is the number of items in a row, {size:,} in all", PLACE)
    if repeats:
        note = replace(added_up(name, size), where=PLACE)
    return np.array(counts), [note, _independence(size)]


def counts_repeats(
    data: Mapping[str, ndarray], name: str, keys: Sequence[str], rows_of_pair: float = ROWS_OF_PAIR
) -> bool:
    """Return whether a column of whole numbers counts the items of rows whose classes repeat.

    It does if the other columns are groups: the rows of a group are few, and each has other
    classes. Without other columns, the rows of a pair of classes must be few. Numbers of rows, such
    as 1, 2, 3, are no counts, and neither is the same number in all rows.

    A column "n" may also be the length of each item. It counts items only if pairs seldom repeat or
    if a group has several rows of a true class, unlike a premise with one hypothesis of each class.

    Parameters
    ----------
    data : dict of (N,) ndarray
        All columns.
    name : str
        The column of whole numbers.
    keys : list of str
        Columns of classes and of periods or groups that the reader uses, the true class or the
        period first.
    rows_of_pair : float
        Largest mean number of rows with the same keys if there are no other columns.

    Examples
    --------
    >>> data = {"day": [1, 1, 2, 2], "class": ["a", "b"] * 2, "count": [5, 3, 5, 2]}
    >>> counts_repeats({name: np.array(data[name]) for name in data}, "count", ["class"])
    True
    """
    texts = {column: numbers.as_text(cells) for column, cells in data.items()}
    counts = texts.pop(name)
    if not all(map(str.isdecimal, counts)):
        return False
    distinct = {*map(int, counts)}
    are_row_numbers = len(distinct) == len(counts) == max(distinct) - min(distinct) + 1
    if are_row_numbers or len(distinct) == 1:
        return False
    pairs = list(zip(*(texts.pop(key) for key in keys), strict=True))
    may_be_length = plain_name(name) == "n"
    if not texts:
        most = ROWS_IF_LENGTH if may_be_length else rows_of_pair
        return len(pairs) <= most * len({*pairs})
    groups = list(zip(*texts.values(), strict=True))
    first_keys = (pair[0] for pair in pairs)
    if may_be_length and len({*zip(groups, first_keys, strict=True)}) == len(pairs):
        return False
    rows = {*zip(groups, pairs, strict=True)}
    return len(rows) == len(pairs) >= ROWS_OF_GROUP * len({*groups})


def added_up(name: str, size: int) -> Note:
    """Return the note on rows that were added up."""
    text = (
        f"column {name!r} was read as the number of items in a row, {size:,} in all, and rows of "
        "the same classes were added up. If each row is one item, rename the column"
    )
    return Note("assumption", text)


def column_of_counts(name: str, source: Any, most: int) -> list[int]:
    """Return the items that each row counts, if every row is another pair of classes."""
    cells = numbers.to_cells(name, frames.read_columns(source, [name])[0][name])
    advice = "The column must be the number of items in a row"
    return _counts(name, cells, most, advice)


def _counts(name: str, cells: list, most: int, advice: str) -> list[int]:
    """Return cells that are whole numbers up to `most`, or raise."""
    for row, cell in enumerate(cells):
        if not isinstance(cell, int) or not 0 <= cell <= most:
            problem = f": {cell!r} is not a number of items from 0 to {most:,}"
            if cell is None:
                problem = " is missing"
            raise RowError(f"column {name!r}, ", row, f"{problem}. {advice}")
    return cells


def _check_size(argument: str, size: int) -> None:
    if not size:
        raise WrongValue(argument, "must count at least one item; all counts are 0")
    if size > MOST_ITEMS:
        rule = f"must count at most {MOST_ITEMS:,} items, because each item becomes a row"
        raise WrongValue(argument, rule, told=f"the confusion matrix counts {size:,}")


def _independence(size: int) -> Note:
    text = f"the {size:,} items that it counts were assumed to be independent of each other"
    return Note("assumption", text, PLACE)


def is_matrix(notes: Iterable[Note]) -> bool:
    """Return whether notes come from labeled items or an audit read from a confusion matrix."""
    return any(note.where == PLACE for note in notes)


def assumptions(notes: Iterable[Note]) -> list[str]:
    """Return the assumptions made when a confusion matrix was read, as sentences."""
    return [str(note) for note in notes if note.where == PLACE and note.kind == "assumption"]


class _Grid(NamedTuple):
    """A table whose rows have the same names as its columns, except for totals."""

    corner: str
    rows: list[str]
    columns: dict[str, ndarray]
    axes: set[str]  # of the rows, according to words before the names


def read_matrix(
    argument: str,
    source: Any,
    *,
    truth: str = TRUTH,
    prediction: str = PREDICTION,
    rows: str = "auto",
) -> ConfusionMatrix | None:
    """Return the confusion matrix in a file or a frame, None if it contains another table.

    Only the header is read if the columns `truth` and `prediction` both exist.

    Parameters
    ----------
    argument : str
        Name of the argument `source`, for messages.
    source : str, path or data frame
        As for `workbench.data.frames.read_columns`. The first or the last column, or the index of a
        pandas frame, contains the names of the rows. A total is left out if it equals the sum.
    truth, prediction : str
        Columns of a table with one row per item.
    rows : {"auto", "truth", "prediction"}
        What the rows are. "auto": what the first cell or the names say, else true classes.

    Examples
    --------
    >>> source = {"": ["cat", "dog", "All"], "cat": [41, 4, 45], "dog": [6, 52, 58]}
    >>> matrix = read_matrix("items", source)
    >>> matrix.labels, matrix.table.tolist()
    (['cat', 'dog'], [[41, 6], [4, 52]])
    >>> print(matrix.notes[-1])
    confusion matrix: totals that are correct and do not count as a class: 'All'
    """
    checks.choice("rows", rows, ("auto", *AXES))
    grid = _grid_of(argument, source, truth, prediction)
    if grid is None:
        if rows != "auto":
            rule = "is only for a confusion matrix, but {0} does not contain one"
            raise WrongValue("rows", rule, rows, others=(argument,))
        return None
    axis, note = _axis(grid, rows, {plain_name(truth): TRUTH, plain_name(prediction): PREDICTION})
    labels, table, notes = _classes(argument, grid)
    return ConfusionMatrix(labels, table if axis == TRUTH else table.T, (note, *notes))


def _grid_of(argument: str, source: Any, truth: str, prediction: str) -> _Grid | None:
    """Return the table with the names of its rows, None if it is not a confusion matrix."""
    names = frames.column_names(source)
    columns = [spelled(crossed_names(role, names)[0], names) for role in (truth, prediction)]
    roles = [name for name in columns if name and name in names]
    if len(roles) == len(AXES) or not 2 <= len(names) <= MOST_NAMES:
        return None
    source = _with_row_names(source)
    names = frames.column_names(source)
    if names.count("") > 1 and not roles:
        rule = f"must name its columns in the first line, but {names.count('')} have no name there"
        raise WrongValue(argument, f"{rule}. Only the first column of a matrix may have no name")
    if len({*map(str.strip, names)}) < len(names):
        return None
    start, _ = frames.read_columns(source, names[:1])
    if len(start[names[0]]) > MOST_NAMES:
        return None
    data, _ = frames.read_columns(source, names)
    grids = [_grid(corner, data) for corner in roles or [names[0], names[-1]]]
    if not roles and not any(grids):
        _refuse_square(argument, data, truth)
    return next(filter(None, grids), None)


def _with_row_names(source: Any) -> Any:
    """Return a pandas frame with its index as first column, unless the index only numbers rows."""
    import narwhals as nw

    if not nw.dependencies.is_pandas_dataframe(source) or len(source) > MOST_NAMES:
        return source
    names = _names(numbers.objects(source.columns.tolist()))
    index = _names(numbers.objects(source.index.tolist()))
    frame = source.set_axis(names, axis=1)
    if index == names or index != list(map(str, range(len(index)))):
        title = f"columns: {source.columns.name}" if source.columns.name else ""
        frame.insert(0, str(source.index.name or title), index, allow_duplicates=True)
    return frame


def _names(cells: Any) -> list[str]:
    # 1.0 is read as 1, because programs write 1 in this way next to a gap
    return numbers.as_text(cells, marks=False)


def _grid(corner: str, data: Mapping[str, ndarray]) -> _Grid | None:
    """Return the table with the names of its rows in a column, None if columns have other names."""
    columns = {name: cells for name, cells in data.items() if name != corner and name.strip()}
    rows = _names(data[corner])
    names = _names(list(columns))
    axes: set[str] = set()
    if not {*_class_names(rows)} & {*names}:
        rows, axis_of_rows = _without_axis(rows)
        names, axis_of_columns = _without_axis(names)
        axes = {axis_of_rows, OTHER.get(axis_of_columns, "")} - {""}
    classes = _class_names(rows)
    shared = len({*classes} & {*names})
    is_matrix = shared >= LEAST_SHARED and len(classes) <= 2 * shared
    if not is_matrix or len(classes) >= 2 * len({*classes}):  # a matrix per month
        return None
    return _Grid(corner.strip(), rows, dict(zip(names, columns.values(), strict=True)), axes)


def _without_axis(names: list[str]) -> tuple[list[str], str]:
    """Return names without a word such as "True" before each, and the axis of that word."""
    matches = [_FIRST_WORD.match(name) for name in _class_names(names)]
    axes = {AXIS_OF_WORD.get(match[1].casefold(), "") if match else "" for match in matches}
    bare = [name if _is_sum(name) else _FIRST_WORD.sub("", name) for name in names]
    if len(axes) != 1 or "" in axes or len({*bare}) < len({*names}):
        return names, ""
    return bare, axes.pop()


def _class_names(names: Iterable[str]) -> list[str]:
    return [name for name in names if name and not _is_sum(name)]


def _is_sum(name: str) -> bool:
    """Return whether a name is that of a total, such as "All" or "Total predicted"."""
    terms = set(_WORD.findall(name.casefold()))
    return bool(terms & SUMS) and terms <= SUMS | WITH_SUMS


def _refuse_square(argument: str, data: Mapping[str, ndarray], truth: str) -> None:
    """Raise if a table is square and contains only whole numbers, so its rows have no names."""
    columns = {name: _names(cells) for name, cells in data.items() if name}
    is_square = len(columns) > 1 and all(len(texts) == len(columns) for texts in columns.values())
    if is_square and all(map(str.isdecimal, itertools.chain(*columns.values()))):
        names = listed(columns, shapes.FIRST, quoted=True)
        rule = f"must have a column {truth!r}, or be a confusion matrix with named rows"
        problem = f"columns {names} contain counts, but the rows have no names"
        advice = "Write the class of each row into the first column (in pandas, use index=labels)"
        raise WrongValue(argument, f"{rule}; {problem}. {advice}")


def _axis(grid: _Grid, rows: str, roles: Mapping[str, str]) -> tuple[str, Note]:
    """Return what the rows are, and a note with the reason."""
    corner = plain_name(grid.corner)
    terms = _axes_of_words(corner)
    if terms and not _axes_of_words(_BOTH_AXES.split(corner)[0]):
        terms = [OTHER[terms[0]]]  # "model/truth" names the columns
    if corner and corner in roles:
        terms = [roles[corner]]
    axes = grid.axes | {*terms[:1]}
    if terms and _DIRECTION.search(corner):
        axes = {*AXES}  # it is in doubt which word belongs to the rows
    if not axes and rows == "auto":
        text = (
            "rows were read as true classes and columns as predicted classes. If it is the other "
            "way round, use rows prediction (--rows prediction)"
        )
        return TRUTH, Note("assumption", text, PLACE)
    reason = "as the first cell or other names say" if axes else f"because rows is {rows!r}"
    axes |= {rows} - {"auto"}
    if len(axes) > 1:
        rule = f"is in doubt, because the first cell, {grid.corner!r}, or the names disagree"
        raise WrongValue("rows", f"{rule}. Write 'truth' or 'prediction' into the first cell", rows)
    (axis,) = axes
    return axis, Note("data", f"rows are {CLASSES_OF[axis]} classes, {reason}", PLACE)


def _axes_of_words(text: str) -> list[str]:
    return [AXIS_OF_WORD[word] for word in _WORD.findall(text) if word in AXIS_OF_WORD]


def _classes(argument: str, grid: _Grid) -> tuple[list[str], ndarray, list[Note]]:
    """Return the classes in the order of the rows, their counts, and notes."""
    cells = _parsed(argument, grid.columns)
    of_class = [row for row, name in enumerate(grid.rows) if name and not _is_sum(name)]
    labels = [grid.rows[row] for row in of_class]
    _check_names(argument, labels, _class_names(cells))
    table = np.zeros((len(labels), len(labels)), np.int64)
    for k, name in enumerate(labels):
        if name in cells:
            counts = [cells[name][row] for row in of_class]
            with shapes.in_rows(np.array(of_class)):
                table[:, k] = _counts(name, counts, MOST_IN_CELL, COUNTS_NEEDED)
    _check_totals(argument, grid.rows, cells, labels, table)
    _refuse_sums(argument, labels, table)
    notes = _assumptions(argument, labels, cells, table)
    totals = list(filter(_is_sum, dict.fromkeys([*grid.rows, *cells])))
    if totals:
        text = "totals that are correct and do not count as a class: "
        notes.append(Note("data", text + listed(totals, quoted=True), PLACE))
    return labels, table, notes


def _parsed(argument: str, columns: Mapping[str, ndarray]) -> dict[str, list]:
    """Return columns as numbers, or raise if all may be thousands or decimals, such as "41.000"."""
    texts = list(filter(None, itertools.chain(*map(numbers.as_text, columns.values()))))
    if texts and all(map(_THOUSANDTHS.fullmatch, texts)):
        rule = (
            "must have counts without separated thousands and without decimals, but all its "
            "numbers may have them"
        )
        raise WrongValue(argument, rule)
    return {name: numbers.to_cells(name, cells, others=columns) for name, cells in columns.items()}


def _check_names(argument: str, labels: list[str], columns: list[str]) -> None:
    """Raise if a class has two rows or no row."""
    repeat = numbers.first_repeat(labels)
    if repeat:
        rule = f"must have one row per class, but row {labels[repeat[0]]!r} occurs twice"
        raise WrongValue(argument, rule)
    for name in np.setdiff1d(columns, labels)[:1].tolist():
        rows = listed(labels, shapes.FIRST, quoted=True) + suggestion(name, labels)
        problem = f"column {name!r} has no row; the rows are {rows}"
        advice = "Spell them alike, add a row of zeros, rename the column 'Total', or drop it"
        raise WrongValue(argument, f"{SAME_NAMES}, but {problem}. {advice}")


def _refuse_sums(argument: str, labels: list[str], table: ndarray) -> None:
    """Raise if the row and the column of a class are the sums of two or more other classes."""
    if len(labels) < 3:
        return
    for k, label in enumerate(labels):
        classes = np.delete(np.delete(table, k, 0), k, 1)
        sums_of_rows = np.array_equal(classes.sum(1), np.delete(table[:, k], k))
        sums_of_columns = np.array_equal(classes.sum(0), np.delete(table[k], k))
        if classes.any() and sums_of_rows and sums_of_columns:
            rule = f"must contain classes, but row and column {label!r} are the sums of the others"
            raise WrongValue(argument, f"{rule}. Rename them 'Total', or drop them")


def _check_totals(
    argument: str, rows: list[str], cells: Mapping[str, list], labels: list[str], table: ndarray
) -> None:
    """Raise if a total is not the sum; a row without a name is a total, too."""
    with_sums = np.vstack([table, table.sum(0)])
    sums = np.column_stack([with_sums, with_sums.sum(1)]).tolist()
    places = {label: k for k, label in enumerate(labels)}
    for (row, row_name), (name, column) in itertools.product(enumerate(rows), cells.items()):
        total = sums[places.get(row_name, -1)][places.get(name, -1)]
        if column[row] not in (None, total):
            rule = "must be a confusion matrix whose totals are the sums"
            problem = f"row {row_name!r}, column {name!r} is {column[row]}"
            advice = "Correct it, drop the total, or rename it if it is a class"
            text = f"{rule}, but {problem} and the classes add up to {total:,}. {advice}"
            raise WrongValue(argument, text)


def _assumptions(
    argument: str, labels: list[str], cells: Mapping[str, list], table: ndarray
) -> list[Note]:
    """Return notes on percentages and missing columns, or raise if they are clearly not counts."""
    texts = []
    sums = [table.sum(0), table.sum(1)]
    if any(np.all(totals == 1) for totals in sums):
        rule = "must contain counts, but all rows or all columns add up to 1, like proportions"
        raise WrongValue(argument, f"{rule}. {COUNTS_NEEDED}")
    if any(np.all(totals == 100) for totals in sums):
        texts.append(
            "all rows or columns add up to 100. They were read as counts, not as percentages"
        )
    is_missing = ~np.isin(labels, list(cells))
    missing = list(itertools.compress(labels, is_missing))
    if missing:
        names = f"there is no column for row {listed(missing, shapes.FIRST, quoted=True)}"
        are_numbers = all(map(decimals.is_plain, labels)) and not any(map(_is_sum, cells))
        hold_sums = (table[is_missing] == table[~is_missing].sum(0)).all(1).any()
        if are_numbers or hold_sums or not COUNT_NAMES.isdisjoint(missing):
            advice = "Add a column of zeros, or rename the row 'Total' if it contains sums"
            raise WrongValue(argument, f"{SAME_NAMES}, but {names}. {advice}")
        texts.append(f"{names}, so its counts were set to 0")
    return [Note("assumption", text, PLACE) for text in texts]
