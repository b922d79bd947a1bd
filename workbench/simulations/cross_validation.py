"""Repeat cross-validation on thousands of samples: false alarms and power of every test.

References
----------
.. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, Technical Report 1285, Universite de Montreal,
   2006.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
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
    """False alarms of the K-fold t-test about the error of one learner: a row of Table 2 of [1]_.

    Attributes
    ----------
    population, learner : str
    n, folds, runs : int
    estimates : (runs,) array of float
        Cross-validated error of each sample.
    theta3 : (runs,) array of float
        The variance of it that the folds show.
    loss : {"zero_one", "squared"}
        What the error is: the share of items that are classified wrong, or, of a regressor, the mean squared error.

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006.
    """

    population: str
    learner: str
    n: int
    folds: int
    runs: int
    estimates: np.ndarray
    theta3: np.ndarray
    loss: str = "zero_one"

    @property
    def mean(self) -> float:
        """Expected cross-validated error: the mean over all runs, taken as the true value."""
        return float(self.estimates.mean())

    @property
    def rho(self) -> float:
        """Share of the variance of the estimates that the folds do not show."""
        return float(1 - self.theta3.mean() / self.estimates.var(ddof=1))

    @property
    def rho_error(self) -> float:
        """Monte Carlo standard error of `rho`."""
        shown = (
            self.theta3 - (1 - self.rho) * (self.estimates - self.mean) ** 2
        ) / self.estimates.var(ddof=1)
        return float(shown.std(ddof=1) / self.runs**0.5)

    @property
    def zero_share(self) -> float:
        """Share of the runs whose folds all have the same error, which `kfold_t_test` refuses."""
        return float((self.shown == 0).mean())

    def type_one(
        self,
        rho: float | str = 0.0,
        *,
        level: float = 0.95,
        mean: float | None = None,
        zero_variance: str = "reject",
    ) -> float:
        """Return the share of runs in which the test rejects the true mean.

        Parameters
        ----------
        rho : float or str
            As in `workbench.kfold_t_test`.
        level : float
        mean : float, optional
            Tested mean; by default `mean`. Sums of 0/1 losses take so few values that the share can jump with it.
        zero_variance : {"reject", "refuse"}
            Where all folds agree t is infinite: it rejects, as in the paper; or the test is refused, and does not.
        """
        checks.choice("zero_variance", zero_variance, ("reject", "refuse"))
        rejects = self._rejects(
            rho, checks.level(level), self.mean if mean is None else checks.number("mean", mean)
        )
        return float((rejects & ((self.shown > 0) | (zero_variance == "reject"))).mean())

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
        rho, level, mean, zero_variance
            As in `type_one`.
        """
        share = self.type_one(rho, level=level, mean=mean, zero_variance=zero_variance)
        return float((share * (1 - share) / self.runs) ** 0.5)

    def headline(self) -> str:
        """Return rho and the false alarms at rho 0 and 0.7."""
        squared = ", squared error" if self.loss == "squared" else ""
        return (
            f"{self.learner} on {self.population}, n {self.n}{squared}: rho {self.rho:.3f}, false alarms of the "
            f"naive t {self.type_one():.3f}, at rho 0.7 {self.type_one(SKEPTICAL):.3f}; {self.runs:,} runs"
        )

    def rows(self) -> list[dict]:
        """Return one row per assumed rho: type-I error and its Monte Carlo error, without and with zero variance."""
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
    def shown(self) -> np.ndarray:
        """`theta3` without what rounding leaves of equal folds."""
        return np.where(self.theta3 > (kfold.ROUNDING * self.estimates) ** 2, self.theta3, 0.0)

    def _rejects(self, rho: Any, level: Any, mean: Any) -> np.ndarray:
        critical = scipy.special.stdtrit(self.folds - 1, (1 + level) / 2)
        return (1 - kfold.resolve_rho(rho, self.folds)) * (
            self.estimates - mean
        ) ** 2 > critical**2 * self.shown


