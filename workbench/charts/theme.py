"""Colors, sizes and the light and dark theme of all charts.

`finish` gives a chart its theme, its title and its text alternative. `rows` and `chart` name the
data of a chart, so that a live chart can receive new data.
"""

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from altair.utils.schemapi import debug_mode

from workbench.results import rows_of

OKABE_ITO = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
}
GRAY = "#808080"

RANDOM = OKABE_ITO["purple"]
STRATIFIED = OKABE_ITO["blue"]
LABELED = OKABE_ITO["green"]
UNLABELED = GRAY
ESTIMATE = OKABE_ITO["blue"]
MISS = OKABE_ITO["vermilion"]
CATEGORY = [OKABE_ITO[name] for name in ("blue", "vermilion", "green", "purple", "orange", "sky")]

WIDTH = 560
HEIGHT = 260
FONT_SIZE = 14
TITLE_SIZE = 16
# width and smallest font size of a picture in pixels, on a page and on a phone
PAGE = (740, 14)
PHONE = (350, 12)
LETTERS = 46  # letters of an axis title that fit on a phone
LABELS = 150  # width of names at an axis on a phone, in pixels
PERCENT = "~%"  # all digits are kept, so that ticks differ

VERDICTS = {"contains the truth": STRATIFIED, "misses it": MISS}
STROKES = alt.Legend(symbolType="stroke")  # the same for color and dash: one legend

HEADING = "heading"


def _config(ink: str, muted: str, grid: str, background: str) -> dict:
    labels = {
        "labelColor": muted,
        "titleColor": ink,
        "labelFontSize": FONT_SIZE,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
    }
    roles = {
        "random": RANDOM,
        "stratified": STRATIFIED,
        "labeled": LABELED,
        "unlabeled": UNLABELED,
        "estimate": ESTIMATE,
        "miss": MISS,
    }
    return {
        "background": background,
        "font": "sans-serif",
        "padding": 8,
        "view": {
            "stroke": "transparent",
            "continuousWidth": WIDTH,
            "continuousHeight": HEIGHT,
            "discreteWidth": WIDTH,
            "discreteHeight": HEIGHT,
        },
        "title": {
            "anchor": "start",
            "frame": "group",
            "fontSize": TITLE_SIZE,
            "fontWeight": "bold",
            "lineHeight": 19,
            "offset": 12,
            "color": ink,
            "subtitleColor": muted,
            "subtitleFontSize": FONT_SIZE,
        },
        "axis": {
            **labels,
            "gridColor": grid,
            "domainColor": muted,
            "tickColor": muted,
            "titlePadding": 8,
        },
        "legend": {**labels, "orient": "top", "symbolStrokeWidth": 2},
        "header": {**labels, "labelColor": ink},
        "mark": {"color": STRATIFIED},
        **{symbol: {"opacity": 1} for symbol in ("point", "circle", "square", "tick")},
        "text": {"color": ink, "fontSize": FONT_SIZE},
        "rule": {"color": ink},
        "range": {"category": CATEGORY},
        "style": {
            **{role: {"color": color} for role, color in roles.items()},
            "truth": {"color": ink, "strokeDash": [6, 3], "strokeWidth": 2},
            "note": {"color": muted, "fontSize": FONT_SIZE},
        },
    }


LIGHT = _config(ink="#1a1a1a", muted="#595959", grid="#e4e4e4", background="#ffffff")
DARK = _config(ink="#f2f2f2", muted="#c0c0c0", grid="#3d3d3d", background="#111111")


@debug_mode(False)  # altair would check each row
def rows(name: str, values: Iterable[dict] = ()) -> alt.NamedData | alt.InlineData:
    """Return named inline data for a chart; a live chart receives new data under this name.

    Parameters
    ----------
    name : str
        Name of the data set, as in `ChartView.show({name: rows})`.
    values : list of dict
        One dict per row, with plain numbers and strings.

    Examples
    --------
    >>> rows("bars", [{"stratum": 1, "labeled": 20}]).to_dict()
    {'values': [{'stratum': 1, 'labeled': 20}], 'name': 'bars'}
    """
    # altair copies lists at every step of a chart, but not tuples
    return alt.InlineData(values=tuple(values), name=name)


