"""Names of periods that are dates, and their order in time.

Names are dates if each has one of these forms, and all are of the same length:

- a year: 2024
- a month: 2024-03, 202403, 03/2024, Mar 2024, Mar-24
- a quarter: 2024Q1, Q1 2024
- an ISO week: 2024-W05
- a day: 2024-03-01, 20240301, 01.03.2024

Days with slashes, such as 03/01/2024, may be day and month or month and day. They are read if one
of the two numbers exceeds 12 in some name, or if both readings give the same order. Otherwise the
order is undecided.

`time_of` and `length_of` read the names. `periods_of` and `same_periods` turn dates into longer
periods. `in_time` and `backward_notes` deal with their order.
"""

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, permutations

from workbench.checks import WrongValue, choice, listed
from workbench.data.numbers import first_repeat, without_zeros
from workbench.results import Note

Key = tuple[int, ...]  # year, month and day as far as the name goes; or year and quarter or week
_MONTHS = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_PARTS = {
    "year": r"(?P<y>(?:19|20)\d\d)",
    "month": r"(?P<m>0?[1-9]|1[0-2])",
    "two_digits": r"(?P<m>0[1-9]|1[0-2])",
    "name": rf"(?P<m>(?:{'|'.join(_MONTHS)})[a-z]*)\.?",
    "quarter": r"Q(?P<m>[1-4])",
    "day": r"(?P<d>0?[1-9]|[12]\d|3[01])",
}
_LENGTHS = {
    r"{year}": "year",
    r"{year}[-/]{month}": "month",
    r"{year}\.?{two_digits}": "month",
    r"{month}[-/.]{year}": "month",
    r"{name}[\s-]*{year}": "month",
    r"{name}[\s'-]*(?P<y>\d\d)": "month",
    r"{year}[\s-]*{name}": "month",
    r"{year}[\s/-]*{quarter}": "quarter",
    r"{quarter}[\s/-]*{year}": "quarter",
    r"{year}-?W(?P<m>\d\d?)": "week",
    r"{year}([-/.]){month}\2{day}(?:[T ]00:00(?::00)?)?": "day",
    r"{year}{two_digits}(?P<d>0[1-9]|[12]\d|3[01])": "day",
    r"{day}\.{month}\.{year}": "day",
}
_FORMS = [
    (length, re.compile(form.format(**_PARTS), re.IGNORECASE)) for form, length in _LENGTHS.items()
]
_SLASHED = [
    re.compile(form.format(**_PARTS))
    for form in (r"{day}([/-]){month}\2{year}", r"{month}([/-]){day}\2{year}")
]
_TIME_OF_DAY = re.compile(r"[T\s,]+\d{1,2}:\d\d.*", re.IGNORECASE | re.DOTALL)
EVERY = (
    "day",
    "week",
    "month",
    "quarter",
    "year",
)
_FORMAT = {
    "week": "{}-W{:02d}",
    "month": "{}-{:02d}",
    "quarter": "{}-Q{}",
    "year": "{}",
}
_PER_YEAR = {"year": 1, "quarter": 4, "month": 12}


def named_period(period: object) -> str:
    """Return the name of a period in a sentence; a small number gets the word "period".

    Examples
    --------
    >>> named_period(3), named_period("Jan"), named_period(2026)
    ('period 3', 'Jan', '2026')
    """
    text = str(period)
    return f"period {text}" if text.isdigit() and len(text) < len("2026") else text


def _read(names: Sequence[str]) -> tuple[str, list[list[Key]]]:
    """Return the length of the periods and every possible reading of their names.

    Names of days with slashes may have two readings. Names that are no dates have none.
    """
    for length, form in _FORMS:
        if keys := _keys(form, names):
            return length, [keys]
    readings = [keys for form in _SLASHED if (keys := _keys(form, names))]
    if readings:
        return "day", readings
    return _read_one_by_one(names)


def _read_one_by_one(names: Sequence[str]) -> tuple[str, list[list[Key]]]:
    """Return the length and the reading of names in several forms, if all have one length."""
    lengths = set()
    keys = []
    for name in names:
        candidates = [(length, form) for length, form in _FORMS if form.fullmatch(name.strip())]
        if not candidates:
            return "", []
        length, form = candidates[0]
        lengths.add(length)
        keys += _keys(form, [name])
    return (lengths.pop(), [keys]) if len(lengths) == 1 else ("", [])


def _keys(form: re.Pattern, names: Sequence[str]) -> list[Key]:
    """Return the keys of names that all have this form, else none."""
    matches = [form.fullmatch(name.strip()) for name in names]
    if not all(matches):
        return []
    return [_key(**match.groupdict()) for match in matches if match]


def _key(y: str, m: str = "", d: str = "") -> Key:
    year = int(y) if len(y) == 4 else 2000 + int(y)
    month = _MONTHS.index(m[:3].lower()) + 1 if m.isalpha() else m
    within_year = (int(part) for part in (month, d) if part)
    return year, *within_year


