"""`workbench lab` as a user starts it: its address opens the start page, a signal ends it and all it started."""

import contextlib
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import time

import browser
import psutil
import pytest

from workbench.commands import main

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S+")


@contextlib.contextmanager
def lab(folder, port=None):
    """Start the command; yields its process and its log, and ends what a failed test leaves."""
    environment, log = browser._environment(folder), folder / "log.txt"
    (folder / "settings").rename(
        folder / "not-read"
    )  # the tests' own settings, which ask for no news either
    with log.open("w") as output:
        started = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "workbench",
                "lab",
                "notebooks",
                "--no-browser",
                "--",
                "--allow-root",
                "--ServerApp.ip=127.0.0.1",
                f"--ServerApp.port={port or browser._free_port()}",
                "--ServerApp.port_retries=0",
                "--LabApp.expose_app_in_browser=True",
            ],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield started, log
    finally:
        for process in [*_family(started.pid), started]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        started.wait()


def test_without_jupyterlab_it_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "jupyterlab" else name
    )
    with pytest.raises(SystemExit, match="2"):
        main.main(["lab", "there"])
    assert (
        'pip install "evaluation-workbench[lab]"' in capsys.readouterr().err
        and not (tmp_path / "there").exists()
    )
    with pytest.raises(SystemExit) as ended:
        main.main(["lab", "there", "--copy-only"])
    assert not ended.value.code and (tmp_path / "there" / "00-start.ipynb").exists()


def _family(pid):
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def _printed(log, started, seconds=60):
    """Return the address that was printed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and started.poll() is None:
        found = ADDRESS.search(log.read_text())
        if found:
            return found[0]
        time.sleep(0.2)
    raise AssertionError(log.read_text()[-2000:])


def test_the_printed_address_opens_the_start_page_and_a_signal_ends_everything(tmp_path, chrome):
    with lab(tmp_path) as (started, log):
        address = _printed(log, started)
        assert re.search(r"/lab/tree/00-start\.ipynb\?token=\w+$", address)
        with _opened(address, chrome) as page:
            browser.ready(page)
            assert "How sure is the program?" in page.locator(".jp-Notebook").inner_text()
            assert page.locator(".Toastify__toast").count() == 0 and page.outside == []
            children = _family(started.pid)
        assert any("ipykernel" in " ".join(child.cmdline()) for child in children)
        os.kill(started.pid, signal.SIGTERM)
        assert started.wait(20) == 0 and not psutil.wait_procs(children, 20)[1]


@pytest.mark.full
def test_a_page_that_is_reloaded_is_live(tmp_path, chrome):
    path = tmp_path / "notebooks" / "live.ipynb"
    path.parent.mkdir()
    browser.notebook(
        path, "from workbench.lessons.stratified import scenes as live\nlive.labels_needed()"
    )
    with lab(tmp_path) as (started, log):
        address = _printed(log, started).replace("00-start", path.stem)
        with _opened(address, chrome) as page:
            browser.run_all(page)
            browser.shows_chart(page)
            end = time.monotonic() + 60
            while "widget-view+json" not in path.read_text() and time.monotonic() < end:
                page.wait_for_timeout(200)  # the page's requests pass through this process
            page.reload()
            browser.ready(page)
            browser.shows_chart(page)
            browser.slider(page).focus()
            before = browser.chart(page)
            moved = browser.after(page, lambda: page.keyboard.press("ArrowRight"))
            assert moved["marks"] != before["marks"] and moved["title"] != before["title"]


@pytest.mark.slow
def test_ctrl_c_ends_it_too(tmp_path):
    with lab(tmp_path) as (started, log):
        _printed(log, started)
        os.kill(started.pid, signal.SIGINT)
        assert started.wait(20) == 0 and _family(started.pid) == []


EARLY = """import os, runpy, signal
from jupyter_server.serverapp import ServerApp

def interrupted(self, start=ServerApp.start_ioloop):
    os.kill(os.getpid(), signal.SIGINT)
    start(self)

ServerApp.start_ioloop = interrupted
runpy.run_module("workbench.commands.lab_server", run_name="__main__")
"""


@pytest.mark.slow
def test_ctrl_c_between_the_address_and_the_loop_ends_it_too(tmp_path):
    words = ["--no-browser", "--allow-root", f"--ServerApp.port={browser._free_port()}"]
    done = subprocess.run(
        [sys.executable, "-c", EARLY, *words],
        cwd=tmp_path,
        env=browser._environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and ADDRESS.search(done.stderr) and "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_server_that_cannot_start_is_no_success(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with lab(tmp_path, taken.getsockname()[1]) as (started, log):
            assert started.wait(60) == 1 and "already in use" in log.read_text()


@contextlib.contextmanager
def _opened(address, chrome):
    """Open an address as it was printed."""
    context = chrome.new_context(viewport={"width": 1200, "height": 1000})
    page = context.new_page()
    browser._watch(context, page)
    page.goto(address)
    try:
        yield page
    finally:
        context.close()
