"""Exercises of lesson 1."""

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
    """Return a stratifier as code calls it, from its name there or in the pictures."""
    given = _spaced(str(stratifier).casefold().strip())
    return next(
        (name for name, shown in NAMES.items() if given in (_spaced(shown), _spaced(name))), ""
    )


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


@lru_cache(1)
def fifths() -> tuple[np.ndarray, np.ndarray, ScoredItems]:
    """Return sizes, right ones and items of the digit forms' five equal-size strata."""
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
    found = accuracy.stratified_accuracy(size, labeled, right)
    without = (
        accuracy.estimated_variance(found.stratum_size, found.labeled, found.correct, form="paper")
        ** 0.5
    )
    if abs(values[0] - found.estimate) > 6e-4:
        return "not yet", "the estimate is the weighted mean of the five rates"
    if abs(values[1] - found.standard_error) <= 1e-4:
        return "right", f"{found.estimate:.3f} and {found.standard_error:.5f}"
    if abs(values[1] - without) <= 2e-4:
        return Judged(
            "mistake",
            f"no finite-population factor: {labeled[0]} of {size[0]} are labeled, so "
            f"{size[0] - labeled[0]} of {size[0]} are unknown",
            "no finite-population factor",
        )
    return "not yet", "the estimate is right, the standard error is not"


def _why_estimate() -> str:
    random = accuracy.estimated_variance([1797], [100], [88]) ** 0.5
    return (
        f"pure strata add nothing to the standard error, 88 of 100 at random would have {random:.4f}; yet the "
        "interval to report reaches further down than Wald's, for the errors that a stratum without one may hide"
    )


def _neyman_shares(values: Any, size: Any = None, spread: Any = None) -> Judged | tuple:
    size, spread = (fifths()[0], _spread()) if size is None else (size, spread)
    optimum = rules.allocate(size, 100, "neyman", stratum_sd=spread).labeled
    if any(value % 1 for value in values):
        return "mistake", "give whole labels"
    if sum(values) != 100:
        return Judged(
            "mistake",
            f"budget not spent exactly: your labels add up to {sum(values):g}",
            "budget not spent",
        )
    if min(values) < 2:
        return Judged(
            "mistake",
            "a stratum with fewer than 2 labels has no variance estimate",
            "fewer than two labels",
        )
    if np.abs(np.array(values) - optimum).max() <= 1:
        return "right", " / ".join(map(str, optimum))
    if max(values) - min(values) <= 1:
        return Judged(
            "mistake", "equal shares: where a stratum varies more, it needs more", "equal shares"
        )
    return "not yet", "shares in proportion to size times standard deviation, at least 2 each"


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
            "no finite-population factor: this counts as if there were endlessly many forms",
        )
    if design == "neyman":
        return (
            "mistake",
            "pure Neyman trusts last month's rates and leaves 2 labels in the top fifth",
        )
    if design == "random":
        return "mistake", f"random sampling needs {wald['simple_random']}; strata need fewer"
    if design == "proportional" and abs(float(labels) - wald["proportional"]) <= 4:
        return "right", f"{wald['proportional']} proportional labels lose least under drift"
    if design == "neyman with floor" and abs(float(labels) - wald["neyman"]) <= 3:
        return "right", f"{wald['neyman']} with a floor, and a new plan when the rates move"
    return "not yet", "the design can work; the number is off"


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
        f"if the top fifth falls to .90, pure Neyman reaches ±{pure:.3f}, with a 30% floor ±{floor:.3f}, "
        f"proportional ±{proportional:.3f} (Wald); the default interval that you would report needs "
        f"{accuracy.plan_budget(size, right / size, 0.03).budget} proportional labels"
    )


