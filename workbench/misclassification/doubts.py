"""Caveats of estimates for many periods from one audit, as notes.

Every function takes `periods.Periods`, which imports this module. `few_notes` and `stability_notes`
are about the audit, `about_period` is about one period.
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
    "process": "the error is that of later periods which share the process that made the frame; if "
    "they have the frame's own rates, rates='frame' gives a smaller one",
    "frame": "the finite-population factor assumes that later periods have the frame's own rates; "
    "where they only share its process, intervals are too short (with half of the frame audited "
    "95% intervals cover 79%): then rates='process'",
}


def misfit(audit: Any, frame: np.ndarray) -> str:
    """Return the predicted proportion that differs most between audit and counts, in words."""
    of_audit = audit.table.sum(0) / audit.n
    of_frame = frame / frame.sum()
    k = int(np.abs(of_audit - of_frame).argmax())
    label = audit.labels[k]
    return f"{of_audit[k]:.0%} of it are predicted {label!r} and {of_frame[k]:.0%} are counted"


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
            f"(least: {table.min()}): the standard error is rough{widened}",
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
            f"weak classifier for this audit: {size}; the true error may be half as large again as "
            f"stated, with outliers{widened}; {remedy}",
        )
    elif cv > limits.UNSURE:
        text = f"{size}: the stated error is a few percent too small{widened}"
        yield Note("unreliable", text)


def _widened(periods: Any, name: str) -> str:
    """Return the construction that widens the interval, in words."""
    if limits.WHOLE in periods.constructions:
        return ", intervals are the whole range"
    further = periods.constructions[1:]
    for construction in (name, limits.DELTA):  # delta with more than two classes
        if construction in further:
            return f", intervals are widened by {limits.IN_WORDS[construction]}"
    return ""


def about_period(periods: Any, t: int) -> Iterator[tuple[str, str]]:
    """Yield kind and text of the caveats of period t."""
    audit = periods.audit
    size = periods.size[t]
    own = periods.own[t]
    if own:
        yield "data", "these are the counts at audit time: taken as the audited frame itself"
        if audit.n == size:
            yield "data", "all of its items were audited: the share is known exactly"
    yield from _outside(periods, t)
    if size < 10 * audit.n and not own:
        text = (
            f"the period has {checks.counted(size, 'item')}, fewer than ten per audited item: "
            "its own reading errors matter, the standard error includes them"
        )
        yield "remark", text
    if own or periods.undefined:
        return
    if periods.method == "mixed" and len(audit.labels) == 2:
        (_, first), (_, later) = periods.believed[0], periods.believed[1][t]
        if later < first / 2 or 1 - later < (1 - first) / 2:
            text = (
                "the share has more than halved (or that of the other class): 'mixed' can have "
                "more variance than 'misclassification' here, 'mle' never has"
            )
            yield "remark", text


def _outside(periods: Any, t: int) -> Iterator[tuple[str, str]]:
    """Yield the caveats of shares outside 0 to 1; of two classes the second speaks for both."""
    labels = periods.audit.labels
    estimate = periods.estimate[t]
    least, most = (limit[t] for limit in periods.possible)
    outside = (estimate < least - ROUNDING) | (estimate > most + ROUNDING)
    beyond = periods.beyond[t]
    reported = range(1, 2) if len(labels) == 2 else range(len(labels))
    names = [repr(labels[k]) for k in reported if outside[k]]
    if names:
        where = "what the audited items leave possible" if periods.own[t] else "0 to 1"
        text = (
            f"the estimate of class {', '.join(names)} lies outside {where}: tables and charts "
            "show the nearest possible share; the counts do not fit the audit's rates"
        )
        yield "unreliable", text
    for k in reported:
        if beyond[k]:
            text = (
                f"even the interval of class {labels[k]!r} lies outside 0 to 1: the rates are no "
                "longer those of the audit, or the counts are of something else; draw a fresh audit"
            )
            yield "unreliable", text
