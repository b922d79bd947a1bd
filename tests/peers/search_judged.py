"""Search for the designs where intervals under a judge cover least, and keep what was found.

    python tests/peers/search_judged.py --family "same items" --minutes 3     # search one family, print the lowest
    python tests/peers/search_judged.py --minutes 20 --write                  # every family that long, and record it
    python tests/peers/search_judged.py --recheck                             # recorded designs, fresh draws

Same items: two verdicts are the strata, 20 to 400 labels, in proportion or not, at least 2 of each verdict. Two models:
100 to 20,000 items, 20 to 400 labels, any pairs of verdicts and any truth, also verdicts with few exceptions; labels by
pairs of verdicts, or of all items alike. Hull: audits of 20 to 1,000 items, of which only those with at least 8 of each
class count, rates from .6 to .995, shares from .02 to .98; the truth is the share of the batch, or that of which the
batch is a sample.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import judged_coverage
import numpy as np
import search_coverage
from searching import Family, main

from workbench.misclassification.setting import hull
from workbench.stratified.judged import judged_labels, judged_limits, regression_limits

RECORD = Path(__file__).with_suffix(".json")
LEVEL, ENUMERATED = 0.95, 20_000
LABELS, ITEMS, AUDITED, EACH = (20, 400), (100, 20_000), (20, 1_000), 8


@dataclass(frozen=True)
class Verdicts:
    """Items, right ones and labels (2,) by verdict."""

    size: np.ndarray
    right: np.ndarray
    labeled: np.ndarray

    @classmethod
    def load(cls, data):
        """Return the design that was saved."""
        return cls(**{name: np.array(value) for name, value in data.items()})


@dataclass(frozen=True)
class Models:
    """Items (4, 3) by verdicts and right A less right B, and labels."""

    items: np.ndarray
    labels: int

    @classmethod
    def load(cls, data):
        """Return the design that was saved."""
        return cls(np.array(data["items"]), data["labels"])


@dataclass(frozen=True)
class Batch:
    """An audit, its share and the batch's, the rates of either class, and what the truth is."""

    audited: int
    old: float
    new: float
    p11: float
    p00: float
    size: int
    of_batch: bool


