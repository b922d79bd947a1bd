"""Repeat a stratified cluster sample thousands of times: what each interval covers, and why halves must be balanced.

Draws counts per primary sampling unit (PSU), never items, and replicates all runs at once.

References
----------
.. [1] Skellam, A probability distribution derived from the binomial distribution by regarding the probability of
   success as variable between the sets of trials, JRSS B 10, 1948: the beta-binomial distribution.
.. [2] Kish, Survey Sampling, Wiley 1965: design effect and effective sample size.
.. [3] McCarthy, Pseudo-replication: half samples, Review of the International Statistical Institute 37, 1969.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.replication import bounded_intervals, estimates, replicates, statistics
from workbench.replication.designs import SurveyDesign
from workbench.results import Result, percent

STATISTICS = ("accuracy", "f1")
INTERVALS = ("naive", "weighted_naive", "z", "t", "logit", "wilson", "default")
MOST_STRATA = 2000
MOST_ITEMS = 1000
BLOCK = 2**18
TABLE_STRATA = 12
SCORES = scipy.special.ndtri((np.arange(4000) + 0.5) / 4000)
LARGEST_DIFFERENCE = 1e140  # so that squares of sums are finite


class CoverageStudy(Result):
    """What `runs` repetitions of one stratified cluster sample did.

    Runs that `replicate_estimate` refuses are NaN and left out of every figure.

    Attributes
    ----------
    statistic, method : str
        Of the replicates.
    strata, psus, items, runs : int
        Strata, PSUs per stratum, items per PSU, repetitions.
    level : float
        Nominal coverage.
    truth : float
        The statistic in the population.
    item_variance : float
        Variance that one of many independent, equally weighted items would give the statistic.
    estimates, variances : (runs,) array of float
        Weighted, and by replicates.
    naive_estimates, naive_variances : (runs,) array of float
        Unweighted, as if the items were independent.
    weighted_naive_variances : (runs,) array of float
        Of `estimates`, as if the items were independent and equally weighted.
    df, counted, effective_psus : (runs,) array of float
        As in `ReplicateEstimate`.
    default_limits : (2, runs) array of float
        Of its default interval. Of single items in several strata these are the limits before sets of strata are
        searched (`workbench.intervals.default_limits`), which may be a little wider.
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
    estimates: np.ndarray
    variances: np.ndarray
    naive_estimates: np.ndarray
    naive_variances: np.ndarray
    weighted_naive_variances: np.ndarray
    df: np.ndarray
    counted: np.ndarray
    effective_psus: np.ndarray
    default_limits: np.ndarray

    @property
    def labels(self) -> int:
        """Labels per run."""
        return self.strata * self.psus * self.items

    @property
    def refused_share(self) -> float:
        """Share of the runs that `replicate_estimate` refuses: F1, or more than 5% of its replicates, is 0/0."""
        return float(1 - np.isfinite(self.variances).mean())

    @property
    def zero_share(self) -> float:
        """Share of the runs whose standard error is 0."""
        return float((self._of_answered(self.variances) == 0).mean())

    @property
    def variance_ratio(self) -> float:
        """Mean variance by replicates over the variance of the estimates."""
        return float(self._of_answered(self.variances).mean() / self._empirical_variance)

    @property
    def variance_ratio_error(self) -> float:
        """Monte Carlo standard error of `variance_ratio`."""
        variances = self._of_answered(self.variances)
        return float(
            self.variance_ratio
            * _error_of_mean(variances / variances.mean() - self._relative_squares)
        )

    @property
    def effective_items(self) -> float:
        """Independent items that would give the estimates' variance: what the labels are worth [1]_.

        References
        ----------
        .. [1] Kish, Survey Sampling, Wiley 1965: design effect and effective sample size.
        """
        return float(self.item_variance / self._empirical_variance)

    @property
    def effective_items_error(self) -> float:
        """Monte Carlo standard error of `effective_items`."""
        return float(self.effective_items * _error_of_mean(self._relative_squares))

    def limits(self, method: str = "default") -> tuple:
        """Return lower and upper limits (runs,) of every run's interval.

        Parameters
        ----------
        method : {"naive", "weighted_naive", "z", "t", "logit", "wilson", "default"}
            - "naive": as if the items were independent and equally weighted, estimate and variance.
            - "weighted_naive": the weighted estimate with that variance.
            - "z": estimate +- z SE, the normal quantile with the replicates' SE.
            - "t", "logit", "wilson", "default": those of `ReplicateEstimate.interval`, "logit" with Wilson's limits
              where there is none.
        """
        checks.choice("method", method, INTERVALS)
        if method == "default":
            return tuple(self.default_limits)
        tail, normal = (1 + self.level) / 2, method in ("naive", "weighted_naive", "z")
        estimate = self.naive_estimates if method == "naive" else self.estimates
        variance = getattr(self, f"{method}_variances" if "naive" in method else "variances")
        rule, quantile = (
            ("t", scipy.special.ndtri(tail))
            if normal
            else (method, scipy.special.stdtrit(self.df, tail))
        )
        return estimates.limits(
            rule, estimate, variance, quantile, self.counted, self.effective_psus
        )

    def coverage(self, method: str = "default") -> float:
        """Return the share of runs whose interval contains the truth.

        Parameters
        ----------
        method : str
            As in `limits`.
        """
        low, high = map(self._of_answered, self.limits(method))
        return float(((low <= self.truth + 1e-12) & (self.truth - 1e-12 <= high)).mean())

    def coverage_error(self, method: str = "default") -> float:
        """Return the Monte Carlo standard error of `coverage`.

        Parameters
        ----------
        method : str
            As in `limits`.
        """
        share = self.coverage(method)
        return float(np.sqrt(share * (1 - share) / np.isfinite(self.variances).sum()))

    def half_width(self, method: str = "default") -> float:
        """Return the mean half-width of the intervals.

        Parameters
        ----------
        method : str
            As in `limits`.
        """
        return float(self._half_widths(method).mean())

    def half_width_error(self, method: str = "default") -> float:
        """Return the Monte Carlo standard error of `half_width`.

        Parameters
        ----------
        method : str
            As in `limits`.
        """
        return _error_of_mean(self._half_widths(method))

    def headline(self) -> str:
        """Return coverage of the naive and the default interval and what the labels are worth."""
        refused = f", {self.refused_share:.2g} of them refused" if self.refused_share else ""
        return (
            f"{percent(self.level)} intervals for {self.statistic} {self.truth:.4g}: naive covers "
            f"{self.coverage('naive'):.3g}, default {self.coverage():.3g}; {self.labels:,} labels in "
            f"{self.strata * self.psus:,} PSUs are worth {self.effective_items:,.0f}; {self.runs:,} runs{refused}"
        )

    def rows(self) -> list[dict]:
        """Return one row per interval: coverage and mean half-width with their Monte Carlo errors."""
        names = "coverage", "coverage_error", "half_width", "half_width_error"
        return [
            {"interval_method": method, **{name: getattr(self, name)(method) for name in names}}
            for method in INTERVALS
        ]

    def _of_answered(self, values: np.ndarray) -> np.ndarray:
        return values[np.isfinite(self.variances)]

    @property
    def _empirical_variance(self) -> float:
        return self._of_answered(self.estimates).var(ddof=1)

    @property
    def _relative_squares(self) -> np.ndarray:
        estimates = self._of_answered(self.estimates)
        return (estimates - estimates.mean()) ** 2 / self._empirical_variance

    def _half_widths(self, method: str) -> np.ndarray:
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
    rng: int | np.random.Generator = 0,
) -> CoverageStudy:
    """Repeat a stratified cluster sample from a population whose truth is known.

    Stratum h has the share W_h, proportional to exp(weight_spread z_h), of the population, and the accuracy
    expit(logit(accuracy) + weight_effect z_h), with the normal scores z_h = Phi^-1((h - 1/2) / L), so that the
    population does not depend on `rng`. The accuracies of its PSUs are beta distributed around it, so the right
    items of a PSU are a beta-binomial count [1]_. PSUs may differ in size, log-normally, and their accuracy may rise
    with it; each is drawn as easily as any other of its stratum and labeled whole. For F1 an item is positive with
    probability `base_rate`, whether it is read right or wrong: recall and specificity both equal the accuracy.

    Parameters
    ----------
    strata : int
        L, 1 to 2,000.
    psus : int
        PSUs sampled per stratum, at least 2; for "brr" and "fay" a prime power.
    items : int
        Labeled items per PSU, 1 to 1,000; on average where sizes differ.
    accuracy : float
        In (0, 1), of a stratum of median weight.
    icc : float
        Intraclass correlation of right and wrong within PSUs, 0 <= icc < 1; 0 makes items independent.
    weight_spread : float
        Standard deviation of the log weights of the strata, 0 to 3.
    weight_effect : float
        Rise of the accuracy's logit per standard deviation of the log weight, -5 to 5.
    size_spread : float
        Standard deviation of the log sizes of the PSUs of a stratum, 0 to 2; the largest hold 1,000 items.
    size_effect : float
        Rise of the accuracy's logit per standard deviation of the log size, -5 to 5, where sizes differ.
    statistic : {"accuracy", "f1"}
    base_rate : float
        Share of positive items in (0, 1), for "f1".
    method, rho
        As in `workbench.replicates`; the draws of "bootstrap" are the same in all runs.
    level : float
        Nominal coverage in (0, 1).
    runs : int
        At least 2.
    rng : int or numpy.random.Generator

    Returns
    -------
    CoverageStudy

    Raises
    ------
    ValueError
        If an argument is out of its domain, the method does not suit `psus`, or F1 is undefined in all but one run.

    References
    ----------
    .. [1] Skellam, A probability distribution derived from the binomial distribution by regarding the probability of
       success as variable between the sets of trials, JRSS B 10, 1948: the beta-binomial distribution.

    Examples
    --------
    Fourteen boxes of forms, two per district:

    >>> simulate_coverage(runs=1000)      # doctest: +ELLIPSIS
    CoverageStudy(95% intervals for accuracy 0.877: naive covers 0.7..., default 0.9...; 1,778 labels in 14 PSUs ...)

    Two people from each of 50 groups, six correlated images per person:

    >>> study = simulate_coverage(50, 2, 6, icc=.45)
    >>> study.coverage("naive") < .8, study.coverage() > .92
    (True, True)

    Weights that rise with accuracy:

    >>> study = simulate_coverage(483, 2, 1, weight_spread=.7, weight_effect=.65)
    >>> study.coverage("naive") < .05, study.coverage() > .94
    (True, True)
    """
    population = _Population.of(
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
    blocks = [
        _replicated(
            population, drawn, (1 - level) / 2, *population.draw(min(step, runs - start), rng)
        )
        for start in range(0, runs, step)
    ]
    columns: Any = {
        name: np.concatenate([block[name] for block in blocks], -1) for name in blocks[0]
    }
    if np.isfinite(columns["variances"]).sum() < 2:
        raise checks.WrongValue(
            "items",
            f"must be more: {statistic} or over 5% of its replicates is undefined (0/0) "
            f"in {np.isnan(columns['variances']).sum():,} of {runs:,} runs; or take method 'fay'",
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
    """What replicate variances from random half-samples did.

    Attributes
    ----------
    strata, count, runs : int
        Strata, half-samples per run, repetitions.
    ratios : (runs,) array of float
        Variance over the textbook variance, that of all 2^L half-samples or of a balanced few.
    """

    strata: int
    count: int
    runs: int
    ratios: np.ndarray

    @property
    def mean_ratio(self) -> float:
        """Mean of `ratios`, 1 but for Monte Carlo error: random half-samples are unbiased."""
        return float(self.ratios.mean())

    @property
    def mean_ratio_error(self) -> float:
        """Monte Carlo standard error of `mean_ratio`."""
        return _error_of_mean(self.ratios)

    @property
    def cv(self) -> float:
        """Coefficient of variation of the variances; 0 for balanced half-samples."""
        return float(self.ratios.std(ddof=1) / self.mean_ratio)

    @property
    def cv_error(self) -> float:
        """Monte Carlo standard error of `cv`."""
        relative = self.ratios / self.mean_ratio - 1
        return (
            float(self.cv * _error_of_mean(relative**2 / (2 * self.cv**2) - relative))
            if self.cv
            else 0.0
        )

    def headline(self) -> str:
        """Return mean and instability of the variances."""
        low, high = np.quantile(self.ratios, (0.05, 0.95)) ** 0.5
        halves = checks.counted(self.count, "random half-sample")
        return (
            f"{halves} of {checks.counted(self.strata, 'stratum', 'strata')}: variance x{self.mean_ratio:.3f} "
            f"(+-{self.mean_ratio_error:.3f}) of the textbook's, CV {self.cv:.2g}; 90% of the standard errors "
            f"x{low:.2f} to x{high:.2f}"
        )

    def rows(self) -> list[dict]:
        """Return one row: mean ratio and CV with their Monte Carlo errors."""
        names = "strata", "count", "runs", "mean_ratio", "mean_ratio_error", "cv", "cv_error"
        return [{name: getattr(self, name) for name in names}]


def simulate_random_halves(
    differences: ArrayLike, count: int, *, runs: int = 2000, rng: int | np.random.Generator = 0
) -> RandomHalvesStudy:
    """Repeat the replicate variance of a total from random instead of balanced half-samples.

    A half-sample that keeps one of two PSUs per stratum misses the total by sum_h +-d_h, and the mean of its square
    over all 2^L half-samples is sum_h d_h^2, the textbook variance [1]_. Random half-samples are unbiased too, but
    their cross terms d_h d_k cancel only on average.

    Parameters
    ----------
    differences : (L,) array_like of float
        d_h, difference of the weighted totals of the two PSUs of each stratum; the largest from 1e-140 to 1e140.
    count : int
        Half-samples per run, drawn with replacement, at least 1.
    runs : int
        At least 2.
    rng : int or numpy.random.Generator

    Returns
    -------
    RandomHalvesStudy

    References
    ----------
    .. [1] McCarthy, Pseudo-replication: half samples, Review of the International Statistical Institute 37, 1969.

    Examples
    --------
    >>> simulate_random_halves([.10, -.06, .04], 4)      # doctest: +ELLIPSIS
    RandomHalvesStudy(4 random half-samples of 3 strata: variance x0.991 (+-0.011) of the textbook's, CV 0.5; 90% ...)
    """
    differences = checks.vector("differences", differences, what="stratum")
    if not differences.any():
        raise checks.WrongValue(
            "differences", "must not all be 0: then every half-sample gives the total itself"
        )
    largest = np.abs(differences).max()
    if not 1 / LARGEST_DIFFERENCE <= largest <= LARGEST_DIFFERENCE:
        raise checks.WrongValue(
            "differences",
            f"must have a largest size from {1 / LARGEST_DIFFERENCE:g} to "
            f"{LARGEST_DIFFERENCE:g}; got {largest:g}: give them in another unit",
        )
    count, runs = checks.whole("count", count, 1), checks.whole("runs", runs, 2)
    rng, step = checks.generator(rng), max(1, BLOCK // count)
    found = [
        (_random_misses(differences, (min(step, runs - start), count), rng) ** 2).mean(1)
        for start in range(0, runs, step)
    ]
    return RandomHalvesStudy(
        differences.size, count, runs, np.concatenate(found) / (differences**2).sum()
    )


@dataclass(frozen=True)
class _Population:
    """Strata, the PSUs to be sampled from them, and the statistic."""

    strata: int
    psus: int
    items: int
    icc: float
    size_spread: float
    size_effect: float
    share: np.ndarray
    rate: np.ndarray
    statistic: str
    base_rate: float

    @classmethod
    def of(
        cls,
        strata: int,
        psus: int,
        items: int,
        accuracy: float,
        icc: float,
        weight_spread: float,
        weight_effect: float,
        size_spread: float,
        size_effect: float,
        statistic: str,
        base_rate: float,
    ) -> "_Population":
        strata = checks.whole("strata", strata, 1, MOST_STRATA)
        psus, items = checks.whole("psus", psus, 2), checks.whole("items", items, 1, MOST_ITEMS)
        accuracy = checks.number("accuracy", accuracy, 0, 1, open_ends=True)
        icc = checks.number("icc", icc)
        if not 0 <= icc < 1:
            raise checks.WrongValue("icc", f"must be at least 0 and below 1; got {icc:g}")
        score = scipy.special.ndtri((np.arange(strata) + 0.5) / strata)
        weight = np.exp(checks.number("weight_spread", weight_spread, 0, 3) * score)
        shift = checks.number("weight_effect", weight_effect, -5, 5) * score
        sizes = (
            checks.number("size_spread", size_spread, 0, 2),
            checks.number("size_effect", size_effect, -5, 5),
        )
        checks.choice("statistic", statistic, STATISTICS)
        base_rate = checks.number("base_rate", base_rate, 0, 1, open_ends=True)
        rate = scipy.special.expit(scipy.special.logit(accuracy) + shift)
        return cls(
            strata, psus, items, icc, *sizes, weight / weight.sum(), rate, statistic, base_rate
        )

    @property
    def psu_weight(self) -> np.ndarray:
        """Share of the population that each PSU stands for, (P,)."""
        return np.repeat(self.share / self.psus, self.psus)

    @property
    def design(self) -> SurveyDesign:
        """The PSUs as items of a design."""
        return SurveyDesign(np.repeat(np.arange(self.strata), self.psus), weight=self.psu_weight)

    @property
    def truth(self) -> float:
        """Accuracy, or F1, of the population."""
        return (
            2 * self.base_rate * self._right / self._denominator
            if self.statistic == "f1"
            else self._right
        )

    @property
    def item_variance(self) -> float:
        """Variance of the statistic times the number of items, if these were independent and equally weighted."""
        return float(self.independent_variance(self.truth, self._denominator))

    def independent_variance(
        self, estimate: float | np.ndarray, denominator: float | np.ndarray
    ) -> np.ndarray:
        """Variance of a share of independent items with this total of the denominator, by the delta method."""
        factor = 1.0 if self.statistic == "accuracy" else 2 - estimate
        return statistics.ratio(estimate * (1 - estimate) * factor, denominator)

    @property
    def _right(self) -> float:
        """Share of right items."""
        sizes, rate = (
            self._boxes(SCORES[:, None], self.rate)
            if self.size_spread
            else (np.ones((1, 1)), self.rate)
        )
        return float(self.share @ ((sizes * rate).sum(0) / sizes.sum(0)))

    @property
    def _denominator(self) -> float:
        return (
            1.0
            if self.statistic == "accuracy"
            else 2 * self.base_rate * self._right + 1 - self._right
        )

    def _boxes(self, score: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sizes and rates of PSUs with these normal scores of their log size."""
        size = self.items * np.exp(self.size_spread * score - self.size_spread**2 / 2)
        return np.clip(np.rint(size), 1, MOST_ITEMS).astype(int), scipy.special.expit(
            scipy.special.logit(rate) + self.size_effect * score
        )

    def draw(self, runs: int, rng: np.random.Generator) -> tuple:
        """Return per PSU the truly positive or right items, those they are counted among, and all, (P, runs)."""
        right, sizes = self.draw_right(runs, rng)
        if self.statistic == "accuracy":
            return right, sizes, sizes
        hits = rng.binomial(right, self.base_rate)
        return hits, hits + sizes - right, sizes

    def draw_right(self, runs: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return right items and all items per PSU, (P, runs).

        Of equal PSUs it inverts the distribution function of each stratum's counts.
        """
        if self.size_spread:
            sizes, rate = self._boxes(
                rng.normal(size=(self.strata * self.psus, runs)),
                np.repeat(self.rate, self.psus)[:, None],
            )
            return rng.binomial(sizes, _varied(rate, self.icc, rng)), sizes
        rate, of_stratum = np.unique(self.rate, return_inverse=True)
        start = np.repeat(of_stratum, self.psus)[:, None]
        stacked = (
            _count_distribution(self.items, rate, self.icc) + np.arange(rate.size)[:, None]
        ).ravel()
        place = np.searchsorted(stacked, start + rng.random((start.size, runs)), side="right")
        right = np.minimum(
            place - start * (self.items + 1), self.items
        )  # start + u may round up to start + 1
        return right, np.full_like(right, self.items)


def _varied(rate: np.ndarray, icc: float, rng: np.random.Generator) -> np.ndarray:
    """Return beta distributed rates of PSUs around these."""
    size = 1 / icc - 1 if icc else 0.0
    return rng.beta(*(np.maximum(part * size, 1e-6) for part in (rate, 1 - rate))) if icc else rate


def _count_distribution(items: int, rate: np.ndarray, icc: float) -> np.ndarray:
    """Return the distribution function of beta-binomial counts 0 .. items, (rates, items + 1).

    By the ratios of successive probabilities, which hold for icc = 0, the binomial, too.
    """
    x, rate = np.arange(items), rate[:, None]
    up = (items - x) * (rate * (1 - icc) + x * icc)
    down = (x + 1) * ((1 - rate) * (1 - icc) + (items - x - 1) * icc)
    log = np.concatenate([np.zeros_like(rate), np.cumsum(np.log(up / down), 1)], 1)
    cumulated = np.cumsum(np.exp(log - log.max(1, keepdims=True)), 1)
    return cumulated / cumulated[:, -1:]


def _replicated(
    population: Any, drawn: Any, tail: float, hits: Any, counted: Any, sizes: Any
) -> dict:
    """Return the columns of a `CoverageStudy` for a block of runs."""
    metric, weight, some = (
        statistics.METRICS[population.statistic],
        population.psu_weight[:, None],
        counted.sum(0) > 0,
    )
    middle, values = drawn.ratios(weight * hits, weight * counted)
    shares, values, naive = map(
        metric.of_mean, (middle, values, statistics.ratio(hits.sum(0), counted.sum(0)))
    )
    variances = drawn.variances(values, shares)
    variances[np.isnan(values).sum(0) > estimates.MOST_UNDEFINED * len(values)] = np.nan
    sample = bounded_intervals.Sample.of_counts(
        (0, 1), (np.where(some, counted - hits, 1), hits), weight
    )
    told = bounded_intervals.clusters(
        drawn.design, sample, sample.variance(drawn.jackknife), (0.0, 1.0)
    )
    total = counted if population.statistic == "accuracy" else counted + hits
    weighted = sizes.sum(0) * (weight * total).sum(0) / (weight * sizes).sum(0)
    columns = {
        "estimates": shares,
        "variances": variances,
        "naive_estimates": naive,
        "naive_variances": population.independent_variance(naive, total.sum(0)),
        "weighted_naive_variances": population.independent_variance(shares, weighted),
        "df": estimates.psus_holding(drawn.design, sample.shares)[1],
        "counted": counted.sum(0),
        "effective_psus": told.psus,
        "default_limits": metric.of_mean(
            _default_limits(population, told, tail, hits, counted, sizes)
        ),
    }
    return {
        name: np.where(np.isfinite(variances), values, np.nan) for name, values in columns.items()
    }


def _default_limits(
    population: _Population,
    sampled: bounded_intervals.Clusters,
    tail: float,
    hits: np.ndarray,
    counted: np.ndarray,
    sizes: np.ndarray,
) -> np.ndarray:
    """Return limits (2, runs) of the mean of hits; runs of single items have those of a proportion."""
    limits = np.array(sampled.limits(tail))
    single = (sizes == 1).all(0)
    if not single.any() or (population.statistic == "f1" and population.strata > 1):
        return limits
    first = np.arange(population.strata) * population.psus
    labeled, correct = (np.add.reduceat(counts[:, single], first).T for counts in (counted, hits))
    cells = intervals.Cells(population.share, labeled, correct, np.ones(population.strata))
    limits[:, single] = intervals.default_limits(cells, np.inf, tail)
    return limits


def _random_misses(differences: np.ndarray, shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """Return sum_h +-d_h of random half-samples; signs by looking up the sums of up to 12 strata at a time."""
    misses = np.zeros(shape)
    for start in range(0, differences.size, TABLE_STRATA):
        sums = np.zeros(1)
        for difference in differences[start : start + TABLE_STRATA]:
            sums = np.concatenate([sums + difference, sums - difference])
        misses += sums[rng.integers(sums.size, size=shape)]
    return misses


def _error_of_mean(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size))
