"""What items tell of the means of many columns of bounded values: limits at any level, and p-values that invert them.

Independent items: the intervals of `workbench.intervals.values` for one stratum of an infinite population. Clusters:
the interval of `workbench.replication.bounded_intervals`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy

from workbench.intervals import wilson
from workbench.intervals.limits import crossing_tail, one_more, three_moment_quantile
from workbench.intervals.unseen import one_more_value
from workbench.replication.bounded_intervals import Clusters, Sample, clusters
from workbench.replication.designs import SurveyDesign
from workbench.replication.replicates import replicates

BLOCK = 2**21  # numbers that are looked at at once


@dataclass(frozen=True)
class Independent:
    """Moments (V,) of columns of n values of independent items."""

    n: Any
    mean: np.ndarray
    second: np.ndarray
    third: np.ndarray
    unseen: np.ndarray
    bounds: tuple[float, float]

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean, (V,)."""
        return np.sqrt(self.second / (self.n - 1))

    @property
    def design_df(self) -> Any:
        """Items less one."""
        return self.n - 1

    def moments(self, side: int, tail: float | np.ndarray, bounded: bool = False) -> tuple:
        """Return mean, variance and third moment of the beta of a limit: those of `Clusters`.

        They are those of `workbench.intervals.limits.limit_of_moments` for one stratum: one more item lies at the bound
        in the bounded interval, and at `unseen`, (2, V), in the default one.
        """
        sign = 2 * side - 1
        value = self.bounds[side] if bounded else self.unseen[side]
        mean, second, third = one_more(
            self.n, sign * self.mean, self.second, sign * self.third, sign * value
        )
        return mean, second / (self.n + 2), 2 * third / ((self.n + 2) * (self.n + 3))

    def limits(
        self, tail: float | np.ndarray, bounds: tuple[float, float], *, bounded: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits, (V,) each."""
        (a, b, c), (d, e, f) = self.moments(0, tail, bounded), self.moments(1, tail, bounded)
        return (
            -three_moment_quantile(a, b, c, -bounds[0], tail),
            three_moment_quantile(d, e, f, bounds[1], tail),
        )


@dataclass(frozen=True)
class Proportions:
    """Proportions (V,) of n items each: what independent items with scores of 0 and 1 tell."""

    n: Any
    mean: np.ndarray

    @property
    def standard_error(self) -> np.ndarray:
        """Of the proportion, (V,)."""
        return np.sqrt(self.mean * (1 - self.mean) / (self.n - 1))

    @property
    def design_df(self) -> Any:
        """Items less one."""
        return self.n - 1

    def limits(
        self, tail: float | np.ndarray, bounds: tuple[float, float], *, bounded: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return Wilson's limits, (V,) each; they are the bounded ones too."""
        return wilson(self.mean, self.n, -scipy.special.ndtri(tail))


@dataclass(frozen=True)
class Evidence:
    """What items tell of V means: of the least values that they may have, and of the largest.

    Attributes
    ----------
    least, most : Independent, Clusters or Proportions
        The same where every value is known.
    bounds : (float, float)
    known : Independent, Clusters or Proportions, optional
        Of the items whose value is known, where some are not: the estimates are theirs, and limits hold for these items
        and for all items, whatever the missing values are.
    method : {"default", "bounded", "t"}
        Of limits and p-values: see `workbench.compare_items`.
    """

    least: Independent | Clusters | Proportions
    most: Independent | Clusters | Proportions
    bounds: tuple[float, float]
    known: Independent | Clusters | Proportions | None = None
    method: str = "default"

    @property
    def mean(self) -> np.ndarray:
        """Estimates (V,), of the items whose value is known."""
        return self._estimated.mean

    @property
    def _estimated(self) -> Independent | Clusters | Proportions:
        return self.least if self.known is None else self.known

    def limits(self, tail: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits, (V,) each; tail is (1 - level) / 2."""
        low, high = self.worst_limits(tail)
        if self.known is None:
            return low, high
        known_low, known_high = self.known_limits(tail)
        return np.minimum(low, known_low), np.maximum(high, known_high)

    def known_limits(self, tail: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return limits of the items whose value is known, (V,) each."""
        return self.limits_of(self._estimated, tail)

    def worst_limits(self, tail: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return limits for all items, whatever the missing values are, (V,) each."""
        return self.limits_of(self.least, tail)[0], self.limits_of(self.most, tail)[1]

    def limits_of(
        self, sample: Independent | Clusters | Proportions, tail: float | np.ndarray
    ) -> tuple:
        """Return lower and upper limits of the means of a sample, (V,) each, by the method.

        Parameters
        ----------
        sample : Independent, Clusters or Proportions
        tail : float or (V,) array
        """
        if self.method != "t":
            return sample.limits(tail, self.bounds, bounded=self.method == "bounded")
        half = scipy.special.stdtrit(sample.design_df, 1 - tail) * sample.standard_error
        return sample.mean - half, sample.mean + half

    def pvalues(self, at: float = 0.0) -> np.ndarray:
        """Return 1 less the level at which an interval just leaves out `at`, (V,)."""
        worst = self._pvalues(self.least, self.most, at)
        if self.known is None:
            return worst
        middle = (self.least.mean + self.most.mean) / 2
        same_side = np.sign(self.known.mean - at) == np.sign(middle - at)
        known = self._pvalues(self.known, self.known, at)
        return np.where(same_side, np.maximum(worst, known), 1.0)

    def _pvalues(self, least: Any, most: Any, at: float) -> np.ndarray:
        if self.method == "t":
            below, above = (
                _t_tail(sign * (sample.mean - at), sample)
                for sign, sample in ((1, least), (-1, most))
            )
            return 2 * np.minimum(np.minimum(below, above), 0.5)

        def moments(side: int, tail: np.ndarray) -> tuple:
            return (most if side else least).moments(side, tail, self.method == "bounded")

        return 2 * crossing_tail(moments, self.bounds, at, least.mean.shape)

    @property
    def carriers(self) -> float:
        """Fewest clusters that carry what differs from the rest, as in `Clusters`; infinite for independent items."""
        told = self._estimated
        return float(np.min(told.carriers)) if isinstance(told, Clusters) else np.inf

    @property
    def worth(self) -> float:
        """How many equally heavy clusters these are; infinite for independent items."""
        told = self._estimated
        return float(np.min(told.psus)) if isinstance(told, Clusters) else np.inf


def _t_tail(distance: np.ndarray, sample: Independent | Clusters | Proportions) -> np.ndarray:
    """Return the chance of Student's t beyond a distance over the standard error, (V,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = scipy.special.stdtr(sample.design_df, -distance / sample.standard_error)
    return np.where(np.isnan(tail), 0.5, tail)


def evidence(
    columns: Callable[[slice], tuple[np.ndarray, np.ndarray]],
    size: tuple[int, int],
    cluster: np.ndarray | None,
    bounds: tuple[float, float],
    complete: np.ndarray | None = None,
) -> Iterator[Evidence]:
    """Yield what items tell of columns of values, in blocks that do not take much memory.

    Parameters
    ----------
    columns : callable
        A slice of the columns to the least and the largest values (N, V) that they may have.
    size : (int, int)
        N and the number of columns.
    cluster : (N,) array or None
    bounds : (float, float)
    complete : (N,) array of bool, optional
        Items that estimates come from; by default of each column those whose value is known.
    """
    told = _told_by(cluster, bounds)
    step = max(1, BLOCK // size[0])
    for start in range(0, size[1], step):
        least, most = columns(slice(start, start + step))
        known = (
            least == most if complete is None else np.broadcast_to(complete[:, None], least.shape)
        )
        first = told(least)
        if known.all():
            yield Evidence(first, first, bounds)
        else:
            parts = [
                _told_by(None if cluster is None else cluster[rows], bounds)(least[rows, k : k + 1])
                for k, rows in enumerate(known.T)
            ]
            yield Evidence(first, told(most), bounds, joined(parts))


def joined(parts: Sequence[Any]) -> Any:
    """Return what samples tell, one mean each, as that of all their means.

    Parameters
    ----------
    parts : list of Independent or Clusters
    """
    cells = {each.name: [getattr(part, each.name) for part in parts] for each in fields(parts[0])}
    shared = "bounds", "design_df"
    return type(parts[0])(
        *(
            values[0]
            if name in shared
            else np.concatenate([np.atleast_1d(value) for value in values], axis=-1)
            for name, values in cells.items()
        )
    )


def _told_by(
    cluster: np.ndarray | None, bounds: tuple[float, float]
) -> Callable[[np.ndarray], Independent | Clusters]:
    """Return the function from columns of values (N, V) to what they tell of their means."""
    if cluster is None:
        return lambda values: _independent(values, bounds)
    code = np.unique(cluster, return_inverse=True)[1]
    order = code.argsort(kind="stable")
    design = SurveyDesign(np.zeros(code.size, int), psu=code[order])
    drawn = replicates(design, "jkn")

    def told(values: np.ndarray) -> Clusters:
        sample = Sample.of_columns(design, values[order])
        return clusters(design, sample, sample.variance(drawn), bounds)

    return told


def _independent(values: np.ndarray, bounds: tuple[float, float]) -> Independent:
    mean = np.clip(values.mean(0), *bounds)
    off = values - mean
    square = off**2
    unseen = np.stack(
        [
            sign * one_more_value(sign * values, sign * mean, sign * bound, bounds[1] - bounds[0])
            for sign, bound in zip((-1, 1), bounds, strict=True)
        ]
    )
    return Independent(len(values), mean, square.mean(0), (square * off).mean(0), unseen, bounds)
