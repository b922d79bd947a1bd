"""Tables of tests: all pairs of models, and all tests of one pair.

References
----------
.. [1] Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.
.. [2] Bayle, Bayle, Janson & Mackey, Cross-validation confidence intervals for test error, NeurIPS 2020.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from workbench import checks, intervals
from workbench.cross_validation import kfold, model_tests
from workbench.cross_validation.losses import KINDS, CVLosses, as_losses
from workbench.results import FILLED, Note, Result, digits, percent

ADJUSTMENTS = {
    "holm": intervals.holm,
    "bonferroni": lambda pvalues: np.minimum(pvalues * pvalues.size, 1),
    "none": lambda pvalues: pvalues,
}
SHOWN = 6
BEST = 20  # models whose pairs are listed where there are more
MANY = 100  # models from which on not every pair gets a test of its own
TWO_ITEMS = Note(
    "data", "read as two items per fold of one series: for two models use CVLosses.from_fold_means"
)


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
        All; of more than 100 models those with the best one and those among the best 20.
    adjusted : (P,) array of float
        p-values adjusted for `compared` pairs, NaN where there is no test.
    adjust : str
    level : float
    scores : bool
        `mean_loss` is minus the mean scores; all else is of scores.
    compared, differ : int
        All pairs of models, and those whose adjusted p is below 1 - level.
    """

    models: tuple
    mean_loss: np.ndarray
    tests: tuple
    pairs: tuple
    adjusted: np.ndarray
    adjust: str
    level: float = 0.95
    scores: bool = False
    compared: int = FILLED
    differ: int = FILLED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compared is None:
            object.__setattr__(self, "compared", len(self.pairs))
            object.__setattr__(self, "differ", int((self.adjusted < 1 - self.level).sum()))

    @property
    def best(self) -> tuple[str, ...]:
        """Models of the smallest mean loss: one, or all that tie."""
        tied = self.mean_loss - self.mean_loss[0] <= kfold.ROUNDING * np.abs(self.mean_loss).max()
        return self.models[: int(tied.sum())]

    def headline(self) -> str:
        """Return the model or models of smallest mean loss and how many pairs differ."""
        untested = sum(test is None for test in self.tests)
        without = f", {untested} without a test as the folds show no variance" if untested else ""
        said = differing(self.differ, self.compared)
        return f"{self._smallest()}; {said} at {percent(1 - self.level)}{without} ({self._how()})"

    def finding(self) -> str:
        """Return whom the best model is shown to beat, in a sentence without jargon."""
        best, limit, pvalues = self.models[0], 1 - self.level, {}
        for pair, p in zip(self.pairs, self.adjusted.tolist(), strict=True):
            if best in pair:
                pvalues[pair[pair[0] == best]] = p
        beaten = [name for name, p in pvalues.items() if p < limit]
        if not beaten:
            name = min(pvalues, key=lambda name: (np.isnan(pvalues[name]), pvalues[name]))
            if np.isnan(pvalues[name]):
                return "No result: the folds show no variance, so there is no test"
            return f"Not shown to be better: p {digits.chance(pvalues[name])} at best, for {best} against {name}"
        others = [name for name in pvalues if name not in beaten]
        rest = f"; not shown to be better than {checks.listed(others, SHOWN)}" if others else ""
        return f"{best} is better than {checks.listed(beaten, SHOWN)}{rest}"

    def basis(self) -> str:
        """Return what the finding rests on, in a line."""
        how = (
            "unadjusted"
            if self.adjust == "none"
            else f"adjusted for {self.compared:,} pairs ({self.adjust})"
        )
        test = next((test for test in self.tests if test), None)
        scheme, rho = (
            (test.scheme, f"; {belief(test)}") if test else ("folds that show no variance", "")
        )
        return (
            f"From {scheme}, {len(self.models)} models, the best by its mean; p-values {how}, held against "
            f"{percent(1 - self.level)}{rho}."
        )

    def rows(self) -> list[dict]:
        """Return one row per pair: difference, t, p, adjusted p, rho at which the unadjusted verdict flips, interval.

        Smallest adjusted p first, then largest t; pairs without a test last. Only `adjusted_pvalue` looks at the number
        of pairs: pvalue, low, high and rho_alpha are of the pair alone. rho_alpha is NaN where even rho = 0 does not
        reject.
        """
        nan = float("nan")
        rows = [
            {
                "first": first,
                "second": second,
                "difference": test.estimate if test else self.mean(first) - self.mean(second),
                "statistic": test.statistic if test else nan,
                "pvalue": test.pvalue if test else nan,
                "adjusted_pvalue": float(p),
                "rho_alpha": flips if test and (flips := test.rho_alpha(self.level)) >= 0 else nan,
            }
            | dict(
                zip(("low", "high"), test.interval(self.level) if test else (nan, nan), strict=True)
            )
            for (first, second), test, p in zip(self.pairs, self.tests, self.adjusted, strict=True)
        ]
        return sorted(
            rows,
            key=lambda row: (
                np.isnan(row["pvalue"]),
                row["adjusted_pvalue"],
                -abs(row["statistic"]),
            ),
        )

    def shown(self) -> tuple[int, ...]:
        """Return the places in `rows()` that a page shows: all, or of many models the best against the next ones."""
        next_ones = {(self.models[0], other) for other in self.models[1:BEST]}
        return tuple(
            k
            for k, row in enumerate(self.rows())
            if len(self.models) <= BEST or (row["first"], row["second"]) in next_ones
        )

    def mean(self, model: str) -> float:
        """Return the mean loss of a model, or its mean score.

        Parameters
        ----------
        model : str
            A name in `models`.
        """
        loss = float(self.mean_loss[self.models.index(model)])
        return 0.0 - loss if self.scores else loss

    def _smallest(self) -> str:
        best, what, loss = self.best, best_mean(self.scores), self.mean(self.models[0])
        if len(best) == len(self.models):
            return f"all {len(best)} models have the same {what.split(maxsplit=1)[1]}, {loss:.4g}"
        if len(best) > 1:
            return f"{', '.join(best[:-1])} and {best[-1]} share the {what}, {loss:.4g}"
        return f"{best[0]} has the {what}, {loss:.4g}"

    def _how(self) -> str:
        rho = next((f", rho {test.rho:.3g}" for test in self.tests if test), "")
        return ("unadjusted" if self.adjust == "none" else self.adjust) + rho


