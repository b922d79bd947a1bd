import importlib
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.replication.designs import SurveyDesign, sizes
from workbench.results import Result


@st.composite
def labels(draw):
    """Stratum and PSU label of each item, in any order, at least two PSUs per stratum."""
    sizes = draw(
        st.lists(st.lists(st.integers(1, 3), min_size=2, max_size=4), min_size=1, max_size=5)
    )
    items = [
        (f"s{h}", f"u{h}.{i}")
        for h, units in enumerate(sizes)
        for i, m in enumerate(units)
        for _ in range(m)
    ]
    return draw(st.permutations(items))


# order and counts


@given(labels())
def test_units_are_numbered_stratum_by_stratum_in_the_order_they_appear(items):
    stratum, psu = zip(*items, strict=True)
    design = SurveyDesign(stratum, psu=psu)
    expected = [
        unit
        for name in sorted(set(stratum))
        for unit in dict.fromkeys(u for s, u in items if s == name)
    ]
    assert design.strata.tolist() == sorted(set(stratum))
    assert [expected[k] for k in design.psu_of_item] == list(psu)
    assert [sorted(set(stratum))[h] for h in design.stratum_of_psu] == [
        f"s{unit[1]}" for unit in expected
    ]
    assert design.psus_per_stratum.tolist() == [
        len({u for s, u in items if s == name}) for name in design.strata
    ]
    assert design.df == len(set(psu)) - len(set(stratum))


def test_every_item_is_a_unit_by_default():
    design = SurveyDesign(["b", "a", "b", "a", "a"])
    assert design.psu is None and design.psu_of_item.tolist() == [3, 0, 4, 1, 2]
    assert design.stratum_of_psu.tolist() == [0, 0, 0, 1, 1] and design.weight.tolist() == [1] * 5
    assert SurveyDesign(["b", "a", "b", "a", "a"], psu=[1, 2, 3, 4, 5]).psu_of_item.tolist() == [
        3,
        0,
        4,
        1,
        2,
    ]


def test_degrees_of_freedom_are_units_less_strata_not_strata():
    """Section 7.4 says L, which holds for two units per stratum alone."""
    for n in (2, 3, 5):
        design = SurveyDesign(np.repeat(np.arange(7), n))
        assert design.df == 7 * (n - 1)
    assert SurveyDesign(np.repeat(np.arange(7), 2)).df == 7


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_labels_may_be_text_or_numbers_of_any_sequence(kind):
    text = SurveyDesign(kind(["b", "b", "a", "a"]), psu=kind([1.5, 2.5, 3.5, 4.5]))
    number = SurveyDesign(
        kind([20, 20, 10, 10]), psu=kind(["w", "x", "y", "z"]), weight=kind([1, 2, 3, 4])
    )
    assert text.psu_of_item.tolist() == number.psu_of_item.tolist() == [2, 3, 0, 1]
    assert number.strata.tolist() == [10, 20]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_data_frames_serve(library):
    frames = importlib.import_module(library)
    data = frames.DataFrame(
        {"s": ["b", "b", "a", "a"], "u": [1, 2, 3, 4], "w": [1.0, 2.0, 3.0, 4.0]}
    )
    design = SurveyDesign(data["s"], psu=data["u"], weight=data["w"])
    assert design.strata.tolist() == ["a", "b"] and design.totals(
        np.ones((4, 1))
    ).ravel().tolist() == [3, 4, 1, 2]


def test_totals_are_weighted_sums_per_unit():
    design = SurveyDesign(["b", "a", "b", "a", "b"], psu=[1, 2, 3, 4, 1], weight=[1, 2, 3, 4, 5])
    values = np.array([[1, 1], [10, 1], [100, 1], [1000, 1], [10000, 1.0]])
    assert design.totals(values).tolist() == [[20, 2], [4000, 4], [50001, 6], [300, 3]]


def test_a_design_does_not_follow_its_arrays():
    weight = np.ones(4)
    design = SurveyDesign(["a", "a", "b", "b"], weight=weight)
    weight[0] = 9
    assert design.weight.tolist() == [1] * 4
    with pytest.raises(ValueError, match="read-only"):
        design.weight[0] = 9


# collapse


def test_collapse_joins_strata():
    stratum, psu = ["a", "a", "b", "c", "c"], [1, 2, 3, 4, 5]
    design = SurveyDesign(stratum, psu=psu, collapse={"b": "a"})
    assert design.strata.tolist() == ["a", "c"] and design.psus_per_stratum.tolist() == [3, 2]
    assert design.stratum.tolist() == stratum and design.df == 3
    renamed = SurveyDesign([1, 1, 2, 3, 3], psu=psu, collapse={2: 3})
    assert renamed.strata.tolist() == [1, 3] and renamed.psus_per_stratum.tolist() == [2, 3]
    assert SurveyDesign(
        ["a", "b", "c", "c"], collapse={"a": "both", "b": "both"}
    ).strata.tolist() == ["both", "c"]


def test_collapse_does_not_join_units_of_different_strata_that_have_the_same_label():
    """PSU 1 of b is not PSU 1 of a: without collapse this is refused, and joining strata does not cure it."""
    text = "psu must lie in one stratum; 1 is in 'a' and 'b' (items 0 and 2, counted from 0): if the numbers start again in every stratum, set nest=True"
    for collapse in (None, {"b": "a"}, {"a": "b"}):
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            SurveyDesign(["a", "a", "b"], psu=[1, 2, 1], collapse=collapse)


# printing and storing


