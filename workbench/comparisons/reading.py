"""Scores of the same items by several models from logs of evaluations and from tables."""

import math
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench import checks
from workbench.comparisons.item_scores import ItemScores
from workbench.data import frames, numbers
from workbench.data.columns import spelled
from workbench.data.decimals import is_plain
from workbench.data.evaluation_logs import chosen_score, letter_score, read_log
from workbench.data.files import existing_file, is_evaluation_log
from workbench.data.shapes import gaps
from workbench.data.workbooks import file_and_sheet
from workbench.results import Note

SHOWN = 5
MOST_VALUES = 50        # beyond it what an item can have is not listed
LOGS = (".eval", ".json", ".jsonl", ".ndjson")
_BATTLE = re.compile(r"(?s)^(?=.*winner)(?=.*^model_[a1]$).*^model_[b2]$", re.MULTILINE)
TEXT_NAMES = ("input", "question", "prompt", "text")
ITEM_NAMES = ("id", "item", "item_id", "doc_id", "question_id")
_ERRORS = re.compile(r"(?i)(^|[_ .-])(loss(es)?|perplexity|ppl|nll|entropy|brier|[wct]er|mse|mae|rmse|bits_per_byte|"
                     r"errors?|distance|latency|cost)([_ .-]|$)")
_REPEATS = re.compile(r"mean|majority|pass([\^@])([1-9][0-9]*)")


