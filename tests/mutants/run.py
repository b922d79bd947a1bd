"""Change the rooms that estimate in one place at a time, and see whether the room's own tests notice.

    python tests/mutants/run.py                          # 100 mutants a room
    python tests/mutants/run.py --mutants 10 --rooms intervals,stratified

A seed draws the places: comparisons, arithmetic, bounds of clipping, `and`, `or`, `not`, numbers, booleans. The tests
are those of `make quick` in the folder of the same name, and the room's own examples; of these, the ones that run the
changed line, the quickest first, or all where the line runs on import. What was run stays in build/mutants, under a
name made of the mutant and the file, so that a run goes on where it stopped. When the room's tests have changed, it is
run again, first with the test that killed it before, but where that test stands as it was. The table is printed and
kept in mutants.json beside this folder. A mutant that `equivalent.toml` names, with the reason why no test can tell
it, does not count.
"""

import argparse
import ast
import compileall
import concurrent.futures
import contextlib
import hashlib
import json
import multiprocessing
import os
import py_compile
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree as xml
from collections import Counter, defaultdict
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(FOLDER.parent))
from faults.run import LIMIT, copy  # noqa: E402

ROOMS = (
    "intervals",
    "stratified",
    "replication",
    "misclassification",
    "cross_validation",
    "allocation",
)
BUILD, RECORD = ROOT / "build" / "mutants", FOLDER.parent / "mutants.json"
FIRST, TRACED = (
    25,
    900,
)  # so many tests are tried before the others; seconds for a room's tests, traced
START, SLOWER = 120, 6  # seconds, and times what they took without a mutant, after which tests hang
NOTICED = r"(?m)^(FAILED|ERROR)\b(?!:)|ImportError while loading conftest"
FAILED = r"FAILED (\S+?::[\w.]+)"
LOADED = (
    "pytest",
    "hypothesis",
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "pandas",
    "sklearn.linear_model",
    "xdist",
)
GONE = 4, 5  # pytest's exit codes where there is no such test, or none of these marks
QUICK = "not kernel and not browser and not java and not slow and not full"
SIGNS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
NAMES = {
    "minimum": "maximum",
    "maximum": "minimum",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
}


def offsets(text):
    """Return where each line begins, in bytes."""
    lines = text.encode().splitlines(keepends=True)
    return [sum(map(len, lines[:k])) for k in range(len(lines) + 1)]


def places(text):
    """Yield the places (first byte, last byte, new text) of a file in which one change can be made."""
    begins, raw = offsets(text), text.encode()

    def at(node):
        return (
            begins[node.lineno - 1] + node.col_offset,
            begins[node.end_lineno - 1] + node.end_col_offset,
        )

    def between(left, right, operator):
        old, new = SIGNS[type(operator)]
        first, last = at(left)[1], at(right)[0]
        found = re.search(rf"(?<![<>=!*/]){re.escape(old)}(?![=*/])".encode(), raw[first:last])
        if found:
            yield first + found.start(), first + found.end(), new

    for node in counted(ast.parse(text)):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SIGNS:
            yield from between(node.left, node.comparators[0], node.ops[0])
        elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, ast.BoolOp):
            yield from between(*node.values[:2], node.op)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield at(node)[0], at(node)[0] + len("not "), ""
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            yield (
                *at(node),
                str(not node.value) if isinstance(node.value, bool) else f"({node.value} + 1)",
            )
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield at(node)[1] - len(node.attr), at(node)[1], NAMES[node.attr]
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield *at(node), NAMES[node.id]


def counted(node):
    """Yield the nodes whose value counts: no annotations, no text that is shown, no constants of modules of words."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise):
                yield child
                yield from counted(child)


def drawn(room, count, seed):
    """Return mutants of a room, (file, first byte, last byte, new text), in the order in which a seed draws them."""
    listed = [
        (path.relative_to(ROOT).as_posix(), *place)
        for path in sorted(ROOT.joinpath("workbench", room).rglob("*.py"))
        for place in sorted(set(places(path.read_text(encoding="utf-8"))))
    ]
    random.Random(f"{seed} {room}").shuffle(listed)
    return listed[:count]


def said(mutant):
    """Return a mutant's file, line, and the line before and after."""
    file, first, last, new = mutant
    raw = (ROOT / file).read_bytes()
    begin, end = raw.rfind(b"\n", 0, first) + 1, raw.find(b"\n", last)
    before, after = raw[begin:end], raw[begin:first] + new.encode() + raw[last:end]
    return {
        "file": file,
        "line": raw[:first].count(b"\n") + 1,
        "old": before.decode().strip(),
        "new": after.decode().strip(),
    }


