"""Measure every tool on the same samples, and write down what covers, how wide it is, and what fails.

    python tests/peers/scoreboard/run.py                      # environments, checks, cells, record and page
    python tests/peers/scoreboard/run.py --runs 100 --seconds 2 --tools evalci,judgy
    python tests/peers/scoreboard/run.py --seed 2 --runs 200 --our-runs 200 --compare
    python tests/peers/scoreboard/run.py --tools workbench --only Q3,Q6c --update

Each tool runs in an environment of its own in build/scoreboard, with one thread, as many tools at once as there are
cores. The cells stay there: a second run goes on where the first one stopped. `--compare` sets a second seed beside the
record and writes nothing. `--update` puts the rows of these tools and questions into the record.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from importlib import metadata
from pathlib import Path

import page
import r_calls
from questions import QUESTIONS, SEED, said

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
BUILD = ROOT / "build" / "scoreboard"
RECORD = FOLDER.parent / "scoreboard.json"
TOOLS = tomllib.loads((FOLDER / "tools.toml").read_text(encoding="utf-8"))
OURS, TEXTBOOK = "workbench", "textbook"
ROOMS = (
    "intervals",
    "stratified",
    "allocation",
    "replication",
    "misclassification",
    "cross_validation",
    "comparisons",
)
THREADS = {
    name: "1"
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "RAYON_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "TQDM_DISABLE",
    )
}
OUR_RUNS, OUR_SECONDS = 2_000, 240


def our_version():
    """Return what stands for a version of the rooms that estimate: a digest of their text."""
    files = sorted(
        path for room in ROOMS for path in ROOT.joinpath("workbench", room).rglob("*.py")
    )
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def python_of(tool):
    """Return the interpreter of a tool's environment, made where it is missing, or the error that says why not."""
    if tool in (OURS, TEXTBOOK):
        return sys.executable, ""
    if "r" in TOOLS[tool]:
        missing = r_calls.installed(tool) != TOOLS[tool]["r"]
        return (
            (None, f"needs R with {tool} {TOOLS[tool]['r']}") if missing else (sys.executable, "")
        )
    folder = BUILD / "env" / tool
    python, whole = folder / "bin" / "python", folder / "whole"
    if whole.exists():
        return str(python), ""
    shutil.rmtree(folder, ignore_errors=True)
    named = f"python{TOOLS[tool]['python']}" if "python" in TOOLS[tool] else sys.executable
    if (
        not shutil.which(named)
        or subprocess.run(
            [named, "-m", "venv", "--without-pip", folder], stderr=subprocess.DEVNULL
        ).returncode
    ):
        return None, f"needs {Path(named).name}"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-compile",
            *TOOLS[tool]["requires"],
        ],
        text=True,
        capture_output=True,
    )
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    whole.touch()
    return str(python), ""


