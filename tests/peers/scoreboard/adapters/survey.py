import time

import numpy as np
from fixed import TWO_SCORED, around
from measure import of_metric
from r_calls import Calls

DOC = "https://r-survey.r-forge.r-project.org/survey/html/svycontrast.html"
REPLICATES = "https://r-survey.r-forge.r-project.org/survey/html/withReplicates.html"
LIMITS = """
suppressPackageStartupMessages(library(survey))
# confint() of survey, which needs a name that withReplicates does not give
limits <- function(estimate, design) {
  coef(estimate)[[1]] + c(-1, 1) * qt(.975, degf(design)) * SE(estimate)[[1]]
}
"""
# F1 is a ratio of two totals; linearized
F1 = """
answer <- function(columns) {
  names(columns) <- c("t", "a", "b", "patient")
  d <- as.data.frame(columns)
  d <- transform(d, top_a = 2 * t * a, bottom_a = t + a, top_b = 2 * t * b, bottom_b = t + b)
  design <- svydesign(ids = ~patient, weights = ~1, data = d)
  totals <- svytotal(~top_a + bottom_a + top_b + bottom_b, design)
  limits(svycontrast(totals, quote(top_a / bottom_a - top_b / bottom_b)), design)
}
"""
# the order of the pairs is the same in all replicates
AUC = """
answer <- function(columns) {
  up <- columns[[1]] == 1
  order <- function(score) (sign(outer(score[up], score[!up], "-")) + 1) / 2
  excess <- order(columns[[2]]) - order(columns[[3]])
  design <- svydesign(ids = ~patient, weights = ~1, data = data.frame(patient = columns[[4]]))
  design <- as.svrepdesign(design, type = "JK1")
  difference <- function(w, d) c(w[up] %*% excess %*% w[!up]) / (sum(w[up]) * sum(w[!up]))
  limits(withReplicates(design, difference), design)
}
"""
linearized, jackknifed = Calls(LIMITS + F1), Calls(LIMITS + AUC)


@of_metric("F1")
def f1(d):
    return linearized(d.t, d.predicted_a, d.predicted_b, d.cluster)


@of_metric("AUC")
def auc(d):
    return jackknifed(d.t, d.a, d.b, d.cluster)


f1.clock = auc.clock = time.perf_counter
ROWS = {
    ("Q6d", "svycontrast of totals, F1"): (f1, DOC),
    ("Q6p", "svycontrast of totals, F1, patients as clusters"): (f1, DOC),
    ("Q6p", "withReplicates JK1, AUC, patients as clusters"): (auc, REPLICATES),
}
T6 = 2.446912  # Student's t of 6 degrees of freedom, at .975
# F1 of 2/3 and 4/5; the influence of an item is (2 t p - F1 (t + p)) / 6 less that with / 5
INFLUENCE = np.array([1 / 9 - 0.08, -1 / 9 - 0.08, 1 / 9 + 0.16, -1 / 9])
CHECKED = [
    (
        "F1 of seven items, by hand",
        lambda: f1(TWO_SCORED),
        around(-2 / 15, T6 * (7 / 6 * (INFLUENCE @ INFLUENCE)) ** 0.5),
        1e-5,
    ),
    # one member left out makes the difference 1/8 of the 8 pairs, another makes it -1/8
    (
        "AUC of seven items, by hand",
        lambda: auc(TWO_SCORED),
        around(0, T6 * (6 / 7 / 32) ** 0.5),
        1e-5,
    ),
]
