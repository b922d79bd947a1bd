"""Search for the streams whose interval covers least, and keep what was found.

    python tests/peers/search_streams.py --family "0/1, merged" --minutes 3     # search one family, print the lowest
    python tests/peers/search_streams.py --minutes 20 --write                   # every family that long, and record it
    python tests/peers/search_streams.py --recheck                              # recorded streams, fresh keys

A design is a stream in `BLOCKS` blocks of time: records per block, stratum and value, so that strata come and go and
shares trend; kept to a budget with a floor, as one stream or, merged, with a sampler per block. The records are fixed,
the random keys are drawn. Random starts, then local moves that keep what covers less; what is reported is drawn anew in
three rounds (`climbed`, which `search_waves.py` uses too). A family's draws follow from the seed and the number of
evaluations.
"""
import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.allocation.stream import StreamSampler

RECORD = Path(__file__).with_suffix(".json")
BLOCKS, MOST_STRATA = 4, 6
VALUES = {"0/1": (0, 1), "bounded": (0, .02, .1, .5, 1), "tenfold": (0, 1, 10)}
FAMILIES = {f"{name}{how}": (values, merged) for name, values in VALUES.items()
            for how, merged in ((", one stream", False), (", merged", True))}
ROUNDS = 200, 1_000, 4_000, 10_000
FINALISTS, PATIENCE = 16, 25
ROUND = 1e-9


@dataclass(frozen=True)
class Stream:
    """Records per block, stratum and value (BLOCKS, H, V), values (V,), what is kept, and whether parts are merged."""

    records: np.ndarray
    values: tuple
    budget: int
    minimum: int
    merged: bool

    def to_dict(self):
        """Return plain lists and numbers."""
        return vars(self) | {"records": self.records.tolist(), "values": list(self.values)}

    @classmethod
    def from_dict(cls, data):
        """Return the stream that `to_dict` wrote."""
        return cls(**data | {"records": np.array(data["records"]), "values": tuple(data["values"])})

    def blocks(self):
        """Return strata and values of each block, in an order that is the same every time."""
        order = np.random.default_rng(0)
        for block in self.records:
            stratum, value = (np.repeat(place.ravel(), block.ravel()) for place in np.indices(block.shape))
            shuffled = order.permutation(stratum.size)
            yield stratum[shuffled], np.array(self.values, float)[value[shuffled]]


def coverage(stream, rng, runs, level=.95):
    """Return the share of runs whose interval holds the mean of the stream."""
    blocks = [block for block in stream.blocks() if block[0].size]
    truth = (stream.records.sum((0, 1)) * stream.values).sum() / stream.records.sum()
    bounds, inside = (min(stream.values), max(stream.values)), 0
    for _ in range(runs):
        low, high = sampled(stream, blocks, rng).estimate().interval(level, bounds=bounds)
        inside += low - ROUND <= truth <= high + ROUND
    return inside / runs


def sampled(stream, blocks, rng):
    """Return the sampler after all blocks, or the merge of a sampler per block."""
    samplers = [StreamSampler(stream.budget, minimum=stream.minimum, rng=rng)
                for _ in range(len(blocks) if stream.merged else 1)]
    for place, block in enumerate(blocks):
        samplers[place if stream.merged else 0].update(*block)
    first, *others = samplers
    for other in others:
        first.merge(other)
    return first


def start(family, rng):
    """Return a random stream of a family."""
    values, merged = FAMILIES[family]
    strata = int(rng.integers(1, MOST_STRATA + 1))
    per_block = rng.dirichlet(np.full(strata, rng.choice([.5, 2, 20])), BLOCKS if rng.random() < .5 else 1)
    share = rng.choice([.05, .3, 1])
    ends = rng.dirichlet(np.full(len(values), share), (2, strata))
    trend = np.linspace(0, rng.choice([0, 1]), BLOCKS)[:, None, None]
    mean = rng.choice([150, 400, 1000]) * np.broadcast_to(per_block, (BLOCKS, strata))[..., None] \
        * ((1 - trend) * ends[0] + trend * ends[1])
    budget = int(np.exp(rng.uniform(np.log(20), np.log(200))))
    minimum = int(rng.choice([2, 5, 10]))
    return Stream(rng.poisson(mean), values, max(budget, minimum * strata), minimum, merged)


