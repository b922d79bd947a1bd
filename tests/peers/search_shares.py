"""Search for the designs where the intervals of shares and changes from one audit cover least, and keep what was found.

    python tests/peers/search_shares.py --family change --minutes 3           # search one family, print the lowest
    python tests/peers/search_shares.py --minutes 20 --write                  # every family that long, and record it
    python tests/peers/search_shares.py --recheck                             # recorded designs, fresh draws

All samples count: an audit that gets no interval counts as not covered. Domain: audits of 50 items or more from frames
at least ten times as large, periods of at least as many items as the audit, shares from .02 to .98, p00 and p11 from .5
to .999 with a sum of 1.1 or more; of three to six classes the rarest has .02 to .1 of the frame, and each is read
rightly with probability .4 to .99, by audits of at most 2,000. A chain is a change from the first to the third month
after the audited frame, of two classes that are read rightly with probability .55 to .99 or of three. The draws of a
family follow from the seed and the number of evaluations.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from searching import Family, main

from workbench.misclassification import limits, methods
from workbench.misclassification.confusion import ConfusionCounts
from workbench.misclassification.periods import Periods
from workbench.simulations.misclassification import draw_classes, simulate_prevalence, whole_items

RECORD = Path(__file__).with_suffix(".json")
LEVEL = 0.95
RIGHT, RIGHT_OF_TWO = (0.4, 0.99), (0.55, 0.99)
CHAIN = 4  # months, their shares on a line from the audited frame to the last
LARGEST, EDGE = 10**8, 0.02


@dataclass(frozen=True)
class Design:
    """A setting of `simulate_prevalence`, and the method with its assumption on rates."""

    base_rate: float
    new_base_rate: float
    p00: float
    p11: float
    n: int
    size: int
    new_size: int
    method: str
    rates: str


@dataclass(frozen=True)
class Classes:
    """True shares of K classes (K,) at audit time and later, P(prediction | truth) (K, K), and sizes."""

    base: np.ndarray
    new: np.ndarray
    reading: np.ndarray
    n: int
    size: int
    new_size: int
    method: str
    quantity: str

    @classmethod
    def load(cls, data):
        """Return the design that was saved."""
        return cls(
            **{
                name: np.array(value) if isinstance(value, list) else value
                for name, value in data.items()
            }
        )


def coverage(quantity):
    """Return the function that gives the coverage of a design of two classes."""

    def covered(design, rng, runs):
        study = simulate_prevalence(
            design.base_rate,
            design.new_base_rate,
            design.p00,
            design.p11,
            design.n,
            design.size,
            new_size=design.new_size,
            rates=design.rates,
            runs=runs,
            rng=rng,
        )
        low, high = study.limits(design.method, LEVEL, quantity=quantity)
        truth = study.new_base_rate - (study.base_rate if quantity == "change" else 0)
        return float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))

    return covered


def some_share(rng):
    """Return a share, often near an edge."""
    near = EDGE + rng.exponential(0.03)
    return float(rng.choice([rng.uniform(EDGE, 1 - EDGE), near, 1 - near]))


def start(rng):
    """Return a random design of two classes."""
    right = rng.uniform(0.5, 0.999, 2)
    if rng.random() < 0.4:
        right[rng.integers(2)] = 1 - np.exp(rng.uniform(np.log(0.001), np.log(0.1)))
    n = np.exp(rng.uniform(np.log(50), np.log(3000)))
    return inside(
        Design(
            some_share(rng),
            some_share(rng),
            *right,
            n,
            10 * n * np.exp(rng.uniform(0, 6)),
            n * np.exp(rng.uniform(0, 8)),
            *words(rng),
        )
    )


def words(rng):
    """Return a method and a kind of rates."""
    return str(rng.choice(methods.inverting())), str(rng.choice(methods.RATES))


def inside(design):
    """Return the design moved into the domain."""
    base, new = (
        float(np.clip(x, EDGE, 1 - EDGE)) for x in (design.base_rate, design.new_base_rate)
    )
    p00, p11 = (float(np.clip(x, 0.5, 0.999)) for x in (design.p00, design.p11))
    n = int(np.clip(design.n, 50, LARGEST / 10))
    return replace(
        design,
        base_rate=base,
        new_base_rate=new,
        p00=p00,
        p11=max(p11, 1.1 - p00),
        n=n,
        size=int(np.clip(design.size, 10 * n, LARGEST)),
        new_size=int(np.clip(design.new_size, n, LARGEST)),
    )


def moved(design, rng):
    """Return a neighbor: one probability, one size, the method or the rates changed."""
    name = rng.choice(
        ["base_rate", "new_base_rate", "p00", "p11", "n", "size", "new_size", "words"]
    )
    if name == "words":
        method, rates = words(rng)
        return replace(design, method=method, rates=rates)
    value = getattr(design, name)
    if name in ("n", "size", "new_size"):
        value *= np.exp(rng.normal(0, 0.5))
    elif rng.random() < 0.5:
        value += rng.normal(0, 0.05)
    else:
        odds = value / (1 - value) * np.exp(rng.normal(0, 0.6))
        value = odds / (1 + odds)
    return inside(replace(design, **{name: value}))


def draw(design, rng, runs):
    """Return audits (R, K, K), counts of frames and periods (R, T, K), and the true shares of these periods (T, K)."""
    frame, kinds = whole_items(design.base, design.size), range(design.base.size)
    table, counted = draw_classes(frame, design.reading, design.n, runs, rng=rng)
    steps = np.linspace(0, 1, CHAIN)[1:] if design.quantity == "chain" else [1]
    periods = [
        whole_items(design.base + step * (design.new - design.base), design.new_size)
        for step in steps
    ]
    later = [
        sum(rng.multinomial(period[i], design.reading[i], runs) for i in kinds)
        for period in periods
    ]
    return (
        table,
        np.stack([counted, *later], 1),
        np.stack([frame / design.size, *(period / design.new_size for period in periods)]),
    )


def rarest_coverage(design, rng, runs):
    """Return the coverage of the class that is rarest in the frame."""
    table, counts, truth = draw(design, rng, runs)
    rarest = int(design.base.argmin())
    first = {"level": None, "change": 0, "chain": 1}[design.quantity]
    truth = truth[-1, rarest] - (0 if first is None else truth[first, rarest])
    sure = (
        np.zeros(runs, bool)
        if first
        else delta_covers(design, table, counts[:, 0], counts[:, 1], rarest, truth)
        & (table.min((1, 2)) < limits.RARE)
    )
    rest = [
        library_covers(design, table[r], counts[r], first, rarest, truth)
        for r in np.flatnonzero(~sure)
    ]
    return float((sure.sum() + sum(rest)) / runs)


def delta_covers(design, table, frame, later, rarest, truth):
    """Return whether the delta limits alone hold the truth, (R,): in doubtful audits the interval holds them."""
    half, counted = table + methods.HALF, frame / design.size
    slopes = methods.slopes_of(design.method, half, counted, later / design.new_size)
    reading = methods.reading_covariance(
        design.method, slopes, half, later / design.new_size, design.new_size
    )
    if design.quantity == "change":
        first = methods.slopes_of(design.method, half, counted, counted)
        slopes = slopes - first.within_frame(True)
    variance = (methods.audit_covariance(slopes, half, design.n, design.size) + reading)[
        :, rarest, rarest
    ]
    low, high = limits.delta(slopes.estimate[:, rarest], variance, LEVEL, -1.0)
    return (low <= truth) & (truth <= high)


def library_covers(design, table, counts, first, rarest, truth):
    """Return whether the interval that is reported holds the truth."""
    periods = Periods(ConfusionCounts(table), counts[0], counts, design.method, "process")
    low, high = (
        periods.level_limits(LEVEL)
        if first is None
        else periods.change_limits(np.array([first]), np.array([len(counts) - 1]), LEVEL)
    )
    return low[-1, rarest] <= truth + 1e-12 and truth - 1e-12 <= high[-1, rarest]


def start_classes(rng, classes, quantities):
    """Return a random design of so many classes."""
    base, new = (
        rng.dirichlet(np.full(classes, 2.0)),
        rng.dirichlet(np.full(classes, rng.choice([0.7, 3]))),
    )
    base[-1], n = (
        np.exp(rng.uniform(np.log(0.02), np.log(0.1))),
        np.exp(rng.uniform(np.log(50), np.log(2000))),
    )
    right = (
        rng.uniform(*right_of(classes), classes)
        if rng.random() < 0.5
        else np.full(classes, rng.uniform(*right_of(classes)))
    )
    reading = np.stack([row_of(rng, classes, k, right[k]) for k in range(classes)])
    return inside_classes(
        Classes(
            base,
            new,
            reading,
            n,
            10 * n * np.exp(rng.uniform(0, 5)),
            n * np.exp(rng.uniform(0, 6)),
            str(rng.choice(methods.inverting())),
            str(rng.choice(quantities)),
        )
    )


def row_of(rng, classes, k, right):
    """Return how items of class k are read: rightly with probability `right`, else at random or evenly."""
    wrong = rng.dirichlet(np.full(classes - 1, rng.choice([1, 1000])))
    return np.insert((1 - right) * wrong, k, right)


def inside_classes(design):
    """Return the design moved into the domain."""
    base, new = np.maximum(design.base, EDGE), np.maximum(design.new, EDGE)
    base[-1] = min(base[-1], 0.1)
    base[:-1] = np.maximum(base[:-1], base[-1])
    base[:-1] *= (1 - base[-1]) / base[:-1].sum()
    n = int(np.clip(design.n, 50, 2000))
    return replace(
        design,
        base=base,
        new=new / new.sum(),
        n=n,
        size=int(np.clip(design.size, 10 * n, LARGEST)),
        new_size=int(np.clip(design.new_size, n, LARGEST)),
    )


def moved_classes(design, rng):
    """Return a neighbor: shares, one class's row, a size, or the words changed."""
    choice, base, new, reading = (
        rng.integers(6),
        design.base.copy(),
        design.new.copy(),
        design.reading.copy(),
    )
    classes = base.size
    if choice == 0:
        base *= np.exp(rng.normal(0, 0.4, classes))
        return inside_classes(replace(design, base=base / base.sum()))
    if choice == 1:
        new *= np.exp(rng.normal(0, 0.6, classes))
        return inside_classes(replace(design, new=new / new.sum()))
    if choice == 2:
        k = int(rng.integers(classes))
        reading[k] = row_of(
            rng, classes, k, np.clip(reading[k, k] + rng.normal(0, 0.1), *right_of(classes))
        )
        return replace(design, reading=reading)
    if choice == 3:
        quantity = (
            design.quantity if design.quantity == "chain" else str(rng.choice(["level", "change"]))
        )
        return replace(design, method=str(rng.choice(methods.inverting())), quantity=quantity)
    name = str(rng.choice(["n", "size", "new_size"]))
    return inside_classes(
        replace(design, **{name: getattr(design, name) * np.exp(rng.normal(0, 0.5))})
    )


def of_classes(classes, quantities, runs, finalists):
    """Return the family of designs of so many classes, about its rarest."""
    return Family(
        lambda rng: start_classes(rng, classes, quantities),
        moved_classes,
        rarest_coverage,
        Classes.load,
        runs,
        finalists,
    )


def right_of(classes):
    """Return the range of the probabilities that a class is read rightly."""
    return RIGHT_OF_TWO if classes == 2 else RIGHT


LEVELS = "level", "change"
SEARCHED = {
    "share": Family(start, moved, coverage("level"), lambda data: Design(**data)),
    "change": Family(start, moved, coverage("change"), lambda data: Design(**data)),
    **{
        f"rarest of {name}": of_classes(classes, LEVELS, (200, 500, 2_000), 6)
        for name, classes in (("three", 3), ("four", 4), ("five", 5), ("six", 6))
    },
    "chain of two": of_classes(2, ["chain"], (500, 2_000, 10_000), 12),
    "chain of three": of_classes(3, ["chain"], (100, 300, 1_000), 6),
}


if __name__ == "__main__":
    main(SEARCHED, RECORD, __doc__.splitlines()[0])
