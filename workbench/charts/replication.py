"""Charts of replicate variance: clusters, half-samples, orthogonal arrays, fields, coverage, metrics.

As for stratified accuracy there are three functions for each picture: `..._data` gives its rows, `..._words` its
title and text alternative, and the picture itself is an altair chart built from both.
"""
import math

import altair as alt
import numpy as np

from workbench.charts import theme
from workbench.replication import galois
from workbench.results import percent

NAIVE = theme.RANDOM
HONEST = theme.STRATIFIED
UNITS = {"first box": theme.OKABE_ITO["orange"], "second box": theme.OKABE_ITO["sky"]}
SIGNS = (theme.MISS, "#f7f7f7", theme.STRATIFIED)
SHOWN_RUNS = 81
SHOWN_REPLICATES = 32
SHOWN_INTERVALS = 50
SHOWN_STRATA = 40
MOST_SQUARES = 2000
SHOWN_METRICS = 24
NAMED_PAIRS = 6
BINS = 80
LOW_STACK = 16
FEW = 12
TICKS = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6)
BOXES = 14
Z95 = 1.959964
TEXTBOOK = 1e-12
VERDICTS = {"contains the truth": theme.STRATIFIED, "misses it": theme.MISS}
COVERED = ("naive", "z", "t", "logit", "default")


# clusters

