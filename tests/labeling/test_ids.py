import hashlib
import json
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data.scored_items import ScoredItems
from workbench.labeling import plans
from workbench.labeling.ids import matched


@pytest.mark.parametrize(
    ("identifier", "cell"),
    [
        ("007", "7"),
        ("-05", "-5"),
        ("7.50", "7.5"),
        ("7.50", "7,5"),
        ("0012", "12.0"),
        ("1200000", "1.20E+06"),
        ("12E5", "1.20E+06"),
        ("12E5", "1,2E+006"),
        ("12E5", "1200000.0e0"),
        ("12345678901234567890", "1.23457E+19"),
        ("12345678901234567890", "12345678901234500000"),
        ("12345678901234567890", "1.23456789012345e+19"),
        ("0.00012", "1.20E-04"),
    ],
)
def test_what_a_spreadsheet_shows_of_an_identifier(identifier, cell):
    items = {"x": 0, identifier: 1, "y": 2}
    assert matched([cell, "x"], items, list(items)) == ([1, 0], {cell: identifier})
    assert matched([cell, "x"], items, ["x", "y"])[0] == [None, 0]  # it was not asked for
    assert matched([cell, "x"], items)[0] == [None, 0]
    assert matched([cell, identifier], items, list(items))[0] == [None, 1]  # it stands there itself


@pytest.mark.parametrize(
    ("identifier", "cell"),
    [
        ("007", "8"),
        ("1200001", "1200000"),
        ("1206000", "1.20E+06"),
        ("12E5", "1200000"),
        ("2024-01-07", "45298"),
        ("7a", "7"),
        ("1E999999999", "1E+99"),
        ("\u0667", "7"),
        ("7", "7e"),
        ("7", ""),
    ],
)
def test_what_it_would_show_otherwise_or_is_no_number(identifier, cell):
    assert matched([cell], {identifier: 0}, [identifier]) == ([None], {})


def test_two_identifiers_that_look_alike_are_not_told_apart():
    items = {"1200000": 0, "1203456": 1, "0009": 2, "9.0": 3}
    assert matched(["1.20E+06", "9"], items, list(items)) == ([None, None], {})
    assert matched(["1.20E+06", "9"], items, ["1203456", "0009"])[0] == [1, 2]


def scientific(number, digits):
    """A whole number as spreadsheets write it: half is rounded up."""
    step = 10 ** max(len(str(number)) - digits, 0)
    shown = str((number + step // 2) // step * step).ljust(digits, "0")
    power = len(str((number + step // 2) // step * step)) - 1
    return f"{shown[0]}.{shown[1:digits]}E+{power:02d}"


@given(st.sets(st.integers(0, 10**8), min_size=1, max_size=30), st.integers(2, 4))
def test_a_match_is_the_only_one_that_rounds_so(numbers, digits):
    ids = [f"{number:09d}" for number in numbers]
    cells = [scientific(number, digits) for number in numbers]
    found, _ = matched(cells, {text: place for place, text in enumerate(ids)}, ids)
    assert found == [place if cells.count(cell) == 1 else None for place, cell in enumerate(cells)]


@given(
    st.lists(
        st.text(st.sampled_from('a7"\\\n, é\u2028\x7f'), max_size=6).map(str.strip),
        min_size=1,
        max_size=9,
    )
)
def test_the_digest_of_identifiers_is_that_of_their_json_as_a_whole(ids):
    whole = hashlib.sha256(json.dumps(ids, ensure_ascii=False).encode()).hexdigest()
    with mock.patch.object(plans, "PART", 3):
        assert (
            plans.item_digests(ScoredItems(np.array(ids, object), np.full(len(ids), 0.5)))["id"]
            == whole
        )
