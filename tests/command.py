"""What the tests do with the command line."""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def workbench(folder, *arguments):
    """Run the command in a folder."""
    return subprocess.run([sys.executable, "-m", "workbench", *map(str, arguments)], cwd=folder, text=True,
                          capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)})


def costs_one_line(folder, message, *arguments):
    """A mistake ends in one line that says what is wrong, and leaves nothing behind."""
    before = sorted(path.name for path in folder.iterdir())
    run = workbench(folder, *arguments, "--quiet")
    assert run.returncode == 2 and message in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1 and "Traceback" not in run.stderr
    assert sorted(path.name for path in folder.iterdir()) == before
