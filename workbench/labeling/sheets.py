"""Annotation sheets: sample items, write the sheet that people fill in, and read it back.

`draw_items`, `write_label_sheet` and `read_label_sheet` are the three steps; no row is lost.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data import numbers
from workbench.data.judged_items import WHICH
from workbench.data.safe_csv import csv_path, refuse_recorded, write_rows
from workbench.data.safe_csv import refuse_other as refuse_other
from workbench.data.scored_items import ScoredItems
from workbench.labeling import draws
from workbench.labeling import ids as sheet_ids
from workbench.labeling import rows as sheet_rows
from workbench.labeling.answers import ANSWERS, class_texts
from workbench.labeling.tables import AnyPath
from workbench.results import FILLED, Note, Result, stratum_rows

OWN = ("id", "position", "stratum", *ANSWERS)  # columns that a sheet has, or had


class SheetLabels(Result):
    """Labels of a filled annotation sheet, matched to the scored items.

    Attributes
    ----------
    labeled, correct : (K,) ndarray of int
        Labeled items and correct ones among them, per stratum.
    index : (n,) ndarray of int
        Positions of the labeled items, rising.
    right : (n,) ndarray of int
        1 where the item of `index` was classified correctly, or A's answer is right, else 0.
    unmatched : tuple of str
        Identifiers of the sheet that are not among the items.
    unlabeled : tuple of str
        Identifiers of all items without a label, those skipped before those not reached.
    truth : (n,) ndarray of str or None
        True classes of the items of `index` as text, where the sheet holds them; "other" for one
        never predicted. Or whose answer is right.
    skipped : (K,) ndarray of int
        Items per stratum without a label that come before the last labeled one in the order of
        labeling; all without a label where that order is not known.
    missing : tuple of str
        Identifiers of the items that were asked for and have no row.
    row_counts : dict
        How many rows of the sheet are labeled, skipped, not reached, repeated, unmatched or empty;
        every row is one of these.

    Examples
    --------
    >>> SheetLabels(np.array([2, 1]), np.array([1, 1]), np.array([0, 1, 4]), np.array([0, 1, 1]))
    SheetLabels(3 labels in 2 strata, 2 right)
    """

    labeled: ndarray
    correct: ndarray
    index: ndarray
    right: ndarray
    unmatched: tuple = ()
    unlabeled: tuple = ()
    truth: ndarray | None = None
    skipped: ndarray = FILLED
    missing: tuple = ()
    row_counts: dict = FILLED

    def __post_init__(self) -> None:
        skipped = np.zeros_like(self.labeled) if self.skipped is None else self.skipped
        vars(self).update(skipped=skipped, row_counts=self.row_counts or {})
        super().__post_init__()

    def headline(self) -> str:
        """Return the number of labels and of right ones, and what could not be used."""
        labels = checks.counted(self.index.size, "label")
        strata = checks.counted(self.labeled.size, "stratum", "strata")
        parts = [f"{labels} in {strata}", f"{self.right.sum()} right"]
        if self.unlabeled:
            parts.append(f"{len(self.unlabeled)} still to label")
        if self.unmatched:
            parts.append(f"{checks.counted(len(self.unmatched), 'id')} not among the items")
        return ", ".join(parts)

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: labeled, correct."""
        return stratum_rows(labeled=self.labeled, correct=self.correct)


