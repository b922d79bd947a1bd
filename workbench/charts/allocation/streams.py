"""Charts of streams: the contents of a sample of fixed size over time, and its variance."""

import math
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.allocation.words import PREDICTED, STREAMED, TENS, times
from workbench.simulations.allocation import StreamStudy

STREAM_LOOKS = {
    "VOILA": ("gray", [1, 0]),
    "S-VOILA": ("blue", [1, 0]),
    "S-VOILA as printed": ("vermilion", [6, 2]),
    "Neyman": ("green", [9, 5]),
    "Neyman+": ("orange", [2, 4]),
    "uniform": ("purple", [1, 0]),
    "reservoir": ("sky", [6, 2]),
}
STRATUM_COLORS = [
    theme.OKABE_ITO[name] for name in ("sky", "orange", "green", "vermilion", "blue", "purple")
]
# position of infinite ratios; the largest finite ratio of 36 settings was 24,362
INFINITY = 100_000
FLOOR_ERRORS = (3_500, 80_000)


# a stream, one run


def stream_data(
    study: StreamStudy, method: str, seen: int, names: Sequence[str], predicted: str | None = None
) -> dict:
    """Return the rows of `stream`: sample sizes and variance ratios, up to `seen` records."""
    past = study.checkpoint <= seen
    at = study.checkpoint[past].tolist()
    ratio, infinite = study.ratio(method), study.infinite(method)
    held = study.sampled[method][0][past]
    areas = [
        {
            "records": records,
            "stratum": names[h],
            "order": -h,
            "sampled": float(s),
            "share": float(s) / study.budget,
        }
        for records, sizes in zip(at, held, strict=True)
        for h, s in enumerate(sizes)
    ]
    share = held[-1] / study.budget
    middle = share[::-1].cumsum()[::-1] - share / 2
    return {
        "areas": areas,
        "names": [
            {"place": float(middle[h]), "text": f"{names[h]} {s:.0f}"}
            for h, s in enumerate(held[-1])
            if share[h] >= 0.08
        ],  # a thinner area has no room for its name
        "ratios": [
            {"records": records, "ratio": float(r) if np.isfinite(r) else None}
            for records, r in zip(at, ratio[past], strict=True)
        ],
        "infinite": [
            {"records": records, "ratio": INFINITY}
            for records, some in zip(at, infinite[past], strict=True)
            if some
        ],
        "frame": [{"ratio": 1.0, "name": "VOILA"}, {"ratio": INFINITY, "name": "infinite"}],
        "now": [{"records": at[-1]}],
    }


def stream_words(
    study: StreamStudy, method: str, seen: int, names: Sequence[str], predicted: str | None = None
) -> tuple[str, str]:
    """Return the title and the text alternative of `stream`."""
    past = study.checkpoint <= seen
    ratio, infinite = study.ratio(method)[past], study.infinite(method)[past]
    finite = ratio[np.isfinite(ratio)]
    endless = np.count_nonzero(infinite)
    checkpoints = checks.counted(infinite.size, "checkpoint")
    records = checks.counted(study.checkpoint[past][-1], "record")
    if endless:
        verdict = f"infinite at {endless} of {checkpoints} ({endless / infinite.size:.0%})"
    elif finite.max() >= 1.005:
        verdict = f"never infinite, at most {times(finite.max())} VOILA's"
    else:
        verdict = "as small as VOILA's so far"
    rule = STREAMED[method]
    if method != "s_voila_printed":
        rule = f"{rule} with a floor of {study.minimum}"
    held = zip(study.sampled[method][0][past][-1], study.stratum_size[0][past][-1], strict=True)
    parts = [f"{s:.0f} of {n:,} {names[h]}" for h, (s, n) in enumerate(held)]
    best = " + ".join(f"{s:.0f}" for s in study.sampled["voila"][0][past][-1])
    how_often = f"infinite at {endless} of {checkpoints}" if endless else "never infinite"
    now = "infinite" if infinite[-1] else f"{times(ratio[-1])} VOILA's"
    prediction = ""
    if predicted is not None:
        prediction = f" You predicted an infinite variance in {predicted} of such streams."
    return (
        f"{rule}: variance {verdict}",
        f"After {records} the sample of {study.budget} holds {', '.join(parts)}. VOILA with "
        f"hindsight: {best}. The variance now is {now}. It was {how_often}. The largest finite variance is {times(finite.max())} VOILA's.{prediction}",
    )


