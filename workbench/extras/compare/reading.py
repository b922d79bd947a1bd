"""Scores of items by several models, read from logs of evaluations and from tables."""

import math
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from workbench import checks
from workbench.data import numbers
from workbench.data.columns import spelled
from workbench.extras.compare.item_scores import ItemScores
from workbench.extras.compare.naming import differs, named_runs, of_tasks, tasks_of
from workbench.extras.compare.sources import TASK, Asked, Run, named_sources, runs_of
from workbench.results import Note

SHOWN = 5
MOST_VALUES = 50  # more possible scores than these are not listed
_ERRORS = re.compile(
    r"(?i)(^|[_ .-])(loss(es)?|perplexity|ppl|nll|entropy|brier|[wct]er|mse|mae|rmse|bits_per_byte|"
    r"errors?|distance|latency|cost)([_ .-]|$)"
)
_REPEATS = re.compile(r"mean|majority|pass([\^@])([1-9][0-9]*)")


def read_item_scores(
    *files: Any,
    model: str = "",
    item: str = "",
    score: str = "",
    cluster: str = "",
    epoch: str = "",
    repeats: str = "mean",
    bounds: tuple[float, float] | None = None,
    better: str = "",
    common: bool = False,
    columns: Sequence[str] = (),
    independent: bool = False,
) -> ItemScores:
    """Read the scores of items by one or more models from logs of evaluations and tables.

    Use it before `compare_items`. It checks that the scores belong together and mean the same.
    Notes describe every choice that it made.

    Parameters
    ----------
    *files : str, path or data frame
        Logs or tables, see Notes. "NAME=FILE" and "NAME=FOLDER" name the model.
    model : str
        For tables: the column that names the model of each row, or the columns of the models'
        scores, separated by commas. By default, all columns that can be scores of the same kind;
        flags, sizes, times and repeats are not.
    item : str
        For tables: the column of identifiers.
    score : str
        For tables: the column of scores. For logs: the scorer, filter or metric. For promptfoo:
        "passed" or a named score.
    cluster : str
        Column of the document, person or site of an item, such as "metadata.document" or
        "doc.passage".
    epoch : str
        Column that distinguishes the repeats of an item. By default, logs of Inspect provide it; if
        items are repeated in a table, a column such as `run`, `seed` or `trial` does.
    repeats : str, default "mean"
        How the E epochs of an item are combined, of which c are correct. "mean" takes the mean of
        their scores. "majority" gives 1, 1/2 or 0. "pass^3" is the proportion C(c, 3) / C(E, 3) of
        three epochs that are all correct. "pass@3" is the proportion of three epochs of which at
        least one is correct.
    bounds : (float, float), optional
        Smallest and largest possible score, by default 0 and 1. Required if a score lies outside.
    better : {"higher", "lower"}, optional
        Which scores are better, by default "higher". Required if scores are not from 0 to 1, or
        have the name of an error.
    common : bool, default False
        Whether to use only the items that all models have a score for. A note gives the number left
        out.
    columns : list of str
        Further columns to keep, such as one whose values are slices.
    independent : bool, default False
        Whether each model was scored on items of its own, even if identifiers are equal. This is
        also assumed if no identifier occurs for two models, and a note says so.

    Returns
    -------
    ItemScores
        The scores, with notes on the choices made.

    Raises
    ------
    ValueError
        If it is uncertain which scores belong together or what they mean. The message names the
        file.

    See Also
    --------
    compare_items : Compare the models.
    ItemScores : Scores from arrays.

    Notes
    -----
    These files can be read:

    - a log of Inspect, lm-evaluation-harness, OpenAI evals or DeepEval, one or more per model,
    - a folder of such logs,
    - a file of promptfoo,
    - a table with a row per item and model, or with a column per model.

    If a model has several logs, each log is a task. The task and the identifier together identify
    an item, and the column `task` holds the task.

    Examples
    --------
    >>> table = {"id": ["q1", "q2", "q3"], "old": [1, 0, 1], "new": [1, 1, 1]}
    >>> read_item_scores(table, item="id")
    ItemScores(3 items scored by 2 models, 0, 1)
    """
    match = _REPEATS.fullmatch(str(repeats))
    if match is None:
        raise checks.WrongValue(
            "repeats", "must be mean, majority, pass^k or pass@k, for a number k of epochs", repeats
        )
    asked = Asked(model, item, score, cluster, epoch, tuple(columns), independent)
    sources = list(named_sources(files))
    if not sources:
        raise checks.WrongValue("files", "must name at least one log or table")
    runs = named_runs(
        [run for name, source in sources for run in runs_of(name, source, asked, len(sources))]
    )
    _refuse_other_measures(runs)
    runs, notes = of_tasks(runs)
    notes = [*dict.fromkeys(note for run in runs for note in run.notes), *notes]
    limits, direction = _meaning(runs, bounds, better)
    apart = independent or not common and _nothing_shared(runs)
    if apart and len(runs) > 1:
        return _independent_samples(runs, match, limits, direction, asked, notes)
    ids, rows, more = _items(runs, common)
    notes += more
    _refuse_uneven(runs, rows, ids, match)
    tables, values = zip(
        *(_folded(run, rows[run.model], ids, match, limits) for run in runs), strict=True
    )
    scores = np.column_stack(tables)
    if common:
        scored = ~np.isnan(scores).any(1)
        notes += (
            [
                Note(
                    "data",
                    f"{checks.counted(int((~scored).sum()), 'item was', 'items were')} left out, "
                    "because not every model has a score",
                )
            ]
            if not scored.all()
            else []
        )
        ids, scores = [each for each, kept in zip(ids, scored, strict=True) if kept], scores[scored]
    first = {
        name: np.array([cells[rows[runs[0].model][each][0]] for each in ids], object)
        for name, cells in runs[0].cells.items()
    }
    if cluster:
        _refuse_other_clusters(runs, rows, ids, spelled(cluster, first))
    possible = tuple(sorted(set().union(*values))) if all(values) else ()
    return ItemScores(
        scores,
        [run.model for run in runs],
        ids,
        numbers.as_text(first[spelled(cluster, first)]) if cluster else None,
        limits,
        direction,
        possible if len(possible) <= MOST_VALUES else (),
        first,
        all(run.finished for run in runs),
        cluster.rpartition(".")[2] or "cluster",
        notes=notes,
    )


