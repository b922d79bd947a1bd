"""Scores of items by several models, read from logs of evaluations and from tables."""

import math
import re
from collections.abc import Sequence
from itertools import chain, combinations, compress
from typing import Any

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue
from workbench.data import numbers
from workbench.data.columns import spelled
from workbench.extras.compare.item_scores import ItemScores
from workbench.extras.compare.naming import differs, named_runs, of_tasks, tasks_of
from workbench.extras.compare.sources import TASK, Options, Run, named_sources, runs_of
from workbench.results import Note

SHOWN = 5
MOST_VALUES = 50  # more possible scores than these are not listed
_ERRORS = re.compile(
    r"(?i)(^|[_ .-])(loss(es)?|perplexity|ppl|nll|entropy|brier|[wct]er|mse|mae|rmse|bits_per_byte|"
    r"errors?|distance|latency|cost)([_ .-]|$)"
)
Rows = dict[str, dict[str, list[int]]]  # the rows of each item, by model
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
    model : str, default ""
        For tables: the column that names the model of each row, or the columns of the models'
        scores, separated by commas. By default, all columns that can be scores of the same kind;
        flags, sizes, times and repeats are not.
    item : str, default ""
        For tables: the column of identifiers.
    score : str, default ""
        For tables: the column of scores. For logs: the scorer, filter or metric. For promptfoo:
        "passed" or a named score.
    cluster : str, default ""
        Column of the document, person or site of an item, such as "metadata.document" or
        "doc.passage".
    epoch : str, default ""
        Column that distinguishes the repeats of an item. By default, logs of Inspect provide it; if
        items are repeated in a table, a column such as `run`, `seed` or `trial` does.
    repeats : str, default "mean"
        How the E epochs of an item are combined, if c of them are correct. "mean" takes the mean of
        their scores. "majority" gives 1, 1/2 or 0. "pass^3" is the probability that three random
        epochs are all correct, C(c, 3) / C(E, 3). "pass@3" is the probability that at least one of
        three is correct.
    bounds : (float, float), optional
        Smallest and largest possible score, by default 0 and 1. Required if a score lies outside.
    better : {"higher", "lower"}, optional
        Which scores are better, by default "higher". Required if scores are not from 0 to 1, or
        have the name of an error.
    common : bool, default False
        Whether to use only the items that all models have a score for. A note gives the number left
        out.
    columns : list of str, optional
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
        raise WrongValue(
            "repeats", "must be mean, majority, pass^k or pass@k, for a number k of epochs", repeats
        )
    options = Options(model, item, score, cluster, epoch, tuple(columns), independent)
    sources = list(named_sources(files))
    if not sources:
        raise WrongValue("files", "must name at least one log or table")
    runs: list[Run] = []
    for name, source in sources:
        runs += runs_of(name, source, options, len(sources))
    runs = named_runs(runs)
    _refuse_other_measures(runs)
    runs, task_notes = of_tasks(runs)
    notes = [*dict.fromkeys(chain.from_iterable(run.notes for run in runs)), *task_notes]
    limits, direction = _meaning(runs, bounds, better)
    if not independent:
        _refuse_spellings(runs)
    is_apart = len(runs) > 1 and (independent or not common and _nothing_shared(runs))
    rows = {run.model: _rows_by_item(run) for run in runs}
    if is_apart:
        notes.insert(0, _independence(runs, independent))
        items = [list(rows[run.model]) for run in runs]
        for run, ids in zip(runs, items, strict=True):
            _refuse_uneven([run], rows, ids, match)
    else:
        shared, gap_notes = _shared_items(runs, rows, common)
        notes += gap_notes
        items = [shared] * len(runs)
        _refuse_uneven(runs, rows, shared, match)
    scores, values = [], []
    for run, ids in zip(runs, items, strict=True):
        column, possible = _combined(run, rows[run.model], ids, match, limits)
        scores.append(column)
        values.append(possible)
    if is_apart:
        fields = _of_independent_samples(runs, rows, scores, cluster)
    else:
        table = np.column_stack(scores)
        is_scored = ~np.isnan(table).any(1)
        if common and not is_scored.all():
            shared, table = list(compress(shared, is_scored)), table[is_scored]
            count = checks.counted(int((~is_scored).sum()), "item was", "items were")
            text = f"{count} left out, because not every model has a score"
            notes.append(Note("data", text))
        fields = _of_shared_items(runs, rows, shared, cluster) | {"score": table, "item": shared}
    possible = set().union(*values) if all(values) else set()
    return ItemScores(
        models=[run.model for run in runs],
        bounds=limits,
        better=direction,
        values=tuple(sorted(possible)) if len(possible) <= MOST_VALUES else (),
        finished=all(run.finished for run in runs),
        cluster_word=cluster.rpartition(".")[2] or "cluster",
        notes=notes,
        **fields,
    )


