"""The default interval of a mean of bounded values in strata and clusters.

One equation gives each limit.

It holds where clusters differ in size, and with it in quality, where few carry what differs from
the rest and where none does, and is little longer than Student's t where that is valid.

References
----------
.. [1] Hall, Inverting an Edgeworth expansion, Annals of Statistics 20, 1992: the correction for
   skewness.
.. [2] Kish, Survey Sampling, Wiley 1965: (sum W)^2 / sum W^2 equally heavy clusters.
.. [3] Satterthwaite, An approximate distribution of estimates of variance components, Biometrics
   Bulletin 2, 1946.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import scipy
from numpy import ndarray

from workbench.intervals import three_moment_quantile
from workbench.intervals.unseen import LEAST_SPREAD
from workbench.replication.designs import SurveyDesign
from workbench.replication.moments import Bounds
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import ratio

TwoArrays = tuple[ndarray, ndarray]
ArrayFunction = Callable[[ndarray], ndarray]
ROUND = 1e-12
# The constants of the bounded interval. None has a proof: they were chosen over the kinds of
# designs of ``search_replication --families``. ``tests/peers/interval_constants.json`` records the
# least coverage and the mean width with half and with twice each of them.
# With half of BOUND_CARRIERS, LARGER_FACTOR, LARGER_TAIL or SIZES_VARY the interval covers less
# than .90 somewhere. Half or twice each of the others changes the least coverage by less than .01.
POOLED_DF = 5  # where weights are heavy 5, 10 and 20 all hold, and 5 widens least
# An unseen PSU is fully like the worst one if fewer than WORST_CARRIERS carry what lies beyond, and
# less the more do. It is the rule of three: a kind of which 3 PSUs are expected is missing from 5%
# of samples. The other way to be fully like the worst is that a few hold the squared errors.
WORST_CARRIERS, WORST_TAIL = 3.0, 4.0
# It lies at the bound as far as about one PSU, or none, carries what lies beyond.
BOUND_CARRIERS = 0.7
# It is larger and worse than all that were sampled, by this factor at most, where sizes vary by
# SIZES_VARY times their squared coefficient of variation and the errors have such a heavy tail.
LARGER_FACTOR, LARGER_TAIL, SIZES_VARY = 5.0, 5.0, 2.0
LEAST_CARRIERS = 1e-9
DECIMALS = 12
# The default interval adds half a PSU like the worst, and more of it where few carry the weight:
# 1/2 + 3/kappa, at most one. It is trusted as far as K, Q and kappa over the number of PSUs rise
# from the first to the second end. These eight numbers were chosen by hand among some forty
# combinations of 1/2 and 1; 0 to 3; K to 3, 3.5, 4; Q to 3, 4, 4.5, 5; kappa / C to .35 to .5. They
# cover at least .90 in every kind of ``search_replication --families`` in which the bounded
# interval does. Clearly shorter ones that were tried do not; others may be as good. The same record
# holds each of them halved and doubled.
HALF_A_PSU, FEW_PSUS = 0.5, 3.0
CARRIERS, HEAVY, EVEN = (2.0, 4.0), (2.0, 5.0), (0.25, 0.4)
# Root of the sum of squared errors, over that of the heaviest PSU were it at the other bound, below
# which PSUs count as alike: the limits of the default then move by less than 1,000 times a change
# of a value.
LEAST_ERROR = 0.01
LARGEST_SHARE = 0.999  # of one PSU, so that leaving it out leaves something


@dataclass(frozen=True)
class Sample:
    """Values of items in primary sampling units (PSUs), of one sample or of many at once.

    A mean has one part, the items that its denominator counts. An AUC has two, the positives and
    the negatives; the values are the shares of the other part on the right side of an item.

    Attributes
    ----------
    values : (n,) or (V, 1, ...) array
        One per item, or those that the items of all PSUs can have.
    shares : (K, P, ...) array
        Of the weight of each of K parts that lies in each PSU.
    of_psu : callable
        Numbers (P, ...) of PSUs to those of their items, as the values are laid out.
    add : callable
        Numbers of items to their weighted sums in PSUs (P, ...); the weights of a part add up to 1.
    count : callable
        Numbers of items to their sum (...), each counted once.
    """

    values: ndarray
    shares: ndarray
    of_psu: ArrayFunction
    add: ArrayFunction
    count: ArrayFunction

    @classmethod
    def of_items(
        cls,
        design: SurveyDesign,
        values: ndarray,
        parts: Sequence[ndarray],
    ) -> Self:
        """Return the sample of items with values (n,).

        Parts are masks (n,) that do not overlap, or how often an item counts.
        """
        rows = np.any(parts, 0)
        psus = design.stratum_of_psu.size
        psu = design.psu_of_item[rows]
        weight_of_item = design.weight[rows]
        of_parts = [part[rows] * weight_of_item for part in parts]
        weights = [of_part / of_part.sum() for of_part in of_parts]
        weight = sum(weights)
        shares = [np.bincount(psu, weight_of_part, psus) for weight_of_part in weights]
        return cls(
            values[rows],
            np.stack(shares),
            lambda of_psus: of_psus[psu],
            lambda numbers: np.bincount(psu, weight * numbers, psus),
            np.sum,
        )

    @classmethod
    def of_counts(
        cls,
        values: Sequence[float],
        counts: Sequence[ndarray],
        weight: ndarray,
    ) -> Self:
        """Return samples of V values from how often, (P, ...) each, a PSU has them.

        The weights of the items of a PSU broadcast against the counts.
        """
        number = np.stack(np.broadcast_arrays(*counts)).astype(float)
        total = weight * number.sum(0)
        share = weight / total.sum(0)
        shares_of_psus = total / total.sum(0)

        def times_counts(numbers: ndarray) -> ndarray:
            return number * numbers

        return cls(
            _along(np.array(values, float), number.ndim),
            shares_of_psus[None],
            lambda of_psus: of_psus[None],
            lambda numbers: share * times_counts(numbers).sum(0),
            lambda numbers: times_counts(numbers).sum((0, 1)),
        )

    @classmethod
    def of_columns(cls, design: SurveyDesign, values: ndarray) -> Self:
        """Return a sample per column of values (n, V) of equally weighted items, sorted by PSU."""
        sizes = np.bincount(design.psu_of_item)
        first = sizes.cumsum() - sizes
        items, columns = values.shape
        shares = np.repeat(sizes[:, None] / items, columns, 1)
        return cls(
            values,
            shares[None],
            lambda of_psus: np.repeat(of_psus, sizes, 0),
            lambda numbers: np.add.reduceat(numbers, first) / items,
            partial(np.sum, axis=0),
        )

    @property
    def mean(self) -> ndarray:
        """Weighted mean (...) of all parts."""
        return ratio(*(sums.sum(0) for sums in self._sums()))

    def stratum_means(self, design: SurveyDesign) -> ndarray:
        """Return the mean (P, ...) of each PSU's stratum, NaN where that holds nothing."""
        totals = (np.add.reduceat(sums, design.first_psu) for sums in self._sums())
        return ratio(*totals)[design.stratum_of_psu]

    def _sums(self) -> TwoArrays:
        """Return the weighted sums of the values and the sums of the weights in PSUs."""
        return self.add(self.values), self.add(np.ones_like(self.values))

    def replicated(self, drawn: Replicates) -> TwoArrays:
        """Return the mean of one part, (...), and its replicates, (R, ...)."""
        return drawn.ratios(self.add(self.values), self.shares[0])

    def variance(self, drawn: Replicates) -> ndarray:
        """Return the variance (...) of the mean of one part by replicates."""
        mean, values = self.replicated(drawn)
        return drawn.variances(values, mean)


