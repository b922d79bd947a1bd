"""Periods that are dates: every form sorts as the calendar does, and what stays open is said."""

import calendar
import datetime
import itertools

import numpy as np
import pytest

import workbench as wb
from workbench.misclassification.calendar import backward_notes, in_time, time_of

MONTHS = [(year, month) for year in (2023, 2024) for month in range(1, 13)]
DAYS = [datetime.date(2023, 12, 1) + datetime.timedelta(31 * k) for k in range(12)]
FORMS = {
    "iso": [f"{y}-{m:02}" for y, m in MONTHS],
    "short": [f"{y}/{m}" for y, m in MONTHS],
    "digits": [f"{y}{m:02}" for y, m in MONTHS],
    "month first": [f"{m:02}/{y}" for y, m in MONTHS],
    "points": [f"{m}.{y}" for y, m in MONTHS],
    "words": [f"{calendar.month_name[m]} {y}" for y, m in MONTHS],
    "abbreviated": [f"{calendar.month_abbr[m]}-{y}" for y, m in MONTHS],
    "year and word": [f"{y} {calendar.month_abbr[m].upper()}" for y, m in MONTHS],
    "quarters": [f"{y}Q{q}" for y in (2022, 2023, 2024) for q in range(1, 5)],
    "quarters first": [f"Q{q}/{y}" for y in (2022, 2023, 2024) for q in range(1, 5)],
    "weeks": [f"{y}-W{w:02}" for y in (2023, 2024) for w in range(1, 53)],
    "years": [str(y) for y in range(1990, 2030)],
    "days": [day.isoformat() for day in DAYS],
    "midnights": [f"{day} 00:00:00" for day in DAYS],
    "plain days": [day.strftime("%Y%m%d") for day in DAYS],
    "German days": [day.strftime("%d.%m.%Y") for day in DAYS],
    "British days": [f"{k}/02/2024" for k in range(1, 29)],
    "American days": [f"02/{k}/2024" for k in range(1, 29)],
    "firsts of months": [f"01/{m:02}/2024" for m in range(1, 13)],
}


@pytest.mark.parametrize("form", FORMS)
def test_dates_are_sorted_as_dates(form):
    names = FORMS[form]
    assert in_time(names) == ([*range(len(names))], ()) and backward_notes(names) == ()
    shuffled = np.random.default_rng(0).permutation(len(names)).tolist()
    order, notes = in_time([names[k] for k in shuffled])
    assert [shuffled[k] for k in order] == [*range(len(names))]
    assert [note.kind for note in notes] == ["assumption"]
    assert [note.kind for note in backward_notes(names[::-1])] == ["unreliable"]


def test_days_and_months_that_cannot_be_told_apart():
    order, notes = in_time(["02/01/2024", "01/02/2024"])
    assert order == [0, 1] and str(notes[0]) == (
        "periods keep the order of the file, because day and month cannot be told apart in '02/01/2024'. Write dates as 2024-03-01"
    )
    assert time_of(["13/13/2024"]) is None and time_of(["13/01/2024", "01/13/2024"]) is None


@pytest.mark.parametrize(
    "names", [["2024-13"], ["Jan", "Feb"], ["20240230x"], ["1899", "1900"], []]
)
def test_what_is_no_date_keeps_its_order(names):
    assert time_of(names) is None and in_time(names) == ([*range(len(names))], ())


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["a", "b"], "'a' are not dates"),
        (["2024-01", "later"], "'later' are not dates"),
        (["2024.1", "2024.02"], "'2024.1' are not dates"),
        (["Mar", "Jan", "Feb"], "'Mar' are not dates"),
        (["46054", "46023"], "'46054' are not dates"),
        (["2025", "2026-01"], "periods are dates of different forms or lengths"),
        (["13/02/2024", "2024-03-01"], "periods are dates of different forms or lengths"),
    ],
)
def test_an_order_that_is_the_file_s_is_told(names, why):
    order, notes = in_time(names)
    assert order == [*range(len(names))] and f"{why}, so they keep the order" in str(notes[0])


