"""What textbooks say: the formulas that people type in themselves, with numpy and scipy."""

import numpy as np
from fixed import (
    CLUSTER_SE,
    CLUSTERS,
    EXACT,
    FIRST_IS_BEST,
    FOLDS,
    MODELS,
    PAIRED,
    PAIRED_SE,
    SCORED,
    SIMPLE,
    T3,
    T19,
    TOTAL,
    TOTAL_SE,
    WILSON,
    Z,
    around,
    claims,
    held_at_every_look,
    pairs,
)
from questions import fold_differences
from scipy import stats

SHARE = "https://doi.org/10.1214/ss/1009213286"  # Brown, Cai & DasGupta 2001
SAMPLING = "https://doi.org/10.1002/0471457574"  # Cochran, as reviewed by Levy & Lemeshow
CLUSTERED = "https://doi.org/10.1093/biomet/73.1.13"  # Liang & Zeger 1986
AUC = "https://doi.org/10.1148/radiology.143.1.7063747"  # Hanley & McNeil 1982
TESTS = "https://doi.org/10.1162/089976698300017197"  # Dietterich 1998
TOSSES = 2_000


def share(method, y):
    found = stats.binomtest(int(y.sum()), int(y.size)).proportion_ci(method=method)
    return found.low, found.high


def wald(y):
    return around(y.mean(), Z * y.std() / y.size**0.5)


def stratified(d):
    weight, n = d.sizes / d.sizes.sum(), d.labeled
    p = np.bincount(d.stratum, d.y, n.size) / n
    return around(
        weight @ p, Z * (weight**2 * (1 - n / d.sizes) * p * (1 - p) / (n - 1)).sum() ** 0.5
    )


def clustered(values, cluster, quantile=Z):
    C, residual = cluster.max() + 1, np.bincount(cluster, values - values.mean())
    return around(
        values.mean(), quantile * (C / (C - 1) * (residual**2).sum()) ** 0.5 / values.size
    )


def clustered_t(values, cluster):
    return clustered(values, cluster, stats.t.ppf(0.975, cluster.max()))


def paired(z):
    return around(z.mean(), stats.t.ppf(0.975, z.size - 1) * stats.sem(z))


def resampled(values, cluster):
    """Return the percentile bootstrap interval of a mean; whole clusters are drawn again."""
    size, total = np.bincount(cluster), np.bincount(cluster, values)
    index = np.random.default_rng(0).integers(0, size.size, (TOSSES, size.size))
    return tuple(np.quantile(total[index].sum(1) / size[index].sum(1), [0.025, 0.975]))


def unpaired(d):
    return around(
        d.a.mean() - d.b.mean(), Z * (d.a.var(ddof=1) + d.b.var(ddof=1)) ** 0.5 / d.a.size**0.5
    )


def subset(d):
    rows = d.p == 1 if d.metric == "precision" else d.t == 1
    return share("wilson", (d.t * d.p)[rows])


def tossed(d):
    cells = np.array(
        [(d.t * d.p).sum(), (d.p > d.t).sum(), (d.t > d.p).sum(), (d.t + d.p == 0).sum()]
    )
    hits, false, lost, _ = (
        np.random.default_rng(0).multinomial(d.t.size, cells / d.t.size, TOSSES).T
    )
    values = {
        "precision": hits / (hits + false),
        "recall": hits / (hits + lost),
        "f1": 2 * hits / (2 * hits + false + lost),
    }[d.metric]
    return tuple(np.nanquantile(values, [0.025, 0.975]))


def hanley_mcneil(d):
    m, n, rank = d.t.sum(), (1 - d.t).sum(), stats.rankdata(d.score)
    auc = (rank[d.t == 1].sum() - m * (m + 1) / 2) / (m * n)
    error = (
        auc * (1 - auc)
        + (m - 1) * (auc / (2 - auc) - auc**2)
        + (n - 1) * (2 * auc**2 / (1 + auc) - auc**2)
    )
    return around(auc, Z * (error / (m * n)) ** 0.5)


def tested(d, level):
    """Claim what two-sided t-tests of pairs find, clusters heeded where there are any."""
    cluster = (
        np.arange(len(d.right))
        if d.cluster is None
        else np.unique(d.cluster, return_inverse=True)[1]
    )
    listed = pairs(d.right.shape[1])
    found = [clustered(z, cluster, 1) for z in (d.right[:, i] - d.right[:, j] for i, j in listed)]
    t = np.array([(low + high) / max(high - low, 1e-12) for low, high in found])
    p = 2 * stats.t.sf(np.abs(t), cluster.max())
    return claims(
        d.right.shape[1],
        [
            pair[:: 1 if side > 0 else -1]
            for pair, side, below in zip(listed, t, level(p), strict=True)
            if below
        ],
    )


def holm(p):
    order, below = np.argsort(p), np.zeros(p.size, bool)
    below[order] = np.logical_and.accumulate(np.sort(p) < 0.05 / np.arange(p.size, 0, -1))
    return below


def apart(d):
    limits = np.array([wald(column) for column in d.right.T])
    return limits[:, :1] > limits[:, 1]


def total(d):
    y = d.y.reshape(d.H, d.n)
    error = (d.N**2 * (1 - d.n / d.N) * y.var(axis=1, ddof=1) / d.n).sum() ** 0.5
    return around(d.N * y.mean(axis=1).sum(), stats.t.ppf(0.975, d.H * (d.n - 1)) * error)


def change(d):
    return around(d.v.mean() - d.old.mean(), Z * ((d.v.var() + d.old.var()) / d.v.size) ** 0.5)


