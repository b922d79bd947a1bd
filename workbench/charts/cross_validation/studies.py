"""Charts of many cross-validations: equal clerks, one slider, experiments, power, a scoreboard.

For each chart there are three functions. `*_data` returns its rows, `*_words` its title and its
text alternative, and the function without an ending draws it. The other charts of the topic are in
`workbench.charts.cross_validation`.
"""

import itertools
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
    curve,
    rho_curve_data,
)
from workbench.charts.cross_validation.words import two_lines
from workbench.course.clerks import ClerkStudies
from workbench.cross_validation.kfold import KFoldTTest, resolve_rho
from workbench.results import percent
from workbench.results.digits import number, share, short, short_p
from workbench.simulations.cross_validation import TypeOneStudy

VERDICTS = {"differs": theme.STRATIFIED, "may be 0": theme.GRAY}
ALARMS = {"false alarm": theme.MISS, "no difference shown": theme.GRAY}
POINTS = alt.Axis(labelExpr="format(100 * datum.value, '~g')", tickCount=6)
MOST_DIFFERENCE = (
    0.45  # the axes of `clerks` fit its widest settings, so that they stay while a slider moves
)
MOST_SPREAD = 0.11
MOST_ALARMS = 0.7
SLIDER_SIZE = (300, 220)
EDGE, BEYOND, INFINITE = 6, 6.6, 7.6
BINS_PER_SIDE = 60
LEVEL = 0.95
OUTCOMES = {
    "not rejected": theme.GRAY,
    "rejected": theme.MISS,
    "all folds agree": theme.OKABE_ITO["blue"],
}
SIZES = [50, 100, 200]
TEST_COLORS = {
    "naive t": RULES["naive"],
    "Nadeau-Bengio": RULES["Nadeau-Bengio"],
    "rho 0.7": RULES["0.7"],
    "McNemar, pooled": theme.OKABE_ITO["purple"],
}
SCORES = {
    "false alarms, about 5% or fewer": theme.OKABE_ITO["green"],
    "clearly more than 5%": theme.MISS,
    "power": theme.STRATIFIED,
}


# ten folds


def hook(differences: Sequence[float], pvalue: float) -> alt.TopLevelMixin:
    """Return the difference of two clerks in each fold, and the mean difference.

    Parameters
    ----------
    differences : (K,) array_like of float
        Proportion of errors of clerk A minus that of clerk B, per fold.
    pvalue : float
        p-value of the naive t-test.
    """
    values = [float(d) for d in differences]
    mean = float(np.mean(values))
    bars = [
        {"fold": k + 1, "difference": d, "who": "clerk B" if d > 0 else "clerk A"}
        for k, d in enumerate(values)
    ]
    y = alt.Y("difference:Q", title="errors, A minus B (percentage points)", axis=POINTS)
    base = theme.Chart(theme.rows("folds", bars)).encode(
        x=alt.X("fold:O", title="fold of ten forms", axis=alt.Axis(labelAngle=0)), y=y
    )
    stems = base.mark_rule(strokeWidth=3, color=theme.ESTIMATE).encode(y2=alt.datum(0))
    line = theme.Chart(
        theme.rows(
            "mean", [{"difference": mean, "text": f"mean {100 * mean:+.0f}".replace("-", "−")}]
        )
    )
    name = line.mark_text(x="width", align="left", dx=4).encode(y=y, text="text:N")
    zero = theme.Chart(theme.rows("zero", [{"difference": 0}])).mark_rule(strokeWidth=1).encode(y=y)
    fewer = sum(d < 0 for d in values)
    better, worse = ("A", "B") if mean < 0 else ("B", "A")
    drawn = zero + stems + base.mark_point(filled=True, size=90, color=theme.ESTIMATE)
    return theme.finish(
        drawn + line.mark_rule(style="truth").encode(y=y) + name,
        f"Clerk {better} makes {abs(100 * mean):.0f} fewer errors on 100 forms than clerk {worse}. "
        f"Is {better} the better reader?",
        f"Ten folds of ten forms. Clerk A makes fewer errors than clerk B in {fewer} folds. The "
        f"mean difference is {100 * mean:.0f} percentage points. The t-test over the ten folds "
        "gives "
        f"p = {pvalue:.3f}.".replace(" -", " −"),
    )


