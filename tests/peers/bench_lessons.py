"""What lessons cost in JupyterLab and how fast their views answer, in a real browser, beside the goals.

    python tests/peers/bench_lessons.py              # every lesson and the start page, minutes
    python tests/peers/bench_lessons.py 01 04        # those whose number is named

Memory is the proportional set size: what two processes share is counted half for each. An answer is the time from a
key press on a slider to the changed line below its picture.
"""
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
PRESSES = 8
GOALS = {"processor": 10, "memory": 300, "together": 1700, "median": 100, "worst": 400}
PATIENCE = 15_000
STOPWATCH = """handle => {
    const views = [...document.querySelectorAll('.workbench-chart')];
    const after = views.filter(view => handle.compareDocumentPosition(view) & Node.DOCUMENT_POSITION_FOLLOWING);
    const line = after[0].querySelector('.words'), before = line.textContent;
    const watcher = new MutationObserver(() => {
        if (line.textContent === before) return;
        watcher.disconnect();
        window.latency = performance.now() - window.pressed;
    });
    window.latency = null;
    handle.addEventListener('keydown', () => { window.pressed = performance.now(); }, {capture: true, once: true});
    watcher.observe(after[0], {subtree: true, childList: true, characterData: true});
}"""


def proportional(process):
    """Return the memory of a process in MB, shared pages by shares."""
    rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.M)[1]) / 1000


def processor(process):
    """Return the processor seconds of a process, utime and stime."""
    return sum(process.cpu_times()[:2])


def kernels(server):
    """Return the kernels of a server."""
    return [child for child in server.children() if "ipykernel_launcher" in " ".join(child.cmdline())]


def pressed(page, handle, key):
    """Return the milliseconds from a key press to the changed line; None where nothing changes."""
    from playwright.sync_api import TimeoutError as Late
    handle.evaluate(STOPWATCH)
    handle.press(key)
    try:
        page.wait_for_function("window.latency !== null", timeout=PATIENCE)
    except Late:
        return None
    page.wait_for_timeout(100)
    return page.evaluate("window.latency")


def answers(page):
    """Yield each slider's label and its times: of the first press, of presses there and back, and of both ends."""
    for handle in page.locator(".jp-OutputArea [role=slider][aria-label]").all():
        if not handle.is_visible() or not page.locator(".workbench-chart .words").count():
            continue
        handle.scroll_into_view_if_needed()
        keys = ["ArrowRight", "ArrowLeft"] * (PRESSES // 2) + ["End", "Home"]
        times = [pressed(page, handle, key) for key in keys]
        yield handle.get_attribute("aria-label"), [each for each in times if each is not None]


def whole(page, browser):
    """Run all cells, show every output once, and return the seconds."""
    began = time.monotonic()
    browser.run_all(page)
    page.wait_for_function(f"{browser.KERNEL}.status === 'idle' && !document.querySelector('.jp-mod-executing')")
    return time.monotonic() - began


def bench(path, site, browser, server):
    """Print what a lesson costs and how its views answer; return the kernel's megabytes after Run All."""
    running = {each.pid for each in kernels(server)}
    page = site.started.new_context(viewport={"width": 1200, "height": 1000}).new_page()
    page.goto(f"{site.address}{path.name}?reset")
    seconds = whole(page, browser)
    kernel, = (each for each in kernels(server) if each.pid not in running)
    memory = proportional(kernel)
    print(f"\n{path.stem}: processor {processor(kernel):.1f} s (goal {GOALS['processor']}), memory {memory:.0f} MB "
          f"(goal {GOALS['memory']}), {seconds:.0f} s by the clock", flush=True)
    for label, times in answers(page):
        if times:
            print(f"    {label:32} median {statistics.median(times):5.0f} ms (goal {GOALS['median']}), "
                  f"worst {max(times):5.0f} ms (goal {GOALS['worst']})", flush=True)
        else:
            print(f"    {label:32} no line below a picture changed", flush=True)
    print(f"    after use: memory {proportional(kernel):.0f} MB", flush=True)
    page.close()
    return memory


def main(words):
    """Print a block per lesson, and what all of them and the server hold together."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import browser
    if browser.missing():
        sys.exit(browser.missing())
    wanted = [path for path in sorted(FOLDER.glob("*.ipynb"))
              if not words or any(path.name.startswith(word) for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        for path in wanted:
            Path(folder, path.name).write_bytes(path.read_bytes())
        with browser.lab(folder) as address, browser.start() as started:
            server, = (child for child in psutil.Process(os.getpid()).children() if "jupyterlab" in child.cmdline())
            site = browser.Site(Path(folder), address, started)
            together = sum(bench(path, site, browser, server) for path in wanted) + proportional(server)
    print(f"\nafter Run All {len(wanted)} kernels and the server hold {together:.0f} MB (goal {GOALS['together']})")


if __name__ == "__main__":
    main(sys.argv[1:])