class Chart(alt.Chart):
    """A chart whose parts stay unchanged, so that altair need not copy them into a layer."""

    def encode(self, *channels: Any, **fields: Any) -> Any:
        """Return the chart with its encoding, much faster than altair resolves channel names."""
        for name, value in fields.items():
            channel = getattr(alt, name[0].upper() + name[1:])
            if isinstance(value, str):
                fields[name] = channel(value)
            elif isinstance(value, dict) and value.keys() == {"datum"}:
                fields[name] = channel(**value)
        return super().encode(*channels, **fields)

    def __deepcopy__(self, _: Any) -> "Chart":
        return self.copy(deep=False)


def chart(data: Mapping, name: str) -> alt.Chart:
    """Return a chart of one of several named data sets, as `rows` names them.

    Examples
    --------
    >>> chart({"bars": [{"labeled": 20}]}, "bars").data.to_dict()
    {'values': [{'labeled': 20}], 'name': 'bars'}
    """
    return Chart(rows(name, data[name]))


def span(low: float, high: float, **settings: Any) -> alt.Scale:
    """Return a scale that ends exactly at the given values."""
    return alt.Scale(domain=[low, high], nice=False, **settings)


def percents(**settings: Any) -> alt.Axis:
    """Return an axis of proportions with labels in percent."""
    return alt.Axis(format=PERCENT, **settings)


def whole_numbers(span: int, **settings: Any) -> alt.Axis:
    """Return an axis with ticks only at whole numbers.

    `tickMinStep=1` is not enough: with it, Vega still puts ticks at 0.5 if the span is 1 or 2.

    Parameters
    ----------
    span : int
        Length of the axis.
    **settings
        Further settings of the axis.
    """
    return alt.Axis(tickCount=max(1, min(span, 10)), **settings)


def across(
    field: str, title: Any = alt.Undefined, ends: Sequence = (), scale: Any = None, **axis: Any
) -> alt.X:
    """Return a horizontal axis of numbers.

    Parameters
    ----------
    field : str
        Field of the rows.
    title : str or list of str, optional
        Title of the axis.
    ends : (float, float), optional
        Exact ends of the axis.
    scale : altair.Scale, optional
        Scale, if `ends` do not say enough.
    **axis
        Settings of `altair.Axis`.

    Examples
    --------
    >>> across("low", "accuracy", (0.5, 1), tickCount=5).to_dict()["scale"]
    {'domain': [0.5, 1], 'nice': False}
    """
    return _numbers(alt.X, field, title, ends, scale, axis)


def up(
    field: str, title: Any = alt.Undefined, ends: Sequence = (), scale: Any = None, **axis: Any
) -> alt.Y:
    """Return a vertical axis of numbers, like `across`."""
    return _numbers(alt.Y, field, title, ends, scale, axis)


def _numbers(
    channel: Any, field: str, title: Any, ends: Sequence, scale: Any, axis: dict[str, Any]
) -> Any:
    settings = {"axis": alt.Axis(**axis)} if axis else {}
    if ends:
        scale = span(*ends)
    if scale is not None:
        settings["scale"] = scale
    return channel(f"{field}:Q", title=title, **settings)


def names(field: str, order: Sequence | None = None, **axis: Any) -> alt.Y:
    """Return a vertical axis of names without a title, in a given order or that of the rows."""
    settings = {"axis": alt.Axis(**axis)} if axis else {}
    return alt.Y(f"{field}:N", sort=order, title=None, **settings)


def scale(colors: dict[str, str]) -> alt.Scale:
    """Return a color scale with one color per label.

    Parameters
    ----------
    colors : dict of str to str
        Label -> color, in the order of the legend.

    Examples
    --------
    >>> scale({"random": RANDOM, "stratified": STRATIFIED}).to_dict()
    {'domain': ['random', 'stratified'], 'range': ['#CC79A7', '#0072B2']}
    """
    return alt.Scale(domain=list(colors), range=list(colors.values()))


def color(field: str, colors: dict[str, str], **settings: Any) -> alt.Color:
    """Return the color of each name in a field; a legend, if any, has no title.

    Examples
    --------
    >>> verdict = color("verdict", {"correct": LABELED, "incorrect": MISS}, legend=None)
    >>> verdict.to_dict()["scale"]["range"]
    ['#009E73', '#D55E00']
    """
    return _per_name(alt.Color, field, colors, colors.values(), settings)


