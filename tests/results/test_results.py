import functools
import json
import math
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

import workbench as wb
from workbench import results
from workbench.checks import WrongType
from workbench.results import NOTE_KINDS, Interval, Note, Result, note_list, sentences
from workbench.simulations.stratified import simulate_grid, simulate_labeling
from workbench.stratified import waves


class Sheet(Result):
    value: object
    name: str = "<b>&\"'"

    def headline(self):
        return f"finding {self.name}"

    def rows(self):
        return [{"<name>": self.name, "x": 1.23456789, "missing": math.nan, "none": None, "k": 3}]


def examples():
    size, labeled, correct = [360, 359, 30], [20, 20, 30], [12, 20, 29]
    sizes, right = [360, 359, 360, 359, 359], [209, 307, 346, 355, 359]
    yield wb.stratified_interval(size, labeled, correct)
    yield wb.stratified_interval(size, labeled, correct, method="short")
    yield wb.stratified_accuracy(size, labeled, correct)
    yield wb.stratify([0.5, 0.6, 0.8, 0.9, 1, 1], 3, "equal_size")
    yield wb.stratify([0.5, 0.6, 0.8, 0.9, 1, 1], 3, "equal_width")
    yield wb.allocate([1000, 600, 160, 37], 100, "equal")
    yield wb.allocate(
        [1000, 600, 160, 37], 100, "voila", stratum_sd=[0.3, 0.3, 0.3, 0.3], integer=False
    )
    yield wb.plan_budget(sizes, [0.58, 0.85, 0.96, 0.99, 1], 0.03, interval="wald", method="neyman")
    yield waves.wave_accuracy([100, 100], [[5, 5], [12, 8]], [[3, 5], [8, 7]])
    yield simulate_labeling(sizes, right, 60, "opt_a2", runs=20)
    yield simulate_labeling(sizes, right, 60, "waves", runs=20)
    yield simulate_labeling([10], [10], 5, "proportional", runs=3)
    yield simulate_grid(
        [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] * 20,
        [0, 1, 1, 1, 1, 1] * 20,
        30,
        n_strata=[2],
        runs=5,
        stratifiers=["equal_size"],
        methods=["equal", "opt_a1"],
    )


EXAMPLES = list(examples())
NAMED = pytest.mark.parametrize("result", EXAMPLES, ids=lambda r: type(r).__name__)


def same(a, b):
    """Equal in type, shape, dtype and every bit of meaning, NaN included."""
    if isinstance(a, Result):
        return type(a) is type(b) and all(same(x, vars(b)[name]) for name, x in vars(a).items())
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and all(same(x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))
        )
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return (
            type(a) is type(b)
            and len(a) == len(b)
            and all(same(x, y) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    return type(a) is type(b) and a == b


def round_trip(result):
    return Result.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False)))


@NAMED
def test_every_result_survives_json_without_loss(result):
    assert same(result, round_trip(result))
    assert repr(round_trip(result)) == repr(result)


def test_the_comparison_used_here_can_fail():
    a = Interval(0.1, 0.2, 0.95, "wald")
    assert not same(a, Interval(0.1, 0.2, 0.95, "wald", notes=(Note("data", "x"),)))
    assert not same(np.array([1]), np.array([1.0])) and not same((1,), [1]) and not same(1, True)


@NAMED
def test_no_result_can_be_changed(result):
    for name, value in vars(result).items():
        with pytest.raises(FrozenInstanceError):
            setattr(result, name, value)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
        assert not isinstance(value, np.generic)


def test_arrays_are_copies():
    given = np.array([1.0, 2.0])
    sheet = Sheet(given)
    given[0] = 9
    assert sheet.value[0] == 1 and given.flags.writeable


def test_arrays_and_numpy_numbers_inside_a_dict_are_frozen_and_survive():
    given = np.array([1.0, 2.0])
    sheet = Sheet({"a": given, "b": np.int64(3), "c": [np.float64(1.5), given]})
    given[0] = 9
    assert sheet.value["a"][0] == 1 and not sheet.value["a"].flags.writeable
    assert type(sheet.value["b"]) is int
    assert same(sheet, round_trip(sheet))


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        -0.0,
        None,
        True,
        "text",
        2**70,
        (),
        (1, (2.5, None, (math.nan,))),
        {"a": {"b": (1, math.nan)}, 3: None},
        {"float": "nan"},
        {"array": 1, "dtype": 2, "shape": 3},
        {"kind": "Interval"},
        {"tuple": (1,)},
        {"dict": 5},
        np.array([], float),
        np.zeros((0, 3), np.int32),
        np.array(5.5),
        np.array([[1, 2]]),
        np.array([math.nan, math.inf, -math.inf, -0.0]),
        np.array([True, False]),
        np.array(["ä", "日本", ""]),
        np.array([1, 2], np.uint64) + np.uint64(2**63),
        np.array([0.1, 0.2], np.float32),
        np.array([1, 2], ">i4"),
        Interval(0.1, 0.2, 0.95, "wald", 3, notes=[Note("data", "a", ("row", 3))]),
        (Interval(0.1, math.nan, 0.95, "wald"),),
    ],
    ids=repr,
)
def test_every_kind_of_value_survives(value):
    assert same(Sheet(value), round_trip(Sheet(value)))


