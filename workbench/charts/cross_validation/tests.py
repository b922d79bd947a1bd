"""Charts of cross-validation tests: folds, rho, posterior, pairs of models.

As for the other topics there are three functions for each picture: `..._data` gives its rows, `..._words` its title
and text alternative, and the picture itself is an altair chart built from both.
"""
import json
import math
import textwrap

import altair as alt
import numpy as np
import scipy

from workbench.charts import theme
from workbench.charts.cross_validation.words import (
    LETTERS,
    between,
    decimal,
    limited,
    number,
    padded,
    probability,
    share,
    short_names,
    short_p,
    values_axis,
)
from workbench.cross_validation.kfold import ROUNDING, ZeroVarianceError, kfold_t_test
from workbench.cross_validation.losses import CVLosses
from workbench.results import percent

FIRST, SECOND, NEITHER = theme.OKABE_ITO["blue"], theme.OKABE_ITO["vermilion"], theme.GRAY
RULES = {"naive": theme.OKABE_ITO["vermilion"], "Nadeau-Bengio": theme.OKABE_ITO["blue"],
         "0.7": theme.OKABE_ITO["green"], "used": theme.OKABE_ITO["purple"]}
RULE_SHAPES = ["triangle-up", "circle", "square", "diamond"]
SIDES, SIDE_SHAPES = ("first", "second"), ["circle", "square", "diamond"]
MAY_BE_0 = "may be 0"
BAR = "M-0.25,-1L0.25,-1L0.25,1L-0.25,1Z"
REGIONS = {"first better": FIRST, "practically equal": theme.GRAY, "second better": SECOND}
STACKS = 60
DOT = 11
MOST_HEIGHT = 400
MODELS_WIDTH, PAIRS_WIDTH, LABELS_WIDTH = 480, 330, 280
SHOWN_MODELS = 24
SHOWN_PAIRS = 66
MOST_RHO = 0.95
LEAST_P = 1e-15
NEAR = 0.07
CURVE_SIZE = (theme.WIDTH, 240)
MOST_LETTERS = 50
LETTER, LINE = 5.8, 14
PLACES = [(-10, -12, "right"), (10, 12, "left"), (10, -12, "left"), (-10, 12, "right"), (0, -19, "center"),
          (0, 19, "center"), (14, 0, "left"), (-14, 0, "right"), (-14, -14, "right"), (14, 14, "left"),
          (14, -14, "left"), (-14, 14, "right"), (3, 17, "left"), (3, -17, "left")]
ACROSS = 50
FLIP_PLACE = {"left": (6, -8, "left"), "right": (-6, -8, "right")}
FARTHEST, REACH = 3, 8.0


# what the folds show

def folds_data(cv, *, rho=0.7, level=0.95):
    """Return the rows of `folds`: dots, mean and intervals; of more than two models dots and means only."""
    if len(cv.models) > 2:
        return _models_data(cv)
    values, sides = _shown_means(cv), _sides(cv)
    heights = stacked(values)[0]
    dots = [{"value": value, "y": y, "side": sides[1 + int(np.sign(value))] if len(sides) > 1 else sides[0]}
            for value, y in zip(values.ravel().tolist(), heights.ravel().tolist(), strict=True)]
    intervals = [_interval_row(name, test.estimate * _sign(cv), _interval(cv, test, level), sides)
                 for name, test in _tests(cv, rho)]
    return {"dots": dots, "mean": [{"value": _mean(cv)}], "intervals": intervals,
            "zero": [{"value": 0}] if len(cv.models) == 2 else []}


def _shown_means(cv):
    """Return the fold means (R, K) without what rounding adds: equal ones are equal, differences of 0 are 0."""
    values = cv.fold_means() * _sign(cv)
    rounding = ROUNDING * max(np.abs(cv.losses).max(), np.abs(values).max())
    values = np.full_like(values, _mean(cv)) if np.ptp(values) <= rounding else values
    return np.where(np.abs(values) <= rounding, 0, values)


def _sides(cv):
    """Return what the sign -1, 0, 1 of a difference says, or the name of the only model."""
    names = short_names(cv.models)
    return names if len(names) == 1 else [f"{names[0]} better", "equal", f"{names[1]} better"]


