"""Search for the label errors that an accuracy corrected by second labels survives least, and keep what was found.

    python tests/peers/search_second_labels.py --family "one stratum"         # search one family, print the lowest
    python tests/peers/search_second_labels.py --minutes 2 --write            # every family that long, and record it
    python tests/peers/search_second_labels.py --recheck                      # recorded designs, fresh draws
    python tests/peers/search_second_labels.py --grid --write                 # 300 cells and named ones

A design is a population of accuracy `accuracy` in each stratum, two people who err independently given the truth, with
rates of their own for right and wrong items, and a third label that is true.
"""

import itertools
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from searching import Family, main

from workbench.extras.sessions.estimates import JOINED_PAIRS, _joined_strata
from workbench.intervals import quantile
from workbench.intervals.values import upper_limit
from workbench.stratified.second_labels import ENDLESS, shared_errors
from workbench.stratified.sequential import labeling_order

RECORD, GRID = (
    Path(__file__).with_suffix(".json"),
    Path(__file__).with_name("second_labels_grid.json"),
)
LEVEL, MOST_WRONG, FEWEST, MOST = 0.95, 0.15, 50, 1_000
NAMED = {
    "1% and 10%": ((0.01, 0.01), (0.10, 0.10)),
    "3% and 6%": ((0.03, 0.03), (0.06, 0.06)),
    "3% each": ((0.03, 0.03),) * 2,
    "15% each": ((0.15, 0.15),) * 2,
}


@dataclass(frozen=True)
class Design:
    """Weight, accuracy, items with one label and with two per stratum (H,); P(wrong) by person and truth (2, 2)."""

    weight: tuple
    accuracy: tuple
    once: tuple
    twice: tuple
    wrong: tuple

    @classmethod
    def load(cls, data):
        """Return a recorded design."""
        return cls(
            *(
                tuple(map(tuple, value)) if name == "wrong" else tuple(value)
                for name, value in data.items()
            )
        )


def cells(accuracy, wrong):
    """Return the probabilities of first label, second label and truth, (2, 2, 2)."""
    table = np.empty((2, 2, 2))
    for first, second, truth in itertools.product((0, 1), repeat=3):
        says = [
            wrong[person][truth] if label != truth else 1 - wrong[person][truth]
            for person, label in enumerate((first, second))
        ]
        table[first, second, truth] = (accuracy if truth else 1 - accuracy) * says[0] * says[1]
    return table


def draw(design, rng, runs):
    """Return first labels (R, H, 2), and pairs by first, second and decision (R, H, 2, 2, 2): alike as they are."""
    tables = [cells(accuracy, design.wrong) for accuracy in design.accuracy]
    pairs = np.stack(
        [
            rng.multinomial(m, table.ravel(), size=runs).reshape(-1, 2, 2, 2)
            for m, table in zip(design.twice, tables, strict=True)
        ],
        1,
    )
    right = np.stack(
        [
            rng.binomial(n, table[1].sum(), size=runs)
            for n, table in zip(design.once, tables, strict=True)
        ],
        1,
    )
    for label in (0, 1):
        pairs[..., label, label, label] = pairs[..., label, label, :].sum(-1)
        pairs[..., label, label, 1 - label] = 0
    return np.stack([np.array(design.once) - right, right], -1), pairs


def limits(weight, once, pairs, level):
    """Return what `second_labels` gives in an endless population, before cutting and before it is made monotone."""
    m, n = pairs[0].sum((1, 2, 3)), once[0].sum(1)
    w, some = m / (m + n), n > 0
    counts = np.concatenate(
        [
            pairs.sum(3).reshape(len(pairs), len(m), 4),
            np.pad(once, ((0, 0), (0, 0), (0, 2)))[:, some],
        ],
        1,
    )
    values = np.concatenate(
        [np.stack([0 * w, 0 * w + 1, w - 1, w], 1), np.tile([0, 1, 0, 1], (some.sum(), 1))]
    )
    size = np.concatenate([weight, (weight * (1 - w))[some]])
    estimate = ((counts * values).sum(-1) / counts.sum(-1)) @ size
    low, high = (
        sign * size.sum() * upper_limit(ENDLESS * size, counts, sign * values, (1 - level) / 2)[0]
        for sign in (-1, 1)
    )
    shift, variance = shared_errors(pairs)
    shift, square = (shift / m) @ weight, quantile(level) ** 2 * ((variance / m**2) @ weight**2)
    return (
        estimate + shift - np.sqrt((estimate - low) ** 2 + square),
        estimate + shift + np.sqrt((high - estimate) ** 2 + square),
    )


def outcomes(design, rng, runs):
    """Return limits (R,) and the truth."""
    weight = np.array(design.weight) / sum(design.weight)
    low, high = limits(weight, *draw(design, rng, runs), LEVEL)
    return np.clip(low, 0, 1), np.clip(high, 0, 1), weight @ np.array(design.accuracy)


def coverage(design, rng, runs):
    """Return the share of runs whose interval holds the accuracy."""
    low, high, truth = outcomes(design, rng, runs)
    return float(np.mean((low <= truth) & (truth <= high)))


def details(design, rng, runs):
    """Return the mean width."""
    low, high, _ = outcomes(design, rng, runs)
    return {"width": float(np.mean(high - low))}


def start(strata):
    """Return a function that draws a design of so many strata."""

    def drawn(rng):
        n = int(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST))))
        share = rng.uniform(0.3, 1) if rng.random() < 0.7 else 1.0
        center, weight = rng.uniform(0.5, 0.99), rng.dirichlet(np.full(strata, 5.0))
        accuracy = np.clip(center + rng.normal(0, 0.1, strata), 0.02, 0.995)
        size = np.maximum(np.rint(weight * n).astype(int), 4)
        twice = np.clip(np.rint(share * size).astype(int), 2, size)
        once = np.where(size - twice == 1, 0, size - twice)
        return Design(
            *(tuple(part.tolist()) for part in (weight, accuracy, once, twice)),
            tuple(map(tuple, rng.uniform(0, MOST_WRONG, (2, 2)).tolist())),
        )

    return drawn