def difference(d):
    z = d.va - d.vb
    return around(z.mean(), Z * z.std() / z.size**0.5)


ROWS = {
    ("Q1", "Wald"): (lambda d: wald(d.y), SHARE),
    ("Q1", "Wilson"): (lambda d: share("wilson", d.y), SHARE),
    ("Q1", "Clopper-Pearson"): (lambda d: share("exact", d.y), SHARE),
    ("Q2", "stratified Wald"): (stratified, SAMPLING),
    ("Q3", "clusters ignored"): (lambda d: wald(d.y), CLUSTERED),
    ("Q3", "clustered, z"): (lambda d: clustered(d.y, d.cluster), CLUSTERED),
    ("Q3", "clustered, t"): (lambda d: clustered_t(d.y, d.cluster), CLUSTERED),
    ("Q3s", "clusters ignored"): (lambda d: wald(d.y), CLUSTERED),
    ("Q3s", "clustered, t"): (lambda d: clustered_t(d.y, d.cluster), CLUSTERED),
    ("Q3s", "percentile bootstrap of clusters"): (lambda d: resampled(d.y, d.cluster), CLUSTERED),
    ("Q4p", "Wilson of the predicted members"): (subset, SHARE),
    ("Q4r", "Wilson of the members"): (subset, SHARE),
    ("Q4p", "percentile bootstrap"): (tossed, SHARE),
    ("Q4r", "percentile bootstrap"): (tossed, SHARE),
    ("Q4f", "percentile bootstrap"): (tossed, SHARE),
    ("Q5", "Hanley-McNeil"): (hanley_mcneil, AUC),
    ("Q6", "paired t"): (lambda d: paired(d.a - d.b), TESTS),
    ("Q6", "two samples, z"): (unpaired, TESTS),
    ("Q6g", "paired t"): (lambda d: paired(d.a - d.b), TESTS),
    ("Q6g", "percentile bootstrap"): (lambda d: resampled(d.a - d.b, np.arange(d.a.size)), TESTS),
    ("Q6c", "clusters ignored"): (lambda d: paired(d.a - d.b), CLUSTERED),
    ("Q6c", "clustered, t"): (lambda d: clustered_t(d.a - d.b, d.cluster), CLUSTERED),
    ("Q6s", "clusters ignored"): (lambda d: paired(d.a - d.b), CLUSTERED),
    ("Q6s", "clustered, t"): (lambda d: clustered_t(d.a - d.b, d.cluster), CLUSTERED),
    ("Q6s", "percentile bootstrap of clusters"): (
        lambda d: resampled(d.a - d.b, d.cluster),
        CLUSTERED,
    ),
    ("Q7", "t of each pair"): (lambda d: tested(d, lambda p: p < 0.05), TESTS),
    ("Q7", "t of each pair, Holm"): (lambda d: tested(d, holm), TESTS),
    ("Q7", "intervals apart"): (apart, TESTS),
    ("Q8", "labels alone, Wilson"): (lambda d: share("wilson", d.human), SHARE),
    ("Q8", "judge alone, Wilson"): (lambda d: share("wilson", d.verdict), SHARE),
    ("Q8d", "judge alone"): (difference, TESTS),
    ("Q8d", "labels alone, t"): (lambda d: paired(d.ha - d.hb), TESTS),
    ("Q9", "counts alone"): (lambda d: share("wilson", d.v), SHARE),
    ("Q9c", "counts alone"): (change, SHARE),
    ("Q10", "paired t over the folds"): (lambda d: paired(fold_differences(d)), TESTS),
    ("Q11", "stratified t"): (total, SAMPLING),
    ("Q12", "Wilson at each look"): (
        lambda d: held_at_every_look(lambda y: share("wilson", y), d),
        SHARE,
    ),
}
CHECKED = [
    ("Wald, 8 of 10, by hand", lambda: wald(SIMPLE.y), around(0.8, Z * 0.016**0.5), 1e-6),
    ("Wilson, 8 of 10", lambda: share("wilson", SIMPLE.y), WILSON, 1e-5),
    ("Clopper-Pearson, 8 of 10", lambda: share("exact", SIMPLE.y), EXACT, 1e-5),
    (
        "four clusters, by hand",
        lambda: clustered_t(CLUSTERS.y, CLUSTERS.cluster),
        around(0.625, T3 * CLUSTER_SE),
        1e-5,
    ),
    ("paired t, by hand", lambda: paired(PAIRED.a - PAIRED.b), around(0.2, T19 * PAIRED_SE), 1e-5),
    # two clusters drawn of two: both 0, one of each, both 1, with chances 1/4, 1/2, 1/4
    (
        "bootstrap of two clusters, by hand",
        lambda: resampled(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])),
        (0, 1),
        0,
    ),
    (
        "t of folds, by hand",
        lambda: paired(FOLDS),
        around(0.06, 2.262157 * (0.134 / 90) ** 0.5),
        1e-5,
    ),
    (
        "total of two strata, t, by hand",
        lambda: total(TOTAL),
        around(400, 4.302653 * TOTAL_SE),
        1e-3,
    ),
    # Q1 = A / (2 - A) = .846154, Q2 = 2 A^2 / (1 + A) = .876812 at A = 11 / 12
    (
        "Hanley-McNeil, by hand",
        lambda: hanley_mcneil(SCORED),
        around(
            11 / 12,
            Z * ((11 / 144 + 2 * (11 / 13 - 121 / 144) + 3 * (242 / 276 - 121 / 144)) / 12) ** 0.5,
        ),
        1e-6,
    ),
    (
        "the first of three models is better than the others",
        lambda: tested(MODELS, holm),
        FIRST_IS_BEST,
        0,
    ),
]
