"""Tests that compare two models by cross-validation, other than the K-fold t-test."""

import numpy as np
import scipy
from numpy import nan, ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.checks import WrongValue, counted
from workbench.cross_validation import kfold, schemes
from workbench.cross_validation.sources import as_array, refuse_extreme
from workbench.results import Interval, Note, Result

MCNEMAR = ("exact", "midp", "chi2")
ADVISED_REPEATS = 200  # Bates, Hastie & Tibshirani, Cross-validation: what does it estimate, 2023


class ModelTest(Result):
    """Result of one test of two models.

    Attributes
    ----------
    test : str
        Name of the test.
    estimate : float
        Mean difference. For McNemar's test, (b - c) / (b + c).
    statistic : float
        Value of the test statistic.
    df : tuple of float
        Degrees of freedom; empty if the test has none.
    pvalue : float
        p-value of the test.

    See Also
    --------
    five_by_two_f_test : Test five repeats of 2-fold cross-validation.
    mcnemar_test : Compare two models on the same items.
    nadeau_bengio_test : Test differences from random splits.
    """

    test: str
    estimate: float
    statistic: float
    df: tuple
    pvalue: float

    def headline(self) -> str:
        """Return the statistic, the degrees of freedom and the p-value."""
        df = f", df {self._df}" if self.df else ""
        numbers = f"estimate {self.estimate:.4g}, statistic {self.statistic:.4g}"
        return f"{self.test}: {numbers}{df}, p {self.pvalue:.4g}"

    def rows(self) -> list[dict]:
        """Return one row."""
        return [
            {
                "test": self.test,
                "estimate": self.estimate,
                "statistic": self.statistic,
                "df": self._df,
                "pvalue": self.pvalue,
            }
        ]

    @property
    def _df(self) -> str:
        return ", ".join(f"{df:g}" for df in self.df)


def nadeau_bengio_test(
    differences: ArrayLike,
    n_train: float,
    n_test: float,
    *,
    mean: float = 0.0,
    alternative: str = "two-sided",
) -> ModelTest:
    """Test differences from random splits (or folds) with the corrected resampled t-test.

    The correction accounts for training items that the splits share.

    Parameters
    ----------
    differences : (J,) array_like
        Mean difference of the losses on each of J test sets, J >= 2.
    n_train, n_test : float
        Numbers of training items and of test items in a split, above 0.
    mean : float, default 0
        Mean to test.
    alternative : {"two-sided", "less", "greater"}, default "two-sided"
        Alternative hypothesis.

    Returns
    -------
    ModelTest
        Test with J - 1 degrees of freedom.

    Raises
    ------
    ZeroVarianceError
        If all differences are the same.

    See Also
    --------
    kfold_t_test : Test the mean of folds for an assumed proportion of hidden variance.
    bayesian_correlated_t : Posterior with the same correction.

    Notes
    -----
    For J differences with sample variance s^2, the statistic has J - 1 degrees of freedom [1]_::

        t = (estimate - mean) / sqrt((1/J + n_test/n_train) s^2)

    For J = K folds, this is `kfold_t_test` at rho = K/(2K-1).

    References
    ----------
    .. [1] Nadeau & Bengio, Inference for the generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> nadeau_bengio_test([.1, .1, -.05, .15, 0, .2, .25, .05, .05, 0], 90, 10)
    ModelTest(corrected resampled t: estimate 0.085, statistic 1.959, df 9, p 0.08176)
    """
    values = _differences(differences)
    n_train = checks.number("n_train", n_train, 0, open_ends=True)
    n_test = checks.number("n_test", n_test, 0, open_ends=True)
    mean = checks.number("mean", mean)
    checks.choice("alternative", alternative, kfold.ALTERNATIVES)
    kfold.refuse_zero_variance(values, 0, "the difference")
    variance = (1 / values.size + n_test / n_train) * values.var(ddof=1)
    error = variance**0.5
    estimate = values.mean()
    df = values.size - 1
    statistic = (estimate - mean) / error
    pvalue = float(kfold.tail_probability(statistic, df, alternative))
    return ModelTest("corrected resampled t", estimate, statistic, (df,), pvalue)


