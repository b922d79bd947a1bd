"""Inputs on which adapters are checked, small enough to be worked out by hand, and what many adapters need."""

import json
from pathlib import Path
from types import SimpleNamespace as Sample

import numpy as np

Z, T3, T19 = (
    1.959964,
    3.182446,
    2.093024,
)  # normal, and t of 3 and of 19 degrees of freedom, at .975
# 8 of 10 right: p = .8, p(1 - p) = .16
SIMPLE = Sample(y=np.array([1] * 8 + [0] * 2), N=1000)
WILSON, EXACT = (0.490162, 0.943318), (0.443905, 0.974789)
# 20 items, A alone right about 5, B alone about 1: mean .2, variance (6 - 20 * .04) / 19
PAIRED = Sample(a=np.array([1] * 14 + [0] * 6), b=np.array([0] * 5 + [1] * 10 + [0] * 5), truth=0.0)
CHANGED_PLACES = Sample(a=PAIRED.b, b=PAIRED.a, truth=0.0)
PAIRED_SE = (5.2 / 19 / 20) ** 0.5
MCNEMAR = 2 * 7 / 64  # two-sided chance of at most 1 of 6
# 4 clusters of 2, mean .625; residuals of the clusters .75, -.25, -1.25, .75 with squares 2.75 in all
CLUSTERS = Sample(y=np.array([1, 1, 1, 0, 0, 0, 1, 1]), cluster=np.repeat(np.arange(4), 2))
CLUSTER_SE = (2.75 * 4 / 3) ** 0.5 / 8
# scores .9 .4 .8 of members, .1 .35 .5 .2 of others: 11 of 12 pairs in order
SCORED = Sample(
    t=np.array([1, 0, 1, 0, 1, 0, 0]), score=np.array([0.9, 0.1, 0.4, 0.35, 0.8, 0.5, 0.2])
)
# a second model scores members .9 .8 .3: 11 of 12 pairs in order too
# the placements of the members differ by 0, -1/4 and 1/4, those of the others do not
TWO_SCORED = Sample(
    t=SCORED.t,
    a=SCORED.score,
    b=np.array([0.9, 0.1, 0.8, 0.2, 0.3, 0.4, 0.25]),
    predicted_a=np.array([1, 0, 0, 0, 1, 1, 0]),
    predicted_b=np.array([1, 0, 1, 0, 0, 0, 0]),
    cluster=np.arange(7),
    metric="AUC",
    truth=0.0,
)
TWO_BY_F1 = Sample(**vars(TWO_SCORED) | {"metric": "F1"})
TWO_SCORED_SE = (1 / 16 / 3) ** 0.5
# 113 patients with two scores, and what R's pROC says of them
ORACLE = json.loads(
    (Path(__file__).parents[2] / "oracles" / "metric_differences.json").read_text(encoding="utf-8")
)
PATIENTS = Sample(
    t=np.array(ORACLE["patients"]["poor"]),
    a=np.array(ORACLE["patients"]["s100b"]),
    b=np.array(ORACLE["patients"]["wfns"]),
    cluster=np.arange(len(ORACLE["patients"]["poor"])),
    metric="AUC",
    truth=0.0,
)
PATIENTS_LIMITS, PATIENTS_P = (ORACLE["delong"][0][key] for key in ("interval", "pvalue"))
# fold differences with mean .06 and sum of squared deviations .134
FOLDS = np.array([0.1, 0.1, -0.05, 0.15, 0, 0.2, 0.25, 0.05, -0.1, -0.1])
# two strata of 50, 2 values each: means 2 and 6, variances 2 and 8
TOTAL = Sample(
    y=np.array([1.0, 3, 4, 8]), stratum=np.array([0, 0, 1, 1]), N=50, n=2, H=2, bounds=None
)
TOTAL_SE = (50**2 * (1 - 2 / 50) * (2 + 8) / 2) ** 0.5
# 40 items of 3 models: right about 36, 20 and 20; each of the last two is alone right about two
ITEMS = np.arange(40)
MODELS = Sample(
    right=np.array([ITEMS < 36, ITEMS < 20, (ITEMS > 1) & (ITEMS < 22)]).T.astype(int), cluster=None
)
FIRST_IS_BEST = [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
# 10 items judged, 6 of 10 pass; people read 5: one wrong answer passed
JUDGED = Sample(
    verdict=np.array([1, 1, 1, 0, 0, 1, 1, 1, 0, 0]),
    index=np.arange(5),
    human=np.array([1, 1, 0, 0, 0]),
    N=10,
)


def around(middle, reach):
    """Return the limits that lie as far to both sides."""
    return middle - reach, middle + reach


def overlapping(first, second):
    """Return the limits of a difference that hold 0 where the intervals of two models overlap."""
    return first[0] - second[1], first[1] - second[0]


def claims(models, pairs):
    """Return a matrix (M, M) that says of each pair (i, j) that i is better than j."""
    better = np.zeros((models, models), bool)
    for i, j in pairs:
        better[i, j] = True
    return better


def pairs(models):
    """Return the indices of every two models."""
    return list(zip(*np.triu_indices(models, 1), strict=True))


def spread(sample, values):
    """Return values at the places of the labeled items, NaN elsewhere."""
    full = np.full(len(sample.verdict), np.nan)
    full[sample.index] = values
    return full


def unlabeled(sample, size):
    """Return the places of the items that nobody labeled."""
    return np.setdiff1d(np.arange(size), sample.index)


def between_verdicts(sample):
    """Return the sample of two judged models as one of differences."""
    return Sample(verdict=sample.va - sample.vb, human=sample.ha - sample.hb, index=sample.index)


def held_at_every_look(interval, sample):
    """Return the limits that are left after all looks, one point where nothing is left."""
    seen = [interval(sample.y[:k]) for k in sample.looks]
    low, high = max(limits[0] for limits in seen), min(limits[1] for limits in seen)
    return low, max(low, high)
