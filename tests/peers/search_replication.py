"""Search for the cluster samples where the default interval of replicate estimates covers least, and keep them.

    python tests/peers/search_replication.py --family recall --minutes 3      # search one family, print the lowest
    python tests/peers/search_replication.py --minutes 20 --write             # every family that long, and record it
    python tests/peers/search_replication.py --recheck                        # recorded designs, fresh draws
    python tests/peers/search_replication.py --families                       # records kinds of designs, easy and hard

A design is a population of strata (log-normal weights) whose PSUs differ in size, in their share of positives and in
their rates of errors (beta, with intraclass correlations; rising or falling with the size), and a sample of PSUs with
all their items; `RANGES` are its limits. Every family is searched apart for designs where at least 30 equally heavy
PSUs carry the information ("many": `effective_psus`, the median over samples) and where fewer do. Samples that get no
interval (0/0 in the sample or in over 5% of its replicates) are left out.
"""

import functools
import itertools
import json
import sys
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy
from searching import Family, main

from workbench.replication import estimates, replicates, statistics
from workbench.replication.bounded_intervals import Sample, clusters
from workbench.replication.designs import SurveyDesign

RECORD = Path(__file__).with_suffix(".json")
KINDS = Path(__file__).with_name("replication_families.json")
STATISTICS = ("accuracy", "precision", "recall", "f1", "mean", "auc")
FAMILIES = tuple(f"{name} {size}" for name in STATISTICS for size in ("many", "few"))
MANY, LEAST_ANSWERED = 30, 0.5
RUNS, AUC_RUNS = (400, 3_000, 10_000), (60, 200, 1_000)
KIND_RUNS = 2_000
FINALISTS, MOST_ITEMS, LEAST_PSUS, MOST_PSUS, LARGEST = 6, 3_000, 4, 200, 3_000
SCORE_SD = 0.6, 0.8
UNSURE = ("undefined", "unreliable")
# kinds of which samples too often hold no PSU that is unlike the others
UNKNOWABLE = (
    "Pareto sizes",
    "Pareto sizes without variance",
    "a tenth of the PSUs ten times as large",
    "two kinds of PSUs",
    "two kinds, one rare",
)
MIDPOINTS = scipy.special.ndtri((np.arange(20_000) + 0.5) / 20_000)
RANGES = {
    "strata": (1, 60),
    "psus": (2, 60),
    "items": (1, 20),
    "spread": (0, 1.5),
    "sizes": (0, 1.5),
    "slope": (-1, 1),
    "positive": (0.01, 0.6),
    "positive_icc": (0, 0.6),
    "hit": (0.5, 0.995),
    "alarm": (0.001, 0.3),
    "error_icc": (0, 0.2),
    "shift": (0.3, 3.0),
    "uneven": (0, 1.0),
}


