"""Show where samplics and svy fail on designs that the workbench takes; nothing is asserted.

    python tests/peers/replication_defects.py

Each peer gets a virtual environment of its own in the temporary folder (made once, with pip: several hundred
megabytes). What R `survey` and pyDOE3 get wrong is recorded in tests/oracles and tested.
"""

import json
import os
import subprocess
import tempfile
import venv
from pathlib import Path

import numpy as np

import workbench as wb

SAMPLICS, SVY = "samplics==0.6.1", "svy==0.35.0"
STRATA = (3, 4, 5, 8, 12, 13, 28, 29, 31, 32, 50, 64, 483)
SAMPLICS_CODE = """
import json, sys
import numpy as np
from samplics.utils.types import RepMethod
from samplics.weighting import ReplicateWeight

def weights(strata, **how):
    items = 2 * strata
    drawn = ReplicateWeight(method=RepMethod.brr, strat=True, **how)
    table = drawn.replicate(np.ones(items), np.arange(items), np.repeat(np.arange(strata), 2))
    return drawn, table

found = {}
for strata in json.loads(sys.argv[1]):
    try:
        found[strata] = weights(strata)[1].shape[1] - 3        # unit, stratum, weight
    except Exception as error:
        found[strata] = type(error).__name__ + ": " + str(error)[:60]
print(json.dumps([found, float(np.ravel(weights(3, fay_coef=.3)[0].rep_coefs)[0])]))
"""
SVY_CODE = """
import json, sys
import numpy as np, polars, svy

z = np.array(json.loads(sys.argv[1]))
def variance(units):
    strata = z.size // units
    frame = polars.DataFrame({"h": np.repeat(np.arange(strata), units), "u": np.arange(strata * units),
                              "w": np.ones(strata * units), "y": z[:strata * units]})
    sample = svy.Sample(frame, svy.Design(stratum="h", psu="u", wgt="w")).weighting.create_brr_wgts(rep_prefix="r")
    return sample.estimation.total("y", method="replication", variance_center="estimate").estimates[0].se**2

found = {}
for units in (2, 3, 4, 5):
    try:
        found[units] = variance(units)
    except Exception as error:
        found[units] = type(error).__name__ + ": " + " ".join(str(error).split())[:90]
print(json.dumps(found))
"""


def python_with(package):
    """Return the interpreter of a peer's environment, made on first use."""
    home = Path(tempfile.gettempdir()) / f"workbench-bench-{package.replace('==', '-')}"
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
                package,
            ],
            check=True,
        )
        (home / "ready").touch()
    return python


def run(package, code, argument):
    """Return what the peer prints last."""
    found = subprocess.run(
        [python_with(package), "-W", "ignore", "-c", code, json.dumps(argument)],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(found.stdout.splitlines()[-1])


def show_samplics():
    """Print for how many strata samplics makes half-samples, and its coefficients of Fay."""
    print(f"{SAMPLICS}, half-samples of L strata with two units")
    found, coefficient = run(SAMPLICS, SAMPLICS_CODE, STRATA)
    for strata in STRATA:
        drawn = wb.replicates(wb.SurveyDesign(np.repeat(np.arange(strata), 2)))
        print(f"  L = {strata:3}: workbench {drawn.count:3}, samplics {found[str(strata)]}")
    ours = wb.replicates(wb.SurveyDesign([1, 1, 2, 2, 3, 3]), "fay", rho=0.3).coefficients[0]
    print(f"  coefficients of Fay, rho .3, L = 3: workbench {ours:.4f}, samplics {coefficient:.4f}")


def show_svy():
    """Print the variance of a total by svy, which pairs units, over the textbook's."""
    print(f"{SVY}, variance of a total over the textbook's, n units per stratum")
    z = np.random.default_rng(0).normal(size=60)
    found = run(SVY, SVY_CODE, z.tolist())
    for n in (2, 3, 4, 5):
        y = z[: 60 // n * n]
        exact = (n * y.reshape(-1, n).var(1, ddof=1)).sum()
        drawn = wb.replicates(wb.SurveyDesign(np.repeat(np.arange(y.size // n), n)))
        theirs = found[str(n)] if isinstance(found[str(n)], str) else f"{found[str(n)] / exact:.4f}"
        print(
            f"  n = {n}: workbench {wb.replicate_estimate(drawn, 'total', y).variance / exact:.4f}, svy {theirs}"
        )


if __name__ == "__main__":
    show_samplics()
    show_svy()
