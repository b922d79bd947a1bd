"""Random starts and local moves towards designs that are covered less, and a program around them.

The lowest of many noisy values is too low: the lowest finalists are drawn again, the lowest of these once more, and
that number is reported with its Monte Carlo error. A family's draws follow from the seed, its name and the number of
evaluations.
"""

import argparse
import json
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PATIENCE = 25


@dataclass(frozen=True)
class Family:
    """What is searched: how a design is drawn, moved and covered, and how many draws each stage takes.

    Attributes
    ----------
    start : callable
        Generator to a random design.
    moved : callable
        Design and generator to a neighbor.
    coverage : callable
        Design, generator and runs to the share of runs that are covered; infinite for a design that is none of the
        family.
    load : callable
        A dict of a saved design's fields to the design.
    runs : tuple of three int
        Of screening, of the finalists, and of what is reported.
    finalists : int
    details : callable, optional
        Design, generator and runs to a dict of what else is recorded.
    """

    start: Callable
    moved: Callable
    coverage: Callable
    load: Callable
    runs: tuple = (1_000, 10_000, 40_000)
    finalists: int = 24
    details: Callable | None = None


def search(family, rng, minutes):
    """Return the lowest design of a family within minutes of one core, and the number of evaluations."""
    end, seen = time.process_time() + 60 * minutes, []
    while time.process_time() < end or not seen:
        design, tries = family.start(rng), 0
        lowest = family.coverage(design, rng, family.runs[0])
        if not np.isfinite(lowest):
            continue
        seen.append((lowest, design))
        while tries < PATIENCE and time.process_time() < end:
            other = family.moved(design, rng)
            covered, tries = family.coverage(other, rng, family.runs[0]), tries + 1
            seen.append((covered, other))
            if covered < lowest:
                lowest, design, tries = covered, other, 0
    finalists = [design for _, design in sorted(seen, key=lambda pair: pair[0])[: family.finalists]]
    again = np.argsort([family.coverage(design, rng, family.runs[1]) for design in finalists])
    best = min(
        (finalists[k] for k in again[:3]),
        key=lambda design: family.coverage(design, rng, family.runs[2]),
    )
    return best, len(seen)


def plain(design):
    """Return a design's fields for JSON."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(design).items()
    }


def report(name, family, options, recorded):
    """Search a family, or draw its recorded design again; print and return what belongs into the record."""
    rng = np.random.default_rng([options.seed, zlib.crc32(name.encode())])
    if options.recheck:
        design, count = family.load(recorded[name]["design"]), recorded[name]["evaluations"]
    else:
        design, count = search(family, rng, options.minutes)
    covered = family.coverage(design, rng, family.runs[2])
    details = family.details(design, rng, family.runs[2]) if family.details else {}
    error = (covered * (1 - covered) / family.runs[2]) ** 0.5
    print(
        f"{name:22} {covered:.4f} +- {error:.4f}",
        *(f"{key} {value:.4g}" for key, value in details.items()),
        f"lowest of {count:,}",
        sep="  ",
        flush=True,
    )
    minutes = recorded[name]["minutes"] if options.recheck else options.minutes
    return {
        "coverage": covered,
        **details,
        "evaluations": count,
        "seed": options.seed,
        "minutes": minutes,
        "design": plain(design),
    }


def main(families, record, title):
    """Search, recheck or record, as the command line says."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--family", choices=families)
    parser.add_argument("--minutes", type=float, default=1, help="of one core per family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--recheck", action="store_true")
    options = parser.parse_args()
    for name in [options.family] if options.family else families:
        recorded = json.loads(record.read_text()) if record.exists() else {}
        if options.recheck and name not in recorded:
            continue
        found = report(name, families[name], options, recorded)
        if options.write:
            record.write_text(json.dumps(recorded | {name: found}, indent=1) + "\n")
