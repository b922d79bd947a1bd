"""The data of lesson 5: two equal clerks, two readers of different quality, forty equal models.

Studies have numbers. Study s uses the forms `default_rng(s).choice(1797, n, replace=False)`. Form i
is in fold i mod 10. Clerk A sees the even columns of the image, clerk B the odd columns. A clerk
gives a form the digit of the most similar form outside its fold.
"""

import functools

import numpy as np

from workbench import checks
from workbench.course.digit_forms import digit_forms
from workbench.cross_validation.kfold import ROUNDING, resolve_rho, tail_probability, theta3
from workbench.cross_validation.learners import (
    Population,
    Samples,
    nearest_centroid,
    nearest_neighbor,
)
from workbench.cross_validation.losses import CVLosses
from workbench.results import Result, rows_of

FOLDS = 10
FORMS = 1797
CLERKS = ("clerk A", "clerk B")
READERS = ("averages", "nearest neighbor")
SEEN = {
    name: tuple(pixel for pixel in range(64) if pixel % 8 % 2 == parity)
    for parity, name in enumerate(CLERKS)
}
TESTS = {"naive t": "naive", "Nadeau-Bengio": "nadeau_bengio"}
HOOK = 971
TEN_FOLDS = (0.1, 0.1, -0.05, 0.15, 0.0, 0.2, 0.25, 0.05, 0.05, 0.0)
DISAGREEING = 2
MODELS = tuple(f"model {k}" for k in range(1, 41))


def clerk_losses(study: int = HOOK, n: int = 100, *, repeats: int = 1) -> CVLosses:
    """Return the errors of the two clerks in the cross-validation of one study.

    With 90 training forms, the error rate over all forms is .2020 for clerk A and .2033 for clerk
    B. The clerks are therefore practically equal.

    Parameters
    ----------
    study : int, default 971
        Number of the study, at least 0. The default was chosen for its result: it is the first
        study with a difference of 11 percentage points, and p = .040 in the naive t-test. One study
        in 18 has a difference as large.
    n : int, default 100
        Number of forms, a multiple of 10 from 20 to 1,790.
    repeats : int, default 1
        Number of cross-validations of the same forms. After the first, repeat r = 1, 2, ... has new
        folds, shuffled by `default_rng((study, r)).permutation`.

    Returns
    -------
    CVLosses
        Losses 0 or 1 of "clerk A" and "clerk B". An item is a row of scikit-learn's digits.

    See Also
    --------
    clerk_studies : The differences of the clerks in many studies.
    kfold_t_test : Test the difference of two models.

    Examples
    --------
    >>> clerk_losses()
    CVLosses(mean loss of clerk A 0.13, clerk B 0.24; 100 items in 10 folds)
    """
    study, n = checks.seed("study", study), _forms(n)
    repeats = checks.whole("repeats", repeats, 1)
    samples = _samples(study, n)
    folds = [_folds(study, n, repeat) for repeat in range(repeats)]
    losses = {}
    for name, columns in SEEN.items():
        wrong = [nearest_neighbor(samples, fold, columns)[0] for fold in folds]
        losses[name] = np.concatenate(wrong).astype(float)
    return CVLosses(
        losses,
        np.concatenate(folds),
        item=np.tile(samples.rows[0], repeats),
        repeat=np.repeat(np.arange(repeats), n),
    )


def reader_losses(study: int = DISAGREEING, n: int = 200) -> CVLosses:
    """Return the errors of the readers "averages" and "nearest neighbor" in one study.

    Parameters
    ----------
    study : int, default 2
        Number of the study, at least 0. The default was chosen because the tests disagree about it:
        the error rates are 14.0% for averages and 5.5% for nearest neighbor.
    n : int, default 200
        Number of forms, a multiple of 10 from 20 to 1,790.

    Returns
    -------
    CVLosses
        Losses 0 or 1 of "averages" and "nearest neighbor". An item is a row of scikit-learn's
        digits.

    See Also
    --------
    clerk_losses : Return the losses of two equal clerks.
    compare_tests : Apply several tests to the same losses.

    Examples
    --------
    >>> reader_losses()
    CVLosses(mean loss of averages 0.14, nearest neighbor 0.055; 200 items in 10 folds)
    """
    study, n = checks.seed("study", study), _forms(n)
    return _of_readers(_samples(study, n))


