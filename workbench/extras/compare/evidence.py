"""Limits at any level, and p-values, for means of bounded values of items.

The p-values invert the limits. Independent items have the intervals of `workbench.intervals.values`
for one stratum of an infinite population. Clusters have the interval of
`workbench.replication.bounded_intervals`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy
from numpy import ndarray

from workbench.intervals import wilson
from workbench.intervals.limits import crossing_tail, one_more, three_moment_quantile
from workbench.intervals.unseen import one_more_value
from workbench.replication.bounded_intervals import Clusters, Sample, clusters
from workbench.replication.designs import SurveyDesign
from workbench.replication.replicates import replicates

BLOCK = 2**21  # numbers that are processed at once
Bounds = tuple[float, float]
Tail = float | ndarray
Limits = tuple[ndarray, ndarray]


@dataclass(frozen=True)
class Independent:
    """Moments (V,) of columns of n values of independent items."""

    n: Any
    mean: ndarray
    second: ndarray
    third: ndarray
    unseen: ndarray
    bounds: Bounds

    @property
    def standard_error(self) -> ndarray:
        """Return the standard error of the mean, (V,)."""
        return np.sqrt(self.second / (self.n - 1))

    @property
    def design_df(self) -> Any:
        """Return the degrees of freedom: the number of items minus 1."""
        return self.n - 1

    def moments(self, side: int, tail: Tail, bounded: bool = False) -> tuple:
        """Return mean, variance and third moment of the beta distribution of a limit.

        They are those of `workbench.intervals.limits.limit_of_moments` for one stratum, in the same
        form as those of `Clusters`. One more item is added to the sample. In the bounded interval
        its value is the bound, in the default interval it is `unseen`, (2, V).
        """
        sign = 2 * side - 1
        value = self.bounds[side] if bounded else self.unseen[side]
        mean, second, third = one_more(
            self.n, sign * self.mean, self.second, sign * self.third, sign * value
        )
        return mean, second / (self.n + 2), 2 * third / ((self.n + 2) * (self.n + 3))

    def limits(self, tail: Tail, bounds: Bounds, *, bounded: bool = False) -> Limits:
        """Return lower and upper limits, (V,) each."""
        (a, b, c), (d, e, f) = self.moments(0, tail, bounded), self.moments(1, tail, bounded)
        return (
            -three_moment_quantile(a, b, c, -bounds[0], tail),
            three_moment_quantile(d, e, f, bounds[1], tail),
        )


@dataclass(frozen=True)
class Proportions:
    """Proportions (V,) of n independent items each, whose scores are 0 or 1."""

    n: Any
    mean: ndarray

    @property
    def standard_error(self) -> ndarray:
        """Return the standard error of the proportion, (V,)."""
        return np.sqrt(self.mean * (1 - self.mean) / (self.n - 1))

    @property
    def design_df(self) -> Any:
        """Return the degrees of freedom: the number of items minus 1."""
        return self.n - 1

    def limits(self, tail: Tail, bounds: Bounds, *, bounded: bool = False) -> Limits:
        """Return Wilson's limits, (V,) each; they are also the bounded ones."""
        return wilson(self.mean, self.n, -scipy.special.ndtri(tail))


def limits_with_gaps(sample: Any, tail: Tail) -> Limits:
    """Return limits that are valid for the items whose value is known and for all items.

    Parameters
    ----------
    sample : Evidence or Unpaired
    tail : float or (V,) array
        (1 - level) / 2.
    """
    low, high = sample.worst_limits(tail)
    if sample.is_complete:
        return low, high
    scored_low, scored_high = sample.scored_limits(tail)
    return np.minimum(low, scored_low), np.maximum(high, scored_high)


Moments = Independent | Clusters | Proportions


