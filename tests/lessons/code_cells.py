"""Run the cells of a lesson that show its numbers in code, with all predictions revealed."""

import ast
import contextlib
import io
import json
import os
import time
from unittest import mock

SECONDS = {}  # of each cell that was run, by id


def outputs(path):
    """Return what each cell tagged `code` shows, by the cell's id.

    A cell may use what the setup cell and the cells above it in its own section define.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    setup, names, texts = {}, {}, {}
    with contextlib.chdir(path.parent), mock.patch.dict(os.environ, WORKBENCH_REVEAL="all"):
        for cell in cells:
            source = "".join(cell["source"])
            tags = cell["metadata"].get("tags", [])
            if cell["id"] == "setup":
                _run(source, setup)
                names = dict(setup)
            elif cell["cell_type"] == "markdown":
                names = dict(setup) if source.startswith("##") else names
            elif "code" in tags:
                started = time.perf_counter()
                texts[cell["id"]] = _run(source, names)
                SECONDS[cell["id"]] = time.perf_counter() - started
    return texts


def _run(source, names):
    """Return what a cell prints and, below it, its last value as text."""
    *statements, last = ast.parse(source).body
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        if not isinstance(last, ast.Expr):
            exec(source, names)
            return written.getvalue()
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return written.getvalue() + ("" if value is None else repr(value))
