"""Inputs with judge labels of all items and human labels of some."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from workbench import checks
from workbench.audits.judges import JudgeAudit, judge_audit
from workbench.data import frames, numbers
from workbench.data.classes import read_classes
from workbench.data.columns import spelled
from workbench.data.scored_items import missing_labels
from workbench.results import Note

BATCHES = ("same", "earlier")
ID = "id"
PLAN = (
    "label some items. `workbench audit new {0} audit.db --strata-by {1} --budget 200` samples "
    "them for annotators, who do not see the judge labels. Then name the filled sheet: --audit "
    "sheet.csv --truth correct"
)


@checks.naming(verdict="judge", label="truth", earlier="batch")
def read_judged(
    counts: str,
    *,
    judge: str,
    audit: str = "",
    truth: str = "truth",
    id: str = "",
    batch: str = "same",
    classes: str = "",
    rates: str = "process",
    level: float = 0.95,
) -> JudgeAudit:
    """Return an estimate for all items from judge labels of all and human labels of some.

    Parameters
    ----------
    counts : str
        File with a row per item, or the log of an evaluation.
    judge : str
        Its column of judge labels.
    audit : str
        File of the human labels. "" if they are in the file `counts`.
    truth : str
        Column of the human labels, empty for items without one. In an annotation sheet it is
        "truth" or "correct".
    id : str
        Column that identifies an item in both files. "" is "id". Not for an earlier batch.
    batch : {"same", "earlier"}
        Whether the human labels are of the same items or of earlier ones. The judge labels of
        earlier items are also in `audit`.
    classes, rates, level
        As in `workbench.audits.judges.judge_audit`.

    Returns
    -------
    JudgeAudit
        The estimate, next to the estimates from the human labels or the judge labels alone.
    """
    checks.choice("batch", batch, BATCHES)
    if not counts:
        raise checks.WrongValue("counts", "must name the file of the judge labels")
    if truth == judge:
        raise checks.WrongValue(
            "truth",
            "must be a different column than {0}",
            told=f"both are {judge!r}",
            others=("judge",),
        )
    if batch == "earlier":
        settings = {"classes": classes, "rates": rates, "level": level}
        return _of_earlier(counts, judge, audit, truth, id, settings)
    if audit:
        verdicts, labels = _matched(counts, judge, audit, truth, id)
    else:
        _refuse_lacking_label(counts, judge, truth)
        verdicts, cells = _labeled_rows(counts, judge, truth)
        labels = _filled(cells)
    gaps, texts = missing_labels(labels, verdicts)
    labels[gaps] = None
    if gaps.all():
        raise checks.WrongValue(
            "truth", f"has no label in {(audit or counts)!r}: {PLAN.format(counts, judge)}"
        )
    result = judge_audit(verdicts, labels, classes=classes, level=level)
    notes = [] if audit else _notes_on_repeated(counts, id or ID)
    if texts:
        text = f"{checks.listed(texts, quoted=True)} in column {truth!r} is read as a missing label"
        notes.append(Note("data", text))
    return replace(result, notes=(*notes, *result.notes))


def _notes_on_repeated(file: str, name: str) -> list[Note]:
    """Return a note if identifiers repeat in a file whose rows count as items."""
    if not _has_column(file, name):
        return []
    times = Counter(_texts(file, name))
    repeated = [text for text, count in times.items() if text and count > 1]
    if not repeated:
        return []
    ids = checks.counted(len(repeated), "identifier occurs", "identifiers occur")
    text = (
        f"{ids} more than once in column {name!r}, such as {repeated[0]!r}. Every row counts as an "
        "item, so the interval is too short if these rows are of the same item. Keep one row per "
        "item"
    )
    return [Note("unreliable", text)]


@frames.in_rows_of("file")
def _labeled_rows(file: str, judge: str, *names: str) -> tuple[np.ndarray, ...]:
    """Return the judge labels of a file, none of them missing, and other columns."""
    cells = frames.read_columns(file, [judge, *names])[0]
    gaps = _gaps(cells[judge])
    for name in names:
        if gaps.any() and name != ID and not _gaps(cells[name]).any():
            raise checks.WrongValue(
                "judge",
                f"must have a judge label for every item; {int(gaps.sum()):,} of {gaps.size:,} "
                f"cells are empty, but none of column {name!r}; perhaps you swapped the two "
                "columns",
                judge,
            )
    return _classes(judge, cells[judge]), *(cells[name] for name in names)


def _classes(judge: str, cells: np.ndarray) -> np.ndarray:
    return read_classes({judge: cells})[0][judge]


def _gaps(cells: np.ndarray) -> np.ndarray:
    return np.array([checks.is_missing(cell) for cell in cells.tolist()])


def _filled(cells: np.ndarray) -> np.ndarray:
    filled = cells.astype(object)
    filled[_gaps(cells)] = None
    return filled


def _has_column(file: str, name: str) -> bool:
    names = frames.column_names(file)
    return spelled(name, names) in names


def _refuse_lacking_label(file: str, judge: str, label: str) -> None:
    if not _has_column(file, label):
        raise checks.WrongValue(
            "truth",
            f"is {label!r}, but {file!r} has no such column. Name the column of human labels, or "
            f"their file with --audit; or {PLAN.format(file, judge)}",
        )


def _of_earlier(
    counts: str, judge: str, audit: str, label: str, id: str, settings: dict
) -> JudgeAudit:
    if not audit:
        raise checks.WrongValue(
            "batch",
            "'earlier' needs --audit with the file of the earlier batch, which has its judge "
            "labels and human labels",
        )
    if not _has_column(audit, judge):
        raise checks.WrongValue(
            "batch",
            f"'earlier' needs the judge labels of the audited items, but {audit!r} has no "
            f"column {judge!r}; columns: {checks.listed(frames.column_names(audit), quoted=True)}",
        )
    earlier, cells = _labeled_rows(audit, judge, label)
    name = id or ID
    if _has_column(counts, name) and _has_column(audit, name):
        shared = {*_texts(counts, name)} & {*_texts(audit, name)}
        if shared:
            raise checks.WrongValue(
                "batch",
                f"must not be 'earlier', because {len(shared):,} items are in both files, such "
                f"as {min(shared)!r}; use 'same', or give different items different names",
            )
    (verdicts,) = _labeled_rows(counts, judge)
    return judge_audit(verdicts, _filled(cells), earlier=earlier, **settings)


def _texts(file: str, name: str) -> list[str]:
    return numbers.as_text(frames.read_columns(file, [name])[0][name])


def _matched(
    counts: str, judge: str, audit: str, label: str, id: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return judge labels and human labels (N,) of the items of `counts`, matched by identifier."""
    name = id or ID
    for file in (counts, audit):
        if not _has_column(file, name):
            columns = checks.listed(frames.column_names(file), 10, quoted=True)
            raise checks.WrongValue(
                "id",
                f"must name the column that identifies an item; {file!r} has no column {name!r}, "
                f"but {columns}",
            )
    verdicts, identifiers = _labeled_rows(counts, judge, name)
    items = numbers.as_text(numbers.to_ids(name, identifiers))
    repeated = [judge] if _has_column(audit, judge) else []
    cells = frames.read_columns(audit, [name, label, *repeated])[0]
    ids = numbers.as_text(cells[name])
    positions = {text: k for k, text in enumerate(items)}
    _refuse_other_items(ids, positions, counts, audit)
    rows = [positions[text] for text in ids]
    if repeated:
        _refuse_other_run(ids, judge, verdicts[rows], _classes(judge, cells[judge]))
    labels: Any = np.full(verdicts.size, None, object)
    for text, row, cell in zip(ids, rows, _filled(cells[label]).tolist(), strict=True):
        if cell is not None and labels[row] not in (None, cell):
            raise checks.WrongValue(
                "audit",
                f"labels item {text!r} both {labels[row]!r} and {cell!r}; keep one of these rows",
            )
        labels[row] = labels[row] if cell is None else cell
    return verdicts, labels


