import functools

import numpy as np
from fixed import (
    CHANGED_PLACES,
    CLUSTERS,
    EXACT,
    FIRST_IS_BEST,
    MODELS,
    PAIRED,
    PATIENTS,
    PATIENTS_LIMITS,
    TWO_BY_F1,
    Z,
    claims,
)
from measure import with_bounds
from questions import fold_differences

import workbench as wb

DOC = ""
MANY = 10**9  # items that a sample stands for where there is no finite population


def whole(values):
    return tuple(tuple(map(int, value)) if np.ndim(value) else int(value) for value in values)


@functools.cache  # counts repeat between runs
def accuracy(sizes, labeled, right, method="default"):
    return tuple(wb.stratified_accuracy(sizes, labeled, right).interval(method=method))


@functools.cache
def difference(sizes, counts, level=0.95, method="default"):
    return tuple(wb.paired_difference(sizes, counts).interval(level, method=method))


@functools.cache
def of_class(sizes, labeled, right, metric):
    return tuple(wb.class_metrics(sizes, [True, False], labeled, right).interval(metric))


@functools.cache
def anytime(N, y):
    return tuple(wb.anytime_interval([N], np.zeros(len(y), int), y))


def stratified(method):
    return lambda d: accuracy(
        whole(d.sizes), whole(d.labeled), whole(np.bincount(d.stratum, d.y, d.sizes.size)), method
    )


def replicated(statistic, cluster, *columns, **options):
    design = wb.SurveyDesign(np.zeros(cluster.size, int), psu=cluster)
    return wb.replicate_estimate(wb.replicates(design, "jkn"), statistic, *columns, **options)


def sampled_at_random(d):
    right = [int((d.t * d.p).sum()), int((d.t + d.p == 0).sum())]
    return of_class(whole(d.sizes), (int(d.p.sum()), int((1 - d.p).sum())), whole(right), d.metric)


def own_labels(d):
    labeled = wb.allocate_to_class(d.sizes, [True, False], d.n)
    return of_class(whole(d.sizes), whole(labeled), whole(d.own(int(labeled[0]))), d.metric)


def counted(z):
    return int((z < 0).sum()), int((z == 0).sum()), int((z > 0).sum())


def by_verdict(d, index, human):
    """Take the verdicts as strata; as none where one of them has fewer labels than a stratum needs."""
    sizes, labeled = np.bincount(d.verdict, minlength=2), np.bincount(d.verdict[index], minlength=2)
    right, used = np.bincount(d.verdict[index], human, 2), sizes > 0
    if (labeled[used] < np.minimum(2, sizes[used])).any():
        return accuracy((d.N,), (human.size,), (int(human.sum()),))
    return accuracy(whole(sizes[used]), whole(labeled[used]), whole(right[used]))


def by_verdicts(d, index, drawn):
    """Let people tell which of the models is right, where one is; what they say of both does not count."""
    says = np.select([d.z[index] > 0, d.z[index] < 0], [1, 2], 3)
    answers = np.bincount(4 * (3 - d.pair[index]) + says, minlength=16).reshape(4, 4)
    return tuple(
        wb.judged_difference(np.bincount(3 - d.pair, minlength=4), answers, drawn=drawn).interval()
    )


def by_pairs(d):
    labeled = wb.judged_labels(np.bincount(3 - d.pair, minlength=4), d.n)
    order = np.argsort(d.pick)
    return by_verdicts(
        d, np.concatenate([order[3 - d.pair[order] == g][: labeled[g]] for g in range(4)]), "pairs"
    )


def audit(d):
    return wb.ConfusionCounts.from_labels(d.y0, d.v0, [0, 1])


def month(v):
    return np.bincount(v, minlength=2)


def changed(d):
    months = {"old": month(d.old), "new": month(d.v)}
    return (
        wb.prevalence_series(audit(d), months["old"], months, sampled_by="random")
        .change("old", "new")
        .interval()
    )


def total(d, bounds=None):
    strata = wb.load_strata({"stratum": list(range(d.H)), "size": [d.N] * d.H, "sd": [1.0] * d.H})
    return wb.estimate_values(strata, d.stratum, d.y, bounds=bounds).interval(quantity="total")


@with_bounds
def bounded(d):
    return total(d, d.bounds)


def looked(d):
    found = [anytime(d.N, whole(d.y[:k])) for k in d.looks]
    return max(low for low, _ in found), min(high for _, high in found)


def metric_comparison(d, psu=""):
    """Return the row of `compare_metrics` for the metric of the question."""
    columns = {"truth": d.t, "a": d.a, "b": d.b, "patient": d.cluster}
    names = {"prediction": "", "score": "a,b"}
    if d.metric == "F1":
        columns |= {"a": d.predicted_a, "b": d.predicted_b}
        names = {"prediction": "a,b", "score": ""}
    items = wb.load_labeled(columns, psu=psu, stratum="", positive="1", **names)
    return wb.compare_metrics(items, d.metric.lower()).rows()[0]


def metric_difference(psu=""):
    def limits(d):
        row = metric_comparison(d, psu)
        return row["low"], row["high"]

    return limits


def ranks(d):
    """Claim what `compare_items` says: of each pair that it tells apart, the better one."""
    models = d.right.shape[1]
    found = wb.compare_items(
        wb.ItemScores(d.right, [f"m{k}" for k in range(models)], range(len(d.right)), d.cluster)
    )
    index = [int(name[1:]) for name in found.names]
    return claims(models, [(index[i], index[j]) for i, j in found.pairs[found.shown]])


