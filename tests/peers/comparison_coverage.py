"""What comparisons of models cover, how wide they are against Student's t, what gates and plans hold: simulations.

    python tests/peers/comparison_coverage.py                # fresh draws, printed
    python tests/peers/comparison_coverage.py --write        # recorded
    python tests/peers/comparison_coverage.py --times        # 30 models, 5,000 items; eight logs of 10,000 samples

A cell of pairs draws differences of items (n, runs) of which the mean is known: from chances of -1, 0 and 1, from
scores with partial credit, and in clusters that differ in how often the models differ and in who wins there, of equal
or of random size. A cell of ranks draws right and wrong answers of several models on items of a common difficulty; it
is covered where no model is called better that is not. A plan is tried with clusters of another kind than it assumes.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import stats

import workbench as wb
from workbench.extras.compare.evidence import evidence

RECORD = Path(__file__).with_suffix(".json")
TAIL, BOUNDS, AROUND = 0.025, (-1.0, 1.0), 0.02


def trinomial(n, discordant, D):
    """Items on which exactly one of two models is right, with a mean of D."""

    def draw(rng, runs):
        return rng.choice(
            [-1.0, 0, 1], (n, runs), p=[(discordant - D) / 2, 1 - discordant, (discordant + D) / 2]
        ), None

    return draw, D


def partial(n, first, second, same):
    """Scores 0, 1/2 and 1 of two models, alike with a chance `same` and else independent."""
    values = np.array([0, 0.5, 1])

    def draw(rng, runs):
        a = rng.choice(values, (n, runs), p=first)
        return a - np.where(
            rng.random((n, runs)) < same, a, rng.choice(values, (n, runs), p=second)
        ), None

    return draw, (1 - same) * float(values @ first - values @ second)


def graded(n, a, b, noise):
    """Graded scores: Beta(a, b) less the same with noise towards another grade."""

    def draw(rng, runs):
        first = rng.beta(a, b, (n, runs))
        return first - np.where(
            rng.random((n, runs)) < noise, rng.beta(b, a, (n, runs)), first
        ), None

    return draw, noise * (a - b) / (a + b)


def clustered(C, m, discordant, D, icc, spread=0.0):
    """Clusters of m items, or of sizes that vary lognormally, differ in how often models differ and in who wins."""
    k, w = 1 / icc - 1, (1 + D / discordant) / 2

    def draw(rng, runs):
        sizes = np.maximum(np.round(m * np.exp(rng.normal(0, spread, C))), 1).astype(int)
        cluster = np.repeat(np.arange(C), sizes)
        often = rng.beta(discordant * k, (1 - discordant) * k, (C, runs))
        win = rng.beta(w * k, (1 - w) * k, (C, runs)) if 0 < w < 1 else np.full((C, runs), w)
        shape = cluster.size, runs
        return np.where(
            rng.random(shape) < often[cluster],
            np.where(rng.random(shape) < win[cluster], 1.0, -1.0),
            0.0,
        ), cluster

    return draw, D


PAIRS = {
    f"n {n}, discordant {u}, D {D}": trinomial(n, u, D)
    for n, u, D in [
        (100, 0.05, 0),
        (100, 0.02, 0),
        (500, 0.1, 0.03),
        (50, 0.2, 0.1),
        (1000, 0.01, 0.005),
        (200, 0.03, 0.03),
        (20, 0.2, 0),
        (30, 0.3, 0.1),
        (150, 0.02, 0.02),
        (300, 0.5, 0.2),
        (2000, 0.005, 0.005),
    ]
}
PAIRS |= {
    "partial credit, n 60": partial(60, [0.1, 0.2, 0.7], [0.3, 0.2, 0.5], 0.6),
    "partial credit, n 25, nearly alike": partial(25, [0.1, 0.1, 0.8], [0.1, 0.1, 0.8], 0.95),
    "graded, n 40": graded(40, 5, 2, 0.3),
    "graded, n 100, rarely apart": graded(100, 6, 1, 0.03),
}
CLUSTERS = {
    f"{C} clusters of {m}, discordant {u}, D {D}, ICC {icc}": clustered(C, m, u, D, icc)
    for C, m, u, D, icc in [
        (5, 20, 0.2, 0, 0.2),
        (10, 20, 0.1, 0, 0.2),
        (20, 10, 0.1, 0.04, 0.2),
        (50, 10, 0.1, 0.04, 0.2),
        (20, 20, 0.02, 0, 0.1),
        (50, 10, 0.02, 0, 0.1),
        (10, 40, 0.02, 0.02, 0.3),
        (20, 40, 0.02, 0.02, 0.3),
        (50, 40, 0.02, 0.02, 0.3),
        (7, 30, 0.3, 0.1, 0.3),
        (30, 5, 0.05, 0.05, 0.4),
        (100, 8, 0.1, 0.03, 0.1),
        (200, 5, 0.05, 0, 0.2),
    ]
}
CLUSTERS |= {
    f"{C} clusters of about {m} (log-sd {spread}), discordant {u}, D {D}, ICC {icc}": clustered(
        C, m, u, D, icc, spread
    )
    for C, m, u, D, icc, spread in [
        (15, 20, 0.15, 0.05, 0.2, 0.5),
        (40, 10, 0.1, 0, 0.2, 1.0),
        (80, 6, 0.05, 0.02, 0.1, 0.8),
    ]
}
NEAR, WIDE = [0.7, 0.7, 0.7, 0.7, 0.72, 0.74, 0.76, 0.8], np.linspace(0.55, 0.85, 8)
RANKS = {
    "8 equal, 300 items": (300, [0.7] * 8, None),
    "8 near, 1,000 items": (1000, NEAR, None),
    "8 apart, 300 items": (300, WIDE, None),
    "8 equal, 400 items in 20 clusters": (400, [0.7] * 8, 20),
    "8 near, 1,000 items in 50 clusters": (1000, NEAR, 50),
    "3 equal, 100 items": (100, [0.9] * 3, None),
    "20 near, 500 items": (500, np.repeat([0.6, 0.62, 0.65, 0.7], 5), None),
    "15 equal, 300 items in 30 clusters": (300, [0.5] * 15, 30),
    "4 apart, 200 items in 10 clusters": (200, [0.6, 0.6, 0.7, 0.8], 10),
}
PLANS = [
    (300, 0.2, None, 0),
    (1000, 0.1, None, 0),
    (100, 0.4, None, 0),
    (2000, 0.05, None, 0),
    (500, 0.3, None, 0),
    (5000, 0.02, None, 0),
    (150, 0.15, None, 0),
    (800, 0.6, None, 0),
    (1000, 0.1, 50, 0.1),
    (600, 0.2, 30, 0.2),
    (2000, 0.1, 100, 0.3),
    (500, 0.3, 20, 0.1),
]


def limits(values, cluster):
    """Return the package's limits of columns of differences, (runs,) each."""
    found = list(evidence(lambda part: (values[:, part],) * 2, values.shape, cluster, BOUNDS))
    low, high = zip(*(each.limits(TAIL) for each in found), strict=True)
    return np.concatenate(low), np.concatenate(high)


