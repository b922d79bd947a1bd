"""Arithmetic of finite fields by schoolbook polynomials, and the fields that the tests use."""

PRIME_POWERS = {
    2: (2, 1),
    3: (3, 1),
    4: (2, 2),
    5: (5, 1),
    7: (7, 1),
    8: (2, 3),
    9: (3, 2),
    11: (11, 1),
    13: (13, 1),
    16: (2, 4),
}


def polynomial(a, p, degree):
    """Return the coefficients of an element, lowest first."""
    return [a // p**k % p for k in range(degree)]


def number(coefficients, p):
    """Return the element with these coefficients."""
    return sum(c * p**k for k, c in enumerate(coefficients))


def slow_add(a, b, p, degree):
    """Return the sum, coefficient by coefficient."""
    return number(
        [
            (x + y) % p
            for x, y in zip(polynomial(a, p, degree), polynomial(b, p, degree), strict=True)
        ],
        p,
    )


def slow_multiply(a, b, p, modulus):
    """Schoolbook product, then x^k is replaced by x^(k - n) times the rest of the modulus, from the top."""
    degree = len(modulus) - 1
    product = [0] * (2 * degree)
    for i, x in enumerate(polynomial(a, p, degree)):
        for j, y in enumerate(polynomial(b, p, degree)):
            product[i + j] += x * y
    for k in reversed(range(degree, 2 * degree)):
        lead, product[k] = product[k], 0
        for j in range(degree):
            product[k - degree + j] -= lead * modulus[j]
    return number([c % p for c in product[:degree]], p)


def slow_order(a, p, modulus):
    """Return the smallest k with a^k = 1, by trying."""
    power, k = a, 1
    while power != 1:
        power, k = slow_multiply(power, a, p, modulus), k + 1
    return k
