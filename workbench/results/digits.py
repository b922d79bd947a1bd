"""How numbers are shown: with the digits that their error allows, the same in a column, and never as what they are not.

A share that is not quite 1 is never shown as 1 or 100%, one that is not quite 0 never as 0.
"""

import math
from collections.abc import Iterable, Sequence

MOST = 6  # decimals, and of percentages two less
SIGNIFICANT = 4  # digits of a number whose error nobody knows
LARGE = 1e4  # from here on whole numbers will do
ROUNDING = 1e-12  # a sum of weights that is 1
WHOLE = 0.9  # an interval of this width is as good as none
TINY = 1e-5  # below it a power of ten is easier to read


def decimals(error: float, most: int = MOST) -> int:
    """Return how many decimals show an error with two digits.

    Parameters
    ----------
    error : float
        Above 0; otherwise nothing is known and all decimals are shown.
    most : int

    Examples
    --------
    >>> decimals(0.066), decimals(0.5), decimals(12.3), decimals(950)
    (3, 2, 0, 0)
    """
    if not 0 < error < math.inf:
        return most
    return min(most, max(0, 1 - math.floor(math.log10(error) + 1e-12)))


def percents(*shares: float, error: float | None = None) -> tuple[str, ...]:
    """Return shares as percentages of equally many decimals.

    Parameters
    ----------
    *shares : float
    error : float, optional
        Standard error or half-width of an interval, a share too; without it one decimal.

    Examples
    --------
    >>> percents(0.8695, 0.795, 0.927, error=0.066)
    ('87.0%', '79.5%', '92.7%')
    >>> percents(0.9995, 0.982, 0.99996, error=0.009), percents(1.0, 0.0, error=0.2), percents(0.0003)
    (('99.95%', '98.20%', '> 99.99%'), ('100%', '0%'), ('< 0.1%',))
    """
    places = decimals(100 * error, MOST - 2) if error and error > 0 else 1
    return tuple(_percent(float(share), places) for share in shares)


def _percent(share: float, places: int) -> str:
    if math.isnan(share):
        return "undefined"
    text, step = f"{100 * share:.{places}f}", 10.0**-places
    if 0.5 < share < 1 - ROUNDING and float(text) == 100:
        return f"> {100 - step:.{places}f}%"
    if 0 < share < 0.5 and float(text) == 0:
        return f"< {step:.{places}f}%"
    return f"{_unsigned(text)}%"


def shares(*values: float, places: int = 3) -> tuple[str, ...]:
    """Return shares as numbers from 0 to 1, of equally many decimals.

    Parameters
    ----------
    *values : float
    places : int

    Examples
    --------
    >>> shares(0.877, 0.84, 0.99996), shares(1.0, 0.0)
    (('0.877', '0.840', '> 0.999'), ('1.000', '0.000'))
    """
    return tuple(_entry(float(value), places, abs(value) <= 1) for value in values)


def points(*differences: float, error: float, signed: bool = False) -> tuple[str, ...]:
    """Return differences of shares in percentage points, without the word.

    Parameters
    ----------
    *differences : float
        As shares.
    error : float
        As in `percents`.
    signed : bool
        Show the sign of what is above 0 too.

    Examples
    --------
    >>> points(0.0412, 0.0308, 0.0529, error=0.011)
    ('4.1', '3.1', '5.3')
    >>> points(-0.0003, 0.012, error=0.006, signed=True)
    ('-0.03', '+1.20')
    """
    places = decimals(100 * error, MOST - 2) if error > 0 else 1
    return tuple(
        _unsigned(f"{100 * difference:{'+' if signed else ''}.{places}f}")
        for difference in differences
    )


def chance(pvalue: float) -> str:
    """Return a p-value with two digits, as "= .17" or "< .001".

    Examples
    --------
    >>> chance(0.1712), chance(0.0043), chance(0.0001), chance(1.0)
    ('= .17', '= .004', '< .001', '= 1')
    """
    if pvalue < 0.001:
        return "< .001"
    if pvalue > 0.99:
        return "= 1" if pvalue == 1 else "> .99"
    return f"= {pvalue:.{2 if pvalue >= 0.095 else 3}f}".replace("0.", ".")


