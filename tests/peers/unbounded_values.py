"""How often intervals of means without bounds are wrong, and their width against Student's t.

Two other rules answer the same samples: Student's t alone, and t with one more value in each stratum
that is like the most extreme one seen on that side. The workbench joins t with Hall's interval,
because the one-more rule is wrong more often in skewed values and in values that are mostly 0.

    python tests/peers/unbounded_values.py              # print, some minutes
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
RUNS, STREAMS, RECORDS, SEED = 1_000, 250, 4_000, 1


def mostly_zero(share):
    """Return a draw of values of which `share` are 0 and the others lognormal(1)."""
    return lambda rng, n: rng.lognormal(0, 1, n) * (rng.random(n) >= share)


DRAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal(1)": lambda rng, n: rng.lognormal(0, 1, n),
    "lognormal(2)": lambda rng, n: rng.lognormal(0, 2, n),
    "2% are 20 larger": lambda rng, n: rng.normal(size=n) + 20 * (rng.random(n) < 0.02),
    "60% are 0": mostly_zero(0.6),
    "90% are 0": mostly_zero(0.9),
}
MEANS = {
    "normal": 0,
    "exponential": 1,
    "lognormal(1)": np.exp(0.5),
    "lognormal(2)": np.exp(2),
    "2% are 20 larger": 0.4,
    "60% are 0": 0.4 * np.exp(0.5),
    "90% are 0": 0.1 * np.exp(0.5),
}
SAMPLES = {"2": [2], "5": [5], "12": [12], "20": [20], "60": [60], "200": [200], "1,000": [1000]}
SAMPLES |= {f"4 x {n}": [n] * 4 for n in (2, 5, 12, 20, 60)}
SAMPLES |= {f"8 x {n}": [n] * 8 for n in (2, 3, 5, 12, 60)}
KEPT = (80, 320, 1_000)


def summary(samples):
    """Return how many samples have an interval, and of these: how many wrong, and widths over t's."""
    given = [sample for sample in samples if sample[0].method != "none"]
    limits = {"workbench": [], "t": [], "one more": []}
    for interval, estimate, _ in given:
        limits["workbench"].append(tuple(interval))
        limits["t"].append(student(estimate, more=0))
        limits["one more"].append(student(estimate, more=1))
    truth = np.array([sample[2] for sample in given])
    low, high = {}, {}
    for rule in limits:
        low[rule], high[rule] = np.array(limits[rule]).T
    result = {"given": len(given) / len(samples)}
    for rule in limits:
        wrong = (truth < low[rule]) | (truth > high[rule])
        result[f"{rule} wrong"] = round(float(wrong.mean()), 4)
    for rule in ("workbench", "one more"):
        ratio = (high[rule] - low[rule]) / (high["t"] - low["t"])
        result[f"{rule} width over t"] = round(float(np.median(ratio)), 3)
    return result


def student(found, more):
    """Return Student's t limits, with `more` values like the most extreme of each stratum."""
    weight = found.size / found.size.sum()
    free = 1 - found.sampled / found.size
    limits = []
    for sign in (-1, 1):
        center, terms = 0.0, np.zeros(weight.size)
        for stratum, values in enumerate(
            np.split(sign * found.values, found.sampled.cumsum()[:-1])
        ):
            values = np.append(values, [values.max()] * more)
            center += weight[stratum] * values.mean()
            terms[stratum] = weight[stratum] ** 2 * free[stratum] * values.var(ddof=1) / values.size
        df = terms.sum() ** 2 / (terms**2 / np.maximum(found.sampled - 1, 1)).sum()
        half = scipy.special.stdtrit(df, 0.975) * terms.sum() ** 0.5
        limits.append(sign * (center + half))
    return tuple(limits)


def samples(kind, labels, rng):
    """Yield interval, estimate and truth of samples from endless strata of unequal size."""
    size = np.rint(1e8 * np.exp(rng.normal(0, 0.5, len(labels)))).astype(int)
    names = np.arange(len(labels)).astype(str)
    strata = wb.load_strata({"stratum": names, "size": size, "sd": np.ones(len(labels))})
    for _ in range(RUNS):
        values = DRAWS[kind](rng, sum(labels))
        found = wb.estimate_values(strata, np.repeat(names, labels), values)
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
        settings = [
            (f"{kind}, {name} labels", samples, (labels,)) for name, labels in SAMPLES.items()
        ]
        for strata in (4, 8):
            for kept in KEPT:
                name = f"{kind}, stream of {strata} strata, {kept:,} kept"
                settings.append((name, streams, (strata, kept)))
        for name, draw, arguments in settings:
            rng = np.random.default_rng(SEED)
            found[name] = summary(list(draw(kind, *arguments, rng)))
            figures = (f"{key} {value:.3f}" for key, value in found[name].items())
            print(f"{name:45}", *figures, sep="  ", flush=True)
    minutes = round((time.process_time() - began) / 60, 1)
    if "--write" in sys.argv:
        record = {
            "seed": SEED,
            "runs": RUNS,
            "streams": STREAMS,
            "minutes": minutes,
            "settings": found,
        }
        RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
