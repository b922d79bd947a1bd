"""Annotation sheets: sample items, write the sheet that annotators fill in, and read it back.

`draw_items`, `write_label_sheet` and `read_label_sheet` are the three steps. `SheetLabels` counts
every row of a filled sheet.
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
    labeled : (K,) ndarray of int
        Labeled items per stratum.
    correct : (K,) ndarray of int
        Labeled items per stratum that were classified correctly.
    index : (n,) ndarray of int
        Positions of the labeled items, in ascending order.
    right : (n,) ndarray of int
        1 if the item of `index` was classified correctly, or A's answer is correct, else 0.
    unmatched : tuple of str
        Identifiers of the sheet that are not among the items.
    unlabeled : tuple of str
        Identifiers of all items without a label: first the skipped ones, then those not reached.
    truth : (n,) ndarray of str or None
        True classes of the items of `index` as text, with "other" for a class that is never
        predicted; or the model whose answer is correct. None if the sheet does not hold them.
    skipped : (K,) ndarray of int
        Items per stratum without a label that come before the last labeled one in the order of
        labeling. If that order is not known, all items without a label.
    missing : tuple of str
        Identifiers of sampled items that have no row in the sheet.
    row_counts : dict
        Number of rows of the sheet by kind: labeled, skipped, not reached, repeated, unmatched or
        empty. Every row is counted once.

    See Also
    --------
    read_label_sheet : Read a filled annotation sheet.

    Examples
    --------
    >>> SheetLabels(np.array([2, 1]), np.array([1, 1]), np.array([0, 1, 4]), np.array([0, 1, 1]))
    SheetLabels(3 labels in 2 strata, 2 correct)
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
        """Return the number of labels, of correct ones, and of rows that could not be used."""
        labels = checks.counted(self.index.size, "label")
        strata = checks.counted(self.labeled.size, "stratum", "strata")
        parts = [f"{labels} in {strata}", f"{self.right.sum()} correct"]
        if self.unlabeled:
            parts.append(f"{len(self.unlabeled)} still to label")
        if self.unmatched:
            parts.append(f"{checks.counted(len(self.unmatched), 'id')} not among the items")
        return ", ".join(parts)

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: labels and correct ones."""
        return stratum_rows(labeled=self.labeled, correct=self.correct)


