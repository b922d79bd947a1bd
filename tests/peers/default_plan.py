"""How wide the default plan's intervals are against five strata in proportion, what they cover, and what it assures.

    python tests/peers/default_plan.py                # fresh draws, printed
    python tests/peers/default_plan.py --write        # recorded

Every population has its own scores of six kinds. Both plans sample the same population; the default interval is
computed for each sample. Assured budgets are those of `plan_budget` and `label_prices`; how many fresh samples have the
half-width is counted.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

import workbench as wb
from workbench import intervals

RECORD = Path(__file__).with_suffix(".json")
KINDS = (
    "sharp",
    "calibrated",
    "over-confident",
    "under-confident",
    "useless",
    "shuffled",
    "reversed",
)
SETTINGS = (20_000, 0.7), (20_000, 0.85), (20_000, 0.95), (2_500, 0.9)
BUDGETS = 50, 100, 200, 400, 1_000
PLANS = (
    ([4_000] * 5, [0.6, 0.8, 0.9, 0.97, 0.995], 0.03),
    ([4_000] * 5, [0.6, 0.8, 0.9, 0.97, 0.995], 0.08),
    ([400] * 5, [0.5, 0.7, 0.9, 0.95, 1], 0.04),
    ([10**6], [0.9], 0.05),
    ([10**6], [0.5], 0.03),
    ([9_000, 1_000], [0.98, 0.5], 0.02),
    ([300] * 10, np.linspace(0.6, 1, 10).tolist(), 0.05),
    ([1_000] * 20, np.linspace(0.8, 1, 20).tolist(), 0.02),
)


def population(kind, items, accuracy, rng):
    """Return scores and right ones of a population of about this accuracy."""
    spread = 1.2 if kind in ("sharp", "shuffled", "reversed") else 6
    chance = np.clip(rng.beta(accuracy * spread, (1 - accuracy) * spread, items), 1e-6, 1 - 1e-6)
    right = (rng.random(items) < chance) * 1
    scores = {
        "over-confident": lambda: expit(2.5 * logit(chance)),
        "under-confident": lambda: expit(0.4 * logit(chance)),
        "useless": lambda: rng.uniform(0.5, 1, items),
        "shuffled": lambda: rng.permutation(chance),
        "reversed": lambda: chance[np.argsort(-chance)][np.argsort(np.argsort(chance))],
    }
    return scores.get(kind, lambda: chance)(), right


def limits(size, right, labeled, rng, runs):
    """Return the default limits of samples."""
    drawn = rng.hypergeometric(right, size - right, labeled, (runs, size.size))
    low, high = intervals.default_limits(
        intervals.stratum_cells(size, labeled, drawn), size.sum(), 0.025
    )
    least, most = intervals.proven_limits(size.sum(), labeled, drawn)
    return np.maximum(low, least), np.minimum(high, most)


def cell(kind, items, accuracy, budget, rng, runs, trust=False):
    """Return the widths of both plans and the coverage of the default one."""
    score, right = population(kind, items, accuracy, rng)
    frame, widths = wb.ScoredItems(None, score), []
    for settings in ({"trust_scores": trust}, {"n_strata": 5}):
        plan = wb.accuracy_audit(frame, budget, **settings)
        count = settings.get("n_strata", plan.labeled.size)
        labels = wb.stratify(score, count, "equal_size").labels
        low, high = limits(
            plan.stratum_size,
            np.bincount(labels[right == 1], minlength=count),
            plan.labeled,
            rng,
            runs,
        )
        held = (low <= right.mean() + 1e-9) & (right.mean() - 1e-9 <= high)
        widths.append(((high - low).mean(), held.mean()))
    (wide, covered), (before, covered_before) = widths
    return {
        "kind": kind,
        "items": items,
        "accuracy": accuracy,
        "budget": budget,
        "ratio": round(wide / before, 4),
        "half_width": round(wide / 2, 5),
        "coverage": round(covered, 4),
        "coverage_of_five": round(covered_before, 4),
    }


def delivered(size, rate, labeled, half_width, rng, runs):
    """Return the share of samples whose half-width is at most the wanted one."""
    low, high = limits(
        np.array(size), np.rint(np.array(size) * rate).astype(int), labeled, rng, runs
    )
    return round(float(((high - low) / 2 <= half_width).mean()), 4)


def promise(size, rate, half_width, rng, runs):
    """Return what a plan by rates promises and delivers."""
    plan = wb.plan_budget(size, rate, half_width)
    share = [
        delivered(size, rate, wb.allocate(size, n, "proportional").labeled, half_width, rng, runs)
        for n in (plan.budget, plan.assured)
    ]
    return {
        "strata": len(size),
        "half_width": half_width,
        "budget": plan.budget,
        "assured": plan.assured,
        "delivered_on_average": share[0],
        "delivered": share[1],
    }


def priced(kind, half_width, rng, runs):
    """Return what the default plan promises and delivers where every stratum's rate is its mean score."""
    score, _ = population(kind, 20_000, 0.85, rng)
    frame, share = wb.ScoredItems(None, score), []
    prices = wb.label_prices(frame, half_width)
    for budget in (int(prices.labeled[0]), int(prices.assured[0])):
        plan = wb.accuracy_audit(frame, budget)
        share.append(
            delivered(plan.stratum_size, plan.mean_score, plan.labeled, half_width, rng, runs)
        )
    return {
        "kind": kind,
        "half_width": half_width,
        "budget": int(prices.labeled[0]),
        "assured": int(prices.assured[0]),
        "delivered_on_average": share[0],
        "delivered": share[1],
    }


def measured(seed, runs):
    """Return every figure."""
    rng, start = np.random.default_rng(seed), time.process_time()
    cells, trusted = (
        [
            cell(kind, items, accuracy, budget, rng, runs, trust)
            for kind in KINDS
            for items, accuracy in SETTINGS
            for budget in budgets
        ]
        for trust, budgets in ((False, BUDGETS), (True, BUDGETS[2:]))
    )
    promises = [promise(*plan, rng, 4 * runs) for plan in PLANS]
    promises += [
        priced(kind, width, rng, 4 * runs) for kind in KINDS[:2] for width in (0.06, 0.03, 0.02)
    ]
    return {
        "seed": seed,
        "runs": runs,
        "minutes": round((time.process_time() - start) / 60, 1),
        "cells": cells,
        "trusted": trusted,
        "promises": promises,
    }


def summary(cells):
    """Print the ratios and the least coverage of each kind."""
    for kind in KINDS:
        ratio, covered = (
            np.array([each[name] for each in cells if each["kind"] == kind])
            for name in ("ratio", "coverage")
        )
        print(
            f"  {kind:16} width {ratio.min():.3f} to {ratio.max():.3f}, mean {ratio.mean():.3f}; "
            f"coverage at least {covered.min():.4f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = measured(given.seed, given.runs)
    print(f"{found['minutes']} minutes; over five strata in proportion")
    summary(found["cells"])
    print("scores trusted")
    summary(found["trusted"])
    for each in found["promises"]:
        print("  " + ", ".join(f"{name} {value}" for name, value in each.items()))
    if given.write:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
