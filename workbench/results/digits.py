"""Numbers as text: with the digits that their error justifies, the same number in each column.

A proportion below 1 is never shown as 1 or 100%, and a proportion above 0 is never shown as 0.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import partial

MOST = 6  # decimals; percentages have two fewer
SIGNIFICANT = 4  # digits of a number without a known error
LARGE = 1e4  # numbers from here on are shown without decimals
ROUNDING = 1e-12  # how far a sum of weights may be from 1
WHOLE = 0.9  # an interval of this width is not informative
TINY = 1e-5  # numbers below it are shown with an exponent


def decimals(error: float, most: int = MOST) -> int:
    """Return the number of decimals that show an error with two digits.

    Parameters
    ----------
    error : float
        Error, above 0. For any other value all decimals are shown.
    most : int
        Largest number of decimals.

    Examples
    --------
    >>> decimals(0.066), decimals(0.5), decimals(12.3), decimals(950)
    (3, 2, 0, 0)
    """
    if not 0 < error < math.inf:
        return most
    return min(most, max(0, 1 - _exponent(error)))


def _exponent(value: float) -> int:
    """Return the power of ten of the first digit of a value above 0."""
    return math.floor(math.log10(value) + 1e-12)


def percents(*shares: float, error: float | None = None) -> tuple[str, ...]:
    """Return proportions as percentages with equally many decimals.

    Parameters
    ----------
    *shares : float
    error : float, optional
        Standard error or half-width of an interval, as a proportion. Without it the percentages
        have one decimal.

    Examples
    --------
    >>> percents(0.8695, 0.795, 0.927, error=0.066)
    ('87.0%', '79.5%', '92.7%')
    >>> percents(0.9995, 0.982, 0.99996, error=0.009)
    ('99.95%', '98.20%', '> 99.99%')
    >>> percents(1.0, 0.0, error=0.2), percents(0.0003)
    (('100%', '0%'), ('< 0.1%',))
    """
    places = _percent_places(error or 0)
    texts = (_entry(100 * float(share), places, 100) for share in shares)
    return tuple(f"{text}%" if text else "undefined" for text in texts)


def _percent_places(error: float) -> int:
    return decimals(100 * error, MOST - 2) if error > 0 else 1


def shares(*values: float, places: int = 3) -> tuple[str, ...]:
    """Return proportions as numbers from 0 to 1 with equally many decimals.

    Parameters
    ----------
    *values : float
    places : int

    Examples
    --------
    >>> shares(0.877, 0.84, 0.99996), shares(1.0, 0.0)
    (('0.877', '0.840', '> 0.999'), ('1.000', '0.000'))
    """
    return tuple(_entry(float(value), places, 1) for value in values)


def points(*differences: float, error: float, signed: bool = False) -> tuple[str, ...]:
    """Return differences of proportions in percentage points, without the unit.

    Parameters
    ----------
    *differences : float
        Differences of proportions.
    error : float
        As in `percents`.
    signed : bool
        Write a plus sign before differences above 0.

    Examples
    --------
    >>> points(0.0412, 0.0308, 0.0529, error=0.011)
    ('4.1', '3.1', '5.3')
    >>> points(-0.0003, 0.012, error=0.006, signed=True)
    ('-0.03', '+1.20')
    """
    places = _percent_places(error)
    sign = "+" if signed else ""
    texts = (f"{100 * difference:{sign}.{places}f}" for difference in differences)
    return tuple(map(_unsigned, texts))


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
    places = 2 if pvalue >= 0.095 else 3
    return f"= {short(pvalue, places)}"


def number(value: float, places: int = 3) -> str:
    """Return a number with some digits, without an exponent from .001 to ten million.

    Examples
    --------
    >>> number(0.012346), number(12345.6), number(2e7)
    ('0.0123', '12,346', '2e+07')
    """
    if 1000 <= abs(value) < 1e7:
        places_after = max(0, places - 1 - _exponent(abs(value)))
        return f"{value:,.{places_after}f}"
    return f"{value:.{places}g}"


def between(low: float, high: float) -> str:
    """Return two limits with enough digits to tell them apart.

    Examples
    --------
    >>> between(0.12341, 0.12349), between(2.0, 2.0)
    ('0.12341 to 0.12349', '2 to 2')
    """
    apart = (high - low) / max(abs(low), abs(high), 1e-300)
    places = min(15, max(3, 2 - _exponent(apart))) if apart else 3
    return f"{number(low, places)} to {number(high, places)}"


def short(value: float, places: int = 3) -> str:
    """Return a proportion below 1 without its leading zero.

    Examples
    --------
    >>> short(0.1237), short(0.5, 2), short(0.0), short(-0.25), short(1.0)
    ('.124', '.50', '0', '-.250', '1.000')
    """
    return _without_zero(f"{value:.{places}f}") if value else "0"


def share(value: float, *others: float) -> str:
    """Return a proportion below 1 without its leading zero, with the digits of `decimal`.

    Examples
    --------
    >>> share(0.7), share(0.70004, 0.7), share(0.0)
    ('.700', '.70004', '0')
    """
    if value == 0 or abs(value) >= 1:
        return short(value)
    return _without_zero(decimal(value, *others))


def decimal(value: float, *others: float) -> str:
    """Return a proportion with enough digits, at least three, to tell it from 0, 1 and others.

    Examples
    --------
    >>> decimal(0.7), decimal(0.99996), decimal(2e-7)
    ('0.700', '0.99996', '2e-07')
    """
    if 0 < abs(value) < 1e-6:
        return number(value, 2)
    apart = {0.0, 1.0, *others} - {value}
    for places in range(3, 16):
        if round(value, places) not in {round(other, places) for other in apart}:
            break
    return f"{value:.{places}f}"


def level(value: float, top: float = 1, least: int = 4) -> str:
    """Return a level with at least `least` significant digits, and enough to tell it from `top`.

    Examples
    --------
    >>> level(0.95), level(1 - 1e-7), level(1 - 2 ** -53)
    ('0.95', '0.9999999', '0.9999999999999999')
    """
    for places in range(least, 18):
        text = f"{value:.{places}g}"
        if value >= top or float(text) < top:
            return text
    return repr(value)


def _without_zero(text: str) -> str:
    return re.sub(r"^(-?)0\.", r"\1.", text)


def short_p(p: float) -> str:
    """Return a p-value without its leading zero, small ones with an exponent, never 0.

    Examples
    --------
    >>> short_p(0.17), short_p(0.0043), short_p(2e-7), short_p(0.0)
    ('.170', '.0043', '2.0e-07', '< 1e-300')
    """
    if p < 1e-300:
        return "< 1e-300"
    if p < 1e-4:
        return f"{p:.1e}"
    return short(p, 4 if p < 0.01 else 3)


def probability(p: float) -> str:
    """Return a probability with three digits, never rounded to 0 or 1.

    Examples
    --------
    >>> probability(0.1712), probability(0.0001), probability(1.0)
    ('.171', '< .001', '> .999')
    """
    if p > 0.9995:
        return "> .999"
    return "< .001" if p < 0.0005 else short(p)


def nothing(low: float, high: float) -> bool:
    """Return whether an interval of a proportion or difference is too wide to be informative.

    Examples
    --------
    >>> nothing(0.03, 0.98), nothing(-1.0, 1.0), nothing(0.4, 0.9)
    (True, True, False)
    """
    return high - low >= WHOLE


def numbers(*values: float, error: float) -> tuple[str, ...]:
    """Return numbers with the digits that their error justifies; large ones have commas.

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
    zeros = max(0, _exponent(error) - 1)
    rounded = [round(value, -zeros) if zeros else value for value in values]
    return tuple(_unsigned(f"{value:,.{decimals(error)}f}") for value in rounded)


