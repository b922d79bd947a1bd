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
from numpy import ndarray

from workbench import checks, intervals
from workbench.checks import WrongValue
from workbench.extras.compare.evidence import Evidence, evidence
from workbench.extras.compare.independent import Unpaired, sample_evidence, together, unpaired
from workbench.extras.compare.item_scores import ItemScores, items_in
from workbench.intervals.adjusted import ADJUSTMENTS, adjustment, consistent
from workbench.intervals.unseen import bounded_notes
from workbench.results import Interval, Note, Result, bounded_words, digits, percent, rows_of

Differences = Evidence | Unpaired
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
    score: ndarray
    own: ndarray
    pairs: ndarray
    difference: ndarray
    limits: ndarray
    pair_level: ndarray
    pvalue: ndarray
    adjusted: ndarray
    alone: ndarray
    naive: ndarray
    differ: ndarray
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
    bounded: ndarray | None = None
    own_bounded: ndarray | None = None

    @property
    def shown(self) -> ndarray:
        """Return whether the first model of each pair is shown to be better, (P,) bool."""
        return self.adjusted < 1 - self.level

    @property
    def _beats(self) -> ndarray:
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
        return rows_of(
            model=self.names,
            score=self.score,
            low=self.own[:, 0],
            high=self.own[:, 1],
            bounded_low=bounded[:, 0],
            bounded_high=bounded[:, 1],
        )

    def ranks(self) -> list[dict]:
        """Return a row per model with its possible ranks and its tie groups.

        The ranks of all models are valid together at `level`. The best possible rank is 1 plus the
        number of models shown to be better. The worst possible rank is the number of models minus
        those shown to be worse.
        """
        beats, tie_groups = self._beats, self.groups
        rows = self.models()
        for k, row in enumerate(rows):
            groups = [str(g) for g, names in enumerate(tie_groups, 1) if row["model"] in names]
            row["best_rank"] = 1 + int(beats[:, k].sum())
            row["worst_rank"] = len(rows) - int(beats[k].sum())
            row["groups"] = " ".join(groups)
        return rows

    def rows(self) -> list[dict]:
        """Return a row per pair, in the order of the adjusted p-values and the differences.

        The level of `low` and `high` is the pair's own. They exclude 0 just where `adjusted_pvalue`
        is below 1 - level. `bounded_low` and `bounded_high` are the limits of the bounded interval.
        """
        bounded = self.limits if self.bounded is None else self.bounded
        first, second = ([self.names[k] for k in side] for side in self.pairs.T)
        rows = rows_of(
            first=first,
            second=second,
            difference=self.difference,
            low=self.limits[:, 0],
            high=self.limits[:, 1],
            pvalue=self.pvalue,
            adjusted_pvalue=self.adjusted,
            differ=self.differ,
            verdict=np.where(self.shown, "better", "not shown"),
            bounded_low=bounded[:, 0],
            bounded_high=bounded[:, 1],
        )

        def position(row: dict) -> tuple:
            size = round(abs(row["difference"]), 12)
            return row["adjusted_pvalue"], row["pvalue"], -size, row["first"], row["second"]

        return sorted(rows, key=position)

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
        leader = int(
            np.argmin(self._beats.any(0))
        )  # the first model that no other is shown to beat
        best = self.names[leader]
        is_of_best = (self.pairs == leader).any(1)
        is_shown = self.shown & (self.pairs[:, 0] == leader)
        opponents = self.pairs.sum(1) - leader
        rest = [self.names[k] for k in opponents[is_of_best & ~is_shown]]
        if not self.difference[is_of_best].any():
            return f"No model is shown to be the best: all have the same score ({self.basis()})"
        if not is_shown.any():
            return (
                f"No model is shown to be the best: {best} has the best score, but is not shown "
                f"to be better than {checks.listed(rest, SHOWN)} ({self.basis()})"
            )
        ends = np.sort(np.abs(self.limits[is_shown]), 1)
        worse = [
            f"{self.names[k]} by {self.units(*limits, error=float(np.ptp(limits)) / 2)}"
            for k, limits in zip(opponents[is_shown], ends, strict=True)
        ]
        also = f", and not shown to be better than {checks.listed(rest, SHOWN)}" if rest else ""
        return f"{best} is better than {listed_and(worse)}{also} ({self.basis()})"

    def _finding_of_one(self) -> str:
        ((low, high),) = self.own.tolist()
        error = (high - low) / 2
        write = digits.percents if self.bounds == (0, 1) else digits.numbers
        mean, low_text, high_text = write(float(self.score[0]), low, high, error=error)
        return (
            f"{self.names[0]} has a mean score of {mean}, {percent(self.level)} confidence "
            f"interval {low_text} to {high_text} ({self.basis()})"
        )

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
        if not len(self.pairs):
            return np.nan
        return float(np.median(np.ptp(self.alone, 1) / np.ptp(self.naive, 1)))

    def conditions(self) -> list[dict]:
        """Return a row per condition of a valid comparison, each with its answer."""
        are_apart = bool(self.sizes)
        is_adjusted = self.adjust == "holm"
        answers = {
            "every score known": self._scored(),
            "every run finished": "yes, according to the logs" if self.finished else "unknown",
            "clusters": self._clusters(),
            "enough clusters": self._enough_clusters(),
        }
        if len(self.names) > 1:
            same = "no, independent samples" if are_apart else f"yes, {self.size:,}"
            paired = "no, each model has items of its own" if are_apart else "yes"
            number = f"yes, {len(self.pairs):,}" if is_adjusted else "no"
            answers = {
                "same items for all models": same,
                "compared item by item": paired,
                **answers,
                "adjusted for the number of pairs": number,
            }
        return [{"setting": setting, "value": value} for setting, value in answers.items()]

    def _scored(self) -> str:
        if not self.unscored:
            return "yes"
        scores = self.size if self.sizes else self.size * len(self.names)
        missing = f"{self.unscored:,} of {scores:,} are missing"
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
        power = checks.number("power", power, 0.5, 1, open_ends=True)
        if not len(self.pairs):
            return np.nan
        half_width = np.median(np.ptp(self.alone, 1)) / 2
        return float(half_width * (1 + scipy.special.ndtri(power) / intervals.quantile(self.level)))


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
    positions = oriented(scores, order)
    pairs = order[positions]
    samples = list(paired(scores, pairs, scores.cluster, method))
    pvalue, adjusted, pair_level, limits, bounded = adjusted_limits(samples, level, adjust)
    adjusted, limits = consistent(adjusted, limits, level)
    alone = naive = pair_limits(samples, np.full(pvalue.size, level))
    if scores.cluster is not None:
        unclustered = list(paired(scores, pairs, None, method))
        naive = pair_limits(unclustered, np.full(pvalue.size, level))
    first, second = scores.score.T[pairs.T]
    difference = means_of(samples)
    sizes: list[int] = []
    if len(pairs):
        main = main_pair(adjusted < 1 - level)
        better, worse = (scores.models[k] for k in pairs[main])
        title = f"the score of {better} minus that of {worse}"
        caveats = bounded_notes(limits[main].tolist(), bounded[main].tolist(), of=title)
        if scores.sizes:
            sizes = [scores.sizes[k] for k in order]
    else:
        samples = [*_means(scores)]
        caveats = bounded_notes(own[0].tolist(), own_bounded[0].tolist())
    notes = [*scores.notes, *unscored_notes(scores, order, level)]
    notes += [*caveats, *_notes(scores, samples)]
    return ItemComparison(
        tuple(scores.models[k] for k in order),
        means[order],
        own[order],
        positions,
        difference,
        limits,
        pair_level,
        pvalue,
        adjusted,
        alone,
        naive,
        (np.abs(first - second) > 0).sum(1),
        len(scores.item),
        scores.clusters,
        min(sample.worth for sample in samples) if scores.clusters else np.nan,
        scores.unscored,
        scores.finished,
        scores.bounds,
        scores.better,
        adjust,
        level,
        scores.cluster_word,
        tuple(sizes),
        method,
        bounded,
        own_bounded[order],
        notes=notes,
    )


