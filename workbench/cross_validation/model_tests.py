"""Tests that compare two models by cross-validation, other than the K-fold t-test.

References
----------
.. [1] Nadeau & Bengio, Inference for the generalization error, Machine Learning 52, 2003.
.. [2] Dietterich, Approximate statistical tests for comparing supervised classification learning
   algorithms, Neural Computation 10, 1998: 5x2cv t, McNemar.
.. [3] Alpaydin, Combined 5x2cv F test for comparing supervised classification learning algorithms,
   Neural Computation 11, 1999.
.. [4] Fagerland, Lydersen & Laake, The McNemar test for binary matched-pairs data: mid-p and
   asymptotic are better than exact conditional, BMC Medical Research Methodology 13, 2013.
.. [5] Corani & Benavoli, A Bayesian approach for comparing cross-validated algorithms on multiple
   data sets, Machine Learning 100, 2015.
.. [6] Bates, Hastie & Tibshirani, Cross-validation: what does it estimate and how well does it do
   it?, JASA 119, 2024.
"""

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
    """Outcome of one test of two models.

    Attributes
    ----------
    test : str
    estimate : float
        Mean difference; for McNemar (b - c) / (b + c).
    statistic : float
    df : tuple of float
        Degrees of freedom; empty where there are none.
    pvalue : float
    """

    test: str
    estimate: float
    statistic: float
    df: tuple
    pvalue: float

    def headline(self) -> str:
        """Return statistic, degrees of freedom and p-value."""
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
    """Test differences from J random splits (or folds), corrected for shared training items.

    Parameters
    ----------
    differences : (J,) array_like
        Mean difference of the losses on each test set, J >= 2.
    n_train, n_test : float
        Items trained and tested on in a split, above 0.
    mean : float
        Tested mean.
    alternative : {"two-sided", "less", "greater"}

    Returns
    -------
    ModelTest

    Raises
    ------
    ZeroVarianceError
        If all differences are the same.

    Notes
    -----
    t = (estimate - mean) / sqrt((1/J + n_test/n_train) s^2), df = J - 1 [1]_. For J = K folds it is
    `kfold_t_test` at rho = K/(2K-1).

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

    Parameters
    ----------
    differences : (5, 2) array_like
        Mean difference of the losses on each half, one row per repeat.

    Returns
    -------
    ModelTest
        The note gives the range of p over the ten differences that could have come first.

    Raises
    ------
    ZeroVarianceError
        If both halves agree in all five repeats.

    Notes
    -----
    t = d_11 / sqrt(sum s_i^2 / 5) with s_i^2 = (d_i1 - d_i2)^2 / 2 and 5 degrees of freedom [1]_.
    It takes the differences of the halves as independent, which they are not for every learner.

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
        f"the difference that comes first decides: p from {pvalues.min():.4g} to "
        f"{pvalues.max():.4g} over the ten",
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

    Unlike Dietterich's t it does not depend on the order of the differences.

    Parameters
    ----------
    differences : (5, 2) array_like
        As in `five_by_two_t_test`.

    Returns
    -------
    ModelTest

    Raises
    ------
    ZeroVarianceError
        If both halves agree in all five repeats.

    Notes
    -----
    F = sum d_ij^2 / (2 sum s_i^2) with 10 and 5 degrees of freedom [1]_.

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

    There is one t for every difference that could come first.

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

    The answer is about these two models, not about the methods that made them: for pooled
    cross-validated predictions it is therefore too liberal.

    Parameters
    ----------
    b, c : int
        Items that only the first, and only the second, model got wrong.
    method : {"exact", "midp", "chi2"}
        Binomial; binomial with half the probability of the observed counts, close to its level
        [1]_; chi-square with Edwards' continuity correction, (abs(b - c) - 1)^2 / (b + c).

    Returns
    -------
    ModelTest
        Without disagreements p is 1: the data say nothing.

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
        notes = [Note("undefined", "the models never disagree: no evidence either way")]
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
    """Return p-values of arrays of disagreements.

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
    """Return P(X <= heads) of tosses of a fair coin.

    A binomial of `scipy.special` has no p from 2**31 tosses on.
    """
    tails = np.maximum(tosses - heads, 1.0)
    p = scipy.special.betainc(tails, heads + 1.0, 0.5)
    return np.where(tosses > 0, p, 1.0)


