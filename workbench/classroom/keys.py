"""The right answers to graded exercises, and how they are found with a student's own numbers."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import scipy

from workbench.allocation.rules import allocate
from workbench.classroom.variants import LABELS, VARIANTS
from workbench.course.digit_forms import digit_forms
from workbench.cross_validation.kfold import kfold_t_test
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.series import prevalence_series
from workbench.replication.designs import SurveyDesign
from workbench.replication.estimates import replicate_estimate
from workbench.replication.replicates import replicates
from workbench.stratified.accuracy import stratified_accuracy

SKEPTICAL = 0.7


class Key(NamedTuple):
    """The right answer to an exercise, part by part, and the steps that lead there."""

    answer: list
    steps: tuple[str, ...]


def key_of(exercise: str, task: dict) -> Key:
    """Return the key to an exercise with a student's data.

    Examples
    --------
    >>> key_of("2.1", {"differences": [0.1, -0.06, 0.04]}).answer
    [0.020548046676563257]
    """
    return KEYS[exercise](**task)


def _row(values: Iterable[float], places: int = 4) -> str:
    return ", ".join(f"{value:,}" if isinstance(value, int) else f"{value:.{places}g}" for value in values)


def _audit(size: list, labeled: list, right: list) -> Key:
    found = stratified_accuracy(size, labeled, right)
    n, labels = np.array(size), np.array(labeled)
    rate, weight = np.array(right) / labels, n / n.sum()
    part = weight ** 2 * (1 - labels / n) * rate * (1 - rate) / (labels - 1)
    return Key([found.estimate, found.standard_error], (
        f"Rates of the fifths, right over labeled: {_row(rate)}.",
        f"Weights, size over {n.sum():,}: {_row(weight)}.",
        f"The estimate is the sum of weight times rate: {found.estimate:.4f}.",
        f"Each fifth adds weight^2 (1 - n/N) p (1 - p) / (n - 1): {_row(part)}.",
        f"They add up to {part.sum():.4g}; the standard error is the root, {found.standard_error:.5f}."))


def _shares(size: list, spread: list) -> Key:
    labeled = allocate(size, LABELS, "neyman", stratum_sd=spread).labeled.tolist()
    wanted = np.array(size) * spread
    return Key(labeled, (f"N times S of the strata: {_row(wanted)}; together {wanted.sum():.5g}.",
                         f"In proportion, {LABELS} labels are {_row(LABELS * wanted / wanted.sum(), 3)}.",
                         f"At least 2 each and whole numbers: {_row(labeled)}, together {sum(labeled)}."))


def _districts(differences: list) -> Key:
    squares = np.square(differences)
    error = float(np.sqrt(squares.sum() / 4) / len(squares))
    return Key([error], (f"The squared differences are {_row(squares)}; together {squares.sum():.5g}.",
                         f"A district's mean of two boxes has the variance d^2 / 4: together {squares.sum() / 4:.5g}.",
                         f"Each district weighs 1/{len(squares)}, so divide by {len(squares)}^2 and take the root: "
                         f"{error:.5f}."))


def _code(code: int, left_out: int) -> Key:
    forms = digit_forms()
    kept = (forms.box - 1) // 2 + 1 != left_out
    box, true, read = forms.box[kept], forms.digit[kept] == code, forms.read_a[kept] == code
    design = SurveyDesign((box - 1) // 2, psu=box)
    found = replicate_estimate(replicates(design, "jkn"), "f1", true, read)
    low, high = found.interval(method="logit")
    both = int((true & read).sum())
    return Key([found.estimate, found.standard_error, low, high], (
        f"Of the {box.size:,} forms {read.sum()} are read as {code}, {true.sum()} are {code}, {both} are both.",
        f"F1 is 2 x {both} / ({read.sum()} + {true.sum()}) = {found.estimate:.4f}.",
        "Leave out one box at a time, count the other box of its district twice, and compute F1 again: twelve values.",
        f"Add up their squared distances from {found.estimate:.4f}, halve, take the root: {found.standard_error:.4f}.",
        f"On the logit scale plus and minus t times {found.standard_error:.4f} / (F1 (1 - F1)), t with {found.df:g} "
        f"degrees of freedom; transformed back: {low:.3f} to {high:.3f}."))


def _nine(parts: list) -> Key:
    together = [*parts[0], *parts[1]]
    total, sizes = np.var(together, ddof=1), [len(part) for part in parts]
    within = [float(np.var(part, ddof=1)) for part in parts]
    random = float(81 * (1 - 2 / 9) * total / 2)
    strata = float(sum(n ** 2 * (1 - 1 / n) * s for n, s in zip(sizes, within, strict=True)))
    return Key([random, strata, random / strata], (
        f"The variance of all nine, with 8 below the line, is {total:.6g}.",
        f"Two at random: 9^2 (1 - 2/9) times it over 2 is {random:.5g}.",
        f"Inside the two strata the variances are {within[0]:.5g} and {within[1]:.6g}.",
        f"One of each: 5^2 (1 - 1/5) and 4^2 (1 - 1/4) times them is {strata:.5g}.",
        f"Their ratio is {random / strata:.2f}."))


def _three(size: list, spread: list, budget: int) -> Key:
    labeled = allocate(size, budget, stratum_sd=spread).labeled.tolist()
    wanted = np.array(size) * spread
    return Key(labeled, (
        f"N times S is {_row(wanted)}; in proportion, {budget} labels are {_row(budget * wanted / wanted.sum(), 3)}.",
        f"The first stratum gets at most its {size[0]} items: {labeled[0]}.",
        f"The other {budget - labeled[0]} are shared as {_row(wanted[1:])}: {_row(labeled[1:])}."))


def _share(p00: float, p11: float, base: float, counted: float) -> Key:
    true = (counted - (1 - p00)) / (p00 + p11 - 1)
    return Key([true], (f"Counted are the positives that are read so and the others that are misread: {counted:g} = "
                        f"share x {p11:g} + (1 - share) x {1 - p00:.3g}.",
                        f"Take the falsely read off: {counted:g} - {1 - p00:.3g} = {counted - 1 + p00:.4g}.",
                        f"Divide by {p00:g} + {p11:g} - 1 = {p00 + p11 - 1:.4g}: the share is {true:.4f}.",
                        f"The audit's own share, {base:g}, is not needed: it has changed."))


def _months(audit: list, frame: list, first: list, second: list) -> Key:
    (a, b), (c, d) = audit
    series = prevalence_series(ConfusionCounts(audit), frame, {"6": first, "12": second}, method="mixed", rates="frame")
    found, denominator = series.change("6", "12"), a / (a + b) + d / (c + d) - 1
    counted = (second[1] - first[1]) / sum(first)
    estimate, error = (float(np.ravel(value)[-1]) for value in (found.estimate, found.standard_error))
    return Key([estimate, error], (
        f"The audit's rates are p00 = {a}/{a + b} = {a / (a + b):.4f} and p11 = {d}/{c + d} = {d / (c + d):.4f}.",
        f"Counted was a change of ({second[1]} - {first[1]}) / {sum(first):,} = {counted:.4f}.",
        f"Divide it by p00 + p11 - 1 = {denominator:.4f}: {estimate:.5f}.",
        "Both months share the audit, so its error nearly cancels: `wb.prevalence_series(audit, frame, months, "
        f"method='mixed', rates='frame').change('6', '12')` has the standard error {error:.5f}."))


def _folds(folds: list) -> Key:
    naive, skeptical = (kfold_t_test(folds, rho=rho) for rho in (0, SKEPTICAL))
    return Key([naive.statistic, naive.pvalue, skeptical.statistic, skeptical.pvalue], (
        f"The ten differences have the mean {np.mean(folds):.4g} and the variance {np.var(folds, ddof=1):.5g}, with 9 "
        "below the line.",
        f"t is the mean over the root of variance / 10: {naive.statistic:.3f}; two-sided with 9 degrees of freedom p "
        f"is {naive.pvalue:.5f}.",
        f"rho is a share of the variance, so t shrinks by the root of {1 - SKEPTICAL:.2g}: {skeptical.statistic:.3f}, "
        f"p {skeptical.pvalue:.5f}."))


def _colleague(naive_t: float) -> Key:
    t = naive_t * ((1 / 100) / (1 / 100 + 10 / 90)) ** 0.5
    p = float(2 * scipy.special.stdtr(99, -t))
    verdict = "yes" if p < 0.05 else "no"
    return Key([t, p, verdict], (
        "The variance of one fold is divided by 100, and should be multiplied by 1/100 + 10/90 = 0.1211.",
        f"So t shrinks by the root of .01 / .1211: {naive_t:g} x 0.2873 = {t:.3f}.",
        f"Two-sided, with 99 degrees of freedom, p is {p:.5f}: {verdict}."))


KEYS: dict[str, Callable[..., Key]] = dict(zip(VARIANTS, (
    _audit, _shares, _districts, _code, _nine, _three, _share, _months, _folds, _colleague), strict=True))
