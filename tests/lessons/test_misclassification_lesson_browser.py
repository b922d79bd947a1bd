"""Lesson 4 in JupyterLab: a line is drawn, predictions are locked, every control goes to its ends."""

import browser
import pytest
import walking
from browser import settled
from playwright.sync_api import expect
from walking import all_faults

pytestmark = pytest.mark.full  # by default the lesson is opened on a phone in Voila
LESSON = browser.ROOT / "notebooks" / "04-misclassification-correction.ipynb"
PREDICTIONS = ("predict_line", "predict_reader", "predict_best", "predict_change", "predict_judge")
# the live scenes, their sliders and what must be read somewhere on the way
SCENES = {
    "lesson.mosaic": (
        (
            "Others read correctly (p00)",
            "Panels read correctly (p11)",
            "True proportion of panels (α)",
        ),
        ("too many", "too few"),
    ),
    "lesson.seen_months": (
        ("New true proportion (α′)", "Forms audited (n)"),
        ("part of a fall by 8.0 points", "part of a rise by 30.0"),
    ),
    "lesson.seen_constant": (
        ("New true proportion (α′)",),
        ("calibration reports 55% of a change",),
    ),
    "lesson.seen_change": (
        ("From month", "To month", "Forms audited (n)"),
        ("Month 1 to 8", "Month 11 to 12"),
    ),
    "lesson.seen_judge": (
        ("Good answers", "Correct grades"),
        ("0% of the answers are good", "100% of the answers are good"),
    ),
}


@pytest.fixture(scope="module")
def lesson(lab):
    """The lesson after Run All, nothing predicted yet."""
    with lab.show(path=LESSON) as page:
        browser.run_all(page)
        browser.shows_chart(page, 2)
        yield page


def cell(page, source):
    found = (
        page.locator(".jp-CodeCell").filter(has=page.locator(".jp-Editor", has_text=source)).first
    )
    found.scroll_into_view_if_needed()
    return found


def says(shown, words):
    shown.page.wait_for_function(
        "([figure, words]) => figure.textContent.includes(words)",
        timeout=15_000,
        arg=[shown.element_handle(), words],
    )


def moves(page, scene, handle, key):
    """Press a key on a slider and wait for the new words, if it can go that way."""
    place, words = handle.get_attribute("aria-valuenow"), scene.locator(".words").inner_text()
    handle.focus()
    page.keyboard.press(key)
    if handle.get_attribute("aria-valuenow") != place:
        page.wait_for_function(
            "([line, old]) => line.textContent !== old",
            timeout=15_000,
            arg=[scene.locator(".words").element_handle(), words],
        )
    settled(page)


def draws_the_line(page):
    """Sweep the first point along to the last month, then move that by the keyboard."""
    asked = cell(page, "lesson.predict_line")
    points, lock = (
        asked.locator(".picture [role=button]"),
        asked.get_by_role("button", name="Lock my prediction"),
    )
    expect(points).to_have_count(12)
    expect(lock).to_be_disabled()
    first, last = (points.nth(place).bounding_box() for place in (0, 11))
    page.mouse.move(first["x"] + 6, first["y"] + 6)
    page.mouse.down()
    for step in range(1, 25):
        page.mouse.move(
            first["x"] + 6 + step / 24 * (last["x"] - first["x"]),
            first["y"] + 6 - 2 * step,
            steps=2,
        )
    page.mouse.up()
    settled(page)
    drawn = asked.locator(".words").inner_text()
    assert drawn.startswith("Your line: 10.0% in month 1") and not drawn.endswith(
        " 10.0% in month 12."
    )
    points.nth(11).focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function(
        "([e, old]) => e.textContent !== old", arg=[asked.locator(".words").element_handle(), drawn]
    )
    expect(points.nth(11)).to_be_focused()
    assert float(
        asked.locator(".words").inner_text().split(", ")[-1].split("%")[0]
    ) == pytest.approx(float(drawn.split(", ")[-1].split("%")[0]) + 0.5)


def locks(page, name):
    asked = cell(page, f"lesson.{name}")
    if name == "predict_line":
        draws_the_line(page)
    else:
        asked.locator("input[type=radio]").first.check()
    asked.get_by_role("button", name="Lock my prediction").click()
    says(asked, "You predicted")


def test_the_whole_lesson(lesson):
    expect(lesson.locator(".workbench-locked")).to_have_count(13)
    for name in PREDICTIONS:
        locks(lesson, name)
    lesson.wait_for_function("document.querySelectorAll('.workbench-locked').length === 0")
    says(cell(lesson, "lesson.seen_line"), "Your line ends at ")
    for source, (names, told) in SCENES.items():
        scene, read = cell(lesson, source), []
        handles = scene.locator("[role=slider][aria-label]")
        handles.first.wait_for()
        assert [each.get_attribute("aria-label") for each in handles.all()] == list(names)
        for place in range(len(names)):
            for key in ("Home", "End"):
                moves(lesson, scene, handles.nth(place), key)
                assert all_faults(lesson) == [], (source, names[place], key)
                assert scene.locator("[role=alert]").count() == 0
                read.append(scene.locator(".heading").inner_text())
        assert all(
            any(title.startswith(start) or start in title for title in read) for start in told
        ), (told, read)
    months = cell(lesson, "lesson.seen_months")
    for text, shown in (("all estimators", True), ("raw count, calibration, mixed", False)):
        months.locator("select").select_option(label=text)
        lesson.wait_for_function(
            "([line, shown]) => line.textContent.includes('; audit proportion') === shown",
            arg=[months.locator(".words").element_handle(), shown],
        )
        settled(lesson)
        assert all_faults(lesson) == [], text
    months.get_by_role("button", name=walking.LOOK).click()
    says(months, "Typical errors (RMSE), in points")
    assert lesson.console_errors == [] and lesson.outside == []


@pytest.mark.parametrize(("dark", "width"), walking.SCREENS)
def test_dark_and_narrow(lesson, dark, width):
    browser.set_theme(lesson, dark)
    lesson.set_viewport_size({"width": width, "height": 1000})
    for source in ("lesson.predict_line", *SCENES, "lesson.seen_line"):
        cell(lesson, source)
        settled(lesson)
        assert all_faults(lesson) == [], source
    assert lesson.console_errors == [] and lesson.outside == []


def test_two_written_lines_come_before_the_model_answer(lesson):
    asked = cell(lesson, "lesson.explain_lag")
    assert "too small a change" not in asked.inner_text()
    for number in (1, 2):
        asked.get_by_label(f"Line {number}").fill("more panels, fewer mistakes")
    asked.get_by_role("button", name="Keep my two lines").click()
    says(asked, "reports too small a change")
