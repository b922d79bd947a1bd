import numpy as np
import polars as pl
import svy
from fixed import CLUSTER_SE, CLUSTERS, T3, TOTAL, TOTAL_SE, around

DOC = "https://svylab.com/docs/svy/"


def found(kind, columns, y, weight, **options):
    """Return the estimate of a quantity from a sample whose design has these columns, by svy's names."""
    data = {"y": y, "wgt": np.asarray(weight, float)} | columns
    sample = svy.Sample(
        pl.DataFrame(data), svy.Design(wgt="wgt", **{name: name for name in columns})
    )
    listed = getattr(sample.estimation, kind)("y", **options).estimates
    one = [part for part in listed if kind != "prop" or str(part.y_level) in ("1", "1.0")][0]
    return one.lci, one.uci


def stratified(**options):
    return lambda d: found(
        "prop", {"stratum": d.stratum}, d.y, (d.sizes / d.labeled)[d.stratum], **options
    )


def clusters(**options):
    return lambda d: found("prop", {"psu": d.cluster}, d.y, np.ones(d.y.size), **options)


def mean(values, cluster):
    return found("mean", {"psu": cluster}, values.astype(float), np.ones(values.size))


def total(d):
    return found(
        "total",
        {"stratum": d.stratum, "pop_size": np.full(d.y.size, d.N)},
        d.y,
        np.full(d.y.size, d.N / d.n),
    )


ROWS = {
    ("Q2", "prop (default, logit)"): (stratified(), DOC),
    ("Q2", "prop korn-graubard"): (stratified(ci_method="korn-graubard"), DOC),
    ("Q3", "prop (default, logit), psu"): (clusters(), DOC),
    ("Q3", "prop korn-graubard, psu"): (clusters(ci_method="korn-graubard"), DOC),
    ("Q3s", "prop (default, logit), psu"): (clusters(), DOC),
    ("Q3s", "prop korn-graubard, psu"): (clusters(ci_method="korn-graubard"), DOC),
    ("Q6s", "mean of differences, psu"): (lambda d: mean(d.a - d.b, d.cluster), DOC),
    ("Q6c", "mean of differences, psu"): (lambda d: mean(d.a - d.b, d.cluster), DOC),
    ("Q11", "total"): (total, DOC),
}
CHECKED = [
    (
        "mean of four clusters, t, by hand",
        lambda: mean(CLUSTERS.y, CLUSTERS.cluster),
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
