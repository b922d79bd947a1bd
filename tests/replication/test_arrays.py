import itertools
import json
import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import array_strength
from oracles.polynomials import PRIME_POWERS, slow_add, slow_multiply
from oracles.printed import EQUATION_12

from workbench.replication import arrays
from workbench.replication.arrays import (
    check_balance,
    hadamard,
    linear_forms,
    next_hadamard_order,
    orthogonal_array,
    smallest_runs,
)
from workbench.replication.galois import GaloisField
from workbench.results import Result

OAPACKAGE = json.loads(
    (Path(__file__).parents[1] / "oracles" / "array_strength.json").read_text(encoding="utf-8")
)


# ---------------------------------------------------------------- oracles, written out


def bad_columns(array):
    """Columns that do not hold each symbol of the array equally often, by counting."""
    runs, symbols = len(array), sorted({entry for row in array for entry in row})
    columns = list(zip(*array, strict=True))
    return [
        h
        for h, column in enumerate(columns)
        if len(symbols) == 1 or any(column.count(s) * len(symbols) != runs for s in symbols)
    ]


def bad_pairs(array):
    """Pairs of columns that do not show each pair of symbols equally often, by counting."""
    runs, symbols = len(array), sorted({entry for row in array for entry in row})
    columns = list(zip(*array, strict=True))
    wrong = []
    for g, h in itertools.combinations(range(len(columns)), 2):
        counts = Counter(zip(columns[g], columns[h], strict=True))
        if len(symbols) == 1 or any(
            counts[pair] * len(symbols) ** 2 != runs
            for pair in itertools.product(symbols, repeat=2)
        ):
            wrong.append((g, h))
    return wrong


def quick_pairs(array, levels):
    """Bad pairs of columns of symbols 0 .. levels - 1: another algorithm, for larger arrays."""
    runs, factors = array.shape
    wrong = []
    for g in range(factors):
        codes = array[:, g, None] * levels + array[:, g + 1 :]
        for offset, column in enumerate(codes.T, g + 1):
            if (np.bincount(column, minlength=levels**2) != Fraction(runs, levels**2)).any():
                wrong.append((g, offset))
    return wrong


def signs(rows):
    return np.array([[1 if c == "+" else -1 for c in row] for row in rows])


def replicate_variance(array, y, weight):
    """Eq. 10: replicate alpha keeps unit B[alpha, h] of stratum h; y is (strata, n)."""
    kept = y[np.arange(len(y)), array]
    return (((kept - y.mean(1)) @ weight) ** 2).mean() / (y.shape[1] - 1)


def textbook_variance(y, weight):
    return weight**2 @ (y.var(1, ddof=1) / y.shape[1])


# ---------------------------------------------------------------- orthogonal arrays


def cases():
    """Every prime power up to 16, every dimension with at most 3,000 runs, the most columns and fewer."""
    for levels in PRIME_POWERS:
        for dimension in range(1, 12):
            most = (levels**dimension - 1) // (levels - 1)
            if levels**dimension <= 3000:
                least = (levels ** (dimension - 1) - 1) // (levels - 1) + 1
                yield from (
                    (levels, factors, levels**dimension) for factors in sorted({least, most})
                )


