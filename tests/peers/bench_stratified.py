"""Time stratified accuracy against peers and against what the machine can do, as ratios of one run.

    python tests/peers/bench_stratified.py            # all tables, about two minutes
    python tests/peers/bench_stratified.py --skip-ssepy

ssepy 0.1.1 needs numpy 1, so it gets a virtual environment of its own in the temporary folder (made once,
with pip; it imports numpy alone, its other requirement is left out). Its 3,000 runs would take minutes: a
few are timed and multiplied. Times are processor time with one thread, which is the time on an idle machine
and changes little on a busy one. Every figure stands beside its target; nothing is asserted.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from workbench import intervals
from workbench.data import scored_items
from workbench.simulations.stratified import PAPER_GRID, simulate_grid, simulate_labeling
from workbench.stratified.strata import STRATIFIERS, stratify

RUNS, BUDGET, STRATA = 3000, 100, 10
SIZES = 20_000, 700_000
SSEPY, SSEPY_NUMPY = "ssepy==0.1.1", "numpy<2"
SSEPY_RUNS = 40
SSEPY_LOOP = f"""
import sys, time, numpy, random
from ssepy import ModelPerformanceEvaluator

class Ranks:
    def fit(self, x):
        return self
    def predict(self, x):
        return numpy.argsort(numpy.argsort(x[:, 0])) * {STRATA} // len(x)

numpy.random.seed(0); random.seed(0)
score, correct = numpy.load(sys.argv[1])
peer = ModelPerformanceEvaluator(Yh=score, budget={BUDGET})
peer.stratify_data(Ranks(), X=score)
peer.allocate_budget("proportional")
def replicate():
    chosen = peer.sample("ssrs")
    return peer.compute_estimate(correct[chosen], estimator="ht")
replicate()
began = time.process_time()
estimates = [float(replicate()[0][0]) for _ in range({SSEPY_RUNS})]
print(time.process_time() - began, numpy.mean(estimates))
"""
IMPORT = """
import time
cpu, wall = time.process_time(), time.perf_counter()
import {0}
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
IMPORTED = "numpy", "scipy.special", "workbench"
LOADED = "import sys, {0}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
HEAVY = (
    "altair",
    "ipywidgets",
    "anywidget",
    "sklearn",
    "narwhals",
    "duckdb",
    "pandas",
    "scipy.stats",
    "tqdm",
)


def timed(function, repeats=5):
    """Return the median seconds of a call and the last result; the first call is not counted."""
    result, seconds = function(), []
    for _ in range(repeats):
        began = time.process_time()
        result = function()
        seconds.append(time.process_time() - began)
    return statistics.median(seconds), result


def once(function):
    """Return the seconds of one call and its result."""
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def heading(text):
    """Print a section's title."""
    print(f"\n{text}", flush=True)


def show(what, figure, target=""):
    """Print one figure beside its target."""
    print(f"  {what:58} {figure:>14}   {target}", flush=True)


def span(seconds):
    """Return seconds as text in a fitting unit."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


# (i) simulation against loops over items


def stratified_population(items):
    """Return scored items and their ten strata of equal size."""
    scored = scored_items.synthetic_scores("rcv1", size=items)
    strata = stratify(scored.score, STRATA, "equal_size")
    return scored, strata, np.bincount(strata.labels, scored.correct).astype(int)


def index_loop(correct, labels, labeled, runs, rng):
    """Return estimates and variances from drawn item numbers: items sorted once, then numpy's best draw."""
    ordered = correct[np.argsort(labels, kind="stable")].astype(float)
    size = np.bincount(labels)
    start, weight = size.cumsum() - size, size / size.sum()
    factor = weight**2 * (1 - labeled / size) / (labeled - 1)
    estimates, variances = np.empty(runs), np.empty(runs)
    for run in range(runs):
        rate = np.empty(size.size)
        for k, n in enumerate(labeled):
            rate[k] = ordered[
                start[k] + rng.choice(size[k], n, replace=False, shuffle=False)
            ].mean()
        estimates[run], variances[run] = weight @ rate, factor @ (rate * (1 - rate))
    return estimates, variances


def ssepy_python():
    """Return the interpreter of ssepy's environment, made on first use."""
    home = Path(tempfile.gettempdir()) / "workbench-bench-ssepy-0.1.1"
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        pip = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, SSEPY, SSEPY_NUMPY], check=True)
        (home / "ready").touch()
    return python