def belief(test: kfold.KFoldTTest) -> str:
    """Return what a test takes for hidden, in words.

    Examples
    --------
    >>> belief(kfold.kfold_t_test([.1, .2, .3]))
    'rho = 0.7, the part of the variance that is taken for hidden'
    >>> splits = CVLosses.from_fold_means([.1, .2, .3], test_share=.2)
    >>> belief(kfold.kfold_t_test(splits))
    "Nadeau and Bengio's correction, n_test/n_train = 0.25"
    """
    if test.test_share and test.splits == "random" and test.assumed == "nadeau_bengio":
        return f"Nadeau and Bengio's correction, n_test/n_train = {test.test_share / (1 - test.test_share):.3g}"
    of_one = " of one cross-validation" if test.of_one else ""
    return f"rho = {test.rho:.3g}, the part of the variance{of_one} that is taken for hidden"


def best_mean(scores: bool) -> str:
    """Return what the best model has, in words.

    Examples
    --------
    >>> best_mean(True), best_mean(False)
    ('largest mean score', 'smallest mean loss')
    """
    return "largest mean score" if scores else "smallest mean loss"


def differing(count: int, pairs: int) -> str:
    """Return how many pairs differ, in words.

    Examples
    --------
    >>> differing(0, 1), differing(1, 3), differing(2, 3)
    ('0 of 1 pair differs', '1 of 3 pairs differs', '2 of 3 pairs differ')
    """
    return f"{count} of {checks.counted(pairs, 'pair')} differ{'s' if 1 in (count, pairs) else ''}"


