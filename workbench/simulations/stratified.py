"""Simulate labeling thousands of times: bias, true and estimated variance, coverage.

`simulate_labeling` studies one design and `simulate_grid` many. `study_design` computes the exact
standard error of a design. `simulate_looking` studies interim analyses. The simulations sample
hypergeometric counts, never items, so their time does not depend on the size of the population.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.results import Note, Result, rows_of, stratum_rows
from workbench.simulations.monte_carlo import covers, error_of_mean, error_of_rate
from workbench.stratified import accuracy, anytime, sequential
from workbench.stratified import waves as wave_plans
from workbench.stratified.strata import STRATIFIERS, Strata, stratify

FIXED = ("simple_random", "proportional", "equal", "neyman", "voila")
METHODS = (*FIXED, "opt_a1", "opt_a2", "waves")
PAPER_GRID = ("proportional", "equal", "opt_a1", "opt_a2")
FIGURES = "bias", "variance_ratio", "estimated_variance_ratio", "mean_absolute_error"
FEW_DRAWS = 30
NUMPY_LIMIT = 10**9
ROUND = 1e-9
# proportion of the error that the default interval spends at each interim analysis
LOOKING = {"fixed": 1.0, "looks": 0.1, "anytime": 1.0}


class LabelingStudy(Result):
    """Estimates of a simulated labeling design; made by `simulate_labeling`.

    Attributes
    ----------
    method : str
        Method that allocated the labels.
    budget : int
        Number of labels per run.
    runs : int
        Number of runs R.
    accuracy : float
        True accuracy of the population.
    bias : float
        Mean of estimate minus accuracy.
    variance_ratio : float
        Mean squared error over the variance of simple random sampling without replacement.
    estimated_variance_ratio : float
        Mean estimated variance over the variance of simple random sampling; see Notes.
    mean_absolute_error : float
        Mean absolute error, called MAE by Kumar & Raj [1]_.
    bias_error, variance_ratio_error : float
        Monte Carlo standard errors of `bias` and `variance_ratio`, 0 for exact values.
    estimated_variance_ratio_error : float
        Monte Carlo standard error of `estimated_variance_ratio`, 0 for exact values.
    mean_absolute_error_error : float
        Monte Carlo standard error of `mean_absolute_error`.
    estimates : (R,) array of float
        Estimates of all runs.
    estimated_variances : (R,) array of float
        Estimated variances of all runs, with the finite-population correction.
    stratum_size : (H,) array of int
        Number of items of each stratum.
    labeled : (R, T, H) array of int
        Labels per run, wave and stratum. T is 1 without waves, and R is 1 if all runs have the same
        labels per stratum.
    correct : (R, T, H) array of int
        Labels of correct items per run, wave and stratum.

    See Also
    --------
    simulate_labeling : Run this simulation.
    study_design : Compute the exact standard error of a design.

    Notes
    -----
    `estimated_variance_ratio` is the MVR of [1]_ for sampling without replacement. It is a ratio of
    means, because the mean of ratios is infinite. In a large population both figures are equal.

    References
    ----------
    .. [1] Kumar & Raj, Classifier risk estimation under limited labeling resources, 2016.
    """

    method: str
    budget: int
    runs: int
    accuracy: float
    bias: float
    bias_error: float
    variance_ratio: float
    variance_ratio_error: float
    estimated_variance_ratio: float
    estimated_variance_ratio_error: float
    mean_absolute_error: float
    mean_absolute_error_error: float
    estimates: ndarray
    estimated_variances: ndarray
    stratum_size: ndarray
    labeled: ndarray
    correct: ndarray

    @property
    def standard_error(self) -> float:
        """Return the root mean squared error of the estimates."""
        return float(np.sqrt(np.mean((self.estimates - self.accuracy) ** 2)))

    @property
    def claimed_error(self) -> float:
        """Return the square root of the mean estimated variance."""
        return float(np.sqrt(self.estimated_variances.mean()))

    @property
    def random_error(self) -> float:
        """Return the standard error of simple random sampling with the same number of labels."""
        return float(self.standard_error / np.sqrt(self.variance_ratio))

    def limits(self, method: str = "default", level: float = 0.95) -> tuple[ndarray, ndarray]:
        """Return lower and upper limits (R,) of every run's interval.

        Parameters
        ----------
        method : str, default "default"
            Interval method, as in `stratified_interval`.
        level : float, default 0.95
            Confidence level in (0, 1).

        Returns
        -------
        tuple of (R,) ndarray of float
            Lower and upper limits of every run.
        """
        tail = (1 - checks.level(level)) / 2
        labeled = np.broadcast_to(self.labeled, self.correct.shape)
        if self.method == "waves":
            checks.choice("method", method, wave_plans.WAVE_INTERVALS)
            return wave_plans.wave_limits(self.stratum_size, labeled, self.correct, tail, method)
        checks.choice("method", method, intervals.METHODS)
        outcomes = np.concatenate([labeled, self.correct], 1)
        distinct, code = np.unique(outcomes, axis=0, return_inverse=True)
        limits = _limits(self.stratum_size, distinct[:, 0], distinct[:, 1], tail, method)
        low, high = limits[:, code.ravel()]
        return low, high

    def coverage(self, method: str = "default", level: float = 0.95) -> float:
        """Return the coverage: the proportion of runs whose interval contains the true accuracy.

        Parameters
        ----------
        method : str, default "default"
            Interval method, as in `limits`.
        level : float, default 0.95
            Confidence level in (0, 1).

        Returns
        -------
        float
            Proportion of runs.
        """
        return float(covers(*self.limits(method, level), self.accuracy).mean())

    def coverage_error(self, method: str = "default", level: float = 0.95) -> float:
        """Return the Monte Carlo standard error of `coverage`.

        Parameters
        ----------
        method : str, default "default"
            Interval method, as in `limits`.
        level : float, default 0.95
            Confidence level in (0, 1).

        Returns
        -------
        float
            Standard error of the proportion.
        """
        return error_of_rate(self.coverage(method, level), self.runs)

    def headline(self) -> str:
        """Return the true and the estimated variance ratio and the bias in one sentence."""
        return (
            f"{self.method}, {checks.counted(self.budget, 'label')}: variance relative to random "
            f"sampling {self.variance_ratio:.3g}, estimated as "
            f"{self.estimated_variance_ratio:.3g}, bias {self.bias:+.2g}; {self.runs:,} runs"
        )

    def rows(self) -> list[dict]:
        """Return one row: bias, variance ratios and mean absolute error with their errors."""
        keys = ["method", "budget", "runs"]
        for name in FIGURES:
            keys += [name, f"{name}_error"]
        return [{key: getattr(self, key) for key in keys}]


def simulate_labeling(
    stratum_size: ArrayLike,
    correct: ArrayLike,
    budget: int,
    method: str,
    *,
    runs: int = 3000,
    pilot: int = 5,
    step: int = 10,
    waves: int = 2,
    smoothing: float = 4.0,
    floor: float = 0.3,
    stratum_score: ArrayLike | None = None,
    laplace: float = 0.0,
    rng: int | Generator = 0,
) -> LabelingStudy:
    """Simulate a labeling design on strata with known numbers of correct items.

    Use it to compare allocation methods, and to see whether their variance estimates and intervals
    can be trusted.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Number of items of each stratum.
    correct : (H,) array_like of int
        Number of correct items of each stratum.
    budget : int
        Number of labels per run, at most the number of items. The minimum is 2 per stratum, for
        "opt_a1" and "opt_a2" the pilot sample, and for "waves" 2 per stratum and wave.
    method : str
        Allocation method: "simple_random", "proportional", "equal", "neyman", "voila", "opt_a1",
        "opt_a2" or "waves". "neyman" and "voila" use the true standard deviations, with at least 2
        labels per stratum. "opt_a1" and "opt_a2" are the algorithms of [1]_: a pilot sample
        estimates the standard deviations, and further labels follow at once or in rounds.
    runs : int, default 3000
        Number of runs, at least 2.
    pilot : int, default 5
        Labels per stratum in the pilot sample of "opt_a1" and "opt_a2", at least 2.
    step : int, default 10
        Labels per round of "opt_a2", at least 1.
    waves : int, default 2
        Number of waves of nearly equal size, at least 1.
    smoothing : float, default 4.0
        Number of labels that the prior rate of a stratum counts as, as in `workbench.next_wave`.
    floor : float, default 0.3
        Proportion of a wave that is allocated in proportion to size, as in `workbench.next_wave`.
    stratum_score : (H,) array_like of float, optional
        Prior rate of each stratum, such as its mean score, as in `workbench.next_wave`.
    laplace : float, default 0.0
        Number of correct and of incorrect labels that are added to each stratum before "opt_a1" and
        "opt_a2" estimate its variance. With 0, they are as printed in [1]_.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.

    Returns
    -------
    LabelingStudy
        Estimates of all runs with bias and variance ratios. For the first five methods these are
        computed exactly and have the error 0.

    See Also
    --------
    study_design : Compute the exact standard error of a design.
    simulate_grid : Simulate many designs.
    next_wave : Plan the next wave of labels.

    References
    ----------
    .. [1] Kumar & Raj, Classifier risk estimation under limited labeling resources, 2016.

    Examples
    --------
    >>> size, correct = [360, 359, 360, 359, 359], [209, 307, 346, 355, 359]
    >>> study = simulate_labeling(size, correct, 100, "proportional", runs=100)
    >>> study     # doctest: +NORMALIZE_WHITESPACE
    LabelingStudy(proportional, 100 labels: variance relative to random sampling 0.774,
    estimated as 0.774, bias +0; 100 runs)
    """
    size, right = intervals.check_part(stratum_size, "correct", correct)
    checks.choice("method", method, METHODS)
    runs = checks.whole("runs", runs, 2)
    budget = checks.whole("budget", budget, 2, int(size.sum()))
    rng = checks.generator(rng)
    if method in FIXED:
        return _fixed_study(size, right, budget, method, runs, rng)
    counts = np.zeros((2, runs, size.size), np.int64)
    if method == "waves":
        waves = checks.whole("waves", waves, 1)
        settings = wave_plans.wave_settings(size.size, stratum_score, smoothing, floor)
        needs = f"2 labels per stratum in each of {checks.counted(waves, 'wave')}"
        _refuse_less(budget, waves * np.minimum(2, size).sum(), needs)
        totals = wave_plans.wave_totals(budget, waves)
        batches = _label_in_batches(
            size, right, counts, totals, wave_plans.wave_step, settings, rng
        )
        labeled, hits = np.stack(batches, 2)
        notes = wave_plans.exhausted_notes(size, labeled.sum(1).mean(0))
        return _study(method, size, right, budget, labeled, hits, notes)
    pilot = checks.whole("pilot", pilot, 2)
    step = checks.whole("step", step, 1) if method == "opt_a2" else budget
    laplace = checks.number("laplace", laplace, 0)
    first = np.minimum(pilot, size)
    strata = checks.counted(size.size, "stratum", "strata")
    _refuse_less(budget, first.sum(), f"a pilot sample of {pilot} in each of {strata}")
    spare = budget - int(first.sum())
    totals = np.diff([*range(0, spare, step), spare])
    counts[0] = first
    counts[1] = accuracy.draw_counts(size, right, first, rng.random((runs, size.size)))
    batches = _label_in_batches(size, right, counts, totals, wave_plans.opt_step, (laplace,), rng)
    labeled, hits = sum(batches, counts)[:, :, None]
    notes = [] if laplace else [wave_plans.OPT_NOTE]
    return _study(method, size, right, budget, labeled, hits, notes)


class DesignStudy(Result):
    """Exact standard error of a design on items with known truth; made by `study_design`.

    Attributes
    ----------
    stratifier : str
        Method that divided the items into strata.
    method : str
        Method that allocated the labels.
    budget : int
        Number of labels.
    stratum_size : (K,) array of int
        Number of items of each stratum.
    labeled : (K,) array of int
        Number of labels of each stratum.
    correct : (K,) array of int
        Number of correct items of each stratum.
    standard_error : float
        Standard error of this design.
    random_error : float
        Standard error of simple random sampling.
    best_error : float
        Standard error of the best allocation (VOILA) to these strata.
    start, end : (C,) array of float
        Ranges of items in order of score that belong to one stratum, as proportions of all items.
        There are K ranges unless strata overlap.
    cell_stratum : (C,) array of int
        Stratum of each range.

    See Also
    --------
    study_design : Compute this standard error.
    simulate_labeling : Simulate a labeling design.
    """

    stratifier: str
    method: str
    budget: int
    stratum_size: ndarray
    labeled: ndarray
    correct: ndarray
    standard_error: float
    random_error: float
    best_error: float
    start: ndarray
    end: ndarray
    cell_stratum: ndarray

    @property
    def accuracy(self) -> ndarray:
        """Return the proportion of correct items of each stratum, (K,)."""
        return self.correct / self.stratum_size

    @property
    def variance_ratio(self) -> float:
        """Return the ratio of the variance to that of simple random sampling.

        It is NaN if simple random sampling has no error.
        """
        return _ratio(self.standard_error, self.random_error) ** 2

    def headline(self) -> str:
        """Return the standard errors in one sentence."""
        return (
            f"{self.stratifier}, {self.method}, {checks.counted(self.labeled.sum(), 'label')}: "
            f"standard error {self.standard_error:.4f}; random sampling {self.random_error:.4f}, "
            f"best allocation to these strata {self.best_error:.4f}; variance relative to random "
            f"sampling {self.variance_ratio:.2f}"
        )

    def rows(self) -> list[dict]:
        """Return one row per stratum, counted from 1: size, labels and accuracy."""
        return stratum_rows(size=self.stratum_size, labeled=self.labeled, accuracy=self.accuracy)


def study_design(
    score: ArrayLike,
    correct: ArrayLike,
    budget: int,
    *,
    n_strata: int = 5,
    stratifier: str = "equal_size",
    method: str = "proportional",
    rng: int | Generator = 0,
) -> DesignStudy:
    """Compute the exact standard error of a stratifier and an allocation on items with known truth.

    Use it to compare designs on old data with labels before you choose one for new data.

    Parameters
    ----------
    score : (N,) array_like of float
        Score of each item.
    correct : (N,) array_like of 0/1
        1 for each item that is classified correctly, else 0.
    budget : int
        Number of labels, from 2 per stratum to N.
    n_strata : int, default 5
        Number of strata, as in `workbench.stratify`.
    stratifier : str, default "equal_size"
        Method that divides the items into strata, as in `workbench.stratify`.
    method : {"proportional", "equal", "neyman", "voila"}, default "proportional"
        Allocation method. "neyman" and "voila" use the true standard deviations.
    rng : int or numpy.random.Generator, default 0
        Seed or generator that orders ties.

    Returns
    -------
    DesignStudy
        Standard errors of the design, of simple random sampling and of the best allocation.

    See Also
    --------
    stratify : Divide items into strata by score.
    allocate : Allocate labels to strata.
    simulate_labeling : Simulate a labeling design.

    Examples
    --------
    >>> import workbench as wb
    >>> items = wb.digit_forms().items()
    >>> study_design(items.score, items.correct, 100)      # doctest: +NORMALIZE_WHITESPACE
    DesignStudy(equal_size, proportional, 100 labels: standard error 0.0281;
    random sampling 0.0319, best allocation to these strata 0.0221;
    variance relative to random sampling 0.77)
    """
    score = checks.vector("score", score, what="item")
    correct = checks.zero_one("correct", correct, size=score.size, what="item")
    checks.choice("stratifier", stratifier, STRATIFIERS)
    strata = stratify(score, n_strata, stratifier, rng=rng)
    checks.choice("method", method, FIXED[1:])
    return weigh_design(strata, score, correct, budget, method)


def weigh_design(
    strata: Strata, score: ndarray, correct: ndarray, budget: int, method: str
) -> DesignStudy:
    """Return the result of `study_design` for given strata."""
    size = strata.sizes
    budget = checks.whole("budget", budget, int(np.minimum(2, size).sum()), len(score))
    right = np.bincount(strata.labels, correct, strata.n_strata).astype(np.int64)
    labeled = _fixed_allocation(size, right, budget, method)
    best = _fixed_allocation(size, right, budget, "voila")
    random_error = _random_variance(size, right, int(labeled.sum())) ** 0.5
    return DesignStudy(
        strata.method,
        method,
        budget,
        size,
        labeled,
        right,
        accuracy.accuracy_variance(size, right, labeled) ** 0.5,
        random_error,
        accuracy.accuracy_variance(size, right, best) ** 0.5,
        *_score_cells(strata, score),
        notes=[*strata.notes, *_undefined(random_error)],
    )


def _score_cells(strata: Strata, score: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Return start, end and stratum of each range of items of one stratum, in order of score."""
    ordered = np.repeat(np.arange(strata.n_strata), strata.sizes)
    if strata.method == "gmm":
        ordered = strata.labels[np.lexsort((strata.labels, score))]
    last = np.flatnonzero(np.diff(ordered, append=-1))
    end = (last + 1) / ordered.size
    return np.append(0.0, end[:-1]), end, ordered[last]


