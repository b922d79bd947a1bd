"""What the tests of lessons and charts do with panels and pictures."""

import itertools
import json
import re
from unittest import mock

import ipywidgets
import vl_convert

from workbench.charts import theme
from workbench.widgets import ChartView


def controls(panel):
    """Return the controls of a panel by their description."""
    return {
        c.description: c
        for box in panel.children
        if isinstance(box, ipywidgets.HBox)
        for c in box.children
        if hasattr(c, "description")
    }


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
    if isinstance(chart, theme.Figure):
        chart = chart.chart()
    view = ChartView(chart)
    assert view.alternative.endswith(".") and len(view.picture["data"]) >= 1
    json.dumps(view.picture, allow_nan=False)
    type(chart).validate(view.spec)
    assert chart.description == view.alternative
    with mock.patch("workbench.widgets.pictures.png", vl_convert.vegalite_to_svg):  # half the time
        view.drawn = view.png()
    assert re.search(r"role-mark [^>]*><(path|text|line|image)", view.drawn)
    return view


def title(view):
    """Return the title that a picture starts with."""
    return " ".join(view.spec["params"][0]["value"])


def printed(path, answers):
    """Return which answers stand, as shares or in percent, in the sources and outputs above a lesson's exercises."""
    above = itertools.takewhile(
        lambda cell: "exercise" not in cell["metadata"].get("tags", []),
        json.loads(path.read_text(encoding="utf-8"))["cells"],
    )
    said = []
    for cell in above:
        said += ["".join(cell["source"])]
        for output in cell.get("outputs", []):
            said += [
                "".join(output.get("text", "")),
                *(
                    "".join(text)
                    for kind, text in output.get("data", {}).items()
                    if kind.startswith("text/")
                ),
            ]
    numbers = {
        number.lstrip("0").replace(",", "")
        for number in re.findall(r"\d[\d,]*\.?\d*%?|\.\d+%?", "\n".join(said))
    }
    return [answer for answer in answers if {answer.lstrip("0"), _in_percent(answer)} & numbers]


def _in_percent(answer):
    digits = len(answer.partition(".")[2])
    return f"{100 * float(answer):.{max(0, digits - 2)}f}%".lstrip("0")
