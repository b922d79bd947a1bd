"""Differences of two models that were scored on items of their own, as independent samples.

References
----------
.. [1] Newcombe, Interval estimation for the difference between independent proportions: comparison
   of eleven methods, Statistics in Medicine 17, 1998: method 10.
.. [2] Zou and Donner, Construction of confidence limits about effect measures: a general approach,
   Statistics in Medicine 27, 2008: the same for any means.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

from workbench.extras.compare.evidence import (
    Bounds,
    Evidence,
    Limits,
    Proportions,
    Tail,
    evidence,
    joined,
    limits_with_gaps,
)
from workbench.extras.compare.item_scores import ItemScores
from workbench.intervals.limits import HALVINGS, LEAST_TAIL


@dataclass(frozen=True)
class Unpaired:
    """Evidence of independent samples on V differences of two means.

    The limits are those of Newcombe's method 10. The lower limit is

        a - b - sqrt((a - l)^2 + (u - b)^2)

    - a is the first mean and l its lower limit,
    - b is the second mean and u its upper limit.

    If independent items have scores of 0 and 1, l and u are Wilson's limits. Otherwise they are
    those of the default interval.

    Attributes
    ----------
    first, second : Evidence
        V means each.
    """

    first: Evidence
    second: Evidence

    @property
    def mean(self) -> ndarray:
        """Return the estimates, (V,)."""
        return self.first.mean - self.second.mean

    @property
    def worth(self) -> float:
        """Return the effective number of clusters of the smaller sample; infinite without them."""
        return min(self.first.worth, self.second.worth)

    @property
    def carriers(self) -> float:
        """Return the fewest clusters that differ from the rest; infinite for independent items."""
        return min(self.first.carriers, self.second.carriers)

    @property
    def is_complete(self) -> bool:
        """Return whether every value is known."""
        return self.first.is_complete and self.second.is_complete

    def limits(self, tail: Tail) -> Limits:
        """Return lower and upper limits, (V,) each; tail is (1 - level) / 2."""
        return limits_with_gaps(self, tail)

    def scored_limits(self, tail: Tail) -> Limits:
        """Return the limits for the items that have scores, (V,) each."""
        first, second = self.first.estimated, self.second.estimated
        return self._limits((first, first), (second, second), tail)

    def worst_limits(self, tail: Tail) -> Limits:
        """Return the limits for all items, whatever the missing values are, (V,) each."""
        return self._limits(
            (self.first.least, self.first.most), (self.second.least, self.second.most), tail
        )

    def _limits(self, first: tuple, second: tuple, tail: Tail) -> Limits:
        bounds = self.first.bounds
        reach = bounds[1] - bounds[0]

        def distance(sample: Any, side: int) -> ndarray:
            return sample.mean - self.first.limits_of(sample, tail)[side]

        (a_low, a_high), (b_low, b_high) = first, second
        low = a_low.mean - b_high.mean - np.hypot(distance(a_low, 0), distance(b_high, 1))
        high = a_high.mean - b_low.mean + np.hypot(distance(a_high, 1), distance(b_low, 0))
        return np.maximum(low, -reach), np.minimum(high, reach)

    def pvalues(self, at: float = 0.0) -> ndarray:
        """Return 1 minus the level at which an interval just excludes `at`, (V,)."""
        lowest = np.full(self.mean.shape, math.log(LEAST_TAIL))
        highest = np.full(self.mean.shape, math.log(0.5))
        for _ in range(HALVINGS):
            middle = (lowest + highest) / 2
            low, high = self.limits(np.exp(middle))
            excludes = (low > at) | (high < at)
            lowest = np.where(excludes, lowest, middle)
            highest = np.where(excludes, middle, highest)
        return 2 * np.exp(highest)


def sample_evidence(
    scores: ItemScores, cluster: ndarray | None, *, proportions: bool = False
) -> list[Evidence]:
    """Return the evidence of each model's own items on its mean.

    Parameters
    ----------
    scores : ItemScores
        Scores of independent samples.
    cluster : (N,) array or None
    proportions : bool
        Whether means of independent items have Wilson's limits if all scores are 0 or 1.
    """
    scored = scores.score[~np.isnan(scores.score)]
    are_binary = scores.bounds == (0, 1) and np.isin(scored, (0, 1)).all()
    samples = []
    for model in range(len(scores.models)):
        rows = scores.sample == model
        low, high = (values[rows, model : model + 1] for values in scores.filled)
        if proportions and cluster is None and are_binary:
            samples.append(_proportions(low, high, scores.bounds))
        else:
            of_rows = None if cluster is None else cluster[rows]
            samples += _evidence_of(low, high, of_rows, scores.bounds)
    return samples


def _proportions(low: ndarray, high: ndarray, bounds: Bounds) -> Evidence:
    is_scored = (low == high)[:, 0]
    least, most, scored = (
        Proportions(np.array([len(values)]), values.mean(0))
        for values in (low, high, low[is_scored])
    )
    return Evidence(least, most, bounds, None if is_scored.all() else scored)


def _evidence_of(
    low: ndarray, high: ndarray, cluster: ndarray | None, bounds: Bounds
) -> Iterator[Evidence]:
    return evidence(lambda part: (low, high), low.shape, cluster, bounds)


def unpaired(scores: ItemScores, pairs: ndarray, cluster: ndarray | None) -> Unpaired:
    """Return the evidence of independent samples on the differences of pairs of models.

    Parameters
    ----------
    scores : ItemScores
        Scores of independent samples.
    pairs : (P, 2) array of int
        Positions of models.
    cluster : (N,) array or None
    """
    samples = sample_evidence(scores, cluster, proportions=True)
    first, second = (together([samples[k] for k in side]) for side in pairs.T)
    return Unpaired(first, second)


def together(parts: Sequence[Evidence]) -> Evidence:
    """Return the evidence on the means of several samples as one object.

    Parameters
    ----------
    parts : list of Evidence
        One mean each.
    """
    least, most = joined([part.least for part in parts]), joined([part.most for part in parts])
    scored = None
    if not all(part.is_complete for part in parts):
        scored = joined([part.estimated for part in parts])
    return Evidence(least, most, parts[0].bounds, scored)
