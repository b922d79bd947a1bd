"""Search for the streams whose interval covers least, and keep what was found.

    python tests/peers/search_streams.py --family "0/1, merged" --minutes 3     # search one family, print the lowest
    python tests/peers/search_streams.py --minutes 20 --write                   # every family that long, and record it
    python tests/peers/search_streams.py --recheck                              # recorded streams, fresh keys

A design is a stream in `BLOCKS` blocks of time: records per block, stratum and value, so that strata come and go and
shares trend; kept to a budget with a floor, as one stream or, merged, with a sampler per block. The records are fixed,
the random keys are drawn.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from searching import Family, main

from workbench.allocation.streams.sampler import StreamSampler

RECORD = Path(__file__).with_suffix(".json")
BLOCKS, STRATA, MANY_STRATA = 4, (1, 6), (20, 60)
VALUES = {"0/1": (0, 1), "bounded": (0, 0.02, 0.1, 0.5, 1), "tenfold": (0, 1, 10)}
FAMILIES = {
    f"{name}{how}": (values, merged, STRATA)
    for name, values in VALUES.items()
    for how, merged in ((", one stream", False), (", merged", True))
}
FAMILIES |= {
    f"{name}, many strata": (values, False, MANY_STRATA) for name, values in VALUES.items()
}
RUNS, FINALISTS = (200, 2_000, 10_000), 16
RUNS_OF_MANY, FINALISTS_OF_MANY = (100, 500, 2_000), 4
ROUND = 1e-9


@dataclass(frozen=True)
class Stream:
    """Records per block, stratum and value (BLOCKS, H, V), values (V,), what is kept, and whether parts are merged."""

    records: np.ndarray
    values: tuple
    budget: int
    minimum: int
    merged: bool

    @classmethod
    def from_dict(cls, data):
        """Return a recorded stream."""
        return cls(**data | {"records": np.array(data["records"]), "values": tuple(data["values"])})

    def blocks(self):
        """Return strata and values of each block, in an order that is the same every time."""
        order = np.random.default_rng(0)
        for block in self.records:
            stratum, value = (
                np.repeat(place.ravel(), block.ravel()) for place in np.indices(block.shape)
            )
            shuffled = order.permutation(stratum.size)
            yield stratum[shuffled], np.array(self.values, float)[value[shuffled]]


def coverage(stream, rng, runs, level=0.95):
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
    samplers = [
        StreamSampler(stream.budget, minimum=stream.minimum, rng=rng)
        for _ in range(len(blocks) if stream.merged else 1)
    ]
    for place, block in enumerate(blocks):
        samplers[place if stream.merged else 0].update(*block)
    first, *others = samplers
    for other in others:
        first.merge(other)
    return first


def start(family, rng):
    """Return a random stream of a family."""
    values, merged, (fewest, most) = FAMILIES[family]
    strata = int(rng.integers(fewest, most + 1))
    per_block = rng.dirichlet(
        np.full(strata, rng.choice([0.5, 2, 20])), BLOCKS if rng.random() < 0.5 else 1
    )
    share = rng.choice([0.05, 0.3, 1])
    ends = rng.dirichlet(np.full(len(values), share), (2, strata))
    trend = np.linspace(0, rng.choice([0, 1]), BLOCKS)[:, None, None]
    mean = (
        rng.choice([150, 400, 1000])
        * np.broadcast_to(per_block, (BLOCKS, strata))[..., None]
        * ((1 - trend) * ends[0] + trend * ends[1])
    )
    budget = int(np.exp(rng.uniform(np.log(20), np.log(200))))
    minimum = int(rng.choice([2, 5, 10]))
    return Stream(rng.poisson(mean), values, max(budget, minimum * strata), minimum, merged)


def moved(stream, rng):
    """Return a neighbor: another budget or floor, or other records in one block and stratum."""
    records, budget, minimum = stream.records.copy(), stream.budget, stream.minimum
    place, choice = tuple(rng.integers(records.shape[:2])), rng.random()
    place = (slice(None), place[1]) if rng.random() < 0.4 else place
    if choice < 0.25:
        budget = max(20, round(budget * np.exp(rng.normal(0, 0.3))))
    elif choice < 0.35:
        minimum = int(np.clip(minimum + rng.choice([-3, -1, 1, 3]), 2, 20))
    elif choice < 0.65:
        records[place] = np.minimum(np.rint(records[place] * np.exp(rng.normal(0, 0.6))), 4_000)
    else:
        a, b = rng.choice(records.shape[2], 2, replace=False)
        step = np.ceil(records[place][..., a] * rng.choice([0.05, 0.2, 0.5, 1])).astype(int)
        records[(*place, a)] -= step
        records[(*place, b)] += step
    return Stream(
        records, stream.values, max(budget, minimum * records.shape[1]), minimum, stream.merged
    )


SEARCHED = {
    name: Family(
        lambda rng, name=name: start(name, rng),
        moved,
        coverage,
        Stream.from_dict,
        *((RUNS_OF_MANY, FINALISTS_OF_MANY) if strata is MANY_STRATA else (RUNS, FINALISTS)),
    )
    for name, (_, _, strata) in FAMILIES.items()
}

if __name__ == "__main__":
    main(SEARCHED, RECORD, __doc__.splitlines()[0])
