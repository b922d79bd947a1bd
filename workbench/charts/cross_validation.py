"""Charts of cross-validation tests: folds, rho, posterior, pairs of models.

As for the other topics there are three functions for each picture: `..._data` gives its rows, `..._words` its title
and text alternative, and the picture itself is an altair chart built from both.
"""
import math

import altair as alt
import numpy as np
import scipy

from workbench.charts import theme
from workbench.charts.words import (
    between,
    limited,
    number,
    padded,
    probability,
    short,
    short_names,
    short_p,
    values_axis,
)
from workbench.cross_validation import ROUNDING, ZeroVarianceError, kfold_t_test
from workbench.cv_losses import CVLosses
from workbench.results import percent

FIRST, SECOND, NEITHER = theme.OKABE_ITO["blue"], theme.OKABE_ITO["vermilion"], theme.GRAY
VERDICTS = {"differs": theme.STRATIFIED, "may be 0": theme.GRAY}
RULES = {"naive": theme.OKABE_ITO["vermilion"], "Nadeau-Bengio": theme.OKABE_ITO["blue"],
         "0.7": theme.OKABE_ITO["green"], "used": theme.OKABE_ITO["purple"]}
RULE_SHAPES = ["triangle-up", "circle", "square", "diamond"]
SIDES = ("first", "second")
REGIONS = {"first better": FIRST, "practically equal": theme.GRAY, "second better": SECOND}
STACKS = 60
DOT = 11
MOST_HEIGHT = 400
SHOWN_MODELS = 24
SHOWN_PAIRS = 66
MOST_RHO = 0.95
LEAST_P = 1e-15
NEAR = 0.07


# what the folds show

def folds_data(cv, *, rho=0.7, level=0.95):
    """Return the rows of `folds`: dots, mean and intervals; of more than two models dots and means only."""
    if len(cv.models) > 2:
        return _models_data(cv)
    values, (heights, _) = cv.fold_means(), stacked(cv.fold_means())
    sides = _sides(cv)
    dots = [{"value": value, "y": y, "side": sides[1 + int(np.sign(value))] if len(sides) > 1 else sides[0]}
            for value, y in zip(values.ravel().tolist(), heights.ravel().tolist(), strict=True)]
    intervals = [_interval_row(name, test, level, len(cv.models) == 2) for name, test in _tests(cv, rho)]
    return {"dots": dots, "mean": [{"value": _mean(cv)}], "intervals": intervals,
            "zero": [{"value": 0}] if len(cv.models) == 2 else []}


def _sides(cv):
    """Return what the sign -1, 0, 1 of a difference says, or the name of the only model."""
    names = short_names(cv.models)
    return names if len(names) == 1 else [f"{names[0]} better", "equal", f"{names[1]} better"]


def _interval_row(name, test, level, compared):
    low, high = test.interval(level)
    verdict = "" if not compared else "differs" if low > 0 or high < 0 else "may be 0"
    return {"test": name, "estimate": test.estimate, "low": low, "high": high, "verdict": verdict}


def _tests(cv, rho):
    """Return (name, test) for rho = 0, Nadeau and Bengio's and the chosen one; none where folds agree."""
    try:
        chosen = kfold_t_test(cv, rho=rho)
    except ZeroVarianceError:
        return []
    tests = {"naive": chosen.at("naive"), "Nadeau-Bengio": chosen.at("nadeau_bengio")}
    same = [name for name, test in tests.items() if abs(test.rho - chosen.rho) < 1e-9]
    named = {name + (" (chosen)" if name in same else ""): test for name, test in tests.items()}
    return [(f"{name}, rho {short(test.rho)}", test)
            for name, test in (named | ({} if same else {"chosen": chosen})).items()]


def _mean(cv):
    return float(np.average(cv.fold_means(), weights=cv.sizes))


