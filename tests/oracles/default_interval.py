"""The default interval, one scalar at a time, written from its definition alone."""

import functools
import math

from scipy import special, stats


@functools.cache
def beta_moments(a, b):
    """Variance and third central moment, from scipy's standardized skewness."""
    variance, skewness = map(float, stats.beta.stats(a, b, moments="vs"))
    return variance, skewness * variance**1.5


def rest_moments(weight, free, n, x):
    """Variance and third moment that one stratum's sampling error adds to the others'."""
    p = x / n
    v = weight**2 * free * p * (1 - p) / (n - 1) if n > 1 else 0.0
    t = weight**3 * free**1.5 * 2 * p * (1 - p) * (1 - 2 * p) / ((n + 1) * (n + 2))
    return v, t


def quantile(mu, variance, third, probability, top=1.0):
    """Quantile of the beta on (top - r, top] with the given mean, variance and third central moment.

    It is the top if it is nearer to it than a 100,000th of the way from the mean, and moves there from twice as far.
    """
    d = top - mu
    if d <= 0:
        return top
    distance = top - beta_quantile(mu, variance, third, probability, top)
    return top - distance * min(1, max(0, distance / (1e-5 * d) - 1))


def beta_quantile(mu, variance, third, probability, top):
    """The same without the last step."""
    d = top - mu
    denominator = 2 * variance**2 + third * d
    r = (
        math.inf
        if denominator <= 0
        else (4 * variance**2 * d + third * (d**2 - variance)) / denominator
    )
    if r > 1e7 * d:
        # gamma limit: 1 - gamma(shape d^2/V, scale V/d)
        return top - special.gammaincinv(d**2 / variance, 1 - probability) * variance / d
    s = d * (r - d) / variance - 1
    if s <= 0 or r <= d:
        return top
    return top - r + r * special.betaincinv((1 - d / r) * s, d / r * s, probability)


def upper_limit(size, labeled, correct, tail):
    """Upper limit before rounding and cutting; a fully labeled stratum is a constant."""
    total = sum(size)
    weight = [n / total for n in size]
    free = [1 - n / big for n, big in zip(labeled, size, strict=True)]
    strata = range(len(size))
    estimate = sum(weight[k] * correct[k] / labeled[k] for k in strata)
    parts = [rest_moments(weight[k], free[k], labeled[k], correct[k]) for k in strata]

    candidates = []
    for h in strata:
        n, x = labeled[h], correct[h]
        if x < n and free[h] > 0:
            variance, third = beta_moments(x + 1, n - x)
            candidates.append(
                (
                    estimate + weight[h] * free[h] * ((x + 1) / (n + 1) - x / n),
                    sum(parts[k][0] for k in strata if k != h)
                    + weight[h] ** 2 * free[h] * variance,
                    sum(parts[k][1] for k in strata if k != h)
                    + weight[h] ** 3 * free[h] ** 1.5 * third,
                )
            )
    failures = sorted(
        (k for k in strata if correct[k] == 0 and free[k] > 0),
        key=lambda k: -weight[k] / labeled[k],
    )
    for j in range(1, len(failures) + 1):
        merged = failures[:j]
        w, n = sum(weight[k] for k in merged), sum(labeled[k] for k in merged)
        f = sum(weight[k] * free[k] for k in merged) / w
        if f > 0:
            variance, third = beta_moments(1, n)
            candidates.append(
                (
                    estimate + w * f / (n + 1),
                    sum(p[0] for p in parts) + w**2 * f * variance,
                    sum(p[1] for p in parts) + w**3 * f**1.5 * third,
                )
            )
    top = 1 - sum(weight[k] * (1 - correct[k] / labeled[k]) for k in strata if free[k] == 0)
    limits = [quantile(mu, v, t, 1 - tail, top) for mu, v, t in candidates if v > 0]
    return max(limits, default=top)


def limits(size, labeled, correct, level=0.95):
    """Both limits before rounding, each for this outcome alone, cut at what the labels prove."""
    return cut(
        size,
        labeled,
        correct,
        *(
            highest(size, labeled, side, (1 - level) / 2, [1 << len(size)])
            for side in both(labeled, correct)
        ),
    )


def monotone_limits(size, labeled, correct, level=0.95):
    """Both limits before rounding, each the farthest in of outcomes without a hit in some strata, cut likewise."""
    subsets = range(1 << len(size))
    return cut(
        size,
        labeled,
        correct,
        *(
            highest(size, labeled, side, (1 - level) / 2, subsets)
            for side in both(labeled, correct)
        ),
    )


def both(labeled, correct):
    return correct, [n - x for n, x in zip(labeled, correct, strict=True)]


def highest(size, labeled, hits, tail, subsets):
    """The largest lower limit of the share of hits, over sets of strata (bits) whose hits are taken away."""
    return max(
        1
        - upper_limit(
            size,
            labeled,
            [
                n - x * (not subset >> k & 1)
                for k, (n, x) in enumerate(zip(labeled, hits, strict=True))
            ],
            tail,
        )
        for subset in subsets
    )


def cut(size, labeled, correct, low, high_of_wrong):
    least, most = sum(correct) / sum(size), 1 - (sum(labeled) - sum(correct)) / sum(size)
    return max(low, least), min(1 - high_of_wrong, most)
