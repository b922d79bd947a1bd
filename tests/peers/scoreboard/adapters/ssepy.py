import numpy as np
from fixed import SIMPLE, Z, around
from ssepy.model_performance_evaluator import Estimator

DOC = "https://github.com/amazon-science/ssepy"


def limits(prediction, index, y, strata=None, kind="ht"):
    order = np.argsort(index)
    mean, variance = Estimator(
        Yh=prediction, strata_labels=strata, sampled_indices=np.asarray(index)[order]
    ).compute(np.asarray(y, float)[order], kind)
    return around(float(np.squeeze(mean)), 1.96 * float(np.squeeze(variance)) ** 0.5)


def simple(d):
    return limits(np.zeros(d.N), np.arange(d.y.size), d.y)


def stratified(kind):
    return lambda d: limits(d.score, d.index, d.y, d.every_stratum, kind)


ROWS = {
    ("Q1", "Horvitz-Thompson, 1.96 sd"): (simple, DOC),
    ("Q2", "Horvitz-Thompson, 1.96 sd"): (stratified("ht"), DOC),
    ("Q2", "difference estimator, 1.96 sd"): (stratified("df"), DOC),
}
CHECKED = [
    (
        "8 of 10 from 1,000 without replacement, by hand",
        lambda: simple(SIMPLE),
        around(0.8, Z * (0.16 / 9 * 0.99) ** 0.5),
        1e-3,
    ),
]
