"""The pictures of cross-validation tests: their rows and sentences against counts made here and scipy's t."""

import numpy as np
import pytest
from panels import draws, title
from scipy import optimize, stats

import workbench as wb
from workbench.charts import cross_validation as charts
from workbench.charts import cv_studies, theme, words

D = np.array([.1, .1, -.05, .15, 0, .2, .25, .05, .05, 0])
T0 = stats.ttest_1samp(D, 0).statistic
NB = 10 / 19


def fold_means(**models):
    return wb.CVLosses.from_fold_means(models)


def rng_models(count, folds=10, names="m{}"):
    rng = np.random.default_rng(0)
    return fold_means(**{names.format(k): rng.normal(.3 + .01 * k, .02, folds) for k in range(count)})


# ---------------------------------------------------------------- folds

def test_folds_of_two_readers():
    cv = wb.reader_losses()
    data = charts.folds_data(cv)
    assert sorted(row["value"] for row in data["dots"]) == pytest.approx(sorted(D))
    assert {side: sum(row["side"] == side for row in data["dots"]) for side in charts._sides(cv)} == {
        "averages better": 1, "equal": 2, "nearest neighbor better": 7}
    half = stats.t.ppf(.975, 9) * D.std(ddof=1) / 10 ** .5
    found = {row["test"]: (row["low"], row["high"], row["verdict"]) for row in data["intervals"]}
    assert list(found) == ["naive, rho 0", "Nadeau-Bengio, rho .526", "chosen, rho .700"]
    for (low, high, verdict), rho, said in zip(found.values(), (0, NB, .7), ("differs", "may be 0", "may be 0"),
                                               strict=True):
        reach = half / (1 - rho) ** .5
        assert (low, high, verdict) == (pytest.approx(.085 - reach), pytest.approx(.085 + reach), said)
    view = draws(charts.folds(cv))
    assert title(view) == "nearest neighbor has the smaller loss, by 0.085: in 7 of 10 folds, 2 equal"
    assert "naive, rho 0: 0.0175 to 0.153; Nadeau-Bengio, rho .526: -0.0131 to 0.183; chosen" in view.alternative


def test_dots_never_cover_each_other():
    cv = wb.clerk_losses(repeats=10)
    dots = charts.folds_data(cv)["dots"]
    assert len({(round(row["value"], 9), round(row["y"], 9)) for row in dots}) == len(dots) == 100
    rows = np.ceil(np.round([row["y"] for row in dots], 9))
    assert np.bincount(rows.astype(int)).tolist() == [0] + [10] * 10
    assert charts._ranks(np.array([3, 1, 3, 3, 1])).tolist() == [0, 0, 1, 2, 1]


def test_repeats_are_said_and_have_rho_of_their_own():
    cv = wb.clerk_losses(repeats=10)
    view = draws(charts.folds(cv, rho="nadeau_bengio"))
    assert title(view).endswith(" of 100 folds, 33 equal, 10 repeats with the same items")
    tests = [row["test"] for row in view.picture["data"]["intervals"]]
    assert tests == ["naive, rho 0", f"Nadeau-Bengio (chosen), rho {10 / 19:.3f}".replace("0.", ".")]
    shown = cv.fold_means()
    half = stats.t.ppf(.975, 99) * shown.std(ddof=1) / 10 / (1 - 10 / 10.9) ** .5
    row = view.picture["data"]["intervals"][1]
    assert (row["low"], row["high"]) == pytest.approx((shown.mean() - half, shown.mean() + half))


@pytest.mark.parametrize("level", [.5, .99])
def test_level_of_the_intervals(level):
    row = charts.folds_data(wb.reader_losses(), rho="naive", level=level)["intervals"][0]
    assert (row["low"], row["high"]) == pytest.approx(stats.ttest_1samp(D, 0).confidence_interval(level))
    assert row["test"] == "naive (chosen), rho 0"