class LabelingGrid(Result):
    """Simulated labeling designs: stratifiers, allocations and numbers of strata.

    `simulate_grid` makes it.

    Attributes
    ----------
    table : tuple of dict
        One row per design.
    budget : int
        Number of labels per run.
    runs : int
        Number of runs per design.

    See Also
    --------
    simulate_grid : Run this simulation.
    """

    table: tuple
    budget: int
    runs: int

    def headline(self) -> str:
        """Return the design with the smallest variance in one sentence."""
        best = min(self.table, key=lambda row: row["variance_ratio"])
        designs = checks.counted(len(self.table), "design")
        labels = checks.counted(self.budget, "label")
        strata = checks.counted(best["n_strata"], "stratum", "strata")
        return (
            f"{designs} with {labels}, {self.runs:,} runs each; lowest true variance ratio "
            f"{best['variance_ratio']:.3g}: {best['stratifier']}, {best['method']}, {strata}"
        )

    def rows(self) -> list[dict]:
        """Return one row per design."""
        return list(self.table)


def simulate_grid(
    score: ArrayLike,
    correct: ArrayLike,
    budget: int,
    *,
    stratifiers: Iterable[str] = STRATIFIERS,
    methods: Iterable[str] = PAPER_GRID,
    n_strata: Iterable[int] = range(2, 11),
    runs: int = 3000,
    pilot: int = 5,
    step: int = 10,
    rng: int | Generator = 0,
    progress: bool = True,
) -> LabelingGrid:
    """Simulate all combinations of stratifiers, allocations and numbers of strata.

    Use it to find a good design on old data with labels. The defaults are those of Kumar & Raj.

    Parameters
    ----------
    score : (N,) array_like of float
        Score of each item.
    correct : (N,) array_like of 0/1
        1 for each item that is classified correctly, else 0.
    budget : int
        Number of labels per run.
    stratifiers : iterable of str, default all
        Methods of `stratify`.
    methods : iterable of str, default "proportional", "equal", "opt_a1" and "opt_a2"
        Allocation methods of `simulate_labeling`.
    n_strata : iterable of int, default 2 to 10
        Numbers of strata.
    runs : int, default 3000
        Number of runs per design, at least 2.
    pilot : int, default 5
        Labels per stratum in the pilot sample, as in `simulate_labeling`.
    step : int, default 10
        Labels per round of "opt_a2", as in `simulate_labeling`.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    progress : bool, default True
        Whether to show a progress bar if the simulation takes longer than a second.

    Returns
    -------
    LabelingGrid
        One row per design. Designs whose pilot sample exceeds the budget are left out.

    See Also
    --------
    simulate_labeling : Simulate one design.
    study_design : Compute the exact standard error of a design.

    Examples
    --------
    >>> score, correct = [.5, .6, .7, .8, .9, 1.] * 20, [0, 1, 1, 1, 1, 1] * 20
    >>> design = {"stratifiers": ["equal_size"], "methods": ["equal"], "n_strata": [2]}
    >>> simulate_grid(score, correct, 30, runs=50, **design)     # doctest: +NORMALIZE_WHITESPACE
    LabelingGrid(1 design with 30 labels, 50 runs each; lowest true variance ratio 0.807:
    equal_size, equal, 2 strata)
    """
    from tqdm.auto import tqdm

    score = checks.vector("score", score, what="item")
    correct = checks.zero_one("correct", correct, size=score.size, what="item")
    rng = checks.generator(rng)
    counts = [checks.whole("n_strata", count, 1) for count in checks.each("n_strata", n_strata)]
    methods = checks.choices("methods", methods, METHODS)
    designs = [*itertools.product(checks.choices("stratifiers", stratifiers, STRATIFIERS), counts)]
    table = []
    for stratifier, count in tqdm(designs, desc="designs", delay=1, disable=not progress):
        strata = stratify(score, count, stratifier, rng=rng)
        right = np.bincount(strata.labels, correct, strata.n_strata).astype(np.int64)
        for method in methods:
            if method.startswith("opt") and pilot * strata.n_strata > budget:
                continue
            study = simulate_labeling(
                strata.sizes, right, budget, method, runs=runs, pilot=pilot, step=step, rng=rng
            )
            table.append({"stratifier": stratifier, "n_strata": count} | study.rows()[0])
    random = accuracy.accuracy_variance([score.size], [correct.sum()], [budget])
    return LabelingGrid(tuple(table), int(budget), int(runs), notes=_undefined(random))


