import copy
import math
import pickle
from functools import partial

import numpy as np
import pytest

from workbench import checks

METHODS = ("wald", "wilson")
ONE_OF = "must be one of 'wald', 'wilson'"
MOST = "must be at most 9007199254740992"
LEVEL = "must be a number in (0, 1)"
LIST = np.array(METHODS)
WHOLE = partial(checks.whole, "n")
NUMBER = partial(checks.number, "e")
CHOICE = partial(checks.choice, "method", options=METHODS)
VECTOR = partial(checks.vector, "score")
COUNTS = partial(checks.counts, "labeled")
AT_MOST = partial(checks.at_most, "labeled", limit_name="stratum_size")
ZERO_ONE = partial(checks.zero_one, "correct")


@pytest.mark.parametrize(
    ("call", "argument", "rule", "told"),
    [
        (lambda: WHOLE(2.5), "n", "must be a whole number", "got 2.5"),
        (lambda: WHOLE(0, 1), "n", "must be a whole number of at least 1", "got 0"),
        (lambda: WHOLE(1.5, 1), "n", "must be a whole number of at least 1", "got 1.5"),
        (lambda: WHOLE(math.nan, 1), "n", "must be a whole number of at least 1", "got nan"),
        (lambda: WHOLE(math.inf, 1), "n", "must be a whole number of at least 1", "got inf"),
        (lambda: WHOLE(-math.inf, 1), "n", "must be a whole number of at least 1", "got -inf"),
        (lambda: WHOLE(5, 1, 4), "n", "must be a whole number from 1 to 4", "got 5"),
        (
            lambda: WHOLE(10**400, 1, 10),
            "n",
            "must be a whole number from 1 to 10",
            "got about 1e+400",
        ),
        (lambda: WHOLE(2**63, 0), "n", MOST, "got 9223372036854775808"),
        (lambda: WHOLE(1.7e308, 0), "n", MOST, "got 1.7e+308"),
        (lambda: NUMBER(math.nan), "e", "must be a number", "got nan"),
        (lambda: NUMBER(-(10**5000)), "e", "must be a number", "got about -1e+5000"),
        (lambda: NUMBER(math.inf, 0), "e", "must be a number of at least 0", "got inf"),
        (lambda: NUMBER(-1, 0), "e", "must be a number of at least 0", "got -1"),
        (lambda: NUMBER(0, 0, open_ends=True), "e", "must be a number above 0", "got 0"),
        (lambda: NUMBER(1.5, 0, 1), "e", "must be a number from 0 to 1", "got 1.5"),
        (lambda: NUMBER(1, 0, 1, open_ends=True), "e", "must be a number in (0, 1)", "got 1"),
        (lambda: checks.level(0), "level", LEVEL, "got 0"),
        (lambda: checks.level(1), "level", LEVEL, "got 1"),
        (lambda: checks.level(-0.1), "level", LEVEL, "got -0.1"),
        (lambda: checks.level(1.2), "level", LEVEL, "got 1.2"),
        (lambda: checks.level(120), "level", LEVEL, "got 120"),
        (lambda: checks.level(95), "level", LEVEL, "got 95 (did you mean 0.95?)"),
        (lambda: checks.level(10**400), "level", LEVEL, "got about 1e+400"),
        (lambda: CHOICE("wilsson"), "method", ONE_OF, "got 'wilsson' (did you mean 'wilson'?)"),
        (lambda: CHOICE("xyz"), "method", ONE_OF, "got 'xyz'"),
        (lambda: CHOICE(3), "method", ONE_OF, "got 3"),
        (lambda: CHOICE(["wald"]), "method", ONE_OF, "got ['wald'] (did you mean 'wald'?)"),
        (lambda: CHOICE(LIST), "method", ONE_OF, f"got {LIST!r}"),
        (lambda: VECTOR([[1, 2]]), "score", "must be one-dimensional", "got shape (1, 2)"),
        (lambda: VECTOR(3), "score", "must be one-dimensional", "got shape ()"),
        (lambda: VECTOR([]), "score", "must not be empty", None),
        (lambda: VECTOR([1, 2], size=3), "score", "must have 3 entries", "got 2"),
        (lambda: VECTOR([1, 2], size=1), "score", "must have 1 entry", "got 2"),
        (lambda: VECTOR([1, math.nan], what="item"), "score", "must be finite", "item 1 is nan"),
        (lambda: VECTOR([-math.inf, 1]), "score", "must be finite", "entry 0 is -inf"),
        (lambda: VECTOR([0, 1, -0.5], low=0), "score", "must be at least 0", "entry 2 is -0.5"),
        (lambda: VECTOR([0, 1.5], high=1), "score", "must be at most 1", "entry 1 is 1.5"),
        (lambda: COUNTS([1, 2.5]), "labeled", "must be a whole number", "stratum 1 is 2.5"),
        (lambda: COUNTS([1, -1]), "labeled", "must be at least 0", "stratum 1 is -1"),
        (lambda: COUNTS([0, 1], low=1), "labeled", "must be at least 1", "stratum 0 is 0"),
        (lambda: COUNTS([math.inf, 1]), "labeled", "must be finite", "stratum 0 is inf"),
        (lambda: COUNTS([1e300]), "labeled", MOST, "stratum 0 is 1e+300"),
        (
            lambda: AT_MOST([3, 5], limits=[3, 4]),
            "labeled",
            "must be at most stratum_size",
            "stratum 1 has 5 of 4",
        ),
        (
            lambda: AT_MOST([1234568], limits=[1234567]),
            "labeled",
            "must be at most stratum_size",
            "stratum 0 has 1234568 of 1234567",
        ),
        (lambda: ZERO_ONE([0, 2], what="item"), "correct", "must be 0 or 1", "item 1 is 2"),
        (lambda: ZERO_ONE([0.5]), "correct", "must be 0 or 1", "entry 0 is 0.5"),
        (lambda: ZERO_ONE([math.nan]), "correct", "must be finite", "entry 0 is nan"),
        (lambda: checks.generator(-1), "rng", "must be a whole number of at least 0", "got -1"),
        (
            lambda: checks.generator(-(10**40)),
            "rng",
            "must be a whole number of at least 0",
            "got about -1e+40",
        ),
        (
            lambda: checks.generator(10**400),
            "rng",
            "must be at most about 1e+300",
            "got about 1e+400",
        ),
    ],
)
def test_a_wrong_value_is_refused(call, argument, rule, told):
    with pytest.raises(checks.WrongValue) as caught:
        call()
    error = caught.value
    assert (error.argument, error.rule, error.told) == (argument, rule, told)
    assert str(error) == f"{argument} {rule}" + (f"; {told}" if told else "")


