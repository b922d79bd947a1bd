"""Ranges of a scene's controls that a lecturer sets, as in `place_value(budget=(20, 400, 20))`.

`adjustable` comes first: it decorates the functions that return a scene. `set_range` changes one
control.
"""

import copy
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import ipywidgets
import numpy as np

from workbench import checks
from workbench.widgets.chart_view import Panel, Stops, set_to

DIGITS = 12  # decimals of stops, so that 0.1 + 0.2 is 0.3
MOST_STOPS = 1000
# errors of a computation that cannot use a value
REFUSALS = (ValueError, LookupError, ArithmeticError)


class RangeError(ValueError):
    """An error for an invalid range of a control; the message names the valid ones."""


def adjustable(**limits: tuple[float, float]) -> Callable:
    """Return a decorator that lets a scene take ranges of values by the names of its controls.

    Parameters
    ----------
    **limits
        The lowest and the highest value that the scene can show, by the name of a control. A
        control without limits takes all values for which the scene can be computed.

    Examples
    --------
    >>> from workbench.lessons.allocation import views as lesson
    >>> panel = lesson.place_value(budget=(20, 400, 20))
    >>> panel.controls["budget"].options[-1], panel.controls["budget"].value
    (400, 100)
    >>> lesson.place_value(bugdet=(20, 400, 20))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.widgets.ranges.RangeError: place_value has no control 'bugdet'. Controls: budget...
    """

    def decorate(scene: Callable[..., Panel]) -> Callable[..., Panel]:
        parameters = inspect.signature(scene).parameters

        @functools.wraps(scene)
        def adjusted(*args: Any, **ranges: Any) -> Panel:
            own = {name: ranges.pop(name) for name in list(ranges) if name in parameters}
            panel = scene(*args, **own)
            for name, values in ranges.items():
                _adjust(scene.__name__, panel, name, values, limits.get(name))
            return panel

        every = inspect.Parameter("ranges", inspect.Parameter.VAR_KEYWORD, annotation=Any)
        adjusted.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [*parameters.values(), every], return_annotation=Panel
        )
        adjusted.__annotations__ = scene.__annotations__ | {"ranges": Any}
        return adjusted

    return decorate


def check_ranges(scene: Callable[..., Any], ranges: Mapping[str, Any]) -> None:
    """Raise RangeError if a scene that appears later cannot take these ranges.

    Nothing is computed without ranges.
    """
    if ranges:
        scene(**ranges)


def _adjust(scene: str, panel: Panel, name: str, values: Any, limits: tuple | None) -> None:
    if name not in panel.controls:
        names = ", ".join(panel.controls) or "none"
        raise RangeError(f"{scene} has no control {name!r}. Controls: {names}.")
    control = panel.controls[name]
    numbers = stops_of(control, name, values, limits) if _is_numeric(control) else []
    if panel.answer and numbers:
        for end in (numbers[0], numbers[-1]):
            panel.view.spec = _widened(panel.view.spec, _rows_at(scene, panel, name, end))
    set_range(control, name, values, limits)


def _rows_at(scene: str, panel: Panel, name: str, end: float) -> Mapping:
    """Return the rows of a scene with one control at an end of its range, or raise RangeError."""
    try:
        rows, _ = panel.answer(**set_to(panel.controls) | {name: end})
    except REFUSALS as error:
        raise RangeError(f"{scene} cannot show {name} = {end:g}: {error}.") from error
    return rows


def fit_axes(panel: Panel, **values: Any) -> Panel:
    """Widen the axes of a scene to contain its data at these values of its controls."""
    rows, _ = panel.answer(**set_to(panel.controls) | values)
    panel.view.spec = _widened(panel.view.spec, rows)
    return panel


def _widened(spec: dict, rows: Mapping) -> dict:
    """Return a specification whose fixed axes contain all rows; equal axes stay equal."""
    spec = copy.deepcopy(spec)
    axes = [(scale, tuple(scale["domain"]), values) for scale, values in _axes(spec, rows)]
    ends: dict[tuple, list] = {}
    for scale, axis, values in axes:
        least = 0 if scale.get("type") == "log" else -math.inf
        numbers = [value for value in values if _is_number(value) and value > least]
        numbers += ends.get(axis, axis)
        ends[axis] = [min(numbers), max(numbers)]
    for scale, axis, _ in axes:
        scale["domain"] = ends[axis]
    return spec


def _axes(part: Any, rows: Mapping, source: str = "") -> Iterator[tuple[dict, list]]:
    """Yield the scale of each axis with fixed ends, and the values along it."""
    if isinstance(part, list):
        for entry in part:
            yield from _axes(entry, rows, source)
    if not isinstance(part, dict):
        return
    source = (part.get("data") or {}).get("name", source)
    encoding = part.get("encoding") or {}
    for name in {"x", "y"} & encoding.keys():
        scale = encoding[name].get("scale") or {}
        fields = {encoding[name].get("field"), encoding.get(f"{name}2", {}).get("field")}
        if all(map(_is_number, scale.get("domain", [None]))):
            yield scale, [row.get(field) for row in rows.get(source, ()) for field in fields]
    for entry in part.values():
        yield from _axes(entry, rows, source)