@dataclass(frozen=True)
class Design:
    """Strata, PSUs per stratum, items per PSU of median size; sd of log weights and of log sizes, slope of the rates'
    logits along these; rates, their ICCs and their sd between strata. `law` of the sizes and `floor`, the least rate of
    positives of a PSU, are not searched."""

    strata: int
    psus: int
    items: int
    spread: float
    sizes: float
    slope: float
    positive: float
    positive_icc: float
    hit: float
    alarm: float
    error_icc: float
    shift: float
    uneven: float
    seed: int = 0
    law: str = "lognormal"
    floor: float = 0.0

    def population(self):
        """Return shares, positive rate, hit rate and false-alarm rate of the strata, (H,) each."""
        rng = np.random.default_rng(self.seed)
        weight = np.exp(self.spread * rng.normal(size=self.strata))
        return weight / weight.sum(), *(
            scipy.special.expit(
                scipy.special.logit(rate) + self.uneven * rng.normal(size=self.strata)
            )
            for rate in (self.positive, self.hit, self.alarm)
        )

    def survey(self):
        """Return the sample's design, one item per PSU."""
        share = self.population()[0]
        return SurveyDesign(
            np.repeat(np.arange(self.strata), self.psus),
            weight=np.repeat(share / self.psus, self.psus),
        )

    def sizes_at(self, score):
        """Return the sizes of PSUs with these normal scores."""
        above = scipy.special.ndtr(-score)
        sizes = {
            "lognormal": self.items * np.exp(self.sizes * score),
            "pareto": self.items * above**-self.sizes,
            "uniform": 2 * self.items * (1 - above),
            "two": self.items * np.where(above < 0.1, 10, 1),
        }[self.law]
        return np.clip(np.rint(sizes), 1, LARGEST).astype(int)

    def rates_at(self, score, statistic):
        """Return rates of positives, hits and false alarms of PSUs, (P, R), with these scores, ordered by strata.

        Where hits become more, false alarms become fewer, but for a difference, which both raise; an AUC's positives
        do not depend on the size.
        """
        signs = (0 if statistic == "auc" else 1, 1, 1 if statistic == "mean" else -1)
        rates = np.stack(self.population()[1:])[:, :, None].repeat(len(score) // self.strata, 1)
        tilt = self.slope * np.clip(score, -4, 4) * np.reshape(signs, (3, 1, 1))
        return scipy.special.expit(scipy.special.logit(rates) + tilt)


def columns(statistic, items, positive, hit, alarm):
    """Return the values of a statistic's items and how many have each."""
    wrong, missed = positive - hit + alarm, positive - hit
    return {
        "accuracy": ((0, 1), (wrong, items - wrong)),
        "precision": ((0, 1), (alarm, hit)),
        "recall": ((0, 1), (missed, hit)),
        "f1": ((0, 1), (wrong, hit)),
        "share": ((0, 1), (items - positive, positive)),
        "mean": ((-1, 0, 1), (missed, items - wrong, alarm)),
    }[statistic]


def of_mean(statistic):
    """Return what makes a statistic of the mean of its values."""
    return statistics.METRICS["f1" if statistic == "f1" else "mean"].of_mean


@functools.lru_cache(maxsize=2_000)
def truth_of(design, statistic):
    """Return the population's value."""
    score = np.tile(MIDPOINTS, (design.strata, 1))
    items, (positive, hit, alarm) = design.sizes_at(score), design.rates_at(score, statistic)
    weight = design.population()[0][:, None] * items
    if statistic == "auc":
        above = scipy.special.ndtr(
            (design.shift + design.slope * score) / np.sqrt(2 + sum(sd**2 for sd in SCORE_SD))
        )
        return (weight * positive * above).sum() / (weight * positive).sum()
    positive = design.floor + (1 - 2 * design.floor) * positive
    values, counts = columns(statistic, 1, positive, positive * hit, (1 - positive) * alarm)
    sums = np.array([(weight * count).sum() for count in counts])
    return of_mean(statistic)(sums @ values / sums.sum())


def varied(rng, rate, icc):
    """Return rates (P, R) of PSUs around these."""
    scale = 1 / icc - 1 if icc else 0
    return rng.beta(*(np.maximum(part * scale, 1e-6) for part in (rate, 1 - rate))) if icc else rate


def draw(design, statistic, rng, runs):
    """Return normal scores, items, positives, hits and false alarms per PSU, (P, R) each."""
    score = rng.normal(size=(design.strata * design.psus, runs))
    items, rates = design.sizes_at(score), design.rates_at(score, statistic)
    rate = design.floor + (1 - 2 * design.floor) * varied(rng, rates[0], design.positive_icc)
    positive = rng.binomial(items, rate)
    hit = rng.binomial(positive, varied(rng, rates[1], design.error_icc))
    return (
        score,
        items,
        positive,
        hit,
        rng.binomial(items - positive, varied(rng, rates[2], design.error_icc)),
    )


def method_of(design):
    """Return the replicates that the report takes by itself."""
    return "fay" if design.psus in (2, 3, 4, 5, 7, 8, 9) else "generalized"


def outcomes(design, statistic, rng, runs):
    """Return arrays (R,), in which a row of limits is a lower and an upper one.

    They are the default limits, whether there are any, whether a warning goes with them, effective PSUs, the estimate
    and half the width of its t interval, and the bounded limits.
    """
    return (_auc if statistic == "auc" else _ratio)(design, statistic, rng, runs)


def _ratio(design, statistic, rng, runs):
    survey, of = design.survey(), of_mean(statistic)
    drawn = replicates.replicates(survey, method_of(design))
    values, counts = columns(statistic, *draw(design, statistic, rng, runs)[1:])
    counts, weight = np.array(counts), survey.weight[:, None]
    some = counts.sum((0, 1)) > 0
    sample = Sample.of_counts(values, np.where(some, counts, 1), weight)
    estimate, found = map(of, sample.replicated(drawn))
    variance, undefined = drawn.variances(found, estimate), np.isnan(found).mean(0)
    mean, left_out = sample.replicated(drawn.jackknife)
    bounds = (float(values[0]), 1.0)
    told = clusters(survey, sample, drawn.jackknife.variances(left_out, mean), bounds)
    low, high = map(of, told.limits(0.025, bounds))
    bounded_low, bounded_high = map(of, told.limits(0.025, bounds, bounded=True))
    seldom = (variance > 0) & (told.carriers.min(0) < estimates.FEW_CARRIERS)
    half = scipy.special.stdtrit(survey.df, 0.975) * np.sqrt(
        drawn.jackknife.variances(of(left_out), of(mean))
    )
    return (
        low,
        high,
        some & (undefined <= estimates.MOST_UNDEFINED),
        (told.df < estimates.LEAST_DF) | (variance == 0) | (undefined > 0) | seldom,
        told.psus,
        of(mean),
        half,
        bounded_low,
        bounded_high,
    )


def _auc(design, statistic, rng, runs):
    found = [
        _auc_once(design, rng, *columns)
        for columns in zip(
            *np.transpose(draw(design, statistic, rng, runs)[:3], (0, 2, 1)), strict=True
        )
    ]
    return tuple(np.array(column) for column in zip(*found, strict=True))


def _auc_once(design, rng, level, items, positive):
    survey, items = design.survey(), items.astype(int)
    psu = np.repeat(np.arange(items.size), items)
    survey = SurveyDesign(survey.stratum[psu], psu=psu, weight=survey.weight[psu])
    truth = np.arange(psu.size) - (np.cumsum(items) - items)[psu] < positive[psu]
    shared = rng.normal(size=(2, items.size)) * np.array(SCORE_SD)[:, None]
    shift = np.where(truth, design.shift + (shared[1] + design.slope * level)[psu], shared[0][psu])
    score = rng.normal(size=psu.size) + shift
    try:
        found = estimates.replicate_estimate(
            replicates.replicates(survey, method_of(design)), "auc", truth, score
        )
    except ValueError as error:
        if type(error) in (statistics.UndefinedError, statistics.UnstableError):
            return 0.0, 1.0, False, True, 0, 0.5, 0.5, 0.0, 1.0
        raise
    half = scipy.special.stdtrit(survey.df, 0.975) * found.standard_error
    return (
        *found.interval(),
        True,
        any(note.kind in UNSURE for note in found.notes),
        found.effective_psus,
        found.estimate,
        half,
        *found.interval(method="bounded"),
    )


@dataclass(frozen=True)
class Figures:
    """What a design did; t has the degrees of freedom of the design."""

    coverage: float
    without_note: float
    noted: float
    answered: float
    effective_psus: float
    t_coverage: float
    width_over_t: float
    bounded_coverage: float
    bounded_over_t: float
    runs: int


def figures(design, statistic, rng, runs):
    """Return the `Figures` of a design."""
    low, high, answered, noted, psus, estimate, half, bounded_low, bounded_high = outcomes(
        design, statistic, rng, runs
    )
    truth = truth_of(design, statistic)
    covers, by_t, by_bounded = (
        (a <= truth + 1e-9) & (truth - 1e-9 <= b)
        for a, b in ((low, high), (estimate - half, estimate + half), (bounded_low, bounded_high))
    )
    if not answered.any():
        return Figures(1.0, float("nan"), 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0)
    t_width = 2 * max(half[answered].mean(), 1e-9)
    plain = answered & ~noted
    return Figures(
        float(covers[answered].mean()),
        float(covers[plain].mean()) if plain.sum() > 20 else float("nan"),
        float(noted[answered].mean()),
        float(answered.mean()),
        float(np.median(psus[answered])),
        float(by_t[answered].mean()),
        float((high - low)[answered].mean() / t_width),
        float(by_bounded[answered].mean()),
        float((bounded_high - bounded_low)[answered].mean() / t_width),
        int(answered.sum()),
    )


def eligible(found, size):
    """Return whether a design belongs to the half of a family."""
    return found.answered >= LEAST_ANSWERED and (found.effective_psus >= MANY) == (size == "many")


def start(rng):
    """Return a random design."""
    values = {name: rng.uniform(*ends) for name, ends in RANGES.items()}
    for name in ("strata", "psus", "positive", "alarm"):
        values[name] = np.exp(rng.uniform(*np.log(RANGES[name])))
    for name in ("spread", "sizes", "slope", "positive_icc", "error_icc", "uneven"):
        values[name] *= rng.random() < 0.6
    return bounded(values | {"seed": int(rng.integers(1_000))})


def moved(design, rng):
    """Return a neighbor: one or two figures changed."""
    values = asdict(design)
    for name in rng.choice(list(RANGES), rng.integers(1, 3), replace=False):
        low, high = RANGES[name]
        values[name] = values[name] * np.exp(rng.normal(0, 0.5)) + (high - low) * rng.normal(
            0, 0.03
        )
    return bounded(values)


def bounded(values):
    """Return the nearest design within the ranges, of 4 to 200 PSUs."""
    whole = ("strata", "psus", "items")
    clipped = {name: float(np.clip(values[name], *ends)) for name, ends in RANGES.items()}
    clipped |= {name: round(clipped[name]) for name in whole}
    least = -(-LEAST_PSUS // clipped["strata"])
    clipped["psus"] = max(least, 2, min(clipped["psus"], MOST_PSUS // clipped["strata"]))
    most = MOST_ITEMS // (clipped["strata"] * clipped["psus"])
    return Design(
        **clipped | {"items": max(1, min(clipped["items"], most)), "seed": values["seed"]}
    )


USUAL = {
    "strata": 1,
    "psus": 30,
    "items": 10,
    "spread": 0.0,
    "sizes": 0.0,
    "slope": 0.0,
    "positive": 0.8,
    "positive_icc": 0.1,
    "hit": 0.8,
    "alarm": 0.05,
    "error_icc": 0.1,
    "shift": 1.2,
    "uneven": 0.0,
}


def designs(statistic, **varied):
    """Return a statistic and designs, every combination of the values."""
    return statistic, [
        Design(**USUAL | dict(zip(varied, each, strict=True)))
        for each in itertools.product(*varied.values())
    ]


def kinds():
    """Return the kinds of designs, from the easy to those that no interval can know."""
    some, classes = (
        [15, 40, 80],
        {
            "strata": [1, 20],
            "psus": [4, 30],
            "sizes": [0, 0.7],
            "positive": [0.05, 0.3],
            "positive_icc": [0.1, 0.3],
        },
    )
    return {
        "easy shares": designs(
            "share",
            strata=[1, 5],
            psus=[30, 80],
            positive=[0.5, 0.7, 0.85],
            positive_icc=[0.02, 0.1],
        ),
        "easy differences": designs(
            "mean",
            psus=[30, 80],
            positive=[0.5],
            hit=[0.9, 0.8, 0.7],
            alarm=[0.1, 0.2, 0.3],
            error_icc=[0.02, 0.1],
        ),
        "5 to 10 PSUs, sizes and quality": designs(
            "share",
            psus=[5, 7, 10],
            sizes=[0.5, 1, 1.5],
            slope=[-2, -1, 0, 1, 2],
            positive=[0.5, 0.8, 0.95],
            positive_icc=[0.02],
        ),
        **{
            f"{few[0]} to {few[-1]} PSUs": designs(
                "share",
                psus=few,
                items=[5, 30],
                positive=[0.5, 0.8, 0.95],
                positive_icc=[0.05, 0.2],
            )
            for few in ([4, 5, 7, 9], [2, 3])
        },
        "25 or 50 strata of 2": designs(
            "share",
            strata=[25, 50],
            psus=[2],
            sizes=[0.5, 1, 1.5],
            slope=[0, 1],
            positive=[0.6, 0.9],
            positive_icc=[0.1, 0.3],
        ),
        "heavy strata": designs(
            "share",
            strata=[10, 50],
            psus=[2, 5],
            spread=[0.7, 1.5],
            sizes=[0, 0.7],
            positive=[0.7, 0.95],
            positive_icc=[0.1, 0.4],
        ),
        "strata unlike each other": designs(
            "share",
            strata=[10, 25, 50],
            psus=[2, 4],
            items=[1, 5],
            positive=[0.5, 0.9],
            positive_icc=[0],
            uneven=[1.5, 4, 10],
        ),
        "strata unlike each other, sizes and quality": designs(
            "share",
            strata=[5, 12],
            psus=[4, 12],
            items=[1, 8],
            sizes=[0.7, 1.2],
            slope=[-1, 1],
            positive=[0.5, 0.9],
            uneven=[2, 4],
        ),
        "sizes": designs(
            "share", psus=some, sizes=[0.5, 1, 1.5], positive=[0.6, 0.9], positive_icc=[0.05, 0.3]
        ),
        "sizes and quality": designs(
            "share", psus=some, sizes=[0.5, 1, 1.5], slope=[-1, 1, 2], positive=[0.7, 0.9]
        ),
        "rare": designs(
            "share",
            psus=[20, 40, 80],
            items=[5, 20],
            positive=[0.01, 0.03, 0.1],
            positive_icc=[0.2, 0.6],
        ),
        "rare differences": designs(
            "mean",
            psus=[20, 40, 80],
            items=[5, 20],
            positive=[0.5],
            hit=[0.99, 0.95],
            alarm=[0.01, 0.05],
            error_icc=[0.1, 0.4],
        ),
        "differences, sizes and quality": designs(
            "mean", psus=some, sizes=[0.5, 1, 1.5], slope=[0.5, 1], positive=[0.5], alarm=[0.1, 0.2]
        ),
        "precision": designs("precision", **classes),
        "recall": designs("recall", **classes),
        "F1": designs("f1", **classes),
        "uniform sizes": designs(
            "share", law=["uniform"], psus=[15, 40], slope=[-1, 0, 1], positive=[0.8, 0.95]
        ),
        "Pareto sizes": designs(
            "share", law=["pareto"], sizes=[0.33, 0.5], psus=some, slope=[-1, 0, 1]
        ),
        "Pareto sizes without variance": designs(
            "share", law=["pareto"], sizes=[0.8], psus=some, slope=[-1, 0, 1]
        ),
        "a tenth of the PSUs ten times as large": designs(
            "share", law=["two"], psus=[20, 40, 80], slope=[-1, 0, 1], positive=[0.8, 0.95]
        ),
        "two kinds of PSUs": designs(
            "share", psus=[10, 20, 40, 80], positive=[0.5, 0.8], positive_icc=[0.9], floor=[0, 0.03]
        ),
        "two kinds, one rare": designs(
            "share", psus=[20, 40, 80], positive=[0.95], positive_icc=[0.9], floor=[0.03]
        ),
        "AUC easy": designs(
            "auc", psus=[30, 60], positive=[0.5, 0.3], positive_icc=[0.05], items=[10, 20]
        ),
        "AUC": designs(
            "auc",
            psus=[8, 25],
            sizes=[0, 1],
            slope=[-0.7, 0.5],
            positive=[0.1, 0.3],
            positive_icc=[0.3],
        ),
        "AUC in strata": designs(
            "auc",
            strata=[25],
            psus=[2],
            items=[6],
            spread=[0, 1.2],
            sizes=[0, 0.5],
            positive=[0.05, 0.3],
            positive_icc=[0.3],
        ),
    }


def tabulated(name, statistic, cells):
    """Return what is recorded of a kind of designs, its draws from the seed 1 and its name."""
    begun, runs = time.process_time(), AUC_RUNS[2] if statistic == "auc" else KIND_RUNS
    rng = np.random.default_rng([1, zlib.crc32(name.encode())])
    rows = [asdict(figures(cell, statistic, rng, runs)) for cell in cells]
    of = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    found = {
        "statistic": statistic,
        "cells": len(cells),
        "runs": runs,
        "seed": 1,
        "coverage": of["coverage"].min(),
        "median": float(np.median(of["coverage"])),
        "t_coverage": of["t_coverage"].min(),
        "width_over_t": of["width_over_t"].mean(),
        "widest_over_t": of["width_over_t"].max(),
        "bounded_coverage": of["bounded_coverage"].min(),
        "bounded_over_t": of["bounded_over_t"].mean(),
        "noted": of["noted"].mean(),
        "minutes": round((time.process_time() - begun) / 60, 2),
        "worst": asdict(cells[int(of["coverage"].argmin())]),
    }
    print(
        f"{name:44}",
        *(f"{key} {value:.3f}" for key, value in found.items() if isinstance(value, float)),
        flush=True,
    )
    return found


def tabulate():
    """Record every kind of designs."""
    KINDS.write_text(
        json.dumps({name: tabulated(name, *kind) for name, kind in kinds().items()}, indent=1)
        + "\n"
    )


def family_of(name):
    """Return the `Family` of a name."""
    statistic, size = name.split()

    def coverage(design, rng, runs):
        found = figures(design, statistic, rng, runs)
        return found.coverage if eligible(found, size) else float("inf")

    return Family(
        start,
        moved,
        coverage,
        lambda data: Design(**data),
        AUC_RUNS if statistic == "auc" else RUNS,
        FINALISTS,
        lambda design, rng, runs: asdict(figures(design, statistic, rng, runs)),
    )


SEARCHED = {name: family_of(name) for name in FAMILIES}

if __name__ == "__main__":
    if "--families" in sys.argv:
        tabulate()
    else:
        main(SEARCHED, RECORD, __doc__.splitlines()[0])