def five_by_two_t_test(differences: ArrayLike) -> ModelTest:
    """Test five repeats of 2-fold cross-validation with Dietterich's t.

    The result depends on which difference comes first; `five_by_two_f_test` does not have this
    weakness.

    Parameters
    ----------
    differences : (5, 2) array_like
        Mean difference of the losses on each half, one row per repeat.

    Returns
    -------
    ModelTest
        Test with 5 degrees of freedom. Its note gives the range of p over the ten differences that
        could have come first.

    Raises
    ------
    ZeroVarianceError
        If both halves agree in all five repeats.

    See Also
    --------
    five_by_two_f_test : Test that does not depend on the order of the differences.
    kfold_t_test : Test the mean of folds.

    Notes
    -----
    For differences d_i1 and d_i2 of the two halves in repeat i, the statistic is [1]_::

        t = d_11 / sqrt(sum s_i^2 / 5), with s_i^2 = (d_i1 - d_i2)^2 / 2

    The test assumes that the differences of the halves are independent, which is not true for every
    learner.

    References
    ----------
    .. [1] Dietterich, Approximate statistical tests for comparing supervised classification
       learning algorithms, Neural Computation 10, 1998.

    Examples
    --------
    >>> five_by_two_t_test([[.1, .05], [.08, .02], [0, .06], [.04, .07], [.03, .01]])
    ModelTest(5x2cv t: estimate 0.046, statistic 3.015, df 5, p 0.02958)
    """
    values = _five_by_two(differences)
    statistics, _ = five_by_two(values)
    pvalues = kfold.tail_probability(statistics, 5, "two-sided")
    note = Note(
        "unreliable",
        "the result depends on which of the ten differences comes first: p ranges from "
        f"{pvalues.min():.4g} to {pvalues.max():.4g}",
    )
    first = statistics[0, 0]
    pvalue = pvalues[0, 0]
    return ModelTest(
        "5x2cv t",
        values.mean(),
        first,
        (5,),
        pvalue,
        notes=[note],
    )


def five_by_two_f_test(differences: ArrayLike) -> ModelTest:
    """Test five repeats of 2-fold cross-validation with Alpaydin's F.

    Unlike Dietterich's t, the result does not depend on the order of the differences.

    Parameters
    ----------
    differences : (5, 2) array_like
        As in `five_by_two_t_test`.

    Returns
    -------
    ModelTest
        Test with 10 and 5 degrees of freedom.

    Raises
    ------
    ZeroVarianceError
        If both halves agree in all five repeats.

    See Also
    --------
    five_by_two_t_test : Test that uses the difference that comes first.
    compare_tests : Apply every suitable test to two models.

    Notes
    -----
    For differences d_ij and variances s_i^2 as in `five_by_two_t_test`, the statistic is F = sum
    d_ij^2 / (2 sum s_i^2) [1]_.

    References
    ----------
    .. [1] Alpaydin, Combined 5x2cv F test for comparing supervised classification learning
       algorithms, 1999.

    Examples
    --------
    >>> five_by_two_f_test([[.1, .05], [.08, .02], [0, .06], [.04, .07], [.03, .01]])
    ModelTest(5x2cv F: estimate 0.046, statistic 2.764, df 10, 5, p 0.1367)
    """
    values = _five_by_two(differences)
    _, statistic = five_by_two(values)
    pvalue = scipy.special.fdtrc(10, 5, statistic)
    return ModelTest("5x2cv F", values.mean(), statistic, (10, 5), pvalue)


def five_by_two(values: ndarray) -> tuple:
    """Return t (..., 5, 2) and F (...,) of differences (..., 5, 2).

    There is one t for each difference that could come first.

    Examples
    --------
    >>> t, f = five_by_two(np.array([[.1, .05], [.08, .02], [0, .06], [.04, .07], [.03, .01]]))
    >>> t.shape, round(float(f), 3)
    ((5, 2), 2.764)
    """
    spread = values.var(-1, ddof=1).sum(-1)
    squares = (values**2).sum((-1, -2))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = values / np.sqrt(spread / 5)[..., None, None]
        return t, squares / (2 * spread)


