"""Which of several models is better on the items that they share.

References
----------
.. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import scipy

from workbench import checks, intervals
from workbench.extras.compare.evidence import Evidence, evidence
from workbench.extras.compare.independent import Unpaired, sample_evidence, together, unpaired
from workbench.extras.compare.item_scores import ItemScores, items_in
from workbench.intervals.adjusted import ADJUSTMENTS, adjustment, consistent
from workbench.intervals.unseen import bounded_notes
from workbench.results import Interval, Note, Result, bounded_words, digits, percent

METHODS = ("default", "bounded", "t")
LEAST, ROUND = 2, 1e-12  # scored items that two models share; a difference that is rounding
SHOWN = 6
FEW_CLUSTERS, FEW_CARRIERS = 5, 3
POWER = 0.8


class ItemComparison(Result):
    """Differences of all pairs of models on the same items, and what they say of the models' ranks.

    Attributes
    ----------
    names : (M,) tuple of str
        The models, the best first; where scores are missing, by the mean difference to the others on the items that
        both models of a pair have.
    score : (M,) array of float
        Mean scores of the items that all models have.
    own : (M, 2) array of float
        Limits of each score, each by itself at `level`.
    pairs : (P, 2) array of int
        Indices of two models, first the one that is better on the items that both have; none for one model.
    difference : (P,) array of float
        Score of the first less that of the second, on the items that both have.
    limits : (P, 2) array of float
        Of the difference, at the pair's own level. Where scores are missing they hold for the items that both have and
        for all items, whatever the missing scores are.
    pair_level : (P,) array of float
        Holm's: 1 - (1 - level) / (P + 1 - k) for the pair with the k-th smallest p, from the first pair that is not
        shown on that pair's; `level` where nothing is adjusted.
    pvalue, adjusted : (P,) array of float
        Of which the first inverts the interval: at level 1 - p this just leaves out 0.
    alone, naive : (P, 2) array of float
        Limits of a pair by itself at `level`; the same as if items were independent of each other.
    differ : (P,) array of int
        Items that the two models score differently; 0 in independent samples.
    size : int
    clusters : int
        0 where items are independent.
    worth : float
        How many equally heavy clusters these are; NaN where items are independent.
    unscored : int
        Scores that are missing.
    finished : bool
        Whether logs say that every run finished.
    bounds : (float, float)
        Of a score.
    better : {"higher", "lower"}
    adjust : {"holm", "none"}
    level : float
    cluster_word : str
        As in `ItemScores`.
    sizes : (M,) tuple of int
        Items of each model where these are independent samples; () where all models have the same items.
    method : {"default", "bounded", "t"}
    bounded : (P, 2) array of float
        Limits of the difference at the pair's level, also if scores or clusters exist that are unlike those seen.
    own_bounded : (M, 2) array of float
        The same of each model's score at `level`.
    """

    names: tuple
    score: np.ndarray
    own: np.ndarray
    pairs: np.ndarray
    difference: np.ndarray
    limits: np.ndarray
    pair_level: np.ndarray
    pvalue: np.ndarray
    adjusted: np.ndarray
    alone: np.ndarray
    naive: np.ndarray
    differ: np.ndarray
    size: int
    clusters: int
    worth: float
    unscored: int
    finished: bool
    bounds: tuple
    better: str
    adjust: str
    level: float
    cluster_word: str = "cluster"
    sizes: tuple = ()
    method: str = "default"
    bounded: np.ndarray | None = None
    own_bounded: np.ndarray | None = None

    @property
    def shown(self) -> np.ndarray:
        """Pairs (P,) bool of which the first model is shown to be better."""
        return self.adjusted < 1 - self.level

    @property
    def _beats(self) -> np.ndarray:
        beats = np.zeros((len(self.names),) * 2, bool)
        beats[tuple(self.pairs[self.shown].T)] = True
        return beats

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Longest runs of models, in the order of their scores, of which no two are shown to differ; they may overlap.

        Examples
        --------
        >>> scores = ItemScores([[1, 1, 0], [1, 0, 0]] * 20, ["A", "B", "C"], range(40))
        >>> compare_items(scores).groups
        (('A',), ('B',), ('C',))
        """
        differs, ends = self._beats | self._beats.T, [0]
        for first in range(len(self.names)):
            end = ends[-1]
            while end < len(self.names) and not differs[first:end, end].any():
                end += 1
            ends.append(end)
        return tuple(
            self.names[first:end]
            for first, (before, end) in enumerate(itertools.pairwise(ends))
            if end > before
        )

    def models(self) -> list[dict]:
        """Return a row per model, the best first: its score and limits, by itself at `level`."""
        bounded = self.own if self.own_bounded is None else self.own_bounded
        return [
            {
                "model": model,
                "score": score,
                "low": low,
                "high": high,
                "bounded_low": least,
                "bounded_high": most,
            }
            for model, score, (low, high), (least, most) in zip(
                self.names, self.score.tolist(), self.own.tolist(), bounded.tolist(), strict=True
            )
        ]

    def ranks(self) -> list[dict]:
        """Return a row per model: the ranks that it may have, all models' at once at `level`, and its tie groups.

        From 1 more than are shown to be better than it to as many as there are less those shown to be worse.
        """
        beats, groups = self._beats, self.groups
        return [
            {
                **row,
                "best_rank": 1 + int(beats[:, k].sum()),
                "worst_rank": len(self.names) - int(beats[k].sum()),
                "groups": " ".join(
                    str(g) for g, group in enumerate(groups, 1) if row["model"] in group
                ),
            }
            for k, row in enumerate(self.models())
        ]

    def rows(self) -> list[dict]:
        """Return a row per pair, in the order of the adjusted p-values and of the differences.

        `low` and `high` stand at `pair_level`; they leave out 0 just where `adjusted_pvalue` is below 1 - level.
        `bounded_low` and `bounded_high` are the bounded limits.
        """
        bounded = self.limits if self.bounded is None else self.bounded
        rows = [
            {
                "first": self.names[a],
                "second": self.names[b],
                "difference": difference,
                "low": low,
                "high": high,
                "pvalue": p,
                "adjusted_pvalue": adjusted,
                "differ": differ,
                "verdict": "better" if shown else "not shown",
                "bounded_low": least,
                "bounded_high": most,
            }
            for (a, b), difference, (low, high), p, adjusted, differ, shown, (least, most) in zip(
                self.pairs.tolist(),
                self.difference.tolist(),
                self.limits.tolist(),
                self.pvalue.tolist(),
                self.adjusted.tolist(),
                self.differ.tolist(),
                self.shown.tolist(),
                bounded.tolist(),
                strict=True,
            )
        ]
        return sorted(
            rows,
            key=lambda row: (
                row["adjusted_pvalue"],
                row["pvalue"],
                -round(abs(row["difference"]), 12),
                row["first"],
                row["second"],
            ),
        )

    def units(self, *differences: float, error: float) -> str:
        """Return differences as people read them: of scores from 0 to 1 in points.

        Parameters
        ----------
        *differences : float
        error : float
            Half-width of their interval.
        """
        if self.bounds == (0, 1):
            return f"{' to '.join(digits.points(*differences, error=error))} points"
        return " to ".join(digits.numbers(*differences, error=error))

    def finding(self) -> str:
        """Return whom the best model is shown to beat and by how much, in a sentence without jargon."""
        if len(self.names) == 1:
            return self._finding_of_one()
        leader = self._leader()
        others = np.flatnonzero((self.pairs == leader).any(1))
        opponent = np.where(
            self.pairs[others, 0] == leader, self.pairs[others, 1], self.pairs[others, 0]
        )
        beats = self.shown[others] & (self.pairs[others, 0] == leader)
        rest = [self.names[k] for k in opponent[~beats]]
        best = self.names[leader]
        if not self.difference[others].any():
            return f"Not shown which is best: all have the same score. {self.basis()}"
        if not beats.any():
            return (
                f"Not shown which is best: {best} has the best score, but is not shown to be better than "
                f"{checks.listed(rest, SHOWN)}. {self.basis()}"
            )
        ends = np.sort(np.abs(self.limits[others[beats]]), 1)
        by = self.units(ends[:, 0].min(), ends[:, 1].max(), error=float(np.ptp(ends, 1).min()) / 2)
        names = listed_and([self.names[k] for k in opponent[beats]])
        left = f"; {checks.listed(rest, SHOWN)}: not shown" if rest else ""
        return f"{best} is better than {names}, by {by}{left}. {self.basis()}"

    def _finding_of_one(self) -> str:
        ((low, high),) = self.own.tolist()
        error = (high - low) / 2
        write = digits.percents if self.bounds == (0, 1) else digits.numbers
        mean, low_text, high_text = write(float(self.score[0]), low, high, error=error)
        return (
            f"{self.names[0]} has a mean score of {mean}, between {low_text} and {high_text} "
            f"({percent(self.level)} interval). {self.basis()}"
        )

    def _leader(self) -> int:
        """Return the place of the first model that none is shown to beat."""
        beaten = self._beats.any(0)
        return int(np.argmin(beaten))

    def basis(self) -> str:
        """Return the number of items and clusters; of independent samples those of each model."""
        if not self.sizes:
            return items_in(self.size, self.clusters, self.cluster_word)
        sizes = [f"{size:,} of {name}" for size, name in zip(self.sizes, self.names, strict=True)]
        items = f"{self.size:,} items in independent samples: {checks.listed(sizes, SHOWN)}"
        clusters = items_in(self.size, self.clusters, self.cluster_word).partition(" in ")[2]
        return f"{items}; {clusters}" if self.clusters else items

    def headline(self) -> str:
        """Return the finding, the number of pairs that are shown to differ and how that was decided."""
        if len(self.names) == 1:
            return self.finding()
        said = (
            f"{int(self.shown.sum())} of {checks.counted(len(self.pairs), 'pair')} shown to differ"
        )
        return f"{self.finding()}; {said} at {percent(1 - self.level)} ({ADJUSTED[self.adjust]}){self._bounded_words()}"

    def _bounded_words(self) -> str:
        """Return both intervals of the main pair in words that follow a sentence, "" where they read the same."""
        if self.bounded is None:
            return ""
        main = main_pair(self.shown)
        first, second = (self.names[k] for k in self.pairs[main])
        ends = *self.limits[main].tolist(), *self.bounded[main].tolist()
        texts = digits.numbers(*ends, error=(ends[3] - ends[2]) / 2)
        bounded = bounded_words(texts[:2], texts[2:])
        return f"; {first} less {second} {texts[0]} to {texts[1]}{bounded}" if bounded else ""

    def cost_of_clusters(self) -> float:
        """Return how many times as wide intervals are as if items were independent, the median; 1 without clusters."""
        return (
            float(np.median(np.ptp(self.alone, 1) / np.ptp(self.naive, 1)))
            if len(self.pairs)
            else np.nan
        )

    def conditions(self) -> list[dict]:
        """Return a row per condition of trust: the question and its answer, whichever it is."""
        several = len(self.names) > 1
        answers = {
            "same items for all models": "no, independent samples"
            if self.sizes
            else f"yes, {self.size:,}",
            "compared item by item": "no, each model has items of its own" if self.sizes else "yes",
            "every score known": self._scored(),
            "every run finished": "yes, as its log says" if self.finished else "not told",
            "clusters": self._clusters(),
            "enough clusters": self._enough_clusters(),
            "adjusted for the number of pairs": f"yes, {len(self.pairs):,}"
            if self.adjust == "holm"
            else "no",
        }
        of_pairs = (
            "same items for all models",
            "compared item by item",
            "adjusted for the number of pairs",
        )
        return [
            {"setting": setting, "value": value}
            for setting, value in answers.items()
            if several or setting not in of_pairs
        ]

    def _scored(self) -> str:
        if not self.unscored:
            return "yes"
        asked = self.size if self.sizes else self.size * len(self.names)
        return f"no, {self.unscored:,} of {asked:,} are missing; limits hold whatever they are"

    def _clusters(self) -> str:
        if not self.clusters:
            return "none named: right only if no items belong together"
        if not len(self.pairs):
            return f"yes, {self.basis()}"
        cost = self.cost_of_clusters()
        return f"yes, {self.basis()}: intervals are {cost:.2g} times as wide as if items were independent"

    def _enough_clusters(self) -> str:
        if not self.clusters:
            return "does not apply"
        return f"{'yes' if self.worth >= FEW_CLUSTERS else 'no'}: they are worth {self.worth:.3g} of equal size"

    def detectable(self, power: float = POWER) -> float:
        """Return the difference that as many items of the kind would show in a share `power` of samples.

        Of a pair by itself, by the median width of its interval: half of it times 1 + z(power) / z(level). NaN for one
        model.

        Parameters
        ----------
        power : float
        """
        times = 1 + scipy.special.ndtri(
            checks.number("power", power, 0.5, 1, open_ends=True)
        ) / intervals.quantile(self.level)
        return float(np.median(np.ptp(self.alone, 1)) / 2 * times) if len(self.pairs) else np.nan