# what belongs together


def _refuse_other_measures(runs: list[Run]) -> None:
    """Raise an error if models have different scores; of several tasks, within a task."""
    has_tasks = len({run.model for run in runs}) < len(runs)
    first: dict[str, Run] = {}
    for run in runs:
        if not run.selection:
            continue
        other = first.setdefault(run.task if has_tasks else "", run)
        if other.selection != run.selection:
            raise WrongValue(
                "score",
                f"must name one score for all models: {other.model!r} has {other.selection}, "
                f"{run.model!r} has {run.selection}. Or choose it for each file, as in "
                f"FILE#{run.measure}",
            )


def _meaning(runs: list[Run], bounds: Any, better: str) -> tuple[tuple[float, float], str]:
    """Return the bounds of the scores and which are better, or raise an error if unknown."""
    ends = {}
    for run in runs:
        if np.isnan(run.score).all():
            raise ValueError(f"{run.model!r} has no score")
        ends[run.model] = np.nanmin(run.score), np.nanmax(run.score)
    low, high = min(low for low, _ in ends.values()), max(high for _, high in ends.values())
    small = [name for name, (_, most) in ends.items() if most <= 1]
    if 1 < high <= 100 and low >= 0 and small and (bounds is None or tuple(bounds) == (0, 100)):
        large = next(name for name, (_, most) in ends.items() if most > 1)
        raise ValueError(
            f"scores of {large!r} go up to {ends[large][1]:g}, those of {small[0]!r} only up to "
            f"{ends[small[0]][1]:g}: some seem to be percentages. Give all scores in the same "
            f"unit. If {large!r} is not a model, name the models' columns by model"
        )
    limits = (0.0, 1.0) if bounds is None else checks.bounds(bounds)
    if not limits[0] <= low <= high <= limits[1]:
        if bounds is None:
            rule = (
                "must give the smallest and the largest possible score, as not all scores are "
                "between 0 and 1"
            )
            models = checks.listed(ends, SHOWN, quoted=True)
            got = f"they go from {low:g} to {high:g}, for {models}"
        else:
            name = next(name for name, (a, b) in ends.items() if a < limits[0] or b > limits[1])
            least, most = ends[name]
            rule = f"must contain every score; those of {name!r} go from {least:g} to {most:g}"
            got = f"got {limits[0]:g} and {limits[1]:g}"
        raise WrongValue("bounds", rule, told=got)
    error = next((run.measure for run in runs if _ERRORS.search(run.measure)), "")
    if not better and (limits != (0, 1) or error):
        why = f", as {error!r} seems to be an error" if error else ""
        raise WrongValue("better", f"must say which scores are better, higher or lower{why}")
    return limits, better or "higher"


def _refuse_spellings(runs: list[Run]) -> None:
    """Raise if many identifiers of two runs differ only in leading zeros or case."""
    items = {run.model: set(run.item) for run in runs}
    for (model, ids), (other, other_ids) in combinations(items.items(), 2):
        by_spelling = {numbers.without_zeros(item): item for item in ids - other_ids}
        unmatched = sorted(other_ids - ids)
        pairs = [(by_spelling.get(numbers.without_zeros(item)), item) for item in unmatched]
        pairs = [pair for pair in pairs if pair[0]]
        if pairs and 2 * len(pairs) >= min(len(by_spelling), len(unmatched)):
            item, other_item = pairs[0]
            raise ValueError(
                "identifiers seem to differ only in leading zeros or case: "
                f"{item!r} of {model!r} and {other_item!r} of {other!r}, and "
                f"{checks.counted(len(pairs) - 1, 'more pair')}. Write them in the same way, as "
                "text. If they denote different items, set independent"
            )


