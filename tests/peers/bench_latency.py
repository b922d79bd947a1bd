"""Time from a key press on a slider to the changed picture, in JupyterLab and a real browser."""
import statistics
import sys
import tempfile
from pathlib import Path

PRESSES = 15
NOTEBOOK = """
import math
import altair as alt
import ipywidgets
from workbench.charts import theme
from workbench.widgets import ChartView, panel

def rows(n):
    return {"bars": [{"k": k, "labeled": n * (1.2 + math.sin(k / 5))} for k in range(50)],
            "line": [{"k": k, "y": n * (1.2 + math.cos(k / 7))} for k in range(50)]}

bars = alt.Chart(theme.rows("bars")).mark_bar(style="labeled").encode(
    x=alt.X("k:O", axis=alt.Axis(labelOverlap=True)), y=alt.Y("labeled:Q", scale=alt.Scale(domain=[0, 300])))
line = alt.Chart(theme.rows("line")).mark_line(style="truth").encode(x="k:O", y="y:Q")
view = ChartView(theme.finish(bars + line, "Labels", "No labels yet."))
slider = ipywidgets.IntSlider(description="Labels", min=10, max=100, value=50)

def draw(_=None):
    view.show(rows(slider.value), f"{slider.value} labels.", title=f"{slider.value} labels")

slider.observe(draw, "value")
draw()
panel([slider], view)
"""
STOPWATCH = """() => {
    const drawn = document.querySelector('.workbench-chart svg');
    const changed = new MutationObserver(() => {
        window.latency = performance.now() - window.pressed;
        changed.disconnect();
    });
    window.latency = null;
    document.addEventListener('keydown', () => { window.pressed = performance.now(); },
        {capture: true, once: true});
    changed.observe(drawn, {subtree: true, childList: true, attributes: true, attributeFilter: ['d']});
}"""


def measure(browser):
    """Return the milliseconds of each press."""
    with tempfile.TemporaryDirectory() as folder:
        browser.notebook(Path(folder, "bench.ipynb"), NOTEBOOK)
        with browser.lab(folder) as address, browser.page(address + "bench.ipynb") as page:
            browser.run_all(page)
            browser.shows_chart(page)
            browser.slider(page).focus()
            times = [_press(page) for _ in range(PRESSES + 1)]
            print(f"state of the chart's widget: {_state_size(browser, page)} bytes")
            return times[1:]


def _press(page):
    page.evaluate(STOPWATCH)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("window.latency !== null")
    page.wait_for_timeout(150)
    return page.evaluate("window.latency")


def _state_size(browser, page):
    browser.execute(page, "import json, pathlib\n"
                    "pathlib.Path('size').write_text(str(len(json.dumps(view.get_state(), default=str))))")
    return page.evaluate("fetch('/files/size').then(answer => answer.text())")


def main():
    """Print the median."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import browser
    if browser.missing():
        sys.exit(browser.missing())
    times = measure(browser)
    print(f"slider to picture: median {statistics.median(times):.0f} ms of {len(times)} presses "
          f"(from {min(times):.0f} to {max(times):.0f}); wanted at most 100 ms")


if __name__ == "__main__":
    main()