def stacked(means):
    """Return where each dot of (R, K) stands, dots of a repeat on top of each other, and the highest stack."""
    low, spread = means.min(), np.ptp(means)
    cell = np.zeros(means.shape, int) if spread == 0 else ((means - low) / spread * STACKS).round().astype(int)
    above = np.stack([_ranks(row) for row in cell])
    most, repeats = int(above.max()) + 1, len(means)
    row = _row_height(most, repeats)
    step = min(DOT / row, 0.85 / most)
    return np.arange(1, repeats + 1)[:, None] - above * step, most


def _ranks(cells):
    """Return how many of the same cell come before each entry."""
    order = np.argsort(cells, kind="stable")
    start = np.searchsorted(cells[order], cells[order])
    ranks = np.empty(cells.size, int)
    ranks[order] = np.arange(cells.size) - start
    return ranks


def _row_height(most, repeats):
    return min(max(20, DOT * most), MOST_HEIGHT / repeats)


def folds_words(cv, *, rho=0.7, level=0.95):
    """Return title and text alternative of `folds`."""
    if len(cv.models) > 2:
        return _models_words(cv)
    values, repeats = cv.fold_means(), _repeats(cv)
    tests = _tests(cv, rho)
    intervals = "; ".join(f"{name}: {between(*test.interval(level))}" for name, test in tests)
    said = f"{percent(level)} intervals of the mean: {intervals}." if tests else \
        "All folds have the same mean: the variance they show is 0, so there is no interval and no test."
    about = f"Mean {cv.label} {number(_mean(cv))}" if len(cv.models) == 2 else \
        f"Mean loss of {cv.models[0]} {number(_mean(cv))}"
    title = _winner(cv, bool(tests)) if len(cv.models) == 2 else (
        f"Mean loss of {limited(cv.models[0], 30)} {number(_mean(cv))}: " + (
            f"folds from {between(values.min(), values.max())}" if tests else "the same in every fold, no variance"))
    return title + repeats, (f"{about}; folds from {between(values.min(), values.max())}{repeats}, "
                             f"{values.size} in all. {said}")


def _repeats(cv):
    return f", {cv.repeats} repeats with the same items" if cv.repeats > 1 else ""


def _winner(cv, tested):
    values, mean, (first, second) = cv.fold_means(), _mean(cv), short_names(cv.models)
    total, wins = values.size, [int((values < 0).sum()), int((values > 0).sum())]
    better = first if mean < 0 else second
    if not tested:
        return f"{first} and {second} have the same loss in every fold: no variance, no test" if mean == 0 else \
            f"{better} has the smaller loss, by {number(abs(mean))} in every fold alike: no variance, no test"
    ties = total - sum(wins)
    equal = f", {ties} equal" if ties else ""
    if abs(mean) <= 1e-12 * np.abs(values).max():
        return f"On average neither is better: {first} in {wins[0]}, {second} in {wins[1]} of {total} folds{equal}"
    return (f"{better} has the smaller loss, by {number(abs(mean))}: in {wins[0] if mean < 0 else wins[1]} of {total} "
            f"folds{equal}")


