"""Rows of claims: a printed number, ours, and the verdict that follows from both.

A verdict is computed from the printed number with its rounding, from our number with its Monte
Carlo error, and from the data. If the data are a stand-in for those of the paper, nothing is
decided. A slip of the print is corrected, and the corrected claim is tested again. A refuted
statement stays refuted, even if another statement would be correct.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

HOLDS, CORRECTED, FAILS, UNDECIDED = VERDICTS = (
    "holds",
    "wrong as printed, right when corrected",
    "does not hold",
    "not decided here",
)
PUT_IN = "put in"
ERRORS = 3.0
ROUNDING = 1e-9


@dataclass(frozen=True)
class Correction:
    """The correction of a slip in the print, such as a factor, an index, a sign, a row or a word.

    Attributes
    ----------
    how : str
        The correction in words.
    printed : float or None
        Number that the corrected formula gives; None keeps the printed number.
    ours : float or None
        Our number after the correction; None keeps ours.
    low, high : float
        Range of a `bound` that our number must be in after the correction.
    """

    how: str
    printed: Any = None
    ours: Any = None
    low: float = float("-inf")
    high: float = float("inf")


def number(
    text: str,
    printed: str | float,
    ours: Any,
    *,
    error: float = 0.0,
    printed_error: float = 0.0,
    correction: Correction | None = None,
    instead: str = "",
    stand_in: str = "",
) -> dict:
    """Return the row of a printed number.

    If `printed` is text, its last digit may be rounded. A float is the value of a printed formula.
    The numbers agree if they differ by at most the rounding plus three Monte Carlo errors, which
    include the paper's own.

    Parameters
    ----------
    text : str
        The claim.
    printed : str or float
        The printed number.
    ours : float
        Our number.
    error, printed_error : float
        Monte Carlo errors of our number and of the printed one.
    correction : Correction, optional
        Correction of a slip in the print.
    instead : str
        Our finding if the claim does not hold.
    stand_in : str
        Name of the data that replace those of the paper; "" if they are the paper's or none are
        needed.

    Examples
    --------
    >>> number("variance", "1.3e7", 1.315e7)["verdict"]
    'holds'
    >>> number("variance", "1.3e7", 1.15e7)["verdict"]
    'does not hold'
    """
    slack = ERRORS * (error**2 + printed_error**2) ** 0.5 + half_unit(printed)
    limit = _rounded(slack, printed)
    is_repaired = False
    if correction is not None:
        corrected = float(_or(correction.printed, printed))
        is_repaired = abs(_or(correction.ours, ours) - corrected) <= limit
    return _row(
        text,
        printed,
        ours,
        abs(ours - float(printed)) <= limit,
        is_repaired,
        correction,
        error=error,
        reach=give_or_take(slack).strip() or "exact",
        instead=instead,
        stand_in=stand_in,
    )


def half_unit(printed: str | float) -> float:
    """Return half a unit of the last printed digit; 0 for a number that is not text.

    Examples
    --------
    >>> half_unit("52.45"), half_unit("2e5"), half_unit("26"), half_unit(0.25)
    (0.005, 50000.0, 0.5, 0.0)
    """
    if not isinstance(printed, str):
        return 0.0
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0


def bound(
    text: str,
    printed: str,
    ours: Any,
    *,
    low: float = float("-inf"),
    high: float = float("inf"),
    error: float = 0.0,
    correction: Correction | None = None,
    instead: str = "",
    stand_in: str = "",
) -> dict:
    """Return the row of a statement in words that is read as a range.

    Examples of such words are "at most 0.04", "1.4 to 50 times" and "much less".

    Parameters
    ----------
    text, printed : str
        The claim and the printed words.
    ours : float
        Our number.
    low, high : float
        The range. The row shows it, as it is our reading of the words.
    error : float
        Monte Carlo error of our number.
    correction : Correction, optional
        Correction of a slip. Its `ours`, or else our number, must be between its `low` and `high`.
    instead, stand_in : str
        As in `number`.

    Examples
    --------
    >>> bound("cosine distance", "less than 0.04", 0.013, high=0.04)["reach"]
    'at most 0.04'
    """
    slack = ERRORS * error

    def is_inside(low: float, high: float, ours: float) -> bool:
        return low - _rounded(slack, ours) <= ours <= high + _rounded(slack, ours)

    is_repaired = False
    if correction is not None:
        is_repaired = is_inside(correction.low, correction.high, _or(correction.ours, ours))
    return _row(
        text,
        printed,
        ours,
        is_inside(low, high, ours),
        is_repaired,
        correction,
        error=error,
        reach=_range(low, high) + give_or_take(slack),
        instead=instead,
        stand_in=stand_in,
    )


def every(
    text: str,
    right: int,
    of: int,
    *,
    printed: str = "",
    correction: Correction | None = None,
    instead: str = "",
    stand_in: str = "",
) -> dict:
    """Return the row of a statement about all cases, which holds if it is true in every case.

    Parameters
    ----------
    text : str
        The claim.
    right, of : int
        Cases in which it is true, and all cases that were tried.
    printed : str
        The printed words.
    correction : Correction, optional
        Correction of a slip. Its `ours` is the number of cases in which the corrected statement is
        true.
    instead, stand_in : str
        As in `number`.

    Examples
    --------
    >>> every("the allocation is the best", 99, 100)["ours"]
    '99 of 100'
    """
    row = _row(
        text,
        printed,
        right,
        right == of,
        correction is not None and correction.ours == of,
        correction,
        reach="in every case",
        instead=instead,
        stand_in=stand_in,
    )
    for name in ("ours", "corrected"):
        if row[name] is not None:
            row[name] = f"{row[name]:,.0f} of {of:,}"
    return row


def equal(text: str, differences: Any, *, printed: str = "=", stand_in: str = "") -> dict:
    """Return the row of an identity, which holds if both sides differ only by rounding.

    Parameters
    ----------
    text : str
        The claim.
    differences : float or array of float
        Differences of the two sides, relative to their size.
    printed : str
        The printed sign or words.
    stand_in : str
        As in `number`.

    Examples
    --------
    >>> equal("a b = b a", [0.0, 2e-17])["verdict"]
    'holds'
    """
    import numpy as np

    return bound(text, printed, float(np.abs(differences).max()), high=ROUNDING, stand_in=stand_in)


def unchecked(text: str, why: str, printed: str = "") -> dict:
    """Return the row of a claim that cannot be checked here, with the reason.

    Parameters
    ----------
    text, why : str
        The claim and the reason.
    printed : str
        The printed words.

    Examples
    --------
    >>> unchecked("the code runs in Maple", "needs Maple")["verdict"]
    'not decided here'
    """
    return {
        "claim": text,
        "printed": printed,
        "ours": None,
        "corrected": None,
        "reach": "",
        "error": None,
        "verdict": UNDECIDED,
        "why": why,
    }


def put_in(text: str, why: str, printed: str) -> dict:
    """Return the row of a value that was built into a stand-in, which counts as no claim.

    Parameters
    ----------
    text, why, printed : str
        The value in words, the reason, and the printed number.

    Examples
    --------
    >>> put_in("strata at the end", "a constant of the stand-in", "177")["verdict"]
    'put in'
    """
    return unchecked(text, why, printed) | {"verdict": PUT_IN}


def short(value: Any) -> str:
    """Return a value as short text: text unchanged, a number with four digits.

    Examples
    --------
    >>> short("1.3e7"), short(13151250.0), short(0.0735812), short(None)
    ('1.3e7', '13,151,250', '0.07358', '')
    """
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if 1000 <= abs(value) < float("inf") else f"{value:.4g}"


def give_or_take(slack: float | None) -> str:
    """Return the plus-minus sign and a tolerance with two digits, "" for a tolerance of 0.

    Examples
    --------
    >>> give_or_take(0.01234), give_or_take(0.0)
    (' ± 0.012', '')
    """
    return f" ± {short(float(f'{slack:.2g}'))}" if slack else ""


def _or(value: Any, other: Any) -> Any:
    return other if value is None else value


def _rounded(slack: float, value: Any) -> float:
    return slack + ROUNDING * abs(float(value))


def _range(low: float, high: float) -> str:
    if low == high:
        return short(float(low))
    if high == float("inf"):
        return f"at least {short(float(low))}"
    if low == float("-inf"):
        return f"at most {short(float(high))}"
    return f"{short(float(low))} to {short(float(high))}"


def _row(
    text: str,
    printed: Any,
    ours: Any,
    agrees: Any,
    is_repaired: Any,
    correction: Correction | None,
    *,
    reach: str,
    instead: str,
    stand_in: str,
    error: float | None = None,
) -> dict:
    verdict, why, corrected = FAILS, instead, None
    if agrees:
        verdict, why = HOLDS, ""
    elif correction is not None and is_repaired:
        verdict, why = CORRECTED, correction.how
        corrected = _float(_or(correction.printed, correction.ours))
    if stand_in:
        outcome = "agrees" if agrees else "differs"
        verdict, why = UNDECIDED, f"{stand_in}; our number {outcome} there"
    return {
        "claim": text,
        "printed": printed,
        "ours": float(ours),
        "corrected": corrected,
        "reach": reach,
        "error": _float(error),
        "verdict": verdict,
        "why": why,
    }


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
