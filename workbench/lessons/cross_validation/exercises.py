"""Exercises of lesson 5: the values that their rules and texts in `content.yaml` use."""

import functools
from typing import Any

import numpy as np
import scipy

from workbench import checks, intervals
from workbench.course.clerks import DISAGREEING, TEN_FOLDS, reader_losses
from workbench.cross_validation.kfold import ZeroVarianceError, kfold_t_test, r_from_rho
from workbench.cross_validation.model_tests import nadeau_bengio_test
from workbench.lessons.content import lesson_texts
from workbench.lessons.exercise import Exercise

SKEPTICAL = 0.7
FORMS = 200
COLLEAGUE = 5.0
TESTS = ("naive", "nadeau_bengio", SKEPTICAL)
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


def _ten_folds(folds: list | tuple = TEN_FOLDS) -> dict:
    tests = [kfold_t_test(folds, rho=rho) for rho in TESTS]
    t = tests[0].statistic
    mistakes = {
        "t_divided_by_k": t * (10 / 9) ** 0.5,
        "normal_p": 2 * scipy.special.ndtr(-t),
        "one_sided_p": tests[0].pvalue / 2,
        "t_without_root": t * (1 - SKEPTICAL),
    }
    sd = np.std(folds, ddof=1)
    p_values = " or ".join(f"{test.pvalue:.3f}" for test in tests)
    solution = {
        "naive": tests[0],
        "skeptical": tests[2],
        "absolute_t": abs(t),
        "mean": np.mean(folds),
        "sd": sd,
        "error": sd / 10**0.5,
        "p_values": p_values,
    }
    return mistakes | solution


@functools.cache
def _where_it_flips() -> dict:
    return {
        "flips": kfold_t_test(TEN_FOLDS).rho_alpha(),
        "r": r_from_rho(SKEPTICAL, 10),
        "rho": SKEPTICAL,
        "t": kfold_t_test(TEN_FOLDS, rho=0).statistic,
    }


def _colleague(naive_t: float = COLLEAGUE) -> dict:
    t, p = _corrected(naive_t)
    t_of_ten = naive_t * (1 - 10 / 19) ** 0.5
    factor = (0.01 + 1 / 9) ** 0.5 * 10
    needed = scipy.special.stdtrit(99, 0.975) * COLLEAGUE / _corrected(COLLEAGUE)[0]
    return {
        "naive_t": naive_t,
        "t": t,
        "p": p,
        "t_of_ten": t_of_ten,
        "p_of_ten": 2 * scipy.special.stdtr(9, -t),
        "verdict": "yes" if p < 0.05 else "no",
        "negation": "" if p < 0.05 else "not ",
        "factor": factor,
        "needed": needed,
    }


@functools.lru_cache(1000)
def _corrected(naive_t: float) -> tuple:
    """Return the corrected t and p of 100 folds of 10 forms that have this naive t."""
    folds = np.linspace(-1, 1, 100)
    test = nadeau_bengio_test(folds + naive_t * folds.std(ddof=1) / 10, 90, 10)
    return test.statistic, test.pvalue


def _own_forms(parts: list, values: Any) -> dict:
    study = float(parts[0])
    if study == DISAGREEING:
        return {"of_the_lesson": True, "study": DISAGREEING}
    try:
        losses = reader_losses(checks.seed("study", study), FORMS)
        naive, corrected, skeptical = (kfold_t_test(losses, rho=rho) for rho in TESTS)
    except ZeroVarianceError:
        return {"constant": True}
    except ValueError as error:
        return {"refused": True, "message": str(error)}
    names = ("naive p", "Nadeau-Bengio p", "p at .7", "rho_alpha")
    truth = np.array([naive.pvalue, corrected.pvalue, skeptical.pvalue, naive.rho_alpha()])
    differs = np.abs(parts[1:5] - truth) > (1.5e-3, 1.5e-3, 1.5e-3, 6e-3)
    incorrect = [name for name, is_off in zip(names, differs, strict=True) if is_off]
    buys = naive.estimate > 0 and corrected.pvalue < 0.05
    decision = DECISIONS[0] if buys else DECISIONS[1]
    word = str(parts[5]).strip(" .!").lower().replace("don't", "do not")
    return {
        "incorrect": ", ".join(incorrect),
        "other_word": word not in DECISIONS,
        "decision": decision,
        "agrees": word == decision,
        "naive": naive,
        "corrected": corrected,
        "rho_alpha": naive.rho_alpha(),
    }


@functools.cache
def _winner() -> dict:
    p = np.array(list(PAIRS.values()))
    adjusted = intervals.holm(p)
    pairs, best, worst = _ranks_of_b(adjusted)
    error = (TRUE_SHARE * (1 - TRUE_SHARE) / TRIED) ** 0.5
    likely = TRUE_SHARE + BEST_OF_FORTY * error
    p_values = (f"{pair} {value:.4f}" for pair, value in zip(PAIRS, adjusted, strict=True))
    ranks = {
        "pairs": pairs,
        "best": best,
        "worst": worst,
        "unadjusted_pairs": _ranks_of_b(p)[0],
        "bonferroni_pairs": _ranks_of_b(p * p.size)[0],
        "p_values": ", ".join(p_values),
    }
    scores = {
        "true_share": TRUE_SHARE,
        "limit_of_one": TRUE_SHARE + 1.96 * error,
        "likely": likely,
        "likely_or_exact": [likely, _best_exactly()],
        "exact": _best_exactly(),
        "forms": TRIED,
        "error": error,
    }
    return ranks | scores


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


def exercises() -> dict[str, Exercise]:
    """Return the exercises of this lesson by number."""
    return lesson_texts("cross_validation").exercises(
        {
            "5.1": {"compute": _ten_folds},
            "5.2": {"compute": _where_it_flips},
            "5.3": {"compute": _colleague},
            "5.4": {"examine": _own_forms},
            "5.5": {"compute": _winner},
        }
    )
