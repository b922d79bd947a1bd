"""Charts of cross-validation tests: folds, rho, posterior, pairs of models; clerks, experiments, power.

As for the other topics there are three functions for each picture: `..._data` gives its rows, `..._words` its title
and text alternative, and the picture itself is an altair chart built from both.
"""
import math

import altair as alt
import numpy as np
import scipy

from workbench.charts import theme
from workbench.cross_validation import ROUNDING, ZeroVarianceError, kfold_t_test, resolve_rho
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
LETTERS = 18
ALARMS = {"false alarm": theme.MISS, "no difference shown": theme.GRAY}
POINTS = alt.Axis(labelExpr="format(100 * datum.value, '~g')", tickCount=6)
SLIDER_RHO = 0.995
EDGE, BEYOND, INFINITE = 6, 6.6, 7.6
BINS_PER_SIDE = 60
LEVELS = 4
OUTCOMES = {"not rejected": theme.GRAY, "rejected": theme.MISS, "all folds agree": theme.OKABE_ITO["blue"]}
SIZES = [100, 200, 400]
TEST_COLORS = {"naive t": RULES["naive"], "Nadeau-Bengio": RULES["Nadeau-Bengio"], "rho 0.7": RULES["0.7"],
               "McNemar, pooled": theme.OKABE_ITO["purple"]}
SCORES = {"false alarms, about 5% or fewer": theme.OKABE_ITO["green"], "clearly more than 5%": theme.MISS,
          "power": theme.STRATIFIED}


# what the folds show

def folds_data(cv, *, rho=0.7, level=0.95):
    """Return the rows of `folds`: dots, mean and intervals; of more than two models dots and means only."""
    if len(cv.models) > 2:
        return _models_data(cv)
    values, (heights, _) = cv.fold_means(), _stacked(cv.fold_means())
    sides = _sides(cv)
    dots = [{"value": value, "y": y, "side": sides[1 + int(np.sign(value))] if len(sides) > 1 else sides[0]}
            for value, y in zip(values.ravel().tolist(), heights.ravel().tolist(), strict=True)]
    intervals = [_interval_row(name, test, level, len(cv.models) == 2) for name, test in _tests(cv, rho)]
    return {"dots": dots, "mean": [{"value": _mean(cv)}], "intervals": intervals,
            "zero": [{"value": 0}] if len(cv.models) == 2 else []}


def _sides(cv):
    """Return what the sign -1, 0, 1 of a difference says, or the name of the only model."""
    names = _short_names(cv.models)
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
    return [(f"{name}, rho {_short(test.rho)}", test)
            for name, test in (named | ({} if same else {"chosen": chosen})).items()]


def _mean(cv):
    return float(np.average(cv.fold_means(), weights=cv.sizes))


def _stacked(means):
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
    intervals = "; ".join(f"{name}: {_between(*test.interval(level))}" for name, test in tests)
    said = f"{percent(level)} intervals of the mean: {intervals}." if tests else \
        "All folds have the same mean: the variance they show is 0, so there is no interval and no test."
    about = f"Mean {cv.label} {_number(_mean(cv))}" if len(cv.models) == 2 else \
        f"Mean loss of {cv.models[0]} {_number(_mean(cv))}"
    title = _winner(cv, bool(tests)) if len(cv.models) == 2 else (
        f"Mean loss of {_limited(cv.models[0], 30)} {_number(_mean(cv))}: " + (
            f"folds from {_between(values.min(), values.max())}" if tests else "the same in every fold, no variance"))
    return title + repeats, (f"{about}; folds from {_between(values.min(), values.max())}{repeats}, "
                             f"{values.size} in all. {said}")


def _repeats(cv):
    return f", {cv.repeats} repeats with the same items" if cv.repeats > 1 else ""