@pytest.mark.slow
@pytest.mark.parametrize("method", arrays.METHODS)
@pytest.mark.parametrize(("levels", "factors", "runs"), list(cases()))
def test_arrays_have_strength_two_and_the_fewest_runs(levels, factors, runs, method):
    array = orthogonal_array(levels, factors, method=method)
    assert array.shape == (runs, factors) and array.dtype == np.int64
    assert smallest_runs(levels, factors) == runs
    assert (np.apply_along_axis(np.bincount, 0, array, minlength=levels) == runs // levels).all()
    if factors <= 364:
        assert quick_pairs(array, levels) == []
    else:
        kept = np.random.default_rng(0).choice(factors, 200, replace=False)
        assert quick_pairs(array[:, kept], levels) == []
    found = check_balance(array)
    assert found.full and found.problem is None and found.strength == min(2, factors)


@pytest.mark.slow
def test_oapackage_finds_the_same_strength():
    """The arrays that OApackage saw are ours to the last entry; every shape of `cases` up to 2,048 runs is there."""
    recorded = {(a["levels"], a["factors"], a["method"]): a for a in OAPACKAGE["arrays"]}
    assert set(recorded) == {
        (*shape, method) for shape in array_strength.shapes() for method in arrays.METHODS
    }
    assert {key[:2] for key in recorded} == {
        (levels, factors)
        for levels, factors, runs in cases()
        if runs <= 2048 and levels < factors == (runs - 1) // (levels - 1)
    }
    for (levels, factors, method), a in recorded.items():
        array = orthogonal_array(levels, factors, method=method)
        assert (len(array), array_strength.digest(array)) == (a["runs"], a["digest"])
        assert a["strength"] == 2 == check_balance(array_strength.shown(array)).strength


@pytest.mark.parametrize("other", OAPACKAGE["others"], ids=lambda o: o["name"])
def test_oapackage_finds_the_same_strength_of_other_arrays(other):
    assert check_balance(other["array"]).strength == other["strength"]


def test_an_array_that_pydoe3_calls_orthogonal_is_not():
    array = next(o["array"] for o in OAPACKAGE["others"] if o["name"].startswith("pyDOE3"))
    wrong = bad_pairs(array)
    assert np.shape(array) == (64, 31) and len(wrong) == 59
    assert check_balance(array).pair == wrong[0] and not check_balance(array).full


@pytest.mark.parametrize("levels", PRIME_POWERS)
def test_one_more_column_than_the_bound_needs_more_runs(levels):
    for dimension in (1, 2, 3):
        most = sum(levels**k for k in range(dimension))
        assert smallest_runs(levels, most) == levels**dimension
        assert smallest_runs(levels, most + 1) == levels ** (dimension + 1)
        assert most == (levels**dimension - 1) // (
            levels - 1
        )  # Rao: no array of these runs has more


@pytest.mark.parametrize("levels", [2, 3, 4, 9])
def test_entries_are_scalar_products_with_the_forms(levels):
    p, degree = PRIME_POWERS[levels]
    modulus = GaloisField(p, degree).modulus
    forms = linear_forms(levels, 10)
    array = orthogonal_array(levels, 10)
    for run, column in itertools.product(range(0, len(array), 5), range(10)):
        total = 0
        for k, form in enumerate(forms):
            digit = run // levels**k % levels
            total = slow_add(total, slow_multiply(digit, int(form[column]), p, modulus), p, degree)
        assert array[run, column] == total
    assert len({tuple(form) for form in forms.T.tolist()}) == 10
    assert all([c for c in form if c][-1] == 1 for form in forms.T.tolist())


@pytest.mark.parametrize(
    ("levels", "factors"), [(2, 7), (3, 13), (5, 31), (4, 21), (9, 91), (8, 9)]
)
def test_rotation_moves_each_column_up_by_one(levels, factors):
    array = orthogonal_array(levels, factors, method="rotation")
    assert not array[-1].any()
    for before, after in itertools.pairwise(array[:-1].T):
        assert after.tolist() == np.roll(before, -1).tolist()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize("method", arrays.METHODS)
def test_replicates_of_an_array_give_the_textbook_variance(n, method):
    rng = np.random.default_rng(n)
    y, weight = rng.normal(size=(12, n)), rng.random(12)
    array = orthogonal_array(n, 12, method=method)
    assert replicate_variance(array, y, weight) == pytest.approx(
        textbook_variance(y, weight), rel=1e-12
    )
    assert (y[np.arange(12), array] @ weight).mean() == pytest.approx(y.mean(1) @ weight, rel=1e-12)


def test_two_calls_do_not_share_memory():
    first = orthogonal_array(2, 7)
    first[:] = 9
    assert orthogonal_array(2, 7).max() == 1
    other = hadamard(8)
    other[:] = 9
    assert abs(hadamard(8)).max() == 1


# ---------------------------------------------------------------- Hadamard matrices

UNREACHED = (188,)


@pytest.mark.slow
@pytest.mark.parametrize(
    "order", [1, 2, *range(4, 245, 4), 256, 332, 344, 480, 484, 488, 500, 512, 720, 1000]
)
def test_hadamard_matrices_are_orthogonal(order):
    if order in UNREACHED or order == 236:
        with pytest.raises(ValueError, match="the next that can be built is"):
            hadamard(order)
        return
    matrix = hadamard(order)
    assert matrix.dtype == np.int64 and (abs(matrix) == 1).all() and matrix.shape == (order, order)
    assert ((matrix @ matrix.T) == order * np.eye(order, dtype=int)).all()
    assert (matrix[0] == 1).all() and (matrix[:, 0] == 1).all()


