"""Records of which only some have a value, and tables of strata without spreads."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.allocation import plans
from workbench.reports.inputs.allocation import read

GAPS = ["", "NA", "-", None]
TABLE = {
    "sex": ["Male", "Male", "Female", "Female"],
    "status": ["full", "part"] * 2,
    "n": [90, 18, 9, 63],
}


def records(path, gap="", seed=0):
    """900 records of two segments with normal amounts, 60 and 30 of them audited."""
    rng = np.random.default_rng(seed)
    segment = np.repeat(["A", "B"], [600, 300])
    value = np.where(segment == "A", rng.normal(20, 4, 900), rng.normal(100, 9, 900)).round(3)
    rows = np.concatenate(
        [rng.choice(600, 60, replace=False), 600 + rng.choice(300, 30, replace=False)]
    )
    cells = [str(value[k]) if k in set(rows) else gap for k in range(900)]
    text = "\n".join(f"r{k},{segment[k]},{cells[k] or ''}" for k in range(900))
    path.write_text("id,segment,amount\n" + text + "\n")
    return value, np.isin(np.arange(900), rows), segment


@pytest.mark.parametrize("gap", GAPS)
def test_the_total_of_values_in_some_rows(tmp_path, gap):
    value, labeled, segment = records(tmp_path / "r.csv", gap)
    summary, plan, drawn, found = read(
        strata=str(tmp_path / "r.csv"), stratum="segment", value="amount", id="id"
    )
    parts = [value[labeled & (segment == name)] for name in "AB"]
    size = np.array([600, 300])
    total = sum(n * part.mean() for n, part in zip(size, parts, strict=True))
    error = (
        sum(
            n**2 * (1 - part.size / n) * part.var(ddof=1) / part.size
            for n, part in zip(size, parts, strict=True)
        )
        ** 0.5
    )
    row = found.quantities()[0]
    assert (
        drawn is None and summary.size.tolist() == [600, 300] and found.sampled.tolist() == [60, 30]
    )
    assert (row["estimate"], row["standard_error"]) == pytest.approx((total, error))
    assert row["low"] < total < row["high"]
    half = scipy.stats.norm.ppf(0.975) * error
    assert half < (row["high"] - row["low"]) / 2 < 1.3 * half
    premise = "This assumes that the 90 records with a value are a random sample of each stratum. "
    assert found.finding().startswith(premise + "Total ")
    assert any(
        note.kind == "assumption" and note.text.startswith("90 of 900 rows have a value")
        for note in found.notes
    )
    assert plan.labeled.sum() >= 90


def test_known_bounds_belong_to_values_in_some_rows_too(tmp_path):
    value, *_ = records(tmp_path / "r.csv")
    settings = {"strata": str(tmp_path / "r.csv"), "stratum": "segment", "value": "amount"}
    found = read(**settings, bounds="0, 150")[3]
    low, high = found.interval()
    assert found.interval().method == "default" and 0 <= low < value.mean() < high <= 150
    with pytest.raises(ValueError, match="must include every value"):
        read(**settings, bounds="0, 50")


def test_few_values_of_a_wild_stratum_have_an_interval_and_a_warning():
    frame = {
        "g": ["a"] * 40 + ["b"] * 10,
        "y": [1.0, 2.0, 3.0] + [None] * 37 + [5.0, 900.0] + [None] * 8,
    }
    summary, strata, values, note = plans.labeled_values(frame, "g", "y")
    found = wb.estimate_values(summary, strata, values)
    interval = found.interval()
    assert interval.method == "t" and interval.low < found.estimate < interval.high
    assert "may be too short" in str(interval.notes[0]) and interval.notes[0].kind == "unreliable"


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([1, 2, None, 5, None, None], "stratum 'b' has 3 rows and 1 value"),
        ([1, 2, 3, None, None, None], "stratum 'b' has 3 rows and 0 values"),
    ],
)
def test_a_stratum_without_two_values_is_named(values, rule):
    with pytest.raises(ValueError, match=rule):
        plans.labeled_values({"g": list("aaabbb"), "y": values}, "g", "y")


def test_a_stratum_of_one_row_with_its_value_is_known():
    summary, *_ = plans.labeled_values({"g": list("aaab"), "y": [1, 2, None, 9]}, "g", "y")
    assert summary.size.tolist() == [3, 1] and summary.sd.tolist() == [pytest.approx(0.5**0.5), 0]


@pytest.mark.parametrize(
    "method", ["voila", "neyman", "neyman_iterated", "neyman_plus", "proportional"]
)
def test_strata_without_spreads_get_labels_in_proportion(method):
    plan = wb.plan_labels(wb.load_strata(TABLE, stratum="sex,status", size="n"), 40, method=method)
    assert plan.labeled.tolist() == [20, 4, 2, 14]
    assert "not known" in plan.finding() and plan.spreads_unknown
    assert any(
        "assumed to be equal" in note.text and note.kind == "assumption" for note in plan.notes
    )


def test_equal_shares_need_no_spreads_either():
    plan = wb.plan_labels(
        wb.load_strata({"g": ["a", "b"], "size": [50, 500]}, stratum="g"), 20, method="equal"
    )
    assert plan.labeled.tolist() == [10, 10]


def test_a_wanted_error_needs_spreads():
    with pytest.raises(ValueError, match="needs the standard deviation of every stratum"):
        wb.budget_for_error(wb.load_strata({"g": ["a", "b"], "size": [50, 500]}, stratum="g"), 3.0)


def test_one_missing_spread_is_still_an_error():
    with pytest.raises(ValueError, match="sd"):
        wb.load_strata({"stratum": ["a", "b"], "size": [50, 60], "sd": ["2", ""]})


@given(st.data())
def test_an_estimate_lies_in_its_interval_and_within_the_bounds(data):
    sizes = data.draw(st.lists(st.integers(3, 40), min_size=1, max_size=4))
    n = [data.draw(st.integers(2, size)) for size in sizes]
    values = data.draw(st.lists(st.floats(0, 1), min_size=sum(n), max_size=sum(n)))
    names = [f"s{k}" for k in range(len(sizes))]
    strata = wb.load_strata({"stratum": names, "size": sizes, "sd": [1] * len(sizes)})
    found = wb.estimate_values(strata, np.repeat(names, n), values, bounds=(0, 1))
    low, high = found.interval()
    assert 0 <= low <= found.estimate + 1e-12 and found.estimate - 1e-12 <= high <= 1
    unbounded = wb.estimate_values(strata, np.repeat(names, n), values).interval()
    assert unbounded.low <= found.estimate + 1e-9 and found.estimate - 1e-9 <= unbounded.high
