"""Charts of boxes, of half-samples and of replicate values."""

import functools
import math
from typing import Any

import altair as alt
import numpy as np

from workbench import checks, intervals
from workbench.charts import theme
from workbench.charts.replication.words import TEXTBOOK, short_mean
from workbench.charts.theme import (
    GRAY,
    LABELED,
    OKABE_ITO,
    PERCENT,
    STRATIFIED,
    WIDTH,
    Figure,
    across,
    chart,
    span,
    truth,
    up,
)
from workbench.course.lesson_data import named
from workbench.replication.estimates import ReplicateEstimate
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import title_of
from workbench.results import percent, rows_of

NAIVE = theme.RANDOM
HONEST = STRATIFIED
PREDICTED = OKABE_ITO["vermilion"]
UNITS = {"first box": OKABE_ITO["orange"], "second box": OKABE_ITO["blue"]}
SIGNS = (theme.MISS, "#f7f7f7", STRATIFIED)
FIRST_REPLICATES = 32
MOST_SQUARES = 2000
BINS = 80
LOW_STACK = 16
FEW = 12
DARK = 0.55  # size of a mean from which its cell is dark
TICKS = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6)


def first_look(right: np.ndarray, items: np.ndarray) -> Figure:
    """Return the accuracy of each box, with the band that contains 19 of 20 by chance alone.

    Parameters
    ----------
    right, items : (14,) array of int
        Correct labels and labels per box.
    """
    rate, (accuracy, _) = right / items, naive(right, items)
    low, high = _independent(accuracy, items.mean())
    worst, best = int(rate.argmin()), int(rate.argmax())
    outside = np.count_nonzero((rate < low) | (rate > high))
    alternative = (
        f"{rate.size} boxes of about {items.mean():.0f} forms. The program is correct on"
        f" {rate[worst]:.0%} of the forms in box {worst + 1} and on {rate[best]:.0%} in box"
        f" {best + 1}. The dashed line is the accuracy of all forms, {accuracy:.1%}. If the"
        f" boxes differed only by chance, 19 of 20 would lie in the shaded band from {low:.0%}"
        f" to {high:.0%}. {outside} of the {rate.size} boxes lie outside it."
    )
    boxes = rows_of(box=range(1, rate.size + 1), accuracy=rate)
    data = {"chance": [{"low": low, "high": high}], "all": [{"accuracy": accuracy}], "boxes": boxes}
    title = "Do the boxes differ only by chance?"
    return Figure(data, named(title), named(alternative), _draw_first_look)


def _draw_first_look(data: dict) -> Any:
    least = min(row["accuracy"] for row in data["boxes"])
    scale = {"domain": [min(0.7, least - 0.05), 1], "zero": False}
    band = chart(data, "chance").mark_rect(opacity=0.2, color=GRAY)
    dots = chart(data, "boxes").mark_circle(size=110)
    dots = dots.encode(
        x=_box("box", len(data["boxes"])),
        y=up("accuracy", "accuracy", scale=scale, format=PERCENT),
        color=alt.value(LABELED),
    )
    return band.encode(y="low:Q", y2="high:Q") + truth(data, "all", y="accuracy:Q") + dots


