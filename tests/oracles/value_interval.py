"""The default interval for any values, one label at a time, written from its definition alone."""
import math
import statistics

from scipy import special

from oracles.default_interval import beta_moments


def central(values, power):
    center = statistics.fmean(values)
    return statistics.fmean([(value - center) ** power for value in values])


def quantile(mu, variance, third, top, probability):
    """Quantile of the beta on (top - r, top] with the given mean, variance and third central moment."""
    d = top - mu
    if d <= 0:
        return top
    slack = 2 * variance ** 2 + third * d
    r = math.inf if slack <= 0 else (4 * variance ** 2 * d + third * (d ** 2 - variance)) / slack
    if r > 1e7 * d:
        return top - special.gammaincinv(d ** 2 / variance, 1 - probability) * variance / d
    s = d * (r - d) / variance - 1
    if s <= 0:
        return top
    return top - r + r * special.betaincinv((1 - d / r) * s, d / r * s, probability)


def upper_limit(strata, tail):
    """Upper limit before rounding and cutting; strata are (size, labels as a list of values, lowest, highest)."""
    total = sum(size for size, *_ in strata)
    weight = [size / total for size, *_ in strata]
    free = [1 - len(labels) / size for size, labels, *_ in strata]
    estimate = sum(w * statistics.fmean(labels) for w, (_, labels, *_) in zip(weight, strata, strict=True))
    top = sum(w * (high if f > 0 else statistics.fmean(labels))
              for w, f, (_, labels, _, high) in zip(weight, free, strata, strict=True))
    parts = [(w ** 2 * f * central(labels, 2) / (len(labels) - 1) if f > 0 else 0.0,
              2 * w ** 3 * f ** 1.5 * central(labels, 3) / ((len(labels) + 1) * (len(labels) + 2)))
             for w, f, (_, labels, *_) in zip(weight, free, strata, strict=True)]
    candidates = []
    for h, (_, labels, _, high) in enumerate(strata):
        if free[h] > 0 and statistics.fmean(labels) < high:
            more, n = [*labels, high], len(labels)
            candidates.append((
                estimate + weight[h] * free[h] * (statistics.fmean(more) - statistics.fmean(labels)),
                sum(v for k, (v, _) in enumerate(parts) if k != h)
                + weight[h] ** 2 * free[h] * central(more, 2) / (n + 2),
                sum(t for k, (_, t) in enumerate(parts) if k != h)
                + 2 * weight[h] ** 3 * free[h] ** 1.5 * central(more, 3) / ((n + 2) * (n + 3))))
    reach = [w * (high - statistics.fmean(labels)) for w, (_, labels, _, high) in zip(weight, strata, strict=True)]
    close = sorted((k for k, (_, labels, low, high) in enumerate(strata)
                    if free[k] > 0 and low < high and max(labels) - min(labels) < high - max(labels)),
                   key=lambda k: -reach[k] / len(strata[k][1]))
    for j in range(2, len(close) + 1):
        w, n = sum(reach[k] for k in close[:j]), sum(len(strata[k][1]) for k in close[:j])
        f = sum(reach[k] * free[k] for k in close[:j]) / w
        variance, third = beta_moments(1, n)
        candidates.append((estimate + w * f / (n + 1), sum(v for v, _ in parts) + w ** 2 * f * variance,
                           sum(t for _, t in parts) + w ** 3 * f ** 1.5 * third))
    return max((quantile(*candidate, top, 1 - tail) for candidate in candidates if candidate[1] > 0), default=top)


def limits(strata, level=0.95):
    """Both limits before rounding and cutting."""
    tail = (1 - level) / 2
    mirrored = [(size, [-value for value in labels], -high, -low) for size, labels, low, high in strata]
    return -upper_limit(mirrored, tail), upper_limit(strata, tail)
