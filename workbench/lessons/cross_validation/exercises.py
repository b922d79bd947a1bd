"""Exercises of lesson 5."""

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
}  # p, the better one first
BEST_OF_FORTY, TRIED = 2.16, 400  # largest of forty standard normal numbers, on average; forms
TRUE_SHARE = 0.9


def _ten_folds(values: list, folds: list | tuple = TEN_FOLDS) -> Judged | tuple:
    naive, skeptical = (kfold_t_test(folds, rho=rho) for rho in (0, SKEPTICAL))
    t, p, t_skeptical, p_skeptical = values
    if abs(t - naive.statistic * (10 / 9) ** 0.5) <= 2e-3:
        return Judged(
            "mistake",
            "that divides by 10 instead of 9: the spread of ten folds has nine degrees of freedom",
            "variance divided by K",
        )
    if abs(t - naive.statistic) > 6e-3:
        return "not yet", "t = mean / sqrt(variance / 10)"
    if abs(p - 2 * scipy.special.ndtr(-naive.statistic)) <= 5e-4:
        return Judged(
            "mistake",
            "that p is the normal distribution's; nine degrees of freedom have heavier tails",
            "normal distribution for t",
        )
    if abs(p - naive.pvalue / 2) <= 5e-4:
        return Judged("mistake", "that p is one-sided", "one-sided p")
    if abs(p - naive.pvalue) > 2e-3:
        return "not yet", "t is right, p is not: two-sided, nine degrees of freedom"
    if abs(t_skeptical - naive.statistic * (1 - SKEPTICAL)) <= 2e-3:
        return Judged(
            "mistake",
            "rho is a share of a variance, so t shrinks by the root of what is left",
            "t shrunk by rho itself",
        )
    if max(abs(t_skeptical - skeptical.statistic), abs(p_skeptical - skeptical.pvalue)) > 6e-3:
        return "not yet", "the naive test is right, the one at rho = .7 is not"
    return (
        "right",
        f"{naive.statistic:.3f}, {naive.pvalue:.4f}; {skeptical.statistic:.3f}, {skeptical.pvalue:.3f}",
    )


def _where_it_flips(values: list) -> tuple:
    flips, r = kfold_t_test(TEN_FOLDS).rho_alpha(), r_from_rho(SKEPTICAL, 10)
    if abs(values[0] - flips) > 2e-3:
        return (
            "not yet",
            "at which rho is the shrunken t just the critical value of t with 9 degrees of freedom?",
        )
    if abs(values[1] - SKEPTICAL) <= 2e-3:
        return (
            "mistake",
            "rho is not r: it is a share of the variance of a mean, not the correlation of two folds",
        )
    if abs(values[1] - r) > 2e-3:
        return "not yet", "rho_alpha is right, r is not"
    return "right", f"{flips:.3f} and {r:.3f}"


def _colleague(values: list, naive_t: float = COLLEAGUE) -> Judged | tuple | None:
    if not isinstance(values[2], str):
        return None
    t, p = _corrected(naive_t)
    if abs(values[0] - naive_t * (1 - 10 / 19) ** 0.5) <= 0.01:
        return Judged(
            "mistake",
            "that corrects ten folds; ten repeats use the same 100 forms ten times",
            "repeats counted as new forms",
        )
    if abs(values[0] - t) > 0.01:
        return (
            "not yet",
            "the variance of one fold is divided by 100 and should be multiplied by 1/100 + 1/9",
        )
    if abs(values[1] - 2 * scipy.special.stdtr(9, -t)) <= 2e-3:
        return Judged(
            "mistake",
            "100 folds have 99 degrees of freedom; 9 would be those of one repeat",
            "degrees of freedom of one repeat",
        )
    if abs(values[1] - p) > 6e-3:
        return "not yet", "t is right, p is not: two-sided, 99 degrees of freedom"
    verdict = values[2].strip(" .!").lower()
    if verdict not in ("yes", "no"):
        return None
    right = "yes" if p < 0.05 else "no"
    return (
        ("right", f"t {t:.3f}, p {p:.3f}: {right}")
        if verdict == right
        else ("not yet", f"really, with p = {p:.3f}?")
    )


def _corrected(naive_t: float = COLLEAGUE) -> tuple:
    """Return t and p of a hundred folds whose naive t is the colleague's, corrected as of 90 to 10 forms."""
    folds = np.linspace(-1, 1, 100)
    test = nadeau_bengio_test(folds + naive_t * folds.std(ddof=1) / 10, 90, 10)
    return test.statistic, test.pvalue


def _numbers_and_a_word(count: int) -> Callable:
    """Return what reads an answer of so many numbers and one entry more."""

    def read(answer: Any) -> list | None:
        if not isinstance(answer, (list, tuple, np.ndarray)) or len(answer) != count + 1:
            return None
        values = answered(answer[:count], count)
        return values and [*values, answer[count]]

    return read


