"""Exercises of lesson 3: judges, hints, explanations and worked solutions.

`EXERCISES` and `STEPS` at the end list them by number.
"""

import math
import numbers
from typing import Any

import numpy as np

from workbench.allocation import rules
from workbench.course.answers import Judged, says_something
from workbench.course.digit_forms import digit_forms
from workbench.lessons.checking import listed, parts_of

ROUNDED = 5e-4  # the relative increase of the standard error that rounding may cause
NINE = ([1, 2, 4, 2, 1], [1000, 1050, 1200, 1300])


def _variance_of_sum(strata: list | tuple, labeled: list) -> float:
    """Return the variance of the estimated sum if `labeled` numbers are sampled from each list."""
    size, sd = [len(part) for part in strata], [np.std(part, ddof=1) for part in strata]
    return sum(size) ** 2 * rules.allocation_variance(size, sd, labeled)


def _nine_numbers(values: list, parts: list | tuple = NINE) -> Judged | tuple:
    together = [parts[0] + parts[1]]
    random, stratified = _variance_of_sum(together, [2]), _variance_of_sum(parts, [1, 1])
    replaced = [81 * np.var(together[0], ddof=ddof) / 2 for ddof in (0, 1)]
    if any(abs(values[0] / wrong - 1) <= 5e-3 for wrong in replaced):
        return Judged(
            "mistake",
            "this is the variance with replacement; you never sample the same number twice, so "
            "multiply by (1 - 2/9) and use ddof=1",
            "the variance is that of sampling with replacement",
        )
    if abs(values[0] / random - 1) > 1e-2:
        return (
            "not yet",
            "the first estimate is 9 times the mean of two of the nine numbers",
        )
    if abs(values[1] / stratified - 1) > 1e-2:
        return "not yet", "the second estimate is 5 times one number plus 4 times the other"
    if abs(values[2] / (random / stratified) - 1) > 1e-2:
        return "not yet", "the ratio is the first variance divided by the second"
    return "correct", f"{random:.4g}, {stratified:.4g}, ratio {random / stratified:.1f}"


def _three_strata(
    values: list,
    size: list | tuple = (10, 100, 1000),
    spread: list | tuple = (50, 5, 1),
    budget: int = 60,
) -> Judged | tuple:
    optimum = rules.allocate(size, budget, stratum_sd=spread).labeled
    if values == optimum.tolist():
        return "correct", " / ".join(map(str, optimum))
    if any(value % 1 for value in values):
        return "mistake", "give whole numbers"
    if sum(values) != budget:
        return Judged(
            "mistake",
            f"the budget is {budget}; your labels add up to {sum(values):g}",
            "the labels do not add up to the budget",
        )
    if min(values) < 0:
        return Judged(
            "mistake",
            "give each stratum at least 0 labels",
            "a stratum has a negative number of labels",
        )
    if values[0] > size[0]:
        return Judged(
            "mistake",
            f"the first stratum has only {size[0]} items",
            "a stratum has more labels than items",
        )
    return (
        "not yet",
        "label the first stratum completely, then allocate the rest in proportion to N S",
    )


def _why_three_strata() -> str:
    capped = rules.allocate(
        [10, 100, 1000], 60, "neyman", stratum_sd=[50, 5, 1], minimum=0, integer=False
    )
    best = rules.allocate([10, 100, 1000], 60, stratum_sd=[50, 5, 1])
    more = 100 * (capped.variance / best.variance - 1)
    return (
        "After the first stratum, 50 labels are allocated in proportion to 500 and 1000. Capped "
        f"Neyman leaves {capped.unused:.0f} labels unused, and its variance is {more:.0f}% larger."
    )


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
            f"{floor:g} of the thousands may well include no misread digit; then their standard "
            "deviation is 0, and the rule throws the others away",
        )
    if floor > 20:
        return (
            "mistake",
            f"a floor of {floor:g} costs more but hardly protects better: choose a smaller floor",
        )
    return "correct", f"{floor:g}; compare your reason with the explanation"


def _why_floor() -> str:
    strata = digit_forms().register()
    best = rules.allocate(strata.size, 100, stratum_sd=strata.sd, minimum=0).variance
    premiums = [
        rules.allocate(strata.size, 100, stratum_sd=strata.sd, minimum=floor).variance / best
        for floor in (5, 10, 15, 20)
    ]
    increases = ", ".join(f"+{100 * (premium**0.5 - 1):.1f}%" for premium in premiums)
    none = [math.comb(32, n) / math.comb(37, n) for n in (2, 15)]
    return (
        "5 of 37 thousands are misread. The probability that a sample of them includes no misread "
        f"digit is {none[0]:.2f} with 2 digits and {none[1]:.2f} with 15. If all standard "
        f"deviations are known, floors of 5, 10, 15 and 20 change the standard error by {increases}."
    )


