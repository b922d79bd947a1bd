"""Numbers as pages show them, against decimal arithmetic."""

import math
import re
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest

from workbench import results
from workbench.results import digits

RNG = np.random.default_rng(5)
SHARES = [
    *RNG.random(200),
    *(10.0 ** -RNG.uniform(1, 9, 100)),
    *(1 - 10.0 ** -RNG.uniform(1, 9, 100)),
    0.0,
    1.0,
]
ERRORS = [0.3, 0.12, 0.066, 0.02, 0.0049, 0.0003]


def decimals_of(text):
    return len(text.rstrip("%").partition(".")[2])


def rounded(number, places):
    return Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)


@pytest.mark.parametrize("error", ERRORS)
def test_a_percentage_is_the_rounded_share_unless_that_would_be_all_or_nothing(error):
    texts = digits.percents(*SHARES, error=error)
    places = max(0, 1 - math.floor(math.log10(100 * error)))
    for share, text in zip(SHARES, texts, strict=True):
        assert decimals_of(text) == places, (share, text)
        shown = rounded(100 * share, places)
        if shown in (0, 100) and share not in (0, 1):
            bound = Decimal(re.fullmatch(r"[<>] (\d+(\.\d+)?)%", text)[1])
            assert text[0] == (">" if share > 0.5 else "<") and (bound < 100 * Decimal(share)) == (
                share > 0.5
            )
            assert min(bound, 100 - bound) == Decimal(1).scaleb(-places)
        else:
            assert text == f"{shown}%"


def test_all_or_nothing_is_said_where_it_is_so():
    assert digits.percents(1.0, 0.0) == ("100.0%", "0.0%")
    assert digits.percents(0.9999, 0.99996, error=0.01) == ("> 99.9%", "> 99.9%")
    assert digits.percents(0.9999, error=0.00031) == ("99.990%",)
    assert digits.percents(1 + 2e-16, 1 - 1e-16) == ("100.0%", "100.0%")
    assert digits.percents(math.nan) == ("undefined",)


def test_a_column_has_one_number_of_decimals_and_hides_no_share():
    for size in (1, 3, 10):
        for _ in range(50):
            values = RNG.choice(SHARES, size).tolist()
            texts = digits.column(values)
            assert len({decimals_of(text) for text in texts}) == 1
            for value, text in zip(values, texts, strict=True):
                if value not in (0, 1) and "e" not in text:
                    assert "<" in text or ">" in text or float(text) not in (0, 1), (value, text)


def test_the_error_of_a_table_decides_its_digits():
    rows = [
        {
            "period": t,
            "estimate": 0.123456 + t / 100,
            "standard_error": 0.0087,
            "low": 0.106,
            "high": 0.1408,
            "pvalue": 0.04321,
        }
        for t in range(3)
    ]
    page = results.html_table(rows, "levels")
    cells = re.findall(r"<td>(.*?)</td>", page)[:6]
    assert cells == ["0", "0.1235", "0.0087", "0.1060", "0.1408", "0.04321"]


def test_counts_have_commas_and_years_have_none():
    page = results.html_table(
        [{"period": 2024, "size": 12345, "bounded": True, "problem": ""}], "t"
    )
    assert (
        re.findall(r"<td>(.*?)</td>", page) == ["2024", "12,345", "yes"] and "problem" not in page
    )


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (20_312_441.7, 1_604_331.2, "20,300,000"),
        (1234.5, 12.0, "1,234"),
        (0.04567, 0.0081, "0.0457"),
        (-0.0001, 0.02, "0.000"),
        (7.0, 0.0, "7"),
    ],
)
def test_numbers_in_the_units_of_the_file(value, error, text):
    assert digits.numbers(value, error=error) == (text,)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.17, "= .17"),
        (0.0312, "= .031"),
        (0.00042, "< .001"),
        (0.999, "> .99"),
        (1.0, "= 1"),
        (0.0996, "= .10"),
    ],
)
def test_p_values(p, text):
    assert digits.chance(p) == text
