"""Charts of streams: the contents of a sample of fixed size over time, and its variance."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from workbench import checks
from workbench.charts import theme
from workbench.charts.allocation.words import PREDICTED, STREAMED, TENS, times
from workbench.charts.theme import (
    GRAY,
    MISS,
    OKABE_ITO,
    PERCENT,
    STRATIFIED,
    WIDTH,
    Figure,
    across,
    beside,
    chart,
    span,
    stacked,
    truth,
    up,
)
from workbench.results import rows_of
from workbench.simulations.allocation import StreamStudy

# color and dash of each method
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
    OKABE_ITO[name] for name in ("sky", "orange", "green", "vermilion", "blue", "purple")
]
# position of infinite ratios; the largest finite ratio of 36 settings was 24,362
INFINITY = 100_000
FLOOR_ERRORS = (3_500, 80_000)
THIN = 0.08  # a thinner area has no room for its name


# a stream, one run


def stream(
    study: StreamStudy, method: str, seen: int, names: Sequence[str], predicted: str | None = None
) -> Figure:
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
    past = study.checkpoint <= seen
    records = study.checkpoint[past]
    ratio, infinite = study.ratio(method)[past], study.infinite(method)[past]
    sampled = study.sampled[method][0][past]
    shares = sampled / study.budget
    checkpoints, strata = shares.shape
    areas = rows_of(
        records=np.repeat(records, strata),
        stratum=[*names] * checkpoints,
        order=-np.tile(np.arange(strata), checkpoints),
        sampled=sampled.ravel().astype(float),
        share=shares.ravel(),
    )
    share = shares[-1]
    middle = share[::-1].cumsum()[::-1] - share / 2
    labels = [
        {"place": float(middle[h]), "text": f"{names[h]} {sampled[-1, h]:.0f}"}
        for h in np.flatnonzero(share >= THIN).tolist()
    ]
    infinities = records[infinite > 0]
    largest, endless = ratio[np.isfinite(ratio)].max(), infinities.size
    data = {"areas": areas, "names": labels, "room": [{"text": "thousands"}]}
    data["ratios"] = rows_of(records=records, ratio=_on_log_axis(ratio))
    data["infinite"] = rows_of(records=infinities, ratio=[INFINITY] * endless)
    data["frame"] = [{"ratio": 1.0, "name": "VOILA"}, {"ratio": INFINITY, "name": "infinite"}]
    data["now"] = [{"records": int(records[-1])}]
    often = f"infinite at {endless} of {checks.counted(infinite.size, 'checkpoint')}"
    verdict = f"{often} ({endless / infinite.size:.0%})"
    if not endless:
        often, verdict = "never infinite", "as small as VOILA's so far"
        if largest >= 1.005:
            verdict = f"never infinite, at most {times(largest)} VOILA's"
    rule = STREAMED[method]
    if method != "s_voila_printed":
        rule = f"{rule} with a floor of {study.minimum}"
    sizes = zip(sampled[-1], study.stratum_size[0][past][-1], names, strict=True)
    parts = ", ".join(f"{size:.0f} of {total:,} {name}" for size, total, name in sizes)
    best = " + ".join(f"{size:.0f}" for size in study.sampled["voila"][0][past][-1])
    now = "infinite" if infinite[-1] else f"{times(ratio[-1])} VOILA's"
    prediction = ""
    if predicted is not None:
        prediction = f" You predicted an infinite variance in {predicted} of such streams."
    alternative = (
        f"After {checks.counted(records[-1], 'record')} the sample of {study.budget} holds "
        f"{parts}. VOILA with hindsight: {best}. The variance now is {now}. It was {often}. The "
        f"largest finite variance is {times(largest)} VOILA's.{prediction}"
    )
    last = int(study.checkpoint[-1])
    draw = functools.partial(_draw_stream, names=list(names), last=last)
    return Figure(data, f"{rule}: variance {verdict}", alternative, draw)


def _draw_stream(data: dict, names: list[str], last: int) -> Any:
    x = across("records", "records seen", (0, last), format=",d", tickCount=8)
    share = {"title": "proportion of the sample", "ends": (0, 1), "format": PERCENT, "tickCount": 4}
    colors = dict(zip(names, STRATUM_COLORS, strict=False))
    areas = chart(data, "areas").mark_area(stroke="#ffffff", strokeWidth=1)
    text = {"align": "right", "dx": 98, "x": "width"}
    inside, room = (chart(data, name) for name in ("names", "room"))
    areas = areas.encode(
        x=x,
        y=up("share", **share).stack("zero"),
        order="order:Q",
        color=theme.color("stratum", colors, sort=names),
    )
    now = chart(data, "now").mark_rule(strokeWidth=1).encode(x=x)
    inside = inside.mark_text(**text).encode(y=up("place", **share), text="text:N")
    # room for the names even if none is shown at first
    room = room.mark_text(opacity=0, **text).encode(text="text:N")
    y = up(
        "ratio",
        "variance, VOILA = 1 (log)",
        scale=span(0.7, 1.4 * INFINITY, type="log"),
        values=TENS,
        format=",d",
    )
    ratios, infinite, frame = (
        chart(data, name).encode(y=y) for name in ("ratios", "infinite", "frame")
    )
    limits = frame.mark_rule(strokeDash=[3, 3], color=GRAY)
    line = ratios.mark_line(point={"size": 14}).encode(x=x, color=alt.value(STRATIFIED))
    marks = infinite.mark_square(size=30).encode(x=x, color=alt.value(MISS))
    notes = frame.mark_text(align="left", dx=6, x="width", style="note").encode(text="name:N")
    upper, lower = areas + now + inside + room, limits + line + marks + notes
    return stacked(WIDTH - 100, (upper, 170), (lower, 150))


def _on_log_axis(values: np.ndarray) -> list[float | None]:
    """Return values that a logarithmic axis can show: None stands for 0 and infinity."""
    return [value if 0 < value < math.inf else None for value in values.tolist()]


# many streams: one number per checkpoint, one error per floor


def trend(
    points: Mapping[int, float],
    title: str,
    alternative: str,
    *,
    name: str,
    domain: tuple[float, float],
    tick: str,
    predicted: float | None,
    answer: tuple[float, str],
) -> Figure:
    """Return one value per checkpoint of many streams, with the prediction and the answer.

    Parameters
    ----------
    points : dict of int to float
        Value by number of records seen.
    title, alternative : str
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
    value, text = answer
    data = {
        "points": rows_of(records=list(points), value=list(points.values())),
        "predicted": [] if predicted is None else [{"value": predicted, "text": "you predicted"}],
        "answer": [{"value": value, "text": text}],
    }

    def draw(data: dict) -> Any:
        y = up("value", name, domain, format=tick, tickCount=5)
        x = across("records", "records seen", (0, max(points)), format=",d", tickCount=6)
        line = chart(data, "points").mark_line(point={"size": 50}, color=STRATIFIED)
        layers = line.encode(x=x, y=y)
        for kind, color, dash, dy in (
            ("predicted", PREDICTED["you predicted"], [6, 4], 9),
            ("answer", MISS, [1, 0], -9),
        ):
            base = chart(data, kind).encode(y=y)
            rule = base.mark_rule(strokeWidth=2, strokeDash=dash, color=color)
            layers += rule + beside(base, 6, dy=dy, x="width")
        return layers

    return Figure(data, title, alternative, draw, width=WIDTH - 150, height=220)