def _own_places(values: Any) -> tuple:
    strata = digit_forms().register()
    best = rules.allocate(strata.size, 150, stratum_sd=strata.sd)
    if any(value != int(value) for value in values):
        return "mistake", "give whole numbers"
    if sum(values) != 150:
        return "mistake", f"the budget is 150 labels; your labels add up to {sum(values):g}"
    over = np.flatnonzero(np.array(values) > strata.size)
    if over.size:
        return "mistake", f"there are only {strata.size[over[0]]} {strata.stratum[over[0]]}"
    if min(values) < 2:
        return "mistake", "give at least 2 labels to each place"
    variance = rules.allocation_variance(strata.size, strata.sd, values)
    error, least = (strata.size.sum() * v**0.5 for v in (variance, best.variance))
    if variance <= best.variance * (1 + 1e-9):
        return "correct", f"SE {error:,.0f}"
    if error <= least * (1 + ROUNDED):
        return "correct", f"SE {error:,.1f}; the best whole numbers reach {least:,.1f}"
    return "not yet", f"SE {error:,.1f}; an SE of {least:,.1f} is possible"


def _why_own_places() -> str:
    strata = digit_forms().register()
    best = rules.allocate(strata.size, 150, stratum_sd=strata.sd)
    capped = rules.allocate(strata.size, 150, "neyman", stratum_sd=strata.sd)
    return (
        f"The best allocation is {'/'.join(map(str, best.labeled))}, with an SE of "
        f"{strata.size.sum() * best.variance**0.5:,.0f}. The variance of capped Neyman is "
        f"{capped.variance / best.variance:.2f} times as large."
    )


def _steps_of_nine(parts: list | tuple = NINE) -> list[str]:
    together = np.array(parts[0] + parts[1])
    random, stratified = _variance_of_sum([together], [2]), _variance_of_sum(parts, [1, 1])
    small, large = (np.var(part, ddof=1) for part in parts)
    return [
        "At random: the variance of all nine numbers with ddof=1 is "
        f"{np.var(together, ddof=1):,.1f}. Multiply it by 81 (1 - 2/9) / 2: {random:.4g}.",
        f"With strata: the variances are {small:,.4g} and {large:,.6g}. Add 25 (1 - 1/5) times "
        f"the first and 16 (1 - 1/4) times the second: {stratified:.4g}.",
        f"The ratio is {random / stratified:.1f}.",
    ]


def _steps_of_three(
    size: list | tuple = (10, 100, 1000), spread: list | tuple = (50, 5, 1), budget: int = 60
) -> list[str]:
    both = np.multiply(size, spread)
    best = rules.allocate(size, budget, stratum_sd=spread).labeled
    return [
        f"N S is {listed(both, 0)}. In proportion to it, {budget} labels are "
        f"{listed(budget * both / both.sum(), 1)}.",
        f"The first stratum has {size[0]} digits, so label {best[0]}. Allocate the other "
        f"{budget - best[0]} labels in proportion to N S: "
        f"{listed((budget - best[0]) * both[1:] / both[1:].sum(), 1)}.",
        f"In whole numbers: {' / '.join(map(str, best))}.",
    ]


def _steps_of_floor() -> list[str]:
    return [
        "The standard deviation of a place is 0 until its first misread digit arrives. Until "
        "then, the place gets no labels but those of the floor.",
        "How many of the 37 thousands must you keep so that one of the five misread digits is "
        "probably among them? A few are not enough.",
        "The table shows what each floor costs. Choose the largest floor that is still cheap.",
    ]


def _steps_of_places() -> list[str]:
    strata = digit_forms().register()
    both = strata.size * strata.sd
    rest = (150 - 37) * both[:3] / both[:3].sum()
    return [
        f"N S is {listed(both, 0)}. In proportion to it, the thousands would get "
        f"{150 * both[3] / both.sum():.0f} of 150 labels, but there are only 37.",
        "Label all 37 thousands, and allocate the other 113 labels in proportion to N S: "
        f"{listed(rest, 2)}.",
        "In whole numbers: "
        f"{'/'.join(map(str, rules.allocate(strata.size, 150, stratum_sd=strata.sd).labeled))}.",
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
        "the total of N numbers, estimated from a simple random sample of n of them, has the "
        "variance N^2 (1 - n/N) S^2 / n; compute S^2 with ddof=1",
        lambda: (
            "The paper's 1.3e7 lacks the factor (1 - 2/9), and its variance divides by 9 instead "
            "of 8. We could not reproduce its ratio of 46."
        ),
    ),
    "3.2": (
        _three_strata,
        3,
        "three whole numbers",
        "how many labels does Neyman's rule ask for in the first stratum, and how many digits "
        "does the stratum have?",
        _why_three_strata,
    ),
    "3.3": (
        _floor,
        parts_of(2),
        "(floor, 'your reason in a sentence')",
        "how many of the 37 thousands are misread, and how many must you keep to find one of them?",
        _why_floor,
    ),
    "3.4": (
        _own_places,
        4,
        "[ones, tens, hundreds, thousands]",
        "which places are labeled completely? allocate the rest in proportion to N S",
        _why_own_places,
    ),
}
