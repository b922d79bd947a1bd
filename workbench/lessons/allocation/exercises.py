"""Exercises of lesson 3: the values that their rules and texts in `content.yaml` use."""

import functools
import math
from typing import Any

import numpy as np

from workbench.allocation import rules
from workbench.course.answers import says_something
from workbench.course.digit_forms import digit_forms
from workbench.lessons.content import lesson_texts
from workbench.lessons.exercise import Exercise, compared_labels

ROUNDED = 5e-4  # the relative increase of the standard error that rounding may cause
NINE = ([1, 2, 4, 2, 1], [1000, 1050, 1200, 1300])
BUDGET = 150  # labels of exercise 3.4


def _variance_of_sum(strata: list | tuple, labeled: list) -> float:
    """Return the variance of the estimated sum if `labeled` numbers are sampled from each list."""
    size, sd = [len(part) for part in strata], [np.std(part, ddof=1) for part in strata]
    return sum(size) ** 2 * rules.allocation_variance(size, sd, labeled)


def _nine_numbers(parts: list | tuple = NINE) -> dict:
    together = np.array(parts[0] + parts[1])
    with_replacement = [81 * np.var(together, ddof=ddof) / 2 for ddof in (0, 1)]
    random, stratified = _variance_of_sum([together], [2]), _variance_of_sum(parts, [1, 1])
    return {
        "random": random,
        "stratified": stratified,
        "ratio": random / stratified,
        "with_replacement": with_replacement,
        "variance": np.var(together, ddof=1),
        "variances": [np.var(part, ddof=1) for part in parts],
    }


def _three_strata(
    size: list | tuple = (10, 100, 1000), spread: list | tuple = (50, 5, 1), budget: int = 60
) -> dict:
    products = np.multiply(size, spread)
    best = rules.allocate(size, budget, stratum_sd=spread)
    capped = rules.allocate(size, budget, "neyman", stratum_sd=spread, minimum=0, integer=False)
    others = budget - best.labeled[0]
    other_labels = others * products[1:] / products[1:].sum()
    more = 100 * (capped.variance / best.variance - 1)
    return {
        "optimum": best.labeled,
        "first": size[0],
        "budget": budget,
        "products": products,
        "proportional": budget * products / products.sum(),
        "others": others,
        "other_labels": other_labels,
        "capped": capped,
        "more": more,
    }


@functools.cache
def _floors() -> dict:
    strata = digit_forms().register()
    best, *variances = (
        rules.allocate(strata.size, 100, stratum_sd=strata.sd, minimum=floor).variance
        for floor in (0, 5, 10, 15, 20)
    )
    increases = [100 * ((variance / best) ** 0.5 - 1) for variance in variances]
    return {
        "increases": ", ".join(f"+{increase:.1f}%" for increase in increases),
        "chances": [math.comb(32, n) / math.comb(37, n) for n in (2, 15)],
    }


def _floor_and_reason(parts: list, values: Any) -> dict | None:
    floor, reason = parts
    return {"vague": not says_something(reason)} if float(floor).is_integer() else None


@functools.cache
def _places() -> dict:
    strata = digit_forms().register()
    products = strata.size * strata.sd
    best = rules.allocate(strata.size, BUDGET, stratum_sd=strata.sd)
    capped = rules.allocate(strata.size, BUDGET, "neyman", stratum_sd=strata.sd)
    labels = "/".join(map(str, best.labeled))
    others = (BUDGET - 37) * products[:3] / products[:3].sum()
    thousands = BUDGET * products[3] / products.sum()
    return {
        "least_error": strata.size.sum() * best.variance**0.5,
        "least_variance": best.variance,
        "best": labels,
        "ratio": capped.variance / best.variance,
        "products": products,
        "thousands": thousands,
        "others": others,
    }


def _labels_of_places(labels: list, values: Any) -> dict:
    strata = digit_forms().register()
    if any(number != int(number) for number in labels):
        return {"fractions": True}
    if sum(labels) != BUDGET:
        return {"wrong_total": True, "total": sum(labels)}
    over = np.flatnonzero(np.array(labels) > strata.size)
    if over.size:
        return {"too_many": True, "size": strata.size[over[0]], "place": strata.stratum[over[0]]}
    if min(labels) < 2:
        return {"fewer_than_two": True}
    variance = rules.allocation_variance(strata.size, strata.sd, labels)
    error = strata.size.sum() * variance**0.5
    return {
        "error": error,
        "optimal": variance <= values["least_variance"] * (1 + 1e-9),
        "nearly_optimal": error <= values["least_error"] * (1 + ROUNDED),
    }


def exercises() -> dict[str, Exercise]:
    """Return the exercises of this lesson by number."""
    return lesson_texts("allocation").exercises(
        {
            "3.1": {"compute": _nine_numbers},
            "3.2": {"compute": _three_strata, "examine": compared_labels},
            "3.3": {"compute": _floors, "examine": _floor_and_reason},
            "3.4": {"compute": _places, "examine": _labels_of_places},
        }
    )
