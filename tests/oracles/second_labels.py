"""Accuracy corrected by second labels, item by item, written from its definition alone."""

import math
import statistics

from oracles import value_interval

ENDLESS = 1e12


def shared(twice):
    """Items right and twice called wrong, and wrong and twice called right, as expected; and their variance."""
    count = {
        key: sum(item == key for item in twice)
        for key in {(a, b, d) for a in (0, 1) for b in (0, 1) for d in (0, 1)}
    }
    right, wrong = count[1, 1, 1], count[0, 0, 0]
    hidden_right = hidden_wrong = 0.0
    for _ in range(8):
        hidden_right, hidden_wrong = (
            min(count[1, 0, 1] * count[0, 1, 1] / (right - hidden_wrong + 1), wrong),
            min(count[1, 0, 0] * count[0, 1, 0] / (wrong - hidden_right + 1), right),
        )
    variance = sum(
        s**2 * (1 / a + 1 / b)
        for s, a, b in (
            (hidden_right, count[1, 0, 1], count[0, 1, 1]),
            (hidden_wrong, count[1, 0, 0], count[0, 1, 0]),
        )
        if s
    )
    return hidden_right - hidden_wrong, variance


def limits(strata, level=0.95):
    """Estimate and limits of strata (size, first labels of items with one, triples of items with two)."""
    total = sum(size for size, *_ in strata)
    parts, scale, shift, variance = [], 0.0, 0.0, 0.0
    for size, once, twice in strata:
        w = len(twice) / (len(once) + len(twice))
        parts.append(
            (ENDLESS * size, [w * first + decided - first for first, _, decided in twice], w - 1, 1)
        )
        if once:
            parts.append((ENDLESS * size * (1 - w), list(once), 0, 1))
        hidden, spread = shared(twice)
        shift += size / total * hidden / len(twice)
        variance += (size / total / len(twice)) ** 2 * spread
    scale = sum(size for size, *_ in parts) / ENDLESS / total
    estimate = sum(size / ENDLESS / total * statistics.fmean(labels) for size, labels, *_ in parts)
    low, high = (scale * limit for limit in value_interval.limits(parts, level))
    z = statistics.NormalDist().inv_cdf((1 + level) / 2)
    return (
        estimate + shift,
        max(0, estimate + shift - math.sqrt((estimate - low) ** 2 + z * z * variance)),
        min(1, estimate + shift + math.sqrt((high - estimate) ** 2 + z * z * variance)),
    )