def test_only_the_right_kind_and_schema_are_restored():
    data = Interval(0.1, 0.2, 0.95, "wald").to_dict()
    assert isinstance(Interval.from_dict(data), Interval)
    for kind, given, rule in (
        (Sheet, data, "be a Sheet made by to_dict; got kind 'Interval'"),
        (Result, data | {"kind": "Nonsense"}, "be a Result made by to_dict; got kind 'Nonsense'"),
        (Result, data | {"schema": 99}, "have schema 2; got 99"),
    ):
        with pytest.raises(ValueError, match=f"^data must {rule}$"):
            kind.from_dict(given)


class Collector(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_escaped_and_shows_what_was_given():
    page = Collector()
    page.feed(Sheet(1)._repr_html_())
    assert page.tags == [
        "figure",
        "figcaption",
        "div",
        "table",
        "thead",
        "tr",
        *["th"] * 5,
        "tbody",
        "tr",
        *["td"] * 5,
    ]
    assert page.text == [
        "finding <b>&\"'",
        "<name>",
        "x",
        "missing",
        "none",
        "k",
        "<b>&\"'",
        "1.235",
        "3",
    ]


def test_a_long_table_is_cut_and_says_so():
    page = Collector()
    page.feed(results.html_table([{"k": k} for k in range(21)], "counts"))
    assert page.text[0] == "counts (the first 20 of 21 rows)"
    assert page.text[-1] == "19" and page.tags.count("td") == 20
    whole = Collector()
    whole.feed(results.html_table([{"k": k} for k in range(20)], "counts"))
    assert whole.text[0] == "counts" and whole.tags.count("td") == 20


@pytest.mark.parametrize(("bounded", "shown"), [(0.1, True), (0.2 - 1e-9, False)])
def test_bounded_limits_are_columns_where_they_do_not_read_as_the_limits(bounded, shown):
    row = {"low": 0.2, "high": 0.6, "bounded_low": bounded, "bounded_high": 0.6}
    assert ("low, bounded" in results.html_table([row], "t")) == shown


def test_an_empty_table_is_still_a_table():
    page = Collector()
    page.feed(results.html_table([], "nothing"))
    assert page.text == ["nothing"] and "td" not in page.tags


@NAMED
def test_every_result_prints_on_one_line_and_as_a_table(result):
    assert repr(result) == f"{type(result).__name__}({result.headline()})"
    assert "\n" not in repr(result) and len(repr(result)) < 300
    page = Collector()
    page.feed(result._repr_html_())
    assert page.tags.count("th") == len(result.rows()[0])


@NAMED
@pytest.mark.parametrize(
    "backend, kind", [("polars", pl.DataFrame), ("pandas", pd.DataFrame), ("pyarrow", pa.Table)]
)
def test_rows_become_a_frame_of_each_library(result, backend, kind):
    frame = result.to_frame(backend)
    assert isinstance(frame, kind)
    rows = (
        frame.to_dict("records")
        if backend == "pandas"
        else frame.to_dicts()
        if backend == "polars"
        else frame.to_pylist()
    )
    expected = result.rows()
    assert len(rows) == len(expected) and list(rows[0]) == list(expected[0])
    for row, wanted in zip(rows, expected, strict=True):
        for name, value in wanted.items():
            missing = value is None or (isinstance(value, float) and math.isnan(value))
            assert (row[name] is None or row[name] != row[name]) if missing else row[name] == value


def test_polars_comes_first():
    assert isinstance(EXAMPLES[0].to_frame(), pl.DataFrame)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None)
    with pytest.raises(ImportError, match="^to_frame needs pandas: pip install pandas$"):
        EXAMPLES[0].to_frame("pandas")
    needed = "^to_frame needs polars or pandas or pyarrow: pip install polars$"
    with pytest.raises(ImportError, match=needed):
        EXAMPLES[0].to_frame()


def test_an_interval_unpacks_contains_and_measures_itself():
    interval = Interval(0.25, 0.75, 0.9, "default", 2, notes=[Note("data", "careful")])
    low, high = interval
    assert (low, high, interval.half_width) == (0.25, 0.75, 0.25)
    assert (
        0.25 in interval
        and 0.75 in interval
        and 0.7500001 not in interval
        and 0.2499999 not in interval
    )
    assert repr(interval) == "Interval(0.25 to 0.75, 0.9 default)"
    assert sentences(interval.notes) == ("careful",)
    assert interval.rows() == [{"method": "default", "level": 0.9, "low": 0.25, "high": 0.75}]


@pytest.mark.parametrize(
    "level, text", [(0.95, "95%"), (0.999, "99.9%"), (0.9, "90%"), (0.6827, "68.27%")]
)
def test_levels_in_percent(level, text):
    assert results.percent(level) == text