def test_headline_and_rows():
    design = SurveyDesign(
        ["a"] * 4 + ["b"] * 2 + ["c"] * 3, psu=[1, 1, 2, 2, 3, 4, 5, 6, 7], weight=[2.0] * 9
    )
    assert repr(design) == (
        "SurveyDesign(9 items, 7 PSUs in 3 strata (2 strata of 2, 1 stratum of 3), "
        "4 degrees of freedom)"
    )
    assert design.rows() == [
        {"stratum": "a", "psus": 2, "items": 4, "weight": 8.0},
        {"stratum": "b", "psus": 2, "items": 2, "weight": 4.0},
        {"stratum": "c", "psus": 3, "items": 3, "weight": 6.0},
    ]
    assert (
        repr(SurveyDesign([1, 1]))
        == "SurveyDesign(2 items, 2 PSUs in 1 stratum (2 each), 1 degree of freedom)"
    )


@pytest.mark.parametrize(
    "design",
    [
        SurveyDesign(["a", "a", "b", "b"]),
        SurveyDesign([3, 3, 1, 1], psu=["w", "x", "y", "z"], weight=[0.1, 0.2, 0.3, 0.4]),
        SurveyDesign(["a", "a", "b"], collapse={"b": "a"}),
    ],
    ids=["items", "units", "collapsed"],
)
def test_round_trip_through_json(design):
    again = Result.from_dict(json.loads(json.dumps(design.to_dict())))
    assert (
        type(again) is SurveyDesign
        and repr(again) == repr(design)
        and again.rows() == design.rows()
    )
    assert (
        again.psu_of_item.tolist() == design.psu_of_item.tolist()
        and again.collapse == design.collapse
    )
    assert (again.weight == design.weight).all()


def test_words_for_sizes():
    assert sizes([2, 2]) == "2 each" and sizes([3, 2, 2]) == "2 strata of 2, 1 stratum of 3"
    assert sizes(range(2, 9)).endswith("1 stratum of 6, ...") and sizes(range(2, 7)).endswith(
        "1 stratum of 6"
    )


# errors

AB = ["a", "a", "b", "b"]
LONELY = "stratum must hold at least 2 PSUs; {}: merge each with another stratum, chosen before you see the outcome, such as collapse={}"
WRONG = [
    (lambda: SurveyDesign([]), "stratum must not be empty"),
    (lambda: SurveyDesign([AB]), "stratum must be one-dimensional; got shape (1, 4)"),
    (lambda: SurveyDesign(["a", "a", None, "b"]), "stratum must not be missing; item 2 is"),
    (lambda: SurveyDesign([1.0, 1.0, 2.0, np.nan]), "stratum must not be missing; item 3 is"),
    (lambda: SurveyDesign(AB, psu=[1, 2, 3, None]), "psu must not be missing; item 3 is"),
    (lambda: SurveyDesign(AB, psu=[1, 2, 3]), "psu must have 4 entries; got 3"),
    (lambda: SurveyDesign(AB, weight=[1, 1, 1]), "weight must have 4 entries; got 3"),
    (
        lambda: SurveyDesign(AB, weight=[0, 0, 0, 0]),
        "weight must be above 0 for some item; all are 0",
    ),
    (lambda: SurveyDesign(AB, weight=[1, 1, 1, -2.5]), "weight must be at least 0; item 3 is -2.5"),
    (lambda: SurveyDesign(AB, weight=[1, np.nan, 1, 1]), "weight must be finite; item 1 is nan"),
    (lambda: SurveyDesign(AB, weight=[1, np.inf, 1, 1]), "weight must be finite; item 1 is inf"),
    (
        lambda: SurveyDesign(AB, psu=["p", "q", "r", "p"]),
        "psu must lie in one stratum; 'p' is in 'a' and 'b' (items 0 and 3, counted from 0): if the numbers start again in every stratum, set nest=True",
    ),
    (
        lambda: SurveyDesign(["a", "a", "lonely"]),
        LONELY.format("'lonely' holds 1", "{'lonely': 'a'}"),
    ),
    (lambda: SurveyDesign(AB, psu=[1, 1, 2, 3]), LONELY.format("'a' holds 1", "{'a': 'b'}")),
    (lambda: SurveyDesign([7, 8, 9, 9]), LONELY.format("7, 8 hold 1", "{7: 9}")),
    (
        lambda: SurveyDesign(list("abcdefgzz")),
        LONELY.format("'a', 'b', 'c', 'd', 'e' and 2 more hold 1", "{'a': 'z'}"),
    ),
    (
        lambda: SurveyDesign(list("aaa"), psu=[4, 4, 4]),
        "stratum must hold at least 2 PSUs; 'a' holds 1: there is no other stratum to merge it with",
    ),
    (lambda: SurveyDesign(["a", "b"]), LONELY.format("'a', 'b' hold 1", "{'a': 'b'}")),
    (
        lambda: SurveyDesign(AB, collapse={"c": "a"}),
        "collapse must rename strata of the design; 'c' is none of 'a', 'b'",
    ),
    (
        lambda: SurveyDesign(["north", "north", "south"], collapse={"soth": "north"}),
        "collapse must rename strata of the design; 'soth' is none of 'north', 'south' (did you mean 'south'?)",
    ),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text[:60] for _, text in WRONG])
def test_errors_name_argument_rule_row_and_remedy(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


def test_weights_must_be_numbers():
    with pytest.raises(
        TypeError, match=r"^weight must hold numbers; got <U1 such as np.str_\('1'\)$"
    ):
        SurveyDesign(AB, weight=list("1234"))
