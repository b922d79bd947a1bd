import confidenceinterval
import numpy as np
from fixed import SIMPLE, TWO_SCORED, WILSON, Z, around, overlapping
from measure import of_metric

DOC = "https://github.com/jacobgil/confidenceinterval#getting-started"
BINARY = "https://github.com/jacobgil/confidenceinterval#binary-metrics"
SCORES = {
    "f1": confidenceinterval.f1_score,
    "precision": confidenceinterval.precision_score,
    "recall": confidenceinterval.recall_score,
}
SHARES = {"precision": confidenceinterval.ppv_score, "recall": confidenceinterval.tpr_score}
LETTERS = {"precision": "Q4p", "recall": "Q4r", "f1": "Q4f"}
TOSSES = 500  # of 5,000 in its documentation, which take seconds a call


def accuracy(d):
    return confidenceinterval.accuracy_score(np.ones(d.y.size, int), d.y, confidence_level=0.95)[1]


def score(function, **options):
    return lambda d: function(d.t, d.p, confidence_level=0.95, **options)[1]


def auc(**options):
    return lambda d: confidenceinterval.roc_auc_score(
        d.t, d.score, confidence_level=0.95, **options
    )[1]


@of_metric("AUC")
def both_aucs(d):
    return overlapping(
        *(
            confidenceinterval.roc_auc_score(d.t, score, confidence_level=0.95)[1]
            for score in (d.a, d.b)
        )
    )


@of_metric("F1")
def both_f1(d):
    return overlapping(
        *(
            SCORES["f1"](d.t, predicted, confidence_level=0.95, average="binary")[1]
            for predicted in (d.predicted_a, d.predicted_b)
        )
    )


ROWS = {
    ("Q1", "accuracy_score (default)"): (accuracy, DOC),
    **{
        (LETTERS[name], f"{name}_score binary"): (score(SCORES[name], average="binary"), DOC)
        for name in SCORES
    },
    **{
        (LETTERS[name], f"{SHARES[name].__name__} (default, wilson)"): (score(SHARES[name]), BINARY)
        for name in SHARES
    },
    **{
        (LETTERS[name], f"{name}_score binary, bootstrap_bca, 500 resamples"): (
            score(SCORES[name], average="binary", method="bootstrap_bca", n_resamples=TOSSES),
            DOC,
        )
        for name in SCORES
    },
    ("Q5", "roc_auc_score (default, DeLong)"): (auc(), DOC),
    ("Q6d", "roc_auc_score, intervals of both models"): (both_aucs, DOC),
    ("Q6d", "f1_score binary, intervals of both models"): (both_f1, DOC),
    ("Q6p", "roc_auc_score, intervals of both models, patients ignored"): (both_aucs, DOC),
    ("Q6p", "f1_score binary, intervals of both models, patients ignored"): (both_f1, DOC),
}
# the classification report of its README, class 1: precision 8 of 9, recall 8 of 8, F1 (.796, 1.086)
TRUE = np.array([0, 1, 2, 2, 2, 1, 1, 1, 0, 2, 2, 1, 0, 2, 2, 1, 2, 2, 1, 1])
GUESS = np.array([0, 1, 0, 0, 2, 1, 1, 1, 0, 2, 2, 1, 0, 1, 2, 1, 2, 2, 1, 1])
CHECKED = [
    ("Wilson, 8 of 10", lambda: accuracy(SIMPLE), WILSON, 1e-5),
    (
        "README's report: precision of class 1",
        lambda: confidenceinterval.ppv_score(
            (TRUE == 1).astype(int), (GUESS == 1).astype(int), confidence_level=0.95
        )[1],
        (0.565, 0.980),
        1e-3,
    ),
    (
        "README's report: F1 of class 1",
        lambda: SCORES["f1"](
            (TRUE == 1).astype(int),
            (GUESS == 1).astype(int),
            confidence_level=0.95,
            average="binary",
        )[1],
        (0.796, 1.086),
        1e-3,
    ),
    # both AUCs are 11/12; placements of members are .75, 1, 1, those of others 2/3, 1, 1, 1
    (
        "intervals of two equal AUCs, by hand",
        lambda: both_aucs(TWO_SCORED),
        around(0, 2 * Z * (1 / 48 / 3 + 1 / 36 / 4) ** 0.5),
        1e-5,
    ),
]