class Run(NamedTuple):
    """What one model did: rows in any order, an item in as many as it has epochs; whether its log says it finished.

    `chosen` is whether people gave the model's name, `measure` what its scores are called, `by` the same and the filter
    of a log for which people chose neither.
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


def read_item_scores(*files: Any, model: str = "", item: str = "", score: str = "", cluster: str = "", epoch: str = "",
                     repeats: str = "mean", bounds: tuple[float, float] | None = None, better: str = "",
                     common: bool = False, columns: Sequence[str] = ()) -> ItemScores:
    """Read the scores of the same items by several models.

    Parameters
    ----------
    *files : str, path or data frame
        A log of Inspect or lm-evaluation-harness, or a table, per model; a folder of logs; or one table with a row per
        item and model or with a column per model. "NAME=FILE" names the model of a file.
    model : str
        Of a table: the column that says whose row it is, or the columns of the models' scores with commas between;
        without it all columns that are not named otherwise.
    item : str
        Column of identifiers of a table.
    score : str
        Column of a table's scores; of logs the scorer, the filter or the metric.
    cluster : str
        Column of the document, person or site of an item, such as "metadata.document" or "doc.passage".
    epoch : str
        Column that tells the rows apart in which an item was repeated; logs of Inspect tell it.
    repeats : str
        What becomes of an item's E epochs, c of them right: "mean"; "majority", 1, 1/2 or 0; "pass^3", the share
        C(c, 3) / C(E, 3) of three epochs that are all right; "pass@3", that of three of which one is.
    bounds : (float, float), optional
        Least and largest score that an item can have; 0 and 1 where all scores lie between.
    better : {"higher", "lower"}, optional
        Which scores are better; must be said of scores that are not from 0 to 1, or are an error by their name.
    common : bool
        Take the items that all models have a score of; a note tells how many are left out.
    columns : list of str
        Further columns to keep, such as one whose values are slices.

    Returns
    -------
    ItemScores

    Raises
    ------
    ValueError
        If it is not certain which scores belong together, or what they mean; one line that names the file.

    Examples
    --------
    >>> table = {"id": ["q1", "q2", "q3"], "old": [1, 0, 1], "new": [1, 1, 1]}
    >>> read_item_scores(table, item="id")
    ItemScores(3 items scored by 2 models, 0, 1)
    """
    match = _REPEATS.fullmatch(str(repeats))
    if match is None:
        raise checks.WrongValue("repeats", "must be mean, majority, or pass^k or pass@k with k epochs", repeats)
    named = {"model": model, "item": item, "score": score, "cluster": cluster, "epoch": epoch}
    runs = _distinct_runs([run for source in named_sources(files)
                           for run in _runs(source, named, [*columns], len(files))])
    if len(runs) < 2:
        raise checks.WrongValue("files", f"must hold the scores of at least 2 models; there are those of "
                                f"{checks.listed([run.model for run in runs], quoted=True) or 'none'}")
    _refuse_other_measures(runs)
    limits, direction = _meaning(runs, bounds, better)
    ids, rows, notes = _items(runs, common)
    _refuse_uneven(runs, rows, ids, match)
    tables, values = zip(*(_folded(run, rows[run.model], ids, match, limits) for run in runs), strict=True)
    scores = np.column_stack(tables)
    if common:
        scored = ~np.isnan(scores).any(1)
        notes += [Note("data", f"{checks.counted(int((~scored).sum()), 'item')} without a score by every model "
                       "left out")] if not scored.all() else []
        ids, scores = [each for each, kept in zip(ids, scored, strict=True) if kept], scores[scored]
    first = {name: np.array([cells[rows[runs[0].model][each][0]] for each in ids], object)
             for name, cells in runs[0].cells.items()}
    if cluster:
        _refuse_other_clusters(runs, rows, ids, spelled(cluster, first))
    possible = tuple(sorted(set().union(*values))) if all(values) else ()
    return ItemScores(scores, [run.model for run in runs], ids,
                      numbers.as_text(first[spelled(cluster, first)]) if cluster else None, limits, direction,
                      possible if len(possible) <= MOST_VALUES else (), first, all(run.finished for run in runs),
                      cluster.rpartition(".")[2] or "cluster", notes=notes)


# sources

def named_sources(files: Sequence) -> Iterator[tuple[str, Any]]:
    """Yield name, "" where none is given, and source of each file; of a folder those of its logs."""
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
        inside = [os.path.join(folder, each) for folder, _, names in sorted(os.walk(path)) for each in sorted(names)
                  if each.endswith(LOGS)]
        logs = [each for each in inside if os.path.getsize(each) and is_evaluation_log(each)]
        if not logs:
            raise ValueError(f"there is no log of an evaluation in the folder {path!r}")
        yield from (("", each) for each in logs)


def _runs(source: tuple[str, Any], named: dict[str, str], columns: list[str], files: int) -> Iterator[Run]:
    name, given = source
    if is_evaluation_log(given):
        yield _log_run(name, given, named, columns)
        return
    names = frames.column_names(given)
    if _BATTLE.search("\n".join(sorted(each.lower() for each in names))):
        raise ValueError(f"{_told(given)} holds battles of two models, which give no score per item: compare_items "
                         "needs a score of each item by each model")
    yield from _table_runs(given, names, name, named, columns, files == 1)


def _told(source: Any) -> str:
    return repr(os.path.basename(source)) if isinstance(source, str) else "the table"


def _log_run(name: str, path: str, named: dict[str, str], columns: list[str]) -> Run:
    file, part = file_and_sheet(existing_file(path)[0])
    log = read_log(file, repr(path))
    if log.unfinished:
        raise ValueError(f"the run of {path!r} did not finish, its status is {log.unfinished!r}: samples may be "
                         "missing; run it again")
    samples, score = chosen_score(log, part or named["score"])
    if not score:
        raise ValueError(f"{path!r} has no score")
    wanted = {each: _column_of(samples, path, each) for each in [*filter(None, [named["cluster"]]), *columns]}
    shown = {"input": "input"} | wanted
    by = "" if part else " of filter ".join(dict.fromkeys([score, *[samples[0].part] * (log.part_is == "filter")]))
    return Run(name or log.model, bool(name), path, file, score, by, [each.id for each in samples],
               [each.part if log.part_is == "epoch" else "" for each in samples],
               [math.nan if (value := each.scores.get(score)) is None else value for each in samples],
               [each.content for each in samples], log.part_is == "epoch",
               {column: numbers.objects([each.cells.get(cell) for each in samples]) for column, cell in shown.items()})


def _column_of(samples: Sequence, path: str, wanted: str) -> str:
    names = [*dict.fromkeys(name for each in samples for name in each.cells)]
    found = spelled(wanted, names)
    if found not in names:
        raise ValueError(f"{path!r} has no column {wanted!r}; it has {checks.listed(names, 20, quoted=True)}"
                         f"{checks.suggestion(wanted, names)}")
    return found


@frames.in_rows_of("source")
def _table_runs(source: Any, names: tuple, name: str, named: dict[str, str], columns: list[str],
                alone: bool) -> list[Run]:
    """Return the runs of a table: by a column of models, of a column each, or one that the file is named by."""
    item, told = _item_column(source, names, named["item"]), _told(source)
    text = next((each for each in names if str(each).lower() in TEXT_NAMES), "")
    others = [each for each in (named["cluster"], named["epoch"], *columns, text) if each]
    by_model = bool(named["score"] and named["model"])
    if named["score"]:
        wanted = [named["score"]]
        if alone and not by_model:
            raise checks.WrongValue("model", f"must name the column of {told} that says whose score it is")
    else:
        known = {item, *(spelled(each, names) for each in others)}
        wanted = [each.strip() for each in named["model"].split(",") if each] or \
            [each for each in names if each not in known]
    data, _ = frames.read_columns(source, [item, *wanted, *others, *[named["model"]] * by_model])
    scores = {each: _numbers(each, data[each], told, chosen=bool(named["score"] or named["model"])) for each in wanted}
    epochs = numbers.as_text(data[named["epoch"]]) if named["epoch"] else [""] * len(data[item])
    file = file_and_sheet(source)[0] if isinstance(source, str) else ""
    one = Run(name or os.path.splitext(os.path.basename(file))[0], bool(name), told, file, named["score"], "",
              numbers.present(item, data[item]), epochs, scores[wanted[0]], [], False,
              {each: data[each] for each in (named["cluster"], *columns) if each} | ({"input": data[text]} if text
                                                                                     else {}))
    if by_model:
        return _of_models(one, numbers.present(named["model"], data[named["model"]]))
    return [one] if named["score"] else [one._replace(model=each, chosen=True, measure=each, score=scores[each])
                                         for each in wanted]


def _item_column(source: Any, names: tuple, named: str) -> str:
    found = named or next((each for each in names if str(each).lower() in ITEM_NAMES), "")
    if not found:
        raise checks.WrongValue("item", f"must name the column of identifiers of {_told(source)}; it has "
                                f"{checks.listed(names, 20, quoted=True)}")
    return spelled(found, names)


def _of_models(run: Run, whose: list[str]) -> list[Run]:
    rows: dict[str, list[int]] = {}
    for row, model in enumerate(whose):
        rows.setdefault(model, []).append(row)
    return [run._replace(model=model, chosen=True, item=[run.item[row] for row in mine],
                         epoch=[run.epoch[row] for row in mine], score=[run.score[row] for row in mine],
                         cells={name: cells[mine] for name, cells in run.cells.items()})
            for model, mine in rows.items()]


def _numbers(name: str, cells: np.ndarray, told: str, *, chosen: bool) -> list[float]:
    """Return scores, NaN where there is none; a column that nobody chose may hold something else."""
    missing = gaps(cells, True)
    filled = np.where(missing, 0, cells) if cells.dtype.kind == "f" else numbers.objects(
        ["0" if gone else letter_score(cell) if chosen and isinstance(cell, str) else cell
         for gone, cell in zip(missing, cells.tolist(), strict=True)])
    try:
        return np.where(missing, np.nan, numbers.to_numbers(name, filled)).tolist()
    except ValueError:
        if chosen or is_plain(str(filled[0])):
            raise
        raise checks.WrongValue("model", f"must name the models' columns of {told}, with commas between, or with "
                                "score the column that says whose score a row is: column "
                                f"{name!r} holds no numbers") from None


# what belongs together

def _distinct_runs(runs: list[Run]) -> list[Run]:
    """Return runs whose models' names differ: where logs give them none or the same, by folder or file."""
    names = [run.model for run in runs]
    for rule in (lambda path: os.path.basename(os.path.dirname(os.path.abspath(path))),
                 lambda path: re.split(r"\.(?=[a-z])", os.path.basename(path))[0]):
        if all(names) and len(set(names)) == len(names):
            break
        names = [run.model if run.chosen else rule(run.path) for run in runs]
    if len(set(names)) < len(names):
        raise checks.WrongValue("files", f"must be of different models; give names to those of "
                                f"{checks.listed([*dict.fromkeys(names)], SHOWN, quoted=True)}, as in NAME=FILE")
    return [run._replace(model=name) for run, name in zip(runs, names, strict=True)]


