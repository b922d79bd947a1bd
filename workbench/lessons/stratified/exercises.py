"""Exercises of lesson 1: the values that their rules and texts in `content.yaml` use."""

import functools
from typing import Any

import numpy as np

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.course.answers import answered
from workbench.course.digit_forms import digit_forms
from workbench.data.scored_items import ScoredItems
from workbench.lessons.content import lesson_texts
from workbench.lessons.exercise import Exercise, compared_labels
from workbench.stratified import accuracy
from workbench.stratified.strata import STRATIFIERS, stratify

NAMES = {
    "equal_size": "equal size",
    "equal_width": "equal width",
    "cum_sqrt_f": "cum sqrt f",
    "cum_cbrt_f": "cum cbrt f",
    "weighted_mean": "weighted mean",
    "kmeans": "k-means",
    "gmm": "mixture",
}
GOLD, LIMIT = 0.0245, 0.0295  # largest standard errors of exercise 1.4


def _name(stratifier: Any) -> str:
    """Return the name of a stratifier in the code, from that name or its name in the charts."""
    spelling = _spaced(str(stratifier).casefold().strip())
    return next(
        (name for name, title in NAMES.items() if spelling in (_spaced(title), _spaced(name))), ""
    )


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


@functools.cache
def fifths() -> tuple[np.ndarray, np.ndarray, ScoredItems]:
    """Return the sizes of the five equal-size strata, their correct forms, and all items."""
    items = digit_forms().items()
    strata = stratify(items.score, 5, "equal_size")
    return strata.sizes, np.bincount(strata.labels, items.correct, 5).astype(int), items


def _spread() -> np.ndarray:
    size, correct, _ = fifths()
    return np.sqrt(accuracy.stratum_variance(size, correct / size))


def _estimate_and_error(
    size: list | tuple = (360, 359, 360, 359, 359),
    labeled: list | tuple = (20,) * 5,
    right: list | tuple = (12, 17, 19, 20, 20),
) -> dict:
    audit = accuracy.stratified_accuracy(size, labeled, right)
    uncorrected = accuracy.estimated_variance(size, labeled, right, form="paper")
    n = np.array(labeled)
    rates, weights = np.array(right) / n, np.array(size) / sum(size)
    terms = weights**2 * (1 - n / size) * rates * (1 - rates) / (n - 1)
    random_error = accuracy.estimated_variance([1797], [100], [88]) ** 0.5
    return {
        "audit": audit,
        "uncorrected": uncorrected**0.5,
        "labels": labeled[0],
        "forms": size[0],
        "unlabeled": size[0] - labeled[0],
        "rates": rates,
        "weights": weights,
        "terms": terms,
        "variance": terms.sum(),
        "random_error": random_error,
    }


def _neyman_labels(size: Any = None, spread: Any = None) -> dict:
    size, spread = (fifths()[0], _spread()) if size is None else (size, spread)
    products = np.multiply(size, spread)
    return {
        "optimum": rules.allocate(size, 100, "neyman", stratum_sd=spread).labeled,
        "products": products,
        "products_sum": products.sum(),
        "proportional": 100 * products / products.sum(),
    }


@functools.cache
def _plans() -> dict:
    size, correct, _ = fifths()
    rates = correct / size
    plan = functools.partial(accuracy.plan_budget, size, rates, 0.03, interval="wald")
    variance = (size / size.sum() * accuracy.stratum_variance(size, rates)).sum()
    uncorrected = variance * (intervals.quantile(0.95) / 0.03) ** 2
    neyman = plan(method="neyman")
    floored = _labels_with_a_floor(size, rates)
    return {
        "random_plan": plan(method="simple_random"),
        "proportional_plan": plan(method="proportional"),
        "neyman_plan": neyman,
        "floored": floored,
        "floor_plans": [neyman.budget, floored],
        "infinite_plan": plan(method="simple_random", finite=False),
        "default_plan": accuracy.plan_budget(size, rates, 0.03),
        "variance": variance,
        "uncorrected": uncorrected,
        "forms": size.sum(),
        "half_widths": _half_widths_after_a_change(),
    }


def _labels_with_a_floor(size: np.ndarray, rates: np.ndarray) -> int:
    """Return the labels that a half-width of .03 needs, with 30% of them in proportion to size."""
    return next(n for n in range(1, size.sum()) if _half_width(rates, _floored(n)) <= 0.03)


def _floored(n: int) -> np.ndarray:
    """Return Neyman's labels per fifth, with 30% of the n labels in proportion to size."""
    size, *_ = fifths()
    neyman = rules.allocate(size, n, "neyman", stratum_sd=_spread(), minimum=0, integer=False)
    return 0.7 * neyman.labeled + 0.3 * n * size / size.sum()


def _half_width(rates: np.ndarray, labeled: np.ndarray) -> float:
    """Return the half-width of the Wald interval for accuracies and labels of the fifths."""
    size, *_ = fifths()
    spread = np.sqrt(accuracy.stratum_variance(size, rates))
    return intervals.quantile(0.95) * np.sqrt(rules.allocation_variance(size, spread, labeled))


def _half_widths_after_a_change() -> list:
    """Return the half-width of each design if the accuracy of the top fifth falls to .90."""
    size, correct, _ = fifths()
    rates = np.append((correct / size)[:-1], 0.90)
    designs = [
        rules.allocate(size, 188, "neyman", stratum_sd=_spread()).labeled,
        _floored(188),
        rules.allocate(size, 298, "proportional").labeled,
    ]
    return [_half_width(rates, labeled) for labeled in designs]


def _name_and_labels(answer: Any) -> list | None:
    """Return the name and the list of labels, even if the labels are not in a list."""
    if not isinstance(answer, (list, tuple)) or len(answer) < 2:
        return None
    name, *labels = answer
    return [name, labels if len(labels) > 1 else labels[0]]


def _own_design(parts: list, values: Any) -> dict | None:
    stratifier, labeled = parts
    if not isinstance(labeled, (list, tuple)) or not labeled:
        return None
    labels = answered(labeled, len(labeled))
    if not labels or any(number % 1 for number in labels):
        return None
    name, budget = _name(stratifier), list(map(int, labels))
    if name not in STRATIFIERS:
        return {"unknown": True, "stratifier": stratifier, "stratifiers": ", ".join(NAMES.values())}
    if sum(budget) != 100 or min(budget) < 2:
        return {"wrong_total": True}
    items = fifths()[2]
    strata = stratify(items.score, len(budget), name)
    if strata.n_strata != len(budget) or (strata.sizes < budget).any():
        count = checks.counted(strata.n_strata, "stratum of size", "strata of sizes")
        return {"misfit": True, "strata": f"{count} {strata.sizes.tolist()}"}
    correct = np.bincount(strata.labels, items.correct, strata.n_strata)
    error = accuracy.accuracy_variance(strata.sizes, correct, budget) ** 0.5
    return {"error": error, "gold": error <= GOLD, "passed": error <= LIMIT}


def exercises() -> dict[str, Exercise]:
    """Return the exercises of this lesson by number."""
    return lesson_texts("stratified").exercises(
        {
            "1.1": {"compute": _estimate_and_error},
            "1.2": {"compute": _neyman_labels, "examine": compared_labels},
            "1.3": {"compute": _plans},
            "1.4": {"reader": _name_and_labels, "examine": _own_design},
        }
    )
