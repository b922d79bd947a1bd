"""Scores of items by several models: the input of a comparison."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks
from workbench.data.numbers import objects
from workbench.results import FILLED, Note, Result

BETTER = ("higher", "lower")
SHOWN = 5


class ItemScores(Result):
    """Scores of N items by M models.

    It is the input of `compare_items`. `read_item_scores` reads it from logs and tables.

    Attributes
    ----------
    score : (N, M) array of float
        Score of each item by each model; NaN if it is missing.
    models : tuple of str
        Names of the M models.
    item : tuple of str
        Identifiers of the N items.
    cluster : (N,) array or None
        Cluster of each item, such as its document, person or site. Items of one cluster resemble
        each other. None: items are independent.
    bounds : (float, float)
        Smallest and largest possible score of an item, by default 0 and 1.
    better : {"higher", "lower"}
        Which scores are better.
    values : tuple of float
        All possible scores of an item; () if any score within `bounds` is possible.
    columns : dict of (N,) array
        Further columns of the items, such as their text.
    finished : bool
        Whether the logs report that every run finished.
    cluster_word : str
        Word for a cluster, such as "document".
    sample : (N,) array of int or None
        Position of the model that each item was meant for, if each model was scored on items of its
        own (independent samples). None: all models were scored on the same items.

    Raises
    ------
    ValueError
        If a score is outside its range, a name occurs twice, or there are too few models, items or
        clusters. At least one model and two items are needed, and two clusters if there are any; in
        independent samples, for each model.

    See Also
    --------
    read_item_scores : Read the scores from logs and tables.
    compare_items : Compare the models.

    Examples
    --------
    >>> ItemScores([[1, 0], [1, 1], [0, 0]], ["A", "B"], ["q1", "q2", "q3"])
    ItemScores(3 items scored by 2 models, from 0 to 1)
    """

    score: np.ndarray
    models: tuple
    item: tuple
    cluster: np.ndarray | None = None
    bounds: tuple = (0.0, 1.0)
    better: str = "higher"
    values: tuple = ()
    columns: dict = FILLED
    finished: bool = False
    cluster_word: str = "cluster"
    sample: np.ndarray | None = None
    holds_items: ClassVar[bool] = True

    if TYPE_CHECKING:

        def __init__(
            self,
            score: ArrayLike,
            models: Sequence[str],
            item: Sequence,
            cluster: ArrayLike | None = None,
            bounds: tuple[float, float] = (0.0, 1.0),
            better: str = "higher",
            values: Sequence[float] = (),
            columns: dict | None = None,
            finished: bool = False,
            cluster_word: str = "cluster",
            sample: ArrayLike | None = None,
            *,
            notes: Sequence[Note] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        score = checks.plain_array("score", self.score, "item").astype(float)
        models, item = _distinct("models", self.models, 1), _distinct("item", self.item, 2)
        if score.shape != (len(item), len(models)):
            raise checks.WrongValue(
                "score",
                f"must have a row for each of {len(item)} items and a column for each of "
                f"{len(models)} models",
                told=f"got shape {score.shape}",
            )
        cluster = (
            None if self.cluster is None else checks.labels("cluster", self.cluster, size=len(item))
        )
        if cluster is not None and np.all(cluster == cluster[0]):
            raise checks.WrongValue(
                "cluster",
                "must hold at least 2 clusters, as one cluster shows no variation between clusters",
                told=f"all {len(item)} items are in {cluster[0].item()!r}",
            )
        low, high = checks.bounds(self.bounds)
        vars(self).update(
            score=score,
            models=models,
            item=item,
            cluster=cluster,
            bounds=(low, high),
            better=checks.choice("better", self.better, BETTER),
            columns={name: objects(list(column)) for name, column in (self.columns or {}).items()},
        )
        if self.sample is not None:
            vars(self)["sample"] = _checked_samples(self.sample, score, models, cluster)
        super().__post_init__()
        wrong = (score < low) | (score > high)
        if self.values:
            wrong |= ~np.isnan(score) & ~np.isin(score, self.values)
        for row, column in np.argwhere(wrong)[:1].tolist():
            can = checks.listed(self.values) if self.values else f"{low:g} to {high:g}"
            raise checks.WrongValue(
                "score",
                f"must be one of {can}" if self.values else f"must be from {can}",
                told=f"item {item[row]!r} has the score {score[row, column]:g} by {models[column]}",
            )

    @property
    def filled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores (N, M) with missing ones at the lower and at the upper bound."""
        low, high = (np.where(np.isnan(self.score), bound, self.score) for bound in self.bounds)
        return low, high

    @property
    def wanted(self) -> np.ndarray:
        """Return whether each item was meant for each model, (N, M).

        All are, except in independent samples, where each item was meant for one model.
        """
        if self.sample is None:
            return np.ones(self.score.shape, bool)
        return self.sample[:, None] == np.arange(len(self.models))

    @property
    def unscored(self) -> int:
        """Return the number of missing scores."""
        return int((np.isnan(self.score) & self.wanted).sum())

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the items of each independent sample; () if all models have the same items."""
        return () if self.sample is None else tuple(self.wanted.sum(0).tolist())

    @property
    def clusters(self) -> int:
        """Return the number of clusters; 0 if items are independent."""
        return 0 if self.cluster is None else int(np.unique(self.cluster).size)

    def some(self, rows: np.ndarray) -> "ItemScores":
        """Return the scores of some of the items.

        Parameters
        ----------
        rows : (N,) array of bool
            Whether to keep each item.
        """
        return ItemScores(
            self.score[rows],
            self.models,
            np.array(self.item, object)[rows].tolist(),
            None if self.cluster is None else self.cluster[rows],
            self.bounds,
            self.better,
            self.values,
            {name: column[rows] for name, column in self.columns.items()},
            self.finished,
            self.cluster_word,
            None if self.sample is None else self.sample[rows],
            notes=self.notes,
        )

    def headline(self) -> str:
        """Return the number of items, clusters and models, and the possible scores."""
        low, high = self.bounds
        among = (
            checks.listed([f"{value:g}" for value in self.values])
            if self.values
            else f"from {low:g} to {high:g}"
        )
        return f"{self.basis()} scored by {checks.counted(len(self.models), 'model')}, {among}"

    def basis(self) -> str:
        """Return the number of items and of their clusters as text."""
        return items_in(len(self.item), self.clusters, self.cluster_word)

    def rows(self) -> list[dict]:
        """Return a row per model: the number of its items, and how many have no score."""
        wanted = self.wanted
        sizes, lacking = wanted.sum(0).tolist(), (np.isnan(self.score) & wanted).sum(0).tolist()
        return [
            {"model": model, "items": size - gone, "unscored": gone}
            for model, size, gone in zip(self.models, sizes, lacking, strict=True)
        ]


def _checked_samples(
    sample: ArrayLike, score: np.ndarray, models: Sequence[str], cluster: np.ndarray | None
) -> np.ndarray:
    """Return the sample of each item, or raise an error.

    Each sample needs enough items, and its items must have no score by another model.
    """
    checked = checks.counts("sample", sample, size=len(score), what="item")
    for place, model in enumerate(models):
        rows = checked == place
        units = int(rows.sum()) if cluster is None else int(np.unique(cluster[rows]).size)
        if units < 2:
            raise checks.WrongValue(
                "sample",
                f"must have at least 2 {'items' if cluster is None else 'clusters'} of {model!r}",
                told=f"got {units}",
            )
        if not np.isnan(np.delete(score[rows], place, 1)).all():
            raise checks.WrongValue(
                "sample", f"must give {model!r} only items without scores by other models"
            )
    return checked


def _distinct(name: str, values: Sequence, least: int) -> tuple[str, ...]:
    entries = checks.each(name, values)
    for k in [k for k, entry in enumerate(entries) if checks.is_missing(entry)][:1]:
        raise checks.WrongValue(
            name, "must not be missing", place=("entry", k), told=f"entry {k} is"
        )
    texts = tuple(map(str, entries))
    twice = [text for text, times in Counter(texts).items() if times > 1]
    if twice:
        raise checks.WrongValue(
            name,
            "must not repeat",
            told=f"{checks.listed(twice, SHOWN, quoted=True)} "
            f"occur{'s' * (len(twice) == 1)} more than once",
        )
    if len(texts) < least:
        raise checks.WrongValue(
            name,
            f"must have at least {least} {'entry' if least == 1 else 'entries'}",
            told=f"got {len(texts)}",
        )
    return texts


def items_in(items: int, clusters: int, word: str) -> str:
    """Return the number of items, and of their clusters if there are any, as text.

    Examples
    --------
    >>> items_in(9, 3, "story"), items_in(9, 1, "patch")
    ('9 items in 3 stories', '9 items in 1 patch')
    >>> items_in(9, 4, "doc_id"), items_in(9, 0, "cluster")
    ('9 items in 4 clusters (doc_id)', '9 items')
    """
    many = re.sub(r"(s|x|z|ch|sh)$", r"\1e", re.sub(r"(?<=[^aeiou])y$", "ie", word)) + "s"
    one, many = (word, many) if word.isalpha() else (f"cluster ({word})", f"clusters ({word})")
    counted = checks.counted(items, "item")
    return f"{counted} in {checks.counted(clusters, one, many)}" if clusters else counted