def stream(
    study: StreamStudy, method: str, seen: int, names: Sequence[str], predicted: str | None = None
) -> alt.TopLevelMixin:
    """Return the sample sizes of a streamed method over one stream, and its variance over VOILA's.

    Parameters
    ----------
    study : workbench.simulations.allocation.StreamStudy
        A study of one run.
    method : {"s_voila", "s_voila_printed"}
        Method whose sample is shown.
    seen : int
        Number of records up to which the stream is shown, at least the first checkpoint.
    names : sequence of str
        Names of the strata.
    predicted : str, optional
        Percentage of streams in which a learner expects an infinite variance.
    """
    data, colors = (
        stream_data(study, method, seen, names),
        dict(zip(names, STRATUM_COLORS, strict=False)),
    )
    across = alt.X(
        "records:Q",
        title="records seen",
        axis=alt.Axis(format=",d", tickCount=8),
        scale=theme.span(0, int(study.checkpoint[-1])),
    )
    share = {
        "title": "proportion of the sample",
        "axis": theme.percents(tickCount=4),
        "scale": theme.span(0, 1),
    }
    areas = (
        theme.chart(data, "areas")
        .mark_area(stroke="#ffffff", strokeWidth=1)
        .encode(
            x=across,
            y=alt.Y("share:Q", stack="zero", **share),
            order="order:Q",
            color=theme.color("stratum", colors, sort=list(names)),
        )
    )
    beside = {"align": "right", "dx": 98, "x": "width"}
    held = (
        theme.chart(data, "names")
        .mark_text(**beside)
        .encode(y=alt.Y("place:Q", **share), text="text:N")
    )
    room = (
        theme.Chart(theme.rows("room", [{"text": "thousands"}]))
        .mark_text(  # even if no name is shown at first
            opacity=0, **beside
        )
        .encode(text="text:N")
    )
    now = theme.chart(data, "now").mark_rule(strokeWidth=1).encode(x=across)
    up = alt.Y(
        "ratio:Q",
        title="variance, VOILA = 1 (log)",
        axis=alt.Axis(values=TENS, format=",d"),
        scale=theme.span(0.7, 1.4 * INFINITY, type="log"),
    )
    ratios, infinite, frame = (
        theme.chart(data, name).encode(y=up) for name in ("ratios", "infinite", "frame")
    )
    line = ratios.mark_line(point={"size": 14}).encode(x=across, color=alt.value(theme.STRATIFIED))
    marks = infinite.mark_square(size=30).encode(x=across, color=alt.value(theme.MISS))
    limits = frame.mark_rule(strokeDash=[3, 3], color=theme.GRAY)
    labels = frame.mark_text(align="left", dx=6, x="width", style="note").encode(text="name:N")
    width = theme.WIDTH - 100
    both = alt.vconcat(
        (areas + now + held + room).properties(width=width, height=170),
        (limits + line + marks + labels).properties(width=width, height=150),
    )
    return theme.finish(both, *stream_words(study, method, seen, names, predicted))


# many streams: one number per checkpoint, one error per floor


def trend(
    points: Mapping[int, float],
    title: str,
    words: str,
    *,
    name: str,
    domain: tuple[float, float],
    tick: str,
    predicted: float | None,
    answer: tuple[float, str],
) -> alt.TopLevelMixin:
    """Return one value per checkpoint of many streams, with the prediction and the answer.

    Parameters
    ----------
    points : dict of int to float
        Value by number of records seen.
    title, words : str
        The finding, and the text alternative.
    name : str
        Name of the values.
    domain : (float, float)
        Ends of their axis.
    tick : str
        Format of the numbers on the axis.
    predicted : float or None
        Value that a learner predicted.
    answer : (float, str)
        The value that answers the question, and the text next to it.
    """
    data = {
        "points": [{"records": records, "value": value} for records, value in points.items()],
        "predicted": [] if predicted is None else [{"value": predicted, "text": "you predicted"}],
        "answer": [{"value": answer[0], "text": answer[1]}],
    }
    up = alt.Y(
        "value:Q", title=name, axis=alt.Axis(format=tick, tickCount=5), scale=theme.span(*domain)
    )
    across = alt.X(
        "records:Q",
        title="records seen",
        axis=alt.Axis(format=",d", tickCount=6),
        scale=theme.span(0, max(points)),
    )
    drawn = (
        theme.chart(data, "points")
        .mark_line(point={"size": 50}, color=theme.STRATIFIED)
        .encode(x=across, y=up)
    )
    looks = {
        "predicted": (PREDICTED["you predicted"], [6, 4], 9),
        "answer": (theme.MISS, [1, 0], -9),
    }
    for kind, (color, dash, dy) in looks.items():
        rule = theme.chart(data, kind).encode(y=up)
        drawn += rule.mark_rule(strokeWidth=2, strokeDash=dash, color=color) + rule.mark_text(
            align="left", dx=6, dy=dy, x="width"
        ).encode(text="text:N")
    return theme.finish(drawn, title, words, width=theme.WIDTH - 150, height=220)


