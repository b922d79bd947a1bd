"""Scores of items by several models: the input of a comparison."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.data.numbers import objects
from workbench.results import FILLED, Note, Result, rows_of

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

    score: ndarray
    models: tuple
    item: tuple
    cluster: ndarray | None = None
    bounds: tuple = (0.0, 1.0)
    better: str = "higher"
    values: tuple = ()
    columns: dict = FILLED
    finished: bool = False
    cluster_word: str = "cluster"
    sample: ndarray | None = None
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
            raise WrongValue(
                "score",
                f"must have a row for each of {len(item)} items and a column for each of "
                f"{len(models)} models",
                told=f"got shape {score.shape}",
            )
        cluster = self.cluster
        if cluster is not None:
            cluster = checks.labels("cluster", cluster, size=len(item))
            if np.all(cluster == cluster[0]):
                raise WrongValue(
                    "cluster",
                    "must hold at least 2 clusters, as one cluster shows no variation between "
                    "clusters",
                    told=f"all {len(item)} items are in {cluster[0].item()!r}",
                )
        low, high = checks.bounds(self.bounds)
        better = checks.choice("better", self.better, BETTER)
        sample = self.sample
        if sample is not None:
            sample = _checked_samples(sample, score, models, cluster)
        columns = self.columns or {}
        vars(self).update(
            score=score,
            models=models,
            item=item,
            cluster=cluster,
            bounds=(low, high),
            better=better,
            columns={name: objects(list(column)) for name, column in columns.items()},
            sample=sample,
        )
        super().__post_init__()
        is_wrong = (score < low) | (score > high)
        rule = f"must be from {low:g} to {high:g}"
        if self.values:
            is_wrong |= ~np.isnan(score) & ~np.isin(score, self.values)
            rule = f"must be one of {checks.listed(self.values)}"
        for row, column in np.argwhere(is_wrong)[:1].tolist():
            got = f"item {item[row]!r} has the score {score[row, column]:g} by {models[column]}"
            raise WrongValue("score", rule, told=got)

    @property
    def filled(self) -> tuple[ndarray, ndarray]:
        """Return the scores (N, M) with missing ones at the lower and at the upper bound."""
        low, high = (np.where(np.isnan(self.score), bound, self.score) for bound in self.bounds)
        return low, high

    @property
    def wanted(self) -> ndarray:
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

    def some(self, rows: ndarray) -> "ItemScores":
        """Return the scores of some of the items.

        Parameters
        ----------
        rows : (N,) array of bool
            Whether to keep each item.
        """
        return replace(
            self,
            score=self.score[rows],
            item=list(compress(self.item, rows)),
            cluster=None if self.cluster is None else self.cluster[rows],
            columns={name: column[rows] for name, column in self.columns.items()},
            sample=None if self.sample is None else self.sample[rows],
        )

    def headline(self) -> str:
        """Return the number of items, clusters and models, and the possible scores."""
        low, high = self.bounds
        values = f"from {low:g} to {high:g}"
        if self.values:
            values = checks.listed([f"{value:g}" for value in self.values])
        return f"{self.basis()} scored by {checks.counted(len(self.models), 'model')}, {values}"

    def basis(self) -> str:
        """Return the number of items and of their clusters as text."""
        return items_in(len(self.item), self.clusters, self.cluster_word)

    def rows(self) -> list[dict]:
        """Return a row per model: the number of its items, and how many have no score."""
        sizes = self.wanted.sum(0)
        unscored = (np.isnan(self.score) & self.wanted).sum(0)
        return rows_of(model=self.models, items=sizes - unscored, unscored=unscored)


def _checked_samples(
    sample: ArrayLike, score: ndarray, models: Sequence[str], cluster: ndarray | None
) -> ndarray:
    """Return the sample of each item, or raise an error.

    Each sample needs enough items, and its items must have no score by another model.
    """
    checked = checks.counts("sample", sample, size=len(score), what="item")
    for position, model in enumerate(models):
        rows = checked == position
        units = int(rows.sum()) if cluster is None else int(np.unique(cluster[rows]).size)
        if units < 2:
            kind = "items" if cluster is None else "clusters"
            rule = f"must have at least 2 {kind} of {model!r}"
            raise WrongValue("sample", rule, told=f"got {units}")
        if not np.isnan(np.delete(score[rows], position, 1)).all():
            rule = f"must give {model!r} only items without scores by other models"
            raise WrongValue("sample", rule)
    return checked


def _distinct(name: str, values: Sequence, least: int) -> tuple[str, ...]:
    entries = checks.each(name, values)
    for k, entry in enumerate(entries):
        if checks.is_missing(entry):
            raise WrongValue(name, "must not be missing", place=("entry", k), told=f"entry {k} is")
    texts = tuple(map(str, entries))
    repeated = [text for text, times in Counter(texts).items() if times > 1]
    if repeated:
        verb = "occurs" if len(repeated) == 1 else "occur"
        got = f"{checks.listed(repeated, SHOWN, quoted=True)} {verb} more than once"
        raise WrongValue(name, "must not repeat", told=got)
    if len(texts) < least:
        entry = "entry" if least == 1 else "entries"
        rule = f"must have at least {least} {entry}"
        raise WrongValue(name, rule, told=f"got {len(texts)}")
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
    basis = checks.counted(items, "item")
    if not clusters:
        return basis
    plural = re.sub(r"(s|x|z|ch|sh)$", r"\1e", re.sub(r"(?<=[^aeiou])y$", "ie", word)) + "s"
    if not word.isalpha():
        word, plural = f"cluster ({word})", f"clusters ({word})"
    return f"{basis} in {checks.counted(clusters, word, plural)}"
