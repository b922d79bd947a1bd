"""Simulate the intervals of `classification_table` from audits that were sampled by the truth.

    python tests/peers/classification_coverage.py            # 60 designs, 200 samples each
    python tests/peers/classification_coverage.py 200 400

Designs are drawn at random: 2 to 4 classes, accuracies of .6 to .99 with errors spread at random,
any proportions, 10 to 200 audited items of a class, 200 to a million counted items. Designs whose
smallest singular value of P(prediction | truth) is below .25 are left out.
"""

import sys

import numpy as np

import workbench as wb


def design(rng):
    """Return rates (K, K), proportions (K,), audited items (K,) and counted items, or None."""
    classes = int(rng.integers(2, 5))
    rates = np.zeros((classes, classes))
    for k, accuracy in enumerate(rng.choice([0.6, 0.8, 0.9, 0.95, 0.99], classes)):
        errors = rng.dirichlet(np.full(classes - 1, 0.7)) * (1 - accuracy)
        rates[k] = np.insert(errors, k, accuracy)
    proportions = rng.dirichlet(np.full(classes, rng.choice([0.5, 1, 3])))
    audited = rng.choice([10, 20, 30, 50, 100, 200], classes)
    counted = int(rng.choice([200, 1000, 10_000, 10**6]))
    if np.linalg.svd(rates, compute_uv=False)[-1] < 0.25:
        return None
    return rates, proportions, audited, counted


def coverage(rates, proportions, audited, counted, samples, rng):
    """Return how often the intervals of precision, F1 and accuracy hold the value of the items."""
    inside = []
    for _ in range(samples):
        true = rng.multinomial(counted, proportions)
        items = np.array([rng.multinomial(*pair) for pair in zip(true, rates, strict=True)])
        audit = [rng.multinomial(*pair) for pair in zip(audited, rates, strict=True)]
        predicted = items.sum(0)
        table = wb.classification_table(wb.ConfusionCounts(audit), predicted, sampled_by="truth")
        correct = np.diag(items)
        with np.errstate(invalid="ignore"):
            precision = correct / predicted
            f1 = 2 * correct / (predicted + true)
        accuracy = np.array([[*table.accuracy.interval()]])
        limits = np.concatenate([table.precision[:, 2:], table.f1[:, 2:], accuracy])
        values = np.array([*precision, *f1, correct.sum() / counted])
        near = (limits[:, 0] - 1e-9 <= values) & (values <= limits[:, 1] + 1e-9)
        inside.append(near | np.isnan(values))
    return np.mean(inside, 0)


def main(designs=60, samples=200, seed=0):
    """Print the least and the mean coverage over the designs."""
    rng = np.random.default_rng(seed)
    covered = []
    while len(covered) < designs:
        setting = design(rng)
        if setting is not None:
            covered.append(coverage(*setting, samples, rng))
    least = min(part.min() for part in covered)
    mean = np.concatenate(covered).mean()
    print(f"{designs} designs, {samples} samples each: least {least:.3f}, mean {mean:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