@pytest.mark.slow
def test_every_order_said_to_be_in_reach_is_built():
    """All of them up to 1000, by their inner products in floating point (exact: at most 1000)."""
    for order in range(4, 1001, 4):
        if next_hadamard_order(order) == order:
            matrix = hadamard(order).astype(np.float32)
            assert np.array_equal(matrix @ matrix.T, order * np.eye(order, dtype=np.float32)), order


@pytest.mark.parametrize("order", [92, 116, 156, 172, 184])
def test_orders_that_no_prime_power_reaches(order):
    matrix = hadamard(order)
    assert ((matrix @ matrix.T) == order * np.eye(order, dtype=int)).all() and check_balance(
        matrix[:, 1:]
    ).full


def test_orders_out_of_reach():
    missing = [order for order in range(4, 1001, 4) if next_hadamard_order(order) != order]
    assert len(missing) == 49 and tuple(m for m in missing if m <= 200) == UNREACHED
    steps = [
        next_hadamard_order(strata + 1) - 4 * math.ceil((strata + 1) / 4)
        for strata in range(1, 1001)
    ]
    assert max(steps) == 8 and np.mean(np.array(steps[2:]) == 0) == pytest.approx(0.803, abs=0.001)


@pytest.mark.parametrize("order", [4, 12, 20, 28, 36, 52, 60, 100, 120, 484])
def test_without_its_constant_column_a_hadamard_matrix_is_in_full_balance(order):
    found = check_balance(hadamard(order)[:, 1:])
    assert found.full and found.strength == 2 and found.symbols == (-1, 1)
    assert order > 60 or bad_pairs(hadamard(order)[:, 1:].tolist()) == []
    whole = check_balance(hadamard(order))
    assert not whole.full and whole.strength == 0 and whole.pair == (0, 1)


# ---------------------------------------------------------------- balance


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 20), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=300)
def test_balance_is_what_counting_says_on_random_arrays(symbols, factors, runs, seed):
    array = np.random.default_rng(seed).integers(0, symbols, (runs, factors))
    assert_agrees(array)


@given(
    st.sampled_from([(2, 7), (3, 4), (2, 12), (4, 5), (3, 9), (5, 6)]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 3),
)
@settings(deadline=None, max_examples=150)
def test_balance_is_what_counting_says_on_damaged_arrays(shape, seed, swaps):
    """Two entries of a column change places: the column stays even, pairs break or not."""
    rng = np.random.default_rng(seed)
    array = orthogonal_array(*shape)[:, rng.permutation(shape[1])] * 3 - 1
    for _ in range(swaps):
        column, rows = rng.integers(shape[1]), rng.integers(len(array), size=2)
        array[rows, column] = array[rows[::-1], column]
    if rng.random() < 0.2:
        array[rng.integers(len(array)), rng.integers(shape[1])] = 2
    assert_agrees(array)


def assert_agrees(array):
    found, columns, pairs = (
        check_balance(array),
        bad_columns(array.tolist()),
        bad_pairs(array.tolist()),
    )
    assert found.full == (not columns and not pairs) == (found.problem is None)
    assert found.pair == (pairs[0] if pairs else None)
    assert found.strength == (0 if columns else 1 if pairs or array.shape[1] == 1 else 2)
    if found.table is not None:
        g, h = found.pair
        counts = Counter(zip(array[:, g].tolist(), array[:, h].tolist(), strict=True))
        assert found.table.tolist() == [
            [counts[a, b] for b in found.symbols] for a in found.symbols
        ]
    assert ("column " in (found.problem or "").split("columns ")[0]) == (
        bool(columns) and found.levels > 1
    )


def test_wide_arrays_are_checked_in_blocks(monkeypatch):
    array = orthogonal_array(3, 40)
    array[:, 37] = array[:, 22]
    expected = (22, 37)
    for block in (1, 500, 1000, 4000, 2**23):
        monkeypatch.setattr(arrays, "BLOCK", block)
        assert check_balance(array).pair == expected
        assert check_balance(orthogonal_array(3, 40)).full
        array[0, 35] += 1
        assert check_balance(array % 3).pair == (0, 35) == tuple(bad_pairs((array % 3).tolist())[0])
        array[0, 35] -= 1


def test_a_single_column_and_mixed_symbols():
    single = check_balance([[0], [1]])
    assert single.full and single.strength == 1 and single.pair is None
    mixed = check_balance([[0, 5], [1, 6], [0, 6], [1, 5]])
    assert mixed.strength == 0 and mixed.problem.startswith(
        "column 1 holds 0 in 2 runs, not 1; two columns of 4 symbols "
        "need at least 16 runs, the array has 4"
    )


