"""Limits of the mean of sampled values in strata, between known bounds.

`SampledMoments` keeps the numbers that the limits need: moments of the values in each stratum, and
the value of one more item. `SampledMoments.limits` returns the limits of the default interval or of
the bounded one.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray
from scipy import special

from workbench.intervals.limits import Number, limit_of_moments
from workbench.intervals.unseen import carried, unseen_values


@dataclass(frozen=True)
class SampledMoments:
    """Moments of values from a stratified sample.

    Attributes
    ----------
    weight, free : (H,) array
        Weight of each stratum in the mean, 1 in sum; fraction that was not sampled.
    n, mean, second, third : (H,) array
        Number of items, their mean, and second and third central moment.
    least, most, low, high : (H,) array
        Smallest and largest value seen, and smallest and largest possible value.
    unseen : (2, H) array
        Value of one more item in the lower and in the upper limit.
    trusted : (2,) array
        Degree, from 0 to 1, to which these are the values seen: see
        `workbench.intervals.unseen.carried`.
    """

    weight: ndarray
    free: ndarray
    n: ndarray
    mean: ndarray
    second: ndarray
    third: ndarray
    least: ndarray
    most: ndarray
    low: ndarray
    high: ndarray
    unseen: ndarray
    trusted: ndarray

    @classmethod
    def of_values(
        cls,
        weight: ndarray,
        free: ndarray,
        stratum: ndarray,
        values: ndarray,
        low: Number,
        high: Number,
        count: Number = 1,
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
        strata = weight.size
        count = np.broadcast_to(count, values.shape)
        some = count > 0
        stratum = stratum[some]
        values = values[some]
        count = count[some]
        n = np.bincount(stratum, count, strata)
        items = np.maximum(n, 1)
        least = np.full(strata, np.inf)
        most = np.full(strata, -np.inf)
        np.minimum.at(least, stratum, values)
        np.maximum.at(most, stratum, values)

        def average(terms: ndarray) -> ndarray:
            return np.bincount(stratum, count * terms, strata) / items

        mean = np.clip(average(values), least, most)
        off = values - mean[stratum]
        central = mean, average(off**2), average(off**3)
        low = np.full(strata, low, float)
        high = np.full(strata, high, float)
        ends = least, most, low, high
        unseen = np.stack([low, high])
        moments = cls(weight, free, n, *central, *ends, unseen, np.ones(2))
        sampled = free[stratum] > 0
        if not sampled.any():
            return moments
        parts = (part[sampled] for part in (stratum, values, off, count))
        return replace(moments, **moments._unseen(*parts))

    def _unseen(
        self,
        stratum: ndarray,
        values: ndarray,
        off: ndarray,
        count: ndarray,
    ) -> dict:
        """Return `unseen` and `trusted`, from the values of strata that are not fully sampled."""
        weight = (self.weight / np.maximum(self.n, 1))[stratum]
        reach = (self.high - self.low).max()
        unseen = []
        trusted = []
        for sign, bound, end in ((-1, self.low, self.least), (1, self.high, self.most)):
            deviations = sign * off
            trust = carried(weight, sign * values, deviations, reach, count)
            farthest = deviations.max()
            mean = sign * self.mean
            new = unseen_values(mean, sign * end, farthest, sign * bound, trust)
            unseen.append(sign * new)
            trusted.append(trust)
        return {"unseen": np.stack(unseen), "trusted": np.array(trusted)}

    @classmethod
    def of_table(cls, table: ndarray) -> "SampledMoments":
        """Return the moments from the numbers of the method `table`."""
        trusted = table[12:, 0]
        parts = [*table[:10], table[10:12], trusted]
        return cls(*parts)

    def table(self) -> ndarray:
        """Return all numbers, (14, H)."""
        *rows, trusted = vars(self).values()
        repeated = np.repeat(trusted[:, None], self.n.size, 1)
        return np.vstack([*rows, repeated])

    @property
    def estimate(self) -> float:
        """Return the weighted mean of the strata."""
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
        lower = self._upper(0, tail, bounded)
        upper = self._upper(1, tail, bounded)
        return -lower, upper

    def t_limits(self, tail: float) -> tuple[float, float]:
        """Return Student's t limits with Satterthwaite's degrees of freedom [1]_.

        References
        ----------
        .. [1] Satterthwaite, An approximate distribution of estimates of variance components,
           Biometrics Bulletin 2, 1946.
        """
        standard_error = np.sqrt(self._variances.sum())
        half = float(special.stdtrit(self.df, 1 - tail) * standard_error)
        return self.estimate - half, self.estimate + half

    @property
    def df(self) -> float:
        """Return Satterthwaite's degrees of freedom; 1 if nothing varies."""
        variances = self._variances
        total = variances.sum()
        if not total > 0:
            return 1.0
        squares = (variances / total) ** 2 / np.maximum(self.n - 1, 1)
        return float(1 / squares.sum())

    @property
    def _variances(self) -> ndarray:
        spread = self.weight**2 * self.free * self.second
        return spread / np.maximum(self.n - 1, 1)

    def decisive_strata(self, tail: float) -> list:
        """Return the strata that alone decide the two bounded limits; -1 for none."""
        return [int(self._largest(side, tail)[1]) for side in (0, 1)]

    def _upper(
        self,
        side: int,
        tail: float,
        bounded: bool,
    ) -> float:
        largest = float(self._largest(side, tail)[0])
        trusted = self.trusted[side]
        if bounded or not trusted:
            return largest
        # Student's t quantile over that of one sample of as many items
        sampled = self.n[self.free > 0].sum()
        quantile, of_one_sample = special.stdtrit([self.df, sampled - 1], tail)
        stretch = 1 + float(trusted * (quantile / of_one_sample - 1))
        unseen = (2 * side - 1) * self.unseen[side]
        default, _ = self._largest(side, tail, unseen, stretch)
        return min(largest, float(default))

    def _largest(
        self,
        side: int,
        tail: float,
        unseen: ndarray | None = None,
        stretch: float = 1.0,
    ) -> tuple:
        """Return the upper limit of the values (side 1) or the negated values, and its stratum."""
        sign = 2 * side - 1
        moments = sign * self.mean, self.second, sign * self.third
        ends = self.least, self.most
        bounds = self.low, self.high
        if not side:
            ends = -self.most, -self.least
            bounds = -self.high, -self.low
        return limit_of_moments(
            self.weight,
            self.free,
            self.n,
            moments,
            ends,
            *bounds,
            tail,
            unseen=unseen,
            stretch=stretch,
        )
