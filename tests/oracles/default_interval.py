"""The default interval, one scalar at a time, written from its definition alone."""
import math

from scipy import stats


def beta_variance(a, b):
    return stats.beta(a, b).var()


def beta_third(a, b):
    """Third central moment, from scipy's standardized skewness."""
    frozen = stats.beta(a, b)
    return float(frozen.stats("s")) * frozen.std() ** 3


def rest_moments(weight, free, n, x):
    """Variance and third moment that one stratum's sampling error adds to the others'."""
    p = x / n
    v = weight**2 * free * p * (1 - p) / (n - 1) if n > 1 else 0.0
    t = weight**3 * free**1.5 * 2 * p * (1 - p) * (1 - 2 * p) / ((n + 1) * (n + 2))
    return v, t


def quantile(mu, variance, third, probability, top=1.0):
    """Quantile of the beta on (top - r, top] with the given mean, variance and third central moment."""
    d = top - mu
    if d <= 0:
        return top
    denominator = 2 * variance**2 + third * d
    r = math.inf if denominator <= 0 else (4 * variance**2 * d + third * (d**2 - variance)) / denominator
    if r > 1e7 * d:
        # gamma limit: 1 - gamma(shape d^2/V, scale V/d)
        return top - stats.gamma.ppf(1 - probability, d**2 / variance, scale=variance / d)
    s = d * (r - d) / variance - 1
    if s <= 0 or r <= d:
        return top
    return top - r + r * stats.beta.ppf(probability, (1 - d / r) * s, d / r * s)


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
            candidates.append((
                estimate + weight[h] * free[h] * ((x + 1) / (n + 1) - x / n),
                sum(parts[k][0] for k in strata if k != h) + weight[h]**2 * free[h] * beta_variance(x + 1, n - x),
                sum(parts[k][1] for k in strata if k != h) + weight[h]**3 * free[h]**1.5 * beta_third(x + 1, n - x)))
    failures = sorted((k for k in strata if correct[k] == 0 and free[k] > 0), key=lambda k: -weight[k] / labeled[k])
    for j in range(1, len(failures) + 1):
        merged = failures[:j]
        w, n = sum(weight[k] for k in merged), sum(labeled[k] for k in merged)
        f = sum(weight[k] * free[k] for k in merged) / w
        if f > 0:
            candidates.append((
                estimate + w * f / (n + 1),
                sum(p[0] for p in parts) + w**2 * f * beta_variance(1, n),
                sum(p[1] for p in parts) + w**3 * f**1.5 * beta_third(1, n)))
    top = 1 - sum(weight[k] * (1 - correct[k] / labeled[k]) for k in strata if free[k] == 0)
    limits = [quantile(mu, v, t, 1 - tail, top) for mu, v, t in candidates if v > 0]
    return max(limits, default=top)


def limits(size, labeled, correct, level=0.95):
    """Both limits before rounding, each for this outcome alone, cut at what the labels prove."""
    return cut(size, labeled, correct, *(highest(size, labeled, side, (1 - level) / 2, [1 << len(size)])
                                         for side in both(labeled, correct)))


def monotone_limits(size, labeled, correct, level=0.95):
    """Both limits before rounding, each the farthest in of outcomes without a hit in some strata, cut likewise."""
    subsets = range(1 << len(size))
    return cut(size, labeled, correct, *(highest(size, labeled, side, (1 - level) / 2, subsets)
                                         for side in both(labeled, correct)))


def both(labeled, correct):
    return correct, [n - x for n, x in zip(labeled, correct, strict=True)]


def highest(size, labeled, hits, tail, subsets):
    """The largest lower limit of the share of hits, over sets of strata (bits) whose hits are taken away."""
    return max(1 - upper_limit(size, labeled, [n - x * (not subset >> k & 1) for k, (n, x) in
                                               enumerate(zip(labeled, hits, strict=True))], tail)
               for subset in subsets)


def cut(size, labeled, correct, low, high_of_wrong):
    least, most = sum(correct) / sum(size), 1 - (sum(labeled) - sum(correct)) / sum(size)
    return max(low, least), min(1 - high_of_wrong, most)
