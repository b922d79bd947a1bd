"""Print what a lesson costs per student: seconds until the kernel is ready, seconds to run it, memory at its highest.

    python tests/peers/bench_memory.py              # every lesson
    python tests/peers/bench_memory.py 01 04        # those whose number is named
"""
import sys
import threading
import time
from pathlib import Path

import nbclient
import nbformat
import psutil

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
STEP = 0.2


def watched(process, highest, done):
    """Note the most memory that a process and its children hold, until `done` is set."""
    while not done.wait(STEP):
        try:
            family = [process, *process.children(recursive=True)]
            highest[0] = max(highest[0], sum(each.memory_info().rss for each in family))
        except psutil.NoSuchProcess:
            return


def cost(path):
    """Return seconds until a kernel answers, seconds to run a notebook, and the bytes held at most."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("pass"))
    client = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(FOLDER)}})
    begun, highest, done = time.perf_counter(), [0], threading.Event()
    with client.setup_kernel():
        client.execute_cell(notebook.cells[0], 0)
        ready = time.perf_counter()
        process = psutil.Process(client.km.provisioner.process.pid)
        watcher = threading.Thread(target=watched, args=(process, highest, done))
        watcher.start()
        for number, cell in enumerate(notebook.cells[1:], 1):
            client.execute_cell(cell, number)
        done.set()
        watcher.join()
    return ready - begun, time.perf_counter() - ready, highest[0]


def main(words):
    """Print a line per lesson."""
    print(f"{'lesson':32} {'ready s':>8} {'run s':>8} {'MB':>8}")
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not words or any(path.name.startswith(word) for word in words):
            ready, ran, most = cost(path)
            print(f"{path.stem:32} {ready:8.1f} {ran:8.1f} {most / 1e6:8.0f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
