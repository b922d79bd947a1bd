"""Galois fields, orthogonal arrays, Hadamard matrices, and whether an array balances its replicates.

An array of R runs and k factors says which unit each of R replicates keeps in each of k strata. It has
strength 2 if every two columns show each of the n^2 pairs of symbols exactly R / n^2 times; replicates
made from it then give the textbook variance of every linear statistic.

References
----------
.. [1] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation, 2001: eqs. 11-15,
   appendices A and B.
.. [2] Gurney & Jewett, Constructing orthogonal replications for variance estimation, JASA 70, 1975.
.. [3] Hedayat, Sloane & Stufken, Orthogonal Arrays, Springer 1999: linear arrays, Rao's bound.
.. [4] Paley, On orthogonal matrices, Journal of Mathematics and Physics 12, 1933.
"""
import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from workbench import checks
from workbench.results import Result

METHODS = ("linear", "rotation")
LARGEST_FIELD = 2 ** 20
LARGEST_ARRAY = 2 ** 28
LARGEST_ORDER = math.isqrt(LARGEST_ARRAY)
BLOCK = 2 ** 23


@dataclass(frozen=True, repr=False)
class GaloisField:
    """The finite field GF(p^degree): polynomials over the integers modulo p, modulo an irreducible one.

    An element is a whole number 0 .. p^degree - 1 whose digits base p are its coefficients, lowest first:
    in GF(3^5) x is 3 and 2x^4 + 2x^3 + 2 is 218. Operations take elements or arrays of them, which broadcast.

    Parameters
    ----------
    p : int
        A prime, the characteristic.
    degree : int
        Degree of the field, p^degree <= 2^20.
    modulus : sequence of int, optional
        degree + 1 coefficients 0 .. p - 1, lowest first, the last one 1; irreducible. By default the
        smallest primitive polynomial (read as a number base p): x then generates the field.

    Attributes
    ----------
    p, degree : int
    modulus : tuple of int
    size : int
        p^degree.
    primitive_element : int
        The smallest element of order size - 1.

    Raises
    ------
    ValueError
        If p is no prime, or the modulus has another degree, a coefficient out of range or a factor.

    Examples
    --------
    >>> field = GaloisField(3, 2)
    >>> field
    GaloisField(3^2 modulo x^2 + x + 2)
    >>> field.add(4, 5), field.multiply(3, 3), field.order(4)
    (6, 7, 8)
    >>> field.powers(field.primitive_element)
    array([3, 7, 8, 2, 6, 5, 4, 1])
    """

    p: int
    degree: int = 1
    modulus: tuple | None = None

    def __post_init__(self):
        p = _prime(self.p)
        degree = checks.whole("degree", self.degree, 1)
        if degree > 20 or p ** degree > LARGEST_FIELD:
            raise ValueError(f"p ** degree must be at most {LARGEST_FIELD}; got {p} ** {degree}")
        modulus = _smallest_primitive(p, degree) if self.modulus is None else _modulus(self.modulus, p, degree)
        for name, value in (("p", p), ("degree", degree), ("modulus", modulus)):
            object.__setattr__(self, name, value)

    def __repr__(self):
        return f"GaloisField({self.p}^{self.degree} modulo {_polynomial(self.modulus)})"

    @property
    def size(self):
        """Number of elements, p^degree."""
        return self.p ** self.degree

    @cached_property
    def primitive_element(self):
        """The smallest element whose powers are all the others but 0."""
        return _smallest_generator(self.p, self.modulus)

    def coefficients(self, a):
        """Return the coefficients of elements, lowest first, shape (..., degree)."""
        return _digits(self._elements("a", a), self.p, self.degree)

    def element(self, coefficients):
        """Return the elements with these coefficients 0 .. p - 1, lowest first along the last axis."""
        coefficients = _whole_numbers("coefficients", coefficients, self.p)
        if coefficients.ndim == 0 or coefficients.shape[-1] != self.degree:
            raise ValueError(f"coefficients must have {self.degree} entries along the last axis; "
                             f"got shape {coefficients.shape}")
        return _plain(coefficients @ self._places)

    def add(self, a, b):
        """Return a + b, coefficients added modulo p."""
        a, b = self._elements("a", a), self._elements("b", b)
        if self.p == 2:
            return _plain(a ^ b)
        if self.degree == 1:
            return _plain((a + b) % self.p)
        total = _digits(a, self.p, self.degree) + _digits(b, self.p, self.degree)
        return _plain(total % self.p @ self._places)

    def multiply(self, a, b):
        """Return a * b, by adding logarithms."""
        a, b = self._elements("a", a), self._elements("b", b)
        power, log = self._tables
        return _plain(np.where((a == 0) | (b == 0), 0, power[(log[a] + log[b]) % (self.size - 1)]))

    def power(self, a, exponent):
        """Return a ** exponent for whole exponents; below 0 the inverse, 0 ** 0 is 1.

        Examples
        --------
        >>> GaloisField(7).power([1, 2, 3, 4, 5, 6], -1)
        array([1, 4, 5, 2, 3, 6])
        """
        a, exponent = self._elements("a", a), _whole_numbers("exponent", exponent)
        if np.any((a == 0) & (exponent < 0)):
            raise ValueError("a must not be 0 for an exponent below 0")
        power, log = self._tables
        found = power[log[a] * (exponent % (self.size - 1)) % (self.size - 1)]
        return _plain(np.where((a == 0) & (exponent != 0), 0, found))

    def order(self, a):
        """Return the smallest k >= 1 with a ** k = 1, for elements other than 0."""
        a = self._elements("a", a)
        if np.any(a == 0):
            raise ValueError("a must not be 0: no power of 0 is 1")
        return _plain((self.size - 1) // np.gcd(self._tables[1][a], self.size - 1))

    def powers(self, a):
        """Return a, a^2, ..., a^(size - 1) = 1, every element but 0 once, for a primitive element.

        Of an element that is not primitive `power(a, range(1, order(a) + 1))` gives the few it reaches.
        """
        a = checks.whole("a", a, 0, self.size - 1)
        if a == 0 or self.order(a) < self.size - 1:
            fault = f"{a} has order {self.order(a)}" if a else "got 0"
            raise ValueError(f"a must be primitive, of order {self.size - 1}; {fault}")
        return self.power(a, np.arange(1, self.size))

    @property
    def _places(self):
        return self.p ** np.arange(self.degree)

    @cached_property
    def _tables(self):
        return _power_and_log(self.p, self.modulus, self.primitive_element)

    def _elements(self, name, values):
        return _whole_numbers(name, values, self.size)


@dataclass(frozen=True, eq=False, repr=False)
class Balance(Result):
    """Whether an array balances replicates.

    Attributes
    ----------
    strength : int
        2: every two columns show each pair of symbols equally often (more than 2 is not looked for);
        1: only every column each symbol; 0: not even that. A single column has at most 1.
    full : bool
        Full balance: eq. 15, every column shows each of n symbols R / n times, and eq. 11 in its form for n
        symbols, every two columns show each pair R / n^2 times.
    problem : str or None
        The first column and the first pair of columns at fault, with their counts.
    pair : tuple of int or None
        First pair of columns (i, j), i < j, that is at fault; columns count from 0.
    table : (n, n) array of int or None
        How often this pair shows each pair of symbols; None also where runs < n^2.
    symbols : tuple
        The n symbols in rising order.
    runs, factors : int
        Shape of the array.
    """

    strength: int
    full: bool
    problem: str | None
    pair: tuple | None
    table: np.ndarray | None
    symbols: tuple
    runs: int
    factors: int

    @property
    def levels(self):
        """Number of symbols."""
        return len(self.symbols)

    def headline(self):
        """Return strength, shape and what is wrong."""
        shape = f"{self.runs} runs, {self.factors} factors, {self.levels} levels"
        verdict = "full balance" if self.full else f"not in full balance: {self.problem}"
        return f"{shape}: strength {self.strength}, {verdict}"

    def rows(self):
        """Return one row: shape, strength, full balance and the problem."""
        return [{"runs": self.runs, "factors": self.factors, "levels": self.levels, "strength": self.strength,
                 "full": self.full, "problem": self.problem}]


def check_balance(array):
    """Check whether an array has strength 2 and brings replicates into full balance.

    Parameters
    ----------
    array : (runs, factors) array_like of numbers
        Symbols, such as 0 .. n - 1 or +1/-1, one set of symbols for all columns.

    Returns
    -------
    Balance

    Raises
    ------
    ValueError
        If the array is not two-dimensional, empty or not finite.

    Examples
    --------
    >>> check_balance(orthogonal_array(3, 13))
    Balance(27 runs, 13 factors, 3 levels: strength 2, full balance)
    >>> check_balance(hadamard(8)[:, :4]).problem
    'column 0 holds -1 0 times, not 4; columns 0 and 1 hold the pairs of -1, 1 [[0, 0], [4, 4]] times, not 2 each'
    """
    symbols, codes = np.unique(_array(array), return_inverse=True)
    codes = codes.reshape(np.shape(array))
    runs, factors = codes.shape
    uneven = _uneven_columns(codes, symbols.size)
    pair = _first_bad_pair(codes, symbols.size, uneven) if factors > 1 else None
    table = None if pair is None or symbols.size ** 2 > runs else _pair_table(codes[:, pair], symbols.size)
    full = not uneven.any() and pair is None
    strength = 0 if uneven.any() else 1 if pair or factors == 1 else 2
    problem = None if full else "; ".join(_problems(codes, symbols, uneven, pair, table))
    return Balance(strength, full, problem, pair, table, tuple(symbols.tolist()), runs, factors)


def orthogonal_array(levels, factors, *, method="linear"):
    """Return an orthogonal array of strength 2 with the fewest runs a linear array can have.

    Parameters
    ----------
    levels : int
        n, symbols 0 .. n - 1, units per stratum; a prime power.
    factors : int
        Columns, strata. n^b runs have room for (n^b - 1) / (n - 1), not for n^b - 1 as [1]_ has it.
    method : {"linear", "rotation"}
        - "linear": run and column are vectors over GF(n), the entry their scalar product [3]_.
        - "rotation": one column of the powers of a primitive element of GF(n^b), each next column
          the one before moved up by one; a run of zeros at the bottom [1]_, [2]_.

    Returns
    -------
    (runs, factors) array of int
        runs = `smallest_runs(levels, factors)`. For two levels `hadamard` often needs fewer.

    Raises
    ------
    ValueError
        If levels is no prime power, or the array larger than 2 GiB.

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
    runs = levels ** dimension
    if runs * factors > LARGEST_ARRAY:
        raise ValueError(f"factors must be fewer; {factors} factors of {levels} levels need {runs} runs, "
                         f"{8 * runs * factors} bytes of at most {8 * LARGEST_ARRAY}")
    build = _rotated if method == "rotation" else _linear
    return build(levels, factors, runs).astype(np.int64)


def smallest_runs(levels, factors):
    """Return the runs of the smallest linear array: the smallest n^b with factors <= (n^b - 1) / (n - 1).

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
    return levels ** dimension


def linear_forms(levels, factors):
    """Return the linear forms whose values are the columns of the linear array.

    Run r of `orthogonal_array` is the vector over GF(levels) of the digits of r base levels, lowest first;
    its entry in column h is the scalar product with form h. No form is a multiple of another.

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
    starts = [levels ** j for j in range(dimension)]
    numbers = np.concatenate([np.arange(start, 2 * start) for start in starts])[:factors]
    return _digits(numbers, levels, dimension).T


def hadamard(order):
    """Return a Hadamard matrix, H H' = order I, whose first row and first column are +1.

    Without its first column it is an array of order runs for up to order - 1 factors of two levels, in full
    balance. Built by Sylvester's doubling, both constructions of Paley [4]_ (prime powers too) and Kronecker
    products; these reach all multiples of 4 up to 88 and all but 55 up to 1000.

    Parameters
    ----------
    order : int
        1, 2 or a multiple of 4, at most 16384.

    Returns
    -------
    (order, order) array of int
        +1 and -1.

    Raises
    ------
    ValueError
        If the order cannot be built; names the next one that can, see `next_hadamard_order`.

    Examples
    --------
    >>> hadamard(4)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]])
    >>> hadamard(92)
    Traceback (most recent call last):
    ValueError: order must be in reach of Sylvester, Paley and Kronecker; got 92, the next that can be built is 96
    """
    order = checks.whole("order", order, 1, LARGEST_ORDER)
    if _construction(order) is None:
        rule = "in reach of Sylvester, Paley and Kronecker" if order % 4 == 0 else "1, 2 or a multiple of 4"
        raise ValueError(f"order must be {rule}; got {order}, "
                         f"the next that can be built is {next_hadamard_order(order)}")
    matrix = _build(order)
    matrix = matrix * matrix[0]
    return (matrix * matrix[:, :1]).astype(np.int64)


def next_hadamard_order(at_least):
    """Return the smallest order >= at_least that `hadamard` can build.

    Parameters
    ----------
    at_least : int
        For replicates of L strata with two units L + 1, as the constant column cannot be used.

    Returns
    -------
    int

    Examples
    --------
    >>> next_hadamard_order(483 + 1), next_hadamard_order(89)
    (484, 96)
    """
    order = checks.whole("at_least", at_least, 1, LARGEST_ORDER)
    while _construction(order) is None:
        order += 1
    return order


# whole numbers and primes

def _whole_numbers(name, values, size=None):
    """Return `values` as an int array of any shape, within 0 .. size - 1 if a size is given."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf" or not np.all(np.mod(array, 1) == 0):
        raise TypeError(f"{name} must hold whole numbers; got {values!r}")
    outside = array[(array < 0) | (array >= size)] if size else array[np.abs(array) > checks.LARGEST]
    if outside.size:
        raise ValueError(f"{name} must hold whole numbers from {0 if size else -checks.LARGEST} to "
                         f"{size - 1 if size else checks.LARGEST}; got {outside[0]:.15g}")
    return array.astype(np.int64)


