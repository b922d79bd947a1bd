"""Tables of tests: all pairs of models, and all tests of one pair.

References
----------
.. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
.. [2] Bayle, Bayle, Janson & Mackey, Cross-validation confidence intervals for test error, NeurIPS 2020.
"""
import itertools
from dataclasses import dataclass

import numpy as np
import scipy

from workbench import checks
from workbench.cross_validation import ZeroVarianceError, kfold_t_test, variance_estimates
from workbench.cv_losses import CVLosses, as_losses
from workbench.model_tests import (
    MCNEMAR,
    BayesianTTest,
    bayesian_correlated_t,
    five_by_two_f_test,
    five_by_two_t_test,
    mcnemar_test,
)
from workbench.results import Result

ADJUSTMENTS = ("holm", "bonferroni", "none")


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison(Result):
    """K-fold t-tests of all pairs of models, with p-values adjusted for their number.

    Attributes
    ----------
    models : tuple of str
        In order of their mean loss, best first.
    mean_loss : (M,) array of float
    tests : tuple of KFoldTTest or None
        One per pair, the one with the smaller loss first; None where the folds show no variance.
    pairs : tuple of (str, str)
    adjusted : (P,) array of float
        Adjusted p-values, NaN where there is no test.
    adjust : str
    notes : tuple of str
    """

    models: tuple
    mean_loss: np.ndarray
    tests: tuple
    pairs: tuple
    adjusted: np.ndarray
    adjust: str
    notes: tuple = ()

    def headline(self):
        """Return the best model and how many pairs differ."""
        differ = int((self.adjusted < .05).sum())
        return (f"{self.models[0]} has the smallest mean loss, {self.mean_loss[0]:.4g}; {differ} of {len(self.pairs)} "
                f"pairs differ at 5% ({self.adjust}, rho {self._rho():.3g})")

    def rows(self):
        """Return one row per pair: difference, t, p, adjusted p, rho at which the unadjusted verdict flips."""
        nan = float("nan")
        return [{"first": first, "second": second, "difference": test.estimate if test else nan,
                 "t": test.statistic if test else nan, "p": test.pvalue if test else nan, "adjusted p": float(p),
                 "rho_alpha": test.rho_alpha() if test else nan}
                for (first, second), test, p in zip(self.pairs, self.tests, self.adjusted, strict=True)]

    def _rho(self):
        return next((test.rho for test in self.tests if test), float("nan"))


def compare_models(losses, *, rho=0.7, adjust="holm"):
    """Test all pairs of models with the K-fold t-test and adjust for their number.

    Parameters
    ----------
    losses : CVLosses, dict of (K,) or (K, M) array_like
        At least two models; a dict or an array holds the mean losses of equal folds.
    rho : float or str
        As in `workbench.kfold_t_test`.
    adjust : {"holm", "bonferroni", "none"}

    Returns
    -------
    ModelComparison
        Pairs whose folds show no variance have no p-value, are named in the notes, and still count as tests.

    Examples
    --------
    >>> compare_models({"tree": [.30, .25, .35, .31], "svm": [.20, .22, .19, .24], "forest": [.21, .20, .24, .22]},
    ...                rho="nadeau_bengio")
    ModelComparison(svm has the smallest mean loss, 0.2125; 0 of 3 pairs differ at 5% (holm, rho 0.571))
    """
    cv = losses if isinstance(losses, CVLosses) else CVLosses.from_fold_means(losses)
    if len(cv.models) < 2:
        raise ValueError(f"losses must hold at least 2 models; got {len(cv.models)}")
    adjust = checks.choice("adjust", adjust, ADJUSTMENTS)
    mean = np.average(cv.losses, axis=0, weights=None if cv.has_items else cv.fold_size)
    order = np.argsort(mean, kind="stable")
    models = [cv.models[k] for k in order]
    tests, notes, pairs = [], list(cv.notes), list(itertools.combinations(models, 2))
    for pair in pairs:
        try:
            tests.append(kfold_t_test(cv.pair(*pair), rho=rho))
        except ZeroVarianceError as error:
            tests.append(None)
            notes.append(str(error))
    adjusted = adjusted_pvalues([test.pvalue if test else np.nan for test in tests], adjust)
    return ModelComparison(models, mean[order], tests, pairs, adjusted, adjust, notes)


