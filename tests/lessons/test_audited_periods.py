"""The report of shares from audits of several months, weighted audits and daily files, as a user types it."""

import warnings

import numpy as np
import pytest
from refusals import refused

from workbench.reports.inputs.misclassification import read
from workbench.results.limits import LimitReached, printed_limits

MONTHLY = {
    "2026-01": [[38, 5], [0, 17]],
    "2026-02": [[38, 8], [4, 10]],
    "2026-03": [[42, 4], [1, 13]],
    "2026-04": [[23, 2], [7, 28]],
}
RIGHT = [0.248, 0.303, 0.357, 0.412, 0.467]  # (q - 19/160) / (68/80 - 19/160)
COUNTS = [1500, 1700, 1900, 2100, 2300]


def write(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path / "counts.csv",
        "period,n,counted",
        [(f"2026-0{k}", 5000, read) for k, read in enumerate(COUNTS, 1)],
    )
    audit(tmp_path / "audits.csv")
    weights = {(0, 0): (123, 25), (0, 1): (9, 15), (1, 0): (0, 2), (1, 1): (68, 8)}
    write(
        tmp_path / "weighted.csv",
        "truth,prediction,weight,region",
        [
            (*pair, *place)
            for pair, sizes in weights.items()
            for place, n in zip(((1, "north"), (20, "south")), sizes, strict=True)
            for _ in range(n)
        ],
    )
    write(tmp_path / "one.csv", "period,n,counted", [("2026-01", 5000, 2000)])
    return tmp_path


def audit(path, column="period", called=lambda month: month, months=MONTHLY):
    write(
        path,
        f"{column},truth,prediction",
        [
            (called(month), t, p)
            for month in months
            for (t, p), n in np.ndenumerate(np.array(MONTHLY[month]))
            for _ in range(n)
        ],
    )


