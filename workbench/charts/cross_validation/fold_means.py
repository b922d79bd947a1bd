"""Charts of the fold means: differences, models, intervals."""

import dataclasses
import functools
import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench.charts import theme
from workbench.charts.cross_validation.words import (
    LETTERS,
    FramedFigure,
    limited,
    padded,
    short_names,
    two_lines,
    values_axis,
)
from workbench.charts.theme import (
    GRAY,
    OKABE_ITO,
    WIDTH,
    Figure,
    across,
    bars_and_dots,
    chart,
    span,
)
from workbench.cross_validation.comparison import best_mean
from workbench.cross_validation.kfold import ROUNDING, ZeroVarianceError, kfold_t_test
from workbench.cross_validation.losses import CVLosses
from workbench.results import percent, rows_of
from workbench.results.digits import between, number, share

FIRST, SECOND, NEITHER = OKABE_ITO["blue"], OKABE_ITO["vermilion"], GRAY
SIDES, SIDE_SHAPES = ("first", "second"), ["circle", "square", "diamond"]
MAY_BE_0 = "may be 0"
BAR = "M-0.25,-1L0.25,-1L0.25,1L-0.25,1Z"
DOT = 11
SHOWN_MODELS = 24


def folds(
    cv: CVLosses, *, rho: float | str = "auto", level: float = 0.95, title: str = ""
) -> Figure:
    """Return the difference in each fold as a dot, and below it two or three intervals of the mean.

    The intervals are the naive interval, that of Nadeau and Bengio, and that of the chosen rho.

    Parameters
    ----------
    cv : workbench.CVLosses
        The losses. For two models, the chart shows the difference, for one model its loss. For more
        models there is one row of dots per model.
    rho : float or str
        Chosen rho, as in `workbench.kfold_t_test`.
    level : float
        Confidence level of the intervals.
    title : str
        Title. By default it names the model that is better on average.
    """
    figure = _models(cv) if len(cv.models) > 2 else _differences(cv, rho, level)
    return dataclasses.replace(figure, title=title) if title else figure


def folds_title(cv: CVLosses, *, rho: float | str = "auto") -> str:
    """Return the title of the section that `folds` belongs to, for one model or two.

    Examples
    --------
    >>> folds_title(CVLosses.from_fold_means([.1, .2, .3], test_share=.2))
    'Result of each random split, and their mean with intervals for two values of rho'
    """
    count = len(_tests(cv, rho))
    intervals = f" with intervals for {('two', 'three')[count - 2]} values of rho" if count else ""
    return f"Result of each {cv.noun}, and their mean{intervals}"


