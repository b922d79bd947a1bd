"""Helpers that drive notebooks in a real browser, cut off from the network."""

import contextlib
import http.client
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

from workbench.reports.outputs import find_chromium
from workbench.reports.parameters import ReportError

ROOT = Path(__file__).resolve().parents[1]
LOOPBACK = ("127.0.0.1", "localhost", "::1")
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
LAB = [
    "jupyterlab",
    "--no-browser",
    "--allow-root",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.news_url=None",
    "--LabApp.extension_manager=readonly",
    "--LabApp.expose_app_in_browser=True",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port_retries=0",
]
VOILA = ["voila", ".", "--no-browser", "--Voila.ip=127.0.0.1", "--Voila.port_retries=0"]
_PORTS = itertools.count(10_000 + 20 * (os.getpid() % 1000))
KERNEL = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
LEAVE = """async () => {
    const app = window.jupyterapp;
    if (document.body.dataset.jpThemeLight === "false")      // the server keeps it for the next page
        await app.commands.execute("apputils:change-theme", {theme: "JupyterLab Light"});
    await app?.shell.currentWidget?.sessionContext?.shutdown();
    return !!app;
}"""
# done once the kernel has answered all that was asked before: what a control sends while it is busy goes out afterwards
ANSWERED = f"""async () => {{
    for (let round = 0; round < 2; ++round) {{
        await new Promise(done => setTimeout(done));
        await {KERNEL}.requestExecute({{code: "", silent: true, store_history: false}}).done;
    }}
}}"""
# done once no output has changed for some frames
STILL = """async count => {
    let changed;
    const observer = new MutationObserver(() => { changed = true; });
    for (const part of document.querySelectorAll(".jp-OutputArea, #rendered_cells"))
        observer.observe(part, {childList: true, subtree: true, attributes: true, characterData: true});
    do {
        changed = false;
        for (let frame = 0; frame < count; ++frame) await new Promise(requestAnimationFrame);
    } while (changed);
    observer.disconnect();
}"""
# sliders get their names a moment after they are drawn
NAMED = """[...document.querySelectorAll('.widget-inline-hbox, .widget-inline-vbox')]
    .filter(row => row.querySelector('.widget-label')?.textContent.trim())
    .every(row => [...row.querySelectorAll('[role=slider]')].every(handle => handle.getAttribute('aria-label')))"""
COMPUTED = (
    "![...document.querySelectorAll('.workbench-status')].some(s => s.textContent)"
    " || document.querySelector('.workbench-status [role=alert]')"
)
FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def chromium():
    """Return the path of the system's Chromium, or None."""
    with contextlib.suppress(ReportError):
        return find_chromium()