# what belongs together


def _refuse_other_measures(runs: list[Run]) -> None:
    """Raise an error if models have different scores; of several tasks, within a task."""
    several = len({run.model for run in runs}) < len(runs)
    first: dict[str, Run] = {}
    for run in runs:
        if not run.by:
            continue
        other = first.setdefault(run.task if several else "", run)
        if other.by != run.by:
            raise checks.WrongValue(
                "score",
                f"must name one score for all models: {other.model!r} has {other.by}, "
                f"{run.model!r} has {run.by}. Or choose it for each file, as in FILE#{run.measure}",
            )


def _meaning(runs: list[Run], bounds: Any, better: str) -> tuple[tuple[float, float], str]:
    """Return the bounds of the scores and which are better, or raise an error if unknown."""
    ends = {
        run.model: (np.nanmin(run.score), np.nanmax(run.score))
        for run in runs
        if not np.isnan(run.score).all()
    }
    if len(ends) < len(runs):
        raise ValueError(
            f"{next(run.model for run in runs if run.model not in ends)!r} has no score"
        )
    low, high = min(low for low, _ in ends.values()), max(high for _, high in ends.values())
    small = [name for name, (_, most) in ends.items() if most <= 1]
    if 1 < high <= 100 and low >= 0 and small and (bounds is None or tuple(bounds) == (0, 100)):
        large = next(name for name, (_, most) in ends.items() if most > 1)
        raise ValueError(
            f"scores of {large!r} go up to {ends[large][1]:g}, those of {small[0]!r} only up to "
            f"{ends[small[0]][1]:g}: some seem to be percentages. Give all scores in the same "
            f"unit. If {large!r} is not a model, name the models' columns by model"
        )
    if bounds is None and not 0 <= low <= high <= 1:
        raise checks.WrongValue(
            "bounds",
            "must give the smallest and the largest possible score, as not all scores are between "
            "0 and 1",
            told=f"they go from {low:g} to {high:g}, for {checks.listed(ends, SHOWN, quoted=True)}",
        )
    limits = (0.0, 1.0) if bounds is None else checks.bounds(bounds)
    if not limits[0] <= low <= high <= limits[1]:
        name = next(name for name, (a, b) in ends.items() if a < limits[0] or b > limits[1])
        raise checks.WrongValue(
            "bounds",
            f"must contain every score; those of {name!r} go from {ends[name][0]:g} to "
            f"{ends[name][1]:g}",
            told=f"got {limits[0]:g} and {limits[1]:g}",
        )
    error = next((run.measure for run in runs if _ERRORS.search(run.measure)), "")
    if not better and (limits != (0, 1) or error):
        why = f", as {error!r} seems to be an error" if error else ""
        raise checks.WrongValue("better", f"must say which scores are better, higher or lower{why}")
    return limits, better or "higher"


