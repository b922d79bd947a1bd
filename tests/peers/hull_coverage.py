"""How often the hull holds the share of a batch that an earlier audit corrects, and how wide it is, beside two others.

    python tests/peers/hull_coverage.py            # print
    python tests/peers/hull_coverage.py --write    # record

Named settings: the audit is a random sample of an earlier batch of 1,000; truth is the share of what is counted later,
1,000 items. Searched ones: rates, shares, sizes at random, at least 8 items of each class audited.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.misclassification.setting import hull

RECORD = Path(__file__).with_suffix(".json")
SIZE = 1_000
# audited items, shares then and now, P(called 1 | 1), P(called 0 | 0)
NAMED = {
    ".80 to .60": (100, 0.8, 0.6, 0.9, 0.8),
    ".90 to .70": (100, 0.9, 0.7, 0.95, 0.7),
    ".60 to .80": (50, 0.6, 0.8, 0.85, 0.85),
    ".50 to .50": (200, 0.5, 0.5, 0.8, 0.8),
    ".95 to .85": (200, 0.95, 0.85, 0.97, 0.6),
    ".10 to .20": (100, 0.1, 0.2, 0.8, 0.95),
}


def draw(n, old, new, p11, p00, size, runs, rng):
    """Return audits (R, 2, 2), counts (R, 2), and the true share of what is counted (R,)."""
    ones = rng.binomial(n, old, runs)
    right1, right0 = rng.binomial(ones, p11), rng.binomial(n - ones, p00)
    truth = rng.binomial(size, new, runs)
    called = rng.binomial(truth, p11) + rng.binomial(size - truth, 1 - p00)
    table = np.stack([right0, n - ones - right0, ones - right1, right1], -1).reshape(runs, 2, 2)
    return table, np.stack([size - called, called], -1), truth / size


def of_method(method, table, counts):
    """Return the limits of the library, item by item."""

    def one(audit, counted):
        try:
            return tuple(
                wb.estimate_prevalence(wb.ConfusionCounts(audit), counted, method=method).interval()
            )
        except ValueError:  # labels clearly swapped
            return np.nan, np.nan

    return np.array([one(*pair) for pair in zip(table, counts, strict=True)]).T


def said(low, high, truth):
    """Return coverage and median width."""
    return {
        "coverage": round(float(np.mean((low <= truth) & (truth <= high))), 4),
        "width": round(float(np.nanmedian(high - low)), 4),
    }


def named(rng, runs=20_000, few=1_000):
    """Return what the hull covers by setting, and the widths of it and of "misclassification" in the same runs."""
    found = {}
    for name, setting in NAMED.items():
        table, counts, truth = draw(*setting, SIZE, runs, rng)
        same = table[:few], counts[:few]
        width = said(*hull(*same, 0.95), truth[:few])["width"]
        usual = said(*of_method("misclassification", *same), truth[:few])
        found[name] = said(*hull(table, counts, 0.95), truth) | {
            "misclassification": usual,
            "width over misclassification": round(width / usual["width"], 3),
        }
    return found


def searched(rng, of_batch, designs=5_000, runs=1_000, again=40_000, worst=60):
    """Return the least coverage of random designs, of the batch's share or of that which the batch is a sample of."""
    drawn = []
    for _ in range(designs):
        n, size = (
            int(np.exp(rng.uniform(*np.log(range_)))) for range_ in ((20, 1_000), (200, 20_000))
        )
        rare = rng.uniform(8 / n, 0.5)
        drawn.append(
            (
                n,
                rng.choice([rare, 1 - rare]),
                rng.uniform(0.02, 0.98),
                *rng.uniform(0.6, 0.995, 2),
                size,
            )
        )

    def covered(design, runs):
        n, old, new, p11, p00, size = design
        table, counts, truth = draw(n, old, new, p11, p00, size, runs, rng)
        enough = table.sum(-1).min(-1) >= 8
        low, high = hull(table, counts, 0.95)
        truth = truth if of_batch else np.full(runs, new)
        return np.mean(((low <= truth) & (truth <= high))[enough])

    first = np.array([covered(design, runs) for design in drawn])
    lowest = [(covered(drawn[k], again), drawn[k]) for k in np.argsort(first)[:worst]]
    least, design = min(lowest, key=lambda pair: pair[0])
    return {
        "designs": designs,
        "least": round(float(least), 4),
        "median": round(float(np.median(first)), 4),
        "at": [round(float(value), 3) for value in design],
    }


if __name__ == "__main__":
    began = time.process_time()
    record = {"seed": 1, "named": named(np.random.default_rng(1))} | {
        f"searched, share of {what}": searched(np.random.default_rng(2), what == "the batch")
        for what in ("the batch", "what it is a sample of")
    }
    text = (
        json.dumps(record | {"minutes": round((time.process_time() - began) / 60, 2)}, indent=1)
        + "\n"
    )
    print(text)
    if "--write" in sys.argv:
        RECORD.write_text(text)
