"""The pictures of cross-validation tests: their rows and sentences against counts made here and scipy's t."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import vl_convert
from panels import draws, title
from scipy import optimize, stats

import workbench as wb
from workbench.charts import cross_validation as charts
from workbench.charts import theme
from workbench.charts.cross_validation import fold_means, regions, rho_curves, studies, words
from workbench.results import digits

D = np.array([0.1, 0.1, -0.05, 0.15, 0, 0.2, 0.25, 0.05, 0.05, 0])
T0 = stats.ttest_1samp(D, 0).statistic
NB = 10 / 19


def cv_of(**models):
    return wb.CVLosses.from_fold_means(models, splits="folds")


def rng_models(count, folds=10, names="m{}"):
    rng = np.random.default_rng(0)
    return cv_of(**{names.format(k): rng.normal(0.3 + 0.01 * k, 0.02, folds) for k in range(count)})


# ---------------------------------------------------------------- folds


def test_folds_of_two_readers():
    cv = wb.reader_losses()
    data = charts.folds(cv).data
    assert sorted(row["value"] for row in data["dots"]) == pytest.approx(sorted(D))
    assert {
        side: sum(row["side"] == side for row in data["dots"]) for side in fold_means._sides(cv)
    } == {"averages better": 1, "equal": 2, "nearest neighbor better": 7}
    half = stats.t.ppf(0.975, 9) * D.std(ddof=1) / 10**0.5
    found = {row["test"]: (row["low"], row["high"], row["verdict"]) for row in data["intervals"]}
    assert list(found) == ["naive, rho 0", "Nadeau-Bengio, rho .526", "chosen, rho .700"]
    for (low, high, verdict), rho, said in zip(
        found.values(),
        (0, NB, 0.7),
        ("nearest neighbor better", "may be 0", "may be 0"),
        strict=True,
    ):
        reach = half / (1 - rho) ** 0.5
        assert (low, high, verdict) == (
            pytest.approx(0.085 - reach),
            pytest.approx(0.085 + reach),
            said,
        )
    view = draws(charts.folds(cv))
    assert title(view) == "nearest neighbor is better, by 0.085: in 7 of 10 folds, 2 equal"
    assert (
        "naive, rho 0: 0.0175 to 0.153; Nadeau-Bengio, rho .526: -0.0131 to 0.183; chosen"
        in view.alternative
    )


def test_dots_never_cover_each_other():
    cv = wb.clerk_losses(repeats=10)
    dots = charts.folds(cv).data["dots"]
    assert len({(round(row["value"], 9), round(row["y"], 9)) for row in dots}) == len(dots) == 100
    rows = np.ceil(np.round([row["y"] for row in dots], 9))
    assert np.bincount(rows.astype(int)).tolist() == [0] + [10] * 10
    assert fold_means._ranks(np.array([3, 1, 3, 3, 1])).tolist() == [0, 0, 1, 2, 1]


def test_repeats_are_said_and_have_rho_of_their_own():
    cv = wb.clerk_losses(repeats=10)
    view = draws(charts.folds(cv, rho="nadeau_bengio"))
    assert title(view).endswith(" of 100 folds, 33 equal, 10 repeats with the same items")
    tests = [row["test"] for row in view.picture["data"]["intervals"]]
    assert tests == [
        "naive, rho 0",
        f"Nadeau-Bengio (chosen), rho {10 / 19:.3f}".replace("0.", "."),
    ]
    shown = cv.fold_means()
    half = stats.t.ppf(0.975, 99) * shown.std(ddof=1) / 10 / (1 - 10 / 10.9) ** 0.5
    row = view.picture["data"]["intervals"][1]
    assert (row["low"], row["high"]) == pytest.approx((shown.mean() - half, shown.mean() + half))


@pytest.mark.parametrize("level", [0.5, 0.99])
def test_level_of_the_intervals(level):
    row = charts.folds(wb.reader_losses(), rho="naive", level=level).data["intervals"][0]
    assert (row["low"], row["high"]) == pytest.approx(
        stats.ttest_1samp(D, 0).confidence_interval(level)
    )
    assert row["test"] == "naive (chosen), rho 0"


@pytest.mark.parametrize(
    "cv, said",
    [
        (
            cv_of(x=[0.3] * 5, y=[0.2] * 5),
            "y is better by 0.1 in every fold: no variance, no test",
        ),
        (
            cv_of(x=[0.3, 0.2], y=[0.3, 0.2]),
            "x and y have the same loss in every fold: no variance, no test",
        ),
        (cv_of(x=[0.3] * 5), "Mean loss of x 0.3: the same in every fold, no variance"),
    ],
)
def test_folds_without_variance_have_no_interval(cv, said):
    view = draws(charts.folds(cv))
    assert title(view) == said and view.picture["data"].get("intervals") is None
    assert view.alternative.endswith("Their variance is 0, so there is no interval and no test.")


def test_one_model_has_no_zero_line_and_no_verdict():
    view = draws(charts.folds(cv_of(svm=[0.2, 0.3, 0.1])))
    assert title(view) == "Mean loss of svm 0.2: folds from 0.1 to 0.3"
    assert view.picture["data"]["zero"] == []
    assert {row["verdict"] for row in view.picture["data"]["intervals"]} == {"svm"}


def scales(chart, channel):
    """Return label -> color or shape of all parts of a chart that have such a scale."""
    found = [
        e[channel]["scale"]
        for e in encodings(chart.to_dict(validate=False))
        if "scale" in e.get(channel, {})
    ]
    return [dict(zip(scale["domain"], scale["range"], strict=True)) for scale in found]


@pytest.mark.parametrize("channel", ["color", "shape"])
@pytest.mark.parametrize("sign, better", [(1, "B better"), (-1, "A better")])
def test_intervals_look_like_the_dots_of_the_better_model(channel, sign, better):
    cv = cv_of(A=0.5 + sign * D, B=np.full(10, 0.5))
    assert [row["verdict"] for row in charts.folds(cv).data["intervals"]] == [
        better,
        "may be 0",
        "may be 0",
    ]
    dots, *intervals = scales(charts.folds(cv), channel)
    assert {look[better] for look in intervals} == {dots[better]}
    for look in intervals:
        assert look["may be 0"] not in {dots["A better"], dots["B better"]}
    assert channel == "color" or not {look["may be 0"] for look in intervals} & set(dots.values())


def test_differences_within_rounding_are_equal():
    losses = np.random.default_rng(3).random(200)
    cv = wb.CVLosses({"x": losses, "y": losses + 0.1}, np.arange(200) % 10)
    assert np.ptp(cv.fold_means()) > 0
    data = charts.folds(cv).data
    assert len({row["value"] for row in data["dots"]}) == 1 and data["dots"][0][
        "value"
    ] == pytest.approx(-0.1)
    assert len({round(row["y"], 9) for row in data["dots"]}) == 10
    assert charts.folds(cv).title == "x is better by 0.1 in every fold: no variance, no test"
    tie = cv_of(x=[0.1 + 0.2, 0.3, 0.5], y=[0.3, 0.2, 0.4])
    assert tie.fold_means()[0, 0] != 0
    assert [row["side"] for row in charts.folds(tie).data["dots"]] == [
        "equal",
        "y better",
        "y better",
    ]
    assert charts.folds(tie).title.endswith(": in 2 of 3 folds, 1 equal")


def texts(chart):
    """Return the texts of a drawn chart."""
    svg = vl_convert.vegalite_to_svg(chart.to_dict(validate=False), allowed_base_urls=[])
    return [
        "".join(part.itertext())
        for part in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


class Labeled(wb.CVLosses):
    """Losses whose table has labels of repeats."""

    def rows(self):
        return [
            row | {"repeat": ["2019", 'it\'s "20"', "2021"][row["repeat"]]}
            for row in super().rows()
        ]


def test_repeats_are_called_as_in_the_table():
    means = np.random.default_rng(1).normal(size=(15, 2))
    cv = wb.CVLosses.from_fold_means(means, repeats=3)
    shown = texts(charts.folds(cv))
    assert all(str(row["repeat"]) in shown for row in cv.rows()) and "3" not in shown
    named = Labeled(cv.losses, cv.fold, cv.models, None, cv.repeat, cv.fold_size)
    assert {"2019", 'it\'s "20"', "2021"} <= set(texts(charts.folds(named)))


def test_neither_is_better_on_average():
    assert (
        charts.folds(cv_of(a=[0.1, 0.3, 0.2], b=[0.3, 0.1, 0.2])).title
        == "On average neither is better: a in 1, b in 1 of 3 folds, 1 equal"
    )


LONG = "a very long name of a model, version {}"
CASES = {
    "two folds": cv_of(A=[0.2, 0.3], B=[0.25, 0.28]),
    "500 folds": cv_of(A=np.random.default_rng(1).normal(size=500), B=np.zeros(500)),
    "repeats": wb.CVLosses.from_fold_means(
        np.random.default_rng(1).normal(size=(1000, 2)), repeats=100
    ),
    "millions": cv_of(
        **{LONG.format(k): np.random.default_rng(k).normal(1e6, 1e3, 10) for k in (1, 2)}
    ),
    "millionths": cv_of(A=np.random.default_rng(1).normal(1e-6, 1e-7, 10), B=np.full(10, 1e-6)),
    "scores": wb.CVLosses.from_cross_validate(
        {"test_score": np.array([0.8, 0.9, 0.7])}, {"test_score": np.array([0.8, 0.7, 0.6])}
    ),
    "unequal": wb.CVLosses({"x": np.arange(23) % 3, "y": np.arange(23) % 2}, np.arange(23) % 4),
    "odd names": cv_of(**{"": [0.1, 0.2, 0.3], "{'a': \"b\"}<b>": [0.3, 0.2, 0.2]}),
}


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
    draws(
        charts.posterior(
            wb.bayesian_correlated_t(means.ravel(), rope=np.abs(means).max() / 10, runs=cv.repeats),
            cv.models,
        )
    )
    draws(charts.pairs(wb.compare_models(cv)))


def test_long_names_stay_different():
    names = [LONG.format(k) for k in (1, 2)]
    assert words.short_names(names) == ["a very long…sion 1", "a very long…sion 2"]
    assert words.short_names([f"aaaaaaaaaaaaaaa{k}bbbbbbbbbbbbbb" for k in range(2)]) == [
        "aaaaaaaa…bbbb (1)",
        "aaaaaaaa…bbbb (2)",
    ]


# ---------------------------------------------------------------- many models


def test_models_are_ordered_by_their_mean():
    cv = rng_models(12)
    view = draws(charts.folds(cv))
    means = cv.losses.mean(0)
    assert [row["mean"] for row in view.picture["data"]["means"]] == pytest.approx(
        np.sort(means).tolist()
    )
    assert [row["model"] for row in view.picture["data"]["means"]] == [
        f"m{k}" for k in np.argsort(means)
    ]
    least = (cv.losses.argmin(1) == means.argmin()).sum()
    assert title(view) == (
        f"m{means.argmin()} has the smallest mean loss, {means.min():.3g}: the smallest in {least} "
        f"of 10 folds"
    )
    assert len(view.picture["data"]["dots"]) == 120


def test_models_called_like_columns_and_models_left_out():
    cv = cv_of(repeat=[0.1, 0.2], fold=[0.3, 0.3], items=[0.1, 0.1])
    found = {row["model"]: row["mean"] for row in draws(charts.folds(cv)).picture["data"]["means"]}
    assert found == pytest.approx({"items": 0.1, "repeat": 0.15, "fold": 0.3})
    view = draws(charts.folds(rng_models(30)))
    assert len(view.picture["data"]["means"]) == 24 and title(view).endswith(
        "; 24 of 30 models shown"
    )


# ---------------------------------------------------------------- rho


def p_at(rho, t=T0, df=9):
    return 2 * stats.t.sf(abs(t) * (1 - rho) ** 0.5, df)


def test_curve_points_and_where_the_verdict_flips():
    data = charts.rho_curve(wb.kfold_t_test(D)).data
    assert [(row["rule"], row["rho"], row["p"]) for row in data["points"]] == [
        (rule, pytest.approx(rho), pytest.approx(p_at(rho)))
        for rule, rho in (("naive", 0), ("Nadeau-Bengio", NB), ("0.7", 0.7))
    ]
    assert [round(row["p"], 4) for row in data["points"]] == [0.0192, 0.0818, 0.1534]
    assert [row["p"] for row in data["curve"]] == pytest.approx(
        [p_at(row["rho"]) for row in data["curve"]]
    )
    assert data["flips"][0]["rho"] == pytest.approx(
        optimize.brentq(lambda rho: p_at(rho) - 0.05, 0, 0.9)
    )
    view = draws(charts.rho_curve(wb.kfold_t_test(D)))
    assert (
        title(view) == "Not significant at 5%: p .153 at rho .700; it would be for rho below .368"
    )
    assert (
        view.alternative.endswith("The verdict changes at rho 0.368.")
        and "r 0.189" in view.alternative
    )


def test_the_used_rho_is_a_point_of_its_own():
    found = charts.rho_curve(wb.kfold_t_test(D, rho=0.3)).data["points"][3]
    assert (found["rule"], found["rho"], found["p"], found["chosen"]) == (
        "used",
        0.3,
        pytest.approx(p_at(0.3)),
        1,
    )
    assert (
        charts.rho_curve(wb.kfold_t_test(D, rho=0.3)).title
        == "Significant at 5%: p .041 at rho .300, and for any rho below .368"
    )
    below = charts.rho_curve(wb.kfold_t_test(D, rho=-0.5)).data
    assert below["curve"][0]["rho"] == -0.5 and len(below["flips"]) == 1


@pytest.mark.parametrize(
    "differences, alternative",
    [([1, -1, 2, -2], "two-sided"), (D, "less"), ([0.1, -0.2, 0.3, 0.1], "two-sided")],
)
def test_verdicts_that_never_flip(differences, alternative):
    test = wb.kfold_t_test(differences, alternative=alternative)
    view = draws(charts.rho_curve(test))
    assert title(view).startswith("Not significant at 5% for any rho, not even at 0; p ")
    assert (
        view.picture["data"]["flips"] == []
        and "It is not significant for any rho of 0 or more." in view.alternative
    )


def test_one_sided_curve():
    data = charts.rho_curve(wb.kfold_t_test(D, alternative="greater")).data
    assert [row["p"] for row in data["curve"]] == pytest.approx(
        [p_at(row["rho"]) / 2 for row in data["curve"]]
    )
    assert data["flips"][0]["rho"] == pytest.approx(1 - (stats.t.ppf(0.95, 9) / T0) ** 2)


def test_rho_of_repeats_is_that_of_one():
    test = wb.kfold_t_test(wb.clerk_losses(repeats=10))
    data = charts.rho_curve(test).data
    assert [row["rho"] for row in data["points"]] == pytest.approx([0, 10 / 19, 0.7])
    t = test.naive_statistic * (1 - 10 / 10.9) ** 0.5  # ten repeats whose folds correlate by 1/10
    assert data["points"][1]["p"] == pytest.approx(2 * stats.t.sf(abs(t), 99))
    assert data["curve"][-1]["rho"] > data["points"][-1]["rho"]
    view = draws(charts.rho_curve(test))
    assert view.alternative.endswith(" rho is that of one of the 10 repeats.")


def test_tiny_p_values_are_told_and_still_drawn():
    data = charts.rho_curve(
        wb.kfold_t_test(cv_of(A=np.random.default_rng(0).normal(1, 0.01, 100)))
    ).data
    assert {row["p"] for row in data["points"]} == {1e-15} and all(
        "e-" in row["text"] for row in data["points"]
    )
    never = wb.kfold_t_test(cv_of(A=np.random.default_rng(0).normal(1, 0.005, 400)))
    assert never.pvalue == 0 and {
        row["text"] for row in charts.rho_curve(never).data["points"]
    } == {"p < 1e-300"}
    figure = charts.rho_curve(never)
    assert figure.title.startswith(
        "Significant at 5%: p < 1e-300 at rho .700, and for any rho below .9999"
    )
    assert figure.alternative.count("p < 1e-300") == 3 and "p 0" not in figure.alternative
    drawn = texts(charts.rho_curve(never))
    assert "p < 1e-300" in drawn and "p-value (log scale, 1e-15 for all below)" in drawn
    assert "p-value (log scale)" in texts(charts.rho_curve(wb.kfold_t_test(D)))


def test_rho_close_to_1_or_to_the_flip_is_not_rounded_to_it():
    test = wb.kfold_t_test(D, rho=0.9999)
    assert charts.rho_curve(test).title == (
        f"Not significant at 5%: p {p_at(0.9999):.3f} at rho .9999; it would be for rho below .368"
    ).replace("0.", ".")
    assert (
        charts.folds(cv_of(A=D, B=np.zeros(10)), rho=0.9999).data["intervals"][2]["test"]
        == "chosen, rho .9999"
    )
    flips = optimize.brentq(lambda rho: p_at(rho) - 0.05, 0, 0.9, xtol=1e-14)
    close = charts.rho_curve(wb.kfold_t_test(D, rho=flips + 1e-6)).title
    used, bound = (
        float(rho) for rho in re.search(r"at rho (\S+); .* below (\S+)$", close).groups()
    )
    assert used > bound and used - bound == pytest.approx(1e-6, abs=1e-6)


def test_the_legend_names_only_what_is_there():
    shown = texts(charts.rho_curve(wb.kfold_t_test(D)))
    assert "used" not in shown and {"naive", "Nadeau-Bengio", "rho 0.7"} <= set(shown)
    assert "used" in texts(charts.rho_curve(wb.kfold_t_test(D, rho=0.3)))
    assert "used" in texts(studies.slider(D, wb.kfold_t_test(D)))


@pytest.mark.parametrize("folds", [2, 10, 200, 5000])
def test_the_axis_tells_the_correlation_of_any_number_of_folds(folds):
    shown = texts(
        charts.rho_curve(wb.kfold_t_test(cv_of(A=np.random.default_rng(0).normal(0.1, 1, folds))))
    )
    read = {label[:3]: float(label[3:]) for label in shown if re.match(r"0\.[1-9][\d.e-]+$", label)}
    assert len(read) == 9
    for rho, r in read.items():
        assert r == pytest.approx(float(rho) / (folds - (folds - 1) * float(rho)), rel=0.05)


def boxes_of_labels(chart, data):
    """Return the box of each written p and the pixels of points, curve, level and flip."""
    spec = chart.to_dict(validate=False)
    layer = next(part for part in spec["layer"] if part["mark"]["type"] == "line")["encoding"]
    (start, end), (least, _) = layer["x"]["scale"]["domain"], layer["y"]["scale"]["domain"]

    def at(rho, p):
        return (rho - start) / (end - start) * spec["width"], np.log(p) / np.log(least) * spec[
            "height"
        ]

    boxes = {}
    for row in data["points"]:
        x, y = at(row["label_rho"], row["p"])
        wide = 5.5 * len(row["text"])
        left = x + row["dx"] - {"left": 0, "center": 0.5, "right": 1}[row["align"]] * wide
        boxes[row["rule"]] = (left, y + row["dy"] - 6, left + wide, y + row["dy"] + 6)
    curve = np.array([at(row["rho"], row["p"]) for row in data["curve"]])
    return boxes, curve, at, spec["width"]


@pytest.mark.parametrize(
    "values, rho, repeats",
    [
        (D, 0.7, 1),
        (D, 0.3, 1),
        (D, 0.95, 1),
        (D, -0.3, 1),
        (D, "nadeau_bengio", 1),
        (D, 0.37, 1),
        (-D, 0.6, 5),
        (D, 0.64, 5),
        (np.random.default_rng(2).normal(0.1, 0.4, 200), 0.7, 1),
        (np.random.default_rng(5).normal(0.1, 0.3, 100), 0.7, 10),
    ],
)
def test_written_p_values_are_not_crossed_or_covered(values, rho, repeats):
    test = wb.kfold_t_test(
        wb.CVLosses.from_fold_means(values, repeats=repeats, splits="folds"), rho=rho
    )
    data = charts.rho_curve(test).data
    boxes, curve, at, width = boxes_of_labels(charts.rho_curve(test), data)
    assert all(row["text"] for row in data["points"])
    across = np.arange(width)
    lines = [
        np.column_stack([across, np.interp(across, *curve.T)]),
        np.column_stack([across, np.full(width, at(0, 0.05)[1])]),
    ]
    lines += [
        np.column_stack([np.full(500, at(row["rho"], 1)[0]), np.linspace(0, 240, 500)])
        for row in data["flips"]
    ]
    lines += [[at(row["rho"], row["p"]) for row in data["points"]]]
    for name, (left, top, right, bottom) in boxes.items():
        for x, y in np.vstack(lines):
            assert not (left < x < right and top < y < bottom), name
        for other, (start, above, end, below) in boxes.items():
            assert other == name or right <= start or end <= left or bottom <= above or below <= top


def test_level_moves_line_and_flip():
    data = charts.rho_curve(wb.kfold_t_test(D), level=0.9).data
    assert data["level"] == [{"p": pytest.approx(0.1), "text": "10%"}]
    assert data["flips"][0]["rho"] == pytest.approx(1 - (stats.t.ppf(0.95, 9) / T0) ** 2)


# ---------------------------------------------------------------- posterior


def test_posterior_regions_are_its_probabilities():
    found = wb.bayesian_correlated_t(D, rope=0.01)
    scale = ((0.1 + 1 / 9) * D.var(ddof=1)) ** 0.5
    left, right = (stats.t.cdf((cut - 0.085) / scale, 9) for cut in (-0.01, 0.01))
    view = draws(charts.posterior(found, ("A", "B")))
    assert title(view) == (
        f"Probability that A is better {left:.3f}, practically equal {right - left:.3f}, B "
        f"{1 - right:.3f}"
    ).replace("0.", ".")
    areas = {}
    for region in regions.REGIONS:
        part = [row for row in view.picture["data"]["density"] if row["region"] == region]
        areas[region] = np.trapezoid(
            [row["density"] for row in part], [row["difference"] for row in part]
        )
    assert areas == pytest.approx(
        {"first better": left, "practically equal": right - left, "second better": 1 - right},
        abs=0.004,
    )
    assert [row["text"] for row in view.picture["data"]["names"]] == [
        ["A", "better .028"],
        ["practically", "equal .031"],
        ["B", "better .941"],
    ]


@pytest.mark.parametrize("shift", [0, 0.085, 2, -1e3])
@pytest.mark.parametrize("rope", [0, 1e-12, 1e-5, 0.01, 0.1, 0.45, 0.9, 5, 1e6])
def test_the_density_is_right_for_any_rope(rope, shift):
    found = wb.bayesian_correlated_t(D - shift, rope=rope)
    center, scale = 0.085 - shift, ((0.1 + 1 / 9) * D.var(ddof=1)) ** 0.5
    data = charts.posterior(found).data
    rows = data["density"]
    x, y = (np.array([row[axis] for row in rows]) for axis in ("difference", "density"))
    assert y == pytest.approx(stats.t.pdf(x, 9, center, scale))
    assert y.max() == pytest.approx(stats.t.pdf(0, 9) / scale, rel=1e-9)
    between = np.linspace(x.min(), x.max(), 2001)
    assert np.interp(between, x, y) == pytest.approx(
        stats.t.pdf(between, 9, center, scale), abs=0.002 * y.max()
    )
    assert (
        stats.t.sf((x.max() - center) / scale, 9) < 0.0021
        and stats.t.cdf((x.min() - center) / scale, 9) < 0.0021
    )
    assert np.ptp(x[y > 0.5 * y.max()]) > 0.07 * np.ptp(x)
    for region, low, high in (
        ("first better", -np.inf, -rope),
        ("practically equal", -rope, rope),
        ("second better", rope, np.inf),
    ):
        part = [row for row in rows if row["region"] == region]
        low, high = np.clip([low, high], x.min(), x.max())
        area = np.trapezoid([row["density"] for row in part], [row["difference"] for row in part])
        assert area == pytest.approx(
            np.diff(stats.t.cdf((np.array([low, high]) - center) / scale, 9))[0], abs=0.002
        )
    cuts = {row["difference"] for row in data["rope"]}
    assert cuts == {cut for cut in (-rope, rope) if x.min() < cut < x.max()}
    assert bool(data["notes"]) == (len(cuts) < len({-rope, rope}))


@pytest.mark.parametrize(
    "shift, rope, said",
    [
        (0, 5, "the whole chart is practically equal: from -5 to 5"),
        (0.9, 0.8, "practically equal: from -0.8 to 0.8"),
        (2, 0.01, "practically equal: from -0.01 to 0.01, far to the right"),
        (-2, 0.01, "practically equal: from -0.01 to 0.01, far to the left"),
        (-2, 0, "0, no difference, is far to the left"),
    ],
)
def test_what_is_beyond_the_axis_is_said(shift, rope, said):
    view = draws(charts.posterior(wb.bayesian_correlated_t(D - shift, rope=rope), ("A", "B")))
    (note,) = view.picture["data"]["notes"]
    peak = max(view.picture["data"]["density"], key=lambda row: row["density"])["difference"]
    x = [row["difference"] for row in view.picture["data"]["density"]]
    assert note["at"] == ("right" if peak < min(x) + 0.4 * np.ptp(x) else "left")
    assert " ".join(note["text"]) == said and view.alternative.endswith(f" {said.capitalize()}.")


def test_posterior_without_a_rope_has_two_regions():
    view = draws(charts.posterior(wb.bayesian_correlated_t(D), ("A", "B")))
    p = wb.kfold_t_test(D, rho="nadeau_bengio").pvalue
    assert title(view) == f"Probability that A is better {p / 2:.3f}, B {1 - p / 2:.3f}".replace(
        "0.", "."
    )
    assert {row["region"] for row in view.picture["data"]["density"]} == {
        "first better",
        "second better",
    }
    assert view.picture["data"]["rope"] == [{"difference": 0}]


def test_certain_regions_are_not_called_0_or_1():
    view = draws(charts.posterior(wb.bayesian_correlated_t(D, rope=0.9), ("A", "B")))
    assert title(view) == "Probability that A is better < .001, practically equal > .999, B < .001"
    assert {row["region"] for row in view.picture["data"]["density"]} == {"practically equal"}


def test_one_degree_of_freedom_is_singular():
    assert (
        ", a t with 1 degree of freedom around "
        in charts.posterior(wb.bayesian_correlated_t([0.1, 0.2])).alternative
    )
    assert (
        ", a t with 9 degrees of freedom "
        in charts.posterior(wb.bayesian_correlated_t(D)).alternative
    )


def test_one_study_calls_and_two_call():
    from workbench.course.clerks import ClerkStudies

    for alarms, said in ((1, "1 of 3 studies calls two"), (2, "2 of 3 studies call two")):
        found = ClerkStudies(
            0, 100, 1, np.repeat([0.5, 0.01], [alarms, 3 - alarms]), np.full(3, 0.1)
        )
        assert said in studies.clerks(found, found, "naive t").title


def test_only_losses_of_0_and_1_make_spikes():
    rng = np.random.default_rng(0)
    estimates, shown = rng.normal(3, 0.5, 100), rng.uniform(0.1, 0.2, 100)
    for loss, said in (("zero_one", True), ("squared", False)):
        study = wb.TypeOneStudy("given data", "Ridge", 20, 10, 100, estimates, shown, loss)
        assert ("0 or 1" in studies.experiments(study).alternative) == said


# ---------------------------------------------------------------- pairs


def test_pairs_with_adjusted_p():
    cv = rng_models(4)
    comparison = wb.compare_models(cv, rho="naive")
    view = draws(charts.pairs(comparison))
    rows, order = view.picture["data"]["pairs"], [f"m{k}" for k in np.argsort(cv.losses.mean(0))]
    found = {}
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            first, second = (cv.losses[:, int(name[1])] for name in (a, b))
            found[f"{a} − {b}"] = stats.ttest_rel(first, second)
    p = np.array(sorted(test.pvalue for test in found.values()))
    holm = np.minimum(np.maximum.accumulate(p * np.arange(6, 0, -1)), 1)
    assert [row["pair"] for row in rows] == sorted(found, key=lambda pair: found[pair].pvalue)
    for row in rows:
        assert (row["low"], row["high"]) == pytest.approx(
            found[row["pair"]].confidence_interval(0.95)
        )
    assert [row["verdict"] == "differs" for row in rows] == (holm < 0.05).tolist()
    assert [row["text"] for row in rows] == [f"p {digits.short_p(value)}" for value in holm]
    differ = int((holm < 0.05).sum())
    assert title(view) == (
        f"{order[0]} has the smallest mean loss; {differ} of 6 pairs differ{'s' * (differ == 1)} at "
        "5%"
    )


def test_pairs_without_a_test_are_marked():
    cv = cv_of(tree=[0.3, 0.25, 0.35], svm=[0.2, 0.22, 0.19], copy=[0.2, 0.22, 0.19])
    view = draws(charts.pairs(wb.compare_models(cv)))
    row = view.picture["data"]["pairs"][-1]
    assert (row["pair"], row["verdict"], row["text"]) == (
        "svm − copy",
        "no test",
        "no variance, no test",
    )
    assert view.alternative.endswith(" 1 without a test, because the folds show no variance.")
    alone = draws(charts.pairs(wb.compare_models(cv_of(x=[0.3, 0.3], y=[0.2, 0.2]))))
    assert title(alone) == "y has the smallest mean loss; 0 of 1 pair differs at 5%"
    assert (
        alone.picture["data"]["pairs"][0]["difference"] == pytest.approx(-0.1)
        and "rho" not in alone.alternative
    )
    assert alone.alternative.startswith(
        "Differences in mean loss of the one pair with unadjusted 95% intervals; "
    )
    assert view.alternative.startswith("Differences in mean loss of all 3 pairs with ")


@pytest.mark.parametrize("adjust, how", [("holm", "Holm-adjusted"), ("none", "not adjusted")])
def test_the_legend_of_pairs_says_what_is_adjusted(adjust, how):
    shown = texts(
        charts.pairs(wb.compare_models(rng_models(3), rho="naive", adjust=adjust), level=0.9)
    )
    assert f"color and p: {how}bars: 90% intervals, not adjusted" in shown
    assert "no test" not in shown
    assert not any(
        "adjusted" in text for text in texts(charts.pairs(wb.compare_models(rng_models(2))))
    )
    same = cv_of(tree=[0.3, 0.25, 0.35], svm=[0.2, 0.22, 0.19], copy=[0.2, 0.22, 0.19])
    assert "no test" in texts(charts.pairs(wb.compare_models(same)))


@pytest.mark.parametrize("count", [2, 3, 13, 30])
@pytest.mark.parametrize(
    "names",
    [LONG + " with all its hyperparameters, " + LONG[:-2], LONG.upper(), "m{}"],
    ids=["long", "wide", "short"],
)
def test_pictures_are_no_wider_than_a_page(count, names):
    cv = rng_models(count, names=names)
    drawn = [charts.folds(cv), charts.pairs(wb.compare_models(cv))]
    if count == 2:
        drawn += [
            charts.rho_curve(wb.kfold_t_test(cv)),
            charts.posterior(
                wb.bayesian_correlated_t(cv.fold_means().ravel(), rope=0.01), cv.models
            ),
        ]
    for chart in drawn:
        assert float(re.match(r'<svg[^>]* width="([\d.]+)"', draws(chart).drawn)[1]) <= 740


@pytest.mark.parametrize("models, shown", [(12, 66), (13, 66)])
def test_of_too_many_pairs_the_most_extreme_are_shown(models, shown):
    comparison = wb.compare_models(rng_models(models, names=LONG))
    view = draws(charts.pairs(comparison))
    rows = view.picture["data"]["pairs"]
    assert len(rows) == len({row["pair"] for row in rows}) == shown
    assert title(view).endswith("; the 66 most extreme shown") == (models == 13)
    kept = sorted(comparison.adjusted)[:shown]
    assert [row["text"] for row in rows] == [f"p {digits.short_p(p)}" for p in kept]


# ---------------------------------------------------------------- numbers and colors


@pytest.mark.parametrize(
    "value, text",
    [(0, "0"), (0.12345, "0.123"), (-1234567.8, "-1,234,568"), (1.5e-7, "1.5e-07"), (2e9, "2e+09")],
)
def test_numbers_are_short(value, text):
    assert digits.number(value) == text


@pytest.mark.parametrize(
    "values, text",
    [
        ((0,), "0"),
        ((0.7,), ".700"),
        ((0.9999,), ".9999"),
        ((0.99996,), ".99996"),
        ((0.0001,), ".0001"),
        ((0.7, 0.70004), ".70000"),
        ((-0.3,), "-.300"),
        ((1,), "1.000"),
        ((2e-9,), "2e-09"),
        ((-16.294,), "-16.294"),
    ],
)
def test_shares_have_the_digits_that_tell_them_apart(values, text):
    assert digits.share(*values) == text


@pytest.mark.parametrize(
    "p, text",
    [
        (0, "< 1e-300"),
        (1e-301, "< 1e-300"),
        (2e-300, "2.0e-300"),
        (0.00012, ".0001"),
        (0.0333, ".033"),
    ],
)
def test_p_is_never_0(p, text):
    assert digits.short_p(p) == text


def test_close_ends_are_told_apart():
    assert digits.between(0.1, 0.2) == "0.1 to 0.2" and digits.between(0.3, 0.3) == "0.3 to 0.3"
    assert digits.between(1_000_000.2, 1_000_000.4) == "1,000,000.20 to 1,000,000.40"


def brightness(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("base", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_verdicts_and_outcomes_stand_out_from_the_ground(base):
    for colors in (
        studies.VERDICTS,
        regions.REGIONS,
        studies.ALARMS,
        studies.OUTCOMES,
        studies.SCORES,
    ):
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
    for colors in (
        studies.VERDICTS,
        rho_curves.RULES,
        regions.REGIONS,
        studies.ALARMS,
        studies.SCORES,
        studies.TEST_COLORS,
    ):
        assert len(set(colors.values())) == len(colors)
    for chart in (
        charts.folds(wb.reader_losses()),
        charts.rho_curve(wb.kfold_t_test(D)),
        charts.pairs(wb.compare_models(rng_models(3))),
    ):
        found = list(encodings(chart.to_dict(validate=False)))
        colored, shaped = (
            {e[channel]["field"] for e in found if "field" in e.get(channel, {})}
            for channel in ("color", "shape")
        )
        assert colored == shaped != set()


def test_ties_are_no_best_model():
    cv = cv_of(x=[0.3, 0.2, 0.1], y=[0.2, 0.1, 0.3], z=[0.5, 0.4, 0.5])
    for view in (draws(charts.folds(cv)), draws(charts.pairs(wb.compare_models(cv)))):
        assert title(view).startswith("x and y share the smallest mean loss")


def test_scores_are_shown_as_they_were_given():
    given = {"a": [0.8, 0.9, 0.7], "b": [0.6, 0.5, 0.7], "c": [0.5, 0.6, 0.4]}
    one, two, three = (
        wb.CVLosses.from_fold_means({name: given[name] for name in names}, higher_is_better=True)
        for names in ("a", "ab", "abc")
    )
    view = draws(charts.folds(one))
    assert title(view).startswith("Mean score of a 0.8: folds from 0.7 to 0.9")
    assert sorted(row["value"] for row in view.picture["data"]["dots"]) == pytest.approx(
        [0.7, 0.8, 0.9]
    )
    low, high = stats.ttest_1samp(given["a"], 0).confidence_interval(0.95)
    naive = view.picture["data"]["intervals"][0]
    assert (naive["low"], naive["high"]) == pytest.approx((low, high))
    assert title(draws(charts.folds(two))).startswith(
        "a is better, by 0.2: in 2 of 3 folds, 1 equal"
    )
    several = draws(charts.folds(three))
    assert title(several) == "a has the largest mean score, 0.8: the largest in 3 of 3 folds"
    assert {row["model"]: row["mean"] for row in several.picture["data"]["means"]} == pytest.approx(
        {"a": 0.8, "b": 0.6, "c": 0.5}
    )
    assert title(draws(charts.pairs(wb.compare_models(three)))).startswith(
        "a has the largest mean score; "
    )
