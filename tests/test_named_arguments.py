"""An error begins with the name of the argument that the caller wrote."""

import inspect
import re

import pytest
from calls import CALLS

import workbench as wb

# parameters that take one of a few words, wherever they occur
WORDS = {
    "method",
    "methods",
    "interval",
    "stratifier",
    "stratifiers",
    "allocation",
    "alternative",
    "rates",
    "rule",
    "form",
    "adjust",
    "order",
    "score_is",
    "quantity",
    "statistic",
    "kind",
    "center",
    "metrics",
    "tests",
    "asks",
    "zero_variance",
    "loss",
    "metric",
}
# these write or read files, or take a number of that name
ELSEWHERE = {"write_label_sheet", "read_label_sheet", "hadamard"}
EACH = [
    pytest.param(call, name, id=f"{call[0].__name__}-{name}") for call in CALLS for name in call[3]
]


@pytest.mark.parametrize("call, name", EACH)
@pytest.mark.parametrize("wrong", ["neymann!", ["neymann!"], 7])
def test_a_wrong_word_is_refused_by_the_name_of_its_argument(call, name, wrong):
    function, arguments, more, _ = call
    given = inspect.signature(function).bind_partial(*arguments, **more).arguments | {name: wrong}
    first = (
        [given.pop("replicates"), given.pop("statistic"), *given.pop("columns")]
        if "columns" in given
        else []
    )
    with pytest.raises((ValueError, TypeError)) as error:
        function(*first, **given)
    assert re.match(r"\w+", str(error.value))[0] == name


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_the_calls_themselves_are_right(call):
    function, arguments, more, _ = call
    function(*arguments, **more)


def test_every_public_function_that_takes_a_word_is_called():
    taken = {
        name: WORDS & set(inspect.signature(getattr(wb, name)).parameters)
        for name in wb.__all__
        if inspect.isfunction(getattr(wb, name))
    }
    called = {}
    for function, *_, names in CALLS:
        called.setdefault(function.__name__, set()).update(names)
    assert {
        name: words - called.get(name, set())
        for name, words in taken.items()
        if name not in ELSEWHERE and words - called.get(name, set())
    } == {}


@pytest.mark.parametrize(
    "read, name",
    [
        (wb.load_labeled, "items"),
        (wb.load_strata, "strata"),
        (wb.load_audit, "audit"),
        (lambda frame: wb.load_periods(frame, labels=(0, 1)), "counts"),
        (lambda frame: wb.summarize(frame, "g", "v"), "frame"),
    ],
)
def test_what_cannot_be_read_is_refused_by_the_name_of_its_argument(read, name):
    with pytest.raises(TypeError, match=f"^{name} must be a path or a data frame; got int"):
        read(7)
