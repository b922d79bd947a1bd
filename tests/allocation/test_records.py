"""Values in some rows: total and mean against pandas and scipy, and repeated samples."""
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from thinned import thinned

import workbench as wb
from workbench.lessons.allocation.read import read


def records(seed=4, labels=150):
    """Return 2,000 records in three segments with values in some rows."""
    rng = np.random.default_rng(seed)
    segment = rng.choice(["A", "B", "C"], 2000, p=[.6, .3, .1])
    scale = pd.Series(segment).map({"A": 20, "B": 60, "C": 400}).to_numpy()
    value = scale * rng.gamma(4, .25, 2000)
    rows = rng.choice(2000, labels, replace=False)
    return pd.DataFrame({"id": np.arange(2000), "segment": segment, "value": value}).assign(
        audited=lambda frame: frame.value.where(frame.index.isin(rows)))


def stratified(frame):
    """Return the total and its standard error by the textbook, from pandas alone."""
    groups = frame.groupby("segment").audited
    size, n = frame.groupby("segment").size(), groups.count()
    return float((size * groups.mean()).sum()), float((size**2 * (1 - n / size) * groups.var() / n).sum() ** .5)


def test_total_and_mean_are_stratified():
    frame = records()
    strata, found = wb.estimate_records(frame, stratum="segment", value="audited")
    total, error = stratified(frame)
    assert 2000 * found.estimate == pytest.approx(total) and 2000 * found.standard_error == pytest.approx(error)
    assert strata.size.tolist() == frame.groupby("segment").size().tolist() and found.sampled.sum() == 150
    low, high = found.interval(quantity="total")
    assert low < total < high and low < frame.value.sum() < high
    assert found.finding().startswith("This takes the 150 rows with a value for a random sample of the rows of each "
                                      "stratum. Total ")
    assert [note.kind for note in found.notes] == ["assumption"]


def test_bounds_give_the_interval_of_bounds():
    frame = records()
    _, found = wb.estimate_records(frame, stratum="segment", value="audited", bounds=(0, 5000))
    assert found.interval().method == "default"
    with pytest.raises(ValueError, match="bounds must hold every value"):
        wb.estimate_records(frame, stratum="segment", value="audited", bounds=(0, 5))


@pytest.mark.parametrize("gap", ["", "NA", "nan", "-", None])
def test_a_missing_value_may_be_written_in_any_way(gap, tmp_path):
    frame = records()
    cells = frame.audited.astype(object)
    cells[frame.audited.isna()] = gap
    known = wb.estimate_records(frame, stratum="segment", value="audited")[1]
    frame["audited"] = cells
    path = tmp_path / "records.csv"
    frame.to_csv(path, index=False)
    for source in (frame, str(path)):
        found = wb.estimate_records(source, stratum="segment", value="audited")[1]
        assert found.estimate == pytest.approx(known.estimate)


def test_rows_without_a_stratum_are_one_and_a_file_without_the_column_too():
    frame = records()
    frame.loc[:199, "segment"] = None
    strata, found = wb.estimate_records(frame, stratum="segment", value="audited")
    assert strata.stratum.tolist() == ["(none)", "A", "B", "C"] and strata.size[0] == 200
    _, simple = wb.estimate_records(frame[["audited"]], value="audited")
    assert simple.estimate == pytest.approx(frame.audited.mean()) and simple.size.tolist() == [2000]
    assert simple.premise == "This takes the 150 rows with a value for a random sample of all 2,000 rows. "


def test_strata_with_few_values_are_joined_and_one_without_any_is_refused():
    frame = records()
    frame.loc[frame.index[:12], "segment"] = "tiny"
    strata, found = wb.estimate_records(frame, stratum="segment", value="audited")
    assert strata.size.sum() == 2000 and found.sampled.min() >= 5 and "C + tiny" in strata.stratum.tolist()
    assert any("were joined: 'C', 'tiny'" in note.text for note in found.notes)
    frame.loc[frame.segment == "B", "audited"] = np.nan
    with pytest.raises(ValueError, match=r"^no row of stratum 'B' has a value, of \d+ rows"):
        wb.estimate_records(frame, stratum="segment", value="audited")
    frame["audited"] = np.nan
    with pytest.raises(ValueError, match="has a value in 0 rows: at least 2 are needed"):
        wb.estimate_records(frame, stratum="segment", value="audited")


