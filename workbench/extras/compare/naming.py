"""Names of the model and the task of each run, and all tasks of a model as one run."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations

import numpy as np

from workbench import checks
from workbench.data.numbers import objects
from workbench.extras.compare.sources import TASK, Run
from workbench.results import Note

SHOWN = 5


def named_runs(runs: Sequence[Run]) -> list[Run]:
    """Return runs with the names of their models and tasks, no two of which are equal.

    The names come from the user and the logs. If these give none, or equal ones, models are named
    by their folder or file, and tasks by their file.

    Parameters
    ----------
    runs : list of Run

    Raises
    ------
    ValueError
        If two runs are of the same model and task, or hold the same items of one model.
    """
    if len(runs) == 1 and not runs[0].model:
        run = runs[0]
        return [_named(run, _folder(run) if run.task else _stem(run))]
    for candidate in _namings(runs):
        if _are_distinct(candidate):
            return candidate
    times = Counter(_named(run, _stem(run)).model for run in runs)
    models = [name for name, count in times.items() if count > 1] or list(times)
    tasks = sorted({run.task for run in runs if run.task})
    hint = ""
    if tasks:
        hint = f". A model with several tasks needs one log per task of {checks.listed(tasks)}"
    names = checks.listed(models, SHOWN, quoted=True)
    rule = f"must be of different models. Name those of {names} as NAME=FILE{hint}"
    raise checks.WrongValue("files", rule)


def _namings(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Yield the runs with names from the user and the logs, folders, files, or both."""
    yield list(runs)
    by_folder = [_named(run, _folder(run)) for run in runs]
    yield by_folder
    if len({run.task for run in runs}) == 1 or _have_same_items(runs):
        yield [_named(run, _stem(run)) for run in runs]
    yield [run._replace(task=run.task or _stem(run)) for run in by_folder]


def _folder(run: Run) -> str:
    return os.path.basename(os.path.dirname(os.path.abspath(run.path)))


def _stem(run: Run) -> str:
    return re.split(r"\.(?=[a-z])", os.path.basename(run.path))[0]


def _named(run: Run, model: str) -> Run:
    return run if run.chosen else run._replace(model=model)


def _are_distinct(runs: Sequence[Run]) -> bool:
    """Return whether all models have names, and no two runs of a model are equal."""
    keys = [(run.model, run.task) for run in runs]
    if not all(run.model for run in runs) or len(set(keys)) < len(keys):
        return False
    pairs = combinations(runs, 2)
    return not any(a.model == b.model and _have_same_items([a, b]) for a, b in pairs)


def _have_same_items(runs: Sequence[Run]) -> bool:
    """Return whether runs hold the same items, by the content of those that the first one has."""
    contents = dict(zip(runs[0].item, runs[0].content, strict=False))
    for run in runs[1:]:
        pairs = [
            (contents[item], content)
            for item, content in zip(run.item, run.content, strict=False)
            if item in contents
        ]
        if not pairs or any(differs(first, second) for first, second in pairs):
            return False
    return True


def differs(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether the content of two samples differs in a part that both logs hold.

    Parameters
    ----------
    first, second : tuple of str

    Examples
    --------
    >>> differs(("2 + 2?", ""), ("2 + 2?", "four")), differs(("2 + 2?",), ("2 + 3?",))
    (False, True)
    """
    pairs = zip(first, second, strict=False)
    return first != second and any(a and b and a != b for a, b in pairs)


def of_tasks(runs: Sequence[Run]) -> tuple[list[Run], list[Note]]:
    """Return one run per model, with notes on the tasks.

    If a model has several runs, an item is identified by its task and identifier. Otherwise the
    runs are unchanged.

    Parameters
    ----------
    runs : list of Run
        Runs with names.
    """
    of_model: dict[str, list[Run]] = {}
    for run in runs:
        of_model.setdefault(run.model, []).append(run)
    if len(of_model) == len(runs):
        return list(runs), []
    sizes: dict[str, int] = {}
    measures: dict[str, str] = {}
    for run in runs:
        sizes[run.task] = max(sizes.get(run.task, 0), len(set(run.item)))
        measures[run.task] = run.measure
    texts = [f"{task} ({checks.counted(size, 'item')})" for task, size in sizes.items()]
    text = (
        f"{checks.counted(len(sizes), 'task')}, {checks.listed(texts, 2 * SHOWN)}: task and "
        "identifier together identify an item, and every item has the same weight. The column "
        "'task' holds the slices"
    )
    notes = [Note("data", text)]
    if len(set(measures.values())) > 1:
        texts = [f"{task} {measure}" for task, measure in measures.items()]
        text = f"tasks have different scores: {checks.listed(texts, 2 * SHOWN)}"
        notes.append(Note("data", text))
    return [_joined(parts) for parts in of_model.values()], notes


def _joined(parts: Sequence[Run]) -> Run:
    """Return the runs of a model's tasks as one run."""
    first = parts[0]
    tasks, items = [], []
    for part in parts:
        tasks += [part.task] * len(part.item)
        items += [f"{part.task}/{item}" for item in part.item]
    cells = {TASK: objects(tasks)}
    for name in dict.fromkeys(_chained(parts, "cells")):
        columns = [part.cells.get(name, objects([None] * len(part.item))) for part in parts]
        cells[name] = np.concatenate(columns)
    content = _chained(parts, "content")
    return first._replace(
        item=items,
        epoch=_chained(parts, "epoch"),
        score=_chained(parts, "score"),
        content=content if len(content) == len(items) else [],
        measure=" and ".join(dict.fromkeys(part.measure for part in parts)),
        cells=cells,
        label=f"{first.model!r}",
        finished=all(part.finished for part in parts),
        notes=tuple(dict.fromkeys(_chained(parts, "notes"))),
    )


def _chained(parts: Sequence[Run], name: str) -> list:
    """Return the entries of a field of several runs."""
    return list(chain.from_iterable(getattr(part, name) for part in parts))


def tasks_of(run: Run) -> list[str]:
    """Return the tasks of a run, as it names them.

    Parameters
    ----------
    run : Run
    """
    if TASK in run.cells:
        return [*dict.fromkeys(run.cells[TASK].tolist())]
    return [run.task] if run.task else []