ADJUSTED = {"holm": "Holm-adjusted", "none": "not adjusted for their number"}


def listed_and(names: Sequence[str]) -> str:
    """Return names in a sentence.

    Examples
    --------
    >>> listed_and(["A"]), listed_and(["A", "B", "C"])
    ('A', 'A, B and C')
    """
    if len(names) == 1 or len(names) > SHOWN:
        return checks.listed(names, SHOWN)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def compare_items(
    scores: ItemScores, *, level: float = 0.95, adjust: str = "holm", method: str = "default"
) -> ItemComparison:
    """Compare every pair of models on the items that they share, or on independent samples.

    Parameters
    ----------
    scores : ItemScores
    level : float
        Of all verdicts and rank sets together; of a pair alone with `adjust="none"`.
    adjust : {"holm", "none"}
    method : {"default", "bounded", "t"}
        "bounded" holds also where scores, or clusters, exist that are unlike those in the sample. "default" is shorter
        where the sample shows where they end. "t" is Student's t, as other tools give it.

    Returns
    -------
    ItemComparison

    Notes
    -----
    Items without a cluster: the interval of one stratum (`workbench.value_interval`) of the items' differences, for an
    infinite population. Clusters: `workbench.replication.bounded_intervals`. p-values invert these intervals, and are
    adjusted by Holm's rule [1]_.
    Missing scores: estimates come from the items that both models of a pair have; limits hold for these items and for
    all items, whatever the missing scores are. Independent samples: `workbench.extras.compare.independent`. One model: its
    mean and limits, no pairs.

    References
    ----------
    .. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> scores = ItemScores([[1, 0]] * 9 + [[0, 1]] + [[1, 1]] * 40, ["A", "B"], range(50))
    >>> print(compare_items(scores).finding())
    A is better than B, by 2 to 30 points. 50 items
    """
    scores, level = checks.instance("scores", scores, ItemScores), checks.level(level)
    checks.choice("adjust", adjust, ADJUSTMENTS)
    checks.choice("method", method, METHODS)
    refuse_unshared(scores)
    order, means, own, own_bounded = ordered(scores, level, method)
    places = oriented(scores, order)
    pairs = order[places]
    if not len(pairs):
        return _of_one(scores, means, own, own_bounded, level, adjust, method)
    found = list(paired(scores, pairs, scores.cluster, method))
    pvalue = np.concatenate([each.pvalues() for each in found])
    adjusted, pair_level = adjustment(pvalue, level, adjust)
    adjusted, limits = consistent(adjusted, pair_limits(found, pair_level), level)
    alone = pair_limits(found, np.full(pvalue.size, level))
    naive = (
        alone
        if scores.cluster is None
        else pair_limits(list(paired(scores, pairs, None, method)), np.full(pvalue.size, level))
    )
    bounded = pair_limits([by_method(each, "bounded") for each in found], pair_level)
    first, second = scores.score.T[pairs.T]
    differ = (np.abs(first - second) > 0).sum(1)
    sizes = tuple(scores.sizes[k] for k in order) if scores.sizes else ()
    main = main_pair(adjusted < 1 - level)
    better, worse = (scores.models[k] for k in pairs[main])
    difference = f"the score of {better} less that of {worse}"
    of_main_pair = bounded_notes(limits[main].tolist(), bounded[main].tolist(), of=difference)
    return ItemComparison(
        tuple(scores.models[k] for k in order),
        means[order],
        own[order],
        places,
        np.concatenate([each.mean for each in found]),
        limits,
        pair_level,
        pvalue,
        adjusted,
        alone,
        naive,
        differ,
        len(scores.item),
        scores.clusters,
        min(each.worth for each in found) if scores.clusters else np.nan,
        scores.unscored,
        scores.finished,
        scores.bounds,
        scores.better,
        adjust,
        level,
        scores.cluster_word,
        sizes,
        method,
        bounded,
        own_bounded[order],
        notes=[
            *scores.notes,
            *unscored_notes(scores, order, level),
            *of_main_pair,
            *_notes(scores, found),
        ],
    )


