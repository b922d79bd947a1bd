"""The runs of each model in one source: a log of an evaluation, a folder of logs, or a table."""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench import checks
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.data.files import existing_file
from workbench.data.shapes import gaps
from workbench.data.workbooks import file_and_sheet
from workbench.extras.compare.columns import (
    MODEL_NAMES,
    SHOWN,
    TEXT_NAMES,
    item_column,
    long_columns,
    repeat_columns,
    score_columns,
)
from workbench.extras.compare.evaluation_logs import (
    chosen_score,
    letter_score,
    read_log,
    unnamed_part,
)
from workbench.extras.compare.log_files import comparison_table, is_evaluation_log
from workbench.results import Note

LOGS = (".eval", ".json", ".jsonl", ".ndjson")
_BATTLE = re.compile(r"(?s)^(?=.*winner)(?=.*^model_[a1]$).*^model_[b2]$", re.MULTILINE)
_DATED = re.compile(r"samples_(.+)_[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9-]+(\.[0-9]+)?\.(jsonl?|ndjson)")
TASK = "task"


class Run(NamedTuple):
    """The results of one model, with a row per item and epoch, in any order.

    `chosen` is whether the user named the model. `measure` is the name of the scores. `by` is the
    same with the filter of a log if the user chose neither, otherwise "". `finished` is whether the
    log reports that the run finished. `task` is "" if neither the log nor its file name gives it.
    """

    model: str
    chosen: bool
    told: str
    path: str
    measure: str
    by: str
    item: list[str]
    epoch: list[str]
    score: list[float]
    content: list[tuple[str, ...]]
    finished: bool
    cells: dict[str, np.ndarray]
    task: str = ""
    notes: tuple[Note, ...] = ()


class Asked(NamedTuple):
    """Columns that the user named, "" for none, and whether each model has items of its own."""

    model: str = ""
    item: str = ""
    score: str = ""
    cluster: str = ""
    epoch: str = ""
    columns: tuple[str, ...] = ()
    independent: bool = False

    @property
    def kept(self) -> list[str]:
        """Return the columns whose cells are kept."""
        return [name for name in (self.cluster, *self.columns) if name and name != TASK]


def named_sources(files: Sequence) -> Iterator[tuple[str, Any]]:
    """Yield the name and the source of each file, and of each log in a folder.

    A name is "" if the user gave none.
    """
    for source in files:
        if not isinstance(source, (str, os.PathLike)):
            yield "", source
            continue
        path = os.path.expanduser(os.fspath(source))
        name, sign, rest = path.partition("=")
        named = sign and not os.path.exists(file_and_sheet(path)[0])
        name, path = (name, os.path.expanduser(rest)) if named else ("", path)
        if not os.path.isdir(path):
            yield name, path
            continue
        inside = [
            os.path.join(folder, each)
            for folder, _, names in sorted(os.walk(path))
            for each in sorted(names)
            if each.endswith(LOGS)
        ]
        logs = [each for each in inside if os.path.getsize(each) and is_evaluation_log(each)]
        if not logs:
            raise ValueError(f"the folder {path!r} contains no log of an evaluation")
        yield from ((name, each) for each in logs)


def runs_of(name: str, source: Any, asked: Asked, files: int) -> list[Run]:
    """Return the runs of each model in a source.

    Parameters
    ----------
    name : str
        Name that the user gave the source, or "".
    source : str, path or data frame
    asked : Asked
    files : int
        Number of sources.
    """
    if is_evaluation_log(source):
        return [_log_run(name, source, asked)]
    table = comparison_table(source)
    if table:
        epoch = "repeat" if len(set(table["repeat"])) > 1 else ""
        asked = asked._replace(score=_score_of(table, asked.score, source))
        default = asked._replace(
            model=asked.model or "model",
            item=asked.item or "id",
            score=asked.score or "score",
            epoch=asked.epoch or epoch,
        )
        cells = {column: numbers.objects(values) for column, values in table.items()}
        runs = _table_runs(cells, tuple(cells), name, default, files)
        return [run._replace(told=repr(source), path=source, by="") for run in runs]
    names = frames.column_names(source)
    if is_of_battles(names):
        raise ValueError(
            f"{_told(source)} holds battles of two models, which give no score per item. To "
            "estimate the win rate of one model, add a column of scores: 1 if it won, 0.5 for a "
            "tie and 0 if it lost. Then compare that column"
        )
    return _table_runs(source, names, name, asked, files)


def _score_of(table: Mapping[str, list], name: str, source: Any) -> str:
    """Return the column of the promptfoo score that the user named, "" for none."""
    scores = [each for each in table if each in ("score", "passed") or each.startswith("scores.")]
    column = next((each for each in scores if name in (each, each.removeprefix("scores."))), "")
    if name and not column:
        named = [each.removeprefix("scores.") for each in scores]
        raise checks.WrongValue(
            "score",
            f"must name a score of {source!r}: {checks.listed(named, quoted=True)}",
            name,
        )
    return column


