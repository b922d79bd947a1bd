"""Charts that are touched, pinned and resized, in a real browser."""
import json

import browser
import pytest

TOUCHED = """
import json
import altair as alt
import ipywidgets
from workbench.charts import theme
from workbench.widgets import ChartView, image, drive, panel

cuts, chosen, calls = {"a": 30.0, "b": 70.0}, [], []

def rows():
    return {"cuts": [{"drag": name, "at": at, "step": 5, "label": f"Cut {name} at {at:g}"} for name, at in cuts.items()],
            "cells": [{"pick": k, "column": f"column {k}", "row": r, "on": k in chosen, "label": f"Column {k}"}
                      for k in (1, 2, 3) for r in (1, 2)]}

def words():
    return "Cuts " + " and ".join(f"{at:g}" for at in cuts.values()) + f"; columns {chosen}."

left = alt.Chart(theme.rows("cuts", rows()["cuts"])).mark_rule(strokeWidth=6).encode(
    x=alt.X("at:Q", scale=alt.Scale(domain=[0, 100]))).properties(width=200, height=120)
right = alt.Chart(theme.rows("cells", rows()["cells"])).mark_rect(stroke="black").encode(
    x="column:N", y="row:O", fill=alt.condition("datum.on", alt.value("black"), alt.value("white"))).properties(
    width=200, height=120)
view = ChartView(theme.finish(left | right, "Two cuts", words()))

def dragged(place):
    calls.append(place)
    cuts[place["drag"]] = place["x"]
    view.show(rows(), words())

def picked(datum):
    chosen[:] = sorted(set(chosen) ^ {datum["pick"]})
    view.show(rows(), words())

view.on_drag(dragged)
view.on_pick(picked)
view
"""


@pytest.fixture(scope="module")
def started(chromium):
    if browser.missing():
        pytest.skip(browser.missing())
    with browser.start() as started:
        yield started


@pytest.fixture(scope="module")
def lab(tmp_path_factory, started, kernel):
    folder = tmp_path_factory.mktemp("lab")
    with browser.lab(folder) as address:
        yield browser.Site(folder, address, started)


@pytest.fixture(scope="module")
def touched(lab):
    with lab.show(TOUCHED) as page:
        browser.run_all(page)
        browser.shows_chart(page)
        yield page


def says(page, words):
    page.wait_for_function("words => document.querySelector('.words').textContent === words", arg=words, timeout=5000)


def focused(page):
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


def button(page, name):
    return page.locator(f".picture [role=button][aria-label='{name}']")


def test_marks_are_buttons_with_names(touched):
    says(touched, "Cuts 30 and 70; columns [].")
    names = [part.get_attribute("aria-label") for part in touched.locator(".picture [role=button]").all()]
    assert names == ["Cut a at 30", "Cut b at 70", "Column 1", "Column 2", "Column 3"]
    assert touched.locator(".picture").get_attribute("role") == "group"


def test_a_mark_is_dragged_by_the_pointer(touched):
    box = button(touched, "Cut b at 70").bounding_box()
    pixels = touched.evaluate("""() => {
        const lines = [...document.querySelectorAll('.role-axis-domain line')].map(l => l.getBoundingClientRect());
        return lines.find(box => box.width > 50).width }""")
    x, y = box["x"] + box["width"] / 2, box["y"] + 40
    touched.mouse.move(x, y)
    assert touched.evaluate("document.querySelector('.picture').style.cursor") == "grab"
    touched.mouse.down()
    for k in range(1, 16):
        touched.mouse.move(x - .15 * pixels * k / 15, y)
    touched.mouse.up()
    says(touched, "Cuts 30 and 55; columns [].")
    assert button(touched, "Cut b at 55").count() == 1 and focused(touched) == "Cut b at 55"
    assert touched.console_errors == []


def test_a_mark_is_dragged_by_arrow_keys_and_keeps_the_focus(touched):
    button(touched, "Cut a at 30").focus()
    for _ in range(4):
        touched.keyboard.press("ArrowRight")
    says(touched, "Cuts 50 and 55; columns [].")
    touched.keyboard.press("ArrowLeft")
    says(touched, "Cuts 45 and 55; columns [].")
    assert focused(touched) == "Cut a at 45"


def test_marks_are_picked_by_click_and_by_key(touched):
    touched.locator(".concat_1_group .role-mark path").nth(3).click()
    says(touched, "Cuts 45 and 55; columns [2].")
    assert focused(touched) == "Column 2"
    button(touched, "Column 3").focus()
    touched.keyboard.press("Enter")
    says(touched, "Cuts 45 and 55; columns [2, 3].")
    touched.keyboard.press("Space")
    says(touched, "Cuts 45 and 55; columns [2].")
    assert focused(touched) == "Column 3"
    assert touched.console_errors == [] and touched.outside == []
