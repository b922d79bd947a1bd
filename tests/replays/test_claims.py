"""Verdicts follow from the numbers."""
import pytest

from workbench.replays import claims
from workbench.replays.claims import Correction, bound, equal, every, number, unchecked


@pytest.mark.parametrize("printed, ours, error, verdict", [
    ("26", 26.49, 0, "holds"), ("26", 26.51, 0, "does not hold"), ("26", 25.49, 0, "does not hold"),
    ("0.074", .0736, 0, "holds"), ("0.074", .0734, 0, "does not hold"), ("2e5", 2.275e5, 0, "holds"),
    ("2e5", 2.51e5, 0, "does not hold"), ("1.3e7", 1.151e7, 0, "does not hold"), ("26", 27.4, .31, "holds"),
    ("26", 27.4, .29, "does not hold"), (.25, .25 + 1e-6, 0, "does not hold"), (.25, .25, 0, "holds")])
def test_a_number_agrees_within_rounding_and_three_errors(printed, ours, error, verdict):
    assert number("x", printed, ours, error=error)["verdict"] == verdict


def test_the_papers_own_error_counts_too():
    assert number("x", 10.0, 15.0, error=.9, printed_error=1.2)["verdict"] == "does not hold"
    assert number("x", 10.0, 14.0, error=.9, printed_error=1.2)["verdict"] == "holds"


def test_a_correction_must_hold_itself():
    right, wrong = Correction("rho is .72", ours=26.2), Correction("rho is .8", ours=31.0)
    assert number("x", "26", 24.7, correction=right) == {
        "claim": "x", "printed": 26.0, "ours": 24.7, "error": 0.0, "verdict": "holds corrected", "why": "rho is .72"}
    assert number("x", "26", 24.7, correction=wrong)["verdict"] == "does not hold"
    assert number("x", "26", 26.1, correction=wrong)["verdict"] == "holds"
    assert number("x", 4.0, 2.0, correction=Correction("half", printed=2.0))["verdict"] == "holds corrected"
    assert bound("x", "below 1", 2, high=1, correction=Correction("h", ours=.5, high=1))["verdict"] == \
        "holds corrected"
    assert bound("x", "below 1", 2, high=1, correction=Correction("h", ours=1.5, high=1))["verdict"] == \
        "does not hold"
    assert every("x", 3, 4, correction=Correction("h", ours=4))["verdict"] == "holds corrected"
    assert every("x", 3, 4, correction=Correction("h", ours=3))["verdict"] == "does not hold"


def test_ranges_are_closed_and_allow_for_the_error():
    assert bound("x", "1 to 2", 1.0, low=1, high=2)["verdict"] == "holds"
    assert bound("x", "1 to 2", 2.2, low=1, high=2, error=.07)["verdict"] == "holds"
    assert bound("x", "1 to 2", 2.2, low=1, high=2, error=.06)["verdict"] == "does not hold"
    assert equal("x", [1e-12, -2e-9])["verdict"] == "does not hold"


def test_a_twin_says_nothing_about_the_original():
    agrees, differs = (number("x", "1", ours, twin="a twin of it") for ours in (1.2, 3.0))
    assert (agrees["verdict"], agrees["why"]) == ("on a twin", "a twin of it; agrees there")
    assert (differs["verdict"], differs["why"]) == ("on a twin", "a twin of it; differs there")


def test_what_cannot_be_checked_has_a_reason_and_no_number():
    assert unchecked("x", "needs Maple") == {"claim": "x", "printed": "", "ours": None, "error": None,
                                             "verdict": "cannot be checked here", "why": "needs Maple"}
    assert claims.VERDICTS == ("holds", "holds corrected", "does not hold", "on a twin", "cannot be checked here")
