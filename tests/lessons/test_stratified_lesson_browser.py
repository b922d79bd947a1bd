"""Lesson 1 in a real browser: predictions open its pictures, and after every move these say what they show."""

import functools

import browser
import pytest
import walking
from browser import settled
from playwright.sync_api import expect
from walking import all_faults

LESSON = browser.ROOT / "notebooks" / "01-stratified-accuracy.ipynb"
TALL = 24_000  # so that JupyterLab draws every cell
PREDICTED = ("30%", "95", "about 10", "about 7,000")
# the sliders of lesson 1: the chart that each moves, and what that says after a step to the right
SLIDERS = {
    "Strata": (1, "6 strata"),
    "Labels": (1, "110 labels"),
    "Labels in total": (3, "110 labels"),
    "Pilot labels per stratum": (3, "100 labels"),
    "Labels per round": (3, "100 labels"),
    "Smoothing: correct and incorrect labels added": (3, "100 labels"),
    "Half-width": (5, "±5.5 points"),
}


@pytest.fixture(scope="module")
def lesson(lab):
    """The whole lesson after Run All."""
    with lab.show(path=LESSON) as page:
        page.set_viewport_size({"width": 1200, "height": TALL})
        browser.run_all(page)
        page.locator("label", has_text="about 140,000").wait_for(timeout=90_000)
        settled(page)
        yield page


def title(page, k):
    """Return the title of the k-th chart that has one."""
    return page.locator(".workbench-chart .heading").nth(k).text_content()


def choose(page, label, value):
    page.locator(".widget-dropdown", has_text=label).locator("select").select_option(value)
    settled(page)
    assert all_faults(page) == []


def slide(page, label, *keys):
    handle = page.locator(f"[role=slider][aria-label='{label}']")
    for key in keys:
        handle.focus()
        page.keyboard.press(key)
        settled(page)
        assert all_faults(page) == [], (label, key)


def has_title(page, text):
    page.locator(".workbench-chart .heading", has_text=text).first.wait_for(timeout=10_000)


def chosen(page, label):
    option = page.locator(".widget-dropdown", has_text=label).locator("select option:checked")
    return option.text_content().replace("\xa0", " ")


def test_the_first_screen_asks_and_shows_no_parameters(lesson):
    assert "How often is it correct?" in title(lesson, 0)
    waiting = lesson.get_by_text("Make your prediction first")
    expect(waiting).to_have_count(13)
    assert (
        waiting.first.bounding_box()["y"]
        < lesson.locator("h2", has_text="Your own data").bounding_box()["y"]
    )
    assert (
        lesson.get_by_text("87.7%").count() == 0
        or lesson.get_by_text("87.7%").first.bounding_box()["y"]
        > lesson.locator("h2", has_text="Your own data").bounding_box()["y"]
    )


def test_predictions_open_the_pictures(lesson):
    for choice in PREDICTED:
        lesson.locator(".widget-radio-box label").get_by_text(choice, exact=True).click()
        lesson.locator("button:has-text('Lock my prediction'):not([disabled])").click()
        lesson.get_by_text(f"You predicted {choice}").first.wait_for()
        settled(lesson)
    for text in ("12% below", "41% with 300", "53% of 2,000", "35 of 200", "152 random"):
        has_title(lesson, text)
    expect(lesson.get_by_text("Make your prediction first")).to_have_count(0)
    assert all_faults(lesson) == []


def moves_every_slider(page):
    """Move each slider a step and back; chart, title and words change together."""
    browser.shows_chart(page, 9)
    assert browser.sliders(page) == list(SLIDERS)
    for place, (index, said) in enumerate(SLIDERS.values()):
        browser.still(page)
        before = browser.chart(page, index)
        moved = browser.after(
            page, functools.partial(browser.slider(page, place).press, "ArrowRight"), index
        )
        assert said in moved["title"]
        assert moved["marks"] != before["marks"]
        assert moved["label"] == moved["svg_label"] == moved["text"]
        browser.after(
            page, functools.partial(browser.slider(page, place).press, "ArrowLeft"), index
        )


def test_every_slider_moves_picture_title_and_words(lesson):
    moves_every_slider(lesson)


@pytest.mark.full
def test_in_voila_too(voila):
    with voila.show(path=LESSON) as page:
        for choice in PREDICTED:
            page.get_by_label(choice, exact=True).first.check(timeout=60_000)
            page.locator("button:has-text('Lock my prediction'):not([disabled])").first.click()
            page.locator(f"text=You predicted {choice}").first.wait_for(timeout=60_000)
        moves_every_slider(page)
        assert page.console_errors == [] == page.outside