def column(values: Sequence, error: float | None = None) -> list:
    """Return the entries of a table's column, with floats as text of equally many decimals.

    Parameters
    ----------
    values : sequence
    error : float, optional
        Error of the numbers. Without it the largest number has four digits.

    Examples
    --------
    >>> column([0.12134, 0.5, float("nan"), "x"])
    ['0.1213', '0.5000', '', 'x']
    >>> column([0.99999999, 1.0, 0.2]), column([12345.6, 8.21]), column([0.5, 2e-12])
    (['> 0.999999', '1.000000', '0.200000'], ['12,346', '8'], ['0.500000', '< 0.000001'])
    """
    floats = [value for value in values if isinstance(value, float)]
    sizes = list(map(abs, filter(math.isfinite, floats)))
    largest = max(sizes, default=0.0)
    if 0 < largest < TINY:
        show = partial(number, places=SIGNIFICANT)
    else:
        places = decimals(error) if error else _places(sizes, largest)
        show = partial(_entry, places=places, top=1 if largest <= 1 else 0)
    return [show(value) if isinstance(value, float) else value for value in values]


def _places(sizes: list[float], largest: float) -> int:
    """Return the decimals that give the largest number four digits and hide no proportion."""
    if largest == 0 or largest >= LARGE:
        return 0
    places = min(MOST, max(0, SIGNIFICANT - 1 - _exponent(largest)))
    while largest <= 1 and places < MOST and any(_is_hidden(size, places, 1) for size in sizes):
        places += 1
    return places


def _is_hidden(size: float, places: int, top: float) -> bool:
    """Return whether a size strictly between 0 and the top is rounded to one of them."""
    inside = 0 < size < top * (1 - ROUNDING)
    return inside and float(f"{size:.{places}f}") in (0, top)


def _entry(value: float, places: int, top: float) -> str:
    """Return a number with some decimals; `top` is the largest proportion, 1 or 100, or 0."""
    size = abs(value)
    if not math.isfinite(value):
        return "" if math.isnan(value) else str(value)
    if not _is_hidden(size, places, top):
        return _unsigned(f"{value:,.{places}f}")
    step = 10.0**-places
    is_high = size > top / 2
    limit = math.copysign(top - step if is_high else step, value)
    return f"{'>' if is_high == (value > 0) else '<'} {limit:.{places}f}"


def _unsigned(text: str) -> str:
    """Return a rounded number without the sign of a zero."""
    return text if re.search("[1-9]", text) else text.lstrip("+-")


def error_of(rows: Iterable[dict]) -> float | None:
    """Return the lower quartile of the standard errors or half-widths of a table's rows.

    Parameters
    ----------
    rows : iterable of dict

    Examples
    --------
    >>> error_of([{"estimate": 0.5, "low": 0.25, "high": 0.75}, {"standard_error": 0.01}, {"n": 3}])
    0.01
    """
    errors = sorted(error for error in map(_error, rows) if 0 < error < math.inf)
    return errors[len(errors) // 4] if errors else None


def _error(row: dict) -> float:
    """Return the standard error or half-width of a row, NaN if it has neither."""
    for name in ("standard_error", "half_width"):
        if isinstance(row.get(name), float):
            return row[name]
    limits = row.get("low"), row.get("high")
    if all(isinstance(limit, float) for limit in limits):
        return (row["high"] - row["low"]) / 2
    return math.nan
