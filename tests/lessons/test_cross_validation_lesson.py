"""Lesson 5 shows the numbers it tells a learner to discover, in the widgets and not only in the library."""

import contextlib
import doctest
import io
import json
import re
from pathlib import Path

import code_cells
import ipywidgets
import numpy as np
import pytest
from panels import controls, heading, printed, rows, settle, status
from refusals import refused
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import workbench as wb
from workbench.charts.cross_validation import studies as charts
from workbench.course import clerks
from workbench.cross_validation.learners import (
    Samples,
    gaussian_population,
    nearest_centroid,
    nearest_neighbor,
)
from workbench.extras.compare import lesson
from workbench.lessons.cross_validation import views as live
from workbench.widgets import ChartView, questions
from workbench.widgets.saved_answers import SavedAnswers

DIGITS, DIGIT = load_digits(return_X_y=True)
COLUMN = np.arange(64) % 8
ROOT = Path(__file__).parents[2]
D = np.array([0.1, 0.1, -0.05, 0.15, 0, 0.2, 0.25, 0.05, 0.05, 0])


def wrong(model, row, fold, columns=slice(None)):
    """0/1 losses of scikit-learn's model, fold by fold."""
    X, y = DIGITS[row][:, columns], DIGIT[row]
    return (cross_val_predict(model, X, y, cv=PredefinedSplit(fold)) != y).astype(float)


def sample(study, n):
    return np.random.default_rng(study).choice(1797, n, replace=False)


# ---------------------------------------------------------------- the story's data


def test_clerks_are_nearest_neighbors_of_half_the_columns():
    cv = wb.clerk_losses(17, repeats=3)
    row, position = sample(17, 100), np.arange(100) % 10
    folds = [position, *(np.random.default_rng((17, r)).permutation(position) for r in (1, 2))]
    assert cv.models == ("clerk A", "clerk B") and cv.repeats == 3 and cv.folds == 10
    assert (
        cv.item.tolist() == np.tile(row, 3).tolist()
        and cv.fold.tolist() == np.concatenate(folds).tolist()
    )
    for k, parity in enumerate((0, 1)):
        seen = np.flatnonzero(COLUMN % 2 == parity)
        expected = np.concatenate(
            [wrong(KNeighborsClassifier(1), row, fold, seen) for fold in folds]
        )
        assert (cv.losses[:, k] == expected).all()


def test_the_hook_is_the_first_study_of_its_kind():
    found = clerks.clerk_studies(0, 972)
    p = found.pvalues("naive t")
    alike = np.isclose(np.abs(found.differences), 0.11) & (p > 0.0395) & (p < 0.0405)
    assert np.flatnonzero(alike).tolist() == [971]
    cv = wb.clerk_losses()
    assert cv.losses.mean(0).tolist() == pytest.approx([0.13, 0.24])
    test = stats.ttest_1samp(cv.fold_means()[0], 0)
    assert f"{test.pvalue:.3f}" == "0.040" and p[971] == pytest.approx(test.pvalue)
    far = (np.abs(found.differences) > 0.11 - 1e-9).mean()
    assert far == pytest.approx(1 / 18, abs=3 * (1 / 18 * 17 / 18 / 972) ** 0.5)
    ten = wb.clerk_losses(repeats=10).fold_means().ravel()
    assert f"{stats.ttest_1samp(ten, 0).pvalue:.0e}" == "5e-09"


@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_ has at least 1 zero")
def test_readers_of_the_improvement_that_the_skeptic_misses():
    cv = wb.reader_losses()
    row, fold = sample(2, 200), np.arange(200) % 10
    assert cv.models == ("averages", "nearest neighbor")
    assert (cv.losses[:, 0] == wrong(NearestCentroid(), row, fold)).all()
    assert (cv.losses[:, 1] == wrong(KNeighborsClassifier(1), row, fold)).all()
    assert cv.losses.mean(0).tolist() == pytest.approx([0.14, 0.055])
    b, c = (cv.series() > 0).sum(), (cv.series() < 0).sum()
    assert (b, c) == (21, 4) and f"{stats.binomtest(4, 25).pvalue:.4f}" == "0.0009"
    assert wb.mcnemar_test(b, c).pvalue == pytest.approx(stats.binomtest(4, 25).pvalue)
    assert sorted(cv.fold_means()[0]) == pytest.approx(sorted(D))


@pytest.mark.parametrize("repeats", [1, 3])
def test_studies_are_those_of_single_losses(repeats):
    found = clerks.clerk_studies(30, 6, 60, repeats)
    for s in range(6):
        cv = wb.clerk_losses(30 + s, 60, repeats=repeats)
        assert found.differences[s] == pytest.approx(cv.series().mean(), abs=1e-12)
        for test, rho in (("naive t", "naive"), ("Nadeau-Bengio", "nadeau_bengio")):
            single = wb.kfold_t_test(cv, rho=rho)
            assert found.pvalues(test)[s] == pytest.approx(single.pvalue)
            assert found.standard_errors(test)[s] == pytest.approx(single.standard_error)
    assert found.rows()[2]["study"] == 32 and len(found.rows()) == 6


