"""Which labels a judge's verdicts should be corrected by: coverage and width of three ways, at equal numbers of labels.

The batch has 1,000 items. People label n of them at random (same items: strata by verdict), or labeled n of an earlier
batch of 1,000 whose share was another and whose verdicts are all known ("mle") or only those of the labeled items
("hull"). The truth is the share of the batch itself. The last settings have a judge that drifted between the batches.

    python tests/peers/judge_advice.py           about a minute; writes judge_advice.json
"""

import json
from pathlib import Path

import numpy as np

import workbench as wb

SEED, RUNS, ITEMS = 31, 400, 1000
# labels, share then and now, sensitivity and specificity, and these now where they drifted
SETTINGS = {
    "100 labels, .80 to .60": (100, 0.8, 0.6, 0.9, 0.8),
    "100 labels, .90 to .70": (100, 0.9, 0.7, 0.95, 0.7),
    "50 labels, .60 to .80": (50, 0.6, 0.8, 0.85, 0.85),
    "200 labels, .50 to .50": (200, 0.5, 0.5, 0.8, 0.8),
    "200 labels, .95 to .85": (200, 0.95, 0.85, 0.97, 0.6),
    "100 labels, .10 to .20": (100, 0.1, 0.2, 0.8, 0.95),
    "200 labels, .70 to .70, specificity falls by .1": (200, 0.7, 0.7, 0.9, 0.8, 0.9, 0.7),
}


def drawn(rng, share, sensitivity, specificity):
    """Return truth and verdicts of a batch, (N,) each."""
    truth = rng.random(ITEMS) < share
    return truth, np.where(truth, rng.random(ITEMS) < sensitivity, rng.random(ITEMS) >= specificity)


def table(truth, verdict):
    """Return items by truth and verdict, (2, 2)."""
    return np.bincount(2 * truth + verdict, minlength=4).reshape(2, 2)


def intervals_of(rng, n, then, now, *rates):
    """Return the true share and the limits by each way, None where a way gives none."""
    (earlier, before), (truth, verdict) = drawn(rng, then, *rates[:2]), drawn(rng, now, *rates[-2:])
    audit = wb.ConfusionCounts(table(earlier[:n], before[:n]))
    counts, frame = (np.bincount(each, minlength=2) for each in (verdict, before))
    same = table(truth[:n], verdict[:n])
    return truth.mean(), {
        "same items": wb.stratified_interval(counts, same.sum(0), same[1])
        if (same.sum(0) > 1).all()
        else None,
        "mle": wb.estimate_prevalence(audit, counts, frame, sampled_by="random").interval(),
        "hull": wb.estimate_prevalence(audit, counts, method="hull").interval(),
    }


def measured(name):
    """Return coverage and median width by way."""
    rng = np.random.default_rng([SEED, [*SETTINGS].index(name)])
    runs = [intervals_of(rng, *SETTINGS[name]) for _ in range(RUNS)]
    found = {}
    for way in ("same items", "mle", "hull"):
        known = [(share, limits[way]) for share, limits in runs if limits[way] is not None]
        found[way] = {
            "coverage": round(
                float(np.mean([low <= share <= high for share, (low, high) in known])), 3
            ),
            "width": round(float(np.median([high - low for _, (low, high) in known])), 3),
        }
    return found


if __name__ == "__main__":
    figures = {"seed": SEED, "runs": RUNS, "settings": {name: measured(name) for name in SETTINGS}}
    Path(__file__).with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