def pair_interval(
    scores: ItemScores, first: str, second: str, *, level: float = 0.95, method: str = "default"
) -> Interval:
    """Estimate the interval of the difference between two models, not adjusted for other pairs.

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
    scores = checks.instance("scores", scores, ItemScores)
    for name, model in (("first", first), ("second", second)):
        if model not in scores.models:
            raise WrongValue(
                name,
                f"must be one of {checks.listed(scores.models, quoted=True)}",
                model,
                told=f"got {model!r}{checks.suggestion(model, scores.models)}",
            )
    if first == second:
        raise WrongValue("second", "must differ from the first model", second)
    refuse_unshared(scores)
    checks.choice("method", method, METHODS)
    pair = np.array([scores.models.index(first), scores.models.index(second)])
    samples = list(paired(scores, pair[None], scores.cluster, method))
    levels = np.array([checks.level(level)])
    ((low, high),) = pair_limits(samples, levels).tolist()
    (bounded,) = pair_limits([by_method(sample, "bounded") for sample in samples], levels).tolist()
    notes = [*bounded_notes((low, high), bounded), *unscored_notes(scores, pair, level)]
    notes += _notes(scores, samples)
    title = f"{method}: clusters" if scores.clusters else method
    other = tuple(bounded) if bounded != [low, high] else None
    return Interval(low, high, level, title, bounded=other, notes=notes)


def main_pair(is_shown: ndarray) -> int:
    """Return the position of the first pair shown to differ, or 0 if there is none.

    Parameters
    ----------
    is_shown : (P,) array of bool
    """
    return int(np.argmax(is_shown))


def by_method(sample: Differences, method: str) -> Differences:
    """Return the same evidence with limits and p-values by another method.

    Parameters
    ----------
    sample : Evidence or Unpaired
    method : {"default", "bounded", "t"}
    """
    if isinstance(sample, Unpaired):
        return Unpaired(replace(sample.first, method=method), replace(sample.second, method=method))
    return replace(sample, method=method)


def paired(
    scores: ItemScores, pairs: ndarray, cluster: ndarray | None, method: str = "default"
) -> Iterator[Differences]:
    """Yield the evidence on the differences of pairs of models.

    Parameters
    ----------
    scores : ItemScores
    pairs : (P, 2) array of int
        Positions of models.
    cluster : (N,) array or None
    method : {"default", "bounded", "t"}
    """
    if not len(pairs):
        return
    if scores.sample is not None:
        yield by_method(unpaired(scores, pairs, cluster), method)
        return
    low, high = scores.filled
    reach = scores.bounds[1] - scores.bounds[0]

    def columns(part: slice) -> tuple[ndarray, ndarray]:
        first, second = pairs[part].T
        return low[:, first] - high[:, second], high[:, first] - low[:, second]

    for sample in evidence(columns, (len(low), len(pairs)), cluster, (-reach, reach)):
        yield by_method(sample, method)


def ordered(scores: ItemScores, level: float, method: str = "default") -> tuple:
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
    samples = _means(scores)
    mean = merit = means_of(samples)
    sign = 1 if scores.better == "lower" else -1
    if scores.sample is None and scores.unscored and len(scores.models) > 1:
        merit = shared_differences(scores).mean(1)

    def position(k: int) -> tuple:
        return sign * round(float(merit[k]), 12), scores.models[k]

    levels = np.full(mean.size, level)
    own, bounded = (
        pair_limits([by_method(sample, name) for sample in samples], levels)
        for name in (method, "bounded")
    )
    for limits, model in itertools.product((own, bounded), range(mean.size)):
        limits[model] = _at_a_bound(scores, model, limits[model], level)
    return np.array(sorted(range(mean.size), key=position)), mean, own, bounded


def _at_a_bound(scores: ItemScores, model: int, ends: ndarray, level: float) -> ndarray:
    """Return the limits of a mean, exact where all scores are the smallest or largest possible.

    If all of n clusters score 0, a mean of p has a probability of at most (1 - p)^n. This gives the
    upper limit of Clopper and Pearson. For clusters of unequal sizes, n is the effective number of
    clusters.
    """
    rows = scores.wanted[:, model]
    own = scores.score[rows, model]
    low, high = scores.bounds
    are_low, are_high = (own == low).all(), (own == high).all()
    if not are_low and not are_high:
        return ends
    units = float(own.size)
    if scores.cluster is not None:
        sizes = np.unique(scores.cluster[rows], return_counts=True)[1]
        units = float(sizes.sum() ** 2 / (sizes**2).sum())
    reach = (high - low) * (1 - ((1 - level) / 2) ** (1 / units))
    if are_low:
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


def shared_differences(scores: ItemScores) -> ndarray:
    """Return the differences (M, M) of the mean scores of models, on the items that both have.

    Parameters
    ----------
    scores : ItemScores
    """
    scored = (~np.isnan(scores.score)).astype(float)
    sums = np.nan_to_num(scores.score).T @ scored
    return (sums - sums.T) / (scored.T @ scored)


def oriented(scores: ItemScores, order: ndarray) -> ndarray:
    """Return all pairs (P, 2) of positions in an order, the better model of each pair first.

    Models are compared on the items that both have.

    Parameters
    ----------
    scores : ItemScores
    order : (M,) array of int
        The best model first.
    """
    positions = np.array(list(itertools.combinations(range(order.size), 2)), int).reshape(-1, 2)
    if scores.sample is not None or not scores.unscored:
        return positions
    sign = -1 if scores.better == "lower" else 1
    first, second = order[positions].T
    is_worse = sign * shared_differences(scores)[first, second] < -ROUND
    return np.where(is_worse[:, None], positions[:, ::-1], positions)


def _units(scores: ItemScores, rows: ndarray) -> int:
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
    for a, b in itertools.combinations_with_replacement(models, 2):
        units = _units(scores, scored[:, a] & scored[:, b])
        if units < LEAST and (a == b or scores.sample is None):
            return a, b, units
    return None


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
    singular, plural = "item", "items"
    if scores.cluster is not None:
        singular, plural = scores.cluster_word, "clusters"
    models = repr(scores.models[first])
    if first != second:
        models = f"both {models} and {scores.models[second]!r}"
    verb = "has" if units == 1 else "have"
    raise WrongValue(
        "model",
        f"must name models with scores for at least 2 of the same {plural}",
        told=f"{checks.counted(units, singular)} {verb} a score by {models}",
    )


def pair_limits(samples: Sequence[Differences], levels: ndarray) -> ndarray:
    """Return the limits (V, 2) of all columns, each at its own level.

    Parameters
    ----------
    samples : list of Evidence
    levels : (V,) array
    """
    limits = [np.empty((0, 2))]
    start = 0
    for sample in samples:
        stop = start + sample.mean.size
        limits.append(np.stack(sample.limits((1 - levels[start:stop]) / 2), 1))
        start = stop
    return np.concatenate(limits)


def means_of(samples: Sequence[Differences]) -> ndarray:
    """Return the means (V,) of all columns.

    Parameters
    ----------
    samples : list of Evidence
    """
    return np.concatenate([np.empty(0), *(sample.mean for sample in samples)])


def adjusted_limits(samples: Sequence[Differences], level: float, adjust: str) -> tuple:
    """Return p-values, adjusted p-values, levels, limits and bounded limits of all columns.

    Parameters
    ----------
    samples : list of Evidence
    level : float
    adjust : {"holm", "none"}
    """
    pvalue = np.concatenate([np.empty(0), *(sample.pvalues() for sample in samples)])
    adjusted, levels = adjustment(pvalue, level, adjust)
    bounded = pair_limits([by_method(sample, "bounded") for sample in samples], levels)
    return pvalue, adjusted, levels, pair_limits(samples, levels), bounded


def unscored_notes(scores: ItemScores, order: ndarray, level: float) -> Iterator[Note]:
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
    best = other = order[0]
    verb = "is" if scores.unscored == 1 else "are"
    count = checks.counted(int(scores.wanted.sum()), "score")
    items = "the items that have a score"
    title = f"The mean of {scores.models[best]}"
    samples: list[Differences] = []
    if len(order) == 1:
        samples += _means(scores)
    else:
        gaps = np.isnan(scores.score).any(0)
        other = next((k for k in order[1:] if gaps[k] or gaps[best]), order[1])
        samples += paired(scores, np.array([[best, other]]), scores.cluster)
        title = f"{scores.models[best]} minus {scores.models[other]}"
        items = "the items that both models of a pair have"
        if scores.sizes:
            items = "each model's scored items"
    if not scores.sizes:
        common = (~np.isnan(scores.score[:, [best, other]])).all(1).sum()
        title += f" on {checks.counted(int(common), 'item')}"
    yield Note(
        "data",
        f"{scores.unscored:,} of {count} {verb} missing. The order of the models and the estimates "
        f"use {items}. Limits and verdicts are valid for these items and for all items, whatever "
        f"the missing scores are. {title} is {_beside(samples[0], level)}",
    )


def _beside(sample: Differences, level: float) -> str:
    """Return an estimate with its limits, and those for the extreme missing scores."""
    tail = (1 - level) / 2
    limits = (*sample.scored_limits(tail), *sample.worst_limits(tail))
    low, high, least, most = (float(end[0]) for end in limits)
    estimate, *ends = digits.numbers(
        float(sample.mean[0]), low, high, least, most, error=(high - low) / 2
    )
    return (
        f"{estimate} ({ends[0]} to {ends[1]}, by itself at {percent(level)}). With the worst and "
        f"best possible values for the missing scores, it is between {ends[2]} and {ends[3]}"
    )


def _notes(scores: ItemScores, samples: Sequence[Differences]) -> Iterator[Note]:
    if scores.cluster is None:
        yield Note(
            "assumption",
            "the items are treated as independent. If some belong together, such as questions on "
            "one document, name the column of documents as cluster; otherwise the intervals are "
            "too short",
        )
        return
    worth = min(sample.worth for sample in samples)
    carriers = min(sample.carriers for sample in samples)
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
