"""Coverage and width of three intervals in samples where Student's t is close to right.

    python tests/peers/short_intervals.py                # fresh samples, printed
    python tests/peers/short_intervals.py --write        # recorded

Graded cells are differences of the graded scores of two models, item by item. Cluster cells are the
accuracy of one model, or the difference of two, in clusters of equal or unequal size. Every cell
records the coverage of Student's t, of the default and of the bounded interval, and the median of
each width over t's. It also records how many items or clusters make up the spread.
"""

import argparse
import dataclasses
import functools
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special, stats

from workbench.extras.compare.evidence import evidence
from workbench.replication.bounded_intervals import Sample, clusters
from workbench.replication.designs import SurveyDesign
from workbench.replication.replicates import replicates

RECORD = Path(__file__).with_suffix(".json")
TAIL, ROUNDING, DECIMALS = 0.025, 1e-12, 9
ITEMS, CLUSTERS = (30, 60, 200, 1_000), (8, 12, 30, 80)
POPULATION = 2_000_000
# What is wanted: a width over t, and the items or clusters that carry what differs below which a
# wider interval is accepted.
WIDEST_GRADED = dict(zip(ITEMS, (1.45, 1.4, 1.25, 1.1), strict=True))
WIDEST_CLUSTERS = dict(zip(CLUSTERS, (1.75, 1.6, 1.4, 1.3), strict=True))
FEW_ITEMS, FEW_CLUSTERS = 8, 3


def lattice(jump: int, share: float) -> Callable:
    """Return grades from 0 to 10 of which a share differs by a jump, and some others by 1."""

    def sample(rng, shape):
        first = rng.integers(0, 11, shape)
        by_one = np.where(rng.random(shape) < 0.2, rng.choice([-1, 1], shape), 0)
        step = np.where(rng.random(shape) < share, rng.choice([-jump, jump], shape), by_one)
        return (first - np.clip(first + step, 0, 10)).astype(float)

    return sample


def continuous(a: float, b: float, noise: float, shift: float) -> Callable:
    """Return Beta(a, b) scores less the same scores with normal noise, cut at 0 and 1."""

    def sample(rng, shape):
        first = rng.beta(a, b, shape)
        return first - np.clip(first + rng.normal(shift, noise, shape), 0, 1)

    return sample


def independent(rng, shape):
    """Return differences of two scores that have nothing in common."""
    return rng.beta(0.5, 0.5, shape) - rng.beta(0.6, 0.5, shape)


def one_sided(rng, shape):
    """Return differences of which 8% are below 0 and all others 0."""
    first = rng.uniform(0.3, 0.7, shape)
    step = (rng.random(shape) < 0.08) * rng.uniform(0.1, 0.6, shape)
    return first - np.clip(first + step, 0, 1)


GRADED = {
    "0 to 10, jumps of 2": (lattice(2, 0.1), (-10.0, 10.0)),
    "0 to 10, jumps of 5": (lattice(5, 0.05), (-10.0, 10.0)),
    "continuous": (continuous(5, 2, 0.08, 0.02), (-1.0, 1.0)),
    "mostly near 1": (continuous(9, 1, 0.15, -0.03), (-1.0, 1.0)),
    "independent": (independent, (-1.0, 1.0)),
    "one-sided 8%": (one_sided, (-1.0, 1.0)),
}
SIZES = {
    "equal": lambda rng, shape: np.full(shape, 10),
    "lognormal .5": lambda rng, shape: np.maximum(rng.lognormal(2, 0.5, shape).astype(int), 1),
    "lognormal 1": lambda rng, shape: np.maximum(rng.lognormal(2, 1, shape).astype(int), 1),
    "geometric": lambda rng, shape: rng.geometric(0.1, shape),
}


def accuracy(logit: float, slope: float = 0.0) -> Callable:
    """Return values 0 and 1, and how many items of clusters have them.

    The logit of a cluster's accuracy is normal. It changes with the logarithm of the size, from
    which the mean is subtracted, by the slope.
    """

    def counts(rng, size, log_mean):
        level = logit + rng.normal(0, 0.8, size.shape) + slope * (np.log(size) - log_mean)
        correct = rng.binomial(size, special.expit(level))
        return (0, 1), (size - correct, correct)

    return counts


def paired(discordant: float) -> Callable:
    """Return values -1, 0 and 1, and how many items of clusters have them."""

    def counts(rng, size, log_mean):
        often = special.expit(special.logit(discordant) + rng.normal(size=size.shape))
        differ = rng.binomial(size, often)
        first = rng.binomial(differ, special.expit(0.6 + rng.normal(size=size.shape)))
        return (-1, 0, 1), (differ - first, size - differ, first)

    return counts


LARGE_WORSE = "large ones worse"
CLUSTERED = {
    "accuracy .8": accuracy(1.5),
    LARGE_WORSE: accuracy(1.5, -0.7),
    "accuracy .96": accuracy(3.2),
    "paired, 5% differ": paired(0.05),
    "paired, 25% differ": paired(0.25),
}


@functools.cache
def graded_mean(name: str) -> float:
    """Return the mean of a graded family in a large sample."""
    return float(GRADED[name][0](np.random.default_rng(0), POPULATION).mean())


@functools.cache
def cluster_mean(sizes: str, name: str) -> tuple[float, float]:
    """Return the mean logarithm of the sizes and the mean of the items of a large sample."""
    rng = np.random.default_rng(0)
    size = SIZES[sizes](rng, POPULATION)
    log_mean = float(np.log(size).mean())
    values, counts = CLUSTERED[name](rng, size, log_mean)
    return log_mean, float(total_of(values, counts).sum() / size.sum())


