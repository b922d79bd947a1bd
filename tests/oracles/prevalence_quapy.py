"""Adjusted classify and count by QuaPy 0.2.3; `python prevalence_quapy.py` writes prevalence_quapy.json beside it.

"exact-raise" without normalization is the solution of the linear system itself.
"""

import json
from pathlib import Path

import numpy as np

SETTINGS = ((2, 400), (2, 60), (3, 1000), (4, 800), (5, 3000))
PER_SETTING = 6


def acc(quapy_acc, classes):
    """Return an unfitted ACC whose fitting takes predictions: its own classifier is never asked."""
    from sklearn.linear_model import LogisticRegression

    trained = LogisticRegression().fit(np.eye(classes), np.arange(classes))
    return quapy_acc(trained, fit_classifier=False, val_split=None, solver="exact-raise", norm=None)


def case(quapy_acc, classes, items, rng):
    """One audit and one period, item by item."""
    rates = 0.3 * rng.dirichlet(np.ones(classes), classes) + 0.7 * np.eye(classes)
    table = rng.multinomial(items, (rng.dirichlet(np.full(classes, 3.0))[:, None] * rates).ravel())
    counts = rng.multinomial(5000, rng.dirichlet(np.full(classes, 3.0)) @ rates)
    truth, prediction = np.divmod(np.repeat(np.arange(classes**2), table), classes)
    quantifier = acc(quapy_acc, classes)
    quantifier.aggregation_fit(prediction, truth)
    estimate = quantifier.aggregate(np.repeat(np.arange(classes), counts))
    return {
        "table": table.reshape(classes, classes).tolist(),
        "counts": counts.tolist(),
        "estimate": estimate.tolist(),
    }


def main():
    """Write the file."""
    import quapy
    from quapy.method.aggregative import ACC

    rng = np.random.default_rng(7)
    cases = [
        case(ACC, classes, items, rng) for classes, items in SETTINGS for _ in range(PER_SETTING)
    ]
    text = json.dumps({"quapy": quapy.__version__, "cases": cases})
    Path(__file__).with_suffix(".json").write_text(
        text.replace('{"table', '\n{"table') + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