@dataclass(frozen=True)
class Clusters:
    """What PSUs tell of the mean of bounded values, arrays (...); by `clusters`.

    Attributes
    ----------
    mean : (...) array
    variance : (...) array
        Of it, `POOLED_DF` of its degrees of freedom those of the variance pooled over strata where
        that is larger.
    df, psus : (...) array
        As of `degrees`.
    free : (...) array
        Finite-population factor, 1 - n_h / N_h averaged over the PSUs by the square of their
        weight.
    skewness, bounded, carriers, unseen : (2, ...) array
        Of the lower and the upper limit: g, u of the bounded interval, K, and u of the default one.
    design_df : int, optional
        PSUs less strata.
    """

    mean: Any
    variance: Any
    df: Any
    psus: Any
    free: Any
    skewness: Any
    bounded: Any
    carriers: Any
    unseen: Any
    design_df: Any = None

    @property
    def standard_error(self) -> ndarray:
        """Root of the variance, (...)."""
        return np.sqrt(self.variance)

    def limits(
        self,
        tail: float | ndarray,
        bounds: Bounds = (0.0, 1.0),
        *,
        bounded: bool = False,
    ) -> TwoArrays:
        """Return lower and upper limits, (...) each, within `bounds`.

        Parameters
        ----------
        tail : (...) array or float
            (1 - level) / 2.
        bounds : (float, float)
        bounded : bool
            Whether clusters may exist that are unlike all that were sampled.

        Notes
        -----
        With r Student's t over the normal quantile, v the variance, f the finite-population factor:
        the upper limit is that quantile of the beta distribution that ends at the bound and has the
        mean R + f max(g r / 2, u), the variance v r^2 + f u^2 and the third central moment 2 (g v
        r^3 + f^1.5 u^3). Half the skewness g as shift and twice it as third moment are Hall's
        second-order correction [1]_; u is what one PSU more, that was not drawn, would add. Where
        nothing lies beyond R they leave about Beta(1, C), C the number of PSUs.

        References
        ----------
        .. [1] Hall, Inverting an Edgeworth expansion, Annals of Statistics 20, 1992: the correction
           for skewness.
        """
        limits = []
        for side, sign in enumerate((-1, 1)):  # upper limits of the values times the sign
            mean = sign * self.mean
            bound = sign * bounds[side]
            shifted, variance, third = self.moments(side, tail, bounded)
            limit = three_moment_quantile(shifted, variance, third, bound, tail)
            limit = np.where(variance > 0, np.clip(limit, mean, bound), mean)
            limits.append(sign * limit)
        lower, upper = limits
        return lower, upper

    def moments(
        self,
        side: int,
        tail: float | ndarray,
        bounded: bool = False,
    ) -> tuple:
        """Return mean, variance and third moment (...) of the beta distribution of a limit.

        Parameters
        ----------
        side : {0, 1}
            0 for the lower limit, whose moments are those of the values times -1, 1 for the upper.
        tail : (...) array or float
        bounded : bool
        """
        student = scipy.special.stdtrit(self.df, tail)
        r = student / scipy.special.ndtri(tail)
        g = self.skewness[side]
        u = (self.bounded if bounded else self.unseen)[side]
        free = np.asarray(self.free)
        mean = (2 * side - 1) * self.mean
        shifted = mean + free * np.maximum(g * r / 2, u)
        variance = self.variance * r**2 + free * u**2
        third = 2 * (g * self.variance * r**3 + free**1.5 * u**3)
        return shifted, variance, third


