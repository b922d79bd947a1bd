"""The pictures of misclassification correction for reports: their rows and sentences against counts made here."""

import altair as alt
import numpy as np
import pytest
from panels import draws, title
from refusals import refused

import workbench as wb
from workbench.charts import misclassification as charts
from workbench.charts import theme
from workbench.charts.misclassification import lines, periods, proportions, scenes
from workbench.course import solar
from workbench.misclassification.methods import estimators

NAMES = ["retail", "wholesale", "food", "transport", "other"]


def solar_series(method="mle", **changed):
    months = {
        f"m{t}": counts for t, counts in enumerate(solar.solar_months().counts.tolist(), 1)
    } | changed
    return wb.prevalence_series(
        solar.solar_audit(), solar.solar_months().counts[0], months, method=method
    )


def many_classes(periods, classes=NAMES, items=20_000):
    """Classes read right in 80%, whose shares drift; the first period is the audited frame."""
    rng, k = np.random.default_rng(3), len(classes)
    rates = np.full((k, k), 0.2 / (k - 1)) + np.eye(k) * (0.8 - 0.2 / (k - 1))
    start = np.arange(k, 0, -1) / (k * (k + 1) / 2)
    audit = wb.ConfusionCounts(
        [rng.multinomial(round(1500 * a), row) for a, row in zip(start, rates, strict=True)],
        classes,
    )
    counts = [
        rng.multinomial(items, (start * (1 - t / 300) + start[::-1] * t / 300) @ rates)
        for t in range(periods)
    ]
    months = {f"{2015 + t // 12}-{t % 12 + 1:02d}": row for t, row in enumerate(counts)}
    return wb.prevalence_series(audit, counts[0], months)


@pytest.fixture(scope="module")
def decade():
    return many_classes(120)


# ---------------------------------------------------------------- series


def class_titles(figure):
    """The titles of the vertical axes, one per class."""
    spec = figure.to_dict()
    views = spec.get("vconcat", [spec])
    return [view["layer"][2]["encoding"]["y"]["title"] for view in views]


def test_series_draws_counted_and_corrected():
    series = solar_series()
    data = periods.series(series).data
    for kind, expected in (
        ("counted", solar.solar_months().counted_shares),
        ("corrected", series.estimates),
    ):
        assert [row["share"] for row in data["lines 0"] if row["kind"] == kind] == pytest.approx(
            expected.tolist()
        )
    limits = [
        wb.estimate_prevalence(series.audit, counts, series.counts_at_audit).interval()
        for counts in solar.solar_months().counts
    ]
    assert [(row["low"], row["high"]) for row in data["bands 0"]] == [
        pytest.approx(tuple(i)) for i in limits
    ]
    assert (
        data["audit 0"] == [{"period": "m1", "text": "audit"}]
        and data["lost 0"] == data["alone 0"] == []
    )
    view = draws(charts.series(series))
    assert title(view) == "panels: 10.4% in m1, 15.6% in m12 (counted 12.1%, 16.2%)"
    assert (
        "The audit was sampled in m1." in view.alternative
        and "Not reported" not in view.alternative
    )


def test_months_that_cannot_be_reported_are_marked_and_said():
    series = solar_series(m3=[0, 0], m5=[None, 4], m12=[0.8, 0.2])
    data = periods.series(series).data
    assert [row["period"] for row in data["lost 0"]] == ["m3", "m5", "m12"]
    assert [row["period"] for row in data["alone 0"]] == ["m4"]
    view = draws(charts.series(series))
    assert (
        "Not reported: m3: no items were counted; m5: the count of class 'no panels' is missing; m12: "
        in view.alternative
    )
    assert title(view).startswith("panels: 10.4% in m1, ") and " in m11 " in title(view)
    assert [row["share"] for row in view.picture["data"]["lines 0"] if row["period"] == "m3"] == [
        None,
        None,
    ]


