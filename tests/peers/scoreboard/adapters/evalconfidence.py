import evalconfidence
from fixed import CLUSTER_SE, CLUSTERS, PAIRED, SIMPLE, T3, Z, around

DOC = "https://github.com/stephlinds/evalconfidence#quick-example"


def items(values, model="m", cluster=None):
    groups = [None] * len(values) if cluster is None else map(str, cluster)
    return [
        evalconfidence.ItemResult(str(k), model, float(value), cluster_id=group)
        for k, (value, group) in enumerate(zip(values, groups, strict=True))
    ]


def compared(d):
    cluster = getattr(d, "cluster", None)
    return evalconfidence.compare(items(d.a, "a", cluster), items(d.b, "b", cluster)).ci_diff


ROWS = {
    ("Q1", "standard_error"): (lambda d: evalconfidence.standard_error(items(d.y)).ci, DOC),
    **{
        (name, "standard_error, cluster_id"): (
            lambda d: evalconfidence.standard_error(items(d.y, cluster=d.cluster)).ci,
            DOC,
        )
        for name in ("Q3", "Q3s")
    },
    ("Q6", "compare"): (compared, DOC),
    ("Q6g", "compare"): (compared, DOC),
    ("Q6c", "compare, cluster_id"): (compared, DOC),
    ("Q6s", "compare, cluster_id"): (compared, DOC),
}
CHECKED = [
    # t of 9 degrees of freedom: 2.262157
    (
        "t interval of 8 of 10, by hand",
        lambda: ROWS["Q1", "standard_error"][0](SIMPLE),
        around(0.8, 2.262157 * 0.4 / 3),
        1e-5,
    ),
    (
        "four clusters, by hand",
        lambda: ROWS["Q3", "standard_error, cluster_id"][0](CLUSTERS),
        around(0.625, T3 * CLUSTER_SE),
        1e-5,
    ),
    # McNemar's table, 5 against 1 of 20: variance of the difference (6 - 16 / 20) / 20 ** 2
    (
        "z of the paired difference, by hand",
        lambda: compared(PAIRED),
        around(0.2, Z * 5.2**0.5 / 20),
        1e-5,
    ),
]