def total_of(values, counts) -> np.ndarray:
    """Return the sum of the values in every cluster."""
    return sum(value * count for value, count in zip(values, counts, strict=True))


def effective_number(parts: np.ndarray) -> np.ndarray:
    """Return how many equal parts would concentrate the sum as much, 0 where all are 0."""
    squares = (parts**2).sum(0)
    return (parts.sum(0) ** 2 / np.where(squares > 0, squares, 1)).round(DECIMALS)


def graded_cell(n: int, name: str, rng, runs: int) -> dict:
    """Return the recorded figures of differences of n items."""
    sample, bounds = GRADED[name]
    values = sample(rng, (n, runs))
    blocks = list(evidence(lambda part: (values[:, part],) * 2, values.shape, None, bounds))
    limits = {
        method: np.concatenate(
            [dataclasses.replace(block, method=method).limits(TAIL) for block in blocks], axis=1
        )
        for method in ("default", "bounded")
    }
    mean, half = values.mean(0), stats.t.ppf(1 - TAIL, n - 1) * stats.sem(values)
    sides = [effective_number(np.maximum(sign * (values - mean), 0)) for sign in (-1, 1)]
    return figures(graded_mean(name), mean, half, limits) | {
        "carriers": float(np.median(np.minimum(*sides)))
    }


def cluster_cell(number: int, sizes: str, name: str, rng, runs: int) -> dict:
    """Return the recorded figures of so many clusters."""
    log_mean, truth = cluster_mean(sizes, name)
    size = SIZES[sizes](rng, (number, runs))
    values, counts = CLUSTERED[name](rng, size, log_mean)
    bounds = float(values[0]), 1.0
    design = SurveyDesign(np.zeros(number, int))
    sample = Sample.of_counts(values, counts, np.ones((number, 1)))
    interval = clusters(design, sample, sample.variance(replicates(design, "jkn")), bounds)
    limits = {
        "default": interval.limits(TAIL, bounds),
        "bounded": interval.limits(TAIL, bounds, bounded=True),
    }
    items = size.sum(0)
    mean = total_of(values, counts).sum(0) / items
    error = (total_of(values, counts) - mean * size) / items
    half = stats.t.ppf(1 - TAIL, number - 1) * np.sqrt(number) * error.std(0, ddof=1)
    carriers, heavy = [], []
    for sign in (-1, 1):
        beyond = [np.maximum(sign * (value - mean), 0) ** 2 for value in values]
        carriers.append(effective_number(total_of(beyond, counts)))
        fourth = (np.maximum(sign * error, 0) ** 4).sum(0)
        heavy.append((error**2).sum(0) ** 2 / np.where(fourth > 0, fourth, np.inf))
    return figures(truth, mean, half, limits) | {
        "carriers": float(np.median(np.minimum(*carriers))),
        "heavy": float(np.median(np.minimum(*heavy))),
    }


def figures(truth: float, mean: np.ndarray, half: np.ndarray, limits: dict) -> dict:
    """Return coverage of each interval, and the median of its width over that of t."""
    recorded, spread = {}, half > 0
    for method, (low, high) in ({"t": (mean - half, mean + half)} | limits).items():
        covers = (low <= truth + ROUNDING) & (truth - ROUNDING <= high)
        recorded[method] = float(covers.mean())
        if method != "t":
            over_t = (high - low)[spread] / (2 * half[spread])
            recorded[f"{method}_over_t"] = float(np.median(over_t))
    return recorded


def cells() -> dict[str, Callable]:
    """Return all cells, functions of a generator and a number of runs."""
    graded = {
        f"{n:,} items, {name}": functools.partial(graded_cell, n, name)
        for n in ITEMS
        for name in GRADED
    }
    clustered = {
        f"{number} clusters, {sizes} sizes, {name}": functools.partial(
            cluster_cell, number, sizes, name
        )
        for number in CLUSTERS
        for sizes in SIZES
        for name in CLUSTERED
        if (sizes, name) != ("equal", LARGE_WORSE)
    }
    return graded | clustered


def widest(name: str) -> float:
    """Return the largest width over t that a cell may have."""
    number, unit = name.replace(",", "").split()[:2]
    return (WIDEST_GRADED if unit == "items" else WIDEST_CLUSTERS)[int(number)]


def few_carry(cell: dict) -> bool:
    """Return whether so few items or clusters carry what differs that the cell may be wider."""
    if "heavy" in cell:
        return min(cell["carriers"], cell["heavy"]) < FEW_CLUSTERS
    return cell["carriers"] < FEW_ITEMS


def main():
    """Print every cell, and record them all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    start, recorded = time.process_time(), {}
    for name, cell in cells().items():
        rng = np.random.default_rng([options.seed, zlib.crc32(name.encode())])
        recorded[name] = cell(rng, options.runs)
        too_wide = recorded[name]["default_over_t"] > widest(name)
        wide = too_wide * ("wide, few carry it" if few_carry(recorded[name]) else "WIDE")
        print(
            f"{name:50}",
            *(f"{key} {value:.3f}" for key, value in recorded[name].items()),
            wide,
            flush=True,
        )
    if options.write:
        minutes = round((time.process_time() - start) / 60, 2)
        record = {"runs": options.runs, "seed": options.seed, "minutes": minutes, "cells": recorded}
        RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
