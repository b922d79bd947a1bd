"""Match the identifiers of an annotation sheet to items.

A spreadsheet may have read identifiers as numbers and shown them without leading zeros or with
fewer digits. `changed_ids` finds these.
"""

import decimal
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from workbench import checks
from workbench.data.numbers import first_repeat
from workbench.results import Note

KEPT = 15  # digits that a spreadsheet keeps of a number; it writes zeros for the rest
_NUMBER = re.compile(r"([+-]?[0-9]{1,300})(?:[.,]([0-9]{0,300}))?(?:[eE]([+-]?[0-9]{1,3}))?")


def positions(ids: Sequence) -> dict:
    """Return the position of each identifier, or raise if one repeats."""
    refuse_repeated(ids)
    return {text: position for position, text in enumerate(ids)}


def refuse_repeated(ids: Sequence) -> None:
    """Raise if an identifier repeats."""
    if first_repeat(ids):
        raise checks.WrongValue(
            "items.id", f"must be unique; {Counter(ids).most_common(1)[0][0]!r} repeats"
        )


def matched(
    cells: Sequence, position_of: dict, sampled: Iterable = ()
) -> tuple[list[int | None], dict[str, str]]:
    """Return the position of each cell's item, or None, and the changed cells with their ids.

    A spreadsheet may show an identifier without leading zeros, or in scientific notation with fewer
    digits. Such a changed cell is matched only if it fits exactly one sampled identifier, and that
    identifier is not in the sheet itself.

    Parameters
    ----------
    cells : list of str
        Identifiers as they are in the sheet, "" for a missing one.
    position_of : dict
        Position of each item by its identifier.
    sampled : iterable of str, optional
        Identifiers of the sampled items. Without them no changed cell is matched.

    Examples
    --------
    >>> items = {"007": 0, "1200000": 1, "1203456": 2, "7": 3}
    >>> matched(["7", "1.20E+06", "x"], items, ["007", "1203456"])
    ([0, 2, None], {'7': '007', '1.20E+06': '1203456'})
    >>> matched(["7", "1.20E+06"], items, ["1200000", "1203456"])
    ([3, None], {})
    """
    changed = changed_ids(cells, sampled)
    return [position_of.get(changed.get(cell, cell)) for cell in cells], changed


def changed_ids(cells: Sequence, sampled: Iterable) -> dict[str, str]:
    """Return the cells that a spreadsheet changed, with the sampled identifier of each."""
    sampled = set(sampled)
    missing = sampled.difference(cells)
    changed = {}
    by_number = functools.cache(functools.partial(_by_number, missing))
    for cell in dict.fromkeys(cells) if missing else ():
        if cell in sampled:
            continue
        number, digits = _parsed(cell)
        candidates = by_number(digits).get(number, [])
        if len(candidates) == 1:
            changed[cell] = candidates[0]
    return changed


def changed_notes(changed: dict) -> Iterator[Note]:
    """Yield a note about identifiers that were matched by their number."""
    for cell, meant in [*changed.items()][:1]:
        ids = checks.counted(len(changed), "id was", "ids were")
        yield Note(
            "data",
            f"{ids} changed by a spreadsheet and matched to the only sampled item that it would "
            f"show like this: {cell!r} is {meant!r}",
        )


def _by_number(ids: set[str], digits: int | None) -> dict:
    """Return identifiers by the number that a cell with a number of digits shows.

    None stands for all digits.
    """
    texts = defaultdict(list)
    for text in ids:
        number, shown_digits = _parsed(text)
        if number is None or (digits is None and shown_digits is not None):
            continue
        numbers = {number, _rounded(number, KEPT, decimal.ROUND_DOWN)}
        if digits is not None:
            numbers = {_rounded(number, digits, decimal.ROUND_HALF_UP) for number in numbers}
        for number in numbers:
            texts[number].append(text)
    return texts


def _parsed(text: str) -> tuple:
    """Return the number of a text, and its count of digits in scientific notation, or None."""
    parts = _NUMBER.fullmatch(text)
    if not parts:
        return None, None
    integer, decimals, power = parts.groups(default="")
    number = Decimal(f"{integer}.{decimals}e{power or 0}")
    return number, len(integer.lstrip("+-") + decimals) if power else None


def _rounded(number: Decimal, digits: int, rounding: str) -> Decimal:
    context = decimal.Context(
        prec=digits,
        rounding=rounding,
        Emax=9999,
        Emin=-9999,
    )
    return context.create_decimal(number)
