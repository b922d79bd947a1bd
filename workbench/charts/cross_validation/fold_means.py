"""Charts of the fold means: differences, models, intervals."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench.charts import theme
from workbench.charts.cross_validation.words import (
    LETTERS,
    limited,
    padded,
    short_names,
    two_lines,
    values_axis,
)
from workbench.cross_validation.comparison import best_mean
from workbench.cross_validation.kfold import ROUNDING, ZeroVarianceError, kfold_t_test
from workbench.cross_validation.losses import CVLosses
from workbench.results import percent
from workbench.results.digits import between, number, share

FIRST, SECOND, NEITHER = theme.OKABE_ITO["blue"], theme.OKABE_ITO["vermilion"], theme.GRAY
SIDES, SIDE_SHAPES = ("first", "second"), ["circle", "square", "diamond"]
MAY_BE_0 = "may be 0"
BAR = "M-0.25,-1L0.25,-1L0.25,1L-0.25,1Z"
DOT = 11
SHOWN_MODELS = 24


def folds_data(cv: CVLosses, *, rho: float | str = "auto", level: float = 0.95) -> dict:
    """Return the rows of `folds`: dots, mean and intervals (none for more than two models)."""
    if len(cv.models) > 2:
        return _models_data(cv)
    values, sides = _shown_means(cv), _sides(cv)
    dots = [
        {
            "value": value,
            "y": y,
            "side": sides[1 + int(np.sign(value))] if len(sides) > 1 else sides[0],
        }
        for value, y in zip(
            values.ravel().tolist(), stacked(values)[0].ravel().tolist(), strict=True
        )
    ]
    intervals = [
        _interval_row(name, test.estimate, [*test.interval(level)], sides)
        for name, test in _tests(cv, rho)
    ]
    return {
        "dots": dots,
        "mean": [{"value": _mean(cv)}],
        "intervals": intervals,
        "zero": [{"value": 0}] if len(cv.models) == 2 else [],
    }


def _shown_means(cv: CVLosses) -> np.ndarray:
    """Return the fold means (R, K) without rounding errors, so that equal means compare equal."""
    values = cv.fold_means()
    rounding = ROUNDING * max(np.abs(cv.losses).max(), np.abs(values).max())
    values = np.full_like(values, _mean(cv)) if np.ptp(values) <= rounding else values
    return np.where(np.abs(values) <= rounding, 0, values)


def _sides(cv: CVLosses) -> list[str]:
    """Return the meaning of the sign -1, 0, 1 of a difference, or the name of the only model."""
    names = short_names(cv.models)
    if len(names) == 1:
        return names
    low, high = names[::-1] if cv.scores else names
    return [f"{low} better", "equal", f"{high} better"]


def _interval_row(name: str, estimate: float, interval: list, sides: list[str]) -> dict:
    low, high = interval
    verdict = sides[-1] if low > 0 or len(sides) == 1 else sides[0] if high < 0 else MAY_BE_0
    return {"test": name, "estimate": estimate, "low": low, "high": high, "verdict": verdict}


def _tests(cv: CVLosses, rho: float | str) -> list:
    """Return name and test for the naive, Nadeau-Bengio and chosen rho; none if all folds agree."""
    try:
        chosen = kfold_t_test(cv, rho=rho)
    except ZeroVarianceError:
        return []
    tests = {"naive": chosen.at("naive"), "Nadeau-Bengio": chosen.at("nadeau_bengio")}
    same = [name for name, test in tests.items() if abs(test.rho - chosen.rho) < 1e-9]
    named = {name + (" (chosen)" if name in same else ""): test for name, test in tests.items()}
    return [
        (f"{name}, rho {share(test.rho)}", test)
        for name, test in (named | ({} if same else {"chosen": chosen})).items()
    ]


def _mean(cv: CVLosses) -> float:
    return float(np.average(cv.fold_means(), weights=cv.sizes))


def stacked(means: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the height of each dot of (R, K), stacked within repeats, and the highest stack."""
    low, spread = means.min(), np.ptp(means)
    cell = (
        np.zeros(means.shape, int)
        if spread == 0
        else ((means - low) / spread * 60).round().astype(int)
    )
    above = np.stack([_ranks(row) for row in cell])
    most, repeats = int(above.max()) + 1, len(means)
    return np.arange(1, repeats + 1)[:, None] - above * min(
        DOT / _row_height(most, repeats), 0.85 / most
    ), most


def _ranks(cells: np.ndarray) -> np.ndarray:
    """Return the number of earlier entries in the same cell."""
    order = np.argsort(cells, kind="stable")
    ranks = np.empty(cells.size, int)
    ranks[order] = np.arange(cells.size) - np.searchsorted(cells[order], cells[order])
    return ranks


def _row_height(most: int, repeats: int) -> float:
    return min(max(20, DOT * most), 260 / repeats)


