import time

from fixed import PATIENTS, PATIENTS_LIMITS, TWO_SCORED, TWO_SCORED_SE, Z, around
from measure import of_metric
from r_calls import Calls

DOC = "https://xrobin.github.io/pROC/reference/roc.test.html"
CODE = """
suppressPackageStartupMessages(library(pROC))
answer <- function(columns) {
  curve <- function(score) roc(columns[[1]], score, levels = 0:1, direction = "<", quiet = TRUE)
  roc.test(curve(columns[[2]]), curve(columns[[3]]), method = "delong", paired = TRUE)$conf.int
}
"""
tested = Calls(CODE)


@of_metric("AUC")
def compared(d):
    return tested(d.t, d.a, d.b)


compared.clock = time.perf_counter

ROWS = {
    ("Q6d", "roc.test delong, paired"): (compared, DOC),
    ("Q6p", "roc.test delong, paired, patients ignored"): (compared, DOC),
}
CHECKED = [
    ("DeLong, by hand", lambda: compared(TWO_SCORED), around(0, Z * TWO_SCORED_SE), 1e-6),
    ("its own 113 patients", lambda: compared(PATIENTS), PATIENTS_LIMITS, 1e-9),
]
