import numpy as np
from mlquantify.counting import ACC
from mlquantify.meta import AggregativeBootstrap
from sklearn.base import BaseEstimator, ClassifierMixin

DOC = "https://luizfernandolj.github.io/mlquantify/"


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are its one column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, 0].astype(int)

    def predict_proba(self, X):
        return np.stack([1 - X[:, 0], X[:, 0]], axis=1)


def bootstrap(d):
    made = AggregativeBootstrap(ACC(Given()), n_train_bootstraps=20, n_test_bootstraps=20, random_state=0)
    made.fit(d.v0[:, None].astype(float), d.y0)
    made.predict(d.v[:, None].astype(float))
    low, high = made.region.get_region()
    return low[1], high[1]


def point(y, v, new):
    found = ACC(Given()).fit(v[:, None].astype(float), y).predict(new[:, None].astype(float))
    return found[1]


ROWS = {("Q9", "AggregativeBootstrap(ACC), 20 by 20"): (bootstrap, DOC)}
CHECKED = [
    ("adjusted count, by hand", lambda: point(np.repeat([1, 0], 10), np.array([1] * 9 + [0] + [0] * 8 + [1] * 2),
                                              (np.arange(100) < 55).astype(int)), .5, 1e-6),
]
