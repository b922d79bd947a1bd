"""Simulate thousands of stratified cluster samples: coverage of intervals, and random half-samples.

`simulate_coverage` studies the intervals. `simulate_random_halves` shows why half-samples must be
balanced. The simulations sample counts per primary sampling unit (PSU), never items, and compute
the replicates of all runs at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.replication import bounded_intervals, estimates, replicates, statistics
from workbench.replication.designs import SurveyDesign
from workbench.results import Result, percent
from workbench.simulations.monte_carlo import covers, error_of_mean, error_of_rate

STATISTICS = ("accuracy", "f1")
INTERVALS = ("naive", "weighted_naive", "z", "t", "logit", "wilson", "default")
MOST_STRATA = 2000
MOST_ITEMS = 1000
BLOCK = 2**18
TABLE_STRATA = 12
LARGEST_DIFFERENCE = 1e140  # so that squares of sums are finite


class CoverageStudy(Result):
    """Estimates and intervals of simulated stratified cluster samples; made by `simulate_coverage`.

    Runs that `replicate_estimate` refuses are NaN, and no figure counts them.

    Attributes
    ----------
    statistic : str
        The statistic, "accuracy" or "f1".
    method : str
        Method of the replicates.
    strata : int
        Number of strata.
    psus : int
        Number of sampled primary sampling units (PSUs, clusters) per stratum.
    items : int
        Number of items per cluster.
    runs : int
        Number of runs.
    level : float
        Confidence level of the intervals.
    truth : float
        Value of the statistic in the population.
    item_variance : float
        Variance of the statistic times the number of items, if items were independent and equally
        weighted.
    estimates : (runs,) array of float
        Weighted estimates.
    variances : (runs,) array of float
        Their variances by replicates.
    naive_estimates : (runs,) array of float
        Unweighted estimates.
    naive_variances : (runs,) array of float
        Variances of `naive_estimates` as if the items were independent.
    weighted_naive_variances : (runs,) array of float
        Variances of `estimates` as if the items were independent and equally weighted.
    df : (runs,) array of float
        Degrees of freedom, as in `ReplicateEstimate`.
    counted : (runs,) array of float
        Number of items in the denominator, as in `ReplicateEstimate`.
    effective_psus : (runs,) array of float
        Effective number of clusters, as in `ReplicateEstimate`.
    default_limits : (2, runs) array of float
        Limits of the default interval. With single items in several strata they may be slightly
        wider than those of `ReplicateEstimate`, which also searches over sets of strata.

    See Also
    --------
    simulate_coverage : Run this simulation.
    replicate_estimate : Estimate a statistic from one sample.
    """

    statistic: str
    method: str
    strata: int
    psus: int
    items: int
    runs: int
    level: float
    truth: float
    item_variance: float
    estimates: ndarray
    variances: ndarray
    naive_estimates: ndarray
    naive_variances: ndarray
    weighted_naive_variances: ndarray
    df: ndarray
    counted: ndarray
    effective_psus: ndarray
    default_limits: ndarray

    @property
    def labels(self) -> int:
        """Return the number of labels per run."""
        return self.strata * self.psus * self.items

    @property
    def refused_share(self) -> float:
        """Return the proportion of runs that `replicate_estimate` refuses.

        It refuses a run if the statistic, or more than 5% of its replicates, is 0/0.
        """
        return float(1 - np.isfinite(self.variances).mean())

    @property
    def zero_share(self) -> float:
        """Return the proportion of runs with a standard error of 0."""
        return float((self._of_answered(self.variances) == 0).mean())

    @property
    def variance_ratio(self) -> float:
        """Return the ratio of the mean variance by replicates to the variance of the estimates."""
        return float(self._of_answered(self.variances).mean() / self._empirical_variance)

    @property
    def variance_ratio_error(self) -> float:
        """Return the Monte Carlo standard error of `variance_ratio`."""
        variances = self._of_answered(self.variances)
        misses = variances / variances.mean() - self._relative_squares
        return self.variance_ratio * error_of_mean(misses)

    @property
    def effective_items(self) -> float:
        """Return the effective sample size of the labels of a run [1]_.

        It is the number of independent items that would give the variance of the estimates.

        References
        ----------
        .. [1] Kish, Survey Sampling, Wiley 1965: design effect and effective sample size.
        """
        return float(self.item_variance / self._empirical_variance)

    @property
    def effective_items_error(self) -> float:
        """Return the Monte Carlo standard error of `effective_items`."""
        return self.effective_items * error_of_mean(self._relative_squares)

    def limits(self, method: str = "default") -> tuple:
        """Return lower and upper limits (runs,) of every run's interval.

        Parameters
        ----------
        method : {"naive", "weighted_naive", "z", "t", "logit", "wilson", "default"}
            Interval method, by default "default":

            - "naive": estimate and variance as if the items were independent and equally weighted.
            - "weighted_naive": the weighted estimate with that variance.
            - "z": estimate plus and minus the normal quantile times the standard error by
              replicates.
            - "t", "logit", "wilson", "default": the methods of `ReplicateEstimate.interval`.
              "logit" has the limits of Wilson if it has none of its own.

        Returns
        -------
        tuple of (runs,) ndarray of float
            Lower and upper limits.
        """
        checks.choice("method", method, INTERVALS)
        if method == "default":
            return tuple(self.default_limits)
        tail = (1 + self.level) / 2
        estimate = self.naive_estimates if method == "naive" else self.estimates
        variance = self.variances
        quantile = scipy.special.stdtrit(self.df, tail)
        if method in ("naive", "weighted_naive", "z"):
            if method != "z":
                variance = getattr(self, f"{method}_variances")
            quantile, method = scipy.special.ndtri(tail), "t"
        return estimates.limits(
            method, estimate, variance, quantile, self.counted, self.effective_psus
        )

    def coverage(self, method: str = "default") -> float:
        """Return the coverage: the proportion of runs whose interval contains the true value.

        Parameters
        ----------
        method : str, default "default"
            Interval method, as in `limits`.

        Returns
        -------
        float
            Proportion of runs.
        """
        low, high = map(self._of_answered, self.limits(method))
        return float(covers(low, high, self.truth).mean())

    def coverage_error(self, method: str = "default") -> float:
        """Return the Monte Carlo standard error of `coverage`.

        Parameters
        ----------
        method : str, default "default"
            Interval method, as in `limits`.

        Returns
        -------
        float
            Standard error of the proportion.
        """
        return error_of_rate(self.coverage(method), np.isfinite(self.variances).sum().item())

    def half_width(self, method: str = "default") -> float:
        """Return the mean half-width of the intervals.

        Parameters
        ----------
        method : str, default "default"
            Interval method, as in `limits`.

        Returns
        -------
        float
            Mean over the runs.
        """
        return float(self._half_widths(method).mean())

    def half_width_error(self, method: str = "default") -> float:
        """Return the Monte Carlo standard error of `half_width`.

        Parameters
        ----------
        method : str, default "default"
            Interval method, as in `limits`.

        Returns
        -------
        float
            Standard error of the mean.
        """
        return error_of_mean(self._half_widths(method))

    def headline(self) -> str:
        """Return the coverage of naive and default intervals, and the effective sample size."""
        refused = f", {self.refused_share:.2g} of them refused" if self.refused_share else ""
        return (
            f"{percent(self.level)} intervals for {self.statistic} {self.truth:.4g}: coverage "
            f"{self.coverage('naive'):.3g} of the naive and {self.coverage():.3g} of the default "
            f"interval; {self.labels:,} labels in {self.strata * self.psus:,} clusters have an "
            f"effective sample size of {self.effective_items:,.0f}; {self.runs:,} runs{refused}"
        )

    def rows(self) -> list[dict]:
        """Return one row per interval method: coverage and mean half-width with their errors."""
        names = "coverage", "coverage_error", "half_width", "half_width_error"
        return [
            {"interval_method": method, **{name: getattr(self, name)(method) for name in names}}
            for method in INTERVALS
        ]

    def _of_answered(self, values: ndarray) -> ndarray:
        return values[np.isfinite(self.variances)]

    @property
    def _empirical_variance(self) -> float:
        return self._of_answered(self.estimates).var(ddof=1)

    @property
    def _relative_squares(self) -> ndarray:
        estimates = self._of_answered(self.estimates)
        return (estimates - estimates.mean()) ** 2 / self._empirical_variance

    def _half_widths(self, method: str) -> ndarray:
        low, high = map(self._of_answered, self.limits(method))
        return (high - low) / 2


def simulate_coverage(
    strata: int = 7,
    psus: int = 2,
    items: int = 127,
    *,
    accuracy: float = 0.877,
    icc: float = 0.0181,
    weight_spread: float = 0.0,
    weight_effect: float = 0.0,
    size_spread: float = 0.0,
    size_effect: float = 0.0,
    statistic: str = "accuracy",
    base_rate: float = 0.3,
    method: str = "brr",
    rho: float = 0.5,
    level: float = 0.95,
    runs: int = 2000,
    rng: int | Generator = 0,
) -> CoverageStudy:
    """Simulate stratified cluster samples, and the coverage of their intervals.

    The population has a known true value. Use it to see how clusters and weights affect the
    coverage of naive intervals, and the effective sample size.

    Parameters
    ----------
    strata : int, default 7
        Number of strata L, 1 to 2,000.
    psus : int, default 2
        Number of primary sampling units (PSUs, clusters) sampled per stratum, at least 2. For "brr"
        and "fay" it must be a prime power.
    items : int, default 127
        Number of labeled items per cluster, 1 to 1,000. If sizes differ, their mean.
    accuracy : float, default 0.877
        Accuracy of a stratum of median weight, in (0, 1).
    icc : float, default 0.0181
        Intraclass correlation of correctness within clusters, 0 <= icc < 1. With 0, items are
        independent.
    weight_spread : float, default 0.0
        Standard deviation of the log weights of the strata, 0 to 3.
    weight_effect : float, default 0.0
        Increase of the logit of the accuracy per standard deviation of the log weight, -5 to 5.
    size_spread : float, default 0.0
        Standard deviation of the log sizes of the clusters of a stratum, 0 to 2. The largest
        cluster has 1,000 items.
    size_effect : float, default 0.0
        Increase of the logit of the accuracy per standard deviation of the log size, -5 to 5. It
        has an effect only if sizes differ.
    statistic : {"accuracy", "f1"}, default "accuracy"
        Statistic to estimate.
    base_rate : float, default 0.3
        Proportion of positive items for "f1", in (0, 1).
    method : str, default "brr"
        Method of the replicates, as in `workbench.replicates`. Bootstrap samples are the same in
        all runs.
    rho : float, default 0.5
        Smallest factor of the replicates of "fay" and "generalized", as in `workbench.replicates`.
    level : float, default 0.95
        Confidence level in (0, 1).
    runs : int, default 2000
        Number of runs, at least 2.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.

    Returns
    -------
    CoverageStudy
        Estimates, variances and intervals of all runs, with their coverage.

    Raises
    ------
    ValueError
        If an argument is out of its domain, the method does not suit `psus`, or F1 is undefined in
        all runs but one.

    See Also
    --------
    replicate_estimate : Estimate a statistic from one sample.
    simulate_random_halves : Simulate variances from random half-samples.

    Notes
    -----
    Stratum h has the normal score z_h = Phi^-1((h - 1/2) / L), so the population does not depend on
    `rng`. The stratum has

    - a weight W_h in the population that is proportional to exp(weight_spread z_h),
    - the accuracy expit(logit(accuracy) + weight_effect z_h).

    The accuracies of the clusters of a stratum have a beta distribution around this value. So the
    number of correct items of a cluster is beta-binomial [1]_. Clusters may have different
    (lognormal) sizes, and their accuracy may increase with the size. All clusters of a stratum have
    the same probability to be sampled, and all of their items are labeled.

    For F1 an item is positive with probability `base_rate`, whether its prediction is correct or
    not. So recall and specificity both equal the accuracy.

    References
    ----------
    .. [1] Skellam, A probability distribution derived from the binomial distribution by regarding
       the probability of success as variable between the sets of trials, JRSS B 10, 1948: the
       beta-binomial distribution.

    Examples
    --------
    Fourteen boxes of forms, two per district:

    >>> study = simulate_coverage(runs=1000)
    >>> study      # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    CoverageStudy(95% intervals for accuracy 0.877: coverage 0.7... of the naive and 0.9... of the
    default interval; 1,778 labels in 14 clusters have an effective sample size of ...)

    Two people from each of 50 groups, with six correlated images per person:

    >>> study = simulate_coverage(50, 2, 6, icc=.45)
    >>> study.coverage("naive") < .8, study.coverage() > .92
    (True, True)
    """
    population = _Population(
        strata,
        psus,
        items,
        accuracy,
        icc,
        weight_spread,
        weight_effect,
        size_spread,
        size_effect,
        statistic,
        base_rate,
    )
    level, runs = checks.level(level), checks.whole("runs", runs, 2)
    rng = checks.generator(rng)
    drawn = replicates.replicates(population.design, method, rho=rho, rng=rng)
    step = max(1, BLOCK // max(drawn.count, population.psu_weight.size))
    blocks = []
    for start in range(0, runs, step):
        counts = population.draw(min(step, runs - start), rng)
        blocks.append(_replicated(population, drawn, (1 - level) / 2, *counts))
    columns: dict[str, Any] = {
        name: np.concatenate([block[name] for block in blocks], -1) for name in blocks[0]
    }
    if np.isfinite(columns["variances"]).sum() < 2:
        raise checks.WrongValue(
            "items",
            f"must be larger: {statistic}, or more than 5% of its replicates, is undefined (0/0) "
            f"in {np.isnan(columns['variances']).sum():,} of {runs:,} runs. You can also use "
            "method 'fay'",
        )
    return CoverageStudy(
        statistic,
        method,
        population.strata,
        population.psus,
        population.items,
        runs,
        level,
        population.truth,
        population.item_variance,
        **columns,
    )


class RandomHalvesStudy(Result):
    """Variances of a total from random half-samples; made by `simulate_random_halves`.

    Attributes
    ----------
    strata : int
        Number of strata L.
    count : int
        Number of half-samples per run.
    runs : int
        Number of runs.
    ratios : (runs,) array of float
        Ratio of each variance to the textbook variance, which all 2^L half-samples or a balanced
        set of them give.

    See Also
    --------
    simulate_random_halves : Run this simulation.
    replicates : Make balanced half-samples.
    """

    strata: int
    count: int
    runs: int
    ratios: ndarray

    @property
    def mean_ratio(self) -> float:
        """Return the mean of `ratios`.

        It is 1 except for Monte Carlo error, because random half-samples are unbiased.
        """
        return float(self.ratios.mean())

    @property
    def mean_ratio_error(self) -> float:
        """Return the Monte Carlo standard error of `mean_ratio`."""
        return error_of_mean(self.ratios)

    @property
    def cv(self) -> float:
        """Return the coefficient of variation of the variances.

        For balanced half-samples it would be 0.
        """
        return float(self.ratios.std(ddof=1) / self.mean_ratio)

    @property
    def cv_error(self) -> float:
        """Return the Monte Carlo standard error of `cv`."""
        if not self.cv:
            return 0.0
        relative = self.ratios / self.mean_ratio - 1
        return self.cv * error_of_mean(relative**2 / (2 * self.cv**2) - relative)

    def headline(self) -> str:
        """Return mean and variation of the variances in one sentence."""
        low, high = np.quantile(self.ratios, (0.05, 0.95)) ** 0.5
        halves = checks.counted(self.count, "random half-sample")
        strata = checks.counted(self.strata, "stratum", "strata")
        return (
            f"{halves} of {strata}: mean variance "
            f"{self.mean_ratio:.3f} (+-{self.mean_ratio_error:.3f}) times the textbook variance, "
            f"CV {self.cv:.2g}; 90% of the standard errors are {low:.2f} to {high:.2f} times that "
            "of the textbook"
        )

    def rows(self) -> list[dict]:
        """Return one row: mean ratio and coefficient of variation with their Monte Carlo errors."""
        names = "strata", "count", "runs", "mean_ratio", "mean_ratio_error", "cv", "cv_error"
        return [{name: getattr(self, name) for name in names}]


def simulate_random_halves(
    differences: ArrayLike, count: int, *, runs: int = 2000, rng: int | Generator = 0
) -> RandomHalvesStudy:
    """Simulate the variance of a total from random instead of balanced half-samples.

    The result shows how much the variance changes from one random choice of half-samples to
    another. Balanced half-samples always give the same variance.

    Parameters
    ----------
    differences : (L,) array_like of float
        Differences d_h of the weighted totals of the two primary sampling units (clusters) of each
        stratum. The largest must be from 1e-140 to 1e140.
    count : int
        Number of half-samples per run, taken with replacement, at least 1.
    runs : int, default 2000
        Number of runs, at least 2.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.

    Returns
    -------
    RandomHalvesStudy
        Ratio of each run's variance to the textbook variance.

    See Also
    --------
    replicates : Make balanced half-samples.
    simulate_coverage : Simulate stratified cluster samples.

    Notes
    -----
    A half-sample keeps one of the two clusters of each stratum. Its error of the total is sum_h
    +-d_h. The mean of the squared error over all 2^L half-samples is sum_h d_h^2, the textbook
    variance [1]_. Random half-samples are unbiased, too, but their cross terms d_h d_k cancel only
    on average.

    References
    ----------
    .. [1] McCarthy, Pseudo-replication: half samples, Review of the International Statistical
       Institute 37, 1969.

    Examples
    --------
    >>> study = simulate_random_halves([.10, -.06, .04], 4)
    >>> study      # doctest: +ELLIPSIS
    RandomHalvesStudy(4 random half-samples of 3 strata: mean variance 0.991 (+-0.011) times ...)
    """
    differences = checks.vector("differences", differences, what="stratum")
    if not differences.any():
        raise checks.WrongValue(
            "differences", "must not all be 0, because then every half-sample has the error 0"
        )
    largest = np.abs(differences).max()
    if not 1 / LARGEST_DIFFERENCE <= largest <= LARGEST_DIFFERENCE:
        raise checks.WrongValue(
            "differences",
            f"must have a largest absolute value from {1 / LARGEST_DIFFERENCE:g} to "
            f"{LARGEST_DIFFERENCE:g}; got {largest:g}. Use another unit",
        )
    count = checks.whole("count", count, 1)
    runs = checks.whole("runs", runs, 2)
    rng, step = checks.generator(rng), max(1, BLOCK // count)
    squares = [
        (_random_misses(differences, (min(step, runs - start), count), rng) ** 2).mean(1)
        for start in range(0, runs, step)
    ]
    ratios = np.concatenate(squares) / (differences**2).sum()
    return RandomHalvesStudy(differences.size, count, runs, ratios)


@dataclass(frozen=True)
class _Population:
    """A population: the strata, the clusters to be sampled from them, and the statistic."""

    strata: int
    psus: int
    items: int
    accuracy: float
    icc: float
    weight_spread: float
    weight_effect: float
    size_spread: float
    size_effect: float
    statistic: str
    base_rate: float

    def __post_init__(self) -> None:
        vars(self).update(
            strata=checks.whole("strata", self.strata, 1, MOST_STRATA),
            psus=checks.whole("psus", self.psus, 2),
            items=checks.whole("items", self.items, 1, MOST_ITEMS),
        )
        checks.number("accuracy", self.accuracy, 0, 1, open_ends=True)
        if not 0 <= checks.number("icc", self.icc) < 1:
            raise checks.WrongValue("icc", f"must be at least 0 and below 1; got {self.icc:g}")
        checks.number("weight_spread", self.weight_spread, 0, 3)
        checks.number("weight_effect", self.weight_effect, -5, 5)
        checks.number("size_spread", self.size_spread, 0, 2)
        checks.number("size_effect", self.size_effect, -5, 5)
        checks.choice("statistic", self.statistic, STATISTICS)
        checks.number("base_rate", self.base_rate, 0, 1, open_ends=True)

    @property
    def share(self) -> ndarray:
        """Proportion of the population in each stratum, (H,)."""
        weight = np.exp(self.weight_spread * _normal_scores(self.strata))
        return weight / weight.sum()

    @property
    def rate(self) -> ndarray:
        """Accuracy of each stratum, (H,)."""
        shift = self.weight_effect * _normal_scores(self.strata)
        return scipy.special.expit(scipy.special.logit(self.accuracy) + shift)

    @property
    def psu_weight(self) -> ndarray:
        """Proportion of the population that each PSU represents, (P,)."""
        return np.repeat(self.share / self.psus, self.psus)

    @property
    def design(self) -> SurveyDesign:
        """The PSUs as items of a design."""
        return SurveyDesign(np.repeat(np.arange(self.strata), self.psus), weight=self.psu_weight)

    @property
    def truth(self) -> float:
        """Accuracy, or F1, of the population."""
        if self.statistic == "f1":
            return 2 * self.base_rate * self._right / self._denominator
        return self._right

    @property
    def item_variance(self) -> float:
        """Variance of the statistic times the number of items, if items were independent.

        Items are equally weighted.
        """
        return float(self.independent_variance(self.truth, self._denominator))

    def independent_variance(
        self, estimate: float | ndarray, denominator: float | ndarray
    ) -> ndarray:
        """Variance of a proportion of independent items by the delta method.

        `denominator` is the total of the denominator.
        """
        factor = 1.0 if self.statistic == "accuracy" else 2 - estimate
        return statistics.ratio(estimate * (1 - estimate) * factor, denominator)

    @property
    def _right(self) -> float:
        """Proportion of correct items."""
        if not self.size_spread:
            return float(self.share @ self.rate)
        sizes, rate = self._boxes(_normal_scores(4000)[:, None], self.rate)
        return float(self.share @ ((sizes * rate).sum(0) / sizes.sum(0)))

    @property
    def _denominator(self) -> float:
        if self.statistic == "accuracy":
            return 1.0
        return 2 * self.base_rate * self._right + 1 - self._right

    def _boxes(self, score: ndarray, rate: ndarray) -> tuple[ndarray, ndarray]:
        """Return sizes and accuracies of PSUs from the normal scores of their log sizes."""
        size = self.items * np.exp(self.size_spread * score - self.size_spread**2 / 2)
        sizes = np.clip(np.rint(size), 1, MOST_ITEMS).astype(int)
        return sizes, scipy.special.expit(scipy.special.logit(rate) + self.size_effect * score)

    def draw(self, runs: int, rng: Generator) -> tuple[ndarray, ndarray, ndarray]:
        """Return the items of each PSU in the numerator, in the denominator, and in total.

        Each array is (P, runs). The numerator has the correct items, or the true positives for F1.
        """
        right, sizes = self.draw_right(runs, rng)
        if self.statistic == "accuracy":
            return right, sizes, sizes
        hits = rng.binomial(right, self.base_rate)
        return hits, hits + sizes - right, sizes

    def draw_right(self, runs: int, rng: Any) -> tuple[ndarray, ndarray]:
        """Return correct items and all items per PSU, (P, runs).

        If PSUs have equal sizes, it inverts the distribution function of each stratum's counts.
        """
        if self.size_spread:
            score = rng.normal(size=(self.strata * self.psus, runs))
            sizes, rate = self._boxes(score, np.repeat(self.rate, self.psus)[:, None])
            if self.icc:
                size = 1 / self.icc - 1
                shapes = (np.maximum(part * size, 1e-6) for part in (rate, 1 - rate))
                rate = rng.beta(*shapes)
            return rng.binomial(sizes, rate), sizes
        rate, of_stratum = np.unique(self.rate, return_inverse=True)
        start = np.repeat(of_stratum, self.psus)[:, None]
        cumulated = _count_distribution(self.items, rate, self.icc)
        stacked = (cumulated + np.arange(rate.size)[:, None]).ravel()
        uniform = rng.random((start.size, runs))
        counts = np.searchsorted(stacked, start + uniform, side="right") - start * (self.items + 1)
        right = np.minimum(counts, self.items)  # start + u may round up to start + 1
        return right, np.full_like(right, self.items)


def _normal_scores(count: int) -> ndarray:
    return scipy.special.ndtri((np.arange(count) + 0.5) / count)


def _count_distribution(items: int, rate: ndarray, icc: float) -> ndarray:
    """Return the distribution function of beta-binomial counts 0 .. items, (rates, items + 1).

    It uses the ratios of successive probabilities, which also hold for icc = 0 (binomial counts).
    """
    x, rate = np.arange(items), rate[:, None]
    up = (items - x) * (rate * (1 - icc) + x * icc)
    down = (x + 1) * ((1 - rate) * (1 - icc) + (items - x - 1) * icc)
    log = np.concatenate([np.zeros_like(rate), np.cumsum(np.log(up / down), 1)], 1)
    cumulated = np.cumsum(np.exp(log - log.max(1, keepdims=True)), 1)
    return cumulated / cumulated[:, -1:]


def _replicated(
    population: _Population,
    drawn: replicates.Replicates,
    tail: float,
    hits: ndarray,
    members: ndarray,
    sizes: ndarray,
) -> dict[str, ndarray]:
    """Return the columns of a `CoverageStudy` for a block of runs."""
    metric = statistics.METRICS[population.statistic]
    weight = population.psu_weight[:, None]
    some = members.sum(0) > 0
    middle, values = drawn.ratios(weight * hits, weight * members)
    shares, values = metric.of_mean(middle), metric.of_mean(values)
    naive = metric.of_mean(statistics.ratio(hits.sum(0), members.sum(0)))
    variances = drawn.variances(values, shares)
    variances[np.isnan(values).sum(0) > estimates.MOST_UNDEFINED * len(values)] = np.nan
    misses = np.where(some, members - hits, 1)
    sample = bounded_intervals.Sample.of_counts((0, 1), (misses, hits), weight)
    jackknife_variance = sample.variance(drawn.jackknife)
    clusters = bounded_intervals.clusters(drawn.design, sample, jackknife_variance, (0.0, 1.0))
    total = members if population.statistic == "accuracy" else members + hits
    weighted = sizes.sum(0) * (weight * total).sum(0) / (weight * sizes).sum(0)
    limits = _default_limits(population, clusters, tail, hits, members, sizes)
    columns = {
        "estimates": shares,
        "variances": variances,
        "naive_estimates": naive,
        "naive_variances": population.independent_variance(naive, total.sum(0)),
        "weighted_naive_variances": population.independent_variance(shares, weighted),
        "df": estimates.psus_holding(drawn.design, sample.shares)[1],
        "counted": members.sum(0),
        "effective_psus": clusters.psus,
        "default_limits": metric.of_mean(limits),
    }
    answered = np.isfinite(variances)
    return {name: np.where(answered, column, np.nan) for name, column in columns.items()}


def _default_limits(
    population: _Population,
    sampled: bounded_intervals.Clusters,
    tail: float,
    hits: ndarray,
    members: ndarray,
    sizes: ndarray,
) -> ndarray:
    """Return limits (2, runs) of the mean of hits; with single items those of a proportion."""
    limits = np.array(sampled.limits(tail))
    single = (sizes == 1).all(0)
    if not single.any() or (population.statistic == "f1" and population.strata > 1):
        return limits
    first = np.arange(population.strata) * population.psus
    labeled, correct = (np.add.reduceat(counts[:, single], first).T for counts in (members, hits))
    cells = intervals.Cells(population.share, labeled, correct, np.ones(population.strata))
    limits[:, single] = intervals.default_limits(cells, np.inf, tail)
    return limits


def _random_misses(differences: ndarray, shape: tuple, rng: Generator) -> ndarray:
    """Return sum_h +-d_h of random half-samples, from tables of the sums of up to 12 strata."""
    misses = np.zeros(shape)
    for start in range(0, differences.size, TABLE_STRATA):
        sums = np.zeros(1)
        for difference in differences[start : start + TABLE_STRATA]:
            sums = np.concatenate([sums + difference, sums - difference])
        misses += sums[rng.integers(sums.size, size=shape)]
    return misses
