"""Exercises of lesson 1: judges, hints, explanations and worked solutions.

`EXERCISES` and `STEPS` at the end list them by number.
"""

import numbers
from functools import lru_cache
from typing import Any

import numpy as np

from workbench import checks, intervals
from workbench.allocation import rules
from workbench.course.answers import Judged, answered
from workbench.course.digit_forms import digit_forms
from workbench.data.scored_items import ScoredItems
from workbench.lessons.checking import listed, parts_of
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
DESIGNS = {name: name for name in ("random", "proportional", "neyman", "neyman with floor")} | {
    "random sampling": "random",
    "in proportion": "proportional",
    "neyman with a floor": "neyman with floor",
}


def _name(stratifier: Any) -> str:
    """Return the name of a stratifier in the code, from that name or its name in the charts."""
    spelling = _spaced(str(stratifier).casefold().strip())
    return next(
        (name for name, title in NAMES.items() if spelling in (_spaced(title), _spaced(name))), ""
    )


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


@lru_cache(1)
def fifths() -> tuple[np.ndarray, np.ndarray, ScoredItems]:
    """Return the sizes of the five equal-size strata, their correct forms, and all items."""
    items = digit_forms().items()
    strata = stratify(items.score, 5, "equal_size")
    return strata.sizes, np.bincount(strata.labels, items.correct, 5).astype(int), items


def _spread() -> np.ndarray:
    size, right, _ = fifths()
    return np.sqrt(accuracy.stratum_variance(size, right / size))


def _estimate_and_error(
    values: list,
    size: list | tuple = (360, 359, 360, 359, 359),
    labeled: list | tuple = (20,) * 5,
    right: list | tuple = (12, 17, 19, 20, 20),
) -> Judged | tuple:
    estimate = accuracy.stratified_accuracy(size, labeled, right)
    without = (
        accuracy.estimated_variance(
            estimate.stratum_size, estimate.labeled, estimate.correct, form="paper"
        )
        ** 0.5
    )
    if abs(values[0] - estimate.estimate) > 6e-4:
        return "not yet", "the estimate is the weighted mean of the five stratum accuracies"
    if abs(values[1] - estimate.standard_error) <= 1e-4:
        return "correct", f"{estimate.estimate:.3f} and {estimate.standard_error:.5f}"
    if abs(values[1] - without) <= 2e-4:
        return Judged(
            "mistake",
            f"no finite-population correction: {labeled[0]} of {size[0]} forms are labeled, so "
            f"{size[0] - labeled[0]} of {size[0]} are unknown",
            "the finite-population correction is missing",
        )
    return "not yet", "the estimate is correct, the standard error is not"


def _why_estimate() -> str:
    random = accuracy.estimated_variance([1797], [100], [88]) ** 0.5
    return (
        "The two strata without an observed error add nothing to the standard error. With 88 of "
        f"100 correct, random sampling has a standard error of {random:.4f}. The interval that you "
        "report has a lower limit below Wald's, because such a stratum may still contain errors."
    )


def _neyman_shares(values: Any, size: Any = None, spread: Any = None) -> Judged | tuple:
    size, spread = (fifths()[0], _spread()) if size is None else (size, spread)
    optimum = rules.allocate(size, 100, "neyman", stratum_sd=spread).labeled
    if any(value % 1 for value in values):
        return "mistake", "the labels per stratum must be whole numbers"
    if sum(values) != 100:
        return Judged(
            "mistake",
            f"your labels add up to {sum(values):g}, not to 100",
            "the labels do not add up to the budget",
        )
    if min(values) < 2:
        return Judged(
            "mistake",
            "a stratum with fewer than 2 labels has no variance estimate",
            "a stratum has fewer than two labels",
        )
    if np.abs(np.array(values) - optimum).max() <= 1:
        return "correct", " / ".join(map(str, optimum))
    if max(values) - min(values) <= 1:
        return Judged(
            "mistake",
            "all strata have the same number of labels, but a stratum that varies more needs more",
            "every stratum has the same number of labels",
        )
    return (
        "not yet",
        "allocate the labels in proportion to size times standard deviation, at least 2 each",
    )


