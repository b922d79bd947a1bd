"""The pictures of replicate variance: their rows and sentences against sums written out here."""

import dataclasses
import itertools
from collections import Counter

import altair as alt
import numpy as np
import pytest
from panels import draws
from scipy import stats

import workbench as wb
from workbench.charts import replication as charts
from workbench.charts import theme
from workbench.charts.replication import arrays as array_charts
from workbench.charts.replication import half_samples, intervals
from workbench.lessons.replication.views import papers_shifts
from workbench.simulations.replication import simulate_coverage
from workbench.widgets import chart_view


@dataclasses.dataclass
class Audit:
    table: list

    def rows(self):
        return self.table


def metric(statistic, estimate, half, naive, **more):
    return {
        **more,
        "metric": statistic,
        "estimate": estimate,
        "low": estimate - half,
        "high": estimate + half,
        "naive_low": estimate - naive,
        "naive_high": estimate + naive,
    }


def f1(method="brr", strata=6, **arguments):
    rng = np.random.default_rng(5)
    design = wb.SurveyDesign(
        np.repeat(np.arange(strata), 20), psu=np.repeat(np.arange(2 * strata), 10)
    )
    truth = rng.random(20 * strata) < 0.4
    read = np.where(rng.random(truth.size) < 0.8, truth, ~truth)
    return wb.replicate_estimate(wb.replicates(design, method, **arguments), "f1", truth, read)


# ---------------------------------------------------------------- boxes


def test_the_naive_interval_is_that_of_independent_labels():
    right, items = np.array([9, 7, 10, 6]), np.array([10, 10, 10, 10])
    naive, _ = half_samples.boxes(right, items, f1(), icc=0, reach=(0, 1)).data["limits"]
    error = stats.bernoulli(32 / 40).std() / 40**0.5
    assert (naive["low"], naive["high"]) == pytest.approx(
        stats.norm(32 / 40, error).interval(0.95), rel=1e-9
    )


# ---------------------------------------------------------------- replicates


def test_every_defined_replicate_is_a_square_at_its_place():
    found = f1()
    data = half_samples.values_data(found)
    squares = data["squares"]
    assert len(squares) == found.replicate_values.size == 8
    bin_width = np.ptp(found.replicate_values) / (half_samples.BINS - 1)
    np.testing.assert_allclose(
        sorted(row["value"] for row in squares),
        np.sort(found.replicate_values),
        atol=bin_width / 2 + 1e-12,
    )
    assert data["band"][0]["high"] - data["band"][0]["low"] == pytest.approx(
        2 * found.standard_error
    )


def test_squares_of_one_place_stack_without_gap_and_stay_inside():
    found = f1("bootstrap", count=1500)
    squares = half_samples.values_data(found)["squares"]
    heights = {}
    for row in squares:
        heights.setdefault(round(row["value"], 9), []).append(row["height"])
    top = max(map(len, heights.values()))
    assert len(squares) == 1500 and top > half_samples.LOW_STACK
    for stack in heights.values():
        np.testing.assert_allclose(sorted(stack), (np.arange(len(stack)) + 0.5) / top)


def test_of_very_many_replicates_some_are_drawn_and_that_is_said():
    found = f1("bootstrap", count=3000)
    assert len(half_samples.values_data(found)["squares"]) == half_samples.MOST_SQUARES
    figure = half_samples.replicate_plot(found)
    title, words = figure.title, figure.alternative
    assert title.endswith("from 3,000 replicates") and "The chart shows 2,000 of them." in words


@pytest.mark.parametrize("method", ["fay", "jkn", "generalized", "bootstrap"])
def test_squares_stand_where_they_count(method):
    """Their mean squared deviation from the estimate is the variance, whatever the coefficients are."""
    found = f1(method)
    drawn = half_samples._scaled_values(found)
    assert ((drawn - found.estimate) ** 2).mean() == pytest.approx(found.variance)


def test_equal_replicates_are_one_stack():
    design = wb.SurveyDesign([1, 1, 2, 2, 3, 3])
    same = wb.replicate_estimate(wb.replicates(design), "mean", [1.0] * 6)
    squares = half_samples.values_data(same)["squares"]
    assert {row["value"] for row in squares} == {1.0} and len(
        {row["height"] for row in squares}
    ) == 4


