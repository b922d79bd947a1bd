"""The runs of each model in one source: a log of an evaluation, a folder of logs, or a table."""

import itertools
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue
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
    no_scores,
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
_FOLDS = ("fold", "cv_fold", "split")


class Run(NamedTuple):
    """The results of one model, with a row per item and epoch, in any order.

    `chosen` is whether the user named the model. `label` is the name of the source in messages.
    `measure` is the name of the scores. `selection` is the same with the filter of a log if the
    user chose neither, otherwise "". `finished` is whether the log reports that the run finished.
    `task` is "" if neither the log nor its file name gives it.
    """

    model: str
    chosen: bool
    label: str
    path: str
    measure: str
    item: list[str]
    epoch: list[str]
    score: list[float]
    cells: dict[str, ndarray]
    selection: str = ""
    content: Sequence[tuple[str, ...]] = ()
    finished: bool = False
    task: str = ""
    notes: tuple[Note, ...] = ()


class Options(NamedTuple):
    """Columns that the user named, "" for none, and whether each model has items of its own."""

    model: str = ""
    item: str = ""
    score: str = ""
    cluster: str = ""
    epoch: str = ""
    columns: tuple[str, ...] = ()
    independent: bool = False

    @property
    def further(self) -> list[str]:
        """Return the columns whose cells are stored with the scores."""
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
        if sign and not os.path.exists(file_and_sheet(path)[0]):
            path = os.path.expanduser(rest)
        else:
            name = ""
        if not os.path.isdir(path):
            yield name, path
            continue
        logs = [log for log in _files_in(path) if os.path.getsize(log) and is_evaluation_log(log)]
        if not logs:
            raise ValueError(f"the folder {path!r} contains no log of an evaluation")
        for log in logs:
            yield name, log


def _files_in(path: str) -> Iterator[str]:
    """Yield the files in a folder that may be logs."""
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            if name.endswith(LOGS):
                yield os.path.join(folder, name)


def runs_of(name: str, source: Any, options: Options, files: int) -> list[Run]:
    """Return the runs of each model in a source.

    Parameters
    ----------
    name : str
        Name that the user gave the source, or "".
    source : str, path or data frame
    options : Options
    files : int
        Number of sources.
    """
    if is_evaluation_log(source):
        return [_log_run(name, source, options)]
    table = comparison_table(source)
    if table:
        epoch = "repeat" if len(set(table["repeat"])) > 1 else ""
        default = options._replace(
            model=options.model or "model",
            item=options.item or "id",
            score=_score_of(table, options.score, source) or "score",
            epoch=options.epoch or epoch,
        )
        cells = {column: numbers.objects(values) for column, values in table.items()}
        runs = _table_runs(cells, tuple(cells), name, default, files)
        return [run._replace(label=repr(source), path=source) for run in runs]
    names = frames.column_names(source)
    if is_of_battles(names):
        raise ValueError(
            f"{_label(source)} holds battles of two models, which give no score per item. To "
            "estimate the win rate of one model, add a column of scores: 1 if it won, 0.5 for a "
            "tie and 0 if it lost. Then compare that column"
        )
    return _table_runs(source, names, name, options, files)


def _score_of(table: Mapping[str, list], name: str, source: Any) -> str:
    """Return the column of the promptfoo score that the user named, "" for none."""
    columns = {
        column.removeprefix("scores."): column
        for column in table
        if column in ("score", "passed") or column.startswith("scores.")
    }
    if not name:
        return ""
    if name in columns:
        return columns[name]
    if name in columns.values():
        return name
    scores = checks.listed(columns, quoted=True)
    raise WrongValue("score", f"must name a score of {source!r}: {scores}", name)


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


def _label(source: Any) -> str:
    return repr(os.path.basename(source)) if isinstance(source, str) else "the table"