def _of_readers(samples: Samples) -> CVLosses:
    """Return the errors of the two readers in a cross-validation of samples."""
    fold = _folds(0, samples.rows.shape[1], 0)
    averages, neighbor = (
        learner(samples, fold)[0].astype(float) for learner in (nearest_centroid, nearest_neighbor)
    )
    losses = dict(zip(READERS, (averages, neighbor), strict=True))
    return CVLosses(losses, fold, item=samples.rows[0])


def losses_of(features: np.ndarray, classes: np.ndarray, n: int = 200) -> CVLosses:
    """Return the errors of two learners for n items: class averages and nearest neighbor.

    Parameters
    ----------
    features : (N, p) array of float
    classes : (N,) array
    n : int
        Number of items, a multiple of 10; they are sampled at random.

    Examples
    --------
    >>> numbers = np.arange(40.0)
    >>> losses_of(np.stack([numbers, -numbers], 1), numbers < 20, 40)
    CVLosses(mean loss of averages 0, nearest neighbor 0; 40 items in 10 folds)
    """
    rows = np.random.default_rng(0).choice(len(classes), n, replace=False)
    return _of_readers(Samples(Population.of((features, classes)), rows[None]))


class ClerkStudies(Result):
    """Differences of the two equal clerks in many studies, with standard errors.

    Made by `clerk_studies`.

    Attributes
    ----------
    first : int
        Number of the first study; the others follow.
    n : int
        Number of forms per study.
    repeats : int
        Number of cross-validations per study.
    differences : (S,) array of float
        Error rate of clerk A minus that of clerk B in each of the S studies, over all repeats.
    naive_errors : (S,) array of float
        Standard error of each difference if all folds of all repeats were independent.

    See Also
    --------
    clerk_studies : Compute these differences.
    kfold_t_test : Test the difference of two models.
    """

    first: int
    n: int
    repeats: int
    differences: np.ndarray
    naive_errors: np.ndarray

    @property
    def df(self) -> int:
        """Return the degrees of freedom of the tests."""
        return FOLDS * self.repeats - 1

    def standard_errors(self, test: str) -> np.ndarray:
        """Return the standard error of each difference that a test uses.

        Parameters
        ----------
        test : str
            A key of `workbench.course.clerks.TESTS`.

        Returns
        -------
        (S,) array of float
            Standard errors, NaN instead of 0.
        """
        rho = resolve_rho(TESTS[checks.choice("test", test, TESTS)], FOLDS, self.repeats)
        return np.where(self.naive_errors > ROUNDING, self.naive_errors, np.nan) / (1 - rho) ** 0.5

    def pvalues(self, test: str) -> np.ndarray:
        """Return the p-value of each study.

        Parameters
        ----------
        test : str
            As in `standard_errors`.

        Returns
        -------
        (S,) array of float
            P-values, NaN if the test is refused.
        """
        return tail_probability(self.differences / self.standard_errors(test), self.df, "two-sided")

    def alarms(self, test: str, level: float = 0.95) -> np.ndarray:
        """Return the studies in which a test finds a significant difference: false alarms.

        Parameters
        ----------
        test : str
            As in `standard_errors`.
        level : float, default 0.95
            1 minus the significance level, in (0, 1).

        Returns
        -------
        (S,) array of bool
            True for a false alarm.
        """
        return self.pvalues(test) < 1 - checks.level(level)

    def headline(self) -> str:
        """Return the proportion of false alarms of both tests."""
        rates = ", ".join(f"{test} {self.alarms(test).mean():.4g}" for test in TESTS)
        studies = f"{self.differences.size} studies of {self.n} forms, repeats {self.repeats}"
        return f"{studies}; proportion of false alarms: {rates}"

    def rows(self) -> list[dict]:
        """Return one row per study."""
        columns = {f"{rho}_pvalue": self.pvalues(test) for test, rho in TESTS.items()}
        studies = range(self.first, self.first + self.differences.size)
        return rows_of(study=studies, difference=self.differences, **columns)