def draw_items(
    strata_labels: ArrayLike,
    labeled: ArrayLike,
    *,
    rng: int | np.random.Generator,
    id: ArrayLike | None = None,
) -> ndarray:
    """Draw a simple random sample without replacement in every stratum.

    The same seed, strata and ids give the items that reports and audit sessions sample, in files
    and on frames.

    Parameters
    ----------
    strata_labels : (N,) array_like of int
        Stratum of each item, 0 to K - 1.
    labeled : (K,) array_like of int
        Items to draw per stratum, at most as many as it holds.
    rng : int or numpy.random.Generator
        A seed; a generator gives one.
    id : (N,) array_like, optional
        Identifiers of the items; without them the numbers of the rows from 1.

    Returns
    -------
    (n,) ndarray of int
        Positions of the sampled items, rising.

    Raises
    ------
    ValueError
        If a stratum holds fewer items than are to be sampled, a stratum is outside 0 to K - 1, or
        an id repeats.

    See Also
    --------
    workbench.sample : the same items of a data frame of any size.
    workbench.labeling_order : the stratum of each next label.

    Notes
    -----
    Of each stratum those items are sampled whose MD5("seed:id") is least. In an audit whose labels
    are allocated in proportion, `workbench.labeling_order` gives their number, which in a stratum
    may be one label off `workbench.allocate`.

    Examples
    --------
    >>> draw_items([0, 0, 1, 1, 1], [1, 2], rng=0).tolist()
    [0, 2, 4]
    """
    labeled = checks.counts("labeled", labeled)
    stratum = _strata("strata_labels", strata_labels, labeled.size)
    checks.at_most("labeled", labeled, "stratum_size", np.bincount(stratum, minlength=labeled.size))
    ids: Sequence = range(1, stratum.size + 1)
    if id is not None:
        ids = numbers.as_text(checks.labels("id", id, size=stratum.size))
    turns = np.repeat(np.arange(labeled.size), labeled)
    with checks.naming(**{"items.id": "id"}):
        return np.sort(draws.items_in_turn(ids, stratum, turns, draws.seed_of(rng=rng)))


def write_label_sheet(
    path: AnyPath,
    items: ScoredItems,
    stratum: ArrayLike,
    index: ArrayLike,
    *,
    asks: str = "correct",
    columns: Mapping[str, ArrayLike] | None = None,
) -> None:
    """Write the chosen items as a CSV sheet whose last column is to be filled.

    The sheet has the columns id, position (1 to n), those of `columns`, and correct or truth, in
    UTF-8 with a byte-order mark. Text is quoted, and a cell that a spreadsheet would execute gets a
    leading apostrophe. The stratum is not shown, because it tells how sure the classifier was.

    Parameters
    ----------
    path : str or path
        File ending in .csv; written as a whole or not at all.
    items : ScoredItems
        Ids come from `items.id`, or are the data row numbers from 1 where there are none.
    stratum : (N,) array_like of int
        Stratum of each item.
    index : (n,) array_like of int
        Positions of the chosen items in the order of labeling, each at most once.
    asks : {"correct", "truth", "which"}
    columns : dict of (N,) array_like, optional
        Columns of the items to show, by their name in the sheet.

    Raises
    ------
    ValueError
        If the path does not end in .csv, an index is repeated or out of range, two columns have one
        name, or the file exists and is not a label sheet without a filled cell: recorded labels are
        never overwritten.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from workbench import digit_forms
    >>> items = digit_forms().items()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_label_sheet(folder + "/sheet.csv", items, np.arange(1797) // 600, [1500, 7],
    ...                       columns={"read": items.prediction})
    ...     pathlib.Path(folder, "sheet.csv").read_text(encoding="utf-8-sig").splitlines()
    ['id,position,read,correct', '"1501",1,"9",', '"8",2,"7",']
    """
    checks.choice("asks", asks, ANSWERS)
    _strata("stratum", stratum, None, items.size)
    index = _positions(index, items.size)
    columns = columns or {}
    check_columns(columns, items.size)
    refuse_recorded(csv_path(path), *ANSWERS)
    ids = draws.id_texts(items, index)
    texts = [class_texts(np.asarray(values)[index]).tolist() for values in columns.values()]
    positions = range(1, index.size + 1)
    empty = [""] * index.size
    rows = zip(ids, positions, *texts, empty, strict=True)
    write_rows(path, ("id", "position", *columns, asks), rows)


