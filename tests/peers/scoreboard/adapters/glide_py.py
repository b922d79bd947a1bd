import glide.estimators as glide
import numpy as np
from fixed import between_verdicts, spread

DOC = "https://glide-py.readthedocs.io/en/latest/getting-started/quickstart/"


def limits(found):
    return found.confidence_interval.lower_bound, found.confidence_interval.upper_bound


def plain(y):
    return limits(glide.ClassicalMeanEstimator().estimate(y.astype(float)))


def clusters(y, cluster):
    return limits(glide.ClusteredClassicalMeanEstimator().estimate(y.astype(float), cluster))


def judged(d, estimator=glide.PPIMeanEstimator):
    return limits(estimator().estimate(spread(d, d.human), d.verdict.astype(float)))


def scored(d):
    y = np.full(d.score.size, np.nan)
    y[d.index] = d.y
    return limits(glide.StratifiedPPIMeanEstimator().estimate(y, d.score, d.every_stratum))


def stratified(d):
    return limits(
        glide.StratifiedClassicalMeanEstimator().estimate(
            d.y.astype(float), d.stratum, stratum_weights=d.sizes / d.sizes.sum()
        )
    )


ROWS = {
    ("Q1", "ClassicalMeanEstimator"): (lambda d: plain(d.y), DOC),
    ("Q2", "StratifiedClassicalMeanEstimator"): (stratified, DOC),
    ("Q2", "StratifiedPPIMeanEstimator"): (scored, DOC),
    ("Q3", "ClusteredClassicalMeanEstimator"): (lambda d: clusters(d.y, d.cluster), DOC),
    ("Q6c", "ClusteredClassicalMeanEstimator of differences"): (
        lambda d: clusters(d.a - d.b, d.cluster),
        DOC,
    ),
    ("Q8", "PPIMeanEstimator"): (judged, DOC),
    ("Q8", "PTDMeanEstimator"): (lambda d: judged(d, glide.PTDMeanEstimator), DOC),
    ("Q8d", "PPIMeanEstimator of differences"): (lambda d: judged(between_verdicts(d)), DOC),
}
CHECKED = [
    (
        "docstring of ClassicalMeanEstimator",
        lambda: plain(np.array([5, 6, 4, 7])),
        (4.235, 6.765),
        5e-4,
    ),
    (
        "docstring of ClusteredClassicalMeanEstimator",
        lambda: clusters(np.array([5, 5, 7, 7]), np.array(["A", "A", "B", "B"])),
        (4.040, 7.960),
        5e-4,
    ),
]