def mcnemar_test(b: int, c: int, *, method: str = "exact") -> ModelTest:
    """Test whether two fitted models err equally often on the same items.

    The result is about these two models, not about the methods that made them. It is therefore too
    liberal for pooled predictions of a cross-validation.

    Parameters
    ----------
    b, c : int
        Number of items that only the first model (b), and only the second model (c), classified
        incorrectly.
    method : {"exact", "midp", "chi2"}, default "exact"
        "exact": binomial test. "midp": binomial test that counts half the probability of the
        observed counts; its error rate is close to the nominal level [1]_. "chi2": chi-square test
        with Edwards' continuity correction, (abs(b - c) - 1)^2 / (b + c).

    Returns
    -------
    ModelTest
        Test of equal error rates. Without disagreements, p is 1, because the data contain no
        evidence.

    See Also
    --------
    compare_tests : Apply every suitable test to two models.
    kfold_t_test : Test two learning methods by cross-validation.

    References
    ----------
    .. [1] Fagerland, Lydersen & Laake, The McNemar test for binary matched-pairs data, 2013.

    Examples
    --------
    >>> mcnemar_test(21, 4)
    ModelTest(McNemar exact: estimate 0.68, statistic 4, p 0.0009105)
    """
    b = checks.whole("b", b, 0)
    c = checks.whole("c", c, 0)
    checks.choice("method", method, MCNEMAR)
    notes = []
    if b + c == 0:
        notes = [Note("undefined", "the models never disagree, so there is no evidence for either")]
    estimate = (b - c) / max(b + c, 1)
    pvalue = float(mcnemar_pvalue(b, c, method))
    statistic = float(min(b, c))
    df: tuple = ()
    if method == "chi2":
        statistic = float(_edwards(b, c))
        df = (1,)
    return ModelTest(
        f"McNemar {method}",
        estimate,
        statistic,
        df,
        pvalue,
        notes=notes,
    )


def mcnemar_pvalue(b: int | ndarray, c: int | ndarray, method: str = "exact") -> ndarray:
    """Return the p-values of McNemar's test for arrays of disagreements.

    Examples
    --------
    >>> [round(float(mcnemar_pvalue(21, 4, method)), 5) for method in MCNEMAR]
    [0.00091, 0.00053, 0.00137]
    """
    b = checks.plain_array("b", b)
    c = checks.plain_array("c", c)
    if method == "chi2":
        return scipy.special.chdtrc(1, _edwards(b, c))
    fewer = np.minimum(b, c)
    total = b + c
    tail = _at_most(fewer, total)
    if method == "exact":
        return np.minimum(2 * tail, 1)
    below = _at_most(np.maximum(fewer - 1, 0), total)
    return np.minimum(tail + np.where(fewer > 0, below, 0), 1)


def _edwards(b: int | ndarray, c: int | ndarray) -> ndarray:
    excess = np.maximum(np.abs(b - c) - 1, 0)
    return excess**2 / np.maximum(b + c, 1)


def _at_most(heads: ndarray, tosses: ndarray) -> ndarray:
    """Return P(X <= heads) for tosses of a fair coin.

    The binomial functions of `scipy.special` fail for 2**31 tosses or more.
    """
    tails = np.maximum(tosses - heads, 1.0)
    p = scipy.special.betainc(tails, heads + 1.0, 0.5)
    return np.where(tosses > 0, p, 1.0)


