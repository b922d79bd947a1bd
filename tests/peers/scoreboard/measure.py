"""Measure one tool, within its own environment: coverage, width, failures and time on every setting of each question.

    ENVIRONMENT/bin/python measure.py TOOL --cells FOLDER --runs 400 --seconds 20
    ENVIRONMENT/bin/python measure.py TOOL --check        # the adapter's answers on fixed inputs alone

A cell is a row (a call of the tool) on a setting. Its file keeps sums over the runs, under a name made of the tool's
version, the setting, and the code: what a call or a question says anew is measured anew, everything else goes on where
it stopped. A run is refused where the tool raises ValueError or answers with no finite interval, and crashed where it
raises anything else; neither covers.
"""

import argparse
import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import math
import sys
import time
import warnings
from pathlib import Path

import fixed
import numpy as np
from questions import QUESTIONS, SEED, said

FOLDER = Path(__file__).parent
LEVEL, NEAR = 0.05, 1e-9
ZERO = {
    "runs": 0,
    "covered": 0,
    "answered": 0,
    "width": 0.0,
    "squares": 0.0,
    "zero": 0,
    "outside": 0,
    "below": 0,
    "above": 0,
    "refused": 0,
    "crashed": 0,
    "seconds": 0.0,
    "said": "",
}


def adapter(tool):
    """Return the module that calls a tool, with its text."""
    path = FOLDER / "adapters" / f"{tool.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location("calls", path)
    module = importlib.util.module_from_spec(spec)
    module.TEXT = path.read_text(encoding="utf-8")
    spec.loader.exec_module(module)
    return module


def code(module, question):
    """Return what decides a cell's numbers, as text; the fixed inputs at an adapter's end do not."""
    helpers = [
        part
        for name, part in vars(fixed).items()
        if inspect.isfunction(part) and name in module.TEXT
    ]
    parts = (question.make, *question.uses, judged, *helpers)
    return module.TEXT.partition("\nCHECKED")[0] + "".join(map(inspect.getsource, parts))


def judged(answer, truth, bounds):
    """Return the sums that one answer adds: limits, a p-value of no difference, or who is better than whom."""
    if np.ndim(answer) == 2:
        better = np.asarray(answer, bool)
        wrong = better & (truth[:, None] <= truth[None, :] + NEAR)
        return {
            "answered": 1,
            "covered": int(not wrong.any()),
            "width": float(np.mean(len(truth) - better.sum(0) - better.sum(1))),
        }
    if np.ndim(answer) == 0:
        return (
            {"answered": 1, "covered": int(answer >= LEVEL)}
            if math.isfinite(answer)
            else {"refused": 1}
        )
    low, high = (float(np.squeeze(limit)) for limit in answer)
    if not math.isfinite(low + high):
        return {"refused": 1}
    least, most = bounds or (low, high)
    return {
        "answered": 1,
        "covered": int(low - NEAR <= truth <= high + NEAR),
        "width": high - low,
        "zero": int(high - low <= 1e-12),
        "outside": int(low < least - NEAR or high > most + NEAR),
        "below": int(high + NEAR < truth),
        "above": int(low - NEAR > truth),
    }


def run(sums, call, sample, bounds):
    """Add one run to the sums."""
    clock = getattr(call, "clock", time.process_time)  # of what another process computes
    before = clock()
    try:
        answer = call(sample)
        added = {"refused": 1} if answer is None else judged(answer, sample.truth, bounds)
    except ValueError as error:
        added, sums["said"] = {"refused": 1}, f"{error}"[:160]
    except Exception as error:  # whatever a tool raises is what is counted
        added, sums["said"] = {"crashed": 1}, f"{type(error).__name__}: {error}"[:160]
    sums["seconds"] += clock() - before
    sums["squares"] += added.get("width", 0.0) ** 2
    for key, value in (added | {"runs": 1}).items():
        sums[key] += value


def measured(sums, call, question, setting, options):
    """Add runs until there are enough of them, or the cell's time is spent."""
    for sample in question.draws(setting, options.seed, sums["runs"], options.runs):
        run(sums, call, sample, question.bounds)
        if sums["seconds"] > options.seconds:
            break
    return sums


def asked(call, question, setting, seed):
    """Return whether a call answers a setting."""
    return getattr(call, "answers", lambda sample: True)(next(question.draws(setting, seed, 0, 1)))


def test_of_zero(call):
    """Mark a call that returns a p-value of no difference alone: it says nothing where there is one."""
    call.answers = lambda sample: sample.truth == 0
    return call


def of_metric(metric):
    """Mark a call that compares two models by one metric."""

    def mark(call):
        others = getattr(call, "answers", lambda sample: True)
        call.answers = lambda sample: sample.metric == metric and others(sample)
        return call

    return mark


def with_bounds(call):
    """Mark a call that needs the bounds of the values, where somebody could know them."""
    call.answers = lambda sample: sample.bounds is not None
    return call


def cells(tool, options):
    """Measure every cell of a tool, and keep each in its file."""
    module, version = adapter(tool), options.version or importlib.metadata.version(tool)
    for (name, row), (call, address) in module.ROWS.items():
        question = QUESTIONS[name]
        if options.only and name not in options.only.split(","):
            continue
        for setting in filter(
            lambda setting: asked(call, question, setting, options.seed), question.settings(name)
        ):
            text = json.dumps(
                [tool, version, name, row, said(setting), options.seed, code(module, question)]
            )
            path = Path(options.cells, hashlib.sha256(text.encode()).hexdigest()[:24] + ".json")
            cell = (
                json.loads(path.read_text())
                if path.exists()
                else {
                    "question": name,
                    "tool": tool,
                    "version": version,
                    "row": row,
                    "address": address,
                    "setting": said(setting),
                    "seed": options.seed,
                    "sums": dict(ZERO),
                }
            )
            if cell["sums"]["runs"] < options.runs and cell["sums"]["seconds"] <= options.seconds:
                measured(cell["sums"], call, question, setting, options)
                path.write_text(json.dumps(cell))
            print(path.name, flush=True)


def check(tool):
    """Compare answers on fixed inputs with what the documentation prints, or with a value worked out by hand."""
    for source, answer, wanted, near in adapter(tool).CHECKED:
        found = np.asarray(answer(), float)
        if not np.allclose(found, wanted, rtol=0, atol=near):
            raise SystemExit(f"{tool}: {found}, wanted {wanted}: {source}")
        print(f"{tool}: {source}", file=sys.stderr)


def main():
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--cells", default=".")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument(
        "--seconds", type=float, default=20, help="processor time that a cell may take"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", help="questions, as Q1,Q3")
    parser.add_argument("--version", default="", help="of what has no version of its own")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    check(options.tool)
    if not options.check:
        cells(options.tool, options)


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER))
    main()
