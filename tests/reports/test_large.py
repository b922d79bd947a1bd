"""Long series and many models: the parts that a page shows, the tables, and the warnings before the report."""

import re

import numpy as np
import pytest

import workbench as wb
from workbench.charts.misclassification import periods as charts
from workbench.cross_validation import comparison, losses
from workbench.data import columns
from workbench.misclassification import methods
from workbench.reports.inputs.cross_validation import read as read_losses
from workbench.reports.inputs.misclassification import read as read_series
from workbench.results.limits import LimitReached, printed_limits


def long_series(periods=900, jump=500):
    counted = 200 + (np.arange(periods) % 7) + 40 * (np.arange(periods) == jump)
    audit = wb.ConfusionCounts(np.array([[290, 10], [10, 90]]))
    return wb.prevalence_series(
        audit,
        (8000, 2000),
        {f"day {t}": (1000 - n, n) for t, n in enumerate(counted)},
        method="mle",
    )


def test_a_long_series_keeps_both_ends_and_every_peak():
    series = long_series()
    drawn, share = series.drawn(), series.estimates
    assert len(drawn) <= 103 and {0, 899, int(share.argmax()), int(share.argmin())} <= set(drawn)
    assert len(charts.series(series).data["bands 0"]) == len(drawn)
    assert re.search(
        rf"The chart shows {len(drawn)} of 900 periods", charts.series(series).alternative
    )


def test_of_a_long_series_the_largest_changes_are_listed_those_that_differ_from_0_first():
    series = long_series()
    rows, shown = series.changes(), series.shown_changes()
    differ = {k for k, row in enumerate(rows) if not row["low"] <= 0 <= row["high"]}
    assert {499, 500} <= differ  # to the jump and from it
    assert len(shown) == 100 and (differ <= set(shown) or set(shown) <= differ)
    assert f"{len(differ)} of 899" in charts.changes(series).title
    assert len(charts.changes(series).data["changes 0"]) == 100


def test_what_is_said_of_many_periods_is_computed_for_all_at_once(monkeypatch):
    computed, shares_of = [], methods.shares_of
    monkeypatch.setattr(
        methods, "shares_of", lambda *given: computed.append(len(given)) or shares_of(*given)
    )
    said = [note for note in long_series().notes if "fewer than ten per audited item" in note.text]
    assert 0 < len(computed) < 20 < 800 < len(said)


def test_without_an_estimate_no_largest_change_is_named():
    audit = wb.ConfusionCounts([[80, 20], [80, 20]])
    series = wb.prevalence_series(
        audit, (800, 200), {"a": (800, 200), "b": (700, 300), "c": (750, 250)}
    )
    figure = charts.changes(series)
    assert figure.title == "The changes cannot be estimated: the audit allows every change"
    assert "nan" not in figure.alternative
    assert "the intervals fill the whole range" in figure.alternative


def test_a_thousand_names_in_another_case_are_looked_at_once(monkeypatch):
    looked, plain = [], columns.plain_name
    monkeypatch.setattr(columns, "plain_name", lambda name: looked.append(name) or plain(name))
    found = columns.found_columns(
        "file", [f"M{k}" for k in range(1000)], [f"m{k}" for k in range(1000)]
    )
    assert found == {f"m{k}": f"M{k}" for k in range(1000)} and len(looked) == 2000


def test_a_short_series_is_shown_whole():
    series = long_series(30, 20)
    assert (
        series.drawn() == tuple(range(30)) == series.shown_levels()
        and len(series.shown_changes()) == 29
    )
    assert "The chart shows" not in charts.series(series).alternative


def test_a_table_says_how_many_of_its_rows_a_page_shows_and_is_recorded_whole():
    table = wb.Table([{"label": k} for k in range(5)], "All", (1, 3))
    page = table._repr_html_()
    assert "shown: 2 of 5 rows" in page and re.findall("<td>(.)</td>", page) == ["1", "3"]
    assert len(table.rows()) == len(wb.Table.from_dict(table.to_dict()).entries) == 5
    assert "shown" not in wb.Table([{"label": 1}], "All")._repr_html_()


@pytest.fixture(scope="module")
def fold_means():
    rng = np.random.default_rng(3)
    return {f"m{k}": (0.2 + 0.004 * k + rng.normal(0, 0.02, 10)).tolist() for k in range(40)}


def test_p_values_of_all_pairs_at_once_are_those_of_the_tests_one_by_one(fold_means, monkeypatch):
    whole = wb.compare_models(fold_means)
    monkeypatch.setattr(comparison, "MANY", 30)
    part = wb.compare_models(fold_means)
    expected = dict(zip(whole.pairs, whole.adjusted.tolist(), strict=True))
    assert (
        len(part.pairs) == 39 + 19 * 18 // 2
        and part.compared == 780
        and part.differ == whole.differ > 0
    )
    assert part.adjusted == pytest.approx([expected[pair] for pair in part.pairs], rel=1e-9)
    assert part.headline() == whole.headline() and part.finding() == whole.finding()
    assert any("adjusted for all 780 pairs" in note.text for note in part.notes)


def test_models_without_variance_between_folds_have_no_p_value_among_many(fold_means, monkeypatch):
    monkeypatch.setattr(comparison, "MANY", 30)
    found = wb.compare_models(fold_means | {"twin": fold_means["m0"]})
    row = next(row for row in found.rows() if {row["first"], row["second"]} == {"m0", "twin"})
    assert np.isnan(row["adjusted_pvalue"])


def test_a_page_lists_the_best_of_many_models(fold_means):
    found = wb.compare_models(fold_means)
    shown = [found.rows()[k] for k in found.shown()]
    assert {(row["first"], row["second"]) for row in shown} == {
        (found.models[0], name) for name in found.models[1:20]
    }
    few = wb.compare_models(dict(list(fold_means.items())[:6]))
    assert len(few.shown()) == 15


def test_chosen_models_are_those_of_losses_made_anew(fold_means):
    rng = np.random.default_rng(4)
    cv = wb.CVLosses({name: rng.integers(0, 2, 60) for name in "abc"}, np.repeat(np.arange(6), 10))
    again = wb.CVLosses(cv.losses[:, [2, 0]], cv.fold, ("c", "a"))
    pair = cv.pair("c", "a")
    assert (
        cv.mean_losses().size == 3
        and pair.headline() == again.headline()
        and pair.rows() == again.rows()
    )
    assert wb.kfold_t_test(pair).to_dict() == wb.kfold_t_test(again).to_dict()
    assert len(losses.CVLosses.from_fold_means(fold_means).headline()) < 500


def test_limits_are_told_where_a_command_reads_and_not_again(tmp_path, monkeypatch, fold_means):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "means.csv").write_text(
        "fold,"
        + ",".join(fold_means)
        + "\n"
        + "".join(
            f"{k}," + ",".join(str(means[k]) for means in fold_means.values()) + "\n"
            for k in range(10)
        )
    )
    (tmp_path / "audit.csv").write_text(
        "truth,prediction\n" + "0,0\n" * 290 + "0,1\n1,0\n" * 10 + "1,1\n" * 90
    )
    (tmp_path / "days.csv").write_text(
        "period,n,counted\n" + "".join(f"{t},1000,{200 + t % 7}\n" for t in range(300))
    )
    with printed_limits(), pytest.warns(LimitReached) as told:
        read_losses(losses="means.csv", better="lower")
        read_series(audit="audit.csv", counts="days.csv", sampled_by="random")
    first, second = (str(each.message) for each in told)
    assert "of 40 models" in first and "of 300 periods" in second
    read_losses(losses="means.csv", better="lower")  # without a warning