def simulate_type_one(
    population: Any,
    learner: Any,
    n: int,
    *,
    folds: int = 10,
    runs: int = 10_000,
    rng: int | np.random.Generator = 0,
    jobs: int | None = None,
    progress: bool = True,
) -> TypeOneStudy:
    """Repeat the cross-validation of one learner and count how often the K-fold t-test rejects its true error [1]_.

    Parameters
    ----------
    population : {"digits", "ten_digits"} or (X, y)
        Digits of at least 5 against the others, or all ten; or (N, p) numbers and (N,) classes (numbers for a
        regressor). Samples are drawn with replacement.
    learner : {"1nn", "centroid"} or scikit-learn classifier or regressor
        Nearest neighbor and nearest centroid are computed for all samples at once. The loss is 0 or 1, of a regressor
        the squared error. A `random_state` of None is set from `rng`.
    n : int
        Items per sample, a multiple of `folds`.
    folds : int
        K >= 2.
    runs : int
        At least 100.
    rng : int or numpy.random.Generator
    jobs : int, optional
        Threads; the result does not depend on it.
    progress : bool
        Show a bar when it takes longer than a second.

    Returns
    -------
    TypeOneStudy

    Raises
    ------
    ValueError
        If an argument is out of its domain.

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006, section 5 and Table 2.

    Examples
    --------
    >>> simulate_type_one("digits", "1nn", 20, runs=2000)      # doctest: +ELLIPSIS
    TypeOneStudy(1nn on digits, n 20: rho 0.2..., false alarms of the naive t 0.09..., at rho 0.7 0.01...; 2,000 runs)
    """
    population, (losses, label) = Population.of(population), as_learner("learner", learner)
    n, folds, runs = (
        _sample_size(n, folds),
        checks.whole("folds", folds, 2),
        checks.whole("runs", runs, 100),
    )
    rng, loss = checks.generator(rng), loss_of(learner)
    samples = _blocks(population, _drawn(rng, population, runs, n), rng)
    fold = np.arange(n) % folds
    means = np.concatenate(
        _per_block(lambda block: _fold_means(losses(block, fold), folds), samples, jobs, progress)
    )
    notes = (
        [Note("data", "squared error, as the learner is a regressor")] if loss == "squared" else []
    )
    return TypeOneStudy(
        population.name,
        label,
        n,
        folds,
        runs,
        means.mean(-1),
        kfold.theta3(means),
        loss,
        notes=notes,
    )