@pytest.mark.parametrize("cv, said", [
    (fold_means(x=[.3] * 5, y=[.2] * 5),
     "y has the smaller loss, by 0.1 in every fold alike: no variance, no test"),
    (fold_means(x=[.3, .2], y=[.3, .2]), "x and y have the same loss in every fold: no variance, no test"),
    (fold_means(x=[.3] * 5), "Mean loss of x 0.3: the same in every fold, no variance")])
def test_folds_without_variance_have_no_interval(cv, said):
    view = draws(charts.folds(cv))
    assert title(view) == said and view.picture["data"].get("intervals") is None
    assert view.alternative.endswith("the variance they show is 0, so there is no interval and no test.")


def test_one_model_has_no_zero_line_and_no_verdict():
    view = draws(charts.folds(fold_means(svm=[.2, .3, .1])))
    assert title(view) == "Mean loss of svm 0.2: folds from 0.1 to 0.3"
    assert view.picture["data"]["zero"] == []
    assert {row["verdict"] for row in view.picture["data"]["intervals"]} == {""}


def test_neither_is_better_on_average():
    assert charts.folds_words(fold_means(a=[.1, .3, .2], b=[.3, .1, .2]))[0] == \
        "On average neither is better: a in 1, b in 1 of 3 folds, 1 equal"


LONG = "a very long name of a model, version {}"
CASES = {"two folds": fold_means(A=[.2, .3], B=[.25, .28]),
         "500 folds": fold_means(A=np.random.default_rng(1).normal(size=500), B=np.zeros(500)),
         "repeats": wb.CVLosses.from_fold_means(np.random.default_rng(1).normal(size=(1000, 2)), repeats=100),
         "millions": fold_means(**{LONG.format(k): np.random.default_rng(k).normal(1e6, 1e3, 10) for k in (1, 2)}),
         "millionths": fold_means(A=np.random.default_rng(1).normal(1e-6, 1e-7, 10), B=np.full(10, 1e-6)),
         "scores": wb.CVLosses.from_cross_validate({"test_score": np.array([.8, .9, .7])},
                                                   {"test_score": np.array([.8, .7, .6])}),
         "unequal": wb.CVLosses({"x": np.arange(23) % 3, "y": np.arange(23) % 2}, np.arange(23) % 4),
         "odd names": fold_means(**{"": [.1, .2, .3], "{'a': \"b\"}<b>": [.3, .2, .2]})}


@pytest.mark.parametrize("cv", CASES.values(), ids=CASES)
def test_all_report_charts_survive_any_losses(cv):
    means = cv.fold_means()
    view = draws(charts.folds(cv))
    assert sum(row["value"] < 0 for row in view.picture["data"]["dots"]) == (means < 0).sum()
    low, high = view.spec["vconcat"][0]["layer"][2]["encoding"]["x"]["scale"]["domain"]
    reach = [row[end] for row in view.picture["data"]["intervals"] for end in ("low", "high")]
    assert low < min(*reach, means.min()) and max(*reach, means.max()) < high
    test = wb.kfold_t_test(cv)
    draws(charts.rho_curve(test))
    draws(charts.posterior(wb.bayesian_correlated_t(means.ravel(), rope=np.abs(means).max() / 10, runs=cv.repeats),
                           cv.models))
    draws(charts.pairs(wb.compare_models(cv)))


def test_long_names_stay_different():
    names = [LONG.format(k) for k in (1, 2)]
    assert words.short_names(names) == ["a very long…sion 1", "a very long…sion 2"]
    assert words.short_names([f"aaaaaaaaaaaaaaa{k}bbbbbbbbbbbbbb" for k in range(2)]) == [
        "aaaaaaaa…bbbb (1)", "aaaaaaaa…bbbb (2)"]


# ---------------------------------------------------------------- many models

def test_models_are_ordered_by_their_mean():
    cv = rng_models(12)
    view = draws(charts.folds(cv))
    means = cv.losses.mean(0)
    assert [row["mean"] for row in view.picture["data"]["means"]] == pytest.approx(np.sort(means).tolist())
    assert [row["model"] for row in view.picture["data"]["means"]] == [f"m{k}" for k in np.argsort(means)]
    least = (cv.losses.argmin(1) == means.argmin()).sum()
    assert title(view) == (f"m{means.argmin()} has the smallest mean loss, {means.min():.3g}: the smallest in {least} "
                           f"of 10 folds")
    assert len(view.picture["data"]["dots"]) == 120


