"""Search for the designs where the intervals for values, recall and F1 cover least, and keep what was found.

    python tests/peers/search_values.py --family signs --minutes 3            # search one family, print the lowest
    python tests/peers/search_values.py --minutes 20 --write                  # every family that long, and record it
    python tests/peers/search_values.py --recheck                             # recorded designs, fresh draws

A design is a population (items per stratum and value) and labels per stratum.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from searching import Family, main

from workbench.intervals.values import interval_limits, upper_limit
from workbench.stratified.class_metrics import beyond_zero

RECORD = Path(__file__).with_suffix(".json")
SIGNS, HALVES, TEN = (-1, 0, 1), (0, 0.5, 1), (0, 1, 10)
FAMILIES = {
    f"{name} {level:g}": (values, level)
    for level in (0.95, 0.9, 0.99)
    for name, values in (("signs", SIGNS), ("halves", HALVES), ("tenfold", TEN))
}
FAMILIES |= {
    "mixed with 0/1 strata": (None, 0.95),
    "census": (SIGNS, 0.95),
    "recall": ("recall", 0.95),
    "f1": ("f1", 0.95),
}
MOST_STRATA, FEWEST_LABELS, MOST_IN_CENSUS = 10, 20, 200
ROUND = 1e-9


@dataclass(frozen=True)
class Design:
    """Items of the population per stratum and value (H, V), values (H, V), labels (H,)."""

    items: np.ndarray
    values: np.ndarray
    labeled: np.ndarray

    @classmethod
    def from_dict(cls, data):
        """Return a recorded design."""
        return cls(*(np.array(data[name]) for name in ("items", "values", "labeled")))


def draw(design, rng, runs):
    """Return counts (R, H, V) of `runs` samples without replacement."""
    return np.stack(
        [
            rng.multivariate_hypergeometric(row, n, size=runs)
            for row, n in zip(design.items, design.labeled, strict=True)
        ],
        1,
    )


def value_coverage(design, level, rng, runs):
    """Return the share of samples whose interval holds the true mean."""
    size, tail = design.items.sum(1), (1 - level) / 2
    counts = draw(design, rng, runs)
    truth = (design.items * design.values).sum() / size.sum()
    low = -upper_limit(size, counts, -design.values, tail)[0]
    high = upper_limit(size, counts, design.values, tail)[0]
    low, high = interval_limits(size, counts, design.values, low, high)
    return float(np.mean((low <= truth + ROUND) & (truth - ROUND <= high)))


def metric_coverage(design, metric, level, rng, runs):
    """Return the share of samples whose interval holds recall or F1: at the truth both limits must hold 0.

    The interval reaches from the first to the last r at which they do, so it covers at least as often.
    """
    size, member, tail = design.items.sum(1), design.values[:, 0] > 0, (1 - level) / 2
    members, hits, missed = (
        size[member].sum(),
        design.items[member, 1].sum(),
        design.items[~member, 0].sum(),
    )
    once, base = (1, 0) if metric == "recall" else (2, members)
    if not base + hits + missed:
        return 1.0
    truth = once * hits / (base + hits + missed)
    values = np.where(member[:, None], [0.0, once - truth], [-truth, 0.0])
    counts, constant = draw(design, rng, runs), truth * base / size.sum()
    sides = [beyond_zero(size, counts, values, -constant, sign, tail)[0] > 0 for sign in (1, -1)]
    return float(np.all(sides, 0).mean())


def coverage(design, family, rng, runs):
    """Return the coverage of a design in its family."""
    kind, level = FAMILIES[family]
    if isinstance(kind, str):
        return metric_coverage(design, kind, level, rng, runs)
    return value_coverage(design, level, rng, runs)


def start(family, rng):
    """Return a random design of a family."""
    kind, strata = FAMILIES[family][0], int(rng.integers(1, MOST_STRATA + 1))
    if isinstance(kind, str) or family == "census":
        strata = max(strata, 2)
    if isinstance(kind, str):
        member = np.arange(strata) < rng.integers(1, strata)
        values = np.repeat(member[:, None].astype(float), 2, 1)
    elif kind is None:
        values = np.array(
            [(0, 0, 1) if rng.random() < 0.5 else SIGNS for _ in range(strata)], float
        )
    else:
        values = np.tile(np.array(kind, float), (strata, 1))
    alike = rng.random() < 0.3
    labeled = some_labels(rng, strata, alike)
    size = np.exp(rng.normal(0, 0 if alike else rng.choice([0.3, 1.5, 3]), strata))
    size = np.maximum((size / size.sum() * rng.choice([600, 5_000, 10**6])).astype(int), labeled)
    if family == "census":
        known = np.arange(strata) < rng.integers(1, strata)
        size[known] = rng.integers(1, MOST_IN_CENSUS, known.sum())
        labeled[known] = size[known]
    mix = mixes(rng, 1, values.shape[1]) * strata if alike else mixes(rng, strata, values.shape[1])
    return Design(
        np.stack([rng.multinomial(items, p) for items, p in zip(size, mix, strict=True)]),
        values,
        labeled,
    )


def some_labels(rng, strata, alike):
    """Return labels per stratum: as few in each, or any."""
    if alike:
        return np.full(strata, max(rng.integers(2, 6), -(-FEWEST_LABELS // strata)))
    budget = int(np.exp(rng.uniform(np.log(FEWEST_LABELS), np.log(300))))
    labeled = 2 + rng.multinomial(max(budget - 2 * strata, 0), rng.dirichlet(np.ones(strata)))
    labeled[0] += max(FEWEST_LABELS - labeled.sum(), 0)
    return labeled


def mixes(rng, strata, width):
    """Return how the items of strata spread over the values: often nearly all on one, often on two alone."""
    if rng.random() < 0.5:
        return [rng.dirichlet(np.full(width, rng.choice([0.05, 0.3, 1]))) for _ in range(strata)]
    share = rng.uniform(0, 0.4, strata)
    common, rare = (np.eye(width)[k] for k in rng.permutation(width)[:2])
    return [p * rare + (1 - p) * common for p in share]


def moved(design, rng, family):
    """Return a neighbor: other labels, another size or another mix of one stratum, or another mix of all."""
    items, labeled = design.items.copy(), design.labeled.copy()
    known = labeled == items.sum(1) if family == "census" else np.zeros(len(items), bool)
    h, choice = int(rng.integers(len(items))), rng.random()
    if choice < 0.3:
        labeled[h] = np.clip(labeled[h] + rng.choice([-8, -2, -1, 1, 2, 8]), 2, items[h].sum())
    elif choice < 0.55:
        scale = np.exp(rng.normal(0, 0.7))
        items[h] = np.maximum((items[h] * scale).astype(int), 0)
        items[h, int(items[h].argmax())] += max(labeled[h] - items[h].sum(), 0)
    elif choice < 0.9:
        a, b = rng.choice(items.shape[1], 2, replace=False)
        share = rng.choice([0.02, 0.1, 0.5, 1])
        for k in [h] if choice < 0.75 else range(len(items)):
            step = min(int(np.ceil(items[k, a] * share)), items[k, a])
            items[k, a], items[k, b] = items[k, a] - step, items[k, b] + step
    else:
        items[h] = rng.multinomial(items[h].sum(), mixes(rng, 1, items.shape[1])[0])
    if not known.all():
        labeled[int(np.where(known, 0, labeled).argmax())] += max(
            FEWEST_LABELS - labeled[~known].sum(), 0
        )
    return Design(
        items, design.values, np.where(known, items.sum(1), np.minimum(labeled, items.sum(1)))
    )


def family_of(name):
    """Return the `Family` of a name."""
    return Family(
        lambda rng: start(name, rng),
        lambda design, rng: moved(design, rng, name),
        lambda design, rng, runs: coverage(design, name, rng, runs),
        Design.from_dict,
    )


SEARCHED = {name: family_of(name) for name in FAMILIES}

if __name__ == "__main__":
    main(SEARCHED, RECORD, __doc__.splitlines()[0])
