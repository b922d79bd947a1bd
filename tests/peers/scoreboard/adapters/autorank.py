import pandas as pd
from autorank import autorank
from fixed import FIRST_IS_BEST, MODELS, claims, pairs

DOC = "https://github.com/sherbold/autorank"


def ranks(d):
    models = d.right.shape[1]
    found = autorank(
        pd.DataFrame(d.right, columns=range(models)).astype(float), alpha=0.05, verbose=False
    )
    if found.pvalue >= found.alpha or found.cd is None:
        return claims(models, [])
    rank = found.rankdf.meanrank
    return claims(
        models,
        [
            pair[:: 1 if rank[pair[0]] < rank[pair[1]] else -1]
            for pair in pairs(models)
            if abs(rank[pair[0]] - rank[pair[1]]) > found.cd
        ],
    )


ROWS = {("Q7", "autorank: Friedman, Nemenyi"): (ranks, DOC)}
# mean ranks 1.6, 2.2 and 2.2; critical distance 3.314 / sqrt(2) * sqrt(3 * 4 / (6 * 40)) = .524
CHECKED = [
    ("the first of three models is better than the others", lambda: ranks(MODELS), FIRST_IS_BEST, 0)
]