def _fixed_study(
    size: ndarray, right: ndarray, budget: int, method: str, runs: int, rng: Generator
) -> LabelingStudy:
    if method == "simple_random":
        size, right = size.sum(keepdims=True), right.sum(keepdims=True)
    labeled = _fixed_allocation(size, right, budget, method)
    hits = accuracy.draw_counts(size, right, labeled, rng.random((runs, size.size)))
    notes = rules.unused_notes(budget - int(labeled.sum()), budget)
    study = _study(method, size, right, budget, labeled[None, None], hits[:, None], notes)
    variance = accuracy.accuracy_variance(size, right, labeled)
    ratio = _ratio(variance, _random_variance(size, right, budget))
    exact: dict[str, Any] = {
        "variance_ratio": ratio,
        "estimated_variance_ratio": ratio,
        "bias": 0.0,
    }
    exact |= {f"{name}_error": 0.0 for name in exact}
    return replace(study, **exact)


def _fixed_allocation(size: ndarray, right: ndarray, budget: int, method: str) -> ndarray:
    sd = np.sqrt(accuracy.stratum_variance(size, right / size))
    rule = "proportional" if method == "simple_random" else method
    return rules.allocate(size, budget, rule, stratum_sd=sd).labeled


def _refuse_less(budget: int, least: int, needs: str) -> None:
    if budget < least:
        raise checks.WrongValue("budget", f"must be at least {least}: {needs}", budget)


