import truescore
from fixed import (
    FIRST_IS_BEST,
    MODELS,
    PAIRED,
    SIMPLE,
    WILSON,
    claims,
    pairs,
)

DOC = "https://saifpunjwani.github.io/truescore/"


def limits(found):
    return found.low, found.high


def ranks(d):
    listed = pairs(d.right.shape[1])
    columns = [(d.right[:, i], d.right[:, j]) for i, j in listed]
    tests = [
        truescore.mcnemar(a, b)
        if d.cluster is None
        else truescore.paired_bootstrap(a, b, clusters=d.cluster)
        for a, b in columns
    ]
    adjusted = truescore.holm([test.p_value for test in tests])
    return claims(
        d.right.shape[1],
        [
            pair[:: 1 if test.difference > 0 else -1]
            for pair, test, p in zip(listed, tests, adjusted, strict=True)
            if p < 0.05
        ],
    )


def looked(d):
    found, last = (
        truescore.confidence_sequence(d.y, method="empirical_bernstein"),
        [k - 1 for k in d.looks],
    )
    return max(0, found.lower_bounds[last].max()), min(1, found.upper_bounds[last].min())


ROWS = {
    ("Q1", "gold_only_estimate"): (lambda d: limits(truescore.gold_only_estimate(d.y)), DOC),
    ("Q3", "gold_only_estimate, clusters"): (
        lambda d: limits(truescore.gold_only_estimate(d.y, clusters=d.cluster)),
        DOC,
    ),
    ("Q3s", "gold_only_estimate, clusters"): (
        lambda d: limits(truescore.gold_only_estimate(d.y, clusters=d.cluster)),
        DOC,
    ),
    ("Q6", "mcnemar"): (lambda d: limits(truescore.mcnemar(d.a, d.b)), DOC),
    ("Q6", "paired_bootstrap"): (lambda d: limits(truescore.paired_bootstrap(d.a, d.b)), DOC),
    ("Q6g", "paired_bootstrap"): (lambda d: limits(truescore.paired_bootstrap(d.a, d.b)), DOC),
    **{
        (name, "paired_bootstrap, clusters"): (
            lambda d: limits(truescore.paired_bootstrap(d.a, d.b, clusters=d.cluster)),
            DOC,
        )
        for name in ("Q6c", "Q6s")
    },
    ("Q7", "mcnemar or paired_bootstrap, holm"): (ranks, DOC),
    ("Q8", "ppi_estimate"): (
        lambda d: limits(truescore.ppi_estimate(d.verdict, d.human, d.index)),
        DOC,
    ),
    ("Q8", "rogan_gladen_estimate"): (
        lambda d: limits(truescore.rogan_gladen_estimate(d.verdict, d.human, d.index)),
        DOC,
    ),
    ("Q8d", "ppi_compare"): (
        lambda d: limits(truescore.ppi_compare(d.va, d.vb, d.ha, d.hb, d.index)),
        DOC,
    ),
    ("Q12", "confidence_sequence empirical_bernstein"): (looked, DOC),
}
CHECKED = [
    ("Wilson, 8 of 10", lambda: limits(truescore.gold_only_estimate(SIMPLE.y)), WILSON, 1e-5),
    (
        "difference of the means, by hand",
        lambda: truescore.mcnemar(PAIRED.a, PAIRED.b).difference,
        0.2,
        1e-9,
    ),
    (
        "the first of three models is better than the others",
        lambda: ranks(MODELS),
        FIRST_IS_BEST,
        0,
    ),
]
