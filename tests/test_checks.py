import copy
import pickle

import numpy as np
import pytest

from workbench import checks


def refused(kind, text, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert str(caught.value) == text
    assert isinstance(caught.value, kind) and isinstance(caught.value, checks.WrongArgument)
    assert text.startswith(f"{caught.value.argument} {caught.value.rule}")


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float64(3), np.uint8(3)])
def test_a_whole_number_becomes_a_python_int(value):
    found = checks.whole("n", value)
    assert found == 3 and type(found) is int


def test_both_ends_of_a_range_of_whole_numbers_belong_to_it():
    assert checks.whole("n", 1, 1, 4) == 1 and checks.whole("n", 4, 1, 4) == 4
    assert checks.counts("n", [0]).tolist() == [0] and checks.vector(
        "p", [0, 1], low=0, high=1
    ).tolist() == [0, 1]


@pytest.mark.parametrize(
    "kind, text, args",
    [
        (ValueError, "n must be a whole number; got 2.5", ("n", 2.5)),
        (ValueError, "n must be a whole number of at least 1; got 0", ("n", 0, 1)),
        (ValueError, "n must be a whole number of at least 1; got 1.5", ("n", 1.5, 1)),
        (ValueError, "n must be a whole number from 1 to 4; got 5", ("n", 5, 1, 4)),
        (TypeError, "n must be a whole number; got '3'", ("n", "3")),
        (TypeError, "n must be a whole number; got True", ("n", True)),
        (TypeError, "n must be a whole number; got None", ("n", None)),
        (TypeError, "n must be a whole number; got [3]", ("n", [3])),
    ],
)
def test_what_is_not_a_whole_number_is_refused(kind, text, args):
    refused(kind, text, checks.whole, *args)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_whole_number_is_finite(value):
    refused(
        ValueError,
        f"n must be a whole number of at least 1; got {value}",
        checks.whole,
        "n",
        value,
        1,
    )


@pytest.mark.parametrize(
    "kind, text, args, ends",
    [
        (ValueError, "e must be a number; got nan", ("e", float("nan")), False),
        (
            ValueError,
            "e must be a number of at least 0; got inf",
            ("e", float("inf"), 0),
            False,
        ),
        (ValueError, "e must be a number of at least 0; got -1", ("e", -1, 0), False),
        (ValueError, "e must be a number above 0; got 0", ("e", 0, 0), True),
        (ValueError, "e must be a number from 0 to 1; got 1.5", ("e", 1.5, 0, 1), False),
        (ValueError, "e must be a number in (0, 1); got 1", ("e", 1, 0, 1), True),
        (TypeError, "e must be a number in (0, 1); got '0.5'", ("e", "0.5", 0, 1), True),
        (TypeError, "e must be a number; got True", ("e", True), False),
    ],
)
def test_what_is_not_a_number_is_refused(kind, text, args, ends):
    refused(kind, text, checks.number, *args, open_ends=ends)


def test_closed_ends_are_allowed_and_the_value_becomes_a_python_float():
    assert checks.number("e", 0, 0, 1) == 0.0 and checks.number("e", 1, 0, 1) == 1.0
    assert type(checks.number("e", np.float32(0.5), 0, 1)) is float


@pytest.mark.parametrize(
    ("value", "meant"),
    [(0, ""), (1, ""), (-0.1, ""), (1.2, ""), (120, ""), (95, " (did you mean 0.95?)")],
)
def test_a_level_lies_strictly_between_zero_and_one(value, meant):
    refused(
        ValueError, f"level must be a number in (0, 1); got {value}{meant}", checks.level, value
    )


def test_an_instance_is_of_one_of_the_classes():
    assert checks.instance("n", 3, str, int) == 3
    with pytest.raises(TypeError, match="^n must be of class str or int; got list$"):
        checks.instance("n", [3], str, int)
    with pytest.raises(TypeError, match="^n must be of class str; got NoneType$"):
        checks.instance("n", None, str)


def test_a_choice_lists_every_option_and_guesses_what_was_meant():
    assert checks.choice("method", "wald", ("wald", "wilson")) == "wald"
    refused(
        ValueError,
        "method must be one of 'wald', 'wilson'; got 'wilsson' (did you mean 'wilson'?)",
        checks.choice,
        "method",
        "wilsson",
        ("wald", "wilson"),
    )
    refused(
        ValueError,
        "method must be one of 'wald', 'wilson'; got 'xyz'",
        checks.choice,
        "method",
        "xyz",
        ("wald", "wilson"),
    )
    refused(
        ValueError,
        "method must be one of 'wald', 'wilson'; got 3",
        checks.choice,
        "method",
        3,
        ("wald", "wilson"),
    )
    with pytest.raises(
        ValueError, match=r"^method must be one of 'wald', 'wilson'; got \['wald'\]"
    ):
        checks.choice("method", ["wald"], ("wald", "wilson"))


@pytest.mark.parametrize(
    "kind, text, values, limits",
    [
        (ValueError, "score must be one-dimensional; got shape (1, 2)", [[1, 2]], {}),
        (ValueError, "score must be one-dimensional; got shape ()", 3, {}),
        (ValueError, "score must not be empty", [], {}),
        (ValueError, "score must have 3 entries; got 2", [1, 2], {"size": 3}),
        (TypeError, "score must hold numbers; got <U1 such as np.str_('a')", ["a", "b"], {}),
        (ValueError, "score must be finite; item 1 is nan", [1, float("nan")], {"what": "item"}),
        (ValueError, "score must be finite; entry 0 is -inf", [-float("inf"), 1], {}),
        (ValueError, "score must be at least 0; entry 2 is -0.5", [0, 1, -0.5], {"low": 0}),
        (ValueError, "score must be at most 1; entry 1 is 1.5", [0, 1.5], {"high": 1}),
    ],
)
def test_a_vector_names_its_first_bad_entry(kind, text, values, limits):
    refused(kind, text, checks.vector, "score", values, **limits)