class BayesianTTest(Result):
    """Posterior of the mean difference of two models: a shifted and scaled Student t.

    The region of practical equivalence (ROPE) contains the differences that are too small to
    matter.

    Attributes
    ----------
    left : float
        Probability that the difference is below the ROPE, so that the first model has the smaller
        loss (or score).
    rope : float
        Probability that the models are practically equal.
    right : float
        Probability that the difference is above the ROPE.
    estimate : float
        Center of the posterior.
    standard_error : float
        Scale of the posterior.
    df : int
        Degrees of freedom of the posterior.
    half_width : float
        Half-width of the ROPE, which extends from -half_width to half_width.
    scores : bool
        Whether the difference is one of scores, so that larger is better.

    See Also
    --------
    bayesian_correlated_t : Compute this posterior.
    compare_tests : Apply every suitable test to two models.
    """

    left: float
    rope: float
    right: float
    estimate: float
    standard_error: float
    df: int
    half_width: float
    scores: bool = False

    @property
    def regions(self) -> dict[str, float]:
        """Return the probabilities of the three regions by their meaning."""
        low = "first better"
        high = "second better"
        if self.scores:
            low, high = high, low
        return {low: self.left, "practically equal": self.rope, high: self.right}

    def interval(self, level: float = 0.95) -> Interval:
        """Return the shortest interval that contains `level` of the posterior.

        Parameters
        ----------
        level : float, default 0.95
            Posterior probability inside the interval, in (0, 1).

        Returns
        -------
        Interval
            Credible interval of the mean difference.
        """
        quantile = scipy.special.stdtrit(self.df, (1 + checks.level(level)) / 2)
        reach = quantile * self.standard_error
        return Interval(self.estimate - reach, self.estimate + reach, level, "posterior")

    def density(self, difference: ArrayLike) -> ndarray:
        """Return the posterior density at some differences.

        Parameters
        ----------
        difference : array_like of float
            Mean differences.

        Returns
        -------
        ndarray
            Densities, in the shape of `difference`.
        """
        df = self.df
        scale = self.standard_error
        t = (checks.floats("difference", difference) - self.estimate) / scale
        constant = np.sqrt(df) * scipy.special.beta(0.5, df / 2) * scale
        exponent = -(df + 1) / 2 * np.log1p(t**2 / df)
        return np.exp(exponent) / constant

    def headline(self) -> str:
        """Return the probabilities of the three regions."""
        regions = self.regions
        best = "larger score" if self.scores else "smaller loss"
        equal = ""
        if self.half_width:
            equal = f", practically equal (within {self.half_width:g}) {self.rope:.3f}"
        first, second = (f"{regions[f'{model} better']:.3f}" for model in ("first", "second"))
        return f"P(first has the {best}) {first}{equal}, second {second}"

    def rows(self) -> list[dict]:
        """Return one row per region."""
        return [{"region": name, "probability": p} for name, p in self.regions.items()]


