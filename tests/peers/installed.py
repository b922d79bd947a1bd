"""What an installation weighs, package by package: `python tests/peers/installed.py`, recorded in installed.json.

Each set of extras goes into a fresh environment, seconds are processor time of pip.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_suffix(".json")
EXTRAS = ("", "lab", "test,voila")
SIZES = """
import importlib.metadata as metadata, json, os
print(json.dumps({each.name.lower(): sum(os.path.getsize(path) for file in each.files or ()
                                         if os.path.exists(path := each.locate_file(file)))
                  for each in metadata.distributions()}))
"""


def installed(extras):
    """Install into a fresh environment; return seconds and MB by package, the largest first."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python, before = Path(folder, "bin", "python"), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [
                python,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                f"{ROOT}[{extras}]" if extras else str(ROOT),
            ],
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        sizes = json.loads(
            subprocess.run([python, "-c", SIZES], check=True, capture_output=True, text=True).stdout
        )
    order = sorted(sizes, key=lambda name: (-sizes[name], name))
    return {
        "packages": len(sizes),
        "MB": round(sum(sizes.values()) / 1e6),
        "seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
        "by package": {name: round(sizes[name] / 1e6, 1) for name in order},
    }


def main():
    """Measure each set, and record it."""
    found = {}
    for extras in EXTRAS:
        found[extras] = installed(extras)
        print(
            extras or "(none)",
            {key: found[extras][key] for key in ("packages", "MB", "seconds")},
            flush=True,
        )
    RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
