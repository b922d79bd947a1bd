"""What the tests do with the command line."""

import ast
import contextlib
import io
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from unittest import mock
from xml.sax.saxutils import escape

import pytest
import vl_convert
from once import once

from workbench.commands import main
from workbench.results import RECORDING
from workbench.stratified import accuracy

ROOT = Path(__file__).parents[1]


def workbench(folder, *arguments, **environment):
    """Run the command in a folder, in a process of its own as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, arguments)],
        cwd=folder,
        text=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
    )


def run(folder, *arguments):
    """Run the command in a folder, in this process: reports still take a kernel."""
    words, out, err = [str(argument) for argument in arguments], io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["workbench", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stopped,
    ):
        main.main(words)
    return subprocess.CompletedProcess(
        words, stopped.value.code or 0, out.getvalue(), err.getvalue()
    )


drawn, painted, half_widths = map(
    once, (vl_convert.vegalite_to_svg, vl_convert.svg_to_png, accuracy.half_widths)
)


@contextlib.contextmanager
def no_kernel():
    """Let the cells of a notebook run in this process: the same page, without the seconds that a kernel takes."""
    with (
        mock.patch("papermill.execute_notebook", _execute_here),
        mock.patch("workbench.reports.build.kernel_manager_class", lambda _: None),
        mock.patch("vl_convert.vegalite_to_svg", drawn),
        mock.patch("vl_convert.svg_to_png", painted),
        mock.patch("workbench.stratified.accuracy.half_widths", half_widths),
        mock.patch.dict(os.environ, {RECORDING: "1"}),
    ):
        yield


def run_here(folder, *arguments):
    """Run the command and the cells of its notebook in this process."""
    with no_kernel():
        return run(folder, *arguments)


def run_unseen(folder, *arguments):
    """The same where nobody looks at a picture: each is a few pixels."""
    blank = painted('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    with mock.patch("workbench.widgets.pictures.page_png", lambda *_: blank):
        return run_here(folder, *arguments)


def page_of(done, folder, name="r.html"):
    """Return the page of a report that went well."""
    assert done.returncode == 0, done.stderr
    return (folder / name).read_text(encoding="utf-8")


def costs_one_line(folder, message, *arguments, runs=None):
    """A mistake ends in one line that says what is wrong, and leaves nothing behind.

    `runs` is how the command runs; without it no cell may run before the mistake is told.
    """
    before = sorted(path.name for path in folder.iterdir())
    with contextlib.nullcontext() if runs else mock.patch("papermill.execute_notebook", _too_late):
        done = (runs or run)(folder, *arguments, "--quiet")
    assert done.returncode == 2 and message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def _too_late(*details, **more):
    raise AssertionError("the mistake was not told before the run")


def _execute_here(notebook, _, values, **options):
    """Do what papermill does with the cells of a report, in a namespace of this process."""
    import papermill

    names = {"__name__": "__main__", **values}
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in (cell for cell in cells if "parameters" not in cell.metadata.get("tags", [])):
        cell.outputs = []
        try:
            _run_cell(cell, names)
        except Exception as error:
            kind = type(error).__name__
            raise papermill.PapermillExecutionError(
                0, 0, cell.source, kind, str(error), []
            ) from error
    notebook.metadata.papermill = {"exception": False}
    return notebook


def _run_cell(cell, names):
    """Run a cell as IPython does: the value of a last expression is shown, and so is what is displayed."""

    def display(*values):
        cell.outputs.extend(map(_shown, values))

    tree = ast.parse(cell.source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    names["display"] = display
    with contextlib.redirect_stdout(_Printed(cell.outputs)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
        if value is not None:
            display(value)


def _shown(value):
    from IPython.core.formatters import DisplayFormatter
    from nbformat.v4 import new_output

    data, metadata = DisplayFormatter().format(value)
    return new_output("display_data", data, metadata=metadata)


class _Printed(io.TextIOBase):
    """Standard output that becomes outputs of a cell."""

    def __init__(self, outputs):
        self.outputs = outputs

    def write(self, text):
        from nbformat.v4 import new_output

        if self.outputs and self.outputs[-1].get("name") == "stdout":
            self.outputs[-1].text += text
        else:
            self.outputs.append(new_output("stream", name="stdout", text=text))
        return len(text)


def ods(path, rows):
    """Write what a spreadsheet saves as OpenDocument, without a library."""
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="float" office:value="{value}"/>'
            if isinstance(value, float)
            else f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
            for value in row
        )
        + "</table:table-row>"
        for row in rows
    )
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("META-INF/manifest.xml", "<manifest/>")
        book.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet><table:table "
            f'table:name="May">{cells}</table:table></office:spreadsheet></office:body>'
            "</office:document-content>",
        )