def test_balance_prints_tabulates_and_restores():
    good, bad = (
        check_balance(orthogonal_array(2, 3)),
        check_balance([[0, 0], [0, 0], [1, 1], [1, 1]]),
    )
    assert repr(good) == "Balance(4 runs, 3 factors, 2 levels: strength 2, full balance)"
    assert repr(bad) == (
        "Balance(4 runs, 2 factors, 2 levels: strength 1, not in full balance: columns 1 and 2 hold "
        "(0, 0) in 2 runs, not 1)"
    )
    assert repr(check_balance([[0]])) == (
        "Balance(1 run, 1 factor, 1 level: strength 0, not in full balance: the "
        "array holds only the symbol 0)"
    )
    assert good.notes == () and [note.kind for note in bad.notes] == ["unreliable"]
    assert bad.problem == bad.notes[0].text and f"<li>{bad.problem}</li>" in bad._repr_html_()
    assert good.rows() == [
        {"runs": 4, "factors": 3, "levels": 2, "strength": 2, "full": True, "problem": None}
    ]
    again = Result.from_dict(json.loads(json.dumps(bad.to_dict())))
    assert (
        again.rows() == bad.rows()
        and again.table.tolist() == [[2, 0], [0, 2]]
        and again.pair == (0, 1)
    )
    assert "<table" in bad._repr_html_()


# ---------------------------------------------------------------- what the paper prints, and what holds


def printed_rotations(p, degree):
    """Appendix B.3: all p^n - 1 rotations of a column of the powers, a zero below."""
    field = GaloisField(p, degree)
    column = field.coefficients(field.powers(field.primitive_element))[:, 0]
    rotated = np.array([np.roll(column, -h) for h in range(field.size - 1)]).T
    return np.concatenate([rotated, np.zeros((1, field.size - 1), int)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "degree", "count", "lags"),
    [(3, 3, 13, {13}), (5, 2, 36, {6, 12, 18}), (3, 6, 364, {364})],
)
def test_the_printed_bound_of_columns_is_too_large(p, degree, count, lags):
    """Section 7.3 and appendix B.3 take p^n - 1 columns; (p^n - 1) / (p - 1) are sound."""
    printed, most = printed_rotations(p, degree), (p**degree - 1) // (p - 1)
    assert quick_pairs(printed[:, : most + 5], p) == [(k, k + most) for k in range(5)]
    assert check_balance(printed).pair == (0, most)
    assert check_balance(printed[:, :most]).full
    assert (printed[:, :most] == orthogonal_array(p, most, method="rotation")).all()
    if p**degree < 100:
        wrong = bad_pairs(printed.tolist())
        assert len(wrong) == count and {h - g for g, h in wrong} == lags
    else:
        assert (
            sum(
                len(set(zip(printed[:, g], printed[:, g + most], strict=True))) < p * p
                for g in range(p**degree - 1 - most)
            )
            == count
        )


def test_two_hundred_strata_of_three_need_729_replicates_not_243():
    rng = np.random.default_rng(0)
    y, weight = rng.normal(size=(200, 3)), np.ones(200)
    y[121:] = y[:79]  # strata that resemble each other, 121 apart
    truth = textbook_variance(y, weight)
    printed = replicate_variance(printed_rotations(3, 5)[:, :200], y, weight)
    assert abs(printed / truth - 1) > 0.05
    array = orthogonal_array(3, 200)
    assert len(array) == 729 and replicate_variance(array, y, weight) == pytest.approx(
        truth, rel=1e-12
    )


def test_worked_examples_of_section_7():
    assert orthogonal_array(3, 256).shape == (729, 256) and orthogonal_array(2, 483).shape == (
        512,
        483,
    )
    assert next_hadamard_order(483 + 1) == 484 and check_balance(hadamard(484)[:, 1:]).full


def test_equation_12_lacks_its_third_row():
    printed = signs(EQUATION_12)
    found = check_balance(printed)
    assert not found.full and found.strength == 0 and found.runs == 7
    assert (printed.sum(0) != 0).any() and (printed.T @ printed != 7 * np.eye(7)).any()
    assert not any(
        check_balance(np.vstack([printed, row])).full
        for row in itertools.product([1, -1], repeat=7)
    )