@pytest.mark.parametrize(
    ("call", "argument", "rule", "told"),
    [
        (lambda: WHOLE("3"), "n", "must be a whole number", "got '3'"),
        (lambda: WHOLE(True), "n", "must be a whole number", "got True"),
        (lambda: WHOLE(None), "n", "must be a whole number", "got None"),
        (lambda: WHOLE([3]), "n", "must be a whole number", "got [3]"),
        (
            lambda: NUMBER("0.5", 0, 1, open_ends=True),
            "e",
            "must be a number in (0, 1)",
            "got '0.5'",
        ),
        (lambda: NUMBER(True), "e", "must be a number", "got True"),
        (
            lambda: checks.instance("n", [3], str, int),
            "n",
            "must be of class str or int",
            "got list",
        ),
        (lambda: checks.instance("n", None, str), "n", "must be of class str", "got NoneType"),
        (lambda: VECTOR(["a", "b"]), "score", "must hold numbers", "got <U1 such as np.str_('a')"),
        (lambda: checks.generator(None), "rng", "must be a whole number of at least 0", "got None"),
    ],
)
def test_a_wrong_type_is_refused(call, argument, rule, told):
    with pytest.raises(checks.WrongType) as caught:
        call()
    error = caught.value
    assert (error.argument, error.rule, error.told) == (argument, rule, told)
    assert str(error) == f"{argument} {rule}; {told}"


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float64(3), np.uint8(3)])
def test_a_whole_number_becomes_a_python_int(value):
    found = checks.whole("n", value)
    assert found == 3 and type(found) is int


def test_both_ends_of_a_range_of_whole_numbers_belong_to_it():
    assert checks.whole("n", 1, 1, 4) == 1 and checks.whole("n", 4, 1, 4) == 4
    assert checks.counts("n", [0]).tolist() == [0] and checks.vector(
        "p", [0, 1], low=0, high=1
    ).tolist() == [0, 1]


