"""Time replicate variance against svy, R `survey` and the textbook's closed form, as ratios of one run.

    python tests/peers/bench_replication.py            # both tables, under two minutes
    python tests/peers/bench_replication.py --skip-svy

svy gets a virtual environment of its own in the temporary folder (made once, with pip); R is timed where Rscript
and its package survey are installed. Every program runs in a fresh process with one thread, on the same data, and
prints processor time and the memory it needed above what it held before, with the data loaded. Every figure
stands beside its target; nothing is asserted.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

SVY = "svy==0.35.0"
THREADS = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "RAYON_NUM_THREADS",
    )
}
LARGE, WHOLE = (2000, 4, 50), (483, 2, 2)  # strata, units per stratum, variables
CLOCK = """
import json, resource, statistics, sys, time
import numpy as np

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)

def now():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1024**2

def timed(function, repeats):
    before, seconds = now() if sys.platform == "linux" else peak(), []
    for _ in range(repeats):
        began = time.process_time()
        result = function()
        seconds.append(time.process_time() - began)
    return dict(result, first=seconds[0], median=statistics.median(seconds), fastest=min(seconds),
                memory=peak() - before)

data = np.load(sys.argv[1])
stratum, weight, values = data["stratum"], data["weight"], data["values"]
"""
OURS_LARGE = (
    CLOCK
    + """
import workbench as wb
wb.replicate_estimate(wb.replicates(wb.SurveyDesign([1, 1, 2, 2])), "mean", [1, 2, 3, 4])

def transform():
    drawn = wb.replicates(wb.SurveyDesign(stratum, weight=weight))
    misses = drawn.totals(values) - weight @ values
    return {"replicates": drawn.count, "variances": (drawn.coefficients @ misses**2).tolist()}

def one_by_one():
    drawn = wb.replicates(wb.SurveyDesign(stratum, weight=weight))
    found = [wb.replicate_estimate(drawn, "total", y).variance for y in values.T]
    return {"replicates": drawn.count, "variances": found}

def textbook():
    z = (weight[:, None] * values).reshape(len(set(stratum.tolist())), -1, values.shape[1])
    return {"replicates": 0, "variances": (z.shape[1] * z.var(1, ddof=1)).sum(0).tolist()}

print(json.dumps(timed(globals()[sys.argv[2]], 9)))
"""
)
OURS_WHOLE = (
    CLOCK
    + """
import workbench as wb
wb.replicate_estimate(wb.replicates(wb.SurveyDesign([1, 1, 2, 2])), "mean", [1, 2, 3, 4])

def whole():
    drawn = wb.replicates(wb.SurveyDesign(stratum, weight=weight))
    mean = wb.replicate_estimate(drawn, "mean", values[:, 0])
    ratio = wb.replicate_estimate(drawn, "ratio", values[:, 0], values[:, 1])
    return {"replicates": drawn.count, "variances": [mean.variance, ratio.variance]}

print(json.dumps(timed(whole, 25)))
"""
)
SVY_START = (
    CLOCK
    + """
import polars, svy
frame = polars.DataFrame({"stratum": stratum, "unit": np.arange(len(stratum)), "weight": weight,
                          **{f"y{j}": y for j, y in enumerate(values.T)}})

def replicated(rows):
    design = svy.Design(stratum="stratum", psu="unit", wgt="weight")
    return svy.Sample(frame[:rows], design).weighting.create_brr_wgts(rep_prefix="r")

how = {"method": "replication", "variance_center": "estimate"}
replicated(40).estimation.mean("y0", **how)
"""
)
SVY_LARGE = (
    SVY_START
    + """
def whole():
    sample = replicated(len(stratum))
    found = sample.estimation.total([f"y{j}" for j in range(values.shape[1])], **how)
    return {"replicates": sample.n_reps, "variances": [e.estimates[0].se**2 for e in found]}

print(json.dumps(timed(whole, 1)))
"""
)
SVY_WHOLE = (
    SVY_START
    + """
def whole():
    sample = replicated(len(stratum))
    found = sample.estimation.mean("y0", **how), sample.estimation.ratio("y0", "y1", **how)
    return {"replicates": sample.n_reps, "variances": [e.estimates[0].se**2 for e in found]}