def clusters(
    design: SurveyDesign,
    sample: Sample,
    variance: float | ndarray,
    bounds: Bounds,
    *,
    most_df: float | None = None,
) -> Clusters:
    """Return the moments of PSUs that decide the interval of a mean within `bounds`.

    Parameters
    ----------
    design : SurveyDesign
    sample : Sample
    variance : (...) array
        Of the mean.
    bounds : (float, float)
    most_df : float, optional
        Of replicates made elsewhere: their strata are not known, so nothing is pooled over them.

    Returns
    -------
    Clusters

    Notes
    -----
    For the upper limit, b the bound, W the shares of the PSUs, W* the largest, R the mean and R_h
    that of a stratum: e is a PSU's sum of w (y - R), e' that of w (y - R_h), x that of w ((y -
    R_h)+)^2; + is the part above 0, and 0/0 is 0.

    - g = (sum e^3 / sum e^2)+; 1/Q is the larger sum (e+)^4 / (sum e^2)^2 of e and e'; K is the
      smaller of (sum x)^2 / sum x^2 and the sum over the items of ((y - R_h)+ / (b - R_h))^2: so
      many PSUs carry what lies beyond.
    - Like the worst: a = max e+ / (1 + W*). At the bound: B = max (b - R_h) W / (1 + W). Worse: A,
      the smaller of B and 5 max sum w (y - R_h)+ / (1 + W*).
    - Sizes vary by s, the smaller of 1 and 2 sum n_h / (n_h - 1) (W - mean_h W)^2 / sum W^2.
    - u = a max(min(1, 3/K), min(1, 4/Q)^2) + max(min(1, .7/K^2) (B - a)+, s min(1, 5/Q)^2 (A -
      a)+).

    This u is that of the bounded interval. The default one adds less: a' = max e+ / (1 - W) / (1 +
    W*), the residual of a PSU from the mean of the others, times the smaller of 1 and 1/2 + 3 /
    kappa, kappa equally heavy PSUs. It is trusted as far as K' = (sum x)^2 / sum x^2, Q and kappa /
    C, the evenness of C PSUs, rise from 2 to 4, from 2 to 5 and from .25 to .4: the least of the
    three says how far u goes from the bounded one to this one, if it is smaller. So that no limit
    jumps where PSUs become alike, (sum e^2)^2 counts as larger by d^4 in 1/Q, d = .01 W* times the
    distance of the bounds, and u goes less far: times S^2 / (S^2 + d^4), S = sum e^2, and T^2 /
    (T^2 + 1e-12), T the mean of (y - R_h)^2 over the squared distance of the bounds.

    Examples
    --------
    >>> design = SurveyDesign([0] * 10)
    >>> sample = Sample.of_items(design, np.ones(10), [np.ones(10, bool)])
    >>> [round(float(limit), 6) for limit in clusters(design, sample, 0.0, (0.0, 1.0)).limits(.025)]
    [0.653226, 1.0]
    """
    reach = bounds[1] - bounds[0]
    mean = sample.mean
    share = sample.shares.mean(0)
    errors_of_items = _cleaned(sample.values - mean, reach)
    error = _cleaned(sample.add(errors_of_items), reach * share)
    df, psus = degrees(design, sample.shares, most_df)
    if most_df is None:
        excess = np.maximum(_pooled(design, share, error) - variance, 0)
        variance = variance + np.minimum(1, POOLED_DF / df) * excess
    n = _along(design.psus_per_stratum[design.stratum_of_psu], share.ndim)
    free = _along(design.free[design.stratum_of_psu], share.ndim)
    square = (share**2).sum(0)
    correction = n / np.maximum(n - 1, 1)
    spread_of_sizes = (correction * _centred(design, share) ** 2).sum(0)
    vary = np.minimum(1, SIZES_VARY * spread_of_sizes / square)
    level = np.where(share > 0, sample.stratum_means(design), mean)
    off = _cleaned(sample.values - sample.of_psu(level), reach)
    error_in_stratum = _cleaned(sample.add(off), reach * share)
    errors = np.stack([error, error_in_stratum])
    least = (LEAST_ERROR * reach * share.max(0)) ** 4
    off_squares = np.nan_to_num(sample.add(off**2).sum(0))
    spread = off_squares / len(sample.shares) / reach**2
    holding = (sample.shares.max(0) > 0).sum(0)
    even = _rise(psus / np.maximum(holding, 1), EVEN)
    spread_squared = spread**2
    trusted = even, _over(spread_squared, spread_squared + LEAST_SPREAD**4)
    sides = []
    for sign, bound in zip((-1, 1), bounds, strict=True):
        gap = sign * (bound - level)
        side = _side(
            sample,
            sign * errors,
            sign * off,
            gap,
            vary,
            psus,
            least,
            trusted,
        )
        sides.append(side)
    free_share = (free * share**2).sum(0) / square
    g, bounded, carriers, unseen = np.stack(sides, 1)
    return Clusters(
        mean,
        variance,
        df,
        psus,
        free_share,
        g,
        bounded,
        carriers,
        unseen,
        design.df,
    )