def is_of_battles(names: Sequence[str]) -> bool:
    """Return whether a table has a row per battle of two models, by the names of its columns.

    Parameters
    ----------
    names : sequence of str

    Examples
    --------
    >>> is_of_battles(["id", "model_a", "model_b", "winner"])
    True
    """
    return bool(_BATTLE.search("\n".join(sorted(map(str.lower, names)))))


def _told(source: Any) -> str:
    return repr(os.path.basename(source)) if isinstance(source, str) else "the table"


def _log_run(name: str, path: str, asked: Asked) -> Run:
    file, part = file_and_sheet(existing_file(path)[0])
    log = read_log(file, repr(path))
    if log.unfinished:
        raise ValueError(
            f"the run of {path!r} did not finish (status {log.unfinished!r}), so samples may be "
            "missing. Run it again"
        )
    samples, score = chosen_score(log, part or asked.score)
    if not score:
        raise ValueError(f"{path!r} has no score")
    shown = {"input": "input"} | {each: _column_of(samples, path, each) for each in asked.kept}
    by = (
        ""
        if part
        else " of filter ".join(
            dict.fromkeys([score, *[samples[0].part] * (log.part_is == "filter")])
        )
    )
    notes = (Note("data", unnamed_part(log, samples[0].part)),) if log.unnamed_parts else ()
    dated = _DATED.fullmatch(os.path.basename(file))
    return Run(
        name or log.model,
        bool(name),
        path,
        file,
        score,
        by,
        [each.id for each in samples],
        [each.part if log.part_is == "epoch" else "" for each in samples],
        [math.nan if (value := each.scores.get(score)) is None else value for each in samples],
        [each.content for each in samples],
        log.part_is == "epoch",
        {
            column: numbers.objects([each.cells.get(cell) for each in samples])
            for column, cell in shown.items()
        },
        log.task or (dated[1] if dated else ""),
        notes,
    )


def _column_of(samples: Sequence, path: str, wanted: str) -> str:
    names = [*dict.fromkeys(name for each in samples for name in each.cells)]
    found = spelled(wanted, names)
    if found not in names:
        raise ValueError(
            f"column {wanted!r} not found in {path!r}; available columns: "
            f"{checks.listed(names, 20, quoted=True)}{checks.suggestion(wanted, names)}"
        )
    return found


@frames.in_rows_of("source")
def _table_runs(source: Any, names: tuple, name: str, asked: Asked, files: int) -> list[Run]:
    """Return the runs of a table.

    The table has a column that names the models, or a column per model, or it is of one model.
    """
    told = _told(source)
    item = item_column(names, asked.item)
    if not item and not asked.independent:
        _ask_for_items(names, told)
    text = next((each for each in names if str(each).lower() in TEXT_NAMES), "")
    kept = [*asked.kept, *[text] * bool(text)]
    named = {item, *(spelled(each, names) for each in [*kept, asked.epoch] if each)}
    free = [each for each in names if each and each not in named]
    reads = frames.read_columns(
        source,
        list(
            filter(
                None,
                dict.fromkeys(
                    [
                        item,
                        *kept,
                        asked.epoch,
                        asked.model if asked.score else "",
                        *_wanted(asked, free),
                        *([] if asked.epoch else repeat_columns(free)),
                    ]
                ),
            )
        ),
    )
    data, notes = reads
    model, scores, left_out = _roles(data, free, told, asked, files)
    size = len(next(iter(data.values())))
    ids = numbers.present(item, data[item]) if item else [str(row) for row in range(1, size + 1)]
    epoch, epochs = _epochs(
        data,
        asked,
        free,
        list(zip(ids, numbers.as_text(data[model]), strict=True)) if model else ids,
    )
    if asked.score and not model and files == 1 and len(set(zip(ids, epochs, strict=True))) < size:
        _ask_for_models(told)
    chosen = bool(asked.score or asked.model)
    values = {each: _numbers(each, data[each], told, chosen=chosen) for each in scores}
    if epoch:
        notes = (
            *notes,
            Note(
                "data",
                f"{told}: {checks.listed(epoch, quoted=True)} "
                f"{'distinguishes' if len(epoch) == 1 else 'distinguish'} the repeats of an item",
            ),
        )
    if model and not asked.model:
        notes = (
            *notes,
            Note(
                "data",
                f"{told}: column {model!r} names the model of each row, {scores[0]!r} is the score",
            ),
        )
    notes = (*notes, *_left_out(told, scores, left_out, epoch))
    file = file_and_sheet(source)[0] if isinstance(source, str) else ""
    cells = {each: data[each] for each in asked.kept} | ({"input": data[text]} if text else {})
    stem = os.path.splitext(os.path.basename(file))[0]
    one = Run(
        name or stem,
        bool(name),
        told,
        file,
        asked.score or scores[0],
        "",
        ids,
        epochs,
        values[scores[0]],
        [],
        False,
        cells,
        notes=notes,
    )
    if model:
        return _of_models(one, numbers.present(model, data[model]))
    if asked.score:
        return [one if name or files > 1 else one._replace(model=asked.score)]
    if len(scores) == 1 and files > 1:
        return [one if name else one._replace(model=scores[0])]
    return [
        one._replace(model=each, chosen=True, measure=each, score=values[each]) for each in scores
    ]