def _label_in_batches(
    size: ndarray,
    right: ndarray,
    counts: ndarray,
    totals: ndarray,
    allocate: Callable[..., ndarray],
    settings: tuple,
    rng: Generator,
) -> list[ndarray]:
    """Return labels and correct labels, (2, R, H), of each batch after those that exist."""
    batches = []
    for total in totals.tolist():
        labeled, hits = counts
        new = allocate(size, labeled, hits, total, *settings)
        batch = np.stack([new, _draw(rng, right - hits, size - labeled, new)])
        batches.append(batch)
        counts = counts + batch
    return batches


class LookingStudy(Result):
    """Error rates of intervals in repeated interim analyses; made by `simulate_looking`.

    Attributes
    ----------
    method : {"fixed", "looks", "anytime"}
        Interval method, as in `simulate_looking`.
    accuracy : float
        True accuracy of the population.
    level : float
        Confidence level of the intervals.
    runs : int
        Number of simulated audits.
    labeled : (L,) array of int
        Number of labels at each interim analysis.
    missed : (L,) array of float
        Proportion of audits with an interval that missed the true accuracy at this interim analysis
        or an earlier one.
    missed_error : (L,) array of float
        Monte Carlo standard error of `missed`.
    half_width : float
        Mean half-width of the intervals at the end; for "anytime" over the first 20 audits.

    See Also
    --------
    simulate_looking : Run this simulation.
    anytime_interval : Compute an interval that is valid at all interim analyses.
    """

    method: str
    accuracy: float
    level: float
    runs: int
    labeled: ndarray
    missed: ndarray
    missed_error: ndarray
    half_width: float

    def headline(self) -> str:
        """Return the proportion of audits with an interval that missed the true accuracy."""
        analyses = checks.counted(self.labeled.size, "interim analysis", "interim analyses")
        audits = checks.counted(self.runs, "audit")
        return (
            f"{self.method}: {self.missed[-1]:.1%} of {audits} had an interval without the true "
            f"accuracy in {analyses} up to {self.labeled[-1]} labels; half-width "
            f"{self.half_width:.4f} at the end"
        )

    def rows(self) -> list[dict]:
        """Return one row per interim analysis: labels, error rate and its standard error."""
        return rows_of(labeled=self.labeled, rate=self.missed, standard_error=self.missed_error)


