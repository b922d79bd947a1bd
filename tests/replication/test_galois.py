import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.polynomials import PRIME_POWERS, slow_add, slow_multiply, slow_order

from workbench.replication.galois import GaloisField

GALOIS = json.loads(
    (Path(__file__).parents[1] / "oracles" / "galois_tables.json").read_text(encoding="utf-8")
)
# two moduli of degree 5 over GF(3): the one the paper states and the one its figure 1 was computed with
STATED, FIGURE = (1, 2, 0, 0, 0, 1), (1, 0, 1, 0, 1, 1)


# arithmetic


@pytest.mark.parametrize("size", PRIME_POWERS)
def test_tables_are_those_of_polynomial_arithmetic(size):
    p, degree = PRIME_POWERS[size]
    field, elements = GaloisField(p, degree), np.arange(size)
    assert field.size == size and len(field.modulus) == degree + 1
    added, product = (
        field.add(elements[:, None], elements),
        field.multiply(elements[:, None], elements),
    )
    for a, b in itertools.product(range(size), repeat=2):
        assert added[a, b] == slow_add(a, b, p, degree)
        assert product[a, b] == slow_multiply(a, b, p, field.modulus)


@pytest.mark.parametrize("expected", GALOIS["fields"], ids=lambda f: f"{f['p']}-{f['modulus']}")
def test_fields_agree_with_galois(expected):
    p, modulus = expected["p"], expected["modulus"]
    field = GaloisField(p, len(modulus) - 1, modulus)
    elements = np.arange(field.size)
    assert field.primitive_element == expected["primitive_element"]
    assert field.order(elements[1:]).tolist() == expected["orders"]
    if "add" in expected:
        assert field.add(elements[:, None], elements).tolist() == expected["add"]
        assert field.multiply(elements[:, None], elements).tolist() == expected["multiply"]


@pytest.mark.parametrize(
    "expected", GALOIS["smallest_primitive"], ids=lambda f: f"{f['p']}^{f['degree']}"
)
def test_the_default_modulus_is_the_smallest_primitive_one(expected):
    field = GaloisField(expected["p"], expected["degree"])
    assert field.modulus == tuple(expected["modulus"])
    if field.degree > 1:
        assert field.primitive_element == field.p


@pytest.mark.parametrize(
    ("p", "modulus"),
    [
        (3, STATED),
        (3, FIGURE),
        (2, (1, 1, 0, 1, 1, 0, 0, 0, 1)),
        (5, (2, 1, 1)),
        (7, (3, 1)),
        (2, (1, 1)),
        (31, (3, 1)),
    ],
)
def test_any_irreducible_modulus_serves(p, modulus):
    field = GaloisField(p, len(modulus) - 1, modulus)
    assert sorted(field.powers(field.primitive_element)) == list(range(1, field.size))
    assert all(
        slow_order(a, p, modulus) < field.size - 1 for a in range(2, field.primitive_element)
    )
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, field.size, (2, 200))
    assert field.multiply(a, b).tolist() == [
        slow_multiply(*ab, p, modulus) for ab in zip(a.tolist(), b.tolist(), strict=True)
    ]
    few = range(1, min(field.size, 40))
    assert [field.order(x) for x in few] == [slow_order(x, p, modulus) for x in few]


FIELDS = st.sampled_from(
    [
        GaloisField(*args)
        for args in [
            (2,),
            (3,),
            (2, 2),
            (5,),
            (2, 3),
            (3, 2),
            (2, 4),
            (5, 2),
            (3, 3),
            (241,),
            (3, 5),
            (2, 10),
            (7, 4),
            (3, 5, FIGURE),
        ]
    ]
)


@st.composite
def three(draw):
    field = draw(FIELDS)
    return field, *(draw(st.integers(0, field.size - 1)) for _ in range(3))