@functools.lru_cache(maxsize=64)
def clerk_studies(first: int = 0, count: int = 400, n: int = 100, repeats: int = 1) -> ClerkStudies:
    """Return the differences of the two clerks in consecutive studies, with standard errors.

    Parameters
    ----------
    first : int, default 0
        Number of the first study, at least 0.
    count : int, default 400
        Number of studies, at least 2.
    n : int, default 100
        Number of forms per study, a multiple of 10 from 20 to 1,790.
    repeats : int, default 1
        Number of cross-validations of the same forms.

    Returns
    -------
    ClerkStudies
        Differences and standard errors, from which p-values follow.

    See Also
    --------
    clerk_losses : The errors of the clerks in one study.
    kfold_t_test : Test the difference of two models.

    Examples
    --------
    >>> clerk_studies(count=40)      # doctest: +NORMALIZE_WHITESPACE
    ClerkStudies(40 studies of 100 forms, repeats 1; proportion of false alarms: naive t 0,
    Nadeau-Bengio 0)
    """
    first, count = checks.seed("first", first), checks.whole("count", count, 2)
    n, repeats = _forms(n), checks.whole("repeats", repeats, 1)
    means = np.array(
        [
            [_fold_differences(study, n, repeat) for repeat in range(repeats)]
            for study in range(first, first + count)
        ]
    ).reshape(count, -1)
    return ClerkStudies(first, n, repeats, means.mean(-1), theta3(means) ** 0.5)


@functools.lru_cache(maxsize=50_000)
def _fold_differences(study: int, n: int, repeat: int) -> np.ndarray:
    """Return the differences of the ten folds of one repeat, cached for a slider of repeats."""
    samples, fold = _samples(study, n), _folds(study, n, repeat)
    first, second = (nearest_neighbor(samples, fold, columns)[0] for columns in SEEN.values())
    return np.bincount(fold, first.astype(float) - second) / (n // FOLDS)


def equal_models(n: int = 200, *, ahead: float = 0.0, seed: int = 0) -> np.ndarray:
    """Return which of n simulated forms each of forty models reads correctly, (n, 40).

    Each form belongs to one of five groups of digit forms, by the confidence of reader A. Each
    model has the accuracy of reader A in that group. The mean accuracy is .877.

    Parameters
    ----------
    n : int
        Number of forms, at least 2.
    ahead : float
        Accuracy of the first model minus that of the others, from 0 to .1.
    seed : int

    Examples
    --------
    >>> equal_models().mean(0).max().item()
    0.93
    """
    n, ahead = checks.whole("n", n, 2), checks.number("ahead", ahead, 0, 0.1)
    rng, chances = np.random.default_rng(checks.seed("seed", seed)), _chances()
    chance = np.repeat(chances[rng.integers(0, chances.size, n)][:, None], len(MODELS), 1)
    chance[:, 0] += (1 - chance[:, 0]) * ahead / (1 - chances.mean())
    return (rng.random(chance.shape) < chance).astype(float)


@functools.lru_cache(maxsize=1)
def _chances() -> np.ndarray:
    forms = digit_forms()
    correct = (forms.read_a == forms.digit)[np.argsort(forms.confidence, kind="stable")]
    return np.array([part.mean() for part in np.array_split(correct, 5)])


def study_rows(first: int, count: int, n: int) -> np.ndarray:
    """Return the forms (count, n) of consecutive studies, as rows of scikit-learn's digits.

    Examples
    --------
    >>> study_rows(0, 2, 20).shape
    (2, 20)
    """
    studies = map(np.random.default_rng, range(first, first + count))
    return np.stack([study.choice(FORMS, n, replace=False) for study in studies])


def _samples(study: int, n: int) -> Samples:
    return Samples(Population.of("ten_digits"), study_rows(study, 1, n))


def _folds(study: int, n: int, repeat: int) -> np.ndarray:
    fold = np.arange(n) % FOLDS
    return np.random.default_rng((study, repeat)).permutation(fold) if repeat else fold


def _forms(n: int) -> int:
    n = checks.whole("n", n, 2 * FOLDS, FORMS)
    if n % FOLDS:
        raise checks.WrongValue("n", f"must be a multiple of the {FOLDS} folds", n)
    return n
