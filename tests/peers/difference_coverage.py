"""How often the intervals of `compare_metrics` cover the true difference of two models.

    python tests/peers/difference_coverage.py --runs 1000 --write     # 24 cells, about half an hour
    python tests/peers/difference_coverage.py --runs 100 --cell "items 60, prevalence 0.2, equal"

A cell is 60 or 500 independent items, or 12 or 80 clusters whose sizes are lognormal (standard
deviation 1 of the logarithm) and which differ in prevalence and in difficulty. Both models score the
same items: a part of their error is common to both. They are equally good, or the second is better.
The true difference of unequal models is that of a large sample of its own.
"""

import argparse
import json
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

import workbench as wb
from workbench.replication import paired
from workbench.replication.linear import linearized
from workbench.replication.statistics import METRICS, UndefinedError

RECORD = Path(__file__).with_suffix(".json")
NAMES = tuple(
    "accuracy precision recall f1 macro_f1 balanced_accuracy kappa mcc brier log_loss auc".split()
)
LARGE = 400_000
BETTER = 0.5
LOW = 0.93  # a cell with a lower coverage is simulated again with four times as many runs


class Cell(NamedTuple):
    """Number of items or clusters, prevalence, and by how much the second model is better."""

    items: int
    clusters: int
    prevalence: float
    better: float

    @property
    def name(self):
        """What the record calls it."""
        of = f"{self.clusters} clusters" if self.clusters else f"{self.items} items"
        return f"{of}, prevalence {self.prevalence}, {'better' if self.better else 'equal'}"


CELLS = [
    Cell(items, clusters, prevalence, better)
    for items, clusters in ((60, 0), (500, 0), (240, 12), (1_600, 80))
    for prevalence in (0.05, 0.2, 0.5)
    for better in (0.0, BETTER)
]


def sampled(cell, rng, items, clusters):
    """Return truth (n,), cluster (n,) or None, predictions and scores (n, 2)."""
    cluster, prevalence_shift, difficulty = None, 0.0, 0.0
    if clusters:
        sizes = items / clusters * rng.lognormal(-0.5, 1.0, clusters)
        cluster = np.repeat(np.arange(clusters), np.maximum(2, np.round(sizes)).astype(int))
        items = cluster.size
        prevalence_shift = 0.7 * rng.normal(size=clusters)[cluster]
        difficulty = 0.3 * rng.normal(size=clusters)[cluster]
    base = logit(cell.prevalence)
    truth = (rng.random(items) < expit(base + prevalence_shift)).astype(int)
    common = rng.normal(size=items)
    scores = []
    for better in (0.0, cell.better):
        signal = (2 * truth - 1) * (1 + better - difficulty)
        own = rng.normal(size=items)
        scores.append(expit(1.2 * (signal + 0.8 * common + 0.8 * own) + 0.8 * base))
    scores = np.stack(scores, 1)
    threshold = 0.5 if cell.prevalence >= 0.3 else 0.3
    return truth, cluster, (scores > threshold).astype(int), scores


def columns_of(metric, truth, prediction, score):
    """Return the columns of a metric of one model."""
    entry = METRICS[metric]
    other = score if "score" in entry.arguments else prediction
    if entry.about == "class":
        return truth == 1, other == 1 if other is prediction else other
    return truth, other


def differences(cell):
    """Return the true difference of each metric, first less second model."""
    if not cell.better:
        return dict.fromkeys(NAMES, 0.0)
    clusters = LARGE * cell.clusters // cell.items
    rng = np.random.default_rng(99)
    truth, _, predictions, scores = sampled(cell, rng, LARGE, clusters)
    weight = np.ones(truth.size)
    true = {}
    for metric in NAMES:
        both = []
        for model in (0, 1):
            columns = columns_of(metric, truth, predictions[:, model], scores[:, model])
            both.append(linearized(metric, columns, weight).estimate)
        true[metric] = both[0] - both[1]
    return true


def simulate(cell, runs):
    """Return per metric how often the interval covered, how often 0 lay outside, and the widths."""
    rng = np.random.default_rng(zlib.crc32(cell.name.encode()))
    true = differences(cell)
    counts = {metric: [] for metric in NAMES}
    for _ in range(runs):
        truth, cluster, predictions, scores = sampled(cell, rng, cell.items, cell.clusters)
        if truth.min() == truth.max():
            continue
        design = wb.SurveyDesign(np.zeros(truth.size), psu=cluster)
        drawn = wb.replicates(design, "jkn")
        rows = np.ones(truth.size, bool)
        for metric in NAMES:
            columns = [
                columns_of(metric, truth, predictions[:, model], scores[:, model])
                for model in (0, 1)
            ]
            if metric == "precision" and not predictions.any(0).all():
                continue
            weight = np.ones(truth.size)
            try:
                linear = [linearized(metric, pair, weight) for pair in columns]
            except UndefinedError:
                continue
            if not np.isfinite([part.values for part in linear]).all():
                continue
            difference = paired._difference(drawn, *linear, None, rows)
            low, high = difference.interval()
            tlow, thigh = difference.interval(method="t")
            span = 2.0 if METRICS[metric].kind == "agreement" else 1.0
            if metric != "log_loss":
                low, high = max(low, -span), min(high, span)
            covered = low <= true[metric] <= high
            by_t = tlow <= true[metric] <= thigh
            counts[metric].append((covered, low > 0 or high < 0, high - low, by_t, thigh - tlow))
    result = {}
    for metric, rows_of_metric in counts.items():
        covered, rejected, width, by_t, t_width = np.mean(rows_of_metric, 0)
        *_, widths, _, t_widths = np.array(rows_of_metric, float).T
        ratios = widths[t_widths > 0] / t_widths[t_widths > 0]
        result[metric] = {
            "runs": len(rows_of_metric),
            "coverage": round(float(covered), 4),
            "zero_excluded": round(float(rejected), 4),
            "width": round(float(width), 4),
            "t_coverage": round(float(by_t), 4),
            "t_width": round(float(t_width), 4),
            "median_ratio": round(float(np.median(ratios)), 3),
        }
    return result


def main():
    """Simulate the cells that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--cell", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    record = {}
    for cell in CELLS:
        if arguments.cell not in ("", cell.name):
            continue
        record[cell.name] = simulate(cell, arguments.runs)
        if min(row["coverage"] for row in record[cell.name].values()) < LOW:
            record[cell.name] = simulate(cell, 4 * arguments.runs)
        texts = [
            f"{metric} {row['coverage']:.3f}/{row['zero_excluded']:.3f}/{row['median_ratio']:.2f}"
            for metric, row in record[cell.name].items()
        ]
        print(cell.name, *texts, sep="  ", flush=True)
    if arguments.write:
        recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        RECORD.write_text(json.dumps(recorded | record, indent=1) + "\n")


if __name__ == "__main__":
    main()