@given(three())
@settings(deadline=None)
def test_field_axioms(drawn):
    field, a, b, c = drawn
    add, mul = field.add, field.multiply
    assert add(a, b) == add(b, a) and mul(a, b) == mul(b, a)
    assert add(add(a, b), c) == add(a, add(b, c)) and mul(mul(a, b), c) == mul(a, mul(b, c))
    assert mul(a, add(b, c)) == add(mul(a, b), mul(a, c))
    assert add(a, 0) == a and mul(a, 1) == a and mul(a, 0) == 0
    assert add(a, mul(a, field.p - 1)) == 0
    assert add(field.power(a, field.p), field.power(b, field.p)) == field.power(add(a, b), field.p)
    if a:
        assert mul(a, field.power(a, -1)) == 1 and (field.size - 1) % field.order(a) == 0


@given(three(), st.integers(0, 9), st.integers(0, 2**50))
@settings(deadline=None)
def test_powers_are_repeated_products(drawn, few, many):
    field, a, _, _ = drawn
    product = 1
    for _ in range(few):
        product = field.multiply(product, a)
    assert field.power(a, few) == product
    if a:
        assert field.power(a, many) == field.power(a, many % field.order(a))
        assert field.multiply(field.power(a, many), field.power(a, -many)) == 1


def test_elements_and_coefficients():
    field = GaloisField(3, 5)
    assert (
        field.coefficients(218).tolist() == [2, 0, 0, 2, 2]
        and field.element([2, 0, 0, 2, 2]) == 218
    )
    everything = np.arange(243)
    assert field.element(field.coefficients(everything)).tolist() == everything.tolist()


def test_scalars_are_plain_numbers_and_arrays_broadcast():
    field = GaloisField(2, 3)
    for value in (
        field.add(np.int64(3), 5),
        field.multiply(3, 5),
        field.power(3, 2),
        field.order(3),
        field.size,
        field.primitive_element,
        field.element([1, 0, 1]),
    ):
        assert type(value) is int
    assert field.multiply(np.arange(8)[:, None, None], np.arange(8)[None, :, None]).shape == (
        8,
        8,
        1,
    )
    assert field == GaloisField(2, 3) and hash(field) == hash(GaloisField(2, 3, [1, 1, 0, 1]))
    assert field != GaloisField(2, 3, (1, 0, 1, 1))
    assert repr(GaloisField(3, 5)) == "GaloisField(3^5 modulo x^5 + 2x + 1)"


def test_what_a_field_returns_can_be_changed_without_harm():
    field = GaloisField(7)
    field.powers(3)[:] = 0
    field.power([1, 2], 1)[:] = 0
    assert field.multiply(3, 5) == 1 and sorted(field.powers(3)) == [1, 2, 3, 4, 5, 6]


# what the paper prints, and what holds


def test_equation_23_is_x_cubed_plus_one():
    """Coefficients modulo 3 of (x^2 + 2x + 1)(x + 1), in a field where degree 3 is not reduced."""
    field = GaloisField(3, 5)
    product = field.multiply(field.element([1, 2, 1, 0, 0]), field.element([1, 1, 0, 0, 0]))
    assert field.coefficients(product).tolist() == [1, 0, 0, 1, 0] != [0, 1, 0, 1, 0]


def test_equations_22_and_24_hold():
    field = GaloisField(3, 5, STATED)
    total = field.add(field.element([0, 1, 1, 2, 0]), field.element([1, 0, 2, 2, 0]))
    assert field.coefficients(total).tolist() == [1, 1, 0, 1, 0]
    assert field.coefficients(field.power(3, 5)).tolist() == [2, 1, 0, 0, 0]


FIGURE_1 = {
    1: [2, 2, 0, 0, 2],
    2: [2, 1, 0, 0, 2],
    3: [1, 2, 2, 0, 2],
    241: [2, 2, 1, 1, 1],
    242: [0, 0, 0, 0, 1],
}


def test_figure_1_belongs_to_another_modulus_than_the_text():
    stated, figure = GaloisField(3, 5, STATED), GaloisField(3, 5, FIGURE)
    g, x_plus_1 = stated.element([2, 0, 0, 2, 2]), stated.element([1, 1, 0, 0, 0])
    assert stated.order(g) == 11 and figure.order(g) == 242
    assert stated.order(x_plus_1) == 242 and figure.order(x_plus_1) == 121
    assert {k: figure.coefficients(figure.power(g, k)).tolist()[::-1] for k in FIGURE_1} == FIGURE_1
    reached = stated.coefficients(stated.power(g, np.arange(1, 12)))[:, ::-1].tolist()
    assert (
        reached.index(FIGURE_1[2]) == 4
        and FIGURE_1[3] not in reached
        and FIGURE_1[241] not in reached
    )


