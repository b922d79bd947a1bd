"""Names of periods that are dates, and the order of time.

The names are dates if all of them have one form: a year (2024), a month (2024-03, 202403, 03/2024, Mar 2024, Mar-24), a
quarter (2024Q1, Q1 2024), an ISO week (2024-W05) or a day (2024-03-01, 20240301, 01.03.2024). A day with slashes is
read as day and month, or month and day, where one of the two exceeds 12 in some name, and where both readings have the
same order; else the order stays open.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Any

from workbench import checks
from workbench.results import Note

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR, _MONTH, _DAY = (
    r"(?P<y>(?:19|20)\d\d)",
    r"(?P<m>0?[1-9]|1[0-2])",
    r"(?P<d>0?[1-9]|[12]\d|3[01])",
)
_WORD = rf"(?P<m>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_FORMS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        _YEAR,
        rf"{_YEAR}[-/]{_MONTH}",
        rf"{_YEAR}\.?(?P<m>0[1-9]|1[0-2])",
        rf"{_MONTH}[-/.]{_YEAR}",
        rf"{_WORD}[\s-]*{_YEAR}",
        rf"{_WORD}[\s'-]*(?P<y>\d\d)",
        rf"{_YEAR}[\s-]*{_WORD}",
        rf"{_YEAR}[\s/-]*Q(?P<m>[1-4])",
        rf"Q(?P<m>[1-4])[\s/-]*{_YEAR}",
        rf"{_YEAR}-?W(?P<m>\d\d?)",
        rf"{_YEAR}([-/.]){_MONTH}\2{_DAY}(?:[T ]00:00(?::00)?)?",
        rf"{_YEAR}(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])",
        rf"{_DAY}\.{_MONTH}\.{_YEAR}",
    )
]
EVERY = ("day", "week", "month", "quarter", "year")
_HELD_BY = {
    "day": EVERY,
    "week": ("week",),
    "month": ("month", "quarter", "year"),
    "quarter": ("quarter", "year"),
    "year": ("year",),
}
_FORMAT = {"week": "{}-W{:02d}", "month": "{}-{:02d}", "quarter": "{}-Q{}", "year": "{}"}
_TIME_OF_DAY = re.compile(r"[T\s,]+\d{1,2}:\d\d.*", re.IGNORECASE | re.DOTALL)
_SLASHED = re.compile(r"(\d\d?)([/-])(\d\d?)\2((?:19|20)\d\d)")


def named_period(period: object) -> str:
    """Return a period as a sentence calls it: a small number alone would say nothing.

    Examples
    --------
    >>> named_period(3), named_period("Jan"), named_period(2026)
    ('period 3', 'Jan', '2026')
    """
    text = str(period)
    return f"period {text}" if text.isdigit() and len(text) < len("2026") else text


def time_of(names: Sequence[str]) -> list[tuple[int, ...]] | None:
    """Return (year, month, day) of each name, as far as it goes, or None where the names are no dates or stay open.

    Examples
    --------
    >>> time_of(["Mar 2024", "Dec 2023"]), time_of(["13/02/2024", "01/03/2024"]), time_of(["01/02/2024", "02/01/2024"])
    ([(2024, 3), (2023, 12)], [(2024, 2, 13), (2024, 3, 1)], None)
    """
    for form in _FORMS:
        found = [form.fullmatch(name.strip()) for name in names]
        if names and all(found):
            return [_key(match.groupdict()) for match in found if match]
    days = _slashed(names)
    first, second = (max((pair[k] for pair in days), default=0) for k in (0, 1))
    day_first: list[tuple[int, ...]] = [(year, b, a) for a, b, year in days]
    month_first: list[tuple[int, ...]] = [(year, a, b) for a, b, year in days]
    if (first > 12) != (second > 12):
        return day_first if first > 12 else month_first
    return day_first if days and first <= 12 and _order(day_first) == _order(month_first) else None


def periods_of(dates: Sequence[str], every: str) -> list[str]:
    """Return the day, week, month, quarter or year of each date, named as 2026-03, 2026-Q1 or 2026.

    Parameters
    ----------
    dates : sequence of str
        Days in one of the forms above, with or without the time of day, which is ignored. A file
        mixes no forms. Months will do for quarters and years.
    every : {"day", "week", "month", "quarter", "year"}
        Weeks are those of ISO 8601: they begin on Monday, and week 1 holds the first Thursday, so
        that December 29 may be in week 1 of the next year.

    Raises
    ------
    ValueError
        If a text is no date, or day and month cannot be told apart.

    Examples
    --------
    >>> periods_of(["2025-12-28", "2025-12-29T08:15"], "week")
    ['2025-W52', '2026-W01']
    >>> periods_of(["31.12.2025", "01.01.2026"], "quarter")
    ['2025-Q4', '2026-Q1']
    """
    checks.choice("every", every, EVERY)
    when, length = _dates_of(dates), length_of(dates)
    if when and every not in _HELD_BY[length]:
        raise checks.WrongValue(
            "every",
            f"must be {' or '.join(_HELD_BY[length])} for periods such as {dates[0]!r}",
            every,
        )
    if length == every and length != "day":
        return [_FORMAT[every].format(*key) for key in when]
    return [_named(key, every) for key in when]


def _named(when: tuple[int, ...], every: str) -> str:
    year, month = (*when, 1)[:2]
    if every == "day":
        return datetime.date(*when).isoformat()
    if every == "week":
        year, month, _ = datetime.date(*when).isocalendar()
    return _FORMAT[every].format(year, (month + 2) // 3 if every == "quarter" else month)


def _dates_of(dates: Sequence[str]) -> list[tuple[int, ...]]:
    """Return (year, month, day) of every text, as far as it goes, or raise."""
    days = [_TIME_OF_DAY.sub("", text.strip()) for text in dates]
    if slashed := _slashed(days):
        day_first, month_first = (any(pair[k] > 12 for pair in slashed) for k in (0, 1))
        if day_first == month_first:
            reason = "exceeds 12 nowhere" if not day_first else "exceeds 12 in both places"
            raise checks.WrongValue(
                "every",
                "needs dates whose day and month can be told apart, such as 2026-03-31; "
                f"the first number or the second is the day, and it {reason}",
                dates[0],
            )
        return [
            _day(text, (year, b, a) if day_first else (year, a, b))
            for text, (a, b, year) in zip(dates, slashed, strict=True)
        ]
    when = time_of(days)
    if when is None:
        raise checks.WrongValue(
            "every", "needs dates of one form, such as 2026-03-31 or 31.03.2026", _no_date(days)
        )
    return [_day(text, key) for text, key in zip(dates, when, strict=True)]


def _no_date(days: Sequence[str]) -> str:
    """Return a text that keeps the others from being read as dates of one form."""
    form = max(_FORMS, key=lambda form: sum(bool(form.fullmatch(day)) for day in days))
    return next((day for day in days if not form.fullmatch(day)), days[0] if days else "")


def _day(text: str, when: tuple[int, ...]) -> tuple[int, ...]:
    """Return a key as it is, or raise where the month has no such day."""
    if len(when) == 3:
        try:
            datetime.date(*when)
        except ValueError:
            raise checks.WrongValue("every", "needs dates that exist", text) from None
    return when


def length_of(names: Sequence[str]) -> str:
    """Return how long the periods are that the names mean, one of `EVERY`, or "" where they are no dates.

    Examples
    --------
    >>> length_of(["2026-03"]), length_of(["Q1 2026"]), length_of(["2026-03-31 08:15"]), length_of(["May"])
    ('month', 'quarter', 'day', '')
    """
    days = [_TIME_OF_DAY.sub("", name.strip()) for name in names]
    if _slashed(days):
        return "day"
    when = time_of(days)
    if not when:
        return ""
    if len(when[0]) != 2:
        return "year" if len(when[0]) == 1 else "day"
    if re.search(r"\dQ\d|^Q|[\s/-]Q", days[0], re.IGNORECASE):
        return "quarter"
    return "week" if re.search(r"W\d", days[0], re.IGNORECASE) else "month"


def same_periods(names: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Return the period among `others` that every name means: a name without one is left out.

    Names mean the same period where they are the same text in another case, or the same date in
    another form; days belong to the week, month, quarter or year that holds them.

    Examples
    --------
    >>> same_periods(["Jan 2026", "Mar 2026"], ["2026-1", "2026-2"])
    {'Jan 2026': '2026-1'}
    >>> same_periods(["2026-01-31", "2026-02-01"], ["2026-01", "2026-02"])
    {'2026-01-31': '2026-01', '2026-02-01': '2026-02'}
    """
    plain = {other.strip().casefold(): other for other in others}
    by_text = {
        name: plain[name.strip().casefold()] for name in names if name.strip().casefold() in plain
    }
    length, shorter = length_of(others), length_of(names)
    when = time_of(others)
    if len(by_text) == len({*names}) or not length or not shorter or when is None:
        return by_text
    if shorter != length:
        try:
            names_in_length = dict(zip(names, periods_of(names, length), strict=True))
        except checks.WrongValue:
            return by_text
    else:
        names_in_length = {name: name for name in names}
    keys = time_of([*names_in_length.values()])
    known = dict(zip(when, others, strict=True))
    return by_text | {
        name: known[key]
        for name, key in zip(names_in_length, keys or (), strict=False)
        if key in known
    }