def boxes_data(right, items, estimate):
    """Return the rows of `boxes`: boxes, districts of two, the estimate, two intervals."""
    rate, (pooled, error) = right / items, naive(right, items)
    boxes = [{"box": b + 1, "accuracy": p, "labels": n} for b, (p, n) in enumerate(zip(rate, items, strict=True))]
    districts = [{"start": 2 * d + 0.5, "end": 2 * d + 2.5, "middle": 2 * d + 1.5, "district": f"district {d + 1}",
                  "even": d % 2, "first": rate[2 * d], "second": rate[2 * d + 1], "left": 2 * d + 1,
                  "right": 2 * d + 2} for d in range(rate.size // 2)]
    low, high = estimate.interval()
    limits = [{"kind": "naive", "estimate": pooled, "low": pooled - Z95 * error, "high": pooled + Z95 * error},
              {"kind": "by boxes", "estimate": estimate.estimate, "low": low, "high": high}]
    return {"boxes": boxes, "districts": districts, "limits": limits, "middle": [{"estimate": estimate.estimate}]}


def boxes_words(right, items, estimate, icc):
    """Return title and text alternative of `boxes`; `icc` is the intracluster correlation of all labels."""
    total, rate, (pooled, error) = items.sum(), right / items, naive(right, items)
    effect = 1 + (total / rate.size - 1) * icc
    low, high = estimate.interval()
    worst, best = int(rate.argmin()), int(rate.argmax())
    return (f"{total:,} labels in {rate.size} boxes are worth {total / effect:,.0f} independent ones",
            f"Accuracy {pooled:.3f}. Standard error {error:.4f} were the labels independent, "
            f"{estimate.standard_error:.4f} by boxes. Naive 95% interval {pooled - Z95 * error:.3f} to "
            f"{pooled + Z95 * error:.3f}, by boxes {low:.3f} to {high:.3f}. The intracluster correlation {icc:.4f} of "
            f"all labels makes the design effect {effect:.2f} with {total / rate.size:.0f} per box. Boxes run from "
            f"{rate[worst]:.3f} (box {worst + 1}) to {rate[best]:.3f} (box {best + 1}).")


def naive(right, items):
    """Return accuracy and standard error as if all labels were independent, p and sqrt(p (1 - p) / n)."""
    p, n = right.sum() / items.sum(), items.sum()
    return p, math.sqrt(p * (1 - p) / n)


def boxes(right, items, estimate, icc):
    """Return the accuracy of each box, joined by district, beside the naive interval and the one by boxes.

    Parameters
    ----------
    right, items : (14,) array of int
        Right labels and labels per box.
    estimate : workbench.ReplicateEstimate
    icc : float
        Intracluster correlation of all labels.
    """
    data = boxes_data(right, items, estimate)
    districts = alt.Chart(theme.rows("districts", data["districts"]))
    up = alt.Y("accuracy:Q", title="accuracy", axis=alt.Axis(format=".0%"), scale=alt.Scale(zero=False))
    bands = districts.mark_rect(opacity=0.16).encode(x=_box("start"), x2="end:Q", fill=alt.Fill(
        "even:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[theme.GRAY, "transparent"])))
    names = districts.mark_text(y=-15, style="note").encode(x=_box("middle"), text="district:N")
    joined = districts.mark_rule(strokeWidth=2).encode(x=_box("left"), x2="right:Q", y="first:Q", y2="second:Q",
                                                       color=alt.value(theme.GRAY))
    dots = alt.Chart(theme.rows("boxes", data["boxes"])).mark_circle(size=90).encode(
        x=_box("box"), y=up, color=alt.value(theme.LABELED))
    middle = alt.Chart(theme.rows("middle", data["middle"])).mark_rule(style="truth").encode(y="estimate:Q")
    limits = alt.Chart(theme.rows("limits", data["limits"])).encode(
        x=alt.X("kind:N", title="95% interval", sort=["naive", "by boxes"], axis=TICKS),
        color=alt.Color("kind:N", legend=None, scale=theme.scale({"naive": NAIVE, "by boxes": HONEST})))
    beside = alt.Y("low:Q", title=None, axis=alt.Axis(format=".0%"))
    bars = limits.mark_rule(strokeWidth=5).encode(y=beside, y2="high:Q")
    ticks = limits.mark_tick(orient="horizontal", width=26, thickness=3).encode(y="estimate:Q")
    left = (bands + joined + dots + middle + names).properties(width=400, height=250)
    both = alt.hconcat(left, (bars + ticks).properties(width=130, height=250)).resolve_scale(y="shared")
    return theme.finish(both, *boxes_words(right, items, estimate, icc), width=None, height=None)


def _box(column):
    axis = alt.Axis(values=list(range(1, BOXES + 1)), grid=False, format="d")
    return alt.X(f"{column}:Q", title="box", axis=axis, scale=alt.Scale(domain=[0.5, BOXES + 0.5], nice=False))


# half-samples

def halves_data(made, estimate, reach):
    """Return the rows of `halves`: box kept per replicate and district, cross terms, replicate values."""
    kept, cross = made.array, cross_terms(made.array)
    shown = kept[:SHOWN_REPLICATES]
    tiles = [{"replicate": r + 1, "district": h + 1, "box": list(UNITS)[unit],
              "text": str(2 * h + 1 + unit) if len(shown) <= FEW else ""}
             for r, row in enumerate(shown.tolist()) for h, unit in enumerate(row)]
    terms = [{"i": i + 1, "j": j + 1, "mean": float(value), "text": _short(value), "dark": int(abs(value) > 0.55)}
             for (i, j), value in np.ndenumerate(cross)]
    return {"tiles": tiles, "terms": terms, **values_data(estimate, reach)}


def cross_terms(kept):
    """Return the mean over replicates of the product of two strata's signs, (H, H); the identity in balance."""
    signs = 1.0 - 2 * np.asarray(kept)
    return signs.T @ signs / len(signs)


def halves_words(made, estimate, textbook):
    """Return title and text alternative of `halves`; `textbook` is the standard error by the closed formula."""
    cross = cross_terms(made.array)
    terms = np.abs(cross[np.triu_indices(len(cross), 1)])
    left = np.count_nonzero(terms > TEXTBOOK)
    largest = f"do not cancel in {left} of {terms.size} pairs of districts, the largest is {terms.max():.2f}" \
        if left else "cancel in every pair of districts"
    excess = estimate.standard_error / textbook - 1
    verdict = "the textbook's to 12 digits" if abs(excess) < TEXTBOOK else \
        f"{abs(excess):.0%} {'above' if excess > 0 else 'below'} the textbook's {textbook:.4f}"
    values = estimate.replicate_values
    cut = f" Tiles show the first {SHOWN_REPLICATES}." if made.count > SHOWN_REPLICATES else ""
    return (f"{made.count:,} half-samples: SE {estimate.standard_error:.4f}, {verdict}",
            f"Each of {made.count:,} half-samples keeps one box of each of {len(cross)} districts; their accuracies "
            f"run from {values.min():.4f} to {values.max():.4f} around {estimate.estimate:.4f}. Standard error "
            f"{estimate.standard_error:.4f}, {verdict}. Cross terms {largest}.{cut}")


def halves(made, estimate, textbook, reach):
    """Return which box each half-sample keeps, the cross terms of the districts, and the half-samples' accuracies.

    Parameters
    ----------
    made : workbench.Replicates
        With its array.
    estimate : workbench.ReplicateEstimate
    textbook : float
        Standard error by the closed formula.
    reach : (float, float)
        Ends of the axis of accuracies, so that half-samples can be compared.
    """
    data = halves_data(made, estimate, reach)
    tiles = alt.Chart(theme.rows("tiles", data["tiles"])).encode(
        x=alt.X("district:O", title="district", axis=TICKS),
        y=alt.Y("replicate:O", title="replicate", axis=TICKS))
    kept = tiles.mark_rect(stroke="#ffffff", strokeWidth=0.5).encode(color=alt.Color(
        "box:N", title="keeps the", scale=theme.scale(UNITS)))
    names = tiles.mark_text(color="#000000").encode(text="text:N")
    terms = alt.Chart(theme.rows("terms", data["terms"])).encode(
        x=alt.X("i:O", title="district", axis=TICKS), y=alt.Y("j:O", title="district"))
    means = terms.mark_rect(stroke="#808080", strokeWidth=0.5).encode(color=alt.Color(
        "mean:Q", title="mean product of signs", scale=alt.Scale(domain=[-1, 0, 1], range=list(SIGNS)),
        legend=alt.Legend(gradientLength=150)))
    texts = terms.mark_text(fontSize=10).encode(text="text:N", color=alt.Color("dark:O", legend=None, scale=alt.Scale(
        domain=[0, 1], range=["#000000", "#ffffff"])))
    above = alt.hconcat((kept + names).properties(width=230, height=260),
                        (means + texts).resolve_scale(color="independent").properties(width=260, height=260))
    below = _values(data, "accuracy of the half-sample", reach).properties(width=theme.WIDTH, height=110)
    both = alt.vconcat(above.resolve_scale(color="independent"), below).resolve_scale(color="independent")
    return theme.finish(both, *halves_words(made, estimate, textbook), width=None, height=None)


# values of replicates

def values_data(estimate, reach=None):
    """Return the rows of a strip of replicate values: stacked squares, estimate, one standard error either side."""
    values = _counting(estimate)
    error = estimate.standard_error
    return {"squares": _stacked(values, *(reach or (values.min(), values.max()))),
            "estimate": [{"estimate": estimate.estimate}],
            "band": [{"low": estimate.estimate - error, "high": estimate.estimate + error}]}


def _scale(estimate):
    """Return how many times its deviation from the estimate a replicate counts: 2 for Fay's at half weight."""
    values = estimate.replicate_values[np.isfinite(estimate.replicate_values)]
    spread = np.sqrt(((values - estimate.estimate) ** 2).mean())
    return estimate.standard_error / spread if spread > 0 else 1.0


def _counting(estimate):
    """Return replicate values at the distance at which they count; of very many 2,000 evenly among the sorted."""
    values = np.sort(estimate.replicate_values[np.isfinite(estimate.replicate_values)])
    if values.size > MOST_SQUARES:
        values = values[np.linspace(0, values.size - 1, MOST_SQUARES).astype(int)]
    return estimate.estimate + _scale(estimate) * (values - estimate.estimate)


def _stacked(values, low, high):
    """Return one square per value, stacked where values share one of 80 bins; beyond 16 per bin they close up."""
    bins = np.zeros(values.size, int) if high - low <= TEXTBOOK else \
        np.rint((values - low) / (high - low) * (BINS - 1)).astype(int)
    order = np.argsort(bins, kind="stable")
    first = np.searchsorted(bins[order], bins[order])
    height = np.arange(values.size) - first
    top = max(LOW_STACK, int(height.max()) + 1)
    places = low + np.arange(BINS) * (high - low) / (BINS - 1)
    return [{"value": float(places[b]), "height": (h + 0.5) / top} for b, h in
            zip(bins[order].tolist(), height.tolist(), strict=True)]


def _values(data, title, reach=None):
    scale = alt.Scale(zero=False) if reach is None else alt.Scale(domain=list(reach), nice=False)
    along = alt.X("low:Q", title=title, scale=scale, axis=alt.Axis(format=".0%" if reach else "~g", tickCount=8))
    band = alt.Chart(theme.rows("band", data["band"])).mark_rect(opacity=0.25).encode(
        x=along, x2="high:Q", color=alt.value(theme.ESTIMATE))
    squares = alt.Chart(theme.rows("squares", data["squares"])).mark_square(size=38).encode(
        x="value:Q", y=alt.Y("height:Q", axis=None, scale=alt.Scale(domain=[-0.02, 1.02], nice=False)),
        color=alt.value(theme.LABELED))
    middle = alt.Chart(theme.rows("estimate", data["estimate"])).mark_rule(style="truth").encode(x="estimate:Q")
    return band + squares + middle


def replicate_plot_words(estimate, level=0.95):
    """Return title and text alternative of `replicate_plot`."""
    found, values = estimate.interval(level), estimate.replicate_values[np.isfinite(estimate.replicate_values)]
    name, scale = _name(estimate.statistic), _scale(estimate)
    lost = f" {estimate.undefined:,} replicates are undefined and not shown." if estimate.undefined else ""
    some = f" {MOST_SQUARES:,} of them are drawn." if values.size > MOST_SQUARES else ""
    counted = "" if abs(scale - 1) < 0.01 else f" Drawn {scale:.3g} times as far from it, as they count."
    return (f"{name} {estimate.estimate:.3f}, standard error {estimate.standard_error:.4f} from {values.size:,} "
            "replicates",
            f"{values.size:,} {estimate.method} replicates of {name} from {values.min():.4g} to {values.max():.4g} "
            f"around the estimate {estimate.estimate:.4g}.{counted}{some} Shaded: one standard error, "
            f"{estimate.standard_error:.4g}, either side. Line below: the {percent(level)} interval, "
            f"{found.low:.4g} to {found.high:.4g}.{lost}")


def replicate_plot(estimate, *, level=0.95):
    """Return the replicate values of an estimate as squares, its standard error and its interval.

    Parameters
    ----------
    estimate : workbench.ReplicateEstimate
    level : float
    """
    low, high = estimate.interval(level)
    interval = alt.Chart(theme.rows("interval", [{"low": low, "high": high}])).mark_rule(
        strokeWidth=5, y="height").encode(x="low:Q", x2="high:Q", color=alt.value(HONEST))
    scale = _scale(estimate)
    title = f"{_name(estimate.statistic)} of the replicate" + \
        ("" if abs(scale - 1) < 0.01 else f" (deviation times {scale:.2g}, as it counts)")
    plot = _values(values_data(estimate), title) + interval
    return theme.finish(plot, *replicate_plot_words(estimate, level), height=140)


# orthogonal arrays

def unbalanced_pairs(array, levels):
    """Return which pairs of columns fail to show each pair of levels equally often, (columns, columns) of bool."""
    shown = (np.asarray(array)[:, :, None] == np.arange(levels)).astype(np.float32)
    flat = shown.reshape(len(shown), -1)
    counts = (flat.T @ flat).reshape(shown.shape[1], levels, shown.shape[1], levels)
    bad = (counts * levels ** 2 != len(shown)).any((1, 3))
    np.fill_diagonal(bad, False)
    return bad


def array_data(array, levels, i, j):
    """Return the rows of `array`: tiles, the two chosen columns and how often they show each pair, bad pairs."""
    bad = unbalanced_pairs(array, levels)
    tiles = [{"run": r + 1, "column": c + 1, "level": level}
             for r, row in enumerate(array[:SHOWN_RUNS].tolist()) for c, level in enumerate(row)]
    counts = np.zeros((levels, levels), int)
    np.add.at(counts, (array[:, i - 1], array[:, j - 1]), 1)
    even = len(array) / levels ** 2
    table = [{"a": a, "b": b, "count": int(n), "off": max(-1.0, min(1.0, float(n / even - 1))),
              "dark": int(n / even >= 1.55 or n / even <= 0.45)} for (a, b), n in np.ndenumerate(counts)]
    pairs = [{"i": a + 1, "j": b + 1, "pair": "not balanced" if bad[a, b] else "balanced"}
             for a, b in zip(*np.triu_indices(bad.shape[0], 1), strict=True)]
    return {"tiles": tiles, "chosen": [{"column": i}, {"column": j}], "table": table, "pairs": pairs,
            "pair": [{"i": min(i, j), "j": max(i, j)}]}


def array_words(array, levels, i, j, needed):
    """Return title and text alternative of `array`; `needed` runs would balance as many columns."""
    runs, columns = array.shape
    bad = np.argwhere(np.triu(unbalanced_pairs(array, levels))) + 1
    counts = np.zeros((levels, levels), int)
    np.add.at(counts, (array[:, i - 1], array[:, j - 1]), 1)
    total = columns * (columns - 1) // 2
    names = ", ".join(f"{a}–{b}" for a, b in bad[:NAMED_PAIRS]) + (", …" if len(bad) > NAMED_PAIRS else "")
    shape = f"{runs:,} runs, {columns} columns, {levels} levels"
    verdict = f"all {total} pairs of columns are balanced" if not len(bad) else \
        f"{len(bad)} of {total} pairs are not balanced ({names}); {needed:,} runs are needed"
    seen = f"Columns {i} and {j} show {'each pair of levels' if np.ptp(counts) == 0 else 'the pairs of levels'} "
    how = f"{counts[0, 0]} times." if np.ptp(counts) == 0 else f"between {counts.min()} and {counts.max()} times."
    cut = f" The first {SHOWN_RUNS} runs are drawn." if runs > SHOWN_RUNS else ""
    return f"{shape}: {verdict}", f"An array of {shape}: {verdict}. {seen}{how}{cut}"


def array(array, levels, i, j, needed):
    """Return an array as tiles, the counts of two of its columns, and which pairs of columns are not balanced.

    Parameters
    ----------
    array : (runs, columns) array of int
    levels : int
    i, j : int
        Two columns, counted from 1.
    needed : int
        Runs that balance as many columns.
    """
    data = array_data(array, levels, i, j)
    tiles = alt.Chart(theme.rows("tiles", data["tiles"])).mark_rect().encode(
        x=alt.X("column:O", title="column (stratum)", axis=TICKS),
        y=alt.Y("run:O", title="run", axis=TICKS),
        color=alt.Color("level:O", title="level", scale=alt.Scale(scheme="viridis")))
    chosen = alt.Chart(theme.rows("chosen", data["chosen"])).mark_rect(
        filled=False, stroke=theme.OKABE_ITO["orange"], strokeWidth=3, y=0, y2="height").encode(x="column:O")
    table = alt.Chart(theme.rows("table", data["table"])).encode(
        x=alt.X("b:O", title="level in column j", axis=TICKS),
        y=alt.Y("a:O", title="level in column i"))
    cells = table.mark_rect(stroke="#808080", strokeWidth=0.5).encode(color=alt.Color(
        "off:Q", legend=None, scale=alt.Scale(domain=[-1, 0, 1], range=list(SIGNS))))
    counts = table.mark_text().encode(text="count:Q", color=alt.Color("dark:O", legend=None, scale=alt.Scale(
        domain=[0, 1], range=["#000000", "#ffffff"])))
    pairs = alt.Chart(theme.rows("pairs", data["pairs"])).mark_rect().encode(
        x=alt.X("j:O", title="column j", axis=TICKS),
        y=alt.Y("i:O", title="column i", axis=TICKS), color=alt.Color(
            "pair:N", title=None, scale=theme.scale({"balanced": theme.OKABE_ITO["sky"], "not balanced": theme.MISS})))
    here = alt.Chart(theme.rows("pair", data["pair"])).mark_square(
        size=16, color=theme.OKABE_ITO["black"]).encode(x="j:O", y="i:O")
    right = alt.vconcat((cells + counts).resolve_scale(color="independent").properties(width=190, height=170),
                        (pairs + here).properties(width=190, height=150)).resolve_scale(color="independent")
    both = alt.hconcat((tiles + chosen).properties(width=270, height=400), right).resolve_scale(color="independent")
    return theme.finish(both, *array_words(array, levels, i, j, needed), width=None, height=None)


# fields

def field_data(field, k):
    """Return the rows of `field`: powers of the generator up to k, and what is known of the array."""
    size, degree = field.size - 1, field.degree
    powers = field.powers(field.primitive_element)
    digits = field.coefficients(powers)
    columns = size // (field.p - 1)
    places = [galois.polynomial(np.eye(degree, dtype=int)[d]) for d in range(degree)]
    terms = [{"power": r + 1, "place": d, "name": places[d], "digit": int(digits[r, d])}
             for r in range(k) for d in range(degree)]
    cells = [{"row": r + 1, "column": c + 1, "digit": int(digits[(r + c) % size, 0])}
             for r in range(size) for c in range(columns) if (r + c) % size < k]
    zeros = [{"row": size + 1, "column": c + 1, "digit": 0} for c in range(columns if k == size else 0)]
    return {"terms": terms, "cells": cells + zeros,
            "empty terms": [{"power": r + 1, "name": name} for r in range(size) for name in places],
            "empty cells": [{"row": r + 1, "column": c + 1} for r in range(size + 1) for c in range(columns)],
            "now": [{"power": k}]}


def field_words(field, k):
    """Return title and text alternative of `field`: how power k arises from the one before."""
    size, p = field.size - 1, field.p
    name = f"GF({p}{_raised(field.degree)})"
    modulus = galois.polynomial(field.modulus)
    found = galois.polynomial(field.coefficients(field.power(field.primitive_element, k)))
    columns, runs = size // (p - 1), field.size
    if k < size:
        title = f"{name}, step {k} of {size}: x{_raised(k)} = {found}"
        rest = f"{k} of {size} powers are known; their lowest coefficients fill column 1 and move up into the others."
    else:
        title = f"{name}: {size} powers and a row of zeros make {runs} runs for {columns} columns"
        rest = f"Power {size} is 1: every element but 0 has come once. Another column would repeat the first, up to " \
               "a factor." if p > 2 else f"Power {size} is 1: every element but 0 has come once."
    return title, f"{name}: coefficients modulo {p}, polynomials modulo {modulus}. {_step(field, k)} {rest}"


def _step(field, k):
    """Say in words how power k of x comes from power k - 1."""
    lower = field.coefficients(field.power(field.primitive_element, k - 1))
    found = galois.polynomial(field.coefficients(field.power(field.primitive_element, k)))
    raised = galois.polynomial([0, *lower])
    begin = f"x{_raised(k)} = x ({galois.polynomial(lower)}) = {raised}"
    if lower[-1] == 0:
        return f"{begin}: no reduction is needed."
    top = f"x{_raised(field.degree)}"
    rule = galois.polynomial(-np.array(field.modulus[:-1]) % field.p)
    return f"{begin}; with {top} = {rule} this is {found}."


def _raised(k):
    return "" if k == 1 else f"^{k}"


def field(field, k):
    """Return the powers x, x^2, ... x^k as coefficients, and the array that their lowest coefficients fill.

    Parameters
    ----------
    field : workbench.GaloisField
        Whose smallest primitive element is x.
    k : int
        From 1 to size - 1.
    """
    data = field_data(field, k)
    color = alt.Color("digit:O", title="coefficient", scale=alt.Scale(scheme="viridis"))
    up = alt.Y("power:O", title="power of x", axis=TICKS)
    down = alt.Y("row:O", title="run", axis=TICKS)
    terms = alt.X("name:N", title="coefficient of", sort=None, axis=TICKS)
    columns = alt.X("column:O", title="column of the array", axis=TICKS)
    empty = {"opacity": 0.15, "color": theme.GRAY, "stroke": "#ffffff", "strokeWidth": 0.5}
    left = alt.layer(
        alt.Chart(theme.rows("empty terms", data["empty terms"])).mark_rect(**empty).encode(x=terms, y=up),
        alt.Chart(theme.rows("terms", data["terms"])).mark_rect(stroke="#ffffff", strokeWidth=0.5).encode(
            x=terms, y=up, color=color),
        alt.Chart(theme.rows("now", data["now"])).mark_rect(
            filled=False, stroke=theme.MISS, strokeWidth=3, x=0, x2="width").encode(y=up))
    right = alt.layer(
        alt.Chart(theme.rows("empty cells", data["empty cells"])).mark_rect(**empty).encode(x=columns, y=down),
        alt.Chart(theme.rows("cells", data["cells"])).mark_rect(stroke="#ffffff", strokeWidth=0.5).encode(
            x=columns, y=down, color=color))
    both = alt.hconcat(left.properties(width=140, height=380), right.properties(width=320, height=380))
    return theme.finish(both, *field_words(field, k), width=None, height=None)


# coverage

def coverage_data(study):
    """Return the rows of `coverage`: the first 50 runs' naive and default intervals, coverage of five methods."""
    shown = slice(0, SHOWN_INTERVALS)
    runs = []
    for method in ("naive", "default"):
        low, high = (np.asarray(limit)[shown] for limit in study.limits(method))
        hit = (low <= study.truth) & (study.truth <= high)
        runs.extend({"run": r + 1, "low": float(a), "high": float(b), "estimate": float(e), "method": method,
                     "verdict": list(VERDICTS)[0 if inside else 1]}
                    for r, (a, b, e, inside) in enumerate(zip(low, high, study.estimates[shown], hit, strict=True)))
    shares = [{"method": name, "coverage": study.coverage(name), "text": f"{study.coverage(name):.1%}",
               "low": study.coverage(name) - 2 * study.coverage_error(name),
               "high": study.coverage(name) + 2 * study.coverage_error(name)} for name in COVERED]
    return {"naive": [r for r in runs if r["method"] == "naive"], "truth": [{"truth": study.truth}],
            "default": [r for r in runs if r["method"] == "default"], "shares": shares}


def coverage_words(study):
    """Return title and text alternative of `coverage`."""
    shares = ", ".join(f"{name} {study.coverage(name):.1%}" for name in COVERED)
    error = max(study.coverage_error(name) for name in COVERED)
    return (f"95% intervals: the naive contain the truth in {study.coverage('naive'):.0%}, the default in "
            f"{study.coverage('default'):.0%}",
            f"Coverage of 95% intervals in {study.estimates.size:,} simulated audits: {shares}; Monte Carlo error at "
            f"most {error:.1%}. The strips show the first {SHOWN_INTERVALS} naive and default intervals around the "
            f"truth {study.truth:.3f}.")


def coverage(study):
    """Return 50 naive and 50 default intervals against the truth, and the coverage of five methods.

    Parameters
    ----------
    study : workbench.simulations.replication.CoverageStudy
    """
    data = coverage_data(study)
    strips = alt.hconcat(*(_strip(name, data) for name in ("naive", "default"))).resolve_scale(y="shared")
    shares = alt.Chart(theme.rows("shares", data["shares"])).encode(y=alt.Y("method:N", sort=list(COVERED), title=None))
    along = alt.X("low:Q", title="intervals that contain the truth (bars: two Monte Carlo errors)",
                  axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0, 1]))
    bars = shares.mark_rule(strokeWidth=2).encode(x=along, x2="high:Q")
    colors = theme.scale({name: NAIVE if name == "naive" else HONEST for name in COVERED})
    dots = shares.mark_square(size=90).encode(x="coverage:Q", color=alt.Color("method:N", scale=colors, legend=None))
    text = shares.mark_text(align="right", dx=-14).encode(x="coverage:Q", text="text:N")
    promise = alt.Chart(theme.rows("promise", [{"level": 0.95}])).mark_rule(style="truth").encode(x="level:Q")
    below = (promise + bars + dots + text).properties(width=theme.WIDTH - 40, height=120)
    both = alt.vconcat(strips, below).resolve_scale(color="independent")
    return theme.finish(both, *coverage_words(study), width=None, height=None)


def _strip(name, data):
    runs = alt.Chart(theme.rows(name, data[name])).encode(
        x=alt.X("run:Q", title=f"{name} (the first {SHOWN_INTERVALS})", axis=alt.Axis(grid=False),
                scale=alt.Scale(domain=[0, SHOWN_INTERVALS + 1], nice=False)),
        color=alt.Color("verdict:N", scale=theme.scale(VERDICTS), title=None))
    up = alt.Y("low:Q", title="accuracy" if name == "naive" else None, axis=alt.Axis(format=".0%"),
               scale=alt.Scale(zero=False))
    lines = runs.mark_rule(strokeWidth=2).encode(y=up, y2="high:Q", strokeDash=alt.StrokeDash(
        "verdict:N", legend=None, scale=alt.Scale(domain=list(VERDICTS), range=[[1, 0], [4, 2]])))
    ticks = runs.mark_tick(orient="horizontal", width=5, thickness=2).encode(y="estimate:Q")
    truth = alt.Chart(theme.rows("truth", data["truth"])).mark_rule(style="truth").encode(y="truth:Q")
    return (lines + ticks + truth).properties(width=250, height=200)


# reports

def metrics_data(audit):
    """Return the rows of `metrics`: each metric's honest and naive interval, at most 24 metrics."""
    rows = [row | {"name": _row_name(row)} for row in audit.rows()[:SHOWN_METRICS]]
    honest = [{"name": row["name"], "kind": "report this", "estimate": row["estimate"], "low": row["low"],
               "high": row["high"]} for row in rows]
    naive = [{"name": row["name"], "kind": "naive", "estimate": (row["naive low"] + row["naive high"]) / 2,
              "low": row["naive low"], "high": row["naive high"]} for row in rows]
    return [row for pair in zip(honest, naive, strict=True) for row in pair]


def metrics_words(audit):
    """Return title and text alternative of `metrics`."""
    every = audit.rows()
    rows = every[:SHOWN_METRICS]
    widths = [((row["high"] - row["low"]) / (row["naive high"] - row["naive low"]), row) for row in rows
              if row["naive high"] > row["naive low"]]
    said = "; ".join(f"{_row_name(row)} {row['estimate']:.3f}, {row['low']:.3f} to {row['high']:.3f} (naive "
                     f"{row['naive low']:.3f} to {row['naive high']:.3f})" for row in rows)
    cut = f" ({len(rows)} of {len(every)} shown)" if len(every) > len(rows) else ""
    title = "No naive interval has a width to compare with"
    if widths:
        ratio, row = max(widths, key=lambda pair: pair[0])
        title = f"The interval of {_row_name(row)} is {ratio:.1f} times as wide as the naive one" if ratio > 1.05 else \
            f"No interval is wider than the naive one, that of {_row_name(row)} {ratio:.2f} times as wide"
    return title + cut, f"Estimates and intervals{cut}: {said}."


def metrics(audit):
    """Return the metrics of an audit with their intervals beside the naive ones.

    Parameters
    ----------
    audit : workbench.MetricAudit
        Or what has rows() with "statistic", "estimate", "low", "high", "naive low", "naive high".
    """
    rows = metrics_data(audit)
    order = list(dict.fromkeys(row["name"] for row in rows))
    base = alt.Chart(theme.rows("metrics", rows)).encode(
        y=alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=160)),
        yOffset=alt.YOffset("kind:N", sort=["report this", "naive"]),
        color=alt.Color("kind:N", title=None, scale=theme.scale({"report this": HONEST, "naive": NAIVE})))
    bars = base.mark_rule(strokeWidth=4).encode(x2="high:Q", x=alt.X(
        "low:Q", title="estimate and interval", axis=alt.Axis(format=_percent_format(rows), tickCount=6),
        scale=alt.Scale(zero=False)))
    ticks = base.mark_tick(orient="vertical", thickness=3, height=12).encode(x="estimate:Q")
    return theme.finish(bars + ticks, *metrics_words(audit), width=theme.WIDTH - 80, height=40 * max(2, len(order)))


