"""Lesson 5 in a real browser: locked, then every control at both ends and through every planned discovery."""

import browser
import pytest
import walking

pytestmark = pytest.mark.full  # by default the lesson is opened on a phone in Voila
LESSON = browser.ROOT / "notebooks" / "05-cross-validation-t-tests.ipynb"
FOLDS, CLERKS, SLIDER, POWER, WINNERS, RUNS, BOARD = range(7)
MOVES = (
    (
        CLERKS,
        "Repeats of the cross-validation",
        "End",
        "naive t: 27 of 40 studies call two equal clerks different",
    ),
    (
        CLERKS,
        "Test",
        "Nadeau-Bengio",
        "Nadeau-Bengio: 4 of 40 studies call two equal clerks different",
    ),
    (CLERKS, "Repeats of the cross-validation", "Home", "Nadeau-Bengio: "),
    (CLERKS, "Forms per study", "50", "Nadeau-Bengio: "),
    (CLERKS, "Test", "naive t", "naive t: "),
    (CLERKS, "Forms per study", "200", "naive t: "),
    (CLERKS, "Studies shown", "Home", "naive t: "),
    (CLERKS, "Studies shown", "End", "naive t: "),
    (SLIDER, "Assumed value", "End", "rho .950 (r .655): p .6045, not significant at 5%"),
    (SLIDER, "The value is", "r, the correlation of two folds", "rho .995 (r .950): "),
    (SLIDER, "Assumed value", "Home", "rho 0 (r 0): p .0399, significant at 5%"),
    (SLIDER, "The value is", "rho, the hidden proportion", "rho 0 (r 0): p .0399"),
    (POWER, "Test", "naive t", "naive t with 200 forms finds the better reader in 66%"),
    (POWER, "Test", "rho 0.7", "rho 0.7 with 200 forms finds the better reader in 12%"),
    (POWER, "Test", "McNemar, pooled", "McNemar, pooled with 200 forms finds "),
    (WINNERS, "Model 1 is better by", "6 points", "model 1 leads with "),
    (WINNERS, "Forms", "End", "model 1 leads with "),
    (WINNERS, "Sample number", "End", "model 1 leads with "),
    (WINNERS, "Model 1 is better by", "0 points", "model "),
    (RUNS, "Assumed rho", "End", ""),
    (RUNS, "Tested error minus true error", "End", ""),
    (RUNS, "Tested error minus true error", "Home", ""),
    (RUNS, "Assumed rho", "Home", ""),
    (RUNS, "Items per sample", "20", ""),
    (RUNS, "Learner", "centroid", ""),
    (BOARD, "Items per sample", "60", "Most power without excess false alarms"),
)
AGAIN = [move for move in MOVES if move[0] in (CLERKS, SLIDER, POWER)]


@pytest.fixture(scope="module")
def lesson(lab):
    with walking.lesson(
        lab, LESSON, ("25%", "about .1", "about 60%", "not at all", "about 92%"), locked=14
    ) as opened:
        page = opened[0]
        for button in ("Run 10,000 cross-validations", "Try all tests"):
            page.locator(f"button:has-text('{button}')").click()
            browser.settled(page)
        yield opened


def test_before_the_predictions_there_are_the_folds_and_the_report(lesson):
    assert lesson[1] == 5  # the first folds, the own file, three of the report


def test_every_control_goes_to_its_ends_and_every_discovery_is_made(lesson):
    page, _ = lesson
    for index in range(7):
        walking.cell(page, index)
        assert walking.faults(page, index) == []
    walking.walk(page, MOVES)
    assert page.console_errors == [] and page.outside == []


@pytest.mark.full
@pytest.mark.parametrize(("dark", "width"), walking.SCREENS)
def test_in_dark_and_on_a_narrow_page_too(lesson, dark, width):
    page, _ = lesson
    browser.set_theme(page, dark=dark)
    page.set_viewport_size({"width": width, "height": 1000})
    browser.settled(page)
    walking.do(page, CLERKS, "Forms per study", "100")
    walking.do(page, CLERKS, "Test", "naive t")
    walking.walk(page, AGAIN)
    assert page.outside == []