def test_strata_and_shares(lesson):
    choose(lesson, "Allocate the labels", "equal")
    choose(lesson, "Cut the forms by", "equal width")
    has_title(lesson, "variance 3.04 times")
    choose(lesson, "Sorted by", "margin")
    has_title(lesson, "variance 1.04 times")
    choose(lesson, "Sorted by", "confidence")
    for rule in ("cum sqrt f", "cum cbrt f", "weighted mean", "k-means", "mixture", "equal size"):
        choose(lesson, "Cut the forms by", rule)
    slide(lesson, "Strata", "End", "Home")
    slide(lesson, "Labels", "End", "Home")
    has_title(lesson, "30 labels, 2 strata")


def test_cuts_and_labels_are_moved_by_keys_and_pointer(lesson):
    lesson.locator(".picture [role=button][aria-label^='Cut between stratum 1']").first.focus()
    lesson.keyboard.press("ArrowRight")
    settled(lesson)
    assert chosen(lesson, "Cut the forms by") == "by hand"
    assert (
        lesson.evaluate("document.activeElement.getAttribute('aria-label')")
        == "Cut between stratum 1 and 2, at 51% of the items"
    )
    grip = lesson.locator(
        ".picture [role=button][aria-label^='Labels of stratum 1']"
    ).first.bounding_box()
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    lesson.mouse.move(x, y)
    lesson.mouse.down()
    for k in range(1, 6):
        lesson.mouse.move(x + 30 * k, y)
    lesson.mouse.up()
    settled(lesson)
    assert chosen(lesson, "Allocate the labels") == "by hand" and all_faults(lesson) == []
    slide(lesson, "Strata", "PageUp")
    assert (chosen(lesson, "Cut the forms by"), chosen(lesson, "Allocate the labels")) == (
        "equal size",
        "proportional",
    )


def test_the_robot(lesson):
    slide(lesson, "Labels in total", "Home")
    has_title(lesson, "40 labels: 81%")
    slide(lesson, "Pilot labels per stratum", "End")
    has_title(lesson, "100 labels: ")
    slide(lesson, "Pilot labels per stratum", "Home")
    slide(lesson, "Labels in total", "End")
    slide(lesson, "Smoothing: correct and incorrect labels added", "End", "Home")
    slide(lesson, "Labels per round", "End", "Home")
    has_title(lesson, "300 labels: ")


def test_the_analysts(lesson):
    for every in ("570", "190", "95", "30", "10"):
        choose(lesson, "Labels between checks", every)
    for method in ("99.5% at every check", "anytime"):
        choose(lesson, "Interval", method)
    has_title(lesson, "0 of 200 analysts")


def test_the_labels_needed(lesson):
    slide(lesson, "Half-width", "End", "Home")
    lesson.get_by_role("checkbox", name="Finite-population correction").uncheck()
    settled(lesson)
    has_title(lesson, "±1 point needs 4,146 random")
    choose(lesson, "Population", "700,000 synthetic items")
    lesson.get_by_role("checkbox", name="Finite-population correction").check()
    settled(lesson)
    assert all_faults(lesson) == []


@pytest.mark.parametrize(("dark", "width"), walking.SCREENS)
def test_all_pictures_fit_in_dark_and_on_a_narrow_page(lesson, dark, width):
    lesson.set_viewport_size({"width": width, "height": TALL})
    browser.set_theme(lesson, dark=dark)
    settled(lesson)
    lesson.wait_for_function(
        """ink => [...document.querySelectorAll('.workbench-chart .role-axis-title text')]
        .every(text => getComputedStyle(text).fill === ink)""",
        arg="rgb(242, 242, 242)" if dark else "rgb(26, 26, 26)",
        timeout=10_000,
    )
    assert all_faults(lesson) == []


def test_what_there_was_to_see_and_why(lesson):
    for look in lesson.get_by_role("button", name="Compare with the result").all()[::-1]:
        look.click()
        settled(lesson)
    lesson.locator("figure.table").filter(has_text="58 checks").wait_for(timeout=60_000)
    for line in lesson.get_by_label("Line 1").all() + lesson.get_by_label("Line 2").all():
        line.fill("luck is kept for ever")
    for keep in lesson.get_by_role("button", name="Keep my two lines").all():
        keep.click()
    lesson.get_by_text("Compare with a model answer").nth(2).wait_for(timeout=20_000)


def test_nothing_left_the_machine_and_nothing_complained(lesson):
    assert lesson.outside == [] and lesson.console_errors == []