def traced(room, folder):
    """Run a room's tests; return, per file and line, the tests that run it, the quickest first, and all their seconds.

    A line that runs on import has the test "".
    """
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-m",
        QUICK,
        "--cov-context=test",
        f"--cov=workbench/{room}",
        "--cov-report=",
        "--junit-xml=times.xml",
        f"tests/{room}",
        f"workbench/{room}",
    ]
    settings = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        words, cwd=folder, env=os.environ | settings, capture_output=True, text=True, timeout=TRACED
    )
    if done.returncode:
        raise SystemExit(f"without any mutant the tests of {room} fail:\n{done.stdout[-2000:]}")
    seconds = defaultdict(float)
    for case in xml.parse(folder / "times.xml").iter("testcase"):
        seconds[function(case.get("name"))] += float(case.get("time"))
    folder.joinpath("coverage.ini").write_text("[json]\nshow_contexts = true\n")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "coverage",
            "json",
            "-q",
            "--rcfile=coverage.ini",
            "-o",
            "lines.json",
        ],
        cwd=folder,
        check=True,
    )
    files = json.loads(folder.joinpath("lines.json").read_text())["files"]
    return {
        file: {
            int(line): sorted(
                {function(test.partition("|")[0]) for test in tests},
                key=lambda test: (seconds[test.partition("::")[2]], test),
            )
            for line, tests in entry["contexts"].items()
        }
        for file, entry in files.items()
    }, dict(seconds)


def function(test):
    """Return a test's name without its case."""
    return test.partition("[")[0]


def choices(mutant, lines):
    """Return the tests that may notice a mutant, in the order of trying, as pytest takes them: lists, none or two."""
    file, room = mutant[0], mutant[0].split("/")[1]
    runs = [test for line in statement(mutant) for test in lines.get(file, {}).get(line, [])]
    if "" in runs:
        return [[f"tests/{room}", f"workbench/{room}"]]
    listed = list(dict.fromkeys(runs))
    return [part for part in (listed[:FIRST], listed[FIRST:]) if part]


def statement(mutant):
    """Return the lines of the innermost statement that a mutant changes, of its head where it has a body."""
    file, first, _, _ = mutant
    raw = (ROOT / file).read_bytes()
    line = raw[:first].count(b"\n") + 1
    found = [
        node
        for node in ast.walk(ast.parse(raw))
        if isinstance(node, ast.stmt | ast.ExceptHandler) and node.lineno <= line <= node.end_lineno
    ]
    inner = max(found, key=lambda node: node.lineno)
    last = (
        min([inner.end_lineno + 1, *(part.lineno for part in getattr(inner, "body", [])[:1])]) - 1
    )
    return range(inner.lineno, max(line, last) + 1)


def patience(tests, seconds):
    """Return how many seconds tests may take before they count as hanging."""
    names = [test.partition("::")[2] for test in tests]
    return (
        min(LIMIT, START + SLOWER * sum(seconds[name] for name in names))
        if all(name in seconds for name in names)
        else LIMIT
    )


def run_tests(folder, tests, marks, limit):
    """Run tests as `python -m pytest` would; return its exit code, or None where they hang, and what it said.

    What other packages there are is loaded once and for all tests, as a process forked for each shares it.
    """
    fork, said = multiprocessing.get_context("forkserver"), folder / "said.txt"
    words = [
        "-x",
        "-q",
        "--tb=line",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        "-m",
        marks,
        *tests,
    ]
    said.unlink(missing_ok=True)
    process = fork.Process(target=pytest_alone, args=(folder, words, said))
    process.start()
    process.join(limit)
    if process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        return None, f"the tests took more than {limit:.0f} s"
    return process.exitcode, said.read_text(errors="replace")[-2000:]