def bayesian_correlated_t(
    differences: ArrayLike,
    *,
    rope: float = 0.0,
    runs: int | None = None,
    sizes: ArrayLike | None = None,
    scores: bool = False,
    test_share: float | None = None,
) -> BayesianTTest:
    """Compute the posterior of the mean difference with Nadeau and Bengio's correlation of folds.

    Use it if you want the probability that two models are practically equal.

    Parameters
    ----------
    differences : (J,) array_like
        Mean loss of the first model minus that of the second in each fold, with J = K runs.
    rope : float, default 0
        Half-width of the region of practical equivalence, at least 0, in units of the loss.
    runs : int, optional
        Number of repeats of the cross-validation; must divide J. The default is 1 for up to 20
        differences.
    sizes : (J,) array_like of int, optional
        Items per fold, at least 1. Mean and variance are weighted by them, as in `kfold_t_test`. By
        default, all folds have the same size.
    scores : bool, default False
        Whether the differences are differences of scores, so that larger is better.
    test_share : float, optional
        Proportion of items in a test set of random splits. It is the correlation of two splits.

    Returns
    -------
    BayesianTTest
        Posterior of the mean difference. For `rope` 0, twice the smaller of `left` and `right` is
        the p-value of `kfold_t_test` at "nadeau_bengio". For equal folds it is also the p-value of
        `nadeau_bengio_test`.

    Raises
    ------
    ZeroVarianceError
        If all differences are the same.
    ValueError
        If there are more than 20 differences, and neither `runs` nor `test_share` says how the test
        sets were made.

    See Also
    --------
    nadeau_bengio_test : Corrected resampled t-test.
    kfold_t_test : Test the mean of the folds.

    References
    ----------
    .. [1] Corani & Benavoli, A Bayesian approach for comparing cross-validated algorithms on
       multiple data sets, Machine Learning 100, 2015.

    Examples
    --------
    >>> bayesian_correlated_t([.1, .1, -.05, .15, 0, .2, .25, .05, .05, 0], rope=.01)
    ...     # doctest: +NORMALIZE_WHITESPACE
    BayesianTTest(P(first has the smaller loss) 0.028, practically equal (within 0.01) 0.031,
    second 0.941)
    """
    values = _differences(differences)
    rope = checks.number("rope", rope, 0)
    _, share = schemes.checked("auto", test_share)
    if runs is None and share is None:
        schemes.refuse_unknown_folds(values.size, "give their number as runs")
    runs = 1 if runs is None else checks.whole("runs", runs, 1)
    folds, rest = divmod(values.size, runs)
    if rest or folds < 2:
        rule = "must divide the number of differences into at least 2 folds"
        raise WrongValue("runs", f"{rule}; got {runs} runs and {values.size} differences")
    kfold.refuse_zero_variance(values, 0, "the difference")
    weights = np.ones(values.size)
    if sizes is not None:
        weights = checks.counts(
            "sizes",
            sizes,
            size=values.size,
            low=1,
            what="fold",
        )
    ratio = 1 / (folds - 1) if share is None else share / (1 - share)
    variance = (1 + values.size * ratio) * kfold.theta3(values, weights)
    error = float(variance**0.5)
    mean = np.average(values, weights=weights)
    df = values.size - 1
    with np.errstate(over="ignore"):  # a huge rope is infinitely many standard errors wide
        left = scipy.special.stdtr(df, (-mean - rope) / error)
        right = scipy.special.stdtr(df, (mean - rope) / error)
    within = max(1 - left - right, 0.0)
    return BayesianTTest(
        left,
        within,
        right,
        mean,
        error,
        df,
        rope,
        scores,
    )


class NestedInterval(Interval):
    """Interval of nested cross-validation; unpacks to `(low, high)`.

    Attributes
    ----------
    low, high : float
        Limits of the interval.
    level : float
        Confidence level.
    method : str
        Name of the method.
    limiting_stratum : int or None
        As in `Interval`.
    bounded : (float, float) or None
        As in `Interval`.
    estimate : float
        Mean loss (or difference), corrected for the bias from smaller training sets.
    standard_error : float
        Standard error of the estimate.
    uncorrected : float
        Mean of the inner losses.

    See Also
    --------
    nested_cv_interval : Compute this interval.
    Interval : Interval of any other method.
    """

    estimate: float = nan
    standard_error: float = nan
    uncorrected: float = nan


