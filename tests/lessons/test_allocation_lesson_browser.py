"""Lesson 3 in a real browser: locked, then every control at both ends and through every planned discovery."""

import json

import browser
import pytest
import walking
from browser import settled
from playwright.sync_api import expect
from walking import cell, do, faults, walk

pytestmark = pytest.mark.full  # by default the lesson is opened on a phone in Voila
LESSON = browser.ROOT / "notebooks" / "03-voila-vs-neyman.ipynb"
PREDICTIONS = ("25", "capped Neyman", "5%", "2.5 times")
HOOK, HAND, RULES, NEXT, STREAM, SEEN, FLOORS, FOLLOWING, JUMP = range(9)
FLOOR, KEPT = "Floor: keep at least", "Records kept"

# which chart, what is done to it, what its title then begins with
DISCOVERIES = (
    (HAND, "ones", "Home", "Standard error of the total 9,"),
    (HAND, "thousands", "End", "Standard error of the total 5,"),
    (HAND, "tens", "Home", "Standard error of the total "),
    (HAND, "hundreds", "End", "Standard error of the total 7,860: 1.89 times the least possible"),
    (HAND, "hundreds", "Home", "Standard error of the total 1"),
    (HAND, "ones", "End", "Standard error of the total 1"),
    (HAND, "thousands", "Home", "Standard error of the total 4"),
    (HAND, "tens", "End", "Standard error of the total 4"),
    (
        RULES,
        "Labels",
        "End",
        "200 labels: Neyman's rule asks for 129 of the 37 thousands and leaves 92 labels unused; equal",
    ),
    (
        RULES,
        "Rule",
        "VOILA",
        "200 labels: standard error 2,068 with VOILA, as with iterated Neyman (2,068)",
    ),
    (
        RULES,
        "Rule",
        "random sampling",
        "200 labels: standard error 32,342 with random sampling, 8.4 times",
    ),
    (
        RULES,
        "Labels",
        "Home",
        "20 labels: standard error 107,884 with random sampling, 5.1 times",
    ),
    (
        RULES,
        "Rule",
        "equal shares",
        "20 labels: standard error 29,889 with equal shares, 42% above",
    ),
    (RULES, "Rule", "Neyman+", "20 labels: standard error 21,111 with Neyman+, as with"),
    (
        RULES,
        "Rule",
        "capped Neyman",
        "20 labels: every place has enough digits; VOILA differs by rounding only",
    ),
    (NEXT, "Labels", "Home", "Label 9 of 20 goes to the thousands, where its gain is largest"),
    (NEXT, "Labels", "End", "Label 9 of 200 goes to the thousands, where its gain is largest"),
    (
        STREAM,
        "Rule",
        "exact, with a floor",
        "S-VOILA with a floor of 2: variance never infinite, at most ",
    ),
    (STREAM, FLOOR, "End", "S-VOILA with a floor of 20: variance never infinite, at most "),
    (STREAM, KEPT, "Home", "S-VOILA with a floor of 10: "),
    (STREAM, KEPT, "End", "S-VOILA with a floor of 10: variance never infinite, at most "),
    (STREAM, FLOOR, "Home", "S-VOILA with a floor of 0: "),
    (STREAM, "Order of arrival", "thousands last", "S-VOILA with a floor of 0: "),
    (STREAM, "Stream number", "End", "S-VOILA with a floor of 0: "),
    (STREAM, "Records seen", "Home", "S-VOILA with a floor of 0: "),
    (STREAM, "Records seen", "End", "S-VOILA with a floor of 0: "),
    (STREAM, "Rule", "as printed in the paper", "S-VOILA as printed: "),
    (STREAM, "Stream number", "Home", "S-VOILA as printed: "),
    (STREAM, "Order of arrival", "random", "S-VOILA as printed: variance infinite at "),
    (
        JUMP,
        "Standard deviation after the jump",
        "Home",
        "Variance after 5,000 records, divided by VOILA's: S-VOILA 1.0",
    ),
    (
        JUMP,
        "Standard deviation after the jump",
        "End",
        "Variance after 5,000 records, divided by VOILA's: S-VOILA 1.",
    ),
)
AGAIN = (
    (HAND, "thousands", "End"),
    (RULES, "Labels", "End"),
    (RULES, "Rule", "VOILA"),
    (NEXT, "Labels", "End"),
    (STREAM, KEPT, "Home"),
    (STREAM, "Rule", "exact, with a floor"),
    (STREAM, "Order of arrival", "thousands last"),
    (JUMP, "Standard deviation after the jump", "End"),
)
BACK = (
    (HAND, "thousands", "Home"),
    (RULES, "Labels", "Home"),
    (RULES, "Rule", "capped Neyman"),
    (NEXT, "Labels", "Home"),
    (STREAM, KEPT, "End"),
    (STREAM, "Rule", "as printed in the paper"),
    (STREAM, "Order of arrival", "random"),
    (JUMP, "Standard deviation after the jump", "Home"),
)


@pytest.fixture(scope="module")
def lesson(lab):
    with walking.lesson(lab, LESSON, PREDICTIONS, locked=18) as (page, before):
        yield page, before