def folds(cv, *, rho=0.7, level=0.95):
    """Return the difference in each fold as a dot, and under it the intervals of the mean for three rho.

    Parameters
    ----------
    cv : workbench.CVLosses
        Of two models the difference is drawn, of one its loss; of more one row of dots per model.
    rho : float or str
        The chosen one, as in `workbench.kfold_t_test`.
    level : float
    """
    words = folds_words(cv, rho=rho, level=level)
    if len(cv.models) > 2:
        return theme.finish(_models(cv), *words, height=max(60, 26 * min(len(cv.models), SHOWN_MODELS)))
    data, sides = folds_data(cv, rho=rho, level=level), _sides(cv)
    most = stacked(cv.fold_means())[1]
    row_height = _row_height(most, cv.repeats)
    title = "difference in loss (dashed: mean)" if len(sides) == 3 else "loss (dashed: mean)"
    ends = [row["value"] for name in ("dots", "zero") for row in data[name]]
    ends += [row[end] for row in data["intervals"] for end in ("low", "high")]
    within = padded(ends)
    colors = dict(zip(sides, (FIRST, NEITHER, SECOND) if len(sides) == 3 else (FIRST,), strict=True))
    legend = alt.Legend(labelLimit=240) if len(sides) == 3 else None
    rows = alt.Axis(values=list(range(1, cv.repeats + 1)), format="d", grid=False, labelOverlap=True)
    dots = alt.Chart(theme.rows("dots", data["dots"])).mark_point(filled=True, size=_dot_size(most, cv.repeats)).encode(
        x=alt.X("value:Q", title=None if data["intervals"] else title, scale=within,
                axis=values_axis(ends, not data["intervals"])),
        y=alt.Y("y:Q", title="repeat", axis=rows if cv.repeats > 1 else None,
                scale=alt.Scale(domain=[0.1, cv.repeats + 8 / row_height], reverse=True, nice=False)),
        color=alt.Color("side:N", title=None, scale=theme.scale(colors), legend=legend),
        shape=alt.Shape("side:N", title=None, legend=legend, scale=alt.Scale(
            domain=sides, range=["circle", "square", "diamond"][:len(sides)])))
    zero = alt.Chart(theme.rows("zero", data["zero"])).mark_rule(strokeWidth=1).encode(x="value:Q")
    mean = alt.Chart(theme.rows("mean", data["mean"])).mark_rule(style="truth").encode(x="value:Q")
    above = (zero + mean + dots).properties(width=theme.WIDTH - 160, height=row_height * cv.repeats + 8)
    below = [_intervals(data, title, values_axis(ends), within)] if data["intervals"] else []
    return theme.finish(alt.vconcat(above, *below, spacing=4).resolve_scale(color="independent", shape="independent"),
                        *words, width=None, height=None)


def _intervals(data, title, axis, within):
    base = alt.Chart(theme.rows("intervals", data["intervals"])).encode(
        y=alt.Y("test:N", sort=[row["test"] for row in data["intervals"]], title=None, axis=alt.Axis(labelLimit=220)),
        color=alt.Color("verdict:N", legend=None, scale=theme.scale(VERDICTS | {"": FIRST})))
    bars = base.mark_rule(strokeWidth=4).encode(x=alt.X("low:Q", title=title, axis=axis, scale=within), x2="high:Q")
    dots = base.mark_point(filled=True, size=110).encode(x="estimate:Q", shape=alt.Shape(
        "verdict:N", legend=None, scale=alt.Scale(domain=[*VERDICTS, ""], range=["diamond", "circle", "circle"])))
    zero = alt.Chart(theme.rows("zero", data["zero"])).mark_rule(strokeWidth=1).encode(x="value:Q")
    return (zero + bars + dots).properties(width=theme.WIDTH - 160, height=24 * len(data["intervals"]))


def _dot_size(most, repeats):
    return float(np.clip((_row_height(most, repeats) * min(0.85 / most, 1)) ** 2 * 0.9, 8, 75))


# more than two models

def _models_data(cv):
    rows, marks = [], []
    for name, label, means, mean in _models_by_mean(cv)[:SHOWN_MODELS]:
        rows += [{"model": label, "value": value, "repeat": r + 1} for r, row in enumerate(means.tolist())
                 for value in row]
        marks.append({"model": label, "mean": mean, "place": name})
    return {"dots": rows, "means": marks}


def _models_by_mean(cv):
    """Return (name, short name, fold means, mean) of each model, smallest mean first."""
    labels, alone = short_names(cv.models), []
    for k, name in enumerate(cv.models):
        one = CVLosses(cv.losses[:, k], cv.fold, (name,), cv.item, cv.repeat, cv.fold_size)
        alone.append((name, labels[k], one.fold_means(), _mean(one)))
    return sorted(alone, key=lambda found: found[3])