def nested_cv_interval(
    outer: ArrayLike, inner: ArrayLike, *, level: float = 0.95
) -> NestedInterval:
    """Compute an interval for the error of a model fitted to all items.

    The interval uses the losses of nested cross-validation. It accounts for the correlation of
    folds, but needs many repeats.

    Parameters
    ----------
    outer : (K, m) or (R, K, m) array_like
        Losses (or differences of two models) of the items of each fold, by a model trained without
        that fold. K is at least 3 and m at least 2.
    inner : (K, n - m) or (R, K, n - m) array_like
        Losses of all other items, by models trained without that fold and without the item's own
        fold.
    level : float, default 0.95
        Confidence level in (0, 1).

    Returns
    -------
    NestedInterval
        Interval with the estimate and its standard error.

    Raises
    ------
    ValueError
        If shapes do not fit or a loss is not finite.

    See Also
    --------
    kfold_t_test : Test and interval from one level of folds.

    Notes
    -----
    The method of [1]_ estimates the mean squared error (MSE) and the bias of the cross-validated
    mean::

        MSE = (K-1)/K (mean((inner mean - outer mean)^2) - mean(variance of outer / m))
        bias = (1 + (K-2)/K) (inner mean - outer mean)

    The standard error is the square root of the MSE, but at least s / sqrt(n) and at most sqrt(K)
    times as much. Here s is the standard deviation of the inner losses. The authors advise about
    200 repeats R.

    References
    ----------
    .. [1] Bates, Hastie & Tibshirani, Cross-validation: what does it estimate and how well does it
       do it?, JASA 119, 2024.

    Examples
    --------
    >>> losses = np.random.default_rng(0).normal(size=(200, 5, 50))
    >>> nested_cv_interval(losses[..., :10], losses[..., 10:])
    NestedInterval(-0.3115 to 0.2698, 0.95 nested cross-validation)
    """
    level = checks.level(level)
    outer = _nested_losses("outer", outer)
    inner = _nested_losses("inner", inner)
    repeats, folds, m = outer.shape
    if folds < 3 or m < 2:
        rule = "must have at least 3 folds, each with at least 2 items"
        raise WrongValue("outer", rule, told=f"got {counted(folds, 'fold')} of {m:,}")
    shape = repeats, folds, (folds - 1) * m
    if inner.shape != shape:
        rule = f"must have shape {shape}: the losses of all items outside each fold"
        raise WrongValue("inner", rule, inner.shape)
    estimate, error = nested_estimate(outer, inner)
    reach = intervals.quantile(level) * error
    notes = []
    if repeats < ADVISED_REPEATS:
        advice = f"use about {ADVISED_REPEATS} for a stable width"
        notes = [Note("unreliable", f"only {counted(repeats, 'repeat')}; {advice}")]
    return NestedInterval(
        estimate - reach,
        estimate + reach,
        level,
        "nested cross-validation",
        estimate=estimate,
        standard_error=error,
        uncorrected=inner.mean(),
        notes=notes,
    )


def nested_estimate(outer: ndarray, inner: ndarray) -> tuple:
    """Return the estimate and its standard error.

    The losses have the shapes (..., R, K, m) and (..., R, K, n - m).

    Examples
    --------
    >>> estimate, error = nested_estimate(np.zeros((1, 2, 3)), np.ones((1, 2, 3)))
    >>> float(estimate), float(error)
    (0.0, 0.0)
    """
    folds, m = outer.shape[-2:]
    every = (-1, -2, -3)
    outer_mean = outer.mean(every)
    inner_mean = inner.mean(every)
    apart = inner.mean(-1) - outer.mean(-1)
    misses = apart**2 - outer.var(-1, ddof=1) / m
    squared = misses.mean((-1, -2)).clip(0)
    squared *= (folds - 1) / folds
    naive = inner.std(every, ddof=1) / np.sqrt(folds * m)
    error = np.clip(np.sqrt(squared), naive, naive * folds**0.5)
    correction = (1 + (folds - 2) / folds) * (inner_mean - outer_mean)
    return inner_mean - correction, error


def _nested_losses(name: str, losses: ArrayLike) -> ndarray:
    """Return losses as floats (R, K, m)."""
    losses = checks.floats(name, as_array(name, losses))
    if losses.ndim not in (2, 3):
        raise WrongValue(name, "must have shape (K, ...) or (R, K, ...)", losses.shape)
    losses = losses.reshape(-1, *losses.shape[-2:])
    checks.refuse_infinite(name, losses, "repeat", "fold", "item")
    refuse_extreme(name, losses)
    return losses


def _differences(values: ArrayLike) -> ndarray:
    values = checks.vector("differences", as_array("differences", values), what="fold")
    refuse_extreme("differences", values)
    return values


def _five_by_two(differences: ArrayLike) -> ndarray:
    values = checks.floats("differences", as_array("differences", differences))
    if values.shape != (5, 2):
        rule = "must have shape (5, 2), five repeats of two halves"
        raise WrongValue("differences", rule, values.shape)
    checks.refuse_infinite("differences", values, "repeat", "half")
    refuse_extreme("differences", values)
    if np.ptp(values, 1).max() <= kfold.ROUNDING * np.abs(values).max():
        raise kfold.ZeroVarianceError(
            "the two halves agree in all five repeats. The variance is 0, so there is no t, "
            "no F and no p-value. Use a loss with finer values, or more items"
        )
    return values
