"""A chart that is drawn once and then fed with data; its static image for reports."""
from __future__ import annotations

import base64
import html
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from workbench import checks
from workbench.charts import theme
from workbench.results import plain
from workbench.widgets import vega_bundle

if TYPE_CHECKING:
    import altair as alt

SCALE = 2
TRIES, TOLERANCE = 4, 4
_DRAWN = re.compile(r'<svg\b[^>]*?\bwidth="(\d+)')

_CSS = """
.workbench-chart { margin: 4px 0; max-width: 100%; position: relative; overflow-x: auto; }
.workbench-chart .vega-embed { padding: 0; display: block; }
.workbench-chart svg { max-width: 100%; height: auto; display: block; }
.workbench-chart .next { position: absolute; visibility: hidden; width: 100%; }
.workbench-chart p { margin: 4px 8px; color: var(--jp-ui-font-color1, inherit);
  font: var(--jp-content-font-size1, 14px)/1.5 var(--jp-content-font-family, sans-serif); max-width: 70ch; }
.workbench-chart .trouble { border-left: 4px solid #D55E00; padding-left: 8px; }
.workbench-controls { gap: 2px 24px; align-items: center; }
.workbench-controls .widget-label { margin-right: 8px; }
"""


class ChartView(anywidget.AnyWidget):
    """A live chart: built once from an altair chart, then fed with data only.

    Parameters
    ----------
    chart : altair chart
        Data sets that change are named, see `workbench.charts.theme.rows`.
    alternative : str, optional
        What the chart says, in words; by default the chart's description.

    Examples
    --------
    >>> import altair as alt
    >>> bars = alt.Chart(theme.rows("bars")).mark_bar().encode(x="n:Q")
    >>> view = ChartView(theme.finish(bars, "No labels", "No bar yet."))
    >>> view.show({"bars": [{"n": 20}]}, "One bar: 20 labels.", title="Twenty labels")
    >>> view
    ChartView: One bar: 20 labels.
    """

    _esm = Path(__file__).with_name("chart_view.js")
    _css = _CSS
    spec = traitlets.Dict().tag(sync=True)
    dark = traitlets.Dict(theme.DARK).tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    _offered = False

    def __init__(self, chart, *, alternative=None, **traits):
        spec = _specification(chart)
        described = spec.pop("description", None)
        picture = {"data": _take_named(spec), "params": {},
                   "alternative": _sentence(described if alternative is None else alternative)}
        super().__init__(spec=spec, picture=picture, **traits)
        self._pages = set()
        self.on_msg(self._answer)

    @property
    def alternative(self) -> str:
        """What the chart says now, in words."""
        return self.picture["alternative"]

    def show(self, data: Mapping, alternative: str, *, title: str | None = None, params: dict | None = None) -> None:
        """Draw new data; the picture and its text change together.

        Parameters
        ----------
        data : dict of str to list of dict
            Rows per named data set; a data set that is left out stays.
        alternative : str
            What the chart says now, in words; also the line below it.
        title : str, optional
            New title of a chart made with `theme.finish`.
        params : dict, optional
            New values of the chart's other named parameters.
        """
        params = dict(params or {})
        if title is not None:
            params[theme.HEADING] = theme.title_lines(title, _width(self.spec))
        _known("data", data, self.picture["data"])
        _known("params", params, [param["name"] for param in self.spec.get("params", [])])
        self.picture = {"data": self.picture["data"] | plain(data),
                        "params": self.picture["params"] | plain(params),
                        "alternative": _sentence(alternative)}

    def png(self) -> bytes:
        """Return the chart with its present data as PNG bytes, at twice the size on screen."""
        spec = {**self.spec, "datasets": self.picture["data"]}
        if "params" in spec:
            values = self.picture["params"]
            spec["params"] = [param | ({"value": values[param["name"]]} if param["name"] in values else {})
                              for param in spec["params"]]
        return _png(spec)

    def __repr__(self) -> str:
        return f"ChartView: {self.alternative}"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        bundle = _with_image(self, data, metadata, self)
        self._offer_bundle()
        return bundle

    def _answer(self, _, content, buffers):
        if content.get("kind") == "bundle" and content.get("page") not in self._pages:
            self._pages.add(content.get("page"))
            self._send_bundle()

    def _offer_bundle(self):
        """Send the bundle with the first display: a busy kernel cannot answer the page's request."""
        if not ChartView._offered:
            ChartView._offered = True
            self._send_bundle()

    def _send_bundle(self):
        try:
            self.send({"kind": "bundle"}, [vega_bundle.packed()])
        except Exception as error:
            self.send({"kind": "trouble", "text": f"{type(error).__name__}: {error}"})
            raise


class Panel(ipywidgets.VBox):
    """Controls above a chart; where no widget can be shown, the chart's image."""

    def __init__(self, children, view, **traits):
        super().__init__(children, **traits)
        self.view = view

    def __repr__(self) -> str:
        return repr(self.view)

    def _repr_mimebundle_(self, **kwargs):
        bundle = _with_image(self, super()._repr_mimebundle_(**kwargs), {}, self.view)
        self.view._offer_bundle()
        return bundle


def panel(controls: Sequence, view: ChartView, status: Any = None) -> Panel:
    """Return controls, an optional status widget and a chart as one display.

    Parameters
    ----------
    controls : list of ipywidgets
        Sliders and other controls with a description; their labels get the room they need.
    view : ChartView
        The chart that the controls drive.
    status : ipywidget, optional
        Shown between controls and chart.

    Returns
    -------
    Panel
        A VBox. A report shows the chart's image in its place.
    """
    for control in controls:
        _give_room(control)
    box = ipywidgets.HBox(controls, layout=ipywidgets.Layout(flex_flow="row wrap"))
    box.add_class("workbench-controls")
    return Panel([box, *([status] if status else []), view], view)