def test_studies_are_those_of_the_simulation():
    seen = [("1nn", np.flatnonzero(COLUMN % 2 == parity)) for parity in (0, 1)]
    study = wb.simulate_comparison(
        "ten_digits", *seen, 100, samples=np.stack([sample(s, 100) for s in range(50)])
    )
    found = clerks.clerk_studies(0, 50)
    assert found.differences == pytest.approx(study.estimates[0], abs=1e-12)
    assert found.pvalues("Nadeau-Bengio") == pytest.approx(study.pvalue("Nadeau-Bengio"))


def test_folds_without_variance_are_no_alarm():
    found = clerks.ClerkStudies(0, 20, 1, np.array([0.1, 0.2]), np.array([0, 0.01]))
    assert np.isnan(found.pvalues("naive t")[0]) and found.alarms("naive t").tolist() == [
        False,
        True,
    ]
    view = ChartView(charts.clerks(found, found, "naive t"))
    assert (
        view.picture["data"]["studies"][0]["low"]
        == view.picture["data"]["studies"][0]["high"]
        == 0.1
    )
    json.dumps(view.picture, allow_nan=False)


def test_studies_survive_a_round_trip():
    found = clerks.clerk_studies(count=40)
    assert repr(wb.Result.from_dict(found.to_dict())) == repr(found)


