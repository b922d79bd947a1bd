"""Variance estimates and t-tests for K-fold cross-validation.

All K-fold t-tests are one test with one unknown number, rho. It is the proportion of the variance
of the cross-validated mean that the differences between folds do not show. The naive test assumes
0, the other tests assume more. For repeats of K folds and for random splits, rho determines the
correlation of two test sets.

Read `kfold_t_test` first, then `KFoldTTest`. `variance_estimates` and `half_sample_rho` can be read
on their own.

References
----------
.. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, Technical Report 1285,
   Universite de Montreal, 2006.
.. [2] Nadeau & Bengio, Inference for the generalization error, Machine Learning 52, 2003.
.. [3] Bouckaert & Frank, Evaluating the replicability of significance tests for comparing learning
   algorithms, PAKDD 2004: repeated cross-validation.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy import inf, nan, ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue, counted
from workbench.cross_validation import schemes
from workbench.cross_validation.losses import KINDS, CVLosses, as_losses
from workbench.cross_validation.sources import as_array
from workbench.results import Interval, Note, Result, percent

RHOS = ("auto", "naive", "nadeau_bengio")
SKEPTICAL = 0.7  # the default for folds: the upper end of what Grandvalet and Bengio measured
ALTERNATIVES = ("two-sided", "less", "greater")
ROUNDING = 1e-12
MOST_RHO = 0.95
FEW_DF = 4  # below it the t quantile is above 3
ASSUMPTIONS = {
    "theta1": ("the true mean is 0", "mean^2"),
    "theta2": ("no covariance within folds, omega = 0", "-omega"),
    "theta3": ("no covariance between folds, gamma = 0", "-gamma"),
    "theta4": ("gamma = -m/(n-m) omega", "-m/n omega - (n-m)/n gamma"),
    "theta5": ("no covariance at all, omega = gamma = 0", "-(m-1)/(n-1) omega - (n-m)/(n-1) gamma"),
}
OF_ITEMS = (
    "s1",
    "s2",
    "s3",
    "theta2",
    "theta4",
    "theta5",
)


class ZeroVarianceError(ValueError):
    """Error raised if all folds have the same mean.

    Then t is 0/0 or infinite, and there is no p-value. Use a loss with finer values or more items.

    Attributes
    ----------
    reason : str
        Message without the name of the tested quantity.

    See Also
    --------
    kfold_t_test : Test the mean of the folds.
    mcnemar_test : Compare two models on the same items.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


class VarianceEstimates(Result):
    """Five estimates of the variance of a cross-validated mean.

    Each estimate is unbiased under its own assumption [1]_. With repeats, an estimate is the mean
    over the repeats, and it estimates the variance of one repeat.

    Attributes
    ----------
    theta1, theta2, theta3, theta4, theta5 : float
        Estimates of the variance; NaN if undefined. `theta2` can be negative.
    s1 : float
        Mean squared loss.
    s2 : float
        Mean product of two losses in the same fold.
    s3 : float
        Mean product of two losses in different folds.
    mean : float
        Cross-validated mean.
    items, folds, repeats : int
        Numbers of items, folds and repeats.
    equal_folds : bool
        Whether all folds have the same size. If not, the estimates use forms that do not change
        when a constant is added to all losses. The biases then hold approximately, with m = n / K.

    See Also
    --------
    variance_estimates : Compute these estimates.
    kfold_t_test : Test the mean of the folds.

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006, Table 1.
    """

    theta1: float
    theta2: float
    theta3: float
    theta4: float
    theta5: float
    s1: float
    s2: float
    s3: float
    mean: float
    items: int
    folds: int
    repeats: int
    equal_folds: bool

    @property
    def reasons(self) -> dict:
        """Return the reason why an estimate is NaN, by the name of the estimate."""
        return {note.where[1]: note.text for note in self.notes if note.where}

    def bias(
        self,
        *,
        mean: float = 0.0,
        omega: float = 0.0,
        gamma: float = 0.0,
    ) -> dict[str, float]:
        """Return the bias of each estimate: its expectation minus the true variance.

        Parameters
        ----------
        mean : float, default 0
            Expected loss (or expected difference of losses).
        omega : float, default 0
            Covariance of two losses in the same fold.
        gamma : float, default 0
            Covariance of two losses in different folds.

        Returns
        -------
        dict of float
            Biases by the name of the estimate.
        """
        n = self.items
        m = self.items / self.folds
        between = (n - m) * gamma
        bias = {"theta1": mean**2, "theta2": -omega, "theta3": -gamma}
        bias["theta4"] = -(m * omega + between) / n
        bias["theta5"] = -((m - 1) * omega + between) / (n - 1)
        return bias

    def headline(self) -> str:
        """Return the mean with the standard errors of theta3, theta4 and theta5."""
        rows = [row for row in self.rows()[2:] if not row["problem"]]
        errors = [f"{row['standard_error']:.4g} ({row['estimator']})" for row in rows]
        return (
            f"mean {self.mean:.4g}; standard errors {', '.join(errors)}, which are all too small "
            "if folds are positively correlated"
        )

    def rows(self) -> list[dict]:
        """Return one row per estimate.

        A row has the variance, its square root (NaN for a negative variance), the assumption, the
        bias, and the reason if the estimate is undefined.
        """
        rows = []
        for name, (assumption, bias) in ASSUMPTIONS.items():
            variance = getattr(self, name)
            row = {"estimator": name, "variance": variance}
            row["standard_error"] = variance**0.5 if variance >= 0 else nan
            row |= {"assumes": assumption, "bias": bias}
            row["problem"] = self.reasons.get(name, "")
            rows.append(row)
        return rows