def drive(controls: Mapping, answer: Callable, view: ChartView) -> Panel:
    """Return a panel whose controls feed a view.

    Parameters
    ----------
    controls : dict of str to ipywidgets control
    answer : callable
        Takes the controls' values by name, returns (data, (title, alternative)). A ValueError is shown as text, a
        control called as its label does, in place of the picture.
    view : ChartView

    Returns
    -------
    Panel
    """
    status = ipywidgets.HTML()
    status.add_class("workbench-status")

    def update(_):
        status.value = "working ..."
        try:
            data, (title, words) = answer(**{name: control.value for name, control in controls.items()})
        except ValueError as error:
            view.layout.visibility = "hidden"
            status.value = f"<strong role='alert'>{html.escape(_labeled(str(error), controls))}</strong>"
            return
        status.value, view.layout.visibility = "", "visible"
        view.show(data, words, title=title)

    for control in controls.values():
        control.observe(update, "value")
    return panel(list(controls.values()), view, status)


class StaticChart:
    """A chart that never changes, displayed as an image with its text alternative."""

    def __init__(self, chart, alternative=None):
        self.spec = _specification(chart)
        described = self.spec.pop("description", None)
        self.alternative = _sentence(described if alternative is None else alternative)

    def png(self, size: tuple[int, int] = theme.PAGE) -> bytes:
        """Return the chart as PNG bytes, as wide as the page, at twice the size on screen.

        Parameters
        ----------
        size : (int, int)
            Width and least type in pixels, `theme.PAGE` or `theme.PHONE`.
        """
        import vl_convert
        return _squeeze(vl_convert.svg_to_png(_fitted(self.spec, *size), scale=SCALE))

    def __repr__(self) -> str:
        return f"Chart: {self.alternative}"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = _with_image(self, {}, {}, self)
        narrow = self.png(theme.PHONE)
        metadata["image/png"]["narrow"] = _size(narrow) | {"image/png": _text(narrow)}
        return data, metadata


def image(chart: alt.TopLevelMixin, alternative: str | None = None) -> StaticChart:
    """Return a chart as a static image for notebooks and reports.

    Parameters
    ----------
    chart : altair chart
        The chart.
    alternative : str, optional
        What the chart says, in words; by default the chart's description.

    Examples
    --------
    >>> import altair as alt
    >>> image(alt.Chart(theme.rows("bars", [{"n": 20}])).mark_bar().encode(x="n:Q"), "One bar: 20 labels.")
    Chart: One bar: 20 labels.
    """
    return StaticChart(chart, alternative)


def _specification(chart):
    spec = plain(chart.to_dict(validate=False))
    return spec | {"config": theme.themed(spec.get("config", {}))}


def _take_named(part):
    found = {}
    if isinstance(part, dict):
        data = part.get("data")
        if isinstance(data, dict) and "name" in data and "values" in data:
            found[data["name"]] = data.pop("values")
        found |= part.pop("datasets", {}) if "datasets" in part else {}
        for key, entry in part.items():
            found |= _take_named(entry) if key != "data" else {}
    elif isinstance(part, list):
        for entry in part:
            found |= _take_named(entry)
    return found


def _known(argument, given, names):
    for name in given:
        checks.choice(argument, name, list(names))


def _sentence(text):
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"alternative must say in words what the chart shows; got {text!r}")
    return text


def _width(spec):
    return spec["width"] if isinstance(spec.get("width"), int) else theme.WIDTH


def _png(spec):
    import vl_convert
    return _squeeze(vl_convert.vegalite_to_png(spec, scale=SCALE, allowed_base_urls=[]))


def _fitted(spec, width, least):
    """Return a picture of a width as SVG: labels and legends take room that only drawing shows."""
    import vl_convert
    spec = theme.sized(spec, width, least)
    for _ in range(TRIES):
        svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
        drawn = int(_DRAWN.search(svg)[1])
        if abs(drawn - width) <= TOLERANCE:
            break
        spec = theme.scaled(spec, max(0.2, 1 + (width - drawn) / theme.widest(spec)))
    return svg


def _squeeze(png):
    """Return the same PNG with its pixels compressed harder; vl-convert hardly does."""
    header, body = png[:33], png[33:]
    pixels = b""
    while body:
        length, kind = struct.unpack(">I4s", body[:8])
        pixels += body[8:8 + length] if kind == b"IDAT" else b""
        body = body[12 + length:]
    return header + _chunk(b"IDAT", zlib.compress(zlib.decompress(pixels))) + _chunk(b"IEND", b"")


def _chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _with_image(shown, data, metadata, chart):
    png = chart.png()
    size = _size(png) | {"alt": chart.alternative}
    return data | {"image/png": _text(png), "text/plain": repr(shown)}, metadata | {"image/png": size}


def _size(png):
    return {name: round(side / SCALE) for name, side in zip(("width", "height"), struct.unpack(">II", png[16:24]),
                                                            strict=True)}


def _text(png):
    return base64.b64encode(png).decode()


def _labeled(message, controls):
    """Return a message with the argument it begins with called as the label of its control."""
    return re.sub(r"^\w+", lambda name: controls[name[0]].description if name[0] in controls else name[0], message)


def _give_room(control):
    style = getattr(control, "style", None)
    if style is not None and style.has_trait("description_width") and not style.description_width:
        style.description_width = "initial"
    if isinstance(control, (ipywidgets.IntSlider, ipywidgets.FloatSlider)) and control.layout.width is None:
        control.layout.width = "420px"