def degrees(design: SurveyDesign, shares: ndarray, most: float | None) -> TwoArrays:
    """Return degrees of freedom and the number of equally heavy PSUs (...).

    Both are of the part with the fewest.

    PSUs that are all of their stratum in the population vary in nothing and are left out. Of C
    others in H strata that hold a part there are kappa = (sum W)^2 / sum W^2 [1]_, and the degrees
    of freedom are the least of C - H, kappa (C - H) / C and, with a_h the sum of W^2 in stratum h,
    (sum a_h)^2 / sum a_h^2 / (n_h - 1) [2]_, at least 1 and at most `most`.

    Parameters
    ----------
    design : SurveyDesign
    shares : (K, P, ...) array
        Weights W of the PSUs in each of K parts.
    most : float or None

    References
    ----------
    .. [1] Kish, Survey Sampling, Wiley 1965.
    .. [2] Satterthwaite, An approximate distribution of estimates of variance components,
       Biometrics Bulletin 2, 1946.
    """
    shares = shares * _along(~design.certain_psus, shares.ndim - 1)
    square = np.add.reduceat(shares**2, design.first_psu, 1)
    n = _along(design.psus_per_stratum, shares.ndim - 1)
    is_held = square > 0
    spare = (is_held * (n - 1)).sum(1)
    holding = (is_held * n).sum(1)
    total = square.sum(1)
    psus = np.round(_over(shares.sum(1) ** 2, total), DECIMALS)
    squares_over_df = square**2 / np.maximum(n - 1, 1)
    satterthwaite = _over(total**2, squares_over_df.sum(1))
    of_even = np.minimum(spare, _over(psus * spare, holding))
    df = np.minimum(of_even, satterthwaite).min(0)
    return np.clip(np.round(df, DECIMALS), 1.0, most), psus.min(0)