def _of_one(
    scores: ItemScores,
    mean: np.ndarray,
    own: np.ndarray,
    own_bounded: np.ndarray,
    level: float,
    adjust: str,
    method: str,
) -> ItemComparison:
    """Return the mean and the limits of a single model."""
    found = _means(scores)
    nothing, no_limits = np.empty(0), np.empty((0, 2))
    return ItemComparison(
        scores.models,
        mean,
        own,
        np.empty((0, 2), int),
        nothing,
        no_limits,
        nothing,
        nothing,
        nothing,
        no_limits,
        no_limits,
        np.empty(0, int),
        len(scores.item),
        scores.clusters,
        min(each.worth for each in found) if scores.clusters else np.nan,
        scores.unscored,
        scores.finished,
        scores.bounds,
        scores.better,
        adjust,
        level,
        scores.cluster_word,
        method=method,
        bounded=no_limits,
        own_bounded=own_bounded,
        notes=[
            *scores.notes,
            *unscored_notes(scores, np.array([0]), level),
            *bounded_notes(own[0].tolist(), own_bounded[0].tolist()),
            *_notes(scores, found),
        ],
    )


def pair_interval(
    scores: ItemScores, first: str, second: str, *, level: float = 0.95, method: str = "default"
) -> Interval:
    """Return the interval of the score of one model less that of another, of this pair alone.

    Parameters
    ----------
    scores : ItemScores
    first, second : str
        Two of its models.
    level : float
    method : {"default", "bounded", "t"}
        As in `compare_items`.

    Examples
    --------
    >>> scores = ItemScores([[1, 0]] * 9 + [[0, 1]] + [[1, 1]] * 40, ["A", "B"], range(50))
    >>> pair_interval(scores, "B", "A")
    Interval(-0.3 to -0.01985, 0.95 default)
    """
    scores, places = checks.instance("scores", scores, ItemScores), []
    for name, model in (("first", first), ("second", second)):
        if model not in scores.models:
            raise checks.WrongValue(
                name,
                f"must be one of {checks.listed(scores.models, quoted=True)}",
                model,
                told=f"got {model!r}{checks.suggestion(model, scores.models)}",
            )
        places.append(scores.models.index(model))
    if places[0] == places[1]:
        raise checks.WrongValue("second", "must be another model than the first", second)
    refuse_unshared(scores)
    checks.choice("method", method, METHODS)
    found = list(paired(scores, np.array([places]), scores.cluster, method))
    levels = np.array([checks.level(level)])
    ((low, high),) = pair_limits(found, levels).tolist()
    (bounded,) = pair_limits([by_method(each, "bounded") for each in found], levels).tolist()
    notes = [
        *bounded_notes((low, high), bounded),
        *unscored_notes(scores, np.array(places), level),
        *_notes(scores, found),
    ]
    return Interval(
        low,
        high,
        level,
        f"{method}: clusters" if scores.clusters else method,
        bounded=tuple(bounded) if bounded != [low, high] else None,
        notes=notes,
    )