def _winner(cv, tested):
    values, mean, (first, second) = cv.fold_means(), _mean(cv), _short_names(cv.models)
    total, wins = values.size, [int((values < 0).sum()), int((values > 0).sum())]
    better = first if mean < 0 else second
    if not tested:
        return f"{first} and {second} have the same loss in every fold: no variance, no test" if mean == 0 else \
            f"{better} has the smaller loss, by {_number(abs(mean))} in every fold alike: no variance, no test"
    ties = total - sum(wins)
    equal = f", {ties} equal" if ties else ""
    if abs(mean) <= 1e-12 * np.abs(values).max():
        return f"On average neither is better: {first} in {wins[0]}, {second} in {wins[1]} of {total} folds{equal}"
    return (f"{better} has the smaller loss, by {_number(abs(mean))}: in {wins[0] if mean < 0 else wins[1]} of {total} "
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
    most = _stacked(cv.fold_means())[1]
    row_height = _row_height(most, cv.repeats)
    title = "difference in loss (dashed: mean)" if len(sides) == 3 else "loss (dashed: mean)"
    ends = [row["value"] for name in ("dots", "zero") for row in data[name]]
    ends += [row[end] for row in data["intervals"] for end in ("low", "high")]
    within = _padded(ends)
    colors = dict(zip(sides, (FIRST, NEITHER, SECOND) if len(sides) == 3 else (FIRST,), strict=True))
    legend = alt.Legend(labelLimit=240) if len(sides) == 3 else None
    rows = alt.Axis(values=list(range(1, cv.repeats + 1)), format="d", grid=False, labelOverlap=True)
    dots = alt.Chart(theme.rows("dots", data["dots"])).mark_point(filled=True, size=_dot_size(most, cv.repeats)).encode(
        x=alt.X("value:Q", title=None if data["intervals"] else title, scale=within,
                axis=_values_axis(ends, not data["intervals"])),
        y=alt.Y("y:Q", title="repeat", axis=rows if cv.repeats > 1 else None,
                scale=alt.Scale(domain=[0.1, cv.repeats + 8 / row_height], reverse=True, nice=False)),
        color=alt.Color("side:N", title=None, scale=theme.scale(colors), legend=legend),
        shape=alt.Shape("side:N", title=None, legend=legend, scale=alt.Scale(
            domain=sides, range=["circle", "square", "diamond"][:len(sides)])))
    zero = alt.Chart(theme.rows("zero", data["zero"])).mark_rule(strokeWidth=1).encode(x="value:Q")
    mean = alt.Chart(theme.rows("mean", data["mean"])).mark_rule(style="truth").encode(x="value:Q")
    above = (zero + mean + dots).properties(width=theme.WIDTH - 160, height=row_height * cv.repeats + 8)
    below = [_intervals(data, title, _values_axis(ends), within)] if data["intervals"] else []
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
    labels, alone = _short_names(cv.models), []
    for k, name in enumerate(cv.models):
        one = CVLosses(cv.losses[:, k], cv.fold, (name,), cv.item, cv.repeat, cv.fold_size)
        alone.append((name, labels[k], one.fold_means(), _mean(one)))
    return sorted(alone, key=lambda found: found[3])


def _models_words(cv):
    found = _models_by_mean(cv)
    means = np.stack([one[2] for one in found])
    least = int((means[0] == means.min(0)).sum())
    left = f" Shown are the {SHOWN_MODELS} with the smallest of {len(found)}." if len(found) > SHOWN_MODELS else ""
    said = ", ".join(f"{name} {_number(mean)}" for name, _, _, mean in found[:SHOWN_MODELS])
    tied = [label for _, label, _, mean in found if mean - found[0][3] <= ROUNDING * abs(found[-1][3])]
    often = f": the smallest in {least} of {means[0].size} folds{_repeats(cv)}" if len(tied) == 1 else ""
    return (f"{_smallest(tied)}, {_number(found[0][3])}{often}"
            + (f"; {SHOWN_MODELS} of {len(found)} models shown" if left else ""),
            f"Mean loss of each model over {means[0].size} folds{_repeats(cv)}: {said}.{left}")


def _models(cv):
    data = _models_data(cv)
    order = [row["model"] for row in data["means"]]
    y = alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=220, grid=True))
    x = alt.X("value:Q", title="loss in each fold (bar: mean)", scale=alt.Scale(zero=False),
              axis=_values_axis([row["value"] for row in data["dots"]]))
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
    inside = [{"rho": flips, "text": f"flips at {_short(flips)}", "side": "left" if flips < (low + high) / 2
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
                       "text": f"p {_short_p(row['p'])}" if shown else "",
                       "place": "left" if row["rho"] < left else "below" if risk / 2 < row["p"] < risk else "above"})
    return points


def _rho_range(test):
    most = max(row["rho"] for row in test.rows())
    return min(0.0, test.rho), max(MOST_RHO, most + 0.4 * (1 - most))


def rho_curve_words(test, *, level=0.95):
    """Return title and text alternative of `rho_curve`."""
    flips, risk, least = test.rho_alpha(level), percent(1 - level), min(0.0, test.rho)
    now, bound = f"p {_short_p(test.pvalue)} at rho {_short(test.rho)}", _short(min(flips, 0.999))
    if flips <= least:
        title = f"Not significant at {risk} for any rho, not even at {_short(least)}; {now}"
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
    chart = _curve(data, test.folds, _rho_range(test))
    return theme.finish(chart, *rho_curve_words(test, level=level), height=240)