def control(page, index, name):
    return cell(page, index).locator(f".widget-inline-hbox:has(.widget-label:text-is('{name}'))")


def test_nothing_is_told_before_the_predictions(lesson):
    assert lesson[1] == 6  # the hook, one label at a time, the floors, three of one's own data


def test_predictions_are_kept_beside_the_notebook(lesson):
    kept = json.loads((lesson[0].folder / "predictions.json").read_text())
    assert kept == dict(
        zip(("3-thousands", "3-better", "3-infinite", "3-following"), PREDICTIONS, strict=True)
    )


def test_the_prediction_is_in_every_reveal(lesson):
    page, *_ = lesson
    said = []
    for index in (HAND, RULES, STREAM, SEEN, FOLLOWING):
        cell(page, index)  # drawn once it is in view
        assert faults(page, index) == []
        said.append(browser.chart(page, index)["text"])
    assert said[0].endswith("You predicted 25 for the thousands.")
    assert said[1].endswith("You predicted that capped Neyman would be better with 150 labels.")
    assert said[2].endswith("You predicted an infinite variance in 5% of such streams.")
    assert said[3].endswith("You predicted 5%.") and said[4].endswith("You predicted 2.5 times.")
    expect(page.locator("text=You predicted capped Neyman. This rule uses the")).to_have_count(1)


def test_every_control_goes_to_its_ends_and_every_discovery_is_made(lesson):
    page, *_ = lesson
    for index in range(9):
        cell(page, index)
        assert faults(page, index) == []
    walk(page, DISCOVERIES)
    assert page.console_errors == [] and page.outside == []


def test_buttons_give_labels_and_run_streams(lesson):
    page, *_ = lesson
    do(page, NEXT, "Labels", "Home")
    for name, said in (
        ("Next label", "Label 10 of 20"),
        ("Next ten", "Label 20 of 20"),
        ("Give all", "All 20 labels"),
        ("Start again", "Label 9 of 20"),
    ):
        cell(page, NEXT).get_by_role("button", name=name).click()
        settled(page)
        assert browser.chart(page, NEXT)["title"].startswith(said) and faults(page, NEXT) == []
    assert browser.chart(page, FLOORS)["title"] == "No stream has run yet"
    cell(page, FLOORS).get_by_role("button", name="Run 100 more streams").click()
    page.wait_for_function(
        "i => document.querySelectorAll('.workbench-chart .heading')[i].textContent"
        ".startsWith('100 streams for each floor')",
        arg=FLOORS,
    )
    assert faults(page, FLOORS) == []


def test_labels_are_moved_by_pointer_and_by_keyboard(lesson):
    page, *_ = lesson
    cell(page, HAND).get_by_role("button", name="Start again").click()
    settled(page)
    assert browser.chart(page, HAND)["text"].startswith(
        "You label 25 of 1,000 ones, 25 of 600 tens"
    )
    bars = cell(page, HAND).locator("svg [role=button]")
    box = bars.nth(0).bounding_box()
    across, down = box["x"] + box["width"] - 3, box["y"] + box["height"] / 2
    page.mouse.move(across, down)
    page.mouse.down()
    page.mouse.move(across - 80, down, steps=4)
    page.mouse.up()
    settled(page)
    text = browser.chart(page, HAND)["text"]
    assert int(text.split()[2]) < 25 and "not used yet" in text
    bars.nth(3).press("ArrowRight")
    settled(page)
    assert "26 of 37 thousands" in browser.chart(page, HAND)["text"] and faults(page, HAND) == []
    assert page.console_errors == [] and page.outside == []


def test_the_player_has_names_and_moves_the_stream(lesson):
    page, *_ = lesson
    do(page, STREAM, "Records seen", "Home")
    play, stop = (
        cell(page, STREAM).get_by_role("button", name=name, exact=True) for name in ("Play", "Stop")
    )
    expect(play).to_have_count(1)
    expect(stop).to_have_count(1)
    before = browser.chart(page, STREAM)["text"]
    play.click()
    page.wait_for_function(
        "([i, text]) => document.querySelectorAll('.workbench-chart .words')[i].textContent"
        " !== text",
        arg=[STREAM, before],
    )
    stop.click()
    settled(page)
    assert faults(page, STREAM) == []


@pytest.mark.full
@pytest.mark.parametrize(("dark", "width"), walking.SCREENS)
def test_in_dark_and_on_a_narrow_page_too(lesson, dark, width):
    page, *_ = lesson
    browser.set_theme(page, dark=dark)
    page.set_viewport_size({"width": width, "height": 1000})
    settled(page)
    for index, name, act in BACK:
        do(page, index, name, act)
    for index, name, act in AGAIN:
        do(page, index, name, act)
        assert faults(page, index) == [], (name, act, dark, width)
    for index in (HOOK, SEEN, FLOORS, FOLLOWING):
        cell(page, index)
        assert faults(page, index) == [], (index, dark, width)
    page.set_viewport_size({"width": 1200, "height": 1000})
    assert page.console_errors == [] and page.outside == []