def simulate_looking(
    stratum_size: ArrayLike,
    correct: ArrayLike,
    *,
    method: str = "fixed",
    first: int = 30,
    last: int = 600,
    every: int = 10,
    runs: int = 200,
    expected: float | None = 0.85,
    level: float = 0.95,
    rng: int | Generator = 0,
) -> LookingStudy:
    """Simulate repeated interim analyses, and how often an interval misses the true accuracy.

    Use it to see why an ordinary interval must not be checked again and again while you label, and
    what a valid method costs.

    Parameters
    ----------
    stratum_size : (H,) array_like of int
        Number of items of each stratum.
    correct : (H,) array_like of int
        Number of correct items of each stratum.
    method : {"fixed", "looks", "anytime"}, default "fixed"
        Interval method. "fixed": the default interval, which is valid for one fixed number of
        labels. "looks": the default interval with a tenth of the error probability (99.5% instead
        of 95%). "anytime": `anytime_interval`.
    first : int, default 30
        Number of labels at the first interim analysis, at least 2 per stratum.
    last : int, default 600
        Largest number of labels.
    every : int, default 10
        Number of labels between interim analyses, in the order of `labeling_order`.
    runs : int, default 200
        Number of simulated audits.
    expected : float, optional
        Expected accuracy, by default 0.85, as in `anytime_interval`.
    level : float, default 0.95
        Confidence level in (0, 1).
    rng : int or numpy.random.Generator, default 0
        Seed or generator.

    Returns
    -------
    LookingStudy
        Error rates by number of labels.

    Raises
    ------
    ValueError
        If an argument is out of its domain.

    See Also
    --------
    anytime_interval : Compute an interval that is valid at all interim analyses.
    labeling_order : Compute the stratum of each next label.

    Examples
    --------
    >>> study = simulate_looking([9000, 1000], [8500, 500], last=300, runs=100)
    >>> study     # doctest: +NORMALIZE_WHITESPACE
    LookingStudy(fixed: 9.0% of 100 audits had an interval without the true accuracy in
    28 interim analyses up to 300 labels; half-width 0.0319 at the end)
    """
    size, right = intervals.check_part(stratum_size, "correct", correct)
    last = checks.whole("last", last, 1, int(size.sum()))
    first = checks.whole("first", first, min(int(np.minimum(2, size).sum()), last), last)
    looks = np.arange(first, last + 1, checks.whole("every", every, 1))
    runs, rng = checks.whole("runs", runs, 1), checks.generator(rng)
    checks.choice("method", method, LOOKING)
    order = sequential.labeling_order(size, int(looks[-1]))
    label, counts = _labels_in_order(size, right, order, runs, rng)
    tail = (1 - checks.level(level)) / 2 * LOOKING[method]
    truth = float(right.sum() / size.sum())
    if method == "anytime":
        misses, half_width = _anytime_misses(size, right, order, label, looks, expected, level)
    else:
        misses, half_width = _default_misses(size, order, counts, looks, tail, truth)
    share = np.logical_or.accumulate(misses, 1).mean(0)
    error = error_of_rate(share, runs)
    return LookingStudy(method, truth, float(level), runs, looks, share, error, half_width)


