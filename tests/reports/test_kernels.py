"""The kernel of a report ends: when a cell takes too long, when it never starts, when its parent is killed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from workbench.reports import build
from workbench.reports.build import build_report
from workbench.reports.parameters import ReportError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def notebook(tmp_path, monkeypatch, kernel):
    """Write a notebook of one cell after the parameters; no process or connection file may stay."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    def write(source):
        cells = [new_code_cell("n = 1", metadata={"tags": ["parameters"]}), new_code_cell(source)]
        nbformat.write(new_notebook(cells=cells), tmp_path / "n.ipynb")
        return tmp_path / "n.ipynb"

    before = set(psutil.Process().children(recursive=True))
    yield write
    assert (
        set(psutil.Process().children(recursive=True)) <= before
    )  # what a shared browser ends may be gone
    assert list((tmp_path / "temporary").iterdir()) == []


def refused(path, **options):
    with pytest.raises(ReportError) as caught:
        build_report(path, output="r.html", progress=False, **options)
    assert not Path("r.html").exists()
    return str(caught.value)


LONG = "a cell ran longer than {}, so the run was stopped; set the environment variable WORKBENCH_CELL_TIMEOUT to a higher limit"


def test_a_long_cell_ends_the_run_and_its_kernel(notebook):
    assert refused(notebook("import time; time.sleep(60)"), timeout=1) == LONG.format("1 second")


def test_the_environment_sets_the_limit_and_the_argument_goes_before_it(notebook, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CELL_TIMEOUT", "2")
    assert refused(notebook("import time; time.sleep(60)")) == LONG.format("2 seconds")
    monkeypatch.setenv("WORKBENCH_CELL_TIMEOUT", "soon")
    build_report(notebook("1"), output="s.html", progress=False, timeout=60)


@pytest.mark.parametrize(
    ("environment", "timeout", "message"),
    [
        (
            "soon",
            None,
            "WORKBENCH_CELL_TIMEOUT must be a whole number from 1 to 1000000; got 'soon'",
        ),
        ("0", None, "WORKBENCH_CELL_TIMEOUT must be a whole number from 1 to 1000000; got 0"),
        ("5", 0.5, "timeout must be a whole number from 1 to 1000000; got 0.5"),
        ("", 10**7, "timeout must be a whole number from 1 to 1000000; got 10000000"),
    ],
)
def test_limits_that_are_none(notebook, monkeypatch, environment, timeout, message):
    monkeypatch.setenv("WORKBENCH_CELL_TIMEOUT", environment)
    assert refused(notebook("open('ran', 'w')"), timeout=timeout) == message
    assert not Path("ran").exists()


@pytest.mark.parametrize("code", ["import time; time.sleep(60)", "raise SystemExit(1)"])
def test_a_kernel_that_never_starts_ends_the_run(notebook, monkeypatch, code):
    argv = [sys.executable, "-c", code, "--InteractiveShellApp.ignore_cwd=True"]
    silent = {"argv": argv, "display_name": "Python", "language": "python"}
    monkeypatch.setattr("ipykernel.kernelspec.get_kernel_dict", lambda *arguments: silent)
    monkeypatch.setattr(build, "START_LIMIT", 1)
    assert refused(notebook("1")) == (
        "Python did not start within 1 second, or stopped before it answered; run the command "
        f"again, or check the installation with `{sys.executable} -m ipykernel --version`"
    )


def test_a_kernel_of_the_same_name_that_is_registered_is_not_used(notebook, monkeypatch, tmp_path):
    folder = tmp_path / "share" / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = {"argv": ["false"], "display_name": "other", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    report = build_report(notebook("print(6 * 7)"), output="r.html", progress=False)
    assert "42</pre>" in report.read_text()


def test_the_kernel_knows_its_parent(notebook):
    path = notebook("import os; print([os.environ['JPY_PARENT_PID'], os.getppid()])")
    shown = build_report(path, output="r.html", progress=False).read_text()
    assert f"[&#39;{os.getpid()}&#39;, {os.getpid()}]" in shown


def test_the_kernel_ends_with_a_killed_parent(notebook, tmp_path):
    path = notebook(
        "import os, pathlib, time\npathlib.Path('pid').write_text(f'{os.getpid()}\\n'); time.sleep(60)"
    )
    command = subprocess.Popen(
        [sys.executable, "-m", "workbench", "report", path, "--quiet"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": tempfile.gettempdir()},
    )
    wait_for(lambda: Path("pid").exists() and Path("pid").read_text().endswith("\n"), 60)
    kernel = psutil.Process(int(Path("pid").read_text()))
    command.send_signal(signal.SIGKILL)
    command.wait()
    wait_for(lambda: not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE, 3)
    for connection_file in Path(tempfile.gettempdir()).glob("*.json"):
        connection_file.unlink()  # nobody is left to remove it


def wait_for(happens, seconds):
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.02)
