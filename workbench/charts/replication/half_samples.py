"""Charts of boxes, of half-samples and of replicate values."""

import math
from typing import Any

import altair as alt
import numpy as np

from workbench import checks, intervals
from workbench.charts import theme
from workbench.charts.replication.words import TEXTBOOK, short_mean
from workbench.course.lesson_data import named, named_pair
from workbench.replication.estimates import ReplicateEstimate
from workbench.replication.replicates import Replicates
from workbench.replication.statistics import title_of
from workbench.results import percent

NAIVE = theme.RANDOM
HONEST = theme.STRATIFIED
PREDICTED = theme.OKABE_ITO["vermilion"]
UNITS = {"first box": theme.OKABE_ITO["orange"], "second box": theme.OKABE_ITO["blue"]}
SIGNS = (theme.MISS, "#f7f7f7", theme.STRATIFIED)
SHOWN_REPLICATES = 32
MOST_SQUARES = 2000
BINS = 80
LOW_STACK = 16
FEW = 12
TICKS = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6)


def first_look(right: np.ndarray, items: np.ndarray) -> alt.TopLevelMixin:
    """Return the accuracy of each box, with the band that contains 19 of 20 by chance alone.

    Parameters
    ----------
    right, items : (14,) array of int
        Correct labels and labels per box.
    """
    rate, (pooled, _) = right / items, naive(right, items)
    low, high = _independent(pooled, items.mean())
    up = alt.Y(
        "accuracy:Q",
        title="accuracy",
        axis=theme.percents(),
        scale=alt.Scale(domain=[min(0.7, float(rate.min()) - 0.05), 1], zero=False),
    )
    band = (
        theme.Chart(theme.rows("chance", [{"low": low, "high": high}]))
        .mark_rect(opacity=0.2, color=theme.GRAY)
        .encode(y="low:Q", y2="high:Q")
    )
    dots = (
        theme.Chart(
            theme.rows("boxes", [{"box": b, "accuracy": p} for b, p in enumerate(rate.tolist(), 1)])
        )
        .mark_circle(size=110)
        .encode(x=_box("box", rate.size), y=up, color=alt.value(theme.LABELED))
    )
    all_forms = (
        theme.Chart(theme.rows("all", [{"accuracy": pooled}]))
        .mark_rule(style="truth")
        .encode(y="accuracy:Q")
    )
    worst, best = int(rate.argmin()), int(rate.argmax())
    return theme.finish(
        band + all_forms + dots,
        named("Do the boxes differ only by chance?"),
        named(
            f"{rate.size} boxes of about {items.mean():.0f} forms. The program is correct on"
            f" {rate[worst]:.0%} of the forms in box {worst + 1} and on {rate[best]:.0%} in box"
            f" {best + 1}. The dashed line is the accuracy of all forms, {pooled:.1%}. If the boxes"
            f" differed only by chance, 19 of 20 would lie in the shaded band from {low:.0%} to"
            f" {high:.0%}. {np.count_nonzero((rate < low) | (rate > high))} of the {rate.size} boxes"
            " lie outside it."
        ),
    )