def test_closed_ends_are_allowed_and_the_value_becomes_a_python_float():
    assert checks.number("e", 0, 0, 1) == 0.0 and checks.number("e", 1, 0, 1) == 1.0
    assert type(checks.number("e", np.float32(0.5), 0, 1)) is float


def test_an_instance_is_of_one_of_the_classes():
    assert checks.instance("n", 3, str, int) == 3


def test_a_choice_is_returned():
    assert CHOICE("wald") == "wald"


def test_a_vector_is_a_copy_in_floats():
    given = np.array([1.0, 2.0])
    found = checks.vector("score", given)
    found[0] = 9
    assert given[0] == 1 and found.dtype == float


def test_counts_stay_exact_up_to_the_integers_a_float_holds():
    found = checks.counts("n", [2**53 - 1, 0])
    assert found.tolist() == [2**53 - 1, 0] and found.dtype == np.int64


def test_a_limit_itself_is_allowed():
    AT_MOST([3, 4], limits=[3, 4])


def test_zero_one_takes_numbers_and_booleans_only_of_those_values():
    assert checks.zero_one("correct", [0, 1.0, 1]).tolist() == [False, True, True]
    assert checks.zero_one("correct", np.array([True, False])).dtype == bool
    with pytest.raises(checks.WrongValue):
        ZERO_ONE([0, 2])


def test_a_generator_comes_from_a_seed_or_is_passed_through():
    rng = np.random.default_rng(7)
    assert checks.generator(rng) is rng
    assert checks.generator(7).random() == np.random.default_rng(7).random()


def test_seeds_may_have_many_digits():
    for seed in (2**53 + 1, 2**128 - 1, 10**300):
        assert checks.seed("rng", seed) == seed
        assert checks.generator(seed).random() == np.random.default_rng(seed).random()


def test_a_whole_number_stays_exact_beyond_what_a_float_holds():
    assert (
        checks.whole("n", 2**53 + 1, high=2**60) == 2**53 + 1 and checks.whole("n", 2**53) == 2**53
    )


@pytest.mark.parametrize(
    ("function", "arguments", "kind", "fields"),
    [
        (
            checks.whole,
            ("n", 0, 1),
            checks.WrongValue,
            ("n", "must be a whole number of at least 1", 0, None),
        ),
        (checks.whole, ("n", "3"), checks.WrongType, ("n", "must be a whole number", "3", None)),
        (
            checks.choice,
            ("method", "x", ["y"]),
            checks.WrongValue,
            ("method", "must be one of 'y'", "x", None),
        ),
        (
            checks.vector,
            (
                "score",
                [1, -2.5],
            ),
            checks.WrongValue,
            ("score", "must be at least 0", -2.5, ("entry", 1)),
        ),
        (
            checks.counts,
            ("labeled", [3, 2.5]),
            checks.WrongValue,
            ("labeled", "must be a whole number", 2.5, ("stratum", 1)),
        ),
        (
            checks.at_most,
            ("labeled", np.array([3]), "size", np.array([2])),
            checks.WrongValue,
            ("labeled", "must be at most size", 3, ("stratum", 0)),
        ),
        (
            checks.vector,
            ("score", []),
            checks.WrongValue,
            ("score", "must not be empty", ..., None),
        ),
    ],
)
def test_what_is_refused_is_held_by_the_error_and_survives_copies(
    function, arguments, kind, fields
):
    limits = {"low": 0} if function is checks.vector else {}
    with pytest.raises(kind) as caught:
        function(*arguments, **limits)
    with pytest.raises(kind) as renamed, checks.naming(**{fields[0]: "other"}):
        function(*arguments, **limits)
    called = "other" + str(caught.value).removeprefix(fields[0])
    assert str(renamed.value) == caught.value.called(lambda name: "other") == called
    for error in (
        caught.value,
        copy.copy(caught.value),
        copy.deepcopy(caught.value),
        pickle.loads(pickle.dumps(caught.value)),
    ):
        assert (error.argument, error.rule, error.value, error.place) == fields
        assert str(error) == str(caught.value) and type(error) is kind
    assert type(caught.value.value) in (int, float, str, type(...))


def test_a_rule_about_two_arguments_renames_both():
    with pytest.raises(checks.WrongValue) as caught, checks.naming(n_strata="strata"):
        checks.not_both(budget=3, n_strata=5)
    assert str(caught.value) == "budget must not be given with strata"
    assert caught.value.called("--{}".format) == "--budget must not be given with --strata"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    checks.not_both(budget=3, strata=0)
