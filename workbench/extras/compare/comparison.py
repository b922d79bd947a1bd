"""Comparison of several models on the same items: differences of all pairs, ranks and ties.

References
----------
.. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
   Statistics 6, 1979.
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
LEAST, ROUND = 2, 1e-12  # fewest scored items that two models share; rounding error of a difference
SHOWN = 6
FEW_CLUSTERS, FEW_CARRIERS = 5, 3
POWER = 0.8


class ItemComparison(Result):
    """Differences of all pairs of models on the same items, and the possible ranks of the models.

    `compare_items` returns it. Print it for the finding; `rows`, `ranks` and `models` return its
    tables.

    Attributes
    ----------
    names : tuple of str
        The M models, the best first. Where scores are missing, models are ordered by their mean
        difference to the other models, each on the items that both have.
    score : (M,) array of float
        Mean score of each model, on the items that all models have.
    own : (M, 2) array of float
        Interval of each score, for each model by itself at `level`.
    pairs : (P, 2) array of int
        Positions of the two models of each pair. The first has the better mean on the items that
        both have. Empty for one model.
    difference : (P,) array of float
        Score of the first model minus that of the second, on the items that both have.
    limits : (P, 2) array of float
        Interval of each difference at the pair's own level. Where scores are missing, it is valid
        for the items that both have and for all items, whatever the missing scores are.
    pair_level : (P,) array of float
        Level of each pair's interval by Holm's rule, see Notes; `level` where nothing is adjusted.
    pvalue, adjusted : (P,) array of float
        p-value of each pair, and its adjusted p-value. The interval at level 1 - p just excludes 0.
    alone, naive : (P, 2) array of float
        Interval of each pair by itself at `level`, and the same as if items were independent.
    differ : (P,) array of int
        Items that the two models score differently; 0 for independent samples.
    size : int
        Number of items.
    clusters : int
        Number of clusters; 0 if items are independent.
    worth : float
        Effective number of clusters: how many equally large clusters carry as much information. NaN
        if items are independent.
    unscored : int
        Number of missing scores.
    finished : bool
        Whether the logs report that every run finished.
    bounds : (float, float)
        Smallest and largest possible score.
    better : {"higher", "lower"}
        Which scores are better.
    adjust : {"holm", "none"}
        Adjustment for the number of pairs.
    level : float
        Confidence level, of all pairs together if they are adjusted.
    cluster_word : str
        Word for a cluster, such as "document".
    sizes : tuple of int
        Items of each model if the samples are independent; () if all models have the same items.
    method : {"default", "bounded", "t"}
        Method of the intervals.
    bounded : (P, 2) array of float
        Interval of each difference that is also valid if the population holds scores or clusters
        unlike those in the sample.
    own_bounded : (M, 2) array of float
        The same for the score of each model, at `level`.

    See Also
    --------
    compare_items : Compare models on the same items.
    compare_slices : Compare models in slices of the items.
    gate : Test a condition on two models.

    Notes
    -----
    Holm's rule sorts the P pairs by their p-values. The pair with the k-th smallest p-value has the
    level 1 - (1 - level) / (P + 1 - k). The first pair that is not shown to differ, and all pairs
    after it, have the level of that first pair.
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
        """Return whether the first model of each pair is shown to be better, (P,) bool."""
        return self.adjusted < 1 - self.level

    @property
    def _beats(self) -> np.ndarray:
        beats = np.zeros((len(self.names),) * 2, bool)
        beats[tuple(self.pairs[self.shown].T)] = True
        return beats

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the tie groups: runs of models of which no two are shown to differ.

        The models are in the order of their scores.

        Each group is as long as possible. Groups may overlap.

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
        """Return a row per model, the best first, with its score and its interval at `level`."""
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
        """Return a row per model with its possible ranks and its tie groups.

        The ranks of all models are valid together at `level`. The best possible rank is 1 plus the
        number of models shown to be better. The worst possible rank is the number of models minus
        those shown to be worse.
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
        """Return a row per pair, in the order of the adjusted p-values and the differences.

        The level of `low` and `high` is the pair's own. They exclude 0 just where `adjusted_pvalue`
        is below 1 - level. `bounded_low` and `bounded_high` are the limits of the bounded interval.
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
        """Return differences as text, in percentage points for scores from 0 to 1.

        Parameters
        ----------
        *differences : float
            Differences of scores.
        error : float
            Half-width of their interval, which sets the number of digits.
        """
        if self.bounds == (0, 1):
            return f"{' to '.join(digits.points(*differences, error=error))} percentage points"
        return " to ".join(digits.numbers(*differences, error=error))

    def finding(self) -> str:
        """Return in a sentence which models the best one is shown to beat, and by how much."""
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
            return f"No model is shown to be the best: all have the same score ({self.basis()})"
        if not beats.any():
            return (
                f"No model is shown to be the best: {best} has the best score, but is not shown "
                f"to be better than {checks.listed(rest, SHOWN)} ({self.basis()})"
            )
        ends = np.sort(np.abs(self.limits[others[beats]]), 1)
        worse = [
            f"{self.names[k]} by {self.units(*limits, error=float(np.ptp(limits)) / 2)}"
            for k, limits in zip(opponent[beats], ends, strict=True)
        ]
        left = f", and not shown to be better than {checks.listed(rest, SHOWN)}" if rest else ""
        return f"{best} is better than {listed_and(worse)}{left} ({self.basis()})"

    def _finding_of_one(self) -> str:
        ((low, high),) = self.own.tolist()
        error = (high - low) / 2
        write = digits.percents if self.bounds == (0, 1) else digits.numbers
        mean, low_text, high_text = write(float(self.score[0]), low, high, error=error)
        return (
            f"{self.names[0]} has a mean score of {mean}, {percent(self.level)} confidence "
            f"interval {low_text} to {high_text} ({self.basis()})"
        )

    def _leader(self) -> int:
        """Return the position of the first model that no other model is shown to beat."""
        beaten = self._beats.any(0)
        return int(np.argmin(beaten))

    def basis(self) -> str:
        """Return the number of items, of clusters, and of the items of independent samples."""
        if not self.sizes:
            return items_in(self.size, self.clusters, self.cluster_word)
        sizes = [f"{size:,} of {name}" for size, name in zip(self.sizes, self.names, strict=True)]
        items = f"{self.size:,} items in independent samples: {checks.listed(sizes, SHOWN)}"
        clusters = items_in(self.size, self.clusters, self.cluster_word).partition(" in ")[2]
        return f"{items}; {clusters}" if self.clusters else items

    def headline(self) -> str:
        """Return the finding, the number of pairs shown to differ, and the adjustment."""
        if len(self.names) == 1:
            return self.finding()
        verb = "is" if len(self.pairs) == 1 else "are"
        pairs = f"{int(self.shown.sum())} of {checks.counted(len(self.pairs), 'pair')} {verb}"
        return (
            f"{self.finding()}; {pairs} shown to differ at the {percent(1 - self.level)} level "
            f"({ADJUSTED[self.adjust]}){self._bounded_words()}"
        )

    def _bounded_words(self) -> str:
        """Return both intervals of the main pair as text to append, "" if they are equal."""
        if self.bounded is None:
            return ""
        main = main_pair(self.shown)
        first, second = (self.names[k] for k in self.pairs[main])
        ends = *self.limits[main].tolist(), *self.bounded[main].tolist()
        texts = digits.numbers(*ends, error=(ends[3] - ends[2]) / 2)
        bounded = bounded_words(texts[:2], texts[2:])
        return f"; {first} minus {second}: {texts[0]} to {texts[1]}{bounded}" if bounded else ""

    def cost_of_clusters(self) -> float:
        """Return the factor by which clusters widen the intervals, the median over pairs.

        It is 1 without clusters, and NaN for one model.
        """
        return (
            float(np.median(np.ptp(self.alone, 1) / np.ptp(self.naive, 1)))
            if len(self.pairs)
            else np.nan
        )

    def conditions(self) -> list[dict]:
        """Return a row per condition of a valid comparison, each with its answer."""
        several = len(self.names) > 1
        answers = {
            "same items for all models": "no, independent samples"
            if self.sizes
            else f"yes, {self.size:,}",
            "compared item by item": "no, each model has items of its own" if self.sizes else "yes",
            "every score known": self._scored(),
            "every run finished": "yes, according to the logs" if self.finished else "unknown",
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
        missing = f"{self.unscored:,} of {asked:,} are missing"
        return f"no, {missing}; the limits are valid whatever they are"

    def _clusters(self) -> str:
        if not self.clusters:
            return "none given: valid only if items are independent of each other"
        if not len(self.pairs):
            return f"yes, {self.basis()}"
        cost = self.cost_of_clusters()
        return (
            f"yes, {self.basis()}: intervals are {cost:.2g} times as wide as for independent items"
        )

    def _enough_clusters(self) -> str:
        if not self.clusters:
            return "does not apply"
        answer = "yes" if self.worth >= FEW_CLUSTERS else "no"
        return f"{answer}, the effective number of clusters is {self.worth:.3g}"

    def detectable(self, power: float = POWER) -> float:
        """Return the difference that as many items would show with probability `power`.

        It is valid for a single pair. NaN for one model.

        Parameters
        ----------
        power : float, default 0.8
            Probability that the interval excludes 0, from 0.5 to below 1.

        Notes
        -----
        The difference is half the median width of the pairs' intervals, times 1 + z(power) /
        z(level).
        """
        times = 1 + scipy.special.ndtri(
            checks.number("power", power, 0.5, 1, open_ends=True)
        ) / intervals.quantile(self.level)
        return float(np.median(np.ptp(self.alone, 1)) / 2 * times) if len(self.pairs) else np.nan


ADJUSTED = {"holm": "Holm-adjusted", "none": "not adjusted for the number of pairs"}


def listed_and(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

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
    """Compare every pair of models on the items that both have, or on independent samples.

    Use it if every item has a score by each model, as in logs of evaluations. You get the
    difference of each pair with its interval and adjusted p-value, and the possible ranks of each
    model. For one model you get its mean score with its interval.

    Parameters
    ----------
    scores : ItemScores
        Scores of the items by each model; `read_item_scores` reads them from files.
    level : float, default 0.95
        Confidence level of all verdicts and ranks together, in (0, 1). With `adjust="none"` that of
        each pair alone.
    adjust : {"holm", "none"}, default "holm"
        Adjustment of the p-values and intervals for the number of pairs.
    method : {"default", "bounded", "t"}, default "default"
        "bounded" is also valid if the population holds scores or clusters unlike those in the
        sample. "default" is shorter where the sample shows the range of the scores. "t" is
        Student's t, as in other tools.

    Returns
    -------
    ItemComparison
        The pairs, the models and their ranks, with notes on missing scores and clusters.

    Raises
    ------
    ValueError
        If two models share scores of fewer than two items or clusters, or an option is invalid.

    See Also
    --------
    read_item_scores : Read the scores of models from logs and tables.
    compare_slices : Compare models in slices of the items.
    compare_metrics : Compare two models by metrics such as F1.

    Notes
    -----
    The interval of a difference depends on the sample:

    - For independent items it is the interval of `value_interval` for one stratum of an infinite
      population, computed from the differences of the items.
    - For clusters it is the interval of `workbench.replication.bounded_intervals`.
    - For independent samples it is the interval of `workbench.extras.compare.independent`.

    The p-values invert these intervals and are adjusted by Holm's rule [1]_. Where scores are
    missing, the estimate of a pair uses the items that both models have. The limits are valid for
    these items and for all items, whatever the missing scores are.

    References
    ----------
    .. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
       Statistics 6, 1979.

    Examples
    --------
    >>> scores = ItemScores([[1, 0]] * 9 + [[0, 1]] + [[1, 1]] * 40, ["A", "B"], range(50))
    >>> print(compare_items(scores).finding())
    A is better than B by 2 to 30 percentage points (50 items)
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
    difference = f"the score of {better} minus that of {worse}"
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
    """Return the comparison of a single model: its mean score with its interval."""
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
    """Estimate the interval of the difference between two models, for this pair alone.

    Use it if you planned to compare just these two models. The interval is not adjusted for other
    pairs.

    Parameters
    ----------
    scores : ItemScores
        Scores of the items by each model.
    first, second : str
        Names of two models. The difference is the score of the first minus that of the second.
    level : float, default 0.95
        Confidence level, in (0, 1).
    method : {"default", "bounded", "t"}, default "default"
        Method of the interval, as in `compare_items`.

    Returns
    -------
    Interval
        The limits, with the bounded limits if they differ.

    Raises
    ------
    ValueError
        If a name is not that of a model, both names are equal, or the models share too few scored
        items.

    See Also
    --------
    compare_items : Compare all pairs of models, adjusted for their number.
    gate : Test a condition on two models.

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
        raise checks.WrongValue("second", "must differ from the first model", second)
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
    """Return the position of the first pair shown to differ, or 0 if there is none.

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
    """Yield the evidence on the differences of pairs of models.

    Parameters
    ----------
    scores : ItemScores
    pairs : (P, 2) array of int
        Positions of models.
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
    """Return the order of the models, the best first, and the mean and intervals of each.

    The means use the items that all models have, if there are at least two. Otherwise each mean
    uses the model's own items. Models are ordered by their mean difference to the other models,
    each on the items that both have.

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
    """Return the limits (M, 2) of the mean of each model."""
    limits = pair_limits(
        [by_method(each, method) for each in found], np.full(len(scores.models), level)
    )
    return np.array([_at_a_bound(scores, model, ends, level) for model, ends in enumerate(limits)])


def _at_a_bound(scores: ItemScores, model: int, ends: np.ndarray, level: float) -> np.ndarray:
    """Return the limits of a mean, exact where all scores are the smallest or largest possible.

    If all of n clusters score 0, a mean of p has a probability of at most (1 - p)^n. This gives the
    upper limit of Clopper and Pearson. For clusters of unequal sizes, n is the effective number of
    clusters.
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
    """Return the evidence on the means of the models."""
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
    """Return the differences (M, M) of the mean scores of models, on the items that both have.

    Parameters
    ----------
    scores : ItemScores
    """
    scored = (~np.isnan(scores.score)).astype(float)
    sums = np.nan_to_num(scores.score).T @ scored
    return (sums - sums.T) / (scored.T @ scored)


def oriented(scores: ItemScores, order: np.ndarray) -> np.ndarray:
    """Return all pairs (P, 2) of positions in an order, the better model of each pair first.

    Models are compared on the items that both have.

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
    """Return the number of selected items, or of their clusters."""
    return int(rows.sum()) if scores.cluster is None else int(np.unique(scores.cluster[rows]).size)


def unshared_pair(scores: ItemScores) -> tuple[int, int, int] | None:
    """Return the first two models that share fewer than two scored items or clusters.

    Parameters
    ----------
    scores : ItemScores
        Scores of one or more models.

    Returns
    -------
    (int, int, int) or None
        The positions of both models, the same twice for a single model, and the number that they
        share.
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
    """Raise an error if two models share too few scored items to be compared.

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
        "must name models with scores for at least 2 of the same "
        f"{'items' if scores.cluster is None else 'clusters'}",
        told=f"{checks.counted(units, one)} {'has' if units == 1 else 'have'} a score by {who}",
    )


def pair_limits(found: Sequence[Evidence | Unpaired], levels: np.ndarray) -> np.ndarray:
    """Return the limits (V, 2) of all columns, each at its own level.

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
    """Yield the notes on missing scores, with the limits of the best model and another one.

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
    verb = "is" if scores.unscored == 1 else "are"
    said = f"{scores.unscored:,} of {checks.counted(asked, 'score')} {verb} missing"
    if len(order) == 1:
        other, items = best, "the items that have a score"
        found: list[Evidence | Unpaired] = [*_means(scores)]
        what = f"The mean of {scores.models[best]}"
    else:
        gaps = np.isnan(scores.score).any(0)
        other = next((k for k in order[1:] if gaps[k] or gaps[best]), order[1])
        found = list(paired(scores, np.array([[best, other]]), scores.cluster))
        items = (
            "each model's scored items"
            if scores.sizes
            else "the items that both models of a pair have"
        )
        what = f"{scores.models[best]} minus {scores.models[other]}"
    common = int((~np.isnan(scores.score[:, [best, other]])).all(1).sum())
    of = "" if scores.sizes else f" on {checks.counted(common, 'item')}"
    yield Note(
        "data",
        f"{said}. The order of the models and the estimates use {items}. Limits and verdicts are "
        f"valid for these items and for all items, whatever the missing scores are. {what}{of} is "
        f"{_beside(found[0], level)}",
    )


def _beside(found: Evidence | Unpaired, level: float) -> str:
    """Return an estimate with its limits, and those for the extreme missing scores."""
    tail = (1 - level) / 2
    low, high, least, most = (
        float(end[0]) for end in (*found.known_limits(tail), *found.worst_limits(tail))
    )
    estimate, *ends = digits.numbers(
        float(found.mean[0]), low, high, least, most, error=(high - low) / 2
    )
    return (
        f"{estimate} ({ends[0]} to {ends[1]}, by itself at {percent(level)}). With the worst and "
        f"best possible values for the missing scores, it is between {ends[2]} and {ends[3]}"
    )


def _notes(scores: ItemScores, found: Sequence[Evidence | Unpaired]) -> Iterator[Note]:
    if scores.cluster is None:
        yield Note(
            "assumption",
            "the items are treated as independent. If some belong together, such as questions on "
            "one document, name the column of documents as cluster; otherwise the intervals are too short",
        )
        return
    worth, carriers = (min(getattr(each, name) for each in found) for name in ("worth", "carriers"))
    if worth < FEW_CLUSTERS:
        yield Note(
            "unreliable",
            f"the effective number of clusters is only {worth:.3g}, so the sample may miss a kind "
            "of cluster and the intervals may be too short. Use more clusters",
        )
    elif carriers < FEW_CARRIERS and len(scores.models) > 1:
        yield Note(
            "remark",
            f"for some pairs, fewer than {FEW_CARRIERS} clusters differ, or the differences are "
            "small relative to the known bounds. Clusters that differ more may exist",
        )