def _log_run(name: str, path: str, options: Options) -> Run:
    file, part = file_and_sheet(existing_file(path)[0])
    log = read_log(file, repr(path))
    if log.unfinished:
        raise ValueError(
            f"the run of {path!r} did not finish (status {log.unfinished!r}), so samples may be "
            "missing. Run it again"
        )
    samples, measure = chosen_score(log, part or options.score)
    if not measure:
        raise ValueError(f"{path!r} has no score")
    columns = {"input": "input"}
    for column in options.further:
        columns[column] = _column_of(samples, path, column)
    has_epochs = log.part_is == "epoch"
    selection = "" if part else measure
    if selection and not has_epochs and samples[0].part != measure:
        selection += f" of filter {samples[0].part}"
    scores = [sample.scores.get(measure) for sample in samples]
    cells = {}
    for column, cell in columns.items():
        cells[column] = numbers.objects([sample.cells.get(cell) for sample in samples])
    dated = _DATED.fullmatch(os.path.basename(file))
    notes = []
    if log.unnamed_parts:
        notes.append(Note("data", unnamed_part(log, samples[0].part)))
    return Run(
        name or log.model,
        bool(name),
        path,
        file,
        measure,
        [sample.id for sample in samples],
        [sample.part if has_epochs else "" for sample in samples],
        [math.nan if score is None else score for score in scores],
        cells,
        selection,
        [sample.content for sample in samples],
        has_epochs,
        log.task or (dated[1] if dated else ""),
        tuple(notes),
    )


def _column_of(samples: Sequence, path: str, name: str) -> str:
    names = list(dict.fromkeys(itertools.chain.from_iterable(sample.cells for sample in samples)))
    column = spelled(name, names)
    if column not in names:
        raise ValueError(
            f"column {name!r} not found in {path!r}; available columns: "
            f"{checks.listed(names, 20, quoted=True)}{checks.suggestion(name, names)}"
        )
    return column


@frames.in_rows_of("source")
def _table_runs(source: Any, names: tuple, name: str, options: Options, files: int) -> list[Run]:
    """Return the runs of a table.

    The table has a column that names the models, or a column per model, or it is of one model.
    """
    label = _label(source)
    item = item_column(names, options.item)
    if not item and not options.independent:
        _ask_for_items(names, label)
    text = next((column for column in names if str(column).lower() in TEXT_NAMES), "")
    further = [*options.further, text]
    used = {spelled(column, names) for column in (item, *further, options.epoch) if column}
    free = [column for column in names if column and column not in used]
    columns = [item, *further, options.epoch]
    if options.score:
        columns.append(options.model)
    columns += _candidates(options, free)
    if not options.epoch:
        columns += repeat_columns(free)
    data, read_notes = frames.read_columns(source, list(filter(None, dict.fromkeys(columns))))
    items = numbers.as_text(data[item]) if item else []
    model, scores, unused = _roles(data, free, label, options, files, items)
    size = len(next(iter(data.values())))
    ids = numbers.present(item, data[item]) if item else [str(row + 1) for row in range(size)]
    of_models = list(zip(ids, numbers.as_text(data[model]), strict=True)) if model else ids
    repeats, epochs = _epochs(data, options, free, of_models)
    if options.score and not model and files == 1:
        if len(set(zip(ids, epochs, strict=True))) < size:
            _ask_for_models(label)
    has_chosen = bool(options.score or options.model)
    values = {score: _scores(score, data[score], has_chosen) for score in scores}
    texts = []
    if repeats:
        verb = "distinguishes" if len(repeats) == 1 else "distinguish"
        texts.append(f"{checks.listed(repeats, quoted=True)} {verb} the repeats of an item")
    if model and not options.model:
        texts.append(f"column {model!r} names the model of each row, {scores[0]!r} is the score")
    reasons = {column: why for column, why in unused.items() if column not in repeats}
    if reasons:
        listed_scores = checks.listed(scores, SHOWN, quoted=True)
        texts.append(f"the scores are {listed_scores}; {no_scores(reasons)}")
    notes = (*read_notes, *(Note("data", f"{label}: {text}") for text in texts))
    file = file_and_sheet(source)[0] if isinstance(source, str) else ""
    cells = {column: data[column] for column in options.further}
    if text:
        cells["input"] = data[text]
    run = Run(
        name or os.path.splitext(os.path.basename(file))[0],
        bool(name),
        label,
        file,
        scores[0],
        ids,
        epochs,
        values[scores[0]],
        cells,
        notes=notes,
    )
    if model:
        return _of_models(run, numbers.present(model, data[model]))
    if options.score or len(scores) == 1 and files > 1:
        is_named = name or options.score and files > 1
        return [run if is_named else run._replace(model=scores[0])]
    return [
        run._replace(model=score, chosen=True, measure=score, score=values[score])
        for score in scores
    ]