def _plan(parts: list) -> tuple | None:
    labels, design = parts
    design = DESIGNS.get(str(design).casefold().strip(" .!"))
    if not isinstance(labels, numbers.Real) or not design:
        return None
    size, right, _ = fifths()
    wald = {
        m: accuracy.plan_budget(size, right / size, 0.03, method=m, interval="wald").budget
        for m in ("simple_random", "proportional", "neyman")
    }
    endless = accuracy.plan_budget(
        size, right / size, 0.03, method="simple_random", interval="wald", finite=False
    )
    if abs(float(labels) - endless.budget) <= 1:
        return (
            "mistake",
            "no finite-population correction: this is the number for an infinite population",
        )
    if design == "neyman":
        return (
            "mistake",
            "Neyman without a floor relies on last month's accuracies and puts only 2 labels "
            "into the top fifth",
        )
    if design == "random":
        return (
            "mistake",
            f"random sampling needs {wald['simple_random']} labels; a stratified sample needs "
            "fewer",
        )
    if design == "proportional" and abs(float(labels) - wald["proportional"]) <= 4:
        return (
            "correct",
            f"{wald['proportional']} proportional labels lose least if the accuracies change",
        )
    if design == "neyman with floor" and abs(float(labels) - wald["neyman"]) <= 3:
        return (
            "correct",
            f"{wald['neyman']} labels with a floor, with a new plan if the accuracies change",
        )
    return "not yet", "the design can work, but the number of labels is incorrect"


def _why_plan() -> str:
    size, right, _ = fifths()
    neyman = rules.allocate(
        size, 188, "neyman", stratum_sd=_spread(), minimum=0, integer=False
    ).labeled
    designs = [
        rules.allocate(size, 188, "neyman", stratum_sd=_spread()).labeled,
        0.7 * neyman + 0.3 * 188 * size / size.sum(),
        rules.allocate(size, 298, "proportional").labeled,
    ]
    drifted = np.sqrt(accuracy.stratum_variance(size, np.append((right / size)[:-1], 0.90)))
    pure, floor, proportional = (
        intervals.quantile(0.95) * np.sqrt(rules.allocation_variance(size, drifted, labeled))
        for labeled in designs
    )
    return (
        "Suppose the accuracy of the top fifth falls to .90. Neyman then has a half-width of "
        f"{pure:.3f}, Neyman with a 30% floor {floor:.3f}, and proportional allocation "
        f"{proportional:.3f} (Wald). The default interval, which you would report, needs "
        f"{accuracy.plan_budget(size, right / size, 0.03).budget} proportional labels."
    )


def _name_and_labels(answer: Any) -> list | None:
    """Return the name and the list of labels, even if the labels are not in a list."""
    apart = isinstance(answer, (list, tuple)) and len(answer) > 2
    return parts_of(2)([answer[0], list(answer[1:])] if apart else answer)


def _design(parts: list) -> tuple | None:
    stratifier, labeled = parts
    labeled = (
        answered(labeled, len(labeled)) if isinstance(labeled, (list, tuple)) and labeled else None
    )
    if not labeled or any(n % 1 for n in labeled):
        return None
    labeled, named = list(map(int, labeled)), _name(stratifier)
    if named not in STRATIFIERS:
        return (
            "mistake",
            f"{stratifier!r} is not one of the seven stratifiers: {', '.join(NAMES.values())}",
        )
    if sum(labeled) != 100 or min(labeled) < 2:
        return "mistake", "use 100 labels in total and at least 2 in each stratum"
    _, _, items = fifths()
    strata = stratify(items.score, len(labeled), named)
    if strata.n_strata != len(labeled) or (strata.sizes < labeled).any():
        strata_words = checks.counted(strata.n_strata, "stratum of size", "strata of sizes")
        return (
            "mistake",
            f"your labels do not fit: this stratifier gives {strata_words} {strata.sizes.tolist()}",
        )
    right = np.bincount(strata.labels, items.correct, strata.n_strata)
    error = accuracy.accuracy_variance(strata.sizes, right, labeled) ** 0.5
    if error <= 0.0245:
        return "correct", f"gold, standard error {error:.4f}"
    return (
        ("correct", f"standard error {error:.4f}; .0245 earns gold")
        if error <= 0.0295
        else (
            "not yet",
            f"standard error {error:.4f}; the limit is .0295, and random sampling has .0319",
        )
    )


