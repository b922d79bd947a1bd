"""Search for the waves whose interval covers least, over what `search_coverage.py` holds fixed.

    python tests/peers/search_waves.py --family ".95" --minutes 3     # search one family, print the lowest
    python tests/peers/search_waves.py --minutes 20 --write           # every level that long, and record it
    python tests/peers/search_waves.py --recheck                      # recorded designs, fresh draws

A design is a population, labels per wave, and the rule's settings: any smoothing and floor, unequal waves, and priors
that may be wrong as can be. As in the other searches at most half of the items are labeled: beyond that the estimate
says that waves are the wrong design.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from searching import Family, main

from workbench.stratified import waves

RECORD = Path(__file__).with_suffix(".json")
FAMILIES = {".95": 0.95, ".90": 0.9, ".99": 0.99}
MOST_STRATA, FEWEST_LABELS, ROUND = 6, 20, 1e-9


@dataclass(frozen=True)
class Waves:
    """Items and right ones per stratum, labels per wave, and the settings of `next_wave`."""

    size: tuple
    right: tuple
    labels: tuple
    prior: tuple | None
    smoothing: float
    floor: float

    @classmethod
    def from_dict(cls, data):
        """Return a recorded design."""
        return cls(
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in data.items()
            }
        )


def coverage(design, rng, runs, level):
    """Return the share of samples whose interval holds the true share."""
    size, right = np.array(design.size), np.array(design.right)
    settings = waves.wave_settings(size.size, design.prior, design.smoothing, design.floor)
    labeled, correct = np.zeros((2, runs, len(design.labels), size.size), np.int64)
    for t, labels in enumerate(design.labels):
        n, x = labeled.sum(1), correct.sum(1)
        labeled[:, t] = waves.wave_step(size, n, x, labels, *settings)
        good = right - x
        correct[:, t] = rng.hypergeometric(good, size - n - good, labeled[:, t])
    low, high = waves.wave_limits(size, labeled, correct, (1 - level) / 2)
    truth = right.sum() / size.sum()
    return float(np.mean((low <= truth + ROUND) & (truth - ROUND <= high)))


def start(rng):
    """Return a random design."""
    strata, count = int(rng.integers(1, MOST_STRATA + 1)), int(rng.integers(2, 5))
    share = np.exp(rng.normal(0, rng.choice([0.3, 1.5, 3]), strata))
    size = np.maximum(share / share.sum() * rng.choice([600, 5_000, 10**6]), 4 * count + 4).astype(
        int
    )
    rate = np.array([random_rate(rng) for _ in range(strata)])
    budget = np.exp(rng.uniform(np.log(FEWEST_LABELS), np.log(300)))
    labels = np.rint(budget * rng.dirichlet(np.full(count, 3))).astype(int)
    prior = None if rng.random() < 0.4 else tuple(rng.random(strata).tolist())
    smoothing, floor = float(rng.choice([0.5, 4, 30])), float(rng.choice([0, 0.3, 0.7]))
    return built(size, np.rint(size * rate), labels, prior, smoothing, floor)


def random_rate(rng):
    """Return a rate: pure, nearly pure or any."""
    return rng.choice(
        [0, 1, 10 ** rng.uniform(-3.5, -0.5), 1 - 10 ** rng.uniform(-3.5, -0.5), rng.random()]
    )


def built(size, right, labels, prior, smoothing, floor):
    """Return the design with at least 2 labels per wave and stratum and at most half of the items labeled."""
    labels = np.maximum(labels, 2 * size.size)
    labels[int(labels.argmax())] += max(FEWEST_LABELS - labels.sum(), 0)
    size = np.maximum(size, 2 * labels.size + 2)
    size[int(size.argmax())] += max(2 * labels.sum() - size.sum(), 0)
    right = np.clip(right, 0, size).astype(int)
    return Waves(
        tuple(size.tolist()), tuple(right.tolist()), tuple(labels.tolist()), prior, smoothing, floor
    )


def moved(design, rng):
    """Return a neighbor: other labels of a wave, another size or rate of a stratum, another setting."""
    size, right, labels = (
        np.array(values) for values in (design.size, design.right, design.labels)
    )
    prior, smoothing, floor = design.prior, design.smoothing, design.floor
    h, choice = int(rng.integers(size.size)), rng.random()
    if choice < 0.3:
        t = int(rng.integers(labels.size))
        labels[t] = round(labels[t] * np.exp(rng.normal(0, 0.4)))
    elif choice < 0.5:
        scaled = min(round(size[h] * np.exp(rng.normal(0, 0.7))), 10**6)
        right[h], size[h] = round(right[h] / size[h] * scaled), scaled
    elif choice < 0.8:
        near = right[h] / size[h] + rng.normal(0, 0.05)
        right[h] = round(
            size[h] * (random_rate(rng) if rng.random() < 0.3 else np.clip(near, 0, 1))
        )
    elif choice < 0.9:
        prior = None if rng.random() < 0.3 else tuple(rng.random(size.size).tolist())
    else:
        smoothing, floor = (
            float(np.clip(smoothing * np.exp(rng.normal(0, 1)), 0.1, 100)),
            float(rng.random()),
        )
    return built(size, right, labels, prior, smoothing, floor)


SEARCHED = {
    name: Family(
        start,
        moved,
        lambda design, rng, runs, level=level: coverage(design, rng, runs, level),
        Waves.from_dict,
    )
    for name, level in FAMILIES.items()
}

if __name__ == "__main__":
    main(SEARCHED, RECORD, __doc__.splitlines()[0])