def test_a_stratum_that_was_sampled_more_often_counts_as_it_is_in_the_file():
    frame = records(labels=1)
    rows = np.concatenate([np.flatnonzero(frame.segment == name)[:50] for name in "ABC"])
    frame["audited"] = frame.value.where(frame.index.isin(rows))
    _, found = wb.estimate_records(frame, stratum="segment", value="audited")
    assert 2000 * found.estimate == pytest.approx(stratified(frame)[0])
    assert "They are no random sample of the whole file: 33.3% of them are of stratum" in found.notes[0].text


def test_one_value_that_dominates_is_told_and_has_an_interval():
    frame = records()
    first = frame.index[frame.audited.notna() & (frame.segment == "C")][0]
    frame.loc[first, "audited"] = 50_000
    _, found = wb.estimate_records(frame, stratum="segment", value="audited")
    doubt = next(note for note in found.interval().notes if note.kind == "unreliable")
    assert doubt.text.startswith("one label makes 9") and doubt.text in found.basis()
    strata = wb.load_strata(frame, stratum="segment", value="value")
    planned = wb.estimate_values(strata, frame.segment[frame.audited.notna()], frame.audited.dropna())
    assert planned.interval().method == "none"


def test_the_report_reads_values_in_some_rows(tmp_path):
    path = tmp_path / "records.csv"
    frame = records()
    frame.to_csv(path, index=False)
    options = {"strata": str(path), "stratum": "segment", "value": "audited"}
    _, plan, drawn, found = read(**options)
    assert 2000 * found.estimate == pytest.approx(stratified(frame)[0]) and drawn is None
    assert plan.labeled.tolist() == found.sampled.tolist() and not found.to_label.any()
    _, plan, _, found = read(**options, budget=400)
    assert found.to_label.sum() == 250 and plan.labeled.sum() == 400
    for more, message in (({"label_sheet": "a.csv"}, "label_sheet cannot go on from values that no plan drew"),
                          ({"standard_error": 3.0}, "standard_error plans labels where all records have a value")):
        with pytest.raises(ValueError, match=message):
            read(**options, **more)


@thinned("samples", few=80, whole=2000)
def test_intervals_of_random_samples_cover(samples):
    frame, missed = records(), 0
    truth = frame.value.mean()
    rng = np.random.default_rng(8)
    for _ in range(samples):
        rows = rng.choice(2000, 150, replace=False)
        cells = frame.assign(audited=frame.value.where(frame.index.isin(rows)))
        low, high = wb.estimate_records(cells, stratum="segment", value="audited")[1].interval()
        missed += not low <= truth <= high
    assert missed <= stats.binom.ppf(.999, samples, .07)


@pytest.mark.parametrize(("method", "labels"), [("proportional", [20, 4, 2, 14]), ("equal", [12, 10, 9, 9])])
def test_sizes_without_sds_are_enough_for_rules_that_need_none(method, labels):
    strata = wb.load_strata({"stratum": list("abcd"), "size": [90, 18, 9, 63]})
    plan = wb.plan_labels(strata, 40, method=method)
    assert plan.labeled.sum() == 40 and plan.labeled.max() - max(labels) in (0, 1, -1)
    assert method == "equal" or plan.labeled.tolist() == labels
    assert "unknown" in plan.finding() and "nan" not in plan.finding() + plan.basis() + plan.headline()


def test_rules_that_need_sds_ask_for_them(tmp_path):
    strata = wb.load_strata({"stratum": list("ab"), "n": [90, 18]}, size="n")
    with pytest.raises(ValueError, match="method 'voila' needs the standard deviation within each stratum, and there "
                                         "is no column 'sd': name its column with sd, or use method 'proportional' or "
                                         "'equal'"):
        wb.plan_labels(strata, 40)
    with pytest.raises(ValueError, match="standard_error needs the standard deviation within each stratum"):
        wb.budget_for_error(strata, 3.0, method="equal")
    path = tmp_path / "s.csv"
    path.write_text("stratum,n\na,90\nb,18\n")
    plan = read(strata=str(path), size="n", method="proportional", budget=12)[1]
    assert plan.labeled.tolist() == [10, 2]
    with pytest.raises(ValueError, match="has no column 'spread'"):
        read(strata=str(path), size="n", sd="spread", method="proportional", budget=12)