def _side(
    sample: Sample,
    errors: ndarray,
    off: ndarray,
    gap: ndarray,
    vary: ndarray,
    psus: ndarray,
    least: ndarray,
    trusted: TwoArrays,
) -> tuple:
    """Return g, u of the bounded interval, K and u of the default one of the upper limit.

    The notes of `clusters` define them. An unseen PSU is as heavy as the heaviest. It is like the
    worst that was seen, lies at the bound where almost none lies beyond the mean of its stratum,
    and is larger and worse than the worst where sizes vary and the tail is heavy. Errors, (2, P,
    ...), are from the mean of all and from that of the stratum.
    """
    error = errors[0]
    share = sample.shares.max(0)
    beyond = np.maximum(off, 0)
    square = error**2
    heaviest = 1 + share.max(0)
    squares = sample.add(beyond**2)
    total_square = square.sum(0)
    skewness = np.maximum(_over((square * error).sum(0), total_square), 0)
    carriers = _over(squares.sum(0) ** 2, (squares**2).sum(0))
    gaps = np.broadcast_to(sample.of_psu(gap), beyond.shape)
    fewest = np.minimum(carriers, sample.count(_over(beyond, gaps) ** 2))
    few = np.maximum(fewest, LEAST_CARRIERS)
    worst = np.maximum(error.max(0), 0) / heaviest
    bound = (gap * share / (1 + share)).max(0)
    farthest = sample.add(beyond).max(0)
    larger = np.minimum(bound, LARGER_FACTOR * farthest / heaviest)
    of_none = np.minimum(1, BOUND_CARRIERS / few**2)
    at_the_bound = of_none * np.maximum(bound - worst, 0)

    def unseen(tail: ndarray) -> ndarray:
        """Return u of the bounded interval."""
        of_few = np.minimum(1, WORST_CARRIERS / few)
        like_the_worst = np.maximum(of_few, np.minimum(1, WORST_TAIL * tail) ** 2)
        heavy_tail = np.minimum(1, LARGER_TAIL * tail) ** 2
        even_larger = vary * heavy_tail * np.maximum(larger - worst, 0)
        return worst * like_the_worst + np.maximum(at_the_bound, even_larger)

    tail = _tail(errors, least)
    longest = unseen(tail)
    left_out = error / (1 - np.minimum(share, LARGEST_SHARE))
    worst_left_out = np.maximum(left_out.max(0), 0) / heaviest
    shortest = np.minimum(1, HALF_A_PSU + _over(FEW_PSUS, psus)) * worst_left_out
    even, spread = trusted
    light_tail = _rise(1 / np.maximum(tail, ROUND), HEAVY)
    carried = np.minimum(_rise(carriers, CARRIERS), light_tail)
    squared_errors = total_square**2
    differing = _over(squared_errors, squared_errors + least)
    trust = np.minimum(carried, even) * spread * differing
    default = longest - trust * np.maximum(longest - shortest, 0)
    return skewness, unseen(_tail(errors)), fewest, default


