"""Seven ways to cut scores, written from their definitions; labels by rising score."""

import math

import numpy as np
from scipy import stats


def root_density(score, n_strata, power):
    """Equal steps of the cumulated root of scipy's Gaussian kernel density on 512 points."""
    score = np.asarray(score, float)
    grid = np.linspace(score.min(), score.max(), 512)
    root = stats.gaussian_kde(score, "scott")(grid) ** power
    total = np.array([np.trapezoid(root[: i + 1], grid[: i + 1]) for i in range(grid.size)])
    return [np.interp(total[-1] * k / n_strata, total, grid) for k in range(1, n_strata)]


def cells(score, cuts):
    """Index of the cell (low, high] of each score, empty cells dropped."""
    index = [sum(s > cut for cut in cuts) for s in score]
    return dense(index)


def dense(labels):
    """Relabel 0, 1, ... in order, without gaps."""
    names = {name: i for i, name in enumerate(sorted(set(labels)))}
    return np.array([names[label] for label in labels])


def equal_totals(score, n_strata):
    """Walk up the sorted scores; a stratum closes with the item at which its share of the total is reached."""
    ordered = sorted(map(float, score))
    total, running, cuts = math.fsum(ordered), [], []
    for s in ordered:
        running.append(s)
        while len(cuts) < n_strata - 1 and math.fsum(running) >= total * (len(cuts) + 1) / n_strata:
            cuts.append(s)
    return cells(score, cuts)


def equal_sizes(n, n_strata):
    """Sizes of the strata when the ranks are cut at ceil(k n / K)."""
    cut = [
        math.ceil(k * n / n_strata) if (k * n) % n_strata else k * n // n_strata
        for k in range(n_strata + 1)
    ]
    return [b - a for a, b in zip(cut, cut[1:], strict=False)]


def best_inertia(score, n_strata):
    """Smallest sum of squared distances to K centers, by dynamic programming over sorted scores."""
    x = np.sort(np.asarray(score, float))
    n = x.size
    s, q = np.concatenate([[0], x.cumsum()]), np.concatenate([[0], (x * x).cumsum()])
    i, j = np.arange(n)[:, None], np.arange(1, n + 1)[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(j > i, q[j] - q[i] - (s[j] - s[i]) ** 2 / np.maximum(j - i, 1), np.inf)
    best = cost[0]
    for _ in range(n_strata - 1):
        shifted = np.concatenate([[np.inf], best[:-1]])
        best = np.minimum(best, (shifted[:, None] + cost).min(0))
    return best[-1]


def inertia(score, labels):
    """Sum of squared distances to the strata's means."""
    score = np.asarray(score, float)
    return sum(
        ((score[labels == k] - score[labels == k].mean()) ** 2).sum() for k in np.unique(labels)
    )
