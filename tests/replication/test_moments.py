"""Kappa, MCC, balanced accuracy, Brier score, log loss, RMSE, correlation, median; against scikit-learn."""

import json

import documented
import metric_coverage
import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

import workbench as wb
from workbench.charts import replication as charts
from workbench.charts.replication import intervals
from workbench.replication import estimates, metrics
from workbench.replication.identification import identification_candidates, identification_ranks
from workbench.replication.macro import mean_of_classes
from workbench.replication.statistics import METRICS

RNG = np.random.default_rng(0)
SIZE = 240
TRUTH = RNG.integers(0, 3, SIZE)
PREDICTION = np.where(RNG.random(SIZE) < 0.7, TRUTH, RNG.integers(0, 3, SIZE))
SCORE = RNG.uniform(0.02, 0.98, SIZE).round(3)
POSITIVE = (RNG.random(SIZE) < SCORE).astype(int)
NUMBER = RNG.normal(50, 10, SIZE).round(2)
PREDICTED = (NUMBER + RNG.normal(0, 5, SIZE)).round(2)
WEIGHT = RNG.integers(1, 4, SIZE).astype(float)
DESIGN = wb.SurveyDesign(np.repeat(np.arange(12), 20), psu=np.arange(SIZE) // 4, weight=WEIGHT)


def weighted_correlation(x, y, *, sample_weight):
    return (
        np.cov(x, y, aweights=sample_weight)[0, 1]
        / np.prod([np.cov(column, aweights=sample_weight) for column in (x, y)]) ** 0.5
    )


def weighted_median(y, *, sample_weight):
    return np.quantile(np.repeat(y, sample_weight.astype(int)), 0.5, method="inverted_cdf")


ORACLES = {
    "kappa": (sk.cohen_kappa_score, (TRUTH, PREDICTION)),
    "mcc": (sk.matthews_corrcoef, (TRUTH, PREDICTION)),
    "balanced_accuracy": (sk.balanced_accuracy_score, (TRUTH, PREDICTION)),
    "brier": (sk.brier_score_loss, (POSITIVE, SCORE)),
    "log_loss": (sk.log_loss, (POSITIVE, SCORE)),
    "rmse": (sk.root_mean_squared_error, (NUMBER, PREDICTED)),
    "correlation": (weighted_correlation, (NUMBER, PREDICTED)),
    "median": (weighted_median, (NUMBER,)),
}
SMOOTH = [name for name in ORACLES if name != "median"]


def estimated(name, design, *columns, method="generalized", **more):
    function = wb.replicate_estimate if METRICS[name].is_one else mean_of_classes
    return function(wb.replicates(design, method), name, *columns, **more)


@pytest.mark.parametrize("name", ORACLES)
def test_estimates_are_those_of_others(name):
    function, columns = ORACLES[name]
    assert estimated(name, DESIGN, *columns).estimate == pytest.approx(
        function(*columns, sample_weight=WEIGHT), 1e-12
    )
    domain = np.arange(SIZE) % 3 > 0
    part = [column[domain] for column in columns]
    assert estimated(name, DESIGN, *columns, domain=domain).estimate == pytest.approx(
        function(*part, sample_weight=WEIGHT[domain]), 1e-12
    )
    equal = np.ones(SIZE)
    assert metrics.naive(name, *columns)[0] == pytest.approx(
        function(*columns, sample_weight=equal), 1e-12
    )


@pytest.mark.parametrize("name", SMOOTH)
def test_the_variance_is_that_of_leaving_clusters_out(name):
    """By hand with scikit-learn: one PSU after another gets weight 0, those of its stratum 5/4 (five PSUs each)."""
    function, columns = ORACLES[name]
    full, psu, stratum = (
        function(*columns, sample_weight=WEIGHT),
        np.arange(SIZE) // 4,
        np.arange(SIZE) // 20,
    )
    values = []
    for left in range(60):
        weight = np.where(psu == left, 0, np.where(stratum == left // 5, 1.25, 1) * WEIGHT)
        values.append(function(*columns, sample_weight=weight))
    found = estimated(name, DESIGN, *columns, method="jkn")
    assert found.variance == pytest.approx(0.8 * np.sum((np.array(values) - full) ** 2), rel=1e-9)


@pytest.mark.parametrize("name", SMOOTH)
def test_naive_errors_are_those_of_leaving_items_out(name):
    function, columns = ORACLES[name]
    values = np.array(
        [
            function(*(np.delete(column, k) for column in columns), sample_weight=np.ones(SIZE - 1))
            for k in range(SIZE)
        ]
    )
    jackknife = (SIZE - 1) / SIZE * ((values - values.mean()) ** 2).sum()
    assert metrics.naive(name, *columns)[1] == pytest.approx(jackknife**0.5, rel=0.03)


def test_the_naive_error_of_a_median_is_that_of_normal_values():
    """sqrt(pi / 2) sigma / sqrt(n), of values as evenly drawn as can be."""
    values = stats.norm(50, 10).ppf((np.arange(10_001) + 0.5) / 10_001)
    assert metrics.naive("median", values) == pytest.approx(
        (50, (np.pi / 2) ** 0.5 * 10 / 10_001**0.5), rel=0.01
    )


@pytest.mark.parametrize("name", ["kappa", "mcc", "correlation", "rmse"])
def test_first_order_values_are_what_a_little_more_weight_adds(name):
    function, columns = ORACLES[name]
    moments = METRICS[name].moments(*columns, SIZE)
    values, possible = moments.linear(WEIGHT)
    full, step = function(*columns, sample_weight=WEIGHT), 1e-6
    assert WEIGHT @ values / WEIGHT.sum() == pytest.approx(full, rel=1e-12)
    for item in (0, 7, 100):
        more = function(
            *columns, sample_weight=WEIGHT + step * WEIGHT.sum() * (np.arange(SIZE) == item)
        )
        assert (more - full) / step == pytest.approx(values[item] - full, rel=1e-3, abs=1e-4)
    if possible is not None:
        assert (values.min(), values.max()) == pytest.approx(
            possible, rel=1e-12
        )  # every pair of classes is there


def test_limits_of_a_correlation_are_fishers():
    """t standard errors of artanh r, each 1 / (1 - r^2) of one of r."""
    found = estimated("correlation", DESIGN, NUMBER, PREDICTED)
    reach = stats.t.ppf(0.975, found.effective_df) * found.standard_error / (1 - found.estimate**2)
    assert tuple(found.interval()) == pytest.approx(
        np.tanh(np.arctanh(found.estimate) + [-reach, reach]), rel=1e-9
    )


def test_no_error_at_all_leaves_what_an_accuracy_leaves():
    """Ten PSUs of five, all right: accuracy is from .653226 on; of two equal classes kappa is 1 - 2 (1 - accuracy)."""
    truth = np.tile([0, 1, 0, 1, 0, 1, 0, 1, 1, 0], 5)
    design = wb.SurveyDesign(np.zeros(50, int), psu=np.arange(50) // 5)
    for name in ("kappa", "mcc"):
        assert tuple(
            estimated(name, design, truth, truth, method="jkn").interval()
        ) == pytest.approx((1 - 2 * (1 - 0.653226), 1), abs=2e-6)


def test_limits_move_with_the_units():
    for name, columns in (("rmse", (NUMBER, PREDICTED)), ("median", (NUMBER,))):
        low, high = estimated(name, DESIGN, *columns).interval()
        thousandfold = estimated(name, DESIGN, *(1000 * column for column in columns)).interval()
        assert (
            tuple(thousandfold) == pytest.approx((1000 * low, 1000 * high), rel=1e-9)
            and 0 < low < high
        )
    low, high = estimated("correlation", DESIGN, NUMBER, PREDICTED).interval()
    turned = estimated("correlation", DESIGN, NUMBER, 3 - 2 * PREDICTED).interval()
    assert tuple(turned) == pytest.approx((-high, -low), rel=1e-9)
    middle = np.tanh(np.mean(np.arctanh([low, high])))
    assert middle == pytest.approx(
        estimated("correlation", DESIGN, NUMBER, PREDICTED).estimate, rel=1e-9
    )


@pytest.mark.parametrize("n", [10, 15, 25, 60])
def test_a_median_of_separate_items_is_covered_whatever_they_are(n):
    """Its limits are ranks, so that binomial chances decide: below the median lies each item with chance one half."""
    low, high = estimated(
        "median", wb.SurveyDesign(np.zeros(n, int)), np.arange(n)[::-1], method="jkn"
    ).interval()
    covered = stats.binom.cdf(high, n, 0.5) - stats.binom.cdf(low, n, 0.5)
    assert 0.93 < covered <= 0.99


@pytest.mark.parametrize("method", ["generalized", "jkn"])
def test_the_error_of_a_median_is_that_of_its_rank(method):
    """Woodruff's: half of the values one standard error of the share below the median apart."""
    values = np.arange(101)[::-1]
    found = estimated("median", wb.SurveyDesign(np.zeros(101, int)), values, method=method)
    share_error = np.sqrt(0.25 / 101)
    below = np.arange(1, 102) / 101
    low, high = np.searchsorted(below, [0.5 - share_error, 0.5 + share_error])
    assert found.standard_error == (high - low) / 2 == 5
    assert not [note for note in found.notes if "jackknife" in note.text]


def test_the_error_of_a_median_is_that_of_other_samples():
    """Of 400 normal values sqrt(pi / 2) / 20, also where a jackknife would jump between two values."""
    rng = np.random.default_rng(3)
    design = wb.SurveyDesign(np.zeros(400, int))
    errors = [
        estimated("median", design, rng.standard_normal(400)).standard_error for _ in range(20)
    ]
    assert np.mean(errors) == pytest.approx(np.sqrt(np.pi / 2) / 20, rel=0.1)
    assert np.std(errors) < 0.4 * np.mean(errors)


def test_equal_values_lie_half_below_their_median():
    low, high = estimated(
        "median", wb.SurveyDesign(np.zeros(40, int)), [1] * 4 + [2] * 32 + [3] * 4
    ).interval()
    assert (low, high) == (2, 2)


@pytest.mark.parametrize(
    "name, columns, message",
    [
        ("brier", ([0, 1], [0.2, 1.2]), "score must be at most 1; entry 1 is 1.2"),
        (
            "log_loss",
            ([0, 1], [0.2, 0]),
            "score must not give an item's true class the probability 0: its log loss is infinite; "
            "item 1 is 0",
        ),
        ("rmse", (["a", "b"], ["a", "b"]), "truth must hold numbers; got <U1 such as "),
        (
            "kappa",
            (["a", "b"], [1, 2]),
            "truth and prediction must both be text or both numbers; got 'a' and 1",
        ),
        ("kappa", ([1, 1], [1, 1]), "kappa is undefined: it needs two classes or values"),
        (
            "correlation",
            ([1, 1], [1, 2]),
            "correlation is undefined: it needs two classes or values",
        ),
    ],
)
def test_mistakes_are_told(name, columns, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        estimated(name, wb.SurveyDesign([0, 0]), *map(np.array, columns))
    assert message in str(caught.value)


def test_many_classes_are_refused():
    with pytest.raises(
        ValueError, match="^kappa and mcc take at most 100 classes; got 101: use accuracy$"
    ):
        estimated("mcc", wb.SurveyDesign(np.zeros(101, int)), np.arange(101), np.arange(101))


def test_a_file_with_every_column_gives_the_table(tmp_path):
    rows = zip(
        POSITIVE, POSITIVE ^ (RNG.random(SIZE) < 0.1), SCORE, np.arange(SIZE) // 4, strict=True
    )
    text = "truth,prediction,score,box\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "items.csv").write_text(text)
    labeled = wb.load_labeled(str(tmp_path / "items.csv"), score="score", psu="box")
    found = wb.estimate_metrics(labeled, "kappa accuracy brier log_loss median mcc")
    table = {row["metric"]: row for row in found.rows()}
    assert table["brier"]["estimate"] == pytest.approx(sk.brier_score_loss(POSITIVE, SCORE), 1e-12)
    assert table["log_loss"]["estimate"] == pytest.approx(sk.log_loss(POSITIVE, SCORE), 1e-12)
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in table.values())
    assert "log_loss" in {
        note.where[1] for note in found.notes if note.kind == "assumption" and note.where
    }
    assert found.finding().count("%") == 1  # of the level
    assert found.finding().startswith("Kappa 0.")
    drawn = {row["name"] for row in intervals.metrics(found).data["metrics"]}
    assert (
        drawn == {"kappa", "log loss", "median", "MCC"}
        and "4 of 6 shown" in intervals.metrics(found).title
    )
    charts.metrics(found).to_dict()
    charts.replicate_plot(found.estimates[0]).to_dict()
    again = wb.Result.from_dict(found.to_dict())
    assert again.rows() == found.rows()


@pytest.fixture
def recognized(tmp_path):
    """A file of five candidates among twenty classes, and the ranks of the true ones by similarity."""
    similarity, truth = RNG.normal(size=(200, 20)), RNG.integers(0, 20, 200)
    similarity[np.arange(200), truth] += 1.5
    listed = identification_candidates(similarity, 5)
    header = "truth,site," + ",".join(f"candidate_{k}" for k in range(1, 6))
    rows = [
        f"p{true},{item // 10}," + ",".join(f"p{name}" for name in names)
        for item, (true, names) in enumerate(zip(truth, listed, strict=True))
    ]
    (tmp_path / "faces.csv").write_text("\n".join([header, *rows]) + "\n")
    return str(tmp_path / "faces.csv"), identification_ranks(similarity, truth)


def test_ranks_of_candidate_lists_are_those_of_the_similarities(recognized):
    file, ranks = recognized
    found = wb.estimate_metrics(wb.load_labeled(file, psu="site"))
    rows = found.rows()
    assert [row["metric"] for row in rows] == ["accuracy", *["identified"] * 5]
    assert [row["estimate"] for row in rows] == pytest.approx(
        [np.mean(ranks <= k) for k in (1, 1, 2, 3, 4, 5)], 1e-12
    )
    made = wb.replicates(
        wb.SurveyDesign(np.zeros(200, int), psu=np.arange(200) // 10), "generalized"
    )
    one = wb.replicate_estimate(made, "proportion", ranks <= 3)
    assert (rows[3]["low"], rows[3]["high"]) == pytest.approx(tuple(one.interval()), rel=1e-12)
    assert "Identified by rank 3" in found._repr_html_()


def test_a_mean_rank_takes_all_ranks(recognized):
    file, ranks = recognized
    labeled = wb.load_labeled(file)
    first = int(np.flatnonzero(ranks > 5)[0])
    with pytest.raises(
        ValueError,
        match="^mean_rank needs every true class among the candidates; that of item "
        f"{first} is not$",
    ):
        wb.estimate_metrics(labeled, "mean_rank")
    kept = ranks <= 5
    some = wb.LabeledItems(
        **vars(labeled)
        | {
            name: vars(labeled)[name][kept]
            for name in ("truth", "prediction", "stratum", "candidates")
        }
    )
    found = wb.estimate_metrics(some, "mean_rank").estimates[0]
    made = wb.replicates(wb.SurveyDesign(np.zeros(kept.sum(), int)), "generalized")
    mean = wb.replicate_estimate(made, "mean", ranks[kept], bounds=(1, 5))
    assert found.estimate == pytest.approx(ranks[kept].mean(), rel=1e-12)
    assert tuple(found.interval()) == pytest.approx(tuple(mean.interval()), rel=1e-12)


def test_candidates_that_are_not_there_are_told(recognized):
    with pytest.raises(
        ValueError, match="^candidates must match a column; 'guess_.' matches none$"
    ):
        wb.load_labeled(recognized[0], candidates="guess_*".replace("*", "?"))
    with pytest.raises(
        ValueError, match="^identified needs a list of candidates: name its column$"
    ):
        wb.estimate_metrics(wb.digit_forms().labeled(), "identified")


def test_notes_say_what_was_covered():
    recorded = {
        name: found["metrics"]
        for name, found in json.loads(metric_coverage.RECORD.read_text()).items()
    }
    heavy = {name for name in recorded if name.startswith("heavy")}
    usual = [
        found[metric]["coverage"]
        for name, found in recorded.items()
        for metric in ("log_loss", "rmse")
        if metric == "log_loss" or name not in heavy | {"few"}
    ]
    few, tails = (
        recorded["few"]["rmse"]["coverage"],
        min(recorded[name]["rmse"]["coverage"] for name in heavy),
    )
    assert (
        f"in {min(usual):.0%} to {max(usual):.0%} of samples. It covered an RMSE in {few:.0%} with 12 clusters, "
        f"and in {tails:.0%} with heavy-tailed errors"
    ) in estimates.UNBOUNDED["positive"]
    correlations = {name: found["correlation"]["coverage"] for name, found in recorded.items()}
    assert min(correlations, key=correlations.__getitem__) in heavy
    low, high = min(correlations.values()), max(correlations.values())
    assert (
        f"in {low:.0%} to {high:.0%} of samples, least with heavy"
        in estimates.UNBOUNDED["correlation"]
    )
    least = min(
        found[metric]["coverage"]
        for found in recorded.values()
        for metric in metric_coverage.MEASURED
        if metric not in ("log_loss", "rmse", "correlation")
    )
    said = documented.said()
    assert (
        f"11 kinds of clustered samples, 1,000 runs each: least {least:.3f}".replace("0.", ".")
        in said
    )
    note = estimated("rmse", DESIGN, NUMBER, PREDICTED).notes[-1]
    assert note.text == estimates.UNBOUNDED["positive"] and note.kind == "assumption"


def test_intervals_cover_as_recorded():
    recorded = json.loads(metric_coverage.RECORD.read_text())
    assert set(recorded) == set(metric_coverage.FAMILIES)
    for found in recorded.values():
        assert set(found["metrics"]) == set(metric_coverage.MEASURED) and found["runs"] >= 1000
    again = metric_coverage.covered("one by one", 30)["metrics"]
    for name, row in recorded["one by one"]["metrics"].items():
        assert again[name]["coverage"] > row["coverage"] - 0.16 and again[name][
            "truth"
        ] == pytest.approx(row["truth"])
