"""How well off is who follows the advised estimator of shares: simulated audits of known truth, setting by setting."""

import sys

import numpy as np

import workbench as wb

# base rate at the audit and later, p00, p11, audited items, items at the audit and later; (.5, .6, .7), (.98, .94, .97)
# and (.75, .85, .9) are the studies of Kloos's paper, the shifts and the others are ours and span who wins
SETTINGS = [
    (0.5, 0.35, 0.6, 0.7, 1000, 10_000, 10_000),
    (0.5, 0.5, 0.6, 0.7, 1000, 10_000, 10_000),
    (0.5, 0.48, 0.6, 0.7, 1000, 10_000, 2000),
    (0.5, 0.55, 0.6, 0.7, 1000, 10_000, 10_000),
    (0.5, 0.2, 0.6, 0.7, 1000, 10_000, 10_000),
    (0.98, 0.98, 0.94, 0.97, 1000, 10_000, 10_000),
    (0.98, 0.9, 0.94, 0.97, 1000, 10_000, 10_000),
    (0.98, 0.99, 0.94, 0.97, 1000, 10_000, 10_000),
    (0.75, 0.75, 0.85, 0.9, 1000, 10_000, 10_000),
    (0.75, 0.5, 0.85, 0.9, 1000, 10_000, 10_000),
    (0.1, 0.2, 0.95, 0.85, 1000, 10_000, 10_000),
    (0.3, 0.05, 0.99, 0.7, 1000, 10_000, 10_000),
    (0.1, 0.12, 0.98, 0.82, 1000, 10_000, 10_000),
    (0.3, 0.02, 0.995, 0.6, 1000, 10_000, 10_000),
    (0.75, 0.7, 0.85, 0.9, 100, 10_000, 10_000),
    (0.1, 0.12, 0.95, 0.85, 200, 10_000, 10_000),
    (0.3, 0.29, 0.75, 0.8, 300, 5000, 5000),
]
RAW = 1


def audits(setting, runs, rng):
    """Yield the true share, the audit's table and the predicted counts, at the audit and later."""
    first, later, p00, p11, n, size, new_size = setting
    for _ in range(runs):
        truth = rng.random(size) < first
        read = rng.random(size) < np.where(truth, p11, 1 - p00)
        table = np.histogram2d(truth[:n], read[:n], bins=2, range=[[0, 1], [0, 1]])[0].astype(int)
        new = rng.binomial(new_size, later)
        counted = rng.binomial(new, p11) + rng.binomial(new_size - new, 1 - p00)
        yield new / new_size, table, (size - read.sum(), read.sum()), (new_size - counted, counted)


def followed(setting, runs, seed=0):
    """Return the error of following the advice over that of always mle, and how often the raw count misled.

    It misleads where it is advised although its error is over twice that of the best estimator.
    """
    errors, advised = [], []
    for truth, table, frame, counts in audits(setting, runs, np.random.default_rng(seed)):
        found = wb.compare_estimators(wb.ConfusionCounts(table), counts, frame, sampled_by="random")
        errors.append(np.clip(found.estimate, 0, 1) - truth)
        advised.append(found.methods.index(found.best))
    errors, advised = np.array(errors), np.array(advised)
    rmse = np.sqrt(np.mean(errors**2, axis=0))
    own = np.sqrt(np.mean(errors[np.arange(runs), advised] ** 2))
    return own / rmse[found.methods.index("mle")], np.mean(advised == RAW) * (
        rmse[RAW] > 2 * rmse.min()
    )


if __name__ == "__main__":
    for each in SETTINGS:
        ratio, misled = followed(each, int(sys.argv[1]) if len(sys.argv) > 1 else 300)
        print(
            f"{str(each):55} error {ratio:.3f} times that of always mle; misled by the raw count in {misled:.1%}"
        )