def _refuse_other_measures(runs: list[Run]) -> None:
    first, *others = [run for run in runs if run.by] or runs[:1]
    other = next((run for run in others if run.by != first.by), None)
    if other:
        raise checks.WrongValue("score", f"must name one score: that of {first.model!r} is {first.by}, that of "
                                f"{other.model!r} {other.by}; or choose it for each file, as in FILE#{other.measure}")


def _meaning(runs: list[Run], bounds: Any, better: str) -> tuple[tuple[float, float], str]:
    """Return the bounds of the scores and which are better, or raise where that is not known."""
    ends = {run.model: (np.nanmin(run.score), np.nanmax(run.score)) for run in runs if not np.isnan(run.score).all()}
    if len(ends) < len(runs):
        raise ValueError(f"{next(run.model for run in runs if run.model not in ends)!r} has no score")
    low, high = min(low for low, _ in ends.values()), max(high for _, high in ends.values())
    small = [name for name, (_, most) in ends.items() if most <= 1]
    if 1 < high <= 100 and low >= 0 and small and (bounds is None or tuple(bounds) == (0, 100)):
        large = next(name for name, (_, most) in ends.items() if most > 1)
        raise ValueError(f"scores of {large!r} go to {ends[large][1]:g}, those of {small[0]!r} only to "
                         f"{ends[small[0]][1]:g}: percentages among scores from 0 to 1; give all of them in one unit, "
                         f"or name by model the models' columns, if {large!r} is none of them")
    if bounds is None and not 0 <= low <= high <= 1:
        raise checks.WrongValue("bounds", "must say the least and the largest score that an item can have, since not "
                                "all lie between 0 and 1", told=f"they go from {low:g} to {high:g}")
    limits = (0.0, 1.0) if bounds is None else checks.bounds(bounds)
    if not limits[0] <= low <= high <= limits[1]:
        name = next(name for name, (a, b) in ends.items() if a < limits[0] or b > limits[1])
        raise checks.WrongValue("bounds", f"must hold every score; {name!r} has {ends[name][0]:g} to {ends[name][1]:g}",
                                told=f"got {limits[0]:g} and {limits[1]:g}")
    error = next((run.measure for run in runs if _ERRORS.search(run.measure)), "")
    if not better and (limits != (0, 1) or error):
        raise checks.WrongValue("better", "must say which scores are better, higher or lower"
                                + f": {error!r} seems to be an error" * bool(error))
    return limits, better or "higher"