def time_of(names: Sequence[str]) -> list[Key] | None:
    """Return (year, month, day) of each name, or as much of it as the name has.

    None if the names are not dates, or if day and month cannot be told apart.

    Examples
    --------
    >>> time_of(["Mar 2024", "Dec 2023"]), time_of(["13/02/2024", "01/03/2024"])
    ([(2024, 3), (2023, 12)], [(2024, 2, 13), (2024, 3, 1)])
    >>> time_of(["01/02/2024", "02/01/2024"])
    """
    readings = _read(names)[1]
    orders = [_order(keys) for keys in readings]
    return readings[0] if orders and orders[0] == orders[-1] else None


def length_of(names: Sequence[str]) -> str:
    """Return the length of the named periods, one of `EVERY`, or "" if they are not dates.

    Examples
    --------
    >>> [length_of([name]) for name in ("2026-03", "Q1 2026", "2026-03-31 08:15", "May")]
    ['month', 'quarter', 'day', '']
    """
    return _read(_without_time(names))[0]


def _without_time(names: Iterable[str]) -> list[str]:
    return [_TIME_OF_DAY.sub("", name.strip()) for name in names]


def periods_of(dates: Sequence[str], every: str) -> list[str]:
    """Return the period of each date, named as in 2026-03, 2026-Q1 or 2026.

    Parameters
    ----------
    dates : sequence of str
        Days, all in one of the forms above. A time of day is ignored. For quarters and years the
        dates may also be months.
    every : {"day", "week", "month", "quarter", "year"}
        Weeks are those of ISO 8601: they begin on Monday, and week 1 holds the first Thursday.
        December 29 may therefore be in week 1 of the next year.

    Raises
    ------
    ValueError
        If a text is not a date, or if day and month cannot be told apart.

    Examples
    --------
    >>> periods_of(["2025-12-28", "2025-12-29T08:15"], "week")
    ['2025-W52', '2026-W01']
    >>> periods_of(["31.12.2025", "01.01.2026"], "quarter")
    ['2025-Q4', '2026-Q1']
    """
    choice("every", every, EVERY)
    days = _without_time(dates)
    length, readings = _read(days)
    if not readings:
        rule = "needs dates that all have the same form, such as 2026-03-31 or 31.03.2026"
        raise WrongValue("every", rule, _no_date(days))
    if len(readings) > 1:
        rule = "needs dates whose day and month can be told apart, such as 2026-03-31"
        raise WrongValue("every", rule, dates[0])
    longer: Sequence[str] = ("week",)
    if length != "week":
        longer = EVERY[EVERY.index(length) :]
    if every not in longer:
        rule = f"must be {' or '.join(longer)} for periods such as {dates[0]!r}"
        raise WrongValue("every", rule, every)
    if length == every != "day":
        return [_FORMAT[every].format(*key) for key in readings[0]]
    return [_period(text, key, every) for text, key in zip(dates, readings[0], strict=True)]


def _period(text: str, key: Key, every: str) -> str:
    """Return the period that holds a date."""
    try:
        day = datetime.date(*(*key, 1, 1)[:3])
    except ValueError:
        raise WrongValue("every", "needs dates that exist", text) from None
    if every == "day":
        return day.isoformat()
    if every == "week":
        iso = day.isocalendar()
        return _FORMAT[every].format(iso.year, iso.week)
    part = (day.month + 2) // 3 if every == "quarter" else day.month
    return _FORMAT[every].format(day.year, part)


def _no_date(days: Sequence[str]) -> str:
    """Return a text because of which the texts are not dates of one form."""
    unlike = [[day for day in days if not form.fullmatch(day)] for _, form in _FORMS]
    return min(unlike, key=len)[0] if days else ""


def same_periods(names: Sequence[str], periods: Sequence[str]) -> dict[str, str]:
    """Return the period of `periods` to which each name belongs; names without one are left out.

    A name matches a period if it is the same text in another case or with other leading zeros, or
    the same date in another form. Days belong to the week, month, quarter or year that contains
    them.

    Examples
    --------
    >>> same_periods(["Jan 2026", "Mar 2026"], ["2026-1", "2026-2"])
    {'Jan 2026': '2026-1'}
    >>> same_periods(["2026-01-31", "2026-02-01"], ["2026-01", "2026-02"])
    {'2026-01-31': '2026-01', '2026-02-01': '2026-02'}
    """
    by_text = {without_zeros(period.strip()): period for period in periods}
    same = {name: by_text.get(without_zeros(name.strip())) for name in names}
    try:
        keys = time_of(periods_of(names, length_of(periods)))
    except WrongValue:  # one of the two are not dates, or the names are longer periods
        keys = None
    by_key = dict(zip(time_of(periods) or (), periods, strict=False))
    for name, key in zip(names, keys or (), strict=False):
        same[name] = same[name] or by_key.get(key)
    return {name: period for name, period in same.items() if period is not None}


