import joblib
import numpy as np
from quapy.method.aggregative import ACC
from quapy.method.confidence import AggregativeBootstrap
from sklearn.base import BaseEstimator, ClassifierMixin

DOC = "https://hlt-isti.github.io/QuaPy/"


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions are its one column."""

    def __init__(self):
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


def corrected():
    return ACC(Given(), fit_classifier=False, val_split=None)


def bootstrap(**options):
    def call(d):
        made = AggregativeBootstrap(corrected(), random_state=0, **options)
        made.fit(d.v0[:, None].astype(float), d.y0)
        with joblib.parallel_config(backend="sequential"):  # one process, whose time is counted
            region = made.predict_conf(d.v[:, None].astype(float))[1]
        return float(region.I_low[1]), float(region.I_high[1])

    return call


def point(y, v, new):
    return corrected().fit(v[:, None].astype(float), y).predict(new[:, None].astype(float))[1]


ROWS = {
    ("Q9", "AggregativeBootstrap(ACC) (default)"): (bootstrap(), DOC),
    ("Q9", "AggregativeBootstrap(ACC, n_train_samples=100, n_test_samples=50)"): (
        bootstrap(n_train_samples=100, n_test_samples=50),
        DOC,
    ),
}
CHECKED = [
    # 9 of 10 and 8 of 10 recognized, 55 of 100 predicted: (.55 - .2) / (.9 - .2)
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
