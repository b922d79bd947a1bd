"""Run the code cells of a notebook with the packages that Python in a browser has: `in_browser.py NOTEBOOK`."""

import json
import os
import sys
import threading
from pathlib import Path

MISSING = {
    "duckdb",
    "psutil",
    "papermill",
    "nbconvert",
    "nbclient",
    "nbformat",
    "vl_convert",
    "jupyter_client",
    "zmq",
    "ipykernel",
    "python_calamine",
    "backports",
    "latex2mathml",
    "bs4",
}


class Missing:
    """A finder for which these packages are not installed."""

    def find_spec(self, name, path=None, target=None):
        """Refuse a missing package, and leave others to the next finder."""
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def no_thread(thread):
    """Fail as a browser does, which has no threads."""
    raise RuntimeError("can't start new thread")


def run(path):
    """Run the cells and display their results; return the id and the error of each that fails."""
    from IPython.core.interactiveshell import InteractiveShell

    shell, failures = InteractiveShell.instance(), {}
    threading.Thread.start = no_thread
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        result = shell.run_cell("".join(cell["source"]))
        error = result.error_before_exec or result.error_in_exec
        if error is None and result.result is not None:
            try:
                shell.display_formatter.format(result.result)
            except Exception as problem:
                error = problem
        if error is not None:
            failures[cell["id"]] = repr(error)
    return failures


if __name__ == "__main__":
    sys.meta_path.insert(0, Missing())
    notebook = Path(sys.argv[1])
    os.chdir(notebook.parent)
    os.environ["JPY_SESSION_NAME"] = notebook.name  # a live page, as the browser's is
    failed = run(notebook)
    loaded = MISSING & {name.partition(".")[0] for name in sys.modules}
    print(json.dumps({"failed": failed, "loaded": sorted(loaded)}))
