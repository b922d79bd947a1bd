"""Tables of tests: all pairs of several models, and all tests of one pair.

Read `compare_models` or `compare_tests` first, then the class that it returns.

References
----------
.. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
   Statistics 6, 1979.
.. [2] Bayle, Bayle, Janson & Mackey, Cross-validation confidence intervals for test error,
   NeurIPS 2020.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy
from numpy import nan, ndarray
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.checks import WrongValue, counted, listed
from workbench.cross_validation import kfold, model_tests
from workbench.cross_validation.kfold import KFoldTTest, ZeroVarianceError
from workbench.cross_validation.losses import KINDS, CVLosses, as_losses
from workbench.results import FILLED, Note, Result, digits, percent

ADJUSTMENTS = {
    "holm": intervals.holm,
    "bonferroni": lambda pvalues: np.minimum(pvalues * pvalues.size, 1),
    "none": lambda pvalues: pvalues,
}
SHOWN = 6
BEST = 20  # for many models, only pairs among this many best ones are listed
MANY = 100  # for more models, not every pair gets its own test
TWO_ITEMS = Note(
    "data",
    "the array was read as two items per fold of one series. For two models, use "
    "CVLosses.from_fold_means",
)


class ModelComparison(Result):
    """K-fold t-tests of all pairs of models, with p-values adjusted for the number of pairs.

    Attributes
    ----------
    models : tuple of str
        Names of the models in the order of their mean loss, smallest first.
    mean_loss : (M,) array of float
        Mean loss of each model.
    tests : tuple of KFoldTTest or None
        One test per pair, with the model of smaller loss first. None if the folds show no variance.
    pairs : tuple of (str, str)
        All pairs. For more than 100 models, only pairs with the best model and pairs among the best
        20.
    adjusted : (P,) array of float
        p-value of each pair, adjusted for `compared` pairs. NaN if there is no test.
    adjust : str
        Method of the adjustment: "holm", "bonferroni" or "none".
    level : float
        Confidence level of the intervals.
    scores : bool
        Whether the models were compared by scores. `mean_loss` is then the mean score multiplied by
        -1, and all other numbers are those of the scores.
    compared : int
        Number of all pairs of models.
    differ : int
        Number of pairs whose adjusted p-value is below 1 - level.

    See Also
    --------
    compare_models : Compute this comparison.
    KFoldTTest : Test of a single pair.
    """

    models: tuple
    mean_loss: ndarray
    tests: tuple
    pairs: tuple
    adjusted: ndarray
    adjust: str
    level: float = 0.95
    scores: bool = False
    compared: int = FILLED
    differ: int = FILLED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compared is None:
            differ = int((self.adjusted < 1 - self.level).sum())
            vars(self).update(compared=len(self.pairs), differ=differ)

    @property
    def best(self) -> tuple[str, ...]:
        """Return the models with the smallest mean loss: one model, or all that tie."""
        rounding = kfold.ROUNDING * np.abs(self.mean_loss).max()
        tied = self.mean_loss - self.mean_loss[0] <= rounding
        return self.models[: tied.sum()]

    def headline(self) -> str:
        """Return the best model or models and the number of pairs that differ."""
        *tied, last = self.best
        first = f"{', '.join(tied)} and {last} share" if tied else f"{last} has"
        mean = f"{best_mean(self.scores)}, {self.mean(last):.4g}"
        alpha = percent(1 - self.level)
        pairs = f"{differing(self.differ, self.compared)} at {alpha}"
        untested = self.tests.count(None)
        if untested:
            pairs = f"{pairs}, {untested} without a test because the folds show no variance"
        how = "unadjusted" if self.adjust == "none" else self.adjust
        test = self._any_test
        rho = f", rho {test.rho:.3g}" if test else ""
        return f"{first} the {mean}; {pairs} ({how}{rho})"

    def finding(self) -> str:
        """Return a sentence that names the models that the best model is shown to beat."""
        best = self.models[0]
        pairs = zip(self.pairs, self.adjusted.tolist(), strict=True)
        pvalues = {second: p for (first, second), p in pairs if first == best}
        alpha = 1 - self.level
        beaten = [name for name, p in pvalues.items() if p < alpha]
        if beaten:
            unbeaten = [name for name in pvalues if name not in beaten]
            rest = ""
            if unbeaten:
                rest = f"; not shown to be better than {listed(unbeaten, SHOWN)}"
            return f"{best} is better than {listed(beaten, SHOWN)}{rest}"
        tested = {name: p for name, p in pvalues.items() if p == p}
        if not tested:
            return "No result: the folds show no variance, so no test is possible"
        name = min(tested, key=tested.__getitem__)
        chance = digits.chance(tested[name])
        return (
            "It is not shown that any model is better than the others (smallest p-value: "
            f"{best} against {name}, p {chance})"
        )

    def basis(self) -> str:
        """Return one line with the data and the assumptions behind the finding."""
        how = f"adjusted for {self.compared:,} pairs ({self.adjust})"
        if self.adjust == "none":
            how = "unadjusted"
        test = self._any_test
        scheme = test.scheme if test else "folds that show no variance"
        rho = f"; {belief(test)}" if test else ""
        alpha = percent(1 - self.level)
        models = f"{len(self.models)} models; the best has the {best_mean(self.scores)}"
        return f"From {scheme}, {models}; p-values {how}, compared with {alpha}{rho}."

    def rows(self) -> list[dict]:
        """Return one row per pair, sorted by adjusted p-value and then by t, largest first.

        A row has the difference, t, p, the adjusted p, rho_alpha and the interval. The unadjusted
        test rejects for every rho below rho_alpha, which is NaN if the test does not reject even
        for rho = 0. Pairs without a test come last. Only `adjusted_pvalue` depends on the number of
        pairs.
        """
        rows = []
        for (first, second), test, p in zip(self.pairs, self.tests, self.adjusted, strict=True):
            difference = self.mean(first) - self.mean(second)
            flips = low = high = nan
            if test:
                difference = test.estimate
                flips = test.rho_alpha(self.level)
                low, high = test.interval(self.level)
            row = {"first": first, "second": second, "difference": difference}
            row |= {name: getattr(test, name, nan) for name in ("statistic", "pvalue")}
            row["adjusted_pvalue"] = float(p)
            row["rho_alpha"] = flips if flips >= 0 else nan
            rows.append(row | {"low": low, "high": high})
        return sorted(rows, key=_rank)

    def shown(self) -> tuple[int, ...]:
        """Return the indices of the rows that a page shows.

        These are all rows or, for many models, the comparisons of the best model with the next
        ones.
        """
        rows = self.rows()
        if len(self.models) <= BEST:
            return tuple(range(len(rows)))
        best, *others = self.models[:BEST]
        return tuple(
            k for k, row in enumerate(rows) if row["first"] == best and row["second"] in others
        )

    def mean(self, model: str) -> float:
        """Return the mean loss of a model, or its mean score.

        Parameters
        ----------
        model : str
            A name in `models`.

        Returns
        -------
        float
            Mean loss, or mean score if scores were compared.
        """
        loss = float(self.mean_loss[self.models.index(model)])
        return 0.0 - loss if self.scores else loss

    @property
    def _any_test(self) -> KFoldTTest | None:
        return next(filter(None, self.tests), None)


def belief(test: KFoldTTest) -> str:
    """Return a description of the assumed proportion of hidden variance.

    Examples
    --------
    >>> belief(kfold.kfold_t_test([.1, .2, .3]))
    'rho = 0.7: the proportion of the variance that the folds are assumed not to show'
    >>> splits = CVLosses.from_fold_means([.1, .2, .3], test_share=.2)
    >>> belief(kfold.kfold_t_test(splits))
    "Nadeau and Bengio's correction, n_test/n_train = 0.25"
    """
    if test.test_share and test.splits == "random" and test.assumed == "nadeau_bengio":
        ratio = test.test_share / (1 - test.test_share)
        return f"Nadeau and Bengio's correction, n_test/n_train = {ratio:.3g}"
    of_one = " of one cross-validation" if test.of_one else ""
    return (
        f"rho = {test.rho:.3g}: the proportion of the variance{of_one} that the folds are assumed "
        "not to show"
    )


def best_mean(scores: bool) -> str:
    """Return a description of what the best model has.

    Examples
    --------
    >>> best_mean(True), best_mean(False)
    ('largest mean score', 'smallest mean loss')
    """
    return "largest mean score" if scores else "smallest mean loss"


def differing(count: int, pairs: int) -> str:
    """Return a description of how many pairs differ.

    Examples
    --------
    >>> differing(0, 1), differing(1, 3), differing(2, 3)
    ('0 of 1 pair differs', '1 of 3 pairs differs', '2 of 3 pairs differ')
    """
    verb = "differs" if 1 in (count, pairs) else "differ"
    return f"{count} of {counted(pairs, 'pair')} {verb}"


def compare_models(
    losses: Any,
    *,
    rho: float | str = "auto",
    adjust: str = "holm",
    level: float = 0.95,
) -> ModelComparison:
    """Test all pairs of models with the K-fold t-test and adjust the p-values.

    Use it for two or more models that were tested on the same folds. For more than 100 models, only
    pairs with the best model and pairs among the best 20 are reported.

    Parameters
    ----------
    losses : CVLosses, dict of (K,), (K, M) array_like or data frame
        Losses of at least two models. All inputs except CVLosses hold mean losses of equal folds; a
        data frame has one column per model.
    rho : float or {"auto", "naive", "nadeau_bengio"}, default "auto"
        Proportion of hidden variance, as in `kfold_t_test`.
    adjust : {"holm", "bonferroni", "none"}, default "holm"
        Method to adjust p-values for the number of pairs.
    level : float, default 0.95
        Confidence level of the intervals, each for its pair alone. Adjusted p-values are compared
        with 1 - level.

    Returns
    -------
    ModelComparison
        Tests of the pairs. Pairs whose folds show no variance have no p-value. They still count as
        tests, and the notes name them.

    See Also
    --------
    kfold_t_test : Test one pair of models.
    compare_tests : Apply every suitable test to two models.

    Examples
    --------
    >>> means = {"tree": [.30, .25, .35, .31], "svm": [.20, .22, .19, .24]}
    >>> compare_models(means | {"forest": [.21, .20, .24, .22]}, rho="nadeau_bengio")
    ...     # doctest: +NORMALIZE_WHITESPACE
    ModelComparison(svm has the smallest mean loss, 0.2125; 0 of 3 pairs differ at 5% (holm,
    rho 0.571))
    """
    cv = losses if isinstance(losses, CVLosses) else CVLosses.from_fold_means(losses)
    if len(cv.models) < 2:
        raise WrongValue("losses", "must contain at least 2 models", len(cv.models))
    level = checks.level(level)
    mean = cv.mean_losses()
    order = np.argsort(mean, kind="stable")
    models = tuple(cv.models[k] for k in order)
    every = adjusted_pvalues(_pvalues_of_all(cv, order, rho), adjust)
    ranks = list(itertools.combinations(range(len(models)), 2))
    if len(models) > MANY:
        ranks = [rank for rank in ranks if rank[0] == 0 or rank[1] < BEST]
    pairs = tuple((models[i], models[j]) for i, j in ranks)
    tests: list[KFoldTTest | None] = []
    notes = list(kfold.fold_notes(cv))
    for pair in pairs:
        try:
            tests.append(kfold.kfold_t_test(cv.pair(*pair), rho=rho))
        except ZeroVarianceError as error:
            tests.append(None)
            notes.append(Note("refused", error.reason, ("pair", " minus ".join(pair))))
    if every.size > len(pairs):
        text = (
            f"of {len(models):,} models, the best is tested against every other model, and the "
            f"best {BEST} against each other. p-values are adjusted for all {every.size:,} pairs"
        )
        notes.append(Note("design", text))
    if len(pairs) > 1:
        text = (
            "intervals, and the rho at which a verdict changes, belong to each pair alone. They "
            "are not adjusted for the number of pairs"
        )
        notes.append(Note("remark", text))
    first, last = np.array(ranks).T
    before = first * (2 * len(models) - first - 1) // 2  # pairs of the models before the first
    adjusted = every[before + last - first - 1]
    differ = (every < 1 - level).sum()
    return ModelComparison(
        models,
        mean[order],
        tuple(tests),
        pairs,
        adjusted,
        adjust,
        level,
        cv.scores,
        every.size,
        differ,
        notes=notes,
    )


def _rank(row: dict) -> tuple:
    return np.isnan(row["pvalue"]), row["adjusted_pvalue"], -abs(row["statistic"])


def _pvalues_of_all(cv: CVLosses, order: ndarray, rho: float | str) -> ndarray:
    """Return the p-values of all pairs of ordered models, NaN if the folds show no variance."""
    means = cv.fold_means_of_models()[order]
    sizes = cv.sizes.ravel()
    hidden = kfold.resolve_rho(
        rho,
        cv.folds,
        cv.repeats,
        test_share=cv.test_share,
        splits=cv.splits,
    )
    largest = np.abs(cv.losses).max(0)[order]
    pvalues = []
    for k in range(len(order) - 1):
        apart = means[k] - means[k + 1 :]
        scale = np.maximum(largest[k], largest[k + 1 :])
        alike = np.ptp(apart, 1) <= kfold.ROUNDING * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            error = kfold.theta3(apart, sizes) ** 0.5
            naive = np.average(apart, axis=1, weights=sizes) / error
        statistic = naive * (1 - hidden) ** 0.5
        pvalue = kfold.tail_probability(statistic, sizes.size - 1, "two-sided")
        pvalues.append(np.where(alike, nan, pvalue))
    return np.concatenate(pvalues)


def adjusted_pvalues(pvalues: ArrayLike, adjust: str = "holm") -> ndarray:
    """Return p-values adjusted for the number of tests; NaN values count as tests.

    Parameters
    ----------
    pvalues : (P,) array_like
        p-values of the tests, NaN for tests that could not be made.
    adjust : {"holm", "bonferroni", "none"}
        Method of the adjustment.

    Examples
    --------
    >>> adjusted_pvalues([.01, .04, .03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = ADJUSTMENTS[checks.choice("adjust", adjust, ADJUSTMENTS)]
    return adjusted(np.asarray(pvalues, float))


class ComparedTests(Result):
    """All tests that the losses of a cross-validation allow, in one table.

    Attributes
    ----------
    label : str
        Description of the tested quantity.
    estimate : float
        Mean loss (or score), or the difference of two means.
    table : tuple of dict
        Rows with test, about, statistic, df (text, because F has two numbers), pvalue, low, high,
        and a note on the data. Notes on a single test have its name as their place.
    posterior : BayesianTTest or None
        Posterior of the difference; None if the folds show no variance.
    verdict : str
        Which model is better and by how much, for which rho that is significant, and Nadeau and
        Bengio's p-value.
    level : float
        Level of the verdict and of the intervals from low to high.
    test : KFoldTTest or None
        Test at the chosen rho; None if the folds show no variance.

    See Also
    --------
    compare_tests : Compute this table.
    compare_models : Test all pairs of several models.
    """

    label: str
    estimate: float
    table: tuple
    posterior: model_tests.BayesianTTest | None
    verdict: str
    level: float = 0.95
    test: KFoldTTest | None = None

    def headline(self) -> str:
        """Return the verdict."""
        return self.verdict

    def finding(self) -> str:
        """Return a sentence that says whether one model is shown to be better, and by how much."""
        test = self.test
        if test is None:
            return f"No test result: {self.verdict}"
        limits = sorted(test.interval(self.level))
        error, level = (limits[1] - limits[0]) / 2, percent(self.level)
        if len(test.models) != 2:
            name = "Mean"
            if test.models:
                name = f"Mean {KINDS[test.scores][0]} of {test.models[0]}"
            mean, low, high = digits.numbers(self.estimate, *limits, error=error)
            return f"{name}: {mean} ({level} confidence interval {low} to {high})"
        better, other = test.models
        if (self.estimate < 0) == test.scores:
            better, other = other, better
        chance = digits.chance(test.pvalue)
        if test.pvalue < 1 - self.level:
            sizes = abs(self.estimate), *sorted(map(abs, limits))
            by, low, high = digits.numbers(*sizes, error=error)
            return (
                f"{better} is better than {other} by {by} ({level} confidence interval {low} to "
                f"{high}, p {chance})"
            )
        if test.rho >= kfold.MOST_RHO and test.assumed not in kfold.RHOS:
            return (
                f"No result: with rho = {test.rho:.4g}, the folds are assumed to show almost none "
                "of the variance, so no difference can be shown"
            )
        return f"It is not shown that {better} is better than {other} (p {chance})"

    def basis(self) -> str:
        """Return one line with the data and the assumptions behind the finding."""
        test = self.test
        if test is None:
            return "There is no t-test if all folds have the same mean."
        means = ""
        if len(test.models) == 2:
            sign = -1 if test.scores else 1
            values = [sign * mean for mean in test.mean_losses]
            first, second = digits.numbers(*values, error=test.standard_error)
            a, b = test.models
            kinds = KINDS[test.scores][1]
            means = f"; mean {kinds} {first} ({a}), {second} ({b})"
        level = percent(self.level)
        return f"From {test.scheme}{means}; {level} interval of a t-test with {belief(test)}."

    def rows(self) -> list[dict]:
        """Return one row per test, with the notes on the test in the column "note"."""
        rows = []
        for row in self.table:
            where = "test", row["test"]
            caveats = [note.text for note in self.notes if note.where == where]
            texts = filter(None, [row["note"], *caveats])
            rows.append(row | {"note": "; ".join(texts)})
        return rows


def compare_tests(
    cv: CVLosses | ArrayLike,
    *,
    rho: float | str = "auto",
    rope: float = 0.01,
    level: float = 0.95,
) -> ComparedTests:
    """Apply every test that the losses of a cross-validation allow.

    Use it to see how much the conclusion depends on the choice of the test.

    Parameters
    ----------
    cv : CVLosses or (K, m) array_like
        Losses of two models, or one series of differences.
    rho : float or {"auto", "naive", "nadeau_bengio"}, default "auto"
        Proportion of hidden variance for the verdict, as in `kfold_t_test`.
    rope : float, default 0.01
        Half-width of the region of practical equivalence, as in `bayesian_correlated_t`.
    level : float, default 0.95
        Level of the verdict and of the intervals in the table.

    Returns
    -------
    ComparedTests
        Table of the tests listed in Notes.

    See Also
    --------
    kfold_t_test : Test the mean of the folds.
    compare_models : Test all pairs of several models.
    bayesian_correlated_t : Posterior of the mean difference.

    Notes
    -----
    The table contains

    - the K-fold t-test for several values of rho,
    - the 5x2cv tests, if there are five repeats of two folds,
    - a z-test by the central limit theorem, if losses of single items are known; it is about the
      fitted models,
    - McNemar's test, for 0/1 losses of one repeat of two models.

    Examples
    --------
    >>> means = {"A": [.2, .1, .2, .3, .15, .2], "B": [.1, .1, .05, .15, .1, .15]}
    >>> compare_tests(CVLosses.from_fold_means(means))     # doctest: +NORMALIZE_WHITESPACE
    ComparedTests(B is better by 0.08333 (losses 0.1917 against 0.1083); significant at 5% only if
    rho is below 0.42, not at 0.7; Nadeau-Bengio p 0.072)
    """
    array = not isinstance(cv, CVLosses)
    cv = as_losses(cv)
    level = checks.level(level)
    rope = checks.number("rope", rope, 0)
    means = cv.fold_means()
    notes = list(kfold.fold_notes(cv))
    if array and cv.sizes.max() == 2:
        notes.append(TWO_ITEMS)
    estimate = np.average(means, weights=cv.sizes)
    test = posterior = None
    try:
        test = kfold.kfold_t_test(cv, rho=rho)
    except ZeroVarianceError as error:
        table = [_line({"test": "K-fold t"})]
        notes.append(Note("refused", str(error), ("test", "K-fold t")))
        mean = None if cv.one_sign else 0.0
        means_of_models = cv.mean_losses()
        result = kfold.describe(
            cv.label,
            estimate,
            cv.models,
            means_of_models,
            mean,
            cv.scores,
        )
        verdict = f"{result}; no t-test, because the folds show no variance"
    else:
        kind = "t of random splits" if cv.splits == "random" else "K-fold t"
        table = []
        for row in test.rows(level):
            row["test"] = f"{kind}, {row['test']}"
            table.append(_line(row))
        posterior = model_tests.bayesian_correlated_t(
            means.ravel(),
            rope=rope,
            runs=cv.repeats,
            sizes=cv.sizes.ravel(),
            scores=cv.scores,
            test_share=cv.test_share,
        )
        verdict = test.verdict(level)
        notes += _lattice_notes(cv, means)
        notes += _rope_notes(rope, test.at("naive").standard_error, cv)
    for line, caveats in (*_five_by_two_lines(cv, means), *_item_lines(cv, estimate, level)):
        table.append(line)
        where = "test", line["test"]
        notes += [Note(note.kind, note.text, where) for note in caveats]
    return ComparedTests(
        cv.label,
        estimate,
        tuple(table),
        posterior,
        verdict,
        level,
        test,
        notes=notes,
    )


def _line(row: dict, about: str = "learning methods", note: str = "") -> dict:
    """Return a row of the table of tests, NaN for numbers that a test does not have."""
    line = {"test": row["test"], "about": about}
    line["statistic"] = float(row.get("statistic", nan))
    line["df"] = str(row.get("df", ""))
    for name in ("pvalue", "low", "high"):
        line[name] = float(row.get(name, nan))
    return line | {"note": note}


def _lattice_notes(cv: CVLosses, means: ndarray) -> Iterator[Note]:
    """Yield a note if the fold means take few distinct values.

    Then t moves in jumps. It is undefined or extreme if the folds happen to agree.
    """
    values = np.sort(means.ravel())
    rounding = kfold.ROUNDING * np.abs(values).max()
    distinct = 1 + (np.diff(values) > rounding).sum()
    if distinct <= 3 and distinct < values.size:
        losses = f"0/1 {cv.kinds}: the" if cv.zero_one else "the"
        yield Note(
            "unreliable",
            f"{losses} {values.size} fold means take only {distinct} values. A single item can "
            "move t across the limit, and folds that all agree would show no variance",
        )


def _rope_notes(rope: float, error: float, cv: CVLosses) -> Iterator[Note]:
    """Yield a note if the region of equivalence seems to be in another unit than the losses."""
    largest = np.abs(cv.mean_losses()).max()
    problem = ""
    if 0 < rope < 0.01 * error:
        problem = f"{rope / error:.3g} naive standard errors"
    elif rope > largest > 0:
        problem = f"larger than the mean {cv.kinds}, {largest:.3g} at most"
    if problem:
        meaning = "the rope (the largest difference that is practically zero)"
        advice = f"Choose it in units of the {cv.kind}"
        yield Note("data", f"{meaning}, {rope:g}, is {problem}. {advice}")


def _five_by_two_lines(cv: CVLosses, means: ndarray) -> Iterator[tuple]:
    """Yield the line of a test and its notes."""
    if means.shape != (5, 2):  # random splits are one row
        return
    unweighted = (
        () if cv.equal_folds else (Note("assumption", "folds are treated as equally large"),)
    )
    for function in (model_tests.five_by_two_t_test, model_tests.five_by_two_f_test):
        try:
            test = function(means)
        except ZeroVarianceError as error:
            yield _line({"test": "5x2cv"}), (Note("refused", str(error)),)
        else:
            yield _line(test.rows()[0]), (*test.notes, *unweighted)


def _item_lines(cv: CVLosses, estimate: float, level: float) -> Iterator[tuple]:
    """Yield tests about the fitted models, which ignore other training sets, with notes."""
    if not cv.has_items or cv.repeats > 1:
        return
    about = "fitted models"
    error = kfold.variance_estimates(cv).theta5 ** 0.5
    if error > 0:
        z = estimate / error
        reach = intervals.quantile(level) * error
        least, most = kfold.possible_range(cv)
        row = {"test": "central limit theorem z", "statistic": z}
        row["pvalue"] = 2 * scipy.special.ndtr(-abs(z))
        row["low"] = max(estimate - reach, least)
        row["high"] = min(estimate + reach, most)
        yield _line(row, about), ()
    if len(cv.models) == 2 and cv.zero_one:
        first, second = cv.losses.T
        b = int((first > second).sum())
        c = int((first < second).sum())
        for method in model_tests.MCNEMAR[:2]:
            test = model_tests.mcnemar_test(b, c, method=method)
            row = test.rows()[0]
            yield (
                _line(
                    row, about, f"only {cv.models[1]} correct {b}, only {cv.models[0]} correct {c}"
                ),
                test.notes,
            )