def _kind(cv):
    return "score" if cv.scores else "loss"


def _sign(cv):
    """Return what makes a single model's losses its scores again, if they were; differences are of losses."""
    return -1 if cv.scores and len(cv.models) == 1 else 1


def _interval(cv, test, level):
    return sorted(_sign(cv) * end for end in test.interval(level))


def _interval_row(name, estimate, interval, sides):
    low, high = interval
    verdict = sides[-1] if low > 0 or len(sides) == 1 else sides[0] if high < 0 else MAY_BE_0
    return {"test": name, "estimate": estimate, "low": low, "high": high, "verdict": verdict}


def _tests(cv, rho):
    """Return (name, test) for rho = 0, Nadeau and Bengio's and the chosen one; none where folds agree."""
    try:
        chosen = kfold_t_test(cv, rho=rho)
    except ZeroVarianceError:
        return []
    tests = {"naive": chosen.at("naive"), "Nadeau-Bengio": chosen.at("nadeau_bengio")}
    same = [name for name, test in tests.items() if abs(test.rho - chosen.rho) < 1e-9]
    named = {name + (" (chosen)" if name in same else ""): test for name, test in tests.items()}
    return [(f"{name}, rho {share(test.rho)}", test)
            for name, test in (named | ({} if same else {"chosen": chosen})).items()]


def _mean(cv):
    return float(np.average(cv.fold_means(), weights=cv.sizes)) * _sign(cv)


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
    values, repeats = _shown_means(cv), _repeats(cv)
    tests = _tests(cv, rho)
    intervals = "; ".join(f"{name}: {between(*_interval(cv, test, level))}" for name, test in tests)
    said = f"{percent(level)} intervals of the mean: {intervals}." if tests else \
        "All folds have the same mean: the variance they show is 0, so there is no interval and no test."
    about = f"Mean {cv.label} {number(_mean(cv))}" if len(cv.models) == 2 else \
        f"Mean {_kind(cv)} of {cv.models[0]} {number(_mean(cv))}"
    title = _winner(cv, bool(tests)) if len(cv.models) == 2 else (
        f"Mean {_kind(cv)} of {limited(cv.models[0], 30)} {number(_mean(cv))}: " + (
            f"folds from {between(values.min(), values.max())}" if tests else "the same in every fold, no variance"))
    return title + repeats, (f"{about}; folds from {between(values.min(), values.max())}{repeats}, "
                             f"{values.size} in all. {said}")


def _repeats(cv):
    return f", {cv.repeats} repeats with the same items" if cv.repeats > 1 else ""