def moved(design, rng):
    """Return a neighbor: another error rate, accuracy, or number of labels."""
    choice, h = rng.integers(3), int(rng.integers(len(design.weight)))
    if choice == 0:
        wrong = np.array(design.wrong)
        wrong[tuple(rng.integers(2, size=2))] += rng.normal(0, 0.04)
        return replace(design, wrong=tuple(map(tuple, np.clip(wrong, 0, MOST_WRONG).tolist())))
    if choice == 1:
        accuracy = np.array(design.accuracy)
        accuracy[h] += rng.normal(0, 0.05)
        return replace(design, accuracy=tuple(np.clip(accuracy, 0.02, 0.995).tolist()))
    scale, (once, twice) = np.exp(rng.normal(0, 0.3)), np.array([design.once, design.twice])
    once, twice = (
        np.rint(once * scale).astype(int),
        np.maximum(np.rint(twice * scale).astype(int), 2),
    )
    once = np.where(once == 1, 0, np.minimum(once, (7 * twice) // 3))
    if not FEWEST <= (once + twice).sum() <= MOST:
        return design
    return replace(design, once=tuple(once.tolist()), twice=tuple(twice.tolist()))


def one_stratum(n, share, accuracy, wrong):
    """Return a design of n items without strata, of which a share has two labels."""
    twice = round(share * n)
    return Design((1.0,), (accuracy,), (n - twice,), (twice,), wrong)


def joined(strata, n, share, spread, rng, runs=1_000):
    """Return coverage and mean width where chance says which items have two labels, by how far strata are joined."""
    size = np.rint(1e6 * np.exp(rng.normal(0, spread, strata))).astype(int)
    accuracy, labeled = (
        np.linspace(0.6, 0.99, strata),
        np.bincount(labeling_order(size, n), minlength=strata),
    )
    truth, found = size @ accuracy / size.sum(), {least: [] for least in (2, JOINED_PAIRS)}
    for _ in range(runs):
        wrong, twice = rng.uniform(0, MOST_WRONG, (2, 2)).tolist(), rng.binomial(labeled, share)
        once, pairs = draw(
            Design(tuple(size), tuple(accuracy), tuple(labeled - twice), tuple(twice), wrong),
            rng,
            1,
        )
        for least, ends in found.items():
            starts = _joined_strata(twice, least)
            parts = (np.add.reduceat(table, starts, 1) for table in (once, pairs))
            (low,), (high,) = np.clip(
                limits(np.add.reduceat(size, starts) / size.sum(), *parts, LEVEL), 0, 1
            )
            ends.append((low <= truth <= high, high - low))
    return {
        f"{least} pairs": dict(zip(("coverage", "width"), np.mean(ends, 0).tolist(), strict=True))
        for least, ends in found.items()
    }


def grid(seed, runs=20_000):
    """Return coverage and width of 300 cells drawn over errors, shares and sizes, and of the named ones."""
    rng, began = np.random.default_rng(seed), time.process_time()
    drawn = [
        one_stratum(
            int(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST)))),
            float(rng.choice([0.3, 0.5, 0.7, 1])),
            float(rng.choice([0.6, 0.8, 0.9, 0.95, 0.98])),
            tuple(map(tuple, rng.uniform(0, MOST_WRONG, (2, 2)).tolist())),
        )
        for _ in range(300)
    ]
    covered = np.array([coverage(design, rng, runs) for design in drawn])
    lowest = np.argsort(covered)[:5]
    again = [coverage(drawn[k], rng, 5 * runs) for k in lowest]
    small = np.array([max(itertools.chain(*design.wrong)) <= 0.05 for design in drawn])
    named = {
        f"{name}, {n} items, {share:.0%} twice, accuracy {accuracy:g}": {
            "coverage": coverage(design, rng, runs)
        }
        | details(design, rng, runs)
        for name, wrong in NAMED.items()
        for n, share in ((390, 1), (600, 0.3), (100, 1), (1_000, 0.5))
        for accuracy in (0.95, 0.8)
        for design in [one_stratum(n, share, accuracy, wrong)]
    }
    return {
        "seed": seed,
        "minutes": round((time.process_time() - began) / 60, 2),
        "cells": len(drawn),
        "runs": runs,
        "minimum": min(again),
        "below .94": int((covered < 0.94).sum()),
        "median": float(np.median(covered)),
        "minimum where errors are at most 5%": float(covered[small].min(initial=1)),
        "strata joined": {
            f"{strata} strata of sizes with log-sd {spread:g}, {n} items, {share:.0%} twice": joined(
                strata, n, share, spread, rng
            )
            for strata, n in ((5, 100), (10, 200), (20, 600))
            for share in (0.1, 0.3, 0.7)
            for spread in (0, 1)
        },
        "lowest": vars(drawn[lowest[int(np.argmin(again))]]),
        "named": named,
    }


SEARCHED = {
    f"{words}": Family(start(strata), moved, coverage, Design.load, details=details)
    for words, strata in (("one stratum", 1), ("five strata", 5), ("twenty strata", 20))
}

if __name__ == "__main__":
    if "--grid" in sys.argv:
        found = json.dumps(grid(1), indent=1) + "\n"
        print(found)
        if "--write" in sys.argv:
            GRID.write_text(found)
    else:
        main(SEARCHED, RECORD, __doc__.splitlines()[0])