def shape(field: str, names: Iterable[str], shapes: Iterable[str], **settings: Any) -> alt.Shape:
    """Return the shape of each name in a field, like `color`."""
    return _per_name(alt.Shape, field, names, shapes, settings)


def dash(
    field: str, names: Iterable[str], dashes: Iterable[Sequence[int]], **settings: Any
) -> alt.StrokeDash:
    """Return the dash of each name in a field, like `color`."""
    return _per_name(alt.StrokeDash, field, names, dashes, settings)


def _per_name(
    channel: Any, field: str, names: Iterable[str], values: Iterable, settings: dict
) -> Any:
    if settings.get("legend", "default") is not None:
        settings = {"title": None} | settings
    scale = alt.Scale(domain=list(names), range=list(values))
    return channel(f"{field}:N", scale=scale, **settings)


def ink(field: str = "dark") -> alt.Color:
    """Return the color of text on a cell; the field is 1 if the cell is dark, else 0."""
    scale = alt.Scale(domain=[0, 1], range=["#000000", "#ffffff"])
    return alt.Color(f"{field}:O", legend=None, scale=scale)


def truth(data: Mapping, name: str = "truth", **channels: Any) -> alt.Chart:
    """Return a dashed line at the true value, or at another value to compare with."""
    return chart(data, name).mark_rule(style="truth").encode(**channels)


def beside(base: alt.Chart, dx: int, **look: Any) -> alt.Chart:
    """Return the text of each mark, `dx` pixels to the right of its position."""
    return base.mark_text(align="left", dx=dx, **look).encode(text="text:N")


def bars(
    base: alt.Chart, field: str, colors: dict[str, str], *, dx: int = 4, **look: Any
) -> alt.LayerChart:
    """Return bars with a color per name in a field, and the text of each bar next to its end."""
    return base.mark_bar(**look).encode(color=color(field, colors, legend=None)) + beside(base, dx)


def guess(base: alt.Chart, **look: Any) -> list[alt.Chart]:
    """Return the layers of a learner's prediction: a diamond and its text."""
    return [
        base.mark_point(shape="diamond", filled=True, size=160, color=RANDOM),
        base.mark_text(**look).encode(text="text:N"),
    ]


def run_rows(low: Sequence, high: Sequence, estimates: Sequence, truth: float) -> list[dict]:
    """Return the rows of `runs`: the interval of each run, and whether it contains the truth.

    Examples
    --------
    >>> [row["verdict"] for row in run_rows([0.1, 0.4], [0.3, 0.6], [0.2, 0.5], 0.3)]
    ['contains the truth', 'misses it']
    """
    contains, misses = VERDICTS
    covered = (np.asarray(low) <= truth) & (truth <= np.asarray(high))
    verdicts = [contains if is_covered else misses for is_covered in covered]
    count = range(1, len(verdicts) + 1)
    return rows_of(run=count, low=low, high=high, estimate=estimates, verdict=verdicts)


def runs(data: Mapping, name: str, x: alt.X, y: alt.Y, width: int, **look: Any) -> alt.LayerChart:
    """Return the intervals of runs with the truth: strokes with a tick at each estimate."""
    base = chart(data, name).encode(x=x, color=color("verdict", VERDICTS, legend=STROKES))
    dashes = dash("verdict", VERDICTS, [[1, 0], [4, 2]], legend=STROKES)
    lines = base.mark_rule(strokeWidth=2, **look).encode(y=y, y2="high:Q", strokeDash=dashes)
    ticks = base.mark_tick(orient="horizontal", width=width, thickness=2, **look)
    return lines + ticks.encode(y="estimate:Q") + truth(data, y="truth:Q")


def stacked(width: int, *views: tuple[Any, int], **settings: Any) -> alt.VConcatChart:
    """Return views below each other, all of one width.

    Parameters
    ----------
    width : int
        Width in pixels.
    *views : (chart, int)
        Charts with their heights in pixels.
    **settings
        Settings of `altair.vconcat`.
    """
    charts = [view.properties(width=width, height=height) for view, height in views]
    return alt.vconcat(*charts, **settings)


def title_lines(text: str, width: int = WIDTH) -> list[str]:
    """Return a title broken into lines that fit above a chart of `width` pixels.

    Examples
    --------
    >>> title_lines("Twenty labels are enough", 120)
    ['Twenty labels', 'are enough']
    """
    return _wrapped(text, width, TITLE_SIZE)