def main_pair(shown: np.ndarray) -> int:
    """Return the place of the first pair that is shown to differ, or else of the first pair.

    Parameters
    ----------
    shown : (P,) array of bool
    """
    return int(np.argmax(shown))


def by_method(found: Evidence | Unpaired, method: str) -> Evidence | Unpaired:
    """Return the same evidence with limits and p-values by another method.

    Parameters
    ----------
    found : Evidence or Unpaired
    method : {"default", "bounded", "t"}
    """
    if isinstance(found, Unpaired):
        return Unpaired(replace(found.first, method=method), replace(found.second, method=method))
    return replace(found, method=method)


def paired(
    scores: ItemScores, pairs: np.ndarray, cluster: np.ndarray | None, method: str = "default"
) -> Iterator[Evidence | Unpaired]:
    """Yield what the items tell of the differences of pairs of models.

    Parameters
    ----------
    scores : ItemScores
    pairs : (P, 2) array of int
        Indices of models.
    cluster : (N,) array or None
    method : {"default", "bounded", "t"}
    """
    if scores.sample is not None:
        yield by_method(unpaired(scores, pairs, cluster), method)
        return
    low, high = scores.filled
    reach = scores.bounds[1] - scores.bounds[0]

    def columns(part: slice) -> tuple[np.ndarray, np.ndarray]:
        first, second = pairs[part].T
        return low[:, first] - high[:, second], high[:, first] - low[:, second]

    for found in evidence(columns, (len(low), len(pairs)), cluster, (-reach, reach)):
        yield by_method(found, method)