def test_models_called_like_columns_and_models_left_out():
    cv = fold_means(repeat=[.1, .2], fold=[.3, .3], items=[.1, .1])
    found = {row["model"]: row["mean"] for row in draws(charts.folds(cv)).picture["data"]["means"]}
    assert found == pytest.approx({"items": .1, "repeat": .15, "fold": .3})
    view = draws(charts.folds(rng_models(30)))
    assert len(view.picture["data"]["means"]) == 24 and title(view).endswith("; 24 of 30 models shown")


# ---------------------------------------------------------------- rho

def p_at(rho, t=T0, df=9):
    return 2 * stats.t.sf(abs(t) * (1 - rho) ** .5, df)


def test_curve_points_and_where_the_verdict_flips():
    data = charts.rho_curve_data(wb.kfold_t_test(D))
    assert [(row["rule"], row["rho"], row["p"]) for row in data["points"]] == [
        (rule, pytest.approx(rho), pytest.approx(p_at(rho))) for rule, rho in
        (("naive", 0), ("Nadeau-Bengio", NB), ("0.7", .7))]
    assert [round(row["p"], 4) for row in data["points"]] == [.0192, .0818, .1534]
    assert [row["p"] for row in data["curve"]] == pytest.approx([p_at(row["rho"]) for row in data["curve"]])
    assert data["flips"][0]["rho"] == pytest.approx(optimize.brentq(lambda rho: p_at(rho) - .05, 0, .9))
    view = draws(charts.rho_curve(wb.kfold_t_test(D)))
    assert title(view) == "Not significant at 5%: p .153 at rho .700; it would be for rho below .368"
    assert view.alternative.endswith("The verdict flips at rho 0.368.") and "r 0.189" in view.alternative


def test_the_used_rho_is_a_point_of_its_own():
    found = charts.rho_curve_data(wb.kfold_t_test(D, rho=.3))["points"][3]
    assert (found["rule"], found["rho"], found["p"], found["chosen"]) == ("used", .3, pytest.approx(p_at(.3)), 1)
    assert charts.rho_curve_words(wb.kfold_t_test(D, rho=.3))[0] == \
        "Significant at 5%: p .041 at rho .300, and for any rho below .368"
    below = charts.rho_curve_data(wb.kfold_t_test(D, rho=-.5))
    assert below["curve"][0]["rho"] == -.5 and len(below["flips"]) == 1


@pytest.mark.parametrize("differences, alternative", [
    ([1, -1, 2, -2], "two-sided"), (D, "less"), ([.1, -.2, .3, .1], "two-sided")])
def test_verdicts_that_never_flip(differences, alternative):
    test = wb.kfold_t_test(differences, alternative=alternative)
    view = draws(charts.rho_curve(test))
    assert title(view).startswith("Not significant at 5% for any rho, not even at 0; p ")
    assert view.picture["data"]["flips"] == [] and "No rho from 0 on makes it significant." in view.alternative


def test_one_sided_curve():
    data = charts.rho_curve_data(wb.kfold_t_test(D, alternative="greater"))
    assert [row["p"] for row in data["curve"]] == pytest.approx([p_at(row["rho"]) / 2 for row in data["curve"]])
    assert data["flips"][0]["rho"] == pytest.approx(1 - (stats.t.ppf(.95, 9) / T0) ** 2)


def test_rho_of_repeats_is_that_of_one():
    test = wb.kfold_t_test(wb.clerk_losses(repeats=10))
    data = charts.rho_curve_data(test)
    assert [row["rho"] for row in data["points"]] == pytest.approx([0, 10 / 19, .7])
    t = test.naive_statistic * (1 - 10 / 10.9) ** .5        # ten repeats whose folds correlate by 1/10
    assert data["points"][1]["p"] == pytest.approx(2 * stats.t.sf(abs(t), 99))
    assert data["curve"][-1]["rho"] > data["points"][-1]["rho"]
    view = draws(charts.rho_curve(test))
    assert view.alternative.endswith(" rho is that of one of the 10 repeats.")