def folds_words(cv: CVLosses, *, rho: float | str = "auto", level: float = 0.95) -> tuple[str, str]:
    """Return the title and the text alternative of `folds`."""
    if len(cv.models) > 2:
        return _models_words(cv)
    values, repeats = _shown_means(cv), _repeats(cv)
    tests = _tests(cv, rho)
    intervals = "; ".join(f"{name}: {between(*test.interval(level))}" for name, test in tests)
    sentence = (
        f"{percent(level)} intervals of the mean: {intervals}."
        if tests
        else f"All {cv.noun}s have the same mean. Their variance is 0, so there is no interval and "
        "no test."
    )
    noun = f"{cv.noun}s"
    about = (
        f"Mean {cv.label} {number(_mean(cv))}"
        if len(cv.models) == 2
        else f"Mean {cv.kind} of {cv.models[0]} {number(_mean(cv))}"
    )
    title = (
        _winner(cv, bool(tests))
        if len(cv.models) == 2
        else (
            f"Mean {cv.kind} of {limited(cv.models[0], 30)} {number(_mean(cv))}: "
            + (
                f"{noun} from {between(values.min(), values.max())}"
                if tests
                else f"the same in every {cv.noun}, no variance"
            )
        )
    )
    return title + repeats, (
        f"{about}; {noun} from {between(values.min(), values.max())}{repeats}, "
        f"{values.size} in all. {sentence}"
    )


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


def _repeats(cv: CVLosses) -> str:
    return f", {cv.repeats} repeats with the same items" if cv.repeats > 1 else ""


def _winner(cv: CVLosses, tested: bool) -> str:
    sign, (first, second) = -1 if cv.scores else 1, short_names(cv.models)
    values, mean = sign * _shown_means(cv), sign * _mean(cv)
    total, wins = values.size, [int((values < 0).sum()), int((values > 0).sum())]
    better = first if mean < 0 else second
    if not tested:
        return (
            f"{first} and {second} have the same {cv.kind} in every {cv.noun}: no variance, no test"
            if not values.any()
            else f"{better} is better by {number(abs(mean))} in every {cv.noun}: no variance, "
            "no test"
        )
    ties = total - sum(wins)
    equal = f", {ties} equal" if ties else ""
    if abs(mean) <= 1e-12 * np.abs(values).max():
        return (
            f"On average neither is better: {first} in {wins[0]}, {second} in {wins[1]} of {total} "
            f"{cv.noun}s{equal}"
        )
    better_in = wins[0] if mean < 0 else wins[1]
    return (
        f"{better} is better, by {number(abs(mean))}: in {better_in} of {total} {cv.noun}s{equal}"
    )


def folds(
    cv: CVLosses, *, rho: float | str = "auto", level: float = 0.95, title: str = ""
) -> alt.TopLevelMixin:
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
    default_title, alternative = folds_words(cv, rho=rho, level=level)
    words = title or default_title, alternative
    if len(cv.models) > 2:
        return finished(_models(cv), words)
    data, sides = folds_data(cv, rho=rho, level=level), _sides(cv)
    most = stacked(_shown_means(cv))[1]
    row_height = _row_height(most, cv.repeats)
    along = f"{cv.kind} (dashed: mean)"
    if len(sides) == 3:
        along = f"{' − '.join(short_names(cv.models))}, difference in {along}"
    ends = [row["value"] for name in ("dots", "zero") for row in data[name]]
    ends += [row[end] for row in data["intervals"] for end in ("low", "high")]
    within = padded(ends)
    looks = (FIRST, NEITHER, SECOND) if len(sides) == 3 else (FIRST,)
    colors = dict(zip(sides, looks[::-1] if cv.scores else looks, strict=True))
    legend = alt.Legend(labelLimit=240) if len(sides) == 3 else None
    size = float(np.clip((row_height * min(0.85 / most, 1)) ** 2 * 0.9, 8, 75))
    dots = (
        theme.chart(data, "dots")
        .mark_point(filled=True, size=size)
        .encode(
            x=alt.X(
                "value:Q",
                title=None if data["intervals"] else along,
                scale=within,
                axis=values_axis(ends, not data["intervals"]),
            ),
            y=alt.Y(
                "y:Q",
                title="repeat",
                axis=_repeat_axis(cv) if cv.repeats > 1 else None,
                scale=theme.span(0.1, cv.repeats + 8 / row_height, reverse=True),
            ),
            color=theme.color("side", colors, legend=legend),
            shape=theme.shape("side", sides, SIDE_SHAPES[: len(sides)], legend=legend),
        )
    )
    zero = theme.chart(data, "zero").mark_rule(strokeWidth=1).encode(x="value:Q")
    mean = theme.chart(data, "mean").mark_rule(style="truth").encode(x="value:Q")
    above = (zero + mean + dots).properties(
        width=theme.WIDTH - 160, height=row_height * cv.repeats + 8
    )
    below = (
        [_intervals(data, along, values_axis(ends), within, colors)] if data["intervals"] else []
    )
    return finished(
        alt.vconcat(above, *below, spacing=4).resolve_scale(
            color="independent", shape="independent"
        ),
        words,
    )