def _shared_items(runs: list[Run], rows: Rows, common: bool) -> tuple[list[str], list[Note]]:
    """Return the items that all runs have, in the order of the first run, and notes.

    Raise an error if the runs do not belong together.
    """
    first: dict[str, tuple[str, tuple[str, ...]]] = {}
    for run in runs:
        for item, content in zip(run.item, run.content, strict=False):
            model, other = first.setdefault(item, (run.model, content))
            if differs(other, content):
                raise ValueError(
                    f"item {item!r} has different content for {model!r} and {run.model!r}. "
                    "Compare runs on the same version of the data. If equal identifiers denote "
                    "different items, set independent"
                )
    shared = [item for item in rows[runs[0].model] if all(item in items for items in rows.values())]
    lacking = _lacking(runs, rows)
    if lacking and not common and len(shared) > 1:
        raise WrongValue(
            "common",
            f"must be set, as the models were not run on the same items: {lacking}. It uses the "
            f"{len(shared):,} items that all have. If equal identifiers denote different items, "
            "set independent instead",
        )
    if len(shared) < 2:
        number = checks.counted(len(shared), "item")
        why = f": {lacking}. If each model has items of its own, set independent" if lacking else ""
        raise ValueError(f"the models have {number} in common, but at least 2 are needed{why}")
    if not lacking:
        return shared, []
    total = len(set().union(*rows.values()))
    gone = total - len(shared)
    verb, pronoun = ("was", "it") if gone == 1 else ("were", "them")
    text = (
        f"{gone:,} of {total:,} items {verb} left out, because not all models were run on "
        f"{pronoun}: {lacking}"
    )
    return shared, [Note("data", text)]


def _rows_by_item(run: Run) -> dict[str, list[int]]:
    """Return the rows of each item, or raise an error if an item occurs twice in an epoch."""
    rows: dict[str, list[int]] = {}
    seen: set[tuple[str, str]] = set()
    for row, (item, epoch) in enumerate(zip(run.item, run.epoch, strict=True)):
        if (item, epoch) in seen:
            twice = f"twice in epoch {epoch}" if epoch else "twice"
            raise WrongValue(
                "epoch",
                f"must distinguish repeated items: {run.label} has item {item!r} {twice} for "
                f"{run.model}",
            )
        seen.add((item, epoch))
        rows.setdefault(item, []).append(row)
    return rows


def _lacking(runs: list[Run], rows: Rows) -> str:
    """Return the models that lack items or whole tasks that others have, "" if none does."""
    items = set().union(*rows.values())
    tasks = set(chain.from_iterable(tasks_of(run) for run in runs if TASK in run.cells))
    texts = []
    for run in runs:
        count = len(items) - len(rows[run.model])
        lost = sorted(tasks.difference(tasks_of(run)))
        which = f", including all of {checks.listed(lost, SHOWN, quoted=True)}" if lost else ""
        if count:
            texts.append(f"{run.model} lacks {checks.counted(count, 'item')}{which}")
    return ", ".join(texts)


def _nothing_shared(runs: list[Run]) -> bool:
    """Return whether no item occurs for two models.

    Raise an error if the reason is that they were run on different tasks.
    """
    items = [set(run.item) for run in runs]
    if any(first & second for first, second in combinations(items, 2)):
        return False
    tasks = [tasks_of(run) for run in runs]
    if all(tasks) and any(tasks[0] != other for other in tasks):
        texts = [
            f"{run.model}: {checks.listed(names, SHOWN)}"
            for run, names in zip(runs, tasks, strict=True)
        ]
        rule = "must be set to compare models that were run on different tasks"
        raise WrongValue("independent", f"{rule}; {checks.listed(texts)}")
    return True


def _of_shared_items(runs: list[Run], rows: Rows, ids: list[str], cluster: str) -> dict[str, Any]:
    """Return the columns and the clusters of items that all models have."""
    first = runs[0]
    positions = [rows[first.model][item][0] for item in ids]
    columns = {name: cells[positions] for name, cells in first.cells.items()}
    if not cluster:
        return {"columns": columns}
    name = spelled(cluster, columns)
    texts = [numbers.present(name, run.cells[name]) for run in runs]
    for item in ids:
        clusters: set[str] = set()
        for run, of_run in zip(runs, texts, strict=True):
            clusters.update(of_run[row] for row in rows[run.model][item])
        if len(clusters) > 1:
            listed = checks.listed(sorted(clusters), quoted=True)
            rule = f"must be the same for all models; item {item!r} is in {listed}"
            raise WrongValue("cluster", rule)
    return {"columns": columns, "cluster": [texts[0][row] for row in positions]}


