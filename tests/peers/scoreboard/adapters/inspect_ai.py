from fixed import CLUSTER_SE, CLUSTERS, SIMPLE, Z, around
from inspect_ai.scorer import SampleScore, Score, mean, stderr

DOC = "https://inspect.aisi.org.uk/metrics.html"


def scores(values, cluster):
    groups = (
        [None] * len(values) if cluster is None else [{"group": int(group)} for group in cluster]
    )
    return [
        SampleScore(score=Score(value=float(value)), sample_id=k, sample_metadata=group)
        for k, (value, group) in enumerate(zip(values, groups, strict=True))
    ]


def limits(values, cluster=None):
    made = scores(values, cluster)
    return around(
        mean()(made), 1.96 * (stderr() if cluster is None else stderr(cluster="group"))(made)
    )


ROWS = {
    ("Q1", "mean, 1.96 stderr"): (lambda d: limits(d.y), DOC),
    ("Q3", "mean, 1.96 stderr(cluster)"): (lambda d: limits(d.y, d.cluster), DOC),
    ("Q6c", "mean, 1.96 stderr(cluster) of differences"): (
        lambda d: limits(d.a - d.b, d.cluster),
        DOC,
    ),
}
CHECKED = [
    ("z interval of 8 of 10, by hand", lambda: limits(SIMPLE.y), around(0.8, Z * 0.4 / 3), 1e-4),
    (
        "four clusters, by hand",
        lambda: limits(CLUSTERS.y, CLUSTERS.cluster),
        around(0.625, Z * CLUSTER_SE),
        1e-4,
    ),
]
