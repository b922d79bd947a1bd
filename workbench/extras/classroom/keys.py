"""The correct answers to graded exercises, part by part, with a student's numbers."""

from collections.abc import Callable

import numpy as np
import scipy

from workbench.allocation.rules import allocate
from workbench.course.digit_forms import digit_forms
from workbench.cross_validation.kfold import kfold_t_test
from workbench.extras.classroom.variants import LABELS
from workbench.lessons.checking import OWN
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.series import prevalence_series
from workbench.replication.designs import SurveyDesign
from workbench.replication.estimates import replicate_estimate
from workbench.replication.replicates import replicates
from workbench.stratified.accuracy import stratified_accuracy

SKEPTICAL = 0.7


def key_of(exercise: str, task: dict) -> list:
    """Return the correct answer to an exercise with a student's data.

    Examples
    --------
    >>> [round(part, 6) for part in key_of("2.1", {"differences": [0.1, -0.06, 0.04]})]
    [0.020548]
    """
    return KEYS[exercise](**task) if exercise in KEYS else list(OWN[exercise].answer)


def _audit(size: list, labeled: list, right: list) -> list:
    accuracy = stratified_accuracy(size, labeled, right)
    return [accuracy.estimate, accuracy.standard_error]


def _shares(size: list, spread: list) -> list:
    return allocate(size, LABELS, "neyman", stratum_sd=spread).labeled.tolist()


def _districts(differences: list) -> list:
    return [float(np.sqrt(np.square(differences).sum() / 4) / len(differences))]


def _code(code: int, left_out: int) -> list:
    forms = digit_forms()
    remaining = (forms.box - 1) // 2 + 1 != left_out
    box = forms.box[remaining]
    weights = replicates(SurveyDesign((box - 1) // 2, psu=box), "jkn")
    true, predicted = forms.digit[remaining] == code, forms.read_a[remaining] == code
    f1 = replicate_estimate(weights, "f1", true, predicted)
    return [f1.estimate, f1.standard_error, *f1.interval(method="logit")]


def _nine(parts: list) -> list:
    random = 81 * (1 - 2 / 9) * np.var([*parts[0], *parts[1]], ddof=1) / 2
    strata = sum(len(part) ** 2 * (1 - 1 / len(part)) * np.var(part, ddof=1) for part in parts)
    return [float(random), float(strata), float(random / strata)]


def _three(size: list, spread: list, budget: int) -> list:
    return allocate(size, budget, stratum_sd=spread).labeled.tolist()


def _share(p00: float, p11: float, base: float, counted: float) -> list:
    return [(counted - (1 - p00)) / (p00 + p11 - 1)]


def _months(audit: list, frame: list, first: list, second: list) -> list:
    counts, months = ConfusionCounts(audit), {"6": first, "12": second}
    design = {"method": "mixed", "rates": "frame", "sampled_by": "random"}
    change = prevalence_series(counts, frame, months, **design).change("6", "12")
    return [float(np.ravel(value)[-1]) for value in (change.estimate, change.standard_error)]


def _folds(folds: list) -> list:
    naive, skeptical = (kfold_t_test(folds, rho=rho) for rho in (0, SKEPTICAL))
    return [naive.statistic, naive.pvalue, skeptical.statistic, skeptical.pvalue]


def _colleague(naive_t: float) -> list:
    t = naive_t * ((1 / 100) / (1 / 100 + 10 / 90)) ** 0.5
    p = float(2 * scipy.special.stdtr(99, -t))
    return [t, p, "yes" if p < 0.05 else "no"]


KEYS: dict[str, Callable[..., list]] = {
    "1.1": _audit,
    "1.2": _shares,
    "2.1": _districts,
    "2.4": _code,
    "3.1": _nine,
    "3.2": _three,
    "4.1": _share,
    "4.4": _months,
    "5.1": _folds,
    "5.3": _colleague,
}