def number(value: float, places: int = 3) -> str:
    """Return a number alone with some digits, without an exponent from .001 to ten million.

    Examples
    --------
    >>> number(0.012346), number(12345.6), number(2e7)
    ('0.0123', '12,346', '2e+07')
    """
    if 1000 <= abs(value) < 1e7:
        return f"{value:,.{max(0, places - 1 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.{places}g}"


def between(low: float, high: float) -> str:
    """Return two ends with as many digits as tell them apart.

    Examples
    --------
    >>> between(0.12341, 0.12349), between(2.0, 2.0)
    ('0.12341 to 0.12349', '2 to 2')
    """
    apart = (high - low) / max(abs(low), abs(high), 1e-300)
    places = 3 if apart == 0 else min(15, max(3, 2 - math.floor(math.log10(apart))))
    return f"{number(low, places)} to {number(high, places)}"


def short(value: float, places: int = 3) -> str:
    """Return a share below 1 without its leading zero.

    Examples
    --------
    >>> short(0.1237), short(0.5, 2), short(0.0), short(-0.25), short(1.0)
    ('.124', '.50', '0', '-.250', '1.000')
    """
    return "0" if value == 0 else _bare(f"{value:.{places}f}", value)


def share(value: float, *others: float) -> str:
    """Return a share below 1 without its leading zero, with the digits of `decimal`.

    Examples
    --------
    >>> share(0.7), share(0.70004, 0.7), share(0.0)
    ('.700', '.70004', '0')
    """
    return short(value) if value == 0 or abs(value) >= 1 else _bare(decimal(value, *others), value)


def decimal(value: float, *others: float) -> str:
    """Return a share with as many digits, at least three, as tell it from 0, 1 and others.

    Examples
    --------
    >>> decimal(0.7), decimal(0.99996), decimal(2e-7)
    ('0.700', '0.99996', '2e-07')
    """
    if 0 < abs(value) < 1e-6:
        return number(value, 2)
    apart = {0.0, 1.0, *others} - {value}
    places = next(
        (
            places
            for places in range(3, 15)
            if not any(round(value, places) == round(other, places) for other in apart)
        ),
        15,
    )
    return f"{value:.{places}f}"


def level(value: float, whole: float = 1, least: int = 4) -> str:
    """Return a level with at least so many significant digits, and as many as tell it from the whole.

    Examples
    --------
    >>> level(0.95), level(1 - 1e-7), level(1 - 2 ** -53)
    ('0.95', '0.9999999', '0.9999999999999999')
    """
    shown = (f"{value:.{places}g}" for places in range(least, 18))
    return next((text for text in shown if value >= whole or float(text) < whole), f"{value!r}")


def _bare(text: str, value: float) -> str:
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def short_p(p: float) -> str:
    """Return a p-value without its leading zero, small ones with an exponent, never 0.

    Examples
    --------
    >>> short_p(0.17), short_p(0.0043), short_p(2e-7), short_p(0.0)
    ('.170', '.0043', '2.0e-07', '< 1e-300')
    """
    if p < 1e-300:
        return "< 1e-300"
    return f"{p:.1e}" if p < 1e-4 else short(p, 4 if p < 0.01 else 3)


def probability(p: float) -> str:
    """Return a probability with three digits, never rounded to 0 or 1.

    Examples
    --------
    >>> probability(0.1712), probability(0.0001), probability(1.0)
    ('.171', '< .001', '> .999')
    """
    return "< .001" if p < 0.0005 else "> .999" if p > 0.9995 else short(p)


def nothing(low: float, high: float) -> bool:
    """Return whether an interval of a share, or of a difference of shares, leaves next to everything possible.

    Examples
    --------
    >>> nothing(0.03, 0.98), nothing(-1.0, 1.0), nothing(0.4, 0.9)
    (True, True, False)
    """
    return high - low >= WHOLE


