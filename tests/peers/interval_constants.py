"""Every constant of the bounded and the default interval, halved and doubled.

    python tests/peers/interval_constants.py                # fresh samples, printed
    python tests/peers/interval_constants.py --write        # recorded

The constants of clusters are tried on the kinds of designs of `search_replication.kinds`, without
AUC and without the kinds that no interval can know. Those of single items are tried on the graded
cells of `short_intervals`. A row holds the least coverage and the mean width over Student's t. The
lowest designs of a row are sampled again, so that the least of many noisy figures is not too low.
"""

import argparse
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import search_replication
import short_intervals

from workbench.intervals import unseen
from workbench.replication import bounded_intervals

RECORD = Path(__file__).with_suffix(".json")
SEED, RUNS, AGAIN, FINALISTS = 1, 100, 2_000, 12
BOUNDED = (
    "POOLED_DF",
    "WORST_CARRIERS",
    "WORST_TAIL",
    "BOUND_CARRIERS",
    "LARGER_FACTOR",
    "LARGER_TAIL",
    "SIZES_VARY",
)
DEFAULT = ("HALF_A_PSU", "FEW_PSUS", "CARRIERS", "HEAVY", "EVEN")
ITEMS = ("FEW_CARRIERS", "ENOUGH_CARRIERS", "MORE_THAN_THREE", "LEAST_SPREAD")
FACTORS = (0.5, 2.0)


@contextlib.contextmanager
def changed(module, name: str | None, factor: float) -> Iterator[None]:
    """Multiply a constant, or both numbers of a pair, within the context."""
    if name is None:
        yield
        return
    value = getattr(module, name)
    scaled = value * factor if np.isscalar(value) else tuple(factor * end for end in value)
    setattr(module, name, scaled)
    try:
        yield
    finally:
        setattr(module, name, value)


def designs() -> list[tuple[str, search_replication.Design]]:
    """Return statistics and designs of the kinds in which the interval is meant to cover."""
    return [
        (statistic, design)
        for kind, (statistic, members) in search_replication.kinds().items()
        if statistic != "auc" and kind not in search_replication.UNKNOWABLE
        for design in members
    ]


def cluster_row(method: str) -> dict:
    """Return least coverage and mean width over all designs, with the constants as they are."""
    coverage, width = ("coverage", "width_over_t")
    if method == "bounded":
        coverage, width = ("bounded_coverage", "bounded_over_t")
    members = designs()

    def figures(number: int, runs: int):
        statistic, design = members[number]
        rng = np.random.default_rng([SEED, number, runs])
        return search_replication.figures(design, statistic, rng, runs)

    first = [figures(number, RUNS) for number in range(len(members))]
    lowest = np.argsort([getattr(found, coverage) for found in first], kind="stable")[:FINALISTS]
    again = [getattr(figures(int(number), AGAIN), coverage) for number in lowest]
    return {
        "coverage": float(min(again)),
        "over_t": float(np.mean([getattr(found, width) for found in first])),
    }


def item_row(method: str) -> dict:
    """Return least coverage and mean width over the graded cells of 60 items or more."""
    found = []
    for number, (name, cell) in enumerate(short_intervals.cells().items()):
        if "items" in name and not name.startswith("30 "):
            found.append(cell(np.random.default_rng([SEED, number]), AGAIN))
    return {
        "coverage": min(cell[method] for cell in found),
        "over_t": float(np.mean([cell[f"{method}_over_t"] for cell in found])),
    }


TRIED = {
    "bounded, clusters": (bounded_intervals, BOUNDED, cluster_row, "bounded"),
    "default, clusters": (bounded_intervals, DEFAULT, cluster_row, "default"),
    "default, items": (unseen, ITEMS, item_row, "default"),
}


def tried(of: str) -> dict[str, dict]:
    """Return the rows of one interval: as it is, and with each constant halved and doubled."""
    module, names, row, method = TRIED[of]
    variants = [(None, 1.0)] + [(name, factor) for name in names for factor in FACTORS]
    rows = {}
    for name, factor in variants:
        label = "as it is" if name is None else f"{name} x {factor:g}"
        with changed(module, name, factor):
            rows[label] = row(method)
        print(f"{of:20}{label:24}", rows[label], flush=True)
    return rows


def main():
    """Print every row, and record them all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    start = time.process_time()
    rows = {of: tried(of) for of in TRIED}
    if options.write:
        minutes = round((time.process_time() - start) / 60, 2)
        record = {"seed": SEED, "runs": RUNS, "again": AGAIN, "minutes": minutes, "rows": rows}
        RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
