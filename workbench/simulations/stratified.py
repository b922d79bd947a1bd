"""Repeat a labeling experiment thousands of times: bias, true and claimed variance, coverage.

Draws hypergeometric counts, never items, so the time does not depend on the size of the population.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.results import Note, Result, rows_of, stratum_rows
from workbench.stratified import accuracy, anytime, sequential
from workbench.stratified import waves as wave_plans
from workbench.stratified.strata import STRATIFIERS, Strata, stratify

FIXED = ("simple_random", "proportional", "equal", "neyman", "voila")
METHODS = (*FIXED, "opt_a1", "opt_a2", "waves")
PAPER_GRID = ("proportional", "equal", "opt_a1", "opt_a2")
FEW_DRAWS = 30
NUMPY_LIMIT = 10**9
ROUND = 1e-9
# share of the error that the default interval spends at each look
LOOKING = {"fixed": 1.0, "looks": 0.1, "anytime": 1.0}


class LabelingStudy(Result):
    """What `runs` repetitions of one labeling design did.

    Attributes
    ----------
    method : str
    budget, runs : int
    accuracy : float
        True accuracy of the population.
    bias, bias_error : float
        Mean of estimate - accuracy, and its Monte Carlo standard error (0 where exact).
    variance_ratio, variance_ratio_error : float
        Mean squared error over the variance of simple random sampling, both without replacement.
    estimated_variance_ratio, estimated_variance_ratio_error : float
        The paper's MVR: mean estimated variance over that of simple random sampling, as a ratio of means
        (the mean of ratios is infinite), both without replacement; in a large population the paper's figure.
    mean_absolute_error, mean_absolute_error_error : float
        The paper's MAE.
    estimates, estimated_variances : (R,) array of float
        Per run; the variances with the finite-population factor.
    stratum_size : (H,) array of int
    labeled, correct : (R, T, H) array of int
        Labels and right ones per run, wave and stratum; T = 1 without waves, R = 1 where all runs share them.
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
    estimates: np.ndarray
    estimated_variances: np.ndarray
    stratum_size: np.ndarray
    labeled: np.ndarray
    correct: np.ndarray

    @property
    def standard_error(self) -> float:
        """Root mean squared error of the estimates."""
        return float(np.sqrt(np.mean((self.estimates - self.accuracy) ** 2)))

    @property
    def claimed_error(self) -> float:
        """Root of the mean estimated variance."""
        return float(np.sqrt(self.estimated_variances.mean()))

    @property
    def random_error(self) -> float:
        """Standard error of as many labels at random."""
        return float(self.standard_error / np.sqrt(self.variance_ratio))

    def limits(self, method: str = "default", level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits (R,) of every run's interval.

        Parameters
        ----------
        method : str
            As in `stratified_interval`.
        level : float
            Nominal coverage in (0, 1).
        """
        tail = (1 - checks.level(level)) / 2
        if self.method == "waves":
            checks.choice("method", method, wave_plans.WAVE_INTERVALS)
            labeled = np.broadcast_to(self.labeled, self.correct.shape)
            return wave_plans.wave_limits(self.stratum_size, labeled, self.correct, tail, method)
        checks.choice("method", method, intervals.METHODS)
        outcome = np.concatenate(
            [np.broadcast_to(self.labeled, self.correct.shape), self.correct], -1
        )[:, 0]
        distinct, place = np.unique(outcome, axis=0, return_inverse=True)
        low, high = _pooled_limits(self.stratum_size, *np.split(distinct, 2, axis=1), tail, method)
        return low[place.ravel()], high[place.ravel()]

    def coverage(self, method: str = "default", level: float = 0.95) -> float:
        """Return the share of runs whose interval contains the true accuracy.

        Parameters
        ----------
        method, level
            As in `limits`.
        """
        low, high = self.limits(method, level)
        return float(((low <= self.accuracy + 1e-12) & (self.accuracy - 1e-12 <= high)).mean())

    def coverage_error(self, method: str = "default", level: float = 0.95) -> float:
        """Return the Monte Carlo standard error of `coverage`.

        Parameters
        ----------
        method, level
            As in `limits`.
        """
        share = self.coverage(method, level)
        return float(np.sqrt(share * (1 - share) / self.runs))

    def headline(self) -> str:
        """Return true and claimed variance ratio and bias in one sentence."""
        return (
            f"{self.method}, {checks.counted(self.budget, 'label')}: variance {self.variance_ratio:.3g} of random "
            f"sampling's, claimed {self.estimated_variance_ratio:.3g}, bias {self.bias:+.2g}; {self.runs:,} runs"
        )

    def rows(self) -> list[dict]:
        """Return one row: the figures with their Monte Carlo errors."""
        names = ("bias", "variance_ratio", "estimated_variance_ratio", "mean_absolute_error")
        figures = {key: getattr(self, key) for name in names for key in (name, f"{name}_error")}
        return [{"method": self.method, "budget": self.budget, "runs": self.runs, **figures}]


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
    rng: int | np.random.Generator = 0,
) -> LabelingStudy:
    """Repeat a labeling design on a population whose truth is known.

    Parameters
    ----------
    stratum_size, correct : (H,) array_like of int
        Items per stratum and how many of them are right.
    budget : int
        Labels per run, from 2 per stratum (pilot per stratum for OPT, 2 per stratum and wave for waves) to N.
    method : {"simple_random", "proportional", "equal", "neyman", "voila", "opt_a1", "opt_a2", "waves"}
        "neyman" and "voila" know the true standard deviations; at least 2 labels per stratum.
    runs : int
        At least 2.
    pilot, step : int
        OPT's n_ini per stratum and n_step per round.
    waves : int
        Waves of (nearly) equal size.
    smoothing, floor, stratum_score
        Of the waves, as in `workbench.next_wave`.
    laplace : float
        Right and wrong labels added to each stratum before OPT estimates its variance; 0 is as printed.
    rng : int or numpy.random.Generator

    Returns
    -------
    LabelingStudy
        Bias and variance ratios of the first five methods are closed forms with error 0.

    Examples
    --------
    >>> simulate_labeling([360, 359, 360, 359, 359], [209, 307, 346, 355, 359], 100, "proportional", runs=100)
    LabelingStudy(proportional, 100 labels: variance 0.774 of random sampling's, claimed 0.774, bias +0; 100 runs)
    """
    size, right = intervals.check_part(stratum_size, "correct", correct)
    checks.choice("method", method, METHODS)
    runs = checks.whole("runs", runs, 2)
    budget = checks.whole("budget", budget, 2, int(size.sum()))
    rng = checks.generator(rng)
    if method in FIXED:
        return _fixed_study(size, right, budget, method, runs, rng)
    if method == "waves":
        waves = checks.whole("waves", waves, 1)
        settings = wave_plans.wave_settings(size.size, stratum_score, smoothing, floor)
        counts = _run_waves(size, right, budget, runs, waves, settings, rng)
        return _study(
            method,
            size,
            right,
            budget,
            *counts,
            wave_plans.exhausted_notes(size, counts[0].sum(1).mean(0)),
        )
    pilot = checks.whole("pilot", pilot, 2)
    step = checks.whole("step", step, 1) if method == "opt_a2" else budget
    laplace = checks.number("laplace", laplace, 0)
    labeled, hits = _run_opt(size, right, budget, runs, pilot, step, laplace, rng)
    return _study(
        method,
        size,
        right,
        budget,
        labeled[:, None],
        hits[:, None],
        (wave_plans.OPT_NOTE,) * (laplace == 0),
    )


class DesignStudy(Result):
    """What one design is worth on a population whose truth is known; all figures are exact.

    Attributes
    ----------
    stratifier, method : str
    budget : int
    stratum_size, labeled, correct : (K,) array of int
        Items, labels, and right items.
    standard_error, random_error, best_error : float
        Of this design, of simple random sampling, and of the best allocation (VOILA) to these strata.
    start, end, cell_stratum : (C,) arrays
        Cells of items in order of score, as shares of all items, and the stratum of each; K cells unless strata
        are interleaved.
    """

    stratifier: str
    method: str
    budget: int
    stratum_size: np.ndarray
    labeled: np.ndarray
    correct: np.ndarray
    standard_error: float
    random_error: float
    best_error: float
    start: np.ndarray
    end: np.ndarray
    cell_stratum: np.ndarray

    @property
    def accuracy(self) -> np.ndarray:
        """Share of right items per stratum, (K,)."""
        return self.correct / self.stratum_size

    @property
    def variance_ratio(self) -> float:
        """Variance over that of simple random sampling; NaN where that has no error."""
        return _ratio(self.standard_error, self.random_error) ** 2

    def headline(self) -> str:
        """Return the standard errors in one sentence."""
        return (
            f"{self.stratifier}, {self.method}, {checks.counted(self.labeled.sum(), 'label')}: SE "
            f"{self.standard_error:.4f}; random {self.random_error:.4f}, best for these strata "
            f"{self.best_error:.4f}; variance x{self.variance_ratio:.2f}"
        )

    def rows(self) -> list[dict]:
        """Return size, labels and accuracy per stratum, counted from 1."""
        return stratum_rows(size=self.stratum_size, labeled=self.labeled, accuracy=self.accuracy)


def study_design(
    score: ArrayLike,
    correct: ArrayLike,
    budget: int,
    *,
    n_strata: int = 5,
    stratifier: str = "equal_size",
    method: str = "proportional",
    rng: int | np.random.Generator = 0,
) -> DesignStudy:
    """Return what a stratifier and an allocation are worth where every label is known.

    Parameters
    ----------
    score : (N,) array_like of float
    correct : (N,) array_like of 0/1
    budget : int
        From 2 per stratum to N.
    n_strata, stratifier
        As in `workbench.stratify`.
    method : {"proportional", "equal", "neyman", "voila"}
        "neyman" and "voila" know the true standard deviations.
    rng : int or numpy.random.Generator

    Returns
    -------
    DesignStudy

    Examples
    --------
    >>> import workbench as wb
    >>> items = wb.digit_forms().items()
    >>> study_design(items.score, items.correct, 100)      # doctest: +ELLIPSIS
    DesignStudy(equal_size, proportional, 100 labels: SE 0.0281; random 0.0319, best for these strata 0.0221; ...)
    """
    score = checks.vector("score", score, what="item")
    correct = checks.zero_one("correct", correct, size=score.size, what="item")
    strata = stratify(
        score, n_strata, checks.choice("stratifier", stratifier, STRATIFIERS), rng=rng
    )
    return weigh_design(strata, score, correct, budget, checks.choice("method", method, FIXED[1:]))


def weigh_design(
    strata: Strata, score: np.ndarray, correct: np.ndarray, budget: int, method: str
) -> DesignStudy:
    """Return `study_design` for strata that were already cut."""
    budget = checks.whole("budget", budget, int(np.minimum(2, strata.sizes).sum()), len(score))
    right = np.bincount(strata.labels, correct, strata.n_strata).astype(np.int64)
    labeled, best = (
        _fixed_allocation(strata.sizes, right, budget, rule) for rule in (method, "voila")
    )
    errors = [
        accuracy.accuracy_variance(size, hits, n) ** 0.5
        for size, hits, n in (
            (strata.sizes, right, labeled),
            (strata.sizes.sum(keepdims=True), right.sum(keepdims=True), [labeled.sum()]),
            (strata.sizes, right, best),
        )
    ]
    return DesignStudy(
        strata.method,
        method,
        budget,
        strata.sizes,
        labeled,
        right,
        *errors,
        *_score_cells(strata, score),
        notes=(*strata.notes, *_undefined(errors[1])),
    )


def _score_cells(strata: Strata, score: np.ndarray) -> tuple:
    """Return start, end and stratum of the runs of equal stratum when items are ordered by score."""
    if strata.method != "gmm":
        end = strata.sizes.cumsum() / strata.sizes.sum()
        return np.concatenate([[0], end[:-1]]), end, np.arange(strata.n_strata)
    ordered = strata.labels[np.lexsort((strata.labels, score))]
    last = np.concatenate([np.flatnonzero(np.diff(ordered)), [ordered.size - 1]])
    end = (last + 1) / ordered.size
    return np.concatenate([[0], end[:-1]]), end, ordered[last]


class LabelingGrid(Result):
    """`simulate_labeling` over stratifiers, allocations and numbers of strata.

    Attributes
    ----------
    table : tuple of dict
        One row per design.
    budget, runs : int
        Labels per run, runs per design.
    """

    table: tuple
    budget: int
    runs: int

    def headline(self) -> str:
        """Return the best cell in one sentence."""
        best = min(self.table, key=lambda row: row["variance_ratio"])
        designs, labels = (
            checks.counted(len(self.table), "design"),
            checks.counted(self.budget, "label"),
        )
        return (
            f"{designs} of {labels}, {self.runs:,} runs each; lowest true variance ratio "
            f"{best['variance_ratio']:.3g}: {best['stratifier']}, {best['method']}, K={best['n_strata']}"
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
    rng: int | np.random.Generator = 0,
    progress: bool = True,
) -> LabelingGrid:
    """Run the paper's grid: stratifiers x allocations x numbers of strata.

    Parameters
    ----------
    score : (N,) array_like of float
    correct : (N,) array_like of 0/1
    budget : int
    stratifiers, methods, n_strata : iterables
        Of `stratify` and `simulate_labeling`.
    runs, pilot, step, rng
        As in `simulate_labeling`.
    progress : bool
        Show a bar when it takes longer than a second.

    Returns
    -------
    LabelingGrid
        Cells whose pilot does not fit the budget are left out.

    Examples
    --------
    >>> simulate_grid([.5, .6, .7, .8, .9, 1.] * 20, [0, 1, 1, 1, 1, 1] * 20, 30, n_strata=[2], runs=50,
    ...               stratifiers=["equal_size"], methods=["equal"])
    LabelingGrid(1 design of 30 labels, 50 runs each; lowest true variance ratio 0.807: equal_size, equal, K=2)
    """
    from tqdm.auto import tqdm

    score = checks.vector("score", score, what="item")
    correct = checks.zero_one("correct", correct, size=score.size, what="item")
    rng = checks.generator(rng)
    n_strata = [checks.whole("n_strata", k, 1) for k in checks.each("n_strata", n_strata)]
    methods = checks.choices("methods", methods, METHODS)
    designs = [
        (rule, k)
        for rule in checks.choices("stratifiers", stratifiers, STRATIFIERS)
        for k in n_strata
    ]
    table = []
    for rule, k in tqdm(designs, desc="designs", delay=1, disable=not progress):
        strata = stratify(score, k, rule, rng=rng)
        right = np.bincount(strata.labels, correct, strata.n_strata).astype(np.int64)
        for method in methods:
            if method.startswith("opt") and pilot * strata.n_strata > budget:
                continue
            study = simulate_labeling(
                strata.sizes, right, budget, method, runs=runs, pilot=pilot, step=step, rng=rng
            )
            table.append({"stratifier": rule, "n_strata": k, **study.rows()[0]})
    return LabelingGrid(
        tuple(table),
        int(budget),
        int(runs),
        notes=_undefined(
            _random_variance(np.array([score.size]), np.array([correct.sum()]), budget)
        ),
    )


def _fixed_study(
    size: np.ndarray,
    right: np.ndarray,
    budget: int,
    method: str,
    runs: int,
    rng: np.random.Generator,
) -> LabelingStudy:
    if method == "simple_random":
        size, right = size.sum(keepdims=True), right.sum(keepdims=True)
    labeled = _fixed_allocation(size, right, budget, method)
    hits = accuracy.draw_counts(size, right, labeled, rng.random((runs, size.size)))
    study = _study(
        method,
        size,
        right,
        budget,
        labeled[None, None],
        hits[:, None],
        rules.unused_notes(budget - int(labeled.sum()), budget),
    )
    exact = _ratio(
        accuracy.accuracy_variance(size, right, labeled), _random_variance(size, right, budget)
    )
    return replace(
        study,
        bias=0.0,
        bias_error=0.0,
        variance_ratio=exact,
        variance_ratio_error=0.0,
        estimated_variance_ratio=exact,
        estimated_variance_ratio_error=0.0,
    )


def _fixed_allocation(size: np.ndarray, right: np.ndarray, budget: int, method: str) -> np.ndarray:
    sd = np.sqrt(accuracy.stratum_variance(size, right / size))
    return rules.allocate(
        size, budget, "proportional" if method == "simple_random" else method, stratum_sd=sd
    ).labeled


def _run_opt(
    size: np.ndarray,
    right: np.ndarray,
    budget: int,
    runs: int,
    pilot: int,
    step: int,
    laplace: float,
    rng: np.random.Generator,
) -> tuple:
    first = np.minimum(pilot, size)
    if first.sum() > budget:
        strata = checks.counted(size.size, "stratum", "strata")
        raise checks.WrongValue(
            "budget",
            f"must be at least {first.sum()}, a pilot of {pilot} in each of {strata}",
            budget,
        )
    labeled = np.tile(first, (runs, 1))
    hits = accuracy.draw_counts(size, right, first, rng.random((runs, size.size)))
    left = budget - int(first.sum())
    while left > 0:
        new = wave_plans.opt_step(size, labeled, hits, min(step, left), laplace)
        hits = hits + _draw(rng, right - hits, size - labeled, new)
        labeled = labeled + new
        left -= min(step, left)
    return labeled, hits


def _run_waves(
    size: np.ndarray,
    right: np.ndarray,
    budget: int,
    runs: int,
    waves: int,
    settings: tuple,
    rng: np.random.Generator,
) -> tuple:
    labeled, hits = (np.zeros((runs, waves, size.size), np.int64) for _ in range(2))
    for t, total in enumerate(wave_plans.wave_totals(budget, waves)):
        n, x = labeled.sum(1), hits.sum(1)
        needed = np.minimum(2, size - n).sum(1).max()
        if total < needed:
            raise checks.WrongValue(
                "budget",
                f"must be at least {waves * needed}, 2 labels per stratum in each of "
                f"{checks.counted(waves, 'wave')}",
                budget,
            )
        labeled[:, t] = wave_plans.wave_step(size, n, x, int(total), *settings)
        hits[:, t] = _draw(rng, right - x, size - n, labeled[:, t])
    return labeled, hits


class LookingStudy(Result):
    """How many analysts hold an interval without the truth at some look, made by `simulate_looking`.

    Attributes
    ----------
    method : {"fixed", "looks", "anytime"}
    accuracy : float
        True accuracy of the population.
    level : float
    runs : int
        Analysts.
    labeled : (L,) array of int
        Labels at each look.
    missed : (L,) array of float
        Share of the analysts who have lost the truth at this look or one before.
    missed_error : (L,) array of float
        Its Monte Carlo standard error.
    half_width : float
        Mean of the last look's intervals; of "anytime" over the first 20 analysts.
    """

    method: str
    accuracy: float
    level: float
    runs: int
    labeled: np.ndarray
    missed: np.ndarray
    missed_error: np.ndarray
    half_width: float

    def headline(self) -> str:
        """Return the misses at the last look in one sentence."""
        looks, analysts = (
            checks.counted(self.labeled.size, "look"),
            checks.counted(self.runs, "analyst"),
        )
        return (
            f"{self.method}: {self.missed[-1]:.1%} of {analysts} lost the truth in {looks} to {self.labeled[-1]} "
            f"labels; half-width {self.half_width:.4f} at the last"
        )

    def rows(self) -> list[dict]:
        """Return one row per look."""
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
    rng: int | np.random.Generator = 0,
) -> LookingStudy:
    """Let analysts look at an interval again and again while they label, and count who loses the truth at some look.

    Parameters
    ----------
    stratum_size, correct : (H,) array_like of int
        Items per stratum of the population, and right ones among them.
    method : {"fixed", "looks", "anytime"}
        The default interval at `level`, which holds for one number of labels that is fixed beforehand; the same with a
        tenth of the error; `anytime_interval`.
    first, last, every : int
        Labels at the first and the last look, and between looks; in the order of `labeling_order`.
    runs : int
        Analysts.
    expected : float, optional
        As in `anytime_interval`.
    level : float
    rng : int or numpy.random.Generator

    Returns
    -------
    LookingStudy

    Raises
    ------
    ValueError
        If an argument is out of its domain; `first` must leave 2 labels in every stratum.

    Examples
    --------
    >>> simulate_looking([9000, 1000], [8500, 500], last=300, runs=100)     # doctest: +NORMALIZE_WHITESPACE
    LookingStudy(fixed: 9.0% of 100 analysts lost the truth in 28 looks to 300 labels; half-width 0.0319 at the last)
    """
    size, right = intervals.check_part(stratum_size, "correct", correct)
    last = checks.whole("last", last, 1, int(size.sum()))
    first = checks.whole("first", first, min(int(np.minimum(2, size).sum()), last), last)
    looks = np.arange(first, last + 1, checks.whole("every", every, 1))
    runs, rng = checks.whole("runs", runs, 1), checks.generator(rng)
    checks.choice("method", method, LOOKING)
    order = sequential.labeling_order(size, int(looks[-1]))
    label, counts = _labels_in_order(size, right, order, runs, rng)
    tail = (1 - checks.level(level)) / 2
    misses, half_width = (
        _anytime_misses(size, right, order, label, looks, expected, level)
        if method == "anytime"
        else _default_misses(size, right, order, counts, looks, tail * LOOKING[method])
    )
    share = np.logical_or.accumulate(misses, 1).mean(0)
    return LookingStudy(
        method,
        float(right.sum() / size.sum()),
        float(level),
        runs,
        looks,
        share,
        np.sqrt(share * (1 - share) / runs),
        half_width,
    )


def _labels_in_order(
    size: np.ndarray, right: np.ndarray, order: np.ndarray, runs: int, rng: np.random.Generator
) -> tuple:
    """Return labels (R, n) of items drawn at random within strata, and right ones per stratum after each, (n, R, H)."""
    label, counts = (
        np.empty((runs, order.size), np.int64),
        np.zeros((order.size, runs, size.size), np.int64),
    )
    drawn, good = np.zeros_like(size), np.zeros((runs, size.size), np.int64)
    for t, h in enumerate(order):
        label[:, t] = rng.random(runs) * (size[h] - drawn[h]) < right[h] - good[:, h]
        good[:, h] += label[:, t]
        drawn[h] += 1
        counts[t] = good
    return label, counts


def _default_misses(
    size: np.ndarray,
    right: np.ndarray,
    order: np.ndarray,
    counts: np.ndarray,
    looks: np.ndarray,
    tail: float,
) -> tuple:
    truth, misses = right.sum() / size.sum(), []
    for n in looks:
        labeled = np.bincount(order[:n], minlength=size.size)
        low, high = _pooled_limits(
            size, np.broadcast_to(labeled, counts[n - 1].shape), counts[n - 1], tail, "default"
        )
        misses.append((truth < low - ROUND) | (truth > high + ROUND))
    return np.stack(misses, 1), float((high - low).mean() / 2)


def _anytime_misses(
    size: Any, right: Any, order: Any, label: Any, looks: Any, expected: Any, level: Any
) -> tuple:
    """Return misses (R, L) and the mean half-width; E is needed only where the winnings that bound it are enough."""
    limit, total, misses = (
        -np.log(1 - level),
        int(right.sum()),
        np.zeros((len(label), looks.size), bool),
    )
    for run, said in enumerate(label):
        for k in np.flatnonzero(
            anytime.log_winnings(size, right, order, said, expected=expected)[looks - 1] >= limit
        ):
            n = looks[k]
            misses[run, k] = (
                anytime.log_evidence(size, order[:n], said[:n], total, expected=expected) >= limit
            )
    last = (
        anytime.anytime_interval(size, order, said, expected=expected, level=level)
        for said in label[:20]
    )
    return misses, float(np.mean([interval.half_width for interval in last]))


def _draw(
    rng: np.random.Generator, right: np.ndarray, left: np.ndarray, n: np.ndarray
) -> np.ndarray:
    """Return hypergeometric counts (R, H) of n draws from `left` items, `right` of them right.

    Few draws are made one by one, which costs a tenth of numpy's general sampler; so are draws from more
    items than that can count.
    """
    if n.max() > FEW_DRAWS and left.max() < NUMPY_LIMIT:
        return rng.hypergeometric(right, left - right, n)
    shape = n.shape
    right, left, n = (np.ascontiguousarray(a).ravel() for a in (right, left, n))
    hits = np.zeros(n.size, np.int64)
    cell, drawn = np.flatnonzero(n), 0
    while cell.size:
        hits[cell] += rng.random(cell.size) * (left[cell] - drawn) < right[cell] - hits[cell]
        drawn += 1
        cell = cell[n[cell] > drawn]
    return hits.reshape(shape)


def _random_variance(size: Any, right: Any, budget: Any) -> float:
    return accuracy.accuracy_variance([size.sum()], [right.sum()], [budget])


def _ratio(variance: float, random: float) -> float:
    return variance / random if random > 0 else float("nan")


def _undefined(random: float) -> tuple:
    """Return a note where random sampling has no error, so that a ratio to it does not exist."""
    return (
        ()
        if random > 0
        else (
            Note(
                "undefined",
                "as many labels at random make no error: a ratio to their variance does not exist",
            ),
        )
    )


def _study(
    method: Any, size: Any, right: Any, budget: Any, labeled: Any, hits: Any, notes: Any
) -> LabelingStudy:
    estimates, variances = wave_plans.wave_moments(size, np.broadcast_to(labeled, hits.shape), hits)
    truth, random, runs = (
        float(right.sum() / size.sum()),
        _random_variance(size, right, budget),
        len(hits),
    )
    error = estimates - truth

    def mean(values: np.ndarray, unit: float = 1.0) -> tuple[float, float]:
        return _ratio(float(values.mean()), unit), _ratio(
            float(values.std(ddof=1) / np.sqrt(runs)), unit
        )

    return LabelingStudy(
        method,
        budget,
        runs,
        truth,
        *mean(error),
        *mean(error**2, random),
        *mean(variances, random),
        *mean(np.abs(error)),
        estimates,
        variances,
        size,
        labeled,
        hits,
        notes=(*notes, *_undefined(random)),
    )


def _pooled_limits(size: Any, labeled: Any, correct: Any, tail: Any, method: Any) -> Any:
    if method in wave_plans.WAVE_INTERVALS:  # a sample is one wave
        return wave_plans.wave_limits(size, labeled[:, None], correct[:, None], tail, method)
    limits = [
        tuple(intervals.stratified_interval(size, n, x, level=1 - 2 * tail, method=method))
        for n, x in zip(labeled, correct, strict=True)
    ]
    return np.array(limits).T
