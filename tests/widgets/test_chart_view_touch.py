"""Charts that are touched, pinned and resized, in a real browser."""

import browser
import pytest

TOUCHED = """
import altair as alt
import ipywidgets
from workbench.charts import theme
from workbench.widgets import ChartView, image, drive, panel

cuts, chosen, calls = {"a": 30.0, "b": 70.0}, [], []

def rows():
    return {"cuts": [{"drag": name, "at": at, "step": 5, "label": f"Cut {name} at {at:g}"}
                     for name, at in cuts.items()],
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
def touched(lab):
    with lab.show(TOUCHED) as page:
        browser.run_all(page)
        browser.shows_chart(page)
        yield page


def says(page, words):
    page.wait_for_function(
        "words => document.querySelector('.words').textContent === words", arg=words
    )


def focused(page):
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


def button(page, name):
    return page.locator(f".picture [role=button][aria-label='{name}']")


def test_marks_are_buttons_with_names(touched):
    says(touched, "Cuts 30 and 70; columns [].")
    names = [
        part.get_attribute("aria-label") for part in touched.locator(".picture [role=button]").all()
    ]
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
        touched.mouse.move(x - 0.15 * pixels * k / 15, y)
    touched.mouse.up()
    says(touched, "Cuts 30 and 55; columns [].")
    assert button(touched, "Cut b at 55").count() == 1 and focused(touched) == "Cut b at 55"
    assert touched.console_errors == []


def test_a_mark_is_dragged_by_arrow_keys_and_keeps_the_focus(touched):
    _, _, other = touched.locator(".words").text_content().partition(" and ")
    button(touched, "Cut a at 30").focus()
    for at in (35, 40, 45, 50):
        touched.keyboard.press("ArrowRight")
        says(touched, f"Cuts {at} and {other}")
    touched.keyboard.press("ArrowLeft")
    says(touched, f"Cuts 45 and {other}")
    assert focused(touched) == "Cut a at 45"


def test_a_mark_is_dragged_by_a_finger(touched):
    mark = touched.locator(".picture [role=button]").first
    box, before = mark.bounding_box(), touched.locator(".words").text_content()
    finger = touched.context.new_cdp_session(touched)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    x, y = box["x"] + box["width"] + 8, box["y"] + 50  # a finger is wider than the line
    for kind, points in [
        ("touchStart", [x]),
        ("touchMove", [x - 20]),
        ("touchMove", [x - 300]),
        ("touchEnd", []),
    ]:
        finger.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": at, "y": y} for at in points]},
        )
    touched.wait_for_function(
        "before => document.querySelector('.words').textContent !== before", arg=before
    )
    touched.wait_for_function(
        "document.querySelector('.words').textContent.startsWith('Cuts 0 and')"
    )
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_marks_are_picked_by_click_and_by_key(touched):
    cuts = touched.locator(".words").text_content().partition(";")[0]
    touched.locator(".concat_1_group .role-mark path").nth(3).click()
    says(touched, f"{cuts}; columns [2].")
    assert focused(touched) == "Column 2"
    button(touched, "Column 3").focus()
    touched.keyboard.press("Enter")
    says(touched, f"{cuts}; columns [2, 3].")
    touched.keyboard.press("Space")
    says(touched, f"{cuts}; columns [2].")
    assert focused(touched) == "Column 3"
    assert touched.console_errors == [] and touched.outside == []


DRIVEN = """
import altair as alt
import ipywidgets
from workbench import checks
from workbench.charts import theme
from workbench.widgets import ChartView, drive, image

def chart():
    bars = alt.Chart(theme.rows("bars", [{"k": "a", "n": 5}, {"k": "b", "n": 5}])).mark_bar(style="labeled").encode(
        x="k:N", y=alt.Y("n:Q", scale=alt.Scale(domain=alt.ExprRef("[0, top]"))))
    return theme.finish(bars, "Five", "Five and 5.").add_params(alt.param(name="top", value=10))

