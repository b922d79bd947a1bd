"""The coverage of `value_interval` in small finite populations, exactly: every outcome of every design.

    python tests/peers/exact_values.py --designs 5000         # print the lowest coverage and the worst designs
    python tests/peers/exact_values.py --designs 6000 --write # record it

A design is a population of 1 to 3 strata, at most 60 items with 2 to 4 values on and off the integers, and labels.
"""

import argparse
import itertools
import json
from pathlib import Path

import numpy as np
from scipy import special

from workbench.intervals.values import interval_limits, upper_limit, value_interval

RECORD = Path(__file__).with_suffix(".json")
LATTICES = (
    (0, 1),
    (-1, 0, 1),
    (0, 0.5, 1),
    (0, 0.37, 1),
    (0, 0.1, 1),
    (0.1, 1.1),
    (0, 1, 10),
    (-2.5, 0, 0.3, 4),
    (0, 1 / 3, 1),
    (0, 0.25, 0.8, 1),
    (1, 2, 3, 5),
)
MOST_ITEMS, MOST_OUTCOMES = 60, 20_000
CLOSE = 1e-9


def outcomes(items, n):
    """Return all samples of n of the items per value (V,), (R, V), and their chances (R,)."""
    ranges = [range(min(count, n) + 1) for count in items[:-1]]
    rows = np.array(
        [
            (*row, n - sum(row))
            for row in itertools.product(*ranges)
            if 0 <= n - sum(row) <= items[-1]
        ]
    )
    ways = special.comb(items, rows).prod(1)
    return rows, ways / special.comb(sum(items), n)


def random_design(rng):
    """Return items (H, V), values (H, V) and labels (H,) of a random small population."""
    while True:
        strata = int(rng.integers(1, 4))
        chosen = [LATTICES[rng.integers(len(LATTICES))] for _ in range(strata)]
        if rng.random() < 0.5:
            chosen = [chosen[0]] * strata
        width = max(map(len, chosen))
        values = np.array([(*row, *[row[-1]] * (width - len(row))) for row in chosen], float)
        size = (
            rng.multinomial(
                rng.integers(4 * strata, MOST_ITEMS + 1) - 3 * strata, rng.dirichlet([2] * strata)
            )
            + 3
        )
        items = np.zeros((strata, width), int)
        for h, row in enumerate(chosen):
            items[h, : len(row)] = rng.multinomial(
                size[h], rng.dirichlet([rng.choice([0.1, 0.5, 2])] * len(row))
            )
        labeled = np.array([rng.integers(2, n + 1) for n in size])
        if rng.random() < 0.7:
            labeled = np.minimum(labeled, np.maximum(2, size // 2))
        count = np.prod(
            [
                special.comb(n + len(row) - 1, len(row) - 1)
                for n, row in zip(labeled, chosen, strict=True)
            ]
        )
        if (labeled < size).any() and count <= MOST_OUTCOMES:
            return items, values, labeled


def limits_of(size, counts, values, tail):
    """Return lower and upper limits of all outcomes, without looking at lower or higher ones: these are no shorter."""
    low, high = (
        -upper_limit(size, counts, -values, tail)[0],
        upper_limit(size, counts, values, tail)[0],
    )
    return interval_limits(size, counts, values, low, high)


def monotone_limits_of(size, counts, values, tail):
    """Return lower and upper limits of all outcomes as `value_interval` has them."""
    ends = [value_interval(size, row, values, level=1 - 2 * tail) for row in counts]
    return np.transpose([tuple(end) for end in ends])


def coverage(items, values, labeled, level=0.95, limits_of=limits_of):
    """Return the exact coverage of a design and the mean width of its interval."""
    tables = [outcomes(row, n) for row, n in zip(items, labeled, strict=True)]
    places = np.meshgrid(*(np.arange(len(rows)) for rows, _ in tables), indexing="ij")
    counts = np.stack(
        [rows[place.ravel()] for (rows, _), place in zip(tables, places, strict=True)], 1
    )
    chance = np.prod(
        [chances[place.ravel()] for (_, chances), place in zip(tables, places, strict=True)], 0
    )
    low, high = limits_of(items.sum(1), counts, values, (1 - level) / 2)
    truth = (items * values).sum() / items.sum()
    return float(chance[(low <= truth + CLOSE) & (truth - CLOSE <= high)].sum()), float(
        (chance * (high - low)).sum()
    )


def main():
    """Print the lowest coverage of random designs and the designs of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--designs", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="record the least coverage")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    designs = [random_design(rng) for _ in range(options.designs)]
    covered = np.array([coverage(*design)[0] for design in designs])
    print(
        f"{len(designs):,} designs: least coverage {covered.min():.4f}, below .95 {np.mean(covered < 0.95):.2%}, "
        f"mean {covered.mean():.4f}"
    )
    if options.write:
        RECORD.write_text(
            json.dumps(
                {"designs": len(designs), "seed": options.seed, "least": float(covered.min())}
            )
            + "\n",
            encoding="utf-8",
        )
    for k in covered.argsort()[:3]:
        items, values, labeled = designs[k]
        print(
            f"{covered[k]:.4f}: items {items.tolist()}, values {values.tolist()}, labels {labeled.tolist()}"
        )


if __name__ == "__main__":
    main()