def boxes_data(
    right: np.ndarray, items: np.ndarray, estimate: ReplicateEstimate, predicted: int | None = None
) -> dict:
    """Return the rows of `boxes`: boxes, districts of two, the estimate and its intervals."""
    rate, (pooled, error) = right / items, naive(right, items)
    half = intervals.quantile(0.95) * error
    boxes = [
        {"box": b + 1, "accuracy": p, "labels": n}
        for b, (p, n) in enumerate(zip(rate, items, strict=True))
    ]
    districts = [
        {
            "start": 2 * d + 0.5,
            "end": 2 * d + 2.5,
            "middle": 2 * d + 1.5,
            "district": str(d + 1),
            "even": d % 2,
            "first": rate[2 * d],
            "second": rate[2 * d + 1],
            "left": 2 * d + 1,
            "right": 2 * d + 2,
        }
        for d in range(rate.size // 2)
    ]
    low, high = estimate.interval()
    limits = [
        {"kind": "naive", "estimate": pooled, "low": pooled - half, "high": pooled + half},
        {"kind": named("by boxes"), "estimate": estimate.estimate, "low": low, "high": high},
    ]
    if predicted:
        below, above = _independent(pooled, predicted)
        limits.append({"kind": "yours", "estimate": pooled, "low": below, "high": above})
    return {
        "boxes": boxes,
        "districts": districts,
        "limits": limits,
        "middle": [{"estimate": estimate.estimate}],
    }


def boxes_words(
    right: np.ndarray,
    items: np.ndarray,
    estimate: ReplicateEstimate,
    predicted: int | None = None,
    *,
    icc: float,
) -> tuple[str, str]:
    """Return the title and the text alternative of `boxes`.

    `icc` is the intracluster correlation of all labels.
    """
    total, rate, (pooled, error) = items.sum(), right / items, naive(right, items)
    effect, half = 1 + (total / rate.size - 1) * icc, intervals.quantile(0.95) * error
    low, high = estimate.interval()
    worst, best = int(rate.argmin()), int(rate.argmax())
    below, above = _independent(pooled, predicted or total)
    yours = (
        f" You predicted {predicted:,}. That many independent labels would give an interval from"
        f" {below:.3f} to {above:.3f}."
        if predicted
        else ""
    )
    return named_pair(
        (
            f"{total:,} labels in {rate.size} boxes: effective sample size {total / effect:,.0f}",
            (
                f"The accuracy is {pooled:.3f}. Its standard error is {error:.4f} for independent"
                f" labels and {estimate.standard_error:.4f} by boxes. The naive 95% interval is"
                f" {pooled - half:.3f} to {pooled + half:.3f}; by boxes it is {low:.3f} to"
                f" {high:.3f}.{yours} The intracluster correlation of all labels is {icc:.4f}. With"
                f" {total / rate.size:.0f} labels per box, the design effect is {effect:.2f}. The"
                f" accuracy of the boxes ranges from {rate[worst]:.3f} (box {worst + 1}) to"
                f" {rate[best]:.3f} (box {best + 1})."
            ),
        )
    )


def _independent(pooled: float, count: float) -> tuple[float, float]:
    """Return the 95% limits of a proportion from a number of independent labels."""
    half = intervals.quantile(0.95) * math.sqrt(pooled * (1 - pooled) / count)
    return pooled - half, min(1.0, pooled + half)


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
) -> alt.TopLevelMixin:
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
    data = boxes_data(right, items, estimate, predicted)
    districts = theme.chart(data, "districts")
    up = alt.Y(
        "accuracy:Q", title="accuracy", axis=theme.percents(), scale=theme.span(*reach, zero=False)
    )
    bands = districts.mark_rect(opacity=0.16).encode(
        x=_box("start", right.size),
        x2="end:Q",
        fill=alt.Fill(
            "even:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[theme.GRAY, "transparent"])
        ),
    )
    names = districts.mark_text(y=-15, style="note").encode(
        x=_box("middle", right.size), text="district:N"
    )
    what = (
        theme.Chart(theme.rows("what", [{"text": named("district")}]))
        .mark_text(x=-6, y=-15, align="right", style="note")
        .encode(text="text:N")
    )
    joined = districts.mark_rule(strokeWidth=2).encode(
        x=_box("left", right.size),
        x2="right:Q",
        y="first:Q",
        y2="second:Q",
        color=alt.value(theme.GRAY),
    )
    dots = (
        theme.chart(data, "boxes")
        .mark_circle(size=90)
        .encode(x=_box("box", right.size), y=up, color=alt.value(theme.LABELED))
    )
    middle = theme.chart(data, "middle").mark_rule(style="truth").encode(y="estimate:Q")
    kinds = {"naive": NAIVE, named("by boxes"): HONEST} | (
        {"yours": PREDICTED} if predicted else {}
    )
    limits = theme.chart(data, "limits").encode(
        x=alt.X("kind:N", title="95% interval", scale=alt.Scale(domain=list(kinds)), axis=TICKS),
        color=theme.color("kind", kinds, legend=None),
    )
    up_again = alt.Y("low:Q", title=None, axis=theme.percents())
    bars = limits.mark_rule(strokeWidth=5).encode(
        y=up_again,
        y2="high:Q",
        strokeDash=theme.dash("kind", kinds, [[1, 0], [1, 0], [4, 3]][: len(kinds)], legend=None),
    )
    ticks = limits.mark_tick(orient="horizontal", width=26, thickness=3).encode(y="estimate:Q")
    left = (bands + joined + dots + middle + names + what).properties(width=400, height=250)
    both = alt.hconcat(
        left, (bars + ticks).properties(width=90 * len(kinds), height=250)
    ).resolve_scale(y="shared")
    return theme.finish(both, *boxes_words(right, items, estimate, predicted, icc=icc))


