"""Comparison of models in slices of their items, and the items worth reading."""

import itertools

import numpy as np
from numpy import ndarray

from workbench import checks
from workbench.checks import WrongValue
from workbench.data.numbers import as_text
from workbench.data.shapes import gaps
from workbench.extras.compare.comparison import (
    METHODS,
    SHOWN,
    Differences,
    adjusted_limits,
    means_of,
    ordered,
    paired,
    unshared_pair,
)
from workbench.extras.compare.item_scores import ItemScores
from workbench.intervals.adjusted import ADJUSTMENTS
from workbench.results import Note, Table, rows_of

LETTERS = 160  # shown of an item's text


def compare_slices(
    scores: ItemScores,
    by: str,
    *,
    level: float = 0.95,
    adjust: str = "holm",
    method: str = "default",
) -> Table:
    """Compare every pair of models on the items of each slice.

    Use it to find the kinds of items on which one model is better. The pairs of all slices are
    adjusted together.

    Parameters
    ----------
    scores : ItemScores
        Scores of the items by at least two models.
    by : str
        Name of one of the columns of `scores`, whose values are the slices.
    level : float, default 0.95
        Confidence level of all verdicts together, in (0, 1).
    adjust : {"holm", "none"}, default "holm"
        Adjustment for the number of pairs in all slices.
    method : {"default", "bounded", "t"}, default "default"
        Method of the intervals, as in `compare_items`.

    Returns
    -------
    Table
        A row per slice and pair. The models of a pair are in the order of their scores on all
        items. Slices with fewer than two items or clusters are left out, and a note lists them.

    Raises
    ------
    ValueError
        If there is no such column, only one model, or no slice with two items and clusters.

    See Also
    --------
    compare_items : Compare models on all items.
    worth_reading : Items on which the best model does worse.

    Examples
    --------
    >>> part = ["x"] * 9 + ["y"] * 9
    >>> scores = ItemScores(
    ...     [[1, 0]] * 9 + [[1, 1]] * 9, ["A", "B"], range(18), columns={"part": part}
    ... )
    >>> [(row["slice"], row["verdict"]) for row in compare_slices(scores, "part").rows()]
    [('x', 'better'), ('y', 'not shown')]
    """
    scores = checks.instance("scores", scores, ItemScores)
    checks.choice("adjust", adjust, ADJUSTMENTS)
    checks.choice("method", method, METHODS)
    if by not in scores.columns:
        raise WrongValue(
            "by", f"must be one of {checks.listed(scores.columns, quoted=True) or 'none'}", by
        )
    if len(scores.models) < 2:
        raise WrongValue(
            "by",
            "needs scores of at least 2 models",
            by,
            told=f"there is only {scores.models[0]!r}",
        )
    order = ordered(scores, checks.level(level))[0]
    pairs = np.array(list(itertools.combinations(order, 2)))
    cells = scores.columns[by]
    missing = gaps(cells, True)
    slices = np.array(as_text(np.where(missing, "", cells)))
    samples: list[Differences] = []
    rows, small = [], []
    for name in dict.fromkeys(slices[~missing].tolist()):
        is_in_slice = ~missing & (slices == name)
        if not comparable(scores, is_in_slice):
            small.append(name)
            continue
        part = scores.some(is_in_slice)
        samples += paired(part, pairs, part.cluster, method)
        for a, b in pairs.tolist():
            models = {"first": scores.models[a], "second": scores.models[b]}
            rows.append({"slice": name, "items": len(part.item), **models})
    if not rows:
        raise WrongValue("by", "must have a slice with at least two items and clusters", by)
    pvalue, adjusted, _, limits, bounded = adjusted_limits(samples, level, adjust)
    mean = means_of(samples)
    better = np.where(mean < 0 if scores.better == "lower" else mean > 0, "better", "worse")
    numbers = rows_of(
        difference=mean,
        low=limits[:, 0],
        high=limits[:, 1],
        pvalue=pvalue,
        adjusted_pvalue=adjusted,
        verdict=np.where(adjusted < 1 - level, better, "not shown"),
        bounded_low=bounded[:, 0],
        bounded_high=bounded[:, 1],
    )
    notes = []
    if small:
        count = checks.counted(len(small), "slice")
        text = (
            f"{count} left out, with fewer than two items or clusters that both models of a pair "
            f"have scores for: {checks.listed(small, SHOWN, quoted=True)}"
        )
        notes.append(Note("data", text))
    if missing.any():
        count = checks.counted(int(missing.sum()), "item")
        verb = "is" if missing.sum() == 1 else "are"
        text = f"{count} without a {by} {verb} in no slice. The overall comparison uses all items"
        notes.append(Note("data", text))
    table = tuple(row | values for row, values in zip(rows, numbers, strict=True))
    return Table(table, f"Slices by {by}", notes=notes)


def comparable(scores: ItemScores, rows: ndarray) -> bool:
    """Return whether a selection of items is enough to compare every pair of models.

    Parameters
    ----------
    scores : ItemScores
    rows : (N,) array of bool
    """
    cluster = np.arange(len(rows)) if scores.cluster is None else scores.cluster
    samples = [rows]
    if scores.sample is not None:
        samples = [rows & (scores.sample == k) for k in range(len(scores.models))]
    if any(np.unique(cluster[sample]).size < 2 for sample in samples):
        return False
    return unshared_pair(scores.some(rows)) is None


def worth_reading(scores: ItemScores, most: int = 10) -> list[dict]:
    """List the items on which the best model scores worse than the average of the others.

    Read them to see what the best model gets wrong. The largest differences come first.

    Parameters
    ----------
    scores : ItemScores
        Scores of the items by each model.
    most : int, default 10
        Largest number of items, at least 1.

    Returns
    -------
    list of dict
        A row per item with its identifier, the score by each model, and its text if there is a
        column `input`. Empty for one model and for independent samples.

    See Also
    --------
    compare_items : Compare models on all items.
    compare_slices : Compare models in slices of the items.

    Examples
    --------
    >>> worth_reading(ItemScores([[1, 0], [0, 1], [1, 1]], ["A", "B"], ["p", "q", "r"]))
    [{'item': 'q', 'A': 0.0, 'B': 1.0}]
    """
    scores = checks.instance("scores", scores, ItemScores)
    most = checks.whole("most", most, 1)
    order = ordered(scores, 0.95)[0]
    if scores.sample is not None or len(order) < 2:
        return []
    best, rivals = scores.score[:, order[0]], scores.score[:, order[1:]]
    scored = ~np.isnan(rivals)
    mean = np.nan_to_num(rivals).sum(1) / np.maximum(scored.sum(1), 1)
    gap = np.where(scored.any(1), np.nan_to_num(mean - best), 0)
    if scores.better == "lower":
        gap = -gap
    rows = []
    for k in np.argsort(-gap, kind="stable")[:most].tolist():
        if gap[k] > 0:
            row = {"item": scores.item[k]}
            row |= {scores.models[m]: float(scores.score[k, m]) for m in order}
            if "input" in scores.columns:
                row["text"] = shortened(str(scores.columns["input"][k]))
            rows.append(row)
    return rows


def shortened(text: str) -> str:
    r"""Return the beginning of a text in one line.

    Examples
    --------
    >>> shortened("one\ntwo")
    'one two'
    """
    line = " ".join(text.split())
    return line if len(line) <= LETTERS else f"{line[:LETTERS]}\u2026"
