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
    PATIENTS,
    PATIENTS_LIMITS,
    SCORED,
    SIMPLE,
    T3,
    T19,
    TOTAL,
    TOTAL_SE,
    TWO_BY_F1,
    TWO_SCORED,
    TWO_SCORED_SE,
    WILSON,
    Z,
    around,
    claims,
    held_at_every_look,
    pairs,
)
from measure import of_metric
from questions import fold_differences
from scipy import stats

SHARE = "https://doi.org/10.1214/ss/1009213286"  # Brown, Cai & DasGupta 2001
SAMPLING = "https://doi.org/10.1002/0471457574"  # Cochran, as reviewed by Levy & Lemeshow
CLUSTERED = "https://doi.org/10.1093/biomet/73.1.13"  # Liang & Zeger 1986
AUC = "https://doi.org/10.1148/radiology.143.1.7063747"  # Hanley & McNeil 1982
TESTS = "https://doi.org/10.1162/089976698300017197"  # Dietterich 1998
DELONG = "https://doi.org/10.2307/2531595"  # DeLong, DeLong & Clarke-Pearson 1988
OBUCHOWSKI = "https://doi.org/10.2307/2533958"  # Obuchowski 1997, clustered ROC curves
BOOTSTRAP = "https://doi.org/10.1201/9780429246593"  # Efron & Tibshirani 1993
TOSSES = 2_000
METRIC_TOSSES = 1_000


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


def order(d, score):
    """Return 1 where a member scores above another item, 1/2 where they tie."""
    difference = np.subtract.outer(score[d.t == 1], score[d.t == 0])
    return (np.sign(difference) + 1) / 2


def delong(d, cluster):
    """Return DeLong's interval of a difference; placements are summed by cluster first."""
    excess = order(d, d.a) - order(d, d.b)
    difference, patients = excess.mean(), cluster.max() + 1
    sums, covered, sizes = [], [], excess.shape
    for axis, member in ((1, 1), (0, 0)):
        of_cluster = cluster[d.t == member]
        residual = excess.mean(axis) - difference
        sums.append(np.bincount(of_cluster, residual, patients))
        covered.append(np.unique(of_cluster).size)
    variance = 2 * patients / (patients - 1) * (sums[0] @ sums[1]) / (sizes[0] * sizes[1])
    for values, count, size in zip(sums, covered, sizes, strict=True):
        variance += count / (count - 1) * (values @ values) / size**2
    return around(difference, Z * max(variance, 0) ** 0.5)


@of_metric("AUC")
def delong_of_items(d):
    return delong(d, np.arange(d.t.size))


@of_metric("AUC")
def delong_of_patients(d):
    return delong(d, d.cluster)


def metric_differences(d, times):
    """Return the difference in resamples that hold each item so many times."""
    if d.metric == "AUC":
        members, others = times[:, d.t == 1], times[:, d.t == 0]
        above = ((members @ (order(d, d.a) - order(d, d.b))) * others).sum(1)
        return above / (members.sum(1) * others.sum(1))
    f1 = [
        2 * (times @ (d.t * predicted)) / (times @ (d.t + predicted))
        for predicted in (d.predicted_a, d.predicted_b)
    ]
    return f1[0] - f1[1]


def metric_resampled(d, cluster):
    """Return the percentile bootstrap interval; whole clusters are drawn again.

    A resample with one class only is left out.
    """
    count = cluster.max() + 1
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), METRIC_TOSSES)
    values = metric_differences(d, drawn[:, cluster].astype(float))
    return tuple(np.nanquantile(values, [0.025, 0.975]))


def resampled_items(d):
    return metric_resampled(d, np.arange(d.t.size))


def resampled_patients(d):
    return metric_resampled(d, d.cluster)


def one_by_one(d, times):
    """Return the same differences, as scikit-learn has them in a loop over the resamples."""
    from sklearn.metrics import f1_score, roc_auc_score

    values = []
    for row in times:
        index = np.repeat(np.arange(d.t.size), row)
        if d.metric == "AUC":
            a, b = (roc_auc_score(d.t[index], score[index]) for score in (d.a, d.b))
        else:
            a, b = (f1_score(d.t[index], y[index]) for y in (d.predicted_a, d.predicted_b))
        values.append(a - b)
    return values


RESAMPLES = np.array([[1] * 7, [2, 0, 1, 1, 0, 2, 1], [0, 1, 2, 1, 1, 0, 2]])


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
    ("Q6d", "DeLong, z"): (delong_of_items, DELONG),
    ("Q6d", "percentile bootstrap of items"): (resampled_items, BOOTSTRAP),
    ("Q6p", "DeLong of clusters, z"): (delong_of_patients, OBUCHOWSKI),
    ("Q6p", "percentile bootstrap of patients"): (resampled_patients, BOOTSTRAP),
    ("Q6p", "percentile bootstrap of items, patients ignored"): (resampled_items, BOOTSTRAP),
    ("Q8", "labels alone, Wilson"): (lambda d: share("wilson", d.human), SHARE),
    ("Q8", "judge alone, Wilson"): (lambda d: share("wilson", d.verdict), SHARE),
    ("Q8d", "judge alone"): (difference, TESTS),
    ("Q8d", "labels alone, t"): (lambda d: paired(d.ha - d.hb), TESTS),
    ("Q9", "counts alone"): (lambda d: share("wilson", d.v), SHARE),
    ("Q9c", "counts alone"): (change, SHARE),
    ("Q10", "paired t over the folds"): (lambda d: paired(fold_differences(d)), TESTS),
    ("Q11", "stratified t"): (total, SAMPLING),
    ("Q12", "Wilson at each interim analysis"): (
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
    (
        "DeLong, by hand",
        lambda: delong_of_items(TWO_SCORED),
        around(0, Z * TWO_SCORED_SE),
        1e-6,
    ),
    (
        "DeLong of 113 patients, as pROC has it",
        lambda: delong_of_items(PATIENTS),
        PATIENTS_LIMITS,
        1e-6,
    ),
    # sums of two clusters, the first three items and the rest: -1/4 and 1/4 of members, of others 0
    (
        "DeLong of clusters, by hand",
        lambda: delong(TWO_SCORED, np.array([0, 0, 0, 1, 1, 1, 1])),
        around(0, Z * (2 * 2 / 16 / 9) ** 0.5),
        1e-6,
    ),
    *(
        (
            f"resampled {sample.metric}: scikit-learn, one by one",
            lambda sample=sample: metric_differences(sample, RESAMPLES),
            one_by_one(sample, RESAMPLES),
            1e-9,
        )
        for sample in (TWO_SCORED, TWO_BY_F1)
    ),
]