class ComparisonStudy(Result):
    """What each test said about two learners, sample after sample.

    Attributes
    ----------
    population, first, second : str
    n, folds, repeats, runs : int
    tests : tuple of str
    pvalues : (T, runs) array of float
        NaN where a test is refused because its variance is 0; for Bayes the probability that the winner does not win.
    errors : (2, runs) array of float
        Cross-validated error of both learners.
    estimates, naive_errors : (2, runs) array of float
        Difference first less second and its standard error at rho = 0; in row 1 over all repeats (NaN with one).
    loss : {"zero_one", "squared"}
        What the errors are, as in `TypeOneStudy`.
    """

    population: str
    first: str
    second: str
    n: int
    folds: int
    repeats: int
    runs: int
    tests: tuple
    pvalues: np.ndarray
    errors: np.ndarray
    estimates: np.ndarray
    naive_errors: np.ndarray
    loss: str = "zero_one"

    @property
    def rho(self) -> float:
        """Share of the variance of the differences that the folds do not show."""
        return float(1 - (self.naive_errors[0] ** 2).mean() / self.estimates[0].var(ddof=1))

    def pvalue(self, test: str) -> np.ndarray:
        """Return the p-values (runs,) of a test.

        Parameters
        ----------
        test : str
            One of `tests`.
        """
        return self.pvalues[self.tests.index(checks.choice("test", test, self.tests))]

    def rejects(self, test: str, level: float = 0.95) -> np.ndarray:
        """Return which runs (runs,) the test calls different at 1 - level; refused runs are not.

        Parameters
        ----------
        test : str
            One of `tests`.
        level : float
            1 minus the significance level, in (0, 1).
        """
        return self.pvalue(test) < 1 - checks.level(level)

    def rejection(self, test: str, level: float = 0.95) -> float:
        """Return the share of runs that the test calls different.

        Parameters
        ----------
        test : str
            One of `tests`.
        level : float
            1 minus the significance level, in (0, 1).
        """
        return float(self.rejects(test, level).mean())

    def rejection_error(self, test: str, level: float = 0.95) -> float:
        """Return the Monte Carlo standard error of `rejection`.

        Parameters
        ----------
        test : str
            One of `tests`.
        level : float
            1 minus the significance level, in (0, 1).
        """
        share = self.rejection(test, level)
        return float((share * (1 - share) / self.runs) ** 0.5)

    def headline(self) -> str:
        """Return mean errors and the rejection rates of the first tests."""
        shown = ", ".join(f"{test} {self.rejection(test):.3f}" for test in self.tests[:3])
        errs = "has a squared error of" if self.loss == "squared" else "errs"
        return (
            f"{self.first} {errs} {self.errors[0].mean():.4g}, {self.second} {self.errors[1].mean():.4g} on "
            f"{self.population}, n {self.n}; called different at 5%: {shown}; {self.runs:,} runs"
        )

    def rows(self) -> list[dict]:
        """Return one row per test: share of rejections, its Monte Carlo error, share of refused runs."""
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
    rng: int | np.random.Generator = 0,
    jobs: int | None = None,
    progress: bool = True,
) -> ComparisonStudy:
    """Let every test compare two learners on many samples: type-I error where they are equal, power where not.

    Parameters
    ----------
    population : str or (X, y)
        As in `simulate_type_one`; `workbench.exchangeable_population` makes populations in which two equal learners
        on the two halves of the features have exactly the same expected error.
    first, second : learner or (learner, columns)
        As in `simulate_type_one`, two classifiers or two regressors; columns are the features that it sees, by default
        all.
    n : int
        Items per sample, a multiple of `folds`.
    tests : "all" or sequence of str
        Names in `workbench.simulations.cross_validation.TESTS`. By default those that need no further fits. For
        regressors McNemar's are left out, as the notes then say.
    folds : int
        K >= 2.
    repeats : int
        Repeats for the tests called "repeated", at least 2 for these.
    rope : float
    runs : int
        At least 2.
    samples : (runs, n) array_like of int, optional
        Rows of the population that each sample holds; by default drawn with replacement. Item i is in fold i mod K.
    rng : int or numpy.random.Generator
    jobs : int, optional
        Threads; the result does not depend on it.
    progress : bool
        Show a bar when it takes longer than a second.

    Returns
    -------
    ComparisonStudy

    Raises
    ------
    ValueError
        If an argument is out of its domain, or one learner is a regressor and the other is none.

    Examples
    --------
    Two nearest-neighbor readers of the same kind of features: a true null.

    >>> from workbench.cross_validation.learners import gaussian_population
    >>> study = simulate_comparison(gaussian_population(2000), ("1nn", range(8)), ("1nn", range(8, 16)), 100)
    >>> study.rejection("naive t") > .08, study.rejection("rho 0.7") < .04
    (True, True)
    """
    population = Population.of(population)
    learners, labels = zip(
        *(as_learner(*pair) for pair in (("first", first), ("second", second))), strict=True
    )
    n, folds, rng = _sample_size(n, folds), checks.whole("folds", folds, 2), checks.generator(rng)
    tests, repeats = _chosen(tests, checks.whole("repeats", repeats, 1), n, folds), int(repeats)
    loss = _common_loss((first, second), labels)
    tests, notes = _allowed(tests, loss)
    if samples is None:
        samples = _drawn(rng, population, checks.whole("runs", runs, 2), n)
    rows = _checked_rows(samples, n, len(population.y))
    plan = _Plan(learners, tuple(tests), folds, repeats, checks.number("rope", rope, 0))
    found = _per_block(plan.run, _blocks(population, rows, rng), jobs, progress)
    pvalues, errors, estimates, naive = (
        np.concatenate(part, axis=-1) for part in zip(*found, strict=True)
    )
    return ComparisonStudy(
        population.name,
        labels[0],
        labels[1],
        n,
        folds,
        repeats,
        len(rows),
        tuple(tests),
        pvalues,
        errors,
        estimates,
        naive,
        loss,
        notes=notes,
    )