def test_undefined_replicates_are_left_out_and_said():
    found = f1("jkn")
    lost = dataclasses.replace(
        found, replicate_values=np.append(found.replicate_values[1:], np.nan), undefined=1
    )
    assert len(half_samples.values_data(lost)["squares"]) == found.replicate_values.size - 1
    figure = half_samples.replicate_plot(lost)
    title, words = figure.title, figure.alternative
    assert (
        title
        == f"F1 {found.estimate:.3f}, standard error {found.standard_error:.4f} from 11 replicates"
    )
    assert words.endswith(" 1 replicate is undefined and not shown.")
    assert "undefined" not in half_samples.replicate_plot(found).alternative


def test_replicate_plot_shows_the_interval_of_its_level():
    found = f1()
    low, high = found.interval(0.8)
    view = draws(charts.replicate_plot(found, level=0.8))
    assert view.picture["data"]["interval"] == [{"low": low, "high": high}]
    assert f"the 80% interval, {low:.4g} to {high:.4g}" in view.alternative


# ---------------------------------------------------------------- arrays


def unbalanced(array, levels):
    """Pairs of columns, from 1, that do not show each pair of symbols equally often."""
    runs, columns = array.shape
    return {
        (a + 1, b + 1)
        for a, b in itertools.combinations(range(columns), 2)
        if set(Counter(zip(array[:, a].tolist(), array[:, b].tolist(), strict=True)).values())
        != {runs / levels**2}
        or runs < levels**2
    }


@pytest.mark.parametrize(
    ("levels", "columns"),
    [(2, 3), (3, 2), (3, 8), (3, 26), (4, 5), (4, 9), (5, 4), (5, 24), (7, 8), (8, 9), (9, 12)],
)
def test_pairs_that_are_not_balanced(levels, columns):
    for array in (papers_shifts(levels, columns), wb.orthogonal_array(levels, columns)):
        expected = unbalanced(array, levels)
        found = array_charts.array(array, levels, 1, 2).data["pairs"]
        assert {(row["i"], row["j"]) for row in found if row["pair"] == "not balanced"} == expected
        assert len(found) == columns * (columns - 1) // 2
        problem = wb.check_balance(array).pair
        assert (problem is None) == (not expected)
        assert problem is None or (problem[0] + 1, problem[1] + 1) == min(expected)
    assert unbalanced(wb.orthogonal_array(levels, columns), levels) == set()


def test_one_wrong_entry_spoils_every_pair_of_its_column():
    array = wb.orthogonal_array(3, 5)
    array[4, 2] = (array[4, 2] + 1) % 3
    assert np.argwhere(np.triu(array_charts.unbalanced_pairs(array, 3))).tolist() == [
        [0, 2],
        [1, 2],
        [2, 3],
        [2, 4],
    ]


@pytest.mark.parametrize(("levels", "columns", "lag"), [(3, 8, 4), (3, 26, 13), (5, 24, 6)])
def test_the_papers_shifts_repeat_after_their_room(levels, columns, lag):
    array = papers_shifts(levels, columns)
    assert {j - i for i, j in unbalanced(array, levels)} == set(range(lag, columns, lag))
    assert unbalanced(array[:, :lag], levels) == set()


def test_array_rows_are_the_array():
    array = wb.orthogonal_array(4, 7)
    data = array_charts.array(array, 4, 2, 6).data
    assert {(row["run"], row["column"]): row["level"] for row in data["tiles"]} == {
        (r + 1, c + 1): level for (r, c), level in np.ndenumerate(array)
    }
    counts = Counter(zip(array[:, 1].tolist(), array[:, 5].tolist(), strict=True))
    assert {(row["a"], row["b"]): row["count"] for row in data["table"]} == dict(counts)
    assert {row["off"] for row in data["table"]} == {0}


def test_only_the_first_runs_are_drawn_and_that_is_said():
    array = wb.orthogonal_array(9, 11)
    assert max(row["run"] for row in array_charts.array(array, 9, 1, 2).data["tiles"]) == 81
    assert array_charts.array(array, 9, 1, 2).alternative.endswith(
        " The chart shows the first 81 runs."
    )
    assert "drawn" not in array_charts.array(wb.orthogonal_array(3, 4), 3, 1, 2).alternative


def test_one_pair_is_one():
    figure = array_charts.array(wb.orthogonal_array(3, 2), 3, 1, 2)
    assert (figure.title, figure.alternative) == (
        "9 runs, 2 columns, 3 units per stratum: the one pair of columns is balanced",
        "An array of 9 runs, 2 columns, 3 units per stratum: the one pair of columns is balanced. Columns 1 and 2 "
        "show each pair of numbers 1 time.",
    )
    same = np.array([[0, 0], [1, 1]])
    assert (
        array_charts.array(same, 2, 1, 2).title
        == "2 runs, 2 columns, 2 units per stratum: 1 of 1 pair is not balanced (1 and 2); 4 runs are needed"
    )