def _winner(cv, tested):
    values, mean, (first, second) = _shown_means(cv), _mean(cv), short_names(cv.models)
    total, wins = values.size, [int((values < 0).sum()), int((values > 0).sum())]
    better = first if mean < 0 else second
    if not tested:
        return f"{first} and {second} have the same {_kind(cv)} in every fold: no variance, no test" \
            if not values.any() else \
            f"{better} is better, by {number(abs(mean))} in every fold alike: no variance, no test"
    ties = total - sum(wins)
    equal = f", {ties} equal" if ties else ""
    if abs(mean) <= 1e-12 * np.abs(values).max():
        return f"On average neither is better: {first} in {wins[0]}, {second} in {wins[1]} of {total} folds{equal}"
    return (f"{better} is better, by {number(abs(mean))}: in {wins[0] if mean < 0 else wins[1]} of {total} "
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
        return _finished(_models(cv), words)
    data, sides = folds_data(cv, rho=rho, level=level), _sides(cv)
    most = stacked(_shown_means(cv))[1]
    row_height = _row_height(most, cv.repeats)
    title = f"{_kind(cv)} (dashed: mean)"
    if len(sides) == 3:
        title = f"difference in {'minus the ' if cv.scores else ''}{title}"
    ends = [row["value"] for name in ("dots", "zero") for row in data[name]]
    ends += [row[end] for row in data["intervals"] for end in ("low", "high")]
    within = padded(ends)
    colors = dict(zip(sides, (FIRST, NEITHER, SECOND) if len(sides) == 3 else (FIRST,), strict=True))
    legend = alt.Legend(labelLimit=240) if len(sides) == 3 else None
    dots = alt.Chart(theme.rows("dots", data["dots"])).mark_point(filled=True, size=_dot_size(most, cv.repeats)).encode(
        x=alt.X("value:Q", title=None if data["intervals"] else title, scale=within,
                axis=values_axis(ends, not data["intervals"])),
        y=alt.Y("y:Q", title="repeat", axis=_repeat_axis(cv) if cv.repeats > 1 else None,
                scale=alt.Scale(domain=[0.1, cv.repeats + 8 / row_height], reverse=True, nice=False)),
        color=alt.Color("side:N", title=None, scale=theme.scale(colors), legend=legend),
        shape=alt.Shape("side:N", title=None, legend=legend, scale=alt.Scale(
            domain=sides, range=SIDE_SHAPES[:len(sides)])))
    zero = alt.Chart(theme.rows("zero", data["zero"])).mark_rule(strokeWidth=1).encode(x="value:Q")
    mean = alt.Chart(theme.rows("mean", data["mean"])).mark_rule(style="truth").encode(x="value:Q")
    above = (zero + mean + dots).properties(width=theme.WIDTH - 160, height=row_height * cv.repeats + 8)
    below = [_intervals(data, title, values_axis(ends), within, colors)] if data["intervals"] else []
    return _finished(alt.vconcat(above, *below, spacing=4).resolve_scale(color="independent", shape="independent"),
                     words)


def _finished(chart, words):
    """Return the chart with its title above the labels too: above the plot alone it would leave the page."""
    finished = theme.finish(chart, *words, width=None, height=None)
    finished.title.frame = "bounds"
    return finished


def _repeat_axis(cv):
    labels = [limited(str(label), LETTERS) for label in dict.fromkeys(row["repeat"] for row in cv.rows())]
    return alt.Axis(values=list(range(1, cv.repeats + 1)), labelExpr=f"{json.dumps(labels)}[datum.value - 1]",
                    grid=False, labelOverlap=True)


def _intervals(data, title, axis, within, colors):
    """Return bars in the color and shape of the better model, gray where 0 is inside."""
    shapes = dict(zip(colors, SIDE_SHAPES, strict=False)) | {MAY_BE_0: BAR}
    base = alt.Chart(theme.rows("intervals", data["intervals"])).encode(
        y=alt.Y("test:N", sort=[row["test"] for row in data["intervals"]], title=None, axis=alt.Axis(labelLimit=220)),
        color=alt.Color("verdict:N", legend=None, scale=theme.scale(colors | {MAY_BE_0: NEITHER})))
    bars = base.mark_rule(strokeWidth=4).encode(x=alt.X("low:Q", title=title, axis=axis, scale=within), x2="high:Q")
    dots = base.mark_point(filled=True, size=110).encode(x="estimate:Q", shape=alt.Shape(
        "verdict:N", legend=None, scale=alt.Scale(domain=list(shapes), range=list(shapes.values()))))
    zero = alt.Chart(theme.rows("zero", data["zero"])).mark_rule(strokeWidth=1).encode(x="value:Q")
    return (zero + bars + dots).properties(width=theme.WIDTH - 160, height=24 * len(data["intervals"]))


def _dot_size(most, repeats):
    return float(np.clip((_row_height(most, repeats) * min(0.85 / most, 1)) ** 2 * 0.9, 8, 75))


# more than two models

def _models_data(cv):
    rows, marks = [], []
    for name, label, means, mean in _models_by_mean(cv)[:SHOWN_MODELS]:
        rows += [{"model": label, "value": value} for value in means.ravel().tolist()]
        marks.append({"model": label, "mean": mean, "place": name})
    return {"dots": rows, "means": marks}


def _models_by_mean(cv):
    """Return (name, short name, fold means, mean) of each model, the best mean first."""
    labels, alone = short_names(cv.models), []
    for k, name in enumerate(cv.models):
        one = CVLosses(cv.losses[:, k], cv.fold, (name,), cv.item, cv.repeat, cv.fold_size, scores=cv.scores)
        alone.append((name, labels[k], _shown_means(one), _mean(one)))
    return sorted(alone, key=lambda found: found[3], reverse=cv.scores)


def _models_words(cv):
    found = _models_by_mean(cv)
    means = np.stack([one[2] for one in found])
    best = int((means[0] == (means.max(0) if cv.scores else means.min(0))).sum())
    left = f" Shown are the best {SHOWN_MODELS} of {len(found)}." if len(found) > SHOWN_MODELS else ""
    said = ", ".join(f"{name} {number(mean)}" for name, _, _, mean in found[:SHOWN_MODELS])
    tied = [label for _, label, _, mean in found if abs(mean - found[0][3]) <= ROUNDING * abs(found[-1][3])]
    often = f": the {'largest' if cv.scores else 'smallest'} in {best} of {means[0].size} folds{_repeats(cv)}" \
        if len(tied) == 1 else ""
    return (f"{_best(tied, cv.scores)}, {number(found[0][3])}{often}"
            + (f"; {SHOWN_MODELS} of {len(found)} models shown" if left else ""),
            f"Mean {_kind(cv)} of each model over {means[0].size} folds{_repeats(cv)}: {said}.{left}")


def _models(cv):
    data = _models_data(cv)
    order = [row["model"] for row in data["means"]]
    y = alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=220, grid=True))
    x = alt.X("value:Q", title=f"{_kind(cv)} in each fold (bar: mean)", scale=alt.Scale(zero=False),
              axis=values_axis([row["value"] for row in data["dots"]]))
    dots = alt.Chart(theme.rows("dots", data["dots"])).mark_point(opacity=0.7, size=40, color=FIRST).encode(x=x, y=y)
    means = alt.Chart(theme.rows("means", data["means"])).mark_tick(thickness=4, size=20, color=SECOND).encode(
        x="mean:Q", y=y)
    return (dots + means).properties(width=MODELS_WIDTH, height=max(60, 26 * len(order)))