def _percent_format(rows, low="low", high="high"):
    """Return the number format of an axis from the lowest to the highest limit."""
    span = max(row[high] for row in rows) - min(row[low] for row in rows)
    return ".0%" if span > 0.06 else ".1%" if span > 0.006 else ".2%"


def psu_data(rows):
    """Return the rows of `psu_plot`: the PSUs of at most 40 strata, those of lowest accuracy, lowest first."""
    return [row | {"place": place} for place, name in enumerate(_lowest_strata(rows)[:SHOWN_STRATA])
            for row in rows if row["stratum"] == name]


def psu_words(rows):
    """Return title and text alternative of `psu_plot`."""
    order = _lowest_strata(rows)
    worst, best = (pick(rows, key=lambda row: row["accuracy"]) for pick in (min, max))
    unit = "strata" if all(row["psu"] == row["stratum"] for row in rows) else "PSUs"
    cut = f" (the {SHOWN_STRATA} lowest of {len(order):,} strata shown)" if len(order) > SHOWN_STRATA else ""
    return (f"{len(rows):,} {unit} run from {worst['accuracy']:.1%} to {best['accuracy']:.1%}; the lowest is "
            f"{_unit_name(worst)}{cut}",
            f"Accuracy of {len(rows):,} {unit}, ordered by stratum: {worst['accuracy']:.3f} in {_unit_name(worst)} "
            f"({worst['items']:,} items) to {best['accuracy']:.3f} in {_unit_name(best)} ({best['items']:,} items)"
            f"{cut}.")


