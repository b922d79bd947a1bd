"""A judge's verdicts and people's labels from the files that a report is given."""

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
    "label some: workbench audit new {0} audit.db --strata-by {1} --budget 200 draws them for a sheet or a desk "
    "that hides the verdicts; then name the sheet as audit (--audit sheet.csv --truth correct)"
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
    """Return what people's labels say of all the items that a judge gave a verdict.

    Parameters
    ----------
    counts : str
        File with a row per item, or the log of an evaluation.
    judge : str
        Its column of verdicts.
    audit : str
        File of the labels; "" where they stand beside the verdicts.
    truth : str
        Column of the labels, empty where nobody was asked; of a sheet of an audit "truth" or "correct".
    id : str
        Column of both files that says which items are the same; "" for "id". Not for an earlier batch.
    batch : {"same", "earlier"}
        Whether labels are of the same items, or of others, whose verdicts stand beside them in `audit`.
    classes, rates, level
        As in `workbench.audits.judges.judge_audit`.

    Returns
    -------
    JudgeAudit
    """
    checks.choice("batch", batch, BATCHES)
    if not counts:
        raise checks.WrongValue("counts", "must name the file of the verdicts")
    if truth == judge:
        raise checks.WrongValue(
            "truth",
            "must be another column than {0}",
            told=f"both are {judge!r}",
            others=("judge",),
        )
    if batch == "earlier":
        return _of_earlier(
            counts, judge, audit, truth, id, {"classes": classes, "rates": rates, "level": level}
        )
    verdict, said = (
        _matched(counts, judge, audit, truth, id) if audit else _beside(counts, judge, truth)
    )
    gaps, words = missing_labels(said, verdict)
    said[gaps] = None
    if gaps.all():
        raise checks.WrongValue(
            "truth", f"has no label in {(audit or counts)!r}: {PLAN.format(counts, judge)}"
        )
    found = judge_audit(verdict, said, classes=classes, level=level)
    if not words:
        return found
    text = f"{checks.listed(words, quoted=True)} in column {truth!r} is read as a missing label"
    return replace(found, notes=(Note("data", text), *found.notes))


@frames.in_rows_of("file")
def _verdicts(file: str, judge: str, *others: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the verdicts of a file, none of them missing, and other columns."""
    cells = frames.read_columns(file, [judge, *others])[0]
    gaps = _gaps(cells[judge])
    for name in others:
        if gaps.any() and name != ID and not _gaps(cells[name]).any():
            raise checks.WrongValue(
                "judge",
                f"must have a verdict for every item; {int(gaps.sum()):,} of "
                f"{gaps.size:,} cells are empty, but none of column {name!r}: are the two swapped?",
                judge,
            )
    return read_classes({judge: cells[judge]})[0][judge], {name: cells[name] for name in others}


def _gaps(cells: np.ndarray) -> np.ndarray:
    return np.array([checks.is_missing(cell) for cell in cells.tolist()])


def _filled(cells: np.ndarray) -> np.ndarray:
    filled = cells.astype(object)
    filled[_gaps(cells)] = None
    return filled


def _beside(file: str, judge: str, label: str) -> tuple[np.ndarray, np.ndarray]:
    if spelled(label, names := frames.column_names(file)) not in names:
        raise checks.WrongValue(
            "truth",
            f"is {label!r}, which is no column of {file!r}: name the column of people's "
            f"labels, or their file with audit (--audit); or {PLAN.format(file, judge)}",
        )
    verdict, others = _verdicts(file, judge, label)
    return verdict, _filled(others[label])


def _of_earlier(
    counts: str, judge: str, audit: str, label: str, id: str, settings: dict
) -> JudgeAudit:
    if not audit:
        raise checks.WrongValue(
            "batch",
            "'earlier' needs the file of the earlier batch, with its verdicts and labels, "
            "as audit (--audit); labels beside these verdicts are of the same items",
        )
    if spelled(judge, names := frames.column_names(audit)) not in names:
        raise checks.WrongValue(
            "batch",
            f"'earlier' needs the verdicts on the labeled items, and {audit!r} has no "
            f"column {judge!r}; columns: {checks.listed(names, quoted=True)}",
        )
    before, others = _verdicts(audit, judge, label)
    name = id or ID
    if all(
        spelled(name, frames.column_names(file)) in frames.column_names(file)
        for file in (counts, audit)
    ):
        shared = {*_texts(counts, name)} & {*_texts(audit, name)}
        if shared:
            raise checks.WrongValue(
                "batch",
                f"must not be 'earlier': {len(shared):,} items stand in both files, such "
                f"as {min(shared)!r}; say 'same', or name no items alike",
            )
    return judge_audit(
        _verdicts(counts, judge)[0], _filled(others[label]), earlier=before, **settings
    )


def _texts(file: str, name: str) -> list[str]:
    return numbers.as_text(frames.read_columns(file, [name])[0][name])


def _matched(
    counts: str, judge: str, audit: str, label: str, id: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return verdicts and labels (N,) of the items of `counts`, labels by their identifiers in `audit`."""
    name, names = id or ID, frames.column_names(audit)
    for file in (counts, audit):
        if spelled(name, there := frames.column_names(file)) not in there:
            raise checks.WrongValue(
                "id",
                f"must name the column that tells the items apart; {file!r} has no {name!r}, "
                f"but {checks.listed(there, 10, quoted=True)}",
            )
    verdict, others = _verdicts(counts, judge, name)
    place = {text: k for k, text in enumerate(numbers.as_text(numbers.to_ids(name, others[name])))}
    again = [judge] if spelled(judge, names) in names else []
    cells = frames.read_columns(audit, [name, label, *again])[0]
    ids, found = numbers.as_text(cells[name]), _filled(cells[label])
    _refuse_other_items(ids, place, counts, audit)
    if again:
        _refuse_other_run(ids, place, verdict, judge, read_classes({judge: cells[judge]})[0][judge])
    said: Any = np.full(verdict.size, None, object)
    for text, cell in zip(ids, found.tolist(), strict=True):
        if cell is not None and said[place[text]] not in (None, cell):
            raise checks.WrongValue(
                "audit", f"labels item {text!r} both {said[place[text]]!r} and {cell!r}: keep one"
            )
        said[place[text]] = cell if cell is not None else said[place[text]]
    return verdict, said


def _refuse_other_items(ids: list[str], place: dict[str, int], counts: str, audit: str) -> None:
    lost = [text for text in ids if text not in place]
    if lost and len(lost) == len(ids) - len({*place}) and len({*ids}) > len(place):
        raise checks.WrongValue(
            "audit",
            f"holds every item of {counts!r} and {len(lost):,} more: are the files of "
            "verdicts and labels swapped?",
            audit,
        )
    if lost:
        raise checks.WrongValue(
            "audit",
            f"must label items of {counts!r}; {len(lost):,} of {len(ids):,} are none of "
            f"them, such as {lost[0]!r} (items there are called {next(iter(place))!r}); labels of "
            "an earlier batch take batch 'earlier' (--batch earlier)",
        )


def _refuse_other_run(
    ids: list[str], place: dict[str, int], verdict: np.ndarray, judge: str, again: np.ndarray
) -> None:
    """Raise where verdicts beside the labels are not those of the items."""
    for text, other in zip(ids, again.tolist(), strict=True):
        if verdict[place[text]] != other:
            raise checks.WrongValue(
                "audit",
                f"must be of the same run of the judge: of item {text!r} column {judge!r} "
                f"says {other!r} beside the label, and {verdict[place[text]].item()!r} among the "
                "verdicts",
            )