def compare_models(
    losses: Any, *, rho: float | str = "auto", adjust: str = "holm", level: float = 0.95
) -> ModelComparison:
    """Test all pairs of models with the K-fold t-test and adjust for their number.

    Parameters
    ----------
    losses : CVLosses, dict of (K,), (K, M) array_like or data frame
        At least two models; all but CVLosses hold the mean losses of equal folds, a frame in one column per model.
    rho : float or str
        As in `workbench.kfold_t_test`.
    adjust : {"holm", "bonferroni", "none"}
    level : float
        Of the intervals, each of its pair alone; 1 - level is compared with the adjusted p.

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
        raise checks.WrongValue("losses", "must hold at least 2 models", len(cv.models))
    adjust, level = checks.choice("adjust", adjust, ADJUSTMENTS), checks.level(level)
    mean = cv.mean_losses()
    order = np.argsort(mean, kind="stable")
    models = tuple(cv.models[k] for k in order)
    tests: list[kfold.KFoldTTest | None] = []
    notes, places = list(kfold.fold_notes(cv)), _tested(len(models))
    pairs = tuple((models[i], models[j]) for i, j in places)
    for pair in pairs:
        try:
            tests.append(kfold.kfold_t_test(cv.pair(*pair), rho=rho))
        except kfold.ZeroVarianceError as error:
            tests.append(None)
            notes.append(Note("refused", error.reason, ("pair", f"{pair[0]} minus {pair[1]}")))
    compared = len(models) * (len(models) - 1) // 2
    if compared > len(pairs):
        notes.append(
            Note(
                "design",
                f"of {len(models):,} models the best is tested against every other, and the best "
                f"{BEST} against each other; p-values are adjusted for all {compared:,} pairs",
            )
        )
    if len(pairs) > 1:
        notes.append(
            Note(
                "remark",
                "intervals, and the rho at which a verdict flips, are those of each pair alone, "
                "not adjusted for the number of pairs",
            )
        )
    if compared == len(pairs):
        every = adjusted = adjusted_pvalues(
            [test.pvalue if test else np.nan for test in tests], adjust
        )
    else:
        every = adjusted_pvalues(_pvalues_of_all(cv, order, rho), adjust)
        first, last = np.array(places).T
        adjusted = every[first * (2 * len(models) - first - 1) // 2 + last - first - 1]
    return ModelComparison(
        models,
        mean[order],
        tuple(tests),
        pairs,
        adjusted,
        adjust,
        level,
        cv.scores,
        compared,
        int((every < 1 - level).sum()),
        notes=notes,
    )


def _tested(models: int) -> list[tuple[int, int]]:
    """Return the pairs of models, by their ranks, that get a test of their own."""
    if models <= MANY:
        return list(itertools.combinations(range(models), 2))
    return [(0, other) for other in range(1, models)] + list(
        itertools.combinations(range(1, BEST), 2)
    )


def _pvalues_of_all(cv: CVLosses, order: np.ndarray, rho: float | str) -> np.ndarray:
    """Return the p-values of all pairs of ordered models, NaN where the folds show no variance: at once, by rows."""
    means, sizes = cv.fold_means_of_models()[order], cv.sizes.ravel()
    hidden = kfold.resolve_rho(
        rho, cv.folds, cv.repeats, test_share=cv.test_share, splits=cv.splits
    )
    kept, largest = 1 - hidden, np.abs(cv.losses).max(0)[order]
    found = []
    for k in range(len(order) - 1):
        apart = means[k] - means[k + 1 :]
        alike = np.ptp(apart, 1) <= kfold.ROUNDING * np.maximum(largest[k], largest[k + 1 :])
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = (
                np.average(apart, axis=1, weights=sizes)
                / kfold.theta3(apart, sizes) ** 0.5
                * kept**0.5
            )
        found.append(
            np.where(alike, np.nan, kfold.tail_probability(statistic, sizes.size - 1, "two-sided"))
        )
    return np.concatenate(found)


def adjusted_pvalues(pvalues: ArrayLike, adjust: str = "holm") -> np.ndarray:
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
    checks.refuse_masked("pvalues", pvalues)
    pvalues, adjust = np.asarray(pvalues, float), checks.choice("adjust", adjust, ADJUSTMENTS)
    for k in np.flatnonzero((pvalues < 0) | (pvalues > 1))[:1]:
        raise checks.WrongValue(
            "pvalues", f"must be from 0 to 1 or NaN; entry {k} is {pvalues[k]:g}"
        )
    return ADJUSTMENTS[adjust](pvalues)


class ComparedTests(Result):
    """Every test that the losses allow, side by side.

    Attributes
    ----------
    label : str
        What was tested.
    estimate : float
        Mean loss (difference), or mean score (difference).
    table : tuple of dict
        test, about, statistic, df (as text: F has two), pvalue, low, high, and a note of what it looked at. The caveats
        of a test are the notes whose place it is.
    posterior : BayesianTTest or None
    verdict : str
        Who is better by how much, up to which rho that is significant, and Nadeau and Bengio's p.
    level : float
        Of the verdict and of the intervals low to high.
    test : KFoldTTest or None
        At the chosen rho.
    """

    label: str
    estimate: float
    table: tuple
    posterior: model_tests.BayesianTTest | None
    verdict: str
    level: float = 0.95
    test: kfold.KFoldTTest | None = None

    def headline(self) -> str:
        """Return the verdict."""
        return self.verdict

    def finding(self) -> str:
        """Return whether one model is shown to be better and by how much, in a sentence without jargon."""
        test = self.test
        if test is None:
            return f"No result: {self.verdict}"
        low, high = sorted(test.interval(self.level))
        error = (high - low) / 2
        if len(test.models) != 2:
            what = f"Mean {KINDS[test.scores][0]} of {test.models[0]}" if test.models else "Mean"
            return "{}: {}, between {} and {}".format(
                what, *digits.numbers(self.estimate, low, high, error=error)
            )
        better, other = test.models if (self.estimate < 0) != test.scores else test.models[::-1]
        if test.pvalue < 1 - self.level:
            shown = digits.numbers(abs(self.estimate), *sorted(map(abs, (low, high))), error=error)
            return (
                f"{better} is better than {other}: by {shown[0]}, between {shown[1]} and {shown[2]} "
                f"(p {digits.chance(test.pvalue)})"
            )
        if test.rho >= kfold.MOST_RHO and test.assumed not in kfold.RHOS:
            return (
                f"No result: with rho = {test.rho:.4g} next to everything counts as hidden, and no difference "
                "could be shown"
            )
        return (
            f"Not shown to be better: p {digits.chance(test.pvalue)} for {better} against {other}"
        )

    def basis(self) -> str:
        """Return what the finding rests on, in a line."""
        test = self.test
        if test is None:
            return "No t-test exists where all folds agree."
        sign = -1 if test.scores else 1
        shown = digits.numbers(
            *(sign * mean for mean in test.mean_losses), error=test.standard_error
        )
        means = (
            ""
            if len(test.models) != 2
            else "; mean {} {}".format(
                KINDS[test.scores][1],
                ", ".join(
                    f"{mean} ({name})" for name, mean in zip(test.models, shown, strict=True)
                ),
            )
        )
        return f"From {test.scheme}{means}; {percent(self.level)} interval of a t-test with {belief(test)}."

    def rows(self) -> list[dict]:
        """Return one row per test, with its caveats in the column "note"."""
        return [
            row
            | {
                "note": "; ".join(
                    filter(
                        None,
                        (
                            row["note"],
                            *(
                                note.text
                                for note in self.notes
                                if note.where == ("test", row["test"])
                            ),
                        ),
                    )
                )
            }
            for row in self.table
        ]


def compare_tests(
    cv: CVLosses | ArrayLike, *, rho: float | str = "auto", rope: float = 0.01, level: float = 0.95
) -> ComparedTests:
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
        Of the verdict and of the intervals in the table.

    Returns
    -------
    ComparedTests
        K-fold t for several rho; the 5x2cv tests for five repeats of two folds; with losses of single items the
        central limit theorem's z, about the fitted models; for 0/1 losses of one repeat of two models, McNemar.

    Examples
    --------
    >>> cv = CVLosses.from_fold_means({"A": [.2, .1, .2, .3, .15, .2], "B": [.1, .1, .05, .15, .1, .15]})
    >>> compare_tests(cv)     # doctest: +NORMALIZE_WHITESPACE
    ComparedTests(B better by 0.08333 (losses 0.1917 against 0.1083); significant at 5% only if rho is below 0.42, not
    at 0.7; Nadeau-Bengio p 0.072)
    """
    array, cv = not isinstance(cv, CVLosses), as_losses(cv)
    level, rope = checks.level(level), checks.number("rope", rope, 0)
    means, notes = cv.fold_means(), list(kfold.fold_notes(cv))
    if array and cv.sizes.max() == 2:
        notes.append(TWO_ITEMS)
    estimate = float(np.average(means, weights=cv.sizes))
    try:
        test = kfold.kfold_t_test(cv, rho=rho)
        kind = "t of random splits" if cv.splits == "random" else "K-fold t"
        table = [
            _line(
                f"{kind}, {row['test']}",
                "learning methods",
                row["statistic"],
                row["df"],
                row["pvalue"],
                row["low"],
                row["high"],
            )
            for row in test.rows(level)
        ]
        posterior = model_tests.bayesian_correlated_t(
            means.ravel(),
            rope=rope,
            runs=cv.repeats,
            sizes=cv.sizes.ravel(),
            scores=cv.scores,
            test_share=cv.test_share,
        )
        verdict = test.verdict(level)
        notes += [
            *_lattice_notes(cv, means),
            *_rope_notes(rope, test.at("naive").standard_error, cv),
        ]
    except kfold.ZeroVarianceError as error:
        table = [_line("K-fold t", "learning methods")]
        test, posterior, notes = (
            None,
            None,
            [*notes, Note("refused", str(error), ("test", "K-fold t"))],
        )
        shown = kfold.describe(
            cv.label, estimate, cv.models, cv.mean_losses(), None if cv.one_sign else 0.0, cv.scores
        )
        verdict = f"{shown}; no t-test, as the folds show no variance"
    for line, said in (
        *_five_by_two_lines(means, cv.equal_folds),
        *_item_lines(cv, estimate, level),
    ):
        table.append(line)
        notes += [Note(note.kind, note.text, ("test", line["test"])) for note in said]
    return ComparedTests(
        cv.label, estimate, tuple(table), posterior, verdict, level, test, notes=notes
    )


