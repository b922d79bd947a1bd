"""How often intervals of agreement hold it, in seeded settings of people who err, and how wide they are.

    python tests/peers/agreement_coverage.py            # print
    python tests/peers/agreement_coverage.py --write    # record

A setting: items of true classes, and people with error rates of their own by true class, who leave labels out at
random. What is true of a coefficient is its value for the probabilities of all patterns of labels.
"""

import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np

from workbench.labeling.agreement import coefficient, limits_of

RECORD = Path(__file__).with_suffix(".json")
METRICS = ("raw", "kappa", "fleiss", "ac1", "alpha")
# items, people, share of the rarest class, agreement, classes
KINDS = {
    "searched": ((30, 500), (2, 5), (0.1, 0.5), (0.6, 0.97), 2),
    "three classes": ((30, 500), (2, 3), (0.1, 0.33), (0.6, 0.97), 3),
    "five classes": ((30, 500), (2, 2), (0.1, 0.2), (0.6, 0.97), 5),
    "10 to 30 items": ((10, 30), (2, 5), (0.1, 0.5), (0.6, 0.97), 2),
    "rare class": ((30, 500), (2, 5), (0.02, 0.1), (0.6, 0.97), 2),
    "near 100%": ((30, 500), (2, 5), (0.1, 0.5), (0.97, 0.995), 2),
}


def setting(kind, rng):
    """Return items, patterns (Q, P) and their probabilities (Q,)."""
    items, people, rare, alike, classes = kind
    n, people = (
        int(np.exp(rng.uniform(*np.log(items)))),
        int(rng.integers(people[0], people[1] + 1)),
    )
    first, agree, missing = (
        rng.uniform(*rare),
        rng.uniform(*alike),
        rng.choice([0, rng.uniform(0, 0.3)]),
    )
    truth = np.append(first, np.full(classes - 1, (1 - first) / (classes - 1)))
    # two people who err alike agree in (1 - e)^2 + e^2 / (K - 1) of all items
    error = (
        (classes - 1) / classes * (1 - np.sqrt(max(1 - classes / (classes - 1) * (1 - agree), 0)))
    )
    wrong = np.clip(error * rng.uniform(0.5, 1.5, (people, classes)), 0, 0.5)
    says = np.where(np.eye(classes), 1 - wrong[..., None], wrong[..., None] / (classes - 1)) * (
        1 - missing
    )
    says = np.concatenate(
        [says, np.full((people, classes, 1), missing)], -1
    )  # person, truth, label or none
    patterns = np.array(list(itertools.product(range(classes + 1), repeat=people)))
    given = np.prod([says[person][:, patterns[:, person]] for person in range(people)], 0)
    return n, np.where(patterns == classes, -1, patterns), truth @ given


def covered(kind, rng, runs):
    """Return coverage and mean width per coefficient, and whether an interval had no width."""
    n, patterns, probability = setting(kind, rng)
    weight = rng.multinomial(n, probability / probability.sum(), size=runs) * 1.0
    found = []
    for metric in METRICS:
        codes = patterns[:, :2] if metric == "kappa" else patterns
        truth = coefficient(metric, codes, probability * 1e12, kind[4])[0]
        _, low, high, _ = limits_of(metric, codes, weight, kind[4], 0.95)
        found.append(
            (np.mean((low <= truth) & (truth <= high)), np.mean(high - low), np.min(high - low))
        )
    return np.array(found)


def of_kind(name, seed, settings=100, runs=4_000):
    """Return least and median coverage, and median width, per coefficient."""
    rng, began = np.random.default_rng([seed, *name.encode()]), time.process_time()
    found = np.array([covered(KINDS[name], rng, runs) for _ in range(settings)])
    return {
        "seed": seed,
        "settings": settings,
        "runs": runs,
        "minutes": round((time.process_time() - began) / 60, 2),
        "least width": float(found[..., 2].min()),
        "below .93": int((found[..., 0] < 0.93).sum()),
        **{
            metric: {
                "least": round(float(of[:, 0].min()), 4),
                "median": round(float(np.median(of[:, 0])), 4),
                "width": round(float(np.median(of[:, 1])), 4),
            }
            for metric, of in zip(METRICS, found.transpose(1, 0, 2), strict=True)
        },
    }


if __name__ == "__main__":
    text = json.dumps({name: of_kind(name, 1) for name in KINDS}, indent=1) + "\n"
    print(text)
    if "--write" in sys.argv:
        RECORD.write_text(text)