def _box(column: str, count: int) -> Any:
    step = 1 + count // 30
    axis = alt.Axis(values=list(range(1, count + 1, step)), grid=False, format="d")
    return alt.X(f"{column}:Q", title=named("box"), axis=axis, scale=theme.span(0.5, count + 0.5))


def halves_data(
    made: Replicates,
    estimate: ReplicateEstimate,
    predicted: tuple[float, ...] = (),
    *,
    reach: tuple[float, float],
) -> dict:
    """Return the rows of `halves`: boxes kept, cross terms, replicate values."""
    kept = np.asarray(made.array)
    cross, drawn = cross_terms(kept), kept[:SHOWN_REPLICATES]
    tiles = [
        {
            "replicate": r + 1,
            "district": h + 1,
            "box": list(UNITS)[unit],
            "unit": unit,
            "text": str(2 * h + 1 + unit) if len(drawn) <= FEW else "",
        }
        for r, row in enumerate(drawn.tolist())
        for h, unit in enumerate(row)
    ]
    terms = [
        {
            "i": i + 1,
            "j": j + 1,
            "mean": float(value),
            "text": short_mean(value),
            "dark": int(abs(value) > 0.55),
        }
        for (i, j), value in np.ndenumerate(cross)
    ]
    return {
        "tiles": tiles,
        "terms": terms,
        **values_data(estimate, reach),
        "predicted": [
            {"value": estimate.estimate + sign * error} for error in predicted for sign in (-1, 1)
        ],
    }


def cross_terms(kept: np.ndarray) -> np.ndarray:
    """Return the mean products of the signs of two strata, (H, H): the identity if balanced."""
    signs = 1.0 - 2 * np.asarray(kept)
    return signs.T @ signs / len(signs)


def halves_words(
    made: Replicates,
    estimate: ReplicateEstimate,
    predicted: tuple[float, ...] = (),
    *,
    textbook: float,
) -> tuple[str, str]:
    """Return the title and the text alternative of `halves`.

    `textbook` is the standard error by the closed formula.
    """
    cross = cross_terms(made.array)
    terms = np.abs(cross[np.triu_indices(len(cross), 1)])
    left = np.count_nonzero(terms > TEXTBOOK)
    largest = (
        f"do not cancel in {left} of {terms.size} pairs of districts; the largest is"
        f" {terms.max():.2f}"
        if left
        else "cancel in every pair of districts"
    )
    excess = estimate.standard_error / textbook - 1
    verdict = (
        "equal to the textbook's"
        if abs(excess) < TEXTBOOK
        else f"{abs(excess):.0%} {'above' if excess > 0 else 'below'} the textbook's {textbook:.4f}"
    )
    values = estimate.replicate_values
    cut = f" The tiles show the first {SHOWN_REPLICATES}." if made.count > SHOWN_REPLICATES else ""
    yours = (
        " The dashed lines show your prediction,"
        f" {' or '.join(f'{error:.4f}' for error in predicted)}."
        if predicted
        else ""
    )
    return (
        f"{made.count:,} half-samples: SE {estimate.standard_error:.4f}, {verdict}",
        (
            f"Each of {made.count:,} half-samples keeps one box from each of {len(cross)}"
            f" districts. Their accuracies range from {values.min():.4f} to {values.max():.4f}"
            f" around {estimate.estimate:.4f}. The standard error is {estimate.standard_error:.4f},"
            f" {verdict}. The cross terms {largest}.{yours}{cut}"
        ),
    )


