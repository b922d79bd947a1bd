"""Live charts that receive new data, their panels of controls, and static images for reports.

`ChartView` is a live chart, `panel` and `drive` add controls, and `image` returns a static chart.
"""

import html
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets

from workbench import checks
from workbench.charts import theme
from workbench.results import plain
from workbench.widgets import pages, pictures, vega_bundle

if TYPE_CHECKING:
    import altair as alt

SCRIPTS = ("chart_look", "chart_touch", "chart_tools", "control_names", "chart_view")


class ChartView(anywidget.AnyWidget):
    """A live chart: built once from an altair chart, then updated with data only.

    Parameters
    ----------
    chart : altair chart
        Chart whose changing data sets have names, see `workbench.charts.theme.rows`.
    alternative : str, optional
        Text alternative. By default the description of the chart.

    Examples
    --------
    >>> import altair as alt
    >>> bars = alt.Chart(theme.rows("bars")).mark_bar().encode(x="n:Q")
    >>> view = ChartView(theme.finish(bars, "No labels", "No bar yet."))
    >>> view.show({"bars": [{"n": 20}]}, "One bar: 20 labels.", title="Twenty labels")
    >>> view
    ChartView: One bar: 20 labels.
    """

    _esm = "\n".join(
        Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS
    )
    _css = Path(__file__).with_name("chart_view.css")
    spec = traitlets.Dict().tag(sync=True)
    dark = traitlets.Dict(theme.DARK).tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    tools = traitlets.List(traitlets.Enum(["pin", "type"])).tag(sync=True)
    _offered = False

    def __init__(self, chart: Any, *, alternative: str | None = None, **traits: Any) -> None:
        spec, alternative = _described(chart, alternative)
        picture = {
            "data": _take_named(spec),
            "params": {},
            "blank": False,
            "alternative": alternative,
        }
        super().__init__(spec=spec, picture=picture, **traits)
        self._pages: set = set()
        self._picked = ipywidgets.CallbackDispatcher()
        self._dragged = ipywidgets.CallbackDispatcher()
        self.on_msg(self._answer)

    @property
    def alternative(self) -> str:
        """Return the present text alternative, or "" if the chart is blank."""
        return self.picture["alternative"]

    def on_pick(self, callback: Callable[[dict], object]) -> None:
        """Call a function when a mark is clicked, or picked with Enter or the space bar.

        A mark can be picked if its datum has a field `pick` that is neither false nor 0. Marks with
        the same `pick` are one button for the keyboard. The field `label` is the name of the mark
        for screen readers.

        Parameters
        ----------
        callback : callable
            Function that takes the datum as a dict.
        """
        self._picked.register_callback(callback)

    def on_drag(self, callback: Callable[[dict], object]) -> None:
        """Call a function while a mark is dragged by pointer or arrow keys.

        A mark can be dragged if its datum has a field `drag`. The field `label` is its name for
        screen readers. With a field `step`, in data units, the mark moves in multiples of this
        step. Without it, an arrow key moves the mark by 1% of the axis.

        Parameters
        ----------
        callback : callable
            Function that takes {"drag": value of the field, "x": ..., "y": ...}. The coordinates
            are in units of the scales of the view, or None if the view has no such scale. While the
            kernel is busy, positions other than the last one may be skipped.
        """
        self._dragged.register_callback(callback)

    def show(
        self,
        data: Mapping,
        alternative: str,
        *,
        title: str | None = None,
        params: dict | None = None,
    ) -> None:
        """Show new data; the chart and its text change together.

        Parameters
        ----------
        data : dict of str to list of dict
            Rows per named data set. Other data sets stay.
        alternative : str
            New text alternative, which is also shown below the chart.
        title : str, optional
            New title of a chart made with `theme.finish`.
        params : dict, optional
            New values of other named parameters of the chart.
        """
        width = self.spec["width"] if isinstance(self.spec.get("width"), int) else theme.WIDTH
        params = dict(params or {})
        if title is not None:
            params[theme.HEADING] = theme.title_lines(title, width)
        checks.choices("data", data, self.picture["data"])
        checks.choices("params", params, [entry["name"] for entry in self.spec.get("params", [])])
        self.picture = {
            "data": self.picture["data"] | plain(data),
            "params": self.picture["params"] | plain(params),
            "blank": False,
            "alternative": _sentence(alternative),
        }

    def show_figure(self, figure: theme.Figure) -> None:
        """Show the rows, title and text alternative of a figure drawn like the first one."""
        self.show(figure.data, figure.alternative, title=figure.title)

    def clear(self) -> None:
        """Blank the chart, its title and its text until `show` is called."""
        self.picture = self.picture | {"blank": True, "alternative": ""}

    def png(self) -> bytes:
        """Return the chart with its present data as PNG bytes, at twice the size on screen."""
        values = self.picture["params"]
        params = [dict(param) for param in self.spec.get("params", [])]
        for param in params:
            if param["name"] in values:
                param["value"] = values[param["name"]]
        return pictures.png(self.spec | {"datasets": self.picture["data"], "params": params})

    def __repr__(self) -> str:
        return f"ChartView: {self.alternative}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        self._offer_bundle()
        return _with_image(self, data, metadata, self)

    def _answer(self, _: "ChartView", content: dict, buffers: list) -> None:
        kind = content.get("kind")
        if kind == "bundle" and content.get("page") not in self._pages:
            self._pages.add(content.get("page"))
            self._send_bundle()
        elif kind == "pick":
            self._picked(content["datum"])
        elif kind == "drag":
            self._dragged(content["place"])
            self.send({"kind": "dragged", "from": content["from"]})

    def _offer_bundle(self) -> None:
        """Send the bundle with the first display: a busy kernel cannot answer the page."""
        if not ChartView._offered:
            ChartView._offered = True
            self._send_bundle()

    def _send_bundle(self) -> None:
        try:
            self.send({"kind": "bundle"}, [vega_bundle.packed()])
        except Exception as error:
            self.send({"kind": "trouble", "text": f"{type(error).__name__}: {error}"})
            raise