def check_columns(columns: Mapping[str, ArrayLike], size: int) -> None:
    """Raise where a column to show has a name of the sheet's own, or not a value for each item."""
    for name, values in columns.items():
        if name.casefold() in OWN:
            raise ValueError(
                f"columns must not be named {name!r}: the sheet has a column of that name"
            )
        if np.shape(values) != (size,):
            raise ValueError(
                f"columns must have {size} entries; {name!r} has shape {np.shape(values)}"
            )


def read_label_sheet(
    path: AnyPath,
    items: ScoredItems,
    stratum: ArrayLike,
    n_strata: int,
    *,
    asks: str = "correct",
    planned: ArrayLike | None = None,
) -> SheetLabels:
    r"""Read a filled label sheet and count its labels per stratum.

    Parameters
    ----------
    path : str or path
        The sheet; a spreadsheet may have saved it with semicolons, without the byte-order mark, in
        another order or without the column position. A cell of `correct` is 1 or 0, yes or no, y or
        n, right or wrong, correct or incorrect, true or false, in one sheet one of these, or empty.
        A cell of `truth` is a class that `items` predicts, "other" for a class that is never
        predicted, or empty.
    items : ScoredItems
        The items the sheet was written for.
    stratum : (N,) array_like of int
        Stratum of each item, 0 to `n_strata` - 1.
    n_strata : int
        Number of strata, K.
    asks : {"correct", "truth", "which"}
        The column to read. Where `correct` is missing or empty and the items have predictions,
        `truth` is read.
    planned : (n,) array_like of int, optional
        Positions of the items that the sheet asks for, in the order of labeling; without it the
        order is that of the column position.

    Returns
    -------
    SheetLabels

    Raises
    ------
    ValueError
        For a cell that is not a label, an id with two different labels, an id whose stratum or
        position differs from the sheet's, and a sheet without any known id or without any label.
        The message names the id and the row as a spreadsheet shows it: the header is row 1.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from workbench import ScoredItems
    >>> items = ScoredItems(np.array(["007", "008", "=9"], object), np.array([0.6, 0.7, 0.9]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sheet = pathlib.Path(folder, "sheet.csv")
    ...     _ = sheet.write_text("id;correct\n007;yes\n'=9;No\n8;yes\n")
    ...     labels = read_label_sheet(sheet, items, [0, 0, 1], 2)
    >>> labels
    SheetLabels(2 labels in 2 strata, 1 right, 1 id not among the items)
    >>> labels.unmatched
    ('8',)
    """
    n_strata = checks.whole("n_strata", n_strata, 1)
    checks.choice("asks", asks, ANSWERS)
    stratum = _strata("stratum", stratum, n_strata, items.size)
    planned = None if planned is None else _positions(planned, items.size)
    return found_labels(sheet_rows.opened(path, items, asks), items, stratum, n_strata, planned)


def known_labels(
    items: ScoredItems,
    stratum: ndarray,
    n_strata: int,
    index: ndarray,
) -> SheetLabels:
    """Return the labels of a filled sheet of the items of `index`, from items of known truth."""
    truth = None
    if items.truth is not None and items.prediction is not None:
        truth = class_texts(items.truth)[index]
    right = np.asarray(items.correct)[index].astype(int)
    counts = _per_stratum(stratum[index], right, n_strata)
    return SheetLabels(*counts, index, right, truth=truth)