def _items(runs: list[Run], common: bool) -> tuple[list[str], dict[str, dict[str, list[int]]], list[Note]]:
    """Return the items in the order of the first run, the rows of each by model, and notes; or raise."""
    rows: dict[str, dict[str, list[int]]] = {}
    content: dict[str, tuple[str, tuple[str, ...]]] = {}
    for run in runs:
        mine = rows.setdefault(run.model, {})
        seen: set[tuple[str, str]] = set()
        for row, key in enumerate(zip(run.item, run.epoch, strict=True)):
            if key in seen:
                raise checks.WrongValue("epoch", f"must tell repeated items apart: {run.told} has item {key[0]!r} "
                                        f"{'twice' if not key[1] else f'twice in epoch {key[1]}'} by {run.model}")
            seen.add(key)
            mine.setdefault(key[0], []).append(row)
        for each, asked in zip(run.item, run.content, strict=False):
            other = content.setdefault(each, (run.model, asked))
            if other[1] != asked and any(a and b and a != b for a, b in zip(other[1], asked, strict=False)):
                raise ValueError(f"item {each!r} is not the same for {other[0]!r} and {run.model!r}: its content "
                                 "differs; compare runs on one version of the data")
    shared = [each for each in rows[runs[0].model] if all(each in mine for mine in rows.values())]
    lacking = {name: len(set().union(*rows.values())) - len(mine) for name, mine in rows.items()}
    said = ", ".join(f"{name} lacks {gone:,}" for name, gone in lacking.items() if gone)
    if said and not common:
        raise checks.WrongValue("common", f"must be set, as the models were not run on the same items: {said}; it "
                                f"takes the {len(shared):,} that all have")
    if len(shared) < 2:
        raise ValueError(f"the models have {checks.counted(len(shared), 'item')} in common, and 2 is the least"
                         + f": {said}" * bool(said))
    if not said:
        return shared, rows, []
    total = len(set().union(*rows.values()))
    return shared, rows, [Note("data", f"{total - len(shared):,} of {total:,} items left out, which not all models "
                               f"were run on: {said}")]


