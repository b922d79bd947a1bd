"""Names, numbers and axes in titles and labels, for data of any size."""
from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

LETTERS = 18


def values_axis(values: Sequence, labeled: bool = True) -> alt.Axis:
    """Return an axis whose labels stay short for any size of loss."""
    largest = max(map(abs, values))
    extreme = largest >= 1e7 or 0 < largest < 1e-3
    return alt.Axis(format="~e" if extreme else alt.Undefined, labelOverlap=True, tickCount=7, labelSeparation=6,
                    labels=labeled, ticks=labeled)


def two_lines() -> alt.Axis:
    """Return an axis of names that breaks them at their comma: a phone has no room for them in one line."""
    second = {"condition": {"test": "indexof(datum.label, ', ') >= 0", "value": -8}, "value": 0}
    return alt.Axis(labelExpr="split(datum.label, ', ')", labelOffset=second)


def padded(values: Sequence) -> alt.Scale:
    """Return a scale with some room around the values, also where they are all the same."""
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.1 * abs(low) or 1.0
    return alt.Scale(domain=[low - room, high + room], nice=False, zero=False)


def short_names(models: Sequence[str]) -> list[str]:
    """Return the names cut to a length that fits a legend, still all different."""
    short = [limited(name, LETTERS) for name in models]
    return [name if short.count(name) == 1 else f"{limited(model, LETTERS - 5)} ({k + 1})"
            for k, (name, model) in enumerate(zip(short, models, strict=True))]


def limited(text: str, most: int) -> str:
    """Return a name without its middle where it is too long: names often differ at their ends only."""
    return text if len(text) <= most else f"{text[:most - most // 3 - 1]}…{text[-(most // 3):]}"


def number(value: float, digits: int = 3) -> str:
    """Return a number with some digits, without an exponent from .001 to ten million."""
    if 1000 <= abs(value) < 1e7:
        return f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.{digits}g}"


def between(low: float, high: float) -> str:
    """Return two ends with as many digits as tell them apart."""
    apart = (high - low) / max(abs(low), abs(high), 1e-300)
    digits = 3 if apart == 0 else min(15, max(3, 2 - math.floor(math.log10(apart))))
    return f"{number(low, digits)} to {number(high, digits)}"


def short(value: float, digits: int = 3) -> str:
    """Return a share below 1 without its leading zero."""
    text = f"{value:.{digits}f}"
    return "0" if value == 0 else text.replace("0.", ".", 1) if abs(value) < 1 else text


def share(value: float, *others: float) -> str:
    """Return a share below 1 without its leading zero, with the digits of `decimal`."""
    return "0" if value == 0 else decimal(value, *others).replace("0.", ".", 1) if abs(value) < 1 else \
        short(value)


def decimal(value: float, *others: float) -> str:
    """Return a share with as many digits, at least three, as tell it from 0, 1 and others."""
    if 0 < abs(value) < 1e-6:
        return number(value, 2)
    apart = {0.0, 1.0, *others} - {value}
    digits = next((digits for digits in range(3, 15)
                   if not any(round(value, digits) == round(other, digits) for other in apart)), 15)
    return f"{value:.{digits}f}"


def short_p(p: float) -> str:
    """Return a p-value without its leading zero, small ones with an exponent, never 0."""
    if p < 1e-300:
        return "< 1e-300"
    return f"{p:.1e}" if p < 1e-4 else short(p, 4 if p < 0.01 else 3)


def probability(p: float) -> str:
    """Return a probability with three digits, never rounded to 0 or 1."""
    return "< .001" if p < 0.0005 else "> .999" if p > 0.9995 else short(p)
