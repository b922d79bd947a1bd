"""How often intervals of means without bounds are wrong, and their width against Student's t.

    python tests/peers/unbounded_values.py              # print, a minute or two
    python tests/peers/unbounded_values.py --write      # and record it
"""
import json
import sys
import time
from pathlib import Path

import numpy as np
import scipy

import workbench as wb

RECORD = Path(__file__).with_suffix(".json")
RUNS, STREAMS, RECORDS, SEED = 2_000, 500, 4_000, 1
DRAWS = {"normal": lambda rng, n: rng.normal(size=n), "exponential": lambda rng, n: rng.exponential(size=n),
         "lognormal(1)": lambda rng, n: rng.lognormal(0, 1, n), "lognormal(2)": lambda rng, n: rng.lognormal(0, 2, n),
         "2% are 20 larger": lambda rng, n: rng.normal(size=n) + 20 * (rng.random(n) < .02),
         "80% are 0": lambda rng, n: rng.lognormal(0, 1, n) * (rng.random(n) < .2)}
MEANS = {"normal": 0, "exponential": 1, "lognormal(1)": np.exp(.5), "lognormal(2)": np.exp(2), "2% are 20 larger": .4,
         "80% are 0": .2 * np.exp(.5)}
SAMPLES = {"5": [5], "4 x 2": [2] * 4, "8 x 3": [3] * 8,
           "20": [20], "50": [50], "200": [200], "1,000": [1000], "4 x 5": [5] * 4, "4 x 12": [12] * 4,
           "4 x 50": [50] * 4, "20 x 10": [10] * 20}
KEPT = (80, 320, 1_000)


def summary(found):
    """Return the shares that are given, and given and wrong, and the median width over that of t."""
    given = [interval.method != "none" for interval, *_ in found]
    wrong = [interval.method != "none" and truth not in interval for interval, _, truth in found]
    wide = [interval.half_width / reach(estimate) for (interval, estimate, _) in found if interval.method != "none"]
    missed = [abs(estimate.estimate - truth) > reach(estimate) for _, estimate, truth in found]
    return {"given": float(np.mean(given)), "given and wrong": float(np.mean(wrong)), "t wrong": float(np.mean(missed)),
            "width over t": float(np.median(wide)) if wide else None}


def reach(found):
    """Return half the width of Student's t interval with Satterthwaite's degrees of freedom."""
    n, weight = found.sampled, found.size / found.size.sum()
    terms = weight ** 2 * (1 - n / found.size) * found.sd ** 2 / n
    df = terms.sum() ** 2 / (terms ** 2 / (n - 1)).sum() if terms.any() else 1
    return max(scipy.stats.t.ppf(.975, df) * terms.sum() ** .5, 1e-300)


def samples(kind, labels, rng):
    """Yield interval, estimate and truth of samples from endless strata of unequal size."""
    size = np.rint(1e8 * np.exp(rng.normal(0, .5, len(labels)))).astype(int)
    names = np.arange(len(labels)).astype(str)
    strata = wb.load_strata({"stratum": names, "size": size, "sd": np.ones(len(labels))})
    for _ in range(RUNS):
        found = wb.estimate_values(strata, np.repeat(names, labels), DRAWS[kind](rng, sum(labels)))
        yield found.interval(), found, MEANS[kind]


def streams(kind, strata, kept, rng):
    """Yield interval, estimate and truth of samples of streams whose values grow to twice their size."""
    frequency = np.exp(np.linspace(0, 1.5, strata))
    for seed in range(STREAMS):
        stratum = rng.choice(strata, RECORDS, p=frequency / frequency.sum())
        value = DRAWS[kind](rng, RECORDS) * (1 + np.arange(RECORDS) / RECORDS)
        found = wb.StreamSampler(kept, minimum=5, rng=seed).update(stratum, value).estimate()
        yield found.interval(), found, value.mean()


def main():
    """Print every setting, and record all of them."""
    began, found = time.process_time(), {}
    for kind in DRAWS:
        settings = [(f"{kind}, {name} labels", samples, (labels,)) for name, labels in SAMPLES.items()]
        settings += [(f"{kind}, stream of {strata} strata, {kept:,} kept", streams, (strata, kept))
                     for strata in (4, 8) for kept in KEPT]
        for name, draw, arguments in settings:
            found[name] = summary(list(draw(kind, *arguments, np.random.default_rng(SEED))))
            print(f"{name:45}", *(f"{key} {value if value is None else round(value, 3)}" for key, value in
                                  found[name].items()), sep="  ", flush=True)
    minutes = round((time.process_time() - began) / 60, 1)
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps({"seed": SEED, "runs": RUNS, "streams": STREAMS, "minutes": minutes,
                                      "settings": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
