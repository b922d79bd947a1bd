"""Orthogonal arrays, Hadamard matrices, and a check whether an array balances its replicates.

An array of R runs and k factors says which unit each of R replicates keeps in each of k strata. It
has strength 2 if every two columns show each of the n^2 pairs of symbols exactly R / n^2 times.
Replicates made from such an array give the textbook variance of every linear statistic.

Start with `orthogonal_array` and `hadamard`, which build arrays, and `check_balance`.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.replication.four_circulants import ROWS, four_circulants
from workbench.replication.galois import (
    LARGEST_FIELD,
    GaloisField,
    as_prime_power,
    digits,
    trace,
)
from workbench.results import Note, Result

METHODS = ("linear", "rotation")
LARGEST_ARRAY = 2**28
LARGEST_ORDER = math.isqrt(LARGEST_ARRAY)
BLOCK = 2**23
SYLVESTER = np.array([[1, 1], [1, -1]], np.int8)


class Balance(Result):
    """Result of a check whether an array balances replicates.

    `check_balance` returns this result.

    Attributes
    ----------
    strength : int
        2 if every two columns show each pair of symbols equally often; higher strengths are not
        checked. 1 if only every single column shows each symbol equally often. 0 otherwise. A
        single column has at most strength 1.
    full : bool
        Whether the array is in full balance: every column shows each of n symbols R / n times, and
        every two columns show each pair R / n^2 times.
    pair : tuple of int or None
        First pair of columns (i, j), i < j, that violates this, as indices from 0. The notes count
        columns from 1.
    table : (n, n) array of int or None
        Number of runs in which this pair shows each pair of symbols. None also if runs < n^2.
    symbols : tuple
        The n symbols in ascending order.
    runs, factors : int
        Shape of the array.
    notes : tuple of Note
        The first column and the first pair of columns at fault, with their counts.

    See Also
    --------
    check_balance : Check whether an array balances replicates.
    orthogonal_array : Make an orthogonal array of strength 2.
    """

    strength: int
    full: bool
    pair: tuple | None
    table: ndarray | None
    symbols: tuple
    runs: int
    factors: int

    @property
    def problem(self) -> str | None:
        """Return a description of the problems, or None."""
        return "; ".join(note.text for note in self.notes) or None

    @property
    def levels(self) -> int:
        """Return the number of symbols."""
        return len(self.symbols)

    def headline(self) -> str:
        """Return the shape, the strength and the problems."""
        sizes = {"run": self.runs, "factor": self.factors, "level": self.levels}
        counts = [checks.counted(size, noun) for noun, size in sizes.items()]
        shape = ", ".join(counts)
        verdict = "full balance" if self.full else f"not in full balance: {self.problem}"
        return f"{shape}: strength {self.strength}, {verdict}"

    def rows(self) -> list[dict]:
        """Return one row: shape, strength, full balance and the problem."""
        keys = "runs", "factors", "levels", "strength", "full", "problem"
        return [{key: getattr(self, key) for key in keys}]


def check_balance(array: ArrayLike) -> Balance:
    """Check whether an array has strength 2 and gives fully balanced replicates.

    Use it before you pass an array of your own to `replicates`.

    Parameters
    ----------
    array : (runs, factors) array_like of numbers
        Symbols, such as 0 .. n - 1 or +1/-1; all columns share one set of symbols.

    Returns
    -------
    Balance
        Strength of the array, and the first column and pair of columns at fault.

    Raises
    ------
    ValueError
        If the array is not two-dimensional, empty or not finite.

    See Also
    --------
    orthogonal_array : Make an orthogonal array of strength 2.
    hadamard : Make a Hadamard matrix.
    replicates : Make replicates of a design, also from an array of your own.

    Examples
    --------
    >>> check_balance(orthogonal_array(3, 13))
    Balance(27 runs, 13 factors, 3 levels: strength 2, full balance)
    >>> check_balance(hadamard(8)[:, :4]).problem
    'column 1 holds -1 in 0 runs, not 4; columns 1 and 2 hold (-1, -1) in 0 runs, not 2'
    """
    array = _array(array)
    symbols, codes = np.unique(array, return_inverse=True)
    codes = codes.reshape(array.shape)
    runs, factors = array.shape
    levels = symbols.size
    # columns that violate eq. 15; with one level all do
    flat = codes + levels * np.arange(factors)
    counts = np.bincount(flat.ravel(), minlength=factors * levels).reshape(factors, levels)
    uneven = (counts != runs / levels).any(1) | (levels == 1)
    pair = _first_bad_pair(codes, levels, uneven) if factors > 1 else None
    table = None
    if pair and levels**2 <= runs:
        codes_of_pairs = codes[:, pair] @ [levels, 1]
        table = np.bincount(codes_of_pairs, minlength=levels**2).reshape(levels, levels)
    full = pair is None and not uneven.any()
    problems = [] if full else _problems(counts, runs, symbols, uneven, pair, table)
    strength = 1 if pair or factors == 1 else 2
    return Balance(
        0 if uneven.any() else strength,
        full,
        pair,
        table,
        tuple(symbols.tolist()),
        runs,
        factors,
        notes=[Note("unreliable", problem) for problem in problems],
    )


def orthogonal_array(levels: int, factors: int, *, method: str = "linear") -> ndarray:
    """Make an orthogonal array of strength 2 with the fewest runs of any linear array.

    Replicates made from it balance strata with `levels` units each.

    Parameters
    ----------
    levels : int
        Number n of symbols 0 .. n - 1, the units per stratum. It must be a prime power.
    factors : int
        Number of columns, the strata. n^b runs have room for (n^b - 1) / (n - 1) columns, not for
        n^b - 1 as [1]_ states.
    method : {"linear", "rotation"}, default "linear"
        - "linear": runs and columns are vectors over GF(n); an entry is their scalar product [2]_.
        - "rotation": the first column holds the powers of a primitive element of GF(n^b). Each
          further column is the previous one moved up by one. The last run is all zeros [1]_, [3]_.

    Returns
    -------
    (runs, factors) array of int
        The array, with the fewest runs of any linear array. For two levels `hadamard` often needs
        fewer runs.

    Raises
    ------
    ValueError
        If levels is no prime power, or the array is larger than 2 GiB.

    See Also
    --------
    hadamard : Make a Hadamard matrix, for strata of two units.
    check_balance : Check whether an array balances replicates.
    replicates : Make replicates of a design.

    References
    ----------
    .. [1] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation,
       2001: eqs. 11-15, appendices A and B.
    .. [2] Hedayat, Sloane & Stufken, Orthogonal Arrays, Springer 1999: linear arrays, Rao's bound.
    .. [3] Gurney & Jewett, Constructing orthogonal replications for variance estimation, JASA 70,
       1975.

    Examples
    --------
    >>> orthogonal_array(3, 4).T
    array([[0, 1, 2, 0, 1, 2, 0, 1, 2],
           [0, 0, 0, 1, 1, 1, 2, 2, 2],
           [0, 1, 2, 1, 2, 0, 2, 0, 1],
           [0, 2, 1, 1, 0, 2, 2, 1, 0]])
    >>> orthogonal_array(3, 256).shape
    (729, 256)
    """
    checks.choice("method", method, METHODS)
    levels, factors, dimension = _dimensions(levels, factors)
    runs = levels**dimension
    size = runs * factors
    if size > LARGEST_ARRAY:
        raise WrongValue(
            "factors",
            f"must be fewer; {factors} factors of {levels} levels need {runs} runs and {8 * size} "
            f"bytes, at most {8 * LARGEST_ARRAY} are allowed",
        )
    if method == "linear":
        return linear_array(levels, factors).astype(np.int64)
    field = GaloisField(*as_prime_power(runs))
    column = _onto_levels(field, field.powers(field.primitive_element), levels)
    around = np.concatenate([column, column[: factors - 1]])
    rotations = np.lib.stride_tricks.sliding_window_view(around, factors)
    return np.pad(rotations, [(0, 1), (0, 0)])


def smallest_runs(levels: int, factors: int) -> int:
    """Return the number of runs of the smallest linear array.

    It is the smallest n^b with factors <= (n^b - 1) / (n - 1).

    Parameters
    ----------
    levels : int
        A prime power n.
    factors : int

    Returns
    -------
    int

    Examples
    --------
    >>> smallest_runs(3, 121), smallest_runs(3, 122), smallest_runs(2, 483)
    (243, 729, 512)
    """
    levels, _, dimension = _dimensions(levels, factors)
    return levels**dimension


def linear_forms(levels: int, factors: int) -> ndarray:
    """Return the linear forms whose values are the columns of the linear array.

    Run r of `orthogonal_array` is a vector over GF(levels). It consists of the digits of r to the
    base `levels`, lowest first. Its entry in column h is the scalar product with form h. No form is
    a multiple of another.

    Parameters
    ----------
    levels : int
        A prime power.
    factors : int

    Returns
    -------
    (b, factors) array of int
        The highest coefficient other than 0 is 1; levels^b runs.

    Examples
    --------
    >>> linear_forms(3, 4)
    array([[1, 0, 1, 2],
           [0, 1, 1, 1]])
    """
    levels, factors, dimension = _dimensions(levels, factors)
    monic = [np.arange(levels**j, 2 * levels**j) for j in range(dimension)]
    return digits(np.concatenate(monic)[:factors], levels, dimension).T


def linear_array(levels: int, factors: int, runs: ndarray | None = None) -> ndarray:
    """Return runs of the linear array of `orthogonal_array` in the smallest integer type.

    Parameters
    ----------
    levels : int
        A prime power.
    factors : int
    runs : (r,) array of int, optional
        Numbers of the runs, by default all `smallest_runs(levels, factors)`.

    Returns
    -------
    (r, factors) array of unsigned int

    Examples
    --------
    >>> linear_array(2, 3).tolist()
    [[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]]
    >>> linear_array(4, 2000, np.array([16383])).shape
    (1, 2000)
    """
    levels, factors, dimension = _dimensions(levels, factors)
    runs = np.arange(levels**dimension) if runs is None else runs
    field = GaloisField(*as_prime_power(levels))
    compact = np.min_scalar_type(2 * levels)
    elements = np.arange(levels)[:, None]
    sums = np.asarray(field.add(elements, elements.T), compact)
    array = np.zeros((len(runs), factors), compact)
    coordinates = digits(runs, levels, dimension).T
    for coordinate, form in zip(coordinates, linear_forms(levels, factors), strict=True):
        multiples = np.asarray(field.multiply(elements, form), compact)
        term = multiples[coordinate]
        if field.p == 2:
            array ^= term
        elif field.degree == 1:
            array = (array + term) % field.p
        else:
            array = sums[array, term]
    return array


def hadamard(order: int) -> ndarray:
    """Make a Hadamard matrix, H H' = order I, whose first row and first column are +1.

    Without its first column the matrix is a fully balanced array of `order` runs for up to order -
    1 factors of two levels.

    Parameters
    ----------
    order : int
        1, 2 or a multiple of 4, at most 16384.

    Returns
    -------
    (order, order) array of int
        The matrix, with entries +1 and -1.

    Raises
    ------
    ValueError
        If the order cannot be built. The message names the next order that can be built.

    See Also
    --------
    orthogonal_array : Make an orthogonal array, also for more than two levels.
    check_balance : Check whether an array balances replicates.

    Notes
    -----
    The constructions are Sylvester's doubling, both constructions of Paley [1]_ (also for prime
    powers), four circulants as found by Williamson (92, 116, 156, 172), and Kronecker products.
    They give all multiples of 4 up to 184, and all except 49 up to 1000.

    References
    ----------
    .. [1] Paley, On orthogonal matrices, Journal of Mathematics and Physics 12, 1933.

    Examples
    --------
    >>> hadamard(4)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]])
    >>> hadamard(188)      # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.checks.WrongValue: order must be one that Sylvester, ...; got 188, ... 192
    """
    order = checks.whole("order", order, 1, LARGEST_ORDER)
    build = _builder(order)
    if build is None:
        rule = "one that Sylvester, Paley, Williamson or Kronecker can build"
        if order % 4:
            rule = "1, 2 or a multiple of 4"
        after = next_hadamard_order(order)
        rule = f"must be {rule}; got {order}, the next that can be built is {after}"
        raise WrongValue("order", rule)
    matrix = build()
    matrix = matrix * matrix[0]
    return (matrix * matrix[:, :1]).astype(np.int64)


def next_hadamard_order(at_least: int) -> int:
    """Return the smallest order >= at_least that `hadamard` can build.

    Parameters
    ----------
    at_least : int
        For replicates of L strata with two units this is L + 1, because the constant column cannot
        be used.

    Returns
    -------
    int

    Examples
    --------
    >>> next_hadamard_order(483 + 1), next_hadamard_order(89)
    (484, 92)
    """
    order = checks.whole("at_least", at_least, 1, LARGEST_ORDER)
    while _builder(order) is None:
        order += 1
    return order


# orthogonal arrays


def _dimensions(levels: int, factors: int) -> tuple[int, int, int]:
    """Return levels, factors and the smallest b with factors <= (levels^b - 1) / (levels - 1)."""
    levels = checks.whole("levels", levels, 2, LARGEST_FIELD)
    if as_prime_power(levels) is None:
        nearest = (next(filter(as_prime_power, itertools.count(levels, step))) for step in (-1, 1))
        rule = f"must be a prime power; {levels} is not a prime power, the nearest are "
        raise WrongValue("levels", rule + " and ".join(map(str, nearest)))
    factors = checks.whole("factors", factors, 1, LARGEST_ARRAY)
    dimension = 1
    while (levels**dimension - 1) // (levels - 1) < factors:
        dimension += 1
    return levels, factors, dimension


def _onto_levels(field: GaloisField, elements: ndarray, levels: int) -> ndarray:
    """Map elements linearly onto GF(levels), by the lowest coefficient or the trace."""
    if levels == field.p:
        return field.coefficients(elements)[..., 0]
    traces = trace(field, elements, levels)
    spacing = (field.size - 1) // (levels - 1)
    exponents = field.log(np.maximum(traces, 1)) // spacing
    return np.where(traces == 0, 0, exponents + 1)


# Hadamard matrices


@cache
def _builder(order: int) -> Callable[[], ndarray] | None:
    """Return a function that builds a matrix of this order, or None if there is none."""

    def product(factor: int) -> Callable[[], ndarray] | None:
        large = _builder(order // factor)
        small = _builder(factor)
        if large and small:
            return lambda: _kron(large(), small())
        return None

    if order <= 2:
        return lambda: SYLVESTER[:order, :order]
    if order % 4:
        return None
    if _builder(order // 2):
        return product(2)
    if as_prime_power(order - 1):
        return lambda: _paley_one(order - 1)
    if order // 2 % 4 == 2 and as_prime_power(order // 2 - 1):
        return lambda: _paley_two(order // 2 - 1)
    if order in ROWS:
        return lambda: four_circulants(order)
    candidates = range(4, math.isqrt(order) + 1, 4)
    factors = (factor for factor in candidates if order % factor == 0)
    return next(filter(None, map(product, factors)), None)


def _kron(large: ndarray, small: ndarray) -> ndarray:
    """Return the Kronecker product of two square matrices; the second one is small."""
    step = len(small)
    product = np.empty((len(large) * step,) * 2, np.int8)
    for i, j in np.ndindex(small.shape):
        np.multiply(large, small[i, j], out=product[i::step, j::step])
    return product


def _bordered(q: int, below: int) -> ndarray:
    """Return the conference matrix of order q + 1.

    It holds the quadratic characters of differences, with a border of ones.
    """
    field = GaloisField(*as_prime_power(q))
    elements = np.arange(q)
    character = np.zeros(q, np.int8)
    character[1:] = np.where(field.log(elements[1:]) % 2, -1, 1)
    negatives = field.multiply(elements, field.p - 1)
    matrix = np.ones((q + 1, q + 1), np.int8)
    matrix[0, 0] = 0
    matrix[1:, 0] = below
    for rows in np.array_split(elements, -(-q * q // BLOCK)):
        matrix[rows + 1, 1:] = character[field.add(rows[:, None], negatives)]
    return matrix


def _paley_one(q: int) -> ndarray:
    """Return order q + 1, q = 3 modulo 4: the bordered matrix is skew."""
    return _bordered(q, -1) + np.eye(q + 1, dtype=np.int8)


def _paley_two(q: int) -> ndarray:
    """Return order 2 (q + 1), q = 1 modulo 4: the bordered matrix is symmetric."""
    identity = np.eye(q + 1, dtype=np.int8)
    on_diagonal = np.array([[1, -1], [-1, -1]], np.int8)
    return _kron(_bordered(q, 1), SYLVESTER) + _kron(identity, on_diagonal)


# balance


def _array(array: ArrayLike) -> ndarray:
    array = checks.plain_array("array", array)
    if array.ndim != 2 or array.size == 0:
        rule = "must be two-dimensional, runs by factors, and not empty; got shape "
        raise WrongValue("array", f"{rule}{array.shape}")
    if array.dtype.kind not in "biuf":
        rule = f"must hold numbers; got {array.dtype} such as {array[0, 0]!r}"
        raise checks.WrongType("array", rule)
    checks.refuse_infinite("array", array, "row", "column", between=" ")
    return array


def _first_bad_pair(codes: ndarray, levels: int, uneven: ndarray) -> tuple | None:
    """Return the first pair of columns that violates eq. 11, or None.

    Pairs with the last symbol are not counted: even columns imply them.
    """
    runs, factors = codes.shape
    symbols = levels - 1
    if symbols == 0 or runs % levels**2:
        return 0, 1
    width = max(1, BLOCK // (runs * symbols))

    def shown_symbols(start: int) -> ndarray:
        """Return whether each run shows each symbol but the last, (runs, columns * symbols)."""
        shows = codes[:, start : start + width, None] == np.arange(symbols)
        return shows.reshape(runs, -1).astype(np.float32)

    for start in range(0, factors, width):
        shows = shown_symbols(start)
        bad = uneven[start : start + width, None] | uneven
        for other in range(start, factors, width):
            shows_too = shows if other == start else shown_symbols(other)
            columns = shows_too.shape[1] // symbols
            counts = (shows.T @ shows_too).reshape(-1, symbols, columns, symbols)
            bad[:, other : other + width] |= (counts != runs // levels**2).any((1, 3))
        bad = np.triu(bad, start + 1)
        if bad.any():
            first, second = np.argwhere(bad)[0].tolist()
            return start + first, second
    return None


def _problems(
    counts: ndarray,
    runs: int,
    symbols: ndarray,
    uneven: ndarray,
    pair: tuple | None,
    table: ndarray | None,
) -> Iterator[str]:
    """Yield the faults: a column, a pair of columns, more columns than Rao's bound."""
    factors, levels = counts.shape
    if levels == 1:
        yield f"the array holds only the symbol {symbols[0]:g}"
        return
    if uneven.any():
        column = int(uneven.argmax())
        fault = _wrong_count(counts[column], symbols, runs / levels)
        yield f"column {column + 1} holds {fault}"
    if pair and table is not None:
        fault = _wrong_count(table, symbols, runs / levels**2)
        first, second = pair
        yield f"columns {first + 1} and {second + 1} hold {fault}"
    elif pair:
        least = levels**2
        yield f"two columns of {levels} symbols need at least {least} runs, the array has {runs}"
    most = (runs - 1) // (levels - 1)
    if 1 <= most < factors:
        fits = f"columns of {levels} symbols fit"
        columns = checks.counted(most, f"column of {levels} symbols fits", fits)
        yield f"at most {columns} {runs} runs"


def _wrong_count(counts: ndarray, symbols: ndarray, expected: float) -> str:
    """Return the first symbol, or pair of symbols, that does not occur as often as expected."""
    first = tuple(np.argwhere(counts != expected)[0])
    name = ", ".join(f"{symbols[k]:g}" for k in first)
    if len(first) > 1:
        name = f"({name})"
    return f"{name} in {checks.counted(counts[first], 'run')}, not {expected:.6g}"