def halves(
    made: Replicates,
    estimate: ReplicateEstimate,
    predicted: tuple[float, ...] = (),
    *,
    textbook: float,
    reach: tuple[float, float],
) -> alt.TopLevelMixin:
    """Return the boxes that each half-sample keeps, the cross terms, and the accuracies.

    Parameters
    ----------
    made : workbench.Replicates
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
    data = halves_data(made, estimate, predicted, reach=reach)
    tiles = theme.chart(data, "tiles").encode(
        x=alt.X("district:O", title="district", axis=TICKS),
        y=alt.Y("replicate:O", title="replicate", axis=TICKS),
    )
    kept = tiles.mark_rect(stroke="#ffffff", strokeWidth=0.5).encode(
        color=theme.color("box", UNITS, title="keeps the")
    )
    names = tiles.mark_text().encode(text="text:N", color=theme.ink("unit"))
    terms = theme.chart(data, "terms").encode(
        x=alt.X("i:O", title="district", axis=TICKS), y=alt.Y("j:O", title="district")
    )
    means = terms.mark_rect(stroke="#808080", strokeWidth=0.5).encode(
        color=alt.Color(
            "mean:Q",
            title="mean product of signs",
            scale=alt.Scale(domain=[-1, 0, 1], range=list(SIGNS)),
            legend=alt.Legend(gradientLength=150),
        )
    )
    texts = terms.mark_text(fontSize=10).encode(text="text:N", color=theme.ink())
    above = alt.hconcat(
        (kept + names).resolve_scale(color="independent").properties(width=180, height=260),
        (means + texts).resolve_scale(color="independent").properties(width=310, height=260),
    )
    yours = (
        theme.chart(data, "predicted")
        .mark_rule(strokeWidth=3, strokeDash=[4, 3], color=PREDICTED)
        .encode(x="value:Q")
    )
    below = (
        _values(data, "accuracy of the half-sample (shaded: estimate ± one standard error)", reach)
        + yours
    ).properties(width=theme.WIDTH, height=110)
    both = alt.vconcat(above.resolve_scale(color="independent"), below).resolve_scale(
        color="independent"
    )
    return theme.finish(both, *halves_words(made, estimate, predicted, textbook=textbook))


def values_data(estimate: ReplicateEstimate, reach: tuple[float, float] | None = None) -> dict:
    """Return the rows of a strip of replicate values: squares, estimate, standard error."""
    values, error = _counting(estimate), estimate.standard_error
    return {
        "squares": _stacked(values, *(reach or (values.min(), values.max()))),
        "estimate": [{"estimate": estimate.estimate}],
        "band": [{"low": estimate.estimate - error, "high": estimate.estimate + error}],
    }


def _scale(estimate: ReplicateEstimate) -> float:
    """Return the factor of a replicate's deviation in the variance, such as 2 for Fay's method."""
    values = estimate.replicate_values[np.isfinite(estimate.replicate_values)]
    spread = np.sqrt(((values - estimate.estimate) ** 2).mean())
    return estimate.standard_error / spread if spread > 0 else 1.0


def _counting(estimate: ReplicateEstimate) -> np.ndarray:
    """Return sorted replicate values, with deviations scaled as in the variance.

    If there are more than 2,000 values, these are 2,000 of them, evenly spaced by rank.
    """
    values = np.sort(estimate.replicate_values[np.isfinite(estimate.replicate_values)])
    if values.size > MOST_SQUARES:
        values = values[np.linspace(0, values.size - 1, MOST_SQUARES).astype(int)]
    return estimate.estimate + _scale(estimate) * (values - estimate.estimate)


def _stacked(values: np.ndarray, low: float, high: float) -> list:
    """Return one square per sorted value, stacked within 80 bins.

    With more than 16 squares in a bin, the squares overlap.
    """
    bins = (
        np.zeros(values.size, int)
        if high - low <= TEXTBOOK
        else np.rint((values - low) / (high - low) * (BINS - 1)).astype(int)
    )
    height = np.arange(values.size) - np.searchsorted(bins, bins)
    top = max(LOW_STACK, int(height.max()) + 1)
    places = low + np.arange(BINS) * (high - low) / (BINS - 1)
    return [
        {"value": float(places[b]), "height": (h + 0.5) / top}
        for b, h in zip(bins.tolist(), height.tolist(), strict=True)
    ]


def _values(data: dict, title: str, reach: tuple | None = None) -> Any:
    along = alt.X(
        "low:Q",
        title=title,
        scale=theme.span(*reach) if reach else alt.Scale(zero=False),
        axis=alt.Axis(format=theme.PERCENT if reach else "~g", tickCount=8),
    )
    band = (
        theme.chart(data, "band")
        .mark_rect(opacity=0.25)
        .encode(x=along, x2="high:Q", color=alt.value(theme.ESTIMATE))
    )
    squares = (
        theme.chart(data, "squares")
        .mark_square(size=38)
        .encode(
            x="value:Q",
            y=alt.Y("height:Q", axis=None, scale=theme.span(-0.02, 1.02)),
            color=alt.value(theme.LABELED),
        )
    )
    return (
        band
        + squares
        + theme.chart(data, "estimate").mark_rule(style="truth").encode(x="estimate:Q")
    )


def replicate_plot_words(estimate: ReplicateEstimate, level: float = 0.95) -> tuple[str, str]:
    """Return the title and the text alternative of `replicate_plot`."""
    interval = estimate.interval(level)
    values = estimate.replicate_values[np.isfinite(estimate.replicate_values)]
    name, scale = title_of(estimate.statistic), _scale(estimate)
    undefined = checks.counted(estimate.undefined, "replicate is", "replicates are")
    lost = f" {undefined} undefined and not shown." if estimate.undefined else ""
    some = f" The chart shows {MOST_SQUARES:,} of them." if values.size > MOST_SQUARES else ""
    counted = (
        ""
        if abs(scale - 1) < 0.01
        else (
            f" The chart multiplies their distances from it by {scale:.3g}, the factor in the"
            " formula of the variance."
        )
    )
    return (
        (
            f"{name} {estimate.estimate:.3f}, standard error {estimate.standard_error:.4f} from "
            f"{checks.counted(values.size, 'replicate')}"
        ),
        (
            f"{checks.counted(values.size, f'{estimate.method} replicate')} of {name} from"
            f" {values.min():.4g} to {values.max():.4g} around the estimate"
            f" {estimate.estimate:.4g}.{counted}{some} The shaded area is one standard error,"
            f" {estimate.standard_error:.4g}, on either side. The line below is the"
            f" {percent(level)} interval, {interval.low:.4g} to {interval.high:.4g}.{lost}"
        ),
    )


def replicate_plot(estimate: ReplicateEstimate, *, level: float = 0.95) -> alt.TopLevelMixin:
    """Return the replicate values of an estimate as squares, its standard error and its interval.

    Parameters
    ----------
    estimate : workbench.ReplicateEstimate
        The estimate.
    level : float
        Confidence level of the interval.
    """
    low, high = estimate.interval(level)
    interval = (
        theme.Chart(theme.rows("interval", [{"low": low, "high": high}]))
        .mark_rule(strokeWidth=5, y="height")
        .encode(x="low:Q", x2="high:Q", color=alt.value(HONEST))
    )
    scale = _scale(estimate)
    title = f"{title_of(estimate.statistic)} of the replicate" + (
        ""
        if abs(scale - 1) < 0.01
        else f" (deviations {scale:.2g} times as large, as in the variance)"
    )
    plot = _values(values_data(estimate), title) + interval
    return theme.finish(plot, *replicate_plot_words(estimate, level), height=140)