def between(rng, ends):
    """Return a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(*np.log(ends))))


def near(value, rng, ends):
    """Return a neighbor of a number within ends."""
    return float(np.clip(value * np.exp(rng.normal(0, 0.3)) + rng.integers(-1, 2), *ends))


def nudged(share, rng, ends):
    """Return a neighbor of a share within ends."""
    odds = share / (1 - share) * np.exp(rng.normal(0, 0.4))
    return float(np.clip(odds / (1 + odds), *ends))


# the same items


def start_verdicts(rng):
    """Return a judge of any quality and labels of some of its items."""
    size, rate, share = between(rng, ITEMS), rng.uniform(0.02, 0.98, 2), rng.uniform(0.02, 0.98)
    if rng.random() < 0.5:
        rate = np.sort(rng.choice([rate[0], 1 - rng.exponential(0.05)], 2).clip(0.001, 0.999))
    sizes = np.maximum(np.rint(size * np.array([1 - share, share])), 2).astype(int)
    n = between(rng, (LABELS[0], min(LABELS[1], 0.8 * size)))
    part = share if rng.random() < 0.7 else rng.uniform(0.02, 0.98)
    return held_verdicts(sizes, sizes * rate, n * np.array([1 - part, part]))


def held_verdicts(size, right, labeled):
    """Return the design moved into the domain."""
    size = np.maximum(np.rint(size), 2).astype(int)
    return Verdicts(
        size, np.rint(right).astype(int).clip(0, size), np.rint(labeled).astype(int).clip(2, size)
    )


def moved_verdicts(design, rng):
    """Return a neighbor: items, right ones or labels of a verdict changed."""
    parts, k = {name: value.astype(float) for name, value in vars(design).items()}, rng.integers(2)
    name = rng.choice(["size", "right", "labeled"])
    if name == "right":
        parts[name][k] += (
            rng.normal(0, 0.05) * design.size[k] if rng.random() < 0.5 else rng.integers(-2, 3)
        )
    else:
        parts[name][k] = near(parts[name][k], rng, (2, ITEMS[1]))
    if name == "size":
        parts["right"][k] = design.right[k] / design.size[k] * parts["size"][k]
    return held_verdicts(**parts)


def same_items(design, rng, runs):
    """Return the coverage, enumerated where outcomes are few enough."""
    if not LABELS[0] <= design.labeled.sum() <= LABELS[1]:
        return np.inf
    strata = search_coverage.Design(
        *(tuple(map(int, vars(design)[name])) for name in ("size", "right", "labeled"))
    )
    return search_coverage.coverage(strata, "default", rng, runs, ENUMERATED)[0]


# two models


def start_models(rng):
    """Return models and a judge of any quality, or as they are met, or a judge that errs in few items only."""
    kind = rng.integers(3)
    if kind == 2:
        return start_exceptions(rng)
    cells, n = (judged_coverage.hard, judged_coverage.likely)[kind](rng)
    return Models(judged_coverage.tables_of(cells), int(n))


def start_exceptions(rng):
    """Return verdicts that tell what people say but for a few items, about as many as a sample may miss."""
    size = between(rng, ITEMS)
    labels = between(rng, (LABELS[0], min(LABELS[1], 0.8 * size)))
    parts = np.rint(size * rng.dirichlet(np.full(4, rng.choice([0.3, 1, 3])))).astype(int)
    items, main = (
        np.zeros((4, 3), int),
        np.array([1, 2, 0, 1]) if rng.random() < 0.6 else rng.integers(0, 3, 4),
    )
    items[np.arange(4), main] = parts
    for _ in range(rng.integers(1, 4)):
        pair, said = rng.integers(4), rng.integers(3)
        few = min(items[pair, main[pair]], int(rng.exponential(3 * size / labels)))
        items[pair, main[pair]] -= few
        items[pair, said] += few
    return Models(items, int(labels))


def moved_models(design, rng):
    """Return a neighbor: labels, or items of one kind changed."""
    if rng.random() < 0.3:
        return replace(design, labels=int(near(design.labels, rng, LABELS)))
    items, place = design.items.copy(), tuple(rng.integers((4, 3)))
    items[place] = rng.choice(
        [0, near(items[place], rng, (0, ITEMS[1])), 0.02 * items.sum() * rng.random()]
    )
    return replace(design, items=items)


def two_models(design, rng, runs, limits, by_pairs):
    """Return the coverage with labels drawn by pairs of verdicts, or of all items alike."""
    size, total = design.items.sum(1), design.items.sum()
    if not ITEMS[0] <= total <= ITEMS[1] or not LABELS[0] <= design.labels <= 0.8 * total:
        return np.inf
    if by_pairs:
        drawn = [
            rng.multivariate_hypergeometric(part, k, size=runs)
            for part, k in zip(design.items, judged_labels(size, design.labels), strict=True)
        ]
        counts = np.stack(drawn, 1)
    else:
        counts = rng.multivariate_hypergeometric(
            design.items.ravel(), design.labels, size=runs
        ).reshape(runs, 4, 3)
    truth = design.items.sum(0) @ [-1, 0, 1] / total
    return judged_coverage.held(limits(size, counts, LEVEL), truth)


# an earlier batch


def start_batch(rng):
    """Return an audit and a batch."""
    n = between(rng, AUDITED)
    rare = rng.uniform(EACH / n, 0.5)
    return Batch(
        int(n),
        float(rng.choice([rare, 1 - rare])),
        *map(float, [rng.uniform(0.02, 0.98), *rng.uniform(0.6, 0.995, 2)]),
        int(between(rng, (200, 20_000))),
        bool(rng.integers(2)),
    )


def moved_batch(design, rng):
    """Return a neighbor: one of its numbers changed."""
    name = rng.choice(list(vars(design)))
    if name == "of_batch":
        return replace(design, of_batch=not design.of_batch)
    value, ends = (
        getattr(design, name),
        {"audited": AUDITED, "size": (200, 20_000), "old": (0.01, 0.99), "new": (0.02, 0.98)}.get(
            name, (0.6, 0.995)
        ),
    )
    return replace(
        design,
        **{
            name: int(near(value, rng, ends))
            if name in ("audited", "size")
            else nudged(value, rng, ends)
        },
    )


def earlier(design, rng, runs):
    """Return the coverage of the hull where enough items of either class were audited."""
    ones = rng.binomial(design.audited, design.old, runs)
    ones = ones[(ones >= EACH) & (design.audited - ones >= EACH)]
    if ones.size < runs / 2:
        return np.inf
    right = rng.binomial(design.audited - ones, design.p00), rng.binomial(ones, design.p11)
    truth = rng.binomial(design.size, design.new, ones.size)
    called = rng.binomial(truth, design.p11) + rng.binomial(design.size - truth, 1 - design.p00)
    table = np.stack([right[0], design.audited - ones - right[0], ones - right[1], right[1]], -1)
    limits = hull(table.reshape(-1, 2, 2), np.stack([design.size - called, called], -1), LEVEL)
    return judged_coverage.held(limits, truth / design.size if design.of_batch else design.new)


SEARCHED = {
    "same items": Family(start_verdicts, moved_verdicts, same_items, Verdicts.load),
    "two models, by verdicts": Family(
        start_models,
        moved_models,
        lambda design, rng, runs: two_models(design, rng, runs, judged_limits, True),
        Models.load,
    ),
    "two models, at random": Family(
        start_models,
        moved_models,
        lambda design, rng, runs: two_models(design, rng, runs, regression_limits, False),
        Models.load,
    ),
    "hull": Family(start_batch, moved_batch, earlier, lambda data: Batch(**data)),
}

if __name__ == "__main__":
    main(SEARCHED, RECORD, __doc__.splitlines()[0])