# p over rho

def rho_curve_data(test, *, level=0.95, domain=None, size=CURVE_SIZE):
    """Return the rows of `rho_curve`: the curve, named points, the level, where the verdict flips."""
    low, high = domain or _rho_range(test)
    curve = [{"rho": rho, "p": max(test.at(rho).pvalue, LEAST_P)} for rho in np.linspace(low, high, 121).tolist()]
    flips = test.rho_alpha(level)
    inside = [{"rho": flips, "text": f"flips at {share(flips)}", "side": "left" if flips < (low + high) / 2
               else "right"}] if low < flips < high else []
    points = _placed(_points(test), curve, 1 - level, inside, size)
    return {"curve": curve, "points": points, "level": [{"p": 1 - level, "text": percent(1 - level)}], "flips": inside}


def _points(test):
    """Return the named points; a p that reads like that of a close point is written once."""
    names = ("naive", "Nadeau-Bengio", "0.7", "used")
    points = [{"rho": row["rho"], "p": max(row["p"], LEAST_P), "rule": name,
               "chosen": int(abs(row["rho"] - test.rho) < 1e-9), "text": f"p {short_p(row['p'])}"}
              for name, row in zip(names, test.rows(), strict=False)]
    points.sort(key=lambda point: -point["chosen"])
    for k, point in enumerate(points):
        same = [abs(other["rho"] - point["rho"]) < NEAR for other in points[:k] if other["text"] == point["text"]]
        point["text"] = "" if any(same) else point["text"]
    return sorted(points, key=lambda point: names.index(point["rule"]))


