"""Build wheel and sdist, check them, and use what they install: `python tests/release.py [--no-tests]`, `make release`.

The wheel alone is installed into a fresh environment outside the tree, for each Python 3.11 or newer that is found, and
does there what README promises; the tests that need neither kernel nor browser run from the unpacked sdist. Licences of
all that was installed are listed in build/licences.txt; an unknown one fails.
"""

import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent
QUICK = "not kernel and not browser and not java and not slow and not full"
FREE = re.compile(
    r"BSD|MIT|Apache|PSF|Python Software|ISC|MPL|Mozilla|Zope|ZPL|Unlicense|HPND|CC0|0BSD|Public Domain|"
    r"CC-BY-4\.0|zlib",
    re.I,
)
LICENCES = """
import importlib.metadata as metadata, json
found = {}
for each in metadata.distributions():
    told = each.metadata
    classes = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier", []) if line.startswith("License ::")]
    found[f"{told['Name']} {each.version}"] = told["License-Expression"] or "; ".join(classes) or (
        told["License"] or "").strip().splitlines()[:1]
print(json.dumps(found))
"""
USES = """
workbench report all -o reports
workbench lab --copy-only
workbench course make --students ids.csv -o course
workbench course slides stratified-accuracy -o slides.html
workbench papers replay kumar-raj/lemma1 -o replay.html
workbench audit new my.csv audit.db --score p --id item --budget 40
workbench audit export audit.db sheet.csv -n 40 --by ann
fill sheet.csv
workbench audit import audit.db sheet.csv --by ann
workbench audit status audit.db --by ann
workbench audit report audit.db -o audit.html --by ann
"""


def run(words, folder, **options):
    """Run a command in a folder; its output is shown where it fails."""
    settings = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
        **options,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def environment(folder, python, *packages):
    """Make an environment with packages; return its folder of programs."""
    run([python, "-m", "venv", folder], ROOT)
    pip = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    run([*pip, *packages], folder)
    return folder / "bin"


def pythons():
    """Return a Python of each version from 3.11 on that is found."""
    found = {}
    places = [
        *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3")),
        sys.executable,
        *filter(None, (shutil.which(f"python3.{minor}") for minor in range(11, 20))),
    ]
    for place in places:
        version = subprocess.run(
            [place, "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
        )
        if version.returncode == 0 and (3, 11) <= tuple(map(int, version.stdout.split())):
            found[version.stdout.strip().replace(" ", ".")] = place
    return dict(sorted(found.items(), key=lambda pair: int(pair[0].partition(".")[2])))


def build():
    """Build both, and check them."""
    shutil.rmtree(DIST, ignore_errors=True)
    run([BIN / "python", "-m", "build", "--outdir", DIST, ROOT], ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run([BIN / "twine", "check", "--strict", wheel, sdist], ROOT)
    run([BIN / "check-wheel-contents", wheel], ROOT)
    return wheel, sdist


def use(bin, folder):
    """Do with an installed wheel what README promises, in an empty folder; return what was written."""
    (folder / "ids.csv").write_text("id\nada\nbob\n")
    (folder / "my.csv").write_text(
        "item,p\n" + "".join(f"{k},{0.6 + 0.0003 * k:.4f}\n" for k in range(1, 1001))
    )
    for line in filter(None, USES.splitlines()):
        program, *words = line.split()
        if program == "fill":
            fill(folder / words[0])
        else:
            run([bin / program, *words], folder)
    if not (folder / "workbench-notebooks" / "data" / "my.csv").is_file():
        sys.exit("the wheel holds no example files")
    return sorted(path.name for path in folder.iterdir())


def fill(path):
    """Write that every item but each tenth is right."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"correct": int(k % 10 > 0)} for k, row in enumerate(rows))


def licences(bin, folder):
    """Write the licences of all that is installed; return those that are not known to be free."""
    found = json.loads(run([bin / "python", "-c", LICENCES], folder))
    lines = {name: "".join(found[name]) or "not told" for name in sorted(found, key=str.lower)}
    (ROOT / "build").mkdir(exist_ok=True)
    (ROOT / "build" / "licences.txt").write_text(
        "".join(f"{name}: {told}\n" for name, told in lines.items())
    )
    return {name: told for name, told in lines.items() if not FREE.search(told)}


def size(folder):
    """Return how many MB a folder holds."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return round(sum(path.stat().st_size for path in files) / 1e6)


def main(words):
    """Do all of it and say what took how long."""
    with tempfile.TemporaryDirectory() as base:
        base = Path(base)
        wheel, sdist = build()
        print(
            *(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB" for path in (wheel, sdist)),
            sep="\n",
            flush=True,
        )
        for version, python in pythons().items():
            start = time.monotonic()
            bin = environment(base / version, python, wheel)
            installed, empty = time.monotonic(), base / f"empty-{version}"
            empty.mkdir()
            use(bin, empty)
            print(
                f"Python {version}: installed in {installed - start:.0f} s, {size(base / version)} MB; "
                f"used in {time.monotonic() - installed:.0f} s",
                flush=True,
            )
            if unknown := licences(bin, empty):
                sys.exit(f"licences to look at: {unknown}")
        if "--no-tests" not in words:
            test(sdist, base)


def test(sdist, base):
    """Run the quick tests from the unpacked sdist, with itself installed."""
    with tarfile.open(sdist) as packed:
        packed.extractall(base / "sdist", filter="data")
    (tree,) = (base / "sdist").iterdir()
    bin = environment(base / "tests", sys.executable, f"{tree}[test,voila,docs]")
    print(
        run([bin / "python", "-m", "pytest", "-q", "-n", "auto", "-m", QUICK], tree).splitlines()[
            -1
        ],
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