def moved(stream, rng):
    """Return a neighbor: another budget or floor, or other records in one block and stratum."""
    records, budget, minimum = stream.records.copy(), stream.budget, stream.minimum
    place, choice = tuple(rng.integers(records.shape[:2])), rng.random()
    place = (slice(None), place[1]) if rng.random() < .4 else place
    if choice < .25:
        budget = max(20, round(budget * np.exp(rng.normal(0, .3))))
    elif choice < .35:
        minimum = int(np.clip(minimum + rng.choice([-3, -1, 1, 3]), 2, 20))
    elif choice < .65:
        records[place] = np.minimum(np.rint(records[place] * np.exp(rng.normal(0, .6))), 4_000)
    else:
        a, b = rng.choice(records.shape[2], 2, replace=False)
        step = np.ceil(records[place][..., a] * rng.choice([.05, .2, .5, 1])).astype(int)
        records[(*place, a)] -= step
        records[(*place, b)] += step
    return Stream(records, stream.values, max(budget, minimum * records.shape[1]), minimum, stream.merged)


def climbed(start, moved, coverage, rng, minutes, rounds=ROUNDS):
    """Return the lowest design, its coverage with fresh draws, and the evaluations.

    Parameters
    ----------
    start : callable
        start(rng) -> design.
    moved : callable
        moved(design, rng) -> design.
    coverage : callable
        coverage(design, rng, runs) -> float.
    rng : numpy.random.Generator
    minutes : float
    rounds : (int, int, int, int)
        Runs while searching, then twice to narrow down the lowest, and for what is reported.
    """
    end, seen = time.monotonic() + 60 * minutes, []
    while time.monotonic() < end or not seen:
        design = start(rng)
        lowest, tries = coverage(design, rng, rounds[0]), 0
        seen.append((lowest, design))
        while tries < PATIENCE and time.monotonic() < end:
            other = moved(design, rng)
            covered, tries = coverage(other, rng, rounds[0]), tries + 1
            seen.append((covered, other))
            if covered < lowest:
                lowest, design, tries = covered, other, 0
    kept = [design for _, design in sorted(seen, key=lambda pair: pair[0])[:FINALISTS]]
    for runs, left in zip(rounds[1:3], (3, 1), strict=True):
        again = [coverage(design, rng, runs) for design in kept]
        kept = [kept[k] for k in np.argsort(again, kind="stable")[:left]]
    return kept[0], coverage(kept[0], rng, rounds[3]), len(seen)


def run(description, record, families, search, recheck, runs):
    """Search, recheck or record, as the command line says.

    Parameters
    ----------
    description : str
    record : pathlib.Path
    families : iterable of str
    search : callable
        search(family, rng, minutes) -> design, coverage, evaluations.
    recheck : callable
        recheck(family, design as a dict, rng) -> coverage.
    runs : int
        Behind each reported coverage.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--family", choices=families)
    parser.add_argument("--minutes", type=float, default=1, help="per family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--recheck", action="store_true")
    options = parser.parse_args()
    recorded = json.loads(record.read_text()) if record.exists() else {}
    for family in [options.family] if options.family else families:
        rng = np.random.default_rng([options.seed, list(families).index(family)])
        if options.recheck:
            covered, count = recheck(family, recorded[family]["design"], rng), 0
        else:
            best, covered, count = search(family, rng, options.minutes)
            recorded[family] = {"coverage": covered, "evaluations": count, "seed": options.seed,
                                "minutes": options.minutes, "design": best.to_dict()}
        error = (covered * (1 - covered) / runs) ** .5
        print(f"{family:24} {covered:.4f} +- {error:.4f}" + (f"  lowest of {count:,}" if count else ""), flush=True)
        if options.write:
            record.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    run(__doc__.splitlines()[0], RECORD, FAMILIES,
        lambda family, rng, minutes: climbed(lambda r: start(family, r), moved, coverage, rng, minutes),
        lambda family, design, rng: coverage(Stream.from_dict(design), rng, ROUNDS[-1]), ROUNDS[-1])