def test_tiny_p_values_are_told_and_still_drawn():
    data = charts.rho_curve_data(wb.kfold_t_test(np.random.default_rng(0).normal(1, .01, 100)))
    assert {row["p"] for row in data["points"]} == {1e-15} and all("e-" in row["text"] for row in data["points"])


def test_level_moves_line_and_flip():
    data = charts.rho_curve_data(wb.kfold_t_test(D), level=.9)
    assert data["level"] == [{"p": pytest.approx(.1), "text": "10%"}]
    assert data["flips"][0]["rho"] == pytest.approx(1 - (stats.t.ppf(.95, 9) / T0) ** 2)


# ---------------------------------------------------------------- posterior

def test_posterior_regions_are_its_probabilities():
    found = wb.bayesian_correlated_t(D, rope=.01)
    scale = ((.1 + 1 / 9) * D.var(ddof=1)) ** .5
    left, right = (stats.t.cdf((cut - .085) / scale, 9) for cut in (-.01, .01))
    view = draws(charts.posterior(found, ("A", "B")))
    assert title(view) == (f"Probability that A is better {left:.3f}, practically equal {right - left:.3f}, B "
                           f"{1 - right:.3f}").replace("0.", ".")
    areas = {}
    for region in charts.REGIONS:
        part = [row for row in view.picture["data"]["density"] if row["region"] == region]
        areas[region] = np.trapezoid([row["density"] for row in part], [row["difference"] for row in part])
    assert areas == pytest.approx({"first better": left, "practically equal": right - left,
                                   "second better": 1 - right}, abs=.004)
    assert [row["text"] for row in view.picture["data"]["names"]] == ["A better .028", "practically equal .031",
                                                                    "B better .941"]


def test_posterior_without_a_rope_has_two_regions():
    view = draws(charts.posterior(wb.bayesian_correlated_t(D), ("A", "B")))
    p = wb.kfold_t_test(D, rho="nadeau_bengio").pvalue
    assert title(view) == f"Probability that A is better {p / 2:.3f}, B {1 - p / 2:.3f}".replace("0.", ".")
    assert {row["region"] for row in view.picture["data"]["density"]} == {"first better", "second better"}
    assert view.picture["data"]["rope"] == [{"difference": 0}]


def test_certain_regions_are_not_called_0_or_1():
    view = draws(charts.posterior(wb.bayesian_correlated_t(D, rope=.9), ("A", "B")))
    assert title(view) == "Probability that A is better < .001, practically equal > .999, B < .001"
    ends = [row["difference"] for row in view.picture["data"]["density"]]
    assert min(ends) < -.9 and max(ends) > .9


# ---------------------------------------------------------------- pairs

def test_pairs_with_adjusted_p():
    cv = rng_models(4)
    comparison = wb.compare_models(cv, rho="naive")
    view = draws(charts.pairs(comparison))
    rows, order = view.picture["data"]["pairs"], [f"m{k}" for k in np.argsort(cv.losses.mean(0))]
    found = {}
    for i, a in enumerate(order):
        for b in order[i + 1:]:
            first, second = (cv.losses[:, int(name[1])] for name in (a, b))
            found[f"{a} − {b}"] = stats.ttest_rel(first, second)
    p = np.array(sorted(test.pvalue for test in found.values()))
    holm = np.minimum(np.maximum.accumulate(p * np.arange(6, 0, -1)), 1)
    assert [row["pair"] for row in rows] == sorted(found, key=lambda pair: found[pair].pvalue)
    for row in rows:
        assert (row["low"], row["high"]) == pytest.approx(found[row["pair"]].confidence_interval(.95))
    assert [row["verdict"] == "differs" for row in rows] == (holm < .05).tolist()
    assert [row["text"] for row in rows] == [f"p {words.short_p(value)}" for value in holm]
    assert title(view) == f"{order[0]} has the smallest mean loss; {(holm < .05).sum()} of 6 pairs differ at 5%"


