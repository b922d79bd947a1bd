"""Models compared in slices of their items, and the items worth reading."""

import itertools

import numpy as np

from workbench import checks
from workbench.comparisons.comparison import ADJUSTMENTS, SHOWN, adjustment, ordered, pair_limits, paired
from workbench.comparisons.evidence import Evidence
from workbench.comparisons.item_scores import ItemScores
from workbench.data.numbers import as_text
from workbench.results import Note, Table, rows_of

LETTERS = 160           # of an item's text


def compare_slices(scores: ItemScores, by: str, *, level: float = 0.95, adjust: str = "holm") -> Table:
    """Compare every pair of models on the items of each slice, all slices' pairs adjusted together.

    Parameters
    ----------
    scores : ItemScores
    by : str
        One of its columns, whose values are the slices.
    level, adjust
        As in `compare_items`.

    Returns
    -------
    Table
        A row per slice and pair, of two models in the order of their scores on all items; slices of less than two items
        or clusters are left out, as a note tells.

    Examples
    --------
    >>> scores = ItemScores([[1, 0]] * 9 + [[1, 1]] * 9, ["A", "B"], range(18), columns={"part": ["x"] * 9 + ["y"] * 9})
    >>> [(row["slice"], row["verdict"]) for row in compare_slices(scores, "part").rows()]
    [('x', 'better'), ('y', 'not shown')]
    """
    scores = checks.instance("scores", scores, ItemScores)
    checks.choice("adjust", adjust, ADJUSTMENTS)
    if by not in scores.columns:
        raise checks.WrongValue("by", f"must be one of {checks.listed(scores.columns, quoted=True) or 'none'}", by)
    order = ordered(scores, checks.level(level))[0]
    pairs, slices = np.array(list(itertools.combinations(order, 2))), np.array(as_text(scores.columns[by]))
    told, small = dict[str, list[Evidence]](), []
    for name in dict.fromkeys(filter(None, slices.tolist())):
        rows = slices == name
        if rows.sum() < 2 or scores.cluster is not None and np.unique(scores.cluster[rows]).size < 2:
            small.append(name)
            continue
        part = scores.some(rows)
        told[name] = list(paired(part, pairs, part.cluster))
    if not told:
        raise checks.WrongValue("by", "must have a slice of at least two items and clusters", by)
    found = [each for of_slice in told.values() for each in of_slice]
    pvalue = np.concatenate([each.pvalues() for each in found])
    adjusted, levels = adjustment(pvalue, level, adjust)
    mean, limits = np.concatenate([each.mean for each in found]), pair_limits(found, levels)
    better = np.where(mean * (-1 if scores.better == "lower" else 1) > 0, "better", "worse")
    rows = [{"slice": name, "items": int((slices == name).sum()), "first": scores.models[a], "second": scores.models[b]}
            for name in told for a, b in pairs.tolist()]
    numbers = rows_of(difference=mean, low=limits[:, 0], high=limits[:, 1], pvalue=pvalue, adjusted_pvalue=adjusted,
                      verdict=np.where(adjusted < 1 - level, better, "not shown"))
    notes = [Note("data", f"{checks.counted(len(small), 'slice')} left out, of fewer than two items or clusters: "
                  f"{checks.listed(small, SHOWN, quoted=True)}")] if small else []
    without = int((slices == "").sum())
    if without:
        notes.append(Note("data", f"{checks.counted(without, 'item')} without {by!r} in no slice"))
    return Table(tuple(row | more for row, more in zip(rows, numbers, strict=True)), f"Slices by {by}", notes=notes)


def worth_reading(scores: ItemScores, most: int = 10) -> list[dict]:
    """Return a row per item on which the best model does worse than the others, the most such first.

    Parameters
    ----------
    scores : ItemScores
    most : int

    Examples
    --------
    >>> worth_reading(ItemScores([[1, 0], [0, 1], [1, 1]], ["A", "B"], ["p", "q", "r"]))
    [{'item': 'q', 'A': 0.0, 'B': 1.0}]
    """
    scores, most = checks.instance("scores", scores, ItemScores), checks.whole("most", most, 1)
    order = ordered(scores, 0.95)[0]
    gap = np.nanmean(np.where(np.isnan(scores.score), np.mean(scores.bounds), scores.score)[:, order[1:]], 1) - \
        scores.score[:, order[0]]
    gap = np.nan_to_num(gap * (-1 if scores.better == "lower" else 1))
    chosen = [k for k in np.argsort(-gap, kind="stable")[:most].tolist() if gap[k] > 0]
    text = scores.columns.get("input")
    return [{"item": scores.item[k]} | {scores.models[m]: float(scores.score[k, m]) for m in order}
            | ({} if text is None else {"text": shortened(str(text[k]))}) for k in chosen]


def shortened(text: str) -> str:
    r"""Return the beginning of a text in one line.

    Examples
    --------
    >>> shortened("one\ntwo")
    'one two'
    """
    words = " ".join(text.split())
    return words if len(words) <= LETTERS else f"{words[:LETTERS]}\u2026"