def missing():
    """Return why the browser tests cannot run, with the command that helps, or None."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "playwright is missing: pip install playwright"
    if not chromium():
        return "no Chromium found: apt-get install chromium-headless-shell (or set CHROMIUM=/path)"
    return None


def missing_voila():
    """Return why the tests in Voila cannot run, or None."""
    import importlib.util

    found = importlib.util.find_spec("voila")
    return missing() or (None if found else "voila is missing: pip install voila")


def faults(opened, within="body", known=()):
    """Return what axe-core finds serious or critical within a selector, apart from the rules that are known."""
    from axe_playwright_python.base import AXE_SCRIPT

    opened.wait_for_function(NAMED, timeout=20_000)
    opened.evaluate(AXE_SCRIPT)
    found = opened.evaluate(
        "within => axe.run({include: [[within]]}, {resultTypes: ['violations']})", within
    )
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical") and each["id"] not in known
        for node in each["nodes"]
    ]


class Site:
    """Folders of notebooks that a server shows to a Chromium, as many as one likes."""

    def __init__(self, folder, address, started):
        self.folder, self.address, self.started, self.number = folder, address, started, 0

    def write(self, *cells, path=None, words=""):
        """Write a notebook of code cells below a text, or a copy of the one at `path`, into a folder of its own.

        Returns the folder and the notebook's address.
        """
        self.number += 1
        folder, name = self.folder / str(self.number), path.name if path else "lesson.ipynb"
        folder.mkdir()
        if path:
            shutil.copy(path, folder / name)
            if (path.parent / "data").is_dir():  # the files of "Your own data"
                shutil.copytree(path.parent / "data", folder / "data")
        else:
            notebook(folder / name, *cells, words=words)
        whole = "#all" if "/voila/" in self.address else ""  # Voila shows one scene at a time
        return folder, f"{self.address}{self.number}/{name}{whole}"

    @contextlib.contextmanager
    def show(self, *cells, path=None, **options):
        """Open a notebook of its own; the page has its `.folder`, and in JupyterLab its kernel ends with it."""
        folder, address = self.write(*cells, path=path)
        with page(address, self.started, **options) as opened:
            opened.folder = folder
            try:
                yield opened
            finally:
                if not opened.evaluate(LEAVE):
                    opened.goto("about:blank")  # Voila ends the kernel of a page that is left


@contextlib.contextmanager
def lab(folder):
    """Serve a folder with JupyterLab on a free port; yields the address of its notebooks."""
    with _server(folder, LAB, "--ServerApp", "/api/status") as address:
        yield f"{address}/lab/tree/"


@contextlib.contextmanager
def voila(folder, *options):
    """Serve a folder with Voila on a free port; yields the address of its notebooks."""
    with _server(folder, [*VOILA, *options], "--Voila", "/") as address:
        yield f"{address}/voila/render/"


@contextlib.contextmanager
def start():
    """Start a Chromium that reaches no other machine."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield started
        finally:
            started.close()


@contextlib.contextmanager
def page(address, started, *, dark=False, size=(1200, 1000), until="load"):
    """Open an address; the page has `.console_errors` and `.outside`, the requests that left the machine."""
    context = started.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
    )
    opened = context.new_page()
    opened.set_default_timeout(90_000)  # a busy machine draws a whole lesson in a minute
    _watch(context, opened)
    opened.goto(address + ("?reset" if "/lab/" in address else ""), wait_until=until)
    try:
        yield opened
    finally:
        context.close()


def ready(opened):
    """Wait until JupyterLab shows the notebook and its kernel is idle."""
    opened.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    opened.wait_for_function(f"{KERNEL}?.status === 'idle'", timeout=60_000)


def run_all(opened):
    """Run all cells of the notebook in JupyterLab and return when the last is done."""
    ready(opened)
    opened.evaluate("window.jupyterapp.commands.execute('notebook:expand-all-headings')")
    opened.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")


def execute(opened, code):
    """Run code in the kernel of the open notebook and wait for its end."""
    opened.evaluate(f"code => {KERNEL}.requestExecute({{code}}).done", code)


def settled(opened):
    """Wait until the kernel in JupyterLab has answered, nothing is computed and nothing is drawn any more."""
    opened.evaluate(ANSWERED)
    still(opened, frames=2)


def still(opened, frames=10):
    """Wait until nothing is computed and nothing has been drawn for some frames."""
    opened.wait_for_function(COMPUTED)
    opened.evaluate(STILL, frames)


def set_theme(opened, dark):
    """Switch JupyterLab's theme."""
    theme = "JupyterLab Dark" if dark else "JupyterLab Light"
    opened.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    opened.wait_for_selector(f"body[data-jp-theme-light={str(not dark).lower()}]", state="attached")


def shows_chart(opened, count=1):
    """Wait until `count` charts are drawn."""
    opened.wait_for_function(
        "n => document.querySelectorAll('.workbench-chart svg').length >= n",
        arg=count,
        timeout=60_000,
    )


