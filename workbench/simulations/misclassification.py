"""Simulate thousands of audits: bias, spread and coverage of estimators of a class proportion.

`simulate_prevalence` has two classes, and `simulate_shares` any number of classes.
`simulate_shifts` and `shift_study` vary the proportions of new periods. The simulations sample
counts, never items, so their time does not depend on the number of items.

References
----------
.. [1] Kloos, A new generic method to improve machine learning applications in official statistics,
   Statistical Journal of the IAOS 37, 2021: three studies (section 3).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.random import Generator
from numpy.typing import ArrayLike

from workbench import checks
from workbench.misclassification import classes, limits, methods, theory
from workbench.misclassification.confusion import ConfusionCounts, check_counts
from workbench.results import Result
from workbench.simulations.monte_carlo import covers

# (base rate, p00, p11) of figures 1 to 3 of the paper, with n = 1,000 and 300,000 items
PAPER_STUDIES = ((0.5, 0.6, 0.7), (0.98, 0.94, 0.97), (0.75, 0.85, 0.90))
NUMPY_LIMIT = 10**9
ERRORS = "bias", "sd", "rmse"
FIGURES = *ERRORS, "bias_error", "sd_error", "rmse_error", "undefined"
ROW_FIGURES = "bias", "bias_error", "sd", "sd_error", "rmse", "rmse_error", "undefined"


class PrevalenceStudy(Result):
    """Errors of every method in simulated audits of one setting; made by `simulate_prevalence`.

    Attributes
    ----------
    bias : dict of method to float
        Mean of the estimate minus the true proportion, over the runs with an estimate.
    sd : dict of method to float
        Standard deviation of this error.
    rmse : dict of method to float
        Root mean squared error.
    bias_error, sd_error, rmse_error : dict of method to float
        Monte Carlo standard errors of `bias`, `sd` and `rmse`.
    undefined : dict of method to int
        Number of runs without an estimate: a class is missing in the audit or never predicted, or
        the estimate of d = p00 + p11 - 1 is 0.
    estimates : dict of method to (R,) array
        Estimates of every run.
    table : (R, 2, 2) array of int
        Confusion table of the audit of every run.
    frame_share : (R,) array of float
        Predicted proportion of class 1 in the first period.
    share : (R,) array of float
        Predicted proportion of class 1 in the new period.
    base_rate : float
        True proportion of class 1 in the first period, rounded to whole items.
    new_base_rate : float
        True proportion of class 1 in the new period, rounded to whole items.
    p00 : float
        P(predicted 0 | true 0).
    p11 : float
        P(predicted 1 | true 1).
    n : int
        Number of labeled items.
    size : int or None
        Number of items of the first period, None if infinite.
    new_size : int or None
        Number of items of the new period, None if infinite.
    runs : int
        Number of runs R.
    rates : str
        Population of the error rates, "process" or "frame".

    See Also
    --------
    simulate_prevalence : Run this simulation.
    estimate_prevalence : Estimate a proportion from one audit.
    """

    bias: dict
    sd: dict
    rmse: dict
    bias_error: dict
    sd_error: dict
    rmse_error: dict
    undefined: dict
    estimates: dict
    table: ndarray
    frame_share: ndarray
    share: ndarray
    base_rate: float
    new_base_rate: float
    p00: float
    p11: float
    n: int
    size: int | None
    new_size: int | None
    runs: int
    rates: str

    def limits(
        self, method: str = "mle", level: float = 0.95, *, quantity: str = "level"
    ) -> tuple[ndarray, ndarray]:
        """Return lower and upper limits (R,) of the default interval of every run.

        A run without an estimate has the whole range. Limits are NaN if the audit gives no
        interval: if labels seem to be swapped, or if there is no estimate by a method that does not
        divide by p00 + p11 - 1.

        Parameters
        ----------
        method : str, default "mle"
            Method, as in `estimate_prevalence`.
        level : float, default 0.95
            Confidence level in (0, 1).
        quantity : {"level", "change"}, default "level"
            The proportion in the new period, or its change since the first period.

        Returns
        -------
        tuple of (R,) ndarray of float
            Lower and upper limits of every run.
        """
        checks.choice("method", method, methods.estimators())
        checks.choice("quantity", quantity, theory.QUANTITIES)
        every_run = np.ones(len(self.table), bool)
        low, high = self._construct(limits.DELTA, every_run, method, level, quantity)
        lost = np.isnan(self.estimates[method])
        if methods.METHODS[method].divides_by:
            half = self.table + methods.HALF
            further = {
                limits.ONE_ADDED: self.table.min((1, 2)) < limits.RARE,
                limits.FIELLER: methods.slope_cv(half) > limits.UNSURE,
            }
            for name, runs in further.items():
                more = self._construct(name, runs, method, level, quantity)
                low[runs], high[runs] = limits.hull([(low[runs], high[runs]), more])
            lost |= ~(_determinant(self.table) >= limits.LEAST_D)
            lost |= ~(_determinant(half) > limits.LEAST_D)
            low[lost] = 0.0 if quantity == "level" else -1.0
            high[lost] = 1.0
            lost = limits.swapped(self.table)
        low[lost] = high[lost] = np.nan
        return low, high

    def _construct(
        self, name: str, runs: ndarray, method: str, level: float, quantity: str
    ) -> tuple[ndarray, ndarray]:
        """Return the limits of one construction in the chosen runs."""
        table = self.table[runs] + limits.added(name, 2)
        frame = _two(self.frame_share[runs])
        shares = _two(self.share[runs])
        least = -float(quantity == "change")
        slopes = methods.slopes_of(method, table, frame, shares)
        reading = methods.reading_covariance(method, slopes, table, shares, self.new_size or np.inf)
        first = methods.slopes_of(method, table, frame, frame)
        if name != limits.FIELLER:
            slopes, first = (methods.curved(method, part, table, frame) for part in (slopes, first))
        if quantity == "change":
            slopes = slopes - first.within_frame(True)

        def from_audit(part: Any) -> ndarray:
            return methods.audit_covariance(part, table, self.n, self.size, self.rates)

        if name == limits.FIELLER:
            log_d = limits.log_d(method, slopes, table, frame)
            rest = limits.without_denominator(reading)
            low, high = limits.of_ratios(slopes, log_d, from_audit, rest, level, least)
            return low[:, 1], high[:, 1]
        variance = (from_audit(slopes) + reading)[:, 1, 1]
        return limits.delta(slopes.estimate[:, 1], variance, level, least)

    def coverage(
        self, method: str = "mle", level: float = 0.95, *, quantity: str = "level"
    ) -> float:
        """Return the coverage: the proportion of intervals that contain the true value.

        Parameters
        ----------
        method : str, default "mle"
            Method, as in `limits`.
        level : float, default 0.95
            Confidence level in (0, 1).
        quantity : {"level", "change"}, default "level"
            The proportion in the new period, or its change since the first period.

        Returns
        -------
        float
            Coverage, NaN if no run has an interval.
        """
        low, high = self.limits(method, level, quantity=quantity)
        truth = self.new_base_rate - (self.base_rate if quantity == "change" else 0.0)
        inside = covers(low, high, truth)[~np.isnan(low)]
        return float(inside.mean()) if inside.size else float("nan")

    def refused(self, method: str = "mle") -> float:
        """Return the proportion of runs in which the 95% interval of the level is the whole range.

        Parameters
        ----------
        method : str, default "mle"
            Method, as in `estimate_prevalence`.

        Returns
        -------
        float
            Proportion of runs.
        """
        low, high = self.limits(method)
        return float(np.mean((low == 0) & (high == 1)))

    def closer(self, method: str, other: str) -> float:
        """Return the proportion of runs in which `method` is closer to the truth than `other`.

        Parameters
        ----------
        method, other : str
            Methods, as in `estimate_prevalence`.

        Returns
        -------
        float
            Proportion of runs.
        """
        for argument, name in {"method": method, "other": other}.items():
            checks.choice(argument, name, methods.estimators())
        distances = (abs(self.estimates[name] - self.new_base_rate) for name in (method, other))
        return float(np.less(*distances).mean())

    def headline(self) -> str:
        """Return the methods with the least and the largest error."""
        best = min(self.rmse, key=self.rmse.__getitem__)
        worst = max(self.rmse, key=self.rmse.__getitem__)
        return (
            f"true proportion {self.base_rate:.4g} -> {self.new_base_rate:.4g}, {self.n:,} labels, "
            f"{self.runs:,} runs: least error {best} (RMSE {self.rmse[best]:.4g}), largest {worst} "
            f"({self.rmse[worst]:.4g})"
        )

    def rows(self) -> list[dict]:
        """Return one row per method: bias, standard deviation and RMSE with Monte Carlo errors."""
        return [
            {"method": method} | {name: getattr(self, name)[method] for name in ROW_FIGURES}
            for method in self.bias
        ]


def simulate_prevalence(
    base_rate: float,
    new_base_rate: float,
    p00: float,
    p11: float,
    n: int,
    size: int | None,
    *,
    new_size: int | None = None,
    runs: int = 10_000,
    rng: int | Generator = 0,
    rates: str = "process",
) -> PrevalenceStudy:
    """Simulate audits of two classes, and estimate the proportion in a new period by all methods.

    Use it to see bias, spread and coverage of the methods in a setting like yours.

    Parameters
    ----------
    base_rate : float
        True proportion of class 1 in the first period, in [0, 1]; rounded to whole items.
    new_base_rate : float
        True proportion of class 1 in the new period, in [0, 1]; rounded to whole items.
    p00 : float
        P(predicted 0 | true 0) in both periods, in [0, 1].
    p11 : float
        P(predicted 1 | true 1) in both periods, in [0, 1].
    n : int
        Number of items of the first period that are labeled, sampled without replacement.
    size : int or None
        Number of items of the first period, at least n; None for infinitely many.
    new_size : int, optional
        Number of items of the new period, by default as many as in the first.
    runs : int, default 10_000
        Number of runs, at least 2.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    rates : {"process", "frame"}, default "process"
        "process": the predictions of both periods are simulated in every run. "frame": the first
        period has exactly these rates (in whole items) and is the same in every run, as in [1]_.
        Then only the audit and the new period vary.

    Returns
    -------
    PrevalenceStudy
        Bias, standard deviation and RMSE of every method, and all estimates.

    See Also
    --------
    estimate_prevalence : Estimate a proportion from one audit.
    simulate_shifts : Simulate many new periods with the same audits.
    simulate_shares : Simulate audits of any number of classes.

    References
    ----------
    .. [1] Kloos, Statistical Journal of the IAOS 37, 2021.

    Examples
    --------
    >>> study = simulate_prevalence(.5, .35, .6, .7, 1000, 300_000, runs=2000)
    >>> study    # doctest: +ELLIPSIS
    PrevalenceStudy(true proportion 0.5 -> 0.35, 1,000 labels, 2,000 runs: least error mle (RMSE ...
    """
    new = checks.number("new_base_rate", new_base_rate, 0, 1)
    [study] = _simulate(base_rate, [new], p00, p11, n, size, new_size, runs, rng, rates)
    return study


class ShiftStudy(Result):
    """Errors of every method for many new periods with the same audits; made by `simulate_shifts`.

    Attributes
    ----------
    studies : tuple of PrevalenceStudy
        One study per new period.

    See Also
    --------
    simulate_shifts : Run this simulation.
    """

    studies: tuple

    def headline(self) -> str:
        """Return the number of new periods in which each method has the smallest error."""
        best = [min(study.rmse, key=study.rmse.get) for study in self.studies]
        wins = ", ".join(
            f"{method} {best.count(method)}" for method in methods.estimators() if method in best
        )
        first, last = self.studies[0], self.studies[-1]
        return (
            f"true proportion {first.base_rate:.4g} -> {first.new_base_rate:.4g} to "
            f"{last.new_base_rate:.4g}, {checks.counted(len(best), 'new proportion')}, least "
            f"error: {wins}"
        )

    def rows(self) -> list[dict]:
        """Return one row per new proportion and method."""
        return [
            {"new_base_rate": study.new_base_rate, **row}
            for study in self.studies
            for row in study.rows()
        ]


def simulate_shifts(
    base_rate: float,
    new_base_rates: Iterable[float],
    p00: float,
    p11: float,
    n: int,
    size: int | None,
    *,
    new_size: int | None = None,
    runs: int = 10_000,
    rng: int | Generator = 0,
    rates: str = "process",
) -> ShiftStudy:
    """Simulate audits of two classes for many proportions in the new period.

    It is `simulate_prevalence` with the same audits for all new periods, as in the figures of [1]_.
    Use it to see how each method depends on the shift.

    Parameters
    ----------
    base_rate : float
        True proportion of class 1 in the first period, in [0, 1]; rounded to whole items.
    new_base_rates : iterable of float
        True proportions of class 1 in the new periods, each in [0, 1].
    p00 : float
        P(predicted 0 | true 0) in all periods, in [0, 1].
    p11 : float
        P(predicted 1 | true 1) in all periods, in [0, 1].
    n : int
        Number of items of the first period that are labeled.
    size : int or None
        Number of items of the first period, at least n; None for infinitely many.
    new_size : int, optional
        Number of items of each new period, by default as many as in the first.
    runs : int, default 10_000
        Number of runs, at least 2.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    rates : {"process", "frame"}, default "process"
        Population of the error rates, as in `simulate_prevalence`.

    Returns
    -------
    ShiftStudy
        One study per new proportion.

    See Also
    --------
    simulate_prevalence : Simulate one new period.
    shift_study : Simulate shifts from the rates of your own audit.

    References
    ----------
    .. [1] Kloos, Statistical Journal of the IAOS 37, 2021.

    Examples
    --------
    >>> study = simulate_shifts(.75, [.5, .6, .75], .85, .9, 1000, 300_000, runs=500)
    >>> study     # doctest: +NORMALIZE_WHITESPACE
    ShiftStudy(true proportion 0.75 -> 0.5 to 0.75, 3 new proportions,
    least error: classify_and_count 1, calibration 1, mle 1)
    """
    name = "new_base_rates"
    new = [checks.number(name, value, 0, 1) for value in checks.each(name, new_base_rates)]
    if not new:
        raise checks.WrongValue(name, "must hold at least one proportion")
    studies = _simulate(base_rate, new, p00, p11, n, size, new_size, runs, rng, rates)
    return ShiftStudy(tuple(studies))


def _simulate(
    base_rate: float,
    new_base_rates: list[float],
    p00: float,
    p11: float,
    n: int,
    size: int | None,
    new_size: int | None,
    runs: int,
    rng: int | Generator,
    rates: str,
) -> list[PrevalenceStudy]:
    """Return one study per new base rate, all with the same audits."""
    base_rate = checks.number("base_rate", base_rate, 0, 1)
    p00 = checks.number("p00", p00, 0, 1)
    p11 = checks.number("p11", p11, 0, 1)
    n = checks.whole("n", n, 1)
    runs = checks.whole("runs", runs, 2)
    size = None if size is None else checks.whole("size", size, n, NUMPY_LIMIT)
    new_size = size if new_size is None else checks.whole("new_size", new_size, 1, NUMPY_LIMIT)
    checks.choice("rates", rates, methods.RATES)
    rng = checks.generator(rng)

    def predicted(ones: Any, zeros: Any) -> ndarray:
        """Return how many of so many items of each class are predicted to be of class 1."""
        return rng.binomial(ones, p11, runs) + rng.binomial(zeros, 1 - p00, runs)

    if size is None and rates == "frame":
        rule = "must be given for rates='frame': the frame that has these rates"
        raise checks.WrongValue("size", rule)
    frame_share = np.full(runs, base_rate * p11 + (1 - base_rate) * (1 - p00))
    if size is None:
        ones = rng.binomial(n, base_rate, runs)
        hits = rng.binomial(ones, p11)
        misses = rng.binomial(n - ones, 1 - p00)
    else:
        of_one = round(base_rate * size)
        of_zero = size - of_one
        base_rate = of_one / size
        ones = rng.hypergeometric(of_one, of_zero, n, runs)
        if rates == "frame":
            right = round(of_one * p11)
            wrong = round(of_zero * (1 - p00))
            hits = rng.hypergeometric(right, of_one - right, ones)
            misses = rng.hypergeometric(wrong, of_zero - wrong, n - ones)
            frame_share[:] = (right + wrong) / size
        else:
            hits = rng.binomial(ones, p11)
            misses = rng.binomial(n - ones, 1 - p00)
            rest = predicted(of_one - ones, of_zero - n + ones)
            frame_share = (hits + misses + rest) / size
    cells = np.array([[n - ones - misses, misses], [ones - hits, hits]])
    # runs next to each other in memory: sums over classes take half the time
    table = cells.astype(float).transpose(2, 0, 1)
    studies = []
    for truth in new_base_rates:
        share = np.full(runs, truth * p11 + (1 - truth) * (1 - p00))
        if new_size is not None:
            new_ones = round(truth * new_size)
            share = predicted(new_ones, new_size - new_ones) / new_size
            truth = new_ones / new_size
        estimates = {}
        for method in methods.estimators():
            shares = methods.shares_of(method, table, _two(frame_share), _two(share))
            estimates[method] = np.ascontiguousarray(shares[:, 1])
        figures = {method: _figures(values, truth) for method, values in estimates.items()}
        columns: dict[str, Any] = {
            name: {method: row[name] for method, row in figures.items()} for name in FIGURES
        }
        study = PrevalenceStudy(
            **columns,
            estimates=estimates,
            table=table.astype(np.int64),
            frame_share=frame_share,
            share=share,
            base_rate=base_rate,
            new_base_rate=truth,
            p00=p00,
            p11=p11,
            n=n,
            size=size,
            new_size=new_size,
            runs=runs,
            rates=rates,
        )
        studies.append(study)
    return studies


def _determinant(table: ndarray) -> ndarray:
    """Return d = p00 + p11 - 1 of tables (R, 2, 2), NaN without an item of a class."""
    with np.errstate(invalid="ignore"):
        return np.einsum("rkk->r", methods.by_row(table)) - 1


def _two(share: ndarray) -> ndarray:
    return np.stack([1 - share, share]).T


def _figures(values: ndarray, truth: float) -> dict[str, float]:
    """Return the `FIGURES` of a method: errors, their Monte Carlo errors, undefined runs."""
    defined = values[np.isfinite(values)]
    count = defined.size
    figures = dict.fromkeys(FIGURES, float("nan")) | {"undefined": values.size - count}
    if count < 2:
        return figures
    error = defined - truth
    bias = error.mean()
    centered = (error - bias) ** 2
    variance = centered.sum() / (count - 1)
    square = (error**2).mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        sd_error = np.sqrt(np.maximum((centered**2).mean() - variance**2, 0) / count / variance) / 2
        rmse_error = np.sqrt(np.maximum((error**4).mean() - square**2, 0) / count / square) / 2
    sd = np.sqrt(variance)
    errors = sd / np.sqrt(count), np.nan_to_num(sd_error), np.nan_to_num(rmse_error)
    columns = bias, sd, np.sqrt(square), *errors
    return figures | dict(zip(FIGURES, map(float, columns), strict=False))


class SharesStudy(Result):
    """Errors of every method in simulated audits of K classes; made by `simulate_shares`.

    Arrays have T new periods.

    Attributes
    ----------
    bias : dict of method to (T, K) array
        Mean of the estimates minus the true proportions, over the runs with an estimate.
    sd : dict of method to (T, K) array
        Standard deviation of this error.
    rmse : dict of method to (T, K) array
        Root mean squared error.
    bias_error, sd_error, rmse_error : dict of method to (T, K) array
        Monte Carlo standard errors of `bias`, `sd` and `rmse`.
    undefined : dict of method to (T, K) array
        Number of runs without an estimate.
    shares : (K,) array
        True proportions of the first period, rounded to whole items.
    new_shares : (T, K) array
        True proportions of the new periods, rounded to whole items.
    reading : (K, K) array
        P(prediction | truth); rows are true classes.
    n : int
        Number of labeled items.
    size : int
        Number of items of the first period.
    new_size : int
        Number of items of each new period.
    runs : int
        Number of runs.
    rates : str
        Population of the error rates, "process" or "frame".

    See Also
    --------
    simulate_shares : Run this simulation.
    estimate_prevalence : Estimate proportions from one audit.
    """

    bias: dict
    sd: dict
    rmse: dict
    bias_error: dict
    sd_error: dict
    rmse_error: dict
    undefined: dict
    shares: ndarray
    new_shares: ndarray
    reading: ndarray
    n: int
    size: int
    new_size: int
    runs: int
    rates: str

    def headline(self) -> str:
        """Return the methods with the least and the largest error over all classes and periods."""
        return (
            f"{checks.counted(len(self.shares), 'class', 'classes')}, {self.n:,} labels, "
            f"{self.runs:,} runs: {classes.best_and_worst(self.rmse)}"
        )

    def rows(self) -> list[dict]:
        """Return one row per period, method and class."""
        table = []
        for t, truths in enumerate(self.new_shares.tolist()):
            for method in self.bias:
                for k, truth in enumerate(truths):
                    row = {"period": t, "method": method, "label": k, "true_share": truth}
                    row |= {name: float(getattr(self, name)[method][t, k]) for name in ROW_FIGURES}
                    row["undefined"] = int(row["undefined"])
                    table.append(row)
        return table


def simulate_shares(
    shares: ArrayLike,
    new_shares: ArrayLike,
    reading: ArrayLike,
    n: int,
    size: int,
    *,
    new_size: int | None = None,
    runs: int = 10_000,
    rng: int | Generator = 0,
    rates: str = "process",
) -> SharesStudy:
    """Simulate audits of any number of classes, and estimate new proportions by all methods.

    Use it to see bias and spread of the methods in a setting like yours.

    Parameters
    ----------
    shares : (K,) array_like
        True proportions of the classes in the first period, above 0; rounded to whole items.
    new_shares : (K,) or (T, K) array_like
        True proportions in the new period, or in T new periods with the same audits.
    reading : (K, K) array_like
        P(prediction | truth) in all periods; rows are true classes.
    n : int
        Number of items of the first period that are labeled.
    size : int
        Number of items of the first period, at least n.
    new_size : int, optional
        Number of items of each new period, by default as many as in the first.
    runs : int, default 10_000
        Number of runs, at least 2.
    rng : int or numpy.random.Generator, default 0
        Seed or generator.
    rates : {"process", "frame"}, default "process"
        Population of the error rates, as in `simulate_prevalence`.

    Returns
    -------
    SharesStudy
        Bias, standard deviation and RMSE of every method, period and class.

    See Also
    --------
    simulate_prevalence : Simulate audits of two classes, with intervals.
    shift_study : Simulate shifts from the rates of your own audit.

    Examples
    --------
    >>> reading = [[.9, .06, .04], [.1, .8, .1], [.02, .08, .9]]
    >>> study = simulate_shares([.5, .3, .2], [.4, .3, .3], reading, 1000, 100_000, runs=500)
    >>> study     # doctest: +ELLIPSIS
    SharesStudy(3 classes, 1,000 labels, 500 runs: least error m... (RMSE 0.01...), largest ...)
    """
    shares, new, reading = classes.check_shares(shares, new_shares, reading)
    n = checks.whole("n", n, 1)
    runs = checks.whole("runs", runs, 2)
    size = checks.whole("size", size, n, NUMPY_LIMIT)
    new_size = size if new_size is None else checks.whole("new_size", new_size, 1, NUMPY_LIMIT)
    checks.choice("rates", rates, methods.RATES)
    rng, first = checks.generator(rng), whole_items(shares, size)
    table, frame = draw_classes(first, reading, n, runs, rates=rates, rng=rng)
    figures: dict = {method: [] for method in methods.estimators()}
    truths = []
    for period in np.atleast_2d(new):
        items = whole_items(period, new_size)
        drawn = [
            rng.multinomial(count, row, runs) for count, row in zip(items, reading, strict=True)
        ]
        truth = items / new_size
        truths.append(truth)
        for method, rows in figures.items():
            estimates = methods.shares_of(method, table, frame / size, np.sum(drawn, 0) / new_size)
            rows.append(list(map(_figures, estimates.T, truth)))
    columns: dict[str, Any] = {
        name: {
            method: np.array([[cell[name] for cell in row] for row in rows], float)
            for method, rows in figures.items()
        }
        for name in FIGURES
    }
    return SharesStudy(
        **columns,
        shares=first / size,
        new_shares=np.array(truths),
        reading=reading,
        n=n,
        size=size,
        new_size=new_size,
        runs=runs,
        rates=rates,
    )


def draw_classes(
    items: ndarray,
    reading: ndarray,
    n: int,
    runs: int,
    *,
    rates: str = "process",
    rng: Generator,
) -> tuple[ndarray, ndarray]:
    """Return audits (R, K, K) of n items, and the predicted counts (R, K) of the sampled period.

    Parameters
    ----------
    items : (K,) array of int
        Number of items of each true class in the period.
    reading : (K, K) array
        P(prediction | truth); rows are true classes.
    n : int
        Number of labeled items.
    runs : int
        Number of runs.
    rates : {"process", "frame"}
        With "frame" the period is the same in every run, with these rates in whole items.
    rng : numpy.random.Generator
        Generator of the samples.
    """
    audited = rng.multivariate_hypergeometric(items, n, size=runs)
    kinds = list(zip(items, audited.T, reading, strict=True))
    if rates == "frame":
        cells = np.stack([whole_items(row, count) for count, _, row in kinds])
        drawn = [
            [rng.multivariate_hypergeometric(cell, count) for count in counts]
            for cell, counts in zip(cells, audited.T, strict=True)
        ]
        return np.stack(drawn, 1), np.broadcast_to(cells.sum(0), (runs, items.size))
    table = np.stack([rng.multinomial(labeled, row) for _, labeled, row in kinds], 1)
    rest = [rng.multinomial(count - labeled, row) for count, labeled, row in kinds]
    return table, table.sum(1) + sum(rest)


def whole_items(share: ndarray, size: int) -> ndarray:
    """Return whole items per class; the remainder of rounding goes to the largest class.

    Examples
    --------
    >>> whole_items(np.array([.5, .3, .2]), 11).tolist()
    [6, 3, 2]
    """
    items = np.floor(share * size).astype(int)
    items[items.argmax()] += size - items.sum()
    return items


def shift_study(
    audit: ConfusionCounts,
    counts_at_audit: ArrayLike,
    new_shares: str | ArrayLike,
    *,
    runs: int = 10_000,
    rates: str = "process",
) -> list[dict]:
    """Compute the error of each estimator for new class proportions, with the rates of your audit.

    It compares theory with a simulation. Use it to choose a method before the proportions change.

    Parameters
    ----------
    audit : ConfusionCounts
        Audit whose proportions and rates are treated as the true ones.
    counts_at_audit : (K,) array_like of int
        Predicted counts of the period of the audit. Each new period has as many items.
    new_shares : str or array_like
        True proportions of new periods, as in `simulate_shares`. As text, proportions are separated
        by commas and periods by semicolons, such as ".2, .3, .5".
    runs : int, default 10_000
        Number of runs, at least 2.
    rates : {"process", "frame"}, default "process"
        Population of the error rates, as in `simulate_prevalence`.

    Returns
    -------
    list of dict
        One row per period, method and class: bias, standard deviation and RMSE by theory
        (`shares_theory`) and in the simulation.

    See Also
    --------
    shares_theory : Compute bias and standard deviation by theory.
    simulate_shares : Simulate audits of any number of classes.

    Examples
    --------
    >>> audit = ConfusionCounts([[45, 3, 2], [3, 24, 3], [1, 1, 18]])
    >>> [row] = [row for row in shift_study(audit, [5000, 3000, 2000], ".4, .3, .3", runs=500)
    ...          if row["method"] == "baseline" and row["label"] == 2]
    >>> round(row["bias"], 3), round(row["simulated_bias"], 2)
    (-0.1, -0.1)
    """
    audit = checks.instance("audit", audit, ConfusionCounts)
    truths = _of_text(new_shares) if isinstance(new_shares, str) else new_shares
    truths = checks.floats("new_shares", truths)
    if truths.shape[-1:] != (len(audit.labels),):
        rule = f"must have one proportion per class ({', '.join(map(str, audit.labels))})"
        raise checks.WrongValue("new_shares", rule, new_shares)
    size = int(check_counts("counts_at_audit", counts_at_audit, audit.labels).sum())
    reading = methods.by_row(audit.table)
    shares = audit.table.sum(1) / audit.n
    study = simulate_shares(shares, truths, reading, audit.n, size, runs=runs, rates=rates)
    theoretical: list[dict] = []
    for truth in study.new_shares:
        theoretical += classes.shares_theory(
            study.shares, truth, reading, audit.n, size=size, new_size=size, rates=rates
        ).rows()
    return [
        {
            "period": simulated["period"] + 1,
            "method": row["method"],
            "label": audit.labels[row["label"]],
            **{name: row[name] for name in ("true_share", *ERRORS)},
            **{f"simulated_{name}": simulated[name] for name in ERRORS},
        }
        for row, simulated in zip(theoretical, study.rows(), strict=True)
    ]


def _of_text(periods: str) -> list[list[float]]:
    """Return proportions from text with commas between classes and semicolons between periods."""
    try:
        shares = [[*map(float, period.split(","))] for period in periods.split(";")]
    except ValueError:
        rule = "must be proportions separated by commas, with periods separated by semicolons"
        raise checks.WrongValue("new_shares", rule, periods) from None
    if len({*map(len, shares)}) > 1:
        rule = "must have the same number of proportions in every period"
        raise checks.WrongValue("new_shares", rule, periods)
    return shares