def _why_colleague() -> str:
    needed = scipy.special.stdtrit(99, 0.975) * COLLEAGUE / _corrected()[0]
    return f"the same forms again are no new evidence: a naive t of {needed:.1f} would be needed"


def _own_forms(values: Any) -> tuple:
    if values[0] == DISAGREEING:
        return (
            "mistake",
            f"study {DISAGREEING} is the lesson's, chosen for what it shows: draw one of your own",
        )
    try:
        losses = reader_losses(checks.seed("study", values[0]), FORMS)
        naive, corrected, skeptical = (
            kfold_t_test(losses, rho=rho) for rho in ("naive", "nadeau_bengio", SKEPTICAL)
        )
    except ZeroVarianceError:
        return "not yet", "all ten folds differ by the same: draw other forms"
    except ValueError as error:
        return "not yet", str(error)
    right = np.array([naive.pvalue, corrected.pvalue, skeptical.pvalue, naive.rho_alpha()])
    wrong = [
        name
        for name, off in zip(
            ("naive p", "Nadeau-Bengio p", "p at .7", "rho_alpha"),
            np.abs(values[1:5] - right) > (1.5e-3, 1.5e-3, 1.5e-3, 6e-3),
            strict=True,
        )
        if off
    ]
    if wrong:
        return "not yet", f"think again about: {', '.join(wrong)}"
    decision = DECISIONS[0] if naive.estimate > 0 and corrected.pvalue < 0.05 else DECISIONS[1]
    mine = str(values[5]).strip(" .!").lower().replace("don't", "do not")
    if mine not in DECISIONS:
        return "not yet", f"the numbers are right; decide {' or '.join(map(repr, DECISIONS))}"
    if mine != decision:
        return "mistake", (
            "the rule is to buy if Nadeau-Bengio's p is below .05 and the nearest neighbor reads better;"
            f" p is {corrected.pvalue:.3f}, averages minus nearest neighbor {naive.estimate:+.3f}"
        )
    return (
        "right",
        f"{decision}, with p {corrected.pvalue:.3f} and rho_alpha {naive.rho_alpha():.3f}",
    )


def _winner(values: list) -> tuple | Judged:
    p = np.array(list(PAIRS.values()))
    shown, best, worst = _ranks_of_b(intervals.holm(p))
    error = (TRUE_SHARE * (1 - TRUE_SHARE) / TRIED) ** 0.5
    if values[1] == values[2] == 2:
        return Judged(
            "mistake",
            "that is B's place by its score; a rank set holds every rank that is not ruled out",
            "rank taken from the score",
        )
    if values[0] == _ranks_of_b(p)[0]:
        return Judged(
            "mistake",
            "those are the pairs whose own p is below .05: with six pairs luck has six tries",
            "pairs not adjusted",
        )
    if values[0] == _ranks_of_b(p * p.size)[0]:
        return Judged(
            "mistake",
            "that multiplies every p by 6; Holm's rule multiplies the next smallest by 5, then 4",
            "Bonferroni taken for Holm",
        )
    if values[0] != shown:
        return (
            "not yet",
            "sort the p-values; times 6, 5, 4 and so on, and stop at the first that is not below .05",
        )
    if (values[1], values[2]) != (best, worst):
        return (
            "not yet",
            "the pairs are right; B's best rank is 1 plus how many are shown to be better, its worst 4 "
            "less how many are shown to be worse",
        )
    if abs(values[3] - TRUE_SHARE) <= 1e-3:
        return Judged(
            "mistake",
            "so does each of the forty, on average; the best is chosen for its luck",
            "winner's curse forgotten",
        )
    if abs(values[3] - TRUE_SHARE - 1.96 * error) <= 4e-4:
        return Judged(
            "mistake",
            "1.96 belongs to one number; the largest of forty is 2.16 on average",
            "limit of one for the largest of many",
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
            "the ranks are right, the score is not: 2.16 standard errors above the truth",
        )
    return (
        "right",
        f"{shown} pairs, B from {best} to {worst}; {TRUE_SHARE + BEST_OF_FORTY * error:.3f}",
    )


def _ranks_of_b(p: np.ndarray) -> tuple[int, int, int]:
    """Return how many pairs are shown to differ, and the ranks that B may have."""
    shown = [pair for pair, each in zip(PAIRS, p, strict=True) if each < 0.05]
    return (
        len(shown),
        1 + sum(pair.endswith("B") for pair in shown),
        4 - sum(pair.startswith("B") for pair in shown),
    )