def test_places_of_several_strata_or_classes_have_their_plural():
    for place, many in (("stratum", "strata"), ("class", "classes"), ("row", "rows")):
        notes = [Note("data", "is odd", (place, k if place == "row" else str(k))) for k in (1, 4)]
        assert sentences(notes) == (f"{many} 1, 4: is odd",) and sentences(notes[:1]) == (
            f"{place} 1: is odd",
        )


def test_a_stratum_that_is_an_index_is_said_counted_from_1_and_one_that_has_a_name_by_its_name():
    index, name, row = (
        Note("data", "is odd", place) for place in (("stratum", 0), ("stratum", "0"), ("row", 0))
    )
    assert [str(note) for note in (index, name, row)] == [
        "stratum 1: is odd",
        "stratum 0: is odd",
        "row 0: is odd",
    ]
    assert sentences([index, Note("data", "is odd", ("stratum", 4))]) == ("strata 1, 5: is odd",)
    assert [note.place for note in (index, name, row)] == [
        ("stratum", 1),
        ("stratum", "0"),
        ("row", 0),
    ]
    assert index.where == ("stratum", 0) and Note("data", "is odd").place is None
    saved = Interval(0.1, 0.2, 0.95, "wald", notes=[index]).to_dict()
    assert saved["values"]["notes"] == {
        "tuple": [{"note": ["data", "is odd", {"tuple": ["stratum", 0]}]}]
    }


def test_notes_stand_by_weight_each_once():
    notes = [Note(kind, f"{kind} {i}") for i in (1, 2) for kind in reversed(NOTE_KINDS)]
    found = Interval(0.1, 0.2, 0.95, "wald", notes=[*notes, *notes])
    assert [note.text for note in found.notes] == [
        f"{kind} {i}" for kind in NOTE_KINDS for i in (1, 2)
    ]
    assert Result.from_dict(json.loads(json.dumps(found.to_dict()))).notes == found.notes
    assert sentences(found.notes) == tuple(note.text for note in found.notes)


def test_a_text_is_said_once_with_its_places():
    notes = [
        Note("data", "is odd", ("row", 2)),
        Note("refused", "no items"),
        Note("data", "is odd", ("row", 7)),
        Note("data", "is odd"),
        Note("design", "is odd", ("row", 9)),
        Note("remark", "no items"),
    ]
    assert sentences(notes) == ("no items", "rows 2, 7: is odd", "is odd", "row 9: is odd")
    assert sentences(note for note in notes) == sentences(notes)
    assert note_list(notes[:2] + [Note("data", "<b>")]) == (
        '<div class="workbench-notes"><p>Notes:</p><ul><li>no items</li><li>row 2: is odd</li><li>&lt;b&gt;</li></ul>'
        "</div>"
    )
    assert note_list(()) == "<p>Notes: none.</p>" and sentences(()) == ()
    many = [Note("data", "is odd", ("row", k)) for k in range(11)]
    assert sentences(many) == ("rows 0, 1, 2, 3, 4, 5, 6, 7 and 3 more: is odd",)


def test_a_note_has_a_kind_and_a_result_has_notes():
    kinds = (
        "must be one of 'refused', 'undefined', 'unreliable', 'assumption', 'data', 'design', 're"
    )
    refused(lambda: Note("odd", "a"), "kind", kinds, "got 'odd'")
    call = functools.partial(Interval, 0.1, 0.2, 0.95, "wald", notes=["a"])
    refused(call, "notes", "must be of class Note", "got str", WrongType)


def test_a_place_is_plain_and_the_notes_are_shown_below_the_table():
    note = Note("data", "is odd", ["stratum", np.int64(3)])
    assert note == Note("data", "is odd", ("stratum", 3)) and type(note.where[1]) is int
    assert (
        Interval(0.1, 0.2, 0.95, "wald", notes=[note])
        ._repr_html_()
        .endswith(
            '</figure><div class="workbench-notes"><p>Notes:</p><ul><li>stratum 4: is odd</li></ul></div>'
        )
    )
    assert Interval(0.1, 0.2, 0.95, "wald")._repr_html_().endswith("</table></div></figure>")


def test_columns_of_numbers_are_to_the_right_but_the_first_and_short_ones_stay_unbroken():
    rows = [
        {"k": 1, "x": -0.5, "y": "a", "z": None, "said": "a sentence of some length"},
        {"k": 2, "x": 1000.0, "y": 1, "z": "3%", "said": ""},
    ]
    assert '<table class="workbench" data-right="2 4" data-short="1 2 3 4">' in results.html_table(
        rows, ""
    )
    assert results.alignment([["1", ""], ["", ""], ["> 99.9%", "\u22121,234.5e-3"]]) == {
        "data-right": "3",
        "data-short": "1 2 3",
    }


def test_sizes_are_shown_with_commas_and_names_are_not():
    shown = results.html_table(
        [{"size": 12345, "stratum": 12345, "labeled": 1000, "correct": True}], ""
    )
    assert "<td>12,345</td><td>12345</td><td>1,000</td><td>yes</td>" in shown