# ---------------------------------------------------------------- fields


@pytest.mark.parametrize(("p", "degree"), [(2, 3), (2, 4), (3, 2), (3, 3), (5, 2)])
def test_the_finished_steps_are_an_orthogonal_array(p, degree):
    field = wb.GaloisField(p, degree)
    data = array_charts.field(field, field.size - 1).data
    columns = (field.size - 1) // (p - 1)
    array = np.full((field.size, columns), -1)
    for row in data["cells"]:
        array[row["row"] - 1, row["column"] - 1] = row["digit"]
    assert unbalanced(array, p) == set()
    assert (array == wb.orthogonal_array(p, columns, method="rotation")).all()
    title = array_charts.field(field, field.size - 1).title
    assert title.endswith(
        f"{field.size - 1} powers and a row of zeros make {field.size} runs for {columns} columns"
    )


def test_steps_fill_the_array_from_the_powers_known():
    field = wb.GaloisField(3, 3)
    data = array_charts.field(field, 5).data
    assert max(row["power"] for row in data["terms"]) == 5 and len(data["terms"]) == 15
    digits = {row["power"]: row["digit"] for row in data["terms"] if row["place"] == 0}
    assert {(row["row"], row["digit"]) for row in data["cells"] if row["column"] == 1} == set(
        digits.items()
    )
    assert len(data["cells"]) == 5 * 13
    assert all(
        row["digit"] == digits[(row["row"] + row["column"] - 2) % 26 + 1] for row in data["cells"]
    )


def test_words_of_a_step_reduce_by_the_modulus():
    """By hand: x^3 + 2x + 1 = 0 modulo 3, so x^3 = x + 2 and x^5 = x^3 + 2x^2 = 2x^2 + x + 2."""
    field = wb.GaloisField(3, 3)
    figure = array_charts.field(field, 5)
    title, words = figure.title, figure.alternative
    assert title == "GF(3^3), step 5 of 26: x^5 = 2x^2 + x + 2"
    assert "x^5 = x (x^2 + 2x) = x^3 + 2x^2; with x^3 = x + 2 this is 2x^2 + x + 2." in words
    assert (
        "x^4 = x (x + 2) = x^2 + 2x: no reduction is needed."
        in array_charts.field(field, 4).alternative
    )
    first = array_charts.field(field, 1).alternative
    assert "The picture shows 1 of 26 powers." in first


# ---------------------------------------------------------------- coverage


def test_strips_show_the_runs_and_count_their_misses():
    study = simulate_coverage(runs=300, icc=0.1, rng=4)
    data = intervals.coverage(study).data
    for name in ("naive", "default"):
        low, high = study.limits(name)
        assert [row["low"] for row in data[name]] == low[:50].tolist() and len(data[name]) == 50
        misses = [
            a > study.truth or b < study.truth for a, b in zip(low[:50], high[:50], strict=True)
        ]
        assert [row["verdict"] == "misses it" for row in data[name]] == misses
    assert [row["method"] for row in data["shares"]] == ["naive", "z", "t", "logit", "default"]
    naive = data["shares"][0]
    assert naive["high"] - naive["low"] == pytest.approx(4 * study.coverage_error("naive"))
    draws(intervals.coverage(study))


# ---------------------------------------------------------------- reports


def test_metrics_stand_beside_their_naive_intervals():
    audit = Audit([metric("accuracy", 0.9, 0.03, 0.02), metric("f1", 0.8, 0.1, 0.025)])
    view = draws(charts.metrics(audit))
    assert [(row["name"], row["kind"]) for row in view.picture["data"]["metrics"]] == [
        ("accuracy", "report this"),
        ("accuracy", "naive"),
        ("F1", "report this"),
        ("F1", "naive"),
    ]
    assert (
        intervals.metrics(audit).title == "The interval of F1 is 4.0 times as wide as the naive one"
    )
    assert "F1 0.800, 0.700 to 0.900 (naive 0.775 to 0.825)" in view.alternative