def _best_exactly() -> float:
    """Return the mean of the largest of forty binomial shares."""
    below = scipy.special.bdtr(np.arange(TRIED), TRIED, TRUE_SHARE) ** 40
    return 1 - float(below.sum()) / TRIED


def _steps_of_folds(folds: list | tuple = TEN_FOLDS) -> list[str]:
    naive, skeptical = (kfold_t_test(folds, rho=rho) for rho in (0, SKEPTICAL))
    error = np.std(folds, ddof=1) / 10**0.5
    return [
        f"The mean of the ten is {np.mean(folds):.4f}, their standard deviation with ddof=1 "
        f"{np.std(folds, ddof=1):.5f}; divided by the root of 10: {error:.5f}.",
        f"t = {np.mean(folds):.4f} / {error:.5f} = {naive.statistic:.3f}.",
        f"p = 2 * scipy.stats.t.sf({abs(naive.statistic):.3f}, 9) = {naive.pvalue:.4f}.",
        f"At rho = .7: t times the root of .3 is {skeptical.statistic:.3f}, and p {skeptical.pvalue:.3f}.",
    ]


def _steps_of_flip() -> list[str]:
    t, flips = kfold_t_test(TEN_FOLDS, rho=0).statistic, kfold_t_test(TEN_FOLDS).rho_alpha()
    return [
        "With nine degrees of freedom p is .05 where t is 2.262.",
        f"t at rho is the root of 1 - rho times {t:.3f}; set it to 2.262: rho = 1 - (2.262 / {t:.3f})^2 = "
        f"{flips:.3f}.",
        f"r = rho / (10 - 9 rho) = .7 / 3.7 = {r_from_rho(SKEPTICAL, 10):.3f}.",
    ]


def _steps_of_colleague(naive_t: float = COLLEAGUE) -> list[str]:
    t, p = _corrected(naive_t)
    return [
        "The variance of one fold was divided by 100; it should be multiplied by 1/100 + 1/9 = .1211.",
        "So the variance is 12.11 times as large, and t = "
        f"{naive_t:g} / {(0.01 + 1 / 9) ** 0.5 * 10:.3f} = {t:.3f}.",
        f"p = 2 * scipy.stats.t.sf({t:.3f}, 99) = {p:.3f}: {'' if p < 0.05 else 'not '}significant.",
    ]


def _steps_of_own() -> list[str]:
    return [
        "folds = wb.reader_losses(study, 200), with a study number of your own.",
        "wb.kfold_t_test(folds, rho='naive').pvalue, the same with 'nadeau_bengio' and .7, and .rho_alpha().",
        "Buy only if averages err more and the second p is below .05.",
    ]


def _steps_of_winner() -> list[str]:
    adjusted = intervals.holm(np.array(list(PAIRS.values())))
    shown, best, worst = _ranks_of_b(adjusted)
    error = (TRUE_SHARE * (1 - TRUE_SHARE) / TRIED) ** 0.5
    said = ", ".join(f"{pair} {p:.4f}" for pair, p in zip(PAIRS, adjusted, strict=True))
    return [
        "Sort: .0004 times 6 is .0024, .006 times 5 is .030, .012 times 4 is .048, .020 times 3 is .060, which is "
        "not below .05: here Holm's rule stops.",
        f"Adjusted: {said}. So {shown} pairs are shown to differ.",
        f"Nobody is shown to be better than B, only D to be worse: ranks {best} to {worst}.",
        f"The standard error of a score is the root of .9 times .1 / {TRIED} = {error:.3f}; the best of forty is "
        f"{BEST_OF_FORTY} of these above .90: {TRUE_SHARE + BEST_OF_FORTY * error:.3f}.",
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
        "at rho = .7 multiply t by the root of .3",
        lambda: (
            "p is "
            + " or ".join(
                f"{kfold_t_test(TEN_FOLDS, rho=rho).pvalue:.3f}"
                for rho in ("naive", "nadeau_bengio", SKEPTICAL)
            )
            + ": the same ten numbers, three beliefs about what they hide"
        ),
    ),
    "5.2": (
        _where_it_flips,
        2,
        "(rho_alpha, r)",
        "1 - (2.262 / t)^2; r = rho / (10 - 9 rho)",
        lambda: (
            "r = .7 would be a rho of .96; the skeptical .7 is a correlation of folds of "
            f"{r_from_rho(SKEPTICAL, 10):.3f} only"
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
            "the rule was made before the numbers were seen; choosing the test afterwards is not testing"
        ),
    ),
    "5.5": (
        _winner,
        4,
        "(pairs, best rank of B, worst rank of B, score of the best of forty)",
        "Holm: the smallest p times 6, the next times 5, and so on until one is not below .05",
        lambda: (
            f"exactly it is {_best_exactly():.4f}: forms are whole; none of the forty is better than another"
        ),
    ),
}
