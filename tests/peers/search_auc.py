"""Search for the scores where the interval of an AUC of items that were drawn one by one covers least.

    python tests/peers/search_auc.py --minutes 2              # print the lowest
    python tests/peers/search_auc.py --minutes 2 --write      # and record it
    python tests/peers/search_auc.py --recheck                # the recorded design, fresh draws

A design is the chance of each of 3 to 300 scores for positives and for negatives, and how many of both there are, 3 to
500: normal scores of any spread, of which some positives are lost below all others, and any chances at all.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats
from searching import Family, main

RECORD = Path(__file__).with_suffix(".json")
FEWEST, MOST = 3, 500
Z = stats.norm.ppf(0.975)


@dataclass(frozen=True)
class Design:
    """Chances of the scores (K,), rising, and numbers of items."""

    positive: np.ndarray
    negative: np.ndarray
    positives: int
    negatives: int

    @classmethod
    def load(cls, data):
        """Return the design that was saved."""
        return cls(
            np.array(data["positive"]),
            np.array(data["negative"]),
            data["positives"],
            data["negatives"],
        )


def auc_of(up, down):
    """Return AUC and DeLong's variance (R,) of counts (R, K) of positives and negatives by rising score."""
    m, n = up.sum(1), down.sum(1)
    below, above = (
        (down.cumsum(1) - down / 2) / n[:, None],
        1 - (up.cumsum(1) - up / 2) / m[:, None],
    )
    auc = (up * below).sum(1) / m
    spread = [
        (part * (share - auc[:, None]) ** 2).sum(1) / np.maximum(size - 1, 1) / size
        for part, share, size in ((up, below, m), (down, above, n))
    ]
    return auc, sum(spread)


def holds(up, down, truth):
    """Return whether the interval of each sample holds the true AUC, (R,)."""
    (auc, _), one = auc_of(up, down), np.ones((len(up), 1))
    middle, variance = auc_of(*(np.hstack([one, part, one]) for part in (up, down)))
    m, n = up.sum(1), down.sum(1)
    newcombe = np.abs(auc - truth) <= 1e-12 + Z * np.sqrt(
        truth
        * (1 - truth)
        * (1 + ((m + n) / 2 - 1) * ((1 - truth) / (2 - truth) + truth / (1 + truth)))
        / (m * n)
    )
    reach = stats.t.ppf(0.975, np.minimum(m, n)) * np.sqrt(variance)
    low, high = middle - reach, middle + reach
    return newcombe | (np.minimum(low, auc) <= truth) & (truth <= np.maximum(high, auc))


def drawn(design, rng, runs):
    """Return counts (R, K) of positives and of negatives."""
    return (
        rng.multinomial(design.positives, design.positive, runs),
        rng.multinomial(design.negatives, design.negative, runs),
    )


def true_auc(design):
    """Return the chance that a positive lies above a negative, ties counted half."""
    return float(design.positive @ (design.negative.cumsum() - design.negative / 2))


def coverage(design, rng, runs):
    """Return the share of samples whose interval holds the true AUC."""
    truth = true_auc(design)
    return float(np.mean(holds(*drawn(design, rng, runs), truth))) if 0 < truth < 1 else np.inf


def start(rng):
    """Return a random design."""
    scores = int(rng.choice([3, 5, 12, 60, 300]))
    if rng.random() < 0.35:
        positive, negative = (
            rng.dirichlet(np.full(scores, rng.choice([0.1, 0.5, 2]))) for _ in range(2)
        )
    else:
        place, lost = np.linspace(-7, 7, scores), rng.choice([0, 0.02, 0.1, 0.25, 0.5])
        positive = stats.norm.pdf(
            place, rng.choice([0, 0.5, 1, 2, 3, 4]), np.exp(rng.normal(0, 0.6))
        )
        positive = (1 - lost) * positive / positive.sum() + lost * (np.arange(scores) == 0)
        negative = stats.norm.pdf(place)
    return built(positive, negative, *np.exp(rng.uniform(np.log(3), np.log(300), 2)))


def built(positive, negative, positives, negatives):
    """Return the design within the domain."""
    return Design(
        positive / positive.sum(),
        negative / negative.sum(),
        *(int(np.clip(round(number), FEWEST, MOST)) for number in (positives, negatives)),
    )


def moved(design, rng):
    """Return a neighbor: other numbers, or other chances."""
    positive, negative = design.positive, design.negative
    if rng.random() < 0.4:
        return built(
            positive,
            negative,
            *np.array([design.positives, design.negatives]) * np.exp(rng.normal(0, 0.4, 2)),
        )
    positive = positive * np.exp(rng.normal(0, 0.4, positive.size))
    if rng.random() < 0.3:
        negative = negative * np.exp(rng.normal(0, 0.4, negative.size))
    return built(positive, negative, design.positives, design.negatives)


SEARCHED = {
    "items drawn one by one": Family(start, moved, coverage, Design.load, (600, 8_000, 40_000))
}

if __name__ == "__main__":
    main(SEARCHED, RECORD, __doc__.splitlines()[0])
