"""The dataclass of a topic's parameters; `test_notebooks` compares it with the notebook's cell."""

import dataclasses
import importlib
import re

import pytest

from workbench.lessons import LESSONS
from workbench.reports.inputs.parameters import Parameters


def parameters_of(topic):
    module = importlib.import_module(f"workbench.reports.inputs.{topic}")
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    (own,) = [each for each in classes if issubclass(each, Parameters) and each is not Parameters]
    return own


@pytest.mark.parametrize("topic", LESSONS)
def test_every_parameter_is_documented(topic):
    own = parameters_of(topic)
    documented = re.findall(r"^    ([\w, ]+?)(?: :.*)?$", own.__doc__, re.M)
    names = {name for line in documented for name in line.split(", ")}
    assert {field.name for field in dataclasses.fields(own)} <= names


def test_the_values_of_a_cell_are_taken_by_name():
    own = parameters_of("start")
    assert own.values({"reader": "a", "other": 1}) == {"reader": "a"}
    with pytest.raises(KeyError, match="reader"):
        own.values({})
    with pytest.raises(TypeError, match="writer"):
        own(writer="a")