def _curve(data, folds, domain):
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
            "names": [{"text": f"{_region(name, models)} {_probability(share[name])}", "at": where[name],
                       "middle": (low + high) / 2} for name in names]}


def _region(name, models):
    first, second = _short_names(models)
    return {"first better": f"{first} better", "second better": f"{second} better"}.get(name, name)


def _posterior_range(found):
    reach = found.standard_error * min(float(scipy.special.stdtrit(found.df, 0.998)), 8.0)
    low, high = found.estimate - reach, found.estimate + reach
    margin = 0.05 * (high - low)
    return min(low, -found.half_width - margin), max(high, found.half_width + margin)


def posterior_words(found, models=SIDES):
    """Return title and text alternative of `posterior`."""
    low, high = found.interval()
    rope = f", practically equal {_probability(found.rope)}" if found.half_width else ""
    within = f", practically equal (within {_number(found.half_width)}) with {found.rope:.3f}" if rope else ""
    first, second = _short_names(models)
    return (f"Probability that {first} is better {_probability(found.left)}{rope}, {second} "
            f"{_probability(found.right)}",
            f"Posterior of the mean difference {models[0]} minus {models[1]}, a t with {found.df} degrees of freedom "
            f"around {_number(found.estimate)}, 95% between {_number(low)} and {_number(high)}. {models[0]} has the "
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
    x = alt.X("difference:Q", title=f"mean difference in loss: {_limited(' minus '.join(models), 60)}",
              axis=_values_axis([row["difference"] for row in data["density"]]), scale=alt.Scale(nice=False))
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
    short = dict(zip(comparison.models, _short_names(comparison.models), strict=True))
    row = {"pair": f"{short[first]} − {short[second]}"}
    if test is None:
        mean = dict(zip(comparison.models, comparison.mean_loss.tolist(), strict=True))
        gap = mean[first] - mean[second]
        return row | {"difference": gap, "low": gap, "high": gap, "verdict": "no test", "text": "no variance, no test"}
    low, high = test.interval(level)
    return row | {"difference": test.estimate, "low": low, "high": high, "text": f"p {_short_p(p)}",
                  "verdict": "differs" if p < 1 - level else "not shown"}


def pairs_words(comparison, *, level=0.95):
    """Return title and text alternative of `pairs`."""
    differ, total = int((comparison.adjusted < 1 - level).sum()), len(comparison.pairs)
    shown = f"; the {SHOWN_PAIRS} most extreme shown" if total > SHOWN_PAIRS else ""
    rho = next((f", rho {test.rho:.3g}" for test in comparison.tests if test), "")
    untested = sum(test is None for test in comparison.tests)
    how = "not adjusted" if comparison.adjust == "none" else f"{comparison.adjust.capitalize()}-adjusted"
    rows = pairs_data(comparison, level=level)
    said = "; ".join(f"{row['pair']} {_number(row['difference'])} ({row['text']})" for row in rows[:12])
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
    kinds = {"differs": theme.STRATIFIED, "not shown": theme.GRAY, "no test": theme.MISS}
    base = alt.Chart(theme.rows("pairs", rows)).encode(
        y=alt.Y("pair:N", sort=[row["pair"] for row in rows], title=None, axis=alt.Axis(labelLimit=300)),
        color=alt.Color("verdict:N", title=None, scale=theme.scale(kinds)))
    x = alt.X("low:Q", title="difference in mean loss, first minus second",
              axis=_values_axis([row[end] for row in rows for end in ("low", "high")]))
    bars = base.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q")
    dots = base.mark_point(filled=True, size=70).encode(x="difference:Q", shape=alt.Shape(
        "verdict:N", title=None, scale=alt.Scale(domain=list(kinds), range=["diamond", "circle", "cross"])))
    texts = base.mark_text(x="width", dx=8, align="left", fontSize=11).encode(text="text:N", color=alt.Undefined)
    zero = alt.Chart(theme.rows("zero", [{"difference": 0}])).mark_rule(strokeWidth=1).encode(x="difference:Q")
    height = len(rows) * (24 if len(rows) <= 12 else 17)
    drawn = alt.layer(zero, bars, dots, texts).properties(width=330, height=max(40, height))
    return theme.finish(drawn, *pairs_words(comparison, level=level), width=None, height=None)


# lesson: two equal clerks

def clerks_data(shown, everyone, test, *, level=0.95):
    """Return the rows of `clerks`: intervals of the studies shown, believed against real spread of all."""
    half = shown.standard_errors(test) * scipy.special.stdtrit(shown.df, (1 + level) / 2)
    alarm = shown.alarms(test, level)
    studies = [{"study": shown.first + s, "difference": float(d), "low": float(d - h), "high": float(d + h),
                "verdict": list(ALARMS)[int(not a)]}
               for s, (d, h, a) in enumerate(zip(shown.differences, np.nan_to_num(half), alarm, strict=True))]
    believed, real = _spreads(everyone, test)
    spread = [{"kind": kind, "sd": sd, "text": _short(sd)} for kind, sd in (("believed", believed), ("real", real))]
    return {"studies": studies, "spread": spread}


def _spreads(studies, test):
    """Return the mean standard error that a test uses, and the standard deviation of the differences."""
    return float(np.nanmean(studies.standard_errors(test))), float(studies.differences.std(ddof=1))


def clerks_words(shown, everyone, test, *, level=0.95):
    """Return title and text alternative of `clerks`."""
    count, total = int(shown.alarms(test, level).sum()), shown.differences.size
    alarms = everyone.alarms(test, level)
    share, error = float(alarms.mean()), _share_error(alarms.mean(), alarms.size)
    believed, real = _spreads(everyone, test)
    repeated = "once" if shown.repeats == 1 else f"{shown.repeats} times"
    return (f"{test}: {count} of {total} studies call two equal clerks different; in the long run {share:.1%} "
            f"± {error:.1%}",
            f"Studies {shown.first} to {shown.first + total - 1} of {shown.n} forms, cross-validated {repeated}, each "
            f"with its {percent(level)} interval by the {test} test. False alarms: {count}, and {int(alarms.sum())} in "
            f"{alarms.size} studies. The test believes a standard error of {believed:.4f} on average; "
            f"the differences really vary by {real:.4f}.")


def _share_error(share, runs):
    return float(np.sqrt(share * (1 - share) / runs))


def clerks(shown, everyone, test, *, level=0.95):
    """Return the differences that studies of two equal clerks find, and how much they vary against what is believed.

    Parameters
    ----------
    shown, everyone : workbench.simulations.clerks.ClerkStudies
        The studies that are drawn, and those of the long run.
    test : {"naive t", "Nadeau-Bengio"}
    level : float
    """
    data = clerks_data(shown, everyone, test, level=level)
    base = alt.Chart(theme.rows("studies", data["studies"])).encode(
        x=alt.X("study:O", title="study", axis=alt.Axis(labelOverlap=True, labelAngle=0, grid=False)),
        color=alt.Color("verdict:N", title=None, scale=theme.scale(ALARMS)))
    y = alt.Y("low:Q", title="clerk A minus clerk B (points)", axis=POINTS)
    bars = base.mark_rule(strokeWidth=2).encode(y=y, y2="high:Q")
    dots = base.mark_point(filled=True, size=50).encode(y="difference:Q", shape=alt.Shape(
        "verdict:N", title=None, scale=alt.Scale(domain=list(ALARMS), range=["diamond", "circle"])))
    zero = alt.Chart(theme.rows("zero", [{"difference": 0}])).mark_rule(style="truth").encode(y="difference:Q")
    left = (zero + bars + dots).properties(width=430, height=250)
    spread = alt.Chart(theme.rows("spread", data["spread"])).encode(
        x=alt.X("kind:N", title="spread of the difference", sort=["believed", "real"], axis=alt.Axis(labelAngle=0)),
        y=alt.Y("sd:Q", title="standard error (share)", axis=alt.Axis(tickCount=5)))
    columns = spread.mark_bar(width=34).encode(color=alt.Color("kind:N", legend=None, scale=theme.scale(
        {"believed": theme.ESTIMATE, "real": theme.GRAY})))
    right = (columns + spread.mark_text(dy=-8).encode(text="text:N")).properties(width=120, height=250)
    both = alt.hconcat(left, right).resolve_scale(color="independent", shape="independent")
    return theme.finish(both, *clerks_words(shown, everyone, test, level=level), width=None, height=None)


# lesson: one slider

def slider_data(differences, test, *, level=0.95):
    """Return the rows of `slider`: folds, the interval of their mean, the rows of `rho_curve`."""
    values = np.asarray(differences, float)[None]
    heights = 1 - _stacked(values)[0][0]
    step = max(np.diff(np.unique(heights)), default=1.0)
    dots = [{"difference": d, "y": 1 + h / step} for d, h in zip(values[0].tolist(), heights.tolist(), strict=True)]
    low, high = test.interval(level)
    mean = [{"estimate": test.estimate, "low": low, "high": high, "y": 0,
             "verdict": "differs" if test.pvalue < 1 - level else "may be 0"}]
    return {"dots": dots, "mean": mean} | rho_curve_data(test, level=level, domain=(0.0, SLIDER_RHO))


def slider_words(differences, test, *, level=0.95):
    """Return title and text alternative of `slider`."""
    flips, low, high = test.rho_alpha(level), *test.interval(level)
    significant = "significant" if test.pvalue < 1 - level else "not significant"
    return (f"rho {_short(test.rho)} (r {_short(test.r)}): p {_short(test.pvalue, 4)}, {significant} at "
            f"{percent(1 - level)}; flips at {_short(flips)}",
            f"{len(differences)} folds differ by {_number(test.estimate)} on average. With rho {test.rho:.3f}, "
            f"which is a correlation r = {test.r:.3f} of two folds, t is {test.statistic:.3f}, p {test.pvalue:.4f}, "
            f"the {percent(level)} interval {low:.3f} to {high:.3f}. The largest rho still rejecting is {flips:.3f}.")


def slider(differences, test, *, level=0.95):
    """Return the folds with the interval of their mean at one rho, and p over all rho.

    Parameters
    ----------
    differences : (K,) array_like
        Mean difference per fold.
    test : workbench.KFoldTTest
        Of these differences, at the chosen rho.
    level : float
    """
    data = slider_data(differences, test, level=level)
    low, high = test.at(MOST_RHO).interval(level)
    ends = [*differences, low, high, 0.0]
    x = alt.Scale(domain=[min(ends) - 0.02, max(ends) + 0.02], nice=False)
    up = alt.Scale(domain=[-0.8, max(LEVELS, *(row["y"] for row in data["dots"])) + 0.5], nice=False)
    dots = alt.Chart(theme.rows("dots", data["dots"])).mark_circle(size=110, color=theme.ESTIMATE).encode(
        x=alt.X("difference:Q", title="difference per fold; bar: mean", scale=x, axis=alt.Axis(tickCount=6)),
        y=alt.Y("y:Q", axis=None, scale=up))
    mean = alt.Chart(theme.rows("mean", data["mean"])).encode(y=alt.Y("y:Q", axis=None, scale=up), color=alt.Color(
        "verdict:N", legend=None, scale=theme.scale(VERDICTS)))
    bar = mean.mark_rule(strokeWidth=5, clip=True).encode(x=alt.X("low:Q", scale=x), x2="high:Q")
    center = mean.mark_point(filled=True, size=150).encode(x="estimate:Q", shape=alt.Shape(
        "verdict:N", legend=None, scale=alt.Scale(domain=list(VERDICTS), range=["diamond", "circle"])))
    zero = alt.Chart(theme.rows("zero", [{"difference": 0}])).mark_rule(strokeWidth=1).encode(x="difference:Q")
    left = (zero + dots + bar + center).properties(width=230, height=220)
    right = _curve(data, test.folds * test.repeats, (0.0, 1.0)).properties(width=300, height=220)
    both = alt.hconcat(left, right).resolve_scale(color="independent", shape="independent")
    return theme.finish(both, *slider_words(differences, test, level=level), width=None, height=None)


# lesson: ten thousand experiments

def experiments_data(study, rho=0.0, mean=None, *, level=0.95):
    """Return the rows of `experiments`: bars of the t-values, t's density, the critical values."""
    t, infinite = _t_values(study, rho, mean)
    critical = float(scipy.special.stdtrit(study.folds - 1, (1 + level) / 2))
    share = 1 / study.runs
    edges = np.linspace(-EDGE, EDGE, 2 * BINS_PER_SIDE + 1)
    beyond = np.abs(t) > EDGE
    kept = np.histogram(t[np.abs(t) <= critical], edges)[0] * share
    rejected = np.histogram(t[(np.abs(t) > critical) & ~beyond], edges)[0] * share
    bars = []
    for low, high, stay, leave in zip(edges[:-1].tolist(), edges[1:].tolist(), kept.tolist(), rejected.tolist(),
                                      strict=True):
        bars += [_bar(low, high, 0, stay, "not rejected")] if stay else []
        bars += [_bar(low, high, stay, stay + leave, "rejected")] if leave else []
    for side in (-1, 1):
        bars += [_bar(side * at - 0.3, side * at + 0.3, 0, float((np.sign(values) == side).sum() * share), kind)
                 for at, values, kind in ((BEYOND, t[beyond], "rejected"), (INFINITE, infinite, "all folds agree"))]
    x = np.linspace(-EDGE, EDGE, 241)
    density = [{"t": at, "share": y} for at, y in zip(x.tolist(), (_t_density(x, study.folds - 1) * EDGE
                                                                  / BINS_PER_SIDE).tolist(), strict=True)]
    return {"bars": bars, "density": density, "critical": [{"t": -critical}, {"t": critical}]}


def _bar(left, right, low, high, kind):
    return {"left": left, "right": right, "low": low, "high": high, "kind": kind}


def _t_values(study, rho, mean):
    """Return finite t-values, and the signs of the infinite ones, of runs whose folds all agree."""
    away = study.estimates - (study.mean if mean is None else mean)
    shown = study.theta3 > ROUNDING ** 2
    scale = (1 - resolve_rho(rho, study.folds)) ** 0.5
    return scale * away[shown] / study.theta3[shown] ** 0.5, np.sign(away[~shown])


def _t_density(t, df):
    constant = scipy.special.gammaln((df + 1) / 2) - scipy.special.gammaln(df / 2) - np.log(df * np.pi) / 2
    return np.exp(constant - (df + 1) / 2 * np.log1p(t ** 2 / df))


def experiments_words(study, rho=0.0, mean=None, *, level=0.95):
    """Return title and text alternative of `experiments`."""
    tested = study.mean if mean is None else mean
    share = study.type_one(rho, level=level, mean=tested)
    agree = share - study.type_one(rho, level=level, mean=tested, zero_variance="refuse")
    used = resolve_rho(rho, study.folds)
    infinite = f"; {agree:.2%} because all folds agree" if agree else ""
    what = "true error" if mean is None or mean == study.mean else "error"
    return (f"{share:.2%} ± {_share_error(share, study.runs):.2%} reject the {what} {_short(tested, 4)} at rho "
            f"{_short(used)}{infinite}",
            f"{study.runs:,} cross-validations of {study.learner} on samples of {study.n} {study.population}. Tested "
            f"is {tested:.5f}; the mean of all runs is {study.mean:.5f}. At rho {used:.3f} the test rejects "
            f"{share:.2%}, Monte Carlo error {_share_error(share, study.runs):.2%}; it should be "
            f"{percent(1 - level)}. {agree:.2%} are runs whose folds all have the same error, so that t is infinite. "
            f"The true rho of these runs is {study.rho:.3f}. Losses of 0 or 1 leave few possible t-values: the bars "
            f"are spikes.")


def experiments(study, rho=0.0, mean=None, *, level=0.95):
    """Return the t-values of thousands of cross-validations under a true null, against the t density.

    Parameters
    ----------
    study : workbench.TypeOneStudy
    rho : float or str
        The assumed one, as in `workbench.kfold_t_test`.
    mean : float, optional
        Tested mean; by default the mean of all runs.
    level : float
    """
    data = experiments_data(study, rho, mean, level=level)
    ends = [-INFINITE, -BEYOND, -4, -2, 0, 2, 4, BEYOND, INFINITE]
    names = {BEYOND: f"'> {EDGE}'", -BEYOND: f"'< −{EDGE}'", INFINITE: "'∞'", -INFINITE: "'−∞'"}
    label = "".join(f"datum.value == {at} ? {name} : " for at, name in names.items()) + "format(datum.value, 'd')"
    axis = alt.Axis(values=ends, labelExpr=label, grid=False, labelOverlap=False)
    x = alt.X("left:Q", title="t of one cross-validation (dashed: t density; lines: critical values)", axis=axis,
              scale=alt.Scale(domain=[-INFINITE - 0.5, INFINITE + 0.5], nice=False))
    bars = alt.Chart(theme.rows("bars", data["bars"])).mark_rect(stroke=None).encode(
        x=x, x2="right:Q", y=alt.Y("low:Q", title="share of the runs", axis=alt.Axis(format=".0%", tickCount=5)),
        y2="high:Q", color=alt.Color("kind:N", title=None, scale=theme.scale(OUTCOMES)))
    density = alt.Chart(theme.rows("density", data["density"])).mark_line(strokeWidth=2, style="truth").encode(
        x="t:Q", y="share:Q")
    critical = alt.Chart(theme.rows("critical", data["critical"])).mark_rule(strokeWidth=1).encode(x="t:Q")
    return theme.finish(bars + critical + density, *experiments_words(study, rho, mean, level=level))


# lesson: power

def power_data(studies, test=None):
    """Return the rows of `power`: rejection rates by situation, size and test."""
    rates = [{"situation": situation, "n": n, "test": row["test"], "rate": row["rejects"],
              "low": max(row["rejects"] - row["error"], 0), "high": min(row["rejects"] + row["error"], 1),
              "chosen": int(row["test"] == test)} for (situation, n), study in studies.items() for row in study.rows()]
    return {"rates": rates, "level": [{"rate": 0.05, "text": "5%"}]}


def power_words(studies, test=None):
    """Return title and text alternative of `power`: about the largest samples and the test in the foreground."""
    (equal, different), n = _situations(studies), max(n for _, n in studies)
    alarms, power = studies[equal, n], studies[different, n]
    test = test or alarms.tests[0]
    said = "; ".join(f"{name} {power.rejection(name):.2f} (false alarms {alarms.rejection(name):.3f})"
                     for name in power.tests)
    return (f"{test}, {n} forms: finds the better reader in {power.rejection(test):.0%}, false alarms "
            f"{alarms.rejection(test):.1%}",
            f"{different} with {n} forms errs {power.errors[0].mean():.3f} against {power.errors[1].mean():.3f}. "
            f"Called different at 5% in {power.runs} studies, and so for {equal}: {said}. Monte Carlo error up to "
            f"{max(_share_error(power.rejection(name), power.runs) for name in power.tests):.3f}.")


def _situations(studies):
    return tuple(dict.fromkeys(situation for situation, _ in studies))


def power(studies, test=None):
    """Return how often tests call two equal and two different readers different, over sample sizes.

    Parameters
    ----------
    studies : dict of (str, int) to workbench.ComparisonStudy
        By situation and size; two situations, first the one in which both are equal.
    test : str, optional
        In the foreground.
    """
    data = power_data(studies, test)
    panels = [_power_panel(data, situation, k == 0) for k, situation in enumerate(_situations(studies))]
    return theme.finish(alt.hconcat(*panels).resolve_scale(y="independent"), *power_words(studies, test), width=None,
                        height=None)


def _power_panel(data, situation, equal):
    legend = alt.Legend(columns=4, symbolStrokeWidth=0)
    base = alt.Chart(theme.rows("rates", data["rates"])).transform_filter(alt.datum.situation == situation).encode(
        x=alt.X("n:Q", title="forms", axis=alt.Axis(values=SIZES, grid=False),
                scale=alt.Scale(type="log", domain=[SIZES[0] * 0.85, SIZES[-1] * 1.18], nice=False)),
        color=alt.Color("test:N", title=None, scale=theme.scale(TEST_COLORS), legend=legend))
    y = alt.Y("rate:Q", title=f"{'false alarms' if equal else 'power'}: {situation}",
              axis=alt.Axis(format=".0%", tickCount=5),
              scale=alt.Scale(domain=[0, 0.2] if equal else [0, 1], nice=False))
    width = alt.StrokeWidth("chosen:O", legend=None, scale=alt.Scale(domain=[0, 1], range=[1, 4]))
    lines = base.mark_line().encode(y=y, strokeWidth=width, strokeDash=alt.StrokeDash(
        "test:N", legend=None, scale=alt.Scale(domain=list(TEST_COLORS), range=[[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]])))
    bars = base.mark_rule().encode(y="low:Q", y2="high:Q", strokeWidth=width)
    dots = base.mark_point(filled=True, size=80).encode(y="rate:Q", shape=alt.Shape(
        "test:N", title=None, legend=legend, scale=alt.Scale(domain=list(TEST_COLORS), range=RULE_SHAPES)))
    at = alt.Chart(theme.rows("level", data["level"]))
    level = at.mark_rule(style="truth").encode(y="rate:Q")
    name = at.mark_text(x="width", dx=4, align="left", style="note").encode(y="rate:Q", text="text:N")
    return (level + name + lines + bars + dots).properties(width=230, height=230)


# lesson: no test is best everywhere

def scoreboard_data(studies):
    """Return the rows of `scoreboard`: false alarms and power of each test, by learner."""
    rates = []
    for learner in _situations(studies):
        equal, different = studies[learner, "equal"], studies[learner, "different"]
        rates += [{"learner": learner, "test": test, "alarms": equal.rejection(test),
                   "power": different.rejection(test), "kind": list(SCORES)[int(not _keeps(equal, test))]}
                  for test in equal.tests]
    return {"rates": rates, "level": [{"rate": 0.05}]}


def _keeps(study, test):
    """Return whether false alarms are no more than 5%, as far as the runs can tell."""
    return study.rejection(test) <= 0.05 + 2 * _share_error(0.05, study.runs)


def scoreboard_words(studies):
    """Return title and text alternative of `scoreboard`."""
    learners, best = _situations(studies), {}
    for learner in learners:
        equal, different = studies[learner, "equal"], studies[learner, "different"]
        honest = [test for test in equal.tests if _keeps(equal, test)]
        best[learner] = max(honest, key=different.rejection) if honest else None
    named = ", ".join(f"{test or 'no test'} for {learner}" for learner, test in best.items())
    first = studies[learners[0], "equal"]
    said = ". ".join(f"{learner}: " + "; ".join(f"{test} {studies[learner, 'equal'].rejection(test):.3f} and "
                                                f"{studies[learner, 'different'].rejection(test):.3f}"
                                                for test in first.tests) for learner in learners)
    title = f"Most power without excess false alarms: {named}" if len(set(best.values())) > 1 else \
        f"Most power without excess false alarms, for {' and '.join(learners)}: {best[learners[0]] or 'no test'}"
    return title, (f"False alarms with equal and power with different learners, {first.runs} samples of {first.n}, at "
                   f"5%. {said}. Monte Carlo error of 5%: {_share_error(0.05, first.runs):.3f}.")


def scoreboard(studies):
    """Return false alarms against power of all tests, one panel per learner.

    Parameters
    ----------
    studies : dict of (str, str) to workbench.ComparisonStudy
        By learner and "equal" or "different"; all with the same tests.
    """
    data, learners = scoreboard_data(studies), _situations(studies)
    panels = [_score_panel(data, learner, k == 0) for k, learner in enumerate(learners)]
    return theme.finish(alt.hconcat(*panels).resolve_scale(y="shared"), *scoreboard_words(studies), width=None,
                        height=None)


def _score_panel(data, learner, first):
    order, legend = list(dict.fromkeys(row["test"] for row in data["rates"])), alt.Legend(labelLimit=260)
    base = alt.Chart(theme.rows("rates", data["rates"])).transform_filter(alt.datum.learner == learner).encode(
        y=alt.Y("test:N", sort=order, title=None, axis=alt.Axis(labelLimit=200) if first else None))
    x = alt.X("alarms:Q", title=f"{learner}: share called different", axis=alt.Axis(format=".0%", tickCount=6),
              scale=alt.Scale(domainMin=0, nice=True))
    joined = base.mark_rule(color=theme.GRAY, strokeWidth=2).encode(x=x, x2="power:Q")
    power = base.mark_point(filled=True, size=90, shape="circle", color=SCORES["power"]).encode(x="power:Q")
    alarms = base.mark_point(filled=True, size=90).encode(
        x="alarms:Q", color=alt.Color("kind:N", title=None, scale=theme.scale(SCORES), legend=legend),
        shape=alt.Shape("kind:N", title=None, legend=legend, scale=alt.Scale(
            domain=list(SCORES), range=["square", "diamond", "circle"])))
    level = alt.Chart(theme.rows("level", data["level"])).mark_rule(style="truth").encode(x="rate:Q")
    return (level + joined + power + alarms).properties(width=210, height=26 * len(order))


# words and numbers

def _values_axis(values, labeled=True):
    """Return an axis whose labels stay short for any size of loss."""
    largest = max(map(abs, values))
    extreme = largest >= 1e7 or 0 < largest < 1e-3
    return alt.Axis(format="~e" if extreme else alt.Undefined, labelOverlap=True, tickCount=7, labelSeparation=6,
                    labels=labeled, ticks=labeled)


def _padded(values):
    """Return a scale with some room around the values, also where they are all the same."""
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.1 * abs(low) or 1.0
    return alt.Scale(domain=[low - room, high + room], nice=False, zero=False)


def _smallest(models):
    """Return who has the smallest mean loss, in words."""
    named = _limited(" and ".join(models), 60)
    return f"{named} has the smallest mean loss" if len(models) == 1 else f"{named} share the smallest mean loss"


def _short_names(models):
    """Return the names cut to a length that fits a legend, still all different."""
    short = [_limited(name, LETTERS) for name in models]
    return [name if short.count(name) == 1 else f"{_limited(model, LETTERS - 5)} ({k + 1})"
            for k, (name, model) in enumerate(zip(short, models, strict=True))]


def _limited(text, most):
    """Return a name without its middle where it is too long: names often differ at their ends only."""
    return text if len(text) <= most else f"{text[:most - most // 3 - 1]}…{text[-(most // 3):]}"


def _number(value, digits=3):
    """Return a number with some digits, without an exponent from .001 to ten million."""
    if 1000 <= abs(value) < 1e7:
        return f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.{digits}g}"


def _between(low, high):
    """Return two ends with as many digits as tell them apart."""
    apart = (high - low) / max(abs(low), abs(high), 1e-300)
    digits = 3 if apart == 0 else min(15, max(3, 2 - math.floor(math.log10(apart))))
    return f"{_number(low, digits)} to {_number(high, digits)}"


def _short(value, digits=3):
    """Return a share below 1 without its leading zero."""
    text = f"{value:.{digits}f}"
    return "0" if value == 0 else text.replace("0.", ".", 1) if abs(value) < 1 else text


def _short_p(p):
    return f"{p:.1e}" if p < 1e-4 else _short(p, 4 if p < 0.01 else 3)


def _probability(p):
    """Return a probability with three digits, never rounded to 0 or 1."""
    return "< .001" if p < 0.0005 else "> .999" if p > 0.9995 else _short(p)