def _labels_in_order(
    size: ndarray, right: ndarray, order: ndarray, runs: int, rng: Generator
) -> tuple[ndarray, ndarray]:
    """Return labels (R, n) of randomly sampled items, and correct ones per stratum, (n, R, H).

    The second array has the correct labels after each further label.
    """
    label = np.empty((runs, order.size), np.int64)
    counts = np.zeros((order.size, runs, size.size), np.int64)
    drawn = np.zeros_like(size)
    good = np.zeros((runs, size.size), np.int64)
    for t, h in enumerate(order):
        label[:, t] = rng.random(runs) * (size[h] - drawn[h]) < right[h] - good[:, h]
        good[:, h] += label[:, t]
        drawn[h] += 1
        counts[t] = good
    return label, counts


def _default_misses(
    size: ndarray,
    order: ndarray,
    counts: ndarray,
    looks: ndarray,
    tail: float,
    truth: float,
) -> tuple[ndarray, float]:
    """Return misses (R, L) of the default interval and its mean half-width at the end."""
    misses = []
    for n in looks:
        correct = counts[n - 1]
        labeled = np.bincount(order[:n], minlength=size.size)
        low, high = _limits(size, np.broadcast_to(labeled, correct.shape), correct, tail)
        misses.append((truth < low - ROUND) | (truth > high + ROUND))
    return np.stack(misses, 1), float((high - low).mean() / 2)


