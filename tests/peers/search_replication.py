"""Search for the cluster samples where the default interval of replicate estimates covers least, and keep them.

    python tests/peers/search_replication.py --family recall --minutes 3      # search one family, print the lowest
    python tests/peers/search_replication.py --minutes 20 --write             # every family that long, and record it
    python tests/peers/search_replication.py --recheck                        # recorded designs, fresh draws
    python tests/peers/search_replication.py --families                       # records usual designs, not the worst

A design is a population of strata (log-normal weights) whose PSUs differ in their share of positives and in their rates
of errors (beta, with intraclass correlations), and a sample of PSUs with all their items; `RANGES` are its limits.
Every family is searched apart for designs where at least 30 equally heavy PSUs carry the information ("many":
`effective_psus`, the median over samples) and where fewer do. Samples that get no interval (0/0 in the sample or in
over 5% of its replicates) are left out.
"""
import itertools
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy
from searching import Family, main

from workbench.replication import estimates, replicates, statistics
from workbench.replication.bounded_intervals import Clusters, Spread, bounded_limits, f1_limits
from workbench.replication.designs import SurveyDesign

RECORD = Path(__file__).with_suffix(".json")
USUAL = Path(__file__).with_name("replication_families.json")
STATISTICS = ("accuracy", "precision", "recall", "f1", "mean", "auc")
FAMILIES = tuple(f"{name} {size}" for name in STATISTICS for size in ("many", "few"))
MANY, LEAST_ANSWERED = 30, 0.5
RUNS, AUC_RUNS = (400, 4_000, 20_000), (60, 200, 1_000)
FINALISTS, MOST_ITEMS = 12, 3_000
SCORE_SD = .6, .8
RANGES = {"strata": (2, 100), "psus": (2, 8), "items": (1, 20), "spread": (0, 1.5), "positive": (.01, .6),
          "positive_icc": (0, .6), "hit": (.5, .995), "alarm": (.001, .3), "error_icc": (0, .2), "shift": (.3, 3.0),
          "uneven": (0, 1.0)}


@dataclass(frozen=True)
class Design:
    """Strata, PSUs per stratum, items per PSU; sd of log weights; rates, their ICCs and their sd between strata."""

    strata: int
    psus: int
    items: int
    spread: float
    positive: float
    positive_icc: float
    hit: float
    alarm: float
    error_icc: float
    shift: float
    uneven: float
    seed: int

    def population(self):
        """Return shares, positive rate, hit rate and false-alarm rate of the strata, (H,) each."""
        rng = np.random.default_rng(self.seed)
        weight = np.exp(self.spread * rng.normal(size=self.strata))
        return weight / weight.sum(), *(scipy.special.expit(scipy.special.logit(rate) + self.uneven
                                                            * rng.normal(size=self.strata))
                                        for rate in (self.positive, self.hit, self.alarm))

    def survey(self):
        """Return the sample's design, one item per PSU."""
        share = self.population()[0]
        return SurveyDesign(np.repeat(np.arange(self.strata), self.psus),
                            weight=np.repeat(share / self.psus, self.psus))


def truth_of(design, statistic):
    """Return the population's value."""
    share, positive, hit, alarm = design.population()
    hits, misses, alarms = share @ (positive * hit), share @ (positive * (1 - hit)), share @ ((1 - positive) * alarm)
    return {"accuracy": 1 - misses - alarms, "precision": hits / (hits + alarms), "recall": hits / (hits + misses),
            "f1": 2 * hits / (2 * hits + misses + alarms), "mean": alarms - misses,
            "auc": scipy.special.ndtr(design.shift / np.sqrt(2 + sum(sd ** 2 for sd in SCORE_SD)))}[statistic]


def varied(rng, rate, icc, runs):
    """Return rates (P, R) of PSUs around those of their strata."""
    if not icc:
        return np.broadcast_to(rate[:, None], (rate.size, runs))
    scale = 1 / icc - 1
    return rng.beta(np.maximum(rate * scale, 1e-6)[:, None], np.maximum((1 - rate) * scale, 1e-6)[:, None],
                    (rate.size, runs))