def _refuse_other_items(ids: list[str], positions: dict[str, int], counts: str, audit: str) -> None:
    lost = [text for text in ids if text not in positions]
    if lost and len(lost) == len(ids) - len(positions) and len({*ids}) > len(positions):
        raise checks.WrongValue(
            "audit",
            f"has all items of {counts!r} and {len(lost):,} more; perhaps you swapped the files of "
            "judge labels and human labels",
            audit,
        )
    if lost:
        raise checks.WrongValue(
            "audit",
            f"must label items of {counts!r}; {len(lost):,} of {len(ids):,} identifiers are not in "
            f"it, such as {lost[0]!r} (identifiers there look like {next(iter(positions))!r}). If "
            "the labels are of an earlier batch, use --batch earlier",
        )


def _refuse_other_run(
    ids: list[str], judge: str, verdicts: np.ndarray, repeated: np.ndarray
) -> None:
    """Raise an error if the judge labels next to the human labels are of another run."""
    for text, verdict, other in zip(ids, verdicts.tolist(), repeated.tolist(), strict=True):
        if verdict != other:
            raise checks.WrongValue(
                "audit",
                f"must be of the same run of the judge, but column {judge!r} of item {text!r} is "
                f"{other!r} there and {verdict!r} in the file of judge labels",
            )