def _placed(points, curve, risk, flips, size):
    """Return the points with a place of their text that no line crosses and no other text covers, where there is one.

    Places are pixels from the point, tried in the order of PLACES; the chosen point comes first.
    """
    (start, end), least = (curve[0]["rho"], curve[-1]["rho"]), math.log(_least_p(curve))

    def pixels(rows):
        rho, p = (np.array([row[axis] for row in rows]) for axis in ("rho", "p"))
        return np.stack([(rho - start) / (end - start) * size[0], np.log(p) / least * size[1]])

    flip_at = [float(x) for x in pixels([flip | {"p": risk} for flip in flips])[0]]
    lines = _lines(pixels(curve), pixels([{"rho": start, "p": risk}])[1, 0], flip_at, size)
    at = pixels(points).T.tolist()
    taken = [_box(*where, 2 * (6 + 3 * point["chosen"])) for where, point in zip(at, points, strict=True)]
    taken += [_text_box(x, size[1], *FLIP_PLACE[flip["side"]], flip["text"])
              for x, flip in zip(flip_at, flips, strict=True)]
    found = {}
    for k in sorted(range(len(points)), key=lambda k: -points[k]["chosen"]):
        beyond = [x - at[k][0] + 6 for x in flip_at if 0 < x - at[k][0] < ACROSS]
        places = PLACES + [(dx, dy, "left") for dx in beyond for dy in (0, 14)]
        boxes = [_text_box(*at[k], *place, points[k]["text"]) for place in places]
        cost = [_crossed(box, lines) + 100 * _covered(box, taken) + 1000 * _outside(box, size) for box in boxes]
        best = int(np.argmin(cost))
        found[k] = dict(zip(("dx", "dy", "align"), places[best], strict=True))
        taken += [boxes[best]] if points[k]["text"] else []
    return [point | found[k] for k, point in enumerate(points)]


def _lines(curve, level, flip_at, size):
    """Return the pixels x and y of the curve, the level and the lines where the verdict flips."""
    across, down = (np.arange(length + 1) for length in size)
    return [(across, np.interp(across, *curve)), (across, np.full(across.shape, level)),
            *((np.full(down.shape, x), down) for x in flip_at)]


def _box(x, y, width, height=None):
    half = (height or width) / 2
    return x - width / 2, y - half, x + width / 2, y + half


def _text_box(x, y, dx, dy, align, text):
    """Return left, top, right and bottom of a text in pixels."""
    width = LETTER * len(text)
    return _box(x + dx + {"left": 0.5, "center": 0, "right": -0.5}[align] * width, y + dy, width + 4, LINE)


def _crossed(box, lines):
    """Return how many pixels of lines are in a box."""
    left, top, right, bottom = box
    return sum(int(((left <= x) & (x <= right) & (top <= y) & (y <= bottom)).sum()) for x, y in lines)


def _covered(box, taken):
    """Return how many boxes a box meets."""
    left, top, right, bottom = box
    return sum(left < other[2] and other[0] < right and top < other[3] and other[1] < bottom for other in taken)


def _outside(box, size):
    left, top, right, bottom = box
    return int(left < 0 or top < -LINE or right > size[0] or bottom > size[1])


def _least_p(curve):
    """Return where the axis of p ends, a little below the curve."""
    return min(min(row["p"] for row in curve) ** 1.15 / 1.5, 0.03)


def _rho_range(test):
    most = max(row["rho"] for row in test.rows())
    return min(0.0, test.rho), max(MOST_RHO, most + 0.4 * (1 - most))


def rho_curve_words(test, *, level=0.95):
    """Return title and text alternative of `rho_curve`."""
    flips, risk, least = test.rho_alpha(level), percent(1 - level), min(0.0, test.rho)
    now = f"p {short_p(test.pvalue)} at rho {share(test.rho, flips)}"
    bound = share(flips, test.rho) if flips > least else ""
    if flips <= least:
        title = f"Not significant at {risk} for any rho, not even at {share(least)}; {now}"
    elif test.pvalue < 1 - level:
        title = f"Significant at {risk}: {now}, and for any rho below {bound}"
    else:
        title = f"Not significant at {risk}: {now}; it would be for rho below {bound}"
    said = "; ".join(f"{row['test']} (rho {decimal(row['rho'])}, r {decimal(row['r'])}): p "
                     + (f"{row['p']:.4g}" if row["p"] >= 1e-300 else short_p(row["p"])) for row in test.rows())
    whole = f" rho is that of one of the {test.repeats} repeats." if test.repeats > 1 else ""
    side = "" if test.alternative == "two-sided" else f", one-sided ({test.alternative})"
    where = f"The verdict flips at rho {decimal(flips, test.rho)}" if flips > least else \
        "No rho from 0 on makes it significant"
    return title, f"p-value of the K-fold t-test of {test.label}{side} for every rho. {said}. {where}.{whole}"