class Panel(ipywidgets.VBox):
    """Controls above a chart. If no widget can be shown, the image of the chart is."""

    def __init__(self, children: list, view: ChartView, **traits: Any) -> None:
        super().__init__(children, **traits)
        self.view = view
        self.controls: dict[str, Any] = {}  # controls with a value, by name
        self.answer: Any = None  # function from values of controls to data and words, as in `drive`

    def __repr__(self) -> str:
        return repr(self.view)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self.view._offer_bundle()
        return _with_image(self, super()._repr_mimebundle_(**kwargs), {}, self.view)


def panel(controls: Sequence | Mapping, view: ChartView, status: Any = None) -> Panel:
    """Return controls, an optional status widget and a chart as one display.

    Parameters
    ----------
    controls : list of ipywidgets, or dict of them by name
        Sliders and other controls with a description. Their labels get enough width.
    view : ChartView
        The chart that the controls change.
    status : ipywidget, optional
        Widget between controls and chart.

    Returns
    -------
    Panel
        The display. A report shows the image of the chart instead.
    """
    by_name = controls if isinstance(controls, Mapping) else {}
    widgets = list(by_name.values()) or list(controls)
    for control in widgets:
        _give_room(control)
    view.tools = view.tools or ["type"]
    box = ipywidgets.HBox(widgets, layout=ipywidgets.Layout(flex_flow="row wrap"))
    box.add_class("workbench-controls")
    display = Panel([box, status, view] if status else [box, view], view)
    for name, control in by_name.items():
        if control.has_trait("value"):
            display.controls[name] = control
    return display


class Stops(ipywidgets.SelectionSlider):
    """A slider that stops at some values only.

    `form`, such as "{:.2%}", formats the labels of the values unless it is empty.
    """

    form = traitlets.Unicode()

    def stop_at(self, values: Sequence, value: Any) -> None:
        """Set the values at which the slider stops, and its present value."""
        self.options = _labeled_stops(values, self.form)
        self.value = value


def stops(
    options: Sequence, value: Any, description: str, width: int = 420, form: str = ""
) -> Stops:
    """Return a slider of `width` pixels that stops at some values only.

    `form`, such as "{:g}", formats the labels of the values.
    """
    return Stops(
        options=_labeled_stops(options, form),
        value=value,
        description=description,
        layout=ipywidgets.Layout(width=f"{width}px"),
        form=form,
    )


def _labeled_stops(values: Sequence, form: str) -> list:
    return [(form.format(stop), stop) for stop in values] if form else list(values)


def narrow(control: Any, low: float = -math.inf, high: float = math.inf) -> None:
    """Narrow the range of a slider, within its first range or that of `set_range`."""
    lowest, highest = getattr(control, "ends", (control.min, control.max))
    control.ends = lowest, highest
    control.min, control.max = max(lowest, low), min(highest, high)


def drive(controls: Mapping, answer: Callable, view: ChartView) -> Panel:
    """Return a panel whose controls change a chart.

    The chart can be pinned, to compare it with later ones.

    Parameters
    ----------
    controls : dict of str to ipywidgets control
        Controls by name.
    answer : callable
        Function that takes the values of the controls by name and returns (data, (title,
        alternative)). The message of a ValueError is shown in place of the chart, with the labels
        of the controls instead of their names.
    view : ChartView
        The chart.

    Returns
    -------
    Panel
        The controls and the chart.
    """
    status = ipywidgets.HTML()
    status.add_class("workbench-status")
    view.tools = ["pin", "type"]

    def update(_: Any) -> None:
        status.value = "working ..."
        try:
            data, (title, alternative) = answer(**set_to(controls))
        except ValueError as error:
            view.clear()
            status.value = f"<strong role='alert'>{html.escape(_labeled(error, controls))}</strong>"
            return
        status.value = ""
        view.show(data, alternative, title=title)

    for control in controls.values():
        control.observe(update, "value")
    display = panel(controls, view, status)
    display.answer = answer
    return display