# two equal clerks


def clerks_data(
    shown: ClerkStudies, everyone: ClerkStudies, test: str, predicted: float | None = None
) -> dict:
    """Return the rows of `clerks`: intervals, false alarms, estimated and true spread."""
    half = np.nan_to_num(
        shown.standard_errors(test) * scipy.special.stdtrit(shown.df, (1 + LEVEL) / 2)
    )
    studies = [
        {
            "study": s,
            "difference": float(d),
            "low": float(d - h),
            "high": float(d + h),
            "verdict": list(ALARMS)[int(not alarm)],
        }
        for s, (d, h, alarm) in enumerate(
            zip(shown.differences, half, shown.alarms(test, LEVEL), strict=True), 1
        )
    ]
    spread = [
        {"kind": kind, "sd": sd, "text": short(sd)}
        for kind, sd in zip(("estimated", "true"), _spreads(everyone, test), strict=True)
    ]
    rates = {
        "in 400 studies": float(everyone.alarms(test, LEVEL).mean()),
        "you, ten repeats": predicted,
        "level": 1 - LEVEL,
    }
    alarms = [
        {"who": who, "rate": rate, "text": f"{rate:.1%}"}
        for who, rate in rates.items()
        if rate is not None
    ]
    return {"studies": studies, "spread": spread, "alarms": alarms}


def _spreads(studies: ClerkStudies, test: str) -> tuple:
    """Return the mean of the estimated standard errors and the sd of the differences."""
    return float(np.nanmean(studies.standard_errors(test))), float(studies.differences.std(ddof=1))


def clerks_words(
    shown: ClerkStudies, everyone: ClerkStudies, test: str, predicted: float | None = None
) -> tuple[str, str]:
    """Return the title and the text alternative of `clerks`."""
    count, total = int(shown.alarms(test, LEVEL).sum()), shown.differences.size
    alarms = everyone.alarms(test, LEVEL)
    share, error = float(alarms.mean()), _share_error(alarms.mean(), alarms.size)
    estimated, true = _spreads(everyone, test)
    repeated = "once" if shown.repeats == 1 else f"{shown.repeats} times"
    guess = "" if predicted is None else f" You predicted {predicted:.0%} for ten repeats."
    return (
        f"{test}: {count} of {total} studies call{'s' * (count == 1)} two equal clerks different; "
        f"in the long run {share:.1%} ± {error:.1%}",
        f"{percent(LEVEL)} intervals of the {test} test for studies {shown.first} to "
        f"{shown.first + total - 1}. Each study cross-validates {shown.n} forms {repeated}. "
        f"{count} of these {total} studies and {int(alarms.sum())} of {alarms.size} studies raise "
        f"a false alarm. The mean of the estimated standard errors is {estimated:.4f}. The "
        f"standard deviation of the differences is {true:.4f}.{guess}",
    )


def _share_error(share: float, runs: int) -> float:
    return float(np.sqrt(share * (1 - share) / runs))


def clerks(
    shown: ClerkStudies, everyone: ClerkStudies, test: str, predicted: float | None = None
) -> alt.TopLevelMixin:
    """Return the intervals of studies of equal clerks, false alarms, estimated and true spread.

    Parameters
    ----------
    shown, everyone : workbench.ClerkStudies
        The studies whose intervals are shown, and the studies whose false alarms are counted.
    test : {"naive t", "Nadeau-Bengio"}
        Test of the intervals.
    predicted : float, optional
        The predicted proportion of false alarms.
    """
    data = clerks_data(shown, everyone, test, predicted)
    drawn = alt.vconcat(
        _intervals(data),
        alt.hconcat(_alarm_rate(data), _spread(data)).resolve_scale(color="independent"),
    )
    return theme.finish(
        drawn.resolve_scale(color="independent", shape="independent"),
        *clerks_words(shown, everyone, test, predicted),
    )