def _unit_name(row):
    stratum = f"stratum {row['stratum']}"
    return stratum if row["psu"] == row["stratum"] else f"PSU {row['psu']} of {stratum}"


def psu_plot(rows):
    """Return the accuracy of each PSU by stratum; of more than 40 strata those of lowest accuracy.

    Parameters
    ----------
    rows : list of dict
        stratum, psu, accuracy, items; as from `workbench.replication.metrics.LabeledItems.clusters`.
    """
    shown = psu_data(rows)
    order = list(dict.fromkeys(str(row["stratum"]) for row in shown))
    dots = alt.Chart(theme.rows("psus", [row | {"stratum": str(row["stratum"])} for row in shown])).mark_circle(
        color=theme.LABELED).encode(
        x=alt.X("stratum:N", sort=order, title="stratum, from low to high accuracy",
                axis=alt.Axis(labelAngle=0 if len(order) <= FEW else -90, labelLimit=100)),
        y=alt.Y("accuracy:Q", title="accuracy", scale=alt.Scale(zero=False),
                axis=alt.Axis(format=_percent_format(shown, "accuracy", "accuracy"))),
        size=alt.Size("items:Q", title="items", scale=alt.Scale(range=[0, 110], zero=True),
                      legend=alt.Legend(tickCount=3)))
    return theme.finish(dots, *psu_words(rows))


def _lowest_strata(rows):
    """Return the strata by rising share of right items."""
    right, items = {}, {}
    for row in rows:
        right[row["stratum"]] = right.get(row["stratum"], 0) + row["accuracy"] * row["items"]
        items[row["stratum"]] = items.get(row["stratum"], 0) + row["items"]
    return sorted(items, key=lambda name: right[name] / items[name])


def _row_name(row):
    name = _name(row["statistic"])
    return name if row.get("group") is None else f"{name} in {row['group']}"


def _name(statistic):
    return {"f1": "F1", "auc": "AUC"}.get(statistic, statistic)


def _short(value):
    """Return a mean of signs at two digits, "0" and "1" without."""
    return f"{value:.2g}" if abs(value - round(value)) < TEXTBOOK else f"{round(value, 2) + 0.0:.2f}"