def rho_curve(test, *, level=0.95):
    """Return the p-value over rho with the tests' choices, the level, and where the verdict flips.

    Parameters
    ----------
    test : workbench.KFoldTTest
    level : float
    """
    data = rho_curve_data(test, level=level)
    chart = curve(data, test.folds, _rho_range(test), named=[row["rule"] for row in data["points"]])
    return theme.finish(chart, *rho_curve_words(test, level=level), height=CURVE_SIZE[1])


def curve(data, folds, domain, *, named=tuple(RULES)):
    """Return p over rho, on an axis that also says the correlation r of two of `folds` fold means.

    A live picture names all rules, as its points come and go.
    """
    low, legend = min(row["p"] for row in data["curve"]), alt.Legend(values=list(named))
    x = alt.X("rho:Q", title="assumed rho (below it: correlation r of two folds)", axis=_rho_axis(folds, domain),
              scale=alt.Scale(domain=list(domain), nice=False))
    y = alt.Y("p:Q", title=f"p-value (log scale{_at_least(low)})", axis=alt.Axis(values=_p_ticks(low), format="~g"),
              scale=alt.Scale(type="log", domain=[_least_p(data["curve"]), 1], nice=False))
    curve = alt.Chart(theme.rows("curve", data["curve"])).mark_line(strokeWidth=2, color=theme.GRAY).encode(x=x, y=y)
    at = alt.Chart(theme.rows("level", data["level"]))
    level = at.mark_rule(strokeWidth=1.5).encode(y="p:Q")
    name = at.mark_text(x="width", align="left", dx=4, style="note").encode(y="p:Q", text="text:N")
    flip = alt.Chart(theme.rows("flips", data["flips"])).encode(x="rho:Q")
    flips = [flip.mark_rule(style="truth")]
    flips += [flip.mark_text(y="height", dx=dx, dy=dy, align=align).encode(text="text:N").transform_filter(
        alt.datum.side == side) for side, (dx, dy, align) in FLIP_PLACE.items()]
    points = alt.Chart(theme.rows("points", data["points"]))
    marks = points.mark_point(filled=True).encode(
        x="rho:Q", y="p:Q", size=alt.Size("chosen:O", legend=None, scale=alt.Scale(domain=[0, 1], range=[90, 230])),
        color=alt.Color("rule:N", title=None, legend=legend, scale=theme.scale(RULES)),
        shape=alt.Shape("rule:N", title=None, legend=legend, scale=alt.Scale(domain=list(RULES), range=RULE_SHAPES)))
    texts = points.mark_text(**{name: alt.expr(f"datum.{name}") for name in ("dx", "dy", "align")}).encode(
        x="rho:Q", y="p:Q", text="text:N")
    return alt.layer(level, name, curve, *flips, marks, texts)


def _at_least(low):
    return f", {LEAST_P:g} for all below" if low <= LEAST_P else ""


def _rho_axis(folds, domain):
    step = 0.1 if domain[1] - domain[0] < 1.2 else 0.2
    start = math.ceil(domain[0] / step - 1e-9)
    values = [round(k * step, 10) for k in range(start, math.floor(domain[1] / step + 1e-9) + 1)]
    labels = f"[format(datum.value, '.1f'), format(datum.value / ({folds} - {folds - 1} * datum.value), '.2~g')]"
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
    cuts, chance = _cuts(found), dict(zip(REGIONS, (found.left, found.rope, found.right), strict=True))
    names = [name for name in REGIONS if found.half_width or name != "practically equal"]
    points, ends = _density_points(found, low, high), np.clip([low, *cuts, high], low, high).tolist()
    density = [{"difference": x, "density": y, "region": name} for name, start, end in
               zip(names, ends[:-1], ends[1:], strict=True) if start < end
               for xs in [points[(start <= points) & (points <= end)]]
               for x, y in zip(xs.tolist(), found.density(xs).tolist(), strict=True)]
    where = dict(zip(names, ("left", "middle", "right") if found.half_width else ("left", "right"), strict=True))
    return {"density": density, "rope": [{"difference": cut} for cut in cuts if low < cut < high],
            "names": [{"text": [who, f"{what} {probability(chance[name])}"], "at": where[name]}
                      for name in names for who, what in [_region_lines(name, models)]],
            "notes": _not_drawn(found, low, high)}