def test_pairs_without_a_test_are_marked():
    cv = fold_means(tree=[.3, .25, .35], svm=[.2, .22, .19], copy=[.2, .22, .19])
    view = draws(charts.pairs(wb.compare_models(cv)))
    row = view.picture["data"]["pairs"][-1]
    assert (row["pair"], row["verdict"], row["text"]) == ("svm − copy", "no test", "no variance, no test")
    assert view.alternative.endswith(" 1 without a test, as their folds show no variance.")
    alone = draws(charts.pairs(wb.compare_models(fold_means(x=[.3, .3], y=[.2, .2]))))
    assert title(alone) == "y has the smallest mean loss; 0 of 1 pair differs at 5%"
    assert alone.picture["data"]["pairs"][0]["difference"] == pytest.approx(-.1) and "rho" not in alone.alternative


@pytest.mark.parametrize("models, shown", [(12, 66), (13, 66)])
def test_of_too_many_pairs_the_most_extreme_are_shown(models, shown):
    comparison = wb.compare_models(rng_models(models, names=LONG))
    view = draws(charts.pairs(comparison))
    rows = view.picture["data"]["pairs"]
    assert len(rows) == len({row["pair"] for row in rows}) == shown
    assert title(view).endswith("; the 66 most extreme shown") == (models == 13)
    kept = sorted(comparison.adjusted)[:shown]
    assert [row["text"] for row in rows] == [f"p {words.short_p(p)}" for p in kept]


# ---------------------------------------------------------------- numbers and colors

@pytest.mark.parametrize("value, text", [(0, "0"), (.12345, "0.123"), (-1234567.8, "-1,234,568"), (1.5e-7, "1.5e-07"),
                                         (2e9, "2e+09")])
def test_numbers_are_short(value, text):
    assert words.number(value) == text


def test_close_ends_are_told_apart():
    assert words.between(.1, .2) == "0.1 to 0.2" and words.between(.3, .3) == "0.3 to 0.3"
    assert words.between(1_000_000.2, 1_000_000.4) == "1,000,000.20 to 1,000,000.40"


def brightness(color):
    channels = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("base", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_verdicts_and_outcomes_stand_out_from_the_ground(base):
    for colors in (charts.VERDICTS, charts.REGIONS, cv_studies.ALARMS, cv_studies.OUTCOMES, cv_studies.SCORES):
        for color in colors.values():
            low, high = sorted([brightness(color), brightness(base["background"])])
            assert (high + 0.05) / (low + 0.05) >= 3


def encodings(part):
    if isinstance(part, dict):
        yield from [part["encoding"]] if "encoding" in part else []
        for entry in part.values():
            yield from encodings(entry)
    elif isinstance(part, list):
        for entry in part:
            yield from encodings(entry)


def test_colors_are_never_alone():
    """Labels have different colors, and what colors tell apart shapes tell apart too."""
    for colors in (charts.VERDICTS, charts.RULES, charts.REGIONS, cv_studies.ALARMS, cv_studies.SCORES,
                   cv_studies.TEST_COLORS):
        assert len(set(colors.values())) == len(colors)
    for chart in (charts.folds(wb.reader_losses()), charts.rho_curve(wb.kfold_t_test(D)),
                  charts.pairs(wb.compare_models(rng_models(3)))):
        found = list(encodings(chart.to_dict()))
        colored, shaped = ({e[channel]["field"] for e in found if "field" in e.get(channel, {})}
                           for channel in ("color", "shape"))
        assert colored == shaped != set()


def test_ties_are_no_best_model():
    cv = fold_means(x=[.3, .2, .1], y=[.2, .1, .3], z=[.5, .4, .5])
    for view in (draws(charts.folds(cv)), draws(charts.pairs(wb.compare_models(cv)))):
        assert title(view).startswith("x and y share the smallest mean loss")
