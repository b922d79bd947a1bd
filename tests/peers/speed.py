"""Time what the workbench computes, over three decades of sizes, next to a peer and to the best that the machine can do.

    python tests/peers/speed.py              # three minutes; writes speed.json and the page of it
    python tests/peers/speed.py --only sort  # operations whose name holds a word, and write nothing

The limit of an operation is a step that it cannot do without: a sort, a pass, the drawing of random numbers, the file's
bytes. Processor time with one thread, medians of one run. The slope is that of the logarithms of time and size between
the two largest sizes: 1 means that ten times as much takes ten times as long.
"""

import argparse
import datetime
import heapq
import json
import math
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from threadpoolctl import threadpool_limits

import workbench as wb

RECORD = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "speed.md"
LONG, OFTEN = 0.3, 5  # seconds after which a call is repeated no more, and how often it is repeated


def cut(n):
    score = np.random.default_rng(0).random(n)
    return {
        "ours": lambda: wb.stratify(score, 10, "equal_size"),
        "limit": lambda: np.sort(score),
        "peer": lambda: pandas.qcut(score, 10, labels=False),
    }


def allocated(n):
    rng = np.random.default_rng(0)
    size, sd = np.ceil(rng.lognormal(5, 2, n)).astype(int), rng.lognormal(0, 1.5, n)
    budget = int(size.sum()) // 10

    def greedy():
        given = np.minimum(size, 2)
        heap = [
            (-(w / math.sqrt(k * (k + 1))), h)
            for h, (w, k) in enumerate(zip(size * sd, given, strict=True))
            if k < size[h]
        ]
        heapq.heapify(heap)
        for _ in range(budget - int(given.sum())):
            h = heap[0][1]
            given[h] += 1
            if given[h] < size[h]:
                heapq.heapreplace(
                    heap, (-(size[h] * sd[h] / math.sqrt(given[h] * (given[h] + 1))), h)
                )
            else:
                heapq.heappop(heap)
        return given

    return {
        "ours": lambda: wb.allocate(size, budget, stratum_sd=sd),
        "limit": lambda: np.sort(sd),
        **({"peer": greedy} if budget < 10**6 else {}),
    }


def streamed(n):
    rng = np.random.default_rng(0)
    stratum, value = rng.integers(0, 100, n), rng.random(n)
    return {
        "ours": lambda: wb.StreamSampler(200).update(stratum, value),
        "limit": lambda: (np.bincount(stratum, value), np.bincount(stratum, value * value)),
    }


def summarized(n):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"by": rng.integers(0, 100, n), "value": rng.random(n)})
    by, value = frame["by"].to_numpy(), frame["value"].to_numpy()
    return {
        "ours": lambda: wb.summarize(frame, "by", "value"),
        "limit": lambda: (np.bincount(by, value), np.bincount(by, value * value)),
        "peer": lambda: frame.groupby("by")["value"].agg(["size", "mean", "std"]),
    }


def sampled(n):
    frame = pandas.DataFrame({"id": np.arange(n), "by": np.arange(n) % 10})
    return {
        "ours": lambda: wb.sample(frame, "by", dict.fromkeys(range(10), 10), id="id"),
        "limit": lambda: np.bincount(frame["by"]),
        "peer": lambda: frame.groupby("by").sample(10, random_state=0),
    }


