import browser

LESSON_ONE = browser.ROOT / "notebooks" / "01-stratified-accuracy.ipynb"

LESSON = """
import altair as alt
import ipywidgets
from workbench.charts import theme
from workbench.widgets import ChartView, image, panel

def rows(n):
    return {"bars": [{"stratum": k, "labeled": n + k} for k in range(1, 6)], "truth": [{"y": n / 2}]}

bars = alt.Chart(theme.rows("bars")).mark_bar(style="labeled").encode(
    x="stratum:O", y=alt.Y("labeled:Q", scale=alt.Scale(domain=[0, 120])))
truth = alt.Chart(theme.rows("truth")).mark_rule(style="truth").encode(y="y:Q")
view = ChartView(theme.finish(bars + truth, "Labels", "No labels yet."))
slider = ipywidgets.IntSlider(description="Labels per stratum", min=10, max=100, value=50)

def draw(_=None):
    n = slider.value
    view.show(rows(n), f"{n} labels in each of 5 strata.", title=f"Each stratum gets {n}")

slider.observe(draw, "value")
draw()
panel([slider], view)
"""
AGAIN = "view"
BUSY = "import os, time\nwhile not os.path.exists({!r}): time.sleep(.05)"
OTHER = 'ChartView(theme.finish(bars, "Other", "Another chart."))'
STATIC = 'image(theme.finish(bars.properties(data=theme.rows("b", rows(3)["bars"])), "Static", "A static chart."))'
LATE = """
broken = ChartView(theme.finish(
    alt.Chart(theme.rows("z", [{"x": {"y": 1}}])).mark_bar().transform_calculate(q="datum.x.y").encode(x="q:Q"),
    "Fine", "Fine."))
broken
"""
BREAK = 'broken.show({"z": [{"x": None}]}, "Broken.")'
REPAIR = 'broken.show({"z": [{"x": {"y": 2}}]}, "Repaired.")'

def says(shown, number):
    assert shown["text"] == f"{number} labels in each of 5 strata."
    assert shown["label"] == shown["svg_label"] == shown["text"]
    assert set(shown["other_labels"]) == {shown["text"]}
    assert shown["title"] == f"Each stratum gets {number}"


def moves_the_chart(page):
    before = browser.chart(page)
    says(before, 50)
    handle = browser.slider(page)
    assert handle.get_attribute("aria-label") == "Labels per stratum"
    handle.focus()
    moved = browser.after(page, lambda: page.keyboard.press("ArrowRight"))
    says(moved, 51)
    assert len(moved["marks"]) == len(before["marks"]) == 5
    assert all(new != old for new, old in zip(moved["marks"], before["marks"], strict=True))


def test_slider_moves_the_chart_in_lab(lab):
    with lab.show(LESSON, AGAIN, OTHER, STATIC) as page:
        browser.run_all(page)
        browser.shows_chart(page, 3)
        moves_the_chart(page)
        assert browser.chart(page, 1)["text"] == "51 labels in each of 5 strata."
        assert browser.chart(page, 2)["text"] == "Another chart."
        assert page.console_errors == []
        assert page.outside == []


def test_chart_follows_the_theme_in_lab(lab):
    with lab.show(LESSON, AGAIN, OTHER, STATIC) as page:
        browser.run_all(page)
        browser.shows_chart(page, 3)
        light = browser.chart(page)
        browser.set_theme(page, dark=True)
        page.wait_for_function("fill => [...document.querySelectorAll('.workbench-chart .role-axis text')]"
                               ".every(text => getComputedStyle(text).fill !== fill)", arg=light["fill"])
        dark = browser.chart(page)
        assert (light["fill"], dark["fill"]) == ("rgb(89, 89, 89)", "rgb(192, 192, 192)")
        assert dark["marks"] == light["marks"]
        moves_the_chart(page)
        browser.set_theme(page, dark=False)
        page.wait_for_function("fill => getComputedStyle(document.querySelector("
                               "'.workbench-chart .role-axis text')).fill === fill", arg=light["fill"])
        says(browser.chart(page), 51)
        assert page.console_errors == []


def test_chart_is_drawn_while_the_kernel_is_busy(lab, tmp_path):
    done = tmp_path / "done"
    with lab.show(LESSON, BUSY.format(str(done))) as page:
        browser.ready(page)
        page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        browser.shows_chart(page)
        assert browser.kernel_status(page) == "busy"
        says(browser.chart(page), 50)
        done.touch()
        browser.ready(page)


def test_failed_drawing_is_told_and_the_next_one_repairs_it(lab):
    with lab.show(LESSON, LATE) as page:
        browser.run_all(page)
        browser.shows_chart(page, 2)
        browser.execute(page, BREAK)
        page.wait_for_selector(".workbench-chart [role=alert]")
        told = page.inner_text(".workbench-chart [role=alert]")
        assert told.startswith("This chart could not be drawn.") and len(page.console_errors) == 1
        browser.execute(page, REPAIR)
        browser.shows_chart(page, 2)
        assert page.locator(".workbench-chart [role=alert]").count() == 0
        assert browser.chart(page, 1)["label"] == "Repaired."


def test_slider_moves_the_chart_in_voila(voila):
    with voila.show(LESSON, AGAIN, OTHER, dark=True) as page:
        browser.shows_chart(page, 3)
        moves_the_chart(page)
        assert page.outside == []
        assert page.console_errors == []


def drives_lesson_one(page):
    """Move every slider of lesson 1; chart, title and words change together and only in its own view."""
    browser.shows_chart(page, 4)
    names = [handle.get_attribute("aria-label") for handle in page.locator("[role=slider][aria-label]").all()]
    assert names == ["Strata", "Labels", "Labels", "Pilot per stratum", "Batch", "Smoothing c", "Half-width e"]
    for place, (index, said) in enumerate([(1, "6 strata"), (1, "101 labels"), (2, "with 110 labels"),
                                           (2, "with 110 labels"), (2, "with 110 labels"), (2, "with 110 labels"),
                                           (3, "half-width of 0.035")]):
        before = browser.chart(page, index)
        handle = browser.slider(page, place)
        handle.scroll_into_view_if_needed()
        handle.focus()
        moved = browser.after(page, lambda: page.keyboard.press("ArrowRight"), index)
        assert moved["marks"] != before["marks"]
        assert said in moved["title"] + moved["text"]
        assert moved["label"] == moved["svg_label"] == moved["text"]


def test_lesson_one_in_lab(lab):
    with lab.show(path=LESSON_ONE) as page:
        browser.run_all(page)
        drives_lesson_one(page)
        assert page.console_errors == []
        assert page.outside == []


def test_lesson_one_in_voila(voila):
    with voila.show(path=LESSON_ONE) as page:
        drives_lesson_one(page)
        assert page.console_errors == []
        assert page.outside == []
