"""Caveats of estimates for many periods from one audit, as notes.

Every function takes `periods.Periods`, which imports this module. `few_notes` and `stability_notes`
concern the audit, `about_period` concerns one period.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench import checks
from workbench.misclassification import limits
from workbench.misclassification.limits import FEW
from workbench.results import Note
from workbench.results.digits import ROUNDING

STRONG = 0.2  # the divisor may be 40% off
LEAST_SINGULAR = 0.2  # errors of counts become up to five times as large
LARGE_AUDIT = {
    "process": "standard errors assume that later periods come from the same process as the "
    "audited period. If they have exactly its rates, rates='frame' (--rates frame) gives smaller "
    "standard errors",
    "frame": "the finite-population correction assumes that later periods have exactly the rates "
    "of the audited period. If they share only the process, intervals are too short: with half of "
    "that period audited, 95% intervals cover the true value in 79% of samples. Then use "
    "rates='process' (--rates process)",
}


def misfit(audit: Any, frame: np.ndarray) -> str:
    """Return the predicted proportion that differs most between audit and counts, in words."""
    of_audit = audit.table.sum(0) / audit.n
    of_frame = frame / frame.sum()
    k = int(np.abs(of_audit - of_frame).argmax())
    label = audit.labels[k]
    audited = f"{of_audit[k]:.0%} of its items"
    return f"{audited} are predicted {label!r}, but {of_frame[k]:.0%} of all counted items"


def few_notes(periods: Any) -> Iterator[Note]:
    """Yield the note on cells of the audit that hold few items."""
    table = periods.audit.table
    few = int((table < FEW).sum())
    if few:
        hold = "holds" if few == 1 else "hold"
        widened = _widened(periods, limits.ONE_ADDED)
        yield Note(
            "unreliable",
            f"{few} of {table.size} cells of the audit {hold} fewer than {FEW} items "
            f"(smallest: {table.min()}), so the standard error is rough{widened}",
        )


def stability_notes(periods: Any) -> Iterator[Note]:
    """Yield the note on a classifier that is weak for the audit."""
    divisor, cv = periods.stability
    name = "p00 + p11 - 1"
    remedy = "audit more items"
    weak = cv > STRONG
    if len(periods.audit.labels) > 2:
        name = "the smallest singular value of P(prediction | truth)"
        remedy += f" or merge {periods.confused}"
        weak |= divisor < LEAST_SINGULAR
    size = f"{name} is {divisor:.2f} with a coefficient of variation of {cv:.2f}"
    widened = _widened(periods, limits.FIELLER)
    if weak:
        yield Note(
            "unreliable",
            f"the audit is too small for this classifier: {size}. The true standard error may be "
            f"1.5 times the stated one, or larger{widened}; {remedy}",
        )
    elif cv > limits.UNSURE:
        text = f"{size}, so the stated standard error is a few percent too small{widened}"
        yield Note("unreliable", text)


def _widened(periods: Any, name: str) -> str:
    """Return the interval that widens the reported one, in words."""
    if limits.WHOLE in periods.constructions:
        return "; intervals are 0 to 1"
    further = periods.constructions[1:]
    for construction in (name, limits.DELTA):  # delta with more than two classes
        if construction in further:
            return f"; intervals are widened to contain {limits.IN_WORDS[construction]}"
    return ""


def about_period(periods: Any, t: int) -> Iterator[tuple[str, str]]:
    """Yield kind and text of the caveats of period t."""
    audit = periods.audit
    size = periods.size[t]
    own = periods.own[t]
    if own:
        named = "it is the audited period"
        equal = "its counts equal those at audit time, so it is taken to be the audited period"
        yield "data", equal if periods.audited is None else named
        if audit.n == size:
            yield "data", "all of its items were audited, so the proportion is known exactly"
    yield from _outside(periods, t)
    if size < 10 * audit.n and not own:
        text = (
            f"the period has {checks.counted(size, 'item')}, fewer than ten per audited item; "
            "the standard error includes the classification errors of these items"
        )
        yield "remark", text
    if own or periods.undefined:
        return
    if periods.method == "mixed" and len(audit.labels) == 2:
        (_, first), (_, later) = periods.believed[0], periods.believed[1][t]
        if later < first / 2 or 1 - later < (1 - first) / 2:
            text = (
                "the proportion of a class has more than halved; 'mixed' can then have a larger "
                "variance than 'misclassification'. 'mle' does not have this problem"
            )
            yield "remark", text


def _outside(periods: Any, t: int) -> Iterator[tuple[str, str]]:
    """Yield the caveats of proportions outside 0 to 1; with two classes, of the second."""
    labels = periods.audit.labels
    estimate = periods.estimate[t]
    least, most = (limit[t] for limit in periods.possible)
    outside = (estimate < least - ROUNDING) | (estimate > most + ROUNDING)
    beyond = periods.beyond[t]
    reported = range(1, 2) if len(labels) == 2 else range(len(labels))
    names = [repr(labels[k]) for k in reported if outside[k]]
    if names:
        where = "the range that the audited items allow" if periods.own[t] else "0 to 1"
        text = (
            f"the estimate of class {', '.join(names)} lies outside {where}, because the counts do "
            "not fit the rates of the audit. This may be chance, or the rates may have changed; "
            "then the interval is wrong. Tables and charts show the nearest possible proportion"
        )
        yield "unreliable", text
    for k in reported:
        if beyond[k]:
            text = (
                f"even the interval of class {labels[k]!r} lies outside 0 to 1. The rates have "
                "changed since the audit, or the counts are of other items. Make a new audit"
            )
            yield "unreliable", text
