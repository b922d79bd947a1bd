"""Exercises of lesson 3."""

import math
import numbers
from typing import Any

import numpy as np

from workbench.allocation import rules
from workbench.course.answers import Judged, says_something
from workbench.course.digit_forms import digit_forms
from workbench.lessons.checking import listed, parts_of

ROUNDED = 5e-4  # what rounding N S shares may add to the standard error
NINE = ([1, 2, 4, 2, 1], [1000, 1050, 1200, 1300])


def _variance_of_sum(strata: list | tuple, labeled: list) -> float:
    """Return the variance of the estimated sum of answered numbers, with `labeled` drawn from each list."""
    size, sd = [len(part) for part in strata], [np.std(part, ddof=1) for part in strata]
    return sum(size) ** 2 * rules.allocation_variance(size, sd, labeled)


def _nine_numbers(values: list, parts: list | tuple = NINE) -> Judged | tuple:
    together = [parts[0] + parts[1]]
    random, stratified = _variance_of_sum(together, [2]), _variance_of_sum(parts, [1, 1])
    replaced = [81 * np.var(together[0], ddof=ddof) / 2 for ddof in (0, 1)]
    if any(abs(values[0] / wrong - 1) <= 5e-3 for wrong in replaced):
        return Judged(
            "mistake",
            "with replacement: the second number is never the first, so multiply by (1 - 2/9) "
            "with ddof=1",
            "drawn with replacement",
        )
    if abs(values[0] / random - 1) > 1e-2:
        return (
            "not yet",
            "the first variance is that of 9 times the mean of two numbers out of nine",
        )
    if abs(values[1] / stratified - 1) > 1e-2:
        return "not yet", "one number per stratum: 5 times the one plus 4 times the other"
    if abs(values[2] / (random / stratified) - 1) > 1e-2:
        return "not yet", "the ratio is the first over the second"
    return "right", f"{random:.4g}, {stratified:.4g}, ratio {random / stratified:.1f}"


def _three_strata(
    values: list,
    size: list | tuple = (10, 100, 1000),
    spread: list | tuple = (50, 5, 1),
    budget: int = 60,
) -> Judged | tuple:
    optimum = rules.allocate(size, budget, stratum_sd=spread).labeled
    if values == optimum.tolist():
        return "right", " / ".join(map(str, optimum))
    if any(value % 1 for value in values):
        return "mistake", "give whole labels"
    if sum(values) != budget:
        return Judged(
            "mistake",
            f"the budget is {budget}; your labels add up to {sum(values):g}",
            "budget not spent",
        )
    if min(values) < 0:
        return Judged("mistake", "at least 0 labels in each stratum", "labels below zero")
    if values[0] > size[0]:
        return Judged(
            "mistake", f"the first stratum has only {size[0]} items", "more labels than items"
        )
    return "not yet", "cap the first stratum, then share what is left as N S of the others"


def _why_three_strata() -> str:
    capped = rules.allocate(
        [10, 100, 1000], 60, "neyman", stratum_sd=[50, 5, 1], minimum=0, integer=False
    )
    best = rules.allocate([10, 100, 1000], 60, stratum_sd=[50, 5, 1])
    more = 100 * (capped.variance / best.variance - 1)
    return f"50 labels are shared as 500 : 1000; capped Neyman leaves {capped.unused:.0f} unused, variance +{more:.0f}%"


def _floor(parts: list) -> tuple | None:
    floor, reason = parts
    whole = isinstance(floor, numbers.Real) and float(floor).is_integer()
    if not whole or not isinstance(reason, str):
        return None
    if not says_something(reason):
        return "not yet", "give your reason in a sentence: at least three different words"
    if floor < 8:
        return (
            "mistake",
            f"{floor:g} of the thousands may well show no misread digit: then sd is 0, and they go",
        )
    if floor > 20:
        return (
            "mistake",
            f"{floor:g} from every place: the insurance was bought long before, only the premium grows",
        )
    return "right", f"{floor:g}; compare your reason with the explanation"


def _why_floor() -> str:
    strata = digit_forms().register()
    best = rules.allocate(strata.size, 100, stratum_sd=strata.sd, minimum=0).variance
    premiums = [
        rules.allocate(strata.size, 100, stratum_sd=strata.sd, minimum=floor).variance / best
        for floor in (5, 10, 15, 20)
    ]
    shown = ", ".join(f"+{100 * (premium**0.5 - 1):.1f}%" for premium in premiums)
    none = [math.comb(32, n) / math.comb(37, n) for n in (2, 15)]
    return (
        f"5 of 37 thousands are misread: 2 of them show none with chance {none[0]:.2f}, 15 with chance "
        f"{none[1]:.2f}; offline, floors of 5, 10, 15 and 20 cost {shown} of standard error"
    )


