import numpy as np
from fixed import CLUSTER_SE, CLUSTERS, T3, TOTAL, TOTAL_SE, around
from samplics import PopParam
from samplics.estimation import TaylorEstimator

DOC = "https://samplics-org.github.io/samplics/"


def limits(parameter, y, weight, stratum=None, psu=None, fpc=1.0):
    found = TaylorEstimator(parameter)
    found.estimate(y=y, samp_weight=weight, stratum=stratum, psu=psu, fpc=fpc, remove_nan=True)
    return [
        limit[1] if isinstance(limit, dict) else limit for limit in (found.lower_ci, found.upper_ci)
    ]


def stratified(d):
    return limits(PopParam.prop, d.y, (d.sizes / d.labeled)[d.stratum], d.stratum)


def clusters(d):
    return limits(PopParam.prop, d.y, np.ones(d.y.size), psu=d.cluster)


def differences(d):
    return limits(PopParam.mean, (d.a - d.b).astype(float), np.ones(d.a.size), psu=d.cluster)


def total(d):
    return limits(
        PopParam.total,
        d.y,
        np.full(d.y.size, d.N / d.n),
        d.stratum,
        fpc=dict.fromkeys(range(d.H), 1 - d.n / d.N),
    )


ROWS = {
    ("Q2", "TaylorEstimator prop"): (stratified, DOC),
    ("Q3", "TaylorEstimator prop, psu"): (clusters, DOC),
    ("Q6c", "TaylorEstimator mean of differences, psu"): (differences, DOC),
    ("Q11", "TaylorEstimator total"): (total, DOC),
}
CHECKED = [
    (
        "mean of four clusters, t, by hand",
        lambda: limits(PopParam.mean, CLUSTERS.y.astype(float), np.ones(8), psu=CLUSTERS.cluster),
        around(0.625, T3 * CLUSTER_SE),
        1e-4,
    ),
    # 2 degrees of freedom: 4.302653
    (
        "total of two strata, t, by hand",
        lambda: total(TOTAL),
        around(400, 4.302653 * TOTAL_SE),
        1e-2,
    ),
]
