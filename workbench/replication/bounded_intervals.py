"""Default interval of a mean of bounded values in strata and clusters.

One equation gives each limit. The interval allows for clusters that differ in size and therefore in
quality. It also allows for samples in which few clusters, or none, differ from the rest. If
clusters are about equal, it is only slightly longer than Student's t. If sizes vary, it is on
average 1.7 times as long.

`Sample` holds the values in clusters. `clusters` computes a `Clusters`, whose method `limits`
returns the interval.

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

    A mean has one part: the items that its denominator counts. An AUC has two parts: the positives
    and the negatives. The values of an AUC are the proportions of the other part that an item's
    score is correctly ordered against.

    Attributes
    ----------
    values : (n,) or (V, 1, ...) array
        One value per item, or the values that the items of all PSUs can have.
    shares : (K, P, ...) array
        Proportion of the weight of each of K parts that lies in each PSU.
    of_psu : callable
        Function from numbers (P, ...) of PSUs to those of their items, arranged like the values.
    add : callable
        Function from numbers of items to their weighted sums in PSUs (P, ...). The weights of a
        part add up to 1.
    count : callable
        Function from numbers of items to their sum (...), in which each item counts once.
    """

    values: ndarray
    shares: ndarray
    of_psu: ArrayFunction
    add: ArrayFunction
    count: ArrayFunction

    @classmethod
    def of_items(cls, design: SurveyDesign, values: ndarray, parts: Sequence[ndarray]) -> Self:
        """Return the sample of items with values (n,).

        Parts are masks (n,) that do not overlap, or the number of times that each item counts.
        """
        rows = np.any(parts, 0)
        psus = design.stratum_of_psu.size
        psu = design.psu_of_item[rows]
        of_parts = [part[rows] * design.weight[rows] for part in parts]
        weights = [of_part / of_part.sum() for of_part in of_parts]
        weight = sum(weights)
        return cls(
            values[rows],
            np.stack([np.bincount(psu, weight_of_part, psus) for weight_of_part in weights]),
            lambda of_psus: of_psus[psu],
            lambda numbers: np.bincount(psu, weight * numbers, psus),
            np.sum,
        )

    @classmethod
    def of_counts(cls, values: Sequence[float], counts: Sequence[ndarray], weight: ndarray) -> Self:
        """Return samples of V values from the number of times, (P, ...) each, that a PSU has them.

        The weights of the items of a PSU broadcast against the counts.
        """
        number = np.stack(np.broadcast_arrays(*counts)).astype(float)
        total = weight * number.sum(0)
        share = weight / total.sum(0)
        return cls(
            _along(np.array(values, float), number.ndim),
            (total / total.sum(0))[None],
            lambda of_psus: of_psus[None],
            lambda numbers: share * (number * numbers).sum(0),
            lambda numbers: (number * numbers).sum((0, 1)),
        )

    @classmethod
    def of_columns(cls, design: SurveyDesign, values: ndarray) -> Self:
        """Return a sample per column of values (n, V) of items of equal weight, sorted by PSU."""
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
        """Return the weighted mean (...) of all parts."""
        return ratio(*(sums.sum(0) for sums in self._sums()))

    def stratum_means(self, design: SurveyDesign) -> ndarray:
        """Return the mean (P, ...) of each PSU's stratum, NaN if the stratum holds nothing."""
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
    """Moments of clusters (PSUs) that determine the interval of a mean of bounded values.

    All arrays have the shape (...). The function `clusters` returns this class.

    Attributes
    ----------
    mean : (...) array
    variance : (...) array
        Variance of the mean. `POOLED_DF` of its degrees of freedom belong to the variance pooled
        over strata, if that is larger.
    df, psus : (...) array
        Degrees of freedom and effective number of PSUs, as returned by `degrees`.
    free : (...) array
        Finite-population correction, 1 - n_h / N_h averaged over the PSUs by the square of their
        weight.
    skewness, bounded, carriers, unseen : (2, ...) array
        Values for the lower and the upper limit: g, u of the bounded interval, K, and u of the
        default interval. The Notes of `clusters` define them.
    design_df : int, optional
        PSUs minus strata.
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
        """Return the square root of the variance, (...)."""
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
        Let R be the mean, v its variance, f the finite-population correction, and r the quantile of
        Student's t divided by that of the normal distribution. The upper limit is a quantile of the
        beta distribution that ends at the bound and has these moments::

            mean                   R + f max(g r / 2, u)
            variance               v r^2 + f u^2
            third central moment   2 (g v r^3 + f^1.5 u^3)

        Half the skewness g as shift and twice it as third moment are Hall's second-order correction
        [1]_. The amount u is what one more PSU, which was not sampled, would add. If no value lies
        beyond R, the result is about Beta(1, C), where C is the number of PSUs.

        References
        ----------
        .. [1] Hall, Inverting an Edgeworth expansion, Annals of Statistics 20, 1992: the correction
           for skewness.
        """
        limits = []
        for side, sign in enumerate((-1, 1)):  # upper limits of the values times the sign
            mean, bound = sign * self.mean, sign * bounds[side]
            shifted, variance, third = self.moments(side, tail, bounded)
            limit = three_moment_quantile(shifted, variance, third, bound, tail)
            limits.append(sign * np.where(variance > 0, np.clip(limit, mean, bound), mean))
        lower, upper = limits
        return lower, upper

    def moments(self, side: int, tail: float | ndarray, bounded: bool = False) -> tuple:
        """Return mean, variance and third moment (...) of the beta distribution of a limit.

        Parameters
        ----------
        side : {0, 1}
            0 for the lower limit, with the moments of the negated values; 1 for the upper limit.
        tail : (...) array or float
        bounded : bool
        """
        r = scipy.special.stdtrit(self.df, tail) / scipy.special.ndtri(tail)
        g = self.skewness[side]
        u = (self.bounded if bounded else self.unseen)[side]
        free = np.asarray(self.free)
        shifted = (2 * side - 1) * self.mean + free * np.maximum(g * r / 2, u)
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
    """Return the moments of PSUs that determine the interval of a mean within `bounds`.

    Parameters
    ----------
    design : SurveyDesign
    sample : Sample
    variance : (...) array
        Variance of the mean.
    bounds : (float, float)
    most_df : float, optional
        Degrees of freedom of replicates made elsewhere. Their strata are unknown, so nothing is
        pooled over strata.

    Returns
    -------
    Clusters

    Notes
    -----
    These symbols describe the upper limit:

    - b is the bound, R the mean, and R_h the mean of a stratum;
    - W are the proportions of weight of the PSUs, and W* is the largest;
    - e is the sum of w (y - R) in a PSU, and e' that of w (y - R_h);
    - x is the sum of w ((y - R_h)+)^2 in a PSU;
    - + denotes the part above 0, and 0/0 is 0.

    The skewness g and the number K of PSUs that carry the values beyond the mean are::

        g = (sum e^3 / sum e^2)+
        K = min((sum x)^2 / sum x^2, sum over items of ((y - R_h)+ / (b - R_h))^2)

    1/Q is the larger value, for e or e', of sum (e+)^4 / (sum e^2)^2. An unseen PSU is described by
    three amounts and a number::

        a = max e+ / (1 + W*)                                       (like the worst)
        B = max (b - R_h) W / (1 + W)                               (at the bound)
        A = min(B, 5 max sum w (y - R_h)+ / (1 + W*))               (worse than the worst)
        s = min(1, 2 sum n_h / (n_h - 1) (W - mean_h W)^2 / sum W^2)  (variation of sizes)

    The bounded interval uses::

        u = a max(min(1, 3/K), min(1, 4/Q)^2)
            + max(min(1, .7/K^2) (B - a)+, s min(1, 5/Q)^2 (A - a)+).

    The default interval adds less. With kappa the effective number of PSUs, it uses::

        a' = max e+ / (1 - W) / (1 + W*) * min(1, 1/2 + 3 / kappa),

    the residual of a PSU from the mean of the others. Three numbers determine how far u moves from
    the bounded value to a', if a' is smaller. They are K' = (sum x)^2 / sum x^2, Q, and the
    evenness kappa / C of C PSUs. Trust rises from 0 to 1 as K' rises from 2 to 4, Q from 2 to 5 and
    kappa / C from .25 to .4. The smallest of the three decides.

    Two corrections prevent jumps of a limit if PSUs become equal. Let D be the distance of the
    bounds, d = .01 W* D, S = sum e^2, and T the mean of (y - R_h)^2 / D^2. In 1/Q, (sum e^2)^2 is
    increased by d^4. The trust is multiplied by::

        S^2 / (S^2 + d^4) * T^2 / (T^2 + 1e-12).

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
    spread_of_sizes = (n / np.maximum(n - 1, 1) * _centred(design, share) ** 2).sum(0)
    vary = np.minimum(1, SIZES_VARY * spread_of_sizes / square)
    level = np.where(share > 0, sample.stratum_means(design), mean)
    off = _cleaned(sample.values - sample.of_psu(level), reach)
    errors = np.stack([error, _cleaned(sample.add(off), reach * share)])
    least = (LEAST_ERROR * reach * share.max(0)) ** 4
    off_squares = np.nan_to_num(sample.add(off**2).sum(0))
    spread_squared = (off_squares / len(sample.shares) / reach**2) ** 2
    holding = (sample.shares.max(0) > 0).sum(0)
    even = _rise(psus / np.maximum(holding, 1), EVEN)
    trusted = even, _over(spread_squared, spread_squared + LEAST_SPREAD**4)
    sides = [
        _side(sample, sign * errors, sign * off, sign * (bound - level), vary, psus, least, trusted)
        for sign, bound in zip((-1, 1), bounds, strict=True)
    ]
    free_share = (free * share**2).sum(0) / square
    skewness, bounded, carriers, unseen = np.stack(sides, 1)
    moments = skewness, bounded, carriers, unseen
    return Clusters(mean, variance, df, psus, free_share, *moments, design.df)


def degrees(design: SurveyDesign, shares: ndarray, most: float | None) -> TwoArrays:
    """Return degrees of freedom and the effective number of PSUs (...).

    Both are for the part with the fewest PSUs.

    Parameters
    ----------
    design : SurveyDesign
    shares : (K, P, ...) array
        Weights W of the PSUs in each of K parts.
    most : float or None

    Notes
    -----
    PSUs that are the whole population of their stratum do not vary and are left out. The C other
    PSUs lie in H strata that hold a part. Their effective number is::

        kappa = (sum W)^2 / sum W^2,

    Kish's formula [1]_. Let a_h be the sum of W^2 in stratum h. The degrees of freedom are the
    smallest of these three numbers, at least 1 and at most `most`::

        C - H
        kappa (C - H) / C
        (sum a_h)^2 / sum (a_h^2 / (n_h - 1))

    The third is Satterthwaite's [2]_.

    References
    ----------
    .. [1] Kish, Survey Sampling, Wiley 1965.
    .. [2] Satterthwaite, An approximate distribution of estimates of variance components,
       Biometrics Bulletin 2, 1946.
    """
    shares = shares * _along(~design.certain_psus, shares.ndim - 1)
    square = np.add.reduceat(shares**2, design.first_psu, 1)
    n = _along(design.psus_per_stratum, shares.ndim - 1)
    spare, holding = (((square > 0) * psus).sum(1) for psus in (n - 1, n))
    total = square.sum(1)
    psus = np.round(_over(shares.sum(1) ** 2, total), DECIMALS)
    satterthwaite = _over(total**2, (square**2 / np.maximum(n - 1, 1)).sum(1))
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
    """Return g, u of the bounded interval, K and u of the default one for the upper limit.

    The Notes of `clusters` define them. An unseen PSU is assumed to be as heavy as the heaviest
    one. It resembles the worst PSU in the sample. If almost no value lies beyond the mean of its
    stratum, it lies at the bound. If sizes vary and the tail is heavy, it is larger and worse than
    the worst one. Errors, (2, P, ...), are deviations from the overall mean and from the mean of
    the stratum.
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
    larger = np.minimum(bound, LARGER_FACTOR * sample.add(beyond).max(0) / heaviest)
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
    differing = _over(total_square**2, total_square**2 + least)
    trust = np.minimum(carried, even) * spread * differing
    default = longest - trust * np.maximum(longest - shortest, 0)
    return skewness, unseen(_tail(errors)), fewest, default