def floors(runs: Mapping[int, np.ndarray], least: float) -> Figure:
    """Return the root mean squared error of streams with different floors, and the optimum.

    The intervals are two standard errors to either side.

    Parameters
    ----------
    runs : dict of int to (R,) array
        Errors of the estimated total by floor, one per stream.
    least : float
        Standard error of the optimal allocation.
    """
    rows, parts, best = [], [], (math.inf, 0)
    for floor, errors in runs.items():
        if errors.size:
            error, margin = root_mean_square(errors)
            best = min(best, (error, floor))
            text, margin_text = f"{error:,.0f}", f"± {2 * margin:,.0f}"
            parts.append(f"{text} ({margin_text}) with a floor of {floor}")
            row = {"floor": f"floor of {floor}", "error": error, "text": f"{text} {margin_text}"}
            low = max(error - 2 * margin, FLOOR_ERRORS[0])
            high = min(error + 2 * margin, FLOOR_ERRORS[1])
            rows.append(row | {"low": low, "high": high})
    title = "No stream has run yet"
    alternative = (
        f"If all standard deviations are known and there is no stream, the standard error of the "
        f"register total is {least:,.0f}."
    )
    if rows:
        streams = checks.counted(
            min(errors.size for errors in runs.values() if errors.size), "stream"
        )
        title = f"{streams} for each floor: the error is smallest with a floor of {best[1]}"
        alternative = (
            "Root mean squared error of the register total at the end of the stream: "
            f"{'; '.join(parts)}. {alternative}"
        )

    def draw(data: dict) -> Any:
        axis = {"format": ",d", "values": [m * t for t in TENS for m in (1, 2, 5)]}
        title = "root mean squared error of the total (log scale)"
        scale = span(*FLOOR_ERRORS, type="log")
        error, low, high = (
            across(name, title, scale=scale, **axis) for name in ("error", "low", "high")
        )
        names = {"domain": [f"floor of {floor}" for floor in runs]}
        base = chart(data, "floors").encode(y=alt.Y("floor:N", title=None, scale=names))
        optimum = chart(data, "least").encode(x=error)
        line = optimum.mark_rule(style="truth")
        line += beside(optimum, 6, y="height", dy=-8, style="note")
        intervals = base.mark_rule(strokeWidth=3, color=STRATIFIED).encode(x=low, x2="high:Q")
        dots = base.mark_point(filled=True, size=140, opacity=1, color=STRATIFIED)
        return line + intervals + dots.encode(x=error) + beside(base, 8).encode(x=high)

    optimum = [{"error": least, "text": f"{least:,.0f}, without a stream"}]
    data = {"floors": rows, "least": optimum}
    return Figure(data, title, alternative, draw, width=WIDTH - 120, height=200)


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