class BayesianTTest(Result):
    """Posterior of the mean difference of two models, a shifted and scaled Student t.

    Attributes
    ----------
    left, rope, right : float
        Probabilities that the difference is below the region of practical equivalence (ROPE), that
        the models are practically equal, and that it is above; below it the first model has the
        smaller loss, or score.
    estimate, standard_error : float
        Center and scale of the posterior.
    df : int
        Its degrees of freedom.
    half_width : float
        Of the ROPE, which is -half_width to half_width.
    scores : bool
        The difference is one of scores: the larger is better.
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
        """The probabilities of the three regions by their meaning: dict of float."""
        low = "first better"
        high = "second better"
        if self.scores:
            low, high = high, low
        return {low: self.left, "practically equal": self.rope, high: self.right}

    def interval(self, level: float = 0.95) -> Interval:
        """Return the shortest `Interval` that holds `level` of the posterior.

        Parameters
        ----------
        level : float
            Posterior probability inside, in (0, 1).
        """
        quantile = scipy.special.stdtrit(self.df, (1 + checks.level(level)) / 2)
        reach = quantile * self.standard_error
        return Interval(self.estimate - reach, self.estimate + reach, level, "posterior")

    def density(self, difference: ArrayLike) -> ndarray:
        """Return the posterior density at differences, of the same shape.

        Parameters
        ----------
        difference : array_like of float
        """
        df = self.df
        scale = self.standard_error
        t = (checks.floats("difference", difference) - self.estimate) / scale
        constant = np.sqrt(df) * scipy.special.beta(0.5, df / 2) * scale
        exponent = -(df + 1) / 2 * np.log1p(t**2 / df)
        return np.exp(exponent) / constant

    def headline(self) -> str:
        """Return the three probabilities in words."""
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
    """Return the posterior of the mean difference, with Nadeau and Bengio's correlation of folds.

    Parameters
    ----------
    differences : (J,) array_like
        Mean loss of the first less that of the second model per fold; J = K runs.
    rope : float
        Half width of the region of practical equivalence, at least 0, in units of the loss.
    runs : int, optional
        Repeats of the cross-validation; divides J. By default 1, where J is at most 20.
    sizes : (J,) array_like of int, optional
        Items per fold, at least 1: mean and variance are weighted by them, as in `kfold_t_test`; by
        default equal.
    scores : bool
        The differences are of scores: the larger is better.
    test_share : float, optional
        Of random splits the proportion of items in a test set, which is the correlation of two
        splits.

    Returns
    -------
    BayesianTTest
        Without a rope, twice the smaller of left and right is the p-value of `kfold_t_test` at
        "nadeau_bengio", and for equal folds that of `nadeau_bengio_test`.

    Raises
    ------
    ZeroVarianceError
        If all differences are the same.
    ValueError
        For more than 20 differences of which neither `runs` nor `test_share` says how they were
        made.

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
        schemes.refuse_unknown_folds(values.size, "say how many with runs")
    runs = 1 if runs is None else checks.whole("runs", runs, 1)
    folds, rest = divmod(values.size, runs)
    if rest or folds < 2:
        rule = "must divide the number of differences into at least 2 folds"
        raise WrongValue("runs", f"{rule}; got {runs} runs of {values.size}")
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
    low, high, level, method, limiting_stratum, bounded
        As in `Interval`.
    estimate : float
        Mean loss (difference), its bias from smaller training sets removed.
    standard_error : float
    uncorrected : float
        Mean of the inner losses.
    """

    estimate: float = nan
    standard_error: float = nan
    uncorrected: float = nan


def nested_cv_interval(
    outer: ArrayLike, inner: ArrayLike, *, level: float = 0.95
) -> NestedInterval:
    """Return an interval for the error of a model fitted to all items.

    It is made from the losses of nested cross-validation.

    Parameters
    ----------
    outer : (K, m) or (R, K, m) array_like
        Losses (or differences of two models) of the items of each fold, by a model trained without
        that fold.
    inner : (K, n - m) or (R, K, n - m) array_like
        Losses of all other items, by models trained without that fold and without the item's own.
    level : float

    Returns
    -------
    NestedInterval

    Raises
    ------
    ValueError
        If shapes do not fit or a loss is not finite.

    Notes
    -----
    The mean squared error is estimated by mean((inner mean - outer mean)^2) - mean(variance of
    outer / m), times (K-1)/K, its root limited to s / sqrt(n) and sqrt(K) times that; the bias is
    (1 + (K-2)/K) (inner mean - outer mean) [1]_, who advise some 200 repeats R.

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
        rule = "must have at least 3 folds of at least 2 items"
        raise WrongValue("outer", rule, told=f"got {counted(folds, 'fold')} of {m:,}")
    shape = repeats, folds, (folds - 1) * m
    if inner.shape != shape:
        rule = f"must have shape {shape}, all items outside each fold"
        raise WrongValue("inner", rule, inner.shape)
    estimate, error = nested_estimate(outer, inner)
    reach = intervals.quantile(level) * error
    notes = []
    if repeats < ADVISED_REPEATS:
        advice = f"about {ADVISED_REPEATS} are advised for a stable width"
        notes = [Note("unreliable", f"{counted(repeats, 'repeat')}; {advice}")]
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
    """Return estimate and standard error from losses (..., R, K, m) and (..., R, K, n - m).

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
        raise WrongValue(name, "must be (K, ...) or (R, K, ...)", losses.shape)
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
            "the two halves agree in all five repeats: the variance is 0, so there is no t, "
            "no F and no p-value; use a loss with finer values, or more items"
        )
    return values