def _models_words(cv):
    found = _models_by_mean(cv)
    means = np.stack([one[2] for one in found])
    least = int((means[0] == means.min(0)).sum())
    left = f" Shown are the {SHOWN_MODELS} with the smallest of {len(found)}." if len(found) > SHOWN_MODELS else ""
    said = ", ".join(f"{name} {number(mean)}" for name, _, _, mean in found[:SHOWN_MODELS])
    tied = [label for _, label, _, mean in found if mean - found[0][3] <= ROUNDING * abs(found[-1][3])]
    often = f": the smallest in {least} of {means[0].size} folds{_repeats(cv)}" if len(tied) == 1 else ""
    return (f"{_smallest(tied)}, {number(found[0][3])}{often}"
            + (f"; {SHOWN_MODELS} of {len(found)} models shown" if left else ""),
            f"Mean loss of each model over {means[0].size} folds{_repeats(cv)}: {said}.{left}")


def _models(cv):
    data = _models_data(cv)
    order = [row["model"] for row in data["means"]]
    y = alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=220, grid=True))
    x = alt.X("value:Q", title="loss in each fold (bar: mean)", scale=alt.Scale(zero=False),
              axis=values_axis([row["value"] for row in data["dots"]]))
    dots = alt.Chart(theme.rows("dots", data["dots"])).mark_point(opacity=0.7, size=40, color=FIRST).encode(x=x, y=y)
    means = alt.Chart(theme.rows("means", data["means"])).mark_tick(thickness=4, size=20, color=SECOND).encode(
        x="mean:Q", y=y)
    return dots + means


# p over rho

def rho_curve_data(test, *, level=0.95, domain=None):
    """Return the rows of `rho_curve`: the curve, named points, the level, where the verdict flips."""
    low, high = domain or _rho_range(test)
    points = _points(test, 1 - level, low + 0.1 * (high - low))
    curve = [{"rho": rho, "p": max(test.at(rho).pvalue, LEAST_P)} for rho in np.linspace(low, high, 121).tolist()]
    flips = test.rho_alpha(level)
    inside = [{"rho": flips, "text": f"flips at {short(flips)}", "side": "left" if flips < (low + high) / 2
               else "right"}] if low < flips < high else []
    return {"curve": curve, "points": points, "level": [{"p": 1 - level, "text": percent(1 - level)}], "flips": inside}


def _points(test, risk, left):
    """Return the named points; p is written where no line crosses it, and not at all where it would cover another."""
    names = ("naive", "Nadeau-Bengio", "0.7", "used")
    rows, used = test.rows(), [row["rho"] for row in test.rows()]
    points = []
    for name, row in zip(names, rows, strict=False):
        chosen = abs(row["rho"] - test.rho) < 1e-9
        near = [rho for rho in used if abs(rho - row["rho"]) < NEAR]
        shown = chosen or row["rho"] == min(near) and not any(abs(test.rho - rho) < 1e-9 for rho in near)
        points.append({"rho": row["rho"], "p": max(row["p"], LEAST_P), "rule": name, "chosen": int(chosen),
                       "text": f"p {short_p(row['p'])}" if shown else "",
                       "place": "left" if row["rho"] < left else "below" if risk / 2 < row["p"] < risk else "above"})
    return points


def _rho_range(test):
    most = max(row["rho"] for row in test.rows())
    return min(0.0, test.rho), max(MOST_RHO, most + 0.4 * (1 - most))


def rho_curve_words(test, *, level=0.95):
    """Return title and text alternative of `rho_curve`."""
    flips, risk, least = test.rho_alpha(level), percent(1 - level), min(0.0, test.rho)
    now, bound = f"p {short_p(test.pvalue)} at rho {short(test.rho)}", short(min(flips, 0.999))
    if flips <= least:
        title = f"Not significant at {risk} for any rho, not even at {short(least)}; {now}"
    elif test.pvalue < 1 - level:
        title = f"Significant at {risk}: {now}, and for any rho below {bound}"
    else:
        title = f"Not significant at {risk}: {now}; it would be for rho below {bound}"
    said = "; ".join(f"{row['test']} (rho {row['rho']:.3f}, r {row['r']:.3f}): p {row['p']:.4g}" for row in test.rows())
    whole = f" rho is that of one of the {test.repeats} repeats." if test.repeats > 1 else ""
    side = "" if test.alternative == "two-sided" else f", one-sided ({test.alternative})"
    where = f"The verdict flips at rho {flips:.3f}" if flips > least else "No rho from 0 on makes it significant"
    return title, f"p-value of the K-fold t-test of {test.label}{side} for every rho. {said}. {where}.{whole}"