def floors_data(runs: Mapping[int, np.ndarray], least: float) -> dict:
    """Return the rows of `floors`: root mean squared errors, each ± two standard errors."""
    rows = [
        {
            "floor": f"floor of {floor}",
            "error": error,
            "low": max(error - 2 * margin, FLOOR_ERRORS[0]),
            "high": min(error + 2 * margin, FLOOR_ERRORS[1]),
            "text": f"{error:,.0f} ± {2 * margin:,.0f}",
        }
        for floor, errors in runs.items()
        if errors.size
        for error, margin in [root_mean_square(errors)]
    ]
    return {"floors": rows, "least": [{"error": least, "text": f"{least:,.0f}, without a stream"}]}


def root_mean_square(errors: np.ndarray) -> tuple[float, float]:
    """Return the root mean square of errors and its Monte Carlo standard error.

    Examples
    --------
    >>> root_mean_square(np.array([3.0, -3.0, 3.0]))
    (3.0, 0.0)
    """
    squares = errors**2
    root = math.sqrt(squares.mean())
    return root, float(squares.std(ddof=1) / math.sqrt(errors.size) / (2 * root)) if root else 0.0


def floors_words(runs: Mapping[int, np.ndarray], least: float) -> tuple[str, str]:
    """Return the title and the text alternative of `floors`."""
    errors_of = {floor: root_mean_square(errors) for floor, errors in runs.items() if errors.size}
    optimum = (
        f"If all standard deviations are known and there is no stream, the standard error of the "
        f"register total is {least:,.0f}."
    )
    if not errors_of:
        return "No stream has run yet", optimum
    many = checks.counted(min(runs[floor].size for floor in errors_of), "stream")
    best = min(errors_of, key=lambda floor: errors_of[floor][0])
    parts = [
        f"{error:,.0f} (± {2 * margin:,.0f}) with a floor of {floor}"
        for floor, (error, margin) in errors_of.items()
    ]
    return (
        f"{many} for each floor: the error is smallest with a floor of {best}",
        "Root mean squared error of the register total at the end of the stream: "
        f"{'; '.join(parts)}. {optimum}",
    )


def floors(runs: Mapping[int, np.ndarray], least: float) -> alt.TopLevelMixin:
    """Return the root mean squared error of streams with different floors, and the optimum.

    Parameters
    ----------
    runs : dict of int to (R,) array
        Errors of the estimated total by floor, one per stream.
    least : float
        Standard error of the optimal allocation.
    """
    data = floors_data(runs, least)
    names = [f"floor of {floor}" for floor in runs]
    look = {
        "title": "root mean squared error of the total (log scale)",
        "scale": theme.span(*FLOOR_ERRORS, type="log"),
        "axis": alt.Axis(format=",d", values=[m * t for t in TENS for m in (1, 2, 5)]),
    }
    across, low, high = (alt.X(f"{name}:Q", **look) for name in ("error", "low", "high"))
    rows = theme.chart(data, "floors").encode(
        y=alt.Y("floor:N", title=None, scale=alt.Scale(domain=names))
    )
    spans = rows.mark_rule(strokeWidth=3, color=theme.STRATIFIED).encode(x=low, x2="high:Q")
    dots = rows.mark_point(filled=True, size=140, opacity=1, color=theme.STRATIFIED).encode(
        x=across
    )
    texts = rows.mark_text(align="left", dx=8).encode(x=high, text="text:N")
    least_rule = theme.chart(data, "least").encode(x=across)
    drawn = (
        least_rule.mark_rule(style="truth")
        + least_rule.mark_text(align="left", dx=6, y="height", dy=-8, style="note").encode(
            text="text:N"
        )
        + spans
        + dots
        + texts
    )
    return theme.finish(drawn, *floors_words(runs, least), width=theme.WIDTH - 120, height=200)


# streams of many strata, averaged


def jump_data(
    study: StreamStudy, stratum: int | str, methods: Sequence[str]
) -> dict[str, list[dict]]:
    """Return the rows of `jump`: mean sample size of a stratum, and mean variance."""
    h, at = study.stratum.index(stratum), study.checkpoint
    methods_shown = [name for name in STREAMED if name in methods]
    return {
        "sizes": [
            {"records": int(records), "method": STREAMED[name], "sampled": float(s)}
            for name in methods_shown
            for records, s in zip(at, study.sampled[name][..., h].mean(0), strict=True)
        ],
        "variances": [
            {
                "records": int(records),
                "method": STREAMED[name],
                "variance": float(v) if 0 < v < np.inf else None,
            }
            for name in methods_shown
            for records, v in zip(at, study.variance[name].mean(0), strict=True)
        ],
    }