def test_level_widens_the_band():
    series = solar_series()
    low, high = (periods.series(series, level=level).data["bands 0"][5] for level in (0.5, 0.99))
    assert high["low"] < low["low"] < low["high"] < high["high"]
    assert "with 99% intervals" in periods.series(series, level=0.99).alternative


def test_a_series_without_its_frame_says_so():
    series = wb.prevalence_series(
        solar.solar_audit(), None, {"m2": [4382, 618]}, method="misclassification"
    )
    view = draws(charts.series(series))
    assert "The audit is of none of these periods." in view.alternative
    assert periods.series(series).data["audit 0"] == []


def test_bands_of_the_whole_range_are_told():
    audit = wb.ConfusionCounts([[11, 9], [10, 10]])
    series = wb.prevalence_series(audit, [500, 500], {"a": [500, 500], "b": [510, 490]})
    whole = " The audit allows every proportion, so the bands fill the whole range."
    assert periods.series(series).alternative.endswith(whole)
    assert "every share possible" not in periods.series(solar_series()).alternative
    draws(charts.series(series))


def test_a_series_without_estimates_is_drawn():
    series = wb.prevalence_series(
        wb.ConfusionCounts([[31, 9], [0, 0]]),
        [500, 500],
        {"a": [400, 600], "b": [510, 490]},
        sampled_by="random",
    )
    view = draws(charts.series(series))
    assert title(view) == "1: no estimate in a, no estimate in b (counted 60.0%, 49.0%)"
    assert "no estimate (0.00% to 100.00%)" in view.alternative
    draws(charts.changes(series))


def test_a_decade_of_five_classes(decade):
    figure = periods.series(decade)
    assert class_titles(figure) == NAMES
    assert [len(figure.data[f"bands {k}"]) for k in range(5)] == [120] * 5
    view = draws(charts.series(decade))
    assert len(view.picture["data"]) == 5 * 5
    moved = decade.estimates[-1] - decade.estimates[0]
    assert title(view).startswith(NAMES[int(np.abs(moved).argmax())])
    assert (
        all(name in view.alternative for name in NAMES)
        and "The chart shows" not in view.alternative
    )


def test_one_class_can_be_chosen(decade):
    figure = periods.series(decade, label="transport")
    assert class_titles(figure) == ["proportion of transport"]
    assert [row["share"] for row in figure.data["lines 0"][120:]] == pytest.approx(
        decade.estimates[:, 3].tolist()
    )
    assert figure.title.startswith("transport: ")
    draws(figure)
    rule = "must be one of 'retail', 'wholesale', 'food', 'transport', 'other'"
    refused(lambda: charts.series(decade, label="trade"), "label", rule, "got 'trade'")


def test_of_many_classes_the_six_largest_are_drawn_and_that_is_said():
    series = many_classes(3, [f"c{k}" for k in range(8)])
    assert class_titles(periods.series(series)) == [f"c{k}" for k in range(6)]
    assert " The chart shows the 6 largest of 8 classes." in periods.series(series).alternative
    assert " The chart shows the 6 largest of 8 classes." in periods.changes(series).alternative
    assert {row["class"] for row in periods.changes(series, label="c7").data["changes 0"]} == {"c7"}


# ---------------------------------------------------------------- changes


def test_changes_have_their_own_intervals():
    series = solar_series(m4=[0, 0])
    found = periods.changes(series).data["changes 0"]
    assert [(row["from"], row["period"]) for row in found][:4] == [
        ("m1", "m2"),
        ("m2", "m3"),
        ("m3", "m5"),
        ("m5", "m6"),
    ]
    for row in found:
        change = series.change(row["from"], row["period"])
        assert (row["change"], row["low"], row["high"]) == pytest.approx(
            (change.estimate, *change.limits)
        )
        assert (row["verdict"] == "differs from 0") == (0 not in change.limits)
    view = draws(charts.changes(series))
    assert title(view).startswith(
        f"Changes that differ from 0: {sum(r['verdict'] != 'may be 0' for r in found)} of 10"
    )
    assert "m4: no items were counted" in view.alternative