def draw(design, rng, runs):
    """Return positives, hits and false alarms per PSU, (P, R) each."""
    of_psu = [np.repeat(rate, design.psus) for rate in design.population()[1:]]
    positive = rng.binomial(design.items, varied(rng, of_psu[0], design.positive_icc, runs))
    hit = rng.binomial(positive, varied(rng, of_psu[1], design.error_icc, runs))
    return positive, hit, rng.binomial(design.items - positive, varied(rng, of_psu[2], design.error_icc, runs))


def method_of(design):
    """Return the replicates that the report takes by itself."""
    return "fay" if design.psus in (2, 3, 4, 5, 7, 8, 9) else "generalized"


def outcomes(design, statistic, rng, runs):
    """Return limits (R,), whether there are any, whether a note goes with them, and the effective PSUs."""
    return (_auc if statistic == "auc" else _ratio)(design, statistic, rng, runs)


def _ratio(design, statistic, rng, runs):
    survey = design.survey()
    drawn = replicates.replicates(survey, method_of(design))
    positive, hit, alarm = draw(design, rng, runs)
    every = np.broadcast_to(float(design.items), positive.shape)
    numerator, denominator, counted = {
        "accuracy": (every - positive + hit - alarm, every, every), "mean": (alarm - (positive - hit), every, every),
        "precision": (hit, hit + alarm, hit + alarm), "recall": (hit, positive, positive),
        "f1": (2 * hit, hit + alarm + positive, alarm + positive)}[statistic]
    weight = survey.weight[:, None] / design.items
    z = np.concatenate([weight * numerator, weight * denominator], 1)
    full = z.sum(0)
    found = estimates.without_noise(drawn.totals_of_psus(z), full)
    estimate, values = (statistics.ratio(part[..., :runs], part[..., runs:]) for part in (full, found))
    variance = estimates.variances(drawn.coefficients, values, estimate)
    undefined = np.isnan(values).mean(0)
    answered = np.isfinite(estimate) & (undefined <= estimates.MOST_UNDEFINED)
    base = weight * np.where(answered, counted, 1.0)
    carrying = [base, weight * positive] if statistic == "f1" else [base]
    estimate, variance = np.where(answered, estimate, .5), np.where(answered, variance, .1)
    error = weight * statistics.ratio(numerator - estimate * denominator, full[runs:])
    told = estimates.information(survey, survey.weight[:, None], carrying, error,
                                 [positive - hit, alarm] if statistic == "mean" else None)
    items = base.sum(0) ** 2 / (base * weight).sum(0)
    if statistic == "mean":
        square = (weight * (alarm + positive - hit)).sum(0) - estimate ** 2
        third = estimate - 3 * estimate * (square + estimate ** 2) + 2 * estimate ** 3
        spread, bounds = Spread(items[None], square[None], third[None]), {"bounds": (-1.0, 1.0)}
    else:
        spread = Spread.of_share(estimate / (2 - estimate) if statistic == "f1" else estimate, items)
        bounds = {}
    clusters = Clusters(told["cautious_psus"], told["effective_df"], told["carriers"], told["pooled_variance"])
    low, high = (f1_limits if statistic == "f1" else bounded_limits)(
        estimate, variance, spread, clusters, .025, **bounds)
    few = (told["effective_df"] < estimates.LEAST_DF) | (told["df"] < estimates.LEAST_DF) & \
        (told["informative_psus"] < estimates.FEW_PSUS)
    return low, high, answered, few | (variance == 0) | (undefined > 0), told["effective_psus"]


def _auc(design, statistic, rng, runs):
    survey = design.survey()
    items = SurveyDesign(np.repeat(survey.stratum, design.items), psu=np.repeat(np.arange(survey.stratum.size),
                                                                                design.items),
                         weight=np.repeat(survey.weight, design.items))
    drawn = replicates.replicates(items, method_of(design))
    positive = draw(design, rng, runs)[0]
    found = [_auc_once(design, drawn, rng, count) for count in positive.T]
    return tuple(np.array(column) for column in zip(*found, strict=True))


