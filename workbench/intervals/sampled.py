"""Limits of the mean of sampled values in strata, between known bounds.

`SampledMoments` keeps what the limits need: moments of the values in each stratum, and the value of
one more item. Its `limits` are those of the default interval, and of the bounded one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from workbench.intervals.limits import limit_of_moments
from workbench.intervals.unseen import carried, unseen_values

ROWS = ("weight", "free", "n", "mean", "second", "third", "least", "most", "low", "high")


@dataclass(frozen=True)
class SampledMoments:
    """Moments of values from a stratified sample.

    Attributes
    ----------
    weight, free : (H,) array
        Of each stratum in the mean, 1 in sum; the fraction that was not sampled.
    n, mean, second, third : (H,) array
        Items, their mean, and second and third central moment.
    least, most, low, high : (H,) array
        Smallest and largest value seen, and possible.
    unseen : (2, H) array
        Value of one more item in the lower and in the upper limit.
    trusted : (2,) array
        How far these are the values seen, from 0 to 1: see `workbench.intervals.unseen.carried`.
    """

    weight: np.ndarray
    free: np.ndarray
    n: np.ndarray
    mean: np.ndarray
    second: np.ndarray
    third: np.ndarray
    least: np.ndarray
    most: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unseen: np.ndarray
    trusted: np.ndarray

    @classmethod
    def of_values(
        cls,
        weight: np.ndarray,
        free: np.ndarray,
        stratum: np.ndarray,
        values: np.ndarray,
        low: Any,
        high: Any,
        count: Any = 1,
    ) -> "SampledMoments":
        """Return the moments of values, (m,) each, in strata numbered from 0.

        Parameters
        ----------
        weight, free : (H,) array
        stratum : (m,) array of int
        values : (m,) array
        low, high : (H,) array or float
            Smallest and largest possible value.
        count : (m,) array or int
            How many items of the stratum have this value.
        """
        strata, count = weight.size, np.broadcast_to(count, values.shape)
        stratum, values, count = (part[count > 0] for part in (stratum, values, count))
        n = np.bincount(stratum, count, strata)
        some = np.maximum(n, 1)
        mean = np.bincount(stratum, count * values, strata) / some
        least, most = (np.full(strata, end) for end in (np.inf, -np.inf))
        np.minimum.at(least, stratum, values)
        np.maximum.at(most, stratum, values)
        mean = np.clip(mean, least, most)
        off = values - mean[stratum]
        second, third = (
            np.bincount(stratum, count * off**power, strata) / some for power in (2, 3)
        )
        low, high = (np.broadcast_to(np.asarray(end, float), (strata,)) for end in (low, high))
        open_ = free[stratum] > 0
        item_weight, reach = (weight / some)[stratum], float((high - low).max())
        unseen, trusted = np.stack([low, high]), np.ones(2)
        if open_.any():
            cells = item_weight[open_], values[open_], off[open_], count[open_]
            for side, (sign, bound, end) in enumerate(((-1, low, least), (1, high, most))):
                trusted[side] = _trusted(sign, *cells, reach)
                unseen[side] = sign * unseen_values(
                    sign * mean, sign * end, (sign * off[open_]).max(), sign * bound, trusted[side]
                )
        return cls(weight, free, n, mean, second, third, least, most, low, high, unseen, trusted)

    @classmethod
    def of_table(cls, table: np.ndarray) -> "SampledMoments":
        """Return the moments that `table` returned."""
        *rows, unseen_low, unseen_high, trusted_low, trusted_high = table
        named = dict(zip(ROWS, rows, strict=True))
        trusted = np.array([trusted_low[0], trusted_high[0]])
        return cls(**named, unseen=np.stack([unseen_low, unseen_high]), trusted=trusted)

    def table(self) -> np.ndarray:
        """Return all numbers, (14, H)."""
        rows = [getattr(self, name) for name in ROWS]
        return np.vstack([*rows, self.unseen, np.repeat(self.trusted[:, None], self.n.size, 1)])

    @property
    def estimate(self) -> float:
        """Weighted mean of the strata."""
        return float(self.weight @ self.mean)

    def limits(self, tail: float, *, bounded: bool = False) -> tuple[float, float]:
        """Return the lower and the upper limit.

        Parameters
        ----------
        tail : float
            (1 - level) / 2.
        bounded : bool
            Whether values inside the bounds may exist that the sample does not contain.
        """
        upper = self._upper(1, tail, bounded)
        return -self._upper(0, tail, bounded), upper

    def t_limits(self, tail: float) -> tuple[float, float]:
        """Return Student's t limits with Satterthwaite's degrees of freedom [1]_.

        References
        ----------
        .. [1] Satterthwaite, An approximate distribution of estimates of variance components,
           Biometrics Bulletin 2, 1946.
        """
        half = scipy.special.stdtrit(self.df, 1 - tail) * np.sqrt(self._terms.sum())
        return self.estimate - float(half), self.estimate + float(half)

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom; 1 where nothing varies."""
        total = self._terms.sum()
        if not total > 0:
            return 1.0
        return float(1 / ((self._terms / total) ** 2 / np.maximum(self.n - 1, 1)).sum())

    @property
    def _terms(self) -> np.ndarray:
        return self.weight**2 * self.free * self.second / np.maximum(self.n - 1, 1)

    def decisive_strata(self, tail: float) -> tuple[int, int]:
        """Return the stratum that alone decides the lower, and the upper, bounded limit; -1 for none."""
        lower, upper = (int(self._largest(side, tail)[1]) for side in (0, 1))
        return lower, upper

    def _upper(self, side: int, tail: float, bounded: bool) -> float:
        largest = float(self._largest(side, tail)[0])
        if bounded or not self.trusted[side]:
            return largest
        unseen = (2 * side - 1) * self.unseen[side]
        seen = self._largest(side, tail, unseen=unseen, stretch=self._stretch(side, tail))
        return min(largest, float(seen[0]))

    def _largest(self, side: int, tail: float, **more: Any) -> tuple:
        """Return the upper limit of the values, side 1, or of the values times -1, and its stratum."""
        sign = 2 * side - 1
        moments = sign * self.mean, self.second, sign * self.third
        seen = (self.least, self.most) if side else (-self.most, -self.least)
        ends = (self.low, self.high) if side else (-self.high, -self.low)
        return limit_of_moments(self.weight, self.free, self.n, moments, seen, *ends, tail, **more)

    def _stretch(self, side: int, tail: float) -> float:
        """Return Student's t quantile over that of one sample of as many items, where it is trusted."""
        sampled = self.n[self.free > 0].sum()
        ratio = scipy.special.stdtrit([self.df, sampled - 1], tail)
        return 1 + float(self.trusted[side] * (ratio[0] / ratio[1] - 1))


def _trusted(
    sign: int,
    weight: np.ndarray,
    values: np.ndarray,
    off: np.ndarray,
    count: np.ndarray,
    reach: float,
) -> float:
    return float(carried(weight, sign * values, sign * off, reach, count))
