"""Exact distributions by listing every sample or every outcome."""

import itertools
import math

import numpy as np
from scipy import stats


def items(size, correct):
    """Each stratum as a list of zeros and ones."""
    return [[1] * c + [0] * (n - c) for n, c in zip(size, correct, strict=True)]


def samples_without(size, correct, labeled):
    """Every equally likely sample without replacement, as tuples of counts of right items."""
    strata = [
        [sum(s) for s in itertools.combinations(stratum, n)]
        for stratum, n in zip(items(size, correct), labeled, strict=True)
    ]
    return list(itertools.product(*strata))


def samples_with(size, correct, labeled):
    """Every equally likely ordered sample with replacement, as tuples of counts of right items."""
    strata = [
        [sum(s) for s in itertools.product(stratum, repeat=n)]
        for stratum, n in zip(items(size, correct), labeled, strict=True)
    ]
    return list(itertools.product(*strata))


def outcomes(size, correct, labeled):
    """All outcomes (counts) with their hypergeometric probabilities; size inf means binomial rates `correct`."""
    pmfs = []
    for n_all, c, n in zip(size, correct, labeled, strict=True):
        x = np.arange(n + 1)
        pmfs.append(
            stats.binom.pmf(x, n, c) if math.isinf(n_all) else stats.hypergeom.pmf(x, n_all, c, n)
        )
    grid = np.array(list(itertools.product(*[range(n + 1) for n in labeled])))
    mass = np.prod([pmf[grid[:, k]] for k, pmf in enumerate(pmfs)], axis=0)
    return grid[mass > 0], mass[mass > 0]


def weighted_mean(size, labeled, correct):
    """Estimated share by explicit sums."""
    return sum(n / sum(size) * x / m for n, m, x in zip(size, labeled, correct, strict=True))
