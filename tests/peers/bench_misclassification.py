"""Time misclassification correction against QuaPy and against its own targets, as ratios of one run.

    python tests/peers/bench_misclassification.py                # all tables, about a minute
    python tests/peers/bench_misclassification.py --skip-quapy

QuaPy 0.2.3 needs much that the workbench does not, so it gets a virtual environment of its own in the temporary folder
(made once, with pip). Its instance-level loop would take minutes: a few audits are timed and multiplied. Times are
processor time with one thread. Every figure stands beside its target; nothing is asserted.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

import workbench as wb
from workbench.misclassification import methods
from workbench.simulations.misclassification import PAPER_STUDIES

RUNS, ITEMS, AUDITED = 10_000, 10_000, 1000
QUAPY = "quapy==0.2.3"
LOOP_RUNS = 40
LOOP = f"""
import json, sys, time
import numpy as np
from quapy.method.aggregative import ACC
from sklearn.linear_model import LogisticRegression

tables, frames = (np.array(x) for x in json.load(open(sys.argv[1])))
trained = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
cells = np.arange(4)

def instances(table, counts):
    truth, prediction = np.divmod(np.repeat(cells, table.ravel()), 2)
    quantifier = ACC(trained, fit_classifier=False, val_split=None, solver="exact-raise", norm=None)
    quantifier.aggregation_fit(prediction, truth)
    return quantifier.aggregate(np.repeat([0, 1], counts))[1]

def counted(table, counts):
    rates = (table / table.sum(1, keepdims=True)).T
    return ACC.solve_adjustment(rates, counts / counts.sum(), method="inversion", solver="exact-raise")[1]

found = []
for function, runs in ((instances, {LOOP_RUNS}), (counted, len(tables))):
    function(tables[0], frames[0])
    began = time.process_time()
    estimates = [float(function(table, counts)) for table, counts in zip(tables[:runs], frames[:runs])]
    found.append([(time.process_time() - began) / runs, estimates])
print(json.dumps(found))
"""


def timed(function, repeats=9):
    """Return the median seconds of a call and the last result; the first call is not counted."""
    result, seconds = function(), []
    for _ in range(repeats):
        began = time.process_time()
        result = function()
        seconds.append(time.process_time() - began)
    return statistics.median(seconds), result


def show(what, figure, target=""):
    """Print one figure beside its target."""
    print(f"  {what:62} {figure:>12}   {target}", flush=True)


def span(seconds):
    """Return seconds as text in a fitting unit."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def quapy_python():
    """Return the interpreter of QuaPy's environment, made on first use."""
    home = Path(tempfile.gettempdir()) / "workbench-bench-quapy-0.2.3"
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        subprocess.run(
            [
                python,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--quiet",
                "--disable-pip-version-check",
                QUAPY,
            ],
            check=True,
        )
        (home / "ready").touch()
    return python


def bench_quapy(study):
    """Time exact ACC by QuaPy, by items and by counts, on the same audits."""
    print(f"\n(i) exact ACC, {RUNS:,} audits of {AUDITED:,}, {ITEMS:,} items")
    shares = np.stack([1 - study.share, study.share], 1)
    ours, estimates = timed(
        lambda: methods.shares_of("misclassification", study.table, None, shares)[:, 1]
    )
    show("misclassification, all audits", span(ours))
    counts = np.rint(shares * ITEMS).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "audits.json"
        path.write_text(json.dumps([study.table.tolist(), counts.tolist()]))
        text = subprocess.run(
            [quapy_python(), "-W", "ignore", "-c", LOOP, path],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        ).stdout
    (loop, few), (call, all_of_them) = json.loads(text)
    show(f"QuaPy by items, extrapolated from {LOOP_RUNS} audits", span(loop * RUNS))
    show("QuaPy by items / ours", f"{loop * RUNS / ours:,.0f}x", "wanted >= 1,000x")
    show("QuaPy by counts", span(call * RUNS))
    show("QuaPy by counts / ours", f"{call * RUNS / ours:,.0f}x", "wanted >= 5x")
    largest = max(np.abs(estimates - all_of_them).max(), np.abs(estimates[:LOOP_RUNS] - few).max())
    show("largest difference of an estimate", f"{largest:.1e}", "wanted <= 1e-12")


def bench_studies():
    """Time studies of seven estimators, and a figure of the paper."""
    print(f"\n(ii) studies: {RUNS:,} audits, seven estimators, 300,000 items")
    for base, p00, p11 in PAPER_STUDIES:
        seconds, _ = timed(
            lambda s=(base, p00, p11): wb.simulate_prevalence(s[0], 0.8, *s[1:], AUDITED, 300_000)
        )
        show(f"one new base rate, {base}, {p00}, {p11}", span(seconds), "wanted <= 20 ms")
    rates = np.linspace(0.1, 0.95, 18)
    seconds, _ = timed(lambda: wb.simulate_shifts(0.75, rates, 0.85, 0.9, AUDITED, 300_000), 3)
    show("18 new base rates, the same audits", span(seconds), "wanted <= 0.3 s")
    seconds, _ = timed(
        lambda: [wb.simulate_prevalence(0.75, t, 0.85, 0.9, AUDITED, 300_000) for t in rates], 3
    )
    show("18 new base rates, fresh audits", span(seconds), "wanted <= 0.3 s")


def bench_series():
    """Time what a report asks of a series: levels, changes, growth rates, headline."""
    print("\n(iii) one series, all its tables")
    rng = np.random.default_rng(0)
    for classes, periods, target in ((2, 120, ""), (5, 12, ""), (5, 120, "wanted well under 15 s")):
        rates = 0.8 * np.eye(classes) + 0.2 / classes
        table = np.rint(2000 / classes * rates).astype(int)
        frame = table.sum(0) * 20
        months = {m: rng.multinomial(20_000, frame / frame.sum()) for m in range(periods)}

        def report(table=table, frame=frame, months=months):
            series = wb.prevalence_series(wb.ConfusionCounts(table), frame, months)
            return series.levels(), series.changes(), series.growth_rates(), series.headline()

        seconds, _ = timed(report, 3)
        show(f"{periods} periods, {classes} classes", span(seconds), target)
    audit = wb.ConfusionCounts([[331, 18], [7, 44]])
    seconds, _ = timed(lambda: wb.estimate_prevalence(audit, [4191, 809], [1579, 218]).interval())
    show("one estimate with its interval", span(seconds), "a slider move allows 100 ms")
    seconds, _ = timed(lambda: wb.estimator_theory(0.5, 0.4, 0.6, 0.7, 1000))
    show("one theory", span(seconds), "a slider move allows 100 ms")


def main():
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--skip-quapy", action="store_true", help="leave out the peer that pip would install"
    )
    args = parser.parse_args()
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}; processor time")
    if not args.skip_quapy:
        bench_quapy(wb.simulate_prevalence(0.75, 0.5, 0.85, 0.9, AUDITED, ITEMS, runs=RUNS))
    bench_studies()
    bench_series()


if __name__ == "__main__":
    main()
