"""What makes the estimates of many periods from one audit doubtful, as notes.

Every function takes `periods.Periods`, which imports this module.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench import checks
from workbench.misclassification import limits
from workbench.results import Note
from workbench.results.digits import ROUNDING

STRONG = 0.2  # what is divided by may be 40% off


def few_notes(periods: Any) -> Iterator[Note]:
    """Yield the note on cells of the audit that hold few items."""
    table = periods.audit.table
    few = int((table < limits.FEW).sum())
    if few:
        hold = "holds" if few == 1 else "hold"
        yield Note(
            "unreliable",
            f"{few} of {table.size} cells of the audit {hold} fewer than {limits.FEW} items "
            f"(least: {table.min()}): the standard error is rough{_widened(periods, limits.ONE_ADDED)}",
        )


def stability_notes(periods: Any) -> Iterator[Note]:
    """Yield the note on a classifier that is weak for the audit."""
    (value, cv), two = periods.stability, len(periods.audit.labels) == 2
    what = "p00 + p11 - 1" if two else "the smallest singular value of P(prediction | truth)"
    remedy = "audit more items" + ("" if two else f" or merge {periods.confused}")
    if cv > STRONG or (
        not two and value < 0.2
    ):  # errors of counts become up to five times as large
        yield Note(
            "unreliable",
            f"weak classifier for this audit: {what} is {value:.2f} with a coefficient of "
            f"variation of {cv:.2f}; the true error may be half as large again as stated, with outliers"
            f"{_widened(periods, limits.FIELLER)}; {remedy}",
        )
    elif cv > limits.UNSURE:
        yield Note(
            "unreliable",
            f"{what} is {value:.2f} with a coefficient of variation of {cv:.2f}: the stated error "
            f"is a few percent too small{_widened(periods, limits.FIELLER)}",
        )


def _widened(periods: Any, name: str) -> str:
    """Return what widens the interval, in words: `name`, or with more than two classes the delta method."""
    if limits.WHOLE in periods.constructions:
        return ", intervals are the whole range"
    found = [made for made in (name, limits.DELTA) if made in periods.constructions[1:]]
    return f", intervals are widened by {limits.IN_WORDS[found[0]]}" if found else ""


def about_period(periods: Any, t: int) -> Iterator[tuple]:
    """Yield kind and text of what the reader has to know of period t."""
    if periods.own[t]:
        yield "data", "these are the counts at audit time: taken as the audited frame itself"
        if periods.audit.n == periods.size[t]:
            yield "data", "all of its items were audited: the share is known exactly"
    yield from _outside(periods, t)
    if periods.size[t] < 10 * periods.audit.n and not periods.own[t]:
        yield (
            "remark",
            (
                f"the period has {checks.counted(periods.size[t], 'item')}, fewer than ten per audited item: "
                "its own reading errors matter, the standard error includes them"
            ),
        )
    if (
        len(periods.audit.labels) == 2
        and periods.divides
        and not (periods.own[t] or periods.undefined)
    ):
        yield from _about_shift(periods, t)


def _outside(periods: Any, t: int) -> Iterator[tuple]:
    """Yield what there is to say of shares that lie outside 0 to 1; of two classes the second speaks for both."""
    labels, estimate = periods.audit.labels, periods.estimate[t]
    least, most = (limit[t] for limit in periods.possible)
    shown = np.arange(len(labels)) >= (1 if len(labels) == 2 else 0)
    outside = np.flatnonzero(shown & ((estimate < least - ROUNDING) | (estimate > most + ROUNDING)))
    if outside.size:
        named = ", ".join(f"{labels[k]!r}" for k in outside)
        where = "what the audited items leave possible" if periods.own[t] else "0 to 1"
        yield (
            "unreliable",
            (
                f"the estimate of class {named} lies outside {where}: tables and charts show the nearest "
                "possible share; the counts do not fit the audit's rates"
            ),
        )
    for k in np.flatnonzero(shown & periods.beyond[t]):
        yield (
            "unreliable",
            (
                f"even the interval of class {labels[k]!r} lies outside 0 to 1: the rates are no longer "
                "those of the audit, or the counts are of something else; draw a fresh audit"
            ),
        )


def _about_shift(periods: Any, t: int) -> Iterator[tuple]:
    (_, first), (_, later) = periods.believed[0], periods.believed[1][t]
    if periods.method == "mixed" and (later < first / 2 or 1 - later < (1 - first) / 2):
        yield (
            "remark",
            (
                "the share has more than halved (or that of the other class): 'mixed' can have more variance "
                "than 'misclassification' here, 'mle' never has"
            ),
        )
    if periods.audit.weighted is not None:  # 'calibration' takes no weights
        return
    ours, calibration = (each.expected_error[t, 1] for each in (periods, periods.calibrated))
    if calibration < ours:
        yield (
            "remark",
            (
                f"the shift is small against the noise: 'calibration' would have less expected error here "
                f"(RMSE {calibration:.4f} against {ours:.4f}), but it holds P(truth | prediction) constant "
                "and would report only a part of a change"
            ),
        )
