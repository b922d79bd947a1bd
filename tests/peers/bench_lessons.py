"""What lessons cost in JupyterLab and how fast their views answer, in a real browser, beside the goals.

    python tests/peers/bench_lessons.py              # every lesson and the start page, minutes
    python tests/peers/bench_lessons.py 01 04        # those whose number is named

Each lesson runs twice: as it is found, and again with the predictions that were locked in between, which open what
waits for them. The sliders of both states are measured. Processor time and memory are the kernel's after Run All;
memory is the proportional set size: what two processes share is counted half for each. An answer is the time from a
key press on a slider to the changed line below its picture; a slider that waits for another choice beside it gets the
first that lets it move. What opens on a press of a button is named, not measured.
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
OWN = {"Lock my prediction", "Keep my two lines"}
GOALS = {"processor": 10, "memory": 300, "together": 1700, "median": 100, "worst": 400}
PATIENCE = 3000
SETTLE = 5000  # what opens is drawn and named
DRAWN = "handle => handle.closest('.jp-OutputArea').querySelector('.workbench-chart svg')"
STOPWATCH = """handle => {
    const area = handle.closest('.jp-OutputArea');
    const views = [...area.querySelectorAll('.workbench-chart')];
    const after = views.filter(view => handle.compareDocumentPosition(view) & Node.DOCUMENT_POSITION_FOLLOWING);
    const line = (after[0] ?? views[0]).querySelector('.words'), before = line.textContent;
    const watcher = new MutationObserver(() => {
        if (/working/.test(area.innerText)) window.told ??= performance.now() - window.pressed;
        if (line.textContent === before) return;
        watcher.disconnect();
        window.latency = performance.now() - window.pressed;
    });
    window.latency = window.told = null;
    handle.addEventListener('keydown', () => { window.pressed = performance.now(); }, {capture: true, once: true});
    watcher.observe(area, {subtree: true, childList: true, characterData: true});
}"""
SLIDERS = """() => [...document.querySelectorAll('.jp-Cell')].flatMap((cell, index) => {
    if (!cell.querySelector('.workbench-chart')) return [];
    const sliders = [...cell.querySelectorAll('[role=slider][aria-label]')];
    return sliders.map(slider => [index, slider.getAttribute('aria-label')]);
})"""
WAITS = "handle => handle.closest('.noUi-target').hasAttribute('disabled')"
PREDICT = """
import gc
from workbench.widgets.saved_answers import saved_answers
from workbench.widgets.questions import Prediction
for asked in [each for each in gc.get_objects() if isinstance(each, Prediction)]:
    if hasattr(asked.control, "drag"):
        asked.control.drag({"drag": 1, "x": 1, "y": 0.1})
    else:
        asked.control.value = asked.control.options[0]
    saved_answers().save(asked.name, asked.control.value)