def _intervals(data: dict) -> Any:
    base = theme.chart(data, "studies").encode(
        color=theme.color("verdict", ALARMS),
        x=alt.X(
            "study:O",
            title="study",
            axis=alt.Axis(values=[1, 10, 20, 30, 40], labelAngle=0, grid=False),
        ),
    )
    y = alt.Y(
        "low:Q",
        title="A minus B (percentage points)",
        axis=POINTS,
        scale=theme.span(-MOST_DIFFERENCE, MOST_DIFFERENCE),
    )
    bars = base.mark_rule(strokeWidth=2, clip=True).encode(y=y, y2="high:Q")
    dots = base.mark_point(filled=True, size=50).encode(
        y="difference:Q", shape=theme.shape("verdict", ALARMS, ["diamond", "circle"])
    )
    zero = (
        theme.Chart(theme.rows("zero", [{"difference": 0}]))
        .mark_rule(style="truth")
        .encode(y="difference:Q")
    )
    return (zero + bars + dots).properties(width=520, height=240)


def _alarm_rate(data: dict) -> Any:
    colors = {
        "in 400 studies": theme.MISS,
        "you, ten repeats": theme.OKABE_ITO["purple"],
        "level": theme.GRAY,
    }
    rates = theme.chart(data, "alarms").encode(
        y=alt.Y("who:N", title=None, sort=None),
        x=alt.X(
            "rate:Q",
            title="false alarms",
            axis=theme.percents(tickCount=4),
            scale=theme.span(0, 1.3 * MOST_ALARMS),
        ),
    )
    return theme.bars(rates, "who", colors).properties(width=222, height=84)


def _spread(data: dict) -> Any:
    spread = theme.chart(data, "spread").encode(
        y=alt.Y("kind:N", title=None, sort=["estimated", "true"]),
        x=alt.X(
            "sd:Q",
            title="standard error",
            axis=alt.Axis(tickCount=4),
            scale=theme.span(0, 1.4 * MOST_SPREAD),
        ),
    )
    colors = {"estimated": theme.ESTIMATE, "true": theme.GRAY}
    return theme.bars(spread, "kind", colors).properties(width=222, height=84)


# one slider


def slider_data(differences: np.ndarray, test: KFoldTTest) -> dict[str, list[dict]]:
    """Return the rows of `slider`: folds, the interval of their mean, the rows of `rho_curve`."""
    values = np.asarray(differences, float)[None]
    heights = 1 - stacked(values)[0][0]
    step = max(np.diff(np.unique(heights)), default=1.0)
    dots = [
        {"difference": d, "y": 1 + h / step}
        for d, h in zip(values[0].tolist(), heights.tolist(), strict=True)
    ]
    low, high = test.interval(LEVEL)
    mean = [
        {
            "estimate": test.estimate,
            "low": low,
            "high": high,
            "y": 0,
            "verdict": "differs" if test.pvalue < 1 - LEVEL else "may be 0",
        }
    ]
    drawn = rho_curve_data(test, level=LEVEL, domain=(0.0, 0.995), size=SLIDER_SIZE)
    # only the chosen point has a text, because the learner looks for the others
    points = [
        point | {"text": point["text"] if point["chosen"] else ""} for point in drawn["points"]
    ]
    return {"dots": dots, "mean": mean} | drawn | {"points": points, "flips": []}


def slider_words(differences: np.ndarray, test: KFoldTTest) -> tuple[str, str]:
    """Return the title and the text alternative of `slider`."""
    low, high = test.interval(LEVEL)
    significant = "significant" if test.pvalue < 1 - LEVEL else "not significant"
    tiny = short_p(test.pvalue) if test.pvalue < 1e-4 else ""
    p = tiny or f"{test.pvalue:.4f}"
    return (
        f"rho {share(test.rho)} (r {share(test.r)}): p {tiny or short(test.pvalue, 4)}, "
        f"{significant} at {percent(1 - LEVEL)}",
        f"The mean difference of {len(differences)} folds is {number(test.estimate)}. With rho "
        f"{test.rho:.3f}, which is a correlation r = {test.r:.3f} of two folds, t is "
        f"{test.statistic:.3f}, p {p}, and the {percent(LEVEL)} interval is {low:.3f} to "
        f"{high:.3f}.",
    )