def in_time(names: Sequence[str]) -> tuple[list[int], tuple[Note, ...]]:
    """Return the places of the names in the order of time, and a note where that is not the order they have.

    Names that are no dates keep their order, and so do days of which nobody can tell day and month, with a note.

    Examples
    --------
    >>> order, notes = in_time(["2024-02", "2024-01"])
    >>> order, str(notes[0])
    ([1, 0], "periods are sorted as dates, from '2024-01' to '2024-02'; the file begins with '2024-02'")
    """
    order, when = list(range(len(names))), time_of(names)
    if when is None:
        return order, tuple(_unsorted_notes(names))
    if len(set(when)) < len(when):
        same = next(k for k, key in enumerate(when) if key in when[:k])
        raise ValueError(
            f"every period must be named once; {names[when.index(when[same])]!r} and {names[same]!r} are "
            "the same"
        )
    order = _order(when)
    gaps = _gap_notes([names[k] for k in order], [when[k] for k in order])
    if order == sorted(order):
        return order, gaps
    return order, (
        *gaps,
        Note(
            "assumption",
            f"periods are sorted as dates, from {names[order[0]]!r} to "
            f"{names[order[-1]]!r}; the file begins with {names[0]!r}",
        ),
    )


def _unsorted_notes(names: Sequence[str]) -> Iterator[Note]:
    numbered = _numbered(names)
    if _slashed(names):
        yield Note(
            "unreliable",
            f"periods stay in the order of the file: in {names[0]!r} day and month cannot be told "
            "apart; write 2024-03-01",
        )
    elif len(names) > 1 and (numbered is None or numbered != sorted(numbered)):
        yield Note(
            "assumption",
            f"periods such as {names[0]!r} are not read as dates: they stay in the order of the "
            "file, and changes are from one to the next",
        )


