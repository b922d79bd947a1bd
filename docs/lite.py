"""Build the lessons as a JupyterLite site, where Python runs in the browser: `python docs/lite.py FOLDER`.

The folder `site` in FOLDER then holds the pages of JupyterLab, the workbench's wheel and the notebooks. The browser fetches
Python itself (Pyodide) and its packages from their public address when a lesson is first opened.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
INSTALL = {
    "cell_type": "code",
    "execution_count": None,
    "id": "install",
    "metadata": {"tags": ["lesson"]},
    "outputs": [],
    "source": ["# Installs the workbench in your browser; the first time this takes a minute.\n"]
    + ["%pip install -q evaluation-workbench"],
}
SETTINGS = {"jupyter-lite-schema-version": 0, "jupyter-config-data": {"appName": "Workbench"}}


def main(folder):
    """Build the site in a folder, afresh."""
    site, parts = folder / "site", folder / "parts"
    for part in (site, parts):
        shutil.rmtree(part, ignore_errors=True)
    lessons, wheels = parts / "lessons", parts / "wheels"
    shutil.copytree(ROOT / "notebooks" / "data", lessons / "data")
    for path in sorted((ROOT / "notebooks").glob("0[0-5]*.ipynb")):
        notebook = with_install(json.loads(path.read_text(encoding="utf-8")))
        (lessons / path.name).write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    (parts / "jupyter-lite.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    call(parts, "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT))
    (wheel,) = wheels.glob("*.whl")
    folders = ["--lite-dir", str(parts), "--contents", str(lessons), "--output-dir", str(site)]
    options = ["--piplite-wheels", str(wheel), "--no-sourcemaps"]
    call(parts, "jupyterlite_core", "build", *folders, *options)
    print(f"serve {site}: its first page is lab/index.html?path=00-start.ipynb")


def with_install(notebook):
    """Return a notebook for the browser's kernel, which installs the workbench first."""
    cells = notebook["cells"]
    first = next(k for k, cell in enumerate(cells) if cell["cell_type"] == "code")
    metadata = notebook["metadata"] | {"kernelspec": KERNEL}
    return notebook | {
        "cells": [*cells[:first], INSTALL, *cells[first:]],
        "metadata": metadata,
    }


def call(folder, module, *arguments):
    """Run a module of this Python in a folder; show what it prints only if it fails."""
    command = [sys.executable, "-m", module, *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{module} failed:\n{run.stdout}{run.stderr}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