def _rise(number: ndarray, ends: Bounds) -> ndarray:
    """Return 0 up to the first end, 1 from the second on, and a straight line between."""
    low, high = ends
    return np.clip((number - low) / (high - low), 0.0, 1.0)


def _tail(errors: ndarray, least: float | ndarray = 0.0) -> ndarray:
    """Return 1 / Q: how much of the squared errors (2, P, ...) a few positive ones hold.

    It is 0 without errors. It falls to 0 if the squared errors add up to less than the square root
    of `least`.
    """
    square = errors**2
    above = np.where(errors > 0, square, 0)
    return _over((above**2).sum(1), square.sum(1) ** 2 + least).max(0)


def _pooled(design: SurveyDesign, share: ndarray, error: ndarray) -> ndarray:
    """Return the variance if PSU errors, divided by their weight, vary equally everywhere."""
    n, free = (_along(column, share.ndim) for column in (design.psus_per_stratum, design.free))
    mean = np.add.reduceat(share, design.first_psu) / n
    used = mean > 0
    scale = np.where(used, mean, 1.0)
    errors = _centred(design, error) / scale[design.stratum_of_psu]
    spread = ratio((errors**2).sum(0), (used * (n - 1)).sum(0))
    return spread * (free * n * mean**2).sum(0)


def _centred(design: SurveyDesign, columns: ndarray) -> ndarray:
    """Return PSUs' values (P, ...) minus the mean of their stratum."""
    n = _along(design.psus_per_stratum, columns.ndim)
    means = np.add.reduceat(columns, design.first_psu) / n
    return columns - means[design.stratum_of_psu]


def _along(column: ndarray, ndim: int) -> ndarray:
    """Return a column (H,) as an array of `ndim` axes that varies along the first."""
    return column.reshape(-1, *[1] * (ndim - 1))


def _cleaned(values: ndarray, scale: float | ndarray) -> ndarray:
    """Return values, with those that are 0 except for rounding set to 0."""
    return np.where(np.abs(values) > ROUND * scale, values, 0.0)


def _over(numerator: float | ndarray, denominator: ndarray) -> ndarray:
    """Return a ratio (...); 0/0 gives 0."""
    return np.nan_to_num(ratio(numerator, denominator))