def test_the_largest_change_is_named():
    view = draws(charts.changes(solar_series(m7=[4000, 1000])))
    assert title(view).startswith("Changes that differ from 0: 2 of 11; largest: m6 to m7, +7.")
    assert "Shown to differ from 0: panels m6 to m7 +7." in view.alternative
    assert "Without any true change, about 5% of the intervals would exclude 0" in view.alternative
    assert "about 20% of" in periods.changes(solar_series(), level=0.8).alternative


def test_one_period_has_no_change():
    series = wb.prevalence_series(
        solar.solar_audit(), [1579, 218], {"m1": [1579, 218], "m2": [0, 0]}
    )
    view = draws(charts.changes(series))
    assert (
        title(view) == "No change: only one period is reported"
        and "m2: no items" in view.alternative
    )


def test_changes_of_a_decade(decade):
    view = draws(charts.changes(decade))
    assert [len(view.picture["data"][f"changes {k}"]) for k in range(5)] == [119] * 5
    shown = sum(row["low"] > 0 or row["high"] < 0 for row in decade.changes())
    assert title(view).startswith(f"Changes that differ from 0: {shown} of 595; largest: ")


# ---------------------------------------------------------------- estimators


def test_estimators_mark_the_chosen_one():
    counts = solar.solar_months().counts
    comparison = wb.compare_estimators(solar.solar_audit(), counts[11], counts[0])
    found = charts.estimators(comparison, "calibration").data["estimators"]
    assert [row["rmse"] for row in found] == pytest.approx(
        [row["rmse"] for row in comparison.rows()]
    )
    assert [row["estimator"] for row in found if row["role"] == "chosen"] == [
        "calibration (chosen)"
    ]
    view = draws(charts.estimators(comparison, "calibration"))
    error = dict(zip(comparison.methods, comparison.rmse, strict=True))
    less = f"{error['calibration']:.4f}; clearly smaller: mle, {error['mle']:.4f}"
    assert title(view) == f"Expected error of calibration {less}"
    assert view.alternative.endswith(" Chosen: calibration.")
    assert f"raw count {error['classify_and_count']:.4f}" in view.alternative
    chosen = title(draws(charts.estimators(comparison)))
    assert (
        chosen == f"No estimator has a clearly smaller expected error than mle, {error['mle']:.4f}"
    )


def test_estimators_that_cannot_be_computed_say_why():
    comparison = wb.compare_estimators(solar.solar_audit(), [4000, 1000])
    view = draws(charts.estimators(comparison))
    assert title(view).startswith("mle cannot be computed; recommended: ")
    assert view.alternative.endswith(
        " mle: needs counts_at_audit, the predicted counts of the audited frame."
    )
    texts = {row["estimator"]: row["text"] for row in view.picture["data"]["estimators"]}
    assert texts["mixed"] == texts["mle (chosen)"] == "cannot be computed"


def test_chance_has_no_expected_errors():
    comparison = wb.compare_estimators(wb.ConfusionCounts([[10, 10], [10, 10]]), [50, 60], [50, 50])
    assert comparison.best is None
    view = draws(charts.estimators(comparison))
    assert title(view).startswith(
        "The expected errors are unknown: the classes are predicted no better than by chance, or "
    )


def test_errors_of_all_classes_are_added_up(decade):
    comparison = wb.compare_estimators(
        decade.audit, decade.counts[60].astype(int), decade.counts_at_audit
    )
    found = charts.estimators(comparison).data["estimators"]
    assert [row["rmse"] for row in found] == pytest.approx(
        np.sqrt((comparison.rmse**2).sum(1)).tolist()
    )
    assert (
        min(found, key=lambda row: row["rmse"])["estimator"].split()[0]
        == scenes.names()[comparison.best]
    )
    assert ", all classes together," in charts.estimators(comparison).alternative


