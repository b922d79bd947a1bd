"""Verdicts follow from the numbers."""

import pytest

from workbench.extras.papers import claims
from workbench.extras.papers.claims import (
    Correction,
    bound,
    equal,
    every,
    number,
    put_in,
    unchecked,
)
from workbench.extras.papers.result import SHOWN, Replay
from workbench.results import vocabulary


@pytest.mark.parametrize(
    "printed, ours, error, verdict",
    [
        ("26", 26.49, 0, "holds"),
        ("26", 26.51, 0, "does not hold"),
        ("26", 25.49, 0, "does not hold"),
        ("0.074", 0.0736, 0, "holds"),
        ("0.074", 0.0734, 0, "does not hold"),
        ("2e5", 2.275e5, 0, "holds"),
        ("2e5", 2.51e5, 0, "does not hold"),
        ("1.3e7", 1.151e7, 0, "does not hold"),
        ("26", 27.4, 0.31, "holds"),
        ("26", 27.4, 0.29, "does not hold"),
        (0.25, 0.25 + 1e-6, 0, "does not hold"),
        (0.25, 0.25, 0, "holds"),
    ],
)
def test_a_number_agrees_within_rounding_and_three_errors(printed, ours, error, verdict):
    assert number("x", printed, ours, error=error)["verdict"] == verdict


def test_the_papers_own_error_counts_too():
    assert number("x", 10.0, 15.0, error=0.9, printed_error=1.2)["verdict"] == "does not hold"
    assert number("x", 10.0, 14.0, error=0.9, printed_error=1.2)["verdict"] == "holds"


PRINTED_WRONG = "wrong as printed, right when corrected"


def test_a_correction_must_hold_itself():
    right, wrong = Correction("rho is .72", ours=26.2), Correction("rho is .8", ours=31.0)
    assert number("x", "26", 24.7, correction=right) == {
        "claim": "x",
        "printed": "26",
        "ours": 24.7,
        "corrected": 26.2,
        "reach": "± 0.5",
        "error": 0.0,
        "verdict": PRINTED_WRONG,
        "why": "rho is .72",
    }
    assert number("x", "26", 24.7, correction=wrong)["verdict"] == "does not hold"
    assert number("x", "26", 26.1, correction=wrong)["verdict"] == "holds"
    assert number("x", 4.0, 2.0, correction=Correction("half", printed=2.0))["corrected"] == 2.0
    assert (
        bound("x", "below 1", 2, high=1, correction=Correction("h", ours=0.5, high=1))["verdict"]
        == PRINTED_WRONG
    )
    assert (
        bound("x", "below 1", 2, high=1, correction=Correction("h", ours=1.5, high=1))["verdict"]
        == "does not hold"
    )
    assert every("x", 3, 4, correction=Correction("h", ours=4))["corrected"] == "4 of 4"
    assert every("x", 3, 4, correction=Correction("h", ours=3))["verdict"] == "does not hold"


def test_a_refuted_statement_is_not_rescued_by_what_holds_instead():
    rows = (
        number("x", "46", 50.6, instead="50.6"),
        bound("x", "biased", 0, low=1, instead="it is unbiased"),
        every("x", 3, 4, instead="otherwise 4"),
    )
    assert {row["verdict"] for row in rows} == {"does not hold"}
    assert [row["why"] for row in rows] == ["50.6", "it is unbiased", "otherwise 4"]
    assert {row["corrected"] for row in rows} == {None}
    assert every("x", 4, 4, instead="otherwise 4")["why"] == ""


@pytest.mark.parametrize(
    "row, reach",
    [
        (number("x", "26", 26.1), "± 0.5"),
        (number("x", 0.25, 0.25), "exact"),
        (number("x", "26", 26.1, error=0.1), "± 0.8"),
        (number("x", "1e5", 75_863.0), "± 50,000"),
        (number("x", 10.0, 10.1, error=0.3, printed_error=0.4), "± 1.5"),
        (bound("x", "", 1, low=0.8, high=1.25), "0.8 to 1.25"),
        (bound("x", "", 0, high=0.04), "at most 0.04"),
        (bound("x", "", 2, low=1.5, error=0.1), "at least 1.5 ± 0.3"),
        (bound("x", "", 0, low=0, high=0, error=0.001), "0 ± 0.003"),
        (every("x", 2, 2), "in every case"),
        (equal("x", 0), "at most 1e-09"),
        (unchecked("x", "why"), ""),
    ],
)
def test_the_reach_says_within_what_it_was_decided(row, reach):
    assert row["reach"] == reach


def test_ranges_are_closed_and_allow_for_the_error():
    assert bound("x", "1 to 2", 1.0, low=1, high=2)["verdict"] == "holds"
    assert bound("x", "1 to 2", 2.2, low=1, high=2, error=0.07)["verdict"] == "holds"
    assert bound("x", "1 to 2", 2.2, low=1, high=2, error=0.06)["verdict"] == "does not hold"
    assert equal("x", [1e-12, -2e-9])["verdict"] == "does not hold"


def test_a_stand_in_decides_nothing():
    agrees, differs = (number("x", "1", ours, stand_in="a stand-in") for ours in (1.2, 3.0))
    assert (agrees["verdict"], agrees["why"]) == (
        "not decided here",
        "a stand-in; our number agrees there",
    )
    assert (differs["verdict"], differs["why"]) == (
        "not decided here",
        "a stand-in; our number differs there",
    )


def test_what_cannot_be_checked_has_a_reason_and_no_number():
    assert unchecked("x", "needs Maple") == {
        "claim": "x",
        "printed": "",
        "ours": None,
        "corrected": None,
        "reach": "",
        "error": None,
        "verdict": "not decided here",
        "why": "needs Maple",
    }
    assert claims.VERDICTS == ("holds", PRINTED_WRONG, "does not hold", "not decided here")


def test_what_was_put_in_is_marked_and_not_counted():
    row = put_in("strata", "a constant of the stand-in", "177")
    assert (row["verdict"], row["ours"], row["printed"]) == ("put in", None, "177")
    found = Replay("kloos/table1", "t", (row, every("x", 1, 1)), (), False, "none")
    assert found.verdicts() == {"holds": 1}


def test_in_a_notebook_the_verdict_stands_first_and_numbers_have_their_own_digits():
    rows = (
        number("x", "26", 24.667, correction=Correction("h", ours=26.2)),
        bound("y", "small", 1e-7, high=1),
    )
    text = Replay("kloos/table1", "t", rows, (), False, "none")._repr_html_()
    heads = [text.index(f">{vocabulary.words(name)}</th>") for name in SHOWN]
    assert SHOWN == ("verdict", "claim", "printed", "ours", "corrected", "reach", "why")
    assert heads == sorted(heads) and all(
        f"<td>{cell}</td>" in text for cell in ("26", "24.67", "26.2", "1e-07")
    )
