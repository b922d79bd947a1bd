"""The least coverage of the short interval of a paired difference, exactly: every outcome of every number of labels.

    python tests/peers/exact_differences.py --write           # print and record it, a minute

Labels of a large population: only A right, only B right, or neither, with any three chances. For every number of labels
chances are tried on a grid, then by random moves from the worst.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy import special, stats

RECORD = Path(__file__).with_suffix(".json")
LEVELS, FEW, MANY = (0.95, 0.99), range(10, 61), (70, 85, 100, 150, 200, 300, 400, 500)
MOVES, CLOSE = 400, 1e-12


def outcomes(n):
    """Return all numbers of labels on which only A is right, and only B, (R,) each."""
    return np.array([(a, b) for a in range(n + 1) for b in range(n + 1 - a)]).T


def limits(n, a, b, level):
    """Return both limits, from the definition."""
    k = stats.norm.ppf((1 + level) / 2) ** 2 / 3
    center = (a - b) / (n + 2 * k)
    reach = stats.t.ppf((1 + level) / 2, n - 1) * np.sqrt(
        ((a + b + 2 * k) / (n + 2 * k) - center**2) / (n + 2 * k)
    )
    return center - reach, center + reach


def chances(n, a, b, only_a, only_b):
    """Return the probability of each outcome."""
    tie = n - a - b
    ways = (
        special.gammaln(n + 1)
        - special.gammaln(a + 1)
        - special.gammaln(b + 1)
        - special.gammaln(tie + 1)
    )
    return np.exp(
        ways
        + special.xlogy(a, only_a)
        + special.xlogy(b, only_b)
        + special.xlogy(tie, max(1 - only_a - only_b, 0))
    )


def least(n, level, rng):
    """Return the least coverage found for n labels, and the chances of its population."""
    a, b = outcomes(n)
    low, high = limits(n, a, b, level)

    def covered(only_a, only_b):
        inside = (low <= only_a - only_b + CLOSE) & (only_a - only_b - CLOSE <= high)
        return float(chances(n, a[inside], b[inside], only_a, only_b).sum()), only_a, only_b

    fine = 40 if n <= FEW[-1] else 12
    differing = np.unique(np.r_[np.geomspace(0.2 / n, 1, fine), np.linspace(0.02, 1, fine // 2)])
    worst = min(
        covered(u * share, u * (1 - share)) for u in differing for share in np.linspace(0.5, 1, 16)
    )
    for step in np.repeat([0.1, 0.03, 0.01, 0.003], MOVES // 4):
        moved = np.array(worst[1:]) * np.exp(rng.normal(0, step, 2))
        worst = min(worst, covered(*map(float, moved / max(moved.sum(), 1))))
    return worst


def main():
    """Print the least coverage of each level, and record it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    began, found = time.process_time(), {}
    for level in LEVELS:
        rng = np.random.default_rng(options.seed)
        worst = sorted((*least(n, level, rng), n) for n in [*FEW, *MANY])
        found[f"{level:g}"] = [
            dict(zip(("coverage", "only_a", "only_b", "labels"), each, strict=True))
            for each in worst[:5]
        ]
        print(level, *found[f"{level:g}"], sep="\n", flush=True)
    if options.write:
        RECORD.write_text(
            json.dumps(
                {
                    "seed": options.seed,
                    "minutes": round((time.process_time() - began) / 60, 1),
                    "least": found,
                },
                indent=1,
            )
            + "\n"
        )


if __name__ == "__main__":
    main()
