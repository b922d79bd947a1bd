"""Finite fields of any prime-power order.

References
----------
.. [1] Micheals & Boult, A stratified methodology for classifier and recognizer evaluation, 2001:
   appendix B.
.. [2] Lidl & Niederreiter, Finite Fields, 2nd edition, Cambridge 1997: primitive polynomials.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from workbench import checks
from workbench.checks import WrongValue
from workbench.results import FILLED

LARGEST_FIELD = 2**20


@dataclass(frozen=True, repr=False)
class GaloisField:
    """The finite field GF(p^degree): polynomials modulo p and modulo an irreducible polynomial.

    Use it to build orthogonal arrays of prime-power order. An element is a whole number 0 ..
    p^degree - 1. Its digits to the base p are its coefficients, lowest first: in GF(3^5), x is 3
    and 2x^4 + 2x^3 + 2 is 218. Operations take elements or arrays of elements, which broadcast.

    Parameters
    ----------
    p : int
        The characteristic, a prime.
    degree : int, default 1
        Degree of the field, p^degree <= 2^20.
    modulus : sequence of int, optional
        Irreducible polynomial, given by degree + 1 coefficients 0 .. p - 1, lowest first, the last
        one 1. By default it is the smallest primitive polynomial, read as a number to the base p.
        Then x generates the field.

    Attributes
    ----------
    p, degree : int
        Characteristic and degree.
    modulus : tuple of int
        Coefficients of the modulus, lowest first.
    size : int
        Number of elements, p^degree.
    primitive_element : int
        The smallest element of order size - 1.

    Raises
    ------
    ValueError
        If p is no prime, or the modulus has another degree, a coefficient out of range or a factor.

    See Also
    --------
    orthogonal_array : Make an orthogonal array of strength 2.

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
    modulus: Sequence[int] = FILLED

    def __post_init__(self) -> None:
        p = checks.whole("p", self.p, 2, LARGEST_FIELD)
        if _prime_factors(p) != (p,):
            power = as_prime_power(p)
            remedy = f": use GaloisField({power[0]}, {power[1]})" if power else ""
            raise WrongValue("p", f"must be a prime; {p} is not a prime{remedy}")
        degree = checks.whole("degree", self.degree, 1)
        if degree > 20 or p**degree > LARGEST_FIELD:
            raise ValueError(f"p ** degree must be at most {LARGEST_FIELD}; got {p} ** {degree}")
        if self.modulus is None:
            modulus = _smallest_primitive(p, degree)
        else:
            modulus = _modulus(self.modulus, p, degree)
        vars(self).update(p=p, degree=degree, modulus=modulus)

    def __repr__(self) -> str:
        return f"GaloisField({self.p}^{self.degree} modulo {polynomial(self.modulus)})"

    @property
    def size(self) -> int:
        """Return the number of elements, p^degree."""
        return self.p**self.degree

    @cached_property
    def primitive_element(self) -> int:
        """Return the smallest element whose powers give all elements except 0."""
        return _smallest_generator(self.p, self.modulus)

    def coefficients(self, a: ArrayLike) -> ndarray:
        """Return the coefficients of elements, lowest first, shape (..., degree).

        Parameters
        ----------
        a : (...) array_like of int
            Elements, 0 to size - 1.
        """
        return digits(self._elements("a", a), self.p, self.degree)

    def element(self, coefficients: ArrayLike) -> int | ndarray:
        """Return the elements with these coefficients 0 .. p - 1, lowest first along the last axis.

        Parameters
        ----------
        coefficients : (..., degree) array_like of int
            Lowest first, each 0 to p - 1.
        """
        coefficients = _whole_numbers("coefficients", coefficients, 0, self.p - 1)
        if coefficients.shape[-1:] != (self.degree,):
            rule = f"must have {self.degree} entries along the last axis; got shape "
            raise WrongValue("coefficients", f"{rule}{coefficients.shape}")
        return self._of_digits(coefficients)

    def add(self, a: ArrayLike, b: ArrayLike) -> int | ndarray:
        """Return a + b, coefficients added modulo p.

        Parameters
        ----------
        a, b : (...) array_like of int
            Elements, 0 to size - 1.
        """
        a = self._elements("a", a)
        b = self._elements("b", b)
        if self.p == 2:
            return _plain(a ^ b)
        if self.degree == 1:
            return _plain((a + b) % self.p)
        first, second = (digits(numbers, self.p, self.degree) for numbers in (a, b))
        return self._of_digits((first + second) % self.p)

    def multiply(self, a: ArrayLike, b: ArrayLike) -> int | ndarray:
        """Return a * b, by adding logarithms.

        Parameters
        ----------
        a, b : (...) array_like of int
            Elements, 0 to size - 1.
        """
        a = self._elements("a", a)
        b = self._elements("b", b)
        power, log = self._tables
        products = power[(log[a] + log[b]) % (self.size - 1)]
        return _plain(np.where((a == 0) | (b == 0), 0, products))

    def power(self, a: ArrayLike, exponent: ArrayLike) -> int | ndarray:
        """Return a ** exponent for whole exponents; a negative exponent inverts, 0 ** 0 is 1.

        Parameters
        ----------
        a : (...) array_like of int
            Elements, 0 to size - 1.
        exponent : (...) array_like of int
            Exponents, at least 0 if the element is 0.

        Examples
        --------
        >>> GaloisField(7).power([1, 2, 3, 4, 5, 6], -1)
        array([1, 4, 5, 2, 3, 6])
        """
        a = self._elements("a", a)
        exponent = _whole_numbers("exponent", exponent, -checks.LARGEST, checks.LARGEST)
        if np.any((a == 0) & (exponent < 0)):
            raise WrongValue("a", "must not be 0 for an exponent below 0")
        power, log = self._tables
        group = self.size - 1
        powers = power[log[a] * (exponent % group) % group]
        return _plain(np.where((a == 0) & (exponent != 0), 0, powers))

    def log(self, a: ArrayLike) -> int | ndarray:
        """Return the k in 0 .. size - 2 with primitive_element ** k = a, for elements other than 0.

        Parameters
        ----------
        a : (...) array_like of int
            Elements, 1 to size - 1.
        """
        a = self._elements("a", a)
        if np.any(a == 0):
            raise WrongValue("a", "must not be 0: no power of 0 is 1")
        return _plain(self._tables[1][a])

    def order(self, a: ArrayLike) -> int | ndarray:
        """Return the smallest k >= 1 with a ** k = 1, for elements other than 0.

        Parameters
        ----------
        a : (...) array_like of int
            Elements, 1 to size - 1.
        """
        group = self.size - 1
        return _plain(group // np.gcd(self.log(a), group))

    def powers(self, a: int) -> Any:
        """Return the powers a, a^2, ..., a^(size - 1) = 1 of a primitive element.

        They are all elements except 0, each once. For an element that is not primitive, `power(a,
        range(1, order(a) + 1))` returns its powers.

        Parameters
        ----------
        a : int
            A primitive element.
        """
        a = checks.whole("a", a, 0, self.size - 1)
        if a == 0 or self.order(a) < self.size - 1:
            fault = f"{a} has order {self.order(a)}" if a else "got 0"
            raise WrongValue("a", f"must be primitive, of order {self.size - 1}; {fault}")
        return self.power(a, np.arange(1, self.size))

    def _of_digits(self, coefficients: ndarray) -> int | ndarray:
        return _plain(coefficients @ self.p ** np.arange(self.degree))

    @cached_property
    def _tables(self) -> tuple:
        return _power_and_log(self.p, self.modulus, self.primitive_element)

    def _elements(self, name: str, values: ArrayLike) -> ndarray:
        return _whole_numbers(name, values, 0, self.size - 1)


# whole numbers and primes


def _whole_numbers(name: str, values: ArrayLike, low: int, high: int) -> ndarray:
    """Return `values` as an int array of any shape, or raise if they are not within low .. high."""
    array = checks.plain_array(name, values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold whole numbers; got {values!r}")
    wrong = array[~((array >= low) & (array <= high) & (np.floor(array) == array))]
    if wrong.size:
        raise ValueError(
            f"{name} must hold whole numbers from {low} to {high}; got {wrong[0]:.15g}"
        )
    return array.astype(np.int64)


def trace(field: GaloisField, elements: ArrayLike, levels: int) -> ndarray:
    """Return the traces of elements onto the subfield of `levels` elements: sums of conjugates."""
    total = elements
    conjugate = field.power(elements, levels)
    while not np.array_equal(conjugate, elements):
        total = field.add(total, conjugate)
        conjugate = field.power(conjugate, levels)
    return np.asarray(total)


def _plain(array: ndarray) -> Any:
    return array if np.ndim(array) else int(array)


def digits(numbers: ArrayLike, base: int, count: int) -> ndarray:
    """Return the `count` lowest digits of whole numbers, lowest first along a new last axis."""
    place_values = base ** np.arange(count)
    return np.asarray(numbers)[..., None] // place_values % base


@lru_cache(maxsize=4096)
def _prime_factors(number: int) -> tuple[int, ...]:
    """Return the distinct primes that divide `number`, rising."""
    primes = []
    divisor = 2
    while number > 1:
        if divisor * divisor > number:
            divisor = number
        if number % divisor == 0:
            primes.append(divisor)
            number //= divisor
        else:
            divisor += 1
    return tuple(dict.fromkeys(primes))


def as_prime_power(number: int) -> Any:
    """Return (p, m) with number = p^m, p prime, or None."""
    primes = _prime_factors(number)
    return (primes[0], round(math.log(number, primes[0]))) if len(primes) == 1 else None


# polynomials over GF(p), coefficients lowest first


def polynomial(coefficients: Sequence[int]) -> str:
    """Return the text of a polynomial, such as x^5 + 2x + 1."""
    terms = []
    for k, c in reversed(list(enumerate(coefficients))):
        variable = f"x^{k}" if k > 1 else "x" * k
        if c:
            terms.append(variable if c == 1 and k else f"{c}{variable}")
    return " + ".join(terms) or "0"


def _divides(divisor: tuple, polynomial: tuple, p: int) -> bool:
    """Return whether a polynomial with leading coefficient 1 divides another."""
    rest = list(polynomial)
    for shift in reversed(range(len(rest) - len(divisor) + 1)):
        lead = rest[shift + len(divisor) - 1]
        for k, coefficient in enumerate(divisor, shift):
            rest[k] = (rest[k] - lead * coefficient) % p
    return not any(rest)


def _monic(p: int, degree: int) -> Iterator[tuple]:
    """Yield the polynomials with leading coefficient 1, the smallest first."""
    for number in range(p**degree):
        yield (*digits(number, p, degree).tolist(), 1)


def _modulus(modulus: Sequence[int], p: int, degree: int) -> tuple:
    """Return a modulus as a tuple of int, or raise; the message names a factor."""
    array = checks.counts("modulus", modulus, size=degree + 1, what="coefficient")
    coefficients = tuple(_whole_numbers("modulus", array, 0, p - 1).tolist())
    if coefficients[-1] != 1:
        raise WrongValue("modulus", "must have the highest coefficient 1", coefficients[-1])
    for divisor in itertools.chain.from_iterable(_monic(p, k) for k in range(1, degree // 2 + 1)):
        if _divides(divisor, coefficients, p):
            factor = f"{polynomial(coefficients)} has the factor {polynomial(divisor)}"
            raise WrongValue("modulus", f"must be irreducible modulo {p}; {factor}")
    return coefficients


def _companion(p: int, modulus: tuple) -> ndarray:
    """Return the matrix C for which v C are the coefficients of x times those in v."""
    matrix = np.eye(len(modulus) - 1, k=1, dtype=np.int64)
    matrix[-1] = -np.array(modulus[:-1]) % p
    return matrix


def _matrix_power(matrix: ndarray, exponent: int, p: int) -> ndarray:
    power = np.eye(len(matrix), dtype=np.int64)
    for bit in f"{exponent:b}":
        power = power @ power % p
        if bit == "1":
            power = power @ matrix % p
    return power


def _generates(matrix: ndarray, p: int) -> bool:
    """Return whether the powers of multiplication by an element reach everything but 0."""
    group = p ** len(matrix) - 1
    identity = np.eye(len(matrix))
    if not np.array_equal(_matrix_power(matrix, group, p), identity):
        return False
    powers = (_matrix_power(matrix, group // prime, p) for prime in _prime_factors(group))
    return not any(np.array_equal(power, identity) for power in powers)


@lru_cache(maxsize=256)
def _smallest_primitive(p: int, degree: int) -> tuple:
    """Return the smallest primitive polynomial.

    Up to the sign (-1)^degree, its constant is a primitive root.
    """
    for modulus in _monic(p, degree):
        root = (-1) ** degree * modulus[0] % p
        if _is_primitive_root(root, p) and _generates(_companion(p, modulus), p):
            return modulus
    raise AssertionError("every finite field has a primitive polynomial")


def _is_primitive_root(root: int, p: int) -> bool:
    exponents = ((p - 1) // prime for prime in _prime_factors(p - 1))
    return root > 0 and all(pow(root, exponent, p) != 1 for exponent in exponents)


def _multiplication(p: int, modulus: tuple, element: int) -> ndarray:
    """Return the matrix of multiplication by an element."""
    companion = _companion(p, modulus)
    coefficients = digits(element, p, len(companion)).tolist()
    terms = (c * _matrix_power(companion, k, p) for k, c in enumerate(coefficients))
    return sum(terms) % p


@lru_cache(maxsize=256)
def _smallest_generator(p: int, modulus: tuple) -> int:
    element = 1 if len(modulus) == 2 else p
    while not _generates(_multiplication(p, modulus, element), p):
        element += 1
    return element


@lru_cache(maxsize=64)
def _power_and_log(p: int, modulus: tuple, generator: int) -> tuple[ndarray, ndarray]:
    """Return the powers 0 .. q - 2 of the generator and their inverse, by doubling."""
    degree = len(modulus) - 1
    group = p**degree - 1
    step = _multiplication(p, modulus, generator)
    coefficients = np.eye(1, degree, dtype=np.int64)
    while len(coefficients) < group:
        coefficients = np.concatenate([coefficients, coefficients @ step % p])
        step = step @ step % p
    power = coefficients[:group] @ p ** np.arange(degree)
    log = np.zeros(group + 1, dtype=np.int64)
    log[power] = np.arange(group)
    return power, log