def _cuts(found):
    """Return the ends of the region of practical equivalence, or 0 where there is none."""
    return (-found.half_width, found.half_width) if found.half_width else (0.0,)


def _density_points(found, low, high):
    """Return where the density is drawn: close at its peak, however wide the axis, and at its ends and cuts."""
    near = found.estimate + found.standard_error * np.linspace(-REACH, REACH, 201)
    points = np.unique([*near, *np.linspace(low, high, 41), *_cuts(found), found.estimate])
    return np.unique([low, *points[(low <= points) & (points <= high)], high])


def _posterior_range(found):
    """Return the ends of the axis: the density, and the cuts unless they are so far that it would be a needle."""
    reach = found.standard_error * min(float(scipy.special.stdtrit(found.df, 0.998)), REACH)
    near = [cut for cut in _cuts(found) if abs(cut - found.estimate) <= FARTHEST * reach]
    low, high = min([found.estimate - reach, *near]), max([found.estimate + reach, *near])
    margin = 0.1 * reach
    return low - margin * (low in near), high + margin * (high in near)


def _not_drawn(found, low, high):
    """Return what lies beyond the axis, in words, and the corner with room for them."""
    hidden = [cut for cut in _cuts(found) if not low < cut < high]
    if not hidden:
        return []
    far = "right" if hidden[0] > found.estimate else "left"
    within = f"practically equal: from {number(-found.half_width)} to {number(found.half_width)}"
    if not found.half_width:
        text = f"0, no difference, is far to the {far}"
    elif abs(found.estimate) < found.half_width:
        text = f"all shown is {within}" if len(hidden) == 2 else within
    else:
        text = f"{within}, far to the {far}" if len(hidden) == 2 else within
    at_left = found.estimate - low < 0.4 * (high - low)
    return [{"text": textwrap.wrap(text, 26), "at": "right" if at_left else "left"}]


def _region_lines(region, models):
    """Return the name of who is better in a region, nobody's in the one of practical equivalence, and what it says."""
    names = dict(zip(("first better", "second better"), short_names(models), strict=True))
    return (names[region], "better") if region in names else ("", region)


def posterior_words(found, models=SIDES):
    """Return title and text alternative of `posterior`."""
    low, high = found.interval()
    rope = f", practically equal {probability(found.rope)}" if found.half_width else ""
    within = f", practically equal (within {number(found.half_width)}) with {found.rope:.3f}" if rope else ""
    first, second = short_names(models)
    beyond = "".join(f" {' '.join(note['text']).capitalize()}." for note in _not_drawn(found, *_posterior_range(found)))
    return (f"Probability that {first} is better {probability(found.left)}{rope}, {second} "
            f"{probability(found.right)}",
            f"Posterior of the mean difference {models[0]} minus {models[1]}, a t with {found.df} degrees of freedom "
            f"around {number(found.estimate)}, 95% between {number(low)} and {number(high)}. {models[0]} is better "
            f"with probability {found.left:.3f}{within}, {models[1]} with {found.right:.3f}.{beyond}")