# streams of many strata, averaged


def jump(
    study: StreamStudy,
    stratum: int | str,
    methods: Sequence[str],
    *,
    jump_at: int | None = None,
    most: float | None = None,
    variances: tuple[float, float] | None = None,
) -> Figure:
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
    h, checkpoints = study.stratum.index(stratum), study.checkpoint.tolist()
    data: dict[str, list[dict]] = {"sizes": [], "variances": []}
    data["jumps"] = [] if jump_at is None else [{"records": jump_at}]
    ends, parts = [], []
    for method, name in STREAMED.items():
        if method in methods:
            sizes = study.sampled[method][..., h].mean(0)
            variance = _on_log_axis(study.variance[method].mean(0))
            columns = {"records": checkpoints, "method": [name] * len(checkpoints)}
            data["sizes"] += rows_of(**columns, sampled=sizes)
            data["variances"] += rows_of(**columns, variance=variance)
            part = f"{name} {sizes[-1]:.0f}"
            if method != "voila":
                ends.append(f"{name} {_last_ratio(study, method)}")
                part += f" ({_largest_ratio(study, method)})"
            parts.append(part)
    budget = checks.counted(study.budget, "record")
    title = (
        f"Variance after {checks.counted(checkpoints[-1], 'record')}, divided by VOILA's: "
        f"{', '.join(ends)}"
    )
    if not ends:
        size = data["sizes"][-1]["sampled"]
        title = f"VOILA with hindsight: {size:.0f} of {budget} are of stratum {h + 1}"
    runs = "one stream" if study.runs == 1 else f"mean of {study.runs} streams"
    names = {
        STREAMED[method]: STREAM_LOOKS[STREAMED[method]]
        for method in STREAMED
        if method in study.methods
    }

    def draw(data: dict) -> Any:
        legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=3, symbolSize=300, columns=4)
        order = list(names)
        colors = {name: OKABE_ITO.get(color, GRAY) for name, (color, _) in names.items()}
        dashes = [dash for _, dash in names.values()]
        thick = alt.condition("datum.method == 'VOILA'", alt.value(5), alt.value(2))
        x = across("records", "records seen", (0, checkpoints[-1]), format=",d", tickCount=8)
        look = {
            "x": x,
            "color": theme.color("method", colors, sort=order, legend=legend),
            "strokeDash": theme.dash("method", order, dashes, sort=order),
            "strokeWidth": thick,
        }
        sizes = up("sampled", f"records of stratum {h + 1}", () if most is None else (0, most))
        log = alt.Scale(type="log", nice=False, domain=variances or alt.Undefined)
        variance = up(
            "variance",
            "variance of the mean (log scale)",
            scale=log,
            format="~g",
            values=[m / t for t in TENS for m in (1, 2, 5)] + TENS[1:],
        )
        jumps = truth(data, "jumps", x=x)
        views = [
            (chart(data, name).mark_line().encode(y=y, **look) + jumps, 170)
            for name, y in (("sizes", sizes), ("variances", variance))
        ]
        return stacked(WIDTH - 40, *views)

    return Figure(
        data,
        title,
        f"{checks.counted(len(study.stratum), 'stratum', 'strata')}, {budget} kept, {runs}. Neyman "
        "and Neyman+ are computed in fractions and compared with VOILA in fractions. Records of "
        f"stratum {h + 1} at the end: {'; '.join(parts)}.",
        draw,
    )


def _last_ratio(study: StreamStudy, method: str) -> str:
    """Return the last variance as text, divided by VOILA's."""
    ratio, infinite = study.ratio(method)[-1], study.infinite(method)[-1]
    if infinite == 1:
        return "infinite"
    return f"{ratio:.2f}" + (f" (infinite in {infinite:.0%})" if infinite else "")


def _largest_ratio(study: StreamStudy, method: str) -> str:
    ratio, infinite = study.ratio(method), study.infinite(method).mean()
    finite = np.where(np.isfinite(ratio), ratio, 0)
    records = checks.counted(study.checkpoint[finite.argmax()], "record")
    text = f"largest variance {finite.max():.2f} times VOILA's, after {records}"
    return f"{text}; infinite at {infinite:.0%} of checkpoints" if infinite else text
