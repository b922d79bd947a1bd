from fixed import PATIENTS, PATIENTS_P, SCORED, TWO_SCORED, overlapping
from measure import of_metric, test_of_zero
from MLstatkit import Bootstrapping, Delong_test, Permutation_test

DOC = "https://github.com/Brritany/MLstatkit#bootstrapping-for-confidence-intervals"
DELONG = "https://github.com/Brritany/MLstatkit#delongs-test-for-roc-curve"


def auc(d):
    return Bootstrapping(d.t, d.score, "roc_auc")[1:]


def metric(d):
    return Bootstrapping(d.t, d.p.astype(float), d.metric, average="binary")[1:]


def delong(d):
    return Delong_test(d.t, d.score, 1 - d.score, return_ci=True, return_auc=False)[2]


@of_metric("AUC")
@test_of_zero
def compared(d):
    return Delong_test(d.t, d.a, d.b, return_ci=False, return_auc=False)[1]


@of_metric("AUC")
def both(d):
    return overlapping(*Delong_test(d.t, d.a, d.b, return_auc=False)[2:])


@of_metric("F1")
@test_of_zero
def permuted(d):
    return Permutation_test(
        d.t, d.predicted_a, d.predicted_b, "f1", n_bootstraps=TOSSES, average="binary"
    )[2]


PERMUTATION = "https://github.com/Brritany/MLstatkit#permutation-test-for-statistical-significance"
TOSSES = 100  # of 1,000 in its documentation, which take seconds a call
ROWS = {
    ("Q4p", "Bootstrapping, binary"): (metric, DOC),
    ("Q4r", "Bootstrapping, binary"): (metric, DOC),
    ("Q4f", "Bootstrapping, binary"): (metric, DOC),
    ("Q5", "Bootstrapping"): (auc, DOC),
    ("Q5", "Delong_test, interval of one model"): (delong, DELONG),
    ("Q6d", "Delong_test, p alone"): (compared, DELONG),
    ("Q6d", "Delong_test, intervals of both models"): (both, DELONG),
    ("Q6d", "Permutation_test, 100 permutations, p alone"): (permuted, PERMUTATION),
    ("Q6p", "Delong_test, patients ignored, p alone"): (compared, DELONG),
}
CHECKED = [
    (
        "11 of 12 pairs in order",
        lambda: Bootstrapping(SCORED.t, SCORED.score, "roc_auc")[0],
        11 / 12,
        1e-9,
    ),
    ("equal AUCs", lambda: compared(TWO_SCORED), 1, 1e-9),
    ("DeLong of 113 patients, as pROC has it", lambda: compared(PATIENTS), PATIENTS_P, 1e-6),
]
