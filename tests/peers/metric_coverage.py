"""What the intervals of kappa, MCC, balanced accuracy, Brier score, log loss, RMSE, correlation and median cover.

    python tests/peers/metric_coverage.py --runs 200            # print coverage, family by family
    python tests/peers/metric_coverage.py --write               # 1,000 runs each, recorded: some minutes

A family is a kind of clustered sample. Clusters (PSUs) differ: in how often their items are predicted wrong, in the
level of their numbers and of their errors. The truth is that of 50,000 clusters more.
"""

import argparse
import json
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.replication.macro import mean_of_classes
from workbench.replication.statistics import METRICS, UndefinedError, UnstableError

RECORD = Path(__file__).with_suffix(".json")
MEASURED = (
    "kappa",
    "mcc",
    "balanced_accuracy",
    "brier",
    "log_loss",
    "rmse",
    "correlation",
    "median",
)
CLUSTERS, SEED = 50_000, 1


@dataclass(frozen=True)
class Family:
    """Strata of as many PSUs of as many items, and what the items are like."""

    strata: int = 1
    psus: int = 60
    items: int = 8
    shares: tuple = (0.4, 0.35, 0.25)  # of the classes
    wrong: float = 0.2  # how often a typical PSU is predicted wrong
    spread: float = 0.7  # sd over PSUs, of the logit of that and of their numbers
    ends: float = 1.0  # both parameters of the beta distribution of the probabilities
    tail: float = 100.0  # degrees of freedom of t, for the errors of numbers
    heavy: float = 0.0  # sd of the logarithm of the strata's weights


FAMILIES = {
    "easy": Family(),
    "one by one": Family(psus=120, items=1, spread=0.0),
    "many": Family(psus=200, items=4),
    "few": Family(psus=12),
    "pairs": Family(strata=25, psus=2, heavy=0.7),
    "rare": Family(shares=(0.95, 0.05), wrong=0.05),
    "nearly right": Family(wrong=0.01),
    "sure": Family(ends=0.2),
    "very sure": Family(psus=30, ends=0.1),
    "heavy tails": Family(tail=4.0),
    "heavy tails, few": Family(psus=15, tail=4.0),
}


def drawn(family, clusters, rng):
    """Return columns (clusters * items,): truth, prediction, positive, probability, number and predicted number."""
    shape = clusters, family.items
    effect = family.spread * rng.normal(size=(clusters, 1))
    truth = rng.choice(len(family.shares), shape, p=family.shares)
    wrong = rng.random(shape) < 1 / (1 + (1 / family.wrong - 1) * np.exp(-effect))
    prediction = (truth + wrong * rng.integers(1, len(family.shares), shape)) % len(family.shares)
    probability = np.clip(rng.beta(family.ends, family.ends, shape), 0.001, 0.999)
    positive = rng.random(shape) < 1 / (1 + (1 / probability - 1) * np.exp(-effect / 2))
    number = rng.normal(size=shape) + effect
    predicted = 0.8 * number + rng.standard_t(family.tail, shape) * 0.6 * np.exp(effect / 4)
    return [
        column.ravel()
        for column in (truth, prediction, positive.astype(int), probability, number, predicted)
    ]


def columns_of(metric, columns):
    """Return the columns that a metric is made of."""
    truth, prediction, positive, probability, number, predicted = columns
    return {
        "brier": (positive, probability),
        "log_loss": (positive, probability),
        "rmse": (number, predicted),
        "correlation": (number, predicted),
        "median": (number,),
    }.get(metric, (truth, prediction))


def estimated(metric, made, columns):
    """Return an estimate, None where there is none."""
    function = wb.replicate_estimate if METRICS[metric].is_one else mean_of_classes
    try:
        return function(made, metric, *columns_of(metric, columns))
    except (UndefinedError, UnstableError):
        return None


def design_of(family, rng):
    """Return the design, whose weights are those of its strata."""
    psu = np.repeat(np.arange(family.strata * family.psus), family.items)
    weight = np.exp(family.heavy * rng.normal(size=family.strata))
    return wb.SurveyDesign(psu // family.psus, psu=psu, weight=weight[psu // family.psus])


def covered(name, runs):
    """Return coverage, share of samples without an interval, and median width of each metric in a family."""
    family, rng = FAMILIES[name], np.random.default_rng([SEED, zlib.crc32(name.encode())])
    start, design = time.process_time(), design_of(family, rng)
    made = wb.replicates(design, "fay" if family.psus == 2 else "generalized")
    population = drawn(family, CLUSTERS, rng)
    truth = {
        metric: METRICS[metric].naive_of(*columns_of(metric, population))[0] for metric in MEASURED
    }
    limits = {metric: [] for metric in MEASURED}
    for _ in range(runs):
        columns = drawn(family, family.strata * family.psus, rng)
        for metric in MEASURED:
            found = estimated(metric, made, columns)
            limits[metric].append(tuple(found.interval()) if found else (np.nan, np.nan))
    rows = {}
    for metric, pairs in limits.items():
        low, high = np.array(pairs).T
        inside = ((low <= truth[metric]) & (truth[metric] <= high))[~np.isnan(low)]
        rows[metric] = {
            "coverage": float(inside.mean()),
            "refused": float(np.isnan(low).mean()),
            "width": float(np.nanmedian(high - low)),
            "truth": truth[metric],
        }
    return {
        "runs": runs,
        "seed": SEED,
        "minutes": round((time.process_time() - start) / 60, 2),
        "metrics": rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for name in [options.family] if options.family else FAMILIES:
        found = covered(name, options.runs)
        print(
            f"{name:18}",
            *(f"{metric} {row['coverage']:.3f}" for metric, row in found["metrics"].items()),
            sep="  ",
            flush=True,
        )
        if options.write:
            recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
            RECORD.write_text(json.dumps(recorded | {name: found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