def _box(column: str, count: int) -> alt.X:
    values = list(range(1, count + 1, 1 + count // 30))
    ends = (0.5, count + 0.5)
    return across(column, named("box"), ends, values=values, grid=False, format="d")


def _independent(accuracy: float, count: float) -> tuple[float, float]:
    """Return the 95% limits of a proportion from a number of independent labels."""
    half = intervals.quantile(0.95) * math.sqrt(accuracy * (1 - accuracy) / count)
    return accuracy - half, min(1.0, accuracy + half)


def naive(right: np.ndarray, items: np.ndarray) -> tuple[float, float]:
    """Return accuracy and standard error for independent labels, p and sqrt(p (1 - p) / n)."""
    p, n = right.sum() / items.sum(), items.sum()
    return p, math.sqrt(p * (1 - p) / n)


def boxes(
    right: np.ndarray,
    items: np.ndarray,
    estimate: ReplicateEstimate,
    predicted: int | None = None,
    *,
    icc: float,
    reach: tuple[float, float],
) -> Figure:
    """Return the accuracy of each box, with the naive interval and the interval by boxes.

    Parameters
    ----------
    right, items : (14,) array of int
        Correct labels and labels per box.
    estimate : workbench.ReplicateEstimate
    predicted : int, optional
        Predicted effective sample size; the interval of as many independent labels is drawn dashed.
    icc : float
        Intracluster correlation of all labels.
    reach : (float, float)
        Ends of the axis of accuracies.
    """
    rate, (accuracy, error), total = right / items, naive(right, items), items.sum()
    count, half = rate.size, intervals.quantile(0.95) * error
    effect = 1 + (total / count - 1) * icc
    low, high = estimate.interval()
    worst, best = int(rate.argmin()), int(rate.argmax())
    by_boxes = named("by boxes")
    limits = [
        {"kind": "naive", "estimate": accuracy, "low": accuracy - half, "high": accuracy + half},
        {"kind": by_boxes, "estimate": estimate.estimate, "low": low, "high": high},
    ]
    kinds, prediction = {"naive": NAIVE, by_boxes: HONEST}, ""
    if predicted:
        below, above = _independent(accuracy, predicted)
        kinds["yours"] = PREDICTED
        limits.append({"kind": "yours", "estimate": accuracy, "low": below, "high": above})
        prediction = (
            f" You predicted {predicted:,}. That many independent labels would give an interval"
            f" from {below:.3f} to {above:.3f}."
        )
    districts = []
    for k in range(count // 2):
        box = 2 * k + 1
        row = {"start": box - 0.5, "end": box + 1.5, "middle": box + 0.5, "left": box}
        row |= {"first": rate[box - 1], "second": rate[box], "right": box + 1}
        districts.append(row | {"district": str(k + 1), "even": k % 2})
    boxes = rows_of(box=range(1, count + 1), accuracy=rate, labels=items)
    data = {"boxes": boxes, "districts": districts, "limits": limits}
    data["middle"] = [{"estimate": estimate.estimate}]
    data["what"] = [{"text": named("district")}]
    title = f"{total:,} labels in {count} boxes: effective sample size {total / effect:,.0f}"
    alternative = (
        f"The accuracy is {accuracy:.3f}. Its standard error is {error:.4f} for independent labels"
        f" and {estimate.standard_error:.4f} by boxes. The naive 95% interval is"
        f" {accuracy - half:.3f} to {accuracy + half:.3f}; by boxes it is {low:.3f} to"
        f" {high:.3f}.{prediction}"
    )
    alternative += (
        f" The intracluster correlation of all labels is {icc:.4f}. With"
        f" {total / count:.0f} labels per box, the design effect is {effect:.2f}. The accuracy of"
        f" the boxes ranges from {rate[worst]:.3f} (box {worst + 1}) to {rate[best]:.3f} (box"
        f" {best + 1})."
    )
    draw = functools.partial(_draw_boxes, kinds=kinds, reach=reach)
    return Figure(data, named(title), named(alternative), draw)


def _draw_boxes(data: dict, kinds: dict[str, str], reach: tuple) -> Any:
    count, districts = len(data["boxes"]), chart(data, "districts")
    grounds = {"domain": [0, 1], "range": [GRAY, "transparent"]}
    note = {"y": -15, "style": "note"}
    dots = chart(data, "boxes").mark_circle(size=90)
    fill = alt.Fill("even:Q", legend=None, scale=grounds)
    bands = districts.mark_rect(opacity=0.16).encode(x=_box("start", count), x2="end:Q", fill=fill)
    ends = {"x": _box("left", count), "x2": "right:Q", "y": "first:Q", "y2": "second:Q"}
    joins = districts.mark_rule(strokeWidth=2).encode(color=alt.value(GRAY), **ends)
    scale = span(*reach, zero=False)
    accuracy = up("accuracy", "accuracy", scale=scale, format=PERCENT)
    dots = dots.encode(x=_box("box", count), y=accuracy, color=alt.value(LABELED))
    numbers = districts.mark_text(**note).encode(x=_box("middle", count), text="district:N")
    heading = chart(data, "what").mark_text(x=-6, align="right", **note)
    middle = truth(data, "middle", y="estimate:Q")
    accuracies = bands + joins + dots + middle + numbers + heading.encode(text="text:N")
    dashes = [[1, 0], [1, 0], [4, 3]][: len(kinds)]
    base = chart(data, "limits").encode(
        x=alt.X("kind:N", title="95% interval", scale={"domain": list(kinds)}, axis=TICKS),
        color=theme.color("kind", kinds, legend=None),
    )
    limits = base.mark_rule(strokeWidth=5).encode(
        y=up("low", None, format=PERCENT),
        y2="high:Q",
        strokeDash=theme.dash("kind", kinds, dashes, legend=None),
    )
    ticks = base.mark_tick(orient="horizontal", width=26, thickness=3)
    limits += ticks.encode(y="estimate:Q")
    return alt.hconcat(
        accuracies.properties(width=400, height=250),
        limits.properties(width=90 * len(kinds), height=250),
    ).resolve_scale(y="shared")


def halves(
    replicates: Replicates,
    estimate: ReplicateEstimate,
    predicted: tuple[float, ...] = (),
    *,
    textbook: float,
    reach: tuple[float, float],
) -> Figure:
    """Return the boxes that each half-sample keeps, the cross terms, and the accuracies.

    Parameters
    ----------
    replicates : workbench.Replicates
        Half-samples with their array.
    estimate : workbench.ReplicateEstimate
        The accuracy that they estimate.
    predicted : tuple of float
        Predicted standard errors, drawn as dashed lines on either side of the estimate.
    textbook : float
        Standard error by the closed formula.
    reach : (float, float)
        Ends of the axis of accuracies, so that half-samples can be compared.
    """
    array = np.asarray(replicates.array)
    drawn, cross = array[:FIRST_REPLICATES], cross_terms(array)
    units = list(UNITS)
    tiles, means = [], []
    for (r, h), unit in np.ndenumerate(drawn):
        text = str(2 * h + 1 + unit) if len(drawn) <= FEW else ""
        row = {"replicate": r + 1, "district": h + 1, "box": units[unit]}
        tiles.append(row | {"unit": int(unit), "text": text})
    for (i, j), mean in np.ndenumerate(cross):
        row = {"i": i + 1, "j": j + 1, "mean": float(mean), "text": short_mean(mean)}
        means.append(row | {"dark": int(abs(mean) > DARK)})
    lines = [estimate.estimate + sign * error for error in predicted for sign in (-1, 1)]
    data = {"tiles": tiles, "terms": means, "predicted": rows_of(value=lines)}
    data |= values_data(estimate, reach)
    terms = np.abs(cross[np.triu_indices(len(cross), 1)])
    largest, nonzero = "cancel in every pair of districts", np.count_nonzero(terms > TEXTBOOK)
    if nonzero:
        largest = (
            f"do not cancel in {nonzero} of {terms.size} pairs of districts; the largest is"
            f" {terms.max():.2f}"
        )
    excess, verdict = estimate.standard_error / textbook - 1, "equal to the textbook's"
    if abs(excess) >= TEXTBOOK:
        side = "above" if excess > 0 else "below"
        verdict = f"{abs(excess):.0%} {side} the textbook's {textbook:.4f}"
    error, values = f"{estimate.standard_error:.4f}", estimate.replicate_values
    alternative = (
        f"Each of {replicates.count:,} half-samples keeps one box from each of {len(cross)}"
        f" districts. Their accuracies range from {values.min():.4f} to {values.max():.4f} around"
        f" {estimate.estimate:.4f}. The standard error is {error}, {verdict}. The cross terms"
        f" {largest}."
    )
    if predicted:
        predictions = " or ".join(f"{error:.4f}" for error in predicted)
        alternative += f" The dashed lines show your prediction, {predictions}."
    if replicates.count > FIRST_REPLICATES:
        alternative += f" The tiles show the first {FIRST_REPLICATES}."
    title = f"{replicates.count:,} half-samples: SE {error}, {verdict}"
    return Figure(data, title, alternative, functools.partial(_draw_halves, reach=reach))


def cross_terms(array: np.ndarray) -> np.ndarray:
    """Return the mean products of the signs of two strata, (H, H): the identity if balanced."""
    signs = 1.0 - 2 * np.asarray(array)
    return signs.T @ signs / len(signs)


def _draw_halves(data: dict, reach: tuple[float, float]) -> Any:
    tiles = chart(data, "tiles").encode(
        x=alt.X("district:O", title="district", axis=TICKS),
        y=alt.Y("replicate:O", title="replicate", axis=TICKS),
    )
    boxes = tiles.mark_rect(stroke="#ffffff", strokeWidth=0.5).encode(
        color=theme.color("box", UNITS, title="keeps the")
    ) + tiles.mark_text().encode(text="text:N", color=theme.ink("unit"))
    terms = chart(data, "terms").encode(
        x=alt.X("i:O", title="district", axis=TICKS), y=alt.Y("j:O", title="district")
    )
    mean = alt.Color(
        "mean:Q",
        title="mean product of signs",
        scale={"domain": [-1, 0, 1], "range": SIGNS},
        legend={"gradientLength": 150},
    )
    means = terms.mark_rect(stroke="#808080", strokeWidth=0.5).encode(color=mean)
    means += terms.mark_text(fontSize=10).encode(text="text:N", color=theme.ink())
    apart = {"color": "independent"}
    above = alt.hconcat(
        boxes.resolve_scale(**apart).properties(width=180, height=260),
        means.resolve_scale(**apart).properties(width=310, height=260),
    )
    lines = chart(data, "predicted").mark_rule(strokeWidth=3, strokeDash=[4, 3], color=PREDICTED)
    title = "accuracy of the half-sample (shaded: estimate ± one standard error)"
    values = _values(data, title, reach) + lines.encode(x="value:Q")
    below = values.properties(width=WIDTH, height=110)
    return alt.vconcat(above.resolve_scale(**apart), below).resolve_scale(**apart)


def values_data(estimate: ReplicateEstimate, reach: tuple[float, float] | None = None) -> dict:
    """Return the rows of a strip of replicate values: squares, estimate, standard error.

    The squares are stacked within 80 bins. With more than 16 squares in a bin, they overlap.
    """
    values, error = _scaled_values(estimate), estimate.standard_error
    low, high = reach or (values.min(), values.max())
    bins = np.zeros(values.size, int)
    if high - low > TEXTBOOK:
        bins = np.rint((values - low) / (high - low) * (BINS - 1)).astype(int)
    height = np.arange(values.size) - np.searchsorted(bins, bins)
    top = max(LOW_STACK, int(height.max()) + 1)
    value = low + bins * (high - low) / (BINS - 1)
    return {
        "squares": rows_of(value=value, height=(height + 0.5) / top),
        "estimate": [{"estimate": estimate.estimate}],
        "band": [{"low": estimate.estimate - error, "high": estimate.estimate + error}],
    }


def _scale(estimate: ReplicateEstimate) -> float:
    """Return the factor of a replicate's deviation in the variance, such as 2 for Fay's method."""
    spread = np.sqrt(((_defined(estimate) - estimate.estimate) ** 2).mean())
    return estimate.standard_error / spread if spread > 0 else 1.0


def _defined(estimate: ReplicateEstimate) -> np.ndarray:
    """Return the replicate values that are defined."""
    return estimate.replicate_values[np.isfinite(estimate.replicate_values)]


def _scaled_values(estimate: ReplicateEstimate) -> np.ndarray:
    """Return sorted replicate values, with deviations scaled as in the variance.

    If there are more than 2,000 values, these are 2,000 of them, evenly spaced by rank.
    """
    values = np.sort(_defined(estimate))
    if values.size > MOST_SQUARES:
        values = values[np.linspace(0, values.size - 1, MOST_SQUARES).astype(int)]
    return estimate.estimate + _scale(estimate) * (values - estimate.estimate)


def _values(data: dict, title: str, reach: tuple | None = None) -> Any:
    low = across("low", title, scale=alt.Scale(zero=False), format="~g", tickCount=8)
    if reach:
        low = across("low", title, reach, format=PERCENT, tickCount=8)
    height = alt.Y("height:Q", axis=None, scale=span(-0.02, 1.02))
    band = chart(data, "band").mark_rect(opacity=0.25)
    squares = chart(data, "squares").mark_square(size=38)
    return (
        band.encode(x=low, x2="high:Q", color=alt.value(theme.ESTIMATE))
        + squares.encode(x="value:Q", y=height, color=alt.value(LABELED))
        + truth(data, "estimate", x="estimate:Q")
    )


def replicate_plot(estimate: ReplicateEstimate, *, level: float = 0.95) -> Figure:
    """Return the replicate values of an estimate as squares, its standard error and its interval.

    Parameters
    ----------
    estimate : workbench.ReplicateEstimate
        The estimate.
    level : float
        Confidence level of the interval.
    """
    low, high = estimate.interval(level)
    values, scale, name = _defined(estimate), _scale(estimate), title_of(estimate.statistic)
    axis = f"{name} of the replicate"
    alternative = (
        f"{checks.counted(values.size, f'{estimate.method} replicate')} of {name} from"
        f" {values.min():.4g} to {values.max():.4g} around the estimate {estimate.estimate:.4g}."
    )
    if abs(scale - 1) >= 0.01:
        axis += f" (deviations {scale:.2g} times as large, as in the variance)"
        alternative += (
            f" The chart multiplies their distances from it by {scale:.3g}, the factor in the"
            " formula of the variance."
        )
    if values.size > MOST_SQUARES:
        alternative += f" The chart shows {MOST_SQUARES:,} of them."
    alternative += (
        f" The shaded area is one standard error, {estimate.standard_error:.4g}, on either side."
        f" The line below is the {percent(level)} interval, {low:.4g} to {high:.4g}."
    )
    if estimate.undefined:
        undefined = checks.counted(estimate.undefined, "replicate is", "replicates are")
        alternative += f" {undefined} undefined and not shown."

    def draw(data: dict) -> Any:
        interval = chart(data, "interval").mark_rule(strokeWidth=5, y="height")
        return _values(data, axis) + interval.encode(
            x="low:Q", x2="high:Q", color=alt.value(HONEST)
        )

    return Figure(
        values_data(estimate) | {"interval": [{"low": low, "high": high}]},
        f"{name} {estimate.estimate:.3f}, standard error {estimate.standard_error:.4f} from "
        f"{checks.counted(values.size, 'replicate')}",
        alternative,
        draw,
        height=140,
    )