def draw_items(
    strata_labels: ArrayLike,
    labeled: ArrayLike,
    *,
    rng: int | np.random.Generator,
    id: ArrayLike | None = None,
) -> ndarray:
    """Sample items at random without replacement in every stratum.

    With the same seed, strata and ids you get the same items as in reports and audit sessions, from
    files and from data frames.

    Parameters
    ----------
    strata_labels : (N,) array_like of int
        Stratum of each item, 0 to K - 1.
    labeled : (K,) array_like of int
        Number of items to sample per stratum, at most the size of the stratum.
    rng : int or numpy.random.Generator
        A seed, or a generator that supplies one.
    id : (N,) array_like, optional
        Identifiers of the items, by default the numbers of the rows from 1.

    Returns
    -------
    (n,) ndarray of int
        Positions of the sampled items, in ascending order.

    Raises
    ------
    ValueError
        If a stratum holds fewer items than are to be sampled, a stratum is outside 0 to K - 1, or
        an id repeats.

    See Also
    --------
    sample : Sample the same items from a data frame of any size.
    labeling_order : Compute the stratum of each next label.

    Notes
    -----
    The sampled items of a stratum are those with the smallest MD5("seed:id"). An audit that
    allocates labels in proportion takes their numbers from `workbench.labeling_order`. They may
    differ from those of `workbench.allocate` by one label per stratum.

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
    """Write an annotation sheet: a CSV file whose last column is to be filled.

    The sheet has the columns id, position (1 to n), those of `columns`, and the column to fill. It
    is written in UTF-8 with a byte-order mark. Text is quoted, and a cell that a spreadsheet would
    execute gets a leading apostrophe. The stratum is not shown, because it tells how certain the
    classifier was.

    Parameters
    ----------
    path : str or path
        File ending in .csv. It is written completely or not at all.
    items : ScoredItems
        Items of the sheet. Their ids are `items.id`, or the numbers of the data rows from 1.
    stratum : (N,) array_like of int
        Stratum of each item.
    index : (n,) array_like of int
        Positions of the chosen items in the order of labeling, each at most once.
    asks : {"correct", "truth", "which"}, default "correct"
        Column to fill: whether the prediction is correct, the true class, or whose answer is
        correct.
    columns : dict of (N,) array_like, optional
        Columns of the items to show, by their name in the sheet.

    Raises
    ------
    ValueError
        If the path does not end in .csv, an index is repeated or out of range, or two columns have
        the same name. Also if the file exists, unless it is an empty annotation sheet: labels are
        never overwritten.

    See Also
    --------
    read_label_sheet : Read a filled annotation sheet.
    draw_items : Sample the items of a sheet.
    accuracy_audit : Plan an audit and write its sheet.

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
    """Raise if a column to show has the name of another column, or not a value for each item."""
    for name, values in columns.items():
        if name.casefold() in OWN:
            raise ValueError(
                f"columns must not be named {name!r}: the annotation sheet has its own column of "
                "that name"
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
    r"""Read a filled annotation sheet and count its labels per stratum.

    Use it after annotators filled in a sheet of `write_label_sheet`. Rows that cannot be used are
    counted, too.

    Parameters
    ----------
    path : str or path
        The sheet, or the export of a labeling tool. A spreadsheet may have saved the sheet with
        semicolons, without the byte-order mark, in another order or without the column position.
    items : ScoredItems
        The items of the sheet.
    stratum : (N,) array_like of int
        Stratum of each item, 0 to `n_strata` - 1.
    n_strata : int
        Number of strata, K.
    asks : {"correct", "truth", "which"}, default "correct"
        Column to read. If `correct` is missing or empty and the items have predictions, `truth` is
        read instead.
    planned : (n,) array_like of int, optional
        Positions of the sampled items in the order of labeling. By default the order is that of the
        column position.

    Returns
    -------
    SheetLabels
        Labels per stratum, and the ids and rows that could not be used.

    Raises
    ------
    ValueError
        If a cell is not a label, an id has two different labels, or the stratum, the position or
        the column `prediction` of an id differs from the sheet. Also if the sheet has no known id
        or no label. The message names the id and the row number that a spreadsheet shows: the
        header is row 1.

    See Also
    --------
    write_label_sheet : Write an annotation sheet.
    stratified_accuracy : Estimate the accuracy from counts of labels per stratum.

    Notes
    -----
    A cell of `correct` is empty, or holds 1 or 0, yes or no, y or n, correct or incorrect, true or
    false, or "right" or "wrong". A sheet must use one of these pairs throughout. Words that are
    predicted classes, such as yes and no, are refused: use 1 and 0. A cell of `truth` is empty,
    or holds a predicted class, or "other" for a class that is never predicted.

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
    SheetLabels(2 labels in 2 strata, 1 correct, 1 id not among the items)
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
    """Return the labels of the items of `index`, from items of known truth."""
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
    """Return the labels of an opened sheet, as `read_label_sheet` does."""
    matched, changed = rows.matches(planned)
    rows.refuse_other_plan(matched, stratum, planned)
    rows.refuse_other_predictions(matched, items)
    labels, repeated = sheet_rows.labels_of(rows, matched, rows.answers(items))
    labeled_items = [item for item, label in labels.items() if label is not None]
    index = np.array(sorted(labeled_items), int)
    if not index.size:
        raise ValueError(
            f"{rows.label} has no label in its column {rows.answer!r}: {ANSWERS[rows.answer]}"
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
    """Return 1 for each answer that says that its item was classified correctly, else 0."""
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
            "labeled more than once, always with the same label, and counted once",
        ),
        (
            "data",
            missing,
            "sampled item has",
            "sampled items have",
            "no row in the annotation sheet, and so no label",
        ),
        (
            "refused",
            unmatched,
            "id of the annotation sheet is",
            "ids of the annotation sheet are",
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
            f"a spreadsheet may have removed leading zeros: the sheet has {cell!r}, the items have "
            f"{padded[cell.lstrip('0')]!r}. Format the column id as text and restore the zeros",
        )


def _per_stratum(stratum: ndarray, right: ndarray, n_strata: int) -> tuple[ndarray, ndarray]:
    labeled = np.bincount(stratum, minlength=n_strata)
    return labeled, np.bincount(stratum[right == 1], minlength=n_strata)
