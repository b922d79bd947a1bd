"""Label sheets: draw items, write the sheet people fill in, and read it back without losing a label.

Cells of a sheet are text and are never evaluated, neither here nor by the spreadsheet that opens it: text is quoted,
so that one that splits lines at another delimiter leaves it whole, and what it would execute gets an apostrophe.
"""
from __future__ import annotations

import itertools
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data import frames, numbers
from workbench.data.frames import NoRowsError
from workbench.results import Note, Result

if TYPE_CHECKING:
    from workbench.data.scored_items import ScoredItems

ANSWERS = {"correct": "write 1 where the classifier was right and 0 where it was wrong",
           "truth": "write the true class of every item"}
OTHER = "other"
_EXECUTABLE = re.compile(r"['\s]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
_EXECUTABLE_PART = re.compile(rf"(?<=[;\t])(?={_EXECUTABLE.pattern})")
_ONE = re.compile(r"1(?:[.,]0*)?|true", re.IGNORECASE)
_ZERO = re.compile(r"0(?:[.,]0*)?|false", re.IGNORECASE)
_STRATUM = re.compile(r"([0-9]+)(?:[.,]0*)?")


@dataclass(frozen=True, eq=False, repr=False)
class SheetLabels(Result):
    """What a filled label sheet says, matched to the scored items.

    Attributes
    ----------
    labeled, correct : (K,) ndarray of int
        Labeled items and right ones among them, per stratum.
    index : (n,) ndarray of int
        Positions of the labeled items, rising.
    right : (n,) ndarray of int
        1 where the item of `index` was classified correctly, else 0.
    unmatched : tuple of str
        Identifiers of the sheet that are not among the items.
    unlabeled : tuple of str
        Identifiers whose cell is still empty.
    truth : (n,) ndarray of str or None
        True classes of the items of `index` as text, where the sheet holds them; "other" for one never predicted.

    Examples
    --------
    >>> SheetLabels(np.array([2, 1]), np.array([1, 1]), np.array([0, 1, 4]), np.array([0, 1, 1]))
    SheetLabels(3 labels in 2 strata, 2 right)
    """

    labeled: np.ndarray
    correct: np.ndarray
    index: np.ndarray
    right: np.ndarray
    unmatched: tuple = ()
    unlabeled: tuple = ()
    truth: np.ndarray | None = None

    def headline(self) -> str:
        """Return the number of labels and of right ones, and what could not be used."""
        left = f", {len(self.unlabeled)} still to label" if self.unlabeled else ""
        lost = f", {checks.counted(len(self.unmatched), 'id')} not among the items" if self.unmatched else ""
        strata = checks.counted(self.labeled.size, "stratum", "strata")
        return f"{checks.counted(self.index.size, 'label')} in {strata}, {self.right.sum()} right{left}{lost}"

    def rows(self) -> list[dict]:
        """Return one row per stratum: labeled, correct."""
        return [{"stratum": k, "labeled": labeled, "correct": correct}
                for k, (labeled, correct) in enumerate(zip(self.labeled.tolist(), self.correct.tolist(),
                                                           strict=True))]


def draw_items(strata_labels: ArrayLike, labeled: ArrayLike, *, rng: int | np.random.Generator) -> np.ndarray:
    """Draw a simple random sample without replacement in every stratum.

    Parameters
    ----------
    strata_labels : (N,) array_like of int
        Stratum of each item, 0 to K - 1.
    labeled : (K,) array_like of int
        Items to draw per stratum, at most as many as it holds.
    rng : int or numpy.random.Generator

    Returns
    -------
    (n,) ndarray of int
        Positions of the drawn items, rising.

    Raises
    ------
    ValueError
        If a stratum holds fewer items than to be drawn, or a label is outside 0 to K - 1.

    Examples
    --------
    >>> draw_items([0, 0, 1, 1, 1], [1, 3], rng=0).tolist()
    [1, 2, 3, 4]
    """
    labeled = checks.counts("labeled", labeled)
    stratum = _strata("strata_labels", strata_labels, labeled.size)
    size = np.bincount(stratum, minlength=labeled.size)
    checks.at_most("labeled", labeled, "stratum_size", size)
    rng = checks.generator(rng)
    members = np.split(np.argsort(stratum, kind="stable"), np.cumsum(size)[:-1])
    drawn = [rng.choice(inside, n, replace=False, shuffle=False)
             for inside, n in zip(members, labeled, strict=True) if n]
    return np.sort(np.concatenate(drawn)) if drawn else np.empty(0, np.int64)


def write_label_sheet(path: str | PathLike[str], items: ScoredItems, stratum: ArrayLike, index: ArrayLike, *,
                      asks: str = "correct") -> None:
    """Write the chosen items as a CSV sheet whose column `correct` is to be filled with 1 or 0.

    The sheet has the columns id, stratum and correct, in UTF-8 with a byte-order mark, ordered by
    stratum and position. Ids are quoted, and one that a spreadsheet would execute gets a leading apostrophe.
    A sheet that asks for the true class has the column `truth` instead and is ordered by position, so that the order
    does not tell what was predicted.

    Parameters
    ----------
    path : str or path
        File ending in .csv; written as a whole or not at all.
    items : ScoredItems
        Ids come from `items.id`, or are the data row numbers from 1 where there are none.
    stratum : (N,) array_like of int
        Stratum of each item.
    index : (n,) array_like of int
        Positions of the chosen items, each at most once.
    asks : {"correct", "truth"}

    Raises
    ------
    ValueError
        If the path does not end in .csv, an index is repeated or out of range, or the file exists and
        is not a label sheet without a filled cell: what was recorded is never overwritten.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from workbench import digit_forms
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_label_sheet(folder + "/sheet.csv", digit_forms().items(), np.arange(1797) // 600, [1500, 7])
    ...     pathlib.Path(folder, "sheet.csv").read_text(encoding="utf-8-sig").splitlines()
    ['id,stratum,correct', '"8",0,', '"1501",2,']
    """
    checks.choice("asks", asks, ANSWERS)
    stratum = _strata("stratum", stratum, None, items.size)
    index = _positions(index, items.size)
    refuse_recorded(_csv_path(path), *ANSWERS)
    ids = _id_texts(items)
    order = index[np.lexsort((index, stratum[index]))] if asks == "correct" else np.sort(index)
    rows = [(ids[position], int(stratum[position]), "") for position in order]
    write_rows(path, ("id", "stratum", asks), rows)


def read_label_sheet(path: str | PathLike[str], items: ScoredItems, stratum: ArrayLike, n_strata: int, *,
                     asks: str = "correct") -> SheetLabels:
    r"""Read a filled label sheet and count its labels per stratum.

    Parameters
    ----------
    path : str or path
        The sheet; a spreadsheet may have saved it with semicolons, without the byte-order mark or
        without the column stratum. A cell of `correct` is 1, 0, true, false or empty. A cell of `truth` is a class that
        `items` predicts, "other" for a class that is never predicted, or empty.
    items : ScoredItems
        The items the sheet was written for.
    stratum : (N,) array_like of int
        Stratum of each item, 0 to `n_strata` - 1.
    n_strata : int
        Number of strata, K.
    asks : {"correct", "truth"}
        The column that is read. Where `correct` is missing or empty and the items have predictions, `truth` does too.

    Returns
    -------
    SheetLabels

    Raises
    ------
    ValueError
        For a cell that is not a label, an id with two different labels, an id whose stratum differs
        from the sheet's, and a sheet without any known id or without any label. Names the id and the
        data row, counted from 1 below the header.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from workbench import ScoredItems
    >>> items = ScoredItems(np.array(["007", "008", "=9"], object), np.array([0.6, 0.7, 0.9]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sheet = pathlib.Path(folder, "sheet.csv")
    ...     _ = sheet.write_text("id;correct\n007;1\n'=9;0\n8;1\n")
    ...     labels = read_label_sheet(sheet, items, [0, 0, 1], 2)
    >>> labels
    SheetLabels(2 labels in 2 strata, 1 right, 1 id not among the items)
    >>> labels.unmatched
    ('8',)
    """
    n_strata = checks.whole("n_strata", n_strata, 1)
    checks.choice("asks", asks, ANSWERS)
    stratum = _strata("stratum", stratum, n_strata, items.size)
    columns, answer, notes = _sheet_columns(path, asks, items)
    position_of = _positions_by_id(items)
    matched = _matched(columns, answer, position_of, repr(os.fspath(path)))
    _refuse_other_stratum(columns, matched, stratum)
    read = _label if answer == "correct" else _class_in(items)
    labels, repeated = _labels_by_position(columns, matched, answer, read)
    unmatched = tuple(dict.fromkeys(cell for cell, where in zip(columns["id"], matched, strict=True)
                                    if cell and where is None))
    if not any(label is not None for label in labels.values()):
        raise ValueError(f"{os.fspath(path)!r} has no filled cell in its column {answer!r}; {ANSWERS[answer]}")
    notes = (*notes, *_repeated_notes(repeated), *_unmatched_notes(unmatched, position_of))
    return _counted(labels, stratum, n_strata, items, answer, unmatched=unmatched, notes=notes)


def known_labels(items: ScoredItems, stratum: np.ndarray, n_strata: int, index: np.ndarray) -> SheetLabels:
    """Return what a filled sheet of the items of `index` would say, from items whose truth is known."""
    right = items.correct[index]
    truth = None if items.truth is None or items.prediction is None else class_texts(items.truth)[index]
    return SheetLabels(*_per_stratum(stratum[index], right, n_strata), index, right.astype(np.int64), truth=truth)


def class_texts(labels: np.ndarray) -> np.ndarray:
    """Return class labels (N,) as the texts by which sheets and settings name them; 1.0 is the class "1"."""
    texts, whole = numbers.as_text(labels), np.asarray(labels).dtype.kind == "f"
    return np.array([text.removesuffix(".0") for text in texts] if whole else texts)


def named_classes(*labels: Sequence[np.ndarray]) -> tuple[list[str], Callable]:
    """Return the texts of all classes in arrays of labels, and a function from a name to its class's text, or None.

    Examples
    --------
    >>> texts, named = named_classes(np.array([1, 0, 1]))
    >>> texts, named("1.0"), named("2")
    (['0', '1'], '1', None)
    """
    classes = np.unique(np.concatenate(labels))
    texts = dict(zip(classes.tolist(), class_texts(classes).tolist(), strict=True))
    if classes.dtype.kind == "U":
        return list(texts.values()), texts.get
    return list(texts.values()), lambda name: texts.get(numbers.to_labels("class", np.array([name], object))[0].item())


def _strata(name: str, values: ArrayLike, n_strata: Any, size: int | None = None) -> np.ndarray:
    stratum = checks.counts(name, values, size=size, what="item")
    over = np.flatnonzero(stratum >= n_strata) if n_strata is not None else np.empty(0, int)
    if over.size:
        raise ValueError(f"{name} must be at most {n_strata - 1}; item {over[0]} is {stratum[over[0]]}")
    return stratum


def _positions(index: ArrayLike, size: int) -> np.ndarray:
    index = checks.counts("index", index, what="entry")
    if index.max() >= size:
        raise ValueError(f"index must be below {size}, the number of items; got {index.max()}")
    if np.unique(index).size < index.size:
        raise ValueError(f"index must hold each position once; {_commonest(index.tolist())} repeats")
    return index


def _commonest(values):
    return Counter(values).most_common(1)[0][0]


def _id_texts(items):
    if items.id is None:
        return list(map(str, range(1, items.size + 1)))
    return numbers.as_text(items.id)


def _neutral(text):
    return "'" + text if _EXECUTABLE.match(text) else text


def _cell(value, place):
    """Return a cell as it is written; behind the first, a quote does not keep a line from being split."""
    if value is None or value == "":
        return ""
    if not isinstance(value, str):
        return str(value)
    text = _neutral(value) if place == 0 else _EXECUTABLE_PART.sub("'", _neutral(value))
    return '"' + text.replace('"', '""') + '"'


def _original(cell):
    if cell.startswith("'") and _EXECUTABLE.match(cell[1:]):
        return cell[1:].strip()
    return cell


def _csv_path(path):
    path = os.path.expanduser(os.fspath(path))
    if not path.lower().endswith(".csv"):
        raise ValueError(f"path must end in .csv; got {path!r}")
    return path


def refuse_recorded(path: str | PathLike[str], *answers: str) -> None:
    """Raise if a file at `path` holds labels in a column of `answers`, or is anything but an empty label sheet."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return
    try:
        found = [name for name in answers if name in frames.column_names(path)] or answers[:1]
        columns, _ = frames.read_columns(path, ["id", *found])
    except NoRowsError:
        return
    except ValueError as error:
        raise ValueError(f"{path!r} exists and is not a label sheet ({error}); choose another path") from None
    filled = sum(map(bool, (cell for name in found for cell in numbers.as_text(columns[name]))))
    if filled:
        raise ValueError(f"{path!r} already holds {checks.counted(filled, 'label')} and is not overwritten; choose "
                         "another path, or move the file away")


def refuse_other(path: str | PathLike[str], header: Sequence[str]) -> None:
    """Raise if there is a file at `path` whose columns are not those of `header`: it is somebody's."""
    path = _csv_path(path)
    if os.path.exists(path) and os.path.getsize(path) and frames.column_names(path) != tuple(header):
        raise ValueError(f"{path!r} exists and has other columns than {checks.listed(header)}; choose another path")


def write_rows(path: str | PathLike[str], header: Sequence[str], rows: Iterable[Iterable]) -> None:
    """Write a CSV file, UTF-8 with a byte-order mark, as a whole or not at all; text is quoted and harmless.

    Parameters
    ----------
    path : str or path
        Ends in .csv.
    header : sequence of str
        Words; what is no identifier is quoted and harmless as text in cells is.
    rows : iterable of sequence
    """
    path, cells = _csv_path(path), ([_cell(value, place) for place, value in enumerate(row)] for row in rows)
    names = [name if name.isidentifier() else _cell(name, place) for place, name in enumerate(header)]
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ValueError(f"no such folder: {folder!r}")
    temporary = os.path.join(folder, f"workbench-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8-sig", newline="") as file:
            file.writelines(",".join(row) + "\r\n" for row in itertools.chain([names], cells))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def _sheet_columns(path, asks, items):
    """Return the columns as text, the one that holds the answers, and notes."""
    header = frames.column_names(path)
    usable = ("truth",) if asks == "truth" else ("correct",) if items.prediction is None else tuple(ANSWERS)
    there = [name for name in usable if name in header] or [asks]
    columns, notes = frames.read_columns(path, ["id", *there] + ["stratum"] * ("stratum" in header))
    texts = {name: numbers.as_text(column) for name, column in columns.items()}
    return texts, next((name for name in there if any(texts[name])), there[0]), notes


def _positions_by_id(items):
    ids = _id_texts(items)
    position_of = {text: position for position, text in enumerate(ids)}
    if len(position_of) < len(ids):
        raise ValueError(f"items.id must be unique; {_commonest(ids)!r} repeats")
    return position_of


def _matched(columns, answer, position_of, label):
    """Return the position of each row's item, None where there is none."""
    for row, (cell, said) in enumerate(zip(columns["id"], columns[answer], strict=True), 1):
        if said and not cell:
            raise ValueError(f"column 'id', data row {row} is missing, but its {answer!r} cell is {said!r}")
    matched = [position_of.get(_original(cell)) if cell else None for cell in columns["id"]]
    if all(where is None for where in matched):
        raise ValueError(f"{label} names no id of the items, its first is {columns['id'][0]!r} and theirs is "
                         f"{next(iter(position_of))!r}; check that sheet and scores belong together")
    return matched


def _refuse_other_stratum(columns, matched, stratum):
    for row, cell in enumerate(columns.get("stratum", ())):
        if matched[row] is None:
            continue
        found = _STRATUM.fullmatch(cell)
        expected = int(stratum[matched[row]])
        if found is None or int(found[1]) != expected:
            raise ValueError(f"id {columns['id'][row]!r} (data row {row + 1}) has stratum {cell!r} in the "
                             f"sheet, but {expected} now; use the settings with which the sheet was written: n_strata, "
                             "stratifier, seed, and what was asked (a class's metrics, a rival)")


def _labels_by_position(columns, matched, answer, read):
    """Return {position: what `read` makes of its cell, or None} and the ids that are labeled more than once."""
    labels, repeated = {}, []
    for row, (position, cell) in enumerate(zip(matched, columns[answer], strict=True)):
        label = read(columns["id"][row], row + 1, cell) if cell else None
        if position is None:
            continue
        before = labels.get(position)
        if before is None:
            labels[position] = label
        elif label is not None:
            _refuse_conflict(columns["id"][row], row + 1, before, label)
            repeated.append(columns["id"][row])
    return labels, repeated


def _refuse_conflict(identifier, row, before, label):
    if before != label:
        raise ValueError(f"id {identifier!r} is labeled both {before} and {label}, the second time in data "
                         f"row {row}; keep one of the rows")


def _label(identifier, row, cell):
    if _ONE.fullmatch(cell):
        return 1
    if _ZERO.fullmatch(cell):
        return 0
    raise ValueError(f"column 'correct', data row {row} (id {identifier!r}): {cell!r} is not 1, 0, true, "
                     "false or empty")


def _class_in(items):
    """Return a function that reads a cell as the text of a class that is predicted, or as "other"."""
    texts, named = named_classes(*(labels for labels in (items.prediction, items.rival) if labels is not None))

    def read(identifier, row, cell):
        found = named(_original(cell)) or (OTHER if cell == OTHER else None)
        if found is None:
            known = checks.listed(texts, quoted=True)
            raise ValueError(f"column 'truth', data row {row} (id {identifier!r}): {cell!r} is not a predicted class"
                             f"{checks.suggestion(cell, texts)}; write {known}, or {OTHER!r} for a class that is never "
                             "predicted")
        return found
    return read


def _repeated_notes(repeated):
    distinct = tuple(dict.fromkeys(repeated))
    if not distinct:
        return ()
    ids = checks.counted(len(distinct), "id is", "ids are")
    return (Note("data", f"{ids} labeled more than once, always alike, and counted once: "
                 + checks.listed(distinct, 5, quoted=True)),)


def _unmatched_notes(unmatched, position_of):
    if not unmatched:
        return ()
    ids = checks.counted(len(unmatched), "id of the sheet is", "ids of the sheet are")
    note = Note("refused", f"{ids} not among the items: {checks.listed(unmatched, 5, quoted=True)}")
    padded = {text.lstrip("0"): text for text in position_of if text.startswith("0")}
    shortened = next((cell for cell in unmatched if cell.lstrip("0") in padded), None)
    if shortened is None:
        return (note,)
    return (note, Note("data", f"a spreadsheet may have removed leading zeros: the sheet has {shortened!r}, the items "
                       f"{padded[shortened.lstrip('0')]!r}; format the column id as text and restore them"))


def _counted(labels, stratum, n_strata, items, answer, **found):
    index = np.array(sorted(position for position, label in labels.items() if label is not None), np.int64)
    said = np.array([labels[position] for position in index.tolist()])
    right = said if answer == "correct" else (said == class_texts(items.prediction)[index]).astype(np.int64)
    ids = _id_texts(items)
    unlabeled = tuple(ids[position] for position, label in labels.items() if label is None)
    return SheetLabels(*_per_stratum(stratum[index], right, n_strata), index, right, unlabeled=unlabeled,
                       truth=None if answer == "correct" else said, **found)


def _per_stratum(stratum: np.ndarray, right: np.ndarray, n_strata: int) -> tuple[np.ndarray, np.ndarray]:
    return np.bincount(stratum, minlength=n_strata), np.bincount(stratum, right, n_strata).astype(np.int64)