def limits(n):
    right, sizes = [n * 8 // 50] * 5, [10 * n] * 5
    return {
        "ours": lambda: wb.stratified_accuracy(sizes, [n // 5] * 5, right).interval(),
        "peer": lambda: stats.binomtest(5 * right[0], n).proportion_ci(),
    }


def lookings(n):
    label = (np.arange(n) % 10 > 0).astype(int)
    return {"ours": lambda: wb.anytime_interval([100 * n], np.zeros(n, int), label)}


def of_class(n):
    sizes, labeled, right = [10 * n, 90 * n], [n // 2, n // 2], [n * 2 // 5, n * 9 // 20]
    return {"ours": lambda: wb.class_metrics(sizes, [True, False], labeled, right).interval("f1")}


def replicated(n):
    rng = np.random.default_rng(0)
    stratum, y, psu = np.repeat(np.arange(n), 2), rng.random(2 * n), np.arange(2 * n)
    design = wb.SurveyDesign(stratum, psu=psu)
    return {
        "ours": lambda: wb.replicate_estimate(wb.replicates(design, "jkn"), "mean", y).variance,
        "limit": lambda: np.square(np.diff(y.reshape(n, 2))).sum(),
    }


def arrays(n):
    return {"ours": lambda: wb.hadamard(n), "limit": lambda: np.ones((n, n), np.int8)}


def labelings(n):
    size, correct = np.full(10, 1000), np.arange(500, 1000, 50)
    draw = np.random.default_rng(0)
    return {
        "ours": lambda: wb.simulate_labeling(size, correct, 100, "proportional", runs=n),
        "limit": lambda: draw.hypergeometric(correct, size - correct, 10, (n, 10)),
    }


def confusions(n):
    rng = np.random.default_rng(0)
    truth, found = rng.integers(0, 2, n), rng.integers(0, 2, n)
    return {
        "ours": lambda: wb.ConfusionCounts.from_labels(truth, found),
        "limit": lambda: np.bincount(2 * truth + found),
        "peer": lambda: confusion_matrix(truth, found),
    }


def months(n):
    audit = wb.ConfusionCounts([[140, 60], [20, 180]])
    counts = {str(k): [5000 + k % 100, 5000] for k in range(n)}
    return {"ours": lambda: wb.prevalence_series(audit, [5000, 5000], counts)}


def shares(n):
    draw = np.random.default_rng(0)
    return {
        "ours": lambda: wb.simulate_prevalence(0.3, 0.4, 0.8, 0.9, 200, 10_000, runs=n),
        "limit": lambda: draw.multinomial(200, [0.25] * 4, n),
    }


def folds(n):
    loss = np.random.default_rng(0).random((10, n // 10))
    return {
        "ours": lambda: wb.kfold_t_test(wb.CVLosses(loss)).pvalue,
        "limit": lambda: loss.mean(1),
        "peer": lambda: stats.ttest_1samp(loss.mean(1), 0),
    }


def models(n):
    right = (np.random.default_rng(0).random((n, 10)) < np.linspace(0.6, 0.8, 10)).astype(float)
    scores = wb.ItemScores(right, [f"m{k}" for k in range(10)], range(n))
    pairs = np.transpose(np.triu_indices(10, 1))
    return {
        "ours": lambda: wb.compare_items(scores).rows(),
        "limit": lambda: right.T @ right,
        "peer": lambda: [stats.ttest_rel(right[:, i], right[:, j]) for i, j in pairs],
    }


def people(n):
    rng = np.random.default_rng(0)
    labels = np.where(
        rng.random((n, 2)) < 0.9, rng.integers(0, 3, (n, 1)), rng.integers(0, 3, (n, 2))
    )
    return {
        "ours": lambda: wb.agreement(labels),
        "limit": lambda: np.bincount(3 * labels[:, 0] + labels[:, 1]),
        "peer": lambda: cohen_kappa_score(labels[:, 0], labels[:, 1]),
    }


def files(n):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"id": np.arange(n), "p": rng.random(n).round(6), "yhat": rng.integers(0, 2, n)}
    )
    path = FOLDER / f"{n}.csv"
    frame.to_csv(path, index=False)
    return {
        "ours": lambda: wb.read_scores(
            str(path), score="p", prediction="yhat", id="id", score_is="class1"
        ),
        "limit": lambda: np.frombuffer(path.read_bytes(), np.uint8).sum(),
        "peer": lambda: pandas.read_csv(path),
    }


# what is timed, of how many of what, the sizes, the limit, the peer
OPERATIONS = [
    (files, "read_scores, a CSV file", "rows", 3, "sum of its bytes", "pandas.read_csv"),
    (cut, "stratify, equal size", "scores", 3, "numpy.sort", "pandas.qcut"),
    (allocated, "allocate, VOILA", "strata", 3, "numpy.sort", "greedy, label by label"),
    (summarized, "summarize", "rows", 3, "two bincounts", "pandas groupby"),
    (sampled, "sample", "rows", 3, "one bincount", "pandas groupby.sample"),
    (streamed, "StreamSampler.update", "records", 3, "two bincounts", ""),
    (
        limits,
        "stratified_accuracy.interval, 5 strata",
        "labels",
        2,
        "",
        "scipy binomtest, one stratum",
    ),
    (of_class, "class_metrics.interval, F1", "labels", 2, "", ""),
    (lookings, "anytime_interval", "labels", 1, "", ""),
    (replicated, "replicates and variance of a mean", "strata of two", 1, "closed form", ""),
    (arrays, "hadamard, powers of 2", "order", 0, "numpy.ones of its size", ""),
    (labelings, "simulate_labeling", "runs", 2, "random numbers alone", ""),
    (
        confusions,
        "ConfusionCounts.from_labels",
        "labels",
        3,
        "one bincount",
        "scikit-learn confusion_matrix",
    ),
    (months, "prevalence_series", "periods", 0, "", ""),
    (shares, "simulate_prevalence, seven estimators", "runs", 2, "random numbers alone", ""),
    (folds, "kfold_t_test", "losses", 3, "means of the folds", "scipy ttest_1samp of these means"),
    (
        models,
        "compare_items, 10 models",
        "items",
        2,
        "one matrix product",
        "scipy ttest_rel, 45 pairs",
    ),
    (
        people,
        "agreement, two annotators",
        "items",
        2,
        "one bincount",
        "scikit-learn cohen_kappa_score, no interval",
    ),
]


def sizes(operation, first):
    """Return four sizes over three decades."""
    return (
        [2, 16, 128, 2048] if operation is arrays else [max(10 ** (first + k), 2) for k in range(4)]
    )


def seconds(call):
    """Return the median processor time of a call, the first apart unless it is long."""
    took = []
    while len(took) < OFTEN + 1 and sum(took) < LONG:
        began = time.process_time()
        call()
        took.append(time.process_time() - began)
    return statistics.median(took[1:] or took)


def measured(operation, name, unit, first, limit, peer):
    """Return what was timed of an operation at its four sizes."""
    found = {
        "name": name,
        "unit": unit,
        "limit": limit,
        "peer": peer,
        "sizes": sizes(operation, first),
        "seconds": {},
    }
    for size in found["sizes"]:
        for who, call in operation(size).items():
            found["seconds"].setdefault(who, []).append(seconds(call))
    ours = found["seconds"]["ours"]
    found["slope"] = round(
        math.log(ours[-1] / ours[-2]) / math.log(found["sizes"][-1] / found["sizes"][-2]), 2
    )
    print(
        f"{name}: {said(ours[-1])} for {found['sizes'][-1]:,} {unit}, slope {found['slope']}",
        flush=True,
    )
    return found


def said(duration):
    """Return seconds as people read them, in two digits."""
    scale, unit = next(
        (pair for pair in ((1, "s"), (1e3, "ms")) if duration * pair[0] >= 1), (1e6, "µs")
    )
    return f"{float(f'{duration * scale:.2g}'):g} {unit}"


def line(found):
    """Return an operation's row of the table."""
    ours = found["seconds"]["ours"]

    def times(who):
        other = found["seconds"].get(who, [])
        return (
            f"{float(f'{ours[len(other) - 1] / other[-1]:.2g}'):g} × {found[who]}"
            + (f" ({found['sizes'][len(other) - 1]:,})" if len(other) < len(ours) else "")
            if other
            else ""
        )

    return (
        "| "
        + " | ".join(
            [
                found["name"],
                f"{found['sizes'][0]:,} to {found['sizes'][-1]:,} {found['unit']}",
                *map(said, ours),
                f"{found['slope']:.2f}",
                times("limit"),
                times("peer"),
            ]
        )
        + " |"
    )


def page(record):
    """Return the page."""
    return "\n".join(
        [
            "# Speed",
            "",
            "This page shows how long the workbench's functions take, and how the time grows with the size of the data.",
            "Use it to estimate whether a computation on your data takes seconds or hours.",
            "",
            f"The times are processor times with one thread. They are medians of one run on {record['date']} with numpy "
            f"{record['numpy']}.",
            "The time of one run differs between machines; the ratios hardly do. `python tests/peers/speed.py`",
            "measures them again. [The scoreboard](scoreboard.md) has the milliseconds of other tools' intervals.",
            "",
            "- **sizes**: four sizes over three decades, with the time for each.",
            "- **slope**: the slope of log time on log size between the two largest sizes. With a slope of 1, ten times as much",
            "  data takes ten times as long.",
            "- **relative to the limit**: the time at the largest size, as a multiple of a step that the operation needs in any",
            "  case.",
            "- **relative to a peer**: the time at the largest size, as a multiple of the time of another tool. A number in",
            "  brackets is the size of the comparison, if it is smaller.",
            "",
            "| operation | sizes | | | | | slope | relative to the limit | relative to a peer |",
            "|---|---|---|---|---|---|---|---|---|",
            *map(line, record["operations"]),
            "",
        ]
    )


def main():
    """Read the options, measure, and write the record and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", default="", help="operations whose name holds this; write nothing"
    )
    options = parser.parse_args()
    with threadpool_limits(1):
        found = [measured(*operation) for operation in OPERATIONS if options.only in operation[1]]
    record = {
        "date": datetime.date.today().isoformat(),
        "numpy": np.__version__,
        "operations": found,
    }
    print(page(record))
    if not options.only:
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(record), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = Path(folder)
        main()
