"""Numbers as people write them, against a writer of every convention."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data.decimals import parse
from workbench.data.numbers import to_cells, to_numbers

THOUSANDS = ("", ",", ".", " ", "'", "\u2019", "\u202f", "\u00a0")
CONVENTIONS = [
    (mark, thousands) for mark, thousands in itertools.product(",.", THOUSANDS) if mark != thousands
]


def written(value, mark, thousands):
    return (
        f"{value:,}".replace(",", "t").replace(".", "d").replace("t", thousands).replace("d", mark)
    )


@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1), st.sampled_from(CONVENTIONS))
def test_what_was_written_is_read(values, convention):
    texts = [written(value, *convention) for value in values]
    found, problem = parse(texts)
    assert problem == () and found.tolist() == list(map(float, values))
    column = np.array([*texts, None], object)
    assert (
        to_cells("x", column, others={"y": np.array([written(1.5, *convention)], object)})[:-1]
        == found.tolist()
    )


@given(st.lists(st.integers(0, 10**12), min_size=1), st.sampled_from(CONVENTIONS))
def test_whole_numbers_are_read_where_they_are_wanted(values, convention):
    texts = [written(value, *convention) for value in values]
    found, problem = parse(texts, is_whole=True)
    assert problem == () and found.tolist() == values
    if convention[1] == "," and all(999 < value < 10**6 for value in values):
        assert "may separate thousands or decimals" in parse(texts)[1][1]


@pytest.mark.parametrize(
    ("texts", "beside", "whole", "found"),
    [
        (["1,234"], ["0.5"], False, [1234]),
        (["1,234"], ["0,5"], False, [1.234]),
        (["1.234"], ["0,5"], False, [1234]),
        (["1.234"], ["0.5"], False, [1.234]),
        (["1.234"], [], False, [1.234]),
        (["1.234"], ["a", "0,5"], False, [1.234]),
        (["1.234"], ["0,5"], True, [1234]),
        (["1,234"], ["0.5"], True, [1234]),
        (["1.234", "2000.5"], [], True, [1.234, 2000.5]),
        (["1,234", "1.234"], [], True, None),
        (["1,234"], ["0,5"], True, None),
        (["1.234"], ["0.5"], True, None),
        (["1,234"], [], False, None),
        (["1,234"], ["0,5", "0.5"], False, None),
        (["1.234"], ["0,5", "0.5"], False, None),
    ],
)
def test_the_other_columns_decide_where_a_column_is_open(texts, beside, whole, found):
    columns = {"y": np.array(beside, object)} if beside else {}
    column = np.array(texts, object)
    if found is None:
        with pytest.raises(
            ValueError, match="may separate thousands or decimals. Write it without a"
        ):
            to_numbers("x", column, others=columns, whole=whole)
    else:
        assert to_numbers("x", column, others=columns, whole=whole).tolist() == found


def test_numbers_that_are_no_text_have_no_mark():
    column = np.array([8.125, "0,5", 3, True, "1.234"], object)
    assert to_numbers("x", column).tolist() == [8.125, 0.5, 3, 1, 1234]
    mixed = np.array([8.125, 1e300, float("nan"), None, "x"], object)
    assert to_cells("x", mixed) == [8.125, int(1e300), None, None, "x"]