def _folded(run: Run, rows: dict[str, list[int]], ids: list[str], repeats: re.Match,
            bounds: tuple[float, float]) -> tuple[np.ndarray, set[float]]:
    """Return one score per item, of its epochs, NaN where one is missing, and the scores that are possible."""
    score, sizes = np.array(run.score), {len(rows[each]) for each in ids}
    one = set(score[~np.isnan(score)].tolist())
    if repeats[0] != "mean" and not one <= {0.0, 1.0}:
        raise checks.WrongValue("repeats", "must be 'mean' where scores are not 0 or 1", repeats[0])
    means = np.array([score[rows[each]].mean() for each in ids])
    if repeats[0] == "mean":
        single = one <= {0.0, 1.0} and bounds == (0, 1)
        return means, {c / size for size in sizes for c in range(size + 1)} if single else set()
    size = sizes.pop()
    table = np.array([_of_right(c, size, repeats) for c in range(size + 1)])
    right = np.where(np.isnan(means), 0, np.round(means * size)).astype(int)
    return np.where(np.isnan(means), np.nan, table[right]), set(table.tolist())


def _refuse_uneven(runs: list[Run], rows: dict[str, dict[str, list[int]]], ids: list[str], repeats: re.Match) -> None:
    """Raise where a rule needs the number of epochs, and items or models differ in it or have too few."""
    if repeats[0] == "mean":
        return
    sizes = {run.model: sorted({len(rows[run.model][each]) for each in ids}) for run in runs}
    told = [f"{model} has {' to '.join(map(str, dict.fromkeys((has[0], has[-1]))))}" for model, has in sizes.items()]
    if len(set().union(*sizes.values())) > 1:
        raise checks.WrongValue("repeats", "must be 'mean' where items or models differ in their number of epochs; "
                                f"{checks.listed(told, SHOWN)}", repeats[0])
    if int(repeats[2] or 1) > sizes[runs[0].model][0]:
        raise checks.WrongValue("repeats", f"must not ask for more epochs than there are; {told[0]}", repeats[0])


def _of_right(c: int, size: int, repeats: re.Match) -> float:
    """Return the score of an item of which c of so many epochs are right."""
    if repeats[0] == "majority":
        return 0.5 + 0.5 * np.sign(2 * c - size)
    k = int(repeats[2])
    right = c if repeats[1] == "^" else size - c
    share = math.comb(right, k) / math.comb(size, k)
    return share if repeats[1] == "^" else 1 - share


def _refuse_other_clusters(runs: list[Run], rows: dict, ids: list[str], cluster: str) -> None:
    of = [numbers.present(cluster, run.cells[cluster]) for run in runs]
    for each in ids:
        found = {texts[row] for run, texts in zip(runs, of, strict=True) for row in rows[run.model][each]}
        if len(found) > 1:
            raise checks.WrongValue("cluster", f"must be the same for all models; item {each!r} is in "
                                    f"{checks.listed(sorted(found), quoted=True)}")