def chart(opened, index=0):
    """Return what a chart says: its drawn paths, its visible line and its labels."""
    return opened.evaluate(
        """index => {
        const figure = document.querySelectorAll('.workbench-chart')[index];
        const svg = figure.querySelector('svg');
        const picture = figure.querySelector('.picture');
        return {marks: [...svg.querySelectorAll('.role-mark path')]
                    .map(p => [p.getAttribute('d'), p.getAttribute('transform')].join()),
                title: figure.querySelector('.heading').textContent,
                fill: getComputedStyle(svg.querySelector('.role-axis text') ?? svg).fill,
                text: figure.querySelector('.words').textContent,
                label: picture.getAttribute('aria-label'),
                svg_label: svg.getAttribute('aria-label'),
                other_labels: [...picture.querySelectorAll('[aria-label]')]
                    .map(e => e.getAttribute('aria-label'))};
    }""",
        index,
    )


def after(opened, action, index=0):
    """Do `action`, wait until the chart's line has changed, and return what the chart says then."""
    before = chart(opened, index)["text"]
    action()
    opened.wait_for_function(
        "([i, text]) => document.querySelectorAll('.workbench-chart .words')[i].textContent !== text",
        arg=[index, before],
    )
    return chart(opened, index)


def slider(opened, index=0):
    """Return the handle of a slider, once it has its label."""
    opened.wait_for_selector("[role=slider][aria-label]")
    return opened.locator("[role=slider]").nth(index)


def sliders(opened):
    """Return the labels of all sliders, from the top."""
    return [
        handle.get_attribute("aria-label")
        for handle in opened.locator("[role=slider][aria-label]").all()
    ]


def notebook(path, *cells, words=""):
    """Write a notebook of code cells, below a text if there is one."""
    made = (
        [{"cell_type": "markdown", "id": "text", "metadata": {}, "source": words}] if words else []
    )
    made += [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": source,
        }
        for number, source in enumerate(cells)
    ]
    kernel = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "voila": {"template": "workbench"},
    }
    Path(path).write_text(
        json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    )


def _watch(context, opened):
    opened.console_errors, opened.outside = [], []

    def check(route):
        address = route.request.url
        if (
            urlsplit(address).scheme in ("http", "https")
            and urlsplit(address).hostname not in LOOPBACK
        ):
            opened.outside.append(address)
            route.abort()
        else:
            route.continue_()

    context.route("**/*", check)
    opened.on(
        "websocket",
        lambda socket: opened.outside.extend(
            [socket.url] if urlsplit(socket.url).hostname not in LOOPBACK else []
        ),
    )
    opened.on("pageerror", lambda error: opened.console_errors.append(str(error)))
    opened.on(
        "console",
        lambda message: (
            opened.console_errors.append(f"{message.text} ({message.location.get('url')})")
            if message.type == "error"
            else None
        ),
    )


def _free_port():
    """Return a free port that nothing takes before the server has: each process of tests looks in a range of its own.

    The system hands out none below 32768, so no kernel and no request gets it meanwhile.
    """
    for port in _PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no free port")


def _environment(home):
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS))
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    templates = (
        home / "source" / "voila" / "templates"
    )  # the template as it is here, not as it was installed
    templates.mkdir(parents=True)
    (templates / "workbench").symlink_to(
        ROOT / "workbench" / "voila_template", target_is_directory=True
    )
    return (
        os.environ
        | {name: str(home / value) for name, value in folders.items()}
        | {"PYTHONPATH": path, "JUPYTER_PATH": str(home / "source")}
    )


@contextlib.contextmanager
def _server(folder, command, section, status):
    import tempfile

    port = _free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        log = Path(home, "log.txt")
        with open(log, "w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", *command, f"{section}.port={port}"],
                cwd=folder,
                env=_environment(Path(home)),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                _wait(process, port, status, log)
                yield f"http://127.0.0.1:{port}"
            finally:
                _stop(process)


def _wait(process, port, status, log, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if _answers(port, status):
            return
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-3000:]}")


def _answers(port, status):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", quote(status))
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _stop(process):
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
