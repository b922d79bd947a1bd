"""Simulate cross-validation on thousands of samples: false alarm rate and power of every test.

`simulate_type_one` studies the t-test of one learner's error, and `simulate_comparison` studies
tests that compare two learners.

References
----------
.. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, Technical Report 1285,
   Universite de Montreal, 2006.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from workbench import checks
from workbench.cross_validation import kfold, model_tests
from workbench.cross_validation.learners import (
    Population,
    Samples,
    as_learner,
    loss_of,
    refuse_large,
)
from workbench.results import Note, Result
from workbench.simulations.monte_carlo import error_of_mean, error_of_rate

SKEPTICAL = 0.7
BLOCK = 2**17
CHEAP_TESTS = (
    "naive t",
    "Nadeau-Bengio",
    "rho 0.7",
    "central limit theorem",
    "McNemar, pooled",
    "Bayes, ROPE",
)
COSTLY_TESTS = (
    "naive t, repeated",
    "Nadeau-Bengio, repeated",
    "half-sample rho",
    "5x2cv t",
    "5x2cv F",
    "McNemar, one third held out",
    "nested cross-validation",
)
TESTS = CHEAP_TESTS + COSTLY_TESTS
# tests that count errors, which a regressor does not make
COUNTING = ("McNemar, pooled", "McNemar, one third held out")
HALVINGS = 10
NESTED_REPEATS = 3


class TypeOneStudy(Result):
    """False alarm rate of the K-fold t-test of one learner's error.

    `simulate_type_one` makes it, as in Table 2 of [1]_.

    Attributes
    ----------
    population : str
        Name of the population.
    learner : str
        Name of the learner.
    n : int
        Number of items per sample.
    folds : int
        Number of folds.
    runs : int
        Number of samples.
    estimates : (runs,) array of float
        Cross-validated error of each sample.
    theta3 : (runs,) array of float
        Estimate of its variance from the variation between folds.
    loss : {"zero_one", "squared"}
        Kind of error: the proportion of items that are classified incorrectly, or the mean squared
        error of a regressor.

    See Also
    --------
    simulate_type_one : Run this simulation.
    kfold_t_test : Test a cross-validated error.

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006.
    """

    population: str
    learner: str
    n: int
    folds: int
    runs: int
    estimates: ndarray
    theta3: ndarray
    loss: str = "zero_one"

    @property
    def mean(self) -> float:
        """Return the mean cross-validated error of all runs, which is treated as the true value."""
        return float(self.estimates.mean())

    @property
    def rho(self) -> float:
        """Return the proportion of the variance of the estimates that the folds do not show."""
        return float(1 - self.theta3.mean() / self.estimates.var(ddof=1))

    @property
    def rho_error(self) -> float:
        """Return the Monte Carlo standard error of `rho`."""
        squares = (self.estimates - self.mean) ** 2
        residuals = self.theta3 - (1 - self.rho) * squares
        return error_of_mean(residuals / self.estimates.var(ddof=1))

    @property
    def zero_share(self) -> float:
        """Return the proportion of runs with equal errors in all folds.

        `kfold_t_test` refuses these runs.
        """
        return float((self.shown == 0).mean())

    def type_one(
        self,
        rho: float | str = 0.0,
        *,
        level: float = 0.95,
        mean: float | None = None,
        zero_variance: str = "reject",
    ) -> float:
        """Return the type I error rate: the proportion of runs that reject the true mean.

        Parameters
        ----------
        rho : float or str, default 0.0
            Assumed proportion of the variance that the folds do not show, as in
            `workbench.kfold_t_test`.
        level : float, default 0.95
            1 minus the significance level, in (0, 1).
        mean : float, optional
            Tested mean, by default `mean`. Sums of 0/1 losses have few different values, so the
            rate can jump with the tested mean.
        zero_variance : {"reject", "refuse"}, default "reject"
            Result of a run in which all folds have the same error, so that t is infinite. "reject":
            the test rejects, as in the paper. "refuse": the test is refused and does not reject.

        Returns
        -------
        float
            Proportion of runs.
        """
        checks.choice("zero_variance", zero_variance, ("reject", "refuse"))
        tail = (1 + checks.level(level)) / 2
        mean = self.mean if mean is None else checks.number("mean", mean)
        critical = scipy.special.stdtrit(self.folds - 1, tail)
        squares = (1 - kfold.resolve_rho(rho, self.folds)) * (self.estimates - mean) ** 2
        rejects = squares > critical**2 * self.shown
        if zero_variance == "refuse":
            rejects &= self.shown > 0
        return float(rejects.mean())

    def type_one_error(
        self,
        rho: float | str = 0.0,
        *,
        level: float = 0.95,
        mean: float | None = None,
        zero_variance: str = "reject",
    ) -> float:
        """Return the Monte Carlo standard error of `type_one`.

        Parameters
        ----------
        rho : float or str, default 0.0
            Assumed proportion of the variance that the folds do not show, as in `type_one`.
        level : float, default 0.95
            1 minus the significance level, in (0, 1).
        mean : float, optional
            Tested mean, as in `type_one`.
        zero_variance : {"reject", "refuse"}, default "reject"
            Result of a run without variance, as in `type_one`.

        Returns
        -------
        float
            Standard error of the proportion.
        """
        rate = self.type_one(rho, level=level, mean=mean, zero_variance=zero_variance)
        return error_of_rate(rate, self.runs)

    def headline(self) -> str:
        """Return rho and the false alarm rates of the naive t-test and at rho 0.7."""
        squared = ", squared error" if self.loss == "squared" else ""
        return (
            f"{self.learner} on {self.population}, n = {self.n}{squared}: rho {self.rho:.3f}; "
            f"false alarm rate {self.type_one():.3f} of the naive t-test and "
            f"{self.type_one(SKEPTICAL):.3f} with rho 0.7; {self.runs:,} runs"
        )

    def rows(self) -> list[dict]:
        """Return one row per assumed rho: type I error rate with its Monte Carlo error.

        A row also has the rate if runs without variance are refused.
        """
        return [
            {
                "n": self.n,
                "true_rho": self.rho,
                "true_rho_error": self.rho_error,
                "assumed_rho": assumed,
                "type_one": self.type_one(assumed),
                "type_one_error": self.type_one_error(assumed),
                "zero_variance_refused": self.type_one(assumed, zero_variance="refuse"),
            }
            for assumed in (0.0, kfold.resolve_rho("nadeau_bengio", self.folds), SKEPTICAL)
        ]

    @property
    def shown(self) -> ndarray:
        """Return `theta3`, with 0 for folds that are equal except for rounding."""
        return np.where(self.theta3 > (kfold.ROUNDING * self.estimates) ** 2, self.theta3, 0.0)


def simulate_type_one(
    population: Any,
    learner: Any,
    n: int,
    *,
    folds: int = 10,
    runs: int = 10_000,
    rng: int | Generator = 0,
    jobs: int | None = None,
    progress: bool = True,
) -> TypeOneStudy:
    """Simulate how often the K-fold t-test rejects the true error of a learner.

    The cross-validation is repeated on many samples, as in [1]_. The result has the false alarm
    rate of the test for any assumed rho.

    Parameters
    ----------
    population : {"digits", "ten_digits"} or (X, y)
        Population from which samples are taken with replacement. "digits": images of digits of at
        least 5 against the others. "ten_digits": all ten digits. Or features (N, p) and classes
        (N,), which are numbers for a regressor.
    learner : {"1nn", "centroid"} or scikit-learn classifier or regressor
        Learner to cross-validate. Nearest neighbor and nearest centroid are computed for all
        samples at once. The loss is 0 or 1, or the squared error of a regressor. A `random_state`
        of None is set from `rng`.
    n : int
        Number of items per sample, a multiple of `folds`.
    folds : int, default 10
        Number of folds K, at least 2.
    runs : int, default 10_000
        Number of samples, at least 100.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    jobs : int, optional
        Number of threads. The result does not depend on it.
    progress : bool, default True
        Whether to show a progress bar if the simulation takes longer than a second.

    Returns
    -------
    TypeOneStudy
        Errors of all runs, with the false alarm rates of the test.

    Raises
    ------
    ValueError
        If an argument is out of its domain.

    See Also
    --------
    kfold_t_test : Test a cross-validated error.
    simulate_comparison : Simulate tests that compare two learners.

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006, section 5 and Table
       2.

    Examples
    --------
    >>> study = simulate_type_one("digits", "1nn", 20, runs=2000)
    >>> study      # doctest: +ELLIPSIS
    TypeOneStudy(1nn on digits, n = 20: rho 0.2...; false alarm rate 0.09... of the naive ...)
    """
    population = Population.of(population)
    losses, label = as_learner("learner", learner)
    n = _sample_size(n, folds)
    runs = checks.whole("runs", runs, 100)
    rng = checks.generator(rng)
    loss = loss_of(learner)
    fold = np.arange(n) % folds

    def fold_means(samples: Samples) -> ndarray:
        return _fold_means(losses(samples, fold), folds)

    rows = _draw(rng, population, runs, n)
    means = np.concatenate(_per_block(fold_means, population, rows, rng, jobs, progress))
    notes = []
    if loss == "squared":
        notes.append(Note("data", "squared error, because the learner is a regressor"))
    return TypeOneStudy(
        population.name,
        label,
        n,
        int(folds),
        runs,
        means.mean(-1),
        kfold.theta3(means),
        loss,
        notes=notes,
    )


class ComparisonStudy(Result):
    """Results of tests that compare two learners, for each sample.

    `simulate_comparison` makes it.

    Attributes
    ----------
    population : str
        Name of the population.
    first : str
        Name of the first learner.
    second : str
        Name of the second learner.
    n : int
        Number of items per sample.
    folds : int
        Number of folds.
    repeats : int
        Number of repeats of the cross-validation.
    runs : int
        Number of samples.
    tests : tuple of str
        Names of the tests.
    pvalues : (T, runs) array of float
        p-value of each test and sample. NaN if a test is refused because its variance is 0. For the
        Bayesian test, the probability that the better learner is not better.
    errors : (2, runs) array of float
        Cross-validated error of both learners.
    estimates : (2, runs) array of float
        Error of the first learner minus that of the second. Row 0 has one repeat. Row 1 has all
        repeats, and is NaN if there is only one.
    naive_errors : (2, runs) array of float
        Standard errors of `estimates` at rho = 0.
    loss : {"zero_one", "squared"}
        Kind of error, as in `TypeOneStudy`.

    See Also
    --------
    simulate_comparison : Run this simulation.
    compare_tests : Compare two learners by all tests on one sample.
    """

    population: str
    first: str
    second: str
    n: int
    folds: int
    repeats: int
    runs: int
    tests: tuple
    pvalues: ndarray
    errors: ndarray
    estimates: ndarray
    naive_errors: ndarray
    loss: str = "zero_one"

    @property
    def rho(self) -> float:
        """Return the proportion of the variance of the differences that the folds do not show."""
        return float(1 - (self.naive_errors[0] ** 2).mean() / self.estimates[0].var(ddof=1))

    def pvalue(self, test: str) -> ndarray:
        """Return the p-values (runs,) of a test.

        Parameters
        ----------
        test : str
            One of `tests`.

        Returns
        -------
        (runs,) ndarray of float
            One p-value per sample.
        """
        return self.pvalues[self.tests.index(checks.choice("test", test, self.tests))]

    def rejects(self, test: str, level: float = 0.95) -> ndarray:
        """Return a mask (runs,) of the samples in which the test finds a difference.

        Parameters
        ----------
        test : str
            One of `tests`.
        level : float, default 0.95
            1 minus the significance level, in (0, 1).

        Returns
        -------
        (runs,) ndarray of bool
            False if the test is refused.
        """
        return self.pvalue(test) < 1 - checks.level(level)

    def rejection(self, test: str, level: float = 0.95) -> float:
        """Return the rejection rate: the proportion of runs in which the test finds a difference.

        Parameters
        ----------
        test : str
            One of `tests`.
        level : float, default 0.95
            1 minus the significance level, in (0, 1).

        Returns
        -------
        float
            Proportion of runs.
        """
        return float(self.rejects(test, level).mean())

    def rejection_error(self, test: str, level: float = 0.95) -> float:
        """Return the Monte Carlo standard error of `rejection`.

        Parameters
        ----------
        test : str
            One of `tests`.
        level : float, default 0.95
            1 minus the significance level, in (0, 1).

        Returns
        -------
        float
            Standard error of the proportion.
        """
        return error_of_rate(self.rejection(test, level), self.runs)

    def headline(self) -> str:
        """Return the mean errors and the rejection rates of the first tests."""
        rates = ", ".join(f"{test} {self.rejection(test):.3f}" for test in self.tests[:3])
        kind = "squared error" if self.loss == "squared" else "error"
        return (
            f"{kind} {self.errors[0].mean():.4g} of {self.first} and {self.errors[1].mean():.4g} "
            f"of {self.second} on {self.population}, n = {self.n}; rejection rates at the 5% "
            f"level: {rates}; {self.runs:,} runs"
        )

    def rows(self) -> list[dict]:
        """Return one row per test: rejection rate, its Monte Carlo error, rate of refused runs."""
        return [
            {
                "test": test,
                "rejects": self.rejection(test),
                "rejects_error": self.rejection_error(test),
                "refused": float(np.isnan(self.pvalue(test)).mean()),
            }
            for test in self.tests
        ]


def simulate_comparison(
    population: Any,
    first: Any,
    second: Any,
    n: int,
    *,
    tests: Sequence[str] = CHEAP_TESTS,
    folds: int = 10,
    repeats: int = 1,
    rope: float = 0.01,
    runs: int = 1000,
    samples: ArrayLike | None = None,
    rng: int | Generator = 0,
    jobs: int | None = None,
    progress: bool = True,
) -> ComparisonStudy:
    """Simulate how often each test finds a difference between two learners.

    If the learners are equally good, the rejection rate is the type I error rate of the test. If
    not, it is the power.

    Parameters
    ----------
    population : str or (X, y)
        Population from which samples are taken, as in `simulate_type_one`. In populations of
        `workbench.exchangeable_population`, a learner has exactly the same expected error on both
        halves of the features.
    first, second : learner or (learner, columns)
        Two classifiers or two regressors, as in `simulate_type_one`. `columns` are the features
        that the learner uses, by default all.
    n : int
        Number of items per sample, a multiple of `folds`.
    tests : "all" or sequence of str
        Names in `workbench.simulations.cross_validation.TESTS`, by default those that need no
        further fits. For regressors the tests of McNemar are left out, as a note says.
    folds : int, default 10
        Number of folds K, at least 2.
    repeats : int, default 1
        Number of repeats of the cross-validation, at least 2 for the tests called "repeated".
    rope : float, default 0.01
        Half-width of the region of practical equivalence of the Bayesian test, at least 0.
    runs : int, default 1000
        Number of samples, at least 2.
    samples : (runs, n) array_like of int, optional
        Rows of the population in each sample, by default taken at random with replacement. Item i
        is in fold i mod K.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    jobs : int, optional
        Number of threads. The result does not depend on it.
    progress : bool, default True
        Whether to show a progress bar if the simulation takes longer than a second.

    Returns
    -------
    ComparisonStudy
        The p-values of all tests and runs, with the rejection rates.

    Raises
    ------
    ValueError
        If an argument is out of its domain, or only one of the learners is a regressor.

    See Also
    --------
    compare_tests : Compare two learners by all tests on one sample.
    exchangeable_population : Make a population in which two learners are equally good.
    simulate_type_one : Simulate the t-test of one learner's error.

    Examples
    --------
    Two nearest-neighbor classifiers with equally good features, so that no difference exists:

    >>> from workbench.cross_validation.learners import gaussian_population
    >>> population = gaussian_population(2000)
    >>> study = simulate_comparison(population, ("1nn", range(8)), ("1nn", range(8, 16)), 100)
    >>> study.rejection("naive t") > .08, study.rejection("rho 0.7") < .04
    (True, True)
    """
    population = Population.of(population)
    first_losses, first_label = as_learner("first", first)
    second_losses, second_label = as_learner("second", second)
    n = _sample_size(n, folds)
    rng = checks.generator(rng)
    folds = int(folds)
    repeats = checks.whole("repeats", repeats, 1)
    tests = _check_tests(tests, repeats, n, folds)
    loss = _common_loss((first, second), (first_label, second_label))
    notes: list[Note] = []
    if loss == "squared":
        tests, notes = _without_counting(tests)
    if samples is None:
        samples = _draw(rng, population, checks.whole("runs", runs, 2), n)
    rows = _check_rows(samples, n, len(population.y))
    plan = _Plan(
        (first_losses, second_losses), tests, folds, repeats, checks.number("rope", rope, 0)
    )
    blocks = _per_block(plan.run, population, rows, rng, jobs, progress)
    pvalues, errors, estimates, naive_errors = (
        np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True)
    )
    return ComparisonStudy(
        population.name,
        first_label,
        second_label,
        n,
        folds,
        repeats,
        len(rows),
        tests,
        pvalues,
        errors,
        estimates,
        naive_errors,
        loss,
        notes=notes,
    )


@dataclass(frozen=True)
class _Plan:
    """The learners and the tests, which are applied to each block of samples."""

    learners: tuple
    tests: tuple
    folds: int
    repeats: int
    rope: float

    def run(self, samples: Samples) -> tuple:
        """Return p-values (T, B), errors (2, B), estimates (2, B), naive standard errors (2, B)."""
        n = samples.rows.shape[1]
        rng = np.random.default_rng(samples.seed)
        fold = np.arange(n) % self.folds
        losses = [learner(samples, fold).astype(float) for learner in self.learners]
        difference = losses[0] - losses[1]
        scale = np.maximum(*losses).max(-1)
        means = _fold_means(difference, self.folds)
        of_repeats = [means]
        for _ in range(self.repeats - 1):
            order = rng.permutation(n)
            shuffled = self.differences(samples, fold[np.argsort(order)])[:, order]
            of_repeats.append(_fold_means(shuffled, self.folds))
        all_means = np.concatenate(of_repeats, -1)
        rho = kfold.resolve_rho("nadeau_bengio", self.folds)
        rho_of_repeats = kfold.resolve_rho("nadeau_bengio", self.folds, self.repeats)
        error = difference.std(-1, ddof=1) / n**0.5

        def pvalue(test: str) -> ndarray:
            match test:
                case "naive t, repeated":
                    return _p_of(all_means, 0.0, scale)
                case "Nadeau-Bengio, repeated":
                    return _p_of(all_means, rho_of_repeats, scale)
                case "naive t":
                    return _p_of(means, 0.0, scale)
                case "Nadeau-Bengio":
                    return _p_of(means, rho, scale)
                case "rho 0.7":
                    return _p_of(means, SKEPTICAL, scale)
                case "central limit theorem":
                    return _p_of_normal(difference.mean(-1), error)
                case "McNemar, pooled":
                    return _p_of_signs(difference)
                case "Bayes, ROPE":
                    return self.bayes(means, scale)
                case "half-sample rho":
                    return _p_of(means, self.rho_of_halves(samples, rng), scale)
                case "5x2cv t":
                    return self.five_by_two(samples, rng)[0]
                case "5x2cv F":
                    return self.five_by_two(samples, rng)[1]
                case "McNemar, one third held out":
                    return self.held_out(samples)
            return self.nested(samples, rng)

        pvalues = [pvalue(test) for test in self.tests]
        errors = [loss.mean(-1) for loss in losses]
        of_estimates = [means, all_means]
        if self.repeats == 1:
            of_estimates[1] = np.full(means.shape, np.nan)
        estimates = [part.mean(-1) for part in of_estimates]
        naive_errors = np.sqrt([kfold.theta3(part) for part in of_estimates])
        return np.array(pvalues), np.array(errors), np.array(estimates), naive_errors

    def differences(self, samples: Samples, fold: ndarray) -> ndarray:
        """Return the loss of the first learner minus that of the second, (B, n)."""
        first, second = (learner(samples, fold).astype(float) for learner in self.learners)
        return first - second

    def bayes(self, means: ndarray, scale: ndarray) -> ndarray:
        spread = (1 / self.folds + 1 / (self.folds - 1)) * means.var(-1, ddof=1)
        spread[_same(means, scale)] = np.nan
        beyond = np.abs(means.mean(-1)) - self.rope
        return scipy.special.stdtr(self.folds - 1, -beyond / spread**0.5)

    def rho_of_halves(self, samples: Samples, rng: Generator) -> ndarray:
        n = samples.rows.shape[1]
        half = n // 2 // self.folds * self.folds
        fold = np.arange(half) % self.folds
        means = []
        for _ in range(HALVINGS):
            order = rng.permutation(n)
            for items in (order[:half], order[half : 2 * half]):
                difference = self.differences(samples.subset(items), fold)
                means.append(_fold_means(difference, self.folds))
        halves = np.stack(means, 1).reshape(-1, HALVINGS, 2, self.folds)
        rho = kfold.rho_of_halves(kfold.theta3(halves), halves.mean(-1))
        return np.where(np.isfinite(rho), rho, kfold.MOST_RHO)

    def five_by_two(self, samples: Samples, rng: Generator) -> tuple[ndarray, ndarray]:
        halves = []
        for _ in range(5):
            fold = np.argsort(rng.permutation(samples.rows.shape[1])) % 2
            difference = self.differences(samples, fold)
            halves.append([difference[:, fold == k].mean(-1) for k in (0, 1)])
        values = np.moveaxis(np.array(halves), -1, 0)
        t, f = model_tests.five_by_two(values)
        largest = np.abs(values).max((-1, -2))
        same = np.ptp(values, axis=-1).max(-1) <= kfold.ROUNDING * largest
        p_of_t = kfold.tail_probability(t[:, 0, 0], 5, "two-sided")
        p_of_f = scipy.special.fdtrc(10, 5, np.where(same, 1, f))
        return np.where(same, np.nan, p_of_t), np.where(same, np.nan, p_of_f)

    def held_out(self, samples: Samples) -> ndarray:
        n = samples.rows.shape[1]
        test = np.arange(n) >= n - n // 3
        return _p_of_signs(self.differences(samples, test.astype(int))[:, test])

    def nested(self, samples: Samples, rng: Generator) -> ndarray:
        runs, n = samples.rows.shape
        fold = np.arange(n) % self.folds
        outer, inner = [], []
        for _ in range(NESTED_REPEATS):
            shuffled = samples.subset(rng.permutation(n))
            by_fold = self.differences(shuffled, fold).reshape(runs, -1, self.folds)
            outer.append(by_fold.swapaxes(1, 2))
            of_folds = [
                self.differences(shuffled.subset(fold != k), fold[fold != k])
                for k in range(self.folds)
            ]
            inner.append(np.stack(of_folds, 1))
        return _p_of_normal(*model_tests.nested_estimate(np.stack(outer, 1), np.stack(inner, 1)))


def _per_block(
    function: Callable,
    population: Population,
    rows: ndarray,
    rng: Generator,
    jobs: int | None,
    progress: bool,
) -> list:
    """Return the results of a function of samples, in blocks that fit into fast memory."""
    from tqdm import tqdm

    runs, n = rows.shape
    size = max(1, BLOCK // n**2)
    starts = range(0, runs, size)
    seeds = rng.integers(2**31, size=len(starts)).tolist()
    blocks = [
        Samples(population, rows[start : start + size], seed)
        for start, seed in zip(starts, seeds, strict=True)
    ]
    options = {"delay": 1, "leave": False, "unit": "block", "disable": not progress}
    if jobs is None:  # a browser has no threads
        return [function(block) for block in tqdm(blocks, **options)]
    with ThreadPoolExecutor(jobs) as pool:
        return list(tqdm(pool.map(function, blocks), total=len(blocks), **options))


def _fold_means(losses: ndarray, folds: int) -> ndarray:
    """Return means (B, K) of losses (B, n) whose item i is in fold i mod K."""
    runs, n = losses.shape
    return losses.reshape(runs, n // folds, folds).mean(1)


def _same(means: ndarray, scale: ndarray) -> ndarray:
    """Return a mask of blocks whose fold means (B, J) differ only by rounding.

    `scale` (B,) is the largest loss.
    """
    return np.ptp(means, axis=-1) <= kfold.ROUNDING * scale


def _p_of(means: ndarray, rho: float | ndarray, scale: ndarray) -> ndarray:
    """Return p-values of the t-test of fold means (B, J), NaN if all folds agree."""
    naive = np.where(_same(means, scale), np.nan, kfold.theta3(means)) ** 0.5
    t = (1 - rho) ** 0.5 * means.mean(-1) / naive
    return kfold.tail_probability(t, means.shape[-1] - 1, "two-sided")


def _p_of_normal(estimate: ndarray, error: ndarray) -> ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, 2 * scipy.special.ndtr(-np.abs(estimate / error)), np.nan)


def _p_of_signs(difference: ndarray) -> ndarray:
    return model_tests.mcnemar_pvalue((difference > 0).sum(-1), (difference < 0).sum(-1))


def _check_tests(tests: Any, repeats: int, n: int, folds: int) -> tuple[str, ...]:
    """Return the chosen tests, or raise if a test needs more repeats, items or folds."""
    if isinstance(tests, str):
        checks.choice("tests", tests, ("all", *TESTS))
        tests = TESTS if tests == "all" else (tests,)
    tests = checks.choices("tests", tests, TESTS)
    if not tests:
        raise checks.WrongValue("tests", f"must name at least one of {', '.join(map(repr, TESTS))}")
    if repeats < 2 and any(test.endswith("repeated") for test in tests):
        raise checks.WrongValue("repeats", "must be at least 2 for the repeated tests", repeats)
    if "half-sample rho" in tests and n < 4 * folds:
        rule = (
            f"must be at least {4 * folds} for half-sample rho, because each half needs 2 items "
            "per fold"
        )
        raise checks.WrongValue("n", rule, n)
    if "nested cross-validation" in tests and (n < 2 * folds or folds < 3):
        raise ValueError(
            "nested cross-validation needs at least 3 folds of 2 items; got "
            f"{folds} folds of {n} items"
        )
    return tests


def _common_loss(learners: tuple, labels: tuple) -> str:
    """Return the loss of both learners, or raise if only one is a regressor."""
    label_of = {loss_of(learner): label for learner, label in zip(learners, labels, strict=True)}
    if len(label_of) == 2:
        raise ValueError(
            "first and second must both be classifiers or both regressors, because their losses "
            f"are compared; {label_of['squared']} is a regressor and {label_of['zero_one']} is a "
            "classifier"
        )
    return next(iter(label_of))


def _without_counting(tests: tuple[str, ...]) -> tuple[tuple[str, ...], list[Note]]:
    """Return the tests that do not count errors, and notes about regressors."""
    allowed = tuple(test for test in tests if test not in COUNTING)
    if not allowed:
        raise checks.WrongValue(
            "tests",
            "must name a test that does not count errors, because the learners are regressors; got "
            f"{checks.listed(tests, quoted=True)}",
        )
    text = "left out, because it counts errors, which regressors do not make"
    notes = [Note("refused", text, ("test", test)) for test in tests if test in COUNTING]
    return allowed, [*notes, Note("data", "squared error, because the learners are regressors")]


def _draw(rng: Generator, population: Population, runs: int, n: int) -> ndarray:
    refuse_large("runs and n", runs, n)
    return rng.integers(len(population.y), size=(runs, n))


def _sample_size(n: int, folds: int) -> int:
    n = checks.whole("n", n, 2)
    folds = checks.whole("folds", folds, 2)
    if n % folds:
        raise checks.WrongValue("n", f"must be a multiple of the {folds} folds", n)
    return n


def _check_rows(rows: Any, n: int, size: int) -> ndarray:
    """Return row numbers (runs, n) of a population of a size, or raise."""
    rows = checks.plain_array("samples", rows)
    rule = ""
    if rows.ndim != 2 or rows.shape[1] != n or len(rows) < 2 or rows.dtype.kind not in "iu":
        rule = (
            f"must be whole row numbers of shape (runs, {n}) with at least 2 runs; got shape "
            f"{rows.shape} of {rows.dtype}"
        )
    elif rows.min() < 0 or rows.max() >= size:
        rule = f"must be rows 0 to {size - 1} of the population; got {rows.min()} to {rows.max()}"
    if rule:
        raise checks.WrongValue("samples", rule)
    return rows