def _wrapped(text: str, width: int, size: int) -> list[str]:
    return textwrap.wrap(text, max(10, math.floor(width / (0.57 * size))), break_on_hyphens=False)


@debug_mode(False)
def finish(
    chart: Any,
    title: str,
    alternative: str,
    *,
    width: int | None = WIDTH,
    height: int | None = HEIGHT,
) -> Any:
    """Return the chart with its theme, its title and its text alternative.

    Parameters
    ----------
    chart : altair chart
        A single, layered or combined chart. Only a single or layered chart takes the size.
    title : str
        The finding in a short sentence. A live chart can change it with
        `ChartView.show(..., title=...)`.
    alternative : str
        Description of the chart for screen readers.
    width, height : int or None
        Size of the plot in pixels; None keeps the chart's own.

    Examples
    --------
    >>> bars = alt.Chart(rows("bars", [{"n": 20}])).mark_bar(style="labeled").encode(x="n:Q")
    >>> finish(bars, "Twenty labels", "One bar: 20 labels.").description
    'One bar: 20 labels.'
    """
    if not isinstance(alternative, str) or not alternative.strip():
        raise ValueError(f"alternative must be a sentence; got {alternative!r}")
    properties: dict[str, Any] = {
        "title": alt.Title(text=alt.expr(HEADING)),
        "description": alternative,
    }
    if isinstance(chart, (alt.Chart, alt.LayerChart)):
        size = {"width": width, "height": height}
        properties |= {name: pixels for name, pixels in size.items() if pixels is not None}
    heading = alt.param(name=HEADING, value=title_lines(title, width or WIDTH))
    return chart.add_params(heading).configure(**LIGHT).properties(**properties)


@dataclass(frozen=True)
class Figure:
    """A chart that is drawn when it is needed: its rows, its texts and a function of the rows.

    A live chart needs the rows and texts only, since it was drawn before. `ChartView`, `drive` and
    `image` take a figure as they take an altair chart.

    Attributes
    ----------
    data : dict of str to list of dict
        Rows per named data set.
    title : str
        The finding in a short sentence.
    alternative : str
        Description of the chart for screen readers.
    draw : callable
        Function of `data` that returns an altair chart.
    width, height : int or None
        Size of the plot in pixels; None keeps the chart's own.

    Examples
    --------
    >>> def draw(data):
    ...     return chart(data, "bars").mark_bar().encode(x="n:Q")
    >>> figure = Figure({"bars": [{"n": 20}]}, "Twenty labels", "One bar: 20 labels.", draw)
    >>> figure.chart().description
    'One bar: 20 labels.'
    """

    data: dict
    title: str
    alternative: str
    draw: Callable[[dict], Any]
    width: int | None = WIDTH
    height: int | None = HEIGHT

    def chart(self) -> Any:
        """Return the altair chart with its theme, its title and its text alternative."""
        size = {"width": self.width, "height": self.height}
        return finish(self.draw(self.data), self.title, self.alternative, **size)

    def to_dict(self, **settings: Any) -> dict:
        """Return the Vega-Lite specification."""
        return self.chart().to_dict(**settings)

    def _repr_mimebundle_(self, **settings: Any) -> Any:
        return self.chart()._repr_mimebundle_(**settings)


def themed(config: dict, base: dict = LIGHT) -> dict:
    """Return `base`, with the settings of a chart's own config laid over it key by key.

    Examples
    --------
    >>> themed({"axis": {"grid": False}}, {"axis": {"labelFontSize": 12}})
    {'axis': {'labelFontSize': 12, 'grid': False}}
    """
    merged = dict(base)
    for key, value in config.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = themed(value, merged[key]) if both else value
    return merged