def numbers(*values: float, error: float) -> tuple[str, ...]:
    """Return numbers in the units of a file with the digits that their error allows; large ones have commas.

    Parameters
    ----------
    *values : float
    error : float

    Examples
    --------
    >>> numbers(20_312_441.7, 1_604_331.2, error=1_604_331.2), numbers(3.14159, error=0.02)
    (('20,300,000', '1,600,000'), ('3.142',))
    """
    if not 0 < error < math.inf:
        return tuple(f"{value:,.{SIGNIFICANT}g}" for value in values)
    cut = max(0, math.floor(math.log10(error) + 1e-12) - 1)
    return tuple(
        _unsigned(f"{round(value, -cut) if cut else value:,.{decimals(error)}f}")
        for value in values
    )


def column(values: Sequence, error: float | None = None) -> list:
    """Return the entries of a table's column, floats as text of equally many decimals, others as they are.

    Parameters
    ----------
    values : sequence
    error : float, optional
        Of the numbers; without it the largest has four digits.

    Examples
    --------
    >>> column([0.12134, 0.5, float("nan"), "x"])
    ['0.1213', '0.5000', '', 'x']
    >>> column([0.99999999, 1.0, 0.2]), column([12345.6, 8.21]), column([0.5, 2e-12])
    (['> 0.999999', '1.000000', '0.200000'], ['12,346', '8'], ['0.500000', '< 0.000001'])
    """
    finite = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    if finite and 0 < max(finite) < TINY:
        return [
            f"{value:.{SIGNIFICANT}g}" if isinstance(value, float) else value for value in values
        ]
    places = decimals(error) if error else _places(finite)
    share = all(value <= 1 for value in finite)
    return [_entry(value, places, share) if isinstance(value, float) else value for value in values]


def _places(magnitudes: list) -> int:
    largest = max(magnitudes, default=0.0)
    if largest == 0 or largest >= LARGE:
        return 0
    places = max(0, SIGNIFICANT - 1 - math.floor(math.log10(largest) + 1e-12))
    if largest <= 1:
        while places < MOST and any(_hidden(value, places) for value in magnitudes):
            places += 1
    return min(places, MOST)


def _hidden(value: float, places: int) -> bool:
    return value != 0 and abs(value - 1) > ROUNDING and float(f"{value:.{places}f}") in (0, 1)


def _entry(value: float, places: int, share: bool) -> str:
    if not math.isfinite(value):
        return "" if math.isnan(value) else str(value)
    if share and _hidden(abs(value), places):
        edge, far = 10.0**-places, abs(value) > 0.5
        shown = f"{1 - edge if far else edge:.{places}f}"
        return f"{'>' if far else '<'} {shown}" if value > 0 else f"{'<' if far else '>'} -{shown}"
    return _unsigned(f"{value:,.{places}f}")


def _unsigned(text: str) -> str:
    """Return a rounded number without the sign of a zero."""
    return text[1:] if text[0] in "-+" and not any(digit in text for digit in "123456789") else text


def error_of(rows: Iterable[dict]) -> float | None:
    """Return the error of a table's estimates: the lower quartile of its rows' standard errors or half-widths.

    Parameters
    ----------
    rows : iterable of dict

    Examples
    --------
    >>> error_of([{"estimate": 0.5, "low": 0.25, "high": 0.75}, {"standard_error": 0.01}, {"n": 3}])
    0.01
    """
    found = sorted(error for error in map(_error, rows) if 0 < error < math.inf)
    return found[len(found) // 4] if found else None


def _error(row: dict) -> float:
    low, high = row.get("low"), row.get("high")
    half = (high - low) / 2 if isinstance(low, float) and isinstance(high, float) else math.nan
    return next(
        value
        for value in (row.get("standard_error"), row.get("half_width"), half)
        if isinstance(value, float)
    )