def rho_curve(test, *, level=0.95):
    """Return the p-value over rho with the tests' choices, the level, and where the verdict flips.

    Parameters
    ----------
    test : workbench.KFoldTTest
    level : float
    """
    data = rho_curve_data(test, level=level)
    chart = curve(data, test.folds, _rho_range(test))
    return theme.finish(chart, *rho_curve_words(test, level=level), height=240)


def curve(data, folds, domain):
    """Return p over rho, on an axis that also says the correlation r of two of `folds` fold means."""
    low = min(row["p"] for row in data["curve"])
    x = alt.X("rho:Q", title="assumed rho (below it: correlation r of two folds)", axis=_rho_axis(folds, domain),
              scale=alt.Scale(domain=list(domain), nice=False))
    y = alt.Y("p:Q", title="p-value (log scale)", axis=alt.Axis(values=_p_ticks(low), format="~g"),
              scale=alt.Scale(type="log", domain=[min(low ** 1.15 / 1.5, 0.03), 1], nice=False))
    curve = alt.Chart(theme.rows("curve", data["curve"])).mark_line(strokeWidth=2, color=theme.GRAY).encode(x=x, y=y)
    at = alt.Chart(theme.rows("level", data["level"]))
    level = at.mark_rule(strokeWidth=1.5).encode(y="p:Q")
    name = at.mark_text(x="width", align="left", dx=4, style="note").encode(y="p:Q", text="text:N")
    flip = alt.Chart(theme.rows("flips", data["flips"])).encode(x="rho:Q")
    flips = [flip.mark_rule(style="truth")]
    flips += [flip.mark_text(y="height", dy=-8, dx=6 if side == "left" else -6, align=side).encode(
        text="text:N").transform_filter(alt.datum.side == side) for side in ("left", "right")]
    points = alt.Chart(theme.rows("points", data["points"]))
    marks = points.mark_point(filled=True).encode(
        x="rho:Q", y="p:Q", size=alt.Size("chosen:O", legend=None, scale=alt.Scale(domain=[0, 1], range=[90, 230])),
        color=alt.Color("rule:N", title=None, scale=theme.scale(RULES)),
        shape=alt.Shape("rule:N", title=None, scale=alt.Scale(domain=list(RULES), range=RULE_SHAPES)))
    texts = [points.mark_text(dy=dy, dx=dx, align=align).encode(x="rho:Q", y="p:Q", text="text:N").transform_filter(
        alt.datum.place == place) for place, dx, dy, align in (("left", 9, 12, "left"), ("below", 0, 17, "center"),
                                                ("above", -2, -13, "right"))]
    return alt.layer(level, name, curve, *flips, marks, *texts)


def _rho_axis(folds, domain):
    step = 0.1 if domain[1] - domain[0] < 1.2 else 0.2
    start = math.ceil(domain[0] / step - 1e-9)
    values = [round(k * step, 10) for k in range(start, math.floor(domain[1] / step + 1e-9) + 1)]
    labels = f"[format(datum.value, '.1f'), format(datum.value / ({folds} - {folds - 1} * datum.value), '.2~f')]"
    return alt.Axis(values=values, labelExpr=labels, grid=False)


def _p_ticks(low):
    decades = math.floor(math.log10(low))
    if decades >= -4:
        return [0.0001, 0.001, 0.01, 0.05, 0.1, 0.5, 1]
    step = math.ceil(-decades / 6)
    return [10.0 ** -k for k in range(0, -decades + 1, step)]


# posterior

