"""The lessons as a JupyterLite site: it is built, opens in a browser, and asks the network for Python only.

Nothing here reaches another machine, so Python itself does not start: cells run in `tests/lessons/test_in_browser.py`
with the packages that the browser has.
"""

import contextlib
import functools
import http.server
import json
import re
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OUTSIDE = r"https://cdn\.jsdelivr\.net/pyodide/v[\d.]+/full/pyodide\.m?js"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def lite(tmp_path_factory):
    python, folder = ROOT / ".venv-lite" / "bin" / "python", tmp_path_factory.mktemp("lite")
    if not python.exists():
        pytest.skip("JupyterLite has an environment of its own: make lite")
    subprocess.run([python, ROOT / "docs" / "lite.py", folder], check=True, cwd=ROOT)
    return folder / "site"


@contextlib.contextmanager
def served(folder):
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_site_holds_the_wheel_with_the_charts_and_the_lessons(lite):
    (wheel,) = (lite / "pypi").glob("evaluation_workbench-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert "workbench/widgets/vega_bundle.js" in packed.namelist()
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        needed = re.findall(r"(?m)^Requires-Dist: (.+)$", packed.read(name).decode())
    missing_there = (
        "duckdb",
        "vl-convert",
        "papermill",
        "nbconvert",
        "ipykernel",
        "jupyter-client",
    )
    for package in missing_there:
        (line,) = (line for line in needed if line.startswith(package))
        assert 'sys_platform != "emscripten"' in line
    lesson = json.loads((lite / "files" / "03-voila-vs-neyman.ipynb").read_text(encoding="utf-8"))
    first, second = [cell for cell in lesson["cells"] if cell["cell_type"] == "code"][:2]
    assert "%pip install -q evaluation-workbench" in "".join(first["source"])
    assert second["id"] == "setup" and lesson["metadata"]["kernelspec"]["name"] == "python"
    assert (lite / "files" / "data" / "my.csv").is_file()


def test_a_lesson_opens_and_asks_only_for_python(lite, started):
    context, outside = started.new_context(viewport={"width": 1280, "height": 900}), set()
    with served(lite) as address:
        context.on(
            "request",
            lambda request: request.url.startswith(address) or outside.add(request.url),
        )
        page = context.new_page()
        page.goto(f"{address}/lab/index.html?path=03-voila-vs-neyman.ipynb")
        page.locator(".jp-Notebook h1").first.wait_for(timeout=60_000)
        page.locator(".jp-Notebook img").first.wait_for(timeout=60_000)
        for _ in range(300):  # the kernel starts after the page
            if outside:
                break
            page.wait_for_timeout(200)
        context.close()
    (request,) = {url for url in outside if not url.startswith(("data:", "blob:"))}
    assert re.fullmatch(OUTSIDE, request)
