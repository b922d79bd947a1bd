"""What a paper says beside what a computation says, and the verdict that follows from the two.

A verdict is never given, it is computed: from the printed number and its rounding, from ours and its Monte Carlo
error, and from whether the data are the paper's own.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

HOLDS, CORRECTED, FAILS = "holds", "holds corrected", "does not hold"
TWIN, UNCHECKED = "on a twin", "cannot be checked here"
VERDICTS = (HOLDS, CORRECTED, FAILS, TWIN, UNCHECKED)
ERRORS = 3.0
ROUNDING = 1e-9


@dataclass(frozen=True)
class Correction:
    """What is put in the place of the printed statement, or of our reading of it.

    Attributes
    ----------
    how : str
        The correction in words.
    printed : float, str or None
        What the paper should have printed; None leaves the printed number.
    ours : float or None
        Our number after the correction; None leaves ours.
    error : float or None
        Monte Carlo error of that; None leaves the claim's.
    low, high : float
        The range of a `bound` that our number must lie in after the correction.
    """

    how: str
    printed: Any = None
    ours: Any = None
    error: Any = None
    low: float = float("-inf")
    high: float = float("inf")


def number(text: str, printed: str | float, ours: Any, *, error: float = 0.0, printed_error: float = 0.0,
           correction: Correction | None = None, twin: str = "") -> dict:
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
    twin : str
        What stands in for data that are not available; empty where the data are the paper's, or none are needed.

    Examples
    --------
    >>> number("variance", "1.3e7", 1.315e7)["verdict"], number("variance", "1.3e7", 1.15e7)["verdict"]
    ('holds', 'does not hold')
    """
    def agree(printed: Any, ours: Any, error: float) -> bool:
        reach = ERRORS * (error ** 2 + printed_error ** 2) ** 0.5 + ROUNDING * abs(float(printed))
        return abs(ours - float(printed)) <= reach + half_unit(printed)
    return _row(text, float(printed), ours, error, agree(printed, ours, error), twin, correction,
                correction and agree(*_corrected(correction, printed, ours, error)))


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
    return 0.5 * 10.0 ** exponent if isinstance(exponent, int) else 0.0


def bound(text: str, printed: str, ours: Any, *, low: float = float("-inf"), high: float = float("inf"),
          error: float = 0.0, correction: Correction | None = None, twin: str = "") -> dict:
    """Return the row of a statement that a number lies in a range: "at most 0.04", "1.4 to 50 times".

    Parameters
    ----------
    text, printed : str
    ours : float
    low, high : float
        The range that the statement names.
    error : float
    correction : Correction, optional
        Its `ours`, or ours, must lie between its `low` and `high`.
    twin : str

    Examples
    --------
    >>> bound("cosine distance", "less than 0.04", 0.013, high=0.04)["verdict"]
    'holds'
    """
    def inside(low: float, high: float, ours: float, error: float) -> bool:
        slack = ERRORS * error + ROUNDING * abs(ours)
        return low - slack <= ours <= high + slack
    return _row(text, printed, ours, error, inside(low, high, ours, error), twin, correction, correction
                and inside(correction.low, correction.high, *_corrected(correction, printed, ours, error)[1:]))


def every(text: str, right: int, of: int, *, printed: str = "always", correction: Correction | None = None,
          twin: str = "") -> dict:
    """Return the row of a statement about all cases: it holds if it is right in each that was tried.

    Parameters
    ----------
    text : str
    right, of : int
    printed : str
    correction : Correction, optional
        Its `ours` are the cases in which the corrected statement is right.
    twin : str

    Examples
    --------
    >>> every("the allocation is the best", 99, 100)["ours"]
    '99 of 100'
    """
    share = f"{right:,} of {of:,}"
    if correction is not None and right < of:
        share += f", corrected {correction.ours:,}"
    return _row(text, printed, share, None, right == of, twin, correction, correction and correction.ours == of)


def equal(text: str, differences: Any, *, twin: str = "") -> dict:
    """Return the row of an identity: both sides differ by rounding in everything that was tried.

    Parameters
    ----------
    text : str
    differences : float or array of float
        Of the two sides, relative to their size.
    twin : str

    Examples
    --------
    >>> equal("a b = b a", [0.0, 2e-17])["verdict"]
    'holds'
    """
    import numpy as np
    return bound(text, "equal", float(np.abs(differences).max()), high=ROUNDING, twin=twin)


def unchecked(text: str, why: str, printed: str = "") -> dict:
    """Return the row of what cannot be checked here, and why.

    Parameters
    ----------
    text, why : str
    printed : str

    Examples
    --------
    >>> unchecked("the code runs in Maple", "needs Maple")["verdict"]
    'cannot be checked here'
    """
    return {"claim": text, "printed": printed, "ours": None, "error": None, "verdict": UNCHECKED, "why": why}


def _corrected(correction: Correction, printed: float | str, ours: float, error: float) -> tuple:
    """Return printed, ours and error with what the correction replaces."""
    return (printed if correction.printed is None else correction.printed,
            ours if correction.ours is None else correction.ours,
            error if correction.error is None else correction.error)


def _row(text: Any, printed: Any, ours: Any, error: Any, agrees: Any, twin: Any, correction: Any,
         agrees_corrected: Any) -> dict:
    verdict, why = (HOLDS, "") if agrees else (FAILS, "")
    if not agrees and correction is not None and agrees_corrected:
        verdict, why = CORRECTED, correction.how
    if twin:
        said = {HOLDS: "agrees there", CORRECTED: f"agrees there corrected: {why}", FAILS: "differs there"}[verdict]
        verdict, why = TWIN, f"{twin}; {said}"
    return {"claim": text, "printed": printed, "ours": ours if isinstance(ours, str) else float(ours),
            "error": None if error is None else float(error), "verdict": verdict, "why": why}