def found_labels(
    rows: sheet_rows.SheetRows,
    items: ScoredItems,
    stratum: ndarray,
    n_strata: int,
    planned: ndarray | None,
) -> SheetLabels:
    """Return the labels of a sheet that is open, as `read_label_sheet` does."""
    matched, changed = rows.matches(planned)
    rows.refuse_other_plan(matched, stratum, planned)
    labels, repeated = sheet_rows.labels_of(rows, matched, rows.answers(items))
    labeled_items = [item for item, label in labels.items() if label is not None]
    index = np.array(sorted(labeled_items), int)
    if not index.size:
        raise ValueError(
            f"{rows.label} has no filled cell in its column {rows.answer!r}; {ANSWERS[rows.answer]}"
        )
    answers = np.array([labels[item] for item in index.tolist()])
    right = _right(rows.answer, answers, items, index)
    skipped, later = sheet_rows.progress(labels, rows.order(matched, planned))
    unlabeled = [*skipped, *later]
    missing = tuple(rows.names[item] for item in unlabeled if item not in labels)
    without_item = rows.unmatched(matched)
    unmatched = tuple(dict.fromkeys(filter(None, without_item)))
    repeated = tuple(dict.fromkeys(repeated))
    notes = [*rows.notes, *sheet_ids.changed_notes(changed)]
    notes += _notes(repeated, missing, unmatched, rows.names)
    labeled, correct = _per_stratum(stratum[index], right, n_strata)
    skipped_labels = np.bincount(stratum[np.array(skipped, int)], minlength=n_strata)
    unlabeled_names = tuple(rows.names[item] for item in unlabeled)
    kinds = sheet_rows.kinds_of_rows(rows, matched, labels, skipped)
    return SheetLabels(
        labeled,
        correct,
        index,
        right,
        unmatched,
        unlabeled_names,
        None if rows.answer == "correct" else answers,
        skipped_labels,
        missing,
        kinds,
        notes=notes,
    )


def _right(
    asks: str,
    answers: ndarray,
    items: ScoredItems,
    index: ndarray,
) -> ndarray:
    """Return 1 where an answer says that its item was classified correctly, else 0."""
    if asks == "which":
        answers = np.isin(answers, WHICH[:2])
    elif asks == "truth" and items.prediction is not None:
        answers = answers == class_texts(items.prediction)[index]
    return answers.astype(int)


def _strata(
    name: str,
    values: ArrayLike,
    n_strata: int | None,
    size: int | None = None,
) -> ndarray:
    stratum = checks.counts(name, values, size=size, what="item")
    if n_strata is not None:
        checks.refuse(name, stratum, stratum >= n_strata, f"must be at most {n_strata - 1}", "item")
    return stratum


def _positions(index: ArrayLike, size: int) -> ndarray:
    index = checks.counts("index", index, what="entry")
    if index.max() >= size:
        raise ValueError(f"index must be below {size}, the number of items; got {index.max()}")
    for repeated in np.flatnonzero(np.bincount(index) > 1)[:1]:
        raise ValueError(f"index must hold each position once; {repeated} repeats")
    return index


def _notes(
    repeated: tuple,
    missing: tuple,
    unmatched: tuple,
    names: list,
) -> Iterator[Note]:
    """Yield notes on the rows of a sheet, with the ids that they are about."""
    for kind, ids, singular, plural, meaning in (
        (
            "data",
            repeated,
            "id is",
            "ids are",
            "labeled more than once, always alike, and counted once",
        ),
        (
            "data",
            missing,
            "item that the sheet asked for has",
            "items that the sheet asked for have",
            "no row in it and no label",
        ),
        (
            "refused",
            unmatched,
            "id of the sheet is",
            "ids of the sheet are",
            "not among the items",
        ),
    ):
        if ids:
            count = checks.counted(len(ids), singular, plural)
            yield Note(kind, f"{count} {meaning}: {checks.listed(ids, 5, quoted=True)}")
    padded = {text.lstrip("0"): text for text in names if text.startswith("0")}
    for cell in [cell for cell in unmatched if cell.lstrip("0") in padded][:1]:
        yield Note(
            "data",
            f"a spreadsheet may have removed leading zeros: the sheet has {cell!r}, the items "
            f"{padded[cell.lstrip('0')]!r}; format the column id as text and restore them",
        )


def _per_stratum(stratum: ndarray, right: ndarray, n_strata: int) -> tuple[ndarray, ndarray]:
    labeled = np.bincount(stratum, minlength=n_strata)
    return labeled, np.bincount(stratum[right == 1], minlength=n_strata)
