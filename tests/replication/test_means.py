"""Means and proportions of the truth alone, and replicate weights by successive differences."""

import re

import numpy as np
import pytest
from scipy import linalg, optimize, stats

import workbench as wb
from workbench.charts.replication import intervals as charts
from workbench.reports.inputs.replication import read

RNG = np.random.default_rng(8)
ITEMS = 24
WEIGHT = RNG.integers(20, 200, ITEMS).astype(float)
Y = (RNG.random(ITEMS) < 0.4).astype(int)
INCOME = RNG.lognormal(3, 0.6, ITEMS).round(1)
# successive differences: every item takes two rows of a Hadamard matrix, the next item the later one again
SIGNS = linalg.hadamard(32)[1 : ITEMS + 2]
FACTORS = 1 + 2**-1.5 * (SIGNS[:-1] - SIGNS[1:])
SURVEY = {
    "y": Y,
    "income": INCOME,
    "sex": np.tile(["m", "f"], ITEMS // 2),
    "PWGTP": WEIGHT,
    **{f"PWGTP{r + 1}": WEIGHT * FACTORS[:, r] for r in range(32)},
}
NAMES = {"prediction": "", "weight": "PWGTP", "replicate_weights": "PWGTP*"}


def weighted(values, weight):
    return (weight * values).sum() / weight.sum()


def successive(values, rows=slice(None)):
    """Estimate and standard error as the Census Bureau writes them."""
    full = weighted(values[rows], WEIGHT[rows])
    replicated = [weighted(values[rows], (WEIGHT * factor)[rows]) for factor in FACTORS.T]
    return full, np.sqrt(4 / 32 * np.sum((np.array(replicated) - full) ** 2))


def rows_of(frame, metrics=None, method="auto", **names):
    items = wb.load_labeled(frame, **{"prediction": "", "truth": "y"} | names)
    return wb.estimate_metrics(items, metrics, method=method).rows()


# successive differences


def test_the_variance_of_a_total_is_half_the_squared_differences_of_neighbors():
    """With orthogonal rows the coefficients 4/R make it sum (z_i - z_(i-1))^2 / 2, z_0 = z_(n+1) = 0."""
    made = wb.imported_replicates(WEIGHT, WEIGHT[:, None] * FACTORS, method="sdr")
    found = wb.replicate_estimate(made, "total", INCOME)
    differences = np.diff(np.concatenate([[0], WEIGHT * INCOME, [0]]))
    assert found.variance == pytest.approx((differences**2).sum() / 2, rel=1e-9)
    assert made.coefficients.tolist() == [4 / 32] * 32


def test_a_proportion_and_a_mean_by_successive_differences():
    rows = rows_of(SURVEY, "proportion mean", "sdr", **NAMES)
    assert [(row["metric"], row["label"]) for row in rows] == [
        ("proportion", "y = 1"),
        ("mean", "y"),
    ]
    for row in rows:
        assert (row["estimate"], row["standard_error"]) == pytest.approx(successive(Y), rel=1e-9)
        assert row["low"] < row["estimate"] < row["high"]
    (row,) = rows_of(SURVEY, "mean", "sdr", **NAMES | {"truth": "income"})
    assert (row["estimate"], row["standard_error"]) == pytest.approx(successive(INCOME), rel=1e-9)
    effective_items = WEIGHT.sum() ** 2 / (WEIGHT**2).sum()
    half = stats.t.ppf(0.975, effective_items * (1 - 1 / ITEMS)) * row["standard_error"]
    assert (row["low"], row["high"]) == pytest.approx(
        (row["estimate"] - half, row["estimate"] + half)
    )


def test_groups_have_the_mean_of_their_items():
    rows = rows_of(SURVEY, "mean", "sdr", **NAMES | {"truth": "income", "group": "sex"})
    assert [row["group"] for row in rows] == [None, "f", "m"]
    for row in rows[1:]:
        expected = successive(INCOME, SURVEY["sex"] == row["group"])
        assert (row["estimate"], row["standard_error"]) == pytest.approx(expected, rel=1e-9)


def test_a_replicate_weight_below_0_is_taken_by_successive_differences_alone():
    replicated = WEIGHT[:, None] * FACTORS
    replicated[3, 5] = -7
    made = wb.imported_replicates(WEIGHT, replicated, method="sdr")
    found = wb.replicate_estimate(made, "mean", INCOME)
    values = np.array([weighted(INCOME, column) for column in replicated.T])
    error = np.sqrt(4 / 32 * np.sum((values - weighted(INCOME, WEIGHT)) ** 2))
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    with pytest.raises(ValueError, match="finite and at least 0; item 3 replicate 5 is -7$"):
        wb.imported_replicates(WEIGHT, replicated, method="brr")
    replicated[3, 5] = np.nan
    with pytest.raises(ValueError, match="finite and at least 0; item 3 replicate 5 is nan$"):
        wb.imported_replicates(WEIGHT, replicated, method="sdr")


@pytest.mark.parametrize(
    ("weight", "pattern"), [("PWGTP", "PWGTP*"), ("pwgtp", "PWGTP*"), ("PWGTP", "pwgtp*")]
)
def test_the_weight_is_no_replicate_however_it_is_typed(weight, pattern):
    items = wb.load_labeled(
        SURVEY, truth="y", prediction="", weight=weight, replicate_weights=pattern
    )
    assert items.replicate_weights.shape == (ITEMS, 32)


def test_a_pattern_that_leaves_replicates_out_is_refused():
    with pytest.raises(
        ValueError,
        match=r"^replicate_weights must match every replicate; 'PWGTP\?' matches 9 columns and "
        "leaves out 'PWGTP10', 'PWGTP11', 'PWGTP12' and 20 more$",
    ):
        wb.load_labeled(SURVEY, truth="y", **NAMES | {"replicate_weights": "PWGTP?"})


# means of a sample of single items


def halls_limits(values, error, level=0.95, free=1.0):
    """Outer limits of Student's t and of the roots of Hall's transformation, third moment by scipy."""
    n = values.size
    t = stats.t.ppf((1 + level) / 2, n - 1)
    skew = free**1.5 * stats.kstat(values, 3) / n**2 / error**3

    def root(x):
        cubic = [skew**2 / 27, skew / 3, 1, skew / 6 - x]
        return optimize.brentq(lambda at: np.polyval(cubic, at), -99, 99)

    return values.mean() - error * max(t, root(t)), values.mean() - error * min(-t, root(-t))


@pytest.mark.parametrize(("population", "decimals"), [(None, 1), (60, 2)])
def test_the_mean_of_a_simple_random_sample(population, decimals):
    free = 1.0 if population is None else 1 - ITEMS / population
    error = np.sqrt(free * INCOME.var(ddof=1) / ITEMS)
    frame = {"y": INCOME, "w": np.full(ITEMS, 2.5), "fpc": np.full(ITEMS, population or 1)}
    names = {"weight": "w"} | ({"fpc": "fpc"} if population else {})
    items = wb.load_labeled(frame, truth="y", prediction="", **names)
    found = wb.estimate_metrics(items)
    (row,) = found.rows()
    assert (row["metric"], row["df"]) == ("mean", ITEMS - 1)
    assert (row["estimate"], row["standard_error"]) == pytest.approx((INCOME.mean(), error))
    assert (row["low"], row["high"]) == pytest.approx(halls_limits(INCOME, error, free=free))
    half = stats.t.ppf(0.975, ITEMS - 1) * error
    t = INCOME.mean() - half, INCOME.mean() + half
    assert tuple(found.estimates[0].interval(method="t")) == pytest.approx(t)
    assert (
        f"the interval by Student's t alone is {t[0]:.{decimals}f} to {t[1]:.{decimals}f}"
        in str(found.notes)
    )
    assert found.finding().startswith(
        f"Mean of y {INCOME.mean():.{decimals}f} (95% confidence interval "
    )
    assert "so the mean of column 'y' was estimated" in str(found.notes)


@pytest.mark.parametrize(("spread", "coverage"), [(1, 0.94), (2, 0.88)])
def test_coverage_of_skewed_means_is_what_the_note_says(spread, coverage):
    values = np.random.default_rng(0).lognormal(0, spread, (10_000, 30))
    mean, error = values.mean(1), values.std(1, ddof=1) / 30**0.5
    skew = stats.kstat(values, 3, axis=1) / 30**2 / error**3
    t = stats.t.ppf(0.975, 29)
    up, down = (3 / skew * (np.cbrt(1 + skew * (x - skew / 6)) - 1) for x in (t, -t))
    truth = np.exp(spread**2 / 2)
    low, high = mean - np.maximum(t, up) * error, mean - np.minimum(-t, down) * error
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(coverage, abs=0.008)
    note = wb.replicate_estimate(
        wb.replicates(wb.SurveyDesign([0] * ITEMS), "jkn"), "mean", INCOME
    ).notes[0]
    assert re.search(f"in {coverage:.0%} (of samples )?with log-sd {spread}", note.text)


def test_it_is_the_interval_of_values_without_bounds():
    strata = wb.load_strata({"stratum": ["all"], "size": [60], "sd": [1.0]})
    values = wb.estimate_values(strata, ["all"] * ITEMS, INCOME)
    made = wb.replicates(wb.SurveyDesign([0] * ITEMS, fpc=[60] * ITEMS), "jkn")
    for level in (0.8, 0.95):
        found = wb.replicate_estimate(made, "mean", INCOME).interval(level)
        assert tuple(found) == pytest.approx(tuple(values.interval(level)), rel=1e-9)
        assert found.method == "default: t, Hall"


def test_unequal_weights_and_clusters_keep_students_t():
    for design in ({"weight": WEIGHT}, {"psu": np.arange(ITEMS) // 2}):
        made = wb.replicates(wb.SurveyDesign([0] * ITEMS, **design), "jkn")
        found = wb.replicate_estimate(made, "mean", INCOME)
        half = stats.t.ppf(0.975, found.effective_df) * found.standard_error
        assert found.interval().method == "default: t"
        assert found.interval().high == pytest.approx(found.estimate + half)


def test_the_mean_of_clusters_in_strata():
    """Equal weights and sizes: the textbook variance of the means of the clusters."""
    stratum, cluster = np.repeat([0, 1], 12), np.arange(ITEMS) // 3
    frame = {"y": INCOME, "stratum": stratum, "cluster": cluster}
    (row,) = rows_of(frame, "mean", psu="cluster")
    means = INCOME.reshape(8, 3).mean(1).reshape(2, 4)
    variance = (means.var(axis=1, ddof=1) / 4).sum() / 4
    assert (row["estimate"], row["standard_error"]) == pytest.approx(
        (INCOME.mean(), np.sqrt(variance))
    )
    items = wb.load_labeled(frame, truth="y", prediction="", psu="cluster")
    clusters = items.clusters()
    assert [each["mean"] for each in clusters] == pytest.approx(means.ravel())
    figure = charts.psu_plot(clusters)
    title, words = figure.title, figure.alternative
    assert title.startswith(f"Mean from {means.min():.4g} to {means.max():.4g} in 8 clusters; ")
    assert words.startswith("Mean of 8 clusters")
    charts.psu_plot(clusters).to_dict()


def test_a_census_has_no_error_and_equal_values_no_interval():
    frame = {"y": INCOME, "fpc": np.full(ITEMS, ITEMS)}
    items = wb.load_labeled(frame, truth="y", prediction="", fpc="fpc")
    found = wb.estimate_metrics(items, "mean")
    (row,) = found.rows()
    assert row["low"] == row["estimate"] == row["high"] == pytest.approx(INCOME.mean())
    assert "no bounds" not in str(found.notes) and "not knowledge" not in str(found.notes)
    alike = {"y": [5.5] * 20 + [6.5] * 20, "g": ["a"] * 20 + ["b"] * 20}
    items = wb.load_labeled(alike, truth="y", prediction="", group="g")
    found = wb.estimate_metrics(items, "mean")
    assert len(found.rows()) == 1
    assert "the mean is 5.5 in every replicate" in str(found.notes)
    with pytest.raises(ValueError, match="the mean is 1 in every replicate, .* no interval"):
        rows_of({"y": [1] * 20}, "mean")


# proportions


def test_a_proportion_of_single_items_is_exact():
    answers = np.where(Y == 1, "yes", "no")
    hits = int(Y.sum())
    expected = tuple(stats.binomtest(hits, ITEMS).proportion_ci())
    for frame, names, label in (
        ({"y": Y}, {}, "y = 1"),
        ({"y": Y == 1}, {}, "y = 1"),
        ({"answer": answers}, {"truth": "answer", "positive": "yes"}, "answer = yes"),
        ({"y": Y + 1}, {"positive": "2"}, "y = 2"),
    ):
        (row,) = rows_of(frame, **names)
        assert (row["metric"], row["label"]) == ("proportion", label)
        assert (row["estimate"], row["low"], row["high"]) == pytest.approx(
            (hits / ITEMS, *expected)
        )


def test_without_a_positive_class_every_class_has_its_proportion():
    grade = RNG.choice(list("abcde"), 60)
    rows = rows_of({"y": grade})
    assert [row["label"] for row in rows] == [f"y = {name}" for name in "abcde"]
    assert [row["estimate"] for row in rows] == pytest.approx(
        [np.mean(grade == n) for n in "abcde"]
    )
    with pytest.raises(
        ValueError,
        match="^proportion takes at most 100 classes, and column 'y' has 120: name the positive",
    ):
        rows_of({"y": np.arange(120) / 7}, "proportion")


def test_no_item_of_the_class_is_a_proportion_of_0():
    (row,) = rows_of({"y": [0] * 30})
    assert (row["label"], row["estimate"], row["low"]) == ("y = 1", 0, 0)
    assert row["high"] == pytest.approx(1 - 0.025 ** (1 / 30))
    (row,) = rows_of({"y": ["yes"] * 30}, positive="yes")
    assert (row["low"], row["high"]) == pytest.approx((0.025 ** (1 / 30), 1))


def test_a_proportion_stands_beside_an_accuracy():
    frame = {"truth": [1, 1, 0, 0, 1], "prediction": [1, 0, 0, 0, 1]}
    found = wb.estimate_metrics(wb.load_labeled(frame), "accuracy proportion mean")
    assert [(row["label"], row["estimate"]) for row in found.rows()] == [
        (None, pytest.approx(0.8)),
        ("truth = 1", pytest.approx(0.6)),
        ("truth", pytest.approx(0.6)),
    ]


@pytest.mark.parametrize("metric", ["mean", "proportion"])
def test_models_do_not_differ_in_what_is_true(metric):
    frame = {"truth": [1, 1, 0, 0, 1], "old": [1, 0, 0, 0, 1], "new": [1, 1, 0, 0, 1]}
    items = wb.load_labeled(frame, prediction="old,new")
    with pytest.raises(ValueError, match="must be computed from the predictions or scores of a"):
        wb.compare_metrics(items, metric)


def test_predicted_positives_alone_show_no_proportion():
    frame = {"truth": [1, 1, 0, 1], "prediction": [1, 1, 1, 1]}
    with pytest.raises(
        ValueError, match="proportion of 1 cannot be estimated, because every labeled item is pred"
    ):
        wb.estimate_metrics(wb.load_labeled(frame), "proportion")


def test_clusters_of_a_proportion_are_drawn_as_percentages():
    frame = {"y": ["yes", "no", "no", "no"] * 3, "c": np.arange(12) // 2}
    items = wb.load_labeled(frame, truth="y", prediction="", psu="c", positive="yes")
    rows = items.clusters()
    assert [row["share"] for row in rows] == [0.5, 0] * 3
    figure = charts.psu_plot(rows)
    title, words = figure.title, figure.alternative
    assert title.startswith("Proportion from 0.0% to 50.0% in 6 clusters") and words.startswith(
        "Proportion of 6"
    )
    assert wb.load_labeled(frame, truth="y", prediction="", psu="c").clusters() == []


# reading


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,234.5", "2", "7"], [1234.5, 2, 7]),
        (["5,9", "1,25", "3"], [5.9, 1.25, 3]),
        (["1 500", "2", "NA"], [1500, 2]),
        (["True", "false", ""], [1, 0]),
    ],
)
def test_numbers_are_read_as_people_write_them(cells, values):
    items = wb.load_labeled({"y": np.array(cells, object)}, truth="y", prediction="")
    assert items.truth.tolist() == values


@pytest.mark.parametrize(
    ("frame", "metrics", "message"),
    [
        (
            {"y": ["5", "12%"]},
            "mean",
            "mean needs numbers; column 'y': '12%' is not a number. Correct the cell. The metric "
            "'proportion' takes text",
        ),
        (
            {"y": ["1,234", "2,345"]},
            "mean",
            "mean needs numbers; column 'y': '1,234' may be 1234 or 1.",
        ),
        (
            {"y": ["01", "1"]},
            "proportion",
            "column 'y' writes one number in two ways, '01' in data",
        ),
        ({"y": [1.5]}, "mean", "items must hold at least 2 labeled items; there is 1"),
        ({"y": [1, 0]}, "accuracy", "accuracy needs a prediction: name its column"),
        (
            {"y": [*range(1, 13), 78]},
            "mean",
            "column 'y', data row 13: 78 is the sum of all rows above: delete this row of totals",
        ),
    ],
)
def test_what_has_no_mean_is_refused(frame, metrics, message):
    frame = {name: np.array(cells, object) for name, cells in frame.items()}
    with pytest.raises(ValueError) as caught:
        rows_of(frame, metrics)
    assert str(caught.value).startswith(message)


def test_weights_in_a_row_of_totals_are_refused_and_large_weights_are_not():
    weight = np.array([*range(1, 13), 78.0])
    with pytest.raises(ValueError, match="column 'w', data row 13: 78 is the sum of all rows abo"):
        rows_of({"y": [0, 1] * 6 + [0], "w": weight}, weight="w")
    rows_of({"y": [0, 1] * 6 + [0], "w": weight + 0.5}, weight="w")
    rows_of({"y": [0] * 11 + [1, 1]})
    rows_of({"y": [0, 1, 3], "w": [1, 2, 3]}, weight="w")


def test_headlines_of_values_and_of_classes():
    values = wb.load_labeled({"y": INCOME}, truth="y", prediction="")
    low, high = INCOME.min(), INCOME.max()
    assert values.headline() == f"24 items, y from {low:g} to {high:g}"
    assert values.rows() == [
        {
            "items": 24,
            "mean": pytest.approx(INCOME.mean()),
            "sd": pytest.approx(np.std(INCOME, ddof=1)),
        }
    ]
    some = wb.load_labeled({"y": [None, 2.5, 7]}, truth="y", prediction="")
    assert some.headline() == "2 items of 3 rows, y from 2.5 to 7"
    classes = wb.load_labeled({"y": Y}, truth="y", prediction="")
    assert classes.headline() == f"24 labeled items, 2 classes, {Y.mean():.1%} of class 1"


# the report


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    lines = [f"{y},{income},{w:g}" for y, income, w in zip(Y, INCOME, WEIGHT, strict=True)]
    path.write_text("\n".join(["y,income,w", *lines]) + "\n")
    return str(path)


def test_the_report_needs_no_prediction_for_metrics_of_the_truth(survey):
    for metrics in ("mean", "proportion, median"):
        assert read(items=survey, truth="y", weight="w", metrics=metrics).prediction is None
    with pytest.raises(
        ValueError, match="survey.csv' has no column 'prediction'; available columns: 'y', 'inc"
    ):
        read(items=survey, truth="y", weight="w", metrics="mean accuracy")


def test_the_report_asks_for_a_prediction_while_another_column_may_be_one(survey, tmp_path):
    with pytest.raises(
        ValueError,
        match="^prediction must name the column of predicted classes; the file has 'y', 'income', "
        "'w'. For the mean or the proportions of 'y' alone, use --metrics mean or --metrics prop",
    ):
        read(items=survey, truth="y", weight="w")
    assert read(items=survey, truth="y", weight="w", prediction="").truth_alone
    path = tmp_path / "alone.csv"
    path.write_text("Y,w,w1,w2\n1,2,4,0\n0,2,0,4\n")
    names = {"weight": "W", "replicate_weights": "w?", "method": "sdr"}
    assert read(items=str(path), truth="y", **names).truth_alone