def posterior_data(found, models=SIDES):
    """Return the rows of `posterior`: the density cut at the region of practical equivalence, the regions' names."""
    low, high = _posterior_range(found)
    cuts, width = (-found.half_width, found.half_width), found.half_width
    ends = (low, *(cuts if width else (0.0,)), high)
    names = [name for name in REGIONS if width or name != "practically equal"]
    density = [{"difference": x, "density": y, "region": name} for name, start, end in
               zip(names, ends[:-1], ends[1:], strict=True)
               for xs in [np.linspace(start, end, 81)] for x, y in zip(xs.tolist(), found.density(xs).tolist(),
                                                                       strict=True)]
    share = dict(zip(REGIONS, (found.left, found.rope, found.right), strict=True))
    where = dict(zip(names, ("left", "middle", "right") if width else ("left", "right"), strict=True))
    return {"density": density, "rope": [{"difference": cut} for cut in (cuts if width else (0.0,))],
            "names": [{"text": f"{_region(name, models)} {probability(share[name])}", "at": where[name],
                       "middle": (low + high) / 2} for name in names]}


def _region(name, models):
    first, second = short_names(models)
    return {"first better": f"{first} better", "second better": f"{second} better"}.get(name, name)


def _posterior_range(found):
    reach = found.standard_error * min(float(scipy.special.stdtrit(found.df, 0.998)), 8.0)
    low, high = found.estimate - reach, found.estimate + reach
    margin = 0.05 * (high - low)
    return min(low, -found.half_width - margin), max(high, found.half_width + margin)


def posterior_words(found, models=SIDES):
    """Return title and text alternative of `posterior`."""
    low, high = found.interval()
    rope = f", practically equal {probability(found.rope)}" if found.half_width else ""
    within = f", practically equal (within {number(found.half_width)}) with {found.rope:.3f}" if rope else ""
    first, second = short_names(models)
    return (f"Probability that {first} is better {probability(found.left)}{rope}, {second} "
            f"{probability(found.right)}",
            f"Posterior of the mean difference {models[0]} minus {models[1]}, a t with {found.df} degrees of freedom "
            f"around {number(found.estimate)}, 95% between {number(low)} and {number(high)}. {models[0]} has the "
            f"smaller loss with probability {found.left:.3f}{within}, {models[1]} with {found.right:.3f}.")