def jump_words(study: StreamStudy, stratum: int | str, methods: Sequence[str]) -> tuple[str, str]:
    """Return the title and the text alternative of `jump`."""
    h = study.stratum.index(stratum)
    methods_shown = [name for name in STREAMED if name in methods]
    ends = ", ".join(
        f"{STREAMED[name]} {_ratio_text(study, name)}" for name in methods_shown if name != "voila"
    )
    held = [
        f"{STREAMED[name]} {study.sampled[name][:, -1, h].mean():.0f}{_worst(study, name)}"
        for name in methods_shown
    ]
    runs = "one stream" if study.runs == 1 else f"mean of {study.runs} streams"
    records = checks.counted(study.checkpoint[-1], "record")
    kept = checks.counted(study.budget, "record")
    strata = checks.counted(len(study.stratum), "stratum", "strata")
    title = f"Variance after {records}, divided by VOILA's: {ends}"
    if not ends:
        of_stratum = study.sampled["voila"][:, -1, h].mean()
        title = f"VOILA with hindsight: {of_stratum:.0f} of {kept} are of stratum {h + 1}"
    return (
        title,
        f"{strata}, {kept} kept, {runs}. Neyman and Neyman+ are computed in fractions and "
        f"compared with VOILA in fractions. Records of stratum {h + 1} at the end: "
        f"{'; '.join(held)}.",
    )


def _ratio_text(study: StreamStudy, name: str) -> str:
    ratio, infinite = study.ratio(name)[-1], study.infinite(name)[-1]
    return (
        "infinite"
        if infinite == 1
        else f"{ratio:.2f}" + (f" (infinite in {infinite:.0%})" if infinite else "")
    )


def _worst(study: StreamStudy, name: str) -> str:
    if name == "voila":
        return ""
    ratio, infinite = study.ratio(name), study.infinite(name).mean()
    finite = np.where(np.isfinite(ratio), ratio, 0)
    records = checks.counted(study.checkpoint[finite.argmax()], "record")
    worst = f"largest variance {finite.max():.2f} times VOILA's, after {records}"
    if infinite:
        worst += f"; infinite at {infinite:.0%} of checkpoints"
    return f" ({worst})"


def jump(
    study: StreamStudy,
    stratum: int | str,
    methods: Sequence[str],
    *,
    jump_at: int | None = None,
    most: float | None = None,
    variances: tuple[float, float] | None = None,
) -> alt.TopLevelMixin:
    """Return the records of one stratum that each method holds over a stream, and its variance.

    Parameters
    ----------
    study : workbench.simulations.allocation.StreamStudy
        The simulated streams.
    stratum : int or str
        The stratum whose standard deviation jumps.
    methods : iterable of str
        Methods of the study that are shown.
    jump_at : int, optional
        Number of records before the jump, which is marked.
    most : float, optional
        End of the axis of sample sizes. By default it follows from the data.
    variances : (float, float), optional
        Ends of the axis of variances. By default they follow from the data.
    """
    data, named = (
        jump_data(study, stratum, methods),
        [STREAMED[name] for name in STREAMED if name in study.methods],
    )
    colors = {name: theme.OKABE_ITO.get(STREAM_LOOKS[name][0], theme.GRAY) for name in named}
    across = alt.X(
        "records:Q",
        title="records seen",
        axis=alt.Axis(format=",d", tickCount=8),
        scale=theme.span(0, int(study.checkpoint[-1])),
    )
    look = {
        "color": theme.color(
            "method",
            colors,
            sort=named,
            legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=3, symbolSize=300, columns=4),
        ),
        "strokeDash": theme.dash(
            "method", named, [STREAM_LOOKS[name][1] for name in named], sort=named
        ),
        "strokeWidth": alt.condition("datum.method == 'VOILA'", alt.value(5), alt.value(2)),
    }
    upper = (
        theme.chart(data, "sizes")
        .mark_line()
        .encode(
            x=across,
            y=alt.Y(
                "sampled:Q",
                title=f"records of stratum {study.stratum.index(stratum) + 1}",
                scale=alt.Undefined if most is None else theme.span(0, most),
            ),
            **look,
        )
    )
    lower = (
        theme.chart(data, "variances")
        .mark_line()
        .encode(
            x=across,
            y=alt.Y(
                "variance:Q",
                title="variance of the mean (log scale)",
                scale=alt.Scale(
                    type="log",
                    nice=False,
                    domain=alt.Undefined if variances is None else list(variances),
                ),
                axis=alt.Axis(
                    format="~g", values=[m / t for t in TENS for m in (1, 2, 5)] + TENS[1:]
                ),
            ),
            **look,
        )
    )
    jumped = [] if jump_at is None else [{"records": jump_at}]
    jumps = theme.Chart(theme.rows("jumps", jumped)).mark_rule(style="truth").encode(x=across)
    both = [
        (lines + jumps).properties(width=theme.WIDTH - 40, height=170) for lines in (upper, lower)
    ]
    return theme.finish(alt.vconcat(*both), *jump_words(study, stratum, methods))