def _auc_once(design, drawn, rng, positive):
    psu = drawn.design.psu_of_item
    truth = np.tile(np.arange(design.items), positive.size) < positive[psu]
    shared = rng.normal(size=(2, positive.size)) * np.array(SCORE_SD)[:, None]
    score = rng.normal(size=truth.size) + design.shift * truth + np.where(truth, shared[1][psu], shared[0][psu])
    try:
        estimate = estimates.replicate_estimate(drawn, "auc", truth, score)
    except ValueError as error:
        if type(error) in (statistics.UndefinedError, statistics.UnstableError):
            return 0.0, 1.0, False, True, 0
        raise
    low, high = estimate.interval()
    return low, high, True, bool(estimate.notes), estimate.effective_psus


@dataclass(frozen=True)
class Figures:
    """What a design did."""

    coverage: float
    without_note: float
    noted: float
    answered: float
    effective_psus: float
    runs: int


def figures(design, statistic, rng, runs):
    """Return the `Figures` of a design."""
    low, high, answered, noted, psus = outcomes(design, statistic, rng, runs)
    truth = truth_of(design, statistic)
    covers = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    plain = answered & ~noted
    return Figures(float(covers[answered].mean()) if answered.any() else 1.0,
                   float(covers[plain].mean()) if plain.sum() > 20 else float("nan"),
                   float(noted[answered].mean()) if answered.any() else 1.0, float(answered.mean()),
                   float(np.median(psus[answered])) if answered.any() else 0.0, int(answered.sum()))


def eligible(found, size):
    """Return whether a design belongs to the half of a family."""
    return found.answered >= LEAST_ANSWERED and (found.effective_psus >= MANY) == (size == "many")


def start(rng):
    """Return a random design."""
    values = {name: rng.uniform(*ends) for name, ends in RANGES.items()}
    for name in ("positive", "alarm"):
        values[name] = np.exp(rng.uniform(*np.log(RANGES[name])))
    for name in ("spread", "positive_icc", "error_icc", "uneven"):
        values[name] *= rng.random() < .7
    return bounded(values | {"seed": int(rng.integers(1_000))})


def moved(design, rng):
    """Return a neighbor: one or two figures changed."""
    values = asdict(design)
    for name in rng.choice(list(RANGES), rng.integers(1, 3), replace=False):
        low, high = RANGES[name]
        values[name] = values[name] * np.exp(rng.normal(0, .5)) + (high - low) * rng.normal(0, .03)
    return bounded(values)


def bounded(values):
    """Return the nearest design within the ranges."""
    whole = ("strata", "psus", "items")
    clipped = {name: float(np.clip(values[name], *ends)) for name, ends in RANGES.items()}
    clipped |= {name: round(clipped[name]) for name in whole}
    most = MOST_ITEMS // (clipped["strata"] * clipped["psus"])
    return Design(**clipped | {"items": max(1, min(clipped["items"], most)), "seed": values["seed"]})


def usual():
    """Yield usual designs: strata and PSUs of six items, spread of weights, share of positives and its ICC."""
    for (strata, psus), spread, positive, icc in itertools.product(
            ((10, 3), (50, 2), (50, 5), (100, 2)), (0.0, .5, 1.5), (.03, .1, .5), (.1, .3)):
        yield Design(strata, psus, 6, spread, positive, icc, .8, .01, .1, 1.2, 0.0, 0)


def tabulate(rng):
    """Record the `Figures` of every statistic in the usual designs."""
    rows = [{"statistic": statistic, **asdict(design), **asdict(figures(design, statistic, rng, AUC_RUNS[1] if
             statistic == "auc" else RUNS[1]))} for statistic in STATISTICS for design in usual()]
    USUAL.write_text("[" + ",\n".join(map(json.dumps, rows)) + "]\n")


def family_of(name):
    """Return the `Family` of a name."""
    statistic, size = name.split()

    def coverage(design, rng, runs):
        found = figures(design, statistic, rng, runs)
        return found.coverage if eligible(found, size) else float("inf")
    return Family(start, moved, coverage, lambda data: Design(**data), AUC_RUNS if statistic == "auc" else RUNS,
                  FINALISTS, lambda design, rng, runs: asdict(figures(design, statistic, rng, runs)))


SEARCHED = {name: family_of(name) for name in FAMILIES}

if __name__ == "__main__":
    if "--families" in sys.argv:
        tabulate(np.random.default_rng(1))
    else:
        main(SEARCHED, RECORD, __doc__.splitlines()[0])
