import numpy as np
from fixed import FOLDS, around
from questions import fold_differences
from scipy.stats import t

DOC = "https://scikit-learn.org/stable/auto_examples/model_selection/plot_grid_search_stats.html"


def corrected_std(differences, n_train, n_test):
    """Return the example's standard deviation, corrected by Nadeau and Bengio's approach."""
    return np.sqrt(np.var(differences, ddof=1) * (1 / len(differences) + n_test / n_train))


def limits(z):
    k = len(z)
    return around(z.mean(), t.ppf(0.975, k - 1) * corrected_std(z, k - 1, 1))


ROWS = {("Q10", "example: corrected_std"): (lambda d: limits(fold_differences(d)), DOC)}
CHECKED = [
    # sum of squares .17 - 10 * .06 ** 2 = .134; t of 9 degrees of freedom 2.262157
    (
        "the example's formula, by hand",
        lambda: limits(FOLDS),
        around(0.06, 2.262157 * (0.134 / 9 * (1 / 10 + 1 / 9)) ** 0.5),
        1e-5,
    ),
]