def _line(
    test: str,
    question: str,
    statistic: float = float("nan"),
    df: int | str = "",
    p: float = float("nan"),
    low: float = float("nan"),
    high: float = float("nan"),
    looked_at: str = "",
) -> dict:
    return {
        "test": test,
        "about": question,
        "statistic": float(statistic),
        "df": str(df),
        "pvalue": float(p),
        "low": float(low),
        "high": float(high),
        "note": looked_at,
    }


def _lattice_notes(cv: CVLosses, means: np.ndarray) -> Iterator[Note]:
    """Few distinct fold means: t moves in jumps, and is refused or extreme where folds happen to agree."""
    values = np.sort(means.ravel())
    distinct = 1 + int((np.diff(values) > kfold.ROUNDING * np.abs(values).max()).sum())
    if distinct > 3 or distinct == values.size:
        return
    losses = f"0/1 {cv.kinds}: the" if cv.zero_one else "the"
    yield Note(
        "unreliable",
        f"{losses} {values.size} fold means take only {distinct} values: one item more can move t "
        f"across the limit, and folds that all agree would show no variance",
    )


def _rope_notes(rope: float, error: float, cv: CVLosses) -> Iterator[Note]:
    largest = np.abs(cv.mean_losses()).max()
    if 0 < rope < 0.01 * error:
        yield Note(
            "data",
            f"the rope of {rope:g} is {rope / error:.3g} naive standard errors: choose it in units of "
            f"the {cv.kind}",
        )
    elif rope > largest > 0:
        yield Note(
            "data",
            f"the rope of {rope:g} is larger than the mean {cv.kinds}, "
            f"{largest:.3g} at most: choose it in units of the {cv.kind}",
        )


