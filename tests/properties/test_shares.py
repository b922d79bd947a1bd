"""No share, change or growth rate is shown that cannot be: every method, two classes and more, many periods."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.charts import misclassification as charts
from workbench.misclassification.methods import METHODS

ROUNDING = 1e-9


@st.composite
def questions(draw):
    """Draw an audit, the counts of its frame and of periods, a method and a design that fit each other."""
    classes = draw(st.sampled_from([2, 2, 3, 4]))
    cells = draw(st.lists(st.integers(0, 12), min_size=classes**2, max_size=classes**2))
    table = np.array(cells).reshape(classes, classes) + np.diag(
        draw(st.lists(st.integers(1, 80), min_size=classes, max_size=classes))
    )
    rest = draw(st.lists(st.sampled_from([0, 3, 500, 20_000]), min_size=classes, max_size=classes))
    frame = table.sum(0) + rest
    later = draw(
        st.lists(
            st.lists(st.sampled_from([0, 1, 40, 3000]), min_size=classes, max_size=classes),
            min_size=1,
            max_size=3,
        )
    )
    design = draw(st.sampled_from(["random", "truth", "prediction"]))
    method = draw(
        st.sampled_from(
            [
                name
                for name, entry in METHODS.items()
                if design in entry.designs and not (entry.limits and classes > 2)
            ]
        )
    )
    return (
        wb.ConfusionCounts(table),
        frame,
        [frame, *(row for row in later if sum(row))],
        method,
        design,
        draw(st.sampled_from(["process", "frame"])),
        draw(st.sampled_from([0.8, 0.95, 0.99])),
    )


def series_of(question):
    audit, frame, periods, method, design, rates, level = question
    try:
        return wb.prevalence_series(
            audit, frame, periods, method=method, rates=rates, sampled_by=design
        ), level
    except ValueError as error:  # an audit that does not allow the method
        assert "cannot be estimated" in str(error) or "must be above 1" in str(error)
        return None, level


def in_order(*values):
    return all(low <= high + ROUNDING for low, high in zip(values, values[1:], strict=False))


@given(questions())
@settings(max_examples=250, deadline=None)
def test_shares_and_changes_are_where_they_can_be(question):
    series, level = series_of(question)
    if series is None:
        return
    levels = {(row["period"], row["label"]): row for row in series.levels(level)}
    for row in levels.values():
        assert in_order(0, row["low"], row["high"], 1)
        if not np.isnan(row["estimate"]):
            assert in_order(row["low"], row["estimate"], row["high"])
    for period in series.periods:
        total = sum(row["estimate"] for (name, _), row in levels.items() if name == period)
        assert np.isnan(total) or len(series.labels) == 2 or total == pytest.approx(1)
    for row in series.changes(level):
        first, last = (levels[row[f"{end}_period"], row["label"]] for end in ("first", "last"))
        assert in_order(
            last["low"] - first["high"], row["low"], row["high"], last["high"] - first["low"]
        )
        if not np.isnan(row["change"]):
            assert row["change"] == pytest.approx(
                last["estimate"] - first["estimate"], abs=ROUNDING
            )
            assert in_order(row["low"], row["change"], row["high"])
            assert in_order(-first["estimate"], row["change"], 1 - first["estimate"])
    for row in series.growth_rates(level):
        if not np.isnan(row["growth"]):
            assert in_order(-1, row["low"], row["growth"], row["high"])


@given(questions())
@settings(max_examples=100, deadline=None)
def test_a_share_that_had_to_be_moved_has_a_note(question):
    series, level = series_of(question)
    if series is None:
        return
    raw, shown = (
        values.reshape(len(series.periods), -1)
        for values in (series.estimates, series.restricted_estimates)
    )
    for t, period in enumerate(series.periods):
        moved = np.abs(raw[t] - shown[t]).max() > 1e-6
        noted = any(
            note.where == ("period", period) and "lies outside" in note.text
            for note in series.notes
        )
        assert moved == noted or not moved
    single = wb.estimate_prevalence(
        series.audit,
        series.counts[0].astype(int),
        series.counts_at_audit,
        method=series.method,
        rates=series.rates,
        sampled_by=series.sampled_by,
    )
    for row in single.rows():
        assert np.isnan(row["estimate"]) or in_order(row["low"], row["estimate"], row["high"])
    assert np.asarray(single.restricted_estimate) == pytest.approx(
        shown[0] if shown.shape[1] > 1 else shown[0, 0], nan_ok=True, abs=ROUNDING
    )


@given(questions())
@settings(max_examples=40, deadline=None)
def test_pictures_show_the_numbers_of_the_table(question):
    series, level = series_of(question)
    if series is None:
        return
    label = series.labels[1]
    data = charts.series(series, label=label, level=level).data
    rows = [row for row in series.levels(level) if row["label"] == label]
    drawn = [row["share"] for row in data["lines 0"] if row["kind"] == "corrected"]
    assert drawn == pytest.approx([row["estimate"] for row in rows], nan_ok=True)
    assert [(row["low"], row["high"]) for row in data["bands 0"]] == [
        (row["low"], row["high"]) for row in rows
    ]
    charts.series(series, level=level).to_dict()


@given(questions())
@settings(max_examples=60, deadline=None)
def test_compared_estimators_are_where_they_can_be(question):
    audit, frame, periods, _, design, rates, level = question
    compared = wb.compare_estimators(
        audit, periods[-1], frame, rates=rates, level=level, sampled_by=design
    )
    for row in compared.rows():
        if not np.isnan(row["estimate"]):
            assert in_order(0, row["low"], row["estimate"], row["high"], 1)


@pytest.mark.parametrize(
    "method", [name for name, entry in METHODS.items() if "random" in entry.designs]
)
def test_a_period_that_was_audited_completely_is_known(method):
    """15 of 200 items are of the class."""
    audit, counts = wb.ConfusionCounts([[165, 20], [1, 14]], ["no", "yes"]), [166, 34]
    found = wb.estimate_prevalence(audit, counts, counts, method=method)
    assert found.restricted_estimate == pytest.approx(0.075, abs=1e-12)
    assert (
        tuple(found.interval()) == pytest.approx((0.075, 0.075), abs=1e-12)
        and found.standard_error == 0
    )
    assert any("the proportion is known exactly" in text for text in found.flags)
    series = wb.prevalence_series(audit, counts, {"Jan": counts, "Feb": [1700, 300]}, method=method)
    assert series.levels()[0]["high"] == pytest.approx(0.075, abs=1e-12)
    assert (
        wb.prevalence_series(audit, counts, {"Jan": counts}).finding()
        == "The proportion of class yes was 7.5% in Jan, known exactly"
    )


def test_nearly_all_items_audited():
    """Of 200 items 195 are audited: the share lies between 15 of 200 and 20 of 200, whatever is estimated."""
    audit = wb.ConfusionCounts([[160, 20], [1, 14]])
    found = wb.estimate_prevalence(audit, [166, 34], [166, 34])
    assert 0.075 <= found.interval().low <= found.estimate <= found.interval().high <= 0.1


def test_months_below_the_rate_of_false_positives():
    audit = wb.ConfusionCounts([[165, 20], [1, 14]], ["no", "yes"])
    months = {"2026-01": [1670, 330], "2026-02": [1880, 120], "2026-03": [1910, 90]}
    series = wb.prevalence_series(audit, months["2026-01"], months)
    january = 330 / 2000 * 14 / 34 + 1670 / 2000 * 1 / 166
    assert january == pytest.approx(0.073, abs=5e-4)
    first, *later = series.levels()
    assert (first["estimate"], first["low"], first["high"]) == pytest.approx(
        (january, 0.048, 0.107), abs=5e-4
    )
    assert all(row["estimate"] == row["low"] == 0 < row["high"] < 0.02 for row in later)
    change = series.change("2026-01", "2026-03")
    assert change.estimate == pytest.approx(-january) and change.limits.low >= -first["high"]
    assert (
        series.finding().startswith("The proportion of class yes fell by 7.3 percentage points")
        and series.estimates[2] < 0
    )


@pytest.mark.parametrize("counts", [[0, 5000], [5000, 0], [2500, 2500]])
def test_no_change_exceeds_the_share_it_starts_from(counts):
    audit = wb.ConfusionCounts([[60, 40], [35, 65]])
    series = wb.prevalence_series(
        audit, [2500, 2500], {"a": [2500, 2500], "b": counts}, sampled_by="random"
    )
    [row] = series.changes()
    assert -series.levels()[0]["high"] <= row["low"] <= row["change"] <= row["high"] <= 1