def _of_independent_samples(
    runs: list[Run], rows: Rows, scores: Sequence[ndarray], cluster: str
) -> dict[str, Any]:
    """Return the scores, items, columns and clusters of models with items of their own."""
    sample = np.repeat(np.arange(len(runs)), [len(column) for column in scores])
    table = np.full((len(sample), len(runs)), np.nan)
    table[np.arange(len(sample)), sample] = np.concatenate(scores)
    positions = [[first for first, *_ in rows[run.model].values()] for run in runs]
    columns = {}
    for name in runs[0].cells:
        if all(name in run.cells for run in runs):
            parts = (run.cells[name][first] for run, first in zip(runs, positions, strict=True))
            columns[name] = np.concatenate(list(parts))
    ids = []
    for run in runs:
        ids += [f"{run.model}: {item}" for item in rows[run.model]]
    fields = {
        "score": table,
        "item": ids,
        "columns": columns,
        "sample": sample,
    }
    if cluster:
        name = spelled(cluster, columns)
        texts = numbers.present(name, columns[name])
        fields["cluster"] = [
            f"{runs[k].model}: {text}" for k, text in zip(sample, texts, strict=True)
        ]
    return fields


def _independence(runs: list[Run], is_requested: bool) -> Note:
    shared = set.intersection(*(set(run.item) for run in runs))
    why = "as requested" if is_requested else "as no identifier occurs for two models"
    identifiers = checks.counted(len(shared), "identifier")
    also = f"{identifiers} that all models have count as different items. " if shared else ""
    return Note(
        "assumption",
        f"the models are compared as independent samples, {why}: each was scored on items of its "
        f"own. {also}If they were scored on the same items, give these items the same "
        "identifiers. The interval then becomes shorter",
    )


def _combined(
    run: Run,
    rows: dict[str, list[int]],
    ids: list[str],
    repeats: re.Match,
    bounds: tuple[float, float],
) -> tuple[ndarray, set[float]]:
    """Return one score per item, from its epochs, and the set of possible scores.

    A score is NaN if that of an epoch is missing.
    """
    score = np.array(run.score)
    sizes = {len(rows[item]) for item in ids}
    are_binary = set(score[~np.isnan(score)].tolist()) <= {0.0, 1.0}
    means = np.array([score[rows[item]].mean() for item in ids])
    if repeats[0] == "mean":
        if not are_binary or bounds != (0, 1):
            return means, set()
        return means, set().union(*((np.arange(size + 1) / size).tolist() for size in sizes))
    if not are_binary:
        raise WrongValue("repeats", "must be 'mean' if scores are not 0 or 1", repeats[0])
    size = sizes.pop()
    table = np.array([_of_right(c, size, repeats) for c in range(size + 1)])
    right = np.where(np.isnan(means), 0, np.round(means * size)).astype(int)
    return np.where(np.isnan(means), np.nan, table[right]), set(table.tolist())


def _refuse_uneven(runs: list[Run], rows: Rows, ids: list[str], repeats: re.Match) -> None:
    """Raise an error if a rule needs the number of epochs and cannot use it.

    This is so if items or models differ in their number of epochs, or have too few.
    """
    if repeats[0] == "mean":
        return
    sizes = {run.model: sorted({len(rows[run.model][item]) for item in ids}) for run in runs}
    texts = []
    for model, counts in sizes.items():
        ends = dict.fromkeys((counts[0], counts[-1]))
        texts.append(f"{model} has {' to '.join(map(str, ends))}")
    if len(set().union(*sizes.values())) > 1:
        raise WrongValue(
            "repeats",
            "must be 'mean' if items or models differ in their number of epochs; "
            f"{checks.listed(texts, SHOWN)}",
            repeats[0],
        )
    if int(repeats[2] or 1) > sizes[runs[0].model][0]:
        rule = f"must not need more epochs than there are; {texts[0]}"
        raise WrongValue("repeats", rule, repeats[0])


def _of_right(c: int, size: int, repeats: re.Match) -> float:
    """Return the score of an item with c correct epochs out of `size`."""
    if repeats[0] == "majority":
        return 0.5 + 0.5 * np.sign(2 * c - size)
    k = int(repeats[2])
    right = c if repeats[1] == "^" else size - c
    share = math.comb(right, k) / math.comb(size, k)
    return share if repeats[1] == "^" else 1 - share