@dataclass(frozen=True)
class Evidence:
    """Evidence of items on V means, with the smallest and the largest possible missing values.

    Attributes
    ----------
    least, most : Independent, Clusters or Proportions
        The sample with the smallest and with the largest possible values; the same if every value
        is known.
    bounds : (float, float)
        Smallest and largest possible value.
    scored : Independent, Clusters or Proportions, optional
        The items whose value is known, if others are missing. Estimates use these items. Limits are
        valid for these items and for all items, whatever the missing values are.
    method : {"default", "bounded", "t"}
        Method of limits and p-values: see `workbench.compare_items`.
    """

    least: Moments
    most: Moments
    bounds: Bounds
    scored: Moments | None = None
    method: str = "default"

    @property
    def mean(self) -> ndarray:
        """Return the estimates (V,), from the items whose value is known."""
        return self.estimated.mean

    @property
    def estimated(self) -> Moments:
        """Return the items whose value is known."""
        return self.least if self.scored is None else self.scored

    @property
    def is_complete(self) -> bool:
        """Return whether every value is known."""
        return self.scored is None

    def limits(self, tail: Tail) -> Limits:
        """Return lower and upper limits, (V,) each; tail is (1 - level) / 2."""
        return limits_with_gaps(self, tail)

    def scored_limits(self, tail: Tail) -> Limits:
        """Return the limits for the items whose value is known, (V,) each."""
        return self.limits_of(self.estimated, tail)

    def worst_limits(self, tail: Tail) -> Limits:
        """Return the limits for all items, whatever the missing values are, (V,) each."""
        return self.limits_of(self.least, tail)[0], self.limits_of(self.most, tail)[1]

    def limits_of(self, sample: Moments, tail: Tail) -> tuple:
        """Return lower and upper limits of the means of a sample, (V,) each, by `method`.

        Parameters
        ----------
        sample : Independent, Clusters or Proportions
        tail : float or (V,) array
        """
        if self.method != "t":
            return sample.limits(tail, self.bounds, bounded=self.method == "bounded")
        half = scipy.special.stdtrit(sample.design_df, 1 - tail) * sample.standard_error
        return sample.mean - half, sample.mean + half

    def pvalues(self, at: float = 0.0) -> ndarray:
        """Return 1 minus the level at which an interval just excludes `at`, (V,)."""
        worst = self._pvalues(self.least, self.most, at)
        if self.scored is None:
            return worst
        middle = (self.least.mean + self.most.mean) / 2
        same_side = np.sign(self.scored.mean - at) == np.sign(middle - at)
        scored = self._pvalues(self.scored, self.scored, at)
        return np.where(same_side, np.maximum(worst, scored), 1.0)

    def _pvalues(self, least: Any, most: Any, at: float) -> ndarray:
        if self.method == "t":
            below = _t_tail(least.mean - at, least)
            above = _t_tail(at - most.mean, most)
            return 2 * np.minimum(np.minimum(below, above), 0.5)

        def moments(side: int, tail: ndarray) -> tuple:
            return (most if side else least).moments(side, tail, self.method == "bounded")

        return 2 * crossing_tail(moments, self.bounds, at, least.mean.shape)

    @property
    def carriers(self) -> float:
        """Return the fewest clusters that differ from the rest, as in `Clusters`.

        It is infinite for independent items.
        """
        sample = self.estimated
        return float(np.min(sample.carriers)) if isinstance(sample, Clusters) else np.inf

    @property
    def worth(self) -> float:
        """Return the effective number of clusters; infinite for independent items."""
        sample = self.estimated
        return float(np.min(sample.psus)) if isinstance(sample, Clusters) else np.inf


def _t_tail(distance: ndarray, sample: Moments) -> ndarray:
    """Return the tail probability of Student's t at a distance over its standard error, (V,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = scipy.special.stdtr(sample.design_df, -distance / sample.standard_error)
    return np.where(np.isnan(tail), 0.5, tail)


def evidence(
    columns: Callable[[slice], Limits],
    size: tuple[int, int],
    cluster: ndarray | None,
    bounds: Bounds,
    complete: ndarray | None = None,
) -> Iterator[Evidence]:
    """Yield the evidence of items on columns of values, in blocks that need little memory.

    Parameters
    ----------
    columns : callable
        Function from a slice of the columns to the smallest and the largest possible values (N, V).
    size : (int, int)
        N and the number of columns.
    cluster : (N,) array or None
    bounds : (float, float)
    complete : (N,) array of bool, optional
        Items that the estimates use. By default, each column uses the items whose value is known.
    """
    summarize = _summary(cluster, bounds)
    step = max(1, BLOCK // size[0])
    for start in range(0, size[1], step):
        least, most = columns(slice(start, start + step))
        scored = least == most
        if complete is not None:
            scored = np.broadcast_to(complete[:, None], least.shape)
        smallest = summarize(least)
        if scored.all():
            yield Evidence(smallest, smallest, bounds)
            continue
        parts = []
        for k, rows in enumerate(scored.T):
            summarize_rows = _summary(None if cluster is None else cluster[rows], bounds)
            parts.append(summarize_rows(least[rows, k : k + 1]))
        yield Evidence(smallest, summarize(most), bounds, joined(parts))


def joined(parts: Sequence[Any]) -> Any:
    """Return samples of one mean each as one sample of all their means.

    Parameters
    ----------
    parts : list of Independent or Clusters
    """
    values = []
    for field in fields(parts[0]):
        cells = [getattr(part, field.name) for part in parts]
        if field.name in ("bounds", "design_df"):
            values.append(cells[0])
        else:
            values.append(np.concatenate(list(map(np.atleast_1d, cells)), axis=-1))
    return type(parts[0])(*values)


def _summary(
    cluster: ndarray | None, bounds: Bounds
) -> Callable[[ndarray], Independent | Clusters]:
    """Return the function from columns of values (N, V) to the evidence on their means."""
    if cluster is None:
        return lambda values: _independent(values, bounds)
    code = np.unique(cluster, return_inverse=True)[1]
    order = code.argsort(kind="stable")
    design = SurveyDesign(np.zeros(code.size, int), psu=code[order])
    drawn = replicates(design, "jkn")

    def summarize(values: ndarray) -> Clusters:
        sample = Sample.of_columns(design, values[order])
        return clusters(design, sample, sample.variance(drawn), bounds)

    return summarize


def _independent(values: ndarray, bounds: Bounds) -> Independent:
    mean = np.clip(values.mean(0), *bounds)
    off = values - mean
    square = off**2
    reach = bounds[1] - bounds[0]
    below = -one_more_value(-values, -mean, -bounds[0], reach)
    unseen = np.stack([below, one_more_value(values, mean, bounds[1], reach)])
    return Independent(len(values), mean, square.mean(0), (square * off).mean(0), unseen, bounds)