def slider(differences: np.ndarray, test: KFoldTTest) -> alt.TopLevelMixin:
    """Return the folds with the interval of their mean at one rho, and the p-value at every rho.

    Parameters
    ----------
    differences : (K,) array_like
        Mean difference per fold.
    test : workbench.KFoldTTest
        Test of these differences at the chosen rho.
    """
    data = slider_data(differences, test)
    ends = [*differences, *test.at(MOST_RHO).interval(LEVEL), 0.0]
    x = theme.span(min(ends) - 0.02, max(ends) + 0.02)
    up = alt.Y(
        "y:Q", axis=None, scale=theme.span(-0.8, max(4, *(row["y"] for row in data["dots"])) + 0.5)
    )
    dots = (
        theme.chart(data, "dots")
        .mark_circle(size=110, color=theme.ESTIMATE)
        .encode(
            y=up,
            x=alt.X(
                "difference:Q",
                title="difference per fold (bar: 95% interval)",
                scale=x,
                axis=alt.Axis(tickCount=6),
            ),
        )
    )
    mean = theme.chart(data, "mean").encode(
        y=up, color=theme.color("verdict", VERDICTS, legend=None)
    )
    bar = mean.mark_rule(strokeWidth=5, clip=True).encode(x=alt.X("low:Q", scale=x), x2="high:Q")
    center = mean.mark_point(filled=True, size=150).encode(
        x="estimate:Q", shape=theme.shape("verdict", VERDICTS, ["diamond", "circle"], legend=None)
    )
    zero = (
        theme.Chart(theme.rows("zero", [{"difference": 0}]))
        .mark_rule(strokeWidth=1)
        .encode(x="difference:Q")
    )
    left = (zero + dots + bar + center).properties(width=230, height=220)
    right = curve(data, test.folds * test.repeats, (0.0, 1.0)).properties(
        width=SLIDER_SIZE[0], height=SLIDER_SIZE[1]
    )
    both = alt.hconcat(left, right).resolve_scale(color="independent", shape="independent")
    return theme.finish(both, *slider_words(differences, test))


# ten thousand experiments


def experiments_data(
    study: TypeOneStudy, rho: float | str = 0.0, mean: float | None = None, *, level: float = 0.95
) -> dict:
    """Return the rows of `experiments`: bars of the t-values, t's density, the critical values."""
    t, infinite = _t_values(study, rho, mean)
    critical = float(scipy.special.stdtrit(study.folds - 1, (1 + level) / 2))
    share = 1 / study.runs
    edges = np.linspace(-EDGE, EDGE, 2 * BINS_PER_SIDE + 1)
    beyond = np.abs(t) > EDGE
    kept = np.histogram(t[np.abs(t) <= critical], edges)[0] * share
    rejected = np.histogram(t[(np.abs(t) > critical) & ~beyond], edges)[0] * share
    bars = []
    ends = itertools.pairwise(edges.tolist())
    for (low, high), stay, leave in zip(ends, kept.tolist(), rejected.tolist(), strict=True):
        bars += [_bar(low, high, 0, stay, "not rejected")] if stay else []
        bars += [_bar(low, high, stay, stay + leave, "rejected")] if leave else []
    bars += [
        _bar(
            side * at - 0.3,
            side * at + 0.3,
            0,
            float((np.sign(values) == side).sum() * share),
            kind,
        )
        for side in (-1, 1)
        for at, values, kind in (
            (BEYOND, t[beyond], "rejected"),
            (INFINITE, infinite, "all folds agree"),
        )
    ]
    x = np.linspace(-EDGE, EDGE, 241)
    y = _t_density(x, study.folds - 1) * EDGE / BINS_PER_SIDE
    return {
        "bars": bars,
        "density": [{"t": a, "share": b} for a, b in zip(x.tolist(), y.tolist(), strict=True)],
        "critical": [{"t": -critical}, {"t": critical}],
    }