def test_the_printed_condition_for_a_generator_holds_for_every_element():
    """Appendix B.2: g^(p^n - 1) = 1 and g != 1; but 2 has order 2."""
    field = GaloisField(3, 5)
    assert (field.power(np.arange(1, 243), 242) == 1).all() and field.order(2) == 2


# errors

WRONG = [
    (lambda: GaloisField(6), "p must be a prime; 6 is not a prime"),
    (lambda: GaloisField(4), "p must be a prime; 4 is not a prime: use GaloisField(2, 2)"),
    (lambda: GaloisField(3, 0), "degree must be a whole number of at least 1; got 0"),
    (lambda: GaloisField(3, 13), "p ** degree must be at most 1048576; got 3 ** 13"),
    (lambda: GaloisField(2, 10**9), "p ** degree must be at most 1048576; got 2 ** 1000000000"),
    (
        lambda: GaloisField(2, 4, (1, 0, 0, 0, 1)),
        "modulus must be irreducible modulo 2; x^4 + 1 has the factor x + 1",
    ),
    (
        lambda: GaloisField(2, 4, (1, 0, 1, 0, 1)),
        "modulus must be irreducible modulo 2; x^4 + x^2 + 1 has the factor x^2 + x + 1",
    ),
    (
        lambda: GaloisField(3, 2, (0, 1, 1)),
        "modulus must be irreducible modulo 3; x^2 + x has the factor x",
    ),
    (lambda: GaloisField(3, 2, (2, 1, 2)), "modulus must have the highest coefficient 1; got 2"),
    (lambda: GaloisField(3, 2, (2, 1)), "modulus must have 3 entries; got 2"),
    (lambda: GaloisField(3, 2, (5, 1, 1)), "modulus must hold whole numbers from 0 to 2; got 5"),
    (lambda: GaloisField(3, 2, (-1, 1, 1)), "modulus must be at least 0; coefficient 0 is -1"),
    (lambda: GaloisField(3, 2).add(9, 1), "a must hold whole numbers from 0 to 8; got 9"),
    (lambda: GaloisField(7).add(1.5, 1), "a must hold whole numbers from 0 to 6; got 1.5"),
    (
        lambda: GaloisField(3, 2).multiply(1, [0, -1]),
        "b must hold whole numbers from 0 to 8; got -1",
    ),
    (lambda: GaloisField(3, 2).order(0), "a must not be 0: no power of 0 is 1"),
    (lambda: GaloisField(3, 2).power([1, 0], -1), "a must not be 0 for an exponent below 0"),
    (lambda: GaloisField(3, 2).powers(9), "a must be a whole number from 0 to 8; got 9"),
    (lambda: GaloisField(3, 2).powers(0), "a must be primitive, of order 8; got 0"),
    (lambda: GaloisField(3, 5).powers(218), "a must be primitive, of order 242; 218 has order 11"),
    (
        lambda: GaloisField(3, 2).element([1, 2, 0]),
        "coefficients must have 2 entries along the last axis; got shape (3,)",
    ),
    (
        lambda: GaloisField(3, 2).element([1, 3]),
        "coefficients must hold whole numbers from 0 to 2; got 3",
    ),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text[:60] for _, text in WRONG])
def test_errors_name_argument_rule_and_value(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), [1, float("inf")]])
def test_what_is_not_finite_is_refused(value):
    field = GaloisField(2)
    worst = max(np.ravel(value), key=abs)
    with pytest.raises(ValueError, match=f"^a must hold whole numbers from 0 to 1; got {worst}$"):
        field.multiply(value, 1)
    with pytest.raises(
        ValueError,
        match=f"^exponent must hold whole numbers from -{2**53} to {2**53}; got {worst}$",
    ):
        field.power(1, value)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: GaloisField("3"), "p must be a whole number from 2 to 1048576; got '3'"),
        (lambda: GaloisField(7).add(True, 1), "a must hold whole numbers; got True"),
    ],
)
def test_errors_of_type(call, text):
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        call()