def _name_and_labels(answer: Any) -> list | None:
    """Return a name and a list of labels, also where the labels stand one by one behind the name."""
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
            f"{stratifier!r} is none of the seven stratifiers: {', '.join(NAMES.values())}",
        )
    if sum(labeled) != 100 or min(labeled) < 2:
        return "mistake", "100 labels in total, at least 2 in each stratum"
    _, _, items = fifths()
    strata = stratify(items.score, len(labeled), named)
    if strata.n_strata != len(labeled) or (strata.sizes < labeled).any():
        found = checks.counted(strata.n_strata, "stratum of size", "strata of sizes")
        return (
            "mistake",
            f"{'there is' if strata.n_strata == 1 else 'there are'} {found} {strata.sizes.tolist()}",
        )
    right = np.bincount(strata.labels, items.correct, strata.n_strata)
    error = accuracy.accuracy_variance(strata.sizes, right, labeled) ** 0.5
    if error <= 0.0245:
        return "right", f"gold, SE {error:.4f}"
    return (
        ("right", f"SE {error:.4f}; .0245 would be gold")
        if error <= 0.0295
        else ("not yet", f"SE {error:.4f}; at most .0295 is wanted, random sampling has .0319")
    )


def _steps_of_estimate(
    size: list | tuple = (360, 359, 360, 359, 359),
    labeled: list | tuple = (20,) * 5,
    right: list | tuple = (12, 17, 19, 20, 20),
) -> list[str]:
    found, n = accuracy.stratified_accuracy(size, labeled, right), np.array(labeled)
    rates, shares = np.array(right) / n, np.array(size) / sum(size)
    parts = shares**2 * (1 - n / size) * rates * (1 - rates) / (n - 1)
    return [
        f"The rates are {listed(rates)}.",
        f"Each weighs by its share of the forms, {listed(shares)}: the estimate is {found.estimate:.4f}.",
        "Of each stratum (share)^2 (1 - labels/forms) rate (1 - rate) / (labels - 1): "
        f"{', '.join(f'{part:.3g}' for part in parts)}.",
        f"Their sum is {parts.sum():.4g}, and its root the standard error, {found.standard_error:.5f}.",
    ]


def _steps_of_shares(size: Any = None, spread: Any = None) -> list[str]:
    size, spread = (fifths()[0], _spread()) if size is None else (size, spread)
    both = np.multiply(size, spread)
    best = rules.allocate(size, 100, "neyman", stratum_sd=spread).labeled
    return [
        f"Size times spread: {listed(both, 1)}; together {both.sum():.1f}.",
        f"100 times each over that sum: {listed(100 * both / both.sum(), 1)}.",
        f"At least 2 each, the rest by these shares, rounded to 100 in all: {' / '.join(map(str, best))}.",
    ]


def _steps_of_plan() -> list[str]:
    size, right, _ = fifths()
    variance, labels = (
        (size / size.sum() * accuracy.stratum_variance(size, right / size)).sum(),
        size.sum(),
    )
    found = accuracy.plan_budget(
        size, right / size, 0.03, method="proportional", interval="wald"
    ).budget
    return [
        f"Proportional labels leave the mean spread within the fifths: {variance:.4f}.",
        f"Without the finite-population factor that takes {variance:.4f} (1.96 / .03)^2 = "
        f"{variance * (intervals.quantile(0.95) / 0.03) ** 2:.0f} labels; n / (1 + n / {labels:,}) of them with it.",
        f"So {found} labels, proportional: they do not trust that last month's rates hold.",
    ]


def _steps_of_design() -> list[str]:
    return [
        "Errors are where the program is least sure: cut five fifths of equal size.",
        "Without a label nobody knows how many; so give the least sure fifth most, each next one less, none below "
        "a few: 40, 28, 16, 9, 7.",
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
        "square the weights; multiply each stratum's variance by 1 - n/N and divide by n - 1",
        _why_estimate,
    ),
    "1.2": (
        _neyman_shares,
        5,
        "five whole numbers",
        "share in proportion to N_k S_k",
        lambda: "the pure stratum still gets 2, or its rate and variance could not be estimated",
    ),
    "1.3": (
        _plan,
        parts_of(2),
        "(labels, 'random', 'proportional', 'neyman' or 'neyman with floor')",
        "what happens to your plan if the top fifth falls to .90?",
        _why_plan,
    ),
    "1.4": (
        _design,
        _name_and_labels,
        "(stratifier, [labels per stratum])",
        "look at where the errors live",
        lambda: (
            "proportional shares pass for six of the seven stratifiers; 40/28/16/9/7 on equal-size fifths is "
            "gold without knowing a label; knowing all of them gives .0221"
        ),
    ),
}