def _plain(array):
    return int(array) if np.ndim(array) == 0 else array


def _digits(numbers, base, count):
    return np.asarray(numbers)[..., None] // base ** np.arange(count) % base


@lru_cache(maxsize=4096)
def _prime_factors(number):
    """Return the distinct primes that divide `number`, rising."""
    found, divisor = [], 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            found.append(divisor)
            while number % divisor == 0:
                number //= divisor
        divisor += 1
    return (*found, number) if number > 1 else tuple(found)


def _as_prime_power(number):
    """Return (p, m) with number = p^m, or None."""
    primes = _prime_factors(number)
    return (primes[0], round(math.log(number, primes[0]))) if len(primes) == 1 else None


def _prime(p):
    p = checks.whole("p", p, 2, LARGEST_FIELD)
    if _prime_factors(p) != (p,):
        found = _as_prime_power(p)
        remedy = f", take GaloisField({found[0]}, {found[1]})" if found else ""
        raise ValueError(f"p must be a prime; {p} is not a prime{remedy}")
    return p


def _prime_power_levels(levels):
    levels = checks.whole("levels", levels, 2, LARGEST_FIELD)
    if _as_prime_power(levels) is None:
        below, above = levels - 1, levels + 1
        while _as_prime_power(below) is None:
            below -= 1
        while _as_prime_power(above) is None:
            above += 1
        raise ValueError(f"levels must be a prime power; {levels} is not a prime power, "
                         f"the nearest are {below} and {above}")
    return levels


