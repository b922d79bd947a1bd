import evalstats
import numpy as np
from evalstats.core.paired import all_pairwise, pairwise_differences
from fixed import FIRST_IS_BEST, MODELS, PAIRED, SIMPLE, claims, spread

DOC = "https://github.com/ianarawjo/evalstats#python-api"
JUDGES = "https://github.com/ianarawjo/evalstats#ppi-corrected-inference-means-cis-and-tests"


def rng():
    return np.random.default_rng(0)


def limits(found):
    return found.ci_low, found.ci_high


def paired(d):
    return pairwise_differences(np.stack([d.a, d.b]).astype(float), 0, 1, rng=rng())


def ranks(d):
    names = [f"m{k}" for k in range(d.right.shape[1])]
    found = all_pairwise(d.right.T.astype(float), names, rng=rng())
    listed = [
        ([names.index(name) for name in pair], result) for pair, result in found.results.items()
    ]
    return claims(
        len(names),
        [
            pair[:: 1 if result.point_diff > 0 else -1]
            for pair, result in listed
            if result.p_value < 0.05
        ],
    )


def judged(d):
    return evalstats.judge_debias_mean_ci(d.verdict.astype(float), spread(d, d.human), rng=rng())


ROWS = {
    ("Q1", "mean_ci"): (lambda d: limits(evalstats.mean_ci(d.y.astype(float), rng=rng())), DOC),
    ("Q6", "pairwise_differences auto"): (lambda d: limits(paired(d)), DOC),
    ("Q6g", "pairwise_differences auto"): (lambda d: limits(paired(d)), DOC),
    ("Q7", "all_pairwise auto"): (ranks, DOC),
    ("Q8", "judge_debias_mean_ci"): (lambda d: limits(judged(d)), JUDGES),
}
CHECKED = [
    (
        "mean of 8 of 10",
        lambda: evalstats.mean_ci(SIMPLE.y.astype(float), rng=rng()).mean,
        0.8,
        1e-9,
    ),
    ("difference of the means, by hand", lambda: paired(PAIRED).point_diff, 0.2, 1e-9),
    (
        "the first of three models is better than the others",
        lambda: ranks(MODELS),
        FIRST_IS_BEST,
        0,
    ),
]