def _ask_for_items(names: Sequence[str], told: str) -> None:
    """Raise an error, as the column of identifiers of a table is unknown."""
    folds = next((name for name in names if str(name).lower() in ("fold", "cv_fold", "split")), "")
    hint = (
        f". Column {folds!r} seems to number folds. To compare scores of folds, use `workbench "
        "report cross-validation-t-tests`"
        if folds
        else ""
    )
    raise checks.WrongValue(
        "item",
        f"must name the column of identifiers in {told}; available columns: "
        f"{checks.listed(names, 20, quoted=True)}{hint}",
    )


def _wanted(asked: Asked, free: Sequence[str]) -> list[str]:
    """Return the columns that may be scores."""
    if asked.score:
        return [asked.score]
    return [each.strip() for each in asked.model.split(",") if each] or list(free)


def _roles(
    data: Mapping[str, np.ndarray], free: Sequence[str], told: str, asked: Asked, files: int
) -> tuple[str, list[str], dict[str, str]]:
    """Return the column of models or "", the columns of scores, and the other columns.

    Each of the other columns has the reason why it is not a score.
    """
    if asked.score:
        if (
            files == 1
            and not asked.model
            and any(str(name).lower() in MODEL_NAMES for name in free)
        ):
            _ask_for_models(told)
        return asked.model, [asked.score], {}
    if asked.model:
        return "", _wanted(asked, free), {}
    candidates = {name: data[name] for name in free}
    model, score = long_columns(candidates, told)
    if model:
        return model, [score], {}
    found = score_columns(candidates, told)
    if not found.models:
        raise checks.WrongValue(
            "model",
            f"must name the models' columns of {told}, separated by commas: none of "
            f"{checks.listed(free, 20, quoted=True) or 'its columns'} holds scores",
        )
    return "", found.models, found.others


def _ask_for_models(told: str) -> None:
    raise checks.WrongValue(
        "model", f"must name the column of {told} that holds the model of each row"
    )


def _epochs(
    data: Mapping[str, np.ndarray], asked: Asked, free: Sequence[str], items: Sequence
) -> tuple[list[str], list[str]]:
    """Return the columns that distinguish repeats, and the repeat of each row.

    There are no such columns if the user named one or items do not repeat.
    """
    if asked.epoch:
        return [], numbers.as_text(data[spelled(asked.epoch, data)])
    columns = [name for name in repeat_columns(free) if name in data]
    if not columns or len(set(items)) == len(items):
        return [], [""] * len(items)
    return columns, [
        "/".join(row)
        for row in zip(*(numbers.as_text(data[name]) for name in columns), strict=True)
    ]


def _left_out(
    told: str, scores: Sequence[str], others: Mapping[str, str], epoch: Sequence[str]
) -> Iterator[Note]:
    """Yield a note on the columns that are scores and those that are not, if there was a choice."""
    others = {name: why for name, why in others.items() if name not in epoch}
    if others:
        reasons = [f"{name!r} ({why})" for name, why in others.items()]
        yield Note(
            "data",
            f"{told}: the scores are {checks.listed(scores, SHOWN, quoted=True)}; not used as "
            f"scores: {checks.listed(reasons)}",
        )


def _of_models(run: Run, whose: list[str]) -> list[Run]:
    rows: dict[str, list[int]] = {}
    for row, model in enumerate(whose):
        rows.setdefault(model, []).append(row)
    return [
        run._replace(
            model=model,
            chosen=True,
            item=[run.item[row] for row in mine],
            epoch=[run.epoch[row] for row in mine],
            score=[run.score[row] for row in mine],
            cells={name: cells[mine] for name, cells in run.cells.items()},
        )
        for model, mine in rows.items()
    ]


def _numbers(name: str, cells: np.ndarray, told: str, *, chosen: bool) -> list[float]:
    """Return scores, NaN if missing.

    Letters are scores if the user chose the column.
    """
    missing = gaps(cells, True)
    filled = (
        np.where(missing, 0, cells)
        if cells.dtype.kind == "f"
        else numbers.objects(
            [
                "0" if gone else letter_score(cell) if chosen and isinstance(cell, str) else cell
                for gone, cell in zip(missing, cells.tolist(), strict=True)
            ]
        )
    )
    return np.where(missing, np.nan, numbers.to_numbers(name, filled)).tolist()
