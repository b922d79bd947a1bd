"""Exercises of lesson 5: judges, hints, explanations and worked solutions.

`EXERCISES` and `STEPS` at the end list them by number.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from workbench import checks, intervals
from workbench.course.answers import Judged, answered
from workbench.course.clerks import DISAGREEING, TEN_FOLDS, reader_losses
from workbench.cross_validation.kfold import ZeroVarianceError, kfold_t_test, r_from_rho
from workbench.cross_validation.model_tests import nadeau_bengio_test

SKEPTICAL = 0.7
FORMS = 200
COLLEAGUE = 5.0
DECISIONS = ("buy", "do not buy")
PAIRS = {
    "A-B": 0.3,
    "A-C": 0.012,
    "A-D": 0.0004,
    "B-C": 0.02,
    "B-D": 0.006,
    "C-D": 0.2,
}  # p-values; the better model is named first
BEST_OF_FORTY, TRIED = 2.16, 400  # largest of forty standard normal numbers, on average; forms
TRUE_SHARE = 0.9


def _ten_folds(values: list, folds: list | tuple = TEN_FOLDS) -> Judged | tuple:
    naive, skeptical = (kfold_t_test(folds, rho=rho) for rho in (0, SKEPTICAL))
    t, p, t_skeptical, p_skeptical = values
    if abs(t - naive.statistic * (10 / 9) ** 0.5) <= 2e-3:
        return Judged(
            "mistake",
            "you divided by 10 instead of 9: the variance of ten folds has nine degrees of freedom",
            "the variance was divided by K instead of K minus one",
        )
    if abs(t - naive.statistic) > 6e-3:
        return "not yet", "t = mean / sqrt(variance / 10)"
    if abs(p - 2 * scipy.special.ndtr(-naive.statistic)) <= 5e-4:
        return Judged(
            "mistake",
            "you used the normal distribution; a t distribution with nine degrees of freedom has "
            "heavier tails",
            "the normal distribution was used instead of the t distribution",
        )
    if abs(p - naive.pvalue / 2) <= 5e-4:
        return Judged(
            "mistake", "your p is one-sided; use the two-sided p", "the p-value is one-sided"
        )
    if abs(p - naive.pvalue) > 2e-3:
        return (
            "not yet",
            "t is correct, p is not: use a two-sided test with nine degrees of freedom",
        )
    if abs(t_skeptical - naive.statistic * (1 - SKEPTICAL)) <= 2e-3:
        return Judged(
            "mistake",
            "rho is a proportion of a variance: multiply t by the square root of 1 - rho",
            "t was multiplied by one minus rho instead of its square root",
        )
    if max(abs(t_skeptical - skeptical.statistic), abs(p_skeptical - skeptical.pvalue)) > 6e-3:
        return "not yet", "the naive test is correct, the test at rho = .7 is not"
    return (
        "correct",
        f"{naive.statistic:.3f}, {naive.pvalue:.4f}; {skeptical.statistic:.3f}, "
        f"{skeptical.pvalue:.3f}",
    )


def _where_it_flips(values: list) -> tuple:
    flips, r = kfold_t_test(TEN_FOLDS).rho_alpha(), r_from_rho(SKEPTICAL, 10)
    if abs(values[0] - flips) > 2e-3:
        return (
            "not yet",
            "at which rho is sqrt(1 - rho) t equal to the critical value of t with 9 degrees of "
            "freedom?",
        )
    if abs(values[1] - SKEPTICAL) <= 2e-3:
        return (
            "mistake",
            "rho is not r: rho is a proportion of the variance of a mean, r is the correlation "
            "of two folds",
        )
    if abs(values[1] - r) > 2e-3:
        return "not yet", "rho_alpha is correct, r is not"
    return "correct", f"{flips:.3f} and {r:.3f}"


def _colleague(values: list, naive_t: float = COLLEAGUE) -> Judged | tuple | None:
    if not isinstance(values[2], str):
        return None
    t, p = _corrected(naive_t)
    if abs(values[0] - naive_t * (1 - 10 / 19) ** 0.5) <= 0.01:
        return Judged(
            "mistake",
            "you corrected for ten folds; here ten repeats use the same 100 forms, so there are "
            "100 folds",
            "the repeats were treated as if they used new forms",
        )
    if abs(values[0] - t) > 0.01:
        return (
            "not yet",
            "the naive test multiplies the variance of one fold by 1/100; multiply it by 1/100 + "
            "1/9",
        )
    if abs(values[1] - 2 * scipy.special.stdtr(9, -t)) <= 2e-3:
        return Judged(
            "mistake",
            "100 folds have 99 degrees of freedom; a single repeat has 9",
            "the degrees of freedom are those of a single repeat",
        )
    if abs(values[1] - p) > 6e-3:
        return "not yet", "t is correct, p is not: use a two-sided test with 99 degrees of freedom"
    verdict = values[2].strip(" .!").lower()
    if verdict not in ("yes", "no"):
        return None
    right = "yes" if p < 0.05 else "no"
    return (
        ("correct", f"t {t:.3f}, p {p:.3f}: {right}")
        if verdict == right
        else ("not yet", f"t and p are correct; compare p = {p:.3f} with the level of .05")
    )


def _corrected(naive_t: float = COLLEAGUE) -> tuple:
    """Return the corrected t and p of 100 folds of 10 forms that have this naive t."""
    folds = np.linspace(-1, 1, 100)
    test = nadeau_bengio_test(folds + naive_t * folds.std(ddof=1) / 10, 90, 10)
    return test.statistic, test.pvalue


def _numbers_and_a_word(count: int) -> Callable:
    """Return a function that reads an answer of `count` numbers and one more entry."""

    def read(answer: Any) -> list | None:
        if not isinstance(answer, (list, tuple, np.ndarray)) or len(answer) != count + 1:
            return None
        values = answered(answer[:count], count)
        return values and [*values, answer[count]]

    return read


def _why_colleague() -> str:
    needed = scipy.special.stdtrit(99, 0.975) * COLLEAGUE / _corrected()[0]
    return (
        f"Repeats with the same forms add no evidence. The naive t would have to be {needed:.1f}."
    )


def _own_forms(values: Any) -> tuple:
    if values[0] == DISAGREEING:
        return (
            "mistake",
            f"study {DISAGREEING} is the study of the lesson, which was chosen for its result: use "
            "another study number",
        )
    try:
        losses = reader_losses(checks.seed("study", values[0]), FORMS)
        naive, corrected, skeptical = (
            kfold_t_test(losses, rho=rho) for rho in ("naive", "nadeau_bengio", SKEPTICAL)
        )
    except ZeroVarianceError:
        return "not yet", "the difference is the same in all ten folds: use another study number"
    except ValueError as error:
        return "not yet", str(error)
    names = ("naive p", "Nadeau-Bengio p", "p at .7", "rho_alpha")
    correct = np.array([naive.pvalue, corrected.pvalue, skeptical.pvalue, naive.rho_alpha()])
    differs = np.abs(values[1:5] - correct) > (1.5e-3, 1.5e-3, 1.5e-3, 6e-3)
    incorrect = [name for name, off in zip(names, differs, strict=True) if off]
    if incorrect:
        return "not yet", f"not correct: {', '.join(incorrect)}"
    decision = DECISIONS[0] if naive.estimate > 0 and corrected.pvalue < 0.05 else DECISIONS[1]
    mine = str(values[5]).strip(" .!").lower().replace("don't", "do not")
    if mine not in DECISIONS:
        return "not yet", f"the numbers are correct; answer {' or '.join(map(repr, DECISIONS))}"
    if mine != decision:
        return "mistake", (
            "the rule is to buy if Nadeau-Bengio's p is below .05 and the nearest neighbor reads "
            f"better; p is {corrected.pvalue:.3f}, averages minus nearest neighbor "
            f"{naive.estimate:+.3f}"
        )
    return (
        "correct",
        f"{decision}, with p {corrected.pvalue:.3f} and rho_alpha {naive.rho_alpha():.3f}",
    )


def _winner(values: list) -> tuple | Judged:
    p = np.array(list(PAIRS.values()))
    pairs, best, worst = _ranks_of_b(intervals.holm(p))
    error = (TRUE_SHARE * (1 - TRUE_SHARE) / TRIED) ** 0.5
    if values[1] == values[2] == 2:
        return Judged(
            "mistake",
            "this is the rank of B's score; a rank set contains every rank that the tests do not "
            "exclude",
            "the rank of the score was taken as the rank set",
        )
    if values[0] == _ranks_of_b(p)[0]:
        return Judged(
            "mistake",
            "you counted the pairs with an unadjusted p below .05; six tests need an adjustment",
            "the p-values were not adjusted for several tests",
        )
    if values[0] == _ranks_of_b(p * p.size)[0]:
        return Judged(
            "mistake",
            "you multiplied every p by 6; Holm's rule multiplies the second smallest by 5, the "
            "third by 4",
            "Bonferroni's rule was used instead of Holm's rule",
        )
    if values[0] != pairs:
        return (
            "not yet",
            "sort the p-values, multiply them by 6, 5, 4 and so on, and stop at the first "
            "product of .05 or more",
        )
    if (values[1], values[2]) != (best, worst):
        return (
            "not yet",
            "the number of pairs is correct. The best rank of B is 1 plus the number of models "
            "that are shown to be better. The worst rank of B is 4 minus the number of models that "
            "are shown to be worse",
        )
    if abs(values[3] - TRUE_SHARE) <= 1e-3:
        return Judged(
            "mistake",
            "each of the forty models scores this on average; the best of them was lucky and "
            "scores more",
            "the selection of the best model was ignored",
        )
    if abs(values[3] - TRUE_SHARE - 1.96 * error) <= 4e-4:
        return Judged(
            "mistake",
            "1.96 is a limit for a single number; the largest of forty is 2.16 on average",
            "the limit for a single model was used for the best of many",
        )
    if (
        min(
            abs(values[3] - likely)
            for likely in (TRUE_SHARE + BEST_OF_FORTY * error, _best_exactly())
        )
        > 1e-3
    ):
        return (
            "not yet",
            "the ranks are correct, the score is not: it is 2.16 standard errors above the true "
            "accuracy",
        )
    return (
        "correct",
        f"{pairs} pairs, B from {best} to {worst}; {TRUE_SHARE + BEST_OF_FORTY * error:.3f}",
    )


def _ranks_of_b(p: np.ndarray) -> tuple[int, int, int]:
    """Return the number of pairs that are shown to differ, and the best and worst rank of B."""
    differing = [pair for pair, pvalue in zip(PAIRS, p, strict=True) if pvalue < 0.05]
    better = sum(pair.endswith("B") for pair in differing)
    worse = sum(pair.startswith("B") for pair in differing)
    return len(differing), 1 + better, 4 - worse


def _best_exactly() -> float:
    """Return the mean of the largest of forty binomial proportions."""
    below = scipy.special.bdtr(np.arange(TRIED), TRIED, TRUE_SHARE) ** 40
    return 1 - float(below.sum()) / TRIED


def _steps_of_folds(folds: list | tuple = TEN_FOLDS) -> list[str]:
    naive, skeptical = (kfold_t_test(folds, rho=rho) for rho in (0, SKEPTICAL))
    error = np.std(folds, ddof=1) / 10**0.5
    return [
        f"The mean of the ten differences is {np.mean(folds):.4f}. Their standard deviation "
        f"(ddof=1) is {np.std(folds, ddof=1):.5f}. Divided by the square root of 10 it is the "
        f"standard error, {error:.5f}.",
        f"t = {np.mean(folds):.4f} / {error:.5f} = {naive.statistic:.3f}.",
        f"p = 2 * scipy.stats.t.sf({abs(naive.statistic):.3f}, 9) = {naive.pvalue:.4f}.",
        f"At rho = .7, t times the square root of .3 is {skeptical.statistic:.3f}, and p is "
        f"{skeptical.pvalue:.3f}.",
    ]


def _steps_of_flip() -> list[str]:
    t, flips = kfold_t_test(TEN_FOLDS, rho=0).statistic, kfold_t_test(TEN_FOLDS).rho_alpha()
    return [
        "With nine degrees of freedom, p is .05 if t is 2.262.",
        f"At rho, t is the square root of 1 - rho times {t:.3f}. If this is 2.262, rho is 1 - "
        f"(2.262 / {t:.3f})^2 = {flips:.3f}.",
        f"r = rho / (10 - 9 rho) = .7 / 3.7 = {r_from_rho(SKEPTICAL, 10):.3f}.",
    ]


def _steps_of_colleague(naive_t: float = COLLEAGUE) -> list[str]:
    t, p = _corrected(naive_t)
    return [
        "The colleague multiplied the variance of one fold by 1/100. The factor should be 1/100 "
        "+ 1/9 = .1211.",
        "The corrected variance is 12.11 times as large, so t = "
        f"{naive_t:g} / {(0.01 + 1 / 9) ** 0.5 * 10:.3f} = {t:.3f}.",
        f"p = 2 * scipy.stats.t.sf({t:.3f}, 99) = {p:.3f}: "
        f"{'' if p < 0.05 else 'not '}significant.",
    ]


def _steps_of_own() -> list[str]:
    return [
        "Compute losses = wb.reader_losses(study, 200) with your own study number.",
        "Compute wb.kfold_t_test(losses, rho='naive').pvalue, the same with 'nadeau_bengio' and "
        ".7, and wb.kfold_t_test(losses).rho_alpha().",
        "Buy only if averages makes more errors and the second p is below .05.",
    ]


def _steps_of_winner() -> list[str]:
    adjusted = intervals.holm(np.array(list(PAIRS.values())))
    pairs, best, worst = _ranks_of_b(adjusted)
    error = (TRUE_SHARE * (1 - TRUE_SHARE) / TRIED) ** 0.5
    pvalues = ", ".join(f"{pair} {p:.4f}" for pair, p in zip(PAIRS, adjusted, strict=True))
    return [
        "Sort the p-values and multiply: .0004 times 6 is .0024, .006 times 5 is .030, .012 "
        "times 4 is .048, and .020 times 3 is .060. This is not below .05, so Holm's rule stops "
        "here.",
        f"The adjusted p-values are {pvalues}. So {pairs} pairs are shown to differ.",
        f"No model is shown to be better than B, and only D is shown to be worse: ranks {best} to "
        f"{worst}.",
        f"The standard error of a score is the square root of .9 times .1 / {TRIED}, which is "
        f"{error:.3f}. The best of forty is {BEST_OF_FORTY} standard errors above .90: "
        f"{TRUE_SHARE + BEST_OF_FORTY * error:.3f}.",
    ]


STEPS = {
    "5.1": _steps_of_folds,
    "5.2": _steps_of_flip,
    "5.3": _steps_of_colleague,
    "5.4": _steps_of_own,
    "5.5": _steps_of_winner,
}
EXERCISES = {
    "5.1": (
        _ten_folds,
        4,
        "(t, p, t at rho .7, p at rho .7)",
        "at rho = .7 multiply t by the square root of .3",
        lambda: (
            "The p-value is "
            + " or ".join(
                f"{kfold_t_test(TEN_FOLDS, rho=rho).pvalue:.3f}"
                for rho in ("naive", "nadeau_bengio", SKEPTICAL)
            )
            + ": the same ten numbers with three assumptions about rho."
        ),
    ),
    "5.2": (
        _where_it_flips,
        2,
        "(rho_alpha, r)",
        "1 - (2.262 / t)^2; r = rho / (10 - 9 rho)",
        lambda: (
            "An r of .7 is a rho of .96. The skeptical rho of .7 is a correlation of only "
            f"{r_from_rho(SKEPTICAL, 10):.3f}."
        ),
    ),
    "5.3": (
        _colleague,
        _numbers_and_a_word(2),
        "(t, p, 'yes' or 'no')",
        "multiply t by sqrt(.01 / (.01 + 1/9))",
        _why_colleague,
    ),
    "5.4": (
        _own_forms,
        _numbers_and_a_word(5),
        "(study, naive p, Nadeau-Bengio p, p at .7, rho_alpha, 'buy' or 'do not buy')",
        "wb.kfold_t_test(wb.reader_losses(study, 200), rho=...)",
        lambda: (
            "You made the rule before you saw the numbers. If you choose the test afterwards, its "
            "level does not hold."
        ),
    ),
    "5.5": (
        _winner,
        4,
        "(pairs, best rank of B, worst rank of B, score of the best of forty)",
        "Holm's rule: multiply the smallest p by 6, the next by 5, and so on, until a product is "
        ".05 or more",
        lambda: (
            f"The exact value is {_best_exactly():.4f}, because scores are whole numbers of forms. "
            "No model is better than another."
        ),
    ),
}