def test_equation_12_repaired_is_in_full_balance():
    row = "++-+---"
    whole = signs([row[k:] + row[:k] for k in range(7)] + ["+" * 7])
    assert check_balance(whole).full and bad_pairs(whole.tolist()) == []
    assert "".join("+" if s > 0 else "-" for s in whole[2]) == "-+---++"
    kept = [1 if s > 0 else 2 for s in whole[2]]  # eq. 13, its y(7,2) misprinted for y(7,1)
    assert kept == [2, 1, 2, 2, 2, 1, 1]
    close = {
        (i, int((whole[j] != signs([line])[0]).sum()))
        for i, line in enumerate(EQUATION_12[:6])
        for j in range(8)
        if (whole[j] != signs([line])[0]).sum() <= 2
    }
    assert close == {(0, 0), (1, 1), (2, 1), (3, 2), (4, 0), (5, 1)}


def test_any_columns_of_an_array_serve_not_any_rows():
    """Section 7.2 says rows."""
    array = hadamard(8)[:, 1:]
    for columns in itertools.combinations(range(7), 3):
        assert check_balance(array[:, columns]).full
    assert (array.T @ array == 8 * np.eye(7)).all()
    assert (array @ array.T == 8 * np.eye(8) - 1).all()


def test_equation_15_must_hold_for_the_first_stratum_too():
    """Printed for 1 < h <= L: a first column of ones passes eq. 11 and the mean of the replicates is biased."""
    array = hadamard(4)
    assert ((array.T @ array) == 4 * np.eye(4)).all() and (array[:, 1:].sum(0) == 0).all()
    y = np.random.default_rng(3).normal(size=(4, 2))
    kept = y[np.arange(4), (array < 0).astype(int)]
    assert kept.sum(1).mean() - y.mean(1).sum() == pytest.approx(
        np.ptp(y[0]) / 2 * np.sign(y[0, 0] - y[0, 1])
    )
    assert check_balance(array).problem.startswith("column 1 holds -1 in 0 runs, not 2")


def test_by_the_printed_rule_a_matrix_of_ones_is_orthogonal():
    """Appendix A asks each pair to appear zero times or equally often; ours asks R / n^2 for every pair."""
    ones = np.ones((4, 4), int)
    assert all(
        len(set(Counter(zip(ones[:, g], ones[:, h], strict=True)).values())) == 1
        for g, h in itertools.combinations(range(4), 2)
    )
    found = check_balance(ones)
    assert (
        found.strength == 0
        and not found.full
        and found.problem == "the array holds only the symbol 1"
    )
    assert (ones @ ones.T != 4 * np.eye(4)).any()


def test_pairs_appear_runs_over_n_squared_times_not_over_two_to_the_n():
    array = orthogonal_array(3, 13)
    counts = set(Counter(zip(array[:, 0].tolist(), array[:, 5].tolist(), strict=True)).values())
    assert counts == {27 // 3**2} and 27 / 2**3 not in counts


def test_equation_20_needs_its_constant_column_dropped():
    found = check_balance([[-1, 1], [1, 1]])
    assert found.strength == 0 and not found.full and check_balance([[-1], [1]]).full


def test_equation_21_doubles_the_order():
    """Printed H_{n^2}; [[H, H], [-H, H]] has order 2 n."""
    h = hadamard(12)
    doubled = np.block([[h, h], [-h, h]])
    assert len(doubled) == 24 != 144 and (doubled @ doubled.T == 24 * np.eye(24)).all()


def test_prime_powers_serve_and_six_does_not():
    """Section 7.3 asks for a prime."""
    for n in (4, 8, 9, 16):
        assert check_balance(orthogonal_array(n, n + 1)).full


# ---------------------------------------------------------------- errors

WRONG = [
    (
        lambda: orthogonal_array(6, 3),
        "levels must be a prime power; 6 is not a prime power, the nearest are 5 and 7",
    ),
    (
        lambda: orthogonal_array(10, 3),
        "levels must be a prime power; 10 is not a prime power, the nearest are 9 and 11",
    ),
    (lambda: orthogonal_array(1, 3), "levels must be a whole number from 2 to 1048576; got 1"),
    (lambda: orthogonal_array(3, 0), "factors must be a whole number from 1 to 268435456; got 0"),
    (
        lambda: orthogonal_array(3, 2.5),
        "factors must be a whole number from 1 to 268435456; got 2.5",
    ),
    (
        lambda: orthogonal_array(3, 4, method="lineal"),
        "method must be one of 'linear', 'rotation'; got 'lineal' (did you mean 'linear'?)",
    ),
    (
        lambda: orthogonal_array(2, 10**6),
        "factors must be fewer; 1000000 factors of 2 levels need 1048576 runs and "
        "8388608000000 bytes, at most 2147483648 are allowed",
    ),
    (
        lambda: hadamard(188),
        "order must be one that Sylvester, Paley, Williamson or Kronecker can build; got 188, "
        "the next that can be built is 192",
    ),
    (
        lambda: hadamard(6),
        "order must be 1, 2 or a multiple of 4; got 6, the next that can be built is 8",
    ),
    (lambda: hadamard(0), "order must be a whole number from 1 to 16384; got 0"),
    (lambda: hadamard(20000), "order must be a whole number from 1 to 16384; got 20000"),
    (lambda: next_hadamard_order(0), "at_least must be a whole number from 1 to 16384; got 0"),
    (
        lambda: check_balance([1, -1]),
        "array must be two-dimensional, runs by factors, and not empty; got shape (2,)",
    ),
    (
        lambda: check_balance(np.zeros((0, 3))),
        "array must be two-dimensional, runs by factors, and not empty; got shape (0, 3)",
    ),
    (
        lambda: check_balance([[0, 1], [float("nan"), 1]]),
        "array must be finite; row 1 column 0 is nan",
    ),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text[:60] for _, text in WRONG])