@pytest.mark.parametrize(
    ("call", "argument", "rule", "told"),
    [
        (lambda: wb.clerk_losses(-1), "study", "must be a whole number of at least 0", "got -1"),
        (lambda: wb.clerk_losses(n=25), "n", "must be a multiple of the 10 folds", "got 25"),
        (lambda: wb.clerk_losses(n=10), "n", "must be a whole number from 20 to 1797", "got 10"),
        (lambda: wb.clerk_losses(repeats=0), "repeats", "must be a whole number of at least 1", "got 0"),
        (lambda: wb.reader_losses(n=1800), "n", "must be a whole number from 20 to 1797", "got 1800"),
        (lambda: clerks.clerk_studies(count=1), "count", "must be a whole number of at least 2", "got 1"),
        (lambda: clerks.equal_models(ahead=0.2), "ahead", "must be a number from 0 to 0.1", "got 0.2"),
        (lambda: clerks.clerk_studies(count=2).pvalues("naive"), "test", "must be one of 'naive t', 'Nadeau-Bengio'", "got 'naive' (did you mean 'naive t'?)"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, argument, rule, told):
    refused(call, argument, rule, told)


# ---------------------------------------------------------------- two clerks


def long_run(panel):
    share, error = heading(panel).split("in the long run ")[1].split(" ± ")
    return float(share[:-1]) / 100, float(error[:-1]) / 100


def test_repeats_turn_equal_clerks_into_false_alarms():
    panel, found = live.two_clerks(), {}
    assert (
        heading(panel)
        == "naive t: 6 of 40 studies call two equal clerks different; in the long run 7.0% ± 1.3%"
    )
    for repeats in (1, 2, 3, 5, 10):
        settle(panel, Repeats=repeats)
        found[repeats], error = long_run(panel)
        assert error == pytest.approx(
            (found[repeats] * (1 - found[repeats]) / 400) ** 0.5, abs=6e-4
        )
    # rates of 4,000 studies with folds dealt in another way
    for repeats, rate in {1: 0.085, 2: 0.23, 3: 0.32, 5: 0.44, 10: 0.59}.items():
        assert found[repeats] == pytest.approx(rate, abs=3 * (rate * (1 - rate) / 400) ** 0.5)
    shown = rows(panel, "studies")
    assert len(shown) == 40 and sum(row["verdict"] == "false alarm" for row in shown) == 27
    for row in shown:
        assert (row["verdict"] == "false alarm") == (row["low"] > 0 or row["high"] < 0)
    settle(panel, Test="Nadeau-Bengio")
    assert long_run(panel)[0] == pytest.approx(0.059, abs=3 * 0.0118)
    settle(panel, Repeats=1)
    assert long_run(panel)[0] == pytest.approx(0.019, abs=3 * 0.0068)


def test_the_estimated_error_falls_and_the_true_error_hardly():
    panel, found = live.two_clerks(), []
    for repeats in (1, 10):
        settle(panel, Repeats=repeats)
        found.append({row["kind"]: row["sd"] for row in rows(panel, "spread")})
    assert found[0] == pytest.approx({"estimated": 0.045, "true": 0.055}, abs=0.001)
    assert found[1] == pytest.approx({"estimated": 0.014, "true": 0.051}, abs=0.001)
    differences = [wb.clerk_losses(s).series().mean() for s in range(400)]
    assert found[0]["true"] == pytest.approx(np.std(differences, ddof=1))


def test_interval_of_a_study_is_that_of_scipy():
    panel = live.two_clerks()
    settle(panel, Studies=360, Forms=50)
    row = rows(panel, "studies")[3]
    means = wb.clerk_losses(363, 50).fold_means()[0]
    assert row["study"] == 4 and row["difference"] == pytest.approx(means.mean())
    assert (row["low"], row["high"]) == pytest.approx(
        stats.ttest_1samp(means, 0).confidence_interval(0.95)
    )


def test_the_block_that_is_shown_first_has_the_most_false_alarms():
    alarms = clerks.clerk_studies().alarms("naive t").reshape(-1, 40).sum(1)
    assert 40 * alarms.argmax() == live.ALARMED and alarms.max() > np.sort(alarms)[-2]


def test_axes_hold_every_setting_or_cut_what_the_title_counts():
    for n, repeats, test in ((50, 1, "Nadeau-Bengio"), (50, 10, "naive t"), (200, 1, "naive t")):
        found = clerks.clerk_studies(0, 400, n, repeats)
        assert np.abs(found.differences).max() < charts.MOST_DIFFERENCE
        assert np.nanmean(found.standard_errors(test)) < charts.MOST_SPREAD
        assert found.alarms(test).mean() < charts.MOST_ALARMS


def test_the_first_picture_asks():
    view, means = live.ten_folds(), wb.clerk_losses().fold_means()[0]
    assert [row["difference"] for row in view.picture["data"]["folds"]] == pytest.approx(
        means.tolist()
    )
    p = stats.ttest_1samp(means, 0).pvalue
    assert "fewer errors than clerk B in 6 folds" in view.alternative
    assert "−11 percentage points" in view.alternative and f"p = {p:.3f}." in view.alternative


# ---------------------------------------------------------------- one slider

HOOK = wb.clerk_losses().fold_means()[0]


@pytest.mark.parametrize(
    "stop, p, r",
    [(0, 0.0399, 0), (10 / 19, 0.1329, 0.1), (0.7, 0.2211, 0.189), (0.95, 0.6045, 0.655)],
)
def test_one_slider_holds_all_tests(stop, p, r):
    panel = live.one_slider()
    belief = controls(panel)["Assumed value"]
    settle(
        panel,
        Assumed=min((value for _, value in belief.options), key=lambda value: abs(value - stop)),
    )
    t = stats.ttest_1samp(HOOK, 0).statistic * (1 - stop) ** 0.5
    assert 2 * stats.t.sf(-t, 9) == pytest.approx(p, abs=5e-5)
    assert f"p {p:.4f}".replace("0.", ".") in heading(panel) and "flips" not in heading(panel)
    assert f"r = {r:.3f} of two folds, t is {t:.3f}, p {p:.4f}" in panel.view.alternative
    low, high = (
        -0.11
        + np.array([-1, 1]) * stats.t.ppf(0.975, 9) * HOOK.std(ddof=1) / (10 * (1 - stop)) ** 0.5
    )
    (bar,) = rows(panel, "mean")
    assert (bar["low"], bar["high"]) == pytest.approx((low, high))
    assert (bar["verdict"] == "differs") == (p < 0.05) == (", significant" in heading(panel))


def test_the_verdict_flips_between_two_stops():
    panel = live.one_slider()
    settle(panel, Assumed=0.111)
    assert ", significant at 5%" in heading(panel)
    settle(panel, Assumed=0.15)
    assert ", not significant at 5%" in heading(panel)


def test_r_is_not_rho():
    panel = live.one_slider()
    settle(panel, Assumed=0.7)
    settle(panel, The_value_is="r")
    assert heading(panel).startswith("rho .959 (r .700): p ")
    assert 10 * 0.7 / (1 + 9 * 0.7) == pytest.approx(0.959, abs=5e-4)
    settle(panel, Assumed=0.1)
    assert heading(panel).startswith("rho .526 (r .100): p .1329")


def test_ten_folds_are_ten_dots():
    found = rows(live.one_slider(), "dots")
    assert [row["difference"] for row in found] == HOOK.tolist()
    assert len({(row["difference"], row["y"]) for row in found}) == 10


# ---------------------------------------------------------------- experiments


@pytest.fixture(scope="module")
def study():
    return live._experiments("1nn", 40)


@pytest.mark.parametrize("rho, offset", [(0, 0), (0.7, 0), (0.7, 0.001), (0.5, -0.002)])
def test_bars_are_all_runs(study, rho, offset):
    mean = study.mean + offset
    bars = charts.experiments(study, rho, mean).data["bars"]
    share = {
        kind: sum(row["high"] - row["low"] for row in bars if row["kind"] == kind)
        for kind in charts.OUTCOMES
    }
    assert sum(share.values()) == pytest.approx(1)
    with np.errstate(divide="ignore"):
        t = (
            (1 - rho) ** 0.5
            * (study.estimates - mean)
            / np.where(study.theta3 > 1e-20, study.theta3, 0) ** 0.5
        )
    beyond = np.abs(t) > stats.t.ppf(0.975, 9)
    assert share["all folds agree"] == pytest.approx(np.isinf(t).mean())
    assert share["rejected"] == pytest.approx((beyond & np.isfinite(t)).mean())
    assert study.type_one(rho, mean=mean) == pytest.approx(beyond.mean())
    assert charts.experiments(study, rho, mean).title.startswith(f"{beyond.mean():.2%} ± ")


def test_density_is_that_of_t(study, monkeypatch):
    found = charts.experiments(study).data["density"]
    t = [row["t"] for row in found]
    assert [row["share"] for row in found] == pytest.approx((stats.t.pdf(t, 9) * 0.1).tolist())
    monkeypatch.setattr(charts, "LEVEL", 0.9)
    ends = charts.experiments(study).data["critical"]
    assert [row["t"] for row in ends] == pytest.approx(
        [-stats.t.ppf(0.95, 9), stats.t.ppf(0.95, 9)]
    )


def test_knife_edge():
    """40 losses with one error: mean .025, theta3 .025^2; t = sqrt(.3) (.025 - mu) / .025 crosses -2.262 at .1283."""
    edge = 0.025 * (1 + stats.t.ppf(0.975, 9) / 0.3**0.5)
    panel, found, tested = live.experiments(), [], []
    study = live._experiments("1nn", 40)
    settle(panel, Assumed=0.7)
    for offset in (0.0005, 0.001):
        settle(panel, Tested=offset)
        found.append(float(heading(panel).split("%")[0]) / 100)
        tested.append(study.mean + offset)
    assert tested[0] < edge < tested[1]
    one_error = np.isclose(study.estimates, 0.025).mean()
    assert 0.02 < one_error and found[1] - found[0] == pytest.approx(one_error, abs=2e-4)
    said = heading(panel)
    assert "reject the error .1285 at rho .700" in said and said.endswith(
        "0.73% because all folds agree"
    )


def test_experiments_of_the_other_learner():
    panel = live.experiments()
    assert heading(panel).startswith("13.13% ± 0.34% of runs reject the true error .1275 at rho 0;")
    settle(panel, Learner="centroid", Items=20)
    assert "cross-validations of centroid on samples of 20 digits" in panel.view.alternative
    expected = wb.simulate_type_one("digits", "centroid", 20)
    assert heading(panel).startswith(f"{expected.type_one():.2%} ± ")


def test_runs_that_hit_the_tested_mean_exactly_are_not_rejected():
    one = wb.TypeOneStudy(
        "digits", "1nn", 20, 10, 100, np.repeat([0.1, 0.3], 50), np.repeat([0, 0.01], 50)
    )
    bars = charts.experiments(one, 0, 0.1).data["bars"]
    assert sum(row["high"] - row["low"] for row in bars if row["kind"] == "all folds agree") == 0
    assert one.type_one(0, mean=0.1) == 0
    assert (
        charts.experiments(one, 0, 0.1).title
        == "0.00% ± 0.00% of runs reject the error .1000 at rho 0"
    )


# ---------------------------------------------------------------- power, scoreboard


def test_power_and_its_price():
    panel = live.power()
    assert heading(panel).startswith("Nadeau-Bengio with 200 forms finds the better reader in 30% ")
    assert heading(panel).endswith(" 2.0%")
    found = {(row["situation"], row["n"], row["test"]): row["rate"] for row in rows(panel, "rates")}
    for test, rate in {
        "naive t": 0.66,
        "Nadeau-Bengio": 0.30,
        "rho 0.7": 0.13,
        "McNemar, pooled": 0.69,
    }.items():
        assert found[live.DIFFERENT, 200, test] == pytest.approx(rate, abs=0.02)
    once = clerks.clerk_studies(n=200)
    for test in ("naive t", "Nadeau-Bengio"):
        assert found[live.EQUAL, 200, test] == once.alarms(test).mean()
    assert {n for _, n, _ in found} == {50, 100, 200}
    settle(panel, Test="rho 0.7")
    assert heading(panel).startswith("rho 0.7 with 200 forms finds the better reader in 12% ")
    assert heading(panel).endswith(" 0.8%")
    assert {row["test"] for row in rows(panel, "rates") if row["chosen"]} == {"rho 0.7"}


def test_no_test_is_best_everywhere():
    panel = live.scoreboard()
    population = gaussian_population(features=8)
    expected = wb.simulate_comparison(
        population,
        ("centroid", range(8)),
        ("centroid", range(8, 16)),
        40,
        repeats=10,
        tests=live.BOARD_TESTS,
        runs=600,
    )
    found = {(row["learner"], row["test"]): row for row in rows(panel, "rates")}
    bound = 0.05 + 2 * (0.05 * 0.95 / 600) ** 0.5
    for test in live.BOARD_TESTS:
        row = found["centroid", test]
        assert row["alarms"] == expected.rejection(test)
        assert (row["kind"] == "clearly more than 5%") == (row["alarms"] > bound)
    for learner in live.LEARNERS:
        honest = [
            row for (name, _), row in found.items() if name == learner and row["alarms"] <= bound
        ]
        best = max(honest, key=lambda row: row["power"])
        assert f"{best['test']} for {learner}" in heading(panel)
    assert (
        found["nearest neighbor", "naive t"]["alarms"] > 0.08
        and found["centroid", "5x2cv F"]["alarms"] > 0.1
    )


def test_a_scoreboard_with_one_winner_or_none():
    def study(alarms, power):
        p = np.array(
            [np.where(np.arange(100) < 100 * share, 0.01, 0.5) for share in (alarms, power)]
        )
        return wb.ComparisonStudy(
            "digits",
            "1nn",
            "1nn",
            40,
            10,
            1,
            100,
            ("a", "b"),
            p,
            np.ones((2, 100)),
            np.ones((2, 100)),
            np.ones((2, 100)),
        )

    calm, loud = study(0.02, 0.05), study(0.5, 0.6)
    one = {(name, kind): calm for name in ("x", "y") for kind in ("equal", "different")}
    assert charts.scoreboard(one).title == "Most power without excess false alarms: b for x and y"
    none = one | {("y", "equal"): loud}
    assert (
        charts.scoreboard(none).title
        == "Most power without excess false alarms: b for x, no test for y"
    )


# ---------------------------------------------------------------- prediction, controls


def locked(monkeypatch, name, prediction):
    """Let a learner have locked a prediction."""
    keeping = SavedAnswers()
    keeping.save(name, prediction)
    monkeypatch.setattr(questions, "saved_answers", lambda: keeping)


def test_the_prediction_is_drawn_into_its_reveal(monkeypatch):
    assert live.predict_repeats().control.options == ("5%", "10%", "25%", "50% or more")
    assert repr(live.reveal_clerks()) == repr(live.seen_repeats()) == "Make your prediction first."
    locked(monkeypatch, "5-repeats", "25%")
    (panel,) = live.reveal_clerks().parts
    assert {row["who"]: row["rate"] for row in rows(panel, "alarms")}["you, ten repeats"] == 0.25
    assert panel.view.alternative.endswith(" You predicted 25% for ten repeats.")
    settle(panel, Repeats=10)
    assert [row["rate"] for row in rows(panel, "alarms")] == pytest.approx([0.6, 0.25, 0.05])


def test_what_should_have_been_seen(monkeypatch):
    locked(monkeypatch, "5-repeats", "5%")
    place = live.seen_repeats()
    place.children[0].click()
    told, table = place.parts
    assert told.startswith("You predicted 5%. ")
    for row, repeats in zip(table.rows(), (1, 10), strict=True):
        means = wb.clerk_losses(repeats=repeats).fold_means().ravel()
        assert row["pvalue"] == pytest.approx(stats.ttest_1samp(means, 0).pvalue)
        assert row["standard_error"] == pytest.approx(stats.sem(means))
        assert row["sd"] == pytest.approx({1: 0.056, 10: 0.052}[repeats], abs=1e-3)


def test_what_the_skeptic_misses(monkeypatch):
    assert repr(live.reveal_power()) == repr(live.seen_skeptic()) == "Make your prediction first."
    locked(monkeypatch, "5-skeptic", "about 95%")
    told, panel = live.reveal_power().parts
    assert told.startswith("You predicted about 95%. ")
    assert rows(panel, "guess") == [{"rate": 0.95, "text": "you"}] and "in 30%" in heading(panel)
    (table,) = live.seen_skeptic().parts
    t = stats.ttest_1samp(D, 0).statistic * (9 / 19) ** 0.5
    assert [row["pvalue"] for row in table.rows()] == pytest.approx(
        [2 * stats.t.sf(t, 9), stats.binomtest(4, 25).pvalue]
    )


def test_what_the_readers_err_in_the_long_run():
    said = re.findall(r"(\d+\.\d)%", repr(live.predict_skeptic()))
    errors = [wb.reader_losses(study, 200).mean_losses() for study in range(400)]
    assert [f"{100 * error:.1f}" for error in np.mean(errors, 0)] == said


def test_the_most_striking_study_exaggerates(monkeypatch):
    locked(monkeypatch, "5-chosen", "not at all")
    told, table = live.seen_chosen().parts
    assert told.startswith("You predicted not at all. ")
    losses = [wb.reader_losses(study, 200).mean_losses() for study in range(400)]
    difference = [first - second for first, second in losses]
    for row in table.rows():
        many = row["studies made"]
        best = [max(difference[start : start + many]) for start in range(0, 400, many)]
        assert row["difference published"] == f"{100 * np.mean(best):.1f} points"
    assert row["significant by Nadeau-Bengio"] == "100%" and table.rows()[4]["exaggerated"] == "73%"


def test_the_slider_waits_and_tells_no_answer_at_first(monkeypatch):
    assert repr(live.reveal_slider()) == "Make your prediction first."
    locked(monkeypatch, "5-flip", "about .7")
    panel, look = live.reveal_slider().parts
    assert rows(panel, "flips") == []
    assert [row["text"] for row in rows(panel, "points")] == ["p .040", "", ""]
    settle(panel, Assumed=0.7)
    assert [row["text"] for row in rows(panel, "points") if row["text"]] == ["p .221"]
    look.children[0].click()
    told, table = look.parts
    assert told.startswith("You predicted about .7. ") and [
        f"{row['pvalue']:.3f}" for row in table.rows()
    ] == ["0.040", "0.133", "0.221"]


def test_buttons_compute_what_they_say(monkeypatch):
    monkeypatch.setattr(live, "HALF_RUNS", 20)
    for place in (live.live_experiments(), live.type_one_table(), live.half_samples()):
        assert repr(place).startswith("Button: ")
        place.children[0].click()
        assert not repr(place).startswith("Button: ")
    table = live.type_one_table()
    table.unveil(None)
    study = wb.simulate_type_one("digits", "1nn", 40)
    (row,) = [row for row in table.parts[0].rows() if row["items"] == 40 and row["rho"] == 0.7]
    assert row["type_one"] == study.type_one(0.7) and row["true_rho"] == study.rho


def test_no_answer_stands_above_its_exercise():
    answers = [
        "2.847",
        ".0192",
        "1.559",
        ".1534",
        ".153",
        ".368",
        ".189",
        "1.437",
        ".154",
        ".005",
        ".030",
        ".071",
        ".634",
    ]
    assert printed(ROOT / "notebooks" / "05-cross-validation-t-tests.ipynb", answers) == []


@pytest.mark.parametrize(
    "view", [live.two_clerks, live.one_slider, live.experiments, live.power, live.scoreboard]
)
def test_every_control_changes_the_words(view):
    panel, said = view(), []
    for name, control in controls(panel).items():
        said.append((heading(panel), panel.view.alternative))
        if isinstance(control, (ipywidgets.IntSlider, ipywidgets.FloatSlider)):
            control.value = 2 * control.step if control.value == 0 else control.value + control.step
        elif name == "Assumed value":
            control.value = 0.7
        else:
            control.index += 1 if control.index == 0 else -1
        assert (heading(panel), panel.view.alternative) not in said and status(panel) == ""
        assert panel.view.alternative.endswith(".")


@pytest.mark.parametrize(
    "view", [live.two_clerks, live.one_slider, live.experiments, live.power, live.scoreboard]
)
def test_views_have_pictures(view):
    assert len(view().view.png()) > 5000


def test_live_charts_are_valid_altair():
    once = clerks.clerk_studies(count=40)
    readers = {(name, 100): live._readers(name, 100) for name in (live.EQUAL, live.DIFFERENT)}
    board = {
        (name, kind): live._board(learner, kind == "different", 40)
        for name, learner in live.LEARNERS.items()
        for kind in ("equal", "different")
    }
    for chart in (
        charts.clerks(once, once, "naive t"),
        charts.slider(D, wb.kfold_t_test(D)),
        charts.power(readers),
        charts.experiments(live._experiments("1nn", 20), 0.7),
        charts.scoreboard(board),
    ):
        assert chart.to_dict(validate=True)["description"].endswith(".")


# ---------------------------------------------------------------- what the lesson says in words


def test_the_halves_of_a_sample_are_not_independent():
    """5x2cv takes their results for independent: they correlate by .40 and .56."""
    population, rng, fold = live._population(False), np.random.default_rng(1), np.arange(40) % 2
    samples = Samples(population, rng.integers(len(population.y), size=(4000, 40)))
    for learner, wanted in ((nearest_neighbor, 0.40), (nearest_centroid, 0.56)):
        first, second = (
            learner(samples, fold, range(start, start + 8)).astype(float) for start in (0, 8)
        )
        halves = [(first - second)[:, fold == k].mean(1) for k in (0, 1)]
        assert np.corrcoef(halves)[0, 1] == pytest.approx(wanted, abs=0.04)


def test_who_takes_the_correlation_for_rho_gets_20_percent():
    taken = wb.r_from_rho(0.7, 10)
    assert taken == pytest.approx(0.189, abs=5e-4)
    beyond = stats.t.ppf(0.975, 9) * ((1 - 0.7) / (1 - taken)) ** 0.5
    assert 2 * stats.t.sf(beyond, 9) == pytest.approx(0.20, abs=0.005)


@pytest.mark.parametrize("learner", ["1nn", "centroid"])
def test_half_samples_are_slightly_liberal_and_more_powerful(learner):
    """About 6% false alarms; half as much power again as Nadeau-Bengio."""
    equal, different = (live._board(learner, wanted, 40) for wanted in (False, True))
    assert equal.rejection("half-sample rho") == pytest.approx(0.06, abs=0.01)
    assert different.rejection("half-sample rho") / different.rejection("Nadeau-Bengio") > 1.4


# ---------------------------------------------------------------- forty models


def test_the_models_are_equally_good_but_for_the_first():
    """By reader A's accuracy in the fifths of its confidence, as lesson 1 has them, and by the binomial's variance."""
    chances = np.array([0.5806, 0.8556, 0.9610, 0.9889, 1])
    read = np.mean(
        [clerks.equal_models(4000, ahead=0.06, seed=seed).mean(0) for seed in range(20)], 0
    )
    error = (chances.mean() * (1 - chances.mean()) / 80_000) ** 0.5
    assert (
        np.abs(read[1:] - chances.mean()).max() < 4 * error
        and abs(read[0] - chances.mean() - 0.06) < 4 * error
    )


def test_the_best_of_forty_is_lucky_and_new_forms_say_so(monkeypatch):
    locked(monkeypatch, "5-winner", "about 99%")
    waiting = live.reveal_winner()
    said, panel, button = waiting.parts
    assert said.startswith("You predicted about 99%. ") and button.parts == []
    button.children[0].click()
    rows_ = button.parts[0].rows()
    p = np.array([0.5806, 0.8556, 0.9610, 0.9889, 1])
    spread = ((p * (1 - p)).mean() / 200) ** 0.5  # of models on the same forms
    best = {row["models"]: float(row["score of the best"].rstrip("%")) / 100 for row in rows_}
    assert best[40] == pytest.approx(p.mean() + 2.16 * spread, abs=0.003)
    assert best[2] == pytest.approx(p.mean() + spread / np.pi**0.5, abs=0.003)
    again = [float(row["the same model on 200 other forms"].rstrip("%")) / 100 for row in rows_]
    assert again == pytest.approx([p.mean()] * 6, abs=0.005)
    assert (
        rows_[1]["best significantly better than last (unadjusted)"] == "5%"
        and float(rows_[-1]["best significantly better than last (unadjusted)"].rstrip("%")) > 90
    )
    found = wb.compare_items(wb.ItemScores(clerks.equal_models(), clerks.MODELS, range(200)))
    first = found.ranks()[0]
    assert (
        heading(panel)
        == (
            f"{first['model']} leads with {first['score']:.1%} and may have any rank from 1 to 40; "
            "no rank is certain"
        )
        and (found.adjusted > 0.05).all()
    )
    settle(panel, Model_1=0.06, Forms=3000)
    assert re.fullmatch(
        r"model 1 leads with 9[345]\.\d% and is shown to be the best", heading(panel)
    )
    assert [row["model"] for row in rows(panel, "models")][0] == "model 1" and len(
        rows(panel, "models")
    ) == 12


# ---------------------------------------------------------------- the same in code


@pytest.fixture(scope="module")
def shown_by_code():
    return code_cells.outputs(ROOT / "notebooks" / "05-cross-validation-t-tests.ipynb")


def numbers(text):
    """Return all numbers in a text."""
    return [float(number) for number in re.findall(r"-?\d*\.?\d+(?:e-?\d+)?", text)]


def test_cells_compute_what_the_pictures_of_the_clerks_show(shown_by_code):
    folds = wb.clerk_losses(971).fold_means()[0]
    t_test = stats.ttest_1samp(folds, 0)
    assert numbers(shown_by_code["code-folds"]) == pytest.approx(
        [*folds, folds.mean(), t_test.pvalue], abs=5e-4
    )
    all_folds = wb.clerk_losses(971, repeats=10).fold_means().ravel()
    assert numbers(shown_by_code["code-repeats"]) == pytest.approx(
        [stats.sem(folds), stats.sem(all_folds)], abs=5e-5
    )
    interval = t_test.confidence_interval(0.95)
    assert numbers(shown_by_code["code-rho"]) == pytest.approx(
        [t_test.pvalue, 95, *interval], abs=5e-4
    )
    assert numbers(shown_by_code["code-factor"]) == pytest.approx(
        [1 / 1.9, *2 * [t_test.statistic * (9 / 19) ** 0.5]], abs=5e-4
    )
    p = [stats.ttest_1samp(wb.clerk_losses(s).fold_means()[0], 0).pvalue for s in range(360, 400)]
    assert numbers(shown_by_code["code-studies"]) == [sum(np.less(p, 0.05)), 40] == [6, 40]


def test_cells_compute_what_the_pictures_of_the_readers_show(shown_by_code):
    p_mcnemar = stats.binomtest(4, 25).pvalue
    p_corrected = 2 * stats.t.sf(stats.ttest_1samp(D, 0).statistic * (9 / 19) ** 0.5, 9)
    assert numbers(shown_by_code["code-mcnemar"]) == pytest.approx(
        [21, 4, p_mcnemar, p_corrected], abs=5e-5
    )
    errors = [wb.reader_losses(study, 200).losses for study in range(40)]
    folds = [(e[:, 0] - e[:, 1]).reshape(20, 10).mean(0) for e in errors]
    t = np.array([stats.ttest_1samp(means, 0).statistic for means in folds]) * (9 / 19) ** 0.5
    significant = np.abs(t) > stats.t.ppf(0.975, 9)
    assert numbers(shown_by_code["code-power"]) == [significant.sum(), 40, 32]
    points = [100 * means.mean() for means in folds[:20]]
    assert numbers(shown_by_code["code-chosen"]) == pytest.approx(
        [max(points), np.mean(points)], abs=0.05
    )
    assert max(points) > 1.3 * np.mean(points)


def test_cells_compute_the_scores_of_forty_models(shown_by_code):
    board = clerks.equal_models(200, seed=0)
    score, first, last = numbers(shown_by_code["code-ranks"])
    assert (score, first, last) == (100 * board.mean(0).max(), 1, 40)
    chance = np.array([0.581, 0.856, 0.961, 0.989, 1])
    assert chance.mean() == pytest.approx(0.877, abs=5e-4)
    assert chance == pytest.approx(clerks._chances(), abs=5e-4)
    best = [clerks.equal_models(200, seed=seed).mean(0).max() for seed in range(100)]
    (winner,) = numbers(shown_by_code["code-winner"])
    assert winner == pytest.approx(100 * np.mean(best), abs=3 * 100 * np.std(best) / 50**0.5)


def test_cells_compute_the_false_alarms_of_the_optional_scenes(shown_by_code, study):
    (alarms,) = numbers(shown_by_code["code-experiments"])
    assert alarms == pytest.approx(100 * study.type_one(), abs=3 * (13 * 87 / 2000) ** 0.5)
    rho, all_runs, without = numbers(shown_by_code["code-refused"])
    assert without < all_runs == pytest.approx(1.41, abs=300 * (0.0141 / 2000) ** 0.5)
    assert rho == pytest.approx(0.204, abs=0.05)
    rates = dict(re.findall(r"'([^']+)': ([\d.]+)", shown_by_code["code-tests"]))
    for name, rate in {"Nadeau-Bengio": 0.027, "5x2cv t": 0.09}.items():
        assert float(rates[name]) == pytest.approx(rate, abs=3 * (rate / 200) ** 0.5)


def test_the_cell_for_an_own_file_runs_alone(shown_by_code):
    losses = np.loadtxt(ROOT / "notebooks" / "data" / "losses.csv", delimiter=",", skiprows=1)
    difference = losses[:, 2] - losses[:, 3]
    folds = np.bincount(losses[:, 1].astype(int), difference) / 40
    t_test = stats.ttest_1samp(folds, 0)
    flips = 1 - (stats.t.ppf(0.975, 9) / t_test.statistic) ** 2
    assert f"by {difference.mean():.3f}" in shown_by_code["own-file"]
    assert f"up to rho {flips:.3f}" in shown_by_code["own-file"]


# ---------------------------------------------------------------- similar scenes


@pytest.mark.parametrize(
    "view",
    [live.ten_folds, live.two_clerks, live.one_slider, live.power, live.experiments]
    + [live.scoreboard, lesson.winners],
)
def test_an_example_builds_a_similar_scene_of_at_most_ten_lines(view):
    examples = doctest.DocTestParser().get_examples(view.__doc__)
    lines = "".join(example.source for example in examples).splitlines()
    statements = [line for line in lines if not re.match("import |from ", line)]
    assert len(statements) <= 10 and statements[-1].startswith("ipywidgets.interact(")
    with contextlib.redirect_stdout(io.StringIO()) as written:
        exec("\n".join(lines), {})
    assert "Chart: " in written.getvalue() and "interactive(" in written.getvalue()
