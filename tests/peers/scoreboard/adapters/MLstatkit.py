from fixed import SCORED
from MLstatkit import Bootstrapping, Delong_test

DOC = "https://github.com/Brritany/MLstatkit#bootstrapping-for-confidence-intervals"
DELONG = "https://github.com/Brritany/MLstatkit#delongs-test-for-roc-curve"


def auc(d):
    return Bootstrapping(d.t, d.score, "roc_auc")[1:]


def metric(d):
    return Bootstrapping(d.t, d.p.astype(float), d.metric, average="binary")[1:]


def delong(d):
    return Delong_test(d.t, d.score, 1 - d.score, return_ci=True, return_auc=False)[2]


ROWS = {
    ("Q4p", "Bootstrapping, binary"): (metric, DOC),
    ("Q4r", "Bootstrapping, binary"): (metric, DOC),
    ("Q4f", "Bootstrapping, binary"): (metric, DOC),
    ("Q5", "Bootstrapping"): (auc, DOC),
    ("Q5", "Delong_test, interval of one model"): (delong, DELONG),
}
CHECKED = [
    (
        "11 of 12 pairs in order",
        lambda: Bootstrapping(SCORED.t, SCORED.score, "roc_auc")[0],
        11 / 12,
        1e-9,
    )
]
