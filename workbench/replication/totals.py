"""Totals of all replicates at once, by the Fourier transform of the group of a linear array.

In stratum h, run r of a linear array keeps the unit <r, p_h>, a scalar product over GF(s). The
total of the kept units is::

    sum_h f_h(<r, p_h>).

It is a sum of characters of the additive group of the runs. The transform of that group gives the
totals of all R runs in about R log R steps, instead of R times the number of strata.

References
----------
.. [1] Hedayat, Sloane & Stufken, Orthogonal Arrays, Springer 1999: linear arrays.
.. [2] Terras, Fourier Analysis on Finite Groups and Applications, Cambridge 1999: chapters 2 and 3.
"""

from functools import lru_cache

import numpy as np
from numpy import ndarray

from workbench.replication.arrays import linear_forms, smallest_runs
from workbench.replication.galois import GaloisField, as_prime_power, digits, trace

RADIX = 16


def signed_totals(contrasts: ndarray) -> ndarray:
    """Return sum_j (-1)^a_rj c_j for every run r of the two-level linear array a.

    Parameters
    ----------
    contrasts : (J, C) array of float
        One contrast per column of the array, for C variables.

    Returns
    -------
    (R, C) array of float
        R = `smallest_runs(2, J)`.

    Examples
    --------
    >>> signed_totals(np.array([[1.0], [10.0], [100.0]])).ravel()
    array([ 111.,  -91., -109.,   89.])
    """
    spectrum = np.zeros((smallest_runs(2, len(contrasts)), contrasts.shape[1]))
    spectrum[1 : len(contrasts) + 1] = contrasts
    return _walsh(spectrum)


def kept_totals(values: ndarray) -> ndarray:
    """Return sum_h values[h, a_rh] for every run r of the linear array a.

    Parameters
    ----------
    values : (H, s, C) array of float
        Totals of the s units of each of H strata, for C variables; s a prime power.

    Returns
    -------
    (R, C) array of float
        R = `smallest_runs(s, H)`.

    Examples
    --------
    >>> kept_totals(np.arange(12.0).reshape(4, 3, 1)).ravel()
    array([18., 22., 23., 21., 22., 23., 24., 22., 23.])
    """
    strata, levels, variables = values.shape
    characters, places = _frequencies(levels, strata)
    waves = np.tensordot(characters.conj(), values, (1, 1)) / levels
    spectrum = np.zeros((smallest_runs(levels, strata), variables), characters.dtype)
    spectrum[0] = waves[0].sum(0)
    spectrum[places] = waves[1:]
    if np.iscomplexobj(spectrum):
        return _synthesis(spectrum, characters).real
    return _walsh(spectrum)


@lru_cache(maxsize=16)
def _frequencies(levels: int, strata: int) -> tuple:
    """Return the characters of a stratum, and their places in the group's spectrum, (s - 1, H).

    The character c x of the unit x = <r, p_h> is the character of the run r at the vector c p_h.
    """
    field = GaloisField(*as_prime_power(levels))
    forms = linear_forms(levels, strata)
    dual = _dual(field)
    units = np.arange(1, levels)[:, None, None]
    multiples = field.multiply(units, forms)
    place_values = levels ** np.arange(len(forms))
    places = np.empty((levels - 1, strata), np.int64)
    places[dual[1:] - 1] = place_values @ dual[multiples]
    return _characters(field), places


def _characters(field: GaloisField) -> ndarray:
    """Return the (s, s) table of additive characters, exp(2 pi i x.u / p) for digits x and u."""
    elements = digits(np.arange(field.size), field.p, field.degree)
    powers = elements @ elements.T % field.p
    if field.p == 2:
        return 1.0 - 2 * powers
    return np.exp(2j * np.pi / field.p * powers)


def _dual(field: GaloisField) -> ndarray:
    """Return, for every element v, the u whose character at x is that of the trace of v x."""
    basis = field.p ** np.arange(field.degree)
    elements = np.arange(field.size)[:, None]
    products = field.multiply(elements, basis)
    return trace(field, products, field.p) @ basis


def _synthesis(spectrum: ndarray, characters: ndarray) -> ndarray:
    """Return the values with the given coefficients, one digit of the run after another."""
    done = 1
    shape = spectrum.shape
    runs = len(spectrum)
    while done < runs:
        radix = min(len(characters), runs // done)
        digit_in_middle = spectrum.reshape(runs // (done * radix), radix, -1)
        spectrum = characters[:radix, :radix] @ digit_in_middle
        done *= radix
    return spectrum.reshape(shape)


def _walsh(spectrum: ndarray) -> ndarray:
    """Return the Walsh-Hadamard transform along the first axis, four bits at a time."""
    bits = digits(np.arange(RADIX), 2, 4)
    parity = bits @ bits.T % 2
    return _synthesis(spectrum, 1.0 - 2 * parity)