def _items(
    runs: list[Run], common: bool
) -> tuple[list[str], dict[str, dict[str, list[int]]], list[Note]]:
    """Return the items in the order of the first run, the rows of each item by model, and notes.

    Raise an error if the runs do not belong together.
    """
    rows: dict[str, dict[str, list[int]]] = {}
    content: dict[str, tuple[str, tuple[str, ...]]] = {}
    for run in runs:
        rows[run.model] = _rows_by_item(run)
        for each, asked in zip(run.item, run.content, strict=False):
            other = content.setdefault(each, (run.model, asked))
            if differs(other[1], asked):
                raise ValueError(
                    f"item {each!r} has different content for {other[0]!r} and {run.model!r}. "
                    "Compare runs on the same version of the data. If equal identifiers denote "
                    "different items, set independent"
                )
    shared = [each for each in rows[runs[0].model] if all(each in mine for mine in rows.values())]
    said = _lacking(runs, rows)
    if said and not common and len(shared) > 1:
        raise checks.WrongValue(
            "common",
            f"must be set, as the models were not run on the same items: {said}. It uses the "
            f"{len(shared):,} items that all have. If equal identifiers denote different items, "
            "set independent instead",
        )
    if len(shared) < 2:
        number = checks.counted(len(shared), "item")
        why = f": {said}. If each model has items of its own, set independent" if said else ""
        raise ValueError(f"the models have {number} in common, but at least 2 are needed{why}")
    if not said:
        return shared, rows, []
    total = len(set().union(*rows.values()))
    gone = total - len(shared)
    were = "was" if gone == 1 else "were"
    return (
        shared,
        rows,
        [
            Note(
                "data",
                f"{gone:,} of {total:,} items {were} left out, because not all models were run on "
                f"{'it' if gone == 1 else 'them'}: {said}",
            )
        ],
    )


def _rows_by_item(run: Run) -> dict[str, list[int]]:
    """Return the rows of each item, or raise an error if an item occurs twice in an epoch."""
    rows: dict[str, list[int]] = {}
    seen: set[tuple[str, str]] = set()
    for row, key in enumerate(zip(run.item, run.epoch, strict=True)):
        if key in seen:
            raise checks.WrongValue(
                "epoch",
                f"must distinguish repeated items: {run.told} has item {key[0]!r} "
                f"{'twice' if not key[1] else f'twice in epoch {key[1]}'} for {run.model}",
            )
        seen.add(key)
        rows.setdefault(key[0], []).append(row)
    return rows


def _lacking(runs: list[Run], rows: dict[str, dict[str, list[int]]]) -> str:
    """Return the models that lack items or whole tasks that others have, "" if none does."""
    everything = set().union(*rows.values())
    tasks = {task for run in runs if TASK in run.cells for task in tasks_of(run)}
    texts = []
    for run in runs:
        gone = everything - {*rows[run.model]}
        lost = sorted(tasks - {*tasks_of(run)})
        which = f", including all of {checks.listed(lost, SHOWN, quoted=True)}" if lost else ""
        if gone:
            texts.append(f"{run.model} lacks {checks.counted(len(gone), 'item')}{which}")
    return ", ".join(texts)


def _nothing_shared(runs: list[Run]) -> bool:
    """Return whether no item occurs for two models.

    Raise an error if the reason is that they were run on different tasks.
    """
    items = [set(run.item) for run in runs]
    if any(first & second for first, second in combinations(items, 2)):
        return False
    tasks = [tasks_of(run) for run in runs]
    if len(runs) > 1 and all(tasks) and any(one != tasks[0] for one in tasks):
        told = checks.listed(
            [
                f"{run.model}: {checks.listed(of, SHOWN)}"
                for run, of in zip(runs, tasks, strict=True)
            ]
        )
        raise checks.WrongValue(
            "independent", f"must be set to compare models that were run on different tasks; {told}"
        )
    return True


