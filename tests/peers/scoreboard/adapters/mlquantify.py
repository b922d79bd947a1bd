import mlquantify
import numpy as np
from mlquantify.confidence import construct_confidence_region
from mlquantify.counting import ACC
from sklearn.base import BaseEstimator, ClassifierMixin

DOC = "https://luizfernandolj.github.io/mlquantify/"
mlquantify.set_config(prevalence_return_type="dict")


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are its one column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, 0].astype(int)

    def predict_proba(self, X):
        return np.stack([1 - X[:, 0], X[:, 0]], axis=1)


def point(y, v, new):
    found = ACC(Given()).fit(v[:, None].astype(float), y).predict(new[:, None].astype(float))
    return found.get(1, 0.0)


def resampled(d, tosses=100):
    """Return the region of resampled estimates: `AggregativeBootstrap` itself returns its point alone."""
    rng = np.random.default_rng(0)
    estimates = []
    for _ in range(tosses):
        audit, new = rng.integers(0, d.y0.size, d.y0.size), rng.integers(0, d.v.size, d.v.size)
        share = point(d.y0[audit], d.v0[audit], d.v[new])
        estimates.append([1 - share, share])
    low, high = construct_confidence_region(np.array(estimates), confidence_level=0.95).get_region()
    return low[1], high[1]


ROWS = {("Q9", "construct_confidence_region of 100 resampled ACC"): (resampled, DOC)}
CHECKED = [
    (
        "adjusted count, by hand",
        lambda: point(
            np.repeat([1, 0], 10),
            np.array([1] * 9 + [0] + [0] * 8 + [1] * 2),
            (np.arange(100) < 55).astype(int),
        ),
        0.5,
        1e-6,
    ),
]