def _anytime_misses(
    size: ndarray,
    right: ndarray,
    order: ndarray,
    label: ndarray,
    looks: ndarray,
    expected: float | None,
    level: float,
) -> tuple[ndarray, float]:
    """Return misses (R, L) and the mean half-width.

    The evidence E is computed only if the winnings, which are an upper bound of it, are large
    enough.
    """
    limit = -np.log(1 - level)
    total = int(right.sum())
    misses = np.zeros((len(label), looks.size), bool)
    for run, labels in enumerate(label):
        winnings = anytime.log_winnings(size, right, order, labels, expected=expected)
        for k in np.flatnonzero(winnings[looks - 1] >= limit):
            n = looks[k]
            evidence = anytime.log_evidence(size, order[:n], labels[:n], total, expected=expected)
            misses[run, k] = evidence >= limit
    widths = [
        anytime.anytime_interval(size, order, labels, expected=expected, level=level).half_width
        for labels in label[:20]
    ]
    return misses, float(np.mean(widths))


def _draw(rng: Generator, right: ndarray, unlabeled: ndarray, n: ndarray) -> ndarray:
    """Return hypergeometric counts (R, H) of n unlabeled items, of which `right` are correct.

    A few draws are made one by one, in a tenth of the time of numpy's general sampler. Draws from
    more items than that sampler allows are also made one by one.
    """
    if n.max() > FEW_DRAWS and unlabeled.max() < NUMPY_LIMIT:
        return rng.hypergeometric(right, unlabeled - right, n)
    shape = n.shape
    right, unlabeled, n = (np.ascontiguousarray(a).ravel() for a in (right, unlabeled, n))
    hits = np.zeros(n.size, np.int64)
    cell, drawn = np.flatnonzero(n), 0
    while cell.size:
        uniform = rng.random(cell.size)
        hits[cell] += uniform * (unlabeled[cell] - drawn) < right[cell] - hits[cell]
        drawn += 1
        cell = cell[n[cell] > drawn]
    return hits.reshape(shape)