@pytest.mark.parametrize(
    "names",
    [
        ["Mar-26", "Jan-26", "Feb-26"],
        ["2026-W10", "2026-W8", "2026-W9"],
        ["Mar '26", "Jan '26", "Feb '26"],
    ],
)
def test_short_months_and_weeks_are_sorted(names):
    order, notes = in_time(names)
    assert order == [1, 2, 0] and "sorted as dates" in str(notes[0])


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["2024-01", "2024-04", "2024-05"], "2024-02, 2024-03"),
        (["2023Q3", "2024Q2"], "2023-Q4, 2024-Q1"),
        (["Nov 2023", "Feb 2024", "Mar 2024"], "2023-12, 2024-01"),
        (["2020", "2022"], "2021"),
        (["2024-05", "2024-02"], "2024-03, 2024-04"),
        (["2010", "2020"], "2011, 2012, 2013, 2014, 2015 and 4 more"),
    ],
)
def test_a_period_that_is_missing_is_said(names, said):
    notes = [note for note in in_time(names)[1] if note.kind == "data"]
    assert [note.text.partition(";")[0] for note in notes] == [f"no row for {said}"]


@pytest.mark.parametrize(
    ("names", "backward"),
    [
        (["3", "2", "1"], True),
        (["1", "2", "3"], False),
        (["3", "1", "2"], False),
        (["wave 9", "wave 8"], True),
        (["Dec", "Nov"], True),
        (["November", "December", "January"], False),
        (["b", "a"], False),
        (["1"], False),
        (["2024-01", "2024-03", "2024-02"], True),
    ],
)
def test_what_runs_backwards_is_said(names, backward):
    assert bool(backward_notes(names)) is backward


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["2024-3", "2024-03"], "named once; '2024-3' and '2024-03' are the same"),
        (["2024-01", "Jan 2024"], "named once; '2024-01' and 'Jan 2024' are the same"),
        (["later", "2024-01", "Jan 2024"], "named once; '2024-01' and 'Jan 2024' are the same"),
        (["2024-01", "2024-02", "2024-Q1"], "overlap, but '2024-01' is part of '2024-Q1'"),
        (["2024", "2025-12", "2024-Q2"], "overlap, but '2024-Q2' is part of '2024'"),
        (["2024-W01", "02.01.2024"], "overlap, but '02.01.2024' is part of '2024-W01'"),
    ],
)
def test_periods_that_share_days_are_refused(tmp_path, names, message):
    path = tmp_path / "x.csv"
    path.write_text("period,n,counted\n" + "".join(f"{name},10,1\n" for name in names))
    with pytest.raises(ValueError, match=message):
        wb.load_periods(path, labels=(0, 1))


def test_months_in_several_forms_are_sorted_as_dates():
    order, notes = in_time(["Feb 2024", "2024-01", "12/2023"])
    assert order == [2, 1, 0] and [note.kind for note in notes] == ["assumption"]


def test_a_series_says_that_it_runs_backwards():
    months = {"2024-02": (1579, 218), "2024-01": (4280, 720)}
    found = wb.prevalence_series(wb.solar_audit(), months["2024-02"], months)
    assert str(found.notes[0]) == (
        "periods run backwards: '2024-02' comes before '2024-01'. Changes are from each period to the next in the list. The audit is assumed to be of the first period unless another is named"
    )
    for order in itertools.permutations(months):
        wb.prevalence_series(
            wb.solar_audit(), months["2024-02"], {name: months[name] for name in order}
        )


def test_names_are_numbered_only_where_nothing_else_differs():
    order, notes = in_time(["1a", "2b"])
    assert order == [0, 1] and "'1a' are not dates" in str(notes[0])
    assert backward_notes(["2a", "1b"]) == () and in_time(["1a", "2a"])[1] == ()
    assert len(backward_notes(["2a", "1a"])) == 1


def test_the_same_time_twice_does_not_run_backwards():
    assert backward_notes(["2024-01", "2024-1", "2024-02"]) == ()
    assert backward_notes(["Jan", "January"]) == () and len(backward_notes(["Feb", "January"])) == 1


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["2020", "2022"], "2021"),
        (["2020Q4", "2021Q2"], "2021-Q1"),
        (["2020-12", "2021-02"], "2021-01"),
        (["2020-11", "2021-01"], "2020-12"),
    ],
)
def test_what_is_left_out_is_named_as_its_neighbors_are(names, left):
    order, (note,) = in_time(names)
    assert order == [0, 1] and str(note).startswith(f"no row for {left};")