def test_a_vector_is_a_copy_in_floats():
    given = np.array([1.0, 2.0])
    found = checks.vector("score", given)
    found[0] = 9
    assert given[0] == 1 and found.dtype == float


@pytest.mark.parametrize(
    "text, values, low",
    [
        ("labeled must be a whole number; stratum 1 is 2.5", [1, 2.5], 0),
        ("labeled must be at least 0; stratum 1 is -1", [1, -1], 0),
        ("labeled must be at least 1; stratum 0 is 0", [0, 1], 1),
        ("labeled must be finite; stratum 0 is inf", [float("inf"), 1], 0),
    ],
)
def test_counts_are_whole_and_large_enough(text, values, low):
    refused(ValueError, text, checks.counts, "labeled", values, low=low)


def test_counts_stay_exact_up_to_the_integers_a_float_holds():
    found = checks.counts("n", [2**53 - 1, 0])
    assert found.tolist() == [2**53 - 1, 0] and found.dtype == np.int64


def test_a_count_that_no_integer_holds_is_refused_by_name():
    with pytest.raises(ValueError, match="^n must "):
        checks.counts("n", [1e300])


def test_a_limit_names_the_first_stratum_above_it_and_both_values():
    checks.at_most("labeled", np.array([3, 4]), "stratum_size", np.array([3, 4]))
    refused(
        ValueError,
        "labeled must be at most stratum_size; stratum 1 has 5 of 4",
        checks.at_most,
        "labeled",
        np.array([3, 5]),
        "stratum_size",
        np.array([3, 4]),
    )


def test_large_values_are_told_apart_in_the_message():
    refused(
        ValueError,
        "labeled must be at most stratum_size; stratum 0 has 1234568 of 1234567",
        checks.at_most,
        "labeled",
        np.array([1234568]),
        "stratum_size",
        np.array([1234567]),
    )


def test_zero_one_takes_numbers_and_booleans_only_of_those_values():
    assert checks.zero_one("correct", [0, 1.0, 1]).tolist() == [False, True, True]
    assert checks.zero_one("correct", np.array([True, False])).dtype == bool
    refused(
        ValueError,
        "correct must be 0 or 1; item 1 is 2",
        checks.zero_one,
        "correct",
        [0, 2],
        what="item",
    )
    refused(ValueError, "correct must be 0 or 1; entry 0 is 0.5", checks.zero_one, "correct", [0.5])
    refused(
        ValueError,
        "correct must be finite; entry 0 is nan",
        checks.zero_one,
        "correct",
        [float("nan")],
    )


def test_a_generator_comes_from_a_seed_or_is_passed_through():
    rng = np.random.default_rng(7)
    assert checks.generator(rng) is rng
    assert checks.generator(7).random() == np.random.default_rng(7).random()
    refused(ValueError, "rng must be a whole number of at least 0; got -1", checks.generator, -1)
    refused(TypeError, "rng must be a whole number of at least 0; got None", checks.generator, None)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: checks.level(10**400), "level must be a number in (0, 1); got about 1e+400"),
        (lambda: checks.number("x", -(10**5000)), "x must be a number; got about -1e+5000"),
        (
            lambda: checks.whole("minimum", 2**63, 0),
            "minimum must be at most 9007199254740992; got 9223372036854775808",
        ),
        (
            lambda: checks.whole("b", 1.7e308, 0),
            "b must be at most 9007199254740992; got 1.7e+308",
        ),
        (
            lambda: checks.whole("n", 10**400, 1, 10),
            "n must be a whole number from 1 to 10; got about 1e+400",
        ),
        (
            lambda: checks.generator(10**400),
            "rng must be at most about 1e+300; got about 1e+400",
        ),
        (
            lambda: checks.generator(-(10**40)),
            "rng must be a whole number of at least 0; got about -1e+40",
        ),
    ],
    ids=["level", "number", "minimum", "b", "n", "rng", "negative rng"],
)
def test_numbers_beyond_all_floats_are_refused_by_name(call, text):
    refused(ValueError, text, call)


def test_seeds_may_have_many_digits():
    for seed in (2**53 + 1, 2**128 - 1, 10**300):
        assert checks.seed("rng", seed) == seed
        assert checks.generator(seed).random() == np.random.default_rng(seed).random()


def test_a_whole_number_stays_exact_beyond_what_a_float_holds():
    assert (
        checks.whole("n", 2**53 + 1, high=2**60) == 2**53 + 1 and checks.whole("n", 2**53) == 2**53
    )


def test_one_entry_is_singular():
    refused(ValueError, "score must have 1 entry; got 2", checks.vector, "score", [1, 2], size=1)


def test_an_array_is_no_choice():
    with pytest.raises(
        ValueError,
        match=r"^method must be one of 'wald', 'wilson'; got array\(\['wald', 'wilson'\]",
    ):
        checks.choice("method", np.array(["wald", "wilson"]), ("wald", "wilson"))


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