def _random_variance(size: ndarray, right: ndarray, budget: int) -> float:
    return accuracy.accuracy_variance([size.sum()], [right.sum()], [budget])


def _ratio(variance: float, random: float) -> float:
    return variance / random if random > 0 else float("nan")


def _undefined(random: float) -> list[Note]:
    """Return a note if random sampling has no error, so that a ratio to it does not exist."""
    text = (
        "random sampling with the same number of labels has no error, so a ratio to its variance "
        "does not exist"
    )
    return [] if random > 0 else [Note("undefined", text)]


def _study(
    method: str,
    size: ndarray,
    right: ndarray,
    budget: int,
    labeled: ndarray,
    hits: ndarray,
    notes: Iterable[Note],
) -> LabelingStudy:
    estimates, variances = wave_plans.wave_moments(size, np.broadcast_to(labeled, hits.shape), hits)
    truth = float(right.sum() / size.sum())
    random = _random_variance(size, right, budget)
    errors = estimates - truth
    columns = errors, errors**2, variances, np.abs(errors)
    figures: dict = {}
    for name, values, unit in zip(FIGURES, columns, (1.0, random, random, 1.0), strict=True):
        figures[name] = _ratio(float(values.mean()), unit)
        figures[f"{name}_error"] = _ratio(error_of_mean(values), unit)
    return LabelingStudy(
        method,
        budget,
        len(hits),
        truth,
        **figures,
        estimates=estimates,
        estimated_variances=variances,
        stratum_size=size,
        labeled=labeled,
        correct=hits,
        notes=[*notes, *_undefined(random)],
    )


def _limits(
    size: ndarray, labeled: ndarray, correct: ndarray, tail: float, method: str = "default"
) -> ndarray:
    """Return lower and upper limits (2, R) of samples (R, H)."""
    if method in wave_plans.WAVE_INTERVALS:  # a sample is one wave
        waves = labeled[:, None], correct[:, None]
        return np.array(wave_plans.wave_limits(size, *waves, tail, method))
    level = 1 - 2 * tail
    limits = [
        [*intervals.stratified_interval(size, n, x, level=level, method=method)]
        for n, x in zip(labeled, correct, strict=True)
    ]
    return np.array(limits).T