def _steps_of_estimate(
    size: list | tuple = (360, 359, 360, 359, 359),
    labeled: list | tuple = (20,) * 5,
    right: list | tuple = (12, 17, 19, 20, 20),
) -> list[str]:
    estimate, n = accuracy.stratified_accuracy(size, labeled, right), np.array(labeled)
    rates, weights = np.array(right) / n, np.array(size) / sum(size)
    parts = weights**2 * (1 - n / size) * rates * (1 - rates) / (n - 1)
    return [
        f"The stratum accuracies are {listed(rates)}.",
        f"The weights are the proportions of the forms, {listed(weights)}. The weighted mean is "
        f"{estimate.estimate:.4f}.",
        "For each stratum, compute weight^2 (1 - labels/forms) accuracy (1 - accuracy) / (labels "
        f"- 1): {', '.join(f'{part:.3g}' for part in parts)}.",
        f"The sum is {parts.sum():.4g}. Its square root is the standard error, "
        f"{estimate.standard_error:.5f}.",
    ]


def _steps_of_shares(size: Any = None, spread: Any = None) -> list[str]:
    size, spread = (fifths()[0], _spread()) if size is None else (size, spread)
    both = np.multiply(size, spread)
    best = rules.allocate(size, 100, "neyman", stratum_sd=spread).labeled
    return [
        f"Size times standard deviation is {listed(both, 1)}; the sum is {both.sum():.1f}.",
        f"100 times these products, divided by the sum, is {listed(100 * both / both.sum(), 1)}.",
        f"With at least 2 labels each, rounded to 100 in total: {' / '.join(map(str, best))}.",
    ]


def _steps_of_plan() -> list[str]:
    size, right, _ = fifths()
    variance, labels = (
        (size / size.sum() * accuracy.stratum_variance(size, right / size)).sum(),
        size.sum(),
    )
    budget = accuracy.plan_budget(
        size, right / size, 0.03, method="proportional", interval="wald"
    ).budget
    return [
        "With proportional allocation, the mean variance within the fifths counts: "
        f"{variance:.4f}.",
        f"Without the finite-population correction you need n = {variance:.4f} (1.96 / .03)^2 = "
        f"{variance * (intervals.quantile(0.95) / 0.03) ** 2:.0f} labels, with it n / (1 + n / "
        f"{labels:,}).",
        f"The answer is {budget} proportional labels. They do not rely on last month's accuracies.",
    ]


def _steps_of_design() -> list[str]:
    return [
        "Most errors are where the program is least sure. Cut the forms into five strata of "
        "equal size.",
        "The number of errors is unknown without labels. So give the least sure fifth the most "
        "labels, each next fifth fewer, and the surest fifth a few: 40, 28, 16, 9, 7.",
    ]


STEPS = {
    "1.1": _steps_of_estimate,
    "1.2": _steps_of_shares,
    "1.3": _steps_of_plan,
    "1.4": _steps_of_design,
}
EXERCISES = {
    "1.1": (
        _estimate_and_error,
        2,
        "(estimate, standard error)",
        "square the weights; multiply the variance of each stratum by 1 - n/N and divide it by n "
        "- 1",
        _why_estimate,
    ),
    "1.2": (
        _neyman_shares,
        5,
        "five whole numbers",
        "allocate in proportion to N_k S_k",
        lambda: (
            "The stratum without errors still gets 2 labels. Otherwise you could not estimate its "
            "accuracy and variance."
        ),
    ),
    "1.3": (
        _plan,
        parts_of(2),
        "(labels, 'random', 'proportional', 'neyman' or 'neyman with floor')",
        "what happens to your plan if the accuracy of the top fifth falls to .90?",
        _why_plan,
    ),
    "1.4": (
        _design,
        _name_and_labels,
        "(stratifier, [labels per stratum])",
        "in which strata are the errors?",
        lambda: (
            "Proportional allocation passes with six of the seven stratifiers. The labels "
            "40/28/16/9/7 in equal-size fifths earn gold without knowing any label. The best "
            "allocation, which knows all labels, has .0221."
        ),
    ),
}
