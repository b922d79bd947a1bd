"""The default interval's limits against all outcomes with fewer right labels, or lower values, in random designs.

    python tests/peers/monotone_limits.py --seed 1            # count designs and differences
    python tests/peers/monotone_limits.py --seed 1 --write    # and record them

Shares: the limits of one outcome by the oracle of the definition, every set of strata put to no right or no wrong
label. Values: every outcome of which no label is above, or below, one of the sample, by the limits of each alone.
"""

import argparse
import itertools
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from oracles import default_interval

from workbench.intervals import stratified_interval
from workbench.intervals.values import monotone_upper, upper_limit

RECORD = Path(__file__).with_suffix(".json")
DESIGNS = {"shares": 600, "values": 400}
VALUES = ((-1, 0, 1), (0, 0.5, 1), (0, 1, 10), (0, 0.37, 1))


def shares(rng):
    """Return whether both limits of a random sample of right and wrong are those of the enumeration."""
    strata = int(rng.integers(1, 5))
    labeled = rng.integers(2, 12, strata)
    size = labeled + np.exp(rng.uniform(0, 12, strata)).astype(int) * (rng.random(strata) < 0.9)
    correct = rng.binomial(labeled, rng.choice([0.1, 0.5, 0.9, 0.98], strata))
    low, high = default_interval.monotone_limits(
        *(part.tolist() for part in (size, labeled, correct))
    )
    total = int(size.sum())
    expected = math.floor(low * total + 1e-6) / total, math.ceil(high * total - 1e-6) / total
    return np.allclose(
        tuple(stratified_interval(size, labeled, correct)), expected, rtol=0, atol=1e-9
    )


def values(rng):
    """Return whether both limits of a random sample of three values are those of the enumeration."""
    strata = int(rng.integers(1, 4))
    labeled = rng.integers(2, 6, strata)
    size = labeled + np.exp(rng.uniform(1, 9, strata)).astype(int)
    table = np.array([VALUES[rng.integers(len(VALUES))] for _ in labeled], float)
    counts = np.array([rng.multinomial(n, rng.dirichlet([0.5] * 3)) for n in labeled])
    return all(
        math.isclose(
            monotone_upper(size, counts, sign * table, 0.025)[0],
            enumerated(size, counts[:, ::sign], sign * table[:, ::sign]),
            abs_tol=1e-9,
        )
        for sign in (1, -1)
    )


def enumerated(size, counts, table):
    """Return the least upper limit of all outcomes none of whose labels is below one of the sample, in order."""
    rows = [
        [
            row
            for row in itertools.product(range(sum(own) + 1), repeat=3)
            if sum(row) == sum(own) and row[0] <= own[0] and row[0] + row[1] <= own[0] + own[1]
        ]
        for own in counts.tolist()
    ]
    return upper_limit(size, np.array(list(itertools.product(*rows))), table, 0.025)[0].min()


def main():
    """Compare, print and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    start, found = time.process_time(), {}
    for kind, (name, designs) in zip((shares, values), DESIGNS.items(), strict=True):
        rng = np.random.default_rng([options.seed, designs])
        found[name] = {"designs": designs, "different": sum(not kind(rng) for _ in range(designs))}
    found |= {"seed": options.seed, "minutes": round((time.process_time() - start) / 60, 1)}
    print(found)
    if options.write:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