def measured(tool, python, options):
    """Check a tool's adapter on fixed inputs, measure its cells, and return the cells' files."""
    version = {
        OURS: ["--version", our_version()],
        TEXTBOOK: ["--version", metadata.version("scipy")],
    }.get(tool, [])
    if "r" in TOOLS.get(tool, {}):
        version = ["--version", pinned(tool)]
    words = [python, str(FOLDER / "measure.py"), tool]
    runs, seconds = (
        (options.our_runs, options.our_seconds) if tool == OURS else (options.runs, options.seconds)
    )
    done = subprocess.run(
        [
            *words,
            "--cells",
            str(BUILD / "cells"),
            "--runs",
            str(runs),
            "--seconds",
            str(seconds),
            "--seed",
            str(options.seed),
            "--only",
            options.only,
            *version,
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | THREADS,
    )
    return [line for line in done.stdout.splitlines() if line.endswith(".json")]


def cell(sums):
    """Return what a cell's sums say."""
    n, k, answered = sums["runs"], sums["covered"], sums["answered"]
    p = k / n
    width = sums["width"] / answered if answered and sums["width"] else None
    spread = (max(sums["squares"] / answered - width**2, 0) / answered) ** 0.5 if width else None
    return {
        "runs": n,
        "coverage": round(p, 4),
        "error": round((max(p * (1 - p), 1 / n) / n) ** 0.5, 4),
        "of_answered": round(k / answered, 4) if answered else None,
        "width": width and round(width, 5),
        "width_error": spread and round(spread, 5),
        **{
            name: round(sums[name] / n, 4)
            for name in ("refused", "crashed", "zero", "outside", "below", "above")
            if sums[name]
        },
        "milliseconds": round(1e3 * sums["seconds"] / n, 3),
        **({"said": sums["said"]} if sums["said"] else {}),
    }


def rows(files):
    """Return the cells by question, tool and row, in the order of the settings."""
    table = defaultdict(lambda: defaultdict(dict))
    for name in files:
        kept = json.loads((BUILD / "cells" / name).read_text())
        if kept["sums"]["runs"]:
            key = kept["tool"], kept["row"]
            table[kept["question"]][key]["address"] = kept["address"]
            table[kept["question"]][key].setdefault("cells", {})[kept["setting"]] = cell(
                kept["sums"]
            )
    return {
        name: [{"tool": tool, "row": row, **entry} for (tool, row), entry in table[name].items()]
        for name in QUESTIONS
        if name in table
    }


def record(options):
    """Measure the tools, the one with the most runs first; return the record."""
    (BUILD / "cells").mkdir(parents=True, exist_ok=True)
    listed, tools = options.tools.split(",") if options.tools else [OURS, TEXTBOOK, *TOOLS], {}

    def cells_of(tool):
        began = time.monotonic()
        found = measured(tool, pythons[tool][0], options) if pythons[tool][0] else []
        print(f"{tool}: {pythons[tool][1] or f'{time.monotonic() - began:.0f} s'}", flush=True)
        return found

    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        began = time.monotonic()
        pythons = dict(zip(listed, pool.map(python_of, listed), strict=True))
        print(f"environments: {time.monotonic() - began:.0f} s", flush=True)
        files = [name for names in pool.map(cells_of, listed) for name in names]
    for tool, (_, problem) in pythons.items():
        tools[tool] = {
            "version": {
                OURS: metadata.version("evaluation-workbench"),
                TEXTBOOK: f"scipy {metadata.version('scipy')}",
            }.get(tool)
            or pinned(tool),
            **({"not installed": problem} if problem else {}),
            **({"home": TOOLS[tool]["home"]} if tool in TOOLS else {}),
        }
    questions = {
        name: {
            "title": question.title,
            "estimand": question.estimand,
            "settings": [said(setting) for setting in question.settings(name)],
            **({"note": question.note} if question.note else {}),
        }
        for name, question in QUESTIONS.items()
    }
    found = {
        "date": datetime.date.today().isoformat(),
        "seed": options.seed,
        "tools": tools,
        "questions": questions,
        "rows": rows(files),
    }
    return page.judged(found)


def pinned(tool):
    """Return the version that a tool's requirement names."""
    if "r" in TOOLS[tool]:
        return TOOLS[tool]["r"]
    return next(part for part in TOOLS[tool]["requires"] if part.startswith(f"{tool}==")).partition(
        "=="
    )[2]


def updated(old, new):
    """Return the old record with the rows of the tools and questions that the new one measured."""
    order, table = [OURS, TEXTBOOK, *TOOLS], {}
    for name in new["questions"]:
        rows = new["rows"].get(name, [])
        measured_tools = {row["tool"] for row in rows}
        kept = [row for row in old["rows"].get(name, []) if row["tool"] not in measured_tools]
        if kept + rows:
            table[name] = sorted(kept + rows, key=lambda row: order.index(row["tool"]))
    return page.judged(new | {"tools": old["tools"] | new["tools"], "rows": table})


def compare(old, new):
    """Print how many cells of two seeds differ by more than three of their errors."""
    pairs = [
        (first["cells"][setting], second)
        for name, rows in new["rows"].items()
        for row in rows
        for first in old["rows"][name]
        if (first["tool"], first["row"]) == (row["tool"], row["row"])
        for setting, second in row["cells"].items()
        if setting in first["cells"]
    ]
    far = [
        abs(a["coverage"] - b["coverage"]) > 3 * (a["error"] ** 2 + b["error"] ** 2) ** 0.5
        for a, b in pairs
    ]
    print(f"{sum(far)} of {len(far)} cells differ by more than three errors")


def main():
    """Read the options, measure, and write the record and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--our-runs", type=int, default=OUR_RUNS)
    parser.add_argument(
        "--seconds", type=float, default=20, help="processor time that a cell may take"
    )
    parser.add_argument("--our-seconds", type=float, default=OUR_SECONDS)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--tools", default="", help="measure these alone, write nothing")
    parser.add_argument("--only", default="", help="questions, as Q1,Q3; write nothing")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument(
        "--update", action="store_true", help="put the measured rows into the record"
    )
    options = parser.parse_args()
    if options.update and options.seed != SEED:
        parser.error(f"--update adds to a record of seed {SEED}; leave out --seed")
    found = record(options)
    if options.compare:
        compare(json.loads(RECORD.read_text(encoding="utf-8")), found)
        return
    if options.update:
        found = updated(json.loads(RECORD.read_text(encoding="utf-8")), found)
    if options.update or not (options.tools or options.only):
        RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        page.write(found, ROOT / "docs" / "evidence")


if __name__ == "__main__":
    main()
