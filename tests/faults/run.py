"""Plant each fault of this folder in a copy of the project, and see that the tests it names fail.

    python tests/faults/run.py                  # all of them
    python tests/faults/run.py holm tail        # those whose name holds one of these words

A file per room of workbench/ holds its faults: a name, `tests` that must catch it, as pytest takes them, the `old` text
and the `new` one. A text stands once in the package, in whatever file, and however its lines are broken; where one text
cannot be told from another, `file` names its file. A fault in several places lists its texts. Without faults all of
these tests must pass.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PARTS = (
    "workbench",
    "tests",
    "notebooks",
    "docs",
    "pyproject.toml",
    "setup.py",
    "Makefile",
    "README.md",
    "CHANGELOG.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
SUFFIXES = (".py", ".js", ".css", ".html", ".j2", ".md")
FAILED = 1  # pytest's exit code where tests ran and some failed
LIMIT = 300


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault: its name, the tests that must catch it, and pairs of texts, the old and the new one."""

    name: str
    tests: list[str]
    changes: list[tuple[str, str]]
    file: str = ""

    def places(self):
        """Return, per change, the files of the package with its old text, each as often as it stands there."""
        return [
            [
                name
                for name, text in texts().items()
                if self.file in ("", name)
                for _ in range(text.count(old))
            ]
            for old, _ in self.changes
        ]


def faults(words=()):
    """Return the faults whose name holds one of the words, or all."""
    listed = [
        _fault(name, **entry)
        for path in sorted(FOLDER.glob("*.toml"))
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items()
    ]
    return [fault for fault in listed if not words or any(word in fault.name for word in words)]


def _fault(name, *, tests, old, new, file=""):
    pairs = [(old, new)] if isinstance(old, str) else list(zip(old, new, strict=True))
    return Fault(name, tests, pairs, file)


@functools.cache
def texts():
    """Return the files of the package and the site's pages by path, with one blank for any white space."""
    pages = {*ROOT.joinpath("docs").rglob("*.md")} - {
        *ROOT.joinpath("docs", "reference").rglob("*")
    }
    return {
        path.relative_to(ROOT).as_posix(): " ".join(path.read_text(encoding="utf-8").split())
        for path in sorted({*ROOT.joinpath("workbench").rglob("*"), *pages})
        if path.suffix in SUFFIXES
    }


def pattern(text):
    """Return a pattern of a text that has any white space between its words."""
    return re.compile(r"\s+".join(map(re.escape, text.split())))


def run_tests(folder, tests, marks="", limit=LIMIT):
    """Run tests with these marks in a copy of the project; return pytest's exit code and the end of what it said."""
    settings = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--tb=line",
        "-p",
        "no:cacheprovider",
        "-m",
        marks,
    ]
    try:
        done = subprocess.run(
            [*words, *tests],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=limit,
            env=os.environ | settings,
        )
    except subprocess.TimeoutExpired:
        return None, f"the tests took more than {limit:.0f} s"
    return done.returncode, done.stdout[-2000:] + done.stderr[-2000:]


def missed(fault, folder):
    """Plant one fault, and return why it is not caught, or ''."""
    places = fault.places()
    if any(len(files) != 1 for files in places):
        return f"its text stands in {places}, and not once"
    with planted(fault, folder):
        code, output = run_tests(folder, fault.tests)
    if code in (0, None, FAILED):
        return {0: "is not caught", None: output, FAILED: ""}[code]
    return f"its tests could not be run:\n{output}"


@contextlib.contextmanager
def planted(fault, folder):
    """Change the files of a copy, and change them back."""
    files = {file for (file,) in fault.places()}
    before = {folder / file: (folder / file).read_text(encoding="utf-8") for file in files}
    try:
        for (old, new), (file,) in zip(fault.changes, fault.places(), strict=True):
            text = (folder / file).read_text(encoding="utf-8")
            _write(folder / file, pattern(old).sub(lambda _, new=new: new, text))
        yield
    finally:
        for path, text in before.items():
            _write(path, text)


def _write(path, text):
    """Write a file, with a time of its own so that no bytecode of another version is taken for its."""
    path.write_text(text, encoding="utf-8")
    stamp = time.time_ns() + 10**10 * (1 + int.from_bytes(os.urandom(2)))
    os.utime(path, ns=(stamp, stamp))


def copy(folder):
    """Copy what the tests need."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", ".*")
            )
        else:
            shutil.copy2(ROOT / part, folder / part)


def main(words):
    """Plant all faults on all cores; return the exit code."""
    start, listed, workers = time.monotonic(), faults(words), os.cpu_count() or 1
    every = dict.fromkeys(test for fault in listed for test in fault.tests)
    with tempfile.TemporaryDirectory() as base:
        copies = queue.SimpleQueue()
        for worker in range(workers):
            folder = Path(base, str(worker))
            folder.mkdir()
            copy(folder)
            copies.put(folder)
        folder = copies.get()
        code, output = run_tests(folder, every)
        copies.put(folder)
        if code:
            print(f"without any fault the tests already fail:\n{output}")
            return 1
        print(
            f"without faults: {len(every)} tests pass ({time.monotonic() - start:.0f} s)",
            flush=True,
        )
        escaped = _plant_all(listed, copies, workers)
    print(
        f"{len(listed)} planted, {len(listed) - escaped} caught ({time.monotonic() - start:.0f} s)"
    )
    return int(bool(escaped) or not listed)


def _plant_all(listed, copies, workers):
    """Plant every fault in the next free copy, print a line each, and return how many were missed."""

    def plant(fault):
        folder, start = copies.get(), time.monotonic()
        try:
            problem = missed(fault, folder)
        finally:
            copies.put(folder)
        print(
            f"{'caught' if not problem else 'MISSED'} {fault.name} ({time.monotonic() - start:.1f} s)"
            f"{problem and ': ' + problem}",
            flush=True,
        )
        return bool(problem)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(plant, listed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