def _independent_samples(
    runs: list[Run],
    repeats: re.Match,
    bounds: tuple[float, float],
    better: str,
    asked: Asked,
    notes: list[Note],
) -> ItemScores:
    """Return the scores of models that were each scored on items of their own."""
    rows = {run.model: _rows_by_item(run) for run in runs}
    for run in runs:
        _refuse_uneven([run], rows, [*rows[run.model]], repeats)
    tables, values = zip(
        *(_folded(run, rows[run.model], [*rows[run.model]], repeats, bounds) for run in runs),
        strict=True,
    )
    sample = np.repeat(np.arange(len(runs)), [len(table) for table in tables])
    score = np.full((len(sample), len(runs)), np.nan)
    score[np.arange(len(sample)), sample] = np.concatenate(tables)
    first = [
        {
            name: cells[[places[0] for places in rows[run.model].values()]]
            for name, cells in run.cells.items()
        }
        for run in runs
    ]
    columns = {
        name: np.concatenate([cells[name] for cells in first])
        for name in first[0]
        if all(name in cells for cells in first)
    }
    cluster = spelled(asked.cluster, columns) if asked.cluster else ""
    groups = (
        [
            f"{runs[k].model}: {text}"
            for k, text in zip(sample, numbers.present(cluster, columns[cluster]), strict=True)
        ]
        if cluster
        else None
    )
    ids = [f"{run.model}: {item}" for run in runs for item in rows[run.model]]
    possible = tuple(sorted(set().union(*values))) if all(values) else ()
    return ItemScores(
        score,
        [run.model for run in runs],
        ids,
        groups,
        bounds,
        better,
        possible if len(possible) <= MOST_VALUES else (),
        columns,
        all(run.finished for run in runs),
        asked.cluster.rpartition(".")[2] or "cluster",
        sample,
        notes=[_independence(runs, told=asked.independent), *notes],
    )


def _independence(runs: list[Run], *, told: bool) -> Note:
    shared = set.intersection(*(set(run.item) for run in runs))
    why = "as requested" if told else "as no identifier occurs for two models"
    identifiers = checks.counted(len(shared), "identifier")
    also = f"{identifiers} that all models have count as different items. " if shared else ""
    return Note(
        "assumption",
        f"the models are compared as independent samples, {why}: each was scored on items of its "
        f"own. {also}If they were scored on the same items, give these items the same "
        "identifiers. The interval then becomes shorter",
    )


def _folded(
    run: Run,
    rows: dict[str, list[int]],
    ids: list[str],
    repeats: re.Match,
    bounds: tuple[float, float],
) -> tuple[np.ndarray, set[float]]:
    """Return one score per item, from its epochs, and the set of possible scores.

    A score is NaN if that of an epoch is missing.
    """
    score, sizes = np.array(run.score), {len(rows[each]) for each in ids}
    one = set(score[~np.isnan(score)].tolist())
    if repeats[0] != "mean" and not one <= {0.0, 1.0}:
        raise checks.WrongValue("repeats", "must be 'mean' if scores are not 0 or 1", repeats[0])
    means = np.array([score[rows[each]].mean() for each in ids])
    if repeats[0] == "mean":
        single = one <= {0.0, 1.0} and bounds == (0, 1)
        return means, {c / size for size in sizes for c in range(size + 1)} if single else set()
    size = sizes.pop()
    table = np.array([_of_right(c, size, repeats) for c in range(size + 1)])
    right = np.where(np.isnan(means), 0, np.round(means * size)).astype(int)
    return np.where(np.isnan(means), np.nan, table[right]), set(table.tolist())


def _refuse_uneven(
    runs: list[Run], rows: dict[str, dict[str, list[int]]], ids: list[str], repeats: re.Match
) -> None:
    """Raise an error if a rule needs the number of epochs and cannot use it.

    This is so if items or models differ in their number of epochs, or have too few.
    """
    if repeats[0] == "mean":
        return
    sizes = {run.model: sorted({len(rows[run.model][each]) for each in ids}) for run in runs}
    told = [
        f"{model} has {' to '.join(map(str, dict.fromkeys((has[0], has[-1]))))}"
        for model, has in sizes.items()
    ]
    if len(set().union(*sizes.values())) > 1:
        raise checks.WrongValue(
            "repeats",
            "must be 'mean' if items or models differ in their number of epochs; "
            f"{checks.listed(told, SHOWN)}",
            repeats[0],
        )
    if int(repeats[2] or 1) > sizes[runs[0].model][0]:
        raise checks.WrongValue(
            "repeats", f"must not need more epochs than there are; {told[0]}", repeats[0]
        )


def _of_right(c: int, size: int, repeats: re.Match) -> float:
    """Return the score of an item with c correct epochs out of `size`."""
    if repeats[0] == "majority":
        return 0.5 + 0.5 * np.sign(2 * c - size)
    k = int(repeats[2])
    right = c if repeats[1] == "^" else size - c
    share = math.comb(right, k) / math.comb(size, k)
    return share if repeats[1] == "^" else 1 - share


def _refuse_other_clusters(runs: list[Run], rows: dict, ids: list[str], cluster: str) -> None:
    of = [numbers.present(cluster, run.cells[cluster]) for run in runs]
    for each in ids:
        found = {
            texts[row] for run, texts in zip(runs, of, strict=True) for row in rows[run.model][each]
        }
        if len(found) > 1:
            raise checks.WrongValue(
                "cluster",
                f"must be the same for all models; item {each!r} is in "
                f"{checks.listed(sorted(found), quoted=True)}",
            )
