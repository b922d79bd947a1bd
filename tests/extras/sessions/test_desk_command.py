"""`workbench audit desk` as a user starts it: its address opens the desk, Ctrl-C ends it and all it started."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from unittest import mock

import browser
import numpy as np
import psutil
import pytest
from command import run

import workbench as wb
from workbench.extras.sessions import desk_command as served
from workbench.reports.parameters import load_notebook, topics


@pytest.fixture
def folder(tmp_path):
    with wb.AuditSession.create(
        tmp_path / "a'b.db", wb.digit_forms().items(), budget=20, asks="truth"
    ):
        pass
    return tmp_path


@contextlib.contextmanager
def started(folder, *words):
    """Start the command; yields its process, and ends what a failed test leaves."""
    home = folder / "home"
    home.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "audit", "desk", "a'b.db", "--no-browser", *words],
        cwd=folder,
        env=browser._environment(home) | {"TMPDIR": str(home)},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_address_opens_the_desk_and_a_signal_ends_everything(folder, chrome, end):
    if browser.missing_voila():
        pytest.skip(browser.missing_voila())
    with started(folder, "--by", "ann") as process:
        said = process.stdout.readline()
        address = re.fullmatch(
            r"The labeling desk is at (http://127\.0\.0\.1:\d+/\?token=[\w-]{32})\n", said
        )[1]
        labels_one(chrome, address)
        with browser.page(address.partition("?")[0], chrome) as page:
            assert "/login" in page.url and page.locator(".workbench-desk").count() == 0
        children = psutil.Process(process.pid).children(recursive=True)
        assert any("ipykernel" in " ".join(child.cmdline()) for child in children)
        os.kill(process.pid, end)
        assert process.wait(30) == 0 and not psutil.wait_procs(children, 20)[1]
        assert process.stdout.read() == "Press Ctrl-C to stop. Every label is saved at once.\n"
    assert [
        each for each in os.listdir(folder / "home") if each.startswith(("workbench", "voila"))
    ] == []


@pytest.mark.parametrize(
    "end", [pytest.param(signal.SIGHUP, marks=pytest.mark.full), signal.SIGKILL]
)
def test_nothing_outlives_the_command(folder, end):
    if browser.missing_voila():
        pytest.skip(browser.missing_voila())
    with started(folder) as process:
        port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        os.kill(process.pid, end)
        assert (
            process.wait(30) == (0 if end == signal.SIGHUP else -end)
            and not psutil.wait_procs(children, 5)[1]
        )
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port))


def test_the_browser_is_not_told_the_token_on_its_command_line(tmp_path):
    page = served._page_to("http://127.0.0.1:8866/?token=secret", tmp_path / "desk.html")
    assert "token=secret" in page.read_text(encoding="utf-8") and "token" not in page.as_uri()
    assert page.stat().st_mode & 0o777 == 0o600


def labels_one(chrome, address):
    """Label one form by key in the page that was printed; a second visit goes on after it."""
    with browser.page(address, chrome) as page:
        page.wait_for_selector(".workbench-desk img", timeout=60_000)
        first = page.locator(".workbench-desk .name").inner_text()
        # on a page of its own the desk has the focus: its keys act before it is clicked
        page.wait_for_function("document.activeElement.className === 'workbench-desk'")
        page.keyboard.press("3")
        page.wait_for_function(
            "document.querySelector('.workbench-desk .said').textContent.startsWith('Recorded: 3')"
        )
        second = page.locator(".workbench-desk .name").inner_text()
        assert (
            first != second
            and "recorded for ann" in page.locator(".workbench-desk .hint").inner_text()
        )
        page.reload()
        page.wait_for_selector(".workbench-desk img", timeout=60_000)
        assert page.locator(".workbench-desk .name").inner_text() == second
        assert page.outside == []


def refused(folder, *words):
    done = run(folder, "audit", "desk", *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    return done.stderr.removeprefix("Error: ").rstrip("\n")


def test_mistakes_cost_one_line(folder):
    with mock.patch("subprocess.Popen", side_effect=AssertionError("Voila was started")):
        assert refused(folder, "none.db") == "there is no audit 'none.db'"
        assert (
            refused(folder, "a'b.db", "--images", "no")
            == "--images must be an existing folder; 'no' is not one"
        )
        assert refused(folder, "a'b.db", "--image", "x").startswith(
            "--image must be a column that the audit shows"
        )
        assert refused(folder, "a'b.db", "--by", "\t").startswith("--by must be a name")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            said = refused(folder, "a'b.db", "--port", str(taken.getsockname()[1]))
        assert said.startswith("port ") and said.endswith("remove --port to use a free one")


def test_without_voila_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *more: None)
    assert (
        refused(folder, "a'b.db")
        == 'the labeling desk needs Voila. Install it: pip install "evaluation-workbench[voila]"'
    )


def test_a_server_that_does_not_start_is_told(folder, monkeypatch):
    monkeypatch.setattr(served.sys, "executable", "/bin/false")
    assert refused(folder, "a'b.db", "--no-browser") == "Voila did not start: it gave no message"


def test_parameters_are_data_whatever_they_say(tmp_path):
    given = {"audit": '"; import os; os.abort() #', "images": "a\nb", "image": "'''", "by": "\\"}
    served._write_notebook(tmp_path / "n.ipynb", given)
    (cell,) = [
        cell
        for cell in load_notebook(tmp_path / "n.ipynb")["cells"]
        if "injected-parameters" in cell["metadata"].get("tags", [])
    ]
    values = {}
    exec("".join(cell["source"]), values)
    assert {name: values[name] for name in given} == given


def test_it_is_no_report(folder):
    assert "labeling-desk" not in topics() and len(topics()) == 6
    done = run(folder, "report", "labeling-desk")
    assert done.returncode == 2 and done.stderr.startswith("Error: no topic 'labeling-desk'")


def test_the_example_is_lost_unless_somebody_can_come_back_to_it(tmp_path, monkeypatch):
    from workbench.extras.sessions import desk_audit as inputs

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    session, render = inputs.read()
    assert os.listdir(tmp_path) == [] and not session.path.startswith(str(tmp_path))
    (item,) = session.next()
    assert np.array_equal(16 * (1 - render(item)), wb.digit_forms().image[int(item.id) - 1])
    monkeypatch.setenv("JPY_SESSION_NAME", "06-labeling-desk.ipynb")
    session, _ = inputs.read()
    first = session.next()[0].id
    session.record(first, "3")
    session.close()
    assert os.listdir(tmp_path) == ["desk-audit.db"]
    again, render = inputs.read()
    assert again.status().labeled == 1 and render is not None
    again.close()


def test_only_digit_forms_are_drawn_as_such(tmp_path):
    from workbench.extras.sessions import desk_audit as inputs

    items = wb.ScoredItems(None, np.linspace(0, 1, 1797), np.arange(1797) % 10)
    wb.AuditSession.create(tmp_path / "other.db", items, budget=20).close()
    session, render = inputs.read(audit=str(tmp_path / "other.db"))
    assert render is None
    session.close()
