"""How often intervals of two models' difference under one judge hold it, and how wide they are.

    python tests/peers/judged_coverage.py            # print
    python tests/peers/judged_coverage.py --write    # record

A population of items is fixed: what is right of A and of B, and the judge's verdicts on both. `random` is a sample of
labels at random, `own` one by pairs of verdicts, each with the interval of `judged_difference`; `pairs` is
`paired_difference` of the own sample, `plain` the prediction-powered interval of a peer, by z, of the sample at random.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.stratified.judged import (
    PAIRS,
    SIGNS,
    judged_labels,
    judged_limits,
    regression_limits,
)

RECORD = Path(__file__).with_suffix(".json")
VALUES, LEVEL = np.array([-1, 0, 1]), 0.95
# items, labels, accuracy of A and B, the judge's P(right | right), P(wrong | wrong) on A and on B
NAMED = {
    ".80 and .75": (2000, 100, 0.8, 0.75, 0.9, 0.8, 0.8),
    "judge favors A": (2000, 100, 0.75, 0.75, 0.95, 0.5, 0.8),
    ".85 and .75, 50 labels": (2000, 50, 0.85, 0.75, 0.9, 0.7, 0.7),
    ".96 and .95": (2000, 100, 0.96, 0.95, 0.97, 0.7, 0.7),
    "alike, 50 labels": (2000, 50, 0.85, 0.85, 0.97, 0.8, 0.8),
}


def population(size, _, right_a, right_b, sensitivity, specificity_a, specificity_b, seed=3):
    """Return items by verdicts on A, on B, and what is right of A and B, (2, 2, 2, 2)."""
    rng = np.random.default_rng(seed)
    first = rng.random(size)
    a, b = first < right_a, (first + 0.25 * (rng.random(size) < 0.5)) % 1 < right_b
    return counted(
        *(
            np.where(truth, rng.random(size) < sensitivity, rng.random(size) >= specificity)
            for truth, specificity in ((a, specificity_a), (b, specificity_b))
        ),
        a,
        b,
    )


def counted(*said):
    """Return how many items there are of each kind."""
    cells = np.zeros((2, 2, 2, 2), int)
    np.add.at(cells, tuple(x.astype(int) for x in said), 1)
    return cells


def hard(rng):
    """Return a population and a number of labels: any judge, models alike or not, verdicts that err alike or not."""
    size = int(np.exp(rng.uniform(np.log(100), np.log(20_000))))
    n = int(np.exp(rng.uniform(np.log(20), np.log(min(400, 0.8 * size)))))
    right, specificity = rng.uniform(0.3, 0.999, 2), rng.uniform(0, 1, 2)
    sensitivity, alike, same = (
        rng.uniform(rng.choice([0.5, 0.95]), 1),
        rng.choice([0, rng.uniform(), 0.97]),
        rng.random(),
    )
    first, judged = rng.random(size), rng.random(size)
    a, b = first < right[0], np.where(rng.random(size) < alike, first, rng.random(size)) < right[1]
    again = judged if same < 0.5 else rng.random(size)
    return counted(
        np.where(a, judged < sensitivity, judged > specificity[0]),
        np.where(b, again < sensitivity, again > specificity[1]),
        a,
        b,
    ), n


def by_difference(cells):
    """Return items (..., 3) by right A less right B, from (..., 2, 2)."""
    return np.stack([cells[..., 0, 1], cells[..., 0, 0] + cells[..., 1, 1], cells[..., 1, 0]], -1)


def tables_of(cells):
    """Return items (4, 3) by verdicts and right A less right B."""
    return by_difference(cells[PAIRS[:, 0], PAIRS[:, 1]])


def own_sample(cells, n, rng, runs):
    """Return sizes (4,) and counts (R, 4, 3) of labels by pairs of verdicts."""
    tables = tables_of(cells)
    size = tables.sum(-1)
    return size, np.stack(
        [
            rng.multivariate_hypergeometric(table, k, size=runs)
            for table, k in zip(tables, judged_labels(size, n), strict=True)
        ],
        1,
    )


def random_sample(cells, n, rng, runs):
    """Return sizes (4,) and counts (R, 4, 3) of labels of all items alike."""
    tables = tables_of(cells)
    return tables.sum(-1), rng.multivariate_hypergeometric(tables.ravel(), n, size=runs).reshape(
        runs, 4, 3
    )


def plain_limits(size, counts):
    """Return the prediction-powered interval of truescore's `ppi_compare`: z, and Wilson's width if none favors B."""
    n, N = counts[0].sum(), size.sum()
    by, rest = counts.sum(2), size - counts.sum(2)
    z, f, unread = counts.sum(1) @ VALUES / n, by @ SIGNS / n, rest @ SIGNS / (N - n)
    spread, left = (
        (of @ SIGNS**2 / k - (of @ SIGNS / k) ** 2) * k / (k - 1)
        for of, k in ((size, N), (rest, N - n))
    )
    covariance = np.einsum("rij,i,j->r", counts, SIGNS, VALUES) / n - z * f
    slope = np.clip(covariance / spread * (1 - n / N), 0, 1) if spread else 0 * covariance
    residual = VALUES - slope[:, None, None] * SIGNS[:, None]
    mean = (counts * residual).sum((1, 2)) / n
    variance = ((counts * residual**2).sum((1, 2)) / n - mean**2) / (n - 1) + slope**2 * left / (
        N - n
    )
    half, few = 1.959964 * np.sqrt(np.maximum(variance, 0)), np.minimum(z, 1 - z) * n < 5
    wilson = 1.959964 * np.sqrt(np.maximum(z * (1 - z) / n, 0) + 0.9604 / n**2) / (1 + 3.8415 / n)
    half = np.where((counts.sum(1)[:, 0] == 0) & few, np.maximum(half, wilson), half)
    return slope * unread + mean - half, slope * unread + mean + half


def held(limits, truth):
    """Return how often limits hold the truth."""
    low, high = limits
    return float(np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12)))


def said(limits, truth):
    """Return coverage and mean width."""
    return [round(held(limits, truth), 4), round(float(np.mean(limits[1] - limits[0])), 4)]


def of_design(cells, n, rng, runs, few=0):
    """Return coverage and width by interval; of "pairs" in the first `few` runs."""
    truth = by_difference(cells.sum((0, 1))) @ VALUES / cells.sum()
    own, drawn = own_sample(cells, n, rng, runs), random_sample(cells, n, rng, runs)
    found = {
        "random": said(regression_limits(*drawn, LEVEL), truth),
        "plain": said(plain_limits(*drawn), truth),
        "own": said(judged_limits(*own, LEVEL), truth),
    }
    if few:
        some = own[0] > 0
        found["pairs"] = said(
            np.array(
                [
                    tuple(wb.paired_difference(own[0][some], counts[some]).interval())
                    for counts in own[1][:few]
                ]
            ).T,
            truth,
        )
    return found


def likely(rng):
    """Return a population and a number of labels as they are met: a judge that is right in 60% to 99%."""
    size, n = (int(np.exp(rng.uniform(*np.log(range_)))) for range_ in ((1_000, 20_000), (40, 400)))
    right = np.sort(rng.uniform(0.5, 0.98, 2))[:: rng.choice([-1, 1])]
    return population(size, n, *right, *rng.uniform(0.6, 0.99, 3), seed=int(rng.integers(10**9))), n


def searched(rng, drawn_by, designs, runs=1_500, again=20_000, worst=25):
    """Return least and median coverage of random designs, and the median width over the plain one's where it covers."""
    drawn = [drawn_by(rng) for _ in range(designs)]
    first = [of_design(cells, n, rng, runs) for cells, n in drawn]
    found = {}
    for name in ("random", "own", "plain"):
        covered = np.array([each[name][0] for each in first])
        least = min(
            (of_design(*drawn[k], rng, again)[name][0], k) for k in np.argsort(covered)[:worst]
        )
        ratio = [
            each[name][1] / each["plain"][1]
            for each in first
            if each["plain"][0] >= 0.94 and each["plain"][1]
        ]
        cells, n = drawn[least[1]]
        found[name] = {
            "least": least[0],
            "median": round(float(np.median(covered)), 4),
            "width over plain": round(float(np.median(ratio)), 3),
            "at": {"labels": n, "items": tables_of(cells).tolist()},
        }
    return {"designs": designs} | found


PARTS = {
    "named": lambda rng: {
        name: of_design(population(*setting), setting[1], rng, 20_000, 200)
        for name, setting in NAMED.items()
    },
    "searched": lambda rng: searched(rng, likely, 300),
    "searched anywhere": lambda rng: searched(rng, hard, 1_000),
}

if __name__ == "__main__":
    began = time.process_time()
    record = {"seed": 1} | {
        name: part(np.random.default_rng([1, k])) for k, (name, part) in enumerate(PARTS.items())
    }
    text = (
        json.dumps(record | {"minutes": round((time.process_time() - began) / 60, 2)}, indent=1)
        + "\n"
    )
    print(text)
    if "--write" in sys.argv:
        RECORD.write_text(text)
