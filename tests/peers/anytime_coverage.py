"""How often "anytime" misses when it is looked at after every label, and how wide it is.

    python tests/peers/anytime_coverage.py              # 20 settings x 2,000 runs, some minutes
    python tests/peers/anytime_coverage.py 200          # fewer runs
    python tests/peers/anytime_coverage.py 2000 --write # recorded

Along a path the winnings at the true composition bound E at the true total: only where they reach 1 / alpha is E itself
needed. Ends with exit code 1 where a setting misses in more than 5% of its runs, beyond two Monte Carlo errors.
"""

import json
import sys
import time
from math import log, sqrt
from pathlib import Path

import numpy as np

from workbench import anytime_interval, digit_forms, labeling_order, stratified_interval
from workbench.stratified.anytime import log_evidence, log_winnings
from workbench.stratified.default_plan import default_labels, strata_wanted
from workbench.stratified.strata import strata_of

RECORD = Path(__file__).with_suffix(".json")
ALPHA = 0.05
# items and right ones per stratum, labels, expected accuracy, shares of the labels (None: in proportion)
DIGITS = [360, 359, 360, 359, 359]
SETTINGS = [
    (DIGITS, [209, 305, 346, 356, 359], 600, 0.85, None),
    (DIGITS, [209, 305, 346, 356, 359], 600, None, None),
    (DIGITS, [209, 305, 346, 356, 359], 600, 0.85, [3, 1, 1, 1, 1]),
    ([140_000] * 5, [119_000, 130_000, 137_000, 139_500, 140_000], 600, 0.85, None),
    ([140_000] * 5, [119_000, 130_000, 137_000, 139_500, 140_000], 600, None, None),
    ([140_000] * 5, [112_000, 114_000, 120_000, 125_000, 126_000], 600, 0.95, None),
    ([10_000], [9_000], 600, 0.85, None),
    ([10_000], [5_000], 600, 0.85, None),
    ([10_000], [5_000], 600, None, None),
    ([10_000], [9_950], 600, 0.85, None),
    ([10_000], [300], 600, 0.85, None),
    ([100], [93], 100, 0.85, None),
    ([60], [40], 60, None, None),
    ([40, 60], [8, 58], 100, 0.85, None),
    ([40, 60], [8, 58], 100, 0.85, [9, 1]),
    ([5, 30, 300], [1, 20, 290], 335, 0.85, None),
    ([900, 90, 10], [880, 45, 0], 600, 0.85, None),
    ([50] * 10, [10, 20, 30, 40, 45, 48, 49, 50, 50, 50], 500, 0.85, None),
    ([2000] * 10, [1000, 1400, 1600, 1700, 1800, 1850, 1900, 1950, 1990, 2000], 600, 0.85, None),
    ([2000] * 10, [2000, 0, 2000, 0, 2000, 0, 2000, 0, 2000, 0], 600, None, None),
]


def draw(size, right, order, rng):
    """Return the labels of one run: within a stratum the items come at random."""
    label = np.empty(order.size, np.int64)
    for h, (items, good) in enumerate(zip(size, right, strict=True)):
        places = np.flatnonzero(order == h)
        pool = np.arange(items) < good
        label[places] = pool[rng.permutation(items)[: places.size]]
    return label


def missed(size, right, order, label, expected, alpha=ALPHA):
    """Return whether the interval lost the truth after any of the labels."""
    limit = -log(alpha)
    for t in np.flatnonzero(log_winnings(size, right, order, label, expected=expected) >= limit):
        if (
            log_evidence(size, order[: t + 1], label[: t + 1], int(sum(right)), expected=expected)
            >= limit
        ):
            return True
    return False


def miss_rate(setting, runs, rng, alpha=ALPHA):
    """Return the share of runs in which the interval lost the truth at least once."""
    size, right, n, expected, share = setting
    order, rng = labeling_order(size, n, share=share), np.random.default_rng(rng)
    return (
        sum(
            missed(size, right, order, draw(size, right, order, rng), expected, alpha)
            for _ in range(runs)
        )
        / runs
    )


def width_ratio(setting, n, runs, rng):
    """Return the mean width over that of the default interval of as many labels fixed in advance."""
    size, right, _, expected, share = setting
    order, rng, widths = (
        labeling_order(size, n, share=share),
        np.random.default_rng(rng),
        np.zeros(2),
    )
    for _ in range(runs):
        label = draw(size, right, order, rng)
        counts = (
            np.bincount(order, minlength=len(size)),
            np.bincount(order, label, len(size)).astype(int),
        )
        widths += (
            anytime_interval(size, order, label, expected=expected).half_width,
            stratified_interval(size, *counts).half_width,
        )
    return widths[0] / widths[1]


def default_plan(n):
    """Return the setting of an audit of the digit forms with the default plan for n labels."""
    items = digit_forms().items()
    strata = strata_of(items, strata_wanted("auto", n, items), "equal_size")
    right = np.bincount(strata.labels, items.correct).astype(int)
    share, _ = default_labels(items, strata, n)
    return strata.sizes, right, n, 0.85, share


def update_times(setting, n, rng):
    """Return the seconds that each tenth update takes."""
    size, right, _, expected, share = setting
    order, rng, found = labeling_order(size, n, share=share), np.random.default_rng(rng), []
    label = draw(size, right, order, rng)
    for t in range(10, n + 1, 10):
        start = time.perf_counter()
        anytime_interval(size, order[:t], label[:t], expected=expected)
        found.append(time.perf_counter() - start)
    return found


def main(runs=2000, write=False):
    """Print a line per setting, widths and times; return the number of settings that miss too often."""
    misses, widths = [], []
    for k, setting in enumerate(SETTINGS):
        misses.append(miss_rate(setting, runs, k))
        size, right, n, expected, share = setting
        print(
            f"{k:2d}  {sum(right) / sum(size):.3f} of {sum(size):,} items in {len(size)} strata, {n} labels, "
            f"expected {expected}, shares {share}: misses {misses[-1]:.4f}",
            flush=True,
        )
    for name, k in (("digits", 0), (".95 of 700,000", 3)):
        ratios = {n: width_ratio(SETTINGS[k], n, 100, n) for n in (50, 100, 200, 300, 600)}
        print(
            f"width over the default's, {name}: {', '.join(f'{ratio:.2f} at {n}' for n, ratio in ratios.items())}"
        )
        widths += ratios.values()
    default_plan_widths = [
        width_ratio(default_plan(n), n, 100, n) for n in (50, 100, 200, 300, 600)
    ]
    print(f"with the default plan: {', '.join(f'{ratio:.2f}' for ratio in default_plan_widths)}")
    print(
        f"median update at 10 strata: {1000 * np.median(update_times(SETTINGS[18], 600, 0)):.1f} ms"
    )
    if write:
        RECORD.write_text(
            json.dumps(
                {
                    "runs": runs,
                    "misses": misses,
                    "widths": widths,
                    "default_plan_widths": default_plan_widths,
                }
            )
            + "\n",
            encoding="utf-8",
        )
    return sum(rate > ALPHA + 2 * sqrt(ALPHA * (1 - ALPHA) / runs) for rate in misses)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:2]), write="--write" in sys.argv)))