def _ask_for_items(names: Sequence[str], label: str) -> NoReturn:
    """Raise an error, as the column of identifiers of a table is unknown."""
    folds = next((name for name in names if str(name).lower() in _FOLDS), "")
    hint = ""
    if folds:
        hint = (
            f". Column {folds!r} seems to number folds. To compare scores of folds, use `workbench "
            "report cross-validation-t-tests`"
        )
    raise WrongValue(
        "item",
        f"must name the column of identifiers in {label}; available columns: "
        f"{checks.listed(names, 20, quoted=True)}{hint}",
    )


def _ask_for_models(label: str) -> NoReturn:
    rule = f"must name the column of {label} that holds the model of each row"
    raise WrongValue("model", rule)


def _candidates(options: Options, free: Sequence[str]) -> list[str]:
    """Return the columns that may be scores."""
    if options.score:
        return [options.score]
    return [name.strip() for name in options.model.split(",") if name] or list(free)


def _roles(
    data: Mapping[str, ndarray],
    free: Sequence[str],
    label: str,
    options: Options,
    files: int,
    items: Sequence[str],
) -> tuple[str, list[str], dict[str, str]]:
    """Return the column of models or "", the columns of scores, and the other columns.

    Each of the other columns has the reason why it is not a score.
    """
    if options.score:
        has_models = any(str(name).lower() in MODEL_NAMES for name in free)
        if has_models and files == 1 and not options.model:
            _ask_for_models(label)
        return options.model, [options.score], {}
    if options.model:
        return "", _candidates(options, free), {}
    candidates = {name: data[name] for name in free}
    model, score = long_columns(candidates, label, items)
    if model:
        return model, [score], {}
    scores, reasons = score_columns(candidates, label)
    if not scores:
        columns = checks.listed(free, 20, quoted=True) or "its columns"
        raise WrongValue(
            "model",
            f"must name the models' columns of {label}, separated by commas: none of {columns} "
            f"holds scores; {no_scores(reasons)}",
        )
    return "", scores, reasons


def _epochs(
    data: Mapping[str, ndarray], options: Options, free: Sequence[str], items: Sequence
) -> tuple[list[str], list[str]]:
    """Return the columns that distinguish repeats, and the repeat of each row.

    There are no such columns if the user named one or items do not repeat.
    """
    if options.epoch:
        return [], numbers.as_text(data[spelled(options.epoch, data)])
    columns = [name for name in repeat_columns(free) if name in data]
    if not columns or len(set(items)) == len(items):
        return [], [""] * len(items)
    texts = [numbers.as_text(data[name]) for name in columns]
    return columns, list(map("/".join, zip(*texts, strict=True)))


def _of_models(run: Run, models: list[str]) -> list[Run]:
    """Return a run per model from a run with the rows of all, and the model of each row."""
    rows_of_model: dict[str, list[int]] = {}
    for row, model in enumerate(models):
        rows_of_model.setdefault(model, []).append(row)
    runs = []
    for model, rows in rows_of_model.items():
        item, epoch, score = (
            [column[row] for row in rows] for column in (run.item, run.epoch, run.score)
        )
        cells = {name: column[rows] for name, column in run.cells.items()}
        part = run._replace(item=item, epoch=epoch, score=score, cells=cells)
        runs.append(part._replace(model=model, chosen=True))
    return runs


def _scores(name: str, cells: ndarray, has_letters: bool) -> list[float]:
    """Return scores, NaN if missing; letters are scores if the user chose the column."""
    missing = gaps(cells, True)
    if cells.dtype.kind == "f":
        filled = np.where(missing, 0, cells)
    else:
        filled = cells.astype(object)
        filled[missing] = "0"
        if has_letters:
            values = [letter_score(cell) if isinstance(cell, str) else cell for cell in filled]
            filled = numbers.objects(values)
    return np.where(missing, np.nan, numbers.to_numbers(name, filled)).tolist()
