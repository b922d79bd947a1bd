"""Charts of many cross-validations: equal clerks, one slider, experiments, power, a scoreboard.

Each function returns the figure of one scene of the lesson, in the order of the lesson. The other
charts of the topic are in `workbench.charts.cross_validation`.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import scipy

from workbench.charts import theme
from workbench.charts.cross_validation.fold_means import stacked
from workbench.charts.cross_validation.rho_curves import (
    MOST_RHO,
    RULE_SHAPES,
    RULES,
    curve_rows,
    draw_curve,
)
from workbench.charts.cross_validation.words import two_lines
from workbench.charts.theme import (
    ESTIMATE,
    GRAY,
    MISS,
    OKABE_ITO,
    PERCENT,
    STRATIFIED,
    Figure,
    across,
    bars_and_dots,
    beside,
    chart,
    span,
    up,
)
from workbench.course.clerks import ClerkStudies
from workbench.cross_validation.kfold import KFoldTTest, resolve_rho
from workbench.results import percent, rows_of
from workbench.results.digits import number, share, short, short_p
from workbench.simulations.cross_validation import ComparisonStudy, TypeOneStudy

VERDICTS = {"differs": STRATIFIED, "may be 0": GRAY}
ALARMS = {"false alarm": MISS, "no difference shown": GRAY}
BAR_COLORS = {
    "in 400 studies": MISS,
    "you, ten repeats": OKABE_ITO["purple"],
    "level": GRAY,
    "estimated": ESTIMATE,
    "true": GRAY,
}
POINTS = {"labelExpr": "format(100 * datum.value, '~g')", "tickCount": 6}
# the axes of `clerks` fit its widest settings, so that they stay while a slider moves
MOST_DIFFERENCE = 0.45
MOST_SPREAD = 0.11
MOST_ALARMS = 0.7
SLIDER_SIZE = (300, 220)
EDGE, BEYOND, INFINITE = 6, 6.6, 7.6
BINS_PER_SIDE = 60
LEVEL = 0.95
OUTCOMES = {
    "not rejected": GRAY,
    "rejected": MISS,
    "all folds agree": OKABE_ITO["blue"],
}
SIZES = [50, 100, 200]
TEST_COLORS = {
    "naive t": RULES["naive"],
    "Nadeau-Bengio": RULES["Nadeau-Bengio"],
    "rho 0.7": RULES["0.7"],
    "McNemar, pooled": OKABE_ITO["purple"],
}
SCORES = {
    "false alarms, about 5% or fewer": OKABE_ITO["green"],
    "clearly more than 5%": MISS,
    "power": STRATIFIED,
}


# ten folds


def hook(differences: Sequence[float], pvalue: float) -> Figure:
    """Return the difference of two clerks in each fold, and the mean difference.

    Parameters
    ----------
    differences : (K,) array_like of float
        Proportion of errors of clerk A minus that of clerk B, per fold.
    pvalue : float
        p-value of the naive t-test.
    """
    values = np.asarray(differences, float)
    mean = float(np.mean(values))
    points = f"{100 * mean:.0f}".replace("-", "−")
    text = f"mean {100 * mean:+.0f}".replace("-", "−")
    better, worse = ("A", "B") if mean < 0 else ("B", "A")
    data = {"folds": rows_of(fold=range(1, values.size + 1), difference=values)}
    data["mean"] = [{"difference": mean, "text": text}]
    return Figure(
        data,
        f"Clerk {better} makes {abs(100 * mean):.0f} fewer errors on 100 forms than clerk {worse}. "
        f"Is {better} the better reader?",
        f"Ten folds of ten forms. Clerk A makes fewer errors than clerk B in {(values < 0).sum()} "
        f"folds. The mean difference is {points} percentage points. The t-test over the ten folds "
        f"gives p = {pvalue:.3f}.",
        _draw_hook,
    )


def _draw_hook(data: dict) -> Any:
    x = alt.X("fold:O", title="fold of ten forms", axis={"labelAngle": 0})
    y = up("difference", "errors, A minus B (percentage points)", **POINTS)
    base = chart(data, "folds").encode(x=x, y=y)
    line = chart(data, "mean").encode(y=y)
    stems = base.mark_rule(strokeWidth=3, color=ESTIMATE).encode(y2=alt.datum(0))
    dots = base.mark_point(filled=True, size=90, color=ESTIMATE)
    layers = (theme.zero("y", "difference").encode(y=y), stems, dots)
    return alt.layer(*layers, line.mark_rule(style="truth"), beside(line, 4, x="width"))


# two equal clerks


def clerks(
    studies: ClerkStudies, everyone: ClerkStudies, test: str, predicted: float | None = None
) -> Figure:
    """Return the intervals of studies of equal clerks, false alarms, estimated and true spread.

    Parameters
    ----------
    studies, everyone : workbench.ClerkStudies
        The studies whose intervals are shown, and the studies whose false alarms are counted.
    test : {"naive t", "Nadeau-Bengio"}
        Test of the intervals.
    predicted : float, optional
        The predicted proportion of false alarms.
    """
    quantile = scipy.special.stdtrit(studies.df, (1 + LEVEL) / 2)
    half = np.nan_to_num(studies.standard_errors(test) * quantile)
    differences, first = studies.differences, studies.first
    alarms, all_alarms = studies.alarms(test, LEVEL), everyone.alarms(test, LEVEL)
    intervals = rows_of(
        study=range(1, alarms.size + 1),
        difference=differences,
        low=differences - half,
        high=differences + half,
        verdict=np.where(alarms, *ALARMS),
    )
    # the mean of the estimated standard errors, and the standard deviation of the differences
    estimated = float(np.nanmean(everyone.standard_errors(test)))
    true = float(everyone.differences.std(ddof=1))
    rate = float(all_alarms.mean())
    error = _rate_error(rate, all_alarms.size)
    rates, guess = {"in 400 studies": rate}, ""
    if predicted is not None:
        rates["you, ten repeats"] = predicted
        guess = f" You predicted {predicted:.0%} for ten repeats."
    rates["level"] = 1 - LEVEL
    count, total = int(alarms.sum()), alarms.size
    call = "calls" if count == 1 else "call"
    repeated = "once" if studies.repeats == 1 else f"{studies.repeats} times"
    spread = (("estimated", estimated), ("true", true))
    data = {"studies": intervals}
    data["spread"] = [{"kind": kind, "sd": sd, "text": short(sd)} for kind, sd in spread]
    data["alarms"] = [{"who": who, "rate": x, "text": f"{x:.1%}"} for who, x in rates.items()]
    title = f"{test}: {count} of {total} studies {call} two equal clerks different"
    scope = (
        f"{percent(LEVEL)} intervals of the {test} test for studies {first} to "
        f"{first + total - 1}. Each study cross-validates {studies.n} forms {repeated}. {count} of "
        f"these {total} studies"
    )
    return Figure(
        data,
        f"{title}; in the long run {rate:.1%} ± {error:.1%}",
        f"{scope} and {all_alarms.sum()} of {all_alarms.size} studies raise a false alarm. The "
        f"mean of the estimated standard errors is {estimated:.4f}. The standard deviation of the "
        f"differences is {true:.4f}.{guess}",
        _draw_clerks,
    )


def _rate_error(rate: float, runs: int) -> float:
    return float(np.sqrt(rate * (1 - rate) / runs))


def _draw_clerks(data: dict) -> Any:
    axis = {"values": [1, 10, 20, 30, 40], "labelAngle": 0, "grid": False}
    base = chart(data, "studies").encode(
        x=alt.X("study:O", title="study", axis=axis), color=theme.color("verdict", ALARMS)
    )
    ends = (-MOST_DIFFERENCE, MOST_DIFFERENCE)
    low = up("low", "A minus B (percentage points)", ends, **POINTS)
    shape = theme.shape("verdict", ALARMS, ["diamond", "circle"])
    layers = bars_and_dots(base, low, "difference", width=2, size=50, clip=True, shape=shape)
    intervals = alt.layer(theme.zero("y", "difference", style="truth"), *layers)
    ends = (0, 1.3 * MOST_ALARMS)
    rate = across("rate", "false alarms", ends, tickCount=4, format=PERCENT)
    alarms = chart(data, "alarms").encode(x=rate, y=theme.names("who"))
    sd = across("sd", "standard error", (0, 1.4 * MOST_SPREAD), tickCount=4)
    spread = chart(data, "spread").encode(x=sd, y=theme.names("kind"))
    bars = theme.bars(alarms, "who", BAR_COLORS), theme.bars(spread, "kind", BAR_COLORS)
    row = alt.hconcat(*[view.properties(width=222, height=84) for view in bars])
    both = intervals.properties(width=520, height=240) & row.resolve_scale(color="independent")
    return both.resolve_scale(color="independent", shape="independent")


# one slider


def slider(differences: np.ndarray, test: KFoldTTest) -> Figure:
    """Return the folds with the interval of their mean at one rho, and the p-value at every rho.

    Parameters
    ----------
    differences : (K,) array_like
        Mean difference per fold.
    test : workbench.KFoldTTest
        Test of these differences at the chosen rho.
    """
    values = np.asarray(differences, float)
    heights = 1 - stacked(values[None])[0][0]
    step = max(np.diff(np.unique(heights)), default=1.0)
    data = curve_rows(test, LEVEL, (0.0, 0.995), SLIDER_SIZE)
    data["flips"] = []
    for point in data["points"]:
        # only the chosen point has a text, because the learner looks for the others
        if not point["chosen"]:
            point["text"] = ""
    data["dots"] = rows_of(difference=values, y=1 + heights / step)
    low, high = test.interval(LEVEL)
    significant, verdict = "not significant", "may be 0"
    if test.pvalue < 1 - LEVEL:
        significant, verdict = "significant", "differs"
    limits = {"estimate": test.estimate, "low": low, "high": high}
    data["mean"] = [limits | {"y": 0, "verdict": verdict}]
    p, text = short(test.pvalue, 4), f"{test.pvalue:.4f}"
    if test.pvalue < 1e-4:
        p = text = short_p(test.pvalue)
    ends = [*values.tolist(), *test.at(MOST_RHO).interval(LEVEL), 0.0]
    reach = min(ends) - 0.02, max(ends) + 0.02
    draw = functools.partial(_draw_slider, test.folds * test.repeats, reach)
    rho = f"rho {share(test.rho)} (r {share(test.r)})"
    title = f"{rho}: p {p}, {significant} at {percent(1 - LEVEL)}"
    statistic = f"t is {test.statistic:.3f}, p {text}"
    alternative = (
        f"The mean difference of {values.size} folds is {number(test.estimate)}. With rho "
        f"{test.rho:.3f}, which is a correlation r = {test.r:.3f} of two folds, {statistic}, and "
        f"the {percent(LEVEL)} interval is {low:.3f} to {high:.3f}."
    )
    return Figure(data, title, alternative, draw)


def _draw_slider(folds: int, ends: tuple[float, float], data: dict) -> Any:
    top = max(4, *(row["y"] for row in data["dots"])) + 0.5
    y_axis = alt.Y("y:Q", axis=None, scale=span(-0.8, top))
    dots = chart(data, "dots").mark_circle(size=110, color=ESTIMATE)
    title = "difference per fold (bar: 95% interval)"
    mean = chart(data, "mean").encode(y=y_axis, color=theme.color("verdict", VERDICTS, legend=None))
    shape = theme.shape("verdict", VERDICTS, ["diamond", "circle"], legend=None)
    low = across("low", ends=ends)
    interval = bars_and_dots(mean, low, "estimate", width=5, size=150, clip=True, shape=shape)
    difference = across("difference", title, ends, tickCount=6)
    zero = theme.zero("x", "difference")
    interval_view = alt.layer(zero, dots.encode(x=difference, y=y_axis), *interval)
    width, height = SLIDER_SIZE
    right = draw_curve(folds, (0.0, 1.0), list(RULES), data).properties(width=width, height=height)
    both = interval_view.properties(width=230, height=220) | right
    return both.resolve_scale(color="independent", shape="independent")


# ten thousand experiments


def experiments(study: TypeOneStudy, rho: float | str = 0.0, mean: float | None = None) -> Figure:
    """Return the t-values of many cross-validations under a true null hypothesis, and t's density.

    Parameters
    ----------
    study : workbench.TypeOneStudy
        The simulated cross-validations.
    rho : float or str
        Assumed rho, as in `workbench.kfold_t_test`.
    mean : float, optional
        Tested mean. By default the mean of all runs.
    """
    tested = study.mean if mean is None else mean
    used, df = resolve_rho(rho, study.folds), study.folds - 1
    critical = float(scipy.special.stdtrit(df, (1 + LEVEL) / 2))
    away, finite = study.estimates - tested, study.shown > 0
    t = (1 - used) ** 0.5 * away[finite] / study.theta3[finite] ** 0.5
    x = np.linspace(-EDGE, EDGE, 241)
    density = (1 + x**2 / df) ** (-(df + 1) / 2) / (df**0.5 * scipy.special.beta(0.5, df / 2))
    rate = study.type_one(rho, level=LEVEL, mean=tested)
    error = f"{study.type_one_error(rho, level=LEVEL, mean=tested):.2%}"
    agree = rate - study.type_one(rho, level=LEVEL, mean=tested, zero_variance="refuse")
    infinite = f"; {agree:.2%} because all folds agree" if agree else ""
    name = "true error" if tested == study.mean else "error"
    few = ""
    if study.loss == "zero_one":
        few = " With losses of 0 or 1 few t-values are possible, so the bars are spikes."
    data = {
        "bars": _t_bars(t, away[~finite], critical, study.runs),
        "density": rows_of(t=x, share=density * EDGE / BINS_PER_SIDE),
        "critical": [{"t": -critical}, {"t": critical}],
    }
    title = f"{rate:.2%} ± {error} of runs reject the {name} {short(tested, 4)}"
    scope = (
        f"{study.runs:,} cross-validations of {study.learner} on samples of {study.n} "
        f"{study.population}. The tested error is {tested:.5f}; the mean error of all runs is "
        f"{study.mean:.5f}."
    )
    alternative = (
        f"{scope} At rho {used:.3f} the test rejects in {rate:.2%} of runs, with a Monte Carlo "
        f"error of {error}. The level is {percent(1 - LEVEL)}. In {agree:.2%} of runs all folds "
        f"have the same error, so t is infinite. The true rho of these runs is "
        f"{study.rho:.3f}.{few}"
    )
    title = f"{title} at rho {short(used)}{infinite}"
    return Figure(data, title, alternative, _draw_experiments)


def _t_bars(t: np.ndarray, infinite: np.ndarray, critical: float, runs: int) -> list[dict]:
    """Return the histogram of t, with a bar beyond each edge and one at each infinity.

    `infinite` has the sign of the infinite values of t, of runs in which all folds agree.
    """
    edges = np.linspace(-EDGE, EDGE, 2 * BINS_PER_SIDE + 1)
    rejected = np.abs(t) > critical
    stay, leave = (np.histogram(t[part], edges)[0] / runs for part in (~rejected, rejected))
    bins = {"left": edges[:-1], "right": edges[1:]}
    bars = rows_of(**bins, low=0 * stay, high=stay, kind=["not rejected"] * stay.size)
    bars += rows_of(**bins, low=stay, high=stay + leave, kind=["rejected"] * stay.size)
    ends = ((BEYOND, t[np.abs(t) > EDGE], "rejected"), (INFINITE, infinite, "all folds agree"))
    for at, values, kind in ends:
        for side in (-1, 1):
            share = float((np.sign(values) == side).sum() / runs)
            limits = {"left": side * at - 0.3, "right": side * at + 0.3, "low": 0, "high": share}
            bars.append(limits | {"kind": kind})
    return [bar for bar in bars if bar["high"] > bar["low"]]


def _draw_experiments(data: dict) -> Any:
    names = {BEYOND: f"'> {EDGE}'", -BEYOND: f"'< −{EDGE}'", INFINITE: "'∞'", -INFINITE: "'−∞'"}
    special = "".join(f"datum.value == {at} ? {name} : " for at, name in names.items())
    x = across(
        "left",
        "t of one cross-validation (dashed: t density; lines: critical values)",
        (-INFINITE - 0.5, INFINITE + 0.5),
        values=sorted({*names, -4, -2, 0, 2, 4}),
        labelExpr=f"{special}format(datum.value, 'd')",
        grid=False,
        labelOverlap=False,
    )
    percents = {"tickCount": 5, "format": PERCENT}
    y = up("low", "proportion of the runs", (0, 0.2), **percents)
    bars = chart(data, "bars").mark_rect(stroke=None)
    critical = chart(data, "critical").mark_rule(strokeWidth=1)
    density = chart(data, "density").mark_line(strokeWidth=2, style="truth")
    return alt.layer(
        bars.encode(x=x, x2="right:Q", y=y, y2="high:Q", color=theme.color("kind", OUTCOMES)),
        critical.encode(x="t:Q"),
        density.encode(x="t:Q", y="share:Q"),
    )


# power


def power(
    studies: Mapping[tuple[str, int], ComparisonStudy],
    test: str | None = None,
    predicted: float | None = None,
) -> Figure:
    """Return the false alarms of tests with equal readers, and their power with different readers.

    Parameters
    ----------
    studies : dict of (str, int) to workbench.ComparisonStudy
        Studies by situation and sample size. In the first situation both readers are equal.
    test : str, optional
        The test in the foreground.
    predicted : float, optional
        The predicted power.
    """
    rates = []
    for (situation, n), study in studies.items():
        for row in study.rows():
            rate, error = row["rejects"], row["rejects_error"]
            limits = {"rate": rate, "low": max(rate - error, 0), "high": min(rate + error, 1)}
            new = {"situation": situation, "n": n, "test": row["test"], **limits}
            rates.append(new | {"chosen": int(row["test"] == test)})
    situations, n = _first_keys(studies), max(n for _, n in studies)
    equal, different = situations
    alarms, power = studies[equal, n], studies[different, n]
    test = test or power.tests[0]
    texts = "; ".join(
        f"{name}: {power.rejection(name):.2f}, false alarms {alarms.rejection(name):.3f}"
        for name in power.tests
    )
    error = max(power.rejection_error(name) for name in power.tests)
    first, second = (f"{errors.mean():.3f}" for errors in power.errors)
    guess = [] if predicted is None else [{"rate": predicted, "text": "you"}]
    data = {"rates": rates, "level": [{"rate": 0.05, "text": "5%"}], "guess": guess}
    title = (
        f"{test} with {n} forms finds the better reader in {power.rejection(test):.0%} of "
        f"studies; false alarms: {alarms.rejection(test):.1%}"
    )
    alternative = (
        f"{power.runs} studies of {n} forms. The errors of the two readers ({different}) are "
        f"{first} and {second}. The power of each test at 5%, and its false alarms ({equal}): "
        f"{texts}. The Monte Carlo error is at most {error:.3f}."
    )
    return Figure(data, title, alternative, functools.partial(_draw_power, situations))


def _first_keys(studies: Mapping) -> list[str]:
    return list(dict.fromkeys(first for first, _ in studies))


def _draw_power(situations: Sequence[str], data: dict) -> Any:
    legend = {"columns": 4, "symbolStrokeWidth": 0}
    scale = span(SIZES[0] * 0.85, SIZES[-1] * 1.18, type="log")
    base = chart(data, "rates").encode(
        x=across("n", "forms", scale=scale, values=SIZES, grid=False),
        color=theme.color("test", TEST_COLORS, legend=legend),
    )
    widths = {"domain": [0, 1], "range": [1, 4]}
    width = alt.StrokeWidth("chosen:O", legend=None, scale=widths)
    dashes = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]
    dash = theme.dash("test", TEST_COLORS, dashes, legend=None)
    shape = theme.shape("test", TEST_COLORS, RULE_SHAPES, legend=legend)
    level, guess = (chart(data, name).encode(y="rate:Q") for name in ("level", "guess"))
    lines = [level.mark_rule(style="truth"), beside(level, 4, x="width", style="note")]
    guesses = [
        guess.mark_rule(strokeDash=[2, 2], strokeWidth=2),
        beside(guess, 26, x="width"),
    ]
    panels = []
    for situation, name, most in zip(situations, ("false alarms", "power"), (0.2, 1), strict=True):
        part = base.transform_filter(alt.datum.situation == situation)
        percents = {"tickCount": 5, "format": PERCENT}
        y = up("rate", f"{name}: {situation}", (0, most), **percents)
        layers = [
            *lines,
            part.mark_line().encode(y=y, strokeWidth=width, strokeDash=dash),
            part.mark_rule().encode(y="low:Q", y2="high:Q", strokeWidth=width),
            part.mark_point(filled=True, size=80).encode(y="rate:Q", shape=shape),
        ]
        if name == "power":
            layers += guesses
        panels.append(alt.layer(*layers).properties(width=230, height=230))
    return alt.hconcat(*panels).resolve_scale(y="independent")


# no test is best everywhere


def scoreboard(studies: Mapping[tuple[str, str], ComparisonStudy]) -> Figure:
    """Return the false alarms and the power of all tests, in a panel for each learner.

    Parameters
    ----------
    studies : dict of (str, str) to workbench.ComparisonStudy
        Studies by learner and "equal" or "different". All studies have the same tests.
    """
    learners, first = _first_keys(studies), next(iter(studies.values()))
    error = _rate_error(0.05, first.runs)
    rates, best, texts = [], {}, []
    for learner in learners:
        alarms, power = (studies[learner, name] for name in ("equal", "different"))
        most, scores = -1.0, []
        best[learner] = "no test"
        for test in first.tests:
            row = {
                "learner": learner,
                "test": test,
                "alarms": alarms.rejection(test),
                "power": power.rejection(test),
                "kind": "clearly more than 5%",
            }
            if row["alarms"] <= 0.05 + 2 * error:  # not clearly above 5%
                row["kind"] = "false alarms, about 5% or fewer"
                if row["power"] > most:
                    most, best[learner] = row["power"], test
            rates.append(row)
            scores.append("{test} {alarms:.3f} and {power:.3f}".format(**row))
        texts.append(f"{learner}: {'; '.join(scores)}")
    winners = ", ".join(f"{test} for {learner}" for learner, test in best.items())
    if len(set(best.values())) == 1:
        winners = f"{best[learners[0]]} for {' and '.join(learners)}"
    return Figure(
        {"rates": rates, "level": [{"rate": 0.05}]},
        f"Most power without excess false alarms: {winners}",
        f"False alarms with equal learners and power with different learners, in {first.runs} "
        f"samples of {first.n} items, at 5%. {'. '.join(texts)}. The Monte Carlo error of a rate "
        f"of 5% is {error:.3f}.",
        functools.partial(_draw_scoreboard, first.tests, learners),
    )


def _draw_scoreboard(tests: Sequence[str], learners: Sequence[str], data: dict) -> Any:
    base = chart(data, "rates").encode(y=theme.names("test", tests, **two_lines()))
    legend = {"labelLimit": 260}
    looks = {
        "color": theme.color("kind", SCORES, legend=legend),
        "shape": theme.shape("kind", SCORES, ["square", "diamond", "circle"], legend=legend),
    }
    panels = []
    for learner in learners:
        part = base.transform_filter(alt.datum.learner == learner)
        percents = {"tickCount": 6, "format": PERCENT}
        x = across("alarms", f"{learner}: proportion significant", (0, 1), **percents)
        power = part.mark_point(filled=True, size=90, shape="circle", color=SCORES["power"])
        panel = alt.layer(
            theme.truth(data, "level", x="rate:Q"),
            part.mark_rule(color=GRAY, strokeWidth=2).encode(x=x, x2="power:Q"),
            power.encode(x="power:Q"),
            part.mark_point(filled=True, size=90).encode(x="alarms:Q", **looks),
        )
        panels.append(panel.properties(width=210, height=36 * len(tests)))
    return alt.hconcat(*panels).resolve_scale(y="shared")
