"""Audits in waves as sessions draw them: coverage and bias, and how wide they are against strata in proportion.

    python tests/peers/session_waves.py              # print, some minutes
    python tests/peers/session_waves.py --write      # and record it

Populations are of 20,000 items in 5 strata of equal size; scores are right, too sure, useless or say the opposite.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.stratified import waves

RECORD = Path(__file__).with_suffix(".json")
RUNS, SEED, LEVEL = 20_000, 1, 0.95
STRATA, SIZE, LEAST = 5, 20_000, 1e-9
ACCURACIES, BUDGETS, WAVES = (0.7, 0.88, 0.97, 0.995), (60, 150, 400), (2, 3, 5)
SCORES = {
    "calibrated": lambda rate: rate,
    "too sure": lambda rate: rate**0.25,
    "useless": lambda rate: np.full(rate.shape, rate.mean()),
    "opposite": lambda rate: rate[::-1],
}


def settings():
    """Yield name, scores and right items per stratum, budget and waves."""
    for accuracy in ACCURACIES:
        low = np.clip(2 * accuracy - 1, 0.02, None)
        rate = np.linspace(low, 2 * accuracy - low, STRATA)
        for scores, told in SCORES.items():
            for budget in BUDGETS:
                for count in WAVES:
                    yield (
                        f"{accuracy}, {scores}, {budget} labels, {count} waves",
                        told(rate),
                        rate,
                        budget,
                        count,
                    )


def drawn(size, right, prior, totals, runs, rng):
    """Return labels and right ones (R, T, H) of audits in waves."""
    labeled, correct = np.zeros((2, runs, len(totals), size.size), np.int64)
    for t, total in enumerate(totals):
        n, x = labeled.sum(1), correct.sum(1)
        labeled[:, t] = waves.wave_step(
            size, n, x, total, *waves.wave_settings(size.size, prior, 4.0, 0.3)
        )
        good = right - x
        correct[:, t] = rng.hypergeometric(good, size - n - good, labeled[:, t])
    return labeled, correct


def measured(prior, rate, budget, count, rng, runs=RUNS):
    """Return coverage, bias, and the standard error and the interval's width over those of strata in proportion."""
    size = np.full(STRATA, SIZE // STRATA)
    right = np.rint(size * rate).astype(int)
    labeled, correct = drawn(
        size, right, np.clip(prior, 0, 1), waves.wave_totals(budget, count).tolist(), runs, rng
    )
    truth, estimates = right.sum() / size.sum(), waves.wave_moments(size, labeled, correct)[0]
    low, high = waves.wave_limits(size, labeled, correct, (1 - LEVEL) / 2)
    plain = wb.allocate(size, budget, "proportional").labeled
    others = rng.hypergeometric(right, size - right, plain, (runs, STRATA))
    other = waves.wave_limits(
        size, np.broadcast_to(plain, (runs, 1, STRATA)), others[:, None], (1 - LEVEL) / 2
    )
    usual = waves.wave_moments(size, np.broadcast_to(plain, (runs, 1, STRATA)), others[:, None])[0]
    bias, error = estimates.mean() - truth, estimates.std() / runs**0.5
    return {
        "coverage": float(np.mean((low <= truth + LEAST) & (truth - LEAST <= high))),
        "bias": float(bias),
        "bias in errors": float(bias / error),
        "error over proportion": float(estimates.std() / usual.std()),
        "width over proportion": float(np.mean(high - low) / np.mean(other[1] - other[0])),
    }


def main():
    """Print all settings and their extremes, and record them."""
    start, rng, found = time.process_time(), np.random.default_rng(SEED), {}
    for name, *setting in settings():
        found[name] = measured(*setting, rng)
        print(name, {key: round(value, 5) for key, value in found[name].items()}, flush=True)
    least = min(found, key=lambda name: found[name]["coverage"])
    record = {
        "seed": SEED,
        "runs": RUNS,
        "level": LEVEL,
        "minutes": round((time.process_time() - start) / 60, 1),
        "least coverage": found[least]["coverage"],
        "least": least,
        "largest bias in errors": max(abs(each["bias in errors"]) for each in found.values()),
        "settings": found,
    }
    print({name: value for name, value in record.items() if name != "settings"})
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
