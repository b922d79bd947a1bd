import numpy as np
import ppi_py
from fixed import SIMPLE, Z, around, between_verdicts, unlabeled

DOC = "https://github.com/aangelopoulos/ppi_py#getting-started"


def limits(found):
    return tuple(float(np.squeeze(limit)) for limit in found)


def judged(d):
    verdict = d.verdict.astype(float)
    return limits(
        ppi_py.ppi_mean_ci(
            d.human.astype(float), verdict[d.index], verdict[unlabeled(d, verdict.size)], alpha=0.05
        )
    )


def scored(d):
    return limits(
        ppi_py.ppi_mean_ci(
            d.y.astype(float), d.score[d.index], d.score[unlabeled(d, d.score.size)], alpha=0.05
        )
    )


def shifted(d):
    return limits(
        ppi_py.ppi_mean_ci(d.y0.astype(float), d.v0.astype(float), d.v.astype(float), alpha=0.05)
    )


def plain(d):
    return limits(ppi_py.classical_mean_ci(d.y.astype(float), alpha=0.05))


ROWS = {
    ("Q1", "classical_mean_ci"): (plain, DOC),
    ("Q2", "ppi_mean_ci with the score, strata ignored"): (scored, DOC),
    ("Q8", "ppi_mean_ci"): (judged, DOC),
    ("Q8d", "ppi_mean_ci of differences"): (lambda d: judged(between_verdicts(d)), DOC),
    ("Q9", "ppi_mean_ci, as if nothing shifted"): (shifted, DOC),
}
CHECKED = [
    ("z interval of 8 of 10, by hand", lambda: plain(SIMPLE), around(0.8, Z * 0.4 / 10**0.5), 1e-5),
    # one prediction for all: nothing to gain, lambda 0
    (
        "a constant prediction leaves the labels alone",
        lambda: limits(
            ppi_py.ppi_mean_ci(
                SIMPLE.y.astype(float), np.zeros(10), np.zeros(20), alpha=0.05, lam=0
            )
        ),
        around(0.8, Z * 0.4 / 10**0.5),
        1e-5,
    ),
]
