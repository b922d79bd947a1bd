"""Differences of two models that were scored on items of their own, as independent samples.

References
----------
.. [1] Newcombe, Interval estimation for the difference between independent proportions: comparison
   of eleven methods, Statistics in Medicine 17, 1998: method 10.
.. [2] Zou and Donner, Construction of confidence limits about effect measures: a general approach,
   Statistics in Medicine 27, 2008: the same for any means.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.extras.compare.evidence import Evidence, Proportions, evidence, joined
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
    def mean(self) -> np.ndarray:
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

    def limits(self, tail: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits, (V,) each; tail is (1 - level) / 2."""
        low, high = self.worst_limits(tail)
        if self.first.known is None and self.second.known is None:
            return low, high
        known_low, known_high = self.known_limits(tail)
        return np.minimum(low, known_low), np.maximum(high, known_high)

    def known_limits(self, tail: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the limits for the items that have scores, (V,) each."""
        first, second = (
            each.least if each.known is None else each.known for each in (self.first, self.second)
        )
        return self._limits((first, first), (second, second), tail)

    def worst_limits(self, tail: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the limits for all items, whatever the missing values are, (V,) each."""
        return self._limits(
            (self.first.least, self.first.most), (self.second.least, self.second.most), tail
        )

    def _limits(
        self, first: tuple, second: tuple, tail: float | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        bounds = self.first.bounds
        reach = bounds[1] - bounds[0]

        def distance(sample: Any, side: int) -> np.ndarray:
            return sample.mean - self.first.limits_of(sample, tail)[side]

        (a_low, a_high), (b_low, b_high) = first, second
        low = a_low.mean - b_high.mean - np.hypot(distance(a_low, 0), distance(b_high, 1))
        high = a_high.mean - b_low.mean + np.hypot(distance(a_high, 1), distance(b_low, 0))
        return np.maximum(low, -reach), np.minimum(high, reach)

    def pvalues(self, at: float = 0.0) -> np.ndarray:
        """Return 1 minus the level at which an interval just excludes `at`, (V,)."""
        kept = np.full(self.mean.shape, math.log(LEAST_TAIL))
        left_out = np.full(self.mean.shape, math.log(0.5))
        for _ in range(HALVINGS):
            middle = (kept + left_out) / 2
            low, high = self.limits(np.exp(middle))
            out = (low > at) | (high < at)
            kept, left_out = np.where(out, kept, middle), np.where(out, middle, left_out)
        return 2 * np.exp(left_out)


def sample_evidence(
    scores: ItemScores, cluster: np.ndarray | None, *, proportions: bool = False
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
    proportions = (
        proportions
        and cluster is None
        and scores.bounds == (0, 1)
        and bool(np.isin(scored, (0, 1)).all())
    )
    return [
        _of_model(scores, cluster, model, proportions=proportions)
        for model in range(len(scores.models))
    ]


def _of_model(
    scores: ItemScores, cluster: np.ndarray | None, model: int, *, proportions: bool
) -> Evidence:
    rows = scores.sample == model
    low, high = (values[rows, model : model + 1] for values in scores.filled)
    known = low == high
    if proportions:
        least, most, alone = (
            Proportions(np.array([len(values)]), values.mean(0))
            for values in (low, high, low[known[:, 0]])
        )
        return Evidence(least, most, scores.bounds, None if known.all() else alone)
    (found,) = evidence(
        lambda part: (low, high),
        low.shape,
        None if cluster is None else cluster[rows],
        scores.bounds,
    )
    return found


def unpaired(scores: ItemScores, pairs: np.ndarray, cluster: np.ndarray | None) -> Unpaired:
    """Return the evidence of independent samples on the differences of pairs of models.

    Parameters
    ----------
    scores : ItemScores
        Scores of independent samples.
    pairs : (P, 2) array of int
        Positions of models.
    cluster : (N,) array or None
    """
    found = sample_evidence(scores, cluster, proportions=True)
    first, second = (together([found[k] for k in side]) for side in pairs.T)
    return Unpaired(first, second)


def together(parts: Sequence[Evidence]) -> Evidence:
    """Return the evidence on the means of several samples as one object.

    Parameters
    ----------
    parts : list of Evidence
        One mean each.
    """

    def column(of: Callable[[Evidence], Any]) -> Any:
        return joined([of(part) for part in parts])

    gaps = any(part.known is not None for part in parts)
    known = column(lambda part: part.least if part.known is None else part.known) if gaps else None
    return Evidence(
        column(lambda part: part.least), column(lambda part: part.most), parts[0].bounds, known
    )
