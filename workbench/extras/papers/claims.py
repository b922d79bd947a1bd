"""What a paper says beside what a computation says, and the verdict that follows from the two.

A verdict is never given, it is computed: from the printed number and its rounding, from ours and its Monte Carlo
error, and from whether the data are the paper's own. A slip of the print is repaired and tried again; a statement that
is refuted stays refuted, whatever could be said in its place.
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
    """A slip of what is printed, such as a factor, an index, a sign, a row or a word, repaired.

    Attributes
    ----------
    how : str
        The correction in words.
    printed : float or None
        What the repaired formula gives; None leaves the printed number.
    ours : float or None
        Our number after the correction; None leaves ours.
    low, high : float
        The range of a `bound` that our number must lie in after the correction.
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
    twin: str = "",
) -> dict:
    """Return the row of a printed number.

    Text is a number as printed, whose last digit may be rounded; a float is one that a printed formula gives. They
    agree within the rounding and three Monte Carlo errors, the paper's own among them.

    Parameters
    ----------
    text : str
    printed : str or float
    ours : float
    error, printed_error : float
        Monte Carlo errors of ours and of the printed number.
    correction : Correction, optional
    instead : str
        What we find where it does not hold.
    twin : str
        What stands in for data that are not available; empty where the data are the paper's, or none are needed.

    Examples
    --------
    >>> number("variance", "1.3e7", 1.315e7)["verdict"], number("variance", "1.3e7", 1.15e7)["verdict"]
    ('holds', 'does not hold')
    """
    slack = ERRORS * (error**2 + printed_error**2) ** 0.5 + half_unit(printed)
    repaired = (
        None
        if correction is None
        else abs(_or(correction.ours, ours) - float(_or(correction.printed, printed)))
    )
    return _row(
        text,
        printed,
        ours,
        error,
        give_or_take(slack).strip() or "exact",
        twin,
        _verdict(
            abs(ours - float(printed)) <= _rounded(slack, printed),
            correction,
            repaired is not None and repaired <= _rounded(slack, printed),
        ),
        correction,
        instead,
    )


def half_unit(printed: str | float) -> float:
    """Return half a unit of the last printed digit; 0 of a number that is not text.

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
    twin: str = "",
) -> dict:
    """Return the row of a statement in words, read as a range: "at most 0.04", "1.4 to 50 times", "much less".

    Parameters
    ----------
    text, printed : str
    ours : float
    low, high : float
        The range; the row shows it, as it is a reading of the words.
    error : float
    correction : Correction, optional
        Its `ours`, or ours, must lie between its `low` and `high`.
    instead, twin : str
        As in `number`.

    Examples
    --------
    >>> bound("cosine distance", "less than 0.04", 0.013, high=0.04)["reach"]
    'at most 0.04'
    """
    slack = ERRORS * error

    def inside(low: float, high: float, ours: float) -> bool:
        return low - _rounded(slack, ours) <= ours <= high + _rounded(slack, ours)

    return _row(
        text,
        printed,
        ours,
        error,
        _range(low, high) + give_or_take(slack),
        twin,
        _verdict(
            inside(low, high, ours),
            correction,
            correction and inside(correction.low, correction.high, _or(correction.ours, ours)),
        ),
        correction,
        instead,
    )


def every(
    text: str,
    right: int,
    of: int,
    *,
    printed: str = "",
    correction: Correction | None = None,
    instead: str = "",
    twin: str = "",
) -> dict:
    """Return the row of a statement about all cases: it holds if it is right in each that was tried.

    Parameters
    ----------
    text : str
    right, of : int
    printed : str
    correction : Correction, optional
        Its `ours` are the cases in which the corrected statement is right.
    instead, twin : str
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
        None,
        "in every case",
        twin,
        _verdict(right == of, correction, correction and correction.ours == of),
        correction,
        instead,
    )
    return row | {
        name: f"{row[name]:,.0f} of {of:,}"
        for name in ("ours", "corrected")
        if row[name] is not None
    }


def equal(text: str, differences: Any, *, printed: str = "=", twin: str = "") -> dict:
    """Return the row of an identity: both sides differ by rounding in everything that was tried.

    Parameters
    ----------
    text : str
    differences : float or array of float
        Of the two sides, relative to their size.
    printed : str
    twin : str

    Examples
    --------
    >>> equal("a b = b a", [0.0, 2e-17])["verdict"]
    'holds'
    """
    import numpy as np

    return bound(text, printed, float(np.abs(differences).max()), high=ROUNDING, twin=twin)


def unchecked(text: str, why: str, printed: str = "") -> dict:
    """Return the row of what cannot be checked here, and why.

    Parameters
    ----------
    text, why : str
    printed : str

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
    """Return the row of what was put into the data that stand in for the paper's, which counts as no claim.

    Parameters
    ----------
    text, why, printed : str

    Examples
    --------
    >>> put_in("strata at the end", "a constant of the twin", "177")["verdict"]
    'put in'
    """
    return unchecked(text, why, printed) | {"verdict": PUT_IN}


def short(value: Any) -> str:
    """Return a value for people: text as it is, a number with four digits.

    Examples
    --------
    >>> short("1.3e7"), short(13151250.0), short(0.0735812), short(None)
    ('1.3e7', '13,151,250', '0.07358', '')
    """
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if 1000 <= abs(value) < float("inf") else f"{value:.4g}"


def give_or_take(slack: float | None) -> str:
    """Return what follows a number that may be off by some slack, in two digits; nothing where there is none.

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
    ends = [short(float(end)) for end in (low, high) if abs(end) != float("inf")]
    return (
        " to ".join(ends)
        if len(ends) == 2
        else f"at {'most' if high < float('inf') else 'least'} {ends[0]}"
    )


def _verdict(agrees: Any, correction: Correction | None, repaired: Any) -> str:
    return HOLDS if agrees else CORRECTED if correction is not None and repaired else FAILS


def _row(
    text: str,
    printed: Any,
    ours: Any,
    error: Any,
    reach: str,
    twin: str,
    verdict: str,
    correction: Correction | None,
    instead: str,
) -> dict:
    why = {HOLDS: "", FAILS: instead, CORRECTED: correction.how if correction else ""}[verdict]
    corrected = (
        _or(correction.printed, correction.ours) if correction and verdict == CORRECTED else None
    )
    if twin:
        verdict, why = UNDECIDED, f"{twin}; {'agrees' if verdict == HOLDS else 'differs'} there"
    return {
        "claim": text,
        "printed": printed,
        "ours": float(ours),
        "corrected": _float(corrected),
        "reach": reach,
        "error": _float(error),
        "verdict": verdict,
        "why": why,
    }


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