def ssepy_seconds(scored):
    """Return the extrapolated seconds of ssepy's loop and its mean estimate."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.npy"
        np.save(path, np.stack([scored.score, scored.correct.astype(float)]))
        text = subprocess.run(
            [ssepy_python(), "-W", "ignore", "-c", SSEPY_LOOP, path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    seconds, mean = map(float, text.split())
    return seconds * RUNS / SSEPY_RUNS, mean


def bench_loops(items, with_ssepy):
    """Time 3,000 runs of one design: ours, an index-level numpy loop, ssepy."""
    heading(
        f"(i) {RUNS:,} runs, K = {STRATA}, n = {BUDGET}, equal size, proportional, N = {items:,}"
    )
    scored, strata, right = stratified_population(items)
    ours, study = timed(
        lambda: simulate_labeling(strata.sizes, right, BUDGET, "proportional", runs=RUNS), 15
    )
    show("simulate_labeling", span(ours))
    labeled, rng = study.labeled[0, 0], np.random.default_rng(0)
    loop, (estimates, _) = once(
        lambda: index_loop(scored.correct, strata.labels, labeled, RUNS, rng)
    )
    show("index-level numpy loop", span(loop))
    show("index loop / ours", f"{loop / ours:,.0f}x", "wanted >= 20x")
    means = f"mean estimates: ours {study.estimates.mean():.4f}, index loop {estimates.mean():.4f}"
    if with_ssepy:
        peer, mean = ssepy_seconds(scored)
        show(f"ssepy's loop, extrapolated from {SSEPY_RUNS} runs", span(peer))
        show("ssepy / ours", f"{peer / ours:,.0f}x", "wanted >= 4,000x")
        means += f", ssepy {mean:.4f}"
    print(f"  {means}, true {study.accuracy:.4f}")


# (ii) the paper's grid


def bench_grid():
    """Time the paper's grid and its single cells."""
    heading(f'(ii) the paper\'s grid: synthetic_scores("rcv1"), n = 300, {RUNS:,} runs')
    scored, strata, right = stratified_population(SIZES[1])
    targets = {
        "proportional": "wanted <= 50 ms",
        "equal": "wanted <= 50 ms",
        "opt_a2": "wanted <= 700 ms",
    }
    for method in PAPER_GRID:
        seconds, _ = timed(
            lambda m=method: simulate_labeling(strata.sizes, right, 300, m, runs=RUNS), 3
        )
        show(f"one cell, K = {STRATA}, {method}", span(seconds), targets.get(method, ""))
    seconds, grid = once(
        lambda: simulate_grid(scored.score, scored.correct, 300, runs=RUNS, progress=False)
    )
    show(f"whole grid, {len(grid.table)} cells", span(seconds), "aim 8 s, limit 15 s")


# (iii) import


def fresh(code):
    """Return what a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def bench_import():
    """Time importing in fresh interpreters and name what is loaded."""
    heading(
        "(iii) import in fresh interpreters, median of 9, the modules in turn; times numpy's in brackets"
    )
    rounds = np.array(
        [[fresh(IMPORT.format(name)).split() for name in IMPORTED] for _ in range(9)], float
    )
    for what, column in (("processor time", 0), ("wall clock", 1)):
        seconds = np.median(rounds[:, :, column], axis=0)
        for name, value in zip(IMPORTED, seconds, strict=True):
            target = "wanted <= 4x" if name == "workbench" else ""
            show(f"import {name}, {what}", f"{span(value)} ({value / seconds[0]:.1f}x)", target)
    before, after = (
        set(fresh(LOADED.format(name)).split()) for name in ("scipy.special", "workbench")
    )
    print(
        "  loaded beyond scipy.special:",
        ", ".join(sorted(n for n in after - before if n[0] != "_")),
    )
    loaded = fresh(
        f"import sys, workbench; print([name for name in {HEAVY} if name in sys.modules])"
    ).strip()
    show("heavy modules loaded", loaded, "wanted []")


# (iv) the default interval


def bench_interval():
    """Time one default interval and 3,000 at once."""
    heading(f"(iv) default interval, K = {STRATA}, n = {BUDGET}")
    _, strata, right = stratified_population(SIZES[0])
    labeled = np.full(STRATA, BUDGET // STRATA)
    rows = np.random.default_rng(0).binomial(labeled, right / strata.sizes, (RUNS, STRATA))
    one, _ = timed(lambda: intervals.stratified_interval(strata.sizes, labeled, rows[0]), 51)
    show("stratified_interval, one sample", span(one), "a slider move allows 100 ms")
    many = bench_rows(strata.sizes, labeled, rows)
    show(f"default_limits, {RUNS:,} rows", span(many), "a slider move allows 100 ms")
    distinct = np.unique(rows, axis=0)
    show(
        f"default_limits, the {len(distinct):,} distinct rows",
        span(bench_rows(strata.sizes, labeled, distinct)),
    )
    even = np.random.default_rng(0).binomial(labeled, 0.7, (RUNS, STRATA))
    show(
        f"default_limits, {RUNS:,} rows, accuracy .7", span(bench_rows(strata.sizes, labeled, even))
    )


def bench_rows(size, labeled, rows):
    """Return the seconds of the limits of many outcomes."""
    return timed(
        lambda: intervals.default_limits(
            intervals.stratum_cells(size, labeled, rows), size.sum(), 0.025
        )
    )[0]


# (v) stratification


def bench_stratify():
    """Time each stratifier against one sort of the scores."""
    heading(f"(v) stratify {SIZES[1]:,} scores into {STRATA}, against one np.sort of them")
    score = scored_items.synthetic_scores("rcv1").score
    sort, _ = timed(lambda: np.sort(score))
    show("np.sort", span(sort))
    for method in STRATIFIERS:
        seconds, _ = timed(lambda m=method: stratify(score, STRATA, m), 3)
        show(method, f"{span(seconds)} {seconds / sort:5.1f}x")


def main():
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--skip-ssepy", action="store_true", help="leave out the peer that pip would install"
    )
    args = parser.parse_args()
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}; processor time, one thread")
    import sklearn.cluster  # noqa: F401  (loads its thread pool, which can be limited only then)

    with threadpool_limits(1):
        for items in SIZES:
            bench_loops(items, items == SIZES[0] and not args.skip_ssepy)
        bench_grid()
        bench_import()
        bench_interval()
        bench_stratify()


if __name__ == "__main__":
    main()