def set_range(control: Any, name: str, values: Any, limits: tuple | None = None) -> None:
    """Set the values of a control. If its present value is not among them, take the nearest.

    Parameters
    ----------
    control : ipywidget
        A slider of numbers, or a control with options.
    name : str
        Name of the control in error messages.
    values : (lowest, highest), (lowest, highest, step) or list
        Numbers for a slider, or a list of the options that remain.
    limits : (float, float), optional
        The lowest and the highest value that can be shown.

    Raises
    ------
    RangeError
        If the control cannot take these values.

    Examples
    --------
    >>> slider = ipywidgets.IntSlider(100, 30, 600, 10)
    >>> set_range(slider, "budget", (20, 80, 20))
    >>> slider.min, slider.max, slider.value
    (20, 80, 80)
    """
    if not _is_numeric(control):
        _set_options(control, name, values)
        return
    numbers = stops_of(control, name, values, limits)
    if isinstance(control, Stops):
        _set_stops(control, numbers, isinstance(values, tuple))
    else:
        _set_slider(control, numbers)


def stops_of(control: Any, name: str, values: Any, limits: tuple | None = None) -> list:
    """Return the numbers at which a slider stops, in order, or raise RangeError."""
    numbers = _numbers(control, name, values)
    low, high = limits or (-np.inf, np.inf)
    if numbers[0] < low or numbers[-1] > high:
        raise RangeError(
            f"{name} must lie between {low:g} and {high:g}; got {numbers[0]:g} to {numbers[-1]:g}."
        )
    if isinstance(control, Stops):
        return numbers
    steps = np.diff(numbers)
    if not np.allclose(steps, steps[0]):
        raise RangeError(f"{name} needs equal steps: write (lowest, highest, step).")
    if isinstance(control, ipywidgets.FloatSlider):
        return numbers
    if any(number != int(number) for number in numbers):
        raise RangeError(f"{name} takes whole numbers; got {values!r}.")
    return [int(number) for number in numbers]


def _numbers(control: Any, name: str, values: Any) -> list:
    is_range = isinstance(values, tuple) and len(values) in (2, 3)
    is_list = isinstance(values, list) and len(values) > 1
    if not (is_range or is_list) or not all(_is_number(value) for value in values):
        raise RangeError(
            f"{name} takes (lowest, highest, step) or a list of numbers; got {values!r}."
        )
    if is_list:
        return sorted(set(values))
    low, high, step = (*values, getattr(control, "step", 1))[:3]
    if not low < high or step <= 0:
        raise RangeError(
            f"{name}: the lowest value must be below the highest, and the step must be above 0; "
            f"got {values!r}."
        )
    count = int(np.floor((high - low) / step + 1e-9)) + 1
    if not 1 < count <= MOST_STOPS:
        raise RangeError(f"{name} must have 2 to {MOST_STOPS:,} values; {values!r} has {count:,}.")
    return [round(low + k * step, DIGITS) for k in range(count)]


def _is_numeric(control: Any) -> bool:
    """Return whether a control is a slider of numbers with labels that follow from them."""
    if isinstance(control, Stops):
        return bool(control.form) or all(label == str(stop) for label, stop in _labeled(control))
    return isinstance(control, (ipywidgets.IntSlider, ipywidgets.FloatSlider))


def _labeled(control: Any) -> list[tuple]:
    """Return the label and the value of each option."""
    return list(getattr(control, "_options_full", ()))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _set_stops(control: Stops, numbers: list, with_present: bool) -> None:
    """Set the numbers of a slider with stops; a stop that is a text, such as "all", remains."""
    texts = [stop for _, stop in _labeled(control) if isinstance(stop, str)]
    value = control.value
    if not isinstance(value, str):
        if with_present and numbers[0] < value < numbers[-1]:
            numbers = sorted({*numbers, value})
        value = _nearest(numbers, value)
    control.stop_at([*numbers, *texts], value)


def _set_slider(control: Any, numbers: list) -> None:
    value = _nearest(numbers, control.value)
    control.min, control.max = min(control.min, numbers[0]), max(control.max, numbers[-1])
    control.step = numbers[1] - numbers[0]
    control.value = value
    control.min, control.max = control.ends = numbers[0], numbers[-1]


def _nearest(numbers: Sequence, value: float) -> float:
    return min(numbers, key=lambda number: abs(number - value))


def _set_options(control: Any, name: str, values: Any) -> None:
    """Set the options of a control to some of them, named by their values or their labels."""
    options = _labeled(control)
    if not options:
        raise RangeError(f"{name} is not a slider and has no options, so it cannot take a range.")
    names = values if isinstance(values, (list, tuple)) else []
    remaining = {value: label for label, value in options if label in names or value in names}
    if not remaining or len(remaining) < len(values):
        labels = checks.listed((repr(stop) for _, stop in options), len(options))
        raise RangeError(f"{name} takes a list of some of {labels}; got {values!r}.")
    value = control.value
    if isinstance(control, ipywidgets.SelectMultiple):
        value = tuple(option for option in value if option in remaining) or tuple(remaining)
    elif value not in remaining:
        value = next(iter(remaining))
    control.options = [(label, option) for option, label in remaining.items()]
    control.value = value
