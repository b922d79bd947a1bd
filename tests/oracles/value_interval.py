"""The bounded and the default interval for any values, one label at a time, written from their definition alone."""

import statistics

import numpy as np
from scipy import stats

from oracles.default_interval import beta_moments, quantile


def central(values, power):
    center = statistics.fmean(values)
    return statistics.fmean([(value - center) ** power for value in values])


def upper_limit(strata, tail, more_values=None, stretch=1.0):
    """Upper limit before rounding and cutting; strata are (size, labels as a list of values, lowest, highest).

    One label more has the highest value of its stratum, or that of `more_values`.
    """
    if more_values is None:
        more_values = [high for *_, high in strata]
    total = sum(size for size, *_ in strata)
    weight = [size / total for size, *_ in strata]
    free = [1 - len(labels) / size for size, labels, *_ in strata]
    estimate = sum(
        w * statistics.fmean(labels) for w, (_, labels, *_) in zip(weight, strata, strict=True)
    )
    top = sum(
        w * (high if f > 0 else statistics.fmean(labels))
        for w, f, (_, labels, _, high) in zip(weight, free, strata, strict=True)
    )
    parts = [
        (
            w**2 * f * central(labels, 2) / (len(labels) - 1) if f > 0 else 0.0,
            2 * w**3 * f**1.5 * central(labels, 3) / ((len(labels) + 1) * (len(labels) + 2)),
        )
        for w, f, (_, labels, *_) in zip(weight, free, strata, strict=True)
    ]
    candidates = []
    for h, ((_, labels, _, _), one_more) in enumerate(zip(strata, more_values, strict=True)):
        if free[h] > 0 and statistics.fmean(labels) < one_more:
            more, n = [*labels, one_more], len(labels)
            candidates.append(
                (
                    estimate
                    + weight[h] * free[h] * (statistics.fmean(more) - statistics.fmean(labels)),
                    sum(v for k, (v, _) in enumerate(parts) if k != h)
                    + weight[h] ** 2 * free[h] * central(more, 2) / (n + 2),
                    sum(t for k, (_, t) in enumerate(parts) if k != h)
                    + 2 * weight[h] ** 3 * free[h] ** 1.5 * central(more, 3) / ((n + 2) * (n + 3)),
                )
            )
    reach = [
        w * (one_more - statistics.fmean(labels))
        for w, (_, labels, _, _), one_more in zip(weight, strata, more_values, strict=True)
    ]
    gaps = [
        (max(labels) - min(labels), one_more - max(labels))
        for (_, labels, *_), one_more in zip(strata, more_values, strict=True)
    ]
    if more_values != [high for *_, high in strata]:
        reach = [
            r * min(1, max(0, 2 - 2 * spread / gap)) if gap > 0 else 0
            for r, (spread, gap) in zip(reach, gaps, strict=True)
        ]
    close = sorted(
        (
            k
            for k, (_, labels, low, high) in enumerate(strata)
            if free[k] > 0 and low < high and gaps[k][0] < gaps[k][1]
        ),
        key=lambda k: -reach[k] / len(strata[k][1]),
    )
    for j in range(2, len(close) + 1):
        w, n = sum(reach[k] for k in close[:j]), sum(len(strata[k][1]) for k in close[:j])
        f = sum(reach[k] * free[k] for k in close[:j]) / w
        variance, third = beta_moments(1, n)
        candidates.append(
            (
                estimate + w * f / (n + 1),
                sum(v for v, _ in parts) + w**2 * f * variance,
                sum(t for _, t in parts) + w**3 * f**1.5 * third,
            )
        )
    return max(
        (
            quantile(mean, variance * stretch**2, third * stretch**3, 1 - tail, top)
            for mean, variance, third in candidates
            if variance > 0
        ),
        default=top,
    )


def default_upper_limit(strata, tail):
    """Upper limit where one label more has the largest value seen, as far as the labels carry that."""
    total = sum(size for size, *_ in strata)
    sampled = [
        (size / total, labels, statistics.fmean(labels), 1 - len(labels) / size)
        for size, labels, *_ in strata
        if len(labels) < size
    ]
    if not sampled:
        return upper_limit(strata, tail)
    reach = max(high - low for *_, low, high in strata)
    carried = trusted([(w, labels) for w, labels, *_ in sampled], reach)
    farthest = max(max(labels) - mean for _, labels, mean, _ in sampled)
    more = []
    for _, labels, _, high in strata:
        seen = min(high, max(max(labels), statistics.fmean(labels) + farthest))
        more.append(high - carried * (high - seen))
    terms = [w**2 * f * statistics.variance(labels) / len(labels) for w, labels, _, f in sampled]
    spare = [len(labels) - 1 for _, labels, *_ in sampled]
    squares = sum(term**2 / df for term, df in zip(terms, spare, strict=True))
    df = sum(terms) ** 2 / squares if squares else 1
    ratio = stats.t.ppf(tail, df) / stats.t.ppf(tail, sum(spare) + len(spare) - 1)
    bounded = upper_limit(strata, tail)
    return (
        min(bounded, upper_limit(strata, tail, more, 1 + carried * (ratio - 1)))
        if carried
        else bounded
    )


def trusted(strata, reach):
    """How far labels show where large values end; strata are (weight, labels).

    As far as the items that make up the spread above the means rise from one to four, and x^3 is no
    linear function of 1, x and x^2, as it is of three values.
    """
    weight = np.concatenate([[w / len(labels)] * len(labels) for w, labels in strata])
    values = np.concatenate([labels for _, labels in strata]).astype(float)
    off = values - np.concatenate(
        [[statistics.fmean(labels)] * len(labels) for _, labels in strata]
    )
    above = weight * np.maximum(off, 0)
    if not above.any():
        return 0.0
    items = above.sum() ** 2 / (above**2).sum()
    root = np.sqrt(weight / weight.sum())
    x = (values - np.average(values, weights=weight)) / np.sqrt(
        np.cov(values, aweights=weight, ddof=0)
    )
    left = root * x**3
    explained = np.linalg.lstsq(root[:, None] * np.stack([x**0, x, x**2], 1), left, rcond=None)[0]
    left_over = ((left - root * (explained[0] + explained[1] * x + explained[2] * x**2)) ** 2).sum()
    alone = (left**2).sum() - (root * left).sum() ** 2
    spread = (np.average(off**2, weights=weight) / reach**2) ** 2
    return (
        np.clip((items - 1) / 3, 0, 1)
        * np.clip((left_over / alone - 1e-6) / 5e-4, 0, 1)
        * spread
        / (spread + 1e-3**4)
    )


def limits(strata, level=0.95, upper=upper_limit):
    """Both limits before rounding and cutting."""
    tail = (1 - level) / 2
    mirrored = [
        (size, [-value for value in labels], -high, -low) for size, labels, low, high in strata
    ]
    return -upper(mirrored, tail), upper(strata, tail)