def posterior(found, models=SIDES):
    """Return the posterior density of the mean difference, shaded where first, neither or second is better.

    Parameters
    ----------
    found : workbench.BayesianTTest
    models : pair of str
        Their names.
    """
    data = posterior_data(found, models)
    x = alt.X("difference:Q", title=f"mean difference in loss: {limited(' minus '.join(models), 60)}",
              axis=values_axis([row["difference"] for row in data["density"]]), scale=alt.Scale(nice=False))
    density = alt.Chart(theme.rows("density", data["density"]))
    areas = density.mark_area(opacity=0.55).encode(x=x, y=alt.Y("density:Q", axis=None, stack=None),
                                                   color=alt.Color("region:N", legend=None,
                                                                   scale=theme.scale(REGIONS)))
    line = density.mark_line(strokeWidth=1.5, color=theme.GRAY).encode(x=x, y="density:Q")
    rules = alt.Chart(theme.rows("rope", data["rope"])).mark_rule(strokeDash=[4, 3]).encode(x="difference:Q")
    names = alt.Chart(theme.rows("names", data["names"]))
    texts = [names.mark_text(x=place, y=-9, align=align).encode(text="text:N").transform_filter(alt.datum.at == at)
             for at, place, align in (("left", 0, "left"), ("middle", theme.WIDTH // 2, "center"),
                                      ("right", "width", "right"))]
    return theme.finish(alt.layer(areas, line, rules, *texts), *posterior_words(found, models), height=220)


# all pairs of models

def pairs_data(comparison, *, level=0.95):
    """Return the rows of `pairs`, smallest adjusted p first: the most extreme where there are too many."""
    return [_pair_row(comparison, k, level) for k in _extreme(comparison)]


def _extreme(comparison):
    tested = [(p if p == p else 2.0, -abs(test.naive_statistic) if test else 0.0, k) for k, (p, test) in
              enumerate(zip(comparison.adjusted.tolist(), comparison.tests, strict=True))]
    return [k for _, _, k in sorted(tested)[:SHOWN_PAIRS]]


def _pair_row(comparison, k, level):
    (first, second), test, p = comparison.pairs[k], comparison.tests[k], float(comparison.adjusted[k])
    short = dict(zip(comparison.models, short_names(comparison.models), strict=True))
    row = {"pair": f"{short[first]} − {short[second]}"}
    if test is None:
        mean = dict(zip(comparison.models, comparison.mean_loss.tolist(), strict=True))
        gap = mean[first] - mean[second]
        return row | {"difference": gap, "low": gap, "high": gap, "verdict": "no test", "text": "no variance, no test"}
    low, high = test.interval(level)
    return row | {"difference": test.estimate, "low": low, "high": high, "text": f"p {short_p(p)}",
                  "verdict": "differs" if p < 1 - level else "no difference shown"}


def pairs_words(comparison, *, level=0.95):
    """Return title and text alternative of `pairs`."""
    differ, total = int((comparison.adjusted < 1 - level).sum()), len(comparison.pairs)
    shown = f"; the {SHOWN_PAIRS} most extreme shown" if total > SHOWN_PAIRS else ""
    rho = next((f", rho {test.rho:.3g}" for test in comparison.tests if test), "")
    untested = sum(test is None for test in comparison.tests)
    how = "not adjusted" if comparison.adjust == "none" else f"{comparison.adjust.capitalize()}-adjusted"
    rows = pairs_data(comparison, level=level)
    said = "; ".join(f"{row['pair']} {number(row['difference'])} ({row['text']})" for row in rows[:12])
    none = f" {untested} without a test, as their folds show no variance." if untested else ""
    return (f"{_smallest(comparison.best)}; {differ} of {total} "
            f"pair{'s' if total > 1 else ''} differ{'s' if total == 1 else ''} at {percent(1 - level)}{shown}",
            f"Differences in mean loss of all {total} pairs with {percent(level)} intervals{rho}, each by itself; "
            f"p-values {how}. {said}{'; …' if len(rows) > 12 else ''}.{none}")


def pairs(comparison, *, level=0.95):
    """Return all pairs of models: differences, intervals, adjusted p-values.

    Parameters
    ----------
    comparison : workbench.ModelComparison
    level : float
        Of the intervals, which are not adjusted; 1 - level is what the adjusted p-values are held against.
    """
    rows = pairs_data(comparison, level=level)
    kinds = {"differs": theme.STRATIFIED, "no difference shown": theme.GRAY, "no test": theme.MISS}
    base = alt.Chart(theme.rows("pairs", rows)).encode(
        y=alt.Y("pair:N", sort=[row["pair"] for row in rows], title=None, axis=alt.Axis(labelLimit=300)),
        color=alt.Color("verdict:N", title=None, scale=theme.scale(kinds)))
    x = alt.X("low:Q", title="difference in mean loss, first minus second",
              axis=values_axis([row[end] for row in rows for end in ("low", "high")]))
    bars = base.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q")
    dots = base.mark_point(filled=True, size=70).encode(x="difference:Q", shape=alt.Shape(
        "verdict:N", title=None, scale=alt.Scale(domain=list(kinds), range=["diamond", "circle", "cross"])))
    texts = base.mark_text(x="width", dx=8, align="left", fontSize=11).encode(text="text:N", color=alt.Undefined)
    zero = alt.Chart(theme.rows("zero", [{"difference": 0}])).mark_rule(strokeWidth=1).encode(x="difference:Q")
    height = len(rows) * (24 if len(rows) <= 12 else 17)
    drawn = alt.layer(zero, bars, dots, texts).properties(width=330, height=max(40, height))
    return theme.finish(drawn, *pairs_words(comparison, level=level), width=None, height=None)


def _smallest(models):
    """Return who has the smallest mean loss, in words."""
    named = limited(" and ".join(models), 60)
    return f"{named} has the smallest mean loss" if len(models) == 1 else f"{named} share the smallest mean loss"