def _differences(cv: CVLosses, rho: float | str, level: float) -> FramedFigure:
    values, mean, sides = _fold_means(cv), _mean(cv), _sides(cv)
    equal = sides[len(sides) // 2]
    dots = rows_of(
        value=values.ravel(),
        y=stacked(values)[0].ravel(),
        side=[_side(value, value, sides, equal) for value in values.ravel()],
    )
    intervals, texts = [], []
    for name, test in _tests(cv, rho).items():
        low, high = test.interval(level)
        limits = {"test": name, "estimate": test.estimate, "low": low, "high": high}
        intervals.append(limits | {"verdict": _side(low, high, sides, MAY_BE_0)})
        texts.append(f"{name}: {between(low, high)}")
    noun = f"{cv.noun}s"
    sentence = (
        f"All {noun} have the same mean. Their variance is 0, so there is no interval and no test."
    )
    if texts:
        sentence = f"{percent(level)} intervals of the mean: {'; '.join(texts)}."
    reach = f"{noun} from {between(values.min(), values.max())}"
    if len(cv.models) == 2:
        title, subject, zero = _winner(cv, values, mean, bool(texts)), cv.label, [{"value": 0}]
    else:
        spread = reach if texts else f"the same in every {cv.noun}, no variance"
        name = cv.models[0]
        title = f"Mean {cv.kind} of {limited(name, 30)} {number(mean)}: {spread}"
        subject, zero = f"{cv.kind} of {name}", []
    data = {"dots": dots, "mean": [{"value": mean}], "intervals": intervals, "zero": zero}
    reach += _repeats(cv)
    return FramedFigure(
        data,
        title + _repeats(cv),
        f"Mean {subject} {number(mean)}; {reach}, {values.size} in all. {sentence}",
        functools.partial(_draw_differences, cv),
    )


def _fold_means(cv: CVLosses) -> np.ndarray:
    """Return the fold means (R, K) without rounding errors, so that equal means compare equal."""
    return _rounded(cv.fold_means(), cv.losses, _mean(cv))


def _rounded(means: np.ndarray, losses: np.ndarray, mean: float) -> np.ndarray:
    rounding = ROUNDING * max(np.abs(losses).max(), np.abs(means).max())
    if np.ptp(means) <= rounding:
        means = np.full_like(means, mean)
    return np.where(np.abs(means) <= rounding, 0, means)


def _mean(cv: CVLosses) -> float:
    return float(np.average(cv.fold_means(), weights=cv.sizes))


def _sides(cv: CVLosses) -> list[str]:
    """Return the meaning of the sign -1, 0, 1 of a difference, or the name of the only model."""
    names = short_names(cv.models)
    if len(names) == 1:
        return names
    low, high = names[::-1] if cv.scores else names
    return [f"{low} better", "equal", f"{high} better"]


def _side(low: float, high: float, sides: list[str], neither: str) -> str:
    """Return the side on which an interval lies."""
    if low > 0 or len(sides) == 1:
        return sides[-1]
    return sides[0] if high < 0 else neither


def _tests(cv: CVLosses, rho: float | str) -> dict[str, Any]:
    """Return the tests for the naive, Nadeau-Bengio and chosen rho; none if all folds agree."""
    try:
        chosen = kfold_t_test(cv, rho=rho)
    except ZeroVarianceError:
        return {}
    tests, new = {}, True
    for name, rule in (("naive", "naive"), ("Nadeau-Bengio", "nadeau_bengio")):
        test = chosen.at(rule)
        if abs(test.rho - chosen.rho) < 1e-9:
            name, new = f"{name} (chosen)", False
        tests[f"{name}, rho {share(test.rho)}"] = test
    if new:
        tests[f"chosen, rho {share(chosen.rho)}"] = chosen
    return tests


def stacked(means: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the height of each dot of (R, K), stacked within repeats, and the highest stack."""
    cells = np.round((means - means.min()) / (np.ptp(means) or 1) * 60)
    above = np.stack([_ranks(row) for row in cells])
    most, repeats = int(above.max()) + 1, len(means)
    step = min(DOT / _row_height(most, repeats), 0.85 / most)
    return np.arange(1, repeats + 1)[:, None] - above * step, most


def _ranks(cells: np.ndarray) -> np.ndarray:
    """Return the number of earlier entries in the same cell."""
    order = np.argsort(cells, kind="stable")
    ranks = np.empty(cells.size, int)
    ranks[order] = np.arange(cells.size) - np.searchsorted(cells[order], cells[order])
    return ranks


def _row_height(most: int, repeats: int) -> float:
    return min(max(20, DOT * most), 260 / repeats)


def _repeats(cv: CVLosses) -> str:
    return f", {cv.repeats} repeats with the same items" if cv.repeats > 1 else ""


def _winner(cv: CVLosses, values: np.ndarray, mean: float, tested: bool) -> str:
    """Return the model that is better on average, and the number of folds in which it is."""
    if cv.scores:
        values, mean = -values, -mean
    first, second = short_names(cv.models)
    better, wins = (first, values < 0) if mean < 0 else (second, values > 0)
    gap = number(abs(mean))
    if not tested:
        text = f"{better} is better by {gap}"
        if not values.any():
            text = f"{first} and {second} have the same {cv.kind}"
        return f"{text} in every {cv.noun}: no variance, no test"
    ties = int((values == 0).sum())
    equal = f", {ties} equal" if ties else ""
    total = f"of {values.size} {cv.noun}s{equal}"
    if abs(mean) <= 1e-12 * np.abs(values).max():
        return (
            f"On average neither is better: {first} in {(values < 0).sum()}, {second} in "
            f"{(values > 0).sum()} {total}"
        )
    return f"{better} is better, by {gap}: in {wins.sum()} {total}"


def _draw_differences(cv: CVLosses, data: dict) -> Any:
    sides = _sides(cv)
    title, palette, legend = f"{cv.kind} (dashed: mean)", [FIRST], None
    if len(sides) == 3:
        title = f"{' − '.join(short_names(cv.models))}, difference in {title}"
        palette, legend = [FIRST, NEITHER, SECOND], {"labelLimit": 240}
    if cv.scores:
        palette.reverse()
    colors = dict(zip(sides, palette, strict=True))
    shapes = dict(zip(sides, SIDE_SHAPES, strict=False))
    intervals = data["intervals"]
    ends = [row["value"] for row in data["dots"] + data["zero"]]
    ends += [row[end] for row in intervals for end in ("low", "high")]
    scale = padded(ends)
    most = stacked(_fold_means(cv))[1]
    height = _row_height(most, cv.repeats)
    down = span(0.1, cv.repeats + 8 / height, reverse=True)
    labels = alt.Y("y:Q", title="repeat", axis=_repeat_axis(cv), scale=down)
    size = float(np.clip((height * min(0.85 / most, 1)) ** 2 * 0.9, 8, 75))
    above = None if intervals else title
    looks = {
        "color": theme.color("side", colors, legend=legend),
        "shape": theme.shape("side", shapes, shapes.values(), legend=legend),
    }
    x = across("value", above, scale=scale, **values_axis(ends, not intervals))
    dots = chart(data, "dots").encode(x=x, y=labels, **looks)
    zero = chart(data, "zero").mark_rule(strokeWidth=1).encode(x="value:Q")
    mean = theme.truth(data, "mean", x="value:Q")
    views = [(zero + mean + dots.mark_point(filled=True, size=size), height * cv.repeats + 8)]
    if intervals:
        # in the color and shape of the better model, gray if an interval contains 0
        colors[MAY_BE_0], shapes[MAY_BE_0] = NEITHER, BAR
        base = chart(data, "intervals").encode(
            y=theme.names("test", **two_lines()),
            color=theme.color("verdict", colors, legend=None),
        )
        low = across("low", title, scale=scale, **values_axis(ends))
        shape = theme.shape("verdict", shapes, shapes.values(), legend=None)
        layers = bars_and_dots(base, low, "estimate", width=4, size=110, shape=shape)
        views.append((alt.layer(zero, *layers), 36 * len(intervals)))
    both = theme.stacked(WIDTH - 160, *views, spacing=4)
    return both.resolve_scale(color="independent", shape="independent")


def _repeat_axis(cv: CVLosses) -> dict[str, Any] | None:
    if cv.repeats == 1:
        return None
    repeats = dict.fromkeys(str(row["repeat"]) for row in cv.rows())
    labels = json.dumps([limited(label, LETTERS) for label in repeats])
    return {
        "values": list(range(1, cv.repeats + 1)),
        "labelExpr": f"{labels}[datum.value - 1]",
        "grid": False,
        "labelOverlap": True,
    }


def _models(cv: CVLosses) -> FramedFigure:
    labels = short_names(cv.models)
    means = cv.fold_means_of_models()
    if cv.scores:
        means = 0.0 - means
    averages = [float(np.average(row, weights=cv.sizes.ravel())) for row in means]
    order = sorted(range(len(labels)), key=averages.__getitem__, reverse=cv.scores)
    first, last = averages[order[0]], averages[order[-1]]
    means = np.stack([_rounded(means[k], cv.losses[:, k], averages[k]) for k in order])
    tied = [labels[k] for k in order if abs(averages[k] - first) <= ROUNDING * abs(last)]
    splits = f"{means[0].size} {cv.noun}s{_repeats(cv)}"
    often = ""
    if len(tied) == 1:
        best = (means[0] == (means.max(0) if cv.scores else means.min(0))).sum()
        often = f": the {'largest' if cv.scores else 'smallest'} in {best} of {splits}"
    hidden = hidden_in_title = ""
    if len(order) > SHOWN_MODELS:
        hidden_in_title = f"; {SHOWN_MODELS} of {len(order)} models shown"
        hidden = f" The chart shows the best {SHOWN_MODELS} of {len(order)}."
    order = order[:SHOWN_MODELS]
    listed = ", ".join(f"{cv.models[k]} {number(averages[k])}" for k in order)
    names = [labels[k] for k in order]
    dots = rows_of(model=np.repeat(names, means.shape[1]), value=means[: len(order)].ravel())
    means_of_models = rows_of(model=names, mean=[averages[k] for k in order])
    draw = functools.partial(_draw_models, f"{cv.kind} in each {cv.noun} (bar: mean)")
    return FramedFigure(
        {"dots": dots, "means": means_of_models},
        f"{best_words(tied, cv.scores)}, {number(first)}{often}{hidden_in_title}",
        f"Mean {cv.kind} of each model over {splits}: {listed}.{hidden}",
        draw,
    )


def _draw_models(title: str, data: dict) -> Any:
    y = theme.names("model", labelLimit=220, grid=True)
    values = values_axis([row["value"] for row in data["dots"]])
    x = across("value", title, scale={"zero": False}, **values)
    dots = chart(data, "dots").mark_point(opacity=0.7, size=40, color=FIRST).encode(x=x, y=y)
    ticks = chart(data, "means").mark_tick(thickness=4, size=20, color=SECOND)
    layers = dots + ticks.encode(x="mean:Q", y=y)
    return layers.properties(width=480, height=max(60, 26 * len(data["means"])))


def best_words(models: Sequence[str], scores: bool) -> str:
    """Return a text that names the model with the best mean."""
    verb = "has" if len(models) == 1 else "share"
    return f"{limited(' and '.join(models), 60)} {verb} the {best_mean(scores)}"
