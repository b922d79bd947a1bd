"""Measure how long a learner waits for the first picture of a lesson: `python tests/first_picture.py [NOTEBOOK]`.

The clock runs from the start of the kernel to the first output that is a picture, cells run in their order.
"""

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
LESSON = ROOT / "notebooks" / "01-stratified-accuracy.ipynb"


def seconds_to_first_picture(path):
    """Return the seconds from the start of the kernel to the first picture, and the cell that draws it."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}})
    start = time.perf_counter()
    with client.setup_kernel():
        for place, cell in enumerate(notebook.cells):
            client.execute_cell(cell, place)
            outputs = cell.get("outputs", ())
            if any("image/png" in output.get("data", {}) for output in outputs):
                return time.perf_counter() - start, cell["id"]
    raise ValueError(f"{path.name} draws no picture")


if __name__ == "__main__":
    path = Path(sys.argv[1]) if sys.argv[1:] else LESSON
    seconds, cell = seconds_to_first_picture(path)
    print(f"First picture of {path.name} (cell {cell}): {seconds:.1f} s after the kernel's start")