def _bar(left: float, right: float, low: float, high: float, kind: str) -> dict:
    return {"left": left, "right": right, "low": low, "high": high, "kind": kind}


def _t_values(study: TypeOneStudy, rho: float, mean: float | None) -> tuple:
    """Return the finite t-values, and the signs of the infinite ones, for which all folds agree."""
    away = study.estimates - (study.mean if mean is None else mean)
    finite = study.shown > 0
    scale = (1 - resolve_rho(rho, study.folds)) ** 0.5
    t = scale * away[finite] / study.theta3[finite] ** 0.5
    return t, np.sign(away[~finite])


def _t_density(t: np.ndarray, df: int) -> np.ndarray:
    constant = (
        scipy.special.gammaln((df + 1) / 2) - scipy.special.gammaln(df / 2) - np.log(df * np.pi) / 2
    )
    return np.exp(constant - (df + 1) / 2 * np.log1p(t**2 / df))


def experiments_words(
    study: TypeOneStudy, rho: float | str = 0.0, mean: float | None = None
) -> tuple[str, str]:
    """Return the title and the text alternative of `experiments`."""
    tested = study.mean if mean is None else mean
    share = study.type_one(rho, level=LEVEL, mean=tested)
    agree = share - study.type_one(rho, level=LEVEL, mean=tested, zero_variance="refuse")
    used = resolve_rho(rho, study.folds)
    infinite = f"; {agree:.2%} because all folds agree" if agree else ""
    what = "true error" if mean is None or mean == study.mean else "error"
    few = (
        " With losses of 0 or 1 few t-values are possible, so the bars are spikes."
        if study.loss == "zero_one"
        else ""
    )
    return (
        f"{share:.2%} ± {_share_error(share, study.runs):.2%} of runs reject the {what} "
        f"{short(tested, 4)} at rho {short(used)}{infinite}",
        f"{study.runs:,} cross-validations of {study.learner} on samples of {study.n} "
        f"{study.population}. The tested error is {tested:.5f}; the mean error of all runs is "
        f"{study.mean:.5f}. At rho {used:.3f} the test rejects in {share:.2%} of runs, with a "
        f"Monte Carlo error of {_share_error(share, study.runs):.2%}. The level is "
        f"{percent(1 - LEVEL)}. In {agree:.2%} of runs all folds have the same error, so t is "
        f"infinite. The true rho of these runs is {study.rho:.3f}.{few}",
    )


def experiments(
    study: TypeOneStudy, rho: float | str = 0.0, mean: float | None = None
) -> alt.TopLevelMixin:
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
    data = experiments_data(study, rho, mean)
    names = {BEYOND: f"'> {EDGE}'", -BEYOND: f"'< −{EDGE}'", INFINITE: "'∞'", -INFINITE: "'−∞'"}
    label = (
        "".join(f"datum.value == {at} ? {name} : " for at, name in names.items())
        + "format(datum.value, 'd')"
    )
    axis = alt.Axis(
        values=sorted({*names, -4, -2, 0, 2, 4}), labelExpr=label, grid=False, labelOverlap=False
    )
    x = alt.X(
        "left:Q",
        title="t of one cross-validation (dashed: t density; lines: critical values)",
        axis=axis,
        scale=theme.span(-INFINITE - 0.5, INFINITE + 0.5),
    )
    bars = (
        theme.chart(data, "bars")
        .mark_rect(stroke=None)
        .encode(
            x=x,
            x2="right:Q",
            y=alt.Y(
                "low:Q",
                title="proportion of the runs",
                axis=theme.percents(tickCount=5),
                scale=theme.span(0, 0.2),
            ),
            y2="high:Q",
            color=theme.color("kind", OUTCOMES),
        )
    )
    density = (
        theme.chart(data, "density")
        .mark_line(strokeWidth=2, style="truth")
        .encode(x="t:Q", y="share:Q")
    )
    critical = theme.chart(data, "critical").mark_rule(strokeWidth=1).encode(x="t:Q")
    return theme.finish(bars + critical + density, *experiments_words(study, rho, mean))


# power