print(json.dumps(timed(whole, 25)))
"""
)
R_WHOLE = """
suppressPackageStartupMessages(library(survey))
data <- read.csv(commandArgs(TRUE)[1])
whole <- function() {
  design <- as.svrepdesign(svydesign(~1, strata = ~stratum, weights = ~weight, data = data), type = "BRR", mse = TRUE)
  c(ncol(design$repweights), SE(svymean(~y0, design))^2, SE(svyratio(~y0, ~y1, design))^2)
}
invisible(whole())
seconds <- sapply(1:7, function(i) sum(system.time(whole(), gcFirst = FALSE)[1:2]))
cat(sprintf("%.17g ", c(whole(), seconds[1], median(seconds), min(seconds))))
"""


def sample(strata, units, variables):
    """Return stratum, weight and values of one item per unit, stratum by stratum."""
    rng = np.random.default_rng(0)
    stratum = np.repeat(np.arange(strata), units)
    values = rng.normal(3, 1, (stratum.size, variables)) + rng.normal(size=strata)[stratum, None]
    return {
        "stratum": stratum,
        "weight": np.repeat(rng.lognormal(size=strata), units),
        "values": values,
    }


def run(python, code, path, *what):
    """Return what a fresh interpreter measures."""
    command = [python, "-W", "ignore", "-c", code, path, *what]
    found = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | THREADS
    )
    return json.loads(found.stdout.splitlines()[-1])


def svy_python():
    """Return the interpreter of svy's environment, made on first use."""
    home = Path(tempfile.gettempdir()) / f"workbench-bench-{SVY.replace('==', '-')}"
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
                SVY,
            ],
            check=True,
        )
        (home / "ready").touch()
    return python


def r_survey(data, folder):
    """Return what R measures, or None without Rscript or survey."""
    rscript = shutil.which("Rscript")
    if (
        not rscript
        or subprocess.run([rscript, "-e", "library(survey)"], capture_output=True).returncode
    ):
        return None
    path = folder / "items.csv"
    columns = [data["stratum"], data["weight"], *data["values"].T]
    np.savetxt(
        path,
        np.stack(columns, 1),
        delimiter=",",
        header="stratum,weight,y0,y1",
        comments="",
        fmt="%.17g",
    )
    text = subprocess.run(
        [rscript, "-e", R_WHOLE, path],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | THREADS,
    ).stdout
    replicates, mean, ratio, *seconds = map(float, text.split())
    return {
        "replicates": int(replicates),
        "variances": [mean, ratio],
        "memory": float("nan"),
        **dict(zip(("first", "median", "fastest"), seconds, strict=True)),
    }


def table(rows, exact, ours, title):
    """Print replicates, times, memory, ratio to ours and how far the variances are from `exact`."""
    print(
        f"  {'':34}{'replicates':>11}{'first':>10}{'median':>10}{'memory':>9}{'/ ours':>9}   {title}"
    )
    for name, row in rows.items():
        ratio = np.divide(row["variances"], exact)
        off = abs(ratio - 1).max()
        spread = f"1 within {off:.0e}" if off < 1e-6 else f"{ratio.min():.3f} to {ratio.max():.3f}"
        memory = "" if np.isnan(row["memory"]) else f"{row['memory']:.0f} MB"
        print(
            f"  {name:34}{row['replicates']:11,}{span(row['first']):>10}{span(row['median']):>10}{memory:>9}"
            f"{row['median'] / ours['median']:8.3g}x   {spread}"
        )


def span(seconds):
    """Return seconds as text in a fitting unit."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def bench_large(folder, with_svy):
    """Time 50 totals of 2,000 strata of 4."""
    print(
        "\n(a) 2,000 strata of 4 units, 50 totals and their variances, design and replicates included",
        flush=True,
    )
    path = folder / "large.npz"
    np.savez(path, **sample(*LARGE))
    transform, one_by_one, textbook = (
        run(sys.executable, OURS_LARGE, path, function)
        for function in ("transform", "one_by_one", "textbook")
    )
    rows = {"Replicates.totals, 50 at once": transform, "replicate_estimate, 50 calls": one_by_one}
    if with_svy:
        rows["svy (pairs units)"] = run(svy_python(), SVY_LARGE, path)
    table(
        rows | {"closed form, totals only": textbook},
        textbook["variances"],
        transform,
        "variance / textbook",
    )
    print("  wanted: ours <= 100 ms and <= 150 MB, exact; svy >= 100x")


def bench_whole(folder, with_svy):
    """Time design, replicates, a mean and a ratio of 483 strata of 2."""
    print(
        "\n(b) 483 strata of 2 units: design, replicates, a mean and a ratio with their variances",
        flush=True,
    )
    path, data = folder / "whole.npz", sample(*WHOLE)
    np.savez(path, **data)
    ours = run(sys.executable, OURS_WHOLE, path)
    rows = {"workbench": ours}
    if with_svy:
        rows["svy"] = run(svy_python(), SVY_WHOLE, path)
    if found := r_survey(data, folder):
        rows["R survey"] = found
    table(rows, ours["variances"], ours, "variance / ours")
    print("  wanted: svy >= 10x. The ratio's variance depends on which column serves which stratum")


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--skip-svy", action="store_true", help="leave out the peer that pip would install"
    )
    args = parser.parse_args()
    print(
        f"python {sys.version.split()[0]}, numpy {np.__version__}; processor time, one thread, fresh processes"
    )
    with tempfile.TemporaryDirectory() as name:
        bench_large(Path(name), not args.skip_svy)
        bench_whole(Path(name), not args.skip_svy)


if __name__ == "__main__":
    main()
