"""Names of the model and the task of each run, and all tasks of a model as one run."""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

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
        return [_by_folder(runs[0]) if runs[0].task else _by_file(runs[0])]
    rules: tuple[Callable[[Run], Run], ...] = (
        lambda run: run,
        _by_folder,
        _by_file,
        _by_folder_and_file,
    )
    for rule in rules:
        named = [rule(run) for run in runs]
        if rule is _by_file and len({run.task for run in runs}) > 1 and not _same_content(runs):
            continue
        if _told_apart(named):
            return named
    names = [run.model for run in (_by_file(run) for run in runs)]
    twice = [name for name, times in Counter(names).items() if times > 1] or [*dict.fromkeys(names)]
    tasks = {run.task for run in runs if run.task}
    of_task = (
        f". A model with several tasks needs one log per task of {checks.listed(sorted(tasks))}"
        if tasks
        else ""
    )
    raise checks.WrongValue(
        "files",
        f"must be of different models. Name those of {checks.listed(twice, SHOWN, quoted=True)} as "
        f"NAME=FILE{of_task}",
    )


def _folder(run: Run) -> str:
    return os.path.basename(os.path.dirname(os.path.abspath(run.path)))


def _stem(run: Run) -> str:
    return re.split(r"\.(?=[a-z])", os.path.basename(run.path))[0]


def _by_folder(run: Run) -> Run:
    return run if run.chosen else run._replace(model=_folder(run))


def _by_file(run: Run) -> Run:
    return run if run.chosen else run._replace(model=_stem(run))


def _by_folder_and_file(run: Run) -> Run:
    return _by_folder(run)._replace(task=run.task or _stem(run))


def _told_apart(runs: Sequence[Run]) -> bool:
    """Return whether all models have names, and no two runs of a model are equal."""
    keys = [(run.model, run.task) for run in runs]
    if not all(run.model for run in runs) or len(set(keys)) < len(keys):
        return False
    return not any(
        first.model == second.model and _same_items(first, second)
        for first, second in combinations(runs, 2)
    )


def _same_items(first: Run, second: Run) -> bool:
    """Return whether two runs hold the same items, by the content of those that both have."""
    asked = dict(zip(first.item, first.content, strict=False))
    pairs = [
        (asked[item], other)
        for item, other in zip(second.item, second.content, strict=False)
        if item in asked
    ]
    return bool(pairs) and not any(differs(one, other) for one, other in pairs)


def _same_content(runs: Sequence[Run]) -> bool:
    return all(_same_items(runs[0], other) for other in runs[1:])


def differs(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the content of two samples differs in a part that both logs hold.

    Parameters
    ----------
    one, other : tuple of str

    Examples
    --------
    >>> differs(("2 + 2?", ""), ("2 + 2?", "four")), differs(("2 + 2?",), ("2 + 3?",))
    (False, True)
    """
    return one != other and any(a and b and a != b for a, b in zip(one, other, strict=False))


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
    tasks = checks.listed(
        [f"{task} ({checks.counted(size, 'item')})" for task, size in sizes.items()], 2 * SHOWN
    )
    notes = [
        Note(
            "data",
            f"{checks.counted(len(sizes), 'task')}, {tasks}: task and identifier together identify "
            "an item, and every item has the same weight. The column 'task' holds the slices",
        )
    ]
    if len(set(measures.values())) > 1:
        told = checks.listed([f"{task} {measure}" for task, measure in measures.items()], 2 * SHOWN)
        notes.append(Note("data", f"tasks have different scores: {told}"))
    return [_joined(parts) for parts in of_model.values()], notes


def _joined(parts: Sequence[Run]) -> Run:
    """Return the runs of a model's tasks as one run."""
    first = parts[0]
    cells = {TASK: objects([part.task for part in parts for _ in part.item])}
    for name in dict.fromkeys(name for part in parts for name in part.cells):
        cells[name] = np.concatenate(
            [part.cells.get(name, objects([None] * len(part.item))) for part in parts]
        )
    content = [asked for part in parts for asked in part.content]
    items = [f"{part.task}/{item}" for part in parts for item in part.item]
    return first._replace(
        item=items,
        epoch=[epoch for part in parts for epoch in part.epoch],
        score=[score for part in parts for score in part.score],
        content=content if len(content) == len(items) else [],
        measure=" and ".join(dict.fromkeys(part.measure for part in parts)),
        cells=cells,
        label=f"{first.model!r}",
        finished=all(part.finished for part in parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )


def tasks_of(run: Run) -> list[str]:
    """Return the tasks of a run, as it names them.

    Parameters
    ----------
    run : Run
    """
    if TASK in run.cells:
        return [*dict.fromkeys(run.cells[TASK].tolist())]
    return [run.task] if run.task else []