def t_limits(values, cluster):
    """Return Student's t of items, or of clusters' totals of errors."""
    n, mean = len(values), values.mean(0)
    if cluster is None:
        half, df = values.std(0, ddof=1) / np.sqrt(n), n - 1
    else:
        C = cluster.max() + 1
        error = np.add.reduceat(values - mean, np.flatnonzero(np.diff(cluster, prepend=-1)))
        half, df = np.sqrt(C / (C - 1) * (error**2).sum(0)) / n, C - 1
    half = half * stats.t.ppf(1 - TAIL, df)
    return mean - half, mean + half


def all_limits(draw, rng, runs):
    """Return our limits and t's, (4, runs), of draws whose clusters are the same, or new in each of 100 parts."""
    parts = [draw(rng, runs // 100) for _ in range(100)]
    return np.concatenate([np.stack([*limits(*part), *t_limits(*part)]) for part in parts], 1)


def pair_cell(cell, rng, runs):
    draw, truth = cell
    low, high, t_low, t_high = all_limits(draw, rng, runs)
    t_width = np.median(t_high - t_low)
    return {
        "coverage": float(((low <= truth) & (truth <= high)).mean()),
        "t_coverage": float(((t_low <= truth) & (truth <= t_high)).mean()),
        "width": float(np.median(high - low)),
        "over_t": float(np.median(high - low) / t_width) if t_width else None,
        "zero": int((high <= low).sum()),
        "zero_t": int((t_high <= t_low + 1e-12).sum()),
        "decided_at_margin": float(((low > truth) | (high < truth)).mean()),
        "fails_above": float((high < truth - AROUND).mean()),
        "passes_below": float((low > truth + AROUND).mean()),
    }


def answers(cell, rng):
    """Return right answers (n, M) and clusters: items and clusters are hard for all, clusters also for some models."""
    n, accuracy, C = cell
    cluster = None if C is None else np.sort(rng.integers(0, C, n))
    z, total = rng.normal(0, 1.5, (n, 1)) + rng.normal(size=(n, len(accuracy))), 1 + 1.5**2
    if C is not None:
        z += rng.normal(0, 0.7, (C, 1))[cluster] + rng.normal(0, 0.5, (C, len(accuracy)))[cluster]
        total += 0.7**2 + 0.5**2
    return (z < np.sqrt(total) * stats.norm.ppf(accuracy)).astype(float), cluster


def rank_cell(cell, rng, runs):
    accuracy, held, sizes = np.asarray(cell[1], float), 0, []
    for _ in range(runs):
        score, cluster = answers(cell, rng)
        found = wb.compare_items(
            wb.ItemScores(
                score, [f"{k:02d}" for k in range(accuracy.size)], range(len(score)), cluster
            )
        )
        true = accuracy[[int(name) for name in found.names]]
        better, worse = true[found.pairs[found.shown]].T
        held += bool((better > worse).all())
        sizes.append(np.mean([row["worst_rank"] - row["best_rank"] + 1 for row in found.ranks()]))
    return {"coverage": held / runs, "size": float(np.mean(sizes))}


def alike(C, m, discordant, D, share, rng, runs):
    """Differences of clusters with a latent normal level that takes a share of the variance."""
    level = np.sqrt(share) * np.repeat(rng.normal(size=(C, runs)), m, 0) + np.sqrt(
        1 - share
    ) * rng.normal(size=(C * m, runs))
    worse, better = (discordant - D) / 2, 1 - (discordant + D) / 2
    return np.where(
        level < stats.norm.ppf(worse), -1.0, np.where(level > stats.norm.ppf(better), 1.0, 0.0)
    )


def plan_cell(plan, rng, runs):
    items, discordant, C, share = plan
    if C is None:
        D = wb.detectable_difference(items, discordant)
        return {
            "difference": D,
            "power": float(
                (limits(trinomial(items, discordant, D)[0](rng, runs)[0], None)[0] > 0).mean()
            ),
        }
    two = alike(200_000, 2, discordant, 0, share, rng, 1).reshape(-1, 2)
    icc = float(np.corrcoef(two.T)[0, 1])
    D = wb.detectable_difference(items, discordant, clusters=C, icc=icc)
    low = limits(
        alike(C, items // C, discordant, D, share, rng, runs), np.repeat(np.arange(C), items // C)
    )[0]
    return {"difference": D, "icc": icc, "power": float((low > 0).mean())}


KINDS = {
    "pairs": (PAIRS, pair_cell),
    "clusters": (CLUSTERS, pair_cell),
    "ranks": (RANKS, rank_cell),
    "plans": ({", ".join(map(str, plan)): plan for plan in PLANS}, plan_cell),
}


def times():
    """Print processor seconds of large comparisons and of reading logs."""
    rng = np.random.default_rng(0)
    for C in (None, 200):
        score = (rng.random((5_000, 30)) < np.linspace(0.6, 0.7, 30)).astype(float)
        scores = wb.ItemScores(
            score,
            [f"m{k}" for k in range(30)],
            range(5_000),
            None if C is None else rng.integers(0, C, 5_000),
        )
        start = time.process_time()
        wb.compare_items(scores)
        print(
            f"30 models, 5,000 items, {C or 'no'} clusters: {time.process_time() - start:.2f} s (target 3)"
        )
    with tempfile.TemporaryDirectory() as folder:
        for m in range(8):
            with open(f"{folder}/samples_m{m}.jsonl", "w") as file:
                for k in range(10_000):
                    file.write(
                        json.dumps(
                            {
                                "doc_id": k,
                                "doc": {"question": f"q {k}", "text": f"d{k % 200}"},
                                "filter": "none",
                                "target": "x",
                                "arguments": [["a long prompt " * 125, {}]],
                                "resps": [["x"]],
                                "filtered_resps": ["x"],
                                "metrics": ["exact_match"],
                                "exact_match": float(rng.random() < 0.6 + 0.01 * m),
                            }
                        )
                        + "\n"
                    )
        start = time.process_time()
        wb.compare_items(wb.read_item_scores(folder, cluster="doc.text"))
        print(f"eight logs of 10,000 samples: {time.process_time() - start:.1f} s (target 15)")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    if options.times:
        return times()
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for kind in options.kinds:
        cells, measure = KINDS[kind]
        start, found = time.process_time(), {}
        for number, (name, cell) in enumerate(cells.items()):
            found[name] = measure(cell, np.random.default_rng([options.seed, number]), options.runs)
            print(
                name,
                {
                    key: value if value is None else round(value, 4)
                    for key, value in found[name].items()
                },
                flush=True,
            )
        recorded[kind] = {
            "seed": options.seed,
            "runs": options.runs,
            "minutes": round((time.process_time() - start) / 60, 2),
            "cells": found,
        }
        if options.write:
            RECORD.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