def test_metrics_that_are_surer_than_naive_say_so():
    title = intervals.metrics(
        Audit([metric("accuracy", 0.9, 0.01, 0.02), metric("auc", 0.8, 0.1, 0.125)])
    ).title
    assert title == "No interval is wider than the naive one; that of AUC is 0.80 times as wide"
    title = intervals.metrics(Audit([metric("recall", 1.0, 0.1, 0.0)])).title
    assert title == "All naive intervals have width 0"


def test_many_metrics_are_cut_and_that_is_said():
    audit = Audit(
        [metric("recall", 0.5, 0.1, 0.05, group=None)]
        + [metric("recall", 0.5, 0.1, 0.05, group=f"g{k}") for k in range(40)]
    )
    assert (
        len({row["name"] for row in intervals.metrics(audit).data["metrics"]})
        == intervals.MOST_METRICS
    )
    figure = intervals.metrics(audit)
    title, words = figure.title, figure.alternative
    assert (
        title.endswith(" (24 of 41 shown)")
        and "(24 of 41 shown)" in words
        and "recall in g3 0.500" in words
    )


def clusters(strata):
    rng = np.random.default_rng(1)
    return [
        {
            "stratum": f"s{h}",
            "psu": f"s{h}-{i}",
            "accuracy": float(rng.integers(0, 11) / 10),
            "items": 10 + i,
        }
        for h in range(strata)
        for i in range(2)
    ]


def test_of_hundreds_of_strata_the_lowest_are_shown():
    rows = clusters(300)
    mean = {
        f"s{h}": (10 * rows[2 * h]["accuracy"] + 11 * rows[2 * h + 1]["accuracy"]) / 21
        for h in range(300)
    }
    shown = intervals.psu_plot(rows).data["psus"]
    assert len(shown) == 80
    assert max(mean[row["stratum"]] for row in shown) <= min(
        mean[s] for s in mean if s not in {row["stratum"] for row in shown}
    )
    view = draws(charts.psu_plot(rows))
    assert view.alternative.endswith(" (the 40 lowest of 300 strata shown).")
    assert intervals.psu_plot(rows).title.endswith(" (the 40 lowest of 300 strata shown)")


def test_psu_words_name_the_extremes():
    rows = clusters(7)
    rows[4] |= {"accuracy": 0.01}
    figure = intervals.psu_plot(rows)
    title, words = figure.title, figure.alternative
    assert title.startswith("Accuracy from 1.0% to ") and title.endswith(
        " in 14 clusters; lowest in cluster s2-0 of stratum s2"
    )
    assert "0.010 in cluster s2-0 of stratum s2 (10 items)" in words and "Shown" not in words
    alone = [row | {"psu": row["stratum"]} for row in rows[::2]]
    assert intervals.psu_plot(alone).title.startswith("Accuracy from 1.0% to ")
    assert intervals.psu_plot(alone).title.endswith(" in 7 strata; lowest in stratum s2")
    equal = [alone[2], alone[2] | {"psu": "other"}, *alone]
    figure = intervals.psu_plot(equal)
    assert figure.title.endswith("; lowest in stratum s2 and 2 others")
    shifts = [row["shift"] for row in figure.data["psus"] if row["stratum"] == "s2"]
    assert sorted(shifts) == [-1, 0, 1]
    legends = [
        intervals.psu_plot(each).to_dict()["encoding"]["size"]["legend"] for each in (equal, rows)
    ]
    assert legends == [None, {"tickCount": 3}]
    figure = intervals.psu_plot([alone[0] | {"items": 1}])
    title, words = figure.title, figure.alternative
    assert " in 1 stratum; " in title and words.startswith(
        "Accuracy of 1 stratum, ordered by stratum: "
    )
    assert words.count("(1 item)") == 2


# ---------------------------------------------------------------- colors


@pytest.mark.parametrize("base", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_naive_and_honest_stand_out_from_the_ground(base):
    def brightness(color):
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    for color in (half_samples.NAIVE, half_samples.HONEST):
        low, high = sorted([brightness(color), brightness(base["background"])])
        assert (high + 0.05) / (low + 0.05) >= 3


def test_charts_compile_to_valid_altair():
    array = papers_shifts(3, 8)
    field = wb.GaloisField(2, 3)
    for figure in (
        array_charts.array(array, 3, 1, 5),
        array_charts.field(field, 3),
        charts.replicate_plot(f1()),
    ):
        chart = figure.chart()
        assert isinstance(chart, alt.TopLevelMixin) and chart.to_dict(validate=True)["description"]
        assert chart_view.image(chart).alternative
