"""Allocations by brute force and by literal loops."""

import itertools
import math


def variance(size, sd, labeled):
    """Variance of the stratified mean, sums written out; a stratum without spread costs nothing."""
    total = sum(size)
    result = 0.0
    for n_all, s, n in zip(size, sd, labeled, strict=True):
        if s == 0:
            continue
        if n == 0:
            return math.inf
        result += (n_all / total) ** 2 * (1 - n / n_all) * s**2 / n
    return result


def best_whole(size, sd, budget, minimum):
    """Smallest variance over every whole-number allocation that spends min(budget, N)."""
    spend = min(budget, sum(size))
    ranges = [range(min(minimum, n), n + 1) for n in size]
    return min(
        variance(size, sd, labeled)
        for labeled in itertools.product(*ranges)
        if sum(labeled) == spend
    )


def neyman(size, sd, budget):
    """Plain Neyman shares of a budget, before any cut."""
    total = sum(n * s for n, s in zip(size, sd, strict=True))
    return [budget * n * s / total for n, s in zip(size, sd, strict=True)]


def neyman_plus(size, sd, budget):
    """Cut at the sizes; hand what was cut in equal parts to the strata not full; repeat."""
    labeled = [min(a, n) for a, n in zip(neyman(size, sd, budget), size, strict=True)]
    left = budget - sum(labeled)
    while left > 1e-9:
        open_strata = [h for h, n in enumerate(size) if labeled[h] < n - 1e-12]
        if not open_strata:
            break
        for h in open_strata:
            labeled[h] = min(labeled[h] + left / len(open_strata), size[h])
        left = budget - sum(labeled)
    return labeled


def neyman_iterated(size, sd, budget, minimum=0):
    """Cochran's rule: who asks for more than there is (or less than the floor) gets that; the rest is shared anew."""
    fixed = {}
    while True:
        open_strata = [h for h in range(len(size)) if h not in fixed]
        total = sum(size[h] * sd[h] for h in open_strata)
        left = budget - sum(fixed.values())
        shares = {h: left * size[h] * sd[h] / total if total else 0 for h in open_strata}
        over = {h: size[h] for h in open_strata if shares[h] > size[h]}
        under = {h: min(minimum, size[h]) for h in open_strata if shares[h] < min(minimum, size[h])}
        # what the caps set free may lift what the floors hold up, or the other way round: the larger goes first
        freed = sum(shares[h] - size[h] for h in over)
        owed = sum(least - shares[h] for h, least in under.items())
        if not over and not under:
            return [fixed.get(h, shares.get(h)) for h in range(len(size))]
        fixed |= over if freed >= owed else under
