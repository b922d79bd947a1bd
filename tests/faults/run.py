"""Plant each fault of this folder in a copy of the project, and see that the tests it names fail.

    python tests/faults/run.py                  # all of them
    python tests/faults/run.py holm tail        # those whose name holds one of these words

A fault is a patch of a few lines against workbench/. Its first line names the tests that must catch it, as pytest takes
them: `# tests: tests/test_intervals.py::test_a_census_is_exact`. Without faults all of these tests must pass.
"""
import concurrent.futures
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PARTS = ("workbench", "tests", "notebooks", "pyproject.toml", "README.md", "CHANGELOG.md", "setup.py", "Makefile")
FAILED = 1      # pytest's exit code where tests ran and some failed
LIMIT = 300


def faults(words=()):
    """Return the patches whose name holds one of the words, or all."""
    return [path for path in sorted(FOLDER.glob("*.patch")) if not words or any(word in path.stem for word in words)]


def named_tests(patch):
    """Return the tests that must catch a fault."""
    first = patch.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# tests: ").split()


def git_apply(patch, folder, *options):
    """Apply a patch in a folder; return what git has against it, or ''."""
    done = subprocess.run(["git", "apply", *options, str(patch)], cwd=folder, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


def run_tests(folder, tests):
    """Run tests in a copy of the project; return pytest's exit code and the end of what it said."""
    settings = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run([*words, *tests], cwd=folder, capture_output=True, text=True, timeout=LIMIT,
                              env=os.environ | settings)
    except subprocess.TimeoutExpired:
        return None, f"the tests took more than {LIMIT} s"
    return done.returncode, done.stdout[-2000:] + done.stderr[-2000:]


def planted(patch, folder):
    """Plant one fault, and return why it is not caught, or ''."""
    problem = git_apply(patch, folder)
    if problem:
        return f"does not apply: {problem}"
    try:
        _touch(patch, folder)
        code, said = run_tests(folder, named_tests(patch))
    finally:
        undone = git_apply(patch, folder, "--reverse")
        _touch(patch, folder)
    if code in (0, None, FAILED):
        return {0: "is not caught", None: said, FAILED: undone}[code]
    return f"its tests could not be run:\n{said}"


def _touch(patch, folder):
    """Give patched files a time of their own, so that no bytecode of another version is taken for theirs."""
    lines = patch.read_text(encoding="utf-8").splitlines()
    for name in (line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")):
        stamp = time.time_ns() + 10 ** 10 * (1 + int.from_bytes(os.urandom(2)))
        os.utime(folder / name, ns=(stamp, stamp))


def copy(folder):
    """Copy what the tests need."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy2(ROOT / part, folder / part)


def main(words):
    """Plant all faults on all cores; return the exit code."""
    start, patches, workers = time.monotonic(), faults(words), os.cpu_count() or 1
    every = dict.fromkeys(test for patch in patches for test in named_tests(patch))
    with tempfile.TemporaryDirectory() as base:
        copies = queue.SimpleQueue()
        for worker in range(workers):
            folder = Path(base, str(worker))
            folder.mkdir()
            copy(folder)
            copies.put(folder)
        folder = copies.get()
        code, said = run_tests(folder, every)
        copies.put(folder)
        if code:
            print(f"without any fault the tests already fail:\n{said}")
            return 1
        print(f"without faults: {len(every)} tests pass ({time.monotonic() - start:.0f} s)", flush=True)
        missed = _plant_all(patches, copies, workers)
    print(f"{len(patches)} planted, {len(patches) - missed} caught ({time.monotonic() - start:.0f} s)")
    return int(bool(missed) or not patches)


def _plant_all(patches, copies, workers):
    """Plant every fault in the next free copy, print a line each, and return how many were missed."""
    def plant(patch):
        folder, start = copies.get(), time.monotonic()
        try:
            problem = planted(patch, folder)
        finally:
            copies.put(folder)
        print(f"{'caught' if not problem else 'MISSED'} {patch.stem} ({time.monotonic() - start:.1f} s)"
              f"{problem and ': ' + problem}", flush=True)
        return bool(problem)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(plant, patches))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
