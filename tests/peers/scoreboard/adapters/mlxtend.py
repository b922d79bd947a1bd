import numpy as np
from fixed import MCNEMAR, PAIRED
from measure import of_metric, test_of_zero
from mlxtend.evaluate import (
    combined_ftest_5x2cv,
    mcnemar,
    mcnemar_table,
    paired_ttest_5x2cv,
    paired_ttest_kfold_cv,
)
from questions import nearest_mean
from sklearn.base import BaseEstimator, ClassifierMixin

DOC = "https://rasbt.github.io/mlxtend/user_guide/evaluate/"


class Half(ClassifierMixin, BaseEstimator):
    """The learner of the question, on some of the columns."""

    def __init__(self, first=0, last=1):
        self.first, self.last = first, last

    def fit(self, X, y):
        self.classes_, self.X_, self.y_ = np.array([0, 1]), X[:, self.first : self.last], y
        return self

    def predict(self, X):
        return nearest_mean(self.X_, self.y_, X[:, self.first : self.last])


def compared(test, **options):
    @test_of_zero
    def call(d):
        k = {"cv": d.k, "shuffle": True} if options.get("folds") else {}
        return float(
            test(
                estimator1=Half(0, d.columns),
                estimator2=Half(d.columns, 2 * d.columns),
                X=d.X,
                y=d.y,
                scoring="accuracy",
                random_seed=1,
                **k,
            )[1]
        )

    return call


def same_items(**options):
    @test_of_zero
    def call(d):
        table = mcnemar_table(y_target=np.ones(d.a.size, int), y_model1=d.a, y_model2=d.b)
        return float(mcnemar(ary=table, **options)[1])

    return call


@of_metric("F1")
@test_of_zero
def same_accuracy(d):
    table = mcnemar_table(y_target=d.t, y_model1=d.predicted_a, y_model2=d.predicted_b)
    return float(mcnemar(ary=table, exact=True)[1])


ROWS = {
    ("Q6", "mcnemar (default), p alone"): (same_items(), DOC + "mcnemar/"),
    ("Q6", "mcnemar exact, p alone"): (same_items(exact=True), DOC + "mcnemar/"),
    ("Q6d", "mcnemar exact, p alone"): (same_accuracy, DOC + "mcnemar/"),
    ("Q6p", "mcnemar exact, patients ignored, p alone"): (same_accuracy, DOC + "mcnemar/"),
    ("Q10", "paired_ttest_kfold_cv, p alone"): (
        compared(paired_ttest_kfold_cv, folds=True),
        DOC + "paired_ttest_kfold_cv/",
    ),
    ("Q10", "paired_ttest_5x2cv, p alone"): (
        compared(paired_ttest_5x2cv),
        DOC + "paired_ttest_5x2cv/",
    ),
    ("Q10", "combined_ftest_5x2cv, p alone"): (
        compared(combined_ftest_5x2cv),
        DOC + "combined_ftest_5x2cv/",
    ),
}
CHECKED = [
    ("exact McNemar, 5 against 1, by hand", lambda: same_items(exact=True)(PAIRED), MCNEMAR, 1e-9),
    # the user guide's second example
    (
        "user guide of mcnemar, table 15 and 25",
        lambda: mcnemar(ary=np.array([[9945, 25], [15, 15]]), corrected=True)[0],
        2.025,
        1e-3,
    ),
]