def _rise(number: ndarray, ends: Bounds) -> ndarray:
    """Return 0 up to the first end, 1 from the second on, and a straight line between."""
    low, high = ends
    return np.clip((number - low) / (high - low), 0.0, 1.0)


def _tail(errors: ndarray, least: float | ndarray = 0.0) -> ndarray:
    """Return 1 / Q, how much of the squared errors (2, P, ...) a few of those above 0 hold.

    It is 0 without errors, and falls to 0 where the squared errors add up to less than the root of
    `least`.
    """
    square = errors**2
    above = np.where(errors > 0, square, 0)
    whole_square = square.sum(1) ** 2 + least
    return _over((above**2).sum(1), whole_square).max(0)


def _pooled(design: SurveyDesign, share: ndarray, error: ndarray) -> ndarray:
    """Return the variance if the errors of PSUs, over their weight, spread alike everywhere."""
    n = _along(design.psus_per_stratum, share.ndim)
    free = _along(design.free, share.ndim)
    mean = np.add.reduceat(share, design.first_psu) / n
    used = mean > 0
    scale = np.where(used, mean, 1.0)
    errors = _centred(design, error) / scale[design.stratum_of_psu]
    spread = ratio((errors**2).sum(0), (used * (n - 1)).sum(0))
    return spread * (free * n * mean**2).sum(0)


def _centred(design: SurveyDesign, columns: ndarray) -> ndarray:
    """Return PSUs' values (P, ...) less the mean of their stratum."""
    n = _along(design.psus_per_stratum, columns.ndim)
    means = np.add.reduceat(columns, design.first_psu) / n
    return columns - means[design.stratum_of_psu]


def _along(column: ndarray, ndim: int) -> ndarray:
    """Return a column (H,) as one along the first of so many axes."""
    return column.reshape(-1, *[1] * (ndim - 1))


def _cleaned(values: ndarray, scale: float | ndarray) -> ndarray:
    """Return values with those that are 0 but for rounding set to 0."""
    return np.where(np.abs(values) > ROUND * scale, values, 0.0)


def _over(numerator: float | ndarray, denominator: ndarray) -> ndarray:
    """Return a ratio (...), 0 where it is 0/0."""
    return np.nan_to_num(ratio(numerator, denominator))