def test_errors_name_argument_rule_and_value(call, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        call()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: orthogonal_array("3", 1),
            "levels must be a whole number from 2 to 1048576; got '3'",
        ),
        (
            lambda: check_balance([["+", "-"]]),
            "array must hold numbers; got <U1 such as np.str_('+')",
        ),
    ],
)
def test_errors_of_type(call, text):
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        call()


PROBLEMS = [
    (
        printed_rotations(3, 2),
        "columns 1 and 5 hold (0, 0) in 3 runs, not 1; at most 4 columns of 3 symbols fit 9 runs",
    ),
    (
        hadamard(8),
        "column 1 holds -1 in 0 runs, not 4; columns 1 and 2 hold (-1, -1) in 0 runs, not 2; "
        "at most 7 columns of 2 symbols fit 8 runs",
    ),
    (orthogonal_array(5, 6)[:, [0, 1, 1]], "columns 2 and 3 hold (0, 0) in 5 runs, not 1"),
    (
        orthogonal_array(2, 3)[:3],
        "column 1 holds 0 in 2 runs, not 1.5; two columns of 2 symbols need at least 4 "
        "runs, the array has 3; at most 2 columns of 2 symbols fit 3 runs",
    ),
    (
        np.arange(6)[:, None] * [1, 1],
        "two columns of 6 symbols need at least 36 runs, the array has 6; at most 1 "
        "column of 6 symbols fits 6 runs",
    ),
]


@pytest.mark.parametrize(("array", "text"), PROBLEMS, ids=range(len(PROBLEMS)))
def test_problems_name_column_pair_and_room(array, text):
    assert check_balance(array).problem == text


@pytest.mark.parametrize("order", [36, 76, 148])
def test_pairs_of_a_second_kind_are_paleys(order):
    """Written out: +-[[1, 1], [1, -1]] for the signs of the bordered matrix of squares, [[1, -1], [-1, -1]] for 0."""
    q = order // 2 - 1
    squares = {k * k % q for k in range(1, q)}
    sign = [
        [1 if 0 in (i, j) else 1 if (i - j) % q in squares else -1 for j in range(q + 1)]
        for i in range(q + 1)
    ]
    blocks = [
        [
            np.array([[1, -1], [-1, -1]]) if i == j else sign[i][j] * np.array([[1, 1], [1, -1]])
            for j in range(q + 1)
        ]
        for i in range(q + 1)
    ]
    written = np.block(blocks)
    written = written * written[0]
    assert (hadamard(order) == written * written[:, :1]).all()


def test_as_many_symbols_as_the_largest_field_have_a_smallest_array():
    found = check_balance(np.arange(2**20)[:, None] * [1, 1])
    assert found.problem.endswith(f"at most 1 column of {2**20} symbols fits {2**20} runs")


def test_once_is_one_time():
    assert check_balance([[0, 0], [1, 1], [1, 0], [1, 1]]).problem.startswith(
        "column 1 holds 0 in 1 run, not 2; "
    )
