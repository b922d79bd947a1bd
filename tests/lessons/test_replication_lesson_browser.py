"""Lesson 2 in a real browser: locked, then every control at both ends and through every planned discovery."""

import browser
import pytest
import walking
from browser import settled
from walking import cell, do, faults, walk

pytestmark = pytest.mark.full  # by default the lesson is opened on a phone in Voila
LESSON = browser.ROOT / "notebooks" / "02-brr-orthogonal-arrays.ipynb"
PREDICTIONS = ("1,200", "by about 10%", "none", "85")
LOOK, BOXES, HALVES, ARRAY, COVERAGE, FIELD = range(6)

# which chart, what is done to it, what its title then begins with
DISCOVERIES = (
    (BOXES, "Labels per box", "Home", "140 labels in 14 boxes: effective sample size 120"),
    (BOXES, "Labels per box", "End", "1,797 labels in 14 boxes: effective sample size 543"),
    (
        HALVES,
        "Half-samples",
        "balanced 8",
        "8 half-samples: SE 0.0141, equal to the textbook's",
    ),
    (
        HALVES,
        "Half-samples",
        "as printed in the paper",
        "7 half-samples: SE 0.0116, 18% below the textbook's 0.0141",
    ),
    (HALVES, "Half-samples", "balanced 8 without the first", "7 half-samples: SE 0.0151, 7% above"),
    (HALVES, "Half-samples", "at random", "8 half-samples: SE 0.0"),
    (HALVES, "How many at random", "End", "2,048 half-samples: SE 0.01"),
    (
        ARRAY,
        "Second column",
        "End",
        "9 runs, 8 columns, 3 units per stratum: 4 of 28 pairs are not balanced (1 and",
    ),
    (
        ARRAY,
        "Construction",
        "linear forms",
        "27 runs, 8 columns, 3 units per stratum: all 28 pairs",
    ),
    (ARRAY, "Units per stratum s", "End", "81 runs, 8 columns, 9 units per stratum: all 28"),
    (
        ARRAY,
        "Construction",
        "the paper's shifts",
        "9 runs, 8 columns, 9 units per stratum: 28 of 28 pairs are not",
    ),
    (ARRAY, "Columns (strata)", "End", "81 runs, 40 columns, 9 units per stratum: "),
    (
        ARRAY,
        "Columns (strata)",
        "Home",
        "9 runs, 2 columns, 9 units per stratum: 1 of 1 pair is not balanced",
    ),
    (
        COVERAGE,
        "Intracluster correlation",
        "End",
        "Coverage of 95% intervals: naive 20%",
    ),
    (COVERAGE, "Districts L", "Home", "Coverage of 95% intervals: "),
    (COVERAGE, "Labels per box m", "Home", "Coverage of 95% intervals: "),
    (
        COVERAGE,
        "Intracluster correlation",
        "Home",
        "Coverage of 95% intervals: naive ",
    ),
    (COVERAGE, "Districts L", "End", "Coverage of 95% intervals: "),
    (COVERAGE, "Labels per box m", "End", "Coverage of 95% intervals: "),
    (COVERAGE, "Boxes per district n", "End", "Coverage of 95% intervals: "),
    (
        FIELD,
        "Power of x, step",
        "End",
        "GF(3^3): 26 powers and a row of zeros make 27 runs for 13 columns",
    ),
    (FIELD, "Field", "GF(2^3)", "GF(2^3): 7 powers and a row of zeros make 8 runs for 7 columns"),
    (FIELD, "Power of x, step", "Home", "GF(2^3), step 1 of 7: x = x"),
)
AGAIN = [
    move for move in DISCOVERIES if move[2] in ("Home", "End", "the paper's shifts", "GF(2^3)")
]
BACK = (
    (ARRAY, "Units per stratum s", "Home"),
    (COVERAGE, "Districts L", "Home"),
    (FIELD, "Field", "GF(3^3)"),
)


@pytest.fixture(scope="module")
def lesson(lab):
    with walking.lesson(lab, LESSON, PREDICTIONS, locked=20) as opened:
        yield opened


def control(page, index, name):
    return cell(page, index).locator(f".widget-inline-hbox:has(.widget-label:text-is('{name}'))")


def test_nothing_is_told_before_the_predictions(lesson):
    assert lesson[1] == 6  # the first look, the field, the own file, three of the report


def test_every_control_goes_to_its_ends_and_every_discovery_is_made(lesson):
    page, _ = lesson
    for index in range(6):
        cell(page, index)
        assert faults(page, index) == []
    walk(page, DISCOVERIES)
    assert page.console_errors == [] and page.outside == []


@pytest.mark.parametrize(("dark", "width"), walking.SCREENS)
def test_in_dark_and_on_a_narrow_page_too(lesson, dark, width):
    page, _ = lesson
    browser.set_theme(page, dark=dark)
    page.set_viewport_size({"width": width, "height": 1000})
    settled(page)
    for index, name, act in BACK:
        do(page, index, name, act)
    for index, name, act, _ in AGAIN:
        do(page, index, name, act)
        assert faults(page, index) == [], (name, act, dark, width)
    page.set_viewport_size({"width": 1200, "height": 1000})
    assert page.console_errors == [] and page.outside == []


def test_six_units_clear_the_picture_and_say_why(lesson):
    page, _ = lesson
    do(page, ARRAY, "Units per stratum s", "Home")
    for _ in range(4):
        control(page, ARRAY, "Units per stratum s").locator("[role=slider]").press("ArrowRight")
    alert = cell(page, ARRAY).locator("[role=alert]")
    alert.wait_for()
    assert alert.inner_text().startswith(
        "Units per stratum s must be a prime power; 6 is not a prime power"
    )
    figure = cell(page, ARRAY).locator(".workbench-chart")
    assert not figure.locator("svg").is_visible() and figure.inner_text().strip() in (
        "",
        "Pin Larger type",
    )
    do(page, ARRAY, "Units per stratum s", "Home")
    assert figure.locator("svg").is_visible() and faults(page, ARRAY) == []


def test_columns_are_picked_by_pointer_and_by_keyboard(lesson):
    page, _ = lesson
    do(page, ARRAY, "Units per stratum s", "Home")
    do(page, ARRAY, "Columns (strata)", "End")
    picture = cell(page, ARRAY).locator(".picture")
    picture.locator("[role=button][aria-label='column 7']").press("Enter")
    settled(page)
    picture.locator("[role=button][aria-label='column 3']").click(force=True)
    settled(page)
    assert "Columns 7 and 3 show" in browser.chart(page, ARRAY)["text"]
    assert control(page, ARRAY, "Second column").locator(".widget-readout").inner_text() == "3"
    assert page.console_errors == [] and page.outside == []