@dataclass(frozen=True)
class _Plan:
    """What is done with each block of samples."""

    learners: tuple
    tests: tuple
    folds: int
    repeats: int
    rope: float

    def run(self, samples: Samples) -> tuple:
        """Return p-values (T, B), errors (2, B), estimates (2, B), naive standard errors (2, B)."""
        n, rng = samples.rows.shape[1], np.random.default_rng(samples.seed)
        fold = np.arange(n) % self.folds
        losses = [learner(samples, fold).astype(float) for learner in self.learners]
        difference, scale = losses[0] - losses[1], np.maximum(*losses).max(-1)
        means = _fold_means(difference, self.folds)
        of_repeats = [means]
        for _ in range(self.repeats - 1):
            order = rng.permutation(n)
            of_repeats.append(
                _fold_means(
                    self.differences(samples, fold[np.argsort(order)])[:, order], self.folds
                )
            )
        every = np.concatenate(of_repeats, -1)
        p = {
            "naive t, repeated": lambda: _p_of(every, 0.0, scale),
            "Nadeau-Bengio, repeated": lambda: _p_of(
                every, kfold.resolve_rho("nadeau_bengio", self.folds, self.repeats), scale
            ),
            "naive t": lambda: _p_of(means, 0.0, scale),
            "Nadeau-Bengio": lambda: _p_of(
                means, kfold.resolve_rho("nadeau_bengio", self.folds), scale
            ),
            "rho 0.7": lambda: _p_of(means, SKEPTICAL, scale),
            "central limit theorem": lambda: _p_of_normal(
                difference.mean(-1), difference.std(-1, ddof=1) / n**0.5
            ),
            "McNemar, pooled": lambda: _p_of_signs(difference),
            "Bayes, ROPE": lambda: self.bayes(means, scale),
            "half-sample rho": lambda: _p_of(means, self.rho_of_halves(samples, rng), scale),
            "5x2cv t": lambda: self.five_by_two(samples, rng)[0],
            "5x2cv F": lambda: self.five_by_two(samples, rng)[1],
            "McNemar, one third held out": lambda: self.held_out(samples),
            "nested cross-validation": lambda: self.nested(samples, rng),
        }
        pvalues = np.stack([p[test]() for test in self.tests])
        pair = means, every if self.repeats > 1 else np.full(means.shape, np.nan)
        return (
            pvalues,
            np.stack([loss.mean(-1) for loss in losses]),
            np.stack([part.mean(-1) for part in pair]),
            np.sqrt([kfold.theta3(part) for part in pair]),
        )

    def differences(self, samples: Samples, fold: np.ndarray) -> np.ndarray:
        """Return loss of the first less loss of the second, (B, n)."""
        first, second = (learner(samples, fold).astype(float) for learner in self.learners)
        return first - second

    def bayes(self, means: np.ndarray, scale: np.ndarray) -> np.ndarray:
        spread = (1 / self.folds + 1 / (self.folds - 1)) * means.var(-1, ddof=1)
        spread = np.where(_same(means, scale), np.nan, spread) ** 0.5
        best = np.maximum(
            (-self.rope - means.mean(-1)) / spread, (means.mean(-1) - self.rope) / spread
        )
        return scipy.special.stdtr(self.folds - 1, -best)

    def rho_of_halves(self, samples: Samples, rng: np.random.Generator) -> np.ndarray:
        n = samples.rows.shape[1]
        half = n // 2 // self.folds * self.folds
        shown, means, fold = [], [], np.arange(half) % self.folds
        for _ in range(HALVINGS):
            order = rng.permutation(n)
            for items in (order[:half], order[half : 2 * half]):
                found = _fold_means(self.differences(samples.subset(items), fold), self.folds)
                shown.append(kfold.theta3(found))
                means.append(found.mean(-1))
        pairs = (len(samples.rows), HALVINGS, 2)
        rho = kfold.rho_of_halves(
            np.stack(shown, -1).reshape(pairs), np.stack(means, -1).reshape(pairs)
        )
        return np.where(np.isfinite(rho), rho, kfold.MOST_RHO)

    def five_by_two(self, samples: Samples, rng: np.random.Generator) -> tuple:
        n, halves = samples.rows.shape[1], []
        for _ in range(5):
            fold = np.argsort(rng.permutation(n)) % 2
            difference = self.differences(samples, fold)
            halves.append([difference[:, fold == k].mean(-1) for k in (0, 1)])
        values = np.moveaxis(np.array(halves), -1, 0)
        t, f = model_tests.five_by_two(values)
        known = np.abs(values[..., 0] - values[..., 1]).max(-1) > kfold.ROUNDING * np.abs(
            values
        ).max((-1, -2))
        return (
            np.where(known, kfold.tail_probability(t[:, 0, 0], 5, "two-sided"), np.nan),
            np.where(known, scipy.special.fdtrc(10, 5, np.where(known, f, 1)), np.nan),
        )

    def held_out(self, samples: Samples) -> np.ndarray:
        n = samples.rows.shape[1]
        test = np.arange(n) >= n - n // 3
        return _p_of_signs(self.differences(samples, test.astype(int))[:, test])

    def nested(self, samples: Samples, rng: np.random.Generator) -> np.ndarray:
        n, (runs, m) = (
            samples.rows.shape[1],
            (len(samples.rows), samples.rows.shape[1] // self.folds),
        )
        outer, inner = np.empty((runs, NESTED_REPEATS, self.folds, m)), []
        for r in range(NESTED_REPEATS):
            shuffled, fold = samples.subset(rng.permutation(n)), np.arange(n) % self.folds
            outer[:, r] = (
                self.differences(shuffled, fold).reshape(runs, m, self.folds).swapaxes(1, 2)
            )
            inner.append(
                np.stack(
                    [
                        self.differences(shuffled.subset(fold != k), fold[fold != k])
                        for k in range(self.folds)
                    ],
                    1,
                )
            )
        return _p_of_normal(*model_tests.nested_estimate(outer, np.stack(inner, 1)))


def _per_block(function: Callable, blocks: list, jobs: int | None, progress: bool) -> list:
    from tqdm import tqdm

    options = {"delay": 1, "leave": False, "unit": "block", "disable": not progress}
    if jobs is None:  # a browser has no threads
        return [function(block) for block in tqdm(blocks, **options)]
    with ThreadPoolExecutor(jobs) as pool:
        return list(tqdm(pool.map(function, blocks), total=len(blocks), **options))


def _blocks(population: Population, rows: np.ndarray, rng: np.random.Generator) -> list:
    """Cut samples so that a block's distances stay in fast memory."""
    runs, n = rows.shape
    size = max(1, BLOCK // n**2)
    seeds = rng.integers(2**31, size=-(-runs // size))
    return [
        Samples(population, rows[i * size : (i + 1) * size], int(seed))
        for i, seed in enumerate(seeds)
    ]


def _fold_means(losses: np.ndarray, folds: int) -> np.ndarray:
    """Return means (B, K) of losses (B, n) whose item i is in fold i mod K."""
    runs, n = losses.shape
    return losses.reshape(runs, n // folds, folds).mean(1)


def _same(means: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return where fold means (B, J) of losses up to `scale` (B,) differ by no more than rounding."""
    return np.ptp(means, axis=-1) <= kfold.ROUNDING * scale


def _p_of(means: np.ndarray, rho: float | np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return p-values of the t-test of fold means (B, J), NaN where folds agree."""
    naive = np.where(_same(means, scale), np.nan, kfold.theta3(means)) ** 0.5
    return kfold.tail_probability(
        (1 - rho) ** 0.5 * means.mean(-1) / naive, means.shape[-1] - 1, "two-sided"
    )


def _p_of_normal(estimate: np.ndarray, error: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, 2 * scipy.special.ndtr(-np.abs(estimate / error)), np.nan)


def _p_of_signs(difference: np.ndarray) -> np.ndarray:
    return model_tests.mcnemar_pvalue((difference > 0).sum(-1), (difference < 0).sum(-1))


def _chosen(tests: Any, repeats: Any, n: Any, folds: Any) -> tuple:
    if isinstance(tests, str):
        tests = TESTS if checks.choice("tests", tests, ("all", *TESTS)) == "all" else (tests,)
    tests = checks.choices("tests", tests, TESTS)
    if not tests:
        raise checks.WrongValue("tests", f"must name at least one of {', '.join(map(repr, TESTS))}")
    if repeats < 2 and any(test.endswith("repeated") for test in tests):
        raise checks.WrongValue("repeats", "must be at least 2 for the repeated tests", repeats)
    if "half-sample rho" in tests and n < 4 * folds:
        raise checks.WrongValue(
            "n",
            f"must be at least {4 * folds} for half-sample rho, whose halves need 2 items per fold",
            n,
        )
    if "nested cross-validation" in tests and (n < 2 * folds or folds < 3):
        raise ValueError(
            f"nested cross-validation needs 3 folds of 2 items; got {folds} folds of {n} items"
        )
    return tests


def _common_loss(learners: tuple, labels: tuple) -> str:
    """Return the loss of both learners; that of a regressor and that of a classifier have no common unit."""
    found = [loss_of(learner) for learner in learners]
    if found[0] != found[1]:
        of = dict(zip(found, labels, strict=True))
        raise ValueError(
            f"first and second must both be classifiers or both regressors, as their losses are compared; "
            f"{of['squared']} is a regressor, {of['zero_one']} a classifier"
        )
    return found[0]


def _allowed(tests: tuple, loss: str) -> tuple:
    """Return the tests that a loss allows, and what the reader has to know about it."""
    if loss == "zero_one":
        return tests, ()
    left = tuple(test for test in tests if test not in COUNTING)
    if not left:
        raise checks.WrongValue(
            "tests",
            "must name one that does not count errors where the learners are "
            f"regressors; got {checks.listed(tests, quoted=True)}",
        )
    counting = (
        Note("refused", "counts errors, which regressors do not make: left out", ("test", test))
        for test in tests
        if test in COUNTING
    )
    return left, (*counting, Note("data", "squared error, as the learners are regressors"))


def _drawn(rng: np.random.Generator, population: Population, runs: int, n: int) -> np.ndarray:
    refuse_large("runs and n", runs, n)
    return rng.integers(len(population.y), size=(runs, n))


def _sample_size(n: int, folds: int) -> int:
    n, folds = checks.whole("n", n, 2), checks.whole("folds", folds, 2)
    if n % folds:
        raise checks.WrongValue("n", f"must be a multiple of the {folds} folds", n)
    return n


def _checked_rows(rows: Any, n: Any, size: Any) -> np.ndarray:
    rows = checks.plain_array("samples", rows)
    if rows.ndim != 2 or rows.shape[1] != n or len(rows) < 2 or rows.dtype.kind not in "iu":
        raise checks.WrongValue(
            "samples",
            f"must be (runs, {n}) row numbers, at least 2 runs; got shape "
            f"{rows.shape} of {rows.dtype}",
        )
    if rows.min() < 0 or rows.max() >= size:
        raise checks.WrongValue(
            "samples",
            f"must be rows 0 to {size - 1} of the population; got {rows.min()} to {rows.max()}",
        )
    return rows