def variance_estimates(cv: CVLosses | ArrayLike) -> VarianceEstimates:
    """Estimate the variance of a cross-validated mean in five ways.

    Use it to see how far the standard errors of one cross-validation differ. All of them are too
    small if folds are positively correlated.

    Parameters
    ----------
    cv : CVLosses or (K, m) array_like
        Losses of one model, or differences of the losses of two models.

    Returns
    -------
    VarianceEstimates
        The five estimates. `theta2` and `theta4` need at least two items per fold. All but `theta1`
        and `theta3` need losses of single items.

    See Also
    --------
    kfold_t_test : Test the mean of the folds.
    half_sample_rho : Estimate how much variance the folds do not show.

    Notes
    -----
    For K folds of m items and n = K m, the estimates are [1]_::

        theta1 = s1/n + (m-1)/n s2 + (n-m)/n s3 = mean^2
        theta2 = s1/n - (n+1-m)/n s2 + (n-m)/n s3
        theta3 = s1/n + (m-1)/n s2 - m/n s3
        theta4 = (s1 - s2)/n
        theta5 = s1/n - (m-1)/(n(n-1)) s2 - (n-m)/(n(n-1)) s3

    Here

    - s1 is the mean squared loss,
    - s2 is the mean product of two losses in the same fold,
    - s3 is the mean product of two losses in different folds.

    For folds of unequal sizes m_k, theta4 pools the variances within folds, and theta3 is::

        theta3 = K/(K-1) sum (m_k/n)^2 (mean_k - mean)^2

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006, Table 1.

    Examples
    --------
    >>> estimates = variance_estimates([[0, 1, 0], [1, 1, 0], [0, 0, 0]])
    >>> round(estimates.theta3, 6), round(estimates.theta4, 6), round(estimates.theta5, 6)
    (0.037037, 0.024691, 0.027778)
    """
    cv = as_losses(cv)
    means = cv.fold_means()
    sizes = cv.sizes
    scale = np.abs(cv.losses).max()
    spread = np.array([_apart_from_rounding(row, scale) for row in means])
    estimates = dict.fromkeys(OF_ITEMS, nan)
    why = f"only fold means are known, but {cv.kinds} of single items are needed"
    if cv.has_items:
        values = cv.series()
        repeats = []
        for r in range(cv.repeats):
            rows = cv.repeat == r
            repeats.append(_item_estimates(values[rows], cv.fold[rows], scale))
        estimates = dict(zip(OF_ITEMS, np.mean(repeats, 0), strict=True))
        why = "folds of one item have no variance within folds"
    undefined = [name for name, estimate in estimates.items() if np.isnan(estimate)]
    notes = [Note("undefined", why, ("estimator", name)) for name in undefined]
    means_of_repeats = np.average(means, axis=1, weights=sizes)
    estimates["theta1"] = (means_of_repeats**2).mean()
    estimates["theta3"] = theta3(spread, sizes).mean()
    return VarianceEstimates(
        **estimates,
        mean=np.average(means, weights=sizes),
        items=sizes[0].sum(),
        folds=cv.folds,
        repeats=cv.repeats,
        equal_folds=cv.equal_folds,
        notes=notes,
    )


def theta3(fold_means: ndarray, sizes: ndarray | None = None) -> ndarray:
    """Return the variance of the mean that is estimated from the differences between folds.

    Parameters
    ----------
    fold_means : (..., K) array
        Means of the folds.
    sizes : (..., K) array, optional
        Items per fold; by default equal.

    Returns
    -------
    (...) array
        sum (mean_k - mean)^2 / (K (K - 1)) for equal folds.

    Examples
    --------
    >>> round(float(theta3(np.array([1., 2., 3.]))), 6)
    0.333333
    """
    folds = fold_means.shape[-1]
    if sizes is None:
        return fold_means.var(-1, ddof=1) / folds
    weights = sizes / sizes.sum(-1, keepdims=True)
    mean = (weights * fold_means).sum(-1, keepdims=True)
    squares = weights**2 * (fold_means - mean) ** 2
    return folds / (folds - 1) * squares.sum(-1)


def r_from_rho(rho: float, folds: int) -> float:
    """Convert rho to the correlation r of the means of two folds.

    Parameters
    ----------
    rho : float
        Proportion of the variance of the mean of all folds that the folds do not show; below 1.
    folds : int
        Number of folds K, at least 2.

    Returns
    -------
    float
        Correlation rho / (K - (K - 1) rho).

    See Also
    --------
    rho_from_r : Convert the correlation back to rho.
    kfold_t_test : Test the mean of the folds for an assumed rho.

    Examples
    --------
    >>> round(r_from_rho(.7, 10), 3)
    0.189
    """
    rho = checks.number("rho", rho, high=1, open_ends=True)
    folds = checks.whole("folds", folds, 2)
    return rho / (folds - (folds - 1) * rho)