def adjusted_pvalues(pvalues, adjust="holm"):
    """Return p-values adjusted for the number of tests, NaN counted as tests.

    Parameters
    ----------
    pvalues : (P,) array_like
    adjust : {"holm", "bonferroni", "none"}

    Examples
    --------
    >>> adjusted_pvalues([.01, .04, .03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    pvalues = np.asarray(pvalues, float)
    if adjust == "none":
        return pvalues
    if adjust == "bonferroni":
        return np.minimum(pvalues * pvalues.size, 1)
    order = np.argsort(pvalues)                     # NaN last: as if never rejected
    stepped = np.maximum.accumulate(pvalues[order] * np.arange(pvalues.size, 0, -1))
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


@dataclass(frozen=True, eq=False, repr=False)
class ComparedTests(Result):
    """Every test that the losses allow, side by side.

    Attributes
    ----------
    label : str
        What was tested.
    estimate : float
        Mean loss (difference).
    table : tuple of dict
        test, question, statistic, df, p, and why a test has none.
    posterior : BayesianTTest or None
    verdict : str
        Of the K-fold t-test at the chosen rho.
    """

    label: str
    estimate: float
    table: tuple
    posterior: BayesianTTest | None
    verdict: str

    def headline(self):
        """Return the verdict and the range of p-values."""
        known = [row["p"] for row in self.table if row["p"] == row["p"]]
        return f"{self.verdict}; p from {min(known):.3g} to {max(known):.3g} over {len(known)} tests" if known \
            else self.verdict

    def rows(self):
        """Return one row per test."""
        return [dict(row) for row in self.table]


def compare_tests(cv, *, rho=0.7, rope=0.01, level=0.95):
    """Return every test that the losses of a cross-validation allow, side by side.

    Parameters
    ----------
    cv : CVLosses or (K, m) array_like
        Two models, or one series of differences.
    rho : float or str
        Of the verdict, as in `workbench.kfold_t_test`.
    rope : float
        As in `workbench.bayesian_correlated_t`.
    level : float

    Returns
    -------
    ComparedTests
        K-fold t for several rho; the 5x2cv tests for five repeats of two folds; with losses of single items the
        central limit theorem's z, about the fitted models; for 0/1 losses of one repeat of two models, McNemar.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> compare_tests(rng.normal(.2, 1, (10, 10)))     # doctest: +ELLIPSIS
    ComparedTests(A: not significant at 5% for rho = 0.700 ...; p from 0.04... to 0.2... over 4 tests)
    """
    cv, level = as_losses(cv), checks.level(level)
    means = cv.fold_means()
    estimate = float(np.average(means, weights=cv.sizes))
    try:
        test = kfold_t_test(cv, rho=rho)
        table = [_line(f"K-fold t, {row['test']}", "learning methods", row["t"], row["df"], row["p"])
                 for row in test.rows()]
        posterior, verdict = bayesian_correlated_t(means.ravel(), rope=rope, runs=cv.repeats), test.verdict(level)
    except ZeroVarianceError as error:
        table = [_line("K-fold t", "learning methods", reason=str(error))]
        posterior, verdict = None, str(error)
    table += [*_five_by_two_lines(means), *_item_lines(cv, estimate)]
    return ComparedTests(cv.label, estimate, table, posterior, verdict)


def _line(test, question, statistic=float("nan"), df=float("nan"), p=float("nan"), reason=""):
    return {"test": test, "about": question, "statistic": float(statistic), "df": df, "p": float(p), "note": reason}


def _five_by_two_lines(means):
    if means.shape != (5, 2):
        return
    for function, df in ((five_by_two_t_test, 5), (five_by_two_f_test, "10, 5")):
        try:
            found = function(means)
            yield _line(found.test, "learning methods", found.statistic, df, found.pvalue, "; ".join(found.notes))
        except ZeroVarianceError as error:
            yield _line("5x2cv", "learning methods", reason=str(error))


def _item_lines(cv, estimate):
    """Tests about the fitted models: their p-values are smaller because their question is."""
    if not cv.has_items or cv.repeats > 1:
        return
    error = variance_estimates(cv).theta5 ** .5
    if error > 0:
        z = estimate / error
        yield _line("central limit theorem z", "fitted models", z, p=2 * scipy.special.ndtr(-abs(z)))
    if len(cv.models) == 2 and np.isin(cv.losses, (0, 1)).all():
        b, c = int((cv.series() > 0).sum()), int((cv.series() < 0).sum())
        for method in MCNEMAR[:2]:
            found = mcnemar_test(b, c, method=method)
            yield _line(found.test, "fitted models", found.statistic, p=found.pvalue,
                        reason="; ".join((f"disagreements {b}:{c}", *found.notes)))
