import baycomp
import numpy as np
from fixed import FOLDS
from measure import test_of_zero
from questions import fold_differences

DOC = "https://baycomp.readthedocs.io/en/latest/functions.html"


def sides(z):
    return baycomp.two_on_single(z, np.zeros_like(z), runs=1)


@test_of_zero
def call(d):
    return 2 * min(sides(fold_differences(d)))


ROWS = {("Q10", "two_on_single, twice the smaller chance"): (call, DOC)}
CHECKED = [
    # the correlated t: .06 over sqrt(.134 / 9 * (1 / 10 + 1 / 9)) = 1.0702 with 9 degrees of freedom
    ("correlated t test, by hand", lambda: sorted(sides(FOLDS))[0], 0.15619, 1e-4),
]
