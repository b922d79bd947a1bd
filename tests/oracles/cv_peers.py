"""Write cv_peers.json: what mlxtend 0.25.0, baycomp 1.0.3 and scikit-learn 1.9.1's example say.

    pip install mlxtend==0.25.0 baycomp==1.0.3 scikit-learn==1.9.1
    python tests/oracles/cv_peers.py

The last part records answers that are wrong. The scikit-learn figures are computed with the formulas of its example
"Statistical comparison of models using grid search".
"""

import json
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

X, Y = load_iris(return_X_y=True)
X = X[:, :2]
MODELS = {
    "estimator1": DecisionTreeClassifier(max_depth=1, random_state=0),
    "estimator2": GaussianNB(),
}


class Recorder:
    """A scorer that keeps what it returns."""

    def __init__(self):
        self.scores = []

    def __call__(self, model, X, y):
        self.scores.append(float((model.predict(X) == y).mean()))
        return self.scores[-1]


def split_tests():
    """Differences of scores (first less second) that mlxtend's tests saw, and what they said."""
    from mlxtend import evaluate

    found = {}
    for name in (
        "paired_ttest_5x2cv",
        "combined_ftest_5x2cv",
        "paired_ttest_kfold_cv",
        "paired_ttest_resampled",
    ):
        seen = Recorder()
        statistic, p = getattr(evaluate, name)(**MODELS, X=X, y=Y, scoring=seen, random_seed=1)
        differences = np.subtract(seen.scores[::2], seen.scores[1::2])
        found[name] = {
            "differences": differences.tolist(),
            "statistic": float(statistic),
            "pvalue": float(p),
        }
    return found


def mcnemar():
    from mlxtend import evaluate

    found = []
    for b, c in ((21, 4), (4, 21), (7, 7), (1, 0), (12, 15), (130, 90)):
        table = np.array([[50, b], [c, 20]])
        found.append(
            {
                "b": b,
                "c": c,
                "chi2": list(map(float, evaluate.mcnemar(table, corrected=True))),
                "exact": float(evaluate.mcnemar(table, exact=True)[1]),
            }
        )
    return found


def bayes():
    import baycomp

    rng, found = np.random.default_rng(5), []
    for folds, runs, rope in ((10, 1, 0), (10, 1, 0.01), (5, 10, 0.02), (10, 10, 0.005)):
        first = rng.normal(0.8, 0.03, folds * runs)
        second = first + rng.normal(0.01, 0.02, folds * runs)
        probs = [float(p) for p in baycomp.two_on_single(first, second, rope=rope, runs=runs)]
        found.append(
            {
                "difference": (second - first).tolist(),
                "runs": runs,
                "rope": rope,
                "probabilities": probs,
            }
        )
    return found


def scikit_learn_example():
    X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    rbf, linear = (
        cross_val_score(SVC(kernel=kernel, random_state=0), X, y, scoring="roc_auc", cv=cv)
        for kernel in ("rbf", "linear")
    )
    differences = rbf - linear
    n, n_train, n_test = 100, 90, 10
    corrected = np.sqrt(np.var(differences, ddof=1) * (1 / n + n_test / n_train))
    t = np.mean(differences) / corrected
    plain = np.mean(differences) / np.sqrt(np.var(differences, ddof=1) / n)
    posterior = stats.t(n - 1, loc=np.mean(differences), scale=corrected)
    return {
        "differences": differences.tolist(),
        "t": t,
        "p one-sided": stats.t.sf(abs(t), n - 1),
        "uncorrected t": plain,
        "uncorrected p one-sided": stats.t.sf(abs(plain), n - 1),
        "better": 1 - posterior.cdf(0),
        "rope": posterior.cdf(0.01) - posterior.cdf(-0.01),
    }


def wrong():
    """Answers to questions that have none."""
    import baycomp
    from mlxtend import evaluate

    same = {"estimator1": LogisticRegression(), "estimator2": LogisticRegression()}
    found = {
        "mlxtend mcnemar, no disagreement": str(evaluate.mcnemar(np.array([[60, 0], [0, 40]])))
    }
    for name in ("paired_ttest_kfold_cv", "paired_ttest_5x2cv", "combined_ftest_5x2cv"):
        try:
            found[f"mlxtend {name}, equal models"] = str(
                getattr(evaluate, name)(**same, X=X, y=Y, random_seed=1)
            )
        except ZeroDivisionError as error:
            found[f"mlxtend {name}, equal models"] = f"ZeroDivisionError: {error}"
    one = np.full(10, 0.5)
    found["baycomp, constant difference"] = str(baycomp.two_on_single(one, one + 0.125))
    found["baycomp, NaN"] = str(baycomp.two_on_single(one, np.append(one[1:], np.nan)))
    try:
        found["baycomp, lists"] = str(baycomp.two_on_single(one.tolist(), one.tolist()))
    except (AttributeError, TypeError) as error:
        found["baycomp, lists"] = type(error).__name__
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = {
        "mlxtend": split_tests(),
        "mcnemar": mcnemar(),
        "baycomp": bayes(),
        "scikit-learn": scikit_learn_example(),
        "wrong": wrong(),
    }
    Path(__file__).with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