# ---------------------------------------------------------------- audit


def test_audit_matrix_has_counts_and_rates():
    view = draws(charts.audit_matrix(wb.ConfusionCounts([[331, 18], [7, 44]], ["no", "yes"])))
    cells = {
        (row["truth"], row["prediction"]): (row["count"], row["share"])
        for row in view.picture["data"]["audit"]
    }
    assert cells == {
        ("no", "no"): (331, "94.8%"),
        ("no", "yes"): (18, "5.2%"),
        ("yes", "no"): (7, "13.7%"),
        ("yes", "yes"): (44, "86.3%"),
    }
    rates = [row["rate"] for row in view.picture["data"]["audit"]]
    assert rates == pytest.approx([331 / 349, 18 / 349, 7 / 51, 44 / 51])
    assert title(view) == "400 audited, 93.8% correct; least often: yes, 86.3%"
    assert view.alternative == (
        "Audit of 400 items. Correct: no: 331 of 349, yes: 44 of 51. Most frequent mistakes: no "
        "read as yes: 18; yes read as no: 7."
    )


def test_an_audit_of_one_item():
    figure = charts.audit_matrix(wb.ConfusionCounts([[1, 0], [0, 0]]))
    assert figure.alternative == "Audit of 1 item. Correct: 0: 1 of 1, 1: 0 of 0. No mistake."


def test_audit_without_a_class_or_a_mistake():
    view = draws(charts.audit_matrix(wb.ConfusionCounts([[5, 0, 0], [0, 7, 0], [0, 0, 0]])))
    assert title(view) == "12 audited, 100.0% correct; least often: 0, 100.0%"
    assert view.alternative.endswith(" No mistake.") and "2: 0 of 0" in view.alternative
    assert [row["share"] for row in view.picture["data"]["audit"] if row["truth"] == "2"] == [
        "",
        "",
        "",
    ]


@pytest.mark.parametrize("classes", [2, 10, 12, 13, 30])
def test_many_classes_fit(classes):
    table = np.eye(classes, dtype=int) * 1000 + 1
    view = draws(
        charts.audit_matrix(
            wb.ConfusionCounts(table, [f"class number {k}" for k in range(classes)])
        )
    )
    assert len(view.picture["data"]["audit"]) == classes**2
    assert view.alternative.count(" read as ") == min(6, classes * (classes - 1))
    assert len(view.spec["layer"]) == (3 if classes <= 12 else 2)


# ---------------------------------------------------------------- colors