def _own_places(values: Any) -> tuple:
    strata = digit_forms().register()
    best = rules.allocate(strata.size, 150, stratum_sd=strata.sd)
    if any(value != int(value) for value in values):
        return "mistake", "give whole labels"
    if sum(values) != 150:
        return "mistake", f"150 labels are wanted; yours add up to {sum(values):g}"
    over = np.flatnonzero(np.array(values) > strata.size)
    if over.size:
        return "mistake", f"there are only {strata.size[over[0]]} {strata.stratum[over[0]]}"
    if min(values) < 2:
        return "mistake", "at least 2 in each place"
    found = rules.allocation_variance(strata.size, strata.sd, values)
    error, least = (strata.size.sum() * variance**0.5 for variance in (found, best.variance))
    if found <= best.variance * (1 + 1e-9):
        return "right", f"SE {error:,.0f}"
    if error <= least * (1 + ROUNDED):
        return "right", f"SE {error:,.1f}; other whole numbers reach {least:,.1f}: that is rounding"
    return "not yet", f"SE {error:,.1f}; {least:,.1f} is possible"


def _why_own_places() -> str:
    strata = digit_forms().register()
    best = rules.allocate(strata.size, 150, stratum_sd=strata.sd)
    capped = rules.allocate(strata.size, 150, "neyman", stratum_sd=strata.sd)
    return (
        f"{'/'.join(map(str, best.labeled))}, SE {strata.size.sum() * best.variance**0.5:,.0f}; capped Neyman's "
        f"variance is {capped.variance / best.variance:.2f} times that"
    )


def _steps_of_nine(parts: list | tuple = NINE) -> list[str]:
    together = np.array(parts[0] + parts[1])
    random, stratified = _variance_of_sum([together], [2]), _variance_of_sum(parts, [1, 1])
    small, large = (np.var(part, ddof=1) for part in parts)
    return [
        f"At random: the variance of all nine with ddof=1 is {np.var(together, ddof=1):,.1f}; times "
        f"81 (1 - 2/9) / 2: {random:.4g}.",
        f"With strata: the variances are {small:,.4g} and {large:,.6g}; 25 (1 - 1/5) times the one plus "
        f"16 (1 - 1/4) times the other: {stratified:.4g}.",
        f"The ratio is {random / stratified:.1f}.",
    ]


def _steps_of_three(
    size: list | tuple = (10, 100, 1000), spread: list | tuple = (50, 5, 1), budget: int = 60
) -> list[str]:
    both = np.multiply(size, spread)
    best = rules.allocate(size, budget, stratum_sd=spread).labeled
    return [
        f"N S is {listed(both, 0)}; the shares of {budget} are {listed(budget * both / both.sum(), 1)}.",
        f"The first stratum has {size[0]}, and gets {best[0]}; share the other {budget - best[0]} by N S: "
        f"{listed((budget - best[0]) * both[1:] / both[1:].sum(), 1)}.",
        f"In whole numbers: {' / '.join(map(str, best))}.",
    ]


def _steps_of_floor() -> list[str]:
    return [
        "The spread of a place is 0 until its first misread digit is seen, and then it gets nothing but the floor.",
        "So ask how many of the 37 thousands must be kept to hold one of the five misread: few do not suffice.",
        "And ask what the floor costs in the table of premiums: from there take the largest that is still cheap.",
    ]


def _steps_of_places() -> list[str]:
    strata = digit_forms().register()
    both = strata.size * strata.sd
    rest = (150 - 37) * both[:3] / both[:3].sum()
    return [
        f"N S is {listed(both, 0)}; of 150 the thousands would get {150 * both[3] / both.sum():.0f}, and have 37.",
        f"Take them whole and share the other 113 by N S: {listed(rest, 2)}.",
        f"Whole numbers: {'/'.join(map(str, rules.allocate(strata.size, 150, stratum_sd=strata.sd).labeled))}.",
    ]


STEPS = {
    "3.1": _steps_of_nine,
    "3.2": _steps_of_three,
    "3.3": _steps_of_floor,
    "3.4": _steps_of_places,
}
EXERCISES = {
    "3.1": (
        _nine_numbers,
        3,
        "(variance at random, variance with strata, ratio)",
        "for a simple random sample of n out of N: N^2 (1 - n/N) S^2 / n with S^2 of ddof=1",
        lambda: (
            "the paper's 1.3e7 lacks the factor (1 - 2/9) and divides by 9 instead of 8; its ratio of 46 we "
            "could not reproduce"
        ),
    ),
    "3.2": (
        _three_strata,
        3,
        "three whole numbers",
        "what does Neyman want of the first stratum, and what does it have?",
        _why_three_strata,
    ),
    "3.3": (
        _floor,
        parts_of(2),
        "(floor, 'your reason in a sentence')",
        "how many of the 37 thousands are misread?",
        _why_floor,
    ),
    "3.4": (
        _own_places,
        4,
        "[ones, tens, hundreds, thousands]",
        "which places are capped? share the rest as N S",
        _why_own_places,
    ),
}