view = ChartView(chart())

def answer(n):
    if n == 8:
        raise checks.WrongValue("n", "must not be eight", n)
    view.picture = view.picture | {"params": view.picture["params"] | {"top": 10 if n < 9 else 20}}
    long = " and a title that takes a second line, since it goes on" + " and on" * 10 + " and never stops"
    return {"bars": [{"k": "a", "n": n}, {"k": "b", "n": 10 - n}]}, (f"{n}" + long * (n == 7), f"{n} and {10 - n}.")

drive({"n": ipywidgets.IntSlider(5, 0, 10, description="Labels of a")}, answer, view)
"""
CONTROLS = """
import ipywidgets as w
w.VBox([w.RadioButtons(options=["rises", "falls"], description="It"), w.Play(), w.FloatRangeSlider(description="Share"),
        w.ToggleButtons(options=["one", "two"], description="Side"),
        w.SelectionSlider(options=["10", "100", "1,000"], value="100", description="Sizes")])
"""


@pytest.fixture(scope="module")
def opened(lab):
    with lab.show(DRIVEN, "image(chart())", CONTROLS) as page:
        browser.run_all(page)
        browser.shows_chart(page, 2)
        browser.slider(page)
        yield page


@pytest.fixture
def driven(opened):
    """The page; a test begins at 5."""
    go_to(opened, 5)
    return opened


def go_to(page, n):
    browser.slider(page).focus()
    page.keyboard.press("Home")
    for _ in range(n):
        page.keyboard.press("ArrowRight")
    says(page, f"{n} and {10 - n}." if n != 8 else "")


def bars(page, within=".role-mark"):
    return page.evaluate(
        "w => [...document.querySelector('.workbench-chart').querySelectorAll(w + ' path')]"
        ".map(p => p.getAttribute('d'))",
        within,
    )


def test_a_pinned_picture_stays_behind_the_next_ones(driven):
    pin, before = driven.get_by_role("button", name="Pin"), bars(driven)
    pin.focus()
    driven.keyboard.press("Enter")
    assert pin.get_attribute("aria-pressed") == "true"
    go_to(driven, 3)
    assert bars(driven, ".ghost") == before != bars(driven)
    assert driven.locator(".ghost").get_attribute("aria-hidden") == "true"
    assert driven.locator(".pinned").first.text_content() == "Pinned: 5 and 5."
    pin.press("Space")
    assert (
        driven.locator(".ghost").count() == 0
        and driven.locator(".pinned").first.text_content() == ""
    )


def test_a_pinned_picture_goes_when_the_axes_change(driven):
    pin = driven.get_by_role("button", name="Pin")
    pin.click()
    go_to(driven, 9)
    assert driven.locator(".ghost").count() == 0 and pin.get_attribute("aria-pressed") == "false"
    assert (
        driven.locator(".pinned").first.text_content()
        == "The axes changed, so the pinned chart was removed."
    )


def test_a_long_title_moves_nothing_and_is_whole(driven):
    top = driven.locator(".picture").first.bounding_box()["y"]
    go_to(driven, 7)
    heading = driven.locator(".heading").first
    box = heading.bounding_box()
    assert heading.text_content().startswith(
        "7 and a title that"
    ) and heading.text_content().endswith("never stops")
    assert heading.evaluate(
        "e => e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth"
    )
    assert (
        driven.locator(".picture").first.bounding_box()["y"] == top == box["y"] + box["height"] + 4
    )


def test_a_setting_that_cannot_be_clears_everything(driven):
    driven.get_by_role("button", name="Pin").click()
    go_to(driven, 8)
    assert driven.locator("[role=alert]").inner_text() == "Labels of a must not be eight; got 8"
    first = driven.locator(".workbench-chart").first
    assert first.inner_text().strip() == "" and first.locator("svg").count() == 0
    assert first.evaluate("e => e.querySelectorAll('[role=img], .picture[aria-label]').length") == 0
    go_to(driven, 6)
    assert bars(driven) and driven.locator(".heading").first.inner_text() == "6"
    assert driven.locator(".pinned").first.inner_text() == "Pinned: 5 and 5."
    assert driven.locator(".ghost").count() == 1 and driven.locator("[role=alert]").count() == 0
    driven.get_by_role("button", name="Pin").click()


def test_a_static_chart_follows_the_theme_in_a_live_page(driven):
    shown = browser.chart(driven, 1)
    assert (shown["title"], shown["label"]) == ("Five", "Five and 5.")
    assert driven.locator(".jp-OutputArea img").count() == 0
    assert driven.console_errors == [] and driven.outside == []


@pytest.mark.parametrize("width, drawn", [(1500, 1000), (900, None), (390, None)])
def test_a_chart_is_as_wide_as_its_place(driven, width, drawn):
    driven.set_viewport_size({"width": width, "height": 1000})
    fits = """drawn => {
        const [place, picture] = ["", " .picture svg"].map(
            part => document.querySelector(".workbench-chart" + part).getBoundingClientRect().width);
        return place <= innerWidth && Math.abs(picture - (drawn ?? place)) < 6;
    }"""
    driven.wait_for_function(fits, arg=drawn)
    least = (
        "() => Math.min(...[...document.querySelectorAll('.picture text')]"
        ".map(t => parseFloat(getComputedStyle(t).fontSize)))"
    )
    assert driven.evaluate(least) == 14
    driven.set_viewport_size({"width": 1200, "height": 1000})


def test_larger_type_is_kept(driven):
    larger = driven.get_by_role("button", name="Larger type")
    larger.click()
    every = (
        "n => [...document.querySelectorAll('.picture text')]"
        ".every(t => parseFloat(getComputedStyle(t).fontSize) === n)"
    )
    driven.wait_for_function(every, arg=20)
    assert driven.evaluate("localStorage.getItem('workbench-larger-type')") == "true"
    assert larger.get_attribute("aria-pressed") == "true"
    larger.click()
    driven.wait_for_function(every, arg=14)


def test_controls_have_names(driven):
    driven.wait_for_selector("[role=radiogroup]")
    for role, name in [
        ("radiogroup", "It"),
        ("button", "Play"),
        ("button", "Stop"),
        ("button", "Repeat"),
        ("slider", "Share, lower end"),
        ("slider", "Share, upper end"),
        ("textbox", "Share, value"),
        ("group", "Side"),
        ("slider", "Labels of a"),
        ("textbox", "Labels of a, value"),
    ]:
        assert driven.get_by_role(role, name=name, exact=True).count() == 1, (role, name)
    two = driven.get_by_role("button", name="two")
    two.click()
    driven.wait_for_function(
        "e => e.getAttribute('aria-pressed') === 'true'", arg=two.element_handle()
    )
    driven.get_by_role("slider", name="Sizes", exact=True).press("ArrowRight")
    driven.wait_for_selector("[role=slider][aria-label=Sizes][aria-valuetext='1,000']")
    nameless = driven.evaluate("""() => [...document.querySelectorAll(
        '.jp-OutputArea-output :is(button, [tabindex="0"], [contenteditable])')]
        .filter(e => !e.getAttribute('aria-label') && !e.textContent.trim()).length""")
    assert nameless == 0


@pytest.mark.full
def test_a_reloaded_page_is_live(lab):
    with lab.show(DRIVEN) as page:
        browser.run_all(page)
        browser.shows_chart(page)
        page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
        browser.slider(page)
        go_to(page, 4)
        page.reload()
        browser.ready(page)
        browser.shows_chart(page)
        browser.slider(page)
        says(page, "4 and 6.")
        go_to(page, 3)
        assert browser.chart(page)["title"] == "3" and page.console_errors == []