def compared(method):
    """Return a function from a sample to the limits of A's mean score less B's."""

    def limits(d):
        scores = wb.ItemScores(
            np.column_stack([d.a, d.b]),
            ["a", "b"],
            range(d.a.size),
            getattr(d, "cluster", None),
            getattr(d, "bounds", (0, 1)),
        )
        row = wb.compare_items(scores, method=method).rows()[0]
        return (row["low"], row["high"]) if row["first"] == "a" else (-row["high"], -row["low"])

    return limits


def folds(d, rho):
    try:
        return wb.kfold_t_test(fold_differences(d), rho=rho).interval()
    except wb.ZeroVarianceError:
        return None


def items(d, statistic, *columns):
    return replicated(statistic, np.arange(d.t.size), *columns).interval()


ROWS = {
    ("Q1", "stratified_accuracy"): (
        lambda d: accuracy((d.N,), (d.y.size,), (int(d.y.sum()),)),
        DOC,
    ),
    ("Q2", "stratified_accuracy"): (stratified("default"), DOC),
    ("Q2", "stratified_accuracy guaranteed"): (stratified("guaranteed"), DOC),
    ("Q3", "replicate_estimate proportion"): (
        lambda d: replicated("proportion", d.cluster, d.y).interval(),
        DOC,
    ),
    ("Q3s", "replicate_estimate proportion"): (
        lambda d: replicated("proportion", d.cluster, d.y).interval(),
        DOC,
    ),
    ("Q3s", "replicate_estimate proportion bounded"): (
        lambda d: replicated("proportion", d.cluster, d.y).interval(method="bounded"),
        DOC,
    ),
    **{
        (name, "class_metrics, the same sample"): (sampled_at_random, DOC)
        for name in ("Q4p", "Q4r", "Q4f")
    },
    **{
        (name, "class_metrics, own allocation"): (own_labels, DOC) for name in ("Q4p", "Q4r", "Q4f")
    },
    ("Q5", "replicate_estimate auc"): (lambda d: items(d, "auc", d.t, d.score), DOC),
    ("Q6", "paired_difference"): (lambda d: difference((MANY,), (counted(d.a - d.b),)), DOC),
    ("Q6", "paired_difference short"): (
        lambda d: difference((MANY,), (counted(d.a - d.b),), method="short"),
        DOC,
    ),
    **{(name, "compare_items"): (compared("default"), DOC) for name in ("Q6g", "Q6s")},
    **{(name, "compare_items bounded"): (compared("bounded"), DOC) for name in ("Q6g", "Q6s")},
    ("Q6c", "replicate_estimate mean"): (
        lambda d: replicated("mean", d.cluster, d.a - d.b, bounds=(-1, 1)).interval(),
        DOC,
    ),
    ("Q6d", "compare_metrics"): (metric_difference(), DOC),
    ("Q6p", "compare_metrics"): (metric_difference("patient"), DOC),
    ("Q7", "compare_items"): (ranks, DOC),
    ("Q8", "stratified_accuracy by verdict"): (lambda d: by_verdict(d, d.index, d.human), DOC),
    ("Q8", "stratified_accuracy by verdict, own allocation"): (
        lambda d: by_verdict(d, d.own_index, d.own_human),
        DOC,
    ),
    ("Q8d", "judged_difference"): (lambda d: by_verdicts(d, d.index, "random"), DOC),
    ("Q8d", "judged_difference, own allocation"): (by_pairs, DOC),
    ("Q9", "estimate_prevalence mle"): (
        lambda d: wb.estimate_prevalence(
            audit(d), month(d.v), month(d.old), sampled_by="random"
        ).interval(),
        DOC,
    ),
    ("Q9", "estimate_prevalence misclassification"): (
        lambda d: wb.estimate_prevalence(
            audit(d), month(d.v), method="misclassification"
        ).interval(),
        DOC,
    ),
    ("Q9", "estimate_prevalence hull"): (
        lambda d: wb.estimate_prevalence(audit(d), month(d.v), method="hull").interval(),
        DOC,
    ),
    ("Q9c", "prevalence_series change"): (changed, DOC),
    ("Q10", "kfold_t_test"): (lambda d: folds(d, 0.7), DOC),
    ("Q10", "kfold_t_test nadeau_bengio"): (lambda d: folds(d, "nadeau_bengio"), DOC),
    ("Q11", "estimate_values"): (total, DOC),
    ("Q11", "estimate_values with bounds"): (bounded, DOC),
    ("Q12", "anytime_interval"): (looked, DOC),
}
CHECKED = [
    (
        "Clopper-Pearson, 8 of 10 from very many",
        lambda: accuracy((MANY,), (10,), (8,)),
        EXACT,
        1e-5,
    ),
    (
        "mean of the clusters, by hand",
        lambda: replicated("proportion", CLUSTERS.cluster, CLUSTERS.y).estimate,
        0.625,
        1e-9,
    ),
    # 5 against 1 of 20, and the same models in the other order: limits change sides and signs
    (
        "models change places",
        lambda: np.add(compared("default")(PAIRED), compared("default")(CHANGED_PLACES)[::-1]),
        (0, 0),
        1e-9,
    ),
    (
        "the first of three models is better than the others",
        lambda: ranks(MODELS),
        FIRST_IS_BEST,
        0,
    ),
    (
        "standard error of the AUCs' difference of 113 patients, as pROC has it",
        lambda: metric_comparison(PATIENTS)["standard_error"],
        np.ptp(PATIENTS_LIMITS) / 2 / Z,
        1e-7,
    ),
    (
        "F1 of seven items, by hand",
        lambda: metric_comparison(TWO_BY_F1)["difference"],
        2 / 3 - 4 / 5,
        1e-12,
    ),
]