def drive_figure(controls: Mapping, figure: Callable[..., theme.Figure]) -> Panel:
    """Return a panel as `drive` does, for figures that have the same layers at all settings.

    Parameters
    ----------
    controls : dict of str to ipywidgets control
        Controls by name.
    figure : callable
        Function that takes the values of the controls by name and returns the figure.
    """

    def answer(**values: Any) -> tuple:
        new = figure(**values)
        return new.data, (new.title, new.alternative)

    return drive(controls, answer, ChartView(figure(**set_to(controls))))


def set_to(controls: Mapping) -> dict:
    """Return the values of controls by their names."""
    return {name: control.value for name, control in controls.items()}


class StaticChart:
    """A chart that never changes, displayed as an image with its text alternative."""

    def __init__(self, chart: Any, alternative: str | None = None) -> None:
        self._chart = chart
        self._view: ChartView | None = None
        self.spec, self.alternative = _described(chart, alternative)

    def png(self, size: tuple[int, int] = theme.PAGE) -> bytes:
        """Return the chart as PNG bytes, as wide as the page, at twice the size on screen.

        Parameters
        ----------
        size : (int, int)
            Width and smallest font size in pixels, `theme.PAGE` or `theme.PHONE`.
        """
        return pictures.page_png(self.spec, *size)

    def __repr__(self) -> str:
        return f"Chart: {self.alternative}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if pages.is_live():
            self._view = self._view or ChartView(self._chart, alternative=self.alternative)
            data, metadata = self._view._repr_mimebundle_(**kwargs)
            return data | {"text/plain": repr(self)}, metadata
        data, metadata = _with_image(self, {}, {}, self)
        narrow, size = pictures.entry(self.png(theme.PHONE))
        metadata["image/png"]["narrow"] = size | {"image/png": narrow}
        return data, metadata


def image(chart: "alt.TopLevelMixin | theme.Figure", alternative: str | None = None) -> StaticChart:
    """Return a chart as a static image for notebooks and reports.

    Parameters
    ----------
    chart : altair chart or workbench.charts.theme.Figure
        The chart.
    alternative : str, optional
        Text alternative. By default the description of the chart.

    Examples
    --------
    >>> import altair as alt
    >>> bars = alt.Chart(theme.rows("bars", [{"n": 20}])).mark_bar().encode(x="n:Q")
    >>> image(bars, "One bar: 20 labels.")
    Chart: One bar: 20 labels.
    """
    return StaticChart(chart, alternative)


def _described(chart: Any, alternative: str | None) -> tuple[dict, str]:
    """Return the specification of a chart and its text alternative, by default its description."""
    spec = plain(chart.to_dict(validate=False))
    described = spec.pop("description", None)
    return spec | {"config": theme.themed(spec.get("config", {}))}, _sentence(
        described if alternative is None else alternative
    )


def _take_named(part: Any) -> dict[str, list]:
    """Take the rows of the named data sets out of a specification, and return them by name."""
    rows: dict[str, list] = {}
    if isinstance(part, list):
        for entry in part:
            rows |= _take_named(entry)
    if not isinstance(part, dict):
        return rows
    data = part.get("data")
    if isinstance(data, dict) and "name" in data and "values" in data:
        rows[data["name"]] = data.pop("values")
    rows |= part.pop("datasets", {})
    for name, entry in part.items():
        if name != "data":
            rows |= _take_named(entry)
    return rows


def _sentence(text: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise checks.WrongValue("alternative", "must be a text that describes the chart", text)
    return text


def _with_image(display: Any, data: dict, metadata: dict, chart: ChartView | StaticChart) -> tuple:
    data = data | {"text/plain": repr(display)}
    if pages.is_live():
        return data, metadata
    content, size = pictures.entry(chart.png())
    image = size | {"alt": chart.alternative}
    return data | {"image/png": content}, metadata | {"image/png": image}


def _labeled(error: ValueError, controls: Mapping) -> str:
    """Return the message of an error, with the labels of controls instead of argument names."""
    if not isinstance(error, checks.WrongArgument):
        return str(error)
    return error.called(lambda name: controls[name].description if name in controls else name)


def _give_room(control: Any) -> None:
    style = getattr(control, "style", None)
    if style is not None and not getattr(style, "description_width", "none"):
        style.description_width = "initial"
    sliders = (ipywidgets.IntSlider, ipywidgets.FloatSlider)
    if isinstance(control, sliders) and control.layout.width is None:
        control.layout.width = "420px"
