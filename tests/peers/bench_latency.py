"""Time from a key press on each slider of lesson 1 to the changed picture, in JupyterLab and a real browser."""
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

PRESSES = 15
LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "01-stratified-accuracy.ipynb"
STOPWATCH = """handle => {
    let box = handle;
    while (!box.querySelector('.workbench-chart .picture')) box = box.parentElement;
    const drawn = box.querySelector('.workbench-chart .picture');
    const changed = new MutationObserver(() => {
        window.latency = performance.now() - window.pressed;
        changed.disconnect();
    });
    window.latency = null;
    document.addEventListener('keydown', () => { window.pressed = performance.now(); },
        {capture: true, once: true});
    changed.observe(drawn, {subtree: true, childList: true, attributes: true, attributeFilter: ['d', 'transform']});
}"""


def measure(browser):
    """Yield each slider's label and the milliseconds of its presses."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(LESSON, folder)
        with (browser.lab(folder) as address, browser.start() as started,
              browser.page(address + LESSON.name, started) as page):
            browser.run_all(page)
            browser.shows_chart(page, 4)
            browser.slider(page)
            for handle in page.locator("[role=slider][aria-label]").all():
                handle.scroll_into_view_if_needed()
                handle.focus()
                keys = ["ArrowRight", "ArrowLeft"] * PRESSES
                times = [_press(page, handle, key) for key in keys[:PRESSES + 1]]
                yield handle.get_attribute("aria-label"), times[1:]


def _press(page, handle, key):
    handle.evaluate(STOPWATCH)
    page.keyboard.press(key)
    page.wait_for_function("window.latency !== null")
    page.wait_for_timeout(150)
    return page.evaluate("window.latency")


def main():
    """Print a median per slider."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import browser
    if browser.missing():
        sys.exit(browser.missing())
    for label, times in measure(browser):
        print(f"{label:20} median {statistics.median(times):4.0f} ms of {len(times)} presses "
              f"(from {min(times):.0f} to {max(times):.0f}); wanted at most 100 ms")


if __name__ == "__main__":
    main()
