import evalci
import numpy as np
import pandas as pd
from fixed import CLUSTERS, EXACT, FIRST_IS_BEST, MODELS, PAIRED, SIMPLE, WILSON, claims

DOC = "https://github.com/Shreyaskc/evalci#usage"


def limits(found):
    return found.lower, found.upper


def compared(method):
    return lambda d: tuple(evalci.compare(d.a, d.b, paired=True, method=method).ci)


def ranks(d):
    items, models = d.right.shape
    frame = pd.DataFrame(
        {
            "item_id": np.tile(np.arange(items), models),
            "score": d.right.T.ravel().astype(float),
            "model": np.repeat([f"m{k}" for k in range(models)], items),
        }
    )
    found = evalci.multi_compare(frame, correction="holm")
    return claims(
        models,
        [
            (int(row.model_a[1:]), int(row.model_b[1:]))[:: 1 if row.delta > 0 else -1]
            for row in found.itertuples()
            if row.significant
        ],
    )


ROWS = {
    ("Q1", "ci wilson"): (lambda d: limits(evalci.ci(d.y, method="wilson")), DOC),
    ("Q1", "ci clopper-pearson"): (lambda d: limits(evalci.ci(d.y, method="clopper-pearson")), DOC),
    ("Q3", "cluster_ci"): (lambda d: limits(evalci.cluster_ci(d.y, d.cluster)), DOC),
    ("Q6", "compare permutation"): (compared("permutation"), DOC),
    ("Q6", "compare bootstrap"): (compared("bootstrap"), DOC),
    ("Q6", "compare mcnemar"): (compared("mcnemar"), DOC),
    ("Q6g", "compare bootstrap"): (compared("bootstrap"), DOC),
    ("Q6c", "cluster_ci of differences"): (
        lambda d: limits(evalci.cluster_ci(d.a - d.b, d.cluster)),
        DOC,
    ),
    ("Q7", "multi_compare holm"): (ranks, DOC),
}
CHECKED = [
    ("Wilson, 8 of 10", lambda: ROWS["Q1", "ci wilson"][0](SIMPLE), WILSON, 1e-5),
    ("Clopper-Pearson, 8 of 10", lambda: ROWS["Q1", "ci clopper-pearson"][0](SIMPLE), EXACT, 1e-5),
    (
        "difference of the means, by hand",
        lambda: evalci.compare(PAIRED.a, PAIRED.b, method="mcnemar").delta,
        0.2,
        1e-9,
    ),
    (
        "mean of the clusters, by hand",
        lambda: evalci.cluster_ci(CLUSTERS.y, CLUSTERS.cluster).estimate,
        0.625,
        1e-9,
    ),
    (
        "the first of three models is better than the others",
        lambda: ranks(MODELS),
        FIRST_IS_BEST,
        0,
    ),
]