def power_data(studies: Mapping, test: str | None = None, predicted: float | None = None) -> dict:
    """Return the rows of `power`: rejection rates by situation, size and test; the prediction."""
    rates = [
        {
            "situation": situation,
            "n": n,
            "test": row["test"],
            "rate": row["rejects"],
            "low": max(row["rejects"] - row["rejects_error"], 0),
            "high": min(row["rejects"] + row["rejects_error"], 1),
            "chosen": int(row["test"] == test),
        }
        for (situation, n), study in studies.items()
        for row in study.rows()
    ]
    guess = [] if predicted is None else [{"rate": predicted, "text": "you"}]
    return {"rates": rates, "level": [{"rate": 0.05, "text": "5%"}], "guess": guess}


def power_words(
    studies: Mapping, test: str | None = None, predicted: float | None = None
) -> tuple[str, str]:
    """Return the title and the text alternative of `power`, for the largest samples and one test."""
    (equal, different), n = _situations(studies), max(n for _, n in studies)
    alarms, power = studies[equal, n], studies[different, n]
    test = test or alarms.tests[0]
    rates = "; ".join(
        f"{name}: {power.rejection(name):.2f}, false alarms {alarms.rejection(name):.3f}"
        for name in power.tests
    )
    error = max(_share_error(power.rejection(name), power.runs) for name in power.tests)
    return (
        f"{test} with {n} forms finds the better reader in {power.rejection(test):.0%} of "
        f"studies; false alarms: {alarms.rejection(test):.1%}",
        f"{power.runs} studies of {n} forms. The errors of the two readers ({different}) are "
        f"{power.errors[0].mean():.3f} and {power.errors[1].mean():.3f}. The power of each test "
        f"at 5%, and its false alarms ({equal}): {rates}. The Monte Carlo error is at most "
        f"{error:.3f}.",
    )


def _situations(studies: Mapping) -> tuple:
    return tuple(dict.fromkeys(situation for situation, _ in studies))


def power(
    studies: Mapping, test: str | None = None, predicted: float | None = None
) -> alt.TopLevelMixin:
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
    data = power_data(studies, test, predicted)
    panels = [
        _power_panel(data, situation, k == 0) for k, situation in enumerate(_situations(studies))
    ]
    return theme.finish(
        alt.hconcat(*panels).resolve_scale(y="independent"), *power_words(studies, test)
    )


def _power_panel(data: dict, situation: str, equal: bool) -> Any:
    legend = alt.Legend(columns=4, symbolStrokeWidth=0)
    base = (
        theme.chart(data, "rates")
        .transform_filter(alt.datum.situation == situation)
        .encode(
            x=alt.X(
                "n:Q",
                title="forms",
                axis=alt.Axis(values=SIZES, grid=False),
                scale=theme.span(SIZES[0] * 0.85, SIZES[-1] * 1.18, type="log"),
            ),
            color=theme.color("test", TEST_COLORS, legend=legend),
        )
    )
    y = alt.Y(
        "rate:Q",
        title=f"{'false alarms' if equal else 'power'}: {situation}",
        axis=theme.percents(tickCount=5),
        scale=alt.Scale(domain=[0, 0.2] if equal else [0, 1], nice=False),
    )
    width = alt.StrokeWidth("chosen:O", legend=None, scale=alt.Scale(domain=[0, 1], range=[1, 4]))
    lines = base.mark_line().encode(
        y=y,
        strokeWidth=width,
        strokeDash=theme.dash(
            "test", TEST_COLORS, [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]], legend=None
        ),
    )
    bars = base.mark_rule().encode(y="low:Q", y2="high:Q", strokeWidth=width)
    dots = base.mark_point(filled=True, size=80).encode(
        y="rate:Q", shape=theme.shape("test", TEST_COLORS, RULE_SHAPES, legend=legend)
    )
    level, guess = (theme.chart(data, name).encode(y="rate:Q") for name in ("level", "guess"))
    name = level.mark_text(x="width", dx=4, align="left", style="note").encode(text="text:N")
    guessed = (
        []
        if equal
        else [
            guess.mark_rule(strokeDash=[2, 2], strokeWidth=2),
            guess.mark_text(x="width", dx=26, align="left").encode(text="text:N"),
        ]
    )
    promised = level.mark_rule(style="truth")
    return alt.layer(promised, name, lines, bars, dots, *guessed).properties(width=230, height=230)