def rho_from_r(r: float, folds: int) -> float:
    """Convert the correlation r of the means of two folds to rho.

    Parameters
    ----------
    r : float
        Correlation of the means of two folds, above -1 / (K - 1) and below 1.
    folds : int
        Number of folds K, at least 2.

    Returns
    -------
    float
        Proportion of hidden variance, K r / (1 + (K - 1) r).

    See Also
    --------
    r_from_rho : Convert rho back to the correlation.
    kfold_t_test : Test the mean of the folds for an assumed rho.

    Examples
    --------
    >>> round(rho_from_r(.7, 10), 2), round(rho_from_r(.1, 10), 3)
    (0.96, 0.526)
    """
    folds = checks.whole("folds", folds, 2)
    r = checks.number("r", r, -1 / (folds - 1), 1, open_ends=True)
    return folds * r / (1 + (folds - 1) * r)


class KFoldTTest(Result):
    """A t-test of the mean of folds, given the proportion rho of variance that they hide.

    The folds of a cross-validation share training items, so their differences do not show the whole
    variance of the mean. The test assumes that they hide the proportion rho of it.

    Attributes
    ----------
    estimate : float
        Mean loss (or score). For two models, that of the first minus that of the second.
    mean : float
        Mean that was tested.
    statistic, df, pvalue : float
        Statistic t, degrees of freedom and p-value.
    rho : float
        Covariance of two folds divided by the variance of the mean of one repeat, as given to
        `kfold_t_test`. It is not a correlation of folds. With repeats, t is scaled by `rho_of_all`.
    r : float
        Correlation of the means of two folds that corresponds to rho.
    standard_error : float
        Standard error of the estimate if rho is correct.
    naive_statistic : float
        Statistic for rho = 0.
    alternative : str
        Alternative hypothesis: "two-sided", "less" or "greater".
    folds, repeats : int
        Numbers of folds (or random splits) and of repeats.
    effect_size : float
        Estimate minus tested mean, in standard deviations of the loss (or difference) of a single
        item. NaN for fold means.
    label : str
        Description of the tested quantity.
    assumed : str
        How rho was chosen.
    models : tuple of str
        Names of the models; empty if an array of fold means was tested.
    mean_losses : tuple of float
        Mean loss of each model; empty if an array of fold means was tested.
    scores : bool
        Whether the numbers are scores, so that larger is better. `mean_losses` are then the mean
        scores multiplied by -1.
    one_sign : bool
        Whether one model was tested and its losses (or scores) are all on one side of 0. A test
        against 0 is then of no use, so the mean is reported.
    test_share : float or None
        Proportion of items in a test set, if it is not 1/K. Then rho belongs to one
        cross-validation with test sets of this size, and `folds` counts test sets.
    splits : {"folds", "random"}
        How the test sets were made.
    possible : tuple of float
        Smallest and largest possible mean, known for 0/1 losses. Intervals stay between them.

    See Also
    --------
    kfold_t_test : Compute this test.
    compare_tests : Apply every suitable test to two models.
    """

    estimate: float
    mean: float
    statistic: float
    df: int
    pvalue: float
    rho: float
    r: float
    standard_error: float
    naive_statistic: float
    alternative: str
    folds: int
    repeats: int
    effect_size: float
    label: str
    assumed: str
    models: tuple = ()
    mean_losses: tuple = ()
    scores: bool = False
    one_sign: bool = False
    test_share: float | None = None
    splits: str = "folds"
    possible: tuple = (-inf, inf)

    @property
    def rho_of_all(self) -> float:
        """Return the proportion of the variance of the mean of all repeats that the folds hide.

        For R repeats, it is R rho / (1 + (R-1) rho).
        """
        runs = self._runs
        return runs * self.rho / (1 + (runs - 1) * self.rho)

    @property
    def scheme(self) -> str:
        """Return a description of how the test sets were made."""
        return schemes.words(self.splits, self.folds, self.repeats, self.test_share)

    @property
    def of_one(self) -> bool:
        """Return True if rho is for one cross-validation, but the mean is for repeats or splits."""
        return self.repeats > 1 or self.test_share is not None

    def rho_alpha(self, level: float = 0.95) -> float:
        """Return the supremum of the values of rho for which the test rejects at 1 - level.

        The test does not reject for any larger rho. The value is a rho of one repeat, like the
        argument of `kfold_t_test`. It is negative if even the naive test does not reject, and minus
        infinity if no rho rejects. With R repeats, it stays above -1 / (R - 1), the smallest value
        that their folds can have.

        Parameters
        ----------
        level : float, default 0.95
            1 minus the significance level, in (0, 1).

        Returns
        -------
        float
            Largest rho (supremum) for which the test rejects.

        Raises
        ------
        ValueError
            For a one-sided test at a level below 0.5. There the test rejects for all rho above some
            value.
        """
        level = checks.level(level)
        if self.alternative != "two-sided" and level < 0.5:
            raise WrongValue(
                "level",
                f"must be at least 0.5 for a one-sided test; got {level:g}. Below 0.5, the test "
                "rejects for every larger rho, so there is no largest rho",
            )
        naive = self.naive_statistic
        distance = {"two-sided": abs(naive), "less": -naive, "greater": naive}[self.alternative]
        if distance <= 0:
            return -inf
        runs = self._runs
        visible = (_quantile(level, self.df, self.alternative) / distance) ** 2
        divisor = 1 + (runs - 1) * visible
        return (1 - visible) / divisor if divisor > 0 else -inf

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval of means that the test does not reject.

        It is one-sided for a one-sided test.

        Parameters
        ----------
        level : float, default 0.95
            Confidence level in (0, 1).

        Returns
        -------
        Interval
            Lower and upper limit of the mean.
        """
        reach = _quantile(checks.level(level), self.df, self.alternative) * self.standard_error
        least, most = self.possible
        low = max(self.estimate - reach, least)
        high = min(self.estimate + reach, most)
        if self.alternative == "less":
            low = -inf
        elif self.alternative == "greater":
            high = inf
        return Interval(low, high, level, f"t with rho {self.rho:.4g}", notes=self.notes)

    def at(self, rho: float | str) -> "KFoldTTest":
        """Return the same test for another rho.

        Parameters
        ----------
        rho : float or str
            As in `kfold_t_test`.

        Returns
        -------
        KFoldTTest
            Test with this rho.
        """
        error = self.standard_error * _visible(self.rho, self._runs) ** 0.5
        fields = _fields_of_rho(
            rho,
            self,
            self.naive_statistic,
            error,
            self.df,
            self.alternative,
        )
        return replace(self, **fields)

    def finding(self) -> str:
        """Return which model is better and by how much, or the mean of a single model."""
        mean = None if self._only_mean else self.mean
        return describe(
            self.label,
            self.estimate,
            self.models,
            self.mean_losses,
            mean,
            self.scores,
        )

    def verdict(self, level: float = 0.95) -> str:
        """Return which model is better and for which rho that is significant.

        Nadeau and Bengio's p-value follows. If one model was tested and its losses (or scores) are
        all on one side of 0, a test against 0 is of no use. The verdict is then the mean with its
        interval.

        Parameters
        ----------
        level : float, default 0.95
            1 minus the significance level, in (0, 1).

        Returns
        -------
        str
            Text in one line.
        """
        if self._only_mean:
            low, high = self.interval(level)
            limits = f"{percent(level)} interval {low:.4g} to {high:.4g}"
            return f"{self.finding()}, {limits} at rho {self.rho:.3g}{self._of_one()}"
        p = self.at("nadeau_bengio").pvalue
        chance = f"{p:.2g}" if p > 1e-300 else "below 1e-300"
        sides = "" if self.alternative == "two-sided" else f" (one-sided, {self.alternative})"
        return f"{self.finding()}; {self._significance(level)}; Nadeau-Bengio p {chance}{sides}"

    def headline(self) -> str:
        """Return the estimate, t, p, rho, r, and the rho below which the test rejects."""
        flips = self.rho_alpha()
        until = f"rejects for rho below {flips:.3g}"
        if flips <= 0:
            rejects = self.pvalue < 0.05
            until = f"{until} only" if rejects else "does not reject, not even at rho = 0"
        test = f"t {self.statistic:.4g}, df {self.df}, p {self.pvalue:.4g}"
        rho = f"rho {self.rho:.3g}{self._of_one()} (r {self.r:.3g})"
        return f"{self.label} {self.estimate:.4g}: {test} at {rho}; {until}"

    def rows(self, level: float = 0.95) -> list[dict]:
        """Return one row per rho: naive, Nadeau-Bengio, 0.7 and, if it differs, the one used.

        Parameters
        ----------
        level : float, default 0.95
            1 minus the significance level, in (0, 1).

        Returns
        -------
        list of dict
            Rows with rho, r, statistic, degrees of freedom, p-value and interval.
        """
        unit = "repeat" if self.test_share is None else "cross-validation"
        tests = {"naive": self.at("naive"), "Nadeau-Bengio": self.at("nadeau_bengio")}
        tests[f"rho 0.7 (one {unit})"] = self.at(SKEPTICAL)
        if all(abs(test.rho - self.rho) >= 1e-9 for test in tests.values()):
            tests[f"used: {self.assumed}"] = self
        columns = [
            "rho",
            "r",
            "statistic",
            "df",
            "pvalue",
        ]
        if self.of_one:
            columns.insert(1, "rho_of_all")
        rows = []
        for name, test in tests.items():
            row = {"test": name} | {column: getattr(test, column) for column in columns}
            row["low"], row["high"] = test.interval(level)
            rows.append(row)
        return rows

    @property
    def _runs(self) -> float:
        return _folds_and_runs(self.folds, self.repeats, self.test_share)[1]

    @property
    def _only_mean(self) -> bool:
        return self.one_sign and self.mean == 0 and self.alternative == "two-sided"

    def _of_one(self) -> str:
        if self.test_share is not None:
            return " of one cross-validation"
        return " of one repeat" if self.repeats > 1 else ""

    def _significance(self, level: float) -> str:
        flips = self.rho_alpha(level)
        risk = percent(1 - level)
        limit, rho = _in_order(flips, self.rho)
        if self.pvalue < 1 - level:
            condition = f"as long as rho{self._of_one()} is below {limit}"
            return f"significant at {risk} at rho {rho}, {condition}"
        if flips <= 0:
            return f"not significant at {risk}, not even at rho = 0, which does not show equality"
        return f"significant at {risk} only if rho{self._of_one()} is below {limit}, not at {rho}"


def kfold_t_test(
    cv_or_fold_means: CVLosses | ArrayLike,
    *,
    rho: float | str = "auto",
    mean: float = 0.0,
    alternative: str = "two-sided",
) -> KFoldTTest:
    """Test the mean of folds or random splits, given the proportion rho of variance that they hide.

    Use it to test whether one model has a smaller mean loss than another in a cross-validation. The
    result contains the interval, the p-value, and the largest rho for which the difference is
    significant.

    Parameters
    ----------
    cv_or_fold_means : CVLosses or (K,) array_like
        Losses of one or two models. For two models, the test uses the first minus the second. An
        array holds mean losses (or differences) of equal folds of one cross-validation, at most 20.
        For more, use `CVLosses.from_fold_means`, because they may be repeats or random splits.
    rho : float or {"auto", "naive", "nadeau_bengio"}
        Assumed proportion of the variance of the mean of one repeat that the folds do not show. It
        is below 1, and a number may be given as text. "naive" is 0. "nadeau_bengio" is K/(2K-1),
        which follows if folds have the correlation 1/K, the proportion of items tested. "auto" is
        0.7 for folds, the skeptical choice of [1]_, and "nadeau_bengio" for random splits.
        `half_sample_rho` estimates rho. With R repeats, rho must be above -1/(R-1); see Notes.
    mean : float, default 0
        Mean to test.
    alternative : {"two-sided", "less", "greater"}
        Alternative hypothesis. "less" means that the (first) model has the smaller loss, or the
        smaller score.

    Returns
    -------
    KFoldTTest
        Test with the estimate, its interval and the p-value. Its `rho` and `rho_alpha` are on the
        scale of the argument.

    Raises
    ------
    ZeroVarianceError
        If all folds have the same mean (a ValueError).
    ValueError
        If rho is unknown or too large, there are fewer than 2 folds, or a number is not finite.
        Also if more than 20 numbers are given as an array.

    See Also
    --------
    compare_tests : Apply every suitable test to two models.
    compare_models : Test all pairs of several models.
    half_sample_rho : Estimate rho from the items.

    Notes
    -----
    For one cross-validation of K folds with normally distributed means, the statistic has K - 1
    degrees of freedom ([1]_, proposition 2)::

        t = sqrt(K (K-1) (1-rho)) (estimate - mean) / sqrt(sum (mean_k - estimate)^2)

    The proportion of hidden variance is rho = (theta - E theta3) / theta. Here

    - mean_k is the mean of fold k,
    - theta is the variance of the estimate,
    - theta3 is its estimate from the folds, see `variance_estimates`.

    [1]_ calls rho a correlation, but it is not the correlation r of two folds: rho = K r / (1 +
    (K-1) r). For K = 10, a test with rho = 0 rejects a true null hypothesis in 24.7% of cases if
    the true rho is 0.7.

    All repeats share the correlation r. The folds of R repeats therefore hide the proportion R rho
    / (1 + (R-1) rho) of the variance of their mean, so that repeating does not create evidence. For
    random splits, rho is that of one cross-validation with test sets of the same size.

    With "nadeau_bengio", the variance of the mean of J = K R folds is s^2 (1/J + 1/(K-1)) [2]_,
    [3]_. For J random splits it is s^2 (1/J + n_test/n_train). Both tests have J - 1 degrees of
    freedom.

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006.
    .. [2] Nadeau & Bengio, Inference for the generalization error, Machine Learning 52, 2003.
    .. [3] Bouckaert & Frank, Evaluating the replicability of significance tests for comparing
       learning algorithms, PAKDD 2004.

    Examples
    --------
    >>> d = [.1, .1, -.05, .15, 0, .2, .25, .05, .05, 0]
    >>> kfold_t_test(d)     # doctest: +NORMALIZE_WHITESPACE
    KFoldTTest(mean 0.085: t 1.559, df 9, p 0.1534 at rho 0.7 (r 0.189); rejects for rho below
    0.368)
    >>> [round(kfold_t_test(d, rho=rho).pvalue, 4) for rho in ("naive", "nadeau_bengio")]
    [0.0192, 0.0818]
    """
    cv = cv_or_fold_means
    models: tuple = ()
    mean_losses: tuple = ()
    if isinstance(cv, CVLosses):
        label = cv.label
        models = cv.models
        mean_losses = tuple(cv.mean_losses().tolist())
    else:
        label = "mean"
        cv = _from_means(cv)
    mean = checks.number("mean", mean)
    checks.choice("alternative", alternative, ALTERNATIVES)
    resolve_rho(rho, cv.folds, cv.repeats, test_share=cv.test_share, splits=cv.splits)
    means = cv.fold_means().ravel()
    sizes = cv.sizes.ravel()
    mcnemar = len(models) == 2 and cv.zero_one
    largest = np.abs(cv.losses).max()
    refuse_zero_variance(means, largest, label, zero_one=mcnemar, kind=cv.kind)
    estimate = np.average(means, weights=sizes)
    df = means.size - 1
    error = float(theta3(means, sizes)) ** 0.5
    statistic = (estimate - mean) / error
    spread = cv.series().std(ddof=1) if cv.has_items else 0.0
    effect_size = (estimate - mean) / spread if spread > 0 else nan
    fields = _fields_of_rho(
        rho,
        cv,
        statistic,
        error,
        df,
        alternative,
    )
    return KFoldTTest(
        estimate=estimate,
        mean=mean,
        df=df,
        naive_statistic=statistic,
        alternative=alternative,
        folds=cv.folds,
        repeats=cv.repeats,
        effect_size=effect_size,
        label=label,
        models=models,
        mean_losses=mean_losses,
        scores=cv.scores,
        one_sign=len(models) == 1 and cv.one_sign,
        test_share=cv.test_share,
        splits=cv.splits,
        possible=possible_range(cv),
        notes=tuple(fold_notes(cv)),
        **fields,
    )


def _fields_of_rho(
    rho: float | str,
    cv: CVLosses | KFoldTTest,
    naive: float,
    naive_error: float,
    df: int,
    alternative: str,
) -> dict:
    """Return the fields of a test that depend on rho, from the statistic and error at rho = 0."""
    folds, runs = _folds_and_runs(cv.folds, cv.repeats, cv.test_share)
    number, assumed = _rho_of_one(rho, folds, cv.splits)
    visible = _visible(number, runs) ** 0.5
    statistic = visible * naive
    fields = {"rho": number, "assumed": assumed}
    fields["r"] = number / (folds - (folds - 1) * number)
    fields["statistic"] = statistic
    fields["standard_error"] = naive_error / visible
    fields["pvalue"] = tail_probability(statistic, df, alternative)
    return fields


def possible_range(cv: CVLosses) -> tuple[float, float]:
    """Return the smallest and the largest possible mean of `series`, known for 0/1 losses only.

    Examples
    --------
    >>> possible_range(CVLosses([[0, 1], [1, 1]])), possible_range(CVLosses([[.5, 1], [1, 1]]))
    ((0.0, 1.0), (-inf, inf))
    """
    if not cv.zero_one:
        return -inf, inf
    return (-1.0, 1.0) if len(cv.models) == 2 else (0.0, 1.0)


def describe(
    label: str,
    estimate: float,
    models: tuple[str, ...] = (),
    mean_losses: Sequence[float] | ndarray = (),
    mean: float | None = 0.0,
    scores: bool = False,
) -> str:
    """Return which of two models is better, or the mean and the value it was tested against.

    Examples
    --------
    >>> describe("A minus B", .085, ("A", "B"), (.14, .055))
    'B is better by 0.085 (losses 0.14 against 0.055)'
    >>> describe("A minus B", .08, ("A", "B"), (-.85, -.77), scores=True)
    'A is better by 0.08 (scores 0.85 against 0.77)'
    >>> describe("mean", .085)
    'mean 0.085, tested against 0'
    >>> describe("lr", .41, ("lr",), (.41,), mean=None)
    'mean loss of lr 0.41'
    """
    kind, kinds = KINDS[scores]
    if len(models) != 2:
        name = f"mean {kind} of {models[0]}" if models else label
        against = "" if mean is None else f", tested against {mean:.4g}"
        return f"{name} {estimate:.4g}{against}"
    against = f", tested against a difference of {mean:.4g}" if mean else ""
    sign = -1 if scores else 1
    low, high = sorted(sign * loss + 0.0 for loss in mean_losses)
    if low == high or abs(estimate) <= ROUNDING * max(abs(low), abs(high)):
        both = " and ".join(models)
        return f"{both} have the same mean {kind}, {high:.4g}{against}"
    best = models[np.argmin(mean_losses)]
    means = f"{kinds} {high:.4g} against {low:.4g}"
    return f"{best} is better by {abs(estimate):.4g} ({means}){against}"


def half_sample_rho(
    losses_of: Callable,
    X: ArrayLike,
    y: ArrayLike,
    *,
    folds: int = 10,
    halvings: int = 10,
    rng: int | np.random.Generator = 0,
) -> float:
    """Estimate rho from cross-validations of random half samples.

    Use it if a single assumed rho is not convincing and you can repeat the cross-validation. The
    estimate is noisy. The test with it is slightly liberal: in simulations it rejected a true null
    hypothesis in 5 to 7% of cases instead of 5%.

    Parameters
    ----------
    losses_of : callable
        Function that cross-validates the given items: losses_of(X, y, rng) returns CVLosses or (K,
        m) losses of one model, or differences of the losses of two models. K must equal `folds`.
    X : (n, ...) array_like
        Features of at least 4 K items.
    y : (n,) array_like
        Class or value of each item.
    folds : int, default 10
        Number of folds K, at least 2. Each half has the largest possible multiple of K items.
    halvings : int, default 10
        Number of random divisions into halves, at least 2; we advise 10 or more. Each costs two
        cross-validations of half the items.
    rng : int or numpy.random.Generator
        Seed or generator of the random numbers.

    Returns
    -------
    float
        Estimate of rho, limited to the range from 0 to 0.95.

    Raises
    ------
    ValueError
        If there are too few items, `losses_of` returns another number of folds, or all halves have
        the same mean.

    See Also
    --------
    kfold_t_test : Test the mean of the folds with this rho.
    rho_from_r : Convert the correlation of two folds to rho.

    Notes
    -----
    The method follows a suggestion at the end of [1]_. Two halves have no item in common, so half
    the squared difference of their means estimates the whole variance. The folds of each half show
    only the proportion 1 - rho of it. The estimate is::

        clip(1 - mean theta3(half) / mean((mean_A - mean_B)^2 / 2), 0, 0.95)

    It is used unchanged for the whole sample, for which rho is a little smaller.

    References
    ----------
    .. [1] Grandvalet & Bengio, Hypothesis testing for cross-validation, 2006, section 6.

    Examples
    --------
    Losses that do not depend on what the model learned have independent folds:

    >>> y = np.random.default_rng(1).normal(size=400)
    >>> half_sample_rho(lambda X, y, rng: y.reshape(10, -1), y, y, halvings=50) < .3
    True
    """
    X = checks.plain_array("X", X, "item")
    y = checks.plain_array("y", y, "item")
    folds = checks.whole("folds", folds, 2)
    halvings = checks.whole("halvings", halvings, 2)
    if len(X) != len(y):
        rule = f"must have {counted(len(X), 'entry', 'entries')}, as X"
        raise WrongValue("y", rule, len(y))
    half = len(X) // 2 // folds * folds
    if half < 2 * folds:
        raise ValueError(
            f"X must have at least {4 * folds} items for halves of 2 items per fold; got {len(X)}"
        )
    rng = checks.generator(rng)
    visible = []
    means = []
    for _ in range(halvings):
        order = rng.permutation(len(X))
        for rows in (order[:half], order[half : 2 * half]):
            cv = as_losses(losses_of(X[rows], y[rows], rng))
            if (cv.folds, cv.repeats) != (folds, 1):
                rule = f"must return one cross-validation of {folds} folds"
                raise WrongValue("losses_of", rule, told=f"got {cv.scheme}")
            visible.append(theta3(cv.fold_means(), cv.sizes))
            means.append(np.average(cv.fold_means(), weights=cv.sizes))
    pairs = np.reshape(means, (halvings, 2))
    if not np.diff(pairs).any():
        raise ZeroVarianceError(
            "the two halves always have the same mean, so rho cannot be estimated. "
            "Use rho='nadeau_bengio'"
        )
    return rho_of_halves(np.reshape(visible, (halvings, 2)), pairs).item()


def rho_of_halves(visible: ndarray, means: ndarray) -> ndarray:
    """Return rho from theta3 and the mean of both halves, (..., H, 2) each.

    Examples
    --------
    >>> rho_of_halves(np.array([[1., 1]]), np.array([[0., 2]])).item()
    0.5
    """
    variance = means.var(-1, ddof=1).mean(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        hidden = 1 - visible.mean((-1, -2)) / variance
    return np.clip(hidden, 0, MOST_RHO)


def resolve_rho(
    rho: float | str,
    folds: int,
    repeats: int = 1,
    *,
    test_share: float | None = None,
    splits: str = "folds",
) -> float:
    """Return rho for the mean of all K R folds or random splits.

    Parameters
    ----------
    rho : float or {"auto", "naive", "nadeau_bengio"}
        Rho of one repeat, below 1 and above -1 / (R - 1).
    folds, repeats : int
        Numbers of folds K and of repeats R.
    test_share : float, optional
        Proportion of items in a test set, if it is not 1/K.
    splits : {"folds", "random"}
        How the test sets were made.

    Examples
    --------
    >>> round(resolve_rho("nadeau_bengio", 10), 3), round(resolve_rho("nadeau_bengio", 10, 10), 3)
    (0.526, 0.917)
    >>> ratio = (1 / 250 + 20 / 80) / (1 / 250)
    >>> rho = resolve_rho("auto", 250, test_share=.2, splits="random")
    >>> round(rho - (1 - 1 / ratio), 9)
    0.0
    """
    folds_of_one, runs = _folds_and_runs(folds, repeats, test_share)
    number, _ = _rho_of_one(rho, folds_of_one, splits)
    return number if runs == 1 else 1 - _visible(number, runs)


def _folds_and_runs(folds: int, repeats: int, test_share: float | None) -> tuple[float, float]:
    """Return K and R.

    K random splits together test as many items as there are. J splits therefore count as R = J / K
    repeats.
    """
    if test_share is None:
        return folds, repeats
    return 1 / test_share, folds * test_share


def fold_notes(cv: CVLosses) -> Iterator[Note]:
    """Yield notes on a t-test of the folds: notes of `cv`, unequal folds, repeats, few folds.

    Examples
    --------
    >>> for note in fold_notes(CVLosses.from_fold_means([.1, .2, .3], n_items=10)):
    ...     print(note)
    folds of 3 to 4 items: they are weighted by size, so t is approximate
    3 folds give only 2 degrees of freedom, so t must be beyond 4.3 to be significant at 5%
    """
    yield from cv.notes
    if not cv.equal_folds:
        sizes = f"{cv.sizes.min():,} to {counted(cv.sizes.max(), 'item')}"
        text = f"{cv.noun}s of {sizes}: they are weighted by size, so t is approximate"
        yield Note("unreliable", text)
    if cv.splits == "random" and cv.test_share:
        ratio = cv.test_share / (1 - cv.test_share)
        yield Note(
            "assumption",
            f"{cv.scheme}: Nadeau and Bengio's correction of the variance uses n_test/n_train = "
            f"{ratio:.3g}, because the splits share training items. Rho is that of one "
            "cross-validation with test sets of this size",
        )
    if cv.repeats > 1:
        yield Note(
            "assumption",
            f"{cv.repeats} repeats test the same items. With rho = 0, each repeat would count as "
            "new evidence",
        )
    df = cv.folds * cv.repeats - 1
    if df < FEW_DF:
        freedom = counted(df, "degree of freedom", "degrees of freedom")
        limit = f"t must be beyond {_quantile(0.95, df, 'two-sided'):.3g} to be significant at 5%"
        folds = counted(cv.folds, cv.noun)
        yield Note("design", f"{folds} give only {freedom}, so {limit}")


def refuse_zero_variance(
    fold_means: ndarray,
    scale: float,
    label: str,
    *,
    zero_one: bool = False,
    kind: str = "loss",
) -> None:
    """Raise ZeroVarianceError if fold means differ by no more than rounding.

    The error suggests McNemar's test for 0/1 losses only.

    Examples
    --------
    >>> refuse_zero_variance(np.array([.1, .1, .2]), 1, "A minus B")
    """
    if np.ptp(fold_means) > ROUNDING * max(scale, np.abs(fold_means).max()):
        return
    other = "mcnemar_test on the paired items" if zero_one else "more items"
    reason = (
        f"the same in every fold, {fold_means[0]:.4g}. The variance between the {fold_means.size} "
        f"folds is 0, so there is no t and no p-value. Use a {kind} with finer values, or {other}"
    )
    raise ZeroVarianceError(f"{label} is {reason}", reason)


def tail_probability(statistic: float | ndarray, df: float | ndarray, alternative: str) -> ndarray:
    """Return the p-value of t statistics.

    Examples
    --------
    >>> round(float(tail_probability(2.262, 9, "two-sided")), 3)
    0.05
    """
    if alternative == "two-sided":
        return 2 * scipy.special.stdtr(df, -np.abs(statistic))
    return scipy.special.stdtr(df, statistic if alternative == "less" else -np.asarray(statistic))


def _item_estimates(values: ndarray, fold: ndarray, scale: float) -> tuple:
    """Return the estimates `OF_ITEMS` of one repeat, NaN where undefined."""
    size = np.bincount(fold)
    n = values.size
    centered = _apart_from_rounding(values, scale)
    centered -= centered.mean()
    fold_mean = np.bincount(fold, centered) / size
    within = ((centered - fold_mean[fold]) ** 2).sum()
    total = (centered**2).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        products = _mean_products(values, fold, size)
        theta2 = -_mean_products(centered, fold, size)[1]
        theta4 = within / np.float64(n * (n - size.size))
    return *products, theta2, theta4, total / (n * (n - 1))


def _apart_from_rounding(values: ndarray, scale: float) -> ndarray:
    """Return values minus the first value: all 0 if they differ by no more than rounding."""
    apart = values - values[0]
    return apart * (np.abs(apart).max() > ROUNDING * scale)


def _mean_products(values: ndarray, fold: ndarray, size: ndarray) -> tuple:
    """Return the mean square, and the mean products of two values within and between folds."""
    n = values.size
    squares = (values**2).sum()
    sums = np.bincount(fold, values)
    of_folds = (sums**2).sum()
    pairs_within = np.float64((size * (size - 1)).sum())
    within = (of_folds - squares) / pairs_within
    pairs_between = n * n - (size**2).sum()
    between = (sums.sum() ** 2 - of_folds) / pairs_between
    return squares / n, within, between


def _from_means(means: Any) -> CVLosses:
    means = as_array("fold_means", means)
    if means.ndim != 1:
        raise WrongValue(
            "fold_means",
            f"must be one-dimensional, one mean per fold; got shape {means.shape}. Use CVLosses "
            "for losses of single items, and CVLosses.from_fold_means for means of several models "
            "or repeats",
        )
    return CVLosses.from_fold_means(checks.vector("fold_means", means, what="fold"))


def _rho_of_one(rho: float | str, folds: float, splits: str) -> tuple:
    """Return rho of one repeat, which may be given as text, and how it was chosen."""
    if isinstance(rho, str):
        if rho == "auto":
            rho = "nadeau_bengio" if splits == "random" else str(SKEPTICAL)
        if rho in RHOS:
            return 0.0 if rho == "naive" else folds / (2 * folds - 1), rho
        try:
            rho = float(rho)
        except ValueError:
            rule = f"must be {', '.join(map(repr, RHOS))} or a number below 1"
            got = f"got {rho!r}{checks.suggestion(rho, RHOS)}"
            raise WrongValue("rho", rule, told=got) from None
    return checks.number("rho", rho, high=1, open_ends=True), "a number"


def _visible(rho: float, repeats: float) -> float:
    """Return the proportion of the variance of the mean of all repeats that the folds show.

    The correlation of the means of two repeats is rho of one repeat.
    """
    divisor = 1 + (repeats - 1) * rho
    if divisor <= 0:
        least = -1 / (repeats - 1)
        raise WrongValue(
            "rho",
            f"must be above {least:.4g} for {repeats:.4g} repeats; got {rho}. "
            "Their folds cannot have such a negative correlation",
        )
    return (1 - rho) / divisor


def _in_order(flips: float, rho: float) -> tuple:
    """Return two numbers as text, with enough digits to keep them, 0 and 1 in order."""
    for digits in range(2, 16):
        limit = f"{flips:.{digits}f}"
        used = f"{rho:.{digits + 1}g}"
        if _signs(float(limit), float(used)) == _signs(flips, rho):
            break
    return limit, used


def _signs(flips: float, rho: float) -> list:
    return np.sign(flips - np.array([rho, 0, 1])).tolist()


def _quantile(level: float, df: int, alternative: str) -> float:
    tail = (1 + level) / 2 if alternative == "two-sided" else level
    return float(scipy.special.stdtrit(df, tail))