def sized(spec: dict, width: int, least: int) -> dict:
    """Return a specification for a picture of `width` pixels with fonts of at least `least` pixels.

    Parameters
    ----------
    spec : dict
        Vega-Lite specification.
    width, least : int
        Width and smallest font size in pixels, as in `PAGE` and `PHONE`.

    Examples
    --------
    >>> sized({"mark": {"type": "text", "fontSize": 9}, "encoding": {}}, *PAGE)["mark"]["fontSize"]
    14
    """
    axis: dict[str, int] = {"labelSeparation": 4}
    config: dict[str, Any] = {"axis": axis}
    if width == PHONE[0]:
        spec = _narrowed(spec)
        axis["labelLimit"] = LABELS
        config["legend"] = {"columns": 2}
    spec = _with_larger_fonts(spec, least)
    title = least + TITLE_SIZE - FONT_SIZE
    config["title"] = {"frame": "bounds", "lineHeight": round(1.3 * title)}
    params = [dict(param) for param in spec.get("params", [])]
    for param in params:
        if param["name"] == HEADING:
            param["value"] = _wrapped(" ".join(param["value"]), width, title)
    return spec | {"params": params, "config": themed(config, spec.get("config", {}))}


def scaled(part: Any, factor: float) -> Any:
    """Return a specification with the width of all views multiplied by a factor.

    Examples
    --------
    >>> scaled({"hconcat": [{"width": 100}, {"width": 50, "mark": {"type": "bar", "width": 7}}]}, 2)
    {'hconcat': [{'width': 200}, {'width': 100, 'mark': {'type': 'bar', 'width': 7}}]}
    """
    if isinstance(part, list):
        return [scaled(view, factor) for view in part]
    changed = part | {name: scaled(part[name], factor) for name in _VIEWS & part.keys()}
    if isinstance(part.get("width"), (int, float)):
        changed["width"] = round(part["width"] * factor)
    return changed


def widest(part: dict) -> int:
    """Return the width of the widest row of views.

    Examples
    --------
    >>> widest({"hconcat": [{"width": 100}, {"vconcat": [{"width": 50}, {"width": 40}]}]})
    150
    """
    if isinstance(part.get("width"), int):
        return part["width"]
    for name in _VIEWS - {"spec"} & part.keys():
        widths = [widest(view) for view in part[name]]
        return sum(widths) if name == "hconcat" else max(widths)
    return WIDTH


_VIEWS = {"layer", "concat", "hconcat", "vconcat", "spec"}
_DATA = {"data", "datasets", "values"}


def _narrowed(part: Any, name: str = "") -> Any:
    """Return a specification for a narrow page: views and legend names below each other."""
    if name in _DATA:
        return part
    if name == "labelLimit":
        return min(part, LABELS)
    if name == "title" and isinstance(part, str):
        return textwrap.wrap(part, LETTERS)
    if name == "legend" and isinstance(part, dict) and "columns" in part:
        return part | {"columns": 1}
    if isinstance(part, list):
        return [_narrowed(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    part = dict(part)
    views = part.pop("hconcat", [])
    if views:  # below each other, each is as wide as all were together
        row = sum(map(widest, views))
        part["vconcat"] = [scaled(view, row / widest(view)) for view in views]
    return {name: _narrowed(entry, name) for name, entry in part.items()}


def _with_larger_fonts(part: Any, least: int, name: str = "") -> Any:
    if name in _DATA:
        return part
    if name.lower().endswith("fontsize") and isinstance(part, (int, float)):
        return max(least, round(part * least / FONT_SIZE))
    if isinstance(part, list):
        return [_with_larger_fonts(entry, least) for entry in part]
    if isinstance(part, dict):
        return {name: _with_larger_fonts(entry, least, name) for name, entry in part.items()}
    return part


def zero(channel: str, field: str, name: str = "zero", **look: Any) -> alt.Chart:
    """Return a line at 0 along a channel, "x" or "y", that shows the values of a field."""
    line = Chart(rows(name, [{field: 0}])).mark_rule(**look or {"strokeWidth": 1})
    return line.encode(**{channel: f"{field}:Q"})


def bars_and_dots(
    base: alt.Chart,
    low: alt.X | alt.Y,
    estimate: str,
    *,
    width: float,
    size: float,
    clip: bool = False,
    **look: Any,
) -> tuple[alt.Chart, alt.Chart]:
    """Return bars from the field of `low` to the field `high`, and a dot at each estimate.

    The bars end at the edge of the plot with `clip`. `look` has the other encodings of the dots,
    such as their shape.
    """
    along = "x" if isinstance(low, alt.X) else "y"
    bars = base.mark_rule(strokeWidth=width, clip=clip).encode(
        **{along: low, f"{along}2": "high:Q"}
    )
    dots = base.mark_point(filled=True, size=size).encode(**{along: f"{estimate}:Q"}, **look)
    return bars, dots
