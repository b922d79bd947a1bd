import numpy as np
import statsmodels.api as sm
from fixed import (
    CLUSTER_SE,
    CLUSTERS,
    EXACT,
    FIRST_IS_BEST,
    MCNEMAR,
    MODELS,
    PAIRED,
    SIMPLE,
    T3,
    WILSON,
    Z,
    around,
    claims,
    held_at_every_look,
    pairs,
)
from measure import test_of_zero
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

DOC = "https://www.statsmodels.org/stable/generated/statsmodels."
SHARE, TWO = (
    DOC + "stats.proportion.proportion_confint.html",
    DOC + "stats.proportion.confint_proportions_2indep.html",
)
FIT = DOC + "regression.linear_model.OLS.fit.html"


def share(method):
    return lambda d: proportion_confint(d.y.sum(), d.y.size, method=method)


def clustered(values, cluster, use_t=None):
    fit = sm.OLS(values.astype(float), np.ones(values.size)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=use_t
    )
    return tuple(fit.conf_int()[0])


@test_of_zero
def same_items(d):
    table = [[(d.a * d.b).sum(), (d.a > d.b).sum()], [(d.b > d.a).sum(), (d.a + d.b == 0).sum()]]
    return mcnemar(np.array(table), exact=True).pvalue


def two_samples(d):
    return confint_proportions_2indep(d.a.sum(), d.a.size, d.b.sum(), d.b.size)


def ranks(d):
    items, models = d.right.shape
    found = pairwise_tukeyhsd(d.right.T.ravel().astype(float), np.repeat(np.arange(models), items))
    return claims(
        models,
        [
            pair[:: -1 if second > 0 else 1]
            for pair, rejected, second in zip(
                pairs(models), found.reject, found.meandiffs, strict=True
            )
            if rejected
        ],
    )


ROWS = {
    ("Q1", "proportion_confint normal (default)"): (share("normal"), SHARE),
    ("Q1", "proportion_confint wilson"): (share("wilson"), SHARE),
    ("Q1", "proportion_confint beta"): (share("beta"), SHARE),
    ("Q1", "proportion_confint agresti_coull"): (share("agresti_coull"), SHARE),
    ("Q1", "proportion_confint jeffreys"): (share("jeffreys"), SHARE),
    ("Q3", "OLS, cov_type cluster (default z)"): (lambda d: clustered(d.y, d.cluster), FIT),
    ("Q3", "OLS, cov_type cluster, use_t"): (lambda d: clustered(d.y, d.cluster, True), FIT),
    ("Q3s", "OLS, cov_type cluster, use_t"): (lambda d: clustered(d.y, d.cluster, True), FIT),
    ("Q6", "confint_proportions_2indep"): (two_samples, TWO),
    ("Q6", "mcnemar exact, p alone"): (same_items, DOC + "stats.contingency_tables.mcnemar.html"),
    ("Q6c", "OLS, cov_type cluster, use_t"): (lambda d: clustered(d.a - d.b, d.cluster, True), FIT),
    ("Q6s", "OLS, cov_type cluster, use_t"): (lambda d: clustered(d.a - d.b, d.cluster, True), FIT),
    ("Q7", "pairwise_tukeyhsd"): (ranks, DOC + "stats.multicomp.pairwise_tukeyhsd.html"),
    ("Q12", "proportion_confint wilson at each interim analysis"): (
        lambda d: held_at_every_look(
            lambda y: proportion_confint(y.sum(), y.size, method="wilson"), d
        ),
        SHARE,
    ),
}
CHECKED = [
    (
        "Wald, 8 of 10, cut at 1, by hand",
        lambda: share("normal")(SIMPLE),
        (0.8 - Z * 0.016**0.5, 1),
        1e-5,
    ),
    ("Wilson, 8 of 10", lambda: share("wilson")(SIMPLE), WILSON, 1e-5),
    ("Clopper-Pearson, 8 of 10", lambda: share("beta")(SIMPLE), EXACT, 1e-5),
    (
        "four clusters, t, by hand",
        lambda: clustered(CLUSTERS.y, CLUSTERS.cluster, True),
        around(0.625, T3 * CLUSTER_SE),
        1e-5,
    ),
    ("exact McNemar, 5 against 1, by hand", lambda: same_items(PAIRED), MCNEMAR, 1e-9),
    (
        "the first of three models is better than the others",
        lambda: ranks(MODELS),
        FIRST_IS_BEST,
        0,
    ),
]