# polynomials over GF(p), coefficients lowest first

def _polynomial(coefficients):
    """Return the text of a polynomial, such as x^5 + 2x + 1."""
    terms = []
    for k, c in reversed(list(enumerate(coefficients))):
        variable = "" if k == 0 else "x" if k == 1 else f"x^{k}"
        if c:
            terms.append(variable if c == 1 and k else f"{c}{variable}")
    return " + ".join(terms) or "0"


def _divides(divisor, polynomial, p):
    """Whether a polynomial with leading coefficient 1 divides another."""
    rest = list(polynomial)
    for shift in reversed(range(len(rest) - len(divisor) + 1)):
        lead = rest[shift + len(divisor) - 1]
        for k, c in enumerate(divisor):
            rest[shift + k] = (rest[shift + k] - lead * c) % p
    return not any(rest)


def _factor(polynomial, p):
    """Return the smallest factor of a polynomial below its own degree, or None."""
    for degree in range(1, (len(polynomial) - 1) // 2 + 1):
        for number in range(p ** degree):
            divisor = (*_digits(number, p, degree).tolist(), 1)
            if _divides(divisor, polynomial, p):
                return divisor
    return None


def _modulus(modulus, p, degree):
    """Return a modulus as a tuple of int, or raise; a factor is named."""
    coefficients = checks.counts("modulus", modulus, size=degree + 1, what="coefficient")
    coefficients = tuple(_whole_numbers("modulus", coefficients, p).tolist())
    if coefficients[-1] != 1:
        raise ValueError(f"modulus must have the highest coefficient 1; got {coefficients[-1]}")
    factor = _factor(coefficients, p)
    if factor:
        raise ValueError(f"modulus must be irreducible modulo {p}; {_polynomial(coefficients)} has the factor "
                         f"{_polynomial(factor)}")
    return coefficients


def _companion(p, modulus):
    """Return the matrix C for which v C are the coefficients of x times those in v."""
    matrix = np.eye(len(modulus) - 1, k=1, dtype=np.int64)
    matrix[-1] = -np.array(modulus[:-1]) % p
    return matrix


def _matrix_power(matrix, exponent, p):
    result = np.eye(len(matrix), dtype=np.int64)
    while exponent:
        if exponent & 1:
            result = result @ matrix % p
        matrix = matrix @ matrix % p
        exponent >>= 1
    return result


def _generates(matrix, p):
    """Whether the powers of multiplication by an element reach everything but 0."""
    group = p ** len(matrix) - 1
    identity = np.eye(len(matrix), dtype=np.int64)
    return np.array_equal(_matrix_power(matrix, group, p), identity) and not any(
        np.array_equal(_matrix_power(matrix, group // r, p), identity) for r in _prime_factors(group))


@lru_cache(maxsize=256)
def _smallest_primitive(p, degree):
    """Return the smallest primitive polynomial; its constant term is (-1)^degree times a primitive root."""
    for number in range(1, p ** degree):
        if _is_primitive_root((-1) ** degree * number % p, p):
            modulus = (*_digits(number, p, degree).tolist(), 1)
            if _generates(_companion(p, modulus), p):
                return modulus


def _is_primitive_root(root, p):
    return root != 0 and all(pow(root, (p - 1) // r, p) != 1 for r in _prime_factors(p - 1))


def _multiplication(p, modulus, element):
    """Return the matrix of multiplication by an element."""
    companion = _companion(p, modulus)
    digits = _digits(element, p, len(companion)).tolist()
    return sum(c * _matrix_power(companion, k, p) for k, c in enumerate(digits)) % p


@lru_cache(maxsize=256)
def _smallest_generator(p, modulus):
    element = 1 if len(modulus) == 2 else p
    while not _generates(_multiplication(p, modulus, element), p):
        element += 1
    return element


@lru_cache(maxsize=64)
def _power_and_log(p, modulus, generator):
    """Return the powers 0 .. q - 2 of the generator and their inverse, doubling the known ones at each step."""
    size = p ** (len(modulus) - 1)
    step = _multiplication(p, modulus, generator)
    known = np.eye(1, len(step), dtype=np.int64)
    while len(known) < size - 1:
        known = np.concatenate([known, known @ step % p])
        step = step @ step % p
    power = known[:size - 1] @ p ** np.arange(len(step))
    log = np.zeros(size, dtype=np.int64)
    log[power] = np.arange(size - 1)
    return power, log


# orthogonal arrays

def _dimensions(levels, factors):
    """Return levels, factors and the smallest b with factors <= (levels^b - 1) / (levels - 1)."""
    levels, factors = _prime_power_levels(levels), checks.whole("factors", factors, 1, LARGEST_ARRAY)
    dimension = 1
    while (levels ** dimension - 1) // (levels - 1) < factors:
        dimension += 1
    return levels, factors, dimension


def _linear(levels, factors, runs):
    """Return the values of the linear forms, one more coordinate of the run at each step."""
    field = GaloisField(*_as_prime_power(levels))
    compact = np.min_scalar_type(2 * levels)
    add = _adder(field, compact)
    array = np.zeros((1, factors), compact)
    for form in linear_forms(levels, factors):
        multiples = field.multiply(np.arange(levels)[:, None], form).astype(compact)
        array = np.concatenate([add(array, row) for row in multiples]) if len(array) > 1 else multiples
    return array


def _adder(field, compact):
    """Return addition for arrays of a small integer type."""
    if field.p == 2:
        return np.bitwise_xor
    if field.degree == 1:
        return lambda a, b: (a + b) % field.p
    elements = np.arange(field.size)
    table = field.add(elements[:, None], elements).astype(compact)
    return lambda a, b: table[a, b]


def _rotated(levels, factors, runs):
    """Return rotations of one column of the powers of a primitive element, and a run of zeros."""
    p, degree = _as_prime_power(runs)
    field = GaloisField(p, degree)
    column = _onto_levels(field, field.powers(field.primitive_element), levels)
    around = np.concatenate([column, column[:factors - 1]])
    rotations = np.lib.stride_tricks.sliding_window_view(around, factors)
    return np.concatenate([rotations, np.zeros((1, factors), np.int64)])


def _onto_levels(field, elements, levels):
    """Map elements linearly onto GF(levels): the lowest coefficient, or for a prime power the trace."""
    if levels == field.p:
        return field.coefficients(elements)[..., 0]
    trace, conjugate = elements, field.power(elements, levels)
    while not np.array_equal(conjugate, elements):
        trace, conjugate = field.add(trace, conjugate), field.power(conjugate, levels)
    spacing = (field.size - 1) // (levels - 1)
    return np.where(trace == 0, 0, field._tables[1][trace] // spacing + 1)


# Hadamard matrices

@cache
def _construction(order):
    """Return the construction of an order and its argument, or None."""
    if order <= 2:
        return "sylvester", order
    if order % 4:
        return None
    if _construction(order // 2):
        return "kronecker", 2
    if _as_prime_power(order - 1):
        return "paley one", order - 1
    if order // 2 % 4 == 2 and _as_prime_power(order // 2 - 1):
        return "paley two", order // 2 - 1
    factors = (f for f in range(4, math.isqrt(order) + 1, 4) if order % f == 0)
    return next((("kronecker", f) for f in factors if _construction(f) and _construction(order // f)), None)


def _build(order):
    kind, argument = _construction(order)
    if kind == "kronecker":
        return np.kron(_build(order // argument), _build(argument))
    return _BUILDERS[kind](argument)


def _sylvester(order):
    return np.array([[1, 1], [1, -1]], np.int8)[:order, :order]


def _bordered(q, below):
    """Return the conference matrix of order q + 1: quadratic characters of differences, a border of ones."""
    field = GaloisField(*_as_prime_power(q))
    elements = np.arange(q)
    character = np.where(field._tables[1] % 2, -1, 1).astype(np.int8)
    character[0] = 0
    negatives = field.multiply(elements, field.p - 1)
    matrix = np.ones((q + 1, q + 1), np.int8)
    matrix[0, 0], matrix[1:, 0] = 0, below
    for a in range(q):
        matrix[a + 1, 1:] = character[field.add(a, negatives)]
    return matrix


def _paley_one(q):
    """Return order q + 1, q = 3 modulo 4: the bordered matrix is skew."""
    return _bordered(q, -1) + np.eye(q + 1, dtype=np.int8)


def _paley_two(q):
    """Return order 2 (q + 1), q = 1 modulo 4: the bordered matrix is symmetric."""
    diagonal = np.kron(np.eye(q + 1, dtype=np.int8), np.array([[1, -1], [-1, -1]], np.int8))
    return np.kron(_bordered(q, 1), _sylvester(2)) + diagonal


_BUILDERS = {"sylvester": _sylvester, "paley one": _paley_one, "paley two": _paley_two}


# balance

def _array(array):
    array = np.asarray(array)
    if array.ndim != 2:
        raise ValueError(f"array must be two-dimensional, runs by factors; got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"array must not be empty; got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"array must hold numbers; got {array.dtype} such as {array[0, 0]!r}")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"array must be finite; row {row} column {column} is {array[row, column]}")
    return array


def _uneven_columns(codes, levels):
    """Tell of each column whether it fails eq. 15; all do where runs is no multiple of levels, or levels is 1."""
    runs, factors = codes.shape
    if levels == 1 or runs % levels:
        return np.ones(factors, bool)
    return (_symbol_counts(codes, levels) != runs // levels).any(1)


def _symbol_counts(codes, levels):
    """Return how often each column holds each symbol, (factors, levels)."""
    factors = codes.shape[1]
    flat = codes + levels * np.arange(factors)
    return np.bincount(flat.ravel(), minlength=factors * levels).reshape(factors, levels)


def _pair_table(two_columns, levels):
    return np.bincount(two_columns @ [levels, 1], minlength=levels ** 2).reshape(levels, levels)


def _first_bad_pair(codes, levels, uneven):
    """Return the first pair of columns that does not show each pair of symbols equally often, or None."""
    runs, factors = codes.shape
    if levels == 1 or runs % levels ** 2:
        return 0, 1
    width = max(1, BLOCK // (runs * (levels - 1)))
    starts = range(0, factors, width)
    for start in starts:
        bad = np.concatenate([_bad_pairs(codes, start, other, width, levels) for other in starts if other >= start], 1)
        bad = np.triu(bad | uneven[start:start + width, None] | uneven[start:], 1)
        if bad.any():
            return tuple((start + np.argwhere(bad)[0]).tolist())
    return None


def _bad_pairs(codes, start, other, width, levels):
    """Compare columns from `start` with those from `other`; without the last symbol, which even columns imply."""
    first = _indicators(codes[:, start:start + width], levels)
    second = first if other == start else _indicators(codes[:, other:other + width], levels)
    counts = (first.T @ second).reshape(first.shape[1] // (levels - 1), levels - 1, -1, levels - 1)
    return (counts != len(codes) // levels ** 2).any((1, 3))


def _indicators(codes, levels):
    return (codes[:, :, None] == np.arange(levels - 1)).reshape(len(codes), -1).astype(np.float32)


def _problems(codes, symbols, uneven, pair, table):
    """Say what is wrong: a column, a pair of columns, too many columns."""
    runs, levels = len(codes), symbols.size
    if levels == 1:
        yield f"the array holds only the symbol {symbols[0]:g}"
        return
    if uneven.any():
        yield _column_problem(codes, symbols, int(np.flatnonzero(uneven)[0]))
    if table is not None:
        yield f"columns {pair[0]} and {pair[1]} hold {_table_problem(table, symbols, runs / levels ** 2)}"
    elif pair:
        yield f"two columns of {levels} symbols need at least {levels ** 2} runs, the array has {runs}"
    yield from _too_many_columns(runs, levels, codes.shape[1])


def _column_problem(codes, symbols, column):
    counts = np.bincount(codes[:, column], minlength=symbols.size)
    wrong = int(np.flatnonzero(counts != codes.shape[0] / symbols.size)[0])
    return f"column {column} holds {symbols[wrong]:g} {counts[wrong]} times, not {codes.shape[0] / symbols.size:.6g}"


def _table_problem(table, symbols, expected):
    """Return the whole table of up to three symbols, else the first count that is wrong."""
    if symbols.size <= 3:
        names = ", ".join(f"{symbol:g}" for symbol in symbols)
        return f"the pairs of {names} {table.tolist()} times, not {expected:.6g} each"
    i, j = np.argwhere(table != expected)[0]
    return f"({symbols[i]:g}, {symbols[j]:g}) {table[i, j]} times, not {expected:.6g}"


def _too_many_columns(runs, levels, factors):
    """Rao's bound, (runs - 1) / (levels - 1) columns, and the runs that would do."""
    most = (runs - 1) // (levels - 1)
    if 1 <= most < factors:
        noun, verb = ("columns", "fit") if most > 1 else ("column", "fits")
        yield f"at most {most} {noun} of {levels} symbols {verb} {runs} runs{_enough_runs(levels, factors)}"


def _enough_runs(levels, factors):
    if levels == 2 and factors < LARGEST_ORDER:
        return f", {factors} need {next_hadamard_order(factors + 1)}"
    known = levels <= LARGEST_FIELD and factors <= LARGEST_ARRAY and _as_prime_power(levels)
    return f", {factors} need {smallest_runs(levels, factors)}" if known else ""
