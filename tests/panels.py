"""What the tests of lessons and charts do with panels and pictures."""
import json
import re
from unittest import mock

import ipywidgets
import vl_convert

from workbench.widgets import ChartView


def controls(panel):
    """Return the controls of a panel by their description."""
    return {c.description: c for box in panel.children if isinstance(box, ipywidgets.HBox) for c in box.children
            if hasattr(c, "description")}


def settle(panel, **values):
    """Set controls, named by how their description begins; return what the picture then says."""
    found = controls(panel)
    for name, value in values.items():
        name = name.replace("_", " ")
        found.get(name, next(c for text, c in found.items() if text.startswith(name))).value = value
    return panel.view.alternative


def heading(panel):
    """Return the title that the picture shows now."""
    first = {param["name"]: param.get("value") for param in panel.view.spec["params"]}
    return " ".join((first | panel.view.picture["params"])["heading"])


def status(panel):
    """Return the line between controls and picture."""
    return panel.children[1].value


def rows(panel, name):
    """Return the named rows of the picture."""
    return panel.view.picture["data"][name]


def draws(chart):
    """Return the view of a chart that compiles, is named in words and shows a mark; `drawn` is its picture as SVG."""
    view = ChartView(chart)
    assert view.alternative.endswith(".") and len(view.picture["data"]) >= 1
    json.dumps(view.picture, allow_nan=False)
    assert chart.to_dict(validate=True)["description"] == view.alternative
    with mock.patch("workbench.widgets.pictures.png", vl_convert.vegalite_to_svg):     # half the time
        view.drawn = view.png()
    assert re.search(r'role-mark [^>]*><(path|text|line|image)', view.drawn)
    return view


def title(view):
    """Return the title that a picture starts with."""
    return " ".join(view.spec["params"][0]["value"])