def ordered(
    scores: ItemScores, level: float, method: str = "default"
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the order of the models, the best first, and of each model its mean, limits and bounded limits.

    Means are those of the items that all models have, if these are 2 or more, else of each model's own. The order is
    that of the mean differences to the other models, each on the items that both have.

    Parameters
    ----------
    scores : ItemScores
    level : float
    method : {"default", "bounded", "t"}
    """
    found = _means(scores)
    mean = np.concatenate([each.mean for each in found])
    sign = 1 if scores.better == "lower" else -1
    gaps = scores.sample is None and scores.unscored
    merit = shared_differences(scores).mean(1) if gaps and len(scores.models) > 1 else mean
    order = sorted(
        range(mean.size), key=lambda k: (sign * round(float(merit[k]), 12), scores.models[k])
    )
    own, bounded = (_own_limits(scores, found, level, name) for name in (method, "bounded"))
    return np.array(order), mean, own, bounded


def _own_limits(
    scores: ItemScores, found: Sequence[Evidence], level: float, method: str
) -> np.ndarray:
    """Return the limits (M, 2) of each model's mean."""
    limits = pair_limits(
        [by_method(each, method) for each in found], np.full(len(scores.models), level)
    )
    return np.array([_at_a_bound(scores, model, ends, level) for model, ends in enumerate(limits)])


def _at_a_bound(scores: ItemScores, model: int, ends: np.ndarray, level: float) -> np.ndarray:
    """Return the limits of a mean, exact where all scores are the least or the largest that there can be.

    If all of n clusters score 0, a mean of p has the probability of at most (1 - p)^n: the upper limit of Clopper and
    Pearson. Clusters of unequal sizes count as the equally large ones that they are worth.
    """
    own = scores.score[scores.wanted[:, model], model]
    bound = next((side for side in (0, 1) if (own == scores.bounds[side]).all()), None)
    if bound is None:
        return ends
    if scores.cluster is None:
        units = float(own.size)
    else:
        sizes = np.unique(scores.cluster[scores.wanted[:, model]], return_counts=True)[1]
        units = float(sizes.sum() ** 2 / (sizes**2).sum())
    low, high = scores.bounds
    reach = (high - low) * (1 - ((1 - level) / 2) ** (1 / units))
    if bound == 0:
        return np.array([low, min(ends[1], low + reach)])
    return np.array([max(ends[0], high - reach), high])


def _means(scores: ItemScores) -> list[Evidence]:
    """Return what the items tell of the models' means."""
    if scores.sample is not None:
        return [together(sample_evidence(scores, scores.cluster))]
    low, high = scores.filled
    complete = ~np.isnan(scores.score).any(1)
    return list(
        evidence(
            lambda part: (low[:, part], high[:, part]),
            low.shape,
            scores.cluster,
            scores.bounds,
            complete if _units(scores, complete) >= LEAST else None,
        )
    )


def shared_differences(scores: ItemScores) -> np.ndarray:
    """Return the differences (M, M) of the mean scores of two models, on the items that both have.

    Parameters
    ----------
    scores : ItemScores
    """
    scored = (~np.isnan(scores.score)).astype(float)
    sums = np.nan_to_num(scores.score).T @ scored
    return (sums - sums.T) / (scored.T @ scored)


def oriented(scores: ItemScores, order: np.ndarray) -> np.ndarray:
    """Return all pairs (P, 2) of places in an order, first the model that is better on the items that both have.

    Parameters
    ----------
    scores : ItemScores
    order : (M,) array of int
        The best model first.
    """
    places = np.array(list(itertools.combinations(range(order.size), 2)), int).reshape(-1, 2)
    if scores.sample is not None or not scores.unscored:
        return places
    sign = -1 if scores.better == "lower" else 1
    first, second = order[places].T
    worse = sign * shared_differences(scores)[first, second] < -ROUND
    return np.where(worse[:, None], places[:, ::-1], places)


def _units(scores: ItemScores, rows: np.ndarray) -> int:
    """Return how many items, or clusters, some items are."""
    return int(rows.sum()) if scores.cluster is None else int(np.unique(scores.cluster[rows]).size)


def unshared_pair(scores: ItemScores) -> tuple[int, int, int] | None:
    """Return the first two models that share fewer than two scored items or clusters, and how many these are.

    Parameters
    ----------
    scores : ItemScores
        Of one model: that model twice.
    """
    scored = ~np.isnan(scores.score)
    if scored.all():
        return None
    models = range(len(scores.models))
    pairs = (
        list(itertools.combinations_with_replacement(models, 2))
        if scores.sample is None
        else [(k, k) for k in models]
    )
    return next(
        (
            (a, b, units)
            for a, b in pairs
            if (units := _units(scores, scored[:, a] & scored[:, b])) < LEAST
        ),
        None,
    )


def refuse_unshared(scores: ItemScores) -> None:
    """Raise where two models share too few scored items to be compared.

    Parameters
    ----------
    scores : ItemScores
    """
    pair = unshared_pair(scores)
    if pair is None:
        return
    first, second, units = pair
    one, who = (
        ("item" if scores.cluster is None else scores.cluster_word),
        repr(scores.models[first]),
    )
    if first != second:
        who = f"both {who} and {scores.models[second]!r}"
    raise checks.WrongValue(
        "model",
        "must name models that have scores of at least 2 of the same "
        f"{'items' if scores.cluster is None else 'clusters'}",
        told=f"{checks.counted(units, one)} {'has' if units == 1 else 'have'} a score by {who}",
    )


def pair_limits(found: Sequence[Evidence | Unpaired], levels: np.ndarray) -> np.ndarray:
    """Return limits (V, 2) of all columns, each at its own level.

    Parameters
    ----------
    found : list of Evidence
    levels : (V,) array
    """
    ends = np.cumsum([0, *(each.mean.size for each in found)])
    return np.concatenate(
        [
            np.stack(each.limits((1 - levels[a:b]) / 2), 1)
            for each, (a, b) in zip(found, itertools.pairwise(ends), strict=True)
        ]
    )


def unscored_notes(scores: ItemScores, order: np.ndarray, level: float) -> Iterator[Note]:
    """Yield the notes on missing scores, if there are any, with the limits of the best model and another.

    Parameters
    ----------
    scores : ItemScores
    order : (M,) array of int
        Models, the best first.
    level : float
    """
    if not scores.unscored:
        return
    best, asked = order[0], int(scores.wanted.sum())
    said = f"{checks.counted(scores.unscored, 'score')} of {asked:,} {'is' if scores.unscored == 1 else 'are'} missing"
    if len(order) == 1:
        other, items = best, "the items that have one"
        found: list[Evidence | Unpaired] = [*_means(scores)]
        what = f"the mean of {scores.models[best]}"
    else:
        gaps = np.isnan(scores.score).any(0)
        other = next((k for k in order[1:] if gaps[k] or gaps[best]), order[1])
        found = list(paired(scores, np.array([[best, other]]), scores.cluster))
        items = (
            "each model's scored items"
            if scores.sizes
            else "the items that both models of a pair have"
        )
        what = f"{scores.models[best]} less {scores.models[other]}"
    common = int((~np.isnan(scores.score[:, [best, other]])).all(1).sum())
    of = "" if scores.sizes else f", on {checks.counted(common, 'item')},"
    yield Note(
        "data",
        f"{said}: the order and the estimates come from {items}, and limits and verdicts hold for these "
        f"and for all, whatever the missing scores are. {what}{of} is {_beside(found[0], level)}",
    )


def _beside(found: Evidence | Unpaired, level: float) -> str:
    """Return the estimate and its limits, and the limits with the worst and the best for the missing scores."""
    tail = (1 - level) / 2
    low, high, least, most = (
        float(end[0]) for end in (*found.known_limits(tail), *found.worst_limits(tail))
    )
    estimate, *ends = digits.numbers(
        float(found.mean[0]), low, high, least, most, error=(high - low) / 2
    )
    return (
        f"{estimate} ({ends[0]} to {ends[1]}, by itself at {percent(level)}); with the worst and the best for the "
        f"missing scores it is between {ends[2]} and {ends[3]}"
    )


def _notes(scores: ItemScores, found: Sequence[Evidence | Unpaired]) -> Iterator[Note]:
    if scores.cluster is None:
        yield Note(
            "assumption",
            "items count as independent of each other: where some belong together, as questions "
            "on one document do, name their cluster, or the intervals are too short",
        )
        return
    worth, carriers = (min(getattr(each, name) for each in found) for name in ("worth", "carriers"))
    if worth < FEW_CLUSTERS:
        yield Note(
            "unreliable",
            f"few clusters, worth {worth:.3g} of equal size: one unlike them may be unseen",
        )
    elif carriers < FEW_CARRIERS and len(scores.models) > 1:
        yield Note(
            "remark",
            f"for some pairs fewer than {FEW_CARRIERS} clusters differ, or the differences are small "
            "against the known bounds: a cluster that differs more may exist",
        )