def brightness(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("base", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_counted_corrected_and_verdicts_stand_out_from_the_ground(base):
    for color in (scenes.RAW, scenes.CORRECTED, *periods.VERDICTS.values()):
        low, high = sorted([brightness(color), brightness(base["background"])])
        assert (high + 0.05) / (low + 0.05) >= 3


def test_every_estimator_has_a_name_and_a_color_of_its_own():
    assert set(scenes.names()) == set(estimators()) and list(scenes.colors()) == list(
        scenes.names().values()
    )
    assert len(set(scenes.colors().values())) == len(estimators())


def test_live_charts_compile_to_valid_altair():
    base_rate, p00, p11 = solar.solar_rates()
    study = wb.simulate_prevalence(
        base_rate, 0.15, p00, p11, 400, 1797, new_size=5000, runs=100, rates="frame"
    )
    theory = wb.estimator_theory(base_rate, 0.15, p00, p11, 400)
    twelve = solar.solar_months()
    series = wb.prevalence_series(solar.solar_audit(), twelve.counts[0], twelve.counts)
    true = twelve.true_shares.tolist()
    for chart in (
        scenes.mosaic(base_rate, p00, p11),
        scenes.months(study, estimators(), "mle"),
        scenes.change(series, 3, 4, twelve.true_shares),
        scenes.held_constant(theory, scenes.TRUTH),
        scenes.change(series, 3, 4, twelve.true_shares, 0.02),
        lines.drawing(true, true),
        lines.published(theory, true),
        lines.published(theory, true, [0.1] * 12),
    ):
        assert isinstance(chart.chart(), alt.TopLevelMixin)
        draws(chart)


def test_lines_differ_in_grey_too():
    """No two lines of a picture share dash and shape."""
    marks = {
        name: (tuple(lines.dashes().get(name, (6, 3) if name == lines.TRUTH else (1, 0))), shape)
        for name, shape in lines.SHAPES.items()
    }
    assert len(set(marks.values())) == len(marks) == len(lines.LINES)
    assert (
        len(set(map(tuple, scenes.dashes().values())))
        == len(scenes.dashes())
        == len(scenes.names())
    )


def test_all_months_can_be_dragged_until_the_line_is_locked():
    loose, locked = (
        lines.drawing([0.1, 0.125], [0.1, 0.15], loose=loose).data["drawn"]
        for loose in (True, False)
    )
    assert [(row["drag"], row["label"]) for row in loose] == [
        (1, "Month 1: 10.0%"),
        (2, "Month 2: 12.5%"),
    ]
    assert not any("drag" in row for row in locked) and [row["share"] for row in locked] == [
        0.1,
        0.125,
    ]


# ---------------------------------------------------------------- a judge


def test_a_judge_beside_people_and_both():
    verdict = ["pass"] * 700 + ["fail"] * 300
    label = (
        ["pass"] * 60 + ["fail"] * 10 + [None] * 630 + ["pass"] * 3 + ["fail"] * 27 + [None] * 270
    )
    found = wb.judge_audit(verdict, label)
    view = draws(charts.judged(found))
    assert title(view) == "The proportion of pass, with 95% intervals"
    assert view.alternative == (
        "The proportion of pass: corrected 63.0% (55.5% to 70.0%); human labels alone 63.0% (53.3% to "
        "72.0%); judge alone 70.0%."
    )
    graded = wb.judge_audit(
        [1] * 500 + [2] * 300 + [3] * 200, [*label[:70], *label[:40], *[None] * 890]
    )
    assert "judge alone" not in draws(charts.judged(graded)).alternative


# ---------------------------------------------------------------- one period


def test_all_classes_of_one_period_are_drawn_with_their_intervals():
    audit = wb.ConfusionCounts([[40, 8, 0], [10, 92, 2], [0, 1, 47]], ["bog", "dry", "lake"])
    table = wb.classification_table(audit, [20_000, 80_000, 1000], sampled_by="prediction")
    rows = charts.class_proportions(table).data["classes"]
    assert [row["class"] for row in rows] == ["dry", "bog", "lake"]
    share = (80 * 92 / 101 + 20 * 10 / 50 + 2 / 49) / 101
    assert rows[0]["estimate"] == pytest.approx(share)
    assert rows[0]["predicted"] == pytest.approx(80 / 101)
    assert (rows[0]["low"], rows[0]["high"]) == tuple(table.proportion[1, 2:])
    view = draws(charts.class_proportions(table))
    assert title(view) == "Class proportions, with 95% intervals"
    assert view.alternative.count("predicted") == 3
    assert "bog 22.1% (17.3% to 28.1%), predicted 19.8%" in view.alternative


def test_of_many_classes_the_largest_are_drawn(monkeypatch):
    monkeypatch.setattr(proportions, "MOST_CLASSES", 1)
    audit = wb.ConfusionCounts([[40, 2], [3, 50]], ["no", "yes"])
    table = wb.classification_table(audit, [100, 300], sampled_by="prediction")
    figure = charts.class_proportions(table)
    assert [row["class"] for row in figure.data["classes"]] == ["yes"]
    assert figure.alternative.endswith(" 1 smaller class is not shown.")