def series_of(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(**{"audit": "audits.csv", "counts": "counts.csv"} | options)[3]


def test_every_month_is_corrected_by_the_pooled_rates(folder):
    series = series_of()
    assert series.estimates.round(3).tolist() == RIGHT
    assert "4 periods audited (240 items)" in str(series.notes[0])


WORDS = {"2026-01": "Jan 2026", "2026-02": "Feb 2026", "2026-03": "Mar 2026", "2026-04": "Apr 2026"}


@pytest.mark.parametrize(
    ("column", "called"),
    [
        ("month", str),
        ("quarter", str),
        ("Period", str),
        ("date", lambda month: f"{month}-17"),
        ("date", lambda month: f"17.{month[5:]}.2026"),
        ("period", WORDS.get),
        ("month", lambda m: m.replace("-0", "-")),
        ("timestamp", lambda month: f"{month}-01 12:30:05"),
    ],
)
def test_columns_and_spellings_of_periods(column, called, folder):
    audit(folder / "audits.csv", column, called)
    assert series_of().estimates.round(3).tolist() == RIGHT


def test_periods_of_the_counts_in_a_column_of_another_name(folder):
    text = (folder / "counts.csv").read_text()
    (folder / "counts.csv").write_text(text.replace("period", "month"))
    series = series_of()
    assert series.estimates.round(3).tolist() == RIGHT
    assert "periods are read from column 'month', because no column is called 'period'" in map(
        str, series.notes
    )


def test_a_column_of_any_name_is_taken_when_it_is_named(folder):
    audit(folder / "audits.csv", "drawn in")
    assert series_of(period_in_audit="drawn in").estimates.round(3).tolist() == RIGHT


def test_one_audited_period_is_that_of_the_audit(folder):
    audit(folder / "audits.csv", months=["2026-02"])
    series, named = series_of(), series_of(audit_period="2026-02")
    assert (
        series.audit_period == "2026-02" and series.estimates.tolist() == named.estimates.tolist()
    )
    assert "the audit is of period '2026-02', the only one in its column 'period'" in map(
        str, series.notes
    )
    rule = "must be '2026-02', the only period in column 'period'"
    refused(lambda: series_of(audit_period="2026-03"), "audit_period", rule)


def test_some_months_audited_and_one_before_the_counts(folder):
    audit(folder / "audits.csv", called=lambda month: month.replace("2026-01", "2025-12"))
    series = series_of()
    assert series.estimates.round(3).tolist() == RIGHT and "without counts: '2025-12'" in str(
        series.notes
    )


def test_each_month_its_own_audit(folder):
    series = series_of(audit_rates="own")
    parts = np.array([3500, 1500]) / 5000
    table = np.array(MONTHLY["2026-01"])
    assert series.estimates[0] == pytest.approx(parts @ (table[1] / table.sum(0)))
    assert series.problems[4]


@pytest.mark.parametrize(
    ("called", "options", "message"),
    [
        (
            lambda month: month[5:],
            {},
            "period_in_audit must name a column with periods of the counts, such as '2026-01'",
        ),
        (
            str,
            {"audit_period": "2026-02"},
            "audit_period must not be given, as column 'period' of 'audits.csv' has 4",
        ),
        (str, {"method": "mixed"}, "method must not be 'mixed'"),
        (str, {"every": "week"}, "every must be month or"),
        (str, {"period_in_audit": "mnth"}, "has no column 'mnth'"),
        (str, {"weight": "truth w"}, "has no column 'truth w'"),
    ],
)
def test_what_is_asked(called, options, message, folder):
    audit(folder / "audits.csv", called=called)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        series_of(**options)


def test_periods_that_match_nothing_may_be_pooled_when_asked(folder):
    audit(folder / "audits.csv", called=lambda month: f"wave {month[6:]}")
    assert series_of(audit_rates="pooled").estimates.round(3).tolist() == RIGHT
    one = series_of(period_in_audit="none", audit_period="2026-02")
    assert one.audit_rates == "one" and one.audit_period == "2026-02"


def test_dates_of_something_else_are_not_the_periods_but_named(folder):
    """The items of January, labeled later: a column of another name that fits no period of the counts."""
    audit(folder / "audits.csv", "date", lambda month: f"2027-05-{month[5:]}")
    series = series_of()
    assert series.audit_rates == "one"
    assert (
        "column 'date' of 'audits.csv' seems to contain periods but was not used. To use it, add "
        "--period-in-audit date" in map(str, series.notes)
    )


def test_weights_are_used_or_named(folder):
    weighted = series_of(audit="weighted.csv", counts="one.csv", weight="weight")
    plain = series_of(audit="weighted.csv", counts="one.csv", method="mle")
    assert weighted.estimates.round(3).tolist() == [0.132] and plain.estimates.round(
        3
    ).tolist() == [0.312]
    assert (
        "column 'weight' of 'weighted.csv' seems to contain sampling weights but was not used. "
        "To use it, add --weight weight" in map(str, plain.notes)
    )
    assert "weighted by their sampling weights" in weighted.basis() and "'weight'" not in str(
        weighted.notes
    )
    with (
        pytest.warns(LimitReached, match="To use it, add --weight weight"),
        printed_limits(),
    ):
        read(audit="weighted.csv", counts="one.csv")


def test_plans_and_studies_of_pooled_and_weighted_audits(folder):
    for options in ({}, {"audit": "weighted.csv", "counts": "one.csv", "weight": "weight"}):
        assert series_of(half_width=0.1, shift=".6,.4", **options).periods


def test_months_of_daily_predictions(folder):
    rng = np.random.default_rng(1)
    days = rng.integers(1, 181, 2000)
    date = (np.datetime64("2026-01-01") + days).astype(str)
    write(folder / "daily.csv", "date,prediction", zip(date, rng.integers(0, 2, 2000), strict=True))
    audit(folder / "one_audit.csv", months=["2026-01"])
    daily = {"audit": "one_audit.csv", "counts": "daily.csv"}
    rule = "must be given to combine the dates of column 'date'"
    refused(lambda: series_of(**daily, period="date"), "every", rule)
    months = series_of(**daily, every="month")
    assert (
        months.periods == tuple(f"2026-0{k}" for k in range(1, 7))
        and months.audit_period == "2026-01"
    )
    audit(folder / "by_day.csv", "date", lambda month: f"{month}-09")
    assert series_of(audit="by_day.csv", counts="daily.csv", every="quarter").audits[0].n == 180


@pytest.mark.parametrize("name", ["every", "weight", "period_in_audit"])
def test_a_judge_takes_none_of_these(name):
    given = {"counts": "counts.csv", "judge": "judge", name: "month"}
    refused(lambda: read(**given), name, "must not be given with judge")


def test_items_that_occur_twice_in_an_audit_are_noted(folder):
    lines = (folder / "weighted.csv").read_text().splitlines()
    rows = [f"{row},i{item}" for _ in "AB" for item, row in enumerate(lines[1:])]
    (folder / "twice.csv").write_text("\n".join([f"{lines[0]},item", *rows]))
    size = len(lines) - 1
    assert (
        f"values of column 'item' of 'twice.csv' repeat ({size:,} values in {2 * size:,} rows), so "
        "rows are not independent items. If rows with the same value are the same item, keep one "
        "row of each"
    ) in map(str, series_of(audit="twice.csv", counts="one.csv", method="mle").notes)