def posterior(found, models=SIDES):
    """Return the posterior density of the mean difference, shaded where first, neither or second is better.

    Parameters
    ----------
    found : workbench.BayesianTTest
    models : pair of str
        Their names.
    """
    data = posterior_data(found, models)
    named = models if sum(map(len, models)) <= MOST_LETTERS else short_names(models)
    x = alt.X("difference:Q", title=f"mean difference in loss: {' minus '.join(named)}",
              axis=values_axis([row["difference"] for row in data["density"]]), scale=alt.Scale(nice=False))
    density = alt.Chart(theme.rows("density", data["density"]))
    areas = density.mark_area(opacity=0.55).encode(x=x, y=alt.Y("density:Q", axis=None, stack=None),
                                                   color=alt.Color("region:N", legend=None,
                                                                   scale=theme.scale(REGIONS)))
    line = density.mark_line(strokeWidth=1.5, color=theme.GRAY).encode(x=x, y="density:Q")
    rules = alt.Chart(theme.rows("rope", data["rope"])).mark_rule(strokeDash=[4, 3]).encode(x="difference:Q")
    texts = [alt.Chart(theme.rows(name, data[name])).mark_text(
        x=place, y=y, align=align, baseline="top", lineHeight=15, limit=theme.WIDTH // 3).encode(
            text="text:N").transform_filter(alt.datum.at == at)
             for name, y in (("names", -32), ("notes", 6)) for at, place, align in
             (("left", 0, "left"), ("middle", theme.WIDTH // 2, "center"), ("right", "width", "right"))]
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
    name = dict(zip(comparison.models, short_names(comparison.models), strict=True))
    row = {"pair": f"{name[first]} − {name[second]}"}
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
    rows = pairs_data(comparison, level=level)
    said = "; ".join(f"{row['pair']} {number(row['difference'])} ({row['text']})" for row in rows[:12])
    none = f" {untested} without a test, as their folds show no variance." if untested else ""
    return (f"{_best(comparison.best, comparison.scores)}; {differ} of {total} "
            f"pair{'s' if total > 1 else ''} differ{'s' if total == 1 else ''} at {percent(1 - level)}{shown}",
            f"Differences in mean loss of all {total} pairs with {percent(level)} intervals{rho}, each by itself; "
            f"p-values {_how(comparison)}. {said}{'; …' if len(rows) > 12 else ''}.{none}")


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
    present = [kind for kind in kinds if any(row["verdict"] == kind for row in rows)]
    legend, title = alt.Legend(values=present, titleLimit=PAIRS_WIDTH), _pairs_legend(comparison, level)
    base = alt.Chart(theme.rows("pairs", rows)).encode(
        y=alt.Y("pair:N", sort=[row["pair"] for row in rows], title=None, axis=alt.Axis(labelLimit=LABELS_WIDTH)))
    colored = base.encode(color=alt.Color("verdict:N", title=title, legend=legend, scale=theme.scale(kinds)))
    x = alt.X("low:Q", title="difference in mean loss, first minus second",
              axis=values_axis([row[end] for row in rows for end in ("low", "high")]))
    bars = colored.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q")
    dots = colored.mark_point(filled=True, size=70).encode(x="difference:Q", shape=alt.Shape(
        "verdict:N", title=title, legend=legend, scale=alt.Scale(
            domain=list(kinds), range=["diamond", "circle", "cross"])))
    texts = base.mark_text(x="width", dx=8, align="left", fontSize=11).encode(text="text:N")
    zero = alt.Chart(theme.rows("zero", [{"difference": 0}])).mark_rule(strokeWidth=1).encode(x="difference:Q")
    height = len(rows) * (24 if len(rows) <= 12 else 17)
    drawn = alt.layer(zero, bars, dots, texts).properties(width=PAIRS_WIDTH, height=max(40, height))
    return _finished(drawn, pairs_words(comparison, level=level))


def _pairs_legend(comparison, level):
    """Return what color and bars mean, as they may disagree; of a single pair nothing is adjusted."""
    if len(comparison.pairs) == 1:
        return None
    return [f"color and p: {_how(comparison)}", f"bars: {percent(level)} intervals of each pair alone, not adjusted"]


def _how(comparison):
    return "not adjusted" if comparison.adjust == "none" else f"{comparison.adjust.capitalize()}-adjusted"


def _best(models, scores):
    """Return who has the best mean, in words."""
    named, mean = limited(" and ".join(models), 60), "largest mean score" if scores else "smallest mean loss"
    return f"{named} {'has' if len(models) == 1 else 'share'} the {mean}"