# no test is best everywhere


def scoreboard_data(studies: Mapping) -> dict:
    """Return the rows of `scoreboard`: false alarms and power of each test, by learner."""
    rates = [
        {
            "learner": learner,
            "test": test,
            "alarms": equal.rejection(test),
            "power": studies[learner, "different"].rejection(test),
            "kind": list(SCORES)[1 - _keeps(equal, test)],
        }
        for learner in _situations(studies)
        for equal in [studies[learner, "equal"]]
        for test in equal.tests
    ]
    return {"rates": rates, "level": [{"rate": 0.05}]}


def _keeps(study: Any, test: str) -> bool:
    """Return whether the false alarms are not clearly above 5%."""
    return study.rejection(test) <= 0.05 + 2 * _share_error(0.05, study.runs)


def scoreboard_words(studies: Mapping) -> tuple[str, str]:
    """Return the title and the text alternative of `scoreboard`."""
    learners, first = _situations(studies), next(iter(studies.values()))
    best = {
        learner: max(
            (test for test in first.tests if _keeps(studies[learner, "equal"], test)),
            key=studies[learner, "different"].rejection,
            default=None,
        )
        for learner in learners
    }
    named = ", ".join(f"{test or 'no test'} for {learner}" for learner, test in best.items())
    rates = ". ".join(
        f"{learner}: "
        + "; ".join(
            f"{test} {studies[learner, 'equal'].rejection(test):.3f} and "
            f"{studies[learner, 'different'].rejection(test):.3f}"
            for test in first.tests
        )
        for learner in learners
    )
    if len(set(best.values())) == 1:
        named = f"{best[learners[0]] or 'no test'} for {' and '.join(learners)}"
    return f"Most power without excess false alarms: {named}", (
        f"False alarms with equal learners and power with different learners, in {first.runs} "
        f"samples of {first.n} items, at 5%. {rates}. The Monte Carlo error of a rate of 5% is "
        f"{_share_error(0.05, first.runs):.3f}."
    )


def scoreboard(studies: Mapping) -> alt.TopLevelMixin:
    """Return the false alarms and the power of all tests, in a panel for each learner.

    Parameters
    ----------
    studies : dict of (str, str) to workbench.ComparisonStudy
        Studies by learner and "equal" or "different". All studies have the same tests.
    """
    data = scoreboard_data(studies)
    panels = [_score_panel(data, learner) for learner in _situations(studies)]
    return theme.finish(alt.hconcat(*panels).resolve_scale(y="shared"), *scoreboard_words(studies))


def _score_panel(data: dict, learner: str) -> Any:
    order, legend = (
        list(dict.fromkeys(row["test"] for row in data["rates"])),
        alt.Legend(labelLimit=260),
    )
    base = (
        theme.chart(data, "rates")
        .transform_filter(alt.datum.learner == learner)
        .encode(y=alt.Y("test:N", sort=order, title=None, axis=two_lines()))
    )
    x = alt.X(
        "alarms:Q",
        title=f"{learner}: proportion significant",
        axis=theme.percents(tickCount=6),
        scale=theme.span(0, 1),
    )
    joined = base.mark_rule(color=theme.GRAY, strokeWidth=2).encode(x=x, x2="power:Q")
    power = base.mark_point(filled=True, size=90, shape="circle", color=SCORES["power"]).encode(
        x="power:Q"
    )
    alarms = base.mark_point(filled=True, size=90).encode(
        x="alarms:Q",
        color=theme.color("kind", SCORES, legend=legend),
        shape=theme.shape("kind", SCORES, ["square", "diamond", "circle"], legend=legend),
    )
    level = theme.chart(data, "level").mark_rule(style="truth").encode(x="rate:Q")
    return (level + joined + power + alarms).properties(width=210, height=36 * len(order))