"""


def proportional(process):
    """Return the memory of a process in MB, shared pages by shares."""
    rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.M)[1]) / 1000


def processor(process):
    """Return the processor seconds of a process, utime and stime."""
    return sum(process.cpu_times()[:2])


def kernels(server):
    """Return the kernels of a server."""
    return [
        child for child in server.children() if "ipykernel_launcher" in " ".join(child.cmdline())
    ]


def pressed(page, handle, key):
    """Return the milliseconds from a key press to the changed line, None where nothing changes, and to "working"."""
    from playwright.sync_api import TimeoutError as Late

    handle.evaluate(STOPWATCH)
    handle.press(key)
    try:
        page.wait_for_function("window.latency !== null", timeout=PATIENCE)
    except Late:
        return None, None
    page.wait_for_timeout(100)
    return page.evaluate("[window.latency, window.told]")


def enabled(page, cell, handle):
    """Choose what stands beside a slider until it can be moved; return whether it can."""
    lists = [
        (each, name)
        for each in cell.locator("select").all()
        for name in each.locator("option").all_inner_texts()
    ]
    choices = [
        lambda each=each: each.click()
        for each in cell.locator(".widget-toggle-buttons button").all()
    ] + [lambda each=each, name=name: each.select_option(label=name) for each, name in lists]
    while handle.evaluate(WAITS):
        if not choices:
            return False
        choices.pop(0)()
        page.wait_for_timeout(500)
    return True


def back(handle, start):
    """Move a slider from its low end to where it started."""
    handle.press("Home")
    for _ in range(1000):
        if float(handle.get_attribute("aria-valuenow")) >= float(start):
            break
        handle.press("ArrowRight")


def answers(page, known):
    """Print how fast the sliders answer that are not known: presses there and back, then both ends."""
    for index, label in page.evaluate(SLIDERS):
        cell = page.locator(".jp-Cell").nth(index)
        handle = cell.locator(f"[role=slider][aria-label='{label}']").first
        if (index, label) in known or not handle.is_visible():
            continue
        known.add((index, label))
        handle.scroll_into_view_if_needed()
        page.wait_for_function(DRAWN, arg=handle.element_handle(), timeout=60_000)
        if not enabled(page, cell, handle):
            print(f"    {label:32} cannot be moved", flush=True)
            continue
        keys = ["ArrowRight", "ArrowLeft"] * (PRESSES // 2) + ["End", "Home"]
        start = handle.get_attribute("aria-valuenow")
        times = [pressed(page, handle, key) for key in keys[:2]]
        if any(time is not None for time, _ in times):  # at an end the first press moves nothing
            times += [pressed(page, handle, key) for key in keys[2:]]
        back(handle, start)
        times = [each for each in times if each[0] is not None]
        if not times:
            print(f"    {label:32} no line below a picture changed", flush=True)
            continue
        worst, told = max(times, key=lambda each: each[0])
        said = (
            f', "working" after {told:.0f} ms'
            if worst > GOALS["worst"] and told is not None
            else ""
        )
        print(
            f"    {label:32} median {statistics.median(time for time, _ in times):5.0f} ms (goal {GOALS['median']}), "
            f"worst {worst:5.0f} ms (goal {GOALS['worst']}){said}",
            flush=True,
        )


def skipped(page):
    """Return the buttons of the lesson that were not pressed, and how many sliders cannot be seen."""
    buttons = page.locator(".jp-OutputArea .jupyter-button:not([disabled])").all()
    names = sorted(
        {each.inner_text().strip() for each in buttons if each.is_visible()} - OWN - {""}
    )
    hidden = sum(
        not each.is_visible() for each in page.locator(".jp-OutputArea [role=slider]").all()
    )
    return f"not pressed: {', '.join(names) or 'none'}; hidden sliders: {hidden}"


def whole(page, browser):
    """Run all cells, show every output once, and return the seconds."""
    began = time.monotonic()
    browser.run_all(page)
    page.wait_for_function(
        f"{browser.KERNEL}.status === 'idle' && !document.querySelector('.jp-mod-executing')",
        timeout=120_000,
    )
    return time.monotonic() - began


def opened(path, state, site, browser, server):
    """Run all cells in a new kernel, print what that costs, and return the page and the kernel."""
    page = site.started.new_context(viewport={"width": 1200, "height": 1000}).new_page()
    page.goto(f"{site.address}{path.name}?reset")
    seconds = whole(page, browser)
    (kernel,) = kernels(server)
    print(
        f"\n{path.stem}, {state}: processor {processor(kernel):.1f} s (goal {GOALS['processor']}), memory "
        f"{proportional(kernel):.0f} MB (goal {GOALS['memory']}), {seconds:.0f} s by the clock",
        flush=True,
    )
    return page, kernel


def closed(page, browser, server):
    """Shut the page's kernel down."""
    page.evaluate(browser.LEAVE)
    psutil.wait_procs(kernels(server), timeout=20)
    page.context.close()


def bench(path, site, browser, server):
    """Print what a lesson costs and how its views answer; return the larger memory after Run All, in MB."""
    page, kernel = opened(path, "locked", site, browser, server)
    locked, known = proportional(kernel), set()
    answers(page, known)
    browser.execute(page, PREDICT)
    page.wait_for_function(f"{browser.KERNEL}.status === 'idle'")
    page.wait_for_timeout(SETTLE)
    answers(page, known)
    print(f"    {skipped(page)}\n    after use: memory {proportional(kernel):.0f} MB", flush=True)
    closed(page, browser, server)
    page, kernel = opened(path, "predictions kept from before", site, browser, server)
    kept = proportional(kernel)
    closed(page, browser, server)
    (site.folder / "predictions.json").unlink(missing_ok=True)
    return max(locked, kept)


def main(words):
    """Print a block per lesson, and what all of them and the server hold together."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import browser

    if browser.missing():
        sys.exit(browser.missing())
    wanted = [
        path
        for path in sorted(FOLDER.glob("*.ipynb"))
        if not words or any(path.name.startswith(word) for word in words)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for path in wanted:
            Path(folder, path.name).write_bytes(path.read_bytes())
        with browser.lab(folder) as address, browser.start() as started:
            (server,) = (
                child
                for child in psutil.Process(os.getpid()).children()
                if "jupyterlab" in child.cmdline()
            )
            site = browser.Site(Path(folder), address, started)
            together = sum(bench(path, site, browser, server) for path in wanted) + proportional(
                server
            )
    print(
        f"\nafter Run All {len(wanted)} kernels and the server hold {together:.0f} MB (goal {GOALS['together']})"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