def pytest_alone(folder, words, said):
    """Leave this process to pytest."""
    os.setsid()
    import pytest

    os.chdir(folder)
    with said.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ |= {
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    sys.dont_write_bytecode, sys.path[:0] = True, [str(folder)]
    sys.stdout = sys.stderr = open(1, "w", closefd=False)
    code = int(pytest.main(words))
    sys.stdout.flush()
    os._exit(code)


def planted(mutant, folder, lines, seconds, before=""):
    """Run the tests that may notice a mutant, the one that did before first; return the verdict, which, and seconds."""
    file, first, last, new = mutant
    path, began, parts = folder / file, time.monotonic(), choices(mutant, lines)
    raw, verdict, killer = path.read_bytes(), "survived", ""
    path.write_bytes(raw[:first] + new.encode() + raw[last:])
    try:
        for tests in [[before], *parts] if before else parts:
            code, output = run_tests(folder, tests, QUICK, patience(tests, seconds))
            if tests == [before] and code in GONE:
                continue
            if code and code > 0 and not re.search(NOTICED, output):
                raise RuntimeError(f"pytest ended with {code}:\n{output}")
            if code != 0:
                verdict, killer = (
                    "killed",
                    found.group(1) if (found := re.search(FAILED, output)) else "",
                )
                break
    finally:
        path.write_bytes(raw)
    return {"verdict": verdict, "killer": killer, "seconds": round(time.monotonic() - began, 1)}


def key(mutant):
    """Return the name under which a mutant's verdict is kept."""
    return digest(repr(mutant).encode(), (ROOT / mutant[0]).read_bytes()) + ".json"


def source(test):
    """Return a digest of a test's own text, of a module's if its examples are the test, or "" where there is none."""
    path = ROOT / test.partition("::")[0]
    if not path.is_file():
        return ""
    text = path.read_bytes()
    named = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == test.partition("::")[2]
    ]
    return digest(*[ast.unparse(node).encode() for node in named] or [text])


def digest(*parts):
    """Return a short name of bytes."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:24]


def equivalent():
    """Return the reasons why no test can tell a mutant, by file, old and new line."""
    path = FOLDER / "equivalent.toml"
    listed = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"] if path.exists() else []
    return {(entry["file"], entry["old"], entry["new"]): entry["why"] for entry in listed}


def row(room, options, copies):
    """Run what is missing of a room on all copies; return its row of the table."""
    end, mutants = (
        time.monotonic() + 60 * options.minutes,
        drawn(room, options.mutants, options.seed),
    )
    with lent(copies) as folder:
        lines, seconds = traced(room, folder)
        tests = digest(
            *(path.read_bytes() for path in sorted(folder.joinpath("tests", room).rglob("*.py")))
        )

    def run(mutant):
        kept = BUILD / key(mutant)
        entry = json.loads(kept.read_text()) if kept.exists() else {}
        stands = (
            entry.get("tests") == tests
            or entry.get("killer")
            and entry["source"] == source(entry["killer"])
        )
        if not stands and time.monotonic() < end:
            with lent(copies) as folder:
                entry = {"tests": tests} | planted(
                    mutant, folder, lines, seconds, entry.get("killer", "")
                )
            kept.write_text(json.dumps(entry | {"source": source(entry["killer"])}))
            stands = True
        return entry if stands else None

    with concurrent.futures.ThreadPoolExecutor(copies.qsize()) as pool:
        found = list(pool.map(run, mutants))
    reasons, verdicts, survivors = equivalent(), Counter(), []
    for mutant, entry in zip(mutants, found, strict=True):
        told = said(mutant)
        same = (
            entry
            and entry["verdict"] == "survived"
            and reasons.get((told["file"], told["old"], told["new"]))
        )
        verdicts["equivalent" if same else entry["verdict"] if entry else "not run"] += 1
        survivors += [told] if entry and entry["verdict"] == "survived" and not same else []
    return {
        "mutants": len(mutants),
        **verdicts,
        "seconds": round(sum(entry["seconds"] for entry in found if entry)),
        "survivors": survivors,
    }


@contextlib.contextmanager
def lent(copies):
    """Lend a copy of the project that nobody else uses."""
    folder = copies.get()
    try:
        yield folder
    finally:
        copies.put(folder)


def main():
    """Read the options, run, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    parser.add_argument(
        "--minutes", type=float, default=15, help="for a room, after which it is left as it is"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    multiprocessing.set_forkserver_preload(LOADED)
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as base:
        copies = queue.SimpleQueue()
        for worker in range(options.workers):
            Path(base, str(worker)).mkdir()
            copy(Path(base, str(worker)))
            compileall.compile_dir(
                Path(base, str(worker), "workbench"),
                quiet=2,
                invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH,
            )
            copies.put(Path(base, str(worker)))
        for room in options.rooms.split(","):
            found = row(room, options, copies)
            record = (json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}) | {
                room: found
            }
            tried = found["mutants"] - found.get("equivalent", 0) - found.get("not run", 0)
            print(
                f"{room:18} {found['mutants']:4} mutants, {found.get('killed', 0):4} killed, "
                f"{found.get('equivalent', 0):3} equivalent, {found.get('not run', 0):3} not run, "
                f"{found.get('killed', 0) / max(tried, 1):.0%} ({found['seconds']} s)",
                flush=True,
            )
            RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