def _gap_notes(names: Sequence[str], when: list) -> tuple[Note, ...]:
    """Return a note where years, quarters or months that rise leave some out."""
    every = 1 if len(when[0]) == 1 else 4 if "q" in names[0].lower() else 12
    if len(when[0]) > 2 or re.search(r"\dW|-W", names[0]):
        return ()
    place = [year * every + (part[0] - 1 if part else 0) for year, *part in when]
    left = sorted({*range(place[0], place[-1])} - {*place})
    named = [
        str(k)
        if every == 1
        else f"{k // every}{'-Q' if every == 4 else '-'}{k % every + 1:0{1 + (every == 12)}d}"
        for k in left
    ]
    return (
        (
            Note(
                "data",
                f"no row for {checks.listed(named, 5)}: a change from the period before to the one after is "
                "over more than one step",
            ),
        )
        if left
        else ()
    )


def backward_notes(names: Sequence[str]) -> tuple[Note, ...]:
    """Return a note where periods run backwards: dates that do not rise, months or numbers that only fall.

    Examples
    --------
    >>> print(*backward_notes(["Dec", "Nov", "Oct"]))       # doctest: +NORMALIZE_WHITESPACE
    periods seem to run backwards, as 'Dec' stands before 'Nov': a change is from a period to the next one of the list,
    and the audit is taken to be of the first unless another is named
    """
    when, numbered = time_of(names), _numbered(names)
    pairs = [
        (a, b) for a, b in zip(when or numbered or (), (when or numbered or ())[1:], strict=False)
    ]
    falls = [k for k, (a, b) in enumerate(pairs) if a > b]
    if not falls or not when and len(falls) < len(pairs):
        return ()
    k = falls[0]
    return (
        Note(
            "unreliable",
            f"periods {'run' if when else 'seem to run'} backwards, as {names[k]!r} stands before "
            f"{names[k + 1]!r}: a change is from a period to the next one of the list, and the audit is taken to "
            "be of the first unless another is named",
        ),
    )


def _order(keys: list) -> list:
    return sorted(range(len(keys)), key=keys.__getitem__)


def _key(parts: dict) -> tuple:
    named = [parts.get(part) for part in ("y", "m", "d")]
    year, *rest = (
        _MONTHS.index(part[:3].lower()) + 1 if part[0].isalpha() else int(part)
        for part in named
        if part
    )
    return (year if year > 99 else 2000 + year, *rest)


def _slashed(names: Any) -> list:
    """Return the numbers of names like 01/02/2024, none where a name is unlike that."""
    found = [_SLASHED.fullmatch(name.strip()) for name in names]
    return (
        [(int(match[1]), int(match[3]), int(match[4])) for match in found if match]
        if all(found)
        else []
    )


def _numbered(names: Any) -> list | None:
    """Return the months of names that are months, or the numbers of names that differ in one number only, else None."""
    months = [name.strip()[:3].lower() for name in names]
    if all(month in _MONTHS for month in months):
        return [(_MONTHS.index(month),) for month in months]
    split = [re.split(r"(\d+)", name.strip()) for name in names]
    if all(len(parts) == 3 and parts[::2] == split[0][::2] for parts in split):
        return [(int(parts[1]),) for parts in split]
    return None