def _five_by_two_lines(means: np.ndarray, equal_folds: bool) -> Iterator[tuple]:
    """Yield the line of a test and its notes."""
    unweighted = () if equal_folds else (Note("assumption", "folds taken as equal"),)
    if means.shape != (5, 2):  # random splits are one row
        return
    for function, df in (
        (model_tests.five_by_two_t_test, 5),
        (model_tests.five_by_two_f_test, "10, 5"),
    ):
        try:
            found = function(means)
            yield (
                _line(found.test, "learning methods", found.statistic, df, found.pvalue),
                (*found.notes, *unweighted),
            )
        except kfold.ZeroVarianceError as error:
            yield _line("5x2cv", "learning methods"), (Note("refused", str(error)),)


def _item_lines(cv: CVLosses, estimate: float, level: float) -> Iterator[tuple]:
    """Yield the tests about the fitted models, which ask nothing about other training sets, with their notes."""
    if not cv.has_items or cv.repeats > 1:
        return
    error = kfold.variance_estimates(cv).theta5 ** 0.5
    if error > 0:
        z, reach = estimate / error, intervals.quantile(level) * error
        least, most = kfold.possible_range(cv)
        yield (
            _line(
                "central limit theorem z",
                "fitted models",
                z,
                p=2 * scipy.special.ndtr(-abs(z)),
                low=max(estimate - reach, least),
                high=min(estimate + reach, most),
            ),
            (),
        )
    if len(cv.models) == 2 and cv.zero_one:
        b, c = (int((cv.losses[:, k] > cv.losses[:, 1 - k]).sum()) for k in (0, 1))
        for method in model_tests.MCNEMAR[:2]:
            found = model_tests.mcnemar_test(b, c, method=method)
            yield (
                _line(
                    found.test,
                    "fitted models",
                    found.statistic,
                    p=found.pvalue,
                    looked_at=f"disagreements {b}:{c}",
                ),
                found.notes,
            )
