"""Periods that are made of dates."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.misclassification import calendar


@given(
    st.dates(datetime.date(1950, 1, 1), datetime.date(2090, 12, 31)),
    st.sampled_from(
        ["%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%MZ"]
    ),
)
def test_every_spelling_means_the_same_day(day, form):
    text = day.strftime(form)
    year, week, _ = day.isocalendar()
    assert calendar.periods_of([text], "day") == [day.isoformat()]
    assert calendar.periods_of([text], "week") == [f"{year}-W{week:02d}"]
    assert calendar.periods_of([text], "month") == [day.isoformat()[:7]]
    assert calendar.periods_of([text], "quarter") == [f"{day.year}-Q{-(-day.month // 3)}"]
    assert calendar.periods_of([text], "year") == [str(day.year)]


def test_weeks_over_the_turn_of_the_year():
    days = ["2020-12-31", "2021-01-03", "2021-01-04", "2024-12-30", "2027-01-01"]
    assert calendar.periods_of(days, "week") == [
        "2020-W53",
        "2020-W53",
        "2021-W01",
        "2025-W01",
        "2026-W53",
    ]


@pytest.mark.parametrize(
    ("dates", "months"),
    [
        (["12/31/2026", "01/02/2026"], ["2026-12", "2026-01"]),
        (["31/12/2026", "01/02/2026"], ["2026-12", "2026-02"]),
        (["2/13/2026 9:05 PM", "3/1/2026 8:00 AM"], ["2026-02", "2026-03"]),
    ],
)
def test_day_and_month_are_told_apart_by_numbers_above_12(dates, months):
    assert calendar.periods_of(dates, "month") == months


@pytest.mark.parametrize(
    ("dates", "every", "message"),
    [
        (["01/02/2026", "03/04/2026"], "month", "whose day and month can be told apart"),
        (["13/02/2026", "02/13/2026"], "month", "needs dates that all have the same form"),
        (["2026-02-30"], "month", "needs dates that exist; got '2026-02-30'"),
        (
            ["2026-01-05", "soon"],
            "week",
            "needs dates that all have the same form, such as 2026-03-31 or 31.03.2026; got 'soon'",
        ),
        (
            ["2026-01"],
            "week",
            "every must be month or quarter or year for periods such as '2026-01'; got 'week'",
        ),
        (["2026-Q1"], "month", "every must be quarter or year for periods such as '2026-Q1'"),
        (["2026-01-05"], "decade", "every must be one of"),
    ],
)
def test_dates_that_do_not_fit_are_asked(dates, every, message):
    with pytest.raises(ValueError, match=message):
        calendar.periods_of(dates, every)


def test_months_make_quarters_and_years():
    assert calendar.periods_of(["2026-03", "2026-04"], "quarter") == ["2026-Q1", "2026-Q2"]
    assert calendar.periods_of(["Q1 2026", "Q2 2026"], "quarter") == ["2026-Q1", "2026-Q2"]
    assert calendar.periods_of(["Q1 2026"], "year") == ["2026"]


def days(size=2000, count=181):
    rng = np.random.default_rng(2)
    start = datetime.date(2026, 1, 1)
    date = np.array(
        [str(start + datetime.timedelta(int(k))) for k in rng.integers(0, count, size)], object
    )
    return {"date": date, "prediction": rng.integers(0, 2, size)}


@pytest.mark.parametrize("every", ["week", "month", "quarter", "year"])
def test_items_by_date_are_counted_by_period(every):
    items = days()
    found = wb.load_periods(items, labels=(0, 1), period="date", every=every)
    period = np.array([_period(datetime.date.fromisoformat(day), every) for day in items["date"]])
    assert found == {
        name: tuple(np.bincount(items["prediction"][period == name], minlength=2).tolist())
        for name in sorted(set(period.tolist()))
    }


def _period(day, every):
    year, week, _ = day.isocalendar()
    return {
        "week": f"{year}-W{week:02d}",
        "month": str(day)[:7],
        "quarter": f"{day.year}-Q{(day.month - 1) // 3 + 1}",
        "year": str(day.year),
    }[every]


def test_counts_by_day_are_added_and_a_gap_is_told():
    rows = {
        "date": ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"],
        "n": [10, 20, 30, None],
        "counted": [1, 2, 3, 4],
    }
    found = wb.load_periods(rows, labels=(0, 1), period="date", every="month")
    assert found == {"2026-01": (27, 3), "2026-02": (None, 4)}


def test_a_series_of_days_with_few_items_asks_for_periods(tmp_path):
    with pytest.raises(
        ValueError,
        match="every must be given to combine the dates of column 'date': 'month'",
    ):
        wb.load_periods(days(), labels=(0, 1), period="date")
    times = days() | {
        "date": np.array(
            [f"2026-01-01 08:{k // 60 % 60:02}:{k % 60:02}" for k in range(2000)], object
        )
    }
    with pytest.raises(ValueError, match="half of them with 1 items or fewer"):
        wb.load_periods(times, labels=(0, 1), period="date")
    assert len(wb.load_periods(days(), labels=(0, 1), period="date", every="day")) == 181
    assert len(wb.load_periods(days(count=20), labels=(0, 1), period="date")) == 20


@pytest.mark.parametrize(
    ("names", "others", "same"),
    [
        (["jan", "FEB"], ["Jan", "Feb"], {"jan": "Jan", "FEB": "Feb"}),
        (
            ["2026-03-31", "2026-04-01"],
            ["2026-Q1", "2026-Q2"],
            {"2026-03-31": "2026-Q1", "2026-04-01": "2026-Q2"},
        ),
        (["2026-01"], ["2026-Q1"], {"2026-01": "2026-Q1"}),
        (["2026-Q1"], ["2026-01"], {}),
        (["2025-12-29"], ["2026-W01"], {"2025-12-29": "2026-W01"}),
        (["01"], ["2026-01"], {}),
        (["01", "2"], ["1", "02", "20"], {"01": "1", "2": "02"}),
        (["Week 01"], ["week 1", "week 10"], {"Week 01": "week 1"}),
        (["1.05"], ["1.5"], {}),
        (["2026-W2"], ["2026-02", "2026-01"], {}),
    ],
)
def test_which_periods_are_the_same(names, others, same):
    assert calendar.same_periods(names, others) == same