def finished(chart: Any, words: Sequence[str]) -> Any:
    """Return the chart with its title above labels and plot, so that it stays on the page."""
    drawn = theme.finish(chart, *words, width=None, height=None)
    drawn.title.frame = "bounds"
    return drawn


def _repeat_axis(cv: CVLosses) -> Any:
    labels = [
        limited(str(label), LETTERS) for label in dict.fromkeys(row["repeat"] for row in cv.rows())
    ]
    return alt.Axis(
        values=list(range(1, cv.repeats + 1)),
        labelExpr=f"{json.dumps(labels)}[datum.value - 1]",
        grid=False,
        labelOverlap=True,
    )


def _intervals(data: dict, title: str, axis: Any, within: Any, colors: dict) -> Any:
    """Return intervals in the color and shape of the better model, gray if they contain 0."""
    shapes = dict(zip(colors, SIDE_SHAPES, strict=False)) | {MAY_BE_0: BAR}
    base = theme.chart(data, "intervals").encode(
        y=alt.Y(
            "test:N", sort=[row["test"] for row in data["intervals"]], title=None, axis=two_lines()
        ),
        color=theme.color("verdict", colors | {MAY_BE_0: NEITHER}, legend=None),
    )
    bars = base.mark_rule(strokeWidth=4).encode(
        x=alt.X("low:Q", title=title, axis=axis, scale=within), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=110).encode(
        x="estimate:Q", shape=theme.shape("verdict", shapes, shapes.values(), legend=None)
    )
    zero = theme.chart(data, "zero").mark_rule(strokeWidth=1).encode(x="value:Q")
    return (zero + bars + dots).properties(
        width=theme.WIDTH - 160, height=36 * len(data["intervals"])
    )


def _models_data(cv: CVLosses) -> dict:
    models = _models_by_mean(cv)[:SHOWN_MODELS]
    return {
        "dots": [
            {"model": label, "value": v}
            for _, label, means, _ in models
            for v in means.ravel().tolist()
        ],
        "means": [{"model": label, "mean": mean, "place": name} for name, label, _, mean in models],
    }


def _models_by_mean(cv: CVLosses) -> list:
    """Return (name, short name, fold means, mean) of each model, the best mean first."""
    alone = [
        CVLosses(
            losses,
            cv.fold,
            (name,),
            cv.item,
            cv.repeat,
            cv.fold_size,
            scores=cv.scores,
            test_share=cv.test_share,
            splits=cv.splits,
        )
        for name, losses in zip(cv.models, cv.losses.T, strict=True)
    ]
    models = [
        (single.models[0], label, _shown_means(single), _mean(single))
        for single, label in zip(alone, short_names(cv.models), strict=True)
    ]
    return sorted(models, key=lambda model: model[3], reverse=cv.scores)


def _models_words(cv: CVLosses) -> tuple:
    models = _models_by_mean(cv)
    means = np.stack([model[2] for model in models])
    best = int((means[0] == (means.max(0) if cv.scores else means.min(0))).sum())
    left = (
        f" The chart shows the best {SHOWN_MODELS} of {len(models)}."
        if len(models) > SHOWN_MODELS
        else ""
    )
    listed = ", ".join(f"{name} {number(mean)}" for name, _, _, mean in models[:SHOWN_MODELS])
    tied = [
        label
        for _, label, _, mean in models
        if abs(mean - models[0][3]) <= ROUNDING * abs(models[-1][3])
    ]
    often = (
        f": the {'largest' if cv.scores else 'smallest'} in {best} of {means[0].size} "
        f"{cv.noun}s{_repeats(cv)}"
        if len(tied) == 1
        else ""
    )
    return (
        f"{best_words(tied, cv.scores)}, {number(models[0][3])}{often}"
        + (f"; {SHOWN_MODELS} of {len(models)} models shown" if left else ""),
        f"Mean {cv.kind} of each model over {means[0].size} {cv.noun}s{_repeats(cv)}: "
        f"{listed}.{left}",
    )


def _models(cv: CVLosses) -> Any:
    data = _models_data(cv)
    order = [row["model"] for row in data["means"]]
    y = alt.Y("model:N", sort=order, title=None, axis=alt.Axis(labelLimit=220, grid=True))
    x = alt.X(
        "value:Q",
        title=f"{cv.kind} in each {cv.noun} (bar: mean)",
        scale=alt.Scale(zero=False),
        axis=values_axis([row["value"] for row in data["dots"]]),
    )
    dots = theme.chart(data, "dots").mark_point(opacity=0.7, size=40, color=FIRST).encode(x=x, y=y)
    means = (
        theme.chart(data, "means")
        .mark_tick(thickness=4, size=20, color=SECOND)
        .encode(x="mean:Q", y=y)
    )
    return (dots + means).properties(width=480, height=max(60, 26 * len(order)))


def best_words(models: Sequence[str], scores: bool) -> str:
    """Return a text that names the model with the best mean."""
    verb = "has" if len(models) == 1 else "share"
    return f"{limited(' and '.join(models), 60)} {verb} the {best_mean(scores)}"