def in_time(names: Sequence[str]) -> tuple[list[int], tuple[Note, ...]]:
    """Return the positions of the names in the order of time, and a note if that order differs.

    Names that are not dates keep their order, with a note. So do days whose day and month cannot be
    told apart, and periods of different lengths.

    Raises
    ------
    ValueError
        If two names are of the same period, or if a period is part of another one.

    Examples
    --------
    >>> order, notes = in_time(["2024-02", "2024-01"])
    >>> order, str(notes[0])      # doctest: +NORMALIZE_WHITESPACE
    ([1, 0], "periods are sorted as dates, from '2024-01' to '2024-02'; the file begins with
    '2024-02'")
    """
    when = time_of(names)
    if when is None:
        _refuse_overlaps(names)
        return list(range(len(names))), tuple(_unsorted_notes(names))
    _refuse_repeats(names, when)
    order = _order(when)
    notes = _gap_notes(length_of(names), when)
    if order != sorted(order):
        first = names[order[0]]
        last = names[order[-1]]
        text = (
            f"periods are sorted as dates, from {first!r} to {last!r}; "
            f"the file begins with {names[0]!r}"
        )
        notes += (Note("assumption", text),)
    return order, notes


def _refuse_repeats(names: Sequence[str], when: list[Key]) -> None:
    if repeat := first_repeat(when):
        both = " and ".join(repr(names[k]) for k in repeat)
        raise ValueError(f"every period must be named once; {both} are the same period")


def _refuse_overlaps(names: Sequence[str]) -> None:
    """Raise if two dates are of the same period, or if a period is part of another one."""
    of_length: dict[str, list[str]] = {}
    for name in names:
        of_length.setdefault(length_of([name]), []).append(name)
    of_length.pop("", None)
    for periods in of_length.values():
        _refuse_repeats(periods, time_of(periods) or [])
    for shorter, longer in permutations(of_length.values(), 2):
        for part, period in same_periods(shorter, longer).items():
            raise ValueError(
                f"periods must not overlap, but {part!r} is part of {period!r}. Leave out one of "
                "the two"
            )


def _unsorted_notes(names: Sequence[str]) -> Iterator[Note]:
    numbered = _numbered(names)
    no_dates = [name for name in names if not _read([name])[1]]
    if _read(names)[1]:
        yield Note(
            "unreliable",
            f"periods keep the order of the file, because day and month cannot be told apart in "
            f"{names[0]!r}. Write dates as 2024-03-01",
        )
    elif len(names) > 1 and (numbered is None or numbered != sorted(numbered)):
        why = "periods are dates of different forms or lengths"
        if no_dates:
            why = f"periods such as {no_dates[0]!r} are not dates"
        yield Note(
            "assumption",
            f"{why}, so they keep the order of the file. Changes are from each period to the next",
        )


def _gap_notes(length: str, when: list[Key]) -> tuple[Note, ...]:
    """Return a note where years, quarters or months are missing between the first and the last."""
    if length not in _PER_YEAR:
        return ()
    per_year = _PER_YEAR[length]
    steps = {key[0] if length == "year" else key[0] * per_year + key[1] - 1 for key in when}
    missing = sorted({*range(min(steps), max(steps))} - steps)
    if not missing:
        return ()
    dates = (divmod(step, per_year) for step in missing)
    names = [_FORMAT[length].format(year, part + 1) for year, part in dates]
    text = f"no row for {listed(names, 5)}; the change across the gap covers more than one period"
    return (Note("data", text),)


def backward_notes(names: Sequence[str]) -> tuple[Note, ...]:
    """Return a note if some dates go back in time, or if months or numbers only decrease.

    Examples
    --------
    >>> print(*backward_notes(["Dec", "Nov", "Oct"]))       # doctest: +NORMALIZE_WHITESPACE
    periods seem to run backwards: 'Dec' comes before 'Nov'. Changes are from each period to the
    next in the list. The audit is assumed to be of the first period unless another is named
    """
    when = time_of(names)
    keys: list = when or _numbered(names) or []
    falls = [earlier > later for earlier, later in pairwise(keys)]
    if not any(falls) or (when is None and not all(falls)):
        return ()
    k = falls.index(True)
    run = "run" if when else "seem to run"
    text = (
        f"periods {run} backwards: {names[k]!r} comes before {names[k + 1]!r}. Changes are from "
        "each period to the next in the list. The audit is assumed to be of the first period "
        "unless another is named"
    )
    return (Note("unreliable", text),)


def _order(keys: list[Key]) -> list[int]:
    return sorted(range(len(keys)), key=keys.__getitem__)


def _numbered(names: Sequence[str]) -> list[int] | None:
    """Return the months, or the numbers of names that differ only in one number."""
    months = [name.strip()[:3].lower() for name in names]
    if all(month in _MONTHS for month in months):
        return [_MONTHS.index(month) for month in months]
    split = [re.split(r"(\d+)", name.strip()) for name in names]
    if all(len(parts) == 3 and parts[::2] == split[0][::2] for parts in split):
        return [int(number) for _, number, _ in split]
    return None
